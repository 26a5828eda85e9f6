"""Sanitise students' HTML, for stored outputs and for pages.

nbconvert's own cleaning would be enough for pages, but it shows paragraphs, headings and pictures
as text. Two functions here replace its filters in nbgrader_config.py and keep what a notebook
needs; `nh3` (the Rust library Ammonia) does the work.
"""

import re
from functools import partial
from typing import Any
from urllib.parse import unquote

import nh3
from jinja2 import pass_context
from jinja2.runtime import Context

TAGS = {
    *("a", "abbr", "b", "blockquote", "br", "caption", "code", "col", "colgroup", "dd", "del"),
    *("details", "div", "dl", "dt", "em", "figcaption", "figure", "h1", "h2", "h3", "h4", "h5"),
    *("h6", "hr", "i", "img", "ins", "kbd", "li", "mark", "ol", "p", "pre", "s", "small", "span"),
    *("strong", "sub", "summary", "sup", "table", "tbody", "td", "tfoot", "th", "thead", "tr"),
    *("u", "ul"),
    # MathML as written by `course.grading.formulas`.
    *("math", "menclose", "mfrac", "mi", "mn", "mo", "mover", "mphantom", "mroot", "mrow"),
    *("mspace", "msqrt", "mstyle", "msub", "msubsup", "msup", "mtable", "mtd", "mtext", "mtr"),
    *("munder", "munderover"),
}
ATTRIBUTES = {
    "*": {
        *("align", "aria-label", "class", "dir", "displaystyle", "id", "lang", "role"),
        *("scriptlevel", "style", "title"),
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
# Per output or text. nh3's time is quadratic in the nesting depth of tags, that of nbconvert's
# Markdown in the number of started environments.
MOST_TAGS, MOST_ENVIRONMENTS = 5_000, 500
PICTURE = re.compile(r"data:image/(png|jpeg|gif|webp|svg\+xml);base64,[A-Za-z0-9+/=\s]*\Z")


class Attachments(dict):
    """A cell's pictures by name, each by its kind; a missing one is no picture.

    nbconvert raises an error for a missing one, so there would be no page.
    """

    def __contains__(self, _name: object) -> bool:
        return True

    def __missing__(self, name: str) -> dict[str, str]:
        return self.get(unquote(name)) or {"text/plain": ""}


def clean_html(html: str | bytes, pictures: Attachments | None = None) -> str:
    """The HTML without scripts, styles that cover the page, forms, frames and external pictures.

    pictures: attached ones by name, which `<img src="attachment:NAME">` shows.

    >>> clean_html('<p onclick="x()">1 <script>x()</script><img src="javascript:x()"></p>')
    '<p>1 <img></p>'
    """
    text = html.decode("utf-8", "replace") if isinstance(html, bytes) else str(html)
    if text.count("<") > MOST_TAGS:
        return f"<p>[more than {MOST_TAGS:,} tags of HTML: left out]</p>"
    return nh3.clean(
        text,
        tags=TAGS,
        attributes=ATTRIBUTES,
        attribute_filter=partial(_allowed, pictures or Attachments()),
        url_schemes={"http", "https", "mailto", "data", "attachment"},
        filter_style_properties=STYLES,
        link_rel=None,
        strip_comments=True,
    )


def _allowed(pictures: Attachments, _tag: str, name: str, value: str) -> str | None:
    """nh3 calls this for each remaining attribute."""
    if name == "style":
        return None if "url(" in value.lower() else value
    if name == "src":  # an external picture would reveal to its server who opened the page
        if value.startswith("attachment:"):
            (kind, content), *_ = pictures[value.removeprefix("attachment:")].items()
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

    if source.count("\\begin") > MOST_ENVIRONMENTS:
        return f"<p>[more than {MOST_ENVIRONMENTS} \\begin{{...}} in one text: left out]</p>"
    pictures = Attachments(context.get("cell", {}).get("attachments", {}))
    renderer = Renderer(escape=False, attachments=pictures)
    return clean_html(MarkdownWithMath(renderer=renderer).render(source), pictures)
