"""Each learning system's download: 30 people in, the same 30 out, each file accounted for."""

import re

import pytest

from course.collecting import collect, layouts, recognition
from course.collecting.hand_in_files import files_in
from course.gradebook.records import read_timestamp
from tests.course.collecting.layouts import (
    CLASS,
    DOWNLOADS,
    TEXT,
    handed_in,
    in_utc,
    list_of_students,
    page,
    zipped,
)
from tests.course.small_course import NAME, copied

pytestmark = pytest.mark.slow


@pytest.fixture
def course(tmp_path):
    return copied(list_of_students, tmp_path / "c")


def collected(course, source, options, dry_run=False):
    said = []
    code = collect.collect(course, NAME, source, options, dry_run, said.append)
    return code, "\n".join(said)


def counts(said):
    """The counts of each state, and of all files."""
    (line,) = re.findall(rf"^{NAME}: (.*); (\d+) files?$", said, re.M)
    states = {state: int(number) for number, state in re.findall(r"(\d+) ([a-z -]+)", line[0])}
    return states, int(line[1])


def unpacked(folder, files):
    for name, content in files:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


@pytest.mark.parametrize("name", DOWNLOADS)
def test_30_people_with_difficult_names_get_their_own_hand_in(course, tmp_path, name):
    download = DOWNLOADS[name]()
    source = tmp_path / "d.zip"
    source.write_bytes(zipped(download.files))
    code, said = collected(course, source, download.options, dry_run=True)
    assert not course.room("submitted").exists()
    assert not (course.root / "to-sort-out").exists()
    assert said.endswith("Nothing was written: --dry-run")
    assert code == 1, "Tom's text is to be sorted out"
    clear = [one for one in CLASS if one != TEXT and one.id not in download.unclear]
    code, said = collected(course, source, download.options)
    assert code == 1
    assert course.students(NAME) == [one.id for one in clear]
    for person in clear:
        assert course.hand_in(NAME, person.id).read_bytes() == page(person)
        time, _ = read_timestamp(course.hand_in(NAME, person.id).parent)
        assert time == (in_utc(handed_in(person)) if download.times else None)
    states, total = counts(said)
    with files_in(source) as files:
        assert sum(states.values()) == total == len(files)
    assert states["new"] == len(clear)
    assert f"On the list: 30 = {len(clear)} with a hand-in" in said
    assert ("has no time" in said) == (bool(clear) and not download.times)
    code, said = collected(course, source, download.options)
    assert counts(said)[0]["unchanged"] >= len(clear)
    assert counts(said)[0]["new"] == counts(said)[0]["newer"] == 0


def test_every_layout_of_the_table_is_met(course):
    names = [NAME, "ex02_wordpiece"]
    met = set()
    for build in DOWNLOADS.values():
        paths = [path for path, _ in build().files]
        for match in recognition.recognised(paths, layouts.table(names), lambda _: False):
            met |= {match.layout.name} if isinstance(match, layouts.Match) else set()
    others = {"Moodle, people without a team", "Canvas, anonymous"}  # tested below
    assert {layout.name for layout in layouts.LAYOUTS} - met == others
