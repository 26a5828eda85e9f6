"""Byte pair encoding, one merge a page: what the words, the counts and the vocabulary become."""

import html
from collections import Counter
from collections.abc import Mapping, Sequence

from bertlab.tokenizers.merges import count_pairs, merge_pair
from bertlab.viz.flipbooks import bar, flipbook
from bertlab.viz.frames import Frame, read_asset

PAIRS_SHOWN = 8
WORDS_SHOWN = 12

Pair = tuple[str, str]
Symbols = tuple[str, ...]


def merge_stepper(
    word_counts: Mapping[str, int],
    merges: Sequence[Pair],
    *,
    title: str = "Byte pair encoding, merge by merge",
    alt: str | None = None,
) -> Frame:
    """Step through `merges`: words in symbols, pair counts with ties, the vocabulary so far.

    word_counts: word -> how often it occurs (a word may also be a tuple of symbols, such as
    ("c", "o", "s", "t</w>")); merges: pairs in the order learned; alt: the steps in words,
    otherwise a sentence is made.

    Raises ValueError if there is no word, or if a merge joins a pair that does not occur.
    """
    words: Counter[Symbols] = Counter()
    for word, count in word_counts.items():
        if not word or count < 1:
            raise ValueError(
                f"merge_stepper: word_counts must map words to counts of at least 1; "
                f"got {word!r}: {count}"
            )
        words[tuple(word)] += count
    if not words:
        raise ValueError("merge_stepper: word_counts must hold at least one word; got none")
    merges = [(left, right) for left, right in merges]
    alphabet = sorted({symbol for word in words for symbol in word})
    pages, labels, vocabulary = [], [f"Start: {len(alphabet)} characters, no merge yet"], alphabet
    for step, pair in enumerate([*merges, None]):
        counts = count_pairs(words)
        if pair is not None and counts[pair] == 0:
            raise ValueError(
                f"merge_stepper: merges[{step}] is {pair}, which does not occur in the words "
                f"after the merges before it; take merges and words of the same training"
            )
        newest = "".join(merges[step - 1]) if step else None
        pages.append(_page(words, counts, pair, vocabulary, newest))
        if pair is None:
            break
        left, right = pair
        labels.append(
            f"Merge {step + 1} of {len(merges)}: {left} + {right} → {left + right}, "
            f"which occurred {_times(counts[pair])}"
        )
        words = _merge_all(words, pair)
        vocabulary = list(dict.fromkeys([*vocabulary, left + right]))
    return flipbook(
        pages,
        labels,
        title=title,
        alt=alt or f"{labels[0]}. " + " ".join(f"{label}." for label in labels[1:]),
        css=read_asset("merge_stepper.css"),
    )


def _merge_all(words: Counter[Symbols], pair: Pair) -> Counter[Symbols]:
    merged: Counter[Symbols] = Counter()
    for symbols, count in words.items():
        merged[merge_pair(symbols, pair)] += count
    return merged


def _page(
    words: Mapping[Symbols, int],
    counts: Counter[Pair],
    next_pair: Pair | None,
    vocabulary: Sequence[str],
    newest: str | None,
) -> str:
    symbols = "".join(_symbol(symbol, newest) for symbol in vocabulary)
    return f"""<div class="merge-step">
<div><h2>Words, in symbols</h2>{_word_table(words, newest)}</div>
<div><h2>Pairs of neighbours</h2>{_pair_table(counts, next_pair)}</div>
<div class="wide"><h2>Vocabulary: {len(vocabulary)} symbols</h2><div>{symbols}</div></div>
</div>"""


def _word_table(words: Mapping[Symbols, int], newest: str | None) -> str:
    rows = [
        f"<tr><td>{''.join(_symbol(symbol, newest) for symbol in word)}</td>"
        f'<td class="number">{count:,}</td></tr>'
        for word, count in list(words.items())[:WORDS_SHOWN]
    ]
    return (
        '<table><thead><tr><th scope="col">word</th><th scope="col" class="number">count</th></tr>'
        f"</thead><tbody>{''.join(rows)}</tbody></table>{_more(len(words) - WORDS_SHOWN, 'word')}"
    )


def _pair_table(counts: Counter[Pair], next_pair: Pair | None) -> str:
    if not counts:
        return '<p class="more">None left: every word is one symbol.</p>'
    # The pair that is joined next comes first among its equals, so that it is always in view.
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0] != next_pair))
    highest = ordered[0][1]
    ties = sum(count == highest for count in counts.values())
    rows = []
    for pair, count in ordered[:PAIRS_SHOWN]:
        marks = ["joined next"] if pair == next_pair else []
        if ties > 1 and count == highest:
            marks.append(f"tie of {ties}")
        rows.append(
            f'<tr class="{"chosen" if pair == next_pair else ""}">'
            f'<th scope="row">{_symbol(pair[0])} {_symbol(pair[1])}</th>'
            f'<td class="amount">{bar(count / highest)}</td><td class="number">{count:,}</td>'
            f'<td class="mark">{", ".join(marks)}</td></tr>'
        )
    return (
        '<table><thead><tr><th scope="col">pair</th><th></th>'
        '<th scope="col" class="number">count</th><th></th></tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table>{_more(len(counts) - PAIRS_SHOWN, 'pair')}"
    )


def _symbol(symbol: str, newest: str | None = None) -> str:
    new = " new" if symbol == newest else ""
    return f'<span class="token{new}">{html.escape(symbol)}</span>'


def _more(number: int, what: str) -> str:
    if number <= 0:
        return ""
    return f'<p class="more">and {number:,} more {what}{"s" if number > 1 else ""}</p>'


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"
