"""BPE and byte-level BPE against Hugging Face's: the Python manual, random text, real corpora."""

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import pre_tokenizers

from bertlab import data
from bertlab.tokenizers import BPE, ByteBPE, WordPiece, split_words
from bertlab.tokenizers.byte_bpe import split_byte_words, to_symbols
from course.experiments.labels import labelled
from tests.bertlab.tokenizers import references

pytestmark = pytest.mark.slow

HALF = len(references.PYTHON_TOPICS) // 2
# Scripts with signs younger than Hugging Face's Unicode tables (or Python's): no two tables agree
# about what is punctuation there.
YOUNG_SCRIPTS = {"dv_Diak", "mak_Maka", "oui_Ougr", "sa_Bhks", "sa_Marc", "sa_Newa", "sa_Soyo"}
YOUNG_SCRIPTS |= {"sa_Zanb", "zag_Berf"}
words = st.lists(st.text(alphabet="abcé", min_size=1, max_size=8), max_size=8).map(" ".join)


@cache
def texts(corpus):
    if corpus == "udhr":
        return [e.text for e in labelled("udhr") if e.label not in YOUNG_SCRIPTS]
    return [" ".join(document) for document in data.documents(corpus)]


@pytest.fixture(scope="module", params=[BPE, ByteBPE], ids=lambda kind: kind.__name__)
def both(request):
    """Ours and theirs, trained on the first half of the manual."""
    training = request.param, references.PYTHON_TOPICS[:HALF], 1_000
    return request.param.train(*training[1:]), references.train_reference(*training)


@pytest.mark.parametrize(
    ("kind", "vocab_size"),
    [(BPE, 200), (ByteBPE, 256)]
    + [(kind, size) for kind in (BPE, ByteBPE) for size in (300, 1_000, 5_000)],
)
def test_vocabulary_and_merges_are_hugging_faces_on_the_python_manual(kind, vocab_size):
    reference = references.train_reference(kind, references.PYTHON_TOPICS, vocab_size)
    references.assert_same_model(kind.train(references.PYTHON_TOPICS, vocab_size), reference)


@pytest.mark.parametrize(
    ("kind", "smallest", "text"), [(BPE, 6, words), (ByteBPE, 256, references.spaced)]
)
@given(drawn=st.data())
def test_training_equals_hugging_face_on_random_text(kind, smallest, text, drawn):
    corpus = drawn.draw(st.lists(text, min_size=1, max_size=5).filter(any))
    vocab_size = smallest + drawn.draw(st.integers(0, 34))
    frequency = drawn.draw(st.integers(0, 3))
    reference = references.train_reference(kind, corpus, vocab_size, min_frequency=frequency)
    references.assert_same_model(kind.train(corpus, vocab_size, min_frequency=frequency), reference)


def test_ids_and_offsets_are_hugging_faces_on_unseen_text_and_we_read_their_file(both, tmp_path):
    ours, reference = both
    for text in [*references.PYTHON_TOPICS[HALF:], "naïve 你好 🙂 x", "", "  \t "]:
        references.assert_same(ours.encode(text), reference.encode(text))
    reference.save(str(tmp_path / "theirs.json"))
    assert type(ours).load(tmp_path / "theirs.json") == ours


@given(text=st.one_of(references.unicode_text, references.spaced))
def test_ids_and_offsets_are_hugging_faces_on_any_text(both, text):
    ours, reference = both
    references.assert_same(ours.encode(text), reference.encode(text))


@pytest.mark.corpora
@pytest.mark.parametrize("kind", [BPE, ByteBPE])
@pytest.mark.parametrize("corpus", ["wikipedia", "books", "udhr"])
def test_vocabulary_merges_ids_and_offsets_are_hugging_faces(kind, corpus):
    # The alphabet of hundreds of languages alone has more than 7,000 characters.
    reference = references.train_reference(kind, texts(corpus), 9_000)
    ours = kind.train(texts(corpus), 9_000)
    references.assert_same_model(ours, reference)
    for text in texts(corpus)[::3] + texts("plots")[:50]:
        references.assert_same(ours.encode(text), reference.encode(text))


@pytest.mark.corpora
def test_only_young_scripts_are_split_in_another_way():
    bert = pre_tokenizers.BertPreTokenizer().pre_tokenize_str
    gpt2 = pre_tokenizers.ByteLevel(add_prefix_space=False).pre_tokenize_str
    for text in texts("udhr"):
        assert split_words(text) == [word for word, _ in bert(text)]
        words = [to_symbols(word) for word in split_byte_words(text)]
        assert words == [word for word, _ in gpt2(text)]


@pytest.mark.corpora
@pytest.mark.parametrize("kind", [BPE, ByteBPE, WordPiece])
def test_two_processes_count_what_one_counts(kind):
    assert kind.train(texts("books"), 2_000, processes=2) == kind.train(texts("books"), 2_000)
