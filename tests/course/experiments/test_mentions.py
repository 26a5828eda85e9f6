"""Links keep their exact position through all cleaning steps."""

import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertlab import data
from bertlab.data.clean import clean_wikitext
from bertlab.data.corpora import wikipedia_markup
from bertlab.tokenizers.words import word_spans
from course.experiments import mentions
from course.experiments.mentions import LABEL, Marked, cut_sentences, mark_links, marked_sentences
from tests.bertlab.data.test_corpora import ARTICLE
from tests.conftest import fetched

pytestmark = pytest.mark.slow


def texts_of(sentence):
    """The text of the spans of a marked sentence."""
    return [sentence.text[start:end] for start, end, _ in sentence.spans]


def test_an_article_keeps_its_links_and_only_those_of_its_prose():
    text = "Ada Lovelace (10 December 1815 – 27 November 1852) was an English mathematician."
    assert marked_sentences(ARTICLE) == [Marked(text, ((58, 65, LABEL),))]


@pytest.mark.parametrize(
    ("link", "text", "expected"),
    [
        ("[[London]]", "London", "London"),
        ("[[London|the city]]", "the city", "the city"),
        ("[[bus]]es", "buses", "buses"),  # a trail is part of the link
        ("[[bus]]Es", "busEs", None),  # capitals are no trail: the link cuts a word
        ("[[bus]]-es", "bus-es", "bus"),
        ("pre[[war]]", "prewar", None),
        ("anti-[[war]]", "anti-war", "war"),
        ("[[St. John's]]'s", "St. John's's", "St. John's"),
        ("''[[Hamlet]]''", "Hamlet", "Hamlet"),
        ("[[Hamlet|''Hamlet'']]", "Hamlet", "Hamlet"),
        ("[[Hamlet| Hamlet ]]", "Hamlet", "Hamlet"),
        ("{{lang|fr|[[salon]]}}", "salon", "salon"),
        ("[[Gödel|Gödel’s]]", "Gödel’s", "Gödel’s"),
        ("[[東京]]", "東京", "東京"),
    ],
)
def test_a_link_of_any_form_is_found(link, text, expected):
    sentence = "Everybody in this town knows {} since the spring of [[1999]]."
    plain = sentence.replace("[[1999]]", "1999").format(text)
    found = marked_sentences(sentence.format(link))
    if expected is None:
        assert found == []
    else:
        assert [one.text for one in found] == [plain]
        assert texts_of(found[0]) == [expected, "1999"]


def test_pictures_categories_and_footnotes_are_no_mentions():
    text = (
        "[[File:Tower.jpg|thumb|The [[tower]] of the town in the year of the great flood]]"
        "The tower<ref>[[Smith]] 1999</ref> of the [[town]] has stood here for ages. "
        "[[Category:Towers]] [[de:Turm]]"
    )
    (sentence,) = marked_sentences(text)
    assert sentence.text == "The tower of the town has stood here for ages."
    assert texts_of(sentence) == ["town"]


def test_every_sentence_has_its_own_spans_and_one_across_two_goes_with_both():
    text = "The [[cat]] sat on the old mat. It was warm there. The [[dog]] saw the [[cat]] there."
    found = marked_sentences(text)
    texts = [one.text for one in found]
    assert texts == ["The cat sat on the old mat.", "The dog saw the cat there."]
    assert [one.spans for one in found] == [((4, 7, LABEL),), ((4, 7, LABEL), (16, 19, LABEL))]
    text = "He saw it. She saw them. They left."
    assert cut_sentences(text, [(7, 14, LABEL)]) == [Marked("They left.", ())]


words = st.sampled_from(["the", "Tower", "of", "É", "ét", "(old)", "stone", "at", "U.S.", "今"])
linked = st.tuples(words, st.booleans())


@given(st.lists(linked, min_size=9, max_size=25))
def test_marks_change_no_letter_of_the_text(words):
    markup = " ".join(f"[[{word}]]" if link else word for word, link in words)
    plain = clean_wikitext(markup)
    marks = [mentions.take_marks(paragraph) for paragraph in clean_wikitext(mark_links(markup))]
    assert [text for text, _ in marks] == plain
    for text, spans in marks:
        assert [text[a:b] for a, b, _ in spans] == [word for word, link in words if link]


@pytest.fixture(scope="module")
def wikipedia():
    fetched("wikipedia")
    return mentions.mentions()


@pytest.mark.corpora
def test_sentences_are_those_of_the_corpus_and_mentions_as_many_as_the_course_says(wikipedia):
    sentences = {sentence for document in data.documents("wikipedia") for sentence in document}
    for article in wikipedia:
        for sentence in article:
            assert sentence.text in sentences
            assert sentence.spans
            borders = [place for start, end, _ in sentence.spans for place in (start, end)]
            assert borders == sorted(borders)
            starts, ends = zip(*word_spans(sentence.text), strict=True)
            assert all(a in starts and b in ends for a, b, _ in sentence.spans)
    assert len(wikipedia) == 97
    assert sum(len(article) for article in wikipedia) == 8_875
    assert sum(len(one.spans) for article in wikipedia for one in article) == 18_163
    assert mentions.mentions() == wikipedia  # from the cache


@pytest.mark.corpora
def test_links_are_where_a_tree_parser_found_them():
    fetched("wikipedia")
    marked = [clean_wikitext(mark_links(markup)) for markup in wikipedia_markup()]
    # By mwparserfromhell 0.7.2, before the marking did without it.
    reference = "f9a3df100d148ee6c82cab1c87577d331881de17a097ca4fda1a4b000f116ccc"
    assert hashlib.sha256(json.dumps(marked).encode()).hexdigest() == reference
