"""All heads of a model in one picture, sorted by what they attend to.

Every head is a small heat map drawn by Python, with its score below. The page can sort them in
another order and show one of them large; it needs no kernel.
"""

import base64
import io
import json
from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from bertlab.interpretability.patterns import (
    attention_entropy,
    attention_to_offset,
    attention_to_tokens,
    mean_distance,
)
from bertlab.tokenizers.words import SEP
from bertlab.viz.attention_input import is_causal
from bertlab.viz.frames import Frame, frame, read_asset
from bertlab.viz.head_choosers import (
    check_map,
    heat_colours,
    heat_table,
    legend,
    map_facts,
)

TITLE = "All heads"
SHADES = 64  # colours of a small map: more are not visible, and the page would be larger
ROOTS_SHOWN = (
    '<p class="note">Small maps: the colour follows the square root of the probability, so that '
    "weak attention shows; the middle of the strip is 25 %. Large map: the middle is 50 %.</p>"
)


class Order(NamedTuple):
    """A way to sort heads: its name, and the meaning of a score."""

    name: str
    first: str  # the heads at the beginning
    highest_first: bool
    unit: str  # "%": scores are shares


ORDERS = {
    "layer": Order("layer and head", "the first layer", False, ""),
    "entropy": Order("entropy", "the sharpest heads", False, "nats"),
    "distance": Order("distance", "heads that look nearby", False, "tokens"),
    "previous": Order("attention to the previous token", "the most of it", True, "%"),
    "next": Order("attention to the next token", "the most of it", True, "%"),
    "itself": Order("attention to the token itself", "the most of it", True, "%"),
    "separator": Order(f"attention to {SEP}", "the most of it", True, "%"),
}


def head_gallery(
    attentions: Sequence[Tensor] | Tensor,
    tokens: Sequence[str],
    *,
    by: str = "layer",
) -> Frame:
    """All heads as small heat maps, named layer.head, sorted by a pattern; one is shown large.

    attentions: one tensor per layer, [1, H, L, L] or [H, L, L], rows sum to 1; tokens: L strings,
    at least 2; by: the initial order, "layer", "entropy" (lowest first), "distance" (lowest first),
    "previous", "next", "itself" or "separator" (highest first); the page offers all of them.

    Below each head is its score, a mean over the queries of this text
    (`bertlab.interpretability.patterns`), and above all of them the score of a head with uniform
    attention.

    Raises ValueError as `head_maps`, if `by` is not an order, or if it is "separator" and there is
    no [SEP].
    """
    tokens = list(tokens)
    layers = check_map("head_gallery", attentions, tokens)
    if len(tokens) < 2:
        raise ValueError("head_gallery: tokens must be at least 2, to look at each other; got 1")
    if by not in ORDERS:
        raise ValueError(f"head_gallery: by must be one of {', '.join(ORDERS)}; got {by!r}")
    # Rounded, because the last digits of a mean are noise, and equal heads must keep their order.
    scores = {
        name: score(layers).float().round(decimals=6) for name, score in _scores(tokens).items()
    }
    if by not in scores:
        raise ValueError(f"head_gallery: tokens must hold {SEP} to sort by it; got {tokens}")
    chance = {name: score(_alike(layers)).item() for name, score in _scores(tokens).items()}
    n_heads = layers.shape[1]
    facts = map_facts(layers, tokens) | {
        "orders": {name: ORDERS[name]._asdict() for name in scores},
        "scores": {name: score.flatten().tolist() for name, score in scores.items()},
        "chance": chance,
    }
    first = int(sort_heads(scores[by], ORDERS[by].highest_first)[0])
    return frame(
        f"<h1>{TITLE}</h1>{_controls(scores, by)}"
        f'<p class="caption" aria-live="polite">{_caption(by, chance[by])}</p>'
        f'<div class="two"><div><ol class="gallery" style="--columns:{min(n_heads, 12)}">'
        f"{_gallery(layers, scores[by], by)}</ol>{legend('v', '0 %', '100 %')}{ROOTS_SHOWN}</div>"
        f'<section aria-label="One head, large"><h2 class="which">Head {first // n_heads}.'
        f"{first % n_heads}</h2>{heat_table(layers.flatten(0, 1)[first], tokens)}"
        '<p class="reading" aria-live="polite"></p></section></div>',
        title=TITLE,
        alt=_words(layers, tokens, scores[by], by),
        css=read_asset("controls.css")
        + read_asset("heat_table.css")
        + read_asset("head_gallery.css", __package__)
        + heat_colours(),
        scripts=[
            f"const FACTS = {json.dumps(facts)};",
            read_asset("heat_table.js"),
            read_asset("head_gallery.js", __package__),
        ],
        height=700,
    )


def sort_heads(scores: Tensor, highest_first: bool) -> list[int]:
    """Numbers of the heads in order, layer * H + head; equal ones keep their order.

    scores: [n_layers, H].

    >>> sort_heads(torch.tensor([[0.2, 0.9], [0.2, 0.5]]), highest_first=True)
    [1, 3, 0, 2]
    """
    return scores.flatten().argsort(descending=highest_first, stable=True).tolist()


def _scores(tokens: list[str]) -> dict[str, Callable[[Tensor], Tensor]]:
    """Name of an order -> from attention [..., L, L] to scores [...]."""
    separators = torch.tensor([token == SEP for token in tokens])
    scores = {
        "layer": lambda layers: torch.arange(layers[..., 0, 0].numel()).view(layers.shape[:-2]),
        "entropy": lambda layers: attention_entropy(layers).mean(dim=-1),
        "distance": lambda layers: mean_distance(layers).mean(dim=-1),
        "previous": lambda layers: attention_to_offset(layers, -1),
        "next": lambda layers: attention_to_offset(layers, 1),
        "itself": lambda layers: attention_to_offset(layers, 0),
    }
    if separators.any():
        scores["separator"] = lambda layers: attention_to_tokens(layers, separators)
    return scores


def _alike(layers: Tensor) -> Tensor:
    """Uniform attention over the visible keys, [L, L]."""
    seen = torch.ones(layers.shape[-2:])
    seen = seen.tril() if is_causal(layers) else seen
    return seen / seen.sum(dim=-1, keepdim=True)


def say_score(by: str, score: float) -> str:
    """A score with its unit, as in the script.

    >>> say_score("entropy", 1.234), say_score("previous", 0.4567), say_score("layer", 3)
    ('1.23 nats', '46 %', '')
    """
    unit = ORDERS[by].unit
    if not unit:
        return ""
    return f"{int(100 * score + 0.5)} %" if unit == "%" else f"{score:.2f} {unit}"


def _caption(by: str, chance: float) -> str:
    order = ORDERS[by]
    words = f"Sorted by {order.name}: {order.first} first."
    if not order.unit:
        return words
    return f"{words} A head that attends to all tokens alike has {say_score(by, chance)}."


def _controls(scores: dict[str, Tensor], by: str) -> str:
    options = "".join(
        f'<option value="{name}"{" selected" if name == by else ""}>{ORDERS[name].name}</option>'
        for name in scores
    )
    return (
        '<div class="controls" role="group" aria-label="Sort the heads">'
        f'<label>Sort by <select id="by">{options}</select></label>'
        '<label><input type="checkbox" id="reverse"> the other way round</label></div>'
    )


def _gallery(layers: Tensor, scores: Tensor, by: str) -> str:
    heads, said = layers.flatten(0, 1), scores.flatten().tolist()
    n_heads = layers.shape[1]
    order = sort_heads(scores, ORDERS[by].highest_first)
    return "".join(
        f'<li><button type="button" data-head="{number}" aria-pressed="{_yes(place == 0)}">'
        f'<img alt="" src="data:image/png;base64,{_small(heads[number])}">'
        f"<b>{number // n_heads}.{number % n_heads}</b>"
        f'<span class="score">{say_score(by, said[number])}</span></button></li>'
        for place, number in enumerate(order)
    )


def _yes(true: bool) -> str:
    return "true" if true else "false"


def _small(head: Tensor) -> str:
    """One head, [L, L], as a picture, one pixel per cell: viridis of the root of the probability.

    The root, because otherwise most heads of a long text would be black.
    """
    from matplotlib import colormaps
    from PIL import Image  # installed with matplotlib

    shades = (head.sqrt() * (SHADES - 1)).round().byte().numpy()
    colours = colormaps["viridis"].resampled(SHADES)(range(SHADES), bytes=True)[:, :3]
    picture = Image.fromarray(shades)
    picture.putpalette(colours.tobytes())
    buffer = io.BytesIO()
    picture.save(buffer, "PNG", optimize=True)
    return base64.b64encode(buffer.getvalue()).decode()


def _words(layers: Tensor, tokens: list[str], scores: Tensor, by: str) -> str:
    n_layers, n_heads = layers.shape[:2]
    words = (
        f"Small heat maps of all heads, {n_layers} layers with {n_heads} each, for the tokens: "
        f"{' '.join(tokens)}."
    )
    if by == "layer":
        return words
    best = sort_heads(scores, ORDERS[by].highest_first)[:3]
    named = ", ".join(
        f"{number // n_heads}.{number % n_heads} ({say_score(by, scores.flatten()[number].item())})"
        for number in best
    )
    return f"{words} Sorted by {ORDERS[by].name}, {ORDERS[by].first} first: {named}."
