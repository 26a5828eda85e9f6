"""The book's first page: a tour of BERT with a live model, then the lectures."""

import json

from nbformat import NotebookNode

from bertlab.model.pretrained import BERTLAB_MINI
from bertlab.viz.frames import read_asset
from course.live.tours import tour

# The station of the tour -> the lecture that builds this part.
BUILT_IN = {
    "pieces": "02_bytes_and_wordpiece",
    "vectors": "03_static_to_contextual",
    "attention": "04_attention",
    "stack": "06_bert",
    "guess": "07_objectives",
}
IN_JAVASCRIPT = "bert_in_javascript"  # a page
INDEX = """# How do I really understand BERT?

Follow one sentence through a small BERT, which was trained for this course. It runs in your
browser; nothing is sent anywhere. On held-out texts its first prediction for a masked word is right
in {right} % of the cases, and the word is among its first five in {top5} %.

`````{{raw}} html
{tour}
`````

[The whole model]({code}.md) is one file of JavaScript. The lectures build the same
model step by step in Python.

## The lectures

The lectures are shown with all outputs of their code. Interactive pictures work here, too, except
those that compute with Python. To run the code and to change it, open the lectures in JupyterLab:
the course's `README.md` says how.

{summaries}

**[Glossary](glossary.md)**: the meaning of each term, and the lecture that introduces it

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

The code of the model on [the first page](index.md): it reads the published weights and vocabulary,
and needs no library. A test compares it with PyTorch: on 2,000 texts in many languages the ids are
equal, and on 200 sentences the five most probable words are the same and the hidden states differ
by less than 0.001.

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
    """An HTML link to a lecture, or "" if it is not in the book."""
    if name not in pages:
        return ""
    number = name.split("_")[0].lstrip("0")
    return f'<a href="{name}.html">Lecture {number} builds it.</a>'


def code_page() -> str:
    """The JavaScript that runs on the first page."""
    code = read_asset("bert.js", "course.live")
    return CODE_PAGE.format(lines=code.count("\n"), code=code)
