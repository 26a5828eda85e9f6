"""A vector's path on a map: the two directions in which it moved most."""

import html
from collections.abc import Iterable, Sequence

import torch
from torch import Tensor

# A drawing in units that the browser scales.
SIDE, EDGE, FOOT = 400, 40, 62


def principal_components(vectors: Tensor) -> tuple[Tensor, Tensor]:
    """Vectors [N, D] in two dimensions, [N, 2], and the two shares of the variance, [2].

    The directions are the first two right singular vectors of the centred vectors, each turned so
    that its largest component is positive. Without a second direction it is 0.

    Source: Pearson (1901), "On Lines and Planes of Closest Fit to Systems of Points in Space".

    >>> points = torch.tensor([[0.0, 0.0, 5.0], [3.0, 4.0, 5.0], [6.0, 8.0, 5.0]])
    >>> principal_components(points)[0][:, 0]
    tensor([-5.,  0.,  5.])
    """
    rows = vectors.detach().double()
    centred = rows - rows.mean(dim=0)
    _, strengths, directions = torch.linalg.svd(centred, full_matrices=False)
    two, variance = torch.zeros(2, rows.shape[1], dtype=rows.dtype), torch.zeros(2)
    two[: len(directions[:2])] = directions[:2]
    variance[: len(strengths[:2])] = strengths[:2].square().float()
    largest = two.gather(1, two.abs().argmax(dim=1, keepdim=True))
    two *= torch.where(largest < 0, -1.0, 1.0)
    shares = variance / strengths.square().sum().float().clamp(min=1e-30)
    return (centred @ two.T).float(), shares


def way_map(places: Tensor, names: Sequence[str], step: int, shares: Tensor) -> str:
    """The path up to `step` as SVG; the rest of it is dotted.

    places: [S, 2]; names: of the S steps, "" for those without one; shares: of the variance in the
    two directions. Both directions have the same scale, so distances can be compared.
    """
    points = _scaled(places)
    first, second = (f"{100 * share:.0f} %" for share in shares.tolist())
    stops = "".join(
        _stop("now" if i == step else "past" if i < step else "ahead", *point, name)
        for i, (point, name) in enumerate(zip(points, names, strict=True))
    )
    return (
        f'<svg class="map" viewBox="0 0 {SIDE} {SIDE + FOOT}" role="img" '
        f'aria-label="Map of {len(points)} vectors, one after each step; step {step} is marked">'
        f'<rect x="0.5" y="0.5" width="{SIDE - 1}" height="{SIDE - 1}"/>'
        f"{polyline('ahead', points)}{polyline('track', points[: step + 1])}{stops}"
        f'<text x="{SIDE / 2}" y="{SIDE + 17}" text-anchor="middle">across: first principal '
        f"component ({first} of the variance)</text>"
        f'<text x="{SIDE / 2}" y="{SIDE + 34}" text-anchor="middle">up: second principal '
        f"component ({second})</text>"
        f'<text x="{SIDE / 2}" y="{SIDE + 55}" text-anchor="middle">numbers: after that layer; '
        "small dots: halfway, after its attention</text></svg>"
    )


def _scaled(places: Tensor) -> list[tuple[float, float]]:
    low, high = places.min(dim=0).values, places.max(dim=0).values
    span = (high - low).max().clamp(min=1e-9)
    unit = (places - (low + high) / 2) / span * (SIDE - 2 * EDGE)
    return [(SIDE / 2 + x, SIDE / 2 - y) for x, y in unit.tolist()]


def _stop(kind: str, x: float, y: float, name: str) -> str:
    """A dot, with its name on the side with more room; half steps are small."""
    left = x > SIDE - 90
    text = (
        f'<text x="{x - 9 if left else x + 9:.1f}" y="{y + 4:.1f}" '
        f'text-anchor="{"end" if left else "start"}">{html.escape(name)}</text>'
    )
    radius = 7 if kind == "now" else 4 if name else 2.5
    circle = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}"/>'
    return f'<g class="{kind}">{circle}{text if name else ""}</g>'


def polyline(kind: str, points: Iterable[tuple[float, float]]) -> str:
    """Straight lines from point to point, with a class of the style sheet."""
    return f'<polyline class="{kind}" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}"/>'
