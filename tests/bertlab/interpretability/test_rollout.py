"""Rollout by hand and by its laws; flow against NetworkX."""

import networkx
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from bertlab.interpretability.rollout import attention_flow, attention_rollout
from tests.bertlab.refusals import rejected
from tests.small_models import random_attention

# In layer 1 token 1 looks at token 0; in layer 2 token 2 looks at token 1; the others at
# themselves. With the residual, half of each vector stays at its position.
LAYER_1 = torch.tensor([[[1.0, 0, 0], [1, 0, 0], [0, 0, 1]]])
LAYER_2 = torch.tensor([[[1.0, 0, 0], [0, 1, 0], [0, 1, 0]]])


def random_layers(n_layers, n_heads, length, seed):
    return list(random_attention(n_layers, n_heads, length, length, seed=seed))


sizes = st.tuples(st.integers(1, 4), st.integers(1, 3), st.integers(1, 5), st.integers(0, 10_000))


def test_rollout_by_hand_begins_with_the_first_layer():
    # Token 2 holds half of token 1 below, which holds half of word 0, and half of itself.
    expected = torch.tensor([[1, 0, 0], [0.5, 0.5, 0], [0.25, 0.25, 0.5]])
    torch.testing.assert_close(attention_rollout([LAYER_1, LAYER_2]), expected)
    # The other way round token 2 looks at token 1 before that has looked at token 0.
    expected = torch.tensor([0, 0.5, 0.5])
    torch.testing.assert_close(attention_rollout([LAYER_2, LAYER_1])[2], expected)


@given(sizes)
def test_rows_of_rollout_are_shares(size):
    rollout = attention_rollout(random_layers(*size))
    torch.testing.assert_close(rollout.sum(dim=-1), torch.ones(len(rollout)))
    assert (rollout >= 0).all()


@given(sizes)
def test_layers_that_look_at_themselves_change_nothing(size):
    layers = random_layers(*size)
    still = torch.eye(layers[0].shape[-1]).expand_as(layers[0])
    expected = attention_rollout(layers)
    torch.testing.assert_close(attention_rollout([still, *layers, still]), expected)


@settings(max_examples=25)
@given(sizes, st.data())
def test_flow_is_what_networkx_finds(size, data):
    layers = random_layers(*size)
    length = layers[0].shape[-1]
    query = data.draw(st.integers(0, length - 1))
    graph = networkx.DiGraph()
    for number, layer in enumerate(layers):
        mixed = (layer.mean(dim=0) + torch.eye(length)) / 2
        for above, row in enumerate(mixed.tolist()):
            for below, share in enumerate(row):
                graph.add_edge((number + 1, above), (number, below), capacity=share)
    top = (len(layers), query)
    expected = [networkx.maximum_flow_value(graph, top, (0, word)) for word in range(length)]
    got = attention_flow(layers, query)
    torch.testing.assert_close(got, torch.tensor(expected), atol=1e-6, rtol=0)


@given(sizes)
def test_no_flow_is_larger_than_what_leaves_the_query_or_smaller_than_rollout(size):
    layers = random_layers(*size)
    flow, rollout = attention_flow(layers, 0), attention_rollout(layers)[0]
    assert (flow <= 1 + 1e-6).all()
    assert (flow >= rollout - 1e-6).all()  # rollout's own paths are a flow that fits the pipes


def test_a_batch_of_one_is_a_text():
    layers = random_layers(2, 3, 4, seed=0)
    batch = [layer[None] for layer in layers]
    assert torch.equal(attention_rollout(batch), attention_rollout(layers))
    assert torch.equal(attention_flow(batch, 1), attention_flow(layers, 1))


@pytest.mark.parametrize("measure", [attention_rollout, lambda layers: attention_flow(layers, 0)])
@pytest.mark.parametrize(
    ("layers", "message"),
    [
        (LAYER_1, r"one tensor \[H, L, L\] per layer; got \[1, 3, 3\]"),
        ([], r"got \[\]"),
        (None, r"got None; trace\(...\).*output_attentions=True"),
        ([None, None], r"got \['NoneType'\]; did the model run with"),
        ([torch.stack([LAYER_1, LAYER_1])], r"of one text.*layer 0 is \[2, 1, 3, 3\]"),
        ([LAYER_1, LAYER_2 * 2], "every row summing to 1"),
    ],
)
def test_what_is_not_the_attention_of_one_text_is_an_error(measure, layers, message):
    rejected(message, measure, layers)


@pytest.mark.parametrize("query", [3, -1])
def test_the_query_is_a_token_of_the_text(query):
    rejected(f"query must be a token from 0 to 2; got {query}", attention_flow, [LAYER_1], query)
