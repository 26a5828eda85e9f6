"""The benchmark of tasks gives all contestants the same examples; its tables show the results."""

import json
from statistics import mean, stdev

import pytest

from benchmarks import bench_finetuning as bench
from benchmarks import turns
from course.experiments.mentions import Marked
from course.toyworld.questions import toy_questions

SMALL = bench.Plan(seeds=1, train=40, test=40, epochs=1)


@pytest.fixture(scope="module")
def kept():
    return json.loads(bench.KEPT.read_text(encoding="utf-8"))


def row(name="spam", seed=0, who="majority", score=0.5, experiment="tasks", **more):
    about = {"experiment": experiment, "task": name, "metric": "accuracy", "train": 500}
    return {**about, "name": name, "seed": seed, "who": who, "score": score, "seconds": 1.0, **more}


@pytest.mark.slow
@pytest.mark.corpora
def test_a_seed_draws_the_same_examples_for_all_and_another_seed_others():
    three, again, four = (bench.small_task("question-type", SMALL, seed) for seed in (3, 3, 4))
    assert three == again
    assert three.train != four.train
    train, tested = bench.marked_sentences(SMALL, 0)
    assert (len(train), len(tested)) == (40, 40)
    assert not {s.text for s in train} & {s.text for s in tested}


def test_a_word_gets_the_tag_that_it_had_most_often():
    train = [
        Marked("Rome burns", ((0, 4, "LINK"),)),
        Marked("Rome and Paris", ((0, 4, "LINK"), (9, 14, "LINK"))),
        Marked("Paris and Oslo", ((10, 14, "LINK"),)),
        Marked("Paris sleeps", ((6, 12, "LINK"),)),
    ]
    tested = [Marked("Rome and Paris and Bergen", ())]
    assert bench.words_and_tags(train[1])[1] == ["B-LINK", "O", "B-LINK"]
    assert bench.seen_before(train, tested) == [["B-LINK", "O", "O", "O", "O"]]


def test_answering_none_everywhere_is_right_where_there_is_none():
    questions = toy_questions(60, seed=0)
    none = sum(not question.answers for question in questions) / 60
    majority = next(bench.answer(questions, questions, SMALL, 0))
    assert (majority.who, majority.score) == ("majority", pytest.approx(none))
    data = bench.answer_data(questions[:20], bench.Plan(max_length=128))
    assert [target == (0, 0) for target in data.targets] == [not q.answers for q in questions[:20]]


def test_a_table_has_means_and_spreads_in_the_row_of_their_contestant():
    rows = [row(seed=n, score=score) for n, score in enumerate((0.8, 0.9, 1.0))]
    rows += [row("topic", seed=n, who="frozen", score=0.25) for n in range(3)]
    rows.append(row(experiment="curve", score=0.1))
    lines = bench.table("tasks", rows).splitlines()
    assert lines[2] == "| task | examples | score | majority | frozen |"
    assert lines[4] == "| spam | 500 | accuracy | 0.900 ± 0.100 |  |"
    assert lines[5] == "| topic | 500 | accuracy |  | 0.250 ± 0.000 |"
    assert len(lines) == 6


def test_new_results_replace_older_ones_of_the_same_name(tmp_path, monkeypatch):
    monkeypatch.setattr(bench, "KEPT", tmp_path / "finetuning.json")
    bench.keep([row("sentiment", score=0.1)], "sentiment")
    bench.keep([row("spam", score=0.2)], "spam")
    every = bench.keep([row("sentiment", score=0.3)], "sentiment")
    assert [(r["name"], r["score"]) for r in every] == [("spam", 0.2), ("sentiment", 0.3)]
    assert json.loads(bench.KEPT.read_text()) == every
    every = bench.keep([row("spam", who="frozen", score=0.4)], "spam")
    assert [r["score"] for r in every] == [0.2, 0.4, 0.3]  # the other contestants stay


def test_everything_was_measured_with_three_seeds(kept):
    assert {r["name"] for r in kept} == set(bench.experiments(bench.Plan()))
    cells = {}
    for r in kept:
        cells.setdefault((r["name"], r["task"], r["train"], r["who"]), []).append(r["seed"])
    assert all(seeds == [0, 1, 2] for seeds in cells.values())


def test_what_was_right_agrees_with_the_score(kept):
    told = [r for r in kept if "right" in r and r["metric"] == "accuracy"]
    assert {"counted", "random, frozen", "frozen"} <= {r["who"] for r in told}
    for r in told:
        assert r["right"].count("1") / len(r["right"]) == pytest.approx(r["score"])


def test_the_readme_shows_the_stored_results(kept):
    text = turns.README.read_text(encoding="utf-8")
    for experiment in bench.TITLES:
        assert bench.table(experiment, kept) in text
    spam = [r["score"] for r in kept if r["name"] == "spam" and r["who"] == "fine-tuned"]
    assert f"{mean(spam):.3f} ± {stdev(spam):.3f}" in text


@pytest.mark.slow
@pytest.mark.corpora
def test_stored_results_are_reproduced(kept):
    before = {(r["name"], r["seed"], r["who"]): r["score"] for r in kept}
    for result in bench.classify("question-type", bench.Plan(), 1, only=("majority", "counted")):
        expected = before["question-type", 1, result.who]
        assert result.score == pytest.approx(expected, abs=0.005)
