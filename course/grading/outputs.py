"""A student's outputs as they may be stored and shown: no script, no frame, not too long."""

import binascii
from base64 import b64decode
from typing import Any

from nbformat import NotebookNode, v4

from course.grading.safe_html import clean_html

MOST_OUTPUTS = 1_000  # of a cell
LONGEST, LONGEST_NOTE = 2_000, 300  # characters: of an error, of a line in a report
PICTURES = ("image/png", "image/jpeg")


def plain(text: Any, most: int = LONGEST) -> str:
    """A text that can be stored anywhere: no half characters, no NUL, not too long."""
    return str(text)[:most].encode("utf-8", "replace").decode("utf-8").replace("\0", "\ufffd")


def one_line(text: str) -> str:
    """A text as a part of a line in a report: it cannot begin a line of its own, or turn it."""
    seen = (character if character.isprintable() else " " for character in plain(text))
    return " ".join("".join(seen).split())[:LONGEST_NOTE]


def safe_outputs(outputs: Any, most_kb: int) -> list[NotebookNode]:
    """Outputs of a code cell, out of a file that anybody may have written.

    most_kb: of all of them; what comes later is left out, and a line says so. Of empty ones, and of
    very many, the rest is left out without.
    """
    kept: list[NotebookNode] = []
    left = most_kb * 1000
    for output in outputs[:MOST_OUTPUTS] if isinstance(outputs, list) else []:
        made, size = _safe(output) if isinstance(output, dict) else (None, 0)
        if made is None:
            continue
        if size > left:
            kept.append(stream(f"[more than {most_kb} kB of output: the rest was left out]\n"))
            break
        left -= size
        kept.append(made)
    return kept


def stream(text: str, name: str = "stdout") -> NotebookNode:
    """What a cell prints."""
    return v4.new_output("stream", name=name, text=plain(text, len(text)))


def shown(data: Any) -> NotebookNode:
    """What a cell displays, by kinds of media."""
    return v4.new_output("display_data", data=safe_data(data))


def failure(name: str, text: str) -> NotebookNode:
    """An error; nbgrader gives no points to a test that has one."""
    text = plain(text)
    return v4.new_output("error", ename=plain(name, 100), evalue=text, traceback=[text])


def safe_data(data: Any) -> dict[str, str]:
    """Of the forms of an output those that cannot do anything but be seen."""
    safe = {}
    for kind, value in data.items() if isinstance(data, dict) else ():
        text = "".join(map(str, value)) if isinstance(value, list) else str(value)
        text = plain(text, len(text))
        if kind == "text/plain":
            safe[kind] = text
        elif kind == "text/html":
            safe[kind] = clean_html(text)
        elif kind in PICTURES and _is_base64(text):
            safe[kind] = text
    return safe


def _safe(output: dict) -> tuple[NotebookNode | None, int]:
    kind = output.get("output_type")
    if kind == "stream":
        text = output.get("text", "")
        text = "".join(map(str, text)) if isinstance(text, list) else str(text)
        return stream(text, "stderr" if output.get("name") == "stderr" else "stdout"), len(text)
    if kind in ("display_data", "execute_result"):
        made = shown(output.get("data"))
        return (made, sum(map(len, made.data.values()))) if made.data else (None, 0)
    if kind == "error":
        text = plain(f"{output.get('ename')}: {output.get('evalue')}")
        return failure(str(output.get("ename")), text), len(text)
    return None, 0


def _is_base64(text: str) -> bool:
    try:
        return bool(b64decode("".join(text.split()), validate=True))
    except (binascii.Error, ValueError):
        return False
