"""Checks of exercise 9 about whole spans: how many were found, and which one is the answer."""

from collections.abc import Callable, Sequence
from math import inf
from numbers import Real
from typing import Any

import torch
from torch import Tensor

from course.feedback.checks import Check, Passed
from course.feedback.differences import difference, short
from course.feedback.ex09_finetuning.tags import OWN_CODE, long_text
from course.feedback.mutants import MutationCheck
from course.feedback.progress import task
from course.feedback.tensors import TOLERANCE, TensorCheck, normal

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


@task("ex09_finetuning", 5)
def entity_f1(function: Callable) -> Passed:
    """Precision, recall and F1 of whole spans."""
    check = ScoresCheck(
        "entity_f1",
        function,
        hints=(
            "collect the spans of all texts, true and guessed, in two sets; what both sets contain "
            "is right",
            "{(text, *run) for text, tags in enumerate(texts) for run in tag_runs(tags)}",
        ),
    )
    check.scores(
        [["B-PER", "I-PER", "O", "B-LOC"]],
        [["B-PER", "O", "O", "B-LOC"]],
        (0.5, 0.5, 0.5),
        because="true are (0, 2, PER) and (3, 4, LOC); of the guesses (0, 1, PER) and (3, 4, LOC) "
        "one is right. Half a span does not count",
    )
    _several_texts(check)
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
    return check.passed()


def _several_texts(check: ScoresCheck) -> None:
    check.scores(
        [["B-LOC", "O", "O", "O"], ["B-LOC", "O", "B-PER", "O"]],
        [["B-LOC", "O", "O", "O"], ["O", "B-LOC", "B-PER", "B-LOC"]],
        (1 / 2, 2 / 3, 4 / 7),
        because="in both texts together 3 true spans, 4 guessed ones, 2 of them right",
    )


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


@task("ex09_finetuning", 6)
def examine_entity_f1(function: Callable, own: Callable) -> Passed:
    """A test of `entity_f1`, tried on the student's own and on three wrong ones."""
    check = MutationCheck(
        "examine_entity_f1",
        function,
        hints=(
            "three texts, with more guesses than true spans: work out precision, recall and F1",
            "one more call for each sentence of task 5; compare all three numbers",
        ),
    )
    check.needs("entity_f1", 5, own, [["O"]], [["O"]])
    check.passes(own, "your own `entity_f1`")
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
    return check.passed()


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


@task("ex09_finetuning", 7)
def best_span(function: Callable) -> Passed:
    """From scores to an answer."""
    check = AnswerCheck(
        "best_span",
        function,
        hints=(
            "tokens that may be part of an answer: segment 1, and start < end in offsets",
            "two loops over those tokens, the second one from i to i + max_tokens - 1; keep the "
            "best S_i + E_j and its (i, j), and compare with S_0 + E_0 at the end",
        ),
    )
    check.answers(
        *(LOGITS, OFFSETS, SEGMENTS),
        gives=(12, 20),
        because='"the lake", tokens 9 to 10, scores 6 + 1 = 7',
    )
    check.done("the worked example")
    _unanswered(check)
    _short_ones(check)
    _long_passage(check)
    return check.passed()


def _unanswered(check: AnswerCheck) -> None:
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


def _short_ones(check: AnswerCheck) -> None:
    many = "max_tokens counts tokens of the answer: from 9 to 10 are two"
    check.answers(
        *(LOGITS, OFFSETS, SEGMENTS, 1),
        gives=(0, 3),
        because='of all answers of one token "Jim", 3 + 3 = 6, is the best',
    )
    check.answers(*(LOGITS, OFFSETS, SEGMENTS, 2), gives=(12, 20), because=many)
    check.done("only short answers")


def _long_passage(check: AnswerCheck) -> None:
    """400 tokens: the largest pairs are too long, in the question, or reversed."""
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
