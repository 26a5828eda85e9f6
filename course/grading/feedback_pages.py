"""`python -m course feedback`: a page for every graded student, without hidden tests or scripts."""

from collections.abc import Callable, Sequence
from contextlib import closing

from tqdm.auto import tqdm

from course.gradebook import records
from course.grading.assignments import read_page
from course.settings import Course, said


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
                complaints[student] = said(result)
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
