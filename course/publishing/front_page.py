"""The book's first page: a tour of BERT with a live model, then the lectures."""

import json

from nbformat import NotebookNode

from bertlab.model.pretrained import BERTLAB_MINI
from bertlab.viz.frames import read_asset
from course.live.stored import Example
from course.live.tours import tour
from course.publishing.launch import web_address

# The station of the tour -> the lecture that builds this part.
BUILT_IN = {
    "pieces": "02_bytes_and_wordpiece",
    "vectors": "03_static_to_contextual",
    "attention": "04_attention",
    "stack": "06_bert",
    "guess": "07_objectives",
}
IN_JAVASCRIPT = "bert_in_javascript"  # a page
EXAMPLES = (
    Example(
        "a plural",
        "The king's sons [MASK] brave.",
        "The model says {word}, {share}. Only one piece, ##s, makes the king's sons several: at "
        "[MASK], head 0 of layer 1 collects from it. Compare the singular.",
    ),
    Example(
        "its singular",
        "The king's son [MASK] brave.",
        "Without the piece ##s the model says {word}, {share}.",
    ),
    Example(
        "a verb",
        "The wolf lay down and [MASK] asleep.",
        "The model says {word}, {share}. What decides, <em>asleep</em>, stands after the mask: "
        "BERT reads in both directions.",
    ),
    Example(
        "a name",
        "Abraham [MASK] was elected president.",
        "The model says {word}, {share}. The first name is no entry of the vocabulary: the model "
        "knows it as three pieces.",
    ),
    Example(
        "a river bank",
        "The fish went from the bank into the [MASK].",
        "A <em>bank</em> from which a fish goes: the model says {word}, {share}.",
    ),
    Example(
        "a money bank",
        "The money went from the bank into the [MASK].",
        "Only one word differs, and it is another <em>bank</em>: the model says {word}, {share}.",
    ),
    Example(
        "a noun between",
        "The children of the king [MASK] happy.",
        "The model says {word}, {share}. The verb should agree with <em>children</em>, but the "
        "noun before it is <em>king</em>.",
        wrong=True,
    ),
    Example(
        "a fact",
        "Rome is the capital of [MASK].",
        "The model says {word}, {share}: it read few texts, many of them by presidents of the "
        "United States.",
        wrong=True,
    ),
    Example(
        "wrong and sure",
        "A year has twelve [MASK].",
        "The model says {word}, {share}: a probability says how sure a model is, not that it is "
        "right.",
        wrong=True,
    ),
)
MEASURED = (
    "On held-out texts the first prediction is right {right} % of the time, and the word is among "
    "the first five {top5} % of the time. "
)
INDEX = """# How do I really understand BERT?

You build BERT from nothing, in Python: from the first character to the last gradient, in small
steps that you run and change. The BERT below was trained with the course's own code; point at a
piece of its sentence, and arcs show from where each head collects. It runs in your browser and is
often wrong, so choose a sentence, or type one.

**[Begin: {first}]({first_name}.ipynb)** · **[Read the code of this BERT]({code}.md)**{repository}

`````{{raw}} html
{tour}
`````

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
    """The first page: the tour, title and opening of every lecture, and their order.

    The environment variable REPOSITORY adds a link to the course's code, as in `make launch`.
    """
    summaries = []
    for name, page in pages.items():
        title, *paragraphs = page.cells[0].source.split("\n\n")
        summaries.append(f"**[{title[2:]}]({name}.ipynb)**")
        summaries += [text for text in paragraphs[:1] if not text.startswith("**")]
    first_name, *_ = pages
    measured = json.loads((BERTLAB_MINI / "evaluation.json").read_text(encoding="utf-8"))
    links = {station: link(name, pages) for station, name in BUILT_IN.items()}
    right, top5 = (round(100 * measured[name]) for name in ("mlm_accuracy", "mlm_top5"))
    links["guess"] = MEASURED.format(right=right, top5=top5) + links["guess"]
    repository = web_address("REPOSITORY")
    return INDEX.format(
        tour=tour(links, EXAMPLES),
        first=pages[first_name].cells[0].source.split("\n")[0].removeprefix("# "),
        first_name=first_name,
        summaries="\n\n".join(summaries),
        names="\n".join(pages),
        code=IN_JAVASCRIPT,
        repository=f" · **[All code of the course]({repository})**" if repository else "",
    )


def link(name: str, pages: dict[str, NotebookNode]) -> str:
    """An HTML link to a lecture, or "" if it is not in the book."""
    if name not in pages:
        return ""
    number = name.split("_")[0].lstrip("0")
    return f'<a href="{name}.html">You build this in lecture {number}.</a>'


def code_page() -> str:
    """The JavaScript that runs on the first page."""
    code = read_asset("bert.js", "course.live")
    return CODE_PAGE.format(lines=code.count("\n"), code=code)
