"""Check that everything is installed that the course needs, with advice if not."""

import platform
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata

from packaging.requirements import Requirement

OLDEST_PYTHON = (3, 11)
INSTALL = "run `make lab`, or `pip install -c constraints.txt -e . -e ./course`, in its folder"


@dataclass(frozen=True)
class Finding:
    """One requirement of the course: whether it is met, and what to do if not."""

    name: str
    ok: bool
    found: str
    advice: str = ""

    def __str__(self) -> str:
        line = f"{'✓' if self.ok else '✗'} {self.name}: {self.found}"
        return line if self.ok else f"{line}\n  → {self.advice}"


@dataclass(frozen=True)
class Report:
    """All findings; missing ones are last, where you will see them."""

    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing is missing."""
        return all(finding.ok for finding in self.findings)

    def __str__(self) -> str:
        ordered = sorted(self.findings, key=lambda finding: not finding.ok)
        missing = sum(not finding.ok for finding in self.findings)
        last = f"{missing} missing: see the arrows." if missing else "Everything is here. Welcome."
        return "\n".join([*map(str, ordered), "", last])

    __repr__ = __str__


def environment() -> Report:
    """Check Python, the packages and the corpora; nothing is installed, fetched or changed."""
    once = dict.fromkeys(packages())  # a package that both distributions require is one line
    return Report((python_version(), *once, corpora()))


def python_version() -> Finding:
    """Python, compared with the oldest supported version."""
    wanted = ".".join(map(str, OLDEST_PYTHON))
    advice = f"install Python {wanted} or newer and start again with it"
    return Finding("Python", sys.version_info >= OLDEST_PYTHON, platform.python_version(), advice)


def packages(distribution: str = "bertlab-course", *extras: str) -> Iterator[Finding]:
    """Every required package of a distribution of ours and its extras, with its version."""
    for line in metadata.requires(distribution) or []:
        requirement = Requirement(line)
        if requirement.marker and not any(
            requirement.marker.evaluate({"extra": extra}) for extra in ("", *extras)
        ):
            continue
        if requirement.name == "bertlab":
            yield from packages(requirement.name, *requirement.extras)
            continue
        try:
            found = metadata.version(requirement.name)
        except metadata.PackageNotFoundError:
            yield Finding(requirement.name, False, "not installed", INSTALL)
            continue
        fits = requirement.specifier.contains(found, prereleases=True)
        wanted = "" if fits else f", needed {requirement.specifier}"
        yield Finding(requirement.name, fits, found + wanted, INSTALL)


def corpora() -> Finding:
    """The texts and weights of the group `core`, in the cache."""
    from bertlab import data

    missing = data.missing("core")
    found = "in the cache" if not missing else f"not in the cache: {', '.join(missing)}"
    command = "-m bertlab.data fetch core"
    advice = f"when online, run `python {command}` in a terminal, or `%run {command}` in a cell"
    return Finding("corpora and weights", not missing, found, advice)
