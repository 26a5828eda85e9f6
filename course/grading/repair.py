"""Find what the student wrote, wherever it is: functions, written answers, requests.

Cells are matched to the assignment's by their marks, their ids, or their text. What a student
wrote in another place becomes a cell of its own, and the assignment's cells are restored.
"""

import ast
import difflib
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from nbformat import NotebookNode, v4

from course.gradebook.notes import Note
from course.gradebook.regrades import is_request, split
from course.grading.assignments import Assignment, grade_id
from course.grading.cells import is_solution, is_test, names_of, parsed

MOST_LINES = 300  # of a changed cell that is compared line by line
CODE = re.compile(r"^(def \w+\(|class \w+|import \w+|from [\w.]+ import |@\w)", re.MULTILINE)
SENTENCE = re.compile(r"[^\W\d]+ [^\W\d]+ [^\W\d]+ [^\W\d]+")
ALIKE = 3  # notes of the same kind are listed; more become one line
ELSEWHERE = "# The code for this task is in another cell of this notebook."


class Kind(NamedTuple):
    """What may happen to a cell: about one, about many, and what the student can do.

    private: only the instructor sees it.
    """

    one: str
    many: str
    advice: str
    private: bool = False


TEST = Kind(
    "this test had been changed; the original was used",
    "{} tests had been changed; the originals were used",
    "Nothing to do. To try something, add a cell of your own: changes of a test are not used.",
)
GIVEN = Kind(
    "this given cell had been changed; the original was used",
    "{} given cells had been changed; the originals were used",
    "If your functions need the change, put it into a cell of your own and hand in again.",
)
MISSING = Kind(
    "its cell was missing and was added as released",
    "{} cells were missing and were added as released",
    "If you wrote something there, copy the cell from the exercise, write it again, and hand in.",
)
MISSING_TEST = MISSING._replace(advice="Nothing to do: the test was run as released.")
BY_TEXT = Kind(
    "its cell was recognised by its text",
    "{} cells were recognised by their text, as the notebook had lost its marks",
    "Nothing to do. Next time work in the file that you were given.",
)
BY_NAME = Kind(
    "its cell was found by the name of its function",
    "{} solutions were found by the names of their functions",
    "Nothing to do. Next time write into the cell of the task.",
)
JOINED = Kind(
    "its code was found in the cell of another task",
    "the code of {} tasks was found in the cells of other tasks",
    "Nothing to do. Next time do not join cells.",
)
NOT_CODE = Kind(
    "its code was in a text cell, or between other text; it was run",
    "the code of {} tasks was in text cells, or between other text; it was run",
    "Nothing to do. Next time choose Code as the type of the cell.",
)
INSERTED = Kind(
    "code was added to this cell; it was run as a cell of its own",
    "code was added to {} cells that are not the student's; it was run in cells of its own",
    "Nothing to do. Next time write into the cell of the task, or into one of your own.",
)
POINTS = Kind(
    "it says other points than the assignment (an earlier release, or changed by hand); the "
    "assignment's count",
    "{} cells say other points than the assignment (an earlier release, or changed by hand); the "
    "assignment's count",
    "",
    private=True,
)
ANSWER = Kind(
    "the answer was not in its cell; text near its question was taken, so a person should look",
    "",
    "Nothing to do: a person reads it. Next time write into the cell below the question.",
)
NO_ANSWER = Kind(
    "its answer is empty, but the notebook has other text of the student: a person should look",
    "",
    "If your answer is elsewhere, a person will see it. Otherwise write it into the cell below the "
    "question, and hand in again.",
)


class Piece(NamedTuple):
    """A part of the student's notebook.

    claim: the assignment's cell that it is, or "" for the student's own; place: it is there, but
    the instructor's text counts; text: what may be an answer, "" if the student wrote none.
    """

    claim: str
    cell: NotebookNode
    place: bool = False
    text: str = ""


class Notes:
    """What was noticed: few of a kind are listed by cell, many become one line."""

    def __init__(self) -> None:
        self.kinds: dict[Kind, list[str]] = {}
        self.others: list[Note] = []

    def add(self, kind: Kind, id: str) -> None:
        """Note that this happened to a cell, once."""
        cells = self.kinds.setdefault(kind, [])
        if id not in cells:
            cells.append(id)

    def listed(self) -> list[Note]:
        """All notes."""
        notes = list(self.others)
        for kind, ids in self.kinds.items():
            if kind.many and len(ids) > ALIKE:
                which = f"{', '.join(ids[:ALIKE])}, ..."
                text = f"{kind.many.format(len(ids))}: {which}"
                notes.append(Note(text, advice=kind.advice, private=kind.private))
            else:
                waits = not kind.many
                notes += [Note(kind.one, id, kind.advice, kind.private, waits) for id in ids]
        return notes


class Known:
    """The assignment's cells, and what a student may have kept of them."""

    def __init__(self, assignment: Assignment) -> None:
        self.sources: dict[str, NotebookNode] = {
            str(grade_id(cell)): cell for cell in assignment.source.cells
        }
        self.releases: dict[str, NotebookNode] = {
            str(grade_id(cell)): cell for cell in assignment.release.cells
        }
        self.texts = {id: cell.source.strip() for id, cell in self.releases.items()}
        self.longest_first = sorted({*self.texts.values()} - {""}, key=len, reverse=True)
        lines = (line.strip() for text in self.texts.values() for line in text.splitlines())
        self.lines = frozenset(lines)
        solutions = [id for id, cell in self.sources.items() if is_solution(cell)]
        self.wanted = {id: self._wanted(id) for id in solutions}
        self.functions = frozenset[str]().union(*self.wanted.values())
        self.sought = self.functions  # those that no code cell defines
        others = [cell for id, cell in self.sources.items() if id not in self.wanted]
        given = (names_of(cell.source).defined for cell in others if cell.cell_type == "code")
        self.given = frozenset[str]().union(*given)

    def _wanted(self, id: str) -> frozenset[str]:
        """The functions of a task: those of the stub, as the solution may have helpers."""
        released = names_of(self.releases[id].source).defined
        return released or names_of(self.sources[id].source).defined

    def is_theirs(self, id: str) -> bool:
        """Whether the student may write the cell: code, an answer, a place to try, or their own."""
        marks = self.sources[id].metadata.nbgrader if id else {}
        return marks.get("solution", False) or not (marks.get("locked") or marks.get("grade"))

    def answers(self) -> list[str]:
        """The written answers."""
        return [
            id
            for id, cell in self.sources.items()
            if cell.cell_type == "markdown" and self.is_theirs(id)
        ]

    def without(self, source: str) -> str:
        """A text without the assignment's cells in it."""
        for text in self.longest_first:
            if text in source:
                source = f"\n{source}\n".replace(f"\n{text}\n", "\n\n")
        return source.strip("\n")

    def added(self, source: str, id: str) -> str:
        """What the student added to a cell that is not theirs."""
        rest = self.without(source)
        before, after = self.texts[id].splitlines(), rest.splitlines()
        if rest != source.strip("\n") or max(len(before), len(after)) > MOST_LINES:
            return rest
        changes = difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
        kept = [after[lo:hi] for tag, _, _, lo, hi in changes if tag != "equal"]
        return "\n".join(line for lines in kept for line in lines)

    def is_new(self, text: str) -> bool:
        """Whether a text has words that are not the assignment's, nor a request's."""
        lines = (line.strip() for line in split(text)[1].splitlines())
        return any(line not in self.lines and re.search(r"\w", line) for line in lines)


def repaired(
    found: Sequence[NotebookNode], assignment: Assignment
) -> tuple[list[NotebookNode], list[Note]]:
    """All cells of the assignment and the student's own, in the student's order; and notes.

    found: the student's cells, whose metadata hold `nbgrader`, and `names`: what may be their id.
    """
    known, notes = Known(assignment), Notes()
    claims = _claims(found, known, notes)
    for number, cell in enumerate(found):
        if cell.cell_type == "code" and known.is_theirs(claims.get(number, "")):
            known.sought -= names_of(cell.source).written
    pieces = [
        piece
        for number, cell in enumerate(found)
        for piece in _pieces(cell, claims.get(number, ""), known, notes)
    ]
    ours = {*known.wanted, *(id for id, cell in known.sources.items() if is_test(cell))}
    is_foreign = not any(p.claim in ours or _written(p, known) for p in pieces)
    _note_changes(pieces, known, notes)
    pieces = _with_solutions(pieces, known, notes)
    pieces = _with_answers(pieces, known, notes)
    cells = _restored(pieces, known)
    _add_missing(cells, known, notes)
    for number, cell in enumerate(cells):
        cell.id = grade_id(cell) or f"own-{number}"
    if is_foreign:
        text = f"no cell of {assignment.name} is in this notebook: another assignment?"
        advice = "Look at what you handed in, and hand in the notebook of this exercise."
        return cells, [Note(text, advice=advice, waits=True)]
    return cells, notes.listed()


# Which cell is which


def _claims(found: Sequence[NotebookNode], known: Known, notes: Notes) -> dict[int, str]:
    """The assignment's cell that each of the student's cells is, by their numbers."""
    claims: dict[int, str] = {}
    marked = [cell.metadata.nbgrader.get("grade_id") for cell in found]
    for number, cell in enumerate(found):
        names = [name for name in cell.metadata.names if name and name not in marked]
        exact = [name for name in (marked[number], *names) if name in known.sources]
        ends = [id for id in known.sources for name in cell.metadata.names if _ends(name, id)]
        claim = exact[0] if exact else max(ends, key=len, default="")
        if claim and not _is_another(cell, claim, known):
            claims[number] = claim
    free = [id for id in known.sources if id not in claims.values()]
    for fits in (_is_equal, _contains):
        for number, cell in enumerate(found):
            if number in claims:
                continue
            id = next((id for id in free if fits(cell, id, known)), None)
            if id is not None:
                claims[number] = id
                free.remove(id)
                notes.add(BY_TEXT, id)
    return claims


def _ends(name: str, id: str) -> bool:
    """Whether it is the cell's id with something before it, as "ps1-decode"."""
    return name.endswith((f"-{id}", f"_{id}"))


def _is_another(cell: NotebookNode, id: str, known: Known) -> bool:
    """Whether the text says that the mark is wrong: it is that of another cell."""
    text = cell.source.strip()
    return text in known.longest_first and text != known.texts[id]


def _is_equal(cell: NotebookNode, id: str, known: Known) -> bool:
    return cell.source.strip() == known.texts[id] != ""


def _contains(cell: NotebookNode, id: str, known: Known) -> bool:
    """Whether the cell has all lines of one that is not the student's, and more."""
    text = known.texts[id]
    is_inside = text != "" and not known.is_theirs(id) and text in cell.source
    return is_inside and f"\n{text}\n" in f"\n{cell.source}\n"


# What is in a cell


def _pieces(cell: NotebookNode, claim: str, known: Known, notes: Notes) -> Iterable[Piece]:
    """The parts of a student's cell."""
    if claim and not known.is_theirs(claim):
        yield from _around(cell, claim, known, notes)
        return
    if not claim and cell.source.strip() in known.longest_first:
        return  # a second copy of the assignment's
    is_answer = claim and known.sources[claim].cell_type == "markdown"
    is_task, is_code = claim in known.wanted, cell.cell_type == "code"
    tree = parsed(cell.source) if is_code else None
    if tree and not (is_answer and not names_of(cell.source).written & known.functions):
        asks = is_request(cell.source) and not cell.source.lstrip().startswith("#")
        words = cell.source if asks else _words(cell.source, tree)  # `regrade: x` is Python, too
        if not is_task and split(words)[0] is not None:  # nothing of it runs
            yield _text(_as_markdown(cell, words), "", known)
        else:
            yield Piece("" if is_answer else claim, cell, text=words if known.is_new(words) else "")
        return
    code, words = _parts(cell.source, known)
    if code:
        notes.add(NOT_CODE, claim if is_task else _task(code, known))
        yield Piece(claim if is_task else "", v4.new_code_cell(code))
    if code and not words.strip():
        return
    if not code and is_code and not is_answer and not is_request(words):  # broken code, or words
        yield Piece(claim, cell, text=words if SENTENCE.search(words) else "")
        return
    made = _as_markdown(cell, words if code else cell.source)
    piece = _text(made, claim if is_answer else "", known)
    if not is_answer or piece.text or known.texts[claim] in made.source or not made.source.strip():
        yield piece


def _as_markdown(cell: NotebookNode, text: str) -> NotebookNode:
    made = v4.new_markdown_cell(text)
    return NotebookNode(made | {key: cell[key] for key in ("attachments",) if key in cell})


def _text(cell: NotebookNode, claim: str, known: Known) -> Piece:
    """Markdown, with what the student wrote in it."""
    rest = known.without(cell.source)
    is_answer = known.is_new(rest) and not is_request(rest)
    if claim:  # a request in an answer is for a person, too
        is_answer = known.is_new(rest) or split(rest)[0] is not None
    return Piece(claim, cell, text=rest if is_answer else "")


def _around(cell: NotebookNode, id: str, known: Known, notes: Notes) -> Iterable[Piece]:
    """A cell that is not the student's, and what the student wrote into it."""
    source = known.sources[id]
    place = Piece(id, cell, place=True)
    if cell.source.strip() == known.texts[id]:
        yield place
        return
    code, rest = _parts(known.added(cell.source, id), known)
    if not code and source.cell_type == "code" and _adds(rest, known):
        code, rest = rest, ""
    if code:
        notes.add(INSERTED, id)
        own = Piece("", v4.new_code_cell(code))
        yield from (own, place) if is_test(source) else (place, own)
    else:
        yield place
    tree = parsed(rest) if source.cell_type == "code" else None
    words = _words(rest, tree) if tree else rest
    if known.is_new(words) or split(words)[0] is not None:
        yield _text(_as_markdown(cell, words), "", known)


def _note_changes(pieces: Iterable[Piece], known: Known, notes: Notes) -> None:
    """Note which of the assignment's own cells had been changed, each by its first place."""
    places = {piece.claim: piece.cell for piece in reversed([*pieces]) if piece.claim}
    for id, cell in places.items():
        source = known.sources[id]
        points, right = (one.metadata.get("nbgrader", {}).get("points") for one in (cell, source))
        if None not in (points, right) and points not in (str(right), str(float(right))):
            notes.add(POINTS, id)
        is_changed = cell.source.strip() != known.texts[id] and not known.is_theirs(id)
        if source.cell_type == "code" and is_changed:
            notes.add(TEST if is_test(source) else GIVEN, id)


def _adds(code: str, known: Known) -> bool:
    """Whether it defines names that no cell of the assignment defines."""
    return bool(names_of(code).written - known.given)


def _parts(text: str, known: Known) -> tuple[str, str]:
    """The part of a text that defines functions which no code cell does, or "", and the rest.

    Words may stand before the code, or after it as a paragraph of their own.
    """
    whole = known.without(text)
    text = re.sub(r"^[ \t]*(```|~~~).*$", "", whole, flags=re.MULTILINE).strip("\n")
    start = CODE.search(text)
    if start and parsed(text) is None:
        head, lines = text[: start.start()], text[start.start() :].splitlines()
        end = _first_wrong(lines)
        code, tail = "\n".join(lines[:end]), "\n".join(lines[end:])
        sides = [side for side in (head, tail) if side.strip()]
        is_code = all(SENTENCE.search(side) or not known.is_new(side) for side in sides)
    else:
        code, sides, is_code = text, [], True
    if is_code and names_of(code).written & known.sought:
        return code.strip("\n"), "\n\n".join(side.strip("\n") for side in sides)
    return "", whole


def _first_wrong(lines: list[str]) -> int:
    """The number of the blank line above the first line that is not Python."""
    try:
        ast.parse("\n".join(lines))
    except SyntaxError as error:
        wrong = min(error.lineno or 1, len(lines))
        return next((n for n in range(wrong - 1, 0, -1) if not lines[n].strip()), 0)
    except (ValueError, RecursionError, MemoryError):
        return 0
    return len(lines)


def _task(code: str, known: Known) -> str:
    return next(id for id, names in known.wanted.items() if names & names_of(code).written)


def _words(code: str, tree: ast.Module) -> str:
    """The text of a code cell that is only comments or texts; otherwise ""."""
    said = [_string(node) for node in tree.body]
    comments = [line.lstrip("# \t") for line in code.splitlines() if line.lstrip().startswith("#")]
    return "\n".join([*said, *comments]) if all(said) else ""


def _string(node: ast.stmt) -> str:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return node.value.value if isinstance(node.value.value, str) else ""
    return ""


# Which piece counts


def _with_solutions(pieces: list[Piece], known: Known, notes: Notes) -> list[Piece]:
    """The pieces with at most one cell for each task: the last one that defines its function.

    A stub is dropped if the function is defined elsewhere.
    """
    written = [_written(piece, known) for piece in pieces]
    pieces = [_by_content(*one, known) for one in zip(pieces, written, strict=True)]
    chosen: dict[int, str] = {}
    dropped: set[int] = set()
    for id, wanted in known.wanted.items():
        mine = [n for n, piece in enumerate(pieces) if piece.claim == id and not piece.place]
        if len(mine) > 1:
            text = f"its cell is there {len(mine)} times; all were run, in order"
            notes.others.append(Note(text, id, "Nothing to do: the last one with code counts."))
        defining = [n for n, names in enumerate(written) if names & wanted]
        theirs = [n for n in defining if n in mine]
        own = [n for n in defining if not pieces[n].claim and n not in chosen]
        if defining:
            stub = known.texts[id]
            dropped.update(n for n in mine if pieces[n].cell.source.strip() == stub)
        if theirs or own:
            chosen[(theirs or own)[-1]] = id
            if not theirs:
                notes.add(BY_NAME, id)
        elif defining:
            notes.add(JOINED, id)
            chosen.update({n: id for n in mine[-1:] if n not in dropped})
        elif mine:
            chosen[mine[-1]] = id
    return [
        piece._replace(claim=chosen.get(n, "")) if piece.claim in {*known.wanted, ""} else piece
        for n, piece in enumerate(pieces)
        if n not in dropped
    ]


def _by_content(piece: Piece, written: frozenset[str], known: Known) -> Piece:
    """The piece as another task's cell if it defines only that task's function."""
    fits = [id for id, wanted in known.wanted.items() if written & wanted]
    is_wrong = piece.claim in known.wanted and piece.claim not in fits and len(fits) == 1
    return piece._replace(claim=fits[0]) if is_wrong else piece


def _written(piece: Piece, known: Known) -> frozenset[str]:
    """The assignment's functions that a piece defines."""
    is_code = piece.cell.cell_type == "code" and not piece.place
    return names_of(piece.cell.source).written & known.functions if is_code else frozenset()


def _with_answers(pieces: list[Piece], known: Known, notes: Notes) -> list[Piece]:
    """The pieces with at most one cell for each written answer: with what the student wrote."""
    ids, answers = [*known.sources], known.answers()
    taken: set[str] = set()
    for id in answers:
        mine = [n for n, piece in enumerate(pieces) if piece.claim == id]
        texts = [n for n in mine if pieces[n].text]
        if not texts:
            texts = _near(pieces, {id, ids[max(ids.index(id) - 1, 0)]})
            elsewhere = {piece.claim for n, piece in enumerate(pieces) if piece.text} - {id}
            if texts:
                notes.add(ANSWER, id)
                taken.add(id)
            elif elsewhere - ({*answers} - taken if mine else set()):
                notes.add(NO_ANSWER, id)
        used = {*mine, *texts}
        if used:
            place = min(mine or texts)
            cell = _joined([pieces[n] for n in texts]) if texts else known.releases[id]
            kept = [(n, piece) for n, piece in enumerate(pieces) if n not in used]
            made = Piece(id, cell, text="".join(pieces[n].text for n in texts))
            pieces = [piece for _, piece in sorted([*kept, (place, made)], key=lambda one: one[0])]
    return pieces


def _near(pieces: list[Piece], about: set[str]) -> list[int]:
    """The student's own texts next to an answer or its question, without requests."""
    near = []
    for number, piece in enumerate(pieces):
        if piece.text and not piece.claim and split(piece.text)[0] is None:
            above = next((one.claim for one in reversed(pieces[:number]) if one.claim), "")
            below = next((one.claim for one in pieces[number + 1 :] if one.claim), "")
            if {above, below} & about:
                near.append(number)
    return near


def _joined(pieces: Sequence[Piece]) -> NotebookNode:
    """One text, with all pictures; each different text once."""
    made, texts = v4.new_markdown_cell(), []
    for number, piece in enumerate(pieces):
        text = piece.cell.source if piece.claim else piece.text.strip() or piece.cell.source
        for name, picture in piece.cell.get("attachments", {}).items():
            pictures = made.setdefault("attachments", NotebookNode())
            new = name if pictures.get(name, picture) == picture else f"{number}-{name}"
            text = text.replace(f"attachment:{name}", f"attachment:{new}")
            pictures[new] = picture
        texts.append(text)
    made.source = "\n\n".join(dict.fromkeys(texts))
    return made


# The notebook


def _restored(pieces: Iterable[Piece], known: Known) -> list[NotebookNode]:
    """The cells: the student's if they may write there, otherwise the instructor's, once."""
    cells: list[NotebookNode] = []
    seen: set[str] = set()
    for piece in pieces:
        source, cell = known.sources.get(piece.claim), piece.cell
        if piece.place and piece.claim in seen:
            continue
        if piece.place and source is not None:
            cell = _copy(source)
            if "outputs" in cell and not is_test(source):
                cell.outputs = piece.cell.get("outputs", [])
        is_first = bool(piece.claim) and piece.claim not in seen
        marks = _marks(known.releases[piece.claim]) if is_first else NotebookNode()
        cells.append(NotebookNode({**cell, "metadata": marks}))
        seen.add(piece.claim)
    return cells


def _add_missing(cells: list[NotebookNode], known: Known, notes: Notes) -> None:
    """Insert missing cells after the cell that precedes them in the assignment."""
    places = {grade_id(cell) for cell in cells}
    joined, empty = (notes.kinds.get(kind, []) for kind in (JOINED, NO_ANSWER))
    before = None
    for id, source in known.sources.items():
        if id not in places:
            place = next((n for n, cell in enumerate(cells) if grade_id(cell) == before), -1) + 1
            added = _copy(known.releases[id] if known.is_theirs(id) else source)
            if id in joined:
                added.source = ELSEWHERE
            elif (source.metadata.nbgrader.get("grade") or is_solution(source)) and id not in empty:
                notes.add(MISSING_TEST if is_test(source) else MISSING, id)
            added.metadata = _marks(known.releases[id])
            cells.insert(place, added)
        before = id


def _marks(release: NotebookNode) -> NotebookNode:
    """nbgrader's metadata; a solution's checksum shows whether the student wrote anything."""
    return NotebookNode(nbgrader=NotebookNode(release.metadata.nbgrader))


def _copy(cell: NotebookNode) -> NotebookNode:
    make = v4.new_code_cell if cell.cell_type == "code" else v4.new_markdown_cell
    return make(cell.source)
