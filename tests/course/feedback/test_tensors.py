"""The messages of a check of a tensor function, for any assignment."""

import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from bertlab.model.attention import HeadWeights
from course.feedback import known
from course.feedback.checks import CheckFailed, Passed
from course.feedback.ex04_attention import scaling
from course.feedback.tensors import (
    NumberCheck,
    TensorCheck,
    normal,
    same,
    tensor_difference,
    written,
)
from course.feedback.watch import LibraryUsed, watched

LAYER, FAST = (nn.MultiheadAttention(2, 1, batch_first=first) for first in (False, True))
FAST.eval()


DOUBLES = {"shape": [2], "numbers": [4.0, 8.0]}
KNOWN = {
    "sentences": ["that doubles", "keep the shape"],
    "checks": {"halved": {"1": [[DOUBLES, 0], [{"shape": [2, 1]}, 1]]}},
}


@pytest.fixture(autouse=True)
def known_mistakes(monkeypatch):
    monkeypatch.setattr(known, "values_of", lambda _: KNOWN)


def halved(function):
    """A check of a function that halves a tensor."""
    check = TensorCheck("halved", function)
    check.example(torch.tensor([2.0, 4.0]), gives=[1.0, 2.0], because="every number, by 2")
    check.example(normal(3, 20), gives=normal(3, 20) / 2)
    check.gradients(normal(3))
    check.done("numbers and gradients")
    return check.passed()


def said(function, check=halved):
    with pytest.raises(CheckFailed) as failed:
        check(function)
    return str(failed.value)


@pytest.mark.parametrize(
    ("function", "told"),
    [
        (lambda x: x * 2, "→ that doubles"),
        (lambda x: (x / 2)[:, None], "→ keep the shape"),
        (
            lambda x: x / 3,
            "expected [1, 2]\n  got      [0.6667, 1.333]\n  This case: every number, by 2",
        ),
        (lambda x: (x / 2).double(), "dtype must be torch.float32; it returned torch.float64"),
        (lambda x: (x / 2).tolist(), "shape [2]; it returned [1.0, 2.0], a list"),
        (lambda x: None, "Is there a `return` at the end?"),
        (lambda x: x @ torch.ones(5), "raised RuntimeError"),
        (lambda x: x[7], "index 7 is out of bounds for dimension 0 with size 2\n  in your line: "),
        (lambda x: x.div_(2), "changed its input\n  → work on a copy, x.clone()"),
        (lambda x: x.detach() / 2, "has lost the gradient"),
        (lambda x: x * 0 + x.detach() / 2, "no gradient reaches argument 1"),
        (lambda x: x / 2 + (x * 0).sqrt().nan_to_num(), "argument 1 holds nan or inf"),
        (lambda x: torch.where(x > 0, x / 2, x / 3), "numbers differ"),
    ],
    ids=[
        *("a known mistake", "a known shape", "other numbers", "dtype", "a list", "nothing"),
        *("an error", "an error's line", "in place", "detached"),
        *("a gradient of 0", "a gradient of nan", "long"),
    ],
)
def test_each_mistake_is_named(function, told):
    assert told in said(function)


@pytest.mark.parametrize(
    "attention", [F.scaled_dot_product_attention, LAYER, FAST], ids=["function", "layer", "fast"]
)
def test_pytorchs_own_attention_is_not_accepted_as_the_answer(attention):
    told = said(lambda x: attention(x[None], x[None], x[None])[0])
    assert "a ready-made function of PyTorch" in told


@pytest.mark.parametrize(
    "softmax",
    [
        lambda x: torch.softmax(x, dim=-1),
        lambda x: x.softmax(dim=-1),
        lambda x: F.softmax(x, dim=-1),
        lambda x: F.log_softmax(x, dim=-1),
        lambda x: nn.Softmax(dim=-1)(x),
        lambda x: torch.special.softmax(x, dim=-1),
    ],
)
def test_a_check_may_forbid_other_functions(softmax):
    with pytest.raises(LibraryUsed):
        watched(softmax, ready_made=("softmax",))(torch.ones(2))
    assert watched(softmax, ready_made=("attention",))(torch.ones(2)).shape == (2,)


def test_a_right_function_of_any_name_passes():
    def scaled_dot_product_attention(x):
        return x / 2

    assert isinstance(halved(lambda x: scaled_dot_product_attention(x)), Passed)
    assert isinstance(halved(lambda x: x * 0.5), Passed)


def test_rows_are_distinguished_from_columns():
    columns = normal(2, 4, 5).softmax(dim=-2)
    check = TensorCheck("shares", lambda: columns)
    with pytest.raises(CheckFailed, match="the sums along dim=-2 are 1, but a row is dim=-1"):
        check.rows_sum_to_one(columns, "shares()")
    with pytest.raises(CheckFailed, match=r"row \[0, 0\] sums to 0.5, not to 1\n"):
        check.rows_sum_to_one(columns.mT / 2, "shares()")
    check.rows_sum_to_one(columns.mT, "shares()")


@pytest.mark.parametrize(
    ("divisor", "told"),
    [
        (math.sqrt(16), ""),
        (1, "divided by 1; d_head is query's last size, 16, so divide by √16 = 4"),
        (16, "divided by 16;"),
        (math.sqrt(9), "divided by 3;"),
    ],
)
def test_the_scale_of_scores_is_read_off_the_probabilities(divisor, told):
    query, key = normal(2, 7, 16), normal(2, 9, 16, seed=1)
    found = scaling(query, key, (query @ key.mT / divisor).softmax(dim=-1))
    assert told in found
    assert bool(told) == bool(found)


def test_tensors_are_written_as_a_student_would_and_differences_by_first_place():
    weights = HeadWeights(*[torch.ones(2)] * 6)
    assert written(torch.tensor([[1.0, -math.inf], [0.3333333, 2]])) == "[[1, -inf], [0.3333, 2]]"
    assert written(torch.tensor([True, False])) == "[True, False]"
    assert (written(torch.ones(3, 40)), written(7)) == ("a [3, 40] tensor", "7")
    assert (written(weights), written([weights, weights])) == ("weights", "2 heads")
    expected = torch.zeros(4, 30)
    got = expected.clone()
    got[2, 7:9] = 0.5
    told = "at [2, 7]: expected 0, got 0.5; 2 of 120 numbers differ"
    assert tensor_difference(expected, got) == told
    assert tensor_difference(torch.tensor(math.nan), torch.tensor(math.nan)) == ""


def test_equal_arguments_are_found_equal_however_deep():
    one = ([HeadWeights(*[torch.ones(2)] * 6)], torch.tensor([1, -math.inf]), 3)
    other = ([HeadWeights(*[torch.ones(2)] * 5, torch.zeros(2))], torch.tensor([1, -math.inf]), 3)
    assert same(one, one)
    assert not same(one, other)
    assert not same((torch.ones(2),), (torch.ones(2).double(),))


@pytest.mark.parametrize("half", [0.5, torch.tensor(0.5), torch.tensor(0.5).double()])
def test_a_number_may_be_a_tensor_without_dimensions(half):
    NumberCheck("half", lambda x: half).example(1, gives=0.5)


@pytest.mark.parametrize("other", [torch.tensor([0.5]), "0.5", None, torch.tensor(0.5j)])
def test_anything_else_is_not_a_number(other):
    with pytest.raises(CheckFailed, match="must return a number; it returned"):
        NumberCheck("half", lambda x: other).example(1, gives=0.5)
