"""The models that come with the course: complete, small, as good as their cards say."""

import json
import re

import numpy as np
import pytest
import torch
from scipy.stats import binomtest

from bertlab.data.prepared import names
from bertlab.model import BertForPreTraining, load_pretrained
from bertlab.model.heads import fill_mask
from bertlab.model.pretrained import BERTLAB_MINI, BERTLAB_MINI_PLANTED
from bertlab.pretraining.pairs import ANYWHERE, SAME_CORPUS, SAME_DOCUMENT
from bertlab.tokenizers.wordpiece import WordPiece
from bertlab.training.evaluation import (
    answers,
    corpora_of_pairs,
    evaluate,
    read_rows,
    with_negatives,
)
from bertlab.training.runs import read_metrics
from course.publishing.measure_weights import OTHER_KINDS, data_of, held_out_data
from tests.conftest import ROOT, fetched

pytestmark = pytest.mark.slow

README = (ROOT / "README.md").read_text(encoding="utf-8")
SENTENCE_PAIR = ("He opened the door and looked at the [MASK].", "There was nobody.")


@pytest.fixture(scope="module", params=[BERTLAB_MINI, BERTLAB_MINI_PLANTED], ids=lambda f: f.name)
def folder(request):
    return request.param


@pytest.fixture(scope="module")
def model(folder):
    return load_pretrained(folder, BertForPreTraining)


@pytest.fixture(scope="module")
def tokenizer(folder):
    return WordPiece.from_vocab(folder / "vocab.txt")


@pytest.fixture(scope="module")
def card(folder):
    return (folder / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def settings(folder):
    return json.loads((folder / "training.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def measured(folder):
    return json.loads((folder / "evaluation.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def told(folder):
    return read_rows(folder / "next_sentences.json")


def test_it_is_small_enough_to_travel_with_the_course_and_tells_no_path(folder):
    assert sum(path.stat().st_size for path in folder.iterdir()) < 30e6
    for path in folder.iterdir():
        if path.suffix in {".json", ".jsonl", ".md"}:
            assert not re.search(r"/(home|root|tmp|work|Users)/", path.read_text(encoding="utf-8"))


def test_transformers_reads_the_same_model(folder, model, tokenizer):
    transformers = pytest.importorskip("transformers", reason="the reference is not installed")
    kind = transformers.BertForPreTraining
    reference = kind.from_pretrained(folder, dtype=torch.float32).eval()
    theirs = transformers.BertTokenizerFast.from_pretrained(folder)
    encoding = tokenizer.encode(*SENTENCE_PAIR)
    assert theirs(*SENTENCE_PAIR)["input_ids"] == list(encoding.ids)
    ids, segments = torch.tensor([encoding.ids]), torch.tensor([encoding.segment_ids])
    output = model(ids, segments)
    expected = reference(ids, token_type_ids=segments)
    close = {"atol": 1e-4, "rtol": 1e-4}
    torch.testing.assert_close(output.mlm_logits, expected.prediction_logits, **close)
    torch.testing.assert_close(output.nsp_logits, expected.seq_relationship_logits, **close)


def test_its_guesses_depend_on_the_sentence(model, tokenizer):
    gaps = [
        "the president of the united [MASK].",
        "once upon a time there [MASK] a king.",
        "they were not able [MASK] see it.",
    ]
    best = [fill_mask(model, tokenizer, gap)[0][0][0] for gap in gaps]
    assert best == ["states", "was", "to"]


def test_the_card_says_what_was_measured(card, measured, settings):
    said = {
        f"{measured['mlm_loss']:.3f} nats",
        f"{measured['mlm_accuracy']:.1%}",
        f"{measured['mlm_top5']:.1%}",
        f"{measured['nsp_accuracy']:.1%}",
        f"{settings['training']['steps']:,} steps",
        f"--steps {settings['training']['steps']} ",
        f"--seed {settings['training']['seed']} ",
        f"--corpus {settings['corpus']} ",
    }
    missing = {text for text in said if text.replace("%", " %") not in card and text not in card}
    assert not missing


def test_the_card_and_the_readme_say_what_next_sentences_mean(folder, card, measured, told):
    said = {row.negatives: f"{100 * row.accuracy:.1f} %" for row in told}
    assert said["any document"] == f"{100 * measured['nsp_accuracy']:.1f} %"
    for row in told:
        line = next(line for line in card.splitlines() if line.startswith(f"| {row.negatives} |"))
        assert line.startswith(f"| {row.negatives} | {said[row.negatives]} | {row.n_pairs:,} |")
    if folder != BERTLAB_MINI:
        return
    asked = ("any document", "any document, answered by the corpora alone", "same corpus")
    for name in (*asked, "same document"):
        assert said[name] in README


def test_the_card_tells_each_corpus(folder, card, settings):
    each = json.loads((folder / "per_corpus.json").read_text(encoding="utf-8"))
    assert list(each) == names(settings["corpus"])
    for name, found in each.items():
        line = next(line for line in card.splitlines() if line.startswith(f"| {name} |"))
        cells = [f"{found['mlm_loss']:.3f} nats", f"{100 * found['mlm_accuracy']:.1f} %"]
        assert line.split(" | ")[1:3] == cells


def test_the_curves_end_where_the_card_does(folder, measured, settings):
    rows = read_metrics(folder / "metrics.jsonl")
    last = [row for row in rows if row["kind"] == "held-out"][-1]
    assert last["step"] == settings["training"]["steps"]
    assert last["mlm_loss"] == pytest.approx(measured["mlm_loss"], abs=0.01)  # half precision


@pytest.fixture(scope="module")
def held_out(folder, settings, tmp_path_factory):
    for name in {*names(settings["corpus"]), *OTHER_KINDS}:
        fetched(name)
    return held_out_data(folder, tmp_path_factory.mktemp("held-out"))


@pytest.mark.corpora
def test_held_out_documents_give_the_figures_of_the_card(model, held_out, measured):
    assert evaluate(model, held_out).as_dict() == pytest.approx(measured, rel=1e-3)


class Sample:
    """Replaces an epoch: only its first batches."""

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
def test_what_next_sentences_mean_is_found_again(folder, model, held_out, told, tmp_path):
    """Rows that need the model are tested on a sample: all of it takes a minute."""
    told, data = {row.negatives: row for row in told}, held_out
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
        "any document of another kind: lee": data_of(folder, ["lee"], tmp_path),
    }
    for name, asked in samples.items():
        right, _ = right_in(model, asked, n_batches=12)
        assert len(right) > 180
        assert binomtest(int(right.sum()), len(right), told[name].accuracy).pvalue > 0.01
