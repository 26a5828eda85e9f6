"""A model's words for the gaps of a text: as a picture, or for a sentence that you type."""

import html
import textwrap
from dataclasses import replace

from bertlab.model.heads import BertForPreTraining, fill_mask
from bertlab.tokenizers.tokenizer import Tokenizer
from bertlab.tokenizers.words import MASK
from bertlab.viz.frames import read_asset
from bertlab.viz.pictures import COLOURS, Picture, finish, plain_text
from bertlab.viz.text import Rendered
from course.widgets.text_boxes import TextBox, text_box

SIDE_BY_SIDE = 3  # gaps in a row


def fill_mask_bars(
    model: BertForPreTraining, tokenizer: Tokenizer, text: str, top: int = 5
) -> Picture:
    """The most probable words for each [MASK] of a text, with their probabilities in percent.

    Arguments and errors as in `fill_mask`, which returns the numbers. All gaps have the same scale.
    """
    from matplotlib.figure import Figure

    gaps = fill_mask(model, tokenizer, text, top)
    columns = min(len(gaps), SIDE_BY_SIDE)
    rows = -(-len(gaps) // columns)
    wide, high = max(5.4, 3.2 * columns), (0.26 * top + 1.1) * rows + 0.4
    figure = Figure(figsize=(wide, high), layout="constrained")
    for number, guesses in enumerate(gaps, 1):
        ax = figure.add_subplot(rows, columns, number)
        words, percent = zip(*((word, 100 * share) for word, share in guesses), strict=True)
        drawn = ax.barh(range(top), percent, color=COLOURS[0], height=0.7)
        ax.bar_label(drawn, [f"{value:.1f} %" for value in percent], padding=3, fontsize=9)
        ax.set_yticks(range(top), [plain_text(word) for word in words])
        ax.invert_yaxis()  # the best guess on top
        ax.set_xlim(0, 125 * max(guesses[0][1] for guesses in gaps))  # room for the labels
        ax.set_xticks([tick for tick in ax.get_xticks() if tick <= min(100, ax.get_xlim()[1])])
        name = f"[MASK] number {number}" if len(gaps) > 1 else ""
        picture = finish(ax, "probability (%)", "guess", name, describe(text, gaps))
    sentence = textwrap.fill(plain_text(text), int(wide * 11))
    figure.suptitle(sentence, fontsize=11, x=0.01, ha="left", fontweight="bold")
    return picture


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
