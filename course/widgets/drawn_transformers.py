"""Encoder and decoder of the Transformer as one drawing, and their connection."""

from bertlab.viz.frames import Frame, frame, read_asset

WIDTH, HEIGHT, GAP, TOP, BETWEEN = 286, 46, 26, 34, 76  # pixels: of a box, between boxes
# Title, second line, shape of the result, section of lecture 5; from top to bottom.
ENCODER = [
    ("Embedding", "times √D, plus position", "[B, L, D]", 2),
    ("Self-attention", "add and norm", "[B, L, D]", 4),
    ("Feed-forward", "add and norm", "[B, L, D]", 3),
]
DECODER = [
    ("Embedding", "times √D, plus position", "[B, T, D]", 2),
    ("Self-attention", "future hidden; add and norm", "[B, T, D]", 4),
    ("Cross-attention", "looks at the memory; add and norm", "[B, T, D]", 5),
    ("Feed-forward", "add and norm", "[B, T, D]", 3),
    ("Output", "times embeddingᵀ, softmax", "[B, T, vocab]", 2),
]
CSS = ".drawings { display: block; } .drawings svg { max-width: 660px; } .stack { fill: none; "
CSS += "stroke: var(--accent); stroke-dasharray: 5 4; }"


def drawn_transformer() -> Frame:
    """The encoder on the left, the decoder on the right; N layers of each are framed."""
    left, right = GAP / 2, GAP / 2 + WIDTH + BETWEEN
    memory, cross = _top(len(ENCODER) - 1) + HEIGHT, _top(2) + HEIGHT / 2
    rail = left + WIDTH + BETWEEN / 2 - 6
    arrow = (
        f'<g class="arrows"><path d="M{left + WIDTH / 2} {memory}v34H{rail}V{cross}H{right - 6}"/>'
        f'<path class="tip" d="M{right} {cross}l-7-4v8z"/></g>'
        f'<text x="{left + WIDTH / 2 + 10}" y="{memory + 52}">memory [B, L, D]</text>'
    )
    last = _top(len(DECODER)) - 8
    svg = (
        f'<svg viewBox="0 0 {right + WIDTH + GAP / 2} {last + 6}" aria-hidden="true">'
        + _column("source [B, L]", ENCODER, left, range(1, 3))
        + _column("target so far [B, T]", DECODER, right, range(1, 4))
        + f'{arrow}<text x="{right + WIDTH / 2}" y="{last}" text-anchor="middle">'
        "probabilities of each next token</text></svg>"
    )
    said = "; ".join(f"{title} {shape}, {more}" for title, more, shape, _ in ENCODER)
    and_said = "; ".join(f"{title} {shape}, {more}" for title, more, shape, _ in DECODER)
    return frame(
        f'<h1>The Transformer</h1><div class="drawings">{svg}</div><p class="note">B pairs of '
        "texts, L source and T target tokens, D = d_model; § is the section of this lecture.</p>",
        title="The Transformer, drawn",
        alt=f"Encoder, from the source: {said}; the last two N times; the result is the memory. "
        f"Decoder, from the target so far: {and_said}; the middle three N times.",
        css=read_asset("drawn_bert.css", __package__) + CSS,
        height=470,
    )


def _top(row: int) -> int:
    return TOP + row * (HEIGHT + GAP)


def _column(comes: str, boxes: list[tuple], x: float, repeated: range) -> str:
    middle = x + WIDTH / 2
    drawn = [f'<text x="{middle}" y="13" text-anchor="middle">{comes}</text>']
    top, bottom = _top(repeated[0]) - 10, _top(repeated[-1]) + HEIGHT + 10
    drawn.append(
        f'<rect class="stack" x="{x - 10}" y="{top}" width="{WIDTH + 20}" height="{bottom - top}" '
        f'rx="8"/><text class="quiet" x="{x + WIDTH}" y="{_top(repeated[1]) - 8}" '
        'text-anchor="end">N layers</text>'
    )
    for row, (title, more, shape, section) in enumerate(boxes):
        y, right = _top(row), f'x="{WIDTH - 10}" text-anchor="end"'
        start = TOP - 17 if row == 0 else y - GAP
        drawn.append(
            f'<g class="arrows"><path d="M{middle} {start}V{y - 6}"/>'
            f'<path class="tip" d="M{middle} {y}l-4-7h8z"/></g>'
            f'<g class="box" transform="translate({x} {y})"><rect width="{WIDTH}" '
            f'height="{HEIGHT}" rx="6"/><text class="title" x="10" y="19">{title}</text>'
            f'<text {right} y="19">{shape}</text><text class="quiet" x="10" y="37">{more}</text>'
            f'<text class="quiet" {right} y="37">§ {section}</text></g>'
        )
    return "".join(drawn)
