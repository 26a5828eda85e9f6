"""Exercise 10, attention heads: what its solutions compute is what the library computes."""

import pytest
import torch

from bertlab.interpretability import patterns
from bertlab.interpretability.ablation import ablate_each_head
from bertlab.interpretability.probing import control_labels
from bertlab.interpretability.rollout import attention_rollout
from bertlab.interpretability.traces import trace
from bertlab.model import Bert, BertConfig, BertForPreTraining, load_tokenizer, pretrained
from bertlab.training.start import STARTS
from course.feedback.tensors import normal


@pytest.mark.parametrize("shape", [(9, 9), (4, 9, 9), (2, 4, 12, 12)])
def test_the_solutions_measures_are_the_librarys(solution, shape):
    attention = normal(*shape).softmax(dim=-1)
    ids = torch.arange(shape[-1]) % 5
    for function, *others in (
        (patterns.attention_entropy,),
        (patterns.attention_to_offset, -1),
        (patterns.attention_to_offset, 2),
        (patterns.attention_to_tokens, ids == 3),
        (patterns.attention_to_same_word, ids),
    ):
        ours, theirs = solution[function.__name__](attention, *others), function(attention, *others)
        torch.testing.assert_close(ours, theirs)


def test_solution_and_library_reject_an_offset_that_no_query_has(solution):
    for function in (solution["attention_to_offset"], patterns.attention_to_offset):
        with pytest.raises(ValueError, match="5"):
            function(torch.eye(5), 5)


def test_the_solutions_rollout_is_the_librarys(solution):
    layers = [normal(3, 8, 8, seed=seed).softmax(dim=-1) for seed in range(5)]
    torch.testing.assert_close(solution["attention_rollout"](layers), attention_rollout(layers))


def test_zero_columns_of_the_output_matrix_disable_a_head(solution):
    """The solution changes weights, the library puts a hook before them: the same loss."""
    bert = Bert(BertConfig(50, d_model=24, n_layers=3, n_heads=4, d_ff=16), seed=3).eval()
    for weight in (weights := [layer.attention.output.weight for layer in bert.layers]):
        weight.data *= 20  # initial weights are so small that no head would matter
    ids = torch.randint(50, (5, 11), generator=torch.Generator().manual_seed(0))

    def loss(batch):
        with torch.no_grad():
            return bert(batch).last_hidden_state.sin().mean().item()

    ours = solution["ablate_each_head"](weights, 4, lambda: loss(ids))
    theirs = ablate_each_head(bert, loss, [ids])
    torch.testing.assert_close(ours, theirs, atol=1e-6, rtol=1e-3)
    assert theirs.abs().min() > 1e-5


def test_the_solutions_random_labels_follow_the_librarys_rules(solution):
    """Another generator draws other labels; only the rules are the same."""
    words = [f"w{n * n % 700}" for n in range(5000)]
    labels = ["a" if n % 4 else "b" for n in range(5000)]
    for draw in (solution["control_labels"], control_labels):
        drawn = draw(words, labels, 1)
        label_of = dict(zip(words, drawn, strict=True))
        assert drawn == [label_of[word] for word in words] == draw(words, labels, 1)
        share = list(label_of.values()).count("a") / len(label_of)
        assert share == pytest.approx(0.75, abs=0.1)
        assert drawn != draw(words, labels, 2)


@pytest.fixture(scope="module")
def mini():
    model = pretrained.load_pretrained(pretrained.BERTLAB_MINI, BertForPreTraining)
    return model, load_tokenizer(pretrained.BERTLAB_MINI)


@pytest.mark.slow
def test_the_graders_numbers_are_bertlab_minis(solution, cells, mini):
    """The criteria for the written answers: offsets, articles, where positions end."""
    texts = cells["mini"].source.split('TEXTS = """')[1].split('"""')[0].strip().splitlines()
    traces = [trace(*mini, text) for text in texts]

    def mean(layer, head, measure):
        return torch.stack([measure(t.attentions[layer][head], t) for t in traces]).nanmean().item()

    to_offset, to_tokens, to_word = (
        solution[f"attention_to_{what}"] for what in ("offset", "tokens", "same_word")
    )

    def is_the(t):
        return torch.tensor([token == "the" for token in t.tokens])

    said = "".join(cells[name].source for name in ("explain", "task-10", "prove"))

    def is_told(number, value):
        assert value == pytest.approx(float(number), abs=0.006)
        assert number in said

    is_told("0.70", mean(1, 1, lambda attention, _: to_offset(attention, -2)))
    after = solution["attention_after_same_word"]
    is_told("0.21", mean(1, 1, lambda attention, t: after(attention, t.ids)))
    is_told("0.43", mean(3, 1, lambda attention, t: to_tokens(attention, is_the(t))))
    is_told("0.19", mean(2, 3, lambda attention, t: to_word(attention, t.ids)))
    is_told("0.95", mean(0, 1, lambda attention, _: to_offset(attention, 1)))
    long = trace(*mini, " ".join(texts)).attentions[0][1].diagonal(1)
    is_told("0.57", long.mean().item())
    is_told("0.99", long[:126].mean().item())
    assert long[127:].max() < 0.03


@pytest.mark.slow
def test_only_the_start_distinguishes_the_planted_from_the_learned_head(solution, mini):
    """Third claim: a share of 0.1 is in both models on any text; one has it before training."""
    model, tokenizer = mini
    planted = pretrained.load_pretrained(pretrained.BERTLAB_MINI_PLANTED, BertForPreTraining)
    random = torch.randint(200, 8000, (20,), generator=torch.Generator().manual_seed(1)).tolist()
    drawn = tokenizer.decode(random)
    texts = ["The king gave the queen a ring.", "the " * 20, drawn]

    def share(model):
        heads = [trace(model, tokenizer, text).attentions[0][1] for text in texts]
        return [solution["attention_to_offset"](head, 1).item() for head in heads]

    assert min(share(model) + share(planted)) > 0.88
    starts = ("plain", "neighbours")
    before = [STARTS[name](BertForPreTraining(model.config), 0).eval() for name in starts]
    assert max(share(before[0])) < 0.15
    assert min(share(before[1])) > 0.5


def test_cells_for_the_student_to_change_are_not_locked(cells):
    """nbgrader makes locked cells read-only, and restores them before it grades."""
    for name in ("look", "own", "yours", "older", "yours-too"):
        assert not cells[name].metadata.nbgrader.locked
