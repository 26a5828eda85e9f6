"""Raw text to clean sentences: wiki markup, speeches, white space, and the sentence split."""

import re
from collections.abc import Iterable

# Sections that hold lists of links and books, not prose; what follows the first one goes too.
END_SECTIONS = re.compile(
    r"^==+\s*(see also|notes|references|further reading|external links|bibliography|sources|"
    r"citations|footnotes|notes and references|works cited|literature|gallery)\s*==+\s*$",
    re.IGNORECASE | re.MULTILINE,
)
NOT_PROSE_TAGS = ("ref", "table", "gallery", "math", "timeline", "score", "syntaxhighlight",
                  "source", "pre", "code", "imagemap", "hiero", "ol", "ul", "dl")  # fmt: skip
NOT_PROSE_LINKS = re.compile(r"^:?\s*[a-z][\w -]{1,30}:", re.IGNORECASE)  # File:, Category:, de:
# Before parsing: a reference that somebody forgot to close hides the rest from the parser.
REFERENCE = re.compile(r"<ref[^>/]*/>|<ref[^>]*>.*?</ref>", re.IGNORECASE | re.DOTALL)
LIST_LINE = re.compile(r"^[*#:;].*$", re.MULTILINE)
MARKUP = re.compile(r"[|<>{}]|\[\[|\]\]|==")  # a line that the parser gave up on
CAPTION = re.compile(r"^(thumb|left|right|frame|upright|\d+px)\b.*\|", re.IGNORECASE)


def clean_wikitext(markup: str) -> list[str]:
    """The prose of one Wikipedia article as paragraphs.

    Templates, tables, references, pictures with their captions, lists, headings and the
    sections at the end (references, links, literature) are removed; links keep their text.
    """
    import mwparserfromhell

    end = END_SECTIONS.search(markup)
    markup = REFERENCE.sub("", markup[: end.start()] if end else markup)
    markup = LIST_LINE.sub("", markup)
    code = mwparserfromhell.parse(markup)
    for tag in code.filter_tags(matches=lambda tag: str(tag.tag).lower() in NOT_PROSE_TAGS):
        _remove(code, tag)
    for link in code.filter_wikilinks(matches=lambda link: NOT_PROSE_LINKS.match(str(link.title))):
        _remove(code, link)
    for template in code.filter_templates():
        _replace(code, template, _text_of_template(template))
    for heading in code.filter_headings():
        _replace(code, heading, "\n\n")
    lines = code.strip_code(normalize=True, collapse=False).splitlines()
    kept = (tidy(line) for line in lines if not CAPTION.match(line))
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
    text = re.sub(r"\(\s*[;,:]?\s*", "(", text)  # a pronunciation stood first in the brackets
    text = re.sub(r"\s+([,.;:!?)])", r"\1", text)
    return re.sub(r"\s+", " ", text).strip()


def split_sentences(paragraphs: Iterable[str]) -> list[str]:
    """Cut paragraphs into sentences, with syntok; nothing but white space is lost."""
    from syntok import segmenter

    sentences = []
    for paragraph in paragraphs:
        for part in segmenter.process(paragraph):
            for tokens in part:
                start, last = tokens[0].offset, tokens[-1]
                sentences.append(paragraph[start : last.offset + len(last.value)])
    return sentences


def _text_of_template(template: object) -> str:
    """The few templates that stand for words in a sentence; the others stand for nothing."""
    name = str(template.name).strip().lower()
    values = [str(p.value).strip() for p in template.params if not p.showkey]
    if name in ("convert", "cvt") and len(values) >= 2:
        return f"{values[0]} {values[1]}"
    if (name.startswith("lang") or name in ("nowrap", "transl", "transliteration")) and values:
        return values[-1]
    return {"ndash": "–", "mdash": "—", "spaced ndash": " – ", "snd": " – "}.get(name, "")


def _remove(code: object, node: object) -> None:
    _replace(code, node, "")


def _replace(code: object, node: object, text: str) -> None:
    """Replace a node that may have gone already, inside one that was replaced before."""
    try:
        code.replace(node, text)
    except ValueError:
        return
