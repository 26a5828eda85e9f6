"""The answers of a synthetic class, and which tests each of them fails.

They come from `solutions/NAME/answers.txt`. There, a wrong solution with a diagnosis must fail its
visible test; one without must pass it and fail the hidden test. Here each is run once in the whole
notebook, to find which later tasks call it and fail with it, and whether the hidden test fails too.
"""

import ast
import contextlib
import io
import random
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import nbformat
from tqdm.auto import tqdm

from course import ROOT
from course.answers import answers_of
from course.grading.assignments import as_handed_in
from course.grading.cells import graded_code

OURS, OTHER, WRONG, UNWRITTEN = "ours", "another way", "wrong", "unwritten"
EACH = {OTHER: 1, WRONG: 3}  # answers of each kind that are tried per task
VARIANTS = ("rehearsal/1", "rehearsal/2")
SECONDS = 10  # processor time of one cell; slower mistakes are not handed in


class Unusable(Exception):
    """The rehearsal is impossible; the message says why."""


class TooSlow(BaseException):
    """The timeout; not an Exception, so that no solution catches it."""


class Answer(NamedTuple):
    """The content of a task's cell. `loses`: grade ids of the tests that fail because of it."""

    task: str
    kind: str
    name: str
    source: str
    calls: frozenset[str] = frozenset()  # tasks whose functions it or its tests mention
    loses: frozenset[str] = frozenset()
    diagnosed: bool = False  # a wrong one that the visible test must detect


class Task(NamedTuple):
    """A task and the answers that students may hand in."""

    name: str
    answers: tuple[Answer, ...]

    def of(self, kind: str) -> list[Answer]:
        """The answers of a kind."""
        return [answer for answer in self.answers if answer.kind == kind]

    def only(self, kind: str) -> Answer:
        """The one answer of a kind."""
        (answer,) = self.of(kind)
        return answer


def read_tasks(assignment: str, seed: int = 0, root: Path = ROOT) -> list[Task]:
    """The tasks of an assignment, each with our answer, an unwritten one, and some of the others.

    All wrong answers that pass the visible test are included: they are few, and the hidden tests
    are for them. Raises Unusable if the assignment has no `answers.txt`.
    """
    try:
        known = answers_of(assignment, root)
    except FileNotFoundError as missing:
        raise Unusable(str(missing)) from None
    source = nbformat.read(root / "solutions" / assignment / f"{assignment}.ipynb", as_version=4)
    release = nbformat.read(root / "exercises" / assignment / f"{assignment}.ipynb", as_version=4)
    stubs = {cell.id: cell.source for cell in release.cells}
    cells = [cell for cell in source.cells if _is_task(cell)]
    owner = {name: cell.id for cell in cells for name in _defined(cell.source)}
    tests = {cell.id: cell.source for cell in source.cells}
    rng, tasks = random.Random(seed), []
    for cell in cells:
        rows = [row for row in known.wrong if row.task == cell.id]
        chosen = [row for row in rows if not row.diagnosis]
        noticed = [row for row in rows if row.diagnosis]
        chosen += rng.sample(noticed, min(len(noticed), max(1, EACH[WRONG] - len(chosen))))
        ways = [row for row in known.right if row.task == cell.id]
        answers = [(OURS, "", as_handed_in(cell.source), False)]
        answers += [(UNWRITTEN, "", stubs[cell.id], False)]
        answers += [
            (OTHER, *row[1:], False) for row in rng.sample(ways, min(len(ways), EACH[OTHER]))
        ]
        answers += [(WRONG, *row[1:3], bool(row[3])) for row in chosen]
        tested = _calls("\n".join(tests[f"{kind}-{cell.id}"] for kind in ("test", "hidden")), owner)
        made = [
            Answer(
                cell.id, kind, name, text, (_calls(text, owner) | tested) - {cell.id}, diagnosed=d
            )
            for kind, name, text, d in answers
        ]
        tasks.append(Task(cell.id, tuple(made)))
    return tasks


def _is_task(cell: nbformat.NotebookNode) -> bool:
    return cell.cell_type == "code" and cell.metadata.nbgrader.solution


def _defined(source: str) -> list[str]:
    kinds = (ast.FunctionDef, ast.ClassDef)
    return [node.name for node in ast.parse(source).body if isinstance(node, kinds)]


def _calls(source: str, owner: dict[str, str]) -> frozenset[str]:
    names = {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}
    return frozenset(owner[name] for name in names if name in owner)


# Which tests an answer fails: the notebook's cells are run in another process.


def measured(
    assignment: str,
    tasks: Sequence[Task],
    workers: int,
    root: Path = ROOT,
    say: Callable[[float], None] = lambda _: None,
) -> tuple[list[Task], list[str]]:
    """The same tasks with the tests that each answer fails, and lines about omitted answers.

    say: is called first, with the seconds of one run of the notebook.

    Omitted are answers that take too long, or that fail a test only under some variants: their
    points could not be known beforehand. Raises Unusable if an answer behaves differently than
    declared: then the assignment, or the list of wrong solutions, has a fault.
    """
    path = root / "solutions" / assignment / f"{assignment}.ipynb"
    answers = [answer for task in tasks for answer in task.answers]
    # Each process runs our own answers once, without a timeout: that imports everything.
    ours = tasks[0].only(OURS)
    start = (path, ours, "", None)
    with ProcessPoolExecutor(workers, get_context("spawn"), _failing, start) as pool:
        say(max(pool.map(_seconds, [path] * workers, [ours] * workers)))  # with all of them busy
        tried = pool.map(_tried, [path] * len(answers), answers)
        found = list(tqdm(tried, total=len(answers), desc="Trying answers", unit="answer"))
    kept: dict[str, list[Answer]] = {task.name: [] for task in tasks}
    left_out = []
    for answer, results in zip(answers, found, strict=True):
        if answer.kind in (OURS, UNWRITTEN) and None in results:
            raise Unusable(f"{answer.task}, {answer.kind}: a test takes over {SECONDS} s")
        if None in results or len(set(results)) > 1:
            why = "takes too long" if None in results else "depends on the variant"
            left_out.append(f"{answer.task}, {answer.kind}, {answer.name}: left out, {why}")
            continue
        _as_said(answer, results[0])
        kept[answer.task].append(answer._replace(loses=results[0]))
    return [Task(name, tuple(kept[name])) for name in kept], left_out


def _as_said(answer: Answer, failing: frozenset[str]) -> None:
    """Raises Unusable if an answer fails tests that it should pass, or the reverse."""
    visible, hidden = f"test-{answer.task}", f"hidden-{answer.task}"
    known = {
        OURS: not failing,
        OTHER: not failing,
        UNWRITTEN: {visible, hidden} <= failing,
        WRONG: visible in failing if answer.diagnosed else failing & {visible, hidden} == {hidden},
    }
    if not known[answer.kind]:
        raise Unusable(
            f"{answer.task}, {answer.kind}, {answer.name}: fails {sorted(failing) or 'nothing'}, "
            "which is not what answers.txt says of it"
        )


def _seconds(path: Path, answer: Answer) -> float:
    """The time of the notebook here, after all imports."""
    start = time.monotonic()
    _failing(path, answer, VARIANTS[0], None)
    return time.monotonic() - start


def _tried(path: Path, answer: Answer) -> list[frozenset[str] | None]:
    """The failures under each variant; a variant that takes too long ends the list with None."""
    results: list[frozenset[str] | None] = []
    for name in VARIANTS:
        results.append(_failing(path, answer, name, SECONDS))
        if results[-1] is None:
            break
    return results


def _failing(path: Path, answer: Answer, name: str, seconds: float | None) -> frozenset[str] | None:
    """The grade ids of the tests that fail with one answer in place of ours; None: too slow."""
    from course.feedback import checks
    from course.feedback.variants import variant

    checks.start_over()
    scope, failing = {"__name__": "__main__"}, set()
    with contextlib.redirect_stdout(io.StringIO()), variant(name):
        for cell in _cells(path):
            text = answer.source if cell.id == answer.task else cell.source
            try:
                with _alarm(seconds):
                    exec(compile(text, cell.id, "exec"), scope)
            except KeyboardInterrupt:
                raise
            except TooSlow:
                return None
            except BaseException:  # a given cell that uses an answer may fail with it
                if cell.metadata.nbgrader.grade:
                    failing.add(cell.metadata.nbgrader.grade_id)
    return frozenset(failing)


@cache
def _cells(path: Path) -> list[nbformat.NotebookNode]:
    return graded_code(nbformat.read(path, 4))


@contextlib.contextmanager
def _alarm(seconds: float | None) -> Iterator[None]:
    """Raises TooSlow inside after this much processor time, if the system supports it."""
    if seconds is None or not hasattr(signal, "setitimer"):
        yield
        return

    def ring(_number: int, _frame: object) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
