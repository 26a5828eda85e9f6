"""A synthetic class: students of known ability, their hand-ins, and the expected points.

**Abilities.** An ability is drawn from the standard normal distribution. A task of difficulty b is
solved with the probability 1/(1 + exp(-1.7 (ability - b))), the two-parameter logistic model with
one slope for all; b ranges from -1.5 for an assignment's first task to 1 for its last one. A
student who solves it hands in our solution, or another right one. A student who does not hands in a
wrong one of `solutions/NAME/answers.py`, or leaves the task unwritten.

**Expected points.** Each answer that is not ours is tried once, with our solutions for the other
tasks, by running the notebook's cells in this Python, without the grader (`synthetic_answers.py`).
A student loses the points that any of the answers loses. That sum is correct because no two answers
that affect the same test are handed in together: see `_fits`.
"""

import random
from collections.abc import Mapping, Sequence
from math import exp
from typing import NamedTuple

from course.rehearsal.synthetic_answers import OTHER, OURS, UNWRITTEN, WRONG, Answer, Task

SLOPE = 1.7
EASIEST, HARDEST = -1.5, 1.0
ANOTHER_WAY = 0.35  # of the solved tasks with another known way
LEFT_UNWRITTEN = 0.3  # of the tasks that are not solved
EXPLAINS = 0.8  # of the class: students who answer questions in words


class Student(NamedTuple):
    """One student: `answers` has an answer for each task, by the task's name.

    explains: whether the answers in words, which a person grades, are written.
    """

    name: str
    ability: float
    answers: dict[str, Answer]
    explains: bool


def draw_class(tasks: Sequence[Task], n_students: int, seed: int) -> list[Student]:
    """Draw `n_students` students, determined by the seed."""
    if n_students < 1:
        raise ValueError(f"a class needs at least one student; got {n_students}")
    rng = random.Random(seed)
    digits = len(str(n_students))
    return [
        _draw_student(f"student-{number:0{digits}}", tasks, rng)
        for number in range(1, n_students + 1)
    ]


def chance(ability: float, place: int, n_tasks: int) -> float:
    """The probability that a student of this ability solves the task at this place, from 0.

    >>> round(chance(-1.5, 0, 8), 2), round(chance(1.0, 7, 8), 2), round(chance(0.0, 0, 8), 2)
    (0.5, 0.5, 0.93)
    """
    difficulty = EASIEST + (HARDEST - EASIEST) * place / max(1, n_tasks - 1)
    return 1 / (1 + exp(-SLOPE * (ability - difficulty)))


def _draw_student(name: str, tasks: Sequence[Task], rng: random.Random) -> Student:
    ability = rng.gauss(0, 1)
    answers: dict[str, Answer] = {}
    for place, task in enumerate(tasks):
        answer = _draw_answer(task, rng.random() < chance(ability, place, len(tasks)), rng)
        if not _fits(answer, answers, tasks):
            answer = task.only(OURS if answer.kind == OTHER else UNWRITTEN)
        answers[task.name] = answer
    return Student(name, ability, answers, rng.random() < EXPLAINS)


def _draw_answer(task: Task, solved: bool, rng: random.Random) -> Answer:
    if solved:
        others = task.of(OTHER)
        return rng.choice(others) if others and rng.random() < ANOTHER_WAY else task.only(OURS)
    wrong = task.of(WRONG)
    if not wrong or rng.random() < LEFT_UNWRITTEN:
        return task.only(UNWRITTEN)
    return rng.choice(wrong)


def _fits(answer: Answer, before: Mapping[str, Answer], tasks: Sequence[Task]) -> bool:
    """Whether the answer can be combined with the earlier ones: lost points must add up.

    Our solutions and unwritten tasks always fit: an unwritten function raises wherever it is
    called. Two other answers must not interact: neither calls the other's function, and no third
    task calls both, directly or through others. Such an answer must not call an unwritten function
    either, because it was tried with all functions written.
    """
    if answer.kind in (OURS, UNWRITTEN):
        return True
    below = _called(answer.task, tasks, answer)
    for name, earlier in before.items():
        if earlier.kind == UNWRITTEN and name in below:
            return False
        if earlier.kind in (WRONG, OTHER) and _meet(answer, earlier, tasks):
            return False
    return True


def _meet(one: Answer, other: Answer, tasks: Sequence[Task]) -> bool:
    """Whether some task, one of theirs or a third, runs both functions."""
    return any(
        {one.task, other.task} <= {task.name} | _called(task.name, tasks, one, other)
        for task in tasks
    )


def _called(name: str, tasks: Sequence[Task], *answers: Answer) -> set[str]:
    """The tasks whose functions a task calls, directly or through others: ours and the answers."""
    calls = {task.name: set(task.only(OURS).calls) for task in tasks}
    for answer in answers:
        calls[answer.task] |= answer.calls
    found: set[str] = set()
    open_ = [name]
    while open_:
        new = calls[open_.pop()] - found
        found |= new
        open_ += new
    return found


def truth(student: Student, points: Mapping[str, float]) -> dict[str, float | None]:
    """The expected grades: grade id -> points, None if a person must look.

    An unchanged placeholder for an answer in words gets 0, as in nbgrader: there is nothing to
    read. points: grade id -> points of each graded cell.
    """
    lost = set().union(*(answer.loses for answer in student.answers.values()))
    return {
        cell: (0.0 if cell in lost else float(most))
        if is_test(cell)
        else (None if student.explains else 0.0)
        for cell, most in points.items()
    }


def is_test(cell: str) -> bool:
    """Whether a graded cell has tests, by its grade id; the others have answers in words."""
    return cell.startswith(("test-", "hidden-"))
