"""What you have written, as parts of the library: `from course import mine`.

    python -m course.mine            which parts of the path are yours, and which is next
    python -m course.mine compare    the first place where yours give something else

In a notebook, `mine.parts()` is that list, and inside `with mine.running():` your functions train
the tokenizers and the BERT of `bertlab` (`bertlab.parts.using`). They are taken from your exercises
as these are saved, with the cells that they need; checks and pictures are left out. What passes is
found out in another process, which may fail or be stopped. Nothing of yours is changed.
"""

import ast
import copy
import html
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from importlib import import_module
from io import StringIO
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import nbformat
import torch

from bertlab import parts as library
from bertlab._console import print_on_any_console
from bertlab.parts import Part, using
from course import ROOT
from course.feedback.checks import CheckFailed, NotWritten
from course.feedback.differences import difference
from course.feedback.progress import lines_of, names_in, unbroken
from course.feedback.tensors import tensor_difference

EXERCISES = ROOT / "exercises"
SECONDS = 60.0  # for the checks of one exercise, and for a comparison
MOST_CALLS = 60  # of each part, that a comparison looks at
YOURS, OPEN = "yours", "not written"
TRYING = "trying "  # before the name of a function, where a process says how far it is
# What the small run reads: repeated letters, words of no known piece, # inside words.
TEXTS = ["the best menu costs a camel and the men cost most", "banana aaaa abab c# a##b menu"] * 3
ENCODED = [
    "mental bananas aaaaa tested",
    "c## #a ##b camelmenucamel",
    "xyz costs the bes b" + "a" * 120,
]
DOCUMENTS = [[f"the best {word} is a menu.", f"a {word} costs the most."] for word in "abcdefgh"]


class Mine(NamedTuple):
    """A part that an exercise asks for: whether it is yours, and if not, why not."""

    name: str
    lecture: str
    exercise: str  # its folder
    state: str
    said: str = ""


class Map(NamedTuple):
    """The parts of the path that exercises ask for, in order; a notebook shows a table."""

    rows: tuple[Mine, ...]

    def __repr__(self) -> str:
        lines = [" · ".join(filter(None, self._cells(row))) for row in self.rows]
        return "\n".join([*lines, self.sentence()])

    def _repr_html_(self) -> str:
        head = ("yours", "part", "lecture", "exercise", "state", "what its check says")
        rows = [
            (mark, name, row.lecture, self._link(row), unbroken(row.state), html.escape(row.said))
            for row in self.rows
            for mark, name, *_ in [self._cells(row)]
        ]
        caption = f'<caption style="text-align:left">{html.escape(self.sentence())}</caption>'
        return f"<table>{caption}{lines_of([head, *rows])}</table>"

    def sentence(self) -> str:
        """How many are yours, and which exercise has the next one."""
        yours = sum(row.state == YOURS for row in self.rows)
        rest = [row for row in self.rows if row.state != YOURS]
        told = f"{yours} of {len(self.rows)} parts are yours; the library lends the others."
        return told + (f" Next: {rest[0].name}, in {rest[0].exercise}." if rest else "")

    def _cells(self, row: Mine) -> tuple[str, ...]:
        mark = "■" if row.state == YOURS else "□"
        return mark, row.name, f"lecture {row.lecture}", row.exercise, row.state, row.said

    def _link(self, row: Mine) -> str:
        place = f"../exercises/{row.exercise}/{row.exercise}.ipynb"
        return f'<a href="{html.escape(place)}">{html.escape(row.exercise)}</a>'


def parts(folder: Path = EXERCISES) -> Map:
    """Which parts are yours: each is tried by its exercise's check, in another process.

    folder: of the exercises, as yours are saved.
    """
    asked: dict[str, list[Part]] = {}
    for one in library.parts():
        if one.exercise:
            asked.setdefault(one.exercise, []).append(one)
    rows = []
    for number, those in asked.items():
        path = _notebook(folder, number)
        said = _in_another_process("try", path) if path else "there is no such notebook"
        for one in those:
            exercise = path.stem if path else f"ex{number}"
            told = said if isinstance(said, str) else said.get(one.name, OPEN)
            state = {"": YOURS, OPEN: OPEN}.get(told, "left out")
            rows.append(Mine(one.name, one.lecture, exercise, state, told * (state != OPEN)))
    return Map(tuple(rows))


@contextmanager
def running(folder: Path = EXERCISES) -> Iterator[Map]:
    """Inside, those of your functions that pass run in the places of the library's parts."""
    found = parts(folder)
    yours: dict[str, Callable] = {}
    for row in found.rows:
        if row.state == YOURS:
            path = folder / row.exercise / f"{row.exercise}.ipynb"
            yours[row.name] = _function(path, row.name)
    with using(**yours):
        yield found


def compare(folder: Path = EXERCISES) -> str:
    """The first call of a part for which your function gives something else than the library's.

    The library trains two tokenizers and takes three steps of a small BERT; yours get the same
    inputs, whether they pass their checks or not. Returns sentences.
    """
    said = _in_another_process("differ", folder)
    return said if isinstance(said, str) else "\n".join(said["lines"])


# What a notebook holds.


def _notebook(folder: Path, exercise: str) -> Path | None:
    """The notebook of an exercise, by its number."""
    return next(folder.glob(f"ex{exercise}_*/ex{exercise}_*.ipynb"), None)


def _function(path: Path, name: str) -> Callable:
    """The function of an exercise, in a world of its own with what it needs.

    Raises LookupError if the notebook has none of this name, and whatever its cells raise.
    """
    cells = [
        cell
        for cell in nbformat.read(path, as_version=4).cells
        if cell.cell_type == "code" and not cell.metadata.get("nbgrader", {}).get("grade")
    ]
    trees = {number: _tree(cell.source) for number, cell in enumerate(cells)}
    home = [n for n, tree in trees.items() if name in _defined(tree)]
    if not home:
        broken = any(f"def {name}(" in cell.source for cell in cells)
        raise LookupError(f"{'Python cannot read the' if broken else 'there is no'} cell of {name}")
    chosen, open_names = set(), {name}
    while open_names:
        wanted = open_names.pop()
        for n in [n for n, tree in trees.items() if wanted in _defined(tree)][-1:]:
            if n not in chosen:
                chosen.add(n)
                open_names |= set(names_in(compile(trees[n], "cell", "exec")))
    scope: dict[str, Any] = {"__name__": f"mine.{path.stem}"}
    for n in sorted(chosen):
        exec(compile(trees[n], f"{path.stem}, cell {cells[n].id}", "exec"), scope)
    return scope[name]


def _tree(source: str) -> ast.Module:
    """What a cell defines, without its pictures and prints; nothing if it is no program."""
    try:
        body = ast.parse(source).body
    except SyntaxError:  # also a line of IPython's own
        body = []
    return ast.Module([node for node in body if not isinstance(node, ast.Expr)], [])


def _defined(tree: ast.Module) -> set[str]:
    """The names that a cell defines at its top level."""
    found: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)}
    return found


# In another process, which may fail, wait for ever, or end.


def _in_another_process(what: str, where: Path) -> Any:
    """What `_try` or `_differ` says; a sentence if the process did not come to its end."""
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder, "answer.json")
        command = [sys.executable, "-m", "course.mine", what, str(where), str(answer)]
        found = os.pathsep.join(filter(None, sys.path))
        settings = os.environ | {"MPLBACKEND": "agg", "PYTHONPATH": found}
        try:
            done = subprocess.run(
                command,
                cwd=folder,
                env=settings,
                capture_output=True,
                timeout=SECONDS,
                stdin=subprocess.DEVNULL,
                text=True,
            )
        except subprocess.TimeoutExpired as late:
            _, _, which = (late.stderr or b"").decode(errors="replace").rpartition(TRYING)
            return (
                f"{which or 'one of your functions'} takes more than {SECONDS:.0f} seconds: look "
                "for a loop that never ends"
            )
        if not answer.exists():
            last = (done.stderr.strip().splitlines() or ["it ended by itself"])[-1]
            return f"the process that tried it did not come to its end: {last}"
        return json.loads(answer.read_text(encoding="utf-8"))


def _try(path: Path) -> dict[str, str]:
    """What is wrong with each part of an exercise, "" if it passes its check."""
    check = import_module(f"course.feedback.{path.stem}")
    names = [one.name for one in library.parts() if one.exercise == path.stem[2:4]]
    return {name: _fault(path, name, getattr(check, name)) for name in names}


def _fault(path: Path, name: str, check: Callable) -> str:
    try:
        with redirect_stdout(StringIO()):
            check(_function(path, name))
    except NotWritten:
        return OPEN
    except CheckFailed as failed:
        first, *others = str(failed).splitlines()
        told = next((line for line in others if "→" in line), others[0] if others else first)
        return f"does not pass: {told.strip().removeprefix('→').strip()}"
    except LookupError as error:
        return str(error)
    except (Exception, SystemExit) as error:
        return f"its cells raise {type(error).__name__}: {error}".splitlines()[0]
    return ""


class Call(NamedTuple):
    """A call of a part: what went in, and what the library gave."""

    arguments: tuple
    options: dict[str, Any]
    gives: Any


def _differ(folder: Path) -> dict[str, list[str]]:
    """Sentences about the first difference, and about what it changes in training."""
    calls: dict[str, list[Call]] = {}
    asked = [one for one in library.parts() if one.exercise]
    with using(**{one.name: _recorder(one, calls) for one in asked}):
        losses = _small_run()
    tried, found, written = 0, [], {}
    for one in asked:
        path = _notebook(folder, one.exercise)
        if path is None or one.name not in calls:
            continue
        print(f"\n{TRYING}{one.name}", end="", file=sys.stderr, flush=True)
        try:
            written[one.name] = yours = _function(path, one.name)
            for number, call in enumerate(calls[one.name], start=1):
                if told := _difference(yours, call):
                    found.append(
                        f"{one.name} (exercise {int(one.exercise)}), call {number}: {told}"
                    )
                    break
        except NotImplementedError:
            written.pop(one.name, None)
            continue
        except (Exception, SystemExit) as error:
            found.append(f"{one.name}: {type(error).__name__}: {error}".splitlines()[0])
            written.pop(one.name, None)
        tried += 1
    if not found:
        return {
            "lines": [
                f"{tried} functions of yours give what the library's give, in the first "
                f"{MOST_CALLS} calls of each."
            ]
        }
    more = (
        f"{len(found) - 1} more differ: {'; '.join(line.partition(' ')[0] for line in found[1:])}"
    )
    return {"lines": [found[0], *[more] * (len(found) > 1), _in_training(written, losses)]}


def _recorder(one: Part, calls: dict[str, list[Call]]) -> Callable:
    """The part's own function, whose first calls are noted."""

    def call(*arguments: Any, **options: Any) -> Any:
        before, named = _copied(arguments), _copied(options)
        gives = one.function(*arguments, **options)
        noted = calls.setdefault(one.name, [])
        if len(noted) < MOST_CALLS:
            noted.append(Call(before, named, _copied(gives)))
        return gives

    return call


def _copied(value: Any) -> Any:
    """A deep copy; of a tensor without its gradient, of a generator in the same state."""
    if isinstance(value, torch.Tensor):
        return value.detach().clone()
    if isinstance(value, torch.Generator):
        return torch.Generator().set_state(value.get_state())
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return tuple(map(_copied, value))
    if isinstance(value, MappingProxyType) or type(value) is dict:
        return {key: _copied(each) for key, each in value.items()}
    return copy.deepcopy(value)


def _difference(yours: Callable, call: Call) -> str:
    """How the answer to a call differs from the library's, in one line, or ""."""
    with redirect_stdout(StringIO()):
        answer = yours(*_copied(call.arguments), **_copied(call.options))
    if isinstance(call.gives, torch.Tensor):
        told = tensor_difference(call.gives, answer)
    else:
        told = difference(call.gives, answer)
    return " ".join(told.split()).replace("expected", "the library has").replace("got", "yours is")


def _in_training(written: dict[str, Callable], losses: Sequence[float]) -> str:
    """What the losses of three steps are with all written functions in their places."""
    try:
        with using(**written), redirect_stdout(StringIO()):
            own = _small_run()
    except (Exception, SystemExit) as error:
        told = f"{type(error).__name__}: {error}".splitlines()[0]
        return f"With yours, tokenizers and three steps of training end in {told}"
    both = "; ".join(
        f"{one:.4f}, the library's {other:.4f}" for one, other in zip(own, losses, strict=True)
    )
    return f"The losses of three steps of training with yours: {both}"


def _small_run() -> list[float]:
    """Two tokenizers are trained, and a BERT takes three steps: the losses."""
    from bertlab.data.token_store import write_tokens
    from bertlab.model import BertConfig, BertForPreTraining
    from bertlab.pretraining.batches import PretrainingData
    from bertlab.tokenizers import BPE, WordPiece
    from bertlab.training.loop import TrainingConfig
    from bertlab.training.runs import pretrain

    wordpiece = WordPiece.train([" ".join(one) for one in DOCUMENTS] + TEXTS, vocab_size=90)
    for tokenizer in (BPE.train(TEXTS, vocab_size=60), wordpiece):
        for text in ENCODED:
            tokenizer.encode(text)
    with tempfile.TemporaryDirectory() as folder:
        store = write_tokens(DOCUMENTS * 4, wordpiece, Path(folder, "tokens"))
        config = BertConfig.tiny(vocab_size=len(wordpiece.vocab), max_length=32)
        data = PretrainingData(store, wordpiece, max_length=32, batch_size=4)
        model, draw = BertForPreTraining(config), torch.Generator().manual_seed(0)
        for weight in model.parameters():  # also those of the norms, which begin at 1 and 0
            torch.nn.init.normal_(weight, 0.3, 0.4, generator=draw)
        rows = pretrain(model, data, TrainingConfig(steps=3), progress=False)
        return [row["loss"] for row in rows]


def main(arguments: Sequence[str]) -> None:
    """Print the map, or the first difference."""
    print_on_any_console()
    if arguments and arguments[0] in ("try", "differ"):
        what, where, answer = arguments
        told = _try(Path(where)) if what == "try" else _differ(Path(where))
        Path(answer).write_text(json.dumps(told), encoding="utf-8")
    elif list(arguments) == ["compare"]:
        print(compare())
    elif arguments:
        sys.exit(f"{' '.join(arguments)}: expected nothing, or compare\n\n{__doc__}")
    else:
        print(parts())


if __name__ == "__main__":
    main(sys.argv[1:])
