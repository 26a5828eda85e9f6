"""`python -m course feedback`: a page for every graded student, without hidden tests or scripts.

At its top it says what happened to the notebook: whatever costs points has a sentence there.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any, NamedTuple

from tqdm.auto import tqdm

from course.gradebook import records
from course.gradebook.late_policy import LatePolicy
from course.gradebook.lateness import late, points
from course.gradebook.notes import REQUEST, UNREADABLE, Note, cells_of_equal
from course.grading.assignments import read_page
from course.grading.outputs import one_line
from course.settings import Course, said

if TYPE_CHECKING:
    from nbgrader.api import Gradebook

OWN = "A cell of your own"
ANOTHER_FILE = (
    "Open your notebook in JupyterLab, run all cells, save it, and hand in that .ipynb file again. "
    "If it does not open, show it to your teacher."
)


class Told(NamedTuple):
    """A sentence of a page; cells: the names of those that it is about, by their ids."""

    cells: Mapping[str, str]
    text: str
    advice: str


def generate(
    course: Course,
    assignments: Sequence[str],
    release: bool = False,
    say: Callable[[str], None] = print,
) -> int:
    """Write feedback/STUDENT/NAME/NAME.html for all graded hand-ins; 1 if some page failed.

    release: also distribute the pages through nbgrader's exchange. Raises CourseError if an
    assignment's source is damaged.
    """
    faults = 0
    for name in assignments:
        path = course.room("source") / name / f"{name}.ipynb"
        read_page(path, course.root)  # its headings name the tasks on the page
        with closing(course.gradebook()) as book:
            rows = records.graded(book, name).values()
            failed = {row.student for row in rows if row.failure}
        copies = course.room("autograded").glob(f"*/{name}/{name}.ipynb")
        students = sorted({copy.parents[1].name for copy in copies} - failed)
        complaints = {}
        for student in tqdm(students, desc=name, unit="page"):
            result = course.nbgrader.generate_feedback(name, student, force=True)
            if not result["success"]:
                complaints[student] = one_line(said(result))
        say(
            f"{name}: {len(students) - len(complaints)} pages of feedback in "
            f"{course.room('feedback').relative_to(course.root)}/STUDENT/{name}/{name}.html"
        )
        for student, complaint in complaints.items():
            say(f"  {student}: NO FEEDBACK: {complaint}")
        faults += len(complaints)
        if release:
            faults += _release(course, name, say)
    return int(faults > 0)


def story(
    book: "Gradebook",
    assignment: str,
    student: str,
    names: Mapping[str, str],
    policy: LatePolicy,
) -> dict[str, Any]:
    """What a student's page says about their hand-in, as the gradebook has it now.

    names: of the assignment's cells. In the result, `told` has the sentences, `waiting` the names
    of the cells whose points are not final, and `open_points` their sum; `unreadable`: there are no
    cells to show; `score` and `late_penalty` are computed now.
    """
    row = records.graded(book, assignment, student).get(student)
    public = [note for note in (row.notes if row else ()) if not note.private]
    notebook = book.find_submission_notebook(assignment, assignment, student)
    look = {
        str(grade.name): grade.max_score for grade in notebook.grades if grade.needs_manual_grade
    }
    equal = cells_of_equal(public).items()
    told = [_told(note, cells, names, not look.keys().isdisjoint(cells)) for note, cells in equal]
    lateness = late(notebook.assignment, notebook.score, policy)
    penalty = (lateness.penalty if lateness else None) or 0.0
    if lateness:
        advice = "If that time is wrong, ask your teacher." if penalty else ""
        told.append(Told({}, _sentence(str(lateness)), advice))
    return {
        "told": told,
        "waiting": {cell: names.get(cell, cell) for cell in look},
        "open_points": points(sum(look.values())),
        "most_points": points(notebook.max_score),
        "unreadable": any(_is_unreadable(note) for note in public),
        "late_penalty": penalty,
        "score": notebook.score - penalty,
    }


def _told(note: Note, cells: Sequence[str], names: Mapping[str, str], waits: bool) -> Told:
    """A note in the student's words; names: of the assignment's cells."""
    if _is_unreadable(note):
        why = f"the reason: {note.text.removeprefix(UNREADABLE)}"
        return Told({}, _sentence(why), note.advice or ANOTHER_FILE)
    about = {cell: names.get(cell, OWN) if names else cell for cell in cells if cell}
    text, advice = note.text, note.advice
    if note.kind == REQUEST:
        text = f"you asked for a regrade: {text}"
        advice = "A person looks at it." if waits else "A person has looked at it."
    return Told(about, _sentence(text, capital=not about), advice)


def _sentence(text: str, capital: bool = True) -> str:
    """The text with a full stop, and with a capital letter if it begins a line.

    >>> _sentence("handed in")
    'Handed in.'
    """
    return f"{text[:1].upper() if capital else text[:1]}{text[1:].rstrip('.')}."


def _is_unreadable(note: Note) -> bool:
    return note.kind != REQUEST and note.text.startswith(UNREADABLE)


def _release(course: Course, name: str, say: Callable[[str], None]) -> int:
    from course.grading.nbgrader_plugin import is_for_exchange

    result = course.nbgrader.release_feedback(name)
    if not result["success"]:
        say(f"{name}: NOT HANDED OUT: {said(result)}")
        return 1
    pages = sorted(course.room("feedback").glob(f"*/{name}/{name}.html"))
    elsewhere = [page.parents[1].name for page in pages if not is_for_exchange(page.parent)]
    done = f"{len(pages) - len(elsewhere)} of {len(pages)}"
    say(f"{name}: {done} pages handed out through the exchange")
    if elsewhere:
        say(f"  not handed out, as they did not hand in there: {', '.join(elsewhere)}")
    return 0
