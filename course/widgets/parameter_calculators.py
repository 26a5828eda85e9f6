"""Choose the sizes of a BERT and see where its parameters are: a calculator without a kernel.

The formula is here once, as data. Python draws the first state from it, the page's script computes
with the same data, and a test compares it with `count_parameters`.
"""

import json
import math
from typing import NamedTuple

from bertlab.model.config import BertConfig
from bertlab.viz.frames import Frame, frame, read_asset
from course.widgets.flipbooks import bar, flipbook_style

TITLE = "How many parameters?"
PRESETS = ("tiny", "mini", "small", "medium", "base", "large")
# Sizes that can be changed -> their names on the page.
INPUTS = {
    "vocab_size": "vocabulary",
    "max_length": "longest text",
    "d_model": "d_model (H)",
    "n_layers": "layers (L)",
    "n_heads": "heads (A)",
    "d_ff": "d_ff",
}
LARGEST = 1_000_000  # of one size: enough for every published model
BYTES = 4  # of a 32-bit float


class Part(NamedTuple):
    """Parameters of one kind: the sum of the shapes, each a product of sizes and numbers."""

    component: str  # its name in `count_parameters`
    label: str
    shapes: tuple[tuple[str | int, ...], ...]

    @property
    def in_layers(self) -> bool:
        """Whether every layer has one."""
        return self.component.startswith("bert.layers.")


NORM = ((2, "d_model"),)  # gamma and beta
PARTS = (
    Part("bert.embeddings.token", "token embeddings", (("vocab_size", "d_model"),)),
    Part("bert.embeddings.position", "position embeddings", (("max_length", "d_model"),)),
    Part("bert.embeddings.segment", "segment embeddings", (("n_segments", "d_model"),)),
    Part("bert.embeddings.norm", "norm of the embeddings", NORM),
    Part(
        "bert.layers.attention.query_key_value",
        "queries, keys, values",
        ((3, "d_model", "d_model"), (3, "d_model")),
    ),
    Part(
        "bert.layers.attention.output", "attention output", (("d_model", "d_model"), ("d_model",))
    ),
    Part("bert.layers.attention_norm", "norm after attention", NORM),
    Part(
        "bert.layers.feed_forward.expand",
        "feed-forward, expand",
        (("d_model", "d_ff"), ("d_ff",)),
    ),
    Part(
        "bert.layers.feed_forward.contract",
        "feed-forward, contract",
        (("d_ff", "d_model"), ("d_model",)),
    ),
    Part("bert.layers.feed_forward_norm", "norm after feed-forward", NORM),
    Part("bert.pooler", "pooler", (("d_model", "d_model"), ("d_model",))),
    Part("mlm_head.transform", "masked words: transform", (("d_model", "d_model"), ("d_model",))),
    Part("mlm_head.norm", "masked words: norm", NORM),
    Part("mlm_head", "masked words: bias of each word", (("vocab_size",),)),
    Part("nsp_head", "next sentence", ((2, "d_model"), (2,))),
)
# A heading before the part with this name.
GROUPS = {
    "bert.embeddings.token": "Embeddings",
    "bert.layers.attention.query_key_value": "Layers",
    "bert.pooler": "Pooler",
    "mlm_head.transform": "Heads for pre-training",
}


def parameter_calculator() -> Frame:
    """A table of BERT-base's parameters that is updated with the sizes you choose.

    The page computes by itself, so it also works in an exported page, where it explains impossible
    sizes.
    """
    sizes = _sizes(BertConfig.base())
    numbers = count(sizes)
    summary = _summary(numbers)
    facts = {
        "parts": [part._asdict() | {"in_layers": part.in_layers} for part in PARTS],
        "presets": {name: _sizes(getattr(BertConfig, name)()) for name in PRESETS},
        "sizes": sizes,
        "inputs": INPUTS,
        "largest": LARGEST,
        "bytes": BYTES,
    }
    return frame(
        f"<h1>{TITLE}</h1>{_controls(sizes)}"
        f'<p class="summary" aria-live="polite">{summary}</p>'
        f'<p class="problem" role="alert" hidden></p>{_table(sizes, numbers)}',
        title=TITLE,
        alt=_words(sizes, numbers, summary),
        css=flipbook_style() + read_asset("parameter_calculator.css", __package__),
        scripts=[
            f"const FACTS = {json.dumps(facts)};",
            read_asset("parameter_calculator.js", __package__),
        ],
        height=700,
    )


def count(sizes: dict[str, int]) -> dict[str, int]:
    """Component -> its parameters, of all layers together.

    sizes: every name in `INPUTS`, and `n_segments`.
    """
    return {
        part.component: (sizes["n_layers"] if part.in_layers else 1)
        * sum(math.prod(_size(factor, sizes) for factor in shape) for shape in part.shapes)
        for part in PARTS
    }


def _size(factor: str | int, sizes: dict[str, int]) -> int:
    return sizes[factor] if isinstance(factor, str) else factor


def _sizes(config: BertConfig) -> dict[str, int]:
    return {name: getattr(config, name) for name in (*INPUTS, "n_segments")}


def _totals(numbers: dict[str, int]) -> tuple[int, int]:
    """Parameters of the encoder alone, and with the two heads."""
    encoder = sum(number for name, number in numbers.items() if name.startswith("bert."))
    return encoder, sum(numbers.values())


def _summary(numbers: dict[str, int]) -> str:
    encoder, everything = _totals(numbers)
    return (
        f"{encoder:,} parameters in the encoder, {everything:,} with both heads; "
        f"{everything * BYTES / 1e6:,.0f} MB in 32-bit floats"
    )


def _words(sizes: dict[str, int], numbers: dict[str, int], summary: str) -> str:
    chosen = ", ".join(f"{label} {sizes[name]:,}" for name, label in INPUTS.items())
    parts = "; ".join(f"{part.label} {numbers[part.component]:,}" for part in PARTS)
    return f"A table of parameters for {chosen}: {summary}. {parts}."


def _controls(sizes: dict[str, int]) -> str:
    options = "".join(
        f"<option{' selected' if name == 'base' else ''}>{name}</option>" for name in PRESETS
    )
    fields = "".join(
        f'<label>{label}<input type="number" id="{name}" min="1" max="{LARGEST}" '
        f'value="{sizes[name]}"></label>'
        for name, label in INPUTS.items()
    )
    return (
        '<div class="sizes" role="group" aria-label="Sizes"><label>BERT-<select id="preset">'
        f'{options}<option value="">your own</option></select></label>{fields}</div>'
    )


def _table(sizes: dict[str, int], numbers: dict[str, int]) -> str:
    _, everything = _totals(numbers)
    rows = []
    for part in PARTS:
        if part.component in GROUPS:
            rows.append(f'<tr class="group"><th colspan="4">{GROUPS[part.component]}</th></tr>')
        number = numbers[part.component]
        rows.append(
            f'<tr data-part="{part.component}"><th scope="row">{part.label}</th>'
            f'<td class="formula">{_formula(part, sizes)}</td>'
            f'<td class="number">{number:,}</td><td>{bar(number / everything)}</td></tr>'
        )
    return (
        '<table class="parameters"><thead><tr><th scope="col">part</th>'
        '<th scope="col">how many</th><th scope="col" class="number">parameters</th>'
        f'<th scope="col">share of all</th></tr></thead><tbody>{"".join(rows)}</tbody></table>'
    )


def _formula(part: Part, sizes: dict[str, int]) -> str:
    """The shapes with numbers, such as 12 × (768 × 768 + 768); the script shows the same."""
    products = [
        " × ".join(f"{_size(factor, sizes):,}" for factor in shape) for shape in part.shapes
    ]
    added = " + ".join(products)
    if not part.in_layers:
        return added
    return f"{sizes['n_layers']:,} × {f'({added})' if len(products) > 1 else added}"
