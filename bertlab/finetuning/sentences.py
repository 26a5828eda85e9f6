"""One vector per sentence: an encoder, pooling, and normalisation to length 1.

Letters in shape comments: B sentences in a batch, L tokens in the longest of them, D embedding
size, N sentences in all.

Source: Reimers & Gurevych (2019), "Sentence-BERT", section 3.
"""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Self

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from tqdm.auto import tqdm

from bertlab.finetuning.sentence_folders import declared
from bertlab.finetuning.texts import collate, encode_texts
from bertlab.model.bert import Bert, evaluation_mode
from bertlab.model.checks import check_fits, check_tensor, values_are_at_hand
from bertlab.model.pretrained import load_pretrained
from bertlab.tokenizers.checks import entries
from bertlab.tokenizers.files import load_tokenizer
from bertlab.tokenizers.tokenizer import Tokenizer
from bertlab.tokenizers.words import PAD

MOST_TOKENS = 1024  # of a batch; its largest tensor is then 6 MB in a model of MiniLM's size
SHOWN_AFTER = 2  # seconds


class SentenceEncoder(nn.Module):
    """A BERT that gives every sentence a vector; after training, similar ones if they are similar.

    bert: its vectors of the last layer are pooled; tokenizer: the one it was trained with;
    pooling: "mean", "cls" or "max", see `pool`; normalize: give every vector the length 1, so that
    a dot product is a cosine; max_length: tokens of the longest text, [CLS] and [SEP] included
    (None: as many as the encoder has positions for); dense: layers between pooling and
    normalisation, as some published models have.

    Raises ValueError if tokenizer and encoder do not belong together, the pooling is unknown,
    `max_length` is more than the encoder reads, or a layer does not fit the one before it.

    Source: Reimers & Gurevych (2019), section 3.
    """

    def __init__(
        self,
        bert: Bert,
        tokenizer: Tokenizer,
        pooling: str = "mean",
        normalize: bool = True,
        max_length: int | None = None,
        dense: Iterable[nn.Module] = (),
    ) -> None:
        super().__init__()
        check_fits("SentenceEncoder", tokenizer, bert.config)
        check_pooling("SentenceEncoder", "pooling", pooling)
        longest = bert.config.max_length
        if max_length is not None and not 3 <= max_length <= longest:
            raise ValueError(
                f"SentenceEncoder: max_length must be from 3 to {longest}, the positions that the "
                f"encoder has; got {max_length}"
            )
        self.bert, self.tokenizer = bert, tokenizer
        self.pooling, self.normalize = pooling, normalize
        self.max_length = longest if max_length is None else max_length
        self.dense = nn.Sequential(*dense)
        self.d_vector = bert.config.d_model
        for layer in self.dense:
            if isinstance(layer, nn.Linear):
                if layer.in_features != self.d_vector:
                    raise ValueError(
                        f"SentenceEncoder: dense must read vectors of {self.d_vector} numbers; got "
                        f"a layer that reads {layer.in_features}"
                    )
                self.d_vector = layer.out_features

    @classmethod
    def from_folder(
        cls,
        folder: str | os.PathLike,
        pooling: str | None = None,
        normalize: bool | None = None,
        max_length: int | None = None,
    ) -> Self:
        """Read a model's published weights, its tokenizer, and what its folder declares.

        A folder of sentence-transformers (with `modules.json`) says how to pool, which dense layers
        follow, whether to normalise, and how long a text may be. Otherwise the defaults are those
        of MiniLM (`all-MiniLM-L6-v2`): the mean, normalised, of at most 256 tokens. A model with
        fewer positions uses all of its positions. An argument that is given comes first.

        Raises FileNotFoundError or ValueError as `load_pretrained` and `load_tokenizer`, or if the
        folder declares what we do not have; the message names it.
        """
        said = declared(Path(folder))
        bert, tokenizer = load_pretrained(said.encoder), load_tokenizer(said.encoder)
        if max_length is None:
            max_length = min(said.max_length or bert.config.max_length, bert.config.max_length)
        pooling = said.pooling if pooling is None else pooling
        normalize = said.normalize if normalize is None else normalize
        return cls(bert, tokenizer, pooling, normalize, max_length, said.dense).eval()

    def forward(
        self,
        ids: Tensor,
        segment_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
    ) -> Tensor:
        """The vectors [B, D] of a batch; the arguments are those of `Bert`."""
        hidden = self.bert(ids, segment_ids, attention_mask).last_hidden_state  # [B, L, D]
        vectors = self.dense(pool(hidden, attention_mask, self.pooling))
        return F.normalize(vectors, dim=-1) if self.normalize else vectors

    def encode(
        self,
        texts: Iterable[str],
        *,
        truncate: bool = False,
        most_tokens: int = MOST_TOKENS,
        progress: bool = True,
    ) -> Tensor:
        """The vectors [N, D] of any number of texts, in their order.

        truncate: cut texts of more than `max_length` tokens instead of rejecting them; most_tokens:
        of a batch; on a GPU, more are faster; progress: show a bar if it takes longer than two
        seconds.

        Texts of the same number of tokens go through the model together (`batches_of_one_length`),
        without dropout. Raises ValueError if a text is empty or too long, TypeError for a
        single string, or if an entry is not a string.
        """
        encodings = encode_texts(
            texts, self.tokenizer, max_length=self.max_length, truncate=truncate
        )
        weight = self.bert.embeddings.token.weight
        # Not under `inference_mode`, so that a classifier can be trained on the vectors.
        vectors = weight.new_empty(len(encodings), self.d_vector)
        n = len(encodings)
        bar = tqdm(total=n, desc="encoding", unit="text", disable=not progress, delay=SHOWN_AFTER)
        lengths, pad_id = [len(encoding) for encoding in encodings], self.tokenizer.vocab[PAD]
        with bar, evaluation_mode(self), torch.inference_mode():
            for numbers in batches_of_one_length(lengths, most_tokens):
                batch = collate([encodings[number] for number in numbers], pad_id)
                vectors[numbers] = self(*batch.to(weight.device))
                bar.update(len(numbers))
        return vectors


def pool(hidden: Tensor, attention_mask: Tensor | None, how: str) -> Tensor:
    """A sentence's vector [B, D] from those of its tokens; padding never counts.

    hidden: [B, L, D]; attention_mask: [B, L], True (or 1) for tokens, None if nothing is padding;
    how: "mean" of all tokens, [CLS] and [SEP] included, "cls", the vector of the first token, or
    "max", the largest value in each dimension.

    Raises ValueError if a shape does not fit, `how` is unknown, or a row has no token.

    Source: Reimers & Gurevych (2019), section 3; they choose the mean, see their table 6.

    >>> hidden = torch.tensor([[[1.0, 4.0], [3.0, 2.0], [9.0, 9.0]]])
    >>> pool(hidden, torch.tensor([[1, 1, 0]]), "mean")
    tensor([[2., 3.]])
    """
    check_pooling("pool", "how", how)
    check_pooled(hidden, attention_mask)
    if how == "cls":
        return hidden[:, 0]
    if attention_mask is None:
        return hidden.mean(dim=1) if how == "mean" else hidden.amax(dim=1)
    token = attention_mask.bool()[..., None]  # [B, L, 1]
    if how == "max":
        return hidden.masked_fill(~token, -torch.inf).amax(dim=1)
    # Not a product with 0: values at padding, which may be infinite, must not count.
    return hidden.masked_fill(~token, 0).sum(dim=1) / token.sum(dim=1)


POOLINGS = ("mean", "cls", "max")


def batches_of_one_length(lengths: Sequence[int], most: int = MOST_TOKENS) -> list[list[int]]:
    """Which texts go through a model together, so that there is almost no padding.

    lengths: of the texts, in tokens; most: tokens of a batch, padding included, unless one text
    alone has more: a batch should fit into the processor's cache. A batch holds texts of one
    length; only if they fill less than a quarter of it are texts of the next shorter length added,
    since a very small batch takes as long as a small one.

    Returns each batch as the numbers of its texts, the longest first, and every text in one batch.
    Raises ValueError if `most` is below 1.

    >>> batches_of_one_length([5, 7, 5, 7, 5], most=16)
    [[1, 3], [0, 2, 4]]
    """
    if most < 1:
        raise ValueError(f"batches_of_one_length: most must be at least 1; got {most}")
    lengths = list(entries("batches_of_one_length", "lengths", lengths))
    batches: list[list[int]] = []
    for number in sorted(range(len(lengths)), key=lambda number: -lengths[number]):
        batch = batches[-1] if batches else []
        longest = lengths[batch[0]] if batch else 0
        full = (len(batch) + 1) * longest > most
        other = lengths[number] < longest and 4 * len(batch) * longest >= most
        if not batch or full or other:
            batches.append([])
        batches[-1].append(number)
    return batches


def check_pooling(where: str, name: str, how: str) -> None:
    """Raise ValueError unless `how` is a way of pooling."""
    if how not in POOLINGS:
        raise ValueError(f"{where}: {name} must be one of {', '.join(POOLINGS)}; got {how!r}")


def check_pooled(hidden: Tensor, attention_mask: Tensor | None) -> None:
    """Raise ValueError unless each row has a token, and the mask fits."""
    check_tensor("pool", "hidden", hidden)
    if hidden.dim() != 3:
        raise ValueError(f"pool: hidden must be [B, L, D]; got {list(hidden.shape)}")
    if attention_mask is None:
        return
    check_tensor("pool", "attention_mask", attention_mask)
    if attention_mask.shape != hidden.shape[:2]:
        raise ValueError(
            f"pool: attention_mask must be [B, L] = {list(hidden.shape[:2])}, as hidden is; "
            f"got {list(attention_mask.shape)}"
        )
    if values_are_at_hand(attention_mask) and not attention_mask.any(dim=1).all():
        raise ValueError(
            "pool: attention_mask must mark a token in each row; got a row of padding alone"
        )
