"""Predictions for a mask: a plot of bars, bars in HTML, and the text box."""

import re

import pytest
from bs4 import BeautifulSoup

from bertlab.model.heads import fill_mask
from course.widgets import fill_mask_explorer
from course.widgets.fill_masks import guess_bars
from tests.bertlab.model import test_fill_mask

TWO_GAPS, tokenizer, model = test_fill_mask.TWO_GAPS, test_fill_mask.tokenizer, test_fill_mask.model


def read(shown):
    """For each mask its caption and its rows: word, width of the bar in percent, probability."""

    def read_row(row):
        width = float(re.search(r"width:([\d.]+)%", row.span["style"])[1])
        return row.th.text, width, row.select_one(".share").text

    tables = BeautifulSoup(shown.html, "html.parser").select("table")
    return [(one.caption.text, [read_row(row) for row in one.select("tr")]) for one in tables]


def test_each_mask_has_its_predictions_and_the_remainder(model, tokenizer):
    shown = read(guess_bars(model, tokenizer, TWO_GAPS, top=4))
    assert [caption for caption, _ in shown] == ["[MASK] 1 of 2", "[MASK] 2 of 2"]
    for (_, rows), guesses in zip(shown, fill_mask(model, tokenizer, TWO_GAPS, 4), strict=True):
        for (word, width, share), (expected, probability) in zip(rows[:4], guesses, strict=True):
            assert word == expected
            assert width == pytest.approx(100 * probability, abs=0.006)
            assert share == f"{100 * probability:.1f} %"
        rest = len(tokenizer.vocab) - 4
        assert rows[4][0] == f"the other {rest}"
        assert sum(width for _, width, _ in rows) == pytest.approx(100, abs=0.05)


def test_one_mask_is_not_numbered_and_all_words_leave_no_remainder(model, tokenizer):
    ((caption, rows),) = read(guess_bars(model, tokenizer, "[MASK]", len(tokenizer.vocab)))
    assert caption == "[MASK]"
    assert len(rows) == len(tokenizer.vocab)
    assert not any("other" in word for word, _, _ in rows)
    assert "<" in [word for word, _, _ in rows]  # escaped


def test_the_box_shows_the_bars_and_the_words_of_an_error(model, tokenizer):
    explorer = fill_mask_explorer(model, tokenizer, TWO_GAPS, top=3)
    assert explorer.labels == ("A sentence with [MASK]",)
    assert not explorer.on_enter
    assert explorer.answer("[MASK] sat") == guess_bars(model, tokenizer, "[MASK] sat", 3)
    assert repr(explorer).startswith(f'Guesses for "{TWO_GAPS}". [MASK] number 1: ')
    assert "text must hold [MASK]" in repr(explorer.answer("the <cat"))
    assert "&lt;cat" in explorer.answer("the <cat").html
    assert "16" in repr(explorer.answer("[MASK] " * 20))
