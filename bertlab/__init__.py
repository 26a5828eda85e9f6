"""bertlab: BERT, from a string to a trained model, and what one does with it.

The reading path, twelve files in this order, leads from a string to a trained BERT:

1. `tokenizers/merges.py`: which symbols to join, in three functions
2. `tokenizers/longest_match.py`: how BERT cuts a word into pieces
3. `tokenizers/wordpiece.py`: text to ids
4. `model/attention.py`: scores, their softmax, many heads
5. `model/layers.py`: norms, the feed-forward network, a layer of the encoder
6. `model/embeddings.py`: ids to vectors
7. `model/bert.py`: all layers, and the pooler
8. `model/heads.py`: a word for each gap, yes or no for the next sentence
9. `pretraining/masking.py`: which tokens are hidden, and how
10. `pretraining/losses.py`: how wrong the guesses are
11. `training/steps.py`: one step; its `apply_gradients` ends a step of every training
12. `training/loop.py`: step after step

Everything else is reference, floor by floor; a module imports only from floors below its own, and
each room's own page says what is in it:

0. `bertlab.tokenizers`: text to tokens to ids.
1. `bertlab.model`: ids to vectors; the Transformer with a decoder; published weights.
2. `bertlab.pretraining`: what BERT is trained on and for. `bertlab.data`: the corpora that packages
   ship, and your own text.
3. `bertlab.training`: the loop, checkpoints, `python -m bertlab pretrain`.
4. `bertlab.finetuning`: tasks for a pre-trained BERT, and sentence vectors. `bertlab.seq2seq`: text
   to text. `bertlab.relatives`: what came after BERT, on the same parts. `bertlab.word_vectors`:
   what there was before it. `bertlab.interpretability`: what a trained model looks at, and which of
   it matters.
5. `bertlab.viz`: pictures and attention views, also of a model of your own.
"""

__version__ = "0.1.0"
