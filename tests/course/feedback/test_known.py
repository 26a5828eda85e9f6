"""Recognising a mistake by its value."""

import json
import math
from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from course.feedback import known
from course.feedback.known import form_of, is_one, sentence_for

LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(), inner, max_size=4)
    ),
    max_leaves=12,
)


@pytest.mark.slow
@given(VALUES)
def test_a_value_is_itself_also_after_a_file(value):
    form = form_of(value)
    assert is_one(form, form)
    assert is_one(json.loads(json.dumps(form)), form)


@given(VALUES, VALUES)
def test_values_of_another_type_are_others(one, other):
    assert not is_one(form_of([one]), form_of((one,)))
    assert not is_one(form_of([one, other]), form_of([one]))
    assert not is_one(form_of(one), form_of([one]))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a": 1, "b": 2}, Counter({"b": 2, "a": 1})),
        ({3, 1}, {1, 3}),
        (np.float64(0.5), 0.5),
        (torch.ones(3, 30), torch.ones(3, 30, dtype=torch.float64)),
        (torch.tensor([math.nan, 1.0]), torch.tensor([math.nan, 1.00001])),
        (1.0, 1.00000001),
        (b"ab", b"ab"),
    ],
)
def test_these_are_one(one, other):
    assert is_one(form_of(one), form_of(other), 2e-4 if isinstance(one, torch.Tensor) else 0)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, True),
        (1, "1"),
        (0, None),
        (1000, 1001),
        (0.5, 0.5005),
        ("a", ["a"]),
        ({"a": 1}, {"a": 2}),
        ({"a": 1}, {"b": 1}),
        (torch.ones(2, 3), torch.ones(3, 2)),
        (torch.arange(60.0), torch.arange(60.0).where(torch.arange(60) < 59, -1)),
        (torch.zeros(2), [0.0, 0.0]),
        (b"ab", b"ba"),
    ],
)
def test_these_are_two(one, other):
    assert not is_one(form_of(one), form_of(other), 2e-4)
    assert not is_one(form_of(other), form_of(one), 2e-4)


def test_a_shape_stands_for_every_tensor_of_it_after_the_single_values(monkeypatch):
    values = {
        "sentences": ["ones", "two columns"],
        "checks": {"f": {"2": [[form_of(torch.ones(1, 2)), 0], [{"shape": [1, 2]}, 1]]}},
    }
    monkeypatch.setattr(known, "values_of", lambda _: values)
    assert sentence_for("ex", "f", 2, torch.ones(1, 2)) == "ones"
    assert sentence_for("ex", "f", 2, torch.zeros(1, 2)) == "two columns"
    assert sentence_for("ex", "f", 2, torch.zeros(2)) == ""
    assert sentence_for("ex", "f", 1, torch.ones(1, 2)) == ""
    assert sentence_for("ex", "g", 2, torch.ones(1, 2)) == ""


def test_an_answer_that_cannot_be_compared_is_no_known_mistake(monkeypatch):
    values = {"sentences": ["half"], "checks": {"f": {"1": [[0.5, 0], [[[]], 0]]}}}
    monkeypatch.setattr(known, "values_of", lambda _: values)
    endless = []
    endless.append(endless)
    assert sentence_for("ex", "f", 1, endless) == ""
    assert sentence_for("ex", "f", 1, 10**400, 2e-4) == ""
    assert sentence_for("ex", "f", 1, 0.5) == "half"


def test_an_exercise_without_values_knows_none():
    assert known.values_of("ex99_nothing") == {"sentences": [], "checks": {}}
