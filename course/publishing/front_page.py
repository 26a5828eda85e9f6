"""The book's first page: the road through BERT with a live model, then the lectures."""

import json

from nbformat import NotebookNode

from bertlab.model.pretrained import BERTLAB_MINI
from bertlab.viz.frames import read_asset
from course.live.tours import tour

# The station of the tour -> the lecture that builds what it shows.
BUILT_IN = {
    "pieces": "02_bytes_and_wordpiece",
    "vectors": "03_static_to_contextual",
    "attention": "04_attention",
    "stack": "06_bert",
    "guess": "07_objectives",
}
IN_JAVASCRIPT = "bert_in_javascript"  # a page
INDEX = """# How do I really understand BERT?

Follow one sentence through a small BERT, which this course has trained. It runs here, in your
browser; nothing is sent anywhere. Of the words that were hidden in texts new to it, it guessed
{right} % right, and {top5} % were among its five best guesses.

`````{{raw}} html
{tour}
`````

[All of this model]({code}.md) is one file of JavaScript. What you have seen, the
lectures build step by step in Python.

## The lectures

With all that their code printed and drew. The pictures that react to a click do so here, too; what
computes again needs Python behind it. To run the code and to change it, open the lectures in
JupyterLab: the course's `README.md` says how.

{summaries}

**[Glossary](glossary.md)**: what each term means, and which lecture builds it

**[BERT in JavaScript]({code}.md)**: the model of this page, function by function

**[Sources and licences](sources.md)**

**[Reference](bertlab.rst)**: the library's functions and classes

```{{toctree}}
:hidden:

{names}
glossary
{code}
sources
bertlab
```
"""
CODE_PAGE = """# BERT in {lines} lines of JavaScript

The model of [the first page](index.md), as it is: it reads the published weights and vocabulary,
and needs no library. A test compares it with PyTorch: on 2,000 texts of many languages the ids are
equal, and on 200 sentences the five best guesses are the same, with hidden states within a
thousandth.

```javascript
{code}```
"""


def index(pages: dict[str, NotebookNode]) -> str:
    """The first page: the tour, title and opening of every lecture, and their order."""
    summaries = []
    for name, page in pages.items():
        title, *paragraphs = page.cells[0].source.split("\n\n")
        summaries.append(f"**[{title[2:]}]({name}.ipynb)**")
        summaries += [text for text in paragraphs[:1] if not text.startswith("**")]
    measured = json.loads((BERTLAB_MINI / "evaluation.json").read_text(encoding="utf-8"))
    return INDEX.format(
        tour=tour({station: link(name, pages) for station, name in BUILT_IN.items()}),
        summaries="\n\n".join(summaries),
        names="\n".join(pages),
        code=IN_JAVASCRIPT,
        right=round(100 * measured["mlm_accuracy"]),
        top5=round(100 * measured["mlm_top5"]),
    )


def link(name: str, pages: dict[str, NotebookNode]) -> str:
    """HTML that leads to a lecture, or nothing if the book lacks it."""
    if name not in pages:
        return ""
    number = name.split("_")[0].lstrip("0")
    return f'<a href="{name}.html">Lecture {number} builds it.</a>'


def code_page() -> str:
    """The JavaScript that runs on the first page."""
    code = read_asset("bert.js", "course.live")
    return CODE_PAGE.format(lines=code.count("\n"), code=code)
