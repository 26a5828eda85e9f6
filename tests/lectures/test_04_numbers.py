"""Every worked number of lecture 04, reproduced without the page: by hand, numpy, or PyTorch."""

import math
from itertools import pairwise

import numpy as np
import pytest
import torch
from scipy.spatial.distance import cosine as cosine_distance
from scipy.special import softmax
from torch import nn

# The three tokens of section 3 and the projections of the page, written out by hand.
QUERIES = np.array([[0, 0, 4, 2], [0, 0, 2, 2], [2, 2, 0, 2]])
KEYS = np.array([[1, 1, 0, 1], [1, 0, 0, 1], [0, 0, 1, 1]])
VALUES = np.array([[1, 1], [1, 0], [0, 0]])
TIRED = "the animal did not cross the street because it was too tired"
EINSTEIN = (
    "Albert Einstein published four papers in one year while he worked at the patent office in "
    "Bern and it took years until physicists saw what Einstein had done"
)
FIRST, SECOND = 2, 27  # the positions of the two mentions among its tokens


def shares_of(scores):
    """Softmax, row by row."""
    return softmax(np.asarray(scores, dtype=float), axis=-1)


def test_einstein_is_24_words_away_for_a_recurrent_network(states):
    first, second = (place for place, word in enumerate(EINSTEIN.split()) if word == "Einstein")
    distance = second - first
    states(f"{distance} words apart", f"needs {distance} steps")
    states(f"needs {math.ceil(distance / 2)} layers")  # of width 5: two words for each layer


def test_dot_products_of_the_three_directions(states):
    alike, across, opposite = np.array([[2, 1], [-1, 2], [-2, -1]]) @ [2, 1]
    states(rf"2\cdot2 + 1\cdot1 = {alike}", rf"2\cdot(-1) + 1\cdot2 = {across}")
    states(f"then ${opposite}$")


def test_scores_of_it_are_3_2_1_and_its_shares_0665_0245_0090(states):
    scores = KEYS @ QUERIES[2] / np.sqrt(4)
    powers, shares = np.exp(scores), shares_of(scores)
    states("scores {:.0f}, {:.0f}, {:.0f}".format(*scores), f"together ${powers.sum():.2f}$")
    states("$e^3 = {:.2f}$, $e^2 = {:.2f}$, $e^1 = {:.2f}$".format(*powers))
    states("the shares stay {:.3f}, {:.3f}, {:.3f}".format(*shares), f"{100 * shares[0]:.1f} %")
    toy = (torch.tensor(part[None]).double() for part in (QUERIES, KEYS, VALUES))
    blend = nn.functional.scaled_dot_product_attention(*toy)[0, 2].numpy()
    np.testing.assert_allclose(blend, shares @ VALUES)
    states("*noun* {:.2f}, *alive* {:.2f}".format(*blend))


def test_the_whole_matrix_of_the_toy_by_numpy(states):
    scores = QUERIES @ KEYS.T / 2
    assert scores.tolist() == [[1, 1, 3], [1, 1, 2], [3, 2, 1]]
    shares = shares_of(scores)
    assert shares[0].round(3).tolist() == [0.107, 0.107, 0.787]
    assert shares.sum(axis=0).argmax() == 2  # "it" receives most
    states(f"*it* gives {shares[2, 0]:.3f} to *animal*, and *animal* gives {shares[0, 2]:.3f}")


def test_the_key_bias_changes_no_share_and_the_query_bias_does(states):
    scores = (KEYS - [0, 0, 0, 1]) @ QUERIES[2] / 2
    np.testing.assert_allclose(shares_of(scores), shares_of(KEYS @ QUERIES[2] / 2))
    states("The scores 3, 2, 1 become {:.0f}, {:.0f}, {:.0f}".format(*scores))
    other_bias = QUERIES - [0, 0, 0, 2] + [1, 1, 1, 1]
    assert not np.allclose(shares_of(other_bias @ KEYS.T / 2), shares_of(QUERIES @ KEYS.T / 2))


def test_thinking_machines_112_and_96_become_14_and_12_and_088_and_012(states):
    scaled = np.array([112, 96]) / np.sqrt(64)
    assert scaled.tolist() == [14, 12]
    share = 1 / (1 + math.exp(-2))  # by hand
    assert shares_of(scaled) == pytest.approx([share, 1 - share])
    states("$q_1 \\cdot k_1 = 112$", "$q_1 \\cdot k_2 = 96$")
    states(f"{100 * share:.0f} % from itself and {100 * (1 - share):.0f} %")
    become = "112 and 96 become {:.0f} and {:.0f}".format(*scaled)
    states("flow: 112 and 96 become {:.0f} and {:.0f}".format(*scaled))
    states("scores 112 with itself and 96 with", "What would happen to 112 and 96")
    states(f"{become}, and the shares {share:.2f} and {1 - share:.2f}")


def test_undivided_scores_saturate_the_softmax_and_its_gradient_vanishes(states):
    p, divided = 1 / (1 + math.exp(16)), 1 / (1 + math.exp(2))  # the share of the score 96
    assert f"{p:.1e}" == "1.1e-07"
    # d softmax_1 / d score_1 = p (1 - p), and the chain rule divides by 8 once more.
    slope, divided_slope = p * (1 - p), divided * (1 - divided) / 8
    assert (f"{slope:.1e}", f"{divided_slope:.4f}") == ("1.1e-07", "0.0131")
    assert math.exp(112) > float(np.finfo(np.float32).max)
    states("one ten-millionth", f"{round(divided_slope / slope, -3):,.0f} times smaller")


@pytest.mark.parametrize("d", [4, 16, 64, 256])
def test_the_dot_product_of_two_normal_vectors_has_variance_d(d):
    random = np.random.default_rng(0)
    q, k = random.standard_normal((2, 25_000, d), dtype=np.float32)
    dots = (q * k).sum(axis=1)
    assert dots.var() == pytest.approx(d, rel=0.04)
    assert (dots / math.sqrt(d)).var() == pytest.approx(1, rel=0.04)


def test_the_best_of_16_keys_gets_over_90_percent_unless_divided(states):
    random = np.random.default_rng(0)
    shares = {}
    for d in (4, 16, 64, 256):
        q, keys = random.standard_normal((1000, 1, d)), random.standard_normal((1000, 16, d))
        dots = (q * keys).sum(axis=-1)
        shares[d] = [shares_of(dots / by).max(axis=1).mean() for by in (1, math.sqrt(d))]
    assert shares[4][0] < 0.6 < 0.9 < shares[256][0]
    assert all(0.2 < divided < 0.35 for _, divided in shares.values())
    states("over 90 % at $d = 256$", f"$1/16 = {1 / 16}$")


def test_two_scores_at_64_dimensions_differ_by_11_3_typically(states):
    states(f"= {math.sqrt(2 * 64):.1f}$")
    q, first, second = np.random.default_rng(0).standard_normal((3, 20_000, 64))
    assert (q * (first - second)).sum(axis=1).std() == pytest.approx(11.3, rel=0.03)


def test_the_association_matrix_of_albert_einstein_worked_einstein_wrote(states):
    words = np.array([[2, 0, 0], [2, 1, 0], [0, 0, 2], [2, 1, 0], [0, 0, 2]])
    scores = words @ words.T
    assert scores[1].tolist() == [4, 5, 0, 5, 0]
    assert (scores == scores.T).all()
    states(f"$e^4 = {math.e**4:.1f}$ once, $e^5 = {math.e**5:.1f}$ twice")
    states(f"${math.e**4 + 2 * math.e**5 + 2:.1f}$")
    shares = shares_of(scores)
    for row in (1, 3):
        assert shares[row].round(3).tolist() == [0.154, 0.42, 0.003, 0.42, 0.003]
    states(f"{100 * shares[1, 0]:.1f} %", f"{100 * shares[1, 1]:.0f} %")
    blend = shares @ words
    states("$({:.2f}, {:.2f}, {:.2f})$".format(*blend[0]))
    assert blend[1].round(2).tolist() == [1.99, 0.84, 0.01]
    assert (blend + words)[0].round(2).tolist() == [3.98, 0.66, 0.02]  # the residual connection


def test_temperature_turns_3_2_1_from_one_winner_to_an_even_split(states):
    scores = torch.tensor([3.0, 2.0, 1.0], dtype=torch.float64)
    cold, plain, hot = (torch.distributions.Categorical(logits=scores / t) for t in (0.1, 1, 10))
    assert cold.probs[0] > 0.9999
    bits = [round(each.entropy().item() / math.log(2), 2) for each in (cold, plain, hot)]
    assert bits == [0.0, 1.2, 1.58]
    states("{:.2f}, {:.2f}, {:.2f}, nearly".format(*hot.probs.tolist()), f"{bits[2]} bits")
    states(rf"$\log_2 3 = {math.log2(3):.2f}$")


def test_column_vectors_give_the_transposed_result(states):
    queries, keys, values = QUERIES.T, KEYS.T, VALUES.T  # a column for each token
    columns = values @ softmax(keys.T @ queries / 2, axis=0)  # V softmax(K^T Q)
    assert columns[:, 2].round(2).tolist() == [0.91, 0.67]
    states(r"$V \cdot \text{softmax}(K^\top Q / \sqrt{d_{\text{attn}}})$")


def multiplications(length, d):
    """Counted product by product: X W for q, k, v, o; then Q Kᵀ and A V, for all heads together."""
    return 4 * (length * d * d), 2 * (length * length * d)


def test_work_grows_by_2_4_to_3_3_and_pairs_are_a_quarter_of_it_then_half(states):
    work = [sum(multiplications(length, 256)) for length in (128, 256, 512, 1024, 2048)]
    factors = [after / before for before, after in pairwise(work)]
    assert [round(factor, 1) for factor in factors] == [2.4, 2.7, 3.0, 3.3]
    projections, pairs = multiplications(2 * 256, 256)
    assert pairs == projections  # at 2D tokens
    sizes = [attention_of(length, 256, 4)[1].nbytes for length in (128, 256)]
    assert sizes[1] == 4 * sizes[0]
    states(f"by {factors[0]:.1f} first", f"by {factors[-1]:.1f} in the last step")
    states(f"{sizes[0] / 1e6:.1f} MB at 128 tokens", f"{256 * sizes[0] / 1e6:.1f} MB at 2048")
    (projections, pairs), (twice, four_times) = (multiplications(n, 768) for n in (512, 1024))
    assert pairs / (pairs + projections) == 0.25
    assert (twice, four_times) == (2 * projections, 4 * pairs)
    equal, pairs = multiplications(1536, 768)
    assert pairs == equal
    states("a quarter of the work", rf"$2\, d_e = {2 * 768}$")


def attention_of(length, d, heads):
    """What PyTorch's own layer returns: vectors, and the probabilities of every head."""
    layer, x = nn.MultiheadAttention(d, heads, batch_first=True), torch.zeros(1, length, d)
    with torch.no_grad():
        return layer(x, x, x, average_attn_weights=False)


def depth(residual, layers):
    """PyTorch's own attention on top of itself: spread of the tokens, gradient at the bottom."""
    torch.manual_seed(0)
    stack = [nn.MultiheadAttention(64, 4, batch_first=True) for _ in range(layers)]
    x = torch.randn(1, 16, 64, requires_grad=True)
    y = x
    for layer in stack:
        updated = layer(y, y, y, need_weights=False)[0]
        y = y + updated if residual else updated
    (gradient,) = torch.autograd.grad((y * torch.randn(1, 16, 64)).sum(), x)
    return ((y - y.mean(dim=1, keepdim=True)).norm() / y.norm()).item(), gradient.norm().item()


def test_without_the_residual_connection_tokens_become_one_and_gradients_vanish(states):
    deep, deep_gradient = depth(residual=False, layers=24)
    _, first_gradient = depth(residual=False, layers=1)
    assert deep < 1e-4
    assert deep_gradient < 1e-4 * first_gradient
    apart, gradient = depth(residual=True, layers=24)
    states("still above 1 at 24 layers", "has exploded at 24 layers", "and 16 random tokens")
    assert apart > 0.3
    assert gradient > first_gradient
    states("more than ten powers of ten smaller", "less than one part in 10,000")


def test_parameters_shapes_and_memory_of_attention_at_bert_base_size(states):
    q_k_v, output = 768 * 64 * 3 * 12, 768 * 768

    def counted(heads, **how):
        return sum(part.numel() for part in nn.MultiheadAttention(768, heads, **how).parameters())

    assert counted(12, bias=False) == q_k_v + output
    states(f"{q_k_v:,} + {output:,} = {q_k_v + output:,}", f"${counted(12):,}$")
    states(f"from 12 to {2 * 12} and keep D = 768")
    states(f"= {768 // 24}$, so the parameters stay at {counted(24):,}")
    states(f"{24 * 512 * 512 * 4 / 1e6:.1f} MB", "instead of 12.6")
    out, probabilities = attention_of(512, 768, 12)
    assert out.shape == (1, 512, 768)
    assert probabilities.shape == (1, 12, 512, 512)
    assert probabilities.nbytes == 12_582_912
    assert round(probabilities.nbytes / 1e6, 1) == 12.6
    assert round(32 * 12 * probabilities.nbytes / 1e9, 1) == 4.8
    states(r"$512 \times 512$", r"$768 \times 64$", f"a window has {768 // 12} of 768 dimensions")


def test_a_text_of_5_tokens_beside_one_of_50_has_45_of_padding(states):
    both = nn.utils.rnn.pad_sequence([torch.ones(5), torch.ones(50)], batch_first=True)
    states("a text of 5 tokens with one of 50", f"{(both == 0).sum()} padding tokens")


def test_what_others_report_is_quoted_as_they_print_it(states):
    states("segments of up to 128 tokens, so take")
    states("BERT sets 10 % of the attention *probabilities*")
    states("8 heads of size 64 ($d_e = 512$); BERT-base has 12 of 64")
    states("on 1,000 Wikipedia segments", "over half of the attention in layers 6 to 10")


# The published MiniLM in Hugging Face's own model.


@pytest.fixture(scope="module")
def attend(minilm):
    """A sentence of whole words -> its tokens and all attention, [layers, H, L, L]."""

    def look(sentence):
        read = minilm(sentence)
        assert read.tokens == ["[CLS]", *sentence.split(), "[SEP]"]  # whole words, as stated
        return read.tokens, read.attention

    return look


@pytest.fixture(scope="module")
def five(attend):
    """The attention of the page's five sentences."""
    sentences = (
        TIRED,
        "the keys to the old house are on the table",
        "she sat on the bank of the river and watched the boats",
        "he went to the bank to ask for a loan",
        "my dog is cute and he likes long walks in the park",
    )
    return [attend(sentence)[1] for sentence in sentences]


def offset(number):
    """Mean share on the key `number` places further on: [layers, H]."""
    return lambda attention: np.diagonal(attention, number, 2, 3).mean(axis=-1)


def best_head(measured):
    return np.unravel_index(measured.argmax(), measured.shape)


@pytest.mark.corpora
@pytest.mark.parametrize(
    ("measure", "best", "share"),
    [
        (offset(-1), (0, 2), 1.00),
        (offset(1), (1, 8), 0.64),
        (offset(0), (1, 1), 0.20),
        (lambda attention: attention[..., 0].mean(axis=-1), (4, 5), 0.87),
        (lambda attention: attention[..., -1].mean(axis=-1), (3, 11), 0.23),
    ],
    ids=["previous", "next", "itself", "CLS", "SEP"],
)
def test_the_best_head_of_each_pattern_by_hugging_face(five, measure, best, share):
    each = [measure(attention) for attention in five]
    mean = np.mean(each, axis=0)
    assert best_head(mean) == best
    assert round(float(mean.max()), 2) == share
    if best in [(0, 2), (1, 8)]:  # "these two win in each of the five sentences"
        assert all(best_head(one) == best for one in each)


@pytest.mark.corpora
def test_heads_on_cls_by_hugging_face_and_what_the_page_says_of_the_others(five, states):
    on_cls = np.mean([attention[..., 0].mean(axis=-1) for attention in five], axis=0)
    states("`0.2` puts over 99 %", "`1.8` puts 64 %", f"{(on_cls > 0.5).sum()} of the 72")
    states("23 % at most", "20 % at most")


@pytest.mark.corpora
def test_what_it_attends_to_by_hugging_face(attend, states):
    tokens, attention = attend(TIRED)
    it, animal, street = (tokens.index(word) for word in ("it", "animal", "street"))
    rows = attention[:, :, it]
    on_cls = rows[..., 0]
    states(f"In {(rows.argmax(axis=-1) == 0).sum()} of 72 heads", f"{100 * on_cls.mean():.0f} % on")
    finders = np.argsort(rows[..., animal].ravel())[::-1][:2]
    assert [divmod(int(head), 12) for head in finders] == [(3, 1), (5, 11)]
    wide = attend(TIRED.replace("tired", "wide"))[1][:, :, it]
    before, after = (100 * looked[3, 1] for looked in (rows, wide))
    states(f"from {before[animal]:.0f} % to {after[animal]:.0f} %")
    states(f"from {before[street]:.0f} % to {after[street]:.0f} %")
    numbers = [looked[5, 11][key] for looked in (rows, wide) for key in (animal, street)]
    assert np.round(numbers, 2).tolist() == pytest.approx([0.64, 0.02, 0.51, 0.04])


@pytest.mark.corpora
def test_without_positions_the_previous_token_head_is_lost(minilm, attend, states, monkeypatch):
    table = minilm.model.embeddings.position_embeddings.weight
    monkeypatch.setattr(table, "data", torch.zeros_like(table))
    share = offset(-1)(attend(TIRED)[1])[0, 2]
    states(f"from 1.00 to {share:.2f}", f"$1/14 = {1 / 14:.2f}$")
    one, other = attend("dog bites man")[1], attend("man bites dog")[1]
    order = [0, 3, 2, 1, 4]
    np.testing.assert_allclose(one[:, :, order][..., order], other, atol=1e-5)


@pytest.mark.corpora
def test_head_11_connects_the_two_einsteins_by_hugging_face(minilm, states):
    tokens, _, attention = minilm(EINSTEIN)
    assert len(tokens) == 31
    assert tokens[FIRST] == tokens[SECOND] == "einstein"
    back = 100 * attention[:, :, SECOND, FIRST]
    best = back.ravel().argsort()[::-1][:3]
    assert [divmod(int(head), 12) for head in best] == [(1, 1), (2, 9), (5, 4)]
    first, second, third = back.ravel()[best]
    states(f"gives {first:.0f} % of the second", f"`2.9` gives {second:.0f} %")
    states(f"`5.4` gives {third:.0f} %", f"{back.mean():.1f} % on average")
    states(f"{SECOND - FIRST} tokens back", f"{100 / 31:.1f} %")
    here, there = (place for place, token in enumerate(tokens) if token == "in")
    states(f"gives {100 * attention[1, 1, there, here]:.0f} % to the first *in*")


@pytest.mark.corpora
@pytest.mark.parametrize("name", ["Albert Newton", "Isaac Newton"])
def test_another_name_removes_the_association_by_hugging_face(minilm, states, name):
    tokens, _, attention = minilm(EINSTEIN.replace("Albert Einstein", name))
    assert (len(tokens), tokens[SECOND]) == (31, "einstein")
    row = 100 * attention[1, 1, SECOND]
    states(f"from 42 % to {row[FIRST]:.0f} %", f"`[CLS]` with {row[0]:.0f} %")


@pytest.mark.corpora
def test_the_vector_of_the_second_einstein_by_hugging_face(minilm, states):
    here = minilm(EINSTEIN).hidden[-1, SECOND]
    person, city = (
        1 - cosine_distance(here, minilm(EINSTEIN.replace(*change)).hidden[-1, SECOND])
        for change in (("Albert Einstein", "Isaac Newton"), ("Bern", "Paris"))
    )
    assert round((1 - person) / (1 - city)) in (10, 11)
    states(f"at {city:.3f}", f"to {person:.3f}", "ten times as far")


@pytest.mark.corpora
def test_the_queries_of_layer_0_are_in_twelve_subspaces_by_numpy(minilm, states):
    attention = minilm.model.encoder.layer[0].attention.self
    queries, keys = (
        part.weight.detach().double().numpy().reshape(12, 32, 384)
        for part in (attention.query, attention.key)
    )
    singular = np.linalg.svd(queries[2].T @ keys[2], compute_uv=False)
    assert singular[31] > 1 > 1e-8 > singular[32]
    rank = np.linalg.matrix_rank(queries[2].T @ keys[2])
    states(f"could change *which* {rank} directions", f"its rank is {rank} at most")
    states(f"has d_head = {rank}", f"is a product through {rank} columns")
    assert np.linalg.matrix_rank(queries.reshape(384, 384)) == 384
    bases = np.linalg.svd(queries, full_matrices=False)[2]  # rows: directions
    # Singular values of A Bᵀ are the cosines of the angles between two subspaces.
    cosines = np.linalg.svd(bases[:, None] @ bases.mT, compute_uv=False)
    overlap = (cosines**2).mean(axis=-1)
    different = overlap[~np.eye(12, dtype=bool)]
    assert round(float(different.min()), 2) == 0.06
    assert different.max() == pytest.approx(overlap[2, 5])
    states(f"{different.mean():.2f} on average", f"{overlap[2, 5]:.2f} at most (heads 2 and 5)")
    states(f"32/384 = {32 / 384:.3f}", "columns 64 to 95")


@pytest.mark.corpora
def test_a_token_is_recovered_only_with_the_residual_connection_by_hugging_face(minilm, states):
    hidden = torch.tensor(minilm(EINSTEIN).hidden)
    found, cosines = [], []
    for x, layer in zip(hidden, minilm.model.encoder.layer, strict=False):
        with torch.no_grad():
            alone = layer.attention.output.dense(layer.attention.self(x[None])[0])[0]
        for out in (alone, x + alone):
            unit = nn.functional.normalize(out) @ nn.functional.normalize(x).T
            found.append((unit.argmax(dim=1) == torch.arange(31)).sum().item())
            cosines.append(unit.diagonal().mean().item())
    assert found[::2] == [13, 10, 7, 4, 2, 2]
    assert found[1::2] == [31] * 6
    assert max(cosines[::2]) < 0.16 < 0.88 < min(cosines[1::2])
    states("cosine below 0.16", "only 2 of 31 tokens", "above 0.88 and all 31")
