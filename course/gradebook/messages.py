"""What the message of a failed test says: a known diagnosis, or a result that has none.

A check's message is `NAME: CALL`, then what was wrong, then "→" with a sentence that helps if the
mistake is a known one, or else what the case is about, then hints; a law of a check is one
sentence. A hidden test's message is that of its assertion. Parts of a message are a student's, such
as the text of an error, so nothing of it may be trusted.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from course.feedback.checks import CASE

# The kinds of failures, as they are printed before the message.
MISTAKE, UNWRITTEN, LIBRARY = "", "not written", "uses code that holds the answer"
STOPPED, UNKNOWN, HIDDEN = "stopped: ", "no known diagnosis: ", "only the hidden test fails: "
LASTING = (MISTAKE, UNWRITTEN, LIBRARY)  # listed even if everybody has repaired it
ERRORS = {
    "NotWritten": UNWRITTEN,
    "NotImplementedError": UNWRITTEN,
    "LibraryUsed": LIBRARY,
    "not finished": STOPPED,  # `course.grading.room.STOPPED`
}

HINT = re.compile(r"Hint \d+: ")
# What a check says of one answer, which differs from student to student.
ANSWER = re.compile(r"; (it (returned|made)|got)\b.*")
# A check's own lines that say more than the rule of its example.
TELLING = ("it must return ", "its dtype must be ", "changed its input", "does not come to an end")
INNERMOST = re.compile(r"\([^()\[\]{}]*\)|\[[^()\[\]{}]*\]|\{[^()\[\]{}]*\}")
LITERAL = re.compile(r"'[^']*'|\"[^\"]*\"|-?\b\d[\d.,e+-]*\b")
DEEPEST = 8  # brackets inside each other; a message of 1,000 must not take time

Key = tuple[str, str]


class Failure(NamedTuple):
    """One failed task of a hand-in: those with equal kind and key are one group.

    lines: what is printed; message: what the test said.
    """

    kind: str
    key: str
    lines: tuple[str, ...]
    message: str


def failure(cell: str, name: str, message: str) -> Failure:
    """What the message of a failed test says.

    >>> failure("test-cut", "CheckFailed", "cut: cut('ab')\\n  got 1\\n  → take both").lines
    ('take both',)
    >>> failure("hidden-cut", "AssertionError", "AssertionError: cut('ba') gives 3")[:3]
    ('only the hidden test fails: ', 'cut… gives …', ("cut('ba') gives 3",))
    """
    who, _, said = message.partition(": ")
    if name not in ("CheckFailed", "AssertionError"):
        said = message
    lines = [line.strip() for line in said.splitlines()]
    lines = [line for line in lines if line and not line.startswith("in your line: ")]
    while lines and HINT.match(lines[-1]):
        lines.pop()
    kind = ERRORS.get(name, UNKNOWN)
    if name == "CheckFailed" and said.startswith("uses ") and "the answer to this task" in said:
        kind = LIBRARY
    if kind in (UNWRITTEN, LIBRARY):
        return Failure(kind, "", (), message)
    if name == "CheckFailed" and kind == UNKNOWN and (known := _diagnosis(who, lines)):
        return Failure(MISTAKE, "\n".join(known), known, message)
    if kind == UNKNOWN and cell.startswith("hidden-"):
        kind = HIDDEN
    result = tuple(line for line in lines if not line.startswith(("→", CASE)))
    key = "\n".join(result)
    return Failure(kind, key if kind == UNKNOWN else _form(key), result, message)


def _diagnosis(who: str, lines: Sequence[str]) -> tuple[str, ...]:
    """The check's own sentences in its message; an error has none, whatever the example's rule."""
    if any(line.startswith("raised ") for line in lines):
        return ()
    arrows = [number for number, line in enumerate(lines) if line.startswith(("→", CASE))]
    told = " ".join(lines[arrows[-1] :]) if arrows else ""
    if lines and lines[0].startswith(f"{who}("):  # a call
        telling = [line for line in lines if line.startswith(TELLING)][:1]
    else:  # a law: without the answer that breaks it
        telling = [ANSWER.sub("", line) for line in lines[:1] if arrows or len(lines) == 1]
    if not telling:
        return (told.removeprefix("→ ").removeprefix(CASE),) if told else ()
    return (*telling, told) if told else tuple(telling)


def _form(text: str) -> str:
    """The text without numbers, strings and what is in brackets: inputs are drawn per student."""
    text = LITERAL.sub("…", text)
    for _ in range(DEEPEST):
        text = INNERMOST.sub("…", text)
    return re.sub("…(, …|…)*", "…", text)
