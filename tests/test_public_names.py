"""Public names of the library: typed, documented, and short enough to read."""

import ast

import pytest

from tests.conftest import ROOT

MODULES = sorted((ROOT / "bertlab").rglob("*.py"))


def name(path):
    """A short id for parametrised tests."""
    return str(path.relative_to(ROOT))


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


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_public_functions_have_type_hints(path):
    for function in public_functions(ast.parse(path.read_text(encoding="utf-8"))):
        arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
        bare = [a.arg for a in arguments if a.annotation is None and a.arg not in ("self", "cls")]
        assert bare == [], f"{function.name}: no type hint for {bare}"
        assert function.returns is not None, f"{function.name}: no return type"


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_modules_and_public_functions_have_docstrings(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert ast.get_docstring(tree)
    for function in public_functions(tree):
        if function.name != "__init__":
            assert ast.get_docstring(function), f"{function.name} has no docstring"


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_modules_stay_short_enough_to_read(path):
    # The catalogue and an assignment's checks are lists of facts, looked up and not read through.
    listed = path.name == "catalogue.py" or path.name.startswith("ps")
    limit = 400 if listed else 260
    assert len(path.read_text(encoding="utf-8").splitlines()) <= limit
