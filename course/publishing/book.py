"""The lectures as a book: a static site with their outputs, which opens from a file, offline.

`make book` (or `python -m course.publishing.book [NOTEBOOK ...] [--to FOLDER]`) has two steps.
Every lecture is run as in `course.publishing.lectures`, without a network, and kept in
FOLDER/executed together with a digest of its sources: an unchanged one is not run again. Then
Sphinx makes the pages in FOLDER/site, with the library's reference (`course.publishing.reference`)
after the lectures; its settings are in `book_pages` here.
"""

import argparse
import hashlib
import importlib.metadata
import platform
import re
import shutil
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
from nbformat.v4 import new_markdown_cell

from bertlab._console import print_on_any_console
from bertlab._files import write_atomically
from course import ROOT
from course.live import tours
from course.live.pages import without_widgets
from course.publishing import front_page, lectures, reference
from course.publishing.captions import with_captions
from course.publishing.notebooks import FOLDED, GOALS

SETTINGS = ROOT / "course" / "publishing" / "book_pages"
# The lectures' imports; a change of any of them makes every lecture run again.
ROOMS = (
    *("experiments", "feedback", "live", "models", "toyworld", "widgets"),
    *("fitting.py", "mine.py", "own_bert.py"),
)
CODE = (ROOT / "bertlab", *(ROOT / "course" / room for room in ROOMS))
BESIDE = ("glossary.md", "sources.md")  # pages of `lectures` that are not notebooks
Writer = Callable[[Sequence[Path], Path], Path]  # of executed lectures, into a folder
EMBLEM = "emblem"  # the id of a lecture's cell with the drawn BERT
OF_BUDGET = 0.3  # what the lectures take of their budgets, measured, all together


def write_site(executed: Sequence[Path], to: Path) -> Path:
    """Make pages of executed notebooks; the new site then replaces the old one."""
    with TemporaryDirectory(dir=to, prefix=".writing-") as room:
        source = Path(room)
        pages = {path.stem: nbformat.read(path, as_version=4) for path in executed}
        terms = meanings((ROOT / "lectures" / "glossary.md").read_text(encoding="utf-8"))
        for name, page in pages.items():
            page = reference.with_links(opened(folded(without_widgets(page))))
            page = with_captions(linked(page, terms, pages), name)
            nbformat.write(page, source / f"{name}.ipynb")
        reference.write_pages(source)
        for name in BESIDE:
            text = (ROOT / "lectures" / name).read_text(encoding="utf-8")
            (source / name).write_text(for_sphinx(text), encoding="utf-8")
        (source / "index.md").write_text(front_page.index(pages), encoding="utf-8")
        code_page = source / f"{front_page.IN_JAVASCRIPT}.md"
        code_page.write_text(front_page.code_page(), encoding="utf-8")
        first = run_sphinx(source, to / "site", "html")
    write_atomically(first.with_name(tours.WEIGHTS), tours.packed_weights())
    return first


def run_sphinx(source: Path, to: Path, builder: str) -> Path:
    """Make pages of a folder of sources, inside it; then they replace `to`.

    Returns the first page. Raises RuntimeError if Sphinx fails.
    """
    from sphinx.cmd.build import build_main

    made = source / "made"
    settings = ["-q", "-b", builder, "-c", str(SETTINGS), "-d", str(source / "doctrees")]
    if build_main([*settings, str(source), str(made)]):
        raise RuntimeError("Sphinx could not make the pages; see its messages above")
    shutil.rmtree(to, ignore_errors=True)
    made.rename(to)
    return to / "index.html"


def make_book(
    notebooks: Sequence[Path],
    to: Path,
    code: Sequence[Path] = CODE,
    write: Writer = write_site,
) -> Path:
    """Run changed lectures, then write the site, or the output of `write`; returns its first page.

    notebooks: the lectures in order, each with a budget in its metadata; to: the folder for
    executed notebooks and site, created if it is missing; code: the folders that they import.

    Raises ValueError if two notebooks share a name, and RuntimeError, after all have been run, if
    one of them failed: the message names each with its fault, and an older site is kept.
    """
    names = [path.name for path in notebooks]
    if not names or len(set(names)) < len(names):
        raise ValueError(f"make_book: notebooks must have names of their own; got {names}")
    folder = to / "executed"
    folder.mkdir(parents=True, exist_ok=True)
    faults = refresh_all(notebooks, folder, code)
    told = [f"{name} failed:\n{fault.strip()}" for name, fault in faults.items() if fault]
    if told:
        raise RuntimeError("\n\n".join(told))
    return write([folder / name for name in names], to)


def refresh_all(
    notebooks: Sequence[Path], folder: Path, code: Sequence[Path] = CODE
) -> dict[str, str]:
    """Refresh the notebooks, `lectures.CORES` at a time; returns name -> fault.

    Those with the longest time limits are started first, so that none runs alone at the end.
    """

    def allowed(path: Path) -> float:
        return nbformat.read(path, as_version=4).metadata["bertlab"]["budget"]["seconds"]

    order = sorted(notebooks, key=allowed, reverse=True)
    if stale := [p for p in order if not is_fresh(folder / p.name, digest(p, code))]:
        minutes = OF_BUDGET * sum(map(allowed, stale)) / 60
        print(
            f"{len(stale)} of {len(order)} lectures to run, {lectures.CORES} at a time: about "
            f"{minutes:.0f} minutes on idle cores",
            flush=True,
        )
    with ThreadPoolExecutor(lectures.CORES) as pool:
        runs = {path.stem: pool.submit(refresh, path, folder, code) for path in order}
    return {path.stem: runs[path.stem].result() for path in notebooks}


def is_fresh(kept: Path, made_from: str) -> bool:
    """Whether an executed notebook is there and was made from what this digest stands for."""
    return kept.exists() and nbformat.read(kept, 4).metadata.get("made_from") == made_from


def refresh(path: Path, folder: Path, code: Sequence[Path] = CODE) -> str:
    """Run a notebook unless `folder` has its current version; returns its fault, "" if none."""
    kept, made_from = folder / path.name, digest(path, code)
    if is_fresh(kept, made_from):
        print(f"{path.stem:28}unchanged since it was run", flush=True)
        return ""
    print(f"{path.stem:28}running ...", flush=True)
    with TemporaryDirectory(dir=folder, prefix=".running-") as room:
        new = Path(room) / path.name
        done = lectures.run(path.resolve(), keep=new)
        print(done, flush=True)
        if not new.exists():
            return done.fault or "it left no outputs"
        notebook = nbformat.read(new, as_version=4)  # the budget does not matter here
    notebook.metadata["made_from"] = made_from
    write_atomically(kept, nbformat.writes(notebook))
    return ""


def digest(path: Path, code: Sequence[Path] = CODE) -> str:
    """A hexadecimal number that changes with the notebook, the code or Python."""
    versions = f"{platform.python_version()} {importlib.metadata.version('torch')}"
    seen = hashlib.sha256(versions.encode())
    parts = (part for place in code for part in (place, *place.rglob("*")) if part.is_file())
    for part in [path, *sorted(part for part in parts if "__pycache__" not in part.parts)]:
        seen.update(part.name.encode() + hashlib.sha256(part.read_bytes()).digest())
    return seen.hexdigest()


def for_sphinx(text: str) -> str:
    """A page with one address per heading, and with links from library names to the reference.

    >>> for_sphinx('### <a id="gelu"></a>GELU: `bertlab.model.layers.gelu`')
    '### GELU: [`bertlab.model.layers.gelu`](#bertlab.model.layers.gelu)'
    """
    text = re.sub(r'<a id="[^"]*"></a>', "", text)  # JupyterLab needs them
    return re.sub(r"`((?:bertlab|course\.(?:experiments|models))\.[\w.]+)`", r"[`\1`](#\1)", text)


def linked(
    page: nbformat.NotebookNode, terms: Mapping[str, str], pages: Collection[str]
) -> nbformat.NotebookNode:
    """Explain the terms of a page's texts, and lead its outputs' links to pages of the book."""
    for cell in page.cells:
        if cell.cell_type == "markdown":
            cell.source = explained(cell.source, terms)
        for output in cell.get("outputs", ()):
            if "text/html" in output.get("data", {}):
                output.data["text/html"] = to_pages(output.data["text/html"], pages)
    return page


def meanings(glossary: str) -> dict[str, str]:
    """What each term of the glossary means, by its heading's address; of a formula only a …."""
    entry = re.compile(r'^### (?:<a id="(.*)"></a>)?(.*)\n\n(.*?) Lecture \[', re.MULTILINE)
    formula, link = re.compile(r"\$[^$]*\\[^$]*\$"), re.compile(r"\[([^]]*)\]\([^)]*\)")
    return {
        address or term.replace(" ", "-"): re.sub(
            r'[*`$"]', "", link.sub(r"\1", formula.sub("…", text))
        )
        for address, term, text in entry.findall(glossary)
    }


def explained(text: str, terms: Mapping[str, str]) -> str:
    """Markdown whose links to the glossary say on hover what the term means.

    >>> explained("[act](glossary.md#gelu)", {"gelu": "Smooth."})
    '[act](glossary.md#gelu "Smooth.")'
    """

    def link(found: re.Match) -> str:
        return f'{found[1]} "{terms[found[2]]}")' if found[2] in terms else found[0]

    return re.sub(r"(\]\(glossary\.md#([^)\s]+))\)", link, text)


def to_pages(html: str, pages: Collection[str]) -> str:
    """A cell's output whose links to notebooks lead to pages; where there is none, only the text.

    >>> to_pages('<a href="04_attention.ipynb#cell-id=why">Why</a>', {"04_attention"})
    '<a href="04_attention.html">Why</a>'
    >>> to_pages('<a href="../exercises/ex01_bpe/ex01_bpe.ipynb">Exercise 1</a>', {"04_attention"})
    'Exercise 1'
    """

    def page(link: re.Match) -> str:
        return f'<a href="{link[1]}.html">{link[2]}</a>' if link[1] in pages else link[2]

    return re.sub(r'<a href="([^"]*)\.ipynb(?:#[^"]*)?">(.*?)</a>', page, html)


def folded(page: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Fold the imports, and the cells that are folded in JupyterLab.

    Of a proof only its last line is visible.
    """
    first = next((cell.id for cell in page.cells if cell.cell_type == "code"), "")
    for cell in page.cells:
        tags = FOLDED.intersection(cell.metadata.get("tags", ()))
        imports = cell.id == first and re.match("from |import ", cell.source) and not cell.outputs
        if tags or imports:
            line = "The imports" if imports else "The code"
            if "proof" in tags:
                line = "".join(output.get("text", "") for output in cell.outputs).strip()
                cell.outputs = []
            cell.metadata["tags"] = ["hide-input"]
            cell.metadata["mystnb"] = {"code_prompt_show": line, "code_prompt_hide": line}
    return page


def opened(page: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Put the drawn BERT, without its code, between what a lecture shows and its goals."""
    title, *others = page.cells
    emblem = next((cell for cell in others if cell.id == EMBLEM), None)
    if emblem is None or GOALS not in title.source:
        return page
    emblem.metadata["tags"] = ["remove-input"]
    title.source, goals = title.source.split(GOALS)
    others.remove(emblem)
    page.cells = [title, emblem, new_markdown_cell(GOALS + goals), *others]
    return page


def main(
    arguments: Sequence[str],
    command: str = "course.publishing.book",
    about: str = __doc__,
    write: Writer = write_site,
) -> int:
    """Make a book, or the output of `write`, of some notebooks or all; 1 if a lecture failed."""
    print_on_any_console()
    parser = argparse.ArgumentParser(prog=command, description=about.splitlines()[0])
    parser.add_argument("notebook", nargs="*", type=Path, help="all lectures if there is none")
    parser.add_argument("--to", type=Path, default=ROOT / "book", help="folder (default: book)")
    asked = parser.parse_args(arguments)
    missing = [str(path) for path in asked.notebook if not path.is_file()]
    if missing:
        parser.error(f"no such notebook: {', '.join(missing)}")
    try:
        first = make_book(
            asked.notebook or sorted(ROOT.glob("lectures/*.ipynb")), asked.to, write=write
        )
    except (RuntimeError, ValueError) as error:
        print(f"\n{error}", file=sys.stderr)
        return 1
    print(f"Ready: open {first.resolve().as_uri()}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
