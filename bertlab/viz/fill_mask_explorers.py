"""Type a sentence with gaps, and see at once what the model reads into them."""

import html

from bertlab.model.fill_mask import fill_mask
from bertlab.model.heads import BertForPreTraining
from bertlab.tokenizers.encoding import MASK
from bertlab.tokenizers.tokenizer import Tokenizer
from bertlab.viz.fill_mask_bars import describe
from bertlab.viz.frames import read_asset
from bertlab.viz.text import Rendered
from bertlab.viz.text_boxes import TextBox, text_box


def fill_mask_explorer(
    model: BertForPreTraining, tokenizer: Tokenizer, text: str, top: int = 5
) -> TextBox:
    """A box to type in, and below it the model's best guesses for each [MASK], as bars.

    text: what stands in the box at first, with one [MASK] or several. Arguments and errors as in
    `fill_mask`; what is wrong with a text that is typed later stands in place of the bars.
    """
    explorer = text_box(
        lambda typed: guess_bars(model, tokenizer, typed, top),
        text,
        label=f"A sentence with {MASK}",
    )
    explorer.show(text)  # what is wrong with the arguments is said here
    return explorer


def guess_bars(
    model: BertForPreTraining, tokenizer: Tokenizer, text: str, top: int = 5
) -> Rendered:
    """The guesses of `fill_mask` as bars of HTML, quick enough to follow the keys.

    Below the `top` guesses of a gap stands what all other words share. All bars go from 0 to 100
    %. Arguments and errors as in `fill_mask`.
    """
    gaps = fill_mask(model, tokenizer, text, top)
    tables = "".join(
        _gap(f"{MASK} {number} of {len(gaps)}" if len(gaps) > 1 else MASK, guesses, tokenizer)
        for number, guesses in enumerate(gaps, 1)
    )
    return Rendered(
        f'<div class="bertlab-guesses"><style>{read_asset("fill_mask.css")}</style>{tables}</div>',
        describe(text, gaps),
    )


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
