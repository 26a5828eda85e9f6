"""The most probable words for each [MASK] of a text."""

import torch

from bertlab.model.heads import BertForPreTraining
from bertlab.model.modes import evaluation_mode
from bertlab.tokenizers.encoding import MASK
from bertlab.tokenizers.tokenizer import Tokenizer


def fill_mask(
    model: BertForPreTraining, tokenizer: Tokenizer, text: str, top: int = 5
) -> list[list[tuple[str, float]]]:
    """The `top` most probable tokens for each [MASK], best first, with their probabilities.

    text: with at least one [MASK], such as "The cat sat on the [MASK]."; the tokenizer adds [CLS]
    and [SEP]. Tokens are spelled as in the vocabulary (##s continues a word). Each [MASK] is
    predicted independently, while the others stay masked: the best words need not fit together.
    The model is run without dropout; its mode is restored.

    Raises ValueError if the model has no head for words, if there is no [MASK] in the text, if it
    is longer than the model reads, if `top` is not from 1 to the number of tokens, if the tokenizer
    has no [MASK], or if model and tokenizer do not belong together.
    """
    if not isinstance(model, BertForPreTraining):
        raise ValueError(
            "fill_mask: model must be a BertForPreTraining, whose head guesses words; got "
            f"{type(model).__name__}; load_pretrained(folder, BertForPreTraining) reads the head"
        )
    size = len(tokenizer.vocab)
    if size != model.config.vocab_size:
        raise ValueError(
            f"fill_mask: tokenizer must have vocab_size={model.config.vocab_size} tokens as the "
            f"model; got {size}; do they belong together?"
        )
    if not 1 <= top <= size:
        raise ValueError(f"fill_mask: top must be from 1 to {size}, the vocabulary; got {top}")
    if MASK not in tokenizer.special_tokens:
        raise ValueError(
            f"fill_mask: tokenizer must have {MASK} among its special_tokens, or it is cut into "
            f"pieces; got {list(tokenizer.special_tokens)}"
        )
    device = next(model.parameters()).device
    ids = torch.tensor([tokenizer.encode(text).ids], device=device)  # [1, L]
    gaps = ids == tokenizer.vocab[MASK]
    if not gaps.any():
        raise ValueError(f"fill_mask: text must hold {MASK}, in capitals; got {text!r}")
    with evaluation_mode(model), torch.no_grad():
        logits = model(ids, predict=gaps).mlm_logits  # [N, V]
    best = logits.float().softmax(dim=-1).topk(top)
    token_of = {id: token for token, id in tokenizer.vocab.items()}
    return [
        [(token_of[id], probability) for id, probability in zip(row_ids, row, strict=True)]
        for row_ids, row in zip(best.indices.tolist(), best.values.tolist(), strict=True)
    ]
