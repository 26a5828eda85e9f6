"""The worked numbers of lecture 02, each checked without the page."""

from collections import Counter
from fractions import Fraction
from math import isclose, log

import pytest

from bertlab.tokenizers import ByteBPE, WordPiece, normalize
from bertlab.tokenizers.byte_level import byte_symbols, split_byte_words
from bertlab.tokenizers.likelihood import gain, likelihood
from bertlab.tokenizers.longest_match import longest_match

# The corpus of the source lecture: (cost, 2) (best, 2) (menu, 1) (men, 1) (camel, 1).
TEXTS = ["cost best menu men camel", "cost best"]
COUNTS = Counter(
    {"c": 3, "##o": 2, "##s": 4, "##t": 4, "b": 2, "##e": 5, "m": 2, "##n": 2, "##u": 1}
    | {"##a": 1, "##m": 1, "##l": 1}
)


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("best", "62 65 73 74"),
        ("你好", "e4 bd a0 e5 a5 bd"),
        ("é", "c3 a9"),
        ("🙂", "f0 9f 99 82"),
    ],
)
def test_bytes_of_words(text, codes):
    assert text.encode("utf-8").hex(" ") == codes
    assert ByteBPE.train(TEXTS, 256).encode(text).ids == [
        sorted(byte_symbols()).index(byte_symbols()[int(code, 16)]) for code in codes.split()
    ]


def test_188_bytes_show_themselves_and_68_borrow():
    shown = [chr(byte) == symbol for byte, symbol in enumerate(byte_symbols())]
    assert (sum(shown), len(shown) - sum(shown)) == (188, 68)
    assert byte_symbols()[0x20] == "\u0120"


def test_words_of_gpt2():
    words = ["I", " didn", "'t", " see", " 2", " men", "!"]
    assert split_byte_words("I didn't see 2 men!") == words


def test_the_corpus_has_28_symbols():
    assert COUNTS.total() == 4 * 2 + 4 * 2 + 4 + 3 + 5 == 28


def test_the_ratio_of_s_and_t_is_seven():
    p = Fraction(4, 28)
    assert p / (p * p) == 7
    assert likelihood(4, COUNTS["##s"], COUNTS["##t"]) == 0.25 == 7 / 28


def test_a_pair_seen_once_has_the_highest_ratio():
    assert likelihood(1, COUNTS["##a"], COUNTS["##m"]) == 1
    assert likelihood(1, COUNTS["##n"], COUNTS["##u"]) == 0.5
    trained = WordPiece.train(TEXTS, 28, criterion="likelihood")
    assert trained.merges[:2] == (("##a", "##m"), ("##n", "##u"))


def test_a_ratio_rises_from_a_third_to_a_half_when_a_neighbour_goes():
    assert likelihood(2, 3, 2) == pytest.approx(1 / 3)
    assert likelihood(2, 2, 2) == 1 / 2


def test_log_likelihood_before_and_after_the_first_merge():
    before = sum(count * log(count / 28) for count in COUNTS.values())
    assert round(before, 2) == -65.32
    joined = COUNTS - Counter({"##s": 4, "##t": 4}) + Counter({"##st": 4})
    assert joined.total() == 24
    after = sum(count * log(count / 24) for count in joined.values())
    assert round(after - before, 2) == 11.48
    assert isclose(gain(4, 4, 4, 28), after - before)
    assert round(gain(1, 1, 1, 28), 2) == 4.31


def test_each_criterion_has_its_own_first_merge():
    first = {c: WordPiece.train(TEXTS, 40, criterion=c).merges[0] for c in ("frequency", "gain")}
    assert first == {"frequency": ("##s", "##t"), "gain": ("##s", "##t")}
    assert WordPiece.train(TEXTS, 40, criterion="likelihood").merges[0] == ("##a", "##m")


def test_longest_match_by_hand():
    vocab = {"me", "men", "##u", "##us", "##s", "##t", "##al"}
    assert longest_match("menus", vocab) == ["men", "##us"]
    assert longest_match("mental", vocab) == ["men", "##t", "##al"]
    assert longest_match("menux", vocab) == ["[UNK]"]
    assert longest_match("unable", {"un", "una", "##able"}) == ["[UNK]"]


def test_normalisation_by_hand():
    assert normalize("Crème Brûlée") == "creme brulee"
    assert normalize("你好") == " 你  好 "


def test_the_page_derives_the_gain(lecture):
    page = lecture("02_bytes_and_wordpiece")
    f = page.function("f")
    f.__globals__["log"] = log
    by_page = page.function("gain_simply")
    by_page.__globals__["f"] = f
    for arguments in [(4, 4, 4, 28), (1, 3, 2, 28), (2, 5, 7, 100)]:
        assert isclose(by_page(*arguments), gain(*arguments))
