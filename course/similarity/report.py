"""Which submissions of an assignment are similar: `python -m course similar ex01_bpe`.

The comparison is copydetect's: winnowing, as in MOSS (Schleimer, Wilkerson & Aiken, 2003). Names,
comments, spaces and the order of functions do not count. The assignment's given code is omitted.
Submissions are compared with each other and with the course's own functions.

Similarity is a reason to look, not a proof: a short function can be written in few ways.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jinja2 import Environment

from bertlab._files import write_atomically
from course import ROOT
from course.similarity.pairs import EACH, MOST, Comparison, Group
from course.similarity.sources import code_cells, read_works
from course.similarity.taken import by_source, course_functions, taken_from

# Independent right solutions of all our assignments share at most 45 %; a test measures it.
THRESHOLD = 0.6
PAGE = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True).from_string(
    Path(__file__).with_suffix(".html").read_text(encoding="utf-8")
)
CAUTION = (
    "Likeness is a reason to look, not a proof. Short functions look alike, a lecture shows some "
    "of them, and two who learned together may write the same. Ask before you conclude."
)


class Section(NamedTuple):
    """The findings of one kind: their number, groups of students, and some with their codes."""

    title: str
    total: int
    groups: list[Group]
    shown: Sequence[tuple[str, Sequence[str]]]

    @property
    def rest(self) -> str:
        """A sentence if not all are shown."""
        if len(self.shown) == self.total:
            return ""
        few = f"{len(self.shown)} of {self.total:,} are shown"
        return f"{few}: up to {EACH} for each group or function, up to {MOST} in all"

    def lines(self) -> list[str]:
        """For the terminal."""
        shown = [summary for summary, _ in self.shown]
        return [*(group.short for group in self.groups), *shown, *filter(None, [self.rest])]


def main(arguments: list[str]) -> int:
    """Compare, write the report, print a summary; 0, or 2 if there is nothing to compare."""
    parser = argparse.ArgumentParser(prog="python -m course similar", description=__doc__)
    parser.add_argument("name", help="the assignment, such as ex01_bpe")
    parser.add_argument("--threshold", type=float, default=THRESHOLD, help="share, 0 to 1")
    parser.add_argument("--also", type=Path, action="append", default=[], metavar="FOLDER")
    parser.add_argument("--root", type=Path, default=ROOT, help="the course's folder")
    parser.add_argument("--to", type=Path, help="the report; default: similarity/NAME.html")
    options = parser.parse_args(arguments)
    name, root = options.name, options.root
    release = root / "exercises" / name / f"{name}.ipynb"
    if not release.is_file():
        print(f"{name}: no assignment of that name: {release} does not exist.")
        return 2
    given = code_cells(release)
    here, notes = read_works(root / "submitted", name, given)
    before = []
    for folder in options.also:
        earlier, more = read_works(folder, name, given)
        before += [work._replace(who=f"{folder.name}/{work.who}") for work in earlier]
        notes += more
    print("\n".join(notes), end="\n" if notes else "")
    if len(here) + len(before) < 2 or not here:
        print(f"{name}: nothing to compare; {len(here)} submissions with code of their own.")
        return 2
    comparison = Comparison(here, before, given)
    print("".join(f"{line}\n" for line in comparison.unread), end="")
    notes += comparison.unread
    found = comparison.above(options.threshold)
    groups, shown = comparison.groups(found, options.threshold)
    pairs = [(str(comparison.pair(place)), comparison.codes(place)) for place in shown]
    taken = taken_from(here, course_functions(ROOT), given)
    takers, examples = by_source(taken)
    sections = [
        Section("Pairs above the threshold", len(found), groups, pairs),
        Section(
            "Like the course's own code", len(taken), takers, [(str(t), [t.code]) for t in examples]
        ),
    ]
    head = (
        f"{name}: {len(here)} submissions, {len(comparison.most):,} pairs; in half of the pairs "
        f"no more than {np.median(comparison.most):.0%} of one is in the other."
    )
    print("\n  ".join([head, *(line for section in sections for line in section.lines())]))
    print(CAUTION)
    report = options.to or root / "similarity" / f"{name}.html"
    report.parent.mkdir(parents=True, exist_ok=True)
    text = PAGE.render(head=head, caution=CAUTION, notes=notes, sections=sections)
    print(f"Report: {write_atomically(report, text)}")
    return 0
