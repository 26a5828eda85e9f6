"""What is measured: one job in one fresh process, so that caches are cold and memory is its own.

`python -m benchmarks.jobs '{"job": ..., "texts": ..., "options": {...}, "calls": 1}'` prints one
line of JSON: the seconds of each call, and what is known of the last call's result. A job is a
function of the texts: it prepares everything, then returns the work that the clock is held to and
a function that describes the work's result, which runs after the clock has stopped.
"""

import gc
import hashlib
import json
import os
import sys
import tracemalloc
from array import array
from collections.abc import Callable, Iterable
from pathlib import Path
from time import perf_counter
from typing import Any

Work = tuple[Callable[[], Any], Callable[[Any], dict[str, Any]]]

SPECIAL_TOKENS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
# GPT-2's way to cut a text into words, as its authors wrote it.
GPT2_PATTERN = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"


def learned(tokens: Iterable[str], merges: Iterable[tuple[str, str]] = ()) -> dict[str, Any]:
    """A trained vocabulary, in the order of ids, and its merges, as something to compare."""
    return {"tokens": list(tokens), "merges": [list(pair) for pair in merges]}


def encoded(ids_of_texts: Iterable[Iterable[int]]) -> dict[str, Any]:
    """Ids of many texts as something to compare."""
    digest, total = hashlib.sha256(), 0
    for ids in ids_of_texts:
        numbers = array("l", ids)
        digest.update(numbers.tobytes() + b"|")
        total += len(numbers)
    return {"ids": digest.hexdigest(), "total": total}


def in_order(vocab: dict[str, int]) -> list[str]:
    """The tokens by their ids."""
    return sorted(vocab, key=vocab.__getitem__)


# --- training ------------------------------------------------------------------------------------


def train_ours(texts: list[str], kind: str, **options: Any) -> Work:
    """`BPE`, `ByteBPE` or `WordPiece`."""
    from bertlab import tokenizers

    train = getattr(tokenizers, kind).train
    if kind == "WordPiece":
        options["special_tokens"] = SPECIAL_TOKENS
    return lambda: train(texts, **options), lambda t: learned(in_order(t.vocab), t.merges)


def train_tokenizers(texts: list[str], kind: str, vocab_size: int) -> Work:
    """Hugging Face's `tokenizers`, set up to learn the same."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

    options = {"vocab_size": vocab_size, "show_progress": False}
    if kind == "ByteBPE":
        tokenizer = Tokenizer(models.BPE())
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        alphabet = pre_tokenizers.ByteLevel.alphabet()
        trainer = trainers.BpeTrainer(special_tokens=[], initial_alphabet=alphabet, **options)
    elif kind == "BPE":
        tokenizer = Tokenizer(models.BPE(unk_token="[UNK]"))
        tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        trainer = trainers.BpeTrainer(special_tokens=["[UNK]"], **options)
    else:
        tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
        tokenizer.normalizer = normalizers.BertNormalizer()
        tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        trainer = trainers.WordPieceTrainer(special_tokens=SPECIAL_TOKENS, **options)

    def note(_: None) -> dict[str, Any]:
        model = json.loads(tokenizer.to_str())["model"]
        return learned(in_order(tokenizer.get_vocab()), model.get("merges", ()))

    return lambda: tokenizer.train_from_iterator(texts, trainer), note


def train_rustbpe(texts: list[str], vocab_size: int) -> Work:
    """Karpathy's `rustbpe`, with GPT-2's pattern in place of its own."""
    from rustbpe import Tokenizer

    from bertlab.tokenizers.byte_level import SYMBOL_OF_BYTE

    tokenizer = Tokenizer()

    def note(_: None) -> dict[str, Any]:
        ranks = tokenizer.get_mergeable_ranks()
        return learned("".join(map(SYMBOL_OF_BYTE.__getitem__, raw)) for raw, _ in ranks)

    options = {"vocab_size": vocab_size, "pattern": GPT2_PATTERN}
    return lambda: tokenizer.train_from_iterator(texts, **options), note


def train_minbpe(texts: list[str], vocab_size: int, folder: str) -> Work:
    """Karpathy's `minbpe`, which takes one text; `folder` is a checkout of it."""
    from bertlab.tokenizers.byte_level import SYMBOL_OF_BYTE

    (text,) = texts
    tokenizer = minbpe(folder)
    return lambda: tokenizer.train(text, vocab_size), lambda _: learned(
        "".join(map(SYMBOL_OF_BYTE.__getitem__, raw)) for raw in tokenizer.vocab.values()
    )


def train_real_wordpiece(texts: list[str], vocab_size: int, min_frequency: int) -> Work:
    """`real-wordpiece`, which learns by likelihood, though not always the best pair."""
    from real_wordpiece.trainer import RealWordPieceTrainer
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = RealWordPieceTrainer(
        vocab_size=vocab_size, min_frequency=min_frequency, special_tokens=SPECIAL_TOKENS
    )
    return lambda: trainer.train_tokenizer(texts, tokenizer), lambda _: learned(
        in_order(tokenizer.get_vocab())
    )


def minbpe(folder: str) -> Any:
    """An empty tokenizer of `minbpe` with GPT-2's pattern."""
    sys.path.insert(0, folder)
    from minbpe.regex import RegexTokenizer

    return RegexTokenizer(GPT2_PATTERN)


# --- encoding ------------------------------------------------------------------------------------


def gpt2_files() -> tuple[str, str]:
    """GPT-2's vocabulary and merges."""
    from bertlab import data

    return tuple(str(data.path("gpt2-vocabulary", name)) for name in ("encoder.json", "vocab.bpe"))


def bert_file() -> str:
    """The vocabulary of bert-base-uncased."""
    from bertlab import data

    return str(data.path("minilm", "vocab.txt"))


def our_tokenizer(vocabulary: str) -> Any:
    """Ours with a published vocabulary: "gpt2" or "bert"."""
    from bertlab.tokenizers import ByteBPE, WordPiece

    return (
        ByteBPE.from_gpt2(*gpt2_files())
        if vocabulary == "gpt2"
        else WordPiece.from_vocab(bert_file())
    )


def encode_ours(texts: list[str], vocabulary: str, offsets: bool = False) -> Work:
    """`encode_batch`, which works offsets out only when they are asked for."""
    tokenizer = our_tokenizer(vocabulary)
    return collect(tokenizer.encode_batch, texts, offsets)


def encode_tokenizers(texts: list[str], vocabulary: str, offsets: bool = False) -> Work:
    """`encode_batch`, or without offsets `encode_batch_fast`, which leaves them out."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    if vocabulary == "gpt2":
        tokenizer = Tokenizer(models.BPE.from_file(*gpt2_files()))
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    else:
        tokenizer = Tokenizer(models.WordPiece.from_file(bert_file(), unk_token="[UNK]"))
        tokenizer.normalizer = normalizers.BertNormalizer()
        tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        ends = [(token, tokenizer.token_to_id(token)) for token in ("[SEP]", "[CLS]")]
        tokenizer.post_processor = processors.BertProcessing(*ends)
    encode_batch = tokenizer.encode_batch if offsets else tokenizer.encode_batch_fast
    return collect(encode_batch, texts, offsets)


def collect(encode_batch: Callable[[list[str]], list], texts: list[str], offsets: bool) -> Work:
    """Encodings to Python's own lists: of ids, or of ids and of offsets."""
    if offsets:
        return (
            lambda: [(encoding.ids, encoding.offsets) for encoding in encode_batch(texts)],
            lambda result: encoded(
                [*ids, *(end for span in spans for end in span)] for ids, spans in result
            ),
        )
    return lambda: [encoding.ids for encoding in encode_batch(texts)], encoded


def encode_tiktoken(texts: list[str], batch: bool) -> Work:
    """OpenAI's `tiktoken` with GPT-2's vocabulary, made without the network."""
    from tiktoken import Encoding
    from tiktoken_ext.openai_public import r50k_pat_str

    from bertlab.tokenizers.byte_level import BYTE_OF_SYMBOL

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
    from bertlab.tokenizers.byte_level import SYMBOL_OF_BYTE

    vocab_file, merges_file = gpt2_files()
    vocab = json.loads(Path(vocab_file).read_text(encoding="utf-8"))
    own = {symbol: byte for byte, symbol in enumerate(SYMBOL_OF_BYTE)}
    own = {token: own.get(token, id) for token, id in vocab.items()}
    tokenizer = minbpe(folder)
    for line in Path(merges_file).read_text(encoding="utf-8").splitlines()[1:]:
        left, right = line.split(" ")
        tokenizer.merges[own[left], own[right]] = own[left + right]
    gpt2_id = [vocab[symbol] for symbol in SYMBOL_OF_BYTE]
    return lambda: [tokenizer.encode_ordinary(text) for text in texts], lambda result: encoded(
        [gpt2_id[id] if id < 256 else id for id in ids] for ids in result
    )


def encode_transformers(texts: list[str]) -> Work:
    """The tokenizer in Python that `transformers` keeps from its first years."""
    from transformers.models.bert.tokenization_bert_legacy import BertTokenizerLegacy

    tokenizer = BertTokenizerLegacy(bert_file(), model_max_length=10**9)
    options = {"return_attention_mask": False, "return_token_type_ids": False}
    return lambda: tokenizer(texts, **options)["input_ids"], encoded


def memory_of_ours(texts: list[str], vocabulary: str, offsets: bool = False) -> Work:
    """What our tokenizer remembers after encoding `texts` one by one: MB in the end, and at most.

    Not for its time: tracemalloc, which counts every byte that Python asks for, slows it down.
    """
    tokenizer = our_tokenizer(vocabulary)

    def work() -> tuple[float, float]:
        tracemalloc.start()
        most = now = 0
        for text in texts:
            encoding = tokenizer.encode(text)
            if offsets:
                encoding.offsets  # noqa: B018 - worked out when asked for
            del encoding
            now, _ = tracemalloc.get_traced_memory()
            most = max(most, now)
        return now / 1e6, most / 1e6

    return work, lambda result: dict(zip(("kept_mb", "most_mb"), result, strict=True))


JOBS = {
    job.__name__: job
    for job in (
        train_ours,
        train_tokenizers,
        train_rustbpe,
        train_minbpe,
        train_real_wordpiece,
        encode_ours,
        encode_tokenizers,
        encode_tiktoken,
        encode_rustbpe,
        encode_minbpe,
        encode_transformers,
        memory_of_ours,
    )
}


def cpu_seconds() -> float:
    """Of this process and of those it has started and waited for."""
    return sum(os.times()[:4])


def measure(job: str, texts: str, options: dict[str, Any], calls: int) -> dict[str, Any]:
    """Do a job `calls` times: the first call finds its caches empty, the second finds them full."""
    strings = json.loads(Path(texts).read_text(encoding="utf-8"))
    work, note = JOBS[job](strings, **options)
    seconds, cpu, result = [], [], None
    for _ in range(calls):
        result = None
        gc.collect()
        cpu_before, before = cpu_seconds(), perf_counter()
        result = work()
        seconds.append(perf_counter() - before)
        cpu.append(cpu_seconds() - cpu_before)
    return {"seconds": seconds, "cpu": cpu, "note": note(result)}


if __name__ == "__main__":
    print(json.dumps(measure(**json.loads(sys.argv[1]))))
