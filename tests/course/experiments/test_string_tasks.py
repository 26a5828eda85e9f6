"""The tasks: their answers by hand, their split, their batches."""

import datetime
import re

import pytest
import torch

from course.experiments import string_tasks
from course.models.seq2seq.vocabulary import END_ID, PAD_ID, START_ID, Pair, Vocabulary
from tests.bertlab.refusals import rejected

TASKS = {
    "dates": string_tasks.dates,
    "Pig Latin": string_tasks.pig_latin,
    "copy": lambda *sizes, **options: string_tasks.copy_at_distance([3, 5], *sizes, **options),
}


def test_every_spelling_determines_the_date():
    for pair in string_tasks.dates(300, 30).train:
        year, month, day = (int(part) for part in pair.target.split("-"))
        date = datetime.date(year, month, day)
        assert f"{year}" in pair.source
        assert re.search(rf"\b{date:%b}", pair.source)
        assert re.search(rf"\b{day}(?:st|nd|rd|th|\b)", pair.source)


def test_dates_are_spelled_in_eight_ways():
    assert "; ".join(string_tasks.date_spellings(datetime.date(1987, 3, 5))) == (
        "5 March 1987; 5 Mar 1987; 5th of March 1987; March 5, 1987; March 5th, 1987; "
        "Mar 5th 1987; the 5th of March, 1987; 1987, March 5"
    )
    assert "; ".join(string_tasks.date_spellings(datetime.date(2012, 11, 22))) == (
        "22 November 2012; 22 Nov 2012; 22nd of November 2012; November 22, 2012; "
        "November 22nd, 2012; Nov 22nd 2012; the 22nd of November, 2012; 2012, November 22"
    )


@pytest.mark.parametrize(
    ("word", "latin"),
    [("pig", "igpay"), ("string", "ingstray"), ("eat", "eatway"), ("hmm", "hmmay")],
)
def test_pig_latin(word, latin):
    assert string_tasks.to_pig_latin(word) == latin


def test_copying_has_the_right_answers():
    copied = string_tasks.copy_at_distance([4, 9], 200, 20).train
    assert all(pair.target == pair.source for pair in copied)
    assert {len(pair.source) for pair in copied} == {4, 9}


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_no_answer_of_the_held_out_part_occurs_in_training(task):
    made = task(400, 60)
    assert (len(made.train), len(made.held_out)) == (400, 60)
    answers = {pair.target for pair in made.train}
    assert not answers & {pair.target for pair in made.held_out}
    for pair in [*made.train, *made.held_out]:
        assert made.vocabulary.decode(made.vocabulary.encode(pair.target)) == pair.target


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_the_seed_determines_the_pairs(task):
    assert task(50, 5, seed=3) == task(50, 5, seed=3)
    assert task(50, 5, seed=3).train != task(50, 5, seed=4).train


def test_too_few_answers_unknown_characters_and_empty_batches_are_rejected():
    copied, hello = string_tasks.copy_at_distance, Vocabulary("hello")
    rejected("there were 8 different answers", copied, [1], 8, 1000)
    sizes = "n_train and n_held_out must be at least 1; got 0 and 5"
    rejected(sizes, string_tasks.dates, 0, 5)
    rejected("distances must be numbers from 1 up", copied, [0])
    rejected(r"4 known characters; got \['!', 'x'\] in 'hex!'", hello.encode, "hex!")
    rejected("at least one sequence; got none", hello.batch, [])


def test_a_batch_by_hand():
    # Ids: <pad> 0, <start> 1, <end> 2, a 3, b 4, c 5.
    batch = Vocabulary("abc").batch([Pair("ab", "c"), Pair("a", "bca")])
    assert batch.source_ids.tolist() == [[3, 4, END_ID], [3, END_ID, PAD_ID]]
    assert batch.source_mask.tolist() == [[True, True, True], [True, True, False]]
    assert batch.target_inputs.tolist() == [[START_ID, 5, PAD_ID, PAD_ID], [START_ID, 4, 5, 3]]
    assert batch.target_outputs.tolist() == [[5, END_ID, PAD_ID, PAD_ID], [4, 5, 3, END_ID]]
    assert batch.source_ids.dtype == torch.long


def test_what_was_encoded_is_decoded_up_to_the_end():
    vocabulary = Vocabulary("hello")
    ids = vocabulary.encode("hello")
    assert vocabulary.decode([START_ID, *ids, END_ID, *ids]) == "hello"
    assert vocabulary.decode([START_ID, *ids, PAD_ID]) == "hello"
    assert len(vocabulary) == 3 + 4
