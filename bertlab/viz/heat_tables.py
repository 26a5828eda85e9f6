"""Heat maps that a frame's script draws again: the numbers of all heads, colours, the first table.

All heads of a text are in the page, 16 bits per probability, so choosing another head or hiding a
token needs no kernel. Python draws the same table as the script at first: it is visible even if no
script runs.
"""

import base64
import html
from collections.abc import Sequence
from functools import cache
from typing import Any

import torch
from torch import Tensor

from bertlab.viz.attention_input import check_layers, is_causal
from bertlab.viz.heatmaps import KEY, QUERY

MOST_TOKENS = 80  # more rows and columns would be too small to read
MOST_NUMBERS = 1_000_000  # a page of 2.7 MB
ROOTS = 65_535  # the largest 16-bit number represents a probability of 1
OCTAVES = 3  # ratios are coloured from 1/8 to 8
NUMBERS_UP_TO, SMALL_UP_TO = 20, 40  # columns with numbers, and with cells of middle size


def check_map(caller: str, attentions: Sequence[Tensor] | Tensor, tokens: list[str]) -> Tensor:
    """The attentions of one text as one tensor [n_layers, H, L, L], if a page can hold them.

    Raises ValueError as `check_layers`, or if there are too many tokens or numbers.
    """
    layers = torch.stack(check_layers(caller, attentions, tokens))
    if len(tokens) > MOST_TOKENS:
        raise ValueError(
            f"{caller}: tokens must be at most {MOST_TOKENS}, or the cells are too small to see; "
            f"got {len(tokens)}; use a shorter text"
        )
    if layers.numel() > MOST_NUMBERS:
        raise ValueError(
            f"{caller}: attentions must hold at most {MOST_NUMBERS:,} numbers, or the page is "
            f"too large; got {layers.numel():,}; use fewer layers or a shorter text"
        )
    return layers


def map_facts(layers: Tensor, tokens: list[str]) -> dict[str, Any]:
    """The data that the script needs to draw any head. layers: [n_layers, H, L, L]."""
    return {
        "tokens": tokens,
        "n_layers": layers.shape[0],
        "n_heads": layers.shape[1],
        "causal": is_causal(layers),
        "octaves": OCTAVES,
        "numbersUpTo": NUMBERS_UP_TO,
        "smallUpTo": SMALL_UP_TO,
        "packed": pack_roots(layers),
    }


def pack_roots(probabilities: Tensor) -> str:
    """Probabilities as text, 16 bits each: their square roots, which keep small ones exact.

    >>> pack_roots(torch.tensor([0.0, 1.0]))
    'AAD//w=='
    """
    return base64.b64encode(_roots(probabilities).numpy().astype("<u2").tobytes()).decode()


def heat_table(head: Tensor, tokens: list[str]) -> str:
    """One head, [L, L], as the script draws it at first: probabilities in percent."""
    names = [html.escape(token) for token in tokens]
    packed = (_roots(head) / ROOTS).square()  # the script's numbers, so that both show the same
    head = packed / packed.sum(dim=-1, keepdim=True)
    columns = "".join(f'<th scope="col"><span>{name}</span></th>' for name in names)
    numbers = len(tokens) <= NUMBERS_UP_TO
    rows = []
    for name, probabilities in zip(names, head.tolist(), strict=True):
        percents = [int(100 * value + 0.5) for value in probabilities]  # as Math.round
        cells = "".join(f'<td class="v{p}">{p if numbers else ""}</td>' for p in percents)
        rows.append(f'<tr><th scope="row">{name}</th>{cells}</tr>')
    axes = f"Percent. Row: {QUERY}. Column: {KEY}."
    return (
        f'<div class="map"><p class="axes">{axes}</p>'
        f'<table class="heat {_size(tokens)}" tabindex="0" aria-label="{axes}">'
        f"<thead><tr><td></td>{columns}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def table_height(tokens: list[str]) -> int:
    """The approximate height of the table in pixels, until it is measured."""
    cell = {"numbers": 26, "small": 18, "tiny": 11}[_size(tokens)]
    return cell * len(tokens) + 8 * max(map(len, tokens)) + 40


def legend(kind: str, low: str, high: str) -> str:
    """The legend of the colours: a strip from `low` to `high`. kind: the class, "v" or "d"."""
    return (
        f'<p class="legend" data-kind="{kind}"><span>{low}</span><span class="strip {kind}">'
        f"</span><span>{high}</span></p>"
    )


@cache  # the same for every frame, and every key press makes a frame
def heat_colours() -> str:
    """A class for each percent, v0 to v100 for amounts and d0 to d100 for ratios, and the strips.

    Ratios range from orange (1/8 or less) over white (1) to purple (8 or more), which are
    colour-blind safe.
    """
    rules = []
    for kind, colours in (("v", "viridis"), ("d", "PuOr")):
        shades = [_hex(colours, percent) for percent in range(101)]
        rules += [
            f".heat .{kind}{percent}{{background:{shade};color:{_ink(shade)}}}\n"
            for percent, shade in enumerate(shades)
        ]
        strip = ",".join(shades[::10])
        rules.append(f".strip.{kind}{{background:linear-gradient(90deg,{strip})}}\n")
    return "".join(rules)


def _size(tokens: list[str]) -> str:
    if len(tokens) <= NUMBERS_UP_TO:
        return "numbers"
    return "small" if len(tokens) <= SMALL_UP_TO else "tiny"


def _roots(probabilities: Tensor) -> Tensor:
    return (probabilities.clamp(0, 1).double().sqrt() * ROOTS).round()


def _hex(colours: str, percent: int) -> str:
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    return to_hex(colormaps[colours](percent / 100))


def _ink(colour: str) -> str:
    """Black or white, whichever has more contrast to a colour.

    Source: W3C (2018), Web Content Accessibility Guidelines 2.1, "relative luminance".

    >>> _ink("#fde725"), _ink("#440154")
    ('#000', '#fff')
    """
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return "#000" if luminance > 0.179 else "#fff"  # the contrast with both is the same there
