"""Floor 3: the training loop, its checkpoints and its command.

Read `start.py` (initial weights, short sequences first), `steps.py` (one update of the weights) and
`loop.py` (step after step).
Around the loop: `runs.py` (progress, metrics, held-out text, resuming), `checkpoints.py` (nothing
is lost), `fast.py` (fast twins, several processes, half precision), and `command.py`:
`python -m bertlab pretrain`, from a corpus to a trained model.
"""
