"""Probes on vectors that contain the answer, by construction, or do not."""

from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

from bertlab.interpretability.ablation import without_heads
from bertlab.interpretability.probing import (
    control_labels,
    pieces_of_words,
    probe,
    probe_layers,
    word_vectors,
)
from bertlab.interpretability.traces import Trace, trace
from bertlab.model.pretrained import BERTLAB_MINI, load_pretrained
from bertlab.tokenizers.files import load_tokenizer
from bertlab.tokenizers.words import split_words
from course.experiments.word_labels import previous_word_classes
from tests.bertlab.refusals import rejected
from tests.small_models import normal

N, TEXTS, D = 1200, 40, 20
WORDS = [f"word{number}" for number in np.random.default_rng(0).integers(0, 60, N)]
TEXT_OF = [number // (N // TEXTS) for number in range(N)]


def drawn(n_labels, seed=1):
    """A label for each place, independent of its word."""
    return np.random.default_rng(seed).integers(0, n_labels, N).tolist()


def with_label(labels, strength=6.0):
    """Noise, with the label in the first numbers."""
    vectors = normal(N, D)
    vectors[torch.arange(N), torch.tensor(labels)] += strength
    return vectors


def which_word():
    """One number for each of the 60 words: the vector contains only its word."""
    return torch.nn.functional.one_hot(torch.tensor([int(w[4:]) for w in WORDS])).float()


def test_what_is_written_in_the_vectors_is_read():
    labels = drawn(4)
    result = probe(with_label(labels), labels, WORDS, TEXT_OF)
    assert result.accuracy > 0.98
    assert result.control_accuracy < 0.5
    assert result.selectivity == result.accuracy - result.control_accuracy > 0.48


def test_what_is_not_there_is_not_read_and_a_memorised_word_solves_both_tasks():
    labels = drawn(4)
    result = probe(normal(N, D), labels, WORDS, TEXT_OF)
    assert abs(result.accuracy - 0.25) < 0.08
    assert abs(result.majority - 0.25) < 0.08
    labels = [int(word[4:]) % 3 for word in WORDS]  # the word decides
    result = probe(which_word(), labels, WORDS, TEXT_OF)
    assert min(result.accuracy, result.control_accuracy) > 0.98
    assert abs(result.selectivity) < 0.02


def test_texts_are_never_on_both_sides():
    # Every text has its own label and its own place among the vectors: a classifier that had
    # seen a part of the text would know the rest.
    label_of = np.random.default_rng(3).permutation([0, 1] * (TEXTS // 2)).tolist()
    labels = [label_of[text] for text in TEXT_OF]
    vectors = torch.nn.functional.one_hot(torch.tensor(TEXT_OF)).float()
    assert probe(vectors, labels, WORDS, TEXT_OF).accuracy < 0.8
    places_alone = probe(vectors, labels, WORDS, list(range(N)))  # as if each word were a text
    assert places_alone.accuracy > 0.98


def test_the_accuracy_is_that_of_a_classifier_trained_on_the_other_texts():
    labels = drawn(3)
    vectors = with_label(labels, strength=1.0)
    result = probe(vectors, labels, WORDS, TEXT_OF, seed=3)
    accuracies = []
    for seed in range(8):  # other splits, another regularisation: about the same
        _, test = train_test_split(range(TEXTS), test_size=0.25, random_state=seed)
        in_test = np.isin(TEXT_OF, test)
        reference = LogisticRegression().fit(vectors[~in_test], np.array(labels)[~in_test])
        accuracies.append(reference.score(vectors[in_test], np.array(labels)[in_test]))
    assert min(accuracies) - 0.03 <= result.accuracy <= max(accuracies) + 0.03
    assert 0.5 < result.accuracy < 0.9  # or the comparison would say nothing


def test_the_majority_is_of_the_labels_in_training_and_may_be_rare_in_the_test():
    labels = ["rare" if place % 10 == 0 else "frequent" for place in range(N)]
    assert probe(normal(N, D), labels, WORDS, TEXT_OF).majority == 0.9
    # Of 40 texts half are "a" throughout: if most of the 30 in training are, most others are not.
    label_of = np.random.default_rng(2).permutation(["a", "b"] * (TEXTS // 2)).tolist()
    result = probe(normal(N, D), [label_of[text] for text in TEXT_OF], WORDS, TEXT_OF)
    assert result.majority < 0.5


def test_words_without_a_label_take_no_part():
    labels = drawn(2)
    vectors = with_label(labels)
    vectors[::2] = 1e3 * normal(N, D, seed=5)[::2]  # would spoil everything
    halved = [None if place % 2 == 0 else label for place, label in enumerate(labels)]
    odd = slice(1, None, 2)
    expected = probe(vectors[odd], labels[odd], WORDS[odd], TEXT_OF[odd])
    assert probe(vectors, halved, WORDS, TEXT_OF) == expected
    assert expected.accuracy > 0.98


def test_every_layer_is_probed_with_the_same_texts_and_random_labels():
    labels = drawn(4)
    layers = [normal(N, D), with_label(labels), which_word()]
    together = probe_layers(layers, labels, WORDS, TEXT_OF, seed=2)
    assert together == [probe(layer, labels, WORDS, TEXT_OF, seed=2) for layer in layers]
    assert together[0] != probe(layers[0], labels, WORDS, TEXT_OF, seed=3)


@given(st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=30), st.integers(0, 99))
def test_a_word_has_one_control_label_at_all_occurrences(words, seed):
    labels = [position % 3 for position in range(len(words))]
    control = control_labels(words, labels, seed)
    assert len(set(zip(words, control, strict=True))) == len(set(words))
    assert set(control) <= set(labels)
    assert control == control_labels(words, labels, seed)


def test_control_labels_are_as_frequent_as_the_real_ones():
    words = [f"word{number}" for number in range(4000)]
    counts = Counter(control_labels(words, ["often"] * 3000 + ["seldom"] * 1000))
    assert abs(counts["often"] - 3000) < 5 * (4000 * 0.75 * 0.25) ** 0.5  # five deviations
    assert control_labels(words, words, seed=0) != control_labels(words, words, seed=1)


def test_what_cannot_be_probed_is_an_error():
    asked = {"vectors": normal(N, D), "labels": drawn(2), "words": WORDS, "texts": TEXT_OF}
    for wrong, message in (
        ({"labels": [0, 1, 0]}, "labels must hold .* per word, .* got 3 for 1200"),
        ({"texts": TEXT_OF[1:]}, "texts must hold one entry per word"),
        ({"vectors": normal(5, D)}, r"\[N, D\] with a row for .* 1200 words; got"),
        ({"labels": [0] * N}, "got 1 labels in 40 texts"),
        ({"texts": [7] * N}, "got 2 labels in 1 texts"),
    ):
        rejected(message, probe, **asked | wrong)
    rejected("traces must hold at least one; got none", word_vectors, [])
    rejected("control_labels: labels must hold one entry per word", control_labels, [], [])


def test_pieces_belong_to_the_word_before_them():
    tokens = ["[CLS]", "a", "##b", "##c", "d", "[SEP]", "e", "##f", "[SEP]"]
    assert pieces_of_words(tokens) == [[1, 2, 3], [4], [6, 7]]
    assert pieces_of_words(["##a", "b"]) == [[0], [1]]  # no word before: one of its own
    assert pieces_of_words(["a", "[SEP]", "##b"]) == [[0], [2]]


def test_a_words_vector_is_the_mean_of_its_pieces():
    states = torch.arange(10.0).reshape(5, 2)
    tokens = ["[CLS]", "go", "##es", "on", "[SEP]"]
    made = Trace(tokens, torch.arange(5), None, (), (states,), (), ())
    vectors = word_vectors([made, made])
    assert vectors.words == ["goes", "on"] * 2
    assert vectors.texts == [0, 0, 1, 1]
    expected = torch.tensor([[3.0, 4.0], [6.0, 7.0]]).repeat(2, 1)  # (2 + 4) / 2, (3 + 5) / 2
    torch.testing.assert_close(vectors.layers[0], expected)


def test_words_are_those_of_the_text_so_labels_fit():
    model, tokenizer = load_pretrained(BERTLAB_MINI), load_tokenizer(BERTLAB_MINI)
    texts = ["Zoroastrianism didn't end (in 1925)!", "Ibn Khaldun wrote the Muqaddimah."]
    vectors = word_vectors([trace(model, tokenizer, text) for text in texts])
    assert vectors.words == [word.lower() for text in texts for word in split_words(text)]
    assert [layer.shape for layer in vectors.layers] == [(len(vectors.words), 256)] * 5


@pytest.mark.slow
def test_the_previous_token_head_brings_the_previous_word():
    """Before the head's layer no vector contains its neighbour, nor after it without the head."""
    model, tokenizer = load_pretrained(BERTLAB_MINI), load_tokenizer(BERTLAB_MINI)
    vocabulary = "king castle ship garden horse river the of he and was to in her but"
    rng = np.random.default_rng(0)  # in any order: nothing but attention can tell what came before
    texts = [" ".join(rng.choice(vocabulary.split(), size=12)) for _ in range(80)]
    labels = [label for text in texts for label in previous_word_classes(text)]
    accuracies = {}
    for silent in ((), [(1, 0)], [(0, 1)]):
        with without_heads(model, silent):
            vectors = word_vectors([trace(model, tokenizer, text) for text in texts])
        results = probe_layers(vectors.layers[1:3], labels, vectors.words, vectors.texts)
        accuracies[str(silent)] = [result.accuracy for result in results]
    before, after = accuracies["()"]
    assert after > before + 0.3
    assert accuracies["[(1, 0)]"][1] < after - 0.2
    assert accuracies["[(0, 1)]"][1] > after - 0.05
