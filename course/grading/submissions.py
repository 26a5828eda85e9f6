"""Read a student's hand-in: anything may be in the file, or missing.

The result is a notebook with all cells of the assignment: the student's if they may write there,
otherwise the instructor's, and the student's own cells between them.
"""

import json
import stat
from pathlib import Path
from typing import Any, NamedTuple

import nbformat
from nbformat import NotebookNode, v4

from course.gradebook.notes import Note
from course.grading.assignments import Assignment, grade_id
from course.grading.cells import MOST_CELLS, is_solution, is_test, names_of
from course.grading.outputs import attach, leave_out, plain, safe_outputs
from course.settings import Limits

MOST_CHARACTERS = 100_000  # of a cell


class Submission(NamedTuple):
    """cells: in the order in which they run; notes: repairs, for the report."""

    cells: list[NotebookNode]
    notes: tuple[Note, ...]


class Unreadable(Exception):
    """Not a notebook of this assignment; the message is for the report."""


def read_submission(path: Path, assignment: Assignment, limits: Limits) -> Submission:
    """The student's notebook, repaired; if it is unreadable, the release, and a note."""
    notes: list[Note] = []
    try:
        found = _cells_of(_notebook(path, limits.notebook_mb), limits, notes)
    except Unreadable as error:
        return Submission(
            _mended([], assignment, notes), (Note(f"nothing could be graded: {error}"),)
        )
    return Submission(_mended(found, assignment, notes), tuple(notes))


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
    try:
        page = json.loads(path.read_bytes())
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


def _cells_of(page: dict, limits: Limits, notes: list[Note]) -> list[NotebookNode]:
    """Its cells, with only the parts that have the right type."""
    if not page["cells"]:
        raise Unreadable("the notebook has no cells")
    if len(page["cells"]) > MOST_CELLS:
        raise Unreadable(f"{len(page['cells']):,} cells; at most {MOST_CELLS:,} are read")
    raw = [cell for cell in page["cells"] if isinstance(cell, dict)]
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
    text = plain(text, MOST_CHARACTERS)
    make = v4.new_code_cell if raw.get("cell_type") == "code" else v4.new_markdown_cell
    cell = make(text)
    metadata = raw.get("metadata")
    marks = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    cell.metadata = NotebookNode(nbgrader=_marks(marks))
    cell.id = str(raw.get("id", ""))[:64]
    if cell.cell_type == "code":
        cell.outputs = safe_outputs(raw.get("outputs"), limits.output_kb)
    return cell


def _marks(marks: Any) -> NotebookNode:
    """The cell of the assignment and the points that its metadata claim."""
    marks = marks if isinstance(marks, dict) else {}
    return NotebookNode({key: str(marks[key]) for key in ("grade_id", "points") if key in marks})


def _mended(
    found: list[NotebookNode], assignment: Assignment, notes: list[Note]
) -> list[NotebookNode]:
    """All cells of the assignment and the student's own, in the student's order."""
    sources: dict[Any, NotebookNode] = {grade_id(cell): cell for cell in assignment.source.cells}
    releases: dict[Any, NotebookNode] = {grade_id(cell): cell for cell in assignment.release.cells}
    chosen = _chosen(found, sources, notes)
    if found and not any(is_solution(sources[id]) for id in chosen.values()):
        text = f"no cell of {assignment.name} is in this notebook: another assignment?"
        notes.append(Note(text))
    cells: list[NotebookNode] = []
    for number, cell in enumerate(found):
        if number in chosen:
            id = chosen[number]
            cells.append(_restored(cell, sources[id], releases[id], notes))
        elif cell.metadata.nbgrader.get("grade_id") not in sources or _edited(cell, releases):
            cell.metadata = NotebookNode()
            cells.append(cell)
    _add_missing(cells, sources, releases, notes if found else [])
    for number, cell in enumerate(cells):
        cell.id = grade_id(cell) or f"own-{number}"
    return cells


def _chosen(
    found: list[NotebookNode], sources: dict[str, NotebookNode], notes: list[Note]
) -> dict[int, str]:
    """The cell of the assignment for each of the student's cells, by their numbers."""
    said = [cell.metadata.nbgrader.get("grade_id") for cell in found]
    chosen: dict[int, str] = {}
    for id, source in sources.items():
        candidates = [n for n, name in enumerate(said) if name == id]
        candidates = candidates or [n for n, cell in enumerate(found) if cell.id == id]
        if is_solution(source):
            candidates = _writing(source, candidates, found, said, notes)
        free = [n for n in candidates if n not in chosen]
        if free:
            chosen[free[-1] if is_solution(source) else free[0]] = id
    return chosen


def _writing(
    source: NotebookNode,
    candidates: list[int],
    found: list[NotebookNode],
    said: list[str | None],
    notes: list[Note],
) -> list[int]:
    """The cells that may be a task's solution; the last one that defines its function counts."""
    id, wanted = str(grade_id(source)), names_of(source.source).defined
    if len(candidates) > 1:
        notes.append(Note(f"its cell is there {len(candidates)} times; all were run, in order", id))
    defining = [n for n in candidates if names_of(found[n].source).defined & wanted]
    if candidates:
        return defining or candidates
    others = [n for n, cell in enumerate(found) if cell.cell_type == "code" and not said[n]]
    defining = [n for n in others if names_of(found[n].source).defined & wanted]
    if defining:
        notes.append(Note("its cell was found by the name of its function", id))
    return defining


def _edited(cell: NotebookNode, releases: dict[str, NotebookNode]) -> bool:
    """Whether a second cell with the same id has the student's own content."""
    return cell.source.strip() != releases[cell.metadata.nbgrader["grade_id"]].source.strip()


def _restored(
    cell: NotebookNode, source: NotebookNode, release: NotebookNode, notes: list[Note]
) -> NotebookNode:
    """The student's cell if they may write it, otherwise the instructor's."""
    theirs = _is_theirs(source)
    points, id = cell.metadata.nbgrader.get("points"), str(grade_id(source))
    right = source.metadata.nbgrader.get("points")
    if points is not None and right is not None and points not in (str(right), str(float(right))):
        notes.append(Note("its points had been changed; they count as they should", id))
    if not theirs and source.cell_type == "code" and cell.source != release.source:
        kind = "test" if is_test(source) else "given cell"
        notes.append(Note(f"this {kind} had been changed; the original was used", id))
    made = v4.new_code_cell if source.cell_type == "code" else v4.new_markdown_cell
    restored = made(cell.source if theirs else source.source)
    if "outputs" in restored and not is_test(source):
        restored.outputs = cell.get("outputs", [])
    if theirs and "attachments" in cell:
        restored.attachments = cell.attachments
    return _with_marks(restored, release)


def _is_theirs(source: NotebookNode) -> bool:
    """Whether the student may write the cell: code, a written answer, or a place to try."""
    marks = source.metadata.nbgrader
    return marks.get("solution", False) or not (marks.get("locked") or marks.get("grade"))


def _with_marks(cell: NotebookNode, release: NotebookNode) -> NotebookNode:
    """nbgrader's metadata; a solution's checksum shows whether the student wrote anything."""
    cell.metadata = NotebookNode(nbgrader=NotebookNode(release.metadata.nbgrader))
    return cell


def _add_missing(
    cells: list[NotebookNode],
    sources: dict[str, NotebookNode],
    releases: dict[str, NotebookNode],
    notes: list[Note],
) -> None:
    """Insert deleted cells after the cell that precedes them in the assignment."""
    places = {grade_id(cell) for cell in cells}
    before = None
    for id, source in sources.items():
        if id not in places:
            place = next((n for n, cell in enumerate(cells) if grade_id(cell) == before), -1) + 1
            added = _copy(releases[id] if _is_theirs(source) else source)
            cells.insert(place, _with_marks(added, releases[id]))
            if source.metadata.nbgrader.get("grade") or is_solution(source):
                notes.append(Note("its cell was missing and was added as released", id))
        before = id


def _copy(cell: NotebookNode) -> NotebookNode:
    make = v4.new_code_cell if cell.cell_type == "code" else v4.new_markdown_cell
    return make(cell.source)
