"""Run the course, from release to grades: `python -m course COMMAND`.

handout --to FOLDER      the course as students get it, without solutions
students LIST.csv        enter a list of students, from Excel, Moodle, Canvas or Brightspace
release NAME|all         make the students' versions and enter them in the gradebook
due NAME|all TIME        set when an assignment is due
extend NAME ID --days 3  give one student more time; NAME or all
collect NAME|all --from X  take hand-ins from a folder, a zip file or nbgrader's exchange
grade NAME|all           grade new and changed hand-ins in the sandbox, on all cores
status [NAME]            who has handed in, who is graded, who waits for a person
overview                 the term on one page: points, tasks, irregularities
feedback NAME|all        a page for every graded student
export [NAME]            grades as a CSV file for nbgrader, Moodle, Canvas or Brightspace
items NAME|all           which tasks were hard, and what the class thinks: its mistakes, counted
leaderboard --to FOLDER  run and score the entries of the project, a static page
similar NAME             which students' code is similar, or similar to the course's own
rehearsal [NAME|all]     grade a synthetic class whose points are known
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from importlib import import_module
from pathlib import Path
from typing import Any

from bertlab._console import print_on_any_console
from course import ROOT
from course.collecting import command as collecting
from course.settings import Course, CourseError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; 0 for success, 1 if something needs attention, 2 for a usage error."""
    print_on_any_console()
    parser = _parser()
    asked, rest = parser.parse_known_args(arguments)
    if rest and asked.command not in ELSEWHERE:
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    try:
        if asked.command in ELSEWHERE:
            module, _ = ELSEWHERE[asked.command]
            return import_module(module).main(["--root", str(asked.root), *rest])
        course = Course(asked.root)
        return asked.run(course, asked)
    except CourseError as error:
        print(f"python -m course {asked.command}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped. Finished work is kept; the same command continues from here.")
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m course",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--root", type=Path, default=ROOT, help="the course's folder, if another")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def command(
        name: str, run: Callable, assignment: str | None = "NAME|all", **more: Any
    ) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=run.__doc__, description=run.__doc__)
        added.set_defaults(run=run)
        if assignment:
            added.add_argument("name", metavar=assignment, help="the assignment", **more)
        return added

    handed_out = command("handout", _handout, None)
    handed_out.add_argument("--to", type=Path, required=True, metavar="FOLDER", help="a new one")
    handed_out.add_argument("--zip", action="store_true", help="also FOLDER.zip")
    handed_out.add_argument("--solutions", action="store_true", help="also FOLDER-solutions.zip")
    released = command("release", _release)
    released.add_argument("--exchange", action="store_true", help="also to nbgrader's exchange")
    released.add_argument("--yes", action="store_true", help="also delete what a person gave")
    released.add_argument("--no-backup", action="store_true", help="do not copy the grades")
    due = command("due", _due)
    due.add_argument("due", metavar="TIME", help="with its zone, as 2026-12-01T23:59+01:00; none")
    extended = command("extend", _extend)
    extended.add_argument("student", metavar="ID", help="the student's")
    extended.add_argument("--days", type=int, required=True, metavar="N", help="more; 0 removes")
    collecting.add_arguments(command("collect", collecting.run))
    _add_grade(command("grade", _grade))
    feedback = command("feedback", _feedback)
    feedback.add_argument("--release", action="store_true", help="also to nbgrader's exchange")
    command("status", _status, "NAME|all", nargs="?", default="all")
    items = command("items", _items)
    items.add_argument("--as-rows", action="store_true", help="only undiagnosed failures, no names")
    for name, (_, does) in ELSEWHERE.items():
        commands.add_parser(name, help=does, add_help=False)
    return parser


def _add_grade(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--student", action="append", default=[], metavar="ID", help="only theirs")
    parser.add_argument("--workers", type=_count, metavar="N", help="processes (default: cores)")
    parser.add_argument("--scheduler", metavar="ADDRESS", help="of a Dask cluster, tcp://...")
    parser.add_argument("--force", action="store_true", help="also unchanged ones")
    parser.add_argument("--no-sandbox", action="store_true", help="students' code has YOUR rights")
    parser.add_argument("--no-backup", action="store_true", help="do not copy the gradebook first")


def _count(text: str) -> int:
    if text.isdecimal() and int(text):
        return int(text)
    raise argparse.ArgumentTypeError(f"{text}: give a number from 1")


# Imported only when needed: nbgrader and Dask take seconds.


def _handout(course: Course, asked: argparse.Namespace) -> int:
    """Write the students' course: no solutions, no hidden tests, no history."""
    from course.publishing import handout

    for path in handout.hand_out(course, asked.to, asked.zip, asked.solutions):
        print(path)
    return 0


def _release(course: Course, asked: argparse.Namespace) -> int:
    """Make the students' versions and enter them in the gradebook."""
    from course.publishing import releasing

    names, options = course.chosen(asked.name), {"yes": asked.yes, "backup": not asked.no_backup}
    return releasing.release(course, names, asked.exchange, **options)


def _due(course: Course, asked: argparse.Namespace) -> int:
    """Set when an assignment is due; late penalties are updated."""
    from course.publishing import releasing

    for name in releasing.released(course, course.chosen(asked.name)):
        print(releasing.set_due(course, name, asked.due))
    return 0


def _extend(course: Course, asked: argparse.Namespace) -> int:
    """Give one student more time; late penalties are updated."""
    from course.publishing import releasing

    for name in releasing.released(course, course.chosen(asked.name)):
        print(releasing.extend(course, name, asked.student, asked.days))
    return 0


def _grade(course: Course, asked: argparse.Namespace) -> int:
    """Grade new and changed hand-ins in the sandbox."""
    from course.grading import grade_run

    options = grade_run.Options(
        students=asked.student,
        workers=asked.workers,
        scheduler=asked.scheduler,
        force=asked.force,
        sandboxed=not asked.no_sandbox,
        backup=not asked.no_backup,
    )
    return grade_run.run(course, course.chosen(asked.name), options)


def _feedback(course: Course, asked: argparse.Namespace) -> int:
    """Write a page of feedback for every graded student."""
    from course.grading import feedback_pages

    return feedback_pages.generate(course, course.chosen(asked.name), asked.release)


def _status(course: Course, asked: argparse.Namespace) -> int:
    """Print who has handed in, who is graded and who waits for a person, and what protects us."""
    from course.grading import reports
    from course.grading.sandbox import protection

    with closing(course.gradebook()) as book:
        print(reports.status(course, book, course.chosen(asked.name)))
    print(protection(), file=sys.stderr)
    return 0


def _items(course: Course, asked: argparse.Namespace) -> int:
    """Print which tasks were hard, and what the class thinks: which mistakes it made."""
    from course.gradebook import diagnoses

    show = diagnoses.rows if asked.as_rows else diagnoses.report
    with closing(course.gradebook()) as book:
        for name in course.chosen(asked.name):
            print(show(course, book, name))
    return 0


# Commands that parse their own arguments: the module with their `main`, and a description.
ELSEWHERE = {
    "export": ("course.gradebook.exports", "Write the grades to a CSV file."),
    "leaderboard": ("course.leaderboard.board", "Run and score the entries of the project."),
    "overview": ("course.grading.overview", "Write the term on one page, for the teacher."),
    "similar": ("course.similarity.report", "Print similar code, also similar to the course's."),
    "students": ("course.collecting.student_lists", "Enter a list of students."),
    "rehearsal": ("course.rehearsal.rehearse", "Grade a synthetic class whose points are known."),
}


if __name__ == "__main__":
    sys.exit(main())
