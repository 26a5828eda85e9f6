"""bertlab: the code of the course, small enough to be read from end to end.

Reading order, floor by floor; a module imports only from floors below its own:

0. `bertlab.tokenizers`: text to ids. Start with `bertlab/tokenizers/bpe.py`.
1. `bertlab.model`: ids to vectors. Start with `bertlab/model/attention.py`, then `layers.py`,
   `embeddings.py`, `bert.py`; `config.py` names the sizes, `pretrained.py` reads published weights.
2. `bertlab.pretraining`: what BERT is trained on and for. Start with
   `bertlab/pretraining/masking.py`, then `losses.py`. `bertlab.data`: the corpora that installed
   packages ship.
3. `bertlab.training`: the loop, checkpoints, `python -m bertlab pretrain`. Start with
   `bertlab/training/steps.py`, whose `move` ends a step of every training, then `loop.py`.
4. `bertlab.finetuning`: tasks for a pre-trained BERT, and sentence vectors. Start with
   `bertlab/finetuning/heads.py`, then `tuning.py`; `sentences.py` is Sentence-BERT.
   `bertlab.seq2seq`: text to text. Start with `bertlab/seq2seq/tasks.py`; the Transformer that
   learns them is `bertlab/model/transformer.py`. `bertlab.relatives`: what came after BERT, on the
   same parts. Start with `bertlab/relatives/gpt.py`. `bertlab.word_vectors`: what there was before
   it, from counting words to LSTMs that read both ways. `bertlab.interpretability`: what a trained
   model looks at, and which of it matters. Start with `bertlab/interpretability/traces.py`, then
   `patterns.py`.
5. `bertlab.viz`: pictures and views for notebooks; `course.feedback`: feedback in the exercises.
"""

__version__ = "0.1.0"
