"""The folded cells that read BERT itself, with models of ours in its place: nothing is fetched."""

import ast
import html
import json
import re
from types import SimpleNamespace

import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bertlab import data
from bertlab.finetuning.sentences import SentenceEncoder
from bertlab.model import BertConfig, BertForPreTraining
from bertlab.model.pretrained import BERTLAB_MINI, save_pretrained
from bertlab.tokenizers.files import load_tokenizer
from course.experiments.labels import labelled
from tests.conftest import ROOT, read_page

LECTURES = ("06_bert", "09_finetuning", "10_attention_heads", "11_sentence_bert")
PAGES = {lecture: read_page(ROOT / "lectures" / f"{lecture}.ipynb") for lecture in LECTURES}


@pytest.fixture
def replaced(monkeypatch):
    """Put a folder in the place of BERT's."""

    def replace(folder):
        found = {"bert-base-uncased": folder}
        monkeypatch.setattr(data, "weights", found.__getitem__)

    return replace


def read_by(lecture, functions=(), **known):
    """Run the cell after the lecture's first imports and these of its functions.

    Returns what the cell displays.
    """
    shown, code, names = [], PAGES[lecture].code, {}
    first, *others = (ast.parse(cell.source).body for cell in code)
    imports = [node for node in first if isinstance(node, ast.Import | ast.ImportFrom)]
    exec(ast.unparse(imports), names)
    names |= known | {"display": shown.append}
    defined = [node for body in others for node in body if getattr(node, "name", "") in functions]
    exec(ast.unparse(defined), names)
    (cell,) = (cell for cell in code if cell.id == "real-bert-asked")
    exec(cell.source, names)
    return shown


def cells_of(table):
    """First cell of each row -> the others, of a table without markup in its cells."""
    text = html.unescape(table._repr_html_()).replace("\xa0", " ")
    rows = re.findall(r"<tr>(.*?)</tr>", text, re.DOTALL)
    rows = [re.findall(r"<td[^>]*>(.*?)</td>", row, re.DOTALL) for row in rows]
    return {row[0]: row[1:] for row in rows if row}


@pytest.mark.slow
@pytest.mark.parametrize("lecture", LECTURES)
def test_without_bert_the_cell_says_how_to_get_it(lecture, monkeypatch, capsys):
    def missing(name):
        raise data.DataError(f"{name} is not there")

    monkeypatch.setattr(data, "weights", missing)
    assert read_by(lecture) == []
    assert "BERT is not " in capsys.readouterr().out
    assert "python -m bertlab.data fetch bert-base-uncased" in PAGES[lecture].prose


def test_lecture_6_asks_for_a_capital(replaced, capsys):
    replaced(BERTLAB_MINI)
    size = SimpleNamespace(total=109_482_240)
    read_by("06_bert", count_parameters=lambda model: size)
    assert capsys.readouterr().out.count("%") == 5


@pytest.mark.slow
@pytest.mark.corpora
def test_lecture_9_finds_the_score_of_bertlab_mini_again(replaced):
    replaced(BERTLAB_MINI)
    classifier = LogisticRegression(C=0.01, max_iter=1000)
    (table,) = read_by(
        "09_finetuning",
        functions=["results"],
        SentenceEncoder=SentenceEncoder,
        regression=make_pipeline(StandardScaler(), classifier),
        measured=json.loads((BERTLAB_MINI / "finetuning.json").read_text(encoding="utf-8")),
    )
    found = cells_of(table)
    assert found["BERT, frozen"] == found["frozen"] == ["60.4"]


@pytest.mark.slow
def test_lecture_10_names_layers_and_draws_all_heads(replaced, tmp_path):
    sizes = {"vocab_size": 8_000, "d_model": 24, "n_layers": 12, "n_heads": 12, "d_ff": 24}
    tokenizer = load_tokenizer(BERTLAB_MINI)
    replaced(save_pretrained(BertForPreTraining(BertConfig(**sizes)), tmp_path, tokenizer))
    table, separator, entropy = read_by("10_attention_heads", texts=["the king came ."] * 60)
    # Random weights attend nearly evenly: two of eleven tokens are [SEP]: 18 %.
    found = cells_of(table).values()
    assert [ours for ours, _, _ in found] == ["18 %", "none", "none"]
    assert [chance for _, chance, _ in found] == ["18 %", "", ""]
    assert "share of [SEP]" in separator.alt
    assert "entropy" in entropy.alt


@pytest.mark.slow
@pytest.mark.corpora
def test_lecture_11_finds_the_correlations_of_bertlab_mini_again(replaced):
    replaced(BERTLAB_MINI)
    judged = labelled("lee-similarity")
    news = list(dict.fromkeys(text for example in judged for text in (example.text, example.pair)))
    number_of = {text: number for number, text in enumerate(news)}
    (table,) = read_by(
        "11_sentence_bert",
        functions=["by"],
        news=news,
        left=[number_of[example.text] for example in judged],
        right=[number_of[example.pair] for example in judged],
        people=[example.label for example in judged],
        encoders={},
    )
    found = cells_of(table)
    assert [found[f"BERT, {how}"][0] for how in ("mean", "cls")] == ["0.28", "0.32"]
