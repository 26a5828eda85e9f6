"""Attention masks. A mask is boolean and `True` means "may be attended to".

The scores of hidden keys become -inf before the softmax, so their weight is exactly 0.

Source: Phuong & Hutter (2022), Algorithm 4 and section 6; Vaswani et al. (2017), section 3.2.3.
"""

import torch
from torch import Tensor

from bertlab.model.checks import check_tensor, values_are_at_hand


def causal_mask(length: int, device: torch.device | str | None = None) -> Tensor:
    """The sequence mask of a decoder: each token sees itself and the tokens before it.

    Returns a boolean [length, length]: row = query, column = key.

    >>> causal_mask(3)
    tensor([[ True, False, False],
            [ True,  True, False],
            [ True,  True,  True]])
    """
    if length < 1:
        raise ValueError(f"causal_mask: length must be at least 1; got {length}")
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()


def padding_mask(ids: Tensor, pad_id: int = 0) -> Tensor:
    """The padding mask of a batch: every token that is not padding may be attended to.

    ids: [B, L]; returns a boolean [B, L].

    >>> padding_mask(torch.tensor([[101, 7592, 102], [101, 102, 0]]))
    tensor([[ True,  True,  True],
            [ True,  True, False]])
    """
    check_tensor("padding_mask", "ids", ids)
    if ids.dim() != 2:
        raise ValueError(f"padding_mask: ids must be [B, L]; got {list(ids.shape)}")
    return ids != pad_id


def expand_mask(mask: Tensor | None, batch: int, queries: int, keys: int) -> Tensor | None:
    """The mask as a boolean that broadcasts to [B, 1, L, L']; None if it hides nothing.

    mask: [B, L'] marks the keys that are tokens, not padding (1 or 0, as from tokenizers);
    [B, 1, L, L'] is for every query and key. Raises ValueError for any other shape or
    for numbers other than 0 and 1.
    """
    if mask is None:
        return None
    check_tensor("attention", "mask", mask)
    if mask.shape == (batch, keys):
        mask = mask[:, None, None, :]
    elif mask.dim() != 4 or any(
        size not in (1, full)
        for size, full in zip(mask.shape, (batch, 1, queries, keys), strict=True)
    ):
        raise ValueError(
            f"attention: mask must be [B, L] or [B, 1, L, L]; got {list(mask.shape)} "
            f"for {batch} sequences of {keys} tokens"
            + (f" and {queries} queries" if queries != keys else "")
        )
    if mask.is_floating_point():
        raise ValueError(
            "attention: mask must be boolean, or integers 1 (may be attended to) and 0 (hidden); "
            f"got {mask.dtype}; numbers to add to the scores, such as -inf, are not masks here"
        )
    if (
        values_are_at_hand(mask)
        and mask.dtype != torch.bool
        and not 0 <= mask.min() <= mask.max() <= 1
    ):
        raise ValueError(
            f"attention: mask must hold only 0 and 1; got {mask.min()} to {mask.max()}; "
            "are these token ids?"
        )
    mask = mask.bool()
    hides_nothing = values_are_at_hand(mask) and bool(mask.all())
    return None if hides_nothing else mask  # attention without a mask is faster
