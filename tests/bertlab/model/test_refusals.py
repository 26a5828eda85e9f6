"""What the parts of a model refuse: each bad call, and its message."""

import math
import re
from functools import partial

import numpy as np
import pytest
import torch

from bertlab.finetuning.sentences import pool
from bertlab.model import Bert, BertConfig, BertForPreTraining, FeedForward, sinusoidal_positions
from bertlab.model.attention import (
    HeadWeights,
    MultiHeadAttention,
    attention,
    causal_mask,
    padding_mask,
    self_attention,
)
from bertlab.model.heads import fill_mask
from bertlab.model.layers import layer_norm
from bertlab.model.transformer import Transformer, TransformerConfig
from bertlab.tokenizers import WordPiece
from tests.small_models import normal

TOKENIZER = WordPiece.train(["the cat sat on the mat"], 40)
SIZES = {"d_model": 24, "n_layers": 1, "n_heads": 4, "d_ff": 36, "max_length": 8}
SMALL = {"vocab_size": len(TOKENIZER.vocab)} | SIZES
BERT, HEADS = Bert(BertConfig(**SMALL)), BertForPreTraining(BertConfig(**SMALL))
BOTH = Transformer(TransformerConfig(**SMALL))
LAYER = MultiHeadAttention(12, 3)
HEAD = HeadWeights(*(torch.eye(4), torch.zeros(4)) * 3)

IDS, TOKENS = torch.ones(2, 5, dtype=torch.long), torch.ones(2, 5, dtype=torch.bool)
ROW, LONG = torch.tensor([[1, 2]]), torch.ones(2, 9, dtype=torch.long)
X, Q, GAMMA = normal(1, 3, 12), normal(3, 4), torch.ones(4)
TWO, THREE = normal(2, 2, 12), normal(2, 3, 4)

HIDES_ALL = [
    torch.zeros(3, 3, dtype=torch.bool),
    torch.ones(3, 3, dtype=torch.bool).tril(-1),  # the first token must not see itself
    torch.tensor([[[True] * 3], [[False] * 3]]),  # [2, 1, 3]: a text of padding only
    torch.zeros(1, dtype=torch.bool),
    torch.tensor(False),
]
NO_KEY = "mask leaves a query nothing to attend to"
MASKS = [
    (partial(padding_mask, ROW[0]), r"ids must be \[B, L\]; got \[2\]"),
    (partial(causal_mask, 0), "length must be at least 1; got 0"),
    *(
        (partial(LAYER, normal(4, 5, 12), torch.ones(shape, dtype=torch.bool)), message)
        for message in [r"mask must be \[B, L\] or \[B, 1, L, L\]; got \["]
        for shape in [(4, 7), (5, 4), (4,), (4, 2, 5, 5), (4, 1, 5, 6), (1, 5)]
    ),
    (partial(LAYER, X, torch.zeros(1, 3)), r"be boolean, or integers 1 .* got torch.float32"),
    (partial(LAYER, X, torch.tensor([[101, 7592, 2]])), "got 2 to 7592; are these token ids"),
    (partial(LAYER, X, torch.tensor([[1, -10000, 0]])), "only 0 and 1; got -10000 to 1"),
    (partial(attention, Q, Q, Q, torch.zeros(3, 3)), "mask must be boolean"),
    (partial(attention, Q, Q, Q, TOKENS), r"broadcast to the scores, \[3, 3\]; got \[2, 5\]"),
    *((partial(attention, THREE, THREE, THREE, mask), NO_KEY) for mask in HIDES_ALL),
    *((partial(self_attention, THREE, HEAD, mask), NO_KEY) for mask in HIDES_ALL),
    *(
        (partial(LAYER, TWO, torch.tensor(mask), output_attentions=asked, **options), message)
        for asked in (False, True)
        for mask, options, message in [
            ([[1, 1], [0, 0]], {}, NO_KEY),
            ([[1, 1], [0, 1]], {"causal": True}, "wants on the right"),
        ]
    ),
]
VECTORS = [
    (partial(LAYER, X[0]), r"x must be \[B, L, D\] with D = 12; got \[3, 12\]"),
    (partial(LAYER, X[..., :11]), r"x must be \[B, L, D\] with D = 12; got \[1, 3, 11\]"),
    (partial(LAYER, X.long()), "dtype, torch.float32; got torch.int64; ids become"),
    (partial(LAYER, X.double()), "dtype, torch.float32; got torch.float64"),
    (partial(LAYER, X, context=X[..., :11]), r"context must be \[B, L', D\] with D = 12"),
    (partial(MultiHeadAttention, 10, 3), "d_model=10, n_heads=3"),
    (partial(attention, Q, normal(3, 5), Q), "query and key must have the same last size"),
    (partial(attention, Q, Q, Q[:2]), "one value for each key"),
    (partial(attention, Q, Q.double(), Q), r"one dtype; got torch.float32, torch.float64"),
    (partial(self_attention, X, HEAD), r"x must be \[..., L, D\] with D = 4; got \[1, 3, 12\]"),
    (partial(layer_norm, X, GAMMA, GAMMA), r"x must be \[..., D\] with D = 4; got \[1, 3, 12\]"),
    (partial(layer_norm, Q.long(), GAMMA, GAMMA), "x must be of the weights' dtype"),
    (partial(FeedForward, 4, 8, "swish"), r"one of \['gelu', 'relu'\]; got 'swish'"),
    *(
        (partial(sinusoidal_positions, *sizes), "max_length must be at least 1 and d_model even")
        for sizes in [(0, 4), (4, 3), (4, 0)]
    ),
]
MODELS = [
    (partial(BERT, torch.tensor([[1, 26]])), "ids must be from 0 to 25; got 26"),
    (partial(BERT, torch.tensor([[1, -1]])), "ids must be from 0 to 25; got -1"),
    (partial(BERT, LONG), "at most max_length=8 tokens per sequence; got 9"),
    (partial(BERT, torch.ones(1, 3)), "ids must be integers, torch.long; got torch.float32"),
    *((partial(BERT, x), r"ids must be \[B, L\] and not e") for x in (IDS[0], IDS[:0], IDS[:, :0])),
    (partial(BERT, ROW, ROW), "segment_ids must be from 0 to 1; got 2"),
    (partial(BERT, ROW, ROW[:, :1]), "segment_ids must have the shape of ids"),
    (partial(BERT, ROW, None, torch.ones(1, 3)), r"got \[1, 3\] for 1 sequences of 2 tokens"),
    *(
        (partial(HEADS, IDS, predict=predict), f"be boolean and have the {re.escape(message)}")
        for predict, message in [
            (TOKENS[:, :4], "shape of ids, [2, 5]; got torch.bool [2, 4]"),
            (torch.ones(2, 5), "shape of ids, [2, 5]; got torch.float32 [2, 5]"),
        ]
    ),
    (partial(BOTH, IDS[0], IDS), r"source_ids must be \[B, L\] and not empty; got \[5\]"),
    (partial(BOTH, IDS, IDS[:, :0]), r"target_ids must be \[B, L\] and not empty; got \[2, 0\]"),
    (partial(BOTH, IDS.float(), IDS), "source_ids must be integers, torch.long; got torch.float32"),
    (partial(BOTH, IDS, IDS * 40), "target_ids must be from 0 to 25; got 40"),
    (partial(BOTH, LONG, IDS), "source_ids must hold at most max_length=8 tokens .* got 9"),
    (partial(BOTH, IDS, IDS, TOKENS[:, :4]), r"source_mask must be \[B, L\] = \[2, 5\].* \[2, 4\]"),
    (partial(BOTH, IDS, IDS, TOKENS.float()), "source_mask must be boolean.* got torch.float32"),
    (partial(BOTH, IDS, IDS, ~TOKENS), "source_mask must be True at the first token"),
    (partial(BOTH, IDS, IDS, None, ~TOKENS), "target_mask must be True at the first token"),
    (partial(BOTH, IDS, IDS, None, TOKENS[:1]), r"target_mask must be .* = \[2, 5\].* got \[1, 5"),
    (partial(BOTH, IDS, IDS[:1]), r"memory must be \[B, L, D\] with B = 1.* got \[2, 5, 24\]"),
    (partial(BOTH.decode, IDS, normal(2, 5, 12)), r"memory must be .* D = 24; got \[2, 5, 12\]"),
]


def guess(text="the [MASK]", top=5, model=HEADS, tokenizer=TOKENIZER):
    return partial(fill_mask, model, tokenizer, text, top)


GUESSES = [
    *((guess(text), r"text must hold \[MASK\]") for text in ("The cat sat.", "the [mask]", "")),
    *((guess(top=top), f"top must be from 1 to 26.* got {top}") for top in (0, 27)),
    (guess(tokenizer=WordPiece.train(["the cat"], 20)), "do they belong together"),
    (guess("the [MASK] " * 8), "max_length=8"),
    (guess(model=BERT), r"must be a BertForPreTraining, .*; got Bert;"),
    (
        guess(tokenizer=WordPiece(TOKENIZER.vocab, special_tokens=("[UNK]", "[CLS]", "[SEP]"))),
        "among its special_tokens",
    ),
]
CONFIGS = [
    *(
        (partial(BertConfig, **{name: value}), f"BertConfig: {message}")
        for name, value, message in [
            ("d_model", 770, "d_model must be divisible by n_heads"),
            ("n_layers", 0, "n_layers must be at least 1; got 0"),
            ("dropout", 1.0, r"dropout must be in \[0, 1\); got 1"),
            ("n_layers", 1.5, "n_layers must be an integer; got 1.5"),
            ("n_layers", True, "n_layers must be an integer; got True"),
            ("vocab_size", math.nan, "vocab_size must be an integer; got nan"),
            ("d_model", "768", "d_model must be an integer; got '768'"),
            ("max_length", None, "max_length must be an integer; got None"),
            ("n_segments", 0, "n_segments must be at least 1; got 0"),
            ("dropout", "0.1", "dropout must be a number; got '0.1'"),
            ("dropout", math.nan, r"dropout must be in \[0, 1\); got nan"),
            ("layer_norm_eps", math.nan, "layer_norm_eps must be at least 0 and finite; got nan"),
            ("layer_norm_eps", math.inf, "layer_norm_eps must be at least 0 and finite; got inf"),
            ("layer_norm_eps", -1e-12, "layer_norm_eps must be at least 0 and finite; got -1e-12"),
            ("causal", "no", "causal must be True or False; got 'no'"),
            ("causal", 1, "causal must be True or False; got 1"),
        ]
    ),
    *(
        (partial(TransformerConfig, **SMALL | changes), message)
        for changes, message in [
            ({"d_model": 26}, "divisible by n_heads, .* got d_model=26, n_heads=4"),
            ({"d_model": 21, "n_heads": 3}, "must be even"),
            ({"vocab_size": 0}, "vocab_size must be at least 1; got 0"),
            ({"n_layers": 1.5}, "TransformerConfig: n_layers must be an integer; got 1.5"),
            ({"pre_norm": "no"}, "pre_norm must be True or False; got 'no'"),
            ({"layer_norm_eps": math.nan}, "layer_norm_eps must be at least 0 and finite; got nan"),
            ({"dropout": 1.0}, r"dropout must be in \[0, 1\); got 1.0"),
        ]
    ),
]
LISTS = [
    (partial(LAYER, X, [[1, 0, 0]]), "attention: mask must be a tensor; got a list"),
    (partial(LAYER, X, np.ones((1, 3))), "attention: mask must be a tensor; got a ndarray"),
    (partial(attention, Q, Q, Q, [[True] * 3] * 3), "attention: mask must be a tensor"),
    (partial(attention, Q.tolist(), Q, Q), "attention: query must be a tensor; got a list"),
    (partial(padding_mask, [[5, 0]]), "padding_mask: ids must be a tensor; got a list"),
    (partial(pool, X, [[1, 0, 0]], "mean"), "pool: attention_mask must be a tensor; got a list"),
    (partial(pool, X.tolist(), None, "cls"), "pool: hidden must be a tensor; got a list"),
    (partial(BERT, [[1, 2]]), "Bert: ids must be a tensor; got a list"),
    (partial(BERT, ROW.numpy()), "Bert: ids must be a tensor; got a ndarray"),
    (partial(BERT, ROW, [[0, 0]]), "Bert: segment_ids must be a tensor; got a list"),
    (partial(BERT, ROW, None, [[1, 1]]), "mask must be a tensor; got a list"),
    (partial(BOTH, [[1, 2]], ROW), "source_ids must be a tensor; got a list"),
    (partial(BOTH, ROW, ROW, [[True] * 2]), "source_mask must be a tensor; got a list"),
    (partial(BOTH, ROW, ROW, None, (1, 1)), "target_mask must be a tensor; got a tuple"),
]


@pytest.mark.parametrize(("call", "message"), [*MASKS, *VECTORS, *MODELS, *GUESSES, *CONFIGS])
def test_a_value_that_does_not_fit_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(("call", "message"), LISTS)
def test_a_list_where_a_tensor_belongs_is_named(call, message):
    with pytest.raises(TypeError, match=message):
        call()
