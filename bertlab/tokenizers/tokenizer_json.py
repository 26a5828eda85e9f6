"""Hugging Face's `tokenizer.json`: the file format that our tokenizers read and write."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bertlab._files import write_atomically


def write(
    path: str | os.PathLike,
    model: Mapping[str, Any],
    added_tokens: Mapping[str, int],
    pre_tokenizer: Mapping[str, Any],
    decoder: Mapping[str, Any] | None,
) -> Path:
    """Write one tokenizer; `added_tokens` are the special ones (token -> id)."""
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
            for token, id in added_tokens.items()
        ],
        "normalizer": None,
        "pre_tokenizer": pre_tokenizer,
        "post_processor": None,
        "decoder": decoder,
        "model": model,
    }
    return write_atomically(path, json.dumps(content, ensure_ascii=False, indent=2))


def read(
    path: str | os.PathLike, model_type: str, pre_tokenizer: Mapping[str, Any]
) -> dict[str, Any]:
    """Read one tokenizer of the given kind.

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
    if model.get("type") != model_type or parts.get("pre_tokenizer") != pre_tokenizer:
        raise ValueError(
            f"{path} holds a {model.get('type')} model with pre-tokenizer "
            f"{parts.get('pre_tokenizer')}; expected {model_type} with {pre_tokenizer}"
        )
    if parts.get("normalizer") is not None:
        raise ValueError(
            f"{path} has a normalizer ({parts['normalizer']}); {model_type} reads files without"
        )
    return content
