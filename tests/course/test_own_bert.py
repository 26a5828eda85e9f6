"""A page in which a student's own BERT runs: by node against PyTorch, and what it holds."""

import json
import random
import re
import subprocess
from base64 import b64decode

import pytest
import torch
from bs4 import BeautifulSoup

from bertlab.__main__ import main as bertlab_command
from bertlab.model import BertForPreTraining
from bertlab.model.heads import fill_mask
from bertlab.model.pretrained import load_pretrained
from bertlab.training.runs import read_metrics
from course import mine, own_bert
from course.own_bert import new_model, train, write_page
from course.toyworld import TOYWORLD, stories
from course.toyworld.batches import ToyData
from tests.conftest import ROOT
from tests.course.live.test_bert_js import NODE
from tests.course.test_mine import solved_into

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The page of a model that has learned a little, with one exercise solved."""
    folder = tmp_path_factory.mktemp("page")
    model, found = new_model(32, 1), mine.parts(solved_into(folder, "04"))
    data = ToyData(probability=0.4, n_batches=60).epoch(0)
    rows = train(model, (data[n] for n in range(60)), 60, 5e-3)
    assert rows[-1]["loss"] < rows[0]["loss"] - 1
    file = write_page(folder / "my.html", model, rows, found, name="Ada <b>")
    return file.read_text(encoding="utf-8")


def test_the_page_has_the_name_the_map_and_the_source_of_what_was_written(page):
    assert page.count("The BERT of Ada &lt;b&gt;") == 2  # title and heading
    assert "Ada <b>" not in page
    drawn = BeautifulSoup(BeautifulSoup(page, "html.parser").iframe["srcdoc"], "html.parser")
    assert drawn.select_one(".box.lit").get_text().endswith("■ masked_shares ■ row_softmax")
    assert "□ gelu" in drawn.get_text()
    assert len(drawn.select(".lit")) == 2  # and merge_heads
    assert "<details><summary>row_softmax</summary><pre>def row_softmax(scores):" in page
    assert "<summary>gelu" not in page
    assert not re.search(r"(?:src|href)=\"https?:", page)


@pytest.mark.skipif(not NODE, reason="needs node: sudo apt-get install nodejs")
def test_the_model_in_the_page_guesses_as_pytorch_does(page, tmp_path):
    packed = json.loads(re.search(r"window.bertlabWeights = (\{.*?\});\n", page)[1])
    (tmp_path / "config.json").write_text(json.dumps(packed["config"]))
    (tmp_path / "vocab.txt").write_text(packed["vocab"])
    (tmp_path / "model.safetensors").write_bytes(b64decode(packed["weights"]))
    chance, texts = random.Random(0), []
    for story in stories(50, seed=9):
        words = chance.choice(story).split()
        words[chance.randrange(len(words))] = "[MASK]"
        texts.append(" ".join(words))
    script = ROOT / "course" / "live" / "bert.js"
    run = subprocess.run(
        [NODE, ROOT / "tests" / "course" / "live" / "run_bert.js", script, tmp_path],
        input=json.dumps({"what": "all", "texts": texts}),
        capture_output=True,
        text=True,
        check=True,
    )
    model = load_pretrained(tmp_path, BertForPreTraining)
    for text, answer in zip(texts, json.loads(run.stdout), strict=True):
        (wanted,) = fill_mask(model, TOYWORLD.tokenizer, text)
        best = answer["guesses"][0]["best"]
        assert [word for word, _ in best] == [word for word, _ in wanted], text
        torch.testing.assert_close(
            torch.tensor([share for _, share in best]),
            torch.tensor([share for _, share in wanted]),
            rtol=1e-3,
            atol=1e-5,
        )


def test_your_functions_pretrain_on_a_text_of_yours(tmp_path, monkeypatch, capsys):
    """The library's `pretrain` with an exercise's functions in it: the same losses."""
    text = tmp_path / "my.txt"
    text.write_text("\n\n".join("\n".join(story) for story in stories(80, seed=3)))
    options = ["--corpus", str(text), "--vocab-size", "90", "--steps", "3", "--dropout", "0"]
    options += ["--size", "tiny", "--max-length", "32", "--seed", "1"]
    monkeypatch.setattr(mine, "EXERCISES", solved_into(tmp_path, "04"))
    with pytest.raises(SystemExit, match="0"):
        own_bert.main(["pretrain", *options, "--out", str(tmp_path / "own")])
    assert capsys.readouterr().out.startswith("3 of 18 parts are yours")
    assert (tmp_path / "own" / "model" / "model.safetensors").is_file()
    assert bertlab_command(["pretrain", *options, "--out", str(tmp_path / "library")]) == 0
    assert losses(tmp_path / "own") == pytest.approx(losses(tmp_path / "library"), abs=1e-4)


def losses(run):
    """The losses of the masked words, of each step and of what was held out."""
    return [row["mlm_loss"] for row in read_metrics(run / "metrics.jsonl")]


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    rows = [{"step": 1, "kind": "train", "mlm_loss": 4.0, "nsp_loss": 1.0, "loss": 5.0}]
    rows[0] |= {"mlm_accuracy": 0.0, "nsp_accuracy": 0.5}
    with pytest.raises(OSError, match=r"my\.html"):
        write_page(tmp_path / "file" / "my.html", new_model(16, 1), rows, mine.Map(()))
