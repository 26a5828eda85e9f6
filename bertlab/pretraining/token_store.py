"""Documents as token ids on disk: read where they lie, so a corpus may be larger than memory.

A store is a folder with `store.json`, which says what is in it, and a folder of plain arrays: the
ids of all documents one after the other, and where sentences and documents begin.
"""

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock

from bertlab._files import write_atomically
from bertlab.tokenizers.tokenizer import Tokenizer

FORMAT = 1
ARRAYS = ("ids", "sentence_starts", "document_starts")
STARTS = "<i8"  # the kind of number in the second and the third: int64
FACTS = {"dtype", "documents", "sentences", "tokens", "vocabulary", "arrays", "sha256"}
BUFFER = 1 << 20  # bytes that each file gathers before it writes


@dataclass(frozen=True, eq=False)
class TokenStore:
    """Token ids of documents; make one with `write_tokens` or `TokenStore.open`.

    ids: [T], all tokens, uint16 or uint32, mapped from disk: only what is looked at is read.
    sentence_starts: int64 [S + 1]; sentence s is ids[sentence_starts[s]:sentence_starts[s + 1]].
    document_starts: int64 [D + 1]; document d has the sentences from document_starts[d] up to,
        but not including, document_starts[d + 1]. Nothing in a store is empty.
    vocabulary: the fingerprint of the tokenizer's vocabulary.
    """

    folder: Path
    ids: np.memmap
    sentence_starts: np.memmap
    document_starts: np.memmap
    vocabulary: str

    @classmethod
    def open(cls, folder: str | Path, tokenizer: Tokenizer | None = None) -> "TokenStore":
        """Map a store's files; the ids themselves are not read.

        tokenizer: if given, the store must have been written with its vocabulary.

        Raises FileNotFoundError if there is no store, ValueError if a file is damaged or was cut
        short, if the store has another format, or if the tokenizer is another one.
        """
        folder = Path(folder)
        facts = _read_facts(folder)
        arrays = folder / facts["arrays"]
        mapped = {
            "ids": _map(arrays, "ids", facts["dtype"], facts["tokens"]),
            "sentence_starts": _map(arrays, "sentence_starts", STARTS, facts["sentences"] + 1),
            "document_starts": _map(arrays, "document_starts", STARTS, facts["documents"] + 1),
        }
        store = cls(folder, vocabulary=facts["vocabulary"], **mapped)
        _check_starts(store)
        if tokenizer is not None:
            store.check_tokenizer(tokenizer)
        return store

    def __len__(self) -> int:
        """The number of documents."""
        return len(self.document_starts) - 1

    @property
    def n_tokens(self) -> int:
        """The number of tokens of all documents."""
        return len(self.ids)

    @property
    def n_sentences(self) -> int:
        """The number of sentences of all documents."""
        return len(self.sentence_starts) - 1

    def check_tokenizer(self, tokenizer: Tokenizer) -> None:
        """Raise ValueError if the ids of this store mean other words to `tokenizer`."""
        if fingerprint(tokenizer) != self.vocabulary:
            raise ValueError(
                f"TokenStore: {self.folder} was written with another tokenizer; open it with that "
                f"one, or write it anew with this {tokenizer!r}"
            )

    def verify(self) -> None:
        """Read every file and compare it with its checksum.

        Raises ValueError if a single bit is another one.
        """
        facts = _read_facts(self.folder)
        for name in ARRAYS:
            with _file(self.folder / facts["arrays"], name).open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
            if found != facts["sha256"][name]:
                raise _damaged(self.folder, f"the contents of {name}.bin have changed")

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process opens the files itself, instead of getting a copy of all ids."""
        return TokenStore.open, (self.folder,)

    def __repr__(self) -> str:
        return (
            f"TokenStore({len(self):,} documents, {self.n_sentences:,} sentences, "
            f"{self.n_tokens:,} tokens)"
        )


def write_tokens(
    documents: Iterable[Sequence[str]], tokenizer: Tokenizer, folder: str | Path
) -> TokenStore:
    """Write the token ids of documents, each a list of sentences, to `folder`; returns the store.

    One document is in memory at a time. Empty sentences and documents are left out. A store that
    is already there stays as it is until the new one is complete, and if anything goes wrong.

    Raises ValueError if there is not a single token.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / ".lock"):  # one writer at a time may tidy up after others
        arrays = Path(tempfile.mkdtemp(dir=folder, prefix="arrays-"))
        try:
            facts = {"format": FORMAT, **_write_arrays(documents, tokenizer, arrays)}
            arrays.chmod(0o755)  # mkdtemp's 0700 would surprise whoever shares the folder
            # This one step turns the old store into the new one.
            write_atomically(folder / "store.json", json.dumps(facts, indent=2) + "\n")
        except BaseException:
            shutil.rmtree(arrays, ignore_errors=True)
            raise
        for other in folder.glob("arrays-*"):  # the old store's, or left by a writer that died
            if other != arrays:
                shutil.rmtree(other, ignore_errors=True)
    return TokenStore.open(folder, tokenizer)


def fingerprint(tokenizer: Tokenizer) -> str:
    """The SHA-256 of a vocabulary: equal if every id means the same token."""
    tokens = sorted(tokenizer.vocab.items(), key=lambda entry: entry[1])
    return hashlib.sha256(json.dumps(tokens).encode()).hexdigest()


def token_ids(
    documents: Iterable[Sequence[str]], tokenizer: Tokenizer
) -> Iterator[list[list[int]]]:
    """The documents' sentences as ids, without special tokens around and without empty ones."""
    for document in documents:
        if isinstance(document, str):
            raise TypeError("write_tokens: a document must be a list of sentences; got a string")
        encoded = (tokenizer.encode(text, add_special_tokens=False).ids for text in document)
        if sentences := [ids for ids in encoded if ids]:
            yield sentences


def _write_arrays(
    documents: Iterable[Sequence[str]], tokenizer: Tokenizer, arrays: Path
) -> dict[str, Any]:
    """Stream documents into the three files; returns what `store.json` is to say about them."""
    dtype = "<u2" if max(tokenizer.vocab.values()) < 2**16 else "<u4"
    with (
        _Writer(_file(arrays, "ids"), dtype) as ids,
        _Writer(_file(arrays, "sentence_starts"), STARTS) as sentence_starts,
        _Writer(_file(arrays, "document_starts"), STARTS) as document_starts,
    ):
        sentence_starts.append([0])
        document_starts.append([0])
        for sentences in token_ids(documents, tokenizer):
            ends = ids.length + np.cumsum([len(sentence) for sentence in sentences])
            ids.append(list(chain.from_iterable(sentences)))
            sentence_starts.append(ends)
            document_starts.append([sentence_starts.length - 1])
    if not ids.length:
        raise ValueError("write_tokens: documents must hold text; got not a single token")
    writers = (ids, sentence_starts, document_starts)
    return {
        "dtype": dtype,
        "documents": document_starts.length - 1,
        "sentences": sentence_starts.length - 1,
        "tokens": ids.length,
        "vocabulary": fingerprint(tokenizer),
        "arrays": arrays.name,
        "sha256": {name: w.checksum.hexdigest() for name, w in zip(ARRAYS, writers, strict=True)},
    }


class _Writer:
    """A file of numbers of one kind that grows, and its checksum."""

    def __init__(self, path: Path, dtype: str) -> None:
        self.file, self.dtype = path.open("wb", buffering=BUFFER), np.dtype(dtype)
        self.length, self.checksum = 0, hashlib.sha256()

    def append(self, numbers: Sequence[int] | np.ndarray) -> None:
        data = np.asarray(numbers, self.dtype).tobytes()
        self.file.write(data)
        self.checksum.update(data)
        self.length += len(numbers)

    def __enter__(self) -> "_Writer":
        return self

    def __exit__(self, *error: object) -> None:
        with self.file:
            self.file.flush()
            os.fsync(self.file.fileno())  # on disk before `store.json` says that it is there


def _file(arrays: Path, name: str) -> Path:
    return arrays / f"{name}.bin"


def _read_facts(folder: Path) -> dict[str, Any]:
    """What `store.json` says, if it can be understood."""
    path = folder / "store.json"
    if not path.is_file():
        raise FileNotFoundError(f"TokenStore.open: {folder} holds no store; write_tokens makes one")
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise _damaged(folder, f"store.json is not JSON ({error})") from error
    if not isinstance(facts, dict):
        raise _damaged(folder, "store.json does not describe a store")
    if facts.get("format") != FORMAT:
        raise ValueError(
            f"TokenStore.open: {folder} has format {facts.get('format')!r}, this bertlab reads "
            f"format {FORMAT}; write it anew with write_tokens"
        )
    if missing := FACTS - facts.keys():
        raise _damaged(folder, f"store.json does not say {', '.join(sorted(missing))}")
    return facts


def _map(arrays: Path, name: str, dtype: str, length: int) -> np.memmap:
    """One array, mapped; its file must be as long as it was written."""
    path, expected = _file(arrays, name), length * np.dtype(dtype).itemsize
    found = path.stat().st_size if path.is_file() else 0
    if found != expected:
        raise _damaged(arrays.parent, f"{name}.bin must have {expected:,} bytes; got {found:,}")
    return np.memmap(path, dtype, "r")


def _check_starts(store: TokenStore) -> None:
    """Starts must go up from 0 to the number of what they count, or spans would be nonsense."""
    counts = {"sentence_starts": store.n_tokens, "document_starts": store.n_sentences}
    for name, count in counts.items():
        starts = getattr(store, name)
        if starts[0] != 0 or starts[-1] != count or not (np.diff(starts) > 0).all():
            raise _damaged(store.folder, f"{name}.bin does not go up from 0 to {count:,}")


def _damaged(folder: Path, what: str) -> ValueError:
    return ValueError(f"TokenStore: {folder} is damaged: {what}; write it anew with write_tokens")
