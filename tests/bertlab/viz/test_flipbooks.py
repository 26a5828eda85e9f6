"""Flipbooks, and the two widgets that are made of them."""

import math

import pytest
import torch
from bs4 import BeautifulSoup

from bertlab.viz import Picture, flipbook, flipbook_grid, head_flipbook, lines, table
from course.widgets import merge_stepper, softmax_scaling

WORDS = {"cost": 2, "best": 2, "menu": 1, "men": 1, "camel": 1}
MERGES = [("s", "t"), ("m", "e"), ("me", "n")]


def pages_of(shown):
    return BeautifulSoup(shown.page, "html.parser").find_all("section", class_="page")


def rows_of(node):
    return [[cell.get_text() for cell in row.find_all(["th", "td"])] for row in node.find_all("tr")]


def test_the_first_page_is_there_before_any_script_runs():
    shown = flipbook(["<b>one</b>", "<b>two</b>"], ["First", "Second"], title="T", alt="A")
    pages = pages_of(shown)
    assert ["shown" in page["class"] for page in pages] == [True, False]
    assert [page["data-label"] for page in pages] == ["First", "Second"]
    page = BeautifulSoup(shown.page, "html.parser")
    assert page.find(class_="caption").get_text() == "First"
    assert page.find(class_="caption")["aria-live"] == "polite"
    assert page.find("input")["max"] == "1"


def test_pages_may_be_pictures_and_tables():
    picture = lines([1, 2], {"a": [1, 2]}, xlabel="x", ylabel="y", title="", alt="A rising line")
    assert isinstance(picture, Picture)
    shown = flipbook([picture, table(["a"], [[1]])], ["p", "t"], title="T", alt="A")
    first, second = pages_of(shown)
    assert first.img["alt"] == "A rising line"
    assert second.td.get_text() == "1"


def test_labels_are_text_and_never_markup():
    shown = flipbook(["<p>1</p>"], ['"><script>'], title="<b>", alt="A")
    assert pages_of(shown)[0]["data-label"] == '"><script>'
    assert BeautifulSoup(shown.page, "html.parser").h1.get_text() == "<b>"


def test_flipbook_says_what_is_wrong_with_its_pages():
    with pytest.raises(ValueError, match="at least one page; got none"):
        flipbook([], [], title="T", alt="A")
    with pytest.raises(ValueError, match="one for each of the 2 pages; got 1"):
        flipbook(["a", "b"], ["1"], title="T", alt="A")
    with pytest.raises(ValueError, match="got int"):
        flipbook([3], ["1"], title="T", alt="A")


def test_a_grid_lays_its_pages_row_by_row():
    names = {"row_name": "Layer", "column_name": "Head", "title": "T", "alt": "A"}
    shown = flipbook_grid([["a", "b", "c"], ["d", "e", "f"]], ["0", "1"], "xyz", **names)
    assert [page.get_text() for page in pages_of(shown)] == list("abcdef")
    assert [page["data-label"] for page in pages_of(shown)][3:] == ["1, x", "1, y", "1, z"]
    sliders = BeautifulSoup(shown.page, "html.parser").find_all("input")
    assert [slider["max"] for slider in sliders] == ["1", "2"]
    with pytest.raises(ValueError, match=r"2 rows of 3 pages.*rows of \[3, 2\]"):
        flipbook_grid([["a", "b", "c"], ["d", "e"]], ["0", "1"], "xyz", **names)


def test_the_stepper_shows_the_table_of_the_slides():
    pages = pages_of(merge_stepper(WORDS, MERGES))
    assert [page["data-label"] for page in pages] == [
        "Start: 11 characters, no merge yet",
        "Merge 1 of 3: s + t → st, which occurred 4 times",
        "Merge 2 of 3: m + e → me, which occurred 3 times",
        "Merge 3 of 3: me + n → men, which occurred 2 times",
    ]
    words, pairs = pages[0].find_all("table")
    assert rows_of(words)[1:] == [
        ["cost", "2"], ["best", "2"], ["menu", "1"], ["men", "1"], ["camel", "1"]
    ]  # fmt: skip
    assert rows_of(pairs)[1:3] == [["s t", "", "4", "joined next"], ["m e", "", "3", ""]]
    assert "and 3 more pairs" in pages[0].get_text()


def test_the_stepper_marks_the_new_symbol_in_words_and_vocabulary():
    last = pages_of(merge_stepper(WORDS, MERGES))[-1]
    assert [token.get_text() for token in last.find_all(class_="new")] == ["men"] * 3
    vocabulary = [token.get_text() for token in last.find(class_="wide").find_all(class_="token")]
    assert vocabulary == [*"abcelmnostu", "st", "me", "men"]


def test_the_stepper_names_ties_and_the_pair_that_wins():
    third = pages_of(merge_stepper(WORDS, MERGES))[2].find_all("table")[1]
    assert rows_of(third)[1:6] == [
        ["me n", "", "2", "joined next, tie of 5"],
        ["c o", "", "2", "tie of 5"],
        ["o st", "", "2", "tie of 5"],
        ["b e", "", "2", "tie of 5"],
        ["e st", "", "2", "tie of 5"],
    ]


def test_the_stepper_goes_on_until_nothing_is_left():
    last = pages_of(merge_stepper({"ab": 1}, [("a", "b")]))[-1]
    assert "None left: every word is one symbol." in last.get_text()


def test_a_symbol_is_text_and_never_markup():
    shown = merge_stepper({"<b>": 1}, [("<", "b")])
    assert pages_of(shown)[1].find(class_="new").get_text() == "<b"


@pytest.mark.parametrize(
    ("words", "merges", "message"),
    [
        ({}, [], "at least one word"),
        ({"a": 0}, [], "counts of at least 1"),
        ({"cost": 1}, [("s", "t"), ("s", "t")], r"merges\[1\] is \('s', 't'\).*does not occur"),
    ],
)
def test_the_stepper_says_what_is_wrong(words, merges, message):
    with pytest.raises(ValueError, match=message):
        merge_stepper(words, merges)


def test_the_scores_112_and_96_become_14_and_12_at_the_square_root_of_64():
    pages = pages_of(softmax_scaling())
    assert len(pages) == 16
    assert pages[7]["data-label"] == (
        "Divided by 8, the square root of d_attn = 64: weights 0.88, 0.12"
    )
    assert rows_of(pages[7])[1:] == [
        ["key 1", "", "14", "", "0.88"],
        ["key 2", "", "12", "", "0.12"],
    ]
    assert BeautifulSoup(softmax_scaling().page, "html.parser").option["value"] == "7"


def test_every_page_of_the_scaling_widget_agrees_with_math_exp():
    for divisor, page in enumerate(pages_of(softmax_scaling([3.0, -1.0, 0.5])), start=1):
        exps = [math.exp(score / divisor) for score in (3.0, -1.0, 0.5)]
        shown = [float(row[-1]) for row in rows_of(page)[1:]]
        assert shown == pytest.approx([value / sum(exps) for value in exps], abs=0.0051)


def test_a_root_that_is_no_whole_number_gets_a_page_of_its_own():
    labels = [page["data-label"] for page in pages_of(softmax_scaling(d_attn=2))]
    assert [label.split(":")[0] for label in labels] == [
        "Divided by 1",
        "Divided by 1.41, the square root of d_attn = 2",
        "Divided by 2",
        "Divided by 3",
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"scores": [1.0]}, "at least two finite numbers"),
        ({"scores": [1.0, math.inf]}, "at least two finite numbers"),
        ({"labels": ["a"]}, "one for each of the 2 scores; got 1"),
        ({"d_attn": 0}, "d_attn must be at least 1"),
    ],
)
def test_the_scaling_widget_says_what_is_wrong(arguments, message):
    with pytest.raises(ValueError, match=message):
        softmax_scaling(**arguments)


def test_the_head_flipbook_has_every_head_in_percent():
    layers = [
        torch.eye(2).expand(3, 2, 2),
        torch.tensor([[0.254, 0.746], [1.0, 0.0]]).expand(3, 2, 2),
    ]
    pages = pages_of(head_flipbook(layers, ["<a>", "b"]))
    assert len(pages) == 6
    assert pages[4]["data-label"] == "layer 1, head 1"
    assert rows_of(pages[4]) == [["", "<a>", "b"], ["<a>", "25", "75"], ["b", "100", "0"]]


def test_a_flipbook_opens_at_the_page_it_is_told():
    page = flipbook(
        ["<p>a</p>", "<p>b</p>", "<p>c</p>"], ["A", "B", "C"], title="t", alt="x", start=2
    )
    soup = BeautifulSoup(page.page, "html.parser")
    (shown,) = soup.select("section.shown")
    assert shown["data-label"] == soup.select_one(".caption").text == "C"
    assert soup.select_one("input[type=range]")["value"] == "2"
    assert soup.select_one(".forward").has_attr("disabled")
    assert not soup.select_one(".back").has_attr("disabled")
    with pytest.raises(ValueError, match="start must be the number of a page, 0 to 0; got 1"):
        flipbook(["<p>a</p>"], ["A"], title="t", alt="x", start=1)
