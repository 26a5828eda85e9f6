"""Checks of exercise 7 about masking: which tokens are chosen, and what replaces them."""

from collections.abc import Callable

import torch
from torch import Tensor

from course.feedback.checks import Passed
from course.feedback.ex07_objectives.chance import MaskingCheck, Seed
from course.feedback.progress import task

MASK_ID = 4
SPECIAL_IDS = torch.tensor([0, 3, 4, 9])  # not the smallest ids, and not consecutive
SHARES = (0.8, 0.1)
ALWAYS = "with probability 1 every token is chosen, unless it is special"


@task("ex07_objectives", 1)
def choose_tokens(function: Callable) -> Passed:
    """Each token independently."""
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
    check.example(*(ids, SPECIAL_IDS, 1.0, Seed(1)), gives=right, because=ALWAYS)
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
        f"every sequence has {counts.mean():.0f} chosen tokens, sometimes one more or less\n→ "
        "Google's code takes exactly 15 % of each sequence. Here each token is drawn "
        "independently, so the number varies, as with coins",
    )
    ids = ids[:, 1:].contiguous()
    chosen = check.drawn(ids, SPECIAL_IDS, 0.4, Seed(3), shape=ids.shape, dtype=torch.bool)
    check.share(chosen[:, :38], 0.4, "ordinary tokens chosen, probability 0.4")
    check.heeds(ids, SPECIAL_IDS, 0.4, Seed(3))
    check.done("15 % and 40 % of 15,200 tokens, each independently, with only this generator")
    return check.passed()


def _independent(check: MaskingCheck, chosen: Tensor) -> None:
    """The tokens of a row, or of a column, are independent."""
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
def replace_chosen(function: Callable) -> Passed:
    """A share becomes [MASK], a share another word, the rest does not change."""
    check = MaskingCheck(
        "replace_chosen",
        function,
        hints=(
            "one number from torch.rand decides: below the first share, below the sum of both, "
            "above",
            "number the ordinary words in a circle: a word's own number plus a step from 1 to K - "
            "1 is the number of another word",
        ),
    )
    ordinary = 10 + 3 * (torch.arange(24) * 7 % 24)
    ids = ordinary[torch.arange(600 * 60).view(600, 60) % 24]
    predict = torch.arange(600 * 60).view(600, 60) * 7 % 5 < 3
    nowhere = torch.zeros(2, 4, dtype=torch.bool)
    check.example(
        *(ids[:2, :4].clone(), nowhere, MASK_ID, ordinary, SHARES, Seed(1)),
        gives=ids[:2, :4],
        because="nothing is chosen, so nothing changes: the shares are those of the chosen tokens, "
        "where `predict` is True",
    )
    hidden = check.drawn(
        ids, predict, MASK_ID, ordinary, SHARES, Seed(2), shape=ids.shape, dtype=torch.long
    )
    check.law(
        torch.equal(hidden[~predict], ids[~predict]),
        "a token that was not chosen has changed\n→ the shares are those of the chosen tokens; the "
        "others stay as they are",
    )
    _fates(check, hidden, ids, predict)
    _random_words(check, hidden[predict & (hidden != MASK_ID)], ordinary, hidden, ids)
    _other_shares(check, ids, predict, ordinary)
    _never_itself(check)
    check.heeds(ids, predict, MASK_ID, ordinary, SHARES, Seed(2))
    check.done("80/10/10 and 50/30/20 of 21,600 chosen tokens; the others stay")
    check.done("always another word from ordinary_ids, all equally likely")
    return check.passed()


def _fates(check: MaskingCheck, hidden: Tensor, ids: Tensor, predict: Tensor) -> None:
    """The case of each chosen token, and that tokens are independent."""
    masked = (hidden == MASK_ID)[predict]
    if masked.all() or not masked.any():
        ordinary = torch.unique(ids)
        again = [
            (check.call(ids, predict, MASK_ID, ordinary, SHARES, Seed(s)) == MASK_ID)[predict]
            for s in range(3, 40)
        ]
        check.law(
            not (any(x.all() for x in again) and any(not x.any() for x in again)),
            "all chosen tokens become [MASK], or none\n→ one number decides for the whole batch: "
            "draw one for each token, torch.rand(ids.shape, generator=generator)",
        )
    else:
        _each_its_own(check, hidden == MASK_ID, predict)
    check.share(masked, 0.8, "chosen tokens that become [MASK]")
    changed = (hidden != ids)[predict] & ~masked
    check.share(changed, 0.1, "chosen tokens that become another word")


def _other_shares(check: MaskingCheck, ids: Tensor, predict: Tensor, ordinary: Tensor) -> None:
    """Half become [MASK], three in ten another word."""
    hidden = check.drawn(
        ids, predict, MASK_ID, ordinary, (0.5, 0.3), Seed(3), shape=ids.shape, dtype=torch.long
    )
    masked = (hidden == MASK_ID)[predict]
    check.share(masked, 0.5, "chosen tokens that become [MASK], shares (0.5, 0.3)")
    check.share(
        (hidden != ids)[predict] & ~masked,
        0.3,
        "chosen tokens that become another word, shares (0.5, 0.3)",
    )


def _never_itself(check: MaskingCheck) -> None:
    """With shares (0, 1) no chosen token keeps its word, and all other words are equally likely."""
    five = torch.tensor([15, 11, 19, 13, 17])
    for own in (13, 19):
        ids, everywhere = torch.full((90, 40), own), torch.ones(90, 40, dtype=torch.bool)
        hidden = check.drawn(
            *(ids, everywhere, MASK_ID, five, (0.0, 1.0), Seed(4)),
            shape=ids.shape,
            dtype=torch.long,
        )
        check.share(
            hidden == own,
            0.0,
            "chosen tokens that keep their own word, shares (0, 1), five ordinary words",
        )
        check.law(
            bool(torch.isin(hidden, five).all()),
            "with shares (0, 1) every chosen token becomes one of ordinary_ids\n→ if the word "
            "itself is drawn, use neither [MASK] nor the word itself: draw another",
        )
        for id in five[five != own].tolist():
            check.share(
                hidden == id,
                0.25,
                f"{own} that become {id}, one of four others",
                because="all other words are equally likely, including the neighbour",
            )
    two = torch.tensor([8, 5])
    ids = two[torch.arange(12).view(3, 4) % 2]
    check.example(
        *(ids, ids > 0, MASK_ID, two, (0.0, 1.0), Seed(5)),
        gives=13 - ids,
        because="of two words each becomes the other",
    )


def _each_its_own(check: MaskingCheck, masked: Tensor, predict: Tensor) -> None:
    """The chosen tokens of a sequence, or of a place, are independent."""
    for dim, where in ((1, "sequence"), (0, "place")):
        alike = ((masked & predict).sum(dim) == 0) | ((~masked & predict).sum(dim) == 0)
        check.law(
            bool(alike.double().mean() < 0.5),
            f"all chosen tokens of a {where} are treated alike\n→ draw one number for each token: "
            "torch.rand(ids.shape, generator=generator)",
        )


def _random_words(
    check: MaskingCheck, words: Tensor, ordinary: Tensor, hidden: Tensor, ids: Tensor
) -> None:
    """Random words at the right places, all equally likely."""
    strange = words[~torch.isin(words, ordinary)]
    if len(strange):
        numbers = bool((strange < len(ordinary)).all())
        check.fail(
            f"puts the id {strange[0]}, which is not in ordinary_ids",
            "torch.randint draws positions in ordinary_ids: look up the ids there, "
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
        known = missing in ([int(ordinary[-1])], [int(ordinary.max())])
        check.fail(f"never puts {missing}, though ordinary_ids has it", last if known else "")
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
