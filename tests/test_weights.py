"""`bertlab-mini`, which comes with the course: whole, small, as good as its card says."""

import json
import re

import numpy as np
import pytest
import torch
from scipy.stats import binomtest

from bertlab.data.corpora import documents, split
from bertlab.model import BertForPreTraining, load_pretrained
from bertlab.model.fill_mask import fill_mask
from bertlab.model.pretrained import BERTLAB_MINI
from bertlab.pretraining.batches import PretrainingData
from bertlab.pretraining.masking import Masking
from bertlab.pretraining.negatives import ANYWHERE, SAME_CORPUS, SAME_DOCUMENT
from bertlab.pretraining.token_store import write_tokens
from bertlab.tokenizers.wordpiece import WordPiece
from bertlab.training.evaluation import evaluate
from bertlab.training.metrics import read_metrics
from bertlab.training.next_sentences import answers, corpora_of_pairs, read_rows, with_negatives
from course.measure_weights import OTHER_KINDS, data_of, held_out_data
from tests.conftest import ROOT, fetched

pytestmark = pytest.mark.slow

CARD = (BERTLAB_MINI / "README.md").read_text(encoding="utf-8")
MEASURED = json.loads((BERTLAB_MINI / "evaluation.json").read_text())
ROWS = read_rows(BERTLAB_MINI / "next_sentences.json")
README = (ROOT / "README.md").read_text(encoding="utf-8")
SETTINGS = json.loads((BERTLAB_MINI / "training.json").read_text())
SENTENCE_PAIR = ("He opened the door and looked at the [MASK].", "There was nobody.")


@pytest.fixture(scope="module")
def model():
    return load_pretrained(BERTLAB_MINI, BertForPreTraining)


@pytest.fixture(scope="module")
def tokenizer():
    return WordPiece.from_vocab(BERTLAB_MINI / "vocab.txt")


def test_it_is_small_enough_to_travel_with_the_course():
    assert sum(path.stat().st_size for path in BERTLAB_MINI.iterdir()) < 30e6


def test_transformers_reads_the_same_model(model, tokenizer):
    transformers = pytest.importorskip("transformers", reason="the reference is not installed")
    kind = transformers.BertForPreTraining
    reference = kind.from_pretrained(BERTLAB_MINI, dtype=torch.float32).eval()
    theirs = transformers.BertTokenizerFast.from_pretrained(BERTLAB_MINI)
    encoding = tokenizer.encode(*SENTENCE_PAIR)
    assert theirs(*SENTENCE_PAIR)["input_ids"] == list(encoding.ids)
    ids, segments = torch.tensor([encoding.ids]), torch.tensor([encoding.segment_ids])
    with torch.no_grad():
        output = model(ids, segments)
        expected = reference(ids, token_type_ids=segments)
    torch.testing.assert_close(output.mlm_logits, expected.prediction_logits, atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(
        output.nsp_logits, expected.seq_relationship_logits, atol=1e-4, rtol=1e-4
    )


def test_its_guesses_depend_on_the_sentence(model, tokenizer):
    gaps = [
        "the president of the united [MASK].",
        "once upon a time there [MASK] a king.",
        "they were not able [MASK] see it.",
    ]
    best = [fill_mask(model, tokenizer, gap)[0][0][0] for gap in gaps]
    assert best == ["states", "was", "to"]


def test_the_card_says_what_was_measured():
    said = {
        f"{MEASURED['mlm_loss']:.3f} nats",
        f"{MEASURED['mlm_accuracy']:.1%}",
        f"{MEASURED['mlm_top5']:.1%}",
        f"{MEASURED['nsp_accuracy']:.1%}",
        f"{SETTINGS['training']['steps']:,} steps",
        f"--steps {SETTINGS['training']['steps']} ",
        f"--seed {SETTINGS['training']['seed']} ",
        f"--corpus {SETTINGS['corpus']} ",
    }
    missing = {text for text in said if text.replace("%", " %") not in CARD and text not in CARD}
    assert not missing


def test_the_card_and_the_readme_say_what_next_sentences_mean():
    said = {row.negatives: f"{100 * row.accuracy:.1f} %" for row in ROWS}
    assert said["any document"] == f"{100 * MEASURED['nsp_accuracy']:.1f} %"
    for row in ROWS:
        line = next(line for line in CARD.splitlines() if line.startswith(f"| {row.negatives} |"))
        assert line == f"| {row.negatives} | {said[row.negatives]} | {row.n_pairs:,} |"
    names = ("any document", "any document, answered by the corpora alone", "same corpus")
    for name in (*names, "same document"):
        assert said[name] in README


def test_the_curves_end_where_the_card_does():
    rows = read_metrics(BERTLAB_MINI / "metrics.jsonl")
    last = [row for row in rows if row["kind"] == "held-out"][-1]
    assert last["step"] == SETTINGS["training"]["steps"]
    assert last["mlm_loss"] == pytest.approx(MEASURED["mlm_loss"], abs=0.01)  # half precision


def test_no_path_of_a_machine_is_told():
    for path in BERTLAB_MINI.iterdir():
        if path.suffix in {".json", ".jsonl", ".md"}:
            assert not re.search(r"/(home|root|tmp|work|Users)/", path.read_text(encoding="utf-8"))


@pytest.mark.corpora
def test_held_out_documents_give_the_figures_of_the_card(model, tokenizer, tmp_path):
    names = SETTINGS["corpus"].replace("wiki", "wikipedia")
    for name in names.split("+"):
        fetched(name)
    _, held_out = split(documents(names), SETTINGS["validation"])
    store = write_tokens(held_out, tokenizer, tmp_path / "held-out")
    data = PretrainingData(
        store,
        tokenizer,
        max_length=SETTINGS["max_length"],
        batch_size=SETTINGS["batch_size"],
        masking=Masking.of(tokenizer),
        seed=SETTINGS["training"]["seed"],
        drop_last=False,
    )
    found = evaluate(model, data).as_dict()
    assert found == pytest.approx(MEASURED, rel=1e-3)


class Sample:
    """Stands in for an epoch: its first batches alone."""

    def __init__(self, epoch, n_batches):
        self.epoch, self.starts = epoch, epoch.starts[:n_batches]
        self.pairs = epoch.pairs

    def __getitem__(self, number):
        return self.epoch[number]


def right_in(model, data, n_batches):
    """Whether the model is right about each pair of the first batches, and those pairs."""
    epoch = data.epoch(0)
    _, right = answers(model, Sample(epoch, n_batches))
    size = data.batch_size
    asked = np.concatenate([np.arange(s, s + size) for s in epoch.starts[:n_batches]])
    asked = asked[asked < len(epoch.pairs)]
    return right[asked], epoch.pairs[asked]


@pytest.mark.corpora
def test_what_next_sentences_mean_is_found_again(model, tmp_path):
    """Of a row that needs the model a sample is asked: all of it takes a minute."""
    for name in {*SETTINGS["corpus"].replace("wiki", "wikipedia").split("+"), *OTHER_KINDS}:
        fetched(name)
    told = {row.negatives: row for row in ROWS}
    data = held_out_data(BERTLAB_MINI, tmp_path)
    pairs = data.epoch(0).pairs
    of_a, of_b = corpora_of_pairs(data.store, pairs)
    by_corpora = told["any document, answered by the corpora alone"]
    assert by_corpora.accuracy == pytest.approx(((of_a != of_b) == pairs.not_next).mean())
    assert by_corpora.n_pairs == told["any document"].n_pairs == len(pairs)
    of_a, of_b = corpora_of_pairs(data.store, with_negatives(data, SAME_CORPUS).epoch(0).pairs)
    assert (of_a == of_b).all()
    for number, name in enumerate(data.store.corpora):
        assert told[f"same corpus: {name}"].n_pairs == (of_a == number).sum()
    samples = {
        "any document": with_negatives(data, ANYWHERE),
        "same corpus": with_negatives(data, SAME_CORPUS),
        "same document": with_negatives(data, SAME_DOCUMENT),
        "any document of another kind: lee": data_of(BERTLAB_MINI, ["lee"], tmp_path),
    }
    for name, asked in samples.items():
        right, _ = right_in(model, asked, n_batches=12)
        assert len(right) > 180
        assert binomtest(int(right.sum()), len(right), told[name].accuracy).pvalue > 0.01
