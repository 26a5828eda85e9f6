"""Checks of exercise 9 about tags: of words, of pieces, and from tags back to spans."""

from collections.abc import Callable, Iterator, Sequence

from course.feedback.checks import Check, Passed
from course.feedback.differences import a, short
from course.feedback.progress import task

OWN_CODE = (
    "uses bertlab's own code, which contains the answer to this task: write the steps yourself, "
    "with Python and PyTorch"
)
IGNORED = -100


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


@task("ex09_finetuning", 2)
def first_pieces(function: Callable) -> Passed:
    """For each piece the word of which it is the first."""
    check = ListCheck(
        "first_pieces",
        function,
        hints=(
            "for each piece: the word in which it lies, if there is one, and if no piece before "
            "it lay in that word",
            "a piece (start, end) lies in word (a, b) if start < end and a <= start < b; keep the "
            "number of the last word that has had its first piece",
        ),
    )
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
            f"the words near it are {short(words[max(0, numbers[place] - 1) :][:3])}",
        )
    check.done(f"{len(offsets)} pieces")
    return check.passed()


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


@task("ex09_finetuning", 4)
def bioes_runs(function: Callable) -> Passed:
    """The complete spans of tags with an end."""
    check = ListCheck(
        "bioes_runs",
        function,
        hints=(
            "one variable is enough: the number of the last B whose span is still open, or None",
            "S: a span of one word. B: open here. I: leave it open if the labels are the same. E: "
            "the same, and the span is complete. In all other cases no span is open afterwards",
        ),
    )
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
    return check.passed()


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
