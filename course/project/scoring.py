"""The score of a model and its tokenizer: bits per masked byte, and probes.

Tokenizers cut words differently, so losses per token cannot be compared: many easy pieces look
better than few hard words. The text is common to all. So whole words are hidden, the same ones for
every entry, and the cost of each is its code length for a receiver who has the model:

- its number of pieces, which the number of [MASK]s reveals: -log2 of this number's frequency among
  the hidden words;
- its pieces: first those that begin the hidden words, then, with these visible, the second ones,
  and so on; each costs -log2 of the model's probability;
- a word that the tokenizer cannot write ([UNK]), or too long for the model: 8 bits per byte.

A receiver with the model and the table of these frequencies could decode all words in that order.
Source: ours.
"""

import math
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.nn.utils.rnn import pad_sequence

from bertlab.interpretability.probing import Probe, probe
from bertlab.model.bert import evaluation_mode
from bertlab.model.heads import BertForPreTraining
from bertlab.tokenizers import WordPiece, normalize, split_words
from bertlab.tokenizers.words import CLS, MASK, SEP, UNKNOWN
from course.experiments.labels import Example
from course.experiments.word_labels import names, next_word_classes
from course.project.entries import opened
from course.project.texts import ProjectTexts

SHARE = 0.15  # of the words that are hidden
LONGEST = 254  # pieces that the model reads at once, even if it has room for more
ROWS = 32  # sequences that the model reads together
PROBED = 120  # passages for the word probes
BYTE = 8.0  # bits, for text that the model cannot write


class MaskedBits(NamedTuple):
    """The cost of the hidden words in bits, by its parts; `bytes`: of the hidden words."""

    pieces: float
    counts: float
    unwritten: float
    bytes: int

    @property
    def per_byte(self) -> float:
        """Bits per masked byte: smaller is better; raw bytes have 8."""
        return (self.pieces + self.counts + self.unwritten) / self.bytes


class Score(NamedTuple):
    """bits: of hidden words; probes: by name, of the last layer's vectors; parameters: of all."""

    bits: MaskedBits
    probes: dict[str, Probe]
    parameters: int


class Row(NamedTuple):
    """A sequence that the model reads, and the targets at some of its positions."""

    ids: list[int]
    places: list[int]
    targets: list[int]


class Window(NamedTuple):
    """Words that the model reads together. ids: [CLS], pieces, [SEP]."""

    words: list[int]  # their numbers in the text
    starts: list[int]  # where each begins in ids
    ids: list[int]


def numbers(files: Any, texts: ProjectTexts) -> dict[str, Any]:
    """The score of an entry's files, for JSON.

    Raises ValueError if they are not an entry's, or have no finite score. What goes wrong on the
    hidden texts is told by its type only: a message could quote them.
    """
    model, tokenizer = opened(files)
    try:
        found = score(model, tokenizer, texts)
    except Exception as error:
        raise ValueError(f"the hidden texts gave {type(error).__name__}") from None
    if not math.isfinite(found.bits.per_byte):
        raise ValueError("its score is not a finite number")
    return {
        "bits_per_byte": found.bits.per_byte,
        "bits": found.bits._asdict(),
        "probes": {name: probe.accuracy for name, probe in found.probes.items()},
        "majority": {name: probe.majority for name, probe in found.probes.items()},
        "parameters": found.parameters,
    }


def score(model: BertForPreTraining, tokenizer: WordPiece, texts: ProjectTexts) -> Score:
    """Everything that the leaderboard shows of a model; its mode is restored.

    Without a finite number of bits there are no probes.
    """
    with evaluation_mode(model), torch.no_grad():
        bits = masked_bits(model, tokenizer, texts.passages)
        parameters = sum(weight.numel() for weight in model.parameters())
        if not math.isfinite(bits.per_byte):
            return Score(bits, {}, parameters)
        probes = word_probes(model, tokenizer, texts.passages[:PROBED])
        probes["question type"] = question_probe(model, tokenizer, texts.questions)
    return Score(bits, probes, parameters)


def masked_bits(
    model: BertForPreTraining, tokenizer: WordPiece, passages: Sequence[str], seed: int = 0
) -> MaskedBits:
    """The cost of 15 % of the words of some texts, lower-case, without accents.

    seed: draws the words, before any tokenizer has seen them.
    """
    draw, cutter = random.Random(seed), Cutter(tokenizer, model)
    rows: list[Row] = []
    counts: Counter[int] = Counter()
    n_bytes = n_unwritten = 0
    for passage in passages:
        words = split_words(normalize(passage))
        hidden = {number for number in range(len(words)) if draw.random() < SHARE}
        for number in hidden:
            size, n_pieces = len(words[number].encode()), cutter.n_pieces(words[number])
            counts[n_pieces] += 1
            n_bytes += size
            n_unwritten += size * (n_pieces == 0)
        for window in cutter.windows(words):
            rows += questions_of(window, hidden, words, cutter)
    total = counts.total()
    return MaskedBits(
        pieces=sum(costs(model, rows)),
        counts=sum(-n * math.log2(n / total) for n in counts.values()),
        unwritten=BYTE * n_unwritten,
        bytes=n_bytes,
    )


class Cutter:
    """A tokenizer for single words, with a cache."""

    def __init__(self, tokenizer: WordPiece, model: BertForPreTraining) -> None:
        self.tokenizer, vocab = tokenizer, tokenizer.vocab
        self.cls, self.sep, self.mask = (vocab[token] for token in (CLS, SEP, MASK))
        self.unknown = vocab[UNKNOWN]
        self.room = min(model.config.max_length - 2, LONGEST)
        self.known: dict[str, list[int]] = {}

    def pieces(self, word: str) -> list[int]:
        """A word's ids: [UNK] alone if it cannot be written, or not within the model's length."""
        if word not in self.known:
            ids = self.tokenizer.encode(word, add_special_tokens=False).ids
            written = 0 < len(ids) <= self.room and self.unknown not in ids
            self.known[word] = list(ids) if written else [self.unknown]
        return self.known[word]

    def n_pieces(self, word: str) -> int:
        """How many pieces a word has; 0 if it cannot be written."""
        pieces = self.pieces(word)
        return 0 if pieces == [self.unknown] else len(pieces)

    def windows(self, words: Sequence[str]) -> Iterator[Window]:
        """All words, in order, in windows as long as the model's length allows."""
        window = Window([], [], [self.cls])
        for number, word in enumerate(words):
            pieces = self.pieces(word)
            if len(window.ids) - 1 + len(pieces) > self.room:
                yield Window(window.words, window.starts, [*window.ids, self.sep])
                window = Window([], [], [self.cls])
            window.words.append(number)
            window.starts.append(len(window.ids))
            window.ids.extend(pieces)
        if window.words:
            yield Window(window.words, window.starts, [*window.ids, self.sep])


def questions_of(
    window: Window, hidden: set[int], words: Sequence[str], cutter: Cutter
) -> list[Row]:
    """Rows for the first pieces of all hidden words, for their second pieces, and so on."""
    asked = [
        (start, cutter.pieces(words[number]))
        for number, start in zip(window.words, window.starts, strict=True)
        if number in hidden
    ]
    rows = []
    for depth in range(max((len(pieces) for _, pieces in asked), default=0)):
        ids = list(window.ids)
        for start, pieces in asked:
            ids[start + depth : start + len(pieces)] = [cutter.mask] * (len(pieces) - depth)
        here = [
            (start + depth, pieces[depth])
            for start, pieces in asked
            if depth < len(pieces) and pieces != [cutter.unknown]
        ]
        if here:
            places, targets = zip(*here, strict=True)
            rows.append(Row(ids, list(places), list(targets)))
    return rows


def costs(model: BertForPreTraining, rows: Sequence[Row]) -> Iterator[float]:
    """-log2 of the probability of the targets, a sum for each batch of rows of similar length."""
    for batch in batches(sorted(rows, key=lambda row: len(row.ids))):
        ids, mask = padded([row.ids for row in batch])
        predict = torch.zeros_like(mask)
        for number, row in enumerate(batch):
            predict[number, row.places] = True
        logits = model(ids, attention_mask=mask, predict=predict).mlm_logits  # [N, V]
        targets = torch.tensor([target for row in batch for target in row.targets])
        yield F.cross_entropy(logits.double(), targets, reduction="sum").item() / math.log(2)


def word_probes(
    model: BertForPreTraining, tokenizer: WordPiece, passages: Sequence[str]
) -> dict[str, Probe]:
    """Two probes of each word's vector: is it a name, and of what kind is the next word?"""
    texts = [split_words(normalize(passage)) for passage in passages]
    vectors = word_vectors(model, tokenizer, texts)
    found = {}
    for name, labels_of in (("names", names), ("next word's class", next_word_classes)):
        labels = [labels_of(passage) for passage in passages]
        # A character that normalisation splits changes the number of words: omitted.
        kept = [n for n, text in enumerate(texts) if len(text) == len(labels[n])]
        found[name] = probe(
            torch.cat([vectors[n] for n in kept]),
            [label for n in kept for label in labels[n]],
            [word for n in kept for word in texts[n]],
            [n for n in kept for _ in texts[n]],
        )
    return found


def question_probe(
    model: BertForPreTraining, tokenizer: WordPiece, questions: Sequence[Example]
) -> Probe:
    """A probe for the type of a question, from the mean of its words' vectors."""
    texts = [split_words(normalize(question.text)) for question in questions]
    means = [vectors.mean(dim=0) for vectors in word_vectors(model, tokenizer, texts)]
    labels = [question.label for question in questions]
    whole = [question.text for question in questions]
    return probe(torch.stack(means), labels, whole, range(len(questions)))


def word_vectors(
    model: BertForPreTraining, tokenizer: WordPiece, texts: Sequence[Sequence[str]]
) -> list[Tensor]:
    """The last layer's vector of each word, the mean over its pieces: [words, D] for each text."""
    cutter = Cutter(tokenizer, model)
    found: list[list[Tensor]] = [[] for _ in texts]
    windows = [(n, window) for n, text in enumerate(texts) for window in cutter.windows(text)]
    for batch in batches(windows):
        ids, mask = padded([window.ids for _, window in batch])
        hidden = model.bert(ids, attention_mask=mask).last_hidden_state  # [B, L, D]
        for (n, window), states in zip(batch, hidden, strict=True):
            ends = [*window.starts[1:], len(window.ids) - 1]
            spans = zip(window.starts, ends, strict=True)
            found[n] += [states[start:end].mean(dim=0) for start, end in spans]
    return [torch.stack(vectors) for vectors in found]


def batches(items: Sequence[Any]) -> Iterator[list[Any]]:
    """The items, a few at a time."""
    rest = iter(items)
    while batch := list(islice(rest, ROWS)):
        yield batch


def padded(sequences: Sequence[list[int]]) -> tuple[Tensor, Tensor]:
    """The sequences as one tensor, and the mask of tokens: [B, L] both."""
    ids = pad_sequence([torch.tensor(sequence) for sequence in sequences], batch_first=True)
    lengths = torch.tensor([len(sequence) for sequence in sequences])
    return ids, torch.arange(ids.shape[1]) < lengths[:, None]
