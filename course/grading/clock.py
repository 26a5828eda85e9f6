"""How long a submission works: by the clock, without the time in which others had its core."""

import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from course.grading.memory import PROC, student_processes
from course.settings import Limits

GRAIN = 0.5  # seconds of waiting that are looked at
BACKSTOP = 5  # by the clock nothing lasts longer than this many times its limit


class Clock:
    """The seconds of a submission, of its tests and of the student's process together.

    On a busy machine both may stand in line for a core, which is nobody's fault and is not counted.
    Who has started other processes or threads waits for them, and that is counted.
    """

    def __init__(self, limits: Limits, sandbox_pid: int) -> None:
        self.limits, self.sandbox_pid, self.began = limits, sandbox_pid, time.monotonic()
        self.student = 0
        self.seen = self.spared = 0.0
        self.disturbed = False  # late, though it had not even a fifth of a core until then

    def follow(self) -> None:
        """A new student's process has started."""
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
        """A function that gives what is left of so many seconds from now."""
        end = self.now() + seconds
        return lambda: end - self.now()

    def late(self, seconds: float = 0) -> str:
        """Note and say what was exceeded; seconds: of the call, as the notebook's end left it."""
        by_the_clock = time.monotonic() - self.began
        self.disturbed |= by_the_clock - self.spared < by_the_clock / BACKSTOP
        if seconds < self.limits.call_seconds:
            return f"the {self.limits.submission_seconds:g} s of the whole notebook are used up"
        return f"stopped after {self.limits.call_seconds:g} s"

    def _waited(self) -> float:
        return seconds_waited(os.getpid()) + seconds_waited(self.student)


def seconds_waited(pid: int) -> float:
    """How long a process was ready to run and had no core; 0 where the system does not tell."""
    with suppress(OSError, ValueError, IndexError):
        return int((PROC / str(pid) / "schedstat").read_text().split()[1]) / 1e9
    return 0.0


def _is_alone(pids: list[int]) -> bool:
    """Whether there is nobody but who waits for the student's process, and that with one thread."""
    with suppress(OSError):
        return len(pids) == 2 and len(list(Path(PROC, str(pids[1]), "task").iterdir())) == 1
    return False
