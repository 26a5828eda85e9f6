"""How learning systems name the files of a download: a table."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple


class Layout(NamedTuple):
    """pattern: of a path, with these groups: who it is (`student_id`, `full_name`, `number` in
    Moodle, `lms_user_id` in Canvas; `titled` is a title and a user name; `team`, `anonymous`),
    `file`, `slug` of the assignment, `timestamp` of the hand-in, `late`; `own`: a file of the
    system itself.
    time: the form of `timestamp`, in the system's own zone, or "" if the name has none.
    """

    system: str
    name: str
    pattern: str
    time: str = ""


class Match(NamedTuple):
    """A path that a layout explains."""

    layout: Layout
    groups: Mapping[str, str | None]


# {names}: the assignment's names; {slugs}: as a repository's name begins; {again}: what browsers,
# Canvas and Jupyter add to a file that comes again.
MOODLE = r"(?P<full_name>[^/]*?)_(?P<number>\d+)_assignsubmission_[a-z]+"
BRIGHTSPACE = (
    r"\d+-\d+ - (?P<full_name>[^/]+?) - (?P<timestamp>\w{{3}} \d{{1,2}}, \d{{4}} \d{{3,4}} [AP]M)"
)
AGAIN = r"(?: ?\(\d+\)|-\d+|-Copy\d+)?"
LAYOUTS = (
    # Moodle: mod/assign/classes/downloader.php (locallib.php before 4.0). The number is the
    # participant's, which the grading worksheet repeats; teams have the group's name and number.
    Layout("Moodle", "Moodle 3, a folder per hand-in", MOODLE + r"_/(?P<file>.*)"),
    Layout("Moodle", "Moodle 4, a folder per hand-in", MOODLE + r"/(?P<file>.*)"),
    Layout("Moodle", "Moodle, all files in one folder", MOODLE + r"_(?P<file>.+)"),
    Layout(
        "Moodle",
        "Moodle, people without a team",
        r"(?P<team>[^/_]+)_assignsubmission_[a-z]+(?:_/|/|_)(?P<file>.*)",
    ),
    # Blackboard Learn, "Assignment File Download": TITLE_USER_attempt_TIME_FILE, and a receipt.
    Layout(
        "Blackboard",
        "Blackboard",
        r"(?P<titled>[^/]+?)_attempt_(?P<timestamp>\d{{4}}(?:-\d\d){{5}})"
        r"(?:_(?P<file>.+)|(?P<own>\.txt))",
        "%Y-%m-%d-%H-%M-%S",
    ),
    # Brightspace, "Download" of submissions. The numbers are the same for all people.
    Layout(
        "Brightspace", "Brightspace, folders", BRIGHTSPACE + "/(?P<file>.*)", "%b %d, %Y %I%M %p"
    ),
    Layout(
        "Brightspace", "Brightspace, files", BRIGHTSPACE + " - (?P<file>.+)", "%b %d, %Y %I%M %p"
    ),
    Layout("Brightspace", "Brightspace's own page", r"(?P<own>index\.html)"),
    # Canvas, "Download submissions": lib/content_zipper.rb.
    Layout(
        "Canvas",
        "Canvas",
        r"(?P<full_name>[^/]*?)_(?P<late>LATE_)?(?P<lms_user_id>\d+)_"
        r"(?:\d+_(?P<file>.+)|_?(?P<text>(?:text|link)\.html))",
    ),
    Layout(
        "Canvas",
        "Canvas, anonymous",
        r"(?P<late>LATE_)?(?P<anonymous>anon_[^_/]+)_(?:\d+_(?P<file>.+)|_?(?:text|link)\.html)",
    ),
    # Google Classroom names a student's copy of a file, in Drive: STUDENT - FILE.
    Layout(
        "Google Classroom", "Google Classroom", r"(?P<full_name>[^/]+?) - (?P<file>(?:{names}).*)"
    ),
    # GitHub Classroom names a student's repository ASSIGNMENT-USER, and `gh classroom clone
    # student-repos` the folder around all of them ASSIGNMENT-submissions.
    Layout(
        "GitHub Classroom",
        "GitHub Classroom",
        r"(?P<slug>{slugs})-(?![^/]*submissions/)(?P<student_id>[^/]+)/(?P<file>.*)",
    ),
)
OURS = "STUDENT"
FLAT = r"(?P<student_id>[^/]+)_(?P<file>(?:{names}){again}(?:\.[^/]+)?(?:/.*)?)"
FOLDER = Layout(OURS, "STUDENT/NAME.ipynb", r"(?P<student_id>[^/]+)/(?P<file>.*)")


class Table(NamedTuple):
    """The layouts for some assignments, by system; `flat` is our STUDENT_NAME.ipynb."""

    systems: Mapping[str, Sequence[tuple[Layout, re.Pattern]]]
    flat: tuple[Layout, re.Pattern]
    markers: frozenset[str]  # folders that only name the assignment


def table(names: Sequence[str]) -> Table:
    """The layouts of downloads that hold the assignments of these names, earlier ones included."""
    slugs = {slug for name in names for slug in (name.replace("_", "-"), name.split("_")[0])}
    fill = {
        "names": "|".join(map(re.escape, names)),
        "slugs": "|".join(sorted(map(re.escape, slugs), key=len, reverse=True)),
        "again": AGAIN,
    }
    systems = defaultdict(list)
    for row in LAYOUTS:
        systems[row.system].append((row, re.compile(row.pattern.format(**fill), re.IGNORECASE)))
    flat = Layout(OURS, "STUDENT_NAME.ipynb", FLAT)
    return Table(systems, (flat, re.compile(FLAT.format(**fill), re.IGNORECASE)), frozenset(names))
