"""Floor 0: text to tokens to ids. Start with `bpe.py`."""

from bertlab.tokenizers.bpe import BPE, Encoding
from bertlab.tokenizers.words import count_words, split_words

__all__ = ["BPE", "Encoding", "count_words", "split_words"]
