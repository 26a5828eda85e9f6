"""Times of hand-ins from a learning system's own list."""

from datetime import datetime
from pathlib import Path
from typing import NamedTuple
from zoneinfo import ZoneInfo

from course.settings import CourseError


class SheetRow(NamedTuple):
    """A person's row. number: Moodle's participant or Canvas's user; handed_in: in UTC."""

    number: str | None
    student_id: str | None
    full_name: str | None
    email: str | None
    handed_in: datetime | None


class Sheet(NamedTuple):
    """kind: the learning system."""

    kind: str
    rows: tuple[SheetRow, ...]


def read(path: Path, zone: ZoneInfo | None = None) -> Sheet:  # noqa: ARG001 - only the form
    """The rows of a sheet; zone: of times that have none. Raises CourseError if it is none."""
    raise CourseError(f"{path}: sheets cannot be read here")
