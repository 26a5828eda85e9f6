"""All that makes a course of the library, floor by floor.

0. `course.widgets`: the lectures' own playgrounds; `course.live`: a BERT that runs in a web page,
   without Python. `course.experiments`: tasks with labels, and what the lectures measure;
   `course.project`: the budget and the score of exercise 13. `course.feedback`: the kit of the
   exercises' checks, and one package per exercise.
1. `course.toyworld`: a language whose entropy is known. `course.answers`: answers known to be wrong
   or right; `course.settings`: where a course lies.
2. `course.gradebook`: what is written down.
3. `course.collecting`: what is handed in.
4. `course.grading`: the sandbox, the graders, the run over a class, its reports.
5. `course.publishing`, `course.rehearsal`, `course.similarity`, `course.jupyterhub`,
   `course.leaderboard`, and `python -m course`, which has a command for each thing that an
   instructor does.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent  # of the repository

# A check of addresses that no notebook needs; jsonschema does without it where it is missing. Its
# grammar takes a second to build, in each command and in each process that grades.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]  # "not to be had"
