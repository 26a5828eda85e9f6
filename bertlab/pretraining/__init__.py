"""Floor 2: BERT's training data, and the losses that training minimises.

Read `pairs.py` (which sentences are read together), `masking.py` (which words are hidden),
`losses.py` (what a prediction costs), then `batches.py`: from token ids on disk to tensors.
"""
