"""The untrusted reply of a student's cell, checked."""

from typing import NamedTuple


class Reply(NamedTuple):
    """The result of a cell: outputs as in a notebook; error: the name of its exception, if any."""

    outputs: list[dict]
    cut: bool
    error: str = ""
    text: str = ""


def checked(reply: dict) -> Reply:
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
