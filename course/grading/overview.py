"""`python -m course overview`: the term on one static page, only for the teacher.

It shows the content of `status`, the grading reports and `items`, and changes nothing.
"""

import argparse
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from jinja2 import Environment

from bertlab._files import write_atomically
from course import ROOT
from course.gradebook import diagnoses
from course.gradebook.item_analysis import Analysis, analyse, from_gradebook
from course.grading import reports
from course.settings import Course, CourseError, printable

if TYPE_CHECKING:
    from nbgrader.api import Gradebook

BINS = 10  # of the distribution: tenths of the points
LISTED = 200  # lines of each list on the page
PAGE = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True).from_string(
    Path(__file__).with_suffix(".html").read_text(encoding="utf-8")
)


class Part(NamedTuple):
    """The page's data of an assignment. `tasks` may be a sentence: why there are none."""

    name: str
    standing: reports.Standing
    figures: reports.Figures | None
    bins: list[int]
    tasks: Analysis | str
    lists: dict[str, list[str]]  # head -> lines
    thinks: dict[str, list[list[str]]]  # task -> the lines of each mistake


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page; 0, or 1 if there is no course or no gradebook."""
    parser = argparse.ArgumentParser(prog="python -m course overview", description=__doc__)
    parser.add_argument("--to", type=Path, metavar="FILE", help="default: overview.html")
    parser.add_argument("--root", type=Path, default=ROOT, help=argparse.SUPPRESS)
    asked = parser.parse_args(arguments)
    try:
        course = Course(asked.root)
        with closing(course.gradebook()) as book:
            parts = [part(course, book, name) for name in course.assignments()]
        write_atomically(asked.to or course.root / "overview.html", page(course, parts))
        print(f"Overview: {asked.to or 'overview.html'}")
    except (CourseError, OSError) as error:
        print(f"python -m course overview: {error}", file=sys.stderr)
        return 1
    return 0


def page(course: Course, parts: Sequence[Part]) -> str:
    """The page as HTML."""
    return PAGE.render(term=course.grading.term, parts=parts, listed=LISTED)


def part(course: Course, book: "Gradebook", name: str) -> Part:
    """The page's data of one assignment."""
    standing = reports.standing(course, book, name)
    figures = reports.figures(book, name, standing.totals)
    points = [one.points for one in standing.totals.values()]
    bins = distribution(points, figures.most) if figures else []
    try:
        tasks: Analysis | str = analyse(from_gradebook(book, name))
    except ValueError as none:
        tasks = str(none)
    rows = [row._replace(notes=row.oddities) for row in standing.rows.values()]
    unsorted = sorted((course.root / "to-sort-out" / name).glob("*"))
    lists = {
        "Regrade requests": standing.requests(),
        "Late": [f"{who}: {late}" for who, late in standing.late.items()],
        "Wait for a person": reports.each(standing.to_look_at),
        "What was odd": reports.each(reports.noted(rows)),
        "To sort out": [f"to-sort-out/{name}/{printable(path.name)}" for path in unsorted],
    }
    return Part(name, standing, figures, bins, tasks, lists, thinks(course, book, name))


def thinks(course: Course, book: "Gradebook", name: str) -> dict[str, list[list[str]]]:
    """What the class thinks: task -> the lines of each mistake; empty if nothing is graded."""
    try:
        return diagnoses.thoughts(course, book, name).lines()
    except ValueError:
        return {}


def distribution(points: Sequence[float], most: float) -> list[int]:
    """How many have up to a tenth of the points, up to two tenths, ...; extra ones count as full.

    A bin includes its lower bound, the last one also its upper bound.

    >>> distribution([0, 1, 1.9, 2, 20, 25], 20)
    [3, 1, 0, 0, 0, 0, 0, 0, 0, 2]
    """
    counts, _ = np.histogram(np.clip(points, 0, most), BINS, (0, most))
    return counts.tolist()


if __name__ == "__main__":
    sys.exit(main())
