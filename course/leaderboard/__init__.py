"""The leaderboard of exercise 13: hand-ins, run and scored in the sandbox.

- `runs.py`: one entry with one seed, within its budget
- `board.py`: all hand-ins, resumable; `python -m course leaderboard`
- `page.py`, `page.html`: the static page
"""
