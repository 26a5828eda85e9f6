"""After a task has passed: other right ways, from the solutions, where these are.

Students' copies have no `solutions/`, and nothing of them is in the checks. So this is for those
who learn by themselves in the whole repository, and for instructors.
"""

import html

from course.feedback import memory
from course.feedback.progress import Task

MOST = 2


def another_way(task: Task | None) -> str:
    """HTML with up to two other right answers, folded; "" outside the course's own folder."""
    if task is None or (file := memory.file_of(task.assignment)) is None:
        return ""
    from course.answers import answers_of

    root = file.parent.parent
    if not (root / "solutions" / task.assignment / "answers.txt").exists():
        return ""
    rows = [
        row
        for row in answers_of(task.assignment, root).right
        if row.task.replace("-", "_") == task.name
    ]
    return "".join(
        f'<details style="margin-top:6px"><summary>Another way: {html.escape(row.manner)}</summary>'
        f'<pre style="background:inherit;color:inherit">{html.escape(row.solution.strip())}</pre>'
        "</details>"
        for row in rows[:MOST]
    )
