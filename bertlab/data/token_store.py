"""Documents as token ids on disk, memory-mapped, so a corpus may be larger than memory.

A store is a folder with `store.json`, which describes it, and a folder of plain arrays with their
checksums: the ids of all documents, concatenated, and the starts of sentences and documents.
"""

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock

from bertlab._files import naming, read_json, write_atomically
from bertlab.tokenizers.checks import entries, read_texts
from bertlab.tokenizers.tokenizer import Tokenizer

FORMAT = 1
ARRAYS = ("ids", "sentence_starts", "document_starts")
FACTS = {  # what `store.json` says, and the type of it
    "dtype": str,
    "documents": int,
    "sentences": int,
    "tokens": int,
    "vocabulary": str,
    "corpora": dict,
    "arrays": str,
    "sha256": dict,
}
DTYPES = ("<u2", "<u4")  # of ids
BUFFER = 1 << 20  # bytes that are buffered per file


class ArrayWriter:
    """A growing file of numbers of one dtype, with its checksum."""

    def __init__(self, path: Path, dtype: str) -> None:
        self.path, self.dtype = path, np.dtype(dtype)
        self.file = path.open("wb", buffering=BUFFER)
        self.length, self.checksum = 0, hashlib.sha256()

    def append(self, numbers: Sequence[int] | np.ndarray) -> None:
        """Append numbers to the file."""
        data = np.asarray(numbers, self.dtype).tobytes()
        with naming(self.path):
            self.file.write(data)
        self.checksum.update(data)
        self.length += len(numbers)

    def __enter__(self) -> "ArrayWriter":
        return self

    def __exit__(self, *error: object) -> None:
        with naming(self.path), self.file:
            self.file.flush()
            os.fsync(self.file.fileno())  # on disk before `store.json` refers to it


def array_file(arrays: Path, name: str) -> Path:
    """The path of one array of a store."""
    return arrays / f"{name}.bin"


def read_facts(folder: Path) -> dict[str, Any]:
    """The content of `store.json`, checked."""
    path = folder / "store.json"
    if not path.is_file():
        raise FileNotFoundError(f"TokenStore.open: {folder} holds no store; write_tokens makes one")
    try:
        facts = read_json(path)
    except ValueError as error:
        raise damaged(folder, "store.json is not whole JSON") from error
    if not isinstance(facts, dict):
        raise damaged(folder, "store.json does not describe a store")
    if facts.get("format") != FORMAT:
        raise ValueError(
            f"TokenStore.open: {folder} has format {facts.get('format')!r}, this bertlab reads "
            f"format {FORMAT}; write it again with write_tokens"
        )
    if missing := FACTS.keys() - facts.keys():
        raise damaged(folder, f"store.json does not say {', '.join(sorted(missing))}")
    wrong = [name for name, kind in FACTS.items() if not isinstance(facts[name], kind)]
    wrong += [] if wrong or facts["dtype"] in DTYPES else ["dtype"]
    if wrong:
        raise damaged(folder, f"store.json says {facts[wrong[0]]!r} for {wrong[0]}")
    if unsummed := [name for name in ARRAYS if name not in facts["sha256"]]:
        raise damaged(folder, f"store.json does not say the sha256 of {unsummed[0]}.bin")
    return facts


def map_array(arrays: Path, name: str, dtype: str, length: int) -> np.memmap:
    """One array, memory-mapped; its file must have its original length."""
    path, expected = array_file(arrays, name), length * np.dtype(dtype).itemsize
    found = path.stat().st_size if path.is_file() else 0
    if found != expected:
        raise damaged(arrays.parent, f"{name}.bin must have {expected:,} bytes; got {found:,}")
    return np.memmap(path, dtype, "r")


def damaged(folder: Path, what: str) -> ValueError:
    """The error for files that have changed since they were written."""
    return ValueError(f"TokenStore: {folder} is damaged: {what}; write it again with write_tokens")


STARTS = "<i8"  # dtype of the second and the third: int64


@dataclass(frozen=True, eq=False)
class TokenStore:
    """Token ids of documents; make one with `write_tokens` or `TokenStore.open`.

    ids: [T], all tokens, uint16 or uint32, memory-mapped: only the parts in use are read.
    sentence_starts: int64 [S + 1]; sentence s is ids[sentence_starts[s]:sentence_starts[s + 1]].
    document_starts: int64 [D + 1]; document d has the sentences from document_starts[d] up to,
        but not including, document_starts[d + 1]. Nothing in a store is empty.
    vocabulary: the fingerprint of the tokenizer's vocabulary.
    corpora: the name and number of documents of each corpus, in the order in which they are
        stored.
    """

    folder: Path
    ids: np.memmap
    sentence_starts: np.memmap
    document_starts: np.memmap
    vocabulary: str
    corpora: Mapping[str, int]

    @classmethod
    def open(cls, folder: str | Path, tokenizer: Tokenizer | None = None) -> "TokenStore":
        """Map a store's files; the ids themselves are not read.

        tokenizer: if given, the store must have been written with its vocabulary.

        Raises FileNotFoundError if there is no store, ValueError if a file is damaged or
        truncated, if the store has another format, or if the tokenizer is another one.
        """
        folder = Path(folder)
        facts = read_facts(folder)
        arrays = folder / facts["arrays"]
        mapped = {
            "ids": map_array(arrays, "ids", facts["dtype"], facts["tokens"]),
            "sentence_starts": map_array(arrays, "sentence_starts", STARTS, facts["sentences"] + 1),
            "document_starts": map_array(arrays, "document_starts", STARTS, facts["documents"] + 1),
        }
        store = cls(folder, vocabulary=facts["vocabulary"], corpora=facts["corpora"], **mapped)
        _check_starts(store)
        if tokenizer is not None:
            store.check_tokenizer(tokenizer)
        return store

    def __len__(self) -> int:
        """The number of documents."""
        return len(self.document_starts) - 1

    @property
    def corpus_starts(self) -> np.ndarray:
        """The first document of each corpus, and the end of the last one: int64 [C + 1]."""
        return np.cumsum([0, *self.corpora.values()])

    @property
    def n_tokens(self) -> int:
        """The number of tokens of all documents."""
        return len(self.ids)

    @property
    def n_sentences(self) -> int:
        """The number of sentences of all documents."""
        return len(self.sentence_starts) - 1

    def check_tokenizer(self, tokenizer: Tokenizer) -> None:
        """Raise ValueError if this store's ids mean different words in `tokenizer`."""
        if fingerprint(tokenizer) != self.vocabulary:
            raise ValueError(
                f"TokenStore: {self.folder} was written with another tokenizer; open it with that "
                f"one, or write it again with this {tokenizer!r}"
            )

    def verify(self) -> None:
        """Read every file and compare it with its checksum.

        Raises ValueError if a single bit has changed.
        """
        facts = read_facts(self.folder)
        for name in ARRAYS:
            with array_file(self.folder / facts["arrays"], name).open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
            if found != facts["sha256"][name]:
                raise damaged(self.folder, f"the contents of {name}.bin have changed")

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process opens the files itself instead of receiving a copy of all ids."""
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

    As `write_corpora`, for documents that are all of one kind.
    """
    return write_corpora({"documents": documents}, tokenizer, folder)


def write_corpora(
    corpora: Mapping[str, Iterable[Sequence[str]]], tokenizer: Tokenizer, folder: str | Path
) -> TokenStore:
    """Write the token ids of several corpora, one after the other; returns the store.

    corpora: name -> documents, each a list of sentences.

    One document is in memory at a time. Empty sentences and documents are omitted. An existing
    store does not change until the new one is complete, nor if an error occurs.

    Raises ValueError if there is not a single token, TypeError for a sentence that is not a string.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / ".lock"):  # one writer at a time may remove leftovers
        arrays = Path(tempfile.mkdtemp(dir=folder, prefix="arrays-"))
        try:
            facts = {"format": FORMAT, **_write_arrays(corpora, tokenizer, arrays)}
            arrays.chmod(0o755)  # mkdtemp's 0700 would prevent sharing the folder
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
    """The documents' sentences as ids, without special tokens and without empty sentences."""
    for number, document in enumerate(entries("write_tokens", "documents", documents)):
        texts = read_texts("write_tokens", f"documents[{number}]", document)
        encoded = (tokenizer.encode(text, add_special_tokens=False).ids for text in texts)
        if sentences := [ids for ids in encoded if ids]:
            yield sentences


def _write_arrays(
    corpora: Mapping[str, Iterable[Sequence[str]]], tokenizer: Tokenizer, arrays: Path
) -> dict[str, Any]:
    """Stream documents into the three files; returns what `store.json` records about them."""
    dtype = "<u2" if max(tokenizer.vocab.values()) < 2**16 else "<u4"
    with (
        ArrayWriter(array_file(arrays, "ids"), dtype) as ids,
        ArrayWriter(array_file(arrays, "sentence_starts"), STARTS) as sentence_starts,
        ArrayWriter(array_file(arrays, "document_starts"), STARTS) as document_starts,
    ):
        sentence_starts.append([0])
        document_starts.append([0])
        kept = dict.fromkeys(corpora, 0)
        for name, documents in corpora.items():
            for sentences in token_ids(documents, tokenizer):
                ends = ids.length + np.cumsum([len(sentence) for sentence in sentences])
                ids.append(list(chain.from_iterable(sentences)))
                sentence_starts.append(ends)
                document_starts.append([sentence_starts.length - 1])
                kept[name] += 1
    if not ids.length:
        raise ValueError("write_tokens: documents must hold text; got not a single token")
    writers = (ids, sentence_starts, document_starts)
    return {
        "dtype": dtype,
        "documents": document_starts.length - 1,
        "sentences": sentence_starts.length - 1,
        "tokens": ids.length,
        "vocabulary": fingerprint(tokenizer),
        "corpora": kept,
        "arrays": arrays.name,
        "sha256": {name: w.checksum.hexdigest() for name, w in zip(ARRAYS, writers, strict=True)},
    }


def _check_starts(store: TokenStore) -> None:
    """Starts must increase from 0 to the number of items, or spans would be wrong."""
    counts = {"sentence_starts": store.n_tokens, "document_starts": store.n_sentences}
    for name, count in counts.items():
        starts = getattr(store, name)
        if starts[0] != 0 or starts[-1] != count or not (np.diff(starts) > 0).all():
            raise damaged(store.folder, f"{name}.bin does not go up from 0 to {count:,}")
    parts = store.corpora.values()
    if not all(isinstance(part, int) for part in parts) or sum(parts) != len(store):
        raise damaged(store.folder, f"store.json must divide {len(store):,} documents into corpora")
