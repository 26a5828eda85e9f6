"""Send a call's arguments into the sandbox, and apply the changes that come back."""

import collections
import io
import pickle
import re
import weakref
from collections.abc import Iterator
from copyreg import __newobj__  # type: ignore[attr-defined]  # it exists, but is not in the type stubs
from functools import partial
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np
import torch

from course.grading.inside.frames import BadMessage
from course.grading.inside.values import ANY_FAULT, DTYPES, Decoder, bytes_of, n_writes

PLAIN = (type(None), bool, int, float, complex, str, bytes, tuple, range, type, torch.Size)
CONTAINERS = (
    *(list, dict, set, np.ndarray),
    *(collections.Counter, collections.OrderedDict, collections.defaultdict),
)
FUNCTIONS = (FunctionType, BuiltinFunctionType, MethodType)
LARGE = 2**16  # bytes; a larger tensor is sent once


class SentTensors:
    """Which large tensors the sandbox already has, and in which version."""

    def __init__(self) -> None:
        self.sent: dict[int, tuple[weakref.ref, int]] = {}  # by key: the tensor and its version
        self.keys: dict[int, int] = {}  # by id
        self.forgotten: list[int] = []
        self.last = 0

    def key_of(self, tensor: torch.Tensor) -> tuple[int, bool]:
        """The tensor's key, and whether the sandbox has its current version."""
        key = self.keys.get(id(tensor))
        if key is not None and self.sent[key][0]() is tensor:
            known = self.sent[key][1] == n_writes(tensor)
        else:
            self.last += 1
            key, known = self.last, False
        if not known:
            self.update(tensor, key)
        return key, known

    def update(self, tensor: torch.Tensor, key: int) -> None:
        """Record that the sandbox has the tensor's current version."""
        number = id(tensor)

        def gone(_: weakref.ref) -> None:
            if self.keys.get(number) == key:
                del self.keys[number]
            self.sent.pop(key, None)
            self.forgotten.append(key)

        self.keys[number] = key
        self.sent[key] = weakref.ref(tensor, gone), n_writes(tensor)

    def take_forgotten(self) -> list[int]:
        """The keys of tensors that were deleted since the last call."""
        forgotten, self.forgotten = self.forgotten, []
        return forgotten


class Sender(pickle.Pickler):
    """Pickles arguments; objects that can change or must not be copied get a number instead.

    student: gives the name of a student's function, None for any other; arguments may contain such
    functions.
    """

    def __init__(self, sent: SentTensors, student: Any) -> None:
        self.buffer = io.BytesIO()
        super().__init__(self.buffer, protocol=5)
        self.tensors, self.student = sent, student
        self.blocks: list[bytes] = []
        self.numbered: list[dict] = []  # the message's entry for each number
        self.items: list[Any] = []  # objects with a number
        self.keys: dict[int, int] = {}  # by number, of tensors
        self.containers: dict[int, Any] = {}  # by number; they are pickled, their changes tracked
        self.asked: list[Any] = []  # functions and iterators that the sandbox may call
        self.by_id: dict[int, int] = {}
        self.function = ""  # that is called
        self.raised: BaseException | None = None  # by a function of the tests, in this call
        self.collecting = True

    def message(self, positional: tuple, named: dict) -> dict:
        """The part of the call's message that is about its arguments."""
        self.dump((positional, named))
        self.collecting = False
        self.dump(list(self.containers.values()))
        first = len(self.numbered)
        # Containers are numbered after all others, whose numbers are in the pickle.
        self.arguments = [*self.items, *self.containers.values()]
        return {
            "pickle": self._block(self.buffer.getvalue()),
            "numbered": self.numbered,
            "containers": list(range(first, first + len(self.containers))),
        }

    def persistent_id(self, value: Any) -> tuple[str, Any] | None:
        """The reference for a value that is not pickled; None for one that is."""
        kind = type(value)
        if kind in PLAIN:
            return None
        if (name := self.student(value)) is not None:
            return "student", name
        if id(value) in self.by_id:
            return "numbered", self.by_id[id(value)]
        if isinstance(value, torch.Tensor):
            return self._number(value, self._tensor(value))
        if isinstance(value, torch.Generator):
            state = self._block(bytes_of(value.get_state()))
            return self._number(value, {"kind": "generator", "state": state})
        if _stays(value):
            name = getattr(value, "__name__", "function")
            return self._number(value, self._asked("function", value, name))
        if isinstance(value, Iterator):
            return self._number(value, self._asked("iterator", value, ""))
        self._track(value, kind)
        return None

    def reducer_override(self, value: Any) -> Any:
        """Optimizers pickle themselves without the attributes of subclasses."""
        if isinstance(value, torch.optim.Optimizer):
            return __newobj__, (type(value),), dict(vars(value))
        return NotImplemented

    def _track(self, value: Any, kind: type) -> None:
        """Record a value that may change and is pickled."""
        changes = kind in CONTAINERS or hasattr(value, "__dict__")
        if changes and self.collecting and not isinstance(value, (*FUNCTIONS, type)):
            self.containers.setdefault(id(value), value)

    def _number(self, value: Any, entry: dict) -> tuple[str, int]:
        self.numbered.append(entry)
        self.items.append(value)
        self.by_id[id(value)] = len(self.items) - 1
        if "key" in entry:
            self.keys[len(self.items) - 1] = entry["key"]
        return "numbered", len(self.items) - 1

    def _tensor(self, tensor: torch.Tensor) -> dict:
        key, known = self.tensors.key_of(tensor)
        entry = {
            "kind": "tensor",
            "key": key,
            "requires_grad": tensor.requires_grad,
            "parameter": isinstance(tensor, torch.nn.Parameter),
        }
        if not known or tensor.nbytes <= LARGE:
            entry["as"] = str(tensor.dtype).removeprefix("torch.")
            if entry["as"] not in DTYPES:
                raise TypeError(f"a test gives a tensor of {tensor.dtype}, which cannot be sent")
            entry["shape"] = list(tensor.shape)
            entry["block"] = self._block(bytes_of(tensor))
        if tensor.is_leaf and tensor.grad is not None:
            entry["grad"] = self._tensor(tensor.grad)
        return entry

    def _asked(self, kind: str, value: Any, name: str) -> dict:
        self.asked.append(value)
        sees = not (isinstance(value, FunctionType) and _is_alone(value))
        return {"kind": kind, "ask": len(self.asked) - 1, "name": name, "sees": sees}

    def _block(self, content: bytes) -> int:
        self.blocks.append(content)
        return len(self.blocks) - 1


def apply_changes(changes: list[dict], sender: Sender, decoder: Decoder) -> None:
    """Apply the student's function's changes of its copies to the tests' objects."""
    for change in changes:
        number = change["number"]
        try:
            item = sender.arguments[number]
            _apply(item, change, decoder)
        except ANY_FAULT as error:
            raise BadMessage(f"{type(error).__name__}: {error}") from None
        if number in sender.keys:
            sender.tensors.update(item, sender.keys[number])


def _apply(item: Any, change: dict, decoder: Decoder) -> None:
    if isinstance(item, torch.Tensor):
        _apply_to_tensor(item, change, decoder)
    elif isinstance(item, torch.Generator):
        # It advances, but not to a state that a student chooses: the tests draw from it, too.
        torch.rand(1, generator=item)
    elif isinstance(item, np.ndarray):
        np.copyto(item, decoder.decode(change["array"]))
    elif isinstance(item, dict):
        pairs = [(decoder.decode(key), decoder.decode(value)) for key, value in change["pairs"]]
        item.clear()
        item.update(pairs)
    elif isinstance(item, (list, set)):
        parts = [decoder.decode(part) for part in change["items"]]
        item.clear()
        item.extend(parts) if isinstance(item, list) else item.update(parts)
    else:
        for name, value in change["set"]:
            # No new names, and no functions: a student must not replace those of a class.
            if name in vars(item) and not callable(value := decoder.decode(value)):
                setattr(item, name, value)


def _apply_to_tensor(tensor: torch.Tensor, change: dict, decoder: Decoder) -> None:
    with torch.no_grad():
        if "tensor" in change:
            new = decoder.decode(change["tensor"])
            if new.shape != tensor.shape:
                tensor.data = new
            else:
                tensor.copy_(new)
        if "grad" in change:
            grad = decoder.decode(change["grad"])
            if tensor.is_leaf:
                tensor.grad = grad
                return
    if "grad" in change and grad is not None:
        tensor.backward(grad)  # inside the tests' graph, which continues from here


def _stays(value: Any) -> bool:
    """Whether a callable stays with the tests, so that only its calls are sent.

    Callable objects stay, because they may record their calls. A model is sent.
    """
    if isinstance(value, (*FUNCTIONS, partial)):
        return not _importable(value)
    made_here = type(value).__module__.split(".")[0] in ("bertlab", "course", "__main__")
    return callable(value) and made_here and not isinstance(value, (type, torch.nn.Module))


def _is_alone(function: FunctionType, seen: frozenset = frozenset()) -> bool:
    """Whether a function only uses its own arguments, constants and other such functions."""
    if function.__closure__ or function.__defaults__ or function.__kwdefaults__:
        return False
    for name in function.__code__.co_names:
        value = function.__globals__.get(name)
        if isinstance(value, FunctionType) and value not in seen and not _importable(value):
            if not _is_alone(value, seen | {function}):
                return False
        elif not (callable(value) or isinstance(value, (*PLAIN, ModuleType))):
            return False
    return not any(isinstance(constant, CodeType) for constant in function.__code__.co_consts)


def _importable(function: Any) -> bool:
    """Whether the sandbox can import the function by its name."""
    if isinstance(function, partial):
        return _importable(function.func)
    module = str(getattr(function, "__module__", None) or "builtins")
    known = r"(bertlab|course\.feedback|torch|builtins|math|operator|numpy)(\.|$)"
    inside = not isinstance(function, MethodType) and re.match(known, module) is not None
    return inside and "<" not in function.__qualname__
