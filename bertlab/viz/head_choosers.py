"""The heat map of any head, with and without [CLS] and [SEP].

All heads of the text are in the frame, which draws your choice: it needs no kernel, and works in an
exported page. Each probability takes 16 bits. Python draws the same table as the script at first:
it is visible even if no script runs.
"""

import base64
import html
import json
from collections.abc import Sequence
from functools import cache
from typing import Any

import torch
from torch import Tensor

from bertlab.tokenizers.words import CLS, SEP
from bertlab.viz.attention_input import check_index, check_layers, check_tokens, is_causal
from bertlab.viz.frames import Frame, frame, read_asset
from bertlab.viz.heatmaps import KEY, QUERY, describe

TITLE = "What each head attends to"
CAN_HIDE = (CLS, SEP)
AGAIN = '<p class="again">If the map no longer follows what you type, run the cell again.</p>'
# What can be shown for a probability; see heat_table.js.
MEASURES = {
    "probability": "probability",
    "chance": "times chance",
    "key": "times the key's mean",
}


def head_maps(
    attentions: Sequence[Tensor] | Tensor,
    tokens: Sequence[str],
    *,
    layer: int = 0,
    head: int = 0,
    title: str = TITLE,
    alt: str | None = None,
    key: str = "",
) -> Frame:
    """The heat map of any head, chosen by two sliders; it can omit [CLS] and [SEP].

    attentions: one tensor per layer, [1, H, L, L] or [H, L, L], rows sum to 1; tokens: L strings;
    layer and head: those shown first, from 0; alt: the first map in words, by default generated;
    key: under this name, up to 99 letters and digits, the enclosing page keeps the choices for the
    next frame with the same key; by default nothing is kept.

    The cells show the probability, or its ratio to chance (chance: the head attends to all keys
    equally), or its ratio to the key's mean over queries. The rows and columns of hidden tokens
    are omitted, and every row is normalised to sum to 1 again.

    Raises ValueError if the tensors, the tokens and the indices do not fit each other, if there
    are over 80 tokens, or over a million numbers.
    """
    tokens = check_tokens("head_maps", tokens)
    layers = check_map("head_maps", attentions, tokens)
    n_layers, n_heads = layers.shape[:2]
    layer = check_index("head_maps", "layer", layer, n_layers)
    head = check_index("head_maps", "head", head, n_heads)
    facts = map_facts(layers, tokens) | {"layer": layer, "head": head, "key": key}
    words = (
        f"Layer {layer}, head {head}, of {n_layers} layers with {n_heads} heads. "
        f"{describe(layers[layer, head], tokens, tokens)}"
    )
    return frame(
        f"<h1>{html.escape(title)}</h1>{_controls(tokens, n_layers, n_heads, layer, head)}"
        f'<p class="caption" aria-live="polite">Layer {layer}, head {head}</p>'
        f"{heat_table(layers[layer, head], tokens)}"
        f"{legend('v', '0 %', '100 %')}{legend('d', '⅛ or less', '8 times or more')}"
        '<p class="reading" aria-live="polite"></p><p class="note">Every row sums to 100 %.</p>'
        f"{AGAIN if key else ''}",
        title=title,
        alt=alt or words,
        css=read_asset("controls.css")
        + read_asset("heat_table.css")
        + read_asset("head_chooser.css")
        + heat_colours(),
        scripts=[
            f"const FACTS = {json.dumps(facts)};",
            read_asset("heat_table.js"),
            read_asset("head_chooser.js"),
        ],
        height=table_height(tokens) + 250,
    )


def _controls(tokens: list[str], n_layers: int, n_heads: int, layer: int, head: int) -> str:
    sliders = "".join(
        f'<div class="axis"><label for="{name}">{name.capitalize()}</label>'
        f'<input type="range" id="{name}" min="0" max="{size - 1}" value="{start}"'
        f'{" disabled" if size == 1 else ""}><output for="{name}">{start}</output></div>'
        for name, size, start in (("layer", n_layers, layer), ("head", n_heads, head))
    )
    options = "".join(f'<option value="{key}">{name}</option>' for key, name in MEASURES.items())
    words = set(tokens) - set(CAN_HIDE)  # at least one token must remain
    switches = "".join(
        f'<label><input type="checkbox" name="hide" value="{token}"> hide {token}</label>'
        for token in CAN_HIDE
        if words and token in tokens
    )
    return (
        f'<div class="controls" role="group" aria-label="Choose a head">{sliders}</div>'
        f'<div class="controls" role="group" aria-label="Choose what is shown">'
        f'<label>Show <select id="measure">{options}</select></label>{switches}</div>'
    )


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
