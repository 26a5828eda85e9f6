"""Floor 4: a pre-trained BERT, a small head, and a task; and one vector for a sentence.

- `texts.py`, `targets.py`: texts and labels into batches
- `features.py`, `heads.py`, `tuning.py`: what a head reads, the heads, and training them
- `tagging.py`, `answers.py`: from characters to targets of tokens, and back
- `scores.py`: how good that is
- `sentences.py`, `sentence_objectives.py`, `search.py`: Sentence-BERT
"""
