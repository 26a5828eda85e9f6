"""Fixtures for the worked numbers of the lectures: the page's text and Hugging Face's MiniLM."""

import ast
from typing import NamedTuple

import numpy as np
import pytest
import torch

from bertlab import data
from tests.conftest import ROOT, read_page
from tests.small_models import generator


class Read(NamedTuple):
    """A model's states and attention for a text."""

    tokens: list
    hidden: np.ndarray  # [layers + 1, L, D]
    attention: np.ndarray  # [layers, H, L, L]


@pytest.fixture(scope="module")
def its_lecture(request):
    """The lecture that a module such as test_07b_numbers.py tests."""
    number = request.path.stem.split("_")[1]
    (path,) = ROOT.glob(f"lectures/{number}_*.ipynb")
    return read_page(path)


def functions_of(lecture, **known):
    """All functions that a lecture defines, by name; they see each other and the given names."""
    for cell in read_page(ROOT / "lectures" / f"{lecture}.ipynb").code:
        for node in ast.parse(cell.source).body:
            if isinstance(node, ast.FunctionDef):
                exec(compile(ast.Module([node], []), lecture, "exec"), known)
    return known


def draw(*shape, seed=0):
    return torch.randn(shape, generator=generator(seed), dtype=torch.float64)


def by_autograd(function, inputs, handed=None):
    """The gradients of a function's output, or for a given upstream gradient."""
    inputs = [x.clone().requires_grad_() for x in inputs]
    return torch.autograd.grad(function(*inputs), inputs, handed)


def plain(text):
    """The form in which texts of a page are compared."""
    return " ".join(text.replace("{,}", ",").replace("−", "-").split())


def pieces(text):
    """A text with " ... " quotes several pieces of a page."""
    return plain(text).split(" ... ")


@pytest.fixture(scope="module")
def states(its_lecture):
    """`states("42 % ... of 7", ...)` fails if the prose of the test module's lecture lacks a piece.

    What the test has computed is formatted into the text; the other numbers are those that a proof
    of the page asserts, or that a paper reports: prose and number cannot change alone.
    """

    prose = plain(its_lecture.prose)

    def check(*texts):
        missing = [piece for text in texts for piece in pieces(text) if piece not in prose]
        assert not missing, f"the lecture does not say {missing}"

    return check


@pytest.fixture(scope="session")
def minilm():
    """The published weights in Hugging Face's own model: `minilm(text)` is what it reads."""
    tokenizers, transformers = map(pytest.importorskip, ("tokenizers", "transformers"))
    folder = data.weights("minilm")
    model = transformers.BertModel.from_pretrained(folder, attn_implementation="eager").eval()
    tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()

    def read(text):
        encoded = tokenizer.encode(text)
        with torch.no_grad():
            ids = torch.tensor([encoded.ids])
            output = model(ids, output_attentions=True, output_hidden_states=True)
        hidden, attention = torch.cat(output.hidden_states), torch.cat(output.attentions)
        return Read(encoded.tokens, hidden.numpy(), attention.numpy())

    read.model, read.tokenizer = model, tokenizer
    return read
