"""What grading noticed in a hand-in: a line for the instructor and, with advice, for the student.

Whatever costs points has a note, and both people read it: the instructor in the report, `status`
and the overview, the student on the page of feedback.
"""

import json
from collections.abc import Iterable, Sequence
from typing import NamedTuple

UNREADABLE = "nothing could be graded: "  # begins the one note of such a file
ODDITY, REQUEST, TIME = "oddity", "request", "time"
MOST = 60  # notes of a hand-in: each may quote an error of the student's


class Note(NamedTuple):
    """One line about a hand-in.

    text: what was noticed; cell: the id of the assignment's cell that it is about, or "" for the
    whole notebook; advice: what the student can do, a sentence; private: whether only the
    instructor sees it; waits: whether the points of `cell` wait for a person; kind: REQUEST is a
    student's request for a regrade, TIME explains which time of the hand-in counts.
    """

    text: str
    cell: str = ""
    advice: str = ""
    private: bool = False
    waits: bool = False
    kind: str = ODDITY

    def __str__(self) -> str:
        """The line for the instructor.

        >>> print(Note("its cell was missing", "decode"))
        decode: its cell was missing
        >>> print(Note("my loop is right", "decode", kind=REQUEST))
        regrade: decode: my loop is right
        """
        mark = "regrade: " if self.kind == REQUEST else ""
        return f"{mark}{self.cell}: {self.text}" if self.cell or mark else self.text


def cells_of_equal(notes: Iterable[Note]) -> dict[Note, list[str]]:
    """The different notes, without their cells, and the cells of each.

    >>> missing = [Note("was missing", "encode"), Note("was missing", "decode")]
    >>> list(cells_of_equal(missing).values())
    [['encode', 'decode']]
    """
    cells: dict[Note, dict[str, None]] = {}
    for note in notes:
        cells.setdefault(note._replace(cell=""), {})[note.cell] = None
    return {note: list(names) for note, names in cells.items()}


def bounded(notes: Sequence[Note]) -> Sequence[Note]:
    """The notes, or MOST of them and how many others there are; first what a person looks at.

    >>> str(bounded([Note(f"raised {n}") for n in range(100)] + [Note("look", waits=True)])[-1])
    '41 more notes were left out'
    """
    if len(notes) <= MOST:
        return notes
    notes = sorted(notes, key=lambda note: not (note.waits or note.kind in (REQUEST, TIME)))
    return [*notes[:MOST], Note(f"{len(notes) - MOST} more notes were left out")]


def to_json(notes: Iterable[Note]) -> str:
    """The notes as the gradebook keeps them."""
    return json.dumps([note._asdict() for note in notes])


def from_json(text: str) -> tuple[Note, ...]:
    """The notes of a row.

    >>> from_json(to_json([Note("printed too much", "encode")]))[0].cell
    'encode'
    """
    return tuple(Note(**one) for one in json.loads(text))
