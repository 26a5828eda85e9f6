"""The same words, several criteria: the merges of frequency, ratio and gain, side by side."""

from collections.abc import Mapping, Sequence

from bertlab.tokenizers.wordpiece import first_pieces, glue
from bertlab.viz.frames import Frame, read_asset
from course.widgets.flipbooks import flipbook
from course.widgets.merge_choices import State, run
from course.widgets.merge_steppers import (
    Pair,
    cut_words,
    pair_table,
    times,
    word_table,
)

PAIRS_SHOWN = 6
WORDS_SHOWN = 8

RULES = {
    "frequency": "joins the pair that occurs most often",
    "ratio": "joins the highest ratio, n<sub>ab</sub> / (n<sub>a</sub> n<sub>b</sub>)",
    "gain": "joins the pair that raises the log-likelihood most",
}
VALUE_HEADS = {"frequency": "count", "ratio": "ratio", "gain": "gain"}
COUNT_HEADS = ["n<sub>ab</sub>", "n<sub>a</sub>", "n<sub>b</sub>"]


def merge_race(
    word_counts: Mapping[str, int],
    steps: int = 12,
    *,
    criteria: Sequence[str] = ("frequency", "ratio"),
) -> Frame:
    """Let each criterion choose WordPiece's merges for the same words; one step per page.

    word_counts: word -> how often it occurs; steps: pages after the first; criteria: some of
    "frequency", "ratio" and "gain", as in `WordPiece.train`, one column each.

    A column shows the words in pieces, the best pairs with their counts (n_ab: how often a and b
    can be joined) and the value that its criterion compares, and the result: the corpus's number of
    tokens and its log-likelihood, the sum of n_x ln(n_x / n) over all pieces x.

    Raises ValueError if there is no word, a count below 1, an unknown or repeated criterion, or if
    `steps` is below 1.
    """
    if steps < 1:
        raise ValueError(f"merge_race: steps must be at least 1; got {steps}")
    if not criteria or len(set(criteria)) < len(criteria) or not set(criteria) <= set(RULES):
        raise ValueError(
            f"merge_race: criteria must be a list of different names out of {', '.join(RULES)}; "
            f"got {criteria!r}"
        )
    words = cut_words("merge_race", word_counts, first_pieces)
    columns = [run(words, name, steps) for name in criteria]
    # A criterion that has stopped keeps its state while the others continue.
    pages = [
        [column[min(step, len(column) - 1)] for column in columns]
        for step in range(max(map(len, columns)))
    ]
    labels = [_label(step, states) for step, states in enumerate(pages)]
    ends = ", ".join(
        f"{state.criterion} has {state.tokens} and a log-likelihood of {_nats(state)}"
        for state in pages[-1]
    )
    return flipbook(
        [_page(step, states) for step, states in enumerate(pages)],
        labels,
        title="The same words, merged by different criteria",
        alt=f"{' '.join(f'{label}.' for label in labels)} At the end {ends}.",
        css=read_asset("merge_stepper.css", __package__),
    )


def _label(step: int, states: Sequence[State]) -> str:
    if step == 0:
        return f"Start: every word in single characters, {states[0].tokens}"
    return f"Merge {step}: " + ", ".join(_told(step, state) for state in states)


def _told(step: int, state: State) -> str:
    """The merge that led to this state, and why."""
    before = state.before
    if state.step < step or before is None or before.next_pair is None:
        return f"{state.criterion} has stopped"
    a, b = before.next_pair
    score = before.scores[before.next_pair]
    why = {
        "frequency": times(int(score.value)),
        "ratio": f"{score.n_ab:,} of {score.n_a:,} × {score.n_b:,}",
        "gain": f"{_signed(score.value)} nats",
    }[state.criterion]
    return f"{state.criterion} joins {a} + {b} ({why})"


def _page(step: int, states: Sequence[State]) -> str:
    return f'<div class="merge-step race">{"".join(_column(step, state) for state in states)}</div>'


def _column(step: int, state: State) -> str:
    before = state.before if state.step == step else None
    newest = glue(*before.next_pair) if before and before.next_pair else None
    change = f" ({_signed(state.log_likelihood - before.log_likelihood)})" if before else ""
    return f"""<div class="rival"><h2><b>{state.criterion}</b> {RULES[state.criterion]}</h2>
<p class="totals"><span>{state.tokens}</span> <span>log-likelihood {_nats(state)}{change}</span></p>
<div>{word_table(state.words, newest, WORDS_SHOWN)}</div>
<div>{_pairs(state)}</div></div>"""


def _pairs(state: State) -> str:
    def numbers(pair: Pair) -> list[str]:
        score = state.scores[pair]
        value = _value(state.criterion, score.value)
        return [value, f"{score.n_ab:,}", f"{score.n_a:,}", f"{score.n_b:,}"]

    stop = ""
    if state.next_pair is None:
        why = (
            "no merge would raise the log-likelihood" if state.scores else "every word is one piece"
        )
        stop = f'<p class="stop">It stops here: {why}.</p>'
    ordered = [(pair, score.value) for pair, score in state.scores.items()]
    heads = [VALUE_HEADS[state.criterion], *COUNT_HEADS]
    return stop + pair_table(ordered, state.next_pair, heads, numbers, PAIRS_SHOWN)


def _value(criterion: str, value: float) -> str:
    if criterion == "frequency":
        return f"{value:,}"
    return f"{value:.3g}" if criterion == "ratio" else _signed(value)


def _nats(state: State) -> str:
    return f"{_decimal(state.log_likelihood)} nats"


def _signed(nats: float) -> str:
    return _decimal(nats, "+")


def _decimal(number: float, sign: str = "-") -> str:
    digits = 2 if abs(number) < 1000 else 0
    return f"{number:{sign},.{digits}f}".replace("-", "−")
