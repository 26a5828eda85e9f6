"""What BertViz's views share here: scripts without a server, short numbers, checks, size limits.

BertViz loads require.js, d3 and jQuery from a server; without a network it draws no lines. Here d3
comes from the package mpld3 and jQuery from XStatic-jQuery; `bertviz_pages.js` replaces require.js.
BertViz's own scripts do the rest, except for a few functions that are replaced (`head_view.js`,
`model_view.js`, `neuron_view.js`): slow ones, and those that support neither a dark page nor a
keyboard. Below a drawing the page says in words what a head looks at. BertViz writes every number
with 20 characters, and again for each pair of sentences; here it takes two characters, once.
"""

import html
import json
import math
import re
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from bertlab.interpretability.traces import TranslationTrace
from bertlab.viz.attention_input import check_index, check_layers, check_tokens
from bertlab.viz.frames import Frame, frame, read_asset

D3 = ("mpld3", "js/d3.v5.min.js")
JQUERY = ("xstatic.pkg.jquery", "data/jquery.slim.min.js")
ROOT = "bertviz"
# One for each of BERT-base's heads, in every view; BertViz's own ten include red and green.
HEAD_COLOURS = (
    *("#6a5bc9", "#cc6677", "#5fb4dd", "#2b8a4b", "#d9a520", "#aa4499"),
    *("#44aa99", "#b03a72", "#4477aa", "#999933", "#ee7733", "#888888"),
)
DIGITS = np.frombuffer(
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", dtype=np.uint8
)
# The scripts take half a megabyte; with these the page stays below 3 MB.
MOST_CHARACTERS = 2_500_000

View = dict[str, Any]  # one choice of BertViz's "Attention" menu, as its scripts read it


def bertviz_page(
    view: str,
    parameters: dict[str, Any],
    *,
    controls: str,
    hint: str,
    above: str = "",
    alt: str,
    height: int,
) -> Frame:
    """A frame with one of BertViz's views: "head_view", "model_view" or "neuron_view".

    parameters: the script's input, with numbers packed by `pack`; controls: the menus above
    the view; hint: how to use it; above: markup directly above the drawing.

    Raises ModuleNotFoundError if a script is not installed, RuntimeError if it is not BertViz's.
    """
    shared = {"root_div_id": ROOT, "default_filter": "0", "colours": HEAD_COLOURS}
    # A token `</script>` must not end the script that holds it.
    safe = json.dumps(shared | parameters, separators=(",", ":")).replace("<", "\\u003c")
    return frame(
        f'<div id="{ROOT}">\n<div class="controls">{controls}</div>\n<p class="hint">{hint}</p>\n'
        f'{above}<div id="vis"></div>\n<details id="words"></details>\n</div>',
        title=view.replace("_", " ").capitalize(),
        alt=alt,
        css=read_asset("bertviz_pages.css") + read_asset(f"{view}.css"),
        scripts=[
            shipped_script(*D3),
            shipped_script(*JQUERY),
            read_asset("bertviz_pages.js"),
            f"window.bertviz_params = readParameters({safe});",
            bertviz_script(view),
        ],
        height=height,
    )


def bertviz_script(view: str) -> str:
    """BertViz's script with ours at its end, inside BertViz's enclosing function.

    A function that ours declares again replaces BertViz's, which ours may call under its name with
    `bertviz_` before it.
    """
    script, ours = shipped_script("bertviz", f"{view}.js").rstrip(), read_asset(f"{view}.js")
    again = re.findall(r"^function (\w+)\(.*// again$", ours, re.MULTILINE)
    missing = [name for name in again if f"function {name}(" not in script]
    if missing or "requirejs(['jquery', 'd3']" not in script or not script.endswith("});"):
        raise RuntimeError(
            f"{view}: the installed BertViz has a script that this version cannot use; "
            "run: pip install bertviz==1.4.1"
        )
    for name in again:
        script = script.replace(f"function {name}(", f"function bertviz_{name}(")
    script = script.replace("PYTHON_PARAMS;", "window.bertviz_params;", 1)
    return f"{script.removesuffix('});')}\n{ours}}});"


def shipped_script(package: str, path: str) -> str:
    """Read a script from an installed package, without importing the package.

    Raises ModuleNotFoundError, with the command to run, if the package or the file is missing.
    """
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError(_MISSING.format(package), name=package)
    file = Path(next(iter(spec.submodule_search_locations)), path)
    if not file.is_file():
        raise ModuleNotFoundError(_MISSING.format(f"{package} with {file.name}"), name=package)
    return file.read_text(encoding="utf-8")


_MISSING = "the views of BertViz need {}, which is not installed; run: pip install 'bertlab[viz]'"


def pack(values: Tensor, characters: int, low: float, high: float) -> dict[str, Any]:
    """Numbers from `low` to `high` as text, `characters` each; `unpack` in the page reads it.

    Two characters, 12 bits, keep a probability to 0.00013, finer than a visible change of opacity.
    """
    most = 64**characters - 1
    step = (high - low) / most or 1.0
    numbers = ((values.double() - low) / step).round().clamp(0, most).long().numpy().ravel()
    places = np.arange(characters - 1, -1, -1) * 6
    text = DIGITS[(numbers[:, None] >> places) & 63].tobytes().decode("ascii")
    return {
        "shape": list(values.shape),
        "characters": characters,
        "low": low,
        "step": step,
        "text": text,
    }


def pack_probabilities(layers: Sequence[Tensor]) -> dict[str, Any]:
    """One [H, L, L'] per layer."""
    return pack(torch.stack(list(layers)), 2, 0.0, 1.0)


def attention_view(
    name: str | None,
    query_tokens: list[str],
    key_tokens: list[str],
    *,
    part: int = 0,
    rows: tuple[int, int] | None = None,
    columns: tuple[int, int] | None = None,
) -> View:
    """An entry of the menu: which rows and columns of which packed part it shows."""
    rows, columns = rows or (0, len(query_tokens)), columns or (0, len(key_tokens))
    return {
        "name": name,
        "left_text": query_tokens[slice(*rows)],
        "right_text": key_tokens[slice(*columns)],
        "part": part,
        "rows": rows,
        "columns": columns,
    }


def menu(id: str, label: str, options: Iterable[str] = ()) -> str:
    """A menu; BertViz's script fills it if there are no options."""
    inside = "".join(
        f'<option value="{number}">{html.escape(text)}</option>'
        for number, text in enumerate(options)
    )
    return f'<label>{label} <select id="{id}">{inside}</select></label>'


def views_menu(views: list[View]) -> str:
    """The menu of the views, if there are several."""
    return menu("filter", "Attention", (view["name"] for view in views)) if views[1:] else ""


MOST_LINES = 100_000  # of an opened head


class Shown(NamedTuple):
    """The content of a view: a list of layers, [H, L, L'], per kind of attention, and a menu."""

    caller: str
    parts: list[list[Tensor]]
    views: list[View]

    @property
    def size(self) -> tuple[int, int]:
        """The number of layers, and of heads per layer."""
        return len(self.parts[0]), self.parts[0][0].shape[0]

    @property
    def words(self) -> str:
        """The tokens on the left at first."""
        return " ".join(self.views[0]["left_text"])

    @property
    def longest(self) -> int:
        """The number of tokens in the longest column."""
        return max(len(view[side]) for view in self.views for side in ("left_text", "right_text"))


def of_a_text(
    caller: str,
    attentions: Sequence[Tensor] | Tensor,
    tokens: Sequence[str],
    sentence_b_start: int | None,
    key_tokens: Sequence[str] | None = None,
) -> Shown:
    """One text, or two sentences that see each other, or the tokens of another text as keys.

    For two sentences the menu has all tokens, each sentence with itself and each with the other.
    """
    tokens = check_tokens(caller, tokens)
    keys = tokens if key_tokens is None else check_tokens(caller, key_tokens, "key_tokens")
    parts = [check_layers(caller, attentions, tokens, keys)]
    if sentence_b_start is None:
        return Shown(caller, parts, [attention_view(None, tokens, keys)])
    if key_tokens is not None:
        raise ValueError(
            f"{caller}: sentence_b_start separates two sentences in `tokens`; with key_tokens "
            "there are two texts already; omit one of the two"
        )
    if not 0 < sentence_b_start < len(tokens):
        raise ValueError(
            f"{caller}: sentence_b_start must be from 1 to {len(tokens) - 1}, so that both "
            f"sentences have a token; got {sentence_b_start}"
        )
    a, b = (0, sentence_b_start), (sentence_b_start, len(tokens))
    pairs = {"A -> Sentence A": (a, a), "B -> Sentence B": (b, b)}
    pairs |= {"A -> Sentence B": (a, b), "B -> Sentence A": (b, a)}
    views = [attention_view("All", tokens, tokens)] + [
        attention_view(f"Sentence {name}", tokens, tokens, rows=rows, columns=columns)
        for name, (rows, columns) in pairs.items()
    ]
    return Shown(caller, parts, views)


def of_a_translation(
    caller: str,
    traced: TranslationTrace,
    source_tokens: Sequence[str],
    target_tokens: Sequence[str],
) -> Shown:
    """The attentions of an encoder-decoder: cross, encoder and decoder; see `check_layers`."""
    if not isinstance(traced, TranslationTrace):
        raise ValueError(
            f"{caller}: traced must come from trace_translation; got {type(traced).__name__}"
        )
    source = check_tokens(caller, source_tokens, "source_tokens")
    target = check_tokens(caller, target_tokens, "target_tokens")
    parts = [
        check_layers(caller, traced.cross, target, source),
        check_layers(caller, traced.encoder, source),
        check_layers(caller, traced.decoder, target),
    ]
    sizes = [(len(part), part[0].shape[0]) for part in parts]
    if len(set(sizes)) > 1:
        raise ValueError(
            f"{caller}: encoder and decoder must have the same number of layers and heads; "
            f"got (layers, heads) {sizes}"
        )
    views = [
        attention_view("Cross: target → source", target, source),
        attention_view("Encoder: source → source", source, source, part=1),
        attention_view("Decoder: target → target", target, target, part=2),
    ]
    return Shown(caller, parts, views)


def choose(caller: str, name: str, chosen: Sequence[int] | None, size: int) -> list[int]:
    """The chosen layers or heads, in order; all of them if nothing was chosen."""
    if chosen is None:
        return list(range(size))
    if isinstance(chosen, str) or not isinstance(chosen, Iterable):
        raise ValueError(f"{caller}: {name} must be a list, such as {name}=[0]; got {chosen!r}")
    if not (numbers := sorted({check_index(caller, name, index, size) for index in chosen})):
        raise ValueError(
            f"{caller}: {name} must hold at least one {name.removesuffix('s')}; omit it to see all"
        )
    return numbers


def seen_first(caller: str, name: str, value: int | None, shown: list[int], size: int) -> int:
    """The layer or the head shown first: `value`, otherwise the first of those shown."""
    if value is None:
        return shown[0]
    if (number := check_index(caller, name, value, size)) not in shown:
        raise ValueError(f"{caller}: {name} must be one of {name}s={shown}; got {value}")
    return number


def check_lines_of_a_head(caller: str, parts: list[list[Tensor]]) -> None:
    """Raise ValueError if an opened head has more lines than a browser draws at once."""
    lines = max(part[0][0].numel() for part in parts)
    if lines > MOST_LINES:
        raise ValueError(
            f"{caller}: a head of this text has {lines:,} lines; at most {MOST_LINES:,} are "
            f"drawn; shorten the text to {math.isqrt(MOST_LINES)} tokens"
        )


def check_size(caller: str, parts: list[list[Tensor]], advice: str) -> None:
    """Raise ValueError if the probabilities, [H, L, L'] per layer, are too many for one page."""
    numbers = sum(layer.numel() for part in parts for layer in part)
    most = MOST_CHARACTERS // 2
    if numbers > most:
        heads = sum(layer.shape[0] for part in parts for layer in part)
        fits = math.isqrt(most // heads)
        raise ValueError(
            f"{caller}: a page holds at most {most:,} probabilities, which makes it 3 MB; got "
            f"{numbers:,}; choose layers or heads ({advice}), or a text of at most {fits} tokens"
        )
