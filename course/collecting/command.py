"""The options of `python -m course collect`."""

import argparse
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from course.settings import Course, utc_moment


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What may follow `python -m course collect NAME`."""
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--from", dest="source", type=Path, metavar="FOLDER|ZIP")
    source.add_argument("--exchange", action="store_true", help="from nbgrader's exchange")
    parser.add_argument("--dry-run", action="store_true", help="show each file, write nothing")
    parser.add_argument(
        "--handed-in", type=_moment, metavar="TIME", help="the time of all; the files' do not count"
    )
    parser.add_argument(
        "--sheet",
        type=Path,
        metavar="FILE",
        help="the times: Moodle's grading worksheet, Canvas's export of submissions",
    )
    parser.add_argument(
        "--zone",
        type=_zone,
        help="of times in file names or the sheet that have none, as Europe/Berlin",
    )
    parser.add_argument(
        "--new-students", action="store_true", help="also people who are not on the list"
    )
    parser.add_argument(
        "--pattern",
        help="regular expression for a file's path with (?P<student_id>...); without it learning "
        "systems' names, STUDENT/NAME.ipynb and STUDENT_NAME.ipynb are known",
    )


def run(course: Course, asked: argparse.Namespace) -> int:
    """Take hand-ins from a folder, a zip file or nbgrader's exchange."""
    # Imported only when needed: nbgrader takes seconds.
    from course.collecting import collect, sheets

    if asked.exchange:
        return collect.collect_from_exchange(course, asked.name)
    options = collect.Options(
        pattern=asked.pattern,
        handed_in=asked.handed_in,
        sheet=sheets.read(asked.sheet, asked.zone) if asked.sheet else (),
        zone=asked.zone,
        new_students=asked.new_students,
    )
    return collect.collect(course, asked.name, asked.source, options, asked.dry_run)


def _moment(text: str) -> datetime:
    try:
        return utc_moment(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text}: write it as 2026-12-01T23:59+01:00") from None


def _zone(text: str) -> ZoneInfo:
    try:
        return ZoneInfo(text)
    except (ValueError, OSError, KeyError):
        raise argparse.ArgumentTypeError(f"{text}: give a zone such as Europe/Berlin") from None
