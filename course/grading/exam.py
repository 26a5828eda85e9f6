"""Grade one submission: run every cell in order, in its process."""

import signal
from collections.abc import Callable

from nbformat import NotebookNode, v4

from course.gradebook.notes import Note
from course.grading import cells
from course.grading.assignments import grade_id
from course.grading.errors import Stopped
from course.grading.orders import Graded, Order
from course.grading.outputs import cut_short, failure, leave_out, one_line, safe_outputs
from course.grading.remote import Student
from course.grading.repair import ALIKE
from course.grading.room import STOPPED, Room, TooLong
from course.grading.sandbox import Sandbox
from course.grading.submissions import read_submission
from course.settings import Limits

TEST_CALLS = 4  # a test may take as long as this many calls
MEND = (
    "Run your notebook from the top (Restart Kernel and Run All Cells), mend it, and hand in again."
)
SLOW = "Look for a loop that does not end, or for slow code; mend it, and hand in again."
NEXT_TIME = "Nothing to do. Next time keep each function above its tests."
OURS = "grading could not look at it"
LOOK = "A person looks at it. Mend the cell and hand in again if you can."


class Exam:
    """One submission: its cells, each in its process. `tell` gets the id of each running test."""

    def __init__(
        self,
        room: Room,
        sandbox: Sandbox,
        limits: Limits,
        order: Order,
        tell: Callable[[str], None],
    ) -> None:
        self.room, self.limits, self.order, self.tell = room, limits, order, tell
        self.student = Student(sandbox, limits, room.plan.changing)
        self.done: list[str] = []  # sources that a new process must run again
        self.notes: list[Note] = []
        self.noted: set[tuple[str, str]] = set()  # cells and kinds of notes
        self.lost: dict[str, str] = {}  # functions that are written but not defined, and why
        self.without: set[str] = set()  # tests without a result

    def grade(self) -> Graded:
        """The graded notebook. What fails in looking at a cell costs this cell, and has a note."""
        path, bare = self.order.path, self.order.bare
        submission = read_submission(path, self.room.assignment, self.limits, bare)
        self.notes += submission.notes
        for name in self.room.plan.functions:
            self.room.scope[name] = self.student.function(name)
        steps = cells.running_order(submission.cells, self.room.plan)
        for step in steps:
            try:
                self._grade_cell(step)
            except Exception as error:  # of ours; the student's are caught where they are raised
                self._leave_to_a_person(step.cell, type(error).__name__)
        self._note_moved([one.cell for one in steps if one.moved and cells.is_test(one.cell)])
        theirs = [one for one in submission.cells if not cells.is_test(one)]
        self.notes += cut_short(theirs) + leave_out(theirs)
        release = self.room.assignment.release
        notebook = v4.new_notebook(cells=submission.cells, metadata=release.metadata)
        notes = tuple(note._replace(text=one_line(note.text)) for note in self.notes)
        if bare:
            notes += (Note("grading ended, so its outputs and pictures were left out"),)
        return Graded(notebook, notes, frozenset(self.without), self.student.clock.disturbed)

    def _leave_to_a_person(self, cell: NotebookNode, reason: str) -> None:
        """Grading could not look at a cell; the points of a test wait."""
        if cells.is_test(cell):
            cell.outputs = [failure(STOPPED, reason)]
            self.without.add(str(grade_id(cell)))
            self._note("ours", cell, f"{OURS} ({reason}); a person must look", LOOK, waits=True)
        else:
            cell.outputs = []
            self._note("ours", cell, f"{OURS} ({reason}); its outputs were left out")

    def _note(
        self, kind: str, cell: NotebookNode, text: str, advice: str = "", waits: bool = False
    ) -> None:
        """Note something about a cell; of each kind only the first."""
        id = grade_id(cell) or ""
        if (id, kind) not in self.noted:
            self.noted.add((id, kind))
            where = "" if id else "a cell of their own: "
            private = kind == "watch"  # a person should look, and the student need not know
            self.notes.append(Note(where + text, id, advice, private, waits))

    def _note_moved(self, tests: list[NotebookNode]) -> None:
        if len(tests) > ALIKE:
            text = f"{len(tests)} tests were run after cells further down, which they need"
            self.notes.append(Note(text, advice=NEXT_TIME))
            return
        for test in tests:
            text = "this test was run after cells further down, which it needs"
            self._note("moved", test, text, NEXT_TIME)

    def _grade_cell(self, step: cells.Step) -> None:
        cell, plan = step.cell, self.room.plan
        id = grade_id(cell)
        if cells.is_test(cell):
            self._test(step)
        elif id in plan.warm:
            cell.outputs = []
        elif id in plan.student | plan.tests:
            if id in plan.student:
                self._run(cell)
            if id in plan.tests:
                self.room.run(id)
        elif cells.is_run(cell, plan):
            self._run(cell)

    def _run(self, cell: NotebookNode) -> None:
        """Run a student's cell in the student's process."""
        functions = cells.names_of(cell.source).written & self.room.plan.functions
        source = cells.runnable(cell.source)
        try:
            self._revive()
            reply = self.student.run(source)
        except Stopped as stopped:
            self._note("stopped", cell, f"{stopped}; its cell was left out", SLOW)
            self.lost |= dict.fromkeys(functions, "its cell was stopped")
            cell.outputs = [failure(STOPPED, str(stopped))]
            return
        self.done.append(source)
        if not cells.is_given(cell) and (names := cells.past_the_watch(cell.source)):
            why = f"a person should look why it uses {', '.join(names)}"
            self._note("watch", cell, why)
        given = [] if self.order.bare else reply.outputs
        cell.outputs = safe_outputs(given, self.limits.output_kb)
        if reply.cut:
            text = f"printed more than {self.limits.output_kb} kB; cut"
            self._note("printed", cell, text, "Print less, or clear the output.")
        if reply.error:
            cell.outputs.append(failure(reply.error, reply.text))
            if reply.error != "NotImplementedError":
                self._note("raised", cell, f"its cell raised {reply.text}", MEND)
        self._note_lost(cell, functions, reply.error)

    def _note_lost(self, cell: NotebookNode, functions: frozenset[str], error: str) -> None:
        """Record which functions a cell has not defined although they are written in it."""
        magic = cells.magic(cell.source)
        if magic and functions:
            text = f"its code was not run as Python, as the cell begins with %%{magic}"
            self._note("magic", cell, text, "Delete this line and hand in again.")
        for name in functions:
            self.lost.pop(name, None)
            if (error or magic) and not self._is_defined(name):
                why = f"its cell begins with %%{magic}" if magic else f"its cell raised {error}"
                self.lost[name] = why

    def _is_defined(self, name: str) -> bool:
        try:
            return not self.student.run(f"({name},) and None").error
        except Stopped:
            return False

    def _test(self, step: cells.Step) -> None:
        """Run a test in this process."""
        cell, id = step.cell, step.cell.metadata.nbgrader["grade_id"]
        if id in self.order.lost:
            self._leave_to_a_person(cell, "the tests' process ended")
            return
        self.tell(id)
        left = self.student.clock.countdown(self.limits.call_seconds * TEST_CALLS)
        try:
            self._revive()
            signal.signal(signal.SIGALRM, lambda *_: _ring(left()))
            _ring(left())
            self.student.changed = ""
            output = self.room.run(id)
            if self.student.changed and (output is None or output.output_type != "error"):
                output = failure("AssertionError", f"{self.student.changed} changed its input")
        except Stopped as stopped:
            output = failure(STOPPED, str(stopped))
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            self.tell("")
        cell.outputs = [] if output is None else [output]
        cell.execution_count = None
        if output is None or output.output_type != "error":
            return
        if output.get("ename") == STOPPED:
            self._note("stopped", cell, output.evalue, SLOW)
        lost = sorted(step.needs & self.lost.keys())
        if lost:
            text = f"{lost[0]} is written but could not be used: {self.lost[lost[0]]}"
            self._note("lost", cell, f"{text}; a person should look", LOOK, waits=True)
        elif step.forced:
            text = "what it needs could not be run before it; a person should look"
            self._note("lost", cell, text, LOOK, waits=True)

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
