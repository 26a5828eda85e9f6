"""What `bench_sentences` measured, as tables."""

from dataclasses import dataclass
from statistics import median

import numpy as np

from benchmarks.report import rows_to_table, times_as_fast
from benchmarks.turns import Turns

GOAL = 1.2  # times as fast as sentence-transformers as it comes
CLOSE = 1e-5  # how far apart a number of two vectors may be
MANY = 10_000  # sentences, in the paper's example
PAIRS = MANY * (MANY - 1) // 2


@dataclass(frozen=True)
class Race:
    """The turns of everybody who encoded the sentences of a corpus.

    turns: first ours, then those of the peer as it comes, then with other settings; tokens: of the
    sentences, without padding.
    """

    corpus: str
    sentences: int
    tokens: int
    names: list[str]
    turns: list[Turns]

    def seconds(self, place: int) -> list[float]:
        """The times of a contestant, turn by turn."""
        return [answer["seconds"][0] for answer in self.turns[place]]

    @property
    def speed(self) -> float:
        """Sentences per second, ours."""
        return self.sentences / median(self.seconds(0))


def difference(ours: Turns, peer: Turns) -> str:
    """How far the peer's vectors are from ours.

    Raises RuntimeError if that is too far.
    """
    apart = [np.abs(mine["vectors"] - its["vectors"]) for mine, its in zip(ours, peer, strict=True)]
    largest = np.max(apart)  # if one is no number, this is none either
    if not largest <= CLOSE:
        raise RuntimeError(f"two vectors of one sentence are {largest:.2g} apart")
    return f"equal within {largest:.0e}" if largest else "equal"


def speed_table(races: list[Race]) -> str:
    """Sentences per second, and how much of what the model read was padding."""
    head = [
        "what",
        "who",
        "sentences per second",
        "padding",
        "we are times as fast",
        "goal",
        "vectors",
    ]
    rows = []
    for race in races:
        title = f"{race.corpus}, {race.sentences:,} sentences, {race.tokens:,} tokens"
        for place in range(len(race.names)):
            rows.append([title if place == 0 else "", *speed_row(race, place)])
    return rows_to_table("Encoding sentences", head, rows)


def speed_row(race: Race, place: int) -> list[str]:
    """One contestant; the second one's line has the goal."""
    own = race.turns[place]
    if not own:
        return [race.names[place], "not installed", *[""] * 4]
    seconds = race.seconds(place)
    speeds = [race.sentences / second for second in seconds]
    cells = [
        race.names[place],
        f"{race.sentences / median(seconds):,.0f} ({min(speeds):,.0f}–{max(speeds):,.0f})",
        f"{1 - race.tokens / own[0]['slots']:.1%}",
    ]
    if place == 0:
        return [*cells, "", "", ""]
    ratio = median(seconds) / median(race.seconds(0))
    goal = f"{GOAL:g}: {'met' if ratio >= GOAL else 'not met'}" if place == 1 else ""
    return [*cells, times_as_fast(ratio), goal, difference(race.turns[0], own)]


def pairs_table(pairs: float, sentences: float, comparisons: float) -> str:
    """The most similar pair of 10,000 sentences, found in two ways, beside the paper's numbers.

    All three are a second: pairs that a cross-encoder scores, sentences that become vectors, pairs
    of vectors that are compared.
    """
    scoring, encoding, comparing = PAIRS / pairs, MANY / sentences, PAIRS / comparisons
    rows = [
        [
            "cross-encoder: reads every pair",
            f"{pairs:,.0f} pairs",
            f"{PAIRS:,} pairs",
            f"{scoring / 3600:,.1f} hours, extrapolated",
            "65 hours",
        ],
        [
            "encoder: reads every sentence",
            f"{sentences:,.0f} sentences",
            f"{MANY:,} sentences",
            f"{encoding:,.1f} seconds",
            "5 seconds",
        ],
        [
            "and the cosines of all pairs",
            f"{comparisons:,.0f} pairs",
            f"{PAIRS:,} pairs",
            f"{comparing:,.2f} seconds",
            "0.01 seconds",
        ],
        ["times as fast", "", "", f"{scoring / (encoding + comparing):,.0f}", "46,707"],
    ]
    head = ["way", "per second", "to be done", "time", "the paper: BERT on one V100"]
    return rows_to_table(f"The most similar pair of {MANY:,} sentences", head, rows)
