"""BERT as one drawing that recurs in the course; its boxes open.

One table has the content of the boxes. The drawings and the text for screen readers are made from
it, and a test compares it with the formal algorithm, the lectures and a model.
"""

import html
from collections.abc import Collection, Mapping
from typing import NamedTuple

from bertlab.viz.frames import Frame, frame, read_asset

WIDTH, HEIGHT, GAP, RAIL, TOP = 300, 86, 26, 24, 34  # of boxes and gaps, in pixels


class Part(NamedTuple):
    """A box, and its counterparts in the course and the library."""

    drawing: str  # the drawing that contains it
    reads: str  # parts of the same drawing; * is the drawing's input
    title: str
    shape: str  # of the output; letters as in `bertlab.model.attention`, C classes
    formula: str  # in brackets: BERT's additions to the formal algorithm
    source: str  # algorithms of Phuong & Hutter (2022), lines as in the lectures
    lecture: str  # lecture.section
    name: str  # in the library


TABLE = """
embeddings | bert | * | Embeddings | [B, L, D] | e_t ← W_e[x[t]] + W_p[t] (+ W_s, normed)
    | Algorithm 9, lines 3 and 4 | 6.3 | bertlab.model.bert.Embeddings
layer | bert | embeddings | Encoder layer × N | [B, L, D] | lines 6 to 9, N times
    | Algorithm 9, lines 5 to 9 | 6.7 | bertlab.model.layers.EncoderLayer
final | bert | layer | Final layers | [B, L, vocab], [B, 2] | P = softmax(X W_u) (does B follow A?)
    | Algorithm 9, lines 10 to 12 | 6.8 | bertlab.model.heads.BertForPreTraining

attention | layer | * | Multi-head attention | [B, L, D] | X ← X + MHAttention(X)
    | Algorithm 9, line 6 | 4.8 | bertlab.model.attention.MultiHeadAttention
attention_norm | layer | attention, * | Add and norm | [B, L, D] | X ← LayerNormPerRow(X; γ¹, β¹)
    | Algorithm 9, line 7 | 6.4 | bertlab.model.layers.LayerNorm
feed_forward | layer | attention_norm | Feed-forward | [B, L, d_ff], [B, L, D]
    | X ← X + GELU(X W_mlp1 …) W_mlp2 …
    | Algorithm 9, line 8 | 6.6 | bertlab.model.layers.FeedForward
feed_forward_norm | layer | feed_forward, attention_norm | Add and norm | [B, L, D]
    | X ← LayerNormPerRow(X; γ², β²)
    | Algorithm 9, line 9 | 6.4 | bertlab.model.layers.LayerNorm

projections | attention | * | Query, key, value | [B, H, L, d_head]
    | Q ← X W_q + b_q, K ← …, V ← …
    | Algorithm 4, lines 1 to 3 | 4.5 | bertlab.model.attention.self_attention
probabilities | attention | projections | Attention probabilities | [B, H, L, L]
    | A ← softmax_row(Q Kᵀ / √d_attn)
    | Algorithm 4, lines 4 and 5 | 4.5 | bertlab.model.attention.attention_probabilities
head | attention | probabilities, projections | Each head's output | [B, H, L, d_head] | Ṽ ← A V
    | Algorithm 4, line 6 | 4.5 | bertlab.model.attention.attention
output | attention | head | Heads, concatenated | [B, L, D] | [Y¹; Y²; …; Yᴴ] W_o + b_o
    | Algorithm 5, lines 3 and 4 | 4.8 | bertlab.model.attention.multi_head_attention

mlm_head | final | * | Masked-word head | [B, L, vocab] | softmax(LayerNorm(GELU(X W_f)) W_u)
    | Algorithm 9, lines 10 to 12 | 6.8 | bertlab.model.heads.MaskedLanguageModelHead
pooling | final | * | Sentence vector | [B, D] | (mean of the rows, without padding)
    | not in the algorithm | 11.3 | bertlab.finetuning.sentences.pool
pooler | final | * | Pooler | [B, D] | (tanh(x W + b), x is the row of [CLS])
    | not in the algorithm | 6.7 | bertlab.model.bert.Bert
nsp_head | final | pooler | Next-sentence head | [B, 2] | (x W + b: B follows A, or not)
    | not in the algorithm | 6.8 | bertlab.model.heads.BertForPreTraining
task_head | final | pooler | A head for your task | [B, C] | (x W + b: a class for the text)
    | not in the algorithm | 9.1 | bertlab.finetuning.heads.SequenceClassifier
"""
ROWS = TABLE.replace("\n    |", "|").split("\n")
CELLS = [[cell.strip() for cell in row.split("|")] for row in ROWS if row]
PARTS = {name: Part(*cells) for name, *cells in CELLS}
# A drawing -> its heading and its input. All but the first are opened by a part.
DRAWINGS = {
    "bert": ("The whole encoder", "ids [B, L]"),
    "layer": ("Inside a layer", "X [B, L, D]"),
    "attention": ("Inside attention", "X [B, L, D]"),
    "final": ("The final layers", "X [B, L, D]"),
}


# The functions that exercises ask for: those that run in a box, and those around the model.
IN_BOXES = {
    "layer": ("encoder_layer",),
    "attention_norm": ("layer_norm",),
    "feed_forward": ("gelu",),
    "feed_forward_norm": ("layer_norm",),
    "probabilities": ("masked_shares", "row_softmax"),
    "output": ("merge_heads",),
}
AROUND = {
    "Tokenizer, BPE": ("count_pairs", "merge_pair", "apply_merges"),
    "Tokenizer, WordPiece": ("glue", "gain", "longest_match"),
    "Rows with masked words": ("choose_tokens", "replace_chosen"),
    "BERT, the other drawings": (),
    "Loss": ("mlm_loss",),
    "Training step": ("training_step", "accumulate_gradients", "adam_step"),
}


def drawn_bert(lit: str | None = None) -> Frame:
    """BERT as a drawing with boxes that open; the lecture's part is highlighted.

    lit: a name in `PARTS`, whose drawing is open at first; None opens and highlights nothing.
    Raises ValueError for any other name.
    """
    if lit is not None and lit not in PARTS:
        raise ValueError(f"drawn_bert: lit must be None or one of {', '.join(PARTS)}; got {lit!r}")
    opened = {"bert"}
    drawing = PARTS[lit].drawing if lit else "bert"
    while drawing != "bert":
        opened.add(drawing)
        drawing = PARTS[drawing].drawing
    names = {box: part.name for box, part in PARTS.items()}
    return _page(
        "BERT",
        "",
        _drawings(opened, {lit} if lit else set(), names),
        "Names: without <code>bertlab.</code> in front.",
        _words() + (f" Lit: {PARTS[lit].title}." if lit else ""),
    )


def written_bert(yours: Collection[str], note: str) -> Frame:
    """BERT and what is around it as a drawing, in which the boxes that a student wrote are lit.

    yours: the functions of exercises that are the student's; note: a sentence above the drawing. A
    box is lit if all of its functions are the student's.
    """

    def is_lit(names: Collection[str]) -> bool:
        return bool(names) and set(names) <= set(yours)

    def marked(names: Collection[str]) -> list[str]:
        return [f"{'■' if name in yours else '□'} {name}" for name in names]

    lit = {box for box, names in IN_BOXES.items() if is_lit(names)}
    last_lines = {box: " ".join(marked(IN_BOXES.get(box, ()))) or "□ lent" for box in PARTS}
    around = "".join(
        f"<li{' class=lit' if is_lit(names) else ''}><b>{title}</b>"
        f"{'<br>'.join(['', *marked(names)])}</li>"
        for title, names in AROUND.items()
    )
    first = f'<section><h2>From text to a step</h2><ol class="around">{around}</ol></section>'
    opened = {"bert", *(PARTS[box].drawing for box in IN_BOXES)}
    return _page(
        "Your BERT",
        f"<p>{html.escape(note)}</p>",
        first + _drawings(opened, lit, last_lines),
        "",
        f"{note} Yours: {', '.join(yours) or 'none yet'}.",
    )


def _page(heading: str, above: str, drawings: str, below: str, alt: str) -> Frame:
    return frame(
        f"<h1>{heading}</h1>{above}"
        '<p class="note how">A box with ▸ opens: click it, or Tab and Enter; Escape closes.</p>'
        f'<div class="drawings">{drawings}</div><p class="note">B sequences of L tokens, '
        "D = d_model, H heads, d_head = D / H, N layers, C classes. Algorithms: "
        f"Phuong & Hutter (2022); in brackets what BERT adds. {below}</p>",
        title=f"{heading}, drawn",
        alt=alt,
        css=read_asset("drawn_bert.css", __package__),
        scripts=[read_asset("drawn_bert.js", __package__)],
        height=520,
    )


def _drawings(opened: set[str], lit: set[str], last_lines: Mapping[str, str]) -> str:
    """All of them; last_lines: the text at the bottom of each box."""
    return "".join(_section(drawing, opened, lit, last_lines) for drawing in DRAWINGS)


def _words() -> str:
    said = [
        f"{heading}, from {comes}: "
        + "; ".join(f"{part.title} {part.shape}" for part in PARTS.values() if part.drawing == name)
        for name, (heading, comes) in DRAWINGS.items()
    ]
    return ". ".join(said) + "."


def _section(drawing: str, opened: set[str], lit: set[str], lines: Mapping[str, str]) -> str:
    heading, comes = DRAWINGS[drawing]
    names = [name for name, part in PARTS.items() if part.drawing == drawing]
    tops = {name: TOP + number * (HEIGHT + GAP) for number, name in enumerate(names)}
    boxes = "".join(
        _arrows(name, tops) + _box(name, tops[name], name in opened, name in lit, lines[name])
        for name in names
    )
    height = TOP + len(names) * (HEIGHT + GAP) - GAP + 2
    return (
        f'<section id="{drawing}"{"" if drawing in opened else " hidden"}><h2>{heading}</h2>'
        f'<svg viewBox="0 0 {RAIL + WIDTH + 2} {height}" role="group" aria-label="{heading}">'
        f'<text x="{RAIL + WIDTH / 2}" y="13" text-anchor="middle">{comes}</text>{boxes}'
        "</svg></section>"
    )


def _arrows(name: str, tops: dict[str, int]) -> str:
    """An arrow from each input part: straight from the one above, otherwise around on the left."""
    top, middle, drawn = tops[name], RAIL + WIDTH / 2, []
    for source in PARTS[name].reads.split(", "):
        start = TOP - 17 if source == "*" else tops[source] + HEIGHT
        if top - start < GAP + 1:
            drawn.append(f'<path d="M{middle} {start}V{top - 6}"/>{_tip(middle, top, "-4-7h8z")}')
        else:
            y = top + HEIGHT / 2
            drawn.append(
                f'<path d="M{middle} {start + 6}H6V{y}H{RAIL - 6}"/>{_tip(RAIL, y, "-7-4v8z")}'
            )
    return f'<g class="arrows" aria-hidden="true">{"".join(drawn)}</g>'


def _tip(x: float, y: float, back: str) -> str:
    return f'<path class="tip" d="M{x} {y}l{back}"/>'


def _box(name: str, top: int, opened: bool, lit: bool, last_line: str) -> str:
    part = PARTS[name]
    lecture, section = part.lecture.split(".")
    said = (
        f"{part.title}, {part.shape}. {part.formula}. {part.source}. Lecture {lecture}, section "
        f"{section}. {last_line}{'. Lit' if lit else ''}"
    )
    role = 'role="img"'
    if name in DRAWINGS:
        role = f'role="button" tabindex="0" aria-expanded="{str(opened).lower()}" '
        role += f'aria-controls="{name}"'
    left, right = 'x="12"', f'x="{WIDTH - 12}" text-anchor="end"'
    rows = (
        f'<text class="title" {left} y="21">{"▸ " if name in DRAWINGS else ""}{part.title}</text>'
        f'<text {right} y="21">{part.shape}</text>'
        f'<text class="formula" {left} y="41">{part.formula}</text>'
        f'<text class="quiet" {left} y="59">{part.source}</text>'
        f'<text class="quiet" {right} y="59">lecture {lecture} § {section}</text>'
        f'<text class="token" {left} y="77">{last_line.removeprefix("bertlab.")}</text>'
    )
    return (
        f'<g class="box{" lit" if lit else ""}" transform="translate({RAIL} {top})" '
        f'{role} aria-label="{html.escape(said)}"><rect width="{WIDTH}" height="{HEIGHT}" rx="6"/>'
        f"{rows}</g>"
    )
