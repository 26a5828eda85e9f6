"""Pictures: what matplotlib was told to draw, and the words beside it."""

import base64
import io
import math
import re
import struct
import sys

import numpy as np
import pytest
import torch
from bs4 import BeautifulSoup
from IPython.core.formatters import DisplayFormatter
from PIL import Image

from bertlab.viz import Picture, attention_heads, attention_heatmap, bars, heatmap, lines
from bertlab.viz.pictures import WRITTEN_ON_DARK, WRITTEN_ON_LIGHT
from tests.bertlab.refusals import rejected
from tests.bertlab.viz.conftest import titled, written

TOKENS = ["the", "cat", "$at"]
HEAD = torch.tensor([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6], [0.05, 0.9, 0.05]])
WHAT = "occurrences (number) by pair"
SCORES = "score by row and column"
TWO = {"train": [3, 2], "validation": [4, 3]}


def axes(picture):
    return picture.figure.axes[0]


def test_a_notebook_gets_the_picture_with_its_words():
    picture = bars({"st": 4, "me": 3}, WHAT)
    data, _ = DisplayFormatter().format(picture)
    assert set(data) == {"text/html", "text/plain", "image/png"}
    image = BeautifulSoup(data["text/html"], "html.parser").img
    assert image["alt"] == "Bars, occurrences (number) by pair: st 4, me 3."
    width, _ = struct.unpack(">II", picture.png[16:24])
    assert int(image["width"]) * 2 == width
    assert image["alt"] in data["text/plain"]


def test_the_same_numbers_give_the_same_bytes_those_of_the_file_and_pyplot_shows_none(tmp_path):
    picture = bars({"st": 4}, WHAT)
    assert bars({"st": 4}, WHAT).png == picture.png
    assert picture.save(tmp_path / "bars.png").read_bytes() == picture.png
    if "matplotlib.pyplot" in sys.modules:  # which would show it a second time
        assert sys.modules["matplotlib.pyplot"].get_fignums() == []


def pixels(png):
    with Image.open(io.BytesIO(png)) as image:
        return torch.tensor(np.array(image.convert("RGBA"))).int()  # [height, width, 4]


def test_on_a_dark_page_only_ink_changes_and_the_figure_is_as_before():
    picture = heatmap(torch.eye(3), TOKENS, TOKENS, SCORES)
    light, dark = pixels(picture.png), pixels(picture.on_dark)
    assert light.shape == dark.shape
    chroma = light[..., :3].amax(-1) - light[..., :3].amin(-1)
    on_colour = (chroma > 20) & (dark[..., 3] == 255)
    assert on_colour.float().mean() > 0.2
    same = (light == dark)[on_colour].all(-1)  # but where the bar's frame is over its colours
    assert same.float().mean() > 0.98
    for colour in ([253, 231, 36, 255], [68, 1, 84, 255]):  # viridis's ends, 1 and 0
        of_it = (light == torch.tensor(colour)).all(-1)
        assert of_it.float().mean() > 0.05
        assert (dark[of_it] == torch.tensor(colour)).all()
    paper = (light == 255).all(-1) & (dark[..., 3] == 0)
    assert paper.float().mean() > 0.2
    ink = (light[..., :3] == 0).all(-1)
    assert (dark[ink][:, :3] > 200).all()
    written = [text.get_color() for text in axes(picture).texts]
    assert set(written) == {WRITTEN_ON_LIGHT, WRITTEN_ON_DARK}
    assert axes(picture).yaxis.label.get_color() == "black"
    assert type(picture.figure.get_layout_engine()).__name__ == "ConstrainedLayoutEngine"
    assert pixels(picture.png).equal(light)


def test_a_notebook_gets_both_without_a_loss():
    picture = lines([0, 1], {"a": [1, 2], "b": [2, 1]}, WHAT)
    image = BeautifulSoup(picture._repr_html_(), "html.parser").img
    data = re.findall(r"data:image/webp;base64,([\w+/=]+)", f"{image['src']} {image['style']}")
    shown = [pixels(base64.b64decode(one)) for one in data]
    assert [one[..., 3].amin() for one in shown] == [255, 0]
    for one, drawn in zip(shown, (picture.png, picture.on_dark), strict=True):
        opaque = one[..., 3] > 0
        assert one[opaque].equal(pixels(drawn)[opaque])


@pytest.mark.parametrize("measured", ["share", "average share of the best of 16 keys (percent)"])
def test_no_label_of_an_axis_is_cut_off(measured):
    shown = heatmap(
        torch.eye(8), "abcdefgh", "abcdefgh", f"{measured} by query token (attends) and k"
    )
    for picture in (shown, lines([0, 1], {"a": [1, 2]}, f"{measured} by place")):
        edges = pixels(picture.png).transpose(0, 1)[[0, 1, 2, -3, -2, -1]]
        assert (edges == 255).all()


def test_bars_have_the_heights_of_their_values():
    ax = axes(bars({"st": 4, "me": 3}, WHAT))
    assert [bar.get_height() for bar in ax.patches] == [4, 3]
    assert written(ax.get_xticklabels()) == ["st", "me"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("pair", "occurrences (number)")


def test_bars_show_the_whole_of_very_long_names():
    name = "a masked-language model that was pre-trained further on texts of one domain, {}"
    picture = bars({name.format(letter): 1 for letter in "abcd"}, WHAT)
    picture.figure.draw_without_rendering()
    assert axes(picture).bbox.height > 100
    for label in axes(picture).get_xticklabels():
        assert min(label.get_window_extent().extents[:2]) >= 0


def test_lines_keep_their_numbers_and_their_names():
    ax = axes(lines([1, 2], TWO, WHAT))
    assert [list(line.get_ydata()) for line in ax.lines] == [[3, 2], [4, 3]]
    assert written(ax.get_legend().get_texts()) == ["train", "validation"]
    assert ax.get_ylim()[0] == 0
    assert len({(line.get_color(), line.get_marker()) for line in ax.lines}) == 2


LONG = "share of the words guessed right in 120 sentences out of tales (%)"
LABELLED = {
    "bars": lambda: bars({"st": 4, "me": 3}, f"{LONG} by {LONG}"),
    "lines": lambda: lines([1, 2], {"train": [3, 2]}, f"{LONG} by {LONG}"),
    "heatmap": lambda: heatmap(HEAD, TOKENS, TOKENS, f"{LONG} by {LONG} and {LONG}"),
}


@pytest.mark.parametrize("kind", LABELLED)
def test_long_labels_of_axes_are_wrapped_and_not_cut_off(kind):
    figure = LABELLED[kind]().figure
    figure.draw_without_rendering()  # it is laid out as when it is shown
    for label in (label for ax in figure.axes for label in (ax.xaxis.label, ax.yaxis.label)):
        left, low, right, high = label.get_window_extent().extents
        assert min(left, low) >= 0, label
        assert right <= figure.bbox.width, label
        assert high <= figure.bbox.height, label


def test_a_line_is_described_by_its_ends_and_extremes():
    series = {"train": [3, 1, 2], "test": [1, 1, 1], "early": [4, 5, math.nan]}
    picture = lines([1, 2, 3.5], series, "loss by epoch by name")
    assert axes(picture).get_ylabel() == "loss by epoch"
    assert picture.alt == (
        "Lines, loss by epoch by name: train from 3 at 1, to 2 at 3.5, lowest 1 at 2; "
        "test from 1 at 1, to 1 at 3.5; early from 4 at 1, to 5 at 2."
    )


def test_one_axis_or_both_are_logarithmic():
    for logarithmic, scales in {False: "linear linear", "x": "log linear", True: "log log"}.items():
        ax = axes(lines([1, 10], {"a": [1, 2]}, WHAT, logarithmic=logarithmic))
        assert f"{ax.get_xscale()} {ax.get_yscale()}" == scales
        assert (ax.get_ylim()[0] == 0) == (logarithmic is not True)


def test_a_spread_is_a_band_around_its_line():
    (band,) = axes(lines([1, 2], TWO, WHAT, spread={"train": [0.5, 0.25]})).collections
    corners = {tuple(corner) for corner in band.get_paths()[0].vertices}
    assert corners == {(1, 2.5), (1, 3.5), (2, 1.75), (2, 2.25)}


@pytest.mark.parametrize(("x", "whole"), [(range(2, 21, 2), True), ([2, 6.5, 20], False)])
def test_counts_have_no_ticks_between_them(x, whole):
    ticks = axes(lines(x, {"a": list(x)}, WHAT)).get_xticks()
    assert all(tick == round(tick) for tick in ticks) == whole


def test_rows_of_the_heat_map_are_queries_and_columns_are_keys_also_of_others():
    ax, colour_bar = attention_heatmap(HEAD, TOKENS, title="Head 3").figure.axes
    assert torch.equal(torch.tensor(ax.images[0].get_array()), HEAD)
    assert ax.images[0].get_clim() == (0.0, 1.0)
    assert ax.get_ylabel() == "query token (attends)"
    assert ax.get_xlabel() == "key token (is attended to)"
    assert colour_bar.get_ylabel() == "attention probability"
    assert " ".join(written(ax.texts)) == "0.70 0.20 0.10 0.10 0.30 0.60 0.05 0.90 0.05"
    ax = axes(attention_heatmap(HEAD[:2], ["le", "chat"], key_tokens=TOKENS))
    assert written(ax.get_yticklabels()) == ["le", "chat"]


def test_any_matrix_can_be_a_heat_map_without_minus_zero():
    picture = heatmap(torch.tensor([[112.0, -96.0]]), ["q"], ["a", "b"], SCORES)
    ax, colours = picture.figure.axes
    assert (ax.get_ylabel(), ax.get_xlabel(), colours.get_ylabel()) == ("row", "column", "score")
    assert picture.alt == f"A heat map of 1 by 2, {SCORES}: highest 112 (q, a), lowest -96 (q, b)."
    assert written(ax.texts) == ["112", "-96"]
    values = torch.tensor([[-0.001, 0.5], [-0.25, -0.004]])
    texts = written(axes(heatmap(values, ["a", "b"], ["c", "d"], SCORES)).texts)
    assert texts == ["0.00", "0.50", "-0.25", "0.00"]


def test_a_dollar_in_a_token_is_no_mathematics():
    picture = attention_heatmap(HEAD, ["the", "$x$", r"a$"])
    assert written(axes(picture).get_yticklabels())[1] == r"\$x\$"
    assert picture.png.startswith(b"\x89PNG")


def test_the_words_of_a_heat_map_name_the_strongest_links():
    assert repr(attention_heatmap(HEAD, TOKENS, title="Head 3")) == (
        "[Picture: Head 3. A heat map of 3 query tokens by 3 key tokens. Each token attends most: "
        "the to the (0.70), cat to $at (0.60), $at to cat (0.90).]"
    )
    many = torch.full((20, 20), 0.02).fill_diagonal_(0.62)
    told = repr(attention_heatmap(many, [f"t{i}" for i in range(20)]))
    assert told.endswith("Highest: t0 attends to t0 with 0.62.]")


@pytest.mark.slow
@pytest.mark.parametrize("n_heads", [1, 5, 12])
def test_all_heads_of_a_layer_share_their_colours(n_heads):
    picture = attention_heads(HEAD.expand(1, n_heads, 3, 3), TOKENS)
    assert list(titled(picture)) == [f"head {i}" for i in range(n_heads)]
    assert {ax.images[0].get_clim() for ax in titled(picture).values()} == {(0, 1)}
    assert picture.png
    assert f"Head {n_heads - 1}: $at attends to cat with 0.90" in picture.alt


def test_heads_can_have_names():
    picture = attention_heads(HEAD.expand(2, 3, 3), TOKENS, names=["$teacher", "student"])
    assert list(titled(picture)) == [r"\$teacher", "student"]
    assert "Student: $at attends to cat with 0.90" in picture.alt


def test_pictures_without_words_or_numbers_or_of_what_does_not_fit_are_rejected():
    rejected("in words", Picture, bars({"st": 4}, WHAT).figure, " ")
    for what in ("", "occurrences", " by pair", "occurrences by ", "  by  "):
        rejected("what must name both axes", bars, {"st": 4}, what)
    rejected("at least one", bars, {}, WHAT)
    rejected("'train' has 1", lines, [1, 2], {"train": [3]}, WHAT)
    rejected("got none", lines, [], {}, WHAT)
    rejected("no 'test'", lines, [1, 2], TWO, WHAT, spread={"test": [1, 1]})
    rejected("'train' has 2 and 1", lines, [1, 2], TWO, WHAT, spread={"train": [1]})
    rejected(r"\[1, 1\].*got \[1, 2\]", heatmap, torch.ones(1, 2), ["q"], ["a"], SCORES)
    rejected("finite", heatmap, torch.tensor([[-torch.inf]]), ["q"], ["a"], SCORES)
    heads = HEAD.expand(2, 3, 3)
    rejected("each of the 2 heads; got 1", attention_heads, heads, TOKENS, names=["teacher"])
    rejected(r"must end in \[2, 2\].*got \[3, 3\]", attention_heatmap, HEAD, ["a", "b"])
    rejected(r"probabilities; got numbers from -0\.9", attention_heatmap, -HEAD, TOKENS)
    rejected(r"one head, \[L, L\]; got \[1, 3, 3\]", attention_heatmap, HEAD[None], TOKENS)
    rejected("got list", attention_heatmap, HEAD.tolist(), TOKENS)
