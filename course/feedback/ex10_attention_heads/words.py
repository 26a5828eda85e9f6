"""The check of exercise 10 about tokens after earlier occurrences of the same word."""

from collections.abc import Callable

import torch

from course.feedback.checks import Passed
from course.feedback.ex10_attention_heads.patterns import PatternCheck, attention
from course.feedback.progress import task

WORDS = torch.tensor(
    [
        [0.1, 0.15, 0.35, 0.25, 0.15],
        [0.2, 0.2, 0.2, 0.2, 0.2],
        [0.32, 0.12, 0.2, 0.26, 0.1],
        [0.15, 0.28, 0.24, 0.23, 0.1],
        [0.05, 0.3, 0.1, 0.16, 0.39],
    ]
)


@task("ex10_attention_heads", 3)
def attention_after_same_word(function: Callable) -> Passed:
    """The attention to tokens right after earlier occurrences of the same word."""
    check = PatternCheck(
        "attention_after_same_word",
        function,
        hints=(
            "[L, L], row = query i, column = key k: is ids[k - 1] the word ids[i]?",
            "two more conditions: k is at least 1, and k is smaller than i",
            "with place = torch.arange(L): (place > 0) & (place < place[:, None]); sum over keys, "
            "then the mean over the queries that have any",
        ),
    )
    check.example(
        *(WORDS, torch.tensor([7, 8, 7, 9, 7])),
        gives=0.29,
        because="id 7 occurs at 0, 2 and 4. Query 2 gives 0.12 to key 1, query 4 0.3 + 0.16 to the "
        "keys 1 and 3; the other queries have not seen their word before",
    )
    check.example(
        *(WORDS[:3, :3] / WORDS[:3, :3].sum(dim=-1, keepdim=True), torch.tensor([5, 5, 5])),
        gives=0.12 / 0.64,
        because="the query itself never counts: query 1 has no key, query 2 has key 1",
    )
    check.example(
        *(WORDS, torch.tensor([1, 2, 3, 4, 1])),
        gives=0.3,
        because="id 1 occurs at 0, so query 4 looks at key 1; that id 1 is also the last word does "
        "not make key 0 a key after it",
    )
    check.example(
        *(WORDS, torch.tensor([1, 2, 3, 4, 5])),
        gives=float("nan"),
        because="no word has occurred before, so there is no query to measure and the answer is "
        "nan, float('nan'): 0 would look like a head that attends elsewhere",
    )
    check.done("a word three times, side by side, first and last, none twice")
    check.layers(WORDS, torch.tensor([7, 8, 7, 9, 7]))
    check.example(
        *(WORDS.expand(3, 5, 5), torch.arange(5)),
        gives=torch.full((3,), float("nan")),
        because="3 heads and no word twice: nan for each head",
    )
    ids = 30_000 + torch.arange(240) * 7 % 90
    ids[:20] = 5 + torch.arange(20)
    many = attention(240, 4, seed=4)
    keys = [[k for k in range(1, i) if ids[k - 1] == ids[i]] for i in range(240)]
    shares = [many[:, i, found].sum(dim=-1) for i, found in enumerate(keys) if found]
    check.example(
        *(many, ids),
        gives=torch.stack(shares).mean(dim=0),
        because="4 heads, 240 tokens, most words two or three times",
    )
    check.done("2 layers of 3 heads; 240 tokens")
    return check.passed()
