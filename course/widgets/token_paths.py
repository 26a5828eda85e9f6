"""Follow one token through a BERT: how each half of each layer changes its vector."""

import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from bertlab.model.bert import Bert
from bertlab.model.heads import BertForPreTraining
from bertlab.tokenizers.tokenizer import Tokenizer
from bertlab.viz.frames import Frame, read_asset
from course.widgets.flipbooks import bar, flipbook
from course.widgets.way_maps import principal_components, way_map

ATTENDED_SHOWN, WORDS_SHOWN = 5, 5
COSINE = "cosine with each word's row in the embedding table"
PROBABILITY = "probability by the MLM head, which was trained for the last layer only (logit lens)"


class TokenStep(NamedTuple):
    """The vectors after one half of a layer, or after the embeddings."""

    name: str
    vectors: Tensor  # [L, D], of all tokens
    attention: Tensor | None  # [H, L], of the followed token, after an attention step


@dataclass(frozen=True)
class TokenPath:
    """One token's path through a model; made by `follow_token`."""

    tokens: list[str]
    place: int  # of the followed token
    steps: tuple[TokenStep, ...]
    words: tuple[list[tuple[str, float]], ...]  # for each step, the nearest words, best first
    measure: str  # the meaning of the number beside a word

    @property
    def token(self) -> str:
        """The followed token."""
        return self.tokens[self.place]

    @property
    def vectors(self) -> Tensor:
        """The token's vector after each step, [S, D], on the CPU."""
        return torch.stack([step.vectors[self.place] for step in self.steps]).cpu()

    @property
    def cosines(self) -> list[float]:
        """For each step, the cosine of the token's vector with its first vector."""
        return F.cosine_similarity(self.vectors, self.vectors[:1], dim=-1).tolist()


def follow_token(
    model: Bert | BertForPreTraining,
    tokenizer: Tokenizer,
    text: str,
    token: str | int,
) -> TokenPath:
    """Run the model in evaluation mode and record one token's vectors.

    token: as written by the tokenizer, or its position if it occurs more than once. The words
    after each step are, with a `Bert`, the rows of the embedding table with the highest cosine;
    with a `BertForPreTraining`, the predictions of its MLM head, which was trained only for the
    last layer (logit lens).

    Raises ValueError if the text has no such token or several, if model and tokenizer do not
    belong together, or if the text is too long.

    Source of the logit lens: nostalgebraist (2020), "interpreting GPT: the logit lens".
    """
    if not isinstance(model, Bert | BertForPreTraining):
        raise ValueError(
            f"follow_token: model must be a Bert or BertForPreTraining; got {type(model).__name__}"
        )
    bert = model if isinstance(model, Bert) else model.bert
    if len(tokenizer.vocab) != bert.config.vocab_size:
        raise ValueError(
            f"follow_token: tokenizer must have as many words as the model has embeddings, "
            f"{bert.config.vocab_size:,}; got {len(tokenizer.vocab):,}; do they belong together?"
        )
    encoding = tokenizer.encode(text)
    place = _find(encoding.tokens, token)
    ids = torch.tensor([encoding.ids], device=bert.embeddings.token.weight.device)  # [1, L]
    was_training = model.training
    model.eval()
    try:
        with torch.no_grad():
            steps = tuple(_steps(bert, ids, place))
            scores, measure = _score_words(model, torch.stack([s.vectors[place] for s in steps]))
    finally:
        model.train(was_training)
    word_of = {id: word for word, id in tokenizer.vocab.items()}
    best = scores.topk(WORDS_SHOWN, dim=-1)  # of [S, N_V]
    words = tuple(
        [(word_of[id], value) for id, value in zip(ids, values, strict=True)]
        for ids, values in zip(best.indices.tolist(), best.values.tolist(), strict=True)
    )
    return TokenPath(encoding.tokens, place, steps, words, measure)


def token_path(
    model: Bert | BertForPreTraining,
    tokenizer: Tokenizer,
    text: str,
    token: str | int,
) -> Frame:
    """Flip through a model, half a layer per page, and watch how one token's vector changes.

    A page shows the path so far in the two directions in which the vector moves most (principal
    components), its cosine with its start, the tokens it attended to most (mean of all heads) and
    the words nearest to it. Arguments and errors as in `follow_token`.
    """
    path = follow_token(model, tokenizer, text, token)
    places, shares = principal_components(path.vectors)  # [S, 2]
    stops = ["start", *(name for layer in range(len(path.steps) // 2) for name in ("", f"{layer}"))]
    cosines = path.cosines
    labels = [
        f"{_capital(step.name)}: cosine {cosine:.2f} with its start, nearest word {words[0][0]}"
        for step, cosine, words in zip(path.steps, cosines, path.words, strict=True)
    ]
    pages = [
        f'<div class="step">{way_map(places, stops, number, shares)}'
        f"<div>{_cosine(cosines[number])}{_attended(path, number)}{_nearest(path, number)}</div>"
        "</div>"
        for number in range(len(path.steps))
    ]
    return flipbook(
        pages,
        labels,
        title=f"The path of “{path.token}” through {len(path.steps) // 2} layers",
        alt=f"{len(pages)} pages follow the token {path.token} of: {' '.join(path.tokens)}. Each "
        "has a map of the way that its vector takes, a bar for the cosine with the first "
        f"vector, and lists of tokens attended to and of nearest words. First page: "
        f"{labels[0]}. Last page: {labels[-1]}.",
        css=read_asset("token_path.css", __package__),
    )


def _steps(bert: Bert, ids: Tensor, place: int) -> Iterator[TokenStep]:
    """`Bert.forward` with `EncoderLayer.forward` inlined, to stop halfway in each layer."""
    x = bert.embeddings(ids)  # [1, L, D]
    yield TokenStep("embeddings", x[0], None)
    for number, layer in enumerate(bert.layers):
        attended, probabilities = layer.attention(
            x, causal=bert.config.causal, output_attentions=True
        )
        x = layer.attention_norm(x + attended)
        yield TokenStep(f"layer {number}, after attention", x[0], probabilities[0, :, place])
        x = layer.feed_forward_norm(x + layer.feed_forward(x))
        yield TokenStep(f"layer {number}, after feed-forward", x[0], None)


def _score_words(model: Bert | BertForPreTraining, path: Tensor) -> tuple[Tensor, str]:
    """[S, D] -> a score for every word after every step, [S, N_V], and its meaning."""
    if isinstance(model, Bert):
        table = model.embeddings.token.weight  # [N_V, D]
        return F.normalize(path, dim=-1) @ table.T / table.norm(dim=-1), COSINE
    table = model.bert.embeddings.token.weight
    return model.mlm_head(path, table).softmax(dim=-1), PROBABILITY


def _find(tokens: list[str], token: str | int) -> int:
    """The position of the token."""
    listed = ", ".join(f"{number} {name}" for number, name in enumerate(tokens))
    if isinstance(token, int):
        if not 0 <= token < len(tokens):
            raise ValueError(
                f"follow_token: token must be a position from 0 to {len(tokens) - 1}; got {token}; "
                f"the tokens are: {listed}"
            )
        return token
    places = [number for number, name in enumerate(tokens) if name == token]
    if not places:
        raise ValueError(
            f"follow_token: token must be one of the text's tokens, as the tokenizer writes it; "
            f"got {token!r}; the tokens are: {listed}"
        )
    if len(places) > 1:
        raise ValueError(
            f"follow_token: token {token!r} occurs at the positions "
            f"{', '.join(map(str, places))}; say which one: token={places[0]}"
        )
    return places[0]


def _cosine(cosine: float) -> str:
    return _rows("Cosine with its start", [("", cosine, f"{cosine:.2f}")])


def _attended(path: TokenPath, number: int) -> str:
    attention = path.steps[number].attention
    if attention is None:
        before = "tables alone" if number == 0 else "each token by itself"
        return f"<h2>Attended to most</h2><p>Nothing here: {before}.</p>"
    top = attention.mean(dim=0).topk(min(ATTENDED_SHOWN, len(path.tokens)))  # of the H heads
    rows = [
        (f"{path.tokens[key]} · {key}", share, f"{100 * share:.0f} %")
        for share, key in zip(top.values.tolist(), top.indices.tolist(), strict=True)
    ]
    return _rows("Attended to most (mean of the heads)", rows)


def _nearest(path: TokenPath, number: int) -> str:
    rows = [(word, value, f"{value:.2f}") for word, value in path.words[number]]
    return _rows(f"Nearest words: {path.measure}", rows)


def _rows(heading: str, rows: Sequence[tuple[str, float, str]]) -> str:
    """Bars from 0 to 1; a negative cosine has none."""
    body = "".join(
        f'<tr><th scope="row" class="token">{html.escape(name)}</th>'
        f"<td>{bar(min(1.0, max(0.0, value)))}</td><td>{text}</td></tr>"
        for name, value, text in rows
    )
    return f"<h2>{html.escape(heading)}</h2><table><tbody>{body}</tbody></table>"


def _capital(name: str) -> str:
    return name[0].upper() + name[1:]
