"""The lectures' experiments: labelled tasks from the course's corpora, baselines, and metrics.

- `labels.py`: the labelled collections; `mentions.py`, `questions.py`: labels made by rules
- `tasks.py`: real tasks to fine-tune on, split by `splits.py`, pairs of sentences by `pairing.py`
- `metrics.py`, `baselines.py`: their scores, and those of a bag of words; `multitask.py`: several
  tasks on one encoder
- `string_tasks.py`: text to text with a right answer; `recurrent.py`, `convolutional.py`: models
  before the Transformer; `comparison.py`: a comparison of all
- `reach.py`: how far a network sees, before BERT
- `emergence.py`, `word_labels.py`: what heads attend to during training; labels for probes
"""
