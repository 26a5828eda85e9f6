"""The comparison of hidden tests: first type, shape, dtype and size, and only then numbers.

`np.allclose` is true of nothing, `==` asks the answer's own class, and both broadcast. So hidden
tests compare with `expect` alone, which asks an answer nothing before it knows its exact type.
"""

from collections import Counter, OrderedDict, defaultdict
from collections.abc import Collection
from math import inf, isclose, isnan
from typing import Any

import numpy as np
import torch
from torch import Tensor

from course.feedback.differences import a, short

MAPPINGS = (dict, Counter, OrderedDict, defaultdict)


def expect(answer: Any, wanted: Any, what: str, within: float = 0.0) -> None:
    """Raise an AssertionError unless the answer is `wanted`; `what` names the call.

    Numbers may differ by `within * (1 + abs(wanted))`. A number may be Python's, NumPy's or a
    tensor of shape []; a dict may be a Counter, but a list may not be a tuple (see `listed`).
    """
    if found := unlike(answer, wanted, within):
        raise AssertionError(f"{what}: {found}")


def expect_form(answer: Any, wanted: Tensor, what: str) -> None:
    """As `expect`, but of a tensor's shape and dtype only, as for random numbers."""
    if found := other_form(answer, wanted):
        raise AssertionError(f"{what}: {found}")


def expect_number(answer: Any, lowest: float, highest: float, what: str) -> None:
    """Raise an AssertionError unless a prediction is a finite number within these bounds."""
    if not is_number(answer) or not lowest <= answer <= highest or abs(answer) == inf:
        raise AssertionError(f"{what} gave {short(answer)}, not a number in [{lowest}, {highest}]")


def expect_name(answer: Any, names: Collection[str], what: str) -> None:
    """Raise an AssertionError unless a prediction is one of these names."""
    if type(answer) is not str or answer not in names:
        raise AssertionError(f"{what} gave {short(answer)}, none of {', '.join(sorted(names))}")


def listed(answer: Any) -> Any:
    """The same with a list for each list or tuple, for tests that take either.

    >>> listed([("a", "b"), ["c"]])
    [['a', 'b'], ['c']]
    """
    is_one = type(answer) is list or isinstance(answer, tuple)  # also a NamedTuple
    return list(map(listed, answer)) if is_one else answer


def unlike(answer: Any, wanted: Any, within: float = 0.0) -> str:
    """How an answer differs, or "".

    >>> unlike(torch.zeros(0, 1), torch.zeros(3)), unlike([1.0], [1.5], 0.1)
    ('shape [0, 1], expected [3]', 'at 0: expected 1.5, got 1.0')
    """
    if isinstance(wanted, Tensor):
        return other_form(answer, wanted) or _other_numbers(answer, wanted, within)
    if is_number(wanted):
        return _other_number(answer, wanted, within)
    if isinstance(wanted, MAPPINGS):
        return _other_items(answer, wanted, within) if type(answer) in MAPPINGS else a(answer)
    is_tuple = isinstance(wanted, tuple) and isinstance(answer, tuple)  # also a NamedTuple
    if type(answer) is not type(wanted) and not is_tuple:
        return f"{a(answer)}, expected {a(wanted)}"
    if isinstance(wanted, (list, tuple)):
        return _other_items(dict(enumerate(answer)), dict(enumerate(wanted)), within)
    return "" if answer == wanted else f"expected {short(wanted)}, got {short(answer)}"


def is_number(value: Any) -> bool:
    """Whether a value is a real number of Python's or NumPy's own class; True is none."""
    numpys = isinstance(value, (np.integer, np.floating)) and type(value).__module__ == "numpy"
    return type(value) in (int, float) or numpys


def other_form(answer: Any, wanted: Tensor) -> str:
    """How the form of a tensor differs: its type, shape or dtype; or ""."""
    if type(answer) not in (Tensor, torch.nn.Parameter):
        return f"{a(answer)}, expected a tensor"
    if answer.layout is not torch.strided or answer.device != wanted.device:
        return f"a tensor of {answer.layout} on {answer.device}"
    if answer.shape != wanted.shape:
        return f"shape {list(answer.shape)}, expected {list(wanted.shape)}"
    return "" if answer.dtype == wanted.dtype else f"{answer.dtype}, expected {wanted.dtype}"


def _other_numbers(answer: Tensor, wanted: Tensor, within: float) -> str:
    close = torch.isclose(answer.detach(), wanted, rtol=within, atol=within, equal_nan=True)
    if close.all():
        return ""
    place = (~close).nonzero()[0].tolist()
    one, other = wanted[tuple(place)].item(), answer[tuple(place)].item()
    return f"at {place}: expected {one:.6g}, got {other:.6g}"


def _other_number(answer: Any, wanted: float, within: float) -> str:
    is_tensor = type(answer) is Tensor and answer.shape == () and answer.device.type == "cpu"
    number = answer.item() if is_tensor else answer
    if not is_number(number):
        return f"{a(answer)}, expected a number"
    same = number == wanted or (isnan(number) and isnan(wanted))
    same |= within > 0 and isclose(number, wanted, rel_tol=0, abs_tol=within * (1 + abs(wanted)))
    return "" if same else f"expected {wanted}, got {number}"


def _other_items(answer: dict, wanted: dict, within: float) -> str:
    if len(answer) != len(wanted):
        return f"size {len(answer)}, expected {len(wanted)}"
    for key, value in wanted.items():
        if key not in answer:
            return f"{short(key)} is missing"
        if found := unlike(answer[key], value, within):
            return f"at {short(key)}: {found}"
    return ""
