"""Parameters counted by component, against `transformers` and against the slides' arithmetic."""

import pytest
import torch
from torch import nn
from transformers import BertForPreTraining as ReferenceForPreTraining

from bertlab.model import Bert, BertConfig, BertForPreTraining, count_parameters
from tests.small_models import hugging_face

SIZES = ["tiny", "mini", "small", "medium", "base", "large"]


@pytest.mark.parametrize("size", SIZES)
def test_every_size_has_hugging_faces_number_of_parameters(size):
    config = getattr(BertConfig, size)()
    with torch.device("meta"):
        reference = hugging_face(ReferenceForPreTraining, config)
    ours = count_parameters(config)
    assert ours.total == sum(p.numel() for p in reference.parameters())
    assert ours.part("bert") == sum(p.numel() for p in reference.bert.parameters())


def test_base_part_by_part_and_the_slides():
    table = count_parameters(BertConfig.base())
    assert table.part("bert") == 109_482_240
    assert table.total == 110_106_428
    # The slides round the vocabulary to 30,000 words; the rest of the embeddings is exact.
    slides = count_parameters(BertConfig.base(vocab_size=30_000))
    assert slides.part("bert.embeddings.token") == 23_040_000
    assert slides.part("bert.embeddings.segment") == 1_536
    assert slides.part("bert.embeddings.position") == 393_216
    # One layer: 4 x 768 x 768 and 2 x 768 x 3,072 weights, "7M" in the slides
    weights = 4 * 768 * 768 + 2 * 768 * 3072
    biases = 4 * 768 + 3072 + 768
    norms = 2 * 2 * 768
    assert slides.part("bert.layers") == 12 * (weights + biases + norms)
    assert round(weights / 1e6) == 7
    assert pytest.approx(107.4) == 23.4 + 12 * 7


def test_a_model_and_its_config_count_the_same_and_shared_parameters_once():
    config = BertConfig.tiny(vocab_size=70)
    assert count_parameters(BertForPreTraining(config)) == count_parameters(config)
    bare = count_parameters(Bert(config))
    assert bare.total == count_parameters(config).part("bert")
    first = nn.Linear(3, 3, bias=False)
    assert count_parameters(nn.Sequential(first, first)).total == 9


def test_the_table_adds_up_and_says_how_many_copies_of_a_layer_there_are():
    model = Bert(BertConfig.mini(vocab_size=70))
    table = count_parameters(model)
    assert table.total == sum(parameter.numel() for parameter in model.parameters())
    assert {c.copies for c in table.components if c.name.startswith("layers")} == {4}
    assert str(table).count("\n") == len(table.components)
    *rows, total = table.rows()
    assert total == ("total", "", f"{table.total:,}")
    numbers = {name: number for name, _, number in rows}
    # Four layers of 256: each norm holds 256 gammas and as many betas.
    assert numbers["layers.attention_norm"] == "4 × 512 = 2,048"
    assert numbers["embeddings.norm"] == "512"
