"""The comparison of hidden tests: type, shape, dtype and size before numbers."""

from collections import Counter, OrderedDict
from typing import NamedTuple

import numpy as np
import pytest
import torch

from course.feedback.expected import expect, expect_form, expect_name, expect_number, listed


class Two(NamedTuple):
    first: int
    second: int


NAN = float("nan")
RIGHT = [
    (torch.ones(2), torch.ones(2)),
    (torch.nn.Parameter(torch.ones(2)), torch.ones(2)),
    (torch.tensor([NAN, float("inf")]), torch.tensor([NAN, float("inf")])),
    (torch.empty(0, 3), torch.empty(0, 3)),
    (torch.tensor(1.0), 1.0),
    (np.float32(1), 1.0),
    (3.0, 3),
    (NAN, NAN),
    (10**400, 10**400),
    ("a", "a"),
    (None, None),
    ({"a": [1.0]}, {"a": [1]}),
    (Counter("aab"), {"a": 2, "b": 1}),
    (OrderedDict(b=1, a=2), {"a": 2, "b": 1}),
    (Two(1, 2), (1, 2)),
    ({1, 2}, {2, 1}),
]
WRONG = [
    (torch.empty(0, 1), torch.ones(3), "shape [0, 1], expected [3]"),
    (torch.tensor(1.0), torch.ones(3), "shape [], expected [3]"),
    (torch.ones(1, 3), torch.ones(3), "shape [1, 3], expected [3]"),
    (torch.ones(3).half(), torch.ones(3), "torch.float16, expected torch.float32"),
    (torch.ones(3), torch.ones(3, dtype=torch.bool), "torch.float32, expected torch.bool"),
    (torch.tensor([1.0, NAN]), torch.ones(2), "at [1]: expected 1, got nan"),
    ([1.0, 1.0], torch.ones(2), "a list, expected a tensor"),
    (torch.ones(2).to_sparse(), torch.ones(2), "a tensor of torch.sparse_coo on cpu"),
    (torch.ones(2, device="meta"), torch.ones(2), "a tensor of torch.strided on meta"),
    (True, 1, "a bool, expected a number"),
    (1, True, "an int, expected a bool"),
    ("1", 1, "a str, expected a number"),
    (1 + 0j, 1.0, "a complex, expected a number"),
    (torch.ones(1), 1.0, "a Tensor, expected a number"),
    (torch.tensor(True), 1.0, "a Tensor, expected a number"),
    (NAN, 1.0, "expected 1.0, got nan"),
    ([], [1], "size 0, expected 1"),
    ([1, 2], (1, 2), "a list, expected a tuple"),
    (iter(()), [], "a tuple_iterator, expected a list"),
    ({}, {"a": 1}, "size 0, expected 1"),
    ({"b": 1}, {"a": 1}, "'a' is missing"),
    ({"a": 2}, {"a": 1}, "at 'a': expected 1, got 2"),
    (None, "a", "a NoneType, expected a str"),
]


@pytest.mark.parametrize(("answer", "wanted"), RIGHT, ids=repr)
def test_an_equal_answer_is_right(answer, wanted):
    expect(answer, wanted, "f()")


@pytest.mark.parametrize(("answer", "wanted", "said"), WRONG, ids=[said for *_, said in WRONG])
def test_an_answer_of_another_form_is_wrong_and_the_message_says_how(answer, wanted, said):
    with pytest.raises(AssertionError) as failed:
        expect(answer, wanted, "f()", 0.1)
    assert str(failed.value) == f"f(): {said}"


def test_numbers_may_differ_by_the_tolerance_and_no_more():
    for wanted in (0.0, 100.0, -100.0):
        near = wanted + 0.9e-3 * (1 + abs(wanted))
        far = wanted + 1.1e-3 * (1 + abs(wanted))
        for kind in (float, lambda x: torch.tensor(x, dtype=torch.float64)):
            expect([kind(near)], [kind(wanted)], "f()", 1e-3)
            with pytest.raises(AssertionError, match=r"at 0: .*expected"):
                expect([kind(far)], [kind(wanted)], "f()", 1e-3)


def test_an_answers_own_methods_are_not_asked():
    class Asked(Exception):
        """One of its methods was called."""

    def asked(*_):
        raise Asked

    names = "__eq__ __ne__ __hash__ __len__ __iter__ __bool__ __float__ __getattr__ __repr__"
    answer = type("Strange", (), dict.fromkeys(names.split(), asked))()
    for wanted in (1.0, "a", None, True, [1], (1,), {"a": 1}, {1}, torch.ones(1)):
        with pytest.raises(AssertionError, match="a Strange"):
            expect(answer, wanted, "f()")


def test_of_random_numbers_only_the_form_is_compared():
    expect_form(torch.zeros(2, 3), torch.ones(2, 3), "f()")
    with pytest.raises(AssertionError, match=r"f\(\): shape \[3\], expected \[2, 3\]"):
        expect_form(torch.zeros(3), torch.ones(2, 3), "f()")


@pytest.mark.parametrize("answer", [0, 1, 0.5, np.float64(0.5), np.int64(1)])
def test_a_prediction_within_its_bounds_is_taken(answer):
    expect_number(answer, 0, 1, "f()")


@pytest.mark.parametrize(
    "answer", [-1, 1.1, NAN, float("inf"), True, "1", None, 1j, torch.tensor(1.0), [1]]
)
def test_another_prediction_is_not(answer):
    with pytest.raises(AssertionError, match=r"f\(\) gave"):
        expect_number(answer, 0, 1, "f()")
    with pytest.raises(AssertionError):
        expect_number(float("inf"), 0, float("inf"), "f()")


def test_a_prediction_of_a_name_is_one_of_the_names():
    expect_name("a", ("b", "a"), "f()")
    for answer in ("c", "", 1, ["a"], None):
        with pytest.raises(AssertionError, match=r"f\(\) gave .*, none of a, b"):
            expect_name(answer, ("b", "a"), "f()")


def test_lists_and_tuples_are_listed_and_nothing_else():
    assert listed([("a", ["b"]), Two(1, 2)]) == [["a", ["b"]], [1, 2]]
    for other in ({"a": (1,)}, "ab", {1}, None):
        assert listed(other) is other
