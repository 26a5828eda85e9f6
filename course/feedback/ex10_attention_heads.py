"""Checks of exercise 10, attention heads: one per task."""

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from functools import reduce
from typing import Any, NoReturn

import torch
from torch import Tensor, nn

from course.feedback.checks import Check, checks_of
from course.feedback.differences import short
from course.feedback.mutants import MutationCheck
from course.feedback.tensors import TensorCheck, global_generators, normal, same, written

# `check.progress()` shows how far you are, `@task` declares a check.
progress, task = checks_of("ex10_attention_heads")

OWN_CODE = (
    "uses bertlab's own code. That code contains the answer to this task, so it cannot be the "
    "answer: write the steps yourself, with PyTorch"
)


class PatternCheck(TensorCheck):
    """A check of a measure of attention, [..., L, L]."""

    refused = OWN_CODE

    def layers(self, one: Tensor, *others: Any) -> None:
        """Two layers of three heads at once must give the same as each alone."""
        attention = one.expand(2, 3, *one.shape).clone()
        attention[1, 2] = one.flip(-1)
        alone = [[self.call(head, *others) for head in layer] for layer in attention]
        gives = torch.stack([torch.stack(layer) for layer in alone])
        self.example(
            *(attention, *others),
            gives=gives,
            because=f"{LEADING}. Here are 2 layers of 3 heads: {list(gives.shape)}",
        )


def attention(length: int, *leading: int, seed: int = 0) -> Tensor:
    """Random attention [..., L, L] in 64 bits, for long inputs."""
    scores = normal(*leading, length, length, seed=seed, dtype=torch.float64)
    return (2 * scores).softmax(dim=-1)


LEADING = (
    "any number of dimensions may come before [L, L], such as layers and heads: count from the "
    "end, queries are dim=-2, keys are dim=-1"
)
ENTROPY = torch.tensor(
    [[0.5, 0.5, 0, 0], [0, 1, 0, 0], [0.25, 0.25, 0.25, 0.25], [0.5, 0.25, 0.25, 0]]
)
NEIGHBOURS = torch.tensor(
    [[0.1, 0.2, 0.3, 0.4], [0.5, 0.1, 0.2, 0.2], [0.2, 0.6, 0.1, 0.1], [0.3, 0.1, 0.4, 0.2]]
)


@task(
    1,
    "one number for each query: the sum of -p log p over its keys, dim=-1",
    "0 times -inf is nan, so a plain p * p.log() fails where p is 0",
    "torch.xlogy(p, p) is p log p, and 0 where p is 0",
)
def attention_entropy(check: PatternCheck) -> None:
    """How spread out each row is."""
    right = torch.tensor([0.6931, 0, 1.3863, 1.0397])
    check.example(
        ENTROPY,
        gives=right,
        because="two halves: log 2; one key: 0; four quarters: log 4; 0.5, 0.25, 0.25: 1.0397. "
        "A key with p = 0 adds nothing",
    )
    check.layers(ENTROPY)
    check.done("four rows, by hand; 2 layers of 3 heads")
    check.example(
        torch.full((1, 400, 400), 1 / 400),
        gives=torch.full((1, 400), 5.9915),
        because="400 keys that get the same attention: log 400",
    )
    check.example(
        torch.eye(300).flip(0),
        gives=torch.zeros(300),
        because="all on one key: nothing is spread, the entropy is 0",
    )
    many = attention(130, 4)
    many = torch.where(many < 1e-3, 0, many)
    many /= many.sum(dim=-1, keepdim=True)
    surprise = torch.where(many > 0, many, 1).log().neg()
    check.example(
        many,
        gives=torch.einsum("hqk,hqk->hq", many, surprise),
        because="4 heads, 130 tokens, in 64 bits",
    )
    check.done("uniform, one key, 130 tokens")


@task(
    2,
    "offset -1: the queries 1, 2, ..., L - 1 have a previous token, query 0 has none",
    "the probabilities of query i at key i + offset lie on a diagonal of the matrix",
    "attention.diagonal(offset, dim1=-2, dim2=-1) is that diagonal, [..., L - |offset|]",
)
def attention_to_offset(check: PatternCheck) -> None:
    """The attention to the previous token, to the next, and so on."""
    check.example(
        *(NEIGHBOURS, -1),
        gives=0.5,
        because="query 1 gives 0.5 to key 0, query 2 gives 0.6 to key 1, query 3 gives 0.4 to key "
        "2; query 0 has no previous token",
    )
    check.example(
        *(NEIGHBOURS, 1),
        gives=0.1667,
        because="query 0 gives 0.2 to key 1, query 1 gives 0.2 to key 2, query 2 0.1 to key 3",
    )
    for offset, gives, because in (
        (2, 0.25, "offset 2: query 0 gives 0.3 to key 2, query 1 gives 0.2 to key 3"),
        (0, 0.125, "offset 0: every query and itself, 0.1, 0.1, 0.1, 0.2"),
        (-3, 0.3, "offset -3: only query 3 has such a key, and gives it 0.3"),
    ):
        check.example(*(NEIGHBOURS, offset), gives=gives, because=because)
    check.done("the previous, the next and others, by hand")
    for offset in (4, -4, 9):
        check.raises(
            ValueError,
            *(NEIGHBOURS, offset),
            because="in a text of 4 tokens no query has such a key: there is nothing to measure, "
            "and 0 or nan would be taken for a result",
        )
    check.layers(NEIGHBOURS, -1)
    long = torch.eye(257, dtype=torch.float64).roll(2, dims=0)
    long[:2] = 1 / 257
    check.example(
        *(long.expand(5, 257, 257), -2),
        gives=torch.ones(5, dtype=torch.float64),
        because="257 tokens, and each but the first two attends only to the one two before it: 1",
    )
    check.done("no such key; 2 layers of 3 heads; 257 tokens")


WORDS = torch.tensor(
    [
        [0.1, 0.15, 0.35, 0.25, 0.15],
        [0.2, 0.2, 0.2, 0.2, 0.2],
        [0.32, 0.12, 0.2, 0.26, 0.1],
        [0.15, 0.28, 0.24, 0.23, 0.1],
        [0.05, 0.3, 0.1, 0.16, 0.39],
    ]
)


@task(
    3,
    "[L, L], row = query i, column = key k: is ids[k - 1] the word ids[i]?",
    "two more conditions: k is at least 1, and k is smaller than i",
    "with place = torch.arange(L): (place > 0) & (place < place[:, None]); sum over keys, "
    "then the mean over the queries that have any",
)
def attention_after_same_word(check: PatternCheck) -> None:
    """The attention to tokens right after earlier occurrences of the same word."""
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


class RolloutCheck(TensorCheck):
    """A check of all layers together."""

    refused = OWN_CODE

    def shown(self, arguments: tuple) -> str:
        """The call as a student would write it."""
        layers = arguments[0]
        if layers[0].numel() <= 8:
            return f"{self.name}([{', '.join(map(written, layers))}])"
        return f"{self.name}({len(layers)} layers of {list(layers[0].shape)})"


@task(
    4,
    "try the draft with two layers that differ, and with two heads that differ",
    "one layer: the mean over its heads, [L, L]; then 0.5 A + 0.5 I, with torch.eye(L)",
    "two layers: row i of the upper one has the weights of the lower one's vectors, so the "
    "upper one is on the left: upper @ lower",
    "start with rollout = torch.eye(L), and for each layer: rollout = mixed @ rollout",
)
def attention_rollout(check: RolloutCheck) -> None:
    """From the last layer back to the words."""
    lower = torch.tensor([[[1.0, 0], [0.2, 0.8]], [[0, 1], [0.4, 0.6]]])
    upper = torch.tensor([[[1.0, 0], [0.6, 0.4]], [[1, 0], [1, 0]]])
    one = [[0.75, 0.25], [0.15, 0.85]]
    check.example(
        [lower],
        gives=one,
        because="one layer: the mean of its heads is [[0.5, 0.5], [0.3, 0.7]], and half of that "
        "with half of the identity is [[0.75, 0.25], [0.15, 0.85]]",
    )
    check.example(
        [lower, upper],
        gives=[[0.75, 0.25], [0.39, 0.61]],
        because="the lower layer is [[0.75, 0.25], [0.15, 0.85]], the upper one [[1, 0], [0.4, "
        "0.6]]. Token 1 at the top takes 0.4 of token 0, of which 0.75 is word 0, and 0.6 of token "
        "1, of which 0.15 is: 0.3 + 0.09",
    )
    check.done("one layer and two, by hand")
    three = [attention(3, 2, seed=seed).float() for seed in range(3)]
    first = torch.eye(3)[[1, 2, 0]].expand(2, 3, 3)
    check.example(
        (first, first, first),
        gives=[[0.25, 0.375, 0.375], [0.375, 0.25, 0.375], [0.375, 0.375, 0.25]],
        because="three layers, in a tuple, whose heads all look at the next of three tokens: each "
        "path stays or steps, (0.5 + 0.5 step)³ has 1, 3, 3, 1 eighths",
    )
    # Rows that sum to 1, and a deep model.
    answer = check.call(three)
    shown = check.shown((three,))
    check.law(isinstance(answer, Tensor), f"{shown}\nit must return a tensor; got {short(answer)}")
    check.rows_sum_to_one(answer, shown)
    deep = [attention(150, 12, seed=layer).float() for layer in range(24)]
    mixed = [(layer.mean(dim=0) + torch.eye(150)) / 2 for layer in deep]
    check.example(
        deep,
        gives=reduce(lambda below, above: torch.einsum("ij,jk->ik", above, below), mixed),
        because="24 layers of 12 heads, 150 tokens",
    )
    check.rows_sum_to_one(check.call(deep), check.shown((deep,)))
    check.done("three layers; 24 layers of 12 heads, rows that sum to 1")


def _draft(attentions: Sequence[Tensor]) -> Tensor:
    """As in the notebook: the maximum of the heads, and layers from the wrong side."""
    rollout = torch.eye(attentions[0].shape[-1])
    for heads in attentions:
        rollout = rollout @ (heads.amax(dim=0) + torch.eye(len(rollout)))
    return rollout / rollout.sum(dim=-1, keepdim=True)


def _mixed(heads: Tensor) -> Tensor:
    return (heads.mean(dim=0) + torch.eye(heads.shape[-1])) / 2


def _wrong_side(attentions: Sequence[Tensor]) -> Tensor:
    """Wrong: the upper layer is on the right."""
    return reduce(torch.matmul, map(_mixed, attentions))


def _without_residual(attentions: Sequence[Tensor]) -> Tensor:
    """Wrong: without the residual connection."""
    return reduce(lambda below, above: above @ below, [heads.mean(dim=0) for heads in attentions])


@task(
    5,
    "two layers of two heads, all four different, and their rollout worked out by hand",
    "one layer, two layers, three in a tuple: compare by torch.allclose",
)
def examine_rollout(check: MutationCheck, own: Callable) -> None:
    """A test of `attention_rollout`, tried on the student's own and on three wrong ones."""
    check.passes(own, "attention_rollout", 4, [torch.ones(1, 1, 1)])
    check.stops(_draft, "the draft", "which call shows what you have repaired?")
    check.stops(
        _wrong_side,
        "a function that multiplies from the wrong side",
        "two layers that differ show which one is on the left",
    )
    check.stops(
        _without_residual,
        "a function without the residual connection",
        "half of each vector comes from its own place",
    )
    check.done("your own attention_rollout passes, three wrong ones do not")


class ToyLoss:
    """A loss that depends on a model's output matrices; both are copied together.

    values: factors of the matrices, one [D] per layer, or None for the plain sum of all weights;
    fails_at: the call that raises an error instead, counted from 1.
    """

    def __init__(
        self,
        outputs: Sequence[Tensor],
        values: Sequence[Tensor] | Tensor | None = None,
        fails_at: int | None = None,
    ) -> None:
        self.outputs, self.values, self.fails_at, self.calls = outputs, values, fails_at, 0

    def __call__(self) -> float:
        """The loss, as a number."""
        self.calls += 1
        if self.calls == self.fails_at:
            raise MemoryError("no memory left for this batch")
        if self.values is None:
            return sum(float(weight.detach().sum()) for weight in self.outputs)
        total = torch.zeros(len(self.values[0]))
        for weight, value in zip(self.outputs, self.values, strict=True):
            # Layers are combined in a product, so that heads zeroed at the same time interact.
            total = torch.tanh(total + weight.detach() @ (value + total))
        return float(((total - 1) ** 2).mean())

    def __eq__(self, other: object) -> bool:
        """Whether both have the same numbers; the number of calls does not matter."""
        return isinstance(other, ToyLoss) and same(list(self.outputs), list(other.outputs))

    def __repr__(self) -> str:
        return "loss"


class AblationCheck(TensorCheck):
    """A check of a function that changes a model's weights and restores them."""

    refused = OWN_CODE
    changed = (
        "afterwards every weight must be what it was, bit for bit. `kept = weight[:, a:b]` is a "
        "view, which changes with the weights; `kept = weight[:, a:b].clone()` is a copy, to be "
        "written back after each head"
    )

    def restored_after_error(self, outputs: list[nn.Parameter], n_heads: int) -> None:
        """The weights must be restored even if the loss raises an error."""
        given = [nn.Parameter(weight.detach().clone()) for weight in outputs]
        _, error = self._run((given, n_heads, ToyLoss(given, fails_at=4)), "")
        shown = f"{self.shown((outputs, n_heads, 'loss'))}, where the 4th call of loss() fails"
        self.law(
            isinstance(error, MemoryError),
            f"{shown}\nthe error of loss() must reach the caller: finally, not except",
        )
        self.law(
            same(given, outputs),
            f"{shown}\nthe weights are left without a head. The model stays broken if a long run "
            "is stopped: try: ... finally: restores them in any case",
        )

    def fail(self, message: str, because: str = "") -> NoReturn:
        """As in `Check`, with its own words for a common error of PyTorch."""
        if "used in an in-place operation" in message:
            because = "PyTorch assumes that you train: use `with torch.no_grad():`"
        super().fail(message, because)

    def shown(self, arguments: tuple) -> str:
        """The call as a student would write it."""
        outputs, n_heads, loss = arguments
        if len(outputs) == 1 and outputs[0].numel() <= 16:
            rows = [[round(x, 2) for x in row] for row in outputs[0].tolist()]
            return f"{self.name}([{rows}], {n_heads}, {loss})"
        layers = f"{len(outputs)} matrices {list(outputs[0].shape)}"
        return f"{self.name}({layers}, {n_heads}, {loss})"


@task(
    6,
    "first call loss() with all heads; then for each head: set its columns to 0, call "
    "loss(), and restore the columns",
    "head h's columns are weight[:, h * d : (h + 1) * d], with d = D // n_heads",
    "with torch.no_grad(): kept = columns.clone(); columns.zero_(); ...; "
    "columns.copy_(kept), where columns is weight[:, h * d : (h + 1) * d]",
)
def ablate_each_head(check: AblationCheck) -> None:
    """How much the loss rises without each head."""
    _by_hand(check)
    outputs, values = _model(3, 12, seed=1)
    for n_heads in (1, 3, 4, 12):
        check.example(
            *(outputs, n_heads, ToyLoss(outputs, values)),
            gives=_one_at_a_time(outputs, values, n_heads),
            because=f"3 layers, {n_heads} heads, and a loss in which layers interact: silence one "
            "head at a time, and keep all others",
        )
    check.restored_after_error(outputs, 3)
    check.done("3 layers of 1, 3, 4 and 12 heads; a loss that fails")
    outputs, values = _model(12, 96, seed=2)
    check.example(
        *(outputs, 12, ToyLoss(outputs, values)),
        gives=_one_at_a_time(outputs, values, 12),
        because="12 layers of 12 heads",
    )
    check.done("12 layers of 12 heads")


def _by_hand(check: AblationCheck) -> None:
    """One layer of two heads, and a loss that is the sum of all weights."""
    weight = torch.tensor([[1.0, 2, 3, 4], [5, 6, 7, 8], [0, 1, 0, 2], [1, 1, 1, 2]])
    outputs = [nn.Parameter(weight)]
    check.example(
        *(outputs, 2, ToyLoss(outputs)),
        gives=[[-17.0, -27.0]],
        because="loss() is the sum of all weights here, 44. Without the columns 0 and 1 it is 27, "
        "without the columns 2 and 3 it is 17",
    )
    check.done("one layer of two heads, by hand")


def _model(n_layers: int, size: int, seed: int) -> tuple[list[nn.Parameter], Tensor]:
    """Output matrices [D, D], and the heads' values, [n_layers, D]."""
    weights = normal(n_layers, size, size, seed=seed) / size**0.5
    return [nn.Parameter(weight.clone()) for weight in weights], normal(n_layers, size, seed=9)


def _one_at_a_time(outputs: Sequence[Tensor], values: Tensor, n_heads: int) -> Any:
    """The changes, from models without the head."""
    before = ToyLoss(outputs, values)()
    size = outputs[0].shape[1] // n_heads
    changes = torch.empty(len(outputs), n_heads)
    for layer, weight in enumerate(outputs):
        for head in range(n_heads):
            speaks = torch.arange(weight.shape[1]) // size != head
            without = [*outputs[:layer], weight.detach() * speaks, *outputs[layer + 1 :]]
            changes[layer, head] = ToyLoss(without, values)() - before
    return changes


@task(8, 'write `return` and a head, such as "2.0"')
def predict_head(check: Check) -> None:
    """One of the heads, of the student's choice."""
    answer = check.call()
    heads = [f"{layer}.{head}" for layer in range(4) for head in range(4)]
    check.law(answer in heads, f'it must be a head from "0.0" to "3.3"; it returned {answer!r}')
    check.done(f"you predict {answer}; now measure")


class LotsCheck(Check):
    """A check of random labels: by laws, since the labels cannot be predicted."""

    refused = OWN_CODE

    def drawn(self, words: Sequence[str], labels: Sequence[Hashable], seed: int) -> list[Hashable]:
        """An answer of the right form, from existing labels, with one label per word."""
        before = global_generators()
        answer = self.call(words, labels, seed)
        shown = self.shown((words, labels, seed))
        self.law(
            isinstance(answer, list),
            f"{shown}\nit must return a list with a label for each of the {len(words)} words; it "
            f"returned {short(answer)}"
            + ("\n→ is there a `return` at the end?" * (answer is None)),
        )
        types = len(dict.fromkeys(words))
        self.law(
            len(answer) == len(words),
            f"{shown}\nexpected {len(words)} labels, got {len(answer)}"
            + "\n→ a label for each place in `words`, not for each word type"
            * (len(answer) == types),
        )
        strange = [label for label in answer if label not in set(labels)]
        self.law(
            not strange,
            f"{shown}\n{short(strange[:1])} is not one of the labels\n→ draw from `labels` itself",
        )
        self.law(
            before == global_generators(),
            f"{shown}\nchanged the global random numbers, and with them what other code draws: "
            "make your own generator, random.Random(seed) or np.random.default_rng(seed)",
        )
        labels_of: dict[str, set] = {}
        for word, label in zip(words, answer, strict=True):
            labels_of.setdefault(word, set()).add(label)
        torn = next((word for word, found in labels_of.items() if len(found) > 1), None)
        self.law(
            torn is None,
            f"{shown}\n{torn!r} gets more than one label\n→ one draw for each word type, kept in a "
            "dict: the same word has the same label wherever it occurs",
        )
        return answer


class Tonight(str):
    """A word that sets order differently from a `Tomorrow`, as in two sessions of Python."""

    __slots__ = ()

    def __hash__(self) -> int:
        return hash(("tonight", str(self)))


class Tomorrow(str):
    """See `Tonight`."""

    __slots__ = ()

    def __hash__(self) -> int:
        return hash(("tomorrow", str(self)))


@task(
    7,
    "dict.fromkeys(words) holds every word type once, in the order of the text",
    "random.Random(seed).choice(labels) draws each label as often as it occurs in `labels`",
    "label_of = {word: ... for word in dict.fromkeys(words)}, then look every word up",
)
def control_labels(check: LotsCheck) -> None:
    """Random labels, the same for the same word."""
    words = ["the", "dog", "saw", "the", "cat", "the", "cat", "ran"]
    labels = ["DET", "NOUN", "VERB", "DET", "NOUN", "DET", "NOUN", "VERB"]
    results = [check.drawn(words, labels, seed) for seed in range(40)]
    check.law(
        check.drawn(words, labels, 3) == results[3],
        "the same seed gives other labels at the second call: draw with a generator that you make "
        "from `seed`, random.Random(seed) or np.random.default_rng(seed)",
    )
    check.law(
        len(set(map(tuple, results))) > 20,
        f"40 seeds give only {len(set(map(tuple, results)))} different results: is `seed` used, "
        "and are labels drawn at random?",
    )
    check.done("8 words with 40 seeds")
    # Labels have the frequencies of the real task, but are independent of it.
    types = [f"word{number}" for number in range(2000)]
    words = [word for number, word in enumerate(types) for _ in range(1 + number % 3)]
    labels = ["NOUN" if int(word[4:]) % 10 < 7 else "VERB" for word in words]
    label_of = dict(zip(words, check.drawn(words, labels, 11), strict=True))
    nouns = Counter(label_of.values())["NOUN"] / 2000
    shown = f"2,000 words, 70 % of their labels are NOUN: {nouns:.0%} of the drawn ones are"
    check.law(
        abs(nouns - 0.5) > 0.05,
        f"{shown}\n→ draw from `labels` as it is, with its repetitions: a set, or a Counter's "
        "keys, has every label once",
    )
    agree = sum(label_of[word] == label for word, label in zip(words, labels, strict=True))
    check.law(
        agree < 0.9 * len(words),
        "the labels are the real ones, or nearly: the control task must not depend on them",
    )
    check.law(0.65 < nouns < 0.75, f"{shown}\n→ labels must have the frequencies of the real task")
    check.law(
        0.53 < agree / len(words) < 0.63,
        f"{agree / len(words):.0%} of the drawn labels are the real ones; by chance it would be 58 "
        "%, 0.7² + 0.3²: the draw must not look at a word's own label",
    )
    check.done("2,000 words")
    # Python orders a set of strings at random in every session; results must not depend on it.
    names = [f"word{number}" for number in range(300)]
    numbers = list(range(300))
    one, other = (
        check.drawn([kind(name) for name in names], numbers, 5) for kind in (Tonight, Tomorrow)
    )
    check.law(
        one == other,
        "the same words and seed give other labels when a set of them is in another order, as it "
        "is in every new session of Python: dict.fromkeys(words) keeps the order, set(words) does "
        "not",
    )
    check.done("the same in every session")
