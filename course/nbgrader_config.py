"""nbgrader's settings: the rooms of this repository, whatever folder it is called from."""

from pathlib import Path

config = get_config()  # noqa: F821 (nbgrader's loader provides it)

ROOT = Path(__file__).resolve().parent.parent

config.CourseDirectory.root = str(ROOT)
config.CourseDirectory.course_id = "bertlab"
config.CourseDirectory.source_directory = "solutions"
config.CourseDirectory.release_directory = "exercises"
config.CourseDirectory.submitted_directory = "submitted"
config.CourseDirectory.autograded_directory = "autograded"
config.CourseDirectory.feedback_directory = "feedback"
config.CourseDirectory.db_url = f"sqlite:///{ROOT / 'gradebook.db'}"
# Besides nbgrader's own: a script paired with a source notebook would be released with its
# solutions, and so would notes of the instructor's.
config.CourseDirectory.ignore = [".ipynb_checkpoints", "*.pyc", "__pycache__", "*.py", "*.md"]

config.IncludeHeaderFooter.header = ""
config.ClearSolutions.code_stub = {
    "python": 'raise NotImplementedError("write this function, then delete this line")'
}
config.ClearSolutions.text_stub = "*Write your answer here, in place of this line.*"
config.ExecutePreprocessor.timeout = 180
