"""A tour of BERT with a model that runs in the reader's browser: the book's first page."""

import base64
import html
import json
import os
import re
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from bertlab.model.pretrained import BERTLAB_MINI
from bertlab.viz.bertviz_pages import HEAD_COLOURS
from bertlab.viz.frames import read_asset, script_tag
from course.live.stored import LAYER, Example, drawn, packed, read

WEIGHTS = "bertlab-mini.js"  # next to the page with the tour
SUMMARY = "No kernel? <code>bertlab-mini</code> also runs in this page."
STATIONS = ("pieces", "vectors", "attention", "stack", "guess")
PLACES = ("arcs", "words", "reading", "note", "ids", "strip", "shares", "strips", "guesses")


def tour(links: Mapping[str, str], examples: Sequence[Example], folder: Path = BERTLAB_MINI) -> str:
    """HTML for a page: a sentence with arcs for attention, and five stations to its prediction.

    links: for each of `STATIONS` a sentence of HTML that refers to further reading; examples: at
    least one; all are read here, and the page shows the first one as it is delivered; folder: of
    the model. Its weights are loaded when the reader types or scrolls to the box: they must be in
    the page, in a script of their own, or next to it as `WEIGHTS`: see `packed_weights`.

    Raises ValueError if `links` are not those of the stations.
    """
    if set(links) != set(STATIONS):
        raise ValueError(f"tour: links must be for {', '.join(STATIONS)}; got {', '.join(links)}")
    answers = read(examples, folder)
    stored = json.dumps([packed(answer) for answer in answers]).replace("<", "\\u003c")
    shown = {**drawn(answers[0]), "examples": _buttons(examples), "stored": stored, "hidden": ""}
    return _room({**links, **shown}, examples[0].text, folder) + f"\n{_scripts()}"


def _buttons(examples: Sequence[Example]) -> str:
    """A button for each example, those on which the model fails apart; nothing for only one."""
    if len(examples) == 1:
        return ""
    groups: dict[str, str] = {"Sentences:": "", "Where it is wrong:": ""}
    right, wrong = groups
    for k, example in enumerate(examples):
        groups[wrong if example.wrong else right] += (
            f'<button type="button" data-example="{k}" aria-pressed="{"false" if k else "true"}">'
            f"{example.label}</button>"
        )
    return "".join(
        f'<p role="group" aria-label="{name[:-1]}">{name} {buttons}</p>'
        for name, buttons in groups.items()
        if buttons
    )


def live_box(stations: Sequence[str], text: str) -> str:
    """HTML for a notebook: some stations of the tour, folded, for a reader without a kernel.

    stations: those of `STATIONS` that are shown; text: the initial text of the box. The weights are
    in the page (`pages`) or next to it (the book), or JupyterLab's server has their files.

    Raises ValueError for an unknown station.
    """
    if unknown := set(stations) - set(STATIONS):
        raise ValueError(
            f"live_box: stations must be of {', '.join(STATIONS)}; got {', '.join(unknown)}"
        )
    nothing = dict.fromkeys((*STATIONS, *PLACES, "examples", "style"), "")
    room = _room({**nothing, "stored": "[]", "hidden": " hidden"}, text, BERTLAB_MINI)
    room = re.sub(r"<h2>.*?</h2>|<p class=\"story\">.*?</p>", "", room, flags=re.DOTALL)
    if "guess" not in stations:
        room = room.replace(", with [MASK] in place of a word to predict", "")
    for station in set(STATIONS) - set(stations):
        room = room.replace(f'<li data-station="{station}">', "<li hidden>")
    # JupyterLab makes the link the address of the server's file, and leaves our keys to us.
    return (
        f'<details class="bert-box" data-lm-suppress-shortcuts="true"><summary>{SUMMARY}</summary>'
        f'<a class="weights" href="{_from_here(BERTLAB_MINI)}/config.json" hidden>its files</a>'
        f"{room}</details>\n{_scripts()}"
    )


def _from_here(folder: Path) -> str:
    """The folder's path as seen from the notebook's."""
    try:
        return Path(os.path.relpath(folder)).as_posix()
    except ValueError:  # on another drive of Windows, which no server shows
        return ""


def _room(parts: Mapping[str, str], text: str, folder: Path) -> str:
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    weights = folder / "model.safetensors"
    megabytes = 4 / 3 * weights.stat().st_size / 1e6  # base64: three bytes, four letters
    body = read_asset("tour.html", __package__).format(
        text=html.escape(text),
        megabytes=f"{megabytes:.1f}" if megabytes < 1 else round(megabytes),
        vocabulary=f"{config['vocab_size']:,}",
        width=config["hidden_size"],
        layers=config["num_hidden_layers"],
        heads=config["num_attention_heads"],
        last_layer=config["num_hidden_layers"] - 1,
        layer=min(LAYER, config["num_hidden_layers"] - 1),
        **parts,
    )
    return (
        f"<style>\n{read_asset('tour.css', __package__)}{_colours()}</style>\n"
        f'<div class="bert-tour" data-weights="{WEIGHTS}" '
        f'data-heads="{config["num_attention_heads"]}" '
        f'data-sum="{zlib.adler32(weights.read_bytes())}">\n{body}</div>'
    )


def _colours() -> str:
    """Rules: each head's arcs and words have the colour it has in every view, and a height."""
    return "".join(
        f".bert-tour :is(.arcs div, .reading span):nth-of-type({head + 1}) "
        f"{{ --colour: {colour}; --head: {head % 4}; }}\n"
        for head, colour in enumerate(HEAD_COLOURS)
    )


def _scripts() -> str:
    """The model's code, which only a worker runs, and the tour's."""
    model = script_tag(read_asset("bert.js", __package__))
    model = model.replace("<script>", '<script type="text/plain" class="bert-js">', 1)
    return f"{model}\n{script_tag(read_asset('tour.js', __package__))}"


def packed_weights(folder: Path = BERTLAB_MINI) -> str:
    """A half-precision model as one script, which a page opened from a file can also load.

    It sets `bertlabWeights`: config, vocab, and weights (base64 of the safetensors).
    """
    weights = (folder / "model.safetensors").read_bytes()
    packed = {
        "config": json.loads((folder / "config.json").read_text(encoding="utf-8")),
        "vocab": (folder / "vocab.txt").read_text(encoding="utf-8"),
        "weights": base64.b64encode(weights).decode("ascii"),
    }
    return f"window.bertlabWeights = {json.dumps(packed)};\n"
