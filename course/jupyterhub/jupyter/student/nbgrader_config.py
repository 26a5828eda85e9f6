"""nbgrader in a student's server: fetch, validate, submit. Everything else is the instructors'."""

import os

from nbgrader.exchange.default import ExchangeSubmit

config = get_config()  # noqa: F821 (nbgrader's loader provides it)


class PrivateSubmit(ExchangeSubmit):
    """nbgrader's submit, but only the course can read submissions, not everybody.

    A submission's folder belongs to its author and to the group of `inbound`, the course's; its
    files may belong to the author's group, so the folder's rights exclude others.
    """

    def set_perms(
        self,
        dest: str,
        fileperms: int,
        dirperms: int,  # noqa: ARG002 - nbgrader gives it by name
    ) -> None:
        """Folders only for author and course, whatever nbgrader requests."""
        super().set_perms(dest, fileperms, 0o770)

    def copy_files(self) -> None:
        """Submit, then restrict the folder, which nbgrader opens to everybody at the end."""
        super().copy_files()
        os.chmod(os.path.join(self.inbound_path, self.assignment_filename), 0o770)


config.CourseDirectory.course_id = "bertlab"
config.Exchange.root = os.environ["BERTLAB_EXCHANGE"]
config.ExchangeFactory.submit = PrivateSubmit
config.ExecutePreprocessor.timeout = 180
