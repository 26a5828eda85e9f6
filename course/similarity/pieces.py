"""An index of pieces of code: which texts contain which, so that no two are compared directly.

A piece is copydetect's unit: the hash of some consecutive characters of bare code (without names,
comments and spaces). Every piece is kept: the choice of copydetect's larger windows depends on
Python's hashes, which differ from run to run. So all pieces are read by `opened`, whose processes
have the same.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from copydetect.utils import filter_code, hashed_kgrams
from numpy.typing import NDArray
from scipy.sparse import csr_array

Numbers = NDArray[np.int64]
NOTHING: Numbers = np.empty(0, np.int64)
ROOM = 4_000_000  # runs times texts that are processed together: at most about 150 MB


class Text(NamedTuple):
    """The pieces of a text, in order.

    places: their starts in the bare code, (n,); pieces: their hashes, (n,); whole: the number of
    characters of bare code that are in a piece.
    """

    places: Numbers
    pieces: Numbers
    whole: int


def read_pieces(code: str, length: int, given: Numbers = NOTHING) -> Text:
    """All pieces of `length` characters of a text of Python, without those of `given`."""
    bare, _ = filter_code(code, "code.py", "python")
    hashes = hashed_kgrams(bare, length).astype(np.int64)
    places = np.flatnonzero(~np.isin(hashes, given))
    whole = int(np.minimum(np.diff(places), length).sum()) + length if len(places) else 0
    return Text(places, hashes[places], whole)


class Index:
    """Which of some texts contain which pieces.

    If many solve the same exercise, most pieces are rare, and the common ones are in long runs that
    the same people have. So the index stores each set of holders once, and a text is a few hundred
    runs of pieces with the same holders rather than thousands of pieces.
    """

    def __init__(self, texts: Sequence[Text], length: int) -> None:
        self.length = length
        counts = [len(text.pieces) for text in texts]
        everything = np.concatenate([NOTHING, *(text.pieces for text in texts)])
        self.pieces, rows = np.unique(everything, return_inverse=True)
        owners = np.repeat(np.arange(len(texts)), counts)
        shape = len(self.pieces), len(texts)
        held = csr_array((np.ones(len(rows), bool), (rows, owners)), shape=shape)
        sets: dict[bytes, int] = {}
        rising = (held.indices[a:b].tobytes() for a, b in pairwise(held.indptr.tolist()))
        numbers = [sets.setdefault(holders, len(sets)) for holders in rising]
        self.set_of: Numbers = np.array(numbers, np.int64)  # piece -> its set of holders
        self.holders = held[np.unique(self.set_of, return_index=True)[1]]  # set x text

    def covered(self, text: Text) -> Numbers:
        """How many characters of a text are in each of the index's texts, (texts,): exactly.

        copydetect's overlap of a text with another is the number of characters in the common
        pieces, the union of [p, p + length) over their places p. In rising order, the piece at p
        adds the part beyond the end e of the one before: p + length - max(p, e). Pieces from p to q
        that are at most `length` apart and have the same holders cover [p, q + length) for each of
        these texts, so such a run adds q + length - max(p, e) at once.
        """
        total, reached = np.zeros((2, self.holders.shape[1]), np.int64)
        rows = np.searchsorted(self.pieces, text.pieces)
        rows[rows == len(self.pieces)] = 0
        known = self.pieces[rows] == text.pieces if len(self.pieces) else rows < 0
        if not known.any():
            return total
        places, sets = text.places[known], self.set_of[rows[known]]
        ends = (np.diff(sets) != 0) | (np.diff(places) > self.length)
        first = np.flatnonzero(np.r_[True, ends])
        starts, sets = places[first], sets[first]
        stops = places[np.r_[ends, True]] + self.length
        step = max(1, ROOM // len(total))
        for some in (slice(at, at + step) for at in range(0, len(first), step)):
            found = self.holders[sets[some]].tocsc()  # run x text
            start, stop, columns = (
                starts[some][found.indices],
                stops[some][found.indices],
                found.indptr,
            )
            who = np.flatnonzero(np.diff(columns))
            before = np.r_[0, stop[:-1]]
            before[columns[who]] = reached[who]
            reached[who] = stop[columns[who + 1] - 1]
            added = np.r_[0, np.cumsum(stop - np.maximum(start, before))]
            total += added[columns[1:]] - added[columns[:-1]]
        return total
