"""A language with known entropy: how far is a model from the best possible one?

On real text nobody knows how small the loss can become. A model that guesses half of the masked
words may be poor, or as good as anybody can be: what she bought, "she bought a [MASK]" does not
say. So models are compared with each other, as if engines were only ever compared with engines.
Physics knows better: it computes the limit that no engine can pass, and says how near one comes.

Here are stories about a small world of heroes, places, things and moods, told in 63 words. They
have what BERT needs to learn: pronouns and verbs that agree, things that are kept, sentences that
follow from each other or do not. And because we wrote down every probability, Bayes' rule gives
the exact answer to both questions of pre-training, whatever is masked: no loss can be smaller in
expectation. What a model has above it is what it has not learned.

Read `world` (the language), then `drawing` (stories and pairs), `reading` and `inference` (the
exact answers), `batches` (what a training reads), `questions` (stories that are asked),
`entailment` (what follows from a sentence, and what contradicts it).
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
