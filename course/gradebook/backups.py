"""A copy of the gradebook before each change, and only one grading run at a time."""

import getpass
import os
import shutil
import socket
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout
from sqlalchemy import text
from sqlalchemy.engine import URL, make_url

from bertlab._files import write_atomically
from course.settings import Course, CourseError

KEPT = 20  # backups; the oldest are deleted
LOCK = 0x62657274  # the number of our lock in a database of PostgreSQL
HOLDER = """
    select application_name from pg_stat_activity join pg_locks using (pid)
    where locktype = 'advisory' and granted and pg_locks.objid = :key
    and pg_locks.database = (select oid from pg_database where datname = current_database())
"""


def back_up(course: Course) -> Path | None:
    """Copy the gradebook into `backups/` and return the copy; None if there is no gradebook yet.

    Uses SQLite's own backup, or PostgreSQL's pg_dump. Raises CourseError if that is impossible.
    """
    url = make_url(course.db_url)
    folder = course.root / "backups"
    name = f"gradebook-{datetime.now(UTC):%Y%m%dT%H%M%S.%fZ}"
    if url.get_backend_name() == "sqlite":
        source: Any = Path(url.database or "")
        if not source.is_file():
            return None
        copy = folder / f"{name}.db"
        command: Callable[[Any, Path], None] = _copy_sqlite
    elif url.get_backend_name() == "postgresql":
        source, copy, command = url, folder / f"{name}.dump", _copy_postgresql
    else:
        raise CourseError(
            f"no backup of a {url.get_backend_name()} gradebook can be made here; make one "
            "yourself, then give --no-backup"
        )
    folder.mkdir(exist_ok=True)
    unfinished = folder / f".{copy.name}"
    try:
        command(source, unfinished)
        unfinished.rename(copy)
    finally:
        unfinished.unlink(missing_ok=True)
    for old in sorted(folder.glob(f"gradebook-*{copy.suffix}"))[:-KEPT]:
        old.unlink()
    return copy


def _copy_sqlite(source: Path, copy: Path) -> None:
    with closing(sqlite3.connect(source)) as live, closing(sqlite3.connect(copy)) as backup:
        live.backup(backup)


def _copy_postgresql(source: URL, copy: Path) -> None:
    program = shutil.which("pg_dump")
    if program is None:
        raise CourseError(
            "no backup: pg_dump is not on the path. Install PostgreSQL's client (Debian: "
            "`apt install postgresql-client`), or make a backup yourself and give --no-backup."
        )
    # The password is in the environment: everybody can read a command line.
    address = source.set(drivername="postgresql", password=None).render_as_string()
    password = {} if source.password is None else {"PGPASSWORD": str(source.password)}
    done = subprocess.run(
        [program, "--format=custom", f"--file={copy}", f"--dbname={address}"],
        env=os.environ | password,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise CourseError(
            f"no backup: {done.stderr.strip()}\nMake one yourself, then give --no-backup."
        )


def this_process() -> str:
    """Who holds a lock: this process, its user and its machine."""
    return f"process {os.getpid()} of {getpass.getuser()} on {socket.gethostname()}"


@contextmanager
def only_one(course: Course, who: str) -> Iterator[None]:
    """Hold the course's lock. Raises CourseError, which names the holder, if it is taken.

    The lock ends with the process that holds it, even after `kill -9`; the note beside it does
    not, so only the lock counts. Machines that share a gradebook in PostgreSQL need not share the
    folder: they also share a lock in the database.
    """
    folder = course.room("autograded")
    folder.mkdir(exist_ok=True)
    note = folder / ".grading.who"
    lock = FileLock(folder / ".grading.lock", timeout=0)
    try:
        lock.acquire()
    except Timeout:
        raise _taken(note.read_text(encoding="utf-8") if note.exists() else None) from None
    try:
        write_atomically(note, who)
        with _only_one_in_database(course, who):
            yield
    finally:
        lock.release()


@contextmanager
def _only_one_in_database(course: Course, who: str) -> Iterator[None]:
    """PostgreSQL's advisory lock: it ends with the connection. A file in SQLite needs none."""
    if make_url(course.db_url).get_backend_name() != "postgresql":
        yield
        return
    with closing(course.gradebook()) as book, book.engine.connect() as connection:
        connection.execution_options(isolation_level="AUTOCOMMIT")
        connection.execute(text("select set_config('application_name', :who, false)"), {"who": who})
        if not connection.scalar(text("select pg_try_advisory_lock(:key)"), {"key": LOCK}):
            raise _taken(connection.scalar(text(HOLDER), {"key": LOCK}))
        yield


def _taken(holder: str | None) -> CourseError:
    return CourseError(
        f"a grading run is under way: {holder or 'somebody'}. Wait until it is done."
    )
