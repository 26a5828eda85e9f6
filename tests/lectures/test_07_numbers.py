"""Every worked number of lecture 07, reproduced without the page: by hand, SciPy, PyTorch."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import torch
from scipy.optimize import approx_fprime
from scipy.special import softmax
from transformers import AutoTokenizer, BertForPreTraining

from bertlab import data
from bertlab.model.pretrained import BERTLAB_MINI
from bertlab.pretraining.masking import MASKED_SHARE, RANDOM_SHARE
from course.experiments.emergence import some_sentences

DOG_MAT_CARPET = np.array([0.1, 0.6, 0.3])
TRUTH = np.array([0.0, 1.0, 0.0])


def test_the_page_has_the_numbers_computed_here(states):
    torn_apart = float(200 * Fraction("0.15") * Fraction("0.85"))
    states(rf"$2 \cdot 0.15 \cdot 0.85 = {torn_apart}\,\%$")
    states(rf"$\ln 30522 = {math.log(30_522):.2f}$", rf"$\ln 2 = {math.log(2):.2f}$")
    too_much = 25
    assert too_much > 2 * math.log(30_522)
    states(f"starts with an MLM loss of {too_much}. What", f"At {too_much} the model is sure")
    weights, logits = 110_106_428 * 4 / 1e6, 32 * 128 * 30_522 * 4 / 1e6  # megabytes
    states(f"{weights:.0f} MB for the weights, {2 * weights:.0f} MB")  # Adam remembers twice that
    states(f"{logits:.0f} MB, and {0.15 * logits:.0f} MB")
    states("91 % of the work", "4.4 times as few", "still 1.2")  # the head's share
    states(rf"$-\ln 0.1 = {-math.log(0.1):.2f}$")  # the answer of the first question
    states("The model says dog {}, mat {}, carpet {}. The".format(*DOG_MAT_CARPET))
    states("*dog* {}, *mat* {}, *carpet* {}. How".format(*DOG_MAT_CARPET))
    sure, false, unsure = (-math.log(p) for p in (0.9, 1 - 0.2, 0.6))
    states(f"(0.9): {sure:.3f}", f"(0.2): {false:.3f}", f"(0.6): {unsure:.3f}")
    other = round(100 * RANDOM_SHARE)
    states(f"- {other} % become a random", f"{other} % a random word, {other} % stay")
    states(f"Why not swap the other {other} %", f"**{other} % random**", f"{other} % stay as they")
    states(f"$(0.1 - 1, 0.6, 0.3) = ({0.1 - 1:.1f}, 0.6, 0.3)$")
    states(f"For the {110_106_428 / 1e6:.0f} million parameters")
    shares = f"{100 * MASKED_SHARE:.0f}/{100 * RANDOM_SHARE:.0f}/10"
    assert shares == "80/10/10"
    states("80/10/10")
    unused = torch.nn.CrossEntropyLoss().ignore_index
    states(f"write the label {unused} there", "at all 128 positions")
    # Differences in the paper's tables.
    states(
        f"another {87.9 - 77.8:.1f} points", f"loses {95.4 - 94.9:.1f} points, and {94.9 - 94:.1f}"
    )
    states(f"{88.4 - 84.9:.1f} points, against another {84.9 - 84.3:.1f}")


def test_what_others_report_is_quoted_as_they_print_it(states):
    states(
        r"| 10 | $\quad\quad\quad \theta",
        r"| 11 | $\quad$ **return** $\theta$ |",
        "800 million words",
        "2,500 million words",
    )
    states(r"a learning rate of $10^{-4}$, $\beta_1 = 0.9$, $\beta_2 = 0.999$", "97 to 98 %")
    states("| 84.4 | 88.4 | 88.5 |", "| 83.9 | 84.9 | 87.9 |", "| 82.1 | 84.3 | 77.8 |")
    states("| 80 / 10 / 10 | 84.2 | 95.4 | 94.9 |", "| 100 / 0 / 0 | 84.3 | 94.9 | 94.0 |")
    states("| 0 / 0 / 100 | 83.6 | 94.9 | 94.6 |", "20 at most in one of 128")
    states("gets 52.0 % on sentence order", "gets 78.9 % on next sentences")
    states("do better with 40 %, and even 80 % keeps 95 %", "from 91.0 to 92.8 F1 on SQuAD 1.1")
    states("*Should You Mask 15% in Masked Language Modeling?*", "(SGD) is line 10:")


# Masking.


def test_the_cat_sat_with_two_masks(states):
    text, outcomes = (21, 11987, 5438), ("mask", "keep", "mask")
    hidden = tuple(50001 if o == "mask" else id for id, o in zip(text, outcomes, strict=True))
    holes = [t for t, id in enumerate(hidden, 1) if id == 50001]
    states(
        f"*The cat sat* = {text}",
        r"*The cat sat* again, with $\tilde x = ({}, {}, {})$".format(*hidden),
        rf"$\tilde T = \{{{holes[0]}, {holes[1]}\}}$",
    )


def test_of_a_hundred_tokens_12_are_masked_and_one_and_a_half_replaced(states):
    chosen = Fraction(15, 100)
    hidden, swapped, kept = (float(chosen * share / 100) for share in (80, 10, 10))
    percent = [f"{100 * share:g}" for share in (hidden, swapped, kept, 1 - hidden)]
    assert percent == ["12", "1.5", "1.5", "88"]
    states("{} % are hidden, {} % swapped and {} % asked".format(*percent), "85 % are simply")
    states(f"{float(100 - 100 * chosen):g} % of the words are in the input")
    states("{1} of the {3} visible".format(*percent), f"{100 * swapped / (1 - hidden):.1f} %")
    assert swapped == kept, "asked for, a visible word is right in half of the cases"
    states(f"{float(512 * chosen)} are chosen; {512 * hidden:.1f} become `[MASK]`")
    states(f"{512 * swapped:.1f} another word, {512 * kept:.1f} stay")


@pytest.mark.slow
@torch.no_grad()
def test_attention_of_a_mask_and_of_the_word_in_its_place_by_hugging_face(states):
    model = BertForPreTraining.from_pretrained(BERTLAB_MINI, attn_implementation="eager").eval()
    tokenizer, seen = AutoTokenizer.from_pretrained(BERTLAB_MINI), []
    _, unread = data.split(data.documents("books+wikipedia"), validation=0.05)
    for text in some_sentences(unread, 120, shortest=10, longest=24):
        both = tokenizer([text, text], return_tensors="pt").input_ids
        at = both.shape[1] // 2
        both[0, at] = tokenizer.mask_token_id
        attentions = torch.stack(model(both, output_attentions=True).attentions)
        seen.append(100 * attentions[..., at, [at - 1, at + 1]])
    gap, word = torch.stack(seen).mean(dim=(0, 1, 3))  # of [texts, layers, 2, H, 2]
    states("the neighbours get {:.0f} and {:.0f} %".format(*gap))
    assert abs(word - gap).max() < 1


def test_common_words_of_two_sentences_do_not_reveal_their_order(states):
    def share(first, second):
        return bool(set(first.split()) & set(second.split()))

    for first, second in product(["a b c", "c d", "e f", "f a", "x"], repeat=2):
        right = [share(first, second) is True, share(second, first) is False]
        assert sum(right) == 1  # of a pair and its reverse exactly one, whatever the texts
    states("76 %", "exactly 50 %")


# Losses.


def test_the_loss_of_mat_and_the_logarithm_of_the_margin(states):
    loss = -math.log(0.6)
    states(rf"$-\log(0.6) = {loss:.2f}$", r"that is $\log_{10}$")
    states(f"would be {-math.log10(0.6):.2f}", f"The loss of *mat* is {loss:.2f}")
    assert (round(math.log10(0.999), 4), round(math.log10(0.0001), 4)) == (-0.0004, -4)
    states(f"gives ${math.log(0.999):.3f}$ and ${math.log(0.0001):.2f}$")
    assert round(math.exp(0.51), 2) == round(1 / 0.6, 2)
    states(f"$e^{{0.51}} = {math.exp(loss):.2f}$", f"costs {math.log(2):.2f} more")


def test_line_9_is_a_sum_and_practice_a_mean(states):
    at_1, at_3 = (round(-math.log(p), 2) for p in (0.0041, 0.02))
    together = -math.log(0.0041 * 0.02)
    states(f"${at_1:.2f} + {at_3:.2f} = {together:.2f}$")
    states(f"${together:.2f} / 2 = {together / 2:.2f}$")
    means = np.mean([np.mean([4]), np.mean([1, 1, 1])])
    states(f"that would be {means}, where the mean of all four is {np.mean([4, 1, 1, 1])}")


def test_the_losses_of_the_pairs(states):
    y, p = np.array([1, 0, 1, 1]), np.array([0.9, 0.2, 0.6, 0.01])
    losses = -(y * np.log(p) + (1 - y) * np.log(1 - p))
    three = losses[:3]
    states("({:.3f} + {:.3f} + {:.3f})/3".format(*three))
    states(f"= {three.sum():.3f}/3 = {three.mean():.2f}$", f"{losses[3]:.3f}, and with this one")
    states(f"costs {losses.mean():.2f}, nearly five times as much")
    assert 4.5 < losses.mean() / three.mean() < 5
    states(
        rf"\mathcal L_{{\text{{NSP}}}} = -\log 0.7 = {-math.log(0.7):.2f}",
        f"add up to {-math.log(0.6 * 0.7):.2f}",
    )
    states(f"{-math.log(0.6):.2f} for *mat* and {-math.log(0.7):.2f} for the pair")
    swapped = -((1 - y) * np.log(p) + y * np.log(1 - p))
    states(f"{swapped[:3].mean():.2f} instead of {three.mean():.2f}", f"pays {math.log(2):.2f}")


# Gradients and steps.


def test_the_gradient_is_softmax_minus_truth_by_differences(states):
    logits, by_hand = np.log(DOG_MAT_CARPET), DOG_MAT_CARPET - TRUTH
    by_differences = approx_fprime(logits, lambda z: -math.log(softmax(z)[1]))
    np.testing.assert_allclose(by_differences, by_hand, atol=1e-6)
    states("$(0.1, 0.6, 0.3) - (0, 1, 0) = ({:.1f}, {:.1f}, {:.1f})$".format(*by_hand))
    states(f"$0.7 - 1 = {0.7 - 1:.1f}$", f"$0.01 - 1 = {0.01 - 1}$")
    assert round(-math.log(0.01) / -math.log(0.7)) == 13
    states(f"cost {-math.log(0.01):.3f}, thirteen times as much as {-math.log(0.7):.2f}")
    states(f"only {0.99 / 0.3:.1f} times")


def test_the_chain_rule_through_the_last_matrix_by_differences(states):
    h, gradient = np.array([1.0, 2.0]), DOG_MAT_CARPET - TRUTH
    second = np.array([1.0, -1, 0])
    matrix = np.stack([np.log(DOG_MAT_CARPET) - 2 * second, second])
    assert np.allclose(softmax(h @ matrix), DOG_MAT_CARPET)

    def loss(numbers):
        return -math.log(softmax(h @ numbers.reshape(2, 3))[1])

    slopes = approx_fprime(matrix.ravel(), loss).reshape(2, 3)
    np.testing.assert_allclose(slopes, np.outer(h, gradient), atol=1e-6)
    states(r"$1 \cdot (0.1, -0.4, 0.3)$ and $2 \cdot (0.1, -0.4, 0.3)$")


def test_two_steps_of_adam_and_one_of_sgd_by_hand(states):
    logits, m, v = np.log(DOG_MAT_CARPET), np.zeros(3), np.zeros(3)
    g = DOG_MAT_CARPET - TRUTH
    m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
    states("| {:.2f} | {:.2f} | {:.2f} |".format(*m), "| {:.5f} | {:.5f} | {:.5f} |".format(*v))
    step = -0.1 * (m / (1 - 0.9)) / np.sqrt(v / (1 - 0.999))
    states("| {:+.1f} | {:+.1f} | {:+.1f} |".format(*step))
    logits = logits + step
    states(f"Its probability is {softmax(logits)[1]:.3f} now")
    g = softmax(logits) - TRUTH
    m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
    states(f"so its gradient is {g[1]:.3f}", f"= {m[1]:.4f}$", f"= {v[1]:.6f}$")
    mean, size = m[1] / (1 - 0.9**2), math.sqrt(v[1] / (1 - 0.999**2))
    states(f"= {mean:.3f}$", f"= {size:.3f}$")
    states(rf"$+0.1 \cdot 0.375 / 0.377 = {-0.1 * mean / size:+.4f}$")
    after = softmax(np.log(DOG_MAT_CARPET) - (DOG_MAT_CARPET - TRUTH))[1]
    states(f"from 0.60 to {after:.2f}, the loss falls from 0.51 to {-math.log(after):.2f}")


@pytest.mark.parametrize(
    ("kind", "scale", "belief"),
    [("SGD", 1, 0.79), ("SGD", 0.01, 0.60), ("Adam", 1, 0.97), ("Adam", 0.01, 0.97)],
)
def test_the_result_of_twenty_steps(kind, scale, belief):
    logits = torch.tensor(DOG_MAT_CARPET).log().requires_grad_()
    optimizer = getattr(torch.optim, kind)([logits], lr=0.1)
    for _ in range(20):
        optimizer.zero_grad()
        (-scale * logits.log_softmax(dim=0)[1]).backward()
        optimizer.step()
    assert round(logits.softmax(dim=0)[1].item(), 2) == belief
