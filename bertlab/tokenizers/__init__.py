"""Floor 0: text to tokens to ids.

Read `merges.py` first, the algorithm in three functions. `corpus.py` with `learning.py`, and
`cutting.py`, are its fast form; `likelihood.py`, `ranking.py` and `longest_match.py` are for
WordPiece, where it differs. `tokenizer.py` is what the three tokenizers share: `bpe.py`,
`byte_bpe.py`, `wordpiece.py`. `tokenizer_json.py` writes files and `tokenizer_reading.py` reads
them; `file_options.py` lists the supported options of Hugging Face's. `vocab_txt.py` is BERT's
older file format, and `folder.py` reads either from a model's folder.
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
