"""Two questions about layers: which of them to read, and at which of them to ask.

`read_layers`: logistic regression on the vectors of a frozen encoder, layer by layer, as table 7 of
Devlin et al. (2019). `tune_both`: two tasks on one encoder, the lower one at the top or below, as
Søgaard & Goldberg (2016).
"""

from collections.abc import Iterator

import torch
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.tuning_contests import (
    TAGS,
    Plan,
    Result,
    marked_sentences,
    pretrained,
    small_task,
    tag_data,
    tags_said,
    timed,
    tokenizer,
    tuned_guesses,
    tuned_tags,
    words_and_tags,
)
from bertlab.finetuning.features import MIXES, Features, layer_features
from bertlab.finetuning.heads import IGNORED, SequenceClassifier, TokenTagger
from bertlab.finetuning.scores import entity_f1
from bertlab.finetuning.texts import collate
from bertlab.finetuning.tuning import predict
from bertlab.model import Bert
from course.experiments.mentions import Marked
from course.experiments.metrics import task_score
from course.experiments.multitask import MultiTask, tune_together
from course.experiments.tasks import encode_task

LOW = 2  # the layer at which mentions are asked below the top
UPPER = "question-type"


def read_layers(plan: Plan, seed: int) -> Iterator[Result]:
    """Entity F1 of mentions, read off every layer and every mix of the frozen encoder."""
    train, tested = marked_sentences(plan, seed)
    encoder = pretrained().eval()
    seen, asked = (hidden_states(encoder, side, plan) for side in (train, tested))
    truth = [words_and_tags(sentence)[1] for sentence in tested]
    for how in (*range(encoder.config.n_layers + 1), *MIXES[1:]):
        guesses, seconds = timed(lambda how=how: read_off(seen, asked, truth, how))
        yield Result(str(how), entity_f1(truth, guesses).f1, seconds)


States = tuple[list[torch.Tensor], list[int]]  # of words: a tensor [N, D] a layer; their tags


def hidden_states(encoder: Bert, sentences: list[Marked], plan: Plan) -> States:
    """What every layer says of the first piece of each word."""
    data = tag_data(sentences, plan)
    layers: list[list[torch.Tensor]] = [[] for _ in range(encoder.config.n_layers + 1)]
    tags: list[int] = []
    for encoding, targets in zip(data.encodings, data.targets, strict=True):
        asked = torch.tensor(targets) != IGNORED
        batch = collate([encoding], tokenizer().vocab["[PAD]"])
        with torch.inference_mode():
            said = encoder(*batch, output_hidden_states=True).hidden_states
        for layer, states in zip(layers, said, strict=True):
            layer.append(states[0, asked])
        tags += [target for target in targets if target != IGNORED]
    return [torch.cat(layer) for layer in layers], tags


def read_off(seen: States, asked: States, truth: list[list[str]], how: Features) -> list[list[str]]:
    """Tags by logistic regression on the features of words, sentence by sentence."""
    classifier = make_pipeline(StandardScaler(), LogisticRegression(C=0.01, max_iter=200))
    classifier.fit(layer_features(seen[0], how), seen[1])
    guesses = iter(classifier.predict(layer_features(asked[0], how)).tolist())
    return [[TAGS[next(guesses)] for _ in tags] for tags in truth]


def tune_both(plan: Plan, seed: int) -> Iterator[tuple[str, Result]]:
    """(task, result): mentions and types of questions, each alone and both on one encoder."""
    train, tested = marked_sentences(plan, seed)
    upper = small_task(UPPER, plan, seed)
    truth = [words_and_tags(sentence)[1] for sentence in tested]
    labels = [example.label for example in upper.test]

    guesses, seconds = timed(lambda: tuned_tags(train, tested, pretrained(), plan, seed))
    yield "mentions", Result("alone", entity_f1(truth, guesses).f1, seconds)
    guesses, seconds = timed(lambda: tuned_guesses(upper, pretrained(), plan, seed))
    yield UPPER, Result("alone", task_score(upper.metric, labels, guesses), seconds)

    for who, features in (("together, both at the top", "last"), ("together, mentions lower", LOW)):
        encoder = pretrained()
        tagger = TokenTagger(encoder, len(TAGS), features=features, seed=seed)
        classifier = SequenceClassifier(encoder, len(upper.labels), seed=seed)
        model = MultiTask({"mentions": tagger, UPPER: classifier})
        asked, questions = encode_task(upper, tokenizer(), encoder.config)
        both = {"mentions": tag_data(train, plan), UPPER: asked}
        pad_id = tokenizer().vocab["[PAD]"]
        _, seconds = timed(
            lambda model=model, both=both, pad_id=pad_id: tune_together(
                model, both, plan.tuning(seed), pad_id=pad_id, progress=False
            )
        )
        said = tags_said(tagger, tested, plan)
        yield "mentions", Result(who, entity_f1(truth, said).f1, seconds)
        logits = predict(classifier, questions.encodings, pad_id=pad_id)
        guesses = [upper.labels[int(row.argmax())] for row in logits]
        yield UPPER, Result(who, task_score(upper.metric, labels, guesses), seconds)
