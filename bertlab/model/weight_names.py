"""Names and shapes of the tensors of a published BERT.

`pretrained.py` writes them, `weight_files.py` reads them.
"""

import re

from bertlab.model.bert import Bert
from bertlab.model.config import BertConfig
from bertlab.model.heads import BertForPreTraining

Kind = type[Bert] | type[BertForPreTraining]  # models whose tensors have published names

# Our part -> their names for it, stacked in this order. "{}" is the number of the layer.
ENCODER_PARTS: dict[str, tuple[str, ...]] = {
    "embeddings.token": ("embeddings.word_embeddings",),
    "embeddings.position": ("embeddings.position_embeddings",),
    "embeddings.segment": ("embeddings.token_type_embeddings",),
    "embeddings.norm": ("embeddings.LayerNorm",),
    "pooler": ("pooler.dense",),
}
LAYER_PARTS = {
    "attention.query_key_value": (
        "attention.self.query",
        "attention.self.key",
        "attention.self.value",
    ),
    "attention.output": ("attention.output.dense",),
    "attention_norm": ("attention.output.LayerNorm",),
    "feed_forward.expand": ("intermediate.dense",),
    "feed_forward.contract": ("output.dense",),
    "feed_forward_norm": ("output.LayerNorm",),
}
HEAD_PARTS: dict[str, tuple[str, ...]] = {
    "mlm_head.transform": ("cls.predictions.transform.dense",),
    "mlm_head.norm": ("cls.predictions.transform.LayerNorm",),
    "nsp_head": ("cls.seq_relationship",),
}
# Second copies in their files: the tied unembedding and its bias; 0, 1, 2, ... is not a weight.
COPIES = {
    "cls.predictions.decoder.weight": "bert.embeddings.word_embeddings.weight",
    "cls.predictions.decoder.bias": "cls.predictions.bias",
}
POSITION_IDS = "embeddings.position_ids"
# Parts that a checkpoint for another task may lack; new ones are drawn.
REPLACEABLE = ("pooler.dense", "cls.seq_relationship")
ENCODER = ("bert.", "embeddings.", "encoder.", "pooler.")
# What PyTorch puts before a name: `DataParallel`, `DistributedDataParallel` and `compile`.
WRAPPERS = re.compile(r"^(module\.|_orig_mod\.)+|_orig_mod\.")
OLD_NAMES = {"LayerNorm.gamma": "LayerNorm.weight", "LayerNorm.beta": "LayerNorm.bias"}
LAYER_TENSORS = 2 * sum(map(len, LAYER_PARTS.values()))  # a weight and a bias each


def tensor_names(n_layers: int, kind: Kind = Bert) -> dict[str, tuple[str, ...]]:
    """Our name of every tensor -> Hugging Face's, several if ours stacks theirs."""
    parts: dict[str, tuple[str, ...]] = dict(ENCODER_PARTS)
    for layer in range(n_layers):
        for ours, theirs in LAYER_PARTS.items():
            parts[f"layers.{layer}.{ours}"] = tuple(
                f"encoder.layer.{layer}.{name}" for name in theirs
            )
    names: dict[str, tuple[str, ...]] = {}
    if kind is BertForPreTraining:
        parts = {
            f"bert.{ours}": tuple(f"bert.{name}" for name in theirs)
            for ours, theirs in parts.items()
        } | HEAD_PARTS
        names["mlm_head.bias"] = ("cls.predictions.bias",)
    for ours, theirs in parts.items():
        norm = ours.endswith("norm")
        names[f"{ours}.gamma" if norm else f"{ours}.weight"] = _each(theirs, "weight")
        if not theirs[0].endswith("_embeddings"):
            names[f"{ours}.beta" if norm else f"{ours}.bias"] = _each(theirs, "bias")
    return names


def tensor_shapes(config: BertConfig, kind: Kind = Bert) -> dict[str, list[int]]:
    """Hugging Face's name of every tensor -> its shape by the configuration."""
    V, D = config.vocab_size, config.d_model
    matrices = {
        "embeddings.token": [V, D],
        "embeddings.position": [config.max_length, D],
        "embeddings.segment": [config.n_segments, D],
        "feed_forward.expand": [config.d_ff, D],
        "feed_forward.contract": [D, config.d_ff],
        "mlm_head": [V, D],  # the tied unembedding; its bias alone is a tensor of its own
        "nsp_head": [2, D],
    }
    shapes: dict[str, list[int]] = {}
    for ours, theirs in tensor_names(config.n_layers, kind).items():
        part, _, end = re.sub(r"^(bert\.)?(layers\.\d+\.)?", "", ours).rpartition(".")
        matrix = matrices.get(part, [D, D])
        shape = matrix if end == "weight" else matrix[:1]  # norms and biases are vectors
        shapes |= dict.fromkeys(theirs, shape)
    return shapes


def present_name(name: str) -> str:
    """A tensor's name in today's files, without what PyTorch's wrappers put before it.

    In the first published checkpoints, such as bert-base-uncased, a norm's scale and shift are
    called gamma and beta.
    """
    name = WRAPPERS.sub("", name)
    for old, new in OLD_NAMES.items():
        if name.endswith(old):
            return name.removesuffix(old) + new
    return name


def _each(names: tuple[str, ...], end: str) -> tuple[str, ...]:
    return tuple(f"{name}.{end}" for name in names)
