"""Read a student's hand-in: anything may be in the file, or missing.

The result is a notebook with all cells of the assignment: the student's if they may write there,
otherwise the instructor's, and the student's own cells between them. The file is read in a process
that may die.
"""

import json
import re
import stat
import zlib
from pathlib import Path
from typing import Any, NamedTuple

import nbformat
from nbformat import NotebookNode, v4

from course.collecting.opening import Refused, opened
from course.gradebook.notes import UNREADABLE, Note
from course.grading.assignments import Assignment
from course.grading.cells import MOST_CELLS
from course.grading.outputs import attach, leave_out, plain, safe_outputs
from course.grading.repair import repaired
from course.settings import Limits

MOST_CHARACTERS = 100_000  # of a cell
v4.new_code_cell()  # reads nbformat's schema, once for all children that read
SECONDS, MEGABYTES = 60, 2_000  # of processor time and memory, to read a notebook
AGAIN = (
    "Hand in again: File > Download, the file that ends in .ipynb. Your teacher has been told, and "
    "a person looks at this hand-in."
)
# What was handed in instead of a notebook, by how it begins.
OTHER_FILES = {
    b"%PDF": "a PDF",
    b"PK": "a zip file or a document",
    b"<": "a web page",
    b"version https://git-lfs": "only the address of a file (Git LFS)",
    b"\x7fELF": "a program",
    b"\x89PNG": "a picture",
    b"\xff\xd8": "a picture",
}


class Submission(NamedTuple):
    """cells: in the student's order; notes: repairs, for the report and the student."""

    cells: list[NotebookNode]
    notes: tuple[Note, ...]


class Unreadable(Refused):
    """Not a notebook of this assignment; the message is for the report."""


def read_submission(
    path: Path, assignment: Assignment, limits: Limits, bare: bool = False
) -> Submission:
    """The student's notebook, repaired; if it is unreadable, the release, and a note.

    bare: without outputs and pictures. So is one whose outputs or pictures cannot be read.
    """
    limited = {"seconds": SECONDS, "megabytes": MEGABYTES}
    try:
        return opened(_submission, path, assignment, limits, bare, **limited)
    except Refused as error:
        if bare or isinstance(error, Unreadable):
            cells, _ = repaired([], assignment)
            note = Note(f"{UNREADABLE}{error}", advice=AGAIN, waits=True)
            return Submission(cells, (note,))
        found = read_submission(path, assignment, limits, bare=True)
        note = Note(f"its outputs and pictures were left out: with them {error}")
        return found._replace(notes=(*found.notes, note))


def _submission(path: Path, assignment: Assignment, limits: Limits, bare: bool) -> Submission:
    """The same; raises Refused."""
    notes: list[Note] = []
    found = _cells_of(_notebook(path, limits.notebook_mb), limits, notes, bare)
    cells, repairs = repaired(found, assignment)
    return Submission(cells, (*notes, *repairs))


def _notebook(path: Path, most_mb: int) -> dict:
    """The file's JSON."""
    try:
        about = path.lstat()
    except OSError:
        raise Unreadable(f"{path.name} was not handed in") from None
    if not stat.S_ISREG(about.st_mode):
        raise Unreadable(f"{path.name} is not an ordinary file")
    if about.st_size > most_mb * 2**20:
        size = about.st_size / 2**20
        raise Unreadable(
            f"{path.name} has {size:.0f} MB; at most {most_mb} MB are read "
            "(ask for it again, saved with all outputs cleared)"
        )
    page = _json(path.read_bytes(), path.name, most_mb)
    try:
        version = page.get("nbformat") if isinstance(page, dict) else 4
        if isinstance(version, int) and version > 4:
            raise Unreadable(f"{path.name} has the notebook format {version}, 4 is the newest read")
        if version != 4:
            page = nbformat.convert(nbformat.from_dict(page), 4)
    except Unreadable:
        raise
    except Exception as error:  # nbformat's own converter may fail in any way
        raise Unreadable(f"{path.name} is not a notebook ({type(error).__name__})") from None
    if not isinstance(page, dict) or not isinstance(page.get("cells"), list):
        raise Unreadable(f"{path.name} is not a notebook (it has no list of cells)")
    return page


def _json(content: bytes, name: str, most_mb: int) -> Any:
    """The content of a JSON file, also a compressed one, in one of the usual encodings."""
    if content.startswith(b"\x1f\x8b"):
        try:
            unpacked = zlib.decompressobj(wbits=31)
            content = unpacked.decompress(content, most_mb * 2**20)
        except zlib.error:
            raise Unreadable(f"{name} is a damaged compressed file") from None
        if unpacked.unconsumed_tail:
            raise Unreadable(f"{name} has more than {most_mb} MB when it is decompressed")
    try:
        text = content.decode(json.detect_encoding(content), "surrogatepass")
    except UnicodeDecodeError:
        text = content.decode("cp1252", "replace")
    try:
        return json.loads(text.removeprefix("\ufeff"), parse_int=_number)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"{name} is {_other_file(content, error)}") from None


def _number(digits: str) -> int:
    """A number of a notebook; Python refuses those of more than 4,300 digits."""
    return int(digits) if len(digits) < 100 else 0


def _other_file(content: bytes, error: Exception) -> str:
    """What a file is that is not JSON."""
    start = content.lstrip()
    if not start:
        return "empty"
    if b"\n<<<<<<< " in content:
        return "not a notebook: it has two versions side by side, from a merge conflict in git"
    if start.startswith(b"{") and b'"cells"' in content:
        return "a notebook that is damaged or cut off"
    if re.search(rb"^(def|import|from) \w", content, re.MULTILINE):
        return "a Python file, not a notebook"
    kind = next((OTHER_FILES[head] for head in OTHER_FILES if start.startswith(head)), "")
    return f"{kind}, not a notebook" if kind else f"not a notebook ({type(error).__name__})"


def _cells_of(page: dict, limits: Limits, notes: list[Note], bare: bool) -> list[NotebookNode]:
    """Its cells, with only the parts that have the right type."""
    if not page["cells"]:
        raise Unreadable("the notebook has no cells")
    if len(page["cells"]) > MOST_CELLS:
        raise Unreadable(f"{len(page['cells']):,} cells; at most {MOST_CELLS:,} are read")
    raw = [cell for cell in page["cells"] if isinstance(cell, dict)]
    for cell in raw if bare else ():
        cell |= {"outputs": [], "attachments": {}}
    notes += leave_out(raw)
    cells = [_cell(one, limits) for one in raw]
    notes += attach(cells, raw)
    return cells


def _cell(raw: dict, limits: Limits) -> NotebookNode:
    text = raw.get("source", "")
    if isinstance(text, list):
        text = "".join(line for line in text if isinstance(line, str))
    text = text if isinstance(text, str) else ""
    if len(text) > MOST_CHARACTERS:
        raise Unreadable(
            f"a cell has {len(text):,} characters; at most {MOST_CHARACTERS:,} are read"
        )
    text = plain(text.replace("\r\n", "\n").replace("\r", "\n"), MOST_CHARACTERS)
    make = v4.new_code_cell if raw.get("cell_type") == "code" else v4.new_markdown_cell
    cell = make(text)
    metadata = raw["metadata"] if isinstance(raw.get("metadata"), dict) else {}
    names = [str(one.get("id", ""))[:64] for one in (raw, metadata)]  # Colab's is in the metadata
    cell.metadata = NotebookNode(nbgrader=_marks(metadata.get("nbgrader")), names=names)
    if cell.cell_type == "code":
        cell.outputs = safe_outputs(raw.get("outputs"), limits.output_kb)
    return cell


def _marks(marks: Any) -> NotebookNode:
    """The cell of the assignment and the points that its metadata claim."""
    marks = marks if isinstance(marks, dict) else {}
    return NotebookNode({key: str(marks[key]) for key in ("grade_id", "points") if key in marks})
