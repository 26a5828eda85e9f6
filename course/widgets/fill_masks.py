"""A model's words for the masks of a sentence that you type."""

import html
from dataclasses import replace

from bertlab.model.heads import BertForPreTraining, fill_mask
from bertlab.tokenizers.tokenizer import Tokenizer
from bertlab.tokenizers.words import MASK
from bertlab.viz.frames import read_asset
from bertlab.viz.text import Rendered
from course.widgets.text_boxes import TextBox, text_box


def fill_mask_explorer(
    model: BertForPreTraining, tokenizer: Tokenizer, text: str, top: int = 5
) -> TextBox:
    """A text box, and below it the model's best guesses for each [MASK], as bars.

    text: the initial text, with at least one [MASK]. Arguments and errors as in `fill_mask`; an
    error in a text that is typed later is shown instead of the bars.
    """
    explorer = text_box(
        lambda typed: guess_bars(model, tokenizer, typed, top),
        text,
        label=f"A sentence with {MASK}",
    )
    explorer.show(text)  # raises errors of the arguments
    return replace(explorer, live=("pieces", "guess"))


def guess_bars(
    model: BertForPreTraining, tokenizer: Tokenizer, text: str, top: int = 5
) -> Rendered:
    """The guesses of `fill_mask` as HTML bars, fast enough for every key press.

    Below the `top` guesses of a gap is the total of all other words. All bars go from 0 to 100 %.
    Arguments and errors as in `fill_mask`.
    """
    gaps = fill_mask(model, tokenizer, text, top)
    tables = "".join(
        _gap(f"{MASK} {number} of {len(gaps)}" if len(gaps) > 1 else MASK, guesses, tokenizer)
        for number, guesses in enumerate(gaps, 1)
    )
    style = read_asset("fill_mask.css", __package__)
    return Rendered(
        f'<div class="bertlab-guesses"><style>{style}</style>{tables}</div>', describe(text, gaps)
    )


def describe(text: str, gaps: list[list[tuple[str, float]]]) -> str:
    """The bars in words.

    >>> describe("A [MASK].", [[("cat", 0.75), ("dog", 0.25)]])
    'Guesses for "A [MASK].". [MASK]: cat 75.0 %, dog 25.0 %.'
    """
    parts = [f'Guesses for "{text}".']
    for number, guesses in enumerate(gaps, 1):
        name = "[MASK]" if len(gaps) == 1 else f"[MASK] number {number}"
        listed = ", ".join(f"{word} {share:.1%}".replace("%", " %") for word, share in guesses)
        parts.append(f"{name}: {listed}.")
    return " ".join(parts)


def _gap(name: str, guesses: list[tuple[str, float]], tokenizer: Tokenizer) -> str:
    rest = len(tokenizer.vocab) - len(guesses)
    rows = "".join(_row(html.escape(word), share, "") for word, share in guesses)
    if rest:
        left = max(0.0, 1 - sum(share for _, share in guesses))
        rows += _row(f"the other {rest:,}", left, ' class="rest"')
    return f"<table><caption>{name}</caption><tbody>{rows}</tbody></table>"


def _row(word: str, share: float, kind: str) -> str:
    return (
        f'<tr{kind}><th scope="row">{word}</th><td class="bar"><span style="width:'
        f'{100 * share:.2f}%"></span></td><td class="share">{100 * share:.1f} %</td></tr>'
    )
