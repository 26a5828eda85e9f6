"""Published weights: a Hugging Face BERT folder into our `Bert`.

Only safetensors are read: a pickle can run code when it is opened.
"""

import json
import os
from pathlib import Path

from bertlab.model.bert import Bert
from bertlab.model.config import BertConfig

# Their name for a part -> ours. "{}" is the number of the layer.
PARTS = {
    "embeddings.word_embeddings": "embeddings.token",
    "embeddings.position_embeddings": "embeddings.position",
    "embeddings.token_type_embeddings": "embeddings.segment",
    "embeddings.LayerNorm": "embeddings.norm",
    "pooler.dense": "pooler",
}
LAYER_PARTS = {
    "encoder.layer.{}.attention.self.query": "layers.{}.attention.query",
    "encoder.layer.{}.attention.self.key": "layers.{}.attention.key",
    "encoder.layer.{}.attention.self.value": "layers.{}.attention.value",
    "encoder.layer.{}.attention.output.dense": "layers.{}.attention.output",
    "encoder.layer.{}.attention.output.LayerNorm": "layers.{}.attention_norm",
    "encoder.layer.{}.intermediate.dense": "layers.{}.feed_forward.expand",
    "encoder.layer.{}.output.dense": "layers.{}.feed_forward.contract",
    "encoder.layer.{}.output.LayerNorm": "layers.{}.feed_forward_norm",
}


def load_pretrained(folder: str | os.PathLike) -> Bert:
    """Read `config.json` and `model.safetensors` from `folder`; the model is in evaluation mode.

    Raises FileNotFoundError if a file is missing, ValueError if the configuration is not a
    BERT's or if tensors are missing, unexpected or of another shape (all are listed).
    """
    from safetensors.torch import load_file  # only who reads weights needs the package

    folder = Path(folder)
    for name in ("config.json", "model.safetensors"):
        if not (folder / name).is_file():
            raise FileNotFoundError(f"load_pretrained: {folder} holds no {name}")
    config = read_config(json.loads((folder / "config.json").read_text(encoding="utf-8")))
    model = Bert(config)
    wanted, theirs = model.state_dict(), tensor_names(config.n_layers)
    tensors = load_file(folder / "model.safetensors")
    tensors = {name.removeprefix("bert."): tensor for name, tensor in tensors.items()}
    tensors.pop("embeddings.position_ids", None)  # 0, 1, 2, ...: not a weight
    faults = [f"missing: {name}" for name in theirs if name not in tensors]
    faults += [f"unexpected: {name}" for name in tensors if name not in theirs]
    faults += [
        f"shape of {name}: expected {list(wanted[ours].shape)}, got {list(tensors[name].shape)}"
        for name, ours in theirs.items()
        if name in tensors and tensors[name].shape != wanted[ours].shape
    ]
    if faults:
        raise ValueError(f"load_pretrained: {folder} does not fit Bert; " + "; ".join(faults))
    model.load_state_dict({ours: tensors[name] for name, ours in theirs.items()})
    return model.eval()


def read_config(values: dict) -> BertConfig:
    """Turn the content of a Hugging Face `config.json` into a `BertConfig`."""
    expected = {"model_type": "bert", "hidden_act": "gelu", "position_embedding_type": "absolute"}
    for name, value in expected.items():
        if values.get(name, value) != value:
            raise ValueError(
                f"load_pretrained: {name} must be {value!r}, as in BERT; got {values[name]!r}"
            )
    return BertConfig(
        vocab_size=values["vocab_size"],
        d_model=values["hidden_size"],
        n_layers=values["num_hidden_layers"],
        n_heads=values["num_attention_heads"],
        d_ff=values["intermediate_size"],
        max_length=values["max_position_embeddings"],
        n_segments=values["type_vocab_size"],
        dropout=values["hidden_dropout_prob"],
        layer_norm_eps=values["layer_norm_eps"],
    )


def tensor_names(n_layers: int) -> dict[str, str]:
    """Hugging Face's name of every tensor of a bare BERT -> ours."""
    parts = dict(PARTS)
    for layer in range(n_layers):
        for theirs, ours in LAYER_PARTS.items():
            parts[theirs.format(layer)] = ours.format(layer)
    names = {}
    for theirs, ours in parts.items():
        names[f"{theirs}.weight"] = f"{ours}.gamma" if "norm" in ours else f"{ours}.weight"
        if not theirs.endswith("_embeddings"):
            names[f"{theirs}.bias"] = f"{ours}.beta" if "norm" in ours else f"{ours}.bias"
    return names
