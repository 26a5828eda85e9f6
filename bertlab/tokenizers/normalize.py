"""BERT's normalisation: what happens to a text before it is cut into words.

In this order: control characters go, white space becomes a space, Chinese characters get spaces
around them (each is a word of its own), accents go, letters become small. The cased models leave
out the last two.

Source: Devlin et al. (2019), `BasicTokenizer`. Characters that Unicode has added since Python's
own tables were made are treated as Python treats them.
"""

import re
import unicodedata
from functools import cache

from bertlab.tokenizers.offsets import places_of_units

# Text between what BERT takes for white space. Vertical tabs and the like are not: they go.
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

    strip_accents: None does what `lowercase` does, as the uncased and cased models want.

    >>> normalize("Crème\\tBrûlée 你好")
    'creme brulee  你  好 '
    """
    if text.isascii() and text.isprintable():  # most English text: nothing to do, and fast
        return text.lower() if lowercase else text
    return text.translate(replacements(lowercase, strip_accents))


def normalized_places(text: str, *, lowercase: bool, strip_accents: bool | None) -> list[int]:
    """Where each character of the normalised text comes from, white space left out.

    >>> normalized_places("né 好", lowercase=True, strip_accents=None)
    [0, 1, 3]
    """
    replacement = replacements(lowercase, strip_accents)
    return places_of_units(text, lambda character: len(replacement[ord(character)].strip()))


class Replacements(dict):
    """What becomes of a character, by its code point, as `str.translate` asks for it.

    One character may become several (a Hangul syllable its letters) or none (an accent). What
    becomes of it does not depend on its neighbours, so the answer can be kept.
    """

    def __init__(self, lowercase: bool, strip_accents: bool) -> None:
        super().__init__()
        self.lowercase, self.strip_accents = lowercase, strip_accents

    def __missing__(self, code: int) -> str:
        replacement = self._normalize(chr(code))
        if len(self) < 50_000:  # so that its memory is bounded; most languages have hundreds
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
            # One by one: at the end of a word, str.lower would make another small sigma.
            parts = "".join(part.lower() for part in parts)
        return f" {parts} " if is_chinese(character) else parts


@cache
def replacements(lowercase: bool, strip_accents: bool | None) -> Replacements:
    """The table of one way to normalise; `strip_accents` as `normalize` has it."""
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
