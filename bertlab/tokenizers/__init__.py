"""Floor 0: text to tokens to ids.

Read `merges.py` first, the algorithm in three functions. `corpus.py` with `learning.py`, and
`cutting.py`, are its fast form; `likelihood.py`, `ranking.py` and `longest_match.py` are what
WordPiece does in another way. `tokenizer.py` is what all three tokenizers share: `bpe.py`,
`byte_bpe.py`, `wordpiece.py`. Files are written by `tokenizer_json.py` and read by
`tokenizer_reading.py`; `file_options.py` says which options of Hugging Face's are carried out.
`vocab_txt.py` is BERT's older file.
"""

from bertlab.tokenizers.bpe import BPE
from bertlab.tokenizers.byte_bpe import ByteBPE
from bertlab.tokenizers.encoding import Encoding
from bertlab.tokenizers.normalize import normalize
from bertlab.tokenizers.tokenizer import Tokenizer
from bertlab.tokenizers.wordpiece import WordPiece
from bertlab.tokenizers.words import count_words, split_words

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
