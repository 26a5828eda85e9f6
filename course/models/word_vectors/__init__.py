"""Floor 4: word vectors before BERT, from counts to bidirectional language models.

Static vectors, one for each word:

- `vocabulary.py`: the words of a corpus, counted
- `counts.py`: one-hot vectors and TF-IDF
- `negative_sampling.py`: word2vec's objective, for one pair of words
- `word2vec.py`: skip-gram and CBOW, trained on a corpus
- `vectors.py`: cosine, nearest neighbours, analogies; `evaluation.py`: compared with people

Contextual vectors, one for each occurrence:

- `language_model.py`: ELMo's idea, two LSTMs that read from both sides
"""

from course.models.word_vectors.counts import TfIdf, one_hot, tf_idf
from course.models.word_vectors.evaluation import (
    AnalogyScore,
    SimilarityScore,
    score_analogies,
    score_similarity,
    spearman,
)
from course.models.word_vectors.language_model import (
    BidirectionalLanguageModel,
    mix_layers,
    train_language_model,
)
from course.models.word_vectors.vectors import WordVectors, cosine
from course.models.word_vectors.vocabulary import Vocabulary
from course.models.word_vectors.word2vec import Word2VecConfig, train_cbow, train_skip_gram

__all__ = [
    "AnalogyScore",
    "BidirectionalLanguageModel",
    "SimilarityScore",
    "TfIdf",
    "Vocabulary",
    "Word2VecConfig",
    "WordVectors",
    "cosine",
    "mix_layers",
    "one_hot",
    "score_analogies",
    "score_similarity",
    "spearman",
    "tf_idf",
    "train_cbow",
    "train_language_model",
    "train_skip_gram",
]
