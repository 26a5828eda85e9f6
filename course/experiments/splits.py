"""Split into training and test without leaks.

A text that occurs twice, or almost, is in one part only: otherwise memorising would look like
understanding.
"""

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import train_test_split

from course.experiments.labels import Example

WORD = re.compile(r"[^\W\d_]+")  # only letters: prices and telephone numbers differ between copies
ALIKE = 0.6  # cosine of two texts' TF-IDF vectors above which they are one family
COMMON = 0.2  # words in more than this share of the texts say little, and cost most
ROWS = 1000  # texts that are compared with all others at once


def split_families(
    texts: Sequence[str], labels: Sequence[str], *, test: float = 0.2, seed: int = 0
) -> tuple[list[int], list[int]]:
    """The numbers of the texts for training and of those for the test, in their order.

    Families of texts (`families`) stay together; the share `test` of each label's families goes
    to the test, so that both parts have about the same mixture of labels.

    Raises ValueError if there is not one label for each text, if `test` is not between 0 and 1,
    or if a label has a single family.

    >>> texts = ["You won £100!", "You won £200!", "Win a car", "Ok.", "See you at 5"]
    >>> split_families(texts, ["spam", "spam", "spam", "ham", "ham"], test=0.5)
    ([0, 1, 4], [2, 3])
    """
    if len(texts) != len(labels):
        raise ValueError(
            "split_families: there must be one label for each text; got "
            f"{len(texts)} texts and {len(labels)} labels"
        )
    if not 0 < test < 1:
        raise ValueError(f"split_families: test must be between 0 and 1; got {test}")
    family = families(texts)
    numbers, first = np.unique(family, return_index=True)
    label = np.asarray(labels)[first]  # a family has the label of its first text
    for name, count in Counter(label.tolist()).items():
        if count < 2:
            raise ValueError(
                f"split_families: each label needs two families, one a side; {name!r} has one"
            )
    _, tested = train_test_split(numbers, test_size=test, stratify=label, random_state=seed)
    in_test = np.isin(family, tested)
    return np.flatnonzero(~in_test).tolist(), np.flatnonzero(in_test).tolist()


def families(texts: Sequence[str], alike: float = ALIKE) -> np.ndarray:
    """The number of each text's family, [N]: texts with the same words, or almost the same.

    Two texts are similar if the cosine of their TF-IDF vectors is above `alike`; a text that is
    similar to one member of a family belongs to it. Case, digits and punctuation are ignored.

    >>> families(["Call 0800 now!", "call 0900 NOW", "See you"]).tolist()
    [0, 0, 1]
    """
    number_of: dict[str, int] = {}
    same = np.array([number_of.setdefault(words_of(t), len(number_of)) for t in texts], int)  # [N]
    different = list(number_of)
    most = max(100, int(COMMON * len(different)))
    vectorizer = TfidfVectorizer(token_pattern=WORD.pattern, max_df=most, dtype=np.float32)
    try:
        vectors = vectorizer.fit_transform(different)  # [M, V]
    except ValueError:  # none of them has a word
        return same
    links = []
    for start in range(0, len(different), ROWS):
        cosines = vectors[start : start + ROWS] @ vectors.T  # [ROWS, M]
        cosines.data = cosines.data > alike
        cosines.eliminate_zeros()
        links.append(cosines)
    return sparse.csgraph.connected_components(sparse.vstack(links), directed=False)[1][same]


def without_those_in(examples: Sequence[Example], others: Sequence[Example]) -> list[Example]:
    """The examples whose words, in order, differ from those of all the others."""
    taken = {words_of(example.text) for example in others}
    return [example for example in examples if words_of(example.text) not in taken]


def words_of(text: str) -> str:
    """The words of a text, lower-cased; a text without words is returned unchanged.

    >>> words_of("It's 5 o'clock: GO!")
    'it s o clock go'
    """
    return " ".join(WORD.findall(text.lower())) or text
