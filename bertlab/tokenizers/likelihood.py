"""WordPiece's question: which merge makes the corpus more likely?

The language model is the simplest one: each symbol x has the probability n_x / N, with n_x its
occurrences among the N symbols of the corpus, and the symbols are independent. Two answers:

- `likelihood`: p(ab) / (p(a) p(b)), up to the factor N: how much more often a and b are adjacent
  than by chance (the exponential of a pointwise mutual information);
- `gain`: by how many nats the log-likelihood of the whole corpus rises when a and b are joined.

Sources: Schuster & Nakajima (2012), "Japanese and Korean Voice Search", section 2, whose words
mean `gain`; most textbooks print `likelihood`.
"""

from collections.abc import Callable
from math import exp, log, log1p, sqrt
from typing import NamedTuple


def likelihood(
    n_ab: int,
    n_a: int,
    n_b: int,
    n: int = 0,  # noqa: ARG001 - as `gain` has it, and so the other two
    n_made: int = 0,  # noqa: ARG001
    same: bool = False,  # noqa: ARG001
) -> float:
    """n_ab / (n_a n_b), the score of the textbooks.

    n_ab: how often a and b are adjacent, as in `merges.count_pairs`: twice in a a a, where `gain`
    counts once; n_a, n_b: occurrences of each.

    The last three arguments are ignored; they are those of `gain`.

    >>> likelihood(4, 4, 4), likelihood(3, 3, 6)
    (0.25, 0.16666666666666666)
    """
    return n_ab / (n_a * n_b)


def gain(n_ab: int, n_a: int, n_b: int, n: int, n_made: int = 0, same: bool = False) -> float:
    """How much the log-likelihood of the corpus rises, in nats, if a and b are joined.

    n_ab: how often they will be joined: once in a a a, although a a occurs twice, since only joins
    change the corpus; n_a, n_b: occurrences of each; n: symbols in the corpus; n_made:
    occurrences of the symbol `ab` so far (it may have been made from other parts); same: whether
    a and b are one symbol, which then loses two for each join.

    The log-likelihood is the sum of n_x ln(n_x / n) over all symbols x. With f(x) = x ln x that is
    sum f(n_x) - f(n), and a merge with k = n_ab changes four of these terms:

        f(n_a - k) - f(n_a) + f(n_b - k) - f(n_b) + f(n_made + k) - f(n_made) + f(n) - f(n - k)

    >>> round(gain(4, 4, 4, 28), 2)
    11.48
    """
    lost = _drop(n_a, 2 * n_ab) if same else _drop(n_a, n_ab) + _drop(n_b, n_ab)
    return _drop(n_made + n_ab, n_ab) + _drop(n, n_ab) - lost


def _drop(x: int, k: int) -> float:
    """f(x) - f(x - k) for f(x) = x ln x, without the rounding error of the difference."""
    return x * log(x) if k == x else k * log(x) - (x - k) * log1p(-k / x)


class Criterion(NamedTuple):
    """A way to choose merges, for `ranking`.

    score(n_ab, n_a, n_b, n, n_made, same) rises as n_a and n_b fall. share(score, target, n_ab):
    the share of both, about, to which they must fall for the score to rise to the target. of_joins:
    whether n_ab of a a a is 1, the possible joins, or 2, the occurrences of a a.
    """

    score: Callable[[int, int, int, int, int, bool], float]
    share: Callable[[float, float, int], float]
    of_joins: bool


# The likelihood goes with 1 / (n_a n_b), the gain with - n_ab (ln n_a + ln n_b).
LIKELIHOOD = Criterion(likelihood, lambda score, target, _: sqrt(score / target), False)
GAIN = Criterion(gain, lambda score, target, n_ab: exp((score - target) / (2 * n_ab)), True)
SCORED = {"gain": GAIN, "likelihood": LIKELIHOOD}
