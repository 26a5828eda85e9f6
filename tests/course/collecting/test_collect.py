"""Hand-ins from folders and zip files: their owners, and what hostile ones cannot do."""

import os
import signal
import stat
import zipfile
from contextlib import closing
from datetime import datetime

import pytest

from course.collecting import collect, contents, hand_in_files, identity
from course.collecting.entries import STATES
from course.collecting.opening import Refused
from course.settings import CourseError
from tests.course.collecting.layouts import collected, time_of, unpacked, zipped
from tests.course.small_course import NAME, make

pytestmark = pytest.mark.slow

PAGE = b'{"cells": []}'
MOODLE = "assignsubmission_file"  # part of the names that it writes


def counted(**states):
    """The line of counts."""
    numbers = [
        f"{states.pop(state.replace(' ', '_').replace('-', '_'), 0)} {state}" for state in STATES
    ]
    assert not states, states
    total = sum(int(number.split()[0]) for number in numbers)
    return f"{NAME}: {', '.join(numbers)}; {total} {'file' if total == 1 else 'files'}"


@pytest.fixture
def course(tmp_path):
    return make(tmp_path / "c")


def test_moodle_names_are_looked_up_and_unclear_ones_are_kept_to_sort_out(
    course, tmp_path, monkeypatch
):
    def moodle(*people):
        names = [f"{who}_{MOODLE}_/{NAME}.ipynb" for who in people]
        return collected(course, [(name, name.encode()) for name in names])

    with monkeypatch.context() as patch:
        patch.setattr(hand_in_files, "MB", 100)
        large = [(f"J_{number}_{MOODLE}_/{NAME}.ipynb", bytes(3000)) for number in (1, 2)]
        _, said, _ = collected(course, large)
    assert said.count("refused: larger than 20 MB") == 2
    assert not (course.root / "to-sort-out").exists()
    code, said, got = moodle("Jan Novak_2001", "Jan Novak_2002", "Ann Lee_7")
    assert (code, list(got)) == (1, ["Ann Lee"])
    assert said.count("several people are called Jan Novak: --sheet tells them apart") == 2
    with closing(course.gradebook()) as book:
        book.add_student("ada", first_name="Ada", last_name="Lovelace")
        book.add_student("t1", first_name="Alan", last_name="Turing")
        book.add_student("t2", first_name="Alan", last_name="Turing")
    code, said, got = moodle("Ada Lovelace_1", "Alan Turing_2", "Eve_3")
    assert (code, list(got)) == (1, ["Ann Lee", "ada"])
    assert "Alan Turing may be t1 or t2; it is in" in said
    assert "nobody on the list of students is called Eve; it is in" in said
    kept = sorted((course.root / "to-sort-out" / NAME).iterdir())
    who = ("Alan Turing_2", "Eve_3", "Jan Novak_2001", "Jan Novak_2002")
    assert [path.read_bytes().decode() for path in kept] == [
        f"{n}_{MOODLE}_/{NAME}.ipynb" for n in who
    ]
    kept[-1].rename(kept[-1].with_name(f"t2_{NAME}.ipynb"))
    code, said, got = collected(course, kept[-1].parent)
    assert (code, list(got)) == (1, ["Ann Lee", "ada", "t2"])
    assert counted(new=1, to_sort_out=3) in said
    assert len(list(kept[-1].parent.iterdir())) == 3, "what is in submitted/ is sorted out"


def test_a_custom_pattern_and_one_time_for_all(course):
    files = [("w/ada@2026-10-01T10:00+02:00.ipynb", PAGE)]
    collected(course, files, pattern=r"w/(?P<student_id>\w+)@(?P<timestamp>.*)\.ipynb")
    assert time_of(course, "ada") == datetime(2026, 10, 1, 8)
    for wrong, why in ((r"(", "not a regular expression"), (r"x", "needs a group")):
        with pytest.raises(CourseError, match=why):
            collected(course, files, pattern=wrong)
    collected(course, [(f"bob/{NAME}.ipynb", PAGE)], handed_in=datetime(2026, 10, 1, 9))
    assert time_of(course, "bob") == datetime(2026, 10, 1, 9)


def test_an_earlier_hand_in_is_kept_aside(course):
    earlier = f"submitted/.earlier/ada/{NAME}/1"
    for page, what in (
        (b"first", "1 new"),
        (b"second", "1 newer"),
        (b"first", "1 older"),
        (b"second", "1 unchanged"),
    ):
        _, said, got = collected(course, [(f"ada/{NAME}.ipynb", page)])
        assert what in said
        same = f"the same as {earlier}; if it counts again, give its time"
        assert (same in said) == (what == "1 older")
    assert got == {"ada": b"second"}
    assert [path.read_bytes() for path in (course.root / earlier).iterdir()] == [b"first"]


def test_a_killed_collection_leaves_nothing_half_written(course, monkeypatch):
    files = [(f"{name}/{NAME}.ipynb", PAGE) for name in ("ada", "bob")]

    def killed(path, content):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(collect, "write_atomically", killed)
        with pytest.raises(KeyboardInterrupt):
            collected(course, files)
    assert course.students(NAME) == []
    _, said, got = collected(course, files)
    assert "2 new" in said
    assert got == {"ada": PAGE, "bob": PAGE}


def test_the_file_with_the_right_name_counts_or_a_single_other_one(course):
    files = [
        (f"ada/{NAME}.ipynb", PAGE),
        ("ada/scratch.ipynb", b"scratch"),
        (f"ada/.ipynb_checkpoints/{NAME}-checkpoint.ipynb", b"old"),
        (f"__MACOSX/ada/._{NAME}.ipynb", b"mac"),
        ("bob/mine.ipynb", b"mine"),
        ("bob/._mine.ipynb", b"mac"),
        ("eve/a.ipynb", b"a"),
        ("eve/b.ipynb", b"b"),
        ("eve/photo.jpg", b"x"),
    ]
    code, said, got = collected(course, files)
    assert (code, got) == (1, {"ada": PAGE, "bob": b"mine"})
    why = "to sort out: several notebooks, not clear which counts: a.ipynb, b.ipynb; it is in"
    assert all(f"eve/{name}: {why}" in said for name in ("a.ipynb", "b.ipynb"))
    assert "ada: not taken: scratch.ipynb: beside psx_small.ipynb, which counts" in said
    assert counted(new=2, to_sort_out=2, not_hand_ins=5) in said


# What others may put into a zip file.

BAD_NAMES = [
    f"../../solutions/{NAME}/{NAME}.ipynb",
    f"/etc/{NAME}.ipynb",
    f"..\\ada\\{NAME}.ipynb",
    f"C:/x/{NAME}.ipynb",
    f"ada/../../bob/{NAME}.ipynb",
    f"../{NAME}.ipynb",
    f".hidden/{NAME}.ipynb",
    f"*/{NAME}.ipynb",
    f"a\x1b[2Jda/{NAME}.ipynb",
    f"a\u202eda/{NAME}.ipynb",
    f"{'a' * 200}/{NAME}.ipynb",
    f" /{NAME}.ipynb",
]


@pytest.mark.parametrize("name", BAD_NAMES)
def test_bad_names_are_rejected_in_one_line_and_the_others_collected(course, tmp_path, name):
    before = set(tmp_path.rglob("*"))
    code, said, got = collected(course, [(name, b"evil"), (f"ada/{NAME}.ipynb", PAGE)])
    assert code == 1
    assert said.count("refused:") == 1
    assert all(line.isprintable() for line in said.splitlines())
    assert list(got) == ["ada"]
    new = set(tmp_path.rglob("*")) - before - {tmp_path / "download.zip"}
    assert all(course.room("submitted") in [path, *path.parents] for path in new)


def with_names(files):
    """A zip file whose names are these bytes, and said to be UTF-8."""
    names = {f"é{number:03}": name for number, (name, _) in enumerate(files)}
    pairs = zip(names, (content for _, content in files), strict=True)
    made = zipped([(mark + "x" * (len(names[mark]) - 5), content) for mark, content in pairs])
    for mark, name in names.items():
        made = made.replace((mark + "x" * (len(name) - 5)).encode(), name)
    return made


ODD = [
    b"m\xfcller/" + f"{NAME}.ipynb".encode(),
    b"\xff\xfe\xfd/" + f"{NAME}.ipynb".encode(),
    b"eve/\xed\xa0\x80.ipynb",
    b"\xc3/" + b"x" * 100,
]


def test_a_name_that_is_not_utf_8_stops_nobody_in_a_folder_or_a_zip_file(course, tmp_path):
    files = [(name, PAGE) for name in (*ODD, b"ada/" + f"{NAME}.ipynb".encode())]
    folder = unpacked(tmp_path / "in", [(os.fsdecode(name), content) for name, content in files])
    made = with_names(files)
    outer = [("bob.zip", made), (f"ada/{NAME}.ipynb", PAGE)]
    for source, number in ((folder, 5), (made, 5), (outer, 6)):
        _, said, got = collected(course, source)
        assert "ada" in got
        assert all(line.isprintable() for line in said.splitlines())
        said.encode()
        assert f"; {number} files" in said


def test_a_file_that_cannot_be_read_or_stored_stops_nobody(course, monkeypatch):
    files = [(f"{who}/{NAME}.ipynb", PAGE) for who in ("ada", "bob")]
    course.room("submitted").mkdir()
    (course.room("submitted") / "bob").write_text("not a folder")
    monkeypatch.setattr(contents, "read", dies_here)
    code, said, got = collected(course, [*files, (f"eve/{NAME}.ipynb", b"dies here")])
    assert (code, list(got)) == (1, ["ada"])
    assert f"eve/{NAME}.ipynb: refused: it cannot be read within" in said
    assert f"bob/{NAME}.ipynb: refused: it cannot be stored: " in said


def dies_here(_, content):
    if content == b"dies here":
        os.kill(os.getpid(), signal.SIGKILL)
    return content, "", set()


def test_one_persons_many_files_are_a_few_lines(course):
    files = [(f"eve/a{number}\\..{'x' * 500}", b"") for number in range(440)]
    code, said, _ = collected(course, files)
    assert code == 1
    assert said.count("refused:") == 5
    assert "eve: 435 more files to look at: --dry-run names them" in said
    assert max(map(len, said.splitlines())) < 420


def test_links_pipes_and_zip_bombs_are_rejected(course, tmp_path, monkeypatch):
    secret = course.room("source") / NAME / f"{NAME}.ipynb"
    link = zipfile.ZipInfo(f"eve/{NAME}.ipynb")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    bomb = b"0" * (hand_in_files.FILE_MB * hand_in_files.MB + 1)
    files = [(link, str(secret).encode()), (f"bob/{NAME}.ipynb", bomb)]
    files += [(f"ada/{NAME}.ipynb", PAGE)]
    code, said, got = collected(course, files)
    assert (code, list(got)) == (1, ["ada"])
    assert "a link, not a file" in said
    assert "larger than 20 MB" in said
    monkeypatch.setattr(hand_in_files, "TOTAL_MB", 10)
    with pytest.raises(CourseError, match=r"at most 50000 files and 10 MB are taken"):
        collected(course, files)

    folder = tmp_path / "folder"
    for name in ("eve", "fay"):
        (folder / name).mkdir(parents=True)
    (folder / "eve" / f"{NAME}.ipynb").symlink_to(secret)
    os.mkfifo(folder / "fay" / f"{NAME}.ipynb")
    (folder / "gus.ipynb").symlink_to(secret.parent, target_is_directory=True)
    code, said, got = collected(course, folder)
    assert (code, list(got)) == (1, ["ada"])
    assert said.count("refused:") == 3


def test_a_false_size_a_broken_member_and_neither_folder_nor_zip(course, tmp_path):
    made = zipped([(f"eve/{NAME}.ipynb", b"0" * 30_000_000)])
    lying = made.replace((30_000_000).to_bytes(4, "little"), (9).to_bytes(4, "little"))
    code, said, got = collected(course, lying)
    assert (code, got) == (1, {})
    assert said.count("refused:") == 1
    (tmp_path / "x.txt").write_text("hello")
    for source in (tmp_path / "x.txt", tmp_path / "nothing"):
        with pytest.raises(CourseError, match="give a folder or a zip file"):
            collected(course, source)


@pytest.mark.parametrize(
    "good", ["ada", "Zoë Łuk", "李雷", "a+b@example.org", "O'Neil, Jo", "12345"]
)
def test_ids_of_all_languages_are_accepted(good):
    assert identity.good_id(good) == good


@pytest.mark.parametrize("bad", ["", ".", "..", ".x", "a/b", "a\\b", "a\nb", "a*", "[a]", "\u200b"])
def test_ids_that_cannot_name_a_folder_are_rejected(bad):
    with pytest.raises(Refused):
        identity.good_id(bad)
