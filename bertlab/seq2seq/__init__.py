"""Floor 4: text to text, with an encoder and a decoder.

Read `vocabulary.py` and `tasks.py` (what is learned), `training.py` (teacher forcing, label
smoothing), `decoding.py` (greedy, beam), then `recurrent.py` and `convolutional.py`: what came
before the Transformer, to compare with in `comparison.py`. The Transformer itself is
`bertlab.model.transformer`. All models `encode` a source once and `decode` step by step.
"""
