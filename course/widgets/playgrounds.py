"""Type a text and see how several tokenizers cut it, all at once.

The pieces are plain HTML drawn by Python, so they are visible without a kernel, too. Only the text
box is a widget: whenever it changes, the library's tokenizers run again and Python draws the pieces
again. No tokenizer is reimplemented in JavaScript.
"""

import html
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from bertlab.tokenizers.tokenizer import Encoding, Tokenizer
from bertlab.viz.frames import read_asset
from bertlab.viz.text import Rendered
from course.widgets.text_boxes import TextBox

LONGEST = 2_000  # characters; more pieces would be slow to draw and not readable
UNKNOWN = ("[UNK]", "<unk>")
HINT = (
    "Point at a piece, or go there with the Tab key, to see its token, its id and where it starts "
    "and ends, counted as in text[start:end]. If the pieces no longer follow what you type, run "
    "the cell again."
)


def tokenizer_playground(tokenizers: Mapping[str, Tokenizer], text: str) -> TextBox:
    """A text box, and below it the text as each of `tokenizers` cuts it.

    tokenizers: the name of each one, and the tokenizer itself, which must have
    `encode(text, add_special_tokens=False)`; text: the initial text.

    Raises ValueError if there is no tokenizer, if one cannot encode, or if `text` is not a string.
    """
    if not tokenizers:
        raise ValueError("tokenizer_playground: tokenizers must hold at least one; it is empty")
    for name, encoder in tokenizers.items():
        if isinstance(encoder, type) or not callable(getattr(encoder, "encode", None)):
            raise ValueError(
                f"tokenizer_playground: tokenizers[{name!r}] must be a trained tokenizer with "
                f"a method `encode`; got {encoder!r}"
            )
    if not isinstance(text, str):
        raise ValueError(f"tokenizer_playground: text must be a string; got {type(text).__name__}")
    show = partial(_show, dict(tokenizers))
    return TextBox(show, (text,), ("Type here",), rows=3, live=("pieces", "vectors"))


def _show(tokenizers: Mapping[str, Tokenizer], text: str) -> Rendered:
    """Each tokenizer's pieces of the text, as HTML and as plain text."""
    note = ""
    if len(text) > LONGEST:
        note = f"Only the first {LONGEST:,} of {len(text):,} characters are cut and counted."
    rows = [_row(name, encoder, text[:LONGEST]) for name, encoder in tokenizers.items()]
    notes = "".join(f"<p>{sentence}</p>" for sentence in (note, HINT) if sentence)
    style = read_asset("playground.css", __package__)
    markup = (
        f'<div class="bertlab-playground"><style>{style}</style>'
        f'{"".join(row.html for row in rows)}<div class="notes">{notes}</div></div>'
    )
    return Rendered(markup, "\n".join([*(row.text for row in rows), *([note] if note else [])]))


@dataclass
class _Piece:
    """Characters of the text that are drawn as one piece, and the tokens that cover them."""

    start: int
    end: int
    tokens: list[tuple[str, int]]  # with their ids

    def touches(self, start: int, end: int) -> bool:
        """Whether a token from `start` to `end` cannot be separated from this piece."""
        shares = start < self.end
        # A token without its own characters has no place of its own.
        empty = start == self.end and (start == end or self.start == self.end)
        return shares or empty


def _row(name: str, encoder: Tokenizer, text: str) -> Rendered:
    """One tokenizer's result for the text, under its name."""
    try:
        encoding = encoder.encode(text, add_special_tokens=False)
        pieces = _group(encoding)
    except ValueError as error:
        body = f'<p class="problem"><strong>Not encoded.</strong> {html.escape(str(error))}</p>'
        return Rendered(_section(name, "", body), f"{name}: not encoded. {error}")
    count = _count(len(encoding.tokens), len(text.split()))
    body = (
        f'<div class="text" dir="auto" translate="no" role="group" '
        f'aria-label="{html.escape(f"{name}: {count}")}">{_draw(text, pieces)}</div>'
    )
    tokens = " | ".join(_visible(token) for token in encoding.tokens)
    return Rendered(_section(name, count, body), f"{name} ({count}): {tokens}".rstrip())


def _group(encoding: Encoding) -> list[_Piece]:
    """Each token is a piece; tokens that share characters form one piece.

    Byte-level BPE may cut one character into several tokens, which all cover it.
    """
    pieces: list[_Piece] = []
    for id, token, (start, end) in zip(
        encoding.ids, encoding.tokens, encoding.offsets, strict=True
    ):
        if pieces and pieces[-1].touches(start, end):
            pieces[-1].end = max(pieces[-1].end, end)
            pieces[-1].tokens.append((token, id))
        else:
            pieces.append(_Piece(start, end, [(token, id)]))
    return pieces


def _draw(text: str, pieces: Sequence[_Piece]) -> str:
    """The text with coloured pieces; text that no token covers is not coloured."""
    drawn, here = [], 0
    for number, piece in enumerate(pieces):
        drawn.append(_characters(text[here : piece.start]))
        drawn.append(_mark(text[piece.start : piece.end], piece, number))
        here = piece.end
    return "".join([*drawn, _characters(text[here:])])


def _mark(covered: str, piece: _Piece, number: int) -> str:
    """One coloured piece. Its description is in attributes, so it is not copied with the text."""
    lines = [f"{_visible(token)}   id {id}" for token, id in piece.tokens]
    kind, label = ("even" if number % 2 == 0 else "odd"), ""
    if len(lines) > 1:
        label = f"{len(lines)} tokens"
        lines.insert(0, f"{label} share this:")
    if any(token in UNKNOWN for token, _ in piece.tokens):
        kind, label = f"{kind} unknown", "unknown"
        lines.append("unknown: not in the vocabulary")
    lines.append(f"characters {piece.start} to {piece.end}")
    kind += _direction(covered) + (" labelled" if label else "")
    spoken = ", ".join(line.replace("   ", ", ").rstrip(":") for line in lines)
    return (
        f'<span class="piece {kind}" tabindex="0" role="img" '
        f'aria-label="{html.escape(spoken)}" data-tip="{html.escape(chr(10).join(lines))}">'
        f"{_characters(covered)}{f'<sub>{label}</sub>' if label else ''}</span>"
    )


def _direction(text: str) -> str:
    """The writing direction of a piece, if it is clear, as a class for the style sheet.

    >>> _direction("low"), _direction("לום"), _direction(" - ")
    (' ltr', ' rtl', '')
    """
    kinds = {unicodedata.bidirectional(character) for character in text}
    to_the_left, to_the_right = kinds & {"R", "AL"}, kinds & {"L", "EN", "AN"}
    if to_the_left and not to_the_right:
        return " rtl"
    return " ltr" if to_the_right and not to_the_left else ""


def _section(name: str, count: str, body: str) -> str:
    head = f"<strong>{html.escape(name)}</strong> <span>{count}</span>"
    return f'<section><div class="head">{head}</div>{body}</section>'


def _count(tokens: int, words: int) -> str:
    """The number of tokens, and per word, separated by white space."""
    count = f"{tokens:,} token{'' if tokens == 1 else 's'}"
    return f"{count}, {tokens / words:.2f} per word" if words else count


def _characters(text: str) -> str:
    """Text as markup; the style sheet makes its white space visible."""
    return "".join(_character(character) for character in text)


def _character(character: str) -> str:
    if character == "\n":
        return '<span class="newline">\n</span>'
    if character == "\t" or (character.isspace() and character >= " "):
        return f'<span class="{"tab" if character == chr(9) else "blank"}">{character}</span>'
    return html.escape(_visible(character))


def _visible(token: str) -> str:
    """A token in one line, with signs for white space and control characters."""
    return "".join(map(_sign, token))


def _sign(character: str) -> str:
    """
    >>> _sign("a"), _sign(" "), _sign(chr(10)), _sign(chr(0))
    ('a', '␣', '↵', '␀')
    """
    if character in " \n\t":
        return {" ": "␣", "\n": "↵", "\t": "⇥"}[character]
    if character < " ":
        return chr(0x2400 + ord(character))  # Unicode's pictures of control characters
    return "␡" if character == "\x7f" else character
