"""How large the library is, and which functions are long, and why."""

import ast

import pytest

from tests.conftest import ROOT
from tests.house.test_floors import imported

# Lines and files of each room of the library. The design wants fewer: 11,500 lines in all, 5,800 in
# 32 files for the first four together. They may shrink; what makes one grow must be worth it.
ROOMS = {
    "tokenizers": (3134, 9),
    "model": (2106, 10),
    "pretraining": (830, 5),
    "training": (2268, 8),
    "finetuning": (2176, 11),
    "interpretability": (1178, 8),
    "viz": (2083, 11),
    "data": (2026, 10),
}
LONGEST = 40  # lines of a function, without its docstring
# A task's checks are one list of what a student can get wrong, in the order in which they are told.
LISTS = "course/feedback/ex"
LONG = {
    "course.__main__._parser": "a list of commands",
    "course.gradebook.records.record": "one record, field by field",
    "course.publishing.releasing._release": "the steps of a release, each with its undoing",
    "course.similarity.report.main": "a command: its options, its steps, what it says",
    "course.widgets.emblems._row": "six parts of a picture, a few lines each",
    "course.widgets.head_galleries.head_gallery": "a picture, drawn from top to bottom",
    "course.widgets.masking.masking_rolls": "a widget, its parts and what they do",
    "course.widgets.training_curves.training_curves": "a picture, drawn from top to bottom",
    "bertlab.finetuning.sentence_objectives.train_pairs": "a training loop with its checks",
    "bertlab.tokenizers.fast.learn_by_count": "one loop, whose helper shares its queue",
    "bertlab.training.command.run_pretraining": "a run, from its folder to its model",
    "bertlab.viz.head_views._page": "a page, mostly text",
    "bertlab.viz.heatmaps.attention_heads": "a picture, drawn from top to bottom",
    "bertlab.viz.heatmaps.heatmap": "a picture, drawn from top to bottom",
    "bertlab.viz.neuron_views._page": "a page, mostly text",
    "bertlab.viz.pictures.lines": "a picture, drawn from top to bottom",
    "bertlab.viz.saliency.saliency_bars": "a picture, drawn from top to bottom",
}

# Modules of the library that only one module imports, beside them, and why they are not part of it.
ALONE = {
    "bertlab.finetuning.sentence_folders": "reads and writes files that others have defined",
}


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_is_no_larger_than_it_was(room):
    files = sorted((ROOT / "bertlab" / room).glob("*.py"))
    lines = sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files)
    most_lines, most_files = ROOMS[room]
    assert lines <= most_lines
    assert len(files) <= most_files


def functions(tree, name):
    """Every function below a node, with its dotted name."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            below = f"{name}.{node.name}"
            if isinstance(node, ast.FunctionDef):
                yield below, node
            yield from functions(node, below)


def length(function):
    """Lines of a function without those of its docstring."""
    first = function.body[0]
    said = ast.get_docstring(function) is not None
    return function.end_lineno - function.lineno + 1 - said * (first.end_lineno - first.lineno + 1)


@pytest.mark.slow
def test_long_functions_are_known_with_the_reason():
    found = {}
    for path in [*(ROOT / "bertlab").rglob("*.py"), *(ROOT / "course").rglob("*.py")]:
        file = path.relative_to(ROOT).as_posix()
        if not file.startswith(LISTS):
            name = file.removesuffix(".py").replace("/", ".")
            found |= dict(functions(ast.parse(path.read_text(encoding="utf-8")), name))
    long = {name for name, function in found.items() if length(function) > LONGEST}
    assert long == LONG.keys()


@pytest.mark.slow
def test_a_module_with_a_single_importer_beside_it_says_why_it_is_not_part_of_it():
    users = {}
    for house in ("bertlab", "course", "benchmarks"):
        for path in (ROOT / house).rglob("*.py"):
            user = path.relative_to(ROOT).as_posix().removesuffix(".py").replace("/", ".")
            for name in imported(path.read_text(encoding="utf-8")):
                users.setdefault(name, set()).add(user)
    pages = "".join(
        path.read_text(encoding="utf-8") for path in (ROOT / "lectures").glob("*.ipynb")
    )
    found = {
        module
        for module, (user, *others) in users.items()
        if module.startswith("bertlab.") and not others and f"{module} " not in pages
        if (ROOT / f"{module.replace('.', '/')}.py").is_file()
        if user.rpartition(".")[0] == module.rpartition(".")[0] and not user.endswith("__init__")
    }
    assert found - {f"bertlab.{room}.fast" for room in ROOMS} == ALONE.keys()
