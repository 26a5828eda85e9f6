"""`make exercises`: what the known mistakes of each exercise give on its worked examples.

A check recognises a mistake by its value and then says the sentence that helps. Sentences and
mistakes are in one table, `solutions/NAME/answers.txt` (`course.answers`); the values come from
running the mistakes here, and go to `course/feedback/values/NAME.json` (`course.feedback.known`).
"""

import contextlib
import dis
import io
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from math import isfinite
from pathlib import Path
from types import CodeType
from typing import Any, NamedTuple
from unittest import mock

import nbformat
from nbformat import NotebookNode

from bertlab._files import write_atomically
from course import ROOT
from course.answers import TableError, Wrong, answers_of
from course.feedback import checks
from course.feedback.known import form_of, is_one, values_of
from course.feedback.tensors import TOLERANCE
from course.grading.cells import graded_code, is_test, names_of


class Heard(NamedTuple):
    """A comparison of a check: its key (check, number), the answer's form, whether it is wrong."""

    key: tuple[str, int]
    form: Any
    wrong: bool


@cache
def code_of(assignment: str, root: Path = ROOT) -> list[tuple[NotebookNode, CodeType]]:
    """The cells of a solution that points depend on, in order, each compiled once."""
    path = root / "solutions" / assignment / f"{assignment}.ipynb"
    source = nbformat.read(path, as_version=4)
    return [(cell, compile(cell.source, cell.id, "exec")) for cell in graded_code(source)]


def run_task(
    assignment: str,
    task: str,
    solution: str | None = None,
    *,
    tests: Sequence[str] = ("test", "hidden"),
    watch: Callable[[dict], None] | None = None,
    root: Path = ROOT,
) -> None:
    """Run the notebook's cells up to the task's last test of the kinds in `tests`.

    Other tasks' tests are omitted, except hidden ones that define helpers of this one's.
    solution: in place of ours; watch: a function called with the scope before the last test.
    Raises LookupError if the assignment has no such task, and whatever the cells raise.
    """
    code, last = code_of(assignment, root), f"{tests[-1]}-{task}"
    ids = [cell.id for cell, _ in code]
    if task not in ids:
        raise LookupError(f"{assignment} has no task {task}")
    code = code[: ids.index(last) + 1]
    wanted = {f"{kind}-{task}" for kind in tests}
    if "hidden" in tests:
        wanted |= _helper_cells(code)
    scope: dict[str, Any] = {"__name__": "__main__"}
    for cell, compiled in code:
        if watch and cell.id == last:
            watch(scope)
        if solution and cell.id == task:
            exec(compile(solution, cell.id, "exec"), scope)
        elif not is_test(cell) or cell.id in wanted:
            exec(compiled, scope)


def _helper_cells(code: Sequence[tuple[NotebookNode, CodeType]]) -> set[str]:
    """Ids of the hidden tests that define what the last one uses, and what these use in turn.

    Of several that define a name, the last one before its use.
    """
    used, helpers = _needed(*code[-1]), set[str]()
    for cell, compiled in reversed(code[:-1]):
        defined = names_of(cell.source).defined
        if cell.id.startswith("hidden-") and defined & used:
            helpers.add(cell.id)
            used = (used - defined) | _needed(cell, compiled)
    return helpers


def _needed(cell: NotebookNode, compiled: CodeType) -> frozenset[str]:
    """The names that a cell uses, but for those that it has defined itself by then."""
    names, stored, needed = names_of(cell.source), set[str](), set[str]()
    for step in dis.get_instructions(compiled):
        if step.opname == "STORE_NAME":
            stored.add(step.argval)
        elif step.opname == "LOAD_NAME" and step.argval not in stored:
            needed.add(step.argval)
    return (names.used - names.defined) | (names.used & needed)


def comparisons(
    assignment: str, task: str, solution: str | None = None, root: Path = ROOT
) -> list[Heard]:
    """All comparisons of a task's visible test; none ends it, but a wrong solution's error may."""
    heard = []

    def listen(self: checks.Check, found: str, answer: Any, *_: Any, **__: Any) -> None:
        self.compared_so_far += 1
        heard.append(Heard((self.name, self.compared_so_far), form_of(answer), bool(found)))

    checks.start_over()
    with (
        mock.patch.object(checks.Check, "compared", listen),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.suppress(*[Exception] * (solution is not None)),
    ):
        run_task(assignment, task, solution, tests=["test"], root=root)
    return heard


def known_values(assignment: str, root: Path = ROOT) -> dict[str, Any]:
    """The content of an exercise's file of values.

    Raises TableError if a mistake's sentence would not be said: its value is never compared, or
    another mistake gives the same one and has another sentence.
    """
    rows = [row for row in answers_of(assignment, root).wrong if row.said]
    right = {
        one.key: one.form
        for task in dict.fromkeys(row.task for row in rows)
        for one in _once(assignment, comparisons(assignment, task, root=root))
    }
    entries: dict[tuple[str, int], list[tuple[Any, str]]] = {key: [] for key in right}
    later: list[tuple[tuple[str, int], Any, str]] = []
    for row in rows:
        wrong = [
            one
            for one in comparisons(assignment, row.task, row.solution, root)
            if one.wrong and one.key in right
        ]
        if not wrong:
            raise TableError(
                f"{_place(assignment, row)}: no worked example is compared with a wrong value of "
                "it (the check may end before), so its sentence is never said; end it with ? and "
                "words of the check, or with hidden"
            )
        general = row.said == ">>"
        first, *others = [(one.key, _value(one.form, right[one.key], general)) for one in wrong]
        _add(entries[first[0]], first[1], row, assignment)
        later += [(*one, row.diagnosis) for one in others * general if _is_telling(one[1])]
    for key, entry, sentence in later:
        if not any(is_one(other, entry, TOLERANCE) for other, _ in entries[key]):
            entries[key].append((entry, sentence))
    return _as_json(entries)


def _once(assignment: str, heard: Iterable[Heard]) -> Iterator[Heard]:
    """Our own comparisons, which are right and have keys of their own."""
    seen = set()
    for one in heard:
        if one.wrong or one.key in seen:
            raise ValueError(f"{assignment}: {one.key} is wrong for our solution, or given twice")
        seen.add(one.key)
        yield one


def _value(form: Any, right: Any, general: bool) -> Any:
    """What is kept of a mistake's answer: of a tensor of another shape the shape, if general."""
    shapes = [each.get("shape") if isinstance(each, dict) else None for each in (form, right)]
    if general and shapes[0] and shapes[1] is not None and shapes[0] != shapes[1]:
        return {"shape": shapes[0]}
    return form


def _add(entries: list, entry: Any, row: Wrong, assignment: str) -> None:
    """One more value of an example, unless it is there with the same sentence.

    Every tensor of a shape comes after the single values.
    """
    for other, sentence in entries:
        if _is_shape(other) == _is_shape(entry) and is_one(other, entry, TOLERANCE):
            if sentence == row.diagnosis:
                return
            raise TableError(
                f"{_place(assignment, row)} gives the same as a mistake whose sentence is "
                f"{sentence!r}: end it with `> as: ` and that mistake's name"
            )
    entries.append((entry, row.diagnosis))
    entries.sort(key=lambda one: _is_shape(one[0]))  # stable


def _is_shape(value: Any) -> bool:
    return isinstance(value, dict) and list(value) == ["shape"]


def _is_telling(value: Any) -> bool:
    """Whether other mistakes hardly give this value: not a lone whole number, nor only nan."""
    if isinstance(value, dict):
        return _is_shape(value) or _is_telling(
            [each for key, each in value.items() if key != "shape"]
        )
    leaves = list(_leaves(value))
    return len(leaves) > 1 or any(isinstance(leaf, float) and leaf % 1 for leaf in leaves)


def _leaves(value: Any) -> Iterator[Any]:
    """The texts and finite numbers in a value."""
    if isinstance(value, list | dict):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _leaves(each)
    elif value is not None and not (isinstance(value, float) and not isfinite(value)):
        yield value


def _place(assignment: str, row: Wrong) -> str:
    return f"solutions/{assignment}/answers.txt, line {row.line}: {row.task}, {row.mistake!r}"


def _as_json(entries: dict[tuple[str, int], list[tuple[Any, str]]]) -> dict[str, Any]:
    sentences = list(dict.fromkeys(said for rows in entries.values() for _, said in rows))
    number = {sentence: n for n, sentence in enumerate(sentences)}
    checks_: dict[str, dict[str, list]] = {}
    for (check, n), rows in entries.items():
        if rows:
            checks_.setdefault(check, {})[str(n)] = [[value, number[said]] for value, said in rows]
    return {"sentences": sentences, "checks": checks_}


def text_of(values: dict[str, Any]) -> str:
    """The file's text: a sentence a line, and a value a line, so that a change is seen."""
    said = ",\n".join(json.dumps(each, ensure_ascii=False) for each in values["sentences"])
    blocks = []
    for check, numbers in values["checks"].items():
        inner = ",\n".join(
            f'  "{number}": [\n'
            + ",\n".join(f"   {json.dumps(row, ensure_ascii=False)}" for row in rows)
            + "\n  ]"
            for number, rows in numbers.items()
        )
        blocks.append(f' "{check}": {{\n{inner}\n }}')
    checked = ",\n".join(blocks)
    return f'{{"sentences": [\n{said}\n],\n"checks": {{\n{checked}\n}}}}\n'


def path_of(assignment: str, root: Path = ROOT) -> Path:
    """Where an exercise's values are."""
    return root / "course" / "feedback" / "values" / f"{assignment}.json"


def main(names: Sequence[str], root: Path = ROOT) -> None:
    """Write the values of these exercises, or of all that have a table.

    Ends the program with file, line and what to do if a table does not fit.
    """
    found = sorted(path.parent.name for path in root.glob("solutions/*/answers.txt"))
    for name in names or found:
        try:
            values = known_values(name, root)
        except (FileNotFoundError, TableError) as error:
            sys.exit(str(error))
        path = path_of(name, root)
        path.parent.mkdir(exist_ok=True)
        write_atomically(path, text_of(values))
        values_of.cache_clear()
        rows = sum(len(each) for numbers in values["checks"].values() for each in numbers.values())
        print(f"{name}: {rows} values, {len(values['sentences'])} sentences")


if __name__ == "__main__":
    main(sys.argv[1:])
