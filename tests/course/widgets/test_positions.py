"""The explorer of sinusoidal positions: its pages against the formula, worked by hand."""

import base64
import io
import math
import re

import numpy as np
import pytest

from course.widgets import position_explorer
from course.widgets.positions import HEIGHT, LEFT, PRODUCTS_LEFT, SIDE, TOP, VECTOR_TOP, WIDTH
from tests.course.widgets.conftest import pages_of


def points(page, kind):
    """The corners of a drawn line."""
    corners = page.find("polyline", class_=kind)["points"].split()
    return np.array([[float(number) for number in corner.split(",")] for corner in corners])


def reference(length, size):
    """The paper's formula, number by number."""

    def number(position, j):
        return (math.cos if j % 2 else math.sin)(position / 10000 ** ((j - j % 2) / size))

    return np.array([[number(position, j) for j in range(size)] for position in range(length)])


def heights(page, kind):
    """The values of a vector's line: 1 is at the top of its drawing, −1 at the bottom."""
    top, bottom = (VECTOR_TOP, VECTOR_TOP + 90)
    return 1 - 2 * (points(page, kind)[:, 1] - top) / (bottom - top)


def test_every_page_draws_the_vector_of_its_position():
    table = reference(12, 8)
    pages = pages_of(position_explorer(8, 12))
    assert len(pages) == 12
    for row, page in zip(table, pages, strict=True):
        np.testing.assert_allclose(heights(page, "sine"), row[::2], atol=0.003)
        np.testing.assert_allclose(heights(page, "cosine"), row[1::2], atol=0.003)


def test_every_page_draws_the_dot_products_with_all_positions():
    table = reference(12, 8)
    for position, page in enumerate(pages_of(position_explorer(8, 12))):
        x, y = points(page, "product").T
        np.testing.assert_allclose(y, TOP + (np.arange(12) + 0.5) * SIDE / 12, atol=0.06)
        expected = table @ table[position]
        zero = zero_of(page)
        drawn = 4 * (x - zero) / (x.max() - zero)  # the highest is D / 2 = 4
        np.testing.assert_allclose(drawn, expected, atol=0.01)
        assert x.argmax() == position  # the position itself has the largest dot product


def zero_of(page):
    """The x coordinate of the dot product 0: the vertical line next to the table."""
    lines = [
        [corner.split(",")[0] for corner in line["points"].split()]
        for line in page.find_all("polyline", class_="zero")
    ]
    return next(float(a) for a, b in lines if a == b and float(a) >= PRODUCTS_LEFT)


def test_captions_show_dot_products_worked_by_hand():
    # With D = 2 a dot product is cos(p) cos(q) + sin(p) sin(q) = cos(p - q).
    labels = [page["data-label"] for page in pages_of(position_explorer(2, 4))]
    assert labels == [
        "Position 0: dot product 1.0 with itself, 0.5 with position 1, -1.0 with position 3",
        "Position 1: dot product 1.0 with itself, 0.5 with position 2, -0.4 with position 3",
        "Position 2: dot product 1.0 with itself, 0.5 with position 3, -0.4 with position 0",
        "Position 3: dot product 1.0 with itself, 0.5 with position 2, -1.0 with position 0",
    ]


def test_the_table_is_stored_once_for_all_pages_with_one_pixel_per_number():
    from matplotlib import colormaps
    from matplotlib.image import imread

    page = position_explorer(8, 12).page
    (data,) = re.findall(r"data:image/png;base64,([^)]+)\)", page)
    image = imread(io.BytesIO(base64.b64decode(data)))
    assert image.shape == (12, 8, 4)
    expected = colormaps["viridis"]((reference(12, 8) + 1) / 2)
    np.testing.assert_allclose(image, expected, atol=0.02)


def test_the_table_is_exactly_inside_its_axes():
    page = position_explorer(8, 12).page
    size, place = (
        [float(x) for x in re.search(rf"background-{name}: (\S+)% (\S+)%", page).groups()]
        for name in ("size", "position")
    )
    assert size == pytest.approx([100 * SIDE / WIDTH, 100 * SIDE / HEIGHT], abs=0.001)
    # A background at p percent has p percent of the free room before it.
    assert place[0] / 100 * (WIDTH - SIDE) == pytest.approx(LEFT, abs=0.01)
    assert place[1] / 100 * (HEIGHT - SIDE) == pytest.approx(TOP, abs=0.01)


def test_the_band_is_on_the_chosen_row():
    for position, page in enumerate(pages_of(position_explorer(8, 12))):
        band = page.find("rect", class_="band")
        middle = float(band["y"]) + float(band["height"]) / 2
        assert middle == pytest.approx(TOP + (position + 0.5) * SIDE / 12, abs=0.2)


def test_the_first_page_and_the_words_are_there_without_a_script():
    shown = position_explorer()
    pages = pages_of(shown)
    assert "shown" in pages[10]["class"]
    others = pages[:10] + pages[11:]
    assert not any("shown" in page["class"] for page in others)
    assert "64 positions (rows) by 64 dimensions" in shown.alt
    assert "Position 0: dot product 32.0 with itself" in shown.alt
    assert len(shown.page) < 400_000  # bytes: the table is in it once, not once per page
