"""Floor 2: what BERT is trained on, and what its training makes small.

Read `masking.py` (which words are hidden), `losses.py` (what a guess costs), `pairs.py` (which
sentence follows) and `negatives.py` (where another one comes from), then `token_store.py`,
`token_files.py` and `batches.py`: from documents on disk to batches.
"""
