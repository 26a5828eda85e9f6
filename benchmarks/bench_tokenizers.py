"""Our tokenizers and their peers, side by side in one run.

    python -m benchmarks.bench_tokenizers                       print the tables
    python -m benchmarks.bench_tokenizers --quick               three runs, small sizes: a trial
    python -m benchmarks.bench_tokenizers --only encoding       one of the sections
    python -m benchmarks.bench_tokenizers --minbpe FOLDER --write    fill in benchmarks/README.md

Contestants of a row take turns, so noise of the machine hits all of them; each turn is a new
process. First who meets whom; then the jobs, which take texts and prepare everything, and return
the work that is timed and a function that describes its result. Only its own job imports a peer.
"""

import argparse
import base64
import hashlib
import json
import random
import sys
import tracemalloc
from array import array
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any, NamedTuple

from benchmarks import turns
from benchmarks.turns import Comparison, Entry, Turns
from bertlab import data

PACKAGES = ("tokenizers", "tiktoken", "rustbpe", "real-wordpiece", "transformers")
SECTIONS = ("training", "cores", "scores", "minbpe", "encoding", "long-words", "memory", "growth")
PROSE = ("wikipedia", "books", "sotu")
MIXED = (*PROSE, "newsgroups")
ALPHABETS = {"DNA": "ACGT", "letters": "abcdefghijklmnopqrstuvwxyz", "one-letter": "a"}
LONG_WORDS = (*ALPHABETS, "base64", "no-spaces")
SIZES = {  # of a whole run, of a trial: megabytes of text, entries of a vocabulary
    "training": (9, 1),
    "vocabularies": ((1_000, 8_000, 30_000), (1_000, 8_000)),
    "cores": ((9, 27), (2,)),
    "scores": ((2.2, 9), (1,)),
    "vocabulary": (8_000, 2_000),
    "slow": (1, 0.3),  # for peers in plain Python
    "slowest": (0.3, 0.1),
    "small_vocabularies": ((1_000,), (300, 512)),
    "encoding": (9, 1),
    "growth": ((1, 3, 9, 27), (0.3, 1, 3)),
    "word_lengths": ((10_000, 100_000, 1_000_000), (10_000, 100_000)),
}
# Hugging Face's trainer gives ids by hash order, so for WordPiece only the tokens can be compared.
KINDS = {
    "BPE": ("BPE", 1.5, "equal"),
    "ByteBPE": ("byte BPE", 2, "equal"),
    "WordPiece": ("WordPiece, frequency", 2.5, "share"),
}
NAMES = {"gpt2": "byte BPE", "bert": "WordPiece"}  # of published vocabularies


class Contest(NamedTuple):
    """Contestants that take turns on the same texts, and what is read off their times."""

    title: str
    corpus: str
    comparisons: list[Comparison]


def ours(kind: str, vocab_size: int, label: str = "ours", **options: Any) -> Entry:
    """Our trainer; WordPiece by frequency unless said otherwise."""
    if kind == "WordPiece":
        options = {"criterion": "frequency", **options}
    options = {"kind": kind, "vocab_size": vocab_size, **options}
    return Entry(label, "train_ours", options, cores=options.get("processes", 1))


def peer(name: str, job: str, package: str = "", calls: int = 1, **options: Any) -> Entry:
    """A peer with one core; its package has its name unless said otherwise."""
    return Entry(name, job, options, package or name, calls=calls)


def hugging_face(kind: str, vocab_size: int, cores: int = 1) -> Entry:
    options = {"kind": kind, "vocab_size": vocab_size}
    return Entry("tokenizers", "train_tokenizers", options, "tokenizers", cores)


def minbpe_peer(job: str, folder: str | None, **options: Any) -> Entry:
    """`minbpe` is no package: without a folder to run it from it counts as not installed."""
    return peer("minbpe", job, "bertlab" if folder else "minbpe", folder=folder, **options)


def training(sizes: SimpleNamespace) -> Iterator[Contest]:
    """By frequency, one thread."""
    for kind, (name, goal, same) in KINDS.items():
        for size in sizes.vocabularies:
            mine = ours(kind, size)
            rows = [Comparison(mine, hugging_face(kind, size), goal, same=same)]
            if kind == "ByteBPE":
                rustbpe = peer("rustbpe", "train_rustbpe", vocab_size=size)
                rows.append(Comparison(mine, rustbpe, 1 / 1.5, same="share"))
            yield Contest(f"{name}, {size:,}", f"prose {sizes.training:g} MB", rows)


def two_cores(sizes: SimpleNamespace) -> Iterator[Contest]:
    """Two processes that count words, against `tokenizers` with two threads."""
    size = sizes.vocabulary
    for megabytes in sizes.cores:
        for kind in ("BPE", "ByteBPE"):
            mine = ours(kind, size, "ours, processes=2", processes=2)
            rows = [Comparison(mine, hugging_face(kind, size, cores=2), 1, same="equal")]
            title = f"{KINDS[kind][0]}, {size:,}, {megabytes:g} MB"
            yield Contest(title, f"mixed {megabytes:g} MB", rows)


def scores(sizes: SimpleNamespace) -> Iterator[Contest]:
    """WordPiece by ratio and by gain, against our own by frequency and `real-wordpiece`."""

    def mine(criterion: str, size: int = sizes.vocabulary) -> Entry:
        return ours("WordPiece", size, criterion, criterion=criterion, min_frequency=2)

    for megabytes in sizes.scores:
        goals = (("ratio", 1 / 3), ("gain", 1 / 6))
        rows = [Comparison(mine(score), mine("frequency"), goal) for score, goal in goals]
        title = f"WordPiece, {sizes.vocabulary:,}, {megabytes:g} MB"
        yield Contest(title, f"prose {megabytes:g} MB", rows)
    options = {"vocab_size": 1_000, "min_frequency": 2}
    real = peer("real-wordpiece", "train_real_wordpiece", "real_wordpiece", **options)
    rows = [Comparison(mine("ratio", 1_000), real, 50, same="share")]
    yield Contest(f"WordPiece, 1,000, {sizes.slow:g} MB", f"prose {sizes.slow:g} MB", rows)


def plain_python(sizes: SimpleNamespace, minbpe: str | None) -> Iterator[Contest]:
    """Byte BPE against `minbpe`, which counts all pairs again before each merge."""
    for size in sizes.small_vocabularies:
        theirs = minbpe_peer("train_minbpe", minbpe, vocab_size=size)
        title, corpus = f"byte BPE, {size:,}, {sizes.slowest:g} MB", f"prose {sizes.slowest:g} MB"
        rows = [Comparison(ours("ByteBPE", size), theirs, 300)]
        yield Contest(title, f"{corpus}, one text", rows)


def encoders(vocabulary: str, offsets: bool, calls: int = 2) -> tuple[Entry, Entry]:
    """Ours and `tokenizers` with a published vocabulary."""
    options = {"vocabulary": vocabulary, "offsets": offsets}
    theirs = peer("tokenizers", "encode_tokenizers", calls=calls, **options)
    return Entry("ours", "encode_ours", options, calls=calls), theirs


def both_calls(
    ours: Entry, theirs: Entry, first: float | None, second: float | None, same: str = "equal"
) -> list[Comparison]:
    """Two rows, with their goals: caches are empty, then full."""
    return [Comparison(ours, theirs, first, 0, same), Comparison(ours, theirs, second, 1)]


def encoding(sizes: SimpleNamespace, minbpe: str | None) -> Iterator[Contest]:
    """Published vocabularies, one thread."""
    text = f"prose {sizes.encoding:g} MB"
    (gpt2, fast), (bert, fast_bert) = (encoders(name, offsets=False) for name in NAMES)
    batch = peer("tiktoken, batch", "encode_tiktoken", "tiktoken", calls=2, batch=True)
    loop = peer("tiktoken, loop", "encode_tiktoken", "tiktoken", calls=2, batch=False)
    rust = peer("rustbpe, own vocabulary", "encode_rustbpe", "rustbpe", 2, vocab_size=30_000)
    rows = both_calls(gpt2, fast, 3, None)
    rows += both_calls(gpt2, batch, None, 1) + both_calls(gpt2, loop, None, 1)
    yield Contest("byte BPE, ids", text, rows + both_calls(gpt2, rust, None, None, same=""))
    legacy = peer("transformers, Python", "encode_transformers", "transformers")
    rows = [*both_calls(bert, fast_bert, 4, None), Comparison(bert, legacy, same="equal")]
    yield Contest("WordPiece, ids", text, rows)
    for vocabulary, goal in (("gpt2", 3), ("bert", 4)):
        rows = both_calls(*encoders(vocabulary, offsets=True), goal, None)
        yield Contest(f"{NAMES[vocabulary]}, ids and offsets", text, rows)
    rows = [Comparison(gpt2, minbpe_peer("encode_minbpe", minbpe), same="equal")]
    yield Contest(f"byte BPE, ids, {sizes.slow:g} MB", f"prose {sizes.slow:g} MB", rows)


def long_words(sizes: SimpleNamespace) -> Iterator[Contest]:
    """Ids and offsets of one word, at growing lengths."""
    rows = [Comparison(*encoders("gpt2", offsets=True, calls=1), same="equal")]
    for kind in LONG_WORDS:
        for length in sizes.word_lengths:
            yield Contest(f"{kind}, {length:,}", f"{kind} {length / 1e6:g} word", rows)


def growth_of_words(sizes: SimpleNamespace) -> Iterator[tuple[str, str, Entry]]:
    """Our training on a text that is one word: title, corpus, entry."""
    entries = {"BPE": ours("BPE", 1_000), "byte BPE": ours("ByteBPE", 1_000)}
    for criterion in ("frequency", "ratio", "gain"):
        entries[f"WordPiece, {criterion}"] = ours("WordPiece", 1_000, criterion=criterion)
    for name, entry in entries.items():
        for kind in ALPHABETS:
            for length in sizes.word_lengths:
                yield f"{name}, {kind}", f"{kind} {length / 1e6:g} word", entry


def growth(sizes: SimpleNamespace) -> Iterator[tuple[str, str, Entry]]:
    """Our training at growing sizes: title, corpus, entry."""
    size = sizes.vocabulary
    entries = {"BPE": ours("BPE", size), "byte BPE": ours("ByteBPE", size)}
    entries["WordPiece, gain"] = ours("WordPiece", size, criterion="gain", min_frequency=2)
    for name, entry in entries.items():
        for megabytes in sizes.growth:
            yield name, f"mixed {megabytes:g} MB", entry


class Corpora:
    """Texts for the contestants: made once, written to files, which are read before the clock."""

    def __init__(self, folder: str) -> None:
        self.folder, self.documents = Path(folder), {}

    def file(self, name: str) -> Path:
        """The file of a corpus: "prose 9 MB", "prose 0.3 MB, one text", "DNA 1 word"."""
        path = self.folder / f"{name}.json"
        if not path.exists():
            path.write_text(json.dumps(self.texts(name)), encoding="utf-8")
        return path

    def texts(self, name: str) -> list[str]:
        """Whole documents, shuffled, as many as it takes to reach the size; or one long word."""
        kind, megabytes, *_ = name.split()
        if kind in LONG_WORDS:
            prose = "".join(self.texts("prose 2")) if kind == "no-spaces" else ""
            return [long_word(kind, round(float(megabytes) * 1e6), prose)]
        if kind not in self.documents:
            sources = PROSE if kind == "prose" else MIXED
            documents = [" ".join(lines) for source in sources for lines in data.documents(source)]
            random.Random(0).shuffle(documents)
            self.documents[kind] = documents
        texts, size = [], 0
        for document in self.documents[kind]:
            if size >= float(megabytes) * 1e6:
                break
            texts.append(document)
            size += len(document.encode())
        return ["\n".join(texts)] if name.endswith("one text") else texts

    def megabytes(self, name: str) -> float:
        """How large a corpus really is."""
        return sum(len(text.encode()) for text in json.loads(self.file(name).read_text())) / 1e6


def long_word(kind: str, length: int, prose: str) -> str:
    """A word of this kind; prose: what "no-spaces" is made of, by leaving all but letters out."""
    chance = random.Random(0)
    if kind == "no-spaces":
        return "".join(filter(str.isalpha, prose))[:length]
    if kind == "base64":
        encoded = base64.b64encode(chance.randbytes(length)).decode()
        return encoded.replace("+", "").replace("/", "")[:length]
    return "".join(chance.choices(ALPHABETS[kind], k=length))


def take(entry: Entry, texts: Path) -> dict[str, Any]:
    return turns.take("bench_tokenizers", entry, texts=str(texts), calls=entry.calls)


def contest_rows(
    contests: Iterable[Contest], corpora: Corpora, runs: int, with_speed: bool
) -> Iterator[list[str]]:
    """Run contests one by one; with_speed: the rows say megabytes per second, and which call."""
    for contest in contests:
        turns.note(f"  {contest.title}")
        texts, megabytes = corpora.file(contest.corpus), corpora.megabytes(contest.corpus)
        show = partial(turns.seconds, megabytes=megabytes if with_speed else None)
        for own in turns.compare(contest.comparisons, runs, partial(take, texts=texts)):
            call = (", first call", ", second call")[own[0].call] if with_speed else ""
            title = contest.title + call
            yield turns.peers_row(title, *own, result(contest.title, *own), show)


def result(title: str, comparison: Comparison, ours: Turns, peer: Turns) -> str:
    """What both have in common.

    Raises RuntimeError if two results that must be equal differ.
    """
    if peer and comparison.same == "equal":
        if any(mine["note"] != its["note"] for mine, its in zip(ours, peer, strict=True)):
            raise RuntimeError(f"{title}: ours differs from what {comparison.peer.name} gives")
        return "identical"
    if peer and comparison.same == "share":
        mine, its = (set(own[0]["note"]["tokens"]) for own in (ours, peer))
        return f"{len(mine & its) / len(its):.1%} of its tokens"
    return ""


def memory_table(sizes: SimpleNamespace, corpora: Corpora) -> str:
    """Megabytes of what our tokenizers remember, in one turn; the largest corpus fills caches."""
    rows, few, most = [], f"prose {sizes.encoding:g} MB", f"mixed {sizes.growth[-1]:g} MB"
    for vocabulary, name in NAMES.items():
        for corpus, offsets in ((few, False), (few, True), (most, True)):
            options = {"vocabulary": vocabulary, "offsets": offsets}
            entry = Entry("ours", "memory_of_ours", options)
            found = take(entry, corpora.file(corpus))["note"]
            title = f"{name}, {'ids and offsets' if offsets else 'ids'}, {corpus}"
            rows.append([title, *(f"{found[key]:.1f}" for key in ("kept_mb", "most_mb"))])
    head = ["what", "MB in the end", "MB at most"]
    return turns.table("Memory of what our tokenizers remember", head, rows)


def growth_table(title: str, wanted: Iterable, corpora: Corpora, runs: int) -> str:
    """Seconds per megabyte; the sizes take turns as well."""
    wanted, rows = list(wanted), []
    taken: list[list[float]] = [[] for _ in wanted]
    for _ in range(runs):
        for (_, corpus, entry), own in zip(wanted, taken, strict=True):
            own += take(entry, corpora.file(corpus))["seconds"]
    for (name, corpus, _), own in zip(wanted, taken, strict=True):
        size = corpora.megabytes(corpus)
        rows.append([name, f"{size:.3g}", turns.seconds(own), f"{median(own) / size:.3f}"])
    return turns.table(title, ["what", "MB", "seconds", "seconds per MB"], rows)


def tables(
    only: Iterable[str], sizes: SimpleNamespace, minbpe: str | None, corpora: Corpora, runs: int
) -> Iterator[str]:
    """Run the sections one by one, and yield their tables."""
    against_peers = {
        "training": ("Training, one thread", training(sizes)),
        "cores": ("Training, two cores", two_cores(sizes)),
        "scores": ("WordPiece by ratio and by gain", scores(sizes)),
        "minbpe": ("Training, against plain Python", plain_python(sizes, minbpe)),
        "encoding": ("Encoding, one thread", encoding(sizes, minbpe)),
        "long-words": ("Encoding one long word", long_words(sizes)),
    }
    for section in only:
        turns.note(section)
        if section == "memory":
            yield memory_table(sizes, corpora)
        elif section == "growth":
            yield growth_table("Growth of our training", growth(sizes), corpora, runs)
            title = "Growth of our training on one long word"
            yield growth_table(title, growth_of_words(sizes), corpora, runs)
        else:
            title, contests = against_peers[section]
            rows = contest_rows(contests, corpora, runs, with_speed=section == "encoding")
            yield turns.peers_table(title, rows)


# Jobs

Work = tuple[Callable[[], Any], Callable[[Any], dict[str, Any]]]  # timed; what its result is

SPECIAL_TOKENS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
# GPT-2's way to cut a text into words, as its authors wrote it.
GPT2_PATTERN = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"


def measure(
    job: Callable[..., Work], texts: str, options: dict[str, Any], calls: int
) -> dict[str, Any]:
    """Do a job `calls` times: the first call finds its caches empty, the second finds them full."""
    work, describe = job(json.loads(Path(texts).read_text(encoding="utf-8")), **options)
    seconds, cpu, notes = [], [], []
    for _ in range(calls):
        wall, processor, result = turns.clock(work)
        seconds.append(wall)
        cpu.append(processor)
        notes.append(describe(result))
        del result
    if any(other != notes[0] for other in notes):
        raise RuntimeError(f"{options}: the second call gave something else than the first")
    return {"seconds": seconds, "cpu": cpu, "note": notes[0]}


def learned(tokens: Iterable[str], merges: Iterable[tuple[str, str]] = ()) -> dict[str, Any]:
    """A trained vocabulary, in the order of ids, and its merges, as something to compare."""
    return {"tokens": list(tokens), "merges": [list(pair) for pair in merges]}


def in_order(vocab: dict[str, int]) -> list[str]:
    return sorted(vocab, key=vocab.__getitem__)


def symbols(raw: bytes) -> str:
    """Bytes as GPT-2's vocabulary spells them."""
    from bertlab.tokenizers.byte_bpe import SYMBOL_OF_BYTE

    return "".join(map(SYMBOL_OF_BYTE.__getitem__, raw))


def train_ours(texts: list[str], kind: str, **options: Any) -> Work:
    """`BPE`, `ByteBPE` or `WordPiece`; NumPy is imported off the clock, as all imports are."""
    import bertlab.tokenizers.fast  # noqa: F401
    from bertlab import tokenizers

    train = getattr(tokenizers, kind).train
    if kind == "WordPiece":
        options["special_tokens"] = SPECIAL_TOKENS
    return lambda: train(texts, **options), lambda t: learned(in_order(t.vocab), t.merges)


def splitting_as_ours(model: Any, kind: str) -> Any:
    """A tokenizer of `tokenizers`, which cuts texts into the same words."""
    from tokenizers import Tokenizer, normalizers, pre_tokenizers

    tokenizer = Tokenizer(model)
    if kind == "ByteBPE":
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    else:
        tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    if kind == "WordPiece":
        tokenizer.normalizer = normalizers.BertNormalizer()
    return tokenizer


def train_tokenizers(texts: list[str], kind: str, vocab_size: int) -> Work:
    """Hugging Face's `tokenizers`, set up to learn the same."""
    from tokenizers import models, pre_tokenizers, trainers

    options = {"vocab_size": vocab_size, "show_progress": False}
    if kind == "ByteBPE":
        model, alphabet = models.BPE(), pre_tokenizers.ByteLevel.alphabet()
        trainer = trainers.BpeTrainer(special_tokens=[], initial_alphabet=alphabet, **options)
    elif kind == "BPE":
        model = models.BPE(unk_token="[UNK]")
        trainer = trainers.BpeTrainer(special_tokens=["[UNK]"], **options)
    else:
        model = models.WordPiece(unk_token="[UNK]")
        trainer = trainers.WordPieceTrainer(special_tokens=SPECIAL_TOKENS, **options)
    tokenizer = splitting_as_ours(model, kind)

    def describe(_: None) -> dict[str, Any]:
        model = json.loads(tokenizer.to_str())["model"]
        return learned(in_order(tokenizer.get_vocab()), model.get("merges", ()))

    return lambda: tokenizer.train_from_iterator(texts, trainer), describe


def train_rustbpe(texts: list[str], vocab_size: int) -> Work:
    """Karpathy's `rustbpe`, with GPT-2's pattern in place of its own."""
    from rustbpe import Tokenizer

    tokenizer = Tokenizer()
    return (
        lambda: tokenizer.train_from_iterator(texts, vocab_size, pattern=GPT2_PATTERN),
        lambda _: learned(symbols(raw) for raw, _ in tokenizer.get_mergeable_ranks()),
    )


def train_minbpe(texts: list[str], vocab_size: int, folder: str) -> Work:
    """Karpathy's `minbpe`, which takes one text; `folder` is a checkout of it."""
    (text,) = texts
    tokenizer = minbpe(folder)
    return (
        lambda: tokenizer.train(text, vocab_size),
        lambda _: learned(map(symbols, tokenizer.vocab.values())),
    )


def train_real_wordpiece(texts: list[str], **options: Any) -> Work:
    """`real-wordpiece`, which learns by ratio, though not always the best pair."""
    from real_wordpiece.trainer import RealWordPieceTrainer
    from tokenizers import models

    tokenizer = splitting_as_ours(models.WordPiece(unk_token="[UNK]"), "WordPiece")
    trainer = RealWordPieceTrainer(special_tokens=SPECIAL_TOKENS, **options)
    return (
        lambda: trainer.train_tokenizer(texts, tokenizer),
        lambda _: learned(in_order(tokenizer.get_vocab())),
    )


def minbpe(folder: str) -> Any:
    """An empty tokenizer of `minbpe` with GPT-2's pattern."""
    sys.path.insert(0, folder)
    from minbpe.regex import RegexTokenizer

    return RegexTokenizer(GPT2_PATTERN)


def encoded(ids_of_texts: Iterable[Iterable[int]]) -> dict[str, Any]:
    """Ids of many texts as something to compare."""
    digest, total = hashlib.sha256(), 0
    for ids in ids_of_texts:
        numbers = array("l", ids)
        digest.update(numbers.tobytes() + b"|")
        total += len(numbers)
    return {"ids": digest.hexdigest(), "total": total}


def gpt2_files() -> tuple[str, str]:
    return tuple(str(data.path("gpt2-vocabulary", name)) for name in ("encoder.json", "vocab.bpe"))


def bert_file() -> str:
    return str(data.path("minilm", "vocab.txt"))


def our_tokenizer(vocabulary: str) -> Any:
    """Ours with a published vocabulary: "gpt2" or "bert"."""
    from bertlab.tokenizers import ByteBPE, WordPiece

    if vocabulary == "gpt2":
        return ByteBPE.from_gpt2(*gpt2_files())
    return WordPiece.from_vocab(bert_file())


def encode_ours(texts: list[str], vocabulary: str, offsets: bool) -> Work:
    """`encode_batch`, which works offsets out only when they are asked for."""
    return collect(our_tokenizer(vocabulary).encode_batch, texts, offsets)


def encode_tokenizers(texts: list[str], vocabulary: str, offsets: bool) -> Work:
    """`encode_batch`, or without offsets `encode_batch_fast`, which leaves them out."""
    from tokenizers import models, processors

    if vocabulary == "gpt2":
        tokenizer = splitting_as_ours(models.BPE.from_file(*gpt2_files()), "ByteBPE")
    else:
        model = models.WordPiece.from_file(bert_file(), unk_token="[UNK]")
        tokenizer = splitting_as_ours(model, "WordPiece")
        ends = [(token, tokenizer.token_to_id(token)) for token in ("[SEP]", "[CLS]")]
        tokenizer.post_processor = processors.BertProcessing(*ends)
    encode_batch = tokenizer.encode_batch if offsets else tokenizer.encode_batch_fast
    return collect(encode_batch, texts, offsets)


def collect(encode_batch: Callable[[list[str]], list], texts: list[str], offsets: bool) -> Work:
    """Encodings to Python's own lists: of ids, or of ids and of offsets."""
    if not offsets:
        return lambda: [encoding.ids for encoding in encode_batch(texts)], encoded
    return (
        lambda: [(encoding.ids, encoding.offsets) for encoding in encode_batch(texts)],
        lambda result: encoded(
            [*ids, *(end for span in spans for end in span)] for ids, spans in result
        ),
    )


def encode_tiktoken(texts: list[str], batch: bool) -> Work:
    """OpenAI's `tiktoken` with GPT-2's vocabulary, made without the network."""
    from tiktoken import Encoding
    from tiktoken_ext.openai_public import r50k_pat_str

    from bertlab.tokenizers.byte_bpe import BYTE_OF_SYMBOL

    vocab = json.loads(Path(gpt2_files()[0]).read_text(encoding="utf-8"))
    special = {"<|endoftext|>": vocab.pop("<|endoftext|>")}
    ranks = {bytes(map(BYTE_OF_SYMBOL.__getitem__, token)): id for token, id in vocab.items()}
    encoding = Encoding(
        "gpt2-offline", pat_str=r50k_pat_str, mergeable_ranks=ranks, special_tokens=special
    )
    if batch:
        return lambda: encoding.encode_ordinary_batch(texts, num_threads=1), encoded
    return lambda: [encoding.encode_ordinary(text) for text in texts], encoded


def encode_rustbpe(texts: list[str], vocab_size: int) -> Work:
    """`rustbpe`, which cannot read a vocabulary: it learns one of its own first."""
    from rustbpe import Tokenizer

    tokenizer = Tokenizer()
    tokenizer.train_from_iterator(texts, vocab_size, pattern=GPT2_PATTERN)
    return lambda: tokenizer.batch_encode(texts), encoded


def encode_minbpe(texts: list[str], folder: str) -> Work:
    """`minbpe` with GPT-2's merges; its ids of single bytes are the bytes themselves."""
    from bertlab.tokenizers.byte_bpe import SYMBOL_OF_BYTE

    vocab_file, merges_file = gpt2_files()
    vocab = json.loads(Path(vocab_file).read_text(encoding="utf-8"))
    own = vocab | {symbol: byte for byte, symbol in enumerate(SYMBOL_OF_BYTE)}
    tokenizer = minbpe(folder)
    for line in Path(merges_file).read_text(encoding="utf-8").splitlines()[1:]:
        left, right = line.split(" ")
        tokenizer.merges[own[left], own[right]] = own[left + right]
    gpt2_id = [vocab[symbol] for symbol in SYMBOL_OF_BYTE]
    return (
        lambda: [tokenizer.encode_ordinary(text) for text in texts],
        lambda result: encoded([gpt2_id[id] if id < 256 else id for id in ids] for ids in result),
    )


def encode_transformers(texts: list[str]) -> Work:
    """The tokenizer in Python that `transformers` keeps from its first years."""
    from transformers.models.bert.tokenization_bert_legacy import BertTokenizerLegacy

    tokenizer = BertTokenizerLegacy(bert_file(), model_max_length=10**9)
    options = {"return_attention_mask": False, "return_token_type_ids": False}
    return lambda: tokenizer(texts, **options)["input_ids"], encoded


def memory_of_ours(texts: list[str], vocabulary: str, offsets: bool) -> Work:
    """What our tokenizer remembers after encoding `texts` one by one: MB in the end, and at most.

    Not for its time: tracemalloc, which counts every byte that Python asks for, slows it down.
    """
    tokenizer = our_tokenizer(vocabulary)

    def work() -> dict[str, float]:
        tracemalloc.start()
        most = now = 0
        for text in texts:
            encoding = tokenizer.encode(text)
            if offsets:
                encoding.offsets  # noqa: B018 - worked out when asked for
            del encoding
            now, _ = tracemalloc.get_traced_memory()
            most = max(most, now)
        return {"kept_mb": now / 1e6, "most_mb": most / 1e6}

    return work, dict


def main() -> None:
    """Read the command line, run, print, and write if asked to."""
    parser = argparse.ArgumentParser(description="Our tokenizers and their peers, side by side.")
    parser.add_argument("--quick", action="store_true", help="three runs, small sizes: a trial")
    parser.add_argument("--only", nargs="+", choices=SECTIONS, help="some of the sections")
    parser.add_argument(
        "--minbpe", metavar="FOLDER", help="a checkout of github.com/karpathy/minbpe"
    )
    args = turns.read_options(parser, "quick", "only")
    if args.minbpe and not (Path(args.minbpe) / "minbpe" / "regex.py").is_file():
        parser.error(
            f"--minbpe: {args.minbpe} is no checkout of minbpe (it has no minbpe/regex.py)"
        )
    sizes = SimpleNamespace(**{name: both[args.quick] for name, both in SIZES.items()})
    runs = 3 if args.quick else 5
    what = f"Seconds: median of {runs} (smallest–largest)."
    with TemporaryDirectory() as folder:
        found = tables(args.only or SECTIONS, sizes, args.minbpe, Corpora(folder), runs)
        turns.publish("tokenizers" if args.write else None, PACKAGES, what, found, "--minbpe")


if __name__ == "__main__":
    main()
