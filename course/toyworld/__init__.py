"""A language with known entropy: how far is a model from the best possible one?

For real text nobody knows the smallest possible loss. A model that predicts half of the masked
words may be poor, or as good as possible: "she bought a [MASK]" does not say what she bought. So
models are only compared with each other. Here we can compare them with the limit.

The language is stories about a small world of heroes, places, things and moods, told in 63 words.
They have what BERT must learn: pronouns and verbs that agree, things that are kept, sentences that
follow each other or do not. And because we defined every probability, Bayes' rule gives the exact
answer to both questions of pre-training, for any masks: no loss can be smaller in expectation. The
difference between a model's loss and this limit is what it has not learned.

Read `world` (the language), then `drawing` (stories and pairs), `reading` and `inference` (the
exact answers), `batches` (training data), `questions` (questions about stories), `entailment` (what
follows from a sentence, and what contradicts it).
"""

from course.toyworld.drawing import Pairs, pairs, stories
from course.toyworld.inference import (
    Limit,
    limit,
    log_probability,
    mean_loss,
    next_sentence_posterior,
    posterior,
    posterior_of_sentence,
    word_frequencies,
)
from course.toyworld.world import TOYWORLD, World

__all__ = [
    "TOYWORLD",
    "Limit",
    "Pairs",
    "World",
    "limit",
    "log_probability",
    "mean_loss",
    "next_sentence_posterior",
    "pairs",
    "posterior",
    "posterior_of_sentence",
    "stories",
    "word_frequencies",
]
