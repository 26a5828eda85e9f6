"""A course's folders and settings: its rooms, `nbgrader_config.py`, its gradebook."""

import copy
import logging
import re
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from traitlets.config import Config, PyFileConfigLoader

from course import ROOT

if TYPE_CHECKING:
    from nbgrader.api import Gradebook
    from nbgrader.apps import NbGraderAPI


class Limits(NamedTuple):
    """Limits of one submission.

    call_seconds: of one cell and of one call of a function, submission_seconds: of the notebook,
    both without waiting for a core on a busy machine; memory_mb: beyond the memory of PyTorch and
    the course itself; processes: including threads; disk_mb: of files, in memory; output_kb: of a
    cell; notebook_mb: of the handed-in file.
    """

    call_seconds: float = 60
    submission_seconds: float = 600
    memory_mb: int = 4096
    processes: int = 64
    disk_mb: int = 64
    output_kb: int = 200
    notebook_mb: int = 20


class CourseError(Exception):
    """An error that the instructor must correct; the message says how."""


class Course:
    """A course in the folder `root`, as `root/course/nbgrader_config.py` sets it.

    Raises CourseError if there is no such file.
    """

    def __init__(self, root: Path = ROOT) -> None:
        self.root = Path(root).resolve()
        folder = self.root / "course"
        if not (folder / "nbgrader_config.py").is_file():
            raise CourseError(
                f"{self.root}: no course is here, as course/nbgrader_config.py is missing. "
                "Give the folder that holds solutions/ and course/ with --root."
            )
        self.config = PyFileConfigLoader("nbgrader_config.py", str(folder)).load_config()

    def elsewhere(self, folder: Path) -> "Course":
        """The same sources, but releases and a gradebook of their own in another folder."""
        other = copy.copy(self)
        other.config = copy.deepcopy(self.config)
        other.config.CourseDirectory.release_directory = str(folder / "release")
        other.config.CourseDirectory.db_url = f"sqlite:///{folder / 'gradebook.db'}"
        other.__dict__.pop("nbgrader", None)
        return other

    @property
    def db_url(self) -> str:
        """The gradebook's address, in SQLAlchemy's form."""
        return self.config.CourseDirectory.db_url

    @property
    def grading(self) -> Config:
        """The section `Grading` of the settings: term, limits, sandboxed."""
        return self.config.Grading

    def limits(self) -> Limits:
        """The limits of a submission: the defaults, changed by the settings."""
        return Limits(**self.grading.limits)

    def room(self, step: str) -> Path:
        """The folder of a step: "source", "release", "submitted", "autograded" or "feedback"."""
        return self.root / self.config.CourseDirectory[f"{step}_directory"]

    def assignments(self) -> list[str]:
        """The names of all assignments that have a source notebook."""
        return sorted(
            path.parent.name
            for path in self.room("source").glob("*/*.ipynb")
            if path.stem == path.parent.name
        )

    def chosen(self, name: str) -> list[str]:
        """The assignments that "all" or one name means. Raises CourseError for an unknown one."""
        known = self.assignments()
        if name == "all" and known:
            return known
        if name not in known:
            raise CourseError(
                f"{name}: no such assignment; {self.room('source')} has "
                f"{', '.join(known) or 'none'}. Give one of them or `all`."
            )
        return [name]

    def hand_in(self, assignment: str, student: str) -> Path:
        """The path of a student's notebook."""
        return self.room("submitted") / student / assignment / f"{assignment}.ipynb"

    def graded_copy(self, assignment: str, student: str) -> Path:
        """The path of a student's graded notebook, as the formgrader expects it."""
        return self.room("autograded") / student / assignment / f"{assignment}.ipynb"

    def students(self, assignment: str) -> list[str]:
        """All students with a hand-in for the assignment; a name that is no text is reported."""
        folders = self.room("submitted").glob(f"*/{assignment}")
        names = [folder.parent.name for folder in folders if folder.is_dir()]
        texts = [name for name in names if name == name.encode(errors="replace").decode()]
        for other in set(names) - set(texts):
            where = f"submitted/{printable(other)}"
            _report_once(f"{where} is left out: its name is not UTF-8; rename it")
        return sorted(name for name in texts if not name.startswith("."))

    def gradebook(self) -> "Gradebook":
        """A connection to the gradebook, which is created if necessary; close it after use.

        Raises CourseError if the database cannot be reached.
        """
        from nbgrader.api import Gradebook
        from sqlalchemy.engine import make_url
        from sqlalchemy.exc import ArgumentError, OperationalError

        _version_without_a_process()
        try:
            url = make_url(self.db_url)
            if url.get_backend_name() == "sqlite":  # the formgrader may be writing: wait for it
                url = url.update_query_dict({"timeout": "60"})
            return Gradebook(
                url.render_as_string(hide_password=False), self.config.CourseDirectory.course_id
            )
        except (ArgumentError, OperationalError, ImportError) as error:
            raise CourseError(
                f"the gradebook cannot be opened: {str(error).splitlines()[0]}. "
                "Its address comes from BERTLAB_GRADEBOOK or course/nbgrader_config.py."
            ) from error

    @cached_property
    def nbgrader(self) -> "NbGraderAPI":
        """nbgrader itself. Its methods return its log instead of printing it."""
        from nbgrader.apps import NbGraderAPI
        from traitlets.log import get_logger

        _version_without_a_process()
        log: Any = get_logger()
        log.handlers, log.propagate = [logging.NullHandler()], False
        return NbGraderAPI(config=self.config)


def said(result: dict) -> str:
    """What went wrong in an nbgrader command: its complaints and the exceptions, or its whole log.

    nbgrader's log indents what follows the first line of a message.
    """
    log = result.get("log", "").strip().replace("\n    ", "\n")
    error = result.get("error", "").strip()
    complaints = re.findall(r"^\[(?:ERROR|CRITICAL)\] (?!Traceback)(.+)", log, re.M)
    trace = r"Traceback \(most recent call last\):\n(?:[ \t].*\n)*(\S.*)"
    lines = [*complaints, *re.findall(trace, f"{log}\n{error}")]
    useless = ("above traceback", "There was an error processing assignment")
    kept = [line for line in lines if not any(words in line for words in useless)]
    return "\n".join(dict.fromkeys(kept)) or log or error


@cache
def _report_once(line: str) -> None:
    print(line, file=sys.stderr)


def printable(text: str) -> str:
    r"""The text with escaped control characters, so that the terminal does not execute them.

    >>> printable("ada\x1b[2J")
    'ada\\u001b[2J'
    """
    return "".join(one if one.isprintable() else f"\\u{ord(one):04x}" for one in text)


def named(names: Iterable[str], most: int | None = 20, between: str = ", ") -> str:
    """The names in a line: the first `most`, or all, and the number of the others.

    >>> named(["ada", "ben", "cy"], most=2)
    'ada, ben and 1 more'
    """
    names = [printable(name) for name in names]
    more = len(names) - len(names[:most])
    return between.join(names[:most]) + (f" and {more} more" if more else "")


def utc_moment(text: str) -> datetime:
    """A time as in nbgrader, in UTC without a zone. Raises ValueError if it has no zone.

    >>> utc_moment("2026-12-01T23:59+01:00")
    datetime.datetime(2026, 12, 1, 22, 59)
    """
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError(f"{text} has no zone")
    return moment.astimezone(UTC).replace(tzinfo=None)


def _version_without_a_process() -> None:
    """Let nbgrader look up the version of its tables in this process.

    For every gradebook that it creates, it would start the command `alembic`, which imports
    nbgrader again, for the same result.
    """
    from nbgrader import api

    api.get_alembic_version = _version_of_tables


def _version_of_tables() -> str | None:
    """The output of `alembic heads` for nbgrader's migrations."""
    from alembic.script import ScriptDirectory
    from nbgrader.dbutil import ALEMBIC_DIR

    return ScriptDirectory(ALEMBIC_DIR).get_current_head()
