"""The source of the second sentence of a NotNext pair; it sets the difficulty of the task.

BERT takes it from any other document. If documents are of several kinds, such as tales and
speeches, a model can then answer most questions by distinguishing the kinds, and need not learn how
one sentence leads to the next.

Source: Devlin et al. (2019), appendix A.2, for `ANYWHERE`; Lan et al. (2020), *ALBERT*, section
3.1, for why it is easy: a sentence from another document has another topic.
"""

from dataclasses import dataclass

import numpy as np

from bertlab._checks import require
from bertlab.pretraining.token_store import TokenStore


@dataclass(frozen=True)
class Negatives:
    """How near to A the B of a NotNext pair is drawn.

    same_corpus: from another document of A's own corpus, as the store divides them, if there is
    one; same_document: the share of NotNext pairs whose B is from A's own document, if that has
    sentences besides A and its continuation.

    Raises ValueError if `same_document` is not a share.
    """

    same_corpus: bool = False
    same_document: float = 0.0

    def __post_init__(self) -> None:
        require(self, "same_document", 0 <= self.same_document <= 1, "must be from 0 to 1")

    def documents(
        self, store: TokenStore, documents: np.ndarray
    ) -> tuple[int | np.ndarray, int | np.ndarray]:
        """The bounds of the documents that may give B: the first, and the one after the last.

        documents: [N], those of the A's, which are within their bounds.
        """
        if not self.same_corpus:
            return 0, len(store)
        starts = store.corpus_starts
        corpus = corpora_of(store, documents)
        first, stop = starts[corpus], starts[corpus + 1]
        alone = stop - first < 2
        return np.where(alone, 0, first), np.where(alone, len(store), stop)


ANYWHERE = Negatives()  # BERT's
SAME_CORPUS = Negatives(same_corpus=True)
SAME_DOCUMENT = Negatives(same_corpus=True, same_document=1.0)
HALF_SAME_DOCUMENT = Negatives(same_corpus=True, same_document=0.5)


def documents_of(store: TokenStore, positions: np.ndarray) -> np.ndarray:
    """The number of the document [N] that each token position [N] is in."""
    starts = store.sentence_starts[store.document_starts]
    return np.searchsorted(starts, positions, side="right") - 1


def corpora_of(store: TokenStore, documents: np.ndarray) -> np.ndarray:
    """The number of the corpus [N] that each document [N] is from."""
    return np.searchsorted(store.corpus_starts, documents, side="right") - 1


def other_spans(
    store: TokenStore,
    documents: np.ndarray,
    targets: np.ndarray,
    generator: np.random.Generator,
    first: int | np.ndarray = 0,
    stop: int | np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """For each chunk, whole sentences of another document: start and end, [N] each.

    documents: [N], the documents to exclude; targets: [N], about how many tokens; first,
    stop: bounds of the documents to draw from, all of them by default.
    """
    stop = len(store) if stop is None else stop
    other = generator.integers(first, stop - 1, size=len(documents))
    other += other >= documents  # all except the chunk's own are equally likely
    first, last = store.document_starts[other], store.document_starts[other + 1]
    sentence = generator.integers(first, last)  # all equally likely
    return spans(store, sentence, last, targets)


def own_spans(
    store: TokenStore,
    documents: np.ndarray,
    start: np.ndarray,
    end: np.ndarray,
    targets: np.ndarray,
    generator: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each chunk, whole sentences of its own document, from before or after it.

    documents, start, end: [N], of the chunks, which are A and its continuation; targets: [N],
    about how many tokens. Returns start, end, and whether there are any, [N] each; a chunk that is
    its whole document has none, and gets meaningless numbers.
    """
    first, last = store.document_starts[documents], store.document_starts[documents + 1]
    before = np.searchsorted(store.sentence_starts, start)  # the first sentence of the chunk
    behind = np.searchsorted(store.sentence_starts, end)  # the first one after it
    outside = before - first + last - behind
    found = outside > 0
    sentence = first + generator.integers(np.maximum(outside, 1))  # all equally likely
    is_before = sentence < before
    sentence = np.where(is_before, sentence, sentence + behind - before)
    sentence = np.minimum(sentence, last - 1)  # where there is none
    return *spans(store, sentence, np.where(is_before, before, last), targets), found


def spans(
    store: TokenStore, first: np.ndarray, last: np.ndarray, targets: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Whole sentences, starting with `first`, until there are enough tokens, all before `last`.

    first, last: [N], numbers of sentences; targets: [N]. Returns start and end in tokens, [N] each.
    """
    start = store.sentence_starts[first]
    enough = np.searchsorted(store.sentence_starts, start + targets)
    return start, store.sentence_starts[np.clip(enough, first + 1, last)]
