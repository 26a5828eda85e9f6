"""Floor 4: fine-tune a pre-trained BERT with a small head; sentence vectors.

- `texts.py`: texts and labels into batches
- `heads.py`, `tuning.py`: what a head reads, the heads, and training them
- `tagging.py`, `answers.py`: from characters to token targets, and back
- `scores.py`: the metrics
- `sentences.py`, `sentence_objectives.py`, `search.py`: Sentence-BERT; `sentence_folders.py` reads
  what a folder of sentence-transformers declares
"""
