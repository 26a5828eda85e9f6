"""The parameters of BERT's parts, counted by hand: the basis of numbers in several lectures."""


def layer(d, d_ff=None):
    """Four square matrices, two long ones, their biases, two norms."""
    d_ff = d_ff or 4 * d
    return 4 * (d * d + d) + (d * d_ff + d_ff) + (d_ff * d + d) + 2 * 2 * d


def embeddings(words, d, positions=512, segments=2):
    """Three tables and a norm."""
    return (words + positions + segments) * d + 2 * d


def encoder(layers, d, words=30_522, d_ff=None):
    """With the pooler."""
    return embeddings(words, d) + layers * layer(d, d_ff) + d * d + d


def heads(d, words=30_522):
    """Masked words (transform, norm, a bias for each word) and next sentences."""
    return d * d + d + 2 * d + words + 2 * d + 2
