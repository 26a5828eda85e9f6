"""Labels of words, by hand, and one for each word of any text."""

from hypothesis import given
from hypothesis import strategies as st

from bertlab.tokenizers.words import split_words
from course.experiments import word_labels
from course.experiments.word_labels import names, places


@given(st.text(alphabet="aA1.( é", max_size=30))
def test_every_word_of_any_text_has_a_label(text):
    for name in ("word_classes", "previous_word_classes", "next_word_classes", "names", "places"):
        assert len(getattr(word_labels, name)(text)) == len(split_words(text)), name


def test_labels_by_hand():
    text = "The old Empire (of 1806) was his; he liked Ada."
    d, p, o = "determiner", "punctuation", "other"
    classes = [d, o, o, p, "preposition", "number", p, "auxiliary", d, p, "pronoun", o, o, p]
    assert word_labels.word_classes(text) == classes
    assert word_labels.previous_word_classes(text) == [None, *classes[:-1]]
    assert word_labels.next_word_classes(text) == [*classes[1:], None]
    assert [label for label in names(text) if label is not None] == [False, True, False, True]
    assert names("London is large.") == [None, None, False, None]  # the first one always has it
    assert places(text) == [0] * 8 + [1] * 6
    assert places("a " * 40)[-1] == 3
