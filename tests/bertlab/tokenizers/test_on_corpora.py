"""BPE and byte-level BPE against Hugging Face's on real corpora, one of them multilingual."""

import json
from functools import cache

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from bertlab import data
from bertlab.tokenizers import BPE, ByteBPE, split_words
from bertlab.tokenizers.byte_level import split_byte_words, to_symbols

pytestmark = pytest.mark.slow

# Scripts with signs younger than Hugging Face's Unicode tables (or Python's): no two tables agree
# about what is punctuation there.
YOUNG_SCRIPTS = {"dv_Diak", "mak_Maka", "oui_Ougr", "sa_Bhks", "sa_Marc", "sa_Newa", "sa_Soyo"}
YOUNG_SCRIPTS |= {"sa_Zanb", "zag_Berf"}


@cache
def texts(corpus):
    if corpus == "udhr":
        return [e.text for e in data.labelled("udhr") if e.label not in YOUNG_SCRIPTS]
    return [" ".join(document) for document in data.documents(corpus)]


def reference(kind):
    if kind is BPE:
        tokenizer = Tokenizer(models.BPE(unk_token="[UNK]"))
        tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        return tokenizer, {"special_tokens": ["[UNK]"]}
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    return tokenizer, {"initial_alphabet": pre_tokenizers.ByteLevel.alphabet()}


@pytest.mark.corpora
@pytest.mark.parametrize("kind", [BPE, ByteBPE])
@pytest.mark.parametrize("corpus", ["wikipedia", "books", "udhr"])
def test_vocabulary_merges_ids_and_offsets_are_hugging_faces(kind, corpus):
    # The alphabet of hundreds of languages alone has more than 7,000 characters.
    vocab_size = 9_000
    expected, options = reference(kind)
    trainer = trainers.BpeTrainer(vocab_size=vocab_size, show_progress=False, **options)
    expected.train_from_iterator(texts(corpus), trainer)
    model = json.loads(expected.to_str())["model"]
    ours = kind.train(texts(corpus), vocab_size)
    assert dict(ours.vocab) == model["vocab"]
    assert [list(pair) for pair in ours.merges] == model["merges"]
    for text in texts(corpus)[::3] + texts("plots")[:50]:
        theirs, got = expected.encode(text), ours.encode(text)
        assert (got.ids, got.tokens, got.offsets) == (theirs.ids, theirs.tokens, theirs.offsets)


@pytest.mark.corpora
def test_only_young_scripts_are_split_in_another_way():
    bert = pre_tokenizers.BertPreTokenizer().pre_tokenize_str
    gpt2 = pre_tokenizers.ByteLevel(add_prefix_space=False).pre_tokenize_str
    for example in data.labelled("udhr"):
        if example.label not in YOUNG_SCRIPTS:
            assert split_words(example.text) == [word for word, _ in bert(example.text)]
            words = [to_symbols(word) for word in split_byte_words(example.text)]
            assert words == [word for word, _ in gpt2(example.text)]


@pytest.mark.corpora
@pytest.mark.parametrize("kind", [BPE, ByteBPE])
def test_two_processes_count_what_one_counts(kind):
    assert kind.train(texts("books"), 2_000, processes=2) == kind.train(texts("books"), 2_000)
