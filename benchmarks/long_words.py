"""One long word: how the time of encoding grows with its length, beside `tokenizers`."""

import base64
import random

from benchmarks.contests import Comparison, Contest, Entry, Sizes

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


def contests(sizes: Sizes) -> list[Contest]:
    """Ids and offsets of one word, at growing lengths."""
    found = []
    for kind in KINDS:
        for length in sizes.word_lengths:
            options = {"vocabulary": "gpt2", "offsets": True}
            ours = Entry("ours", "encode_ours", options)
            peer = Entry("tokenizers", "encode_tokenizers", options, package="tokenizers")
            lines = (Comparison(ours, peer, same="equal"),)
            found.append(Contest(f"{kind}, {length:,}", f"{kind} {length / 1e6} word", lines))
    return found
