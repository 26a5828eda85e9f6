"""Points for copying a lecture's functions, and the detection of calls to the library."""

import ast
import sys
from functools import partial

import pytest
import torch
from scipy import special

from bertlab.model.attention import causal_mask
from course.feedback.watch import LibraryUsed, watched
from course.grading.cells import is_solution, past_the_watch
from course.publishing.mistakes import run_task
from tests.conftest import ROOT, read_page
from tests.exercises.test_answers import ASSIGNMENTS, OTHER_WAYS, WRONG
from tests.exercises.test_assignments import source_of

pytestmark = pytest.mark.slow

MOST = 1 / 3


def functions_of_the_lecture(assignment):
    """The source of each function that the pages of its lecture define, by name."""
    found = {}
    for path in sorted(ROOT.glob(f"lectures/{assignment[2:4]}*.ipynb")):
        for cell in read_page(path).code:
            for node in ast.walk(ast.parse(cell.source)):
                if isinstance(node, ast.FunctionDef):
                    found[node.name] = ast.unparse(node)
    return found


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_pasting_the_lecture_earns_at_most_a_third(assignment, record_property):
    pasted, cells = functions_of_the_lecture(assignment), read_page(source_of(assignment)).cells
    points = {cell.id: cell.metadata.nbgrader.get("points", 0) for cell in cells}
    earned, tasks = 0, []
    for cell in filter(is_solution, cells):
        name = cell.id.replace("-", "_")
        for kind in ("test", "hidden") if name in pasted else ():
            try:
                run_task(assignment, cell.id, pasted[name], tests=[kind])
            except Exception:  # any error: no points
                continue
            earned += points[f"{kind}-{cell.id}"]
            tasks.append(name)
    share = earned / sum(points.values())
    names = ", ".join(dict.fromkeys(tasks)) or "nothing"
    record_property("counted", f"{assignment}: {share:.0%} of the points by pasting: {names}")
    assert share <= MOST


AROUND = {
    "the watch is switched off": ("sys.setprofile(None)", "setprofile"),
    "another thread": ("import threading as t\nt.Thread(target=f).start()", "Thread"),
    "PyTorch's operators": ("torch.ops.aten.softmax(x, -1, False)", "aten"),
    "by their name": ('getattr(torch.ops, "aten")', "aten"),
    "a compiled trace": ("from torch import jit as j\nj.trace(f, x)", "jit"),
    "a patched watch": ("import course.feedback.watch as w\nw.Watch = object", "Watch"),
    "the library's code": ("f.__code__ = attention.__code__", "__code__"),
    "a copy of its function": (
        "from types import FunctionType as F\n%time F(c, {})",
        "FunctionType",
    ),
}


@pytest.mark.parametrize("way", AROUND)
def test_code_that_evades_the_trace_is_flagged(way):
    code, name = AROUND[way]
    assert past_the_watch(code) == [name]


# `course/README.md` says that these go unseen: what protects the grade are the other points.
UNSEEN = {
    "map": "next(map(torch.softmax, [x], [-1]))",
    "functools.partial": "__import__('functools').partial(torch.softmax, dim=-1)(x)",
    "operator.methodcaller": "__import__('operator').methodcaller('softmax', -1)(x)",
    "functools.reduce": "__import__('functools').reduce(torch.softmax, [-1], x)",
    "scipy.special.softmax": "torch.tensor(special.softmax(x.numpy(), -1))",
    'getattr(sys, "set" + "profile")(None)': (
        "[getattr(sys, 'set' + 'profile')(None), torch.softmax(x, -1)][1]"
    ),
}


@pytest.mark.parametrize("way", UNSEEN)
def test_the_readme_names_the_ways_round_the_watch(way):
    given, x = {"torch": torch, "sys": sys, "special": special}, torch.tensor([[1.0, 2.0]])
    function = eval(f"lambda x: {UNSEEN[way]}", given)
    assert torch.allclose(watched(function, ["softmax"])(x), x.softmax(dim=-1))
    assert past_the_watch(UNSEEN[way]) == []
    assert f"`{way}`" in (ROOT / "course" / "README.md").read_text(encoding="utf-8")


def test_a_plain_call_and_the_librarys_own_code_are_seen():
    x = torch.tensor([[1.0, 2.0]])
    for function in (
        lambda x: torch.softmax(x, -1),
        lambda x: x.softmax(-1),
        lambda x: next(map(causal_mask, [3])),  # written in Python, so that each call is reported
        lambda x: partial(causal_mask, 3)(),
    ):
        with pytest.raises(LibraryUsed):
            watched(function, ["softmax"])(x)


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_no_right_answer_is_flagged(assignment):
    code = [cell.source for cell in read_page(source_of(assignment)).cells if is_solution(cell)]
    code += [row.solution for row in [*OTHER_WAYS[assignment], *WRONG[assignment]]]
    assert [text for text in code if past_the_watch(text)] == []
