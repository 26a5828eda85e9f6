"""The heads against `transformers`; what freezing means; the features by hand."""

import pytest
import torch
import transformers
from torch.nn import functional as F

from bertlab.finetuning.heads import (
    IGNORED,
    SequenceClassifier,
    SpanAnswerer,
    TokenTagger,
    feature_size,
    layer_features,
)
from bertlab.model import Bert, BertConfig, BertForPreTraining
from bertlab.model.pretrained import tensor_names
from tests.bertlab.refusals import rejected
from tests.small_models import assert_the_seed_decides, generator, hugging_face

CONFIG = BertConfig(50, 24, 4, 4, 40, max_length=32)
HEADS = {
    "classifier": lambda encoder, **options: SequenceClassifier(encoder, 3, **options),
    "tagger": lambda encoder, **options: TokenTagger(encoder, 3, **options),
    "answerer": lambda encoder, **options: SpanAnswerer(encoder, **options),
}
REFERENCES = {  # Hugging Face's class, its outputs, and the name of their matrix
    "classifier": (transformers.BertForSequenceClassification, 3, "classifier"),
    "tagger": (transformers.BertForTokenClassification, 3, "classifier"),
    "answerer": (transformers.BertForQuestionAnswering, 2, "qa_outputs"),
}
TARGETS = {
    "classifier": torch.tensor([0, 2, 1, 1]),
    "tagger": torch.randint(0, 3, (4, 9), generator=generator(5)),
    "answerer": torch.tensor([[0, 0], [2, 4], [1, 1], [0, 0]]),
}
TARGETS["tagger"][:, [0, 3]] = IGNORED


def batch():
    ids = torch.randint(1, 50, (4, 9), generator=generator())
    mask = torch.arange(9) < torch.tensor([[9], [7], [3], [5]])
    segment_ids = (torch.arange(9) >= 4).long().expand(4, -1)
    return ids, segment_ids, mask


def with_weights_of(reference, name):
    """Our head with their weights."""
    head, theirs = HEADS[name](Bert(CONFIG)).eval(), reference.state_dict()
    matrix = REFERENCES[name][2]
    tensors = {f"output.{end}": theirs[f"{matrix}.{end}"] for end in ("weight", "bias")}
    for ours, names in tensor_names(CONFIG.n_layers).items():
        if ours.startswith("pooler") and name != "classifier":  # theirs have none
            tensors[f"bert.{ours}"] = head.bert.state_dict()[ours]
        else:
            tensors[f"bert.{ours}"] = torch.cat([theirs[f"bert.{n}"] for n in names])
    head.load_state_dict(tensors)
    return head


def reference_logits(output, mask):
    if "start_logits" not in output:
        return output.logits
    logits = torch.stack([output.start_logits, output.end_logits], dim=-1)
    return logits.masked_fill(~mask[..., None], -torch.inf)  # theirs score padding too


@pytest.mark.parametrize("name", HEADS)
def test_logits_losses_and_gradients_equal_hugging_faces(name):
    kind, n_labels, matrix = REFERENCES[name]
    reference = hugging_face(kind, CONFIG, num_labels=n_labels)
    head, targets = with_weights_of(reference, name), TARGETS[name]
    ids, segment_ids, mask = batch()
    expected = reference_logits(reference(ids, mask.long(), segment_ids), mask)
    torch.testing.assert_close(head(ids, segment_ids, mask), expected, rtol=1e-4, atol=1e-4)

    whole, labels = torch.ones_like(ids), {"labels": targets}
    if name == "answerer":
        labels = {"start_positions": targets[:, 0], "end_positions": targets[:, 1]}
    expected = reference(ids, whole, segment_ids, **labels).loss
    loss = head.loss(head(ids, segment_ids, whole), targets)
    torch.testing.assert_close(loss, expected)
    loss.backward()
    expected.backward()
    for ours, theirs in (
        (head.output, reference.get_submodule(matrix)),
        (head.bert.embeddings.token, reference.bert.embeddings.word_embeddings),
    ):
        torch.testing.assert_close(ours.weight.grad, theirs.weight.grad, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("name", HEADS)
@pytest.mark.parametrize("features", ["last", "sum last four", "concat last four", 0, 2])
def test_a_head_reads_the_chosen_features(name, features):
    head = HEADS[name](Bert(CONFIG).eval(), features=features).eval()
    ids, segment_ids, _ = batch()
    states = head.bert(ids, segment_ids, output_hidden_states=True).hidden_states
    expected = layer_features(states, features)  # by hand below
    if name == "classifier":
        expected = expected[:, 0]
    expected = F.linear(expected, head.output.weight, head.output.bias)
    torch.testing.assert_close(head(ids, segment_ids), expected)


@pytest.mark.parametrize("name", HEADS)
def test_padding_changes_no_score(name):
    head = HEADS[name](Bert(CONFIG).eval())
    ids, segment_ids, mask = batch()
    padded = head(ids, segment_ids, mask)
    for row, length in enumerate(mask.sum(dim=1).tolist()):
        alone = head(ids[row : row + 1, :length], segment_ids[row : row + 1, :length])[0]
        ours = padded[row, :length] if name != "classifier" else padded[row]
        torch.testing.assert_close(ours, alone)


def test_padding_leaves_the_loss_of_an_answer_finite():
    head = SpanAnswerer(Bert(CONFIG))
    assert head.loss(head(*batch()), TARGETS["answerer"]).isfinite()


@pytest.mark.parametrize("name", HEADS)
@pytest.mark.parametrize("features", ["last", "mean of all"])
def test_a_frozen_encoder_gets_no_gradient_and_has_no_dropout(name, features):
    head = HEADS[name](Bert(CONFIG), features=features, frozen=True, dropout=0.0)
    asleep = head.eval()(*batch())
    awake = head.train()(*batch())
    torch.testing.assert_close(awake, asleep, rtol=0, atol=0)
    assert head.training
    assert head.dropout.training
    assert not any(module.training for module in head.bert.modules())
    head.loss(awake, TARGETS[name].masked_fill(TARGETS[name] > 2, 0)).backward()
    assert all(parameter.grad is None for parameter in head.bert.parameters())
    assert all(parameter.grad.any() for parameter in head.output.parameters())


@pytest.mark.parametrize("name", HEADS)
def test_an_encoder_that_is_not_frozen_learns_and_has_dropout(name):
    head = HEADS[name](Bert(CONFIG)).train()
    assert all(module.training for module in head.bert.modules())
    first, second = head(*batch()), head(*batch())
    assert not torch.equal(first, second)
    head.loss(first, TARGETS[name].masked_fill(TARGETS[name] > 2, 0)).backward()
    used = [n for n, p in head.bert.named_parameters() if p.grad is not None and p.grad.any()]
    unused = {n for n, _ in head.bert.named_parameters()} - set(used)
    pooler = {"pooler.weight", "pooler.bias"}
    assert unused == (set() if name == "classifier" else pooler)


def test_one_encoder_serves_a_frozen_head_and_afterwards_one_that_tunes_it():
    encoder = Bert(CONFIG)
    SequenceClassifier(encoder, 3, frozen=True).train()
    head = SequenceClassifier(encoder, 3).train()
    head.loss(head(*batch()), TARGETS["classifier"]).backward()
    assert encoder.training
    assert encoder.embeddings.token.weight.grad.any()


def test_a_head_is_drawn_from_its_seed_alone():
    encoder = Bert(CONFIG)
    assert_the_seed_decides(lambda seed: TokenTagger(encoder, 3, seed=seed).output.weight)
    wide = SequenceClassifier(Bert(BertConfig(50, 512, 1, 1, 8)), 40).output
    assert abs(wide.weight.std() - 0.02) < 0.001
    assert not wide.bias.any()


def test_a_tagger_is_scored_only_at_tags():
    logits = torch.randn(2, 3, 4, generator=generator(), requires_grad=True)
    tagger = TokenTagger(Bert(CONFIG), 4)
    alone = tagger.loss(logits, torch.tensor([[IGNORED] * 3, [2, IGNORED, IGNORED]]))
    torch.testing.assert_close(alone, -logits.log_softmax(dim=-1)[1, 0, 2])
    nothing = tagger.loss(logits, torch.full((2, 3), IGNORED))
    nothing.backward()
    assert nothing == 0
    assert not logits.grad.any()


def test_what_is_right_is_counted_by_hand_and_targets_become_tensors():
    encoder = Bert(CONFIG)
    classifier, tagger = SequenceClassifier(encoder, 2), TokenTagger(encoder, 4)
    answerer = SpanAnswerer(encoder)
    logits = torch.tensor([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0]])
    assert classifier.correct(logits, torch.tensor([1, 1, 1])).tolist() == [True, False, True]
    tags = torch.tensor([[1, IGNORED, 0]])
    assert tagger.correct(logits[None], tags).tolist() == [True, False]
    assert tagger.n_asked(tags) == 2
    both = torch.stack([logits, logits.flip(0)])
    assert answerer.correct(both, torch.tensor([[1, 0], [1, 2]])).tolist() == [True, False]
    tags = tagger.collate_targets([[1, 2], [IGNORED, 0, 3]], 4)
    assert tags.tolist() == [[1, 2, IGNORED, IGNORED], [IGNORED, 0, 3, IGNORED]]
    assert answerer.collate_targets([(0, 0), (1, 3)], 4).tolist() == [[0, 0], [1, 3]]
    assert classifier.collate_targets([1, 0], 4).tolist() == [1, 0]


@pytest.mark.parametrize("name", HEADS)
def test_what_is_not_an_encoder_with_such_features_and_one_class_are_rejected(name):
    other = r"must be a Bert; got BertForPreTraining; give its \.bert"
    rejected(other, HEADS[name], BertForPreTraining(CONFIG), error=TypeError)
    for features in ["best"] if name == "classifier" else ["best", "pooled"]:
        unknown = f"features must be .* got '{features}'"
        rejected(unknown, HEADS[name], Bert(CONFIG), features=features)
    rejected("at least two classes; got 1", SequenceClassifier, Bert(CONFIG), 1)
    check = HEADS["tagger"](Bert(CONFIG)).check_target  # more in test_tuning.py
    rejected("a tag from 0 to 2; got 3", check, [0, 1, 3], n_tokens=3)


# The features, by hand


# Embeddings and five layers of one token each: powers of two, so that a sum shows its terms.
STATES = tuple(torch.tensor([[[2.0**layer, 0.0]]]) for layer in range(6))


FEATURES = {
    **{"last": [32, 0], "sum last four": [4 + 8 + 16 + 32, 0], 0: [1, 0], 1: [2, 0], 5: [32, 0]},
    "concat last four": [4, 0, 8, 0, 16, 0, 32, 0],
    "mean of all": [(2 + 4 + 8 + 16 + 32) / 5, 0],
}


@pytest.mark.parametrize(("how", "expected"), FEATURES.items())
def test_features_are_the_layers_they_name_and_have_the_size_that_is_announced(how, expected):
    features = layer_features(STATES, how)
    torch.testing.assert_close(features, torch.tensor([[expected]]).float())
    assert features.shape[-1] == feature_size(BertConfig(30, 2, 5, 1, 8), how)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("first", "features must be one of 'last', .*; got 'first'"),
        ("sum last four", "at least four layers; got 3; take"),
        ("concat last four", "at least four layers; got 3; take"),
        (4, "from 0, the embeddings, to 3, the last one; got 4"),
        (-1, "got -1"),
    ],
)
def test_features_that_a_model_does_not_have_are_rejected(how, message):
    rejected(message, layer_features, STATES[:4], how)
    rejected(message, feature_size, BertConfig(30, 8, 3, 2, 8), how)


def test_what_is_not_the_hidden_states_says_how_to_get_them():
    model, ids = Bert(BertConfig(30, 8, 2, 2, 8, max_length=8)), torch.tensor([[1, 2, 3]])
    plain, full = model(ids), model(ids, output_hidden_states=True, output_attentions=True)
    for wrong in (plain.hidden_states, (), plain, full, plain.last_hidden_state, (None, None), 3):
        for how in ("last", 0):
            message = rf"got {type(wrong).__name__}; .*output_hidden_states=True"
            rejected(message, layer_features, wrong, how)
