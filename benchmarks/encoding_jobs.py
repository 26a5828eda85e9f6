"""What encoding is measured on: a job takes texts, and returns what the clock is held to.

As in `training_jobs`; vocabularies are loaded before the clock starts.
"""

import hashlib
import json
import tracemalloc
from array import array
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from benchmarks.training_jobs import GPT2_PATTERN, Work, minbpe


def encoded(ids_of_texts: Iterable[Iterable[int]]) -> dict[str, Any]:
    """Ids of many texts as something to compare."""
    digest, total = hashlib.sha256(), 0
    for ids in ids_of_texts:
        numbers = array("l", ids)
        digest.update(numbers.tobytes() + b"|")
        total += len(numbers)
    return {"ids": digest.hexdigest(), "total": total}


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
