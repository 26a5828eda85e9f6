"""Watch a decoder write: its attention, its alternatives, and the hypotheses of a beam.

Pages are drawn by Python behind a slider (`flipbooks.py`), one per written symbol.
"""

import html
import math
from collections.abc import Callable, Sequence

from torch import Tensor

from bertlab.viz.attention_input import check_matrix
from bertlab.viz.frames import Frame, read_asset
from course.models.seq2seq.decoding import Beam, Hypothesis
from course.widgets.flipbooks import bar, flipbook

CHOICES = 5  # most likely next symbols per page
NAMED_FROM = 10  # percent: the caption names symbols with at least this attention


def decoding_flipbook(
    source: Sequence[str],
    written: Sequence[str],
    cross_attention: Tensor,
    probabilities: Tensor,
    symbols: Sequence[str],
) -> Frame:
    """One page per step: the source coloured by cross-attention, and the most likely next symbols.

    source: L symbols that the encoder read; written: T symbols in the order of writing;
    cross_attention: [T, L], the decoder's attention before it wrote each, rows sum to 1;
    probabilities: [T, V] of the next symbol; symbols: the V symbols.

    Raises ValueError if the tensors and the symbols do not fit each other.
    """
    source, written = list(source), list(written)
    weights = check_matrix("decoding_flipbook", cross_attention, written, source)
    if list(probabilities.shape) != [len(written), len(symbols)]:
        raise ValueError(
            f"decoding_flipbook: probabilities must be [T, V] = [{len(written)}, {len(symbols)}], "
            f"one row for each written symbol; got {list(probabilities.shape)}"
        )
    pages, labels = [], []
    for step, symbol in enumerate(written):
        row, chances = weights[step].tolist(), probabilities[step].tolist()
        pages.append(_page(source, written[:step], symbol, row, chances, symbols))
        labels.append(
            f"Step {step + 1}: writes {_seen(symbol)} ({_percent(chances[symbols.index(symbol)])})"
            f", looking at {_looked_at(source, row)}"
        )
    return flipbook(
        pages,
        labels,
        title="The decoder writes",
        alt=f"One page for each of {len(written)} written symbols: the source "
        f"“{''.join(source)}” coloured by how much the decoder looks at each symbol, what is "
        f"written so far, and the {CHOICES} likeliest next symbols. {'. '.join(labels)}.",
        css=read_asset("decodings.css", __package__),
    )


def beam_flipbook(
    beam: Beam, decode: Callable[[Sequence[int]], str], *, title: str = "Beam search"
) -> Frame:
    """One page per step: the hypotheses in the beam, most likely first.

    beam: from `beam_search` for one source; decode: ids to text, such as `vocabulary.decode`. A
    finished text keeps its place on the later pages.
    """
    if not beam.steps:
        raise ValueError("beam_flipbook: beam must have at least one step; got none")
    pages, labels = [], []
    done: list[Hypothesis] = []
    for number, kept in enumerate(beam.steps, 1):
        shown = sorted([*done, *kept], key=lambda hypothesis: -hypothesis.log_probability)
        pages.append(_beam_table(shown, decode))
        labels.append(f"Step {number}: the likeliest is {_text(shown[0], decode)}")
        done += [hypothesis for hypothesis in kept if hypothesis.finished]
    return flipbook(
        pages,
        labels,
        title=title,
        alt=f"One page for each of {len(pages)} steps: a table of the texts that are kept, with "
        f"their probability and a bar. {'. '.join(labels)}.",
        css=read_asset("decodings.css", __package__),
    )


def _page(
    source: list[str],
    so_far: list[str],
    symbol: str,
    row: list[float],
    chances: list[float],
    symbols: Sequence[str],
) -> str:
    cells = "".join(
        f'<span class="symbol" style="--share:{100 * share:.0f}%">{_seen(token)}'
        f"<small>{round(100 * share) or ''}</small></span>"
        for token, share in zip(source, row, strict=True)
    )
    before = "".join(f'<span class="symbol">{_seen(token)}</span>' for token in so_far)
    best = sorted(range(len(symbols)), key=lambda id: -chances[id])[:CHOICES]
    rows = "".join(
        f'<tr><td class="token">{_seen(symbols[id])}</td><td>{bar(chances[id])}</td>'
        f"<td>{_percent(chances[id])}</td></tr>"
        for id in best
    )
    return (
        '<p class="legend">Source, with the share of attention in percent</p>'
        f'<p class="symbols source">{cells}</p>'
        '<p class="legend">Written so far, and what comes now</p>'
        f'<p class="symbols">{before}<span class="symbol new">{_seen(symbol)}</span></p>'
        '<table class="choices"><thead><tr><th>next</th><th>probability</th><th></th></tr></thead>'
        f"<tbody>{rows}</tbody></table>"
    )


def _beam_table(shown: list[Hypothesis], decode: Callable[[Sequence[int]], str]) -> str:
    rows = "".join(
        f'<tr><td class="token">{html.escape(_text(hypothesis, decode))}</td>'
        f"<td>{bar(math.exp(hypothesis.log_probability))}</td>"
        f"<td>{_percent(math.exp(hypothesis.log_probability))}</td>"
        f"<td>{hypothesis.log_probability:.2f}</td>"
        f"<td>{'finished' if hypothesis.finished else ''}</td></tr>"
        for hypothesis in shown
    )
    return (
        '<table class="choices beam"><thead><tr><th>text</th><th>probability</th><th></th>'
        f"<th>log</th><th></th></tr></thead><tbody>{rows}</tbody></table>"
    )


def _text(hypothesis: Hypothesis, decode: Callable[[Sequence[int]], str]) -> str:
    return decode(hypothesis.ids) or "(nothing)"


def _looked_at(source: list[str], row: list[float]) -> str:
    """The symbols with the largest shares, in descending order."""
    places = sorted(range(len(row)), key=lambda place: -row[place])
    named = [place for place in places if round(100 * row[place]) >= NAMED_FROM] or places[:1]
    return ", ".join(f"{source[place]!r} ({_percent(row[place])})" for place in named[:3])


def _seen(symbol: str) -> str:
    """A symbol in visible form: a space is an open box."""
    return html.escape("␣" if symbol == " " else symbol)


def _percent(share: float) -> str:
    return "under 1 %" if round(100 * share) == 0 else f"{100 * share:.0f} %"
