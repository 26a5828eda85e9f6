"""Instant feedback: the building blocks of checks, and one module per exercise.

Start with `checks.py`. `watch.py` watches a student's function while it runs, `differences.py` and
`tensors.py` describe how two values differ, `known.py` recognises mistakes by their values,
`expected.py` compares for hidden tests, `variants.py` draws different numbers for each student,
`progress.py` counts passed functions, `memory.py` keeps them for another day, `so_far.py` shows the
whole course, `find.py` looks for a word in it; `environment.py` checks the machine.
"""
