"""The models that come with the course: complete, small, as good as their cards say."""

import json
import re
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from scipy.stats import binomtest

from bertlab.data.prepared import names
from bertlab.model import BertForPreTraining, load_pretrained
from bertlab.model.heads import fill_mask
from bertlab.model.pretrained import BERTLAB_MINI, BERTLAB_MINI_PLANTED
from bertlab.pretraining.pairs import SAME_CORPUS, SAME_DOCUMENT
from bertlab.tokenizers.wordpiece import WordPiece
from bertlab.training.runs import (
    answers,
    corpora_of_pairs,
    evaluate,
    read_metrics,
    read_rows,
    with_negatives,
)
from course.publishing.measure_weights import (
    OTHER_KINDS,
    data_of,
    held_out_data,
    held_out_documents,
    prepared,
)
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
def files(folder):
    """Its text files, read: the card, and the content of each JSON file by its name."""
    read = {
        file.stem: json.loads(file.read_text(encoding="utf-8")) for file in folder.glob("*.json")
    }
    told = {row.negatives: row for row in read_rows(folder / "next_sentences.json")}
    card = (folder / "README.md").read_text(encoding="utf-8")
    return SimpleNamespace(card=card, told=told, settings=read["training"], **read)


def line_of(card, name):
    """The row of a table of the card."""
    return next(line for line in card.splitlines() if line.startswith(f"| {name} |"))


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
    for gap, best in (
        ("the president of the united [MASK].", "states"),
        ("once upon a time there [MASK] a king.", "was"),
        ("they were not able [MASK] see it.", "to"),
    ):
        assert fill_mask(model, tokenizer, gap)[0][0][0] == best


def test_the_card_says_what_was_measured(files):
    measured, settings = files.evaluation, files.settings
    said = {
        f"{measured['mlm_loss']:.3f} nats",
        *(f"{measured[name]:.1%}" for name in ("mlm_accuracy", "mlm_top5", "nsp_accuracy")),
        f"{settings['training']['steps']:,} steps",
        f"--steps {settings['training']['steps']} ",
        f"--seed {settings['training']['seed']} ",
        f"--corpus {settings['corpus']} ",
    }
    assert not {text for text in said if text not in files.card.replace(" %", "%")}


def test_the_card_and_the_readme_say_what_next_sentences_mean(folder, files):
    said = {name: f"{100 * row.accuracy:.1f} %" for name, row in files.told.items()}
    assert said["any document"] == f"{100 * files.evaluation['nsp_accuracy']:.1f} %"
    for name, row in files.told.items():
        assert line_of(files.card, name).startswith(f"| {name} | {said[name]} | {row.n_pairs:,} |")
    asked = "any document", "any document, answered by the corpora alone", "same corpus"
    for name in (*asked, "same document") if folder == BERTLAB_MINI else ():
        assert said[name] in README


def test_the_card_tells_each_corpus(files):
    assert list(files.per_corpus) == names(files.settings["corpus"])
    for name, found in files.per_corpus.items():
        cells = [f"{found['mlm_loss']:.3f} nats", f"{100 * found['mlm_accuracy']:.1f} %"]
        assert line_of(files.card, name).split(" | ")[1:3] == cells


def test_the_training_ended_with_the_figures_of_the_card(folder, files):
    """It evaluated the whole held-out text, before the weights were stored in half precision."""
    rows = read_metrics(folder / "metrics.jsonl")
    last = [row for row in rows if row.pop("kind") == "held-out"][-1]
    assert last.pop("step") == files.settings["training"]["steps"]
    assert last == pytest.approx(files.evaluation, rel=1e-3)


@pytest.fixture(scope="module")
def held_out(folder, files, tmp_path_factory):
    for name in {*names(files.settings["corpus"]), *OTHER_KINDS}:
        fetched(name)
    return held_out_data(folder, tmp_path_factory.mktemp("held-out"))


@pytest.mark.corpora
def test_a_corpus_of_held_out_documents_gives_the_figures_of_the_card(
    folder, model, files, tmp_path
):
    """The smallest one: a change of the weights or of what is counted changes all of them."""
    books = {"books": held_out_documents(folder)["books"]}
    found = evaluate(model, prepared(folder, books, tmp_path)).as_dict()
    assert found == pytest.approx(files.per_corpus["books"], rel=1e-3)


@pytest.mark.corpora
def test_held_out_documents_are_those_of_the_card(held_out, files):
    batches = list(map(held_out.epoch(0).__getitem__, range(len(held_out.epoch(0)))))
    assert sum(len(batch.words) for batch in batches) == files.evaluation["n_words"]
    assert sum(len(batch.next_sentence) for batch in batches) == files.evaluation["n_pairs"]


def right_in(model, data, n_batches):
    """Whether the model is right about each pair of an epoch's first batches."""
    epoch = data.epoch(0)
    epoch.starts = epoch.starts[:n_batches]
    _, right = answers(model, epoch)
    asked = (epoch.starts[:, None] + np.arange(data.batch_size)).flatten()
    return right[asked[asked < len(epoch.pairs)]]


@pytest.mark.corpora
def test_what_next_sentences_mean_is_found_again(folder, model, held_out, files, tmp_path):
    """Rows that need the model are tested on a sample: all of it takes minutes."""
    told, pairs = files.told, held_out.epoch(0).pairs
    of_a, of_b = corpora_of_pairs(held_out.store, pairs)
    by_corpora = told["any document, answered by the corpora alone"]
    assert by_corpora.accuracy == pytest.approx(((of_a != of_b) == pairs.not_next).mean())
    assert by_corpora.n_pairs == told["any document"].n_pairs == len(pairs)
    same_corpus = with_negatives(held_out, SAME_CORPUS)
    of_a, of_b = corpora_of_pairs(held_out.store, same_corpus.epoch(0).pairs)
    assert (of_a == of_b).all()
    for number, name in enumerate(held_out.store.corpora):
        assert told[f"same corpus: {name}"].n_pairs == (of_a == number).sum()
    samples = {
        "any document": held_out,
        "same corpus": same_corpus,
        "same document": with_negatives(held_out, SAME_DOCUMENT),
        "any document of another kind: lee": data_of(folder, ["lee"], tmp_path),
    }
    for name, asked in samples.items():
        right = right_in(model, asked, n_batches=12)
        assert len(right) > 180
        assert binomtest(int(right.sum()), len(right), told[name].accuracy).pvalue > 0.01
