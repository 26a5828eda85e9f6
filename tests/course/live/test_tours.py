"""The tour's HTML; `tests/browser` runs it."""

import re

import pytest

from course.live.tours import STATIONS, live_box, tour


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
    "call", [lambda: live_box(("guesses",), "a"), lambda: tour({"guess": ""})], ids=["box", "tour"]
)
def test_unknown_stations_are_named(call):
    with pytest.raises(ValueError, match=", ".join(STATIONS)):
        call()
