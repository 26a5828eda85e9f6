"""Grade one submission: run every cell in order, in its process."""

import signal
from pathlib import Path

from nbformat import NotebookNode, v4

from course.gradebook.notes import Note
from course.grading import cells
from course.grading.assignments import grade_id
from course.grading.errors import Stopped
from course.grading.outputs import cut_short, failure, leave_out, one_line, safe_outputs
from course.grading.remote import Student
from course.grading.room import STOPPED, Room, TooLong
from course.grading.sandbox import Sandbox
from course.grading.submissions import read_submission
from course.settings import Limits

TEST_CALLS = 4  # a test may take as long as this many calls


class Exam:
    """One submission: its cells in their order, each in its process."""

    def __init__(self, room: Room, sandbox: Sandbox, limits: Limits) -> None:
        self.room, self.limits = room, limits
        self.student = Student(sandbox, limits, room.plan.changing)
        self.done: list[str] = []  # sources that a new process must run again
        self.notes: list[Note] = []

    def grade(self, path: Path) -> tuple[NotebookNode, tuple[Note, ...], bool]:
        """The graded notebook, notes, and whether it was late with hardly any processor time."""
        submission = read_submission(path, self.room.assignment, self.limits)
        self.notes += submission.notes
        for name in self.room.plan.functions:
            self.room.scope[name] = self.student.function(name)
        for cell in submission.cells:
            if cell.cell_type == "code":
                self._grade_cell(cell)
        theirs = [one for one in submission.cells if not cells.is_test(one)]
        self.notes += cut_short(theirs) + leave_out(theirs)
        release = self.room.assignment.release
        notebook = v4.new_notebook(cells=submission.cells, metadata=release.metadata)
        notes = tuple(note._replace(text=one_line(note.text)) for note in self.notes)
        return notebook, notes, self.student.clock.disturbed

    def _grade_cell(self, cell: NotebookNode) -> None:
        id, plan = grade_id(cell), self.room.plan
        if cells.is_test(cell):
            self._test(cell)
        elif id in plan.warm:
            cell.outputs = []
        elif id in plan.student | plan.tests:
            if id in plan.student:
                self._run(cell)
            if id in plan.tests:
                self.room.run(id)
        elif not (cells.is_given(cell) or self._is_experiment(cell)):
            self._run(cell)

    def _is_experiment(self, cell: NotebookNode) -> bool:
        """A cell that uses names of experiments: it is not run again."""
        used = cells.names_of(cell.source).used
        return not cells.is_solution(cell) and bool(used & self.room.plan.experiments)

    def _run(self, cell: NotebookNode) -> None:
        """Run a student's cell in the student's process."""
        name = grade_id(cell) or "a cell of their own"
        try:
            self._revive()
            reply = self.student.run(cell.source)
        except Stopped as stopped:
            self.notes.append(Note(f"{stopped}; its cell was left out", name))
            cell.outputs = [failure(STOPPED, str(stopped))]
            return
        if not cells.is_given(cell) and (names := cells.past_the_watch(cell.source)):
            why = f"a person should look why it uses {', '.join(names)}"
            self.notes.append(Note(why, name, private=True))
        self.done.append(cell.source)
        cell.outputs = safe_outputs(reply.outputs, self.limits.output_kb)
        if reply.cut:
            self.notes.append(Note(f"printed more than {self.limits.output_kb} kB; cut", name))
        if reply.error:
            cell.outputs.append(failure(reply.error, reply.text))
            if reply.error != "NotImplementedError":
                self.notes.append(Note(f"its cell raised {reply.text}", name))

    def _test(self, cell: NotebookNode) -> None:
        """Run a test in this process."""
        left = self.student.clock.countdown(self.limits.call_seconds * TEST_CALLS)
        try:
            self._revive()
            signal.signal(signal.SIGALRM, lambda *_: _ring(left()))
            _ring(left())
            self.student.changed = ""
            output = self.room.run(cell.metadata.nbgrader["grade_id"])
            if self.student.changed and (output is None or output.output_type != "error"):
                output = failure("AssertionError", f"{self.student.changed} changed its input")
        except Stopped as stopped:
            output = failure(STOPPED, str(stopped))
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        cell.outputs = [] if output is None else [output]
        cell.execution_count = None
        if output is not None and output.get("ename") == STOPPED:
            self.notes.append(Note(output.evalue, str(grade_id(cell))))

    def _revive(self) -> None:
        """Replace a process that ended by a new one that runs the same cells."""
        if self.student.alive:
            return
        self.student.start()
        for source in self.done:
            self.student.run(source)


def _ring(seconds: float) -> None:
    """Set the alarm; raise at once if no time is left."""
    if seconds <= 0:
        raise TooLong
    signal.setitimer(signal.ITIMER_REAL, seconds)
