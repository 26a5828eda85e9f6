"""Times of hand-ins from a learning system's own list."""

from datetime import datetime
from pathlib import Path
from typing import NamedTuple

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


def read(path: Path) -> Sheet:
    """The rows of a sheet. Raises CourseError if it is none."""
    raise CourseError(f"{path}: sheets cannot be read here")
