"""Every number of a lecture's prose is checked, in its section or in its tests.

A number is checked

- if a text that the tests of its lecture pass to `states` contains it,
- or if the code of its section contains it (0.42 for 42 %), as proofs do,
- or if it repeats, with the same next word, a number that is checked elsewhere in its lecture.

Excluded are numbers below ten, names (lecture 4, BERT's 2019, code, links, CC BY 4.0), the time a
lecture takes, and the list of sources.
"""

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from tests.conftest import ROOT, Page, read_page
from tests.lectures.conftest import plain
from tests.lectures.counts import lectures

NUMBER = re.compile(r"(?<![\w.,^])(?<!\^\{)(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?![\w]|\.\d)")
NEXT = re.compile(r"[\s$*_~\\]*(%|[A-Za-z]+)?")
KINDS = r"lectures?|sections?|exercises?|algorithms?|figures?|tables?|tasks?|equations?|steps?|BY"
NAMES = re.compile(
    rf"(?i:\b(?:{KINDS})\b) \d[\d., andto–-]*|\b(?:1[89]|20)\d\d\b|`[^`\n]*`|\]\([^)]*\)|<[^>]+>"
    r"|^#+ .*|^\d+\. |^\*\*Time\*\*.*|https?://\S+",
    re.MULTILINE,
)
BLANK = r"(?:-?\d[\d,]*(?:\.\d+)?|[^\n]{1,25}?)"  # filled in by a test


class Said(NamedTuple):
    """A number of the prose."""

    text: str
    unit: str  # the next word
    around: str
    stated: bool


def templates(node: ast.AST) -> list[str]:
    """Patterns of the texts that an argument of `states` can be."""
    match node:
        case ast.Constant(value=str(text)):
            return [re.escape(plain(text))]
        case ast.JoinedStr(values=parts):
            pieces = [
                re.escape(part.value) if isinstance(part, ast.Constant) else BLANK for part in parts
            ]
            return ["".join(pieces).replace("−", "-")]
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=text), attr="format")):
            pieces = re.split(r"(?<!\{)\{[^{}]*\}(?!\})", text)
            return [BLANK.join(re.escape(p.replace("{{", "{").replace("}}", "}")) for p in pieces)]
        case ast.Starred(value=inner):
            return templates(inner)
        case ast.GeneratorExp(elt=inner) | ast.ListComp(elt=inner):
            return templates(inner)
        case ast.List(elts=several) | ast.Tuple(elts=several):
            return [found for one in several for found in templates(one)]
    return []


def stated(number: str) -> list[re.Pattern]:
    """The patterns that the tests of a lecture pass to `states`."""
    path = ROOT / f"tests/lectures/test_{number}_numbers.py"
    tree = ast.parse(path.read_text(encoding="utf-8")) if path.exists() else ast.parse("")
    return [
        re.compile(found)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "states"
        for argument in node.args
        for found in templates(argument)
        if len(re.sub(r"\W", "", found.replace(BLANK, ""))) > 2  # or it would match any number
    ]


def value(text: str) -> float:
    return float(text.replace(",", ""))


def constants(source: str) -> set[float]:
    """The numbers of a cell's code, including those in its strings."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            found |= {value(match[0]) for match in NUMBER.finditer(plain(node.value))}
        elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            found.add(float(node.value))
    return found


def numbers(source: str, patterns: list[re.Pattern]) -> Iterator[Said]:
    """The numbers of a cell of prose."""
    text = plain(NAMES.sub(" ", source))
    spans = [match.span() for pattern in patterns for match in pattern.finditer(text)]
    for match in NUMBER.finditer(text):
        start, end = match.span()
        if "." in match[0] or value(match[0]) >= 10:
            unit = NEXT.match(text, end)[1] or ""
            around = text[max(0, start - 50) : end + 30]
            known = any(first <= start and end <= last for first, last in spans)
            yield Said(match[0], unit, around, known)


def sections(page: Page) -> Iterator[tuple[set[float], list[Said]]]:
    """The constants of each section's code and the numbers of its prose."""
    patterns = stated(page.path.stem.split("_")[0])
    known: set[float] = set()
    said: list[Said] = []
    for cell in page.cells:
        if cell.cell_type == "code":
            known |= constants(cell.source)
            continue
        if cell.source.startswith("## "):
            yield known, said
            known, said = set(), []
            if cell.source.startswith("## Sources"):
                return
        said += numbers(cell.source, patterns)
    yield known, said


def in_code(said: Said, known: set[float]) -> bool:
    number = value(said.text)
    scale = {"%": 100, "million": 1e-6, "billion": 1e-9}.get(said.unit)
    return number in known or (bool(scale) and any(round(k * scale, 9) == number for k in known))


def unchecked(path) -> list[Said]:
    """The numbers that could be changed without a failing test."""
    parts = list(sections(read_page(path)))
    checked = {
        (one.text, one.unit)
        for known, said in parts
        for one in said
        if one.stated or in_code(one, known)
    }
    return [
        one
        for known, said in parts
        for one in said
        if not (one.stated or in_code(one, known) or (one.unit and (one.text, one.unit) in checked))
    ]


@pytest.mark.parametrize("path", lectures(), ids=lambda path: path.stem)
def test_every_number_of_the_prose_is_checked(path):
    alone = [f"{one.text}: … {one.around} …" for one in unchecked(path)]
    assert not alone, f"{len(alone)} numbers:\n" + "\n".join(alone)
