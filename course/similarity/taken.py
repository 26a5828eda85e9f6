"""Students' functions that are copies of the course's own."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tqdm.auto import tqdm

from course.collecting.opening import Refused, opened, opened_each
from course.settings import printable
from course.similarity.pairs import SHORT, Group, some_of_each
from course.similarity.pieces import Index, Numbers, Text, read_pieces
from course.similarity.sources import Work, code_cells

TAKEN = 0.8  # no independent right solution shares 80 % of a function with the library
LENGTH = 20  # of a piece in a function, in characters of bare code


class Taken(NamedTuple):
    """A student's function, and the share of it that is in one of the course's functions."""

    who: str
    function: str
    share: float
    source: str
    code: str

    def __str__(self) -> str:
        function = printable(self.function)
        return f"{printable(self.who)}: {self.share:.0%} of {function} is in {self.source}"


def taken_from(works: list[Work], functions: dict[str, Text], given: list[str]) -> list[Taken]:
    """Students' cells that are almost completely in one of the course's functions."""
    known = opened(read_pieces, "\n\n".join(map(bare, given)), LENGTH).pieces
    sources = sorted(functions)
    index = Index([functions[source] for source in sources], LENGTH)
    found = []
    cells = [work.cells for work in works]
    bar = tqdm(works, desc="course's functions", disable=None)
    for work, texts in zip(bar, opened_each(_own_texts, cells, known), strict=True):
        if isinstance(texts, Refused):
            print(f"{printable(work.who)}: not compared with the course's functions: {texts}")
            continue
        for cell, own in zip(work.cells, texts, strict=True):
            if own.whole < SHORT:
                continue
            covered = index.covered(own)
            best = int(covered.argmax())
            share = int(covered[best]) / own.whole
            if share >= TAKEN:
                named = re.search(r"def\s+(\w+)", cell)
                function = named[1] if named else "a cell"
                found.append(Taken(work.who, function, share, sources[best], cell))
    return sorted(found, key=lambda taken: (taken.who, -taken.share))


def _own_texts(cells: tuple[str, ...], known: Numbers) -> list[Text]:
    return [read_pieces(bare(cell), LENGTH, known) for cell in cells]


def by_source(found: list[Taken]) -> tuple[list[Group], list[Taken]]:
    """The functions that three or more have copied, with all names, and some examples of each."""
    who: dict[str, dict[str, None]] = {}
    for one in found:
        who.setdefault(one.source, {})[one.who] = None
    groups = [
        Group(f"{source}, {len(names):,} students", tuple(names))
        for source, names in sorted(who.items(), key=lambda item: -len(item[1]))
        if len(names) > 2
    ]
    return groups, some_of_each(found, (one.source for one in found))


def course_functions(root: Path) -> dict[str, Text]:
    """Every function of the library, and those that only lectures define, by location."""
    texts = [
        (".".join(path.relative_to(root).with_suffix("").parts), path.read_text(encoding="utf-8"))
        for room in ("bertlab", "course/experiments", "course/models")
        for path in sorted((root / room).rglob("*.py"))
    ]
    for path in sorted(root.glob("lectures/*.ipynb")):
        texts += [(f"lectures/{path.stem}", cell) for cell in code_cells(path)]
    return opened(_functions, texts, seconds=600)


def _functions(texts: list[tuple[str, str]]) -> dict[str, Text]:
    found: dict[str, Text] = {}
    for place, text in texts:
        for name, code in functions_of(text):
            found.setdefault(f"{place}.{name}", read_pieces(code, LENGTH))
    return found


def functions_of(text: str) -> Iterator[tuple[str, str]]:
    """Name and bare code of every function in a text; empty if it is not plain Python."""
    try:
        tree = ast.parse(text)
    except SyntaxError:  # a lecture's %magic
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            yield node.name, bare(ast.unparse(node))


def bare(code: str) -> str:
    """Code without docstrings and type hints; unchanged if Python cannot parse it."""
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
