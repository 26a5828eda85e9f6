"""BERT with the two heads of its pre-training, masked words and next sentences; and their use."""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from bertlab.model.bert import Bert, BertOutput, drawn, evaluation_mode
from bertlab.model.checks import check_filling, check_predict
from bertlab.model.config import BertConfig
from bertlab.model.layers import LayerNorm, gelu
from bertlab.parts import part
from bertlab.tokenizers.tokenizer import Tokenizer
from bertlab.tokenizers.words import MASK


class PreTrainingOutput(NamedTuple):
    """The output of `BertForPreTraining`."""

    mlm_logits: Tensor  # [B, L, V], or [N, V] at the N positions asked for
    nsp_logits: Tensor  # [B, 2]: column 0 = IsNext, column 1 = NotNext, as published
    encoder: BertOutput


class MaskedLanguageModelHead(nn.Module):
    """From a token's vector to a score for every word: transform, GELU, norm, unembedding.

    The unembedding is the table of token embeddings ("tied"), with a bias of its own.

    Source: Phuong & Hutter (2022), Algorithm 9, lines 10 to 12, and Algorithm 7 (unembedding),
    which have no bias and no tying; Devlin et al. (2019), section 3.1.
    """

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.transform = nn.Linear(config.d_model, config.d_model)  # W_f, b_f
        self.norm = LayerNorm(config.d_model, config.layer_norm_eps)
        self.bias = nn.Parameter(torch.zeros(config.vocab_size))

    @part("06")
    def forward(self, hidden: Tensor, unembedding: Tensor) -> Tensor:
        """hidden: [..., D]; unembedding: [V, D]. Returns logits [..., V]."""
        transformed = self.norm(gelu(self.transform(hidden)))  # [..., D]
        return F.linear(transformed, unembedding, self.bias)


class BertForPreTraining(nn.Module):
    """The encoder, the head for masked words and the head for next sentences.

    seed: draws all initial weights as in `Bert`; those of the encoder are `Bert(config, seed)`'s.

    >>> model = BertForPreTraining(BertConfig.tiny(vocab_size=100)).eval()
    >>> output = model(torch.tensor([[2, 17, 4, 3]]))
    >>> output.mlm_logits.shape, output.nsp_logits.shape
    (torch.Size([1, 4, 100]), torch.Size([1, 2]))
    """

    def __init__(self, config: BertConfig, seed: int = 0) -> None:
        super().__init__()
        self.config = config
        self.bert = Bert(config, seed)
        draw = torch.Generator().manual_seed(seed)
        self.mlm_head = drawn(lambda: MaskedLanguageModelHead(config), draw)
        self.nsp_head = drawn(lambda: nn.Linear(config.d_model, 2), draw)

    def forward(
        self,
        ids: Tensor,
        segment_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        predict: Tensor | None = None,
        *,
        output_attentions: bool = False,
        output_hidden_states: bool = False,
    ) -> PreTrainingOutput:
        """Score every word at every position, and whether sentence B follows sentence A.

        ids, segment_ids, attention_mask: as in `Bert`; predict: boolean [B, L], the positions
        whose word is to be predicted; their scores are returned in order, [N, V]. BERT masks 15 %
        of the tokens; scoring 30,522 words for the other 85 % would be the larger part of a small
        model's work, and useless.

        Raises ValueError as `Bert`, or if `predict` does not fit.
        """
        check_predict(ids, predict)
        encoder = self.bert(
            ids,
            segment_ids,
            attention_mask,
            output_attentions=output_attentions,
            output_hidden_states=output_hidden_states,
        )
        hidden = encoder.last_hidden_state  # [B, L, D]
        if predict is not None:
            hidden = hidden[predict]  # [N, D]
        return PreTrainingOutput(
            mlm_logits=self.mlm_head(hidden, self.bert.embeddings.token.weight),
            nsp_logits=self.nsp_head(encoder.pooler_output),
            encoder=encoder,
        )


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
    check_filling(model, tokenizer, top)
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
