"""Heads removed: against weights set to 0 by hand, gradients against small steps, pruning."""

import copy

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional as F

from bertlab.interpretability.ablation import (
    ablate_each_head,
    gated_heads,
    head_importance,
    prune_heads,
    without_heads,
)
from bertlab.model import Bert, BertConfig, BertForPreTraining
from bertlab.model.pretrained import count_parameters
from bertlab.model.transformer import Transformer, TransformerConfig
from tests.bertlab.interpretability.conftest import hooks_of, untouched
from tests.bertlab.refusals import rejected
from tests.small_models import strong

CONFIG = BertConfig(50, d_model=24, n_layers=3, n_heads=4, d_ff=32, max_length=16, dropout=0.1)
IDS = torch.tensor([[2, 17, 4, 30, 8, 3], [2, 9, 9, 41, 5, 3]])
MASK = torch.tensor([[True] * 6, [True] * 4 + [False] * 2])
ALL = [(layer, head) for layer in range(3) for head in range(4)]
some_heads = st.sets(st.sampled_from(ALL), min_size=1, max_size=6)


def model(kind=Bert, config=CONFIG):
    """With weights large enough that heads differ, and biases, which are 0 in a new model."""
    return strong(kind(config).eval(), others=0.3)


def answer(model, ids=IDS, mask=MASK):
    output = model(ids, attention_mask=mask)
    return output.last_hidden_state if isinstance(model, Bert) else output.mlm_logits


def zeroed(bert, heads, d_head=6):
    """A copy whose output matrix does not read those heads' columns."""
    reference = copy.deepcopy(bert)
    for layer, head in heads:
        weight = reference.layers[layer].attention.output.weight
        weight.data[:, head * d_head : (head + 1) * d_head] = 0
    return reference


def mean_logit(model):
    """A loss that depends on everything: cross-entropy of the next id at each place."""

    def loss(ids):
        return F.cross_entropy(model(ids).mlm_logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten())

    return loss


@pytest.mark.slow
@settings(max_examples=20)
@given(some_heads)
def test_a_silent_head_is_one_whose_columns_are_0(heads):
    bert = model()
    with without_heads(bert, heads), torch.no_grad():
        got = answer(bert)
    torch.testing.assert_close(got, answer(zeroed(bert, heads)))


def test_silences_add_up_and_the_model_is_as_before_even_after_an_error():
    bert = model()
    with without_heads(bert, [(0, 1)]), without_heads(bert, [(2, 3)]):
        got = answer(bert)
    torch.testing.assert_close(got, answer(zeroed(bert, [(0, 1), (2, 3)])))
    before = answer(bert)
    with pytest.raises(KeyError), without_heads(bert, ALL):
        raise KeyError
    assert torch.equal(answer(bert), before)
    assert not hooks_of(bert)


def test_gates_stretch_a_head_and_each_has_one():
    bert = model()
    gates = torch.ones(3, 4)
    gates[1, 2] = 2.5
    reference = copy.deepcopy(bert)
    reference.layers[1].attention.output.weight.data[:, 12:18] *= 2.5
    with gated_heads(bert, gates):
        torch.testing.assert_close(answer(bert), answer(reference))


def test_pre_training_models_and_decoders_have_heads_too():
    both = model(BertForPreTraining)
    reference = copy.deepcopy(both)
    reference.bert = zeroed(both.bert, [(1, 0)])
    with without_heads(both, [(1, 0)]):
        torch.testing.assert_close(answer(both), answer(reference))
    decoder = model(config=BertConfig(**{**CONFIG.__dict__, "causal": True}))
    with without_heads(decoder, [(1, 0)]):
        torch.testing.assert_close(answer(decoder), answer(zeroed(decoder, [(1, 0)])))


BOTH, OTHER = model(BertForPreTraining), model(BertForPreTraining)
TRANSFORMER = Transformer(TransformerConfig(20, d_model=8, n_layers=1, n_heads=2, d_ff=8))


def test_heads_and_losses_that_do_not_fit_are_errors():
    rejected("must name layers from 0 to 2; got 3", prune_heads, BOTH, [(3, 0)])
    rejected("must name heads of layer 0 from 0 to 3; got 4", prune_heads, BOTH, [(0, 4)])
    rejected("from 0 to 3; got -1", prune_heads, BOTH, [(0, -1)])
    rejected(r"must be pairs \(layer, head\).*got 5", prune_heads, BOTH, [5])
    rejected(r"must be pairs .*got \(1, 2, 3\)", prune_heads, BOTH, [(1, 2, 3)])
    rejected("names all 4 of layer 1; without_heads can", prune_heads, BOTH, ALL[4:8])
    rejected("must be a Bert, or .*got Transformer", prune_heads, TRANSFORMER, [(0, 0)])
    rejected("must name layers .*; got 3", without_heads(BOTH, [(3, 0)]).__enter__)
    rejected(r"gates must be .*\[4\]\]", gated_heads(BOTH, torch.ones(3, 3)).__enter__)
    rejected("at least one; got none", ablate_each_head, BOTH, mean_logit(BOTH), [])
    rejected("gradient.*; got float", importance, lambda ids: mean_logit(BOTH)(ids).item())
    rejected(r"a tensor \[2\] with gradient", importance, lambda ids: BOTH(ids).nsp_logits[0])
    rejected("loss must depend on the heads of this same", importance, mean_logit(OTHER))
    pruned, loss = prune_heads(BOTH, [(0, 0)]), mean_logit(BOTH)
    rejected("same number of heads; got .*before pruning", head_importance, pruned, loss, [IDS])


def importance(loss):
    return head_importance(BOTH, loss, [IDS])


def test_importance_is_what_small_steps_of_the_gates_say():
    both = model(BertForPreTraining).double()
    loss, step = mean_logit(both), 1e-5
    texts = [IDS[:1], IDS[1:]]
    expected = torch.zeros(3, 4, dtype=torch.float64)
    for ids in texts:
        for layer, head in ALL:
            losses = []
            for sign in (1, -1):
                gates = torch.ones(3, 4, dtype=torch.float64)
                gates[layer, head] += sign * step
                with gated_heads(both, gates):
                    losses.append(loss(ids).item())
            expected[layer, head] += abs(losses[0] - losses[1]) / (2 * step) / len(texts)
    got = head_importance(both, loss, texts)
    torch.testing.assert_close(got.double(), expected, atol=1e-5, rtol=1e-3)
    assert (got > 1e-4).all()


def test_importance_does_not_let_texts_cancel():
    both = model(BertForPreTraining)
    loss = mean_logit(both)
    signed = lambda sign_and_ids: sign_and_ids[0] * loss(sign_and_ids[1])  # noqa: E731
    opposite = head_importance(both, signed, [(1, IDS), (-1, IDS)])
    torch.testing.assert_close(opposite, head_importance(both, loss, [IDS]))


MEASURES = (head_importance, ablate_each_head)


@pytest.mark.parametrize("measure", MEASURES)
def test_measuring_leaves_no_trace_in_the_model(measure):
    both = model(BertForPreTraining).train()
    both.mlm_head.eval()
    with untouched(both):
        first, second = (measure(both, mean_logit(both), [IDS]) for _ in range(2))
    torch.testing.assert_close(first, second)  # no dropout


def test_a_frozen_model_can_be_measured_and_a_dead_head_is_worth_nothing():
    both = model(BertForPreTraining).requires_grad_(False)
    both.bert = zeroed(both.bert, [(1, 3)])
    loss = mean_logit(both)
    for found in (measure(both, loss, [IDS]) for measure in MEASURES):
        assert found[1, 3] == 0
        assert (found != 0).sum() == 11  # each of the others matters


@pytest.mark.slow
def test_ablation_is_the_rise_of_the_mean_loss():
    both = model(BertForPreTraining)
    loss = mean_logit(both)
    texts = [IDS[:1], IDS[1:]]
    before = sum(loss(ids).item() for ids in texts) / 2
    got = ablate_each_head(both, loss, iter(texts))
    for layer, head in ALL:
        reference = copy.deepcopy(both)
        reference.bert = zeroed(both.bert, [(layer, head)])
        after = sum(mean_logit(reference)(ids).item() for ids in texts) / 2
        assert got[layer, head].item() == pytest.approx(after - before, abs=1e-5)


@pytest.mark.slow
@settings(max_examples=20)
@given(some_heads)
def test_a_pruned_model_answers_as_one_with_silent_heads(heads):
    bert = model()
    if any({(layer, head) for head in range(4)} <= heads for layer in range(3)):
        return
    pruned = prune_heads(bert, heads)
    with without_heads(bert, heads), torch.no_grad():
        torch.testing.assert_close(answer(pruned), answer(bert), atol=1e-5, rtol=1e-5)
    # Each head has three times [D, d_head] and a bias, and [d_head, D] to be read.
    gone = len(heads) * (4 * 24 * 6 + 3 * 6)
    assert count_parameters(pruned).total == count_parameters(bert).total - gone


def test_pruning_again_counts_the_heads_again_and_a_layer_keeps_one():
    bert = model()
    twice = prune_heads(prune_heads(bert, [(1, 0)]), [(1, 1)])  # now number 1 is what was 2
    once = prune_heads(bert, [(1, 0), (1, 2)])
    assert torch.equal(answer(twice), answer(once))
    assert prune_heads(model(), ALL[1:4]).layers[0].attention.n_heads == 1


def test_a_pruned_model_has_weights_of_its_own_and_learns():
    both = model(BertForPreTraining)
    before = answer(both)
    pruned = prune_heads(both, [(0, 0), (2, 3)])
    first = mean_logit(pruned)(IDS)
    optimizer = torch.optim.SGD(pruned.parameters(), lr=0.01)
    first.backward()
    optimizer.step()
    assert mean_logit(pruned)(IDS) < first
    assert torch.equal(answer(both), before)
    shared = {parameter.data_ptr() for parameter in both.parameters()}
    assert not shared & {parameter.data_ptr() for parameter in pruned.parameters()}
