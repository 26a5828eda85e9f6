"""The tests' process: it has the hidden tests, and calls the student's process.

Run as `python -m course.grading.testing FD`. It prepares an assignment once and forks for each
submission, so that submissions cannot affect each other.
"""

import ctypes
import importlib
import mmap
import os
import pickle
import resource
import select
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection

from course.collecting import opening
from course.grading.exam import Exam
from course.grading.grade_workers import CORE
from course.grading.inside.syscalls import address_space
from course.grading.memory import LOOK_SECONDS, Watch, step_aside, student_processes
from course.grading.orders import Broken, Graded, Order
from course.grading.room import Room
from course.grading.sandbox import Sandbox
from course.settings import Limits

OWN_MEMORY = 3 * 2**30  # bytes of address space beyond those at the start
PR_SET_PDEATHSIG = 1  # a child ends with this process, whoever ends it
VARIANT = "BERTLAB_VARIANT"  # read by `course.feedback.variants`


def serve(orders: Connection) -> None:
    """Prepare an assignment, then grade one submission after the other.

    Tests and students run on one core, as `CORE` says; this process watches from the others.
    """
    cores, core = set[int](), set[int]()
    if CORE in os.environ:
        cores, core = os.sched_getaffinity(0), {int(os.environ[CORE])}
        os.sched_setaffinity(0, core)
    assignment, limits, sandboxed = orders.recv()
    try:
        opening.start()
        sandbox = Sandbox(limits, sandboxed)
        room = Room(assignment)
        room.prepare()
        failed = sandbox.prepare(room.warm_cells())
        if failed:
            raise RuntimeError(f"given cells fail in the sandbox: {', '.join(failed)}")
    except Exception as error:
        orders.send((type(error).__name__, str(error)))
        return
    back = step_aside(cores, core)
    orders.send(None)
    try:
        while True:
            answer = _in_a_fork(room, sandbox, limits, orders.recv(), back)
            sandbox.stop()  # before the answer is sent: no student's process still runs
            orders.send(answer)
    except EOFError:
        return
    finally:
        sandbox.close()


def _in_a_fork(
    room: Room, sandbox: Sandbox, limits: Limits, order: Order, back: Callable[[], None]
) -> Graded | Broken:
    """Grade in a child of this process, which goes `back` to the students' core.

    This process then imports what a test has imported late, such as SymPy by `gradcheck`, so that
    the next child has it from the start.
    """
    reading, writing = os.pipe()
    running = mmap.mmap(-1, 1_000)  # the running test's id, written by the child

    def tell(id: str) -> None:
        running[:] = id.encode()[: len(running)].ljust(len(running), b"\0")

    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            back()
            os.environ[VARIANT] = order.seed
            _limit_memory()
            answer: Graded | Broken = Exam(room, sandbox, limits, order, tell).grade()
        except BaseException as error:
            answer = Broken(f"{type(error).__name__}: {error}")
        with os.fdopen(writing, "wb") as pipe:
            pickle.dump((answer, list(sys.modules)), pipe)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as result:
        watch = Watch(limits)
        while not select.select([result], [], [], LOOK_SECONDS)[0]:
            watch.look(student_processes(sandbox.process.pid))
        content = result.read()
    os.waitpid(child, 0)
    if not content:
        return Broken("the tests' process ended", running[:].rstrip(b"\0").decode())
    answer, imported = pickle.loads(content)  # noqa: S301 (ours)
    for name in imported:
        with suppress(Exception):  # some modules cannot be imported on their own
            importlib.import_module(name)
    return answer


def _limit_memory() -> None:
    """Limit memory, so that a huge answer fails its test instead of the machine."""
    most = address_space() + OWN_MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


if __name__ == "__main__":
    with Connection(int(sys.argv[1])) as orders:
        serve(orders)
    os._exit(0)  # by itself, a process with PyTorch takes a second to end
