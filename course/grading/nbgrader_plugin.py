"""nbgrader with the same Grader: `nbgrader autograde` and the formgrader's button.

nbgrader_config.py names these classes. Students' code never runs in nbgrader's own kernel.
"""

import os
import stat
import weakref
from contextlib import ExitStack, closing
from fnmatch import fnmatch
from glob import glob
from pathlib import Path
from types import CodeType
from typing import TYPE_CHECKING, Any

from jinja2 import BaseLoader, BytecodeCache, Environment, PackageLoader
from jinja2.bccache import Bucket
from nbconvert.exporters import HTMLExporter, NotebookExporter
from nbformat import NotebookNode
from nbgrader.exchange.default import ExchangeCollect, ExchangeReleaseFeedback
from nbgrader.preprocessors import ClearHiddenTests, NbGraderPreprocessor, SaveAutoGrades
from nbgrader.utils import is_grade, is_solution
from traitlets import default

from course.gradebook import records, regrades
from course.gradebook.late_policy import LatePolicy
from course.gradebook.notes import REQUEST
from course.grading import feedback_pages
from course.grading.assignments import check_release, read_page, task_names
from course.grading.grade_run import SECRET, with_scores
from course.grading.outputs import one_line
from course.settings import Course

if TYPE_CHECKING:
    from nbgrader.api import Gradebook

    from course.grading.grader import Grader


class SandboxedExporter(NotebookExporter):
    """nbgrader's first pass over a hand-in: not read by nbgrader, but graded in the sandbox.

    The Grader reports errors in a hand-in, even a file that is not a notebook, so they cost points
    but do not stop the batch. If grading itself fails, the gradebook records it, and the rest is
    graded.
    """

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        self._graders: dict = {}
        self._open = ExitStack()
        weakref.finalize(self, self._open.close)  # at the end of Python at the latest

    def from_filename(
        self, filename: str, resources: dict | None = None, **arguments: Any
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Grade a hand-in; a graded copy is read as usual."""
        path = Path(filename)
        course = Course(Path(self.config.CourseDirectory.root))
        if path.parents[2] != course.room("submitted"):
            return super().from_filename(filename, resources=resources, **arguments)
        student, assignment = path.parents[1].name, path.parent.name
        grader = self._grader(course, assignment)
        assert resources is not None  # nbgrader always gives some
        book = gradebook_of(resources)
        with book:
            # nbgrader will write the scores: our own run's records are no longer valid.
            records.forget(book, assignment, student)
            try:
                result = grader.grade(path, f"{course.grading.term}/{student}")
                asked = regrades.notes(regrades.looks(result))
                result = result._replace(notes=(*result.notes, *asked))
                records.note(book, assignment, student, result.notes)
            except Exception as error:
                reason = one_line(f"{type(error).__name__}: {error}")
                records.mark_failed(book, assignment, student, reason)
                del self._graders[assignment]
                raise
        for note in result.notes:
            self.log.warning("%s: %s", student, note)
        return self.from_notebook_node(with_scores(result), resources=resources, **arguments)

    def _grader(self, course: Course, assignment: str) -> "Grader":
        """One Grader per assignment, reused. Raises RuntimeError without a sandbox."""
        from course.grading.grader import Grader
        from course.grading.sandbox import why_no_sandbox

        if assignment not in self._graders:
            sandboxed = course.grading.sandboxed
            if sandboxed and (reason := why_no_sandbox()):
                raise RuntimeError(
                    f"students' code is not run without a sandbox: {reason}. If you trust every "
                    "student, set config.Grading.sandboxed = False in nbgrader_config.py."
                )
            with closing(course.gradebook()) as book:
                checked = check_release(course, book, assignment)
            grader = Grader(checked, course.limits(), sandboxed)
            self._graders[assignment] = self._open.enter_context(grader)
        return self._graders[assignment]


def gradebook_of(resources: dict) -> "Gradebook":
    """The gradebook that nbgrader is working with."""
    from nbgrader.api import Gradebook

    return Gradebook(resources["nbgrader"]["db_url"])


class SaveSandboxedGrades(SaveAutoGrades):
    """nbgrader's second pass: the scores are the Grader's, not those of the outputs."""

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        """Store the scores, then process the cells as nbgrader does."""
        self.scores, notes = nb.metadata["bertlab"]["scores"], nb.metadata["bertlab"]["notes"]
        self.waiting = {note["cell"] for note in notes if note["waits"] or note["kind"] == REQUEST}
        return super().preprocess(nb, resources)

    def _add_score(self, cell: NotebookNode, _resources: dict) -> None:
        name = cell.metadata["nbgrader"]["grade_id"]
        where = (name, self.notebook_id, self.assignment_id, self.student_id)
        grade = self.gradebook.find_grade(*where)
        grade.auto_score = self.scores[name]
        # As nbgrader does: a person must review a person's scores.
        judged = grade.manual_score is not None or grade.auto_score is None
        grade.needs_manual_grade = judged or name in self.waiting
        self.gradebook.db.commit()


class Compiled(BytecodeCache):
    """Compiled templates: nbgrader makes a new exporter for each student, they stay the same."""

    def __init__(self) -> None:
        self._codes: dict[tuple[str, str], CodeType] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        """A template's code, if this text of it was compiled before."""
        bucket.code = self._codes.get((bucket.key, bucket.checksum))

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep a template's code."""
        assert bucket.code is not None  # it was just compiled
        self._codes[bucket.key, bucket.checksum] = bucket.code


class FeedbackExporter(HTMLExporter):
    """nbconvert's pages, from our templates if we have one of that name."""

    compiled = Compiled()

    @default("extra_loaders")
    def _ours_first(self) -> list[BaseLoader]:
        return [PackageLoader("course.grading")]

    def _create_environment(self) -> Environment:
        environment = super()._create_environment()
        environment.bytecode_cache = self.compiled
        return environment


class KeepReleased(NbGraderPreprocessor):
    """In a released cell that students change, its text, for *Reset This Task* in JupyterLab."""

    def preprocess_cell(
        self, cell: NotebookNode, resources: dict, _cell_index: int
    ) -> tuple[NotebookNode, dict]:
        """After ClearSolutions, so that the text has no solution."""
        if is_solution(cell) and cell.cell_type == "code":
            cell.metadata["bertlab"] = {**cell.metadata.get("bertlab", {}), "released": cell.source}
        return cell, resources


class NameTasks(NbGraderPreprocessor):
    """The names of tasks in a feedback page, from our source, and what happened to the notebook."""

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        """Add it to the page's data, after nbgrader's GetGrades; the names if there is a source."""
        about, rooms = resources["nbgrader"], self.config.CourseDirectory
        name = about["assignment"]
        path = Path(rooms.root) / rooms.source_directory / name / f"{name}.ipynb"
        names = task_names(read_page(path, rooms.root)) if path.is_file() else {}
        about["task_names"], policy = names, LatePolicy(config=self.config)
        with gradebook_of(resources) as book:
            about.update(feedback_pages.story(book, name, about["student"], names, policy))
        return nb, resources


class HideTests(ClearHiddenTests):
    """Feedback without hidden tests: neither their source nor their lines in a traceback."""

    def preprocess_cell(
        self, cell: NotebookNode, resources: dict, _cell_index: int
    ) -> tuple[NotebookNode, dict]:
        """Only locked test cells have hidden tests; a student may write the marks anywhere."""
        if not is_grade(cell) or is_solution(cell) or not self._remove_hidden_test_region(cell):
            return cell, resources
        for output in cell.get("outputs", []):
            if output.output_type == "error":
                output.traceback = [f"{output.ename}: {output.evalue}"]
        return cell, resources


class ReleaseToEach(ExchangeReleaseFeedback):
    """nbgrader's release of feedback, only for those who handed in through the exchange.

    nbgrader stops at the first one who did not, or whose files are incomplete: all later ones
    would get nothing.
    """

    src_path: str

    def copy_files(self) -> None:
        """One folder after the other. Feedback is found by the hand-in's secret."""
        for folder in sorted(glob(self.src_path)):
            if is_for_exchange(Path(folder)):
                self.src_path = folder
                super().copy_files()
            else:
                self.log.warning("%s: not handed in through the exchange, not released", folder)


def is_for_exchange(folder: Path) -> bool:
    """Whether the exchange can determine the owner of a folder's feedback."""
    return all((folder / name).is_file() for name in ("timestamp.txt", SECRET))


class CollectWithoutLinks(ExchangeCollect):
    """nbgrader's collect, but only plain files are taken; links are not followed.

    nbgrader would collect the target of a link, such as the instructor's solutions, as the
    student's own work, and distribute further such files as feedback.
    """

    def do_copy(
        self,
        src: str,
        dest: str,
        log: Any = None,  # noqa: ARG002 - nbgrader's signature
    ) -> None:
        """Copy the plain files of a hand-in's folder, which students can change meanwhile."""
        try:
            folder = os.open(src, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except OSError:
            self.log.error("%s: not a folder, not collected", src)
            return
        try:
            os.makedirs(dest)
            for name in sorted(os.listdir(folder)):
                ignored = any(fnmatch(name, one) for one in self.coursedir.ignore)
                if not ignored and not self._copy_file(folder, name, Path(dest) / name):
                    self.log.warning("%s/%s: no plain file, or too large; left out", src, name)
        finally:
            os.close(folder)

    def _copy_file(self, folder: int, name: str, to: Path) -> bool:
        """Copy one file of an open folder; False if it is not a plain file or too large."""
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
        try:
            descriptor = os.open(name, flags, dir_fd=folder)
        except OSError:
            return False
        with os.fdopen(descriptor, "rb") as file:
            state, limit = os.fstat(descriptor), 1000 * self.coursedir.max_file_size
            if not stat.S_ISREG(state.st_mode) or state.st_size > limit:
                return False
            to.write_bytes(file.read(limit))
        return True
