"""Cleaning by hand-written samples; the real corpora by the catalogue's figures."""

import hashlib
import json
import random
import re
import sys
from collections import Counter
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st
from syntok import segmenter

from bertlab import data
from bertlab.data import clean
from bertlab.data.clean import clean_speech, clean_wikitext, split_sentences, tidy
from bertlab.data.corpora import CORPORA, udhr, wikipedia_markup
from course.experiments.labels import COLLECTIONS, labelled
from tests.conftest import fetched

pytestmark = pytest.mark.slow

ARTICLE = """
{{Infobox person|name=Ada|born={{birth date|1815|12|10}}}}
'''Ada Lovelace''' ({{IPA|x}}; 10 December 1815 – 27 November 1852) was an [[England|English]] mathematician.<ref>Toole 1998</ref>
[[File:Ada.jpg|thumb|200px|A portrait of [[Ada Lovelace|Ada]] with a long caption in many words]]
She walked {{convert|3|km|mi}} to the {{lang|fr|''salon''}} of a friend of hers in London every day.<ref name=a />
== Life ==
* a list entry with quite a lot of words that is not prose at all, really
{| class="wikitable"
| one || two three four five six seven eight nine ten
|}
She wrote the first program for the Analytical Engine, as far as anybody knows today.<ref>lost
[[Category:Mathematicians]] [[de:Ada Lovelace]]
== See also ==
This last section has enough words to be prose but it must be cut off all the same.
"""  # noqa: E501


def test_an_article_becomes_its_prose_without_any_parser(monkeypatch):
    monkeypatch.setitem(sys.modules, "mwparserfromhell", None)  # an import of it fails
    assert clean_wikitext(ARTICLE) == [
        "Ada Lovelace (10 December 1815 – 27 November 1852) was an English mathematician.",
        "She walked 3 km to the salon of a friend of hers in London every day.",
    ]


def test_a_reference_left_open_takes_its_line_and_no_more():
    text = "A sentence of more than eight words stands in front.<ref>open\n\n"
    text += "Another sentence of more than eight words comes after it."
    assert clean_wikitext(text)[-1].startswith("Another sentence")


WORD = st.sampled_from(["night", "Ada's", "the", "A&amp;B", "1815&ndash;1852", "x&nbsp;y", "(old)"])
WORDS = st.lists(WORD, min_size=1, max_size=4).map(" ".join)


def with_markup(inner):
    """A piece of an article that surrounds other pieces."""
    shapes = [
        "[[Town|{}]]",
        "[http://example.org {}]",
        "<small>{}</small>",
        "{}<br />",
        "{{{{cite|title={}|year=1852}}}}",
        "{{{{lang|fr|{}}}}}",
        "<!-- {} -->",
        "[[File:Ada.jpg|thumb|{}]]",
    ]
    return st.tuples(st.sampled_from(shapes), inner).map(lambda pair: pair[0].format(pair[1]))


STYLES = ["''{}''", "'''{}'''", "[[{}]]", "{{{{convert|3|km|mi}}}}", "<ref>{}</ref>"]
STYLED = st.sampled_from(STYLES)
LEAF = WORDS | st.tuples(STYLED, WORD).map(lambda pair: pair[0].format(pair[1]))
INLINE = LEAF | with_markup(LEAF) | with_markup(with_markup(LEAF))
BLOCK = st.sampled_from(["\n{{| class=wide\n|-\n! {}\n| one || two\n|}}\n", "\n== {} ==\n"])
BLOCKS = st.tuples(BLOCK, INLINE).map(lambda pair: pair[0].format(pair[1]))
MARKUP_PIECES = st.lists(INLINE | BLOCKS, max_size=12)


def reference_paragraphs(markup):
    """The same cleaning by a parser with a tree."""
    parser = pytest.importorskip("mwparserfromhell")
    code = parser.parse(markup)
    for tag in code.filter_tags(matches=lambda tag: tag.tag in ("ref", "table")):
        code.replace(tag, "") if code.contains(tag) else None
    for link in code.filter_wikilinks(matches=lambda link: link.title.startswith("File:")):
        code.replace(link, "") if code.contains(link) else None
    for template in reversed(code.filter_templates()):  # the inner one first
        words = {"convert": "3 km", "lang": str(template.params[-1])}.get(str(template.name), "")
        code.replace(template, words) if code.contains(template) else None
    for heading in code.filter_headings():
        code.replace(heading, "\n\n") if code.contains(heading) else None
    lines = map(tidy, code.strip_code(normalize=True, collapse=False).splitlines())
    return [line for line in lines if len(line.split()) >= 8 and not re.search(r"[|<>{}=]", line)]


@given(MARKUP_PIECES)
def test_markup_is_read_as_a_parser_reads_it(pieces):
    markup = "Nine words of prose stand before all these pieces " + " ".join(pieces)
    assert clean_wikitext(markup) == reference_paragraphs(markup)


def test_speeches_lose_stage_notes_headings_and_repetitions():
    text = "Fellow citizens, we meet again today. [Laughter]\n\nTHE ECONOMY OF THE STATES\n\n"
    text += "1. Tax\n\nFellow citizens, we meet again today. [Applause]\n\n"
    text += "A part of four.\n\nOne of five is prose."
    assert clean_speech(text) == ["Fellow citizens, we meet again today.", "One of five is prose."]


@given(st.text(st.sampled_from("Dr. A he n't ()3.!?\"'"), max_size=80))
def test_sentences_are_syntoks_unless_they_are_endless(text):
    text = " ".join(text.split())
    parts = [tokens for part in segmenter.process(text) for tokens in part]
    spans = [(tokens[0].offset, tokens[-1].offset + len(tokens[-1].value)) for tokens in parts]
    assert split_sentences([text]) == [text[start:end] for start, end in spans]
    with patch.object(clean, "LONGEST", 9):
        found = split_sentences([text, endless := "Dr. Mr. " * 90])
    assert "".join(found).replace(" ", "") == (text + endless).replace(" ", "")
    assert len(found) >= 360 // 9


@given(st.text(st.characters(codec="ascii"), max_size=80))
def test_tidy_is_stable(text):
    once = tidy(tidy(text))
    assert tidy(once) == once


def test_an_unknown_corpus_lists_the_known_ones():
    with pytest.raises(ValueError, match="no corpus 'wiki'; expected one of wikipedia, books"):
        data.documents("books+wiki")


documents_of_words = st.lists(st.lists(st.text(max_size=5), max_size=3), max_size=30)


@given(documents_of_words, st.integers(0, 3))
def test_the_split_keeps_every_document_and_ignores_the_order(documents, seed):
    train, validation = data.split(documents, seed=seed)
    assert Counter(map(tuple, train + validation)) == Counter(map(tuple, documents))
    assert not set(map(tuple, train)) & set(map(tuple, validation))
    shuffled = documents[:]
    random.Random(0).shuffle(shuffled)
    assert sorted(data.split(shuffled, seed=seed)[1]) == sorted(validation)


def test_the_split_holds_out_the_requested_share():
    documents = [[str(number)] for number in range(5_000)]
    share = len(data.split(documents, validation=0.2)[1]) / 5_000
    assert abs(share - 0.2) < 4 * (0.2 * 0.8 / 5_000) ** 0.5  # four standard deviations
    with pytest.raises(ValueError, match="between 0 and 1; got 10"):
        data.split(documents, validation=10)


def test_the_python_manual_needs_no_fetching_and_damage_is_mended(tmp_path, monkeypatch):
    monkeypatch.setenv("BERTLAB_DATA", str(tmp_path))
    first = data.documents("python-topics")
    assert len(first) > 50
    assert sum(len(sentence.split()) for document in first for sentence in document) > 40_000
    assert data.documents("python-topics") == first
    (kept,) = (tmp_path / "cleaned").iterdir()
    kept.write_bytes(kept.read_bytes()[:-100])
    assert data.documents("python-topics") == first


def test_the_catalogue_names_every_corpus_once():
    kinds = {(True, False): "documents", (False, True): "labelled", (True, True): "both"}
    names = list(dict.fromkeys([*CORPORA, *COLLECTIONS]))
    expected = [(name, kinds[name in CORPORA, name in COLLECTIONS]) for name in names]
    assert [(entry.name, entry.kind) for entry in data.catalogue()] == expected
    assert all(entry.licence and entry.cite and entry.source for entry in data.catalogue())
    assert "390,576" in data.catalogue()._repr_html_()
    assert "gensim 4.4.0 on PyPI, 28 MB (core)" in str(data.catalogue())


@pytest.mark.corpora
@pytest.mark.parametrize("name", [name for name in CORPORA if name != "python-topics"])
def test_the_number_of_documents_equals_the_catalogues(name):
    entry, documents = fetched(name), data.documents(name)
    assert len(documents) == entry.size
    assert sum(len(s.split()) for document in documents for s in document) == entry.words
    assert all(document and all(document) for document in documents)


@pytest.mark.corpora
def test_wikipedia_is_cleaned_to_the_text_that_the_weights_were_trained_on():
    fetched("wikipedia")
    paragraphs = [clean_wikitext(markup) for markup in wikipedia_markup()]
    # By mwparserfromhell 0.7.2, before the cleaning did without it.
    reference = "fc230b2808eb04e39ca41e45da37a1b4d07e042c66c78c5bdd04ebcac2cdc893"
    assert hashlib.sha256(json.dumps(paragraphs).encode()).hexdigest() == reference


PROTO = r"""id: "xx_Latn"
exemplar_chars {
  base: "not a passage"
}
sample_text {
  masthead_full: "Nn"  # a title
  styles: "One two"
    tester: "\"Three\" \\ four."  # said "somebody"
  specimen_48: " One two \U0001e4d5.\nFive \'six\'. "
  specimen_21: "One two \U0001e4d5.\n\nSeven , .eight"
}
source: "not a passage either"
"""


def test_a_language_keeps_each_passage_once_with_escapes_resolved(tmp_path, monkeypatch):
    sources = {"yy_Grek": PROTO.replace("styles", "style"), "xx_Latn": PROTO, "zz_Cyrl": 'id: "z"'}
    for name, source in sources.items():
        (tmp_path / f"{name}.textproto").write_text(source, encoding="utf-8")
    listing = sorted(file.name for file in tmp_path.iterdir())
    monkeypatch.setattr("bertlab.data.corpora.files", lambda package, folder: listing)
    monkeypatch.setattr("bertlab.data.corpora.path", lambda package, name: tmp_path / name)
    lines = ['"Three" \\ four.', "One two \U0001e4d5.", "Five 'six'.", "Seven , .eight"]
    assert list(udhr()) == [("xx_Latn", lines), ("yy_Grek", lines)]


@pytest.mark.corpora
def test_the_declaration_of_human_rights_is_in_many_scripts_without_escapes():
    fetched("udhr")
    examples = labelled("udhr")
    texts = {example.label: example.text for example in examples}
    assert len(texts) == len(examples)
    assert [text.split("\n") for text in texts.values()] == data.documents("udhr")
    openings = {
        "en_Latn": "Whereas recognition of the inherent dignity",
        "de_Latn": "Alle Menschen sind frei und gleich an Würde und Rechten geboren.",
        "el_Grek": "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια",
        "hi_Deva": "चूंकि मानव परिवार के सभी सदस्यों के जन्मजात गौरव और समान",
        "ar_Arab": "لمّا كان الاعتراف بالكرامة المتأصلة في جميع",
        "zh_Hans": "鉴于对人类家庭所有成员的固有尊严",
        "ja_Jpan": "すべて人は、人種、皮膚の色、性、言語、宗教",
    }
    assert {name: words for name, words in openings.items() if words not in texts[name]} == {}
    assert all(len(texts[name]) > 1_000 for name in ("ru_Cyrl", "ko_Kore", "th_Thai"))
    assert len({name.split("_")[1] for name in texts}) == 158  # scripts
    left = re.compile(r"\\[nU\"']|specimen_|: \"$", re.MULTILINE)
    assert [name for name, text in texts.items() if left.search(text)] == []
    beria_erfe = set(range(0x16EA0, 0x16EE0))  # a block beyond the Basic Multilingual Plane
    assert set(map(ord, texts["zag_Berf"])) - set(map(ord, " .\n\u0301")) <= beria_erfe


@pytest.mark.corpora
def test_the_weights_are_the_published_ones():
    fetched("wikipedia")
    file = data.weights("minilm") / "model.safetensors"
    published = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
    assert hashlib.sha256(file.read_bytes()).hexdigest() == published
