"""The reading path of `bertlab/__init__.py`: short, complete, and in a readable order."""

import ast
import re

import bertlab
from bertlab.model import BertForPreTraining
from bertlab.tokenizers import WordPiece
from bertlab.training.runs import pretrain
from tests.conftest import ROOT

PATH = re.findall(r"^\d+\. `(\w+/\w+\.py)`", bertlab.__doc__, re.MULTILINE)
SOURCES = {path: (ROOT / "bertlab" / path).read_text(encoding="utf-8") for path in PATH}
# What they depend on, and a first reading may skip.
TRUSTED = {
    "tokenizers": """checks encoding file_options learning likelihood normalize pieces ranking
        tokenizer tokenizer_json tokenizer_reading vocab_txt words""",
    "model": "activations checks config dropout masks memory pretrained",
    "pretraining": "batches",
    "training": """checkpoints config evaluation metrics optimizers processes rows schedule
        stopping""",
}


def modules_of(source):
    """The modules of the library's rooms that a file imports, such as "model/bert.py"."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module.startswith("bertlab."):
            room, *inside = node.module.split(".")[1:]
            if not room.startswith(("_", "parts")):  # of no room
                names = inside or (alias.name for alias in node.names)
                yield from (f"{room}/{name}.py" for name in names)


def test_it_is_short_and_goes_from_a_string_to_a_trained_model():
    assert len(PATH) == 12
    assert sum(len(source.splitlines()) for source in SOURCES.values()) <= 3000
    stations = {WordPiece.train, BertForPreTraining.forward, pretrain}
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
