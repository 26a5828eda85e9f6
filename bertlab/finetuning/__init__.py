"""Floor 4: a pre-trained BERT, a small head, and a task; and one vector for a sentence.

- `texts.py`, `targets.py`, `tasks.py`: texts, labels and real tasks into batches (`splits.py`,
  `pairing.py`: who goes to the test, who is asked together)
- `features.py`, `heads.py`, `tuning.py`, `multitask.py`: what a head reads, the heads, and training
  them (`rows.py`: what a training tells)
- `tagging.py`, `answers.py`: from characters to targets of tokens, and back
- `metrics.py`, `scores.py`, `baselines.py`: how good that is, and what counting words would do
- `sentences.py`, `sentence_objectives.py`, `search.py`: Sentence-BERT
"""
