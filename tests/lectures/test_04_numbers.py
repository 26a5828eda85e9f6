"""Lecture 04 against NumPy, PyTorch's attention, and Hugging Face's MiniLM."""

import numpy as np
import pytest
import torch
from torch import nn

TIRED = "the animal did not cross the street because it was too tired"
EINSTEIN = (
    "Albert Einstein published four papers in one year while he worked at the patent office in "
    "Bern and it took years until physicists saw what Einstein had done"
)
FIRST, SECOND = 2, 27  # the positions of the two mentions among its tokens


def test_what_the_proofs_of_the_page_assert(states):
    states(r"""
        24 words apart ... needs 24 steps ... needs 12 layers ... 2\cdot2 + 1\cdot1 = 5 ...
        2\cdot(-1) + 1\cdot2 = 0 ... then $-5$ ... scores 3, 2, 1 ... $e^3 = 20.09$, $e^2 = 7.39$,
        $e^1 = 2.72$ ... the shares stay 0.665, 0.245, 0.090 ... *noun* 0.91, *alive* 0.67 ... *it*
        gives 0.665 to *animal*, and *animal* gives 0.787 ... The scores 3, 2, 1 become 2, 1, 0 ...
        scores 112 with itself and 96 with ... by 8 that is 14 and 12 ... 88 % from itself and 12 %
        ... 117,000 times smaller ... 0.37, 0.33, 0.30, nearly ... $\log_2 3 = 1.58$ ...
        $2\, d_e = 1536$
    """)


def test_what_others_report_is_quoted_as_they_print_it(states):
    states("""
        BERT sets 10 % of the attention *probabilities* ... 8 heads of size 64; BERT-base has 12
        ... on 1,000 Wikipedia segments ... over half of the attention in layers 6 to 10
    """)


def test_the_attention_of_three_tokens_by_pytorch():
    """Those of section 3, and the projections of the page, written out by hand."""
    queries = [[0, 0, 4, 2], [0, 0, 2, 2], [2, 2, 0, 2]]
    keys = [[1, 1, 0, 1], [1, 0, 0, 1], [0, 0, 1, 1]]
    toy = [torch.tensor([rows]).double() for rows in (queries, keys, [[1, 1], [1, 0], [0, 0]])]
    blend = nn.functional.scaled_dot_product_attention(*toy)[0, 2]
    assert blend.numpy().round(2).tolist() == [0.91, 0.67]
    toy[2] = torch.eye(3)[None].double()
    shares = nn.functional.scaled_dot_product_attention(*toy)[0].numpy().round(3)
    assert shares[[0, 2]].tolist() == [[0.107, 0.107, 0.787], [0.665, 0.245, 0.09]]


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
    _, first_gradient = depth(residual=False, layers=1)
    deep, deep_gradient = depth(residual=False, layers=24)
    apart, gradient = depth(residual=True, layers=24)
    assert deep < 1e-4
    assert deep_gradient < 1e-4 * first_gradient
    assert apart > 0.3
    assert gradient > first_gradient
    states("""
        still above 1 at 24 layers ... has exploded at 24 layers ... weights on 16 random tokens ...
        less than one part in 10,000
    """)


def test_parameters_shapes_and_memory_of_attention_at_bert_base_size(states):
    def counted(heads, **how):
        return sum(part.numel() for part in nn.MultiheadAttention(768, heads, **how).parameters())

    assert counted(12, bias=False) == 1_769_472 + 589_824
    states(f"= 32$, so the parameters stay at {counted(24):,} ... from 12 to 24 and keep D = 768")
    out, probabilities = attention_of(512, 768, 12)
    assert (out.shape, probabilities.shape) == ((1, 512, 768), (1, 12, 512, 512))
    assert round(probabilities.nbytes / 1e6, 1) == 12.6
    states("instead of 12.6")
    both = nn.utils.rnn.pad_sequence([torch.ones(5), torch.ones(50)], batch_first=True)
    states(f"a text of 5 tokens with one of 50 ... {(both == 0).sum()} padding tokens")


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


def best_heads(shares, n=1):
    """The heads with the highest shares: [(layer, head)]."""
    return [divmod(int(head), 12) for head in shares.ravel().argsort()[::-1][:n]]


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
    assert best_heads(mean) == [best]
    assert round(float(mean.max()), 2) == share
    if best in [(0, 2), (1, 8)]:  # "these two win in each of the five sentences"
        assert all(best_heads(one) == [best] for one in each)


@pytest.mark.corpora
def test_heads_on_cls_by_hugging_face_and_what_the_page_says_of_the_others(five, states):
    on_cls = np.mean([attention[..., 0].mean(axis=-1) for attention in five], axis=0)
    states(f"{(on_cls > 0.5).sum()} of the 72 ... `0.2` puts over 99 % ... `1.8` puts 64 %")


@pytest.mark.corpora
def test_what_it_attends_to_by_hugging_face(attend, states):
    tokens, attention = attend(TIRED)
    it, *keys = (tokens.index(word) for word in ("it", "animal", "street"))
    rows, wide = attention[:, :, it], attend(TIRED.replace("tired", "wide"))[1][:, :, it]
    states(f"In {(rows.argmax(axis=-1) == 0).sum()} of 72 heads")
    assert round(float(rows[..., 0].mean()), 2) == 0.36
    assert best_heads(rows[..., keys[0]], 2) == [(3, 1), (5, 11)]
    found = [
        looked[head][key] for head in ((3, 1), (5, 11)) for key in keys for looked in (rows, wide)
    ]
    states("from {:.0%} to {:.0%} ... from {:.0%} to {:.0%}".format(*found[:4]).replace("%", " %"))
    assert np.round(found[4:], 2).tolist() == pytest.approx([0.64, 0.51, 0.02, 0.04])


@pytest.mark.corpora
def test_without_positions_the_previous_token_head_is_lost(minilm, attend, states, monkeypatch):
    table = minilm.model.embeddings.position_embeddings.weight
    monkeypatch.setattr(table, "data", torch.zeros_like(table))
    share = offset(-1)(attend(TIRED)[1])[0, 2]
    states(f"from 1.00 to {share:.2f} ... $1/14 = {1 / 14:.2f}$")
    one, other = attend("dog bites man")[1], attend("man bites dog")[1]
    order = [0, 3, 2, 1, 4]
    np.testing.assert_allclose(one[:, :, order][..., order], other, atol=1e-5)


@pytest.mark.corpora
def test_head_11_connects_the_two_einsteins_by_hugging_face(minilm, states):
    tokens, _, attention = minilm(EINSTEIN)
    assert (len(tokens), tokens[FIRST], tokens[SECOND]) == (31, "einstein", "einstein")
    back = 100 * attention[:, :, SECOND, FIRST]
    assert best_heads(back, 3) == [(1, 1), (2, 9), (5, 4)]
    states(f"gives {back[1, 1]:.0f} % of the second ... {SECOND - FIRST} tokens back")
    assert round(float(back.mean()), 1) == 4.4
    here, there = (place for place, token in enumerate(tokens) if token == "in")
    states(f"gives {100 * attention[1, 1, there, here]:.0f} % to the first *in*")


@pytest.mark.corpora
@pytest.mark.parametrize("name", ["Albert Newton", "Isaac Newton"])
def test_another_name_removes_the_association_by_hugging_face(minilm, states, name):
    tokens, _, attention = minilm(EINSTEIN.replace("Albert Einstein", name))
    assert (len(tokens), tokens[SECOND]) == (31, "einstein")
    row = 100 * attention[1, 1, SECOND]
    states(f"from 42 % to {row[FIRST]:.0f} % ... `[CLS]` with {row[0]:.0f} %")


@pytest.mark.corpora
def test_the_queries_of_layer_0_read_subspaces_by_numpy(minilm, states):
    attention = minilm.model.encoder.layer[0].attention.self
    queries, keys = (
        part.weight.detach().double().numpy().reshape(12, 32, 384)
        for part in (attention.query, attention.key)
    )
    singular = np.linalg.svd(queries[2].T @ keys[2], compute_uv=False)
    assert singular[31] > 1 > 1e-8 > singular[32]
    assert np.linalg.matrix_rank(queries.reshape(384, 384)) == 384
    states("could change *which* 32 directions ... its rank is 32 at most ... has d_head = 32")
    states("is a product through 32 columns ... columns 64 to 95")


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
    assert found == [13, 31, 10, 31, 7, 31, 4, 31, 2, 31, 2, 31]
    assert max(cosines[::2]) < 0.16 < 0.88 < min(cosines[1::2])
    states("cosine below 0.16 ... only 2 of 31 tokens ... above 0.88 and all 31")
