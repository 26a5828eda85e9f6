"""nbgrader's settings: the folders of this repository, from any working directory."""

import os
from importlib.util import find_spec
from pathlib import Path

from course.feedback.checks import PLACEHOLDER

config = get_config()  # noqa: F821 (nbgrader's loader provides it)

ROOT = Path(__file__).resolve().parent.parent

config.CourseDirectory.root = str(ROOT)
config.CourseDirectory.course_id = "bertlab"
config.CourseDirectory.source_directory = "solutions"
config.CourseDirectory.release_directory = "exercises"
config.CourseDirectory.submitted_directory = "submitted"
config.CourseDirectory.autograded_directory = "autograded"
config.CourseDirectory.feedback_directory = "feedback"
# Another gradebook: BERTLAB_GRADEBOOK=postgresql+psycopg://USER:PASSWORD@HOST/DATABASE
config.CourseDirectory.db_url = os.environ.get(
    "BERTLAB_GRADEBOOK", f"sqlite:///{ROOT / 'gradebook.db'}"
)
# Besides nbgrader's own: a script paired with a source notebook would be released with its
# solutions, and so would the instructor's notes and table. Settings (.py, .json) are not collected:
# the formgrader reads those of whatever folder an address names.
config.CourseDirectory.ignore = [
    *(".ipynb_checkpoints", "*.pyc", "__pycache__", "*.py", "*.md", "answers.txt", "*_config.json"),
]

config.IncludeHeaderFooter.header = ""
config.ClearSolutions.code_stub = {"python": f'raise NotImplementedError("{PLACEHOLDER}")'}
config.ClearSolutions.text_stub = "*Write your answer here, in place of this line.*"
# nbgrader's own list, with ours after the solutions are gone.
config.GenerateAssignment.preprocessors = [
    "nbgrader.preprocessors.IncludeHeaderFooter",
    "nbgrader.preprocessors.InstantiateTests",
    "nbgrader.preprocessors.LockCells",
    "nbgrader.preprocessors.ClearSolutions",
    "course.grading.nbgrader_plugin.KeepReleased",
    "nbgrader.preprocessors.ClearOutput",
    "nbgrader.preprocessors.CheckCellMetadata",
    "nbgrader.preprocessors.ComputeChecksums",
    "nbgrader.preprocessors.SaveCells",
    "nbgrader.preprocessors.ClearHiddenTests",
    "nbgrader.preprocessors.ClearMarkScheme",
    "nbgrader.preprocessors.ComputeChecksums",
    "nbgrader.preprocessors.CheckCellMetadata",
]
config.ExecutePreprocessor.timeout = 180

# Grading by `python -m course grade`, `nbgrader autograde` and the formgrader's button: students'
# code always runs in the sandbox, never in nbgrader's own kernel.
config.Grading.term = "2026-fall"  # hidden tests draw different numbers in each term
config.Grading.limits = {}  # changes of the defaults of course.settings.Limits
config.Grading.sandboxed = True
config.Autograde.exporter_class = "course.grading.nbgrader_plugin.SandboxedExporter"
config.Autograde.sanitize_preprocessors = []
config.Autograde.autograde_preprocessors = [
    "course.grading.nbgrader_plugin.SaveSandboxedGrades",
    "nbgrader.preprocessors.AssignLatePenalties",
]
config.ExchangeFactory.collect = "course.grading.nbgrader_plugin.CollectWithoutLinks"
config.ExchangeFactory.release_feedback = "course.grading.nbgrader_plugin.ReleaseToEach"
if "BERTLAB_EXCHANGE" in os.environ:  # on the class server
    config.Exchange.root = os.environ["BERTLAB_EXCHANGE"]
    config.ExchangeFactory.collect = "course.jupyterhub.collecting.CollectOwned"

# Days begun after the grace period cost a share of the points. Without a due date nobody is late:
# `python -m course due ex01_bpe 2026-12-01T23:59+01:00`.
config.AssignLatePenalties.plugin_class = "course.gradebook.late_policy.LatePolicy"
config.LatePolicy.grace_minutes = 15
config.LatePolicy.percent_a_day = 10
config.LatePolicy.at_most_percent = 50

# Feedback, and what the formgrader shows: no hidden tests for students, no scripts from them.
config.GenerateFeedback.preprocessors = [
    "nbgrader.preprocessors.GetGrades",
    "course.grading.nbgrader_plugin.NameTasks",
    "course.grading.nbgrader_plugin.HideTests",
    "nbconvert.preprocessors.CSSHTMLHeaderPreprocessor",
]
config.HTMLExporter.sanitize_html = True
config.HTMLExporter.filters = {
    "clean_html": "course.grading.safe_html.clean_html",
    "markdown2html": "course.grading.safe_html.markdown2html",
}
# Both pages are nbgrader's; the differences are in course/grading/templates.
config.GenerateFeedback.exporter_class = "course.grading.nbgrader_plugin.FeedbackExporter"
config.FeedbackExporter.template_file = "feedback.html.j2"
config.HTMLExporter.template_file = "formgrade.html.j2"
config.HTMLExporter.extra_template_paths = [
    str(Path(find_spec("course").origin).parent / "grading" / "templates")
]
