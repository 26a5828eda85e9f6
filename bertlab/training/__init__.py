"""Floor 3: the training loop, its checkpoints and its command.

Read `start.py` (initial weights), `steps.py` (one update of them), `adam.py`, `optimizers.py` and
`schedule.py` (the size of the update), `loop.py` (step after step), `evaluation.py`,
`next_sentences.py`, `rows.py` and `metrics.py` (its metrics), then `checkpoints.py` and
`sealed_folders.py` (nothing is lost), `processes.py` (several processes), `corpus.py`,
`settings.py` and `runs.py` (from a corpus to a trained model) and `command.py`:
`python -m bertlab pretrain`.
"""
