"""`python -m course rehearsal`: grade a class whose grades are known beforehand.

A separate course is created in a temporary folder, with your settings and the current assignment. A
synthetic class (`synthetic_class.py`) hands in, it is graded as yours will be, and every point is
compared with the expected one. The report has each difference, how well the tasks discriminate
between students, and the time per submission. Your gradebook does not change.
"""

import argparse
import shutil
import statistics
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import nbformat
from sqlalchemy import select

from bertlab._files import write_atomically
from course import ROOT
from course.gradebook.item_analysis import analyse, by_task
from course.rehearsal.synthetic_answers import (
    OURS,
    UNWRITTEN,
    WRONG,
    Unusable,
    measured,
    read_tasks,
)
from course.rehearsal.synthetic_class import Student, draw_class, is_test, truth
from course.settings import Course, CourseError

Scores = Mapping[str, float | None]  # grade id -> points


class Grades(NamedTuple):
    """The pipeline's result: student -> grade id -> points, and seconds per submission."""

    scores: Mapping[str, Scores]
    seconds: Sequence[float]


def main(arguments: Sequence[str]) -> int:
    """Run the rehearsal; 0 if every grade is correct, 1 if not, 2 for a usage error."""
    asked = _parser().parse_args(arguments)
    if asked.students < 1:
        print("rehearsal: --students must be at least 1", file=sys.stderr)
        return 2
    try:
        course = Course(asked.root)
        agreed = [_rehearse(course, name, asked) for name in course.chosen(asked.assignment)]
    except (CourseError, Unusable) as error:
        print(f"rehearsal: {error}", file=sys.stderr)
        return 1
    return 0 if all(agreed) else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m course rehearsal", description=__doc__)
    parser.add_argument("assignment", nargs="?", default="ex01_bpe", help="name or all (ex01_bpe)")
    parser.add_argument("--students", type=int, default=100, help="size of the class (100)")
    parser.add_argument("--seed", type=int, default=0, help="each seed gives another class (0)")
    parser.add_argument("--workers", type=int, help="processes (one per core)")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep course and report there")
    parser.add_argument("--root", type=Path, default=ROOT, help=argparse.SUPPRESS)
    parser.add_argument("--no-sandbox", action="store_true", help="grade without bubblewrap")
    return parser


def _rehearse(course: Course, name: str, asked: argparse.Namespace) -> bool:
    """Rehearse one assignment; returns whether every grade is correct."""
    from course.grading.grade_workers import cores

    workers = asked.workers or cores()
    with ExitStack() as stack:
        folder = asked.keep or Path(stack.enter_context(TemporaryDirectory(prefix="rehearsal-")))
        stage = make_course(folder / name, course, name)
        tasks = read_tasks(name, asked.seed, course.root)
        answers = sum(len(task.answers) for task in tasks)
        print(
            f"{name}: first {answers} answers to {len(tasks)} tasks are tried in the notebook, to "
            f"know what each must get; then {asked.students} students are graded"
        )

        def how_long(seconds: float) -> None:
            # Each answer is tried twice, and the sandbox takes about twice as long.
            minutes = 2 * (answers + asked.students) * seconds / workers / 60
            print(f"  A run takes {seconds:.1f} s: about {max(1, round(minutes))} min to go")

        tasks, left_out = measured(name, tasks, workers, course.root, how_long)
        students = draw_class(tasks, asked.students, asked.seed)
        hand_in(stage, name, students)
        grades = grade(stage, name, workers, sandboxed=not asked.no_sandbox)
        text, agreed = report(name, students, _points(stage, name), grades, left_out)
        if asked.keep:
            print(f"Report: {write_atomically(stage.root / 'report.txt', text)}")
    print(text)
    return agreed


# The stage: a separate course.


def make_course(folder: Path, course: Course, name: str) -> Course:
    """A course with one assignment and these settings, but with its own gradebook.

    Raises CourseError if the folder exists.
    """
    if folder.exists():
        raise CourseError(f"{folder} is there already: give --keep a folder that is new")
    (folder / "course").mkdir(parents=True)
    shutil.copy(course.root / "course" / "nbgrader_config.py", folder / "course")
    for step in ("source", "release"):
        shutil.copytree(course.room(step) / name, folder / course.room(step).name / name)
    stage = Course(folder)
    # The settings may name the database with the real grades.
    stage.config.CourseDirectory.db_url = f"sqlite:///{stage.root / 'gradebook.db'}"
    return stage


def hand_in(stage: Course, name: str, students: Sequence[Student]) -> None:
    """Write every student's notebook into the folder of hand-ins."""
    path = stage.room("release") / name / f"{name}.ipynb"
    for student in students:
        notebook = nbformat.read(path, as_version=4)
        for cell in notebook.cells:
            if cell.id in student.answers:
                cell.source = student.answers[cell.id].source
            elif cell.metadata.nbgrader.solution and student.explains:
                cell.source = "What I have seen, in my own words."
        place = stage.hand_in(name, student.name)
        place.parent.mkdir(parents=True)
        place.write_text(nbformat.writes(notebook), encoding="utf-8")


def grade(stage: Course, name: str, workers: int, sandboxed: bool = True) -> Grades:
    """Release, grade and read the grades, by the same commands as for a real class.

    Raises CourseError if the release or the whole run fails.
    """
    from course.grading import grade_run
    from course.settings import said

    released = stage.nbgrader.generate_assignment(name, force=True, create=True)
    if not released["success"]:
        raise CourseError(f"{name} cannot be released: {said(released)}")
    options = grade_run.Options(workers=workers, sandboxed=sandboxed, backup=False)
    grade_run.run(stage, [name], options, say=lambda _line: None)
    return _graded(stage, name)


def _graded(stage: Course, name: str) -> Grades:
    """The gradebook's content: the tests' points and the time per submission."""
    from course.gradebook.records import GRADED

    with closing(stage.gradebook()) as book:
        scores = {
            submission.student_id: {
                one.cell.name: one.auto_score
                for notebook in submission.notebooks
                for one in notebook.grades
            }
            for submission in book.assignment_submissions(name)
        }
        seconds = book.db.execute(select(GRADED.c.seconds)).scalars()
        return Grades(scores, [one for one in seconds if one is not None])


def _points(stage: Course, name: str) -> dict[str, float]:
    """Grade id -> points of each graded cell, in the order of the notebook."""
    source = nbformat.read(stage.room("source") / name / f"{name}.ipynb", as_version=4)
    return {
        cell.metadata.nbgrader.grade_id: float(cell.metadata.nbgrader.points)
        for cell in source.cells
        if cell.metadata.nbgrader.grade
    }


# The report.


def report(
    name: str,
    students: Sequence[Student],
    points: Mapping[str, float],
    grades: Grades,
    left_out: Sequence[str] = (),
) -> tuple[str, bool]:
    """The text to print, and whether every grade is correct."""
    expected = {student.name: truth(student, points) for student in students}
    wrong = differences(expected, grades.scores)
    n_cells = sum(map(len, expected.values()))
    kinds = [answer.kind for student in students for answer in student.answers.values()]
    lines = [
        f"{name}: {len(students)} students hand in {len(kinds)} answers, {kinds.count(WRONG)} of "
        f"them wrong and {kinds.count(UNWRITTEN)} unwritten; {kinds.count(OURS)} are ours",
        f"Grades that differ from the truth: {len(wrong)} of {n_cells}",
        *(f"  {line}" for line in wrong),
        "",
        _items(grades.scores, points),
        "",
        _ability(students, grades.scores),
        _times(grades.seconds),
        *left_out,
    ]
    return "\n".join(lines) + "\n", not wrong


def differences(expected: Mapping[str, Scores], got: Mapping[str, Scores]) -> list[str]:
    """A line for each wrong, missing or unexpected grade."""
    lines = [f"{student}: not in the gradebook" for student in expected if student not in got]
    lines += [f"{student}: nobody of this name handed in" for student in got.keys() - expected]
    for student in expected.keys() & got.keys():
        must, is_ = expected[student], got[student]
        lines += [
            f"{student}, {cell}: must be {_said(must, cell)}, is {_said(is_, cell)}"
            for cell in sorted(must.keys() | is_.keys())
            if cell not in must or cell not in is_ or must[cell] != is_[cell]
        ]
    return sorted(lines)


def _said(scores: Scores, cell: str) -> str:
    if cell not in scores:
        return "missing"
    return "left to a person" if scores[cell] is None else f"{scores[cell]:g}"


def _items(scores: Mapping[str, Scores], points: Mapping[str, float]) -> str:
    """The analysis of the tasks, without those that a person grades."""
    most = {cell: most for cell, most in points.items() if is_test(cell)}
    table = {s: {cell: row[cell] for cell in most if cell in row} for s, row in scores.items()}
    try:
        return analyse(by_task(table, most)).text()
    except ValueError as error:
        return str(error)


def _ability(students: Sequence[Student], scores: Mapping[str, Scores]) -> str:
    """The correlation of ability and points."""
    there = [student for student in students if student.name in scores]
    abilities = [student.ability for student in there]
    totals = [sum(filter(None, scores[student.name].values())) for student in there]
    if len(set(abilities)) < 2 or len(set(totals)) < 2:
        return "Ability and points: cannot be compared, all alike"
    return f"Ability and points: r = {statistics.correlation(abilities, totals):.2f}"


def _times(seconds: Sequence[float]) -> str:
    if not seconds:
        return "Nothing was graded."
    median = statistics.median(seconds)
    return f"Seconds per submission: median {median:.1f}, slowest {max(seconds):.1f}"
