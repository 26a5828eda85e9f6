"""Every lecture runs from top to bottom in a new kernel, offline, within its budget.

Its cells can then be run again, in any order, and show the same; the cells that are marked for its
slides show what a slide can show; and each of its figures has a number, a caption and words.
"""

import re
from copy import deepcopy
from math import inf

import nbformat
import pytest
from bs4 import BeautifulSoup

from course.live.pages import without_widgets
from course.publishing import lectures
from course.publishing.captions import with_captions
from course.publishing.slides import deck
from tests.conftest import ROOT

# A progress bar shows seconds.
BAR = "display({'text/plain': f'  8%|8  | 80/944 [{time.time()}]'}, raw=True)"
BUDGET = {"seconds": 60, "megabytes": 1_000, "network": False}


@pytest.mark.notebooks
@pytest.mark.parametrize("path", sorted(ROOT.glob("lectures/*.ipynb")), ids=lambda path: path.stem)
def test_a_lecture_runs_offline_within_its_budget(path, tmp_path):
    # Beside other tests; `make lectures` is strict.
    done = lectures.run(path, keep=tmp_path / path.name, again=lectures.QUICK, slack=2)
    print(done)
    assert done.fault == ""
    executed = without_widgets(nbformat.read(tmp_path / path.name, as_version=4))
    deck(deepcopy(executed))
    assert list(incomplete_figures(with_captions(executed, path.stem))) == []


def incomplete_figures(page):
    """Pictures and views, with their cells, that lack a number, a caption, or words of their own.

    A blank for the reader is no figure.
    """
    for cell in page.cells:
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            shown = BeautifulSoup(data.get("text/html", ""), "html.parser")
            for seen in shown.select('img, iframe:not([title^="Your turn"])'):
                figure = seen.find_parent("figure", id=True)
                caption = figure.figcaption.text if figure else ""
                words = seen.get("alt") or shown.find(class_="bertlab-alt")
                if not (re.match(r"Figure \w+\.\d+\. \w", caption) and words):
                    yield cell.id, str(seen)[:80]
            if any(kind.startswith("image/") for kind in data) and "text/html" not in data:
                yield cell.id, "a picture without words"


@pytest.fixture
def page(tmp_path):
    """Write a notebook and run it."""

    def run(*sources, again=0.0, **budget):
        cells = [nbformat.v4.new_code_cell(text, id=f"cell-{n}") for n, text in enumerate(sources)]
        notebook = nbformat.v4.new_notebook(cells=cells)
        notebook.metadata = {"bertlab": {"budget": BUDGET | budget}}
        nbformat.write(notebook, tmp_path / "page.ipynb")
        return lectures.run(tmp_path / "page.ipynb", again=again)

    return run


@pytest.mark.notebooks
def test_a_failing_assertion_stops_the_page(page):
    assert "AssertionError" in page("assert 1 + 1 == 3").fault


@pytest.mark.notebooks
def test_a_page_that_needs_the_network_fails(page):
    if not lectures.cut_network():
        pytest.skip("this system does not let a process give up its network (Linux does)")
    source = "import socket\nsocket.create_connection(('127.0.0.1', 1), timeout=2)"
    assert "Network is unreachable" in page(source).fault


@pytest.mark.notebooks
def test_a_page_that_uses_too_much_memory_is_reported(page):
    done = page("x = bytearray(400_000_000)", megabytes=300)
    assert done.fault.startswith("over its budget of 300 MB")
    assert done.megabytes > 400


@pytest.mark.notebooks
@pytest.mark.parametrize(
    ("sources", "fault"),
    [
        (("x = [1]", "print(x)", "y = 2"), ""),
        ((f"import time\n{BAR}",), ""),
        (("shown = display('begun', display_id=True)\nshown.update('done')",), ""),
        (("x = 1", "print(x)", "x = 2"), "cell-1 shows something else"),
        (("x = [1]", "x.append(2)\nx"), "cell-1 shows something else"),
        (("x = 1", "x + 1", "x = 'a'"), "TypeError"),
    ],
)
def test_a_cell_that_cannot_be_run_again_is_reported(page, sources, fault):
    done = page(*sources, again=inf)
    assert fault in done.fault
    assert bool(fault) == bool(done.fault)
    assert page(*sources).fault == ""
