"""Floor 2: BERT's training data, and the losses that training minimises.

Read `masking.py` (which words are hidden), `losses.py` (what a prediction costs), `pairs.py` (which
sentence follows) and `negatives.py` (the source of a sentence that does not), then
`token_store.py`, `token_files.py` and `batches.py`: from documents on disk to batches.
"""
