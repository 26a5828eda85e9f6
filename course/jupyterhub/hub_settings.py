"""The class server's settings, read from one TOML file and checked before anything starts."""

import os
import re
import tomllib
from dataclasses import dataclass, field, fields
from pathlib import Path

COURSE = "bertlab"  # the course's name: for nbgrader, for the Hub's service, for the Unix account
PLACE = Path(os.environ.get("BERTLAB_HUB_SETTINGS", "/etc/bertlab/hub.toml"))
NAME = re.compile(r"[a-z_][a-z0-9_-]{0,30}")


class SettingsError(Exception):
    """An error in the settings; the message says where it is and how to correct it."""


@dataclass(frozen=True)
class Server:
    """The Hub's address, and how it starts users' servers."""

    address: str = "http://127.0.0.1:8000"
    spawner: str = "systemd"  # or "local"
    idle_minutes: int = 60
    open_servers: int = 100

    def __post_init__(self) -> None:
        if self.spawner not in ("systemd", "local"):
            raise SettingsError(f'server.spawner: "systemd" or "local"; got {self.spawner!r}')


@dataclass(frozen=True)
class Limits:
    """Limits per person."""

    memory_gb: float = 4
    cpus: float = 2
    processes: int = 400  # including threads

    def __post_init__(self) -> None:
        for name in ("memory_gb", "cpus", "processes"):
            if getattr(self, name) <= 0:
                raise SettingsError(f"limits.{name}: more than 0; got {getattr(self, name)}")


@dataclass(frozen=True)
class Folders:
    """Folders on the server."""

    course: Path = Path("/srv/bertlab/course")
    exchange: Path = Path("/srv/bertlab/exchange")
    shared: Path = Path("/opt/bertlab/shared")
    state: Path = Path("/var/lib/bertlab-hub")

    def __post_init__(self) -> None:
        for entry in fields(self):
            path = Path(getattr(self, entry.name))
            if not path.is_absolute():
                raise SettingsError(f"folders.{entry.name}: a path from /; got {path}")
            object.__setattr__(self, entry.name, path)


@dataclass(frozen=True)
class Settings:
    """All settings. Raises SettingsError if a name cannot be an account's, or occurs twice."""

    instructors: tuple[str, ...]
    students: tuple[str, ...]
    admins: tuple[str, ...] = ()
    server: Server = field(default_factory=Server)
    limits: Limits = field(default_factory=Limits)
    folders: Folders = field(default_factory=Folders)

    def __post_init__(self) -> None:
        for name in self.people:
            if not NAME.fullmatch(name) or name in (COURSE, "root"):
                raise SettingsError(
                    f"{name!r} cannot be an account: lower-case letters, digits, - and _, not "
                    f"a digit first, at most 31, and neither {COURSE!r} nor 'root'"
                )
        if both := set(self.instructors) & set(self.students):
            raise SettingsError(f"instructor and student at once: {', '.join(sorted(both))}")
        if not self.instructors:
            raise SettingsError("instructors: at least one; got none")

    @property
    def people(self) -> tuple[str, ...]:
        """Everybody who may log in."""
        return tuple(dict.fromkeys((*self.instructors, *self.students, *self.admins)))


def read_settings(place: Path = PLACE) -> Settings:
    """The settings of a file. Raises SettingsError if it is missing, damaged or has odd keys."""
    try:
        table = tomllib.loads(Path(place).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise SettingsError(f"{place} is missing: copy hub.example.toml there") from None
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{place}: {error}") from error
    students = [*table.pop("students", []), *_listed(table.pop("students_file", None))]
    try:
        return Settings(
            instructors=tuple(table.pop("instructors", [])),
            students=tuple(students),
            admins=tuple(table.pop("admins", [])),
            server=Server(**table.pop("server", {})),
            limits=Limits(**table.pop("limits", {})),
            folders=Folders(**table.pop("folders", {})),
            **table,
        )
    except TypeError as error:  # an unknown name, which Python's message gives
        raise SettingsError(f"{place}: {str(error).split('__init__() ')[-1]}") from error


def _listed(place: str | None) -> list[str]:
    """The names in a file, one per line, without empty lines and # comments."""
    if place is None:
        return []
    try:
        lines = Path(place).read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise SettingsError(f"students_file: {error}") from error
    return [name for line in lines if (name := line.split("#")[0].strip())]
