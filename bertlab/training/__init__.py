"""Floor 3: the training loop, and what keeps it alive.

Read `start.py` (the first weights), `steps.py` (one update of them), `adam.py`, `optimizers.py`
and `schedule.py` (how far they move), `loop.py` (step after step), `evaluation.py`,
`next_sentences.py`, `rows.py` and `metrics.py` (what it tells), then `checkpoints.py` and
`sealed_folders.py` (nothing is lost), `processes.py` (several at once), `corpus.py`, `settings.py`
and `runs.py` (from a corpus to a trained model) and `command.py`: `python -m bertlab pretrain`.
"""
