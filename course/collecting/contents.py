"""What is in a handed-in file: a notebook, whatever its name ends with, and of which assignment."""

import json
import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import nbformat
from nbformat.v4 import new_code_cell, new_notebook

from course.settings import Course

ENDINGS = re.compile(r"(?:\.(?:ipynb|json|txt|py|zip|pdf|html?))+$", re.IGNORECASE)
MARKER = re.compile(r"^# ?(?:%%|In ?\[).*\n?", re.MULTILINE)


def read(name: str, content: bytes) -> tuple[bytes | None, str, set[str]]:
    """A file as `as_notebook` gives it, and the ids of its cells."""
    page, why = as_notebook(name, content)
    return page, why, grade_ids(page) if page else set()


def as_notebook(name: str, content: bytes) -> tuple[bytes | None, str]:
    """The file as a notebook, and what was done for that; or None, and why it cannot be graded."""
    ending = name.rpartition(".")[2].lower() if "." in name else ""
    if ending == "ipynb":
        return content, ""  # a broken one is for the grader, who tells the student
    if ending == "py":
        return from_script(content), "converted from .py, as no notebook was handed in"
    if _cells(content):
        return content, "a notebook, though its name does not end with .ipynb"
    if ending == "zip":
        return None, "an empty or broken zip file: ask for the notebook"
    return (
        None,
        f"{'.' + ending if ending else 'such'} files cannot be graded: ask for the notebook",
    )


def from_script(content: bytes) -> bytes:
    """A notebook of a Python file: a cell for each part that begins with `# %%` or `# In[1]:`."""
    text = content.decode("utf-8-sig", errors="replace").replace("\r\n", "\n")
    parts = [part.strip("\n") for part in MARKER.split(text)]
    cells = [new_code_cell(part) for part in parts if part.strip()] or [new_code_cell("")]
    for number, cell in enumerate(cells):
        cell.id = f"part-{number}"  # the same each time
    return nbformat.writes(new_notebook(cells=cells)).encode("utf-8", "replace")


def _cells(content: bytes) -> list[Any]:
    """The cells of a notebook, or [] if it is none."""
    try:
        page = json.loads(content.decode("utf-8-sig"))
        sheets = page.get("worksheets") or [page]
        return [cell for sheet in sheets for cell in sheet.get("cells") or []]
    except (ValueError, AttributeError, TypeError, RecursionError):
        return []


def grade_ids(content: bytes) -> set[str]:
    """nbgrader's ids of a notebook's cells."""
    found = set()
    for cell in _cells(content):
        try:
            found.add(str(cell["metadata"]["nbgrader"]["grade_id"]))
        except (KeyError, TypeError):
            continue
    return found


class Assignments:
    """The course's assignments, as file names and cells tell them apart."""

    def __init__(self, course: Course) -> None:
        self.course = course
        self.names = course.assignments()

    @cached_property
    def _patterns(self) -> list[tuple[str, re.Pattern]]:
        form = r"(?<![a-z0-9]){}(?![a-z0-9])"
        return [
            (name, re.compile(form.format(re.escape(name)), re.IGNORECASE)) for name in self.names
        ]

    @cached_property
    def _ids(self) -> Mapping[str, set[str]]:
        rooms = [self.course.room(step) for step in ("release", "source")]
        found = {}
        for name in self.course.assignments():
            pages = (room / name / f"{name}.ipynb" for room in rooms)
            page = next(page for page in pages if page.is_file())
            found[name] = grade_ids(page.read_bytes())
        return found

    def by_name(self, file: str, path: str) -> str | None:
        """The one that the file's name says, or a folder around it; None if none or several."""
        for part in (file.rpartition("/")[2], *reversed(file.split("/")[:-1])):
            if named := {name for name, pattern in self._patterns if pattern.search(part)}:
                return named.pop() if len(named) == 1 else None
        folders = (part.casefold() for part in reversed(path.split("/")[:-1]))
        return next((folder for folder in folders if folder in self.names), None)

    def by_slug(self, slug: str | None) -> str | None:
        """The one whose repositories begin with the slug, such as "ex01" or "ex01-bpe"."""
        wanted = (slug or "").casefold().replace("-", "_")
        named = [name for name in self.names if wanted in (name, name.split("_")[0])]
        return named[0] if len(named) == 1 else None

    def by_cells(self, ids: set[str]) -> str | None:
        """The one that has most of a notebook's cells."""
        if not ids:
            return None
        common = {name: len(ids & theirs) for name, theirs in self._ids.items()}
        best = max(common, key=lambda name: common[name])
        others = [count for name, count in common.items() if name != best]
        return best if common[best] > max(2 * max(others, default=0), len(ids) / 2) else None


def stem(file: str) -> str:
    """A file's name without folders and endings.

    >>> stem("work/EX01_BPE.ipynb.txt")
    'EX01_BPE'
    """
    return ENDINGS.sub("", file.rpartition("/")[2])


def right_name(file: str, assignment: str, again: str) -> bool:
    """Whether a file is called like the assignment, perhaps numbered as one that came again."""
    return bool(re.fullmatch(re.escape(assignment) + again, stem(file), re.I))
