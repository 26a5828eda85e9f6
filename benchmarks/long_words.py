"""One long word: how time grows with its length, in training and, beside `tokenizers`, encoding."""

import base64
import random

from benchmarks.contests import Comparison, Contest, Entry, Sizes, ours

ALPHABETS = {"DNA": "ACGT", "letters": "abcdefghijklmnopqrstuvwxyz", "one-letter": "a"}
KINDS = (*ALPHABETS, "base64", "no-spaces")


def long_word(kind: str, length: int, prose: str) -> str:
    """A word of this kind; prose: what "no-spaces" is made of, by leaving all but letters out."""
    chance = random.Random(0)
    if kind == "no-spaces":
        return "".join(filter(str.isalpha, prose))[:length]
    if kind == "base64":
        encoded = base64.b64encode(chance.randbytes(length)).decode()
        return encoded.replace("+", "").replace("/", "")[:length]
    return "".join(chance.choices(ALPHABETS[kind], k=length))


def corpus(kind: str, length: int) -> str:
    """The name of the text that is one such word."""
    return f"{kind} {length / 1e6:g} word"


def training(sizes: Sizes) -> list[tuple[str, str, Entry]]:
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
        (f"{name}, {kind}", corpus(kind, length), entry)
        for name, entry in entries.items()
        for kind in ALPHABETS
        for length in sizes.word_lengths
    ]


def contests(sizes: Sizes) -> list[Contest]:
    """Ids and offsets of one word, at growing lengths."""
    found = []
    for kind in KINDS:
        for length in sizes.word_lengths:
            options = {"vocabulary": "gpt2", "offsets": True}
            own = Entry("ours", "encode_ours", options)
            peer = Entry("tokenizers", "encode_tokenizers", options, package="tokenizers")
            lines = (Comparison(own, peer, same="equal"),)
            found.append(Contest(f"{kind}, {length:,}", corpus(kind, length), lines))
    return found
