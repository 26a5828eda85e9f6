"""A lecture as one page; `tests/browser/test_browser_explorers.py` runs the model in it."""

from importlib.metadata import entry_points

import nbformat
from nbformat.v4 import new_code_cell, new_notebook, new_output

from course.live.pages import LecturePage

WIDGET = {"application/vnd.jupyter.widget-view+json": {"model_id": "a"}, "text/plain": "a box"}


def page_of(*cells):
    notebook = new_notebook(cells=cells)
    before = nbformat.writes(notebook)
    page, _ = LecturePage().from_notebook_node(notebook)
    assert nbformat.writes(notebook) == before
    return page


def test_of_a_proof_only_its_last_line_is_shown():
    line = new_output("stream", text="1 check holds")
    page = page_of(new_code_cell("assert True", metadata={"tags": ["proof"]}, outputs=[line]))
    assert "assert" not in page.split("<body")[1]
    assert "1 check holds" in page


def test_a_widget_becomes_the_words_in_its_place_and_only_a_box_brings_the_weights():
    words = new_output("display_data", {**WIDGET, "text/html": "run this cell"})
    bar = new_output("display_data", WIDGET)
    page = page_of(new_code_cell("box", outputs=[words, bar]))
    assert "run this cell" in page
    assert "a box" not in page
    assert "widget-view" not in page
    assert len(page) < 1_000_000


def test_jupyter_offers_it_as_a_format():
    (ours,) = entry_points(group="nbconvert.exporters", name="lecture_page")
    assert ours.load() is LecturePage
