"""Lecture 08: what the library's defaults, commands and weights are, and PyTorch's optimizer.

Its other numbers, and the results of its training runs, it asserts itself.
"""

import argparse
import json
import re
import shlex

import torch

from bertlab import data
from bertlab.model import BertConfig
from bertlab.model.pretrained import BERTLAB_MINI
from bertlab.pretraining.masking import MASKED_SHARE, RANDOM_SHARE
from bertlab.training import command
from tests.lectures import sizes


def test_what_the_proofs_of_the_page_assert(states):
    states(r"""
        $\ln 2000 = 7.60$ nats ... (3, 4) has length 5 and becomes (0.6, 0.8) ... about, 80
        % are ... `[MASK]`, 10 % are unchanged, and 10 % are swapped ... what the 10 %
        unchanged words ... It keeps 61 % of itself ... $0.02 \cdot \sqrt{768} = 0.55$ ...
        losses (1, 3) and (5): the mean of all three is 3 ... the mean of the means 2 and 5
        is 3.5 ... 7.4 million tokens per minute ... **6 operations per parameter and
        token**
    """)
    rate = (1_000_000 - 505_000) / 990_000
    states(rf"505,000) / 990,000 = {rate}$, so ${rate} \cdot 10^{{-4}}$")
    assert (MASKED_SHARE, RANDOM_SHARE) == (0.8, 0.1)
    assert round(4e-3 / 1e-4) == 40
    states(r"a learning rate of $4 \cdot 10^{-3}$ (forty times BERT's")
    states(f"A BERT-tiny (2 layers, {BertConfig.tiny(vocab_size=9).d_model} dimensions)")


def test_what_others_report_is_quoted_as_they_print_it(states):
    states(r"""
        batches of 256 sequences, 1,000,000 steps, Adam with a learning rate of $10^{-4}$,
        ... $\eta$ up to $10^{-4}$ ... $\beta_1 = 0.9$, $\beta_2 = 0.999$, weight decay of
        0.01 ... 10,000 steps of warm-up ... dropout 0.1; 90 % of the steps at length 128
        ... BERT's batches have 256 sequences ... 40 % of the words masked instead of 15 %
        ... a little less than 15 % is masked ... The evaluation masks 15 %, as always ...
        the last 10 % at 512 ... (800 million words) and English Wikipedia (2,500 million)
        ... (160 GB), batches of 8,000 sequences ... large batches (4,096 sequences) ... 4
        Cloud TPUs in a Pod (16 chips) ... 16 Cloud TPUs (64 chips) ... 4 days on 64 TPUs
        ... So the 64 are chips
    """)


def test_the_commands_of_the_last_section_are_understood(states, its_lecture):
    parser = argparse.ArgumentParser()
    command.add_command(parser.add_subparsers())
    lines = re.findall(r"-m bertlab (pretrain .*)", its_lecture.prose.replace("\\\n", ""))
    options = [parser.parse_args(shlex.split(line, comments=True)) for line in lines]
    assert [one.vocab_size for one in options if "vocab_size" in one] == [4000]
    pieces = [(one.batch_size, one.accumulate) for one in options if "accumulate" in one]
    assert pieces == [(256, 2)]
    assert {one.minutes for one in options if "minutes" in one} >= {10}
    states("--minutes 10 ... --vocab-size 4000 ... batch-size 256 --accumulate 2")


def test_no_document_is_in_both_parts(states):
    training, held_out = data.split(data.documents("books+wikipedia"), 0.05)
    assert not set(map(tuple, training)) & set(map(tuple, held_out))
    states("hold some *documents* out ... 2,000 tokens and not 30,522")


def test_clipping_and_adam_hide_a_gradient_four_times_too_large():
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


def test_the_operations_of_the_originals_training(states):
    """6 per parameter and token: those of the layers, and of the head for 15 % of the tokens."""
    tokens = 256 * (900_000 * 128 + 100_000 * 512)
    base, large = (
        6 * tokens * (layers * sizes.layer(size) + 0.15 * (size * size + size * 30_522))
        for layers, size in ((12, 768), (24, 1024))
    )
    assert (f"{base:.1e}", f"{large:.1e}") == ("2.3e+19", "7.9e+19")
    states(r"2.3 \cdot 10^{19}")


def test_how_bertlab_mini_was_trained(states):
    made = json.loads((BERTLAB_MINI / "training.json").read_text(encoding="utf-8"))
    longest, words = made["max_length"], made["vocab_size"]
    assert (made["short_first"], made["training"]["learning_rate"]) == (0.25, 1e-3)
    states(f"steps, then {longest}, which may ... the held-out pairs have {longest} tokens")
    states(f"has {words:,} tokens. Where ... learning rate than BERT's ($10^{{-3}}$)")
    states(f"{longest // 4} tokens for a quarter ... never seen a position beyond {longest // 4}")
