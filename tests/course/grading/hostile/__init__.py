"""Hostile submissions: each is a correct notebook with one change.

`small.py` has the assignment and the correct notebook; the rows are in `resources.py` (exhaust
the machine), `prying.py` (read and act outside the sandbox), `cheating.py` (points for wrong
answers), `forging.py` (forged messages to the tests' process), `files.py` (malformed notebooks)
and `texts.py` (scripts and broken characters). `term.py` runs a term with the whole class, by
the instructor's commands.
"""
