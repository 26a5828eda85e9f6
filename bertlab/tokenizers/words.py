"""Text to words: the split that comes before any subword algorithm (pre-tokenization)."""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial

from bertlab.tokenizers.entries import read_texts

Splitter = Callable[[str], Iterable[str]]

# Unicode's White_Space property. Python's own `\s` would add the separators \x1c to \x1f.
WHITE_SPACE = r"\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
WHITE_SPACES = re.findall(f"[{WHITE_SPACE}]", "".join(map(chr, range(0x3001))))
CHUNK = re.compile(f"[^{WHITE_SPACE}]+")
# White space for str.split but not for some tokenizer.
_RARE = "\x0b\x0c\x1c\x1d\x1e\x1f\x85"
_ASCII_PUNCTUATION = r"!-/:-@\[-`{-~"
_ASCII_WORD = re.compile(rf"[{_ASCII_PUNCTUATION}]|[^{_ASCII_PUNCTUATION}\t-\r ]+")


def split_words(text: str) -> list[str]:
    """Split at white space, and make every punctuation mark a word of its own, as BERT does.

    Source: Devlin et al. (2019), `BasicTokenizer` without its normalisation (case and accents
    are kept). Equal to Hugging Face's `BertPreTokenizer`.

    >>> split_words("I enjoyed the game, didn't you?")
    ['I', 'enjoyed', 'the', 'game', ',', 'didn', "'", 't', 'you', '?']
    """
    if text.isalnum():  # most chunks hold no punctuation
        return [text]
    if text.isascii():
        return _ASCII_WORD.findall(text)
    return [text[start:end] for start, end in word_spans(text)]


def word_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of every word of `split_words(text)`, counted in characters.

    >>> list(word_spans("men, menu"))
    [(0, 3), (3, 4), (5, 9)]
    """
    if text.isascii():
        yield from (word.span() for word in _ASCII_WORD.finditer(text))
        return
    for chunk in CHUNK.finditer(text):
        start, end = chunk.span()
        if chunk.group().isalnum():  # most chunks hold no punctuation
            yield start, end
            continue
        for position in range(start, end):
            if is_punctuation(text[position]):
                if start < position:
                    yield start, position
                yield position, position + 1
                start = position + 1
        if start < end:
            yield start, end


def is_punctuation(character: str) -> bool:
    """Whether BERT treats `character` as punctuation.

    Unicode's categories P*, and every ASCII sign except letters, digits and spaces: `$`,
    `+`, `<`, `=`, `>`, `^`, the backtick, `|` and `~` are symbols in Unicode, punctuation in BERT.
    """
    if character.isascii():
        return "!" <= character <= "~" and not character.isalnum()
    return unicodedata.category(character).startswith("P")


def split_chunks(text: str, chunk: re.Pattern[str] = CHUNK) -> list[str]:
    """The matches of `chunk` in `text`: runs without white space.

    `str.split` finds the same ones much faster, except for a few control characters.
    """
    return chunk.findall(text) if any(rare in text for rare in _RARE) else text.split()


def count_words(
    texts: Iterable[str],
    *,
    chunks: Splitter = split_chunks,
    split: Splitter = split_words,
    processes: int = 1,
) -> Counter[str]:
    """Count the words of all `texts`.

    chunks: cuts a text coarsely, and fast; split: cuts each distinct chunk into words, once;
    processes: count in this number of processes, which is faster above about ten megabytes.

    Raises TypeError, which names the entry, if one of the texts is not a string.

    >>> count_words(["cost best menu", "men camel cost best"]).most_common(2)
    [('cost', 2), ('best', 2)]
    """
    if processes < 1:
        raise ValueError(f"count_words: processes must be at least 1; got {processes}")
    words: defaultdict[str, int] = defaultdict(int)
    texts = read_texts("count_words", "texts", texts)
    for chunk, count in _count_chunks(texts, chunks, processes).items():
        for word in split(chunk):
            words[word] += count
    return Counter(words)


def _count_chunks(texts: Iterable[str], chunks: Splitter, processes: int) -> Counter[str]:
    counts: Counter[str] = Counter()
    if processes == 1:
        for text in texts:
            counts.update(chunks(text))
        return counts
    texts = list(texts)
    shares = [texts[first::processes] for first in range(processes)]
    with ProcessPoolExecutor(processes) as pool:
        for share in pool.map(partial(_count_chunks, chunks=chunks, processes=1), shares):
            counts.update(share)
    return counts
