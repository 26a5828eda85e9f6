"""Faster training: fast twins, several processes, bfloat16, memory that is used again.

Several processes train one model, each on a share of every batch; `torchrun` starts them.

Source: Li et al. (2020), "PyTorch Distributed: Experiences on Accelerating Data Parallel Training".
"""

import ctypes
import os
import platform
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from datetime import timedelta
from itertools import pairwise
from typing import NamedTuple, TypeVar

import torch
from torch import Tensor, distributed, nn

from bertlab.model.heads import PreTrainingOutput
from bertlab.pretraining.batches import Batch
from bertlab.training.steps import (
    StepResult,
    accumulate_gradients,
    apply_gradients,
    parameter_groups,
    training_step,
)


def adamw(
    model: nn.Module, learning_rate: float, weight_decay: float = 0.01
) -> torch.optim.Optimizer:
    """PyTorch's AdamW, which moves all parameters in one kernel."""
    groups = parameter_groups(model, weight_decay)
    return torch.optim.AdamW(groups, lr=learning_rate, eps=1e-6, fused=True)


def clip_gradients(parameters: Iterable[Tensor], longest: float) -> None:
    """PyTorch's, which does not wait for a GPU."""
    nn.utils.clip_grad_norm_(parameters, longest)


M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # their numbers in glibc's malloc.h
LARGEST = 2**28  # bytes of a tensor that is kept when it is freed
TOGETHER = 2**30  # bytes that are kept at the end of the heap


def keep_freed_memory() -> bool:
    """Let glibc keep tensors up to 256 MB when they are freed, and at most 1 GB at its heap's end.

    By default, glibc requests memory from the system for every tensor above 32 MB, returns it when
    it is freed, and returns the end of the heap after every step of a small model; the system must
    clear each page before its next use. With 600 masked words and BERT's vocabulary the scores and
    their gradients have 75 MB each (`man mallopt`). The setting is for the whole process, so
    training sets it, and importing the library does not. Returns whether it could be set (glibc).
    """
    if platform.libc_ver()[0] != "glibc":
        return False
    mallopt = ctypes.CDLL(None).mallopt
    return bool(mallopt(M_MMAP_THRESHOLD, LARGEST) and mallopt(M_TRIM_THRESHOLD, TOGETHER))


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error means that a GPU's or the machine's memory was too small.

    On a CPU, PyTorch has no class for it: it raises a RuntimeError that names its allocator.
    """
    if isinstance(error, MemoryError | torch.OutOfMemoryError):
        return True
    words = ("DefaultCPUAllocator", "bad_alloc", "out of memory")
    return isinstance(error, RuntimeError) and any(word in str(error) for word in words)


T = TypeVar("T")
Parallel = nn.parallel.DistributedDataParallel
PATIENCE = timedelta(hours=1)  # the others wait while the first one evaluates or tokenizes


class Processes(NamedTuple):
    """The number of this process, and of all processes."""

    rank: int = 0
    count: int = 1  # type: ignore[assignment]  # replaces tuple.count

    @property
    def first(self) -> bool:
        """Whether this is the process that writes files and shows progress."""
        return self.rank == 0


ALONE = Processes()


class FirstFailed(RuntimeError):
    """The first process has failed and reported its error; the others only stop."""


@contextmanager
def joined_processes(device: torch.device) -> Iterator[Processes]:
    """Join the processes that `torchrun` has started; without it there is one, and no network.

    device: of this process; GPUs communicate by nccl, CPUs by gloo. Raises ValueError for a device
    that supports neither.
    """
    if "WORLD_SIZE" not in os.environ:
        yield ALONE
        return
    if device.type not in ("cpu", "cuda"):
        raise ValueError(
            f"several processes can train on cpu or cuda; got {device.type}: omit torchrun, "
            "or choose --device cpu"
        )
    on_gpu = device.type == "cuda"
    distributed.init_process_group(
        "nccl" if on_gpu else "gloo", timeout=PATIENCE, device_id=device if on_gpu else None
    )
    try:
        yield Processes(distributed.get_rank(), distributed.get_world_size())
    finally:
        distributed.destroy_process_group()


def local_device(name: str | None = None) -> torch.device:
    """The device with a name ("cpu", "cuda", "cuda:1", "mps"); by default a GPU, or the CPU.

    A Mac's GPU ("mps") is used only by name, because other projects report wrong results of it.
    Under `torchrun` each process gets its own GPU of the machine. Raises ValueError if there is
    no such device here.
    """
    if name is None:
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(name)
        number = torch.get_device_module(device).device_count()
    except RuntimeError:
        raise ValueError(f"device must be cpu, cuda or mps; got {name!r}") from None
    if device.type == "cuda" and device.index is None:
        device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", 0)))
    if (device.index or 0) >= number:
        raise ValueError(
            f"there is no device {device} here: PyTorch sees {number} of kind {device.type}; "
            "start fewer processes or choose another device, such as cpu"
        )
    if device.type == "cuda":
        torch.cuda.set_device(device)
    return device


def shared(model: nn.Module, processes: Processes) -> nn.Module:
    """The model, with gradients that are averaged over all processes."""
    if processes.count == 1:
        return model
    return Parallel(model, gradient_as_bucket_view=True)


def exchanging(model: nn.Module, pieces: Sequence[Batch]) -> Iterator[Batch]:
    """Yield the pieces; several processes average their gradients only at the last one.

    model: from `shared`.
    """
    for piece in pieces[:-1]:
        alone = model.no_sync() if isinstance(model, Parallel) else nullcontext()
        with alone:  # until the next piece is asked for
            yield piece
    yield pieces[-1]


class InBfloat16(nn.Module):
    """A model whose matrix products have half the bits; its scores have all of them again."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, ids: Tensor, *others: Tensor) -> PreTrainingOutput:
        """As the model's."""
        with torch.autocast(ids.device.type, torch.bfloat16):
            output = self.model(ids, *others)
        mlm, nsp = output.mlm_logits.float(), output.nsp_logits.float()
        return output._replace(mlm_logits=mlm, nsp_logits=nsp)


def wide_step(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    batch: Batch,
    *,
    rate: float | None = None,
    clip: float = 1.0,
    accumulate: int = 1,
    processes: Processes = ALONE,
) -> StepResult:
    """`training_step`, in pieces: each process takes a share of the batch.

    model: from `shared`; accumulate: pieces of a share, which the model reads one after the other.
    The gradients are those of the whole batch, with any number of pieces and processes.
    """
    if accumulate * processes.count == 1:
        return training_step(model, optimizer, batch, rate=rate, clip=clip)
    pieces = cut(batch, accumulate * processes.count)
    mine = pieces[processes.rank * accumulate :][:accumulate]
    optimizer.zero_grad()
    # Several processes average their gradients: each divides only by its share of the batch.
    n_words, n_pairs = max(1, len(batch.words)), len(batch.next_sentence)
    shares = n_words / processes.count, n_pairs / processes.count
    sums = accumulate_gradients(model, exchanging(model, mine), *shares)
    apply_gradients(model, optimizer, rate=rate, clip=clip)
    return StepResult.of(add_up(sums, processes), batch)


def cut(batch: Batch, pieces: int) -> list[Batch]:
    """A batch in pieces of rows, as even as possible. Raises ValueError as `check_pieces`."""
    rows = len(batch.ids)
    check_pieces(rows, pieces)
    edges = [rows * piece // pieces for piece in range(pieces + 1)]
    return [batch.rows(start, stop) for start, stop in pairwise(edges)]


def check_pieces(rows: int, pieces: int) -> None:
    """Raise ValueError if a batch has fewer rows than pieces."""
    if rows < pieces:
        raise ValueError(
            f"a batch of {rows} sequences cannot be cut into {pieces} pieces (pieces to "
            "accumulate, times processes); make batch_size (--batch-size) larger"
        )


def add_up(sums: torch.Tensor, processes: Processes) -> torch.Tensor:
    """Sum a tensor over all processes, in place."""
    if processes.count > 1:
        distributed.all_reduce(sums)
    return sums


def any_of(flag: bool, processes: Processes, device: torch.device) -> bool:
    """Whether the flag is True in any process, so that all of them stop at the same step."""
    if processes.count == 1:
        return flag
    return bool(add_up(torch.tensor(float(flag), device=device), processes))


def from_first(value: T, processes: Processes) -> T:
    """The first process's value (anything that can be pickled), in all processes."""
    if processes.count == 1:
        return value
    values = [value]
    distributed.broadcast_object_list(values)
    return values[0]


def in_turn(processes: Processes, work: Callable[[], T]) -> T:
    """Let the first process do some work, then the others, which find its files ready.

    If the first one fails, all do: the others raise FirstFailed instead of waiting forever.
    """
    failure = None
    if processes.first:
        try:
            result = work()
        except Exception as error:
            failure = error
    failed = from_first(failure is not None, processes)
    if failure is not None:
        raise failure
    if failed:
        raise FirstFailed("in_turn: the first process has failed, and has said why")
    return result if processes.first else work()
