"""Sinusoidal positions: the whole table, one position's vector, its similarity to the others."""

import base64
import io
from typing import Any

from torch import Tensor

from bertlab.model.bert import sinusoidal_positions
from bertlab.viz.frames import Frame, read_asset
from course.widgets.flipbooks import flipbook
from course.widgets.way_maps import polyline

LONGEST = 256  # one page per position: more would make the page slow

# A drawing in units that the browser scales. The vector is under the columns of the table and the
# dot products are beside its rows, so that positions in the drawings correspond.
WIDTH, HEIGHT = 700, 580
LEFT, TOP, SIDE = 62, 26, 372  # the table
PRODUCTS_LEFT, PRODUCTS_WIDTH = 478, 206
VECTOR_TOP, VECTOR_HEIGHT = 444, 90
EDGE = 3  # between the chosen row and the band around it


def position_explorer(d_model: int = 64, max_length: int = 64) -> Frame:
    """The table of sinusoidal positions, with a slider that chooses a position.

    d_model: size D of a vector; max_length: the number of positions, up to 256. A page shows the
    table [max_length, D] as colours, the chosen position's vector, and its dot product with every
    position.

    Raises ValueError if there are not 2 to 256 positions, or if no such table exists.

    Source: Vaswani et al. (2017), section 3.5.
    """
    if not 2 <= max_length <= LONGEST:
        raise ValueError(
            f"position_explorer: max_length must be 2 to {LONGEST} positions, one page each; "
            f"got {max_length}"
        )
    table = sinusoidal_positions(max_length, d_model).double()  # [max_length, D]
    products = table @ table.T  # [max_length, max_length]
    labels = [_label(position, row) for position, row in enumerate(products.tolist())]
    return flipbook(
        [_page(table, products, position) for position in range(max_length)],
        labels,
        title="Sinusoidal positions",
        alt=f"Three drawings. A heat map of {max_length} positions (rows) by {d_model} dimensions "
        "(columns) with values from −1 to 1: waves, fast in the columns on the left and ever "
        "slower to the right. Below it the vector of one position, sines and cosines. Beside "
        "it that position's dot product with every position: a peak at the position itself "
        f"that falls off alike on both sides. {labels[0]}. {labels[max_length // 2]}.",
        css=read_asset("positions.css", __package__) + _table_as_background(table),
        start=min(10, max_length - 1),  # at position 0 all sines are 0
    )


def _label(position: int, products: list[float]) -> str:
    """The page in one line; `products`: this position's dot product with each."""
    near = position + 1 if position + 1 < len(products) else position - 1
    far = 0 if position >= len(products) / 2 else len(products) - 1
    others = [
        f"{products[other]:.1f} with position {other}" for other in dict.fromkeys((near, far))
    ]
    return f"Position {position}: dot product {products[position]:.1f} with itself, " + ", ".join(
        others
    )


def _page(table: Tensor, products: Tensor, position: int) -> str:
    length, d_model = table.shape
    row = SIDE / length  # height of a row of the table
    band = (
        f'x="{LEFT - EDGE}" y="{TOP + position * row - EDGE:.1f}" height="{row + 2 * EDGE:.1f}" '
        f'width="{PRODUCTS_LEFT + PRODUCTS_WIDTH - LEFT + 2 * EDGE}"'
    )
    return (
        f'<svg class="positions" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="Position {position} of {length}, its vector and its dot products">'
        f"{_table_axes(length)}{_vector(table[position].tolist())}"
        f'<rect class="band outer" {band}/><rect class="band" {band}/>'
        f"{_products(products[position].tolist(), products.min().item(), d_model)}</svg>"
        '<p class="legend">Colours of the table: −1 <span class="ramp"></span> 1</p>'
    )


def _table_axes(length: int) -> str:
    rows = "".join(
        _text(LEFT - 8, TOP + (tick + 0.5) * SIDE / length + 4, tick, "end")
        for tick in _ticks(length)
    )
    middle = TOP + SIDE / 2
    return (
        f"{rows}{_text(LEFT, TOP - 10, 'The table: one row per position')}"
        f'<text class="name" text-anchor="middle" '
        f'transform="translate(16 {middle:.0f}) rotate(-90)">position</text>'
        f'<rect class="box" x="{LEFT}" y="{TOP}" width="{SIDE}" height="{SIDE}"/>'
    )


def _vector(values: list[float]) -> str:
    """Below the table, by dimension: PE(pos, 2i) are sines, PE(pos, 2i + 1) cosines."""
    step, middle = SIDE / len(values), VECTOR_TOP + VECTOR_HEIGHT / 2
    points = [
        (LEFT + (i + 0.5) * step, middle - value * VECTOR_HEIGHT / 2)
        for i, value in enumerate(values)
    ]
    columns = "".join(
        _text(LEFT + (tick + 0.5) * step, VECTOR_TOP + VECTOR_HEIGHT + 16, tick, "middle")
        for tick in _ticks(len(values))
    )
    scale = "".join(
        _text(LEFT - 8, middle - value * VECTOR_HEIGHT / 2 + 4, name, "end")
        for value, name in ((1, "1"), (0, "0"), (-1, "−1"))
    )
    return (
        f"{polyline('zero', [(LEFT, middle), (LEFT + SIDE, middle)])}"
        f"{polyline('sine', points[::2])}{polyline('cosine', points[1::2])}{columns}{scale}"
        f"{_text(LEFT, VECTOR_TOP - 12, 'Its vector:')}"
        f"{_text(LEFT + 84, VECTOR_TOP - 12, 'sines, even dimensions', 'start', 'sine')}"
        f"{_text(LEFT + 248, VECTOR_TOP - 12, 'cosines, odd', 'start', 'cosine')}"
        f"{_text(LEFT + SIDE / 2, VECTOR_TOP + VECTOR_HEIGHT + 34, 'dimension', 'middle', 'name')}"
    )


def _products(products: list[float], lowest: float, d_model: int) -> str:
    """Beside the table, by row: the chosen position's dot product with each."""
    low, high = min(0.0, lowest), d_model / 2  # a vector's dot product with itself is D / 2

    def across(value: float) -> float:
        return PRODUCTS_LEFT + (value - low) / (high - low) * PRODUCTS_WIDTH

    row, middle = SIDE / len(products), PRODUCTS_LEFT + PRODUCTS_WIDTH / 2
    points = [(across(value), TOP + (i + 0.5) * row) for i, value in enumerate(products)]
    numbers = "".join(
        _text(across(value), TOP + SIDE + 16, f"{value:g}", "middle") for value in (0.0, high)
    )
    return (
        f"{polyline('zero', [(across(0.0), TOP), (across(0.0), TOP + SIDE)])}"
        f"{polyline('product', points)}{numbers}"
        f"{_text(PRODUCTS_LEFT, TOP - 10, 'Dot product with each position')}"
        f"{_text(middle, TOP + SIDE + 34, 'dot product', 'middle', 'name')}"
    )


def _text(x: float, y: float, text: object, anchor: str = "start", kind: str = "") -> str:
    return f'<text class="{kind}" x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}">{text}</text>'


def _ticks(size: int) -> range:
    """About eight round numbers below `size`.

    >>> list(_ticks(64)), list(_ticks(4))
    ([0, 8, 16, 24, 32, 40, 48, 56], [0, 1, 2, 3])
    """
    return range(0, size, max(1, size // 8))


def _table_as_background(table: Tensor) -> str:
    """The table once, one pixel per number, behind every page, so that pages are small."""
    from matplotlib.image import imsave

    buffer = io.BytesIO()
    about: Any = {"Software": None}
    imsave(buffer, table.numpy(), cmap="viridis", vmin=-1, vmax=1, metadata=about)
    data = base64.b64encode(buffer.getvalue()).decode()
    # In percent of the drawing; a background's position is a share of the free space.
    return (
        f".positions {{ background-image: url(data:image/png;base64,{data});"
        f" background-size: {100 * SIDE / WIDTH:.3f}% {100 * SIDE / HEIGHT:.3f}%;"
        f" background-position: {100 * LEFT / (WIDTH - SIDE):.3f}% "
        f"{100 * TOP / (HEIGHT - SIDE):.3f}%; }}\n"
    )
