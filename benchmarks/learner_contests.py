"""Who trains against whom in `bench_pretraining`, on what, and what the course set out to reach."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from benchmarks.contests import Entry
from benchmarks.learners import Setting
from benchmarks.model_contests import find_compiler
from bertlab.data.prepared import prepare_corpus
from bertlab.model import BertConfig, BertForPreTraining, save_pretrained
from bertlab.training.start import STARTS

CORPUS = "books+wikipedia"
PUBLISHED = 30_522  # words of the published models
VOCABULARY = 8_000  # words of the tokenizer that is trained here
RATES = (3e-4, 1e-3, 3e-3)  # of which everybody gets the best
GOALS = {("tiny", "cpu"): 5.0, ("mini", "cpu"): 3.0, ("base", "cuda"): 3.0}
SHARE = {("base", "cuda"): 0.4}  # of the limit that our matrix products are to reach


@dataclass(frozen=True)
class Contestant:
    """Who, and as what; options: of its learner; start: of its weights, if it takes ours."""

    who: str
    name: str
    package: str = "bertlab"
    start: str = "plain"
    options: dict[str, Any] = field(default_factory=dict)
    missing: str = ""  # why it cannot be measured here, if so


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

    @property
    def learning(self) -> tuple[str, ...]:
        """Sizes of the models that learn, none without time."""
        return self.learners if self.minutes else ()


QUICK = Plan(sizes=("tiny",), turns=1, seconds=2, minutes=0.1, rates=RATES[1:2], seeds=1, batches=2)
# On a GPU kernels are compiled for several lengths of a batch, before the clock starts.
GPU = Plan(
    sizes=("base",),
    words=(PUBLISHED,),
    sequences=256,
    seconds=20,
    warm=60,
    minutes=0,
    device="cuda",
)


def contestants(device: str) -> list[Contestant]:
    """We come first; on a GPU with what it is good at, `transformers` as it comes."""
    if device == "cpu":
        return [OURS, THEIRS, BOOK]
    half = {"precision": "bfloat16"}
    missing = "" if find_compiler() else "no C++ compiler"
    name, compiled = "ours, bfloat16, compiled", half | {"compiled": True}
    return [
        Contestant("ours", name, options=compiled, missing=missing),
        Contestant("ours", "ours, bfloat16", options=half),
        THEIRS,
    ]


def entry(contestant: Contestant, job: str, plan: Plan, setting: Setting, **options: Any) -> Entry:
    """A contestant with a job of `learner_jobs.py`."""
    setting = setting._replace(start=contestant.start)
    options |= {"who": contestant.who, "setting": setting._asdict(), **contestant.options}
    return Entry(contestant.name, job, options, contestant.package, plan.threads)


def settings(plan: Plan, folder: str) -> Iterator[Setting]:
    """What is measured for speed."""
    for size in plan.sizes:
        for words in plan.words:
            yield Setting(folder, size, words, plan.sequences, device=plan.device)


def prepare(plan: Plan, folder: str) -> int:
    """Write tokenizer, token ids and initial weights into a folder; returns the training tokens."""
    corpus = prepare_corpus(CORPUS, Path(folder) / "corpus", vocab_size=VOCABULARY, progress=False)
    for setting in (*settings(plan, folder), *learning_settings(plan, folder)):
        model = BertForPreTraining(config_of(setting))
        save_pretrained(STARTS[setting.start](model, setting.seed), setting.weights)
    return corpus.training.n_tokens


def learning_settings(plan: Plan, folder: str) -> Iterator[Setting]:
    """What the learners begin with."""
    for size in plan.learning:
        for start in STARTS:
            for seed in range(plan.seeds):
                setting = Setting(folder, size, VOCABULARY, plan.sequences, device=plan.device)
                yield setting._replace(start=start, seed=seed)


def config_of(setting: Setting) -> BertConfig:
    """A published size with that many words."""
    return getattr(BertConfig, setting.size)(vocab_size=setting.words)
