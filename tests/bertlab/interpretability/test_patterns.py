"""What heads look at: hand-worked rows, loops as the reference, laws, texts of unequal length."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import entropy

from bertlab.interpretability.patterns import (
    attention_entropy,
    attention_to_offset,
    attention_to_same_word,
    attention_to_tokens,
    head_patterns,
    mean_distance,
    uniform_patterns,
)
from bertlab.interpretability.traces import Trace, trace
from bertlab.model.pretrained import BERTLAB_MINI, load_pretrained
from bertlab.tokenizers.files import load_tokenizer
from tests.bertlab.refusals import rejected
from tests.small_models import generator, random_attention

# Row = query: the first looks at itself, the second at both neighbours, the third at the first.
BY_HAND = torch.tensor([[1.0, 0.0, 0.0], [0.3, 0.2, 0.5], [0.9, 0.0, 0.1]])
seeds = st.integers(0, 10_000)


def made_trace(tokens, attentions, ids=None):
    """A trace with these attentions; what the patterns do not read is left empty."""
    if ids is None:
        ids = [sorted(set(tokens)).index(token) for token in tokens]
    return Trace(tokens, torch.tensor(ids), None, tuple(attentions), (), (), ())


def shifted(length, offset):
    """[L, L]: every query looks at key query + offset, or at itself if there is none."""
    attention = torch.zeros(length, length)
    for query in range(length):
        key = query + offset
        attention[query, key if 0 <= key < length else query] = 1
    return attention


@given(seeds)
def test_entropy_is_scipys(seed):
    attention = random_attention(2, 4, 4, seed=seed)
    expected = torch.tensor(entropy(attention.numpy(), axis=-1))
    torch.testing.assert_close(attention_entropy(attention), expected)


@given(seeds)
def test_distance_does_not_know_left_from_right(seed):
    attention = random_attention(3, 6, 6, seed=seed)
    mirrored = mean_distance(attention.flip(-1, -2)).flip(-1)
    torch.testing.assert_close(mean_distance(attention), mirrored)


def test_offsets_by_hand():
    assert attention_to_offset(BY_HAND, -1).item() == pytest.approx((0.3 + 0.0) / 2)
    assert attention_to_offset(BY_HAND, 0).item() == pytest.approx((1.0 + 0.2 + 0.1) / 3)
    assert attention_to_offset(BY_HAND, 1).item() == pytest.approx((0.0 + 0.5) / 2)
    assert attention_to_offset(BY_HAND, -2).item() == pytest.approx(0.9)


@given(seeds)
def test_some_tokens_and_the_others_share_everything(seed):
    attention = random_attention(2, 5, 5, seed=seed)
    is_target = torch.rand(5, generator=generator(seed)) < 0.5
    both = attention_to_tokens(attention, is_target) + attention_to_tokens(attention, ~is_target)
    torch.testing.assert_close(both, torch.ones(2))


@given(seeds, st.lists(st.integers(0, 3), min_size=5, max_size=5))
def test_the_same_word_is_what_two_loops_say(seed, ids):
    attention = random_attention(5, 5, seed=seed)
    masses = []
    for query in range(5):
        others = [key for key in range(5) if key != query and ids[key] == ids[query]]
        if others:
            masses.append(sum(attention[query, key].item() for key in others))
    expected = sum(masses) / len(masses) if masses else math.nan
    got = attention_to_same_word(attention, torch.tensor(ids)).item()
    assert got == pytest.approx(expected, nan_ok=True)


def test_a_whole_model_at_once_gives_what_each_head_gives_alone():
    attention = random_attention(2, 3, 6, 6)
    ids = torch.tensor([0, 1, 0, 1, 2, 3])
    offset, words = (
        (lambda a: attention_to_offset(a, 1)),
        (lambda a: attention_to_same_word(a, ids)),
    )
    tokens = lambda a: attention_to_tokens(a, ids == 1)  # noqa: E731
    for measure in (attention_entropy, mean_distance, offset, tokens, words):
        alone = [measure(head) for head in attention.flatten(0, 1)]
        torch.testing.assert_close(measure(attention).flatten(0, 1), torch.stack(alone))


def test_each_pattern_finds_the_head_that_was_made_for_it():
    tokens = ["[CLS]", "a", "b", "a", "[SEP]"]
    to_cls, to_separator = torch.zeros(2, 5, 5)
    to_cls[:, 0] = to_separator[:, 4] = 1
    same = torch.eye(5)
    same[1], same[3] = torch.eye(5)[3], torch.eye(5)[1]
    heads = [shifted(5, -1), shifted(5, 1), torch.eye(5), to_separator, to_cls, same]
    patterns = head_patterns([made_trace(tokens, [torch.stack(heads)])])
    names = ["previous", "next", "itself", "separator", "cls", "same word"]
    assert [patterns[name].argmax().item() for name in names] == list(range(6))
    assert all(patterns[name].max() == 1 for name in names)
    assert patterns["entropy"].abs().max() == 0
    torch.testing.assert_close(patterns["distance"][0, :2], torch.tensor([0.8, 0.8]))  # 4 of 5


def test_texts_have_equal_weight_at_any_length():
    # The first text's head looks at itself, the second's at the previous token.
    traces = [made_trace(["a"] * n, [shifted(n, at)[None]]) for n, at in ((3, 0), (6, -1))]
    assert head_patterns(traces)["previous"].item() == 0.5


def test_texts_without_a_word_twice_have_no_answer_and_do_not_spoil_the_mean():
    twice, once = (made_trace(list(text), [BY_HAND[None]]) for text in ("aba", "abc"))
    assert head_patterns([once])["same word"].isnan().all()
    assert head_patterns([twice, once])["same word"].item() == pytest.approx(0.45)
    pair = made_trace(["[CLS]", "a", "[SEP]", "b", "[SEP]"], [torch.full((1, 5, 5), 0.2)])
    assert head_patterns([pair])["same word"].isnan().all()  # special tokens are not words


def test_chance_in_closed_form():
    texts = [["[CLS]", *"xxxxx"[: length - 2], "[SEP]"] for length in (4, 7)]
    chance = uniform_patterns([made_trace(text, [torch.eye(len(text))[None]]) for text in texts])
    expected = {
        **dict.fromkeys(("previous", "separator"), lambda n: 1 / n),
        "same word": lambda n: (n - 3) / n,
        "entropy": math.log,
        "distance": lambda n: (n * n - 1) / (3 * n),
    }
    for name, formula in expected.items():
        assert chance[name] == pytest.approx((formula(4) + formula(7)) / 2), name


def test_bertlab_mini_has_heads_for_its_neighbours():
    model, tokenizer = load_pretrained(BERTLAB_MINI), load_tokenizer(BERTLAB_MINI)
    texts = ["The king went to the old castle.", "Congress has the power to do so, and it must."]
    traces = [trace(model, tokenizer, text) for text in texts]
    patterns, chance = head_patterns(traces), uniform_patterns(traces)
    assert patterns["previous"].shape == (4, 4)
    assert patterns["previous"][1, 0] > 0.8 > 5 * chance["previous"]
    assert patterns["next"][0, 1] > 0.8 > 5 * chance["next"]
    assert (patterns["entropy"] <= chance["entropy"] + 1e-5).all()


HALVES = torch.full((2, 2, 2), 0.5)
THREES = torch.ones(2, 2, 3)
LONELY = made_trace(["a"], [torch.ones(1, 1, 1)])


def patterns_of(*attentions):
    return head_patterns([made_trace(["a", "b"], each) for each in attentions])


def test_what_cannot_be_measured_is_an_error():
    rejected("head_patterns: traces must hold at least one; got none", patterns_of)
    rejected(r"of one model.*\[\(1, 1\), \(1, 2\)\]", patterns_of, [HALVES], [HALVES[:1]])
    rejected("at least two tokens", uniform_patterns, [LONELY])
    rejected(r"layer 1 is \[2, 2, 3\]", patterns_of, [HALVES, THREES])
    rejected("every row summing to 1; in layer 0 the sums range", patterns_of, [2 * HALVES])
    rejected("every row summing to 1", patterns_of, [math.nan * HALVES])
    rejected(r"one tensor .* per layer; got \(\)", patterns_of, [])
    rejected(r"from -2 to 2 .* 3 tokens; got -3", attention_to_offset, BY_HAND, -3)
    ids, keys = torch.tensor([1, 2]), "one for each of the 3 keys"
    rejected(rf"ids must be {keys}; got \[2\]", attention_to_same_word, BY_HAND, ids)
    for targets in (torch.ones(3), ids > 0):
        message = f"is_target must be boolean, {keys}"
        rejected(message, attention_to_tokens, BY_HAND, targets)
