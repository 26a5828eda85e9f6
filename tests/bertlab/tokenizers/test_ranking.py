"""The criteria of BPE and WordPiece: the formulas by hand, and training against a full recount."""

import random
from collections import Counter
from math import isclose, log
from operator import add

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bertlab import data
from bertlab.parts import plain
from bertlab.tokenizers import WordPiece, count_words, fast
from bertlab.tokenizers.bpe import count_pairs, learn_merges
from bertlab.tokenizers.wordpiece import first_pieces, gain, glue, learn_pieces, ratio

counts = st.sampled_from([1, 1, 2, 3, 10, 100])
corpora = st.dictionaries(st.text("abc", min_size=1, max_size=9), counts, min_size=1, max_size=12)
# Words in pieces of several letters, as if training continued from an earlier one: `abb` can be
# made from `a` + `##bb` and from `ab` + `##b`.
parts = st.lists(st.sampled_from(["a", "b", "ab", "ba", "bb"]), min_size=2, max_size=9)
cut_words = parts.map(lambda parts: (parts[0], *("##" + part for part in parts[1:])))
cuts = st.dictionaries(cut_words, counts, min_size=2, max_size=10)


def with_ids(words):
    """The words, and an id for each of their symbols."""
    symbols = sorted({symbol for word in words for symbol in word})
    return words, {symbol: id for id, symbol in enumerate(symbols)}


def in_pieces(word_counts, cut=first_pieces):
    return with_ids({cut(word): count for word, count in word_counts.items()})


def joined(word, pair, join=glue):
    """The word with every occurrence of the pair joined, from left to right."""
    done, i = [], 0
    while i < len(word):
        found = word[i : i + 2] == pair
        done.append(join(*pair) if found else word[i])
        i += 1 + found
    return tuple(done)


def occurrences(words):
    n = Counter()
    for word, count in words.items():
        for piece in word:
            n[piece] += count
    return n


def log_likelihood(words):
    """sum over symbols of n_x ln(n_x / n), from the definition."""
    n = occurrences(words)
    return sum(count * log(count / n.total()) for count in n.values())


def merge_all(words, pair, join=glue):
    merged = Counter()
    for word, count in words.items():
        merged[joined(word, pair, join)] += count
    return merged


def joins(words, pair):
    """How often a pair can be joined: once in a a a."""
    return sum(count * (len(word) - len(joined(word, pair))) for word, count in words.items())


def brute_force(words, vocab, vocab_size, criterion, min_frequency=1, sign=1):
    """Count everything before each merge: joins for the gain, occurrences for all others."""
    vocab, merges, gains = dict(vocab), [], []
    join = add if criterion == "BPE" else glue
    while len(vocab) < vocab_size:
        n, ranked = occurrences(words), {}
        for (a, b), count in count_pairs(words).items():
            times = joins(words, (a, b)) if criterion == "gain" else count
            rest = n[a], n[b], n.total(), n[join(a, b)], a == b
            scores = {"ratio": times / (n[a] * n[b])}
            scores["gain"] = gain(times, *rest) if criterion == "gain" else None
            key = -scores.get(criterion, times), sign * vocab[a], sign * vocab[b]
            if times >= min_frequency:
                ranked[key] = (a, b), rest
        if not ranked or min(ranked)[0] >= 0:
            break
        pair, rest = ranked[min(ranked)]
        merges.append(pair)
        gains.append(gain(joins(words, pair), *rest) if join is glue else None)
        vocab.setdefault(join(*pair), len(vocab))
        words = merge_all(words, pair, join)
    return (vocab, merges, gains) if join is glue else (vocab, merges)


def learn(words, vocab, vocab_size, criterion, min_frequency=1, sign=1):
    """The same by the library."""
    tie_break = "lowest-id" if sign == 1 else "highest-id"
    options = {"min_frequency": min_frequency, "tie_break": tie_break}
    if criterion == "BPE":
        return learn_merges(words, vocab, vocab_size, **options)
    return learn_pieces(words, vocab, vocab_size, criterion=criterion, **options)


@pytest.mark.slow
@pytest.mark.parametrize("criterion", ["ratio", "gain", "frequency", "BPE"])
@settings(max_examples=120)
@given(corpora, cuts, st.integers(1, 40), st.integers(1, 3), st.sampled_from([1, -1]))
def test_training_equals_counting_everything_again(
    criterion, word_counts, pieces, room, min_frequency, sign
):
    words, vocab = in_pieces(word_counts, tuple if criterion == "BPE" else first_pieces)
    asked = words, vocab, len(vocab) + room, criterion, min_frequency, sign
    expected = brute_force(*asked)
    assert learn(*asked) == expected
    with plain():
        assert learn(*asked) == expected
    if criterion != "BPE":  # a pair may become as frequent as the last merge
        words, vocab = with_ids(pieces)
        asked = words, vocab, len(vocab) + room, criterion
        assert learn(*asked) == brute_force(*asked)


@pytest.mark.slow
@pytest.mark.corpora
@pytest.mark.parametrize(
    ("criterion", "documents", "n_words", "room", "min_frequency"),
    [
        ("ratio", slice(3, 4), 250, 60, 2),
        ("gain", slice(3, 4), 250, 60, 2),
        ("frequency", slice(9), 2_000, 150, 1),
    ],
)
def test_training_on_real_words_equals_counting_everything_again(
    criterion, documents, n_words, room, min_frequency
):
    texts = [text.lower() for document in data.documents("books")[documents] for text in document]
    words, vocab = in_pieces(dict(count_words(texts).most_common(n_words)))
    asked = words, vocab, len(vocab) + room, criterion, min_frequency
    assert learn(*asked) == brute_force(*asked)


@given(corpora)
def test_a_gain_is_the_difference_of_two_log_likelihoods(word_counts):
    words, vocab = in_pieces(word_counts)
    _, merges, gains = learn_pieces(words, vocab, len(vocab) + 40, criterion="frequency")
    for pair, promised in zip(merges, gains, strict=True):
        after = merge_all(words, pair)
        rise = log_likelihood(after) - log_likelihood(words)
        assert isclose(promised, rise, rel_tol=1e-9, abs_tol=1e-8)
        words = after


def test_both_scores_by_hand_also_of_a_repeated_symbol():
    # cost 2, best 2, menu 1, men 1, camel 1: s 4, t 4, 28 characters; s t stands 4 times.
    assert ratio(4, 4, 4) == 1 / 4
    by_hand = 4 * log(4) - 4 * log(4) - 4 * log(4) + 28 * log(28) - 24 * log(24)
    assert isclose(gain(4, 4, 4, 28), by_hand)
    assert round(by_hand, 2) == 11.48
    # Ten a in five pairs, among 20 symbols: f(0) - f(10) + f(5) - f(0) + f(20) - f(15).
    by_hand = -10 * log(10) + 5 * log(5) + 20 * log(20) - 15 * log(15)
    assert isclose(gain(5, 10, 10, 20, same=True), by_hand)


def test_a_symbol_that_exists_already_gains_on_what_it_has():
    words = {("ab", "##c"): 3, ("a", "##bc"): 2, ("abc",): 4, ("ab",): 5}
    rise = log_likelihood(merge_all(words, ("ab", "##c"))) - log_likelihood(words)
    # ab occurs 3 + 5 times, ##c 3 times, abc 4 times among 6 + 4 + 4 + 5 pieces.
    assert isclose(gain(3, 8, 3, 19, n_made=4), rise)
    assert not isclose(gain(3, 8, 3, 19), rise)


def test_it_stops_when_no_merge_makes_the_corpus_more_likely():
    words = {("a", "##b"): 1, ("a",): 100, ("##b",): 100}  # together less often than by chance
    vocab = {"a": 0, "##b": 1}
    assert gain(1, 101, 101, 202) < 0
    assert learn_pieces(words, vocab, 100, criterion="gain") == (vocab, [], [])
    assert learn_pieces(words, vocab, 100, criterion="ratio")[1] == [("a", "##b")]


def test_the_ratio_counts_occurrences_though_a_run_allows_fewer_joins():
    # a ##a ##a ##a and a: ##a ##a stands twice among 3 ##a, a ##a once among 2 a and 3 ##a.
    texts = ["aaaa a"]
    trained = WordPiece.train(texts, 100, special_tokens=["[UNK]"], criterion="ratio")
    assert 2 / (3 * 3) > 1 / (2 * 3)
    assert trained.merges[0] == ("##a", "##a")


@pytest.mark.slow
def test_on_random_corpora_with_long_runs_both_criteria_equal_brute_force(monkeypatch):
    draw = random.Random(18)
    for _ in range(600):
        # Joined in a loop, or all at once, as the frequent pairs of large corpora are.
        monkeypatch.setattr(fast, "AT_ONCE", draw.choice([1, 60]))
        runs = [draw.choice("ab") * draw.randint(1, 5) for _ in range(12)]
        texts = " ".join("".join(draw.sample(runs, draw.randint(1, 3))) for _ in range(4))
        words, vocab = in_pieces(count_words([texts]))
        size, frequency = len(vocab) + draw.randint(1, 6), draw.randint(1, 2)
        for criterion in ("ratio", "gain"):
            asked = words, vocab, size, criterion, frequency
            assert learn(*asked) == brute_force(*asked), texts
