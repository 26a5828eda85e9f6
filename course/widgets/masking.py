"""Which tokens were chosen and what replaces them, roll after roll, on one text."""

import html
from collections import Counter
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from bertlab.pretraining.masking import Masked
from bertlab.tokenizers.tokenizer import Tokenizer
from bertlab.tokenizers.words import MASK
from bertlab.viz.frames import Frame, read_asset
from course.widgets.flipbooks import bar, flipbook_grid

# The cases of a chosen token, and their names on the page; the key is also the CSS class.
FATES = {"masked": MASK, "random": "a random word", "unchanged": "unchanged"}
NOTHING = "·"  # at positions without a target


def masking_rolls(
    ids: Tensor,
    rolls: Mapping[str, Sequence[Masked]],
    tokenizer: Tokenizer,
    *,
    title: str = "Random masks",
) -> Frame:
    """Flip through random masks: what the model reads and, below it, what it must guess.

    ids: [L] or [1, L], the true text; rolls: for each way of masking its rolls, such as
    `[mask_tokens(ids, masking, generator) for _ in range(20)]`, the same number for each;
    tokenizer: of the ids. Below the tokens is the number of chosen ones, in this roll and in all
    up to it.

    Raises ValueError if there is no roll, if the ways have different numbers of them, or if a
    roll does not fit the text.
    """
    text = ids.reshape(-1)  # [L]
    numbers = {way: len(drawn) for way, drawn in rolls.items()}
    if not numbers or min(numbers.values()) < 1 or len(set(numbers.values())) > 1:
        raise ValueError(
            "masking_rolls: rolls must hold at least one way of masking, each with the same number "
            f"of rolls, at least one; got {numbers or 'none'}"
        )
    word_of = {id: word for word, id in tokenizer.vocab.items()}
    special = torch.isin(text, torch.tensor([tokenizer.vocab[t] for t in tokenizer.special_tokens]))
    pages, first = [], ""
    for way, drawn in rolls.items():
        row = []
        so_far: Counter[str] = Counter()
        for number, roll in enumerate(drawn):
            fates = _fates(text, roll, tokenizer.vocab[MASK], f"{way!r}, roll {number}")
            here = Counter(fates)
            so_far += here
            ordinary = int((~special).sum())
            shown = _tokens(text, roll, fates, special, word_of)
            row.append(shown + _counts(here, so_far, ordinary, ordinary * (number + 1)))
            first = first or _in_words(text, roll, fates, word_of)
        pages.append(row)
    total = next(iter(numbers.values()))
    return flipbook_grid(
        pages,
        list(rolls),
        [f"roll {number + 1} of {total}" for number in range(total)],
        row_name="Masking",
        column_name="Roll",
        title=title,
        alt=f"{total} rolls for each of {len(rolls)} ways of masking ({', '.join(rolls)}). Each "
        "page shows the tokens that the model reads, below them the words that it must guess, "
        f"and how many became {MASK}, a random word or stayed unchanged. First page: {first}.",
        css=read_asset("masking.css", __package__),
    )


def _fates(text: Tensor, roll: Masked, mask_id: int, name: str) -> list[str]:
    """For each token one of `FATES`, or "" if it is not a target."""
    hidden, predict = roll.ids.reshape(-1), roll.predict.reshape(-1)
    if hidden.shape != text.shape or predict.shape != text.shape:
        raise ValueError(
            f"masking_rolls: each roll must have {len(text)} tokens, as the text; in {name} ids "
            f"has {len(hidden)} and predict {len(predict)}"
        )
    if (changed := (hidden != text) & ~predict).any():
        raise ValueError(
            f"masking_rolls: only tokens to be guessed may change; in {name} the token at position "
            f"{changed.nonzero()[0].item()} differs and predict is False there; was it rolled for "
            "another text?"
        )
    fates = []
    for true, now, chosen in zip(text.tolist(), hidden.tolist(), predict.tolist(), strict=True):
        fate = "masked" if now == mask_id else "unchanged" if now == true else "random"
        fates.append(fate if chosen else "")
    return fates


def _tokens(
    text: Tensor, roll: Masked, fates: list[str], special: Tensor, word_of: Mapping[int, str]
) -> str:
    """One box per token: what is read, the true token, and its case."""
    boxes = []
    reads = roll.ids.reshape(-1).tolist()
    for true, now, fate, around in zip(text.tolist(), reads, fates, special.tolist(), strict=True):
        label = html.escape(word_of[true]) if fate else NOTHING
        kind = fate or ("special" if around else "kept")
        boxes.append(
            f'<li class="{kind}"><b>{html.escape(word_of[now])}</b><i>{label}</i>'
            f"<small>{fate}</small></li>"
        )
    return (
        '<p class="legend">Above, what the model reads; below, the label: the word that it must '
        f'guess ({NOTHING} none).</p><ul class="read">{"".join(boxes)}</ul>'
    )


def _counts(here: Counter, so_far: Counter, ordinary: int, seen: int) -> str:
    """How many tokens were chosen, and their cases: in this roll and in all up to it."""
    chosen, all_chosen = (sum(counts[fate] for fate in FATES) for counts in (here, so_far))
    rows = [("", "to be guessed", chosen, ordinary, all_chosen, seen)]
    rows += [
        (fate, f"… {name}", here[fate], chosen, so_far[fate], all_chosen)
        for fate, name in FATES.items()
    ]
    body = "".join(
        f'<tr class="{fate}"><th scope="row"><span></span>{name}</th><td>{n} of {of}</td>'
        f"<td>{all_n} of {all_of}</td><td>{_percent(all_n, all_of)}</td>"
        f"<td>{bar(all_n / all_of if all_of else 0)}</td></tr>"
        for fate, name, n, of, all_n, all_of in rows
    )
    return (
        '<table class="counts"><thead><tr><th></th><th scope="col">this roll</th>'
        '<th scope="col" colspan="3">all rolls so far</th></tr></thead>'
        f"<tbody>{body}</tbody></table>"
    )


def _in_words(text: Tensor, roll: Masked, fates: list[str], word_of: Mapping[int, str]) -> str:
    """A roll as alt text."""
    parts = [
        f"{word_of[true]} {'becomes ' + word_of[now] if now != true else 'stays'}"
        for true, now, fate in zip(text.tolist(), roll.ids.reshape(-1).tolist(), fates, strict=True)
        if fate
    ]
    return ", ".join(parts) or "no token is chosen"


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else ""
