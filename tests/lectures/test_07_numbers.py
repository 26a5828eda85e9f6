"""Lecture 07 against SciPy, PyTorch, Hugging Face and exact fractions.

Its other numbers it asserts itself.
"""

import math
from fractions import Fraction

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
from tests.conftest import ROOT
from tests.lectures.conftest import plain

DOG_MAT_CARPET = np.array([0.1, 0.6, 0.3])
TRUTH = np.array([0.0, 1.0, 0.0])


def test_what_the_proofs_of_the_page_assert(states):
    states(r"""
        $\ln 2 = 0.69$ ... starts with an MLM loss of 25. What ... At 25 the model is sure
        ... $-\ln 0.1 = 2.30$ ... The model says dog 0.1, mat
        0.6, carpet 0.3. The ... *dog* 0.1, *mat* 0.6, *carpet* 0.3. How ... (0.9): 0.105
        ... (0.2): 0.223 ... (0.6): 0.511 ... - 10 % become a random ... 10 % a random word,
        10 % stay ... Why not swap the other 10 % ... **10 % random** ... 10 % stay as they
        ... $(0.1 - 1, 0.6, 0.3) = (-0.9, 0.6, 0.3)$ ... 80/10/10 ... at all 128 positions
        ... *The cat sat* again, with $\tilde x = (50001, 11987, 50001)$ ... $\tilde T =
        \{1, 3\}$ ... The loss of *mat* is
        0.51 ... $e^{0.51} = 1.67$ ... costs 0.69 more ... $9.41 / 2 = 4.70$ ... that would
        be 2.5, where the mean of all four is 1.75 ... (0.105 + 0.223 + 0.511)/3 ... =
        0.839/3 = 0.28$ ... 4.605, and with this one ... costs 1.36, nearly five times as
        much ... \mathcal L_{\text{NSP}} = -\log 0.7 = 0.36 ... 0.51 for *mat* and 0.36 for
        the pair ... 1.61 instead of 0.28 ... pays 0.69 ... $(0.1, 0.6, 0.3) - (0, 1, 0) =
        (0.1, -0.4, 0.3)$ ... $0.7 - 1 = -0.3$ ... $1 \cdot (0.1, -0.4, 0.3)$ and
        $2 \cdot (0.1, -0.4, 0.3)$ ... from 0.60 to 0.74,
        the loss falls from 0.51 to 0.30 ... 12 % are hidden, 1.5 % swapped and 1.5 % asked
        ... 85 % are simply ... 85 % of the words are in the input ... 1.5 of the 88 visible
        ... 76.8 are chosen; 61.4 become `[MASK]` ... 7.7 another word, 7.7 stay
    """)
    states(rf"$2 \cdot 0.15 \cdot 0.85 = {float(200 * Fraction('0.15') * Fraction('0.85'))}\,\%$")
    states(f"write the label {torch.nn.CrossEntropyLoss().ignore_index} there")
    states(f"for the {110_106_428 / 1e6:.0f} million parameters")
    assert (MASKED_SHARE, RANDOM_SHARE) == (0.8, 0.1)
    assert 2 * math.log(30_522) < 25  # of the surprised student


def test_the_logarithms_of_the_slides_are_on_the_page_of_sources():
    said = plain((ROOT / "lectures" / "sources.md").read_text(encoding="utf-8"))
    assert f"$-\\log(0.6) = {-math.log(0.6):.2f}$, the natural logarithm" in said
    assert (round(math.log10(0.999), 4), math.log10(0.0001)) == (-0.0004, -4)
    assert f"the loss would be {-math.log10(0.6):.2f}" in said
    assert f"gives ${math.log(0.999):.3f}$ and ${math.log(0.0001):.2f}$" in said


def test_what_others_report_is_quoted_as_they_print_it(states):
    states(r"""
        | 10 | $\quad\quad\quad \theta ... | 11 | $\quad$ **return** $\theta$ | ... 800 million
        words ... 2,500 million words ... a learning rate of $10^{-4}$, $\beta_1 = 0.9$, $\beta_2 =
        0.999$ ... 97 to 98 % ... | 84.4 | 88.4 | 88.5 | ... | 83.9 | 84.9 | 87.9 | ... | 82.1 |
        84.3 | 77.8 | ... | 80 / 10 / 10 | 84.2 | 95.4 | 94.9 | ... | 100 / 0 / 0 | 84.3 | 94.9 |
        94.0 | ... | 0 / 0 / 100 | 83.6 | 94.9 | 94.6 | ... 20 at most in one of 128 ... gets 52.0
        % on sentence order ... gets 78.9 % on next sentences ... do better with 40 %, and even 80
        % keeps 95 % ... from 91.0 to 92.8 F1 on SQuAD 1.1 ... learns from 15 % of the tokens
        ... (SGD) is line 10:
    """)
    # Differences in the paper's tables.
    states(f"another {87.9 - 77.8:.1f} points")
    states(f"loses {95.4 - 94.9:.1f} points, and {94.9 - 94:.1f}")
    states(f"on QNLI: {88.4 - 84.9:.1f} points")


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


# Gradients and steps.


def test_the_gradient_is_softmax_minus_truth_also_through_the_last_matrix_by_differences():
    logits, gradient = np.log(DOG_MAT_CARPET), DOG_MAT_CARPET - TRUTH
    by_differences = approx_fprime(logits, lambda z: -math.log(softmax(z)[1]))
    np.testing.assert_allclose(by_differences, gradient, atol=1e-6)

    h, second = np.array([1.0, 2.0]), np.array([1.0, -1, 0])
    matrix = np.stack([logits - 2 * second, second])
    slopes = approx_fprime(
        matrix.ravel(), lambda numbers: -math.log(softmax(h @ numbers.reshape(2, 3))[1])
    )
    np.testing.assert_allclose(slopes.reshape(2, 3), np.outer(h, gradient), atol=1e-6)


@pytest.mark.parametrize(
    ("kind", "scale", "steps", "belief"),
    [
        ("SGD", 1, 20, 0.79),
        ("SGD", 0.01, 20, 0.60),
        ("Adam", 1, 20, 0.97),
        ("Adam", 0.01, 20, 0.97),
    ],
)
def test_the_result_of_steps_by_pytorchs_optimizers(kind, scale, steps, belief):
    logits = torch.tensor(DOG_MAT_CARPET).log().requires_grad_()
    optimizer = getattr(torch.optim, kind)([logits], lr=0.1)
    for _ in range(steps):
        optimizer.zero_grad()
        (-scale * logits.log_softmax(dim=0)[1]).backward()
        optimizer.step()
    assert logits.softmax(dim=0)[1].item() == pytest.approx(belief, abs=5e-3)
