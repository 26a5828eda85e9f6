"""The training benchmark measures the same work of all contestants, and reports the results."""

import subprocess
import sys

import pytest
import torch
from torch import nn

from benchmarks import bench_pretraining, learners
from benchmarks.bench_model import step_flops
from benchmarks.bench_pretraining import (
    BOOK,
    LEARNERS,
    OURS,
    THEIRS,
    Lesson,
    Plan,
    Race,
    contestants,
    flops,
    learning_table,
    speed_table,
)
from benchmarks.learners import Setting
from benchmarks.turns import verdict
from bertlab.data.token_store import write_tokens
from bertlab.model import BertConfig, BertForPreTraining, save_pretrained
from bertlab.tokenizers import WordPiece
from tests.conftest import ROOT
from tests.fake_gpu import fake_gpu

pytestmark = pytest.mark.slow

TINY = Setting("", "tiny", 8000, 32)
DOCUMENTS = [
    [f"the {animal} sat on a mat .", f"it was a {animal} .", "the mat was red .", "and so on ."]
    for animal in ("cat", "dog", "cow", "owl", "hen", "fox")
]


@pytest.fixture(scope="module")
def setting(tmp_path_factory):
    """A corpus and the weights of a small model, as `prepare` writes them."""
    folder = tmp_path_factory.mktemp("bench")
    sentences = [sentence for document in DOCUMENTS for sentence in document]
    tokenizer = WordPiece.train(sentences, 60, progress=False)
    (folder / "corpus").mkdir()
    tokenizer.save(folder / "corpus" / "tokenizer.json")
    for side in ("training", "validation"):
        write_tokens(DOCUMENTS, tokenizer, folder / "corpus" / side)
    words = len(tokenizer.vocab)
    setting = Setting(str(folder), "small", words, sequences=2, rate=1e-2)
    config = BertConfig(words, d_model=16, n_layers=1, n_heads=2, d_ff=32, max_length=128)
    save_pretrained(BertForPreTraining(config), setting.weights)
    return setting


@pytest.mark.parametrize("learn", [learners.ours, learners.theirs])
def test_all_contestants_start_with_the_same_losses_and_learn(setting, learn):
    learner = learn(setting)
    before = learners.judge(learner, learner.model, setting, None)
    reference = learners.ours(setting)
    expected = learners.judge(reference, reference.model, setting, None)
    for loss in ("mlm_loss", "nsp_loss"):
        assert before[loss] == pytest.approx(expected[loss], abs=1e-5)
    for _ in range(30):
        learner.step(next(learner.batches))
    after = learners.judge(learner, learner.model, setting, None)
    assert after["mlm_loss"] < before["mlm_loss"] - 0.5


def test_transformers_reads_our_pairs_and_special_tokens_and_scores_every_position(setting):
    corpus = setting.corpus
    first = learners.PairDataset(corpus)[0]
    text = corpus.tokenizer.decode(first["input_ids"], skip_special_tokens=False)
    assert text.startswith("[CLS] ")
    assert text.count("[SEP]") == 2
    ends = [i for i, id in enumerate(first["input_ids"]) if id == corpus.tokenizer.vocab["[SEP]"]]
    assert first["token_type_ids"] == [0] * (ends[0] + 1) + [1] * (ends[1] - ends[0])
    special = [i for i, mark in enumerate(first["special_tokens_mask"]) if mark]
    assert special == [0, *ends]

    ours, theirs = learners.ours(setting), learners.theirs(setting)
    shape = theirs.shape(next(theirs.batches))
    assert shape.predicted == shape.sequences * shape.length
    batch = next(ours.batches)
    assert ours.shape(batch).predicted == int(batch.predict.sum()) == len(batch.words)
    assert ours.shape(batch).tokens == int(batch.attention_mask.sum())
    tokenizer = learners.tokenizer_of(corpus)
    vocab = corpus.tokenizer.vocab
    assert len(tokenizer) == len(vocab)
    assert (tokenizer.mask_token_id, tokenizer.pad_token_id) == (vocab["[MASK]"], vocab["[PAD]"])


@pytest.mark.parametrize(
    ("modules", "absent"),
    [
        ("learners", {"bertlab.training.fast", "transformers", "d2l"}),
        ("bench_sentences", {"bertlab.model", "sentence_transformers"}),
    ],
)
def test_peers_run_without_our_memory_settings(modules, absent):
    check = f"assert not {absent} & set(sys.modules)"
    program = f"import sys\nfrom benchmarks import {modules}\n{check}"
    subprocess.run([sys.executable, "-c", program], check=True, cwd=ROOT)


class Book(nn.Module):
    """A model with the book's interface: its word scores, and IsNext in column 1."""

    def __init__(self):
        super().__init__()
        self.mlm = nn.Module()
        self.mlm.mlp = nn.Linear(3, 7)

    def forward(self, ids, segments, lengths):
        assert lengths.tolist() == [4, 2]
        encoded = ids[..., None].expand(*ids.shape, 3).float()
        return encoded, None, torch.tensor([[0.0, 1.0], [0.0, 1.0]])


def test_the_books_model_gives_our_scores():
    ids = torch.arange(8).view(2, 4)
    predict = torch.zeros(2, 4, dtype=torch.bool)
    predict[0, 2] = predict[1, 1] = True
    mask = torch.tensor([[1, 1, 1, 1], [1, 1, 0, 0]]).bool()
    model = Book()
    scorer = learners.OurArguments(learners.book_scores, model)
    scores = scorer(ids, torch.zeros_like(ids), mask, predict)
    words = torch.tensor([[2.0] * 3, [5.0] * 3])
    assert torch.equal(scores.mlm_logits, model.mlm.mlp(words))
    assert scores.nsp_logits[:, 0].tolist() == [1, 1]  # ours: column 0 is IsNext


def test_the_book_gets_documents_of_sentences_of_tokens(setting):
    corpus = setting.corpus
    names = sorted(corpus.tokenizer.vocab, key=corpus.tokenizer.vocab.__getitem__)
    documents = learners.sentences_as_tokens(corpus, names)
    assert len(documents) == len(DOCUMENTS)
    assert [len(document) for document in documents] == [4] * len(DOCUMENTS)
    assert documents[0][0] == corpus.tokenizer.tokenize(DOCUMENTS[0][0])


def test_the_learning_rate_rises_and_then_falls_with_time():
    assert [learners.factor(part) for part in (0, 0.05, 0.1)] == [0, 0.5, 1]
    assert learners.factor(0.55) == pytest.approx(0.5)
    assert learners.factor(1) == 0


def answer(tokens, seconds=2.0, numbers=(1.0, 2.0)):
    """The report of a turn of three batches."""
    shapes = [[32, 128, tokens, 600]] * 3
    return {"shapes": shapes, "seconds": [seconds], "drawing": 0.02, "numbers": numbers}


def test_speed_is_tokens_without_padding_by_time():
    ours, theirs = [answer(4096)], [answer(2048, seconds=4.0)]
    config = BertConfig.tiny(vocab_size=8000)
    done = 3 * step_flops(config, 32, 128, 600)
    assert flops(TINY, ours[0]) == pytest.approx(done / 2)
    table = speed_table([Race(TINY, [OURS, THEIRS, BOOK], [ours, theirs, []], done)])
    lines = table.splitlines()[4:]
    row = "| tiny, 8,000 words | ours | 6,144 (6,144–6,144) | 667 | 0% | 1.0% | 50% |  |  |  |"
    assert lines[0] == row
    assert lines[1] == (
        "|  | transformers | 1,536 (1,536–1,536) | 1,333 | 50% | 0.5% | 25% | 4.00 "
        "| 5: not met | equal |"
    )
    assert lines[2].startswith("|  | d2l | not installed |")


def test_models_with_other_losses_stop_the_benchmark():
    answers = [[answer(4096)], [answer(4096, numbers=(1.0, 2.5))]]
    race = Race(TINY, [OURS, THEIRS], answers, 1e9)
    with pytest.raises(RuntimeError, match=r"0\.5 apart"):
        speed_table([race])


def test_a_goal_is_met_from_its_own_value_on():
    assert verdict(5, 5) == "5: met"
    assert verdict(4.99, 5) == "5: not met"
    assert verdict(0.39, 0.4, " of the limit") == "0.4 of the limit: not met"
    assert verdict(4, None) == ""


def test_a_lower_loss_than_ours_is_a_goal_not_met():
    def lesson(contestant, loss):
        shares = {"mlm_accuracy": 0.25, "nsp_accuracy": 0.5}
        found = [{"mlm_loss": own, **shares} for own in (loss - 0.1, loss + 0.1)]
        answers = [{"steps": 1, "tokens": 2, "found": own} for own in found]
        return Lesson(contestant, {0.001: 6.0}, answers)

    table = learning_table("x", [lesson(OURS, 5.0), lesson(THEIRS, 5.5), lesson(BOOK, 4.5)])
    rows = [line.split("|") for line in table.splitlines()[4:]]
    assert [row[-2].strip() for row in rows] == ["", "met", "not met"]
    assert [row[4].strip() for row in rows] == ["5.000 ± 0.141", "5.500 ± 0.141", "4.500 ± 0.141"]


def test_every_contestant_uses_its_best_learning_rate(monkeypatch):
    losses = {("ours", 1e-3): 3, ("ours", 1e-2): 2, ("theirs", 1e-3): 1, ("theirs", 1e-2): 4}
    asked = []

    def turn(entry):
        who, setting = entry.options["who"], entry.options["setting"]
        asked.append((who, setting["rate"], entry.options["seconds"], setting["seed"]))
        return {"found": {"mlm_loss": losses[who, setting["rate"]]}}

    monkeypatch.setattr(bench_pretraining, "turn", turn)
    monkeypatch.setattr(bench_pretraining, "LEARNERS", (OURS, THEIRS, BOOK))
    monkeypatch.setattr(bench_pretraining, "is_here", lambda contestant: contestant is not BOOK)
    plan = Plan(minutes=1, rates=(1e-3, 1e-2), seeds=2)
    lessons = bench_pretraining.learn(TINY, plan)
    rates = [(lesson.contestant.who, lesson.rate) for lesson in lessons]
    assert rates == [("ours", 1e-2), ("theirs", 1e-3)]
    assert asked[:2] == [("ours", 1e-3, 12, 0), ("theirs", 1e-3, 12, 0)]
    assert asked[4:6] == [("ours", 1e-2, 60, 0), ("theirs", 1e-3, 60, 0)]
    assert asked[6:] == [("ours", 1e-2, 60, 1), ("theirs", 1e-3, 60, 1)]
    assert [len(lesson.answers) for lesson in lessons] == [2, 2]


def test_a_start_belongs_to_its_contestant_and_without_time_nothing_is_learned():
    entries = [c.entry("learn", Plan(), TINY, seconds=1, batches=None) for c in LEARNERS]
    starts = [e.options["setting"]["start"] for e in entries]
    assert starts == ["plain", "plain", "neighbours", "plain", "plain", "neighbours", "plain"]
    assert not Plan(minutes=0).lessons("")
    assert len(Plan().lessons("")) == 6  # two starts, three seeds


def test_the_masks_of_transformers_differ_from_ours(setting):
    own = learners.theirs(setting, own_start=True).model.state_dict()
    given = learners.theirs(setting).model.state_dict()
    assert all(own[name].shape == given[name].shape for name in given)
    name = "bert.encoder.layer.0.attention.self.query.weight"
    assert not torch.equal(own[name], given[name])


def test_short_sequences_come_first_and_then_long_ones(setting, monkeypatch):
    clock = iter([0.0, 1.0, 4.0, 6.0])  # made, first, second, third batch
    monkeypatch.setattr(learners, "perf_counter", lambda: next(clock))
    learner = learners.ours(setting._replace(sequences=1), short_seconds=5)
    shapes = [learner.shape(next(learner.batches)) for _ in range(3)]
    assert [shape.sequences for shape in shapes] == [4, 4, 1]
    assert max(shape.length for shape in shapes[:2]) <= 32


@pytest.mark.parametrize("who", ["ours", "theirs"])
def test_the_contestants_learn_on_a_gpu_and_wait_for_it(setting, who):
    with fake_gpu() as gpu:
        numbers = learners.speed(who, setting._replace(device="cuda"), seconds=0.1, warm=1)
    assert gpu["synchronize"].call_count == 2
    here = learners.speed(who, setting, seconds=0.1, warm=1)
    assert numbers["numbers"] == pytest.approx(here["numbers"], rel=1e-3)


def test_on_a_gpu_our_best_setting_is_compared_with_default_transformers(monkeypatch):
    best, *_, theirs = contestants("cuda")
    assert best.options == {"precision": "bfloat16", "compiled": True}
    assert theirs == THEIRS
    asked = []
    monkeypatch.setattr(bench_pretraining, "is_here", lambda contestant: asked.append(contestant))
    bench_pretraining.learn(TINY, Plan(device="cuda"))
    assert asked == contestants("cuda")
