"""Floor 0: text to tokens to ids. Start with `bpe.py`."""

from bertlab.tokenizers.bpe import BPE
from bertlab.tokenizers.byte_bpe import ByteBPE
from bertlab.tokenizers.encoding import Encoding
from bertlab.tokenizers.words import count_words, split_words

__all__ = ["BPE", "ByteBPE", "Encoding", "count_words", "split_words"]
