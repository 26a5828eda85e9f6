"""A training that can run for days: the loop, with evaluation, metrics and checkpoints.

`metrics.jsonl` is a file of JSON lines that a crash cannot spoil:

    {"step": 0, "kind": "held-out", "mlm_loss": 9.01, ...}
    {"step": 1, "kind": "train", "loss": 9.72, ...}

A process that is killed while writing leaves part of a line, without a line end: it is not a row.
JSON has no infinity and no NaN. Such a value, of a training that has diverged, is written as null
and read as NaN.

How good is a model on held-out text? What does "84 % of the next sentences" mean? The share of
correct answers depends on the source of the other sentences. If they are from another document of
any corpus, it is often enough to distinguish a tale from a speech. So `next_sentence_rows` asks the
same question three times: with sentences from anywhere, from the same corpus, and from the same
document. A baseline that knows only each sentence's corpus shows how much of the first is easy.

Source: Devlin et al. (2019), section 3.1 (the two tasks) and table 6 (perplexity of masked words
on held-out text).
"""

import copy
import json
import math
import os
import signal
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from tqdm.auto import tqdm
from tqdm.std import EMA

from bertlab._files import naming, write_atomically
from bertlab.data.token_store import TokenStore
from bertlab.model.bert import evaluation_mode
from bertlab.model.heads import BertForPreTraining, PreTrainingOutput
from bertlab.model.pretrained import save_pretrained
from bertlab.pretraining.batches import BEGINNING, Batch, Batches, Epoch, Position, PretrainingData
from bertlab.pretraining.losses import mlm_loss, nsp_loss
from bertlab.pretraining.pairs import (
    ANYWHERE,
    SAME_CORPUS,
    SAME_DOCUMENT,
    Negatives,
    Pairs,
    corpora_of,
    documents_of,
)
from bertlab.training.checkpoints import has_checkpoint, load_checkpoint, save_checkpoint
from bertlab.training.fast import (
    ALONE,
    InBfloat16,
    Processes,
    any_of,
    keep_freed_memory,
    shared,
    wide_step,
)
from bertlab.training.loop import TrainingConfig, training_loop
from bertlab.training.steps import (
    StepResult,
    adamw,
    check_number,
    correct,
    forward,
    restored_random_state,
)

Row = dict[str, Any]  # "step", "kind" ("train" or "held-out"), and numbers by their names
SMOOTH = 0.05  # a step's weight in the running means, which cover about the last 20 steps


def gather_rows(
    rows: Iterable[Row],
    *,
    label: str,
    steps: int,
    device: torch.device,
    watch: Callable[[Row], None] | None = None,
    progress: bool = True,
) -> list[Row]:
    """Run a training to its end and return its rows; global random state does not change.

    rows: the training, a generator that does one step per row; label, steps: of the progress bar;
    device: of the model, whose random state does not change, like the CPU's; watch: called with
    every row as soon as it is available.
    """
    keep_freed_memory()
    bar = tqdm(total=steps, desc=label, unit="step", disable=not progress)
    gathered = []
    with restored_random_state(device), bar:
        for row in rows:
            gathered.append(row)
            if watch:
                watch(row)
            if row["kind"] == "train":
                bar.set_postfix_str(f"loss {row['loss']:.3f}", refresh=False)
                bar.update()
    return gathered


@contextmanager
def progress_bar(
    steps: int, done: int = 0, *, enabled: bool = True
) -> Iterator[Callable[[StepResult, int], None]]:
    """Steps done, time left, tokens per second, loss and share of correct masked words.

    steps: of the whole training; done: those of an earlier part, from which it resumes; enabled:
    without it nothing is printed. Loss and shares are running means, because those of single steps
    vary too much to be read. Gives a function to call after each step, with the number of tokens
    that the model has read in it, without padding:

        with progress_bar(config.steps, done) as update:
            ...
            update(result, tokens)
    """
    bar = tqdm(
        total=steps,
        initial=done,
        disable=not enabled,
        desc="pretraining",
        unit="step",
        mininterval=0.5,
        smoothing=0.02,  # an evaluation between two steps must not distort the time left
        dynamic_ncols=True,
    )
    loss, words_right, words, read, seconds = (EMA(SMOOTH) for _ in range(5))
    last = perf_counter()

    def update(result: StepResult, tokens: int) -> None:
        nonlocal last
        now = perf_counter()
        speed = read(tokens) / max(seconds(now - last), 1e-9)
        right = words_right(result.mlm_correct) / max(words(result.n_words), 1e-9)
        last = now
        bar.set_postfix_str(
            f"loss {loss(result.loss):.3f}, {right:.1%} of words, {speed:,.0f} tokens/s",
            refresh=False,
        )
        bar.update()

    with bar:
        yield update if enabled else lambda _result, _tokens: None


class MetricsFile:
    """A file to which rows are appended, one line at a time.

    path: neither the file nor its folder need exist. If an earlier training may have written it,
    call `keep_until` before the first `append`.
    """

    def __init__(self, path: str | os.PathLike) -> None:
        self.path = Path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)

    def append(self, row: Row) -> None:
        """Add a row. Other programs can then read it, and it is kept if this one is killed.

        Raises ValueError if the row has no step or no kind.
        """
        for name in ("step", "kind"):
            if name not in row:
                raise ValueError(f"MetricsFile.append: row must have {name!r}; got {list(row)}")
        line = json.dumps({name: _written(value) for name, value in row.items()}) + "\n"
        with naming(self.path), open(self.path, "ab") as file:
            file.write(line.encode())

    def keep_until(self, step: int) -> None:
        """Drop the rows after a step, and part of a line at the end.

        For resuming from a checkpoint, which may be older than the last row: later rows will be
        written again. A reader sees the old file or the new one; kept lines do not change, byte by
        byte. With step -1 none is kept.

        Raises ValueError if a complete line is not a row, which a crash cannot cause.
        """
        if not self.path.exists():
            return
        lines = _whole_lines(self.path)
        kept = [line for number, line in lines if _row(self.path, number, line)["step"] <= step]
        content = b"".join(kept)
        if len(content) < self.path.stat().st_size:
            write_atomically(self.path, content)


def read_metrics(path: str | os.PathLike) -> list[Row]:
    """The rows of a metrics file, also while a training is adding to it.

    Raises FileNotFoundError if there is no such file, ValueError if a complete line is not a row.
    """
    path = Path(path)
    return [_row(path, number, line) for number, line in _whole_lines(path)]


def _whole_lines(path: Path) -> list[tuple[int, bytes]]:
    """Lines with their ends, counted from 1; text after the last line end is omitted."""
    lines = path.read_bytes().splitlines(keepends=True)
    return [(number, line) for number, line in enumerate(lines, 1) if line.endswith(b"\n")]


def _row(path: Path, number: int, line: bytes) -> Row:
    try:
        values = json.loads(line)
        if not isinstance(values["step"], int):
            raise TypeError("its step is not a whole number")
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"{path}, line {number}, is not a row of metrics ({error}); repair or delete the line"
        ) from error
    return {name: math.nan if value is None else value for name, value in values.items()}


def _written(value: Any) -> Any:
    """A value that JSON can represent."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


@contextmanager
def stop_requests() -> Iterator[Callable[[], bool]]:
    """Record Ctrl-C and `kill` instead of stopping at once; gives a function that reports them.

    A second Ctrl-C interrupts at once. Only the main thread of a program gets signals; in others
    this does nothing.
    """
    asked = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield asked.is_set
        return

    def note(number: int, _frame: object) -> None:
        if number == signal.SIGINT and asked.is_set():
            raise KeyboardInterrupt
        asked.set()

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield asked.is_set
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def pretrain(
    model: BertForPreTraining,
    data: Batches,
    config: TrainingConfig,
    *,
    validation: Batches | None = None,
    folder: str | Path | None = None,
    watch: Callable[[Row], None] | None = None,
    snapshots: Collection[int] = (),
    workers: int = 0,
    processes: Processes = ALONE,
    progress: bool = True,
) -> list[Row]:
    """Train a model on masked words and next sentences; it is changed in place.

    model: to train, on its device; data: its `batch_size` is that of a step, all processes
    together; validation: held-out text, evaluated before the first step and every
    `config.evaluate_every` steps; folder: for metrics and checkpoints; if it has a checkpoint,
    training resumes from there as if it had never stopped; watch: called with every row of the
    metrics, for example `live_curves(steps).update`; snapshots: steps after which the model is
    kept in folder/snapshots, 0 for the start; workers: processes that prepare batches (the batches
    are the same with any number); processes: from `joined_processes`.

    Returns the rows of this call: {"step", "kind": "train" or "held-out", "mlm_loss", ...}.
    Ctrl-C or `kill` lets the step end, saves a checkpoint and stops. A loss that is not finite
    raises FloatingPointError: the model cannot recover from it.

    With the same seed on the same CPU the weights are identical, bit by bit, even if training
    was killed and resumed.
    """
    keep_freed_memory()
    folder = None if folder is None else Path(folder)
    training = Training(model, data, config, validation, folder, watch, snapshots, processes)
    device = next(model.parameters()).device
    with restored_random_state(device), stop_requests() as stop_requested:
        training.run(stop_requested, workers, progress)
    return training.rows


def check_same(saved: dict[str, Any], config: TrainingConfig) -> None:
    """Raise ValueError if a checkpoint was trained with other settings."""
    now = asdict(config)
    other = [
        f"{name} {saved.get(name)!r}, now {now[name]!r}"
        for name in now
        if saved.get(name) != now[name]
    ]
    if other:
        raise ValueError(
            f"pretrain: folder holds a training with other settings ({'; '.join(other)}); "
            "use those, or another folder"
        )


def snapshot_steps(steps: int, number: int) -> set[int]:
    """The start, step 1 and the last one, and steps evenly between them on a logarithmic scale.

    There are fewer than `number` if several coincide.

    >>> sorted(snapshot_steps(1000, 5))
    [0, 1, 10, 100, 1000]
    """
    return (
        {round(steps ** (i / (number - 2))) for i in range(number - 1)} | {0} if number else set()
    )


def prepared(model: nn.Module, config: TrainingConfig, processes: Processes) -> nn.Module:
    """The model as a step calls it: compiled, shared by the processes, in the right precision."""
    if config.compile:
        model.compile()
    precise = InBfloat16(model) if config.precision == "bfloat16" else model
    return shared(precise, processes)


@dataclass
class Training:
    """A training in progress: the model, its optimizer, and its position."""

    model: BertForPreTraining
    data: Batches
    config: TrainingConfig
    validation: Batches | None
    folder: Path | None
    watch: Callable[[Row], None] | None
    snapshots: Collection[int]
    processes: Processes

    def __post_init__(self) -> None:
        config = self.config
        self.optimizer = adamw(self.model, config.learning_rate, config.weight_decay)
        self.rows: list[Row] = []
        self.done, self.position = 0, BEGINNING  # steps; the next batch
        if self.folder and has_checkpoint(self.folder / "checkpoints"):
            kept = load_checkpoint(self.folder / "checkpoints", self.model, self.optimizer)
            check_same(kept.state["config"], config)
            self.done, self.position = kept.step, Position(*kept.state["position"])
        self.metrics = None
        if self.folder and self.processes.first:
            self.metrics = MetricsFile(self.folder / "metrics.jsonl")
            self.metrics.keep_until(self.done or -1)  # the evaluation at step 0 is repeated

    def run(self, stop_requested: Callable[[], bool], workers: int, progress: bool) -> None:
        """Step after step, until all are done or a stop is requested."""
        config, first = self.config, self.processes.first
        device = next(self.model.parameters()).device
        if self.done == 0:
            self.evaluate()
            self.keep_snapshot()
        steps = training_loop(
            prepared(self.model, config, self.processes),
            self.optimizer,
            self.data.batches(self.position, workers),
            config,
            done=self.done,
            step=self.timed_step,
            rank=self.processes.rank,
        )
        with progress_bar(config.steps, self.done, enabled=progress and first) as show:
            for self.done, self.position, batch, rate, result in steps:
                numbers = {"learning_rate": rate, "seconds": self.seconds}
                self.report("train", {**result.as_dict(), **numbers})
                check_number(result.loss, self.done, config.learning_rate)
                show(result, int(batch.attention_mask.sum()))
                stop = any_of(stop_requested(), self.processes, device)
                if self.done % config.evaluate_every == 0 or self.done == config.steps:
                    self.evaluate()
                self.keep_snapshot()
                if self.done % config.save_every == 0 or self.done == config.steps or stop:
                    self.save()
                if stop:
                    break
        self.model.eval()

    def timed_step(self, *what: Any, **how: Any) -> StepResult:
        """One step, and the seconds that it takes."""
        started = time.perf_counter()
        accumulate, processes = self.config.accumulate, self.processes
        result = wide_step(*what, **how, accumulate=accumulate, processes=processes)
        self.seconds = time.perf_counter() - started
        return result

    def evaluate(self) -> None:
        """Evaluate on held-out text, if there is any; the first process does it for all."""
        if self.validation is not None and self.processes.first:
            self.report("held-out", evaluate(self.model, self.validation).as_dict())

    def save(self) -> None:
        """Save a checkpoint; without a random state, because a step's number is its seed."""
        if self.folder and self.processes.first:
            save_checkpoint(
                self.folder / "checkpoints",
                step=self.done,
                model=self.model,
                optimizer=self.optimizer,
                state={"position": list(self.position), "config": asdict(self.config)},
                keep=self.config.keep,
            )

    def keep_snapshot(self) -> None:
        """Save the model after this step, if it was requested."""
        if self.folder and self.processes.first and self.done in self.snapshots:
            save_pretrained(self.model, self.folder / "snapshots" / f"{self.done:07}")

    def report(self, kind: str, numbers: dict[str, float]) -> None:
        """Store a row of the metrics and pass it to `watch`."""
        row = {"step": self.done, "kind": kind, **numbers}
        self.rows.append(row)
        if self.metrics:
            self.metrics.append(row)
        if self.watch and self.processes.first:
            self.watch(row)


FEW = 5  # predictions that `mlm_top5` counts


@dataclass(frozen=True)
class Evaluation:
    """The result of `evaluate`; `str` gives one line.

    mlm_loss: nats per masked word; mlm_accuracy: share of masked words that are the best
    prediction; mlm_top5: share among the five best; nsp_loss: nats per pair; nsp_accuracy: share
    of pairs predicted correctly; n_words, n_pairs: the numbers of both.
    """

    mlm_loss: float
    mlm_accuracy: float
    mlm_top5: float
    nsp_loss: float
    nsp_accuracy: float
    n_words: int
    n_pairs: int

    @property
    def perplexity(self) -> float:
        """exp(mlm_loss): as uncertain as a guess among this many equally likely words.

        The model has read both sides of the word, so it cannot be compared with the perplexity
        of a language model that reads from left to right.

        >>> round(Evaluation(math.log(8), 0, 0, 0, 0, 1, 1).perplexity, 6)
        8.0
        """
        try:
            return math.exp(self.mlm_loss)
        except OverflowError:  # training has diverged; `math.exp` overflows above 709
            return math.inf

    def as_dict(self) -> dict[str, float]:
        """For the metrics log, with the perplexity."""
        return {**asdict(self), "perplexity": self.perplexity}

    def __str__(self) -> str:
        return (
            f"masked words: {self.mlm_loss:.3f} nats, perplexity {self.perplexity:,.1f}, "
            f"{self.mlm_accuracy:.1%} right, {self.mlm_top5:.1%} among the best {FEW} "
            f"({self.n_words:,} words); next sentences: {self.nsp_loss:.3f} nats, "
            f"{self.nsp_accuracy:.1%} right ({self.n_pairs:,} pairs)"
        )


def evaluate(model: BertForPreTraining, data: Batches, batches: int | None = None) -> Evaluation:
    """Both losses and how often the model is right, without dropout and without gradients.

    data: made with `drop_last=False`, so that no pair is omitted; batches: only this number of
    them, for a quick estimate. It is always epoch 0, the same pairs with the same masked words, so
    two evaluations differ only by the model. Every word and every pair has the same weight, in any
    batch.

    The model's mode is restored, and PyTorch's global random state does not change.

    Raises ValueError if `batches` is below 1, or if nothing is masked in what is read.
    """
    if batches is not None and batches < 1:
        raise ValueError(
            f"evaluate: batches must be at least 1, or None for all of them; got {batches}"
        )
    epoch: Any = data.epoch(0)  # has a length, which a Dataset need not have
    n_batches = len(epoch) if batches is None else min(batches, len(epoch))
    device = next(model.parameters()).device
    sums, n_words, n_pairs = [], 0, 0
    with evaluation_mode(model), torch.no_grad():
        for number in range(n_batches):
            batch = epoch[number].to(device)
            sums.append(batch_sums(forward(model, batch), batch))
            n_words += len(batch.words)
            n_pairs += len(batch.next_sentence)
    if not n_words:
        raise ValueError(
            f"evaluate: data must hold masked words; there are none in its {n_batches} batches; "
            "keep more text for evaluation"
        )
    # Summed in float64, which is exact enough for a million nats; waits for a GPU only here.
    mlm, nsp, mlm_correct, nsp_correct, mlm_top = torch.stack(sums).cpu().double().sum(0).tolist()
    return Evaluation(
        mlm_loss=mlm / n_words,
        mlm_accuracy=mlm_correct / n_words,
        mlm_top5=mlm_top / n_words,
        nsp_loss=nsp / n_pairs,
        nsp_accuracy=nsp_correct / n_pairs,
        n_words=n_words,
        n_pairs=n_pairs,
    )


def batch_sums(output: PreTrainingOutput, batch: Batch) -> Tensor:
    """One batch's sums, [5]: the four of `accumulate_gradients`, and words among the best five."""
    best = output.mlm_logits.topk(min(FEW, output.mlm_logits.shape[-1])).indices  # [N, 5]
    return torch.stack(
        [
            mlm_loss(output.mlm_logits, batch.words) * len(batch.words),
            nsp_loss(output.nsp_logits, batch.next_sentence) * len(batch.next_sentence),
            *correct(output, batch),
            (best == batch.words[:, None]).sum(),
        ]
    )


class NextSentenceRow(NamedTuple):
    """How often the relation of two sentences was predicted correctly, for one kind of question."""

    negatives: str  # the source of the sentences that are not the next ones
    accuracy: float
    n_pairs: int

    def __str__(self) -> str:
        return f"{self.accuracy:6.1%} of {self.n_pairs:6,} pairs  {self.negatives}"


def next_sentence_rows(model: BertForPreTraining, data: PretrainingData) -> list[NextSentenceRow]:
    """One row per kind of question, from easy to hard; about half of all answers are IsNext.

    data: held-out text, made with `drop_last=False`; its own negatives do not matter. It is
    epoch 0, as in `evaluate`. The rows: any document; the same question answered by the corpora
    alone (whether A and B are from one corpus); another document of the same corpus; that for each
    corpus; the same document. Omitted are rows about corpora if there is only one, and pairs
    without a possible B: A's corpus has no other document, or A's document no other sentences.
    """
    store, names = data.store, list(data.store.corpora)
    pairs, right = answers(model, with_negatives(data, ANYWHERE).epoch(0))
    rows = [_answers_row("any document", right)]
    if len(names) > 1:
        of_a, of_b = corpora_of_pairs(store, pairs)
        guess = (of_a != of_b) == pairs.not_next
        rows.append(_answers_row("any document, answered by the corpora alone", guess))
        pairs, right = answers(model, with_negatives(data, SAME_CORPUS).epoch(0))
        of_a, of_b = corpora_of_pairs(store, pairs)
        asked = np.array(list(store.corpora.values()))[of_a] > 1
        rows.append(_answers_row("same corpus", right[asked]))
        for number, name in enumerate(names):
            rows.append(_answers_row(f"same corpus: {name}", right[asked & (of_a == number)]))
    pairs, right = answers(model, with_negatives(data, SAME_DOCUMENT).epoch(0))
    rows.append(_answers_row("same document", right[has_other_places(store, pairs)]))
    return [row for row in rows if row.n_pairs]


def with_negatives(data: PretrainingData, negatives: Negatives) -> PretrainingData:
    """The same data with another source of sentences that are not the next ones."""
    other = copy.copy(data)
    other.negatives = negatives
    return other


def answers(model: BertForPreTraining, epoch: Epoch) -> tuple[Pairs, np.ndarray]:
    """All pairs of an epoch, and whether the model is right about each: boolean [N]."""
    device = next(model.parameters()).device
    right = np.zeros(len(epoch.pairs), dtype=bool)
    with evaluation_mode(model), torch.no_grad():
        for number, start in enumerate(epoch.starts):
            batch = epoch[number].to(device)
            told = forward(model, batch).nsp_logits.argmax(dim=-1) == batch.next_sentence
            right[start : start + len(told)] = told.cpu().numpy()
    return epoch.pairs, right


def corpora_of_pairs(store: TokenStore, pairs: Pairs) -> tuple[np.ndarray, np.ndarray]:
    """The number of the corpus of each A and of each B: [N] each."""
    starts = (pairs.a_start, pairs.b_start)
    of_a, of_b = (corpora_of(store, documents_of(store, start)) for start in starts)
    return of_a, of_b


def has_other_places(store: TokenStore, pairs: Pairs) -> np.ndarray:
    """Whether A's document has a sentence outside the pair: boolean [N].

    In a NotNext pair, B itself must come from A's document.
    """
    documents = documents_of(store, pairs.a_start)
    first, last = store.document_starts[documents], store.document_starts[documents + 1]
    before = store.sentence_starts[first + 1] <= pairs.a_start
    behind = store.sentence_starts[last - 1] >= pairs.b_end
    from_here = documents_of(store, pairs.b_start) == documents
    return np.where(pairs.not_next, from_here, before | behind)


def save_rows(rows: list[NextSentenceRow], path: Path) -> None:
    """Write rows as JSON, so that changes are readable."""
    write_atomically(path, json.dumps([row._asdict() for row in rows], indent=2) + "\n")


def read_rows(path: Path) -> list[NextSentenceRow]:
    """Read the output of `save_rows`."""
    return [NextSentenceRow(**row) for row in json.loads(path.read_text(encoding="utf-8"))]


def _answers_row(negatives: str, right: np.ndarray) -> NextSentenceRow:
    return NextSentenceRow(negatives, float(right.mean()) if len(right) else 0.0, len(right))
