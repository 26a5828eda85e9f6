"""An entry of the project: its clock and its result.

An entry is a function, `entry(texts, seed, seconds)`, that returns the output of `hand_over`: the
model and the tokenizer as the contents of files. Files can be read without running any code.
"""

import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from bertlab.model.heads import BertForPreTraining
from bertlab.model.pretrained import load_pretrained, load_tokenizer, save_pretrained
from bertlab.tokenizers import WordPiece

MODEL = ("config.json", "model.safetensors", "vocab.txt", "tokenizer_config.json")
TIME = "clock.txt"  # the used share of the budget, by the entry's own clock
MOST_MB = 100  # of all files together: 25 million parameters
Files = dict[str, bytes]


class Clock:
    """Processor time since the clock was made, of all threads of this process.

    Time that other processes take on a busy machine does not count. Create it in the first line of
    your entry.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds, self.start = seconds, time.process_time()

    def used(self) -> float:
        """The used share of the budget: 0 at the start, 1 at the end."""
        return (time.process_time() - self.start) / self.seconds

    def left(self) -> float:
        """Seconds of processor time left; below 0 after the end of the budget."""
        return self.seconds * (1 - self.used())


def hand_over(model: BertForPreTraining, tokenizer: WordPiece, clock: Clock) -> Files:
    """The files of a model and its tokenizer, and the used time: name -> content.

    Raises ValueError as `save_pretrained`: if the two do not belong together, for example.
    """
    if not isinstance(model, BertForPreTraining) or not isinstance(tokenizer, WordPiece):
        raise ValueError(
            "hand_over: needs a BertForPreTraining, a WordPiece and the clock, in this order; got "
            + ", ".join(type(given).__name__ for given in (model, tokenizer, clock))
        )
    with TemporaryDirectory() as folder:
        save_pretrained(model, folder, tokenizer)
        files = {name: (Path(folder) / name).read_bytes() for name in MODEL}
    return files | {TIME: str(clock.used()).encode()}


def opened(files: Any) -> tuple[BertForPreTraining, WordPiece]:
    """The model and the tokenizer of some untrusted files.

    Raises ValueError if they are other files, too large, damaged, or if a weight is not finite.
    """
    if not isinstance(files, dict) or set(files) != {*MODEL, TIME}:
        found = sorted(map(str, files)) if isinstance(files, dict) else type(files).__name__
        raise ValueError(
            f"an entry returns what `hand_over(model, tokenizer, clock)` gives; got {found}"
        )
    if not all(isinstance(content, bytes) for content in files.values()):
        raise ValueError("the contents of an entry's files are bytes, as `hand_over` gives them")
    if (size := sum(map(len, files.values())) / 2**20) > MOST_MB:
        raise ValueError(f"an entry's files may have {MOST_MB} MB; they have {size:.0f}")
    with TemporaryDirectory() as folder:
        for name in MODEL:
            (Path(folder) / name).write_bytes(files[name])
        model, tokenizer = load_pretrained(folder, BertForPreTraining), load_tokenizer(folder)
    if not all(torch.isfinite(weight).all() for weight in model.parameters()):
        raise ValueError("the model has weights that are not finite: its training diverged")
    return model, tokenizer
