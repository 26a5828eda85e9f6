"""Collect on a class server: a submission counts only for the account that owns it.

nbgrader's exchange trusts the student's name in the folder's name, which anybody may write, and
only warns. So a student could hand in for another, and the newest submission counts.
"""

import os
import pwd

from course.grading.nbgrader_plugin import CollectWithoutLinks

NOBODY = ""


class CollectOwned(CollectWithoutLinks):
    """The course's collect, which skips submissions not owned by their alleged author."""

    src_records: list[dict]

    def _path_to_record(self, path: str) -> dict:
        record = super()._path_to_record(path)
        owner = _owner(path)
        if record["username"] != owner:
            self.log.warning(
                "%s says it is %s's, but is %s's: not collected", path, record["username"], owner
            )
            record["username"] = NOBODY
        return record

    def init_src(self) -> None:
        """Find the newest submission of each student among their own."""
        super().init_src()
        self.src_records = [record for record in self.src_records if record["username"] != NOBODY]


def _owner(path: str) -> str:
    try:
        return pwd.getpwuid(os.lstat(path).st_uid).pw_name
    except KeyError:
        return "of an account that is gone"
