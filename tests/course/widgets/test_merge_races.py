"""The comparison of criteria: its numbers against hand-worked ones and the library's training."""

import math
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertlab.tokenizers import WordPiece
from bertlab.tokenizers.wordpiece import first_pieces
from course.widgets import merge_race
from course.widgets.merge_choices import run
from tests.course.widgets.conftest import pages_of, rows_of, soup
from tests.course.widgets.test_merge_steppers import WORDS

CRITERIA = ("frequency", "ratio", "gain")
GAIN_STOPS = {"a": 2, "abaa": 2, "abbb": 1}


def columns_of(page):
    return page.find_all(class_="rival")


def labels_of(shown):
    return [page["data-label"] for page in pages_of(shown)]


def test_the_first_page_has_the_counts_of_the_lecture():
    frequency, ratio = columns_of(pages_of(merge_race(WORDS))[0])
    words, pairs = frequency.find_all("table")
    assert rows_of(words)[1:] == [
        ["c##o##s##t", "2"],
        ["b##e##s##t", "2"],
        ["m##e##n##u", "1"],
        ["m##e##n", "1"],
        ["c##a##m##e##l", "1"],
    ]
    assert rows_of(pairs)[:3] == [
        ["pair", "", "count", "nab", "na", "nb", ""],
        ["##s ##t", "", "4", "4", "4", "4", "joined next"],
        ["b ##e", "", "2", "2", "2", "5", ""],
    ]
    assert len(rows_of(pairs)) == 1 + 6
    assert "and 6 more pairs" in frequency.get_text()
    # By hand: 1 / (1 * 1), 1 / (2 * 1), 1 / (3 * 1), 2 / (3 * 2), 2 / (2 * 4), 4 / (4 * 4)
    assert rows_of(ratio.find_all("table")[1])[1:] == [
        ["##a ##m", "", "1", "1", "1", "1", "joined next"],
        ["##n ##u", "", "0.5", "1", "2", "1", ""],
        ["c ##a", "", "0.333", "1", "3", "1", ""],
        ["c ##o", "", "0.333", "2", "3", "2", ""],
        ["##o ##s", "", "0.25", "2", "2", "4", ""],
        ["##s ##t", "", "0.25", "4", "4", "4", ""],
    ]


def test_a_page_marks_the_newest_piece_in_each_column():
    first = pages_of(merge_race(WORDS, 1))[1]
    new = [[token.get_text() for token in c.find_all(class_="new")] for c in columns_of(first)]
    assert new == [["##st", "##st"], ["##am"]]


def test_ties_and_their_winner_are_marked_in_the_order_of_ids():
    # After ##s + ##t, five pairs occur twice: b, c, m come first in the alphabet, then ##e, ##o.
    second = pages_of(merge_race(WORDS, 2))[1]
    pairs = rows_of(columns_of(second)[0].find_all("table")[1])[1:7]
    tied = ["b ##e", "c ##o", "m ##e", "##e ##n", "##e ##st", "##o ##st"]
    assert [row[0] for row in pairs] == tied
    assert [row[-1] for row in pairs] == ["joined next, tie of 6", *["tie of 6"] * 5]


def test_gain_is_the_rise_of_the_log_likelihood_worked_by_hand():
    shown = merge_race(WORDS, 1, criteria=["gain"])
    # ##s and ##t, 4 each of 28 tokens, become 4 of 24.
    rise = 28 * math.log(28) - 24 * math.log(24) - 4 * math.log(4)
    assert labels_of(shown)[1] == "Merge 1: gain joins ##s + ##t (+11.48 nats)"
    start, first = pages_of(shown)
    counts = [3, 2, 4, 4, 2, 5, 2, 2, 1, 1, 1, 1]
    assert sum(counts) == 28
    expected = sum(n * math.log(n / 28) for n in counts)
    before = start.find(class_="totals").get_text()
    assert before == f"28 tokens log-likelihood −{abs(expected):.2f} nats"
    after = first.find(class_="totals").get_text()
    assert after == f"24 tokens log-likelihood −{abs(expected + rise):.2f} nats (+11.48)"


def test_a_criterion_without_merges_says_so_and_stops():
    pages = pages_of(merge_race(GAIN_STOPS, 9, criteria=["gain", "frequency"]))
    assert [page["data-label"] for page in pages][3:] == [
        "Merge 3: gain joins a + ##baa (+1.64 nats), frequency joins ab + ##aa (2 times)",
        "Merge 4: gain has stopped, frequency joins ##b + ##b (once)",
        "Merge 5: gain has stopped, frequency joins ab + ##bb (once)",
    ]
    gain, frequency = columns_of(pages[-1])
    told = gain.find(class_="stop").get_text()
    assert told == "It stops here: no merge would raise the log-likelihood."
    assert gain.find_all(class_=["chosen", "new"]) == []
    assert [row[2] for row in rows_of(gain.find_all("table")[1])[1:]] == ["−0.28", "−0.80"]
    assert rows_of(gain.table) == rows_of(columns_of(pages[-2])[0].table)
    assert frequency.find(class_="stop").get_text() == "It stops here: every word is one piece."


def test_bars_are_shares_of_the_best_value_and_empty_below_zero():
    def widths(column):
        return [bar.span["style"].split(";")[0] for bar in column.find_all(class_="bar")]

    pages = pages_of(merge_race(GAIN_STOPS, 9, criteria=["gain"]))
    # Gains of 2.97, 0.54, -0.40 and -1.15 nats; then -0.28 and -0.80.
    assert widths(pages[0]) == ["width:100.0%", "width:18.3%", "width:0.0%", "width:0.0%"]
    assert widths(pages[-1]) == ["width:0.0%", "width:0.0%"]


def test_a_race_that_could_go_on_does_not_stop_and_a_piece_is_never_markup():
    assert all(page.find(class_="stop") is None for page in pages_of(merge_race(WORDS, 3)))
    assert all(page.find(class_="chosen") for page in pages_of(merge_race(WORDS, 3)))
    shown = merge_race({"<b>": 1}, 1)
    assert pages_of(shown)[1].find(class_="new").get_text() == "<b"
    assert "<b + " not in shown.page
    assert soup(shown).find("section").b.get_text() == "frequency"


def test_a_pair_of_equal_pieces_is_counted_as_its_criterion_counts_it():
    # ##a ##a occurs twice in a ##a ##a ##a, but merging gives a ##aa ##a. The ratio counts
    # occurrences: 10 / (15 * 15).
    frequency, ratio = columns_of(pages_of(merge_race({"aaaa": 5}, 1))[0])
    row = rows_of(frequency.find_all("table")[1])[1]
    assert row[:6] == ["##a ##a", "", "10", "5", "15", "15"]
    pairs = {row[0]: row[2:6] for row in rows_of(ratio.find_all("table")[1])[1:]}
    assert pairs == {"a ##a": ["0.0667", "5", "5", "15"], "##a ##a": ["0.0444", "10", "15", "15"]}


def test_labels_and_alt_describe_every_step():
    shown = merge_race(WORDS, 2)
    assert labels_of(shown)[:2] == [
        "Start: every word in single characters, 28 tokens",
        "Merge 1: frequency joins ##s + ##t (4 times), ratio joins ##a + ##m (1 of 1 × 1)",
    ]
    assert shown.alt.startswith(". ".join(labels_of(shown)) + ". At the end frequency has 22 ")
    assert "ratio has 26 tokens and a log-likelihood of −58.12 nats." in shown.alt


@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_race_has_the_merges_of_training(criterion):
    texts = ["cost best menu men camel", "cost best"]
    options = {"criterion": criterion, "special_tokens": ["[UNK]"]}
    trained = WordPiece.train(texts, 1_000, **options)
    words = {first_pieces(word): count for word, count in WORDS.items()}
    states = run(words, criterion, 100)
    assert tuple(state.next_pair for state in states) == (*trained.merges, None)
    rises = [b.log_likelihood - a.log_likelihood for a, b in pairwise(states)]
    assert rises == pytest.approx(trained.gains)


@given(
    st.dictionaries(st.text("ab#", min_size=1, max_size=6), st.integers(1, 4), min_size=1),
    st.sampled_from(CRITERIA),
)
def test_the_pair_on_top_is_the_one_that_training_joins(word_counts, criterion):
    words = Counter()
    for word, count in word_counts.items():
        words[first_pieces(word)] += count
    for state in run(words, criterion, 30):
        best = next(iter(state.scores), None)
        if state.next_pair is None:
            assert best is None or (criterion == "gain" and state.scores[best].value <= 0)
        else:
            assert state.next_pair == best
