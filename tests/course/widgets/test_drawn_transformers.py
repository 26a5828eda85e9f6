"""The drawn Transformer: its boxes against a model and the lecture."""

import re

import torch

from bertlab.model.transformer import Transformer, TransformerConfig
from course.widgets import drawn_transformer
from course.widgets.drawn_transformers import DECODER, ENCODER
from tests.conftest import ROOT, read_page
from tests.course.widgets.conftest import soup


def test_every_shape_is_what_a_model_computes():
    config = TransformerConfig(vocab_size=31, d_model=12, n_layers=1, n_heads=4, d_ff=20)
    model, ids = Transformer(config).eval(), torch.ones(3, 5, dtype=torch.long)
    memory = model.encode(ids, ids > 0)
    sizes = {"B": 3, "L": 5, "T": 7, "D": 12, "vocab": 31}
    told = [
        [sizes[size] for size in re.findall(r"\w+", shape)] for _, _, shape, _ in ENCODER + DECODER
    ]
    assert told[: len(ENCODER)] == [list(memory.shape)] * len(ENCODER)
    logits = model.decode(torch.ones(3, 7, dtype=torch.long), memory, ids > 0)
    assert told[len(ENCODER) :] == [[3, 7, 12]] * (len(DECODER) - 1) + [list(logits.shape)]


def test_a_box_names_the_section_that_explains_it():
    prose = read_page(ROOT / "lectures/05_transformer.ipynb").prose
    for title, _, _, number in ENCODER + DECODER:
        (section,) = re.findall(rf"^## {number} .*?(?=^## )", prose, re.M | re.S)
        assert title.lower() in section.lower(), (title, number)


def test_all_boxes_are_drawn_and_in_the_alt_text():
    shown = drawn_transformer()
    boxes = [
        [text.get_text() for text in box.find_all("text")] for box in soup(shown)(class_="box")
    ]
    assert boxes == [[title, shape, more, f"§ {n}"] for title, more, shape, n in ENCODER + DECODER]
    assert all(f"{title} {shape}, {more}" in shown.alt for title, more, shape, _ in DECODER)
