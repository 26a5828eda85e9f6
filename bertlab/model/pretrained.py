"""Published weights: from a Hugging Face BERT folder to our models and tokenizer, and back.

Only safetensors are read: a pickle can run code when it is opened. The header of
`model.safetensors` gives every tensor's name, shape and dtype; they are compared with the
configuration first, so that wrong sizes cost neither memory nor time.
"""

import json
import os
import re
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, NamedTuple, overload

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn

from bertlab._files import read_json, write_atomically
from bertlab.model.bert import Bert, sizes_alone
from bertlab.model.checks import check_fits, check_kind
from bertlab.model.config import BertConfig
from bertlab.model.heads import BertForPreTraining
from bertlab.tokenizers.files import WHOLE
from bertlab.tokenizers.wordpiece import WordPiece


class Component(NamedTuple):
    """Identical parts of a model, such as the norms after attention, one in each layer."""

    name: str  # as in the code, without the layer's number
    shapes: tuple[str, ...]  # of one copy, such as ("30,522 × 768",)
    copies: int
    parameters: int  # of all copies together


@dataclass(frozen=True)
class ParameterTable:
    """The components in the order in which data flows; printing it shows the table."""

    components: tuple[Component, ...]

    @property
    def total(self) -> int:
        """All parameters; one that is used twice, such as tied embeddings, counts once."""
        return sum(component.parameters for component in self.components)

    def part(self, prefix: str) -> int:
        """Parameters of the components whose name starts with `prefix`, such as "layers"."""
        return sum(c.parameters for c in self.components if c.name.startswith(prefix))

    def rows(self) -> list[tuple[str, str, str]]:
        """(component, shape, parameters) as text, and the total in the last row."""
        rows = [
            (
                component.name,
                " + ".join(component.shapes),
                f"{component.copies} × {component.parameters // component.copies:,} = "
                f"{component.parameters:,}"
                if component.copies > 1
                else f"{component.parameters:,}",
            )
            for component in self.components
        ]
        return [*rows, ("total", "", f"{self.total:,}")]

    def __str__(self) -> str:
        rows = self.rows()
        widths = [max(len(row[column]) for row in rows) for column in range(3)]
        return "\n".join(
            f"{name:<{widths[0]}}  {shape:<{widths[1]}}  {number:>{widths[2]}}"
            for name, shape, number in rows
        )

    __repr__ = __str__


def count_parameters(model: nn.Module | BertConfig) -> ParameterTable:
    """Count a model's parameters by component; identical parts of all layers make one row.

    model: any module. A `BertConfig` means the whole pre-training model of that size, which is
    counted without allocating its weights; its encoder is the part "bert".

    >>> count_parameters(nn.Sequential(nn.Linear(3, 4), nn.LayerNorm(4)))
    0      4 × 3 + 4  16
    1      4 + 4       8
    total             24
    """
    if isinstance(model, BertConfig):
        with sizes_alone():
            model = BertForPreTraining(model)
    found: dict[str, list[tuple[str, str, int]]] = {}
    for name, parameter in model.named_parameters():
        owner, _, _ = name.rpartition(".")
        component = re.sub(r"\.\d+(?=\.)", "", owner) or "model"
        shape = " × ".join(f"{size:,}" for size in parameter.shape)
        found.setdefault(component, []).append((owner, shape, parameter.numel()))
    return ParameterTable(
        tuple(
            Component(
                name=component,
                shapes=tuple(shape for owner, shape, _ in parts if owner == parts[0][0]),
                copies=len({owner for owner, _, _ in parts}),
                parameters=sum(number for _, _, number in parts),
            )
            for component, parts in found.items()
        )
    )


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
NORM_ENDS = {"weight": "gamma", "bias": "beta"}  # theirs -> ours
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
        ends = ("weight",) if theirs[0].endswith("_embeddings") else ("weight", "bias")
        for end in ends:
            our_end = NORM_ENDS[end] if ours.endswith("norm") else end
            names[f"{ours}.{our_end}"] = tuple(f"{name}.{end}" for name in theirs)
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


DTYPES = ("F16", "BF16", "F32", "F64")  # as safetensors calls them
HEADLESS = (
    ": it was saved without the head that guesses words; load_pretrained(folder) reads the encoder"
)
SHOWN = 3  # faults that a message names


def read_weights(path: Path, config: BertConfig, kind: Kind) -> dict[str, Tensor]:
    """The file's tensors under our names, stacked, float32.

    A checkpoint for another task may lack the pooler or the head for next sentences; then ours are
    not among the tensors either, and a warning says so.

    Raises ValueError if the file is damaged, or if tensors are missing, unexpected, of another
    shape or not floating-point numbers: the message names the first three and counts the others;
    or if a second copy of a tied weight differs from the weight itself.
    """
    try:
        with safe_open(path, framework="pt") as file:
            stored = stored_names(path, file.keys(), kind)
            copies = {c: o for c, o in COPIES.items() if c in stored and o in stored}
            found = {name: file.get_slice(stored[name]) for name in stored if name not in copies}
            replaceable = REPLACEABLE if kind is BertForPreTraining else REPLACEABLE[:1]
            lacking = [part for part in replaceable if not any(part in name for name in found)]
            check_tensors(path, found, config, kind, lacking)
            for copy, original in copies.items():
                one, other = file.get_tensor(stored[copy]), file.get_tensor(stored[original])
                if one.dtype != other.dtype or not torch.equal(one, other):
                    raise ValueError(
                        f"load_pretrained: {copy} must equal {original}, as in BERT, whose "
                        f"unembedding is tied to its embeddings; in {path} they differ"
                    )
            if lacking:
                warnings.warn(
                    f"load_pretrained: {path} has no {' and no '.join(lacking)}; drawn at random "
                    "instead, so train it before you use what it computes",
                    stacklevel=3,
                )
            return {
                ours: torch.cat([file.get_tensor(stored[name]).float() for name in theirs])
                for ours, theirs in tensor_names(config.n_layers, kind).items()
                if not any(part in theirs[0] for part in lacking)
            }
    except SafetensorError as error:
        raise ValueError(
            f"load_pretrained: {path} cannot be read ({error}); is the file whole? Fetch it again"
        ) from error


def stored_names(path: Path, names: Iterable[str], kind: Kind) -> dict[str, str]:
    """Today's name of each tensor that is a weight of this kind -> its name in the file.

    For `Bert`, the heads that stand beside an encoder's "bert." are not among them.

    Raises ValueError if two tensors of the file would be the same weight.
    """
    present = {name: present_name(name) for name in names}
    beside = kind is Bert and any(name.startswith("bert.") for name in present.values())
    stored: dict[str, str] = {}
    for in_file, name in present.items():
        if name.endswith(POSITION_IDS) or (beside and not name.startswith(ENCODER)):
            continue
        name = name.removeprefix("bert.") if kind is Bert else name
        if name in stored:
            raise ValueError(
                f"load_pretrained: {path} must hold each weight once; got {stored[name]} and "
                f"{in_file}"
            )
        stored[name] = in_file
    return stored


def check_tensors(
    path: Path, found: dict[str, Any], config: BertConfig, kind: Kind, lacking: Sequence[str]
) -> None:
    """Raise ValueError unless names, shapes and dtypes are those of the configuration.

    found: name -> `get_slice`, which has shape and dtype without reading the numbers; lacking:
    parts that need not be there.
    """
    # Not for a million layers: each has several tensors, and the file has fewer.
    n_layers = min(config.n_layers, len(found) + 1)
    shapes = tensor_shapes(replace(config, n_layers=n_layers), kind)
    expected = {x: shapes[x] for x in shapes if not any(part in x for part in lacking)}
    uncounted = (config.n_layers - n_layers) * LAYER_TENSORS
    faults = [f"missing: {name}" for name in expected if name not in found]
    faults += [f"unexpected: {name}" for name in found if name not in expected]
    for name in [name for name in expected if name in found]:
        shape, dtype = found[name].get_shape(), found[name].get_dtype()
        if shape != expected[name]:
            faults.append(f"shape of {name}: expected {expected[name]}, got {shape}")
        if dtype not in DTYPES:
            faults.append(f"dtype of {name}: expected one of {', '.join(DTYPES)}, got {dtype}")
    if faults:
        more = len(faults) + uncounted - SHOWN
        raise ValueError(
            f"load_pretrained: {path} does not fit the model; {'; '.join(faults[:SHOWN])}"
            + (f"; and {more:,} more" if more > 0 else "")
            + ("" if kind is Bert or any(name.startswith("cls.p") for name in found) else HEADLESS)
        )


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
    with sizes_alone():  # the file has the numbers
        model = kind(config)
    if len(weights) < len(model.state_dict()):
        weights = kind(config).state_dict() | weights
    model.load_state_dict(weights, assign=True)
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
    if tokenizer is not None:
        check_fits("save_pretrained", tokenizer, config)
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
