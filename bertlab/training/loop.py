"""The training loop, with checkpoints, evaluation and metrics, so that it can run for days.

Source: Phuong & Hutter (2022), Algorithm 12 (ETraining), lines 2 and 3, with practical additions.
"""

import math
import time
from collections.abc import Callable, Collection
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from bertlab.model.heads import BertForPreTraining
from bertlab.model.memory import keep_freed_memory
from bertlab.model.pretrained import save_pretrained
from bertlab.pretraining.batches import BEGINNING, Batch, Batches, Position
from bertlab.training.checkpoints import has_checkpoint, load_checkpoint, save_checkpoint
from bertlab.training.config import TrainingConfig
from bertlab.training.evaluation import evaluate
from bertlab.training.metrics import MetricsFile
from bertlab.training.optimizers import adamw
from bertlab.training.processes import ALONE, Processes, any_of, shared
from bertlab.training.rows import Row, progress_bar
from bertlab.training.schedule import linear_schedule
from bertlab.training.steps import StepResult, restored_random_state, seed_dropout, training_step
from bertlab.training.stopping import stop_requests


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
        if config.compile:
            self.model.compile()
        model = shared(self.model, self.processes)
        batches = self.data.batches(self.position, workers)
        with progress_bar(config.steps, self.done, enabled=progress and first) as show:
            while self.done < config.steps:
                self.position, batch = next(batches)
                self.done += 1
                result = self.step(model, batch.to(device))
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

    def step(self, model: torch.nn.Module, batch: Batch) -> StepResult:
        """One update of the weights; its random numbers depend only on the step's number."""
        config, processes = self.config, self.processes
        rate = config.learning_rate * linear_schedule(self.done, config.steps, config.warmup_steps)
        seed_dropout(config.seed, self.done, processes.rank)
        started = time.perf_counter()
        result = training_step(
            model.train(),
            self.optimizer,
            batch,
            rate=rate,
            clip=config.clip,
            accumulate=config.accumulate,
            precision=config.precision,
            processes=processes,
        )
        seconds = time.perf_counter() - started
        self.report("train", {**result.as_dict(), "learning_rate": rate, "seconds": seconds})
        if not math.isfinite(result.loss):
            raise FloatingPointError(
                f"pretrain: the loss of step {self.done} is {result.loss}; start another training "
                f"with a learning rate below {config.learning_rate}, or with more warm-up"
            )
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
