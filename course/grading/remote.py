"""The tests' side of a student's functions: proxies for functions in the sandbox."""

import pickle
import random
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from course.feedback.watch import Watch
from course.grading.clock import Clock
from course.grading.errors import Stopped, limits_of, pickled_error, student_error, unwatched
from course.grading.inside.frames import BadMessage, Channel, Closed, Late
from course.grading.inside.values import Decoder, Encoder, bytes_of
from course.grading.sandbox import Sandbox
from course.grading.sending import Sender, SentTensors, apply_changes
from course.settings import Limits

PATIENCE = 5.0  # seconds beyond a limit, for a process that does not stop by itself
# A draw from each global random generator: a test may check whether their states have changed.
SHARED_GENERATORS = {
    "torch": lambda: torch.rand(1),
    "random": random.random,
    "numpy": lambda: np.random.random(624),  # renews its whole state, not only its position
}


class Reply(NamedTuple):
    """The result of a cell: outputs as in a notebook; error: the name of its exception, if any."""

    outputs: list[dict]
    cut: bool
    error: str = ""
    text: str = ""


class Student:
    """A student's process, across restarts. Its functions: `function("attention")`."""

    def __init__(
        self, sandbox: Sandbox, limits: Limits, changing: frozenset[str] = frozenset()
    ) -> None:
        """changing: functions that must change their arguments.

        A test may use its inputs after the call to compute the right answer. So changes by any
        other function stay in the sandbox, and its name is recorded in `changed`.
        """
        self.sandbox, self.limits, self.changing = sandbox, limits, changing
        self.changed = ""
        self.clock = Clock(limits, sandbox.process.pid)
        self.channel: Channel | None = None
        self.sent = SentTensors()

    def start(self) -> None:
        """Start a new process, which has run only the cells that need no student's code."""
        if self.channel is not None:
            self.channel.close()
            self.channel = None
        if self.clock.left() <= 0:
            raise Stopped(self.clock.late())
        self.channel = Channel(self.sandbox.fork())
        self.clock.follow()
        self.sent = SentTensors()

    @property
    def alive(self) -> bool:
        """Whether the sandbox still answers."""
        return self.channel is not None

    def run(self, source: str) -> Reply:
        """Run a cell; raises Stopped."""
        order = {"do": "run", "source": source, "most_characters": self.limits.output_kb * 1000}
        reply, _ = self._ask(order, [])
        try:
            return _checked(reply)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise self._stopped(f"its answer cannot be read: {error}") from None

    def function(self, name: str) -> "StudentFunction":
        """The student's function of that name, which need not exist."""
        return StudentFunction(self, name)

    def call(self, name: str, positional: tuple, named: dict, watch: Watch | None) -> Any:
        """Call one of the student's functions; raises what it raises, or Stopped."""
        sender = Sender(self.sent, _student_function)
        sender.function = name
        order = {
            "do": "call",
            "function": name,
            **sender.message(positional, named),
            "forget": self.sent.take_forgotten(),
            "gradients": torch.is_grad_enabled(),
            "inference": torch.is_inference_mode_enabled(),
            "watch": watch and limits_of(watch),
            "random_state": len(sender.blocks),
        }
        reply, blocks = self._ask(order, [*sender.blocks, bytes_of(torch.get_rng_state())], sender)
        decoder = self._decoder(blocks, sender)
        try:
            for drawn in reply["drawn"]:  # it advances, but not to a state that a student chooses
                SHARED_GENERATORS[drawn]()
            self._apply(name, reply.get("changes", []), sender, decoder)
            if "raised" in reply:
                raise student_error(reply["raised"], sender.raised)
            return decoder.decode(reply["value"])
        except (BadMessage, RuntimeError, TypeError, LookupError, AttributeError) as error:
            if isinstance(error, BadMessage) or not getattr(error, "students", False):
                raise self._stopped(f"its answer cannot be read: {error}") from None
            raise

    def _apply(self, name: str, changes: list, sender: Sender, decoder: Decoder) -> None:
        items = sender.arguments
        generators = [c for c in changes if isinstance(items[int(c["number"])], torch.Generator)]
        apply_changes(changes if name in self.changing else generators, sender, decoder)
        if name not in self.changing and len(changes) > len(generators):
            self.changed = name
            self.sent = SentTensors()  # the sandbox's copies have changed

    def backward(self, result: int, by: list[int], above: torch.Tensor) -> list:
        """The gradients of a result with respect to some of its call's arguments, by number."""
        encoder = Encoder({}, _keep_nothing)
        order = {"do": "backward", "result": result, "by": by, "above": encoder.encode(above)}
        reply, blocks = self._ask(order, encoder.blocks)
        if "raised" in reply:
            raise student_error(reply["raised"])
        return self._decoder(blocks, None).decode(reply["value"])

    def _ask(self, order: dict, blocks: list, sender: Sender | None = None) -> tuple[dict, list]:
        """Send an order, answer requests until the reply, and return it."""
        if self.channel is None:
            raise Stopped("the student's process is not there")
        seconds = min(self.limits.call_seconds, self.clock.left())
        if seconds <= 0:
            raise self._stopped(self.clock.late())
        left = self.clock.countdown(seconds + PATIENCE)
        try:
            self.channel.send({**order, "seconds": seconds}, blocks, left)
            while True:
                reply, blocks = self.channel.receive(left)
                if not isinstance(reply, dict):
                    raise BadMessage("no reply")
                if "ask" not in reply or sender is None:
                    break
                self.channel.send(*self._answer(reply, blocks, sender), left)
        except Closed:
            raise self._stopped("it ended its own process") from None
        except Late:
            raise self._stopped(self.clock.late(seconds)) from None
        except BadMessage as error:
            raise self._stopped(f"its answer cannot be read: {error}") from None
        except BaseException:  # a timeout of the test: nobody will read the reply
            self._stopped("")
            raise
        trouble = reply.get("raised") or reply.get("error")
        if isinstance(trouble, dict) and trouble.get("late"):
            raise self._stopped(self.clock.late(seconds))
        return reply, blocks

    def _stopped(self, why: str) -> Stopped:
        if self.channel is not None:
            self.channel.close()
            self.channel = None
        return Stopped(why)

    def _answer(self, asked: dict, blocks: list[bytes], sender: Sender) -> tuple[dict, list]:
        """Call a function of the tests, or take the next item of their iterator."""
        decoder = self._decoder(blocks, sender)
        self._apply(sender.function, asked.get("changes", []), sender, decoder)
        positional, named = decoder.decode(asked["arguments"])
        try:
            wanted = sender.asked[int(asked["ask"])]
            with unwatched():
                is_iterator = isinstance(wanted, Iterator)
                content = next(wanted) if is_iterator else wanted(*positional, **named)
            return {"raises": False}, [pickle.dumps(content)]
        except (Exception, KeyboardInterrupt) as error:
            sender.raised = error
            return {"raises": True}, [pickled_error(error)]

    def _decoder(self, blocks: list[bytes], sender: Sender | None) -> Decoder:
        arguments = sender.arguments if sender else []

        def attach(tensor: torch.Tensor, number: int) -> torch.Tensor:
            leaves = {
                n: item
                for n, item in enumerate(sender.items if sender else [])
                if isinstance(item, torch.Tensor) and item.requires_grad
            }
            if not leaves or not torch.is_grad_enabled():
                return tensor.requires_grad_() if tensor.is_floating_point() else tensor
            return _Remote.apply(self, number, list(leaves), tensor, *leaves.values())

        return Decoder(blocks, arguments, attach)


def _checked(reply: dict) -> Reply:
    """A cell's reply, if it has the right types; otherwise this raises."""
    said = {str(name): str(text) for name, text in reply["said"].items()}
    outputs: list[dict] = [
        {"output_type": "stream", "name": name, "text": said[name]} for name in said
    ]
    outputs += [{"output_type": "display_data", "data": dict(data)} for data in reply["outputs"]]
    if reply["error"] is None:
        return Reply(outputs, bool(reply["cut"]))
    name, line = str(reply["error"]["names"][0]), str(reply["error"]["line"])
    text = f"{name}: {reply['error']['text']}" + (f"\nin the line: {line}" if line else "")
    return Reply(outputs, bool(reply["cut"]), name, text)


class StudentFunction:
    """A student's function. A watch here is informed of what happens in the sandbox."""

    def __init__(self, student: Student, name: str) -> None:
        self.student = student
        self.__name__ = self.__qualname__ = name
        self.__module__ = "__main__"

    def __call__(self, *positional: Any, **named: Any) -> Any:
        """What the student's function returns; raises what it raises, or Stopped."""
        with unwatched() as watch:
            return self.student.call(self.__name__, positional, named, watch)

    def __deepcopy__(self, memo: dict) -> "StudentFunction":
        return self

    def __repr__(self) -> str:
        return f"<function {self.__name__}>"


class _Remote(torch.autograd.Function):
    """A result whose gradient the sandbox computes."""

    @staticmethod
    def forward(
        context: Any, student: Student, result: int, numbers: list, tensor: Tensor, *_: Tensor
    ) -> Tensor:
        context.student, context.result, context.numbers = student, result, numbers
        return tensor.clone()

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(context: Any, above: Tensor) -> tuple[Tensor | None, ...]:
        with unwatched():
            found = context.student.backward(context.result, context.numbers, above)
        return None, None, None, None, *found


def _student_function(value: Any) -> str | None:
    return value.__name__ if isinstance(value, StudentFunction) else None


def _keep_nothing(value: Any) -> int:
    raise TypeError(f"{type(value).__name__} cannot be sent to the sandbox")
