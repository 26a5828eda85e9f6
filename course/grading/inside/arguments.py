"""A call's arguments in the sandbox, and their changes by the student's function.

They arrive as a pickle from the tests, which are trusted; it may be opened only in the sandbox.
Tensors, generators and functions are sent beside it, by number: a large tensor is sent once, and
changes can be detected and sent back.
"""

import io
import pickle
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

import numpy as np
import torch

from course.grading.inside.values import DTYPES, Encoder, bytes_of, n_writes, tensor_of

CONTAINERS = (list, dict, set)
COMPARED_BYTES = 2**18  # for larger tensors, only PyTorch's own count of changes is used


class _Unpickler(pickle.Unpickler):
    def __init__(self, pickled: bytes, numbered: dict[int, Any], function: Callable) -> None:
        super().__init__(io.BytesIO(pickled))
        self.numbered, self.function = numbered, function

    def persistent_load(self, reference: tuple[str, Any]) -> Any:
        kind, number = reference
        return self.function(number) if kind == "student" else self.numbered[number]


class Arguments:
    """The arguments of one call.

    call: the message of the call, `blocks` with its bytes; tensors: those of earlier calls,
    by key; ask: calls a function of the tests, or takes the next item of an iterator;
    function: the student's function of a name.
    """

    def __init__(
        self,
        call: dict,
        blocks: list[bytes],
        tensors: dict[int, torch.Tensor],
        ask: Callable,
        function: Callable,
    ) -> None:
        self.tensors = tensors
        self.ask = lambda *asked: ask(self, *asked)
        self.numbered = {
            number: self._made(entry, blocks) for number, entry in enumerate(call["numbered"])
        }
        unpickler = _Unpickler(blocks[call["pickle"]], self.numbered, function)
        self.positional, self.named = unpickler.load()
        tracked = unpickler.load()  # the same objects again, in the order of their numbers
        self.containers = dict(zip(call["containers"], tracked, strict=True))
        # The number of each argument, and of each of their parts, by `id`.
        self.known = {id(item): n for n, item in {**self.numbered, **self.containers}.items()}
        self.before: dict[int, Any] = {}
        self.note()

    def note(self) -> None:
        """Record the state; later changes are reported."""
        self.before = {n: _snapshot(item) for n, item in self._changeable().items()}

    def gradients(self) -> dict[int, torch.Tensor]:
        """The tensors that a result's gradient may reach, by number."""
        tensors = self.numbered.items()
        return {n: t for n, t in tensors if isinstance(t, torch.Tensor) and t.requires_grad}

    def changes(self, encoder: Encoder) -> list[dict]:
        """All changes, as plain data."""
        found = []
        for number, item in self._changeable().items():
            if change := _change(item, self.before[number], encoder):
                found.append({"number": number, **change})
        return found

    def _changeable(self) -> dict[int, Any]:
        kinds = (torch.Tensor, torch.Generator)
        numbered = {n: item for n, item in self.numbered.items() if isinstance(item, kinds)}
        return numbered | self.containers

    def _made(self, entry: dict, blocks: list[bytes]) -> Any:
        if entry["kind"] == "tensor":
            return self._tensor(entry, blocks)
        if entry["kind"] == "generator":
            generator = torch.Generator()
            state = blocks[entry["state"]]
            generator.set_state(tensor_of(state, torch.uint8, [len(state)]).clone())
            return generator
        if entry["kind"] == "iterator":
            return self._items(entry["ask"])
        number, sees = entry["ask"], entry["sees"]
        return _named(lambda *a, **k: self.ask(number, sees, a, k), entry["name"])

    def _tensor(self, entry: dict, blocks: list[bytes]) -> torch.Tensor:
        if "block" in entry:
            tensor = tensor_of(blocks[entry["block"]], DTYPES[entry["as"]], entry["shape"])
            tensor = tensor.clone()  # in PyTorch's own, aligned memory
            if entry["parameter"]:
                tensor = torch.nn.Parameter(tensor, requires_grad=False)
            self.tensors[entry["key"]] = tensor
        tensor = self.tensors[entry["key"]]
        tensor.requires_grad_(entry["requires_grad"])
        tensor.grad = self._tensor(entry["grad"], blocks) if "grad" in entry else None
        return tensor

    def _items(self, number: int) -> Iterator[Any]:
        while True:
            try:
                yield self.ask(number, True, (), {})
            except StopIteration:
                return


def _named(function: Callable, name: str) -> Callable:
    function.__name__ = name
    return function


def _snapshot(item: Any) -> Any:
    """Enough to detect later whether the item has changed."""
    if isinstance(item, torch.Tensor):
        small = item.nbytes <= COMPARED_BYTES
        content = bytes_of(item) if small else None
        return n_writes(item), content, tuple(item.shape), _grad_of(item)
    if isinstance(item, torch.Generator):
        return bytes_of(item.get_state())
    if isinstance(item, np.ndarray):
        return item.tobytes()
    if isinstance(item, dict):
        return list(chain.from_iterable(item.items()))
    return list(item) if isinstance(item, CONTAINERS) else dict(vars(item))


def _grad_of(tensor: torch.Tensor) -> bytes | None:
    grad = tensor.grad if tensor.is_leaf else None
    return None if grad is None else bytes_of(grad)


def _change(item: Any, before: Any, encoder: Encoder) -> dict | None:
    if isinstance(item, torch.Tensor):
        return _tensor_change(item, before, encoder)
    if isinstance(item, torch.Generator):
        return None if bytes_of(item.get_state()) == before else {"drawn": True}
    if isinstance(item, np.ndarray):
        return None if item.tobytes() == before else {"array": _fresh(encoder, item)}
    if isinstance(item, dict):
        now = list(chain.from_iterable(item.items()))
        if _alike(now, before):
            return None
        return {"pairs": [[encoder.encode(key), encoder.encode(item[key])] for key in item]}
    if isinstance(item, CONTAINERS):
        same = set(map(id, item)) == set(map(id, before)) if isinstance(item, set) else None
        if same or (same is None and _alike(item, before)):
            return None
        return {"items": [encoder.encode(part) for part in item]}
    now = vars(item)
    changed = {name for name in now if name not in before or now[name] is not before[name]}
    return (
        {"set": [[name, encoder.encode(now[name])] for name in sorted(changed)]}
        if changed
        else None
    )


def _tensor_change(tensor: torch.Tensor, before: tuple, encoder: Encoder) -> dict | None:
    version, content, shape, grad = before
    change: dict = {}
    now = bytes_of(tensor) if content is not None else None
    written = n_writes(tensor) != version if content is None else now != content
    if written or tensor.shape != shape:
        change["tensor"] = _fresh(encoder, tensor.detach())
    if _grad_of(tensor) != grad:
        change["grad"] = None if tensor.grad is None else _fresh(encoder, tensor.grad.detach())
    return change or None


def _fresh(encoder: Encoder, value: Any) -> Any:
    """The value itself, not "argument 3", since that has changed."""
    known, encoder.known = encoder.known, {}
    try:
        return encoder.encode(value)
    finally:
        encoder.known = known


def _alike(now: Any, before: Any) -> bool:
    return len(now) == len(before) and all(a is b for a, b in zip(now, before, strict=True))
