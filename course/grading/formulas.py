"""nbconvert's Markdown with formulas as MathML, which browsers draw without scripts.

A feedback page is a single file, because the exchange distributes no others. MathJax in each would
be 1.2 MB without its fonts, so 16 GB for a thousand students and fourteen exercises, and the page
would have to allow scripts.
"""

import re

from docutils.utils.math.latex2mathml import tex2mathml
from nbconvert.filters.markdown_mistune import HTMLRenderer, IPythonRenderer

from course.grading.safe_html import MOST_TAGS

LONGEST = 2_000  # characters of a formula
# Environments whose rows are aligned by docutils itself.
ROWS = ("align", "eqnarray", "equation", "gather")
# Replacements for what docutils does not know: `\frac12`, `\dots`, the size of `\big(`.
REWRITTEN = (
    (re.compile(r"(\\[dt]?frac) *(\d) *([0-9a-z])"), r"\1{\2}{\3}"),
    (re.compile(r"\\dots(?![A-Za-z])"), r"\\ldots"),
    (re.compile(r"\\[bB]igg?(?![A-Za-z])"), ""),
)


class Renderer(IPythonRenderer):
    """Beyond the limits, TeX is shown as text, and so are links."""

    left = MOST_TAGS // 2  # tags, of all formulas of a text
    left_of_links = 200_000  # characters: a definition may be used any number of times

    block_code = HTMLRenderer.block_code  # without colours, which need a class and many tags

    def link(self, text: str, url: str, title: str | None = None) -> str:
        """`[text](url "title")`, and `[text]` with a definition elsewhere."""
        self.left_of_links -= len(url) + len(title or "")
        return super().link(text, url, title) if self.left_of_links > 0 else text

    def image(self, text: str, url: str, title: str | None = None) -> str:
        """`![text](url "title")`; `clean_html` inserts attached ones."""
        self.left_of_links -= len(url) + len(title or "")
        return HTMLRenderer.image(self, text, url, title) if self.left_of_links > 0 else text

    def inline_math(self, body: str) -> str:
        """`$...$` in a line."""
        return self._formula(body) or super().inline_math(body)

    def block_math(self, body: str) -> str:
        """`$$...$$`."""
        return self._formula(body, block=True) or super().block_math(body)

    def latex_environment(self, name: str, body: str) -> str:
        r"""`\begin{name}...\end{name}`, without dollars."""
        whole = f"\\begin{{{name}}}{body}\\end{{{name}}}"
        made = self._formula(body if name.rstrip("*") in ROWS else whole, block=True)
        return made or super().latex_environment(name, body)

    def _formula(self, tex: str, block: bool = False) -> str:
        made = mathml(tex, block) if self.left > 0 else ""
        self.left -= made.count("<")
        return made if self.left > 0 else ""


def mathml(tex: str, block: bool = False) -> str:
    r"""The formula as MathML, on a line of its own if `block`; "" if docutils cannot parse it.

    >>> "<mfrac>" in mathml(r"\frac12")
    True
    """
    if len(tex) > LONGEST:
        return ""
    for pattern, known in REWRITTEN:
        tex = pattern.sub(known, tex)
    try:
        made = tex2mathml(tex.strip(), block)
        return re.sub(r"\n +", "\n", made)  # its indentation is quadratic in the depth
    except Exception:  # a MathError, or any other error of docutils
        return ""
