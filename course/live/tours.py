"""A tour of BERT with a model that runs in the reader's browser: the book's first page."""

import base64
import html
import json
import zlib
from collections.abc import Mapping
from pathlib import Path

from bertlab.model.pretrained import BERTLAB_MINI
from bertlab.viz.frames import read_asset, script_tag

WEIGHTS = "bertlab-mini.js"  # next to the page with the tour
SENTENCE = "The old fisherman opened his [MASK] and looked at the sky."
STATIONS = ("pieces", "vectors", "attention", "stack", "guess")


def tour(links: Mapping[str, str], text: str = SENTENCE) -> str:
    """HTML for a page: a text box, and five stations from the sentence to the predicted word.

    links: for each of `STATIONS` a sentence of HTML that refers to further reading; text: the
    initial text of the box. The page needs `WEIGHTS` next to it: see `packed_weights`.

    Raises ValueError if `links` are not those of the stations.
    """
    if set(links) != set(STATIONS):
        raise ValueError(f"tour: links must be for {', '.join(STATIONS)}; got {', '.join(links)}")
    config = json.loads((BERTLAB_MINI / "config.json").read_text(encoding="utf-8"))
    size = (BERTLAB_MINI / "model.safetensors").stat().st_size
    body = read_asset("tour.html", __package__).format(
        text=html.escape(text),
        megabytes=round(4 / 3 * size / 1e6),  # base64 writes three bytes as four letters
        vocabulary=f"{config['vocab_size']:,}",
        width=config["hidden_size"],
        layers=config["num_hidden_layers"],
        heads=config["num_attention_heads"],
        last_layer=config["num_hidden_layers"] - 1,
        last_head=config["num_attention_heads"] - 1,
        **links,
    )
    model = script_tag(read_asset("bert.js", __package__)).replace(
        "<script>", '<script id="bert-js">', 1
    )
    return (
        f"<style>\n{read_asset('tour.css', __package__)}</style>\n"
        f'<div class="bert-tour" data-weights="{WEIGHTS}">\n{body}</div>\n'
        f"{model}\n{script_tag(read_asset('tour.js', __package__))}"
    )


def packed_weights(folder: Path = BERTLAB_MINI) -> str:
    """A half-precision model as one script, which a page opened from a file can also load.

    It sets `bertlabWeights`: config, vocab, weights (base64 of the safetensors) and their adler32.
    """
    weights = (folder / "model.safetensors").read_bytes()
    packed = {
        "config": json.loads((folder / "config.json").read_text(encoding="utf-8")),
        "vocab": (folder / "vocab.txt").read_text(encoding="utf-8"),
        "weights": base64.b64encode(weights).decode("ascii"),
        "sum": zlib.adler32(weights),
    }
    return f"window.bertlabWeights = {json.dumps(packed)};\n"
