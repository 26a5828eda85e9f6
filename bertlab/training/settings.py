"""The settings of a run, kept in its folder as `settings.json`."""

import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path

from bertlab._checks import check_choice, check_fields, require
from bertlab._files import write_atomically
from bertlab.model.config import BertConfig
from bertlab.pretraining.negatives import ANYWHERE, HALF_SAME_DOCUMENT, SAME_CORPUS
from bertlab.training.config import TrainingConfig
from bertlab.training.corpus import VALIDATION
from bertlab.training.sealed_folders import checksum
from bertlab.training.start import STARTS

SIZES = ("tiny", "mini", "small", "medium", "base", "large")
NEGATIVES = {"any": ANYWHERE, "corpus": SAME_CORPUS, "document": HALF_SAME_DOCUMENT}


@dataclass(frozen=True)
class RunSettings:
    """The data, the model and the training; `minutes` sets `training.steps` once, at the start.

    corpus, field, tokenizer: as in `prepare_corpus`; vocab_size: of the tokenizer, if it is
    trained; probability: that a word is masked in training; evaluation always uses BERT's 15 %;
    negatives: the source of sentences that are not the next ones: "any" document as in BERT,
    another document of the same "corpus", or half of them from the same "document"; start: the
    initial weights, all random ("plain") or, a shortcut, with planted heads that attend to their
    "neighbours" (`bertlab.training.start`); snapshots: the number of models to keep; short_first:
    the share of the steps, at the start, with short sequences (`ShortFirst`); allow_unknown: as in
    `prepare_corpus`.

    Raises ValueError if a value has the wrong type or is out of range.
    """

    corpus: str
    training: TrainingConfig
    size: str = "mini"
    minutes: float | None = None
    vocab_size: int = 8000
    max_length: int = 128
    batch_size: int = 32
    whole_words: bool = False
    probability: float = 0.15
    dropout: float = 0.1
    validation: float = VALIDATION
    field: str = "text"
    tokenizer: str | None = None
    negatives: str = "any"
    start: str = "plain"
    snapshots: int = 0
    short_first: float = 0.0
    allow_unknown: bool = False

    def __post_init__(self) -> None:
        check_fields(self)
        check_choice(self, "size", SIZES)
        check_choice(self, "negatives", NEGATIVES)
        check_choice(self, "start", STARTS)
        require(
            self,
            "snapshots",
            self.snapshots == 0 or self.snapshots >= 3,
            "must be 0, or at least 3 (the start, step 1, the end)",
        )
        require(
            self, "minutes", self.minutes is None or 0 < self.minutes < math.inf, "must be above 0"
        )
        require(self, "batch_size", self.batch_size >= 1, "must be at least 1")
        require(self, "probability", 0 < self.probability <= 1, "must be in (0, 1]")
        require(self, "short_first", 0 <= self.short_first <= 1, "must be from 0 to 1")
        self.model_config(self.vocab_size)

    def model_config(self, vocab_size: int) -> BertConfig:
        """The sizes of the model; a small corpus may have fewer words than `vocab_size`."""
        sized = getattr(BertConfig, self.size)
        length = max(512, self.max_length)  # BERT's positions, even if no sequence is this long yet
        return sized(vocab_size=vocab_size, max_length=length, dropout=self.dropout)

    def save(self, folder: Path) -> None:
        """Write `settings.json`, with a checksum: a run continues with what it began with."""
        values = asdict(self)
        sealed = values | {"sha256": checksum(values)}
        write_atomically(folder / "settings.json", json.dumps(sealed, indent=2) + "\n")

    @classmethod
    def load(cls, folder: Path) -> "RunSettings":
        """Read `settings.json`. Raises FileNotFoundError, or ValueError if damaged or edited."""
        path = folder / "settings.json"
        if not path.is_file():
            raise FileNotFoundError(
                f"{folder} holds no run to resume (no settings.json); omit --resume to start one"
            )
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
            seal = values.pop("sha256", None)  # runs of earlier versions have none
            settings = cls(**values | {"training": TrainingConfig(**values["training"])})
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise ValueError(
                f"{path} is damaged or of another version ({error}); start a new run in another "
                "folder"
            ) from error
        if seal not in (None, checksum(values)):
            raise ValueError(
                f"{path} was edited after the run had started, but a run must continue with the "
                "settings it began with; undo the change, or start another run in another --out"
            )
        return settings
