"""Floor 4: text to text, with an encoder and a decoder.

Read `vocabulary.py` (pairs of texts), `training.py` (teacher forcing, label smoothing), then
`decoding.py` (greedy, beam). The Transformer itself is `bertlab.model.transformer`; any other model
that can `encode` a source once and `decode` step by step can be used too.
"""
