"""The book: the content of its pages, and which notebooks are run."""

import contextlib
import functools
import io
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

import nbformat
import pytest
from bs4 import BeautifulSoup

from course.publishing import book, front_page, lectures, reference
from tests.conftest import ROOT, read_page

BUDGET = {"seconds": 60, "megabytes": 1_000, "network": False}

FIRST = [
    """# 1 · First words

What a token is.

**Builds on** nothing.""",
    """## A sum

It is $x_1 + x_2$, and as a picture

$$\\sum_{i=1}^{2} x_i$$

| what | much |
|---|---|
| all | $\\sqrt{d}$ |

Go on with [the second lecture](02_second.ipynb#a-list), do [the first exercise]
(../exercises/ex01_bpe/ex01_bpe.ipynb), or read [elsewhere](https://example.org/paper).

<details><summary><b>Check yourself.</b> How much?</summary>

It is $y^2$.

</details>""".replace("]\n(", "]("),
    "print(6 * 7)",
    """from IPython.display import HTML, display
display({"application/vnd.jupyter.widget-view+json": {"model_id": "a", "version_major": 2},
         "text/html": "<p>still here.</p>",
         "text/plain": "still here"}, raw=True)
display({"application/vnd.jupyter.widget-view+json": {"model_id": "b", "version_major": 2},
         "text/plain": "merges: 6%"}, raw=True)
HTML('<img alt="two bars" src="data:image/gif;base64,R0lGODlhAQABAAAAACw=">'
     '<iframe title="View" srcdoc="&lt;p&gt;inside"></iframe>'
     '<a href="02_second.ipynb#cell-id=cell-1">a place</a>'
     '<a href="../exercises/ex01_bpe/ex01_bpe.ipynb#cell-id=task-1">a task</a>')""",
]
SECOND = [
    "# 2 · Second words",
    "## A list\n\nBack to [the first](01_first.ipynb); [sources](sources.md);"
    " [act](glossary.md#gelu).",
    "import math",
    "'seven' + 'ty'",
    "assert 7 * 10 == 70\nprint('✓ 1 check of this section holds')",
]
SHOWN = "bertlab.model.attention.attention"  # what the second lecture's cell shows


def write(path, sources):
    """A notebook; texts that begin like prose become markdown cells, others code."""
    cells = [
        (nbformat.v4.new_markdown_cell if source[0] in "#It" else nbformat.v4.new_code_cell)(
            source, id=f"cell-{number}"
        )
        for number, source in enumerate(sources)
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    metadata = {"bertlab": {"budget": BUDGET}, "kernelspec": kernel}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=metadata), path)
    return path


@pytest.fixture
def library(tmp_path):
    """A library of one module."""
    folder = tmp_path / "library"
    folder.mkdir()
    (folder / "sums.py").write_text("TWO = 2\n")
    return folder


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The folder of a book of two lectures: one is run now, one was run before."""
    folder = tmp_path_factory.mktemp("lectures")
    pages = [write(folder / "01_first.ipynb", FIRST), write(folder / "02_second.ipynb", SECOND)]
    ran = nbformat.read(pages[1], as_version=4)
    ran.metadata["made_from"] = book.digest(pages[1])
    *_, shown, proof = ran.cells
    shown.metadata["bertlab"] = {"library": [SHOWN, "bertlab.model.bert.Bert"]}
    proof.metadata["tags"] = ["proof"]
    for cell, text in ((shown, "seventy"), (proof, "✓ 1 check of this section holds\n")):
        cell.outputs = [nbformat.v4.new_output("stream", name="stdout", text=text)]
    (folder / "book" / "executed").mkdir(parents=True)
    nbformat.write(ran, folder / "book" / "executed" / "02_second.ipynb")
    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        book.make_book(pages, folder / "book")
    assert said.getvalue() == ""  # Sphinx would warn of broken links, for example
    return folder / "book"


@functools.cache
def soup(made, name):
    return BeautifulSoup((made / "site" / name).read_text(encoding="utf-8"), "html.parser")


def article(made, name):
    return soup(made, name).find("article")


def texts(found):
    return [part.get_text().strip() for part in found]


@pytest.mark.notebooks
def test_a_page_shows_text_code_and_what_the_code_printed(made):
    words = article(made, "01_first.html").get_text()
    assert "What a token is." in words
    assert "print(6 * 7)" in words.replace("\xa0", " ")
    for name, printed in (("01_first.html", "42"), ("02_second.html", "seventy")):
        assert texts(soup(made, name).select(".cell_output"))[0] == printed


@pytest.mark.notebooks
def test_the_imports_and_a_proof_are_one_line_each_that_opens(made):
    imports, fold = soup(made, "02_second.html").select("article details")
    assert {*imports.summary.stripped_strings} == {"The imports"}
    assert {*fold.summary.stripped_strings} == {"✓ 1 check of this section holds"}
    assert "assert 7 * 10 == 70" in fold.get_text().replace("\xa0", " ")
    assert texts(soup(made, "02_second.html").select(".cell_output")) == ["seventy"]


@pytest.mark.notebooks
def test_a_widget_shows_its_static_state_and_a_progress_bar_nothing(made):
    page = soup(made, "01_first.html")
    outputs = " ".join(texts(page.select(".cell_output")))
    assert "still here" in outputs
    assert "merges: 6%" not in outputs
    assert page.find("img", alt="two bars")
    assert page.find("iframe", title="View")
    assert not page.find("script", type=re.compile("widget"))


@pytest.mark.notebooks
def test_maths_is_left_to_mathjax_everywhere(made):
    page = article(made, "01_first.html")
    found = [re.sub(r"\\[()\[\]]", "", part).strip() for part in texts(page.select(".math"))]
    assert found == ["x_1 + x_2", r"\sum_{i=1}^{2} x_i", r"\sqrt{d}", "y^2"]
    assert page.select_one("details .math")
    assert page.select_one("table .math")


def test_the_drawn_bert_stands_before_the_goals_without_its_code():
    title = "# 1 · First\n\nIt shows.\n\n**After this lecture you can**\n\n- sum"
    cells = [nbformat.v4.new_markdown_cell(title)]
    cells += [nbformat.v4.new_code_cell(text, id=text) for text in ("imports", "emblem", "more")]
    page = book.opened(nbformat.v4.new_notebook(cells=cells))
    assert [cell.source.split("\n")[0] for cell in page.cells] == [
        "# 1 · First",
        "emblem",
        "**After this lecture you can**",
        "imports",
        "more",
    ]
    assert page.cells[1].metadata.tags == ["remove-input"]
    assert book.opened(nbformat.v4.new_notebook(cells=cells[2:])).cells == cells[2:]


@pytest.mark.notebooks
def test_a_link_leads_to_the_lectures_page_or_names_the_file(made):
    page = article(made, "01_first.html")
    assert page.find("a", string="the second lecture")["href"] == "02_second.html#a-list"
    assert soup(made, "02_second.html").find(id="a-list")
    assert page.find("a", string="elsewhere")["href"] == "https://example.org/paper"
    sources = article(made, "02_second.html").find("a", string="sources")["href"]
    assert "Formal Algorithms for Transformers" in article(made, sources).get_text()
    term = article(made, "02_second.html").find("a", string="act")
    assert term["title"].startswith("Gaussian error linear unit, the activation of BERT: …")
    act = term["href"]
    assert act == "glossary.html#gelu"
    entry = article(made, "glossary.html").find(id="gelu")
    dotted = "bertlab.model.layers.gelu"
    assert entry.find("a", string=dotted)["href"] == f"bertlab.model.html#{dotted}"
    assert page.find("a", string="a place")["href"] == "02_second.html"
    assert not page.find("a", string="a task")
    assert "a task" in page.get_text()
    # A file without a page: the text says where it is; an omitted lecture is not a link.
    assert "Lecture 6," in entry.get_text()
    assert not entry.find("a", string="6")
    assert "exercise (exercises/ex01_bpe/ex01_bpe.ipynb in the course's folder)" in page.get_text()
    assert not page.find("a", href=re.compile("ex01"))


@pytest.mark.notebooks
def test_every_page_leads_to_all_and_to_its_neighbours(made):
    lines = len((ROOT / "course" / "live" / "bert.js").read_text(encoding="utf-8").splitlines())
    for name in ("index.html", "01_first.html", "02_second.html"):
        links = texts(soup(made, name).select(".bd-sidebar-primary nav .toctree-l1 > a"))
        lectures = ["1 · First words", "2 · Second words"]
        script = f"BERT in {lines} lines of JavaScript"
        assert links[-6:] == [*lectures, "Glossary", script, "Sources and licences", "Reference"]
    assert soup(made, "01_first.html").find("a", title="next page")["href"] == "02_second.html"
    before = soup(made, "02_second.html").find("a", title="previous page")
    assert before["href"] == "01_first.html"
    assert "What a token is." in article(made, "index.html").get_text()


def loaded(page):
    """The addresses that a browser fetches for a page by itself."""
    for tag, name in (("script", "src"), ("img", "src"), ("iframe", "src"), ("link", "href")):
        for found in page.find_all(tag, **{name: True}):
            if found.get("rel") not in (["index"], ["search"], ["next"], ["prev"]):
                yield found[name]


@pytest.mark.notebooks
def test_nothing_is_fetched_from_elsewhere_and_nothing_is_missing(made):
    site = made / "site"
    pages = sorted(site.glob("*.html"))
    assert len(pages) >= 4
    asked = {address for path in pages for address in loaded(soup(made, path.name))}
    style = "".join(path.read_text(encoding="utf-8") for path in site.rglob("*.css"))
    asked_by_styles = set(re.findall(r"@import\s+[^;]+|url\(\s*['\"]?([^'\")]+)", style))
    assert len(asked) > 10
    for address in asked | asked_by_styles:
        parts = urlsplit(address)
        assert (parts.scheme, parts.netloc) in (("", ""), ("data", "")), address
    for address in asked:
        if not address.startswith("data:"):
            assert (site / unquote(urlsplit(address).path)).is_file(), address


@pytest.mark.notebooks
def test_no_link_inside_the_book_is_broken(made):
    for path in (made / "site").glob("*.html"):
        for link in soup(made, path.name).find_all("a", href=True):
            parts = urlsplit(link["href"])
            if not parts.scheme and parts.path:
                assert (made / "site" / unquote(parts.path)).is_file(), link["href"]


@pytest.mark.notebooks
def test_the_reference_has_a_page_for_each_room_of_the_library(made):
    rooms = {f"bertlab.{path.parent.name}" for path in ROOT.glob("bertlab/*/__init__.py")}
    links = {link["href"] for link in article(made, "bertlab.html").find_all("a")}
    assert len(rooms) == 8
    rooms |= {f"course.models.{path.parent.name}" for path in ROOT.glob("course/models/*/*.py")}
    rooms |= {"course.experiments", "course.own_bert"}
    assert {f"{room}.html" for room in rooms} <= links
    for room in rooms:
        assert article(made, f"{room}.html").select("dl.py > dt[id]"), room


@pytest.mark.notebooks
def test_the_reference_shows_docstrings_without_private_and_foreign_names(made):
    pages = [*(made / "site").glob("bertlab*.html"), *(made / "site").glob("course.*.html")]
    names = [dt["id"] for page in pages for dt in soup(made, page.name).select("dl.py > dt[id]")]
    assert len(names) == len(set(names)) > 500
    assert [name for name in names if "._" in name or not name.startswith(reference.HOUSES)] == []
    signatures = " ".join(dt.get_text() for page in pages for dt in soup(made, page.name)("dt"))
    assert re.findall(r"~|<function|<factory", signatures) == []
    entry = soup(made, "bertlab.model.html").find(id=SHOWN).find_parent("dl").get_text()
    assert "key: [..., L', d_head]" in entry
    assert "Source: Vaswani et al. (2017)" in entry
    assert "`" not in "".join(article(made, page.name).get_text() for page in pages)


@pytest.mark.notebooks
def test_a_cell_that_shows_the_library_leads_to_its_place_in_the_reference(made):
    link = article(made, "02_second.html").find("a", string=SHOWN)
    assert link["href"] == f"bertlab.model.html#{SHOWN}"
    assert link.find_parent("p").get_text() == f"In the library: {SHOWN}, bertlab.model.bert.Bert"
    cells = [cell for path in ROOT.glob("lectures/*.ipynb") for cell in read_page(path).cells]
    names = {name for cell in cells for name in reference.shown_by(cell)}
    assert len(names) > 50
    for name in names:
        page = ".".join(name.split(".")[: 3 if name.startswith("course.models") else 2])
        assert soup(made, f"{page}.html").find(id=name), name


@pytest.mark.slow
def test_the_whole_book_of_a_lecture_that_fails_names_it_and_keeps_the_old_site(tmp_path, library):
    bad = write(tmp_path / "07_bad.ipynb", ["# 7 · Bad", "1 / 0"])
    old = tmp_path / "book" / "site"
    old.mkdir(parents=True)
    (old / "index.html").write_text("as before")
    with pytest.raises(RuntimeError, match=r"(?s)07_bad failed:.*1 / 0.*ZeroDivisionError"):
        book.make_book([bad], tmp_path / "book", [library])
    assert (old / "index.html").read_text() == "as before"
    assert list((tmp_path / "book" / "executed").iterdir()) == []


@pytest.fixture
def runs(monkeypatch):
    """The names of the notebooks that were run; nothing is really executed."""
    names = []

    def run(path, keep):
        names.append(path.stem)
        keep.write_bytes(Path(path).read_bytes())
        return lectures.Run(path.stem, 1.0, 1.0, BUDGET, True)

    monkeypatch.setattr(lectures, "run", run)
    return names


def test_only_what_has_changed_is_run_again(tmp_path, library, runs):
    page, kept = write(tmp_path / "01_first.ipynb", FIRST), tmp_path / "executed"
    kept.mkdir()

    def refresh():
        assert book.refresh(page, kept, [library]) == ""
        return len(runs)

    assert [refresh(), refresh()] == [1, 1]
    write(page, [*FIRST, "1 + 1"])
    assert [refresh(), refresh()] == [2, 2]
    (library / "sums.py").write_text("TWO = 3\n")
    assert [refresh(), refresh()] == [3, 3]
    (library / "theme.css").write_text("p {}")
    assert [refresh(), refresh()] == [4, 4]
    (library / "__pycache__").mkdir()
    (library / "__pycache__" / "sums.pyc").write_bytes(b"compiled")
    assert refresh() == 4
    assert [path.name for path in kept.iterdir()] == ["01_first.ipynb"]


def test_duplicate_and_missing_lectures_are_rejected(tmp_path, capsys):
    with pytest.raises(ValueError, match="names of their own"):
        book.make_book([tmp_path / "a" / "x.ipynb", tmp_path / "b" / "x.ipynb"], tmp_path)
    with pytest.raises(SystemExit):
        book.main([str(tmp_path / "nowhere.ipynb"), "--to", str(tmp_path)])
    assert "no such notebook" in capsys.readouterr().err


def test_the_first_page_links_to_a_repository_that_is_named(monkeypatch):
    pages = {"01_first": nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(FIRST[0])])}
    assert "All code of the course" not in front_page.index(pages)
    monkeypatch.setenv("REPOSITORY", "https://github.com/school/bert")
    assert "**[All code of the course](https://github.com/school/bert)**" in front_page.index(pages)


def test_git_ignores_the_book_and_clean_removes_it():
    assert "/book/" in (ROOT / ".gitignore").read_text().splitlines()
    assert re.search(r"^clean:.*\n\trm -rf .*\bbook\b", (ROOT / "Makefile").read_text(), re.M)
