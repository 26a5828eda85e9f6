"""The drawn BERT: its boxes against a model, the lectures and the formal algorithms."""

import re
from pkgutil import resolve_name

import pytest
import torch

from bertlab.finetuning.heads import SequenceClassifier
from bertlab.finetuning.sentences import pool
from bertlab.model import BertConfig, BertForPreTraining
from bertlab.model.attention import split_heads
from course.fitting import asked
from course.widgets import drawn_bert
from course.widgets.drawn_berts import AROUND, DRAWINGS, IN_BOXES, PARTS, written_bert
from tests.conftest import ROOT, read_page
from tests.course.widgets.conftest import soup


def test_every_shape_is_what_a_model_computes():
    sizes = {"B": 3, "L": 5, "D": 12, "H": 4, "d_head": 3, "d_ff": 20, "vocab": 31, "C": 7, "2": 2}
    config = BertConfig(vocab_size=31, d_model=12, n_layers=2, n_heads=4, d_ff=20, max_length=9)
    model, out = BertForPreTraining(config).eval(), {}
    for name, module in model.named_modules():
        name = name.removeprefix("bert.").removeprefix("layers.0.")
        module.register_forward_hook(lambda _, __, output, name=name: out.update({name: output}))
    ids = torch.randint(31, (3, 5), generator=torch.Generator().manual_seed(1))
    encoder = model(ids, output_attentions=True).encoder
    query, _, value = (split_heads(x, 4) for x in out["attention.query_key_value"].chunk(3, -1))
    probabilities = encoder.attentions[0]
    computed = {
        **{name: [out[name]] for name in PARTS if name in out},
        "layer": out["layers.0"][:1],
        "final": out[""][:2],
        "attention": out["attention"][:1],
        "feed_forward": [out["feed_forward.expand"], out["feed_forward"]],
        "projections": [query],
        "probabilities": [probabilities],
        "head": [probabilities @ value],
        "output": [out["attention.output"]],
        "pooling": [pool(encoder.last_hidden_state, None, "mean")],
        "pooler": [encoder.pooler_output],
        "task_head": [SequenceClassifier(model.bert, n_classes=7)(ids)],
    }
    assert computed.keys() == PARTS.keys()
    for name, part in PARTS.items():
        said = [shape.split(", ") for shape in re.findall(r"\[(.*?)\]", part.shape)]
        assert [[sizes[size] for size in shape] for shape in said] == [
            list(tensor.shape) for tensor in computed[name]
        ], name


def section_of(lecture):
    """The prose of a section, "6.3" of lecture 6."""
    lecture, section = lecture.split(".")
    (path,) = ROOT.glob(f"lectures/{int(lecture):02}_*.ipynb")
    (found,) = re.findall(rf"^## {section} .*?(?=^## )", read_page(path).prose, re.M | re.S)
    return found


@pytest.mark.parametrize("name", PARTS)
def test_a_box_agrees_with_library_lecture_and_algorithm(name):
    part = PARTS[name]
    assert callable(resolve_name(part.name))
    section = section_of(part.lecture)
    if part.source == "not in the algorithm":
        return
    algorithm, *lines = map(int, re.findall(r"\d+", part.source))
    text = section_of("6.3") if algorithm == 9 else section
    assert f"Algorithm {algorithm}" in text
    rows = dict(re.findall(r"^\| (\d+) \| (.*)", text, re.M))
    read = [rows[str(line)] for line in range(lines[0], lines[-1] + 1)]
    if algorithm == 9 and name != "attention":  # its table says which section has a line
        assert f"6.{read[0].split('|')[1].strip()}" == part.lecture
    if name != "layer":  # this one says "lines 6 to 9"
        symbols = re.findall("[A-Za-z]+", re.sub(r" \(.*\)$", "", part.formula))
        assert [symbol for symbol in symbols if symbol not in "".join(read)] == []


@pytest.mark.parametrize("lit", [None, *PARTS])
def test_all_boxes_are_drawn_and_the_lit_one_can_be_seen(lit):
    page = soup(drawn_bert(lit))
    boxes = dict(zip(PARTS, page.select(".box"), strict=True))
    for part, box in zip(PARTS.values(), boxes.values(), strict=True):
        shown = [text.get_text().strip("▸ ") for text in box.find_all("text")]
        assert shown[:4] == [part.title, part.shape, part.formula, part.source]
        assert all(text in box["aria-label"] for text in (*shown[:4], part.name))
    assert page.select(".lit") == ([boxes[lit]] if lit else [])
    assert page.select("[hidden] .lit") == []
    opened = {box["aria-controls"] for box in page.select('[aria-expanded="true"]')}
    assert {section["id"] for section in page.select("section:not([hidden])")} == {"bert", *opened}
    assert [section["id"] for section in page.select("section")] == list(DRAWINGS)


def test_every_function_that_exercises_ask_for_has_its_box():
    names = {name for names in (*IN_BOXES.values(), *AROUND.values()) for name in names}
    assert names == {one.function for one in asked()}
    assert IN_BOXES.keys() <= PARTS.keys()


def test_a_box_is_lit_if_all_of_its_functions_are_written():
    drawing = written_bert(["gelu", "row_softmax", "mlm_loss"], "3 of 18 parts are yours.")
    page = soup(drawing)
    assert [box.find("text").get_text() for box in page.select("g.lit")] == ["Feed-forward"]
    assert [box.b.get_text() for box in page.select("li.lit")] == ["Loss"]
    assert "□ masked_shares ■ row_softmax" in page.get_text()
    assert [section["id"] for section in page.select("[hidden]")] == ["final"], "all of it is lent"
    assert drawing.alt == "3 of 18 parts are yours. Yours: gelu, row_softmax, mlm_loss."
    assert soup(written_bert([], "None.")).select(".lit") == []
