"""The leaderboard as one static page: no scripts, and no external files."""

from pathlib import Path
from typing import Any

from jinja2 import Environment

from course.project.entries import LIMITS

PAGE = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True).from_string(
    Path(__file__).with_suffix(".html").read_text(encoding="utf-8")
)


def page(board: dict[str, Any]) -> str:
    """The page for the content of `leaderboard.json`."""
    scored = [row for row in board["entries"] if "failed" not in row]
    failed = [row for row in board["entries"] if "failed" in row]
    majority = scored[0]["majority"] if scored else {}
    return PAGE.render(board=board, scored=scored, failed=failed, majority=majority, limits=LIMITS)
