"""The slides: what the class sees of a lecture, and the speaker's notes."""

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from course.publishing.slides import deck

PICTURE = new_output("display_data", data={"text/html": "<img>", "text/plain": "[Picture]"})
CHOICES = """**Your turn.** How many?

<details><summary>A. One</summary>

No. See [lecture 4](04_attention.ipynb).

</details>
<details><summary>B. Two</summary>

Yes.

</details>"""


def slides(*cells):
    """Each slide as its texts; a code cell is its source, notes begin with %."""
    made = deck(new_notebook(cells=cells))
    nbformat.validate(made)
    pages = [[]]
    for cell in made.cells:
        if "revealjs-break" in cell.source or cell.source.startswith("#"):
            pages.append([])
        if "revealjs-break" not in cell.source:
            pages[-1].append(cell.source)
    return pages[1:]


def printed(text, **metadata):
    return new_code_cell(
        "print(text)", outputs=[new_output("stream", text=text)], metadata=metadata
    )


def test_a_heading_its_question_and_a_picture_are_slides_and_prose_is_notes():
    shown = slides(
        new_markdown_cell("## 1 Why?\n\n**Question.** Why, see [2](#two)?\n\nLong prose, $x$."),
        new_code_cell("draw()", outputs=[PICTURE]),
        new_markdown_cell("**What to notice.** It rises. Much more is said."),
        new_markdown_cell(CHOICES),
    )
    assert shown == [
        ["## 1 Why?\n\n**Question.** Why, see 2?", "% Long prose, $x$."],
        [
            "draw()",
            "**What to notice.** It rises.",
            "% **What to notice.** It rises. Much more is said.",
        ],
        [
            "**Your turn.** How many?\n\n- A. One\n\n- B. Two",
            "% A. One\n% No. See lecture 4.\n% B. Two\n% Yes.",
        ],
    ]


def test_library_code_and_short_outputs_are_shown():
    shown = slides(
        new_markdown_cell("## 1 Code"),
        new_code_cell("import torch"),
        printed("3\n" * 40),
        printed("✓ 2 checks of this section hold", tags=["proof"]),
        printed("42"),
        new_code_cell("def f(): ...", metadata={"bertlab": {"library": "a.f"}}),
    )
    assert shown == [["## 1 Code", "print(text)"], ["def f(): ..."]]
    cells = deck(new_notebook(cells=[printed("42"), printed("7", bertlab={"library": "a"})])).cells
    tags = [cell.metadata.tags for cell in cells if cell.cell_type == "code"]
    assert tags == [["remove-input"], []]


def test_tags_override_the_rule_and_optional_sections_are_omitted():
    skip, whole = ({"slideshow": {"slide_type": kind}} for kind in ("skip", "slide"))
    shown = slides(
        new_markdown_cell("## 1 First"),
        new_code_cell("draw()", outputs=[PICTURE], metadata=skip),
        new_markdown_cell("Prose to read aloud.", metadata=whole),
        new_markdown_cell("## 2 More of it", metadata={"tags": ["further"]}),
        new_markdown_cell("### Even more"),
        new_code_cell("draw()", outputs=[PICTURE]),
        new_markdown_cell("## Recap"),
        new_markdown_cell("## Sources\n\n- a book"),
    )
    assert shown == [["## 1 First", "Prose to read aloud."], ["## Recap"]]
