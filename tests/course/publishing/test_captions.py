"""The book's figures: which outputs are some, their numbers and captions."""

import nbformat
from bs4 import BeautifulSoup

from bertlab import viz
from course import widgets
from course.publishing.captions import with_captions

BARS = viz.bars({"a": 3, "b": 1}, "count by pair")
STEPPER = widgets.merge_stepper({"cost": 2, "men": 1}, [("s", "t")])


def cell(*shown, **metadata):
    outputs = [
        nbformat.v4.new_output("display_data", {"text/html": one._repr_html_()}) for one in shown
    ]
    return nbformat.v4.new_code_cell("show()", outputs=outputs, metadata=metadata)


def figures(cells, lecture="04_attention"):
    """The cells' outputs, captioned and parsed: (figure or None, ...)."""
    page = with_captions(nbformat.v4.new_notebook(cells=cells), lecture)
    shown = [output.data["text/html"] for cell in page.cells for output in cell.outputs]
    return [BeautifulSoup(html, "html.parser").find("figure") for html in shown]


def test_pictures_and_views_are_numbered_tables_and_blanks_are_not():
    table, blank = viz.table(["a"], [[1]]), widgets.blank("tokens", 2)
    one, none, no, two = figures([cell(BARS, table), cell(blank), cell(STEPPER)])
    assert (none, no) == (None, None)
    assert one.figcaption.text == "Figure 4.1. Count by pair."
    assert two.figcaption.text == "Figure 4.2. Byte pair encoding, merge by merge."
    assert one.img["alt"] == BARS.alt
    assert two.iframe["title"] == "Byte pair encoding, merge by merge"
    assert [one["id"], two["id"]] == ["figure-4.1", "figure-4.2"]


def test_the_claim_of_a_slide_is_the_caption_of_its_first_figure_with_code_and_maths():
    marked = {"slide_type": "slide", "claim": "`A` of *one* head sums to $1 < 2$ & more"}
    one, two = figures([cell(BARS, BARS, slideshow=marked)], "12b_in_context_learning")
    assert str(one.figcaption).startswith("<figcaption><b>Figure 12b.1.</b> <code>A</code> of <em>")
    assert one.figcaption.find(class_="math").text == r"\(1 < 2\)"
    assert "&amp; more" in str(one.figcaption)
    assert two.figcaption.text == "Figure 12b.2. Count by pair."


def test_lecture_0_has_a_number_too():
    (figure,) = figures([cell(BARS)], "00_start_here")
    assert figure.figcaption.text.startswith("Figure 0.1. ")
