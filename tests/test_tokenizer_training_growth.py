"""Training on one long word, as DNA or base64 is: its work grows with the length, not the square.

The work is counted, not timed: each line of Python that runs, and the length of each string or
NumPy array that a built-in method is called on.
"""

import random
import sys

import numpy as np
import pytest

from bertlab.tokenizers import BPE, ByteBPE, WordPiece

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


def work(job):
    """Lines run, and characters and numbers that built-in methods were called on."""
    steps = 0

    def on_line(frame, event, arg):
        nonlocal steps
        steps += event == "line"
        return on_line

    def on_call(frame, event, arg):
        nonlocal steps
        owner = getattr(arg, "__self__", None)
        if event == "c_call" and isinstance(owner, str | np.ndarray):
            steps += len(owner)

    before = sys.gettrace(), sys.getprofile()
    sys.settrace(on_line)
    sys.setprofile(on_call)
    try:
        job()
    finally:
        sys.settrace(before[0])
        sys.setprofile(before[1])
    return steps


@pytest.mark.parametrize("kind", TEXTS)
@pytest.mark.parametrize("trainer", TRAINERS)
def test_four_times_the_letters_are_little_more_than_four_times_the_work(trainer, kind):
    train, text = TRAINERS[trainer], TEXTS[kind]
    train([text(100)])  # what is made once
    short, long = (work(lambda n=n: train([text(n)])) for n in (1_000, 4_000))
    assert long < 6 * short
