"""The pages of a decoder's steps: their content, and rejected arguments."""

import math

import torch

from course.models.seq2seq.decoding import Beam, Hypothesis
from course.models.seq2seq.vocabulary import END_ID, START_ID, Vocabulary
from course.widgets.decodings import beam_flipbook, decoding_flipbook
from tests.course.widgets.conftest import body_of, pages_of

SOURCE = ["5", " ", "<"]
SYMBOLS = ["<pad>", "<end>", "5", "<", "a", "b"]
CROSS = torch.tensor([[0.75, 0.25, 0.0], [0.0, 0.05, 0.95]])
NEXT = torch.tensor([[0.0, 0.0, 0.9, 0.04, 0.05, 0.01], [0.0, 0.998, 0.0, 0.0, 0.002, 0.0]])


def decoded(cross=CROSS, chances=NEXT, written=("5", "<end>")):
    return decoding_flipbook(SOURCE, written, cross, chances, SYMBOLS)


def test_each_page_shows_the_source_its_weights_and_the_most_likely_symbols():
    first, second = pages_of(decoded())
    symbols = [s.get_text("|") for s in first.select(".source .symbol")]
    assert symbols == ["5|75", "␣|25", "<"]
    styles = [s["style"] for s in first.select(".source .symbol")]
    assert styles[:2] == ["--share:75%", "--share:25%"]
    rows = body_of(first)
    assert [row[0] for row in rows] == ["5", "a", "<", "b", "<pad>"]
    assert [row[2] for row in rows] == ["90 %", "5 %", "4 %", "1 %", "under 1 %"]
    assert [s.get_text() for s in second.select(".symbols:not(.source) .symbol")] == ["5", "<end>"]
    assert second.select_one(".new").get_text() == "<end>"


def test_labels_name_the_attended_positions():
    labels = [page["data-label"] for page in pages_of(decoded())]
    assert labels[0] == "Step 1: writes 5 (90 %), looking at '5' (75 %), ' ' (25 %)"
    assert labels[1].endswith("looking at '<' (95 %)")
    assert labels[0] in decoded().alt


def test_a_beam_shows_its_texts_and_finished_ones_keep_their_place():
    vocabulary = Vocabulary("ab")  # ids 3 and 4
    a, b = Hypothesis((START_ID, 3), math.log(0.6)), Hypothesis((START_ID, 4), math.log(0.4))
    done = Hypothesis((START_ID, 4, END_ID), math.log(0.36))
    ab = Hypothesis((START_ID, 3, 4), math.log(0.3))
    last = Hypothesis((START_ID, 3, 4, END_ID), math.log(0.2))
    beam = Beam([done, last], [[a, b], [done, ab], [last]])
    texts = [body_of(page) for page in pages_of(beam_flipbook(beam, vocabulary.decode))]
    assert [[row[0] for row in rows] for rows in texts] == [["a", "b"], ["b", "ab"], ["b", "ab"]]
    assert texts[1][0][2:] == ["36 %", "-1.02", "finished"]
    assert texts[2][1][2:] == ["20 %", "-1.61", "finished"]
