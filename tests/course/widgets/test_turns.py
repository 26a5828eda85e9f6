"""The reader's turn: the response of a blank to an answer, and sliders of a function."""

import pytest

from bertlab.viz import table
from course.widgets import blank, sliders


@pytest.mark.parametrize(
    ("answer", "typed", "said"),
    [
        ("men t a l", " Men t a l ", "✓ men t a l is right."),
        ("men t a l", "m e n", "✗ Not m e n. Try again, or unfold the answer."),
        (1.91, "2", "✓ You said 2; it is 1.91."),
        (1.91, "1.7", "✗ 1.7 is too low. Try again, or unfold the answer."),
        (1.91, "19", "✗ 19 is too high. Try again, or unfold the answer."),
        (30_522, "30,000", "✓ You said 30000; it is 30,522."),
        (0, "0", "✓ You said 0; it is 0."),
        (15, "15 %", "✓ You said 15; it is 15."),
        (-0.5, "0.5", "✗ 0.5 is too high. Try again, or unfold the answer."),
        (1, "many", "a number is asked for, such as 12 or 0.5; got many"),
    ],
)
def test_a_blank_responds_at_once(page, answer, typed, said):
    blank("Here", answer)._ipython_display_()
    (box,) = page.boxes
    assert (box.value, box.description, box.continuous_update) == ("", "Here", False)
    box.value = typed
    (told,) = page.updates
    assert repr(told) == said


def test_an_empty_blank_shows_its_answer_only_in_a_fold():
    shown = blank("Here", "<b>").answer("  ")
    assert repr(shown) == repr(blank("Here", 3)) == "In Jupyter, type your answer and press Enter."
    assert shown.html.endswith("<details><summary>The answer</summary><p>&lt;b&gt;</p></details>")


def squares(n, scale):
    return table(["square"], [[scale * i**2] for i in range(n)])


def test_sliders_show_the_functions_result(page):
    made = sliders(squares, n=(1, 5, 2), scale=(0.0, 1.0, 0.5))
    made._ipython_display_()
    (words, _), _, (first, _) = page.shown
    assert words["text/plain"] == "Run this cell in Jupyter to move the sliders yourself."
    assert first == squares(2, 0.5)
    assert repr(made) == repr(first)
    whole, share = page.boxes
    whole.value, share.value = 3, 1.0
    assert page.updates == [squares(3, 0.5), squares(3, 1.0)]
    assert (whole.max, whole.step, share.step) == (5, 1, 0.02)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: blank("x", None), "answer must be a text or a finite number; got None"),
        (lambda: blank("x", float("nan")), "finite number; got nan"),
        (lambda: blank("x", 3, within=-1), "within must be at least 0; got -1"),
        (lambda: sliders(squares), "at least one range"),
        (lambda: sliders(squares, n=(3, 1, 2)), "n must be .*; got"),
    ],
)
def test_invalid_turns_are_rejected(call, message):
    with pytest.raises(ValueError, match=message):
        call()
