"""BertViz's head view, drawn without internet.

BertViz asks a server for three scripts: require.js, d3 and jQuery. Where it gets no answer, no
line is drawn. Here d3 comes from mpld3 and jQuery from nbgrader, which ship them; require.js is
replaced by two lines.
"""

import json
import re
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from torch import Tensor

from bertlab.viz.attention_input import check_layers
from bertlab.viz.frames import Frame, frame, read_asset

D3 = ("mpld3", "js/d3.v5.min.js")
JQUERY = (
    "nbgrader",
    "server_extensions/formgrader/static/node_modules/jquery/dist/jquery.slim.min.js",
)
ROOT = "head-view"


def head_view(
    attentions: Sequence[Tensor] | Tensor,
    tokens: Sequence[str],
    *,
    layer: int | None = None,
    heads: Sequence[int] | None = None,
    sentence_b_start: int | None = None,
    alt: str | None = None,
) -> Frame:
    """Lines from every query token to the tokens it attends to, for the heads that you choose.

    attentions: one tensor a layer, [1, H, L, L] or [H, L, L], rows sum to 1; tokens: L strings;
    layer: the layer shown first (from 0); heads: the heads shown first, otherwise all;
    sentence_b_start: where the second sentence starts, to choose among A→A, A→B, B→A, B→B;
    alt: the view in words, otherwise a sentence is made.

    Raises ValueError if the tensors, the tokens and the indices do not fit each other, and
    ModuleNotFoundError if BertViz or one of the two scripts is not installed.

    Source: Vig (2019), "A Multiscale Visualization of Attention in the Transformer Model",
    with BertViz 1.4.1.
    """
    tokens = list(tokens)
    layers = check_layers("head_view", attentions, tokens)
    n_heads = layers[0].shape[0]
    _check_index("layer", layer, len(layers))
    for head in heads if heads is not None else ():
        _check_index("heads", head, n_heads)
    if heads is not None and len(heads) == 0:
        raise ValueError("head_view: heads must hold at least one head; leave it out to see all")
    if sentence_b_start is not None and not 0 < sentence_b_start < len(tokens):
        raise ValueError(
            f"head_view: sentence_b_start must be from 1 to {len(tokens) - 1}, so that both "
            f"sentences have a token; got {sentence_b_start}"
        )
    try:
        from bertviz import head_view as bertviz_head_view
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(_MISSING.format("bertviz"), name="bertviz") from error

    drawn = bertviz_head_view(
        [layer_attention[None] for layer_attention in layers],
        tokens,
        sentence_b_start=sentence_b_start,
        layer=layer,
        heads=list(heads) if heads is not None else None,
        html_action="return",
    ).data
    body, script = _without_servers(drawn)
    numbers = "".join(f"<span>{head}</span>" for head in range(n_heads))
    body = body.replace(
        "<div id='vis'>",
        '<p class="hint">Heads: click a square to switch one, double-click to see it alone. '
        "Point at a token to see its lines alone.</p>"
        f'<div class="head-numbers" aria-hidden="true">{numbers}</div><div id="vis">',
    )
    shown = "all heads" if heads is None else "head " + ", ".join(map(str, heads))
    return frame(
        body,
        title="Head view",
        alt=alt
        or (
            f"Lines join each query token on the left to the tokens on the right that it attends "
            f"to; the stronger the line, the higher the probability. Layer {layer or 0} of "
            f"{len(layers)}, {shown} of {n_heads}, for the tokens: {' '.join(tokens)}"
        ),
        css=read_asset("head_view.css"),
        scripts=[shipped_script(*D3), shipped_script(*JQUERY), read_asset("head_view.js"), script],
        height=round(22.5 * len(tokens)) + 130,
    )


def shipped_script(package: str, path: str) -> str:
    """Read a script that an installed package ships, without importing the package.

    Raises ModuleNotFoundError, with what to run, if the package or the file is not there.
    """
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError(_MISSING.format(package), name=package)
    file = Path(next(iter(spec.submodule_search_locations)), path)
    if not file.is_file():
        raise ModuleNotFoundError(_MISSING.format(f"{package} with {file.name}"), name=package)
    return file.read_text(encoding="utf-8")


_MISSING = "head_view: {} is not installed; run: pip install 'bertlab[course]'"


def _without_servers(drawn: str) -> tuple[str, str]:
    """Cut what BertViz returned into markup and script; drop what it would fetch.

    The numbers it draws are in the script as JSON. They are read and written again: shorter,
    with a name that is the same in every run, and safe for tokens such as `</script>`.
    """
    try:
        body, script = re.split(r'<script type="text/javascript">', drawn, maxsplit=1)
        body = re.sub(r'<script src="[^"]*"></script>', "", body).strip()
        script = script[: script.rindex("</script>")]
        before, rest = script.split("const params = ", maxsplit=1)
        parameters, end = json.JSONDecoder().raw_decode(rest)
        root = parameters["root_div_id"]
        views = parameters["attention"]
    except (ValueError, KeyError) as error:
        raise RuntimeError(
            "head_view: BertViz returned a page that this version cannot read; "
            "run: pip install bertviz==1.4.1"
        ) from error
    for view in views:
        view["attn"] = _rounded(view["attn"])
    parameters["root_div_id"] = ROOT
    safe = json.dumps(parameters, separators=(",", ":")).replace("<", "\\u003c")
    # A comment at the end of the line holds the same JSON once more: it goes.
    after = rest[end:].partition("\n")[2]
    return body.replace(root, ROOT), f"{before}const params = {safe};\n{after}"


def _rounded(values: list | float) -> list | float:
    """Four digits are more than a line's opacity can show."""
    return [_rounded(v) for v in values] if isinstance(values, list) else round(values, 4)


def _check_index(name: str, value: int | None, size: int) -> None:
    if value is not None and not 0 <= value < size:
        raise ValueError(f"head_view: {name} must be from 0 to {size - 1}; got {value}")
