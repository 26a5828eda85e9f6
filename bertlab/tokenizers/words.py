"""Text to words, before any subword algorithm: BERT's normalisation, and its split into words.

`normalize` does in this order: remove control characters, turn white space into spaces, put spaces
around Chinese characters (each is a word of its own), strip accents, lower-case. The cased models
omit the last two steps. Unicode characters that are newer than Python's tables are treated as
Python treats them.

Source: Devlin et al. (2019), `BasicTokenizer`.
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial

from bertlab.tokenizers.checks import read_texts

# BERT's special tokens: for padding, for a word that cannot be cut, for the start and the end of a
# text, for what is masked; and the mark of a piece that continues a word.
PAD, UNKNOWN, CLS, SEP, MASK = "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"
CONTINUES = "##"

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


# Text between BERT's white space. Vertical tabs and similar do not count: they are removed.
BERT_CHUNK = re.compile(r"[^\t\n\r \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")

# Blocks of Chinese characters, as BERT lists them: no kana, no Hangul.
_CHINESE = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B820, 0x2CEAF),  # Hugging Face's fast version begins at 0x2B920
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)


def normalize(text: str, *, lowercase: bool = True, strip_accents: bool | None = None) -> str:
    """Normalise `text` as BERT does.

    strip_accents: None means the value of `lowercase`, as in the uncased and cased models.

    >>> normalize("Crème\\tBrûlée 你好")
    'creme brulee  你  好 '
    """
    if text.isascii() and text.isprintable():  # most English text: fast
        return text.lower() if lowercase else text
    table = replacements(lowercase, strip_accents)
    normalized = text.translate(table)
    if not table.strip_accents or unicodedata.is_normalized("NFD", normalized):
        return normalized
    # Marks that are not accents, such as the stems of notes, are put into Unicode's order.
    kept = "".join(character for character in text if not is_removed(character))
    return unicodedata.normalize("NFD", kept).translate(table)


class Replacements(dict):
    """The replacement of each character, by its code point, for `str.translate`.

    One character may become several (a Hangul syllable its letters) or none (an accent). The
    replacement does not depend on its neighbours, so it can be cached; only the order of marks
    does, which `normalize` sees to.
    """

    def __init__(self, lowercase: bool, strip_accents: bool) -> None:
        super().__init__()
        self.lowercase, self.strip_accents = lowercase, strip_accents

    def __missing__(self, code: int) -> str:
        replacement = self._normalize(chr(code))
        if len(self) < 50_000:  # bounds its memory; most languages have hundreds
            self[code] = replacement
        return replacement

    def _normalize(self, character: str) -> str:
        if is_removed(character):
            return ""
        if character.isspace():
            return " "
        parts = character
        if self.strip_accents:
            decomposed = unicodedata.normalize("NFD", character)
            parts = "".join(part for part in decomposed if unicodedata.category(part) != "Mn")
        if self.lowercase:
            # One by one: str.lower of a whole word would make a final sigma at its end.
            parts = "".join(part.lower() for part in parts)
        return f" {parts} " if is_chinese(character) else parts


@cache
def replacements(lowercase: bool, strip_accents: bool | None) -> Replacements:
    """The table of one normalisation; `strip_accents` as in `normalize`."""
    return Replacements(lowercase, lowercase if strip_accents is None else strip_accents)


def is_removed(character: str) -> bool:
    """Whether BERT drops a character: control and format characters, private use, U+FFFD.

    Tab, newline and carriage return are white space, not control characters.
    """
    if character in "\t\n\r":
        return False
    return character == "\ufffd" or unicodedata.category(character) in ("Cc", "Cf", "Co", "Cs")


def is_chinese(character: str) -> bool:
    """Whether BERT makes a character a word of its own because it is Chinese."""
    return any(first <= ord(character) <= last for first, last in _CHINESE)
