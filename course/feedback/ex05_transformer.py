"""Checks of exercise 5, the Transformer: training, decoding, two scores, an ablation."""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from bertlab.model.transformer import Transformer, TransformerConfig
from course.feedback.checks import REFUSED, Check, checks_of
from course.feedback.differences import a, short
from course.feedback.mutants import MutationCheck
from course.feedback.tensors import NumberCheck, TensorCheck, normal

# `check.progress()` shows how far you are, `@task` declares a check.
progress, task = checks_of("ex05_transformer")


class PlainNumberCheck(NumberCheck):
    """A check of a number, by plain Python."""

    refused = REFUSED


@task(1, "two curves: which one is lower before the warm-up ends?", "x**-0.5")
def warmup_rate(check: PlainNumberCheck) -> None:
    """A linear rise, then a fall with the square root."""
    check.example(  # not the statement's, in which several mistakes give 0.125
        *(2, 16, 9), gives=0.018519, because="1/4 times the smaller of 0.707 and 2 * 1/27"
    )
    check.example(1, 4, 4, gives=0.0625, because="1/2 times the smaller of 1 and 1 * 1/8")
    check.example(4, 4, 4, gives=0.25, because="the top, where both curves meet")
    check.example(16, 4, 4, gives=0.125, because="four times as many steps, half the rate")
    check.done("on the way up, at the top, on the way down")


class MaskCheck(TensorCheck):
    """A check of three masks; the rows of padding are not checked."""

    def masks(self, source: list, target: list, gives: tuple, because: str) -> None:
        """A batch, and the right one of each of the three masks."""
        ids = torch.tensor(source), torch.tensor(target)
        answer, shown = self.call(*ids, because=because), self.shown(ids)
        self.law(
            isinstance(answer, tuple)
            and len(answer) == 3
            and all(isinstance(mask, Tensor) for mask in answer),
            f"{shown}\nit must return three tensors: encoder, decoder, cross",
        )
        parts = zip(("encoder", "decoder", "cross"), answer, gives, strict=True)
        for number, (name, mask, wanted) in enumerate(parts):
            wanted = torch.tensor(wanted, dtype=torch.bool)
            place = f"{shown}, the {name} mask"
            if mask.shape == wanted.shape and mask.dtype == torch.bool:
                tokens = ids[number > 0] > 0  # the rows that count
                mask, wanted = mask & tokens[..., None], wanted & tokens[..., None]
            self.equals(mask, wanted, place, because=because)


@task(
    2,
    "which tokens belong to the same pair: source[:, :, None] == source[:, None, :]",
    "only the decoder's own mask hides what comes later; that one is a triangle as well",
)
def packed_masks(check: MaskCheck) -> None:
    """The attention masks if a row has several pairs."""
    check.masks(
        [[1, 1, 2, 0]],
        [[1, 2, 2]],
        (
            [[[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0]]],
            [[[1, 0, 0], [0, 1, 0], [0, 1, 1]]],
            [[[1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 1, 0]]],
        ),
        "as in the statement",
    )
    check.masks(
        [[1, 0], [1, 1]],
        [[1, 1, 1], [1, 0, 0]],
        (
            [[[1, 0], [0, 0]], [[1, 1], [1, 1]]],
            [[[1, 0, 0], [1, 1, 0], [1, 1, 1]], [[1, 0, 0], [0, 0, 0], [0, 0, 0]]],
            [[[1, 0], [1, 0], [1, 0]], [[1, 1], [0, 0], [0, 0]]],
        ),
        "two rows with a single pair each, padded: no token sees padding",
    )
    check.done("two pairs in a row, two rows, padding")


class LossCheck(TensorCheck):
    """A check of a loss for which PyTorch's own would need other targets."""

    ready_made = ()


# Probabilities of <pad>, 1, 2, 3 and 4; their logarithms are logits.
SHARES = torch.tensor([0.1, 0.5, 0.2, 0.1, 0.1])
OTHERS = torch.tensor([0.1, 0.2, 0.2, 0.2, 0.3])


@task(
    3,
    "try the draft on two texts of different lengths, and on unequal probabilities",
    "V - 2 symbols share the smoothing: not <pad>, not the right one",
    "the sum over the targets without padding, divided by their number, over the whole batch",
)
def smoothed_loss(check: LossCheck) -> None:
    """Cross-entropy with label smoothing, without <pad> as target or answer."""
    one = SHARES.log()[None, None]
    check.example(
        one,
        torch.tensor([[1]]),
        0.3,
        gives=1.1070,
        because="as in the statement: 0.7 for the right one, 0.1 for each of the three others",
    )
    two = torch.stack([torch.stack([SHARES, SHARES, SHARES]), torch.stack([OTHERS] * 3)]).log()
    check.example(
        two,
        torch.tensor([[1, 2, 1], [4, 0, 0]]),
        0.0,
        gives=1.0499,
        because="four targets count: (0.693 + 1.609 + 0.693 + 1.204) / 4",
    )
    check.example(
        two + torch.tensor([[[3.0], [-1.0], [0.0]], [[9.0], [0.5], [2.0]]]),
        torch.tensor([[1, 2, 1], [4, 0, 0]]),
        0.0,
        gives=1.0499,
        because="logits: the same number added to all scores of a position changes nothing",
    )
    check.example(two, torch.zeros(2, 3, dtype=torch.long), 0.1, gives=0.0, because="no targets: 0")
    uneven = two[:, :2] + torch.linspace(0, 1, 20).view(2, 2, 5)
    check.gradients(uneven, torch.tensor([[1, 2], [3, 0]]), 0.1)
    check.done("smoothing, padding, texts of two lengths, no targets, gradients")


def draft(logits: Tensor, targets: Tensor, smoothing: float) -> Tensor:
    """As in the notebook: <pad> gets a share of the smoothing, and padding counts."""
    wanted = torch.full_like(logits, smoothing / (logits.shape[-1] - 1))
    wanted.scatter_(-1, targets[..., None], 1 - smoothing)
    return -(wanted * logits.log_softmax(dim=-1)).sum(dim=-1).mean()


def unsmoothed(logits: Tensor, targets: Tensor, _smoothing: float) -> Tensor:
    """Wrong: plain cross-entropy."""
    total = F.cross_entropy(logits.mT, targets, ignore_index=0, reduction="sum")
    return total / (targets != 0).sum().clamp(min=1)


def always_the_same_share(logits: Tensor, targets: Tensor, smoothing: float) -> Tensor:
    """Wrong: the lecture's rule, which gives <pad> and the right symbol a share."""
    asked = targets != 0
    if not asked.any():
        return logits.sum() * 0
    return F.cross_entropy(logits[asked], targets[asked], label_smoothing=smoothing)


@task(
    4,
    "unequal probabilities whose logarithms you use as logits: then you can work out the "
    "loss by hand",
    "two texts of different lengths; one batch without smoothing; one of only padding",
)
def examine_loss(check: MutationCheck, own: Callable) -> None:
    """A test of `smoothed_loss`, tried on the student's own and on three wrong ones."""
    check.passes(own, "smoothed_loss", 3, torch.zeros(1, 1, 4), torch.tensor([[1]]), 0.1)
    check.stops(draft, "the draft", "which call shows what you have repaired?")
    check.stops(
        unsmoothed,
        "a loss without any smoothing",
        "use a smoothing that is not 0, and work out the loss by hand",
    )
    check.stops(
        always_the_same_share,
        "the lecture's rule",
        "there <pad> and the right symbol get a share of the smoothing, too",
    )
    check.done("your own loss passes, three wrong ones do not")


END = "<end>"
AFTER = {
    (): {"a": 0.5, "b": 0.3, END: 0.2},
    ("a",): {"a": 0.3, "b": 0.6, END: 0.1},
    ("b",): {"a": 0.05, "b": 0.05, END: 0.9},
    ("a", "b"): {"a": 0.3, "b": 0.2, END: 0.5},
}


def step(text: tuple[str, ...]) -> dict[str, float]:
    """The log-probabilities of the next symbol, as in the notebook."""
    shares = AFTER.get(text, {"a": 0.1, "b": 0.1, END: 0.8})
    return {symbol: math.log(share) for symbol, share in shares.items()}


def sure(text: tuple[str, ...]) -> dict[str, float]:
    """Five letters, then the end."""
    last = len(text) == 5
    shares = {"a": 0.01 if last else 0.95, END: 0.98 if last else 0.04, "b": 0.01}
    return {symbol: math.log(share) for symbol, share in shares.items()}


class BeamCheck(Check):
    """A check whose first argument is a function."""

    def shown(self, arguments: tuple) -> str:
        """The call as a student would write it."""
        return f"{self.name}(step, {', '.join(map(str, arguments[1:]))})"


@task(
    5,
    "two lists: (log-probability, text) of those that are open, and of the finished ones",
    "extend every open text by every symbol; sort; then separate those that have ended",
    "at the end sort the finished ones by log-probability / ((5 + n) / 6)**alpha",
)
def beam(check: BeamCheck) -> None:
    """The best finished texts, which leave the beam."""

    def case(*arguments: Any, gives: list, because: str) -> None:
        texts = [tuple(text.split()) for text in gives]
        check.example(*arguments, gives=texts, because=because)

    case(
        *(step, 2, 3, 0.0), gives=["b <end>", "<end>"], because="as in the statement: 0.27 and 0.2"
    )
    case(
        *(sure, 3, 6, 0.0),
        gives=["a a a a a <end>", "<end>", "a <end>"],
        because="six rounds reach a text of six symbols",
    )
    case(
        *(step, 2, 3, 2.0),
        gives=["b <end>", "a b <end>"],
        because="scores: -1.309 / 1.361 = -0.962 and -1.897 / 1.778 = -1.067",
    )
    case(
        *(step, 2, 3, 0.5),
        gives=["b <end>", "<end>"],
        because="second: <end> has n = 1, -1.609 / 1; a b <end> has n = 3, -1.897 / 1.155 = -1.643",
    )
    case(
        *(step, 1, 3, 0.0),
        gives=["<end>"],
        because="0.2 for only <end>; a, then a b, take the beam's one place",
    )
    case(*(step, 1, 2, 0.0), gives=["<end>"], because="two rounds: a b is still open")
    case(*(sure, 1, 1, 0.6), gives=["<end>"], because="one round")
    check.done("texts that end at different steps, a length penalty, a beam of one")


@task(
    6,
    "Counter & Counter keeps the smaller count of each; .total() adds them up",
    "first the mean precision and the mean recall over n, then one F of the two",
    "5 * p * r / (4 * p + r), if p and r are not 0",
)
def chrf(check: PlainNumberCheck) -> None:
    """The F-score of character n-grams."""
    check.example(
        *("abc", "abcd", 2),
        gives=75.2212,
        because="precisions 3/3 and 2/2, recalls 3/4 and 2/3: means 1 and 0.7083",
    )
    check.example(
        *("aaaa", "ab", 1),
        gives=41.6667,
        because="a occurs once in the reference: 1 of 4 and 1 of 2",
    )
    check.example(*("a bc", "ab c", 3), gives=100.0, because="spaces are removed first")
    check.example(
        *("ab", "abc", 6),
        gives=63.6364,
        because="neither has four letters, and one has no three: only n = 1 and 2 count",
    )
    check.example("xyz", "abc", 2, gives=0.0, because="nothing in common")
    check.example("", "abc", 2, gives=0.0, because="nothing was written")
    check.example("Ab", "ab", 1, gives=50.0, because="a capital is a different letter")
    check.done("clipped counts, recall before precision, spaces, short and empty texts")


PARTS = ("positions", "encoder attention", "decoder attention", "cross-attention")
# A source and a target of two texts, and the same with other tokens in front.
SOURCE, OTHER_SOURCE = torch.tensor([[5, 6, 7], [8, 9, 5]]), torch.tensor([[4, 8, 7], [6, 4, 5]])
TARGET, OTHER_TARGET = torch.tensor([[1, 5, 9], [1, 7, 4]]), torch.tensor([[1, 8, 9], [1, 6, 4]])


class Model(Transformer):
    """A small Transformer without parameters at 0; a check passes it without a copy."""

    def __init__(self, n_layers: int = 2) -> None:
        super().__init__(TransformerConfig(10, 8, n_layers, 2, 16, max_length=6, dropout=0.0))
        generator = torch.Generator().manual_seed(5)
        with torch.no_grad():
            for parameter in self.parameters():
                parameter.add_(0.3 * torch.randn(parameter.shape, generator=generator))

    def __deepcopy__(self, memo: dict) -> "Model":
        return self

    def learn(self, but: set[str]) -> None:
        """Take a step with all parameters except these."""
        self.zero_grad()
        self(SOURCE, TARGET).logits.square().mean().backward()
        with torch.no_grad():
            for name, parameter in self.named_parameters():
                if name not in but and parameter.grad is not None:
                    parameter.sub_(0.1 * parameter.grad)


def trace_of(model: Transformer, part: str) -> Tensor:
    """How far the part's own inputs change the last position: 0 if the part adds nothing."""
    with torch.no_grad():
        if part == "positions":  # the source in another order: the same vectors in that order
            return model.encode(SOURCE)[:, 0] - model.encode(SOURCE.flip(1))[:, -1]
        if part == "encoder attention":
            return (model.encode(SOURCE) - model.encode(OTHER_SOURCE))[0, -1]
        memory = model.encode(SOURCE)
        other = (
            model.decode(TARGET, model.encode(OTHER_SOURCE))
            if part == "cross-attention"
            else model.decode(OTHER_TARGET, memory)
        )
        return (model.decode(TARGET, memory) - other)[:, -1]


STILL = {
    "positions": "a source in another order still gets other vectors",
    "encoder attention": "a source's last vector still depends on the tokens before it",
    "decoder attention": "what is written still depends on the token before the last",
    "cross-attention": "what is written still depends on the source",
}


class PartCheck(Check):
    """A check of a function that changes a model."""

    def shown(self, arguments: tuple) -> str:
        """The call as a student would write it."""
        return f"{self.name}(model, {arguments[1]!r})"

    def silent(self, part: str) -> None:
        """This part adds nothing, also after a step; the others have not changed."""
        before, model = Model(), Model()
        answer, shown = self.call(model, part), self.shown((model, part))
        self.law(
            isinstance(answer, set) and all(isinstance(name, str) for name in answer),
            f"{shown}\nit must return a set of names; it returned {short(answer)}, {a(answer)}",
        )
        names = dict(model.named_parameters())
        unknown = sorted(answer - names.keys())
        self.law(not unknown, f"{shown}\nthe model has no parameter named {unknown}")
        self.law(not trace_of(model, part).abs().max() > 1e-5, f"{shown}\n{STILL[part]}")
        changed = {
            name
            for name, was in before.named_parameters()
            if not torch.equal(was, names[name]) and not names[name].eq(0).all()
        }
        self.law(not changed, f"{shown}\nchanges {sorted(changed)}, and not to 0")
        for other in PARTS:
            if other != part:
                gone = not trace_of(model, other).abs().max() > 1e-5
                self.law(not gone, f"{shown}\nalso silences the {other}")
        zeros = {name for name, parameter in names.items() if parameter.eq(0).all()}
        model.learn(but=answer)
        if trace_of(model, part).abs().max() > 1e-5:
            self.fail(
                f"{shown}\nafter one step of training {STILL[part]}",
                "what you set to 0 has a gradient: return all of its names",
            )
        self.law(
            answer == zeros,
            f"{shown}\nreturn the names of what you set to 0, {len(zeros)} of them, and no others; "
            f"it returned {short(sorted(answer))}",
        )


@task(
    7,
    "what an attention adds is the result of its last linear map, `output`",
    "for name, parameter in model.named_parameters(): is '.cross_attention.output.' in the name?",
    "with torch.no_grad(): parameter.zero_()",
)
def silence(check: PartCheck) -> None:
    """A part that adds nothing, now and after training."""
    for part in PARTS:
        check.silent(part)
    check.done("four parts, before and after a step of training")


@task(
    8,
    "eight sums over all sentences, right and total for each n; the formula comes last",
    "Counter & Counter keeps the smaller counts; count each sentence by itself",
    "(right + 1) / (total + 1) for n = 2, 3, 4; min(1, math.exp(1 - r / c))",
)
def smoothed_bleu(check: NumberCheck) -> None:
    """BLEU of a corpus, with 1 added for n-grams of two and more words."""
    check.example(
        *(["the cat sat", "a dog"], ["the cat sat down", "the dog"]),
        gives=72.0575,
        because="4/5, 3/4, 2/2 and 1/1; c = 5 and r = 6",
    )
    check.example(
        ["Afficher la barre dans la barre latérale de gauche"],
        ["Afficher %1 dans la barre latérale de droite"],
        gives=53.0771,
        because="lecture 5b's sentence: 6/9, 5/9, 4/8 and 3/7, and no penalty",
    )
    check.example(
        *(["the the the the"], ["the cat"]),
        gives=31.9472,
        because="`the` occurs once in the reference: 1/4, 1/4, 1/3 and 1/2",
    )
    check.example(
        *(["a a", "b"], ["a", "a b"]),
        gives=75.9836,
        because="the second a of sentence 1 is not right: the other a is in another reference",
    )
    question = "to be or not to be that is the question"
    check.example(
        *([question], [question.removesuffix(" the question")]),
        gives=78.1671,
        because="a long translation gets no penalty, and no bonus: 8/10, 8/10, 7/9 and 6/8",
    )
    check.done("smoothing, clipped counts, lengths")
    check.example(["The"], ["the"], gives=0.0, because="no word is right")
    check.example([""], ["a b"], gives=0.0, because="nothing was written")
    check.example(
        *(["a b c d e", ""], ["a b c d", "b"]),
        gives=75.2121,
        because="an empty text has no words; its reference's word counts in r",
    )
    check.example(*_twelve_sentences(), gives=19.1035, because="as sacrebleu computes it")
    check.done("empty texts, twelve sentences")


def _twelve_sentences() -> tuple[list[str], list[str]]:
    """Translations of 4 to 15 words, and references of one word more."""
    each = range(1, 13)
    written = [" ".join("abcab"[i * k % 5] for i in range(k, 2 * k + 3)) for k in each]
    wanted = [
        " ".join("abcab"[(i * k + i % 4 // 3) % 5] for i in range(k, 2 * k + 4)) for k in each
    ]
    return written, wanted


@task(9, 'return "positions", "positions" is a pair')
def predict_parts(check: Check) -> None:
    """Two of the four parts, of the student's choice."""
    answer = check.call()
    check.law(
        isinstance(answer, tuple) and len(answer) == 2 and all(part in PARTS for part in answer),
        f"it must be two of {', '.join(PARTS)}; it returned {answer!r}",
    )
    check.done(f"you predict {answer[0]} and {answer[1]}; now measure")


class RotationCheck(TensorCheck):
    """A check of rotated queries or keys."""

    ready_made = ()


def angle_table(places: int, pairs: int) -> Tensor:
    """The usual angles of pairs at places: [places, pairs]."""
    return torch.arange(places)[:, None] / 10_000 ** (torch.arange(pairs) / pairs)


@task(
    10,
    "first the position of each new token, [B, L]; then angles[positions], "
    "[B, L, d_head / 2]; then a dimension for heads",
    "x[..., 0::2] and x[..., 1::2] are the two sides of all pairs; torch.stack(..., "
    "dim=-1).flatten(-2) puts them back next to each other",
)
def rotate_chunk(check: RotationCheck) -> None:
    """Queries or keys of new tokens, rotated by their positions."""
    quarter = math.pi / 2
    angles = torch.arange(3)[:, None] * torch.tensor([quarter, quarter / 3])
    tokens = torch.tensor([[[[1.0, 0, 2, 0], [1, 2, 0, 2]]]])
    check.example(
        *(tokens, angles, torch.tensor([1])),
        gives=[[[[0.0, 1, 3**0.5, 1], [-1, -2, -(3**0.5), 1]]]],
        because="as in the statement: positions 1 and 2, quarter turns and 30 degrees",
    )
    texts = torch.tensor([[[[1.0, 2]], [[3, 4]]], [[[5, 6]], [[7, 8]]]])
    check.example(
        *(texts, torch.arange(5)[:, None] * quarter / 3, torch.tensor([0, 3])),
        gives=[[[[1.0, 2]], [[3, 4]]], [[[-6, 5]], [[-8, 7]]]],
        because="two texts of two heads, one new token each: the first is at position 0, which "
        "rotates nothing, the second at position 3, a quarter turn",
    )
    check.done("positions of two texts, two pairs, two heads")
    usual, whole = angle_table(60, 8), normal(3, 2, 40, 16, seed=1)
    starts = torch.tensor([0, 20, 7])
    at_once = check.call(whole, usual, starts)
    later = check.call(whole[:, :, 25:], usual, starts + 25)
    check.equals(
        *(later, at_once[:, :, 25:], check.shown((whole[:, :, 25:], usual, starts + 25))),
        because="the last 15 of 40 tokens, as a later chunk: the same as with all 40 at once",
    )
    lengths = whole.norm(dim=-1)
    check.equals(
        *(at_once.norm(dim=-1), lengths, f"{check.shown((whole, usual, starts))}: its lengths"),
        because="a rotation does not change the length of a vector",
    )
    check.gradients(whole, usual, starts, constant=[2])  # the table may be read as numbers
    check.done("40 tokens at once and in two chunks, gradients")
