"""Training on real text, ours and others', side by side in one run.

    python -m benchmarks.bench_pretraining                  print the tables
    python -m benchmarks.bench_pretraining --quick          a trial
    python -m benchmarks.bench_pretraining --minutes 10     learn for longer
    python -m benchmarks.bench_pretraining --only learning  one half of it
    python -m benchmarks.bench_pretraining --device cuda    base size, on a GPU
    python -m benchmarks.bench_pretraining --write          fill in benchmarks/README.md

How many tokens per second go through the training step, and how well held-out words are guessed
after the same minutes. `learner_contests.py` lists who meets whom; each turn is a fresh process
(`learner_jobs.py`).
"""

import argparse
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks import learner_contests, report
from benchmarks.contests import Entry
from benchmarks.learner_contests import BOOK, GPU, LEARNERS, QUICK, VOCABULARY, Contestant, Plan
from benchmarks.learner_reports import Lesson, Race, learning_table, speed_table
from benchmarks.learners import Setting
from benchmarks.turns import is_installed, take, take_turns

PACKAGES = ("torch", "transformers", "d2l")
TRIAL = 5  # a learning rate is tried for this part of the time
STARTED = time.monotonic()


def say(what: str) -> None:
    """Show how far the run has come."""
    print(f"{time.monotonic() - STARTED:6.0f} s  {what}", file=sys.stderr, flush=True)


def turn(entry: Entry) -> dict[str, Any]:
    """One turn of one contestant."""
    say(f"  {entry.job}: {entry.name}")
    return take(entry, "benchmarks.learner_jobs", {})


def race(setting: Setting, plan: Plan) -> Race:
    """Let all contestants train in turns."""
    say(f"speed: {setting.size}, {setting.words:,} words")
    who = learner_contests.contestants(setting.device)
    options = {"seconds": plan.seconds, "warm": plan.warm}
    here = [c for c in who if not c.missing]
    entries = [learner_contests.entry(c, "speed", plan, setting, **options) for c in here]
    entries.append(Entry("matrix product", "limit", {"device": setting.device}, cores=plan.threads))
    *turns, products = take_turns(entries, plan.turns, turn)
    measured = iter(turns)
    turns = [[] if contestant.missing else next(measured) for contestant in who]
    limit = median(answer["flops"] for answer in products)
    return Race(setting, who, turns, limit, products[0]["device"])


def learn(setting: Setting, plan: Plan) -> list[Lesson]:
    """Everybody tries each learning rate for a part of the time, then takes the best for all."""
    say(f"learning: {setting.size}")
    seconds = 60 * plan.minutes

    def train(contestant: Contestant, rate: float, seconds: float, seed: int = 0) -> dict[str, Any]:
        own = setting._replace(rate=rate, seed=seed)
        options = {"seconds": seconds, "batches": plan.batches}
        return turn(learner_contests.entry(contestant, "learn", plan, own, **options))

    everybody = LEARNERS if plan.device == "cpu" else learner_contests.contestants(plan.device)
    who = [c for c in everybody if is_here(c)]
    tried: list[dict[float, float]] = [{} for _ in who]
    for rate in plan.rates:
        for contestant, losses in zip(who, tried, strict=True):
            losses[rate] = train(contestant, rate, seconds / TRIAL)["found"]["mlm_loss"]
    lessons = [
        Lesson(contestant, losses, min(losses, key=losses.__getitem__), [])
        for contestant, losses in zip(who, tried, strict=True)
    ]
    for seed in range(plan.seeds):
        for lesson in lessons:
            lesson.answers.append(train(lesson.contestant, lesson.rate, seconds, seed))
    return lessons


def is_here(contestant: Contestant) -> bool:
    """Whether a contestant can take part."""
    entry = Entry(contestant.name, "learn", package=contestant.package)
    return not contestant.missing and is_installed(entry)


def tables(plan: Plan, folder: str) -> Iterator[tuple[str, str]]:
    """Run everything, and yield the tables, each with its section of the README."""
    say("writing the corpus")
    tokens = learner_contests.prepare(plan, folder)
    if plan.device == "cpu" and is_here(BOOK):
        turn(Entry(BOOK.name, "write_examples", {"folder": folder}, cores=plan.threads))
    races = [race(setting, plan) for setting in learner_contests.settings(plan, folder)]
    if races:
        yield "pretraining", speed_table(races)
    for size in plan.learning:
        setting = Setting(folder, size, VOCABULARY, plan.sequences, device=plan.device)
        title = f"After {plan.minutes:g} minutes, {size}, {VOCABULARY:,} words"
        title += f", {tokens:,} tokens of text"
        yield "learning", learning_table(title, learn(setting, plan))


def read_plan() -> tuple[Plan, bool]:
    """What the command line asks for, and whether to write it into the README."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.bench_pretraining", description="Training, ours and others'."
    )
    parser.add_argument("--quick", action="store_true", help="one short turn of a few: a trial")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--only", choices=("speed", "learning"), help="one half of it")
    parser.add_argument("--sizes", nargs="+", help="of the models whose speed is measured")
    parser.add_argument("--sequences", type=int, help="in a batch")
    parser.add_argument("--turns", type=int, help="of every contestant")
    parser.add_argument("--threads", type=int, help="of every contestant")
    parser.add_argument("--minutes", type=float, help="of learning; 0 leaves it out")
    parser.add_argument("--write", action="store_true", help="put it into benchmarks/README.md")
    args = parser.parse_args()
    if args.write and (args.quick or args.sizes or args.device != "cpu"):
        parser.error("--write is for a whole run: leave out --quick, --sizes and --device")
    plan = QUICK if args.quick else GPU if args.device == "cuda" else Plan()
    asked = {name: getattr(args, name) for name in ("sequences", "turns", "threads", "minutes")}
    if args.only == "speed":
        asked["minutes"] = 0
    if args.only == "learning":
        asked["sizes"] = ()
    if args.sizes:
        asked["sizes"] = tuple(args.sizes)
    asked = {name: value for name, value in asked.items() if value is not None}
    return replace(plan, device=args.device, **asked), args.write


def main() -> None:
    """Read the command line, run, print, and write if asked to."""
    plan, write = read_plan()
    command = " ".join(["python -m benchmarks.bench_pretraining", *sys.argv[1:]])
    threads = f"{plan.threads} thread" + "s" * (plan.threads > 1)
    seeds = f"{threads}; means over {plan.seeds} seeds, ± their standard deviation; median steps."
    turns = f"{threads}; medians of {plan.turns} turns (smallest–largest)."
    with TemporaryDirectory() as folder:
        for section, table in tables(plan, folder):
            what = seeds if section == "learning" else turns
            content = f"{report.circumstances(command, PACKAGES, what)}\n\n{table}"
            print(content, end="\n\n", flush=True)
            if write:
                report.write(content, section)


if __name__ == "__main__":
    main()
