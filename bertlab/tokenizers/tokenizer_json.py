"""Hugging Face's `tokenizer.json`: the file that our tokenizers write."""

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
        "post_processor": template(around) if around else None,
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


def template(around: Mapping[str, int]) -> dict[str, Any]:
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
