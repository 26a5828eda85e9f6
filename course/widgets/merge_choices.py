"""The counts and choices of a criterion at each merge: the numbers for `merge_races.py`."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from math import log

from bertlab.tokenizers.bpe import count_pairs, merge_pair
from bertlab.tokenizers.wordpiece import (
    SCORES,
    count_joins,
    count_symbols,
    first_alphabet,
    glue,
    learn_pieces,
)
from course.widgets.merge_steppers import Pair, Symbols, merge_all


@dataclass(frozen=True)
class Score:
    """A criterion's counts of a pair, and the value that it compares."""

    n_ab: int
    n_a: int
    n_b: int
    value: float


@dataclass(frozen=True)
class State:
    """A criterion's state after `step` merges; `scores` has its best pair first."""

    criterion: str
    step: int
    words: Mapping[Symbols, int]
    pieces: Counter[str]
    scores: dict[Pair, Score]
    next_pair: Pair | None
    before: "State | None"

    @property
    def tokens(self) -> str:
        """The number of tokens in the corpus, as text."""
        total = self.pieces.total()
        return f"{total:,} token{'' if total == 1 else 's'}"

    @property
    def log_likelihood(self) -> float:
        """The sum of n_x ln(n_x / n) over all pieces x, in nats."""
        total = self.pieces.total()
        return sum(count * log(count / total) for count in self.pieces.values())


def run(words: Mapping[Symbols, int], criterion: str, steps: int) -> list[State]:
    """The states after 0, 1, ... `steps` merges; fewer if nothing is left to join.

    The library's own training chooses the merges; the scores are counted again each time.

    >>> [state.next_pair for state in run({("m", "##e", "##n"): 1}, "ratio", 2)]
    [('m', '##e'), ('me', '##n'), None]
    """
    vocab = {piece: id for id, piece in enumerate(first_alphabet(words))}
    size = len(vocab) + steps + 1
    vocab, merges, *_ = learn_pieces(words, vocab, size, criterion=criterion)
    states: list[State] = []
    for step, next_pair in enumerate([*merges, None][: steps + 1]):
        scores = sorted(
            score_pairs(words, criterion).items(),
            key=lambda item: (-item[1].value, *(vocab[piece] for piece in item[0])),
        )
        before = states[-1] if states else None
        pieces = count_symbols(words)
        states.append(State(criterion, step, words, pieces, dict(scores), next_pair, before))
        if next_pair is not None:
            words = merge_all(words, next_pair, partial(merge_pair, join=glue))
    return states


def score_pairs(words: Mapping[Symbols, int], criterion: str) -> dict[Pair, Score]:
    """Count all pairs of the words again, with the criterion's value of each.

    >>> score_pairs({("m", "##e", "##n"): 2}, "ratio")["##e", "##n"]
    Score(n_ab=2, n_a=2, n_b=2, value=0.5)
    """
    pieces, joins = count_symbols(words), count_joins(words)
    scores = {}
    for pair, count in count_pairs(words).items():
        a, b = pair
        # a a a contains a a twice, but allows one join; the ratio counts occurrences.
        n_ab = joins[pair] if criterion in ("gain", "frequency") else count
        times = count if criterion == "frequency" else n_ab
        made = pieces[glue(a, b)]
        value = SCORES[criterion](times, pieces[a], pieces[b], pieces.total(), made, a == b)
        scores[pair] = Score(n_ab, pieces[a], pieces[b], value)
    return scores
