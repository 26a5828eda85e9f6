"""Search: in which sections of the lectures a word occurs."""

import html
import json
import re
from pathlib import Path
from typing import NamedTuple

from course import ROOT
from course.feedback.progress import lines_of

HEADING = re.compile(r"#+ (.*)")


class Place(NamedTuple):
    """A section of a lecture in which the text occurs, how often, its first cell that has it."""

    lecture: str
    section: str
    times: int
    cell: str


class Found(NamedTuple):
    """What was looked for, and where it is; a notebook shows a table with links."""

    text: str
    places: tuple[Place, ...]

    def __repr__(self) -> str:
        lines = [f"{at.lecture} · {at.section} · {at.times}" for at in self.places]
        return "\n".join(lines or [self._nothing()])

    def _repr_html_(self) -> str:
        if not self.places:
            return f"<p>{html.escape(self._nothing())}</p>"
        rows = [("lecture", "section", "times")]
        rows += [
            (
                html.escape(at.lecture),
                f'<a href="{at.lecture}.ipynb#cell-id={at.cell}">{html.escape(at.section)}</a>',
                str(at.times),
            )
            for at in self.places
        ]
        return f"<table>{lines_of(rows)}</table>"

    def _nothing(self) -> str:
        return f"No lecture has {self.text!r}. Try one word, or the beginning of one."


def find(text: str, folder: Path = ROOT / "lectures") -> Found:
    """Where a text occurs in the prose and the code of the lectures; case does not count.

    folder: where the lectures are. Raises ValueError if there is nothing to look for.
    """
    if not isinstance(text, str) or not text.strip():
        raise ValueError(f"find: text must be a word or a few, such as 'padding'; got {text!r}")
    sought = " ".join(text.split()).lower()
    places = [at for path in sorted(folder.glob("*.ipynb")) for at in _in_lecture(path, sought)]
    return Found(text, tuple(places))


def _in_lecture(path: Path, sought: str) -> list[Place]:
    found: dict[str, Place] = {}
    section = ""
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown" and (heading := HEADING.match(source)):
            section = heading[1]
        if times := " ".join(source.split()).lower().count(sought):
            first = found.get(section, Place(path.stem, section, 0, cell["id"]))
            found[section] = first._replace(times=first.times + times)
    return list(found.values())
