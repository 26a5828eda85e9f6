"""The table of answers: what is read, and what a wrong line is answered with."""

import nbformat
import pytest
from nbformat import v4

from course.answers import TableError, answers_of

OURS = """def double(x):
    ### BEGIN SOLUTION
    made = 2 * x
    return made
    ### END SOLUTION"""
TABLE = """Exercise 9, for readers; what is above the first task is not read.
- not a change

task double
ours
wrong adds one
- 2 * x
+ 2 * x + 1
> that is one more
wrong forgets
- made = 2 * x
+ made = x
>> twice, not once
wrong forgets, otherwise
- 2 *
+ 1 *
> as: forgets
wrong returns nothing
-     return made
? returned None
wrong is fine up to nine
- made = 2 * x
- ␣␣␣␣return made
+ return int(str(2 * x)[-1])
hidden

right by adding
    def double(x):

        return x + x
wrong another program
    def double(x):
        return [x, x]
? a list
near with a name
    def double(number):
        return 2 * number
""".replace("␣", " ")


@pytest.fixture
def table(tmp_path):
    """Write a table, and read it."""
    folder = tmp_path / "solutions" / "ex99_double"
    folder.mkdir(parents=True)
    cell = v4.new_code_cell(OURS, id="double")
    cell.metadata["nbgrader"] = {"solution": True}
    nbformat.write(v4.new_notebook(cells=[cell]), folder / "ex99_double.ipynb")

    def read(text):
        (folder / "answers.txt").write_text(text, encoding="utf-8")
        answers_of.cache_clear()
        return answers_of("ex99_double", tmp_path)

    yield read
    answers_of.cache_clear()


def test_a_table_is_read(table):
    known = table(TABLE)
    rows = {row.mistake: row for row in known.wrong}
    assert rows["adds one"].solution == "def double(x):\n    made = 2 * x + 1\n    return made\n"
    assert rows["adds one"][3:] == ("that is one more", ">", 6)
    assert rows["forgets"][3:5] == rows["forgets, otherwise"][3:5] == ("twice, not once", ">>")
    assert rows["returns nothing"].solution == "def double(x):\n    made = 2 * x\n"
    assert rows["returns nothing"][3:] == ("returned None", "", 18)
    assert "made" not in rows["is fine up to nine"].solution
    assert rows["is fine up to nine"].diagnosis == ""
    assert rows["another program"].solution == "def double(x):\n    return [x, x]\n"
    (right,), (near,) = known.right, known.near
    assert right == ("double", "by adding", "def double(x):\n\n    return x + x\n")
    assert near.manner == "with a name"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("- 2 * x\n", "- 3 * x\n", "line 6: 'adds one': '3 [*] x' must occur once .* 0 times"),
        ("- 2 * x\n", "- x\n", "line 6: 'adds one': 'x' must occur once .* 2 times"),
        ("- 2 * x\n+ 2 * x + 1\n", "", "line 6: 'adds one' needs changes .* or a whole program"),
        ("> that is one more\n", "", "line 6: nothing is said of 'adds one'; end it with >"),
        ("> that is one more\n", ">\n", r"line 9: '>' in 'adds one': expected task, ours"),
        ("> that is one more\n", "that is one more\n", "line 9: 'that is one more' in 'adds one'"),
        (
            "> that is one more\n",
            "hidden\n? a\n",
            "line 10: what is said of 'adds one' is its last",
        ),
        ("wrong forgets\n", "wrong adds one\n", "line 10: double has two rows .* in line 6"),
        ("wrong forgets\n", "wrong\n", "line 10: wrong needs a name behind it"),
        ("as: forgets", "as: forgot", "line 14: .* as 'forgot', but no mistake of that name"),
        ("task double", "task treble", "line 4: no solution's cell .* 'treble'; it has double"),
        ("task double\n", "", "line 4: the first row must be a task; got ours"),
        ("near with a name\n", "near nothing\nnear ours\n", "the program of 'nothing' is missing"),
        ("        return x + x\n", "return x + x\n", "line 30: 'return x [+] x': expected task"),
    ],
)
def test_a_line_that_does_not_fit_is_named(table, old, new, said):
    assert TABLE.count(old) >= 1
    with pytest.raises(TableError, match=rf"^solutions/ex99_double/answers\.txt, .*{said}"):
        table(TABLE.replace(old, new, 1))


def test_a_table_that_is_missing_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"solutions/ex99/answers.txt is not in"):
        answers_of("ex99", tmp_path)
