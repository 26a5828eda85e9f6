"""Gradients as explanations: against small steps, on models small enough to work out by hand."""

import itertools

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from bertlab.interpretability.gradients import (
    attention_gradients,
    gradient_times_input,
    rank_agreement,
)
from bertlab.model import Bert, BertConfig, BertForPreTraining
from bertlab.parts import running, using
from tests.bertlab.interpretability.conftest import untouched
from tests.bertlab.refusals import rejected
from tests.small_models import strong

CONFIG = BertConfig(50, d_model=16, n_layers=2, n_heads=2, d_ff=32, max_length=16, dropout=0.1)
IDS = torch.tensor([2, 17, 4, 30, 17, 3])
SEGMENTS = torch.tensor([0, 0, 0, 1, 1, 1])


def model(kind=Bert, seed=0):
    """In double precision, with weights large enough that attention is not uniform."""
    return strong(kind(CONFIG, seed).eval().double())


def linear_model():
    """Embeddings and nothing else: the answer is linear in the words."""
    bert = model()
    bert.embeddings.norm, bert.layers = nn.Identity(), nn.ModuleList()
    return bert


def logit(output):
    return output.mlm_logits[0, 2, 7]


def test_on_a_linear_model_each_word_in_its_order_gets_what_it_adds():
    bert = linear_model()
    weights = torch.arange(6.0 * 16).reshape(6, 16).double()

    def target(output):
        return (weights * output.last_hidden_state[0]).sum()

    words = bert.embeddings.token.weight[IDS].detach()
    got = gradient_times_input(bert, IDS, target)
    torch.testing.assert_close(got, (weights * words).sum(dim=-1))
    with_words = target(bert(IDS[None]))
    bert.embeddings.token.weight.data.zero_()  # leaves only positions and segments
    torch.testing.assert_close(got.sum(), (with_words - target(bert(IDS[None]))).detach())
    third = gradient_times_input(linear_model(), IDS, lambda o: o.last_hidden_state[0, 3].sum())
    assert third.nonzero().flatten().tolist() == [3]


def test_it_is_how_the_answer_changes_when_a_word_grows_a_little():
    both, step = model(BertForPreTraining), 1e-6
    got = gradient_times_input(both, IDS, logit, SEGMENTS)

    def answer_with(place, factor):
        def grow(_, __, embedding):
            factors = torch.ones(6, 1, dtype=torch.float64)
            factors[place] = factor
            return embedding * factors

        hook = both.bert.embeddings.token.register_forward_hook(grow)
        try:
            with torch.no_grad():
                return logit(both(IDS[None], SEGMENTS[None])).item()
        finally:
            hook.remove()

    for place in range(6):  # the word at 1 is also at 4: each place separately
        change = answer_with(place, 1 + step) - answer_with(place, 1 - step)
        assert got[place].item() == pytest.approx(change / (2 * step), rel=1e-4, abs=1e-7)
    assert (got.abs() > 1e-4).all()


def test_attention_gradients_are_what_small_steps_say():
    both, step = model(BertForPreTraining), 1e-6
    probabilities = running("attention_probabilities")
    got = attention_gradients(both, IDS, logit)
    assert [layer.shape for layer in got] == [(2, 6, 6)] * 2
    changed = {}

    def nudged(*arguments):
        values = probabilities(*arguments).clone()
        if changed["layer"] == 0:
            values[(0, *changed["at"])] += changed["by"]
        changed["layer"] -= 1
        return values

    for layer, at in [(0, (0, 1, 2)), (0, (1, 5, 0)), (1, (1, 2, 3)), (1, (0, 2, 0))]:
        answers = []
        for by in (step, -step):
            changed.update(layer=layer, at=at, by=by)
            with using(attention_probabilities=nudged):
                answers.append(logit(both(IDS[None], output_attentions=True)).item())
        expected = (answers[0] - answers[1]) / (2 * step)
        assert got[layer][at].item() == pytest.approx(expected, rel=1e-4, abs=1e-7)
        assert abs(expected) > 1e-5


def test_in_the_last_layer_only_the_asked_token_looks():
    gradients = attention_gradients(model(), IDS, lambda output: output.last_hidden_state[0, 4, 0])
    rows = gradients[-1].abs().sum(dim=(0, 2)).nonzero().flatten().tolist()
    assert rows == [4]
    assert (gradients[0].abs().sum(dim=(0, 2)) > 0).all()  # below, all of them do


MEASURES = (gradient_times_input, attention_gradients)


@pytest.mark.parametrize("measure", MEASURES)
def test_the_model_is_as_before(measure):
    both = model(BertForPreTraining).train().requires_grad_(False)
    both.mlm_head.eval()
    with untouched(both):
        first, second = (measure(both, IDS[None], logit) for _ in range(2))
    torch.testing.assert_close(first, second)  # no dropout
    assert not any(tensor.requires_grad for tensor in first)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize(
    ("target", "message"),
    [
        (lambda o: o.mlm_logits[0, 2], r"one number of the output, a tensor; got \[50\]"),
        (lambda o: logit(o).item(), "a tensor; got float"),
        (lambda o: logit(o).detach(), "must keep the gradient"),
        (lambda o: torch.ones(1, requires_grad=True), "must depend on the words"),
    ],
)
def test_a_target_is_one_number_of_the_answer(measure, target, message):
    rejected(message, measure, model(BertForPreTraining), IDS, target)


def test_what_does_not_fit_is_rejected():
    measure, (two, both) = gradient_times_input, (torch.stack([x, x]) for x in (IDS, SEGMENTS))
    rejected(r"gradient_times_input: ids must be of one text, \[L\]", measure, model(), two, logit)
    one = r"segment_ids must be of one text.*segment_ids\[0\]"
    rejected(one, measure, model(), IDS, logit, both)
    rejected("gradients: model must be a Bert", attention_gradients, nn.Linear(2, 2), IDS, logit)
    for a, b in ((torch.ones(2, 2), torch.ones(2, 2)), ([1.0], [1.0]), ([1, 2], [1, 2, 3])):
        rejected("a and b must have the same length", rank_agreement, a, b)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=2, max_size=8))
def test_agreement_is_a_count_of_pairs(points):
    pairs = itertools.combinations(points, 2)
    signs = [((a > b) - (a < b), (c > d) - (c < d)) for (a, c), (b, d) in pairs]
    same = sum(x * y for x, y in signs)
    told_a, told_b = (sum(pair[side] != 0 for pair in signs) for side in range(2))
    expected = same / (told_a * told_b) ** 0.5 if told_a and told_b else float("nan")
    a, b = zip(*points, strict=True)
    got = rank_agreement(torch.tensor(a), list(b))
    assert got == pytest.approx(expected, nan_ok=True)
