"""Forged messages to the tests' process: the student's process implements the protocol itself."""

from tests.course.grading.hostile.small import Change, Hostile, behind, own_cells

TAKE = """
import gc
from course.grading.inside.frames import Channel
_actions = next(
    thing
    for thing in gc.get_objects()
    if type(thing) is dict and set(thing) == {"run", "call", "backward"}
)
_channel = next(thing for thing in gc.get_objects() if isinstance(thing, Channel))
_honest = dict(_actions)
"""
ANSWERS = """
def _call(message, blocks):
    if message["function"] != "row_softmax":
        return _honest["call"](message, blocks)
    reply = {{"drawn": [], "changes": []}} | {reply}
    return reply, [b"the first block", *{blocks}]
_actions["call"] = _call
"""
ON_THE_SOCKET = """
def row_softmax(scores):
    connection = _channel.connection
    {send}
    import time
    time.sleep(0.2)
"""
DEEP = "'[' * 200_000 + ']' * 200_000"
SEND_BLOCKS = "os.write(connection.fileno(), struct.pack('>QI', 2, 2 ** 32 - 1))"
SEND_DEEP = f"text = ({DEEP}).encode(); connection.sendall(struct.pack('>QI', len(text), 0) + text)"
TEN_MEGABYTES = """{
    "said": {"stdout": "x" * 10 ** 7},
    "outputs": [{"text/plain": "y" * 10 ** 5}] * 100,
    "error": {"names": ["E" * 10 ** 6], "text": "z" * 10 ** 6, "line": "l" * 10 ** 6},
    "cut": True,
}"""
NEGATIVE = "{'value': {'tensor': 1, 'as': 'float32', 'shape': [-2, -2]}}"
WRONG_TYPES = "{'said': 5, 'outputs': 7, 'error': 'x'}"
FORGED_CHANGE = """{
    'changes': [{'number': 0, 'state': 1, 'tensor': {'tensor': 1, 'as': 'float32', 'shape': [4]}}],
    'value': {'argument': 0},
}"""
EEE = "a cell of their own: its cell raised EEE"
UNREAD, USES = "a cell of their own: its answer cannot be read", "uses get_objects"
CANNOT_READ = "row-softmax: its answer cannot be read"
ENDED = "row-softmax: it ended its own process"


def answers(reply: str, blocks: str = "[]") -> Change:
    """Each reply of `row_softmax` is the given message."""
    return behind(TAKE + ANSWERS.format(reply=reply, blocks=blocks))


def sends(code: str) -> Change:
    """`row_softmax` writes to the socket itself."""
    return behind(TAKE + "import json, os, struct\n" + ON_THE_SOCKET.format(send=code))


def answers_cell(reply: str) -> Change:
    """The reply of a student's own cell is the given message; later ones are honest."""
    takes_over = f"""
def _run(message, blocks):
    _actions["run"] = _honest["run"]
    return {reply}, []
_actions["run"] = _run
"""
    return own_cells(TAKE + takes_over, "pass", before="explain-question")


ROWS = [
    Hostile("forged: no value", answers("{}"), note=CANNOT_READ),
    Hostile("forged: a negative size", answers(NEGATIVE, "[bytes(16)]"), note=CANNOT_READ),
    Hostile("forged: text of 60 MB", answers("{'value': 'x' * 60_000_000}"), note=USES),
    Hostile("forged: 4 billion blocks", sends(SEND_BLOCKS), note=CANNOT_READ),
    Hostile("forged: deep JSON", sends(SEND_DEEP), note=CANNOT_READ),
    Hostile("forged: a cell's answer of 10 MB", answers_cell(TEN_MEGABYTES), (), EEE),
    Hostile("forged: a cell's answer of wrong types", answers_cell(WRONG_TYPES), (), UNREAD),
    Hostile("takes the connection away", behind(TAKE + "_channel.connection.detach()"), note=ENDED),
    Hostile(
        "makes the tests' input trivial by a forged change",
        answers(FORGED_CHANGE, "[bytes(16)]"),
        note=USES,
    ),
]
