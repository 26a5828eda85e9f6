"""An entry of the project: its clock and its result.

An entry is a function, `entry(texts, seed, seconds)`, that returns the output of `hand_over`: the
model and the tokenizer as the contents of files. Files can be read without running any code.
"""

import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from bertlab.model.config import SIZES, BertConfig
from bertlab.model.heads import BertForPreTraining
from bertlab.model.pretrained import load_pretrained, read_config, save_pretrained
from bertlab.tokenizers import WordPiece
from bertlab.tokenizers.files import load_tokenizer
from bertlab.tokenizers.words import CLS, MASK, SEP

MODEL = ("config.json", "model.safetensors", "vocab.txt", "tokenizer_config.json")
TIME = "clock.txt"  # the used share of the budget, by the entry's own clock
# All limits of an entry, in addition to its budget. The files must fit into the sandbox's folder.
MOST_MB, MOST_PARAMETERS = 50, 12_500_000
LARGEST = BertConfig.base(vocab_size=50_000)  # in each size
SCORE_SECONDS = 300  # of processor time, for the score
LIMITS = (
    f"at most {MOST_PARAMETERS:,} parameters, {MOST_MB} MB and {LARGEST.vocab_size:,} tokens; no "
    f"size above BERT-base's ({LARGEST.n_layers} layers, {LARGEST.d_model} dimensions, "
    f"{LARGEST.n_heads} heads, {LARGEST.max_length} positions); scoring takes at most "
    f"{SCORE_SECONDS} s of processor time"
)
Files = dict[str, bytes]

# As in the checks of exercise 8: at the first optimizer PyTorch imports many modules. Here that
# happens before an entry's clock, which would count the seconds.
torch.optim.SGD([torch.zeros(1)])


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

    Raises ValueError if they are other files, larger than the limits, damaged, or if a weight is
    not finite.
    """
    check_files(files)
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "config.json").write_bytes(files["config.json"])
        _check_sizes(read_config(folder), files["vocab.txt"])  # before anything large is made
        for name in MODEL:
            (folder / name).write_bytes(files[name])
        model, tokenizer = load_pretrained(folder, BertForPreTraining), load_tokenizer(folder)
    if (count := sum(weight.numel() for weight in model.parameters())) > MOST_PARAMETERS:
        raise ValueError(f"a model may have {MOST_PARAMETERS:,} parameters; it has {count:,}")
    if missing := [token for token in (CLS, SEP, MASK) if token not in tokenizer.vocab]:
        raise ValueError(f"the vocabulary has no {', '.join(missing)}; the score needs it")
    if not all(torch.isfinite(weight).all() for weight in model.parameters()):
        raise ValueError("the model has weights that are not finite: its training diverged")
    return model, tokenizer


def check_files(files: Any) -> None:
    """Raise ValueError unless they are an entry's files: their names, types and size."""
    if not isinstance(files, dict) or set(files) != {*MODEL, TIME}:
        found = sorted(map(str, files)) if isinstance(files, dict) else type(files).__name__
        raise ValueError(
            f"an entry returns what `hand_over(model, tokenizer, clock)` gives; got {found}"
        )
    if not all(isinstance(content, bytes) for content in files.values()):
        raise ValueError("the contents of an entry's files are bytes, as `hand_over` gives them")
    if (size := sum(map(len, files.values())) / 2**20) > MOST_MB:
        raise ValueError(f"an entry's files may have {MOST_MB} MB; they have {size:.0f}")


def _check_sizes(config: BertConfig, vocab: bytes) -> None:
    """Raise ValueError if a size of the model, or the number of lines, is above `LARGEST`."""
    lines = vocab.count(b"\n") + vocab.count(b"\r")
    sizes = {name: getattr(config, name) for name in SIZES} | {"lines of vocab.txt": lines}
    for name, size in sizes.items():
        most = getattr(LARGEST, name, LARGEST.vocab_size)
        if size > most:
            raise ValueError(f"{name} may be at most {most:,}; the entry has {size:,}")
