"""Type a text and view any head: its heat map, with and without [CLS] and [SEP].

The frame below the box draws your choice itself. Only the box calls Python, which runs the model
on the new text and makes a new frame.
"""

import secrets

from bertlab.interpretability.traces import trace
from bertlab.model.bert import Bert
from bertlab.model.heads import BertForPreTraining
from bertlab.tokenizers.tokenizer import Tokenizer
from bertlab.viz import Frame, head_maps
from bertlab.viz.head_choosers import CAN_HIDE
from course.widgets.text_boxes import TextBox, sendable


def head_explorer(
    model: Bert | BertForPreTraining,
    tokenizer: Tokenizer,
    text: str,
    pair: str | None = None,
    *,
    layer: int = 0,
    head: int = 0,
) -> TextBox:
    """A text box, and below it the heat map of any head of the model, as in `head_maps`.

    text: the initial text; pair: a second text, with its own box; layer and head: those shown
    first, from 0. Your choices are kept while you type.

    Raises ValueError as `trace` and `head_maps` for the first text; for a later one, the error's
    message is shown.
    """
    for name, value in (("text", text), ("pair", pair)):
        if not isinstance(value, str) and not (name == "pair" and value is None):
            raise ValueError(f"head_explorer: {name} must be a string; got {type(value).__name__}")
    texts = (sendable(text),) if pair is None else (sendable(text), sendable(pair))
    key = secrets.token_hex(6)

    def draw(*typed: str) -> Frame:
        traced = trace(model, tokenizer, *typed)
        if set(traced.tokens) <= set(CAN_HIDE):
            raise ValueError("head_explorer: text must hold at least one word; it is empty")
        return head_maps(traced.attentions, traced.tokens, layer=layer, head=head, key=key)

    draw(*texts)  # raises errors instead of showing them
    labels = ("Type here",) if pair is None else ("First text", "Second text")
    return TextBox(draw, texts, labels, refusal="No map.", live=("pieces", "attention"))
