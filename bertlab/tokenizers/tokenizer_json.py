"""Hugging Face's `tokenizer.json`: the file format that our tokenizers read and write."""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bertlab._files import write_atomically

BERT_WORDS = {"type": "BertPreTokenizer"}  # Hugging Face's name for `words.split_words`


def write(
    path: str | os.PathLike,
    parts: Mapping[str, Any],
    special_tokens: Mapping[str, int],
    around: Mapping[str, int],
) -> Path:
    """Write one tokenizer.

    parts: model, normalizer, pre_tokenizer, decoder; special_tokens: token -> id; around: the two
    tokens before and after a text with their ids, or empty.
    """
    content = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {
                "id": id,
                "content": token,
                "single_word": False,
                "lstrip": False,
                "rstrip": False,
                "normalized": False,
                "special": True,
            }
            for token, id in sorted(special_tokens.items(), key=lambda item: item[1])
        ],
        "normalizer": parts["normalizer"],
        "pre_tokenizer": parts["pre_tokenizer"],
        "post_processor": _template(around) if around else None,
        "decoder": parts["decoder"],
        "model": parts["model"],
    }
    return write_atomically(path, json.dumps(content, ensure_ascii=False, indent=2))


def bpe_model(
    vocab: Mapping[str, int],
    merges: Iterable[Sequence[str]],
    *,
    unknown: str | None = None,
    end_of_word: str | None = None,
) -> dict[str, Any]:
    """The model part of a BPE tokenizer, on characters or on bytes."""
    return {
        "type": "BPE",
        "dropout": None,
        "unk_token": unknown,
        "continuing_subword_prefix": None,
        "end_of_word_suffix": end_of_word,
        "fuse_unk": False,
        "byte_fallback": False,
        "ignore_merges": False,
        "vocab": dict(vocab),
        "merges": [list(pair) for pair in merges],
    }


def read(path: str | os.PathLike, model_type: str) -> dict[str, Any]:
    """Read one tokenizer; `model_type` is what Hugging Face calls the kind.

    Raises FileNotFoundError, or ValueError that names the fault: cut off, of another kind, or
    without one of the parts every model has.
    """
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ValueError(
            f"{path} is damaged: it is not whole JSON ({error}); save the tokenizer again"
        ) from error
    parts = content if isinstance(content, dict) else {}
    model = parts.get("model")
    if not isinstance(model, dict) or "vocab" not in model or "added_tokens" not in parts:
        raise ValueError(f"{path} is not a tokenizer.json: it has no model with a vocabulary")
    if model.get("type") != model_type:
        raise ValueError(f"{path} holds a {model.get('type')} model; expected {model_type}")
    return {"normalizer": None, "pre_tokenizer": None, "post_processor": None} | parts


def expect(path: str | os.PathLike, name: str, found: Any, wanted: Mapping | None) -> None:
    """Raise ValueError unless the part `name` of a file has the entries of `wanted`."""
    if wanted is None:
        fits = found is None
    else:
        fits = isinstance(found, dict) and all(found.get(k) == v for k, v in wanted.items())
    if not fits:
        raise ValueError(
            f"{path} has the {name.replace('_', '-')} {found}, which would cut text in another "
            f"way; expected {dict(wanted) if wanted is not None else 'none'}"
        )


def common(path: str | os.PathLike, content: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a tokenizer that every kind reads alike.

    Truncation and padding are left behind: our tokenizers are told a length when they encode.
    Raises ValueError for added tokens that are not in the vocabulary or not special, and for a
    post-processor other than BERT's.
    """
    vocab = dict(content["model"]["vocab"])
    for token in content["added_tokens"]:
        if not token["special"] or token.get("normalized"):
            raise ValueError(
                f"{path} adds the token {token['content']!r}, which is not a special one; "
                "expected special tokens alone"
            )
        vocab.setdefault(token["content"], token["id"])
    special = tuple(token["content"] for token in content["added_tokens"])
    ids = {token: vocab[token] for token in ("[CLS]", "[SEP]") if token in special}
    post_processor = content["post_processor"]
    kind = post_processor and post_processor.get("type")
    adds = kind in ("BertProcessing", "TemplateProcessing")
    expected = _template(ids) if len(ids) == 2 else None
    if kind == "BertProcessing":
        fits = {post_processor["cls"][0], post_processor["sep"][0]} == set(ids)
    else:
        fits = post_processor == expected if adds else kind in (None, "ByteLevel")
    if not fits:
        raise ValueError(
            f"{path} has the post-processor {post_processor}; expected BERT's, [CLS] before and "
            "[SEP] after a text, or none"
        )
    return {"vocab": vocab, "special_tokens": special, "adds_special_tokens": adds}


def _template(around: Mapping[str, int]) -> dict[str, Any]:
    """BERT's frame, [CLS] A [SEP] B [SEP], as Hugging Face writes it."""
    before, after = around

    def special(token: str, segment: int) -> dict[str, Any]:
        return {"SpecialToken": {"id": token, "type_id": segment}}

    single = [special(before, 0), {"Sequence": {"id": "A", "type_id": 0}}, special(after, 0)]
    second = [{"Sequence": {"id": "B", "type_id": 1}}, special(after, 1)]
    return {
        "type": "TemplateProcessing",
        "single": single,
        "pair": single + second,
        "special_tokens": {
            token: {"id": token, "ids": [id], "tokens": [token]} for token, id in around.items()
        },
    }
