"""Public names of the library and the course: typed, documented, and short enough to read."""

import ast

import pytest

from tests.conftest import ROOT

MODULES = {
    str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
    for house in ("bertlab", "course")
    for path in sorted((ROOT / house).rglob("*.py"))
}
TREES = {path: ast.parse(text) for path, text in MODULES.items()}
BAD = '''
def two(a: int, b):
    return a

class Three:
    def __init__(self, c) -> None:
        """A docstring is not asked for here."""
'''


def public_functions(tree):
    """Functions and methods that somebody outside the module may call."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            yield node
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            for method in node.body:
                if isinstance(method, ast.FunctionDef) and (
                    not method.name.startswith("_") or method.name in ("__init__", "__call__")
                ):
                    yield method


def without_hints(tree):
    """Names of arguments without a type hint, and of functions that do not say what they return."""
    for function in public_functions(tree):
        arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
        for argument in arguments:
            if argument.annotation is None and argument.arg not in ("self", "cls"):
                yield f"{function.name}: {argument.arg}"
        if function.returns is None:
            yield f"{function.name}: what it returns"


def without_docstrings(tree):
    """Names of functions, or "module", that have no docstring."""
    if not ast.get_docstring(tree):
        yield "module"
    for function in public_functions(tree):
        if function.name != "__init__" and not ast.get_docstring(function):
            yield function.name


@pytest.mark.parametrize("rule", [without_hints, without_docstrings])
def test_public_functions_have_type_hints_and_docstrings(rule):
    library = {path: tree for path, tree in TREES.items() if path.startswith("bertlab")}
    assert len(library) > 100
    assert [f"{path}: {name}" for path, tree in library.items() for name in rule(tree)] == []


def test_a_missing_hint_or_docstring_is_noticed():
    tree = ast.parse(BAD)
    assert list(without_hints(tree)) == ["two: b", "two: what it returns", "__init__: c"]
    assert list(without_docstrings(tree)) == ["module", "two"]


def test_modules_stay_short_enough_to_read():
    def limit(path):
        # The catalogue and an assignment's checks are lists of facts, looked up, not read through.
        return 400 if path.endswith("catalogue.py") or "/feedback/ex" in path else 260

    lengths = {path: len(text.splitlines()) for path, text in MODULES.items()}
    assert {path: length for path, length in lengths.items() if length > limit(path)} == {}
