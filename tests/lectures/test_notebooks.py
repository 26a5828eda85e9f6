"""Stored notebooks: normal form, the parts of a lecture, and library cells."""

import ast
import json
import os
import pkgutil
import re
import symtable
import sys
import tokenize
from inspect import getsource, ismodule
from io import StringIO
from pathlib import Path
from textwrap import dedent

import nbformat
import pytest

from course.publishing.notebooks import FURTHER, PROOF, core, normal_form, written_notebooks
from tests.conftest import ROOT, read_page
from tests.lectures.counts import counts, lectures, minutes

LECTURES = lectures()
RELEASED = sorted(ROOT.glob("exercises/*/*.ipynb"))
SOURCES = sorted(ROOT.glob("solutions/*/*.ipynb"))
# The time limit of a lecture, in CPU time for each of two cores; 90 seconds by default.
# Lecture 8 needs 77, 13 about 110, 9, 10 and 11 need 43 to 63; the rest is for slower machines.
SECONDS = {
    "08_pretraining": 300,
    "09_finetuning": 120,
    "11_sentence_bert": 120,
    "12_after_bert": 120,
    "13_your_own_bert": 300,
}


def name(path):
    """A short id for parametrised tests."""
    return path.stem


@pytest.mark.parametrize("path", written_notebooks(), ids=name)
def test_notebooks_are_stored_in_normal_form(path):
    text = path.read_text(encoding="utf-8")
    assert text == normal_form(nbformat.reads(text, as_version=4)), "run `make format`"


def test_the_normal_form_removes_outputs_and_rejects_cells_without_ids():
    cell = nbformat.v4.new_code_cell("1", id="a", metadata={"collapsed": True})
    cell.outputs = [nbformat.v4.new_output("stream", text="1")]
    cell.execution_count = 7
    notebook = nbformat.v4.new_notebook(cells=[cell], metadata={"widgets": {}})
    (stored,) = json.loads(normal_form(notebook))["cells"]
    assert (stored["outputs"], stored["execution_count"], stored["metadata"]) == ([], None, {})
    notebook.cells.append(nbformat.v4.new_code_cell("2", id="a"))
    with pytest.raises(ValueError, match="an id that no other cell has; got 'a'"):
        normal_form(notebook)


def test_a_proof_cell_is_folded_and_reports_its_number_of_checks():
    source = "for n in (1, 2):\n    assert n\ntorch.testing.assert_close(a, b)\nprint(a)"
    cell = nbformat.v4.new_code_cell(source, id="a", metadata={"tags": ["proof"]})
    notebook = nbformat.v4.new_notebook(cells=[cell])
    for _ in range(2):  # the second time nothing changes
        text = normal_form(notebook)
        (stored,) = nbformat.reads(text, as_version=4).cells
        assert stored.metadata.jupyter == {"source_hidden": True}
        assert stored.source == f'{PROOF}\n{source}\nprint("✓ 2 checks of this section hold")'
        notebook = nbformat.reads(text, as_version=4)
    cell.source = "print(1)"
    with pytest.raises(ValueError, match="must check something"):
        normal_form(nbformat.v4.new_notebook(cells=[cell]))


@pytest.mark.parametrize("path", LECTURES, ids=name)
def test_a_lecture_is_within_the_limits_of_length(path):
    found = counts(read_page(path))
    assert found.checks <= 0.04 * found.lines
    assert found.plotting <= 0.06 * found.lines
    assert found.silent <= max(1, 0.05 * found.cells)
    assert found.core_words <= 3_000


@pytest.mark.parametrize("path", LECTURES, ids=name)
def test_a_lecture_says_how_long_it_takes(path):
    """By 160 words a minute, 5 seconds a line of code, 2 minutes a turn (the class needs more)."""
    page = read_page(path)
    of_core, of_all = minutes(page)
    assert of_core <= 60
    more = f", {of_all} with *Further*" if of_all > of_core else ""
    said = f"**Time** {of_core} minutes to read and play{more}; "
    assert said in page.cells[0].source, f"the first cell must say: {said}"


ATTENTION = re.compile(  # views that show where a head looks
    r"(?:viz\.(?:attention_heads|attention_heatmap|head_view|model_view|neuron_view)"
    r"|widgets\.(?:head_explorer|head_gallery|token_path))\("
    r"|attention(?:.|\n(?!\n))*viz\.heatmap\("  # of the same cell
)


@pytest.mark.parametrize("path", LECTURES, ids=name)
def test_attention_is_seen_in_the_core_of_each_lecture(path):
    page = read_page(path)
    on_path = {cell.id for cell in core(page.cells)}
    shown = "\n\n".join(cell.source for cell in page.code if cell.id in on_path)
    assert ATTENTION.search(shown)


@pytest.mark.parametrize("path", LECTURES, ids=name)
def test_a_lecture_says_what_it_shows_at_its_top_and_at_its_end(path):
    page = read_page(path)
    said = re.search(r"\*\*What this lecture shows\*\* (.*)", page.cells[0].source)[1]
    (recap,) = [cell.source for cell in page.cells if cell.source.startswith("## Recap")]
    wanted, found = (set(re.findall(r"\w+", text)) for text in (said, recap))
    assert len(wanted & found) >= 0.8 * len(wanted)  # its end may tell it in the past tense


@pytest.mark.parametrize("path", LECTURES, ids=name)
def test_a_goal_says_which_sections_of_the_core_fulfil_it(path):
    cells = [cell.source for cell in core(read_page(path).cells) if cell.cell_type == "markdown"]
    there = set(re.findall(r"^## (\d+) ", "\n".join(cells), re.M))
    goals = re.findall(r"^- (.*)", cells[0], re.M)
    said = [re.search(r" \(sections? ([\d, ]+)\)$", goal) for goal in goals]
    assert all(said), goals
    assert set().union(*(one[1].split(", ") for one in said)) <= there


@pytest.mark.parametrize("path", LECTURES, ids=name)
def test_a_lecture_has_a_graded_task_on_its_own_content(path):
    """The exercise of its number; a lecture with a letter has a task that names it."""
    number = re.match(r"\d+b?", path.stem)[0]
    (exercise,) = ROOT.glob(f"exercises/ex{number.removesuffix('b')}_*/*.ipynb")
    if number.endswith("b"):
        named = rf"\*Further: belongs to lecture {number.lstrip('0')}\b"
        assert re.search(named, read_page(exercise).prose)


def names_of(source):
    """The names that a cell defines, and those that it needs from earlier cells."""
    top = symtable.symtable(source, "cell", "exec")
    tables, needed = [top], set()
    for table in tables:
        tables.extend(table.get_children())
        for symbol in table.get_symbols():
            if symbol.is_referenced() and (table is top or symbol.is_global()):
                needed.add(symbol.get_name())
    made = {s.get_name() for s in top.get_symbols() if s.is_assigned() or s.is_imported()}
    return made, needed - made


@pytest.mark.parametrize("path", LECTURES, ids=name)
def test_the_core_path_needs_no_code_of_optional_sections(path):
    page = read_page(path)
    for cell in page.cells:  # the book folds a section that says so
        says = re.match(rf"#+ .*\n\n\*{FURTHER}\*\n", cell.source) is not None
        assert says == ("further" in cell.metadata.get("tags", ())), cell.id
    path = list(core(page.cells))
    on_path, further = {cell.id for cell in path}, set()
    last = max(page.cells.index(cell) for cell in path)
    folded = [n for n, cell in enumerate(page.cells) if "further" in cell.metadata.get("tags", ())]
    assert all(n > last for n in folded), "what is further comes after the core, as one list"
    for cell in page.code:
        made, needed = names_of(cell.source)
        if cell.id in on_path:
            assert not needed & further, f"{cell.id} needs {needed & further}"
            further -= made
        else:
            further |= made


@pytest.mark.parametrize("path", LECTURES, ids=name)
def test_no_name_that_a_cell_reads_means_something_else_later(path):
    """So that the cell can be run again. What was derived may be imported afterwards."""
    before, last = set(), []  # names made, and of each cell what it needs of them
    for cell in read_page(path).code:
        made, needed = names_of(cell.source)
        own = symtable.symtable(cell.source, "cell", "exec")
        changed = {name for name in made & before if not own.lookup(name).is_imported()}
        for earlier, read in last:
            assert not read & changed, f"{earlier} reads {read & changed}, which {cell.id} makes"
        last.append((cell.id, needed & before))
        before |= made


@pytest.mark.parametrize("path", LECTURES, ids=name)
def test_a_lecture_has_the_parts_that_readers_rely_on(path):
    page = read_page(path)
    first = page.cells[0]
    assert first.cell_type == "markdown"
    assert re.match(r"# \d+b? · ", first.source)
    points = re.search(r"\*\*After this lecture you can\*\*\n\n((?:- .*\n?)+)", first.source)
    assert 3 <= points.group(1).count("- ") <= 5
    assert re.search(r"^\*\*Time\*\*.* minutes", first.source, re.MULTILINE)
    assert "**Builds on**" in first.source
    assert isinstance(ast.parse(page.code[0].source).body[0], ast.Import | ast.ImportFrom)
    headings = re.findall(r"^## (.*)", page.prose, re.MULTILINE)
    assert any("What the paper says" in heading for heading in headings)
    assert headings[-1] == "Sources"
    further = headings[-2] == "Further"
    (recap,) = [cell.source for cell in page.cells if cell.source.startswith("## Recap")]
    assert headings[-2 - further] == "Recap"
    for part in ("**New in the glossary**", "**Exercise**", "**Next**"):
        assert part in recap
    led_on = r"Exercise\*\*: (none|\[ex\d\d_\w+\]\(\.\./exercises/)", r"Next\*\*: (this|\[lecture)"
    assert all(re.search(rf"\*\*{link}", recap) for link in led_on)
    assert 2 <= len(re.findall(r"<summary>(?![A-E]\. |<b>Where)", page.prose)) <= 6
    assert page.prose.count("<details>") == page.prose.count("</details>")


@pytest.mark.parametrize("path", LECTURES, ids=name)
def test_the_reader_has_a_turn_five_times_and_one_choice_is_right(path):
    cells = read_page(path).cells
    turns = [n for n, cell in enumerate(cells) if "**Your turn.**" in cell.source]
    assert len(turns) >= 5
    for n in turns:
        choices = re.findall(r"<summary>[A-E]\. .*</summary>\s+(Yes|No)\b", cells[n].source)
        assert cells[n].source.count("<summary>") in (0, len(choices))
        if choices:
            assert choices.count("Yes") == 1 <= choices.count("No")
        else:
            assert cells[n + 1].cell_type == "code"


@pytest.mark.parametrize("path", LECTURES, ids=name)
def test_a_lecture_declares_its_cost_its_cells_fit_a_screen_and_pictures_have_words(path):
    page = read_page(path)
    for cell in page.code:
        is_library, folded = (
            "library" in cell.metadata.get("bertlab", {}),
            "jupyter" in cell.metadata,
        )
        longest = 40 if is_library else 26 if folded else 24
        assert len(cell.source.splitlines()) <= longest, f"{cell.id} is longer than a screen"
    assert not re.search(r"!\[\s*\]\(", page.prose)
    assert "%%capture" not in "".join(cell.source for cell in page.code)
    budget = nbformat.read(path, as_version=4).metadata["bertlab"]["budget"]
    assert budget["seconds"] <= SECONDS.get(path.stem, 90)
    assert budget["network"] is False
    assert budget["megabytes"] <= 4_000


@pytest.mark.parametrize("path", LECTURES, ids=name)
def test_what_the_prose_calls_in_the_pages_modules_exists(path):
    page, found = read_page(path), {}
    for cell in page.code:
        for node in ast.walk(ast.parse(cell.source)):
            if isinstance(node, ast.ImportFrom) and re.match("bertlab|course", node.module):
                exec(ast.unparse(node), found)
    for module, called in re.findall(r"`(\w+)\.(\w+)\(", page.prose):
        if ismodule(found.get(module)):
            assert hasattr(found[module], called), f"{module}.{called}"


# Library cells: a lecture's cell, a solution and the library are the same function.


def is_part(decorator):
    """Whether it is `@part(...)`, by which the library calls a lecture's function."""
    return isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "part"


class Essence(ast.NodeTransformer):
    """Keep a function's code; drop docstrings and annotations (comments are removed already)."""

    def visit_FunctionDef(self, node):
        node.returns = None
        node.decorator_list = [one for one in node.decorator_list if not is_part(one)]
        return self.visit_ClassDef(node)

    def visit_ClassDef(self, node):
        self.generic_visit(node)
        if ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
        return node

    def visit_arg(self, node):
        node.annotation = None
        return node

    def visit_AnnAssign(self, node):
        if node.value is None:
            return None
        return ast.Assign([node.target], node.value, lineno=node.lineno)


def essence(source):
    tree = Essence().visit(ast.parse(dedent(source)))
    return ast.unparse(ast.fix_missing_locations(tree))


def definitions(source):
    kinds = ast.FunctionDef | ast.ClassDef
    return [node for node in ast.parse(source).body if isinstance(node, kinds)]


def pinned_cells():
    for path in [*LECTURES, *SOURCES]:
        for cell in read_page(path).code:
            names = cell.metadata.get("bertlab", {}).get("library", [])
            for dotted in [names] if isinstance(names, str) else names:
                yield pytest.param(cell, dotted, id=f"{path.stem}-{dotted.split('.')[-1]}")


def differs_from_library(source, dotted):
    """Why a cell is not the library's code, or "" if it is."""
    library = getsource(pkgutil.resolve_name(dotted))
    wanted = essence(library)
    found = [node for node in definitions(source) if node.name == dotted.split(".")[-1]]
    if not found:
        return f"the cell does not define {dotted}"
    text = "\n".join(source.splitlines()[found[0].lineno - 1 : found[0].end_lineno])
    got = essence(text)
    if got != wanted:
        return f"{dotted} differs:\n{got}\n--- the library has ---\n{wanted}"
    ours, theirs = shapes_of(library), shapes_of(text)
    other = [line for line in ours.keys() & theirs.keys() if ours[line] != theirs[line]]
    return f"{dotted}: other shapes at {other}" if other else ""


def shapes_of(source):
    """Line of code -> the shape in the comment after it; and the "Returns" of a docstring."""
    found, lines = {}, source.splitlines()
    for token in tokenize.generate_tokens(StringIO(source).readline):
        if token.type == tokenize.COMMENT and (shape := re.search(r"\[[^\[\]]*\]", token.string)):
            found[lines[token.start[0] - 1][: token.start[1]].strip()] = shape[0]
    returned = re.findall(r"Returns (\[[^\[\]]*\])", source)
    return found | ({"Returns": returned} if returned else {})


@pytest.mark.parametrize(("cell", "dotted"), pinned_cells())
def test_a_library_cell_is_the_librarys_own_code(cell, dotted):
    assert differs_from_library(cell.source, dotted) == ""


@pytest.mark.parametrize(
    ("dotted", "old", "new", "told"),
    [
        ("bertlab.tokenizers.bpe.merge_pair", "i += 2", "i += 2  # both", ""),
        ("bertlab.tokenizers.bpe.merge_pair", "i += 2", "i += 1", "differs"),
        ("bertlab.tokenizers.bpe.merge_pair", "def merge_pair", "def glue", "does not define"),
        ("bertlab.model.attention.single_query_attention", "Returns [", "Returns [1, ", "other sh"),
    ],
)
def test_the_comparison_detects_changes_and_ignores_comments(dotted, old, new, told):
    source = getsource(pkgutil.resolve_name(dotted))
    assert differs_from_library(source, dotted) == ""
    found = differs_from_library(source.replace(old, new), dotted)
    assert told in found
    assert bool(told) == bool(found)


@pytest.mark.parametrize("path", SOURCES, ids=name)
def test_every_function_of_a_solution_is_pinned_or_compared(path):
    for cell in read_page(path).code:
        if not cell.metadata.get("nbgrader", {}).get("solution"):
            continue
        mark = cell.metadata.get("bertlab", {})
        if definitions(cell.source):
            assert mark.get("library") or mark.get("compared"), f"{cell.id} is neither"


# The repository mentions only the course.


def tracked_text_files():
    suffixes = {".py", ".md", ".toml", ".yml", ".txt", ".ipynb", ".js", ".css", ".html", ""}
    skipped = {".git", ".venv", ".hypothesis", ".pytest_cache", ".ruff_cache", "__pycache__"}
    skipped |= {".mypy_cache", "book"}  # generated, never stored
    for folder, below, names in os.walk(ROOT):
        below[:] = set(below) - skipped  # an environment contains many thousand files
        for path in (Path(folder, name) for name in set(names) - skipped):
            if path.suffix in suffixes:
                yield path


def test_no_path_of_a_machine_is_stored():
    # The sandbox has its own /tmp/work; ada and grace live on the class server of a test.
    places = r"root|work|home/(?!ada/|grace/)\w+|Users/\w+|tmp/(?!work/)\w+"
    home = re.compile(rf"(?<![\w.~/-])/(?:{places})/\w")
    this_file = Path(__file__).resolve()
    found = [
        f"{path.relative_to(ROOT)}: {match.group()}"
        for path in tracked_text_files()
        if path != this_file
        and (match := home.search(path.read_text(encoding="utf-8", errors="ignore")))
    ]
    assert found == []


def test_the_readme_names_only_files_and_commands_that_exist():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#:]+)\)", readme)
    assert [link for link in links if not (ROOT / link).exists()] == []
    targets = set(re.findall(r"^(\w+):.*##", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"\bmake (\w+)", readme)) <= targets
    assert sys.version_info >= (3, 11)
