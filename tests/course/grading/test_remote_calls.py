"""Calls into the sandbox: transfer of values, and forged replies of a sandbox."""

import collections
import contextlib
import math
import os
import random
import socket
import struct
import threading
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as some

from bertlab.model.attention import HeadWeights
from course.experiments.labels import Example
from course.feedback.watch import LibraryUsed, NeverEnds, Watch
from course.grading import remote
from course.grading.errors import Stopped
from course.grading.inside.frames import BadMessage, Channel, Closed, Late
from course.grading.inside.values import DTYPES, Decoder, Encoder
from course.grading.outputs import safe_outputs
from course.grading.remote import Student
from course.grading.sandbox import Sandbox
from course.grading.sending import SentTensors
from course.settings import Limits
from tests.course.grading.hostile import lies

pytestmark = pytest.mark.slow

LIMITS = Limits(call_seconds=20)


def travelled(value):
    """The value after it was written as plain data, sent through a socket, and read."""
    encoder = Encoder({}, nothing)
    written = encoder.encode(value)
    ours, theirs = socket.socketpair()
    sender = threading.Thread(target=lambda: Channel(ours).send(written, encoder.blocks))
    sender.start()
    message, blocks = Channel(theirs).receive()
    sender.join()
    ours.close()
    theirs.close()
    return Decoder(blocks, [], nothing).decode(message)


def nothing(*arguments):
    raise AssertionError("plain data has no gradients")


def alike(a, b):
    """Equal with equal types, also inside; nan is nan, and 0 is not -0."""
    if type(a) is not type(b):
        return False
    if isinstance(a, float):
        return struct.pack("d", a) == struct.pack("d", b) or (a != a and b != b)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(alike, a, b))
    if isinstance(a, dict):
        return alike(list(a.items()), list(b.items()))
    return a == b


numbers = some.booleans() | some.integers() | some.floats()
scalars = some.none() | numbers | some.text() | some.binary()
keys = some.integers() | some.text() | some.booleans() | some.tuples(some.integers(), some.text())
plain = some.recursive(
    scalars | some.complex_numbers(allow_nan=False) | some.builds(range, some.integers(-9, 9)),
    lambda inner: (
        some.lists(inner)
        | some.lists(inner).map(tuple)
        | some.dictionaries(keys, inner)
        | some.dictionaries(keys, inner).map(collections.OrderedDict)
        | some.frozensets(keys)
        | some.sets(keys)
        | some.dictionaries(some.text(), some.integers()).map(collections.Counter)
    ),
    max_leaves=20,
)


@given(plain)
@settings(deadline=None, max_examples=80)
def test_plain_data_arrives_unchanged(value):
    assert alike(travelled(value), value)


shapes = some.lists(some.integers(0, 4), max_size=4).map(tuple)


@given(some.sampled_from(sorted(DTYPES)), shapes, some.randoms(use_true_random=False))
@settings(deadline=None, max_examples=80)
def test_tensors_arrive_unchanged(name, shape, rng):
    size = math.prod(shape) * DTYPES[name].itemsize
    content = bytes(rng.randrange(2 if name == "bool" else 256) for _ in range(size))
    tensor = torch.zeros(shape, dtype=DTYPES[name])
    if size:
        tensor = torch.frombuffer(bytearray(content), dtype=DTYPES[name]).reshape(shape)
    came = travelled(tensor)
    assert (came.dtype, came.shape) == (tensor.dtype, tensor.shape)
    assert bytes(came.reshape(-1).view(torch.uint8).tolist()) == content


@given(some.sampled_from(["?", "u1", "i4", "i8", "f2", "f4", "f8", "c8", "U3", "S2"]), shapes)
@settings(deadline=None, max_examples=50)
def test_arrays_arrive_unchanged(kind, shape):
    array = np.arange(math.prod(shape)).astype(kind).reshape(shape)
    came = travelled(array)
    assert (came.dtype, came.shape) == (array.dtype, array.shape)
    assert (came == array).all()


def test_a_tensor_is_sent_again_if_it_was_written_and_forgotten_once_it_is_gone():
    sent, table = SentTensors(), torch.zeros(3)
    key, known = sent.key_of(table)
    assert not known
    assert sent.key_of(table) == (key, True)
    table += 1
    assert sent.key_of(table) == (key, False)
    assert sent.key_of(table.clone())[0] != key
    assert sent.key_of(table) == (key, True)
    del table
    assert key in sent.take_forgotten()
    assert sent.take_forgotten() == []


def test_transposed_expanded_and_conjugated_tensors_arrive():
    base = torch.arange(12.0).reshape(3, 4)
    conjugated = torch.view_as_complex(base.reshape(6, 2)).conj()
    for tensor in (base.T, base[:, ::2], base[0].expand(5, 4), conjugated):
        assert torch.equal(travelled(tensor), tensor)
    assert travelled(torch.Size([2, 3])) == torch.Size([2, 3])
    assert alike(travelled(np.float32(2.5)).item(), 2.5)


class Pair(NamedTuple):
    first: int
    second: str


def test_the_librarys_named_tuples_keep_their_class_and_others_become_tuples():
    weights = HeadWeights(*(torch.full((2,), float(n)) for n in range(6)))
    came = travelled([weights, Example("a", "b"), Pair(1, "a")])
    assert list(map(type, came)) == [HeadWeights, Example, tuple]
    assert all(map(torch.equal, came[0], weights))
    assert came[1:] == [Example("a", "b"), (1, "a")]


class EqualsAll:
    __eq__ = lambda self, other: True  # noqa: E731
    __hash__ = None

    def __reduce__(self):
        return os._exit, (7,)

    def __repr__(self):
        raise ValueError


class Text(str):
    __slots__ = ()
    __eq__ = EqualsAll.__eq__
    __hash__ = str.__hash__


FOREIGN = {
    "an object": EqualsAll(),
    "a class": EqualsAll,
    "a subclass of str": Text("x"),
    "objects": np.array([EqualsAll()], dtype=object),
    "a sparse tensor": torch.ones(2).to_sparse(),
    "a function": len,
    "an object with a call": SimpleNamespace,
    "an iterator": iter([1]),
    "a generator": (item for item in [1]),
}


@pytest.mark.parametrize("value", FOREIGN.values(), ids=FOREIGN)
def test_values_without_a_plain_form_equal_nothing(value):
    came = travelled([value])[0]
    assert came not in (1, "x")
    assert not isinstance(came, (str, torch.Tensor, np.ndarray))
    assert isinstance(repr(came), str)


# Calls into a real process, without bubblewrap: the same code.


CELL = """
import numpy, random, torch
def scaled(x, factor): return (x * factor).sum(dim=-1), x.detach()
def changes(items, table, numbers, tensor):
    items.append("new"); items[0] = [1, 2]
    table["new"] = 7; table.pop("old")
    numbers[1] = 9; tensor.mul_(2)
    return items
def draws(generator): return torch.randn(3, generator=generator), torch.rand(2)
def shakes(tensor): tensor.add_(torch.rand(2))
def loads(): torch.manual_seed(11)
def seeds(kind): {"random": random, "numpy": numpy.random}[kind].seed(7)
def seeds_its_own(): return random.Random(7).random() + numpy.random.default_rng(7).random()
def steps(model, optimizer, x):
    loss = model(x).square().mean()
    optimizer.zero_grad(); loss.backward(); optimizer.step()
    return loss.item()
def backward_only(model, x): model(x).sum().backward()
def counts(n): yield from range(n)
def adder(n): return lambda m: n + m
def loses_a_function(function): return function(lambda: 1, iter([1]))
def applies(function, values): return [function(value) for value in values]
def takes(items): return sum(items)
class Own(IndexError): pass
def raises(kind): raise {"value": ValueError, "key": KeyError, "own": Own}[kind]("said", 3)
def library(x): return x.softmax(dim=-1)
def endless():
    while True:
        pass
def no_gradient(): return torch.is_grad_enabled(), torch.is_inference_mode_enabled()
"""
CHANGING = frozenset({"changes", "steps", "backward_only", "shakes"})


@pytest.fixture(scope="module")
def student():
    sandbox = Sandbox(LIMITS, sandboxed=False)
    sandbox.prepare([])
    student = Student(sandbox, LIMITS, CHANGING)
    student.start()
    reply = student.run(CELL)
    assert not reply.error, reply.text
    yield student
    sandbox.stop()
    sandbox.close()


@pytest.fixture
def local():
    """The same functions here."""
    scope = {}
    exec(CELL, scope)
    return scope


def test_gradients_through_a_call_equal_local_ones(student, local):
    x = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
    factor = torch.randn(4, dtype=torch.float64, requires_grad=True)
    weights, grads = torch.randn(3, dtype=torch.float64), []
    for function in (student.function("scaled"), local["scaled"]):
        total, shown = function(x, factor)
        assert not shown.requires_grad
        grads.append(torch.autograd.grad((total * weights).sum(), (x, factor)))
    assert all(map(torch.equal, *grads))
    assert torch.autograd.gradcheck(lambda x, f: student.function("scaled")(x, f)[0], (x, factor))


@pytest.mark.parametrize("requested", [True, False])
def test_requested_changes_of_arguments_arrive_and_others_do_not(requested, student, monkeypatch):
    monkeypatch.setattr(student, "changing", CHANGING if requested else frozenset())
    items, table, numbers, tensor = ["old", 2], {"old": 1}, np.zeros(3), torch.ones(2)
    answer = student.function("changes")(items, table, numbers, tensor)
    seen = items, table, numbers.tolist(), tensor.tolist()
    if requested:
        assert answer is items
        assert seen == ([[1, 2], 2, "new"], {"new": 7}, [0, 9, 0], [2, 2])
    else:
        assert seen == (["old", 2], {"old": 1}, [0, 0, 0], [1, 1])
        assert student.changed == "changes"


def test_changes_arrive_also_from_a_function_that_draws_from_global_generators(student):
    tensor = torch.zeros(2)
    student.changed = ""
    student.function("shakes")(tensor)
    assert tensor.all()
    assert student.changed == ""


def test_random_numbers_are_those_of_a_local_call(student, local):
    found = []
    for function in (student.function("draws"), local["draws"]):
        torch.manual_seed(5)
        found.append(function(torch.Generator().manual_seed(3)))
    assert all(map(torch.equal, *found))


def test_a_generator_advances_by_the_draws_and_cannot_be_set(student):
    generator = torch.Generator().manual_seed(3)
    torch.manual_seed(5)
    before = generator.get_state(), torch.get_rng_state()
    student.function("takes")([1])
    assert torch.equal(before[1], torch.get_rng_state())
    student.function("draws")(generator)
    assert not torch.equal(before[0], generator.get_state())
    assert not torch.equal(before[1], torch.get_rng_state())
    torch.manual_seed(5)
    student.function("loads")()
    rolled = torch.rand(3)
    torch.manual_seed(11)
    assert not torch.equal(rolled, torch.rand(3))


def test_a_function_that_seeds_global_generators_is_detected(student):
    def states():
        return {"random": random.getstate(), "numpy": np.random.get_state()[1].tolist()}

    before = states()
    student.function("seeds_its_own")()
    assert states() == before
    for kind in before:
        before = states()
        student.function("seeds")(kind)
        assert [name for name, now in states().items() if now != before[name]] == [kind]


@pytest.mark.parametrize("kind", [torch.optim.SGD, torch.optim.AdamW])
def test_an_optimizer_steps_as_it_does_here(kind, student, local):
    models = []
    for function in (student.function("steps"), local["steps"]):
        torch.manual_seed(0)
        model = torch.nn.Linear(3, 2)
        optimizer = kind(model.parameters(), lr=0.1)
        losses = [function(model, optimizer, torch.ones(4, 3)) for _ in range(3)]
        models.append((*model.state_dict().values(), torch.tensor(losses)))
    assert all(torch.allclose(a, b) for a, b in zip(*models, strict=True))


def test_gradients_that_a_function_leaves_arrive(student):
    model = torch.nn.Linear(3, 2)
    student.function("backward_only")(model, torch.ones(4, 3))
    assert model.weight.grad.tolist() == [[4.0] * 3] * 2


def test_a_students_function_or_iterator_stays_in_the_sandbox(student):
    for name, kind in (("counts", "generator"), ("adder", "function")):
        came = student.function(name)(4)
        assert type(came).__name__ == kind
        assert not callable(came)
        assert not hasattr(came, "__iter__")
    given = []
    student.function("loses_a_function")(lambda *arguments: given.extend(arguments))
    assert [type(one).__name__ for one in given] == ["function", "list_iterator"]
    assert not any(map(callable, given))


def test_iterators_and_functions_of_the_tests_work_in_the_sandbox(student):
    assert student.function("applies")(lambda value: value + 1, [1, 2]) == [2, 3]
    assert student.function("takes")(iter([1, 2, 3])) == 6
    assert student.function("applies")(student.function("takes"), [[1], [2, 3]]) == [1, 5]


def test_errors_come_with_their_class_and_text(student):
    for kind, error, name in (
        ("value", ValueError, "ValueError"),
        ("key", KeyError, "KeyError"),
        ("own", IndexError, "Own"),
    ):
        with pytest.raises(error) as caught:
            student.function("raises")(kind)
        assert (type(caught.value).__name__, caught.value.args) == (name, ("said", 3))
    with pytest.raises(NameError, match="missing"):
        student.function("missing")()


def test_traces_of_the_grader_also_apply_in_the_sandbox(student):
    with pytest.raises(LibraryUsed), Watch(ready_made=("softmax",)):
        student.function("library")(torch.ones(2))
    with pytest.raises(NeverEnds), Watch(most_lines=10_000):
        student.function("endless")()
    assert student.function("takes")([1]) == 1


def test_no_grad_also_applies_in_the_sandbox(student):
    assert student.function("no_gradient")() == (True, False)
    with torch.no_grad():
        assert student.function("no_gradient")() == (False, False)
    with torch.inference_mode():
        assert student.function("no_gradient")() == (False, True)


# A compromised sandbox, simulated by a thread that sends the row's reply.


class Liar:
    """Simulates a sandbox: it sends the same reply to each request."""

    process = SimpleNamespace(pid=0)

    def __init__(self, answer):
        self.answer = answer

    def fork(self):
        ours, theirs = socket.socketpair()
        threading.Thread(target=self._serve, args=(theirs,), daemon=True).start()
        return ours

    def _serve(self, connection):
        channel = Channel(connection)
        with contextlib.suppress(Closed, OSError):
            while True:
                channel.receive()
                if isinstance(self.answer, bytes):
                    connection.sendall(self.answer)
                else:
                    channel.send(*self.answer)


@pytest.fixture
def lied_to(monkeypatch):
    """A function that makes a student with forged replies and a short time limit."""
    monkeypatch.setattr(remote, "PATIENCE", 0.2)

    def made(answer):
        student = Student(Liar(answer), Limits(call_seconds=0.5, output_kb=20))
        student.start()
        return student

    return made


def as_answer(message, blocks=()):
    return {"drawn": [], "changes": [], **message}, [b"the first block", *blocks]


@pytest.mark.parametrize("name", lies.ANSWERS)
def test_a_forged_answer_fails_its_test_and_does_nothing_else(name, lied_to):
    student = lied_to(as_answer(*lies.ANSWERS[name]))
    given = torch.ones(2, 2)
    if name in lies.HARMLESS:
        assert not isinstance(student.function("f")(given), torch.Tensor)
    else:
        with pytest.raises((Stopped, Exception)) as caught:
            student.function("f")(given)
        assert not isinstance(caught.value, (SystemExit, KeyboardInterrupt))
    assert given.tolist() == [[1, 1], [1, 1]]


@pytest.mark.parametrize("name", lies.CHANGES)
def test_a_forged_change_does_not_reach_the_tests(name, lied_to):
    student = lied_to(as_answer({"changes": [lies.CHANGES[name]], "value": 1}, [bytes(16)]))
    given = torch.ones(2, 2, requires_grad=name == "of a gradient")
    with contextlib.suppress(Stopped):
        student.function("f")(given)
    assert given.tolist() == [[1, 1], [1, 1]]
    assert given.grad is None


@pytest.mark.parametrize("name", lies.BYTES)
def test_bytes_that_are_no_message_end_the_process_in_time(name, lied_to):
    student = lied_to(lies.BYTES[name])
    with pytest.raises(Stopped, match=r"its answer cannot be read|stopped after 0\.5 s"):
        student.function("f")(1)
    assert not student.alive


@pytest.mark.parametrize("name", lies.CELLS)
def test_a_forged_answer_of_a_cell_is_checked(name, lied_to):
    student = lied_to((lies.CELLS[name], []))
    try:
        reply = student.run("pass")
    except Stopped:
        assert not student.alive
        return
    text = "".join(map(str, safe_outputs(reply.outputs, 20)))
    assert len(text.encode("utf-8")) < 100_000


def test_empty_outputs_are_not_all_inspected():
    looked_at = []

    class Empty(dict):
        def get(self, *arguments):
            looked_at.append(1)
            return super().get(*arguments)

    safe_outputs([Empty(output_type="display_data", data={}) for _ in range(50_000)], 20)
    assert len(looked_at) < 50_000


def test_a_channel_rejects_late_and_truncated_messages():
    ours, theirs = socket.socketpair()
    with pytest.raises(Late):
        Channel(ours).receive(left=lambda: 0)
    theirs.sendall(lies.HEAD.pack(5, 0))
    theirs.close()
    with pytest.raises(Closed):
        Channel(ours).receive()
    ours.close()


def test_what_is_not_plain_data_is_rejected():
    for written in ({"tensor": 0}, {"foreign": "x"}, {"list": 7}, {"argument": 5}, {}):
        with pytest.raises(BadMessage):
            Decoder([], [], nothing).decode(written)
