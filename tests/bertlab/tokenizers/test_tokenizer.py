"""What all tokenizers share: pairs, lengths, special tokens, files, copies, memory."""

import copy
import pickle

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from bertlab.parts import plain
from bertlab.tokenizers import BPE, ByteBPE, WordPiece, normalize
from bertlab.tokenizers.bpe import apply_merges
from bertlab.tokenizers.byte_bpe import to_symbols
from bertlab.tokenizers.tokenizer import Kept
from tests.bertlab.tokenizers.references import ADVERSARIAL, BERT_TOKENS, PYTHON_TOPICS, assert_same

sentences = st.lists(
    st.sampled_from(["the", "with", "statement", "used", "wrap", "execution"])
).map(" ".join)


@pytest.fixture(scope="module", params=[BPE, ByteBPE, WordPiece], ids=lambda kind: kind.__name__)
def tokenizer(request):
    """One of each kind, with BERT's special tokens."""
    return request.param.train(PYTHON_TOPICS[:8], 700, special_tokens=BERT_TOKENS)


@pytest.fixture(scope="module")
def reference(tokenizer, tmp_path_factory):
    """The same one, read by Hugging Face's library."""
    path = tokenizer.save(tmp_path_factory.mktemp("saved") / "tokenizer.json")
    return Tokenizer.from_file(str(path))


@pytest.mark.slow
@given(sentences, st.none() | sentences, st.none() | st.integers(3, 30), st.booleans())
def test_pairs_and_lengths_equal_hugging_faces(tokenizer, reference, text, pair, length, special):
    reference.no_truncation()
    if length is not None:
        reference.enable_truncation(length)
    expected = reference.encode(text, pair, add_special_tokens=special)
    got = tokenizer.encode(text, pair, add_special_tokens=special, max_length=length)
    assert_same(got, expected)


@pytest.mark.parametrize(
    "text", ["[MASK]", "a [MASK] b", "a[SEP]b[CLS]", "[mask] [MASK", "  [UNK]  x", "[PAD][PAD]"]
)
def test_special_tokens_in_a_text_are_never_cut(tokenizer, reference, text):
    reference.no_truncation()
    assert_same(tokenizer.encode(text), reference.encode(text))


def test_a_batch_is_its_texts_and_pairs(tokenizer):
    batch = ["one text", ("two", "texts"), "", ["a", "list"]]
    encoded = tokenizer.encode_batch(batch, max_length=9)
    alone = [tokenizer.encode(text, max_length=9) for text in ("one text", "")]
    assert [encoded[0].ids, encoded[2].ids] == [encoding.ids for encoding in alone]
    assert encoded[1].ids == tokenizer.encode("two", "texts", max_length=9).ids
    assert encoded[3].segment_ids == tokenizer.encode("a", "list", max_length=9).segment_ids


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=60) | sentences)
def test_every_offset_slices_back_to_its_token(tokenizer, text):
    encoding = tokenizer.encode(text, add_special_tokens=False)
    for token, (start, end) in zip(encoding.tokens, encoding.offsets, strict=True):
        assert 0 <= start < end <= len(text)
        covered = text[start:end]
        if token == covered or token == "[UNK]":
            continue
        assert not isinstance(tokenizer, BPE)  # which changes nothing
        # A token of bytes may be a part of its character, a piece a part of its syllable.
        whole = to_symbols(covered) if isinstance(tokenizer, ByteBPE) else normalize(covered)
        assert token.removeprefix("##") in whole
    assert encoding.offsets == sorted(encoding.offsets)


texts = st.text("abcé 你.", min_size=1, max_size=20)
corpora = st.lists(texts, min_size=1, max_size=6).filter(lambda texts: any(map(str.strip, texts)))


@pytest.mark.slow
@pytest.mark.parametrize("kind", [BPE, ByteBPE, WordPiece])
@given(corpus=corpora, room=st.integers(0, 30), seed=st.randoms())
def test_saving_loading_and_the_order_change_nothing(tmp_path_factory, kind, corpus, room, seed):
    size = (256 if kind is ByteBPE else 20) + room
    trained = kind.train(corpus, size, special_tokens=["[UNK]"] if kind is not ByteBPE else [])
    path = tmp_path_factory.mktemp("saved") / "tokenizer.json"
    assert kind.load(trained.save(path)) == trained
    shuffled = seed.sample(corpus, len(corpus))
    assert kind.train(shuffled, size, special_tokens=trained.special_tokens) == trained


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "options"), [(BPE, {}), (BPE, {"end_of_word": "</w>"}), (ByteBPE, {}), (WordPiece, {})]
)
def test_our_file_is_read_equally_by_us_and_by_hugging_face(tmp_path, kind, options):
    ours = kind.train(PYTHON_TOPICS[:10], 800, **options)
    path = ours.save(tmp_path / "tokenizer.json")
    assert [file.name for file in tmp_path.iterdir()] == ["tokenizer.json"]
    assert kind.load(path) == ours
    reference = Tokenizer.from_file(str(path))
    for text in [*PYTHON_TOPICS[10:20], *ADVERSARIAL.values()]:
        got = ours.encode(text)
        assert_same(got, reference.encode(text))
        assert ours.decode(got.ids) == reference.decode(got.ids)


def test_copies_are_equal_and_tensors_are_decoded_like_lists(tokenizer):
    tokenizer.encode("keeps something")  # caches are not copied
    for other in (copy.deepcopy(tokenizer), pickle.loads(pickle.dumps(tokenizer))):  # noqa: S301
        assert other == tokenizer
        assert other.encode("keeps something").ids == tokenizer.encode("keeps something").ids
    ids = tokenizer.encode("with statement").ids
    assert tokenizer.decode(torch.tensor(ids)) == tokenizer.decode(ids)


def test_a_tokenizer_says_what_it_is_in_one_line_and_cannot_be_changed(tokenizer):
    assert repr(tokenizer).startswith(f"{type(tokenizer).__name__}(700 tokens, ")
    with pytest.raises(TypeError):
        tokenizer.vocab["new"] = 99
    with pytest.raises(AttributeError):
        tokenizer.merges = ()


@given(
    st.lists(st.text(alphabet="abc", min_size=1, max_size=9), min_size=1, max_size=12),
    st.text(alphabet="abc", max_size=30),
)
def test_cutting_equals_replaying_the_merges_one_by_one(corpus, word):
    bpe = BPE.train([*corpus, "abc"], 25)
    ranks = {pair: rank for rank, pair in enumerate(bpe.merges)}
    with plain():
        assert BPE.train([*corpus, "abc"], 25).merges == bpe.merges
        replayed = list(apply_merges(tuple(word), ranks))
    assert bpe.tokenize(word) == replayed


def test_what_is_kept_is_bounded():
    asked = []
    kept = Kept(lambda key: asked.append(key) or key.upper(), most=3)
    for key in ("a", "b", "a", "c", "d", "a"):
        assert kept[key] == key.upper()
    assert asked == ["a", "b", "c", "d", "a"]  # the fourth key emptied the cache
    assert len(kept) <= 3
    assert kept["x" * 300] == "X" * 300
    assert "x" * 300 not in kept
