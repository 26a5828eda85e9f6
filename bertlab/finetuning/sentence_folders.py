"""What a folder of sentence-transformers declares: pooling, dense layers, length, normalisation.

`modules.json` lists the parts, each with a folder of its own. What they say is done, or refused by
name.
"""

import re
from pathlib import Path
from typing import Any, NamedTuple

from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import nn

from bertlab._files import check_options, read_json, read_object
from bertlab.model.checks import check_kind
from bertlab.tokenizers.files import CONFIG

MINILM_LENGTH = 256  # tokens; it has 512 positions, but its authors truncate texts here
ENCODER = "sentence_bert_config.json"
ORDER = "Transformer Pooling( Dense)*( Normalize)?"
ACTIVATIONS = {
    f"torch.nn.modules.{kind.__module__.rpartition('.')[2]}.{kind.__name__}": kind
    for kind in (nn.Tanh, nn.ReLU, nn.GELU, nn.Sigmoid, nn.Identity)
}
# Each file's supported options, see `check_options`.
MODEL = {
    **dict.fromkeys(("__version__", "prompts", "similarity_fn_name", "requirements")),
    "model_type": ("SentenceTransformer",),
    "default_prompt_name": (None,),
    "truncate_dim": (None,),
}
TRANSFORMER = {
    "max_seq_length": None,
    "do_lower_case": (False,),
    "transformer_task": ("feature-extraction",),
    "modality_config": (
        {"text": {"method": "forward", "method_output_name": "last_hidden_state"}},
    ),
    "module_output_name": ("token_embeddings",),
    "unpad_inputs": None,
    "processing_kwargs": ({},),
    **dict.fromkeys(("query_length", "document_length", "query_expansion"), (None,)),
}
POOLING = {
    "pooling_mode": ("mean", "cls", "max"),
    # Only a prompt makes `include_prompt` matter, and a default one is refused.
    **dict.fromkeys(("include_prompt", "embedding_dimension", "word_embedding_dimension")),
    # In older files, for "cls_token", "max_tokens" and "mean_tokens" too.
    "pooling_mode_mean_sqrt_len_tokens": (False,),
    "pooling_mode_weightedmean_tokens": (False,),
    "pooling_mode_lasttoken": (False,),
}
SENTENCES = dict.fromkeys(("module_input_name", "module_output_name"), ("sentence_embedding",))
DENSE = {
    **dict.fromkeys(("in_features", "out_features")),
    "bias": (True, False),
    "activation_function": ACTIVATIONS,
    "use_residual": (False,),
    **SENTENCES,
}


class Declared(NamedTuple):
    """How sentences are to be encoded."""

    encoder: Path  # the folder of the BERT and its tokenizer
    pooling: str
    dense: list[nn.Module]  # linear layers and activations
    normalize: bool
    max_length: int | None


def declared(folder: Path) -> Declared:
    """What a folder says; without `modules.json`, as MiniLM's authors use it.

    Raises FileNotFoundError or ValueError, with file and option, for what is missing, damaged or
    not supported.
    """
    file = folder / "modules.json"
    if not file.is_file():
        most = length(folder / CONFIG, "model_max_length") or MINILM_LENGTH
        return Declared(folder, "mean", [], True, min(most, MINILM_LENGTH))
    options(folder / "config_sentence_transformers.json", MODEL)
    kinds, (encoder, pooling, *others) = parts(file)
    options(encoder / ENCODER, TRANSFORMER)
    longest = length(encoder / ENCODER, "max_seq_length")
    longest = longest or length(encoder / CONFIG, "model_max_length")
    normalize = kinds[-1] == "Normalize"
    if normalize:
        options(others.pop() / "config.json", SENTENCES)
    dense = [layer for path in others for layer in read_dense(path)]
    return Declared(encoder, read_pooling(pooling / "config.json"), dense, normalize, longest)


def parts(file: Path) -> tuple[list[str], list[Path]]:
    """The kinds of the parts in `modules.json`, and their folders, in order."""
    try:
        listed = [(part["type"], file.parent / part["path"]) for part in read_json(file)]
        types, folders = [kind for kind, _ in listed], [path for _, path in listed]
        kinds = [re.sub(r"^sentence_transformers\..*\.", "", kind) for kind in types]
    except (TypeError, KeyError) as error:
        raise ValueError(f"{file} must list parts, each with type and path") from error
    if not re.fullmatch(ORDER, " ".join(kinds)):
        raise ValueError(
            f"{file} declares {', '.join(types)}; supported are Transformer, Pooling, any number "
            "of Dense, and Normalize, in this order, all of sentence_transformers"
        )
    return kinds, folders


def read_pooling(path: Path) -> str:
    """How the vectors of the tokens become one."""
    if not path.is_file():
        raise FileNotFoundError(f"there is no {path}, which says how to pool; fetch it again")
    said = read_object(path)
    old = {"cls": "cls_token", "max": "max_tokens", "mean": "mean_tokens"}
    chosen = [mode for mode, name in old.items() if said.pop(f"pooling_mode_{name}", False)]
    mode = said.get("pooling_mode", chosen or "mean")
    mode = mode[0] if isinstance(mode, list) and len(mode) == 1 else mode
    check_options(path, said | {"pooling_mode": mode}, POOLING)
    return mode


def read_dense(folder: Path) -> list[nn.Module]:
    """A linear layer, in float32, and its activation."""
    path, said = folder / "model.safetensors", options(folder / "config.json", DENSE)
    if not path.is_file():
        raise FileNotFoundError(f"{folder} holds no model.safetensors, the only kind that is read")
    bias = said.get("bias", True)
    try:
        tensors = {name.removeprefix("linear."): x for name, x in load_file(path).items()}
        # PyTorch's own random weights are not drawn.
        layer = nn.utils.skip_init(nn.Linear, said["in_features"], said["out_features"], bias=bias)
        layer.load_state_dict(tensors)
    except (SafetensorError, KeyError, TypeError, RuntimeError) as error:
        raise ValueError(
            f"{path} must hold the layer that config.json describes ({error})"
        ) from error
    return [layer, ACTIVATIONS[said.get("activation_function", next(iter(ACTIVATIONS)))]()]


def length(path: Path, name: str) -> int | None:
    """A number of tokens that a file says, which may be 1e30 for any."""
    value = read_object(path).get(name)
    if value is not None:
        check_kind(str(path), name, value, float)
    return value and int(value)


def options(path: Path, supported: Any) -> dict[str, Any]:
    """The options of a file, all of them supported; none if there is no such file."""
    said = read_object(path)
    check_options(path, said, supported)
    return said
