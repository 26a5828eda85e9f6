"""The tour's HTML; `tests/browser` runs it."""

import re

import pytest

from course.live.stored import Example
from course.live.tours import STATIONS, live_box, tour
from course.publishing.front_page import EXAMPLES


def test_a_box_has_the_stations_asked_for_without_their_story():
    box = live_box(("pieces", "guess"), 'a "<b>" [MASK]')
    assert re.findall(r'<li data-station="(\w+)">', box) == ["pieces", "guess"]
    assert "<h2>" not in box
    assert 'class="story"' not in box
    assert ("[MASK] in place" in box, "[MASK] in place" in live_box(("pieces",), "a")) == (
        True,
        False,
    )
    assert 'value="a &quot;&lt;b&gt;&quot; [MASK]"' in box


def test_the_link_leads_from_the_notebook_to_the_files_of_the_model(monkeypatch):
    monkeypatch.chdir("lectures")
    assert 'href="../bertlab/weights/bertlab-mini/config.json"' in live_box(("guess",), "a")


@pytest.mark.parametrize(
    "call",
    [lambda: live_box(("guesses",), "a"), lambda: tour({"guess": ""}, EXAMPLES)],
    ids=["box", "tour"],
)
def test_unknown_stations_are_named(call):
    with pytest.raises(ValueError, match=", ".join(STATIONS)):
        call()


def test_a_sentence_is_escaped_and_a_single_one_needs_no_buttons():
    room = tour(dict.fromkeys(STATIONS, ""), [Example("", "A </script> [MASK] & b", "{word}")])
    assert room.split('class="stored">')[1].startswith('[{"text": "A \\u003c/script> [MASK] & b"')
    assert 'value="A &lt;/script&gt; [MASK] &amp; b"' in room
    assert '<button type="button" aria-current="false">&lt;</button>' in room
    assert "data-example" not in room.split("<script")[0]
    assert "data-example" in tour(dict.fromkeys(STATIONS, ""), EXAMPLES).split("<script")[0]
