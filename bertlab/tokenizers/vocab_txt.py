"""BERT's `vocab.txt`: one token per line, and a token's id is the number of its line, from 0.

`tokenizer_config.json` beside it says whether text is lower-cased.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from reprlib import repr as short
from typing import Any

from bertlab._files import check_no_folder, read_json, write_atomically
from bertlab.tokenizers.encoding import UNKNOWN

# The supported options of tokenizer_config.json about how a text is cut.
CASE_OPTIONS = {
    "do_lower_case": (True, False),
    "strip_accents": (None, True, False),
    "tokenize_chinese_chars": (True,),
    "do_basic_tokenize": (True,),
}


def read_vocab(path: str | os.PathLike) -> dict[str, int]:
    """Token -> id, as `WordPiece.from_vocab` reads it."""
    try:
        lines = check_no_folder(path).read_text(encoding="utf-8").split("\n")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not a vocabulary: it is not UTF-8 ({error})") from error
    tokens = [line.removesuffix("\r") for line in lines]
    if tokens[-1] == "":
        tokens.pop()
    vocab = {token: id for id, token in enumerate(tokens)}
    if len(vocab) < len(tokens) or UNKNOWN not in vocab:
        fault = "a token occurs twice" if len(vocab) < len(tokens) else "it has no [UNK]"
        raise ValueError(f"{path} is not a vocabulary: {fault}; expected one token per line")
    return vocab


def write_vocab(path: str | os.PathLike, vocab: Mapping[str, int]) -> Path:
    """Write the tokens in the order of ids, as in `WordPiece.save_vocab`; returns the path."""
    ordered = sorted(vocab, key=vocab.__getitem__)
    gaps = [line for line, token in enumerate(ordered) if vocab[token] != line]
    if gaps:
        raise ValueError(
            f"save_vocab: vocab must use every id from 0 to {len(ordered) - 1}, since in vocab.txt "
            f"a token's id is the number of its line; no token has the id {gaps[0]}; `save` writes "
            "the ids themselves"
        )
    broken = [token for token in ordered if "\n" in token or "\r" in token]
    if broken:
        raise ValueError(
            f"save_vocab: the token {broken[0]!r} holds a line break, so that it would be two "
            "lines of vocab.txt; `save` writes it whole"
        )
    return write_atomically(path, "\n".join(ordered) + "\n")


def read_case(path: str | os.PathLike) -> dict[str, Any]:
    """The options of a `tokenizer_config.json`; empty if there is no such file.

    Raises ValueError if it is damaged, or if it has an option about how a text is cut that our
    WordPiece does not support.
    """
    if not Path(path).is_file():
        return {}
    said = read_json(path)
    if not isinstance(said, dict):
        raise ValueError(
            f'{path} must hold one JSON object, such as {{"do_lower_case": true}}; '
            f"got {short(said)}"
        )
    for name, values in CASE_OPTIONS.items():
        if name in said and not any(said[name] is value for value in values):
            raise ValueError(
                f"{path}: {name} must be {' or '.join(map(json.dumps, values))}; "
                f"got {short(said[name])}"
            )
    return said
