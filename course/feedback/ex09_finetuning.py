"""Checks of exercise 9, fine-tuning: one per task."""

import random
from collections.abc import Callable, Iterator, Sequence
from math import inf
from numbers import Real
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from course.feedback.checks import Check, checks_of
from course.feedback.differences import a, difference, short
from course.feedback.mutants import MutationCheck
from course.feedback.tensors import (
    CUT,
    OWN_CODE,
    TOLERANCE,
    NumberCheck,
    TensorCheck,
    global_generators,
    normal,
)

# `check.progress()` shows how far you are, `@task` declares a check.
progress, task = checks_of("ex09_finetuning")

IGNORED = -100


def long_text() -> tuple[list[str], list[tuple[int, int, str]]]:
    """Tags of words, B, I and O, and their spans."""
    tags: list[str] = []
    runs = []
    for number, label in enumerate(("LOC", "PER", "PER", "MISC") * 25):
        inside = 1 + number * 5 % 4
        runs.append((len(tags), len(tags) + inside, label))
        tags += [
            f"B-{label}",
            *[f"I-{label}"] * (inside - 1),
            *["O"] * (number * 3 % 3 + number % 2),
        ]
    return tags, runs


class LayersCheck(TensorCheck):
    """A check of vectors from several layers."""

    refused = OWN_CODE
    ready_made = ()
    changed = (
        "`total = hidden_states[-4]` gives the tensor a second name and makes no copy, so `total "
        "+= ...` writes into the model's own output; `total = total + ...` makes a new one"
    )

    def shown(self, arguments: tuple) -> str:
        """The call as a student would write it."""
        states, how = arguments
        return f"{self.name}(hidden_states of {len(states) - 1} layers, {how!r})"


# The embeddings and five layers, one token of two components: 2 to the layer's power, its number.
FIVE = tuple(torch.tensor([[[2.0**layer, layer]]]) for layer in range(6))


@task(
    1,
    "hidden_states[0] are the embeddings, hidden_states[-1] is the last layer; [-4:] are "
    "the last four, [1:] all layers",
    "torch.stack(list).sum(dim=0) adds tensors up; torch.cat(list, dim=-1) concatenates vectors",
)
def layer_features(check: LayersCheck) -> None:
    """The vectors that a head reads."""
    for how, gives, because in _mixes():
        check.example(FIVE, how, gives=gives, because=because)
    check.done("four mixes and two single layers, by hand")
    states = list(normal(13, 2, 7, 16, seed=9))
    sum_of_all = torch.zeros(2, 7, 16)
    for state in states[1:]:
        sum_of_all = sum_of_all + state
    rest = sum_of_all
    for state in states[1:9]:
        rest = rest - state
    because = "12 layers, as BERT-base has them: [2, 7, 16] each"
    check.example(states, "last", gives=states[12], because=because)
    check.example(states, "sum last four", gives=rest, because=because)
    check.example(states, "mean of all", gives=sum_of_all / 12, because=because)
    check.example(states, 7, gives=states[7], because=because)
    answer = check.call(states, "concat last four", because=because)
    shown = check.shown((states, "concat last four"))
    check.law(
        isinstance(answer, Tensor) and answer.shape == (2, 7, 64),
        f"{shown}\nit must return a tensor [2, 7, 64], 4 times 16 numbers for each token; it "
        f"returned {list(answer.shape) if isinstance(answer, Tensor) else answer}",
    )
    for place, part in enumerate(answer.chunk(4, dim=-1)):
        check.equals(part, states[9 + place], f"{shown}: numbers {16 * place} to {16 * place + 15}")
    check.done("12 layers, a batch of texts")


def _mixes() -> list[tuple[Any, list, str]]:
    """The five layers by hand: how, what it gives, and the rule."""
    return [
        ("last", [[[32.0, 5]]], "the output of the last layer"),
        ("sum last four", [[[60.0, 14]]], "4 + 8 + 16 + 32, and 2 + 3 + 4 + 5"),
        (
            "concat last four",
            [[[4.0, 2, 8, 3, 16, 4, 32, 5]]],
            "the vectors of layers 2, 3, 4, 5, concatenated: [B, L, 4 D]",
        ),
        (
            "mean of all",
            [[[12.4, 3]]],
            "62 / 5 and 15 / 5: all five layers, without the embeddings",
        ),
        (2, [[[4.0, 2]]], "layer 2: hidden_states begin with the embeddings, so its index is 2"),
        (0, [[[1.0, 0]]], "layer 0 are the embeddings"),
    ]


class LossCheck(TensorCheck):
    """A check of a loss: one number, with its gradient."""

    refused = OWN_CODE
    ready_made = ()

    def loss(self, logits: Tensor, targets: Tensor, gives: float, because: str) -> None:
        """A worked example."""
        self.example(*(logits, targets), gives=torch.tensor(gives), because=because)

    def shown(self, arguments: tuple) -> str:
        """The call as a student would write it."""
        logits, targets = arguments
        written = str(targets.tolist()) if targets.numel() <= 16 else f"{list(targets.shape)}"
        return f"{self.name}(logits {list(logits.shape)}, targets {written})"


@task(
    3,
    "asked = targets != IGNORED is True at the tokens that count; logits[asked] are their "
    "rows, [N, C]",
    'F.cross_entropy(..., reduction="sum") of those rows, divided by their number, at least 1',
)
def tagger_loss(check: LossCheck) -> None:
    """The mean over only the tokens that have a target."""
    half = torch.tensor([0.5, 0.25, 0.25]).log()
    logits = half.expand(2, 4, 3).contiguous()
    targets = torch.tensor([[IGNORED, 0, IGNORED, IGNORED], [IGNORED, 1, 2, 1]])
    check.loss(
        *(logits, targets, 1.2130),
        because="the tags have the probabilities 0.5, 0.25, 0.25, 0.25: (0.6931 + 3 · 1.3863) / 4 "
        "tokens",
    )
    check.done("two texts by hand")
    other = logits.clone()
    other[targets == IGNORED] = 1000 * normal(int((targets == IGNORED).sum()), 3, seed=3)
    check.loss(
        *(other, targets, 1.2130),
        because="other scores at tokens without a target: the loss must be the same",
    )
    check.gradients(logits, targets)
    nothing = torch.full((2, 4), IGNORED)
    check.loss(
        *(logits, nothing, 0.0),
        because="no token has a target: 0, where the mean of nothing would be nan",
    )
    check.done("tokens without a target do not count; no targets at all")
    logits = 3 * normal(8, 50, 9, seed=4)
    asked = torch.arange(400).view(8, 50) * 7 % 5 == 0
    true = torch.arange(400).view(8, 50) * 5 % 9
    log_p = logits.double().log_softmax(dim=-1).gather(-1, true[..., None])[..., 0]
    check.loss(
        *(logits, true.masked_fill(~asked, IGNORED), float(-log_p[asked].sum() / asked.sum())),
        because="8 texts of 50 tokens, 9 tags: the mean over the 80 tokens with a target",
    )
    check.done("8 texts of 50 tokens; gradients")


class ListCheck(Check):
    """A check of a function that returns a list."""

    refused = OWN_CODE

    def as_long_as(self, numbers: list, *arguments: Sequence, what: str) -> list:
        """An answer with one item for each of `numbers`; `what` describes those."""
        answer = self.call(*arguments)
        self.law(
            isinstance(answer, list) and len(answer) == len(numbers),
            f"{self.shown(arguments)}\nit must return a list with one item for each of "
            f"{len(numbers)} {what}; it returned {short(answer, 80)}"
            + (f", {len(answer)} items" if isinstance(answer, list) else f", {a(answer)}"),
        )
        return answer


@task(
    2,
    "for each piece: the word in which it lies, if there is one, and if no piece before "
    "it lay in that word",
    "a piece (start, end) lies in word (a, b) if start < end and a <= start < b; keep the "
    "number of the last word that has had its first piece",
)
def first_pieces(check: ListCheck) -> None:
    """For each piece the word of which it is the first."""
    check.example(
        [(0, 3), (4, 10)],
        [(0, 0), (0, 3), (4, 9), (9, 10), (0, 0)],
        gives=[-1, 0, 1, -1, -1],
        because="[CLS] Zoë sleep ##s [SEP]: piece 1 is the first of word 0, piece 2 of word 1",
    )
    check.example(
        [(0, 1), (1, 2), (2, 5)],
        [(0, 1), (1, 2), (2, 3), (3, 5)],
        gives=[0, 1, 2, -1],
        because='"a,bcd" without special tokens: three words without a blank between them',
    )
    check.done("special tokens, later pieces, words that touch")
    check.example(
        [(0, 4), (5, 9)],
        [(0, 0), (1, 4), (5, 7), (7, 8), (0, 0)],
        gives=[-1, 0, 1, -1, -1],
        because="word 0 begins with a character that BERT drops (a soft hyphen), so its first "
        "piece begins at 1: ask in which word a piece lies, not whether both begin together",
    )
    check.example(
        [(0, 1), (2, 5)],
        [(0, 0), (1, 2), (2, 5), (0, 0)],
        gives=[-1, -1, 1, -1],
        because="BERT drops all of word 0; the piece after it, a hyphen, belongs to no word",
    )
    check.example(
        [(0, 3), (4, 6), (7, 9), (10, 12)],
        [(0, 0), (0, 2), (2, 3), (4, 6), (0, 0)],
        gives=[-1, 0, -1, 1, -1],
        because="the encoding was cut: words 2 and 3 have no piece here",
    )
    check.example([], [(0, 0), (0, 0)], gives=[-1, -1], because="[CLS] [SEP]: no word at all")
    check.done("a dropped character, a text that was cut, no words")
    words, offsets, numbers = many_pieces()
    answer = check.as_long_as(offsets, words, offsets, what="pieces")
    place = next((n for n in range(len(numbers)) if answer[n] != numbers[n]), None)
    if place is not None:
        check.fail(
            f"{len(words)} words in {len(offsets)} pieces: piece {place}, {offsets[place]}, after "
            f"{offsets[place - 1]}: expected {numbers[place]}, got {short(answer[place])}\n"
            f"the words near it are {short(words[max(0, numbers[place] - 1) :][:3])}"
        )
    check.done(f"{len(offsets)} pieces")


def many_pieces() -> tuple[list, list, list[int]]:
    """Words of one to four pieces, all pieces with [CLS] and [SEP], and the right numbers."""
    words, offsets, numbers, at = [], [(0, 0)], [-1], 0
    for number in range(150):
        lengths = [1 + (number + n) % 3 for n in range(1 + number * 3 % 4)]
        words.append((at, at + sum(lengths)))
        for n, length in enumerate(lengths):
            offsets.append((at, at + length))
            numbers.append(-1 if n else number)
            at += length
        at += number % 3 != 0
    return words, [*offsets, (0, 0)], [*numbers, -1]


@task(
    4,
    "one variable is enough: the number of the last B whose span is still open, or None",
    "S: a span of one word. B: open here. I: leave it open if the labels are the same. E: "
    "the same, and the span is complete. In all other cases no span is open afterwards",
)
def bioes_runs(check: ListCheck) -> None:
    """The complete spans of tags with an end."""
    for tags, gives, because in _complete_by_hand():
        check.example(tags, gives=gives, because=because)
    check.done("spans of one word and of several, labels with hyphens")
    for tags, gives, because in _broken_by_hand():
        check.example(tags, gives=gives, because=because)
    check.done("spans without a beginning, an end, or one label")
    tags, runs = long_text()
    for first, after, label in runs:
        tags[after - 1] = f"E-{label}" if after - first > 1 else f"S-{label}"
    answer = check.call(tags)
    check.law(isinstance(answer, list), f"it must return a list; it returned {a(answer)}")
    if answer != runs:
        place = next((n for n in range(min(len(runs), len(answer))) if runs[n] != answer[n]), -1)
        check.fail(
            f"a text of {len(tags)} words with {len(runs)} spans; got {len(answer)}"
            + (f"; number {place} is {runs[place]}, not {short(answer[place])}")
        )
    check.done(f"{len(runs)} spans")


Rows = Iterator[tuple[list[str], list, str]]


def _complete_by_hand() -> Rows:
    """Worked examples: tags, spans and the rule."""
    yield (
        ["B-LOC", "I-LOC", "E-LOC", "O", "S-PER"],
        [(0, 3, "LOC"), (4, 5, "PER")],
        "words 0 to 2 are a LOC, word 4 by itself is a PER",
    )
    yield (
        ["B-LOC", "E-LOC", "B-LOC", "E-LOC", "S-LOC", "S-LOC"],
        [(0, 2, "LOC"), (2, 4, "LOC"), (4, 5, "LOC"), (5, 6, "LOC")],
        "spans side by side; one of two words has no I",
    )
    yield (
        ["B-work-of-art", "E-work-of-art", "S-work-of-art"],
        [(0, 2, "work-of-art"), (2, 3, "work-of-art")],
        "the label is everything after the *first* hyphen",
    )
    yield (["O", "O"], [], "no span")
    yield ([], [], "no words, no spans")


def _broken_by_hand() -> Rows:
    """Malformed tags: tags, complete spans and the rule."""
    no_end = "the end is missing, so this is no complete span"
    no_begin = "the beginning is missing, so this is no complete span: I and E begin nothing"
    two = "a span has one label: compare that of I and E with that of B"
    closed = "no span is open after an {}"
    yield (["B-PER", "I-PER", "O"], [], no_end)
    yield (["O", "B-PER", "I-PER"], [], no_end)
    yield (["O", "I-PER", "E-PER"], [], no_begin)
    yield (["E-PER", "E-PER"], [], no_begin)
    yield (["B-PER", "E-LOC"], [], two)
    yield (["B-PER", "I-LOC", "E-PER"], [], two)
    yield (
        ["B-LOC", "B-LOC", "E-LOC"],
        [(1, 3, "LOC")],
        "the second B begins again; what the first one began has no end",
    )
    open_no_more = closed.format("O")
    yield (["B-LOC", "O", "E-LOC"], [], open_no_more)
    yield (["B-LOC", "E-LOC", "I-LOC", "E-LOC"], [(0, 2, "LOC")], closed.format("E"))
    yield (["B-LOC", "S-PER", "E-LOC"], [(1, 2, "PER")], closed.format("S"))


Tags = Sequence[Sequence[str]]


class ScoresCheck(Check):
    """A check of precision, recall and F1."""

    refused = OWN_CODE

    def scores(
        self, true: Tags, guessed: Tags, gives: tuple[float, float, float], because: str
    ) -> None:
        """A worked example; three numbers, to four decimals."""
        answer = self.call(true, guessed, because=because)
        shown = self.shown((true, guessed))
        three = isinstance(answer, tuple | list) and len(answer) == 3
        self.law(
            three and all(isinstance(number, Real) for number in answer),
            f"{shown}\nit must return three numbers: precision, recall and F1; it returned "
            f"{short(answer)}",
        )
        scores = f"expected {_written(gives)}\ngot      {_written(answer)}"
        found = "" if _close(answer, gives) else scores
        self.compared(found, answer, shown, because, TOLERANCE)


def _close(one: Sequence[float], other: Sequence[float]) -> bool:
    return all(abs(a - b) < 2e-4 for a, b in zip(one, other, strict=True))


def _written(scores: Sequence[float]) -> str:
    names = ("precision", "recall", "F1")
    return ", ".join(f"{name} {number:.4g}" for name, number in zip(names, scores, strict=True))


@task(
    5,
    "collect the spans of all texts, true and guessed, in two sets; what both sets contain "
    "is right",
    "{(text, *run) for text, tags in enumerate(texts) for run in tag_runs(tags)}",
)
def entity_f1(check: ScoresCheck) -> None:
    """Precision, recall and F1 of whole spans."""
    check.scores(
        [["B-PER", "I-PER", "O", "B-LOC"]],
        [["B-PER", "O", "O", "B-LOC"]],
        (0.5, 0.5, 0.5),
        because="true are (0, 2, PER) and (3, 4, LOC); of the guesses (0, 1, PER) and (3, 4, LOC) "
        "one is right. Half a span does not count",
    )
    check.scores(
        [["B-LOC", "O", "O", "O"], ["B-LOC", "O", "B-PER", "O"]],
        [["B-LOC", "O", "O", "O"], ["O", "B-LOC", "B-PER", "B-LOC"]],
        (1 / 2, 2 / 3, 4 / 7),
        because="in both texts together 3 true spans, 4 guessed ones, 2 of them right",
    )
    check.done("half a span, several texts")
    check.scores(
        [["B-PER", "O"], ["B-LOC", "I-LOC"]],
        [["B-LOC", "O"], ["I-LOC", "I-LOC"]],
        (0.5, 0.5, 0.5),
        because="the first guess has the wrong label; the second one begins with I and is right "
        "all the same: spans are compared, not tags",
    )
    nothing = "a share of nothing is 0: first check that the divisor is not 0"
    check.scores([["B-PER", "O"]], [["O", "O"]], (0.0, 0.0, 0.0), because=nothing)
    check.scores([["O", "O"]], [["B-PER", "O"]], (0.0, 0.0, 0.0), because=nothing)
    check.scores([["O"], []], [["O"], []], (0.0, 0.0, 0.0), because=nothing)
    check.scores([["B-PER", "O"]], [["O", "B-PER"]], (0.0, 0.0, 0.0), because=nothing)
    check.done("labels, nothing guessed, nothing to find")
    tags, runs = long_text()
    less = [tag.replace("B-PER", "O").replace("I-PER", "O") for tag in tags]
    n_all, n_less = len(runs), sum(label != "PER" for _, _, label in runs)
    right, true, guessed = n_all + n_less, 2 * n_all + n_less, 2 * n_all
    check.scores(
        [tags, less, tags],
        [tags, tags, ["O"] * len(tags)],
        (right / guessed, right / true, 2 * right / (true + guessed)),
        because="three long texts: all found; some found that are none; nothing found",
    )
    check.done("three long texts")


Spans = set[tuple[int, int, int, str]]


def _spans(texts: Tags, separate: bool = True) -> Spans:
    """(text, first word, word after the last, label) of spans that begin with B."""
    found = set()
    for text, tags in enumerate(texts):
        for first, tag in enumerate(tags):
            if tag[0] == "B":
                after = first + 1
                while after < len(tags) and tags[after] == f"I{tag[1:]}":
                    after += 1
                found.add((text if separate else 0, first, after, tag[2:]))
    return found


def _scores(true: set, guessed: set) -> tuple[float, float, float]:
    """Precision, recall and F1, 0 for a share of nothing."""
    right = len(true & guessed)
    n, m = len(true), len(guessed)
    return right / max(1, m), right / max(1, n), 2 * right / max(1, n + m)


def _draft(true_tags: Tags, guessed_tags: Tags) -> tuple[float, float, float]:
    """As in the notebook: no text, no label, the plain mean, and a division by nothing."""
    true, guessed = (
        {span[1:3] for span in _spans(texts, separate=False)} for texts in (true_tags, guessed_tags)
    )
    right = len(true & guessed)
    precision, recall = right / len(guessed), right / len(true)
    return precision, recall, (precision + recall) / 2


def _mean_of_texts(true_tags: Tags, guessed_tags: Tags) -> tuple[float, ...]:
    """Wrong: every text has the same weight."""
    pairs = zip(true_tags, guessed_tags, strict=True)
    rows = [_scores(_spans([one]), _spans([other])) for one, other in pairs]
    return tuple(sum(column) / len(rows) for column in zip(*rows, strict=True))


def _without_labels(true_tags: Tags, guessed_tags: Tags) -> tuple[float, float, float]:
    """Wrong: ignores the label."""
    sides = ({span[:3] for span in _spans(texts)} for texts in (true_tags, guessed_tags))
    return _scores(*sides)


@task(
    6,
    "three texts, with more guesses than true spans: work out precision, recall and F1",
    "one more call for each sentence of task 5; compare all three numbers",
)
def examine_entity_f1(check: MutationCheck, own: Callable) -> None:
    """A test of `entity_f1`, tried on the student's own and on three wrong ones."""
    check.passes(own, "entity_f1", 5, [["O"]], [["O"]])
    check.stops(_draft, "the draft", "which call shows what you have repaired?")
    check.stops(
        _mean_of_texts,
        "a function that takes the mean of the texts' scores",
        "it differs where one text has more spans than another",
    )
    check.stops(
        _without_labels,
        "a function that does not compare labels",
        "a call in which only the label is wrong shows it",
    )
    check.done("your own entity_f1 passes, three wrong ones do not")


# [CLS] where is jim ? [SEP] jim went to the lake [SEP]
PASSAGE = "Jim went to the lake"
OFFSETS = [
    *[(0, 0), (0, 5), (6, 8), (9, 12), (12, 13), (0, 0)],
    *[(0, 3), (4, 8), (9, 11), (12, 15), (16, 20), (0, 0)],
]
SEGMENTS = [0] * 6 + [1] * 6
STARTS = [1.0, 0, 6, 0, 0, 0, 3, 0, 0, 6, 2, 0]
ENDS = [1.0, 0, 6, 0, 0, 0, 3, 1, 0, -1, 1, 4]
LOGITS = torch.tensor([STARTS, ENDS]).T  # [12, 2]


class AnswerCheck(TensorCheck):
    """A check of an answer: characters of the passage, or None."""

    refused = OWN_CODE
    ready_made = ()

    def answers(self, *arguments: Any, gives: tuple[int, int] | None, because: str) -> None:
        """A worked example."""
        answer = self.call(*arguments, because=because)
        shown = self.shown(arguments)
        if answer is None and gives is None:
            found = ""
        elif gives is None:
            found = f"expected None, no answer\ngot      {short(answer)}"
        elif answer is None:
            found = f"expected {gives}, {self._text(gives)}\ngot      None, no answer"
        else:
            found = difference(gives, answer)
        self.compared(found, answer, shown, because)

    def _text(self, answer: tuple[int, int]) -> str:
        return repr(PASSAGE[slice(*answer)]) if answer[1] <= len(PASSAGE) else "characters"

    def shown(self, arguments: tuple) -> str:
        """The call as a student would write it."""
        logits, offsets, _, *rest = arguments
        what = "the example of the task" if offsets == OFFSETS else f"{len(offsets)} tokens"
        names = [f", {n}={v}" for n, v in zip(("max_tokens", "threshold"), rest, strict=False)]
        call = f"{self.name}(logits, offsets, segment_ids{''.join(names)})"
        return f'{call}, {what}, where "no answer" scores {float(logits[0].sum()):.4g}'


@task(
    7,
    "tokens that may be part of an answer: segment 1, and start < end in offsets",
    "two loops over those tokens, the second one from i to i + max_tokens - 1; keep the "
    "best S_i + E_j and its (i, j), and compare with S_0 + E_0 at the end",
)
def best_span(check: AnswerCheck) -> None:
    """From scores to an answer."""
    check.answers(
        *(LOGITS, OFFSETS, SEGMENTS),
        gives=(12, 20),
        because='"the lake", tokens 9 to 10, scores 6 + 1 = 7',
    )
    check.done("the worked example")
    sure = LOGITS.clone()
    sure[0] = torch.tensor([5.0, 3.0])
    nothing = 'the best answer scores 7, "no answer" S_0 + E_0 = 5 + 3 = 8: return None'
    check.answers(*(sure, OFFSETS, SEGMENTS), gives=None, because=nothing)
    even = LOGITS.clone()
    even[0] = torch.tensor([5.0, 2.0])
    check.answers(
        *(even, OFFSETS, SEGMENTS),
        gives=None,
        because="the answer must score *more* than no answer; 7 is not more than 7",
    )
    check.answers(
        *(sure, OFFSETS, SEGMENTS, 30, -2.0),
        gives=(12, 20),
        because="7 is more than 8 - 2: threshold is added to the score of no answer",
    )
    check.answers(
        *(LOGITS, OFFSETS, SEGMENTS, 30, 6.0),
        gives=None,
        because="7 is not more than 2 + 6: threshold is added to the score of no answer",
    )
    check.answers(
        *(sure, OFFSETS, SEGMENTS, 30, -inf),
        gives=(12, 20),
        because="threshold = -inf: every question gets an answer, as in SQuAD 1.1",
    )
    low = LOGITS - 100
    check.answers(
        *(low, OFFSETS, SEGMENTS),
        gives=(12, 20),
        because="all scores are below 0 here, and one of them is still the best: start with -inf",
    )
    check.done('"no answer" and its threshold')
    many = "max_tokens counts tokens of the answer: from 9 to 10 are two"
    check.answers(
        *(LOGITS, OFFSETS, SEGMENTS, 1),
        gives=(0, 3),
        because='of all answers of one token "Jim", 3 + 3 = 6, is the best',
    )
    check.answers(*(LOGITS, OFFSETS, SEGMENTS, 2), gives=(12, 20), because=many)
    check.done("only short answers")
    # 400 tokens: the largest pairs are too long, in the question, or reversed.
    logits: Tensor = normal(400, 2, seed=7) / 10
    offsets = [(0, 0)] + [(5 * n, 5 * n + 4) for n in range(20)] + [(0, 0)]
    offsets += [(7 * n, 7 * n + 5) for n in range(377)] + [(0, 0)]
    segments = [0] * 22 + [1] * 378
    for token, column, score in (
        *((5, 0, 20.0), (7, 1, 20.0)),  # in the question
        *((399, 0, 20.0), (399, 1, 20.0)),  # [SEP]
        *((60, 0, 9.0), (390, 1, 9.0)),  # too far apart
        *((200, 0, 7.0), (229, 1, 7.0)),  # 30 tokens: the answer
        *((300, 0, 7.5), (330, 1, 7.5)),  # 31 tokens
        *((150, 1, 8.5), (151, 0, 8.5)),  # end before start
    ):
        logits[token, column] = score
    first, last = 178, 207  # the answer's tokens, counted in the passage
    check.answers(
        *(logits, offsets, segments),
        gives=(7 * first, 7 * last + 5),
        because="a long passage: the answer may have 30 tokens, and there is one of 30 with 7 + 7",
    )
    check.done("a passage of 377 tokens")


LEARNERS = (
    "bag of words",
    "frozen, embeddings",
    "frozen, last layer",
    "from scratch",
    "fine-tuned",
)


@task(8, 'write `return {"bag of words": 0.5, ...}`')
def predict_contest(check: Check) -> None:
    """An F1 for each learner, of the student's choice."""
    answer = check.call()
    check.law(
        isinstance(answer, dict) and set(answer) == set(LEARNERS),
        f"it must return a dictionary with the five learners, {', '.join(map(repr, LEARNERS))}; it "
        f"returned {short(answer, 200)}",
    )
    for learner, score in answer.items():
        check.law(
            isinstance(score, int | float) and 0 <= score <= 1,
            f"an F1 is a number from 0 to 1, not a percentage; {learner!r} has {score!r}",
        )
    best = max(answer, key=answer.__getitem__)
    check.done(f"you predict that {best!r} is ahead; now measure")


def has_digit(word: str) -> bool:
    """The kind of words that the check removes."""
    return any(character.isdigit() for character in word)


class WordsCheck(Check):
    """A check of texts without some words, and of their control."""

    refused = OWN_CODE

    def shown(self, arguments: tuple) -> str:
        """The call as a student would write it."""
        texts, _, seed = arguments
        return f"{self.name}({short(texts, 120)}, has_digit, {seed})"

    def sides(self, *arguments: Any) -> tuple[list[str], list[str]]:
        """Both lists of texts, with the original number of texts."""
        answer = self.call(*arguments)
        texts, shown = arguments[0], self.shown(arguments)
        self.law(
            isinstance(answer, tuple | list) and len(answer) == 2,
            f"{shown}\nit must return two lists, the texts without those words and the control; it "
            f"returned {short(answer)}",
        )
        for what, side in zip(("texts without those words", "the control"), answer, strict=True):
            self.law(
                isinstance(side, list) and all(isinstance(text, str) for text in side),
                f"{shown}\n{what} must be a list of str; got {short(side)}",
            )
            self.law(
                len(side) == len(texts),
                f"{shown}\n{what}: {len(texts)} texts are expected, as many as before; got "
                f"{len(side)}",
            )
        return answer[0], answer[1]

    def control(self, texts: list[str], without: list[str], control: list[str]) -> None:
        """The same number of words as without the kind, from the same text, in order."""
        for text, cut, other in zip(texts, without, control, strict=True):
            expected, got = len(cut.split()), len(other.split())
            self.law(
                got == expected,
                f"the control of {text!r} must keep {expected} words, as many as are left without "
                f"the kind; got {got}: {other!r}",
            )
            rest = iter(text.split())
            self.law(
                all(word in rest for word in other.split()),
                f"the control of {text!r} must keep words of that text in their order; got "
                f"{other!r}",
            )
            self.law(
                " ".join(other.split()) == other,
                f"the control of {text!r}: words are separated by one blank; got {other!r}",
            )


TEXTS = ["call 0800 or 0900 now", "see you", "  4 u  only ", "10 20"]
LONG = [f"a b c{number % 9} d e f" for number in range(300)]


@task(
    9,
    "words = text.split(); left = [word for word in words if not is_part(word)]",
    "the control keeps len(left) of the places range(len(words)), drawn by "
    "random.Random(seed).sample and sorted",
)
def ablate_words(check: WordsCheck) -> None:
    """Texts without a kind of words, and without the same number of random words."""
    before = global_generators()
    without, control = check.sides(TEXTS, has_digit, 1)
    gives = ["call or now", "see you", "u only", ""]
    check.compared(
        difference(gives, without) if without != gives else "",
        without,
        check.shown((TEXTS, has_digit, 1)),
        "the texts without words that contain a digit come first, then the control",
    )
    check.control(TEXTS, without, control)
    check.done("four texts by hand")
    without, control = check.sides(LONG, has_digit, 1)
    check.control(LONG, without, control)
    # In 300 texts of 6 words, each place is removed about 50 times.
    for place in range(6):
        lost = sum(not any(word[0] == chr(97 + place) for word in t.split()) for t in control)
        check.law(
            15 <= lost <= 110,
            f"of 300 texts of 6 words, one of which has a digit, the control loses word {place} "
            f"{lost} times; about 50 are expected: draw from all words, again for each text",
        )
    _, again = check.sides(LONG, has_digit, 1)
    _, other = check.sides(LONG, has_digit, 2)
    check.law(again == control, "the same seed gives another control")
    check.law(other != control, "another seed gives the same control: is `seed` used?")
    check.law(
        global_generators() == before,
        "it changed the global random numbers; random.Random(seed) is a separate generator",
    )
    check.done("300 texts: as many words, at random places, the same with the same seed")


class MatrixCheck(TensorCheck):
    """A check of a matrix of counts."""

    refused = OWN_CODE
    ready_made = ()


@task(
    10,
    "a dictionary from each class to its place says at once whether a label is a class",
    "start with torch.zeros(C, C, dtype=torch.long); add 1 for each example that counts",
)
def confusion_matrix(check: MatrixCheck) -> None:
    """How often each gold label got each guess."""
    check.example(
        ["spam", "spam", "spam", "ham", "ham", "news"],
        ["spam", "spam", "ham", "ham", "news", "news"],
        ["spam", "ham"],
        gives=[[2, 1], [0, 1]],
        because="row = gold label, column = guess, in the order of classes; the last two examples "
        "have a label that is not in classes, so they do not count",
    )
    check.example(
        ["E", "E", "N", "C", "C", "C"],
        ["N", "E", "N", "E", "E", "C"],
        ("E", "N", "C"),
        gives=[[1, 1, 0], [0, 1, 0], [2, 0, 1]],
        because="three classes: C was taken for E twice, row 2, column 0",
    )
    check.done("two classes and three, labels that do not count")
    nothing = "no example counts: a matrix of zeros"
    check.example([], [], ["spam", "ham"], gives=[[0, 0], [0, 0]], because=nothing)
    check.example(["a", "b"], ["b", "b"], ["b", "c"], gives=[[1, 0], [0, 0]], because="only (b, b)")
    check.example(["a"], ["b"], ["b", "c"], gives=[[0, 0], [0, 0]], because=nothing)
    check.example(
        *([0, 0, 2, 1], [0, 2, 2, 0], [2, 0]),
        gives=[[1, 0], [1, 1]],
        because="classes may be numbers: 0 is a class like any other",
    )
    check.done("no example, numbers as classes")
    counts = [[40, 3, 0, 1], [5, 160, 7, 0], [0, 2, 83, 0], [11, 0, 0, 300]]
    pairs = [(i, j) for i, row in enumerate(counts) for j, n in enumerate(row) for _ in range(n)]
    random.Random(0).shuffle(pairs)
    gold, guessed = ([f"class {n}" for n in side] for side in zip(*pairs, strict=True))
    check.example(
        *(gold, guessed, [f"class {n}" for n in range(4)]),
        gives=counts,
        because=f"{len(pairs)} examples of four classes",
    )
    check.done(f"{len(pairs)} examples")


class ScoreCheck(NumberCheck):
    """A check of a score, one number."""

    refused = OWN_CODE


@task(
    10,
    "t = matrix.sum(dim=1), p = matrix.sum(dim=0), c = matrix.trace(), s = matrix.sum(), "
    "all after matrix.double()",
    "work out both differences under the roots first, and return 0.0 if one of them is 0",
)
def matthews_correlation(check: ScoreCheck) -> None:
    """One number for a confusion matrix."""
    check.example(
        torch.tensor([[2, 2], [0, 4]]),
        gives=0.57735,
        because="c = 6, s = 8, t = (4, 4), p = (2, 6): 16 / (√24 · √32)",
    )
    check.example(torch.tensor([[3, 0], [0, 5]]), gives=1.0, because="all guesses are right")
    check.example(torch.tensor([[0, 3], [5, 0]]), gives=-1.0, because="all guesses are wrong: -1")
    check.done("two classes, by hand")
    one_column = "all guesses are one class, so p = (0, 10) and s² - Σ p² = 0: the result is 0"
    check.example(torch.tensor([[0, 3], [0, 7]]), gives=0.0, because=one_column)
    one_row = "all gold labels are one class, so t = (10, 0) and s² - Σ t² = 0: the result is 0"
    check.example(torch.tensor([[4, 6], [0, 0]]), gives=0.0, because=one_row)
    check.example(torch.tensor([[9, 0], [0, 0]]), gives=0.0, because="one row and one column: 0")
    check.example(torch.zeros(2, 2, dtype=torch.long), gives=0.0, because="no examples: 0")
    check.done("one row, one column, nothing")
    check.example(
        torch.tensor([[3, 1, 0], [1, 4, 1], [2, 0, 4]]),
        gives=0.544388,
        because="c = 11, s = 16, t = (4, 6, 6), p = (6, 5, 5): (176 - 84) / (√170 · √168)",
    )
    check.example(
        torch.tensor([[5, 1, 0], [2, 4, 0], [0, 0, 0]]),
        gives=0.507093,
        because="the third class occurs nowhere: the same as for the other two alone",
    )
    check.done("three classes, one of them empty")
    check.example(
        torch.tensor([[200_000, 46_000], [35_000, 110_000]]),
        gives=0.563858,
        because="391,000 examples, as many as in QQP's test set",
    )
    check.done("391,000 examples")


def spread_out(confidences: Sequence[float], n_classes: int = 3) -> Tensor:
    """Probabilities [N, C] whose largest one is given; it moves from class to class."""
    rows = []
    for number, confidence in enumerate(confidences):
        row = [(1 - confidence) / (n_classes - 1)] * n_classes
        row[number % n_classes] = confidence
        rows.append(row)
    return torch.tensor(rows)


@task(
    11,
    "first drop the examples that do not count; then probabilities.max(dim=-1) gives the "
    "confidences and the guesses",
    "in a loop over bins: inside = (confidence > lower) & (confidence <= upper); skip a "
    "bin that holds nothing",
)
def expected_calibration_error(check: ScoreCheck) -> None:
    """How far confidence is from being right."""
    rows = [[0.5, 0.25, 0.25], [0.4, 0.3, 0.3], [0.125, 0.75, 0.125], [0.1, 0.15, 0.75]]
    five = torch.tensor([*rows, [0.0, 0.0, 1.0]])
    gold = torch.tensor([0, 1, 1, 2, 0])
    check.example(
        *(five, gold, 2),
        gives=0.12,
        because="bin 1 holds 0.5 and 0.4: mean 0.45, half of them right. Bin 2 holds 0.75, 0.75 "
        "and 1: mean 0.833, two of three right. 2/5 · 0.05 + 3/5 · 0.167",
    )
    edges = spread_out([0.5, 0.5, 0.75, 0.75, 1.0])
    check.example(
        *(edges, torch.tensor([0, 0, 2, 0, 2]), 4),
        gives=0.3,
        because="an edge belongs to the bin below it: bin 2 holds 0.5 twice (half right), bin 3 "
        "holds 0.75 twice (both right), bin 4 holds 1 (wrong): 2/5 · 0 + 2/5 · 0.25 + 1/5 · 1",
    )
    check.example(
        *(five, gold, 1),
        gives=0.08,
        because="one bin: the mean confidence is 0.68, and three of five are right",
    )
    check.done("five examples, in one, two and four bins")
    more = torch.cat([five, spread_out([0.9, 0.6, 0.45])])
    ignored = torch.cat([gold, torch.full((3,), IGNORED)])
    because = "three more examples that do not count: the result stays 0.12"
    check.example(more, ignored, 2, gives=0.12, because=because)
    nothing = "no example counts: 0"
    check.example(five, torch.full((5,), IGNORED), 2, gives=0.0, because=nothing)
    check.done("examples that do not count")
    levels = ((0.55, 0.5), (0.65, 0.6), (0.75, 0.7), (0.85, 0.95), (0.95, 0.9))
    many = spread_out([confidence for confidence, _ in levels for _ in range(200)], 2)
    right = torch.tensor([n < round(200 * share) for _, share in levels for n in range(200)])
    check.example(
        *(many, torch.where(right, torch.arange(1000) % 2, 1 - torch.arange(1000) % 2), 10),
        gives=0.06,
        because="1,000 examples in five of ten bins; confidence and share of right guesses are "
        "0.05 apart in four of them and 0.1 in one",
    )
    check.done("1,000 examples in ten bins")


class AdapterCheck(TensorCheck):
    """A check of a low-rank adapter: its start, and the layer that has one."""

    refused = OWN_CODE
    ready_made = ()

    def starts(self, d_in: int, d_out: int, budget: int, rank: int, because: str) -> None:
        """A new adapter of this rank, which changes nothing yet and can learn."""
        arguments = d_in, d_out, budget, 7
        (A, B), shown = self.several(2, *arguments, what="A and B"), self.shown(arguments)
        self.law(
            A.dim() == B.dim() == 2
            and (A.shape[1], B.shape[0]) == (d_in, d_out)
            and A.shape[0] == B.shape[1],
            f"{shown}\nA must be [r, {d_in}] and B [{d_out}, r]; they are {list(A.shape)} and "
            f"{list(B.shape)}",
        )
        self.law(
            A.dtype == B.dtype == torch.float32,
            f"{shown}\nthe dtype of A and B must be torch.float32; it is {A.dtype} and {B.dtype}",
        )
        found = difference(rank, len(A))
        self.compared(found, len(A), f"{shown}: r, the number of rows of A", because)
        self.law(
            not B.any(),
            f"{shown}\nB must be 0: else the layer changes before A and B have learned anything",
        )
        self.law(
            bool(A.any()),
            f"{shown}\nA is 0 as well as B: then neither gets a gradient, and they stay 0",
        )
        full = int(torch.linalg.matrix_rank(A.detach()))
        self.law(
            full == min(rank, d_in),
            f"{shown}\nthe rows of A have rank {full}: draw each number by itself",
        )
        self.law(
            A.requires_grad and B.requires_grad,
            f"{shown}\nA and B must learn: create both with requires_grad=True",
        )
        self.law(
            A.is_leaf and B.is_leaf,
            f"{shown}\nan optimizer rejects what was computed from another tensor that learns: "
            "compute first, then .requires_grad_()",
        )
        again, other = (
            self.several(2, d_in, d_out, budget, seed, what="A and B")[0].detach()
            for seed in (7, 8)
        )
        self.law(
            torch.equal(A.detach(), again),
            f"{shown}\nanother A at the second call: draw with a generator that has this seed",
        )
        self.law(not torch.equal(again, other), f"{shown}\nthe seed 8 gives the same A")

    def layer(self, *arguments: Any, gives: tuple[list, list], because: str) -> None:
        """A worked example: the output and the merged weight."""
        parts = self.several(
            2, *arguments, what="the output and the merged weight", because=because
        )
        for name, part, wanted in zip(("output", "merged weight"), parts, gives, strict=True):
            self.equals(part, wanted, f"{self.shown(arguments)}: the {name}", because=because)

    def learns(self, *tensors: Tensor, alpha: float) -> None:
        """The gradient reaches A, B and x, but not what is frozen."""
        given = [x.clone().requires_grad_() for x in tensors]
        of = dict(zip(("x", "weight", "bias", "A", "B"), given, strict=True))
        shown = f"{self.shown((*tensors, alpha))} with requires_grad=True"
        answer, error = self._run((*given, alpha), "")
        if error is not None:
            self.fail(f"{shown}\n{self._raised(error)}")
        output, merged = answer
        self.law(
            not merged.requires_grad, f"{shown}\nthe merged weight has a gradient: .detach() it"
        )
        if not output.requires_grad:
            self.fail(f"{shown}\nthe output has lost the gradient", CUT)
        above = torch.linspace(0.5, 2, output.numel()).view_as(output)
        (output * above).sum().backward()
        for name in ("weight", "bias"):
            grad = of[name].grad
            self.law(
                grad is None or not grad.any(),
                f"{shown}\nthe frozen {name} gets a gradient, so it would learn: .detach() it",
            )
        for name in ("A", "B", "x"):
            self.law(of[name].grad is not None, f"{shown}\nno gradient reaches {name}")
        self.equals(
            of["x"].grad,
            above @ merged,
            f"{shown}: the gradient of x",
            because="frozen means that W does not learn; the gradient of x still flows through W, "
            "and through A and B",
        )


@task(
    13,
    "one more rank is one more row of A and one more column of B: how many numbers?",
    "torch.randn(r, d_in, generator=torch.Generator().manual_seed(seed)), torch.zeros",
)
def start_adapter(check: AdapterCheck) -> None:
    """A and B of the largest rank that a budget allows; they change nothing yet."""
    check.starts(6, 4, 29, 2, "each rank costs 6 + 4 = 10 numbers: 20 of 29")
    check.starts(3, 5, 24, 3, "each rank costs 3 + 5 = 8 numbers: exactly 24")
    check.starts(256, 768, 5000, 4, "each rank costs 256 + 768 = 1,024 numbers: 4,096 of 5,000")
    check.done("the rank, the start, the seed")


@task(
    13,
    "two ways for x: through the frozen layer, F.linear(x, weight, bias), and through A, "
    "then B; add the second, alpha / r times",
    "which tensors must be detached: weight, bias, the merged weight, but not x",
)
def adapted(check: AdapterCheck) -> None:
    """The output of a frozen layer with an adapter, and the merged weight."""
    weight, bias = torch.tensor([[1.0, 2], [0, 1]]), torch.tensor([10.0, 20])
    thin = torch.tensor([[1.0, -1]]), torch.tensor([[2.0], [1]])
    check.layer(
        *(torch.tensor([1.0, 2]), weight, bias, *thin, 3),
        gives=([9.0, 19], [[7.0, -4], [3, -2]]),
        because="as in the statement: (15, 22) from the frozen layer, 3 / 1 times (-2, -1) from "
        "the adapter",
    )
    check.layer(
        torch.tensor([[1.0, 0, 2], [0, 1, 1]]),
        *(torch.tensor([[1.0, 0, 1], [0, 2, 0]]), torch.tensor([0.0, 1])),
        *(torch.tensor([[1.0, 0, 0], [0, 1, 1]]), torch.tensor([[1.0, 2], [0, 4]]), 1),
        gives=([[5.5, 5], [3, 7]], [[1.5, 1, 2], [0, 4, 2]]),
        because="r = 2 and alpha = 1, so the adapter adds one half of (5, 8) and of (4, 8)",
    )
    check.layer(
        *(torch.tensor([[1.0, 2]]), weight, bias, thin[0], torch.zeros(2, 1), 3),
        gives=([[15.0, 22]], [[1.0, 2], [0, 1]]),
        because="at the start B is 0: the frozen layer and its weight",
    )
    check.done("one vector, two, the start")
    x, A, B = normal(3, 20, 16, seed=1), normal(4, 16, seed=2), normal(24, 4, seed=3)
    weight, bias = normal(24, 16, seed=4), normal(24, seed=5)
    arguments = x, weight, bias, A, B, 8.0
    output, merged = check.several(2, *arguments, what="the output and the merged weight")
    check.equals(
        *(output, F.linear(x, merged, bias), f"{check.shown(arguments)}: the output"),
        because="a plain layer with the merged weight has the same output",
    )
    check.learns(x, weight, bias, A, B, alpha=8.0)
    check.done("3 texts of 20 tokens, with all gradients")
