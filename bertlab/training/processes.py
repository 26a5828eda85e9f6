"""Several processes train one model, each on a share of every batch: `torchrun` starts them.

Source: Li et al. (2020), "PyTorch Distributed: Experiences on Accelerating Data Parallel Training".
"""

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import timedelta
from typing import NamedTuple, TypeVar

import torch
from torch import distributed, nn

T = TypeVar("T")
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
    return nn.parallel.DistributedDataParallel(model, gradient_as_bucket_view=True)


def exchange(model: nn.Module, last: bool) -> AbstractContextManager:
    """Around forward and backward: several processes average gradients only at the last piece.

    model: from `shared`.
    """
    if isinstance(model, nn.parallel.DistributedDataParallel) and not last:
        return model.no_sync()
    return nullcontext()


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
