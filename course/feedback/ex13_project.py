"""Checks of exercise 13, the project: does an entry run, in time, and return its files?"""

from math import isfinite

from bertlab.data.corpora import documents
from bertlab.model.heads import BertForPreTraining
from bertlab.tokenizers import WordPiece
from course.feedback.checks import Check, NotWritten, checks_of, is_unwritten
from course.project.entries import TIME, opened
from course.project.scoring import masked_bits
from course.project.texts import cut

# `check.progress()` shows how far you are, `@task` declares a check.
progress, task = checks_of("ex13_project")

# Budgets of the dry run, enough for some steps but not for a meaningful score. A slow machine gets
# the second: there the texts alone may take the first, and a step that begins in time ends late.
DRY_SECONDS = 3.0, 9.0
LATE = 1.3  # times the budget, because a single step is long
TRAINED_ON = 12  # documents of Python's manual, which need no download


@task(
    1,
    "the baseline passes: begin with a copy of it and change one thing at a time",
    "`clock = Clock(seconds)` is the first line; call `clock.used()` at each step",
)
def entry(check: Check) -> None:
    """A dry run of a few seconds on a short text."""
    manual = documents("python-topics")
    for seconds in DRY_SECONDS:
        call = f"entry(texts, seed=0, seconds={seconds:g})"
        model, tokenizer, used = _dry_run(check, call, manual[:TRAINED_ON], seconds)
        if used <= LATE:
            break
    check.law(
        used <= LATE,
        f"{call}\nused {used:.0%} of its processor time; ask `clock.used()` before each step, and "
        "stop before it is 1",
    )
    passages = [passage for text in manual[-TRAINED_ON:] for passage in cut(text)]
    bits = masked_bits(model.eval(), tokenizer, passages).per_byte
    check.law(isfinite(bits), f"{call}\nits score is {bits}: the training diverged")
    check.done(f"the files fit, {used:.0%} of {seconds:g} s used, {bits:.2f} bits in a dry run")


def _dry_run(
    check: Check, call: str, texts: list[list[str]], seconds: float
) -> tuple[BertForPreTraining, WordPiece, float]:
    """The model and the tokenizer of an entry, and the used share of its budget."""
    try:
        files = check.function(texts, 0, seconds)
    except Exception as error:
        if is_unwritten(error):
            raise NotWritten(
                "entry: not written yet. Begin with a copy of the baseline's lines in place of the "
                "line that raises NotImplementedError"
            ) from None
        check.fail(f"{call}\nraised {type(error).__name__}: {error}")
    try:
        return *opened(files), float(files[TIME])
    except ValueError as error:
        check.fail(f"{call}\n{error}")


@task(2, "write `return` and a number")
def predict_bits(check: Check) -> None:
    """A number above 0, of the student's choice."""
    answer = check.call()
    number = isinstance(answer, int | float) and not isinstance(answer, bool)
    check.law(number, f"a prediction is a number; it returned {answer!r}")
    check.law(isfinite(answer) and answer > 0, f"it must be above 0; it returned {answer!r}")
    check.done(f"you predict {answer:g} bits per masked byte")
