"""Sanitise students' HTML, for stored outputs and for pages.

nbconvert's own cleaning would be enough for pages, but it shows paragraphs, headings and pictures
as text. Two functions here replace its filters in nbgrader_config.py and keep what a notebook
needs; `nh3` (the Rust library Ammonia) does the work.

The formgrader finds a score's box by `id` and its buttons by `class`, so students' HTML has
neither, nor has it a `name`.
"""

import re
from collections.abc import MutableMapping, Sequence
from functools import partial
from html import escape
from html.parser import HTMLParser
from typing import Any
from urllib.parse import unquote

import nh3
from jinja2 import pass_context
from jinja2.runtime import Context

# Whose end tag is needed: until then, HTML opens them again in each block that follows.
REOPENED = {"a", "b", "code", "em", "i", "s", "small", "strong", "u"}
MATHML = {  # as written by `course.grading.formulas`
    *("math", "menclose", "mfrac", "mi", "mn", "mo", "mover", "mphantom", "mroot", "mrow"),
    *("mspace", "msqrt", "mstyle", "msub", "msubsup", "msup", "mtable", "mtd", "mtext", "mtr"),
    *("munder", "munderover"),
}
VOID = {"br", "col", "hr", "img"}
IN_LINE = REOPENED | MATHML
IN_LINE |= {"abbr", "br", "del", "img", "ins", "kbd", "mark", "span", "sub", "sup"}
BLOCKS = {
    *("blockquote", "caption", "col", "colgroup", "dd", "details", "div", "dl", "dt"),
    *("figcaption", "figure", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre"),
    *("summary", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul"),
}
TAGS = BLOCKS | IN_LINE
# The tags whose start ends an element without its end tag.
ROWS = {"tr", "tbody", "tfoot", "thead"}
ENDED_BY = {"p": BLOCKS, "li": {"li"}, "dt": {"dd", "dt"}, "dd": {"dd", "dt"}, "tr": ROWS}
ENDED_BY |= dict.fromkeys(("td", "th"), ROWS | {"td", "th"})
ATTRIBUTES = {
    "*": {
        *("align", "aria-label", "dir", "displaystyle", "lang", "scriptlevel", "style", "title"),
    },
    "a": {"href"},
    "details": {"open"},
    "img": {"alt", "height", "src", "width"},
    "math": {"display"},
    "menclose": {"notation"},
    "mfrac": {"linethickness"},
    "mi": {"mathvariant"},
    "mo": {
        *("accent", "form", "lspace", "maxsize", "minsize", "movablelimits", "rspace"),
        *("stretchy", "symmetric"),
    },
    "mover": {"accent"},
    "mspace": {"width"},
    "td": {"colspan", "rowspan"},
    "th": {"colspan", "rowspan", "scope"},
}
# Nothing that could cover the page.
STYLES = {
    *("background", "background-color", "border", "border-radius", "border-collapse", "color"),
    *("display", "font-family", "font-size", "font-style", "font-weight", "height"),
    *("line-height", "margin", "max-width", "min-width", "padding", "text-align"),
    *("vertical-align", "white-space", "width"),
}
# Functions but those of colours may fetch something; a negative length leaves its place.
UNSAFE_STYLE = re.compile(r"\\|(?<!rgb)(?<!rgba)(?<!hsl)(?<!hsla)\(|-[\d.]", re.IGNORECASE)
# Per output or text; the time of nbconvert's Markdown is quadratic in the number of openings.
MOST_TAGS, DEEPEST, MOST_OPENINGS = 5_000, 100, 500
MOST_KB = 500  # of all texts of a page
TOO_MANY = f"<p>[more than {MOST_TAGS:,} tags of HTML: left out]</p>"
# Links open beside the page, which keeps what is typed in it.
BESIDE = ' target="_blank" rel="noopener noreferrer"'
# Python's parser searches the rest of the text for the end of each unfinished tag.
MOST_UNFINISHED, UNFINISHED = 200, re.compile(r"<[^<>]*(?=<)")
OPENINGS = re.compile(r"\\begin|\\\\[\[(]")
PICTURE = re.compile(r"data:image/(png|jpeg|gif|webp|svg\+xml);base64,[A-Za-z0-9+/=\s]*\Z")
Pictures = MutableMapping[str, dict[str, str]]  # a cell's attached ones, by name: kind -> content


def clean_html(html: str | bytes, pictures: Pictures | None = None) -> str:
    """The HTML without scripts, styles that cover the page, forms, frames and external pictures.

    pictures: what `<img src="attachment:NAME">` shows, each once; shown ones are removed from it.

    >>> clean_html('<p onclick="x()">1 <script>x()</script><img src="javascript:x()"></p>')
    '<p>1 <img></p>'
    """
    text = html.decode("utf-8", "replace") if isinstance(html, bytes) else str(html)
    if text.count("<") > MOST_TAGS:
        return TOO_MANY
    if len(UNFINISHED.findall(text)) > MOST_UNFINISHED:
        return f"<p>[more than {MOST_UNFINISHED} unfinished tags of HTML: left out]</p>"
    clean = nh3.clean(
        _Nested().nested(text),
        tags=TAGS,
        attributes=ATTRIBUTES | {"a": {"href", "target", "rel"}},
        attribute_filter=partial(_allowed, {} if pictures is None else pictures),
        url_schemes={"http", "https", "mailto", "data", "attachment"},
        url_relative="deny",  # of the formgrader, for example
        filter_style_properties=STYLES,
        link_rel=None,
    )
    return TOO_MANY if clean.count("<") > MOST_TAGS else clean


class _Nested(HTMLParser):
    """Each element ends inside the one in which it starts; all is in one form.

    A parser of HTML opens `<b>` again in each paragraph up to `</b>`, so 35 kB could become 95 MB,
    in nh3 or in the browser. Here a block ends such elements for good.
    """

    def nested(self, text: str) -> str:
        """The same HTML, whose size is at most some times that of the text."""
        self.parts: list[str] = []
        self.open: list[str] = []
        self.is_code = False
        try:
            self.feed(text)
            self.close()
        except AssertionError:  # Python's, for example of `<![x[`
            return "<p>[HTML that cannot be read: left out]</p>"
        self._close(0)
        return "".join(self.parts)

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        self.is_code = tag in {"script", "style"}
        if tag in BLOCKS:
            self._close(next((n for n, one in enumerate(self.open) if one in REOPENED), None))
            while self.open and tag in ENDED_BY.get(self.open[-1], ()):
                self._close(-1)
        if tag not in TAGS or len(self.open) == DEEPEST:
            return
        allowed = ATTRIBUTES["*"] | ATTRIBUTES.get(tag, set())
        kept = [f' {name}="{escape(value or "")}"' for name, value in attrs if name in allowed]
        kept += [BESIDE] if tag == "a" else []
        self.parts.append(f"<{tag}{''.join(kept)}>")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        self.is_code = False
        if tag in self.open:
            self._close(len(self.open) - 1 - self.open[::-1].index(tag))

    def handle_data(self, data: str) -> None:
        if not self.is_code:
            self.parts.append(escape(data, quote=False))

    def _close(self, first: int | None) -> None:
        """End the open elements from this one on; None: none of them."""
        ended = [] if first is None else self.open[first:]
        del self.open[len(self.open) - len(ended) :]
        self.parts += [f"</{tag}>" for tag in reversed(ended)]


def _allowed(pictures: Pictures, _tag: str, name: str, value: str) -> str | None:
    """nh3 calls this for each remaining attribute."""
    if name == "style":
        return None if UNSAFE_STYLE.search(value) else value
    if name == "src":  # an external picture would reveal to its server who opened the page
        if value.startswith("attachment:"):
            file = value.removeprefix("attachment:")
            forms = pictures.pop(file, None) or pictures.pop(unquote(file), None) or {"": ""}
            (kind, content), *_ = forms.items()
            value = f"data:{kind};base64,{content}"
        return value if PICTURE.match(value) else None
    if name == "href":
        return None if value.strip().lower().startswith(("data:", "attachment:")) else value
    return value


@pass_context
def markdown2html(context: Context | dict[str, Any], source: str) -> str:
    """nbconvert's filter of that name, cleaned, with formulas without scripts."""
    from nbconvert.filters.markdown_mistune import MarkdownWithMath

    from course.grading.formulas import Renderer

    page = context.get("resources", {})  # the same for all texts of a page
    page["kb_of_texts"] = page.get("kb_of_texts", 0) + len(source) / 1000
    if page["kb_of_texts"] > MOST_KB:
        return f"<p>[more than {MOST_KB} kB of texts in one notebook: left out]</p>"
    if len(OPENINGS.findall(source)) > MOST_OPENINGS:
        return f"<p>[more than {MOST_OPENINGS} openings of formulas in one text: left out]</p>"
    pictures = dict(context.get("cell", {}).get("attachments", {}))
    renderer = Renderer(escape=False, exclude_anchor_links=True)
    return clean_html(MarkdownWithMath(renderer=renderer).render(source), pictures)
