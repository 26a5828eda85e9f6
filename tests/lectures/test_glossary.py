"""The glossary: an entry for each term of a recap, working links, existing names."""

import pkgutil
import re

import pytest

from tests.conftest import ROOT, read_page

PAGES = {path.name: read_page(path) for path in sorted(ROOT.glob("lectures/*.ipynb"))}
TEXTS = {name: page.prose for name, page in PAGES.items()}
TEXTS |= {path.name: path.read_text(encoding="utf-8") for path in ROOT.glob("lectures/*.md")}
ENTRY = r'### (<a id="(.*)"></a>)?(.*)\n\n.* Lecture \[(\w+)\]\((\S+)\)(?:, `([\w.]+)`)?\.\n'
ENTRIES = re.findall(ENTRY, TEXTS["glossary.md"])


def address(heading):
    """Where a link to a heading leads on GitHub and in the book."""
    return re.sub(r"<.*?>|[^\w\- ]", "", heading.lower()).replace(" ", "-")


def test_each_recap_lists_exactly_the_terms_whose_entries_name_its_lecture():
    assert len(ENTRIES) == TEXTS["glossary.md"].count("\n### ") > 200
    for name, page in PAGES.items():
        new = re.search(r"^\*\*New in the glossary\*\*: (.*)\.$", page.prose, re.MULTILINE)[1]
        links = [re.fullmatch(r"\[.*\]\(glossary\.md#(.*)\)", item)[1] for item in new.split(", ")]
        assert sorted(links) == sorted(address(entry[2]) for entry in ENTRIES if entry[4] == name)


def test_an_entry_names_its_lecture_which_uses_the_term_and_code_that_exists():
    for _, mark, term, number, name, code in ENTRIES:
        assert name.split("_")[0].lstrip("0") == number.lstrip("0")
        used = "\n".join(cell.source for cell in PAGES[name].cells if cell.id != "recap").lower()
        assert not [word for word in re.findall(r"\w{2,}", term.lower()) if word[:5] not in used]
        assert not code or pkgutil.resolve_name(code).__doc__
        # JupyterLab's address is the text with hyphens for blanks; <a id> adds another.
        assert address(term) == (mark or term.replace(" ", "-"))


def test_the_entries_are_in_alphabetical_order_under_their_letters():
    heads = re.findall(r"^###? (.*)$", TEXTS["glossary.md"], re.MULTILINE)
    places = [address(head).replace("-", "") for head in heads]
    assert places == sorted(set(places))
    letters = {"0" if place[0].isdigit() else place[0] for place in places}
    found = re.findall(r"^## (.)", TEXTS["glossary.md"], re.MULTILINE)
    assert [head.lower() for head in found] == sorted(letters)


@pytest.mark.parametrize("name", TEXTS)
def test_every_link_of_a_lecture_works(name):
    text = re.sub(r"```.*?```", "", TEXTS[name], flags=re.DOTALL)
    for path, anchor in re.findall(r"\]\((?!\w+:)([^)#\s]*)#?([^)\s]*)\)", text):
        assert (ROOT / "lectures" / path).exists(), path
        heads = re.findall(r"^#+ (.*)", TEXTS[path or name], re.MULTILINE) if anchor else ()
        assert not anchor or anchor in map(address, heads), f"{path}#{anchor}"
