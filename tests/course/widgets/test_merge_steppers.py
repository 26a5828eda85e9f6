"""The merge stepper: words, pairs and vocabulary, page by page."""

from course.widgets import merge_stepper
from tests.course.widgets.conftest import pages_of, rows_of

WORDS = {"cost": 2, "best": 2, "menu": 1, "men": 1, "camel": 1}
MERGES = [("s", "t"), ("m", "e"), ("me", "n")]


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


def test_the_stepper_runs_until_no_pair_is_left_and_escapes_symbols():
    last = pages_of(merge_stepper({"ab": 1}, [("a", "b")]))[-1]
    assert "None left: every word is one symbol." in last.get_text()
    shown = merge_stepper({"<b>": 1}, [("<", "b")])
    assert pages_of(shown)[1].find(class_="new").get_text() == "<b"
