"""A small assignment, its right notebook, and what a damaged one gets without a sandbox."""

import contextlib
import copy
import io
import json

from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from course.gradebook.notes import Note
from course.grading.assignments import Assignment, as_handed_in, grade_id
from course.grading.cells import is_run, is_test, plan, runnable, running_order
from course.grading.submissions import read_submission
from course.settings import Limits
from tests.course.small_course import cell

NAME = "ex77_small"
STUB = "*Write your answer here, in place of this line.*"
ANSWERS = {
    "first": "The most frequent word is *the*, in every long text.",
    "second": "A scale of ten makes the counts larger and keeps their order.",
}
CODE = {
    "count": "def count(words):\n    return Counter(words)",
    "most": "def most(words):\n    return scale(count(words).most_common(1)[0][1])",
    "report": 'def report(words):\n    return f"{most(words)} of {total(words)}"',
}
GIVEN = {
    "imports": "import math\nfrom collections import Counter",
    "given-scale": "def scale(x):\n    return 10 * x",
    "given-total": "def total(words):\n    return sum(count(words).values())",
}
TESTS = {
    "count": 'assert count(["a", "b", "a"]) == {"a": 2, "b": 1}',
    "most": 'assert most(["a", "b", "a"]) == 20',
    "report": 'assert report(["a", "b", "a"]) == "20 of 3"',
}
# The student's cells without which a test cannot pass.
NEEDS = {"count": ["count"], "most": ["count", "most"], "report": ["count", "most", "report"]}


def _task(name):
    function = f"def {name}(words):"
    body = CODE[name].partition("\n")[2]
    solution = f"{function}\n    ### BEGIN SOLUTION\n{body}\n    ### END SOLUTION"
    hidden = f"### BEGIN HIDDEN TESTS\n{TESTS[name]}\n### END HIDDEN TESTS"
    test = f"# More words are tried here: {name}.\n{hidden}"
    return [
        cell(new_markdown_cell, f"task-{name}", f"## Write `{name}`\n\nIt takes words."),
        cell(new_code_cell, name, solution, solution=True),
        cell(new_code_cell, f"test-{name}", TESTS[name], grade=True, points=1),
        cell(new_code_cell, f"hidden-{name}", test, grade=True, points=2),
    ]


def _question(name):
    text = f"### The {name} question\n\nWhat do you see, and why is it so?"
    return [
        cell(new_markdown_cell, f"{name}-question", text),
        cell(new_markdown_cell, name, ANSWERS[name], grade=True, solution=True, points=3),
    ]


def _assignment():
    source = new_notebook(
        cells=[
            cell(new_markdown_cell, "title", "# Words"),
            cell(new_code_cell, "imports", GIVEN["imports"]),
            *_task("count"),
            cell(new_code_cell, "given-scale", GIVEN["given-scale"]),
            *_task("most"),
            *_question("first"),
            cell(new_code_cell, "given-total", GIVEN["given-total"]),
            *_task("report"),
            *_question("second"),
            cell(new_markdown_cell, "end", "## Done\n\nRestart the kernel."),
        ]
    )
    release = copy.deepcopy(source)
    for one in release.cells:
        if one.id in ANSWERS:
            one.source = STUB
        elif one.id in CODE:
            head = CODE[one.id].partition("\n")[0]
            one.source = f'{head}\n    raise NotImplementedError("write this function")'
        elif one.cell_type == "code":
            one.source = as_handed_in(one.source)
    return Assignment(NAME, source, release)


ASSIGNMENT = _assignment()
PLAN = plan(ASSIGNMENT.source)


def right():
    """The cells of a notebook that gets all points, as plain data."""
    made = json.loads(json.dumps(ASSIGNMENT.release.cells))
    for one in made:
        one["source"] = (CODE | ANSWERS).get(one["id"], one["source"])
    return made


def at(cells, id):
    """The place of the assignment's cell."""
    return next(n for n, one in enumerate(cells) if one.get("id") == id)


def code(source, **more):
    return {"cell_type": "code", "metadata": {}, "outputs": [], "source": source, **more}


def text(source, **more):
    return {"cell_type": "markdown", "metadata": {}, "source": source, **more}


def as_type(kind, one):
    """The cell as another type: "code", "markdown" or "raw"."""
    return {**one, "cell_type": kind}


def page(cells):
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}


def written(folder, cells):
    """The file of a notebook."""
    path = folder / f"{NAME}.ipynb"
    path.write_text(json.dumps(page(cells)))
    return path


def graded(folder, cells):
    """The points by graded cell, None for what a person reads, and the repaired submission.

    Students' and tests' cells run in one namespace of this process, in `running_order`. As in an
    exam, a student's cell that raises has a note.
    """
    submission = read_submission(written(folder, cells), ASSIGNMENT, Limits())
    scope, points, raised = {}, {}, []
    for id in PLAN.warm:
        exec(GIVEN[id], scope)
    for one in submission.cells:
        if one.cell_type == "markdown" and one.metadata.get("nbgrader", {}).get("grade"):
            points[grade_id(one)] = 0.0 if one.source == STUB else None
    for step in running_order(submission.cells, PLAN):
        ran = _ran(step.cell, scope)
        if is_test(step.cell):
            points[grade_id(step.cell)] = float(step.cell.metadata.nbgrader.points) * ran
        elif not ran:
            raised.append(Note("its cell raised", grade_id(step.cell) or "", "Mend it."))
    return points, submission._replace(notes=(*submission.notes, *raised))


def _ran(one, scope):
    if not is_run(one, PLAN):
        return True
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            exec(runnable(one.source), scope)
        except Exception:
            return False
    return True


FULL = {
    f"{kind}-{name}": points for name in CODE for kind, points in (("test", 1.0), ("hidden", 2.0))
} | dict.fromkeys(ANSWERS)
