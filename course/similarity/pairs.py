"""How similar any two students' works are, and groups of them."""

import io
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
from copydetect import CodeFingerprint, compare_files
from copydetect.utils import highlight_overlap
from markupsafe import Markup, escape
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage
from tqdm.auto import tqdm

from course.collecting.opening import Refused, opened, opened_each
from course.settings import printable
from course.similarity.pieces import NOTHING, Index, Numbers, Text, read_pieces
from course.similarity.sources import Work

LENGTH = 25  # of a piece in comparisons of students, in characters of bare code
SHORT = 40  # less common bare code than this means nothing
EACH, MOST = 3, 100  # the report shows all up to MOST, otherwise EACH of each group up to MOST
EMPTY = Text(NOTHING, NOTHING, 0)
Item = TypeVar("Item")


class Pair(NamedTuple):
    """Two students; `shares`: how much of the code of each is in that of the other."""

    who: tuple[str, str]
    shares: tuple[float, float]

    def __str__(self) -> str:
        (one, other), (here, there) = map(printable, self.who), self.shares
        return f"{one} and {other}: {here:.0%} of the first, {there:.0%} of the second"


class Group(NamedTuple):
    """Three students or more, and their common code."""

    what: str
    who: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.what}: {', '.join(map(printable, self.who))}"

    @property
    def short(self) -> str:
        """With no more than ten names, for a terminal."""
        more = len(self.who) - 10
        return f"{self._replace(who=self.who[:10])}" + (f" and {more:,} more" if more > 0 else "")


class Comparison:
    """All pairs of two works of this term, or of one of this term and an earlier one.

    numbers: the two works of each pair, (2, pairs); shares: how much of each of the two is in the
    other, (2, pairs); most: the larger share, (pairs,); unread: a line for each work whose code
    cannot be read.
    """

    def __init__(self, here: list[Work], before: list[Work], given: list[str]) -> None:
        self.works, self.n_here = [*here, *before], len(here)
        self.given = opened(read_pieces, "\n\n".join(given), LENGTH).pieces
        bar = tqdm(self.works, desc="reading", disable=None)
        codes = [work.code for work in self.works]
        read = [*zip(bar, opened_each(read_pieces, codes, LENGTH, self.given), strict=True)]
        self.unread = [
            f"{printable(work.who)}: its code is not compared: {text}"
            for work, text in read
            if isinstance(text, Refused)
        ]
        texts = [EMPTY if isinstance(text, Refused) else text for _, text in read]
        self.numbers: Numbers = np.stack(np.triu_indices(self.n_here, 1, len(texts)))
        self.shares = _shares(texts, self.n_here, self.numbers)
        self.most = self.shares.max(axis=0)

    def above(self, threshold: float) -> Numbers:
        """The pairs with at least a share, by their places in `numbers`; the most similar first."""
        order = sorted(range(len(self.works)), key=lambda number: self.works[number].who)
        chosen = np.flatnonzero(self.most >= threshold)
        one, other = np.argsort(order)[self.numbers[:, chosen]]
        return chosen[np.lexsort((other, one, -self.most[chosen]))]

    def pair(self, place: int) -> Pair:
        """The two students and their shares."""
        one, other = self.numbers[:, place]
        here, there = self.shares[:, place].tolist()
        return Pair((self.works[one].who, self.works[other].who), (here, there))

    def codes(self, place: int) -> list[Markup]:
        """Both codes, escaped, with the common parts marked."""
        both = [self.works[number].code for number in self.numbers[:, place]]
        try:
            return opened(_marked_codes, both, self.given)
        except Refused:
            return [escape(code) for code in both]

    def groups(self, pairs: Numbers, threshold: float) -> tuple[list[Group], list[int]]:
        """Groups of three or more of this term, and which of the pairs above a share to show.

        Any two of a group are above the threshold (complete linkage), so a chain of students is not
        a group; groups are in the order of their most similar pairs. If many share the same code, a
        few pairs represent a group, and those between two groups, so that other pairs are visible.
        """
        label = self._labels(threshold)
        ends = np.sort(label[self.numbers[:, pairs]], axis=0).T.tolist()
        keys = [(one, other) for one, other in ends]
        within = zip(pairs.tolist(), keys, strict=True)
        least = {one: place for place, (one, other) in within if one == other}
        groups = []
        for number, place in least.items():
            who = tuple(self.works[n].who for n in np.flatnonzero(label == number))
            if len(who) > 2:
                what = f"{len(who):,} students, any two share {self.most[place]:.0%} or more"
                groups.append(Group(what, who))
        return groups, some_of_each(pairs.tolist(), keys)

    def _labels(self, threshold: float) -> Numbers:
        """The number of each work's group; an earlier work has its own."""
        label = np.arange(len(self.works))
        if self.n_here > 1:
            apart = 1 - self.most[self.numbers[1] < self.n_here]
            label[: self.n_here] = -fcluster(linkage(apart, "complete"), 1 - threshold, "distance")
        return label


def _shares(texts: list[Text], n_here: int, numbers: Numbers) -> NDArray[np.float64]:
    """How much of each of two works is in the other, (2, pairs): equal to copydetect's."""
    index = Index(texts, LENGTH)
    ours = Index(texts[:n_here], LENGTH) if n_here < len(texts) else index
    held = np.zeros((2, n_here, len(texts)), np.int32)  # of a pair's first, of its second
    for number, text in enumerate(tqdm(texts, desc="comparing", disable=None)):
        covered = (index if number < n_here else ours).covered(text)
        held[1, :, number] = covered[:n_here]
        if number < n_here:
            held[0, number] = covered
    common = held[:, numbers[0], numbers[1]]
    common[:, common[0] < SHORT] = 0
    return common / np.array([max(1, text.whole) for text in texts])[numbers]


def _marked_codes(codes: list[str], given: Numbers) -> list[Markup]:
    both = [_fingerprint(code, given) for code in codes]
    return list(map(_marked, both, compare_files(*both)[2]))


def _fingerprint(code: str, given: Numbers) -> CodeFingerprint:
    """copydetect's fingerprint, without the given code.

    copydetect can omit that, too, but then also removes pieces that occur twice in `code`.
    """
    made = CodeFingerprint("code.py", LENGTH, 1, fp=io.StringIO(code), language="python")
    made.hashes.difference_update(given.tolist())
    return made


def _marked(text: CodeFingerprint, slices: NDArray[np.int64]) -> Markup:
    if not slices.size:  # copydetect would not escape it in this case
        return escape(text.raw_code)
    code, _ = highlight_overlap(text.raw_code, slices, "<mark>", "</mark>", escape_html=True)
    return Markup(code)


def some_of_each(items: Sequence[Item], groups: Iterable[Hashable]) -> list[Item]:
    """All items up to MOST; if there are more, the first EACH of each group, up to MOST."""
    if len(items) <= MOST:
        return [*items]
    seen: Counter[Hashable] = Counter()
    chosen = []
    for item, group in zip(items, groups, strict=True):
        seen[group] += 1
        if seen[group] <= EACH:
            chosen.append(item)
    return chosen[:MOST]
