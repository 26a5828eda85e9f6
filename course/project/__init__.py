"""The project of exercise 13: pre-train within a budget of processor time, and be scored.

- `entries.py`: the clock of an entry, and its result: files, not objects
- `texts.py`: the training texts, and the hidden texts for scoring
- `scoring.py`: bits per masked byte, and three probing tasks

`course.leaderboard` runs students' hand-ins.
"""
