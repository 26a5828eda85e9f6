"""Floor 4: what vectors words had before BERT, from counting to reading in both directions.

Static vectors, one for each word:

- `vocabulary.py`: the words of a corpus, counted
- `counts.py`: one-hot vectors and TF-IDF
- `negative_sampling.py`: what word2vec wants, for one pair of words
- `word2vec.py`: skip-gram and CBOW, trained on a corpus
- `vectors.py`: cosine, nearest neighbours, analogies; `evaluation.py`: held against people

Contextual vectors, one for each occurrence:

- `language_model.py`: ELMo's idea, two LSTMs that read from both sides
- `reach.py`: how far a network hears: receptive fields, and influence measured by gradients
"""

from bertlab.word_vectors.counts import TfIdf, one_hot, tf_idf
from bertlab.word_vectors.evaluation import (
    AnalogyScore,
    SimilarityScore,
    score_analogies,
    score_similarity,
    spearman,
)
from bertlab.word_vectors.language_model import (
    BidirectionalLanguageModel,
    mix_layers,
    train_language_model,
)
from bertlab.word_vectors.reach import ConvolutionStack, influence, receptive_field
from bertlab.word_vectors.vectors import WordVectors, cosine
from bertlab.word_vectors.vocabulary import Vocabulary
from bertlab.word_vectors.word2vec import Word2VecConfig, train_cbow, train_skip_gram

__all__ = [
    "AnalogyScore",
    "BidirectionalLanguageModel",
    "ConvolutionStack",
    "SimilarityScore",
    "TfIdf",
    "Vocabulary",
    "Word2VecConfig",
    "WordVectors",
    "cosine",
    "influence",
    "mix_layers",
    "one_hot",
    "receptive_field",
    "score_analogies",
    "score_similarity",
    "spearman",
    "tf_idf",
    "train_cbow",
    "train_language_model",
    "train_skip_gram",
]
