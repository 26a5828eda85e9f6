"""Floor 4: what a trained model attends to, and what its heads and vectors contribute.

- `traces.py`: the intermediate values for one text: attentions, hidden states, queries and keys
- `patterns.py`: what each head attends to, compared with chance
- `ablation.py`: how the loss changes without a head; models with heads removed
- `probing.py`: what a linear classifier reads from each layer, compared with a control task
- `rollout.py`: attention over all layers at once
- `gradients.py`: the words and the attention that an answer depends on
"""
