"""The reader's turn: what a blank contains, and sliders of a function.

How a blank responds is tested in a browser: `tests/browser/test_browser_turns.py`.
"""

import json
import re
from base64 import b64decode

import pytest

from bertlab.viz import table
from course.widgets import blank, sliders


@pytest.mark.parametrize("answer", ["<b>", "a&b", 3, 0.5, -2.0, 30_522, True + 1])
def test_a_blank_does_not_show_its_answer_in_the_source_of_the_page(answer):
    made = blank("Here & <there>", answer)
    assert repr(made) == "Your turn: Here & <there>. A blank for your answer, checked at once."
    (facts,) = re.findall("const FACTS = (.*);", made.page)
    kept = json.loads(b64decode(json.loads(facts)["answer"]))
    assert kept["answer"] == answer
    assert f'"{answer}"' not in made.page
    assert "Here &amp; &lt;there&gt;" in made.page


def test_blanks_are_kept_apart_by_question_and_answer():
    def key(*arguments):
        return re.search("blank_[0-9a-f]{16}", blank(*arguments).page)[0]

    assert key("nats", 1) == key("nats", 1.0)
    assert len({key("nats", 1), key("nats", 2), key("bits", 1), key("nats", "1")}) == 4


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
