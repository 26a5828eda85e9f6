"""BPE against Hugging Face's tokenizers, the slides' table, and laws."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import pre_tokenizers

from bertlab.tokenizers import BPE, count_words, split_words
from bertlab.tokenizers.bpe import apply_merges
from tests.bertlab.tokenizers.references import assert_same_model, train_reference

# The corpus of the source lecture: (cost, 2) (best, 2) (menu, 1) (men, 1) (camel, 1).
SLIDE_TEXTS = ["cost cost", "best best", "menu", "men", "camel"]

words = st.text(alphabet="abcé", min_size=1, max_size=8)
any_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)


def test_the_slides_vocabulary_and_how_hugging_face_breaks_its_tie():
    bpe = BPE.train(SLIDE_TEXTS, 14, special_tokens=(), tie_break="highest-id")
    alphabet = ["a", "b", "c", "e", "l", "m", "n", "o", "s", "t", "u"]
    assert list(bpe.vocab) == [*alphabet, "st", "me", "men"]
    assert bpe.merges == (("s", "t"), ("m", "e"), ("me", "n"))
    ours = BPE.train(SLIDE_TEXTS, 14, special_tokens=())
    assert_same_model(ours, train_reference(BPE, SLIDE_TEXTS, 14, special_tokens=[]))
    assert ours.merges[2] == ("b", "e")


@given(any_text)
def test_words_and_spans_equal_hugging_faces_pre_tokenizer(text):
    reference = pre_tokenizers.BertPreTokenizer().pre_tokenize_str(text)
    assert split_words(text) == [word for word, _ in reference]


@given(any_text)
def test_counting_words_is_splitting_and_counting(text):
    assert count_words([text, text]) == Counter(split_words(text) * 2)


@given(st.lists(words, min_size=1, max_size=8).map(" ".join))
def test_an_end_of_word_mark_makes_decoding_exact(text):
    bpe = BPE.train([text], 60, end_of_word="</w>")
    assert bpe.decode(bpe.encode(text).ids) == text


def test_offsets_do_not_count_the_end_of_word_mark():
    bpe = BPE.train(SLIDE_TEXTS, 20, end_of_word="</w>", tie_break="highest-id")
    encoding = bpe.encode("best men")
    covered = ["best men"[start:end] for start, end in encoding.offsets]
    assert covered == [token.removesuffix("</w>") for token in encoding.tokens]


def test_without_a_mark_decoding_adds_spaces_and_omits_special_tokens():
    bpe = BPE.train(SLIDE_TEXTS, 15, tie_break="highest-id")
    assert bpe.tokenize("men best") == ["men", "b", "e", "st"]
    assert bpe.decode(bpe.encode("men best").ids) == "men b e st"
    bpe = BPE.train(SLIDE_TEXTS, 15)
    assert bpe.tokenize("bezt") == ["be", "[UNK]", "t"]
    assert bpe.decode(bpe.encode("bezt").ids) == "be t"


def test_apply_merges_goes_by_rank_and_not_by_place():
    ranks = {("b", "c"): 0, ("a", "b"): 1}
    assert apply_merges(tuple("abc"), ranks) == ("a", "bc")
    assert apply_merges((), ranks) == ()


def test_saving_over_a_file_keeps_the_old_one_when_it_fails(tmp_path, monkeypatch):
    path = BPE.train(SLIDE_TEXTS, 15).save(tmp_path / "tokenizer.json")
    before = path.read_bytes()
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        BPE.train(SLIDE_TEXTS, 13).save(path)
    assert path.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["tokenizer.json"]
