"""Instant feedback: the kit that checks are made of, and one package per exercise.

Start with `checks.py`. `watch.py` looks at a student's function while it runs, `differences.py` and
`tensors.py` say in words how two values differ, `variants.py` draws other numbers for each student,
`progress.py` counts what has passed, `environment.py` looks at the machine.
"""
