"""How well an assignment's tasks discriminate between students: classical item analysis.

The numbers come from a table of points, students x tasks. A task is a solution cell with its
visible and its hidden test: `test-merge-pair` and `hidden-merge-pair` are the task `merge-pair`.

Source: Lord & Novick (1968), Statistical Theories of Mental Test Scores, sections 4.4 and 15.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from nbgrader.api import Gradebook

SAME = 1e-12  # of a task's points: the rounding error of a spread that is exactly 0


class Points(NamedTuple):
    """Each student's points for each task, and the maximum."""

    table: dict[str, dict[str, float]]  # student -> task -> points
    most: dict[str, float]  # task -> points
    left_out: tuple[str, ...] = ()  # lines: omitted tasks and students, and why


class Item(NamedTuple):
    """One task. None: these data do not determine the number."""

    task: str
    most: float
    difficulty: float  # mean share of the points: 1 if everybody has full points
    discrimination: float | None

    @property
    def told(self) -> str:
        """The discrimination for printing."""
        return "all alike" if self.discrimination is None else f"{self.discrimination:.2f}"

    @property
    def doubt(self) -> str:
        """A warning about a task that weaker students solve more often; "" for others."""
        backwards = self.discrimination is not None and round(self.discrimination, 2) < 0
        return "the weaker do better: look at this task" if backwards else ""


class Analysis(NamedTuple):
    """All tasks of an assignment, and their internal consistency."""

    students: int
    items: tuple[Item, ...]
    alpha: float | None

    def text(self) -> str:
        """The table to print."""
        width = max(4, *(len(item.task) for item in self.items))
        lines = [f"{'task':<{width}}  points  difficulty  discrimination"]
        for item in self.items:
            told = f"{item.told}  ({item.doubt})" if item.doubt else item.told
            lines.append(f"{item.task:<{width}}  {item.most:6g}  {item.difficulty:10.2f}  {told}")
        return "\n".join([*lines, self.summary])

    @property
    def summary(self) -> str:
        """The line below the table."""
        alpha = "cannot be told: all alike" if self.alpha is None else f"{self.alpha:.2f}"
        return f"{self.students} students, {len(self.items)} tasks, Cronbach's alpha {alpha}"


def analyse(points: Points) -> Analysis:
    """Difficulty and discrimination of each task, and Cronbach's alpha.

    Raises ValueError if there is no student or no task.
    """
    if not points.table or not points.most:
        raise ValueError("item analysis: at least one student and one task are needed; got none")
    rows = [[row[task] for task in points.most] for row in points.table.values()]
    table = np.array(rows, dtype=float)  # [students, tasks]
    easy = table.mean(axis=0) / list(points.most.values())
    apart = discrimination(table)
    items = zip(points.most, points.most.values(), easy.tolist(), apart, strict=True)
    return Analysis(len(table), tuple(Item(*item) for item in items), cronbach_alpha(table))


def discrimination(table: NDArray) -> list[float | None]:
    """Each task's correlation with the sum of the other tasks (the corrected item-total one).

    The task itself is not in the sum: it would correlate with its own share of it. None if the
    task, or the sum of the others, is the same for all students: a correlation with a constant is
    undefined, and 0 would mean that the task does not discriminate.

    table: [students, tasks].
    """
    rests = table.sum(axis=1, keepdims=True) - table
    return [
        None
        if _all_alike(item) or _all_alike(rest)
        else float(np.clip(np.corrcoef(item, rest)[0, 1], -1, 1))
        for item, rest in zip(table.T, rests.T, strict=True)
    ]


def cronbach_alpha(table: NDArray) -> float | None:
    """Cronbach's alpha: k/(k - 1) (1 - sum of the tasks' variances / variance of the sum).

    None for fewer than two tasks, and if all students have the same sum.
    table: [students, tasks]. Source: Cronbach (1951), eq. 2.
    """
    k, total = table.shape[1], table.sum(axis=1)
    if k < 2 or _all_alike(total):
        return None
    return float(k / (k - 1) * (1 - table.var(axis=0).sum() / total.var()))


def _all_alike(column: NDArray) -> bool:
    return bool(np.ptp(column) <= SAME * max(1.0, np.abs(column).max()))


def from_gradebook(gradebook: "Gradebook", assignment: str) -> Points:
    """The current points of all who handed in: a person's score overrides the tests'.

    A task that waits for a person is omitted for all students, and so is a student without any
    grade; `left_out` names both. Raises ValueError if the assignment has no graded cell.
    """
    from nbgrader.api import Grade, GradeCell

    from course.gradebook.totals import grades_of

    columns = GradeCell.name, Grade.auto_score, Grade.manual_score, GradeCell.max_score
    query = grades_of(assignment, *columns).join(GradeCell, Grade.cell_id == GradeCell.id)
    scores: dict[str, dict[str, float | None]] = {}
    most: dict[str, float] = {}
    for student, cell, auto, manual, highest in gradebook.db.execute(query):
        scores.setdefault(student, {})[cell] = auto if manual is None else manual
        most[cell] = highest
    if not most:
        raise ValueError(f"item analysis: nothing of {assignment} is in the gradebook; grade first")
    return by_task(scores, _in_order(gradebook, assignment, most))


def _in_order(gradebook: "Gradebook", assignment: str, most: Mapping[str, float]) -> dict:
    """The same, in the notebook's order, as far as the gradebook has it."""
    places = {name: place for place, name in enumerate(cell_order(gradebook, assignment))}
    return dict(sorted(most.items(), key=lambda item: places.get(item[0], len(places))))


def cell_order(gradebook: "Gradebook", assignment: str) -> list[str]:
    """The names of an assignment's cells, in the notebook's order."""
    notebooks = gradebook.find_assignment(assignment).notebooks
    return [cell.name for notebook in notebooks for cell in notebook.source_cells]


def by_task(scores: Mapping[str, Mapping[str, float | None]], most: Mapping[str, float]) -> Points:
    """Points of tasks from points of cells; None is a cell that waits for a person.

    scores: student -> grade id -> points; most: grade id -> maximum points.
    """
    ungraded = {s for s, row in scores.items() if all(score is None for score in row.values())}
    graded = {student: row for student, row in scores.items() if student not in ungraded}
    waiting = {task_of(cell) for row in graded.values() for cell in row if row[cell] is None}
    tasks: dict[str, float] = {}
    for cell, points in most.items():
        if task_of(cell) not in waiting and points:
            tasks[task_of(cell)] = tasks.get(task_of(cell), 0.0) + points
    table = {student: dict.fromkeys(tasks, 0.0) for student in graded}
    for student, row in graded.items():
        for cell, score in row.items():
            if score is not None and task_of(cell) in tasks:
                table[student][task_of(cell)] += score
    left_out = [f"{task}: waits for a person" for task in sorted(waiting)]
    left_out += [f"{student}: not graded" for student in sorted(ungraded)]
    return Points(table, tasks, tuple(left_out))


def task_of(cell: str) -> str:
    """The task of a graded cell, by its grade id."""
    return cell.removeprefix("test-").removeprefix("hidden-")
