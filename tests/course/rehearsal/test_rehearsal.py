"""The rehearsal: its class, the expected points, and the detection of false grades."""

import shutil
from collections import Counter
from statistics import correlation, mean, stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course import ROOT
from course.feedback.variants import variant
from course.grading.grade_workers import cores
from course.grading.sandbox import why_no_sandbox
from course.rehearsal import rehearse, synthetic_answers
from course.rehearsal.rehearse import Grades, differences, hand_in, make_course, report
from course.rehearsal.synthetic_answers import OTHER, OURS, UNWRITTEN, WRONG, Answer, Task, Unusable
from course.rehearsal.synthetic_class import chance, draw_class, truth
from course.settings import Course, CourseError
from tests.conftest import read_page

pytestmark = pytest.mark.slow

ASSIGNMENT = "ex00_warm_up"  # its hidden tests are the fastest


def answer(task, kind, calls=(), loses=()):
    return Answer(task, kind, "", "", frozenset(calls), frozenset(loses))


def task(name, calls=(), *more):
    """A task whose own solution calls these tasks."""
    both = [f"test-{name}", f"hidden-{name}"]
    return Task(name, (answer(name, OURS, calls), answer(name, UNWRITTEN, (), both), *more))


# Four tasks: c calls a and b, d is independent; a and b can be wrong, d can be solved another way.
TASKS = [
    task("a", (), answer("a", WRONG, (), ["hidden-a", "hidden-c"])),
    task("b", (), answer("b", WRONG, (), ["test-b", "hidden-b"])),
    task("c", ("a", "b"), answer("c", WRONG, ("a",), ["hidden-c"]), answer("c", OTHER)),
    task("d", (), answer("d", OTHER), answer("d", WRONG, (), ["hidden-d"])),
]
POINTS = {f"{kind}-{name}": 1.0 for name in "abcd" for kind in ("test", "hidden")}
POINTS |= {"explain": 4.0}


def test_the_seed_determines_the_class_and_all_kinds_of_answers_occur():
    assert draw_class(TASKS, 30, 3) == draw_class(TASKS, 30, 3)
    assert draw_class(TASKS, 30, 3) != draw_class(TASKS, 30, 4)
    with pytest.raises(ValueError, match="at least one student; got 0"):
        draw_class(TASKS, 0, 3)
    kinds = Counter(a.kind for s in draw_class(TASKS, 200, 0) for a in s.answers.values())
    assert set(kinds) == {OURS, OTHER, WRONG, UNWRITTEN}
    assert min(kinds.values()) > 20


def test_abilities_and_answers_follow_the_model():
    """An independent task is solved with the frequency of the logistic curve."""
    students = draw_class(TASKS, 4_000, 1)
    abilities = [student.ability for student in students]
    assert abs(mean(abilities)) < 0.08
    assert abs(stdev(abilities) - 1) < 0.06
    solved = [student.answers["d"].kind in (OURS, OTHER) for student in students]
    expected = [chance(ability, 3, 4) for ability in abilities]
    assert abs(mean(solved) - mean(expected)) < 0.03
    promised = correlation(abilities, expected)
    assert correlation(abilities, solved) == pytest.approx(promised, abs=0.45)
    able = [s for s, a in zip(solved, abilities, strict=True) if a > 1]
    unable = [s for s, a in zip(solved, abilities, strict=True) if a < -1]
    assert mean(able) > 0.6 > 0.1 > mean(unable)


@given(st.integers(0, 10_000))
def test_no_two_answers_share_a_test_so_that_losses_add_up(seed):
    for student in draw_class(TASKS, 20, seed):
        kinds = {name: student.answers[name].kind for name in "abcd"}
        own = {name for name in "abc" if kinds[name] in (WRONG, OTHER)}
        assert len(own) <= 1, "a, b and c meet in the tests of c"
        if kinds["c"] in (WRONG, OTHER):
            assert UNWRITTEN not in (kinds["a"], kinds["b"])


def test_a_student_loses_what_any_of_the_answers_loses():
    (student,) = draw_class(TASKS, 1, 0)
    answers = {one.name: one.only(OURS) for one in TASKS}
    student = student._replace(answers=answers, explains=True)
    assert truth(student, POINTS) == POINTS | {"explain": None}
    answers |= {"a": TASKS[0].of(WRONG)[0], "d": TASKS[3].only(UNWRITTEN)}
    lost = dict.fromkeys(("hidden-a", "hidden-c", "test-d", "hidden-d"), 0.0)
    assert truth(student, POINTS) == POINTS | lost | {"explain": None}
    assert truth(student._replace(explains=False), POINTS)["explain"] == 0, "nothing to look at"


# With an assignment: points lost by each answer, and by complete hand-ins.


@pytest.fixture(scope="module")
def tasks():
    """All kinds of answers to every task, tried once."""
    few = [Task(one.name, one.answers[:4]) for one in synthetic_answers.read_tasks(ASSIGNMENT)]
    found, left_out = synthetic_answers.measured(ASSIGNMENT, few, workers=2)
    assert left_out == []
    return found


def test_an_answer_loses_its_own_tests_and_those_of_tasks_that_call_it(tasks):
    by_name = {one.name: one for one in tasks}
    assert by_name["shares"].only(UNWRITTEN).loses == {
        *("test-shares", "hidden-shares"),
        "test-examine-shares",
    }
    for one in tasks:
        assert one.only(OURS).loses == one.of(OTHER)[0].loses == frozenset()
        (wrong,) = one.of(WRONG)
        assert f"hidden-{one.name}" in wrong.loses
        assert (f"test-{one.name}" in wrong.loses) == wrong.diagnosed


def test_mislabelled_and_missing_answers_are_reported(tmp_path):
    (first, *_) = synthetic_answers.read_tasks(ASSIGNMENT)
    wrong = first.of(WRONG)[0]
    right = wrong._replace(source=first.only(OURS).source, name="is right")
    both = Task(first.name, (first.only(OURS), right))
    with pytest.raises(Unusable, match=rf"{first.name}, wrong, is right: fails nothing"):
        synthetic_answers.measured(ASSIGNMENT, [both], workers=1)
    with pytest.raises(Unusable, match=rf"solutions/{ASSIGNMENT}/answers.txt is not in"):
        synthetic_answers.read_tasks(ASSIGNMENT, root=tmp_path)


def graded_here(stage, name, students):
    """Points by running each hand-in whole, with the hidden tests, in this Python."""
    scores = {}
    for student in students:
        place = stage.hand_in(name, student.name)
        theirs = {cell.id: cell.source for cell in read_page(place).cells}
        scope, scores[student.name] = {"__name__": "__main__"}, {}
        with variant(f"2026-fall/{student.name}"):
            for cell in read_page(ROOT / "solutions" / name / f"{name}.ipynb").code:
                text = theirs[cell.id] if cell.metadata.nbgrader.solution else cell.source
                if cell.id.startswith(("test-", "hidden-")):
                    try:
                        exec(compile(text, cell.id, "exec"), scope)
                        scores[student.name][cell.id] = float(cell.metadata.nbgrader.points)
                    except Exception:
                        scores[student.name][cell.id] = 0.0
                elif cell.metadata.nbgrader.solution or cell.id.startswith(("imports", "given")):
                    exec(compile(text, cell.id, "exec"), scope)
        written = "*Write your answer here" not in theirs["explain"]
        scores[student.name]["explain"] = None if written else 0.0
    return scores


@pytest.fixture(scope="module")
def stage(tmp_path_factory):
    return make_course(tmp_path_factory.mktemp("stage") / "here", Course(ROOT), ASSIGNMENT)


@pytest.fixture(scope="module")
def handed_in(stage, tasks):
    """Students with handed-in work, and its points when all of it is run together."""
    students = draw_class(tasks, 15, 5)
    hand_in(stage, ASSIGNMENT, students)
    return students, graded_here(stage, ASSIGNMENT, students)


def test_complete_hand_ins_get_the_points_of_their_answers(stage, handed_in):
    students, scores = handed_in
    points = rehearse._points(stage, ASSIGNMENT)
    text, agreed = report(ASSIGNMENT, students, points, Grades(scores, [1.0, 2.0, 4.5]))
    assert "Grades that differ from the truth: 0 of" in text, text
    assert agreed
    assert "Seconds per submission: median 2.0, slowest 4.5" in text
    assert "15 students, 4 tasks, Cronbach's alpha 0." in text
    assert len({tuple(row.values()) for row in scores.values()}) > 10, "they are not all alike"


def test_one_false_grade_is_reported(stage, handed_in):
    students, scores = handed_in
    false = {student: dict(row) for student, row in scores.items()}
    false["student-07"]["hidden-shares"] += 1
    del false["student-11"]
    points = rehearse._points(stage, ASSIGNMENT)
    text, agreed = report(ASSIGNMENT, students, points, Grades(false, [1.0]))
    assert not agreed
    assert "Grades that differ from the truth: 2 of" in text
    assert "student-07, hidden-shares: must be " in text
    assert "student-11: not in the gradebook" in text


def test_every_kind_of_difference_is_described():
    must = {"ada": {"a": 1.0, "b": None}, "bob": {"a": 1.0, "b": None}}
    got = {"ada": {"a": 1.0, "b": 0.0}, "bob": {"a": None, "c": 1.0}, "cyd": {}}
    assert differences(must, got) == [
        "ada, b: must be left to a person, is 0",
        "bob, a: must be 1, is left to a person",
        "bob, b: must be left to a person, is missing",
        "bob, c: must be missing, is 1",
        "cyd: nobody of this name handed in",
    ]


def test_the_gradebook_is_not_the_real_one(tmp_path, monkeypatch):
    monkeypatch.setenv("BERTLAB_GRADEBOOK", "postgresql+psycopg://real:secret@grades/real")
    real = Course(ROOT)
    assert real.db_url.startswith("postgresql")
    stage = make_course(tmp_path / "stage", real, ASSIGNMENT)
    assert stage.db_url == f"sqlite:///{tmp_path.resolve() / 'stage' / 'gradebook.db'}"
    assert stage.nbgrader.coursedir.db_url == stage.db_url
    with pytest.raises(CourseError, match="is there already: give --keep a folder that is new"):
        make_course(tmp_path / "stage", real, ASSIGNMENT)


def test_the_command_grades_a_small_class(tmp_path, capsys, monkeypatch, tasks):
    """With the real grader, in the sandbox where there is one."""
    known = tasks, ["left out: one"]
    monkeypatch.setattr(rehearse, "measured", lambda *arguments: arguments[-1](60.0) or known)
    without = ["--no-sandbox"] if why_no_sandbox() else []
    there = tmp_path / "kept"
    asked = [ASSIGNMENT, "--students", "3", "--seed", "2", "--keep", str(there), *without]
    assert rehearse.main(asked) == 0
    said = capsys.readouterr().out
    assert "26 answers to 4 tasks are tried" in said
    assert f": about {round(2 * 29 / cores())} min to go\n" in said
    assert "Grades that differ from the truth: 0 of 27" in said
    assert "left out: one" in said
    assert (there / ASSIGNMENT / "report.txt").read_text(encoding="utf-8") in said
    assert (there / ASSIGNMENT / "gradebook.db").exists()
    shutil.rmtree(there)


def test_what_cannot_be_rehearsed_is_reported(capsys):
    assert rehearse.main(["--students", "0"]) == 2
    assert "--students must be at least 1" in capsys.readouterr().err
    assert rehearse.main(["ex99"]) == 1
    assert "ex99: no such assignment" in capsys.readouterr().err
