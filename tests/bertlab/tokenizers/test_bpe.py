"""BPE against Hugging Face's tokenizers, the slides' table, and laws."""

import json
import pydoc_data.topics
import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from bertlab.tokenizers import BPE, count_words, split_words
from bertlab.tokenizers.learning import learn_merges
from bertlab.tokenizers.merges import apply_merges, count_pairs, merge_pair

# The corpus of the source lecture: (cost, 2) (best, 2) (menu, 1) (men, 1) (camel, 1).
SLIDE_WORDS = {"cost": 2, "best": 2, "menu": 1, "men": 1, "camel": 1}
SLIDE_TEXTS = [" ".join([word] * count) for word, count in SLIDE_WORDS.items()]
PYTHON_TOPICS = list(pydoc_data.topics.topics.values())

words = st.text(alphabet="abcé", min_size=1, max_size=8)
texts = st.lists(st.lists(words, max_size=8).map(" ".join), min_size=1, max_size=5)
any_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)


def train_reference(corpus, vocab_size, special_tokens=("[UNK]",), min_frequency=0):
    """Hugging Face's trainer on the same words."""
    reference = Tokenizer(models.BPE(unk_token="[UNK]"))
    reference.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        special_tokens=list(special_tokens),
        min_frequency=min_frequency,
        show_progress=False,
    )
    reference.train_from_iterator(corpus, trainer)
    return reference


def model_of(reference):
    return json.loads(reference.to_str())["model"]


def test_the_slides_vocabulary_of_14_symbols_step_by_step():
    bpe = BPE.train(SLIDE_TEXTS, 14, special_tokens=(), tie_break="highest-id")
    alphabet = ["a", "b", "c", "e", "l", "m", "n", "o", "s", "t", "u"]
    assert list(bpe.vocab) == [*alphabet, "st", "me", "men"]
    assert bpe.merges == (("s", "t"), ("m", "e"), ("me", "n"))


def test_the_slides_pair_counts():
    symbols = {tuple(word): count for word, count in SLIDE_WORDS.items()}
    counts = count_pairs(symbols)
    assert counts["s", "t"] == 4
    assert counts["m", "e"] == 3
    assert counts.most_common(1) == [(("s", "t"), 4)]
    symbols = {merge_pair(word, ("s", "t")): count for word, count in symbols.items()}
    symbols = {merge_pair(word, ("m", "e")): count for word, count in symbols.items()}
    tied = {pair for pair, count in count_pairs(symbols).items() if count == 2}
    assert tied == {("c", "o"), ("o", "st"), ("b", "e"), ("e", "st"), ("me", "n")}


def test_hugging_face_breaks_the_slides_tie_in_another_way():
    reference = model_of(train_reference(SLIDE_TEXTS, 14, special_tokens=()))
    ours = BPE.train(SLIDE_TEXTS, 14, special_tokens=())
    assert [list(pair) for pair in ours.merges] == reference["merges"]
    assert ours.merges[2] == ("b", "e")


@pytest.mark.slow
@pytest.mark.parametrize("vocab_size", [200, 1000, 5000])
def test_vocabulary_and_merges_equal_hugging_face_on_the_python_manual(vocab_size):
    reference = model_of(train_reference(PYTHON_TOPICS, vocab_size))
    ours = BPE.train(PYTHON_TOPICS, vocab_size)
    assert dict(ours.vocab) == reference["vocab"]
    assert [list(pair) for pair in ours.merges] == reference["merges"]


@pytest.mark.slow
def test_ids_and_offsets_equal_hugging_face_on_unseen_text():
    half = len(PYTHON_TOPICS) // 2
    reference = train_reference(PYTHON_TOPICS[:half], 1000)
    ours = BPE.train(PYTHON_TOPICS[:half], 1000)
    for text in [*PYTHON_TOPICS[half:], "naïve 你好 🙂 x", "", "  \t "]:
        expected, got = reference.encode(text), ours.encode(text)
        assert got.ids == expected.ids
        assert got.tokens == expected.tokens
        assert got.offsets == expected.offsets


@given(texts, st.integers(6, 25), st.integers(0, 3))
def test_training_equals_hugging_face_on_random_words(corpus, vocab_size, min_frequency):
    try:
        ours = BPE.train(corpus, vocab_size, min_frequency=min_frequency)
    except ValueError:
        assert not any(count_words(corpus))
        return
    reference = model_of(train_reference(corpus, vocab_size, min_frequency=min_frequency))
    assert dict(ours.vocab) == reference["vocab"]
    assert [list(pair) for pair in ours.merges] == reference["merges"]


@pytest.mark.parametrize("tie_break", ["lowest-id", "highest-id"])
@given(corpus=texts, vocab_size=st.integers(6, 25))
def test_the_fast_loop_equals_recounting_everything(tie_break, corpus, vocab_size):
    symbols = {tuple(word): count for word, count in count_words(corpus).items()}
    alphabet = sorted({symbol for word in symbols for symbol in word})
    vocab = {symbol: id for id, symbol in enumerate(alphabet)}
    sign = -1 if tie_break == "lowest-id" else 1
    expected_vocab, expected_merges, current = dict(vocab), [], symbols
    while len(expected_vocab) < vocab_size and (counts := count_pairs(current)):
        best = max(
            counts,
            key=lambda pair: (
                counts[pair],
                sign * expected_vocab[pair[0]],
                sign * expected_vocab[pair[1]],
            ),
        )
        expected_vocab.setdefault("".join(best), len(expected_vocab))
        expected_merges.append(best)
        merged = Counter()
        for word, count in current.items():
            merged[merge_pair(word, best)] += count
        current = merged
    got = learn_merges(symbols, vocab, vocab_size, tie_break=tie_break)
    assert got == (expected_vocab, expected_merges)


@given(any_text)
def test_words_and_spans_equal_hugging_faces_pre_tokenizer(text):
    reference = pre_tokenizers.BertPreTokenizer().pre_tokenize_str(text)
    assert split_words(text) == [word for word, _ in reference]


@given(any_text)
def test_counting_words_is_splitting_and_counting(text):
    assert count_words([text, text]) == Counter(split_words(text) * 2)


@given(texts)
def test_training_does_not_depend_on_the_order_of_the_texts(corpus):
    corpus = [*corpus, "ab"]
    shuffled = corpus[:]
    random.Random(0).shuffle(shuffled)
    assert BPE.train(corpus, 12) == BPE.train(shuffled, 12)


@pytest.mark.slow
@given(any_text)
def test_tokens_are_what_their_offsets_cover(text):
    bpe = BPE.train(PYTHON_TOPICS[:3], 300)
    encoding = bpe.encode(text)
    for token, (start, end) in zip(encoding.tokens, encoding.offsets, strict=True):
        assert token in (text[start:end], "[UNK]")
    covered = "".join(text[start:end] for start, end in encoding.offsets)
    assert covered == "".join(split_words(text))


@given(st.lists(words, min_size=1, max_size=8).map(" ".join))
def test_an_end_of_word_mark_makes_decoding_exact(text):
    bpe = BPE.train([text], 60, end_of_word="</w>")
    assert bpe.decode(bpe.encode(text).ids) == text


def test_offsets_do_not_count_the_end_of_word_mark():
    bpe = BPE.train(SLIDE_TEXTS, 20, end_of_word="</w>", tie_break="highest-id")
    encoding = bpe.encode("best men")
    covered = ["best men"[start:end] for start, end in encoding.offsets]
    assert covered == [token.removesuffix("</w>") for token in encoding.tokens]


def test_without_a_mark_decoding_puts_spaces_between_tokens():
    bpe = BPE.train(SLIDE_TEXTS, 15, tie_break="highest-id")
    assert bpe.tokenize("men best") == ["men", "b", "e", "st"]
    assert bpe.decode(bpe.encode("men best").ids) == "men b e st"


def test_decoding_leaves_special_tokens_out():
    bpe = BPE.train(SLIDE_TEXTS, 15)
    assert bpe.tokenize("bezt") == ["be", "[UNK]", "t"]
    assert bpe.decode(bpe.encode("bezt").ids) == "be t"


def test_apply_merges_goes_by_rank_and_not_by_place():
    ranks = {("b", "c"): 0, ("a", "b"): 1}
    assert apply_merges(tuple("abc"), ranks) == ("a", "bc")
    assert apply_merges((), ranks) == ()


@pytest.mark.parametrize("end_of_word", ["", "</w>"])
def test_saving_and_loading_changes_nothing(tmp_path, end_of_word):
    bpe = BPE.train(PYTHON_TOPICS[:5], 500, end_of_word=end_of_word)
    bpe.save(tmp_path / "tokenizer.json")
    assert BPE.load(tmp_path / "tokenizer.json") == bpe
    assert [path.name for path in tmp_path.iterdir()] == ["tokenizer.json"]


@pytest.mark.parametrize("end_of_word", ["", "</w>"])
def test_hugging_face_reads_our_file_and_gives_the_same_ids(tmp_path, end_of_word):
    bpe = BPE.train(PYTHON_TOPICS[:5], 500, end_of_word=end_of_word)
    reference = Tokenizer.from_file(str(bpe.save(tmp_path / "tokenizer.json")))
    for text in PYTHON_TOPICS[5:10]:
        expected, got = reference.encode(text), bpe.encode(text)
        assert (got.ids, got.tokens) == (expected.ids, expected.tokens)
        assert bpe.decode(got.ids) == reference.decode(expected.ids)


def test_we_read_hugging_faces_file(tmp_path):
    reference = train_reference(PYTHON_TOPICS[:5], 500)
    reference.save(str(tmp_path / "theirs.json"))
    ours = BPE.load(tmp_path / "theirs.json")
    assert ours == BPE.train(PYTHON_TOPICS[:5], 500)


def test_a_file_cut_in_half_is_refused_by_name(tmp_path):
    path = BPE.train(SLIDE_TEXTS, 15).save(tmp_path / "tokenizer.json")
    path.write_text(path.read_text()[: path.stat().st_size // 2])
    with pytest.raises(ValueError, match=r"tokenizer\.json is damaged"):
        BPE.load(path)


@pytest.mark.parametrize("content", ["[]", "{}", '{"model": {"type": "BPE"}}', "3"])
def test_json_that_is_no_tokenizer_is_refused(tmp_path, content):
    path = tmp_path / "other.json"
    path.write_text(content)
    with pytest.raises(ValueError, match=r"not a tokenizer\.json"):
        BPE.load(path)


def test_a_tokenizer_of_another_kind_is_refused(tmp_path):
    reference = Tokenizer(models.WordPiece({"[UNK]": 0}, unk_token="[UNK]"))
    reference.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    reference.save(str(tmp_path / "tokenizer.json"))
    with pytest.raises(ValueError, match="holds a WordPiece model"):
        BPE.load(tmp_path / "tokenizer.json")
    Tokenizer(models.BPE()).save(str(tmp_path / "tokenizer.json"))
    with pytest.raises(ValueError, match="pre-tokenizer None"):
        BPE.load(tmp_path / "tokenizer.json")


def test_saving_over_a_file_keeps_the_old_one_when_it_fails(tmp_path, monkeypatch):
    path = BPE.train(SLIDE_TEXTS, 15).save(tmp_path / "tokenizer.json")
    before = path.read_bytes()
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        BPE.train(SLIDE_TEXTS, 13).save(path)
    assert path.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["tokenizer.json"]


def test_a_vocabulary_smaller_than_the_alphabet_is_refused():
    with pytest.raises(ValueError, match=r"vocab_size must be at least 12.*got 11"):
        BPE.train(SLIDE_TEXTS, 11)


@pytest.mark.parametrize("corpus", [[], [""], [" \t\n"]])
def test_an_empty_corpus_is_refused(corpus):
    with pytest.raises(ValueError, match="holds no word"):
        BPE.train(corpus, 100)


def test_one_string_instead_of_a_list_is_refused():
    with pytest.raises(TypeError, match="iterable of strings"):
        BPE.train("a single text", 100)


def test_unknown_options_are_refused():
    with pytest.raises(ValueError, match='"lowest-id" or "highest-id"; got \'first\''):
        BPE.train(SLIDE_TEXTS, 15, tie_break="first")
    with pytest.raises(ValueError, match="holds one twice"):
        BPE.train(SLIDE_TEXTS, 15, special_tokens=("[UNK]", "[UNK]"))
    with pytest.raises(ValueError, match="punctuation mark"):
        BPE.train(SLIDE_TEXTS, 15, end_of_word="x")


def test_an_unknown_character_without_an_unknown_token_is_refused():
    bpe = BPE.train(SLIDE_TEXTS, 14, special_tokens=())
    with pytest.raises(ValueError, match=r"'z'.*\[UNK\]"):
        bpe.encode("zoo")


@pytest.mark.parametrize("id", [-1, 15, 10**6])
def test_an_id_out_of_range_is_refused(id):
    bpe = BPE.train(SLIDE_TEXTS, 15)
    with pytest.raises(ValueError, match=f"from 0 to 14; got {id}"):
        bpe.decode([0, id])


def test_a_trained_tokenizer_cannot_be_changed():
    bpe = BPE.train(SLIDE_TEXTS, 15)
    with pytest.raises(TypeError):
        bpe.vocab["new"] = 99
    with pytest.raises(AttributeError):
        bpe.merges = ()
