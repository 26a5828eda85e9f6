"""Every formal algorithm of the source lectures is a function that cites it and states shapes."""

import re
from pkgutil import resolve_name

import pytest

# Phuong & Hutter (2022), Formal Algorithms for Transformers: the numbers of what the library has
ALGORITHMS = {
    "bertlab.model.bert.Embeddings": {1, 2},
    "bertlab.model.attention.single_query_attention": {3},
    "bertlab.model.attention.attention": {4},
    "bertlab.model.attention.self_attention": {4},
    "bertlab.model.attention.multi_head_attention": {5},
    "bertlab.model.attention.MultiHeadAttention": {5},
    "bertlab.model.layers.layer_norm": {6},
    "bertlab.model.heads.MaskedLanguageModelHead": {7, 9},
    "bertlab.model.transformer.Transformer": {8},
    "bertlab.model.bert.Bert": {9, 10},
    "bertlab.model.layers.EncoderLayer": {9},
    "course.models.seq2seq.training.train": {11},
    "course.models.seq2seq.decoding.greedy_decode": {15},
}
# Vaswani et al. (2017) and Hendrycks & Gimpel (2016): where no algorithm has a number
SECTIONS = {
    "bertlab.model.bert.sinusoidal_positions": "Vaswani et al. (2017), section 3.5",
    "bertlab.model.attention": "Vaswani et al. (2017), section 3.2.3",
    "bertlab.model.layers": "Hendrycks & Gimpel (2016)",
    "bertlab.model.transformer.Transformer": "Vaswani et al. (2017), section 3",
}


def words(name):
    """A function's docstring; a class's with that of its `forward`."""
    thing = resolve_name(name)
    texts = [thing.__doc__, getattr(getattr(thing, "forward", None), "__doc__", None)]
    return " ".join(" ".join(text.split()) for text in texts if text)


def cited(text):
    """The numbers in "Algorithm 4", "Algorithms 1 and 2", "Algorithms 3 to 5"."""
    numbers = set()
    for first, link, last in re.findall(r"Algorithms? (\d+)(?: (and|to) (\d+))?", text):
        first, last = int(first), int(last or first)
        numbers |= {first, last} | set(range(first, last) if link == "to" else ())
    return numbers


@pytest.mark.parametrize(("name", "numbers"), ALGORITHMS.items())
def test_it_cites_its_algorithms_and_states_shapes(name, numbers):
    text = words(name)
    assert "Phuong & Hutter (2022)" in text
    assert numbers <= cited(text)
    assert re.search(r"\[[^\]]*[A-Z][^\]]*\]", text), "no shape such as [B, L, D]"


@pytest.mark.parametrize(("name", "source"), SECTIONS.items())
def test_it_cites_its_section(name, source):
    assert source in words(name)
