"""Type a text and look at any head: its heat map, with and without [CLS] and [SEP].

All heads of the text are in the frame, which draws by itself what you choose: it needs no kernel,
and works in an exported page. Only the box to type in asks Python, which runs the model on the new
text and brings a new frame.
"""

import html
import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field

from torch import Tensor

from bertlab.interpretability.traces import trace
from bertlab.model.bert import Bert
from bertlab.model.heads import BertForPreTraining
from bertlab.tokenizers.encoding import CLS, SEP
from bertlab.tokenizers.tokenizer import Tokenizer
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
from bertlab.viz.text import Rendered
from bertlab.viz.text_boxes import NO_BOX, sendable

TITLE = "What each head attends to"
CAN_HIDE = (CLS, SEP)
AGAIN = '<p class="again">If the map no longer follows what you type, run the cell again.</p>'
# What may be shown of a probability; heat_table.js says how.
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
) -> Frame:
    """The heat map of any head, chosen by two sliders; it can leave [CLS] and [SEP] out.

    attentions: one tensor a layer, [1, H, L, L] or [H, L, L], rows sum to 1; tokens: L strings;
    layer and head: those shown first, from 0; alt: the first map in words, otherwise sentences are
    made.

    The cells show the probability, or how many times chance it is (chance: the head attends to
    all keys alike), or how many times what the key gets from a query on average. Where tokens are
    hidden, their rows and columns are left out and every row sums to 1 again.

    Raises ValueError if the tensors, the tokens and the indices do not fit each other, if there
    are over 80 tokens, or over a million numbers.
    """
    return _head_maps(attentions, tokens, layer, head, title, alt, key="")


def head_explorer(
    model: Bert | BertForPreTraining,
    tokenizer: Tokenizer,
    text: str,
    pair: str | None = None,
    *,
    layer: int = 0,
    head: int = 0,
    on_enter: bool = False,
    title: str = TITLE,
    alt: str | None = None,
) -> "HeadExplorer":
    """A box to type in, and below it the heat map of any head of the model, as in `head_maps`.

    text: what stands in the box at first; pair: a second text, which has a box of its own; layer
    and head: those shown first, from 0; on_enter: ask only when Enter is pressed, for a model that
    takes longer than a tenth of a second. What you chose stays chosen while you type.

    Raises ValueError as `trace` and `head_maps` for the first text; what is wrong with a later one
    stands in its place, in words.
    """
    for name, value in (("text", text), ("pair", pair)):
        if not isinstance(value, str) and not (name == "pair" and value is None):
            raise ValueError(f"head_explorer: {name} must be a string; got {type(value).__name__}")
    texts = (text,) if pair is None else (text, pair)
    explorer = HeadExplorer(model, tokenizer, texts, layer, head, on_enter, title, alt)
    explorer.draw(*texts)  # what is wrong is said here, and not in place of the first map
    return explorer


@dataclass(frozen=True, repr=False, eq=False)
class HeadExplorer:
    """One box or two, and the heat map below; made by `head_explorer`."""

    model: Bert | BertForPreTraining
    tokenizer: Tokenizer
    texts: tuple[str, ...]
    layer: int
    head: int
    on_enter: bool
    title: str
    alt: str | None
    # The page around the frames keeps under this name what was chosen, from frame to frame.
    key: str = field(default_factory=lambda: secrets.token_hex(6))

    def draw(self, *texts: str) -> Frame:
        """The frame for one text, or for two. Raises ValueError if the model cannot read them."""
        traced = trace(self.model, self.tokenizer, *map(sendable, texts))
        if set(traced.tokens) <= set(CAN_HIDE):
            raise ValueError("head_explorer: text must hold at least one word; it is empty")
        alt = self.alt if texts == self.texts else None  # it describes the first text
        return _head_maps(
            traced.attentions, traced.tokens, self.layer, self.head, self.title, alt, self.key
        )

    def answer(self, *texts: str) -> Frame | Rendered:
        """The frame, or the words of a ValueError in its place."""
        try:
            return self.draw(*texts)
        except ValueError as error:
            words = sendable(str(error))
            return Rendered(f"<p><strong>No map.</strong> {html.escape(words)}</p>", words)

    def __repr__(self) -> str:
        return repr(self.answer(*self.texts))

    def _ipython_display_(self) -> None:
        from IPython.display import display
        from ipywidgets import Layout, Text

        names = ("Type here",) if len(self.texts) == 1 else ("First text", "Second text")
        boxes = [
            Text(
                sendable(text),
                description=name,
                continuous_update=not self.on_enter,
                style={"description_width": "initial"},
                layout=Layout(width="auto"),
            )
            for name, text in zip(names, self.texts, strict=True)
        ]
        for box in boxes:
            # Words in place of a box where no widget can be: in an export, or on GitHub.
            here = box is boxes[0]
            words = {
                "text/plain": NO_BOX if here else "",
                "text/html": f"<p><em>{NO_BOX}</em></p>" if here else "",
            }
            display({**box._repr_mimebundle_(), **words}, raw=True)
        shown = display(self.answer(*self.texts), display_id=True)
        for box in boxes:
            box.observe(
                lambda _: shown.update(self.answer(*(box.value for box in boxes))), names="value"
            )


def _head_maps(
    attentions: Sequence[Tensor] | Tensor,
    tokens: Sequence[str],
    layer: int,
    head: int,
    title: str,
    alt: str | None,
    key: str,
) -> Frame:
    tokens = list(tokens)
    layers = check_map("head_maps", attentions, tokens)
    n_layers, n_heads = layers.shape[:2]
    for name, value, size in (("layer", layer, n_layers), ("head", head, n_heads)):
        if not 0 <= value < size:
            raise ValueError(f"head_maps: {name} must be from 0 to {size - 1}; got {value}")
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
        css=read_asset("flipbook.css")
        + read_asset("heat_table.css")
        + read_asset("head_explorer.css")
        + heat_colours(),
        scripts=[
            f"const FACTS = {json.dumps(facts)};",
            read_asset("heat_table.js"),
            read_asset("head_explorer.js"),
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
    words = set(tokens) - set(CAN_HIDE)  # something must be left
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
