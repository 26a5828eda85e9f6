"""Writes to nbgrader's gradebook: one transaction per graded submission.

Beside nbgrader's tables there is one of ours, `bertlab_graded`: the state of a submission when it
was graded. It is in the same database because the two must never disagree: a row and its scores are
written in one transaction, and a backup restores both.
"""

import json
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from nbformat import NotebookNode
from nbgrader.api import (
    Assignment,
    Comment,
    Grade,
    Gradebook,
    Notebook,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
)
from nbgrader.utils import is_solution, parse_utc
from sqlalchemy import Column, Float, MetaData, String, Table, Text, select
from sqlalchemy.orm import Session

from course.gradebook import attempts, extensions, regrades
from course.gradebook.late_policy import LatePolicy
from course.gradebook.lateness import late
from course.gradebook.notes import REQUEST, TIME, Note, bounded, from_json, to_json
from course.settings import CourseError

if TYPE_CHECKING:
    from course.gradebook.results import Result

GRADED = Table(
    "bertlab_graded",
    MetaData(),
    Column("assignment", String(128), primary_key=True),
    Column("student", String(128), primary_key=True),
    Column("fingerprint", String(64)),  # NULL: to be graded again
    Column("answers", Text),  # JSON: see `regrades.looks`
    Column("notes", Text),  # see `notes.to_json`
    Column("failure", Text),  # why there is no grade, if there is none
    Column("seconds", Float),
)


REMOVED = Note(
    "the points of an earlier hand-in were removed; until this one is graded, the export has no "
    "score, which is not 0 points"
)


class Graded(NamedTuple):
    """A row of our table."""

    student: str
    fingerprint: str | None
    notes: tuple[Note, ...]
    failure: str | None

    @property
    def oddities(self) -> tuple[Note, ...]:
        """The notes without the student's requests."""
        return tuple(note for note in self.notes if note.kind != REQUEST)


def not_released(assignment: str) -> CourseError:
    """The error for an assignment that is not in the gradebook."""
    return CourseError(
        f"{assignment} is not in the gradebook: run `python -m course release {assignment}`"
    )


def graded(gradebook: Gradebook, assignment: str, student: str | None = None) -> dict[str, Graded]:
    """Our rows of an assignment whose submission is still in nbgrader's tables, by student.

    student: only theirs.
    """
    for table in (GRADED, extensions.EXTENSIONS):
        table.create(gradebook.engine, checkfirst=True)
    known = select(SubmittedAssignment.student_id).join(Assignment)
    wanted = GRADED.c.assignment == assignment
    wanted &= GRADED.c.student.in_(known.where(Assignment.name == assignment))
    if student is not None:
        wanted &= GRADED.c.student == student
    rows = gradebook.db.execute(select(GRADED).where(wanted))
    return {
        row.student: Graded(row.student, row.fingerprint, from_json(row.notes), row.failure)
        for row in rows
    }


def record(
    gradebook: Gradebook,
    assignment: str,
    student: str,
    result: "Result",
    fingerprint: str,
    handed_in: datetime | None,
    policy: LatePolicy,
) -> None:
    """Write the scores of a submission, all or nothing.

    A person's scores, comments and extra credit do not change; if the answer below a person's score
    has changed, or a regrade of it is requested, the cell is marked for review. A hand-in with such
    a request and no other new work keeps the time of the earlier one. Raises ValueError if the
    scores are not those of the assignment's cells.
    """
    db = gradebook.db
    try:
        notebook = _submitted_notebook(db, assignment, student)
        extensions.apply(db, assignment)
        grades = {grade.cell.name: grade for grade in notebook.grades}
        if grades.keys() != result.scores.keys():
            differ = sorted(grades.keys() ^ result.scores.keys())
            raise ValueError(
                f"{assignment}: graded cells are not those of the gradebook: {', '.join(differ)}; "
                f"run `python -m course release {assignment}`"
            )
        before, now = _answers(db, assignment, student), regrades.looks(result)
        for name, grade in grades.items():
            grade.auto_score, why = result.scores[name], [mark + name for mark in regrades.MARKS]
            if grade.manual_score is None:
                grade.needs_manual_grade = grade.auto_score is None or any(w in now for w in why)
            elif any(before.get(key) != now.get(key) for key in (name, *why)):
                grade.needs_manual_grade = True
        _comment_on_untouched(notebook, result.notebook)
        notes, known = [*result.notes, *regrades.notes(now)], notebook.assignment.timestamp
        later = known and handed_in and known < handed_in
        now[regrades.TIME] = str(handed_in)  # the same hand-in keeps the time that it got
        same = before.get(regrades.TIME) == now[regrades.TIME]
        if later and (same or regrades.is_all_that_is_new(before, now)):
            handed_in = known
            notes.append(Note(f"{regrades.KEPT}{known:%Y-%m-%d %H:%M} UTC", kind=TIME))
        notebook.assignment.timestamp = handed_in
        charge_lateness(db, notebook, policy)
        row = {"fingerprint": fingerprint, "answers": json.dumps(now, sort_keys=True)}
        _replace(db, assignment, student, **row, notes=notes, seconds=result.seconds)
        attempts.add(db, assignment, student, now[regrades.WORK], result.notebook)
        db.commit()
    except BaseException:
        db.rollback()
        raise


def mark_failed(gradebook: Gradebook, assignment: str, student: str, reason: str) -> None:
    """Record in the gradebook that a submission could not be graded: no score, a person must look.

    A score of an earlier grading is removed, as it is not this submission's, and a note says so; a
    person's is kept.
    """
    db = gradebook.db
    known = graded(gradebook, assignment, student).get(student)
    try:
        notebook = _submitted_notebook(db, assignment, student)
        had = any(grade.auto_score is not None for grade in notebook.grades)
        notes = [REMOVED] if had or (known and REMOVED in known.notes) else []
        for grade in notebook.grades:
            grade.auto_score = None
            grade.needs_manual_grade |= grade.manual_score is None
        notebook.late_submission_penalty = None
        before = json.dumps(_answers(db, assignment, student), sort_keys=True)
        _replace(db, assignment, student, notes, answers=before, failure=reason)
        db.commit()
    except BaseException:
        db.rollback()
        raise


def forget(gradebook: Gradebook, assignment: str, student: str) -> None:
    """Let the next run grade the submission, even if it has not changed."""
    GRADED.create(gradebook.engine, checkfirst=True)
    theirs = {"assignment": assignment, "student": student}
    gradebook.db.execute(GRADED.update().filter_by(**theirs).values(fingerprint=None))
    gradebook.db.commit()


def note(gradebook: Gradebook, assignment: str, student: str, notes: Sequence[Note]) -> None:
    """Keep the notes of a grading by nbgrader itself; the next run grades the submission again."""
    before = json.dumps(_answers(gradebook.db, assignment, student), sort_keys=True)
    _replace(gradebook.db, assignment, student, notes, answers=before)
    gradebook.db.commit()


def charge_lateness(db: Session, notebook: SubmittedNotebook, policy: LatePolicy) -> None:
    """Set the late penalty from the current score, as nbgrader's AssignLatePenalties does."""
    db.flush()
    db.refresh(notebook, ["score"])
    found = late(notebook.assignment, notebook.score, policy)
    penalty = found.penalty if found else None
    if notebook.late_submission_penalty != penalty:
        notebook.late_submission_penalty = penalty


def charge_all(gradebook: Gradebook, assignment: str, policy: LatePolicy) -> None:
    """Update all penalties of an assignment, since due dates and people's points change."""
    extensions.EXTENSIONS.create(gradebook.engine, checkfirst=True)
    extensions.apply(gradebook.db, assignment)
    for submission in gradebook.assignment_submissions(assignment):
        for notebook in submission.notebooks:
            charge_lateness(gradebook.db, notebook, policy)
    gradebook.db.commit()


def read_timestamp(folder: Path) -> tuple[datetime | None, str]:
    """The time of a hand-in, in UTC without a zone as in nbgrader, and a warning or ""."""
    path = folder / "timestamp.txt"
    if not path.exists():
        return None, ""
    try:
        return parse_utc(path.read_text(encoding="utf-8").strip()), ""
    except (ValueError, OverflowError, OSError):
        return None, "timestamp.txt holds no time: counted as in time, please check"


def _submitted_notebook(db: Session, assignment: str, student: str) -> SubmittedNotebook:
    """The submission's notebook with a row per graded cell; created, not committed, if new."""
    submission = extensions.submission_of(db, assignment, student)
    if submission is None:
        submission = _new_submission(db, assignment, student)
    (notebook,) = (found for found in submission.notebooks if found.name == assignment)
    return notebook


def _new_submission(db: Session, assignment: str, student: str) -> SubmittedAssignment:
    """As nbgrader's `Gradebook.add_submission`, without its commit."""
    owner = db.get(Student, student)
    if owner is None:
        owner = Student(id=student)
        db.add(owner)
    source = db.execute(select(Assignment).where(Assignment.name == assignment)).scalar_one()
    with db.no_autoflush:
        submission = SubmittedAssignment(assignment=source, student=owner)
        for notebook in source.notebooks:
            copy = SubmittedNotebook(notebook=notebook, assignment=submission)
            for cell in (*notebook.grade_cells, *notebook.task_cells):
                Grade(cell_id=cell.id, notebook=copy)
            for cell in (*notebook.solution_cells, *notebook.task_cells):
                Comment(cell_id=cell.id, notebook=copy)
        db.add(submission)
    db.flush()
    return submission


def _comment_on_untouched(notebook: SubmittedNotebook, graded_copy: NotebookNode) -> None:
    """nbgrader's "No response." for an answer that is still the exercise's placeholder."""
    source: Notebook = notebook.notebook
    stubs = {cell.name: cell.source.strip() for cell in source.source_cells}
    answers = {
        cell.metadata.nbgrader.grade_id: cell.source.strip()
        for cell in graded_copy.cells
        if is_solution(cell)
    }
    for comment in notebook.comments:
        answer = answers.get(comment.cell.name, stubs.get(comment.cell.name))
        untouched = answer == stubs.get(comment.cell.name)
        comment.auto_comment = "No response." if untouched else None


def _answers(db: Session, assignment: str, student: str) -> dict[str, str]:
    """The result of `regrades.looks` when the submission was last graded."""
    query = select(GRADED.c.answers).filter_by(assignment=assignment, student=student)
    return json.loads(db.execute(query).scalar_one_or_none() or "{}")


def _replace(
    db: Session, assignment: str, student: str, notes: Sequence[Note] = (), **values: Any
) -> None:
    theirs = {"assignment": assignment, "student": student}
    db.execute(GRADED.delete().filter_by(**theirs))
    db.execute(GRADED.insert().values(**theirs, notes=to_json(bounded(notes)), **values))
