"""Floor 4: what a trained model looks at, and what its heads and vectors are good for.

- `traces.py`: what a model computed on the way, for one text: attentions, hidden states, queries
  and keys
- `patterns.py`: what each head looks at, beside what chance would give
- `ablation.py`: what becomes of the loss without a head; models with heads cut out
- `probing.py`: what a linear classifier reads out of each layer, beside a control task
- `rollout.py`: attention over all layers at once
- `gradients.py`: which words, and which looks, an answer depends on
"""
