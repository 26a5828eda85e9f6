"""Variants: the laws of `seed`, and what hidden tests make of them."""

import os
import subprocess
import sys
from hashlib import sha256
from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course.feedback.variants import VARIABLE, current, seed, variant
from tests.conftest import ROOT, read_page

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


def test_name_and_number_do_not_run_into_each_other():
    with variant("2026/ada"):
        one = seed(11)
    with variant("2026/ada1"):
        assert seed(1) != one


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


def test_an_error_ends_the_variant():
    with pytest.raises(ZeroDivisionError), variant("2026-fall/ada"):
        1 / 0  # noqa: B018
    assert seed(31) == 31


def test_each_thread_has_its_own():
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


def test_a_name_that_utf8_cannot_say_does_not_stop_the_grading():
    with variant("2026-fall/\ud800"):
        one = seed(1)
    with variant("2026-fall/\udfff"):
        assert seed(1) != one


@pytest.mark.parametrize("number", ["31", 3.0, None, True])
def test_a_number_that_is_none_is_refused(number):
    with pytest.raises(TypeError, match=r"seed: number must be an integer; got"):
        seed(number)


def test_a_name_that_is_no_string_is_refused():
    with pytest.raises(TypeError, match=r"variant: name must be a string"), variant(7):
        pass


# The hidden tests of the assignments.


def source(assignment):
    return read_page(ROOT / "solutions" / assignment / f"{assignment}.ipynb").code


ASSIGNMENTS = sorted(path.parent.name for path in ROOT.glob("solutions/*/*.ipynb"))


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_no_hidden_test_draws_from_a_fixed_state(assignment):
    """Wherever a generator is made, `_seed` stands; and every assignment has such a place."""
    hidden = [cell.source for cell in source(assignment) if cell.id.startswith("hidden-")]
    makes = ("manual_seed(", "Random(", "default_rng(", "RandomState(", "random.seed(")
    found = [line for text in hidden for line in text.splitlines() if any(m in line for m in makes)]
    assert found
    assert [line for line in found if "(_seed(" not in line] == []


def run_hidden(assignment, task, name, solution=None, watch=None):
    """Run the notebook up to the task's hidden test under a variant; the visible tests are left.

    solution: in place of ours; watch: a function that is given the scope before the hidden test.
    """
    scope = {"__name__": "__main__"}
    with variant(name):
        for cell in source(assignment):
            if cell.id.startswith("test-"):
                continue
            if watch and cell.id == f"hidden-{task}":
                watch(scope)
            text = solution if solution and cell.id == task else cell.source
            exec(compile(text, cell.id, "exec"), scope)
            if cell.id == f"hidden-{task}":
                return


# For each assignment a task, its function, and something that knows one instance by heart.
TASKS = [
    ("ex01_bpe", "merge-pair", "merge_pair"),
    ("ex02_wordpiece", "glue", "glue"),
    ("ex04_attention", "row-softmax", "row_softmax"),
    ("ex06_bert_encoder", "gelu", "gelu"),
    ("ex07_objectives", "mlm-loss", "mlm_loss"),
    ("ex08_pretraining", "kept-lengths", "kept_lengths"),
    ("ex09_finetuning", "tags-of-words", "tags_of_words"),
    ("ex11_sentence_bert", "batches-of-one-length", "batches_of_one_length"),
    ("ex10_attention_heads", "attention-to-offset", "attention_to_offset"),
]


def inputs(assignment, task, function, name):
    """What the hidden test gives to our solution, as text, up to its twentieth call."""
    seen = []

    def listen(scope):
        ours = scope[function]

        def heard(*arguments):
            if len(seen) < 20:
                seen.append(repr(arguments))
            return ours(*arguments)

        scope[function] = heard

    run_hidden(assignment, task, name, watch=listen)
    return seen


@pytest.mark.parametrize(("assignment", "task", "function"), TASKS)
def test_two_students_get_other_inputs_and_one_student_the_same_again(assignment, task, function):
    ada, again, bob = (
        inputs(assignment, task, function, f"2026-fall/{student}")
        for student in ("ada", "ada", "bob")
    )
    assert len(ada) >= 4
    assert ada == again
    assert ada != bob


def test_who_knows_the_shown_case_by_heart_fails_under_another_variant():
    """Feedback showed ada one failing case; a table of her cases is no solution for bob."""
    known = {}

    def learn(scope):
        ours = scope["merge_pair"]

        def heard(symbols, pair):
            return known.setdefault((symbols, pair), ours(symbols, pair))

        scope["merge_pair"] = heard

    run_hidden("ex01_bpe", "merge-pair", "2026-fall/ada", watch=learn)
    by_heart = "def merge_pair(symbols, pair):\n    return known[symbols, pair]"

    def tell(scope):
        scope["known"] = known

    run_hidden("ex01_bpe", "merge-pair", "2026-fall/ada", by_heart, watch=tell)
    with pytest.raises(KeyError):
        run_hidden("ex01_bpe", "merge-pair", "2026-fall/bob", by_heart, watch=tell)


# Those whose hidden tests take a second or more are tried once.
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
    last = [cell.id for cell in source(assignment) if cell.id.startswith("hidden-")][-1]
    run_hidden(assignment, last.removeprefix("hidden-"), f"2026-fall/{student}")


@pytest.mark.parametrize("student", ["ada", "bob", "Zoë"])
@pytest.mark.parametrize(
    ("assignment", "mistake"),
    [
        ("ex04_attention", "looks back a hundred tokens only"),
        ("ex09_finetuning", "looks at the first ten starts"),
        ("ex11_sentence_bert", "knows texts of 60 tokens at most"),
        ("ex10_attention_heads", "draws from the first thousand labels"),
    ],
)
def test_what_only_knows_the_examples_fails_under_any_variant(assignment, mistake, student):
    from course.answers import answers_of

    known = answers_of(assignment).wrong
    ((task, _, solution, diagnosis),) = [row for row in known if row.mistake == mistake]
    assert not diagnosis, "the visible test lets it through"
    with pytest.raises(AssertionError):
        run_hidden(assignment, task, f"2026-fall/{student}", solution)
