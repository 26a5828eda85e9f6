"""The input of a BertViz view: a text or a translation, chosen layers and heads, size limits."""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from torch import Tensor

from bertlab.interpretability.traces import TranslationTrace
from bertlab.viz.attention_input import check_index, check_layers, check_tokens
from bertlab.viz.bertviz_pages import MOST_CHARACTERS, View, attention_view

MOST_LINES = 100_000  # of an opened head


class Shown(NamedTuple):
    """The content of a view: a list of layers, [H, L, L'], per kind of attention, and a menu."""

    caller: str
    parts: list[list[Tensor]]
    views: list[View]

    @property
    def size(self) -> tuple[int, int]:
        """The number of layers, and of heads per layer."""
        return len(self.parts[0]), self.parts[0][0].shape[0]

    @property
    def words(self) -> str:
        """The tokens on the left at first."""
        return " ".join(self.views[0]["left_text"])

    @property
    def longest(self) -> int:
        """The number of tokens in the longest column."""
        return max(len(view[side]) for view in self.views for side in ("left_text", "right_text"))


def of_a_text(
    caller: str,
    attentions: Sequence[Tensor] | Tensor,
    tokens: Sequence[str],
    sentence_b_start: int | None,
    key_tokens: Sequence[str] | None = None,
) -> Shown:
    """One text, or two sentences that see each other, or the tokens of another text as keys.

    For two sentences the menu has all tokens, each sentence with itself and each with the other.
    """
    tokens = check_tokens(caller, tokens)
    keys = tokens if key_tokens is None else check_tokens(caller, key_tokens, "key_tokens")
    parts = [check_layers(caller, attentions, tokens, keys)]
    if sentence_b_start is None:
        return Shown(caller, parts, [attention_view(None, tokens, keys)])
    if key_tokens is not None:
        raise ValueError(
            f"{caller}: sentence_b_start separates two sentences in `tokens`; with key_tokens "
            "there are two texts already; omit one of the two"
        )
    if not 0 < sentence_b_start < len(tokens):
        raise ValueError(
            f"{caller}: sentence_b_start must be from 1 to {len(tokens) - 1}, so that both "
            f"sentences have a token; got {sentence_b_start}"
        )
    a, b = (0, sentence_b_start), (sentence_b_start, len(tokens))
    pairs = {"A -> Sentence A": (a, a), "B -> Sentence B": (b, b)}
    pairs |= {"A -> Sentence B": (a, b), "B -> Sentence A": (b, a)}
    views = [attention_view("All", tokens, tokens)] + [
        attention_view(f"Sentence {name}", tokens, tokens, rows=rows, columns=columns)
        for name, (rows, columns) in pairs.items()
    ]
    return Shown(caller, parts, views)


def of_a_translation(
    caller: str,
    traced: TranslationTrace,
    source_tokens: Sequence[str],
    target_tokens: Sequence[str],
) -> Shown:
    """The attentions of an encoder-decoder: cross, encoder and decoder; see `check_layers`."""
    if not isinstance(traced, TranslationTrace):
        raise ValueError(
            f"{caller}: traced must come from trace_translation; got {type(traced).__name__}"
        )
    source = check_tokens(caller, source_tokens, "source_tokens")
    target = check_tokens(caller, target_tokens, "target_tokens")
    parts = [
        check_layers(caller, traced.cross, target, source),
        check_layers(caller, traced.encoder, source),
        check_layers(caller, traced.decoder, target),
    ]
    sizes = [(len(part), part[0].shape[0]) for part in parts]
    if len(set(sizes)) > 1:
        raise ValueError(
            f"{caller}: encoder and decoder must have the same number of layers and heads; "
            f"got (layers, heads) {sizes}"
        )
    views = [
        attention_view("Cross: target → source", target, source),
        attention_view("Encoder: source → source", source, source, part=1),
        attention_view("Decoder: target → target", target, target, part=2),
    ]
    return Shown(caller, parts, views)


def choose(caller: str, name: str, chosen: Sequence[int] | None, size: int) -> list[int]:
    """The chosen layers or heads, in order; all of them if nothing was chosen."""
    if chosen is None:
        return list(range(size))
    if isinstance(chosen, str) or not isinstance(chosen, Iterable):
        raise ValueError(f"{caller}: {name} must be a list, such as {name}=[0]; got {chosen!r}")
    if not (numbers := sorted({check_index(caller, name, index, size) for index in chosen})):
        raise ValueError(
            f"{caller}: {name} must hold at least one {name.removesuffix('s')}; omit it to see all"
        )
    return numbers


def seen_first(caller: str, name: str, value: int | None, shown: list[int], size: int) -> int:
    """The layer or the head shown first: `value`, otherwise the first of those shown."""
    if value is None:
        return shown[0]
    if (number := check_index(caller, name, value, size)) not in shown:
        raise ValueError(f"{caller}: {name} must be one of {name}s={shown}; got {value}")
    return number


def check_lines_of_a_head(caller: str, parts: list[list[Tensor]]) -> None:
    """Raise ValueError if an opened head has more lines than a browser draws at once."""
    lines = max(part[0][0].numel() for part in parts)
    if lines > MOST_LINES:
        raise ValueError(
            f"{caller}: a head of this text has {lines:,} lines; at most {MOST_LINES:,} are "
            f"drawn; shorten the text to {math.isqrt(MOST_LINES)} tokens"
        )


def check_size(caller: str, parts: list[list[Tensor]], advice: str) -> None:
    """Raise ValueError if the probabilities, [H, L, L'] per layer, are too many for one page."""
    numbers = sum(layer.numel() for part in parts for layer in part)
    most = MOST_CHARACTERS // 2
    if numbers > most:
        heads = sum(layer.shape[0] for part in parts for layer in part)
        fits = math.isqrt(most // heads)
        raise ValueError(
            f"{caller}: a page holds at most {most:,} probabilities, which makes it 3 MB; got "
            f"{numbers:,}; choose layers or heads ({advice}), or a text of at most {fits} tokens"
        )
