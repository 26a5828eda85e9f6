"""What a tour shows before its model is loaded: sentences read in Python, drawn as HTML.

`tour.js` draws the same of these and of a typed sentence; a test in the browser compares the two.
"""

import base64
import html
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from bertlab.model.bert import evaluation_mode
from bertlab.model.heads import BertForPreTraining, fill_mask
from bertlab.model.pretrained import load_pretrained
from bertlab.tokenizers.files import load_tokenizer
from bertlab.tokenizers.tokenizer import Tokenizer
from bertlab.tokenizers.words import MASK

LAYER = 1  # shown first, if the model has it: most of its heads look for pieces just before


class Example(NamedTuple):
    """A sentence with one [MASK], which can be chosen in a tour."""

    label: str  # of its button
    text: str
    note: str  # HTML: what it shows; {word} and {share} are the model's first prediction
    wrong: bool = False  # whether the model's prediction is


class Answer(NamedTuple):
    """What the model makes of an example, in the precision in which it is shown."""

    example: Example
    tokens: list[str]
    ids: list[int]
    shares: Tensor  # [layers, H, L, L] int8: percent of attention
    states: Tensor  # [layers + 1, L, D] int8: tenths
    guesses: list[dict[str, Any]]  # as those of bert.js

    @property
    def note(self) -> str:
        """The example's note with the word that the model predicts."""
        word, share = self.guesses[0]["best"][0]
        return self.example.note.format(word=f"<em>{word}</em>", share=f"{100 * share:.0f} %")


def read(examples: Sequence[Example], folder: Path) -> list[Answer]:
    """Run the model of a folder on each example."""
    model, tokenizer = load_pretrained(folder, BertForPreTraining), load_tokenizer(folder)
    return [_read(example, model, tokenizer) for example in examples]


def _read(example: Example, model: BertForPreTraining, tokenizer: Tokenizer) -> Answer:
    encoded = tokenizer.encode(example.text)
    with evaluation_mode(model), torch.no_grad():
        ids = torch.tensor([encoded.ids])
        output = model.bert(ids, output_hidden_states=True, output_attentions=True)
    (best,) = fill_mask(model, tokenizer, example.text)
    best = [(word, round(share, 6)) for word, share in best]
    return Answer(
        example,
        encoded.tokens,
        encoded.ids,
        _small(100 * torch.cat(output.attentions)),
        _small(10 * torch.cat(output.hidden_states)),
        [{"position": encoded.tokens.index(MASK), "best": best}],
    )


def _small(numbers: Tensor) -> Tensor:
    return numbers.round().clamp(-127, 127).to(torch.int8)


def packed(answer: Answer) -> dict[str, Any]:
    """The answer for `tour.js`, which shows another one when the reader chooses it."""
    tensors = {"shares": answer.shares, "states": answer.states}
    return {
        "text": answer.example.text,
        "note": answer.note,
        "tokens": answer.tokens,
        "ids": answer.ids,
        "guesses": answer.guesses,
        **{
            name: base64.b64encode(numbers.numpy().tobytes()).decode()
            for name, numbers in tensors.items()
        },
    }


def drawn(answer: Answer) -> dict[str, str]:
    """HTML for the places of `tour.html`: the words with arcs, and the five stations."""
    (guess,) = answer.guesses
    place, layer = guess["position"], min(LAYER, len(answer.shares) - 1)
    tokens = [html.escape(token) for token in answer.tokens]
    shares = answer.shares[layer, :, place]  # [H, L]
    states = answer.states[:, place].tolist()  # [layers + 1, D]
    name = tokens[place]
    return {
        "style": f"--n: {len(tokens)}; --from: {place}",
        "arcs": "".join(map(_arcs, shares.tolist())),
        "words": "".join(_piece(k, token, guess) for k, token in enumerate(tokens)),
        "note": answer.note,
        "reading": _reading(name, layer, tokens, shares),
        "ids": "".join(
            f"<li>{token} <small>{id}</small></li>"
            for token, id in zip(tokens, answer.ids, strict=True)
        ),
        "strip": _strip(states[0], f"{name}, before the first layer"),
        "shares": _table_of_heads(name, layer, tokens, shares),
        "strips": "".join(
            _strip(state, f"{name}, after layer {k}") for k, state in enumerate(states[1:])
        ),
        "guesses": _bars(guess),
    }


def _arcs(shares: Sequence[int]) -> str:
    arcs = (f'<i style="--to: {k}; --share: {share}"></i>' for k, share in enumerate(shares))
    return f"<div>{''.join(arcs)}</div>"


def _piece(place: int, token: str, guess: dict[str, Any]) -> str:
    word, share = guess["best"][0]
    here = place == guess["position"]
    said = f"<small>{html.escape(word)} {100 * share:.0f} %</small>" if here else ""
    current = "true" if here else "false"
    return f'<div><button type="button" aria-current="{current}">{token}</button>{said}</div>'


def _reading(name: str, layer: int, tokens: Sequence[str], shares: Tensor) -> str:
    heads = (
        f"<span>head {head} mostly from <b>{tokens[most]}</b>, {share} %</span>"
        for head, (share, most) in enumerate(zip(*map(Tensor.tolist, shares.max(-1)), strict=True))
    )
    return f"In layer {layer}, <b>{name}</b> collects: {'; '.join(heads)}."


def _table_of_heads(name: str, layer: int, tokens: Sequence[str], shares: Tensor) -> str:
    heads = "".join(f'<th scope="col">head {head}</th>' for head in range(len(shares)))
    rows = "".join(
        f'<tr><th scope="row">{token}</th>'
        + "".join(f'<td style="--share: {share}">{share} %</td>' for share in column)
        + "</tr>"
        for token, column in zip(tokens, shares.T.tolist(), strict=True)
    )
    return (
        f"<caption>What {name} collects in layer {layer}</caption>"
        f"<thead><tr><td></td>{heads}</tr></thead><tbody>{rows}</tbody>"
    )


def _strip(state: Sequence[int], name: str) -> str:
    """A vector as bars, up if positive and down if negative, and its first numbers as text."""
    up = "".join(f"M{k}.5 0v{-value}" for k, value in enumerate(state) if value > 0)
    down = "".join(f"M{k}.5 0v{-value}" for k, value in enumerate(state) if value < 0)
    ends = ", ".join(f"{value / 10:.1f}" for value in state[:3])
    return (
        f'<figure><svg viewBox="0 -20 {len(state)} 40" preserveAspectRatio="none" role="img" '
        f'aria-label="{name}: {len(state)} numbers, the first {ends}">'
        f'<path d="{up}"/><path d="{down}"/></svg>'
        f"<figcaption>{name}: {ends}, …</figcaption></figure>"
    )


def _bars(guess: dict[str, Any]) -> str:
    """A table of words and probabilities, with bars from 0 to 100 %."""
    rows = "".join(
        f'<tr><th scope="row">{html.escape(word)}</th>'
        f'<td class="bar"><span style="width: {100 * share:.1f}%"></span></td>'
        f"<td>{100 * share:.1f} %</td></tr>"
        for word, share in guess["best"]
    )
    caption = f"[MASK] at place {guess['position']}"
    return f"<table><caption>{caption}</caption><tbody>{rows}</tbody></table>"
