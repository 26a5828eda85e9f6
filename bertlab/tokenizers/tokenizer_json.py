"""Hugging Face's `tokenizer.json`: the file that our tokenizers write."""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bertlab._files import write_atomically
from bertlab.tokenizers.encoding import CLS, SEP
from bertlab.tokenizers.file_options import SPECIAL_TOKEN

BERT_WORDS = {"type": "BertPreTokenizer"}  # Hugging Face's name for `words.split_words`


def write(
    path: str | os.PathLike,
    parts: Mapping[str, Any],
    special_tokens: Mapping[str, int],
    adds_special_tokens: bool,
) -> Path:
    """Write one tokenizer.

    parts: model, normalizer, pre_tokenizer, decoder; special_tokens: token -> id;
    adds_special_tokens: whether [CLS] and [SEP], two of them, are added to a text.
    """
    flags = {option: values[0] for option, values in SPECIAL_TOKEN.items()}
    content = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {"id": id, "content": token, **flags}
            for token, id in sorted(special_tokens.items(), key=lambda item: item[1])
        ],
        "normalizer": parts["normalizer"],
        "pre_tokenizer": parts["pre_tokenizer"],
        "post_processor": template(special_tokens) if adds_special_tokens else None,
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


def template(ids: Mapping[str, int]) -> dict[str, Any]:
    """BERT's template, [CLS] A [SEP] B [SEP], as Hugging Face writes it.

    ids: token -> id, with [CLS] and [SEP].
    """

    def special(token: str, segment: int) -> dict[str, Any]:
        return {"SpecialToken": {"id": token, "type_id": segment}}

    single = [special(CLS, 0), {"Sequence": {"id": "A", "type_id": 0}}, special(SEP, 0)]
    second = [{"Sequence": {"id": "B", "type_id": 1}}, special(SEP, 1)]
    return {
        "type": "TemplateProcessing",
        "single": single,
        "pair": single + second,
        "special_tokens": {
            token: {"id": token, "ids": [ids[token]], "tokens": [token]} for token in (CLS, SEP)
        },
    }
