"""Which cells run where: given cells, the student's, tests; decided by the names they use."""

import ast
import builtins
import re
import symtable
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from nbformat import NotebookNode

MOST_CELLS = 500  # of a notebook
BUILT_IN = frozenset(dir(builtins))
COMMAND = re.compile(
    r"^([ \t]*)([%!?].*|\w[\w, ]*=[ \t]*[%!].*)$", re.MULTILINE
)  # IPython's, not Python

# Names that can disable or bypass the watch for library calls; no exercise needs one of them.
_NAMES = """
    setprofile settrace _getframe _current_frames f_back f_globals get_objects get_referrers
    meta_path CodeType FunctionType __code__ __globals__ __closure__ Watch LibraryUsed aten jit _C
    Thread start_new_thread ThreadPoolExecutor fork Process Popen ctypes
"""
PAST_THE_WATCH = frozenset(_NAMES.split())


class Names(NamedTuple):
    """Names that a cell defines at its top level, and names that it uses anywhere."""

    defined: frozenset[str]
    used: frozenset[str]


class Plan(NamedTuple):
    """What runs where, by cell id.

    warm: given cells that need no student's code: run once for all students, on both sides.
    student: given cells that the student's functions need. tests: given cells that tests need, with
    the student's functions. The other given cells are experiments: they are not run. changing:
    functions that must change their arguments; the tests do not see changes by others.
    """

    functions: frozenset[str]
    changing: frozenset[str]
    warm: tuple[str, ...]
    student: frozenset[str]
    tests: frozenset[str]
    experiments: frozenset[str]  # the names that only experiments define


def is_solution(cell: NotebookNode) -> bool:
    """Whether the cell is code that a student writes."""
    return cell.cell_type == "code" and cell.metadata.get("nbgrader", {}).get("solution", False)


def is_test(cell: NotebookNode) -> bool:
    """Whether the cell is code that gives points and is not the student's."""
    graded = cell.metadata.get("nbgrader", {}).get("grade", False)
    return cell.cell_type == "code" and graded and not is_solution(cell)


def is_given(cell: NotebookNode) -> bool:
    """Whether it is a code cell that the student must not change, and not a test."""
    locked = cell.metadata.get("nbgrader", {}).get("locked", False)
    return cell.cell_type == "code" and locked and not is_test(cell) and not is_solution(cell)


@lru_cache(maxsize=MOST_CELLS)
def names_of(source: str) -> Names:
    """The names of a cell; empty if it is not Python."""
    try:
        table = symtable.symtable(COMMAND.sub(r"\1pass", source), "cell", "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Names(frozenset(), frozenset())
    own = table.get_symbols()
    defined = {symbol.get_name() for symbol in own if symbol.is_assigned() or symbol.is_imported()}
    used = {symbol.get_name() for symbol in own if symbol.is_referenced()}
    for inner in _inner_tables(table):
        used |= {symbol.get_name() for symbol in inner.get_symbols() if symbol.is_global()}
    return Names(frozenset(defined), frozenset(used - BUILT_IN))


def past_the_watch(source: str) -> list[str]:
    """The names in a cell that may hide its calls from `course.feedback.watch`."""
    try:
        tree = ast.parse(COMMAND.sub(r"\1pass", source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.alias):
            found.update(node.name.split("."))
        elif isinstance(node, ast.Constant):  # getattr(torch.ops, "aten")
            found.add(str(node.value)[:20])
    return sorted(found & PAST_THE_WATCH)


def _inner_tables(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    for child in table.get_children():
        yield child
        yield from _inner_tables(child)


def plan(source: NotebookNode) -> Plan:
    """The plan of an assignment, from the instructor's notebook."""
    names = {cell.id: names_of(cell.source) for cell in source.cells if cell.cell_type == "code"}
    solutions = [cell.id for cell in source.cells if is_solution(cell)]
    given = [cell.id for cell in source.cells if is_given(cell)]
    tests = [cell.id for cell in source.cells if is_test(cell)]
    functions = frozenset().union(*(names[id].defined for id in solutions))
    warm, tainted = [], set(functions)
    for id in given:
        if names[id].used & tainted:
            tainted |= names[id].defined
        else:
            warm.append(id)
            tainted -= names[id].defined
    rest = [id for id in given if id not in warm]
    for_students = _needed(solutions, rest, names)
    for_tests = _needed(tests, rest, names)
    shown = {name for id in rest if id not in for_students for name in names[id].defined}
    changing = {
        name
        for cell in source.cells
        if is_solution(cell) and cell.metadata.get("bertlab", {}).get("changes_arguments")
        for name in names[cell.id].defined
    }
    return Plan(
        functions,
        frozenset(changing),
        tuple(warm),
        for_students,
        for_tests,
        frozenset(shown - functions),
    )


def graded_code(source: NotebookNode) -> list[NotebookNode]:
    """The code cells that points depend on, in order: without experiments and after the last test.

    source: the instructor's notebook.
    """
    of_assignment = plan(source)
    run = {*of_assignment.warm, *of_assignment.student, *of_assignment.tests}
    code = [cell for cell in source.cells if cell.cell_type == "code"]
    kept = [cell for cell in code if cell.id in run or is_solution(cell) or is_test(cell)]
    return kept[: max(place for place, cell in enumerate(kept) if is_test(cell)) + 1]


def _needed(by: list[str], given: list[str], names: dict[str, Names]) -> frozenset[str]:
    """The given cells that define names which later cells use, directly or indirectly."""
    order = {id: place for place, id in enumerate(names)}
    needed: set[str] = set()
    while True:
        users = [*by, *needed]
        more = {
            id
            for id in set(given) - needed
            if any(names[id].defined & names[u].used and order[id] < order[u] for u in users)
        }
        if not more:
            return frozenset(needed)
        needed |= more
