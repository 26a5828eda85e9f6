"""Why attention divides its scores by sqrt(d_attn): turn the divisor and watch the softmax."""

import html
import math
from collections.abc import Sequence

import torch

from bertlab.model.attention import row_softmax
from bertlab.viz.flipbooks import bar, flipbook
from bertlab.viz.frames import Frame, read_asset


def softmax_scaling(
    scores: Sequence[float] = (112.0, 96.0),
    labels: Sequence[str] | None = None,
    *,
    d_attn: int = 64,
    title: str = "Divide the scores, then softmax",
    alt: str | None = None,
) -> Frame:
    """Scores divided by 1, 2, ... up to twice sqrt(d_attn), and the weights that follow.

    scores: one query's scores, one a key; labels: what the keys are called; d_attn: size of the
    queries and keys, whose square root is marked; alt: the pages in words, otherwise a sentence
    is made.

    Raises ValueError if there are not two finite scores at least, if labels and scores differ in
    number, or if `d_attn` is below 1.

    Source: Vaswani et al. (2017), section 3.2.1.
    """
    scores = [float(score) for score in scores]
    if len(scores) < 2 or not all(map(math.isfinite, scores)):
        raise ValueError(
            f"softmax_scaling: scores must be at least two finite numbers; got {scores}"
        )
    names = [f"key {i + 1}" for i in range(len(scores))] if labels is None else list(labels)
    if len(names) != len(scores):
        raise ValueError(
            f"softmax_scaling: labels must be one for each of the {len(scores)} scores; "
            f"got {len(names)}"
        )
    if d_attn < 1:
        raise ValueError(f"softmax_scaling: d_attn must be at least 1; got {d_attn}")
    root = math.sqrt(d_attn)
    divisors = sorted({float(whole) for whole in range(1, math.ceil(2 * root) + 1)} | {root})
    pages, captions = [], []
    for divisor in divisors:
        scaled = [score / divisor for score in scores]
        weights = row_softmax(torch.tensor(scaled, dtype=torch.float64)).tolist()
        marked = f", the square root of d_attn = {d_attn}" if divisor == root else ""
        pages.append(_page(names, scores, scaled, weights))
        captions.append(
            f"Divided by {divisor:.3g}{marked}: weights {', '.join(map(_weight, weights))}"
        )
    at_root = captions[divisors.index(root)]
    return flipbook(
        pages,
        captions,
        title=title,
        alt=alt
        or (
            f"Bars of the scores {', '.join(f'{score:g}' for score in scores)} and of their "
            f"softmax weights, for {len(pages)} divisors. {captions[0]}. {at_root}."
        ),
        css=read_asset("scaling.css"),
        marks=[divisors.index(root)],
    )


def _page(
    names: Sequence[str], scores: Sequence[float], scaled: Sequence[float], weights: Sequence[float]
) -> str:
    low, high = min(0.0, *scores), max(0.0, *scores)
    span = (high - low) or 1.0
    rows = [
        f'<tr><th scope="row">{html.escape(name)}</th>'
        f"<td>{bar(abs(value) / span, offset=(min(value, 0.0) - low) / span)}</td>"
        f'<td class="number">{value:.4g}</td>'
        f'<td class="weight">{bar(weight)}</td><td class="number">{_weight(weight)}</td></tr>'
        for name, value, weight in zip(names, scaled, weights, strict=True)
    ]
    return (
        '<table class="scaling"><thead><tr><td></td><th scope="col" colspan="2">scaled score</th>'
        '<th scope="col" colspan="2">softmax weight</th></tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table>"
    )


def _weight(weight: float) -> str:
    """Two decimals, or as many as it takes: never a 0 or a 1 that is not one.

    >>> _weight(0.8808), _weight(0.99999989), _weight(1.1e-07)
    ('0.88', '0.99999989', '1.1e-07')
    """
    if 0 < weight < 0.005:
        return f"{weight:.2g}"
    if 0.995 <= weight < 1:
        return f"{weight:.{1 - math.floor(math.log10(1 - weight))}f}"
    return f"{weight:.2f}"
