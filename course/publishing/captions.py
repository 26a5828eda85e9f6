"""Figures of the book: each picture and view of a lecture gets its number and a caption.

The caption is the cell's claim (`{"slideshow": {"claim": ...}}`), which is also the heading if the
cell is a slide; else what the figure says of itself: the beginning of its alt text, or the title of
a view.
"""

import html
import re

import nbformat

# The words in a frame's place; a blank, for the reader's turn, is no figure.
VIEW = re.compile(r'<p class="bertlab-alt"><em>(?!Your turn)(.*?)</em>(.*?)</p>', re.DOTALL)
SHORT = 12  # characters: such a sentence, "Attention.", is followed by the next one
PICTURE = re.compile(r'<img alt="([^"]*)"')
# Our generated alt texts: the kind, what is drawn, then its numbers.
KIND = re.compile(
    r"^(?:Bars|Lines|A heat map of \d+ by \d+), ((?:[^:(]|\([^)]*\))*): .*", re.DOTALL
)


def with_captions(page: nbformat.NotebookNode, lecture: str) -> nbformat.NotebookNode:
    """Number the figures among a page's outputs, as 4.1, 4.2, ..., and put captions under them.

    lecture: the name of its file, such as "04_attention".
    """
    chapter = lecture.split("_")[0].lstrip("0") or "0"
    number = 0
    for cell in page.cells:
        claim = cell.metadata.get("slideshow", {}).get("claim", "")
        for output in cell.get("outputs", ()):
            shown = output.get("data", {}).get("text/html", "")
            if says := description(shown):
                number += 1
                caption, claim = as_html(claim) or says, ""  # a second figure has its own words
                output.data["text/html"] = (
                    f'<figure class="numbered" id="figure-{chapter}.{number}">{shown}<figcaption>'
                    f"<b>Figure {chapter}.{number}.</b> {caption}</figcaption></figure>"
                )
    return page


def description(shown: str) -> str:
    """What a figure says of itself, as HTML; "" if the output is no figure.

    >>> description('<img alt="Bars, loss by step: 0 3.1, 9 2.5.">')
    'Loss by step.'
    >>> description('<img alt="Bars, share right (chance: 0.5) by step: 0 0.4, 9 0.8.">')
    'Share right (chance: 0.5) by step.'
    >>> description('<img alt="Head 1.1: it looks back. A heat map of 3 by 3.">')
    'Head 1.1: it looks back.'
    >>> description('<p class="bertlab-alt"><em>Head view.</em> Lines join tokens. A line ...</p>')
    'Head view. Lines join tokens.'
    """
    if view := VIEW.search(shown):
        words = f"{view[1]}{view[2]}"
    elif "<iframe" not in shown and (picture := PICTURE.search(shown)):
        words = KIND.sub(r"\1", picture[1])
        words = words[:1].upper() + words[1:]
    else:
        return ""
    first, *more = re.split(r"(?<=[.?!])\s+", words)
    words = " ".join([first, *more[:1]]) if len(first) < SHORT else first
    return words if words.endswith((".", "?", "!")) else f"{words}."


def as_html(claim: str) -> str:
    """A claim's code, emphasis and maths, for the page.

    >>> as_html("`q` has *d* numbers: $q_1 < 2$")
    '<code>q</code> has <em>d</em> numbers: <span class="math">\\\\(q_1 &lt; 2\\\\)</span>'
    """
    text = html.escape(claim, quote=False)
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", text)
    text = re.sub(r"\$([^$]+)\$", r'<span class="math">\\(\1\\)</span>', text)
    return re.sub(r"\*\*?([^*]+)\*\*?", r"<em>\1</em>", text)
