"""Published weights: from a Hugging Face BERT folder to our models, and back.

Only safetensors are read: a pickle can run code when it is opened.
"""

import json
import os
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, overload

from safetensors.torch import save
from torch import Tensor

from bertlab._checks import check_kind
from bertlab._files import read_json, write_atomically
from bertlab.model.bert import Bert
from bertlab.model.config import BertConfig
from bertlab.model.heads import BertForPreTraining
from bertlab.model.weight_files import read_weights
from bertlab.model.weight_names import Kind, tensor_names, tensor_shapes
from bertlab.tokenizers import WordPiece
from bertlab.tokenizers.folder import WHOLE
from bertlab.tokenizers.folder import load_tokenizer as load_tokenizer

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
    "causal": "is_decoder",
}
# They come with the course and were trained by its own loop, see the README.md in each folder. The
# first started from random weights only; the second, for lecture 10 only, with planted heads.
BERTLAB_MINI = Path(__file__).parents[1] / "weights" / "bertlab-mini"
BERTLAB_MINI_PLANTED = BERTLAB_MINI.with_name("bertlab-mini-planted")
FIXED = {"model_type": "bert", "hidden_act": "gelu", "position_embedding_type": "absolute"}
NEVER = {"add_cross_attention": False}  # other options that BERT's configuration has


@overload
def load_pretrained(folder: str | os.PathLike, kind: type[Bert] = Bert) -> Bert: ...
@overload
def load_pretrained(
    folder: str | os.PathLike, kind: type[BertForPreTraining]
) -> BertForPreTraining: ...
def load_pretrained(folder: str | os.PathLike, kind: Kind = Bert) -> Bert | BertForPreTraining:
    """Read `config.json` and `model.safetensors`; the model is in evaluation mode, float32.

    folder: may also contain a tokenizer, which `load_tokenizer` reads; kind: `BertForPreTraining`
    also reads the two heads, `Bert` does not, and reads the encoder of any other model, such as a
    classifier. Warns if there is no pooler or no head for next sentences: new ones are drawn.

    Raises FileNotFoundError if a file is missing, ValueError if `kind` is neither of the two, if
    the configuration is not a BERT's, if `vocab.txt` and the model differ in their number of words,
    or as `read_weights`, which checks all shapes before a model is created.
    """
    check_model_kind("load_pretrained: kind", kind)
    folder = Path(folder)
    for name in ("config.json", "model.safetensors"):
        if not (folder / name).is_file():
            raise FileNotFoundError(f"load_pretrained: {folder} holds no {name}{hint(folder)}")
    config = read_config(folder)
    weights = read_weights(folder / "model.safetensors", config, kind)
    model = kind(config)
    model.load_state_dict(model.state_dict() | weights)
    return model.eval()


def hint(folder: Path) -> str:
    """What a reader may have meant by a folder without a model."""
    if folder.is_file():
        return f"; it is a file: did you mean {folder.parent}?"
    if found := sorted(folder.glob("*.bin")):
        return f"; {found[0].name} is a pickle, which is never opened: save it as safetensors"
    for inside in (folder / "model", *sorted(folder.glob("*/model"))):
        if (inside / "config.json").is_file():
            return f"; did you mean {inside}?"
    if (folder / "checkpoints").is_dir():
        return "; it is a run that has not ended: finish it with --resume"
    return "" if folder.is_dir() else "; there is no such folder"


def save_pretrained(
    model: Bert | BertForPreTraining, folder: str | os.PathLike, tokenizer: WordPiece | None = None
) -> Path:
    """Write a folder that `load_pretrained` and `transformers` read; returns the folder.

    tokenizer: its vocabulary becomes `vocab.txt`, its case `tokenizer_config.json`, and what these
    two cannot say `tokenizer.json`. Each file is written atomically.

    Raises ValueError if the model has another class, if its tensors do not match its
    configuration, as after `prune_heads`, if the vocabularies of tokenizer and model differ in
    size, or if the vocabulary cannot be written as `vocab.txt`: with a gap between its ids, or a
    line break in a token.
    """
    check_model_kind("save_pretrained: model", type(model))
    config, folder = model.config, Path(folder)
    if tokenizer is not None and len(tokenizer.vocab) != config.vocab_size:
        raise ValueError(
            f"save_pretrained: tokenizer must have vocab_size={config.vocab_size} words as the "
            f"model; got {len(tokenizer.vocab)}; do they belong together?"
        )
    tensors = their_tensors(model)
    folder.mkdir(parents=True, exist_ok=True)
    if tokenizer is not None:  # first, since it rejects a vocabulary with gaps
        text = tokenizer.save_vocab(folder / "vocab.txt")
        case = {"do_lower_case": tokenizer.lowercase, "strip_accents": tokenizer.strip_accents}
        write_atomically(folder / "tokenizer_config.json", json.dumps(case, indent=2) + "\n")
        plain = WordPiece.from_vocab(
            text, lowercase=tokenizer.lowercase, strip_accents=tokenizer.strip_accents
        )
        if (folder / WHOLE).exists() or replace(tokenizer, merges=(), gains=()) != plain:
            tokenizer.save(folder / WHOLE)
    write_atomically(folder / "model.safetensors", save(tensors, metadata={"format": "pt"}))
    values = FIXED | {theirs: getattr(config, ours) for ours, theirs in CONFIG_NAMES.items()}
    values |= {
        "attention_probs_dropout_prob": config.dropout,
        "architectures": ["BertModel" if isinstance(model, Bert) else "BertForPreTraining"],
        "dtype": str(next(model.parameters()).dtype).removeprefix("torch."),
    }
    write_atomically(folder / "config.json", json.dumps(values, indent=2, sort_keys=True) + "\n")
    return folder


def their_tensors(model: Bert | BertForPreTraining) -> dict[str, Tensor]:
    """A model's tensors under Hugging Face's names.

    Raises ValueError if a shape is not that of the configuration: the file could not be read again.
    """
    state, kind = model.state_dict(), type(model)
    shapes, tensors = tensor_shapes(model.config, kind), {}
    for ours, theirs in tensor_names(model.config.n_layers, kind).items():
        parts = state[ours].chunk(len(theirs))
        for name, part in zip(theirs, parts, strict=True):
            if list(part.shape) != shapes[name]:
                raise ValueError(
                    f"save_pretrained: model must have the shapes that its config says; {name} is "
                    f"{list(part.shape)} and not {shapes[name]}; a config cannot say which heads "
                    "were pruned: save the whole model, and call prune_heads after loading it"
                )
            tensors[name] = part.contiguous()
    return tensors


def check_model_kind(where: str, kind: type) -> None:
    """Raise ValueError unless it is a model whose tensors have published names."""
    if kind not in (Bert, BertForPreTraining):
        raise ValueError(
            f"{where} must be Bert or BertForPreTraining; got {getattr(kind, '__name__', kind)}"
        )


def read_config(folder: Path) -> BertConfig:
    """Turn a folder's `config.json` into a `BertConfig`; checks it against `vocab.txt`."""
    path = folder / "config.json"
    values = read_json(path)
    if not isinstance(values, dict):
        raise ValueError(
            f"load_pretrained: {path} must hold names and values, {{...}}; "
            f"got {type(values).__name__}; fetch it again"
        )
    for name, value in (FIXED | NEVER).items():
        if values.get(name, value) != value:
            raise ValueError(
                f"load_pretrained: {name} must be {value!r}, as in BERT; got {values[name]!r}"
            )
    values.setdefault("is_decoder", False)
    missing = [theirs for theirs in CONFIG_NAMES.values() if theirs not in values]
    if missing:
        raise ValueError(f"load_pretrained: config.json does not say {', '.join(missing)}")
    for field in fields(BertConfig):
        theirs = CONFIG_NAMES[field.name]
        kind: Any = field.type  # the class itself, as no annotation of ours is a string
        check_kind(f"load_pretrained: {path}", theirs, values[theirs], kind)
    try:
        config = BertConfig(**{ours: values[theirs] for ours, theirs in CONFIG_NAMES.items()})
    except ValueError as error:
        raise ValueError(f"load_pretrained: {path} is not a BERT's; {error}") from error
    if (folder / "vocab.txt").is_file() and not (folder / WHOLE).is_file():  # which may add words
        words = len((folder / "vocab.txt").read_bytes().splitlines())
        if words != config.vocab_size:
            raise ValueError(
                f"load_pretrained: vocab.txt must have vocab_size={config.vocab_size} lines; "
                f"got {words}; do the files belong together?"
            )
    return config
