"""Checks of exercise 12, after BERT: soft targets, spans, replaced tokens, masks, sampling."""

from collections.abc import Callable

import torch
from torch import Tensor

from course.feedback.checks import Check, checks_of
from course.feedback.mutants import MutationCheck
from course.feedback.tensors import TensorCheck

# `check.progress()` shows how far you are, `@task` declares a check.
progress, task = checks_of("ex12_after_bert")


def bits(*rows: str) -> list:
    """Rows of 0 and 1 as truth values; a single row without a list around it."""
    table = [[sign == "1" for sign in row] for row in rows]
    return table[0] if len(table) == 1 else table


class DivergenceCheck(TensorCheck):
    """A check of a divergence, which PyTorch offers, too."""

    ready_made = ("kl_div",)


@task(
    1,
    "divide both by the temperature, then log_softmax(dim=-1)",
    "the teacher's probabilities are the weights: the sum of t * (ln t - ln s), and a mean "
    "over the rows",
)
def soft_target_loss(check: DivergenceCheck) -> None:
    """T² times the divergence of the student from the teacher."""
    student, teacher = (torch.tensor([p]).log() for p in ([0.5, 0.25, 0.25], [0.7, 0.2, 0.1]))
    check.example(student, teacher, 1.0, gives=0.0993, because="as in the statement")
    check.example(
        student, teacher, 2.0, gives=0.1239, because="as in the statement, at temperature 2"
    )
    both = torch.cat([student, student]), torch.cat([teacher, student])
    check.example(
        *both,
        1.0,
        gives=0.0497,
        because="two rows, of which the second agrees: the mean is half of the first",
    )
    check.done("directions, temperatures, a mean over rows")


@task(
    2,
    "length n has p times (1 - p) to the power of n - 1",
    "divide all of them by their sum",
)
def span_law(check: TensorCheck) -> None:
    """The lengths of SpanBERT's spans."""
    check.example(0.5, 3, gives=[0.5714, 0.2857, 0.1429], because="as in the statement")
    check.example(0.2, 2, gives=[0.5556, 0.4444], because="0.2 and 0.8 * 0.2, together 0.36")
    check.example(1.0, 3, gives=[1.0, 0.0, 0.0], because="heads at once, always")
    check.done("ratios, the sum, a coin that always shows heads")


@task(
    3,
    "in each round: shorten first, then check whether it fits, then hide",
    "a span fits if it is inside the text, and free and not yet hidden at every token",
)
def choose_spans(check: TensorCheck) -> None:
    """A budget, spent on spans."""
    inner = torch.tensor(bits("0111111110"))
    check.example(
        inner,
        4,
        [(2, 3), (4, 2), (7, 2), (5, 1)],
        gives=bits("0011100100"),
        because="as in the statement",
    )
    check.example(
        inner,
        5,
        [(0, 2), (8, 2), (6, 2), (7, 2), (4, 2)],
        gives=bits("0000111100"),
        because="0 and 9 are not free, and 7 is hidden when (7, 2) comes: dropped as a whole",
    )
    every = torch.tensor(bits("1111"))
    check.example(
        every,
        3,
        [(2, 3), (1, 2)],
        gives=bits("0110"),
        because="(2, 3) reaches beyond the text, so it is dropped as a whole",
    )
    check.example(every, 0, [(0, 1)], gives=bits("0000"), because="the budget is 0")
    check.example(
        every,
        1,
        [(3, 2)],
        gives=bits("0001"),
        because="shortened to one token, it fits: shorten first, then check",
    )
    check.done("budgets, borders, what is not free, what is hidden already")


@task(
    4,
    "read = ids.clone(); read[gaps] = drawn; replaced is read != ids",
    "binary cross-entropy over all tokens but padding",
)
def detection_loss(check: TensorCheck) -> None:
    """ELECTRA's question about every token."""
    logits = torch.tensor([[0.2, 0.4, 0.2, 0.75, 0.1]]).logit()
    ids = torch.tensor([[2, 7, 8, 9, 3]])
    gaps, drawn = torch.tensor([bits("01010")]), torch.tensor([7, 5])
    tokens = torch.ones(1, 5, dtype=torch.bool)
    check.example(*(logits, ids, gaps, drawn, tokens), gives=0.2700, because="as in the statement")
    check.example(
        *(logits[:, :4], ids[:, :4], gaps[:, :4], torch.tensor([7, 9]), tokens[:, :4]),
        gives=0.5859,
        because="a gap that was filled with its true word counts as original",
    )
    two = torch.tensor([[1.0, -2.0, 0.5], [2.0, -1.0, 3.0]])
    pages = torch.tensor([[4, 5, 6], [7, 8, 0]])
    there = torch.tensor(bits("011", "110"))
    check.example(
        *(two, pages, there, torch.tensor([6, 6, 9, 8]), torch.tensor(bits("111", "110"))),
        gives=0.9709,
        because="two rows; the last token is padding, which does not count",
    )
    check.gradients(two, pages, there, torch.tensor([6, 6, 9, 8]), torch.tensor(bits("111", "110")))
    check.done("labels, true words in gaps, padding, gradients")


ORDER = torch.tensor([3, 0, 4, 1, 2])


@task(
    5,
    "order < L - n_targets is True for the given words",
    "given words share one number, then compare: number <= number[:, None]",
)
def content_mask(check: TensorCheck) -> None:
    """The mask of the content stream."""
    check.example(
        ORDER,
        2,
        gives=bits("11011", "01011", "11111", "01011", "01011"),
        because="as in the statement",
    )
    check.example(torch.tensor([1, 0]), 1, gives=bits("11", "01"), because="one given, one target")
    check.done("given words, targets, themselves")


@task(
    5,
    "the targets are order.argsort()[-n_targets:]",
    "a word that comes before a target in the order is seen, given or target",
)
def query_mask(check: TensorCheck) -> None:
    """The tokens that each target sees."""
    check.example(ORDER, 2, gives=bits("01011", "11011"), because="as in the statement")
    check.example(
        torch.tensor([2, 1, 0]),
        2,
        gives=bits("001", "011"),
        because="the last place is given, the middle one is guessed first, the first one last",
    )
    check.done("given words, earlier targets, the order of the rows")


NAN = float("nan")


@task(
    6,
    "try the draft with p = 0.6, and with words in another order",
    "keep a word if those before it, by rank, sum to less than p",
)
def nucleus(check: TensorCheck) -> None:
    """Top-p."""
    check.example(
        torch.tensor([0.125, 0.5, 0.125, 0.25]),
        0.6,
        gives=[0.0, 0.6667, 0.0, 0.3333],
        because="as in the statement",
    )
    check.example(
        torch.tensor([0.125, 0.25, 0.125, 0.5]),
        0.75,
        gives=[0.0, 0.3333, 0.0, 0.6667],
        because="two words have exactly 0.75, and that is enough",
    )
    check.example(
        torch.tensor([0.125, 0.875]),
        0.5,
        gives=[0.0, 1.0],
        because="one word has enough, and at least one must stay",
    )
    check.example(
        torch.tensor([0.25, 0.5, 0.25]),
        1.0,
        gives=[0.25, 0.5, 0.25],
        because="it takes all words to reach 1",
    )
    check.done("too little, enough, exactly enough, one word, all words")


def draft(probabilities: Tensor, p: float) -> Tensor:
    """As in the notebook: omits the word that reaches p, and moves probabilities."""
    ranked = probabilities.sort(descending=True).values
    kept = torch.where(ranked.cumsum(dim=0) <= p, ranked, 0.0)
    return kept / kept.sum()


def above(probabilities: Tensor, p: float) -> Tensor:
    """Wrong: uses each word's own probability."""
    kept = probabilities * (probabilities >= (1 - p) * probabilities.max())
    return kept / kept.sum()


def unscaled(probabilities: Tensor, p: float) -> Tensor:
    """Wrong: the kept probabilities do not sum to 1."""
    ranked, places = probabilities.sort(descending=True)
    size = int((ranked.cumsum(dim=0) < p).sum()) + 1
    kept = torch.zeros_like(probabilities)
    kept[places[:size]] = ranked[:size]
    return kept


@task(
    7,
    "one call with words in no order, and a p that no sum equals",
    "then one with a p that a sum equals exactly, one with a small p, one with p = 1",
)
def examine_nucleus(check: MutationCheck, own: Callable) -> None:
    """A test of `nucleus`, tried on the student's own and on three wrong ones."""
    check.passes(own, "nucleus", 6, torch.tensor([0.5, 0.5]), 1.0)
    check.stops(draft, "the draft", "which call shows what you have repaired?")
    check.stops(
        unscaled,
        "a function that leaves what is kept as it was",
        "the words of the nucleus must sum to 1",
    )
    check.stops(
        above,
        "a function that looks only at each word's own probability",
        "the sum of the likeliest words counts",
    )
    check.done("your own nucleus passes, three wrong ones do not")


@task(
    8,
    "two tables: may its side be seen, may its distance be seen",
    "side & distance, or the place itself",
)
def visible(check: TensorCheck) -> None:
    """The parts of a context."""
    for parts, seen in (
        ({"left", "right", "near"}, "0111110"),
        ({"left", "right", "far"}, "1001001"),
        ({"right", "near", "far"}, "0001111"),
        ({"left"}, "0001000"),
    ):
        check.example(*(7, 3, parts, 2), gives=bits(seen), because="as in the statement")
    check.example(
        *(4, 0, {"left", "right", "near", "far"}, 1),
        gives=bits("1111"),
        because="with all parts, every token may be seen",
    )
    check.done("sides, distances, the gap itself")


@task(9, "write `return 0.3, 0.3`, with your own numbers")
def predict_rises(check: Check) -> None:
    """Two shares, of the student's choice."""
    answer = check.call()
    check.law(
        isinstance(answer, tuple) and len(answer) == 2,
        f"it must return two numbers, without near and without far; it returned {answer!r}",
    )
    check.law(
        all(isinstance(x, int | float) and 0 <= x <= 1 for x in answer),
        f"both must be numbers from 0 to 1; it returned {answer!r}",
    )
    check.done(f"you predict {answer[0]:.0%} and {answer[1]:.0%}; now measure")


class HeadsCheck(TensorCheck):
    """A check of a score for each head."""

    ready_made = ()


def spread_evenly(ids: Tensor, attention_mask: Tensor) -> Tensor:
    """The attention of a head that looks equally at all that it may see: [B, 1, L, L]."""
    length = ids.shape[1]
    seen = torch.ones(length, length).tril() * attention_mask[:, None, None]
    return seen / seen.sum(dim=-1, keepdim=True)


@task(
    10,
    "two tables [B, L, L]: which earlier place has the same token, and, moved by one "
    "column, what followed there",
    "shares of all tokens are [B, H, L]; transpose(1, 2) gives [B, L, H], from which a "
    "mask [B, L] keeps rows",
)
def induction_score(check: HeadsCheck) -> None:
    """How much of its attention a head gives to what followed the same token before."""
    ids = torch.tensor([[4, 1, 0, 4, 2, 4]])  # e 1 a e 2 e
    there = torch.ones(1, 6, dtype=torch.bool)
    attention = torch.tensor(
        [
            [1.0, 0, 0, 0, 0, 0],
            [0.5, 0.5, 0, 0, 0, 0],
            [0.2, 0.3, 0.5, 0, 0, 0],
            [0.1, 0.6, 0.1, 0.2, 0, 0],
            [0.15, 0.1, 0.05, 0.3, 0.4, 0],
            [0, 0.3, 0, 0.1, 0.5, 0.1],
        ]
    ).view(1, 1, 6, 6)
    check.example(
        *(attention, ids, there),
        gives=[0.7],
        because="e 1 a e 2 e: the second e gives 0.6 to the 1, the third 0.3 to the 1 and 0.5 to "
        "the 2; no other token occurred earlier",
    )
    both = torch.cat([attention, spread_evenly(ids, there)], dim=1)
    check.example(
        *(both, ids, there),
        gives=[0.7, 0.2917],
        because="two heads; the second looks equally at all that it sees: (1/4 + 2/6) / 2",
    )
    check.done("one head, two heads")
    # Several texts, padding, no repetition, a long text.
    ids = torch.tensor([[7, 7, 7, 7], [7, 8, 7, 9], [7, 8, 9, 6]])
    there = torch.ones(3, 4, dtype=torch.bool)
    check.example(
        *(spread_evenly(ids, there), ids, there),
        gives=[0.5625],
        because="a a a a: 1/2, 2/3 and 3/4 with the token itself; a b a c: 1/3; a b c d: nothing "
        "is repeated. The mean of all four shares is 0.5625",
    )
    padded = torch.tensor([[5, 6, 5, 0, 0, 0], [0, 5, 6, 0, 9, 0]])
    there = torch.tensor([[True] * 3 + [False] * 3, [True] * 6])
    check.example(
        *(spread_evenly(padded, there), padded, there),
        gives=[0.3056],
        because="the last three tokens of the first text are padding, which repeats nothing: the "
        "shares are 1/3; 1/4 and 2/6",
    )
    none = torch.tensor([[1, 2, 3], [1, 2, 3]])
    there = torch.ones(2, 3, dtype=torch.bool)
    check.example(
        *(spread_evenly(none, there), none, there),
        gives=[0.0],
        because="no token occurs twice in its own text: 0",
    )
    check.done("several texts, padding, no repeated token")
    # Twenty tokens, then the same ones again: the follower is always 19 places back.
    twice = torch.arange(20).repeat(3, 2)
    there = torch.ones(3, 40, dtype=torch.bool)
    looks_up = torch.zeros(3, 2, 40, 40)
    for place in range(40):
        looks_up[:, 0, place, max(0, place - 19)] = 1  # an induction head
        looks_up[:, 1, place, max(0, place - 20)] = 1  # one that finds the same token
    check.example(
        *(looks_up, twice, there),
        gives=[1.0, 0.0],
        because="20 tokens, twice. Head 0 looks at what followed the same token, head 1 at the "
        "same token itself",
    )
    check.done("60 repeated tokens")
