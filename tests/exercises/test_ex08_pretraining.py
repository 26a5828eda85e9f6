"""Exercise 8: what its solutions compute is what the library computes."""

import pytest
import torch

from bertlab.model import BertConfig, BertForPreTraining
from bertlab.training.fast import cut, wide_step
from bertlab.training.runs import evaluate
from bertlab.training.steps import accumulate_gradients, adamw
from course.feedback import ex08_pretraining as check
from course.feedback.checks import CheckFailed
from course.feedback.ex08_pretraining import TwoWeights, many_pieces, two_pieces
from course.toyworld.batches import ToyData

DATA = ToyData(batch_size=12, n_batches=3, seed=5)
CONFIG = BertConfig(
    vocab_size=len(DATA.world.tokenizer.vocab), d_model=16, n_layers=1, n_heads=2, d_ff=32
)
BATCH = DATA.epoch(0)[0]


def bert():
    """A small model without dropout; always the same weights."""
    return BertForPreTraining(CONFIG, seed=1).eval()


def test_the_solutions_gradients_and_loss_are_the_librarys(solution):
    ours, theirs = bert(), bert()
    totals = len(BATCH.words), len(BATCH.next_sentence)
    loss = solution["accumulate_gradients"](ours, cut(BATCH, 5), *totals)
    words, pairs, *_ = accumulate_gradients(theirs, cut(BATCH, 5), *totals).tolist()
    assert loss == pytest.approx(words / totals[0] + pairs / totals[1], rel=1e-5)
    for one, other in zip(ours.parameters(), theirs.parameters(), strict=True):
        assert (one.grad is None and other.grad is None) or torch.allclose(one.grad, other.grad)


def test_the_solutions_step_is_the_librarys(solution):
    ours, theirs = bert(), bert()
    result = wide_step(theirs, adamw(theirs, 0.003), BATCH, clip=0.1, accumulate=4)
    loss = solution["training_step"](ours, adamw(ours, 7.0), cut(BATCH, 4), 0.003, 0.1)
    assert loss == pytest.approx(result.loss, rel=1e-5)
    for one, other in zip(ours.parameters(), theirs.parameters(), strict=True):
        assert torch.allclose(one, other, atol=1e-6)


def test_the_solutions_evaluation_is_the_librarys(solution):
    expected = evaluate(bert(), DATA)
    loss, words, pairs = solution["evaluate"](bert(), DATA.epoch(0))
    assert loss == pytest.approx(expected.mlm_loss, rel=1e-5)
    assert (words, pairs) == pytest.approx((expected.mlm_accuracy, expected.nsp_accuracy))


def test_gradients_left_disabled_are_detected_and_enabled(solution):
    """No wrong answer covers this: while one is graded, only the sandbox has gradients disabled."""

    def switches_off(model, batches):
        torch.set_grad_enabled(False)
        return solution["evaluate"](model, batches)

    with pytest.raises(CheckFailed, match="gradients stay off"):
        check.evaluate(switches_off)
    assert torch.is_grad_enabled()


def test_a_model_of_the_checks_rejects_the_arguments_of_another_batch():
    pieces = two_pieces()
    model = TwoWeights(pieces)
    first, second = pieces
    with pytest.raises(ValueError, match="segment_ids differs"):
        model(first.ids, first.attention_mask, first.segment_ids, first.predict)
    with pytest.raises(ValueError, match="predict differs"):
        model(*first[:3], ~first.predict)
    with pytest.raises(ValueError, match="ids of a piece"):
        model(second.ids + 1, *second[1:4])
    assert model.calls == []


def test_pieces_of_the_checks_differ_and_one_has_no_masked_word():
    for pieces in (two_pieces(), many_pieces()):
        assert len({str(piece.ids.tolist()) for piece in pieces}) == len(pieces)
        assert all(int(piece.predict.sum()) == len(piece.words) for piece in pieces)
    assert [len(piece.words) for piece in many_pieces()].count(0) == 1


@pytest.mark.slow
def test_the_model_answer_is_true_with_one_seed(cells, solution, monkeypatch):
    scope, norms, clip = solution | {"results": {}}, [], torch.nn.utils.clip_grad_norm_
    for name in ("training", "curves"):
        exec(compile(cells[name].source, name, "exec"), scope)
    train, best_loss, frequencies, parts, few, fresh, honest, never_seen = (
        scope[name]
        for name in [
            "train",
            "best_loss",
            "frequencies",
            "everything",
            "few",
            "fresh",
            "honest",
            "never_seen",
        ]
    )

    def noted(*arguments):
        norms.append(clip(*arguments))
        return norms[-1]

    monkeypatch.setattr(torch.nn.utils, "clip_grad_norm_", noted)
    whole, reads = train(parts, 0.03, 0, fresh[0], honest)
    assert sum(norm > 1 for norm in norms) > 0.8 * len(norms) > 100
    without, blind = train(parts - {"warm-up"}, 0.03, 0, fresh[0], honest)
    assert abs(without[-1] - frequencies) < 0.1 < 0.4 < without[-1] - whole[-1]
    for model, lowest, highest in ((blind, 0, 0.01), (reads, 0.1, 1)):
        with torch.no_grad():
            p = model.eval()(*never_seen[0][:4]).mlm_logits.softmax(dim=-1)
        assert lowest <= (p.amax(dim=0) - p.amin(dim=0)).max() < highest
    careless, model = train(parts, 0.01, 0, few, few)
    assert careless[-1] < best_loss(few) < frequencies < solution["evaluate"](model, never_seen)[0]
