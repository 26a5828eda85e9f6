"""The values by which checks recognise mistakes are those that the mistakes give."""

import json

import pytest

from course.answers import answers_of
from course.feedback.known import is_one, values_of
from course.feedback.tensors import TOLERANCE
from course.publishing.mistakes import known_values, path_of, text_of
from tests.conftest import ROOT
from tests.exercises.test_assignments import ASSIGNMENTS

SHORTEST = 12  # characters: `return x` reveals nothing


@pytest.mark.slow
@pytest.mark.usefixtures("texts_are_read_once")
@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_the_stored_values_are_what_make_exercises_writes(assignment, record_property):
    stored, made = values_of(assignment), known_values(assignment)
    assert stored["sentences"] == made["sentences"]
    assert stored["checks"].keys() == made["checks"].keys()
    n_values = 0
    for check, numbers in made["checks"].items():
        assert stored["checks"][check].keys() == numbers.keys()
        for number, rows in numbers.items():
            kept = stored["checks"][check][number]
            assert [said for _, said in kept] == [said for _, said in rows], (check, number)
            for (one, _), (other, _) in zip(kept, rows, strict=True):
                assert is_one(one, other, TOLERANCE), (check, number)
            n_values += len(rows)
    record_property("counted", f"{assignment}: {n_values} values of known mistakes")


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_every_sentence_of_the_table_is_there_and_no_program(assignment):
    text = path_of(assignment).read_text(encoding="utf-8")
    values = json.loads(text)
    assert text_of(values) == text, "make exercises writes it otherwise"
    known = answers_of(assignment)
    assert set(values["sentences"]) == {row.diagnosis for row in known.wrong if row.said}
    programs = [row.solution for row in (*known.wrong, *known.right, *known.near)]
    lines = {line.strip() for program in programs for line in program.splitlines()}
    said = "\n".join(values["sentences"])  # a sentence may name an operation: "use torch.isin"
    secret = [line for line in lines if len(line) >= SHORTEST and line not in said]
    assert secret
    assert [line for line in secret if line in text or json.dumps(line)[1:-1] in text] == []


def test_the_students_copy_has_the_values_and_not_the_tables():
    from course.publishing.handout import ROOMS

    assert path_of("ex01_bpe").relative_to(ROOT).as_posix().startswith(tuple(ROOMS))
    assert not any(room.startswith("solutions") for room in ROOMS)
