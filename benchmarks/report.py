"""Times as tables, and what they were taken on."""

import os
import platform
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import mean, median, stdev

from benchmarks.contests import Comparison
from bertlab._files import write_atomically

README = Path(__file__).resolve().parent / "README.md"


@dataclass(frozen=True)
class Line:
    """A comparison with its times; none of the peer's if it is not installed."""

    title: str
    comparison: Comparison
    ours: list[float]
    peer: list[float]
    result: str
    megabytes: float = 0.0

    @property
    def ratio(self) -> float:
        """How many times as fast we are: the peer's median by ours."""
        return median(self.peer) / median(self.ours)


def seconds(times: list[float], megabytes: float | None = None) -> str:
    """The median, and from which to which it went; with `megabytes` the speed as well.

    >>> seconds([1.0, 3.0, 2.0], 9)
    '2.00 (1.00–3.00), 4.5 MB/s'
    """
    speed = f", {megabytes / median(times):.1f} MB/s" if megabytes else ""
    return f"{median(times):.2f} ({min(times):.2f}–{max(times):.2f}){speed}"


def milliseconds(times: list[float]) -> str:
    """The median, and from which to which it went, of times in seconds.

    >>> milliseconds([1.0, 3.0, 2.0]), milliseconds([0.0123, 0.0125, 0.0121])
    ('2,000 (1,000–3,000)', '12.3 (12.1–12.5)')
    """
    digits = 0 if min(times) >= 0.1 else 1
    low, middle, high = (f"{1000 * t:,.{digits}f}" for t in (min(times), median(times), max(times)))
    return f"{middle} ({low}–{high})"


def times_as_fast(ratio: float) -> str:
    """How many times as fast.

    >>> times_as_fast(1.234), times_as_fast(12.34)
    ('1.23', '12')
    """
    return f"{ratio:.2f}" if ratio < 10 else f"{ratio:.0f}"


def rows_to_table(title: str, head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A heading and a table in Markdown."""
    head = list(head)
    lines = [head, ["---"] * len(head), *rows]
    return f"### {title}\n\n" + "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def table(
    title: str, lines: Iterable[Line], *, with_speed: bool = False, unit: str = "seconds"
) -> str:
    """Ours against the peers; unit: "seconds" or "milliseconds"."""
    rows = []
    for line in lines:
        size = line.megabytes if with_speed else None
        call = (", first call", ", second call")[line.comparison.call] if with_speed else ""
        goal = line.comparison.goal

        def spread(times: list[float], size: float | None = size) -> str:
            return seconds(times, size) if unit == "seconds" else milliseconds(times)

        cells = [line.title + call, line.comparison.ours.name, spread(line.ours)]
        cells.append(line.comparison.peer.name)
        if line.peer:
            verdict = "" if goal is None else "met" if line.ratio >= goal else "not met"
            cells += [spread(line.peer), times_as_fast(line.ratio)]
        else:
            verdict = ""
            cells += ["not installed", ""]
        rows.append([*cells, "" if goal is None else f"{goal:.3g}", verdict, line.result])
    head = ["what", "ours", unit, "peer", unit, "times as fast", "goal", "", "result"]
    return rows_to_table(title, head, rows)


def memory_table(rows: Iterable[tuple[str, dict[str, float]]]) -> str:
    """What is remembered after encoding, and at most while it lasted."""
    head = ["what", "MB in the end", "MB at most"]
    cells = [[title, f"{note['kept_mb']:.1f}", f"{note['most_mb']:.1f}"] for title, note in rows]
    return rows_to_table("Memory of what our tokenizers remember", head, cells)


def growth_table(
    rows: Iterable[tuple[str, float, list[float]]], title: str = "Growth of our training"
) -> str:
    """Seconds per megabyte, as the corpus grows."""
    head = ["what", "MB", "seconds", "seconds per MB"]
    cells = [
        [name, f"{size:.3g}", seconds(times), f"{median(times) / size:.3f}"]
        for name, size, times in rows
    ]
    return rows_to_table(title, head, cells)


def spread(scores: list[float]) -> str:
    """The mean and the standard deviation.

    >>> spread([0.8, 0.9, 1.0]), spread([0.5])
    ('0.900 ± 0.100', '0.500')
    """
    return f"{mean(scores):.3f}" + (f" ± {stdev(scores):.3f}" if len(scores) > 1 else "")


def circumstances(command: str, packages: Iterable[str], what: str) -> str:
    """The day, the command, the machine, the versions, and `what` the numbers are."""
    versions = [f"Python {platform.python_version()}"]
    for package in packages:
        try:
            versions.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            versions.append(f"{package} not installed")
    return f"{date.today():%d %B %Y}, `{command}`. {machine()}. {', '.join(versions)}. {what}"


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


def measured_again(command: str, section: str, path: Path = README) -> str:
    """What the section says of its circumstances, with a line for a later run of a part of it.

    Raises ValueError if a mark is missing.
    """
    _, content, _ = _parts(section, path)
    told, _, _ = content.partition("\n\n### ")
    return f"{told.strip()}\n\n{date.today():%d %B %Y}, a part again: `{command}`. {machine()}."


def _parts(section: str, path: Path) -> tuple[str, str, str]:
    """The text up to a section's first mark, between the marks, and from the last one."""
    begin_mark, end_mark = (f"<!-- {section}: {edge} -->" for edge in ("begin", "end"))
    before, begin, rest = path.read_text(encoding="utf-8").partition(begin_mark)
    content, end, after = rest.partition(end_mark)
    if not (begin and end):
        raise ValueError(f"{path}: expected the lines {begin_mark} and {end_mark}, in this order")
    return before + begin, content, end + after
