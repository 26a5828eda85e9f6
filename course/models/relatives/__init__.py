"""Floor 4: BERT's relatives, built from the same parts: GPT, XLNet's objective, distillation.

Read `gpt.py`, `permutation.py`, `distillation.py`; all are trained by the loop in `training.py`.
Continued pre-training on a domain is `bertlab.training.runs.pretrain` with other text.
"""
