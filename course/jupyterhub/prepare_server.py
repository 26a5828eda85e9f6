"""Turn a machine into the class server of hub.toml: accounts, folders, rights. Run it as root, and
again after each change of hub.toml or of the course; existing accounts and files are kept.

    /opt/bertlab/venv/bin/python /opt/bertlab/source/course/jupyterhub/prepare_server.py
"""

import os
import pwd
import secrets
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parent.parent
sys.path.insert(0, str(HERE))

from hub_settings import COURSE, Settings, SettingsError, read_settings  # noqa: E402

WORK = ("solutions", "exercises")  # edited by the instructors: never overwritten
PASSWORDS = "first_passwords.csv"


def main() -> int:
    """Do everything; 1 and a message if that is impossible."""
    try:
        if os.geteuid() != 0:
            raise SettingsError("creating accounts needs root's rights: run it with sudo")
        settings = read_settings()
        os.chmod(SOURCE, 0o700)  # the solutions are in it
        make_folder(settings.folders.state, 0o700)
        make_accounts(settings)
        make_course_folder(settings)
        make_exchange(settings)
        share(settings)
    except (SettingsError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    except subprocess.CalledProcessError as error:
        print(f"{error.cmd[0]} failed: {error.stderr.strip()}", file=sys.stderr)
        return 1
    print(
        f"{len(settings.students)} students, {len(settings.instructors)} instructors; "
        f"first passwords of new accounts: {settings.folders.state / PASSWORDS}"
    )
    return 0


def make_accounts(settings: Settings) -> None:
    """One account per person, its home closed to others; one for the course, without a password."""
    if not _exists(COURSE):
        folder = settings.folders.course
        _run("useradd", "--system", "--home-dir", folder, "--shell", "/bin/bash", COURSE)
    for name in settings.people:
        if not _exists(name):
            _run("useradd", "--create-home", "--shell", "/bin/bash", "-K", "HOME_MODE=0700", name)
            _set_first_password(settings, name)
        home = Path(pwd.getpwnam(name).pw_dir)
        if home.stat().st_mode & 0o077:
            os.chmod(home, 0o700)
            print(f"{home} was open to others: closed")


def make_course_folder(settings: Settings) -> None:
    """Solutions, exercises and the course's programs, only for the course's account."""
    folder = settings.folders.course
    make_folder(folder, 0o700, owner=COURSE)
    for name in WORK:
        if not (folder / name).exists():
            shutil.copytree(SOURCE / name, folder / name)
            _run("chown", "--recursive", f"{COURSE}:{COURSE}", folder / name)
    _renew(SOURCE / "course", folder / "course")
    _run("chown", "--recursive", f"{COURSE}:{COURSE}", folder / "course")


def make_exchange(settings: Settings) -> None:
    """nbgrader's exchange with sticky bits: nobody can remove or replace others' files.

    Submissions go into `inbound`, which only the course's account can list; nbgrader makes each
    name hard to guess.
    """
    exchange = settings.folders.exchange
    make_folder(exchange, 0o1777)  # nbgrader requires that all may write
    make_folder(exchange / COURSE, 0o755, owner=COURSE)
    make_folder(exchange / COURSE / "outbound", 0o755, owner=COURSE)
    make_folder(exchange / COURSE / "feedback", 0o711, owner=COURSE)
    make_folder(exchange / COURSE / "inbound", 0o3733, owner=COURSE)


def share(settings: Settings) -> None:
    """Files for everybody that only root can change; a link to the lectures in each home."""
    shared = settings.folders.shared
    make_folder(shared, 0o755)
    make_folder(shared / "data", 0o755)
    _renew(HERE / "jupyter", shared / "jupyter")
    _renew(SOURCE / "lectures", shared / "lectures")
    _run("chmod", "--recursive", "u=rwX,go=rX", shared / "jupyter", shared / "lectures")
    for name in settings.people:
        link = Path(pwd.getpwnam(name).pw_dir) / "lectures"
        if not link.is_symlink() and not link.exists():
            link.symlink_to(shared / "lectures")


def make_folder(path: Path, mode: int, owner: str = "root") -> None:
    """A folder with this owner and these rights, whatever the umask."""
    path.mkdir(parents=True, exist_ok=True)
    shutil.chown(path, owner, owner)
    os.chmod(path, mode)


def _set_first_password(settings: Settings, name: str) -> None:
    password = secrets.token_urlsafe(9)
    _run("chpasswd", text=f"{name}:{password}\n")
    place = settings.folders.state / PASSWORDS
    descriptor = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    with os.fdopen(descriptor, "a") as file:
        file.write(f"{name},{password}\n")


def _renew(source: Path, target: Path) -> None:
    """Replace a folder of programs or pages by a fresh copy."""
    fresh = target.with_name(f".{target.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    shutil.copytree(source, fresh, ignore=shutil.ignore_patterns("__pycache__", "*.checkpoints"))
    if target.exists():
        shutil.rmtree(target)
    fresh.rename(target)


def _exists(name: str) -> bool:
    try:
        pwd.getpwnam(name)
    except KeyError:
        return False
    return True


def _run(*command: object, text: str | None = None) -> None:
    words = [str(word) for word in command]
    subprocess.run(words, input=text, text=True, check=True, capture_output=True)


if __name__ == "__main__":
    sys.exit(main())
