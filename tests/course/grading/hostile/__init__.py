"""Hostile submissions: a notebook each, made from a correct one with one thing changed.

`small.py` has the assignment and the correct notebook; the rows are in `resources.py` (what uses
up the machine), `prying.py` (what looks and reaches outside), `cheating.py` (what wants points),
`forging.py` (what lies to the tests' process), `files.py` (what is no proper notebook) and
`texts.py` (scripts and broken characters). `term.py` takes the whole class through a term, by the
instructor's commands.
"""
