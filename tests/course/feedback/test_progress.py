"""A student's progress: next to each check's verdict, and as a table."""

import math
import re
from collections import Counter
from importlib import import_module
from inspect import signature
from itertools import pairwise

import pytest
from bs4 import BeautifulSoup

from course.feedback import checks, progress
from course.feedback import ex01_bpe as check
from course.feedback.checks import Check, CheckFailed, NotWritten, Passed
from tests.bertlab.viz.test_head_choosers import contrast
from tests.conftest import ROOT, read_page

ASSIGNMENTS = sorted(path.parent.name for path in ROOT.glob("solutions/*/*.ipynb"))


def glued(symbols, pair):
    """A right solution of `merge_pair`."""
    found, at = [], 0
    while at < len(symbols):
        joins = tuple(symbols[at : at + 2]) == tuple(pair)
        found.append("".join(pair) if joins else symbols[at])
        at += 1 + joins
    return tuple(found)


def counted(words):
    """A right solution of `count_pairs`."""
    pairs = Counter()
    for symbols, count in words.items():
        for pair in pairwise(symbols):
            pairs[pair] += count
    return pairs


def fails(checked, function, error=CheckFailed):
    with pytest.raises(error):
        checked(function)


def checks_called(assignment):
    """The checks of a notebook's visible tests, from top to bottom, each with its task's number."""
    number, called = 0, []
    for cell in read_page(ROOT / "exercises" / assignment / f"{assignment}.ipynb").cells:
        if found := re.match(r"## Task (\d+)", cell.source):
            number = int(found[1])
        if cell.id.startswith("test-"):
            called.append((re.match(r"check\.(\w+)\(", cell.source)[1], number))
    return called


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_an_assignments_functions_are_those_that_the_notebook_checks_in_its_order(assignment):
    module = import_module(f"course.feedback.{assignment}")
    tasks = module.progress().tasks
    assert [(task.name, task.number) for task in tasks] == checks_called(assignment)


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_every_check_knows_which_task_it_is(assignment):
    """Also if helpers, classes and other modules are between the notebook and `Check`."""
    module = import_module(f"course.feedback.{assignment}")

    def wrong(*arguments, **options):
        return "not an answer"

    for name, _ in checks_called(assignment):
        checked = getattr(module, name)
        with pytest.raises(CheckFailed):
            checked(*[wrong] * len(signature(checked).parameters))
    seen = module.progress()
    assert seen.tries == (1,) * len(seen.tasks)
    assert not any(seen.passed)


def test_the_line_of_a_right_function_has_progress_and_the_next_task():
    passed = check.merge_pair(glued)
    assert str(passed.progress) == "□■□□□□□□□ 1 of 9 functions pass. Next: count_pairs (task 1)."
    assert repr(passed) == f"{passed.text}\n  {passed.progress}"
    check.count_pairs(counted)
    assert str(check.progress()) == "■■□□□□□□□ 2 of 9 functions pass. Next: train (task 3)."


def test_a_later_failure_or_interruption_revokes_the_function():
    def empty(symbols, pair):
        raise NotImplementedError

    def stopped(symbols, pair):
        raise KeyboardInterrupt

    def wrong(symbols, pair):
        return symbols

    ends = (empty, NotWritten), (stopped, KeyboardInterrupt), (wrong, CheckFailed)
    for tries, (function, error) in zip((1, 2, 4), ends, strict=True):
        check.merge_pair(glued)
        fails(check.merge_pair, function, error)
        assert sum(check.progress().passed) == 0
        assert check.progress().tries[1] == tries, "only what is wrong is a try"


def test_tries_are_counted_until_it_passes_and_after():
    for _ in range(3):
        fails(check.merge_pair, lambda symbols, pair: symbols)
    check.merge_pair(glued)
    assert check.progress().tries == (0, 4, 0, 0, 0, 0, 0, 0, 0)


def test_the_last_check_reports_the_end():
    tasks = check.progress().tasks
    done = progress.Progress(tasks, (True,) * 9, (1,) * 9)
    assert str(done) == (
        "■■■■■■■■■ All functions pass. "
        "Answer the questions in words; then restart, run all cells, and hand in."
    )
    assert done.bar() in Passed("decode", ["all"], done)._repr_html_()


def test_assignments_count_for_themselves_and_a_check_outside_shows_no_progress():
    from course.feedback import ex02_wordpiece

    fails(ex02_wordpiece.glue, lambda left, right: None)
    assert sum(ex02_wordpiece.progress().tries) == 1
    assert sum(check.progress().tries) == 0
    own = Check("own", len)
    own.done("nothing")
    assert own.passed().progress is None
    with pytest.raises(ValueError, match="checks are imported, such as ex04_attention; got 'ex77'"):
        progress.progress_of("ex77")


def test_the_next_student_starts_from_nothing():
    fails(check.merge_pair, lambda symbols, pair: symbols)
    check.count_pairs(counted)
    checks.start_over()
    assert check.progress().tries == (0,) * 9
    assert not any(check.progress().passed)
    with pytest.raises(CheckFailed) as failed:
        check.merge_pair(lambda symbols, pair: symbols)
    assert "Hint" not in str(failed.value)


# Display.


def bar_of(passed):
    return BeautifulSoup(passed._repr_html_(), "html.parser").find(attrs={"role": "progressbar"})


def test_the_bar_has_text_for_screen_readers():
    bar = bar_of(check.merge_pair(glued))
    assert (bar["aria-valuemin"], bar["aria-valuenow"], bar["aria-valuemax"]) == ("0", "1", "9")
    assert bar["aria-valuetext"] == "1 of 9 functions pass. Next: count_pairs (task 1)."
    assert bar["aria-label"]
    assert bar["aria-valuetext"] in bar.get_text(), "and everybody else reads it, too"
    names = [task.name for task in check.progress().tasks]
    assert [box["title"] for box in bar.find_all("span", title=True)] == names


def test_full_and_empty_boxes_differ_by_more_than_a_shade():
    """Contrast by WCAG 2: text at least 4.5, parts of a picture at least 3."""
    line = BeautifulSoup(check.merge_pair(glued)._repr_html_(), "html.parser").find(role="status")
    ground, ink = colour(line, "background"), colour(line, "color")
    full, empty = bar_of(check.merge_pair(glued)).find_all("span", title=True)[1:3]
    assert contrast(ground, ink) >= 4.5
    assert contrast(colour(full, "background"), ground) >= 3
    assert contrast(colour(full, "background"), colour(empty, "background")) >= 3
    edge = re.search(r"border:1px solid (#\w{6})", empty["style"])[1]
    assert contrast(edge, ground) >= 3


def colour(tag, name):
    return re.search(rf"(?<![-\w]){name}:(#\w{{6}})", tag["style"])[1]


def test_the_table_names_every_function_its_state_and_tries():
    check.count_pairs(counted)
    fails(check.merge_pair, lambda symbols, pair: None)
    rows = repr(check.progress()).splitlines()
    assert rows[:2] == [
        "task · function · state · tries · what its check said",
        "1 · count_pairs · ✓ passes · 1",
    ]
    assert rows[2].startswith("2 · merge_pair · ✗ not yet · 1 · it must return a tuple; it re")
    assert rows[3] == "3 · train · ○ not tried · 0"
    page = BeautifulSoup(check.progress()._repr_html_(), "html.parser")
    table = page.table
    shown = [" · ".join(row.stripped_strings) for row in table.find_all("tr")]
    assert [*shown, page.p.get_text()] == rows
    links = [link["href"] for link in table.find_all("a")]
    assert links[1:3] == [f"ex01_bpe.ipynb#cell-id=task-{number}" for number in (2, 3)]
    assert table.caption.get_text() == check.progress().sentence()
    assert "color" not in str(table), "the notebook's own colours, light or dark"


def merge_pair(symbols, pair):
    """It joins only what stands first."""
    return ("".join(pair), *symbols[2:]) if tuple(symbols[:2]) == tuple(pair) else tuple(symbols)


def apply_merges(symbols, ranks):
    """Right, but for the function that it calls, inside another."""
    join = lambda pair: merge_pair(symbols, pair)  # noqa: E731
    while len(symbols) > 1:
        pair = min(pairwise(symbols), key=lambda one: ranks.get(one, math.inf))
        if pair not in ranks:
            break
        symbols = join(pair)
    return symbols


@pytest.mark.slow
def test_a_red_check_names_the_red_function_that_is_called_until_that_one_passes():
    checks.start_over()
    told = "it calls merge_pair (task 2), whose own check is red: begin there"
    with pytest.raises(CheckFailed) as alone:
        check.apply_merges(apply_merges)
    assert told not in str(alone.value), "merge_pair has not been tried"
    with pytest.raises(CheckFailed) as itself:
        check.merge_pair(merge_pair)
    assert "whose own check" not in str(itself.value)
    with pytest.raises(CheckFailed, match=re.escape(told)):
        check.apply_merges(apply_merges)
    with pytest.raises(CheckFailed) as method:
        check.apply_merges(lambda symbols, ranks: ranks.merge_pair)
    assert told not in str(method.value), "an attribute has that name"
    check.merge_pair(glued)
    with pytest.raises(CheckFailed) as later:
        check.apply_merges(apply_merges)
    assert told not in str(later.value)
