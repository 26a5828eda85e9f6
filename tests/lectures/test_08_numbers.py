"""Worked numbers of lecture 08, reproduced without the page: by hand, numpy, PyTorch.

The results of its training runs are asserted on the page itself.
"""

import argparse
import json
import math
import re
import shlex

import numpy as np
import pytest
import torch

from bertlab import data
from bertlab.model.pretrained import BERTLAB_MINI
from bertlab.pretraining.masking import MASKED_SHARE, RANDOM_SHARE
from bertlab.training import command
from bertlab.training.loop import TrainingConfig
from tests.lectures import sizes


def test_the_page_has_the_numbers_computed_here(states):
    states(rf"$\ln 2000 = {math.log(2000):.2f}$ nats")
    states(f"(3, 4) has length {math.hypot(3, 4):g} and becomes ({3 / 5}, {4 / 5})")
    rate = (1_000_000 - 505_000) / 990_000
    states(f"505,000) / 990,000 = {rate}$, so ${rate} \\cdot 10^{{-4}}$")
    assert math.isclose(20 * 1e-4, 2e-3)
    states(r"$2 \cdot 10^{-3}$ (twenty times BERT's")
    states(f"about, {100 * MASKED_SHARE:.0f} % are", f"clipping at {TrainingConfig(1).clip}")
    share = round(100 * RANDOM_SHARE)  # swapped, and as many unchanged
    states(f"`[MASK]`, {share} % are unchanged, and {share} % are swapped")
    states(f"what the {share} % unchanged words", f"account the {share} % of the chosen words")
    states(f"among 32 tokens, and a quarter of that among {4 * 32}")
    states(f"4 Cloud TPUs in a Pod ({4 * 4} chips)", f"16 Cloud TPUs ({16 * 4} chips)")
    states(f"4 days on {16 * 4} TPUs", f"So the {16 * 4} are chips")


def test_what_others_report_is_quoted_as_they_print_it(states):
    states("batches of 256 sequences, 1,000,000 steps, Adam with a learning rate of $10^{-4}$,")
    states(r"$\eta$ up to $10^{-4}$", r"$\beta_1 = 0.9$, $\beta_2 = 0.999$, weight decay of 0.01")
    states("10,000 steps of warm-up", "dropout 0.1; 90 % of the steps at length 128")
    states("BERT's batches have 256 sequences", "40 % of the words masked instead of 15 %")
    states("a little less than 15 % is masked", "The evaluation masks 15 %, as always")
    states("the head for 15 % of the tokens", "With 90 % of the steps at length")
    states("the last 10 % at 512", "128 tokens for 90 % of its steps, then 512")
    states("(800 million words) and English Wikipedia (2,500 million)")
    states("(160 GB), batches of 8,000 sequences", "large batches (4,096 sequences)")
    states('rounded to 128,000, "about 40 epochs" of its 3.3 billion words')


def test_the_commands_of_section_15_are_understood(states, its_lecture):
    parser = argparse.ArgumentParser()
    command.add_command(parser.add_subparsers())
    lines = re.findall(r"-m bertlab (pretrain .*)", its_lecture.prose.replace("\\\n", ""))
    options = [parser.parse_args(shlex.split(line, comments=True)) for line in lines]
    assert [one.vocab_size for one in options if "vocab_size" in one] == [4000]
    pieces = [(one.batch_size, one.accumulate) for one in options if "accumulate" in one]
    assert pieces == [(256, 2)]
    assert {one.minutes for one in options if "minutes" in one} >= {10}
    states("--minutes 10")
    states("--vocab-size 4000", "batch-size 256 --accumulate 2")


def test_no_document_is_in_both_parts(states):
    training, held_out = data.split(data.documents("books+wikipedia"), 0.05)
    assert not set(map(tuple, training)) & set(map(tuple, held_out))
    states("hold some *documents* out", "2,000 tokens and not 30,522")


def multiplications_of_the_head(rows, size=128, vocabulary=2000):
    return rows * (size * size + size * vocabulary)


def test_the_cost_of_the_head_at_all_positions_and_at_targets(states):
    everywhere, asked = multiplications_of_the_head(32 * 32), multiplications_of_the_head(130)
    assert (everywhere, asked) == (278_921_216, 35_409_920)
    layers = 1024 * 2 * sizes.layer(128)
    states(f"{everywhere / asked:.1f} times as few")
    states(f"{(layers + everywhere) / (layers + asked):.1f} times as few")


def test_a_weight_without_gradient_keeps_61_percent_in_all_of_berts_training(states):
    steps, warmup = 1_000_000, 10_000
    step = np.arange(1, steps + 1)
    rate = 1e-4 * np.where(step <= warmup, step / warmup, (steps - step + 1) / (steps - warmup))
    assert rate.sum() == pytest.approx(50, rel=1e-4)
    assert np.log1p(-0.01 * rate).sum() == pytest.approx(math.log(0.61), abs=0.01)
    states("It keeps 61 % of itself")


def test_matrices_start_with_the_standard_deviation_of_base(states):
    x, weights = np.random.default_rng(0).standard_normal((2, 4000, 768))
    base, ours = ((x[:, :d] * 0.02 * weights[:, :d]).sum(axis=1).std() for d in (768, 128))
    assert base == pytest.approx(0.02 * math.sqrt(768), abs=0.02)
    assert ours == pytest.approx(0.02 * math.sqrt(128), abs=0.01)
    states(rf"$0.02 \cdot \sqrt{{768}} = {0.02 * math.sqrt(768):.2f}$")
    states(f"with our 128 it would be only {0.02 * math.sqrt(128):.2f}")


def test_the_mean_of_means_is_not_the_mean(states):
    first, second = np.array([1, 3]), np.array([5])
    mean, means = np.mean([1, 3, 5]), (first.mean(), second.mean())
    states(f"losses (1, 3) and (5): the mean of all three is {mean:g}")
    states("the mean of the means {:g} and {:g} is {:g}".format(*means, np.mean(means)))
    assert round(sum(means) / 3, 2) == 2.33


def test_clipping_and_adam_hide_a_gradient_four_times_too_large(states):
    weights = []
    for factor in (1.0, 4.0):
        weight = torch.nn.Parameter(torch.tensor([0.5, -0.2]))
        optimizer = torch.optim.AdamW([weight], lr=0.01)
        for step in range(5):
            weight.grad = factor * torch.tensor([3.0, 4.0]) * (1 + step)
            torch.nn.utils.clip_grad_norm_([weight], 1.0)
            optimizer.step()
        weights.append(weight.detach())
    torch.testing.assert_close(weights[0], weights[1], rtol=1e-5, atol=1e-6)
    states("about 4 times too long", "Clipping and Adam hide the mistake almost completely")


# The bill.


def passed(layers, size, vocabulary=30_522):
    """Parameters that a token is multiplied with: layers, and the head for 15 % of tokens."""
    return layers * sizes.layer(size) + 0.15 * (size * size + size * vocabulary)


def test_tokens_operations_and_epochs_of_the_original(states):
    tokens = 256 * (900_000 * 128 + 100_000 * 512)
    assert tokens == 42_598_400_000
    assert round(tokens / (600 * 32 * 32), -4) == 70_000
    states(f"{tokens / (4 * 24 * 60) / 1e6:.1f} million tokens per minute")
    states("seventy thousand times as much", "**6 operations per parameter and token**")
    base, large = (f"{6 * passed(*size) * tokens:.1e}" for size in ((12, 768), (24, 1024)))
    assert (base, large) == ("2.3e+19", "7.9e+19")
    states(r"2.3 \cdot 10^{19}")
    passes = 1_000_000 * 128_000 / 3.3e9
    assert passes == pytest.approx(39, abs=0.5)
    share = 0.9 * 128 / 512 + 0.1
    assert share == pytest.approx(1 / 3, abs=0.01)
    states("it is a third of that", "rounded to 128,000")


def test_how_bertlab_mini_was_trained(states):
    made = json.loads((BERTLAB_MINI / "training.json").read_text(encoding="utf-8"))
    longest, words = made["max_length"], made["vocab_size"]
    assert made["short_first"] == 0.25
    assert made["training"]["learning_rate"] == 1e-3
    states(f"per batch, then {longest} (`--short-first", f"always have {longest} tokens")
    states(f"It has {words:,} tokens, ours", "learning rate than BERT's ($10^{-3}$)")
    states(f"positions from {longest // 4} on")


def test_what_the_planted_model_said_and_when(its_lecture, states):
    code = "\n".join(cell.source for cell in its_lecture.code)
    (steps,) = re.findall(r"^steps = (\d+)$", code, re.MULTILINE)
    every = min(re.findall(r"evaluate_every=(\d+)", code))
    states(f"After {every} steps: *the*", f"After {steps}: *there was")
    states("Find a gap that it fills with more than 90 %")
