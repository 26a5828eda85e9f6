"""The worked numbers of lecture 01, each checked without the page."""

import pytest

from bertlab.tokenizers import BPE
from bertlab.tokenizers.learning import learn_merges
from bertlab.tokenizers.merges import apply_merges, count_pairs, merge_pair

WORDS = {"cost": 2, "best": 2, "menu": 1, "men": 1, "camel": 1}
ALPHABET = list("abcelmnostu")


@pytest.fixture
def symbols():
    return {tuple(word): count for word, count in WORDS.items()}


def test_i_enjoyed_the_game_in_words_and_in_pieces(lecture):
    page = lecture("01_words_to_subwords")
    word_tokens, two_pieces = page.function("word_tokens"), page.function("two_pieces")
    vocabulary = ["game", "the", "I", "played", "walked", "enjoy"]
    assert word_tokens("I played the game", vocabulary) == ["I", "played", "the", "game"]
    assert word_tokens("I enjoyed the game", vocabulary) == ["I", "<UNK>", "the", "game"]
    pieces = ["game", "the", "I", "play", "walk", "ed", "enjoy"]
    assert two_pieces("enjoyed", pieces) == ["enjoy", "##ed"]
    assert two_pieces("played", pieces) == ["play", "##ed"]
    assert two_pieces("walked", pieces) == ["walk", "##ed"]
    assert two_pieces("game", pieces) == ["game"]
    assert two_pieces("hated", pieces) == ["<UNK>"]


def test_eleven_characters_leave_room_for_three_merges(symbols):
    assert sorted({symbol for word in symbols for symbol in word}) == ALPHABET
    assert 14 - len(ALPHABET) == 3


def test_every_pair_count_of_the_first_round(symbols):
    by_hand = {
        "co": 2, "os": 2, "st": 4, "be": 2, "es": 2, "me": 3,
        "en": 2, "nu": 1, "ca": 1, "am": 1, "el": 1,
    }  # fmt: skip
    assert {"".join(pair): count for pair, count in count_pairs(symbols).items()} == by_hand


def test_every_pair_count_of_the_third_round(symbols):
    for pair in (("s", "t"), ("m", "e")):
        symbols = {merge_pair(word, pair): count for word, count in symbols.items()}
    by_hand = {
        ("c", "o"): 2, ("o", "st"): 2, ("b", "e"): 2, ("e", "st"): 2, ("me", "n"): 2,
        ("n", "u"): 1, ("c", "a"): 1, ("a", "me"): 1, ("me", "l"): 1,
    }  # fmt: skip
    assert count_pairs(symbols) == by_hand


@pytest.mark.parametrize(
    ("tie_break", "third", "last"),
    [("highest-id", ("me", "n"), "men"), ("lowest-id", ("b", "e"), "be")],
)
def test_the_tie_decides_the_fourteenth_symbol(symbols, tie_break, third, last):
    start = {symbol: id for id, symbol in enumerate(ALPHABET)}
    vocab, merges = learn_merges(symbols, start, 14, tie_break=tie_break)
    assert merges == [("s", "t"), ("m", "e"), third]
    assert list(vocab) == [*ALPHABET, "st", "me", last]


def test_three_camels_change_the_order(symbols):
    more = {tuple(word): count for word, count in (WORDS | {"camel": 3}).items()}
    assert count_pairs(more)["m", "e"] == 5
    start = {symbol: id for id, symbol in enumerate(ALPHABET)}
    assert learn_merges(more, start, 13)[1] == [("m", "e"), ("s", "t")]


def test_new_words_are_cut_by_rank():
    ranks = {("s", "t"): 0, ("m", "e"): 1, ("me", "n"): 2}
    assert apply_merges(tuple("test"), ranks) == ("t", "e", "st")
    assert apply_merges(tuple("mental"), ranks) == ("men", "t", "a", "l")
    assert apply_merges(tuple("abc"), {("b", "c"): 0, ("a", "b"): 1}) == ("a", "bc")


def test_an_unknown_character_costs_one_token_and_not_the_word():
    corpus = [" ".join([word] * count) for word, count in WORDS.items()]
    tiny = BPE.train(corpus, 15, special_tokens=["[UNK]"], tie_break="highest-id")
    assert tiny.tokenize("zebus") == ["[UNK]", "e", "b", "u", "s"]
