"""Floor 1: ids to vectors. Read `attention.py`, `layers.py`, `embeddings.py`, `bert.py`."""

from bertlab.model.attention import MultiHeadAttention, attention
from bertlab.model.bert import Bert, BertOutput
from bertlab.model.config import BertConfig
from bertlab.model.embeddings import Embeddings
from bertlab.model.layers import EncoderLayer, FeedForward, LayerNorm
from bertlab.model.pretrained import load_pretrained

__all__ = [
    "Bert",
    "BertConfig",
    "BertOutput",
    "Embeddings",
    "EncoderLayer",
    "FeedForward",
    "LayerNorm",
    "MultiHeadAttention",
    "attention",
    "load_pretrained",
]
