"""The labelled collections, compared with the catalogue."""

import pytest

from course.experiments.labels import COLLECTIONS, labelled
from tests.conftest import fetched

pytestmark = pytest.mark.slow


def test_an_unknown_collection_lists_the_known_ones():
    with pytest.raises(ValueError, match="no collection 'spam'; expected one of"):
        labelled("spam")


@pytest.mark.corpora
@pytest.mark.parametrize("name", COLLECTIONS)
def test_collections_have_the_sizes_of_the_catalogue(name):
    entry, examples = fetched(name), labelled(name)
    assert len(examples) == entry.size
    assert sum(len(f"{e.text} {e.pair}".split()) for e in examples) == entry.words


@pytest.mark.corpora
def test_lee_scores_belong_to_the_right_pairs():
    fetched("lee-similarity")
    pairs = labelled("lee-similarity")
    assert len(pairs) == 50 * 49 // 2
    assert all(0 <= pair.label <= 1 for pair in pairs)
    assert pairs[0].label == 0.3  # the second number of the source's first row
