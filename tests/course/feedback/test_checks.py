"""The messages of a check, for any assignment."""

import importlib
import sys
from types import SimpleNamespace

import pytest
import torch
from IPython.core.interactiveshell import InteractiveShell
from tokenizers import Tokenizer, models
from torch.nn import functional as F

from bertlab.tokenizers import BPE
from bertlab.tokenizers.bpe import count_pairs, merge_pair
from course.feedback import ex00_warm_up, known
from course.feedback.checks import Check, CheckFailed, NotWritten, Passed
from course.feedback.differences import difference
from course.feedback.watch import LibraryUsed, NeverEnds, Watch, watched


def doubled(function, hints=()):
    """A check of a function that doubles a list."""
    check = Check("doubled", function, hints)
    check.example([1, 2], gives=[1, 2, 1, 2], because="once more at the end")
    check.done("two numbers")
    return check.passed()


def said(function, hints=()):
    with pytest.raises(CheckFailed) as failed:
        doubled(function, hints)
    return str(failed.value)


def test_a_right_function_gets_a_line_that_does_not_need_colour():
    passed = doubled(lambda numbers: numbers * 2)
    assert isinstance(passed, Passed)
    assert repr(passed) == "✓ doubled passes: two numbers."
    assert "✓ doubled passes: two numbers." in passed._repr_html_()
    assert "&lt;UNK&gt;" in Passed("f", ["<UNK>"])._repr_html_(), "odd characters are escaped"


def test_a_wrong_answer_is_shown_with_call_expectation_and_reason():
    assert said(lambda numbers: numbers) == (
        "doubled: doubled([1, 2])\n"
        "  expected [1, 2, 1, 2]\n"
        "  got      [1, 2]\n"
        "  This case: once more at the end"
    )


def test_one_more_hint_is_shown_at_each_try_and_none_after_success():
    hints = ("look at the end", "use +")
    assert "Hint" not in said(lambda numbers: numbers, hints)
    second = said(lambda numbers: numbers, hints)
    assert "Hint 1: look at the end" in second
    assert "use +" not in second
    assert "Hint 2: use +" in said(lambda numbers: numbers, hints)
    doubled(lambda numbers: numbers * 2, hints)
    assert "Hint" not in said(lambda numbers: numbers, hints)


def test_an_unwritten_function_fails_without_using_up_a_hint():
    def unwritten(numbers):
        raise NotImplementedError("write this function, then delete this line")

    for _ in range(3):
        with pytest.raises(NotWritten, match="not written yet") as failed:
            doubled(unwritten, ("a hint",))
    assert isinstance(failed.value, NotImplementedError)
    assert isinstance(failed.value, AssertionError)
    assert "Hint" not in said(lambda numbers: numbers, ("a hint",))


@pytest.mark.parametrize("function", [F.softmax, F.log_softmax])
def test_a_function_that_pytorch_lacks_for_integers_is_not_taken_for_an_unwritten_one(function):
    message = said(lambda numbers: function(torch.tensor(numbers), dim=0))
    assert "not implemented for 'Long'\n  in your line: message = said" in message
    assert "PyTorch has this function for numbers of another dtype: .float() makes such" in message
    assert "not written" not in message
    own = said(lambda numbers: F.gelu(torch.tensor(numbers)))
    assert "not implemented for 'Long'" in own


def test_a_changed_input_is_detected_and_a_result_in_place_of_a_function_rejected():
    def greedy(numbers):
        numbers += numbers
        return numbers

    assert "changed its input\n  → work on a copy" in said(greedy)
    doubled(lambda numbers: numbers * 2)
    assert "not what it returns; got [1, 2, 1, 2]" in said([1, 2, 1, 2])


def test_an_error_is_shown_with_the_students_own_line():
    def wrong(numbers):
        return numbers[7]

    message = said(wrong)
    assert "raised IndexError: list index out of range" in message
    assert message.endswith("in your line: return numbers[7]\n  This case: once more at the end")


def test_an_error_in_a_given_function_is_shown_with_the_students_line_that_called_it():
    scope = {}
    exec(compile("def given(numbers):\n    return numbers[7]", "given cell", "exec"), scope)

    def calls_it(numbers):
        return scope["given"](numbers)

    assert 'in your line: return scope["given"](numbers)\n' in said(calls_it)


def test_only_a_known_mistake_has_an_arrow(monkeypatch):
    values = {
        "sentences": ["the last one is missing", "a list, with [ ]"],
        "checks": {"doubled": {"1": [[[1, 2, 1], 0], [{"tuple": [1, 2, 1, 2]}, 1]]}},
    }
    monkeypatch.setattr(known, "values_of", lambda _: values)

    def told(answer):
        check = Check("doubled", lambda numbers: answer)
        with pytest.raises(CheckFailed) as failed:
            check.example([1, 2], gives=[1, 2, 1, 2], because="at the end")
        return str(failed.value).splitlines()[-1]

    assert told([1, 2, 1]) == "  → the last one is missing"
    assert told([2, 1]) == "  This case: at the end"
    assert told((1, 2, 1, 2)) == "  → a list, with [ ]"
    for wrong in ("1212", None, 4, {1: 2}):
        assert told(wrong) == "  This case: at the end"


def test_a_call_that_must_raise_an_error_is_checked():
    def picky(number):
        if number < 0:
            raise ValueError(f"{number} is negative")
        return 1 / number

    check = Check("picky", picky)
    check.raises(ValueError, -1, because="negative numbers have no place here")
    check.raises(ValueError, -1, because="", naming="-1")
    with pytest.raises(CheckFailed, match="a ValueError whose message names -2; it raised Value"):
        check.raises(ValueError, -1, because="", naming="-2")
    for number, told in ((1, "must raise a ValueError; it returned 1"), (0, "it raised ZeroDiv")):
        with pytest.raises(CheckFailed, match=told):
            check.raises(ValueError, number, because="")


HUGGING_FACE = Tokenizer(models.BPE(vocab={"a": 0}, merges=[]))


def sly(numbers):
    try:
        return merge_pair(("a", "b"), ("a", "b"))
    except Exception:
        return numbers * 2


@pytest.mark.parametrize(
    "function",
    [
        count_pairs,
        lambda numbers: merge_pair(("a", "b"), ("a", "b")),
        lambda numbers: BPE.train(["ab"], 3),
        lambda numbers: list(map(len, [BPE.train(["ab"], 3).tokenize("ab")])),
        lambda numbers: HUGGING_FACE.encode("a").ids,
        sly,
    ],
    ids=["itself", "called", "a class", "deep inside", "hugging face", "every exception swallowed"],
)
def test_the_library_is_not_accepted_as_the_answer(function):
    assert "uses bertlab's own code, or another tokenizer's" in said(function)


def test_a_hidden_test_does_not_accept_the_library_either():
    with pytest.raises(LibraryUsed):
        watched(lambda: merge_pair(("a", "b"), ("a", "b")))()
    assert watched(climb)(10_000) is None


def test_an_import_inside_pytorch_is_not_the_students_call(monkeypatch):
    finder = SimpleNamespace(find_spec=eval("lambda *_: None", {"__name__": "transformers.hook"}))
    monkeypatch.setattr(sys, "meta_path", [finder, *sys.meta_path])
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)

    def late(numbers):
        import colorsys  # noqa: F401

        return numbers * 2

    assert doubled(late)
    assert "uses bertlab's own code" in said(lambda numbers: finder.find_spec())


@pytest.mark.slow
def test_a_loop_without_an_end_is_stopped():
    def stuck(numbers):
        i = 0
        while i < len(numbers):
            numbers[i]
        return numbers

    message = said(stuck)
    assert "does not come to an end, so it was stopped" in message
    assert "This case: " in message
    assert "→" not in message


def test_the_trace_is_removed_after_a_check():
    before = sys.gettrace(), sys.getprofile()
    with Watch(most_lines=10_000):
        climb(1_000)
    with pytest.raises(NeverEnds), Watch(most_lines=1_000):
        climb(1_000)
    assert (sys.gettrace(), sys.getprofile()) == before


def test_the_lines_of_an_import_are_not_counted(tmp_path, monkeypatch):
    (tmp_path / "slow_to_import.py").write_text("steps = 5_000\nwhile steps:\n    steps -= 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    with Watch(most_lines=1_000) as watch:
        slow = importlib.import_module("slow_to_import")  # 10,000 lines
        climb(400)
    assert slow.steps == 0
    assert 0 < watch.lines_left < 600


def climb(steps):
    while steps:
        steps -= 1


@pytest.mark.parametrize(
    ("expected", "got", "told"),
    [
        ((1, 2), (1, 2), ""),
        ([1], None, "it must return a list; it returned None. Is there a `return` at the end?"),
        ({"a": 1}, {}, "'a': expected 1, but it is missing"),
        ({}, {"b": 1}, "'b': should not be there, got 1"),
        (dict.fromkeys("abcdef", 1), {}, "and 2 more"),
        ([0] * 20, [0] * 19, "expected length 20, got 19; they agree up to the end of the shorter"),
        ([0] * 20, [0] * 7 + [1] * 13, "first difference at index 7"),
    ],
)
def test_a_difference_is_described_in_the_students_terms(expected, got, told):
    found = difference(expected, got)
    assert told in found
    assert bool(told) == bool(found)


def test_a_notebook_shows_the_message_and_no_stack_of_calls(capsys):
    shell = InteractiveShell.instance()
    shell.user_ns["failing"] = lambda: doubled(lambda numbers: numbers)
    shell.run_cell("failing()")
    shown = capsys.readouterr().out
    assert "✗ doubled: doubled([1, 2])" in shown
    assert "Traceback" not in shown
    assert "checks.py" not in shown
    InteractiveShell.clear_instance()


@pytest.mark.slow
@pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning")
def test_what_the_library_left_behind_is_not_the_students_call():
    library = {"__name__": "bertlab.somewhere"}
    exec("class Left:\n    def __del__(self):\n        pass", library)

    def students(number):
        garbage = [[] for _ in range(number)]  # enough to start the garbage collector
        for one in garbage:
            one.append(one)
        return number

    left = library["Left"]()
    left.itself = left  # only the collector frees it
    del left
    assert watched(students)(50_000) == 50_000


def test_a_students_test_waits_for_the_function_that_it_tests():
    def shares(numbers):
        raise NotImplementedError("write this function, then delete this line")

    told = "examine_shares: `shares` is not written yet; task 2 comes first"
    with pytest.raises(NotWritten, match=told):
        ex00_warm_up.examine_shares(lambda shares: None, shares)
