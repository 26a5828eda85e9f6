"""The lectures as slides for teaching; they open from a file, offline.

`make slides` (or `python -m course.publishing.slides [NOTEBOOK ...] [--to FOLDER]`) runs each
changed lecture, like the book and into the same FOLDER/executed; then Sphinx and reveal.js make a
deck of each in FOLDER/slides. Press S for the speaker's notes; for a PDF, add `?print-pdf` to the
address and print.

A deck opens with the title and the lecture's sentence, then its goals, and closes with the sentence
and the exercise. The other slides, about 15, are chosen by hand, in a cell's metadata (JupyterLab
edits it: Property Inspector, Advanced Tools):

    "slideshow": {"slide_type": "slide", "claim": "The shares of a row sum to one."}

The claim is the heading. Below it stands what the cell puts out; of a cell that shows a function of
the library, the function, if it is short; of a text its formulas, tables, lists and pictures. A
text with **Your turn.** and no claim is a question, and its answer is the next slide. All other
text of the core becomes the notes of the slide before it.
"""

import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

from course.live.pages import without_widgets
from course.publishing import book
from course.publishing.notebooks import GOALS, core

ASKED = re.compile(r"\*\*Your turn\.\*\*\s*([^<]*)")
SHOWN = re.compile(r"- |\d\. |\||\$\$|<img")  # a paragraph of a slide begins so
SENTENCE = re.compile(r"\*\*What this lecture shows\*\* (.*)")
FOLD = re.compile(r"<summary>(?:<b>)?(.*?)(?:</b>)?</summary>(.*)</details>", re.DOTALL)
LINK = re.compile(r"(?<!!)\[(`[^`]*`|[^]]*)\]\((?!https?:)[^)]*\)")  # to another page of the course
LINES = 16  # of code or printed text that fit below a heading


def deck(page: NotebookNode) -> NotebookNode:
    """An executed lecture -> the notebook of its slides, with notes in MyST's comments.

    Raises ValueError, which names the cell, if a marked cell has no claim or nothing to show.
    """
    title, *others = core(page.cells)
    cells = [new_markdown_cell(text) for text in opening(title.source)]
    for cell in others:
        mark = cell.metadata.get("slideshow", {})
        if mark.get("slide_type") == "slide":
            cells += slides(cell, mark.get("claim", ""))
        elif cell.source.startswith("## Recap"):
            cells += map(new_markdown_cell, closing(cell.source))
        elif cell.cell_type == "markdown":
            cells.append(new_markdown_cell(notes(cell.source)))
    return nbformat.v4.new_notebook(cells=cells, metadata={**page.metadata, "orphan": True})


def opening(title: str) -> Iterator[str]:
    """The first two slides: the title with the sentence that the lecture shows, and its goals."""
    name, *paragraphs = paragraphs_of(title)
    sentence = [text for text in paragraphs if SENTENCE.match(text)]
    goals = [text for text in paragraphs if text.startswith("- ")]
    others = [text for text in paragraphs if text not in [*goals, *sentence, GOALS]]
    yield "\n\n".join([name, *(SENTENCE.sub(r"\1", text) for text in sentence)])
    yield notes("\n\n".join(others))
    if goals:
        yield "\n\n".join([f"## {GOALS.strip('*')}", *goals])


def closing(recap: str) -> Iterator[str]:
    """The last slide: the lecture's sentence, the exercise and what comes next."""
    heading, points, *others = paragraphs_of(recap)
    kept = [text for text in others if re.match(r"\*\*(Exercise|Next)", text)]
    yield "\n\n".join([heading, points.splitlines()[0].removeprefix("- "), *kept])
    yield notes("\n\n".join([points, *(text for text in others if text not in kept)]))


def slides(cell: NotebookNode, claim: str) -> Iterator[NotebookNode]:
    """The slides of a marked cell: one, or of a question two."""
    if cell.cell_type == "code":
        if not claim:
            raise ValueError(f"cell {cell.id}: its slide needs a claim, which is the heading")
        yield new_markdown_cell(f"## {claim}")
        yield shown(cell)
    else:
        texts = chosen(cell, claim) if claim else question(cell)
        yield from map(new_markdown_cell, texts)


def chosen(cell: NotebookNode, claim: str) -> Iterator[str]:
    """A claim with what a text shows, and the notes."""
    text, *_folds = cell.source.split("<details>")
    paragraphs = paragraphs_of(text)
    seen = [one for one in paragraphs if SHOWN.match(one)]
    if not seen:
        raise ValueError(
            f"cell {cell.id}: a slide of a text shows its formula, table, list or picture; this "
            "one has none: mark another cell"
        )
    yield "\n\n".join([f"## {claim}", *seen])
    yield notes("\n\n".join(one for one in paragraphs if one not in seen))


def question(cell: NotebookNode) -> Iterator[str]:
    """A question with its choices, then its answer: the right choice, or what the fold says."""
    text, *folds = re.split(r"(?=<details>)", LINK.sub(r"\1", cell.source))
    asked = ASKED.search(text)
    answers = [(found[1], found[2].strip()) for fold in folds if (found := FOLD.search(fold))]
    if not asked or not answers:
        raise ValueError(
            f"cell {cell.id}: a slide without a claim is a question: **Your turn.** with its "
            "answer in a fold of the same cell"
        )
    choices = [choice for choice, _ in answers if re.match(r"[A-Z]\. ", choice)]
    right = [f"**{choice}**\n\n{said}" for choice, said in answers if said.startswith("Yes")]
    yield "\n\n".join(["## Your turn", asked[1].strip(), *(f"- {choice}" for choice in choices)])
    yield notes(text[: asked.start()])
    yield "\n\n".join(["## Answer", *(right or [said for _, said in answers])])
    yield notes("\n\n".join(f"{choice}\n{said}" for choice, said in answers if choices))


def shown(cell: NotebookNode) -> NotebookNode:
    """A marked cell of code as its slide shows it: a short function of the library, or outputs."""
    is_library = "library" in cell.metadata.get("bertlab", {})
    as_code = is_library and cell.source.count("\n") < LINES
    if not as_code:
        texts = [printed(output) for output in cell.outputs]
        if "proof" in cell.metadata.get("tags", ()) or not texts:
            raise ValueError(f"cell {cell.id}: its slide would be empty; mark a cell that shows")
        text = "".join(text for text in texts if text)
        words = re.sub(r"tensor|dtype|torch\.\w+", "", text)
        if None not in texts and not re.search(r"[a-z]{2}", words, re.IGNORECASE):
            raise ValueError(f"cell {cell.id}: its slide would be only numbers; mark a picture")
        if text.count("\n") > LINES:
            raise ValueError(f"cell {cell.id}: it prints more than {LINES} lines for its slide")
    cell.metadata["tags"] = [] if as_code else ["remove-input"]
    if as_code:
        cell.outputs = []  # what an example below the function prints is for the page
    return cell


def printed(output: NotebookNode) -> str | None:
    """An output's text; None if it is a picture, a table or a view."""
    data = output.get("data", {})
    if {"text/html", "image/png", "image/svg+xml"} & set(data):
        return None
    return "".join(output.get("text") or data.get("text/plain", ""))


def paragraphs_of(text: str) -> list[str]:
    """The paragraphs of a text, without links to pages of the course."""
    return re.split(r"\n{2,}", LINK.sub(r"\1", text).strip())


def notes(text: str) -> str:
    """Lines that MyST hides from the page and reveal.js shows to the speaker."""
    plain = re.sub(r"<[^>]+>", "", LINK.sub(r"\1", text)).strip()
    return "\n".join(f"% {line}" for line in re.sub(r"\n{2,}", "\n", plain).splitlines())


def write_slides(executed: Sequence[Path], to: Path) -> Path:
    """Make decks of executed lectures, replacing older ones. Returns the page that lists them."""
    with TemporaryDirectory(dir=to, prefix=".writing-") as room:
        source = Path(room)
        titles = []
        for path in executed:
            page = deck(without_widgets(nbformat.read(path, as_version=4)))
            nbformat.write(page, source / path.name)
            titles.append(f"- [{page.cells[0].source.splitlines()[0][2:]}]({path.name})")
        index = "\n".join(["---", "orphan: true", "---", "# Slides", "", *titles])
        (source / "index.md").write_text(index, encoding="utf-8")
        return book.run_sphinx(source, to / "slides", "revealjs")


if __name__ == "__main__":
    sys.exit(book.main(sys.argv[1:], "course.publishing.slides", __doc__, write_slides))
