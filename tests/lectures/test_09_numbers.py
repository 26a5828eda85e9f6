"""Lecture 09 against Hugging Face's heads and scikit-learn's scores.

The results of its training runs it asserts itself.
"""

from sklearn.metrics import accuracy_score, f1_score, precision_score, recall_score
from transformers import BertConfig as ReferenceConfig
from transformers import BertForQuestionAnswering, BertForSequenceClassification

from benchmarks.bench_finetuning import Plan
from bertlab.data.published import hub_model
from tests.lectures import sizes


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
    states(f"MiniLM, {sizes.encoder(6, 384) / 1e6:.1f} million weights, it is ahead")
    states(f"is a download of {hub_model('bert-base-uncased').megabytes:.0f} MB")


def test_what_others_report_is_quoted_as_they_print_it(states):
    states("""
        a GLUE score of 80.5 % (7.7 points more than before), 86.7 % on MultiNLI ... an F1 of 93.2
        on SQuAD 1.1 and of 83.1 on SQuAD 2.0, whose questions need not have ... BiDAF + ELMo at
        85.6, with 85.8 on the test set ... BERT read 3.3 billion words ... SQuAD has about 100,000
        questions ... 14,987 sentences for training ... batches of 16 and 32, learning rates of 5,
        3 and 2 times $10^{-5}$ and 2 to 4 epochs ... with 67,000 examples
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
