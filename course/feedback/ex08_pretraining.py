"""Checks of exercise 8, the loop: one per task."""

from collections.abc import Callable, Iterator, Sequence
from math import log
from numbers import Integral
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from bertlab.pretraining.batches import Batch
from course.feedback.checks import Check, checks_of
from course.feedback.differences import difference, short
from course.feedback.mutants import MutationCheck
from course.feedback.tensors import OWN_CODE, TensorCheck, normal, written

# `check.progress()` shows how far you are, `@task` declares a check.
progress, task = checks_of("ex08_pretraining")

LOSS = 2.1522


class NotCopied:
    """An object that a check passes without a copy: the student's function must change it."""

    def __deepcopy__(self, memo: dict) -> "NotCopied":
        return self


class Once(NotCopied):
    """Batches that can be read once, from first to last."""

    def __init__(self, batches: Sequence[Batch]) -> None:
        self.batches = iter(batches)

    def __iter__(self) -> Iterator[Batch]:
        return self.batches


class Scores(NamedTuple):
    """A model's output, with the names of BERT's output."""

    mlm_logits: Tensor  # [N, V]
    nsp_logits: Tensor  # [B, 2]


class Probe(NotCopied, nn.Module):
    """A model that logs its calls, and rejects arguments that do not belong to one batch."""

    def __init__(self, pieces: Sequence[Batch]) -> None:
        super().__init__()
        self.pieces = pieces
        self.calls: list[Any] = []

    def forward(
        self, ids: Tensor, segment_ids: Tensor, attention_mask: Tensor, predict: Tensor
    ) -> Scores:
        """Scores at the N masked positions, and of the B pairs."""
        piece = next((p for p in self.pieces if torch.equal(p.ids, ids)), None)
        if piece is None:
            raise ValueError("the first argument must be the ids of a piece")
        for name, got in zip(
            Batch._fields[1:4], (segment_ids, attention_mask, predict), strict=True
        ):
            if not torch.equal(got, getattr(piece, name)):
                raise ValueError(
                    f"model(ids, segment_ids, attention_mask, predict): {name} differs"
                )
        before = any(p.grad is not None and p.grad.any() for p in self.parameters())
        self.calls.append(Call(self.training, torch.is_grad_enabled(), before))
        return self.scores(piece)

    def scores(self, piece: Batch) -> Scores:
        """Its scores for a piece."""
        raise NotImplementedError


class TwoWeights(Probe):
    """One weight for words, one for pairs; its scores do not depend on the input."""

    def __init__(self, pieces: Sequence[Batch]) -> None:
        super().__init__(pieces)
        self.word = nn.Parameter(torch.tensor(WORD, dtype=torch.float64))
        self.next = nn.Parameter(torch.tensor(NEXT, dtype=torch.float64))

    def scores(self, piece: Batch) -> Scores:
        """Logits [word, 0, 0] and [next, 0]."""
        word, nothing = self.word, torch.zeros((), dtype=torch.float64)
        words = torch.stack([word, nothing, nothing]).expand(len(piece.words), 3)
        return Scores(words, torch.stack([self.next, nothing]).expand(len(piece.ids), 2))

    def moved(self) -> Tensor:
        """The decrease of the two weights: [2]."""
        return torch.tensor([WORD, NEXT]) - torch.stack([self.word, self.next]).detach().float()

    def slope(self) -> Tensor:
        """The two gradients, 0 if there is none: [2]."""
        grads = (self.word.grad, self.next.grad)
        return torch.stack([torch.zeros(()) if g is None else g.float() for g in grads])


class Table(Probe):
    """A row of logits for each token that is read, and one for each segment's length."""

    def __init__(self, pieces: Sequence[Batch]) -> None:
        super().__init__(pieces)
        self.word = nn.Parameter(normal(60, 60, seed=1, dtype=torch.float64))
        self.pair = nn.Parameter(normal(60, 2, seed=2, dtype=torch.float64))

    def scores(self, piece: Batch) -> Scores:
        """Rows of both tables."""
        return Scores(self.word[piece.ids[piece.predict]], self.pair[piece.ids[:, -1]])


def piece(words: Sequence[int], next_sentence: Sequence[int], seed: int = 0) -> Batch:
    """A batch with these true words and relations; the rest of its rows does not matter."""
    rows, columns = len(next_sentence), 3 + len(words)
    ids = 5 + normal(rows, columns, seed=seed + len(words)).mul(1000).long() % 50
    column = torch.arange(columns)
    predict = torch.zeros(rows, columns, dtype=torch.bool)
    predict[-1, 1 : 1 + len(words)] = True
    mask = (column < columns - 1).expand(rows, -1)
    true = torch.tensor(words, dtype=torch.long)
    return Batch(
        ids, (column > 1).long().expand(rows, -1), mask, predict, true, torch.tensor(next_sentence)
    )


def two_pieces() -> list[Batch]:
    """One word in two pairs, then three words in one pair."""
    return [piece([0], [1, 1]), piece([1, 2, 1], [0])]


def many_pieces() -> list[Batch]:
    """Five pieces of different sizes, the third without a word."""
    sizes = ((3, 4), (17, 1), (0, 2), (1, 9), (8, 3))
    return [
        piece([n * 7 % 60 for n in range(words)], [(n + words) % 3 % 2 for n in range(rows)], words)
        for words, rows in sizes
    ]


def whole(model: Probe, pieces: Sequence[Batch]) -> Tensor:
    """PyTorch's loss of all pieces as one batch."""
    scores = [model.scores(piece) for piece in pieces]
    words = F.cross_entropy(
        torch.cat([s.mlm_logits for s in scores]), torch.cat([p.words for p in pieces])
    )
    pairs = F.cross_entropy(
        torch.cat([s.nsp_logits for s in scores]), torch.cat([p.next_sentence for p in pieces])
    )
    return words + pairs


class CountedSGD(NotCopied, torch.optim.SGD):
    """Plain gradient descent that counts its steps."""

    def __init__(self, model: TwoWeights) -> None:
        groups = [{"params": [model.word]}, {"params": [model.next]}]
        super().__init__(groups, lr=5.0)
        self.taken = 0

    def step(self, closure: Any = None) -> Any:
        """As usual, and counted."""
        self.taken += 1
        return super().step(closure)


# With these weights "word 0" has the probability 0.4, and IsNext 0.75.
WORD, NEXT = log(4 / 3), log(3)


class Call(NamedTuple):
    """How a model was called."""

    training: bool
    with_gradients: bool
    gradient_before: bool  # whether there was already a gradient


# At the creation of the first optimizer, PyTorch imports many modules, which takes a second. Here
# that happens before the first check, and before a grader begins with the first student.
torch.optim.SGD([torch.zeros(1)])


class LengthsCheck(Check):
    """A check of two numbers of tokens."""

    refused = OWN_CODE

    def kept(self, *arguments: int, because: str = "") -> tuple[int, int]:
        """An answer of the right form: two whole numbers."""
        answer = self.call(*arguments, because=because)
        whole = isinstance(answer, tuple | list) and all(isinstance(n, Integral) for n in answer)
        self.law(
            whole and len(answer) == 2,
            f"{self.shown(arguments)}\nit must return two whole numbers, of A and of B; it "
            f"returned {short(answer)}"
            + "\n→ // gives whole numbers, / gives decimals"
            * (isinstance(answer, tuple | list) and any(isinstance(n, float) for n in answer)),
        )
        return int(answer[0]), int(answer[1])

    def pair(self, *arguments: int, gives: tuple[int, int], because: str) -> None:
        """A worked example."""
        answer = self.kept(*arguments, because=because)
        found = f"expected {gives}\ngot      {answer}" if answer != gives else ""
        self.compared(found, answer, self.shown(arguments), because)


@task(
    1,
    "a loop is enough: while both together are too long, the longer one loses a token",
    "`if a_length > b_length:` A loses one, `else:` B does",
)
def kept_lengths(check: LengthsCheck) -> None:
    """How many tokens of A and of B are kept."""
    fits = "both fit: nothing is lost"
    check.pair(*(3, 4, 11), gives=(3, 4), because=fits)
    one = (
        "18 tokens, 7 too many, in turns: B loses the first, since B loses a token if both are "
        "equal, and the last"
    )
    check.pair(*(9, 9, 11), gives=(6, 5), because=one)
    check.pair(
        *(2, 20, 11), gives=(2, 9), because="B is longer all the time, so only B loses tokens"
    )
    check.pair(
        *(20, 1, 11), gives=(10, 1), because="A is longer all the time, so only A loses tokens"
    )
    check.done("pairs that fit, equal ones, a short A, a short B")
    # For short lengths, conditions for any algorithm.
    for a in range(1, 15, 2):
        for b in range(1, 15):
            for room in (2, 7, 12):
                a_kept, b_kept = check.kept(a, b, room)
                shown = f"kept_lengths({a}, {b}, {room})\ngot {(a_kept, b_kept)}: "
                check.law(0 <= a_kept <= a and 0 <= b_kept <= b, f"{shown}out of range")
                total = min(a + b, room)
                check.law(
                    a_kept + b_kept == total, f"{shown}together {a_kept + b_kept}, not {total}"
                )
                fair = (a_kept == a or a_kept >= b_kept) and (b_kept == b or b_kept >= a_kept - 1)
                check.law(fair, f"{shown}the shorter one has lost a token while it was shorter")
    long = "long documents: the loop removes token by token, and two lines could compute the result"
    check.pair(30_000, 20_000, 509, gives=(255, 254), because=long)
    check.done("all lengths up to 14")


class LayoutCheck(TensorCheck):
    """A check of three tensors: ids, segment ids and the attention mask."""

    refused = OWN_CODE

    def laid_out(self, *arguments: Any, because: str = "") -> tuple[Tensor, Tensor, Tensor]:
        """An answer of three tensors."""
        answer = self.call(*arguments, because=because)
        three = isinstance(answer, tuple) and len(answer) == 3
        self.law(
            three and all(isinstance(part, Tensor) for part in answer),
            f"{self.shown(arguments)}\nit must return three tensors: ids, segment ids and the "
            f"attention mask; it returned {short(answer)}",
        )
        return answer


@task(
    2,
    "create all three as for padding only, then fill in row by row",
    "a row is [cls_id, *a, sep_id, *b, sep_id]; A's part is len(a) + 2 long",
)
def lay_out(check: LayoutCheck) -> None:
    """Pairs as rows, with segments, padding and the mask."""
    arguments = ([([11, 12, 13], [21, 22]), ([14], [24])], 9, 5, 6, 9)
    shown = check.shown(arguments)
    ids, segment_ids, attention_mask = check.laid_out(*arguments)
    check.equals(
        *(ids, [[5, 11, 12, 13, 6, 21, 22, 6, 9], [5, 14, 6, 24, 6, 9, 9, 9, 9]]),
        f"{shown}: ids",
        because="[CLS] A [SEP] B [SEP], then padding",
    )
    check.equals(
        *(segment_ids, [[0, 0, 0, 0, 0, 1, 1, 1, 0], [0, 0, 0, 1, 1, 0, 0, 0, 0]]),
        f"{shown}: segment ids",
        because="0 up to the first [SEP], 1 from there up to the second one, 0 at padding",
    )
    right = torch.arange(9) < torch.tensor([[8], [5]])
    check.equals(
        *(attention_mask, right),
        f"{shown}: attention mask",
        because="True may be attended to, False is padding",
    )
    check.done("two pairs, by hand")
    # Full rows, words with the id of a special token elsewhere, 300 pairs.
    full = ([([7, 8], [7])], 6, 1, 2, 0)
    parts = check.laid_out(*full, because="a row without padding")
    expected = ([[1, 7, 8, 2, 7, 2]], [[0, 0, 0, 0, 1, 1]], torch.ones(1, 6, dtype=torch.bool))
    for name, part, gives in zip(("ids", "segment ids", "mask"), parts, expected, strict=True):
        check.equals(part, gives, f"{check.shown(full)}: {name}", because="a row without padding")
    lengths = [(1 + n * 7 % 60, 1 + n * 11 % 60) for n in range(300)]
    many = [(list(range(10, 10 + a)), list(range(80, 80 + b))) for a, b in lengths]
    ids, segment_ids, attention_mask = check.laid_out(many, 128, 1, 2, 0)
    shown = "300 pairs of 5 to 123 tokens, 128 columns"
    check.law(
        ids.shape == segment_ids.shape == attention_mask.shape == (300, 128),
        f"{shown}: all three tensors must be [300, 128]",
    )
    check.equals(attention_mask.sum(dim=1), torch.tensor([a + b + 3 for a, b in lengths]), shown)
    check.equals(segment_ids.sum(dim=1), torch.tensor([b + 1 for _, b in lengths]), shown)
    check.equals(ids.sum(dim=1), torch.tensor([sum(a) + sum(b) + 5 for a, b in many]), shown)
    check.done("a full row, 300 pairs")


Layout = tuple[Tensor, Tensor, Tensor]


def draft(segments: list, _length: int, cls_id: int, sep_id: int, pad_id: int) -> Layout:
    """As in the notebook: wrong if a row is not full, or if [PAD] is not 0."""
    rows = [torch.tensor([cls_id, *a, sep_id, *b, sep_id]) for a, b in segments]
    ids = nn.utils.rnn.pad_sequence(rows, batch_first=True)
    ends = (ids == sep_id).long()
    return ids, ends.cumsum(dim=1) - ends, ids != pad_id


def one_segment(segments: list, length: int, cls_id: int, sep_id: int, pad_id: int) -> Layout:
    """Wrong: every token has segment 0."""
    rows = [[cls_id, *a, sep_id, *b, sep_id] for a, b in segments]
    ids = torch.tensor([row + [pad_id] * (length - len(row)) for row in rows])
    return ids, torch.zeros_like(ids), ids != pad_id


def sees_padding(*arguments: Any) -> Layout:
    """Wrong: the mask is True everywhere, and there is one segment."""
    ids, segment_ids, attention_mask = one_segment(*arguments)
    return ids, segment_ids, torch.ones_like(attention_mask)


@task(
    3,
    "rows of different lengths, none of them full, and all three tensors by hand",
    "ids.tolist() == [[...], [...]], the same for segments and mask",
)
def examine_lay_out(check: MutationCheck, own: Callable) -> None:
    """A test of `lay_out`, tried on the student's own and on three wrong ones."""
    check.passes(own, "lay_out", 2, [([7], [8])], 5, 1, 2, 0)
    check.stops(draft, "the draft", "which call shows what you have repaired?")
    check.stops(
        sees_padding,
        "a function with one segment and a mask of only True",
        "compare all three tensors, number by number, not only the ids",
    )
    check.stops(
        one_segment,
        "a function that gives every token the segment 0",
        "compare the segment ids, too, number by number",
    )
    check.done("your own lay_out passes, three wrong ones do not")


PARTS = ("warm-up", "way down", "clipping")


class ScheduleCheck(TensorCheck):
    """A check of a factor for each step."""

    refused = OWN_CODE

    def factors(
        self,
        numbers: Sequence[int],
        plan: tuple[int, int, int],
        gives: Sequence[float],
        because: str,
    ) -> None:
        """The factors of some steps of a training; plan: its steps, rising ones, falling ones."""
        answers = [self.call(number, *plan, because=because) for number in numbers]
        shown = f"{self.name}(step, {', '.join(map(str, plan))}) for step = {list(numbers)}"
        for answer in answers:
            self.law(
                isinstance(answer, int | float),
                f"{shown}\nit must return a number; it returned {short(answer)}",
            )
        self.equals(
            torch.tensor(answers, dtype=torch.float64),
            torch.tensor(gives, dtype=torch.float64),
            shown,
            because=because,
        )


@task(
    4,
    "one line for the way up, one for the way down, and never more than 1",
    "down: how many steps are left, this one included, of `decay`",
)
def plateau_schedule(check: ScheduleCheck) -> None:
    """A linear rise, a constant part, and a fall in the last steps."""
    check.factors(
        *(range(1, 4), (9, 3, 4), [1 / 3, 2 / 3, 1.0]),
        because="the warm-up of 3 steps: a third more at each, 1 at its end",
    )
    check.factors(
        *(range(4, 10), (9, 3, 4), [1.0, 1.0, 1.0, 0.75, 0.5, 0.25]),
        because="level in steps 4 and 5; when step 6 begins, four of four steps are left",
    )
    check.done("9 steps by hand")
    check.factors(
        *(range(1, 6), (5, 4, 4), [0.25, 0.5, 0.75, 0.5, 0.25]),
        because="4 steps up and 4 down in a training of 5: the smaller factor counts",
    )
    check.factors(
        range(1, 5), (4, 0, 2), [1.0, 1.0, 1.0, 0.5], because="without a warm-up, warmup = 0"
    )
    check.factors(
        range(1, 5), (4, 2, 0), [0.5, 1.0, 1.0, 1.0], because="without a way down, decay = 0"
    )
    check.factors([1], (1, 0, 0), [1.0], because="a training of one step")
    check.done("ways that overlap; no way up; no way down")


class AblationCheck(TensorCheck):
    """A check of rises and their errors; its losses record their calls."""

    refused = OWN_CODE
    ready_made = ()

    def rises(
        self, losses: dict[str, Sequence[float]], gives: Sequence[Sequence[float]], because: str
    ) -> None:
        """An ablation of the parts that `losses` names; "" is the whole recipe."""
        parts, seeds = [part for part in losses if part], list(range(len(losses[""])))
        asked: list[tuple[str, int]] = []

        def loss(some: frozenset[str], seed: int) -> float:
            missing = set(parts) - set(some)
            if len(missing) > 1 or not set(some) <= set(parts):
                raise ValueError(f"leave out one part at a time; got the parts {short(set(some))}")
            asked.append(("".join(missing), seed))
            return losses[asked[-1][0]][seed]

        answer = self.call(loss, parts, seeds, because=because)
        shown = self.shown((loss, parts, seeds))
        self.law(
            isinstance(answer, dict) and set(answer) == set(parts),
            f"{shown}\nit must return a dictionary with the parts as keys; it returned "
            f"{short(answer)}",
        )
        pairs = [answer[part] for part in parts]
        self.law(
            all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs),
            f"{shown}\neach part has two numbers, its mean rise and the standard error; it "
            f"returned {short(answer)}",
        )
        found = torch.tensor([[float(x) for x in pair] for pair in pairs], dtype=torch.float64)
        wanted = torch.tensor(gives, dtype=torch.float64)
        self.equals(found, wanted, shown, because=because)
        self.law(
            len(asked) == len(set(asked)),
            f"{shown}\ntrains {len(asked)} models, where {len(set(asked))} are enough\n→ train the "
            "whole recipe once for each seed, before the loop over the parts",
        )

    def shown(self, arguments: tuple) -> str:
        """The call as a student would write it."""
        return f"{self.name}(loss, {arguments[1]}, {arguments[2]})"

    def _same(self, given: tuple, arguments: tuple) -> bool:
        return given[1:] == arguments[1:]


@task(
    8,
    "rises = [loss(everything - {part}, seed) - whole[i] for i, seed in enumerate(seeds)]",
    "the standard error is the rises' standard deviation (n - 1) over the root of n",
)
def ablation(check: AblationCheck) -> None:
    """How much the loss rises without each part, with the standard error."""
    check.rises(
        {"": [2.0, 3.0, 4.0], "a": [3.0, 3.5, 5.5], "b": [1.5, 2.5, 4.0]},
        [[1.0, 0.28868], [-1 / 3, 0.16667]],
        because="the rises without a are 1, 0.5, 1.5; without b -0.5, -0.5, 0",
    )
    check.rises(
        {"": [1.0, 9.0], "x": [1.25, 9.25]},
        [[0.25, 0.0]],
        because="seeds that differ by 8, and a rise that is the same with both: an error of 0",
    )
    check.done("rises, falls, seeds that differ much")


class PairCheck(Check):
    """A check of two lists of ids."""

    refused = OWN_CODE

    def pair(self, *arguments: Any, gives: tuple[list[int], list[int]], because: str) -> None:
        """A worked example."""
        answer, shown = self.call(*arguments, because=because), self.shown(arguments)
        is_pair = isinstance(answer, tuple | list) and len(answer) == 2
        self.law(
            is_pair and all(isinstance(each, list) for each in answer),
            f"{shown}\nit must return two lists, what is left of A and of B; it returned "
            f"{short(answer)}",
        )
        self.compared(difference(gives, tuple(answer)), tuple(answer), shown, because)


@task(
    9,
    "while both together are longer than the room: who loses, then from which end",
    "A loses only if it is longer than B and longer than `keep`",
    "count the lost tokens: the first one uses draws[0], whichever segment it was in",
)
def truncate_pair(check: PairCheck) -> None:
    """A and B without the tokens that do not fit; A keeps some."""
    a, b = [1, 2, 3, 4], [11, 12, 13, 14, 15]
    draws = [0.2, 0.7, 0.3]
    check.pair(*(a, b, 6, 3, draws), gives=([2, 3, 4], [12, 13, 14]), because="as in the statement")
    check.pair(
        *(a, b, 6, 4, draws), gives=(a, [13, 14]), because="A has `keep` tokens, so B loses them"
    )
    check.pair(
        *(b, a, 3, 0, [0.7, 0.2, 0.1, 0.9, 0.7, 0.1, 0.3]),
        gives=([12, 13], [3]),
        because="BERT's rule: A, B, A, B, A, B lose a token, each with its own draw",
    )
    check.pair(
        *(b, a, 6, 5, [0.4, 0.6, 0.1, 0.9]),
        gives=(b, [3]),
        because="B loses all three, although it is shorter: A has no more than `keep`",
    )
    check.pair(
        *([1, 2], [7, 8, 9], 4, 0, [0.5, 0.1]),
        gives=([1, 2], [7, 8]),
        because="a draw of exactly 0.5 is not below 0.5: the last token goes",
    )
    check.done("whose turn it is, front and back, a question that is kept")
    check.pair(*(a, [], 4, 0, []), gives=(a, []), because="both fit, and there is no draw")
    check.pair(
        *(a, [5], 4, 4, [0.3]), gives=(a, []), because="nothing is left of B: A has all the room"
    )
    long = list(range(5_000))
    check.pair(
        *(long, long, 300, 200, [0.7] * 9_700),
        gives=(long[:200], long[:100]),
        because="9,700 tokens too many, all lost at the back; A has 200 left when B has 200, too",
    )
    check.done("pairs that fit, long ones")


@task(10, "return two names, with a comma")
def predict_parts(check: Check) -> None:
    """Two of the three parts, of the student's choice."""
    answer = check.call()
    check.law(
        isinstance(answer, tuple | list) and len(answer) == 2 and set(answer) <= set(PARTS),
        f"it must be two of {', '.join(PARTS)}; it returned {answer!r}",
    )
    check.done(f"you predict {answer[0]} at 0.01 and {answer[1]} at 0.03; now measure")


class StepsCheck(TensorCheck):
    """A check of a function that does something to a model."""

    refused = OWN_CODE
    ready_made = ()

    def number(self, answer: Any, gives: float, shown: str, because: str = "") -> None:
        """An answer that is one number, or a tensor without dimensions."""
        if isinstance(answer, Tensor) and answer.requires_grad:
            self.fail(
                f"{shown}\nwhat it returns still holds the graph of its gradients\n→ add up "
                ".detach() or .item(); otherwise all pieces stay in memory"
            )
        if isinstance(answer, float | int):
            answer = torch.tensor(float(answer))
        double = answer.double() if isinstance(answer, Tensor) else answer
        self.equals(double, torch.tensor(gives, dtype=torch.float64), shown, because=because)

    def shown(self, arguments: tuple) -> str:
        """The call as a student would write it."""
        return f"{self.name}({', '.join(map(_written, arguments))})"


def _written(value: Any) -> str:
    if isinstance(value, nn.Module):
        return "model"
    if isinstance(value, torch.optim.Optimizer):
        return "optimizer"
    if isinstance(value, list) and value and isinstance(value[0], Batch):
        words = [len(piece.words) for piece in value]
        return f"{len(value)} pieces with {', '.join(map(str, words))} masked words"
    return written(value)


@task(
    5,
    "for each piece: its sum of -log p of words / n_words, plus that of pairs / n_pairs",
    'F.cross_entropy(..., reduction="sum") is the sum; then .backward(), piece by piece',
)
def accumulate_gradients(check: StepsCheck) -> None:
    """Gradients of the whole batch, piece by piece."""
    pieces = two_pieces()
    model: Any = TwoWeights(pieces)
    answer = check.call(model, pieces, 4, 3)
    shown = check.shown((model, pieces, 4, 3))
    check.law(
        len(model.calls) == 2,
        f"{shown}\nthe model was called {len(model.calls)} times, for 2 pieces",
    )
    check.equals(
        *(model.slope()[0], 0.15, f"{shown}: gradient of the words' loss"),
        because="the sums are -0.6 and +1.2, and there are 4 words: 0.6 / 4",
    )
    check.equals(
        *(model.slope()[1], 0.41667, f"{shown}: gradient of the next sentences' loss"),
        because="the sums are 1.5 and -0.25, and there are 3 pairs: 1.25 / 3",
    )
    check.law(
        not model.calls[0].gradient_before and model.calls[1].gradient_before,
        f"{shown}\nthe second piece goes through the model before the first one's backward()\n→ "
        "call .backward() right after each piece: with a single call at the end, all pieces are "
        "in memory together, which cutting the batch was meant to avoid",
    )
    check.number(
        *(answer, LOSS, f"{shown}: what it returns"),
        because="the loss of the whole batch: 4.528 nats / 4 words + 3.060 nats / 3 pairs",
    )
    check.done("a batch in two uneven pieces, by hand")
    model = TwoWeights(pieces)
    model.word.grad = model.next.grad = torch.tensor(10.0, dtype=torch.float64)
    model.next.grad = model.next.grad.clone()
    check.call(model, pieces, 4, 3)
    check.equals(
        *(model.slope(), [10.15, 10.41667], "with gradients of 10 from before"),
        because="gradients are added to those that are there: the caller decides about zero_grad",
    )
    pieces = many_pieces()
    model, n_words, n_pairs = Table(pieces), 29, 19
    expected = whole(model, pieces)
    slopes = torch.autograd.grad(expected, [model.word, model.pair])
    because = "PyTorch's gradient of the batch as a whole; the third piece has no masked word, and "
    because += "a mean of nothing is nan"
    answer = check.call(model, pieces, n_words, n_pairs, because=because)
    for slope, weight in zip(slopes, (model.word, model.pair), strict=True):
        got = torch.zeros_like(slope) if weight.grad is None else weight.grad
        check.equals(
            got, slope, f"{check.shown((model, pieces, 29, 19))}: gradient", because=because
        )
    check.number(answer, expected.item(), "five pieces: what it returns", because=because)
    check.done("five pieces, one without a masked word, as PyTorch computes the whole batch")


@task(
    6,
    "in this order: zero_grad, gradients, clip, learning rate, step",
    "for group in optimizer.param_groups: group['lr'] = learning_rate",
)
def training_step(check: StepsCheck) -> None:
    """From gradients to one update of the weights."""
    pieces = two_pieces()
    model, optimizer, answer = _stepped(check, pieces, 0.1, 1.0)
    shown = f"{check.shown((model, optimizer, pieces, 0.1, 1.0))}, plain gradient descent"
    check.law(
        optimizer.taken == 1,
        f"{shown}\noptimizer.step() was called {optimizer.taken} times\n→ one step per batch, "
        "after all its pieces: only then is the gradient that of the batch",
    )
    check.equals(
        *(model.moved(), [0.015, 0.041667], f"{shown}: how much the weights decreased"),
        because="0.1 times the gradients 0.15 and 0.4167; together their norm is 0.44, so nothing "
        "is clipped",
    )
    check.number(
        *(answer, LOSS, f"{shown}: what it returns"),
        because="the loss of the batch, before the update",
    )
    model, optimizer, _ = _stepped(check, pieces, 0.1, 0.1)
    check.equals(
        *(model.moved(), [0.003387, 0.009409]),
        f"{check.shown((model, optimizer, pieces, 0.1, 0.1))}: how much the weights decreased",
        because="the norm of all gradients together, 0.4428, is scaled to 0.1: each of them times "
        "0.2258. nn.utils.clip_grad_norm_(model.parameters(), clip) does that",
        tolerance=1e-5,
    )
    check.done("one step; clipping")
    model = TwoWeights(pieces)
    optimizer = CountedSGD(model)
    check.call(model, optimizer, pieces, 0.0, 1.0)
    check.call(model, optimizer, pieces, 0.1, 1.0)
    check.equals(
        *(model.moved(), [0.015, 0.041667], "a step with rate 0, then one with 0.1"),
        because="the first step changes nothing, and the second one is as if it were the first",
    )
    nothing = [piece([], [1]), piece([], [0, 1])]
    model, _, answer = _stepped(check, nothing, 0.1, 1.0)
    check.law(
        bool(model.moved().isfinite().all()) and float(answer) == float(answer),
        "a batch without any masked word: nan\n→ divide by max(1, n_words)",
    )
    check.done("two steps; a batch without a masked word")


def _stepped(
    check: StepsCheck, pieces: list[Batch], rate: float, clip: float
) -> tuple[TwoWeights, CountedSGD, Any]:
    """A new model after one step, its optimizer, and what the function returned."""
    model: Any = TwoWeights(pieces)
    optimizer = CountedSGD(model)
    return model, optimizer, check.call(model, optimizer, pieces, rate, clip)


@task(
    7,
    "add up nats, right words, right pairs, words and pairs; divide at the end",
    "was = model.training; model.eval(); with torch.no_grad(): ...; model.train(was)",
)
def evaluate(check: StepsCheck) -> None:
    """How good a model is, every word and every pair with the same weight."""
    batches = two_pieces()
    model: Any = TwoWeights(batches).train()
    _evaluated(
        *(check, model, batches, (1.1321, 0.25, 1 / 3)),
        because=(
            "4.528 nats for 4 words",
            "one word of four is right: the highest logit is the guess",
            "one pair of three is right",
        ),
    )
    check.law(
        model.training,
        "the model was in training mode and no longer is\n→ leave it as it was: "
        "model.train(was), or the training continues without dropout",
    )
    off = not torch.is_grad_enabled()
    torch.set_grad_enabled(True)
    check.law(not off, "gradients stay off\n→ the block of `with torch.no_grad():` ends by itself")
    model.eval()
    check.call(model, batches)
    check.law(
        not model.training,
        "the model was in eval() and is in training mode now\n→ leave it as it was: remember "
        "model.training first",
    )
    check.done("two uneven batches, by hand; without dropout and gradients")
    batches = many_pieces()
    model = Table(batches).eval()
    with torch.no_grad():
        scores = [model.scores(piece) for piece in batches]
        words, pairs = torch.cat([p.words for p in batches]), torch.cat([p[5] for p in batches])
        logits = torch.cat([s.mlm_logits for s in scores])
        said = torch.cat([s.nsp_logits for s in scores]).argmax(dim=1)
        right = (logits.argmax(dim=1) == words).double().mean().item()
    gives = (F.cross_entropy(logits, words).item(), right, (said == pairs).double().mean().item())
    because = "five batches, one of which has no masked word: a mean of nothing is nan"
    _evaluated(check, model, Once(batches), gives, because=(because,) * 3)
    check.law(not model.training, "a model that was in eval() must still be in eval() afterwards")
    check.done("five batches, one without a masked word")


def _evaluated(
    check: StepsCheck, model: Probe, batches: Any, gives: Sequence[float], because: Sequence[str]
) -> None:
    """All three numbers of an evaluation."""
    answer = check.call(model, batches, because="batches may be read once, from first to last")
    shown = f"evaluate(model, {len(model.pieces)} batches)"
    check.law(
        isinstance(answer, tuple) and len(answer) == 3,
        f"{shown}\nit must return three numbers: loss and accuracy of the words, accuracy of the "
        f"pairs; it returned {short(answer)}",
    )
    calls = model.calls
    check.law(
        not any(call.training for call in calls),
        f"{shown}\nthe model is in training mode while it is evaluated\n→ model.eval() first: "
        "dropout would make it look worse, and different each time",
    )
    check.law(
        not any(call.with_gradients for call in calls),
        f"{shown}\ngradients are recorded, though an evaluation needs none\n→ with "
        "torch.no_grad():",
    )
    names = ("loss of the words", "accuracy of the words", "accuracy of the pairs")
    for name, number, right, reason in zip(names, answer, gives, because, strict=True):
        check.number(number, right, f"{shown}: {name}", because=reason)
