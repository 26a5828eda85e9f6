"""Everything that turns the library into a course, floor by floor.

0. `course.models`: models that only some lectures need. `course.widgets`: the lectures' own
   playgrounds; `course.live`: a BERT that runs in a web page, without Python.
   `course.experiments`: labelled tasks, and the lectures' measurements;
   `course.project`: the budget and the score of exercise 13; `course.answers`: answers known to be
   wrong or right. `course.feedback`: the exercises' checks, and one module per exercise.
1. `course.toyworld`: a language with known entropy; `course.fitting`, `course.mine`: what a
   student has written, as parts of the library; `course.own_bert`: the BERT that is made of it;
   `course.settings`: a course's folders and settings.
2. `course.gradebook`: grades and records.
3. `course.collecting`: hand-ins.
4. `course.grading`: the sandbox, the graders, grading a class, its reports.
5. `course.publishing`, `course.rehearsal`, `course.similarity`, `course.jupyterhub`,
   `course.leaderboard`, and `python -m course`, with a command for each of the instructor's tasks.
"""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent  # of the repository
