"""The student's side: runs their cells, and their functions when a test calls them.

It is inside the sandbox, in the same process as the student's code, and nothing that it sends is
trusted: a student who takes it over can only give other answers than their functions would.
"""

import io
import pickle
import random
import signal
import sys
from collections.abc import Callable
from contextlib import ExitStack
from types import FrameType
from typing import Any

import numpy as np
import torch
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from course.feedback.watch import LibraryUsed, NeverEnds, Watch, students_line
from course.grading.inside.arguments import Arguments
from course.grading.inside.frames import Channel, Closed
from course.grading.inside.values import Decoder, Encoder, bytes_of, tensor_of

KEPT = 2_000  # results whose gradient may still be requested


class TimeIsUp(BaseException):
    """The limit of a cell or a call; not an `Exception`, so that few students catch it."""


class _Printed(io.StringIO):
    """What a cell prints; printing without end fills no memory, so it meets the limit of time."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self.most = most

    def write(self, text: str) -> int:
        """Keep the text, unless more than `most` characters are there already."""
        if self.tell() <= self.most:
            super().write(text[: self.most + 1])
        return len(text)


class Kernel:
    """One student's process."""

    def __init__(self, shell: InteractiveShell) -> None:
        self.shell = shell
        self.tensors: dict[int, torch.Tensor] = {}
        self.kept: dict[int, torch.Tensor] = {}
        self.calls: dict[int, Arguments] = {}  # of a kept tensor: what its gradient may reach
        self.n_kept = 0

    def serve(self, channel: Channel) -> None:
        """Answer until the tests close the connection."""
        self.channel = channel
        signal.signal(signal.SIGPROF, _time_is_up)  # sleeping code is ended from outside
        actions = {"run": self._run, "call": self._call, "backward": self._backward}
        while True:
            try:
                message, blocks = channel.receive()
            except Closed:
                return
            reply, blocks = actions[message["do"]](message, blocks)
            signal.setitimer(signal.ITIMER_PROF, 0)
            channel.send(reply, blocks)

    # Cells

    def _run(self, message: dict, _blocks: list[bytes]) -> tuple[dict, list]:
        """Run a cell; its outputs in nbformat's form, and the error, if any."""
        error, most = None, message["most_characters"]
        printed = {"stdout": _Printed(most), "stderr": _Printed(most)}
        with capture_output() as captured:
            sys.stdout, sys.stderr = printed.values()
            try:
                self.shell.display_trap.hook = sys.displayhook  # the capturing one
                signal.setitimer(signal.ITIMER_PROF, message["seconds"])
                result = self.shell.run_cell(message["source"], store_history=False)
                error = result.error_before_exec or result.error_in_exec
            except BaseException as raised:  # also SystemExit: the next cell must run
                error = raised
            signal.setitimer(signal.ITIMER_PROF, 0)
        outputs = [output._repr_mimebundle_()[0] for output in captured.outputs]
        said = {name: stream.getvalue() for name, stream in printed.items()}
        reply = {
            "outputs": [_only_text(data, most) for data in outputs],
            "said": {name: text[:most] for name, text in said.items() if text},
            "cut": any(len(text) > most for text in said.values()),
            "error": None if error is None else _error(error),
        }
        return reply, []

    # Functions

    def _call(self, message: dict, blocks: list[bytes]) -> tuple[dict, list]:
        """Call a function; its result or error, and the changes of its arguments."""
        for key in message["forget"]:
            self.tensors.pop(key, None)
        encoder = Encoder({}, self._keep)
        arguments = None
        state = blocks[message["random_state"]]
        torch.set_rng_state(tensor_of(state, torch.uint8, [len(state)]).clone())
        before = _random_states()
        function = None
        try:
            function = self._function(message["function"])
            arguments = Arguments(message, blocks, self.tensors, self._ask, self._function)
            answer = self._watched(message, function, arguments)
            encoder.known = arguments.known
            n_before = self.n_kept
            reply = {"value": encoder.encode(answer)}
            for number in range(n_before + 1, self.n_kept + 1):
                self.calls[number] = arguments
        except BaseException as error:
            signal.setitimer(signal.ITIMER_PROF, 0)
            reply = {"raised": _error(error, function)}
        if arguments is not None:
            encoder.known = arguments.known
            reply["changes"] = arguments.changes(encoder)
        reply["drawn"] = [name for name, now in _random_states().items() if now != before[name]]
        return reply, encoder.blocks

    def _watched(self, message: dict, function: Callable, arguments: Arguments) -> Any:
        with ExitStack() as stack:
            stack.enter_context(torch.inference_mode(message["inference"]))  # sets both modes
            stack.enter_context(torch.set_grad_enabled(message["gradients"]))
            if watch := message["watch"]:
                most = float("inf") if watch["most_lines"] is None else watch["most_lines"]
                stack.enter_context(Watch(most, watch["ready_made"]))
            signal.setitimer(signal.ITIMER_PROF, message["seconds"])
            answer = function(*arguments.positional, **arguments.named)
        signal.setitimer(signal.ITIMER_PROF, 0)
        return answer

    def _function(self, name: str) -> Callable:
        if name not in self.shell.user_ns:
            raise NameError(f"name {name!r} is not defined")
        return self.shell.user_ns[name]

    def _backward(self, message: dict, blocks: list[bytes]) -> tuple[dict, list]:
        """The gradient of a result with respect to the arguments of its call."""
        try:
            signal.setitimer(signal.ITIMER_PROF, message["seconds"])
            result = self.kept[message["result"]]
            above = Decoder(blocks, [], _nothing).decode(message["above"])
            leaves = self.calls[message["result"]].gradients()
            wanted = [leaves[number] for number in message["by"]]
            # With `grad_outputs` PyTorch would import SymPy, one second per student's process.
            total = (result * above.conj()).real.sum()
            found = torch.autograd.grad(total, wanted, retain_graph=True, allow_unused=True)
            encoder = Encoder({}, self._keep)
            return {"value": encoder.encode([_plain(grad) for grad in found])}, encoder.blocks
        except BaseException as error:
            return {"raised": _error(error)}, []

    # The way back into the tests

    def _ask(
        self, arguments: Arguments, number: int, sees: bool, positional: tuple, named: dict
    ) -> Any:
        """Call a function of the tests during a call, without the watch.

        sees: whether it may read the call's arguments, so that their changes must be sent.
        """
        left, _ = signal.setitimer(signal.ITIMER_PROF, 0)
        watching = sys.getprofile(), sys.gettrace()
        sys.setprofile(None)
        sys.settrace(None)
        encoder = Encoder(arguments.known if sees else {}, self._keep)
        asked: dict[str, Any] = {"ask": number}
        if sees:
            asked["changes"] = arguments.changes(encoder)
            arguments.note()
        asked["arguments"] = encoder.encode([list(positional), named])
        self.channel.send(asked, encoder.blocks)
        message, blocks = self.channel.receive()
        content = pickle.loads(blocks[0])  # noqa: S301 (from the tests, which are trusted)
        signal.setitimer(signal.ITIMER_PROF, max(left, 1e-3) if left else 0)
        sys.setprofile(watching[0])
        sys.settrace(watching[1])
        if message["raises"]:
            raise content
        return content

    def _keep(self, value: torch.Tensor) -> int:
        self.n_kept += 1
        self.kept[self.n_kept] = value
        if len(self.kept) > KEPT:
            oldest = min(self.kept)
            del self.kept[oldest]
            self.calls.pop(oldest, None)
        return self.n_kept


def _nothing(*_: Any) -> Any:
    raise ValueError("the tests send plain tensors")


def _plain(grad: torch.Tensor | None) -> torch.Tensor | None:
    return None if grad is None else grad.detach()


def _time_is_up(_number: int, _frame: FrameType | None) -> None:
    raise TimeIsUp


def _random_states() -> dict[str, object]:
    """The states of the global random generators."""
    state: Any = np.random.get_state()
    _, keys, place, *_ = state
    return {
        "torch": bytes_of(torch.get_rng_state()),
        "random": random.getstate(),
        "numpy": (keys.tobytes(), place),
    }


def _only_text(data: dict, most: int) -> dict:
    """The forms of an output that are text and not too long; pictures are base64 text."""
    return {kind: text for kind, text in data.items() if len(str(text)) <= most}


def _error(error: BaseException, function: object = None) -> dict:
    """An error as plain data; function: the one whose call it ended, if any."""
    if isinstance(error, TimeIsUp):
        return {"late": True}
    kinds = (str, int, float, bool, type(None))
    plain = [
        a
        for a in error.args
        # JSON is text, and Python writes no number of more than 4,300 digits.
        if isinstance(a, kinds) and not (isinstance(a, int) and a.bit_length() > 10_000)
    ]
    return {
        "names": [kind.__name__ for kind in type(error).__mro__],
        "text": _text(error),
        "arguments": plain if len(plain) == len(error.args) else None,
        "line": students_line(error, function)[:200],
        "watch": {LibraryUsed: "library", NeverEnds: "endless"}.get(type(error)),
    }


def _text(error: BaseException) -> str:
    try:
        return str(error)[:2_000]
    except Exception:  # a student's __str__ may do anything
        return "an error whose text cannot be made"
