"""Variants: the laws of `seed`, and its use in hidden tests."""

import os
import subprocess
import sys
from hashlib import sha256
from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course.feedback.variants import VARIABLE, current, seed, variant
from course.publishing.mistakes import code_of, run_task
from tests.exercises.test_answers import ASSIGNMENTS, WRONG
from tests.exercises.test_assignments import PROJECT

pytestmark = pytest.mark.slow

names = st.text(min_size=1)
numbers = st.integers(-(2**70), 2**70)


@pytest.fixture(autouse=True)
def no_variant(monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)


@given(numbers)
def test_without_a_variant_the_number_is_the_seed(number):
    assert seed(number) == number
    with variant(""):
        assert seed(number) == number


@given(names, numbers)
def test_a_seed_is_the_start_of_a_sha256_and_has_32_bits(name, number):
    expected = int(sha256(f"{name}\n{number}".encode()).hexdigest()[:8], 16)
    with variant(name):
        assert seed(number) == expected < 2**32


def test_students_terms_and_numbers_draw_differently():
    seeds = set()
    for name in (f"{term}/{n}" for term in ("2026-fall", "2027-fall") for n in range(300)):
        with variant(name):
            seeds |= {seed(number) for number in range(10)}
    assert len(seeds) > 5995, "of 6000; two of them may meet by chance"


@pytest.mark.parametrize(
    ("one", "other"),
    [(("2026/ada", 11), ("2026/ada1", 1)), (("2026/\ud800", 1), ("2026/\udfff", 1))],
    ids=["name and number do not run into each other", "UTF-8 cannot say it"],
)
def test_other_names_give_other_seeds(one, other):
    seeds = []
    for name, number in (one, other):
        with variant(name):
            seeds.append(seed(number))
    assert seeds[0] != seeds[1]


def test_the_environment_names_it_and_the_innermost_with_wins(monkeypatch):
    monkeypatch.setenv(VARIABLE, "2026-fall/ada")
    from_environment = seed(31)
    with variant("2026-fall/bob"):
        assert current() == "2026-fall/bob"
        assert seed(31) != from_environment
        with variant("2026-fall/ada"):
            assert seed(31) == from_environment
        with variant(""):
            assert seed(31) == 31
        assert current() == "2026-fall/bob"
    assert (current(), seed(31)) == ("2026-fall/ada", from_environment)


def test_an_error_ends_the_variant_and_each_thread_has_its_own():
    with pytest.raises(ZeroDivisionError), variant("2026-fall/ada"):
        1 / 0  # noqa: B018
    assert seed(31) == 31
    seen = []
    with variant("2026-fall/ada"):
        thread = Thread(target=lambda: seen.append(current()))
        thread.start()
        thread.join()
    assert seen == [""]


def test_another_process_finds_the_same():
    program = "from course.feedback.variants import seed; print(seed(31))"
    told = {VARIABLE: "2026-fall/Zoë", "PYTHONHASHSEED": "7"}
    done = subprocess.run(
        [sys.executable, "-c", program], env=os.environ | told, capture_output=True, check=True
    )
    with variant("2026-fall/Zoë"):
        assert int(done.stdout) == seed(31) == 3903152243  # by `sha256sum`


@pytest.mark.parametrize("number", ["31", 3.0, None, True])
def test_an_invalid_number_or_name_is_rejected(number):
    with pytest.raises(TypeError, match=r"seed: number must be an integer; got"):
        seed(number)
    with pytest.raises(TypeError, match=r"variant: name must be a string"), variant(7):
        pass


# The hidden tests of the assignments.


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_no_hidden_test_draws_from_a_fixed_state(assignment):
    """Every generator is made with `_seed`; every assignment except the project has one."""
    hidden = [cell.source for cell, _ in code_of(assignment) if cell.id.startswith("hidden-")]
    makes = ("manual_seed(", "Random(", "default_rng(", "RandomState(", "random.seed(")
    found = [line for text in hidden for line in text.splitlines() if any(m in line for m in makes)]
    assert found or assignment == PROJECT
    assert [line for line in found if "(_seed(" not in line] == []


def run_hidden(assignment, task, student, solution=None, watch=None):
    """Run a task's hidden test under a student's variant; see `run_task`."""
    with variant(f"2026-fall/{student}"):
        run_task(assignment, task, solution, tests=["hidden"], watch=watch)


# For each assignment a task, its function, and a function that has memorised one instance.
TASKS = [
    ("ex01_bpe", "merge-pair", "merge_pair"),
    ("ex02_wordpiece", "glue", "glue"),
    ("ex04_attention", "row-softmax", "row_softmax"),
    ("ex06_bert_encoder", "gelu", "gelu"),
    ("ex07_objectives", "mlm-loss", "mlm_loss"),
    ("ex08_pretraining", "kept-lengths", "kept_lengths"),
    ("ex09_finetuning", "bioes-runs", "bioes_runs"),
    ("ex11_sentence_bert", "batches-of-one-length", "batches_of_one_length"),
    ("ex10_attention_heads", "attention-to-offset", "attention_to_offset"),
]


def calls(assignment, task, function, student):
    """The hidden test's calls of our solution, as text, and its results."""
    results = {}

    def spy(scope):
        ours = scope[function]

        def spied(*arguments):
            call = repr(arguments)
            results[call] = ours(*arguments)
            return results[call]

        scope[function] = spied

    run_hidden(assignment, task, student, watch=spy)
    return results


@pytest.mark.parametrize(("assignment", "task", "function"), TASKS)
def test_two_students_get_other_inputs_and_one_student_the_same_again(assignment, task, function):
    results = (calls(assignment, task, function, who) for who in ("ada", "ada", "bob"))
    ada, again, bob = map(list, results)
    assert len(ada) >= 4
    assert ada == again
    assert ada != bob


def test_a_memorised_shown_case_fails_under_another_variant():
    """Feedback showed ada one failing case; a table of her cases does not solve bob's."""
    known = calls("ex01_bpe", "merge-pair", "merge_pair", "ada")
    by_heart = "def merge_pair(*given):\n    return known[repr(given)]"

    def hand_in(student):
        run_hidden(
            "ex01_bpe", "merge-pair", student, by_heart, lambda scope: scope.update(known=known)
        )

    hand_in("ada")
    with pytest.raises(KeyError):
        hand_in("bob")


# Those with hidden tests of a second or more are run once.
LONG = ("ex01_bpe", "ex02_wordpiece", "ex06_bert_encoder", "ex07_objectives")


@pytest.mark.parametrize(
    ("assignment", "student"),
    [
        (name, who)
        for name in ASSIGNMENTS
        for who in ("ada", "bob", "Zoë")[: 1 if name in LONG else 3]
    ],
)
def test_a_right_solution_passes_under_any_variant(assignment, student):
    scope = {"__name__": "__main__"}
    with variant(f"2026-fall/{student}"):
        for cell, compiled in code_of(assignment):
            if not cell.id.startswith("test-"):
                exec(compiled, scope)


@pytest.mark.parametrize("student", ["ada", "bob", "Zoë"])
@pytest.mark.parametrize(
    ("assignment", "mistake"),
    [
        ("ex04_attention", "looks back a hundred tokens only"),
        ("ex09_finetuning", "looks at the first ten starts"),
        ("ex11_sentence_bert", "handles texts of at most 60 tokens"),
        ("ex10_attention_heads", "draws from the first thousand labels"),
    ],
)
def test_a_memorised_example_fails_under_any_variant(assignment, mistake, student):
    (row,) = (row for row in WRONG[assignment] if row.mistake == mistake)
    assert not row.diagnosis, "the visible test lets it through"
    with pytest.raises(AssertionError):
        run_hidden(assignment, row.task, student, row.solution)
