"""The layers of the code: modules import only from layers below their own."""

import ast
import subprocess
import sys

import pytest

from tests.conftest import ROOT

# The folders of each package, from the lowest layer to the command line.
HOUSES = {
    "bertlab": [
        "_console _files parts",
        "tokenizers",
        "model data",
        "pretraining",
        "training",
        "finetuning interpretability",
        "viz",
        "__main__",
    ],
    "course": [
        "models",
        "experiments live",
        "widgets",
        "answers project",
        "feedback",
        "settings toyworld fitting",
        "mine",
        "own_bert",
        "gradebook",
        "collecting",
        "grading",
        "jupyterhub jupyterlab leaderboard publishing rehearsal similarity",
        "__main__ nbgrader_config",
    ],
}
FLOORS = {
    house: {room: floor for floor, rooms in enumerate(floors) for room in rooms.split()}
    for house, floors in HOUSES.items()
}
# What the modules of a package may import in addition; nothing imports the other folders.
BELOW = {"bertlab": {"bertlab"}, "course": {"bertlab", "course"}}
ROOMS = {"bertlab", "course", "lectures", "exercises", "solutions", "tests", "benchmarks"}


def imported(source):
    """Dotted names that a module imports, wherever in it."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        if isinstance(node, ast.ImportFrom):
            if node.level:
                yield "a relative import"
            elif node.module in HOUSES:
                yield from (f"{node.module}.{alias.name}" for alias in node.names)
            else:
                yield node.module


def violations(source, room, house):
    """What a module of `room` imports but must not; folders of one layer are independent."""
    floors = FLOORS[house]
    for name in imported(source):
        first, _, rest = name.partition(".")
        if name == "a relative import" or first in ROOMS - BELOW[house]:
            yield name
        elif first == house and rest and rest != "ROOT":
            other = rest.split(".")[0]
            if other not in floors:
                yield f"{name}, which stands on no floor"
            elif other != room and floors[other] >= floors[room]:
                yield name


def modules(house):
    """The modules of a package, each with its room: the first name below the package's."""
    for path in sorted((ROOT / house).rglob("*.py")):
        room = path.relative_to(ROOT / house).parts[0].removesuffix(".py")
        if room != "__init__":
            yield path, room


@pytest.mark.parametrize("house", HOUSES)
def test_every_room_has_a_layer(house):
    assert {room for _, room in modules(house)} == set(FLOORS[house]), "in the design and here"


@pytest.mark.parametrize("house", HOUSES)
def test_imports_go_downwards(house):
    found = {
        str(path.relative_to(ROOT)): list(violations(path.read_text(encoding="utf-8"), room, house))
        for path, room in modules(house)
    }
    assert {path: names for path, names in found.items() if names} == {}


def test_the_librarys_start_page_imports_nothing():
    assert list(imported((ROOT / "bertlab" / "__init__.py").read_text(encoding="utf-8"))) == []


def imports_tests(source):
    """Whether a module of the product imports the tests, or contains a name that says so."""
    strings = (node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant))
    named = (text for text in strings if isinstance(text, str) and " " not in text)
    return any(name.split(".")[0] == "tests" for name in (*imported(source), *named))


@pytest.mark.slow
def test_nothing_imports_the_tests_and_an_import_would_be_noticed():
    rooms = ("bertlab", "course", "benchmarks", "solutions")
    modules = [path for room in rooms for path in sorted((ROOT / room).rglob("*.py"))]
    assert len(modules) > 250
    found = [path for path in modules if imports_tests(path.read_text(encoding="utf-8"))]
    assert [str(path.relative_to(ROOT)) for path in found] == []
    assert imports_tests("from tests.conftest import ROOT")
    assert imports_tests("import tests")
    assert imports_tests("import_module('tests.bertlab.tokenizers.operations')")


@pytest.mark.parametrize(
    ("house", "room", "source"),
    [
        ("bertlab", "model", "from bertlab.data import documents"),
        ("bertlab", "model", "from bertlab import viz"),
        ("bertlab", "data", "def f():\n    import bertlab.pretraining"),
        ("bertlab", "viz", "import course.publishing.lectures"),
        ("bertlab", "tokenizers", "from . import words"),
        ("bertlab", "model", "import bertlab.attic"),
        ("course", "feedback", "from course.settings import Course"),
        ("course", "widgets", "from course import toyworld"),
        ("course", "gradebook", "import course.grading.grader"),
        ("course", "grading", "import benchmarks.turns"),
    ],
)
def test_an_import_upwards_is_noticed(house, room, source):
    assert len(list(violations(source, room, house))) == 1


@pytest.mark.parametrize(
    ("program", "heavy"),
    [
        ("import bertlab.tokenizers", ("torch", "numpy", "matplotlib", "transformers")),
        # PyTorch's compiler takes longer to import than a small BERT to be read.
        (
            "from bertlab.model.pretrained import *\n"
            "load_pretrained(BERTLAB_MINI)\ncount_parameters(BertConfig.tiny())",
            ("torch._dynamo",),
        ),
        ("import jupyterlab.labapp, nbgrader.apps", ("lark", "rfc3987_syntax")),  # constraints.txt
    ],
)
def test_nothing_heavy_is_imported_that_is_not_needed(program, heavy):
    program += f"\nimport sys\nassert not set({heavy}) & sys.modules.keys()"
    subprocess.run([sys.executable, "-c", program], check=True)
