"""Damaged hand-ins: what the student wrote is found, and every repair has a line for both."""

import codecs
import copy
import gzip
import json
from base64 import b64encode
from io import BytesIO

import pytest
from nbformat import NotebookNode
from PIL import Image

from course.gradebook.regrades import WAITS, is_all_that_is_new, looks, requests, split
from course.gradebook.results import Result
from course.grading.cells import is_test, names_of, running_order
from course.grading.grader import Grader
from course.grading.sandbox import why_no_sandbox
from course.grading.submissions import read_submission
from course.settings import Limits
from tests.course.grading import damaged
from tests.course.grading.damaged import ANSWERS, ASSIGNMENT, CODE, at, code, graded, right, text

RELEASE = {one.id: one.source for one in ASSIGNMENT.release.cells}


def png(width):
    """A picture in base 64."""
    Image.new("L", (width, 1)).save(file := BytesIO(), "PNG")
    return b64encode(file.getvalue()).decode()


def with_source(**sources):
    """The right notebook with other sources of some cells."""
    cells = right()
    for name, source in sources.items():
        cells[at(cells, name.replace("_", "-"))]["source"] = source
    return cells


def without(cells, *ids):
    return [one for one in cells if one["id"] not in ids]


def put(cells, id, *new, below=True):
    """The cells with new ones below or above one of them."""
    place = at(cells, id) + below
    return [*cells[:place], *new, *cells[place:]]


def as_types(cells, kind, *ids):
    return [damaged.as_type(kind, one) if one["id"] in ids else one for one in cells]


def answer_of(submission):
    return next(one for one in submission.cells if one.id == "second")


def unmarked(cells):
    return [{**one, "metadata": {}, "id": f"{n:08x}"} for n, one in enumerate(cells)]


def renamed(cells):
    """Marks and ids of an earlier version."""
    cells = copy.deepcopy(cells)
    for one in cells:
        one["id"] = one["metadata"]["nbgrader"]["grade_id"] = f"ps1-{one['id']}"
    return cells


def joined(cells, *ids):
    """The first of some cells with all their texts."""
    cells[at(cells, ids[0])]["source"] = "\n\n".join(cells[at(cells, id)]["source"] for id in ids)
    return without(cells, *ids[1:])


LATE_IMPORT = {
    "imports": f"{damaged.GIVEN['imports']}\nimport itertools as it",
    "count": "def count(words):\n    return Counter(it.chain(words))",
}
QUESTION = RELEASE["second-question"]
BELOW = f"{QUESTION}\n\nMy answer: {ANSWERS['second']}"
# All points, and a line for each of these kinds.
FOUND = {
    "two solutions joined": (joined(right(), "count", "most"), "found in the cell of another"),
    "a solution and its test": (joined(right(), "count", "test-count"), "its cell was missing"),
    "all in one cell": (joined(right(), *CODE), "found in the cell of another"),
    "without marks": (unmarked(right()), "as the notebook had lost its marks"),
    "without marks, joined": (
        unmarked(joined(right(), "count", "test-count", "hidden-count", "given-scale", "most")),
        "lost its marks",
    ),
    "reversed": (right()[::-1], ""),
    "with old names": (renamed(right()), ""),
    "a solution in Markdown": (as_types(right(), "markdown", "count"), "its code was in a text"),
    "a solution in a raw cell": (as_types(right(), "raw", "most"), "its code was in a text"),
    "fenced code": (
        as_types(with_source(count=f"```python\n{CODE['count']}\n```"), "markdown", "count"),
        "its code was in a text",
    ),
    "words below the code": (
        with_source(count=f"{CODE['count']}\n\nIt doesn't work for all of my words."),
        "its code was in a text",
    ),
    "in the test's cell": (
        with_source(
            count=RELEASE["count"], test_count=f"{CODE['count']}\n{damaged.TESTS['count']}"
        ),
        "code was added to this cell",
    ),
    "above an untouched stub": (
        put(with_source(count=RELEASE["count"]), "count", code(CODE["count"]), below=False),
        "found by the name of its function",
    ),
    "far below an untouched stub": (
        put(with_source(count=RELEASE["count"]), "end", code(CODE["count"])),
        "found by the name of its function",
    ),
    "a stub behind another task's code": (
        with_source(count=RELEASE["count"], most=f"{CODE['count']}\n\n\n{CODE['most']}"),
        "found in the cell of another",
    ),
    "a touched stub below": (
        put(
            with_source(most=f"{CODE['most']}\n\n# mine\n{RELEASE['count']}"),
            "task-count",
            code(CODE["count"]),
        ),
        "",
    ),
    "an import in a given cell": (with_source(**LATE_IMPORT), "code was added to this cell"),
    "a measured cell": (with_source(count=f"%%time\n{CODE['count']}"), ""),
    "Windows' line ends": (
        [{**one, "source": one["source"].replace("\n", "\r\n")} for one in right()],
        "",
    ),
    "deleted tests": (without(right(), "test-most", "imports", "given-total"), "was missing"),
}


@pytest.mark.parametrize("name", FOUND)
def test_code_is_found_wherever_it_is(name, tmp_path):
    cells, line = FOUND[name]
    points, submission = graded(tmp_path, cells)
    assert {id: points[id] for id in damaged.FULL} == damaged.FULL
    shown = [one.source.strip() for one in submission.cells]
    assert not {RELEASE[id] for id in CODE} & {*shown}, "no untouched stub remains"
    assert all(one.source in shown for one in ASSIGNMENT.source.cells if is_test(one))
    said = [note for note in submission.notes if line in str(note)]
    assert bool(said) == bool(line)
    assert all(note.advice for note in submission.notes)
    if not line:
        assert not [note for note in submission.notes if note.cell], "nothing was repaired"


QUOTED = """My first idea was wrong for long texts:

```python
def count(words):
    return {}
```"""


@pytest.mark.parametrize("id", ["second", "end"])
def test_code_that_a_text_quotes_is_not_run(id, tmp_path):
    cells = with_source(second=QUOTED) if id == "second" else put(right(), id, text(QUOTED))
    points, submission = graded(tmp_path, cells)
    assert (points, submission.notes) == (damaged.FULL, ())
    assert QUOTED in [one.source for one in submission.cells]


# The answer `second` has this text in the end, and a person looks.
ANSWER = ANSWERS["second"]
PICTURE = text("![p](attachment:p.png)", attachments={"p.png": {"image/png": png(1)}})
EMPTY = with_source(second=damaged.STUB)
MOVED = {
    "below": put(EMPTY, "second", text(ANSWER)),
    "above": put(EMPTY, "second", text(ANSWER), below=False),
    "in a raw cell": put(EMPTY, "second", damaged.as_type("raw", text(ANSWER))),
    "as a comment": put(EMPTY, "second", code("# " + ANSWER)),
    "as a string": put(EMPTY, "second", code(f'"""{ANSWER}"""')),
    "as a code cell": put(EMPTY, "second", code(ANSWER)),
    "retyped": put(without(EMPTY, "second"), "second-question", text(ANSWER)),
    "in the question": with_source(second=damaged.STUB, second_question=BELOW),
    "joined with its question": joined(right(), "second-question", "second"),
    "without marks": unmarked(right()),
    "a copy": put(EMPTY, "title", {**right()[at(right(), "second")], "id": "copy"}),
    "a picture": put(EMPTY, "second", PICTURE),
}


@pytest.mark.parametrize("name", MOVED)
def test_an_answer_is_found_near_its_question_and_waits(name, tmp_path):
    points, submission = graded(tmp_path, MOVED[name])
    answer = answer_of(submission)
    assert points["second"] is None
    assert "p.png" in answer.attachments if name == "a picture" else ANSWER in answer.source
    waiting = [note for note in submission.notes if note.cell == "second" and note.waits]
    assert len(waiting) == (name != "a copy"), "a marked copy is in no other place"
    assert QUESTION in [one.source for one in submission.cells]


WORDS = "The scale keeps the order of all counts."
ELSEWHERE = {
    "far away": put(EMPTY, "title", text(WORDS)),
    "in the answer above": joined(right(), "first", "task-report", "second"),
    "beside code": with_source(second=damaged.STUB, count=f"{CODE['count']}\n\n{WORDS}"),
}


@pytest.mark.parametrize("name", ELSEWHERE)
def test_an_empty_answer_waits_if_there_is_other_text(name, tmp_path):
    points, submission = graded(tmp_path, ELSEWHERE[name])
    assert points["second"] == 0
    (note,) = (note for note in submission.notes if note.cell == "second")
    assert note.waits
    assert "a person should look" in note.text


UNTOUCHED = {
    "as released": EMPTY,
    "with a space": with_source(second=f"{damaged.STUB} \n"),
    "emptied": with_source(second=""),
    "with a heading of the exercise": put(EMPTY, "end", text("## Done")),
    "with a request elsewhere": put(EMPTY, "test-most", text("Re-grade request: look again")),
}


@pytest.mark.parametrize("name", UNTOUCHED)
def test_an_untouched_answer_gets_nothing_and_waits_for_nobody(name, tmp_path):
    points, submission = graded(tmp_path, UNTOUCHED[name])
    assert (points["second"], submission.notes) == (0, ())


def test_two_pictures_of_one_name_are_both_kept(tmp_path):
    other = {"p.png": {"image/png": png(9)}}
    cells = put(EMPTY, "second", PICTURE, {**PICTURE, "id": "more", "attachments": other})
    answer = answer_of(graded(tmp_path, cells)[1])
    assert [*answer.attachments] == ["p.png", "1-p.png"]
    assert answer.source == "![p](attachment:p.png)\n\n![p](attachment:1-p.png)"


# Files


PAGE = json.dumps(damaged.page(with_source(second="Größe, “Wörter”: the scale keeps it.")))
PLAIN = json.dumps(json.loads(PAGE), ensure_ascii=False)
READ = {
    "a byte order mark": codecs.BOM_UTF8 + PLAIN.encode(),
    "UTF-16": PLAIN.encode("utf-16"),
    "cp1252": PLAIN.encode("cp1252"),
    "compressed": gzip.compress(PAGE.encode()),
}


@pytest.mark.parametrize("name", READ)
def test_a_notebook_in_another_encoding_is_read(name, tmp_path):
    (path := tmp_path / "x.ipynb").write_bytes(READ[name])
    submission = read_submission(path, ASSIGNMENT, Limits())
    assert submission.notes == ()
    assert answer_of(submission).source == "Größe, “Wörter”: the scale keeps it."


UNREADABLE = {
    "is empty": b"",
    "two versions side by side": PAGE.replace(", ", ",\n<<<<<<< HEAD\n", 1).encode(),
    "is a web page": b"<!DOCTYPE html><html>",
    "damaged or cut off": PAGE.encode()[:-400],
    "a Python file": b"# %%\ndef count(words): pass\n",
    "is a PDF": b"%PDF-1.7\n",
    "is a zip file": b"PK\x03\x04",
    "a damaged compressed file": b"\x1f\x8b" + bytes(9),
    "when it is decompressed": gzip.compress(bytes(30_000_000)),
    "only the address of a file": b"version https://git-lfs.github.com/spec/v1\n",
}


@pytest.mark.parametrize("said", UNREADABLE)
def test_an_unreadable_file_has_one_line_and_waits(said, tmp_path):
    (path := tmp_path / "x.ipynb").write_bytes(UNREADABLE[said])
    submission = read_submission(path, ASSIGNMENT, Limits())
    (note,) = submission.notes
    assert note.text.startswith("nothing could be graded: ")
    assert said in note.text
    assert "File > Download" in note.advice
    page = NotebookNode(cells=submission.cells)
    seen = looks(Result(page, {"test-count": 0.0, "second": 0.0}, submission.notes, 0.0))
    assert WAITS + "test-count" in seen, "the first graded cell makes it wait for a person"


def test_many_lines_of_a_kind_are_one(tmp_path):
    _, submission = graded(tmp_path, unmarked(right()))
    assert [note.text.partition(":")[0] for note in submission.notes if not note.cell] == [
        "16 cells were recognised by their text, as the notebook had lost its marks"
    ]
    assert len(submission.notes) <= 6


def test_another_exercises_notebook_has_one_line(tmp_path):
    _, submission = graded(tmp_path, [text("# Other"), code("def other():\n    return 1")])
    (note,) = submission.notes
    assert note.waits
    assert "another assignment?" in note.text


# The order


def order(cells):
    """The sources in the order in which they run."""
    given = [one for one in ASSIGNMENT.source.cells if one.id in damaged.PLAN.warm]
    own = [NotebookNode(code(one, id=f"own-{one}")) for one in cells]
    steps = running_order([*given, *own], damaged.PLAN)
    return [cells.index(step.cell.source) for step in steps if step.cell in own]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["print(a)", "a = 1"], [1, 0]),
        (["x = f()", "def f(): return g()", "def g(): return 1"], [1, 2, 0]),
        (["def f(): return g()", "def g(): return 1"], [0, 1]),
        (["a = b", "b = a", "c = 1"], [2, 0, 1]),  # in a circle, the notebook's order
        (["print(a)", "print(b, a)", "a = b = 1", "c = 1"], [2, 0, 1, 3]),  # as soon as it can
        (["a = 1", "print(a)", "a = 2"], [0, 1, 2]),
        (["print(sum(unknown))", "a = 1"], [0, 1]),
        (["class A(B): pass", "class B: pass"], [1, 0]),
        (["def f(): return g()", "g = lambda: h", "f()", "h = 1"], [0, 1, 3, 2]),
        (["%%bash\nls", "print(a)", "%time\na = 1"], [0, 2, 1]),
        (["print(Counter)", "Counter = 1"], [0, 1]),  # the given cell has imported it
        (["def f(): return 1", "def f():\n    raise NotImplementedError('x')"], [1, 0]),
    ],
)
def test_a_cell_waits_for_the_names_that_it_needs(cells, expected):
    assert order(cells) == expected


@pytest.mark.slow
def test_an_order_of_untrusted_names_is_found_in_time():
    names = ", ".join(f"a{n}" for n in range(2_000))
    cells = [f"[{names}, b{n}]\nb{n + 1} = 1" for n in range(100)]
    defined = [f"a{n} = 1" for n in range(0, 2_000, 5)]
    assert sorted(order([*cells, *defined])) == [*range(500)]


def test_the_names_of_a_cell_are_those_of_python():
    names = names_of("%%time\nx = [y for y in a]\ndef f(p=b):\n    return c + [d for _ in p]\ng?")
    assert (names.defined, names.now) == ({"x", "f"}, {"a", "b"})
    assert names.bodies["f"] == {"c", "d"}


# Functions that are written, but not there when the tests run

LOST = {
    "%%writefile": (f"%%writefile mine.py\n{CODE['most']}", "begins with %%writefile"),
    "input": (f"name = input()\n{CODE['most']}", "raised EOFError"),
    "endless": (f"while True:\n    print('spam' * 999)\n{CODE['most']}", "was stopped"),
    "exit()": (f"exit()\n{CODE['most']}", "raised SystemExit"),
}


@pytest.mark.slow
@pytest.mark.skipif(bool(why_no_sandbox()), reason=str(why_no_sandbox()))
def test_a_function_that_is_written_but_not_run_waits_for_a_person(tmp_path):
    with Grader(ASSIGNMENT, Limits(call_seconds=2, memory_mb=400)) as grader:
        for source, why in LOST.values():
            result = grader.grade(damaged.written(tmp_path, with_source(most=source)))
            assert result.scores["hidden-count"] == 2
            waiting = [note for note in result.notes if note.waits]
            tests = ["test-most", "hidden-most", "test-report", "hidden-report"]
            assert [note.cell for note in waiting] == tests
            told = f"most is written but could not be used: its cell {why}"
            assert all(told in note.text for note in waiting)
            assert all(note.advice for note in result.notes)


# Requests


REQUESTS = {
    **dict.fromkeys(
        ("regrade: x", "Regrade request: x", "**Re-grade:** x", "Please regrade x"), "x"
    ),
    **dict.fromkeys(("Could you please regrade x", "## Regrade\n\nx"), "x"),
    "I request a regrade because x": "because x",
    "An answer.\nregrade - x\ny\n\nmore": "x y",
    **dict.fromkeys(("In this grade: x", "They were regraded: x", "Regrade it", "upgrade: x")),
    "A sentence with regrade: x": None,
}


@pytest.mark.parametrize(("said", "asked"), REQUESTS.items())
def test_a_request_is_read_in_any_spelling(said, asked):
    assert split(said)[0] == asked


ASKING = {
    "Markdown": put(right(), "second", text("Regrade request: x")),
    "raw": put(right(), "second", damaged.as_type("raw", text("re-grade: x"))),
    "code": put(right(), "second", code("regrade: x")),
    "a comment": put(right(), "second", code("# Please regrade: x")),
    "in the answer": with_source(second=f"{ANSWER}\n\nregrade: x"),
    "above the answer": with_source(second=f"regrade: x\n\n{ANSWER}"),
    "in the question": with_source(second_question=f"{QUESTION}\n\nregrade: x"),
}


@pytest.mark.parametrize("name", ASKING)
def test_a_request_in_any_cell_is_no_new_work(name, tmp_path):
    def seen(cells):
        submission = read_submission(damaged.written(tmp_path, cells), ASSIGNMENT, Limits())
        page = NotebookNode(cells=submission.cells)
        return page.cells, looks(Result(page, dict(damaged.FULL), submission.notes, 0.0))

    (_, before), (cells, now) = seen(right()), seen(ASKING[name])
    above = "hidden-report" if name == "in the question" else "second"
    assert requests(cells) == {above: "x"}
    assert is_all_that_is_new(before, now)
    assert now["second"] == before["second"]


def test_a_request_in_a_solution_is_about_its_test(tmp_path):
    cells = with_source(most=f"# regrade: my loop is right\n{CODE['most']}")
    _, submission = graded(tmp_path, cells)
    assert requests(submission.cells) == {"test-most": "my loop is right"}
    assert submission.notes == ()
