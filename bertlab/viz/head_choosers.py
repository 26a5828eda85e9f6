"""The heat map of any head, with and without [CLS] and [SEP].

All heads of the text are in the frame, which draws your choice: it needs no kernel, and works in an
exported page.
"""

import html
import json
from collections.abc import Sequence

from torch import Tensor

from bertlab.tokenizers.words import CLS, SEP
from bertlab.viz.attention_input import check_index, check_tokens
from bertlab.viz.frames import Frame, frame, read_asset
from bertlab.viz.heat_tables import (
    check_map,
    heat_colours,
    heat_table,
    legend,
    map_facts,
    table_height,
)
from bertlab.viz.heatmaps import describe

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
