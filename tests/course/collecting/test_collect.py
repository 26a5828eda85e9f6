"""Hand-ins from folders and zip files: their owners, and what hostile ones cannot do."""

import io
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


def zipped(path, files):
    """A zip file of (name or ZipInfo, content)."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files:
            archive.writestr(name, content)
    return path


def collected(course, source, **options):
    """The exit code, the printed text, and the content of all files in submitted/."""
    said = []
    code = collect.collect(course, NAME, source, collect.Options(**options), say=said.append)
    room = course.room("submitted")
    files = sorted(path for path in room.rglob("*") if path.is_file())
    return code, "\n".join(said), {str(path.relative_to(room)): path.read_bytes() for path in files}


def notebooks(files):
    return sorted(name.split("/")[0] for name in files if name.endswith(f"{NAME}.ipynb"))


@pytest.mark.parametrize(
    "names",
    [
        (f"ada/{NAME}.ipynb", f"Zoë Łuk/{NAME}.ipynb"),
        (f"ada/{NAME}/{NAME}.ipynb", f"Zoë Łuk/{NAME}/{NAME}.ipynb"),
        (f"ada_{NAME}.ipynb", f"Zoë Łuk_{NAME}.ipynb"),
        (f"ada_1_{MOODLE}_/{NAME}.ipynb", f"Zoë Łuk_22_{MOODLE}_{NAME}.ipynb"),
    ],
)
@pytest.mark.parametrize("kind", ["folder", "zip"])
def test_each_systems_file_names_are_recognised(course, tmp_path, names, kind):
    if kind == "zip":
        source = zipped(tmp_path / "all.zip", [(name, PAGE) for name in names])
    else:
        source = tmp_path / "all"
        for name in names:
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).write_bytes(PAGE)
    code, said, files = collected(course, source)
    first, second = said.splitlines()
    assert (code, first) == (0, counted(new=2))
    assert second.startswith("  Each of 2 hand-ins has no time, so it is not late")
    assert notebooks(files) == ["Zoë Łuk", "ada"]
    assert files[f"ada/{NAME}/{NAME}.ipynb"] == PAGE
    assert not any("timestamp" in name for name in files), "the files' times are the download's"


def test_canvas_users_are_looked_up_and_late_hand_ins_reported(course, tmp_path):
    with closing(course.gradebook()) as book:
        book.add_student("ada", first_name="Ada", last_name="Lovelace", lms_user_id="123")
    names = [f"lovelaceada_LATE_123_9_{NAME}-1.ipynb", f"turingalan_LATE_77_9_{NAME}.ipynb"]
    source = zipped(tmp_path / "c.zip", [(n, PAGE) for n in names])
    code, said, files = collected(course, source)
    assert code == 1
    assert notebooks(files) == ["ada"]
    assert "nobody on the list of students is called turingalan; it is in to-sort-out/" in said
    assert "ada: Canvas says LATE" in said
    code, said, files = collected(course, source, new_students=True)
    assert (code, notebooks(files)) == (0, ["ada", "turingalan"])
    assert not any("timestamp" in name for name in files), "its zip has the download's time"


def test_moodle_names_are_looked_up_and_unclear_ones_are_kept_to_sort_out(
    course, tmp_path, monkeypatch
):
    def moodle(*people):
        names = [f"{who}_{MOODLE}_/{NAME}.ipynb" for who in people]
        return collected(course, zipped(tmp_path / "m.zip", [(n, n.encode()) for n in names]))

    with monkeypatch.context() as patch:
        patch.setattr(hand_in_files, "MB", 100)
        large = [(f"J_{number}_{MOODLE}_/{NAME}.ipynb", bytes(3000)) for number in (1, 2)]
        _, said, _ = collected(course, zipped(tmp_path / "l.zip", large))
    assert said.count("refused: larger than 20 MB") == 2
    assert not (course.root / "to-sort-out").exists()
    code, said, files = moodle("Jan Novak_2001", "Jan Novak_2002", "Ann Lee_7")
    assert (code, notebooks(files)) == (1, ["Ann Lee"])
    assert said.count("several people are called Jan Novak: --sheet tells them apart") == 2
    with closing(course.gradebook()) as book:
        book.add_student("ada", first_name="Ada", last_name="Lovelace")
        book.add_student("t1", first_name="Alan", last_name="Turing")
        book.add_student("t2", first_name="Alan", last_name="Turing")
    code, said, files = moodle("Ada Lovelace_1", "Alan Turing_2", "Eve_3")
    assert (code, notebooks(files)) == (1, ["Ann Lee", "ada"])
    assert "Alan Turing may be t1 or t2; it is in" in said
    assert "nobody on the list of students is called Eve; it is in" in said
    kept = sorted((course.root / "to-sort-out" / NAME).iterdir())
    who = ("Alan Turing_2", "Eve_3", "Jan Novak_2001", "Jan Novak_2002")
    assert [path.read_bytes().decode() for path in kept] == [
        f"{n}_{MOODLE}_/{NAME}.ipynb" for n in who
    ]
    kept[-1].rename(kept[-1].with_name(f"t2_{NAME}.ipynb"))
    code, said, files = collected(course, kept[-1].parent)
    assert (code, notebooks(files)) == (1, ["Ann Lee", "ada", "t2"])
    assert counted(new=1, to_sort_out=3) in said
    assert len(list(kept[-1].parent.iterdir())) == 3, "what is in submitted/ is sorted out"


def test_a_custom_pattern_and_one_time_for_all(course, tmp_path):
    source = zipped(tmp_path / "x.zip", [("w/ada@2026-10-01T10:00+02:00.ipynb", PAGE)])
    pattern = r"w/(?P<student_id>\w+)@(?P<timestamp>.*)\.ipynb"
    _, _, files = collected(course, source, pattern=pattern)
    assert files[f"ada/{NAME}/timestamp.txt"] == b"2026-10-01 08:00:00 UTC\n"
    for wrong, why in ((r"(", "not a regular expression"), (r"x", "needs a group")):
        with pytest.raises(CourseError, match=why):
            collected(course, source, pattern=wrong)
    source = zipped(tmp_path / "d.zip", [(f"bob/{NAME}.ipynb", PAGE)])
    _, _, files = collected(course, source, handed_in=datetime(2026, 10, 1, 8))
    assert files[f"bob/{NAME}/timestamp.txt"] == b"2026-10-01 08:00:00 UTC\n"


def test_an_earlier_hand_in_is_kept_aside(course, tmp_path):
    for page, what in (
        (b"first", "1 new"),
        (b"second", "1 newer"),
        (b"first", "1 older"),
        (b"second", "1 unchanged"),
    ):
        source = zipped(tmp_path / "d.zip", [(f"ada/{NAME}.ipynb", page)])
        _, said, files = collected(course, source)
        assert what in said
        earlier = f"the same as submitted/.earlier/ada/{NAME}/1; if it counts again, give its time"
        assert (earlier in said) == (what == "1 older")
    assert files[f"ada/{NAME}/{NAME}.ipynb"] == b"second"
    assert files[f".earlier/ada/{NAME}/1/{NAME}.ipynb"] == b"first"
    assert len(notebooks(files)) == 2
    assert course.students(NAME) == ["ada"]


def test_a_killed_collection_leaves_nothing_half_written(course, tmp_path, monkeypatch):
    source = zipped(tmp_path / "d.zip", [(f"{name}/{NAME}.ipynb", PAGE) for name in ("ada", "bob")])

    def killed(path, content):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(collect, "write_atomically", killed)
        with pytest.raises(KeyboardInterrupt):
            collected(course, source)
    assert course.students(NAME) == []
    _, said, files = collected(course, source)
    assert "2 new" in said
    assert notebooks(files) == ["ada", "bob"]


def test_the_file_with_the_right_name_counts_or_a_single_other_one(course, tmp_path):
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
    member = [(zipfile.ZipInfo(name, (2026, 10, 1, 10, 0, 0)), page) for name, page in files]
    code, said, files = collected(course, zipped(tmp_path / "d.zip", member))
    assert code == 1
    assert notebooks(files) == ["ada", "bob"]
    assert files[f"ada/{NAME}/{NAME}.ipynb"] == PAGE
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
    before = sorted(path for path in tmp_path.rglob("*") if ".zip" not in path.name)
    source = zipped(tmp_path / "bad.zip", [(name, b"evil"), (f"ada/{NAME}.ipynb", PAGE)])
    code, said, files = collected(course, source)
    assert code == 1
    assert said.count("refused:") == 1
    assert said.isprintable() or set(said) - {"\n"} == {c for c in said if c.isprintable()}
    assert notebooks(files) == ["ada"]
    new = {path for path in tmp_path.rglob("*") if ".zip" not in path.name} - set(before)
    assert all(course.room("submitted") in [path, *path.parents] for path in new)


def with_names(path, files):
    """A zip file whose names are these bytes, and said to be UTF-8."""
    names = {f"é{number:03}": name for number, (name, _) in enumerate(files)}
    pairs = zip(names, (content for _, content in files), strict=True)
    zipped(path, [(mark + "x" * (len(names[mark]) - 5), content) for mark, content in pairs])
    made = path.read_bytes()
    for mark, name in names.items():
        made = made.replace((mark + "x" * (len(name) - 5)).encode(), name)
    path.write_bytes(made)
    return path


ODD = [
    b"m\xfcller/" + f"{NAME}.ipynb".encode(),
    b"\xff\xfe\xfd/" + f"{NAME}.ipynb".encode(),
    b"eve/\xed\xa0\x80.ipynb",
    b"\xc3/" + b"x" * 100,
]


def test_a_name_that_is_not_utf_8_stops_nobody_in_a_folder_or_a_zip_file(course, tmp_path):
    files = [(name, PAGE) for name in (*ODD, b"ada/" + f"{NAME}.ipynb".encode())]
    for name, content in files:
        path = os.path.join(os.fsencode(tmp_path / "folder"), name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content)
    inner = with_names(tmp_path / "inner.zip", files).read_bytes()
    for source in (
        tmp_path / "folder",
        with_names(tmp_path / "names.zip", files),
        zipped(tmp_path / "outer.zip", [("bob.zip", inner), (f"ada/{NAME}.ipynb", PAGE)]),
    ):
        _, said, got = collected(course, source)
        assert "ada" in notebooks(got)
        assert all(line.isprintable() for line in said.splitlines())
        said.encode()
        assert f"; {6 if source.name == 'outer.zip' else 5} files" in said


def test_a_file_that_cannot_be_read_or_stored_stops_nobody(course, tmp_path, monkeypatch):
    for who in ("ada", "bob", "eve"):
        (tmp_path / "in" / who).mkdir(parents=True)
        (tmp_path / "in" / who / f"{NAME}.ipynb").write_bytes(PAGE)
    (tmp_path / "in" / "eve" / f"{NAME}.ipynb").write_bytes(b"dies here")
    (course.room("submitted") / "bob").parent.mkdir(exist_ok=True)
    (course.room("submitted") / "bob").write_text("not a folder")
    monkeypatch.setattr(contents, "read", dies_here)
    code, said, got = collected(course, tmp_path / "in")
    assert code == 1
    assert notebooks(got) == ["ada"]
    assert f"eve/{NAME}.ipynb: refused: it cannot be read within" in said
    assert f"bob/{NAME}.ipynb: refused: it cannot be stored: " in said


def dies_here(_, content):
    if content == b"dies here":
        os.kill(os.getpid(), signal.SIGKILL)
    return content, "", set()


def test_one_persons_many_files_are_a_few_lines(course, tmp_path):
    files = [(f"eve/a{number}\\..{'x' * 500}", b"") for number in range(440)]
    code, said, _ = collected(course, zipped(tmp_path / "m.zip", files))
    assert code == 1
    assert said.count("refused:") == 5
    assert "eve: 435 more files to look at: --dry-run names them" in said
    assert max(map(len, said.splitlines())) < 420


def test_no_student_hands_in_for_another(course, tmp_path):
    """The part of a file's name that a student chooses does not identify its owner."""
    moodle = [
        (f"Eve_1_assignsubmission_file_/Ada_2_assignsubmission_file_{NAME}.ipynb", b"eve"),
        (f"Eve_1_assignsubmission_file_/ada/{NAME}.ipynb", b"eve"),
    ]
    _, _, files = collected(course, zipped(tmp_path / "m.zip", moodle))
    assert notebooks(files) == ["Eve"]
    plain = [(f"gus/ada_{NAME}.ipynb", b"x"), (f"bob/{NAME}.ipynb", b"y")]
    _, _, files = collected(course, zipped(tmp_path / "p.zip", plain))
    assert notebooks(files) == ["Eve", "bob", "gus"]
    canvas = [(f"eve_5_6_ada_7_8_{NAME}.ipynb", b"z")]
    _, _, files = collected(course, zipped(tmp_path / "c.zip", canvas))
    assert notebooks(files) == ["5", "Eve", "bob", "gus"]


def test_links_pipes_and_zip_bombs_are_rejected(course, tmp_path, monkeypatch):
    link = zipfile.ZipInfo(f"eve/{NAME}.ipynb")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    secret = str(course.room("source") / NAME / f"{NAME}.ipynb").encode()
    bomb = b"0" * (hand_in_files.FILE_MB * hand_in_files.MB + 1)
    files = [(link, secret), (f"bob/{NAME}.ipynb", bomb), (f"ada/{NAME}.ipynb", PAGE)]
    code, said, got = collected(course, zipped(tmp_path / "z.zip", files))
    assert code == 1
    assert notebooks(got) == ["ada"]
    assert "a link, not a file" in said
    assert "larger than 20 MB" in said
    monkeypatch.setattr(hand_in_files, "TOTAL_MB", 10)
    with pytest.raises(CourseError, match=r"at most 50000 files and 10 MB are taken"):
        collected(course, tmp_path / "z.zip")

    folder = tmp_path / "folder"
    for name in ("eve", "fay"):
        (folder / name).mkdir(parents=True)
    (folder / "eve" / f"{NAME}.ipynb").symlink_to(course.room("source") / NAME / f"{NAME}.ipynb")
    os.mkfifo(folder / "fay" / f"{NAME}.ipynb")
    (folder / "gus.ipynb").symlink_to(course.room("source") / NAME, target_is_directory=True)
    code, said, got = collected(course, folder)
    assert code == 1
    assert notebooks(got) == ["ada"]
    assert said.count("refused:") == 3


def test_a_false_size_a_broken_member_and_neither_folder_nor_zip(course, tmp_path):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"eve/{NAME}.ipynb", b"0" * 30_000_000)
    lying = made.getvalue().replace((30_000_000).to_bytes(4, "little"), (9).to_bytes(4, "little"))
    (tmp_path / "lie.zip").write_bytes(lying)
    code, said, files = collected(course, tmp_path / "lie.zip")
    assert (code, files) == (1, {})
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
