"""The times and identities of hand-ins, from Moodle's grading worksheet or Canvas's submissions.

Moodle's worksheet names each person by the number that is also in the names of the download,
with and without blind marking: both come from `get_uniqueid_for_user` (moodle/moodle:
mod/assign/gradingtable.php, `col_recordid`; mod/assign/classes/downloader.php,
`get_student_prefix`). Its times are in the time zone of the person who downloads it, without
saying which (`userdate`).
"""

import re
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import NamedTuple
from zoneinfo import ZoneInfo

from babel.dates import get_month_names

from course.gradebook import spreadsheets
from course.gradebook.spreadsheets import CANVAS_SHEET, MOODLE_SHEET
from course.settings import CourseError, named, printable

LANGUAGES = ("en", "de", "de_AT", "fr", "es", "it", "pt", "nl")  # of the names of months
NEVER = {"", "-", "–"}
# 22:15, 22h15, 10:15 PM, 10:15 p. m.
CLOCK = re.compile(r"(\d{1,2})\s?[:h]\s?(\d\d)(?::(\d\d))?(?:\s?([ap])\.?\s?m\b)?", re.IGNORECASE)
DOTTED = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})")  # day.month.year, as German spreadsheets do


class SheetRow(NamedTuple):
    """A person of the sheet; None where it says nothing.

    number: Moodle's participant number or Canvas's user number, as in the names of a download;
    handed_in: in UTC without a zone.
    """

    number: str | None
    student_id: str | None
    full_name: str | None
    email: str | None
    handed_in: datetime | None


def read(path: Path, zone: ZoneInfo | None = None) -> list[SheetRow]:
    """The rows of a sheet, in its order; zone: of times that have none.

    Raises CourseError if it is another file, if a time cannot be read, or if a zone is missing.
    """
    table = spreadsheets.read(path)
    if table.layout not in (MOODLE_SHEET, CANVAS_SHEET) or "number" not in table.columns:
        raise CourseError(
            f"{path} is neither Moodle's grading worksheet (with the columns Identifier and Last "
            "modified (submission)) nor Canvas's submissions (with user_id and submitted_at). Its "
            f"columns are: {named(table.header)}."
        )
    rows = []
    for line, row in zip(table.lines, table.rows, strict=True):
        number = re.search(r"\d+$", table.value(row, "number"))
        id, name, email = (table.value(row, one) or None for one in ("id", "full_name", "email"))
        moment = _moment(table.value(row, "handed_in"), zone, f"{path}, line {line}")
        rows.append(SheetRow(number[0] if number else None, id, name, email, moment))
    return rows


def _moment(text: str, zone: ZoneInfo | None, where: str) -> datetime | None:
    """The time in UTC without a zone; an hour that the clock shows twice counts as the first."""
    if text in NEVER:
        return None
    try:
        moment = datetime.fromisoformat(re.sub(r" ?(UTC|GMT)$", "Z", text))
    except ValueError:
        moment = _spelt(text, where)
    if moment.tzinfo is None and zone is None:
        raise CourseError(
            f"{where}: {printable(text)} has no time zone: give the one that your learning system "
            "shows, as in --zone Europe/Berlin"
        )
    return moment.replace(tzinfo=moment.tzinfo or zone).astimezone(UTC).replace(tzinfo=None)


def _spelt(text: str, where: str) -> datetime:
    """A local time as Moodle writes it, in the languages above. Raises CourseError if unreadable.

    >>> _spelt("Thursday, 19 November 2026, 10:15 PM", "line 2")
    datetime.datetime(2026, 11, 19, 22, 15)
    """
    clock, dotted = CLOCK.search(text), DOTTED.search(text)
    day_and_year = sorted(map(int, re.findall(r"\d+", CLOCK.sub("", text))))
    words = re.findall(r"[^\W\d_]+", text.casefold())
    months = [_months()[word] for word in words if word in _months()]
    try:
        if dotted:
            day, month, year = map(int, dotted.groups())
        else:
            (day, year), (month,) = day_and_year, months
        hour, minute, second, half = clock.groups()  # type: ignore[union-attr]
        late = 12 * (half.lower() == "p") + int(hour) % 12 if half else int(hour)
        return datetime(year, month, day, late, int(minute), int(second or 0))
    except (ValueError, AttributeError):
        raise CourseError(
            f"{where}: {printable(text)} is not a time that can be read here: write it as "
            "2026-11-19T22:15+01:00, or write - if nothing was handed in"
        ) from None


@cache
def _months() -> dict[str, int]:
    return {
        name.casefold(): number
        for language in LANGUAGES
        for number, name in get_month_names("wide", locale=language).items()
    }
