"""Malformed notebooks, and notebooks with manipulated cells and marks."""

import copy
import json
from collections.abc import Callable

from nbformat import NotebookNode, v4
from nbformat.converter import convert

from tests.course.grading.hostile.small import TARGET, TASKS, Hostile, cell_of

NOTHING = "nothing could be graded: "


def raw(content: bytes) -> Callable[[NotebookNode], bytes]:
    return lambda page: content


def whole(change: Callable[[dict], object]) -> Callable[[NotebookNode], bytes]:
    """A change of the notebook's JSON."""

    def made(page: NotebookNode) -> bytes:
        data = json.loads(json.dumps(page))
        changed = change(data)
        return json.dumps(data if changed is None else changed).encode()

    return made


def marks_of(data: dict, id: str) -> dict:
    return next(cell for cell in data["cells"] if cell["id"] == id)["metadata"]["nbgrader"]


def changed_points(data: dict) -> None:
    for cell in data["cells"]:
        if "points" in cell["metadata"]["nbgrader"]:
            cell["metadata"]["nbgrader"]["points"] = 1_000_000


def swapped_marks(data: dict) -> None:
    """The tests of two tasks have each other's marks."""
    first, second = marks_of(data, "hidden-row-softmax"), marks_of(data, "hidden-causal-mask")
    kept = dict(first)
    first.update(second)
    second.update(kept)


def swapped_solutions(data: dict) -> None:
    first, second = marks_of(data, TARGET), marks_of(data, "causal-mask")
    first["grade_id"], second["grade_id"] = "causal-mask", TARGET


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


def duplicated(page: NotebookNode) -> NotebookNode:
    """As in JupyterLab: the copy has the marks, too."""
    place = page.cells.index(cell_of(page, TARGET))
    page.cells.insert(place + 1, copy.deepcopy(page.cells[place]))
    return page


def split(page: NotebookNode) -> NotebookNode:
    """JupyterLab gives both halves the marks; the first one imports something."""
    place = page.cells.index(cell_of(page, TARGET))
    first = copy.deepcopy(page.cells[place])
    first.source = "from math import inf\n"
    page.cells.insert(place, first)
    return page


def test_duplicated(page: NotebookNode) -> NotebookNode:
    cell = copy.deepcopy(cell_of(page, "hidden-row-softmax"))
    cell.source = "pass"
    page.cells.append(cell)
    return page


def tampered(page: NotebookNode) -> NotebookNode:
    cell_of(page, TARGET).source = "def row_softmax(scores):\n    return scores\n"
    for id in ("test-row-softmax", "hidden-row-softmax"):
        cell_of(page, id).source = "print('right')"
    return page


def without(*ids: str) -> Callable[[NotebookNode], NotebookNode]:
    def change(page: NotebookNode) -> NotebookNode:
        page.cells = [cell for cell in page.cells if cell.id not in ids]
        return page

    return change


def other_language(page: NotebookNode) -> NotebookNode:
    page.metadata.kernelspec = {"name": "ir", "display_name": "R", "language": "R"}
    page.metadata.language_info = {"name": "R"}
    code = "row_softmax <- function(scores) { exp(scores) / sum(exp(scores)) }"
    cell_of(page, TARGET).source = code
    return page


def version_3(page: NotebookNode) -> bytes:
    return json.dumps(convert(page, 3)).encode()


def nested_json(page: NotebookNode) -> bytes:
    return b'{"cells": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"


def long_one(page: NotebookNode) -> bytes:
    return b" " * 6 * 2**20 + json.dumps(page).encode()


def many_cells(page: NotebookNode) -> NotebookNode:
    page.cells += [v4.new_code_cell("1") for _ in range(3_000)]
    return page


def other_assignment(page: NotebookNode) -> NotebookNode:
    return v4.new_notebook(cells=[v4.new_code_cell("def train(corpus): pass")])


ROWS = [
    # No notebook
    Hostile("an empty file", raw(b""), TASKS, NOTHING),
    Hostile("no JSON", raw(b"import os\n" * 100), TASKS, NOTHING),
    Hostile("a binary file", raw(b"\x7fELF" + bytes(range(256)) * 100), TASKS, NOTHING),
    Hostile("UTF-16", raw(json.dumps({"cells": []}).encode("utf-16")), TASKS, NOTHING),
    Hostile("JSON of a number", raw(b"7"), TASKS, NOTHING),
    Hostile("JSON of a list", raw(b"[[]]"), TASKS, NOTHING),
    Hostile("JSON without cells", raw(b'{"nbformat": 4}'), TASKS, NOTHING),
    Hostile("JSON with no cells", raw(b'{"nbformat": 4, "cells": []}'), TASKS, NOTHING),
    Hostile("an unknown version", raw(b'{"nbformat": 99, "cells": []}'), TASKS, NOTHING),
    Hostile("a version that is text", raw(b'{"nbformat": {"a": []}, "cells": 5}'), TASKS, NOTHING),
    Hostile("deep JSON", nested_json, TASKS, NOTHING),
    Hostile(
        "a notebook that is too long",
        long_one,
        TASKS,
        f"{NOTHING}.* has 6 MB; at most 5 MB are read",
    ),
    Hostile("3,000 cells", many_cells, TASKS, f"{NOTHING}3,0.. cells; at most 500"),
    Hostile(
        "another assignment",
        other_assignment,
        TASKS,
        "no cell of ex04_attention is in this notebook",
    ),
    Hostile("the notebook format of 2013", version_3, (), None),
    Hostile("another language", other_language, note="row-softmax: its cell raised SyntaxError"),
    Hostile("fields of odd types", whole(odd_types), ()),
    Hostile("values that are not JSON", odd_values, ()),
    # Cells and marks
    Hostile(
        "tests replaced",
        tampered,
        note="hidden-row-softmax: this test had been changed; the original was used",
    ),
    Hostile(
        "tests deleted",
        without("test-row-softmax", "hidden-row-softmax"),
        (),
        "hidden-row-softmax: its cell was missing",
    ),
    Hostile("a solution deleted", without(TARGET), note="row-softmax: its cell was missing"),
    Hostile("given cells deleted", without("imports", "given-weights"), ()),
    Hostile(
        "points changed",
        whole(changed_points),
        (),
        "10 cells say other points than the assignment",
    ),
    Hostile(
        "marks of tests swapped",
        whole(swapped_marks),
        (),
        "hidden-row-softmax: its cell was recognised by its text",
    ),
    Hostile("marks of solutions swapped", whole(swapped_solutions), (), None),
    Hostile(
        "all marks stripped",
        whole(stripped),
        (),
        "5 solutions were found by the names of their functions",
    ),
    Hostile("a solution's cell copied", duplicated, (), "row-softmax: its cell is there 2 times"),
    Hostile("a solution's cell split", split, (), "row-softmax: its cell is there 2 times"),
    Hostile("a test's cell duplicated", test_duplicated, (), None),
]
