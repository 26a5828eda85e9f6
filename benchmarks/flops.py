"""How much arithmetic a pre-training step is: the matrix products, which are nearly all of it."""

from bertlab.model import BertConfig


def encoder_flops(config: BertConfig, sequences: int, length: int) -> int:
    """Multiplications and additions of one forward pass through the encoder and the pooler.

    A product of [n, k] and [k, m] takes 2 n k m. A layer multiplies each token with 4 matrices
    [D, D] and 2 of [D, d_ff], and in each sequence [L, D] with [D, L] for the scores and [L, L]
    with [L, D] for the weighted means.
    """
    D = config.d_model
    tokens = sequences * length
    matrices = 2 * tokens * (4 * D * D + 2 * D * config.d_ff)
    attention = 2 * sequences * (2 * length * length * D)
    return config.n_layers * (matrices + attention) + 2 * sequences * D * D


def step_flops(config: BertConfig, sequences: int, length: int, predicted: int) -> int:
    """A pre-training step that scores every word at `predicted` positions.

    Backward takes every product twice: for the gradient of each of its two factors.

    >>> round(step_flops(BertConfig.tiny(), 32, 128, 614) / 1e9, 1)
    25.7
    """
    D = config.d_model
    words = 2 * predicted * (D * D + D * config.vocab_size)
    next_sentence = 2 * sequences * D * 2
    return 3 * (encoder_flops(config, sequences, length) + words + next_sentence)
