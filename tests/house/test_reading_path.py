"""The reading path of `bertlab/__init__.py`: short, complete, and in a readable order."""

import ast
import json
import os
import re
import subprocess
import sys

import pytest

import bertlab
from bertlab.data import documents
from bertlab.model import BertForPreTraining
from bertlab.tokenizers import WordPiece
from bertlab.training.loop import training_loop
from tests.conftest import ROOT

PATH = re.findall(r"^\d+\. `(\w+/\w+\.py)`", bertlab.__doc__, re.MULTILINE)
SOURCES = {path: (ROOT / "bertlab" / path).read_text(encoding="utf-8") for path in PATH}
# What they depend on, and a first reading may skip.
TRUSTED = {
    "tokenizers": "checks tokenizer words",
    "model": "checks config",
    "data": "token_store",
    "pretraining": "",
    "training": "",
}


def modules_of(source):
    """The modules of the library's rooms that a file imports, such as "model/bert.py"."""
    for node in ast.parse(source).body:  # imports inside functions are for files alone
        if isinstance(node, ast.ImportFrom) and node.module.startswith("bertlab."):
            room, *inside = node.module.split(".")[1:]
            if not room.startswith(("_", "parts")):  # of no room
                names = inside or (alias.name for alias in node.names)
                yield from (f"{room}/{name}.py" for name in names)


def test_it_is_short_and_goes_from_a_string_to_a_trained_model():
    assert len(PATH) == 12
    assert sum(len(source.splitlines()) for source in SOURCES.values()) <= 2770
    stations = {WordPiece.train, BertForPreTraining.forward, training_loop}
    files = {f"{'/'.join(one.__module__.split('.')[1:])}.py" for one in stations}
    assert files <= set(PATH)


def test_a_file_imports_only_files_read_before_or_skipped():
    trusted = {f"{room}/{one}.py" for room, names in TRUSTED.items() for one in names.split()}
    seen = set()
    for number, (path, source) in enumerate(SOURCES.items()):
        new = set(modules_of(source)) - set(PATH[:number])
        assert new <= trusted, path
        seen |= new
    assert seen == trusted, "nothing is trusted that nobody imports"


# A WordPiece and a tiny BERT, made of texts in a file; prints the losses and a guess.
MAKE = """
import json, sys, tempfile
from bertlab.model.bert import Bert
from bertlab.model.config import BertConfig
from bertlab.model.heads import BertForPreTraining, fill_mask
from bertlab.pretraining.batches import PretrainingData
from bertlab.data.token_store import write_tokens
from bertlab.tokenizers.wordpiece import WordPiece
from bertlab.training.loop import TrainingConfig, training_loop
from bertlab.training.steps import adamw

documents = json.load(open(sys.argv[1]))
tokenizer = WordPiece.train([text for document in documents for text in document], 220)
store = write_tokens(documents, tokenizer, tempfile.mkdtemp())
data = PretrainingData(store, tokenizer, max_length=24, batch_size=8)
config = BertConfig.tiny(vocab_size=len(tokenizer.vocab), max_length=24, dropout=0.0)
model, plan = BertForPreTraining(config), TrainingConfig(200, learning_rate=2e-3)
optimizer = adamw(model, plan.learning_rate, plan.weight_decay)
losses = [step.result.loss for step in training_loop(model, optimizer, data.batches(), plan)]
guess = fill_mask(model, tokenizer, "the [MASK] of the house")[0][0][0]
print(json.dumps([losses, guess, tokenizer.merges]))
"""
# Before it: no other module of the library can be imported, not even a package's start page.
BLOCK = """
import sys, types

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.startswith("bertlab.") and name not in ALLOWED:
            raise ImportError(f"{name} is not on the reading path")

for room in ROOMS:
    package = sys.modules[f"bertlab.{room}"] = types.ModuleType(f"bertlab.{room}")
    package.__path__ = [f"{ROOT}/bertlab/{room}"]
sys.meta_path.insert(0, Blocked())
"""


def made(texts, before="", **variables):
    done = subprocess.run(
        [sys.executable, "-c", before + MAKE, texts],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=os.environ | {"OMP_NUM_THREADS": "1"} | variables,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
@pytest.mark.corpora
def test_the_path_alone_leads_from_a_string_to_a_trained_bert(tmp_path):
    books = [document[:6] for document in documents("books")[:40]]
    (tmp_path / "texts.json").write_text(json.dumps(books), encoding="utf-8")
    doors = {"bertlab.parts", "bertlab.model.checks", "bertlab._files"}
    skipped = [f"{room}/{one}.py" for room, names in TRUSTED.items() for one in names.split()]
    allowed = doors | {
        f"bertlab.{file.removesuffix('.py').replace('/', '.')}" for file in [*PATH, *skipped]
    }
    names = {"ALLOWED": allowed, "ROOMS": [*TRUSTED], "ROOT": str(ROOT)}
    before = "".join(f"{name} = {value!r}\n" for name, value in names.items()) + BLOCK
    texts = str(tmp_path / "texts.json")
    losses, guess, merges = made(texts, before, BERTLAB_PLAIN="1")
    fast_losses, _, fast_merges = made(texts)
    assert merges == fast_merges
    assert losses[:60] == pytest.approx(fast_losses[:60], abs=1e-4)
    assert sum(losses[-20:]) < 0.9 * sum(losses[:20])
    assert guess
