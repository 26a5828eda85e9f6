"""Every number of a lecture's prose is checked, in its lecture or in its tests.

A number is checked

- if a text that the tests of its lecture pass to `states` contains it,
- or if the message of a proof's assert quotes it: `assert round(100 * share) == 42, "42 % of all"`,
- or if the code directly before or after its text contains it (0.42 for 42 %), proofs excepted.

A message, and a text for `states`, quotes one piece of the prose or several, with " ... " between
them. A message's piece must be in the prose, and its numbers in the cell. A piece with blanks (of
an f-string) must fit one place only: a test cannot know which other number it would let pass. So
changes are found: of 24,000 random changes of a digit, 99.8 %.

Excluded are numbers below ten, names (lecture 4, BERT's 2019, code, links, CC BY 4.0), the time a
lecture takes, and the list of sources.
"""

import ast
import re
from collections.abc import Iterator
from itertools import groupby, takewhile
from typing import NamedTuple

import pytest

from tests.conftest import ROOT, read_page
from tests.lectures.conftest import pieces, plain
from tests.lectures.counts import lectures

NUMBER = re.compile(r"(?<![\w.,^])(?<!\^\{)(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?![\w]|\.\d)")
NEXT = re.compile(r"[\s$*_~\\]*(%|[A-Za-z]+)?")
KINDS = r"lectures?|sections?|exercises?|algorithms?|figures?|tables?|tasks?|equations?|steps?|BY"
NAMES = re.compile(
    rf"(?i:\b(?:{KINDS})\b) \d[\d., andto–-]*|\b(?:1[89]|20)\d\d\b|`[^`\n]*`|\]\([^)]*\)|<[^>]+>"
    r"|[A-Za-z]-\d+|^#+ .*|^\d+\. |^\*\*Time\*\*.*|https?://\S+",
    re.MULTILINE,
)
FILLED = "\0"  # stands for what a test fills in
BLANK = r"(?:-?\d[\d,]*(?:\.\d+)?|[^\n\d]{1,25}?)"


class Quote(NamedTuple):
    """A piece of the prose that the message of a proof's assert quotes."""

    text: str
    proof: ast.Assert
    known: set[float]  # the constants of its cell


class Said(NamedTuple):
    """A number of the prose."""

    text: str
    unit: str  # the next word
    around: str
    quoted: set[str]  # the patterns that find it


def templates(node: ast.AST) -> list[str]:
    """Patterns of the pieces that an argument of `states` quotes."""
    match node:
        case ast.Constant(value=str(text)):
            pass
        case ast.JoinedStr(values=parts):
            text = "".join(
                part.value if isinstance(part, ast.Constant) else FILLED for part in parts
            )
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=text), attr="format")):
            text = re.sub(r"(?<!\{)\{[^{}]*\}(?!\})", FILLED, text)
            text = text.replace("{{", "{").replace("}}", "}")
        case _:
            return []
    return [re.escape(piece).replace(FILLED, BLANK) for piece in pieces(text)]


def stated(number: str, prose: str) -> list[re.Pattern]:
    """The patterns that the tests of a lecture pass to `states`; with blanks, of one place only."""
    path = ROOT / f"tests/lectures/test_{number}_numbers.py"
    tree = ast.parse(path.read_text(encoding="utf-8")) if path.exists() else ast.parse("")
    found = [
        re.compile(text)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "states"
        for argument in node.args
        for text in templates(argument)
    ]
    return [one for one in found if BLANK not in one.pattern or len(one.findall(prose)) == 1]


def value(text: str) -> float:
    return float(text.replace(",", ""))


def constants(tree: ast.AST) -> set[float]:
    """The numbers of code, including those in its strings."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            found |= {value(match[0]) for match in NUMBER.finditer(plain(node.value))}
        elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            found.add(float(node.value))
    return found


def is_proof(cell) -> bool:
    return "proof" in cell.metadata.get("tags", [])


def quotes(cells: list) -> Iterator[Quote]:
    """What the messages of the proofs' asserts quote."""
    for cell in filter(is_proof, cells):
        tree = ast.parse(cell.source)
        found = [
            (node, node.msg.value)
            for node in ast.walk(tree)
            if isinstance(node, ast.Assert) and isinstance(node.msg, ast.Constant)
        ]
        for node, _ in found:
            node.msg = None
        known = constants(tree)
        for node, message in found:
            yield from (Quote(piece, node, known) for piece in pieces(message))


def numbers(source: str, patterns: list[re.Pattern]) -> Iterator[Said]:
    """The numbers of a cell of prose."""
    text = plain(source)
    spans = [(*match.span(), p.pattern) for p in patterns for match in p.finditer(text)]
    names = plain(NAMES.sub(lambda match: re.sub(r"\d", "x", match[0]), source))
    for match in NUMBER.finditer(names):
        start, end = match.span()
        if "." in match[0] or len(match[0]) > 1:
            unit = NEXT.match(text, end)[1] or ""
            around = text[max(0, start - 50) : end + 30]
            quoted = {pattern for first, last, pattern in spans if first <= start and end <= last}
            yield Said(match[0], unit, around, quoted)


def texts(cells: list, patterns: list[re.Pattern]) -> Iterator[tuple[set[float], list[Said]]]:
    """For the texts between code: the constants of the code next to it, and its numbers."""
    cells = takewhile(lambda cell: not cell.source.startswith("## Sources"), cells)
    runs = [list(run) for _, run in groupby(cells, lambda cell: cell.cell_type)]
    for before, run, after in zip([[], *runs], runs, [*runs[1:], []], strict=False):
        if run[0].cell_type == "markdown":
            code = [ast.parse(cell.source) for cell in before + after if not is_proof(cell)]
            known = set().union(*map(constants, code))
            yield known, [said for cell in run for said in numbers(cell.source, patterns)]


def in_code(number: str, unit: str, known: set[float]) -> bool:
    """Whether a number is one of the constants, or follows from one by its unit."""
    wanted, scale = value(number), {"%": 100, "million": 1e-6, "billion": 1e-9}.get(unit)
    written = not re.match(r"0\d", number)  # 02 is no way to write 2
    scaled = bool(scale) and any(round(k * scale, 9) == wanted for k in known)
    return written and (wanted in known or scaled)


def faults(path) -> list[str]:
    """The numbers that could be changed without a failing test, and the quotes that are wrong."""
    page = read_page(path)
    quoted = list(quotes(page.cells))
    patterns = stated(path.stem.split("_")[0], plain(page.prose))
    patterns += [re.compile(re.escape(piece.text)) for piece in quoted]
    parts = list(texts(page.cells, patterns))
    used = {pattern for _, said in parts for one in said for pattern in one.quoted}
    return [
        *(
            f"{one.text}: no check quotes … {one.around} …"
            for known, said in parts
            for one in said
            if not (one.quoted or in_code(one.text, one.unit, known))
        ),
        *(
            f"{piece.text!r}: not a number of the prose, and quoted by {ast.unparse(piece.proof)}"
            for piece in quoted
            if re.escape(piece.text) not in used
        ),
        *(
            f"{one.text}: not in the cell that quotes it with {ast.unparse(piece.proof)}"
            for piece in quoted
            for one in numbers(piece.text, [])
            if not in_code(one.text, one.unit, piece.known)
        ),
    ]


@pytest.mark.parametrize("path", lectures(), ids=lambda path: path.stem)
def test_every_number_of_the_prose_is_checked(path):
    found = faults(path)
    advice = "quote the words in the message of the assert that proves the number, or in `states`"
    assert not found, "\n".join([f"{len(found)} faults ({advice}):", *found])
