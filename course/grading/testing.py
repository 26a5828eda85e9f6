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
from contextlib import suppress
from multiprocessing.connection import Connection

from course.collecting import opening
from course.grading.exam import Exam
from course.grading.grade_workers import CORE
from course.grading.memory import kill, megabytes_of, student_processes
from course.grading.orders import Broken, Graded, Order
from course.grading.room import Room
from course.grading.sandbox import Sandbox
from course.settings import Limits

OWN_MEMORY = 3 * 2**30  # bytes of address space beyond those at the start
MEMORY_SECONDS = 0.25  # between two measurements of a student's processes
START_MB = 1024  # their memory at the start: Python, PyTorch, the library
PR_SET_PDEATHSIG = 1  # a child ends with this process, whoever ends it
VARIANT = "BERTLAB_VARIANT"  # read by `course.feedback.variants`


def serve(orders: Connection) -> None:
    """Prepare an assignment, then grade one submission after the other."""
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
    orders.send(None)
    try:
        while True:
            answer = _in_a_fork(room, sandbox, limits, orders.recv())
            sandbox.stop()  # before the answer is sent: no student's process still runs
            orders.send(answer)
    except EOFError:
        return
    finally:
        sandbox.close()


def _in_a_fork(room: Room, sandbox: Sandbox, limits: Limits, order: Order) -> Graded | Broken:
    """Grade in a child of this process.

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
        while not select.select([result], [], [], MEMORY_SECONDS)[0]:
            pids = student_processes(sandbox.process.pid)
            if megabytes_of(pids) > limits.memory_mb + START_MB:
                kill(pids)
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
    with open("/proc/self/statm") as file:
        now = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + OWN_MEMORY, now + OWN_MEMORY))


if __name__ == "__main__":
    if CORE in os.environ:
        os.sched_setaffinity(0, {int(os.environ[CORE])})
    with Connection(int(sys.argv[1])) as orders:
        serve(orders)
