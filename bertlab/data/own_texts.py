"""A reader's own texts as documents of sentences: .txt, .jsonl or .parquet, or a folder of them."""

import codecs
import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tqdm.auto import tqdm

from bertlab.data.clean import split_sentences
from bertlab.data.corpora import Documents
from bertlab.data.fetching import DataError

SUFFIXES = (".txt", ".jsonl", ".parquet")
BLANK_LINES = re.compile(r"\n\s*\n")
MARKS = {  # what a file of another encoding begins with; UTF-32's begins with UTF-16's
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}
RUN = "corpus/corpus.json"  # what only the folder of a run holds
OF_A_RUN = ("metrics.jsonl", "model", "snapshots")  # what a run writes beside it: no texts


def own_documents(path: str | Path, field: str = "text", *, progress: bool = True) -> Documents:
    """The documents of a file or folder, each a list of sentences.

    path: a .txt file, whose documents are separated by blank lines; a .jsonl file (one JSON object
    per line) or a .parquet file, where each row is a document; or a folder: all such files in it
    and its subfolders, where each .txt file is one document, without what runs have written there.
    field: the field of a row that holds its text. Documents without text are omitted.

    syntok splits each paragraph into sentences, and a line break counts as a space. It supports
    European languages with capital letters only. So if it finds no sentence end in most paragraphs
    of several lines (lower-case text, verse, Hindi, Arabic), each line of those is a sentence.

    Raises FileNotFoundError if there is nothing at `path`, DataError if pyarrow is needed and not
    installed, ValueError if there is no text, or if a file is of another kind, binary, not UTF-8
    or damaged.
    """
    path = Path(path)
    texts = [text for text in texts_of(path, field) if text.strip()]
    if not texts:
        raise ValueError(f"own_documents: {path} is empty; it must hold text")
    shown = tqdm(texts, "sentences", unit=" documents", leave=False, disable=not progress)
    cut = [
        [(lines, split_sentences([" ".join(lines)])) for lines in paragraphs(text)]
        for text in shown
    ]
    uncut = [len(found) == 1 for document in cut for lines, found in document if len(lines) > 1]
    by_line = 2 * sum(uncut) > len(uncut)
    if by_line and progress:
        tqdm.write(f"{path}: most paragraphs have no sentence end inside; each line is a sentence")
    return [
        [
            sentence
            for lines, found in document
            for sentence in (lines if by_line and len(found) == 1 else found)
        ]
        for document in cut
    ]


def texts_of(path: Path, field: str) -> Iterator[str]:
    """The text of each document, possibly empty."""
    for file in text_files(path):
        suffix = file.suffix.lower()
        if suffix == ".jsonl":
            yield from jsonl_texts(file, field)
        elif suffix == ".parquet":
            yield from parquet_texts(file, field)
        elif file == path:
            yield from BLANK_LINES.split(read_text(file))
        else:
            yield read_text(file)


def text_files(path: Path) -> list[Path]:
    """The file, or all readable files of a folder, sorted; hidden ones are omitted.

    Raises FileNotFoundError or ValueError if there is none.
    """
    kinds = f"{', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}"
    if not path.exists():
        raise FileNotFoundError(f"own_documents: there is no file or folder {path}")
    if not path.is_dir():
        if path.suffix.lower() not in SUFFIXES:
            raise ValueError(f"own_documents: a file must end in {kinds}; got {path}")
        return [path]
    written = {file.parents[1] / name for file in path.rglob(RUN) for name in OF_A_RUN}
    files = [
        file
        for file in sorted(path.rglob("*"))
        if file.suffix.lower() in SUFFIXES
        and not any(part.startswith(".") for part in file.relative_to(path).parts)
        and written.isdisjoint((file, *file.parents))
        and file.is_file()
    ]
    if not files:
        raise ValueError(f"own_documents: the folder {path} must hold a {kinds} file; it has none")
    return files


def files_digest(path: Path) -> str:
    """The SHA-256 of the names and contents of all files that `own_documents` reads."""
    digest = hashlib.sha256()
    for file in text_files(path):
        with file.open("rb") as stream:
            content = hashlib.file_digest(stream, "sha256").hexdigest()
        name = "" if file == path else file.relative_to(path).as_posix()
        digest.update(f"{name}\n{content}\n".encode())
    return digest.hexdigest()


def paragraphs(text: str) -> Iterator[list[str]]:
    """The lines of each paragraph, with one space between words."""
    for paragraph in BLANK_LINES.split(text):
        if lines := [" ".join(line.split()) for line in paragraph.split("\n") if line.strip()]:
            yield lines


def read_text(path: Path) -> str:
    """A text file, its line ends as "\\n". Raises ValueError if it is not UTF-8 text."""
    content = path.read_bytes()
    for mark, encoding in MARKS.items():
        if content.startswith(mark):
            raise ValueError(f"own_documents: {path} is {encoding}, not UTF-8; save it as UTF-8")
    if b"\0" in content:
        raise ValueError(f"own_documents: {path} is binary, not text; expected a UTF-8 text file")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line, byte = content.count(b"\n", 0, error.start) + 1, content[error.start]
        raise ValueError(
            f"own_documents: {path} is not UTF-8 (byte 0x{byte:02x} in line {line}); save it as "
            "UTF-8"
        ) from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


def jsonl_texts(path: Path, field: str) -> Iterator[str]:
    """The text of each line, one JSON object per line. Raises ValueError if a line has none."""
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"own_documents: {where} is not JSON ({error})") from error
        if not isinstance(row, dict):
            raise ValueError(f"own_documents: {where} must be a JSON object; got {line[:40]}")
        _check_field(field, row, where)
        text = _checked(row[field], field, where)
        # JSON can contain half of a surrogate pair, which no encoding can represent.
        yield text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def parquet_texts(path: Path, field: str) -> Iterator[str]:
    """The text of each row. Raises ValueError if there is none, DataError without pyarrow."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise DataError(
            f"own_documents: {path} needs pyarrow, which comes with the extra `course`; install it "
            "by `python -m pip install pyarrow`"
        ) from None
    try:
        _check_field(field, parquet.read_schema(path).names, str(path))
        values = parquet.read_table(path, columns=[field]).column(field).to_pylist()
    except (pyarrow.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0]
        raise ValueError(f"own_documents: {path} is not a Parquet file ({reason})") from error
    for number, value in enumerate(values, start=1):
        yield _checked(value, field, f"{path}, row {number}")


def _check_field(field: str, names: Any, where: str) -> None:
    if field not in names:
        raise ValueError(
            f"own_documents: {where} has no field {field!r}; expected one of "
            f"{', '.join(names) or 'none'} (--field on the command line)"
        )


def _checked(value: Any, field: str, where: str) -> str:
    if value is not None and not isinstance(value, str):
        raise ValueError(
            f"own_documents: {where}: {field!r} must be text; got {type(value).__name__}"
        )
    return value or ""
