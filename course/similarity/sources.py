"""Students' code from untrusted notebooks."""

import json
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

from course.collecting.opening import Refused, opened_each
from course.settings import printable

LARGEST, LONGEST = 20_000_000, 200_000  # bytes of a notebook, read characters of code


class Work(NamedTuple):
    """One student's work: the code cells that are not given by the assignment."""

    who: str
    cells: tuple[str, ...]

    @property
    def code(self) -> str:
        """All of it, as one text."""
        return "\n\n".join(self.cells)


def read_works(folder: Path, name: str, given: list[str]) -> tuple[list[Work], list[str]]:
    """All students' own cells in `folder`/STUDENT/`name`, and a line for each unread one."""
    works, notes, known = [], [], {"", *(cell.strip() for cell in given)}
    paths = sorted(folder.glob(f"*/{name}/{name}.ipynb"))
    for path, found in zip(paths, opened_each(code_cells, paths), strict=True):
        who = path.parent.parent.name
        if isinstance(found, Refused):
            notes.append(f"{printable(who)}: not read: {printable(str(found))[:200]}")
            continue
        cells = [cell for cell in found if cell.strip() not in known]
        if sum(map(len, cells)) > LONGEST:
            notes.append(f"{printable(who)}: only the first {LONGEST:,} characters are compared")
        if cells:
            works.append(Work(who, first_characters(cells, LONGEST)))
    return works, notes


def first_characters(cells: list[str], room: int) -> tuple[str, ...]:
    """The cells within the first `room` characters of all of them, the last one cut.

    >>> first_characters(["abc", "def", "ghi"], 5)
    ('abc', 'de')
    """
    ends = zip(cells, accumulate(map(len, cells)), strict=True)
    kept = (cell[: max(0, room - end + len(cell))] for cell, end in ends)
    return tuple(filter(None, kept))


def code_cells(path: Path) -> list[str]:
    """The code cells of an untrusted notebook, without half characters. Raises Refused."""
    if any(part.is_symlink() for part in (path, path.parent)):
        raise Refused("it is a link to somewhere else")
    if not path.is_file():
        raise Refused("it is not an ordinary file")
    if path.stat().st_size > LARGEST:
        raise Refused(f"it is larger than {LARGEST:,} bytes")
    try:
        notebook = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise Refused(str(error)) from None
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(cells, list):
        raise Refused("it is not a notebook")
    cells = [cell for cell in cells if isinstance(cell, dict) and cell.get("cell_type") == "code"]
    sources = [cell.get("source", "") for cell in cells]
    texts = ("".join(map(str, s)) if isinstance(s, list) else str(s) for s in sources)
    return [text.encode("utf-8", "replace").decode() for text in texts]
