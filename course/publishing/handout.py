"""`python -m course handout`: the students' course, without solutions and hidden tests.

Only files that are named here are copied, and every byte of the copy is searched for text that
students must not see, before the folder gets its final name.
"""

import json
import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from bertlab._files import write_atomically
from course.settings import Course, CourseError

ROOMS = (
    "bertlab",
    "course/experiments",
    "course/feedback",
    "course/images",
    "course/jupyterlab",
    "course/live",
    "course/models",
    "course/project",
    "course/toyworld",
    "course/widgets",
    "exercises",
    "lectures",
)
FILES = (
    "CITATION.cff",
    "LICENSE",
    "Makefile",
    "README.md",
    "constraints.txt",
    "course/__init__.py",
    "course/fitting.py",
    "course/mine.py",
    "course/own_bert.py",
    "course/pyproject.toml",
    "course/students.md",
    "course/syllabus.md",
    "environment.yml",
    "pyproject.toml",
)
LEFT_BEHIND = shutil.ignore_patterns(
    "__pycache__", ".*", "*.egg-info", "*.pyc", "progress*.json", "my_bert.html"
)
# In a page or a Makefile; text only for students is in a comment.
FOR_INSTRUCTORS = re.compile(
    r"^(<!--|#) only instructors( -->)?\n.*?^(<!--|#) end( -->)?\n\n?", re.DOTALL | re.MULTILINE
)
FOR_STUDENTS = re.compile(r"^<!-- only students\n(.*?)-->\n", re.DOTALL | re.MULTILINE)
HIDDEN = re.compile(r"### BEGIN (?:SOLUTION|HIDDEN TESTS)\n(.*?)### END", re.DOTALL)
SHORTEST = 12  # characters: `return x` reveals nothing


def hand_out(course: Course, to: Path, zipped: bool = False, solutions: bool = False) -> list[Path]:
    """Write the students' course to the new folder `to`; returns the written paths.

    zipped: also as `to`.zip. solutions: also the solved notebooks, as `to`-solutions.zip, for
    self-study.

    Raises CourseError if `to` exists, or if anything in the copy reveals a solution or a hidden
    test; then nothing has been written.
    """
    to = to.absolute()
    archives = [to.with_name(f"{to.name}.zip")] * zipped
    archives += [to.with_name(f"{to.name}-solutions.zip")] * solutions
    if there := [path for path in (to, *archives) if path.exists()]:
        raise CourseError(f"{there[0]} is there already: remove it, or give --to another name")
    if not to.parent.is_dir():
        raise CourseError(f"{to.parent}: no such folder; make it, or give --to another one")
    with tempfile.TemporaryDirectory(prefix=f".{to.name}.", dir=to.parent) as folder:
        copy, solved = Path(folder, to.name), Path(folder, f"{to.name}-solutions")
        copy_for_students(course, copy)
        if found := list(leaks(copy, secrets(course))):
            raise CourseError(
                "nothing is handed out, as students would see "
                f"{'; '.join(found[:3])}{', ...' * (len(found) > 3)}. "
                "`make exercises` makes the students' notebooks again; other files must go."
            )
        for name in course.assignments() if solutions else ():
            path = course.room("source") / name / f"{name}.ipynb"
            (solved / name).mkdir(parents=True)
            shutil.copy(path, solved / name)
        for archive, source in zip(archives, [copy] * zipped + [solved] * solutions, strict=True):
            shutil.make_archive(str(Path(folder, archive.stem)), "zip", folder, source.name)
            Path(folder, archive.name).rename(archive)
        copy.rename(to)
    return [to, *archives]


def copy_for_students(course: Course, to: Path) -> None:
    """Copy the students' rooms and files; pages for both sides get only the students' text."""
    for room in ROOMS:
        shutil.copytree(course.root / room, to / room, ignore=LEFT_BEHIND)
    for name in FILES:
        shutil.copy(course.root / name, to / name)
    for page in (*to.rglob("*.md"), to / "Makefile", to / "course" / "pyproject.toml"):
        write_atomically(page, for_students(page.read_text(encoding="utf-8")))


def for_students(text: str) -> str:
    r"""A page without the text for instructors, and with the text only for students.

    >>> for_students("a\n# only instructors\nb\n# end\n<!-- only students\nc\n-->\n")
    'a\nc\n'
    """
    return FOR_STUDENTS.sub(r"\1", FOR_INSTRUCTORS.sub("", text))


def secrets(course: Course) -> dict[str, list[str]]:
    """The lines that students must not see: of each cell with a solution or hidden tests.

    Lines that are also in the library, a lecture or an open cell of an exercise are not secret.
    """
    pages = {
        name: nbformat.read(course.room("source") / name / f"{name}.ipynb", as_version=4)
        for name in course.assignments()
    }
    cells = {f"cell {cell.id} of {name}": cell for name in pages for cell in pages[name].cells}
    parts = {place: open_and_hidden(cell) for place, cell in cells.items()}
    said = [text_of(path) for room in ROOMS for path in sorted((course.root / room).rglob("*"))]
    known = "\n".join([*said, *(shown for shown, _ in parts.values())])
    found = {
        place: [
            line
            for line in map(str.strip, hidden.splitlines())
            if len(line) >= SHORTEST and line not in known
        ]
        for place, (_, hidden) in parts.items()
    }
    return {place: lines for place, lines in found.items() if lines}


def open_and_hidden(cell: NotebookNode) -> tuple[str, str]:
    """The visible and the hidden part of an instructor's cell; unmarked answers are hidden."""
    hidden = HIDDEN.findall(cell.source)
    if not hidden and cell.metadata.get("nbgrader", {}).get("solution"):
        return "", cell.source
    return HIDDEN.sub("", cell.source), "\n".join(hidden)


def text_of(path: Path) -> str:
    """The text of a page that is not an exercise; "" for other files."""
    if path.suffix not in (".py", ".ipynb", ".md") or "exercises" in path.parts:
        return ""
    if path.suffix == ".ipynb":
        return "\n".join(cell.source for cell in nbformat.read(path, as_version=4).cells)
    return path.read_text(encoding="utf-8")


def leaks(folder: Path, secrets: dict[str, list[str]]) -> Iterator[str]:
    """Which file of the folder reveals which line of which cell.

    A binary file, such as weights, is searched only for each cell's longest line.
    """
    spelled = {place: spellings(lines) for place, lines in secrets.items()}
    longest = {place: spellings([max(lines, key=len)]) for place, lines in secrets.items()}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        data = path.read_bytes()
        try:
            data.decode()
            wanted = spelled
        except UnicodeDecodeError:
            wanted = longest
        said = (place for place, lines in wanted.items() if any(line in data for line in lines))
        if place := next(said, None):
            yield f"{place} in {path.relative_to(folder)}"


def spellings(lines: Sequence[str]) -> set[bytes]:
    """The lines as plain text, and as in notebooks' files."""
    quoted = {json.dumps(one, ensure_ascii=ascii)[1:-1] for one in lines for ascii in (True, False)}
    return {one.encode() for one in {*lines, *quoted}}
