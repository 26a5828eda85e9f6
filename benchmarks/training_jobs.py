"""What training is measured on: a job takes texts, and returns what the clock is held to.

A job prepares everything, then returns the work itself and a function that describes the work's
result, which runs after the clock has stopped. Peers are imported only by their own jobs.
"""

import json
import sys
from collections.abc import Callable, Iterable
from typing import Any

Work = tuple[Callable[[], Any], Callable[[Any], dict[str, Any]]]

SPECIAL_TOKENS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
# GPT-2's way to cut a text into words, as its authors wrote it.
GPT2_PATTERN = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"


def learned(tokens: Iterable[str], merges: Iterable[tuple[str, str]] = ()) -> dict[str, Any]:
    """A trained vocabulary, in the order of ids, and its merges, as something to compare."""
    return {"tokens": list(tokens), "merges": [list(pair) for pair in merges]}


def in_order(vocab: dict[str, int]) -> list[str]:
    """The tokens by their ids."""
    return sorted(vocab, key=vocab.__getitem__)


def train_ours(texts: list[str], kind: str, **options: Any) -> Work:
    """`BPE`, `ByteBPE` or `WordPiece`; NumPy is imported off the clock, as all imports are."""
    import bertlab.tokenizers.fast_corpus  # noqa: F401
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

    from bertlab.tokenizers.byte_bpe import SYMBOL_OF_BYTE

    tokenizer = Tokenizer()

    def note(_: None) -> dict[str, Any]:
        ranks = tokenizer.get_mergeable_ranks()
        return learned("".join(map(SYMBOL_OF_BYTE.__getitem__, raw)) for raw, _ in ranks)

    options = {"vocab_size": vocab_size, "pattern": GPT2_PATTERN}
    return lambda: tokenizer.train_from_iterator(texts, **options), note


def train_minbpe(texts: list[str], vocab_size: int, folder: str) -> Work:
    """Karpathy's `minbpe`, which takes one text; `folder` is a checkout of it."""
    from bertlab.tokenizers.byte_bpe import SYMBOL_OF_BYTE

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
