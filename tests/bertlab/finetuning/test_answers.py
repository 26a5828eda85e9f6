"""An answer is recovered exactly by its characters; scores equal those of SQuAD's own script."""

import pytest
import torch
from hypothesis import assume, example, given
from hypothesis import strategies as st

from bertlab.finetuning.answers import (
    NO_ANSWER,
    answer_targets,
    best_answer,
    best_span,
    passage_tokens,
    windows,
)
from bertlab.finetuning.scores import answer_scores, exact_match, normalize_answer, token_f1
from bertlab.finetuning.tagging import is_dropped, words_of
from bertlab.tokenizers.words import BERT_CHUNK, normalize
from tests.bertlab.finetuning.test_tagging import CASED, UNCASED, texts, tokenizers
from tests.bertlab.refusals import rejected

QUESTION = "play ace?"
PASSAGE = "Plays ease playing, a play"  # words of one piece or several


def certain(n_tokens, first, last):
    """Logits of a model that is certain about the start and the end of an answer."""
    logits = torch.randn(n_tokens, 2, generator=torch.Generator().manual_seed(0))
    logits[first, 0] += 20
    logits[last, 1] += 20
    return logits


@pytest.mark.slow
@given(texts, texts, tokenizers, st.data())
@example("[SEP]", "\u200bplay e\u0301\u200b \u200b 한국[MASK]\u0301", CASED, None)
@example("[SEP]", "\u200bplay e\u0301\u200b \u200b 한국[MASK]\u0301", UNCASED, None)
def test_an_answer_is_recovered_to_the_character(question, passage, tokenizer, data):
    words = words_of(passage, tokenizer)
    assume(words)
    encoding = tokenizer.encode(question, passage)
    pairs = [(i, j) for i in range(len(words)) for j in range(i, len(words))]
    for first, last in pairs if data is None else [data.draw(st.sampled_from(pairs))]:
        answer = (words[first][0], words[last][1])
        targets = answer_targets(encoding, passage, answer)
        logits = certain(len(encoding), *targets)
        assert best_span(logits, encoding, passage, max_tokens=1_000) == answer


@pytest.mark.slow
@given(texts, texts, tokenizers, st.data())
def test_any_span_is_recovered_inside_whole_tokens(question, passage, tokenizer, data):
    start = data.draw(st.integers(0, len(passage)))
    end = data.draw(st.integers(0, len(passage)))
    assume(any(word[0] < end and start < word[1] for word in words_of(passage, tokenizer)))
    encoding = tokenizer.encode(question, passage)
    tokens, offsets = passage_tokens(encoding), encoding.offsets
    covered = [n for n in tokens if max(start, offsets[n][0]) < min(end, offsets[n][1])]
    assume(covered)  # otherwise it is only a dropped character
    targets = answer_targets(encoding, passage, (start, end))
    assert targets == (covered[0], covered[-1])
    found = best_span(certain(len(encoding), *targets), encoding, passage, max_tokens=1_000)
    assert found[0] <= offsets[covered[0]][0]
    assert found[1] >= offsets[covered[-1]][1]


@pytest.mark.slow
@given(texts, texts, tokenizers, st.integers(1, 12), st.integers(1, 12), st.data())
def test_windows_find_the_answer_at_any_position(q, passage, tokenizer, room, stride, data):
    words = words_of(passage, tokenizer)
    assume(words and stride <= room)
    word = data.draw(st.sampled_from(words))
    encoding = tokenizer.encode(q, passage)
    n_passage = len(passage_tokens(encoding))
    parts = windows(encoding, len(encoding) - n_passage + room, stride)
    assert all(len(part) <= len(encoding) - n_passage + room for part in parts)
    seen = [n for part in parts for n in zip(part.offsets, part.ids, strict=True)]
    assert set(seen) == set(zip(encoding.offsets, encoding.ids, strict=True))
    targets = [answer_targets(part, passage, word) for part in parts]
    whole = answer_targets(encoding, passage, word)
    assume(whole[1] - whole[0] < min(room, room - stride + 1))  # it fits into an overlap
    assert any(target != NO_ANSWER for target in targets)
    logits = [certain(len(part), *target) for part, target in zip(parts, targets, strict=True)]
    found = best_answer(logits, parts, passage, max_tokens=1_000, threshold=-torch.inf)
    assert found == word


def test_targets_are_tokens_of_the_passage_if_a_window_has_the_whole_answer():
    encoding = UNCASED.encode("play", "ace, play ace")
    tokens = encoding.tokens
    first, last = answer_targets(encoding, "ace, play ace", (5, 9))
    assert "".join(tokens[first : last + 1]).replace("##", "") == "play"
    assert first > tokens.index("[SEP]")
    assert answer_targets(encoding, "ace, play ace", None) == NO_ANSWER == (0, 0)
    middle = answer_targets(encoding, "ace, play ace", (6, 7))  # an answer may begin in a token
    assert first <= middle[0] <= middle[1] <= last
    passage = "a b c d e f g"
    encoding = UNCASED.encode("e", passage)
    parts = windows(encoding, max_length=7, stride=2)  # room for three of the seven
    assert [part.tokens[3:-1] for part in parts] == [list("abc"), list("cde"), list("efg")]
    assert all(part.tokens[:3] == ["[CLS]", "e", "[SEP]"] for part in parts)
    assert all(part.segment_ids == [0, 0, 0, 1, 1, 1, 1] for part in parts)
    assert [answer_targets(part, passage, (4, 5)) for part in parts] == [(5, 5), (3, 3), (0, 0)]
    assert [answer_targets(part, passage, (4, 7)) for part in parts] == [(0, 0), (3, 4), (0, 0)]
    assert len(windows(encoding, max_length=11)) == 1


def test_the_best_span_by_hand():
    passage = "a b c"  # tokens: [CLS] e [SEP] a b c [SEP]
    encoding = UNCASED.encode("e", passage)
    logits = torch.zeros(7, 2)
    logits[:, 0] = torch.tensor([1.0, 9, 9, 0, 3, 4, 9])  # starts; nines are no passage
    logits[:, 1] = torch.tensor([2.0, 9, 9, 5, 4, 1, 9])  # ends
    # a-a 5, a-b 4, a-c 1, b-b 7, b-c 4, c-c 5; the end at a is before the start at c
    assert best_span(logits, encoding, passage) == (2, 3)
    assert best_span(logits, encoding, passage, threshold=3.9) == (2, 3)  # 7 > 3 + 3.9
    assert best_span(logits, encoding, passage, threshold=4.0) is None  # 7 = 3 + 4
    logits[5, 1] = 8  # b-c 11, c-c 12; a-c 8
    assert best_span(logits, encoding, passage) == (4, 5)
    logits[4, 0] = 6  # b-c 14
    assert best_span(logits, encoding, passage) == (2, 5)
    assert best_span(logits, encoding, passage, max_tokens=1) == (4, 5)


def test_windows_are_judged_together():
    passage = "a b c d"
    parts = windows(UNCASED.encode("e", passage), max_length=6, stride=2)
    logits = torch.zeros(2, 6, 2)
    logits[0, 0] = torch.tensor([2.0, 3.0])  # no answer: 5
    logits[1, 0] = torch.tensor([1.0, 1.0])  # no answer: 2
    logits[1, 4] = torch.tensor([2.0, 2.0])  # d: 4
    assert best_answer(logits, parts, passage) == (6, 7)
    assert best_answer(logits, parts, passage, threshold=2) is None
    assert best_span(logits[0], parts[0], passage) is None


# Zero-width space, joiner and non-joiner, right-to-left mark and embedding, byte-order mark, soft
# hyphen, word joiner, U+FFFD, NUL, a private character, a language tag: BERT drops all of them.
INVISIBLE = [
    "\u200b", "\u200d", "\u200c", "\u200f", "\u202b", "\ufeff", "\xad", "\u2060", "\ufffd", "\0",
    "\ue000", "\U000e0067", "\u200f\u200b\ufeff",
]  # fmt: skip


@pytest.mark.parametrize("mark", INVISIBLE)
@pytest.mark.parametrize("tokenizer", [UNCASED, CASED])
def test_an_answer_ends_with_a_character_that_can_be_seen(mark, tokenizer):
    passage = f"a {mark}play{mark}, {mark}e\u0301a{mark}se{mark} ace{mark}"
    for answer in ("play", f"e\u0301a{mark}se", "ace", f"play{mark}, {mark}e\u0301a{mark}se"):
        start = passage.index(answer)
        encoding = tokenizer.encode(QUESTION, passage)
        targets = answer_targets(encoding, passage, (start, start + len(answer)))
        found = best_span(certain(len(encoding), *targets), encoding, passage)
        assert passage[slice(*found)] == answer
        around = (start - 1, start + len(answer) + 1)  # a gold answer with its marks or spaces
        assert answer_targets(encoding, passage, around) == targets


def test_an_accent_belongs_to_its_word_also_beyond_an_invisible_character():
    for passage, answer in (("a ace\u0301\u200b a", (2, 6)), ("a ace\u200b\u0301 a", (2, 7))):
        encoding = UNCASED.encode(QUESTION, passage)
        targets = answer_targets(encoding, passage, answer)
        assert best_span(certain(len(encoding), *targets), encoding, passage) == answer
    passage = "\u0301[MASK]"  # cased, the accent is a token of its own
    encoding = CASED.encode(QUESTION, passage)
    last = passage_tokens(encoding)[-1]
    assert best_span(certain(len(encoding), last, last), encoding, passage) == (1, 7)


def test_no_passage_no_answer():
    encoding = UNCASED.encode("ace", " \u200b ")
    assert answer_targets(encoding, " \u200b ", None) == NO_ANSWER
    assert best_span(torch.zeros(len(encoding), 2), encoding, " \u200b ") is None


@pytest.mark.slow
def test_dropped_characters_are_those_that_normalisation_drops():
    for number in range(0x10000):
        character = chr(number)
        assert is_dropped(character) == (normalize(f"a{character}b") == "ab"), hex(number)
        assert not (is_dropped(character) and not BERT_CHUNK.match(character)), hex(number)


PAIR = UNCASED.encode(QUESTION, PASSAGE)
NOTHING = torch.zeros(len(PAIR), 2)


def test_what_does_not_match_is_rejected():
    rejected("of a question and a passage", answer_targets, UNCASED.encode("a"), "a", (0, 1))
    rejected(r"0 <= start < end <= 26.*got \(3, 3\)", answer_targets, PAIR, PASSAGE, (3, 3))
    rejected(r"got \(-1, 3\)", answer_targets, PAIR, PASSAGE, (-1, 3))
    rejected(r"got \(3, 27\)", answer_targets, PAIR, PASSAGE, (3, 27))
    rejected(r"\(5, 6\) of the passage are ' '", answer_targets, PAIR, PASSAGE, (5, 6))
    rejected(r"logits must be \[\d+, 2\].*\[4, 2\]", best_span, NOTHING[:4], PAIR, PASSAGE)
    rejected("must be at least 1; got 0", best_span, NOTHING, PAIR, PASSAGE, max_tokens=0)
    rejected("one entry per window, 0, at least one", best_answer, [], [], PASSAGE)
    rejected("one entry per window, 1, at least one", best_answer, [], [PAIR], PASSAGE)
    rejected("of a question and a passage", windows, UNCASED.encode("a"), 9)
    rejected(r"stride must be from 1 to the -\d+ tokens", windows, PAIR, 5)
    rejected("stride must be from 1", windows, PAIR, len(PAIR) - 2, 0)
    rejected("stride must be from 1 .*got 99", windows, PAIR, len(PAIR) - 2, 99)
    rejected("at least one; got 0", answer_scores, [], [])
    rejected("each of 0 questions", answer_scores, ["a"], [])


NORMALIZED = {  # worked by hand from the rules of SQuAD's evaluation script
    "The Castle!": "castle",
    "  an  apple\ta day ": "apple day",
    "theatre another": "theatre another",
    "June 30, 1881": "june 30 1881",
    "U.S.": "us",
    "state-of-the-art": "stateoftheart",  # punctuation goes first
    "Rosa’s": "rosa’s",  # only ASCII punctuation goes
    "A": "",
}
SCORED = [  # guess, answers, exact match and F1, worked by hand
    ("the castle", ["castle", "forest"], 1, 1),
    ("old castle", ["the castle"], 0, 2 / 3),  # precision 1/2, recall 1
    ("the the the", ["castle"], 0, 0),
    ("a b b", ["b b b c"], 0, 2 * (2 / 2) * (2 / 4) / (2 / 2 + 2 / 4)),  # "a" goes
    ("June 30", ["June 30, 1881", "June"], 0, 4 / 5),
    *[(None, [], 1, 1), ("", [], 1, 1), ("castle", [], 0, 0)],
    *[(None, ["castle"], 0, 0), ("forest", ["castle"], 0, 0)],
]


def test_answers_are_normalized_and_scored_as_in_squad():
    assert {text: normalize_answer(text) for text in NORMALIZED} == NORMALIZED
    for guess, answers, exact, f1 in SCORED:
        assert exact_match(guess, answers) == exact
        assert token_f1(guess, answers) == pytest.approx(f1)


def test_scores_are_means_over_questions_each_of_which_has_a_list_of_answers():
    scores = answer_scores(["castle", "old castle", None], [["castle"], ["castle"], ["castle"]])
    assert scores == pytest.approx((1 / 3, (1 + 2 / 3) / 3))
    rejected("list of strings", exact_match, "castle", "castle", error=TypeError)
