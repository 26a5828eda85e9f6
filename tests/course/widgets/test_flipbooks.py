"""Flipbooks with one slider and with two."""

from bertlab.viz import Picture, lines, table
from course.widgets import flipbook, flipbook_grid
from tests.course.widgets.conftest import pages_of, soup


def test_the_first_page_is_there_before_any_script_runs():
    shown = flipbook(["<b>one</b>", "<b>two</b>"], ["First", "Second"], title="T", alt="A")
    pages = pages_of(shown)
    assert ["shown" in page["class"] for page in pages] == [True, False]
    assert [page["data-label"] for page in pages] == ["First", "Second"]
    page = soup(shown)
    assert page.find(class_="caption").get_text() == "First"
    assert page.find(class_="caption")["aria-live"] == "polite"
    assert page.find("input")["max"] == "1"


def test_pages_may_be_pictures_and_tables_and_labels_are_never_markup():
    shown = flipbook(["<p>1</p>"], ['"><script>'], title="<b>", alt="A")
    assert pages_of(shown)[0]["data-label"] == '"><script>'
    assert soup(shown).h1.get_text() == "<b>"
    picture = lines([1, 2], {"a": [1, 2]}, "y by x", alt="A rising line")
    assert isinstance(picture, Picture)
    shown = flipbook([picture, table(["a"], [[1]])], ["p", "t"], title="T", alt="A")
    first, second = pages_of(shown)
    assert first.img["alt"] == "A rising line"
    assert second.td.get_text() == "1"


def test_a_grid_lays_its_pages_row_by_row():
    names = {"row_name": "Layer", "column_name": "Head", "title": "T", "alt": "A"}
    shown = flipbook_grid([["a", "b", "c"], ["d", "e", "f"]], ["0", "1"], "xyz", **names)
    assert [page.get_text() for page in pages_of(shown)] == list("abcdef")
    assert [page["data-label"] for page in pages_of(shown)][3:] == ["1, x", "1, y", "1, z"]
    sliders = soup(shown).find_all("input")
    assert [slider["max"] for slider in sliders] == ["1", "2"]


def test_a_flipbook_opens_at_the_given_page():
    pages = ["<p>a</p>", "<p>b</p>", "<p>c</p>"]
    book = soup(flipbook(pages, ["A", "B", "C"], title="t", alt="x", start=2))
    (shown,) = book.select("section.shown")
    assert shown["data-label"] == book.select_one(".caption").text == "C"
    assert book.select_one("input[type=range]")["value"] == "2"
    assert book.select_one(".forward").has_attr("disabled")
    assert not book.select_one(".back").has_attr("disabled")
