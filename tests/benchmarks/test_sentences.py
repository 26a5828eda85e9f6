"""The benchmark of sentence vectors gives all contestants the same texts and reports results."""

import sys

import numpy as np
import pytest
import torch

from benchmarks import bench_pretraining, bench_sentences
from benchmarks.bench_sentences import CLOSE, Race, pairs_table, speed_table
from benchmarks.turns import difference
from bertlab.model import Bert, BertConfig, save_pretrained
from bertlab.tokenizers import WordPiece

pytestmark = pytest.mark.slow

TEXTS = ["a cat", "the cat sat on a mat", "a dog sat", "the dog sat on the cat", "on the mat"]


@pytest.fixture(scope="module")
def tokenizer():
    return WordPiece.train(TEXTS, 40)


@pytest.fixture(scope="module")
def weights(tokenizer, tmp_path_factory):
    """A folder like MiniLM's with a small model."""
    folder = tmp_path_factory.mktemp("weights")
    config = BertConfig(len(tokenizer.vocab), 16, 1, n_heads=2, d_ff=32, max_length=256)
    save_pretrained(Bert(config), folder, tokenizer)
    tokenizer.save(folder / "tokenizer.json")
    return str(folder)


def run(job, given, **options):
    """The result of a job, and how many tokens the model read, padding included."""
    work, embeddings = getattr(bench_sentences, job)(**options)
    slots = bench_sentences.count_slots(embeddings)
    return work(given), sum(slots)


def test_all_contestants_give_the_same_vectors_and_padding_is_counted(weights, tokenizer):
    lengths = [len(tokenizer.encode(text)) for text in TEXTS]
    ours, slots = run("encode_ours", TEXTS, folder=weights)
    assert slots >= sum(lengths)
    theirs, padded = run("encode_theirs", TEXTS, folder=weights, batch_size=8)
    assert padded == len(TEXTS) * max(lengths) > sum(lengths)
    assert ours.shape == (5, 16)
    np.testing.assert_allclose(ours, theirs, atol=1e-5)
    one_by_one, least = run("encode_theirs", TEXTS, folder=weights, batch_size=1)
    assert least == sum(lengths)
    np.testing.assert_allclose(ours, one_by_one, atol=1e-5)


def test_the_cross_encoder_scores_each_pair_on_its_own(weights):
    pairs = [[a, b] for a in TEXTS for b in TEXTS]
    torch.manual_seed(0)
    scores, slots = run("score_pairs", pairs, folder=weights)
    torch.manual_seed(1)  # its head is drawn with a separate seed
    alone = [run("score_pairs", [pair], folder=weights) for pair in pairs]
    assert scores.shape == (25, 2)
    np.testing.assert_allclose(scores, np.concatenate([own for own, _ in alone]), atol=1e-5)
    assert slots >= sum(own for _, own in alone)
    assert np.abs(scores[1] - scores[5]).max() > 1e-7  # (a, b) is not (b, a)


def test_all_pairs_are_compared():
    work, _ = bench_sentences.compare_all(number=6, width=3)
    vectors = torch.randn(6, 3, generator=torch.Generator().manual_seed(0))
    cosines = torch.nn.functional.cosine_similarity(vectors[:, None], vectors, dim=-1)
    assert work([])[0] == pytest.approx(cosines.fill_diagonal_(-1).max().item(), abs=1e-6)


def answers(*seconds, slots=1_000, vectors=0.5):
    """The reports of turns of the given seconds."""
    own = {"slots": slots, "vectors": np.full((2, 3), vectors)}
    return [{"seconds": [second], **own} for second in seconds]


def test_speed_is_of_sentences_and_padding_of_what_was_read():
    turns = [
        answers(2.0, 1.0, 4.0, slots=800),
        answers(2.4, 2.4, 2.4, vectors=0.500001),
        answers(1.0, 9.0, 1.5),
        [],
    ]
    race = Race("wikipedia", 100, 800, ["ours", "theirs", "the same, other", "absent"], turns)
    table = speed_table([race]).splitlines()[4:]
    row = "| wikipedia, 100 sentences, 800 tokens | ours | 50 (25–100) | 0.0% |  |  |  |"
    assert table[0] == row
    assert table[1] == "|  | theirs | 42 (42–42) | 20.0% | 1.20 | 1.2: met | equal within 1e-06 |"
    assert table[2] == "|  | the same, other | 67 (11–100) | 20.0% | 0.75 |  | equal |"
    assert table[3] == "|  | absent | not installed |  |  |  |  |"
    slower = Race("lee", 100, 800, ["ours", "theirs"], [turns[0], answers(2.38, 2.38, 2.38)])
    assert "| 1.19 | 1.2: not met |" in speed_table([slower])


@pytest.mark.parametrize("other", [0.50002, np.nan])
def test_other_vectors_stop_the_benchmark(other):
    with pytest.raises(RuntimeError, match="apart"):
        difference(
            answers(1.0, 1.0), [*answers(1.0), *answers(1.0, vectors=other)], "vectors", CLOSE
        )


def test_the_papers_table_is_extrapolated_from_what_was_measured():
    table = pairs_table(pairs=1_000, sentences=2_000, comparisons=49_995_000).splitlines()
    hours = 49_995_000 / 1_000 / 3_600
    assert f"{hours:.1f}" == "13.9"
    assert "| 1,000 pairs | 49,995,000 pairs | 13.9 hours, extrapolated | 65 hours |" in table[4]
    assert "| 2,000 sentences | 10,000 sentences | 5.0 seconds | 5 seconds |" in table[5]
    assert "| 49,995,000 pairs | 49,995,000 pairs | 1.00 seconds | 0.01 seconds |" in table[6]
    assert table[7] == f"| times as fast |  |  | {49_995 / 6:,.0f} | {65 * 3600 / 5.01:,.0f} |"


def test_the_same_sentences_are_drawn_every_time(monkeypatch):
    documents = [[f"sentence number {n} is here", "too short"] for n in range(50)]
    monkeypatch.setattr(bench_sentences.data, "documents", lambda corpus: documents)
    drawn = bench_sentences.sentences_of("wikipedia", 20)
    assert drawn == bench_sentences.sentences_of("wikipedia", 20)
    assert len(set(drawn)) == 20
    assert "too short" not in drawn


@pytest.mark.parametrize("bench", [bench_sentences, bench_pretraining])
def test_a_trial_cannot_be_written_into_the_page(monkeypatch, capsys, bench):
    monkeypatch.setattr(sys, "argv", ["bench", "--quick", "--write"])
    with pytest.raises(SystemExit):
        bench.read_plan()
    assert "--write is for a whole run" in capsys.readouterr().err
