"""What pre-training refuses: each bad call, and its message."""

from functools import partial

import numpy as np
import pytest
import torch

from bertlab.pretraining.batches import Position, PretrainingData
from bertlab.pretraining.losses import (
    mlm_gradient,
    mlm_loss,
    nsp_loss,
    nsp_sigmoid_gradient,
    nsp_sigmoid_loss,
)
from bertlab.pretraining.masking import Masking, mask_tokens
from bertlab.pretraining.pairs import Negatives, plan_pairs
from bertlab.tokenizers import ByteBPE, WordPiece
from tests.bertlab.pretraining.numbered_stores import store_in_memory, word_tokenizer
from tests.small_models import generator

TOKENIZER = word_tokenizer(40)
VOCAB = len(TOKENIZER.vocab)
STORE = store_in_memory([[2, 2, 2, 2], [3] * 10, [2]], tokenizer=TOKENIZER)
DATA = PretrainingData(STORE, TOKENIZER, max_length=9, batch_size=1)
WITHOUT = WordPiece({"[UNK]": 0, "a": 1}, (), ("[UNK]",))
# Were [MASK] an ordinary word, it would be chosen itself.
ORDINARY_MASK = WordPiece({"[UNK]": 0, "[MASK]": 1, "cat": 2}, special_tokens=["[UNK]"])
BYTES = ByteBPE.train(["a text"], 270, special_tokens=list(TOKENIZER.special_tokens))
SCORES, ROWS = torch.zeros(3, 5), torch.tensor([0, 1, 0])
LOGIT, IS_NEXT = torch.tensor([5.0, -5.0, 5.0]), torch.tensor([1.0, 0.0, 1.0])


def batches(**options):
    return lambda: PretrainingData(STORE, TOKENIZER, **options).epoch(0)


def pairs(lengths, max_length=9, short=0.1):
    return partial(plan_pairs, store_in_memory(lengths), max_length, np.random.default_rng(), short)


def started(batch):
    return lambda: next(DATA.batches(Position(0, batch)))


N = len(DATA.epoch(0))
BATCHES = [
    *((started(n), f"which has {N} batches; got batch {n}") for n in (N + 1, -1)),
    (batches(batch_size=9999), r"at most the number of pairs, \d+ in epoch 0; got 9999"),
    (batches(batch_size=0), "batch_size must be at least 1; got 0"),
    (batches(seed=-1), "seed must not be negative; got -1"),
    *(
        (batches(**{name: 16.5}), f"{name} must be an integer; got 16.5")
        for name in ("max_length", "batch_size", "seed")
    ),
    (partial(PretrainingData, STORE, word_tokenizer(3)), "was written with another tokenizer"),
    (partial(PretrainingData, STORE, WITHOUT), r"has no \[PAD\]"),
    (pairs([[3, 3], [3]], max_length=4), "max_length must be at least 5.*got 4"),
    (pairs([[3, 3], [3]], short=1.5), "short_probability must be from 0 to 1; got 1.5"),
    (pairs([[3, 3]]), "at least two documents.*got 1"),
    (pairs([[3], [3], [4]]), "a document of two sentences or more.*its 3 documents"),
    *(
        (partial(Negatives, same_document=share), "same_document must be from 0 to 1")
        for share in (-0.1, 1.1, float("nan"))
    ),
]
MASKS = [
    *(
        (
            partial(Masking.of, one),
            r"have \[MASK\] among its special_tokens, or it is cut into pieces; .*; train it",
        )
        for one in (ORDINARY_MASK, ByteBPE.train(["a text"], 260))
    ),
    (
        partial(Masking.of, BYTES, whole_words=True),
        "whole_words needs a tokenizer that marks piece",
    ),
    *(
        (partial(Masking.of, TOKENIZER, share), "probability must be above 0 and at most 1; got")
        for share in (0, -0.1, 1.1, float("nan"))
    ),
    *(
        (
            partial(mask_tokens, ids, Masking.of(TOKENIZER, whole_words=whole), generator()),
            f"mask_tokens: .*{message}",
        )
        for whole in (False, True)
        for ids, message in [
            (torch.tensor([[1.0, 2.5]]), "ids must be integers, torch.long; got torch.float32"),
            (torch.tensor([1, 2]), r"ids must be \[B, L\] and not empty; got \[2\]"),
            (torch.tensor([[1, VOCAB]]), f"from 0 to {VOCAB - 1}; got {VOCAB}"),
            (torch.tensor([[1, -1]]), f"from 0 to {VOCAB - 1}; got -1"),
            (torch.empty(0, 3, dtype=torch.long), r"not empty; got \[0, 3\]"),
        ]
    ),
]
# PyTorch would answer with a wrong number, with nan, or not at all.
LOSSES = [
    *(
        (partial(function, logits, words), f"{function.__name__}: .*{message}")
        for function in (mlm_loss, mlm_gradient)
        for logits, words, message in [
            (SCORES, torch.tensor([0, 1, 5]), "from 0 to 4; got 5"),
            # Its mean leaves these rows out, and a mean over all three would be too small.
            (SCORES, torch.tensor([0, -100, -100]), "words must be from 0 to 4; got -100; omit"),
            (SCORES, ROWS[:2], r"\[N\].*got \[3, 5\] and \[2\]"),
            (SCORES, torch.eye(5)[:3], r"got \[3, 5\] and \[3, 5\]"),  # probabilities
            (torch.zeros(2, 3, 5), torch.zeros(2, 3, dtype=torch.long), r"must be \[N, C\]"),
            (SCORES, ROWS.float(), "integers, torch.long; got torch.float32"),
            (SCORES.long(), ROWS, "got torch.int64 and torch"),
        ]
    ),
    (partial(nsp_loss, torch.zeros(0, 2), ROWS[:0]), r"must be \[B, 2\] with at least one pair"),
    (partial(nsp_loss, SCORES, ROWS), r"nsp_loss: .* IsNext and NotNext; got \[3, 5\]"),
    (partial(nsp_loss, SCORES[:, :2], ROWS - 100), "next_sentence must be from 0 to 1; got -100"),
    *(
        (partial(function, logit, is_next), f"{function.__name__}: {message}")
        for function in (nsp_sigmoid_loss, nsp_sigmoid_gradient)
        for logit, is_next, message in [
            (LOGIT, IS_NEXT[:, None], "logit and is_next must both be"),
            (LOGIT[:, None], IS_NEXT, "logit and is_next must both be"),
            (LOGIT, IS_NEXT[:1], "logit and is_next must both be"),
            (LOGIT[:0], IS_NEXT[:0], r".* at least one pair; got \[0\] and \[0\]"),
            (LOGIT, 2 * IS_NEXT, ".* 0 elsewhere; got 0 to 2"),
        ]
    ),
]


@pytest.mark.parametrize(("call", "message"), [*BATCHES, *MASKS, *LOSSES])
def test_what_does_not_fit_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
