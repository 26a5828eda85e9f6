"""Run one entry with one seed in the sandbox, within its budget."""

import math
import threading
from pathlib import Path
from types import TracebackType
from typing import Any

from bertlab.data.fetching import cache_folder
from course.grading.errors import Stopped
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
from course.project.entries import opened
from course.project.scoring import score
from course.project.texts import ProjectTexts
from course.settings import Limits

LATE, LATE_SECONDS = 0.02, 1  # allowed beyond a budget, share and seconds: last step, files
WALL, WALL_SECONDS = 10, 60  # times the budget, and seconds: for a busy machine, not for sleeping


class OverBudget(Exception):
    """A run that exceeded a limit; the message says which."""


def limits_of(seconds: float, limits: Limits) -> Limits:
    """The limits of a run with a budget of `seconds` of processor time."""
    wall = WALL * seconds + WALL_SECONDS
    return limits._replace(call_seconds=wall, submission_seconds=wall, processes=16)


def sandbox_of(limits: Limits, cells: list[dict], sandboxed: bool = True) -> Sandbox:
    """A sandbox without corpora and trained weights.

    cells: given ones, which entries cannot change. Raises RuntimeError if one of them fails.
    """
    sandbox = Sandbox(limits, sandboxed, hidden_folders())
    if failed := sandbox.prepare(cells):
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

    source: of the cell that defines `entry`; limits: those of the sandbox; seconds: the budget.
    """
    student = Student(sandbox, limits)
    student.start()
    with Meter(sandbox, limits, seconds) as meter:
        try:
            reply = student.run(source)
            if reply.error:
                return {"failed": one_line(f"its cell raised {reply.text}")}
            files = student.call("entry", (texts.given, seed, seconds), {}, None)
            meter.look()
        except Stopped as stopped:
            return {"failed": meter.why or one_line(str(stopped))}
        except Exception as error:
            return {"failed": one_line(f"it raised {type(error).__name__}: {error}")}
        finally:
            sandbox.stop()
    if meter.why:
        return {"failed": meter.why}
    try:
        return {"processor_seconds": meter.used, **numbers(files, texts)}
    except ValueError as error:
        return {"failed": one_line(str(error))}


def numbers(files: Any, texts: ProjectTexts) -> dict[str, Any]:
    """The score of some files, for JSON. Raises ValueError if they are not an entry's."""
    found = score(*opened(files), texts)
    if not math.isfinite(found.bits.per_byte):
        raise ValueError("its score is not a finite number")
    probes = {name: probe.accuracy for name, probe in found.probes.items()}
    majority = {name: probe.majority for name, probe in found.probes.items()}
    return {
        "bits_per_byte": found.bits.per_byte,
        "bits": found.bits._asdict(),
        "probes": probes,
        "majority": majority,
        "parameters": found.parameters,
    }


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
            self.look()

    def look(self) -> None:
        """Record the processor time; end the processes if it, or their memory, is too much."""
        pids = student_processes(self.pid)
        self.used = max(self.used, processor_seconds(pids, self.group) - self.before)
        if self.used > self.seconds * (1 + LATE) + LATE_SECONDS:
            self.why = self.why or f"more than its {self.seconds:g} s of processor time"
            kill(pids)
        elif self.watch.look(pids):
            self.why = self.why or f"more than {self.limits.memory_mb:,} MB of memory"
