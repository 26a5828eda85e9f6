"""Our models and their peers, side by side in one run.

    python -m benchmarks.bench_model                    print the tables
    python -m benchmarks.bench_model --quick            one turn of everything: a trial
    python -m benchmarks.bench_model --sizes tiny       some of the sizes
    python -m benchmarks.bench_model --write            fill in benchmarks/README.md

Contestants take turns, so noise of the machine hits all of them; each turn is a fresh process
(`model_jobs.py`). `model_contests.py` lists who meets whom.
"""

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks import model_contests, report
from benchmarks.contests import Comparison, Entry
from benchmarks.flops import step_flops
from benchmarks.model_contests import LAPS, LENGTH, SIZES, Rung, Size, dimensions
from benchmarks.model_setup import SQUARE, config_of, predicted_tokens
from benchmarks.report import Line, milliseconds, rows_to_table, times_as_fast
from benchmarks.turns import Turns, take, take_turns

PACKAGES = ("torch", "transformers")
CLOSE = 1e-4  # how far apart results may be that must be equal


def turn(entry: Entry) -> dict[str, Any]:
    """Let one contestant do its job once, in a process of its own."""
    print(f"    {entry.name} {entry.options}", file=sys.stderr, flush=True)
    return take(entry, "benchmarks.model_jobs", {"calls": entry.calls})


def difference(ours: Turns, peer: Turns) -> str:
    """How far our numbers are from theirs.

    Raises RuntimeError if that is too far.
    """
    largest = max(
        abs(a - b)
        for mine, its in zip(ours, peer, strict=True)
        for a, b in zip(mine["numbers"], its["numbers"], strict=True)
    )
    if largest > CLOSE:
        raise RuntimeError(f"two models with the same weights are {largest:.2g} apart")
    return f"equal within {largest:.0e}" if largest else "equal"


def line(title: str, comparison: Comparison, ours: Turns, peer: Turns) -> Line:
    """One line of a table."""
    seconds = [[answer["seconds"][comparison.call] for answer in own] for own in (ours, peer)]
    return Line(title, comparison, *seconds, difference(ours, peer) if peer else "")


def encoder_table(size: Size) -> str:
    """The bare encoder against its peers."""
    contest = model_contests.encoders(size)
    entries = contest.entries
    turns = take_turns(entries, size.turns, turn)
    lines = (
        line(LAPS[c.call], c, turns[entries.index(c.ours)], turns[entries.index(c.peer)])
        for c in contest.comparisons
    )
    return report.table(contest.title, lines, unit="milliseconds")


@dataclass(frozen=True)
class Ladder:
    """The pre-training step of one size: its rungs and their turns, none if not measured."""

    size: Size
    rungs: list[Rung]
    turns: list[Turns]
    limit: float  # floating-point operations per second, in a product of large matrices

    def flops(self, rung: Rung) -> int:
        """The matrix products of a step."""
        tokens = self.size.sequences * LENGTH
        predicted = tokens if rung.everywhere else predicted_tokens(tokens)
        return step_flops(config_of(self.size.name), self.size.sequences, LENGTH, predicted)

    def lines(self) -> Iterator[Line]:
        """Ours against `transformers`: both with PyTorch's defaults, and both at their best."""
        for comparison, what in model_contests.pretraining(self.size):
            entries = [rung.entry for rung in self.rungs]
            ours = self.turns[entries.index(comparison.ours)]
            peer = self.turns[entries.index(comparison.peer)]
            yield line(f"{self.size.name}{what}", comparison, ours, peer)


def ladder_table(ladder: Ladder) -> str:
    """What each change brings."""
    rows, before = [], ladder.turns[0]
    for rung, own in zip(ladder.rungs, ladder.turns, strict=True):
        if not own:
            rows.append([rung.label, f"not measured: {rung.missing or 'not installed'}", *[""] * 4])
            continue
        seconds = lap_seconds(own)
        ratios = [times_faster(own, other) for other in (before, ladder.turns[0])]
        share = ladder.flops(rung) / median(seconds) / ladder.limit
        cells = [milliseconds(seconds), *ratios, f"{share:.0%}", extra_memory(own)]
        rows.append([rung.label, *cells])
        before = own
    head = ["step", "milliseconds", "than before", "than `transformers`", "of the limit", "MB more"]
    return rows_to_table(f"What makes it fast, {dimensions(ladder.size)}", head, rows)


def times_faster(ours: Turns, others: Turns) -> str:
    """The ratio of the medians; nothing to say of oneself or of who did not run."""
    if not others or ours is others:
        return ""
    return times_as_fast(median(lap_seconds(others)) / median(lap_seconds(ours)))


def climb(size: Size, cache: str) -> Ladder:
    """Measure all rungs, and what the machine can do at most."""
    rungs = model_contests.ladder(size, cache)
    entries = [rung.entry for rung in rungs if not rung.missing]
    *turns, products = take_turns([*entries, model_contests.LIMIT], size.turns, turn)
    measured = iter(turns)
    turns = [[] if rung.missing else next(measured) for rung in rungs]
    return Ladder(size, rungs, turns, 2 * SQUARE**3 / median(lap_seconds(products)))


def lap_seconds(turns: Turns) -> list[float]:
    """The times of a job that has one lap."""
    return [answer["seconds"][0] for answer in turns]


def extra_memory(turns: Turns) -> str:
    """Megabytes at most, less those held before the first step."""
    if not turns or turns[0]["loaded_mb"] is None:
        return "not measured"
    return f"{median(t['peak_mb'] - t['loaded_mb'] for t in turns):,.0f}"


def memory_table(ladders: list[Ladder]) -> str:
    """Megabytes of a pre-training step, both with PyTorch's defaults."""
    rows = []
    for ladder in ladders:
        for place in (2, 0):
            own = ladder.turns[place]
            known = bool(own) and own[0]["loaded_mb"] is not None
            megabytes = [
                f"{median(t[key] for t in own):,.0f}" if known else "not measured"
                for key in ("loaded_mb", "peak_mb")
            ]
            name = ladder.rungs[place].entry.name
            rows.append([dimensions(ladder.size), name, *megabytes, extra_memory(own)])
    head = ["what", "who", "MB before", "MB at most", "difference"]
    return rows_to_table("Memory of the pre-training step", head, rows)


def tables(sizes: list[Size], cache: str) -> Iterator[str]:
    """Run everything, and yield the tables."""
    ladders = []
    for size in sizes:
        print(dimensions(size), file=sys.stderr, flush=True)
        yield encoder_table(size)
        ladders.append(climb(size, cache))
    lines = [line for ladder in ladders for line in ladder.lines()]
    yield report.table("The pre-training step", lines, unit="milliseconds")
    yield memory_table(ladders)
    yield from map(ladder_table, ladders)


def main() -> None:
    """Read the command line, run, print, and write if asked to."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.bench_model", description="Our models and their peers."
    )
    parser.add_argument("--quick", action="store_true", help="one turn, one step: a trial")
    parser.add_argument("--sizes", nargs="+", choices=SIZES, default=[*SIZES], help="some of them")
    parser.add_argument("--turns", type=int, help="of every contestant; otherwise 3, at base 2")
    parser.add_argument("--write", action="store_true", help="put it into benchmarks/README.md")
    args = parser.parse_args()
    if args.write and (args.quick or args.sizes != [*SIZES]):
        parser.error("--write is for a whole run: leave out --quick and --sizes")
    sizes = [SIZES[name] for name in args.sizes]
    if args.turns:
        sizes = [replace(size, turns=args.turns) for size in sizes]
    if args.quick:
        sizes = [replace(size, turns=1, calls=1) for size in sizes]
    command = " ".join(["python -m benchmarks.bench_model", *sys.argv[1:]])
    turns = ", ".join(f"{size.turns} at {size.name}" for size in sizes)
    what = f"Milliseconds: median of the turns (smallest–largest), {turns}."
    parts = [report.circumstances(command, PACKAGES, what)]
    print(parts[0])
    with TemporaryDirectory() as cache:
        for table in tables(sizes, cache):
            print(f"\n{table}", flush=True)
            parts.append(table)
    if args.write:
        report.write("\n\n".join(parts), "model")


if __name__ == "__main__":
    main()
