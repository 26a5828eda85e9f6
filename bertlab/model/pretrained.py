"""Published weights: a Hugging Face BERT folder into our models, and back.

Only safetensors are read: a pickle can run code when it is opened.
"""

import json
import os
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save
from torch import Tensor

from bertlab._files import write_atomically
from bertlab.model.bert import Bert
from bertlab.model.config import BertConfig
from bertlab.model.heads import BertForPreTraining
from bertlab.tokenizers import WordPiece
from bertlab.tokenizers.vocab_txt import read_case

# Our part -> their names for it, stacked in this order. "{}" is the number of the layer.
ENCODER_PARTS = {
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
HEAD_PARTS = {
    "mlm_head.transform": ("cls.predictions.transform.dense",),
    "mlm_head.norm": ("cls.predictions.transform.LayerNorm",),
    "nsp_head": ("cls.seq_relationship",),
}
# In their files a second time: the tied unembedding and its bias; 0, 1, 2, ... is not a weight.
COPIES = {
    "cls.predictions.decoder.weight": "bert.embeddings.word_embeddings.weight",
    "cls.predictions.decoder.bias": "cls.predictions.bias",
}
POSITION_IDS = "embeddings.position_ids"
# Our configuration <-> theirs.
CONFIG_NAMES = {
    "vocab_size": "vocab_size",
    "d_model": "hidden_size",
    "n_layers": "num_hidden_layers",
    "n_heads": "num_attention_heads",
    "d_ff": "intermediate_size",
    "max_length": "max_position_embeddings",
    "n_segments": "type_vocab_size",
    "dropout": "hidden_dropout_prob",
    "layer_norm_eps": "layer_norm_eps",
}
# Comes with the course: trained by its own loop, see the README.md in that folder.
BERTLAB_MINI = Path(__file__).parents[1] / "weights" / "bertlab-mini"
HEADS = ("cls.predictions.", "cls.seq_relationship.")  # of pre-training
FIXED = {"model_type": "bert", "hidden_act": "gelu", "position_embedding_type": "absolute"}


def load_pretrained(
    folder: str | os.PathLike, kind: type[Bert] | type[BertForPreTraining] = Bert
) -> Bert | BertForPreTraining:
    """Read `config.json` and `model.safetensors`; the model is in evaluation mode, float32.

    folder: also holds `vocab.txt` if the model comes with its tokenizer, which
    `load_tokenizer` reads; kind: `BertForPreTraining` reads the two heads as well, which
    `Bert` leaves in the file.

    Raises FileNotFoundError if a file is missing, ValueError if the configuration is not a
    BERT's, if tensors are missing, unexpected or of another shape (all are listed), if the file
    is damaged, or if `vocab.txt` has another number of words than the model.
    """
    folder = Path(folder)
    for name in ("config.json", "model.safetensors"):
        if not (folder / name).is_file():
            raise FileNotFoundError(f"load_pretrained: {folder} holds no {name}")
    config = read_config(folder)
    try:
        tensors = load_file(folder / "model.safetensors")
    except SafetensorError as error:
        raise ValueError(
            f"load_pretrained: {folder / 'model.safetensors'} cannot be read ({error}); is the "
            "file whole? Fetch it again"
        ) from error
    model = kind(config)
    names = tensor_names(config.n_layers, kind)
    if kind is Bert:
        tensors = {name: t for name, t in tensors.items() if not name.startswith(HEADS)}
    model.load_state_dict(_fit(folder, tensors, names, model.state_dict()))
    return model.eval()


def load_tokenizer(folder: str | os.PathLike) -> WordPiece:
    """The tokenizer beside a model: `vocab.txt`, and its case from `tokenizer_config.json`.

    Without the second file it is uncased, as most published models are. Raises FileNotFoundError
    without the first, ValueError if a file is damaged or says what our WordPiece does not do.
    """
    folder = Path(folder)
    case = read_case(folder / "tokenizer_config.json")
    return WordPiece.from_vocab(
        folder / "vocab.txt",
        lowercase=case.get("do_lower_case", True),
        strip_accents=case.get("strip_accents"),
    )


def save_pretrained(
    model: Bert | BertForPreTraining, folder: str | os.PathLike, tokenizer: WordPiece | None = None
) -> Path:
    """Write a folder that `load_pretrained` and `transformers` read; returns the folder.

    tokenizer: its vocabulary becomes `vocab.txt`, its case `tokenizer_config.json`. Each file is
    written whole or not at all.

    Raises ValueError if the tokenizer's vocabulary is not as large as the model's, or if it cannot
    be written as `vocab.txt`: with a gap between its ids, or a line break in a token.
    """
    config, folder = model.config, Path(folder)
    if tokenizer is not None and len(tokenizer.vocab) != config.vocab_size:
        raise ValueError(
            f"save_pretrained: tokenizer must have vocab_size={config.vocab_size} words as the "
            f"model; got {len(tokenizer.vocab)}; do they belong together?"
        )
    folder.mkdir(parents=True, exist_ok=True)
    if tokenizer is not None:  # first, since it refuses a vocabulary with gaps
        tokenizer.save_vocab(folder / "vocab.txt")
        case = {"do_lower_case": tokenizer.lowercase, "strip_accents": tokenizer.strip_accents}
        write_atomically(folder / "tokenizer_config.json", json.dumps(case, indent=2) + "\n")
    tensors = {}
    for ours, theirs in tensor_names(config.n_layers, type(model)).items():
        parts = model.state_dict()[ours].chunk(len(theirs))
        tensors |= {name: part.contiguous() for name, part in zip(theirs, parts, strict=True)}
    write_atomically(folder / "model.safetensors", save(tensors, metadata={"format": "pt"}))
    values = FIXED | {theirs: getattr(config, ours) for ours, theirs in CONFIG_NAMES.items()}
    values |= {
        "attention_probs_dropout_prob": config.dropout,
        "is_decoder": config.causal,
        "architectures": ["BertModel" if isinstance(model, Bert) else "BertForPreTraining"],
        "dtype": str(next(model.parameters()).dtype).removeprefix("torch."),
    }
    write_atomically(folder / "config.json", json.dumps(values, indent=2, sort_keys=True) + "\n")
    return folder


def read_config(folder: Path) -> BertConfig:
    """Turn a folder's `config.json` into a `BertConfig`; checks it against `vocab.txt`."""
    try:
        values = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(
            f"load_pretrained: {folder / 'config.json'} is not JSON ({error}); fetch it again"
        ) from error
    for name, value in FIXED.items():
        if values.get(name, value) != value:
            raise ValueError(
                f"load_pretrained: {name} must be {value!r}, as in BERT; got {values[name]!r}"
            )
    missing = [theirs for theirs in CONFIG_NAMES.values() if theirs not in values]
    if missing:
        raise ValueError(f"load_pretrained: config.json does not say {', '.join(missing)}")
    config = BertConfig(
        **{ours: values[theirs] for ours, theirs in CONFIG_NAMES.items()},
        causal=bool(values.get("is_decoder", False)),
    )
    if (folder / "vocab.txt").is_file():
        words = len((folder / "vocab.txt").read_bytes().splitlines())
        if words != config.vocab_size:
            raise ValueError(
                f"load_pretrained: vocab.txt must have vocab_size={config.vocab_size} lines; "
                f"got {words}; do the files belong together?"
            )
    return config


def tensor_names(
    n_layers: int, kind: type[Bert] | type[BertForPreTraining] = Bert
) -> dict[str, tuple[str, ...]]:
    """Our name of every tensor -> Hugging Face's, several where ours stacks theirs."""
    parts = dict(ENCODER_PARTS)
    for layer in range(n_layers):
        for ours, theirs in LAYER_PARTS.items():
            parts[f"layers.{layer}.{ours}"] = tuple(
                f"encoder.layer.{layer}.{name}" for name in theirs
            )
    names = {}
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


def _each(names: tuple[str, ...], end: str) -> tuple[str, ...]:
    return tuple(f"{name}.{end}" for name in names)


def _fit(
    folder: Path,
    tensors: dict[str, Tensor],
    names: dict[str, tuple[str, ...]],
    wanted: dict[str, Tensor],
) -> dict[str, Tensor]:
    """The file's tensors under our names, stacked; every one that does not fit is listed."""
    if not any(name.startswith("bert.") for theirs in names.values() for name in theirs):
        tensors = {name.removeprefix("bert."): tensor for name, tensor in tensors.items()}
    tensors = {n: tensor for n, tensor in tensors.items() if not n.endswith(POSITION_IDS)}
    expected = {
        name: [wanted[ours].shape[0] // len(theirs), *wanted[ours].shape[1:]]
        for ours, theirs in names.items()
        for name in theirs
    }
    for copy, original in COPIES.items():
        if original in expected and original in tensors and copy in tensors:
            if not torch.equal(tensors[copy], tensors[original]):
                raise ValueError(
                    f"load_pretrained: {copy} must equal {original}, as in BERT, whose unembedding "
                    f"is tied to its embeddings; in {folder} they differ"
                )
            del tensors[copy]
    faults = [f"missing: {name}" for name in expected if name not in tensors]
    faults += [f"unexpected: {name}" for name in tensors if name not in expected]
    faults += [
        f"shape of {name}: expected {expected[name]}, got {list(tensors[name].shape)}"
        for name in expected
        if name in tensors and list(tensors[name].shape) != expected[name]
    ]
    if faults:
        raise ValueError(f"load_pretrained: {folder} does not fit the model; {'; '.join(faults)}")
    return {
        ours: torch.cat([tensors[name].float() for name in theirs])
        for ours, theirs in names.items()
    }
