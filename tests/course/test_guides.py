"""The guides of the course are correct: minutes, points, goals, limits, links, commands."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from traitlets.config import PyFileConfigLoader

import course.feedback
from course.__main__ import main
from course.answers import answers_of
from course.feedback.checks import CheckFailed, NotWritten
from course.feedback.known import values_of
from course.gradebook import backups
from course.grading.assignments import as_handed_in
from course.publishing import mistakes, tables
from course.settings import Limits
from tests.conftest import ROOT, read_page
from tests.course.small_course import new_course
from tests.exercises.test_assignments import release_of, source_of

pytestmark = pytest.mark.slow

GUIDES = ("syllabus", "students", "new_assignment", "README")
GUIDE = {name: (ROOT / "course" / f"{name}.md").read_text(encoding="utf-8") for name in GUIDES}
LECTURES = [ROOT / one.path for one in tables.read_course().core]


def first_cell(path):
    return read_page(path).cells[0].source


def minutes_of(path):
    return int(re.search(r"\*\*Time\*\* (?:about )?(\d+) minutes", first_cell(path))[1])


def title_of(path):
    return re.match(r"# (.*)", first_cell(path))[1]


def goals_of(path):
    can = first_cell(path).split("**After this lecture you can**")[1].split("**Time**")[0]
    return re.findall(r"^- (.*?)(?: \(sections? [\d, ]+\))?$", can, re.M)


def rows(text):
    """The rows of all tables of a text, without their heads."""
    lines = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("|")]
    return [[entry.strip(" |*") for entry in line] for line in lines if "---" not in line[0]]


def section(guide, head):
    """The text below a heading of level 2."""
    return GUIDE[guide].split(f"\n## {head}")[1].split("\n## ")[0]


class Week:
    """A week of the syllabus, as it is written."""

    def __init__(self, text):
        self.text = text
        self.lectures = re.findall(r"- Lecture: \[(.+)\]\(\.\./(\S+)\), (\d+) minutes", text)
        assignment = r"- Assignment: \[(.+)\]\(\.\./(\S+)\), (\d+) minutes, (\d+) points"
        self.assignment = re.findall(assignment, text)
        self.read = re.search(r"- Read: (.*)", text)[1]
        goals, self.class_ = text.split("**After it students can**")[1].split("**In class**")
        self.goals = re.findall(r"^- (.*)", goals, re.M)
        self.pages = [read_page(ROOT / path) for _, path, _ in self.lectures]


WEEKS = [Week(text) for text in re.split(r"\n## Week \d+ · ", GUIDE["syllabus"])[1:]]


# The syllabus.


def test_the_weeks_hold_every_lecture_in_order_with_its_title_and_minutes():
    said = [lecture for week in WEEKS for lecture in week.lectures]
    true = [(title_of(p), p.relative_to(ROOT).as_posix(), str(minutes_of(p))) for p in LECTURES]
    assert said == true
    assert len(WEEKS) == 12


def test_the_goals_are_those_of_the_lectures():
    for week in WEEKS:
        goals = [goal.split(" → ")[0] for goal in week.goals]
        assert goals == [goal for _, path, _ in week.lectures for goal in goals_of(ROOT / path)]


def test_every_task_of_an_assignment_belongs_to_a_goal():
    for week in WEEKS:
        for _, path, *_ in week.assignment:
            cells = [cell.source for cell in read_page(ROOT / path).cells]
            tasks = {int(n) for text in cells for n in re.findall(r"^## Task (\d+)", text, re.M)}
            # The warm-up and the project are in the row of another exercise.
            beside = {"ex00": " of the warm-up", "ex13": " of the project"}
            which = beside.get(Path(path).name[:4], "")
            said = [part for goal in week.goals for part in goal.split(" → ")[1:]]
            named = [numbers(part) for part in said if re.search(r"\d(\D*)$", part)[1] == which]
            assert set().union(*named) == tasks, path
        if not week.assignment:
            assert " → " not in "".join(week.goals)


def numbers(text):
    """The numbers of "tasks 2 to 4, 6 and 8"."""
    found = {int(n) for n in re.findall(r"\d+", text)}
    for first, last in re.findall(r"(\d+) to (\d+)", text):
        found |= set(range(int(first), int(last) + 1))
    return found


def test_the_reading_is_cited_in_the_lecture():
    for week in WEEKS:
        prose = " ".join(page.prose for page in week.pages)
        cited = re.findall(r"([A-ZÄÖÜŠØ][^\W\d_]+)[^();]*\((\d{4})\)", week.read)
        assert cited, week.read
        for name, year in cited:
            assert re.search(rf"{name}( et al\.)?[^.;\n]{{0,60}}{year}", prose), (name, year)


def test_the_views_to_drive_in_class_are_in_the_lecture():
    driven = 0
    for week in WEEKS:
        code = "\n".join(cell.source for page in week.pages for cell in page.code)
        for view in re.findall(r"`((?:viz|widgets)\.\w+)`", week.class_):
            assert f"{view}(" in code, view
            driven += 1
    assert driven >= 20


def test_the_questions_for_the_class_are_those_of_the_lectures():
    """In the lecture's words, so that the answer is folded below them."""
    for week in WEEKS:
        prose = words(" ".join(page.prose for page in week.pages))
        asked = re.findall(r"Ask: \*(.+)\*", week.class_)
        for question in asked:
            first, last = words(question).split()[:3], words(question).split()[-3:]
            assert " ".join(first) in prose, question
            assert " ".join(last) in prose, question


def words(text):
    """A text without marks, quotes and tags."""
    return " ".join(re.sub(r"<[^>]+>|[^\w\s]", " ", text.lower()).split())


@pytest.mark.parametrize("page", tables.PAGES)
def test_minutes_points_and_lists_are_those_of_the_notebooks(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    assert tables.filled(page, text, tables.read_course()) == text, "make exercises writes it again"


def test_sums_and_lists_are_made_again_if_a_notebook_changes():
    """By hand: lectures of 40 and 20 minutes, exercises of 50 minutes and 7, 9 points."""
    course = tables.Course(
        [
            tables.Lecture("01", "lectures/01_a.ipynb", "1 · A", 40),
            tables.Lecture("01b", "lectures/01b_b.ipynb", "1b · B", 5, further=True),
            tables.Lecture("02", "lectures/02_c.ipynb", "2 · C", 20),
        ],
        [
            tables.Exercise("ex01_a", "Exercise 1 · A", "01", "50 minutes", 7, 2),
            tables.Exercise("ex02_c", "Exercise 2 · C", "02", "50 minutes in a week", 9, 4),
        ],
    )
    syllabus = """There are 9 lectures and 9 assignments.

| | hours |
|---|---|
| in class | 1 |
| reading at home: 1 minutes | 1 |
| assignments: 1 minutes | 1 |
| together | 1 |

## Twelve weeks

| week | lectures | assignment | points | homework |
|---|---|---|---|---|

## Grading

The 1 assignments make 1 points: 1 are given by tests, 1 by a person.

| assignment | points | of these by a person | minutes |
|---|---|---|---|

## Week 1 · A and C

- Lecture: [old](../lectures/01_a.ipynb), 1 minutes
- Lecture: [old](../lectures/02_c.ipynb), 1 minutes
- Homework: 1 minutes
- Read: it

## Six weeks

| week | lectures | assignment | points | homework |
|---|---|---|---|---|
| 1 | 02 | ex01_a | 1 | 1 minutes |
| | | | **1** | **1 minutes** |
"""
    made = tables.filled("course/syllabus.md", syllabus, course)
    for said in (
        "There are 2 lectures and 2 assignments.",
        "| in class | 2.25 |\n| reading at home: 60 minutes | 1.0 |\n"
        "| assignments: 100 minutes | 1.7 |\n| together | 4.9 |",
        "| 1 | [01](../lectures/01_a.ipynb), [02](../lectures/02_c.ipynb) A and C "
        "| [ex01_a](../exercises/ex01_a/ex01_a.ipynb), [ex02_c](../exercises/ex02_c/ex02_c.ipynb) "
        "| 7, 9 | 160 minutes |\n| | | | **16** | **160 minutes** |",
        "The 2 assignments make 16 points: 10 are given by tests, 6 by a person.",
        "| ex01_a | 7 | 2 | 50 |\n| ex02_c | 9 | 4 | 50 |",
        "- Lecture: [1 · A](../lectures/01_a.ipynb), 40 minutes\n"
        "- Lecture: [2 · C](../lectures/02_c.ipynb), 20 minutes\n"
        "- Assignment: [Exercise 1 · A](../exercises/ex01_a/ex01_a.ipynb), 50 minutes, 7 points\n"
        "- Assignment: [Exercise 2 · C](../exercises/ex02_c/ex02_c.ipynb), 50 minutes, 9 points\n"
        "- Homework: 160 minutes\n- Further: [1b · B](../lectures/01b_b.ipynb), 5 minutes\n",
        "| 1 | 02 | ex01_a | 7 | 70 minutes |\n| | | | **7** | **70 minutes** |",
    ):
        assert said in made
    listed = tables.filled("exercises/README.md", "| e | b | t |\n|---|---|---|\n", course)
    assert listed.endswith(
        "| [ex02_c](ex02_c/ex02_c.ipynb) | [2 · C](../lectures/02_c.ipynb) "
        "| 50 minutes in a week |\n"
    )


# The students' guide.


def test_the_limits_are_those_of_the_sandbox():
    text, limits = section("students", "Rules while your work is graded"), Limits()
    for said in (
        f"{limits.call_seconds:g} seconds for each cell and each call",
        f"{limits.submission_seconds / 60:g} minutes for the notebook",
        f"{limits.memory_mb / 1024:g} GB of memory",
        f"{limits.processes} processes and threads",
        f"{limits.disk_mb} MB of files",
        f"{limits.output_kb} kB of output",
        f"at most {limits.notebook_mb} MB",
    ):
        assert said in text


def test_the_late_policy_is_that_of_the_settings():
    folder = str(ROOT / "course")
    policy = PyFileConfigLoader("nbgrader_config.py", folder).load_config().LatePolicy
    text = section("students", "If it is late")
    assert f"the grace is {policy.grace_minutes} minutes" in text
    assert f"a day costs {policy.percent_a_day} %" in text
    assert f"no more than {policy.at_most_percent} % is lost" in text


def test_errors_to_look_up_quote_the_checks():
    sources = "".join(p.read_text(encoding="utf-8") for p in ROOT.glob("course/feedback/*.py"))
    sources = re.sub(r'"\s*\n?\s*f?"', "", sources)
    table = section("students", "Help, I get ...")
    assert len(rows(table)) - 1 >= 10
    for said in (
        "not written yet. Replace the line that raises NotImplementedError",
        "Is there a `return` at the end?",
        "does not come to an end, so it was stopped",
        "changed its input",
        "uses bertlab's own code",
        "; it returned None.",
        "its dtype must be",
    ):
        assert said in sources, said
        assert said.lstrip("; ") in table, said


# Every guide.


def anchors(path):
    """The anchors that GitHub gives to the headings of a page."""
    heads = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("guide", GUIDES)
def test_links_lead_somewhere(guide):
    links = re.findall(r"\]\(([^)\s]+)\)", GUIDE[guide])
    assert links
    for link in links:
        if link.startswith("http"):
            continue
        path, _, anchor = link.partition("#")
        target = (ROOT / "course" / path).resolve() if path else ROOT / "course" / f"{guide}.md"
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(target), link


# A new assignment: what the guide shows is run.


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    """A course with only the example, made by the guide's script."""
    room = tmp_path_factory.mktemp("example")
    blocks = re.findall(r"```(?:python|text)\n# (\S+)\n(.*?)```", GUIDE["new_assignment"], re.S)
    assert [name for name, _ in blocks] == [
        "new_notebook.py",
        "course/feedback/ex13_words.py",
        "solutions/ex13_words/answers.txt",
    ]
    for name, code in blocks:
        (room / name).parent.mkdir(parents=True, exist_ok=True)
        (room / name).write_text(code, encoding="utf-8")
    settings = os.environ | {"PYTHONPATH": str(ROOT)}  # as in the course's folder
    subprocess.run([sys.executable, "new_notebook.py"], cwd=room, env=settings, check=True)
    new_course(room)
    command = [sys.executable, "-m", "nbgrader", "generate_assignment", "ex13_words", "--no-db"]
    subprocess.run([*command, "--force"], cwd=room / "course", check=True, capture_output=True)
    return room


@pytest.fixture
def installed(example, monkeypatch):
    """The example's checks where notebooks import them from."""
    there = [*course.feedback.__path__, str(example / "course/feedback")]
    monkeypatch.setattr(course.feedback, "__path__", there)
    mistakes.main(["ex13_words"], example)  # as `make exercises`
    yield example
    values_of.cache_clear()
    sys.modules.pop("course.feedback.ex13_words", None)
    if hasattr(course.feedback, "ex13_words"):
        del course.feedback.ex13_words


def run(cells, solution=None, tests_wanted=("test-", "hidden-")):
    """Run an example's cells with another solution; the result of the visible test."""
    scope, seen = {"__name__": "__main__"}, None
    for cell in cells:
        if cell.id.startswith(("test-", "hidden-")) and not cell.id.startswith(tests_wanted):
            continue
        source = solution if solution and cell.metadata.nbgrader.solution else cell.source
        if cell.id.startswith("test-"):
            seen = eval(source, scope)
        else:
            exec(compile(source, cell.id, "exec"), scope)
    return seen


def test_the_example_is_released_without_solution_and_hidden_tests(installed):
    source = installed / "solutions" / "ex13_words" / "ex13_words.ipynb"
    release = installed / "exercises" / "ex13_words" / "ex13_words.ipynb"
    text = release.read_text(encoding="utf-8")
    assert "SOLUTION" not in text
    assert "HIDDEN" not in text
    assert "For the grader" not in text
    assert "write this function, then delete this line" in text
    passed = run(read_page(source).code)
    assert "■ All functions pass." in repr(passed)
    with pytest.raises(NotWritten):
        run(read_page(release).code)
    marked = [cell.metadata.nbgrader for cell in read_page(source).cells]
    assert sum(mark.get("points", 0) for mark in marked) == 4
    assert "**Points** 4." in first_cell(source)


def test_the_examples_wrong_solutions_are_caught_and_the_other_right_one_passes(installed):
    source = read_page(installed / "solutions" / "ex13_words" / "ex13_words.ipynb").code
    known = answers_of("ex13_words", installed)
    assert len(known.wrong) >= 3
    for _, mistake, solution, diagnosis, *_ in known.wrong:
        if diagnosis:
            with pytest.raises(CheckFailed) as failed:
                run(source, solution, ("test-",))
            assert diagnosis in str(failed.value), mistake
        else:
            run(source, solution, ("test-",))
            with pytest.raises(AssertionError):
                run(source, solution, ("hidden-",))
    for _, _, solution in known.right:
        run(source, solution)


def test_the_examples_hidden_test_holds_for_other_variants(installed):
    from course.feedback.variants import variant

    source = read_page(installed / "solutions" / "ex13_words" / "ex13_words.ipynb").code
    for student in range(20):
        with variant(f"2026-fall/{student}"):
            run(source)


# The instructor's guide: the commands print what it shows.


def console(guide):
    """Each command of a guide's console, and what it prints."""
    blocks = re.findall(r"```console\n(.*?)```", GUIDE[guide], re.S)
    steps = re.findall(r"^\$ python -m course (.+)\n((?:(?!\$ ).*\n)*)", "".join(blocks), re.M)
    return [(command.split(), output) for command, output in steps]


def handed_in(download, student, unsolved):
    """A student's download: our solutions, without those of some tasks."""
    source = read_page(source_of("ex01_bpe"))
    notebook = nbformat.read(release_of("ex01_bpe"), as_version=4)
    for cell, ours in zip(notebook.cells, source.cells, strict=True):
        if ours.metadata.nbgrader.solution and cell.id not in unsolved:
            cell.source = as_handed_in(ours.source)
    (download / student).mkdir(parents=True)
    nbformat.write(notebook, download / student / "ex01_bpe.ipynb")


@pytest.mark.notebooks
def test_the_commands_of_the_guide_print_what_it_shows(tmp_path, monkeypatch, capsys):
    new_course(tmp_path)
    shutil.copytree(ROOT / "solutions" / "ex01_bpe", tmp_path / "solutions" / "ex01_bpe")
    cells = read_page(release_of("ex01_bpe")).cells
    handed_in(tmp_path / "download", "ada", [])
    handed_in(tmp_path / "download", "ben", ["train", "encode", "decode", "explain"])
    handed_in(tmp_path / "download", "cy", [c.id for c in cells if c.metadata.nbgrader.solution])
    listed = "ID;Vorname;Nachname\nada;Ada;Müller\nben;Ben;B\ncy;Cy;C\n"  # as Excel writes it
    (tmp_path / "students.csv").write_text(listed, encoding="utf-8-sig")
    monkeypatch.chdir(tmp_path)
    steps = console("README")
    assert len(steps) == 10
    for command, shown in steps:
        assert main(["--root", str(tmp_path), *command]) == 0, command
        assert timeless(capsys.readouterr().out) == timeless(shown), command


def timeless(text):
    """A text without the times in the names of backups."""
    return re.sub(r"gradebook-[\dTZ.]+\.db", "gradebook-TIME.db", text)


def test_every_command_is_in_the_guide_and_the_guide_has_no_other(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    known = set(re.findall(r"^    (\w+)(?:  |\n)", capsys.readouterr().out, re.M)) - {"COMMAND"}
    named = set(re.findall(r"python -m course (\w+)", GUIDE["README"]))
    assert known == named - {"COMMAND"}
    assert {"similar", "rehearsal"} <= known


def test_settings_in_the_guide_are_the_actual_ones():
    config = (ROOT / "course" / "nbgrader_config.py").read_text(encoding="utf-8")
    shown = re.findall(r"config\.[\w.]+ = [^`\n]+", GUIDE["README"])
    assert len(shown) >= 4
    for line in shown:
        assert line in config, line
    assert "BERTLAB_GRADEBOOK=postgresql+psycopg://" in GUIDE["README"]
    assert f"the newest {backups.KEPT} stay" in GUIDE["README"]
