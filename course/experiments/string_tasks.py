"""Small tasks with a right answer: text in, text out, any number of examples.

Each function draws pairs from a seed and splits them by *content*: an answer of the held-out part
does not occur in the training part, in any spelling. So a model that only memorises gets nothing
right there.
"""

import datetime
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from string import ascii_lowercase

from course.models.seq2seq.vocabulary import Pair, Vocabulary

# fmt: off
MONTHS = [
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
]
ONSETS = ["", "b", "br", "ch", "d", "f", "gl", "k", "l", "m", "str", "t"]
CODAS = ["", "", "n", "r", "st"]
# fmt: on
VOWELS = "aeiou"


@dataclass(frozen=True)
class Task:
    """Training pairs, test pairs, and the characters of both."""

    name: str
    train: list[Pair]
    held_out: list[Pair]
    vocabulary: Vocabulary


def dates(n_train: int = 8_000, n_held_out: int = 500, seed: int = 0) -> Task:
    """Dates from 1900 to 2099, from one of many English spellings to ISO 8601.

    >>> dates(1, 1).train[0].target.count("-")
    2
    """

    def draw(generator: random.Random) -> Pair:
        first = datetime.date(1900, 1, 1).toordinal()
        last = datetime.date(2099, 12, 31).toordinal()
        date = datetime.date.fromordinal(generator.randint(first, last))
        return Pair(generator.choice(date_spellings(date)), date.isoformat())

    return split_by_answer("dates", draw, n_train, n_held_out, seed)


def pig_latin(n_train: int = 8_000, n_held_out: int = 500, seed: int = 0, longest: int = 9) -> Task:
    """English-like words to Pig Latin.

    The words are made of random syllables, so that there are enough of them.
    """

    def draw(generator: random.Random) -> Pair:
        word = ""
        while len(word) < generator.randint(1, longest):
            word += "".join(generator.choice(part) for part in (ONSETS, VOWELS, CODAS))
        return Pair(word, to_pig_latin(word))

    return split_by_answer("Pig Latin", draw, n_train, n_held_out, seed)


def copy_at_distance(
    distances: Sequence[int],
    n_train: int = 4_000,
    n_held_out: int = 500,
    seed: int = 0,
    letters: str = "abcdefgh",
) -> Task:
    """Copy random strings; each pair draws its length from `distances`.

    From a letter to its copy there are as many symbols as the string is long, at the start of a
    string as at its end: the length is the distance over which a letter must be remembered.
    Distances of 1 or 2 have too few strings to hold out.

    >>> copy_at_distance([4], 1, 1).train[0]
    Pair(source='eceb', target='eceb')
    """
    if not distances or min(distances) < 1:
        raise ValueError(
            f"copy_at_distance: distances must be numbers from 1 up, at least one; got {distances}"
        )

    def draw(generator: random.Random) -> Pair:
        text = random_letters(generator, generator.choice(distances), letters)
        return Pair(text, text)

    return split_by_answer("copy at a distance", draw, n_train, n_held_out, seed)


def split_by_answer(
    name: str,
    draw: Callable[[random.Random], Pair],
    n_train: int,
    n_held_out: int,
    seed: int,
) -> Task:
    """Draw pairs; every answer (target) belongs to one of the two parts, at random.

    Raises ValueError if a part would be empty, or if the task has too few different answers to
    fill both.
    """
    if n_train < 1 or n_held_out < 1:
        raise ValueError(
            f"{name}: n_train and n_held_out must be at least 1; got {n_train} and {n_held_out}"
        )
    generator = random.Random(seed)
    held_out_share = n_held_out / (n_train + n_held_out)
    parts: dict[bool, list[Pair]] = {True: [], False: []}
    sizes = {True: n_held_out, False: n_train}
    belongs: dict[str, bool] = {}  # answer -> is it held out?
    for _ in range(100 * (n_train + n_held_out)):
        pair = draw(generator)
        if pair.target not in belongs:
            belongs[pair.target] = generator.random() < held_out_share
        part = belongs[pair.target]
        if len(parts[part]) < sizes[part]:
            parts[part].append(pair)
        if len(parts[True]) == n_held_out and len(parts[False]) == n_train:
            return Task(name, parts[False], parts[True], Vocabulary.of(parts[False] + parts[True]))
    raise ValueError(
        f"{name}: n_train and n_held_out must leave both parts some answers; after "
        f"{100 * (n_train + n_held_out)} draws there were {len(belongs)} different answers and "
        f"{len(parts[False])} + {len(parts[True])} pairs; ask for fewer"
    )


def date_spellings(date: datetime.date) -> list[str]:
    """The spellings of a date that are used here.

    >>> date_spellings(datetime.date(1987, 3, 5))[:4]
    ['5 March 1987', '5 Mar 1987', '5th of March 1987', 'March 5, 1987']
    """
    day, month, year = date.day, MONTHS[date.month - 1], date.year
    nth = ordinal(day)
    return [
        f"{day} {month} {year}",
        f"{day} {month[:3]} {year}",
        f"{nth} of {month} {year}",
        f"{month} {day}, {year}",
        f"{month} {nth}, {year}",
        f"{month[:3]} {nth} {year}",
        f"the {nth} of {month}, {year}",
        f"{year}, {month} {day}",
    ]


def ordinal(number: int) -> str:
    """1st, 2nd, 3rd, 4th, ..., 11th, 12th, 13th, ..., 21st.

    >>> [ordinal(day) for day in (1, 2, 3, 4, 11, 12, 13, 22, 31)]
    ['1st', '2nd', '3rd', '4th', '11th', '12th', '13th', '22nd', '31st']
    """
    teen = number % 100 in (11, 12, 13)
    return f"{number}{'th' if teen else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"


def to_pig_latin(word: str) -> str:
    """The consonants before the first vowel move to the end, and "ay" follows.

    A word that begins with a vowel, or has none, gets "way" or "ay".

    >>> [to_pig_latin(word) for word in ("string", "latin", "eat")]
    ['ingstray', 'atinlay', 'eatway']
    """
    first = next((i for i, letter in enumerate(word) if letter in VOWELS), len(word))
    return word[first:] + word[:first] + ("ay" if first else "way")


def random_letters(generator: random.Random, length: int, letters: str = ascii_lowercase) -> str:
    """`length` letters, each as likely as any other."""
    return "".join(generator.choice(letters) for _ in range(length))
