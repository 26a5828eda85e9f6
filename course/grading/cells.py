"""Which cells run where: given cells, the student's, tests; decided by the names they use."""

import ast
import builtins
import re
import symtable
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

from nbformat import NotebookNode

MOST_CELLS = 500  # of a notebook
BUILT_IN = frozenset(dir(builtins))
COMMAND = re.compile(
    r"^([ \t]*)([%!?].*|\w[\w, ]*=[ \t]*[%!].*|[\w.]+\?\??[ \t]*)$", re.MULTILINE
)  # IPython's, not Python
MAGIC = re.compile(r"\s*%%(\w+).*\n?")  # at the top of a cell; these run the rest of it as Python:
TRANSPARENT = {"time", "timeit", "capture", "prun"}
MOST_STEPS = 2_000_000  # of the search for an order, which reads untrusted names

# Names that can disable or bypass the watch for library calls; no exercise needs one of them. They
# are a hint for a person, not a barrier: `map` and `partial` do it, too (see `course/README.md`).
_NAMES = """
    setprofile settrace _getframe _current_frames f_back f_globals get_objects get_referrers
    meta_path CodeType FunctionType __code__ __globals__ __closure__ Watch LibraryUsed aten jit _C
    Thread start_new_thread ThreadPoolExecutor fork Process Popen ctypes
"""
PAST_THE_WATCH = frozenset(_NAMES.split())


class Names(NamedTuple):
    """Names that a cell defines at its top level, and names that it uses anywhere.

    now: those that it uses as soon as it runs; bodies: those that a function uses when it is
    called, by the function's name; stubs: functions that only raise NotImplementedError.
    """

    defined: frozenset[str] = frozenset()
    used: frozenset[str] = frozenset()
    now: frozenset[str] = frozenset()
    bodies: Mapping[str, frozenset[str]] = MappingProxyType({})
    stubs: frozenset[str] = frozenset()

    @property
    def written(self) -> frozenset[str]:
        """The names that it defines with content."""
        return self.defined - self.stubs


class Step(NamedTuple):
    """A cell in the order in which cells run.

    needs: the names that it needs, with those that its functions need; moved: whether cells that
    are below it run before it; forced: whether something that it needs is not defined yet.
    """

    cell: NotebookNode
    needs: frozenset[str] = frozenset()
    moved: bool = False
    forced: bool = False


class Plan(NamedTuple):
    """What runs where, by cell id.

    warm: given cells that need no student's code: run once for all students, on both sides.
    student: given cells that the student's functions need. tests: given cells that tests need, with
    the student's functions. The other given cells are experiments: they are not run. changing:
    functions that must change their arguments; the tests do not see changes by others. after: for a
    cell of the tests' process, the ones that define names for it there.
    """

    functions: frozenset[str]
    changing: frozenset[str]
    warm: tuple[str, ...]
    student: frozenset[str]
    tests: frozenset[str]
    experiments: frozenset[str]  # the names that only experiments define
    after: Mapping[str, frozenset[str]] = MappingProxyType({})


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


@lru_cache(maxsize=2 * MOST_CELLS)  # the notebook's and the assignment's
def names_of(source: str) -> Names:
    """The names of a cell; empty if it is not Python.

    >>> names = names_of("def double(x):\\n    return twice * x\\nprint(double(y))")
    >>> sorted(names.now), dict(names.bodies)
    (['double', 'y'], {'double': frozenset({'twice'})})
    """
    try:
        table = symtable.symtable(COMMAND.sub(r"\1pass", source), "cell", "exec")
        stubs = _stubs(source) if "NotImplementedError" in source else frozenset[str]()
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Names()
    own = table.get_symbols()
    defined = {symbol.get_name() for symbol in own if symbol.is_assigned() or symbol.is_imported()}
    now = {symbol.get_name() for symbol in own if symbol.is_referenced()}
    bodies: dict[str, set[str]] = {}
    for child in table.get_children():
        name, uses = child.get_name(), _globals(child)
        for assigned in defined if name == "lambda" else defined & {name}:
            bodies.setdefault(assigned, set()).update(uses)
        if child.get_type() == "class":
            now |= {symbol.get_name() for symbol in child.get_symbols() if symbol.is_global()}
        elif name not in defined | {"lambda"}:  # a comprehension
            now |= uses
    at_once = frozenset(now - BUILT_IN)
    later = {name: frozenset(uses - BUILT_IN) for name, uses in bodies.items()}
    return Names(frozenset(defined), at_once.union(*later.values()), at_once, later, stubs)


def _globals(table: symtable.SymbolTable) -> set[str]:
    """The global names in a function or class, and in those inside it."""
    found, todo = set[str](), [table]
    while todo:
        inner = todo.pop()
        found.update(symbol.get_name() for symbol in inner.get_symbols() if symbol.is_global())
        todo += inner.get_children()
    return found


def _stubs(source: str) -> frozenset[str]:
    """The functions that only raise NotImplementedError, and are not defined again."""
    found: dict[str, bool] = {}
    tree = parsed(source)
    for node in tree.body if tree else ():
        if isinstance(node, ast.FunctionDef):
            *before, last = node.body
            idle = all(isinstance(one, ast.Expr | ast.Pass) for one in before)
            raises = isinstance(last, ast.Raise) and "NotImplementedError" in ast.dump(last)
            found[node.name] = idle and raises
    return frozenset(name for name, is_stub in found.items() if is_stub)


def parsed(source: str) -> ast.Module | None:
    """A cell's syntax tree, with `pass` for each of IPython's commands; None if not Python."""
    try:
        return ast.parse(COMMAND.sub(r"\1pass", source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def magic(source: str) -> str:
    """The magic at the top of a cell that keeps the rest from running as Python, or "".

    >>> magic("%%writefile bpe.py\\nx = 1"), magic("%%time\\nx = 1")
    ('writefile', '')
    """
    found = MAGIC.match(source)
    return found[1] if found and found[1] not in TRANSPARENT else ""


def runnable(source: str) -> str:
    """The cell without a magic that only measures or hides what it does."""
    found = MAGIC.match(source)
    return source[found.end() :] if found and found[1] in TRANSPARENT else source


def past_the_watch(source: str) -> list[str]:
    """The names in a cell that may hide its calls from `course.feedback.watch`."""
    tree, found = parsed(source), set[str]()
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.alias):
            found.update(node.name.split("."))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.add(node.value[:20])  # getattr(torch.ops, "aten")
    return sorted(found & PAST_THE_WATCH)


def plan(source: NotebookNode) -> Plan:
    """The plan of an assignment, from the instructor's notebook."""
    names = {cell.id: names_of(cell.source) for cell in source.cells if cell.cell_type == "code"}
    solutions = [cell.id for cell in source.cells if is_solution(cell)]
    tests = [cell.id for cell in source.cells if is_test(cell)]
    # Below the last test nothing is needed: that is where a notebook sums up its checks.
    code = [cell for cell in source.cells if cell.id in names]
    given = [cell.id for cell in code[: _last_test(code) + 1] if is_given(cell)]
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
        _definers([id for id in names if id in {*tests, *for_tests}], names),
    )


def _definers(order: list[str], names: dict[str, Names]) -> dict[str, frozenset[str]]:
    """For each cell the ones above it that define a name that it uses and does not define."""
    last: dict[str, str] = {}
    found = {}
    for id in order:
        uses = names[id].used - names[id].defined
        found[id] = frozenset(last[name] for name in uses & last.keys())
        last |= dict.fromkeys(names[id].defined, id)
    return found


def graded_code(source: NotebookNode) -> list[NotebookNode]:
    """The code cells that points depend on, in order: without experiments and after the last test.

    source: the instructor's notebook.
    """
    of_assignment = plan(source)
    run = {*of_assignment.warm, *of_assignment.student, *of_assignment.tests}
    code = [cell for cell in source.cells if cell.cell_type == "code"]
    kept = [cell for cell in code if cell.id in run or is_solution(cell) or is_test(cell)]
    return kept[: _last_test(kept) + 1]


def _last_test(cells: list[NotebookNode]) -> int:
    """The place of the last test; -1 without one."""
    return max((place for place, cell in enumerate(cells) if is_test(cell)), default=-1)


def running_order(cells: Iterable[NotebookNode], plan: Plan) -> list[Step]:
    """The code cells in the order in which they run.

    As in the notebook, but a cell whose names are defined only further down waits for them, and a
    test also waits for what the functions need that it calls. Where cells wait for each other, or
    names are too many to look at, the notebook's order counts.
    """
    return _Order([cell for cell in cells if cell.cell_type == "code"], plan).steps()


class _Order:
    """The search for an order: cells that wait, and who defines what."""

    def __init__(self, cells: list[NotebookNode], plan: Plan) -> None:
        self.cells, self.plan, self.left = cells, plan, MOST_STEPS
        self.done: list[Step] = []
        self.waiting: dict[int, str] = {}  # the cells, in order, and a name that each waits for
        self.names = [self._names(cell) for cell in cells]
        written = frozenset().union(*(names.written for names in self.names))
        # A stub that another cell replaces defines nothing, and runs before the replacement.
        self.defines = [names.written | (names.stubs - written) for names in self.names]
        self.pending = Counter(name for defines in self.defines for name in defines)
        self.stubs = Counter(name for names in self.names for name in names.stubs & written)
        warm = [names_of(cell.source).defined for cell in cells if cell.id in plan.warm]
        # Of the names that are defined by now: what their functions use.
        self.bodies = dict.fromkeys(frozenset().union(*warm), frozenset[str]())

    def _names(self, cell: NotebookNode) -> Names:
        """The names of what runs; a test needs all its names, also those in its functions."""
        names = names_of(cell.source)
        if not is_run(cell, self.plan) or magic(cell.source):
            return Names()
        roots = names.used if is_test(cell) or cell.id in self.plan.tests else names.now
        after = frozenset(f"cell {id}" for id in self.plan.after.get(cell.id, ()))
        if is_test(cell):
            return Names(frozenset({f"cell {cell.id}"}), now=roots - names.defined | after)
        if cell.id in self.plan.tests:
            names = names._replace(defined=names.defined | {f"cell {cell.id}"})
        return names._replace(now=roots | after)

    def steps(self) -> list[Step]:
        """All cells."""
        for number in range(len(self.cells)):
            self.waiting[number] = ""
            self._wake()
        while self.waiting:
            # In a circle, tests are the last: nothing waits for them.
            number = min(self.waiting, key=lambda one: (is_test(self.cells[one]), one))
            self._run(number, Step(self.cells[number], self._reached(number)[0], forced=True))
            self._wake()
        return self.done

    def _wake(self) -> None:
        """Run the waiting cells that have what they need, the highest first."""
        while (ready := self._ready()) is not None:
            self._run(*ready)

    def _ready(self) -> tuple[int, Step] | None:
        """The highest waiting cell that has what it needs, with its number."""
        for number, name in self.waiting.items():
            if self._is_pending(name):
                continue
            names = self.names[number]
            stubs = () if names.stubs else (one for one in names.written if self.stubs[one] > 0)
            covered = next(iter(stubs), None)
            reached, lacks = self._reached(number) if covered is None else (frozenset(), covered)
            if lacks is None:
                return number, Step(self.cells[number], reached, moved=name != "")
            self.waiting[number] = lacks
        return None

    def _run(self, number: int, step: Step) -> None:
        del self.waiting[number]
        self.done.append(step)
        names = self.names[number]
        for name in self.defines[number]:
            self.pending[name] -= 1
            self.bodies[name] = names.bodies.get(name, frozenset())
        for name in names.stubs:
            self.stubs[name] -= 1

    def _is_pending(self, name: str) -> bool:
        """Whether a name is not defined, but will be; or a stub of it will still be run."""
        return self.stubs[name] > 0 or (name not in self.bodies and self.pending[name] > 0)

    def _reached(self, number: int) -> tuple[frozenset[str], str | None]:
        """The names that a cell needs, directly or not, and the first that is still to come."""
        names, seen, todo = self.names[number], set[str](), [self.names[number].now]
        while todo and self.left > 0:
            uses = todo.pop()
            self.left -= len(uses) + 1
            for name in sorted(uses - seen):
                seen.add(name)
                if name in self.defines[number]:
                    todo.append(names.bodies.get(name, frozenset()))
                elif name in self.bodies:
                    todo.append(self.bodies[name])
                elif self.pending[name] > 0:
                    return frozenset(seen), name
        return frozenset(seen), None


def is_run(cell: NotebookNode, plan: Plan) -> bool:
    """Whether a code cell is run for each submission.

    Cells that need no student's code have been run before; experiments, also the student's own with
    names of such cells, are not run.
    """
    if is_test(cell) or cell.id in plan.student | plan.tests:
        return True
    names = names_of(cell.source)
    experiment = bool(names.used & plan.experiments) and not names.written & plan.functions
    return not is_given(cell) and (is_solution(cell) or not experiment)


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
