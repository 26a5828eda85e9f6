"""The tour in a browser: BERT in the page, by keyboard, and its error messages."""

import re

import pytest
from playwright.sync_api import expect

from bertlab.model.heads import BertForPreTraining, fill_mask
from bertlab.model.pretrained import BERTLAB_MINI, load_pretrained
from bertlab.tokenizers.files import load_tokenizer
from course import mine
from course.live.tours import SENTENCE, STATIONS, WEIGHTS, packed_weights, tour
from course.own_bert import new_model, train, write_page
from course.toyworld import TOYWORLD
from course.toyworld.batches import ToyData

pytestmark = pytest.mark.browser

HEAD = '<!doctype html><html lang="en"><meta charset="utf-8"><title>Tour</title><main>'
OTHER = "The king gave his [MASK] to the fairest of the sisters."


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A page with only the tour, and the weights next to it."""
    folder = tmp_path_factory.mktemp("tour")
    links = {name: f'<a href="{name}.html">More</a>' for name in STATIONS}
    (folder / "tour.html").write_text(f"{HEAD}{tour(links)}</main></html>", encoding="utf-8")
    (folder / WEIGHTS).write_text(packed_weights(), encoding="utf-8")
    return folder


@pytest.fixture
def page(tab, folder):
    tab.page.goto((folder / "tour.html").as_uri())
    return tab.page


@pytest.fixture(scope="module")
def reference():
    return load_pretrained(BERTLAB_MINI, BertForPreTraining), load_tokenizer(BERTLAB_MINI)


def test_the_page_of_ones_own_bert_opens_from_a_file_and_guesses_as_pytorch(tab, tmp_path):
    model = new_model(32, 1)
    data = ToyData(probability=0.4, n_batches=40).epoch(0)
    rows = train(model, (data[n] for n in range(40)), 40, 5e-3)
    found = mine.Map((mine.Mine("gelu", "06", "ex06_bert_encoder", mine.OPEN),))
    tab.page.goto(write_page(tmp_path / "my.html", model, rows, found).as_uri())
    start(tab.page)
    text = tab.page.get_by_role("textbox").input_value()
    (wanted,) = fill_mask(model, TOYWORLD.tokenizer, text)
    assert guessed(tab.page)[0] == wanted[0][0]
    assert set(guessed(tab.page)) == {word for word, _ in wanted}


def status(page):
    return page.locator("form [role=status]")


def start(page):
    page.get_by_role("button", name="Start").click()
    expect(status(page)).to_contain_text("The model read")


def guessed(page):
    return page.locator(".guesses th").all_inner_texts()


def test_the_predictions_are_pytorchs_and_follow_the_keys(page, reference):
    start(page)
    assert guessed(page) == [token for token, _ in fill_mask(*reference, SENTENCE)[0]]
    page.get_by_role("textbox").fill("")
    page.get_by_role("textbox").press_sequentially(OTHER)
    pieces = reference[1].encode(OTHER).tokens
    expect(page.locator(".pieces button")).to_have_text(pieces)
    (expected,) = fill_mask(*reference, OTHER)
    assert guessed(page) == [token for token, _ in expected]
    shares = page.locator(".guesses td:last-child").all_inner_texts()
    assert shares == [f"{100 * share:.1f} %" for _, share in expected]


def test_a_worker_reads_so_that_typing_never_waits(page):
    start(page)
    assert len(page.workers) == 1
    page.get_by_role("textbox").fill("word " * 30)
    expect(status(page)).to_have_text(re.compile(r"The model read 32 pieces in \d+ ms\."))


def test_all_of_it_works_by_keyboard(page):
    for _ in range(2):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(status(page)).to_contain_text("The model read")
    for _ in range(2):  # to the first link's neighbour: the pieces
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    focused = page.locator(":focus")
    assert (focused.inner_text(), focused.get_attribute("aria-pressed")) == ("[CLS]", "true")
    assert page.locator(".id").inner_text() == "[CLS] is entry 2."
    slider = page.get_by_role("slider", name="Layer")
    before = page.locator(".shares").inner_text()
    slider.focus()
    slider.press("ArrowRight")
    assert page.locator(".caption").inner_text() == "What [CLS] collects in layer 1, head 0:"
    assert page.locator(".shares").inner_text() != before


def test_shares_sum_to_100_percent(page):
    start(page)
    shares = page.locator(".shares small").all_inner_texts()
    assert sum(float(share.split()[0]) for share in shares) == pytest.approx(100, abs=1)


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("word " * 600, "The text has 602 tokens; the model reads at most 512."),
        ("word " * 150, "It was trained on 128 at most."),
        ("", "The model read 2 pieces"),
        ("Ꙁꙁ 𓀀 你好", "The model read"),
    ],
)
def test_an_odd_sentence_is_explained_and_the_page_still_works(page, typed, told):
    start(page)
    box = page.get_by_role("textbox")
    box.evaluate("(box, typed) => { box.maxLength = 9999; box.value = typed }", typed)
    box.press("Enter")
    expect(status(page)).to_contain_text(told)
    box.fill("The dog [MASK].")
    expect(status(page)).to_contain_text("The model read 6 pieces")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda text: text[: len(text) // 2], "the file is not whole"),
        (lambda text: text.replace('"weights": "', '"weights": "AAAA', 1), "the file is not whole"),
        (None, f"{WEIGHTS} is not there"),
    ],
)
def test_a_truncated_changed_or_missing_file_of_weights_is_reported(
    tab, folder, tmp_path, change, told
):
    (tmp_path / "tour.html").write_bytes((folder / "tour.html").read_bytes())
    if change:
        changed = change((folder / WEIGHTS).read_text(encoding="utf-8"))
        (tmp_path / WEIGHTS).write_text(changed, encoding="utf-8")
    tab.page.goto((tmp_path / "tour.html").as_uri())
    tab.page.get_by_role("button", name="Start").click()
    expect(status(tab.page)).to_have_text(
        f"The model could not be loaded: {told}. Reload the page to try again."
    )
    tab.errors.clear()  # the browser's own: a script that ends too early, a file that is not there


def test_without_workers_the_page_itself_reads(page):
    page.evaluate("delete window.Worker")
    start(page)
    assert len(guessed(page)) == 5
