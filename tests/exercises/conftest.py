"""Fixtures for the tests of one assignment: its solved source."""

from functools import cache
from unittest import mock

import pytest

from course.experiments import tasks
from tests.conftest import ROOT, read_page


@pytest.fixture(scope="module")
def texts_are_read_once():
    """A given cell reads its texts again for every answer; answers get the same ones."""
    with mock.patch.object(tasks, "task", cache(tasks.task)):
        yield


@pytest.fixture(scope="module")
def cells(request):
    """Id -> cell of the assignment that a module such as test_ex06_bert_encoder.py tests."""
    name = request.path.stem.removeprefix("test_")
    return {cell.id: cell for cell in read_page(ROOT / "solutions" / name / f"{name}.ipynb").cells}


@pytest.fixture(scope="module")
def solution(cells):
    """Name -> function, as the instructor's notebook defines them."""
    scope = {"__name__": "__main__"}
    for cell in cells.values():
        given = cell.id == "imports" or cell.id.startswith("given-")
        if cell.cell_type == "code" and (given or cell.metadata.nbgrader.solution):
            exec(compile(cell.source, cell.id, "exec"), scope)
    return scope


@pytest.fixture
def is_told(cells, solution, capsys):
    """`is_told("kept", "85%")`: a cell shows these numbers, and the model answer states them."""
    shown = []
    scope = solution | {"display": shown.append}

    def check(name, *numbers):
        exec(compile(cells[name].source, name, "exec"), scope)
        text = f"{capsys.readouterr().out}{shown.pop() if shown else ''}"
        for number in numbers:
            assert number in text
            assert number.replace("%", " %") in cells["explain"].source
        return text

    return check
