"""Questions of earlier lectures: the page chooses them, and keeps what its reader knew."""

import datetime

import pytest
from nbclient import NotebookClient
from playwright.sync_api import expect

from course.widgets import before_you_start, blank
from tests.browser.conftest import export, notebook_of

pytestmark = pytest.mark.browser

PAGE = "<!doctype html><html lang='en'><meta charset='utf-8'><title>A page</title>{}</html>"
SHOWN = ".bertlab-earlier details:not([hidden])"


@pytest.fixture
def ask(tab, tmp_path):
    """The page of a lecture on a day after the first; returns the keys of what it asks."""

    def asked(lecture, day=0):
        path = tmp_path / f"{lecture}.html"
        path.write_text(PAGE.format(before_you_start(lecture).html), encoding="utf-8")
        tab.page.clock.set_fixed_time(datetime.datetime(2026, 9, 1 + day, 12))
        tab.page.goto(path.as_uri())
        expect(tab.page.locator(SHOWN)).to_have_count(3)
        return tab.page.locator(SHOWN).evaluate_all("all => all.map(one => one.dataset.key)")

    return asked


def answer(page, key, button):
    """Unfold a question and say whether it was known."""
    fold = page.locator(f'details[data-key="{key}"]')
    fold.locator("summary").click()
    fold.get_by_role("button", name=button).click()
    expect(fold.get_by_role("button", name=button)).to_have_attribute("aria-pressed", "true")


def test_what_was_missed_comes_first_and_what_was_known_after_growing_days(tab, ask):
    first = ask("06_bert")
    assert len({key.split()[0] for key in first}) == 3
    answer(tab.page, first[0], "I knew it")
    answer(tab.page, first[1], "Not yet")
    assert ask("06_bert") == first, "on the same day it stays where it was"
    assert ask("07_objectives", day=1)[0] == first[1]
    assert first[0] not in ask("06_bert", day=1)
    again = ask("06_bert", day=2)
    assert again[:2] == [first[1], first[0]], "missed; then known once, two days ago"
    answer(tab.page, first[0], "I knew it")
    answer(tab.page, first[1], "I knew it")
    assert set(first[:2]).isdisjoint(ask("06_bert", day=3))
    assert ask("06_bert", day=4)[0] == first[1], "missed and then known: after two days"
    assert ask("06_bert", day=6)[:2] == first[:2], "known twice: after four days"


def test_a_changed_mind_counts_once_and_three_are_of_two_lectures(tab, ask):
    first = ask("05_transformer")
    for button in ("I knew it", "Not yet", "I knew it", "I knew it"):
        fold = tab.page.locator(f'details[data-key="{first[0]}"]')
        if not fold.evaluate("fold => fold.open"):
            fold.locator("summary").click()
        fold.get_by_role("button", name=button).click()
    kept = tab.page.evaluate("JSON.parse(localStorage['bertlab earlier'])")
    assert kept[first[0]][0] == 1
    everything = tab.page.locator("details").evaluate_all("all => all.map(one => one.dataset.key)")
    missed = [key for key in everything if key.startswith("02_")]
    tab.page.evaluate(
        "keys => localStorage['bertlab earlier'] = JSON.stringify("
        "Object.fromEntries(keys.map(key => [key, [0, 1, 2]])))",
        missed,
    )
    asked = ask("05_transformer", day=1)
    assert [key[:2] for key in asked[:2]] == ["02", "02"]
    assert asked[2][:2] != "02"


def test_a_blank_that_was_missed_is_asked_in_a_later_lecture(tab, ask, tmp_path):
    for label, right, typed in (("cosine", 0.8, "0.5 0.8"), ("bytes", 13, "13"), ("F1", 2, "1")):
        path = tmp_path / f"{label}.html"
        path.write_text(PAGE.format(blank(label, right)._repr_html_()), encoding="utf-8")
        tab.page.goto(path.as_uri())
        frame = tab.page.frame_locator("iframe")
        for text in typed.split():
            frame.get_by_label(label).fill(text)
            frame.get_by_label(label).press("Enter")
            expect(frame.get_by_role("status")).to_contain_text(text)
            tab.wait_until_kept(text)
    missed = "03_static_to_contextual cosine"
    asked = ask("06_bert")
    assert asked[0] == missed, "not the right one, and nothing of a later lecture"
    assert {key.split()[1] for key in asked[1:]} <= set("0123456789")
    fold = tab.page.locator(f'details[data-key="{missed}"]')
    expect(fold).to_contain_text("What is the cosine of (1, 2) and (2, 1)?")
    expect(fold.locator(".answer")).to_be_hidden()
    answer(tab.page, missed, "I knew it")
    expect(fold.locator(".answer")).to_have_text("0.8")
    assert missed not in ask("06_bert", day=1)
    assert ask("07_objectives", day=2)[0] == missed


@pytest.mark.parametrize("kept", ["[1, 2", '"no"', "null", '{"04_attention 0": "x"}', None])
def test_a_damaged_or_refused_storage_gives_the_fixed_choice(tab, ask, kept):
    first = ask("06_bert")
    if kept is None:
        tab.page.add_init_script(
            "Object.defineProperty(window, 'localStorage', {get() { throw Error('refused'); }})"
        )
    else:
        tab.page.evaluate("kept => localStorage.setItem('bertlab earlier', kept)", kept)
    assert ask("06_bert") == first
    answer(tab.page, first[0], "Not yet")


def test_they_are_asked_in_jupyterlab_and_in_an_export(tab, lab, tmp_path, keep_screenshot):
    page = notebook_of('from course import widgets\nwidgets.before_you_start("07_objectives")')
    lab.run(tab.page, "earlier", page)
    expect(tab.page.locator(SHOWN)).to_have_count(3)
    keys = tab.page.locator(SHOWN).evaluate_all("all => all.map(one => one.dataset.key)")
    answer(tab.page, keys[2], "Not yet")
    keep_screenshot(tab.page, "asked")
    tab.page.keyboard.press("Control+s")
    expect(tab.page.locator(".jp-mod-dirty")).to_have_count(0)
    tab.page.reload()
    expect(tab.page.locator(SHOWN)).to_have_count(3)
    NotebookClient(page, timeout=600).execute()
    tab.page.goto(export(page, tmp_path / "earlier.html").as_uri())
    expect(tab.page.locator(SHOWN)).to_have_count(3)
    answer(tab.page, keys[0], "I knew it")
