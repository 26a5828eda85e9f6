"""The course's emblem: a sentence goes through BERT, and the part of a lecture is enlarged.

Each lecture opens with it, and closes with it, then with the lecture's own numbers in the part.
"""

import html
from collections.abc import Sequence

from bertlab.viz.frames import Frame, frame

# A part, from the words up -> its label in the drawing, and in words.
PARTS = {
    "tokens": ("tokens", "the text as tokens"),
    "vectors": ("vectors", "a vector for each token"),
    "attention": ("attention", "attention, in which each token collects from all tokens"),
    "layer": ("feed-forward", "a feed-forward network, with the attention N times"),
    "answers": ("answers", "an answer for [MASK] and one for the whole text"),
    "gradient": ("gradient", "the gradient, which runs back from the answers"),
}
SENTENCE = ("[CLS]", "the", "cat", "[MASK]", "here", "[SEP]")
WIDTH, LEFT, RIGHT, SMALL, LARGE = 560, 112, 46, 34, 112  # of the drawing, in pixels
WIDEST = 8  # of a line
CSS = """
svg { display: block; width: 100%; max-width: 660px; margin: 0 auto; font-size: 13.5px; }
text { fill: var(--quiet); text-anchor: middle; }
.label { text-anchor: end; font-size: 12.5px; }
.part { fill: var(--raised); stroke: color-mix(in srgb, var(--quiet) 55%, var(--paper)); }
.line { fill: none; stroke: color-mix(in srgb, var(--quiet) 55%, var(--paper)); }
.line { stroke-linecap: round; }
.lit text { fill: var(--ink); }
.lit .label { fill: var(--accent); }
.lit .label, .value { font-weight: 700; }
.lit .part { fill: var(--accent-soft); stroke: var(--accent); stroke-width: 1.5; }
.lit .line { stroke: var(--accent); }
.value.gradient { paint-order: stroke; stroke: var(--paper); stroke-width: 5px; }
.note { max-width: 660px; margin: 4px auto 0; text-align: center; }
"""
# On a phone the drawing shrinks by a third; up to six tokens have room for larger letters.
ON_PHONES = "@media (max-width: 480px) { svg { font-size: 17px; } .label { font-size: 15px; } }"


def emblem(
    lit: str,
    tokens: Sequence[str] = SENTENCE,
    values: Sequence[float | str] = (),
    *,
    at: int | None = None,
    note: str = "",
) -> Frame:
    """BERT with a sentence in it; the part `lit` is enlarged and holds the values.

    lit: a name in `PARTS`; tokens: 2 to 7 strings; values: none, or one for each token: a number
    from 0 to 1, which is also the width of a line, or a text, "" for none; at: the token whose
    attention the values are (the last by default); note: a sentence below.

    Raises ValueError for another part, or another number of tokens or values.
    """
    if lit not in PARTS:
        raise ValueError(f"emblem: lit must be one of {', '.join(PARTS)}; got {lit!r}")
    if not 2 <= len(tokens) <= 7:
        raise ValueError(f"emblem: tokens must be 2 to 7 strings; got {len(tokens)}")
    if len(values) not in (0, len(tokens)):
        raise ValueError(f"emblem: values must be {len(tokens)}, one per token; got {len(values)}")
    at = len(tokens) - 1 if at is None else at
    texts = [value if isinstance(value, str) else f"{float(value):.2f}" for value in values]
    widths = [1.0 if isinstance(value, str) else float(value) for value in values]
    drawing, high = _drawing(lit, tokens, texts, widths, at)
    below = f'<p class="note">{html.escape(note)}</p>' if note else ""
    return frame(
        f'<svg viewBox="0 0 {WIDTH} {high}" aria-hidden="true">{drawing}</svg>{below}',
        title=f"BERT, its {lit} enlarged" + (" and with the lecture's numbers" if values else ""),
        alt=_in_words(lit, tokens, texts, at, note),
        css=CSS + (ON_PHONES if len(tokens) < 7 else ""),
        height=high + 52,
    )


def _drawing(
    lit: str, tokens: Sequence[str], texts: list[str], widths: list[float], at: int
) -> tuple[str, int]:
    """The parts, one above the other, and their height."""
    lit_parts = ("attention", "layer") if lit == "layer" else (lit,)  # a layer is both
    highs = {name: LARGE // len(lit_parts) if name in lit_parts else SMALL for name in PARTS}
    tops, y = {}, 4
    for name in reversed(PARTS):
        tops[name], y = y, y + highs[name]
    step = (WIDTH - LEFT - RIGHT) / len(tokens)
    places = [round(LEFT + (number + 0.5) * step, 1) for number in range(len(tokens))]
    drawn = [_layer_frame(tops["layer"], tops["vectors"], "lit" if lit == "layer" else "")]
    for name, (label, _) in PARTS.items():
        high = highs[name]
        shown = (widths, texts) if name == lit else ([], [])
        inside = _row(name, high, tokens, places, at, *shown)
        if name == lit:  # attention is read at its keys, below; other values stand in the middle
            level = high - 12 if name == "attention" else high / 2 + 5
            inside += _texts(places, texts, level, f"value {name}")
        drawn.append(
            f'<g class="{"lit" if name in lit_parts else ""}" '
            f'transform="translate(0 {tops[name]})">'
            f'<text class="label" x="{LEFT - 16}" y="{high / 2 + 5}">{label}</text>{inside}</g>'
        )
    return "".join(drawn), y + 8


def _layer_frame(top: int, bottom: int, kind: str) -> str:
    return (
        f'<g class="{kind}"><rect class="part" x="{LEFT - 6}" y="{top}" '
        f'width="{WIDTH - LEFT - RIGHT + 12}" height="{bottom - top}" rx="8"/>'
        f'<text x="{WIDTH - RIGHT + 28}" y="{(top + bottom) / 2 + 5}">× N</text></g>'
    )


def _in_words(lit: str, tokens: Sequence[str], texts: list[str], at: int, note: str) -> str:
    said = [f"{token} {text}" for token, text in zip(tokens, texts, strict=False) if text]
    whose = f" of {tokens[at]}" if lit == "attention" and texts else ""
    values = f"Values{whose}: {', '.join(said)}." if said else ""
    parts = "; ".join(words for _, words in PARTS.values())
    return " ".join(f"{values} {note} From below: {parts}.".split())


def _row(
    name: str,
    high: int,
    tokens: Sequence[str],
    places: list[float],
    at: int,
    widths: list[float],
    texts: list[str],
) -> str:
    """What a part looks like, without its values; widths: of its lines, from 0 to 1."""
    large = high == LARGE
    widths = widths or [0.12] * len(places)
    step = places[1] - places[0]
    if name == "tokens":
        return _texts(places, tokens, high - 18 if large else high / 2 + 5)
    if name == "vectors":
        side, y = (12, 14) if large else (11, 11)
        return "".join(
            f'<rect class="part" x="{x + side * (cell - 2)}" y="{y}" width="{side}" '
            f'height="{side}"/>'
            for x in places
            for cell in range(4)
        )
    if name == "attention":
        down = high - 28 if large else high - 4
        return "".join(
            _line(f"M{places[at]} 5C{places[at]} {down * 0.6} {x} {down * 0.4} {x} {down}", wide)
            for x, wide in zip(places, widths, strict=True)
        )
    if name == "layer":
        left, wide = places[0] - step / 2 + 8, step * len(places) - 16
        return f'<rect class="part" x="{left}" y="8" width="{wide}" height="{high - 14}" rx="5"/>'
    if name == "answers":
        tall = 44 if large else 22
        return "".join(
            f'<rect class="part" x="{x - step / 2 + 4}" y="{(high - tall) / 2}" '
            f'width="{step - 8}" height="{tall}" rx="5"/>'
            for x, token, text in zip(places, tokens, texts or tokens, strict=True)
            if (text if texts else token in ("[CLS]", "[MASK]"))
        )
    return "".join(
        _line(f"M{x} 5V{high - 6}m-4-6l4 6l4-6", wide)
        for x, wide in zip(places, widths, strict=True)
    )


def _line(path: str, width: float) -> str:
    return f'<path class="line" d="{path}" stroke-width="{max(0.8, WIDEST * width):.1f}"/>'


def _texts(places: list[float], texts: Sequence[str], y: float, kind: str = "") -> str:
    """Centred below each other if a text has several lines."""
    return "".join(
        f'<text class="{kind}" x="{x}" y="{y + 9 * (2 * number - text.count(chr(10)))}">'
        f"{html.escape(line)}</text>"
        for x, text in zip(places, texts, strict=False)
        for number, line in enumerate(text.split("\n"))
    )
