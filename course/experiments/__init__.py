"""The lectures' experiments: tasks with labels made from the course's corpora, baselines, and what
measures them.

- `labels.py`: the labelled collections; `mentions.py`, `questions.py`: labels that nobody wrote
- `tasks.py`: real tasks to fine-tune on, split by `splits.py`, pairs of sentences by `pairing.py`
- `metrics.py`, `baselines.py`: their scores, and what counting words gives; `multitask.py`: several
  tasks on one encoder
- `string_tasks.py`: text to text with a right answer; `recurrent.py`, `convolutional.py`: what came
  before the Transformer; `comparison.py`: all of them compared
- `reach.py`: how far a network sees, before BERT
- `emergence.py`, `word_labels.py`: what heads look at along a training; what to ask a probe
- `layer_matching.py`: TinyBERT's student
"""
