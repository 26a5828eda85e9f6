"""Possible replies of a compromised process: messages that an honest one never sends."""

import struct

HEAD = struct.Struct(">QI")
BLOCK = struct.Struct(">Q")
DEEP = b"[" * 200_000 + b"]" * 200_000


def _error(*names: str, **fields: object) -> dict:
    return {"raised": {"names": names, "text": "", "arguments": None, "line": "", **fields}}


def _tensor(shape: list, block: object = 1, kind: str = "float32", **more: object) -> dict:
    return {"value": {"tensor": block, "as": kind, "shape": shape, **more}}


def _message(text: bytes) -> bytes:
    return HEAD.pack(len(text), 0) + text


# Replies to a call: the message, and the blocks from number 1 on.
ANSWERS = {
    "no value": ({}, []),
    "an unknown tag": ({"value": {"secret": 1}}, []),
    "an empty object": ({"value": {}}, []),
    "a list": ({"value": [1, [2]]}, []),
    "a block that is not there": (_tensor([2, 2], 7), []),
    "a block with a name": (_tensor([2, 2], "x"), []),
    "a negative size": (_tensor([-2, -2]), [bytes(16)]),
    "a size that is not a number": (_tensor([float("nan")]), [bytes(16)]),
    "an infinite size": (_tensor([float("inf")]), [bytes(16)]),
    "a shape without an end": (_tensor([10**18, 10**18]), [bytes(16)]),
    "a size that is too large": (_tensor([2**70]), [bytes(16)]),
    "a shape that is none": ({"value": {"tensor": 1, "as": "float32", "shape": 7}}, [bytes(16)]),
    "an unknown dtype": (_tensor([2], 1, "object"), [bytes(16)]),
    "an array of objects": ({"value": {"array": 1, "as": "|O", "shape": [2]}}, [bytes(16)]),
    "an array of records": ({"value": {"array": 1, "as": "V8", "shape": [2]}}, [bytes(16)]),
    "a dtype of code": ({"value": {"array": 1, "as": "__import__('os')", "shape": [2]}}, [b""]),
    "an object of Python": ({"value": {"named": ["os", "system"], "items": ["true"]}}, []),
    "a module of the library": (
        {"value": {"named": ["course.feedback", "feedback"], "items": []}},
        [],
    ),
    "a name that is a list": ({"value": {"named": [["os"], {}], "items": []}}, []),
    "an argument that is not there": ({"value": {"argument": 99}}, []),
    "an argument with a name": ({"value": {"argument": "__class__"}}, []),
    "a set of lists": ({"value": {"set": [{"list": []}]}}, []),
    "pairs that are none": ({"value": {"dict": [[1]]}}, []),
    "a complex list": ({"value": {"complex": [[], []]}}, []),
    "a step of 0": ({"value": {"range": [0, 1, 0]}}, []),
    "a function with a name": ({"value": {"function": "os.system", "name": "f"}}, []),
    "a function with a number": ({"value": {"function": 3, "name": "__import__"}}, []),
    "an iterator": ({"value": {"iterator": 1}}, []),
    "a student's function": ({"value": {"student": "f"}}, []),
    "a raised text": ({"raised": "x"}, []),
    "raised without names": (_error(), []),
    "a raised KeyboardInterrupt": (_error("KeyboardInterrupt", "BaseException", arguments=[]), []),
    "a raised GeneratorExit": (_error("GeneratorExit", "BaseException", arguments=[]), []),
    "a raised function of Python": (_error("open", "__import__", text="os", arguments=["os"]), []),
    "an error with five arguments": (_error("UnicodeDecodeError", arguments=[1, 2, 3, 4, 5]), []),
    "a group of errors": (_error("ExceptionGroup", arguments=["x", [1]]), []),
    "changes that are no list": ({"changes": 7, "value": 1}, []),
    "changes of nothing": ({"changes": [{"number": 99, "state": 1}], "value": 1}, []),
    "changes without a number": ({"changes": [{}], "value": 1}, []),
    "changes that are numbers": ({"changes": [1, 2], "value": 1}, []),
    "a question that nobody may ask": ({"ask": 99, "arguments": {"list": []}}, []),
    "a question without arguments": ({"ask": 0}, []),
    "a question of a text": ({"ask": "x", "arguments": {"list": [{"list": []}, {"dict": []}]}}, []),
    "watch of a list": (_error("E", watch=["library"]), []),
}

# These arrive as plain tuples.
HARMLESS = ("an object of Python", "a module of the library")

# Replies that can be read, but must do no harm.
CHANGES = {
    "of a tensor": {"number": 0, "tensor": {"tensor": 1, "as": "float32", "shape": [2, 2]}},
    "of another size": {"number": 0, "tensor": {"tensor": 1, "as": "float32", "shape": [4]}},
    "of a tensor that claims to be a generator": {
        "number": 0,
        "state": {"tensor": 1, "as": "uint8", "shape": [16]},
        "tensor": {"tensor": 1, "as": "float32", "shape": [2, 2]},
    },
    "of a gradient": {"number": 0, "grad": {"tensor": 1, "as": "float32", "shape": [2, 2]}},
}

# Bytes on the socket.
BYTES = {
    "no message": b"x" * 100,
    "a message of 10 ** 18 bytes": HEAD.pack(10**18, 0),
    "4 billion blocks": HEAD.pack(2, 2**32 - 1),
    "blocks of 10 ** 18 bytes": HEAD.pack(2, 1) + BLOCK.pack(10**18),
    "blocks that add up": HEAD.pack(2, 3) + BLOCK.pack(2**63) * 3,
    "deep JSON": _message(DEEP),
    "JSON that is none": _message(b"{nope"),
    "an empty message": _message(b""),
    "numbers of 10,000 digits": _message(b"1" * 10_000),
    "no UTF-8": _message(b'"\xff\xfe"'),
    "a number for a reply": _message(b"7"),
    "a list for a reply": _message(b"[]"),
    "half a message": HEAD.pack(50, 0) + b"{",
    "half a head": b"\0\0\0",
    "nothing": b"",
}

_HONEST = {"said": {}, "outputs": [], "cut": False, "error": None}
# Replies to a cell.
CELLS = {
    "nothing": {},
    "said a number": _HONEST | {"said": 5},
    "said lists": _HONEST | {"said": {"stdout": [1], "stderr": {"a": 1}}},
    "outputs a number": _HONEST | {"outputs": 7},
    "outputs of numbers": _HONEST | {"outputs": [5, None, []]},
    "outputs of odd types": _HONEST | {"outputs": [{"text/plain": {"a": 1}, "image/png": 7}]},
    "an error that is a text": _HONEST | {"error": "x"},
    "an error without a name": _HONEST | {"error": {"names": [], "text": "x", "line": ""}},
    "an error of numbers": _HONEST | {"error": {"names": 5, "text": 6, "line": 7}},
    "an error that is late in a list": _HONEST | {"error": ["late"]},
    "raised a text": _HONEST | {"raised": "x"},
    "a question": {"ask": 0, "arguments": {"list": []}},
    "10 MB": {
        "said": {"stdout": "x" * 10**7, "other": "y"},
        "outputs": [{"text/plain": "y" * 10**5}] * 20,
        "cut": True,
        "error": {"names": ["E" * 10**6], "text": "z" * 10**6, "line": "l" * 10**6},
    },
    "many lists": _HONEST | {"outputs": [[]] * 100_000},
    "half characters": _HONEST | {"said": {"stdout": "\ud800"}, "cut": 0},
}
