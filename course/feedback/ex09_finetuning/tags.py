"""Checks of exercise 9 about tags: of words, of pieces, and from tags back to spans."""

from collections.abc import Callable, Iterator, Sequence

from course.feedback.checks import Check, Passed
from course.feedback.differences import a, short
from course.feedback.progress import task

OWN_CODE = (
    "uses bertlab's own code, which holds the answer to this task: write the steps yourself, with "
    "Python and PyTorch"
)
NAMES = ("O", "B-LOC", "I-LOC", "B-PER", "I-PER")
IGNORED = -100


class ListCheck(Check):
    """A check of a function that returns a list."""

    refused = OWN_CODE

    def as_long_as(self, numbers: list, *arguments: Sequence, what: str) -> list:
        """An answer with one item for each of `numbers`; `what` says what those are."""
        answer = self.call(*arguments)
        self.law(
            isinstance(answer, list) and len(answer) == len(numbers),
            f"{self.shown(arguments)}\nit must return a list with one item for each of "
            f"{len(numbers)} {what}; it returned {short(answer, 80)}"
            + (f", {len(answer)} items" if isinstance(answer, list) else f", {a(answer)}"),
        )
        return answer


@task("ex09_finetuning", 2)
def tags_of_words(function: Callable) -> Passed:
    """Spans of characters to tags of words."""
    check = ListCheck(
        "tags_of_words",
        function,
        hints=(
            "begin with [OUTSIDE] * len(words), then go through the spans and fill in",
            "a word lies in a span if start <= its first character and its end <= end; the one "
            "that begins at start gets B-, the others I-",
        ),
    )
    check.example(
        [(0, 3), (4, 8), (9, 14), (15, 21)],
        [(0, 8, "LOC")],
        gives=["B-LOC", "I-LOC", "O", "O"],
        because="New York never sleeps: two words in one span, two outside",
        mistakes=[
            (["I-LOC", "I-LOC", "O", "O"], "the first word of a span gets B-"),
            (["B-LOC", "B-LOC", "O", "O"], "only the first word of a span gets B-, the others I-"),
            (["I-LOC", "B-LOC", "O", "O"], "the first word gets B-, the others I-"),
            (["B-LOC", "I-LOC", "I-LOC", "O"], "a word too many: the span ends at character 8"),
            (["B-LOC", "O", "O", "O"], "a span may cover several words: each of them gets a tag"),
            (["O", "I-LOC", "O", "O"], "the word at the span's start is missing"),
            (["O", "O", "O", "O"], "all words from the span's start to its end get a tag"),
            (["LOC", "LOC", "O", "O"], "a tag is B- or I- and the label"),
            (["B", "I", "O", "O"], "the label belongs to the tag: B-LOC, I-LOC"),
            (["B-LOC", "I-LOC"], "every word has a tag, O if it lies in no span"),
            (["B-LOC", "I-LOC", "", ""], "a word that lies in no span has the tag O"),
            (["B-LOC", "I-LOC", None, None], "a word that lies in no span has the tag O"),
        ],
    )
    check.example(
        [(0, 5), (5, 6), (7, 11)],
        [(7, 11, "LOC"), (0, 5, "LOC")],
        gives=["B-LOC", "O", "B-LOC"],
        because="Paris, Rome: spans come in any order",
        mistakes=[
            (
                ["B-LOC", "I-LOC", "B-LOC"],
                "the comma begins at 5, where Paris ends: `end` is the first character behind",
            ),
            (["B-LOC", "O", "I-LOC"], "each span begins with B-"),
            (["O", "O", "B-LOC"], "one of the spans is lost: they come in any order"),
            (["B-LOC", "O", "O"], "one of the spans is lost: they come in any order"),
        ],
    )
    also_b = "two spans side by side: the second one begins with B-, too. That is what B is for"
    check.example(
        [(0, 3), (4, 9), (10, 14)],
        [(0, 3, "PER"), (4, 9, "LOC"), (10, 14, "LOC")],
        gives=["B-PER", "B-LOC", "B-LOC"],
        because="Ada Paris Rome: three spans side by side",
        mistakes=[
            (["B-PER", "B-LOC", "I-LOC"], also_b),
            (["B-PER", "I-LOC", "I-LOC"], also_b),
            (["B-LOC", "B-LOC", "B-LOC"], "each span has a label of its own"),
        ],
    )
    check.done("three texts by hand")
    check.example([], [], gives=[], because="no words, no tags")
    check.example([(0, 2), (3, 4)], [], gives=["O", "O"], because="no spans: every word is outside")
    words, tags, spans, _ = long_text()
    answer = check.as_long_as(words, words, spans, what="words")
    place = next((n for n in range(len(tags)) if answer[n] != tags[n]), None)
    if place is not None:
        near = [span for span in spans if span[0] < words[place][1] and words[place][0] < span[1]]
        check.fail(
            f"a text of {len(words)} words: word {place}, {words[place]}, has the tag "
            f"{answer[place]!r}, not {tags[place]!r}",
            f"its span is {near[0]}" if near else "it lies in no span",
        )
    check.done(f"no spans; a text of {len(words)} words")
    return check.passed()


def long_text() -> tuple[list, list[str], list, list[tuple[int, int, str]]]:
    """Words, their tags, the spans of characters that these say (last first), and of words."""
    tags: list[str] = []
    words, runs, at = [], [], 0
    for number, label in enumerate(("LOC", "PER", "PER", "MISC") * 25):
        inside = 1 + number * 5 % 4
        runs.append((len(tags), len(tags) + inside, label))
        tags += [
            f"B-{label}",
            *[f"I-{label}"] * (inside - 1),
            *["O"] * (number * 3 % 3 + number % 2),
        ]
    for number in range(len(tags)):
        length = 1 + number * 7 % 5
        words.append((at, at + length))
        at += length + number % 2  # every other word touches the next one
    spans = [(words[first][0], words[after - 1][1], label) for first, after, label in runs]
    return words, tags, spans[::-1], runs


@task("ex09_finetuning", 3)
def first_pieces(function: Callable) -> Passed:
    """Which piece is the first one of which word."""
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
    special = "(0, 0) is [CLS] or [SEP]: it covers no character, so it is a piece of no word"
    check.example(
        [(0, 3), (4, 10)],
        [(0, 0), (0, 3), (4, 9), (9, 10), (0, 0)],
        gives=[-1, 0, 1, -1, -1],
        because="[CLS] Zoë sleep ##s [SEP]: piece 1 is the first of word 0, piece 2 of word 1",
        mistakes=[
            ([0, -1, 1, -1, -1], special),
            ([0, 0, 1, -1, 0], special),
            ([0, 0, 1, 1, 0], special),
            ([0, -1, 1, -1, 0], special),
            ([-1, 0, 1, 1, -1], "##s is the second piece of its word: -1"),
            ([-1, 0, -1, 1, -1], "the first piece of a word counts, not its last one"),
            ([-1, 0, 1, 2, -1], "the number is that of the word: ##s belongs to word 1, too"),
            ([-1, 1, 2, -1, -1], "words are counted from 0"),
            ([None, 0, 1, None, None], "what is no first piece has -1"),
            ([1, 2], "one number for each piece, not for each word"),
            ([0, 1], "one number for each piece, not only for those that come first"),
        ],
    )
    check.example(
        [(0, 1), (1, 2), (2, 5)],
        [(0, 1), (1, 2), (2, 3), (3, 5)],
        gives=[0, 1, 2, -1],
        because='"a,bcd" without special tokens: three words without a blank between them',
        mistakes=[
            (
                [0, -1, -1, -1],
                "a new word need not follow a blank: it begins where `words` says so",
            ),
            ([0, -1, 1, 2], "a word ends in front of its `end`: character 1 is the comma's"),
            ([0, 1, 2, 2], "the last piece is the second one of its word: -1"),
        ],
    )
    check.done("special tokens, later pieces, words that touch")
    check.example(
        [(0, 4), (5, 9)],
        [(0, 0), (1, 4), (5, 7), (7, 8), (0, 0)],
        gives=[-1, 0, 1, -1, -1],
        because="word 0 begins with a character that BERT drops (a soft hyphen), so its first "
        "piece begins at 1: ask in which word a piece lies, not whether both begin together",
        mistakes=[
            ([0, -1, 1, -1, -1], special),
        ],
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
            f"{len(words)} words in {len(offsets)} pieces: piece {place}, {offsets[place]}, behind "
            f"{offsets[place - 1]}: expected {numbers[place]}, got {short(answer[place])}",
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
def piece_targets(function: Callable) -> Passed:
    """What the tagger shall say of each piece."""
    check = ListCheck(
        "piece_targets",
        function,
        hints=(
            "a tag's number is its place in names: names.index(tag)",
            "go through `first`: IGNORED if the number is -1, else the tag of that word",
        ),
    )
    ignored = "what is not asked has IGNORED, -100"
    last = "tags[-1] is the tag of the *last* word, for Python counts -1 from the end; -1 means "
    check.example(
        ["O", "B-PER"],
        [-1, 0, 1, -1, -1],
        NAMES,
        gives=[IGNORED, 0, 3, IGNORED, IGNORED],
        because="[CLS] dear Zo ##ë [SEP]: two pieces are asked, one for each word",
        mistakes=[
            ([0, 0, 3, 0, 0], f"0 is the tag O, and a model would learn it there: {ignored}"),
            ([-1, 0, 3, -1, -1], f"-1 says whose first piece it is, not which tag: {ignored}"),
            ([3, 0, 3, 3, 3], f"{last}IGNORED here"),
            ([IGNORED, 0, 3, 3, 3], f"##ë is the second piece of its word: {ignored}"),
            ([IGNORED, "O", "B-PER", IGNORED, IGNORED], "numbers are wanted: places in names"),
            ([IGNORED, 0, 1, IGNORED, IGNORED], "that is the number of the word, not of its tag"),
            ([0, 3], "one number for each piece, not for each word"),
            ([IGNORED, 1, 4, IGNORED, IGNORED], "a tag's number is its place in names, from 0"),
        ],
    )
    check.example(
        ["O", "B-PER", "I-PER"],
        [-1, 0, -1, 1, 2, -1],
        NAMES,
        gives=[IGNORED, 0, IGNORED, 3, 4, IGNORED],
        because="three words, the first one in two pieces",
    )
    check.example(
        ["O", "B-X", "O"],
        [0, 1],
        ("B-X", "I-X", "O"),
        gives=[2, 0],
        because="names decides which number a tag has; word 2 has no piece, for the text was cut",
        mistakes=[([0, 1], "names decides which number a tag has: here O has 2")],
    )
    check.done("special tokens, later pieces, other names, a text that was cut")
    _, tags, _, _ = long_text()
    names = ("O", *(f"{prefix}-{label}" for label in ("MISC", "PER", "LOC") for prefix in "IB"))
    first = [number // 2 if number % 2 else -1 for number in range(2 * len(tags))]
    answer = check.as_long_as(first, tags, first, names, what="pieces")
    for number, got in zip(first, answer, strict=True):
        said = f"a text of {len(tags)} words, names {names}"
        if number < 0:
            check.law(got == IGNORED, f"{said}: {short(got)} where nothing is asked")
            continue
        known = isinstance(got, int) and 0 <= got < len(names)
        check.law(
            known and names[got] == tags[number],
            f"{said}: the tag {tags[number]!r} has got the number {short(got)}",
        )
    check.done(f"{len(first)} pieces")
    return check.passed()


@task("ex09_finetuning", 6)
def tag_runs(function: Callable) -> Passed:
    """The spans that tags say."""
    check = ListCheck(
        "tag_runs",
        function,
        hints=(
            "O: nothing. I that continues: the last span ends one word later. Else: a new span",
            "it continues if the last span ends right in front of this word and has this label: "
            "runs[-1][1:] == (number, label)",
        ),
    )
    for tags, gives, because, mistakes in _runs_by_hand():
        check.example(tags, gives=gives, because=because, mistakes=mistakes)
    check.done("spans that follow each other, labels with hyphens, tags that no person would write")
    _, tags, _, runs = long_text()
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


def _runs_by_hand() -> Iterator[tuple[list[str], list, str, list]]:
    """Worked examples: tags, spans, the rule, and known mistakes."""
    behind = "the second number is that of the word *behind* the span, as in tags[first:after]"
    yield (
        ["B-LOC", "I-LOC", "O", "B-PER"],
        [(0, 2, "LOC"), (3, 4, "PER")],
        "words 0 and 1 are a LOC, word 3 is a PER",
        [
            ([(0, 1, "LOC"), (3, 3, "PER")], behind),
            ([(0, 2, "LOC")], "the last span is lost: it ends with the text, and no O follows"),
            ([(0, 1, "LOC"), (1, 2, "LOC"), (3, 4, "PER")], "I-LOC continues the LOC before it"),
            ([(0, 1, "LOC"), (3, 4, "PER")], "I-LOC continues the LOC before it"),
            ([(0, 2, "B-LOC"), (3, 4, "B-PER")], "the label alone, without B-"),
            ([("LOC", 0, 2), ("PER", 3, 4)], "first the two numbers, then the label"),
            ([[0, 2, "LOC"], [3, 4, "PER"]], "each span is a tuple: (0, 2, 'LOC')"),
            ([(0, 2), (3, 4)], "each span has its label as well"),
        ],
    )
    yield (
        ["B-LOC", "B-LOC", "I-LOC"],
        [(0, 1, "LOC"), (1, 3, "LOC")],
        "B begins a span, whatever stands before it",
        [([(0, 3, "LOC")], "two spans side by side: B begins a new one, even with the same label")],
    )
    nothing = "a model says such things: an I that follows nothing of its label begins a span"
    yield (
        ["O", "I-PER", "I-PER", "O", "I-LOC"],
        [(1, 3, "PER"), (4, 5, "LOC")],
        nothing,
        [
            ([], nothing),
            ([(1, 2, "PER"), (2, 3, "PER"), (4, 5, "LOC")], "the second I-PER continues it"),
        ],
    )
    yield (
        ["B-PER", "I-LOC", "I-LOC"],
        [(0, 1, "PER"), (1, 3, "LOC")],
        "I-LOC cannot continue a PER: it begins a span, and the next I-LOC continues that",
        [
            ([(0, 3, "PER")], "I-LOC does not continue a PER: compare the labels"),
            (
                [(0, 1, "PER"), (1, 2, "LOC"), (2, 3, "LOC")],
                "the second I-LOC continues the span that the first one began",
            ),
        ],
    )
    between = "an O stands between them: this I follows nothing, so it begins a span"
    yield (
        ["B-PER", "O", "I-PER"],
        [(0, 1, "PER"), (2, 3, "PER")],
        between,
        [([(0, 3, "PER")], between), ([(0, 2, "PER")], between), ([(0, 1, "PER")], nothing)],
    )
    yield (
        ["B-work-of-art", "I-work-of-art"],
        [(0, 2, "work-of-art")],
        "the label is all that stands behind the *first* hyphen",
        [
            ([(0, 2, "work")], "a label may hold hyphens: cut at the first one only"),
            ([(0, 2, "art")], "a label may hold hyphens: cut at the first one, not at the last"),
        ],
    )
    yield (["O", "O"], [], "no span", [])
    yield ([], [], "no words, no spans", [])
