"""Before you start: questions of earlier lectures, to be answered from memory.

They are those that a lecture asks under *Check yourself*, and *your turns* whose blank this reader
missed; none is written twice. The page itself chooses three and keeps what its reader knew
(`earlier.js`): nothing is sent anywhere.
"""

import html
import json
import re
from itertools import pairwise
from pathlib import Path

from bertlab.viz import Rendered
from bertlab.viz.frames import read_asset, script_tag
from course import ROOT

FOLD = re.compile(
    r"<details><summary>(?:\d+\. |<b>Check yourself\.</b> )(.*?)</summary>\s*(.*?)\s*</details>",
    re.DOTALL,
)
TURN = re.compile(r"\*\*Your turn\.\*\* (.*)", re.DOTALL)
BLANK = re.compile(r'widgets\.blank\(\s*"(.+?)"')
LINK = re.compile(r"\[([^]]*)\]\([^)]*\)")
# Only for who reads the page that asks: these are not asked again.
ON_ITS_PAGE = re.compile(r"\b(above|below|section|cell|these \w+ pieces|we)\b", re.IGNORECASE)
# Of a turn besides: it goes on with what stands before it.
GOES_ON = re.compile(r"^(And|Another|Hide|Now)\b|\b(example|here|same)\b")
ASKED = 3
DISTANCES = (1, 2, 4)  # how many lectures ago was what a new reader is asked about
INTRODUCTION = (
    "Three questions from earlier lectures. Answer from memory, then unfold. Two minutes, no "
    "points; skip them if you like."
)


def before_you_start(lecture: str, folder: Path = ROOT / "lectures") -> Rendered:
    """Three questions of earlier lectures, with their answers in folds.

    lecture: the notebook's name, such as "04_attention"; folder: where the lectures are. Asked are
    lectures without a letter, which everybody reads. Without a browser that has kept answers it is
    always the same three, from one, two and four lectures ago.

    Raises ValueError if there is no such lecture, or there are not enough questions before it.
    """
    from nbconvert.filters.markdown_mistune import markdown2html_mistune as as_html

    if not (folder / f"{lecture}.ipynb").exists():
        raise ValueError(
            f"before_you_start: lecture must be the name of a notebook in {folder.name}/, such as "
            f"'04_attention'; got {lecture!r}"
        )
    before = [path for path in sorted(folder.glob("*.ipynb")) if path.stem < lecture]
    known = {path.stem: questions(path) for path in before if path.stem[2] == "_"}
    order = _in_order({name: folds for name, folds in known.items() if folds}, len(before))
    if len(order) < ASKED:
        raise ValueError(f"before_you_start: lecture {lecture} has fewer than {ASKED} before it")
    folds = "".join(
        f'<details data-key="{html.escape(f"{name} {number}")}"{" hidden" * (place >= ASKED)}>'
        f"<summary>{question} <em>(lecture {int(name[:2])})</em></summary>{as_html(answer)}"
        "</details>"
        for place, (name, number, question, answer) in enumerate(order)
    )
    folds += "".join(
        f'<details data-key="{html.escape(f"{name} {label}")}" data-label="{html.escape(label)}" '
        f"hidden><summary>{as_html(question)[3:-5]} <em>(lecture {int(name[:2])})</em></summary>"
        '<p class="answer"></p></details>'
        for name in known
        for label, question in turns(folder / f"{name}.ipynb")
    )
    parts = (read_asset("kept.js"), read_asset("earlier.js", "course.widgets"))
    script = f"{{const ASKED = {ASKED};\n{''.join(parts)}}}"
    return Rendered(
        f'<div class="bertlab-earlier"><p><strong>Before you start.</strong> {INTRODUCTION}</p>'
        f"{folds}</div>{script_tag(script)}",
        "\n".join([INTRODUCTION, *(question for _, _, question, _ in order[:ASKED])]),
    )


def questions(lecture: Path) -> list[tuple[str, str]]:
    """The questions of a notebook that can be asked elsewhere, with answers in Markdown."""
    cells = json.loads(lecture.read_text(encoding="utf-8"))["cells"]
    texts = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    found = [fold for text in texts for fold in FOLD.findall(text)]
    return [
        (question, LINK.sub(r"\1", answer))
        for question, answer in found
        if not ON_ITS_PAGE.search(question)
    ]


def turns(lecture: Path) -> list[tuple[str, str]]:
    """The blanks of a notebook that can be asked elsewhere: label, and question in Markdown."""
    cells = json.loads(lecture.read_text(encoding="utf-8"))["cells"]
    texts = ["".join(cell["source"]) for cell in cells]
    found = [
        (blank[1], LINK.sub(r"\1", asked[1]).strip())
        for before, text in pairwise(texts)
        if (blank := BLANK.search(text)) and (asked := TURN.search(before))
    ]
    apart = (ON_ITS_PAGE, GOES_ON)
    return [pair for pair in found if not any(pattern.search(pair[1]) for pattern in apart)]


def _in_order(
    known: dict[str, list[tuple[str, str]]], turn: int
) -> list[tuple[str, int, str, str]]:
    """Lecture, number, question, answer: first those for a new reader, then the nearest lectures'.

    turn: which of each lecture's questions comes first, so that two lectures seldom ask the same.
    """
    names, rows = list(known), {}
    for name, folds in known.items():
        numbered = [(name, number, *fold) for number, fold in enumerate(folds)]
        rows[name] = numbered[turn % len(folds) :] + numbered[: turn % len(folds)]
    chosen = [names[-min(distance, len(names))] for distance in DISTANCES]
    first = [rows[name].pop(0) for name in chosen if rows[name]]
    return [*first, *(row for name in reversed(names) for row in rows[name])]
