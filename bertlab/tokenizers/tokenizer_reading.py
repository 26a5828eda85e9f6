"""Hugging Face's `tokenizer.json`: the file that our tokenizers read.

What a file says is carried out, or refused by name (`file_options.py`).
"""

import os
import warnings
from collections.abc import Mapping
from reprlib import repr as short
from typing import Any, TypeVar

from bertlab._files import read_json
from bertlab.tokenizers.encoding import CLS, SEP
from bertlab.tokenizers.file_options import (
    BYTE_POST_PROCESSOR,
    SPECIAL_TOKEN,
    expect,
    expect_options,
)
from bertlab.tokenizers.tokenizer_json import template
from bertlab.tokenizers.words import split_words

Made = TypeVar("Made")
PARTS = (
    "truncation",
    "padding",
    "added_tokens",
    "normalizer",
    "pre_tokenizer",
    "post_processor",
    "decoder",
    "model",
)
JSON_NAMES = {dict: "JSON object", list: "list", str: "string", int: "whole number"}


def read(path: str | os.PathLike, model_type: str) -> dict[str, Any]:
    """Read one tokenizer; `model_type` is what Hugging Face calls the kind.

    Raises FileNotFoundError, or ValueError that names the fault: cut off, of another kind, or
    without one of the parts every model has. Warns of what is left to the caller: truncation,
    padding and the decoder's clean-up, which published files ask for.
    """
    content = read_json(path)
    parts = content if isinstance(content, dict) else {}
    model = parts.get("model")
    if not isinstance(model, dict) or "vocab" not in model:
        raise ValueError(f"{path} is not a tokenizer.json: it has no model with a vocabulary")
    kind = model.get("type")
    if kind != model_type:
        found = kind if isinstance(kind, str) else short(kind)
        raise ValueError(f"{path} holds a {found} model; expected {model_type}")
    expect_options(path, "entry", parts, {"version": (None, "1.0")}, others=PARTS)
    entry(path, "model", model, "vocab", dict)
    entry(path, "the file", parts, "added_tokens", list)
    content = dict.fromkeys(PARTS) | parts
    _tell_what_is_left_out(path, content)
    return content


def entry(
    path: str | os.PathLike, where: str, part: Mapping[str, Any], name: str, kind: type
) -> Any:
    """An entry of a part of the file; ValueError if it is missing or not of `kind`."""
    found = part.get(name)
    if not isinstance(found, kind) or (kind is int and isinstance(found, bool)):
        got = short(found) if name in part else "no such entry"
        raise ValueError(f"{path}: {name} of {where} must be a {JSON_NAMES[kind]}; got {got}")
    return found


def read_merges(path: str | os.PathLike, model: Mapping[str, Any]) -> list[Any]:
    """The merges, which older files write as strings, "a b", and newer ones as pairs."""
    return [
        tuple(rule.split(" ")) if isinstance(rule, str) else rule
        for rule in entry(path, "model", model, "merges", list)
        if not (isinstance(rule, str) and rule.startswith("#version"))
    ]


def common(
    path: str | os.PathLike, content: Mapping[str, Any], *, mark: str = ""
) -> dict[str, Any]:
    """The fields of a tokenizer that every kind reads alike.

    mark: what a piece may have before or after its letters, such as "##".

    Raises ValueError for added tokens with options that we do not have, and for a post-processor
    other than BERT's.
    """
    vocab = dict(content["model"]["vocab"])
    free = len(vocab)  # the id that Hugging Face's library gives the next new token
    special: dict[str, int] = {}
    for token in content["added_tokens"]:
        if not isinstance(token, dict):
            raise ValueError(f"{path}: added_tokens must hold objects; got {short(token)}")
        name, id = _added(path, token)
        if name in special:
            raise ValueError(f"{path}: added_tokens holds {name!r} twice")
        if name not in vocab:
            rest = name.removeprefix(mark).removesuffix(mark)
            if len(split_words(rest)) < 2:
                raise ValueError(
                    f"{path}: added_tokens has {name!r}, which is not in the model's vocab and "
                    "could be taken for a piece of a word; add it to both or rename it"
                )
            vocab[name], free = free, free + 1
        if id != vocab[name]:
            raise ValueError(
                f"{path}: added_tokens gives {name!r} the id {id}, but the vocab has it as "
                f"{vocab[name]}; make them equal"
            )
        special[name] = id
    ids = {token: special[token] for token in (CLS, SEP) if token in special}
    adds = _adds_special_tokens(path, content["post_processor"], ids)
    return {"vocab": vocab, "special_tokens": tuple(special), "adds_special_tokens": adds}


def make(kind: type[Made], path: str | os.PathLike, **fields: Any) -> Made:
    """A tokenizer of the fields read; ValueError names the file if they do not fit together."""
    try:
        return kind(**fields)
    except ValueError as error:
        raise ValueError(f"{path} does not hold together: {error}") from error


def _added(path: str | os.PathLike, token: Mapping[str, Any]) -> tuple[str, int]:
    """An added token and its id, if it is an ordinary special token."""
    name = entry(path, "added_tokens", token, "content", str)
    if not name:
        raise ValueError(f"{path}: content of added_tokens must not be empty")
    if token.get("special") is not True:
        raise ValueError(
            f"{path} adds the token {name!r}, which is not a special one (special is "
            f"{short(token.get('special'))}); expected special tokens alone"
        )
    whose = f"added token {name!r}'s"
    expect_options(path, whose, token, SPECIAL_TOKEN, others=("id", "content"))
    return name, entry(path, f"the added token {name!r}", token, "id", int)


def _adds_special_tokens(path: str | os.PathLike, found: Any, ids: Mapping[str, int]) -> bool:
    """Whether a post-processor puts [CLS] and [SEP] around a text; any other is refused.

    ids: those of [CLS] and [SEP], as far as they are special tokens.
    """
    if found is None:
        return False
    kind = found.get("type") if isinstance(found, dict) else found
    if kind == "ByteLevel":
        expect(path, "post-processor", found, kind, BYTE_POST_PROCESSOR)
        return False
    wanted = None
    if len(ids) == 2 and kind == "TemplateProcessing":
        wanted = template(ids)
    if len(ids) == 2 and kind == "BertProcessing":
        wanted = {"type": kind, "cls": [CLS, ids[CLS]], "sep": [SEP, ids[SEP]]}
    if found != wanted:
        wrong = [name for name, value in (wanted or {}).items() if found.get(name) != value]
        named = f" with {wrong[0]} {short(found.get(wrong[0]))}" if wrong else ""
        raise ValueError(
            f"{path} has the post-processor {short(kind)}{named}; expected BERT's, [CLS] before "
            "and [SEP] after a text, both of them added special tokens, or none"
        )
    return True


def _tell_what_is_left_out(path: str | os.PathLike, content: Mapping[str, Any]) -> None:
    """Warn of what does not change how text is cut, and is the caller's to ask for."""
    said = {name: content[name] for name in ("truncation", "padding") if content[name] is not None}
    decoder = content["decoder"]
    if isinstance(decoder, dict) and decoder.get("cleanup"):
        said["decoder's cleanup"] = True
    if said:
        told = ", ".join(f"{name} {short(value)}" for name, value in said.items())
        warnings.warn(
            f"{path} asks for {told}, which is left out; for truncation give encode a max_length",
            stacklevel=4,
        )
