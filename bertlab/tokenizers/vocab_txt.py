"""BERT's `vocab.txt`: one token per line, and a token's id is the number of its line, from 0."""

import os
from collections.abc import Mapping
from pathlib import Path

from bertlab._files import check_no_folder, write_atomically
from bertlab.tokenizers.encoding import CLS, MASK, PAD, SEP, UNKNOWN
from bertlab.tokenizers.normalize import normalize


def read_vocab(path: str | os.PathLike) -> dict[str, int]:
    """Token -> id, as `WordPiece.from_vocab` reads it; a byte-order mark is not part of a token."""
    try:
        lines = check_no_folder(path).read_text(encoding="utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path} is not a vocabulary: it is not UTF-8 ({error}); save it as UTF-8"
        ) from error
    tokens = [line.removesuffix("\r") for line in lines]
    if tokens[-1] == "":
        tokens.pop()
    vocab = {token: id for id, token in enumerate(tokens)}
    if len(vocab) < len(tokens) or UNKNOWN not in vocab:
        fault = "a token occurs twice" if len(vocab) < len(tokens) else "it has no [UNK]"
        raise ValueError(f"{path} is not a vocabulary: {fault}; expected one token per line")
    for token in tokens:  # with something invisible around it, [PAD] would be an ordinary token
        bare = normalize(token, lowercase=False).strip() if "]" in token else token
        if bare != token and bare in (PAD, UNKNOWN, CLS, SEP, MASK):
            raise ValueError(
                f"{path}: line {vocab[token] + 1} holds {token!r}, which is {bare} and something "
                "invisible; remove what is around it"
            )
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
