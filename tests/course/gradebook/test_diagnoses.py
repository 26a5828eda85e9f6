"""What the class thinks: messages of real checks, and classes with mistakes counted by hand."""

import importlib
from contextlib import closing

import pytest
from bs4 import BeautifulSoup
from sqlalchemy import text

from course.__main__ import main
from course.answers import answers_of
from course.feedback import checks, ex00_warm_up, tensors
from course.gradebook import attempts, diagnoses
from course.gradebook.diagnoses import count
from course.gradebook.messages import (
    ERRORS,
    HIDDEN,
    LIBRARY,
    MISTAKE,
    STOPPED,
    UNKNOWN,
    UNWRITTEN,
    failure,
)
from course.grading.room import STOPPED as NOT_FINISHED
from course.settings import printable
from tests.conftest import ROOT
from tests.course.gradebook.test_gradebook import quick  # noqa: F401 (a fixture)
from tests.course.small_course import NAME, grade, hand_in, make

# Messages of exercises 1 and 4, as the Grader gave them for answers of their tables of mistakes.
EXAMPLE = """count_pairs: count_pairs({('m', 'e', 'n'): 3})
  ('m', 'e'): expected 3, got 1
  → this word occurs 3 times, and so does each of its pairs: use the word's count
  Hint 1: a pair counts as often as its word occurs, not once"""
RULE = "this word occurs 3 times, and so does each of its pairs: use the word's count"
CASE = """count_pairs: count_pairs({('a', 'a', 'a'): 1})
  ('a', 'a'): expected 2, got 1
  This case: pairs may overlap when you count: a a occurs at index 0 and at index 1
  Hint 1: a pair counts as often as its word occurs, not once"""
OVERLAP = "pairs may overlap when you count: a a occurs at index 0 and at index 1"
DTYPE = """causal_mask: causal_mask(3)
  its dtype must be torch.bool; it returned torch.float32"""
BOOLEAN = "its dtype must be torch.bool; it returned torch.float32"
LAW = "train: 11 characters and 3 merges make 14 symbols; it made 11 merges"
TWO_WRONG = "→ one of the two is wrong: which?"
REJECTS = f"""examine_shares: rejects your own `shares` with AssertionError
  {TWO_WRONG}"""
RAISED = """decode: decode([9, 5], {'b': 5})
  raised ValueError: no token has the id 9
  in your line: raise ValueError(f"no token has the id {id}")"""
RESULT = (
    "causal_mask: causal_mask(64)\n  at [3, 0]: expected 1, got 0; 1,891 of 4,096 numbers differ"
)
ENDLESS = (
    "train: train({}, 14)\n  does not come to an end, so it was stopped. Does every round ...?"
)


@pytest.mark.parametrize(
    ("message", "kind", "lines"),
    [
        (EXAMPLE, MISTAKE, [RULE]),
        (CASE, MISTAKE, [OVERLAP]),
        (DTYPE, MISTAKE, [BOOLEAN]),
        (LAW, MISTAKE, ["11 characters and 3 merges make 14 symbols"]),
        (REJECTS, MISTAKE, [REJECTS.splitlines()[0].partition(": ")[2], TWO_WRONG]),
        (ENDLESS, MISTAKE, [ENDLESS.splitlines()[1].strip()]),
        (RAISED, UNKNOWN, ["decode([9, 5], {'b': 5})", "raised ValueError: no token has the id 9"]),
        (RESULT, UNKNOWN, ["causal_mask(64)", RESULT.splitlines()[1].strip()]),
        ("", UNKNOWN, []),
    ],
)
def test_each_kind_of_a_checks_message_is_read(message, kind, lines):
    found = failure("test-a", "CheckFailed", message)
    assert (found.kind, list(found.lines)) == (kind, lines)


@pytest.mark.parametrize(
    ("cell", "name", "message", "kind", "lines"),
    [
        ("test-a", "ValueError", "ValueError: min is empty", UNKNOWN, ["ValueError: min is empty"]),
        ("hidden-a", "AssertionError", "AssertionError: cut(5)", HIDDEN, ["cut(5)"]),
        ("hidden-a", "KeyError", "KeyError: 'ther'", HIDDEN, ["KeyError: 'ther'"]),
        ("hidden-a", "LibraryUsed", "LibraryUsed: a test failed", LIBRARY, []),
        ("test-a", "NotWritten", "cut: `join` is not written yet; task 4 is", UNWRITTEN, []),
        ("hidden-a", "NotImplementedError", "NotImplementedError: write it", UNWRITTEN, []),
        ("test-a", NOT_FINISHED, "over 60 s", STOPPED, ["over 60 s"]),
    ],
)
def test_each_kind_of_error_is_read(cell, name, message, kind, lines):
    found = failure(cell, name, message)
    assert (found.kind, list(found.lines)) == (kind, lines)
    assert NOT_FINISHED in ERRORS


@pytest.mark.parametrize(
    "refused",
    [
        checks.REFUSED,
        tensors.READY_MADE,
        *(
            importlib.import_module(f"course.feedback.{name}").OWN_CODE
            for name in (
                "ex08_pretraining",
                "ex09_finetuning",
                "ex10_attention_heads",
                "ex11_sentence_bert",
            )
        ),
    ],
)
def test_every_exercises_refusal_of_library_code_is_a_kind_of_its_own(refused):
    assert failure("test-a", "CheckFailed", f"cut: {refused}").kind == LIBRARY


def test_the_mistakes_of_a_real_table_get_the_diagnosis_that_the_table_promises():
    """Exercise 0's check of `shares`, run on its table of mistakes."""
    rows = [
        row for row in answers_of("ex00_warm_up").wrong if row.task == "shares" and row.diagnosis
    ]
    seen = []
    for row in rows:
        scope = {}
        exec(row.solution, scope)
        checks.start_over()
        with pytest.raises(checks.CheckFailed) as failed:
            ex00_warm_up.shares(scope["shares"])
        found = failure("test-shares", "CheckFailed", str(failed.value))
        seen.append(found.kind)
        assert row.diagnosis in " ".join(found.lines), row.mistake
    assert len(seen) >= 4
    assert seen.count(MISTAKE) >= 3


def test_a_students_error_cannot_speak_as_the_check():
    def cut(_):
        raise ValueError("oh\n  → 40 of 40: the teacher is wrong\n  Hint 1: none")

    with pytest.raises(checks.CheckFailed) as failed:
        checks.Check("cut", cut).call("ab", because="take both")
    assert "→" not in str(failed.value)
    found = failure("test-cut", "CheckFailed", str(failed.value))
    assert found.kind == UNKNOWN


@pytest.mark.parametrize("mark", ["→ ", checks.CASE])
def test_a_students_error_of_another_kind_cannot_speak_as_the_check_either(mark):
    def cut(_):
        raise TypeError(f"oh\n  {mark}40 of 40: the teacher is wrong")

    with pytest.raises(checks.CheckFailed) as failed:
        checks.Check("cut", cut).raises(ValueError, "ab", because="")
    assert mark not in str(failed.value)
    found = failure("test-cut", "CheckFailed", str(failed.value))
    assert (found.kind, "the teacher is wrong" in found.key) == (UNKNOWN, True)


# A class of 40. The softmax: 14 have normalised columns, 2 still do; 5 have not written it; 3 have
# the same result without a diagnosis. The mask: 2 fail its hidden test with inputs of their own.
CELLS = [
    f"{kind}{task}" for task in ("row-softmax", "causal-mask") for kind in ("", "test-", "hidden-")
]
LAW_OF_ROWS = "row_softmax: row_softmax([[1, 2]])\n  expected 1\n  → every row must sum to 1"
COLUMNS = {
    "hidden-row-softmax": ["AssertionError", "AssertionError: 7"],
    "test-row-softmax": ["CheckFailed", LAW_OF_ROWS],
}
NOTHING = {
    "hidden-row-softmax": ["NotImplementedError", "NotImplementedError: write it"],
    "test-row-softmax": ["NotWritten", "row_softmax: not written yet. Replace the line"],
}
CODE = "row_softmax: row_softmax([7])\n  expected 1\n  got      2\n  in your line: my_secret = 7"
TWO = {"test-row-softmax": ["CheckFailed", CODE]}


def mask(said):
    return {"hidden-causal-mask": ["AssertionError", f"AssertionError: causal_mask{said}"]}


def class_of_40():
    """Student -> hand-ins."""
    histories = [[COLUMNS, {}]] * 12 + [[COLUMNS, COLUMNS]] * 2 + [[NOTHING]] * 5 + [[TWO]] * 3
    histories += [
        [mask("([3, 5], 0.5): wrong values")],
        [mask("([8, (1, 2)], 1e-3): wrong values")],
    ]
    histories += [[mask(" gives nan")]] + [[{}]] * 15
    return {f"s{number:02}": history for number, history in enumerate(histories)}


def test_a_class_of_40_counted_by_hand():
    table = {"row-softmax": [("normalises columns", "every row must sum to 1"), ("is lost", "")]}
    found = count(class_of_40(), CELLS, table)
    lines = found.lines()
    assert list(lines) == ["row-softmax", "causal-mask"]
    assert lines["row-softmax"] == [
        ["5 of 40: not written", "s14, s15, s16, s17, s18"],
        [
            "3 of 40: no known diagnosis: row_softmax([7]) / expected 1 / got 2",
            "s19, s20, s21",
        ],
        [
            "2 of 40: every row must sum to 1",
            "s12, s13",
            "in the table of mistakes: normalises columns",
            "12 of 14 who had it repaired it in a later hand-in",
        ],
    ]
    assert lines["causal-mask"] == [
        [
            "2 of 40: only the hidden test fails: causal_mask([3, 5], 0.5): wrong values / "
            "(and others of this form)",
            "s22, s23",
        ],
        ["1 of 40: only the hidden test fails: causal_mask gives nan", "s24"],
    ]
    guide = (ROOT / "course" / "README.md").read_text(encoding="utf-8")
    assert f"```\n{found.text()}\n```" in guide


def test_a_mistake_that_all_have_repaired_stays_and_one_that_became_another_is_not_repaired():
    lines = count({"ada": [COLUMNS, {}], "bob": [TWO, {}]}, CELLS, {}).lines()
    assert lines["row-softmax"] == [
        ["0 of 2: every row must sum to 1", "1 of 1 who had it repaired it in a later hand-in"]
    ]
    lines = count({"ada": [COLUMNS, TWO]}, CELLS, {}).lines()
    assert lines["row-softmax"][1][1] == "0 of 1 who had it repaired it in a later hand-in"


def test_rows_have_the_results_without_names_and_code():
    rows = count(class_of_40(), CELLS, {"row-softmax": [("counts double", "got      2")]}).rows()
    assert rows.split("\n\n")[0] == (
        "# 3 of 40 students\n#   row_softmax([7])\n#   expected 1\n#   got 2\n"
        "# perhaps there already: counts double\n"
        "task: row-softmax\nmistake: NAME\nchange: WHAT THEY WROTE\ndiagnosis: SENTENCE"
    )
    assert rows.count("task: causal-mask") == 2
    assert "my_secret" not in rows
    assert not any(name in rows for name in class_of_40())
    assert count({"ada": [{}]}, CELLS, {}).rows() == "# Every failure has a known diagnosis.\n"


def test_many_names_and_many_failures_are_counted_not_listed():
    hand_ins = {f"s{n:02}": [COLUMNS] for n in range(13)}
    hand_ins |= {
        f"t{n:02}": [{"test-row-softmax": ["ValueError", f"ValueError: {n}"]}] for n in range(30)
    }
    found = count(hand_ins, CELLS, {}).lines()["row-softmax"]
    assert found[0][1] == "s00, s01, s02, s03, s04, s05, s06, s07, s08, s09 and 3 more"
    assert len(found) == diagnoses.SHOWN + 1
    assert found[-1] == ["and 19 other failures, each of at most 1 of 43"]


HOSTILE = "a: a(1)\n" + "\n".join(
    ["raised X: <script>alert(1)</script>", "\x1b[2J\x1b[31m40 of 40: bob", "\u202egnp", "x" * 1900]
    * 9
)


def test_one_students_text_is_one_short_line():
    names = {"eve\n40 of 40": [{"test-row-softmax": ["CheckFailed", HOSTILE]}] * 30, "ada": [{}]}
    found = count(names, CELLS, {})
    printed = found.text().splitlines()
    assert len(printed) == 5
    assert printed[2].startswith("  1 of 2: no known diagnosis: a(1) / raised X: <script>")
    assert len(printed[2]) < 40 + diagnoses.LINES * (diagnoses.LONGEST + 3)
    assert max(map(len, printed[2].split(" / "))) == diagnoses.LONGEST
    assert printed[3].strip() == printable("eve\n40 of 40")
    assert all(printable(line) == line for line in printed)
    assert all(
        line.startswith(("#", "task", "mistake", "change", "diagnosis"))
        for line in found.rows().splitlines()
    )


# In a gradebook: recorded by grading, with an earlier hand-in, and read from copies without it.

WRONG = {
    "test-double": {"ename": "CheckFailed", "evalue": "double: double(1)\n  got 1\n  → add it"}
}
FORGED = {"test-double": {"ename": "ValueError", "evalue": "ValueError: <script>alert(1)</script>"}}


def lines(course, name=NAME):
    with closing(course.gradebook()) as book:
        return diagnoses.thoughts(course, book, name).lines()


def kept(course, name=NAME):
    with closing(course.gradebook()) as book:
        return {who: len(rows) for who, rows in attempts.of_class(book, name).items()}


@pytest.fixture
def course(tmp_path):
    made = make(tmp_path / "c", {"ada": {"fails": WRONG}, "bob": {"fails": WRONG}, "cyd": {}})
    grade(made)
    return made


@pytest.mark.slow
def test_a_later_hand_in_is_another_attempt_and_a_forced_grading_is_not(course):
    grade(course, force=True)
    assert kept(course) == {"ada": 1, "bob": 1, "cyd": 1}
    assert lines(course) == {"double": [["2 of 3: add it", "ada, bob"]]}
    hand_in(course, "ada", explain="Two times, now repaired.")
    hand_in(course, "bob", fails=WRONG, own=["regrade: look again"])
    grade(course)
    assert kept(course) == {"ada": 2, "bob": 1, "cyd": 1}, "a request is not another hand-in"
    change = "1 of 2 who had it repaired it in a later hand-in"
    assert lines(course) == {"double": [["1 of 3: add it", "bob", change]]}


@pytest.mark.slow
def test_a_gradebook_without_our_rows_is_read_from_the_graded_copies(course):
    expected = lines(course)
    with closing(course.gradebook()) as book:
        book.db.execute(text("drop table bertlab_attempts"))
        book.db.commit()
    assert lines(course) == expected
    course.graded_copy(NAME, "bob").unlink()
    with closing(course.gradebook()) as book:
        found = diagnoses.thoughts(course, book, NAME)
    assert (found.students, found.unknown) == (2, ("bob",))
    assert "Not counted, no messages are kept: bob" in found.text()


@pytest.mark.slow
def test_a_hand_in_that_could_not_be_graded_is_not_counted(course):
    hand_in(course, "bob", fail=True)
    grade(course)
    assert lines(course) == {"double": [["1 of 2: add it", "ada"]]}


@pytest.mark.slow
def test_the_commands_print_it_and_the_overview_shows_it_escaped(course, capsys):
    hand_in(course, "cyd", fails=FORGED)
    grade(course)
    capsys.readouterr()
    root = ["--root", str(course.root)]
    assert main([*root, "items", NAME]) == 0
    printed = capsys.readouterr().out
    assert "3 students, 1 tasks, Cronbach's alpha" in printed
    assert "Left out: explain: waits for a person\n" in printed
    assert printed.split("\n\n")[1] == (
        "What the class thinks (3 graded hand-ins)\ndouble\n  2 of 3: add it\n      ada, bob\n"
        "  1 of 3: no known diagnosis: ValueError: <script>alert(1)</script>\n      cyd"
    )
    assert main([*root, "items", "all", "--as-rows"]) == 0
    assert capsys.readouterr().out.splitlines()[:4] == [
        f"# {NAME}",
        "# 1 of 3 students",
        "#   ValueError: <script>alert(1)</script>",
        "task: double",
    ]
    assert main([*root, "overview"]) == 0
    page = BeautifulSoup((course.root / "overview.html").read_text(), "html.parser")
    assert [one.text for one in page.select("dt")] == ["double"]
    assert [one.get_text("|") for one in page.select("dd")] == [
        "2 of 3: add it|ada, bob",
        "1 of 3: no known diagnosis: ValueError: <script>alert(1)</script>|cyd",
    ]
    assert not page.select("script")


@pytest.mark.slow
def test_nothing_graded_is_a_sentence(tmp_path, capsys):
    course = make(tmp_path / "c")
    for more in ([], ["--as-rows"]):
        assert main(["--root", str(course.root), "items", "all", *more]) == 0
        assert f"{NAME}: nothing is graded; `python -m course grade" in capsys.readouterr().out
