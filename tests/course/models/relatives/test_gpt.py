"""GPT: against transformers' decoder with the same weights, and against laws of drawing."""

import math
from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare
from torch.nn import functional as F
from transformers import BertLMHeadModel

from bertlab.model import BertConfig, BertForPreTraining
from bertlab.model.pretrained import tensor_names
from bertlab.pretraining.batches import Batch, Batches
from bertlab.training.loop import TrainingConfig
from course.models.relatives import gpt
from course.models.relatives.training import train
from tests.bertlab.refusals import rejected
from tests.small_models import assert_the_seed_decides, generator, hugging_face, strong

SIZES = {"d_model": 24, "n_layers": 2, "n_heads": 4, "d_ff": 40, "max_length": 16}
CONFIG = BertConfig(50, **SIZES, causal=True)


def some_ids(*shape, seed=0):
    return torch.randint(0, 50, shape, generator=generator(seed))


@pytest.fixture(scope="module")
def model():
    """Weights large enough that a token depends on all before it."""
    return strong(gpt.CausalLanguageModel(CONFIG, seed=1).eval())


def test_logits_and_loss_equal_those_of_transformers():
    reference = hugging_face(BertLMHeadModel, CONFIG, is_decoder=True)
    theirs, ours = reference.state_dict(), gpt.CausalLanguageModel(CONFIG).eval()
    loaded = {
        name.replace("mlm_head", "head"): torch.cat([theirs[part] for part in parts])
        for name, parts in tensor_names(2, BertForPreTraining).items()
        if not name.startswith(("nsp_head", "bert.pooler"))
    }
    missing, unexpected = ours.load_state_dict(loaded, strict=False)
    assert (missing, unexpected) == (["bert.pooler.weight", "bert.pooler.bias"], [])
    ids = some_ids(3, 12)
    mask = torch.arange(12) < torch.tensor([[12], [7], [2]])
    labels = ids.masked_fill(~mask, -100)  # theirs shifts them itself
    expected = reference(ids, mask.long(), labels=labels)
    got = ours(ids)  # and needs no mask
    torch.testing.assert_close(got[mask], expected.logits[mask], rtol=1e-4, atol=1e-4)
    loss = gpt.next_token_loss(got, ids, mask)
    torch.testing.assert_close(loss, expected.loss, rtol=1e-4, atol=1e-5)


@pytest.mark.slow
@given(st.integers(2, 16), st.data())
def test_no_score_depends_on_what_comes_later(model, length, data):
    later = data.draw(st.integers(1, length - 1))
    ids = some_ids(1, length, seed=length)
    changed = ids.clone()
    changed[:, later:] = (changed[:, later:] + 1) % 50
    before, after = model(ids), model(changed)
    assert torch.equal(before[:, :later], after[:, :later])
    assert not torch.equal(before[:, later:], after[:, later:])


def test_the_loss_counts_every_token_except_the_first_and_padding():
    # Two rows; the second has two tokens. By hand: three questions, -log 0.5, -log 0.25, -log 0.5.
    first = [[0.25, 0.5, 0.25], [0.5, 0.25, 0.25], [1 / 3, 1 / 3, 1 / 3]]
    logits = torch.tensor([first, [[0.5, 0.25, 0.25], [0.1, 0.8, 0.1], [0.1, 0.8, 0.1]]]).log()
    ids = torch.tensor([[2, 1, 2], [1, 0, 0]])
    mask = torch.tensor([[True, True, True], [True, True, False]])
    by_hand = (math.log(2) + math.log(4) + math.log(2)) / 3
    assert gpt.next_token_loss(logits, ids, mask).item() == pytest.approx(by_hand)
    assert gpt.next_token_loss(logits, ids, mask.long()).item() == pytest.approx(by_hand)
    everywhere = gpt.next_token_loss(logits, ids).item()
    assert everywhere == pytest.approx((3 * by_hand + math.log(10)) / 4)
    assert gpt.next_token_loss(logits[:, :1], ids[:, :1]).item() == 0  # nobody is asked


def test_temperature_divides_the_logits_0_takes_the_best_and_top_k_keeps_the_k_most_likely():
    logits = torch.tensor([[2.0, -1.0, 0.5, 0.0]])
    kept = torch.tensor([[math.exp(2.0), 0.0, math.exp(0.5), 0.0]])
    best, close = torch.tensor([[1.0, 0.0, 0.0, 0.0]]), {"atol": 1e-5, "rtol": 0}
    for arguments, expected in (
        ((0.7,), F.softmax(logits / 0.7, dim=-1)),
        ((1.0, 2), kept / kept.sum()),
        ((1.0, 4), F.softmax(logits, dim=-1)),
        ((1e-6,), best),
        ((1e6,), torch.full((1, 4), 1 / 4)),
    ):
        got = gpt.next_token_probabilities(logits, *arguments)
        torch.testing.assert_close(got, expected, **close)
    assert torch.equal(gpt.next_token_probabilities(logits, 0.0), best)
    assert gpt.next_token_probabilities(torch.zeros(5), top_k=2).count_nonzero() == 2


@given(st.floats(1e-30, 1e3), st.integers(1, 6), st.integers(0, 1000))
def test_probabilities_sum_to_one_and_keep_the_order(temperature, top_k, seed):
    logits = 5 * torch.randn(3, 6, generator=generator(seed))
    chances = gpt.next_token_probabilities(logits, temperature, top_k)
    torch.testing.assert_close(chances.sum(dim=-1), torch.ones(3))
    assert ((chances > 0).sum(dim=-1) <= top_k).all()
    assert torch.equal(chances.argmax(dim=-1), logits.argmax(dim=-1)) or temperature > 100


@pytest.mark.slow
@pytest.mark.parametrize(("temperature", "top_k"), [(1.0, None), (0.5, None), (1.5, 5)])
def test_what_is_drawn_has_the_wanted_frequencies(model, temperature, top_k):
    prompt = some_ids(1, 4, seed=9)
    with torch.no_grad():
        logits = model(prompt)[0, -1]
    if top_k is not None:
        logits = logits.masked_fill(logits < logits.sort(descending=True).values[top_k - 1], -1e9)
    expected = F.softmax(logits / temperature, dim=-1).double()
    n = 20_000
    options = {"temperature": temperature, "top_k": top_k, "generator": generator(4)}
    drawn = next(gpt.stream(model, prompt.expand(n, -1), 1, **options))
    counts = torch.bincount(drawn, minlength=50).double()
    assert counts[expected < 1e-12].sum() == 0
    many = expected * n >= 5
    observed, wanted = (torch.cat([x[many], x[~many].sum()[None]]) for x in (counts, expected * n))
    if wanted[-1] < 5:  # the rare ones together are too few to be tested by themselves
        observed, wanted = (torch.cat([x[:-2], x[-2:].sum()[None]]) for x in (observed, wanted))
    assert chisquare(observed, wanted * observed.sum() / wanted.sum()).pvalue > 1e-3


def test_greedy_writing_takes_the_best_word_each_time_and_draws_nothing(model):
    prompt = some_ids(2, 3)
    written = gpt.generate(model, prompt, 8, temperature=0)
    assert torch.equal(written[:, :3], prompt)
    best = model(written).argmax(dim=-1)  # causal: one reading answers for every step
    assert torch.equal(written[:, 3:], best[:, 2:-1])
    assert torch.equal(written, gpt.generate(model, prompt, 8, top_k=1, generator=generator()))


def test_the_generator_determines_the_text_and_no_global_state_changes(model):
    prompt = some_ids(2, 3)
    assert_the_seed_decides(lambda s: gpt.generate(model, prompt, 10, generator=generator(s)))


def test_a_long_text_is_read_from_its_end_and_no_new_words_are_the_text_itself(model):
    long = gpt.generate(model, some_ids(1, 14), 10, temperature=0)
    assert long.shape == (1, 24)
    assert long[0, 20] == model(long[:, 4:20])[0, -1].argmax()
    assert torch.equal(gpt.generate(model, some_ids(2, 3), 0, temperature=0), some_ids(2, 3))


def test_writing_leaves_the_model_in_training_also_between_two_words():
    model = gpt.CausalLanguageModel(CONFIG).train()
    words = gpt.stream(model, some_ids(1, 3), 2, generator=generator())
    next(words)
    assert model.training
    assert model.bert.layers[0].dropout.training
    assert torch.is_grad_enabled()
    written = gpt.generate(model, some_ids(1, 3), 5, temperature=0)
    assert torch.equal(written, gpt.generate(model.eval(), some_ids(1, 3), 5, temperature=0))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"temperature": -1}, "temperature must be at least 0"),
        ({"temperature": math.nan}, "temperature must be at least 0"),
        ({"temperature": math.inf}, "temperature must be at least 0 and finite"),
        ({"top_k": 0}, "top_k must be from 1 to 50"),
        ({"top_k": 51}, "top_k must be from 1 to 50"),
        ({"generator": None}, "generator must be given"),
        ({"n_tokens": -1}, "n_tokens must not be negative"),
    ],
)
def test_what_cannot_be_drawn_from_is_rejected(model, options, message):
    options = {"n_tokens": 1, "generator": generator()} | options
    rejected(message, gpt.generate, model, some_ids(1, 3), **options)
    listed = "generate: ids must be a tensor; got a list"
    rejected(listed, gpt.generate, model, [[1, 2]], 1, temperature=0, error=TypeError)


def test_a_model_of_both_sides_is_rejected():
    bidirectional = replace(CONFIG, causal=False)
    rejected("config must have causal=True", gpt.CausalLanguageModel, bidirectional)


class Counting(Batches):
    """Numbers from 5 to 12, each followed by the next one, around and around."""

    def epoch(self, number):
        ids = 5 + (torch.arange(8)[:, None] + torch.arange(12)) % 8
        nothing = torch.zeros_like(ids, dtype=torch.bool)
        return [Batch(ids, ids * 0, ~nothing, nothing, ids.new_empty(0), ids[:, 0] * 0)] * 3


@pytest.mark.slow
def test_a_gpt_learns_to_continue_and_evaluation_counts_every_token():
    torch.set_num_threads(1)
    data = Counting()
    model = gpt.CausalLanguageModel(BertConfig(80, **SIZES, dropout=0, causal=True))

    def losses(batch):
        return {"loss": gpt.next_token_loss(model(batch.ids), batch.ids)}

    config = TrainingConfig(steps=80, learning_rate=1e-2, evaluate_every=1000)
    options = {"evaluate": lambda: gpt.evaluate_next_tokens(model, data), "progress": False}
    rows = train(model, losses, data, config, **options)
    before, after = (row for row in rows if row["kind"] == "held-out")
    assert before["loss"] > math.log(80) - 1
    assert after["loss"] < 0.6  # only the beginning of a piece is a riddle
    assert after["perplexity"] == pytest.approx(math.exp(after["loss"]))
    ids = torch.cat([batch.ids for batch in data.epoch(0)])
    logits = model(ids)[:, :-1]
    expected = F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
    assert after["loss"] == pytest.approx(expected.item(), rel=1e-4)
    right = (logits.argmax(dim=-1) == ids[:, 1:]).float().mean()
    assert after["accuracy"] == pytest.approx(right.item(), rel=1e-4)
    assert after["n_tokens"] == ids[:, 1:].numel()


def test_a_label_of_minus_100_among_the_ids_is_rejected_and_a_masked_one_is_not():
    logits, ids = torch.zeros(1, 4, 5), torch.tensor([[1, 2, -100, -100]])
    message = "next_token_loss: words must be from 0 to 4; got -100"
    rejected(message, gpt.next_token_loss, logits, ids)
    expected = F.cross_entropy(logits[:, :-1].mT, ids[:, 1:])  # PyTorch leaves them out
    torch.testing.assert_close(gpt.next_token_loss(logits, ids, ids > 0), expected)
