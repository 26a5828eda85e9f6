"""Files of hand-ins from a folder or a zip file, read defensively because they are untrusted.

Nothing is ever unpacked to a path from the zip file; its names are only matched.
"""

import os
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from course.settings import CourseError

MB = 1_000_000
FILE_MB, TOTAL_MB, FILES = 20, 4_000, 50_000  # limits of one download


class Refused(Exception):
    """A rejected file; the message gives the reason."""


class HandIn(NamedTuple):
    """A file under its name in the download, with `/` between folders; `read` may raise Refused."""

    name: str
    time: datetime | None  # UTC, without a zone
    read: Callable[[], bytes]


@contextmanager
def files_in(source: Path) -> Iterator[list[HandIn]]:
    """All files of a folder or of a zip file, sorted by name, to be read inside a `with`.

    Raises CourseError if the source is neither, or has more than a class could hand in.
    """
    if source.is_dir():
        yield list(_folder(source))
    elif zipfile.is_zipfile(source):
        with zipfile.ZipFile(source) as archive:
            yield list(_members(archive, source))
    else:
        raise CourseError(f"--from {source}: give a folder or a zip file with the hand-ins")


def checked(name: str) -> str:
    """The name, if it is a relative path of plain parts. Raises Refused."""
    path = PurePosixPath(name)
    if "\\" in name or ".." in path.parts or path.is_absolute() or name[1:2] == ":":
        raise Refused("a path that leads elsewhere")
    return name


def _folder(source: Path) -> Iterator[HandIn]:
    count = 0
    for folder, folders, files in os.walk(source):  # does not follow links
        folders.sort()
        for name in sorted(files + [one for one in folders if (Path(folder) / one).is_symlink()]):
            count += 1
            if count > FILES:
                raise CourseError(f"--from {source}: more than {FILES} files")
            path = Path(folder) / name
            time = datetime.fromtimestamp(path.lstat().st_mtime, UTC).replace(tzinfo=None)
            within = path.relative_to(source).as_posix()
            yield HandIn(within, time.replace(microsecond=0), partial(read_plain, path))


def read_plain(path: Path) -> bytes:
    """The content of a plain file; a link is not followed. Raises Refused."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        descriptor = os.open(path, flags)
    except OSError:
        raise Refused("a link, or unreadable") from None
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise Refused("not a plain file")
        return _limited(file.read(FILE_MB * MB + 1))


def _limited(content: bytes) -> bytes:
    if len(content) > FILE_MB * MB:
        raise Refused(f"larger than {FILE_MB} MB")
    return content


def _members(archive: zipfile.ZipFile, source: Path) -> Iterator[HandIn]:
    members = [member for member in archive.infolist() if not member.is_dir()]
    total = sum(member.file_size for member in members)
    if len(members) > FILES or total > TOTAL_MB * MB:
        raise CourseError(
            f"--from {source}: {len(members)} files of {total / MB:.0f} MB unpacked; at most "
            f"{FILES} files and {TOTAL_MB} MB are taken: unpack it yourself if that is right"
        )
    for member in sorted(members, key=lambda member: member.filename):
        # A zip file has local times without a zone: we assume this machine's zone.
        try:
            time = datetime(*member.date_time).astimezone(UTC).replace(tzinfo=None)
        except (ValueError, OverflowError, OSError):
            time = None
        yield HandIn(member.filename, time, partial(_member, archive, member))


def _member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """Unpack at most the allowed size, whatever size the zip file declares."""
    kind = stat.S_IFMT(member.external_attr >> 16)
    if kind not in (0, stat.S_IFREG):
        raise Refused("a link, not a file")
    try:
        with archive.open(member) as file:
            return _limited(file.read(FILE_MB * MB + 1))
    except (zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError, EOFError) as error:
        raise Refused(f"cannot be unpacked: {error}") from error
