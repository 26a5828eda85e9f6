"""From a corpus's name, or a reader's own texts, to a tokenizer and token ids on disk.

Passages that two texts share are found: a model trained on one has seen answers of the other.
"""

import json
import re
import warnings
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bertlab._files import write_atomically
from bertlab.data.corpora import CORPORA, Documents, documents, split
from bertlab.data.own_texts import SUFFIXES, files_digest, own_documents
from bertlab.data.token_store import TokenStore, fingerprint, write_corpora
from bertlab.tokenizers.files import load_tokenizer
from bertlab.tokenizers.wordpiece import BERT_SPECIAL_TOKENS, WordPiece
from bertlab.tokenizers.words import UNKNOWN

VALIDATION = 0.05  # the share of the documents that is held out
ALIASES = {"wiki": "wikipedia"}
WIDER = 1.25  # growth of the held-out share until it has enough documents
FEW_UNKNOWN, MANY_UNKNOWN = 0.05, 0.5  # shares of [UNK]: above them a warning, and an error


class PreparedCorpus(NamedTuple):
    """The data of pre-training; no document and no passage of 13 words is in both stores."""

    tokenizer: WordPiece
    training: TokenStore
    validation: TokenStore


def prepare_corpus(
    corpus: str,
    folder: str | Path,
    *,
    vocab_size: int = 8000,
    tokenizer: str | Path | None = None,
    field: str = "text",
    validation: float = VALIDATION,
    allow_unknown: bool = False,
    progress: bool = True,
) -> PreparedCorpus:
    """Split a corpus, train a WordPiece on the training part, write the ids of both parts.

    Training sentences that share 13 or more consecutive words with the held-out part are omitted:
    the held-out text must not contain what was memorised.

    corpus: as in `documents`, where "books+wiki" is enough for "books+wikipedia"; or the path of
    a reader's own text, as in `own_documents` (names of the catalogue take precedence: write
    "./books" for a folder of that name); folder: receives `tokenizer.json`, `training/`,
    `validation/` and, last of all, `corpus.json`, which records their source: the next call with
    the same arguments reads them; other arguments, or a changed text, make them again; vocab_size:
    the published models have 30,522, too many for the frequent words of a small corpus; tokenizer:
    a `tokenizer.json`, a `vocab.txt`, or a folder with one of them, to use instead of training one;
    field: as in `own_documents`; validation: the share of documents that is held out, more if a
    reader has few; allow_unknown: accept texts of which more than half of the tokens are [UNK].

    Raises ValueError for an unknown corpus, for texts or tokenizers that cannot be read, if a
    part would be empty, or if most tokens are [UNK] (a warning if it is one in twenty),
    FileNotFoundError for a missing file, DataError if the corpus has not been fetched.
    """
    folder = Path(folder)
    given = None if tokenizer is None else read_tokenizer(Path(tokenizer))
    how = {"validation": validation, "no_shared_passage_of": WORDS}
    wanted = source(corpus, field) | how | words(given, vocab_size)
    if made_of(folder) == wanted:
        return check_known(open_corpus(folder), allow_unknown)
    sides = split_corpora(corpus, field, validation, progress)
    sides = without_quotations(*sides), sides[1]
    texts = (text for side in sides[0].values() for document in side for text in document)
    made = given or WordPiece.train(texts, vocab_size, min_frequency=2, progress=progress)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "corpus.json").unlink(missing_ok=True)
    made.save(folder / "tokenizer.json")
    for side, name in zip(sides, ("training", "validation"), strict=True):
        write_corpora(side, made, folder / name)
    write_atomically(folder / "corpus.json", json.dumps(wanted, indent=2) + "\n")
    return check_known(open_corpus(folder), allow_unknown)


def check_known(corpus: PreparedCorpus, allow_unknown: bool) -> PreparedCorpus:
    """Warn if many tokens are [UNK], of which nothing can be learned; returns the corpus.

    Raises ValueError if it is more than half of them in a part, unless `allow_unknown`.
    """
    unknown = corpus.tokenizer.vocab[UNKNOWN]
    share = max(np.count_nonzero(side.ids == unknown) / side.n_tokens for side in corpus[1:])
    if share <= FEW_UNKNOWN:
        return corpus
    fault = (
        f"prepare_corpus: {share:.0%} of the tokens are {UNKNOWN}, and a model learns nothing "
        "about such words: the vocabulary lacks their characters, or they have more than "
        f"{corpus.tokenizer.longest_word} characters"
    )
    if share > MANY_UNKNOWN and not allow_unknown:
        raise ValueError(
            f"{fault}; use a tokenizer trained on such texts, put spaces into long words, or "
            "accept it with allow_unknown=True (--allow-unknown)"
        )
    warnings.warn(fault, stacklevel=3)
    return corpus


def own_path(corpus: str) -> Path | None:
    """The file or folder that `corpus` means; None if it means corpora of the catalogue."""
    path = Path(corpus)
    looks_like_one = path.exists() or path.suffix.lower() in SUFFIXES or len(path.parts) > 1
    return path if corpus and looks_like_one and not set(names(corpus)) <= set(CORPORA) else None


def names(corpus: str) -> list[str]:
    """The catalogue's names of "books+wiki"."""
    return [ALIASES.get(name, name) for name in corpus.split("+")]


def source(corpus: str, field: str) -> dict[str, Any]:
    """The source of a corpus; of a reader's own text, with a digest, since it may change."""
    if path := own_path(corpus):
        return {"corpus": corpus, "field": field, "sha256": files_digest(path)}
    return {"corpus": "+".join(names(corpus))}


def words(given: WordPiece | None, vocab_size: int) -> dict[str, Any]:
    """The source of the tokens: a given tokenizer, or one to train."""
    if given is None:
        return {"vocab_size": vocab_size}
    options = [given.lowercase, given.strip_accents, given.longest_word]
    return {"tokenizer": [fingerprint(given), *options]}


def read_tokenizer(path: Path) -> WordPiece:
    """A WordPiece from a `tokenizer.json`, from a `vocab.txt`, or from a folder with one of them.

    Raises FileNotFoundError, or ValueError if it is not one that pre-training can use.
    """
    folder = path.parent if path.name == "vocab.txt" else path  # its case is said beside it
    if path.is_file() and folder is path:
        tokenizer = WordPiece.load(path)
    elif any((folder / name).is_file() for name in ("tokenizer.json", "vocab.txt")):
        tokenizer = load_tokenizer(folder)
    else:
        raise FileNotFoundError(
            "prepare_corpus: tokenizer must be a tokenizer.json, or a folder that holds it or a "
            f"vocab.txt, or that vocab.txt; there is none at {path}"
        )
    missing = [token for token in BERT_SPECIAL_TOKENS if token not in tokenizer.vocab]
    if missing or set(tokenizer.vocab.values()) != set(range(len(tokenizer.vocab))):
        fault = f"it has no {missing[0]}" if missing else "its ids are not 0, 1, 2, ... in a row"
        raise ValueError(f"prepare_corpus: the tokenizer at {path} cannot be used: {fault}")
    return tokenizer


def split_corpora(
    corpus: str, field: str, validation: float, progress: bool
) -> tuple[dict[str, Documents], dict[str, Documents]]:
    """The documents of each corpus by its name: for training, and held out."""
    if path := own_path(corpus):
        own = own_documents(path, field, progress=progress)
        ours, ours_held_out = split_own(own, corpus, validation)
        return {path.name: ours}, {path.name: ours_held_out}
    try:
        sides = {name: split(documents(name), validation) for name in names(corpus)}
    except ValueError as error:
        raise ValueError(f"{error}; nor is there a file or folder {corpus}") from error
    training, held_out = ({name: side[n] for name, side in sides.items()} for n in (0, 1))
    if not any(training.values()) or not any(held_out.values()):
        raise ValueError(
            f"prepare_corpus: with validation={validation} one part of {corpus} has no documents; "
            "choose another share or a larger corpus"
        )
    return training, held_out


def without_quotations(
    training: dict[str, Documents], held_out: dict[str, Documents]
) -> dict[str, Documents]:
    """The training part without the sentences that share a passage with the held-out one.

    Raises ValueError if nothing is left.
    """
    known = known_passages([document for side in held_out.values() for document in side])
    left = {name: without_passages(text, known) for name, text in training.items()}
    if not any(left.values()):
        raise ValueError(
            f"prepare_corpus: every training sentence shares {WORDS} consecutive words with the "
            "held-out text; use texts that differ more"
        )
    return left


def split_own(documents: Documents, corpus: str, validation: float) -> tuple[Documents, Documents]:
    """As `split`; if that leaves too few documents for pairs, with the next larger share."""
    share = validation
    while share < 1:
        sides = split(documents, share)
        if all(len(side) > 1 and max(map(len, side)) > 1 for side in sides):
            return sides
        share *= WIDER
    different = set(map(tuple, documents))
    several = sum(len(document) > 1 for document in different)
    raise ValueError(
        f"prepare_corpus: {corpus} has too few documents: {len(different):,} different ones, "
        f"{several:,} of them with two sentences or more; training and held-out text each need "
        "two, one of them with two sentences; separate documents by blank lines and sentences by "
        "line breaks, or use more text"
    )


def open_corpus(folder: str | Path) -> PreparedCorpus:
    """Read the output of `prepare_corpus`.

    Raises FileNotFoundError, or ValueError if a file is damaged.
    """
    folder = Path(folder)
    tokenizer = WordPiece.load(folder / "tokenizer.json")
    return PreparedCorpus(
        tokenizer,
        TokenStore.open(folder / "training", tokenizer),
        TokenStore.open(folder / "validation", tokenizer),
    )


def made_of(folder: Path) -> dict | None:
    """The source of a prepared corpus, or None if it is missing or incomplete."""
    try:
        return json.loads((folder / "corpus.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


WORDS = 13  # in a row, as GPT-3's authors searched their training text for test questions
WORD = re.compile(r"\w+")


def passages(document: list[str], words: int = WORDS) -> Iterator[tuple[str, range]]:
    """Every run of `words` words, lower-cased, and the numbers of the sentences that contain it.

    A passage may extend from one sentence into the next; punctuation is ignored.

    >>> list(passages(["One, two.", "Three four."], words=3))
    [('one two three', range(0, 2)), ('two three four', range(0, 2))]
    """
    found = [(word, i) for i, text in enumerate(document) for word in WORD.findall(text.lower())]
    run, sentences = [word for word, _ in found], [i for _, i in found]
    for start in range(len(run) - words + 1):
        end = start + words
        yield " ".join(run[start:end]), range(sentences[start], sentences[end - 1] + 1)


def known_passages(documents: Documents, words: int = WORDS) -> set[str]:
    """All runs of `words` words in the documents."""
    return {passage for document in documents for passage, _ in passages(document, words)}


def without_passages(documents: Documents, known: set[str], words: int = WORDS) -> Documents:
    """The documents without the sentences that contain a known run of `words` words.

    known: as from `known_passages`, of held-out text.

    A document is split where a sentence was removed, because its neighbours did not follow each
    other. The order is kept.

    Source: Brown et al. (2020), appendix C (13 words in a row).
    """
    return [piece for document in documents for piece in _pieces(document, known, words)]


def _pieces(document: list[str], known: set[str], words: int) -> Iterator[list[str]]:
    """What is left of a document, split where known passages were removed."""
    gone = {i for passage, at in passages(document, words) if passage in known for i in at}
    for known_here, run in groupby(range(len(document)), gone.__contains__):
        if not known_here:
            yield [document[i] for i in run]
