"""Training on real text, ours and others', side by side in one run.

    python -m benchmarks.bench_pretraining                  print the tables
    python -m benchmarks.bench_pretraining --quick          a trial
    python -m benchmarks.bench_pretraining --minutes 10     learn for longer
    python -m benchmarks.bench_pretraining --only learning  one half of it
    python -m benchmarks.bench_pretraining --device cuda    base size, on a GPU
    python -m benchmarks.bench_pretraining --write          fill in benchmarks/README.md

How many tokens per second go through the training step, and how well held-out words are guessed
after the same minutes. `learners.py` has the contestants; each turn is a new process.
"""

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import mean, median
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from benchmarks import turns
from benchmarks.bench_model import find_compiler, step_flops
from benchmarks.learners import Setting, Shape
from benchmarks.turns import Entry, Turns, verdict
from bertlab.data.prepared import prepare_corpus
from bertlab.model import BertConfig, BertForPreTraining, save_pretrained
from bertlab.training.start import STARTS

PACKAGES = ("torch", "transformers", "d2l")
TRIAL = 5  # a learning rate is tried for this part of the time
CORPUS = "books+wikipedia"
PUBLISHED = 30_522  # words of the published models
VOCABULARY = 8_000  # words of the tokenizer that is trained here
RATES = (3e-4, 1e-3, 3e-3)  # of which everybody gets the best
GOALS = {("tiny", "cpu"): 5.0, ("mini", "cpu"): 3.0, ("base", "cuda"): 3.0}
SHARE = {("base", "cuda"): 0.4}  # of the limit that our matrix products are to reach
STARTED = time.monotonic()


@dataclass(frozen=True)
class Contestant:
    """Who, and as what; options: of its learner; start: of its weights, if it takes ours."""

    who: str
    name: str
    package: str = "bertlab"
    start: str = "plain"
    options: dict[str, Any] = field(default_factory=dict)
    missing: str = ""  # why it cannot be measured here, if so

    def entry(self, job: str, plan: "Plan", setting: Setting, **options: Any) -> Entry:
        """With a job of `learners.py`."""
        setting = setting._replace(start=self.start)
        options |= {"who": self.who, "setting": setting._asdict(), **self.options}
        return Entry(self.name, job, options, self.package, plan.threads)


OURS = Contestant("ours", "ours")
THEIRS = Contestant("theirs", "transformers", "transformers")
BOOK = Contestant("book", "d2l", "d2l")
SHORT = {"short_first": 0.25}  # of the time, as `bertlab-mini` was trained
PLANTED = {"start": "neighbours"}
LEARNERS = (
    replace(OURS, name="ours, plain start"),
    replace(OURS, name="ours, plain start, short sequences first", options=SHORT),
    replace(OURS, name="ours, planted start", **PLANTED),
    replace(THEIRS, name="transformers, its own start", options={"own_start": True}),
    replace(THEIRS, name="transformers, our plain start"),
    replace(THEIRS, name="transformers, our planted start", **PLANTED),
    replace(BOOK, name="d2l, its own start"),
)


def contestants(device: str) -> list[Contestant]:
    """We come first; on a GPU with what it is good at, `transformers` as it comes."""
    if device == "cpu":
        return [OURS, THEIRS, BOOK]
    half = replace(OURS, name="ours, bfloat16", options={"precision": "bfloat16"})
    missing = "" if find_compiler() else "no C++ compiler"
    options = {**half.options, "compiled": True}
    best = replace(half, name="ours, bfloat16, compiled", options=options, missing=missing)
    return [best, half, THEIRS]


@dataclass(frozen=True)
class Plan:
    """How much is measured.

    sizes: of the models that are to be fast; words: of their vocabulary; sequences: in a batch;
    turns: of each contestant; seconds: of a turn; warm: steps before that; minutes: of learning,
    0 for none; learners: sizes of the models that learn; rates: that are tried; seeds: of each
    that learns; batches: of held-out text, None for all; threads: of a contestant.
    """

    sizes: tuple[str, ...] = ("tiny", "mini")
    words: tuple[int, ...] = (VOCABULARY, PUBLISHED)
    sequences: int = 32
    turns: int = 3
    seconds: float = 5
    warm: int = 1
    minutes: float = 2.5
    learners: tuple[str, ...] = ("tiny",)
    rates: tuple[float, ...] = RATES
    seeds: int = 3
    batches: int | None = None
    device: str = "cpu"
    threads: int = 2

    def setting(self, folder: str, size: str, words: int = VOCABULARY, **more: Any) -> Setting:
        """What all contestants share."""
        return Setting(folder, size, words, self.sequences, device=self.device, **more)

    def races(self, folder: str) -> list[Setting]:
        """What is measured for speed."""
        return [self.setting(folder, size, words) for size in self.sizes for words in self.words]

    def lessons(self, folder: str) -> list[Setting]:
        """What the learners begin with; nothing without time."""
        return [
            self.setting(folder, size, start=start, seed=seed)
            for size in (self.learners if self.minutes else ())
            for start in STARTS
            for seed in range(self.seeds)
        ]


QUICK = Plan(sizes=("tiny",), turns=1, seconds=2, minutes=0.1, rates=RATES[1:2], seeds=1, batches=2)
# On a GPU kernels are compiled for several lengths of a batch, before the clock starts.
GPU = Plan(("base",), (PUBLISHED,), sequences=256, seconds=20, warm=60, minutes=0, device="cuda")


def say(what: str) -> None:
    turns.note(f"{time.monotonic() - STARTED:6.0f} s  {what}")


def turn(entry: Entry) -> dict[str, Any]:
    say(f"  {entry.job}: {entry.name}")
    return turns.take("learners", entry)


def is_here(contestant: Contestant) -> bool:
    return not contestant.missing and Entry("", "", package=contestant.package).is_installed


def prepare(plan: Plan, folder: str) -> int:
    """Write tokenizer, token ids and initial weights into a folder; returns the training tokens."""
    say("writing the corpus")
    corpus = prepare_corpus(CORPUS, Path(folder) / "corpus", vocab_size=VOCABULARY, progress=False)
    for setting in plan.races(folder) + plan.lessons(folder):
        model = BertForPreTraining(config_of(setting))
        save_pretrained(STARTS[setting.start](model, setting.seed), setting.weights)
    if plan.device == "cpu" and is_here(BOOK):
        options = {"setting": plan.setting(folder, "")._asdict()}
        turn(Entry(BOOK.name, "write_examples", options, cores=plan.threads))
    return corpus.training.n_tokens


def config_of(setting: Setting) -> BertConfig:
    return getattr(BertConfig, setting.size)(vocab_size=setting.words)


class Race(NamedTuple):
    """The turns of all contestants in one setting, ours first; none of who is not there."""

    setting: Setting
    contestants: list[Contestant]
    turns: list[Turns]
    limit: float  # floating-point operations per second, in a product of large matrices
    device: str = ""  # the name of the GPU, if it was one


def race(setting: Setting, plan: Plan) -> Race:
    """Let all contestants train in turns."""
    say(f"speed: {setting.size}, {setting.words:,} words")
    who = contestants(setting.device)
    options = {"seconds": plan.seconds, "warm": plan.warm}
    entries = [c.entry("speed", plan, setting, **options) for c in who if not c.missing]
    entries.append(Entry("matrix product", "limit", {"device": setting.device}, cores=plan.threads))
    *taken, products = turns.take_turns(entries, plan.turns, turn)
    measured = iter(taken)
    taken = [[] if c.missing else next(measured) for c in who]
    limit = median(answer["flops"] for answer in products)
    return Race(setting, who, taken, limit, products[0]["device"])


def speed_table(races: list[Race]) -> str:
    """Tokens per second; a row for each contestant, the first one says what it is about."""
    head = ["model", "who", "tokens per second", "milliseconds per step", "padding"]
    head += ["making batches", "of the limit", "we are times as fast", "goal", "losses before"]
    device = f", on {races[0].device}" if races[0].device else ""
    rows = []
    for race in races:
        what = f"{race.setting.size}, {race.setting.words:,} words"
        for contestant, own in zip(race.contestants, race.turns, strict=True):
            rows.append([what, contestant.name, *speed_cells(race, contestant, own)])
            what = ""
    return turns.table(f"Training, data included{device}", head, rows)


def speed_cells(race: Race, contestant: Contestant, own: Turns) -> list[str]:
    """What was measured of one contestant."""
    if not own:
        return [contestant.missing or "not installed", *[""] * 7]
    place, ours = (race.setting.size, race.setting.device), race.turns[0]
    share = median(flops(race.setting, answer) for answer in own) / race.limit
    step = median(answer["seconds"][0] / len(answer["shapes"]) for answer in own)
    drawing = median(answer["drawing"] / answer["seconds"][0] for answer in own)
    cells = [
        turns.spread(map(tokens_a_second, own)),
        f"{1000 * step:,.0f}",
        f"{median(map(padding, own)):.0%}",
        f"{drawing:.1%}",
        f"{share:.0%}",
    ]
    if own is ours:
        return [*cells, "", verdict(share, SHARE.get(place), " of the limit"), ""]
    if not ours:
        return [*cells, "", "", ""]
    ratio = median(map(tokens_a_second, ours)) / median(map(tokens_a_second, own))
    goal = GOALS.get(place) if contestant.who == "theirs" else None
    same = "another model" if contestant.who == "book" else turns.difference(ours, own)
    return [*cells, turns.times_as_fast(ratio), verdict(ratio, goal), same]


def shapes(answer: dict[str, Any]) -> list[Shape]:
    """The batches of a turn."""
    return [Shape(*shape) for shape in answer["shapes"]]


def tokens_a_second(answer: dict[str, Any]) -> float:
    """Padding does not count."""
    return sum(shape.tokens for shape in shapes(answer)) / answer["seconds"][0]


def padding(answer: dict[str, Any]) -> float:
    """The share of what goes through the model that is padding."""
    positions = sum(shape.sequences * shape.length for shape in shapes(answer))
    return 1 - sum(shape.tokens for shape in shapes(answer)) / positions


def flops(setting: Setting, answer: dict[str, Any]) -> float:
    """Floating-point operations per second in the matrix products, padding and all."""
    config = config_of(setting)
    done = (step_flops(config, s.sequences, s.length, s.predicted) for s in shapes(answer))
    return sum(done) / answer["seconds"][0]


class Lesson(NamedTuple):
    """What a contestant has learned in the time that all had.

    tried: the loss on held-out text with each learning rate, after a part of the time; answers: one
    for each seed.
    """

    contestant: Contestant
    tried: dict[float, float]
    answers: Turns

    @property
    def rate(self) -> float:
        """The best of those that were tried."""
        return min(self.tried, key=self.tried.__getitem__)

    def all(self, score: str) -> list[float]:
        """A score on held-out text, seed by seed."""
        return [answer["found"][score] for answer in self.answers]


def learn(setting: Setting, plan: Plan) -> list[Lesson]:
    """Everybody tries each learning rate for a part of the time, then takes the best for all."""
    say(f"learning: {setting.size}")
    whole = 60 * plan.minutes

    def train(contestant: Contestant, rate: float, seconds: float, seed: int = 0) -> dict[str, Any]:
        own = setting._replace(rate=rate, seed=seed)
        return turn(contestant.entry("learn", plan, own, seconds=seconds, batches=plan.batches))

    everybody = LEARNERS if plan.device == "cpu" else contestants(plan.device)
    lessons = [Lesson(c, {}, []) for c in everybody if is_here(c)]
    for rate in plan.rates:
        for one in lessons:
            one.tried[rate] = train(one.contestant, rate, whole / TRIAL)["found"]["mlm_loss"]
    for seed in range(plan.seeds):
        for one in lessons:
            one.answers.append(train(one.contestant, one.rate, whole, seed))
    return lessons


def learning_table(title: str, lessons: list[Lesson]) -> str:
    """How well everybody guesses after the same time; our plain start comes first."""
    ours, rows = mean(lessons[0].all("mlm_loss")), []
    for lesson in lessons:
        losses = lesson.all("mlm_loss")
        is_ours = lesson.contestant.who == "ours"
        rows.append(
            [
                lesson.contestant.name,
                f"{median(answer['steps'] for answer in lesson.answers):,.0f}",
                f"{median(answer['tokens'] for answer in lesson.answers):,.0f}",
                turns.mean_spread(losses),
                f"{mean(lesson.all('mlm_accuracy')):.1%}",
                f"{mean(lesson.all('nsp_accuracy')):.1%}",
                ", ".join(f"{loss:.3f} at {rate:g}" for rate, loss in lesson.tried.items()),
                "" if is_ours else turns.met(ours < mean(losses)),
            ]
        )
    head = ["who", "steps", "tokens read", "held-out loss of masked words", "guessed right"]
    head += ["next sentences right", "losses of the trials, at learning rate", "goal: ours lower"]
    return turns.table(title, head, rows)


def tables(plan: Plan, folder: str) -> Iterator[tuple[str, str]]:
    """Run everything, and yield the tables, each with its section of the README."""
    tokens = prepare(plan, folder)
    if plan.sizes:
        races = [race(setting, plan) for setting in plan.races(folder)]
        yield "pretraining", speed_table(races)
    for size in plan.learners if plan.minutes else ():
        title = f"After {plan.minutes:g} minutes, {size}, {VOCABULARY:,} words"
        title += f", {tokens:,} tokens of text"
        yield "learning", learning_table(title, learn(plan.setting(folder, size), plan))


def read_plan() -> tuple[Plan, bool]:
    """What the command line asks for, and whether to write it into the README."""
    parser = argparse.ArgumentParser(description="Training, ours and others'.")
    parser.add_argument("--quick", action="store_true", help="one short turn of a few: a trial")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--only", choices=("speed", "learning"), help="one half of it")
    parser.add_argument("--sizes", nargs="+", help="of the models whose speed is measured")
    parser.add_argument("--sequences", type=int, help="in a batch")
    parser.add_argument("--turns", type=int, help="of every contestant")
    parser.add_argument("--threads", type=int, help="of every contestant")
    parser.add_argument("--minutes", type=float, help="of learning; 0 leaves it out")
    args = turns.read_options(parser, "quick", "sizes", "device")
    asked = {name: getattr(args, name) for name in ("sequences", "turns", "threads", "minutes")}
    if args.only == "speed":
        asked["minutes"] = 0
    asked["sizes"] = tuple(args.sizes) if args.sizes else () if args.only == "learning" else None
    asked = {name: value for name, value in asked.items() if value is not None}
    plan = QUICK if args.quick else GPU if args.device == "cuda" else Plan()
    return replace(plan, device=args.device, **asked), args.write


def main() -> None:
    """Read the command line, run, print, and write if asked to."""
    plan, write = read_plan()
    threads = f"{plan.threads} thread" + "s" * (plan.threads > 1)
    seeds = f"means over {plan.seeds} seeds, ± their standard deviation; median steps."
    medians = f"medians of {plan.turns} turns (smallest–largest)."
    what = {"pretraining": f"{threads}; {medians}", "learning": f"{threads}; {seeds}"}
    with TemporaryDirectory() as folder:
        for section, table in tables(plan, folder):
            turns.publish(section if write else None, PACKAGES, what[section], [table])


if __name__ == "__main__":
    main()
