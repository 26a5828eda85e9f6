"""Permutation language modelling: its dependencies, and known special cases."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional as F

from bertlab.model import Bert, BertConfig
from bertlab.model.attention import multi_head_attention
from bertlab.model.layers import EncoderLayer, layer_norm
from bertlab.pretraining.batches import Batch, Batches
from bertlab.training.loop import TrainingConfig
from course.models.relatives.permutation import (
    PermutationLanguageModel,
    draw_reading,
    permutation_loss,
    permutation_masks,
    two_streams,
)
from course.models.relatives.training import train
from tests.bertlab.refusals import rejected
from tests.small_models import assert_the_seed_decides, generator, strong

SIZES = {"d_model": 24, "n_layers": 3, "n_heads": 4, "d_ff": 40, "max_length": 16}
CONFIG = BertConfig(50, **SIZES)


def some_ids(*shape, seed=0):
    return torch.randint(1, 50, shape, generator=generator(seed))


@pytest.fixture(scope="module")
def model():
    return strong(PermutationLanguageModel(CONFIG, seed=1).eval(), others=0.2)


def random_reading(ids, n_targets, seed=0):
    return draw_reading(torch.ones_like(ids, dtype=torch.bool), n_targets, generator(seed))


def test_the_masks_of_the_papers_figure_and_of_two_positions_of_one_number():
    # Figure 1 (right) of the paper reads x3, x2, x4, x1.
    content, query = permutation_masks(torch.tensor([[3, 1, 0, 2]]))
    sees = {1: {3, 2, 4, 1}, 2: {3, 2}, 3: {3}, 4: {3, 2, 4}}  # h of each word
    for position, seen in sees.items():
        rows = (mask[0, position - 1].nonzero().flatten() + 1 for mask in (content, query))
        assert [set(row.tolist()) for row in rows] == [seen, seen - {position}]
    content, query = permutation_masks(torch.tensor([[0, 0, 1]]))
    assert content[0].int().tolist() == [[1, 1, 0], [1, 1, 0], [1, 1, 1]]
    assert query[0].int().tolist() == [[0, 0, 0], [0, 0, 0], [1, 1, 0]]


@given(st.lists(st.integers(4, 12), min_size=1, max_size=4), st.integers(1, 3), st.integers(0, 99))
def test_a_reading_is_a_permutation_that_begins_with_the_first_token(lengths, n_targets, seed):
    mask = torch.arange(12) < torch.tensor(lengths)[:, None]
    order, targets = draw_reading(mask, n_targets, generator(seed))
    for row, length in enumerate(lengths):
        assert sorted(order[row].tolist()) == list(range(12))
        assert order[row, 0] == 0
        assert set(order[row, length:].tolist()) == set(range(length, 12))  # padding comes last
        read = order[row, targets[row]].tolist()
        assert read == list(range(length - n_targets, length))
    content, _ = permutation_masks(order)
    assert not (content & mask[:, :, None] & ~mask[:, None, :]).any()  # no token sees padding


def test_all_orders_are_equally_likely():
    mask = torch.ones(60_000, 4, dtype=torch.bool)
    order, targets = draw_reading(mask, 1, generator(3))
    kinds, counts = order.unique(dim=0, return_counts=True)
    assert len(kinds) == 6  # the first token stays: 3! orders of the others
    assert ((counts - 10_000).abs() < 400).all()  # four standard deviations, 91 each, and more
    assert torch.bincount(targets[:, 0]).tolist() == pytest.approx([0, 2e4, 2e4, 2e4], abs=500)


def dependence(model, ids, reading):
    """[K, L]: whether the guess at each target changes with the word at each position."""
    before = model(ids, *reading).logits[0]
    changes = []
    for position in range(ids.shape[1]):
        changed = ids.clone()
        changed[0, position] = (changed[0, position] + 7) % 50
        after = model(changed, *reading).logits[0]
        changes.append((after != before).any(dim=-1))
    return torch.stack(changes, dim=1)


@pytest.mark.slow
@given(length=st.integers(4, 10), seed=st.integers(0, 1000))
def test_a_guess_depends_on_the_words_before_it_in_the_order_and_on_no_other(model, length, seed):
    ids = some_ids(1, length, seed=seed)
    reading = random_reading(ids, length - 1, seed)
    order, targets = reading
    expected = order[0][None, :] < order[0, targets[0]][:, None]  # [K, L]
    assert torch.equal(dependence(model, ids, reading), expected)


def test_a_prediction_depends_on_the_target_position(model):
    # The same words are read; only the place of the question differs (the paper's equation 4).
    ids = some_ids(1, 5)
    order = torch.tensor([[0, 1, 2, 3, 3]])
    guesses = model(ids, order, torch.tensor([[3, 4]])).logits[0]
    assert (guesses[0] - guesses[1]).abs().max() > 0.1


def test_a_question_knows_its_segment_and_its_place_and_no_word(model):
    tables, targets = model.bert.embeddings, torch.tensor([[3, 1]])
    norm, segment_ids = tables.norm, torch.tensor([[0, 0, 1, 1]])

    def asked(place, segment):
        summed = model.asked + tables.position.weight[place] + tables.segment.weight[segment]
        return layer_norm(summed, norm.gamma, norm.beta)

    expected = torch.stack([asked(3, 1), asked(1, 0)])[None]
    torch.testing.assert_close(model.ask(targets, segment_ids), expected)
    torch.testing.assert_close(model.ask(targets)[0, 1], asked(1, 0))


def test_a_layers_content_stream_is_the_encoder_layer_with_that_mask():
    layer = strong(EncoderLayer(24, 4, 40).eval(), others=0.2)
    x = torch.randn(2, 6, 24, generator=generator())
    order = torch.stack([torch.randperm(6, generator=generator(i)) for i in range(2)])
    masks = permutation_masks(order)
    asked = masks._replace(query=masks.content)  # any mask that leaves something to see
    content, query = two_streams(layer, x, x, asked)
    expected, _ = layer(x, masks.content[:, None])
    torch.testing.assert_close(content, expected)
    torch.testing.assert_close(query, expected)  # the same questions to the same keys


def by_hand(model, ids, target):
    """A causal model's prediction at a target: plain matrices, one layer and token at a time."""
    bert = model.bert
    tables = bert.embeddings
    places = tables.position.weight + tables.segment.weight[0]  # [L, D]
    norm = tables.norm
    content = layer_norm(tables.token.weight[ids] + places[: len(ids)], norm.gamma, norm.beta)
    asked = layer_norm(model.asked + places[target], norm.gamma, norm.beta)[None]  # [1, D]
    for layer in bert.layers:
        W_o, b_o = layer.attention.output.weight.T, layer.attention.output.bias
        heads = layer.attention.head_weights()

        def attend(question, read, heads=heads, W_o=W_o, b_o=b_o):
            """The query is last; it must not read itself, so its key is hidden."""
            x = torch.cat([read, question])
            mask = torch.ones(len(x), len(x), dtype=torch.bool)
            mask[-1, -1] = False
            return multi_head_attention(x, heads, W_o, b_o, mask)[-1:]

        def finish(x, attended, layer=layer):
            x = layer_norm(x + attended, layer.attention_norm.gamma, layer.attention_norm.beta)
            norm = layer.feed_forward_norm
            return layer_norm(x + layer.feed_forward(x), norm.gamma, norm.beta)

        asked = finish(asked, attend(asked, content[:target]))
        updated = []
        for t in range(len(content)):
            mask = torch.arange(len(content)) <= t
            attended = multi_head_attention(content, heads, W_o, b_o, mask.expand(len(content), -1))
            updated.append(finish(content[t : t + 1], attended[t : t + 1]))
        content = torch.cat(updated)
    return model.head(asked, tables.token.weight)[0], content


def test_the_order_of_the_text_is_a_causal_model(model):
    ids = some_ids(1, 7)
    order, targets = torch.arange(7)[None], torch.arange(1, 7)[None]
    causal = Bert(BertConfig(50, **SIZES, causal=True)).eval()
    causal.load_state_dict(model.bert.state_dict())
    got = model(ids, order, targets)
    torch.testing.assert_close(got.content, causal(ids).last_hidden_state, rtol=1e-4, atol=1e-4)
    for k, target in enumerate(range(1, 7)):
        logits, content = by_hand(model, ids[0], target)
        torch.testing.assert_close(got.logits[0, k], logits, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(got.content[0], content, rtol=1e-4, atol=1e-4)


def test_padding_changes_nothing(model):
    ids = some_ids(2, 8)
    order = torch.tensor([[0, 3, 1, 4, 2, 5, 6, 7], [0, 1, 2, 3, 4, 5, 6, 7]])
    padded = model(ids, order, torch.tensor([[1, 3], [6, 7]])).logits[0]
    plain = model(ids[:1, :5], order[:1, :5], torch.tensor([[1, 3]])).logits[0]
    torch.testing.assert_close(padded, plain, rtol=1e-4, atol=1e-5)


def test_the_loss_is_the_chain_rule(model):
    ids = some_ids(2, 6)
    order, targets = random_reading(ids, 3, seed=5)
    loss = permutation_loss(model(ids, order, targets).logits, ids, targets)
    total = 0.0
    for row in range(2):
        for target in targets[row]:
            one = model(ids[row : row + 1], order[row : row + 1], target.view(1, 1)).logits
            total -= one[0, 0].log_softmax(-1)[ids[row, target]].item()
    assert loss.item() == pytest.approx(total / 6, rel=1e-5)


def test_both_streams_and_the_question_vector_learn(model):
    ids = some_ids(2, 6)
    order, targets = random_reading(ids, 2)
    model.zero_grad()
    permutation_loss(model(ids, order, targets).logits, ids, targets).backward()
    unused = [name for name, p in model.named_parameters() if p.grad is None]
    assert unused == ["bert.pooler.weight", "bert.pooler.bias"]
    assert model.asked.grad.abs().sum() > 0


class Cities(Batches):
    """[CLS] new york, or [CLS] los angeles: each half of the time, as in the paper's example."""

    texts = torch.tensor([[1, 2, 3], [1, 4, 5]])

    def epoch(self, number):
        rows = self.texts.repeat(8, 1)
        nothing = torch.zeros_like(rows, dtype=torch.bool)
        empty = rows.new_empty(0)
        return [Batch(rows, rows * 0, ~nothing, nothing, empty, rows[:, 0] * 0)] * 10


@pytest.mark.slow
def test_two_words_that_belong_together_cost_as_much_as_one():
    # Guessed each for itself, as in BERT, they cost at best log 2 each, log 4 together; guessed one
    # after the other, in whatever order, log 2 together.
    torch.set_num_threads(1)
    sizes = {"d_model": 16, "n_layers": 1, "n_heads": 2, "d_ff": 32, "max_length": 4}
    model = PermutationLanguageModel(BertConfig(6, dropout=0, **sizes))
    rng = generator(1)

    def losses(batch):
        reading = draw_reading(batch.attention_mask, 2, rng)
        logits = model(batch.ids, *reading).logits
        return {"loss": permutation_loss(logits, batch.ids, reading.targets)}

    train(model, losses, Cities(), TrainingConfig(200, learning_rate=2e-2), progress=False)

    def cost(order, targets):
        """Nats of both words together."""
        order, targets = (torch.tensor([row]).expand(2, -1) for row in (order, targets))
        logits = model(Cities.texts, order, targets).logits
        return 2 * permutation_loss(logits, Cities.texts, targets).item()

    assert cost([0, 1, 2], [1, 2]) == pytest.approx(math.log(2), abs=0.05)
    assert cost([0, 2, 1], [2, 1]) == pytest.approx(math.log(2), abs=0.05)
    assert cost([0, 1, 1], [1, 2]) == pytest.approx(math.log(4), abs=0.05)  # both at once


def test_what_cannot_be_read_is_rejected(model):
    ids = some_ids(1, 4)
    order, targets = torch.tensor([[0, 1, 2, 3]]), torch.tensor([[3]])
    shape = r"order must have the shape of ids, \[1, 4\]"
    rejected(shape, model, ids, order[:, :3], targets)
    listed = "ids must be a tensor; got a list"
    rejected(listed, model, ids.tolist(), order, targets, error=TypeError)
    rejected(r"targets must be \[B, K\] with B = 1", model, ids, order, torch.tensor([3]))
    rejected("targets must not be read first", model, ids, order, torch.tensor([[0, 3]]))
    causal = BertConfig(50, **SIZES, causal=True)
    rejected("config must have causal=False", PermutationLanguageModel, causal)
    rejected(r"order must be \[B, L\]", permutation_masks, torch.arange(3))
    for n_targets in (0, 4):
        rejected("leave each row its first token", random_reading, ids, n_targets)


def test_the_seed_determines_the_weights_and_no_global_state_changes():
    assert_the_seed_decides(lambda seed: PermutationLanguageModel(CONFIG, seed).asked)
    ours, encoder = PermutationLanguageModel(CONFIG, 1).bert, Bert(CONFIG, 1).state_dict()
    assert all(torch.equal(encoder[name], part) for name, part in ours.state_dict().items())


def test_the_loss_equals_pytorchs_on_the_words_at_the_targets_and_rejects_others():
    logits = torch.randn(2, 2, 50, generator=generator())
    ids, targets = some_ids(2, 5), torch.tensor([[4, 1], [2, 3]])
    words = torch.tensor([[ids[0, 4], ids[0, 1]], [ids[1, 2], ids[1, 3]]])
    expected = F.cross_entropy(logits.view(4, 50), words.flatten())
    torch.testing.assert_close(permutation_loss(logits, ids, targets), expected)
    shapes = r"permutation_loss: logits must be \[B, K, V\]"
    rejected(shapes, permutation_loss, logits[:, [0, 1, 1]], ids, targets)
    rejected(shapes, permutation_loss, logits.view(1, 4, 50), ids, targets)  # in other places
    rejected(shapes, permutation_loss, logits, ids.repeat(2, 1), targets)
    rejected(shapes, permutation_loss, logits[:, :0], ids, targets[:, :0])
    outside = "words must be from 0 to 49; got -100"
    rejected(outside, permutation_loss, logits, ids * 0 - 100, targets)
