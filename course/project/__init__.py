"""The project of exercise 13: pre-train within a budget of processor time, and be scored.

- `entries.py`: the clock of an entry, and what it hands over: files, no objects
- `texts.py`: what is given to train on, and what is hidden to score on
- `scoring.py`: bits per masked byte, and three probing tasks

`course.leaderboard` runs what students hand in.
"""
