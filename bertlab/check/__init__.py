"""Floor 5: instant feedback. `ps1_bpe` and its like hold one check a task of that assignment;
`feedback.py` is what checks are made of; `environment.py` looks at your machine.
"""
