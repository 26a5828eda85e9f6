"""Lecture 06: sizes counted by hand, and what SciPy and Hugging Face's MiniLM give.

Its other numbers it asserts itself.
"""

from itertools import combinations

import numpy as np
import pytest
import torch
from scipy.spatial.distance import cosine as cosine_distance
from scipy.special import expit
from scipy.stats import norm
from torch.nn import functional as F

from bertlab.data.published import hub_model
from bertlab.model import BertConfig, count_parameters
from tests.conftest import ROOT
from tests.lectures import sizes
from tests.lectures.conftest import plain


def test_what_the_proofs_of_the_page_assert(states):
    states("""
        89 % of BERT-tiny ... 7,087,872 for a layer ... $6/4 = 1.5$ ... $(1, -1, 1, -1)$ ... BERT
        never builds that vector of 12,000 numbers ... $(-1, -1, 1, 11)$ ... with 2 → 3 → 2
        dimensions
    """)
    states(f"(2.25 + 6.25 + 0.25 + 0.25)/4 = {np.var([0, 4, 1, 1])}")


def test_what_others_report_is_quoted_as_they_print_it(states):
    states(r"""
        110 million parameters for base and 340 million for large ... 340 million is a generous
        rounding ... 340 million for large is not what ... | 10 |
        $\quad X \leftarrow \text{GELU}(X W_f + b_f)$ | 8 | ... | 11 | $\quad X \leftarrow
        \text{LayerNormPerRow}(X; \gamma, \beta)$ | 8 | ... | 12 | $\quad$ **return** $P =
        \text{softmax}(X W_u)$ | 8 | ... a dropout of 0.1 on all layers
    """)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("tiny", 4_385_920),
        ("mini", 11_170_560),
        ("small", 28_763_648),
        ("medium", 41_373_184),
        ("base", 109_482_240),
        ("large", 335_141_888),
    ],
)
def test_the_six_published_sizes_by_hand(name, parameters):
    config = getattr(BertConfig, name)()
    assert sizes.encoder(config.n_layers, config.d_model) == parameters
    assert count_parameters(config).part("bert") == parameters


def test_base_is_the_110_million_of_the_paper_and_large_not_quite_340(states):
    assert round((sizes.encoder(12, 768) + sizes.heads(768)) / 1e6) == 110
    assert sizes.encoder(24, 1024) + sizes.heads(1024) == 336_226_108
    states("""
        109,482,240 parameters; with both heads it is 110,106,428 ... 109,482,240 parameters in the
        encoder of base, 110,106,428 with both heads ... each of the 109,482,240 parameters of
        BERT-base ... 335,141,888 in the encoder and 336,226,108 with both heads ...
        positions beyond 512 ... hold the 110 million ... the paper's 110 million. ... BERT itself,
        110 million ... the encoder of BERT-base has 109,482,240 parameters, each
    """)


def test_what_the_slides_count_leaves_out_is_on_the_page_of_sources():
    said = plain((ROOT / "lectures" / "sources.md").read_text(encoding="utf-8"))
    D, d_ff = 768, 3072
    embeddings, layer = (30_000 + 2 + 512) * D, 4 * D * D + 2 * D * d_ff + d_ff + D
    assert f"{embeddings / 1e6:.1f} M for the embeddings and {layer / 1e6:.0f} M per layer" in said
    rounded = 23_400_000 + 12 * 7_000_000
    assert f"so {rounded / 1e6} million" in said
    biases_and_norms = 12 * 4 * D + 12 * 2 * 2 * D + 2 * D
    matrices = 2 * (D * D + D)
    rounding = embeddings - 23_400_000 + 12 * (layer - 7_000_000)
    vocabulary, rest = 522 * D + 30_522, 2 * D + 2 * D + 2
    missing = sizes.encoder(12, D) + sizes.heads(D) - rounded
    assert biases_and_norms + matrices + rounding + vocabulary + rest == missing
    for number in (missing, biases_and_norms, matrices, rounding, vocabulary, rest):
        assert f"{number:,}" in said
    layers = count_parameters(BertConfig.large()).part("bert.layers")
    assert f"alone have {layers:,}" in said


def test_the_real_bert_is_as_large_as_the_page_says_and_the_library_compared_on_100_pairs(states):
    from tests.bertlab.model import test_pretrained

    (name,) = (name for name in vars(test_pretrained) if name.endswith("_real_sentence_pairs"))
    states(f"on {name.split('_')[-4]} real sentence pairs")
    states(f"is a download of {hub_model('bert-base-uncased').megabytes:.0f} MB")


def test_gelu_and_the_largest_errors_of_its_two_approximations_by_scipy(states):
    grid = np.linspace(-6, 6, 12_001)
    exact = grid * norm.cdf(grid)
    at = {x: x * norm.cdf(x) for x in (-3, -1, 1)}
    states(
        rf"$\Phi(0) = {norm.cdf(0)}$ ... $\Phi(1) = {norm.cdf(1):.3f}$",
        rf"$\Phi(-1) = {norm.cdf(-1):.3f}$ ... $\Phi(-3) = {norm.cdf(-3):.5f}$",
        f"GELU(1) = {at[1]:.3f} and GELU(-1) = {at[-1]:.3f} ... GELU(-3) = {at[-3]:.5f}",
        f"The sigmoid gives {-3 * expit(1.702 * -3):.4f}",
        f"{exact.min():.3f}, at {grid[exact.argmin()]:.3f}",
    )
    by_tanh = np.abs(F.gelu(torch.from_numpy(grid), approximate="tanh").numpy() - exact)
    assert round(by_tanh.max(), 5) == 0.00047
    states("never off by more than 0.0005")
    by_sigmoid = np.abs(grid * expit(1.702 * grid) - exact)
    states(f"the sigmoid by up to {by_sigmoid.max():.4f}")


# The published MiniLM in Hugging Face's own model.


@pytest.mark.corpora
def test_published_size_ids_and_segments_by_hugging_face(minilm, states):
    assert minilm.model.num_parameters() == sizes.encoder(6, 384) == 22_713_216
    tokenizer = minilm.tokenizer
    paris = tokenizer.encode("Paris is a beautiful city", "I love Paris")
    assert " ".join(paris.tokens) == "[CLS] paris is a beautiful city [SEP] i love paris [SEP]"
    assert paris.type_ids == [0] * 7 + [1] * 4
    assert paris.ids[1] == paris.ids[9]
    assert tokenizer.encode("my dog is cute", "bird can fly").type_ids == [0] * 6 + [1] * 4
    assert "playing" in tokenizer.encode("he likes playing").tokens
    states(f"{tokenizer.get_vocab_size():,} entries")
    wanted = {"[PAD]": 0, "[UNK]": 100, "[CLS]": 101, "[SEP]": 102, "[MASK]": 103}
    assert {token: tokenizer.token_to_id(token) for token in wanted} == wanted


def cosine(a, b):
    return float(1 - cosine_distance(a, b))


@pytest.mark.corpora
def test_the_path_of_it_by_hugging_face(minilm, states):
    text = "the animal did not cross the street because it was too tired"
    tokens, hidden, attentions = minilm(text)
    it = tokens.index("it")
    cosines = [round(cosine(layer[it], hidden[0, it]), 2) for layer in hidden]
    assert cosines == [1.0, 0.88, 0.77, 0.6, 0.49, 0.35, 0.27]
    looked = attentions[5, :, it].mean(axis=0)
    best = np.argsort(-looked)[:4]
    assert [tokens[place] for place in best] == ["[CLS]", "animal", "tired", "street"]
    assert (100 * looked[best]).round().tolist() == [29, 13, 11, 10]
    table = minilm.model.embeddings.word_embeddings.weight.detach().numpy()
    length = np.linalg.norm(table, axis=1)
    for layer, words in ((0, "it its they them this"), (-1, "it its swan him donkey")):
        near = table @ hidden[layer, it] / length / np.linalg.norm(hidden[layer, it])
        top = np.argsort(-near)[:5]
        assert [minilm.tokenizer.id_to_token(int(word)) for word in top] == words.split()
    states(f"*{words.replace(' ', ', ')}*")
    assert near.max() < 0.25
    states("from 1.00 to 0.27")


@pytest.mark.corpora
def test_banks_of_one_meaning_are_more_similar_by_hugging_face(minilm, states):
    banks = (  # three of money, three of water
        "he went to the bank to ask for a loan",
        "he drove to the bank to deposit his salary",
        "i owe to the bank more than i earn",
        "she sat on the bank of the river and watched the boats",
        "we swam to the bank of the stream and got dry",
        "they camped on the bank of the lake",
    )
    assert {minilm(sentence).tokens.index("bank") for sentence in banks} == {5}
    ways = [(n < 3, minilm(sentence).hidden[:, 5]) for n, sentence in enumerate(banks)]
    pairs = {True: [], False: []}
    for (meaning, way), (other, other_way) in combinations(ways, 2):
        pairs[meaning == other].append([cosine(a, b) for a, b in zip(way, other_way, strict=True)])
    same, different = np.array(pairs[True]), np.array(pairs[False])
    assert (len(same), len(different)) == (6, 9)
    np.testing.assert_allclose(different[:, 0], 1, atol=1e-5)
    assert (same[:, 1:].min(axis=0) > different[:, 1:].max(axis=0)).all()
    assert different.mean(axis=0).round(2).tolist() == [1, 0.93, 0.87, 0.84, 0.85, 0.88, 0.8]
    states(f"at least {same[:, -1].min():.2f}", f"at most {different[:, -1].max():.2f}")
