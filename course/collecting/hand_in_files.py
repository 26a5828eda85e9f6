"""Files of hand-ins from a folder or a zip file, read defensively because they are untrusted.

Nothing is ever unpacked to a path from the zip file; its names are only matched. A zip file inside
is read like a folder with its name.
"""

import io
import os
import stat
import unicodedata
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from course.collecting.opening import Refused
from course.settings import CourseError

MB = 1_000_000
FILE_MB, TOTAL_MB, FILES = 20, 4_000, 50_000  # limits of one download
INNER_ZIP_MB, INNER_MB, INNER_FILES, DEPTH = 200, 500, 5_000, 3  # of a zip file inside it
HEAD, NAME = b"PK\x01\x02", 46  # of a file in a zip file's list: how it begins, where its name is


class HandIn(NamedTuple):
    """A file under its name in the download; `read` may raise Refused.

    The name has `/` between folders, and letters in Unicode's composed form; macOS decomposes
    them. The name of an empty folder ends with `/`.
    """

    name: str
    read: Callable[[], bytes]


@contextmanager
def files_in(source: Path) -> Iterator[list[HandIn]]:
    """All files of a folder or of a zip file, sorted by name, to be read inside a `with`.

    Raises CourseError if the source is neither, or has more than a class could hand in.
    """

    @lru_cache(maxsize=DEPTH + 1)
    def opened(path: Path, inside: Sequence[int]) -> zipfile.ZipFile:
        """A zip file: its path on disk, and the number of the member inside it, and so on."""
        if not inside:
            return zipfile.ZipFile(_AnyNames(io.FileIO(path)))
        outer = opened(path, inside[:-1])
        content = _unpacked(outer, outer.infolist()[inside[-1]], INNER_ZIP_MB)
        return zipfile.ZipFile(_AnyNames(io.BytesIO(content)))

    try:
        if source.is_dir():
            files = list(_folder(opened, source))
        elif zipfile.is_zipfile(source):
            files = list(_members(opened, source, (), (FILES, TOTAL_MB)))
        else:
            raise CourseError(f"--from {source}: give a folder or a zip file with the hand-ins")
        if len(files) > FILES:
            raise CourseError(f"--from {source}: more than {FILES} files")
        yield files
    except zipfile.BadZipFile as error:
        raise CourseError(f"--from {source}: a broken zip file ({error})") from error
    except TooMuch as much:
        raise CourseError(f"--from {source}: {much}: unpack it yourself if that is right") from much
    finally:
        opened.cache_clear()


class _AnyNames(io.BufferedReader):
    """A zip file in which a name that says that it is UTF-8, but is not, is another one.

    zipfile would read nothing of the whole file.
    """

    def read(self, size: int | None = -1) -> bytes:
        """As usual, with the names of the list of all files corrected."""
        content = super().read(size)
        if not content.startswith(HEAD):
            return content
        found, at = bytearray(content), 0
        while found[at : at + 4] == HEAD and at + NAME <= len(found):
            lengths = [int.from_bytes(found[at + n : at + n + 2], "little") for n in (28, 30, 32)]
            try:
                found[at + NAME : at + NAME + lengths[0]].decode()
            except UnicodeDecodeError:
                found[at + 9] &= ~0x08  # the flag that says so
            at += NAME + sum(lengths)
        return bytes(found)


class TooMuch(Exception):
    """A zip file with more than a class, or a student, could hand in."""


def checked(name: str) -> str:
    """The name, if it is a relative path of plain parts. Raises Refused."""
    path = PurePosixPath(name)
    if "\\" in name or ".." in path.parts or path.is_absolute() or name[1:2] == ":":
        raise Refused("a path that leads elsewhere; unpack the download and rename the file")
    return name


def normal(path: str) -> str:
    """Unicode's composed form."""
    return unicodedata.normalize("NFC", path)


def _folder(opened: Callable, source: Path) -> Iterator[HandIn]:
    count = 0
    for folder, folders, files in os.walk(source):  # does not follow links
        folders.sort()
        here = Path(folder)
        if not folders and not files and here != source:
            yield HandIn(normal(here.relative_to(source).as_posix()) + "/", bytes)
        for name in sorted(files + [one for one in folders if (here / one).is_symlink()]):
            count += 1
            if count > FILES:
                raise CourseError(f"--from {source}: more than {FILES} files")
            within = normal((here / name).relative_to(source).as_posix())
            file = HandIn(within, partial(read_plain, here / name))
            plain = name.lower().endswith(".zip") and stat.S_ISREG((here / name).lstat().st_mode)
            yield from _inside(opened, here / name, (), file) if plain else (file,)


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
        return _limited(file.read(FILE_MB * MB + 1), FILE_MB)


def _limited(content: bytes, most_mb: int) -> bytes:
    if len(content) > most_mb * MB:
        raise Refused(f"larger than {most_mb} MB; ask for it with its outputs cleared")
    return content


def _inside(
    opened: Callable, path: Path, inside: tuple[int, ...], file: HandIn
) -> Iterator[HandIn]:
    """The files of a zip file that is itself a file of the download; itself if that is not
    possible: then it is seen as a broken archive.
    """
    try:
        most = (FILES, TOTAL_MB) if not inside else (INNER_FILES, INNER_MB)
        found = list(_members(opened, path, inside, most))
    except Exception:  # zipfile fails in many ways
        found = []
    yield from (one._replace(name=f"{file.name}/{one.name}") for one in found)
    if not found:
        yield file


def _members(
    opened: Callable, path: Path, inside: tuple[int, ...], most: tuple[int, int]
) -> Iterator[HandIn]:
    members = opened(path, inside).infolist()
    total = sum(member.file_size for member in members)
    if len(members) > most[0] or total > most[1] * MB:
        raise TooMuch(
            f"{len(members)} files of {total / MB:.0f} MB unpacked; at most {most[0]} files and "
            f"{most[1]} MB are taken"
        )
    names = _names(members)
    used = Counter(str(folder) for name in names for folder in PurePosixPath(name).parents)
    for number, name in sorted(enumerate(names), key=lambda one: one[1]):
        if name.endswith("/"):
            if not used[name.rstrip("/")]:
                yield HandIn(name, bytes)
            continue
        place = (*inside, number)
        file = HandIn(name, partial(_member, opened, path, place))
        deeper = name.lower().endswith(".zip") and len(place) < DEPTH
        yield from _inside(opened, path, place, file) if deeper else (file,)


def _names(members: Sequence[zipfile.ZipInfo]) -> list[str]:
    """The members' names. Windows' PowerShell 5 writes backslashes between folders."""
    names = [normal(_decoded(member)) for member in members]
    if not any("/" in name for name in names):
        names = [name.replace("\\", "/") for name in names]
    return names


def _decoded(member: zipfile.ZipInfo) -> str:
    """The name in the encoding that was meant.

    Without the flag for UTF-8 the format says cp437; but macOS writes UTF-8 there, and Windows its
    own code page. A wrong code page shows as signs and Greek letters in a name.
    """
    name = member.filename
    if member.flag_bits & 0x800 or name.isascii():
        return name
    try:
        raw = name.encode("cp437")
    except UnicodeEncodeError:  # from a field of its own
        return name
    for encoding in ("utf-8", "cp437", "cp1252"):
        text = raw.decode(encoding, errors="replace")
        others = [one for one in text if not one.isascii()]
        strange = [one for one in others if "LATIN" not in unicodedata.name(one, "")]
        if not strange or (encoding == "utf-8" and "\ufffd" not in text):
            return text
    return name


def _member(opened: Callable, path: Path, place: tuple[int, ...]) -> bytes:
    archive = opened(path, place[:-1])
    return _unpacked(archive, archive.infolist()[place[-1]], FILE_MB)


def _unpacked(archive: zipfile.ZipFile, member: zipfile.ZipInfo, most_mb: int) -> bytes:
    """Unpack at most the allowed size, whatever size the zip file declares."""
    kind = stat.S_IFMT(member.external_attr >> 16)
    if kind not in (0, stat.S_IFREG):
        raise Refused("a link, not a file")
    try:
        with archive.open(member) as file:
            return _limited(file.read(most_mb * MB + 1), most_mb)
    except Refused:
        raise
    except Exception as error:  # zipfile fails in many ways
        raise Refused(f"cannot be unpacked: {error}") from error
