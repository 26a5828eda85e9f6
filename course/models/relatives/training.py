"""One training loop for all relatives, which differ only in the loss of a batch.

They read the same batches as BERT, so that they can be compared with it.
"""

from collections.abc import Callable, Iterator

from torch import Tensor, nn

from bertlab.pretraining.batches import Batch, Batches
from bertlab.training.loop import TrainingConfig
from bertlab.training.runs import Row, gather_rows
from bertlab.training.steps import adamw, linear_schedule, seed_dropout, update

Losses = dict[str, Tensor]  # of a batch: "loss", which is minimised, and other reported numbers
OF_PRETRAINING = ("accumulate", "precision", "compile")  # not in this short loop


def train(
    model: nn.Module,
    losses: Callable[[Batch], Losses],
    data: Batches,
    config: TrainingConfig,
    *,
    evaluate: Callable[[], dict[str, float]] | None = None,
    watch: Callable[[Row], None] | None = None,
    progress: bool = True,
) -> list[Row]:
    """Minimise `losses(batch)["loss"]`, step after step; the model is changed in place.

    model: to train, on its device; losses: of a batch on that device, numbers other than "loss"
    are only reported; evaluate: called before the first step, every `config.evaluate_every` steps
    and after the last; watch: called with every row.

    Returns the rows: {"step", "kind": "train" or "held-out", "loss", ...}. The same seed on the
    same CPU gives the same weights; the global random state does not change. Raises ValueError
    for settings that only `pretrain` has, FloatingPointError if the loss is not finite.
    """
    _check(config)
    rows = gather_rows(
        _rows(model, losses, data, config, evaluate),
        label="training",
        steps=config.steps,
        device=next(model.parameters()).device,
        watch=watch,
        progress=progress,
    )
    model.eval()
    return rows


def _rows(
    model: nn.Module,
    losses: Callable[[Batch], Losses],
    data: Batches,
    config: TrainingConfig,
    evaluate: Callable[[], dict[str, float]] | None,
) -> Iterator[Row]:
    """The training itself: schedule, dropout and AdamW as in `pretrain`."""
    device = next(model.parameters()).device
    optimizer = adamw(model, config.learning_rate, config.weight_decay)
    if evaluate is not None:
        yield {"step": 0, "kind": "held-out", **evaluate()}
    for step, (_, batch) in zip(range(1, config.steps + 1), data.batches(), strict=False):
        rate = config.learning_rate * linear_schedule(step, config.steps, config.warmup_steps)
        model.train()
        seed_dropout(config.seed, step)
        parts = losses(batch.to(device))
        update(model, optimizer, parts["loss"], step, rate=rate, clip=config.clip)
        numbers = {name: part.item() for name, part in parts.items()} | {"learning_rate": rate}
        yield {"step": step, "kind": "train", **numbers}
        if evaluate and (step % config.evaluate_every == 0 or step == config.steps):
            yield {"step": step, "kind": "held-out", **evaluate()}


def without_masks(batch: Batch) -> Tensor:
    """The ids [B, L] as they were before words were masked."""
    ids = batch.ids.clone()
    ids[batch.predict] = batch.words
    return ids


def _check(config: TrainingConfig) -> None:
    for name in OF_PRETRAINING:
        usual = TrainingConfig.__dataclass_fields__[name].default
        if getattr(config, name) != usual:
            raise ValueError(
                f"train: config.{name} must be {usual!r}, since only `pretrain` has others; "
                f"got {getattr(config, name)!r}"
            )
