"""The wheel contains only the library and works alone, without the course, its tasks and corpora.

The clean environment has only the wheel's requirements, as links to what is installed.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from importlib import metadata
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement

from tests.conftest import ROOT

pytestmark = pytest.mark.slow

WHAT_IT_IS_FOR = """
import importlib.util
from bertlab.model import load_pretrained, load_tokenizer
from bertlab.model.heads import fill_mask
from bertlab.model.heads import BertForPreTraining
from bertlab.model.pretrained import BERTLAB_MINI
from bertlab.tokenizers import WordPiece

for name in ("course", "nbgrader", "sklearn", "scipy", "syntok"):
    assert importlib.util.find_spec(name) is None, f"{name} must not be here"

assert "cost" in WordPiece.train(["cost best menu men camel", "cost best"] * 9, 60).vocab

model, tokenizer = load_pretrained(BERTLAB_MINI, BertForPreTraining), load_tokenizer(BERTLAB_MINI)
((word, probability), *_), = fill_mask(model, tokenizer, "The king [MASK] his daughter.")
print(word, round(probability, 2))

from bertlab import viz
from bertlab.interpretability.traces import trace

seen = trace(model, tokenizer, "The king loved his daughter.")
print(viz.head_view(seen.attentions, seen.tokens).page[:15])
"""


def closure(requirement):
    """The names of the distributions that a requirement like "torch" installs, itself included."""
    todo, seen = [requirement], set()
    while todo:
        line = todo.pop()
        if line in seen:
            continue
        seen.add(line)
        one = Requirement(line)
        for line in metadata.requires(one.name) or []:
            marker, extras = Requirement(line).marker, ("", *one.extras)
            if marker is None or any(marker.evaluate({"extra": extra}) for extra in extras):
                todo.append(line)
    return {Requirement(line).name for line in seen}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Built from a copy of the library's files, with the installed setuptools."""
    folder = tmp_path_factory.mktemp("wheel")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    shutil.copytree(ROOT / "bertlab", folder / "bertlab")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*command, "--no-index", "--wheel-dir", folder, folder], check=True)
    (found,) = folder.glob("*.whl")
    return found


def test_it_contains_only_the_library(wheel):
    names = ZipFile(wheel).namelist()
    assert {name.split("/")[0].split("-")[0] for name in names} == {"bertlab"}
    modules = list((ROOT / "bertlab").rglob("*.py"))
    assert sum(name.endswith(".py") for name in names) == len(modules)


def test_it_works_alone(wheel, tmp_path):
    venv.create(tmp_path)
    places = dict.fromkeys(("base", "platbase"), str(tmp_path))
    there, programs = (Path(sysconfig.get_path(p, "venv", places)) for p in ("purelib", "scripts"))
    ZipFile(wheel).extractall(there)
    for name in closure("bertlab[viz]"):
        if name == "bertlab":
            continue
        for file in metadata.files(name):
            first = Path(file.parts[0])
            if ".." not in file.parts and not (there / first).exists():
                os.symlink(metadata.distribution(name).locate_file(first), there / first)
    command = [programs / "python", "-I", "-c", WHAT_IT_IS_FOR]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "<!doctype html>"
