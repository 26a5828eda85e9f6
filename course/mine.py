"""What you have written, as parts of the library: `from course import mine`.

    python -m course.mine            which parts of the path are yours, and which is next
    python -m course.mine compare    the first place where yours give something else

In a notebook, `mine.parts()` is that list, below a drawing with your boxes lit, and inside `with
mine.running():` your functions train the tokenizers and the BERT of `bertlab`
(`bertlab.parts.using`). They are taken from your exercises as these are saved, with the cells that
they need; checks and pictures are left out. What passes is found out in another process, which may
fail or be stopped. Nothing of yours is changed.
"""

import ast
import copy
import html
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from importlib import import_module
from io import StringIO
from itertools import groupby
from pathlib import Path
from threading import Thread
from types import MappingProxyType
from typing import Any, NamedTuple

import nbformat
import torch

from bertlab._console import print_on_any_console
from bertlab.data.token_store import write_tokens
from bertlab.model import BertConfig, BertForPreTraining
from bertlab.parts import using
from bertlab.pretraining.batches import PretrainingData
from bertlab.pretraining.masking import MASKED_SHARE, RANDOM_SHARE
from bertlab.tokenizers import BPE, WordPiece
from bertlab.training.loop import TrainingConfig
from bertlab.training.runs import pretrain
from bertlab.training.steps import StepResult, accumulate_gradients
from bertlab.viz.frames import Frame
from course import ROOT
from course.feedback.checks import CheckFailed, NotWritten
from course.feedback.differences import difference
from course.feedback.progress import lines_of, names_in, unbroken
from course.feedback.tensors import tensor_difference
from course.fitting import Asked, asked
from course.widgets.drawn_berts import written_bert

EXERCISES = ROOT / "exercises"
SECONDS = 60.0  # of processor time, for the checks of one exercise, and for a comparison
TOO_LONG = 124  # how a process ends that needs more
MOST_CALLS = 60  # of each part, that a comparison looks at
YOURS, OPEN, LEFT = "yours", "not written", "left out"
ENOUGH = f"in the first {MOST_CALLS} calls of each"
MANY = 200  # copies of a batch, so that shares can be seen
FAILS = "does not pass: "  # before what its check says
TRYING = "trying "  # before the name of a function, where a process says how far it is
# What the small run reads: repeated letters, words of no known piece, # inside words.
TEXTS = ["the best menu costs a camel and the men cost most", "banana aaaa abab c# a##b menu"] * 3
ENCODED = [
    "mental bananas aaaaa tested",
    "c## #a ##b camelmenucamel",
    "xyz costs the bes b" + "a" * 120,
]
DOCUMENTS = [  # of several lengths, so that there is padding
    [f"the best {word} is a menu.", f"a {word} costs the most" + " and more" * (number % 3)]
    for number, word in enumerate("abcdefgh")
]


class Mine(NamedTuple):
    """What an exercise asks for as a part: whether it is yours, and if not, why not."""

    name: str  # in the exercise
    lecture: str
    exercise: str  # its folder
    state: str
    said: str = ""


class Map(NamedTuple):
    """The parts of the path that exercises ask for, in order; a notebook draws and lists them."""

    rows: tuple[Mine, ...]
    folder: Path = EXERCISES

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
        return f"{self.drawing()._repr_html_()}<table>{lines_of([head, *rows])}</table>"

    def drawing(self) -> Frame:
        """The drawn BERT, in which the boxes that are yours are lit."""
        return written_bert([row.name for row in self.rows if row.state == YOURS], self.sentence())

    def path(self, row: Mine) -> Path:
        """The notebook of a row's exercise."""
        return self.folder / row.exercise / f"{row.exercise}.ipynb"

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


def parts(folder: Path | None = None) -> Map:
    """Which parts are yours: each is tried by its exercise's check, in another process.

    folder: of the exercises, as yours are saved; by default `exercises` of this course.
    """
    folder = folder or EXERCISES
    rows = []
    for number, those in groupby(asked(), lambda one: one.exercise):
        path = _notebook(folder, number)
        said = _checked(path) if path else "there is no such notebook"
        for one in those:
            exercise = path.stem if path else f"ex{number}"
            told = said if isinstance(said, str) else said.get(one.function, OPEN)
            state = {"": YOURS, OPEN: OPEN}.get(told, LEFT)
            rows.append(
                Mine(one.function, one.part.lecture, exercise, state, told * (state != OPEN))
            )
    return Map(tuple(rows), folder)


@contextmanager
def running(found: Map | None = None) -> Iterator[Map]:
    """Inside, those of your functions that pass run in the places of the library's parts.

    found: what `parts` has found, which is otherwise looked for again.
    """
    found = found or parts()
    yours: dict[str, Callable] = {}
    for one, row in zip(asked(), found.rows, strict=True):
        if row.state == YOURS:
            yours[one.part.name] = one.fitted(_function(found.path(row), row.name))
    with using(**yours):
        yield found


def compare(folder: Path | None = None) -> str:
    """The first call of a part for which your function gives something else than the library's.

    The library trains two tokenizers and takes three steps of a small BERT; yours get the same
    inputs, whether they pass their checks or not. Returns sentences; the last ones name those that
    give the same in this run, but do not pass.
    """
    folder = folder or EXERCISES
    said = _in_another_process("differ", folder)
    if isinstance(said, str):
        return said
    told = [
        f"{row.name} gives the same here, but {row.said}"
        for row in parts(folder).rows
        if row.said.startswith(FAILS) and row.name not in said["named"]
    ]
    return "\n".join([*said["lines"], *told])


# What a notebook holds.


def _notebook(folder: Path, exercise: str) -> Path | None:
    """The notebook of an exercise, by its number."""
    return next(folder.glob(f"ex{exercise}_*/ex{exercise}_*.ipynb"), None)


def source_of(path: Path, name: str) -> str:
    """The cell of an exercise that defines a function."""
    return next(
        cell.source for cell in reversed(_cells(path)) if name in _defined(_tree(cell.source))
    )


def _cells(path: Path) -> list[nbformat.NotebookNode]:
    """The cells of code of an exercise, without its tests."""
    return [
        cell
        for cell in nbformat.read(path, as_version=4).cells
        if cell.cell_type == "code" and not cell.metadata.get("nbgrader", {}).get("grade")
    ]


def _function(path: Path, name: str) -> Callable:
    """The function of an exercise, in a world of its own with what it needs.

    Raises LookupError if the notebook has none of this name, and whatever its cells raise.
    """
    cells = _cells(path)
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

_known: dict[tuple[Path, bytes], dict[str, str]] = {}


def _checked(path: Path) -> dict[str, str] | str:
    """What `_try` says, asked once of a notebook as it is saved; or a sentence why it cannot."""
    try:
        saved = path, path.read_bytes()
    except OSError as error:
        return f"its notebook cannot be read: {error}"
    if saved not in _known:
        said = _in_another_process("try", path)
        if isinstance(said, str):  # another time it may come to its end
            return said
        _known[saved] = said
    return _known[saved]


def _in_another_process(what: str, where: Path) -> Any:
    """What `_try` or `_differ` says; a sentence if the process did not come to its end."""
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder, "answer.json")
        command = [sys.executable, "-m", "course.mine", what, str(where), str(answer), str(SECONDS)]
        found = os.pathsep.join(filter(None, sys.path))
        settings = os.environ | {"MPLBACKEND": "agg", "PYTHONPATH": found}
        try:
            done = subprocess.run(
                command,
                cwd=folder,
                env=settings,
                capture_output=True,
                timeout=10 * SECONDS,  # of a function that waits
                stdin=subprocess.DEVNULL,
                text=True,
            )
            ended, printed = done.returncode != TOO_LONG, done.stderr
        except subprocess.TimeoutExpired as late:
            ended, printed = False, (late.stderr or b"").decode(errors="replace")
        if not ended and answer.exists():  # what was found before
            return json.loads(answer.read_text(encoding="utf-8"))
        if not ended:
            which = printed.rpartition(TRYING)[2].strip() or "one of your functions"
            return f"{which} takes more than {SECONDS:.0f} seconds: look for a loop that never ends"
        if not answer.exists():
            last = (printed.strip().splitlines() or ["it ended by itself"])[-1]
            return f"the process that tried it did not come to its end: {last}"
        return json.loads(answer.read_text(encoding="utf-8"))


def _end_after(seconds: float) -> None:
    """End this process when it has used so much processor time, which a busy machine cannot."""
    while time.process_time() < seconds:
        time.sleep(0.1)
    os._exit(TOO_LONG)


def _try(path: Path) -> dict[str, str]:
    """What is wrong with each part of an exercise, "" if it passes its check."""
    check = import_module(f"course.feedback.{path.stem}")
    names = [one.function for one in asked() if one.exercise == path.stem[2:4]]
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
        return f"{FAILS}{told.strip().removeprefix('→').strip()}"
    except LookupError as error:
        return str(error)
    except (Exception, SystemExit) as error:
        return f"its cells raise {type(error).__name__}: {error}".splitlines()[0]
    return ""


class Call(NamedTuple):
    """A call of a part: what went in, and what the library gave and changed."""

    arguments: tuple
    options: dict[str, Any]
    gives: Any


def _differ(folder: Path, answer: Path) -> dict[str, list[str]]:
    """Lines about the first difference and what it changes in training; all names that differ.

    answer: where to leave what was found, before a training with yours that may never end.
    """
    calls: dict[str, list[Call]] = {}
    with using(**{one.part.name: _recorder(one, calls) for one in asked()}):
        losses = _small_run()
    tried, found, written = 0, [], {}
    for one in asked():
        path, name = _notebook(folder, one.exercise), one.function
        if path is None:
            continue
        print(f"\n{TRYING}{name}", end="", file=sys.stderr, flush=True)
        try:
            yours = one.fitted(_function(path, name))
            told = _first_difference(one, yours, calls[one.part.name])
        except NotImplementedError:
            continue
        except (Exception, SystemExit) as error:
            found.append(f"{name}: {type(error).__name__}: {error}".splitlines()[0])
        else:
            written[one.part.name] = yours
            if told:
                found.append(f"{name} (exercise {int(one.exercise)}), {told}")
        tried += 1
    if not tried:
        told = (
            "None of these functions is written yet, so the library would be compared with itself."
        )
        return {"lines": [told], "named": []}
    if not found:
        told = f"{tried} functions of yours give what the library's give, {ENOUGH}."
        return {"lines": [told], "named": []}
    named = [line.partition(" ")[0].rstrip(":") for line in found]
    more = [f"{len(found) - 1} more differ: {'; '.join(named[1:])}"] * (len(found) > 1)
    said = {"lines": [found[0], *more], "named": named}
    answer.write_text(json.dumps(said), encoding="utf-8")
    return said | {"lines": [*said["lines"], _in_training(written, losses)]}


def _recorder(one: Asked, calls: dict[str, list[Call]]) -> Callable:
    """The part's own function, whose first calls are noted."""
    noted = calls.setdefault(one.part.name, [])

    def call(*arguments: Any, **options: Any) -> Any:
        if len(noted) >= MOST_CALLS:
            return one.part.function(*arguments, **options)
        before, named = _copied((arguments, options))
        gives = one.part.function(*arguments, **options)
        noted.append(Call(before, named, _copied(_outcome(gives, arguments))))
        return gives

    return call


def _copied(value: Any) -> Any:
    """A deep copy; of a tensor without its history, of a generator in the same state."""
    if isinstance(value, torch.Tensor) and not isinstance(value, torch.nn.Parameter):
        return value.detach().clone()
    if isinstance(value, torch.Generator):
        return torch.Generator().set_state(value.get_state())
    if type(value) is tuple and len(value) > 1 and isinstance(value[1], torch.optim.Optimizer):
        return (*copy.deepcopy(value[:2]), *map(_copied, value[2:]))  # of one model, together
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return tuple(map(_copied, value))
    if isinstance(value, MappingProxyType) or type(value) is dict:
        return {key: _copied(each) for key, each in value.items()}
    return copy.deepcopy(value)


def _outcome(gives: Any, arguments: tuple) -> Any:
    """What a call gives; of one that changes a model also what that has afterwards."""
    model = arguments[0] if arguments else None
    if not isinstance(model, BertForPreTraining):
        return gives
    parameters = list(model.named_parameters())
    gradients = {f"gradient of {name}": p.grad for name, p in parameters if p.grad is not None}
    return {"gives": gives} | gradients | dict(parameters)


def _first_difference(one: Asked, yours: Callable, calls: Sequence[Call]) -> str:
    """At which call a function differs from the library's, and how, in one line; or ""."""
    for number, call in enumerate(calls, start=1):
        if told := _difference(one, yours, call):
            return f"call {number}: {told}"
    return ""


def _difference(one: Asked, yours: Callable, call: Call) -> str:
    """How the answer to a call differs from the library's, or the gradient through it."""
    if one.function == "replace_chosen":
        return _difference_of_draws(yours, call)
    arguments, options = _copied((call.arguments, call.options))
    with redirect_stdout(StringIO()):
        answer = _outcome(yours(*arguments, **options), arguments)
    told = _told(call.gives, answer)
    if told or not isinstance(_first(call.gives), torch.Tensor):
        return told
    own, wanted = (_gradients(f, call) for f in (yours, one.part.function))
    finite = {name: one for name, one in wanted.items() if one.isfinite().all()}
    told = _told(finite, own) if finite else ""
    return f"its numbers are right, the gradient through them is not: {told}" if told else ""


def _difference_of_draws(yours: Callable, call: Call) -> str:
    """Drawn in an order of its own: what is not chosen must stay, and the shares must be right."""
    ids, predict, mask_id, *others = _copied(call.arguments)
    ids, predict = ids.repeat(MANY, 1), predict.repeat(MANY, 1)
    with redirect_stdout(StringIO()):
        answer = yours(ids.clone(), predict.clone(), mask_id, *others)
    if told := _told(ids[~predict], answer[~predict]):
        return f"of the tokens that are not chosen, {told}"
    own, before = answer[predict], ids[predict]
    shares = {
        "become [MASK]": (MASKED_SHARE, own == mask_id),
        "become another word": (RANDOM_SHARE, (own != mask_id) & (own != before)),
    }
    for what, (wanted, found) in shares.items():
        share = found.double().mean().item()
        if abs(share - wanted) > 0.05:
            return f"{wanted:.0%} of the chosen tokens should {what}; with yours {share:.0%} do"
    return ""


def _first(answer: Any) -> Any:
    """Of several things that a function returns the first: vectors, before weights or moments."""
    return answer[0] if isinstance(answer, tuple) and answer else answer


def _told(wanted: Any, answer: Any) -> str:
    """The first difference of two values in one line, or ""."""
    if isinstance(wanted, dict) and wanted and isinstance(answer, dict):
        each = ((f"{name}: ", one, answer.get(name)) for name, one in wanted.items())
    elif isinstance(wanted, tuple) and isinstance(_first(wanted), torch.Tensor):
        if not isinstance(answer, tuple) or len(answer) != len(wanted):
            return f"the library returns {len(wanted)} values, yours {type(answer).__name__}"
        some = [n for n, one in enumerate(wanted) if one is not None]
        each = ((f"result {n + 1}: ", wanted[n], answer[n]) for n in some)
    else:
        return _told_of_one(wanted, answer)
    return next((name + told for name, *two in each if (told := _told(*two))), "")


def _told_of_one(wanted: Any, answer: Any) -> str:
    if isinstance(wanted, float | StepResult) and isinstance(answer, float | int | StepResult):
        wanted, answer = torch.tensor(wanted), torch.tensor(answer)
    known = isinstance(wanted, torch.Tensor)
    told = tensor_difference(wanted, answer) if known else difference(wanted, answer)
    return " ".join(told.split()).replace("expected", "the library has").replace("got", "yours is")


def _gradients(function: Callable, call: Call) -> dict[str, torch.Tensor]:
    """The gradients of a weighted sum of what a function gives, by its arguments' numbers."""
    arguments, options = _copied((call.arguments, call.options))
    numbers = {
        f"argument {n}": argument.requires_grad_()
        for n, argument in enumerate(arguments, start=1)
        if isinstance(argument, torch.Tensor) and argument.is_floating_point()
    }
    with redirect_stdout(StringIO()):
        answer = _first(function(*arguments, **options))
    if not numbers or not answer.is_floating_point():
        return {}
    if not answer.requires_grad:
        return {name: torch.zeros_like(number) for name, number in numbers.items()}
    weights = torch.linspace(0.5, 1.5, answer.numel()).view(answer.shape)
    found = torch.autograd.grad((weights * answer).sum(), list(numbers.values()), allow_unused=True)
    return {
        name: torch.zeros_like(number) if one is None else one
        for (name, number), one in zip(numbers.items(), found, strict=True)
    }


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
    corpus = [" ".join(one) for one in DOCUMENTS] + TEXTS
    bpe, wordpiece = BPE.train(TEXTS, vocab_size=60), WordPiece.train(corpus, vocab_size=90)
    for tokenizer in (bpe, wordpiece):
        for text in ENCODED:
            tokenizer.encode(text)
    with tempfile.TemporaryDirectory() as folder:
        store = write_tokens(DOCUMENTS * 4, wordpiece, Path(folder, "tokens"))
        config = BertConfig.tiny(vocab_size=len(wordpiece.vocab), max_length=32, dropout=0.0)
        data = PretrainingData(store, wordpiece, max_length=32, batch_size=4)
        model, draw = BertForPreTraining(config), torch.Generator().manual_seed(0)
        for weight in model.parameters():  # also those of the norms, which begin at 1 and 0
            torch.nn.init.normal_(weight, 0.3, 0.4, generator=draw)
        rows = pretrain(model, data, TrainingConfig(steps=3), progress=False)
        model.zero_grad()
        batch = data.epoch(0)[0]
        halves, n_pairs = [batch.rows(0, 1), batch.rows(1, 4)], len(batch.next_sentence)
        accumulate_gradients(model, halves, len(batch.words), n_pairs)
        return [row["loss"] for row in rows]


def main(arguments: Sequence[str]) -> None:
    """Print the map, or the first difference."""
    print_on_any_console()
    if arguments and arguments[0] in ("try", "differ"):
        what, where, answer, seconds = arguments
        Thread(target=_end_after, args=(float(seconds),), daemon=True).start()
        told = _try(Path(where)) if what == "try" else _differ(Path(where), Path(answer))
        Path(answer).write_text(json.dumps(told), encoding="utf-8")
    elif list(arguments) == ["compare"]:
        print(compare())
    elif arguments:
        sys.exit(f"{' '.join(arguments)}: expected nothing, or compare\n\n{__doc__}")
    else:
        print(parts())


if __name__ == "__main__":
    main(sys.argv[1:])
