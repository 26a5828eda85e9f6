"""BERT's normalisation of a text, before the text is cut into words.

In this order: remove control characters, turn white space into spaces, put spaces around Chinese
characters (each is a word of its own), strip accents, lower-case. The cased models omit the last
two steps.

Source: Devlin et al. (2019), `BasicTokenizer`. Unicode characters that are newer than Python's
tables are treated as Python treats them.
"""

import re
import unicodedata
from functools import cache

from bertlab.tokenizers.offsets import places_of_units

# Text between BERT's white space. Vertical tabs and similar do not count: they are removed.
CHUNK = re.compile(r"[^\t\n\r \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")

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


def normalized_places(text: str, *, lowercase: bool, strip_accents: bool | None) -> list[int]:
    """For each character of the normalised text, without white space, its place in `text`.

    >>> normalized_places("né 好", lowercase=True, strip_accents=None)
    [0, 1, 3]
    """
    replacement = replacements(lowercase, strip_accents)
    return places_of_units(text, lambda character: len(replacement[ord(character)].strip()))


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
