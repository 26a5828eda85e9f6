"""Contestants that take turns, each turn in a new process; and tables of what they took.

`python -m benchmarks.turns MODULE '{"job": ..., "options": {...}, ...}'` is one turn: the module's
`measure` does the job, with cold caches and memory of its own, and its answer is a line of JSON.
"""

import argparse
import gc
import json
import os
import platform
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import date
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from statistics import mean, median, stdev
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from bertlab._files import write_atomically

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "benchmarks" / "README.md"
Turns = list[dict[str, Any]]  # the answers of a contestant, turn by turn


@dataclass(frozen=True)
class Entry:
    """One contestant: a job, which is a function of the benchmark's module, and what it needs.

    cores: that it may keep busy; calls: how often the work is done in a turn; environment:
    variables that it runs with.
    """

    name: str
    job: str
    options: dict[str, Any] = field(default_factory=dict)
    package: str = "bertlab"
    cores: int = 1
    calls: int = 1
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def is_installed(self) -> bool:
        return find_spec(self.package) is not None


class Comparison(NamedTuple):
    """A row of `peers_table`: how many times as fast as `peer` is `ours`?

    goal: at least this many times, None if none was set; call: which of a turn's times; same: how
    results are compared.
    """

    ours: Entry
    peer: Entry
    goal: float | None = None
    call: int = 0
    same: str = ""


def take_turns(
    entries: Iterable[Entry], runs: int, turn: Callable[[Entry], dict[str, Any]]
) -> list[Turns]:
    """The turns of each entry, who alternate; none for a peer that is not installed."""
    entries = list(entries)
    turns: list[Turns] = [[] for _ in entries]
    for _ in range(runs):
        for entry, own in zip(entries, turns, strict=True):
            if entry.is_installed:
                own.append(turn(entry))
    return turns


def compare(
    comparisons: Iterable[Comparison], runs: int, turn: Callable[[Entry], dict[str, Any]]
) -> list[tuple[Comparison, Turns, Turns]]:
    """Let everybody in these rows take turns; of each row, ours and the peer's."""
    comparisons = list(comparisons)
    both = [entry for c in comparisons for entry in (c.ours, c.peer)]
    entries = [entry for place, entry in enumerate(both) if entry not in both[:place]]
    turns = take_turns(entries, runs, turn)
    return [(c, turns[entries.index(c.ours)], turns[entries.index(c.peer)]) for c in comparisons]


def take(module: str, entry: Entry, **given: Any) -> dict[str, Any]:
    """Let one contestant do its job once, in a process of its own.

    given: what `measure` of the module gets besides the job and its options. Raises RuntimeError
    if the job fails, or keeps more cores busy than it was given.
    """
    task = {"job": entry.job, "options": entry.options, **given}
    environment = {
        **os.environ,
        "RAYON_NUM_THREADS": str(entry.cores),
        "TOKENIZERS_PARALLELISM": "true" if entry.cores > 1 else "false",
        "OMP_NUM_THREADS": str(entry.cores),
        **entry.environment,
    }
    command = [sys.executable, "-m", "benchmarks.turns", module, json.dumps(task)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{entry.name}, {entry.job} {entry.options}:\n{done.stderr[-2000:]}")
    answer = json.loads(done.stdout.splitlines()[-1])
    for cpu, seconds in zip(answer["cpu"], answer["seconds"], strict=True):
        if cpu > entry.cores * seconds * 1.1 + 0.1:
            raise RuntimeError(
                f"{entry.name}, {entry.job}: {cpu:.2f} s of processor time in {seconds:.2f} s is "
                f"more than {entry.cores} at a time"
            )
    return answer


def clock(work: Callable[[], Any]) -> tuple[float, float, Any]:
    """Do some work: its wall seconds, its processor seconds and its result."""
    gc.collect()
    cpu_before, before = cpu_seconds(), perf_counter()
    result = work()
    wall = perf_counter() - before
    return wall, cpu_seconds() - cpu_before, result


def cpu_seconds() -> float:
    """Of this process and of those it has started and waited for."""
    return sum(os.times()[:4])


def note(what: str) -> None:
    """Show how far the run has come."""
    print(what, file=sys.stderr, flush=True)


def difference(ours: Turns, peer: Turns, key: str = "numbers", close: float = 1e-4) -> str:
    """How far our numbers are from theirs.

    Raises RuntimeError if that is more than `close`, or if one is not a number.
    """
    apart = [np.subtract(a[key], b[key]) for a, b in zip(ours, peer, strict=True)]
    largest = np.abs(apart).max()
    if not largest <= close:
        raise RuntimeError(f"{key} that must be equal are {largest:.2g} apart")
    return f"equal within {largest:.0e}" if largest else "equal"


def peers_table(title: str, rows: Iterable[Iterable[str]], unit: str = "seconds") -> str:
    """Ours against the peers, by rows of `peers_row`."""
    head = ["what", "ours", unit, "peer", unit, "times as fast", "goal", "", "result"]
    return table(title, head, rows)


def peers_row(
    title: str, c: Comparison, ours: Turns, peer: Turns, result: str, show: Callable[..., str]
) -> list[str]:
    """A row; show: times as text. The peer has no turns if it is not installed."""
    mine, its = ([answer["seconds"][c.call] for answer in own] for own in (ours, peer))
    goal = "" if c.goal is None else f"{c.goal:.3g}"
    cells = [title, c.ours.name, show(mine), c.peer.name]
    if not its:
        return [*cells, "not installed", "", goal, "", result]
    ratio = median(its) / median(mine)
    reached = met(ratio >= c.goal) if goal else ""
    return [*cells, show(its), times_as_fast(ratio), goal, reached, result]


def table(title: str, head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A heading and a table in Markdown."""
    head = list(head)
    lines = [head, ["---"] * len(head), *rows]
    return f"### {title}\n\n" + "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def spread(numbers: Iterable[float], form: str = ",.0f") -> str:
    """The median, and from which to which they went: "2,000 (1,000–3,000)"."""
    numbers = list(numbers)
    middle, low, high = (f"{f(numbers):{form}}" for f in (median, min, max))
    return f"{middle} ({low}–{high})"


def seconds(times: list[float], megabytes: float | None = None) -> str:
    """The spread of times; with `megabytes` the speed as well."""
    speed = f", {megabytes / median(times):.1f} MB/s" if megabytes else ""
    return spread(times, ".2f") + speed


def milliseconds(times: list[float]) -> str:
    """The spread of times in seconds."""
    return spread((1000 * time for time in times), ",.0f" if min(times) >= 0.1 else ",.1f")


def mean_spread(scores: list[float]) -> str:
    """The mean and the standard deviation: "0.900 ± 0.100"."""
    return f"{mean(scores):.3f}" + (f" ± {stdev(scores):.3f}" if len(scores) > 1 else "")


def times_as_fast(ratio: float) -> str:
    return f"{ratio:.2f}" if ratio < 10 else f"{ratio:.0f}"


def verdict(ratio: float, goal: float | None, of: str = "") -> str:
    """The goal and whether it is met: "5: not met"."""
    return "" if goal is None else f"{goal:g}{of}: {met(ratio >= goal)}"


def met(reached: bool) -> str:
    return "met" if reached else "not met"


def read_options(
    parser: argparse.ArgumentParser, *parts: str, write: str = "put it into benchmarks/README.md"
) -> argparse.Namespace:
    """The command line, with --write, which is not for a run with `parts`, as a trial."""
    parser.prog = f"python -m benchmarks.{Path(sys.argv[0]).stem}"
    parser.add_argument("--write", action="store_true", help=write)
    args = parser.parse_args()
    if args.write and any(getattr(args, part) != parser.get_default(part) for part in parts):
        *most, last = [f"--{part}" for part in parts]
        names = f"{', '.join(most)} and {last}" if most else last
        parser.error(f"--write is for a whole run: leave out {names}")
    return args


def publish(
    section: str | None,
    packages: Iterable[str],
    what: str,
    tables: Iterable[str],
    *folders: str,
    about: str | None = None,
) -> None:
    """Print circumstances and tables; put them into a section of the README, if one is named.

    what: the numbers are; folders: options whose value is nobody's business; about: in place of
    these circumstances.
    """
    parts = [about or circumstances(packages, what, *folders)]
    print(parts[0], flush=True)
    for part in tables:
        print(f"\n{part}", flush=True)
        parts.append(part)
    if section:
        write("\n\n".join(parts), section)


def circumstances(packages: Iterable[str], what: str, *folders: str) -> str:
    """The day, the command, the machine, the versions, and `what` the numbers are."""
    versions = [f"Python {platform.python_version()}"]
    for package in packages:
        try:
            versions.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            versions.append(f"{package} not installed")
    typed = f"{date.today():%d %B %Y}, {command(*folders)}"
    return f"{typed}. {machine()}. {', '.join(versions)}. {what}"


def command(*folders: str) -> str:
    """What was typed, without the values of these options."""
    typed = [Path(sys.argv[0]).stem, *sys.argv[1:]]
    typed[1:] = ["FOLDER" if before in folders else own for before, own in pairwise(typed)]
    return f"`python -m benchmarks.{shlex.join(typed)}`"


def machine() -> str:
    """Processor, cores, memory, system and how busy it is, as far as the system tells."""
    processor = platform.processor() or platform.machine()
    memory, load = "", ""
    if hasattr(os, "getloadavg"):
        load = f", {os.getloadavg()[0]:.1f} processes at work in the minute before"
    if Path("/proc/cpuinfo").exists():
        facts = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        names = [line.partition(":")[2].strip() for line in facts if line.startswith("model name")]
        processor = names[0] if names else processor
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        memory = f", {total / 2**30:.0f} GB of memory"
    return f"{processor}, {os.cpu_count()} cores{memory}, {platform.system()}{load}"


def write(content: str, section: str, path: Path = README) -> None:
    """Put `content` between the two marks of a section.

    Raises ValueError if a mark is missing.
    """
    before, _, after = _parts(section, path)
    write_atomically(path, f"{before}\n\n{content}\n\n{after}")


def measured_again(section: str, path: Path = README) -> str:
    """What the section says of its circumstances, with a line for a later run of a part of it."""
    _, content, _ = _parts(section, path)
    told, _, _ = content.partition("\n\n### ")
    return f"{told.strip()}\n\n{date.today():%d %B %Y}, a part again: {command()}. {machine()}."


def _parts(section: str, path: Path) -> tuple[str, str, str]:
    """The text up to a section's first mark, between the marks, and from the last one."""
    begin_mark, end_mark = (f"<!-- {section}: {edge} -->" for edge in ("begin", "end"))
    before, begin, rest = path.read_text(encoding="utf-8").partition(begin_mark)
    content, end, after = rest.partition(end_mark)
    if not (begin and end):
        raise ValueError(f"{path}: expected the lines {begin_mark} and {end_mark}, in this order")
    return before + begin, content, end + after


def main(module: str, task: str) -> None:
    """A turn: print the answer of the job."""
    jobs, given = import_module(f"benchmarks.{module}"), json.loads(task)
    print(json.dumps(jobs.measure(getattr(jobs, given.pop("job")), **given)))


if __name__ == "__main__":
    main(*sys.argv[1:])
