"""Mentions: Wikipedia's links, as spans of clean sentences.

They need no annotation: the markup `[[Ada Lovelace|Ada]]` means that these three letters name
something. But authors link a thing where an article first names it, and rarely again. So a name
without a link may be a mention as well; a model trained on this data learns "linked here", and no
tagger can find all links.
"""

import re
from typing import NamedTuple

from bertlab.data.clean import LINK, NOT_PROSE_LINKS, clean_wikitext, split_sentences, tidy
from bertlab.data.corpora import kept, wikipedia_markup
from bertlab.finetuning.tagging import Span
from bertlab.tokenizers.words import word_spans

LABEL = "LINK"
READING = 1  # raise when this module or `clean.py` changes the result
# Around a link's text during cleaning: from Unicode's private use area, so no text of an
# encyclopedia contains them, and no rule of the cleaning matches them.
OPENS, CLOSES = "\ue000", "\ue001"
MARKS = re.compile(f"[{OPENS}{CLOSES}]")
TRAIL = re.compile("[a-z]+")  # [[bus]]es: lower-case letters that follow are part of the link


class Marked(NamedTuple):
    """A text and its marked spans, from left to right, without overlaps."""

    text: str
    spans: tuple[Span, ...]


def mentions() -> list[list[Marked]]:
    """The sentences of Wikipedia with links, and the links' spans: one list per article.

    The sentences are exactly those of `documents("wikipedia")`; articles without a link are
    omitted. Spans consist of whole words. `bertlab.data.split` splits the articles.

    Raises DataError if Wikipedia has not been fetched.
    """
    rows = kept(
        f"wikipedia-mentions-{READING}",
        lambda: [article for article in map(marked_sentences, wikipedia_markup()) if article],
    )
    return [[Marked(text, tuple(map(tuple, spans))) for text, spans in article] for article in rows]


def marked_sentences(markup: str) -> list[Marked]:
    """The sentences of one article's wiki markup that contain a link, with the links' spans.

    >>> sentence, = marked_sentences("She drives [[Bus|bus]]es through [[London]] all day long.")
    >>> sentence.text, sentence.spans
    ('She drives buses through London all day long.', ((11, 16, 'LINK'), (25, 31, 'LINK')))
    """
    found = []
    for paragraph in clean_wikitext(mark_links(markup)):
        text, spans = take_marks(paragraph)
        if text == tidy(text):  # otherwise a mark has disturbed the cleaning
            found += [sentence for sentence in cut_sentences(text, spans) if sentence.spans]
    return found


def mark_links(markup: str) -> str:
    """Wiki markup with a mark before and after the text of every link to an article."""
    return LINK.sub(_mark_link, MARKS.sub("", markup))


def _mark_link(link: re.Match) -> str:
    title, text = link.groups()
    shown = title if text is None else text
    inside = shown.strip()
    if not inside or NOT_PROSE_LINKS.match(title):
        return link[0]
    return f"[[{title}|{shown.replace(inside, f'{OPENS}{inside}{CLOSES}')}]]"


def take_marks(marked: str) -> tuple[str, list[Span]]:
    """A cleaned text without the marks, and the spans between them.

    White space inside a mark is not part of the span, a link's trail is.

    >>> take_marks("by \ue000 night \ue001, \ue000bus\ue001es run")
    ('by  night , buses run', [(4, 9, 'LINK'), (12, 17, 'LINK')])
    """
    text, spans, start, end = "", [], 0, 0
    for mark in MARKS.finditer(marked):
        text += marked[end : mark.start()]
        end = mark.end()
        if mark.group() == OPENS:
            start = len(text)
        else:
            inside = text[start:]
            spans.append((len(text) - len(inside.lstrip()), start + len(inside.rstrip())))
    text += marked[end:]
    return text, [
        (start, trail.end() if (trail := TRAIL.match(text, end)) else end, LABEL)
        for start, end in spans
        if start < end
    ]


def cut_sentences(text: str, spans: list[Span]) -> list[Marked]:
    """A paragraph as sentences, each with its own spans, counted from its first character.

    A sentence with a span that cuts a word, or that extends into another sentence, is omitted.
    """
    sentences, end = [], 0
    for sentence in split_sentences([text]):
        start = text.index(sentence, end)
        end = start + len(sentence)
        own = [(a - start, b - start, label) for a, b, label in spans if a < end and start < b]
        words = list(word_spans(sentence))
        starts, ends = {word[0] for word in words}, {word[1] for word in words}
        if all(a in starts and b in ends for a, b, _ in own):
            sentences.append(Marked(sentence, tuple(own)))
    return sentences
