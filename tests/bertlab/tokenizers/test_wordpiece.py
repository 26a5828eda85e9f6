"""WordPiece: encoding against Hugging Face's, and the two ways to match against each other."""

from itertools import product

import pytest
from hypothesis import example as always
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import BertWordPieceTokenizer, Tokenizer, models, normalizers, pre_tokenizers

from bertlab import data
from bertlab.parts import plain
from bertlab.tokenizers import WordPiece, normalize
from bertlab.tokenizers.fast import LongestMatcher
from bertlab.tokenizers.wordpiece import longest_match
from bertlab.tokenizers.words import is_chinese, is_removed
from course.experiments.labels import labelled
from tests.bertlab.tokenizers.references import ADVERSARIAL, PYTHON_TOPICS, assert_same

SLIDE_TEXTS = ["cost best menu men camel", "cost best"]

# Characters that Unicode had when Hugging Face's tables were made, without the punctuation and
# the marks that came since. All common scripts are among them.
KNOWN = st.characters(
    exclude_categories=["Cs", "Cn", "Co", "P", "M"], max_codepoint=0xFFFF
) | st.sampled_from("!?.,;:'\"()-\u0301\u0308\u093f\u0e31\u2014\u3002\ufeff\u200d\u0600")
text_of_all_kinds = st.text(KNOWN, max_size=40)


@pytest.fixture(scope="module", params=[True, False], ids=["uncased", "cased"])
def bert(request):
    """BERT's published vocabulary, ours and Hugging Face's, with both normalisations."""
    path = data.path("minilm", "vocab.txt")
    ours = WordPiece.from_vocab(path, lowercase=request.param)
    return ours, BertWordPieceTokenizer(str(path), lowercase=request.param)


@pytest.mark.slow
@pytest.mark.corpora
def test_ten_thousand_real_sentences_equal_hugging_face(bert):
    sentences = [s for document in data.documents("wikipedia") for s in document][:6_000]
    sentences += [s for document in data.documents("books") for s in document][:4_000]
    assert len(sentences) == 10_000
    ours, reference = bert
    for sentence in sentences:
        assert_same(ours.encode(sentence), reference.encode(sentence))


@pytest.mark.corpora
@pytest.mark.parametrize("what", ADVERSARIAL)
def test_adversarial_text_equals_hugging_face(bert, what):
    ours, reference = bert
    assert_same(ours.encode(ADVERSARIAL[what]), reference.encode(ADVERSARIAL[what]))


@pytest.mark.slow
@pytest.mark.corpora
def test_hundreds_of_languages_equal_hugging_face(bert):
    ours, reference = bert
    normalizer = reference.normalizer.normalize_str
    compared = 0
    for example in labelled("udhr"):
        if normalize(example.text, lowercase=ours.lowercase) != normalizer(example.text):
            continue  # a script that one of the two Unicode tables does not know yet
        words = pre_tokenizers.BertPreTokenizer().pre_tokenize_str(normalizer(example.text))
        if all(len(word) == 1 or word.isalnum() or word.isascii() for word, _ in words):
            assert_same(ours.encode(example.text), reference.encode(example.text))
            compared += 1
    assert compared > 400


@pytest.mark.corpora
@given(text=text_of_all_kinds, pair=st.none() | text_of_all_kinds)
def test_any_text_equals_hugging_face(bert, text, pair):
    ours, reference = bert
    assert_same(ours.encode(text, pair), reference.encode(text, pair))


# Marks that are no accents: Unicode orders them within a run, whichever characters they come from.
KEPT_MARKS = "\U0001d165\U0001d16d\U0001d16e\U0001d172\u302e\u302f\u1b44\ua9c0\U000111c0"
NOTES = "\U0001d158\U0001d157\U0001d15e\U0001d164a\u0301\u0327\u200d\u0600好é"
texts_with_marks = st.text(st.sampled_from(KEPT_MARKS + NOTES), max_size=12)


@settings(max_examples=120)
@given(text_of_all_kinds | texts_with_marks, st.booleans(), st.sampled_from([None, True, False]))
@always("\U0001d158\U0001d16d\U0001d165", True, None)
def test_normalisation_equals_hugging_faces(text, lowercase, strip_accents):
    reference = normalizers.BertNormalizer(lowercase=lowercase, strip_accents=strip_accents)
    ours = normalize(text, lowercase=lowercase, strip_accents=strip_accents)
    assert ours == reference.normalize_str(text)


@given(texts_with_marks)
def test_ids_and_offsets_of_ordered_marks_equal_hugging_faces(text):
    vocab = ["[UNK]", *map("".join, product(("", "##"), KEPT_MARKS + NOTES))]
    ids = {piece: id for id, piece in enumerate(vocab)}
    reference = Tokenizer(models.WordPiece(ids, unk_token="[UNK]"))
    reference.normalizer = normalizers.BertNormalizer()
    reference.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    ours = WordPiece(ids, (), ("[UNK]",)).encode(text, add_special_tokens=False)
    assert ours.ids == reference.encode(text).ids
    assert all(start < end <= len(text) for start, end in ours.offsets)


def test_characters_are_classed_as_in_berts_own_code():
    assert [is_chinese(c) for c in "你豈𫠠あ한。"] == [True, True, True, False, False, False]
    assert not any(map(is_removed, "\t\n\r "))
    assert all(map(is_removed, "\x00\x0b\ufffd\u200d\ue000"))
    # Hugging Face's library refuses such strings; BERT's own code drops category Cs.
    assert normalize("a\ud800b\udfff") == "ab"


pieces = st.text(alphabet="abc", min_size=1, max_size=4)
later_pieces = pieces.map("##{}".format)
vocabularies = st.builds(set.union, st.sets(pieces, max_size=8), st.sets(later_pieces, max_size=8))


@given(vocabularies, st.text(alphabet="abcd", max_size=30))
def test_both_matchers_equal_hugging_faces(vocab, word):
    ids = {piece: id for id, piece in enumerate(["[UNK]", *sorted(vocab)])}
    reference = Tokenizer(models.WordPiece(ids, unk_token="[UNK]"))
    assert longest_match(word, vocab) == reference.encode(word).tokens
    assert LongestMatcher(vocab).cut(word) == longest_match(word, vocab)


# Training, as far as it is the tokenizer's; `test_ranking.py` has the criteria.


def test_ids_are_special_tokens_first_characters_continuations_merges():
    wordpiece = WordPiece.train(SLIDE_TEXTS, 27, criterion="frequency")
    tokens = list(wordpiece.vocab)
    assert tokens[:5] == ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    assert tokens[5:16] == list("abcelmnostu")
    assert tokens[16:25] == ["##" + character for character in "aelmnostu"]
    assert tokens[25:] == ["##st", "be"]
    assert wordpiece.merges == (("##s", "##t"), ("b", "##e"))


@pytest.mark.parametrize("criterion", ["gain", "ratio", "frequency"])
def test_every_merge_has_its_gain(criterion):
    wordpiece = WordPiece.train(PYTHON_TOPICS[:10], 600, criterion=criterion, min_frequency=2)
    assert len(wordpiece.gains) == len(wordpiece.merges) > 100


def test_the_ratio_has_a_second_name_with_which_files_were_saved(tmp_path):
    named = {"criterion": "likelihood", "special_tokens": ["[UNK]"]}
    by_ratio = WordPiece.train(SLIDE_TEXTS, 28, **named | {"criterion": "ratio"})
    by_old_name = WordPiece.train(SLIDE_TEXTS, 28, **named)
    with plain():
        assert by_ratio == by_old_name == WordPiece.train(SLIDE_TEXTS, 28, **named)
    assert by_ratio.merges[0] == ("##a", "##m")
    assert WordPiece.load(by_old_name.save(tmp_path / "tokenizer.json")) == by_ratio


def test_case_and_accents_are_removed_before_counting():
    upper, lower = ["CAFÉ Café café"], ["cafe cafe cafe"]
    assert WordPiece.train(upper, 20).vocab == WordPiece.train(lower, 20).vocab
    cased = WordPiece.train(upper, 30, lowercase=False)
    assert "É" in cased.vocab
    assert cased.encode("Café", add_special_tokens=False).tokens == ["Café"]


def test_a_word_that_cannot_be_cut_is_unknown_as_a_whole():
    wordpiece = WordPiece.train(SLIDE_TEXTS, 40)
    encoding = wordpiece.encode("zebus men", add_special_tokens=False)
    assert encoding.tokens == ["[UNK]", "men"]
    assert encoding.offsets == [(0, 5), (6, 9)]


def test_decoding_joins_pieces_and_omits_special_tokens():
    wordpiece = WordPiece.train(SLIDE_TEXTS, 30, criterion="frequency")
    encoding = wordpiece.encode("menu, costs")
    assert wordpiece.decode(encoding.ids) == "menu costs"
    whole = wordpiece.decode(encoding.ids, skip_special_tokens=False)
    assert whole == "[CLS] menu [UNK] costs [SEP]"


@pytest.mark.corpora
def test_published_files_of_both_kinds_are_read_equally(tmp_path):
    from_text = WordPiece.from_vocab(data.path("minilm", "vocab.txt"))
    from_json = WordPiece.load(data.path("minilm", "tokenizer.json"))
    assert from_json == from_text
    assert len(from_text.vocab) == 30_522
    saved = from_text.save_vocab(tmp_path / "vocab.txt")
    assert saved.read_bytes() == data.path("minilm", "vocab.txt").read_bytes()


@pytest.mark.parametrize(
    ("content", "message"),
    [("a\nb\na\n[UNK]\n", "occurs twice"), ("a\nb\n", "has no"), (b"\xff\xfe", "not UTF-8")],
)
def test_a_text_file_that_is_not_a_vocabulary_is_rejected(tmp_path, content, message):
    path = tmp_path / "vocab.txt"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ValueError, match=message):
        WordPiece.from_vocab(path)
