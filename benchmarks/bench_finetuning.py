"""What `bertlab-mini` is worth on real tasks: fine-tuned, frozen, from scratch, and counted words.

    python -m benchmarks.bench_finetuning                      print the tables
    python -m benchmarks.bench_finetuning --only spam layers   some of them
    python -m benchmarks.bench_finetuning --who counted        some contestants, tasks with classes
    python -m benchmarks.bench_finetuning --quick              one seed, few examples: a trial
    python -m benchmarks.bench_finetuning --write              keep the results

--write puts the scores beside the weights, into `finetuning.json`, where lecture 9 reads them, and
tables of them into benchmarks/README.md; with --only or --who it replaces what was measured again.
Scores do not depend on the machine's speed, so it need not be left alone.
"""

import argparse
import json
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import torch

from benchmarks import report
from benchmarks.tuning_contests import (
    ALL_CLASSIFIERS,
    CLASSIFIERS,
    COUNTED,
    SCRATCH,
    TUNED,
    Plan,
    Result,
    classify,
    speech_answers,
    tag,
    toy_answers,
)
from benchmarks.tuning_layers import UPPER, read_layers, tune_both
from bertlab._files import write_atomically
from bertlab.model.pretrained import BERTLAB_MINI
from course.experiments.tasks import TASKS

PACKAGES = ("torch", "scikit-learn")
KEPT = BERTLAB_MINI / "finetuning.json"
SIZES = (50, 100, 200, 400, 800)  # of the learning curve
Row = dict[str, Any]  # "experiment", "task", "metric", "train", "seed", and a `Result`


def experiments(
    plan: Plan, who: Sequence[str] = CLASSIFIERS
) -> dict[str, Callable[[int], Iterator[Row]]]:
    """All that is measured, by name: a function of the seed; who: in the tasks with classes."""

    def rows(task: str, results: Iterator[Result], metric: str, **more: Any) -> Iterator[Row]:
        for result in results:
            about = {"experiment": "tasks", "task": task, "metric": metric, "train": plan.train}
            reached = {key: value for key, value in vars(result).items() if value != ""}
            yield {**about, **reached, **more}

    def tasks(name: str) -> Callable[[int], Iterator[Row]]:
        metric = "F1 of spam" if name == "spam" else "accuracy"
        return lambda seed: rows(name, classify(name, plan, seed, only=who), metric)

    def curve(seed: int) -> Iterator[Row]:
        for size in SIZES[: 1 if plan.seeds == 1 else None]:
            smaller = replace(plan, train=size)
            results = classify(UPPER, smaller, seed, only=(COUNTED, SCRATCH, TUNED))
            yield from rows(UPPER, results, "accuracy", experiment="curve", train=size)

    def together(seed: int) -> Iterator[Row]:
        for task, result in tune_both(plan, seed):
            metric = "entity F1" if task == "mentions" else "accuracy"
            yield from rows(task, iter([result]), metric, experiment="together")

    return {
        **{name: tasks(name) for name in TASKS},
        "mentions": lambda seed: rows("mentions", tag(plan, seed), "entity F1"),
        "toy stories": lambda seed: rows("toy stories", toy_answers(plan, seed), "exact match"),
        "speeches": lambda seed: rows("speeches", speech_answers(plan, seed), "exact match"),
        "curve": curve,
        "layers": lambda seed: rows(
            "mentions", read_layers(plan, seed), "entity F1", experiment="layers"
        ),
        "together": together,
    }


PLANS = {  # what is not measured as the others are
    "toy stories": Plan(train=1_500, max_length=128),
    "speeches": Plan(max_length=128),
    "layers": Plan(train=300, test=300),
    "together": Plan(train=300),
}


def table(experiment: str, rows: list[Row]) -> str:
    """The scores of one experiment, a line a task and number of examples, a column a contestant."""
    rows = [row for row in rows if row["experiment"] == experiment]
    lines = list(dict.fromkeys((row["task"], row["train"], row["metric"]) for row in rows))
    contestants = list(dict.fromkeys(row["who"] for row in rows))

    def cell(line: tuple, who: str) -> str:
        own = [
            row["score"]
            for row in rows
            if (row["task"], row["train"], row["metric"]) == line and row["who"] == who
        ]
        return report.spread(own) if own else ""

    return report.rows_to_table(
        TITLES[experiment],
        ["task", "examples", "score", *contestants],
        [
            [task, str(train), metric, *(cell((task, train, metric), who) for who in contestants)]
            for task, train, metric in lines
        ],
    )


TITLES = {
    "tasks": "Tasks",
    "curve": "More examples",
    "layers": "Which layer should we use?",
    "together": "Two tasks on one encoder",
}


def run(names: list[str], who: list[str], quick: bool) -> Iterator[tuple[str, list[Row]]]:
    """The rows of each experiment, when it has come to its end."""
    for name in names:
        plan = PLANS.get(name, Plan())
        if quick:
            plan = replace(plan, seeds=1, train=60, test=60, epochs=1)
        rows = []
        for seed in range(plan.seeds):
            for row in experiments(plan, who)[name](seed):
                rows.append({**row, "seed": seed, "name": name})
                note = f"    {name}, seed {seed}: {row['who']} {row['score']:.3f}"
                print(f"{note} ({row['seconds']:.0f} s)", file=sys.stderr, flush=True)
        yield name, rows


def keep(rows: list[Row], name: str) -> list[Row]:
    """Put the rows of an experiment into the file, in place of the older ones of their contestants.

    Returns all of the file's rows.
    """
    measured = {row["who"] for row in rows}
    older = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else []
    every = [r for r in older if r["name"] != name or r["who"] not in measured] + rows
    order = list(experiments(Plan()))

    def place(row: Row) -> tuple[int, int, int]:
        who = ALL_CLASSIFIERS.index(row["who"]) if row["name"] in TASKS else 0
        return order.index(row["name"]), row["seed"], who

    every.sort(key=place)  # stable: otherwise the rows of one stay in order
    write_atomically(KEPT, json.dumps(every, indent=0) + "\n")
    return every


def main() -> None:
    """Read the command line, run, print, and keep the results if asked to."""
    names = list(experiments(Plan()))
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.bench_finetuning", description="bertlab-mini on real tasks."
    )
    parser.add_argument("--only", nargs="+", choices=names, metavar="NAME")
    parser.add_argument("--who", nargs="+", choices=ALL_CLASSIFIERS, metavar="NAME")
    parser.add_argument("--quick", action="store_true", help="one seed, few examples: a trial")
    parser.add_argument("--write", action="store_true", help="keep the results")
    args = parser.parse_args()
    if args.write and args.quick:
        parser.error("--write is for a whole run: leave out --quick")
    if args.who and not set(args.only or TASKS) <= set(TASKS):
        parser.error(f"--who is for the tasks with classes: {', '.join(TASKS)}")
    torch.set_num_threads(1)  # so that seconds are those of one core, whoever else is at work
    rows: list[Row] = []
    names = args.only or (list(TASKS) if args.who else names)
    for name, own in run(names, args.who or list(CLASSIFIERS), args.quick):
        rows = keep(own, name) if args.write else rows + own
    command = shlex.join(["python", "-m", "benchmarks.bench_finetuning", *sys.argv[1:]])
    what = "Means over three seeds, ± their standard deviation."
    parts = [
        report.measured_again(command, "finetuning")
        if args.write and (args.only or args.who)
        else report.circumstances(command, PACKAGES, what)
    ]
    parts += [table(experiment, rows) for experiment in TITLES if has(experiment, rows)]
    print("\n\n".join(parts))
    if args.write:
        report.write("\n\n".join(parts), "finetuning")


def has(experiment: str, rows: list[Row]) -> bool:
    """Whether an experiment has been run."""
    return any(row["experiment"] == experiment for row in rows)


if __name__ == "__main__":
    main()
