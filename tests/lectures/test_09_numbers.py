"""Worked numbers of lecture 09, reproduced without the page: Hugging Face, scikit-learn.

The results of its training runs are asserted on the page itself.
"""

from sklearn.metrics import accuracy_score, f1_score, precision_score, recall_score
from transformers import BertConfig as ReferenceConfig
from transformers import BertForQuestionAnswering, BertForSequenceClassification

from benchmarks.bench_finetuning import Plan
from bertlab.data.hub_models import hub_model
from tests.lectures import sizes


def test_how_many_weights_are_new(states):
    base = ReferenceConfig(num_hidden_layers=1, vocab_size=10, num_labels=6)
    classifier = BertForSequenceClassification(base).classifier
    answerer = BertForQuestionAnswering(ReferenceConfig(num_hidden_layers=1, vocab_size=10))
    for head in (classifier, answerer.qa_outputs):
        states(f"{sum(p.numel() for p in head.parameters()):,}")
    states(f"{2 * 256 + 2} numbers", f"(the paper has no biases there: {2 * 768:,})")


def test_how_large_the_models_are(states):
    base = round(sizes.encoder(12, 768) / 1e6, -1)
    mini = sizes.encoder(4, 256, 8_000) + sizes.heads(256, 8_000)
    states(f"BERT-base has {base:.0f} million weights, ours {mini / 1e6:.1f} million")
    states(f"MiniLM, {sizes.encoder(6, 384) / 1e6:.1f} million weights, it is ahead")


def test_what_others_report_is_quoted_as_they_print_it(states):
    states("a GLUE score of 80.5 % (7.7 points more than before), 86.7 % on MultiNLI")
    states("an F1 of 93.2 on SQuAD 1.1 and of 83.1 on SQuAD 2.0, whose questions need not have")
    states("BiDAF + ELMo at 85.6, with 85.8 on the test set", "BERT read 3.3 billion words")
    states("SQuAD has about 100,000 questions", "14,987 sentences for training")
    states("batches of 16 and 32, learning rates of 5, 3 and 2 times $10^{-5}$ and 2 to 4 epochs")
    states("A regression on frozen means of BERT has 78.66 %", "93.5 % is what *fine-tuning* BERT")
    states("with 67,000 examples")


def test_the_real_bert_is_as_large_as_the_page_says(states):
    states(f"is a download of {hub_model('bert-base-uncased').megabytes:.0f} MB")


def test_our_learning_rate_is_that_of_the_benchmark(states):
    rate = Plan().rate
    states(f"ours is ${rate * 1e4:.0f} \\cdot 10^{{-4}}$ in section 7", "10^{-4}")


def test_precision_recall_and_f1_of_a_filter_and_of_never_spam(states):
    truth = [1] * 120 + [0] * 880
    never = [0] * 1000
    assert f1_score(truth, never, zero_division=0) == 0
    states(f"{100 * accuracy_score(truth, never):.0f} times in 100")
    guess = [1] * 90 + [0] * 30 + [1] * 10 + [0] * 870
    spam, marked, hits = sum(truth), sum(guess), sum(guess[:120])
    states(f"Of {len(truth):,} messages {spam} are spam. A filter marks {marked}, and {hits} of")
    states(f"Precision ${hits}/{marked} =", f"recall ${hits}/{spam} =")
    states(rf"F1 $2 \cdot {hits} / ({marked} + {spam}) =")
    states(f"= {precision_score(truth, guess):.2f}$", f"= {recall_score(truth, guess):.2f}$")
    states(f"= {f1_score(truth, guess):.3f}$", f"accuracy {accuracy_score(truth, guess):.2f}")
