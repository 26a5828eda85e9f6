"""Malformed notebooks, and notebooks with manipulated cells and marks."""

import copy
import json
from collections.abc import Callable

from nbformat import NotebookNode, v4
from nbformat.converter import convert

from tests.course.grading.hostile.small import TARGET, TASKS, Change, Hostile, cell_of

NOTHING, TWICE = "nothing could be graded: ", "row-softmax: its cell is there 2 times"
TESTS = ("test-row-softmax", "hidden-row-softmax")
NO_NOTEBOOK = {
    "an empty file": b"",
    "no JSON": b"import os\n" * 100,
    "a binary file": b"\x7fELF" + bytes(range(256)) * 100,
    "UTF-16": json.dumps({"cells": []}).encode("utf-16"),
    "JSON of a number": b"7",
    "JSON of a list": b"[[]]",
    "JSON without cells": b'{"nbformat": 4}',
    "JSON with no cells": b'{"nbformat": 4, "cells": []}',
    "an unknown version": b'{"nbformat": 99, "cells": []}',
    "a version that is text": b'{"nbformat": {"a": []}, "cells": 5}',
}


def whole(change: Callable[[dict], None]) -> Change:
    """A change of the notebook's JSON."""

    def made(page: NotebookNode) -> bytes:
        change(data := json.loads(json.dumps(page)))
        return json.dumps(data).encode()

    return made


def marks_of(data: dict, id: str) -> dict:
    return next(cell for cell in data["cells"] if cell["id"] == id)["metadata"]["nbgrader"]


def changed_points(data: dict) -> None:
    for cell in data["cells"]:
        if "points" in (marks := cell["metadata"]["nbgrader"]):
            marks["points"] = 1_000_000


def swapped(first: str, second: str, *keys: str) -> Change:
    """Two cells have each other's marks."""

    def change(data: dict) -> None:
        one, other = marks_of(data, first), marks_of(data, second)
        for key in keys or {**one, **other}:
            one[key], other[key] = other[key], one[key]

    return whole(change)


def stripped(data: dict) -> None:
    for number, cell in enumerate(data["cells"]):
        cell["metadata"], cell["id"] = {}, f"new-{number}"


def odd_types(data: dict) -> None:
    """Fields of unexpected types in addition to the relevant ones."""
    data["metadata"] = [1]
    data["cells"] += [7, None, "x", {}, {"cell_type": "code"}, {"cell_type": 5, "source": {"a": 1}}]
    cell = {"cell_type": "code", "source": [1, None], "metadata": {"nbgrader": "x"}}
    marks = {"nbgrader": {"grade_id": ["x"], "points": {}}}
    outputs = [5, {"output_type": "stream", "text": 5}, {"output_type": "error"}]
    data["cells"] += [
        {**cell, "outputs": {"a": 1}, "id": {}},
        {"cell_type": "raw", "source": "x", "metadata": marks},
        {"cell_type": "code", "source": "", "outputs": outputs},
    ]


def odd_values(page: NotebookNode) -> bytes:
    """What JSON or Python does not have: NaN, numbers of 5,000 digits, a key twice."""
    for cell in page.cells:
        cell.metadata["odd"] = "ODD"
    odd = f'NaN, "odd": [1e999999, -{"9" * 5000}, "\\ud800"]'
    content = json.dumps(page).replace('"ODD"', odd)
    return content.replace('"execution_count": null', f'"execution_count": {"9" * 5000}').encode()


def duplicated(id: str, source: str | None = None, below: int = 0) -> Change:
    """As in JupyterLab: the copy has the marks, too. source: the copy's."""

    def change(page: NotebookNode) -> None:
        cell = cell_of(page, id)
        made = copy.deepcopy(cell)
        made.source = cell.source if source is None else source
        page.cells.insert(page.cells.index(cell) + below, made)

    return change


def tampered(page: NotebookNode) -> None:
    cell_of(page, TARGET).source = "def row_softmax(scores):\n    return scores\n"
    for id in TESTS:
        cell_of(page, id).source = "print('right')"


def without(*ids: str) -> Change:
    return lambda page: page.update(cells=[cell for cell in page.cells if cell.id not in ids])


def other_language(page: NotebookNode) -> None:
    page.metadata.kernelspec = {"name": "ir", "display_name": "R", "language": "R"}
    page.metadata.language_info = {"name": "R"}
    code = "row_softmax <- function(scores) { exp(scores) / sum(exp(scores)) }"
    cell_of(page, TARGET).source = code


def version_3(page: NotebookNode) -> bytes:
    return json.dumps(convert(page, 3)).encode()


def nested_json(page: NotebookNode) -> bytes:
    return b'{"cells": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"


def long_one(page: NotebookNode) -> bytes:
    return b" " * 6 * 2**20 + json.dumps(page).encode()


def many_cells(page: NotebookNode) -> None:
    page.cells += [v4.new_code_cell("1") for _ in range(3_000)]


def other_assignment(page: NotebookNode) -> NotebookNode:
    return v4.new_notebook(cells=[v4.new_code_cell("def train(corpus): pass")])


TOO_LONG = f"{NOTHING}.* has 6 MB; at most 5 MB are read"
OTHER = "no cell of ex04_attention is in this notebook"
CHANGED = "hidden-row-softmax: this test had been changed; the original was used"
POINTS = "10 cells say other points than the assignment"
BY_TEXT = "hidden-row-softmax: its cell was recognised by its text"
FUNCTIONS = "5 solutions were found by the names of their functions"
ROWS = [
    # No notebook
    *(
        Hostile(name, lambda page, content=content: content, TASKS, NOTHING)
        for name, content in NO_NOTEBOOK.items()
    ),
    Hostile("deep JSON", nested_json, TASKS, NOTHING),
    Hostile("a notebook that is too long", long_one, TASKS, TOO_LONG),
    Hostile("3,000 cells", many_cells, TASKS, f"{NOTHING}3,0.. cells; at most 500"),
    Hostile("another assignment", other_assignment, TASKS, OTHER),
    Hostile("the notebook format of 2013", version_3, ()),
    Hostile("another language", other_language, note="row-softmax: its cell raised SyntaxError"),
    Hostile("fields of odd types", whole(odd_types), ()),
    Hostile("values that are not JSON", odd_values, ()),
    # Cells and marks
    Hostile("tests replaced", tampered, note=CHANGED),
    Hostile("tests deleted", without(*TESTS), (), "hidden-row-softmax: its cell was missing"),
    Hostile("a solution deleted", without(TARGET), note="row-softmax: its cell was missing"),
    Hostile("given cells deleted", without("imports", "given-weights"), ()),
    Hostile("points changed", whole(changed_points), (), POINTS),
    Hostile("marks of tests swapped", swapped(TESTS[1], "hidden-causal-mask"), (), BY_TEXT),
    Hostile("marks of solutions swapped", swapped(TARGET, "causal-mask", "grade_id"), ()),
    Hostile("all marks stripped", whole(stripped), (), FUNCTIONS),
    Hostile("a solution's cell copied", duplicated(TARGET, below=1), (), TWICE),
    # JupyterLab gives both halves the marks; the first one imports something.
    Hostile("a solution's cell split", duplicated(TARGET, "from math import inf\n"), (), TWICE),
    Hostile("a test's cell duplicated", duplicated("hidden-row-softmax", "pass", 99), ()),
]
