"""A listing shows the code that runs."""

from bertlab.tokenizers.bpe import merge_pair
from course.widgets import show_source


def test_show_source_shows_the_file_that_runs():
    assert repr(show_source(merge_pair)).startswith('@part("01")\ndef merge_pair(')
    name = "<details><summary><code>merge_pair</code>, "
    assert show_source(merge_pair, folded=True).html.startswith(name)
