"""Bytes as symbols, and GPT-2's split of a text into words.

Source: Radford et al. (2019), "Language Models are Unsupervised Multitask Learners", section 2.2,
and the `encoder.py` that came with it.
"""

import re

import regex

from bertlab.tokenizers.words import WHITE_SPACE, WHITE_SPACES

# Words keep the space before them; 's, 't, 're ... are words; letters, digits and other signs are
# separated; of several spaces, the last one belongs to the next word.
_SPACES = rf"[{WHITE_SPACE}]+(?![^{WHITE_SPACE}])|[{WHITE_SPACE}]+"
_SPLIT = rf"'s|'t|'re|'ve|'m|'ll|'d| ?%s+| ?%s+| ?%s+|{_SPACES}"
_WORD = regex.compile(_SPLIT % (r"\p{L}", r"\p{N}", rf"[^{WHITE_SPACE}\p{{L}}\p{{N}}]"))
_ASCII_WORD = re.compile(_SPLIT % ("[A-Za-z]", "[0-9]", rf"[^{WHITE_SPACE}A-Za-z0-9]"))

# No word crosses their borders: a run without white space, with at most one space before it.
CHUNK = re.compile(rf" ?[^{WHITE_SPACE}]+|{_SPACES}")


def split_byte_chunks(text: str) -> list[str]:
    """Cut `text` coarsely, and fast: no word of GPT-2's is in two chunks.

    A text can be cut before each space, unless a space follows other white space.
    """
    if "\0" in text or any(w in text and w + " " in text for w in WHITE_SPACES):
        return CHUNK.findall(text)
    return text.replace(" ", "\0 ").split("\0")


def split_byte_words(text: str) -> list[str]:
    """Cut `text` as GPT-2 does before learning merges; nothing is lost, not even spaces.

    >>> split_byte_words("I didn't see 2 men!")
    ['I', ' didn', "'t", ' see', ' 2', ' men', '!']
    """
    return (_ASCII_WORD if text.isascii() else _WORD).findall(text)


def byte_symbols() -> list[str]:
    """One printable character for each of the 256 bytes, by the byte's value.

    A vocabulary that is stored as text needs a visible character for every byte. The 188 bytes
    that are visible in Latin-1 represent themselves, the others get characters from U+0100 on: the
    space becomes `Ġ`, the newline `Ċ`.

    >>> byte_symbols()[ord("b")], byte_symbols()[ord(" ")]
    ('b', 'Ġ')
    """
    printable = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1)]
    printable += range(ord("®"), ord("ÿ") + 1)
    others = iter(range(256))
    return [chr(byte) if byte in printable else chr(256 + next(others)) for byte in range(256)]


SYMBOL_OF_BYTE = byte_symbols()
BYTE_OF_SYMBOL = {symbol: byte for byte, symbol in enumerate(SYMBOL_OF_BYTE)}
_LATIN_TO_SYMBOLS = dict(enumerate(SYMBOL_OF_BYTE))


def to_bytes(text: str) -> bytes:
    """UTF-8; half of a surrogate pair, which no text should contain, becomes its three bytes.

    >>> to_bytes("best").hex(" "), to_bytes("你好").hex(" ")
    ('62 65 73 74', 'e4 bd a0 e5 a5 bd')
    """
    return text.encode("utf-8", "surrogatepass")


def to_symbols(text: str) -> str:
    """The bytes of `text`, each as its printable character.

    >>> to_symbols(" né")
    'ĠnÃ©'
    """
    return to_bytes(text).decode("latin-1").translate(_LATIN_TO_SYMBOLS)


def from_symbols(symbols: str) -> str:
    """The text that `symbols` spell; bytes that are not UTF-8 become U+FFFD.

    >>> from_symbols("ĠnÃ©"), from_symbols("Ã")
    (' né', '�')
    """
    raw = bytes(BYTE_OF_SYMBOL[symbol] for symbol in symbols)
    try:
        return raw.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return raw.decode("utf-8", "replace")
