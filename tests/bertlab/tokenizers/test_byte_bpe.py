"""Byte-level BPE against Hugging Face's tokenizers and GPT-2's own files, and laws."""

import json
import pydoc_data.topics

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import ByteLevelBPETokenizer, Tokenizer, models, pre_tokenizers, trainers

from bertlab import data
from bertlab.tokenizers import ByteBPE
from bertlab.tokenizers.byte_level import (
    SYMBOL_OF_BYTE,
    split_byte_chunks,
    split_byte_words,
    to_bytes,
    to_symbols,
)

PYTHON_TOPICS = list(pydoc_data.topics.topics.values())
any_string = st.text(st.characters(), max_size=40)  # lone halves of surrogate pairs included
unicode_text = st.text(st.characters(exclude_categories=["Cs", "Cn"]), max_size=40)
spaced = st.text(alphabet="ab1é你 \n\t'.,", max_size=40)


def train_reference(corpus, vocab_size, min_frequency=0):
    """Hugging Face's trainer with its byte-level alphabet."""
    reference = Tokenizer(models.BPE())
    reference.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        min_frequency=min_frequency,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    reference.train_from_iterator(corpus, trainer)
    return reference


@pytest.fixture(scope="module")
def python_bpe():
    return ByteBPE.train(PYTHON_TOPICS, 600)


@pytest.fixture(scope="module")
def gpt2_files():
    return [data.path("gpt2-vocabulary", name) for name in ("encoder.json", "vocab.bpe")]


def test_the_slides_bytes():
    assert to_bytes("best").hex(" ") == "62 65 73 74"
    assert to_bytes("你好").hex(" ") == "e4 bd a0 e5 a5 bd"


def test_the_alphabet_is_hugging_faces():
    assert sorted(SYMBOL_OF_BYTE) == sorted(pre_tokenizers.ByteLevel.alphabet())
    for text in ("best", "你好", " né\n", "🙂"):
        (word, _), *_ = pre_tokenizers.ByteLevel(
            add_prefix_space=False, use_regex=False
        ).pre_tokenize_str(text)
        assert to_symbols(text) == word


@pytest.mark.slow
@pytest.mark.parametrize("vocab_size", [256, 300, 1000, 5000])
def test_vocabulary_and_merges_equal_hugging_face_on_the_python_manual(vocab_size):
    reference = json.loads(train_reference(PYTHON_TOPICS, vocab_size).to_str())["model"]
    ours = ByteBPE.train(PYTHON_TOPICS, vocab_size)
    assert dict(ours.vocab) == reference["vocab"]
    assert [list(pair) for pair in ours.merges] == reference["merges"]


@pytest.mark.slow
@given(st.lists(spaced, min_size=1, max_size=5), st.integers(256, 290), st.integers(0, 3))
def test_training_equals_hugging_face_on_random_text(corpus, vocab_size, min_frequency):
    if not any(corpus):
        return
    reference = json.loads(train_reference(corpus, vocab_size, min_frequency).to_str())["model"]
    ours = ByteBPE.train(corpus, vocab_size, min_frequency=min_frequency)
    assert dict(ours.vocab) == reference["vocab"]
    assert [list(pair) for pair in ours.merges] == reference["merges"]


@given(any_string)
def test_decoding_gives_back_every_string(python_bpe, text):
    assert python_bpe.decode(python_bpe.encode(text).ids) == text


@pytest.mark.slow
@given(st.one_of(unicode_text, spaced))
def test_ids_and_offsets_equal_hugging_face_on_any_text(text):
    reference = train_reference(PYTHON_TOPICS[:4], 400)
    ours = ByteBPE.train(PYTHON_TOPICS[:4], 400)
    expected, got = reference.encode(text), ours.encode(text)
    assert (got.ids, got.tokens, got.offsets) == (expected.ids, expected.tokens, expected.offsets)


@given(st.one_of(unicode_text, spaced))
def test_words_equal_hugging_faces_split(text):
    words = pre_tokenizers.ByteLevel(add_prefix_space=False).pre_tokenize_str(text)
    assert [to_symbols(word) for word in split_byte_words(text)] == [word for word, _ in words]
    assert "".join(split_byte_words(text)) == text


@given(st.one_of(any_string, st.text(alphabet="ab \n\t\x0b\x85\u3000\x00", max_size=30)))
def test_no_word_reaches_across_two_chunks(text):
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


@pytest.mark.parametrize("length", [1_000, 20_000])
def test_a_very_long_word_is_cut_like_a_short_one(python_bpe, length):
    # A line of Chinese has no spaces: one word. A bias for length would show here.
    text = "".join(chr(0x4E00 + 7 * i % 500) for i in range(length))
    reference = Tokenizer.from_str(
        json.dumps(
            {
                "version": "1.0",
                "added_tokens": [],
                "model": {
                    "type": "BPE",
                    "vocab": dict(python_bpe.vocab),
                    "merges": [list(pair) for pair in python_bpe.merges],
                },
            }
        )
    )
    reference.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    assert python_bpe.encode(text).ids == reference.encode(text).ids
    assert python_bpe.encode("a" * length).ids == reference.encode("a" * length).ids


@pytest.mark.slow
@pytest.mark.corpora
def test_gpt2s_own_files_give_hugging_faces_ids_and_offsets(gpt2_files):
    vocab, merges = gpt2_files
    ours = ByteBPE.from_gpt2(vocab, merges)
    reference = ByteLevelBPETokenizer(str(vocab), str(merges))
    assert len(ours.vocab) == 50_257
    texts = [" ".join(document) for document in data.documents("wikipedia")[:8]]
    texts += [example.text for example in data.labelled("udhr") if example.label != "zag_Berf"]
    for text in texts:
        expected, got = reference.encode(text), ours.encode(text)
        assert (got.ids, got.offsets) == (expected.ids, expected.offsets)
        assert ours.decode(got.ids) == text


@pytest.mark.slow
@pytest.mark.corpora
def test_gpt2s_special_token_is_one_token(gpt2_files):
    ours = ByteBPE.from_gpt2(*gpt2_files)
    assert ours.encode("a<|endoftext|>b").ids == [64, 50_256, 65]
    assert ours.decode([64, 50_256, 65]) == "ab"
    assert ours.decode([64, 50_256, 65], skip_special_tokens=False) == "a<|endoftext|>b"


def test_gpt2s_two_files_are_read_as_hugging_face_writes_them(python_bpe, tmp_path):
    reference = Tokenizer.from_file(str(python_bpe.save(tmp_path / "tokenizer.json")))
    vocab, merges = reference.model.save(str(tmp_path))
    assert ByteBPE.from_gpt2(vocab, merges, special_tokens=()) == python_bpe


def test_saving_and_loading_changes_nothing_and_hugging_face_reads_it(python_bpe, tmp_path):
    path = python_bpe.save(tmp_path / "tokenizer.json")
    assert ByteBPE.load(path) == python_bpe
    reference = Tokenizer.from_file(str(path))
    for text in PYTHON_TOPICS[:5]:
        expected, got = reference.encode(text), python_bpe.encode(text)
        assert (got.ids, got.offsets) == (expected.ids, expected.offsets)
        assert reference.decode(expected.ids) == python_bpe.decode(got.ids) == text


def test_we_read_hugging_faces_file(tmp_path):
    train_reference(PYTHON_TOPICS[:5], 500).save(str(tmp_path / "theirs.json"))
    assert ByteBPE.load(tmp_path / "theirs.json") == ByteBPE.train(PYTHON_TOPICS[:5], 500)


def test_a_token_cut_out_of_a_character_decodes_to_the_replacement_character(python_bpe):
    first, *_ = python_bpe.encode("你").ids
    assert python_bpe.decode([first]) == "\ufffd"


def test_bad_input_is_refused_by_name(python_bpe, tmp_path):
    with pytest.raises(ValueError, match=r"vocab_size must be at least 256.*got 255"):
        ByteBPE.train(PYTHON_TOPICS[:1], 255)
    with pytest.raises(ValueError, match="holds no word"):
        ByteBPE.train([""], 300)
    with pytest.raises(ValueError, match="from 0 to 599; got 600"):
        python_bpe.decode([600])
    with pytest.raises(ValueError, match="all 256 bytes; 255 are missing"):
        ByteBPE({"a": 0})
    with pytest.raises(ValueError, match=r"'ab' is not in the vocabulary"):
        ByteBPE({symbol: id for id, symbol in enumerate(SYMBOL_OF_BYTE)}, [("a", "b")])
    with pytest.raises(TypeError, match="must be a string; got int"):
        python_bpe.encode(3)


@pytest.mark.parametrize(
    ("vocab", "merges", "message"),
    [
        ('{"a": 0', "a b", "vocab.json is damaged"),
        ("[1, 2]", "a b", "not a vocabulary"),
        ('{"a": "b"}', "a b", "not a vocabulary"),
        ("{}", "a b c", "two symbols with a space between; got 'a b c'"),
    ],
)
def test_damaged_gpt2_files_are_refused(tmp_path, vocab, merges, message):
    (tmp_path / "vocab.json").write_text(vocab)
    (tmp_path / "merges.txt").write_text(merges)
    with pytest.raises(ValueError, match=message):
        ByteBPE.from_gpt2(tmp_path / "vocab.json", tmp_path / "merges.txt")


def test_a_character_tokenizer_is_not_read_as_a_byte_tokenizer(tmp_path):
    reference = Tokenizer(models.BPE())
    reference.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    reference.save(str(tmp_path / "tokenizer.json"))
    with pytest.raises(ValueError, match=r"pre-tokenizer .*BertPreTokenizer"):
        ByteBPE.load(tmp_path / "tokenizer.json")
