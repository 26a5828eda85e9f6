"""Whatever is in a download has its line: odd files, odd names, wrong places, unknown people."""

import json
import zipfile
from collections import defaultdict
from contextlib import closing
from datetime import datetime
from zoneinfo import ZoneInfo

import nbformat
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from course.collecting import contents, entries, hand_in_files, plan
from course.collecting.hand_in_files import HandIn
from course.collecting.identity import People, Person
from course.collecting.sheets import SheetRow
from tests.course.collecting.layouts import (
    CLASS,
    DOWNLOADS,
    collected,
    stored,
    time_of,
    unpacked,
    zipped,
)
from tests.course.small_course import NAME, cell, copied, make, new_code_cell

pytestmark = pytest.mark.slow

MOODLE = "assignsubmission_file"
OTHER = "ex02_wordpiece"


def with_two_assignments(folder):
    """A course of the small assignment and of another one."""
    course = make(folder)
    source = course.room("source") / OTHER / f"{OTHER}.ipynb"
    source.parent.mkdir(parents=True)
    source.write_bytes(notebook("w1", "w2", "w3"))
    return course


@pytest.fixture
def course(tmp_path):
    return copied(with_two_assignments, tmp_path / "c")


@pytest.fixture
def listed(course):
    """The course with a list of three people."""
    with closing(course.gradebook()) as book:
        book.add_student("ada", first_name="Ada", last_name="Lovelace", email="al@x.example")
        book.add_student("jo", first_name="Jörg", last_name="O’Neill", lms_user_id="77")
        book.add_student("cy", first_name="Cy", last_name="de la Cruz")
    return course


def notebook(*ids, text="x"):
    """A notebook with cells of these nbgrader ids."""
    cells = [cell(new_code_cell, one, text, solution=True) for one in ids]
    return nbformat.writes(nbformat.v4.new_notebook(cells=cells)).encode()


def page(text="x"):
    """A notebook without nbgrader's marks."""
    return json.dumps({"cells": [{"cell_type": "code", "source": text}]}).encode()


def to_sort_out(course, name=NAME):
    return {path.name: path.read_bytes() for path in (course.root / "to-sort-out" / name).glob("*")}


# What a hand-in may be.


@pytest.mark.parametrize(
    "file",
    [
        *(f"{NAME}.ipynb.txt", f"{NAME}.ipynb.json", f"{NAME}.ipynb.ipynb", f"{NAME}.json"),
        *(NAME, f"{NAME.upper()}.IPYNB", f"{NAME}.txt", f"{NAME} (1).ipynb.txt"),
    ],
)
def test_a_notebook_is_taken_whatever_its_name_ends_with(course, file):
    files = [(f"ada/{file}", page()), ("ben/notes.txt", b"hello")]
    _, said, got = collected(course, files)
    assert got == {"ada": page()}
    assert "ben/notes.txt: to sort out: .txt files cannot be graded: ask for the notebook" in said


@pytest.mark.parametrize(
    ("text", "cells"),
    [
        ("x = 1\n", ["x = 1"]),
        ("# %%\nx = 1\n\n# %% [markdown]\n# hello\n", ["x = 1", "# hello"]),
        ("#!/usr/bin/env python\n# In[1]:\r\nx = 1\r\n", ["#!/usr/bin/env python", "x = 1"]),
        ("# coding: utf-8\n# In[ ]:\n\n\nx = 'ü'\n# In[2]:\n", ["# coding: utf-8", "x = 'ü'"]),
        ("", [""]),
    ],
)
def test_a_python_file_becomes_a_notebook_and_the_same_each_time(course, text, cells):
    files = [(f"ada/{NAME}.py", text.encode())]
    _, said, got = collected(course, files)
    read = nbformat.reads(got["ada"].decode(), as_version=4)
    nbformat.validate(read)
    assert [one.source for one in read.cells] == cells
    assert "ada: converted from .py, as no notebook was handed in" in said
    assert "1 unchanged" in collected(course, files)[1]


def test_what_cannot_be_graded_is_kept_and_its_owner_named(listed):
    moodle = f"_{MOODLE}"
    files = [
        (f"Ada Lovelace_1{moodle}/{NAME}.pdf", b"%PDF"),
        ("Jörg ONeill_2_assignsubmission_onlinetext/onlinetext.html", b"<p>see mail"),
        (f"Cy de la Cruz_3{moodle}/", b""),
    ]
    code, said, got = collected(listed, files)
    assert (code, got) == (1, {})
    assert f"Cy de la Cruz_3{moodle}/: an empty folder: nothing was handed in" in said
    assert "On the list: 3 = 0 with a hand-in + 2 with files to sort out" in said
    assert "(ada: Ada Lovelace, jo: Jörg O’Neill) + 1 without (cy: Cy de la Cruz)" in said
    assert sorted(to_sort_out(listed).values()) == [b"%PDF", b"<p>see mail"]


def test_a_receipt_without_a_file_is_said(course):
    files = [
        (f"{NAME}_{who}_attempt_2026-11-19-22-15-30{rest}", page())
        for who, rest in (("ada", ".txt"), ("ada", f"_{NAME}.ipynb"), ("ben", ".txt"))
    ]
    code, said, got = collected(course, files)
    assert (code, list(got)) == (0, ["ada"])
    assert f"{files[2][0]}: a receipt without a file" in said
    assert f"{files[0][0]}: a receipt" not in said


# Names in zip files.


def named(raw):
    """A ZipInfo whose name is stored as these bytes."""

    class Raw(zipfile.ZipInfo):
        def _encodeFilenameFlags(self):
            return raw, 0

    return Raw("x")


@pytest.mark.parametrize(
    ("raw", "student"),
    [
        ("Jörg Müßig/{}.ipynb".encode(), "Jörg Müßig"),  # macOS, in one of Unicode's forms
        ("Jo\u0308rg Mu\u0308ßig/{}.ipynb".encode(), "Jörg Müßig"),
        ("Jörg Müßig/{}.ipynb".encode("cp437"), "Jörg Müßig"),  # as the format declares
        ("Jörg Müßig/{}.ipynb".encode("cp1252"), "Jörg Müßig"),  # Windows
        ("André Françoà/{}.ipynb".encode("cp1252"), "André Françoà"),  # Greek letters in cp437
        ("Jörg Müßig\\{}.ipynb".encode(), "Jörg Müßig"),  # PowerShell 5
    ],
)
def test_names_are_read_as_they_were_meant(course, raw, student):
    archive = zipped([(named(raw.replace(b"{}", NAME.encode())), page())])
    assert collected(course, archive)[2] == {student: page()}


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_entries_of_one_path_are_both_kept(course):
    files = [(f"ada/{NAME}.ipynb", page("1")), (f"ada/{NAME}.ipynb", page("2"))]
    _, said, got = collected(course, files)
    assert got == {}
    assert said.count("several notebooks, not clear which counts") == 2
    assert set(to_sort_out(course).values()) == {page("1"), page("2")}


# Zip files in zip files.


def test_zip_files_are_read_inside_to_a_limit(course, monkeypatch):
    inner = zipped([(f"work/{NAME}.ipynb", page())])
    monkeypatch.setattr(hand_in_files, "INNER_FILES", 3)
    files = [
        ("ada/hand-in.zip", inner),
        ("ben/again.zip", zipped([("hand-in.zip", inner)])),
        ("cy/deep.zip", zipped([("a.zip", zipped([("b.zip", zipped([("c.zip", inner)]))]))])),
        ("dan/many.zip", zipped([(f"{n}.ipynb", page()) for n in range(4)])),
        ("eve/broken.zip", inner[:60]),
        ("fay/empty.zip", zipped([])),
        ("gus/thesis.docx", inner),
        ("hal/out.zip", zipped([(f"../../ada/{NAME}.ipynb", b"evil")])),
        ("ida/bomb.zip", zipped([(f"{NAME}.ipynb", bytes(hand_in_files.FILE_MB * 10**6 + 1))])),
    ]
    code, said, got = collected(course, files)
    assert code == 1
    assert got == {"ada": page(), "ben": page()}
    for path in ("cy/deep.zip/a.zip/b.zip", "dan/many.zip", "eve/broken.zip", "fay/empty.zip"):
        assert f"{path}: to sort out: an empty or broken zip file" in said
    assert "gus/thesis.docx: to sort out: .docx files cannot be graded" in said
    assert "refused: a path that leads elsewhere" in said
    assert f"ida/bomb.zip/{NAME}.ipynb: refused: larger than 20 MB" in said


# Other places, other exercises.


def test_another_exercises_notebook_is_never_taken_for_this_one(course):
    files = [
        (f"ada/{NAME}/{NAME}.ipynb", page("right")),
        (f"ada/{OTHER}/{OTHER}.ipynb", page()),
        (f"ben/{OTHER}.ipynb", page()),
        (f"cy/{OTHER}/homework.ipynb", page()),
        ("dan/homework.ipynb", notebook("w1", "w2", "own")),
        ("eve/homework.ipynb", notebook("double", "test-double", "explain", "own")),
        (f"fay/{NAME}.ipynb", notebook("w1", "w2", "w3")),
    ]
    code, said, got = collected(course, files)
    assert code == 1
    assert list(got) == ["ada", "eve"]
    assert f"4 files belong to {OTHER}" in said
    why = f"it is named {NAME}, but its cells are those of {OTHER}"
    assert f"fay/{NAME}.ipynb: to sort out: {why}" in said


def test_collect_all_gives_each_notebook_to_its_assignment(course):
    files = [
        (f"ada/{NAME}/{NAME}.ipynb", page("1")),
        (f"ada/{OTHER}/{OTHER}.ipynb", page("2")),
        ("ben/homework.ipynb", notebook("w1", "w2")),
        ("cy/homework.ipynb", page("3")),
        ("cy/.DS_Store", b""),
    ]
    code, said, got = collected(course, files, name="all")
    assert code == 1
    assert got == {"ada": page("1")}
    assert stored(course, OTHER) == {"ada": page("2"), "ben": notebook("w1", "w2")}
    assert f"{NAME}: 1 new" in said
    assert f"{OTHER}: 2 new" in said
    assert (
        "no assignment: 0 new, 0 newer, 0 unchanged, 0 older, 0 refused, 1 to sort out, 1" in said
    )
    assert to_sort_out(course, "which-assignment") == {"cy homework.ipynb": page("3")}


def test_repositories_of_another_assignment_are_told_by_their_name(course):
    files = [
        (f"{slug}-{who}/homework.ipynb", page(slug + who))
        for slug in ("psx-small", "ex02-wordpiece", "ex02")
        for who in ("ada", "ben")
    ]
    _, said, got = collected(course, files)
    assert got == {who: page(f"psx-small{who}") for who in ("ada", "ben")}
    assert f"4 files belong to {OTHER}" in said


@pytest.mark.parametrize(
    ("paths", "students"),
    [
        (["download/ada/{}.ipynb"], []),  # download's or ada's?
        (["ada/{0}/{0}.ipynb"], ["ada"]),
        (["ada/work/{}.ipynb", "ben/work/{}.ipynb"], ["ada", "ben"]),
        (["x/ada/{}.ipynb", "x/ben/{}.ipynb"], ["ada", "ben"]),
        (["x/y/ada/{}.ipynb", "x/y/ben/{}.ipynb", "x/y/cy/{}.ipynb"], ["ada", "ben", "cy"]),
        (["x/ada_{}.ipynb", "x/ben_{} (1).ipynb"], ["ada", "ben"]),
        (["{}.ipynb"], []),
        (["ada/{}.ipynb", "ada/data/a.csv", "ada/pictures/b.png"], ["ada"]),
        # The part of a file's name that a student chooses does not identify its owner.
        (
            [f"Eve_1_{MOODLE}_/Ada_2_{MOODLE}_{{}}.ipynb", f"Eve_1_{MOODLE}_/ada/{{}}.ipynb"],
            ["Eve"],
        ),
        (["gus/ada_{}.ipynb", "bob/{}.ipynb"], ["bob", "gus"]),
        (["eve_5_6_ada_7_8_{}.ipynb"], ["5"]),
    ],
)
def test_without_a_list_folders_around_are_seen_or_asked_about(course, paths, students):
    files = [(path.format(NAME), page(str(n))) for n, path in enumerate(paths)]
    code, said, got = collected(course, files)
    assert list(got) == students
    assert code == (0 if students else 1), said


@pytest.mark.parametrize(
    ("paths", "students"),
    [
        (["download/ada/{}.ipynb"], ["ada"]),
        (["g1/ada/{}.ipynb", "g2/cy/{}.ipynb"], ["ada", "cy"]),
        (["ada/jo/{}.ipynb", "ada/cy/{}.ipynb"], []),  # ada's two
        (["ada/{}.ipynb", "cy/ada/{}.ipynb", "cy/jo/{}.ipynb"], ["ada"]),
        (["ada/{}.ipynb", "eve/jo/{}.ipynb", "eve/cy/{}.ipynb", "eve/cy_{}.ipynb"], ["ada"]),
        (["ada/{}.ipynb", f"eve/Cy de la Cruz_7_{MOODLE}/{{}}.ipynb"], ["ada"]),
        ([f"eve/Cy de la Cruz_7_{MOODLE}/{{}}.ipynb"], ["cy"]),  # a folder around Moodle's
        ([f"ada/Cy de la Cruz_7_{MOODLE}/{{}}.ipynb"], ["ada"]),  # ada's own name for it
    ],
)
def test_nobody_on_the_list_hands_in_for_another(listed, paths, students):
    files = [(path.format(NAME), page(str(n))) for n, path in enumerate(paths)]
    _, _, got = collected(listed, files)
    assert list(got) == students


# Who it is.


@pytest.mark.parametrize(
    ("path", "student"),
    [
        ("ada/{}.ipynb", "ada"),
        ("Ada/{}.ipynb", "ada"),
        ("ADA LOVELACE/{}.ipynb", "ada"),
        ("Lovelace, Ada/{}.ipynb", "ada"),
        ("al@x.example_{}.ipynb", "ada"),
        ("Jörg O'Neill - {}.ipynb", "jo"),
        (f"Jörg ONeill_12_{MOODLE}/{{}}.ipynb", "jo"),
        (f"Jo\u0308rg   O’Neill_12_{MOODLE}/{{}}.ipynb", "jo"),
        ("oneilljörg_77_5_{}.ipynb", "jo"),
        ("renamed_77_5_{}.ipynb", "jo"),
        ("delacruzcy_78_5_{}.ipynb", "cy"),
        ("oneilljörg_78_5_{}.ipynb", None),  # jo has another number
        ("eve/{}.ipynb", None),
        ("eve_{}.ipynb", None),
        ("ada2/{}.ipynb", None),
        (f"Eve_1_{MOODLE}/{{}}.ipynb", None),
        ("eve_79_5_{}.ipynb", None),
        ("1-2 - Eve - Nov 19, 2026 1159 PM/{}.ipynb", None),
        ("{0}_eve_attempt_2026-11-19-22-15-30_{0}.ipynb", None),
        ("Eve - {}.ipynb", None),
        ("psx-small-eve/{}.ipynb", None),
        (f"Default group_{MOODLE}/{{}}.ipynb", None),
        (f"Group A_12_{MOODLE}/{{}}.ipynb", None),
        ("anon_Ab3dE_12_{}.ipynb", None),
        ("LATE_anon_Ab3dE_12_{}.ipynb", None),
    ],
)
def test_with_a_list_nobody_becomes_a_student_silently(listed, path, student):
    files = [(path.format(NAME), page())]
    code, said, got = collected(listed, files)
    assert got == ({student: page()} if student else {})
    assert code == (0 if student else 1)
    assert len(to_sort_out(listed)) == (0 if student else 1)
    assert ("On the list: 3 = 1" in said) == bool(student)


def test_new_students_are_taken_when_asked(listed):
    files = [(f"eve/{NAME}.ipynb", page())]
    code, said, _ = collected(listed, files)
    assert code == 1
    assert "nobody on the list of students is called eve; it is in to-sort-out/" in said
    assert "import a list that has them, or collect with --new-students" in said
    assert list(collected(listed, files, new_students=True)[2]) == ["eve"]
    assert to_sort_out(listed) == {}, "it is in submitted/ now"


def test_canvas_says_who_is_late_but_not_when(listed):
    _, said, got = collected(listed, [(f"oneilljörg_LATE_77_9_{NAME}-1.ipynb", page())])
    assert list(got) == ["jo"]
    assert "jo: Canvas says LATE; give the time with --sheet" in said
    assert time_of(listed, "jo") is None


@pytest.mark.parametrize(("with_list", "students"), [(False, []), (True, ["ada"])])
def test_names_that_differ_only_in_case_are_not_merged(course, with_list, students):
    if with_list:
        with closing(course.gradebook()) as book:
            book.add_student("ada", first_name="Ada")
    files = [(f"{who}/{NAME}.ipynb", page(who)) for who in ("ada", "Ada", "ben")]
    _, said, got = collected(course, files)
    assert list(got) == [*students, *([] if with_list else ["ben"])]
    assert page("Ada") in to_sort_out(course).values()
    assert ("differ only in case" in said) == (not with_list)


def test_a_name_that_differs_in_case_from_a_stored_one_is_sorted_out(course):
    collected(course, [(f"ada/{NAME}.ipynb", page("1"))])
    _, said, got = collected(course, [(f"Ada/{NAME}.ipynb", page("2"))])
    assert got == {"ada": page("1")}
    assert "the names Ada and ada differ only in case" in said


def test_a_team_without_a_list_is_not_a_student(course):
    names = ("Default group", "Gruppe 12_7", "Team B_8", "Grouper Tom_9")
    files = [(f"{who}_{MOODLE}/{NAME}.ipynb", page(who)) for who in names]
    _, said, got = collected(course, files)
    assert list(got) == ["Grouper Tom"]
    assert said.count("who is in it? Copy the file for each member") == 3


def test_blind_numbers_come_from_the_sheet(listed):
    rows = [("41", "Ada Lovelace", None), ("42", None, "al@x.example"), ("43", "Eve", None)]
    sheet = [SheetRow(n, None, name, mail, None) for n, name, mail in rows]
    for number, who in (("41", "ada"), ("42", "ada"), ("43", None), ("44", None)):
        files = [(f"Participant_{number}_{MOODLE}/{NAME}.ipynb", page(number))]
        got = collected(listed, files, sheet=sheet)[2]
        assert (got.get("ada") == page(number)) == bool(who)


# When it was handed in.

LATE, EARLY = datetime(2026, 11, 21, 9), datetime(2026, 11, 19, 9)
BERLIN = ZoneInfo("Europe/Berlin")


def a_sheet(time):
    return [SheetRow("1", None, "Ada", None, time)]


@pytest.mark.parametrize(
    ("path", "options", "time"),
    [
        (f"Ada_1_{MOODLE}/{{}}.ipynb", {}, None),
        (f"Ada_1_{MOODLE}/{{}}.ipynb", {"sheet": a_sheet(EARLY)}, EARLY),
        (f"Ada_1_{MOODLE}/{{}}.ipynb", {"sheet": a_sheet(EARLY), "handed_in": LATE}, LATE),
        (f"Ada_1_{MOODLE}/{{}}.ipynb", {"sheet": a_sheet(None)}, None),
        ("1-2 - Ada - Nov 19, 2026 104 AM/{}.ipynb", {}, None),
        (
            "1-2 - Ada - Nov 19, 2026 104 AM/{}.ipynb",
            {"zone": BERLIN},
            datetime(2026, 11, 19, 0, 4),
        ),
        (
            "1-2 - Ada - Jul 1, 2026 1159 PM/{}.ipynb",
            {"zone": BERLIN},
            datetime(2026, 7, 1, 21, 59),
        ),
        ("1-2 - Ada - Foo 1, 2026 1159 PM/{}.ipynb", {"zone": BERLIN}, None),
        (
            "{0}_Ada_attempt_2026-11-19-22-15-30_{0}.ipynb",
            {"zone": BERLIN},
            datetime(2026, 11, 19, 21, 15, 30),
        ),
        ("Ada/{}.ipynb", {}, None),
    ],
)
def test_only_times_of_the_hand_in_are_stored(course, path, options, time):
    _, said, got = collected(course, [(path.format(NAME), page())], **options)
    (who,) = got
    assert time_of(course, who) == time
    assert ("has no time, so it is not late" in said) == (time is None)
    assert ("their zone is --zone" in said) == ("zone" not in options and "2026" in path)


@pytest.mark.parametrize(
    ("place", "counts"),
    [
        ("ada/{}", True),
        ("ada", False),
        (f"Ada_1_{MOODLE}", False),
        (f"Ada_1_{MOODLE}/{{}}", False),
        ("ada/hand-in.zip/{}", False),
    ],
)
def test_a_students_own_timestamp_is_no_proof(course, tmp_path, place, counts):
    around, _, inside = place.format(NAME).partition(".zip/")
    stamp = (f"{inside or around}/timestamp.txt", b"2026-11-19 09:00:00 UTC\n")
    files = [stamp, (f"{inside or around}/{NAME}.ipynb", page())]
    if inside:
        files = [(f"{around}.zip", zipped(files))]
    (who,) = collected(course, unpacked(tmp_path / "all", files))[2]
    assert time_of(course, who) == (EARLY if counts else None)


@pytest.mark.parametrize(
    ("first", "second", "content", "what", "time"),
    [
        (EARLY, None, "1", "unchanged", EARLY),  # a known time is never lost
        (EARLY, None, "2", "newer", None),
        (None, EARLY, "1", "newer", EARLY),
        (LATE, EARLY, "2", "older", LATE),
        (EARLY, LATE, "2", "newer", LATE),
        (LATE, EARLY, "1", "newer", EARLY),  # the system's own time corrects ours
        (None, None, "2", "newer", None),
    ],
)
def test_a_newer_file_replaces_an_earlier_one(course, first, second, content, what, time):
    path = f"Ada_1_{MOODLE}/{NAME}.ipynb"
    collected(course, [(path, page("1"))], sheet=a_sheet(first))
    _, said, got = collected(course, [(path, page(content))], sheet=a_sheet(second))
    assert f"1 {what}" in said
    assert got["Ada"] == page("1" if what == "older" else content)
    assert time_of(course, "Ada") == time
    gone = "replaces a hand-in of 2026-11-19 09:00 UTC, and has no time"
    assert (gone in said) == (what == "newer" and first == EARLY and second is None)


def test_the_latest_attempt_counts_and_two_at_once_are_asked_about(listed):
    form = "1-2 - {} - Nov {}, 2026 {} AM/{}.ipynb"
    times = [("19", "1000"), ("20", "900"), ("20", "111")]
    files = [(form.format("Ada Lovelace", *time, NAME), page("".join(time))) for time in times]
    same = [
        (form.format("Cy de la Cruz", "19", "900", NAME) + tail, page(tail))
        for tail in ("", ".txt")
    ]
    _, said, got = collected(listed, files + same, zone=BERLIN)
    assert got == {"ada": page("20900")}
    assert "1 new, 0 newer, 0 unchanged, 2 older, 0 refused, 2 to sort out" in said


def test_two_attempts_of_one_name_may_be_two_people_if_there_is_no_list(course):
    files = [
        (f"1-2 - Jan Novák - Nov {day}, 2026 900 AM/{NAME}.ipynb", page(str(day)))
        for day in (19, 20)
    ]
    _, said, got = collected(course, files)
    assert got == {}
    assert "several names lead to Jan Novák" in said


# Nothing is written by a plan, and nothing is left out.


def test_a_dry_run_shows_each_file_and_writes_nothing(course):
    files = [
        (f"Ada_1_{MOODLE}/{NAME}.ipynb", page()),
        (f"Default group_{MOODLE}/{NAME}.ipynb", page()),
        (f"Ben_2_{MOODLE}/../{NAME}.ipynb", page()),
        ("__MACOSX/x", b""),
    ]
    before = sorted(course.root.rglob("*"))
    code, said, _ = collected(course, files, dry_run=True, handed_in=EARLY)
    assert code == 1
    assert sorted(course.root.rglob("*")) == before
    assert f"  new | Ada {NAME} | 2026-11-19 09:00 UTC | Ada_1_{MOODLE}/{NAME}.ipynb" in said
    assert f"  to sort out | ? {NAME} | no time | Default group_{MOODLE}/{NAME}.ipynb" in said
    assert "1 new, 0 newer, 0 unchanged, 0 older, 1 refused, 1 to sort out, 1 not hand-ins" in said


PARTS = st.sampled_from(
    [
        *("ada", "Ada", "ben", "Cy de la Cruz", "download", "x.zip", NAME, OTHER, "1_2_3", ""),
        *(
            f"Ada_1_{MOODLE}",
            f"Ben B_2_{MOODLE}_",
            f"Ben B_3_{MOODLE}",
            "psx-small-ada",
            "..",
            "\\",
        ),
        *("1-2 - Ada - Nov 19, 2026 1159 PM", "__MACOSX", ".git", "ada_psx_small", "Default group"),
    ]
)
FILES = st.sampled_from(
    [
        *(f"{NAME}.ipynb", f"{NAME} (1).ipynb", f"ada_{NAME}.ipynb", f"ben - {NAME}.ipynb", ""),
        *(f"{OTHER}.ipynb", "a.ipynb", "a.py", "a.pdf", "index.html", "timestamp.txt", NAME),
        *(f"lovelaceada_7_8_{NAME}.ipynb", f"{NAME}_ada_attempt_2026-11-19-22-15-30.txt"),
        *(f"{NAME}_ben_attempt_2026-11-19-22-15-30_{NAME}.ipynb", f"Eve_9_{MOODLE}_{NAME}.ipynb"),
    ]
)
PATHS = st.tuples(st.lists(PARTS, max_size=3), FILES).map(lambda one: "/".join([*one[0], one[1]]))
ADA = Person("ada", "Ada", "", "al@x.example", "7")


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(PATHS, max_size=8), st.booleans(), st.booleans())
def test_every_path_has_one_entry_and_nobody_gets_anothers_notebook(
    any_course, paths, with_list, several
):
    contents_ = [page(str(n)) for n in range(len(paths))]
    files = [HandIn(path, lambda c=c: c) for path, c in zip(paths, contents_, strict=True)]
    people = People([ADA, Person("ben", "Ben", "B")] if with_list else [])
    names = [NAME, OTHER] if several else [NAME]
    found = plan.plan(files, names, any_course, people, entries.Options())
    assert sorted(entry.path for entry in found) == sorted(paths)
    states = {entries.TAKEN, *entries.STATES} - {entries.NEW, entries.NEWER}
    assert all(entry.state in states for entry in found)
    taken = [entry for entry in found if entry.state == entries.TAKEN]
    assert len({(one.assignment, one.student) for one in taken}) == len(taken)
    for one in found:
        if one.state == entries.TAKEN or one.student:
            top = next(part for part in one.path.split("/") if part)
            assert not with_list or one.student in ("ada", "ben")
            assert one.content in contents_ or one.state == entries.NOT
            assert ".." not in one.path, top
    for entry in found:  # one with other content than the one that counts is named
        same = [one for one in taken if one.student == entry.student]
        if entry.state == entries.UNCHANGED:
            assert any(one.page == entry.page for one in same)


NOISE = {
    "Thumbs.db": b"x",
    "__MACOSX/._a.ipynb": b"x",
    f"stray/{NAME}.ipynb": b'{"cells": [1]}',
    f"{NAME}.ipynb": b'{"cells": [2]}',
    f"Mallory_4999_{MOODLE}/{NAME}.ipynb": b'{"cells": [3]}',
    f"ex02/{OTHER}.ipynb": b'{"cells": [4]}',
    "grades.xlsx": b"PK",
    f"mallory_1_2_{NAME}.ipynb": b'{"cells": [5]}',
}


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_whoever_is_taken_gets_their_own_in_any_part_of_any_download(any_course, data):
    download = DOWNLOADS[data.draw(st.sampled_from(sorted(DOWNLOADS)))]()
    files = data.draw(st.lists(st.sampled_from(download.files), min_size=1, unique=True))
    files = files + [
        (name, NOISE[name]) for name in data.draw(st.sets(st.sampled_from(sorted(NOISE))))
    ]
    around = data.draw(st.sampled_from(["", "download/", "a/b/"]))
    hand_ins = [HandIn(around + hand_in_files.normal(name), lambda c=c: c) for name, c in files]
    listed = data.draw(st.sampled_from([CLASS, CLASS[:20], []]))
    options = download.options._replace(new_students=data.draw(st.booleans()))
    people = People(listed, options.sheet)
    found = plan.plan(hand_ins, [NAME], any_course, people, options)
    assert sorted(one.path for one in found) == sorted(one.name for one in hand_ins)
    owners = defaultdict(set)
    for entry in found:
        if entry.state == entries.TAKEN and b'"who"' in entry.page:
            owners[entry.student].add(json.loads(entry.page)["metadata"]["who"].split()[0])
            if entry.student in {one.id for one in listed}:
                assert owners[entry.student] == {entry.student}, entry
    assert all(len(one) == 1 for one in owners.values())
    assert len(owners) == len(set().union(*owners.values())), "nobody is taken twice"


@pytest.fixture(scope="module")
def any_course(tmp_path_factory):
    return with_two_assignments(tmp_path_factory.mktemp("any") / "c")


def test_a_right_name_is_seen_without_endings_and_numbers():
    again = r"(?: ?\(\d+\))?"
    right = ["a/x.ipynb", "X (2).ipynb.txt", "x", "x.py"]
    assert all(contents.right_name(file, "x", again) for file in right)
    assert not any(contents.right_name(file, "x", again) for file in ("x2.ipynb", "ax.ipynb"))
