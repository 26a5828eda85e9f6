"""Worked numbers of lecture 09, found again without the page: Hugging Face, scikit-learn.

What its trainings reach is asserted on the page itself, where they run.
"""

from sklearn.metrics import accuracy_score, f1_score, precision_score, recall_score
from transformers import BertConfig as ReferenceConfig
from transformers import BertForQuestionAnswering, BertForSequenceClassification


def test_how_many_weights_are_new(states):
    base = ReferenceConfig(num_hidden_layers=1, vocab_size=10, num_labels=6)
    classifier = BertForSequenceClassification(base).classifier
    answerer = BertForQuestionAnswering(ReferenceConfig(num_hidden_layers=1, vocab_size=10))
    for head in (classifier, answerer.qa_outputs):
        states(f"{sum(p.numel() for p in head.parameters()):,}")
    states(f"{2 * 256 + 2} numbers")


def test_precision_recall_and_f1_of_a_filter_and_of_never_spam(states):
    truth = [1] * 120 + [0] * 880
    never = [0] * 1000
    assert f1_score(truth, never, zero_division=0) == 0
    states(f"{100 * accuracy_score(truth, never):.0f} times in 100")
    guess = [1] * 90 + [0] * 30 + [1] * 10 + [0] * 870
    states(f"= {precision_score(truth, guess):.2f}$", f"= {recall_score(truth, guess):.2f}$")
    states(f"= {f1_score(truth, guess):.3f}$", f"accuracy {accuracy_score(truth, guess):.2f}")
