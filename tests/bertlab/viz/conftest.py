"""Attention to draw, and the content of a page of BertViz."""

import base64
import json
import re

import pytest
import torch

from bertlab.interpretability.traces import TranslationTrace
from tests.small_models import random_attention

TOKENS = ["[CLS]", "</script><b>", "it's", "[SEP]"]


@pytest.fixture
def attentions():
    return list(random_attention(2, 1, 3, 4, 4))


@pytest.fixture
def translation(attentions):
    own = [layer[0, :, :2, :2].softmax(-1) for layer in attentions]
    cross = [layer[0, :, :2] for layer in attentions]
    return TranslationTrace(encoder=tuple(a[0] for a in attentions), decoder=own, cross=cross)


def even(n_layers, n_heads, length):
    return [torch.full((n_heads, length, length), 1 / length)] * n_layers


def parameters(view):
    """The input of the page's scripts."""
    found = re.search(r"readParameters\((.*)\);\n", view.page)
    return json.loads(found[1])


def unpacked(packed):
    """Packed numbers as a tensor; four characters of base64 are 24 bits."""
    text = packed["text"] + "A" * (-len(packed["text"]) % 4)
    bits = "".join(f"{byte:08b}" for byte in base64.b64decode(text))
    size = 6 * packed["characters"]
    count = torch.Size(packed["shape"]).numel()
    numbers = [int(bits[i * size : (i + 1) * size], 2) for i in range(count)]
    return (packed["low"] + packed["step"] * torch.tensor(numbers)).view(packed["shape"])


def assert_shown(inside, number, expected):
    """The probabilities of one choice of the menu are these, [layers, H, L, L']."""
    view = inside["attention"][number]
    whole = unpacked(inside["parts"][view["part"]]["attn"])
    got = whole[:, :, slice(*view["rows"]), slice(*view["columns"])]
    torch.testing.assert_close(got, expected, atol=1.3e-4, rtol=0)


def size(view):
    """Characters in a notebook."""
    return len(view._repr_html_())


def written(texts):
    return [text.get_text() for text in texts]


def titled(picture):
    """The panels of a picture by their titles."""
    return {ax.get_title(): ax for ax in picture.figure.axes if ax.get_title()}
