"""`transformers`: its model, its collator, its `Trainer`'s optimiser, on our pairs of sentences."""

from typing import Any

import numpy as np
import torch
import transformers
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset

from benchmarks.learners import (
    CLIP,
    LENGTH,
    Learner,
    Scores,
    Setting,
    Shape,
    corpus_of,
    for_ever,
)
from bertlab.data.prepared import PreparedCorpus
from bertlab.pretraining.pairs import plan_pairs


class PairDataset(Dataset):
    """The pairs that we train on, in the form that the collator reads."""

    def __init__(self, corpus: PreparedCorpus, seed: int = 0) -> None:
        self.store = corpus.training
        self.pairs = plan_pairs(self.store, LENGTH, np.random.default_rng(seed))
        self.cls, self.sep = (corpus.tokenizer.vocab[name] for name in ("[CLS]", "[SEP]"))

    def __len__(self) -> int:
        return len(self.pairs.not_next)

    def __getitem__(self, i: int) -> dict[str, Any]:
        pairs, ids = self.pairs, self.store.ids
        a = ids[pairs.a_start[i] : pairs.a_end[i]].tolist()
        b = ids[pairs.b_start[i] : pairs.b_end[i]].tolist()
        return {
            "input_ids": [self.cls, *a, self.sep, *b, self.sep],
            "token_type_ids": [0] * (len(a) + 2) + [1] * (len(b) + 1),
            "special_tokens_mask": [1, *[0] * len(a), 1, *[0] * len(b), 1],
            "next_sentence_label": int(pairs.not_next[i]),
        }


class OurArguments(nn.Module):
    """A model of `transformers` that is called like ours."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(
        self, ids: Tensor, segment_ids: Tensor, attention_mask: Tensor, predict: Tensor
    ) -> Scores:
        """Score the words where `predict` is True."""
        output = self.model(
            input_ids=ids, token_type_ids=segment_ids, attention_mask=attention_mask
        )
        return Scores(output.prediction_logits[predict], output.seq_relationship_logits)


def theirs(setting: Setting, own_start: bool = False) -> Learner:
    """`BertForPreTraining`, `DataCollatorForLanguageModeling`, fused AdamW, clipped gradients.

    own_start: with the weights that it draws itself, instead of ours.
    """
    transformers.logging.set_verbosity_error()
    corpus = corpus_of(setting.folder)
    kind, how = transformers.BertForPreTraining, {"attn_implementation": "sdpa"}
    if own_start:
        config = transformers.BertConfig.from_pretrained(setting.weights)
        model = kind._from_config(config, **how)
    else:
        model = kind.from_pretrained(setting.weights, **how)
    model = model.to(setting.device).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=setting.rate, fused=True)
    loader = DataLoader(
        PairDataset(corpus, setting.seed),
        batch_size=setting.sequences,
        shuffle=True,
        drop_last=True,
        collate_fn=transformers.DataCollatorForLanguageModeling(tokenizer_of(corpus)),
    )

    def step(batch: dict[str, Tensor]) -> None:
        model(**{name: part.to(setting.device) for name, part in batch.items()}).loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        optimizer.step()
        optimizer.zero_grad()

    return Learner(model, optimizer, for_ever(loader), step, shape, OurArguments)


def shape(batch: dict[str, Tensor]) -> Shape:
    """The words of every position are scored."""
    sequences, length = batch["input_ids"].shape
    return Shape(sequences, length, int(batch["attention_mask"].sum()), sequences * length)


def tokenizer_of(corpus: PreparedCorpus) -> transformers.PreTrainedTokenizerBase:
    """Our vocabulary in a tokenizer of `transformers`: it pads, and knows what [MASK] is."""
    vocab = corpus.tokenizer.vocab
    return transformers.BertTokenizer(vocab={token: vocab[token] for token in vocab})
