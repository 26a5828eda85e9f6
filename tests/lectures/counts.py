"""What a reader of each lecture sees, and how long it takes: `python -m tests.lectures.counts`.

Lines of code are those that are neither blank nor folded. A plotting line is one of a call of
`viz` or of a flipbook; a silent cell neither shows something nor defines or imports anything; the
core path is what `course.publishing.notebooks.core` leaves, without folded answers.
"""

import ast
import math
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from course.publishing.notebooks import checks, core, is_check
from tests.conftest import ROOT, Page, read_page

DRAWN = re.compile(r"viz\.\w+|widgets\.\w*flipbook\w*")
SHOWN = re.compile(rf"{DRAWN.pattern}|widgets\.\w+|display|print|\w+\.print")


WORDS, LINE, TURN = 160, 5 / 60, 2  # words in a minute; minutes for a line of code, for a turn


class Counts(NamedTuple):
    """Of one lecture."""

    cells: int
    lines: int
    checks: int  # lines
    plotting: int  # lines
    silent: int  # cells
    proofs: int  # folded checks
    links: int
    words: int
    core_words: int


def visible(page: Page) -> list:
    """The code cells that are not folded."""
    hidden = ("jupyter", "source_hidden")
    return [cell for cell in page.code if not cell.metadata.get(hidden[0], {}).get(hidden[1])]


def lines_of(source: str, wanted: list[ast.AST]) -> int:
    """The number of lines of a cell that the nodes cover."""
    covered = {line for node in wanted for line in range(node.lineno, node.end_lineno + 1)}
    return sum(bool(source.split("\n")[line - 1].strip()) for line in covered)


def calls(tree: ast.AST, pattern: re.Pattern) -> Iterator[ast.Call]:
    """The calls of functions whose dotted name fits."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and pattern.fullmatch(ast.unparse(node.func)):
            yield node


def is_silent(source: str) -> bool:
    """A cell that shows nothing and defines or imports no function, class or module."""
    tree = ast.parse(source)
    brings = ast.FunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom
    last = tree.body[-1]
    shows_value = isinstance(last, ast.Expr) and not is_check(last) and not source.endswith(";")
    return not (
        shows_value
        or any(isinstance(node, brings) for node in tree.body)
        or any(calls(tree, SHOWN))
    )


def words(cells: Iterable) -> int:
    """The number of words of prose, without folded answers and terms; a formula counts as one."""
    return sum(words_of(cell.source) for cell in cells if cell.cell_type == "markdown")


def words_of(prose: str) -> int:
    """The same of one cell."""
    prose = re.sub(r"<details>.*?</details>", "", prose, flags=re.DOTALL)
    prose = re.sub(r"\*\*New in the glossary\*\*.*", "", prose)
    prose = re.sub(r"\$\$[^$]+\$\$|[$][^$\n]+[$]|`[^`\n]+`", "formula", prose)
    return len(re.findall(r"[\w’']+(?:[-./][\w’']+)*", re.sub(r"\]\([^)]*\)|<[^>]+>", "", prose)))


def counts(page: Page) -> Counts:
    """Count one lecture."""
    seen = visible(page)
    trees = [(cell.source, ast.parse(cell.source)) for cell in seen]
    folded = [cell for cell in page.code if cell not in seen]
    return Counts(
        cells=len(seen),
        lines=sum(bool(line.strip()) for cell in seen for line in cell.source.split("\n")),
        checks=sum(lines_of(source, checks(source)) for source, _ in trees),
        plotting=sum(lines_of(source, [*calls(tree, DRAWN)]) for source, tree in trees),
        silent=sum(is_silent(source) for source, _ in trees),
        proofs=sum(len(checks(cell.source)) for cell in folded),
        links=len(re.findall(r"\]\((?!#)[^)\s]+\)", page.prose)),
        words=words(page.cells),
        core_words=words(core(page.cells)),
    )


def minutes(page: Page) -> tuple[int, int]:
    """To read the core, and with what is further: words, visible code, turns; in steps of five."""
    path, found = list(core(page.cells)), []
    has_more = any("further" in cell.metadata.get("tags", ()) for cell in page.cells)
    for cells in (path, page.cells if has_more else path):
        ids = {cell.id for cell in cells}
        code = "\n".join(cell.source for cell in visible(page) if cell.id in ids)
        lines = sum(bool(line.strip()) for line in code.split("\n"))
        turns = sum("**Your turn.**" in cell.source for cell in cells)
        found.append(5 * math.ceil((words(cells) / WORDS + LINE * lines + TURN * turns) / 5))
    return found[0], found[1]


def lectures() -> list[Path]:
    """In their order."""
    return sorted(ROOT.glob("lectures/*.ipynb"))


if __name__ == "__main__":
    total = [0] * len(Counts._fields)
    print(f"{'':26}" + "".join(f"{name:>11}" for name in Counts._fields))
    for path in lectures():
        found = counts(read_page(path))
        total = [a + b for a, b in zip(total, found, strict=True)]
        print(f"{path.stem:26}" + "".join(f"{number:11,}" for number in found))
    print(f"{'all':26}" + "".join(f"{number:11,}" for number in total))
    whole = Counts(*total)
    print(
        f"of the visible lines {whole.checks / whole.lines:.1%} check and "
        f"{whole.plotting / whole.lines:.1%} draw; {whole.silent / whole.cells:.1%} of the cells "
        "show nothing"
    )
