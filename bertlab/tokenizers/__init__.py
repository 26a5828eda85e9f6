"""Floor 0: text to tokens to ids.

Read `words.py` (text to words), `bpe.py` (the algorithm in five functions, and the tokenizer on
characters), `byte_bpe.py` and `wordpiece.py` (where they differ). `tokenizer.py` is what the three
share. `fast.py` has the fast twins of their parts (`bertlab.parts`); `files.py` reads and writes
Hugging Face's files, `checks.py` checks arguments.
"""

from bertlab.tokenizers.bpe import BPE
from bertlab.tokenizers.byte_bpe import ByteBPE
from bertlab.tokenizers.tokenizer import Encoding, Tokenizer
from bertlab.tokenizers.wordpiece import WordPiece
from bertlab.tokenizers.words import count_words, normalize, split_words

__all__ = [
    "BPE",
    "ByteBPE",
    "Encoding",
    "Tokenizer",
    "WordPiece",
    "count_words",
    "normalize",
    "split_words",
]
