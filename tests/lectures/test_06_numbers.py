"""Every worked number of lecture 06, reproduced without the page: by hand, numpy, Hugging Face."""

import math
from itertools import combinations

import numpy as np
import pytest
import torch
from scipy.spatial.distance import cosine as cosine_distance
from scipy.special import erf, expit
from scipy.stats import norm
from torch.nn import functional as F

from bertlab import data
from bertlab.data.hub_models import hub_model
from bertlab.model import BertConfig, count_parameters
from tests.lectures import sizes

# Sizes.

SIZES = {
    "tiny": (4_385_920, 89),
    "mini": (11_170_560, 70),
    "small": (28_763_648, 54),
    "medium": (41_373_184, 38),
    "base": (109_482_240, 21),
    "large": (335_141_888, 9),
}


@pytest.mark.parametrize("name", SIZES)
def test_the_six_published_sizes_and_how_much_of_each_is_vocabulary(name):
    config, (parameters, percent) = getattr(BertConfig, name)(), SIZES[name]
    assert sizes.encoder(config.n_layers, config.d_model) == parameters
    assert count_parameters(config).part("bert") == parameters
    assert round(100 * 30_522 * config.d_model / parameters) == percent


def test_base_is_the_110_million_of_the_paper_and_large_not_quite_340(states):
    encoder, heads = sizes.encoder(12, 768), sizes.heads(768)
    states(f"{encoder:,} parameters; with both heads it is {encoder + heads:,}")
    states(f"{encoder:,} parameters in the encoder of base, {encoder + heads:,} with both heads")
    states(f"positions beyond {BertConfig.base().max_length}")
    states(f"each of the {encoder:,} parameters of BERT-base")
    millions = round((encoder + heads) / 1e6)
    states(f"base's {millions} million", f"even {millions} million", f"hold the {millions} million")
    states(f"the paper's {millions} million.", f"BERT itself, {millions} million")
    encoder, heads = sizes.encoder(24, 1024), sizes.heads(1024)
    states(f"{encoder:,} in the encoder and {encoder + heads:,} with both heads")
    states('"310,000,000"', f"without embeddings, have {24 * sizes.layer(1024):,}")


def test_the_parameters_of_the_slides_and_how_they_differ_from_the_exact_ones(states):
    tables = 30_000 * 768 + 2 * 768 + 512 * 768
    layer = 768 * 64 * 3 * 12 + 768 * 768 + 2 * 768 * 3072 + 3072 + 768
    assert (tables, layer) == (23_434_752, 7_081_728)
    assert (round(tables, -5), round(layer, -6)) == (23_400_000, 7_000_000)
    rounded = 23_400_000 + 12 * 7_000_000
    states(rf"$23.4 + 12 \cdot 7 = {rounded / 1e6}$ million")
    states('"Bias terms + LayerNorm + other small components: ~2.5M"')
    rounding = (tables - 23_400_000) + 12 * (layer - 7_000_000)
    biases_and_norms = 12 * 4 * 768 + 12 * 4 * 768 + 2 * 768
    matrices = 2 * (768 * 768 + 768)  # pooler and transform
    words = 522 * 768 + 30_522
    rest = 2 * 768 + 2 * 768 + 2
    missing = rounding + biases_and_norms + matrices + words + rest
    assert rounded + missing == sizes.encoder(12, 768) + sizes.heads(768) == 110_106_428
    states(f"{missing:,} parameters are missing", f"only {biases_and_norms:,} of them")
    states(f"make up {matrices:,}; rounding {rounding:,}; the larger vocabulary {words:,}")
    states(f"{rest:,} are small parts of the heads")


def test_shares_of_token_embeddings_and_what_more_words_layers_and_places_cost(states):
    states("89 % of BERT-tiny", f"{sizes.encoder(12, 768, 110_000):,}", f"{30_522 * 768:,}")
    feed_forward, attention = 12 * (8 * 768**2 + 5 * 768), 12 * 4 * (768**2 + 768)
    assert feed_forward / sizes.encoder(12, 768) == pytest.approx(0.5, abs=0.02)
    assert feed_forward / attention == pytest.approx(2, abs=0.01)
    states("hold half of BERT-base, twice as much as attention")
    states(f"{sizes.layer(768):,} for a layer", f"One position costs {768}")


# Input.


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
    ids = tokenizer.encode("The cat sat", add_special_tokens=False).ids
    states("{}, {}, {}".format(*ids), "{}, {}; any vocabulary will do".format(*ids[1:]))
    states(f"{tokenizer.get_vocab_size():,} entries")
    wanted = {"[PAD]": 0, "[UNK]": 100, "[CLS]": 101, "[SEP]": 102, "[MASK]": 103}
    assert {token: tokenizer.token_to_id(token) for token in wanted} == wanted
    states("six zeros and four ones", "five zeros and five ones")


# The twelve lines, by hand.


def test_the_three_rows_of_the_cat_sat_and_layer_norms_by_hand(states):
    tokens = {21: [1, 0, 2, 1], 11987: [0, 2, 1, 1], 5438: [2, 1, 0, 1]}
    positions = [[1, 0, 0, 1], [0, 1, 0, 1], [0, 0, 1, 1]]
    summed = np.array(list(tokens.values())) + positions
    assert summed.tolist() == [[2, 0, 2, 2], [0, 3, 1, 2], [2, 1, 1, 2]]
    rows = summed + np.array([0, 1, 0, -1])
    assert rows.tolist() == [[2, 1, 2, 1], [0, 4, 1, 1], [2, 2, 1, 1]]
    mean, variance = rows.mean(axis=1, keepdims=True), rows.var(axis=1, keepdims=True)
    normed = ((rows - mean) / np.sqrt(variance)).round(2)
    assert normed[2].tolist() == [1, 1, -1, -1]
    states(f"$6/4 = {mean[0, 0]}$", f"$v = {variance[0, 0]}$", "{}, {}, {}".format(*tokens))
    states(f"(2.25 + 6.25 + 0.25 + 0.25)/4 = {variance[1, 0]}")
    states(*("$({:g}, {:g}, {:g}, {:g})$".format(*row) for row in normed[:2]))
    row = np.array([3, 3, 5, 5])
    normed = (row - row.mean()) / row.std() + [0, 0, 0, 10]
    states("with β $({:.0f}, {:.0f}, {:.0f}, {:.0f})$".format(*normed))
    states(f"BERT never builds that vector of {round(max(tokens), -3):,} numbers")
    states("$({:g}, {:g}, {:g}, {:g})$".format(*normed))


GRID = np.linspace(-6, 6, 12_001)


def gelu(x):
    return x * norm.cdf(x)


def test_gelu_and_the_largest_errors_of_its_two_approximations_by_scipy(states):
    states(rf"$\Phi(0) = {norm.cdf(0)}$", rf"$\Phi(1) = {norm.cdf(1):.3f}$")
    states(rf"$\Phi(-1) = {norm.cdf(-1):.3f}$", rf"$\Phi(-3) = {norm.cdf(-3):.5f}$")
    states(f"GELU(1) = {gelu(1):.3f} and GELU(-1) = {gelu(-1):.3f}")
    lowest = GRID[gelu(GRID).argmin()]
    states(f"{gelu(lowest):.3f}, at {lowest:.3f}")
    states(f"GELU(-3) = {gelu(-3):.5f}. The sigmoid gives {-3 * expit(1.702 * -3):.4f}")
    inner = math.sqrt(2 / math.pi) * (GRID + 0.044715 * GRID**3)
    by_tanh = np.abs(GRID * (1 + np.tanh(inner)) / 2 - gelu(GRID))
    by_sigmoid = np.abs(GRID * expit(1.702 * GRID) - gelu(GRID))
    reference = F.gelu(torch.from_numpy(GRID), approximate="tanh").numpy()
    exact = GRID * (1 + erf(GRID / math.sqrt(2))) / 2
    np.testing.assert_allclose(by_tanh, np.abs(reference - exact), atol=1e-12)
    assert round(by_tanh.max(), 5) == 0.00047
    worst = by_sigmoid.argmax()
    states(f"never off by more than 0.0005, at ±{abs(GRID[by_tanh.argmax()]):.2f}")
    states(f"up to {by_sigmoid[worst]:.4f}, at ±{abs(GRID[worst]):.2f}")


def test_the_feed_forward_network_by_hand(states):
    wide = np.array([1.0, -1]) @ [[1, 0, 1], [0, 1, 1]] + [0, 0, 1]
    assert wide.tolist() == [1, -1, 1]
    activated = gelu(wide)
    assert activated.round(3).tolist() == [0.841, -0.159, 0.841]
    assert (activated @ [[1, 0], [0, 1], [1, 1]]).round(3).tolist() == [1.683, 0.683]
    states("with 2 → 3 → 2 dimensions")


# Published weights.


def cosine(a, b):
    return float(1 - cosine_distance(a, b))


@pytest.mark.slow
@pytest.mark.corpora
def test_what_another_gelu_changes_by_hugging_faces_own(minilm, states):
    from transformers.activations import ACT2FN

    news = [s for document in data.documents("lee") for s in document if 40 <= len(s) <= 70]

    def read_with(form):
        for layer in minilm.model.encoder.layer:
            layer.intermediate.intermediate_act_fn = ACT2FN[form]
        read = [minilm(sentence).hidden[-1] for sentence in news[:: len(news) // 32][:32]]
        means = np.array([vectors.mean(axis=0) for vectors in read])
        units = means / np.linalg.norm(means, axis=1, keepdims=True)
        return np.concatenate(read), units @ units.T - np.eye(32)

    # The exact form last: other tests use this model.
    *others, (numbers, cosines) = map(read_with, ("gelu_new", "quick_gelu", "relu", "gelu"))
    moved = [np.abs(other - numbers).max() for other, _ in others]
    turned = [np.abs(other - cosines).max() for _, other in others]
    kept = [(other.argmax(axis=1) == cosines.argmax(axis=1)).sum() for _, other in others]
    states(f"from 0.0005 to {moved[0]:.4f} and from 0.0203 to {moved[1]:.2f}")
    states(f"of {numbers.std():.2f}", f"of a cosine is {turned[0]:.4f}, and all {kept[0]} sent")
    states(f"it is {turned[1]:.4f}, and two sentences of 32", f"With ReLU {kept[2]} are left")
    assert 32 - kept[1] == 2


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
    banks = {
        "he went to the bank to ask for a loan": "money",
        "he drove to the bank to deposit his salary": "money",
        "i owe to the bank more than i earn": "money",
        "she sat on the bank of the river and watched the boats": "water",
        "we swam to the bank of the stream and got dry": "water",
        "they camped on the bank of the lake": "water",
    }
    ways = []
    for sentence, meaning in banks.items():
        tokens, hidden, _ = minilm(sentence)
        assert tokens.index("bank") == 5
        ways.append((meaning, hidden[:, 5]))
    pairs = {True: [], False: []}
    for (meaning, way), (other, other_way) in combinations(ways, 2):
        pairs[meaning == other].append([cosine(a, b) for a, b in zip(way, other_way, strict=True)])
    same, different = np.array(pairs[True]), np.array(pairs[False])
    assert (len(same), len(different)) == (6, 9)
    np.testing.assert_allclose(different[:, 0], 1, atol=1e-5)
    assert (same[:, 1:].min(axis=0) > different[:, 1:].max(axis=0)).all()
    assert different.mean(axis=0).round(2).tolist() == [1, 0.93, 0.87, 0.84, 0.85, 0.88, 0.8]
    states(f"at least {same[:, -1].min():.2f}", f"at most {different[:, -1].max():.2f}")


def test_the_library_is_compared_on_100_pairs(states):
    from tests.bertlab.model import test_pretrained

    (name,) = (name for name in vars(test_pretrained) if name.endswith("_real_sentence_pairs"))
    states(f"on {name.split('_')[-4]} real sentence pairs")


def test_the_real_bert_is_as_large_as_the_page_says(states):
    states(f"is a download of {hub_model('bert-base-uncased').megabytes:.0f} MB")


def test_what_others_report_is_quoted_as_they_print_it(states):
    states("110 million parameters for base and 340 million for large")
    states("340 million is a generous rounding", "340 million for large is not what")
    states("speaks of 30,000 WordPieces", "have about 110,000 for 100 languages")
    states("attribute that number to 100 languages")
    states("| 10 | $\\quad X \\leftarrow \\text{GELU}(X W_f + b_f)$ | 8 |")
    states("| 11 | $\\quad X \\leftarrow \\text{LayerNormPerRow}(X; \\gamma, \\beta)$ | 8 |")
    states("| 12 | $\\quad$ **return** $P = \\text{softmax}(X W_u)$ | 8 |")
    states("They round to 23.4 M for the embeddings", "to arrive at 110 M")
    states("a dropout of 0.1 on all layers", "was the English one, 2,500 million words")
