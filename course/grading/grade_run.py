"""`python -m course grade`: grade new and changed hand-ins in parallel, and record the results.

Only this process writes: first the graded copy of the notebook, then the scores in one
transaction together with the submission's fingerprint. If it is killed at any moment, the next run
finds the fingerprint missing and grades that submission again, so the result is the same.
"""

import json
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import nbformat
from tqdm.auto import tqdm

from bertlab._files import write_atomically
from course.collecting.hand_in_files import read_plain
from course.collecting.opening import Refused
from course.gradebook import backups, records
from course.gradebook.late_policy import LatePolicy
from course.gradebook.notes import Note, bounded
from course.grading import grade_workers, reports
from course.grading.assignments import check_release
from course.grading.fingerprints import Task, tasks_of
from course.grading.grade_workers import Setting
from course.grading.outputs import one_line
from course.settings import Course, CourseError

if TYPE_CHECKING:
    from nbgrader.api import Gradebook

    from course.gradebook.results import Result
    from course.grading.grader import Grader

BAR = "{l_bar}{bar}| {n_fmt}/{total_fmt} [{elapsed} gone, {remaining} left{postfix}]"


class Options(NamedTuple):
    """The command line's options."""

    students: Sequence[str] = ()  # all, if none
    workers: int | None = None  # one per core, if None
    scheduler: str | None = None
    force: bool = False
    sandboxed: bool = True
    backup: bool = True


EVERYTHING = Options()
SECRET = "submission_secret.txt"  # nbgrader's file name


def run(
    course: Course,
    assignments: Sequence[str],
    options: Options = EVERYTHING,
    grader_class: "type[Grader] | None" = None,
    say: Callable[[str], None] = print,
) -> int:
    """Grade the hand-ins of the assignments; 1 if some could not be graded, otherwise 0.

    grader_class: the real one, except in tests. Raises CourseError, before anything is written, if
    there is no sandbox or backup, if an assignment's source, release and gradebook differ, or if
    another run is in progress.
    """
    setting = _setting(course, options, grader_class, say)
    who = backups.this_process()
    with ExitStack() as stack:
        since = datetime.now(UTC)
        stack.enter_context(backups.only_one(course, f"{who}, since {since:%Y-%m-%d %H:%M UTC}"))
        book = stack.enter_context(closing(course.gradebook()))
        for name in assignments:
            check_release(course, book, name)
        if options.backup and (copy := backups.back_up(course)):
            say(f"The gradebook is backed up: {copy.relative_to(course.root)}")
        tasks = {name: tasks_of(course, name, options.students) for name in assignments}
        todo = [task for name in assignments for task in tasks[name]]
        if options.force:
            _begin_again(course, book, todo, say)
        rows = {name: records.graded(book, name).values() for name in assignments}
        done = {(name, row.student): row.fingerprint for name in rows for row in rows[name]}
        todo = [task for task in todo if done.get(task[1:3]) != task.fingerprint]
        _grade(course, book, todo, setting, options)
        if options.force:
            _mark(course).unlink(missing_ok=True)
        failures = 0
        for name in assignments:
            fresh = {task.student for task in todo if task.assignment == name}
            asked = [task.student for task in tasks[name]]
            report = reports.write(course, book, name, fresh, asked)
            say(report.text)
            failures += report.failures
    return int(failures > 0)


def _setting(
    course: Course,
    options: Options,
    grader_class: "type[Grader] | None",
    say: Callable[[str], None],
) -> Setting:
    """Which Grader, and whether in the sandbox."""
    from course.grading.sandbox import why_no_sandbox

    if not options.sandboxed:
        say(
            "--no-sandbox: students' code runs with your rights. It can read and change your "
            "files, this gradebook and the other hand-ins, and use the network. Grade only people "
            "whom you trust, or on a machine that you can throw away."
        )
    elif grader_class is None and (reason := why_no_sandbox()):
        raise CourseError(
            f"students' code is not run without a sandbox: {reason}. Grade on a Linux machine "
            "with bubblewrap or in a container (course/README.md), or give --no-sandbox if you "
            "trust every student."
        )
    if grader_class is None:
        from course.grading import grader

        grader_class = grader.Grader
    return Setting(grader_class, course.limits(), options.sandboxed)


def _begin_again(
    course: Course, book: "Gradebook", tasks: Sequence[Task], say: Callable[[str], None]
) -> None:
    """Forget all grades, unless the same forced run was interrupted: then it continues."""
    mark, asked = _mark(course), json.dumps([task[1:3] for task in tasks])
    if mark.is_file() and mark.read_text(encoding="utf-8") == asked:
        say("--force: continuing the run that was stopped")
        return
    for task in tasks:
        records.forget(book, task.assignment, task.student)
    mark.parent.mkdir(exist_ok=True)
    write_atomically(mark, asked)


def _mark(course: Course) -> Path:
    """A file that exists while a forced run is in progress."""
    return course.room("autograded") / ".forced.json"


def _grade(
    course: Course, book: "Gradebook", todo: Sequence[Task], setting: Setting, options: Options
) -> None:
    """Grade submissions and record each as soon as it is done."""
    if not todo:
        return
    policy = LatePolicy(config=course.config)
    workers = max(1, min(options.workers or grade_workers.cores(), len(todo)))
    with grade_workers.cluster(workers, options.scheduler) as client:
        bar = tqdm(total=len(todo), unit="submission", bar_format=BAR, desc="Grading")
        with bar:
            for task, result, failure in grade_workers.grade_all(client, todo, setting):
                if result is not None:
                    failure = _write_down(course, book, task, result, policy)
                if failure:
                    _write_failure(course, book, task, failure)
                bar.update()
                seconds = bar.format_dict["elapsed"]
                bar.set_postfix_str(f"{60 * bar.n / max(seconds, 1e-9):.1f} a minute")


def _write_down(
    course: Course, book: "Gradebook", task: Task, result: "Result", policy: LatePolicy
) -> str:
    """Write the graded copy, then the scores; returns the reason if that fails, or ""."""
    name, student, folder = task.assignment, task.student, task.submission.parent
    try:
        handed_in, complaint = records.read_timestamp(folder)
        if complaint:
            result = result._replace(notes=(*result.notes, Note(complaint, private=True)))
        copy = course.graded_copy(name, student)
        copy.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(copy, nbformat.writes(with_scores(result)))
        _copy_secret(folder, copy.parent)
        # nbgrader compares the two times to see whether a hand-in is newer than its graded copy.
        if handed_in:
            write_atomically(copy.with_name("timestamp.txt"), f"{handed_in} UTC")
        records.record(book, name, student, result, task.fingerprint, handed_in, policy)
    except ValueError as error:
        return str(error)
    except Exception as error:  # one student's result stops nobody
        return f"{type(error).__name__}: {error}"
    return ""


def _copy_secret(handed_in: Path, graded: Path) -> None:
    """Copy the secret by which the exchange gives feedback only to those who handed in."""
    secret = graded / SECRET
    try:
        write_atomically(secret, read_plain(handed_in / SECRET))
    except Refused:
        secret.unlink(missing_ok=True)


def with_scores(result: "Result") -> nbformat.NotebookNode:
    """The graded copy with its scores in the metadata, for nbgrader's own run.

    The metadata also has the notes, which the formgrader shows above the first cell.
    """
    notebook, notes = result.notebook, [note._asdict() for note in bounded(result.notes)]
    notebook.metadata["bertlab"] = {"scores": result.scores, "notes": notes}
    return notebook


def _write_failure(course: Course, book: "Gradebook", task: Task, reason: str) -> None:
    """Record a failure: no score, and no graded copy for feedback."""
    records.mark_failed(book, task.assignment, task.student, one_line(reason))
    course.graded_copy(task.assignment, task.student).unlink(missing_ok=True)
