"""From the name of a corpus to a tokenizer and token ids on disk."""

import json
from pathlib import Path
from typing import NamedTuple

from bertlab._files import write_atomically
from bertlab.data.corpora import documents, split
from bertlab.pretraining.token_store import TokenStore, write_tokens
from bertlab.tokenizers.wordpiece import WordPiece

ALIASES = {"wiki": "wikipedia"}


class PreparedCorpus(NamedTuple):
    """What pre-training reads; no document stands in both stores."""

    tokenizer: WordPiece
    training: TokenStore
    validation: TokenStore


def prepare_corpus(
    corpus: str,
    folder: str | Path,
    *,
    vocab_size: int = 8000,
    validation: float = 0.05,
    progress: bool = True,
) -> PreparedCorpus:
    """Split a corpus, train a WordPiece on the training side, write the ids of both sides.

    corpus: as in `documents`; "books+wiki" will do for "books+wikipedia"; folder: gets
    `tokenizer.json`, `training/`, `validation/` and, last of all, `corpus.json`, which says what
    they were made of: the next call with the same arguments reads them, any other makes them
    anew; vocab_size: the published models have 30,522, which a small corpus cannot fill with
    frequent words; validation: the share of documents that is held out.

    Raises ValueError for an unknown corpus or if a side would be empty, DataError if the corpus
    has not been fetched.
    """
    folder, names = Path(folder), "+".join(ALIASES.get(name, name) for name in corpus.split("+"))
    made_of = {"corpus": names, "vocab_size": vocab_size, "validation": validation}
    if _made_of(folder) == made_of:
        return open_corpus(folder)
    sides = split(documents(names), validation)
    if not all(sides):
        raise ValueError(
            f"prepare_corpus: with validation={validation} one side of {corpus} has no documents; "
            "choose another share or a larger corpus"
        )
    sentences = (sentence for document in sides[0] for sentence in document)
    tokenizer = WordPiece.train(sentences, vocab_size, min_frequency=2, progress=progress)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "corpus.json").unlink(missing_ok=True)
    tokenizer.save(folder / "tokenizer.json")
    for side, name in zip(sides, ("training", "validation"), strict=True):
        write_tokens(side, tokenizer, folder / name)
    write_atomically(folder / "corpus.json", json.dumps(made_of, indent=2) + "\n")
    return open_corpus(folder)


def open_corpus(folder: str | Path) -> PreparedCorpus:
    """Read what `prepare_corpus` has written.

    Raises FileNotFoundError, or ValueError if a file is damaged.
    """
    folder = Path(folder)
    tokenizer = WordPiece.load(folder / "tokenizer.json")
    return PreparedCorpus(
        tokenizer,
        TokenStore.open(folder / "training", tokenizer),
        TokenStore.open(folder / "validation", tokenizer),
    )


def _made_of(folder: Path) -> dict | None:
    """What a prepared corpus was made of, or None: it is not there, or not complete."""
    try:
        return json.loads((folder / "corpus.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
