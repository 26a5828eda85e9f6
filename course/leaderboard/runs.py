"""Run and score one entry with one seed in the sandbox, within its budget."""

import resource
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

from bertlab.data.fetching import cache_folder
from course.grading.errors import Stopped
from course.grading.inside.syscalls import address_space
from course.grading.memory import (
    LOOK_SECONDS,
    Watch,
    kill,
    processor_seconds,
    step_aside,
    student_processes,
)
from course.grading.outputs import one_line
from course.grading.remote import Student
from course.grading.sandbox import LIBRARY, Sandbox
from course.grading.testing import OWN_MEMORY
from course.project.entries import SCORE_SECONDS, check_files
from course.project.texts import ProjectTexts
from course.settings import Limits

LATE, LATE_SECONDS = 0.02, 1  # allowed beyond a budget, share and seconds: last step, files
WALL, WALL_SECONDS = 3, 60  # times the budget, and seconds: for a busy machine, not for sleeping
SCORING = "from course.project.scoring import numbers as _numbers"  # a cell of the sandbox


class Failed(Exception):
    """Why an entry has no score."""


def limits_of(seconds: float, limits: Limits) -> Limits:
    """The limits of a process with a budget of `seconds` of processor time."""
    wall = WALL * seconds + WALL_SECONDS
    return limits._replace(call_seconds=wall, submission_seconds=2 * wall, processes=16)


def sandbox_of(
    limits: Limits, seconds: float, cells: list[dict], sandboxed: bool = True
) -> Sandbox:
    """A sandbox without corpora and trained weights, for budgets of `seconds`.

    cells: given ones, which entries cannot change. Raises RuntimeError if one of them fails.
    """
    longest = limits_of(max(seconds, SCORE_SECONDS), limits)
    sandbox = Sandbox(longest, sandboxed, hidden_folders())
    if failed := sandbox.prepare([*cells, {"id": "scoring", "source": SCORING}]):
        sandbox.close()
        raise RuntimeError(f"given cells fail in the sandbox: {', '.join(failed)}")
    return sandbox


def hidden_folders() -> list[Path]:
    """Folders on this machine with hidden text, or with models trained on it."""
    folders = [cache_folder(), LIBRARY / "weights"]
    try:
        import gensim  # contains Wikipedia and the news articles, for its own tests
    except ImportError:
        return folders
    return [*folders, Path(gensim.__file__).parent / "test" / "test_data"]


def run(
    sandbox: Sandbox, limits: Limits, source: str, texts: ProjectTexts, seed: int, seconds: float
) -> dict[str, Any]:
    """The result of an entry: its numbers and the processor time, or {"failed": why}.

    source: of the cell that defines `entry`; limits: of the course; seconds: the budget. Training
    and scoring have a process each: where an entry's code runs, there is no hidden text, and where
    the hidden text is, only our code runs.
    """

    def trained(student: Student) -> Any:
        reply = student.run(source)
        if reply.error:
            raise Failed(f"its cell raised {reply.text}")
        try:
            return student.call("entry", (texts.given, seed, seconds), {}, None)
        except Exception as error:
            raise Failed(f"it raised {type(error).__name__}: {error}") from None

    def scored(student: Student) -> Any:
        try:
            return student.call("_numbers", (files, texts._replace(given=[])), {}, None)
        except Exception as error:
            why = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
            raise Failed(f"{why}{error}") from None

    scoring = ""
    try:
        files, used = measured(sandbox, limits, seconds, trained)
        check_files(files)
        scoring = "not scored: "
        found, _ = measured(sandbox, limits, SCORE_SECONDS, scored)
    except (Failed, ValueError) as error:
        return {"failed": one_line(f"{scoring}{error}")}
    return {"processor_seconds": used, **found}


def measured(
    sandbox: Sandbox, limits: Limits, seconds: float, work: Callable[[Student], Any]
) -> tuple[Any, float]:
    """What `work` returns of a new process in the sandbox, and its seconds of processor time.

    Raises Failed if it exceeds a limit, or ends by itself.
    """
    student = Student(sandbox, limits_of(seconds, limits))
    student.start()
    with Meter(sandbox, limits, seconds) as meter:
        try:
            with _bounded():
                answer = work(student)
            meter.check()
        except (Stopped, Failed) as error:
            raise Failed(meter.why or str(error)) from None
        finally:
            sandbox.stop()
    if meter.why:
        raise Failed(meter.why)
    return answer, meter.used


@contextmanager
def _bounded() -> Iterator[None]:
    """Limit this process's memory: an answer of some megabytes may be a list of many objects."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (address_space() + OWN_MEMORY, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


class Meter:
    """Measures a student's processes while they run, and ends them if they exceed a limit.

    It measures from outside, by the system's own count: what the code reports about itself does not
    matter. Threads and processes that an entry starts count as well. used: seconds of processor
    time; why: the reason if it had to end them.
    """

    def __init__(self, sandbox: Sandbox, limits: Limits, seconds: float) -> None:
        self.pid, self.limits, self.seconds = sandbox.process.pid, limits, seconds
        self.group, self.watch = sandbox.group, Watch(limits)
        self.before = processor_seconds([], self.group) if self.group else 0.0
        self.used, self.why = 0.0, ""
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> "Meter":
        self.thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.ended.set()
        self.thread.join()

    def _watch(self) -> None:
        step_aside(set(), set())
        while not self.ended.wait(LOOK_SECONDS):
            self.check()

    def check(self) -> None:
        """`look`; what cannot be measured is ended, since nothing would limit it."""
        try:
            self.look()
        except Exception as error:
            self.why = self.why or f"its processes cannot be measured ({type(error).__name__})"
            kill(student_processes(self.pid))

    def look(self) -> None:
        """Record the processor time; end the processes if it, or their memory, is too much."""
        pids = student_processes(self.pid)
        self.used = max(self.used, processor_seconds(pids, self.group) - self.before)
        if self.used > self.seconds * (1 + LATE) + LATE_SECONDS:
            self.why = self.why or f"more than its {self.seconds:g} s of processor time"
            kill(pids)
        elif self.watch.look(pids):
            self.why = self.why or f"more than {self.limits.memory_mb:,} MB of memory"
