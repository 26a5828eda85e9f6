"""Every worked number of lecture 06, found again without the page: by hand, numpy, Hugging Face.

`states` checks besides that the page really says the number, so neither can change alone.
"""

import math
from itertools import combinations

import numpy as np
import pytest
import torch

from bertlab import data

LECTURE = "06_bert"


def encoder_parameters(layers, size, vocabulary=30_522):
    """The formula of BERT's encoder written out once more, by hand."""
    attention = 4 * (size * size + size)
    feed_forward = 2 * size * 4 * size + 4 * size + size
    embeddings = (vocabulary + 512 + 2) * size + 2 * size
    return embeddings + layers * (attention + feed_forward + 4 * size) + size * size + size


def head_parameters(size, vocabulary=30_522):
    return size * size + size + 2 * size + vocabulary + 2 * size + 2


# Sizes.


@pytest.mark.parametrize(
    ("layers", "size", "parameters"),
    [
        (2, 128, 4_385_920),
        (4, 256, 11_170_560),
        (4, 512, 28_763_648),
        (8, 512, 41_373_184),
        (12, 768, 109_482_240),
        (24, 1024, 335_141_888),
    ],
    ids=["tiny", "mini", "small", "medium", "base", "large"],
)
def test_the_six_published_sizes(layers, size, parameters):
    assert encoder_parameters(layers, size) == parameters


def test_base_is_the_110_million_of_the_paper_and_large_not_quite_340(states):
    assert encoder_parameters(12, 768) + head_parameters(768) == 110_106_428
    assert encoder_parameters(24, 1024) + head_parameters(1024) == 336_226_108
    one_layer = 4 * (1024**2 + 1024) + 8 * 1024**2 + 5 * 1024 + 4 * 1024
    assert 24 * one_layer == 302_309_376
    states("335,141,888", "336,226,108", "302,309,376", '"310,000,000"', "109,482,240")


def test_the_parameters_of_the_slides(states):
    assert 30_000 * 768 == 23_040_000
    assert 2 * 768 == 1_536
    assert 512 * 768 == 393_216
    assert 23_040_000 + 1_536 + 393_216 == 23_434_752
    assert 768 * 64 * 3 * 12 == 1_769_472
    assert 768 * 768 == 589_824
    assert 768 * 3072 == 3072 * 768 == 2_359_296
    assert 3072 + 768 == 3_840
    assert 1_769_472 + 589_824 + 2 * 2_359_296 + 3_840 == 7_081_728
    assert 12 * 7 == 84
    assert round(23.4 + 84, 1) == 107.4
    states(r"$23.4 + 12 \cdot 7 = 107.4$ million", "about 2.5 M")


def test_the_slides_total_and_the_exact_one_differ_by_2706428_and_every_one_is_found(states):
    rounding = (23_434_752 - 23_400_000) + 12 * (7_081_728 - 7_000_000)
    biases_and_norms = 12 * 4 * 768 + 12 * 4 * 768 + 2 * 768
    matrices = 2 * (768 * 768 + 768)  # pooler and transform
    words = 522 * 768 + 30_522
    rest = 2 * 768 + 2 * 768 + 2
    assert (rounding, biases_and_norms, matrices) == (1_015_488, 75_264, 1_181_184)
    assert (words, rest) == (431_418, 3_074)
    assert 107_400_000 + rounding + biases_and_norms + matrices + words + rest == 110_106_428
    assert 110_106_428 - 107_400_000 == 2_706_428
    states("1,015,488", "75,264", "1,181,184", "431,418", "3,074", "2,706,428")


def test_shares_of_token_embeddings_and_what_other_vocabularies_cost(states):
    sizes = [(2, 128), (4, 256), (4, 512), (8, 512), (12, 768), (24, 1024)]
    shares = [100 * 30_522 * size / encoder_parameters(layers, size) for layers, size in sizes]
    assert [round(share) for share in shares] == [89, 70, 54, 38, 21, 9]
    assert encoder_parameters(12, 768, 110_000) == 170_521_344
    assert 30_522 * 768 == 23_440_896
    feed_forward, attention = 12 * (8 * 768**2 + 5 * 768), 12 * 4 * (768**2 + 768)
    assert feed_forward / encoder_parameters(12, 768) == pytest.approx(0.5, abs=0.02)
    assert feed_forward / attention == pytest.approx(2, abs=0.01)
    states("89 % of BERT-tiny", "170,521,344", "23,440,896", "hold half of BERT-base")


def test_one_more_layer_and_one_more_position(states):
    assert encoder_parameters(13, 768) - encoder_parameters(12, 768) == 7_087_872
    states("7,087,872 for a layer", "One position costs 768")


def test_dimensions_of_bert_base():
    x, w = np.empty((512, 768)), np.empty((768, 64))
    scores = (x @ w) @ (x @ w).T
    z = np.concatenate([scores @ (x @ w)] * 12, axis=1)
    assert (scores.shape, z.shape, (z @ np.empty((768, 768))).shape) == (
        (512, 512),
        (512, 768),
        (512, 768),
    )


# Input.


def test_input_representation_of_the_papers_example():
    text = "[CLS] my dog is cute [SEP] he likes play ##ing [SEP]"
    tokens = text.split()
    segments = "A" * (tokens.index("[SEP]") + 1)
    segments += "B" * (len(tokens) - len(segments))
    assert segments == "AAAAAABBBBB"
    assert len(tokens) - 1 == 10  # positions E_0 to E_10


@pytest.mark.corpora
def test_published_ids_and_segments_by_hugging_face(states):
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(data.weights("minilm") / "tokenizer.json"))
    tokenizer.no_padding()
    paris = tokenizer.encode("Paris is a beautiful city", "I love Paris")
    assert " ".join(paris.tokens) == "[CLS] paris is a beautiful city [SEP] i love paris [SEP]"
    assert paris.type_ids == [0] * 7 + [1] * 4
    assert paris.ids[1] == paris.ids[9]
    assert tokenizer.encode("my dog is cute", "bird can fly").type_ids == [0] * 6 + [1] * 4
    assert "playing" in tokenizer.encode("he likes playing").tokens
    assert tokenizer.get_vocab_size() == 30_522
    assert tokenizer.encode("The cat sat", add_special_tokens=False).ids == [1996, 4937, 2938]
    wanted = {"[PAD]": 0, "[UNK]": 100, "[CLS]": 101, "[SEP]": 102, "[MASK]": 103}
    assert {token: tokenizer.token_to_id(token) for token in wanted} == wanted
    states(
        "1996, 4937, 2938", "six zeros and four ones", "30,522 entries", "five zeros and five ones"
    )


# The twelve lines, by hand.


def test_the_three_rows_of_the_cat_sat_and_their_layer_norm(states):
    tokens = {21: [1, 0, 2, 1], 11987: [0, 2, 1, 1], 5438: [2, 1, 0, 1]}
    positions = [[1, 0, 0, 1], [0, 1, 0, 1], [0, 0, 1, 1]]
    summed = np.array(list(tokens.values())) + positions
    assert summed.tolist() == [[2, 0, 2, 2], [0, 3, 1, 2], [2, 1, 1, 2]]
    rows = summed + np.array([0, 1, 0, -1])
    assert rows.tolist() == [[2, 1, 2, 1], [0, 4, 1, 1], [2, 2, 1, 1]]
    mean, variance = rows.mean(axis=1, keepdims=True), rows.var(axis=1, keepdims=True)
    assert (mean[0].item(), variance[0].item(), variance[1].item()) == (1.5, 0.25, 2.25)
    normed = (rows - mean) / np.sqrt(variance)
    assert normed.round(2).tolist() == [[1, -1, 1, -1], [-1, 1.67, -0.33, -0.33], [1, 1, -1, -1]]
    states("$6/4 = 1.5$", "$v = 0.25$", "(2.25 + 6.25 + 0.25 + 0.25)/4 = 2.25")
    states("$(1, -1, 1, -1)$", "$(-1, 1.67, -0.33, -0.33)$", "21, 11987, 5438")


def test_layer_norm_of_the_second_question(states):
    row = np.array([3.0, 3, 5, 5])
    normed = (row - row.mean()) / row.std() + [0, 0, 0, 10]
    assert normed.tolist() == [-1, -1, 1, 11]
    states("$(-1, -1, 1, 11)$")


def phi(x):
    return math.erfc(-x / math.sqrt(2)) / 2


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


def test_gelu_by_the_standard_library(states):
    assert [round(phi(x), 3) for x in (0, 1, -1)] == [0.5, 0.841, 0.159]
    assert [round(x * phi(x), 3) for x in (1, -1)] == [0.841, -0.159]
    grid = [step / 1000 for step in range(-6000, 6001)]
    lowest = min(grid, key=lambda x: x * phi(x))
    assert (round(lowest * phi(lowest), 3), lowest) == (-0.170, -0.752)
    assert (f"{-3 * phi(-3):.5f}", f"{-3 * sigmoid(1.702 * -3):.4f}") == ("-0.00405", "-0.0181")
    assert f"{phi(-3):.5f}" == "0.00135"
    states("−0.170, at −0.752", "GELU(1) = 0.841 and GELU(−1) = −0.159")
    states("GELU(−3) = −0.00405", "−0.0181", r"$\Phi(-3) = 0.00135$")


def test_largest_errors_of_the_two_approximations(states):
    grid = [step / 1000 for step in range(-6000, 6001)]
    inner = math.sqrt(2 / math.pi)
    by_tanh = [
        abs(x * (1 + math.tanh(inner * (x + 0.044715 * x**3))) / 2 - x * phi(x)) for x in grid
    ]
    by_sigmoid = {x: x * sigmoid(1.702 * x) - x * phi(x) for x in grid}
    assert round(max(by_tanh), 5) == 0.00047
    worst = max(grid, key=lambda x: abs(by_sigmoid[x]))
    assert (f"{abs(by_sigmoid[worst]):.4f}", round(abs(worst), 2)) == ("0.0203", 2.27)
    states("never off by more than 0.0005", "up to 0.0203, at ±2.27")


def test_the_feed_forward_network_by_hand(states):
    wide = np.array([1.0, -1]) @ [[1, 0, 1], [0, 1, 1]] + [0, 0, 1]
    assert wide.tolist() == [1, -1, 1]
    activated = np.array([x * phi(x) for x in wide])
    assert activated.round(3).tolist() == [0.841, -0.159, 0.841]
    assert (activated @ [[1, 0], [0, 1], [1, 1]]).round(3).tolist() == [1.683, 0.683]
    states("with 2 → 3 → 2 dimensions")


# Published weights.


@pytest.fixture(scope="module")
def minilm():
    """Hugging Face's model and tokenizer: words -> hidden states [layers + 1, L, D], tokens."""
    from tokenizers import Tokenizer
    from transformers import BertModel

    folder = data.weights("minilm")
    model = BertModel.from_pretrained(folder, attn_implementation="eager").eval()
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()

    def run(sentence):
        encoded = tokenizer.encode(sentence)
        with torch.no_grad():
            output = model(
                torch.tensor([encoded.ids]), output_hidden_states=True, output_attentions=True
            )
        hidden, attentions = torch.cat(output.hidden_states), torch.cat(output.attentions)
        return hidden.numpy(), attentions.numpy(), encoded.tokens

    run.model, run.tokenizer = model, tokenizer
    return run


def cosine(a, b):
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


@pytest.mark.corpora
def test_the_way_of_it_by_hugging_face(minilm, states):
    hidden, attentions, tokens = minilm(
        "the animal did not cross the street because it was too tired"
    )
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
    assert near.max() < 0.25
    states("from 1.00 to 0.27", "*it, its, they, them, this*", "*it, its, swan, him, donkey*")


@pytest.mark.corpora
def test_banks_of_one_meaning_are_more_alike_by_hugging_face(minilm, states):
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
        hidden, _, tokens = minilm(sentence)
        assert tokens.index("bank") == 5
        ways.append((meaning, hidden[:, 5]))
    pairs = {True: [], False: []}
    for (meaning, way), (other, other_way) in combinations(ways, 2):
        pairs[meaning == other].append([cosine(a, b) for a, b in zip(way, other_way, strict=True)])
    same, different = np.array(pairs[True]), np.array(pairs[False])
    assert (len(same), len(different)) == (6, 9)
    np.testing.assert_allclose(different[:, 0], 1, atol=1e-5)
    assert (round(same[:, -1].min(), 2), round(different[:, -1].max(), 2)) == (0.92, 0.82)
    assert (same[:, 1:].min(axis=0) > different[:, 1:].max(axis=0)).all()
    assert different.mean(axis=0).round(2).tolist() == [1, 0.93, 0.87, 0.84, 0.85, 0.88, 0.8]
    states("at least 0.92", "at most 0.82")


@pytest.mark.corpora
def test_parameters_of_minilm(minilm):
    assert sum(p.numel() for p in minilm.model.parameters()) == 22_713_216
    assert encoder_parameters(6, 384) == 22_713_216
