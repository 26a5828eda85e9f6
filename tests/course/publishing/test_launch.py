"""Links in the README, and the lectures' copies for a notebook service."""

import re

import nbformat
import pytest

from course.publishing import launch
from course.publishing.handout import for_students
from course.settings import CourseError
from tests.conftest import ROOT, read_page

README = (ROOT / "README.md").read_text(encoding="utf-8")
COURSE = "https://school.example/bert"
REPOSITORY = "https://github.com/school/bert"
RELATIVE = re.compile(r"\]\((?!https?:|#)[^)]+\)")


@pytest.fixture
def run(tmp_path, monkeypatch):
    """`run(COURSE_URL=...)` runs the command with these settings, on a README of its own."""
    readme = tmp_path / "README.md"
    readme.write_text(README, encoding="utf-8")

    def hand_out(_course, to, zipped):
        assert zipped
        archive = to.with_name(f"{to.name}.zip")
        archive.write_bytes(b"the students' course")
        return [to, archive]

    monkeypatch.setattr(launch, "hand_out", hand_out)

    def run(**settings):
        for name in launch.EXAMPLES:
            monkeypatch.setenv(name, settings.get(name, ""))
        return launch.main(readme, tmp_path / "book" / "launch")

    return run


@pytest.mark.parametrize("setting", launch.EXAMPLES)
@pytest.mark.parametrize(
    "value",
    ["school.example/bert", "ftp://school.example", "https://", "https://me:secret@school.example",
     "https://a.example/my course", "https://a.example/(b)", "git@github.com:school/bert"],
)  # fmt: skip
def test_what_is_not_a_web_address_is_refused_with_an_example(
    run, setting, value, tmp_path, capsys
):
    assert run(**{"COURSE_URL": COURSE, setting: value}) == 1
    example = launch.EXAMPLES[setting]
    said = f"launch: {setting} must be a web address such as {example}; got {value!r}\n"
    assert capsys.readouterr().err == said
    assert (tmp_path / "README.md").read_text(encoding="utf-8") == README
    assert not (tmp_path / "book").exists()


def test_links_are_written_once_changed_and_removed():
    bare = launch.with_links(README, "")
    assert "<!-- links -->\n<!-- links end -->" in bare
    linked = launch.with_links(bare, COURSE, REPOSITORY)
    for address in ("", "slides/", "launch/"):
        assert f"({COURSE}/{address})" in linked
    start = "https://mybinder.org/v2/gh/school/bert/HEAD?labpath=lectures%2F00_start_here.ipynb"
    assert f"({start})" in linked
    assert launch.with_links(linked, COURSE, REPOSITORY) == linked
    moved = launch.with_links(linked, "https://moved.example")
    assert "https://moved.example/slides/" in moved
    assert "school" not in moved
    assert "mybinder" not in moved
    assert launch.with_links(linked, "") == bare


def test_students_get_the_links_but_not_a_way_into_the_repository():
    text = for_students(launch.with_links(README, COURSE, REPOSITORY))
    assert f"({COURSE}/launch/)" in text
    assert REPOSITORY not in text
    assert "mybinder" not in text
    assert "## Start" in text


@pytest.mark.parametrize("text", ["# Course\n", "<!-- links -->\n<!-- links end -->\n" * 2])
def test_a_readme_without_one_place_for_links_is_refused(text):
    with pytest.raises(ValueError, match="<!-- links end -->"):
        launch.with_links(text, COURSE)


def test_binder_reads_any_repository():
    assert launch.binder(f"{REPOSITORY}.git") == launch.binder(REPOSITORY)
    start = launch.binder("https://git.school.example/bert")
    assert start.startswith(
        "https://mybinder.org/v2/git/https%3A%2F%2Fgit.school.example%2Fbert/HEAD?"
    )


def test_a_copy_is_its_lecture_after_a_cell_that_installs_the_course():
    for path in sorted(ROOT.glob("lectures/*.ipynb")):
        lecture = nbformat.read(path, as_version=4)
        copy = launch.service_copy(nbformat.read(path, as_version=4), COURSE)
        nbformat.validate(copy)
        first, *rest = copy.cells
        archive = f"{COURSE}/launch/course.zip"
        assert (
            f'"bertlab @ {archive}" "bertlab-course @ {archive}#subdirectory=course"'
            in first.source
        )
        assert first.source.endswith("\n%run -m bertlab.data fetch core")
        assert [cell.id for cell in rest] == [cell.id for cell in lecture.cells]
        for cell, ours in zip(rest, lecture.cells, strict=True):
            if ours.cell_type == "code" or not RELATIVE.search(ours.source):
                assert cell == ours
            assert not RELATIVE.search(cell.source) or ours.cell_type == "code"


def test_links_of_a_copy_lead_to_the_book_and_nowhere_else():
    text = "[4](04_attention.ipynb), [`a`](glossary.md#gelu), [x](https://x.org), [e](../e/e.ipynb)"
    lecture = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(text)])
    assert launch.service_copy(lecture, COURSE).cells[1].source == (
        f"[4]({COURSE}/04_attention.html), [`a`]({COURSE}/glossary.html#gelu), "
        "[x](https://x.org), e"
    )


def test_copies_replace_older_ones_and_are_listed(run, tmp_path, capsys):
    folder = tmp_path / "book" / "launch"
    folder.mkdir(parents=True)
    (folder / "old.ipynb").touch()
    assert run(COURSE_URL=f"{COURSE}/") == 0
    assert f"README.md has links to {COURSE}; " in capsys.readouterr().out
    names = {path.name for path in ROOT.glob("lectures/*.ipynb")}
    assert {path.name for path in folder.iterdir()} == names | {"index.html", "course.zip"}
    page = (folder / "index.html").read_text(encoding="utf-8")
    assert set(re.findall(r'href="(\w+\.ipynb)" download', page)) == names
    assert read_page(folder / "00_start_here.ipynb").cells[0].id == "install"
    assert list(folder.parent.iterdir()) == [folder]


def test_without_an_address_there_are_no_links_and_no_copies(run, tmp_path, capsys):
    assert run(REPOSITORY=REPOSITORY) == 0
    assert "README.md has no links: COURSE_URL is not set" in capsys.readouterr().out
    assert (tmp_path / "README.md").read_text(encoding="utf-8") == launch.with_links(README, "")
    assert not (tmp_path / "book").exists()


@pytest.mark.slow
def test_older_copies_stay_if_the_students_course_cannot_be_made(
    run, tmp_path, monkeypatch, capsys
):
    assert run(COURSE_URL=COURSE) == 0

    def refuse(*_, **__):
        raise CourseError("nothing is handed out")

    monkeypatch.setattr(launch, "hand_out", refuse)
    assert run(COURSE_URL="https://moved.example") == 1
    assert capsys.readouterr().err == "launch: nothing is handed out\n"
    copy = read_page(tmp_path / "book" / "launch" / "00_start_here.ipynb")
    assert COURSE in copy.cells[0].source
