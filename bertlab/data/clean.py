"""Raw text to clean sentences: wiki markup, speeches, white space, and the sentence split."""

import html
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain

from bertlab.data.fetching import DataError

# Sections with lists of links and books, not prose; what follows the first one is removed too.
END_SECTIONS = re.compile(
    r"^==+\s*(see also|notes|references|further reading|external links|bibliography|sources|"
    r"citations|footnotes|notes and references|works cited|literature|gallery)\s*==+\s*$",
    re.IGNORECASE | re.MULTILINE,
)
NOT_PROSE_TAGS = ("ref|table|gallery|math|timeline|score|syntaxhighlight|source|pre|code|imagemap|"
                  "hiero|ol|ul|dl|categorytree|graph|inputbox|section|templatedata")  # fmt: skip
NOT_PROSE_LINKS = re.compile(r"^:?\s*[a-z][\w -]{1,30}:", re.IGNORECASE)  # File:, Category:, de:
# References are removed first: one that was not closed would pair with the end of another.
REFERENCE = re.compile(r"<ref[^>/]*/>|<ref[^>]*>.*?</ref>", re.IGNORECASE | re.DOTALL)
LIST_LINE = re.compile(r"^[*#:;].*$", re.MULTILINE)
MARKUP = re.compile(r"[|<>{}]|\[\[|\]\]|==")  # left by all rules: the line is removed
CAPTION = re.compile(r"^(thumb|left|right|frame|upright|\d+px)\b.*\|", re.IGNORECASE)
COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
HIDDEN = re.compile(rf"<({NOT_PROSE_TAGS})\b[^<>]*?(?:/>|>.*?</\1\s*>)", re.IGNORECASE | re.DOTALL)
TAG = re.compile(rf"</?(?!(?:{NOT_PROSE_TAGS})\b)[a-z][a-z0-9]*\b[^<>]*>", re.IGNORECASE)
# Each matches an innermost piece: a link without links, a template without templates. Repeated
# replacement, from the inside out, removes everything that was closed.
LINK = re.compile(r"\[\[([^\[\]|\n]*)(?:\|([^\[\]]*(?:\[[^\[\]]*\][^\[\]]*)*))?\]\]")
TEMPLATE = re.compile(r"\{\{((?:[^{}]|(?<!\{)\{(?!\{)|(?<!\})\}(?!\}))*)\}\}")
TABLE = re.compile(r"^[ \t]*\{\|(?:(?!^[ \t]*\{\|).)*?^[ \t]*\|\}", re.MULTILINE | re.DOTALL)
WEB_LINK = re.compile(r"\[(?:https?:|ftp:|mailto:)?//[^\s\]]+(?:[ \t]+([^\]\n]*))?\]")
HEADING = re.compile(r"^(=+)(.+?)\1\s*$", re.MULTILINE)
ENTITY = re.compile(r"&#?\w+;")
GENITIVE = re.compile(r"(?<!')''(?!')([^'\n]+)'''s\b")  # ''Iliad'''s: italics, then an apostrophe
BOLD_OR_ITALIC = re.compile("'{2,5}")
LONGEST = 10_000  # tokens of a sentence; a text full of abbreviations would be a single one


def clean_wikitext(markup: str) -> list[str]:
    """The prose of one Wikipedia article as paragraphs.

    Templates, tables, references, pictures with their captions, lists, headings and the
    sections at the end (references, links, literature) are removed; links keep their text.

    >>> clean_wikitext("In [[London]] the [[bus|buses]] are ''red'', {{convert|3|m}} wide.")
    ['In London the buses are red, 3 m wide.']
    """
    end = END_SECTIONS.search(markup)
    text = REFERENCE.sub("", markup[: end.start()] if end else markup)
    text = LIST_LINE.sub("", text)
    text = HIDDEN.sub("", COMMENT.sub("", text))
    text = _replace_all(LINK, _text_of_link, text)
    text = _replace_all(TEMPLATE, _text_of_template, text)
    text = _replace_all(TABLE, "", text)
    text = WEB_LINK.sub(lambda link: link[1] or "", text)
    text = TAG.sub("", HEADING.sub("\n\n", text))
    text = ENTITY.sub(lambda entity: html.unescape(entity[0]), _without_styles(text))
    kept = (tidy(line) for line in text.splitlines() if not CAPTION.match(line))
    return [line for line in kept if len(line.split()) >= 8 and not MARKUP.search(line)]


def clean_speech(text: str) -> list[str]:
    """The paragraphs of a presidential message: no stage notes, no headings, none twice."""
    paragraphs = (tidy(re.sub(r"\[[^\]]{1,80}\]", " ", part)) for part in text.splitlines())
    prose = (part for part in paragraphs if len(part.split()) >= 5 and not part.isupper())
    return list(dict.fromkeys(prose))


def tidy(text: str) -> str:
    """One space between words, none before a comma, no empty brackets left by a removal."""
    text = text.replace("\xa0", " ").replace("''", "").replace("__NOTOC__", "")
    text = re.sub(r"\(\s*[;,:.\s]*\)|\[\s*\]", " ", text)
    text = re.sub(r"\(\s*[;,:]?\s*", "(", text)  # the brackets began with a pronunciation
    text = re.sub(r"\s+([,.;:!?)])", r"\1", text)
    return re.sub(r"\s+", " ", text).strip()


def split_sentences(paragraphs: Iterable[str]) -> list[str]:
    """Cut paragraphs into sentences, with syntok; nothing but white space is lost.

    Raises DataError if syntok is not installed.
    """
    return [text[start:end] for text in paragraphs for start, end in _sentence_spans(text)]


def _sentence_spans(paragraph: str) -> Iterator[tuple[int, int]]:
    """Where syntok's sentences start and end.

    syntok holds all tokens of a sentence, which costs more than linear time if there are millions,
    so after `LONGEST` tokens it starts again.
    """
    try:
        from syntok import segmenter, tokenizer
    except ImportError as error:
        raise DataError(
            "cutting text into sentences needs syntok; run: pip install 'bertlab[data]'"
        ) from error

    tokens, held = tokenizer.Tokenizer().tokenize(paragraph), 0

    def some() -> Iterator[tokenizer.Token]:
        nonlocal held
        while held < LONGEST and (token := next(tokens, None)) is not None:
            held += 1
            yield token

    for first in tokens:
        held = 1
        for found in segmenter.segment(chain([first], some())):
            held = 0
            yield found[0].offset, found[-1].offset + len(found[-1].value)


def _replace_all(pattern: re.Pattern, by: str | Callable[[re.Match], str], text: str) -> str:
    """Replace until nothing matches: a replacement may make the text around it match."""
    while True:
        text, replaced = pattern.subn(by, text)
        if not replaced:
            return text


def _text_of_link(link: re.Match) -> str:
    """What a reader sees of a link: its text, or else its title; "" for a picture."""
    title, text = link.groups()
    if NOT_PROSE_LINKS.match(title):
        return ""
    return title if text is None else _without_styles(text)


def _text_of_template(template: re.Match) -> str:
    """The words for the few templates that are part of a sentence; "" for all others."""
    name, *parameters = (part.strip() for part in template[1].split("|"))
    name, values = name.lower(), [value for value in parameters if "=" not in value]
    if name in ("convert", "cvt") and len(values) >= 2:
        return f"{values[0]} {values[1]}"
    if (name.startswith("lang") or name in ("nowrap", "transl", "transliteration")) and values:
        return values[-1].lstrip("*")  # the asterisk marks a reconstructed word
    return {"ndash": "–", "mdash": "—", "spaced ndash": " – ", "snd": " – "}.get(name, "")


def _without_styles(text: str) -> str:
    return BOLD_OR_ITALIC.sub("", GENITIVE.sub(r"\1's", text))
