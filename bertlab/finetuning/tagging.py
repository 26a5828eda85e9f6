"""Tagging: from labelled spans of a text to tags of words, to targets of pieces, and back.

    characters      words                      pieces
    (0, 10, LOC)    New    York   sleeps       New    York   sleep   ##s
                    B-LOC  I-LOC  O            B-LOC  I-LOC  O       (ignored)

Data label characters, metrics compare words' tags, and BERT reads pieces. A word's tag is placed at
its first piece; predictions at the other pieces are ignored. On the way back, spans are made of the
words' own offsets, so they are exact to the character, whatever normalisation did to capitals and
accents. `tag_targets` maps to pieces and `spans_from_logits` maps back.

Source: Devlin et al. (2019), section 5.3; the tags (B begins, I is inside, O is outside) are those
of Ramshaw & Marcus (1995) in the form of CoNLL-2002, where every span begins with B.
"""

import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import takewhile

from torch import Tensor

from bertlab.finetuning.heads import IGNORED
from bertlab.finetuning.scores import OUTSIDE, tag_runs
from bertlab.tokenizers.checks import read_texts
from bertlab.tokenizers.tokenizer import Encoding
from bertlab.tokenizers.wordpiece import WordPiece
from bertlab.tokenizers.words import CHUNK, CONTINUES, is_removed

Word = tuple[int, int]  # the characters of a word: (start, end)
Span = tuple[int, int, str]  # the characters from start to before end, and a label


def tag_names(labels: Iterable[str]) -> tuple[str, ...]:
    """The tags for these labels; a tag's number is its place.

    >>> tag_names(["LOC", "PER"])
    ('O', 'B-LOC', 'I-LOC', 'B-PER', 'I-PER')
    """
    labels = read_texts("tag_names", "labels", labels)
    return (OUTSIDE, *(f"{prefix}-{label}" for label in labels for prefix in "BI"))


def tag_targets(
    text: str, spans: Sequence[Span], encoding: Encoding, tokenizer: WordPiece, names: Sequence[str]
) -> list[int]:
    """The target of `TokenTagger` for each piece of `encoding`: its tag's number, or `IGNORED`.

    encoding: of `text` alone, with or without special tokens, cut or whole; names: as `tag_names`
    gives them. Invisible characters at the edges of a span do not count. Raises ValueError as
    `tags_of_words` and `piece_targets` do.
    """
    words, first = _aligned(text, encoding, tokenizer)
    visible = [_without_invisible_edges(text, span) for span in spans]
    return piece_targets(tags_of_words(words, visible), first, names)


def spans_from_logits(
    text: str, logits: Tensor, encoding: Encoding, tokenizer: WordPiece, names: Sequence[str]
) -> list[Span]:
    """The spans of `text` that a tagger has found; logits: [L, C], as `predict` gives them."""
    words, first = _aligned(text, encoding, tokenizer)
    return spans_of_tags(tags_from_logits(logits, first, len(words), names), words)


def words_of(text: str, tokenizer: WordPiece) -> list[Word]:
    """The words that `tokenizer` splits into pieces, as characters of `text`.

    A token in the text that is never split, such as [MASK], is one word. The accent of "e" + U+0301
    belongs to its word although no token represents it; an invisible character, such as U+200B,
    belongs to a word only inside it (see `with_accents`).

    Raises TypeError if `tokenizer` is not a WordPiece: others do not mark how words continue.

    >>> from bertlab.model.pretrained import BERTLAB_MINI
    >>> from bertlab.tokenizers.files import load_tokenizer
    >>> words_of("Mary, the pirates!", load_tokenizer(BERTLAB_MINI))
    [(0, 4), (4, 5), (6, 9), (10, 17), (17, 18)]
    """
    if not isinstance(tokenizer, WordPiece):
        raise TypeError(
            f"words_of: tokenizer must be a WordPiece, whose pieces show where a word continues; "
            f"got {type(tokenizer).__name__}"
        )
    encoding = tokenizer.encode(text, add_special_tokens=False)
    words: list[Word] = []
    for token, (start, end) in zip(encoding.tokens, encoding.offsets, strict=True):
        if token.startswith(CONTINUES):
            start = words.pop()[0]
        words.append((start, end))
    around = zip([(0, 0), *words], words, [*words[1:], (len(text), len(text))], strict=False)
    return [with_accents(text, word, before[1], after[0]) for before, word, after in around]


def tags_of_words(words: Sequence[Word], spans: Sequence[Span]) -> list[str]:
    """The tag of each word.

    words: in the order of the text; spans: in any order. Raises ValueError if a span does not
    begin at the start of a word and end at the end of one, or if two spans overlap.

    >>> tags_of_words([(0, 3), (4, 8), (9, 15)], [(0, 8, "LOC")])
    ['B-LOC', 'I-LOC', 'O']
    """
    number_of_start = {start: number for number, (start, _) in enumerate(words)}
    number_of_end = {end: number for number, (_, end) in enumerate(words)}
    tags = [OUTSIDE] * len(words)
    for start, end, label in spans:
        if start >= end or start not in number_of_start or end not in number_of_end:
            near = [word for word in words if word[0] < end and start < word[1]]
            raise ValueError(
                f"tags_of_words: spans must begin and end where words do; got {(start, end)}, "
                f"among the words {near}; move its edges to theirs, or omit it"
            )
        inside = range(number_of_start[start], number_of_end[end] + 1)
        if any(tags[number] != OUTSIDE for number in inside):
            raise ValueError(
                f"tags_of_words: spans must not overlap, for a word has one tag; "
                f"{(start, end, label)} overlaps another one"
            )
        for number in inside:
            tags[number] = f"{'B' if number == inside.start else 'I'}-{label}"
    return tags


def spans_of_tags(tags: Sequence[str], words: Sequence[Word]) -> list[Span]:
    """The spans of the tags: the inverse of `tags_of_words`.

    A model's tags need not be well-formed: an I that does not continue a span begins one, as in
    `entity_f1`. Raises ValueError if there is not one tag per word.

    >>> spans_of_tags(["O", "I-PER", "I-PER", "B-PER"], [(0, 2), (3, 6), (7, 9), (10, 13)])
    [(3, 9, 'PER'), (10, 13, 'PER')]
    """
    if len(tags) != len(words):
        raise ValueError(
            f"spans_of_tags: tags must hold one for each of {len(words)} words; got {len(tags)}"
        )
    return [(words[first][0], words[after - 1][1], label) for first, after, label in tag_runs(tags)]


def first_pieces(words: Sequence[Word], offsets: Sequence[tuple[int, int]]) -> list[int]:
    """For each piece the number of the word whose first piece it is, or -1.

    words: in the order of the text, without overlaps; offsets: of the pieces, `Encoding.offsets`.
    Added special tokens cover no character and get -1.

    >>> first_pieces([(0, 3), (4, 10)], [(0, 0), (0, 3), (4, 9), (9, 10), (0, 0)])
    [-1, 0, 1, -1, -1]
    """
    ends = [end for _, end in words]
    numbers, last = [], -1
    for start, end in offsets:
        word = bisect_right(ends, start)  # the first word that ends after the piece's start
        covers = start < end and word < len(words) and words[word][0] < end
        is_first = covers and word > last
        numbers.append(word if is_first else -1)
        last = word if is_first else last
    return numbers


def piece_targets(tags: Sequence[str], first: Sequence[int], names: Sequence[str]) -> list[int]:
    """The number of its word's tag at each first piece, `IGNORED` at all others.

    first: of `first_pieces`; names: all tags by number. Raises ValueError if a tag is not
    in `names`.

    >>> piece_targets(["B-LOC", "O"], [-1, 0, 1, -1, -1], tag_names(["LOC"]))
    [-100, 1, 0, -100, -100]
    """
    numbers = {name: number for number, name in enumerate(names)}
    for tag in tags:
        if tag not in numbers:
            raise ValueError(f"piece_targets: tags must be of {', '.join(names)}; got {tag!r}")
    return [numbers[tags[word]] if word >= 0 else IGNORED for word in first]


def tags_from_logits(
    logits: Tensor, first: Sequence[int], n_words: int, names: Sequence[str]
) -> list[str]:
    """The tag with the highest score at the first piece of each word.

    logits: [L, C], for the L pieces of one encoding and the C tags; first: of `first_pieces`.
    Words without a piece, after the end of a truncated encoding, are outside.

    Raises ValueError if logits do not fit `first` and `names`.
    """
    if logits.shape != (len(first), len(names)):
        raise ValueError(
            f"tags_from_logits: logits must be [{len(first)}, {len(names)}], a score for each "
            f"piece and tag; got {list(logits.shape)}"
        )
    tags = [OUTSIDE] * n_words
    for word, best in zip(first, logits.argmax(dim=-1).tolist(), strict=True):
        if word >= 0:
            tags[word] = names[best]
    return tags


def with_accents(text: str, word: Word, lowest: int, highest: int) -> Word:
    """The characters of some tokens, extended over the accents that normalisation has stripped.

    lowest, highest: where the token before ends and the token after begins. Accents, and U+FE0F of
    an emoji, belong to the word that they follow, at the start of a word to that word. What
    `is_removed`, such as U+200B, belongs to no word unless an accent of the word is beyond it.

    >>> with_accents("Re\\u0301\\u200b!", (0, 2), 0, 4)
    (0, 3)
    """
    start, end = word
    place = end
    while place < highest and is_dropped(text[place]):
        place += 1
        end = end if is_removed(text[place - 1]) else place
    first = place = start
    while place > lowest and is_dropped(text[place - 1]):
        place -= 1
        first = first if is_removed(text[place]) else place
    touches_a_word = place > 0 and CHUNK.match(text[place - 1])
    return (start if touches_a_word else first), end


def is_dropped(character: str) -> bool:
    """Whether BERT's normalisation drops a character: `is_removed`, and combining accents."""
    return is_removed(character) or unicodedata.category(character) == "Mn"


def _without_invisible_edges(text: str, span: Span) -> Span:
    """The span, from its first visible character to its last; unchanged if it has none."""
    start, end, label = span
    inside = text[start:end]
    before = len(list(takewhile(is_removed, inside)))
    after = len(list(takewhile(is_removed, reversed(inside))))
    return span if before == len(inside) else (start + before, end - after, label)


def _aligned(
    text: str, encoding: Encoding, tokenizer: WordPiece
) -> tuple[list[Word], Sequence[int]]:
    """The words of `text`, and for each piece of `encoding` the word that it begins, or -1."""
    if any(encoding.segment_ids):
        raise ValueError("tagging: encoding must be of one text; got one of a pair")
    words = words_of(text, tokenizer)
    return words, first_pieces(words, encoding.offsets)
