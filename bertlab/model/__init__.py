"""Floor 1: ids to vectors.

Read `attention.py`, `layers.py`, `bert.py`, `heads.py`, then `transformer.py`, which has a decoder;
`fast.py` has the fast twins of the parts among them (`bertlab.parts`). `config.py` holds the sizes,
`pretrained.py` reads and writes published weights and counts parameters, `checks.py` checks
arguments.
"""

from bertlab.model.attention import MultiHeadAttention, attention, causal_mask, padding_mask
from bertlab.model.bert import Bert, BertOutput, Embeddings, sinusoidal_positions
from bertlab.model.config import BertConfig
from bertlab.model.heads import BertForPreTraining, PreTrainingOutput
from bertlab.model.layers import EncoderLayer, FeedForward, LayerNorm
from bertlab.model.pretrained import (
    ParameterTable,
    count_parameters,
    load_pretrained,
    save_pretrained,
)
from bertlab.model.transformer import Transformer, TransformerConfig
from bertlab.tokenizers.files import load_tokenizer

__all__ = [
    "Bert",
    "BertConfig",
    "BertForPreTraining",
    "BertOutput",
    "Embeddings",
    "EncoderLayer",
    "FeedForward",
    "LayerNorm",
    "MultiHeadAttention",
    "ParameterTable",
    "PreTrainingOutput",
    "Transformer",
    "TransformerConfig",
    "attention",
    "causal_mask",
    "count_parameters",
    "load_pretrained",
    "load_tokenizer",
    "padding_mask",
    "save_pretrained",
    "sinusoidal_positions",
]
