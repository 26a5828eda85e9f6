"""The lectures as slides for teaching; they open from a file, offline.

`make slides` (or `python -m course.publishing.slides [NOTEBOOK ...] [--to FOLDER]`) runs each
changed lecture, like the book and into the same FOLDER/executed; then Sphinx and reveal.js make a
deck of each in FOLDER/slides. Press S for the speaker's notes; for a PDF, add `?print-pdf` to the
address and print.

Slides are: a heading with its question, or with its first sentence; each picture, table or view;
each turn of the reader, without its answer; each library function; what to notice, in its first
sentence. All other prose becomes the notes of the slide before it. A cell's metadata can override
this: `{"slideshow": {"slide_type": "skip"}}`, or "slide", which shows the whole cell. Cells outside
the core path are omitted.
"""

import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
from nbformat import NotebookNode

from course.live.pages import without_widgets
from course.publishing import book
from course.publishing.notebooks import core

ASKED = re.compile(r"\*\*(Question|Your turn)\.\*\*")
SHOWN = re.compile(rf"#|- |\d\. |\||\$\$|<img|\*\*After|{ASKED.pattern}")  # begins so
FIRST = re.compile(r"(\*\*[^*]*\*\* ?)?.*?[.?!](?=\s|$)", re.DOTALL)
CHOICE = re.compile(r"<summary>(?:<b>)?(.*?)</summary>")
LINK = re.compile(r"(?<!!)\[(`[^`]*`|[^]]*)\]\((?!https?:)[^)]*\)")  # to another page of the course
SHORT = 12  # lines of printed text that fit below a heading
BREAK = "```{revealjs-break}\n```"


def deck(page: NotebookNode) -> NotebookNode:
    """An executed lecture -> the notebook of its slides, with notes in MyST's comments."""
    cells: list[NotebookNode] = []
    full = False
    for cell in core(page.cells):
        kind = cell.metadata.get("slideshow", {}).get("slide_type")
        if kind == "skip":
            continue
        if cell.cell_type == "markdown" and re.match(r"#{1,3} ", cell.source):
            full = False
        for part in parts(cell, whole=kind == "slide"):
            begins = part.cell_type == "code" or ASKED.match(part.source)
            if full and begins:
                cells.append(nbformat.v4.new_markdown_cell(BREAK))
            full = full or not part.source.startswith(("#", "% ")) or "\n\n" in part.source
            cells.append(part)
    return nbformat.v4.new_notebook(cells=cells, metadata={**page.metadata, "orphan": True})


def parts(cell: NotebookNode, whole: bool) -> Iterator[NotebookNode]:
    """A cell's contribution to the deck."""
    if cell.cell_type == "markdown":
        shown, notes = prose(cell.source) if not whole else (cell.source, "")
        for text in (shown, notes):
            if text:
                yield nbformat.v4.new_markdown_cell(text)
        return
    is_library = "library" in cell.metadata.get("bertlab", {})
    if "proof" in cell.metadata.get("tags", ()) or not (is_library or fit_to_show(cell)):
        return
    cell.metadata["tags"] = [] if is_library or whole else ["remove-input"]
    yield cell


def fit_to_show(cell: NotebookNode) -> bool:
    """Whether the output is a picture, a table, a view or a few lines of text."""
    texts = [
        "".join(output.get("text") or output.get("data", {}).get("text/plain", ""))
        for output in cell.outputs
        if not {"text/html", "image/png"} & set(output.get("data", ()))
    ]
    return bool(cell.outputs) and sum(text.count("\n") + 1 for text in texts) <= SHORT


def prose(text: str) -> tuple[str, str]:
    """A text of the lecture -> the text of its slide, and the notes as a comment of MyST."""
    text = LINK.sub(r"\1", text)
    before, *folded = re.split(r"(?=<details>)", text)
    shown, notes = [], []
    for paragraph in re.split(r"\n{2,}", before.strip()):
        if paragraph.startswith("**What to notice.**"):
            shown.append(first_sentence(paragraph))
        if SHOWN.match(paragraph):
            shown.append(paragraph)
        else:
            notes.append(paragraph)
    if notes and len(shown) == 1 and text.startswith("#"):
        shown.append(first_sentence(notes[0]))
    # The class sees questions and choices; the speaker has the answers.
    choices = [found[1] for part in folded if (found := CHOICE.search(part))]
    shown += [choice if choice[:1].isdigit() else f"- {choice}" for choice in choices]
    return "\n\n".join(shown), comment("\n\n".join(notes + folded))


def first_sentence(text: str) -> str:
    """The first sentence, with the bold words at its start."""
    found = FIRST.match(text)
    return found[0] if found else text


def comment(text: str) -> str:
    """Lines that MyST hides from the page and reveal.js shows to the speaker."""
    plain = re.sub(r"<[^>]+>", "", text).strip()
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
