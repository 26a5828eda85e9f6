"""Checks of exercise 7, the objectives: one per task."""

from collections.abc import Callable, Sequence
from math import isfinite, sqrt
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from bertlab.training.steps import Moments
from course.feedback.checks import Check, checks_of
from course.feedback.ex06_bert_encoder import numbers
from course.feedback.mutants import MutationCheck
from course.feedback.tensors import GradientsCheck, TensorCheck, described, normal, written

# `check.progress()` shows how far you are, `@task` declares a check.
progress, task = checks_of("ex07_objectives")


class Seed(int):
    """A placeholder for a generator among arguments: each run gets a new one in this state."""


class MaskingCheck(TensorCheck):
    """A check of a function that must draw only from its generator."""

    def _run(self, arguments: tuple, because: str) -> tuple[Any, Exception | None]:
        before = torch.get_rng_state()
        answer = super()._run(tuple(map(_generator, arguments)), because)
        if not torch.equal(before, torch.get_rng_state()):
            torch.set_rng_state(before)
            self.fail(
                "draws from PyTorch's global generator, which all code shares",
                "pass on yours: torch.rand(..., generator=generator); otherwise no training could "
                "be repeated",
            )
        return answer

    def shown(self, arguments: tuple) -> str:
        """The call as a student would write it."""
        shown = ("generator" if isinstance(a, Seed) else written(a) for a in arguments)
        return f"{self.name}({', '.join(shown)})"

    def drawn(self, *arguments: Any, shape: Sequence[int], dtype: torch.dtype) -> Tensor:
        """An answer of this form; with the same generator, the function must repeat it."""
        answer = self.call(*arguments)
        if not isinstance(answer, Tensor) or answer.dtype != dtype or answer.shape != shape:
            self.equals(answer, torch.zeros(shape, dtype=dtype), self.shown(arguments))
        if not torch.equal(answer, self.call(*arguments)):
            self.fail(
                "gave two answers for the same input, with generators in the same state",
                "every random number must come from the generator: generator=generator",
            )
        return answer

    def heeds(self, *arguments: Any) -> None:
        """The generator, which comes last, makes a difference to the answer."""
        one, other = (self.call(*arguments[:-1], Seed(arguments[-1] + n)) for n in (0, 1000))
        if torch.equal(one, other):
            self.fail(
                "gives the same answer for every generator",
                "draw from the generator that you are given; do not create one",
            )

    def share(self, event: Tensor, probability: float, what: str, because: str = "") -> None:
        """The share of True in `event`, which mistakes are recognised by."""
        found = ""
        share = event.double().mean().item()
        if off(event, probability):
            found = f"expected about {probability:.1%}, got {share:.1%} of {event.numel():,}"
        self.compared(found, share, what, because, 5 * spread(share, event.numel()))


def _generator(argument: Any) -> Any:
    return torch.Generator().manual_seed(argument) if isinstance(argument, Seed) else argument


def off(event: Tensor, probability: float) -> bool:
    """Whether a share differs from a probability by five standard deviations or more.

    >>> off(torch.arange(1000) < 160, 0.15), off(torch.arange(1000) < 260, 0.15)
    (False, True)
    """
    furthest = 5 * spread(probability, event.numel()) + 1e-9
    return abs(event.double().mean().item() - probability) > furthest


def spread(probability: float, n: int) -> float:
    """The standard deviation of a share of n draws."""
    return sqrt(probability * (1 - probability) / n)


MASK_ID = 4
SPECIAL_IDS = torch.tensor([0, 3, 4, 9])  # not the smallest ids, and not consecutive
SHARES = (0.8, 0.1)
ALWAYS = "with probability 1 every token is chosen, unless it is special"


@task(
    1,
    "two questions about each token, joined by &: is it ordinary, and was it drawn",
    "torch.rand(ids.shape, generator=generator) < probability",
)
def choose_tokens(check: MaskingCheck) -> None:
    """Each token independently."""
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


@task(
    2,
    "one number from torch.rand decides: below the first share, below the sum of both, above",
    "number the ordinary words in a circle: a word's own number plus a step from 1 to K - "
    "1 is the number of another word",
)
def replace_chosen(check: MaskingCheck) -> None:
    """A share becomes [MASK], a share another word, the rest does not change."""
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
    # Half become [MASK], three in ten another word.
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
    _never_itself(check)
    check.heeds(ids, predict, MASK_ID, ordinary, SHARES, Seed(2))
    check.done("80/10/10 and 50/30/20 of 21,600 chosen tokens; the others stay")
    check.done("always another word from ordinary_ids, all equally likely")


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


NAN, INFINITE = float("nan"), float("inf")
HUGE = (
    "exp(1000) is infinite, and so is -log(0): take the logarithm and the softmax (or "
    "sigmoid) in one step, with log_softmax, logsigmoid or logsumexp"
)


class LossCheck(TensorCheck):
    """A check of a loss or a gradient; the gradients must be derived on paper."""

    ready_made = ("attention", "binary_cross_entropy", "soft_margin", "backward")

    def gradients(self, *arguments: Any, constant: Sequence[int] = ()) -> None:
        """A gradient must reach the logits; the truth needs none."""
        super().gradients(*arguments, constant=constant or range(2, len(arguments) + 1))


def logits_of(*rows: Sequence[float], shifts: Sequence[float] = ()) -> Tensor:
    """Logits whose softmax has these rows; a shift of a row does not change that.

    >>> logits_of([0.5, 0.5], shifts=[3.0]).softmax(dim=-1)
    tensor([[0.5000, 0.5000]])
    """
    logits = torch.tensor(rows).log()
    return logits + torch.tensor(shifts)[:, None] if shifts else logits


@task(
    3,
    "F.cross_entropy(logits, words) is the mean, and has an argument for the sum",
    "sum, divided by max(1, N): then a batch without masked words costs 0",
)
def mlm_loss(check: LossCheck) -> None:
    """The mean of -log p over the masked positions."""
    check.example(
        *(logits_of([0.1, 0.6, 0.3]), torch.tensor([1])),
        gives=0.5108,
        because="dog 0.1, mat 0.6, carpet 0.3, and mat is true: -log 0.6",
    )
    rows = logits_of([0.1, 0.6, 0.3], [0.2, 0.2, 0.6], shifts=[5.0, -3.0])
    check.example(
        *(rows, torch.tensor([1, 0])),
        gives=1.0601,
        because="p is 0.6 and 0.2: the mean of 0.5108 and 1.6094. Logits may be any numbers",
    )
    check.done("one guess, two guesses")
    words = torch.tensor([1, 0])
    for dtype in (torch.float32, torch.float64):
        huge = torch.tensor([[1000.0, -1000.0], [0.0, 1000.0]], dtype=dtype)
        check.example(*(huge, words), gives=torch.tensor(1500.0, dtype=dtype), because=HUGE)
    check.example(
        *(torch.zeros(0, 3), torch.zeros(0, dtype=torch.long)),
        gives=0.0,
        because="a batch without masked words costs 0; 0 / 0 would be nan, and spoil every weight",
    )
    check.gradients(rows, words)
    logits = 3 * normal(300, 80, dtype=torch.float64)
    words = torch.arange(300) * 7 % 80
    because = "as F.cross_entropy computes it, for 300 positions and 80 words"
    check.example(logits, words, gives=F.cross_entropy(logits, words), because=because)
    check.done("huge logits, no masked words, gradients, 300 positions")


@task(
    4,
    "try the draft with a filler slot that has its own logits",
    "logits[weights > 0] has a row for each slot in use, [N, V]: `mlm_loss` does the rest",
)
def padded_loss(check: LossCheck) -> None:
    """The mean over only the slots in use."""
    logits = torch.stack([TWO, logits_of([0.5, 0.25, 0.25], [0.1, 0.1, 0.8], shifts=[2.0, -1.0])])
    words = torch.tensor([[1, 0], [0, 1]])
    check.example(
        *(logits, words, torch.ones(2, 2)),
        gives=1.279,
        because="all slots in use: the mean of 0.511, 1.609, 0.693 and 2.303",
    )
    check.example(
        *(logits, words, torch.tensor([[1.0, 0.0], [1.0, 1.0]])),
        gives=1.1688,
        because="three slots in use: the mean of 0.511, 0.693 and 2.303",
    )
    check.done("slots in use and filler")
    spoiled = logits.clone()
    spoiled[0, 1] = INFINITE
    check.example(
        *(spoiled, words, torch.tensor([[1.0, 0.0], [1.0, 1.0]])),
        gives=1.1688,
        because="the filler's logits are inf now, its cost is nan, and nan * 0 is nan: leave it "
        "out before you sum",
    )
    check.example(
        *(logits, words, torch.zeros(2, 2)),
        gives=0.0,
        because="no slot is in use: the loss is 0; 0 / 0 would be nan, and spoil every weight",
    )
    huge = torch.tensor([[[1000.0, -1000.0], [0.0, 1000.0]]])
    check.example(*(huge, torch.tensor([[1, 0]]), torch.ones(1, 2)), gives=1500.0, because=HUGE)
    check.gradients(logits, words, torch.tensor([[1.0, 0.0], [1.0, 1.0]]))
    check.done("inf in filler, no slot in use, huge logits, gradients")


# Two guesses among three words, of p = 0.6 and 0.2 where the words are 1 and 0.
TWO = logits_of([0.1, 0.6, 0.3], [0.2, 0.2, 0.6], shifts=[5.0, -3.0])


def draft(logits: Tensor, words: Tensor, weights: Tensor) -> Tensor:
    """As in the notebook: wrong if a slot is filler."""
    cost = F.cross_entropy(logits.flatten(0, 1), words.flatten())
    return (cost * weights).sum() / (weights.sum() + 1e-8)


def by_sequence(logits: Tensor, words: Tensor, weights: Tensor) -> Tensor:
    """Wrong: the mean of each sequence's own mean."""
    costs = -logits.log_softmax(-1).gather(-1, words[..., None])[..., 0]
    costs = torch.where(weights > 0, costs, 0.0)
    return (costs.sum(1) / weights.sum(1).clamp(min=1)).mean()


def not_of_nothing(logits: Tensor, words: Tensor, weights: Tensor) -> Tensor:
    """Wrong: PyTorch's mean of no slots at all is nan."""
    return F.cross_entropy(logits[weights > 0], words[weights > 0])


@task(
    5,
    "two sequences, three slots in use: -log p of each, and their mean, by hand",
    "one call for each rule of task 4: filler, nan, no slot in use, logits of 1,000",
)
def examine_padded_loss(check: MutationCheck, own: Callable) -> None:
    """A test of `padded_loss`, tried on the student's own and on three wrong ones."""
    example = torch.zeros(1, 1, 2), torch.zeros(1, 1, dtype=torch.long), torch.ones(1, 1)
    check.passes(own, "padded_loss", 4, *example)
    check.stops(draft, "the draft", "which call shows what you have repaired?")
    check.stops(
        by_sequence,
        "a loss that averages the means of the sequences",
        "two sequences with different numbers of slots in use show it",
    )
    check.stops(
        not_of_nothing, "a loss that is nan if no slot is in use", "what if every slot is filler?"
    )
    check.done("your own padded_loss passes, three wrong ones do not")


@task(
    6,
    "each row: the model's probabilities minus the target",
    "softmax, minus smoothing / V everywhere, minus 1 - smoothing at "
    "[torch.arange(N), words]; then divide by N",
)
def smoothed_gradient(check: LossCheck) -> None:
    """(softmax - smoothed target) / N."""
    check.example(
        *(TWO, torch.tensor([1, 0]), 0.0),
        gives=[[0.05, -0.2, 0.15], [-0.4, 0.1, 0.3]],
        because="([0.1, 0.6, 0.3] - [0, 1, 0]) / 2 and ([0.2, 0.2, 0.6] - [1, 0, 0]) / 2",
    )
    check.done("two guesses")
    check.example(
        *(TWO, torch.tensor([1, 0]), 0.3),
        gives=[[0.0, -0.1, 0.1], [-0.3, 0.05, 0.25]],
        because="the targets are [0.1, 0.8, 0.1] and [0.8, 0.1, 0.1]",
    )
    check.done("smoothed targets")
    huge = torch.tensor([[1000.0, -1000.0], [0.0, 1000.0]])
    check.example(
        *(huge, torch.tensor([1, 1]), 0.0),
        gives=[[0.5, -0.5], [0.0, 0.0]],
        because="exp(1000) is infinite: torch.softmax subtracts the largest logit first",
    )
    none = torch.zeros(0, dtype=torch.long)
    check.example(
        *(torch.zeros(0, 3), none, 0.1),
        gives=torch.zeros(0, 3),
        because="no masked words, no rows: [0, V]",
    )
    logits, words = 3 * normal(300, 80, dtype=torch.float64), torch.arange(300) * 7 % 80
    expected = _slope(logits, words, 0.2)
    check.equals(
        *(check.call(logits, words, 0.2), expected, "300 positions and 80 words"),
        because="as autograd computes it, in 64 bits",
        tolerance=1e-8,
    )
    check.done("huge logits, no masked words, 300 positions against autograd")


def _slope(logits: Tensor, words: Tensor, smoothing: float) -> Tensor:
    """Autograd's gradient of PyTorch's loss."""
    logits = logits.clone().requires_grad_()
    loss = F.cross_entropy(logits, words, label_smoothing=smoothing)
    return torch.autograd.grad(loss, logits)[0]


BETAS = (0.9, 0.999)
PARTS = frozenset({"mean", "square", "correction"})


class AdamCheck(TensorCheck):
    """A check of an optimizer's step, which returns a parameter and its new moments."""

    # Every optimizer of PyTorch calls the last one at its creation.
    ready_made = ("adam", "rmsprop", "adagrad", "backward", "patch_step_function")

    def step(
        self,
        *arguments: Any,
        gives: tuple[Sequence[float], Sequence[float], Sequence[float]],
        because: str = "",
    ) -> None:
        """One step by hand; `gives`: the new parameter and the new moments, m and v."""
        moved, (mean, square) = self.taken(*arguments, because=because)
        shown, expected = self.shown(arguments), list(map(torch.tensor, gives))
        self.equals(moved, expected[0], shown, because=because)
        b1, b2 = arguments[6]
        self.equals(
            *(mean, expected[1], f"{shown}: the new moments.mean"),
            because=f"m = b1 * m + (1 - b1) * gradient, with b1 = betas[0] = {b1}",
        )
        self.equals(
            *(square, expected[2], f"{shown}: the new moments.square"),
            because=f"v = b2 * v + (1 - b2) * gradient squared, with b2 = betas[1] = {b2}",
        )

    def taken(self, *arguments: Any, because: str = "") -> tuple[Tensor, Moments]:
        """The answer of a step, if its form is right."""
        answer = self.call(*arguments, because=because)
        if not (isinstance(answer, tuple) and len(answer) == 2 and _two(answer[1])):
            self.fail(
                f"{self.shown(arguments)}\nit must return two things: the moved parameter and its "
                f"Moments(mean, square); it returned {described(answer)}"
            )
        return answer

    def shown(self, arguments: tuple) -> str:
        """The call as a student would write it."""
        shown = (
            "moments"
            if hasattr(a, "_fields")
            else _set(a)
            if isinstance(a, frozenset)
            else written(a)
            for a in arguments
        )
        return f"{self.name}({', '.join(shown)})"


def _set(parts: frozenset[str]) -> str:
    return f"{{{', '.join(map(repr, sorted(parts)))}}}" if parts else "set()"


def _two(moments: Any) -> bool:
    return isinstance(moments, tuple) and len(moments) == 2


@task(
    7,
    "m and v first; then corrected or not, along m or along the gradient, divided or not",
    "a running mean is beta * old + (1 - beta) * new; corrected, it is / (1 - beta**step)",
)
def adam_step(check: AdamCheck) -> None:
    """One step of Adam."""
    one, gradient = torch.ones(2), torch.tensor([0.5, -2.0])
    moments_after = ([0.05, -0.2], [0.00025, 0.004])
    check.step(
        *(one, gradient, Moments.start(one), 1, 0.1, PARTS, BETAS, 0.0),
        gives=([0.9, 1.1], *moments_after),
        because="m = [0.05, -0.2], corrected [0.5, -2]; v corrected [0.25, 4], its root [0.5, 2]: "
        "the first step is the learning rate, whatever the gradient's size",
    )
    check.step(
        *(one, gradient, Moments.start(one), 1, 0.1, PARTS, BETAS, 0.5),
        gives=([0.95, 1.08], *moments_after),
        because="with eps = 0.5: 0.1 * 0.5 / (0.5 + 0.5) and 0.1 * -2 / (2 + 0.5)",
    )
    check.done("the first step, by hand")
    memory = Moments(torch.tensor([0.2, -0.1]), torch.tensor([0.09, 0.01]))
    check.step(
        *(torch.ones(2), torch.tensor([0.5, -2.0]), memory, 3, 0.1, PARTS, (0.5, 0.75), 0.0),
        gives=([0.9156, 1.0909], [0.35, -1.05], [0.13, 1.0075]),
        because="m = [0.35, -1.05] / (1 - 0.5**3), v = [0.13, 1.0075] / (1 - 0.75**3)",
    )
    check.done("the third step, by hand")
    # The third step again, with one part missing, and with none or one left.
    for parts, moved, because in (
        (
            PARTS - {"mean"},
            [0.8946, 1.1515],
            "along the gradient of this step, divided by the root of the corrected v",
        ),
        (PARTS - {"square"}, [0.96, 1.12], "along the corrected m, [0.4, -1.2], and not divided"),
        (
            PARTS - {"correction"},
            [0.9029, 1.1046],
            "m and v as they are, [0.35, -1.05] and [0.13, 1.0075]",
        ),
        (frozenset(), [0.95, 1.2], "no part is left: plain gradient descent"),
        (frozenset({"mean"}), [0.965, 1.105], "m as it is, and not divided"),
    ):
        check.step(
            *(torch.ones(2), torch.tensor([0.5, -2.0]), memory, 3, 0.1, parts, (0.5, 0.75), 0.0),
            gives=(moved, [0.35, -1.05], [0.13, 1.0075]),
            because=because,
        )
    check.done("without each of the parts, with none and with one")
    # Each step on the moments of the one before, with betas and eps left out.
    gradients = numbers(100, 3, seed=5, dtype=torch.float64)
    gradients = gradients * torch.logspace(-3, 1, 100, dtype=torch.float64)[:, None]
    parameter = torch.ones(3, dtype=torch.float64)
    moments = Moments.start(parameter)
    for step, slope in enumerate(gradients, start=1):
        parameter, moments = check.taken(parameter, slope, Moments(*moments), step, 0.01, PARTS)
        if step in WAY:
            check.equals(
                *(parameter, torch.tensor(WAY[step], dtype=torch.float64)),
                f"after {step} steps of 0.01 from [1, 1, 1]",
                because="each step starts from the moments of the one before; betas and eps have "
                "the values of the first line if they are not given",
                tolerance=1e-5,
            )
    check.done("a hundred steps, as torch.optim.Adam takes them")


@task(
    8,
    "a row: its probabilities times (what was handed down minus its weighted mean)",
    "(A * A_bar).sum(dim=-1, keepdim=True) is the weighted mean; the scale is a factor",
)
def softmax_backward(check: LossCheck) -> None:
    """The gradient by scores that are scaled before their softmax."""
    check.example(
        torch.tensor([[0.75, 0.25], [0.5, 0.5]]),
        torch.tensor([[2.0, -4.0], [4.0, 0.0]]),
        0.5,
        gives=[[0.5625, -0.5625], [0.5, -0.5]],
        because="as in the statement",
    )
    check.example(
        *(torch.tensor([[0.5, 0.5, 0.0]]), torch.tensor([[1.0, 3.0, 100.0]]), 1.0),
        gives=[[-0.5, 0.5, 0.0]],
        because="a masked score has the probability 0: it gets nothing, and changes nothing",
    )
    check.done("two rows, a masked score")
    scores, down = (3 * normal(2, 3, 5, 4, seed=k, dtype=torch.float64) for k in (0, 1))
    scores.requires_grad_()
    attention = torch.softmax(scores * 0.3, dim=-1)
    (expected,) = torch.autograd.grad(attention, scores, down)
    check.equals(
        *(check.call(attention.detach(), down, 0.3), expected, "a [2, 3, 5, 4] tensor, scale 0.3"),
        because="as autograd computes it, in 64 bits",
        tolerance=1e-8,
    )
    check.done("six heads against autograd")


class NormCheck(GradientsCheck):
    """A check of the three gradients of a layer norm."""

    ready_made = LossCheck.ready_made
    by = ("x", "gamma", "beta")


@task(
    9,
    "g = z_bar * gamma; every mean runs along a row: dim=-1, keepdim=True",
    "(g - mean of g - normed * mean of g * normed) / s; the other two add up all rows",
)
def layer_norm_backward(check: NormCheck) -> None:
    """The gradients of a layer norm from what it has kept."""
    s = torch.tensor([[6.0]]).sqrt()
    normed = torch.tensor([[-3.0, 0.0, 3.0]]) / s  # of the row (0, 3, 6)
    check.by_hand(
        *(normed, s, torch.tensor([2.0, 1.0, 1.0]), torch.tensor([[1.0, 0.0, 0.0]])),
        gives=([[0.1361, -0.2722, 0.1361]], [-1.2247, 0.0, 0.0], [1.0, 0.0, 0.0]),
        because="as in the statement",
    )
    check.done("one row, a gamma that is not 1")
    both, sizes = torch.cat([normed, -normed]), torch.cat([s, s / 2])
    down = torch.tensor([[1.0, 0.0, 0.0], [0.0, 4.0, 1.0]])
    check.by_hand(
        *(both, sizes, torch.ones(3), down),
        gives=(
            [[0.0680, -0.1361, 0.0680], [-0.9526, 1.9053, -0.9526]],
            [-1.2247, 0.0, -1.2247],
            [1.0, 4.0, 1.0],
        ),
        because="each row by itself, then gamma and beta add up both",
    )
    check.by_hand(
        *(both[:, None], sizes[:, None], torch.ones(3), down[:, None]),
        gives=(
            [[[0.0680, -0.1361, 0.0680]], [[-0.9526, 1.9053, -0.9526]]],
            [-1.2247, 0.0, -1.2247],
            [1.0, 4.0, 1.0],
        ),
        because="the same two rows as two texts of one token, [2, 1, 3]",
    )
    check.done("two rows, two texts")
    check.by_hand(*_kept(), gives=_norm_slopes(), because="as autograd computes it")
    check.done("24 rows against autograd")


def _row_inputs() -> tuple[Tensor, ...]:
    """x, gamma, beta of a layer norm, and what is handed down to it."""
    x, down = (normal(4, 6, 8, seed=k) for k in (2, 3))
    return 3 * x + 1, normal(8, seed=4), normal(8, seed=5), down


def _kept() -> tuple[Tensor, ...]:
    """The arguments of the way back."""
    x, gamma, _, down = _row_inputs()
    variance, mean = torch.var_mean(x, dim=-1, correction=0, keepdim=True)
    return (x - mean) / variance.sqrt(), variance.sqrt(), gamma, down


def _norm_slopes() -> tuple[Tensor, ...]:
    """Autograd's gradients of PyTorch's layer norm."""
    *inputs, down = _row_inputs()
    x, gamma, beta = (each.requires_grad_() for each in inputs)
    return torch.autograd.grad(F.layer_norm(x, (8,), gamma, beta, 0.0), (x, gamma, beta), down)


@task(10, "write `return` and a number")
def predict_first_step(check: Check) -> None:
    """A number above 0, of the student's choice."""
    answer = check.call()
    number = isinstance(answer, int | float) and not isinstance(answer, bool)
    check.law(
        number and isfinite(answer) and answer > 0,
        f"it must be a number above 0, in learning rates; it returned {answer!r}",
    )
    check.done(f"you predict {answer:.3g} learning rates; now measure")


# The path of torch.optim.Adam: the number of steps, and the three weights after them.
WAY = {
    1: [1.01, 1.01, 0.99],
    2: [1.012007, 1.019537, 0.989525],
    10: [0.990767, 1.061983, 0.985416],
    100: [0.827608, 0.964672, 0.981232],
}
