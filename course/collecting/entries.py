"""A path of a download in the plan of `collect`, and what the plan depends on."""

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple
from zoneinfo import ZoneInfo

if TYPE_CHECKING:
    from course.collecting.sheets import SheetRow

NEW, NEWER, UNCHANGED, OLDER = "new", "newer", "unchanged", "older"
REFUSED, SORT, NOT = "refused", "to sort out", "not hand-ins"
STATES = (NEW, NEWER, UNCHANGED, OLDER, REFUSED, SORT, NOT)
TAKEN = "taken"  # until it is compared with the stored one


class Options(NamedTuple):
    """pattern: a regular expression for a file's whole path with the group `student_id` (or
    `full_name` or `lms_user_id`), and optionally `file` and `timestamp`. handed_in: the time of all
    of them, in UTC without a zone. sheet: the learning system's list of times; zone: of the times
    in names; new_students: whether to take people who are not on the list; sorting: whether the
    source is to-sort-out/.
    """

    pattern: str | None = None
    handed_in: datetime | None = None
    sheet: Sequence["SheetRow"] = ()
    zone: ZoneInfo | None = None
    new_students: bool = False
    sorting: bool = False


class Entry(NamedTuple):
    """One path. assignment: "" if it is not clear; label: how the download names the person; file:
    the name that the student chose; content: the file, page: the notebook that it is; rank: the
    lowest of a person counts; order: the time of the attempt, by the name alone; late: whether
    Canvas says so; said: whether it needs a line.
    """

    path: str
    state: str
    why: str = ""
    assignment: str = ""
    student: str = ""
    label: str = ""
    time: datetime | None = None
    order: datetime | None = None
    file: str = ""
    content: bytes = b""
    page: bytes | None = None
    rank: int = 0
    late: bool = False
    said: bool = True
