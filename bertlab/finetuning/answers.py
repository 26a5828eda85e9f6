"""Extractive question answering: an answer is a span of the passage, or there is none.

The question is the first text of a pair and the passage the second one. A model scores each token
as the start and as the end of the answer. [CLS], token 0, means "no answer here".

Offsets map characters to tokens and back, so an answer is always exact text of the passage:
`answer_targets` maps to tokens, `best_span` maps back.

Source: Devlin et al. (2019), sections 4.2 (SQuAD 1.1) and 4.3 (SQuAD 2.0, with questions that have
no answer).
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from bertlab.finetuning.tagging import is_dropped, with_accents
from bertlab.tokenizers.tokenizer import Encoding
from bertlab.tokenizers.words import BERT_CHUNK

Answer = tuple[int, int]  # characters of the passage: (start, end)
NO_ANSWER = (0, 0)  # as tokens: [CLS] is both its start and its end


def answer_targets(encoding: Encoding, passage: str, answer: Answer | None) -> tuple[int, int]:
    """The first and the last token of the answer: the target of `SpanAnswerer`.

    encoding: of a question and its passage; answer: characters of the passage, or None if there
    is no answer. Tokens that the answer covers in part count.

    Returns `NO_ANSWER` for None, and for an encoding without the whole answer, such as one of
    several windows: it is not enough to answer the question.

    Raises ValueError if `encoding` is of one text, or if `answer` is not a span of the passage with
    at least one token.

    >>> from bertlab.model.pretrained import BERTLAB_MINI
    >>> from bertlab.tokenizers.files import load_tokenizer
    >>> passage = "Mary runs to the lake with her kite"
    >>> encoding = load_tokenizer(BERTLAB_MINI).encode("Mary", passage)
    >>> answer_targets(encoding, passage, (13, 21))
    (7, 8)
    >>> encoding.tokens[7:9], passage[13:21]
    (['the', 'lake'], 'the lake')
    """
    tokens = passage_tokens(encoding)
    if answer is None:
        return NO_ANSWER
    start, end = answer
    if not 0 <= start < end <= len(passage):
        raise ValueError(
            f"answer_targets: answer must be (start, end) with 0 <= start < end <= {len(passage)}, "
            f"the length of the passage, or None; got {answer}"
        )
    offsets = encoding.offsets
    inside = [n for n in tokens if offsets[n][0] < end and start < offsets[n][1]]
    while start < end and _without_token(passage[start]):
        start += 1
    while start < end and _without_token(passage[end - 1]):
        end -= 1
    if start == end and not inside:
        raise ValueError(
            f"answer_targets: answer must cover a token; the characters {answer} of the passage "
            f"are {passage[slice(*answer)]!r}"
        )
    if not inside or start < offsets[tokens[0]][0] or end > offsets[tokens[-1]][1]:
        return NO_ANSWER
    return inside[0], inside[-1]


def best_span(
    logits: Tensor,
    encoding: Encoding,
    passage: str,
    *,
    max_tokens: int = 30,
    threshold: float = 0.0,
) -> Answer | None:
    """The answer that a model's scores select, as characters of the passage; None for no answer.

    logits: [L, 2], for each token its scores as start and as end, as `predict` gives them;
    encoding: of the question and `passage`, as the model has read it; max_tokens: of the longest
    answer; threshold: by how much the best answer's score must exceed that of "no answer" (-inf:
    always answer, as in SQuAD 1.1). The paper chooses it on held-out questions. The edges of the
    answer are those of `words_of`: with accents, without invisible characters.

    Raises ValueError if logits do not fit the encoding, or max_tokens is below 1.

    Source: Devlin et al. (2019), section 4.3: an answer from token i to j >= i scores S_i + E_j,
    none scores S_0 + E_0.
    """
    return best_answer([logits], [encoding], passage, max_tokens=max_tokens, threshold=threshold)


def best_answer(
    logits: Sequence[Tensor],
    windows: Sequence[Encoding],
    passage: str,
    *,
    max_tokens: int = 30,
    threshold: float = 0.0,
) -> Answer | None:
    """The best answer from several windows of one passage: `best_span` for long passages.

    logits: for each of `windows` [L, 2]. The best answer of all windows is compared with the
    lowest score for "no answer": the passage may have the answer even if a window does not.

    Source: `run_squad.py` of the paper's authors.
    """
    if max_tokens < 1:
        raise ValueError(f"best_span: max_tokens must be at least 1; got {max_tokens}")
    if not windows or len(logits) != len(windows):
        raise ValueError(
            f"best_answer: logits must hold one entry per window, {len(windows)}, at least one; "
            f"got {len(logits)}"
        )
    found: list[tuple[float, Answer]] = []
    for scores, window in zip(logits, windows, strict=True):
        found += _best_in_window(scores, window, passage, max_tokens)
    score, answer = max(found, key=lambda scored: scored[0], default=(-torch.inf, None))
    none = min(float(scores[0].sum()) for scores in logits)
    return answer if score > none + threshold else None


def windows(encoding: Encoding, max_length: int, stride: int = 128) -> list[Encoding]:
    """Split a pair whose passage is too long into overlapping ones, each with the whole question.

    encoding: of a question and its passage, not truncated, with special tokens; max_length: of a
    window, special tokens included; stride: passage tokens between the starts of two windows.
    Offsets still count characters of the whole passage.

    Raises ValueError if the question leaves no room for the passage, or if there would be gaps.

    Source: Devlin et al. (2019), `run_squad.py`, where max_length is 384 and stride 128.
    """
    passage_tokens(encoding)
    if len(encoding.parts) != 5:
        raise ValueError("windows: encoding must be [CLS] question [SEP] passage [SEP]")
    *head, passage, end = encoding.parts
    room = max_length - (len(encoding) - len(passage.ids))
    if not 1 <= stride <= room and len(passage.ids) > room:
        raise ValueError(
            f"windows: stride must be from 1 to the {room} tokens that max_length={max_length} "
            f"leaves for the passage; got {stride}"
        )
    starts = [0]
    while starts[-1] + room < len(passage.ids):
        starts.append(starts[-1] + stride)
    return [
        Encoding((*head, passage.cut(start + room, start), end), encoding.token_of)
        for start in starts
    ]


def passage_tokens(encoding: Encoding) -> list[int]:
    """The numbers of the tokens that represent characters of the second text.

    Raises ValueError if there is no second text.
    """
    if 1 not in encoding.segment_ids:
        raise ValueError(
            "answers: encoding must be of a question and a passage, tokenizer.encode(question, "
            "passage); got one of a single text"
        )
    offsets, segments = encoding.offsets, encoding.segment_ids
    return [n for n, (start, end) in enumerate(offsets) if segments[n] == 1 and start < end]


def _best_in_window(
    logits: Tensor, encoding: Encoding, passage: str, max_tokens: int
) -> list[tuple[float, Answer]]:
    """The best (score, answer) of one window, in a list; an empty one if there is no passage."""
    if logits.shape != (len(encoding), 2):
        raise ValueError(
            f"best_span: logits must be [{len(encoding)}, 2], a start and an end score for each "
            f"token; got {list(logits.shape)}"
        )
    tokens = passage_tokens(encoding)
    if not tokens:
        return []
    start, end = logits[tokens].unbind(dim=1)  # [P] each, P tokens of the passage
    scores = start[:, None] + end  # [P, P]
    allowed = torch.ones_like(scores, dtype=torch.bool).triu().tril(max_tokens - 1)
    scores = scores.masked_fill(~allowed, -torch.inf)
    first, last = divmod(int(scores.argmax()), len(tokens))
    spans = [(0, 0), *(encoding.offsets[n] for n in tokens), (len(passage), len(passage))]
    before, (begin, _) = spans[first : first + 2]
    (_, stop), after = spans[last + 1 : last + 3]
    answer = with_accents(passage, (begin, stop), before[1], after[0])
    return [(float(scores[first, last]), answer)]


def _without_token(character: str) -> bool:
    """Whether no token represents a character: white space and dropped characters."""
    return not BERT_CHUNK.match(character) or is_dropped(character)
