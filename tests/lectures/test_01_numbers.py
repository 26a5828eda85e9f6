"""The counts of lecture 01, by hand. Its other numbers it asserts itself."""

from operator import add

from bertlab.model import BertConfig
from bertlab.tokenizers.bpe import count_pairs, merge_pair
from tests.lectures.conftest import functions_of

WORDS = {"cost": 2, "best": 2, "menu": 1, "men": 1, "camel": 1}


def test_a_word_in_at_most_two_pieces():
    two_pieces = functions_of("01_words_to_subwords", add=add)["two_pieces"]
    vocabulary = ["game", "the", "I", "play", "walk", "ed", "enjoy"]
    for pieces in (["enjoy", "##ed"], ["play", "##ed"], ["walk", "##ed"], ["game"]):
        assert two_pieces("".join(pieces).replace("##", ""), vocabulary) == pieces
    assert two_pieces("hated", vocabulary) == ["<UNK>"]


def test_every_pair_count_of_the_first_and_the_third_round():
    def counted():
        return {f"{a} {b} {count}" for (a, b), count in count_pairs(symbols).items()}

    symbols = {tuple(word): count for word, count in WORDS.items()}
    first = "c o 2, o s 2, s t 4, b e 2, e s 2, m e 3, e n 2, n u 1, c a 1, a m 1, e l 1"
    assert counted() == set(first.split(", "))
    for pair in (("s", "t"), ("m", "e")):
        symbols = {merge_pair(word, pair): count for word, count in symbols.items()}
    third = "c o 2, o st 2, b e 2, e st 2, me n 2, n u 1, c a 1, a me 1, me l 1"
    assert counted() == set(third.split(", "))


def test_sizes(states):
    letters = {letter for word in WORDS for letter in word}
    states(f"{len(letters)} + 3 = {len(letters) + 3} above")
    states(f"{BertConfig().d_model} numbers in BERT-base")
