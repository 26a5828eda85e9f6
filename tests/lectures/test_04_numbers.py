"""Every worked number of lecture 04, found again without the page: by hand, numpy, or PyTorch.

`states` checks besides that the page really says the number, so neither can change alone.
"""

import math

import numpy as np
import pytest
import torch
from torch import nn

from bertlab import data

LECTURE = "04_attention"


def softmax(scores):
    """Row by row, in numpy: the definition, without tricks."""
    powers = np.exp(np.asarray(scores, dtype=np.float64))
    return powers / powers.sum(axis=-1, keepdims=True)


def toy():
    """The three tokens of section 3 and the projections of the page, written out by hand."""
    queries = np.array([[0, 0, 4, 2], [0, 0, 2, 2], [2, 2, 0, 2]])
    keys = np.array([[1, 1, 0, 1], [1, 0, 0, 1], [0, 0, 1, 1]])
    values = np.array([[1, 1], [1, 0], [0, 0]])
    return queries, keys, values


def test_einstein_is_24_words_away_for_a_recurrent_network(states):
    text = (
        "Albert Einstein published four papers in one year while he worked at the patent office "
        "in Bern and it took years until physicists saw what Einstein had done"
    )
    sentence = text.split()
    distance = len(sentence) - 1 - sentence[::-1].index("Einstein") - sentence.index("Einstein")
    assert distance == 24
    assert math.ceil(distance / 2) == 12  # a convolution of width 5 reaches two words a layer
    states("24 words apart", "needs 24 steps", "needs 12 layers")


def test_dot_products_of_the_three_directions(states):
    keys = np.array([[2, 1], [-1, 2], [-2, -1]])
    assert (keys @ [2, 1]).tolist() == [5, 0, -5]
    states(r"2\cdot2 + 1\cdot1 = 5", r"2\cdot(-1) + 1\cdot2 = 0", "then $-5$")


def test_scores_of_it_are_3_2_1_and_its_shares_0665_0245_0090(states):
    queries, keys, values = toy()
    scores = keys @ queries[2] / np.sqrt(4)
    assert scores.tolist() == [3, 2, 1]
    powers = np.exp(scores)
    assert powers.round(2).tolist() == [20.09, 7.39, 2.72]
    assert round(powers.sum(), 2) == 30.19
    shares = softmax(scores)
    assert shares.round(3).tolist() == [0.665, 0.245, 0.090]
    assert (shares @ values).round(2).tolist() == [0.91, 0.67]
    states("scores 3, 2, 1", "$e^3 = 20.09$", "$e^2 = 7.39$", "$e^1 = 2.72$", "$30.19$")
    states("*noun* 0.91, *alive* 0.67", "66.5 %")


def test_the_whole_matrix_of_the_toy_by_numpy(states):
    queries, keys, _ = toy()
    scores = queries @ keys.T / 2
    assert scores.tolist() == [[1, 1, 3], [1, 1, 2], [3, 2, 1]]
    shares = softmax(scores)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert shares[0].round(3).tolist() == [0.107, 0.107, 0.787]
    assert shares.sum(axis=0).argmax() == 2  # "it" receives most
    states("*it* gives 0.665 to *animal*, and *animal* gives 0.787 to *it*")


def test_the_toy_in_pytorchs_own_attention():
    queries, keys, values = (torch.tensor(part, dtype=torch.float64) for part in toy())
    out = nn.functional.scaled_dot_product_attention(queries[None], keys[None], values[None])[0]
    assert [round(x, 3) for x in out[2].tolist()] == [0.910, 0.665]


def test_the_key_bias_changes_no_share_and_the_query_bias_does(states):
    queries, keys, _ = toy()
    without_key_bias = keys - [0, 0, 0, 1]
    assert (without_key_bias @ queries[2] / 2).tolist() == [2, 1, 0]
    np.testing.assert_allclose(softmax([2, 1, 0]), softmax([3, 2, 1]))
    other_bias = queries - [0, 0, 0, 2] + [1, 1, 1, 1]
    assert not np.allclose(softmax(other_bias @ keys.T / 2), softmax(queries @ keys.T / 2))
    states("The scores 3, 2, 1 become 2, 1, 0, and the shares stay 0.665, 0.245, 0.090")


def test_thinking_machines_112_and_96_become_14_and_12_and_088_and_012(states):
    scaled = np.array([112, 96]) / np.sqrt(64)
    assert scaled.tolist() == [14, 12]
    assert softmax(scaled).round(2).tolist() == [0.88, 0.12]
    assert softmax(scaled)[0] == pytest.approx(1 / (1 + math.exp(-2)))  # by hand
    states("$q_1 \\cdot k_1 = 112$", "$q_1 \\cdot k_2 = 96$", "88 % from itself and 12 %")


def test_undivided_scores_saturate_the_softmax_and_its_gradient_vanishes(states):
    p, divided = 1 / (1 + math.exp(16)), 1 / (1 + math.exp(2))  # the share of the score 96
    assert f"{p:.1e}" == "1.1e-07"
    # d softmax_1 / d score_1 = p (1 - p), and the chain rule divides by 8 once more.
    slope, divided_slope = p * (1 - p), divided * (1 - divided) / 8
    assert (f"{slope:.1e}", f"{divided_slope:.4f}") == ("1.1e-07", "0.0131")
    assert round(divided_slope / slope, -3) == 117_000
    assert math.exp(112) > float(np.finfo(np.float32).max)
    states("one ten-millionth", "117,000 times smaller")


@pytest.mark.slow
@pytest.mark.parametrize("d", [4, 16, 64, 256])
def test_the_dot_product_of_two_normal_vectors_has_variance_d(d):
    random = np.random.default_rng(0)
    q, k = random.standard_normal((2, 100_000, d), dtype=np.float32)
    dots = (q * k).sum(axis=1)
    assert dots.var() == pytest.approx(d, rel=0.04)
    assert (dots / math.sqrt(d)).var() == pytest.approx(1, rel=0.04)


def test_the_best_of_16_keys_takes_over_90_percent_unless_divided(states):
    random = np.random.default_rng(0)
    shares = {}
    for d in (4, 16, 64, 256):
        q, keys = random.standard_normal((1000, 1, d)), random.standard_normal((1000, 16, d))
        dots = (q * keys).sum(axis=-1)
        shares[d] = [softmax(dots / by).max(axis=1).mean() for by in (1, math.sqrt(d))]
    assert shares[4][0] < 0.6 < 0.9 < shares[256][0]
    assert all(0.2 < divided < 0.35 for _, divided in shares.values())
    states("over 90 % at $d = 256$", "$1/16 = 0.0625$")


def test_two_scores_at_64_dimensions_differ_by_11_3_typically(states):
    assert round(math.sqrt(2 * 64), 1) == 11.3
    random = np.random.default_rng(0)
    q, first, second = random.standard_normal((3, 50_000, 64))
    assert (q * (first - second)).sum(axis=1).std() == pytest.approx(11.3, rel=0.03)
    states("= 11.3$")


def test_a_bias_is_added_to_every_row_of_the_slides_matrix():
    x, b = np.array([[1, 2], [3, 4], [5, 6]]), np.array([[10, 20]])
    assert (x + (b.T @ np.ones((1, 3))).T).tolist() == [[11, 22], [13, 24], [15, 26]]


def test_the_slides_concatenation():
    a, b = np.array([[1, 2], [3, 4], [5, 6]]), np.array([[11, 12], [13, 14], [15, 16]])
    expected = [[1, 2, 11, 12], [3, 4, 13, 14], [5, 6, 15, 16]]
    assert np.hstack([a, b]).tolist() == expected


def test_minus_infinity_hides_a_key_and_a_score_of_zero_does_not():
    masked = softmax([1.0, 2.0, -np.inf])
    assert masked[2] == 0
    np.testing.assert_allclose(masked[:2], softmax([1.0, 2.0]))
    assert softmax([1.0, 2.0, 0.0])[2] > 0.05
    assert nn.functional.softmax(torch.full((2,), -math.inf), dim=0).isnan().all()


def test_the_association_matrix_of_albert_einstein_worked_einstein_wrote(states):
    words = np.array([[2, 0, 0], [2, 1, 0], [0, 0, 2], [2, 1, 0], [0, 0, 2]])
    scores = words @ words.T
    assert scores[1].tolist() == [4, 5, 0, 5, 0]
    assert (scores == scores.T).all()
    assert round(math.e**4 + 2 * math.e**5 + 2, 1) == 353.4
    shares = softmax(scores)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert shares[1].round(3).tolist() == shares[3].round(3).tolist()
    assert shares[1].round(3).tolist() == [0.154, 0.42, 0.003, 0.42, 0.003]
    blend = shares @ words
    assert blend[:2].round(2).tolist() == [[1.98, 0.66, 0.02], [1.99, 0.84, 0.01]]
    assert (blend + words)[0].round(2).tolist() == [3.98, 0.66, 0.02]  # the residual connection
    states("$e^4 = 54.6$", "$e^5 = 148.4$", "$353.4$", "$(1.98, 0.66, 0.02)$", "15.4 %", "42 %")


def test_temperature_turns_3_2_1_from_one_winner_to_an_even_split(states):
    scores = torch.tensor([3.0, 2.0, 1.0], dtype=torch.float64)
    cold, plain, hot = (torch.distributions.Categorical(logits=scores / t) for t in (0.1, 1, 10))
    assert cold.probs[0] > 0.9999
    assert [round(share, 2) for share in hot.probs.tolist()] == [0.37, 0.33, 0.30]
    bits = [round(each.entropy().item() / math.log(2), 2) for each in (cold, plain, hot)]
    assert bits == [0.0, 1.2, 1.58]
    states("0.37, 0.33, 0.30", "1.58 bits", r"$\log_2 3 = 1.58$")


def test_column_vectors_give_the_transposed_result(states):
    queries, keys, values = (part.T for part in toy())  # a column for each token
    scores = np.exp(keys.T @ queries / 2)
    columns = values @ (scores / scores.sum(axis=0))  # V softmax(K^T Q), each column sums to 1
    assert columns[:, 2].round(2).tolist() == [0.91, 0.67]
    states(r"$V \cdot \text{softmax}(K^\top Q / \sqrt{d_{\text{attn}}})$")


def test_work_grows_by_2_4_to_3_3_for_each_doubling_and_memory_by_4(states):
    def work(length, d=256):
        projections = 4 * (length * d * d)
        return projections + 2 * (length * length * d)

    factors = [work(2 * length) / work(length) for length in (128, 256, 512, 1024)]
    assert [round(factor, 1) for factor in factors] == [2.4, 2.7, 3.0, 3.3]
    assert work(2 * 256) == 2 * 4 * (2 * 256) * 256**2  # at 2D tokens pairs cost as much
    layer = nn.MultiheadAttention(256, 4, batch_first=True)
    sizes = {}
    for length in (128, 256):
        x = torch.zeros(1, length, 256)
        with torch.no_grad():
            sizes[length] = layer(x, x, x, average_attn_weights=False)[1].nbytes
    assert sizes[256] == 4 * sizes[128]
    assert (round(sizes[128] / 1e6, 1), round(256 * sizes[128] / 1e6, 1)) == (0.3, 67.1)
    states("by 2.4 first", "by 3.3 in the last step", "0.3 MB at 128 tokens", "67.1 MB at 2048")


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
    assert apart > 0.3
    assert gradient > first_gradient
    states("more than ten powers of ten smaller", "less than one part in 10,000")


def test_parameters_of_one_attention_layer_of_bert_base(states):
    assert 768 * 64 * 3 * 12 == 1_769_472
    assert 768 * 768 == 589_824
    assert 1_769_472 + 589_824 == 2_359_296
    layer = nn.MultiheadAttention(768, 12)
    assert sum(parameter.numel() for parameter in layer.parameters()) == 2_362_368
    without_bias = nn.MultiheadAttention(768, 12, bias=False)
    assert sum(parameter.numel() for parameter in without_bias.parameters()) == 2_359_296
    states("1{,}769{,}472 + 589{,}824 = 2{,}359{,}296", "2{,}362{,}368")


def test_twice_the_heads_leave_the_parameters_and_double_the_probabilities(states):
    layer = nn.MultiheadAttention(768, 24)
    assert layer.head_dim == 32
    assert sum(parameter.numel() for parameter in layer.parameters()) == 2_362_368
    assert round(24 * 512 * 512 * 4 / 1e6, 1) == 25.2
    states("2,362,368", "25.2 MB", "instead of 12.6")


def test_shapes_and_memory_at_bert_base_size(states):
    x = torch.zeros(1, 512, 768)
    with torch.no_grad():
        layer = nn.MultiheadAttention(768, 12, batch_first=True)
        out, probabilities = layer(x, x, x, average_attn_weights=False)
    assert out.shape == (1, 512, 768)
    assert probabilities.shape == (1, 12, 512, 512)
    assert probabilities.nbytes == 12_582_912
    assert round(probabilities.nbytes / 1e6, 1) == 12.6
    assert round(32 * 12 * probabilities.nbytes / 1e9, 1) == 4.8
    states(r"$512 \times 512$", r"$768 \times 64$")


def test_pairs_are_a_quarter_of_the_work_at_512_tokens_and_half_at_1536(states):
    def multiplications(length, d=768, heads=12):
        """Counted product by product: X W for q, k, v, o; then Q Kᵀ and A V for every head."""
        projections = 4 * (length * d * d)
        pairs = heads * (length * (d // heads) * length + length * length * (d // heads))
        return projections, pairs

    projections, pairs = multiplications(512)
    assert pairs / (pairs + projections) == 0.25
    projections, pairs = multiplications(1536)
    assert pairs == projections
    assert multiplications(1024)[1] == 4 * multiplications(512)[1]
    assert multiplications(1024)[0] == 2 * multiplications(512)[0]
    states("a quarter of the work", "$2D = 1536$")


@pytest.fixture(scope="module")
def published():
    """The published weights in Hugging Face's own model, and its tokenizer."""
    tokenizers, transformers = map(pytest.importorskip, ("tokenizers", "transformers"))
    folder = data.weights("minilm")
    model = transformers.BertModel.from_pretrained(folder, attn_implementation="eager").eval()
    tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    return model, tokenizer


@pytest.fixture(scope="module")
def attend(published):
    """A sentence of whole words -> its tokens and all attention, [layers, H, L, L]."""
    model, tokenizer = published

    def look(sentence, positions=True):
        table = model.embeddings.position_embeddings.weight.data
        kept = table.clone()
        table.mul_(1 if positions else 0)
        encoded = tokenizer.encode(sentence)
        assert encoded.tokens == ["[CLS]", *sentence.split(), "[SEP]"]  # whole words, as stated
        with torch.no_grad():
            output = model(torch.tensor([encoded.ids]), output_attentions=True)
        table.copy_(kept)
        return encoded.tokens, torch.cat(output.attentions).numpy()

    return look


TIRED = "the animal did not cross the street because it was too tired"
SENTENCES = (
    TIRED,
    "the keys to the old house are on the table",
    "she sat on the bank of the river and watched the boats",
    "he went to the bank to ask for a loan",
    "my dog is cute and he likes long walks in the park",
)


def mean_share(attention, wanted):
    """[layers, H]: mean over the rows with a wanted key of the share that falls on it."""
    length = attention.shape[-1]
    pairs = [(row, key) for row in range(length) for key in range(length) if wanted(row, key)]
    rows, keys = zip(*pairs, strict=True)
    return attention[:, :, list(rows), list(keys)].mean(axis=-1)


@pytest.mark.corpora
@pytest.mark.parametrize(
    ("wanted", "best", "share"),
    [
        (lambda row, key: key == row - 1, (0, 2), 1.00),
        (lambda row, key: key == row + 1, (1, 8), 0.64),
        (lambda row, key: key == row, (1, 1), 0.20),
        (lambda row, key: key == 0, (4, 5), 0.87),
    ],
    ids=["previous", "next", "itself", "CLS"],
)
def test_the_best_head_of_each_pattern_by_hugging_face(attend, wanted, best, share):
    each = [mean_share(attend(sentence)[1], wanted) for sentence in SENTENCES]
    mean = np.mean(each, axis=0)
    assert np.unravel_index(mean.argmax(), mean.shape) == best
    assert round(float(mean.max()), 2) == share
    if best in [(0, 2), (1, 8)]:  # "these two win in each of the five sentences"
        assert all(np.unravel_index(one.argmax(), one.shape) == best for one in each)


@pytest.mark.corpora
def test_heads_on_cls_and_sep_by_hugging_face(attend, states):
    looked = [attend(sentence)[1] for sentence in SENTENCES]
    on_cls = np.mean([attention[..., 0].mean(axis=-1) for attention in looked], axis=0)
    on_sep = np.mean([attention[..., -1].mean(axis=-1) for attention in looked], axis=0)
    assert (on_cls > 0.5).sum() == 30
    assert np.unravel_index(on_sep.argmax(), on_sep.shape) == (3, 11)
    assert round(float(on_sep.max()), 2) == 0.23
    states(
        "`0.2` puts over 99 %", "`1.8` puts 64 %", "30 of the 72", "23 % at most", "20 % at most"
    )


@pytest.mark.corpora
def test_what_it_looks_at_by_hugging_face(attend, states):
    tokens, attention = attend(TIRED)
    it, animal, street = (tokens.index(word) for word in ("it", "animal", "street"))
    rows = attention[:, :, it]
    assert (rows.argmax(axis=-1) == 0).sum() == 50
    assert round(float(rows[..., 0].mean()), 2) == 0.36
    finders = np.argsort(rows[..., animal].ravel())[::-1][:2]
    assert [divmod(int(head), 12) for head in finders] == [(3, 1), (5, 11)]
    wide = attend(TIRED.replace("tired", "wide"))[1][:, :, it]
    numbers = [
        [round(float(looked[head][key]), 2) for key in (animal, street)]
        for head in ((3, 1), (5, 11))
        for looked in (rows, wide)
    ]
    assert numbers == [[0.65, 0.06], [0.30, 0.16], [0.64, 0.02], [0.51, 0.04]]
    states("In 50 of 72 heads", "36 % on average", "from 65 % to 30 %", "from 6 % to 16 %")


@pytest.mark.corpora
def test_the_previous_token_head_is_lost_without_positions_by_hugging_face(attend, states):
    _, blind = attend(TIRED, positions=False)
    assert round(float(mean_share(blind, lambda row, key: key == row - 1)[0, 2]), 2) == 0.10
    assert round(1 / 14, 2) == 0.07
    states("from 1.00 to 0.10", "$1/14 = 0.07$")
    one, other = attend("dog bites man", False)[1], attend("man bites dog", False)[1]
    order = [0, 3, 2, 1, 4]
    np.testing.assert_allclose(one[:, :, order][..., order], other, atol=1e-5)


EINSTEIN = (
    "Albert Einstein published four papers in one year while he worked at the patent office in "
    "Bern and it took years until physicists saw what Einstein had done"
)
FIRST, SECOND = 2, 27  # the places of the two mentions


@pytest.fixture(scope="module")
def read(published):
    """A sentence -> tokens, attention [layers, H, L, L] and all hidden states [L, D]."""
    model, tokenizer = published

    def look(sentence):
        encoded = tokenizer.encode(sentence)
        with torch.no_grad():
            ids = torch.tensor([encoded.ids])
            output = model(ids, output_attentions=True, output_hidden_states=True)
        states = [state[0] for state in output.hidden_states]
        return encoded.tokens, torch.cat(output.attentions), states

    return look


@pytest.mark.corpora
def test_head_11_connects_the_two_einsteins_by_hugging_face(read, states):
    tokens, attention, _ = read(EINSTEIN)
    assert len(tokens) == 31
    assert tokens[FIRST] == tokens[SECOND] == "einstein"
    back = attention[:, :, SECOND, FIRST]
    best = back.flatten().topk(3)
    assert [divmod(head, 12) for head in best.indices.tolist()] == [(1, 1), (2, 9), (5, 4)]
    assert [round(100 * share) for share in best.values.tolist()] == [42, 41, 33]
    assert round(100 * back.mean().item(), 1) == 4.4
    assert round(100 / 31, 1) == 3.2
    at = [place for place, token in enumerate(tokens) if token == "in"]
    assert round(100 * attention[1, 1, at[1], at[0]].item()) == 40
    states("gives 42 % of the second", "`2.9` gives 41 %", "`5.4` gives 33 %", "4.4 % on average")
    states("25 tokens back", "3.2 %", "gives 40 % to the first *in*")


@pytest.mark.corpora
def test_another_name_takes_the_association_away_by_hugging_face(read, states):
    for name in ("Albert Newton", "Isaac Newton"):
        tokens, attention, _ = read(EINSTEIN.replace("Albert Einstein", name))
        assert (len(tokens), tokens[SECOND]) == (31, "einstein")
        row = attention[1, 1, SECOND]
        assert (round(100 * row[FIRST].item()), round(100 * row[0].item())) == (2, 55)
    states("from 42 % to 2 %", "`[CLS]` with 55 %")


@pytest.mark.corpora
def test_the_vector_of_the_second_einstein_by_hugging_face(read, states):
    here = read(EINSTEIN)[2][-1][SECOND]
    cosines = [
        nn.functional.cosine_similarity(here, read(EINSTEIN.replace(*change))[2][-1][SECOND], dim=0)
        for change in (("Albert Einstein", "Isaac Newton"), ("Bern", "Paris"))
    ]
    person, city = (round(cosine.item(), 3) for cosine in cosines)
    assert (person, city) == (0.946, 0.995)
    assert round((1 - person) / (1 - city)) in (10, 11)
    states("at 0.995", "to 0.946", "ten times as far")


@pytest.mark.corpora
def test_the_queries_of_layer_0_live_in_twelve_subspaces_by_numpy(published, states):
    attention = published[0].encoder.layer[0].attention.self
    queries, keys = (
        part.weight.detach().double().numpy().reshape(12, 32, 384)
        for part in (attention.query, attention.key)
    )
    singular = np.linalg.svd(queries[2].T @ keys[2], compute_uv=False)
    assert singular[31] > 1 > 1e-8 > singular[32]
    assert np.linalg.matrix_rank(queries.reshape(384, 384)) == 384
    bases = [np.linalg.svd(head, full_matrices=False)[2] for head in queries]  # rows: directions
    # Singular values of A Bᵀ are the cosines of the angles between two subspaces.
    overlap = np.array(
        [[(np.linalg.svd(a @ b.T, compute_uv=False) ** 2).mean() for b in bases] for a in bases]
    )
    different = overlap[~np.eye(12, dtype=bool)]
    assert [round(float(x), 2) for x in (different.min(), different.mean())] == [0.06, 0.16]
    assert round(float(different.max()), 2) == round(float(overlap[2, 5]), 2) == 0.45
    assert round(32 / 384, 3) == 0.083
    states("0.16 on average", "0.45 at most (heads 2 and 5)", "32/384 = 0.083", "columns 64 to 95")


@pytest.mark.corpora
def test_a_token_is_found_again_only_with_the_residual_connection_by_hugging_face(
    published, read, states
):
    hidden = read(EINSTEIN)[2]
    found, cosines = [], []
    for x, layer in zip(hidden, published[0].encoder.layer, strict=False):
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
