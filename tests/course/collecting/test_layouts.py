"""Each learning system's download: 30 people in, the same 30 out, each file accounted for."""

import re

import pytest

from course.collecting import layouts, recognition
from course.collecting.hand_in_files import files_in
from tests.course.collecting.layouts import (
    CLASS,
    DOWNLOADS,
    TEXT,
    collected,
    handed_in,
    in_utc,
    list_of_students,
    page,
    time_of,
    unpacked,
)
from tests.course.small_course import NAME, copied

pytestmark = pytest.mark.slow


@pytest.fixture
def course(tmp_path):
    return copied(list_of_students, tmp_path / "c")


def counts(said):
    """The counts of each state, and of all files."""
    (line,) = re.findall(rf"^{NAME}: (.*); (\d+) files?$", said, re.M)
    states = {state: int(number) for number, state in re.findall(r"(\d+) ([a-z -]+)", line[0])}
    return states, int(line[1])


@pytest.mark.parametrize("name", DOWNLOADS)
def test_30_people_with_difficult_names_get_their_own_hand_in(course, tmp_path, name):
    files, options, unclear, times = DOWNLOADS[name]()
    code, said, _ = collected(course, files, dry_run=True, **options._asdict())
    assert not course.room("submitted").exists()
    assert not (course.root / "to-sort-out").exists()
    assert said.endswith("Nothing was written: --dry-run")
    assert code == 1, "Tom's text is to be sorted out"
    clear = [one for one in CLASS if one != TEXT and one.id not in unclear]
    code, said, got = collected(course, files, **options._asdict())
    assert code == 1
    assert got == {one.id: page(one) for one in clear}
    for person in clear:
        assert time_of(course, person.id) == (in_utc(handed_in(person)) if times else None)
    states, total = counts(said)
    with files_in(tmp_path / "download.zip") as found:
        assert sum(states.values()) == total == len(found)
    assert states["new"] == len(clear)
    assert f"On the list: 30 = {len(clear)} with a hand-in" in said
    timeless = f"  Each of {len(clear)} hand-ins has no time, so it is not late, whenever it came"
    assert (timeless in said) == (bool(clear) and not times)
    folder = unpacked(tmp_path / "the same in a folder", files)
    code, said, _ = collected(course, folder, **options._asdict())
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
