"""Tags map back to their original characters for any text; F1 equals seqeval's."""

import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st
from seqeval.metrics import f1_score, precision_score, recall_score
from seqeval.metrics.sequence_labeling import get_entities

from bertlab.finetuning import tagging
from bertlab.finetuning.heads import IGNORED
from bertlab.finetuning.scores import entity_f1, tag_runs
from bertlab.tokenizers import BPE, WordPiece
from bertlab.tokenizers.wordpiece import BERT_SPECIAL_TOKENS
from bertlab.tokenizers.words import CHUNK, is_removed
from tests.bertlab.refusals import rejected

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGÉéß#.,-!?['] 0123456789한ᄒ你好"
UNCASED = WordPiece.train([LETTERS, "play playing plays ace ease"], 120)
CASED = WordPiece.train([LETTERS, "play playing plays ace ease"], 120, lowercase=False)
NAMES = tagging.tag_names(["LOC", "PER"])
PAIR = UNCASED.encode("a", "a")

# Letters and marks, accents apart and built in, emoji with joiners, what normalisation drops,
# Chinese and Hangul, special tokens and what looks like them, every kind of white space.
HOSTILE = [
    "play", "playing", "É", "e\u0301", "\u0301", "ﬁ", "ß", "İ", "≠", "\u037e", "#", "##a", "a##b",
    "👩‍🚀", "👍🏽", "\u200b", "\u200d", "\ufeff", "\x00", "\ufffd", "\x0b", "\x1c", "你",
    "好", "한", "[MASK]", "[CLS]", "[SEP]", "[UNK]", "[mask]", "[", "'", "-", ".", "'s", "٣", "ا",
    " ", "  ", "\t", "\n", "\r", "\xa0", "\u2003", "\u2028", "\u3000", "x" * 120,
]  # fmt: skip
texts = st.lists(st.sampled_from(HOSTILE), max_size=14).map("".join) | st.text(max_size=30)
tokenizers = st.sampled_from([UNCASED, CASED])


@st.composite
def spans_in(draw, n_words):
    """Some labelled runs of words, none overlapping: (first, word after the last, label)."""
    borders = sorted(draw(st.sets(st.integers(0, n_words), max_size=8)))
    runs = zip(borders[::2], borders[1::2], strict=False)
    return [(first, after, draw(st.sampled_from(["LOC", "PER"]))) for first, after in runs]


def scores_for(targets):
    """Logits of a tagger that has learned its targets, with nonsense at ignored pieces."""
    logits = torch.randn(len(targets), len(NAMES), generator=torch.Generator().manual_seed(0))
    for piece, target in enumerate(targets):
        if target != IGNORED:
            logits[piece, target] = 10
    return logits


@pytest.mark.slow
@given(texts, tokenizers, st.booleans(), st.data())
@example("[MASK]\u0301 e\u0301[CLS]", CASED, True, None)
@example("\u200bplay\u200b \u200b 한국", UNCASED, False, None)
def test_spans_come_back_to_the_character(text, tokenizer, special, data):
    words = tagging.words_of(text, tokenizer)
    runs = [(n, n + 1, "LOC") for n in range(len(words))]
    runs = runs if data is None else data.draw(spans_in(len(words)))
    spans = [(words[first][0], words[after - 1][1], label) for first, after, label in runs]
    encoding = tokenizer.encode(text, add_special_tokens=special)
    targets = tagging.tag_targets(text, spans, encoding, tokenizer, NAMES)
    assert len(targets) == len(encoding)
    assert tagging.spans_from_logits(text, scores_for(targets), encoding, tokenizer, NAMES) == spans


@given(texts, tokenizers)
def test_words_are_apart_and_leave_out_nothing_that_a_piece_covers(text, tokenizer):
    words = tagging.words_of(text, tokenizer)
    borders = [place for word in words for place in word]
    assert borders == sorted(borders)
    assert all(start < end for start, end in words)
    assert not any(character in " \t\n\r\xa0\u3000" for s, e in words for character in text[s:e])
    encoding = tokenizer.encode(text)
    first = tagging.first_pieces(words, encoding.offsets)
    assert [word for word in first if word >= 0] == list(range(len(words)))
    for (start, end), token in zip(encoding.offsets, encoding.tokens, strict=True):
        if start < end:
            assert sum(s <= start and end <= e for s, e in words) == 1, (token, start, end)


@given(texts, tokenizers)
def test_characters_in_no_word_are_white_space_invisible_or_beside_no_word(text, tokenizer):
    words = tagging.words_of(text, tokenizer)
    inside = {place for word in words for place in range(*word)}
    for chunk in CHUNK.finditer(text):
        places = set(range(*chunk.span()))
        left_out = {place for place in places - inside if not is_removed(text[place])}
        assert not left_out or not places & inside
    assert not any(is_removed(text[edge]) for start, end in words for edge in (start, end - 1))


@pytest.mark.parametrize(
    "mark", ["\u200b", "\u200f", "\ufeff", "\xad", "\ufffd", "\0", "\u2060\ue000"]
)
@pytest.mark.parametrize("tokenizer", [UNCASED, CASED])
def test_a_span_may_be_labelled_with_and_without_the_invisible_characters_around_it(
    mark, tokenizer
):
    text, n = f"a {mark}play{mark} {mark}ace{mark}, a", len(mark)
    seen = text.index("play"), text.index("ace") + 3, "LOC"
    encoding = tokenizer.encode(text)
    for before, after in ((0, 0), (n, 0), (0, n), (n, n), (1, 1)):
        span = (seen[0] - before, seen[1] + after, "LOC")
        targets = tagging.tag_targets(text, [span], encoding, tokenizer, NAMES)
        found = tagging.spans_from_logits(text, scores_for(targets), encoding, tokenizer, NAMES)
        assert found == [seen]
    for start, end in ((2, 2 + n), (2 + n, len(text) + 1), (1, 2 + n + 4), (-len(text), seen[1])):
        with pytest.raises(ValueError, match=rf"where words do; got \({start}, {end}\)"):
            tagging.tag_targets(text, [(start, end, "LOC")], encoding, tokenizer, NAMES)


def test_an_accent_of_its_own_belongs_to_its_word_and_a_special_token_is_one():
    text = "Cafe\u0301 playing"
    assert tagging.words_of(text, UNCASED) == [(0, 5), (6, 13)]
    encoding = UNCASED.encode(text)
    targets = tagging.tag_targets(text, [(0, 5, "LOC")], encoding, UNCASED, NAMES)
    pairs = zip(encoding.tokens, targets, strict=True)
    assert [(token[0], n) for token, n in pairs if n != IGNORED] == [("c", 1), ("p", 0)]
    assert tagging.words_of("a [MASK].", UNCASED) == [(0, 1), (2, 8), (8, 9)]
    assert tagging.words_of("a [mask].", UNCASED) == [(0, 1), (2, 3), (3, 7), (7, 8), (8, 9)]


def test_targets_are_only_at_first_pieces():
    tokens = [*BERT_SPECIAL_TOKENS, "new", "york", "play", "##s"]
    vocab = {token: id for id, token in enumerate(tokens)}
    tokenizer = WordPiece(vocab, special_tokens=BERT_SPECIAL_TOKENS)
    encoding = tokenizer.encode("New York plays")
    assert encoding.tokens == ["[CLS]", "new", "york", "play", "##s", "[SEP]"]
    targets = tagging.tag_targets("New York plays", [(0, 8, "LOC")], encoding, tokenizer, NAMES)
    assert targets == [IGNORED, 1, 2, 0, IGNORED, IGNORED]


def test_words_of_somebody_else_may_be_coarser_or_finer_than_ours():
    assert tagging.first_pieces([(0, 6), (7, 9)], [(0, 0), (0, 3), (3, 4), (4, 6), (7, 9)]) == [
        -1, 0, -1, -1, 1,
    ]  # fmt: skip
    assert tagging.first_pieces([(0, 1), (1, 5), (5, 6), (7, 8)], [(0, 6), (7, 8)]) == [0, 3]
    assert tagging.first_pieces([(2, 3)], [(0, 1), (2, 3)]) == [-1, 0]
    assert tagging.first_pieces([], [(0, 1)]) == [-1]


def test_words_after_the_cut_are_outside():
    text = "play play play"
    encoding = UNCASED.encode(text, max_length=4)
    targets = tagging.tag_targets(text, [(5, 14, "PER")], encoding, UNCASED, NAMES)
    assert len(targets) == 4
    found = tagging.spans_from_logits(text, scores_for(targets), encoding, UNCASED, NAMES)
    assert found in ([(5, 9, "PER")], [])  # as many words as pieces were kept


@given(st.lists(st.sampled_from(NAMES), max_size=12))
def test_ill_formed_tags_mean_what_seqeval_takes_them_for(tags):
    reference = [(first, last + 1, label) for label, first, last in get_entities(tags)]
    assert tag_runs(tags) == reference
    words = [(3 * n, 3 * n + 2) for n in range(len(tags))]
    spans = tagging.spans_of_tags(tags, words)
    assert spans == [(3 * first, 3 * after - 1, label) for first, after, label in reference]
    assert tagging.spans_of_tags(tagging.tags_of_words(words, spans), words) == spans


@st.composite
def two_taggings(draw):
    lengths = draw(st.lists(st.integers(0, 8), min_size=1, max_size=5))
    tags = st.sampled_from(NAMES)
    return [[draw(st.lists(tags, min_size=n, max_size=n)) for n in lengths] for _ in range(2)]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@given(two_taggings())
def test_entity_scores_equal_seqeval(taggings):
    true, guessed = taggings
    scores = entity_f1(true, guessed)
    reference = [score(true, guessed) for score in (precision_score, recall_score, f1_score)]
    assert scores == pytest.approx(reference)


def test_what_does_not_match_is_rejected():
    rejected(r"must begin.*\(0, 6\)", tagging.tags_of_words, [(0, 3), (4, 8)], [(0, 6, "LOC")])
    rejected("begin and end where words", tagging.tags_of_words, [(0, 3)], [(3, 3, "LOC")])
    rejected("spans must begin", tagging.tags_of_words, [(0, 3), (4, 8)], [(4, 3, "LOC")])
    rejected("overlap", tagging.tags_of_words, [(0, 3), (4, 8)], [(0, 8, "A"), (4, 8, "B")])
    rejected("one for each of 0 words; got 1", tagging.spans_of_tags, ["O"], [])
    rejected("of O, B-LOC, .*; got 'B-ORG'", tagging.piece_targets, ["B-ORG"], [0], NAMES)
    rejected("got 'B-ORG'", tagging.piece_targets, ["B-ORG"], [-1], NAMES)
    rejected(r"1, 5.*got \[3, 4\]", tagging.tags_from_logits, torch.zeros(3, 4), [0], 1, NAMES)
    rejected("as many texts", entity_f1, [["O"]], [["O"], ["O"]])
    rejected("as many tags", entity_f1, [["O"]], [["O", "O"]])
    rejected("must be O, B-label or I-label; got 'B'", entity_f1, [["B"]], [["O"]])
    rejected("must be of one text", tagging.tag_targets, "a", [], PAIR, UNCASED, NAMES)


def test_a_tokenizer_without_marks_for_continuing_pieces_is_rejected():
    with pytest.raises(TypeError, match=r"must be a WordPiece.*got BPE"):
        tagging.words_of("men", BPE.train(["men"], 10, special_tokens=()))
