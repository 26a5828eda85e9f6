"""Grade submissions in parallel with Dask: one process per core here, or a cluster.

Each worker has one Grader per assignment and uses it for one submission after the other. If a
worker dies, Dask starts another one and its submission is graded again; a submission that kills
several workers is abandoned and reported.
"""

import logging
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

from course.grading.fingerprints import Task
from course.settings import CourseError

if TYPE_CHECKING:
    from distributed import Client, Future, Worker, WorkerPlugin

    from course.gradebook.results import Result
    from course.grading.grader import Grader
    from course.settings import Limits

PATIENCE = 300  # seconds without any worker
CORE = "BERTLAB_CORE"  # environment variable of a worker: the core of tests and students
DEATHS = 2  # workers that one submission may kill before it is abandoned


class Setting(NamedTuple):
    """How a worker creates its Graders."""

    grader_class: "type[Grader]"
    limits: "Limits"
    sandboxed: bool


class Graders:
    """The Graders of one worker process."""

    def __init__(self) -> None:
        self._open: dict[tuple, Grader] = {}

    def grade(self, task: Task, setting: Setting) -> "Result":
        """Grade with the assignment's Grader; a failed one is closed and not used again."""
        # A worker of a cluster may have several threads, but a Grader supports only one.
        key = (task.root, task.assignment, setting, threading.get_ident())
        if key not in self._open:
            self._open[key] = self._start(task, setting)
        try:
            return self._open[key].grade(task.submission, task.seed)
        except BaseException:
            with suppress(Exception):  # the first error is reported
                self._open.pop(key).close()
            raise

    def close(self) -> None:
        """End all sandboxes."""
        while self._open:
            self._open.popitem()[1].close()

    @staticmethod
    def _start(task: Task, setting: Setting) -> "Grader":
        from course.grading.assignments import load_assignment

        assignment = load_assignment(task.root, task.assignment)
        return setting.grader_class(assignment, setting.limits, setting.sandboxed)


def _keeper() -> "WorkerPlugin":
    """The Dask plugin that holds a worker's Graders and closes them when the worker ends."""
    from distributed import WorkerPlugin

    class Keeper(WorkerPlugin):
        name = "bertlab-graders"

        def setup(self, worker: "Worker") -> None:  # noqa: ARG002 - Dask gives it by name
            self.graders = Graders()

        def teardown(self, worker: "Worker") -> None:  # noqa: ARG002
            self.graders.close()

    return Keeper()


def _own_core() -> "WorkerPlugin":
    """The Dask plugin that gives each worker's students their own core.

    So busy processes of one student take no time from others. The worker itself is not bound to a
    core, so that it can respond.
    """
    from distributed import WorkerPlugin

    class OwnCore(WorkerPlugin):
        name = "bertlab-core"

        def setup(self, worker: "Worker") -> None:
            if hasattr(os, "sched_getaffinity"):
                all_cores = sorted(os.sched_getaffinity(0))
                os.environ[CORE] = str(all_cores[int(worker.name) % len(all_cores)])

    return OwnCore()


def _grade(task: Task, setting: Setting) -> "Result":
    """The worker's task."""
    from distributed import get_worker

    keeper: Any = get_worker().plugins["bertlab-graders"]
    return keeper.graders.grade(task, setting)


@contextmanager
def cluster(workers: int, scheduler: str | None = None) -> "Iterator[Client]":
    """A Dask client: of a cluster on this machine, or of the one at `scheduler`.

    Raises CourseError if there is no scheduler at the address or it has no worker.
    """
    import dask
    from distributed import Client, LocalCluster

    with ExitStack() as stack:
        if scheduler is None:
            settings = {
                "distributed.scheduler.allowed-failures": DEATHS - 1,
                "distributed.comm.timeouts.connect": "60s",
                "distributed.worker.profile.enabled": False,  # a third of a worker's own time
            }
            stack.enter_context(dask.config.set(settings))
            # Whoever can connect to a Dask scheduler can run code as its owner, and all users of
            # this machine can reach its ports: security=True admits only our workers.
            address = stack.enter_context(
                LocalCluster(
                    n_workers=workers,
                    threads_per_worker=1,
                    memory_limit=0,  # the sandbox has its own limit
                    scheduler_kwargs={"dashboard": False, "dashboard_address": "127.0.0.1:0"},
                    security=True,
                    silence_logs=logging.CRITICAL,
                    local_directory=stack.enter_context(TemporaryDirectory(prefix="grading-")),
                )
            )
        else:
            address = scheduler
        try:
            client = stack.enter_context(Client(address, timeout="60s"))
            client.wait_for_workers(1, timeout=60)
        except (OSError, TimeoutError, ValueError) as error:
            raise CourseError(
                f"no Dask scheduler with workers at {scheduler}: {error}. Start them with "
                "`dask scheduler` and `dask worker ADDRESS`, or omit --scheduler."
            ) from error
        client.register_plugin(_keeper())
        if scheduler is None:
            client.register_plugin(_own_core())
        yield client


def grade_all(
    client: "Client", tasks: Iterable[Task], setting: Setting
) -> "Iterator[tuple[Task, Result | None, str]]":
    """Grade all tasks; yields each with its result, or with None and the reason.

    A worker gets one submission at a time, because Dask counts its death against all that wait
    there. Abandoned ones, or ones late on a busy machine, are tried again alone, so that no
    submission fails because of another.
    """
    suspects = []
    for task, future in _completed(client, tasks, setting, width=_width):
        if _neighbours_may_have_done_it(future):
            suspects.append(task)
        else:
            yield _outcome(task, future)
    for task, future in _completed(client, suspects, setting, width=lambda _client: 1):
        yield _outcome(task, future)


def _completed(
    client: "Client",
    tasks: Iterable[Task],
    setting: Setting,
    width: "Callable[[Client], int]",
) -> "Iterator[tuple[Task, Future]]":
    """Submit the tasks, `width(client)` at a time; yields each with its future when it is done."""
    from distributed import wait

    waiting, alone_since = iter(tasks), None
    running: dict[Future, Task] = {}
    while True:
        free = max(width(client), 1) - len(running)
        for _, task in zip(range(free), waiting, strict=False):
            running[client.submit(_grade, task, setting, pure=False)] = task
        if not running:
            return
        try:
            done = wait(list(running), timeout=10, return_when="FIRST_COMPLETED").done
        except TimeoutError:
            if _width(client):
                alone_since = None
            elif (alone_since := alone_since or time.monotonic()) < time.monotonic() - PATIENCE:
                raise CourseError(
                    f"no worker for {PATIENCE} s; start some and run the same command, which "
                    "continues from here"
                ) from None
            continue
        for future in done:
            yield running.pop(future), future


def _neighbours_may_have_done_it(future: "Future") -> bool:
    from distributed import KilledWorker

    if future.status == "finished":
        return future.result().disturbed
    return future.status == "error" and isinstance(future.exception(), KilledWorker)


def _outcome(task: Task, future: "Future") -> "tuple[Task, Result | None, str]":
    from distributed import KilledWorker

    if future.status == "finished":
        return task, future.result(), ""
    error = future.exception() if future.status == "error" else "it was cancelled"
    if isinstance(error, KilledWorker):
        return task, None, "it ended every process that graded it, alone, too"
    return task, None, f"{type(error).__name__}: {error}"


def _width(client: "Client") -> int:
    """How many submissions can be graded at once; a cluster may grow and shrink."""
    return sum(worker["nthreads"] for worker in client.scheduler_info(-1)["workers"].values())


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
