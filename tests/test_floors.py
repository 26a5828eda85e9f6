"""The order of the house: a module imports only from floors below its own."""

import ast
import sys

import pytest

from tests.conftest import ROOT

# Private helpers of the whole house, then the floors of the design.
FLOORS = {
    "_checks": -1,
    "_files": -1,
    "tokenizers": 0,
    "model": 1,
    "pretraining": 2,
    "data": 2,
    "word_vectors": 2,
    "training": 3,
    "finetuning": 4,
    "interpretability": 4,
    "relatives": 4,
    "seq2seq": 4,
    "viz": 5,
    "check": 5,
    "__main__": 6,  # the command line stands above all floors
}
MODULES = sorted((ROOT / "bertlab").rglob("*.py"))
OTHER_ROOMS = {"course", "lectures", "exercises", "solutions", "tests", "benchmarks"}


def imported(source):
    """Dotted names that a module imports, wherever in it."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        if isinstance(node, ast.ImportFrom):
            if node.level:
                yield "a relative import"
            elif node.module == "bertlab":
                yield from (f"bertlab.{alias.name}" for alias in node.names)
            else:
                yield node.module


def violations(source, room):
    """What a module of `room` must not import but does; rooms of one floor stay apart."""
    for name in imported(source):
        parts = name.split(".")
        if parts[0] in OTHER_ROOMS or name == "a relative import":
            yield name
        elif parts[0] == "bertlab" and len(parts) > 1 and parts[1] in FLOORS:
            if parts[1] != room and FLOORS[parts[1]] >= FLOORS[room]:
                yield name
        elif parts[0] == "bertlab" and len(parts) > 1:
            yield f"{name}, which stands on no floor"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_go_downwards(path):
    parts = path.relative_to(ROOT / "bertlab").parts
    room = parts[0].removesuffix(".py")
    if room == "__init__":
        assert list(imported(path.read_text(encoding="utf-8"))) == []
        return
    assert room in FLOORS, f"give bertlab.{room} a floor, in the design and here"
    assert list(violations(path.read_text(encoding="utf-8"), room)) == []


@pytest.mark.parametrize(
    ("room", "source"),
    [
        ("model", "from bertlab.data import documents"),
        ("model", "from bertlab import viz"),
        ("data", "def f():\n    import bertlab.pretraining"),
        ("viz", "import course.lectures"),
        ("tokenizers", "from . import words"),
        ("model", "import bertlab.attic"),
    ],
)
def test_an_import_upwards_is_noticed(room, source):
    assert len(list(violations(source, room))) == 1


def test_the_ground_floor_needs_nothing_heavy():
    program = (
        "import sys, bertlab.tokenizers\n"
        "assert not {'torch', 'numpy', 'matplotlib', 'transformers'} & set(sys.modules)\n"
    )
    import subprocess

    subprocess.run([sys.executable, "-c", program], check=True)
