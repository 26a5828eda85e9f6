"""Feedback pages: no hidden tests, no scripts; and plain nbgrader by the same Grader."""

import os
import re
from contextlib import closing

import nbformat
import nh3
import pytest
from bs4 import BeautifulSoup
from jinja2 import DictLoader
from nbconvert.exporters import HTMLExporter
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output
from nbgrader.apps import NbGraderAPI
from nbgrader.server_extensions.formgrader.formgrader import FormgradeExtension

from course.gradebook import records
from course.gradebook.notes import REQUEST, Note
from course.grading import feedback_pages, nbgrader_plugin
from course.grading.assignments import task_names
from course.grading.formulas import mathml
from course.grading.reports import status
from course.grading.safe_html import BESIDE, MOST_KB, MOST_TAGS, TAGS, clean_html, markdown2html
from course.publishing import releasing
from tests.conftest import read_page
from tests.course.gradebook.test_gradebook import by_hand, grade, quick  # noqa: F401 (a fixture)
from tests.course.small_course import NAME, hand_in, make, nbgrader, scores
from tests.exercises.test_assignments import ASSIGNMENTS, source_of

pytestmark = pytest.mark.slow

EVIL = "<script>alert(1)</script><img src=x onerror=alert(1)><a href='javascript:alert(1)'>x</a>"


PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="
)


def attack(course, student):
    """Put what a hostile student would show into the graded copy."""
    path = course.graded_copy(NAME, student)
    page = nbformat.read(path, as_version=4)
    page.cells[0].source = "# Forged"
    data = {
        "text/html": EVIL + "<b>bold</b><table><thead><tr><th>1</th></tr></thead></table>",
        "application/javascript": "alert(1)",
        "text/markdown": f"# md\n\n{EVIL}",
        "image/svg+xml": f"<svg>{EVIL}</svg>",
        "text/latex": f"${EVIL}$",
    }
    page.cells[1].outputs = [
        *(new_output("display_data", {key: value}) for key, value in data.items()),
        new_output("stream", name="stdout", text=EVIL),
        new_output("error", ename=EVIL, evalue=EVIL, traceback=[EVIL]),
    ]
    page.cells[3].outputs = [
        new_output("error", ename="AssertionError", evalue="double(21)", traceback=["secret = 21"])
    ]
    page.cells[4].source = f"## Mine\n\n{EVIL}\n\n1 < 2 & `a < b` ![p](data:image/png;base64,AAAA)"
    page.cells[4].source += f"\n\n$\\sqrt{{d_k}}$ $\\text{{{EVIL}}}$"
    tagged = {"tags": ['"><script>alert(1)</script>']}
    page.cells += [
        new_markdown_cell(f"### BEGIN HIDDEN TESTS {EVIL}"),
        new_code_cell("# ### BEGIN HIDDEN TESTS", metadata=tagged),
    ]
    nbformat.write(page, path)


def test_feedback_hides_tests_and_runs_no_script(tmp_path):
    course = make(tmp_path / "c", {"ada": {}, "eve": {}, "bob": {"fail": True}})
    grade(course)
    attack(course, "eve")
    said = []
    assert feedback_pages.generate(course, [NAME], say=said.append) == 0, said
    assert said == [f"{NAME}: 2 pages of feedback in feedback/STUDENT/{NAME}/{NAME}.html"]
    assert not (course.room("feedback") / "bob").exists(), "he has no grade"
    text = (course.room("feedback") / "eve" / NAME / f"{NAME}.html").read_text()
    plain = (course.room("feedback") / "ada" / NAME / f"{NAME}.html").read_text()
    page = BeautifulSoup(text, "html.parser")
    assert not page.select("script, link, [onerror], [href^=javascript], iframe")
    assert "default-src 'none'" in page.select_one("head meta[http-equiv]")["content"]
    assert page.select_one("math msqrt msub").text.split() == ["d", "k"]
    first, *_, last = [item.text for item in page.select("#toc li")]
    assert first == "Small · visible test (Score: 1.0 / 1.0)"
    assert last == "Small · written answer (Score: 0.0 / 4.0, not final)"
    assert all(page.select(f"[name={link['href'][1:]}]") for link in page.select("#toc a"))
    assert all(img["src"].startswith("data:image/") for img in page.select("img[src]"))
    for words in ("secret", "assert double(secret)"):
        assert words not in text
        assert words not in plain
    assert "AssertionError: double(21)" in text, "what a test says is for the student"
    assert page.select_one("h2").text.startswith("Mine")
    assert page.select_one("b").text == "bold"
    assert page.select_one("th")
    assert "a < b" in [code.text for code in page.select("code")]


def test_a_template_is_compiled_once_and_again_when_it_changes():
    templates = {"page": "<p>1</p>"}

    def template():
        loaders = [DictLoader(templates)]
        exporter = nbgrader_plugin.FeedbackExporter(extra_loaders=loaders)
        return exporter.environment.get_template("page")

    first, again = template(), template()
    assert first.root_render_func.__code__ is again.root_render_func.__code__
    templates["page"] = "<p>2</p>"
    assert (first.render(), template().render()) == ("<p>1</p>", "<p>2</p>")


def test_the_formgrader_shows_the_notes_and_makes_the_same_feedback(tmp_path, monkeypatch):
    course = make(tmp_path / "c", {"ada": {"note": True, "handed_in": "yesterday"}})
    grade(course)
    assert feedback_pages.generate(course, [NAME], say=str) == 0
    page = course.room("feedback") / "ada" / NAME / f"{NAME}.html"
    before = page.read_text()
    monkeypatch.chdir(course.root / "course")
    (app := FormgradeExtension()).initialize([])
    assert NbGraderAPI(app.coursedir, parent=app).generate_feedback(NAME, "ada")["success"]
    assert page.read_text() == before
    copy, about = str(course.graded_copy(NAME, "ada")), {"index": 0, "total": 1}
    shown, _ = HTMLExporter(config=app.config).from_filename(copy, about)
    assert "cdnjs" not in shown
    notes = [item.text for item in BeautifulSoup(shown, "html.parser").select("#notes li")]
    line = "timestamp.txt holds no time: counted as in time, please check"
    assert notes[-1] == f"{line} (private)"
    with closing(course.gradebook()) as book:
        assert status(course, book, [NAME]).endswith(f"\n    ada: {line}")


def test_every_task_and_formula_of_the_exercises_is_shown_as_the_exercise_has_it():
    for name in ASSIGNMENTS:
        source = read_page(source_of(name))
        called, graded = task_names(source), [c for c in source.cells if c.metadata.nbgrader.grade]
        names = [called[cell.id] for cell in graded]
        assert len(set(names)) == len(names)
        assert all(name.startswith("Task ") for name in names)
        texts = "".join(cell.source for cell in source.cells if cell.cell_type == "markdown")
        for formula in re.findall(r"\$\$.+?\$\$|\$[^$]+\$", texts):
            assert mathml(formula.strip("$"), formula.startswith("$$")), formula


@pytest.mark.parametrize(
    ("html", "clean"),
    [
        ('<p style="color: red; position: fixed">x</p>', '<p style="color:red">x</p>'),
        ('<img src="https://spy.example/x.png" alt="a">', '<img alt="a">'),
        (
            '<a href="data:text/html,<script>1</script>">x</a>',
            '<a rel="noopener noreferrer" target="_blank">x</a>',
        ),
        ("<form><input><button>x</button></form>", "x"),
        ("<svg onload=x()></svg><math onclick=x()><mi>1</mi></math>", "<math><mi>1</mi></math>"),
        ('<a href="https://example.org">x</a>', f'<a href="https://example.org"{BESIDE}>x</a>'),
        ('<a href="/formgrader/submissions/1/next">x</a>', f"<a{BESIDE}>x</a>"),
        ("<div>" * 100_000, "<p>[more than 5,000 tags of HTML: left out]</p>"),
        ("<table><tr><td>1</td></tr></table>", "<table><tbody><tr><td>1</td></tr></tbody></table>"),
        ('<b ID=x CLASS="full-credit" name=y data-link=z role=button>x</b>', "<b>x</b>"),
        ('<p style="background: u\\72l(//spy.example)">x</p>', "<p>x</p>"),
        ("<p style=\"background: image-set('//spy.example' 1x)\">x</p>", "<p>x</p>"),
        ('<p style="margin: -9px">x</p>', "<p>x</p>"),
        ('<p style="width: calc(0px - 9px)">x</p>', "<p>x</p>"),
        ('<p style="color: rgba(1, 2, 3, .5)">x</p>', '<p style="color:rgba(1, 2, 3, 0.5)">x</p>'),
        ("<ul><li>1<li>2<ul><li>3</ul></ul>", "<ul><li>1</li><li>2<ul><li>3</li></ul></li></ul>"),
        ("<dl><dt>1<dd>2</dl>", "<dl><dt>1</dt><dd>2</dd></dl>"),
        ("<p>1 <i>2 <b>3<p>4</b> 5", "<p>1 <i>2 <b>3</b></i></p><p>4 5</p>"),
        ("1 < 2 &amp;&lt; <title>3</title>", "1 &lt; 2 &amp;&lt; 3"),
        ("<![x[1]]>", "<p>[HTML that cannot be read: left out]</p>"),
    ],
)
def test_html_is_sanitised(html, clean):
    assert clean_html(html) == clean


def each(tag, number):
    """Start tags that differ, so that a parser opens each of them again."""
    return "".join(f"<{tag} title={n}>" for n in range(number))


LONG = "x" * 20_000
AMPLIFIED = {
    "tags that each paragraph opens again": f"<p>{each('b', 2_400)}{'<p>x' * 2_400}",
    "one with a long title": f"<p><b title={LONG}>{'<p>x' * 4_000}",
    "links": f"<p><a title={LONG}>{'<p>x' * 4_000}",
    "behind the end of a span": f"{'<span>' * 900}{each('i', 900)}{'</span>x' * 900}",
    "in buttons, which are left out": "<p><button><b title=1>" * 1_500,
    "in nested tables": f"{'<table><td>' * 900}{each('a', 900)}{'</table>x' * 900}",
    "before a table": f"<table>{each('u', 2_400)}{'<tr>x' * 2_400}",
    "in mathematics": f"<math><mtext>{each('s', 2_000)}{'<p>x' * 2_000}",
    "in comments that are none": f"<p>{each('b', 900)}<!-- </b> --!>{'<p>x' * 2_000}",
    "deep": "<div>" * 4_900,
    "unfinished": "<a b='" * 4_900 + LONG * 5,
    "unfinished, with spaces": "<a   " * 4_900 + LONG * 5,
}


@pytest.mark.parametrize("kind", AMPLIFIED)
def test_html_becomes_not_much_longer(kind):
    text = AMPLIFIED[kind]
    clean = clean_html(text)
    assert len(clean) < 2 * len(text)
    assert len(clean_html(clean)) <= len(clean), "a page cleans it a second time"
    again = nh3.clean(clean, tags=TAGS)
    assert again.count("<") == clean.count("<"), "a browser has nothing to open again"


ONCE_A_PAGE = f"<p>[more than {MOST_KB} kB of texts in one notebook: left out]</p>"
TEXTS = {
    "a definition of a long link": f"[a]: b '{'t' * 40_000}'\n\n" + "[a] " * 9_000,
    "a definition of a picture": f"[a]: b{'t' * 40_000}\n\n" + "![a] " * 9_000,
    "nested formulas": ("$" + "{" * 600 + "x" + "}" * 600 + "$ ") * 40,
    "headings": "# a\n" * 1_600,
    "quotations": "> " * 20_000,
    "references": "&a" * 40_000,
    "openings of lines": r"\\[" * 30_000,
    "openings in a line": r"\\(" * 30_000,
    "a program": "```python\n" + "a = 1\n" * 15_000 + "```",
}


@pytest.mark.parametrize("kind", TEXTS)
def test_a_text_becomes_not_much_longer(kind):
    text = TEXTS[kind]
    shown = markdown2html({}, text)
    assert len(shown) < 5 * len(text)
    assert not BeautifulSoup(shown, "html.parser").select("[id], [class], [name]")


def test_a_page_has_a_limit_for_all_of_its_texts():
    page = {"resources": {}}
    shown = [markdown2html(page, "x" * 90_000) for _ in range(7)]
    assert [one == ONCE_A_PAGE for one in shown] == [False] * 5 + [True] * 2


def test_a_picture_that_is_shown_a_thousand_times_is_there_once():
    cell = {"attachments": {"a b.png": {"image/png": PIXEL}}}
    shown = markdown2html({"cell": cell}, "![b](attachment:a%20b.png)" * (MOST_TAGS // 5))
    assert shown.count(PIXEL) == 1
    assert shown.count('alt="b"') == MOST_TAGS // 5
    assert cell["attachments"]["a b.png"], "the notebook keeps it"


def test_plain_nbgrader_grades_in_the_sandbox_and_continues_after_broken_ones(tmp_path):
    course = make(tmp_path / "c", {"ada": {}, "dup": {}, "eve": {}, "raw": {}})
    marker = tmp_path / "escaped"
    path = course.hand_in(NAME, "eve")
    page = nbformat.read(path, as_version=4)
    page.cells[1].source = f"open({str(marker)!r}, 'w')\nimport os\nos._exit(0)"
    nbformat.write(page, path)
    path = course.hand_in(NAME, "dup")
    page = nbformat.read(path, as_version=4)
    page.cells.insert(2, page.cells[1])  # as copying a cell in JupyterLab does
    nbformat.write(page, path)
    course.hand_in(NAME, "raw").write_text("no notebook")
    room, alone = course.root / "course", {"PYTHONPATH": ""}  # it must find our plugins by itself
    done = nbgrader(room, "autograde", NAME, **alone)
    assert done.returncode == 0, done.stderr
    assert not marker.exists()
    got = scores(course)
    assert got["ada", "test-double"][0] == got["dup", "test-double"][0] == 1.0
    assert got["ada", "hidden-double"][0] == 3.0
    assert got["eve", "test-double"] == (0.0, None, False)
    assert got["raw", "test-double"] == (0.0, None, False)
    assert got["ada", "explain"] == (None, None, True)
    done = nbgrader(room, "generate_feedback", NAME, **alone)
    assert done.returncode == 0, done.stderr
    assert "secret" not in (course.room("feedback") / "ada" / NAME / f"{NAME}.html").read_text()


def test_collecting_from_the_exchange_follows_no_link(tmp_path):
    course = make(tmp_path / "c")
    inbound = tmp_path / "eve+psx+2026"
    inbound.mkdir()
    (inbound / f"{NAME}.ipynb").write_text("mine")
    (inbound / "timestamp.txt").write_text("2026-10-01 10:00:00 UTC")
    (inbound / "other.txt").symlink_to(course.room("source") / NAME / f"{NAME}.ipynb")
    (inbound / "folder").symlink_to(course.room("source"))
    os.mkfifo(inbound / "pipe")
    copied = course.hand_in(NAME, "eve").parent
    exchange = nbgrader_plugin.CollectWithoutLinks(coursedir=course.nbgrader.coursedir)
    exchange.do_copy(str(inbound), str(copied))
    assert sorted(path.name for path in copied.iterdir()) == [f"{NAME}.ipynb", "timestamp.txt"]
    (tmp_path / "link").symlink_to(course.room("source") / NAME)
    other = course.hand_in(NAME, "fay").parent
    exchange.do_copy(str(tmp_path / "link"), str(other))
    assert not other.exists()


def page_of(course, student):
    """A student's page, made now, as text and parsed."""
    said = []
    assert feedback_pages.generate(course, [NAME], say=said.append) == 0, said
    text = (course.room("feedback") / student / NAME / f"{NAME}.html").read_text()
    return text, BeautifulSoup(text, "html.parser")


def told(page):
    return [" ".join(item.text.split()) for item in page.select("#told li")]


def keep(course, student, *notes):
    """Notes as grading keeps them."""
    with closing(course.gradebook()) as book:
        records.note(book, NAME, student, notes)


def test_a_page_says_what_happened_in_plain_words_and_links_the_cells(tmp_path):
    course = make(tmp_path / "c", {"ada": {"own": ["mine"]}, "bob": {}})
    grade(course)
    missing = Note("its cell was missing", advice="Take it from a new copy of the exercise.")
    notes = [missing._replace(cell=cell) for cell in ("double", "title")]
    notes += [Note("raised <b>secret</b>", "a cell of their own"), Note("some output was cut")]
    notes += [Note("why does it use ctypes?", "double", private=True)]
    notes += [Note("it is right", "explain", kind=REQUEST)]
    keep(course, "ada", *notes)
    text, page = page_of(course, "ada")
    advice = "Take it from a new copy of the exercise."
    assert told(page) == [
        f"Small · your code, Small · text: its cell was missing. {advice}",
        "A cell of your own: raised <b>secret</b>.",
        "Some output was cut.",
        "Small · written answer: you asked for a regrade: it is right. A person looks at it.",
        "Not final: a person still looks at 4 of 8 points: Small · written answer.",
    ]
    assert all(page.select(f"[name={link['href'][1:]}]") for link in page.select("#told a"))
    assert "ctypes" not in text
    by_hand(course, "ada", "explain", manual_score=4.0, needs_manual_grade=False)
    keep(course, "ada", notes[-1])
    answered = "you asked for a regrade: it is right. A person has looked at it."
    _, page = page_of(course, "ada")
    assert told(page) == [f"Small · written answer: {answered}"]
    by_hand(course, "bob", "explain", manual_score=4.0, needs_manual_grade=False)
    assert told(page_of(course, "bob")[1]) == [], "nothing happened"


def test_the_penalty_on_a_page_is_that_of_now(tmp_path):
    """48 h 10 min late: two days begun after the grace, 20 % of 4 points, later of 8."""
    course = make(tmp_path / "c", {"ada": {"handed_in": "2026-10-03 10:00:00 UTC"}})
    hand_in(course, "bob", "2026-10-01 10:00:00 UTC")
    hand_in(course, "cyd", "2026-10-03 10:00:00 UTC", share=0)
    releasing.set_due(course, NAME, "2026-10-01T09:50+00:00")
    grade(course)
    due = "after the due time (2026-10-01 09:50 UTC, 15 minutes' grace)"
    late = f"Handed in 2026-10-03 10:00 UTC, 2 days 0 h {due}"
    ask = "are deducted. If that time is wrong, ask your teacher."
    _, page = page_of(course, "ada")
    assert told(page)[0] == f"{late}: 0.8 of 4 points {ask}"
    early = f"Handed in 2026-10-01 10:00 UTC, 10 min {due}"
    assert told(page_of(course, "bob")[1])[0] == f"{early}: nothing is deducted."
    assert told(page_of(course, "cyd")[1])[0] == f"{late}: nothing is deducted."
    by_hand(course, "ada", "explain", manual_score=4.0, needs_manual_grade=False)
    _, page = page_of(course, "ada")
    assert told(page) == [f"{late}: 1.6 of 8 points {ask}"]
    assert page.select_one("h4").text == f"{NAME} (Score: 6.4 / 8.0)"
    assert page.select_one(".late-penalty").text == "Late submission penalty (Score: -1.6)"
    releasing.extend(course, NAME, "ada", 3)
    assert told(page_of(course, "ada")[1]) == []


def test_nbgraders_own_run_keeps_the_notes_and_an_unreadable_file_has_a_page_of_its_own(tmp_path):
    course = make(tmp_path / "c", {"ada": {}, "raw": {}})
    path = course.hand_in(NAME, "ada")
    notebook = nbformat.read(path, as_version=4)
    notebook.cells[1] = new_markdown_cell("mine")
    notebook.cells.insert(3, new_markdown_cell("regrade: <i>please</i>"))  # below test-double
    nbformat.write(notebook, path)
    course.hand_in(NAME, "raw").write_text("no notebook")
    for student in ("ada", "raw"):
        done = course.nbgrader.autograde(NAME, student)
        assert done["success"], done
    text, page = page_of(course, "ada")
    assert [line for line in told(page) if "Small · your code: its cell was missing" in line]
    assert [line for line in told(page) if "you asked for a regrade: <i>please</i>. A per" in line]
    assert scores(course)["ada", "test-double"] == (0.0, None, True), "it waits for a person"
    text, page = page_of(course, "raw")
    assert "your file could not be graded" in page.select_one("h4").text
    assert f"The reason: {NAME}.ipynb is not a notebook" in told(page)[0]
    assert "Hand in again: File > Download" in told(page)[0]
    assert not page.select("#notebook, #toc li")
    assert "No response." not in text
    with closing(course.gradebook()) as book:
        book.find_comment("explain", NAME, NAME, "raw").manual_comment = "Send *another*."
        book.db.commit()
    _, page = page_of(course, "raw")
    assert page.select_one("#toc li em").text == "another", "what a person writes is shown"


ATTACHED = {  # the text, and whether the picture is shown
    "![a](attachment:my.png)": True,
    '<img src="attachment:my.png">': True,
    "<img src='attachment:my%2Epng' width=30 onerror=x()>": True,
    'text <IMG alt="a" SRC=attachment:my.png /> in a line': True,
    '<img src="attachment:other.png">': False,
    '<img src="https://spy.example/my.png">': False,
    '<img src="attachment:evil.png">': False,
}


def test_an_attached_picture_is_shown_in_each_form_on_both_pages(tmp_path, monkeypatch):
    course = make(tmp_path / "c", {"ada": {}})
    grade(course)
    copy = course.graded_copy(NAME, "ada")
    notebook = nbformat.read(copy, as_version=4)
    evil = {"image/png": '"><script>alert(1)</script>'}
    attachments = {"my.png": {"image/png": PIXEL}, "evil.png": evil}
    notebook.cells += [new_markdown_cell(text, attachments=attachments) for text in ATTACHED]
    nbformat.write(notebook, copy)
    monkeypatch.chdir(course.root / "course")
    (app := FormgradeExtension()).initialize([])
    about = {"index": 0, "total": 1}
    graded, _ = HTMLExporter(config=app.config).from_filename(str(copy), about)
    for page in (page_of(course, "ada")[1], BeautifulSoup(graded, "html.parser")):
        pictures = page.select(".rendered_html img")
        seen = {text: one.get("src") for text, one in zip(ATTACHED, pictures, strict=True)}
        mine = f"data:image/png;base64,{PIXEL}"
        assert seen == {text: mine if shown else None for text, shown in ATTACHED.items()}
        assert not page.select("[onerror]")
        assert not [script for script in page.select("script") if "alert" in script.text]
