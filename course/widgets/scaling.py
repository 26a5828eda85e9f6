"""Scores divided, then softmax: change the divisor and watch the weights."""

import html
import math
from collections.abc import Sequence

import torch

from bertlab.model.attention import row_softmax
from bertlab.viz.frames import Frame, read_asset
from course.widgets.flipbooks import bar, flipbook

# From 0.1 to 10 in equal ratios, rounded for display: ten steps are a factor of ten.
TEMPERATURES = tuple(float(f"{10 ** (step / 10):.2g}") for step in range(-10, 11))


def softmax_scaling(
    scores: Sequence[float] = (112.0, 96.0),
    labels: Sequence[str] | None = None,
    *,
    d_attn: int = 64,
) -> Frame:
    """Scores divided by 1, 2, ... up to twice sqrt(d_attn), and the resulting weights.

    scores: one query's scores, one per key; labels: names of the keys; d_attn: size of the queries
    and keys, whose square root is marked.

    Raises ValueError if there are not at least two finite scores, if labels and scores differ in
    number, or if `d_attn` is below 1.

    Source: Vaswani et al. (2017), section 3.2.1.
    """
    scores, names = _check("softmax_scaling", scores, labels)
    if d_attn < 1:
        raise ValueError(f"softmax_scaling: d_attn must be at least 1; got {d_attn}")
    root = math.sqrt(d_attn)
    divisors = sorted({float(whole) for whole in range(1, math.ceil(2 * root) + 1)} | {root})
    pages, captions = [], []
    for divisor in divisors:
        weights = _weights(scores, divisor)
        marked = f", the square root of d_attn = {d_attn}" if divisor == root else ""
        pages.append(_page(names, scores, divisor, weights, smallest=divisors[0]))
        captions.append(f"Divided by {divisor:.3g}{marked}: weights {_listed(weights)}")
    at_root = captions[divisors.index(root)]
    return flipbook(
        pages,
        captions,
        title="Divide the scores, then softmax",
        alt=f"Bars of the scores {', '.join(f'{score:g}' for score in scores)} and of their "
        f"softmax weights, for {len(pages)} divisors. {captions[0]}. {at_root}.",
        css=read_asset("scaling.css", __package__),
        marks=[divisors.index(root)],
    )


def softmax_temperature(
    scores: Sequence[float] = (3.0, 2.0, 1.0),
    labels: Sequence[str] | None = None,
    *,
    title: str = "Temperature: from one winner to an even split",
) -> Frame:
    """Scores divided by temperatures from 0.1 to 10: the weights, and their entropy in bits.

    Arguments and errors as in `softmax_scaling`. Towards 0 the highest score gets all the weight
    (entropy 0); with rising temperature the weights become equal (entropy log2 of their number).

    Source: Hinton, Vinyals & Dean (2015), *Distilling the Knowledge in a Neural Network*, eq. 1.
    """
    scores, names = _check("softmax_temperature", scores, labels)
    pages, captions = [], []
    for temperature in TEMPERATURES:
        weights = _weights(scores, temperature)
        entropy = _entropy(weights)
        pages.append(
            _page(names, scores, temperature, weights, smallest=TEMPERATURES[0])
            + _entropy_bar(entropy, len(weights))
        )
        captions.append(
            f"Temperature {temperature:g}: weights {_listed(weights)}, entropy {entropy:.2f} bits"
        )
    plain = TEMPERATURES.index(1.0)
    return flipbook(
        pages,
        captions,
        title=title,
        alt=f"Bars of softmax weights and of their entropy for {len(pages)} temperatures. "
        f"{captions[0]}. {captions[plain]}. {captions[-1]}.",
        css=read_asset("scaling.css", __package__),
        marks=[plain],
        start=plain,
    )


def _check(
    caller: str, scores: Sequence[float], labels: Sequence[str] | None
) -> tuple[list[float], list[str]]:
    scores = [float(score) for score in scores]
    if len(scores) < 2 or not all(map(math.isfinite, scores)):
        raise ValueError(f"{caller}: scores must be at least two finite numbers; got {scores}")
    names = [f"key {i + 1}" for i in range(len(scores))] if labels is None else list(labels)
    if len(names) != len(scores):
        raise ValueError(
            f"{caller}: labels must be one for each of the {len(scores)} scores; got {len(names)}"
        )
    return scores, names


def _weights(scores: Sequence[float], divisor: float) -> list[float]:
    return row_softmax(torch.tensor(scores, dtype=torch.float64) / divisor).tolist()


def _entropy(weights: Sequence[float]) -> float:
    """Entropy in bits: the number of yes-no questions that determine the choice.

    >>> _entropy([0.5, 0.25, 0.25]), _entropy([1.0, 0.0])
    (1.5, 0.0)
    """
    return sum(weight * -math.log2(weight) for weight in weights if weight > 0)


def _page(
    names: Sequence[str],
    scores: Sequence[float],
    divisor: float,
    weights: Sequence[float],
    *,
    smallest: float,
) -> str:
    """One divisor; `smallest`: of all pages, sets the common scale of their bars."""
    low, high = min(0.0, *scores) / smallest, max(0.0, *scores) / smallest
    span = (high - low) or 1.0
    rows = [
        f'<tr><th scope="row">{html.escape(name)}</th>'
        f"<td>{bar(abs(value) / span, offset=(min(value, 0.0) - low) / span)}</td>"
        f'<td class="number">{value:.4g}</td>'
        f'<td class="weight">{bar(weight)}</td><td class="number">{_weight(weight)}</td></tr>'
        for name, value, weight in zip(
            names, [score / divisor for score in scores], weights, strict=True
        )
    ]
    return (
        '<table class="scaling"><thead><tr><td></td><th scope="col" colspan="2">scaled score</th>'
        '<th scope="col" colspan="2">softmax weight</th></tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table>"
    )


def _entropy_bar(entropy: float, n_weights: int) -> str:
    most = math.log2(n_weights)
    return (
        f'<p class="entropy"><span>entropy</span>{bar(min(1.0, entropy / most))}'
        f"<span>{entropy:.2f} of at most {most:.2f} bits</span></p>"
    )


def _listed(weights: Sequence[float]) -> str:
    return ", ".join(map(_weight, weights))


def _weight(weight: float) -> str:
    """Two decimals, or more if needed, so that only exact values are shown as 0 or 1.

    >>> _weight(0.8808), _weight(0.99999989), _weight(1.1e-07)
    ('0.88', '0.99999989', '1.1e-07')
    """
    if 0 < weight < 0.005:
        return f"{weight:.2g}"
    if 0.995 <= weight < 1:
        return f"{weight:.{1 - math.floor(math.log10(1 - weight))}f}"
    return f"{weight:.2f}"
