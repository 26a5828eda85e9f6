"""The models of before 2017, against their formulas."""

import math

import pytest
import torch

from course.experiments.convolutional import Convolutional
from course.experiments.recurrent import Recurrent, RecurrentWithAttention
from tests.small_models import assert_the_seed_decides, weights

SIZES = {"vocab_size": 12, "d_model": 6}
KINDS = [Recurrent, RecurrentWithAttention, Convolutional]


def model_of(kind, **options):
    return kind(**SIZES, **options).eval()


def batch():
    ids = torch.tensor([[3, 4, 5, 6, 2], [7, 8, 2, 0, 0]])
    return ids, ids != 0


def gru(layer, inputs, state):
    """A GRU in plain formulas: Cho et al. (2014), eq. 5 to 8, with PyTorch's order of gates."""
    W, U = layer.weight_ih_l0, layer.weight_hh_l0
    b, c = layer.bias_ih_l0, layer.bias_hh_l0
    states = []
    for x in inputs:
        xr, xz, xn = (W @ x + b).chunk(3)
        hr, hz, hn = (U @ state + c).chunk(3)
        r, z = torch.sigmoid(xr + hr), torch.sigmoid(xz + hz)
        state = (1 - z) * torch.tanh(xn + r * hn) + z * state
        states.append(state)
    return torch.stack(states)


def test_the_recurrent_models_are_gru_formulas():
    source_ids, mask = batch()
    plain, looking = model_of(Recurrent), model_of(RecurrentWithAttention)
    target_ids = torch.tensor([[1, 4, 5], [1, 8, 9]])
    with torch.no_grad():
        for row, length in enumerate((5, 3)):
            read = gru(plain.reader, plain.token(source_ids[row, :length]), torch.zeros(6))
            memory = plain.encode(source_ids, mask)
            torch.testing.assert_close(memory[row, 0], read[-1])
            written = gru(plain.writer, plain.token(target_ids[row]), read[-1])
            expected = written @ plain.unembedding.weight.T + plain.unembedding.bias
            torch.testing.assert_close(plain.decode(target_ids, memory, mask)[row], expected)

            read = gru(looking.reader, looking.token(source_ids[row, :length]), torch.zeros(6))
            memory = looking.encode(source_ids, mask)
            torch.testing.assert_close(memory[row, :length], read)
            states = gru(looking.writer, looking.token(target_ids[row]), read[-1])
            weights = (states @ read.T / math.sqrt(6)).softmax(dim=-1)  # [T, L]
            both = torch.cat([weights @ read, states], dim=-1)
            hidden = torch.tanh(looking.combine(both))
            logits, looked = looking.look_back(target_ids, memory, mask)
            torch.testing.assert_close(logits[row], looking.unembedding(hidden))
            torch.testing.assert_close(looked[row, :, :length], weights)
            assert looked[row, :, length:].abs().sum() == 0


def test_a_place_of_the_convolution_sees_its_neighbours_and_nothing_else():
    model = model_of(Convolutional, n_layers=2, width=3)  # two to either side
    ids = torch.full((1, 11), 3)
    changed = ids.clone()
    changed[0, 5] = 4
    with torch.no_grad():
        difference = (model.encode(ids) - model.encode(changed)).abs().sum(dim=-1)[0]
    assert (difference > 1e-6).tolist() == [abs(place - 5) <= 2 for place in range(11)]


def test_a_convolution_by_hand():
    # Gehring et al.: a gated linear unit a * sigmoid(b), a residual, times the root of a half.
    model = model_of(Convolutional, n_layers=1, width=3)
    ids = torch.tensor([[3, 4, 5]])
    with torch.no_grad():
        x = model.token(ids[0]) + model.position.weight[:3]  # [L, D]
        padded = torch.cat([torch.zeros(1, 6), x, torch.zeros(1, 6)])
        weight, bias = model.layers[0].weight, model.layers[0].bias  # [2D, D, 3]
        for place in range(3):
            ab = sum(weight[:, :, k] @ padded[place + k] for k in range(3)) + bias
            gated = ab[:6] * torch.sigmoid(ab[6:])
            expected = (x[place] + gated) * math.sqrt(0.5)
            torch.testing.assert_close(model.encode(ids)[0, place], expected)


@pytest.mark.parametrize("kind", KINDS)
def test_padding_changes_nothing(kind):
    model, (ids, mask) = model_of(kind), batch()
    target_ids = torch.tensor([[1, 4, 5], [1, 8, 9]])
    with torch.no_grad():
        padded = model.decode(target_ids, model.encode(ids, mask), mask)[1:]
        plain = model.decode(target_ids[1:], model.encode(ids[1:, :3]))
    torch.testing.assert_close(padded, plain, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_a_later_target_symbol_never_changes_earlier_logits(kind):
    model, (ids, mask) = model_of(kind), batch()
    one, other = torch.tensor([[1, 4, 5, 6]] * 2), torch.tensor([[1, 4, 9, 10]] * 2)
    with torch.no_grad():
        memory = model.encode(ids, mask)
        before, after = (model.decode(target, memory, mask) for target in (one, other))
    torch.testing.assert_close(before[:, :2], after[:, :2])
    assert not torch.allclose(before[:, 2], after[:, 2])


@pytest.mark.parametrize("kind", KINDS)
def test_the_seed_determines_the_weights_and_no_global_state_changes(kind):
    assert_the_seed_decides(lambda seed: weights(kind(**SIZES, seed=seed)))
    for name in ("token.weight", "writer.weight_hh_l0"):
        assert_the_seed_decides(lambda seed, n=name: kind(**SIZES, seed=seed).get_parameter(n))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("ids", "mask", "message"),
    [
        (torch.ones(5, dtype=torch.long), None, r"source_ids must be \[B, L\]"),
        (torch.full((1, 3), 12), None, "source_ids must be from 0 to 11; got 12"),
        (torch.ones(1, 3), None, "source_ids must be integers"),
        (torch.ones(1, 3).long(), torch.ones(1, 4).bool(), r"source_mask must be .* got \[1, 4\]"),
    ],
)
def test_mistakes_name_the_model_and_the_argument(kind, ids, mask, message):
    with pytest.raises(ValueError, match=f"{kind.__name__}: {message}"):
        model_of(kind).encode(ids, mask)


@pytest.mark.parametrize("kind", KINDS)
def test_a_memory_that_does_not_fit_is_refused(kind):
    with pytest.raises(ValueError, match=r"must be \[B, L, D\] with B = 1.* got \[2, 1, 6\]"):
        model_of(kind).decode(torch.tensor([[1, 4]]), torch.zeros(2, 1, 6))


def test_sizes_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="Recurrent: vocab_size and d_model must be at least 1"):
        Recurrent(0, 8)
    with pytest.raises(ValueError, match="width odd; got n_layers=2, max_length=512, width=4"):
        Convolutional(9, 8, width=4)
