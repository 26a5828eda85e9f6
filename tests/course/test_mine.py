"""A student's functions as parts of the library: what is taken, what is left out, what differs."""

import json
from functools import partial

import nbformat
import pytest

from bertlab.parts import running
from bertlab.tokenizers import BPE
from course import mine
from course.answers import answers_of
from course.fitting import asked
from tests.conftest import read_page
from tests.exercises.test_assignments import ASSIGNMENTS, release_of, source_of, without_marks

pytestmark = pytest.mark.slow

WRITTEN = {one.function for one in asked()}


def solved_into(folder, *numbers, changed=None):
    """Put exercises as solved by us into a folder; `changed`: other sources of cells, by id."""
    for name in ASSIGNMENTS:
        if name[2:4] not in numbers:
            continue
        page = nbformat.reads(without_marks(source_of(name)), as_version=4)
        for cell in page.cells:
            cell.source = (changed or {}).get(cell.id, cell.source)
        (folder / name).mkdir(exist_ok=True)
        nbformat.write(page, folder / name / f"{name}.ipynb")
    return folder


@pytest.fixture
def exercises(tmp_path):
    """`solved_into` a folder of this test."""
    return partial(solved_into, tmp_path)


def states(found):
    return {row.name: (row.state, row.said) for row in found.rows}


def wrong(assignment, task, mistake):
    """A wrong answer, and the sentence for it."""
    known = answers_of(assignment).wrong
    (row,) = (row for row in known if (row.task, row.mistake) == (task, mistake))
    return row.solution, row.diagnosis


def test_all_parts_are_yours_if_every_exercise_is_solved(exercises):
    folder = exercises("01", "02", "04", "06", "07", "08")
    found = mine.parts(folder)
    assert states(found) == dict.fromkeys(WRITTEN, (mine.YOURS, ""))
    assert found.sentence() == f"{len(WRITTEN)} of {len(WRITTEN)} parts are yours; " + (
        "the library lends the others."
    )
    assert mine.compare(folder) == (
        f"{len(WRITTEN)} functions of yours give what the library's give, in the first 60 "
        "calls of each."
    )


def test_inside_running_the_library_runs_what_you_wrote(exercises):
    of_a_test = {"test-count-pairs": "def count_pairs(words):\n    return {}"}  # never yours
    folder = exercises("01", changed=of_a_test)
    texts, wanted = ["a camel and a menu"] * 3, BPE.train(["a camel and a menu"] * 3, 30)
    with mine.running(mine.parts(folder)) as found:
        own = running("count_pairs")
        assert own.__code__.co_filename == "ex01_bpe, cell count-pairs"
        assert BPE.train(texts, 30).merges == wanted.merges
    assert running("count_pairs") is not own
    assert [row.name for row in found.rows if row.state == mine.YOURS] == [
        "count_pairs",
        "merge_pair",
        "apply_merges",
    ]


def test_what_was_released_is_not_written_and_what_is_not_there_is_said(tmp_path):
    (tmp_path / "ex01_bpe").mkdir()
    nbformat.write(read_page_of_release("ex01_bpe"), tmp_path / "ex01_bpe" / "ex01_bpe.ipynb")
    told = states(mine.parts(tmp_path))
    assert told["count_pairs"] == told["apply_merges"] == (mine.OPEN, "")
    assert told["gelu"] == ("left out", "there is no such notebook")
    assert mine.compare(tmp_path).startswith("None of these functions is written yet")


def read_page_of_release(name):
    return nbformat.v4.new_notebook(cells=read_page(release_of(name)).cells)


LOOP = "def count_pairs(words):\n    while True:\n        pass"
LEFT_OUT = {
    "an error": ("def count_pairs(words):\n    return 1 / 0", "raised ZeroDivisionError"),
    "an end": (
        "import sys\nend = sys.exit(3)\ndef count_pairs(words): return end",
        "SystemExit: 3",
    ),
    "input": ("name = input()\ndef count_pairs(words): return name", "EOFError"),
    "no function": ("count_pars = 1", "there is no cell of count_pairs"),
    "no program": ("def count_pairs(words) return", "Python cannot read the cell of count_pairs"),
    "a wall": (LOOP, "does not come to an end"),
    "the end of the process": (
        "import os\nend = os._exit(7)\ndef count_pairs(w): return end",
        "its end",
    ),
}


@pytest.mark.parametrize("what", LEFT_OUT)
def test_what_does_not_pass_is_left_out_with_one_line(exercises, what):
    source, said = LEFT_OUT[what]
    found = mine.parts(exercises("01", changed={"count-pairs": source}))
    state, told = states(found)["count_pairs"]
    assert state == "left out"
    assert said in told
    assert "\n" not in told


def test_a_wrong_function_has_its_checks_sentence_and_is_the_first_that_differs(exercises):
    source, sentence = wrong("ex04_attention", "row-softmax", "forgets to divide")
    folder = exercises("01", "04", changed={"row-softmax": source})
    assert states(mine.parts(folder))["row_softmax"] == (
        "left out",
        f"does not pass: {sentence}",
    )
    first, others, training = mine.compare(folder).splitlines()
    assert first.startswith("row_softmax (exercise 4), call 1: at [0, 0, 0, 0]: the library has")
    assert others == "1 more differ: masked_shares"  # which calls it
    assert training.startswith("With yours, tokenizers and three steps of training end in Floating")


def test_a_gradient_that_is_lost_is_a_difference_and_a_rare_mistake_is_named_by_its_check(
    exercises,
):
    lost = "import torch\ndef gelu(x): return x.detach() * (1 + torch.erf(x / 2**0.5)) / 2"
    rare, _ = wrong("ex02_wordpiece", "glue", "strips every #")
    first, *_, last = mine.compare(
        exercises("02", "06", changed={"gelu": lost, "glue": rare})
    ).splitlines()
    assert first.startswith("gelu (exercise 6), call 1: its numbers are right, the gradient")
    assert last == "glue gives the same here, but does not pass: expected 'c#'"


def test_a_loop_that_never_ends_is_named(exercises, monkeypatch):
    monkeypatch.setattr(mine, "SECONDS", 20.0)
    assert mine.compare(exercises("01", changed={"count-pairs": LOOP})) == (
        "count_pairs takes more than 20 seconds: look for a loop that never ends"
    )


def test_what_was_found_is_kept_if_a_training_with_yours_never_ends(exercises, monkeypatch):
    source, _ = wrong("ex04_attention", "masked-shares", "does not scale")
    folder = exercises("04", changed={"masked-shares": source})

    def never_ends(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(mine, "_in_training", never_ends)
    with pytest.raises(KeyboardInterrupt):
        mine._differ(folder, folder / "answer.json")
    assert json.loads((folder / "answer.json").read_text())["named"] == ["masked_shares"]


def test_a_notebook_is_tried_once_until_it_is_saved_again(exercises, monkeypatch):
    asked = []

    def say(what, path):
        asked.append(path.stem)
        return {} if len(asked) < 3 else "it took too long"

    monkeypatch.setattr(mine, "_in_another_process", say)
    folder = exercises("04", "06")
    assert mine.parts(folder) == mine.parts(folder)
    assert asked == ["ex04_attention", "ex06_bert_encoder"]
    exercises("04", changed={"masked-shares": "pass"})
    assert states(mine.parts(folder))["merge_heads"] == ("left out", "it took too long")
    mine.parts(folder)
    assert asked[2:] == ["ex04_attention", "ex04_attention"], "a process that failed is tried again"


def test_a_damaged_notebook_costs_its_own_exercise_alone(exercises):
    folder = exercises("01", "02")
    (folder / "ex01_bpe" / "ex01_bpe.ipynb").write_text('{"cells": [')
    told = states(mine.parts(folder))
    assert told["count_pairs"][0] == "left out"
    assert told["glue"] == (mine.YOURS, "")


def test_the_map_is_a_table_with_links_and_text_that_says_the_same():
    rows = (
        mine.Mine("glue", "02", "ex02_wordpiece", mine.YOURS),
        mine.Mine("gelu", "06", "ex06_bert_encoder", "left out", "does not pass: x < y"),
    )
    found = mine.Map(rows)
    assert repr(found).splitlines() == [
        "■ · glue · lecture 02 · ex02_wordpiece · yours",
        "□ · gelu · lecture 06 · ex06_bert_encoder · left out · does not pass: x < y",
        "1 of 2 parts are yours; the library lends the others. Next: gelu, in ex06_bert_encoder.",
    ]
    page = found._repr_html_()
    assert 'href="../exercises/ex06_bert_encoder/ex06_bert_encoder.ipynb"' in page
    assert "x &lt; y" in page
