"""The display of a notebook, and the content of a frame."""

from types import SimpleNamespace

import ipywidgets
import pytest
from bs4 import BeautifulSoup


def soup(shown):
    """The content of a frame."""
    return BeautifulSoup(shown.page, "html.parser")


def pages_of(shown):
    """The pages of a flipbook."""
    return soup(shown).find_all("section", class_="page")


def body_of(node):
    """The texts of a table's body, without headers."""
    return [[cell.get_text() for cell in row.find_all("td")] for row in node.select("tbody tr")]


def rows_of(node):
    """The texts of a table's cells, headers too."""
    return [[cell.get_text() for cell in row.find_all(["th", "td"])] for row in node.find_all("tr")]


@pytest.fixture
def page(monkeypatch):
    """The display of a notebook: boxes, displayed objects, and their changes."""
    seen = SimpleNamespace(boxes=[], shown=[], updates=[])
    for name in ("Text", "Textarea", "IntSlider", "FloatSlider"):

        class Box(getattr(ipywidgets, name)):
            def __init__(self, *arguments, **options):
                super().__init__(*arguments, **options)
                seen.boxes.append(self)

        monkeypatch.setattr(f"ipywidgets.{name}", Box)

    def display(thing, **options):
        seen.shown.append((thing, options))
        return SimpleNamespace(update=seen.updates.append)

    monkeypatch.setattr("IPython.display.display", display)
    return seen
