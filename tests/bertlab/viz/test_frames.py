"""A frame is a page of its own: escaped, described, and without anything to fetch."""

import pytest
from bs4 import BeautifulSoup
from IPython.core.formatters import DisplayFormatter

from bertlab.viz.frames import frame, script_tag
from tests.bertlab.refusals import rejected


def inner(shown):
    """The page inside the frame, as a browser decodes it from the attribute."""
    return BeautifulSoup(shown._repr_html_(), "html.parser").iframe["srcdoc"]


def test_the_page_comes_out_of_the_attribute_and_is_saved_as_it_went_in(tmp_path):
    shown = frame('<p title="a &amp; b">1 < 2 & "quoted" &lt;</p>', title="T", alt="A")
    assert inner(shown) == shown.page
    assert '<p title="a &amp; b">1 < 2 & "quoted" &lt;</p>' in shown.page
    shown = frame("<p>x</p>", title="T", alt="A")
    path = shown.save(tmp_path / "view.html")
    assert path.read_text(encoding="utf-8") == shown.page
    assert [file.name for file in tmp_path.iterdir()] == ["view.html"]


@pytest.mark.slow
def test_a_notebook_gets_html_and_words():
    data, _ = DisplayFormatter().format(frame("<p>x</p>", title="Heads", alt="Lines & dots."))
    assert set(data) == {"text/html", "text/plain"}
    assert data["text/plain"] == "Heads. Lines & dots."
    page = BeautifulSoup(data["text/html"], "html.parser")
    assert (page.iframe["title"], page.iframe["sandbox"]) == ("Heads", ["allow-scripts"])
    # Beside the frame, not in it: a notebook that is not trusted drops frames whole.
    assert "Lines & dots." in page.find(class_="bertlab-alt").get_text()


def test_title_and_alt_are_text_and_never_markup():
    shown = frame("<p>x</p>", title='"><script>1</script>', alt="<img src=x>")
    page = BeautifulSoup(shown._repr_html_(), "html.parser")
    assert page.iframe["title"] == '"><script>1</script>'
    assert page.find("img") is None
    assert [tag.parent["class"] for tag in page.find_all("script")] == [["bertlab-frame"]]  # ours
    assert BeautifulSoup(shown.page, "html.parser").title.string == '"><script>1</script>'


def test_the_page_may_fetch_nothing():
    page = BeautifulSoup(frame("<p>x</p>", title="T", alt="A").page, "html.parser")
    policy = page.find("meta", attrs={"http-equiv": "Content-Security-Policy"})["content"]
    assert "default-src 'none'" in policy
    assert "http" not in policy
    assert not page.find_all(src=True)
    assert not page.find_all("link")


def test_a_script_cannot_be_ended_by_its_own_strings():
    source = 'const a = "</script><p>", b = "</SCRIPT >", c = "<!-- <script>";'
    tags = BeautifulSoup(script_tag(source), "html.parser")
    assert [tag.name for tag in tags.find_all(True)] == ["script"]
    assert tags.script.string.count(r"\x3c") == 3


def test_a_frame_without_words_is_rejected():
    rejected("in words", frame, "<p>x</p>", title=" ", alt="A")
    rejected("in words", frame, "<p>x</p>", title="T", alt="")
