"""Checks of exercise 7 about masking: which tokens are chosen, and what stands in their place."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from course.feedback.checks import Passed
from course.feedback.ex07_objectives.chance import MaskingCheck, Seed
from course.feedback.progress import task

MASK_ID = 4
SPECIAL_IDS = torch.tensor([0, 3, 4, 9])  # not the smallest ids, and not one after the other
CONTINUES = torch.arange(20) >= 12  # the ids 12, 13, ... are pieces such as ##s
ALWAYS = "with probability 1 every token is chosen, unless it is special"


@task("ex07_objectives", 1)
def choose_tokens(function: Callable) -> Passed:
    """Each token for itself."""
    check = MaskingCheck(
        "choose_tokens",
        function,
        hints=(
            "two questions about each token, joined by &: is it ordinary, and was it drawn",
            "torch.rand(ids.shape, generator=generator) < probability",
        ),
    )
    ids = torch.tensor([[3, 7, 4, 12, 9], [3, 5, 9, 0, 0]])
    right = [[False, True, False, True, False], [False, True, False, False, False]]
    check.example(
        *(ids, SPECIAL_IDS, 1.0, Seed(1)),
        gives=right,
        because=ALWAYS,
        mistakes=_of_always(ids, right),
    )
    nothing = torch.zeros(2, 5, dtype=torch.bool)
    check.example(ids, SPECIAL_IDS, 0.0, Seed(1), gives=nothing, because="probability 0 is never")
    check.done("special tokens are never chosen")
    ids = torch.full((400, 40), 7)
    ids[:, 0], ids[:, 39] = 3, 9
    chosen = check.drawn(ids, SPECIAL_IDS, 0.15, Seed(2), shape=ids.shape, dtype=torch.bool)
    check.law(not chosen[:, [0, 39]].any(), "a special token is chosen; none may ever be")
    _independent(check, chosen[:, 1:39])
    check.share(chosen[:, 1:39], 0.15, "ordinary tokens that are chosen")
    counts = chosen.sum(dim=1).double()
    check.law(
        bool(counts.std() > 1),
        f"every sequence has {counts.mean():.0f} chosen tokens, sometimes one more or less\n"
        "→ Google's code takes exactly 15 % of each sequence. Here each token is drawn for itself, "
        "so the number varies, as with coins",
    )
    ids = ids[:, 1:].contiguous()
    chosen = check.drawn(ids, SPECIAL_IDS, 0.4, Seed(3), shape=ids.shape, dtype=torch.bool)
    fixed = "0.15 is only an example: use the argument `probability`"
    check.share(chosen[:, :38], 0.4, "ordinary tokens chosen, probability 0.4", [(0.15, fixed)])
    check.heeds(ids, SPECIAL_IDS, 0.4, Seed(3))
    check.done("15 % and 40 % of 15,200 tokens, each for itself, by the generator alone")
    return check.passed()


def _of_always(ids: Tensor, right: list[list[bool]]) -> list[tuple[Any, str]]:
    """What goes wrong when everything ordinary is to be chosen."""
    ordinary, special = torch.tensor(right), "special tokens are chosen, too: [CLS], [SEP], padding"
    known = [
        (torch.ones_like(ordinary), special),
        (~ordinary, "that is the other way round: the special tokens are chosen, and no others"),
        (
            torch.zeros_like(ordinary),
            f"{ALWAYS}. A number from torch.rand is below p with probability p: rand < p",
        ),
        (
            (ids != SPECIAL_IDS[0]),
            "there are several special ids; torch.isin compares with all of them",
        ),
        (
            (ids > SPECIAL_IDS[-1]),
            "special ids are those in special_ids, not all the small ones: ask torch.isin",
        ),
    ]
    return known


def _independent(check: MaskingCheck, chosen: Tensor) -> None:
    """Neither a row nor a column decides for all of its tokens."""
    rows_alike, columns_alike = (_constant(chosen, dim) for dim in (1, 0))
    check.law(
        not rows_alike,
        "all tokens of a sequence are chosen, or none\n"
        "→ draw a number for each token: torch.rand(ids.shape, ...), not one for each sequence",
    )
    check.law(
        not columns_alike,
        "every sequence has its chosen tokens at the same places\n"
        "→ draw a number for each token: torch.rand(ids.shape, ...), not one for each place",
    )


def _constant(x: Tensor, dim: int) -> bool:
    return bool((x == x.select(dim, 0).unsqueeze(dim)).all())


@task("ex07_objectives", 2)
def hide(function: Callable) -> Passed:
    """80 % [MASK], 10 % a random word, 10 % unchanged."""
    check = MaskingCheck(
        "hide",
        function,
        hints=(
            "one number from torch.rand decides a token's fate: below 0.8, below 0.9, above",
            "torch.where(condition, this, otherwise) twice; the random words are "
            "ordinary_ids[torch.randint(len(ordinary_ids), ids.shape, generator=generator)]",
        ),
    )
    ordinary = 10 + 3 * torch.arange(24)
    ids = ordinary[torch.arange(600 * 60).view(600, 60) % 24]
    predict = torch.arange(600 * 60).view(600, 60) * 7 % 5 < 3
    nowhere = torch.zeros(2, 4, dtype=torch.bool)
    check.example(
        *(ids[:2, :4], nowhere, MASK_ID, ordinary, Seed(1)),
        gives=ids[:2, :4],
        because="nothing is chosen, so nothing changes: 80, 10 and 10 % are shares of the chosen "
        "tokens, where `predict` is True",
    )
    hidden = check.drawn(
        ids, predict, MASK_ID, ordinary, Seed(2), shape=ids.shape, dtype=torch.long
    )
    check.law(
        torch.equal(hidden[~predict], ids[~predict]),
        "a token that was not chosen has changed\n→ 80, 10 and 10 % are shares of the chosen "
        "tokens; the others stay as they are",
    )
    _fates(check, hidden, ids, predict)
    _random_words(check, hidden[predict & (hidden != MASK_ID)], ordinary, hidden, ids)
    check.heeds(ids, predict, MASK_ID, ordinary, Seed(2))
    check.done("80/10/10 of 21,600 chosen tokens; the others stay")
    check.done("random words from ordinary_ids alone, each as often as any other")
    return check.passed()


def _fates(check: MaskingCheck, hidden: Tensor, ids: Tensor, predict: Tensor) -> None:
    """Each chosen token's fate, and that it is its own."""
    masked = (hidden == MASK_ID)[predict]
    if masked.all() or not masked.any():
        ordinary = torch.unique(ids)
        again = [
            (check.call(ids, predict, MASK_ID, ordinary, Seed(s)) == MASK_ID)[predict]
            for s in range(3, 40)
        ]
        check.law(
            not (any(x.all() for x in again) and any(not x.any() for x in again)),
            "all chosen tokens become [MASK], or none\n→ one number decides for the whole batch: "
            "draw one for each token, torch.rand(ids.shape, generator=generator)",
        )
    else:
        _each_its_own(check, hidden == MASK_ID, predict)
    check.share(
        masked,
        0.8,
        "chosen tokens that become [MASK]",
        [
            (1.0, "only 80 % of them do; 10 % become a random word, 10 % stay"),
            (0.9, "80 % become [MASK], 10 % a random word, and the last 10 % stay"),
            (0.1, "80 % become [MASK] and 10 % a random word, not the other way round"),
            (0.2, "rand < 0.8 happens in 80 % of the cases, rand > 0.8 in 20 %"),
            (
                0.72,
                "some [MASK] are overwritten by random words: two draws of their own overlap. Let "
                "one number decide: below 0.8, below 0.9, above",
            ),
        ],
    )
    changed = (hidden != ids)[predict] & ~masked
    check.share(
        changed,
        0.1 * 23 / 24,  # 1 in 24 random words is the word itself
        "chosen tokens that become another word (1 random word in 24 is the word itself)",
        [
            (0.0, "10 % of the chosen become a random word: there is none"),
            (0.2 * 23 / 24, "half of the last 20 % stay as they are: the model must not mistrust"),
            (0.02 * 23 / 24, "10 % of all chosen tokens, which is half of those left by [MASK]"),
            (0.18 * 23 / 24, "10 % of all chosen tokens, which is half of those left by [MASK]"),
        ],
    )


def _each_its_own(check: MaskingCheck, masked: Tensor, predict: Tensor) -> None:
    """Neither a sequence nor a place decides for all of its chosen tokens."""
    for dim, where in ((1, "sequence"), (0, "place")):
        alike = ((masked & predict).sum(dim) == 0) | ((~masked & predict).sum(dim) == 0)
        check.law(
            bool(alike.double().mean() < 0.5),
            f"all chosen tokens of a {where} meet with the same fate\n"
            "→ draw one number for each token: torch.rand(ids.shape, generator=generator)",
        )


def _random_words(
    check: MaskingCheck, words: Tensor, ordinary: Tensor, hidden: Tensor, ids: Tensor
) -> None:
    """Words that stand where the others do, each as likely as any other."""
    strange = words[~torch.isin(words, ordinary)]
    if len(strange):
        numbers = bool((strange < len(ordinary)).all())
        check.fail(
            f"puts the id {strange[0]}, which is not in ordinary_ids",
            "torch.randint draws numbers of places in ordinary_ids: look the ids up there, "
            "ordinary_ids[numbers]"
            if numbers
            else "a random word is one of ordinary_ids, never a special token",
        )
    others = hidden[(hidden != ids) & (hidden != MASK_ID)]
    kinds = torch.unique(others)
    if len(kinds) <= 2:
        check.fail(
            "puts the same random word everywhere", "draw one for each token: size ids.shape"
        )
    missing = [id for id in ordinary.tolist() if id not in kinds]
    last = "torch.randint(n, ...) draws from 0 to n - 1 already: n is len(ordinary_ids)"
    if missing:
        check.fail(f"never puts {missing}, though ordinary_ids holds it", last)
    changed = (hidden != ids) & (hidden != MASK_ID)
    for dim, where in ((1, "sequence"), (0, "place")):
        several = changed.sum(dim) > 1
        top = torch.where(changed, hidden, -1).amax(dim)
        low = torch.where(changed, hidden, 10**6).amin(dim)
        check.law(
            not (top == low)[several].double().mean() > 0.5,
            f"all random words of a {where} are the same\n"
            "→ draw one for each token: size ids.shape",
        )
    for id in ordinary.tolist():
        check.share(
            *(others == id, 1 / len(ordinary), f"random words that are {id}"),
            because="each of ordinary_ids is as likely as any other",
        )


@task("ex07_objectives", 3)
def choose_words(function: Callable) -> Passed:
    """All pieces of a word, or none."""
    check = MaskingCheck(
        "choose_words",
        function,
        hints=(
            "number the words of each sequence from left to right: a word begins at each token "
            "that does not continue one, so count those with cumsum(dim=1)",
            "draw for each word of each sequence, then let every token look its word's number up: "
            "chosen.gather(1, word)",
        ),
    )
    full = torch.tensor([[7, 5, 8, 11, 6, 10], [7, 12, 13, 14, 15, 16]])
    check.example(
        *(full, SPECIAL_IDS, CONTINUES, 1.0, Seed(1)),
        gives=torch.ones(2, 6, dtype=torch.bool),
        because="six tokens can be six words: numbers from 1 to 6 need L + 1 places",
        mistakes=[
            (
                [[True] * 6, [True, False, False, False, False, False]],
                "a continuing piece belongs to a word, too: all pieces of it, or none",
            )
        ],
    )
    ids = torch.tensor([[3, 7, 4, 12, 9], [3, 5, 9, 0, 0]])
    right = [[False, True, False, True, False], [False, True, False, False, False]]
    check.example(
        *(ids, SPECIAL_IDS, CONTINUES, 1.0, Seed(1)),
        gives=right,
        because=ALWAYS,
        mistakes=[
            *_of_always(ids, right),
            (
                [[False, True, False, False, False], right[1]],
                "a continuing piece belongs to a word, too, even right after a special token",
            ),
        ],
    )
    check.done("special tokens are never chosen")
    _of_words(check)
    _after_cuts(check)
    return check.passed()


def _of_words(check: MaskingCheck) -> None:
    """[CLS] a ##b ##c d e ##f [SEP] [PAD], many times."""
    ids = torch.tensor([[3, 5, 12, 13, 7, 8, 14, 9, 0]]).repeat(1500, 1)
    fixed = (0.15, "0.15 is only an example: use the argument `probability`")
    for probability, seed, unheeded in ((0.5, 2, [fixed]), (0.15, 4, [])):
        chosen = check.drawn(
            *(ids, SPECIAL_IDS, CONTINUES, probability, Seed(seed)),
            shape=ids.shape,
            dtype=torch.bool,
        )
        check.law(not chosen[:, [0, 7, 8]].any(), "a special token is chosen; none may ever be")
        pieces = chosen[:, 1:4]
        check.law(
            not (pieces[:, 0].any() and not pieces[:, 1:].any()),
            "only the first piece of a word is chosen\n→ all pieces of the word, or none",
        )
        check.law(
            bool((pieces.all(dim=1) == pieces.any(dim=1)).all()),
            "of the word a ##b ##c some pieces are chosen and some are not\n"
            "→ decide once for each word; its pieces share the answer",
        )
        check.law(
            not torch.equal(chosen[:, 4], chosen[:, 5]),
            "two words that stand side by side always go together\n→ a new word begins at every "
            "token that does not continue one: count ~continues[ids]",
        )
        check.law(
            not _constant(chosen[:, 1:7], 0),
            "every sequence has its chosen words at the same places\n"
            "→ draw for each word of each sequence, [B, ...]",
        )
        long, share = chosen[:, 1], 1 - (1 - probability) ** 3
        any_piece = (
            "a word of three pieces is chosen more often than one of one: draw for the word, not "
            "for each piece"
        )
        known = [(share, any_piece), (probability**3, any_piece)]
        check.share(chosen[:, 4], probability, f"words of one piece, p = {probability}", unheeded)
        check.share(long, probability, f"words of three pieces, p = {probability}", known)
        check.share(long & chosen[:, 4], probability**2, "both of two neighbours")
    check.heeds(ids, SPECIAL_IDS, CONTINUES, 0.5, Seed(2))
    check.done("all pieces or none, long words as often as short ones, in 1,500 sequences")


def _after_cuts(check: MaskingCheck) -> None:
    """Sequences that begin within a word: ##b ##c [SEP] ##d a."""
    ids = torch.tensor([[12, 13, 9, 14, 5]]).repeat(1500, 1)
    chosen = check.drawn(
        ids, SPECIAL_IDS, CONTINUES, 0.5, Seed(6), shape=ids.shape, dtype=torch.bool
    )
    check.law(not chosen[:, 2].any(), "a special token is chosen; none may ever be")
    cut = "pieces at the start of a sequence are a word: nothing before them belongs to it"
    check.share(chosen[:, 0], 0.5, "sequences of which the first pieces are chosen", [(0.0, cut)])
    alone = "a piece right after [SEP] is ordinary: it may be chosen"
    check.share(chosen[:, 3], 0.5, "pieces right after [SEP] that are chosen", [(0.0, alone)])
    together = chosen[1:, 0] & chosen[:-1, 4]
    check.share(
        together, 0.25, "a sequence's first piece, chosen with the last word before", [(0.5, cut)]
    )
    check.done("texts that were cut within a word")
