"""Which submissions of an assignment look alike: `python -m course similar ex01_bpe`.

The comparison is copydetect's: winnowing, as in MOSS (Schleimer, Wilkerson & Aiken, 2003). Names,
comments, spaces and the order of functions do not count. What the assignment gives is left out.
Besides each other, submissions are compared with the course's own functions.

Likeness is a reason to look, not a proof: a short function can be written in few ways.
"""

import argparse
import ast
import io
import re
import sys
from collections.abc import Iterator, Set
from itertools import combinations, product
from pathlib import Path
from statistics import median
from typing import NamedTuple

from copydetect import CodeFingerprint, compare_files
from copydetect.utils import get_token_coverage, highlight_overlap
from jinja2 import Environment
from markupsafe import Markup
from tqdm.auto import tqdm

from bertlab._files import write_atomically
from course import ROOT
from course.settings import OLD_NAMES, printable
from course.similarity.sources import LONGEST, Work, code_cells, read_works

# Independent right solutions of all our assignments are alike by at most 45 %, and none has a
# function that is 80 % of one of the library's; the tests measure both.
THRESHOLD, TAKEN = 0.6, 0.8
# The shortest piece that counts, in characters of bare code: between students, and in a function.
PAIRS, FUNCTIONS = 25, 20
SHORT = 40  # a function, or what two have in common, with less bare code than this says nothing
PAGE = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True).from_string(
    Path(__file__).with_suffix(".html").read_text(encoding="utf-8")
)
CAUTION = (
    "Likeness is a reason to look, not a proof. Short functions look alike, a lecture shows some "
    "of them, and two who learned together may write the same. Ask before you conclude."
)


class Pair(NamedTuple):
    """Two students; `shares`: how much of the code of each is found in that of the other."""

    who: tuple[str, str]
    shares: tuple[float, float]
    code: tuple[Markup, ...] = ()

    def __str__(self) -> str:
        (one, other), (here, there) = map(printable, self.who), self.shares
        return f"{one} and {other}: {here:.0%} of the first, {there:.0%} of the second"


class Taken(NamedTuple):
    """A student's function, and the share of it that one of the course's functions holds."""

    who: str
    function: str
    share: float
    source: str
    code: str

    def __str__(self) -> str:
        function = printable(self.function)
        return f"{printable(self.who)}: {self.share:.0%} of {function} is in {self.source}"


def main(arguments: list[str]) -> int:
    """Compare, write the report, print what stands out; 0, or 2 if there is nothing to compare."""
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
        now = f" It is called {OLD_NAMES[name]} now." if name in OLD_NAMES else ""
        print(f"{name}: no assignment of that name: {release} does not exist.{now}")
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
    pairs = alike(here, before, given, options.threshold)
    taken = taken_from(here, course_functions(ROOT), given)
    found = [pair for pair in pairs if max(pair.shares) >= options.threshold]
    usual = median(max(pair.shares) for pair in pairs)
    head = (
        f"{name}: {len(here)} submissions, {len(pairs):,} pairs; in half of the pairs no more than "
        f"{usual:.0%} of one is in the other."
    )
    print("\n  ".join([head, *map(str, [*found, *taken])]), CAUTION, sep="\n")
    report = options.to or root / "similarity" / f"{name}.html"
    report.parent.mkdir(parents=True, exist_ok=True)
    text = PAGE.render(head=head, caution=CAUTION, notes=notes, pairs=found, taken=taken)
    print(f"Report: {write_atomically(report, text)}")
    return 0


def fingerprint(code: str, length: int, given: Set[int] = frozenset()) -> CodeFingerprint:
    """What copydetect keeps of a text of Python: each piece of `length` characters of bare code.

    given: pieces to leave out. copydetect can do that, too, but takes away pieces that occur
    twice in `code` with them. Every piece is kept (a window of 1): which ones a larger window
    chooses depends on Python's hashes, which differ from run to run.
    """
    made = CodeFingerprint("code.py", length, 1, fp=io.StringIO(code), language="python")
    made.hashes -= given
    made.hash_idx = {piece: at for piece, at in made.hash_idx.items() if piece in made.hashes}
    made.token_coverage = get_token_coverage(made.hash_idx, length, len(made.filtered_code))
    return made


def alike(here: list[Work], before: list[Work], given: list[str], threshold: float) -> list[Pair]:
    """All pairs of two works of this term, or of one and an earlier one; the most alike first.

    Those from the threshold on come with both codes.
    """
    known = fingerprint("\n\n".join(given), PAIRS).hashes
    prints = {work.who: fingerprint(work.code, PAIRS, known) for work in (*here, *before)}
    names = [[work.who for work in works] for works in (here, before)]
    everyone = [*combinations(names[0], 2), *product(*names)]
    found = []
    for who in tqdm(everyone, desc="pairs", disable=None):
        both = [prints[name] for name in who]
        overlap, shares, slices = compare_files(*both)
        shares = shares if overlap >= SHORT else (0, 0)
        shown = max(shares) >= threshold
        code = tuple(map(marked, both, slices)) if shown else ()
        found.append(Pair(who, (float(shares[0]), float(shares[1])), code))
    return sorted(found, key=lambda pair: (-max(pair.shares), pair.who))


def marked(text: CodeFingerprint, slices: object) -> Markup:
    """The student's code, escaped, with what it shares marked."""
    code, _ = highlight_overlap(text.raw_code, slices, "<mark>", "</mark>", escape_html=True)
    return Markup(code)


def taken_from(
    works: list[Work], functions: dict[str, CodeFingerprint], given: list[str]
) -> list[Taken]:
    """Students' cells of which one of the course's functions holds nearly everything."""
    known = fingerprint("\n\n".join(map(bare, given)), FUNCTIONS).hashes
    holders: dict[int, set[str]] = {}
    for source, function in functions.items():
        for piece in function.hashes:
            holders.setdefault(piece, set()).add(source)
    found = []
    for work in tqdm(works, desc="course's functions", disable=None):
        for cell in work.cells:
            own = fingerprint(bare(cell[:LONGEST]), FUNCTIONS, known)
            if own.token_coverage < SHORT:
                continue
            near = {source for piece in own.hashes for source in holders.get(piece, ())}
            shares = [(float(compare_files(own, functions[s])[1][0]), s) for s in sorted(near)]
            share, source = max(shares, key=lambda pair: pair[0], default=(0, ""))
            if share >= TAKEN:
                named = re.search(r"def\s+(\w+)", cell)
                function = named[1] if named else "a cell"
                found.append(Taken(work.who, function, share, source, cell))
    return sorted(found, key=lambda taken: (taken.who, -taken.share))


def course_functions(root: Path) -> dict[str, CodeFingerprint]:
    """Every function of the library, and those that lectures alone define, by where it stands."""
    texts = [
        (".".join(path.relative_to(root).with_suffix("").parts), path.read_text(encoding="utf-8"))
        for room in ("bertlab", "course/experiments")
        for path in sorted((root / room).rglob("*.py"))
    ]
    for path in sorted(root.glob("lectures/*.ipynb")):
        texts += [(f"lectures/{path.stem}", cell) for cell in code_cells(path)]
    found: dict[str, CodeFingerprint] = {}
    for place, text in texts:
        for name, code in functions_of(text):
            found.setdefault(f"{place}.{name}", fingerprint(code, FUNCTIONS))
    return found


def functions_of(text: str) -> Iterator[tuple[str, str]]:
    """Name and bare code of every function in a text; none if it is not plain Python."""
    try:
        tree = ast.parse(text)
    except SyntaxError:  # a lecture's %magic
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            yield node.name, bare(ast.unparse(node))


def bare(code: str) -> str:
    """Code without docstrings and type hints; as it is if Python cannot read it."""
    try:
        tree = ast.parse(code)
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node):
                node.body = node.body[1:] or [ast.Pass()]
            if isinstance(node, ast.FunctionDef):
                node.returns = None
            if isinstance(node, ast.arg):
                node.annotation = None
        return ast.unparse(tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
