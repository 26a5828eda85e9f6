"""What `bench_pretraining` has measured, as rows of tables."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from statistics import mean, median
from typing import Any

from benchmarks.bench_model import difference
from benchmarks.flops import step_flops
from benchmarks.learner_contests import GOALS, SHARE, Contestant, config_of
from benchmarks.learners import Setting, Shape
from benchmarks.report import rows_to_table, times_as_fast
from benchmarks.report import spread as mean_and_spread
from benchmarks.turns import Turns


@dataclass(frozen=True)
class Race:
    """The turns of all contestants in one setting, ours first; none of who is not there."""

    setting: Setting
    contestants: list[Contestant]
    turns: list[Turns]
    limit: float  # floating-point operations per second, in a product of large matrices
    device: str = ""  # the name of the GPU, if it was one

    def rows(self) -> Iterator[list[str]]:
        """A row for each contestant; the first one holds what it is about."""
        ours = self.turns[0]
        for contestant, own in zip(self.contestants, self.turns, strict=True):
            yield [*self.what(contestant), contestant.name, *self.cells(contestant, own, ours)]

    def what(self, contestant: Contestant) -> list[str]:
        """The model, said once."""
        first = contestant is self.contestants[0]
        return [f"{self.setting.size}, {self.setting.words:,} words" if first else ""]

    def cells(self, contestant: Contestant, own: Turns, ours: Turns) -> list[str]:
        """What was measured of one contestant."""
        if not own:
            return [contestant.missing or "not installed", *[""] * 7]
        place = self.setting.size, self.setting.device
        share = median(flops(self.setting, answer) for answer in own) / self.limit
        cells = [
            spread([tokens_a_second(answer) for answer in own]),
            f"{1000 * median(seconds_a_step(answer) for answer in own):,.0f}",
            f"{median(padding(answer) for answer in own):.0%}",
            f"{median(drawing(answer) for answer in own):.1%}",
            f"{share:.0%}",
        ]
        if own is ours:
            return [*cells, "", verdict(share, SHARE.get(place), " of the limit"), ""]
        if not ours:
            return [*cells, "", "", ""]
        ratio = median(map(tokens_a_second, ours)) / median(map(tokens_a_second, own))
        goal = GOALS.get(place) if contestant.who == "theirs" else None
        return [*cells, times_as_fast(ratio), verdict(ratio, goal), self.same(contestant, own)]

    def same(self, contestant: Contestant, own: Turns) -> str:
        """Both losses before the first step; the book's model is another one."""
        return "another model" if contestant.who == "book" else difference(self.turns[0], own)


def verdict(ratio: float, goal: float | None, of: str = "") -> str:
    """The goal and whether it is met.

    >>> verdict(4.9, 5), verdict(0.5, 0.4, " of the limit"), verdict(1, None)
    ('5: not met', '0.4 of the limit: met', '')
    """
    return "" if goal is None else f"{goal:g}{of}: {'met' if ratio >= goal else 'not met'}"


def spread(numbers: list[float]) -> str:
    """The median, and from which to which it went.

    >>> spread([1000, 3000, 2000])
    '2,000 (1,000–3,000)'
    """
    return f"{median(numbers):,.0f} ({min(numbers):,.0f}–{max(numbers):,.0f})"


def shapes(answer: dict[str, Any]) -> list[Shape]:
    """The batches of a turn."""
    return [Shape(*shape) for shape in answer["shapes"]]


def tokens_a_second(answer: dict[str, Any]) -> float:
    """Padding does not count."""
    return sum(shape.tokens for shape in shapes(answer)) / answer["seconds"][0]


def seconds_a_step(answer: dict[str, Any]) -> float:
    """The batch included."""
    return answer["seconds"][0] / len(answer["shapes"])


def padding(answer: dict[str, Any]) -> float:
    """The share of what goes through the model that is padding."""
    positions = sum(shape.sequences * shape.length for shape in shapes(answer))
    return 1 - sum(shape.tokens for shape in shapes(answer)) / positions


def drawing(answer: dict[str, Any]) -> float:
    """The share of the time in which batches were made."""
    return answer["drawing"] / answer["seconds"][0]


def flops(setting: Setting, answer: dict[str, Any]) -> float:
    """Floating-point operations per second in the matrix products, padding and all."""
    config = config_of(setting)
    done = (step_flops(config, s.sequences, s.length, s.predicted) for s in shapes(answer))
    return sum(done) / answer["seconds"][0]


def speed_table(races: Iterable[Race]) -> str:
    """Tokens per second."""
    head = [
        "model",
        "who",
        "tokens per second",
        "milliseconds per step",
        "padding",
        "making batches",
    ]
    head += ["of the limit", "we are times as fast", "goal", "losses before"]
    races = list(races)
    device = f", on {races[0].device}" if races[0].device else ""
    rows = (row for race in races for row in race.rows())
    return rows_to_table(f"Training, data included{device}", head, rows)


@dataclass(frozen=True)
class Lesson:
    """What a contestant has learned in the time that all had.

    tried: the loss on held-out text with each learning rate, after a part of the time; answers: one
    for each seed.
    """

    contestant: Contestant
    tried: dict[float, float]
    rate: float
    answers: Turns

    def all(self, score: str) -> list[float]:
        """A score on held-out text, seed by seed."""
        return [answer["found"][score] for answer in self.answers]

    @property
    def loss(self) -> float:
        """Nats a masked word, the mean over the seeds."""
        return mean(self.all("mlm_loss"))

    def cells(self, ours: "Lesson") -> list[str]:
        """A row of the table."""
        return [
            self.contestant.name,
            f"{median(answer['steps'] for answer in self.answers):,.0f}",
            f"{median(answer['tokens'] for answer in self.answers):,.0f}",
            mean_and_spread(self.all("mlm_loss")),
            f"{mean(self.all('mlm_accuracy')):.1%}",
            f"{mean(self.all('nsp_accuracy')):.1%}",
            ", ".join(f"{loss:.3f} at {rate:g}" for rate, loss in self.tried.items()),
            "" if self.contestant.who == "ours" else "met" if ours.loss < self.loss else "not met",
        ]


def learning_table(title: str, lessons: list[Lesson]) -> str:
    """How well everybody guesses after the same time; our plain start comes first."""
    head = ["who", "steps", "tokens read", "held-out loss of masked words", "guessed right"]
    head += ["next sentences right", "losses of the trials, at learning rate", "goal: ours lower"]
    return rows_to_table(title, head, (lesson.cells(lessons[0]) for lesson in lessons))
