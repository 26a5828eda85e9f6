"""Killed grading runs: the final gradebook is that of an undisturbed run."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from course import ROOT
from course.grading import grade_workers
from course.settings import Course
from tests.course.gradebook.test_gradebook import QUIET, threads
from tests.course.small_course import grade, graded_names, hand_in, make, rows, scores

pytestmark = pytest.mark.slow

RUN = """
import sys
from pathlib import Path
from tests.course.small_course import Course, grade
if __name__ == "__main__":
    sys.exit(grade(Course(Path(sys.argv[1])))[0])
"""


def start(course, code=RUN):
    """A grading run in a separate process."""
    command, folder = [sys.executable, "-c", code, course.root], course.root
    settings = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.Popen(command, env=settings, stderr=subprocess.DEVNULL, cwd=folder)


def alive(pid):
    try:
        return open(f"/proc/{pid}/stat").read().split(")")[1].split()[0] != "Z"
    except OSError:
        return False


def workers_of(course):
    log = course.root / "graded.txt"
    lines = log.read_text().splitlines() if log.exists() else []
    return {int(line.split()[1]) for line in lines}


def wait_for(condition, seconds=120):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    assert condition()


CLASS = {
    **{f"student{i}": {"share": i / 8, "wait": 0.3, "note": True} for i in range(8)},
    "late": {"handed_in": "2026-12-24 10:00:00 UTC"},
}
FEW = dict(list(CLASS.items())[:2])


def grade_by_threads(course):
    """The same without new processes, where no worker is killed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grade_workers, "cluster", threads)
        assert grade(course)[0] == 0
    return course


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    return grade_by_threads(make(tmp_path_factory.mktemp("undisturbed") / "all", CLASS))


@pytest.fixture(scope="module")
def few_undisturbed(tmp_path_factory):
    return grade_by_threads(make(tmp_path_factory.mktemp("undisturbed") / "few", FEW))


def test_a_run_killed_again_and_again_ends_with_the_same_gradebook(undisturbed, tmp_path):
    course = make(tmp_path / "b", CLASS)
    for graded in (1, 5):  # submissions that have been started when the run is killed
        run = start(course)
        wait_for(lambda graded=graded: len(graded_names(course)) >= graded)
        time.sleep(0.05 * graded)
        run.kill()
        run.wait()
        wait_for(lambda: not any(map(alive, workers_of(course))))
    assert start(course).wait(timeout=900) == 0
    assert rows(course) == rows(undisturbed)
    assert len(graded_names(course)) > len(CLASS), "some were begun twice: the kills hit"
    for student in CLASS:
        one, other = (place.graded_copy("psx_small", student) for place in (course, undisturbed))
        assert json.loads(one.read_text()) == json.loads(other.read_text())


@pytest.mark.parametrize("moment", ["write_atomically", "record", "charge_all"])
def test_a_run_killed_while_it_writes_ends_the_same(few_undisturbed, tmp_path, moment):
    """SIGKILL just after the graded copy, just after the scores, and before the penalties."""
    course = make(tmp_path / "b", FEW)
    where = {"write_atomically": "grade_run", "record": "records", "charge_all": "records"}
    code = f"""
import os, signal
from course.gradebook import records
from course.grading import grade_run, grade_workers
from tests.course.gradebook.test_gradebook import threads
grade_workers.cluster = threads
module = {where[moment]}
first = module.{moment}
def then_die(*arguments):
    if {moment == "charge_all"} or first(*arguments) or True:
        os.kill(os.getpid(), signal.SIGKILL)
module.{moment} = then_die
{RUN}"""
    assert start(course, code).wait(timeout=900) == -signal.SIGKILL
    grade_by_threads(Course(course.root))
    assert rows(course) == rows(few_undisturbed)


def test_dead_workers_lose_and_double_nothing_and_slow_ones_on_a_busy_machine_retry(tmp_path):
    course = make(tmp_path / "c", {"gus": {"die_once": True}})
    hand_in(course, "ada", wait=0.2)
    hand_in(course, "bob", late_once=True)
    code, said = grade(course)
    assert code == 0, said
    assert graded_names(course).count("gus") == 2
    assert graded_names(course)[-1] == "bob", "again, when nobody else is graded"
    assert [row[0] for row in rows(course)["graded"]] == ["ada", "bob", "gus"]
    given = [
        [row for (who, _), row in scores(course).items() if who == name] for name in ("ada", "bob")
    ]
    assert given[0] == given[1]


def test_a_submission_that_kills_every_worker_is_reported_and_the_others_are_graded(tmp_path):
    course = make(tmp_path / "c", {"ada": {}, "eve": {"die": True}, "zoe": {}})
    code, said = grade(course)
    assert code == 1
    assert "eve: NOT GRADED: it ended every process that graded it, alone, too" in said
    assert "2 graded now, 0 unchanged, 1 not graded" in said
    assert {row[2] for row in rows(course)["grades"] if row[0] == "eve"} == {None}


def test_each_worker_has_its_own_core():
    with grade_workers.cluster(2) as client:
        given = client.run(os.getenv, grade_workers.CORE).values()
    assert sorted(map(int, given)) == sorted(os.sched_getaffinity(0))[:2] or os.cpu_count() < 2


def test_a_cluster_elsewhere_grades_the_same(undisturbed, tmp_path):
    """`--scheduler`: a scheduler and workers that somebody else started."""
    from distributed import LocalCluster

    course = make(tmp_path / "a", CLASS)
    with LocalCluster(n_workers=2, threads_per_worker=1, scheduler_kwargs=QUIET) as cluster:
        assert grade(course, scheduler=cluster.scheduler_address)[0] == 0
    assert rows(course) == rows(undisturbed)
    assert len(workers_of(course)) == 2
