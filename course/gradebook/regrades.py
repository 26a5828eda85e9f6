"""Regrade requests: a student's sentences that begin with `regrade:`, in any usual spelling.

A request is about the graded cell that it is in, or otherwise the one above. Grading records it and
marks that cell for a person; the points that the person then gives, changed or not, close the
request.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from nbformat import NotebookNode

from course.gradebook.notes import REQUEST, Note
from course.settings import printable

if TYPE_CHECKING:
    from course.gradebook.results import Result

# Followed by the graded cell in the result of `looks`: a request, a note that waits for a person.
MARK, WAITS = MARKS = ("regrade: ", "waits: ")
WORK, TIME = "work:", "handed in:"
LEAD = "#*_>\"' \t\n"  # Markdown's and Python's marks that may surround the words
# Listed characters of a request, and with escaped ones; the notebook has all of them.
LONGEST, ESCAPED = 200, 300
KEPT = "nothing is new but a regrade request; it counts as handed in "  # and when

# A line that begins like this is a request; "regraded", "Regrade it" and "in this grade" are not.
ASKS = re.compile(
    r"""[ \t#*_>"']*(?:
        (?:please[, ]+)? re[- ]?grad(?:e|ing) (?:[ ]request)? (?:[,]?[ ]please)? [*_"' ]*
            (?:[:–—]|-[ ]|[.!]?$)
      | re[- ]?grade [ ] request\b
      | (?:please|kindly|(?:can|could|would)[ ]you) [, ]+ (?:please[ ]|kindly[ ])? re[- ]?grade\b
      | (?:i[ ])? (?:request|ask[ ]for) [ ] (?:a[ ])? re[- ]?grade\b
    )""",
    re.VERBOSE | re.IGNORECASE,
)


def split(text: str) -> tuple[str | None, str]:
    r"""A text's requests, or None, and the text without them; each ends with its paragraph.

    >>> split("The control is a random head.\n\nRe-grade: see my first sentence")
    ('see my first sentence', 'The control is a random head.')
    >>> split("In this grade of quality, the corpus was regraded.")[0] is None
    True
    """
    return _split(text.strip().splitlines(), lambda line: bool(line.strip()))


def requests(cells: Iterable[NotebookNode]) -> dict[str, str]:
    """Requests by their graded cell.

    For one in a solution that is not graded itself, its test; for one above all graded cells, the
    first of these.

    >>> from nbformat.v4 import new_markdown_cell as cell
    >>> answer = cell(metadata={"nbgrader": {"grade_id": "explain", "grade": True}})
    >>> requests([answer, cell("**Regrade:** the control is in my last sentence.")])
    {'explain': 'the control is in my last sentence.'}
    """
    cells = list(cells)
    graded = [_marks(cell).get("grade_id", "") if _is_graded(cell) else "" for cell in cells]
    about = next(filter(None, graded), "")
    asked: dict[str, str] = {}
    for number, cell in enumerate(cells):
        about = graded[number] or about
        text, _ = _asked(cell)
        if text is not None:
            below = filter(None, graded[number:]) if _marks(cell).get("solution") else iter(())
            where = next(below, about)
            asked[where] = f"{asked.get(where, '')} {text}".strip()
    return {name: printable(text[:LONGEST])[:ESCAPED] for name, text in asked.items()}


def looks(result: "Result") -> dict[str, str]:
    """What a person judged for each graded cell, the student's whole work, and the requests.

    For a graded cell the written answer, or the tests' result; the work is without requests. A note
    that waits and is about the whole notebook makes the first graded cell wait.
    """
    seen, work = {name: repr(score) for name, score in result.scores.items()}, []
    for cell in result.notebook.cells:
        _, rest = _asked(cell)
        if _marks(cell).get("solution") and cell.metadata.nbgrader.grade_id in seen:
            seen[cell.metadata.nbgrader.grade_id] = _digest(rest)
        if not _marks(cell).get("locked") and (rest or _marks(cell)):
            work.append((cell.cell_type, rest, cell.get("attachments")))
    asked, first = requests(result.notebook.cells), next(iter(result.scores), "")
    waits = {WAITS + (note.cell or first): note.text for note in result.notes if note.waits}
    made = {MARK + name: asked[name] for name in asked}
    return seen | {WORK: _digest(repr(work))} | made | waits


def notes(looks: Mapping[str, str]) -> list[Note]:
    """The requests as notes."""
    marked = {key.removeprefix(MARK): looks[key] for key in looks if key.startswith(MARK)}
    return [Note(text, cell, kind=REQUEST) for cell, text in marked.items()]


def is_all_that_is_new(before: Mapping[str, str], now: Mapping[str, str]) -> bool:
    """Whether a request is the only change since the last grading."""
    return before.get(WORK) == now[WORK] and bool(notes(before) or notes(now))


def is_request(text: str) -> bool:
    """Whether a text begins with a request."""
    return bool(ASKS.match(text.strip().partition("\n")[0]))


def _asked(cell: NotebookNode) -> tuple[str | None, str]:
    """A cell's requests, or None, and the rest of it; locked cells have none.

    In code, comments ask. A student's own text that begins with a request is one to its end.
    """
    if _marks(cell).get("locked") and not _marks(cell).get("solution"):
        return None, cell.source
    if cell.cell_type == "code":
        return _split(cell.source.splitlines(), lambda line: line.lstrip().startswith("#"))
    if not _marks(cell) and is_request(cell.source):
        first, *others = cell.source.strip().splitlines()
        return _one_line([_reason(first), *others]), ""
    return split(cell.source)


def _split(lines: Iterable[str], continues: Callable[[str], bool]) -> tuple[str | None, str]:
    """continues: whether a line belongs to the request above it; a reason may be set apart."""
    asked: list[str] = []
    rest: list[str] = []
    is_asked = is_asking = False
    for line in lines:
        if continues(line) and ASKS.match(line):
            is_asked = is_asking = True
            asked.append(_reason(line))
            while rest and not rest[-1].strip():
                rest.pop()
        elif is_asking and (continues(line) or not (line.strip() or any(asked))):
            asked.append(line.strip(LEAD))
        else:
            is_asking = False
            rest.append(line)
    return _one_line(asked) if is_asked else None, "\n".join(rest).strip()


def _reason(line: str) -> str:
    found = ASKS.match(line)
    return line[found.end() :].lstrip(f"{LEAD}:–—-.,") if found else line


def _one_line(lines: Iterable[str]) -> str:
    return " ".join(" ".join(lines).split())


def _marks(cell: NotebookNode) -> dict:
    return cell.metadata.get("nbgrader", {})


def _is_graded(cell: NotebookNode) -> bool:
    return bool(_marks(cell).get("grade"))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
