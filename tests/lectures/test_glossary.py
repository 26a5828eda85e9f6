"""The glossary: an entry for each term of a recap, links that lead somewhere, names that exist."""

import pkgutil
import re

import pytest

from tests.conftest import ROOT, read_page

PAGES = {path.name: read_page(path) for path in sorted(ROOT.glob("lectures/*.ipynb"))}
TEXTS = {name: page.prose for name, page in PAGES.items()} | {
    path.name: path.read_text(encoding="utf-8") for path in ROOT.glob("lectures/*.md")
}
GLOSSARY = TEXTS["glossary.md"]
ENTRY = re.compile(
    r"^### (?P<heading>.*)\n\n.* Lecture \[(?P<number>\w+)\]\((?P<lecture>\S+)\)"
    r"(?:, `(?P<code>[\w.]+)`)?\.$",
    re.MULTILINE,
)
ENTRIES = list(ENTRY.finditer(GLOSSARY))


def said(heading):
    """A heading without its marks."""
    return re.sub(r"<.*?>|`", "", heading)


def slug(heading):
    """A heading's address on GitHub and in the book."""
    return re.sub(r"[^\w\- ]", "", said(heading).lower()).replace(" ", "-")


def test_each_recap_lists_the_terms_whose_entries_name_its_lecture_and_nothing_else():
    assert len(ENTRIES) == len({slug(one["heading"]) for one in ENTRIES}) > 200
    assert len(ENTRIES) == GLOSSARY.count("\n### ")
    for name, page in PAGES.items():
        new = re.search(r"^\*\*New in the glossary\*\*: (.*)\.$", page.prose, re.MULTILINE)[1]
        links = [re.fullmatch(r"\[.*\]\(glossary\.md#(.*)\)", item)[1] for item in new.split(", ")]
        built = [slug(one["heading"]) for one in ENTRIES if one["lecture"] == name]
        assert sorted(links) == sorted(built), name


def test_an_entry_names_its_lecture_which_uses_the_term_and_code_that_exists():
    for one in ENTRIES:
        assert one["lecture"].split("_")[0].lstrip("0") == one["number"].lstrip("0")
        cells = [cell.source for cell in PAGES[one["lecture"]].cells if cell.id != "recap"]
        stems = {word[:5] for word in re.findall(r"\w{2,}", said(one["heading"]).lower())}
        assert not [stem for stem in stems if stem not in "\n".join(cells).lower()], one["heading"]
        if one["code"]:
            assert pkgutil.resolve_name(one["code"]).__doc__


def test_the_entries_stand_in_alphabetical_order_under_their_letters():
    heads = re.findall(r"^###? (.*)$", GLOSSARY, re.MULTILINE)
    letters = [re.sub(r"\W", "", said(head).lower()) for head in heads]
    assert letters == sorted(letters)
    initials = {word[0] if word[0].isalpha() else "0to9" for word in letters}
    assert [word for word in letters if len(word) == 1 or word == "0to9"] == sorted(initials)


def test_an_entry_has_the_same_address_in_jupyterlab():
    for heading in (one["heading"] for one in ENTRIES):
        # There a heading's address is its text with hyphens for blanks; <a id> adds another.
        mark = re.match(r'<a id="(.*?)"></a>', heading)
        assert (mark[1] if mark else said(heading).replace(" ", "-")) == slug(heading)


@pytest.mark.parametrize("name", TEXTS)
def test_every_link_of_a_lecture_leads_somewhere(name):
    text = re.sub(r"```.*?```", "", TEXTS[name], flags=re.DOTALL)
    for path, anchor in re.findall(r"\]\((?!\w+:)([^)#\s]*)#?([^)\s]*)\)", text):
        assert (ROOT / "lectures" / path).exists(), path
        heads = re.findall(r"^#+ (.*)", TEXTS[path or name], re.MULTILINE) if anchor else ()
        assert not anchor or anchor in map(slug, heads), f"{path}#{anchor}"
