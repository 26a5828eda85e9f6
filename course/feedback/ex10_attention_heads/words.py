"""Checks of exercise 10 about what attention goes to: chosen tokens, and the same word."""

from collections.abc import Callable
from typing import Any

import torch

from course.feedback.checks import Passed
from course.feedback.ex10_attention_heads.patterns import PatternCheck, attention
from course.feedback.progress import task

ONE_A_HEAD = "one number for each [L, L]: the mean over its queries"

TARGETS = torch.tensor(
    [[0.1, 0.2, 0.3, 0.4], [0.5, 0.1, 0.2, 0.2], [0.2, 0.6, 0.1, 0.1], [0.1, 0.1, 0.1, 0.7]]
)
WORDS = torch.tensor(
    [
        [0.1, 0.15, 0.4, 0.2, 0.15],
        [0.2, 0.2, 0.2, 0.2, 0.2],
        [0.32, 0.1, 0.2, 0.28, 0.1],
        [0.15, 0.3, 0.25, 0.2, 0.1],
        [0.1, 0.1, 0.1, 0.1, 0.6],
    ]
)


@task("ex10_attention_heads", 3)
def attention_to_tokens(function: Callable) -> Passed:
    """The share of attention that goes to some of the tokens."""
    check = PatternCheck(
        "attention_to_tokens",
        function,
        hints=(
            "is_target chooses keys, columns: attention[..., is_target] keeps those, [..., L, n]",
            "first the sum over those keys, dim=-1, then the mean over the queries, dim=-1 again",
        ),
    )
    check.example(
        *(TARGETS, torch.tensor([False, True, False, True])),
        gives=0.6,
        because="query by query 0.2 + 0.4, 0.1 + 0.2, 0.6 + 0.1 and 0.1 + 0.7 go to the keys 1 "
        "and 3: the mean of 0.6, 0.3, 0.7, 0.8",
        mistakes=_of_the_targets(),
    )
    nobody = torch.zeros(4, dtype=torch.bool)
    check.example(
        *(TARGETS, nobody), gives=0.0, because="there is none of them, so nothing goes there: 0"
    )
    check.example(TARGETS, ~nobody, gives=1.0, because="every key is one of them: all of it, 1")
    check.done("two of four tokens, none, all")
    check.layers(TARGETS, torch.tensor([False, True, False, True]))
    many, comma = attention(300, 12, seed=3), torch.arange(300) % 7 == 3
    check.example(
        *(many, comma),
        gives=torch.einsum("hqk,k->h", many, comma.double()) / 300,
        because="12 heads and 300 tokens, in 64 bits, every seventh is a target. A mask that is "
        "multiplied must have attention's own dtype: is_target.to(attention.dtype)",
    )
    check.done("2 layers of 3 heads; 300 tokens")
    return check.passed()


def _of_the_targets() -> list[tuple[Any, str]]:
    """What goes wrong with the worked example."""
    rows = "is_target chooses keys, which are columns; those are rows, the queries"
    every = "every query counts, whether it is one of the targets itself or not"
    largest = "all of what goes to those keys, their sum, not the largest of it alone"
    return [
        (0.4, "that is what goes to all the others"),
        (0.3, "the sum over those keys, then the mean over queries: a mean over keys halves it"),
        (0.15, "the mean over the queries alone; over the keys a sum is taken"),
        (2.4, "that is the sum over queries; their mean is asked for"),
        (1.0, rows),
        (0.5, rows),
        (0.55, every),
        (0.65, every),
        (0.475, largest),
        (0.75, largest),
        ((4,), ONE_A_HEAD),
        ((2,), "first the sum over those keys, dim=-1, then the mean over the queries"),
        ((4, 2), "those are the probabilities; now the sum over keys and the mean over queries"),
    ]


@task("ex10_attention_heads", 4)
def attention_to_same_word(function: Callable) -> Passed:
    """The share of attention that goes to the same word elsewhere."""
    check = PatternCheck(
        "attention_to_same_word",
        function,
        hints=(
            "same = ids[:, None] == ids is [L, L]: row i, column j says whether those are one word",
            "a word is always the same as itself: take the diagonal out, with ~torch.eye(L, "
            "dtype=torch.bool)",
            "same.any(dim=-1), [L], says which queries have another: the mean is over those alone",
        ),
    )
    check.example(
        *(WORDS, torch.tensor([7, 8, 7, 7, 9])),
        gives=0.5333,
        because="id 7 stands at 0, 2 and 3. Query 0 gives 0.4 + 0.2 to the other two, query 2 "
        "0.32 + 0.28, query 3 0.15 + 0.25; the queries 1 and 4 have no other",
        mistakes=_of_the_same_words(),
    )
    twice = torch.tensor([5, 6, 6, 5, 5])
    check.example(
        *(WORDS, twice),
        gives=(0.35 + 0.2 + 0.1 + 0.25 + 0.2) / 5,
        because="two words that come more than once, 5 and 6: every query counts. 0.2 + 0.15 of "
        "query 0, 0.2 of query 1, 0.1 of query 2, 0.15 + 0.1 of query 3, 0.1 + 0.1 of query 4",
    )
    check.example(
        *(WORDS, torch.tensor([1, 2, 3, 4, 5])),
        gives=float("nan"),
        because="no word comes twice, so there is no query to measure and the answer is nan, "
        "float('nan'): 0 would be taken for a head that looks away",
    )
    check.done("one word three times; two words; none twice")
    check.layers(WORDS, torch.tensor([7, 8, 7, 7, 9]))
    check.example(
        *(WORDS.expand(3, 5, 5), torch.arange(5)),
        gives=torch.full((3,), float("nan")),
        because="3 heads and no word twice: nan for each head",
    )
    ids = 30_000 + torch.arange(240) * 7 % 90
    ids[:20] = 5 + torch.arange(20)
    many = attention(240, 4, seed=4)
    groups = [(ids == word).nonzero()[:, 0] for word in ids.unique()]
    shares = [
        many[:, query, [key for key in group if key != query]].sum(dim=-1)
        for group in groups
        if len(group) > 1
        for query in group
    ]
    check.example(
        *(many, ids),
        gives=torch.stack(shares).mean(dim=0),
        because="4 heads, 240 tokens, some words once, most of them two or three times",
    )
    check.done("2 layers of 3 heads; 240 tokens")
    return check.passed()


def _of_the_same_words() -> list[tuple[Any, str]]:
    """What goes wrong with the worked example."""
    itself = "elsewhere: what a query gives to itself, the diagonal, does not count"
    everybody = "only queries with another one of their kind count: 3 of the 5 here"
    both = "the others that come later count as well as those that came before"
    one = "all of the others count, their sum, not one of them"
    return [
        (0.7, itself),
        (0.58, f"{itself}, and a word that comes once has no other"),
        (0.32, everybody),
        (0.2667, "the sum over the others, then the mean over queries: not a mean over pairs"),
        (1.6, "the mean over those queries, not the sum"),
        (0.24, both),
        (0.36, both),
        (0.2933, both),
        (0.44, both),
        (0.3233, one),
        (0.29, one),
        (0.3, "that is what goes to the other words"),
        (0.064, "the sum over keys, the mean over queries: the mean over both is too small"),
        ((5,), ONE_A_HEAD),
        ((3,), ONE_A_HEAD),
        (
            (5, 5),
            "now the sum over the keys, and the mean over the queries",
        ),
    ]
