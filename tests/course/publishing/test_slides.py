"""The slides: what the class sees of a lecture, and the speaker's notes."""

import re

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from course.publishing.notebooks import core
from course.publishing.slides import deck
from tests.conftest import ROOT, read_page

LECTURES = sorted(ROOT.glob("lectures/*.ipynb"))
PICTURE = new_output("display_data", data={"text/html": "<img>", "text/plain": "[Picture]"})
TITLE = """# 4 · Attention

A story, see [lecture 3](03.ipynb).

**What this lecture shows** A weighted mean.

**After this lecture you can**

- compute it
- draw it

**Time** 50 minutes"""
CHOICES = """## 2 How many?

**Question.** Why, see [2](#two)?

**Your turn.** How many?

<details><summary>A. One</summary>

No. See [lecture 4](04_attention.ipynb).

</details>
<details><summary>B. Two</summary>

Yes. It is $2$.

</details>"""


def slides(*cells):
    """Each slide as its texts after the title's; a code cell is its source, notes begin with %."""
    made = deck(new_notebook(cells=[new_markdown_cell("# T"), *cells]))
    nbformat.validate(made)
    pages = [[]]
    for cell in made.cells[2:]:
        if cell.source.startswith("#"):
            pages.append([])
        pages[-1].append(cell.source)
    return pages[1:]


def marked(claim="It rises."):
    return {"slideshow": {"slide_type": "slide", **({"claim": claim} if claim else {})}}


def test_the_title_and_the_goals_open_and_the_exercise_closes():
    recap = (
        "## Recap\n\n- A weighted mean.\n- More\n\n**New**: words\n\n**Exercise**: [ex04](x.ipynb)"
    )
    made = deck(new_notebook(cells=[new_markdown_cell(TITLE), new_markdown_cell(recap)]))
    assert [cell.source for cell in made.cells] == [
        "# 4 · Attention\n\nA weighted mean.",
        "% A story, see lecture 3.\n% **Time** 50 minutes",
        "## After this lecture you can\n\n- compute it\n- draw it",
        "## Recap\n\nA weighted mean.\n\n**Exercise**: ex04",
        "% - A weighted mean.\n% - More\n% **New**: words",
    ]


def test_marked_cells_are_slides_with_their_claim_and_all_other_prose_is_notes():
    whole = [new_output("stream", text="it: 3\n")]
    shown = slides(
        new_code_cell("draw()", outputs=[PICTURE], metadata=marked("It rises.")),
        new_markdown_cell("**What to notice.** Much more is said, $x$."),
        new_code_cell("not_marked()", outputs=[PICTURE]),
        new_markdown_cell(
            "So:\n\n$$x = y$$\n\n| a |\n|---|\n| b |", metadata=marked("They agree.")
        ),
        new_code_cell("print(x)", outputs=whole, metadata=marked("It prints.")),
        new_markdown_cell("## 3 More", metadata={"tags": ["further"]}),
        new_code_cell("draw()", outputs=[PICTURE], metadata=marked("Optional.")),
    )
    assert shown == [
        ["## It rises.", "draw()", "% **What to notice.** Much more is said, $x$."],
        ["## They agree.\n\n$$x = y$$\n\n| a |\n|---|\n| b |", "% So:"],
        ["## It prints.", "print(x)"],
    ]


def test_a_question_has_its_answer_on_the_next_slide():
    assert slides(new_markdown_cell(CHOICES, metadata=marked(""))) == [
        [
            "## Your turn\n\nHow many?\n\n- A. One\n\n- B. Two",
            "% ## 2 How many?\n% **Question.** Why, see 2?",
        ],
        [
            "## Answer\n\n**B. Two**\n\nYes. It is $2$.",
            "% A. One\n% No. See lecture 4.\n% B. Two\n% Yes. It is $2$.",
        ],
    ]


@pytest.mark.parametrize(("lines", "shown"), [(3, []), (30, ["remove-input"])])
def test_a_short_function_of_the_library_is_shown_as_code_and_a_long_one_as_its_output(
    lines, shown
):
    source = "def f():" + "\n    x = 1" * lines
    cell = new_code_cell(
        source, outputs=[PICTURE], metadata={**marked(), "bertlab": {"library": "a"}}
    )
    made = deck(new_notebook(cells=[new_markdown_cell("# T"), cell]))
    assert made.cells[-1].metadata.tags == shown
    assert made.cells[-1].outputs == ([PICTURE] if shown else [])


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        (new_code_cell("f()", outputs=[PICTURE], metadata=marked("")), "needs a claim"),
        (new_code_cell("f()", metadata=marked()), "would be empty"),
        (new_markdown_cell("Only prose.", metadata=marked()), "this one has none"),
        (new_markdown_cell("**Your turn.** Why?", metadata=marked("")), "answer in a fold"),
        (
            new_code_cell(
                "x", outputs=[new_output("stream", text="tensor([0.7, 0.3])")], metadata=marked()
            ),
            "only numbers",
        ),
        (
            new_code_cell(
                "x", outputs=[new_output("stream", text="word\n" * 40)], metadata=marked()
            ),
            "more than 16 lines",
        ),
    ],
)
def test_a_mark_that_makes_no_slide_is_reported(cell, message):
    with pytest.raises(ValueError, match=rf"cell {cell.id}: .*{message}"):
        slides(cell)


@pytest.mark.parametrize("path", LECTURES, ids=lambda path: path.stem)
def test_a_lecture_has_about_fifteen_slides_and_its_page_states_the_numbers_of_claims(path):
    page = read_page(path)
    marks = [cell.metadata.get("slideshow", {}) for cell in page.cells]
    slides = ["slide_type" in mark for mark in marks]
    assert 9 <= sum(slides) <= 18
    assert not any(slides[len(list(core(page.cells))) :])
    for claim in filter(None, (mark.get("claim") for mark in marks)):  # slides and captions
        assert re.search(r"[.?]$", claim), f"a claim is a sentence: {claim}"
        for number in re.findall(r"\d[\d,.]*(?<![,.])", claim):
            assert number in page.prose, claim
