"""A student's outputs in a safe form: no scripts, no frames, not too long."""

import binascii
import io
import re
from base64 import b64decode, b64encode
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from nbformat import NotebookNode, v4
from PIL import Image

from course.collecting.opening import Refused, opened
from course.gradebook.notes import Note
from course.grading.safe_html import MOST_TAGS, clean_html

MOST_OUTPUTS = 1_000  # of a cell
NOTEBOOK_KB = 5_000  # of all outputs together, and of all attached pictures
LONGEST, LONGEST_NOTE = 2_000, 300  # characters: of an error, of a line in a report
PICTURES = ("image/png", "image/jpeg")
KINDS = ("text/plain", "text/html", *PICTURES)
CUT = re.compile(r"(<p>)?\[more than [^\]]* left out\](</p>)?\n?")  # the replacement
# Of attached pictures: their number per notebook, their size, and the size they are reduced to.
MOST_PICTURES, MOST_PIXELS, MOST_SIDE = 20, 60_000_000, 2_000
# Of the process that reads one; progressive JPEGs have about ten scans.
PICTURE_SECONDS, PICTURE_MB, MOST_SCANS = 3, 700, 50


def plain(text: Any, most: int = LONGEST) -> str:
    """A text that can be stored anywhere: no lone surrogates, no NUL, not too long."""
    return str(text)[:most].encode("utf-8", "replace").decode("utf-8").replace("\0", "\ufffd")


def one_line(text: str) -> str:
    """A text as part of a line in a report: it cannot start a new line or change its direction."""
    seen = (character if character.isprintable() else " " for character in plain(text))
    return " ".join("".join(seen).split())[:LONGEST_NOTE]


def leave_out(cells: Sequence[dict], most_kb: int = NOTEBOOK_KB) -> list[Note]:
    """Empty the outputs of cells that do not fit into a notebook's page; returns notes on that."""
    left, emptied = most_kb * 1000, 0
    for cell in cells:
        outputs = cell.get("outputs")
        size = sum(map(_size, outputs)) if isinstance(outputs, list) else 0
        if size > left:
            cell["outputs"] = [stream(f"[a notebook's outputs may have {most_kb} kB: left out]\n")]
            emptied += 1
        else:
            left -= size
    if not emptied:
        return []
    return [Note(f"more than {most_kb} kB of outputs: those of {emptied} cells were left out")]


def cut_short(cells: Sequence[dict]) -> list[Note]:
    """A note on how many cells have a sentence instead of some output."""
    count = sum(any(map(_is_cut, cell.get("outputs", []))) for cell in cells)
    if not count:
        return []
    why = f"too long, too many, or more than {MOST_TAGS:,} tags of HTML"
    return [Note(f"some output of {count} cells was left out: {why}")]


def _is_cut(output: dict) -> bool:
    shown = output.get("text") or output.get("data", {}).get("text/html") or ""
    return bool(CUT.fullmatch(shown))


def safe_outputs(outputs: Any, most_kb: int) -> list[NotebookNode]:
    """Outputs of a code cell from an untrusted file.

    most_kb: of all of them; later ones are omitted, and a sentence says so.
    """
    given = outputs if isinstance(outputs, list) else []
    kept: list[NotebookNode] = []
    left = most_kb * 1000
    for output in given[:MOST_OUTPUTS]:
        left -= _size(output)  # before cleaning, which takes time
        if left < 0:
            kept.append(stream(f"[more than {most_kb} kB of output: the rest was left out]\n"))
            break
        if made := _safe(output):
            kept.append(made)
    else:
        if len(given) > MOST_OUTPUTS:
            kept.append(stream(f"[more than {MOST_OUTPUTS:,} outputs: the rest was left out]\n"))
    return kept


def stream(text: str, name: str = "stdout") -> NotebookNode:
    """Printed output of a cell."""
    return v4.new_output("stream", name=name, text=plain(text, len(text)))


def failure(name: str, text: str) -> NotebookNode:
    """An error; nbgrader gives no points to a test that has one."""
    text = plain(text)
    return v4.new_output("error", ename=plain(name, 100), evalue=text, traceback=[text])


def attach(cells: Sequence[NotebookNode], raw: Sequence[dict]) -> list[Note]:
    """Attach the pictures pasted into texts, encoded again; returns notes on omitted ones.

    raw: the same cells, as they were handed in.
    """
    left, count, refused = NOTEBOOK_KB * 1000, 0, 0
    for cell, given in zip(cells, raw, strict=True):
        pictures = given.get("attachments") if cell.cell_type == "markdown" else None
        for name, forms in pictures.items() if isinstance(pictures, dict) else ():
            count += 1
            made = _made_anew(_texts(forms)) if count <= MOST_PICTURES else {}
            size = sum(map(len, made.values()))
            if not made or size > left:
                refused += 1
                continue
            left -= size
            cell.setdefault("attachments", NotebookNode())[plain(name, 100)] = NotebookNode(made)
    if not refused:
        return []
    return [Note(f"{refused} attached files were left out: no PNG or JPEG, too large or too many")]


def _made_anew(forms: dict[str, str]) -> dict[str, str]:
    """A picture without other data of its file; empty if it is not a picture, or too large."""
    for text in (forms[kind] for kind in PICTURES if kind in forms):
        with suppress(Refused, ValueError):  # the latter is base64's
            kind, content = opened(
                picture, b64decode(text), seconds=PICTURE_SECONDS, megabytes=PICTURE_MB
            )
            return {kind: b64encode(content).decode()}
    return {}


def picture(content: bytes) -> tuple[str, bytes]:
    """The kind and the file of a picture, encoded again, not larger than MOST_SIDE.

    Raises Refused, or whatever Pillow raises for a damaged file: to be called by `opened`.
    """
    if content.startswith(b"\xff\xd8") and content.count(b"\xff\xda") > MOST_SCANS:
        raise Refused("it is drawn in too many steps")
    with Image.open(io.BytesIO(content), formats=("PNG", "JPEG")) as drawn:
        form = str(drawn.format)
        if drawn.width * drawn.height > MOST_PIXELS:
            raise Refused("it has too many pixels")
        drawn.thumbnail((MOST_SIDE, MOST_SIDE))
        file = io.BytesIO()
        drawn.convert("RGB" if form == "JPEG" else "RGBA").save(file, form)
    return f"image/{form.lower()}", file.getvalue()


def _texts(data: Any) -> dict[str, str]:
    """The allowed forms of an output, or of an attachment, as text."""
    items = data.items() if isinstance(data, dict) else ()
    return {kind: _text(value) for kind, value in items if kind in KINDS}


def _text(value: Any) -> str:
    text = "".join(map(str, value)) if isinstance(value, list) else str(value)
    return plain(text, len(text))


def _size(output: Any) -> int:
    """Characters of an output."""
    if not isinstance(output, dict):
        return 0
    texts = [_text(output[key]) for key in ("text", "evalue") if key in output]
    return sum(map(len, [*texts, *_texts(output.get("data")).values()]))


def _safe(output: Any) -> NotebookNode | None:
    kind = output.get("output_type") if isinstance(output, dict) else None
    if kind == "stream":
        name = "stderr" if output.get("name") == "stderr" else "stdout"
        return stream(_text(output.get("text", "")), name)
    if kind in ("display_data", "execute_result"):
        data = _passive(output.get("data"))
        return v4.new_output("display_data", data=data) if data else None
    if kind == "error":
        text = plain(f"{output.get('ename')}: {output.get('evalue')}")
        return failure(str(output.get("ename")), text)
    return None


def _passive(data: Any) -> dict[str, str]:
    """The forms of an output in which nothing runs."""
    safe = {}
    for kind, text in _texts(data).items():
        if kind == "text/html":
            safe[kind] = clean_html(text)
        elif kind == "text/plain" or _is_base64(text):
            safe[kind] = text
    return safe


def _is_base64(text: str) -> bool:
    try:
        return bool(b64decode("".join(text.split()), validate=True))
    except (binascii.Error, ValueError):
        return False
