"""Links to the published course in the README, and lectures for a notebook service.

    make launch COURSE_URL=https://school.example/bert/ REPOSITORY=https://github.com/school/bert

COURSE_URL is where `book/site` is published, with `book/slides` as `slides` and `book/launch` as
`launch` below it. REPOSITORY adds a link to Binder, which must be able to read it. Both are read
from the environment.

`book/launch` gets a copy of each lecture; its first cell installs the students' course, which lies
beside it as a zip file. Links to the book, the slides and these copies are written into README.md,
between two comments; without COURSE_URL there are none. Commit the README, not the copies.
"""

import html
import os
import re
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote

import nbformat
from nbformat import NotebookNode

from bertlab._console import print_on_any_console
from bertlab._files import write_atomically
from course import ROOT
from course.publishing.handout import hand_out
from course.publishing.notebooks import normal_form
from course.settings import Course, CourseError

EXAMPLES = {
    "COURSE_URL": "https://school.example/bert/",
    "REPOSITORY": "https://github.com/school/bert",
}
ADDRESS = re.compile(r"https?://[\w.-]+(:\d+)?(/[\w.~/-]*)?")  # without a name and a password
FIRST = "lectures/00_start_here.ipynb"
BETWEEN = re.compile(r"(?<=^<!-- links -->\n).*?(?=^<!-- links end -->$)", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\[(`[^`]*`|[^]]*)\]\((?!https?:|#)([\w./-]+?)\.(?:ipynb|md)(#[^)]*)?\)")
INSTALL = """\
# On a notebook service, run this cell first: it installs the course and fetches its texts.
%pip install --quiet "bertlab @ {zip}" "bertlab-course @ {zip}#subdirectory=course"
%run -m bertlab.data fetch core"""
ONLINE = (
    "Without installing anything: read the [book]({url}/) with all outputs, show the "
    "[slides]({url}/slides/), or take [a lecture]({url}/launch/) to a notebook service such as "
    "Colab.\n"
)
ON_BINDER = (
    "\n<!-- only instructors -->\n[Run the lectures on Binder]({binder}): the first start takes "
    "minutes, there is little memory, and nothing is kept.\n<!-- end -->\n"
)
PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Lectures for a notebook service</title>
<h1>Lectures for a notebook service</h1>
<p>Download a lecture and upload it to a service such as Colab. Its first cell installs the course
there. The outputs of all lectures are in <a href="../index.html">the book</a>.</p>
<ul>
{lectures}
</ul>
</html>
"""


def web_address(setting: str) -> str:
    """The value of a setting without its last slash; "" if it is not set.

    Raises ValueError if it is not a web address.
    """
    value = os.environ.get(setting, "").strip()
    if value and not ADDRESS.fullmatch(value):
        raise ValueError(
            f"{setting} must be a web address such as {EXAMPLES[setting]}; got {value!r}"
        )
    return value.rstrip("/")


def binder(repository: str) -> str:
    """The address that starts the lectures of a repository on Binder.

    >>> binder("https://github.com/school/bert")
    'https://mybinder.org/v2/gh/school/bert/HEAD?labpath=lectures%2F00_start_here.ipynb'
    """
    name = repository.removeprefix("https://github.com/").removesuffix(".git")
    where = f"gh/{name}" if "//" not in name else f"git/{quote(repository, safe='')}"
    return f"https://mybinder.org/v2/{where}/HEAD?labpath={quote(FIRST, safe='')}"


def with_links(readme: str, course_url: str, repository: str = "") -> str:
    """The README with links to the course at this address, or without any if it is "".

    Raises ValueError if the README has no place for them.
    """
    links = ONLINE.format(url=course_url) if course_url else ""
    if links and repository:
        links += ON_BINDER.format(binder=binder(repository))
    text, places = BETWEEN.subn(lambda _: links, readme)
    if places != 1:
        raise ValueError("the README needs the lines <!-- links --> and <!-- links end --> once")
    return text


def service_copy(lecture: NotebookNode, course_url: str) -> NotebookNode:
    """A lecture whose first cell installs the course; its links lead to the book."""

    def to_the_book(link: re.Match) -> str:
        words, page, place = link.groups(default="")
        return words if "/" in page else f"[{words}]({course_url}/{page}.html{place})"

    for cell in lecture.cells:
        if cell.cell_type == "markdown":
            cell.source = LINK.sub(to_the_book, cell.source)
    source = INSTALL.format(zip=f"{course_url}/launch/course.zip")
    lecture.cells.insert(0, nbformat.v4.new_code_cell(source, id="install"))
    return lecture


def write_copies(course_url: str, to: Path) -> None:
    """Write a copy of each lecture, a page that lists them, and the students' course as a zip file.

    They replace the folder `to`. Raises CourseError if the students' course reveals a solution.
    """
    to.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=to.parent, prefix=".launching-") as room:
        new = Path(room) / "launch"
        new.mkdir()
        lines = []
        for path in sorted(ROOT.glob("lectures/*.ipynb")):
            lecture = nbformat.read(path, as_version=4)
            title = html.escape(lecture.cells[0].source.splitlines()[0].removeprefix("# "))
            lines.append(f'<li><a href="{path.name}" download>{title}</a></li>')
            write_atomically(new / path.name, normal_form(service_copy(lecture, course_url)))
        write_atomically(new / "index.html", PAGE.format(lectures="\n".join(lines)))
        *_, archive = hand_out(Course(), Path(room) / "course", zipped=True)
        archive.rename(new / "course.zip")
        shutil.rmtree(to, ignore_errors=True)
        new.rename(to)


def main(readme: Path = ROOT / "README.md", to: Path = ROOT / "book" / "launch") -> int:
    """Write the links, and the copies if there is an address; 1 if a setting is wrong."""
    print_on_any_console()
    try:
        course_url, repository = map(web_address, EXAMPLES)
        text = with_links(readme.read_text(encoding="utf-8"), course_url, repository)
        write_atomically(readme, text)
        if course_url:
            write_copies(course_url, to)
    except (CourseError, ValueError) as error:
        print(f"launch: {error}", file=sys.stderr)
        return 1
    if course_url:
        print(f"{readme.name} has links to {course_url}; publish {to} there as launch/")
    else:
        print(f"{readme.name} has no links: COURSE_URL is not set (to {EXAMPLES['COURSE_URL']})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
