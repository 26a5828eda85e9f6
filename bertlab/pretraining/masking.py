"""Which tokens the model must predict, and what it reads in their place."""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from bertlab.model.checks import check_mask_token, check_masked, require
from bertlab.parts import part
from bertlab.tokenizers.tokenizer import Tokenizer
from bertlab.tokenizers.wordpiece import WordPiece
from bertlab.tokenizers.words import MASK

MASKED_SHARE, RANDOM_SHARE = 0.8, 0.1  # of the chosen tokens; the rest does not change


class Masked(NamedTuple):
    """A batch with masked words."""

    ids: Tensor  # [B, L], what the model reads
    predict: Tensor  # [B, L], boolean: the tokens that it must predict


@dataclass(frozen=True, eq=False)
class Masking:
    """How tokens are chosen and hidden; `Masking.of(tokenizer)` reads the ids from a vocabulary.

    mask_id: the id of [MASK]; special_ids: ids [S] that are never chosen and never inserted;
    ordinary_ids: all other ids, from which random words are drawn; continues: boolean [V], True
    for pieces that continue a word (##s), or None: tokens are chosen independently; probability:
    that a token (or whole word) is chosen.
    """

    mask_id: int
    special_ids: Tensor
    ordinary_ids: Tensor
    continues: Tensor | None = None
    probability: float = 0.15

    def __post_init__(self) -> None:
        require(self, "probability", 0 < self.probability <= 1, "must be above 0 and at most 1")

    @property
    def vocab_size(self) -> int:
        """One more than the largest id."""
        return 1 + int(torch.cat([self.special_ids, self.ordinary_ids]).max())

    @classmethod
    def of(
        cls, tokenizer: Tokenizer, probability: float = 0.15, *, whole_words: bool = False
    ) -> "Masking":
        """The masking for a tokenizer's vocabulary.

        Raises ValueError if [MASK] is not among the special tokens, or if whole words are requested
        with a tokenizer that does not mark the pieces inside a word by ##.
        """
        check_mask_token("Masking.of", tokenizer)
        special = sorted(tokenizer.vocab[token] for token in tokenizer.special_tokens)
        ordinary = torch.zeros(max(tokenizer.vocab.values()) + 1, dtype=torch.bool)
        ordinary[list(tokenizer.vocab.values())] = True
        ordinary[special] = False
        continues = None
        if whole_words:
            if not isinstance(tokenizer, WordPiece):
                raise ValueError(
                    "Masking.of: whole_words needs a tokenizer that marks pieces inside a word, a "
                    f"WordPiece; got {tokenizer!r}"
                )
            pieces = [id for token, id in tokenizer.vocab.items() if token.startswith("##")]
            continues = torch.zeros_like(ordinary)
            continues[pieces] = True
        return cls(
            tokenizer.vocab[MASK],
            torch.tensor(special),
            ordinary.nonzero().flatten(),
            continues,
            probability,
        )


@part("07", check=check_masked)
def mask_tokens(ids: Tensor, masking: Masking, generator: torch.Generator) -> Masked:
    """Choose tokens to predict and hide them: 80 % [MASK], 10 % another word, 10 % unchanged.

    ids: [B, L], with special tokens and padding, which are never chosen. The same state of the
    generator gives the same masks.

    Raises ValueError if ids are not integers, not [B, L], or not of the masking's vocabulary.

    Source: Devlin et al. (2019), section 3.1, task 1. Their code chooses exactly 15 % of each
    sequence, and a random word may be a special token; here each token is chosen independently with
    probability 15 %, as in Phuong & Hutter's Algorithm 12, and random words are ordinary ones.
    """
    if masking.continues is None:
        predict = choose_tokens(ids, masking.special_ids, masking.probability, generator)
    else:
        predict = choose_words(
            ids, masking.special_ids, masking.continues, masking.probability, generator
        )
    return Masked(
        replace_chosen(ids, predict, masking.mask_id, masking.ordinary_ids, generator), predict
    )


@part("07", exercise="07")
def choose_tokens(
    ids: Tensor, special_ids: Tensor, probability: float, generator: torch.Generator
) -> Tensor:
    """Choose tokens independently: boolean [B, L], never True at a special token.

    ids: [B, L]; special_ids: [S].
    """
    ordinary = ~torch.isin(ids, special_ids)
    return ordinary & (torch.rand(ids.shape, generator=generator) < probability)


@part("07")
def choose_words(
    ids: Tensor,
    special_ids: Tensor,
    continues: Tensor,
    probability: float,
    generator: torch.Generator,
) -> Tensor:
    """Whole words: either all pieces of a word are chosen or none, boolean [B, L].

    ids: [B, L]; special_ids: [S]; continues: boolean [V], True for pieces such as ##s.
    Source: the "whole word masking" models in BERT's repository (May 2019).
    """
    ordinary = ~torch.isin(ids, special_ids)
    word = (~continues[ids]).cumsum(dim=1)  # [B, L], the number of each token's word
    chosen = torch.rand(len(ids), ids.shape[1] + 1, generator=generator) < probability
    return ordinary & chosen.gather(1, word)


@part("07")
def replace_chosen(
    ids: Tensor,
    predict: Tensor,
    mask_id: int,
    ordinary_ids: Tensor,
    generator: torch.Generator,
) -> Tensor:
    """What the model reads: 80 % of the chosen tokens become [MASK], 10 % a random word.

    ids: [B, L]; predict: boolean [B, L]; ordinary_ids: the ids to draw random words from.
    Why not all: fine-tuning has no [MASK], so the model must expect that any word that it reads
    may be wrong.
    """
    draw = torch.rand(ids.shape, generator=generator)
    others = torch.randint(len(ordinary_ids), ids.shape, generator=generator)
    hidden = torch.where(predict & (draw < MASKED_SHARE), mask_id, ids)
    change = predict & (draw >= MASKED_SHARE) & (draw < MASKED_SHARE + RANDOM_SHARE)
    return torch.where(change, ordinary_ids[others], hidden)


@part("07", derivation=True)
def mask_only(
    ids: Tensor, mask_id: int, p_mask: float, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """The formal algorithm's masking: each token becomes <mask_token> with probability p_mask.

    ids: [L]. Returns the masked sequence [L] and the masked positions T, counted from 0.
    For reading: training runs `mask_tokens`.

    Source: Phuong & Hutter (2022), Algorithm 12 (ETraining), lines 5 to 7.
    """
    masked = torch.rand(len(ids), generator=generator) < p_mask
    return torch.where(masked, mask_id, ids), masked.nonzero().flatten()
