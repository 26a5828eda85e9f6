"""The sources of the course: each is named once in full; and the licences."""

import calendar
import re
import unicodedata
from typing import NamedTuple
from urllib.parse import urlsplit

import nbformat
import pytest

from course.publishing.notebooks import written_notebooks
from tests.conftest import ROOT, read_page
from tests.lectures.test_notebooks import LECTURES, RELEASED, name

PAGE = (ROOT / "lectures" / "sources.md").read_text(encoding="utf-8")
ENTRY = re.compile(r"- (?P<authors>\D+) \((?P<year>\d{4}[a-z]?)\)\. \*.+[.?]\*.* <(?P<link>\S+)>")
LINKED = re.compile(r"\[([^\]]+ \(\d{4}[a-z]?\))\]\(([^)\s]+)\)")
# Clark, Khandelwal, Levy & Manning (2019); (Mikolov et al., 2013a, 2013b); Fan et al. (2018)
FAMILY = r"(?:van |De |United )?[A-ZÀ-Ž][\w’'-]+(?: Jones| Kim Sang)?"
CITED = re.compile(
    rf"\b({FAMILY}(?:(?:, {FAMILY})*,? (?:&|and) {FAMILY}| et al\.)?)"
    r"(?:'s)?\*{0,2},? \(?((?:1[89]|20)\d\d[a-z]?(?:, (?:1[89]|20)\d\d[a-z]?)*)\b"
)
NO_NAME = ("In", "Since", "Until", *calendar.month_name, *calendar.month_abbr)


class Work(NamedTuple):
    """An entry of the bibliography."""

    authors: str
    year: str
    link: str

    @property
    def name(self):
        """As a text cites it: Gage (1994), Levy & Goldberg (2014), Devlin et al. (2019)."""
        families = re.findall(r"(?:^|\., |& )([^,&]+), (?=\w)", self.authors)
        several = len(families) > 2 or "et al." in self.authors
        names = f"{families[0]} et al." if several else " & ".join(families or [self.authors])
        return f"{names} ({self.year})"


def bibliography():
    lines = [line for line in PAGE.split("## Bibliography")[1].splitlines() if line.strip()]
    found = [ENTRY.fullmatch(line) for line in lines]
    odd = [line for line, entry in zip(lines, found, strict=True) if not entry]
    assert odd == [], "not of the form `- Authors (year). *Title.* Where. <link>`"
    return [Work(**entry.groupdict()) for entry in found]


def cited_in(text):
    """The works that a text cites by author and year, as the bibliography names them."""
    found = set()
    for names, years in CITED.findall(" ".join(text.split())):
        if names in NO_NAME:
            continue
        families = re.split(r",? (?:&|and) |, ", names)
        short = f"{families[0]} et al." if len(families) > 2 else " & ".join(families)
        found |= {f"{short} ({year})" for year in years.split(", ")}
    return found


def sources_of(path):
    cell = read_page(path).cells[-1]
    assert cell.id == "sources"
    assert cell.source.startswith("## Sources\n")
    return cell.source


def test_the_bibliography_is_in_order_and_names_each_work_once():
    works = bibliography()
    assert len({work.name for work in works}) == len({work.link for work in works}) == len(works)

    def place(work):
        plain = unicodedata.normalize("NFKD", work.authors.replace("ø", "o"))
        letters = "".join(c for c in plain if not unicodedata.combining(c)).casefold()
        return re.match(r"[^,]+(, [^,&]+?)?(?=,|$| &)", letters)[0], work.year

    assert works == sorted(works, key=place)


@pytest.mark.parametrize("text", [PAGE, *map(sources_of, LECTURES)])
def test_each_link_is_well_formed(text):
    links = re.findall(r"\]\(([^)\s]+)\)|<([^>\s]+)>", text)
    for link in (inline or bare for inline, bare in links):
        parts = urlsplit(link)
        if parts.scheme:
            assert parts.scheme in ("http", "https")
            assert re.fullmatch(r"[\w.-]+\.[a-z]{2,}", parts.netloc)


@pytest.mark.parametrize("path", LECTURES, ids=name)
def test_a_lectures_sources_are_in_the_bibliography_and_include_its_citations(path):
    links = {work.name: work.link for work in bibliography()}
    listed = LINKED.findall(sources_of(path))
    assert [pair for pair in listed if links.get(pair[0]) != pair[1]] == []
    names = [name for name, _ in listed]
    assert names == sorted(set(names), key=list(links).index), "in the bibliography's order, once"
    prose = "\n\n".join(c.source for c in read_page(path).cells[:-1] if c.cell_type == "markdown")
    assert cited_in(prose) - set(names) == set(), "cited, and not among the sources"


def test_what_the_library_and_the_exercises_cite_is_in_the_bibliography():
    texts = [read_page(path).prose for path in written_notebooks() if path not in LECTURES]
    for folder in ("bertlab", "course"):
        texts += [path.read_text(encoding="utf-8") for path in (ROOT / folder).rglob("*.py")]
    known = {work.name for work in bibliography()} | {"W3C (2018)"}  # a standard
    assert set().union(*map(cited_in, texts)) - known == set()


def test_citations_are_found_in_all_their_forms():
    text = """Clark, Khandelwal, Levy & Manning (2019) and **Fan et al. (2018)**, since May 2019;
    (Mikolov et al., 2013a, 2013b), Abnar and Zuidema (2020), Spärck Jones (1972), in 1917."""
    mikolov = {"Mikolov et al. (2013a)", "Mikolov et al. (2013b)"}
    others = {"Clark et al. (2019)", "Fan et al. (2018)", "Abnar & Zuidema (2020)"}
    assert cited_in(text) == mikolov | others | {"Spärck Jones (1972)"}


@pytest.mark.parametrize("path", [*written_notebooks(), *RELEASED], ids=name)
def test_a_notebook_states_its_licence(path):
    assert nbformat.read(path, as_version=4).metadata.bertlab.license == "CC-BY-SA-4.0"


def test_licences_are_stated_where_readers_look():
    assert "MIT License" in (ROOT / "LICENSE").read_text()
    assert "CC BY-SA 4.0" in (ROOT / "lectures" / "LICENSE").read_text()
    for page in ("README.md", "exercises/README.md", "solutions/README.md"):
        assert "CC BY-SA 4.0" in (ROOT / page).read_text(encoding="utf-8"), page
