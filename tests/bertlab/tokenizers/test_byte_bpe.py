"""Byte-level BPE against Hugging Face's tokenizers and GPT-2's own files, and laws."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import ByteLevelBPETokenizer, Tokenizer, decoders, models, pre_tokenizers

from bertlab import data
from bertlab.tokenizers import ByteBPE
from bertlab.tokenizers.byte_bpe import (
    SYMBOL_OF_BYTE,
    split_byte_chunks,
    split_byte_words,
    to_symbols,
)
from course.experiments.labels import labelled
from tests.bertlab.tokenizers.references import PYTHON_TOPICS, spaced, unicode_text

any_string = st.text(st.characters(), max_size=40)  # lone halves of surrogate pairs included


@pytest.fixture(scope="module")
def python_bpe():
    return ByteBPE.train(PYTHON_TOPICS, 600)


def test_the_alphabet_is_hugging_faces():
    assert sorted(SYMBOL_OF_BYTE) == sorted(pre_tokenizers.ByteLevel.alphabet())
    reference = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    for text in ("best", "你好", " né\n", "🙂"):
        ((word, _),) = reference.pre_tokenize_str(text)
        assert to_symbols(text) == word


@given(any_string)
def test_decoding_gives_back_every_string(python_bpe, text):
    assert python_bpe.decode(python_bpe.encode(text).ids) == text


@given(st.one_of(unicode_text, spaced))
def test_words_equal_hugging_faces_split(text):
    words = pre_tokenizers.ByteLevel(add_prefix_space=False).pre_tokenize_str(text)
    assert [to_symbols(word) for word in split_byte_words(text)] == [word for word, _ in words]
    assert "".join(split_byte_words(text)) == text


@given(st.one_of(any_string, st.text(alphabet="ab \n\t\x0b\x85\u3000\x00", max_size=30)))
def test_no_word_is_in_two_chunks(text):
    chunks = split_byte_chunks(text)
    assert "".join(chunks) == text
    assert [w for chunk in chunks for w in split_byte_words(chunk)] == split_byte_words(text)


@given(any_string)
def test_offsets_cover_the_whole_text_without_a_gap(python_bpe, text):
    encoding = python_bpe.encode(text)
    covered = 0
    for token, (start, end) in zip(encoding.tokens, encoding.offsets, strict=True):
        assert start <= covered <= end
        assert token in to_symbols(text[start:end])
        covered = end
    assert covered == len(text)


@pytest.mark.slow
@pytest.mark.corpora
def test_gpt2s_own_files_give_hugging_faces_ids_and_offsets_and_a_special_token():
    vocab, merges = (data.path("gpt2-vocabulary", name) for name in ("encoder.json", "vocab.bpe"))
    ours = ByteBPE.from_gpt2(vocab, merges)
    reference = ByteLevelBPETokenizer(str(vocab), str(merges))
    assert len(ours.vocab) == 50_257
    texts = [" ".join(document) for document in data.documents("wikipedia")[:8]]
    texts += [example.text for example in labelled("udhr") if example.label != "zag_Berf"]
    for text in texts:
        expected, got = reference.encode(text), ours.encode(text)
        assert (got.ids, got.offsets) == (expected.ids, expected.offsets)
        assert ours.decode(got.ids) == text
    assert ours.encode("a<|endoftext|>b").ids == [64, 50_256, 65]
    assert ours.decode([64, 50_256, 65]) == "ab"
    assert ours.decode([64, 50_256, 65], skip_special_tokens=False) == "a<|endoftext|>b"


def test_a_special_token_is_decoded_as_written_and_a_cut_character_as_replaced(python_bpe):
    bpe = ByteBPE.train(PYTHON_TOPICS[:1], 300, special_tokens=["<a b Ġ>"])
    ids = bpe.encode("é<a b Ġ>é").ids
    assert bpe.decode(ids, skip_special_tokens=False) == "é<a b Ġ>é"
    assert bpe.decode(ids) == "éé"
    first, *_ = python_bpe.encode("你").ids
    assert python_bpe.decode([first]) == "\ufffd"


@pytest.mark.parametrize(
    "token", ["郞", "<｜end▁of▁sentence｜>", "a b", "\n", "é\ud55c", "[PAD]", "Ġ é"]
)
def test_a_token_in_other_characters_is_decoded_as_hugging_face_does(tmp_path, token):
    vocab = {symbol: id for id, symbol in enumerate(sorted(SYMBOL_OF_BYTE))} | {token: 256}
    reference = Tokenizer(models.BPE(vocab, []))
    reference.decoder = decoders.ByteLevel()
    ours = ByteBPE(vocab)
    for ids in ([256], [40, 256, 41], [256, 256, 200, 256]):
        assert ours.decode(ids) == reference.decode(ids)
    special = ByteBPE(vocab, special_tokens=(token,))
    ids = special.encode(f"x{token}y").ids
    assert special.decode(ids, skip_special_tokens=False) == f"x{token}y"
    assert special.decode(ids) == "xy"


def test_gpt2s_two_files_are_read_as_hugging_face_writes_them(python_bpe, tmp_path):
    reference = Tokenizer.from_file(str(python_bpe.save(tmp_path / "tokenizer.json")))
    vocab, merges = reference.model.save(str(tmp_path))
    assert ByteBPE.from_gpt2(vocab, merges, special_tokens=()) == python_bpe
