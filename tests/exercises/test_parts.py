"""What students write as a part of the library has its arguments, and runs in its place."""

import pytest
import torch

from bertlab.data.token_store import write_tokens
from bertlab.model import BertConfig, BertForPreTraining
from bertlab.parts import parts, plain, using
from bertlab.pretraining.batches import PretrainingData
from bertlab.tokenizers import BPE, WordPiece
from bertlab.training.loop import TrainingConfig
from bertlab.training.runs import pretrain
from course.publishing.mistakes import run_task
from tests.bertlab.test_parts import arguments
from tests.exercises.test_assignments import ASSIGNMENTS

WRITTEN = [one for one in parts() if one.exercise]
TEXTS = ["The best menu costs a camel. The men cost the best. Best of all: a test menu!"] * 4
DOCUMENTS = [[f"the best {word} is a menu.", f"a {word} costs the most."] for word in "abcdefgh"]


@pytest.fixture(scope="module")
def solutions():
    """Our solutions of the parts that exercises ask for, by name."""
    found = {}
    for one in WRITTEN:
        (assignment,) = (name for name in ASSIGNMENTS if name[2:4] == one.exercise)
        scope = {}
        task = one.name.replace("_", "-")
        run_task(assignment, task, tests=["test"], watch=scope.update)
        found[one.name] = scope[one.name]
    return found


def test_some_parts_of_most_lectures_are_written():
    assert {one.exercise for one in WRITTEN} == {"01", "02", "04", "06", "07"}
    assert all(one.exercise == one.lecture for one in WRITTEN)


@pytest.mark.parametrize("one", WRITTEN, ids=lambda one: one.name)
def test_the_exercise_asks_for_the_arguments_of_the_part(one, solutions):
    assert arguments(solutions[one.name]) == arguments(one.function)


@pytest.mark.slow
def test_the_library_gives_the_same_with_what_was_written(solutions, tmp_path):
    def jobs():
        bpe = BPE.train(TEXTS, vocab_size=60)
        wordpiece = WordPiece.train([" ".join(d) for d in DOCUMENTS] + TEXTS, vocab_size=90)
        store = write_tokens(DOCUMENTS * 4, wordpiece, tmp_path / "tokens")
        config = BertConfig.tiny(vocab_size=len(wordpiece.vocab), max_length=32)
        model = BertForPreTraining(config)
        batches = PretrainingData(store, wordpiece, max_length=32, batch_size=4)
        run = pretrain(model, batches, TrainingConfig(steps=3), progress=False)
        return bpe.merges, bpe.encode("a tested menu").ids, wordpiece.encode("cameltest").ids, run

    with plain():
        *wanted, losses = jobs()
    called = set()

    def noted(name, function):
        def call(*arguments, **options):
            called.add(name)
            return function(*arguments, **options)

        return call

    with using(**{name: noted(name, function) for name, function in solutions.items()}):
        *found, others = jobs()
    assert found == wanted
    torch.testing.assert_close(
        torch.tensor([row["loss"] for row in others]), torch.tensor([row["loss"] for row in losses])
    )
    derivations = {one.name for one in WRITTEN if one.derivation}
    assert called == solutions.keys() - derivations
