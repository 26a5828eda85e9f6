"""Which sentences a model reads together: one epoch's pairs for next-sentence prediction.

The source of the second sentence of a NotNext pair sets the difficulty of the task. BERT takes it
from any other document. If documents are of several kinds, such as tales and speeches, a model can
then answer most questions by distinguishing the kinds, and need not learn how one sentence leads to
the next.

Source: Devlin et al. (2019), section 3.1, task 2, and appendix A.2; `create_pretraining_data.py`
in BERT's repository. Lan et al. (2020), *ALBERT*, section 3.1, for why `ANYWHERE` is easy: a
sentence from another document has another topic.
"""

from array import array
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np

from bertlab.data.token_store import TokenStore
from bertlab.model.checks import require


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


N_SPECIAL = 3  # [CLS] A [SEP] B [SEP]
DRAWS = 1 << 14  # random numbers drawn together: one by one, they would take most of the time


@dataclass(frozen=True, eq=False)
class Pairs:
    """N pairs of segments, each a span of `TokenStore.ids`: int64 arrays [N].

    A is ids[a_start:a_end], B is ids[b_start:b_end]; not_next: 0 where B follows A in its
    document (IsNext), 1 where it comes from elsewhere (NotNext), as the columns of nsp_logits.
    """

    a_start: np.ndarray
    a_end: np.ndarray
    b_start: np.ndarray
    b_end: np.ndarray
    not_next: np.ndarray

    def __len__(self) -> int:
        return len(self.a_start)

    def __getitem__(self, rows: np.ndarray | slice) -> "Pairs":
        """Some of the pairs."""
        return Pairs(*(getattr(self, field.name)[rows] for field in fields(self)))

    @property
    def lengths(self) -> np.ndarray:
        """Tokens of each pair [N], special ones included."""
        return self.a_end - self.a_start + self.b_end - self.b_start + N_SPECIAL


class Chunks(NamedTuple):
    """Spans of a document, each cut in two: int64 arrays [N]."""

    start: np.ndarray
    middle: np.ndarray
    end: np.ndarray
    target: np.ndarray  # tokens that the pair should have, without special ones
    not_next: np.ndarray
    document: np.ndarray


def plan_pairs(
    store: TokenStore,
    max_length: int,
    generator: np.random.Generator,
    short_probability: float = 0.1,
    negatives: Negatives = ANYWHERE,
) -> Pairs:
    """The pairs of one epoch, in the order of the documents.

    max_length: of a pair with its three special tokens; short_probability: that a pair has a
    random shorter length, so that the model sees short texts too; negatives: the source of the B of
    a NotNext pair.

    Sentences of a document are collected until they fill a pair, and cut in two between sentences.
    With probability 1/2 the second half is B (IsNext). Otherwise B is a span from elsewhere that
    starts at a random sentence (NotNext), and the second half returns to the document.
    Source: BERT's `create_pretraining_data.py`. There, a single sentence that fills a pair can only
    be NotNext, so more than half of all pairs are NotNext; here a pair takes at least two sentences
    of a document, and a single last sentence is never A. And shorter lengths are drawn for each
    pair, not for all pairs of a document.

    Raises ValueError if max_length has no room for a token in each segment, if there is only one
    document, or if none has two sentences.
    """
    _check(store, max_length, short_probability)
    room = max_length - N_SPECIAL
    chunks = cut_documents(store, room, generator, short_probability)
    if not len(chunks.start):
        raise ValueError(
            "plan_pairs: store must hold a document of two sentences or more, or there is no next "
            f"sentence; each of its {len(store):,} documents has one"
        )
    wanted = chunks.target - (chunks.middle - chunks.start)
    other_start, other_end = not_next_spans(store, chunks, wanted, negatives, generator)
    b_start = np.where(chunks.not_next, other_start, chunks.middle)
    b_end = np.where(chunks.not_next, other_end, chunks.end)
    pairs = Pairs(chunks.start, chunks.middle, b_start, b_end, chunks.not_next)
    return truncate(pairs, room, generator)


def cut_documents(
    store: TokenStore, room: int, generator: np.random.Generator, short_probability: float
) -> Chunks:
    """Cut all documents into chunks of about `room` tokens, and each chunk in two."""
    draws = _draws(generator)
    columns = tuple(array("q") for _ in Chunks._fields)  # 8 bytes per number, a list needs 36
    for document in range(len(store)):
        first, last = store.document_starts[document : document + 2].tolist()
        starts = store.sentence_starts[first : last + 1].tolist()
        for chunk in cut_document(starts, room, draws, short_probability):
            for column, number in zip(columns, (*chunk, document), strict=True):
                column.append(number)
    return Chunks(*(np.array(column, np.int64) for column in columns))


def cut_document(
    starts: list[int], room: int, draws: Iterator[float], short_probability: float
) -> Iterator[tuple[int, int, int, int, bool]]:
    """Cut one document; yields start, middle and end of each chunk, its target and NotNext.

    starts: the starts of its sentences in tokens, and the end of the last one; draws: random
    numbers from 0 to 1.
    """
    first, last = 0, len(starts) - 1
    while last - first >= 2:
        target = room
        if next(draws) < short_probability:
            target = 2 + int(next(draws) * (room - 1))  # from 2 to room
        enough = bisect_left(starts, starts[first] + target, first)
        end = min(last, max(enough, first + 2))
        middle = first + 1 + int(next(draws) * (end - first - 1))  # a sentence or more on each side
        not_next = next(draws) < 0.5
        yield starts[first], starts[middle], starts[end], target, not_next
        first = middle if not_next else end


def not_next_spans(
    store: TokenStore,
    chunks: Chunks,
    targets: np.ndarray,
    negatives: Negatives,
    generator: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
    """For each chunk, whole sentences as the B of a NotNext pair: start and end, [N] each.

    targets: [N], about how many tokens.
    """
    start, end = other_spans(
        store, chunks.document, targets, generator, *negatives.documents(store, chunks.document)
    )
    if not negatives.same_document:
        return start, end
    own_start, own_end, found = own_spans(
        store, chunks.document, chunks.start, chunks.end, targets, generator
    )
    near = found & (generator.random(len(found)) < negatives.same_document)
    return np.where(near, own_start, start), np.where(near, own_end, end)


def truncate(pairs: Pairs, room: int, generator: np.random.Generator) -> Pairs:
    """Make every pair fit into `room` tokens, without special ones.

    Tokens are removed at the front or at the back with probability 1/2 each, so that the model
    does not rely on sentence starts. Source: `truncate_seq_pair` in BERT's repository.
    """
    a_length, b_length = pairs.a_end - pairs.a_start, pairs.b_end - pairs.b_start
    a_kept, b_kept = kept_lengths(a_length, b_length, room)
    a_lost, b_lost = a_length - a_kept, b_length - b_kept
    a_front, b_front = generator.binomial(a_lost, 0.5), generator.binomial(b_lost, 0.5)
    return Pairs(
        pairs.a_start + a_front,
        pairs.a_end - (a_lost - a_front),
        pairs.b_start + b_front,
        pairs.b_end - (b_lost - b_front),
        pairs.not_next,
    )


def kept_lengths(
    a_length: int | np.ndarray, b_length: int | np.ndarray, room: int
) -> tuple[int | np.ndarray, int | np.ndarray]:
    """How many tokens A and B keep, so that both together fit into `room`.

    The longer segment loses one token at a time (B, if they are equally long). The result has a
    closed form: a segment keeps half of the room, or what the other one leaves.

    a_length, b_length: numbers, or arrays [N] of them.

    >>> kept_lengths(np.array([9, 2, 9]), np.array([9, 9, 1]), 11)
    (array([6, 2, 9]), array([5, 9, 1]))
    """
    a_kept = np.minimum(a_length, np.maximum(room - b_length, (room + 1) // 2))
    b_kept = np.minimum(b_length, np.maximum(room - a_length, room // 2))
    return a_kept, b_kept


def _draws(generator: np.random.Generator) -> Iterator[float]:
    while True:
        yield from generator.random(DRAWS).tolist()


def _check(store: TokenStore, max_length: int, short_probability: float) -> None:
    if max_length < N_SPECIAL + 2:
        raise ValueError(
            f"plan_pairs: max_length must be at least {N_SPECIAL + 2}, three special tokens and "
            f"one in each segment; got {max_length}"
        )
    if not 0 <= short_probability <= 1:
        raise ValueError(
            f"plan_pairs: short_probability must be from 0 to 1; got {short_probability}"
        )
    if len(store) < 2:
        raise ValueError(
            "plan_pairs: store must hold at least two documents, or no sentence could come from "
            f"another one; got {len(store)}"
        )
