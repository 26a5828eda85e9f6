"""A submission's time: wall-clock time without waiting for a core."""

import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from course.grading.memory import PROC, student_processes
from course.settings import Limits

GRAIN = 0.5  # resolution of waiting times, in seconds
BACKSTOP = 5  # in wall-clock time, nothing lasts longer than this many times its limit


class Clock:
    """The seconds of a submission, of its tests and of the student's process together.

    On a busy machine both may wait for a core; that is not the student's fault and is not counted.
    Waiting for the student's own other processes or threads is counted.
    """

    def __init__(self, limits: Limits, sandbox_pid: int) -> None:
        self.limits, self.sandbox_pid, self.began = limits, sandbox_pid, time.monotonic()
        self.student = 0
        self.seen = self.spared = 0.0
        self.disturbed = False  # late, with less than a fifth of a core until then

    def follow(self) -> None:
        """Follow a new student's process."""
        _, self.student, *_ = [*student_processes(self.sandbox_pid), 0, 0]
        self.seen = self._waited()

    def now(self) -> float:
        """Seconds since the start."""
        if (waited := self._waited()) > self.seen + GRAIN:
            if _is_alone(student_processes(self.sandbox_pid)):
                self.spared += waited - self.seen
            self.seen = waited
        seconds = time.monotonic() - self.began
        return max(seconds - self.spared, seconds / BACKSTOP)

    def left(self) -> float:
        """Seconds that the notebook may still take."""
        return self.limits.submission_seconds - self.now()

    def countdown(self, seconds: float) -> Callable[[], float]:
        """A function that gives the rest of `seconds` from now."""
        end = self.now() + seconds
        return lambda: end - self.now()

    def late(self, seconds: float = 0) -> str:
        """Record and describe what was exceeded; seconds: of the call, limited by the notebook."""
        by_the_clock = time.monotonic() - self.began
        self.disturbed |= by_the_clock - self.spared < by_the_clock / BACKSTOP
        if seconds < self.limits.call_seconds:
            return f"the {self.limits.submission_seconds:g} s of the whole notebook are used up"
        return f"stopped after {self.limits.call_seconds:g} s"

    def _waited(self) -> float:
        return seconds_waited(os.getpid()) + seconds_waited(self.student)


def seconds_waited(pid: int) -> float:
    """How long a process was ready to run without a core; 0 if the system does not report it."""
    with suppress(OSError, ValueError, IndexError):
        return int((PROC / str(pid) / "schedstat").read_text().split()[1]) / 1e9
    return 0.0


def _is_alone(pids: list[int]) -> bool:
    """Whether only the student's process and its waiting parent exist, with one thread each."""
    with suppress(OSError):
        return len(pids) == 2 and len(list(Path(PROC, str(pids[1]), "task").iterdir())) == 1
    return False
