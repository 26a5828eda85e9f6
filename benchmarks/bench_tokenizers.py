"""Our tokenizers and their peers, side by side in one run.

    python -m benchmarks.bench_tokenizers                       print the tables
    python -m benchmarks.bench_tokenizers --quick               three runs, small sizes: a trial
    python -m benchmarks.bench_tokenizers --only encoding       one of the sections
    python -m benchmarks.bench_tokenizers --minbpe FOLDER --write    fill in benchmarks/README.md

Contestants of a line take turns, so noise of the machine hits all of them; each turn is a fresh
process (`jobs.py`). `contests.py` lists who meets whom.
"""

import argparse
import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks import contests, long_words, report
from benchmarks.contests import Comparison, Contest, Entry
from benchmarks.report import Line
from benchmarks.turns import Turns, take, take_turns
from bertlab import data

PROSE = ("wikipedia", "books", "sotu")
MIXED = (*PROSE, "newsgroups")
SECTIONS = ("training", "cores", "scores", "minbpe", "encoding", "long-words", "memory", "growth")
PACKAGES = ("tokenizers", "tiktoken", "rustbpe", "real-wordpiece", "transformers")


class Corpora:
    """Texts for the contestants: made once, written to files, which are read before the clock."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.documents = folder, {}

    def file(self, name: str) -> Path:
        """The file of a corpus: "prose 9 MB", "prose 0.3 MB, one text", "DNA 1 word"."""
        path = self.folder / f"{name}.json"
        if not path.exists():
            path.write_text(json.dumps(self.texts(name)), encoding="utf-8")
        return path

    def texts(self, name: str) -> list[str]:
        """Whole documents, shuffled, as many as it takes to reach the size; or one long word."""
        kind, megabytes, *_ = name.split()
        if kind in long_words.KINDS:
            prose = "".join(self.texts("prose 2"))
            return [long_words.long_word(kind, round(float(megabytes) * 1e6), prose)]
        if kind not in self.documents:
            sources = PROSE if kind == "prose" else MIXED
            documents = [" ".join(lines) for source in sources for lines in data.documents(source)]
            random.Random(0).shuffle(documents)
            self.documents[kind] = documents
        texts, size = [], 0
        for document in self.documents[kind]:
            if size >= float(megabytes) * 1e6:
                break
            texts.append(document)
            size += len(document.encode())
        return ["\n".join(texts)] if name.endswith("one text") else texts

    def megabytes(self, name: str) -> float:
        """How large a corpus really is."""
        return sum(len(text.encode()) for text in json.loads(self.file(name).read_text())) / 1e6


def turn(entry: Entry, texts: Path) -> dict[str, Any]:
    """Let one contestant do its job once, in a process of its own."""
    return take(entry, "benchmarks.jobs", {"texts": str(texts), "calls": entry.calls})


def run_contest(contest: Contest, corpora: Corpora, runs: int) -> list[Turns]:
    """The turns of each of the contest's entries; none for a peer that is not installed."""
    texts = corpora.file(contest.corpus)
    return take_turns(contest.entries, runs, lambda entry: turn(entry, texts))


def compare(contest: Contest, line: Comparison, turns: list[Turns], megabytes: float) -> Line:
    """One line of a table.

    Raises RuntimeError if two results that must be equal differ.
    """
    ours, peer = (turns[contest.entries.index(entry)] for entry in (line.ours, line.peer))
    seconds = [[answer["seconds"][line.call] for answer in own] for own in (ours, peer)]
    result = ""
    if peer and line.same == "equal":
        if any(mine["note"] != theirs["note"] for mine, theirs in zip(ours, peer, strict=True)):
            raise RuntimeError(f"{contest.title}: ours differs from what {line.peer.name} gives")
        result = "identical"
    elif peer and line.same == "share":
        mine, theirs = (set(own[0]["note"]["tokens"]) for own in (ours, peer))
        result = f"{len(mine & theirs) / len(theirs):.1%} of its tokens"
    return Line(contest.title, line, *seconds, result, megabytes)


def contest_lines(its_contests: list[Contest], corpora: Corpora, runs: int) -> Iterator[Line]:
    """Run contests one by one."""
    for contest in its_contests:
        print(f"  {contest.title}", file=sys.stderr, flush=True)
        turns = run_contest(contest, corpora, runs)
        for line in contest.comparisons:
            yield compare(contest, line, turns, corpora.megabytes(contest.corpus))


def growth_rows(
    wanted: list[tuple[str, str, Entry]], corpora: Corpora, runs: int
) -> Iterator[tuple[str, float, list[float]]]:
    """Name, megabytes and seconds; the sizes take turns as well."""
    seconds: list[list[float]] = [[] for _ in wanted]
    for _ in range(runs):
        for (_, corpus, entry), own in zip(wanted, seconds, strict=True):
            own += turn(entry, corpora.file(corpus))["seconds"]
    for (name, corpus, _), own in zip(wanted, seconds, strict=True):
        yield name, corpora.megabytes(corpus), own


def tables(args: argparse.Namespace, corpora: Corpora) -> Iterator[str]:
    """Run the sections one by one, and yield their tables."""
    sizes = contests.QUICK if args.quick else contests.Sizes()
    runs = 3 if args.quick else 5
    against_peers = {
        "training": ("Training, one thread", contests.training(sizes)),
        "cores": ("Training, two cores", contests.two_cores(sizes)),
        "scores": ("WordPiece by likelihood and by gain", contests.scores(sizes)),
        "minbpe": ("Training, against plain Python", contests.plain_python(sizes, args.minbpe)),
        "encoding": ("Encoding, one thread", contests.encoding(sizes, args.minbpe)),
        "long-words": ("Encoding one long word", long_words.contests(sizes)),
    }
    for section in args.only or SECTIONS:
        print(section, file=sys.stderr, flush=True)
        if section == "memory":
            rows = (
                (title, turn(entry, corpora.file(corpus))["note"])
                for title, corpus, entry in contests.memory(sizes)
            )
            yield report.memory_table(rows)
        elif section == "growth":
            yield report.growth_table(growth_rows(contests.growth(sizes), corpora, runs))
            rows = growth_rows(long_words.training(sizes), corpora, runs)
            yield report.growth_table(rows, "Growth of our training on one long word")
        else:
            title, its_contests = against_peers[section]
            lines = contest_lines(its_contests, corpora, runs)
            yield report.table(title, lines, with_speed=section == "encoding")


def command(args: argparse.Namespace) -> str:
    """What was typed."""
    options = ["--quick"] * args.quick + (["--only", *args.only] if args.only else [])
    options += ["--minbpe", "FOLDER"] if args.minbpe else []
    options += ["--write"] * args.write
    return " ".join(["python -m benchmarks.bench_tokenizers", *options])


def main() -> None:
    """Read the command line, run, print, and write if asked to."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.bench_tokenizers",
        description="Our tokenizers and their peers, side by side.",
    )
    parser.add_argument("--quick", action="store_true", help="three runs, small sizes: a trial")
    parser.add_argument("--only", nargs="+", choices=SECTIONS, help="some of the sections")
    parser.add_argument(
        "--minbpe", metavar="FOLDER", help="a checkout of github.com/karpathy/minbpe"
    )
    parser.add_argument("--write", action="store_true", help="put it into benchmarks/README.md")
    args = parser.parse_args()
    if args.write and (args.quick or args.only):
        parser.error("--write is for a whole run: leave out --quick and --only")
    if args.minbpe and not (Path(args.minbpe) / "minbpe" / "regex.py").is_file():
        parser.error(
            f"--minbpe: {args.minbpe} is no checkout of minbpe (it has no minbpe/regex.py)"
        )
    seconds = f"Seconds: median of {3 if args.quick else 5} (smallest–largest)."
    parts = [report.circumstances(command(args), PACKAGES, seconds)]
    print(parts[0])
    with TemporaryDirectory() as folder:
        for table in tables(args, Corpora(Path(folder))):
            print(f"\n{table}", flush=True)
            parts.append(table)
    if args.write:
        report.write("\n\n".join(parts), "tokenizers")


if __name__ == "__main__":
    main()
