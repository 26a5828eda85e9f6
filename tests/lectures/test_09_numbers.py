"""Lecture 09 against Hugging Face's heads and scikit-learn's scores.

The results of its training runs it asserts itself.
"""

from copy import deepcopy

import numpy as np
import pytest
import torch
from scipy.optimize import minimize_scalar
from sklearn.calibration import calibration_curve
from sklearn.metrics import accuracy_score, f1_score, log_loss, precision_score, recall_score
from torch import nn
from torch.nn.utils import parametrize
from transformers import BertConfig as ReferenceConfig
from transformers import BertForQuestionAnswering, BertForSequenceClassification

from benchmarks.bench_finetuning import Plan
from bertlab.data.published import hub_model
from tests.lectures import sizes
from tests.lectures.conftest import draw, functions_of


def test_how_many_weights_are_new(states):
    base = ReferenceConfig(num_hidden_layers=1, vocab_size=10, num_labels=6)
    classifier = BertForSequenceClassification(base).classifier
    answerer = BertForQuestionAnswering(ReferenceConfig(num_hidden_layers=1, vocab_size=10))
    for head in (classifier, answerer.qa_outputs):
        states(f"{sum(p.numel() for p in head.parameters()):,}")
    states(f"(the paper has no biases there: {2 * 768:,})")


def test_how_large_the_models_are(states):
    base = round(sizes.encoder(12, 768) / 1e6, -1)
    mini = sizes.encoder(4, 256, 8_000) + sizes.heads(256, 8_000)
    states(f"BERT-base has {base:.0f} million weights, ours {mini / 1e6:.1f} million")
    assert sizes.encoder(6, 384) > 4 * mini  # "a larger model"
    states("on frozen MiniLM, a larger model that has read far more, it is ahead")
    states(f"is a download of {hub_model('bert-base-uncased').megabytes:.0f} MB")


def test_what_others_report_is_quoted_as_they_print_it(states):
    states("""
        a GLUE score of 80.5 % (7.7 points more than before), 86.7 % on MultiNLI ... an F1 of 93.2
        on SQuAD 1.1 and of 83.1 on SQuAD 2.0, whose questions need not have ... BiDAF + ELMo at
        85.6, with 85.8 on the test set ... BERT read 3.3 billion words ... SQuAD has about 100,000
        questions ... 14,987 sentences for training ... batches of 16 and 32, learning rates of 5,
        3 and 2 times $10^{-5}$ and 2 to 4 epochs ... models of 125 million weights and more ...
        asks for a person, 90 %
    """)


def test_our_learning_rate_is_that_of_the_benchmark(states):
    assert Plan().rate == 5e-4
    states(r"ours is $5 \cdot 10^{-4}$ in section 7")


def test_precision_recall_and_f1_of_a_filter_by_scikit_learn(states):
    truth = [1] * 120 + [0] * 880
    guess = [1] * 90 + [0] * 30 + [1] * 10 + [0] * 870
    scores = (precision_score, recall_score, f1_score, accuracy_score)
    assert [round(score(truth, guess), 3) for score in scores] == [0.9, 0.75, 0.818, 0.96]
    states(f"{100 * accuracy_score(truth, [0] * 1000):.0f} times in 100")
    states(r"""
        Of 1,000 messages 120 are spam. A filter marks 100, and 90 of ... Precision $90/100 = ...
        recall $90/120 = ... F1 $2 \cdot 90 / (100 + 120) =
    """)


def test_the_table_of_answers_is_that_of_the_first_version(states):
    states("""
        | people | | | 82.3 | 91.2 | ... | best ensemble before BERT (nlnet) | | | 86.0 | 91.7 | ...
        | second best (QANet) | | | 84.5 | 90.5 | ... | best single model before BERT (nlnet) | | |
        83.5 | 90.1 | ... | second best (QANet) | | | 82.5 | 89.3 | ... | BiDAF + ELMo | | 85.8 | |
        | ... | R.M. Reader | 78.9 | 86.3 | 79.5 | 86.6 | ... | the same, ensemble | 81.2 | 87.9 |
        82.3 | 88.5 | ... | BERT-base | 80.8 | 88.5 | | | ... | BERT-large | 84.1 | 90.9 | | | ...
        | the same, seven of them | 85.8 | 91.8 | | | ... | BERT-large, with TriviaQA | 84.2 | 91.1
        | 85.1 | 91.8 | ... | the same, seven of them | 86.2 | 92.2 | 87.4 | 93.2 |
    """)


# Calibration.


@pytest.fixture
def guesses():
    """The page's functions; confidences of 2,000 guesses, and which of them are right.

    Of the large confidences too few are right, of the small ones too many.
    """
    sure = 0.2 + 0.8 * torch.rand(2_000, generator=torch.Generator().manual_seed(0))
    chance = torch.where(sure > 0.6, sure**2, sure**0.5)
    right = torch.rand(2_000, generator=torch.Generator().manual_seed(1)) < chance
    return functions_of("09_finetuning", torch=torch), sure, right


def test_a_reliability_diagram_is_that_of_scikit_learn(guesses):
    page, sure, right = guesses
    shares, means = calibration_curve(right, sure, n_bins=10)
    bins = page["reliability"](sure, right)
    assert [number for number, *_ in bins] == list(range(2, 10))
    np.testing.assert_allclose([share for _, _, share, _ in bins], shares, atol=1e-6)
    np.testing.assert_allclose([mean for _, mean, _, _ in bins], means, atol=1e-6)
    assert sum(n for *_, n in bins) == len(sure)


def test_an_edge_of_a_bin_belongs_to_the_bin_below():
    page = functions_of("09_finetuning", torch=torch)
    edges, right = torch.tensor([0.5, 0.75, 1.0]), torch.tensor([1, 0, 1])
    shares, _ = calibration_curve(right, edges, n_bins=4)
    bins = page["reliability"](edges, right, n_bins=4)
    assert [(number, share) for number, _, share, _ in bins] == [(1, 1), (2, 0), (3, 1)]
    assert shares.tolist() == [1, 0, 1]


def test_the_expected_calibration_error_by_its_definition(guesses):
    """Guo et al. (2017), equation 3, with NumPy."""
    page, sure, right = guesses
    sure, right = sure.double(), right.double()
    expected = 0.0
    for low, high in zip(np.arange(10) / 10, np.arange(1, 11) / 10, strict=True):
        own = (sure.numpy() > low) & (sure.numpy() <= high)
        if own.any():
            gap = right.numpy()[own].mean() - sure.numpy()[own].mean()
            expected += own.mean() * abs(gap)
    assert page["calibration_error"](sure, right) == pytest.approx(expected, abs=1e-6)
    assert expected > 0.1


def test_the_temperature_is_the_best_one():
    page = functions_of("09_finetuning", torch=torch)
    logits, targets = 3 * draw(500, 6), torch.arange(500) % 6
    logits[torch.arange(500), targets] += 2

    def loss(temperature):
        return log_loss(targets, (logits / temperature).softmax(dim=1))

    best = minimize_scalar(loss, bounds=(0.5, 8), method="bounded").x
    assert 1 < best < 7
    assert page["fit_temperature"](logits, targets) == pytest.approx(best, abs=0.051)


# Low-rank adapters.


def test_an_adapter_is_that_of_peft(its_lecture):
    from peft import LoraConfig, get_peft_model  # slow to import, so only here

    (cell,) = (cell for cell in its_lecture.code if cell.id == "adapters-code")
    page = {"torch": torch}
    exec(cell.source, page)
    layer, reference = nn.Linear(12, 20).double(), nn.Linear(12, 20).double()
    reference.load_state_dict(layer.state_dict())
    x, frozen = draw(5, 12, seed=1), deepcopy(layer)
    layer.requires_grad_(False)
    adapter = page["LowRank"](layer.weight, r=3, alpha=12).double()
    parametrize.register_parametrization(layer, "weight", adapter)
    lora = LoraConfig(r=3, lora_alpha=12, target_modules=["layer"])
    theirs = get_peft_model(nn.ModuleDict({"layer": reference}), lora).base_model.model["layer"]
    A, B = theirs.lora_A["default"].weight, theirs.lora_B["default"].weight
    torch.testing.assert_close(layer(x), frozen(x))  # B is 0 at the start, in both
    torch.testing.assert_close(theirs(x), frozen(x))
    with torch.no_grad():
        adapter.B.copy_(draw(20, 3, seed=2))
        A.copy_(adapter.A), B.copy_(adapter.B)
    torch.testing.assert_close(layer(x), theirs(x).double())
    layer(x).square().sum().backward()
    theirs(x).square().sum().backward()
    learning = {name: p.grad for name, p in layer.named_parameters() if p.grad is not None}
    assert learning.keys() == {"parametrizations.weight.0.A", "parametrizations.weight.0.B"}
    for ours, reference in zip(learning.values(), (A.grad, B.grad), strict=True):
        torch.testing.assert_close(ours, reference.double(), rtol=1e-5, atol=1e-5)
    parametrize.remove_parametrizations(layer, "weight")
    theirs.merge()
    torch.testing.assert_close(layer.weight, theirs.base_layer.weight)
