"""Automatic labels of words: properties to probe for in any English text.

Each function takes a text with its original case and gives one label for each of its words
(`bertlab.tokenizers.words.split_words`), None if there is no meaningful label. Function words are
few enough for a list; a word that is not in it is "other", and an ambiguous word ("that", "her")
has one of its labels.
"""

from bertlab.tokenizers.words import is_punctuation, split_words

FUNCTION_WORDS = {
    "determiner": "the a an this that these those each every some any no its his her their our my "
    "your",
    "preposition": "of in to for with on at from by about as into through after over between "
    "against during without before under around among within upon",
    "pronoun": "he she it they we i you him them us me who which himself itself themselves",
    "auxiliary": "is was are were be been being has have had do does did will would can could may "
    "might must should shall",
    "conjunction": "and or but because if when while although though whether nor",
}
CLASS_OF = {word: name for name, words in FUNCTION_WORDS.items() for word in words.split()}
EIGHT = 8  # words; a text's first, second and third eight have different labels


def word_classes(text: str) -> list[str]:
    """The kind of each word: one of `FUNCTION_WORDS`, "punctuation", "number" or "other".

    >>> word_classes("In 1903 the brothers flew.")
    ['preposition', 'number', 'determiner', 'other', 'other', 'punctuation']
    """
    return [_class_of(word) for word in split_words(text)]


def previous_word_classes(text: str) -> list[str | None]:
    """The kind of the word before each word, which the word itself does not reveal.

    >>> previous_word_classes("In the end.")
    [None, 'preposition', 'determiner', 'other']
    """
    return [None, *word_classes(text)][:-1] if split_words(text) else []


def next_word_classes(text: str) -> list[str | None]:
    """The kind of the word after each word.

    >>> next_word_classes("In the end.")
    ['determiner', 'other', 'punctuation', None]
    """
    return [*word_classes(text)[1:], None] if split_words(text) else []


def names(text: str) -> list[bool | None]:
    """Whether each content word is capitalised, as names are in English.

    None for the first word, which always is, for function words, numbers and punctuation. A model
    that reads lower-case text must know names, or guess them.

    >>> names("He met Ada in London today.")
    [None, False, True, None, True, False, None]
    """
    labels: list[bool | None] = [None]
    for word in split_words(text)[1:]:
        labels.append(word[0].isupper() if _class_of(word) == "other" else None)
    return labels[: len(split_words(text))]


def places(text: str) -> list[int]:
    """The position of each word in the text: 0 for the first eight, then 1, then 2, then 3.

    >>> places("a b c d e f g h i")
    [0, 0, 0, 0, 0, 0, 0, 0, 1]
    """
    return [min(number // EIGHT, 3) for number in range(len(split_words(text)))]


def _class_of(word: str) -> str:
    if is_punctuation(word[0]):
        return "punctuation"
    if word[0].isdigit():
        return "number"
    return CLASS_OF.get(word.lower(), "other")
