"""The students' copy: its content, what it must not contain, and that it works alone."""

import json
import os
import re
import subprocess
import sys
import zipfile

import nbformat
import pytest

from course.feedback.__main__ import how_far
from course.publishing.handout import leaks, secrets
from course.settings import Course, CourseError
from tests.conftest import ROOT, read_page
from tests.exercises.test_assignments import release_of, source_of

pytestmark = pytest.mark.slow
COURSE = Course()
TEXTS = (".ipynb", ".json", ".md", ".py", ".toml", ".txt", ".yml", "")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The copy and the other files that the command writes."""
    from course.__main__ import main

    folder = tmp_path_factory.mktemp("made")
    assert main(["handout", "--to", str(folder / "bert"), "--zip", "--solutions"]) == 0
    return folder


@pytest.fixture(scope="module")
def copy(made):
    return made / "bert"


@pytest.fixture(scope="module")
def unseen():
    return secrets(COURSE)


def in_the_copy(copy, *command):
    options = {"cwd": copy, "env": os.environ | {"PYTHONPATH": str(copy)}}
    return subprocess.run([sys.executable, *command], capture_output=True, text=True, **options)


def test_it_contains_exactly_what_students_use(copy):
    folders = {path.name for path in copy.iterdir() if path.is_dir()}
    assert folders == {"bertlab", "course", "exercises", "lectures"}
    rooms = {path.name for path in (copy / "course").iterdir() if path.is_dir()}
    for_all = {"experiments", "feedback", "images", "jupyterlab", "live", "models", "project"}
    assert rooms == for_all | {"toyworld", "widgets"}
    for room in ("lectures", "exercises"):
        for path in (ROOT / room).rglob("*.ipynb"):
            if ".ipynb_checkpoints" not in path.parts:
                assert (copy / path.relative_to(ROOT)).read_bytes() == path.read_bytes()


def hidden_lines():
    """Lines of the source notebooks that the released ones do not have, by nbgrader's own rules."""
    for name in COURSE.assignments():
        released = {cell.id: cell.source for cell in read_page(release_of(name)).cells}
        for cell in read_page(source_of(name)).cells:
            shown = released.get(cell.id, "")
            yield from (line.strip() for line in cell.source.splitlines() if line not in shown)


def test_no_byte_of_it_reveals_a_hidden_line(copy):
    files = (path for path in copy.rglob("*") if path.is_file() and path.suffix in TEXTS)
    joined = b"\n".join(path.read_bytes() for path in files)
    rooms = (
        "bertlab",
        *(f"course/{name}" for name in ("experiments", "feedback", "models", "widgets")),
    )
    public = [path for room in rooms for path in (ROOT / room).rglob("*.py")]
    known = "\n".join(path.read_text(encoding="utf-8") for path in public)
    pages = [*ROOT.glob("lectures/*.ipynb"), *map(release_of, COURSE.assignments())]
    known += "\n".join(cell.source for path in pages for cell in read_page(path).cells)
    wanted = {line for line in hidden_lines() if len(line) > 30 and line not in known}
    assert len(wanted) > 700
    assert [line for line in wanted if line.encode() in joined] == []
    assert [line for line in wanted if json.dumps(line)[1:-1].encode() in joined] == []


def leaking_files():
    """Ways in which a solution could get into a folder, each with the name of the file."""
    notebook = nbformat.read(source_of("ex01_bpe"), as_version=4)
    cells = {cell.id: cell for cell in notebook.cells}
    hidden, answer = cells["hidden-merge-pair"].source, cells["train"].source
    last = max(hidden.splitlines(), key=len).strip()
    return {
        "exercises/ex01_bpe/mine.ipynb": nbformat.writes(notebook).encode(),
        "lectures/note.txt": last.encode(),
        "bertlab/weights/extra.bin": b"\xff\xfe\x00" + last.encode() + b"\xff",
        "course/feedback/answer.md": answer.encode(),
    }


@pytest.mark.parametrize("name", leaking_files())
def test_a_leak_is_named_with_its_cell(tmp_path, name, unseen):
    path = tmp_path / name
    path.parent.mkdir(parents=True)
    path.write_bytes(leaking_files()[name])
    (tmp_path / "fine.txt").write_text("def merge_pair(symbols, pair):\n", encoding="utf-8")
    (said,) = leaks(tmp_path, unseen)
    assert re.fullmatch(rf"cell [\w-]+ of ex\d\d_\w+ in {name}", said)


def test_nothing_is_overwritten_and_no_partial_copy_is_left(made, tmp_path, monkeypatch):
    from course.publishing import handout

    for to in ("bert", "nowhere/bert"):
        with pytest.raises(CourseError, match=r"is there already|no such folder"):
            handout.hand_out(COURSE, made / to)
    monkeypatch.setattr(handout, "secrets", lambda _: {})
    monkeypatch.setattr(handout, "leaks", lambda *_: ["cell a of b in c"] * 4)
    with pytest.raises(CourseError, match=r"cell a of b in c; .*, \.\.\.\. `make exercises`"):
        handout.hand_out(COURSE, tmp_path / "bert", zipped=True)
    assert list(tmp_path.iterdir()) == []


def test_the_zip_files_hold_the_copy_and_the_solutions(made, copy):
    files = {str(path.relative_to(made)) for path in copy.rglob("*") if path.is_file()}
    with zipfile.ZipFile(made / "bert.zip") as archive:
        assert {name for name in archive.namelist() if not name.endswith("/")} == files
    with zipfile.ZipFile(made / "bert-solutions.zip") as archive:
        notebooks = [name for name in archive.namelist() if name.endswith(".ipynb")]
    assert len(notebooks) == len(COURSE.assignments())


def test_every_link_of_it_works_and_it_names_its_version(copy):
    readme = (copy / "README.md").read_text(encoding="utf-8")
    assert "You hold the students' copy" in readme
    assert not re.search("solutions/|make test|only (students|instructors)", readme)
    broken = []
    for path in [*copy.rglob("*.md"), *copy.rglob("*.ipynb")]:
        text = path.read_text(encoding="utf-8") if path.suffix == ".md" else read_page(path).prose
        for link in re.findall(r"\]\((?!https?:|#|mailto:)([\w./-]+)", text):
            if not (path.parent / link).exists():
                broken.append(f"{path.relative_to(copy)}: {link}")
    assert broken == []
    makefile = (copy / "Makefile").read_text(encoding="utf-8")
    targets = re.findall(r"^(\w+):.*##", makefile, re.MULTILINE)
    assert targets == ["help", "lab", "check", "clean"]


def test_its_exercises_run_without_the_repository(copy):
    said = in_the_copy(copy, "-c", "import course; print(course.__file__)").stdout
    assert said.strip() == str(copy / "course" / "__init__.py")
    names = ["ex01_bpe", "ex11_sentence_bert"]
    done = in_the_copy(copy, "-m", "course.feedback", *names)
    assert done.returncode == 0, done.stderr
    lines = r"^(ex\d\d_\w+) +[□]+ 0 of \d+ functions pass"
    assert re.findall(lines, done.stdout, re.MULTILINE) == names
    done = in_the_copy(copy, "-m", "course.feedback", "ex99")
    assert "no such exercise: ex99; expected some of ex00_warm_up, " in done.stderr


def test_an_exercise_that_ends_its_kernel_has_a_line_like_any_other(tmp_path):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("import os; os._exit(1)")])
    nbformat.write(notebook, tmp_path / "ex.ipynb")
    assert how_far(tmp_path / "ex.ipynb") == "stopped: Kernel died"
