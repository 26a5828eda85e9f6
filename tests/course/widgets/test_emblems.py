"""The emblem: BERT at a glance, with a lecture's numbers in its part."""

import ast
import re

import pytest

from course.publishing.notebooks import core
from course.widgets import emblem
from course.widgets.emblems import LARGE, PARTS, SMALL, WIDEST
from tests.conftest import ROOT, read_page
from tests.course.widgets.conftest import soup

LECTURES = sorted(ROOT.glob("lectures/*.ipynb"))


@pytest.mark.parametrize("lit", PARTS)
def test_one_part_is_enlarged_and_has_the_values(lit):
    page = soup(emblem(lit, ["a", "<b>", "c"], ["0.1", "two\nlines", ""], note="So & so."))
    groups = page.select("g[transform]")
    assert [group.select_one(".label").text for group in groups] == [
        label for label, _ in PARTS.values()
    ]
    enlarged = [group for group in groups if "lit" in group.get("class", [])]
    large = enlarged[-1]
    assert large.select_one(".label").text == PARTS[lit][0]
    assert [text.text for text in large.select(".value")] == ["0.1", "two", "lines", ""]
    assert page.select_one(".note").text == "So & so."
    high = float(page.svg["viewbox"].split()[3])
    assert high == 12 + LARGE + (len(PARTS) - len(enlarged)) * SMALL


def test_lines_are_as_wide_as_the_shares_and_the_words_say_them():
    shares = [0.5, 0.3, 0.2]
    shown = emblem("attention", ["animal", "street", "it"], shares, at=0, note="It looks.")
    wide = [float(line["stroke-width"]) for line in soup(shown).select(".lit .line")]
    assert wide == pytest.approx([share * WIDEST for share in shares], abs=0.06)
    assert shown.title == "BERT, its attention enlarged and with the lecture's numbers"
    assert emblem("attention").title == "BERT, its attention enlarged"
    assert shown.alt.startswith(
        "Values of animal: animal 0.50, street 0.30, it 0.20. It looks. From below: the text as"
    )


@pytest.mark.parametrize("path", LECTURES, ids=lambda path: path.stem)
def test_a_lecture_opens_and_closes_with_it(path):
    cells = list(core(read_page(path).cells))
    calls = [
        (number, node)
        for number, cell in enumerate(cells)
        if cell.cell_type == "code"
        for node in ast.walk(ast.parse(cell.source))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "widgets.emblem"
    ]
    (first, opens), (last, closes) = calls
    # Lecture 0 first checks whether the library is there.
    assert first <= 3 or path.stem == "00_start_here"
    assert not opens.args[1:]
    assert ast.unparse(opens.args[0]) == ast.unparse(closes.args[0])
    assert len(closes.args) == 3, "it closes with tokens and the lecture's values"
    recap = next(n for n, cell in enumerate(cells) if re.match("## Recap", cell.source))
    assert first < last < recap
