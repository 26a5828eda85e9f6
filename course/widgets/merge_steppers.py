"""Byte pair encoding, one merge per page: the words, the counts and the vocabulary."""

import html
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from numbers import Integral

from bertlab.tokenizers.bpe import count_pairs, merge_pair
from bertlab.viz.frames import Frame, read_asset
from course.widgets.flipbooks import bar, flipbook

PAIRS_SHOWN = 8
WORDS_SHOWN = 12
NONE_LEFT = '<p class="more">None left: every word is one symbol.</p>'

Pair = tuple[str, str]
Symbols = tuple[str, ...]


def merge_stepper(
    word_counts: Mapping[str, int],
    merges: Sequence[Pair],
    *,
    title: str = "Byte pair encoding, merge by merge",
) -> Frame:
    """Step through `merges`: words in symbols, pair counts with ties, the vocabulary so far.

    word_counts: word -> how often it occurs (a word may also be a tuple of symbols, such as
    ("c", "o", "s", "t</w>")); merges: pairs in the order learned.

    Raises ValueError if there is no word, or if a merge joins a pair that does not occur.
    """
    words = cut_words("merge_stepper", word_counts, tuple)
    merges = [(left, right) for left, right in merges]
    alphabet = sorted({symbol for word in words for symbol in word})
    pages, labels, vocabulary = [], [f"Start: {len(alphabet)} characters, no merge yet"], alphabet
    for step, pair in enumerate([*merges, None]):
        counts = count_pairs(words)
        if pair is not None and counts[pair] == 0:
            raise ValueError(
                f"merge_stepper: merges[{step}] is {pair}, which does not occur in the words "
                f"after the merges before it; use merges and words of the same training"
            )
        newest = "".join(merges[step - 1]) if step else None
        pages.append(_page(words, counts, pair, vocabulary, newest))
        if pair is None:
            break
        left, right = pair
        labels.append(
            f"Merge {step + 1} of {len(merges)}: {left} + {right} → {left + right}, "
            f"which occurred {times(counts[pair])}"
        )
        words = merge_all(words, pair, merge_pair)
        vocabulary = list(dict.fromkeys([*vocabulary, left + right]))
    return flipbook(
        pages,
        labels,
        title=title,
        alt=" ".join(f"{label}." for label in labels),
        css=read_asset("merge_stepper.css", __package__),
    )


def _page(
    words: Mapping[Symbols, int],
    counts: Counter[Pair],
    next_pair: Pair | None,
    vocabulary: Sequence[str],
    newest: str | None,
) -> str:
    symbols = "".join(symbol_box(symbol, newest) for symbol in vocabulary)
    # The next pair is the first among ties, so that it is always visible.
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0] != next_pair))
    pairs = pair_table(ordered, next_pair, ["count"], lambda pair: [f"{counts[pair]:,}"])
    return f"""<div class="merge-step">
<div><h2>Words, in symbols</h2>{word_table(words, newest)}</div>
<div><h2>Pairs of neighbours</h2>{pairs or NONE_LEFT}</div>
<div class="wide"><h2>Vocabulary: {len(vocabulary)} symbols</h2><div>{symbols}</div></div>
</div>"""


def cut_words(
    function: str, word_counts: Mapping[str, int], cut: Callable[[str], Symbols]
) -> Counter[Symbols]:
    """The words of a corpus as tuples of symbols, with their counts.

    function: the caller's name, for the message; cut: turns a word into its first symbols.

    Raises ValueError if there is no word, an empty one, or a count that is no whole number from 1.
    """
    words: Counter[Symbols] = Counter()
    for word, count in word_counts.items():
        if not word or not isinstance(count, Integral) or count < 1:
            raise ValueError(
                f"{function}: word_counts must map words to counts, whole numbers of at least 1; "
                f"got {word!r}: {count!r}"
            )
        words[cut(word)] += count
    if not words:
        raise ValueError(f"{function}: word_counts must hold at least one word; got none")
    return words


def merge_all(
    words: Mapping[Symbols, int], pair: Pair, merge: Callable[[Symbols, Pair], Symbols]
) -> Counter[Symbols]:
    """The words after `merge(symbols, pair)` in each."""
    merged: Counter[Symbols] = Counter()
    for symbols, count in words.items():
        merged[merge(symbols, pair)] += count
    return merged


def word_table(words: Mapping[Symbols, int], newest: str | None, shown: int = WORDS_SHOWN) -> str:
    """The first `shown` words in their symbols, the newest symbol marked, as HTML."""
    rows = [
        f"<tr><td>{''.join(symbol_box(symbol, newest) for symbol in word)}</td>"
        f'<td class="number">{count:,}</td></tr>'
        for word, count in list(words.items())[:shown]
    ]
    return (
        '<table><thead><tr><th scope="col">word</th><th scope="col" class="number">count</th></tr>'
        f"</thead><tbody>{''.join(rows)}</tbody></table>{_more(len(words) - shown, 'word')}"
    )


def pair_table(
    ordered: Sequence[tuple[Pair, float]],
    chosen: Pair | None,
    heads: Sequence[str],
    numbers: Callable[[Pair], Sequence[str]],
    shown: int = PAIRS_SHOWN,
) -> str:
    """The first `shown` pairs with a bar each, the chosen one and ties marked, as HTML.

    ordered: (pair, the criterion's value), the highest first; heads: of the number columns, as
    HTML; numbers: a pair's entries in them. Without pairs it is empty.
    """
    if not ordered:
        return ""
    highest = ordered[0][1]
    ties = sum(value == highest for _, value in ordered)
    rows = []
    for pair, value in ordered[:shown]:
        marks = ["joined next"] if pair == chosen else []
        if ties > 1 and value == highest:
            marks.append(f"tie of {ties}")
        cells = "".join(f'<td class="number">{number}</td>' for number in numbers(pair))
        rows.append(
            f'<tr class="{"chosen" if pair == chosen else ""}">'
            f'<th scope="row">{symbol_box(pair[0])} {symbol_box(pair[1])}</th>'
            f'<td class="amount">{bar(max(value, 0) / highest if highest > 0 else 0)}</td>'
            f'{cells}<td class="mark">{", ".join(marks)}</td></tr>'
        )
    columns = "".join(f'<th scope="col" class="number">{head}</th>' for head in heads)
    return (
        f'<table><thead><tr><th scope="col">pair</th><th></th>{columns}<th></th></tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table>{_more(len(ordered) - shown, 'pair')}"
    )


def symbol_box(symbol: str, newest: str | None = None) -> str:
    """A symbol in a box, marked if it is the newest, as HTML."""
    new = " new" if symbol == newest else ""
    return f'<span class="token{new}">{html.escape(symbol)}</span>'


def times(count: int) -> str:
    """How often, in words.

    >>> times(1), times(4)
    ('once', '4 times')
    """
    return "once" if count == 1 else f"{count:,} times"


def _more(number: int, what: str) -> str:
    if number <= 0:
        return ""
    return f'<p class="more">and {number:,} more {what}{"s" if number > 1 else ""}</p>'
