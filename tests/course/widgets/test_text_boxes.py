"""A text box: the calls, the display, and the content without a kernel."""

import re

import pytest

from bertlab.viz import table
from bertlab.viz.frames import read_asset
from course.widgets import text_box


def letters(text):
    """A table of the letters of a text, which rejects digits."""
    if any(letter.isdigit() for letter in text):
        raise ValueError(f"letters: text must have no digits; got <{text}>")
    return table(["letter"], [[letter] for letter in text])


def test_typing_calls_the_function_again(page):
    text_box(letters, "ab", label="Word")._ipython_display_()
    (bundle, _), (first, options) = page.shown
    assert "application/vnd.jupyter.widget-view+json" in bundle
    assert bundle["text/plain"] == "Run this cell in Jupyter to type a text of your own."
    assert (first, options) == (letters("ab"), {"display_id": True})
    (box,) = page.boxes
    assert (box.value, box.description, box.continuous_update) == ("ab", "Word", True)
    box.value = "abc"
    assert page.updates == [letters("abc")]


def test_a_slow_answer_may_wait_for_enter(page):
    text_box(letters, "ab", on_enter=True)._ipython_display_()
    assert not page.boxes[0].continuous_update


def test_an_error_is_shown_as_text_and_the_box_still_works(page):
    text_box(letters, "a")._ipython_display_()
    page.boxes[0].value = "a1"
    page.boxes[0].value = "ab"
    refused, answered = page.updates
    assert "text must have no digits; got &lt;a1&gt;" in refused.html
    assert "got <a1>" in repr(refused)
    assert answered == letters("ab")


def test_without_a_notebook_the_answer_is_text_and_lone_surrogates_are_removed():
    assert repr(text_box(letters, "ab")) == "letter\na\nb"
    assert "\ud83d" not in repr(text_box(letters, "a\ud83d"))


def test_an_error_that_is_no_ValueError_is_raised():
    with pytest.raises(ZeroDivisionError):
        text_box(lambda text: 1 / 0, "a").answer("a")


@pytest.mark.parametrize(
    ("sheet", "scope", "least"),
    [("fill_mask.css", ".bertlab-guesses", 8), ("playground.css", ".bertlab-playground", 10)],
)
def test_every_rule_of_an_answers_style_sheet_applies_only_to_it(sheet, scope, least):
    rules = re.sub(r"/\*.*?\*/", "", read_asset(sheet, "course.widgets"), flags=re.DOTALL)
    heads = re.findall(r"([^{}]+)\{", rules)
    selectors = [part.strip() for head in heads for part in head.split(",")]
    assert len(selectors) > least
    assert all(selector.startswith(scope) for selector in selectors)
