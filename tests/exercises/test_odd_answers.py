"""A test of the hidden tests: none gives a point for an odd answer.

Every function of a task is replaced by one that returns the odd value, or an odd form of the right
answer. A hidden test fails if any of its calls has a wrong answer, also where others are right by
chance, such as an empty list for an empty one.
"""

import ast
import collections
import copy
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
import torch
from torch import Tensor

from course.grading.cells import is_solution, names_of
from course.publishing.mistakes import code_of
from tests.exercises.test_assignments import ASSIGNMENTS

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:Defining your `__torch_function"),
]


class Yes:
    """Equal to everything, true, of every length and with every attribute."""

    shape, dtype, layout, device = (2, 2), torch.float32, torch.strided, torch.device("cpu")
    __eq__ = __bool__ = __ge__ = __le__ = __gt__ = __lt__ = __contains__ = lambda *_: True
    __ne__ = lambda *_: False  # noqa: E731
    __getattr__ = __getitem__ = __call__ = __sub__ = __rsub__ = __add__ = lambda self, *_: self
    __float__ = __abs__ = __neg__ = lambda *_: 0.0
    __int__ = __len__ = __index__ = __hash__ = lambda *_: 0
    __iter__ = lambda self: iter(())  # noqa: E731


class YesTensor(Tensor):
    """A tensor for which each of PyTorch's comparisons is true."""

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        if function.__name__ in ("allclose", "equal", "eq", "isclose", "all", "__eq__", "le", "lt"):
            return True
        return super().__torch_function__(function, types, args, kwargs or {})


class YesArray(np.ndarray):
    """An array for which NumPy's functions and operators are true."""

    __array_function__ = __array_ufunc__ = lambda *_, **__: True
    __eq__ = lambda *_: True  # noqa: E731
    __hash__ = None


class ShapeLies(Tensor):
    """A tensor without numbers, of the shape of any other."""

    shape = property(lambda self: Yes())


class Text(str):
    __slots__ = ()
    __eq__ = lambda *_: True  # noqa: E731
    __hash__ = str.__hash__


class Number(float):
    __eq__ = __le__ = __ge__ = __lt__ = __gt__ = lambda *_: True
    __sub__ = __rsub__ = __abs__ = lambda *_: 0.0
    __hash__ = float.__hash__


class YesList(list):
    __eq__ = __contains__ = lambda *_: True
    __ne__ = lambda *_: False  # noqa: E731
    __len__ = lambda _: 2  # noqa: E731
    __hash__ = None


class YesDict(dict):
    __eq__ = __contains__ = lambda *_: True
    __getitem__ = lambda *_: Yes()  # noqa: E731
    __hash__ = None


def generator(*items):
    yield from items


ZERO = torch.zeros
# What the function returns whatever it is given; made for each call.
FIXED = {
    "None": lambda: None,
    "...": lambda: ...,
    "NotImplemented": lambda: NotImplemented,
    "True": lambda: True,
    "False": lambda: False,
    "0.0": lambda: 0.0,
    "-1": lambda: -1,
    "nan": lambda: float("nan"),
    "inf": lambda: float("inf"),
    "-inf": lambda: float("-inf"),
    "a complex number": lambda: 1j,
    "a fraction": lambda: Fraction(1, 2),
    "a huge number": lambda: -(10**400),
    "NumPy's nan": lambda: np.float64("nan"),
    "NumPy's True": lambda: np.True_,
    "NumPy's complex": lambda: np.complex64(1),
    "no text": lambda: "",
    "a text": lambda: "frequency ppmi 0.5",
    "a text of a number": lambda: "1",
    "bytes": lambda: b"",
    "an empty list": list,
    "an empty tuple": tuple,
    "an empty dict": dict,
    "an empty set": set,
    "an empty frozenset": frozenset,
    "a list of None": lambda: [None, None, None],
    "a tuple of two None": lambda: (None, None),
    "a tuple of two empty dicts": lambda: ({}, {}),
    "a list in itself": lambda: (items := [], items.append(items))[0],
    "a list of nan": lambda: [float("nan")] * 2,
    "a tuple of nan": lambda: (float("nan"),) * 3,
    "an empty range": lambda: range(0),
    "an iterator without items": lambda: iter(()),
    "a generator that ends at once": lambda: generator(),
    "a generator of None": lambda: generator(None, None),
    "an iterator of many": lambda: iter(range(1_000)),
    "a map of nothing": lambda: map(float, ()),
    "a zip of nothing": lambda: zip((), (), strict=True),
    "a Counter": collections.Counter,
    "a dict with a default": lambda: collections.defaultdict(float),
    "a dict with a default that equals all": lambda: collections.defaultdict(Yes),
    "a deque": collections.deque,
    "a class": lambda: Yes,
    "a function": lambda: lambda *arguments, **named: None,
    "an exception": lambda: ValueError("1"),
    "an object that equals all": Yes,
    "a text that equals all": lambda: Text("x"),
    "a number that equals all": lambda: Number(1),
    "a list that equals all": YesList,
    "a dict that equals all": YesDict,
    "a tuple of two that equal all": lambda: (Yes(), Yes()),
    "an empty tensor": lambda: torch.empty(0),
    "an empty column": lambda: torch.empty(0, 1),
    "an empty row": lambda: torch.empty(1, 0),
    "an empty integer tensor": lambda: torch.empty(0, dtype=torch.long),
    "an empty Boolean tensor": lambda: torch.empty(0, dtype=torch.bool),
    "a tensor without dimensions": lambda: torch.tensor(-1.0),
    "True as a tensor": lambda: torch.tensor(True),
    "one number in many dimensions": lambda: ZERO(1, 1, 1, 1),
    "nan as a tensor": lambda: torch.tensor(float("nan")),
    "inf as a tensor": lambda: torch.tensor([float("inf")]),
    "a complex tensor": lambda: ZERO(2, 2, dtype=torch.complex64),
    "a sparse tensor": lambda: ZERO(2, 2).to_sparse(),
    "a meta tensor": lambda: torch.empty(2, 2, device="meta"),
    "a tensor that needs a gradient": lambda: torch.tensor(float("nan"), requires_grad=True),
    "a tensor that equals all": lambda: ZERO(2, 2).as_subclass(YesTensor),
    "a tensor whose shape lies": lambda: ZERO(0).as_subclass(ShapeLies),
    "an empty array": lambda: np.empty((0, 1)),
    "an array without dimensions": lambda: np.array(-1.0),
    "an array of objects": lambda: np.array([Yes(), Yes()], dtype=object),
    "a masked array": lambda: np.ma.masked_all((2, 2)),
    "the masked number": lambda: np.ma.masked,
    "an array that equals all": lambda: np.zeros((2, 2)).view(YesArray),
    "a record": lambda: np.zeros(2, dtype=[("a", "f4")]),
    "the interpreter's builtins": lambda: __builtins__,
}


def spread(change, value):
    """`change` for each tensor, also inside lists and tuples; others stay as they are."""
    if isinstance(value, Tensor):
        return change(value)
    if type(value) in (list, tuple):
        return type(value)(spread(change, item) for item in value)
    return value


def numbers(change, value):
    """`change` for each number that is no bool, also inside lists, tuples and dicts."""
    if isinstance(value, dict):
        return {key: numbers(change, item) for key, item in value.items()}
    if type(value) in (list, tuple):
        return type(value)(numbers(change, item) for item in value)
    return change(value) if type(value) in (int, float) else value


FIRST = "the first argument"
# What the function makes of its right answer; a hidden test whose answers stay is not counted.
FORMS = {
    "one more dimension": partial(spread, lambda x: x[None]),
    "a copy more": partial(spread, lambda x: x.expand(2, *x.shape)),
    "no first row": partial(spread, lambda x: x[:0] if x.dim() else x[None][:0]),
    "half precision": partial(spread, lambda x: x.half()),
    "complex": partial(spread, lambda x: x.to(torch.complex128)),
    "sparse": partial(spread, lambda x: x.detach().to_sparse() if x.dim() else x[None]),
    "a tensor without numbers": partial(spread, lambda x: x.to("meta")),
    "nested lists": partial(spread, lambda x: x.tolist()),
    "a masked array, all hidden": partial(
        spread, lambda x: np.ma.masked_all(x.shape, x.detach().numpy().dtype)
    ),
    "a subclass": partial(spread, lambda x: x.detach().as_subclass(YesTensor)),
    "numbers as tensors of one row": partial(numbers, lambda x: torch.tensor([x])),
    "numbers as texts": partial(numbers, str),
    "its generator": lambda x: generator(*x) if type(x) in (list, tuple) else x,
    "its list twice": lambda x: x if x is None else [x, x],
    FIRST: None,
}
assert len(FIXED) + len(FORMS) >= 82


class NotOdd(BaseException):
    """The form leaves such an answer as it is."""


def odd(kind, right):
    """The student's function with this kind of odd answer; raises NotOdd if it is a usual one."""
    calls = []

    def function(*arguments, **named):
        if kind in FIXED:
            return FIXED[kind]()
        if kind == FIRST:
            return arguments[0] if arguments else ()
        answer = right(*arguments, **named)
        changed = FORMS[kind](answer)
        calls.append(kind)
        if len(calls) == 1 and repr(changed) == repr(answer):
            raise NotOdd
        return changed

    function.__name__, function.__module__ = right.__name__, "__main__"
    return function


def caught_and_passed(hidden, scope, names):
    """The kinds of odd answers of these functions that fail in the hidden test, and the others."""
    caught, passed = [], []
    functions = [scope[name] for name in names if callable(scope[name])]
    for kind in [*FIXED, *FORMS]:
        replaced = {function.__name__: odd(kind, function) for function in functions}
        try:
            exec(hidden, copy.copy(scope) | replaced)
        except NotOdd:
            continue
        except Exception:
            caught.append(kind)
        else:
            passed.append(kind)
    return caught, passed


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_no_hidden_test_gives_a_point_for_an_odd_answer(assignment, record_property):
    scope, caught, passed, functions = {"__name__": "__main__"}, {}, {}, {}
    for cell, code in code_of(assignment):
        if is_solution(cell):
            functions[f"hidden-{cell.id}"] = sorted(names_of(cell.source).defined)
        if cell.id in functions:
            found = caught_and_passed(code, scope, functions[cell.id])
            caught[cell.id], passed[cell.id] = found
        if not cell.id.startswith("test-"):
            exec(code, scope)
    n_odd = sum(map(len, caught.values()))
    record_property(
        "counted", f"{assignment}: {n_odd} odd answers to {len(caught)} tests, no point"
    )
    assert {test: kinds for test, kinds in passed.items() if kinds} == {}
    assert min(map(len, caught.values())) >= len(FIXED)


LOOSE = {"allclose", "isclose", "assert_close", "array_equal", "array_equiv", "approx"}


def loose_comparisons(source):
    """Comparisons that are true of nothing, that broadcast, or that ask the answer's own class."""
    for node in ast.walk(ast.parse(source)):
        if getattr(node, "attr", getattr(node, "id", "")) in LOOSE:
            yield ast.unparse(node)
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "all":
            yield from [ast.unparse(node)] * ("zip(" in ast.unparse(node))
        elif isinstance(node, ast.Assert) and isinstance(node.test, ast.Compare):
            sides = {ast.unparse(node.test.left), *map(ast.unparse, node.test.comparators)}
            yield from [ast.unparse(node.test)] * ("_answer" in sides and _is_eq(node.test))


def _is_eq(compared):
    return any(isinstance(kind, (ast.Eq, ast.In)) for kind in compared.ops)


def test_loose_comparisons_are_found():
    for loose in (
        "assert np.allclose(_answer, _wanted)",
        "from math import isclose\nassert isclose(_answer, 1)",
        "assert _answer == _wanted, 'no'",
        "assert _wanted == _answer",
        "assert _answer in ('a', 'b')",
        "assert all(a == b for a, b in zip(_answer, _wanted, strict=True))",
    ):
        assert list(loose_comparisons(loose)), loose
    assert not list(loose_comparisons("_expect(_answer, _wanted, 'f')\nassert _given == _before"))


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_hidden_tests_compare_by_the_kits_rule(assignment):
    hidden = [cell for cell, _ in code_of(assignment) if cell.id.startswith("hidden-")]
    found = {cell.id: list(loose_comparisons(cell.source)) for cell in hidden}
    assert {name: loose for name, loose in found.items() if loose} == {}, "use `expect`"
