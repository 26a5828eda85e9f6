"""The tour in a browser: what it shows before a script runs, BERT in the page, its errors."""

import re

import pytest
import torch
from playwright.sync_api import expect

from bertlab import viz
from bertlab.model.heads import BertForPreTraining, fill_mask
from bertlab.model.pretrained import BERTLAB_MINI, load_pretrained
from bertlab.tokenizers.files import load_tokenizer
from course import mine
from course.live.tours import STATIONS, WEIGHTS, packed_weights, tour
from course.own_bert import new_model, train, write_page
from course.publishing.front_page import EXAMPLES
from course.toyworld import TOYWORLD
from course.toyworld.batches import ToyData

pytestmark = pytest.mark.browser

HEAD = '<!doctype html><html lang="en"><meta charset="utf-8"><title>Tour</title><main>'
SENTENCE = EXAMPLES[0].text
OTHER = "The king gave his [MASK] to the fairest of the sisters."


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A page with only the tour, and the weights next to it."""
    folder = tmp_path_factory.mktemp("tour")
    links = {name: f'<a href="{name}.html">More</a>' for name in STATIONS}
    room = tour(links, EXAMPLES)
    (folder / "tour.html").write_text(f"{HEAD}{room}</main></html>", encoding="utf-8")
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
    """Load the model, then let it read."""
    page.get_by_role("textbox").press("Enter")
    expect(status(page)).to_have_text("The model is here: change the sentence.")
    page.get_by_role("textbox").press("Enter")
    expect(status(page)).to_contain_text("The model read")


def guessed(page):
    return page.locator(".guesses th").all_inner_texts()


DRAWN = """() => {
    const all = selector => [...document.querySelectorAll(`.bert-tour ${selector}`)];
    const of = (style, ...names) => names.map(name => +style.getPropertyValue(name));
    const numbers = text => text.match(/-?\\d+(\\.\\d+)?/g) ?? [];
    const text = ["figure.drawing", "ol"].map(part => all(part)[0].textContent).join(" ");
    const labels = all("svg").map(svg => svg.getAttribute("aria-label")).join(" ");
    return {
        words: `${text} ${labels}`.replace(/-?\\d+(\\.\\d+)?/g, "0").replace(/\\s+/g, " "),
        numbers: [text, labels].flatMap(numbers),
        values: all("path").flatMap(path => {
            const values = new Array(256).fill(0); // a bar for each that is not zero
            const bars = path.outerHTML.matchAll(/M(\\d+).5 0v(-?\\d+)/g);
            for (const [, k, value] of bars) values[k] = value;
            return values;
        }),
        arcs: all(".arcs i").flatMap(arc => of(arc.style, "--to", "--share")),
        from: of(all(".heads")[0].style, "--n", "--from"),
        bars: all(".bar span").map(bar => parseFloat(bar.style.width)),
        current: all("[aria-current=true]").map(piece => piece.textContent),
    };
}"""


def drawn(page):
    """All that the tour shows: words, and numbers apart."""
    return page.evaluate(DRAWN)


@pytest.fixture
def delivered(chromium, folder):
    """The page of a browser that runs no script."""
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((folder / "tour.html").as_uri())
    yield page
    context.close()


def test_picture_and_five_stations_are_in_the_page_before_a_script_runs(delivered):
    assert delivered.locator(".pieces button").all_inner_texts()[-3:] == ["brave", ".", "[SEP]"]
    for selector in (".arcs i", ".strip path", ".shares td", ".strips path", ".guesses td"):
        boxes = [one.bounding_box() for one in delivered.locator(selector).all()]
        assert all(box["width"] and box["height"] for box in boxes if box), selector
    assert delivered.locator(".strips figure").count() == 4
    assert guessed(delivered)[0] == "were"
    assert delivered.locator(".reading").inner_text().startswith("In layer 1, [MASK] collects:")


def test_python_and_the_page_draw_the_same_and_so_does_the_model_in_it(tab, folder):
    page = tab.page
    page.emulate_media(reduced_motion="reduce")  # or the script has moved the arcs
    page.goto((folder / "tour.html").as_uri())
    stored = drawn(page)
    page.get_by_role("button", name="a name").click()
    assert drawn(page)["words"] != stored["words"]
    page.get_by_role("button", name="a plural").click()
    assert drawn(page) == stored  # by the script now, by Python before
    start(page)
    live = drawn(page)
    for name in ("words", "current", "from"):
        assert live[name] == stored[name]
    for name, apart in (
        ("numbers", 1),
        ("values", 1),
        ("arcs", 1),
        ("bars", 0.11),
    ):  # the last digit shown
        differences = [
            abs(float(one) - float(other))
            for one, other in zip(live[name], stored[name], strict=True)
        ]
        assert max(differences) <= apart
        assert sum(difference > 0 for difference in differences) < len(differences) / 50


def arcs_of(page):
    """The pieces that the page says the heads collect most from, and where its arcs begin."""
    place = page.locator(".heads").evaluate("e => +e.style.getPropertyValue('--from')")
    return place, page.locator(".reading b").all_inner_texts()


@pytest.mark.parametrize("way", ["point", "focus", "tap"])
def test_the_arcs_move_to_the_piece_that_is_pointed_at_focused_or_tapped(page, way):
    son = page.get_by_role("button", name="son", exact=True)
    before = arcs_of(page)
    {"point": son.hover, "focus": son.focus, "tap": lambda: son.dispatch_event("click")}[way]()
    place, words = arcs_of(page)
    pieces = page.locator(".pieces button").all_inner_texts()
    assert (pieces[place], words[0]) == ("son", "son")
    assert words[1] == "s"  # head 0 of layer 1: the piece before
    assert (place, words) != before
    assert page.locator("[aria-current=true]").all_inner_texts() == ["son"]
    for column in range(2, 6):  # the table says the same as the sentence
        cells = page.locator(f".shares td:nth-child({column})").all_inner_texts()
        shares = [int(cell.split()[0]) for cell in cells[-len(pieces) :]]
        assert pieces[shares.index(max(shares))] == words[column - 1]


def test_a_head_has_one_colour_in_the_tour_and_in_the_views(page, tmp_path):
    style = "(all, name) => all.map(one => getComputedStyle(one)[name])"
    in_tour = page.locator(".arcs i:first-child").evaluate_all(style, "borderTopColor")
    heads = len(in_tour)
    view = viz.head_view([torch.ones(heads, 2, 2) / 2], ["[CLS]", "a"])
    page.goto(view.save(tmp_path / "view.html").as_uri())
    in_view = page.get_by_role("checkbox").evaluate_all(style, "fill")
    assert len(set(in_tour)) == heads == 4
    assert in_view == in_tour


def test_the_arcs_walk_once_through_the_sentence_until_the_reader_does_something(tab, folder):
    # The clock of the page goes only as far as the test says: on a busy machine no step is missed.
    page = tab.page
    page.clock.install(time=0)
    page.clock.pause_at(3_600_000)
    page.goto((folder / "tour.html").as_uri())
    heads = page.locator(".heads")

    def walked(steps):
        found = []
        for _ in range(steps):
            page.clock.run_for(450)
            found.append(int(re.search(r"--from: (\d+)", heads.get_attribute("style"))[1]))
        return found

    assert walked(10) == [0, 1, 2, 3, 4, 5, 6, 7, 7, 7]
    page.reload()
    assert walked(3) == [0, 1, 2]
    page.get_by_role("button", name="brave").hover()
    assert walked(3) == [8] * 3


def asked_for_weights(tab):
    """The requests for the weights, from now on."""
    asked = []
    tab.page.on("request", lambda one: WEIGHTS in one.url and asked.append(one.url))
    return asked


def test_the_model_is_loaded_when_the_reader_types_and_not_before(tab, folder):
    asked = asked_for_weights(tab)
    tab.page.goto((folder / "tour.html").as_uri())
    tab.page.get_by_role("button", name="king").hover()
    tab.page.get_by_role("button", name="a verb").click()
    tab.page.get_by_role("slider").press("ArrowRight")
    tab.page.wait_for_load_state("networkidle")
    assert asked == []
    tab.page.get_by_role("textbox").press("End")
    tab.page.get_by_role("textbox").press_sequentially(" He came.")
    expect(tab.page.locator(".pieces button")).to_contain_text(["came"])
    assert len(asked) == 1


def test_the_model_is_loaded_when_the_reader_scrolls_to_the_box(tab, folder):
    asked = asked_for_weights(tab)
    tab.page.set_viewport_size({"width": 1100, "height": 400})
    tab.page.goto((folder / "tour.html").as_uri())
    tab.page.evaluate("scrollTo(0, 1)")
    tab.page.wait_for_timeout(100)
    assert asked == []
    tab.page.evaluate("document.querySelector('.bert-tour ol').scrollIntoView()")
    expect(status(tab.page)).to_have_text("The model is here: change the sentence.")
    assert len(asked) == 1


def test_a_chosen_sentence_is_in_the_box_and_its_note_stays_when_the_model_has_read_it(page):
    for example in EXAMPLES[1:]:
        page.get_by_role("button", name=example.label).click()
        expect(page.get_by_role("textbox")).to_have_value(example.text)
        assert page.locator("[aria-pressed=true]").all_inner_texts() == [example.label]
    note = page.locator(".note").inner_text()
    start(page)
    assert page.locator(".note").inner_text() == note
    page.get_by_role("textbox").fill(OTHER)
    expect(page.locator(".pieces button")).to_contain_text(["gave"])
    assert page.locator(".note").inner_text() == ""
    assert page.locator("[aria-pressed=true]").count() == 0


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
    start(page)
    page.get_by_role("button", name="wrong and sure").focus()
    page.keyboard.press("Tab")
    focused = page.locator(":focus")
    assert (focused.inner_text(), focused.get_attribute("aria-current")) == ("[CLS]", "true")
    slider = page.get_by_role("slider", name="Layer")
    before = page.locator(".shares").inner_text()
    slider.focus()
    slider.press("ArrowRight")
    assert page.locator(".shares caption").inner_text() == "What [CLS] collects in layer 2"
    assert page.locator(".shares").inner_text() != before


def test_each_heads_shares_sum_to_100_percent(page):
    start(page)
    for column in range(2, 6):
        shares = page.locator(f".shares tbody td:nth-child({column})").all_inner_texts()
        assert sum(int(share.split()[0]) for share in shares) == pytest.approx(100, abs=4)


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
    tab.page.get_by_role("textbox").press("Enter")
    expect(status(tab.page)).to_have_text(
        f"The model could not be loaded: {told}. Reload the page to try again."
    )
    tab.errors.clear()  # the browser's own: a script that ends too early, a file that is not there


def test_without_workers_the_page_itself_reads(page):
    page.evaluate("delete window.Worker")
    start(page)
    assert len(guessed(page)) == 5
