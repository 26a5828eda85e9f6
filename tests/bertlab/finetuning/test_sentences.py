"""Sentence vectors against sentence-transformers; padding and other texts never count."""

import json
import random

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import save_file
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.modules import Dense, Normalize, Transformer
from sentence_transformers.sentence_transformer.modules import LayerNorm, Pooling
from torch import nn

from bertlab import data
from bertlab.finetuning import sentences as module
from bertlab.finetuning.sentences import SentenceEncoder, batches_of_one_length, pool
from bertlab.model import Bert, BertConfig, save_pretrained
from bertlab.tokenizers import WordPiece
from tests.bertlab.refusals import rejected
from tests.conftest import fetched
from tests.small_models import normal, random_weights

pytestmark = pytest.mark.slow

TEXTS = [
    "The cat sat on the mat.",
    "A dog!",
    "Owls hunt at night, and so do cats and foxes.",
    "Who let the dogs out?",
    "Größe, naïve, 漢字: [MASK] is cut into pieces, or unknown.",
]


@pytest.fixture(scope="module")
def tokenizer():
    return WordPiece.train(TEXTS, 80)


def bert(tokenizer, **changes):
    """A small encoder whose vectors differ much from text to text."""
    config = {"vocab_size": len(tokenizer.vocab), "max_length": 40, "dropout": 0.5, **changes}
    model = Bert(BertConfig(d_model=24, n_layers=2, n_heads=4, d_ff=40, **config))
    return random_weights(model, seed=1).eval()


@pytest.fixture
def encoder(tokenizer):
    return SentenceEncoder(bert(tokenizer), tokenizer)


def reference_encoder(folder, pooling="mean", normalize=True, max_length=256):
    """sentence-transformers' own encoder, from a folder of ours."""
    transformer = Transformer(str(folder), max_seq_length=max_length)
    parts = [transformer, Pooling(transformer.get_embedding_dimension(), pooling)]
    parts += [Normalize()] * normalize
    return SentenceTransformer(modules=parts, device="cpu")


def some_texts(number):
    """Sentences of 1 to 12 words, none twice the same in a row."""
    words = " ".join(TEXTS).split()
    draw = random.Random(0)
    return [" ".join(draw.choices(words, k=draw.randint(1, 12))) for _ in range(number)]


# Pooling


@pytest.mark.parametrize("how", module.POOLINGS)
def test_pooling_equals_sentence_transformers(how):
    hidden = normal(6, 9, 5) - 2  # most are below 0, also the largest
    mask = torch.arange(9) < torch.tensor([9, 1, 4, 8, 2, 5])[:, None]
    features = {"token_embeddings": hidden, "attention_mask": mask.long()}
    reference = Pooling(5, how)(features)["sentence_embedding"]
    for numbers in (mask, mask.long()):
        torch.testing.assert_close(pool(hidden, numbers, how), reference)


@pytest.mark.parametrize("how", module.POOLINGS)
@pytest.mark.parametrize("rubbish", [1e30, torch.inf, torch.nan])
def test_values_at_padding_do_not_count(how, rubbish):
    hidden = normal(2, 4, 3)
    mask = torch.tensor([[True, True, False, False], [True] * 4])
    padded = hidden.clone()
    padded[0, 2:] = rubbish
    expected = torch.cat([pool(hidden[:1, :2], None, how), pool(hidden[1:], None, how)])
    torch.testing.assert_close(pool(padded, mask, how), expected)


def test_pooling_rejects_what_does_not_match():
    hidden, empty = torch.zeros(2, 3, 4), torch.tensor([[1, 1, 1], [0, 0, 0]])
    rejected("how must be one of mean, cls, max; got 'sum'", pool, hidden, None, "sum")
    mismatch = r"_mask must be \[B, L\] = \[2, 3\].*got \[2, 4\]"
    rejected(mismatch, pool, hidden, torch.ones(2, 4), "mean")
    rejected(r"hidden must be \[B, L, D\]; got \[2, 3\]", pool, hidden[..., 0], None, "mean")
    rejected("a token in each row", pool, hidden, empty, "max")


# Batches


@given(st.lists(st.integers(3, 40), max_size=60), st.integers(1, 200))
def test_batches_hold_every_text_once_and_hardly_any_padding(lengths, most):
    batches = batches_of_one_length(lengths, most)
    assert sorted(number for batch in batches for number in batch) == list(range(len(lengths)))
    in_order = [lengths[number] for batch in batches for number in batch]
    assert in_order == sorted(lengths, reverse=True)
    for batch in batches:
        own = [lengths[number] for number in batch]
        assert len(batch) == 1 or len(batch) * own[0] <= most
        if own[-1] < own[0]:  # padded: when the last one joined there was little in the batch
            assert own.index(own[-1]) * own[0] < most / 4


def test_texts_of_one_length_fill_a_batch_before_the_next_begins():
    assert batches_of_one_length([4] * 5, most=8) == [[0, 1], [2, 3], [4]]
    assert batches_of_one_length([4, 9, 4, 3], most=30) == [[1], [0, 2], [3]]
    assert batches_of_one_length([4, 9, 4, 3], most=40) == [[1, 0], [2, 3]]
    assert batches_of_one_length([4, 9, 4, 3], most=36) == [[1], [0, 2, 3]]
    assert batches_of_one_length([50, 50], most=8) == [[0], [1]]
    assert batches_of_one_length([]) == []
    rejected("most must be at least 1; got 0", batches_of_one_length, [4], most=0)


# The encoder


@pytest.mark.parametrize("pooling", module.POOLINGS)
@pytest.mark.parametrize("normalize", [True, False])
def test_vectors_equal_sentence_transformers(tokenizer, tmp_path, pooling, normalize):
    save_pretrained(bert(tokenizer), tmp_path, tokenizer)
    tokenizer.save(tmp_path / "tokenizer.json")
    ours = SentenceEncoder.from_folder(tmp_path, pooling, normalize, max_length=20)
    reference = reference_encoder(tmp_path, pooling, normalize, max_length=20)
    texts = [*TEXTS, *some_texts(15), "cat " * 30]
    vectors = ours.encode(texts, truncate=True, progress=False)
    expected = torch.from_numpy(reference.encode(texts))
    torch.testing.assert_close(vectors, expected, atol=1e-5, rtol=0)
    lengths = vectors.norm(dim=-1)
    assert torch.allclose(lengths, torch.ones(len(texts)), atol=1e-5) is normalize


@pytest.mark.parametrize("pooling", module.POOLINGS)
def test_a_text_has_the_same_vector_alone_and_among_others(tokenizer, pooling):
    encoder = SentenceEncoder(bert(tokenizer), tokenizer, pooling)
    texts, sizes = some_texts(40), []
    alone = torch.cat([encoder.encode([text], progress=False) for text in texts])
    encoder.bert.register_forward_pre_hook(lambda part, given: sizes.append(len(given[0])))
    for most, batches in ((1, [1] * 40), (10_000, [40])):
        together = encoder.encode(texts, most_tokens=most, progress=False)
        torch.testing.assert_close(together, alone, atol=1e-5, rtol=0)
        assert sizes == batches
        sizes.clear()


def test_encoding_is_without_dropout_and_restores_the_mode_of_every_part(encoder):
    encoder.train()
    encoder.bert.layers[0].eval()
    before = {name: part.training for name, part in encoder.named_modules()}
    first, second = (encoder.encode(TEXTS, progress=False) for _ in range(2))
    assert torch.equal(first, second)
    assert {name: part.training for name, part in encoder.named_modules()} == before
    assert len(set(before.values())) == 2


def test_a_classifier_can_be_trained_on_vectors_and_through_forward_the_encoder(encoder):
    vectors = encoder.encode(TEXTS, progress=False)
    assert not vectors.requires_grad
    weight = torch.zeros(24, requires_grad=True)
    (vectors @ weight).sum().backward()
    torch.testing.assert_close(weight.grad, vectors.sum(dim=0))
    encoder(torch.tensor([[2, 7, 3]])).sum().backward()
    assert encoder.bert.embeddings.token.weight.grad[7].any()


def test_texts_and_parts_that_do_not_fit_are_rejected_and_no_texts_give_no_vectors(encoder):
    rejected(r"=40.*texts\[1\].*truncate=True", encoder.encode, ["a cat", "cat " * 50])
    rejected(r"texts\[0\]", encoder.encode, ["  "])
    rejected("list of strings", encoder.encode, "a cat", error=TypeError)
    assert encoder.encode([]).shape == (0, 24)
    tokenizer, model = encoder.tokenizer, encoder.bert
    rejected("vocab_size=99", SentenceEncoder, bert(tokenizer, vocab_size=99), tokenizer)
    rejected("pooling must be one of", SentenceEncoder, model, tokenizer, pooling="average")
    for length in (2, 41):
        outside = f"max_length must be from 3 to 40.*got {length}"
        rejected(outside, SentenceEncoder, model, tokenizer, max_length=length)


def test_a_folder_is_read_up_to_256_tokens_or_as_many_as_it_has(tokenizer, tmp_path):
    for positions, expected in ((40, 40), (300, 256)):
        save_pretrained(bert(tokenizer, max_length=positions), tmp_path, tokenizer)
        encoder = SentenceEncoder.from_folder(tmp_path)
        assert encoder.max_length == expected
        assert not encoder.training


# What a folder declares


def declare(tokenizer, folder, *parts):
    """Write a folder of sentence-transformers."""
    save_pretrained(bert(tokenizer), folder / "bert", tokenizer)
    first = Transformer(str(folder / "bert"), max_seq_length=12)
    SentenceTransformer(modules=[first, *parts], device="cpu").save(
        str(folder), create_model_card=False
    )
    return folder


PARTS = [
    lambda: [Pooling(24, "max"), Dense(24, 7)],
    lambda: [
        *[Pooling(24, "mean"), Dense(24, 30, activation_function=nn.GELU())],
        *[Dense(30, 5, bias=False, activation_function=None), Normalize()],
    ],
]


@pytest.mark.parametrize("parts", PARTS)  # more of them in test_random_folders.py
def test_what_a_folder_declares_is_done(tokenizer, tmp_path, parts):
    folder = declare(tokenizer, tmp_path, *parts())
    assert not list(folder.glob("vocab.txt"))  # as sentence-transformers writes them today
    texts = [*TEXTS, "cat " * 30]
    state = torch.get_rng_state()
    encoder = SentenceEncoder.from_folder(folder)
    assert torch.equal(torch.get_rng_state(), state)
    assert encoder.max_length == 12
    expected = torch.from_numpy(SentenceTransformer(str(folder), device="cpu").encode(texts))
    vectors = encoder.encode(texts, truncate=True, progress=False)
    torch.testing.assert_close(vectors, expected, atol=1e-5, rtol=0)
    assert encoder.encode([]).shape == (0, expected.shape[1])


def test_an_argument_comes_before_what_the_folder_declares(tokenizer, tmp_path):
    folder = declare(tokenizer, tmp_path, Pooling(24, "cls"))
    encoder = SentenceEncoder.from_folder(folder, "max", True, 20)
    assert (encoder.pooling, encoder.normalize, encoder.max_length) == ("max", True, 20)


def test_without_modules_the_length_is_still_what_the_tokenizer_says(tokenizer, tmp_path):
    save_pretrained(bert(tokenizer), tmp_path, tokenizer)
    (tmp_path / "tokenizer_config.json").write_text('{"model_max_length": 9}')
    assert SentenceEncoder.from_folder(tmp_path).max_length == 9


ROOT, MODEL = "sentence_bert_config.json", "config_sentence_transformers.json"
POOLING, DENSE = "1_Pooling/config.json", "2_Dense/config.json"
TWO = ["cls", "max"]
NO_LAYER = r"2_Dense.*must hold the layer that config\.json describes"


def edit(path, values):
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


@pytest.mark.parametrize(
    ("file", "values", "message"),
    [
        (POOLING, {"pooling_mode": "weightedmean"}, "pooling_mode must be .*; got 'weightedmean'"),
        (POOLING, {"pooling_mode": TWO}, r"pooling_mode must be .*; got \['cls', 'max'\]"),
        (POOLING, {"pooling_mode_lasttoken": True}, "pooling_mode_lasttoken must be false"),
        (POOLING, {"zeal": 1}, "zeal must be omitted; got 1"),
        (ROOT, {"do_lower_case": True}, "do_lower_case must be false; got True"),
        (ROOT, {"transformer_task": "fill-mask"}, "transformer_task must be .*; got 'fill-mask'"),
        (ROOT, {"query_expansion": {"length": 9}}, "query_expansion must be null"),
        (DENSE, {"use_residual": True}, "use_residual must be false; got True"),
        (DENSE, {"activation_function": "torch.nn.Softplus"}, "activation_function .* 'torch.nn"),
        (DENSE, {"module_input_name": "token_embeddings"}, "module_input_name must be"),
        (DENSE, {"in_features": 23}, NO_LAYER),
        (DENSE, {"bias": False}, NO_LAYER),
        (MODEL, {"truncate_dim": 3}, "truncate_dim must be null; got 3"),
        (MODEL, {"default_prompt_name": "q"}, "default_prompt_name"),
    ],
)
def test_what_a_folder_declares_and_we_do_not_have_is_refused(with_dense, file, values, message):
    SentenceEncoder.from_folder(with_dense)
    edit(with_dense / file, values)
    rejected(message, SentenceEncoder.from_folder, with_dense)


@pytest.fixture
def with_dense(tokenizer, tmp_path):
    return declare(tokenizer, tmp_path, Pooling(24, "mean"), Dense(24, 7))


def test_parts_that_we_do_not_have_are_refused(tokenizer, tmp_path):
    folder = declare(tokenizer, tmp_path, Pooling(24, "mean"), LayerNorm(24))
    others = r"modules\.json declares .*LayerNorm; supported are"
    rejected(others, SentenceEncoder.from_folder, folder)
    foreign = '[{"type": "mine.Pooling", "path": ""}]'
    for content, message in (("[3]", "must list parts"), (foreign, "mine")):
        (folder / "modules.json").write_text(content)
        rejected(message, SentenceEncoder.from_folder, folder)


def test_a_dense_layer_without_its_weights_is_refused(with_dense):
    weights, read = with_dense / "2_Dense" / "model.safetensors", SentenceEncoder.from_folder
    weights.write_bytes(weights.read_bytes()[:50])
    rejected(r"2_Dense.*must hold the layer", read, with_dense)
    weights.unlink()
    missing = r"2_Dense holds no model\.safetensors"
    rejected(missing, read, with_dense, error=FileNotFoundError)
    save_file({"linear.weight": torch.zeros(7, 9), "linear.bias": torch.zeros(7)}, weights)
    edit(with_dense / DENSE, {"in_features": 9})
    rejected("dense must read vectors of 24 numbers; .* reads 9", read, with_dense)


# The published weights


@pytest.mark.corpora
def test_minilm_equals_sentence_transformers_on_300_sentences():
    """Also on a text beyond 256 tokens and on one in many scripts."""
    fetched("wikipedia")
    sentences = [sentence for document in data.documents("wikipedia") for sentence in document]
    texts = random.Random(6).sample(sentences, 298)
    texts += ["One word more. " * 100, "naïve 漢字 \u200d [MASK] Ünï ☃ 🙂"]
    ours = SentenceEncoder.from_folder(data.weights("minilm"))
    reference = reference_encoder(data.weights("minilm"))
    vectors = ours.encode(texts, truncate=True, progress=False)
    expected = torch.from_numpy(reference.encode(texts))
    assert vectors.shape == (len(texts), 384)
    torch.testing.assert_close(vectors, expected, atol=1e-5, rtol=0)
