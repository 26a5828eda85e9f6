"""The tokenizer playground: the drawn pieces, and their descriptions."""

import re
from itertools import pairwise
from types import SimpleNamespace

import pytest
from bs4 import BeautifulSoup
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from bertlab.tokenizers import BPE, ByteBPE
from bertlab.viz.frames import read_asset
from course.widgets import tokenizer_playground

CORPUS = ["low lower lowest newest widest the cat sat"]

STYLE = read_asset("playground.css", "course.widgets")


class Fake:
    """Does not tokenize: it returns the given tokens."""

    def __init__(self, *tokens):
        self.tokens = tokens

    def encode(self, text, *, add_special_tokens=True):
        assert add_special_tokens is False
        tokens, ids, offsets = map(list, zip(*self.tokens, strict=True))
        return SimpleNamespace(ids=ids, tokens=tokens, offsets=offsets)


class Letters:
    """Each character except white space is a token; capitals and question marks are unknown."""

    def encode(self, text, *, add_special_tokens=True):
        if "?" in text:
            raise ValueError("Letters.encode: text holds '?' <and> that is unknown")
        spans = [(i, i + 1) for i, letter in enumerate(text) if not letter.isspace()]
        tokens = ["[UNK]" if text[i].isupper() else text[i] for i, _ in spans]
        return SimpleNamespace(ids=list(range(len(tokens))), tokens=tokens, offsets=spans)


@pytest.fixture(scope="module")
def reference():
    """Hugging Face's byte-level BPE, with the signature that the playground requires."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=266, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(CORPUS, trainer)
    return tokenizer


def read(page):
    """A page as a browser reads it, with its white space."""
    return BeautifulSoup(page, "html.parser", preserve_whitespace_tags={"span", "div"})


def drawn(encoder, text):
    """The row of one tokenizer, without labels."""
    page = read(tokenizer_playground({"name": encoder}, text).show(text).html)
    for label in page.select("sub"):
        label.extract()
    return page.select_one(".text")


def pieces(encoder, text):
    return drawn(encoder, text).select(".piece")


def test_a_piece_shows_its_token_id_and_characters():
    (piece,) = pieces(Fake(("##ow", 12, (1, 3))), "low")
    assert piece.text == "ow"
    assert piece["data-tip"].split("\n") == ["##ow   id 12", "characters 1 to 3"]
    assert piece["aria-label"] == "##ow, id 12, characters 1 to 3"
    assert piece["tabindex"] == "0"


def test_a_character_of_several_tokens_is_one_piece_that_lists_them(reference):
    low, blank, greeting = pieces(reference, "low 你")
    assert [low.text, blank.text, greeting.text] == ["low", " ", "你"]
    expected = reference.encode("low 你", add_special_tokens=False)
    assert expected.offsets[2:] == [(4, 5)] * 3
    lines = greeting["data-tip"].split("\n")
    assert lines[0] == "3 tokens share this:"
    pairs = zip(expected.tokens[2:], expected.ids[2:], strict=True)
    assert lines[1:4] == [f"{token}   id {id}" for token, id in pairs]
    assert lines[4] == "characters 4 to 5"


def test_the_tokenizers_of_the_library_work_in_the_playground():
    # By hand: no merge of the corpus touches the greeting, whose bytes are e4 bd a0 and e5 a5 bd.
    both = {"bpe": BPE.train(CORPUS, 40), "bytes": ByteBPE.train(CORPUS, 266)}
    shown = tokenizer_playground(both, "low 你好")
    assert repr(shown).splitlines() == [
        "bpe (3 tokens, 1.50 per word): low | [UNK] | [UNK]",
        "bytes (8 tokens, 4.00 per word): low | Ġ | ä | ½ | ł | å | ¥ | ½",
    ]
    texts = [piece.text for piece in pieces(both["bytes"], "low 你好")]
    assert texts == ["low", " ", "你", "好"]


def test_tokens_that_share_some_characters_or_have_none_are_drawn_together():
    shown = pieces(Fake(("a", 1, (0, 1)), ("b", 2, (1, 3)), ("c", 3, (2, 4))), "abcd")
    assert [piece.text for piece in shown] == ["a", "bcd"]
    assert shown[1]["data-tip"].endswith("characters 1 to 4")
    inside = pieces(Fake(("a", 1, (0, 3)), ("b", 2, (1, 2)), ("c", 3, (2, 3))), "abc")
    assert [piece.text for piece in inside] == ["abc"]
    for tokens in (("a", 1, (0, 2)), ("", 2, (2, 2))), (("", 2, (0, 0)), ("a", 1, (0, 2))):
        (piece,) = pieces(Fake(*tokens), "ab")
        assert piece["data-tip"].startswith("2 tokens share this:")


def test_neighbours_have_different_colours_and_what_no_token_covers_has_none(reference):
    row = drawn(Fake(("b", 2, (2, 3))), "a b c")
    assert [node.get_text() for node in row.children] == ["a", " ", "b", " ", "c"]
    assert [piece.text for piece in row.select(".piece")] == ["b"]
    kinds = ["even" in piece["class"] for piece in pieces(reference, "the low 你 cat")]
    assert len(kinds) > 4
    assert all(left != right for left, right in pairwise(kinds))


def test_unknown_pieces_are_marked_by_a_word_not_only_by_colour():
    page = tokenizer_playground({"letters": Letters()}, "").show("aB").html
    known, unknown = read(page).select(".piece")
    assert "unknown" not in known["class"]
    assert "unknown" not in known["aria-label"]
    assert unknown.sub.text == "unknown"
    assert "unknown" in unknown["aria-label"]
    (rule,) = re.findall(r"\.unknown \{(.*?)\}", STYLE, re.DOTALL)
    assert "dashed" in rule


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]) | st.sampled_from("\n\t <>&\"'")))
def test_the_text_of_a_row_is_the_text_that_was_typed(text):
    row = drawn(Letters(), text.replace("?", ""))
    assert row.get_text() == text.replace("?", "")


def test_white_space_and_control_characters_are_visible_and_surrogates_sent():
    text = "a \n\t\x00\x7f"
    shown = drawn(Fake((text, 1, (0, 6))), text)
    kinds = [span["class"][0] for span in shown.select(".piece span")]
    assert kinds == ["blank", "newline", "tab"]
    assert shown.get_text() == "a \n\t␀␡"
    assert shown.select_one(".piece")["data-tip"].startswith("a␣↵⇥␀␡   id 1")
    shown = tokenizer_playground({"letters": Letters()}, "").answer("a\ud83d")
    assert "\N{REPLACEMENT CHARACTER}" in shown.html
    shown.html.encode("utf-8")
    shown.text.encode("utf-8")


def test_typed_text_is_escaped():
    text = "</script><script>alert('\"')</script>&amp;</style><!-- "
    encoder = Fake((text, 1, (0, len(text))))
    page = tokenizer_playground({text: encoder}, text).show(text).html
    soup = read(page)
    assert soup.find("script") is None
    assert page.count("</style>") == 1
    piece = soup.select_one(".piece")
    assert piece["data-tip"].startswith(text.rstrip().replace(" ", "␣"))
    assert set(piece.attrs) == {"class", "tabindex", "role", "aria-label", "data-tip"}
    assert soup.strong.text == text


def test_right_to_left_pieces_are_labelled():
    directions = [piece["class"][2:] for piece in pieces(Letters(), "aש1-ع")]
    assert directions == [["ltr"], ["rtl"], ["ltr"], [], ["rtl"]]
    (mixed,) = pieces(Fake(("aש", 1, (0, 2))), "aש")
    assert not {"ltr", "rtl"} & set(mixed["class"])
    assert drawn(Letters(), "ש")["dir"] == "auto"


def test_tokens_are_counted_in_all_and_per_word():
    playground = tokenizer_playground({"letters": Letters()}, "")
    counts = {"the cat": "6 tokens, 3.00 per word", "a": "1 token, 1.00 per word", " ": "0 tokens"}
    for text, count in counts.items():
        soup = read(playground.show(text).html)
        assert soup.select_one(".head span").text == count
        assert soup.select_one(".text")["aria-label"] == f"letters: {count}"


def test_a_text_that_cannot_be_encoded_shows_why_only_in_its_row():
    two = tokenizer_playground({"letters": Letters(), "fake": Fake(("w", 1, (0, 1)))}, "a")
    shown = two.show("w?")
    soup = read(shown.html)
    problem = "Not encoded. Letters.encode: text holds '?' <and> that is unknown"
    assert soup.select_one(".problem").text == problem
    assert [piece.text for piece in soup.select(".piece")] == ["w"]
    assert shown.text.startswith("letters: not encoded. Letters.encode: text holds '?'")


def test_only_the_first_characters_of_a_long_text_are_tokenized():
    playground = tokenizer_playground({"letters": Letters()}, "")
    note = "Only the first 2,000 of 2,001 characters"
    assert note in playground.show("a" * 2_001).html
    assert note in playground.show("a" * 2_001).text
    assert playground.show("a" * 2_001).html.count('class="piece') == 2_000
    assert "Only the first" not in playground.show("a" * 2_000).html
