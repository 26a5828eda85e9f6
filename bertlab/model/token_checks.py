"""What a model that reads a source and writes a target checks before it starts.

Each raises ValueError that names the argument, what was expected and what came.
"""

from torch import Tensor

from bertlab._checks import check_ids, values_are_at_hand

__all__ = ["check_ids", "check_memory", "check_tokens_mask"]


def check_tokens_mask(where: str, name: str, mask: Tensor | None, shape: tuple[int, ...]) -> None:
    """A mask of tokens is boolean (or 0 and 1), [B, L], True at each sequence's first token."""
    if mask is None:
        return
    if mask.shape != shape:
        raise ValueError(
            f"{where}: {name} must be [B, L] = {list(shape)}, as the ids are; "
            f"got {list(mask.shape)}"
        )
    if mask.is_floating_point():
        raise ValueError(
            f"{where}: {name} must be boolean, True for tokens and False for padding; "
            f"got {mask.dtype}"
        )
    if values_are_at_hand(mask) and not mask[:, 0].bool().all():
        raise ValueError(
            f"{where}: {name} must be True at the first token of each sequence; got False; "
            "padding belongs at the end"
        )


def check_memory(where: str, memory: Tensor, batch: int, d_model: int) -> None:
    """What `encode` returned, for as many sequences as there are targets: [B, L, D]."""
    if memory.dim() != 3 or memory.shape[0] != batch or memory.shape[2] != d_model:
        raise ValueError(
            f"{where}: memory must be [B, L, D] with B = {batch}, one for each target, and "
            f"D = {d_model}; got {list(memory.shape)}"
        )
