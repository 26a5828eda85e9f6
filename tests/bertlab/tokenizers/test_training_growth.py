"""Training on one long word, as DNA or base64 is: work grows with its length, not the square."""

import random

import pytest

from bertlab.tokenizers import BPE, ByteBPE, WordPiece
from tests.bertlab.tokenizers.operations import operations

DRAW = random.Random(4)
TEXTS = {
    "DNA": lambda letters: "".join(DRAW.choices("ACGT", k=letters)),
    "one letter": lambda letters: "a" * letters,
    "a period": lambda letters: "abcab" * (letters // 5),
}
TRAINERS = {
    "BPE": lambda texts: BPE.train(texts, 60),
    "byte BPE": lambda texts: ByteBPE.train(texts, 320),
    "frequency": lambda texts: WordPiece.train(texts, 70, criterion="frequency"),
    "likelihood": lambda texts: WordPiece.train(texts, 70, criterion="likelihood"),
    "gain": lambda texts: WordPiece.train(texts, 70, criterion="gain"),
}


@pytest.mark.parametrize("kind", TEXTS)
@pytest.mark.parametrize("trainer", TRAINERS)
def test_four_times_the_letters_are_little_more_than_four_times_the_work(trainer, kind):
    train, text = TRAINERS[trainer], TEXTS[kind]
    train([text(100)])  # what is made once
    short, long = (operations(lambda n=n: train([text(n)])) for n in (1_000, 4_000))
    assert long < 6 * short
