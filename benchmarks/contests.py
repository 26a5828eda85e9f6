"""Who is measured against whom, and what the course set out to reach."""

import string
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Entry:
    """One contestant: a job (`training_jobs`, `encoding_jobs`, `model_jobs`), what it needs.

    calls: how often the work is done in a turn; environment: variables that it runs with.
    """

    name: str
    job: str
    options: dict[str, Any] = field(default_factory=dict)
    package: str = "bertlab"
    cores: int = 1
    calls: int = 1
    environment: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Comparison:
    """A line of a table: how many times as fast as `peer` is `ours`?

    goal: at least so many times, None if none was set; call: 0 for the first, cold one, 1 for the
    second (of a model: which lap); same: "equal" where both results must be, "share" for the share
    of tokens in common.
    """

    ours: Entry
    peer: Entry
    goal: float | None = None
    call: int = 0
    same: str = ""


@dataclass(frozen=True)
class Contest:
    """Entries that take turns on the same texts, and what is read off their times."""

    title: str
    corpus: str
    comparisons: tuple[Comparison, ...]

    @property
    def entries(self) -> list[Entry]:
        """Every contestant once, in the order in which they take turns."""
        both = [entry for c in self.comparisons for entry in (c.ours, c.peer)]
        return [entry for place, entry in enumerate(both) if entry not in both[:place]]


@dataclass(frozen=True)
class Sizes:
    """How large everything is: megabytes of text, and entries of a vocabulary."""

    training: float = 9
    vocabularies: tuple[int, ...] = (1_000, 8_000, 30_000)
    cores: tuple[float, ...] = (9, 27)
    scores: tuple[float, ...] = (2.2, 9)
    vocabulary: int = 8_000
    slow: float = 1  # for peers in plain Python
    slowest: float = 0.3
    small_vocabularies: tuple[int, ...] = (1_000,)
    encoding: float = 9
    growth: tuple[float, ...] = (1, 3, 9, 27)
    long_words: tuple[int, ...] = (10_000, 100_000, 1_000_000)  # letters


QUICK = Sizes(
    training=1,
    vocabularies=(1_000, 8_000),
    cores=(2,),
    scores=(1,),
    vocabulary=2_000,
    slow=0.3,
    slowest=0.1,
    small_vocabularies=(300, 512),
    encoding=1,
    growth=(0.3, 1, 3),
    long_words=(10_000, 100_000),
)

LONG_WORDS = {"DNA": "ACGT", "letters": string.ascii_lowercase, "repeated": "a"}  # what they hold

# Hugging Face's trainer gives ids by hash order, so for WordPiece only the tokens can be compared.
KINDS = {"BPE": (1.5, "equal"), "ByteBPE": (2, "equal"), "WordPiece": (2.5, "share")}
NAMES = {"BPE": "BPE", "ByteBPE": "byte BPE", "WordPiece": "WordPiece, frequency"}


def prose(megabytes: float) -> str:
    """The name of a corpus of encyclopedia, books and speeches."""
    return f"prose {megabytes:g} MB"


def mixed(megabytes: float) -> str:
    """The name of a corpus of the same and newsgroups, which reaches 27 MB."""
    return f"mixed {megabytes:g} MB"


def ours(kind: str, vocab_size: int, label: str = "ours", **options: Any) -> Entry:
    """Our trainer; WordPiece by frequency unless said otherwise."""
    if kind == "WordPiece":
        options = {"criterion": "frequency", **options}
    options = {"kind": kind, "vocab_size": vocab_size, **options}
    return Entry(label, "train_ours", options, cores=options.get("processes", 1))


def hugging_face(kind: str, vocab_size: int, cores: int = 1) -> Entry:
    """Hugging Face's trainer."""
    options = {"kind": kind, "vocab_size": vocab_size}
    return Entry("tokenizers", "train_tokenizers", options, package="tokenizers", cores=cores)


def training(sizes: Sizes) -> list[Contest]:
    """By frequency, one thread."""
    contests = []
    for kind, (goal, same) in KINDS.items():
        for size in sizes.vocabularies:
            mine = ours(kind, size)
            lines = [Comparison(mine, hugging_face(kind, size), goal, same=same)]
            if kind == "ByteBPE":
                peer = Entry("rustbpe", "train_rustbpe", {"vocab_size": size}, package="rustbpe")
                lines.append(Comparison(mine, peer, 1 / 1.5, same="share"))
            title = f"{NAMES[kind]}, {size:,}"
            contests.append(Contest(title, prose(sizes.training), tuple(lines)))
    return contests


def two_cores(sizes: Sizes) -> list[Contest]:
    """Two processes that count words, against `tokenizers` with two threads."""
    size = sizes.vocabulary
    return [
        Contest(
            f"{NAMES[kind]}, {size:,}, {megabytes:g} MB",
            mixed(megabytes),
            (
                Comparison(
                    ours(kind, size, "ours, processes=2", processes=2),
                    hugging_face(kind, size, cores=2),
                    1,
                    same="equal",
                ),
            ),
        )
        for megabytes in sizes.cores
        for kind in ("BPE", "ByteBPE")
    ]


def scores(sizes: Sizes) -> list[Contest]:
    """WordPiece by likelihood and by gain, against our own by frequency and `real-wordpiece`."""
    contests = []
    for megabytes in sizes.scores:
        entries = {
            criterion: ours(
                "WordPiece", sizes.vocabulary, criterion, criterion=criterion, min_frequency=2
            )
            for criterion in ("likelihood", "gain", "frequency")
        }
        lines = (
            Comparison(entries["likelihood"], entries["frequency"], 1 / 3),
            Comparison(entries["gain"], entries["frequency"], 1 / 6),
        )
        title = f"WordPiece, {sizes.vocabulary:,}, {megabytes:g} MB"
        contests.append(Contest(title, prose(megabytes), lines))
    options = {"vocab_size": 1_000, "min_frequency": 2}
    peer = Entry("real-wordpiece", "train_real_wordpiece", options, package="real_wordpiece")
    mine = ours("WordPiece", 1_000, "likelihood", criterion="likelihood", min_frequency=2)
    title = f"WordPiece, 1,000, {sizes.slow:g} MB"
    line = Comparison(mine, peer, 50, same="share")
    return [*contests, Contest(title, prose(sizes.slow), (line,))]


def plain_python(sizes: Sizes, minbpe: str | None) -> list[Contest]:
    """Byte BPE against `minbpe`, which counts all pairs anew before each merge."""
    return [
        Contest(
            f"byte BPE, {size:,}, {sizes.slowest:g} MB",
            prose(sizes.slowest) + ", one text",
            (
                Comparison(
                    ours("ByteBPE", size), minbpe_entry("train", minbpe, vocab_size=size), 300
                ),
            ),
        )
        for size in sizes.small_vocabularies
    ]


def minbpe_entry(what: str, folder: str | None, **options: Any) -> Entry:
    """`minbpe` is no package: without a folder to run it from it counts as not installed."""
    options = {"folder": folder, **options}
    return Entry("minbpe", f"{what}_minbpe", options, package="bertlab" if folder else "minbpe")


def encoding(sizes: Sizes, minbpe: str | None) -> list[Contest]:
    """Published vocabularies, one thread; the first call finds caches empty, the second full."""

    def mine(vocabulary: str, offsets: bool = False) -> Entry:
        options = {"vocabulary": vocabulary, "offsets": offsets}
        return Entry("ours", "encode_ours", options, calls=2)

    def fast(vocabulary: str, offsets: bool = False) -> Entry:
        options = {"vocabulary": vocabulary, "offsets": offsets}
        return Entry("tokenizers", "encode_tokenizers", options, package="tokenizers", calls=2)

    batch = Entry("tiktoken, batch", "encode_tiktoken", {"batch": True}, "tiktoken", calls=2)
    loop = Entry("tiktoken, loop", "encode_tiktoken", {"batch": False}, "tiktoken", calls=2)
    rustbpe = Entry(
        "rustbpe, own vocabulary", "encode_rustbpe", {"vocab_size": 30_000}, "rustbpe", calls=2
    )
    legacy = Entry("transformers, Python", "encode_transformers", {}, "transformers")
    text = prose(sizes.encoding)
    gpt2, bert = mine("gpt2"), mine("bert")
    contests = [
        Contest(
            "byte BPE, ids",
            text,
            (
                Comparison(gpt2, fast("gpt2"), 3, same="equal"),
                Comparison(gpt2, fast("gpt2"), call=1),
                Comparison(gpt2, batch, same="equal"),
                Comparison(gpt2, batch, 1, call=1),
                Comparison(gpt2, loop, same="equal"),
                Comparison(gpt2, loop, 1, call=1),
                Comparison(gpt2, rustbpe),
                Comparison(gpt2, rustbpe, call=1),
            ),
        ),
        Contest(
            "WordPiece, ids",
            text,
            (
                Comparison(bert, fast("bert"), 4, same="equal"),
                Comparison(bert, fast("bert"), call=1),
                Comparison(bert, legacy, same="equal"),
            ),
        ),
    ]
    for name, vocabulary, goal in (("byte BPE", "gpt2", 3), ("WordPiece", "bert", 4)):
        entries = mine(vocabulary, offsets=True), fast(vocabulary, offsets=True)
        lines = Comparison(*entries, goal, same="equal"), Comparison(*entries, call=1)
        contests.append(Contest(f"{name}, ids and offsets", text, lines))
    slow = Comparison(gpt2, minbpe_entry("encode", minbpe), same="equal")
    return [*contests, Contest(f"byte BPE, ids, {sizes.slow:g} MB", prose(sizes.slow), (slow,))]


def memory(sizes: Sizes) -> list[tuple[str, str, Entry]]:
    """What our tokenizers remember: title, corpus, entry. The largest corpus fills the caches."""
    few, most = prose(sizes.encoding), mixed(sizes.growth[-1])
    return [
        (
            f"{name}, {'ids and offsets' if offsets else 'ids'}, {corpus}",
            corpus,
            Entry("ours", "memory_of_ours", {"vocabulary": vocabulary, "offsets": offsets}),
        )
        for name, vocabulary in (("byte BPE", "gpt2"), ("WordPiece", "bert"))
        for corpus, offsets in ((few, False), (few, True), (most, True))
    ]


def growth(sizes: Sizes) -> list[tuple[str, str, Entry]]:
    """Our training at growing sizes: title, corpus, entry."""
    entries = {
        "BPE": ours("BPE", sizes.vocabulary),
        "byte BPE": ours("ByteBPE", sizes.vocabulary),
        "WordPiece, gain": ours("WordPiece", sizes.vocabulary, criterion="gain", min_frequency=2),
    }
    return [
        (name, mixed(megabytes), entry)
        for name, entry in entries.items()
        for megabytes in sizes.growth
    ]


def long_words(sizes: Sizes) -> list[tuple[str, str, Entry]]:
    """Our training on a text that is one word: title, corpus, entry."""
    entries = {
        "BPE": ours("BPE", 1_000),
        "byte BPE": ours("ByteBPE", 1_000),
        **{
            f"WordPiece, {criterion}": ours("WordPiece", 1_000, criterion=criterion)
            for criterion in ("frequency", "likelihood", "gain")
        },
    }
    return [
        (f"{name}, {kind}", f"{kind} {letters / 1e6:g} MB, one word", entry)
        for name, entry in entries.items()
        for kind in LONG_WORDS
        for letters in sizes.long_words
    ]
