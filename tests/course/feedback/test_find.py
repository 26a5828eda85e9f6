"""Search across the lectures."""

import re

import pytest
from bs4 import BeautifulSoup

from course.feedback.find import find
from tests.conftest import ROOT, read_page


def test_it_finds_each_cell_that_has_the_text_and_links_to_the_first_of_a_section():
    found = find("Feed-forward  network")
    assert {at.lecture for at in found.places} >= {"05_transformer", "06_bert"}
    for name in {at.lecture for at in found.places}:
        page = read_page(ROOT / "lectures" / f"{name}.ipynb")
        texts = {cell.id: " ".join(cell.source.lower().split()) for cell in page.cells}
        times = sum(text.count("feed-forward network") for text in texts.values())
        here = [at for at in found.places if at.lecture == name]
        assert sum(at.times for at in here) == times
        assert all("feed-forward network" in texts[at.cell] for at in here)
    links = BeautifulSoup(found._repr_html_(), "html.parser").find_all("a")
    assert len(links) == len(found.places)
    assert all(re.fullmatch(r"\w+\.ipynb#cell-id=[\w-]+", link["href"]) for link in links)


def test_nothing_is_found_and_nothing_is_looked_for():
    assert repr(find("zyzzyva")).startswith("No lecture has 'zyzzyva'.")
    assert "&lt;zyzzyva&gt;" in find("<zyzzyva>")._repr_html_()
    for wrong in ("", "  ", None, 5):
        with pytest.raises(ValueError, match="find: text must be a word"):
            find(wrong)
