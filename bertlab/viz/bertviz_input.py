"""What goes into a BertViz view: choices of layers and heads, translations, and a size limit."""

import math
from collections.abc import Sequence

from torch import Tensor

from bertlab.interpretability.traces import TranslationTrace
from bertlab.viz.attention_input import check_layers, check_tokens
from bertlab.viz.bertviz_pages import MOST_CHARACTERS, View, attention_view, sentence_views

MOST_LINES = 100_000  # of a head that is opened


def choose(caller: str, name: str, chosen: Sequence[int] | None, size: int) -> list[int]:
    """The chosen layers or heads, in order; all of them if nothing was chosen."""
    if chosen is None:
        return list(range(size))
    if len(chosen) == 0:
        raise ValueError(
            f"{caller}: {name} must hold at least one {name.removesuffix('s')}; "
            "leave it out to see all"
        )
    for index in chosen:
        check_index(caller, name, index, size)
    return sorted(set(chosen))


def check_index(caller: str, name: str, value: int | None, size: int) -> None:
    """Raise ValueError unless `value` is None or from 0 to size - 1."""
    if value is not None and not 0 <= value < size:
        raise ValueError(f"{caller}: {name} must be from 0 to {size - 1}; got {value}")


def seen_first(caller: str, name: str, value: int | None, shown: list[int], size: int) -> int:
    """The layer or the head that is seen first: `value`, otherwise the first of those shown."""
    check_index(caller, name, value, size)
    if value is not None and value not in shown:
        raise ValueError(f"{caller}: {name} must be one of {name}s={shown}; got {value}")
    return shown[0] if value is None else value


def check_lines_of_a_head(caller: str, parts: list[list[Tensor]]) -> None:
    """Raise ValueError if a head that is opened has more lines than a browser draws at once."""
    lines = max(part[0][0].numel() for part in parts)
    if lines > MOST_LINES:
        raise ValueError(
            f"{caller}: a head of this text has {lines:,} lines; at most {MOST_LINES:,} are "
            f"drawn; shorten the text to {math.isqrt(MOST_LINES)} tokens"
        )


def check_size(caller: str, parts: list[list[Tensor]], advice: str) -> None:
    """Raise ValueError if the probabilities, [H, L, L'] a layer, are too many for one page."""
    numbers = sum(layer.numel() for part in parts for layer in part)
    most = MOST_CHARACTERS // 2
    if numbers > most:
        heads = sum(layer.shape[0] for part in parts for layer in part)
        fits = math.isqrt(most // heads)
        raise ValueError(
            f"{caller}: a page holds at most {most:,} probabilities, which makes it 3 MB; got "
            f"{numbers:,}; choose layers or heads ({advice}), or a text of at most {fits} tokens"
        )


def self_or_cross_views(
    caller: str,
    tokens: list[str],
    key_tokens: Sequence[str] | None,
    sentence_b_start: int | None,
) -> list[View]:
    """One text, or two sentences that see each other, or the tokens of another text as keys."""
    if key_tokens is not None and sentence_b_start is not None:
        raise ValueError(
            f"{caller}: sentence_b_start tells two sentences among `tokens` apart; with key_tokens "
            "there are two texts already; leave one of them out"
        )
    if sentence_b_start is not None and not 0 < sentence_b_start < len(tokens):
        raise ValueError(
            f"{caller}: sentence_b_start must be from 1 to {len(tokens) - 1}, so that both "
            f"sentences have a token; got {sentence_b_start}"
        )
    if key_tokens is not None:
        return [attention_view(None, tokens, list(key_tokens))]
    return sentence_views(tokens, sentence_b_start)


def check_translation(
    caller: str,
    traced: TranslationTrace,
    source_tokens: Sequence[str],
    target_tokens: Sequence[str],
) -> list[list[Tensor]]:
    """Cross, encoder and decoder attentions, each a list of layers; see `check_layers`."""
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
            f"{caller}: encoder and decoder must have as many layers and heads as each other; "
            f"got (layers, heads) {sizes}"
        )
    return parts


def translation_views(source_tokens: list[str], target_tokens: list[str]) -> list[View]:
    """The three attentions of an encoder-decoder, in the order of `check_translation`."""
    return [
        attention_view("Cross: target → source", target_tokens, source_tokens),
        attention_view("Encoder: source → source", source_tokens, source_tokens, part=1),
        attention_view("Decoder: target → target", target_tokens, target_tokens, part=2),
    ]
