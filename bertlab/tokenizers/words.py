"""Text to words: the split that comes before any subword algorithm (pre-tokenization)."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator

# Unicode's White_Space property. Python's own `\s` would add the separators \x1c to \x1f.
_CHUNK = re.compile(r"[^\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")


def split_words(text: str) -> list[str]:
    """Split at white space, and make every punctuation mark a word of its own, as BERT does.

    Source: Devlin et al. (2019), `BasicTokenizer` without its normalisation (case and accents
    stay as they are). Equal to Hugging Face's `BertPreTokenizer`.

    >>> split_words("I enjoyed the game, didn't you?")
    ['I', 'enjoyed', 'the', 'game', ',', 'didn', "'", 't', 'you', '?']
    """
    return [text[start:end] for start, end in word_spans(text)]


def word_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of every word of `split_words(text)`, counted in characters.

    >>> list(word_spans("men, menu"))
    [(0, 3), (3, 4), (5, 9)]
    """
    for chunk in _CHUNK.finditer(text):
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
    """Whether BERT takes `character` for punctuation.

    Unicode's categories P*, and every ASCII sign that is neither letter, digit nor space:
    `$`, `+`, `<`, `=`, `>`, `^`, the backtick, `|` and `~` are symbols to Unicode, not to BERT.
    """
    if character.isascii():
        return "!" <= character <= "~" and not character.isalnum()
    return unicodedata.category(character).startswith("P")


def count_words(texts: Iterable[str]) -> Counter[str]:
    """Count the words of all `texts`.

    >>> count_words(["cost best menu", "men camel cost best"]).most_common(2)
    [('cost', 2), ('best', 2)]
    """
    if isinstance(texts, str):
        raise TypeError(
            "count_words: texts must be an iterable of strings, got one string; "
            "put it into a list: [text]"
        )
    chunks: Counter[str] = Counter()
    for text in texts:
        chunks.update(_CHUNK.findall(text))
    words: Counter[str] = Counter()
    for chunk, count in chunks.items():  # a chunk is split once, however often it occurs
        for word in split_words(chunk):
            words[word] += count
    return words
