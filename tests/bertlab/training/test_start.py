"""How a training starts: weights against BERT's and lecture 5's waves; short sequences."""

import math
from itertools import islice

import pytest
import torch
from torch import nn

from bertlab.finetuning.heads import SequenceClassifier
from bertlab.finetuning.sentence_objectives import SiameseClassifier
from bertlab.model import Bert, BertConfig, BertForPreTraining
from bertlab.pretraining.batches import PretrainingData
from bertlab.training.command import RunSettings, initial_model
from bertlab.training.loop import TrainingConfig
from bertlab.training.start import (
    OFFSETS,
    STARTS,
    ShortFirst,
    initial_weights,
    neighbours_start,
    plain_start,
)
from course.models.relatives.gpt import CausalLanguageModel
from course.models.relatives.permutation import PermutationLanguageModel
from tests.bertlab.pretraining.numbered_stores import many_lengths
from tests.bertlab.refusals import rejected
from tests.small_models import assert_the_seed_decides, weights


def model_of(d_model):
    sizes = {"n_layers": 1, "n_heads": 2, "d_ff": 4 * d_model, "max_length": 40}
    return BertForPreTraining(BertConfig(vocab_size=300, d_model=d_model, **sizes))


@pytest.mark.parametrize(("d_model", "spread"), [(768, 0.02), (192, 0.04), (48, 0.08)])
def test_a_sum_over_d_model_numbers_spreads_as_in_bert_base(d_model, spread):
    model = plain_start(model_of(d_model))
    for name, module in model.named_modules():
        if isinstance(module, nn.Linear | nn.Embedding):
            chance = 5 * spread / math.sqrt(module.weight.numel())  # five standard errors
            assert abs(module.weight.std().item() - spread) < chance, name
            assert abs(module.weight.mean().item()) < chance, name


@pytest.mark.parametrize("start", STARTS.values(), ids=STARTS)
def test_biases_and_norms_do_not_change(start):
    before, after = model_of(48), start(model_of(48))
    for (name, old), new in zip(before.named_parameters(), after.parameters(), strict=True):
        assert torch.equal(old, new) == (old.ndim == 1), name


def test_in_initial_weights_only_positions_differ_and_are_waves_of_that_size():
    plain, good = plain_start(model_of(48)), initial_weights(model_of(48))
    pairs = zip(plain.named_parameters(), good.parameters(), strict=True)
    other = [name for (name, one), two in pairs if not torch.equal(one, two)]
    assert other == ["bert.embeddings.position.weight"]
    position = initial_weights(model_of(48)).bert.embeddings.position.weight.detach()
    size = math.sqrt(2) * 0.08
    assert position[0].tolist() == pytest.approx([0.0, size] * 24, abs=1e-6)
    for at, pair in ((7, 0), (7, 5), (39, 23)):
        angle = at / 10_000 ** (2 * pair / 48)
        wave = [size * math.sin(angle), size * math.cos(angle)]
        assert position[at, 2 * pair : 2 * pair + 2].tolist() == pytest.approx(wave, abs=1e-5)


@pytest.mark.parametrize(
    "new",
    [
        lambda: Bert(BertConfig.tiny(vocab_size=300)),
        lambda: BertForPreTraining(BertConfig.tiny(vocab_size=300)),
        lambda: initial_model(RunSettings("books", TrainingConfig(1), "tiny"), 300),
        lambda: SequenceClassifier(Bert(BertConfig.tiny(vocab_size=300)), 3),
        lambda: SiameseClassifier(d_model=16, n_classes=3),
        lambda: CausalLanguageModel(BertConfig.tiny(vocab_size=300, causal=True)),
        lambda: PermutationLanguageModel(BertConfig.tiny(vocab_size=300)),
    ],
    ids=["an encoder", "a model", "a run", "a head", "a siamese head", "causal", "permuted"],
)
def test_each_weight_is_drawn_once(new, monkeypatch):
    drawn = []
    for name in ("normal_", "uniform_"):
        draw = getattr(torch.Tensor, name)

        def noted(tensor, *args, draw=draw, **kwargs):
            drawn.append(0 if tensor.is_meta else tensor.numel())
            return draw(tensor, *args, **kwargs)

        monkeypatch.setattr(torch.Tensor, name, noted)
    model = new()
    assert sum(drawn) == sum(p.numel() for p in model.parameters() if p.ndim > 1)


def test_the_seed_determines_the_weights_and_no_global_state_changes():
    assert_the_seed_decides(lambda seed: weights(neighbours_start(model_of(48), seed)))


@pytest.mark.parametrize(("d_model", "n_heads"), [(128, 2), (256, 4), (768, 12)])
def test_the_first_heads_look_at_their_neighbours(d_model, n_heads):
    sizes = {"n_layers": 2, "n_heads": n_heads, "d_ff": 64, "max_length": 40}
    model = BertForPreTraining(BertConfig(vocab_size=300, d_model=d_model, **sizes)).eval()
    ids = torch.randint(300, (5, 40), generator=torch.Generator().manual_seed(0))
    first, second = neighbours_start(model).bert(ids, output_attentions=True).attentions
    for head in range(n_heads):
        seen = {at: first[:, head].diagonal(at, 1, 2).mean().item() for at in range(-6, 7)}
        if head < len(OFFSETS):
            offset = OFFSETS[head]
            assert max(seen, key=seen.get) == offset
            assert seen[offset] > 0.45
        else:
            assert max(seen.values()) < 0.1  # by chance
    assert second.max() < 0.2


@pytest.fixture(scope="module")
def numbered(tmp_path_factory):
    return many_lengths(tmp_path_factory.mktemp("store"))


def same(one, two):
    return all(torch.equal(a, b) for a, b in zip(one, two, strict=True))


def test_short_sequences_come_first_with_as_many_tokens_a_step(numbered):
    data = PretrainingData(*numbered, max_length=40, batch_size=8)
    rejected("steps must be at least 1; got 0", ShortFirst, data, 0)

    def some(number, steps):
        return [batch for _, batch in islice(ShortFirst(data, steps).batches(), number)]

    shapes = [batch.ids.shape for batch in some(8, steps=5)]
    assert all(rows == 20 and length <= 16 for rows, length in shapes[:5])
    assert all(rows == 8 and 16 < length <= 40 for rows, length in shapes[5:])
    assert all(map(same, some(5, steps=2)[2:], data.epoch(0)))
    short = ShortFirst(data, 1).short
    once = len(short.epoch(0))
    batches = some(once + 3, steps=once + 3)  # the text is read again
    assert all(batch.ids.shape[1] <= 16 for batch in batches)
    assert same(batches[once], short.epoch(1)[0])  # other pairs, other masks


@pytest.mark.parametrize(
    ("length", "size", "short"), [(64, 8, (16, 32)), (24, 10, (16, 15)), (12, 10, (12, 10))]
)
def test_nothing_gets_shorter_than_sixteen_tokens(numbered, length, size, short):
    first = ShortFirst(PretrainingData(*numbered, max_length=length, batch_size=size), 1).short
    assert (first.max_length, first.batch_size) == short
