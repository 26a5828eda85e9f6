"""Lecture 05b without its page: BLEU against sacrebleu, rotary positions against transformers."""

import ast
import math
from collections import Counter
from types import SimpleNamespace

import pytest
import sacrebleu
import torch
from hypothesis import given
from hypothesis import strategies as st

from bertlab.model.attention import row_softmax
from bertlab.model.transformer import TransformerConfig
from course.models.seq2seq.vocabulary import Pair
from tests.lectures.conftest import functions_of

PAGE = functions_of(
    "05b_translating_real_text",
    math=math,
    Counter=Counter,
    torch=torch,
    row_softmax=row_softmax,
    copying=SimpleNamespace(train=()),  # a default of one of the functions
)
TEXTS = st.lists(st.sampled_from("abc"), min_size=1, max_size=9).map(" ".join)


def reference_bleu(translations, references, cut="none"):
    how = {"tokenize": cut, "smooth_method": "none", "force": True}
    return sacrebleu.corpus_bleu(translations, [references], **how).score


@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=4))
def test_bleu_is_sacrebleus(pairs):
    texts = list(zip(*pairs, strict=True))
    assert PAGE["bleu"](*texts) == pytest.approx(reference_bleu(*texts))


def test_the_page_has_the_scores_of_sacrebleu(states):
    reference = "Afficher %1 dans la barre latérale de droite"
    long = "Afficher la barre dans la barre latérale de gauche"
    texts = (long, reference.removesuffix(" de droite"), reference.replace("droite", "gauche"))
    spaces, its_own = (
        [reference_bleu([text], [reference], cut) for text in texts] for cut in ("none", "13a")
    )
    states("gives the same {:.1f}, {:.1f} and {:.1f}".format(*spaces))
    states("it gives {:.1f}, {:.1f} and {:.1f}".format(*its_own))


def test_the_memory_returns_the_pair_with_most_common_words():
    pairs = [Pair("Open File", "1"), Pair("Close the File", "2"), Pair("close", "3")]
    found = [PAGE["nearest"](text, pairs).target for text in ("open", "File the", "CLOSE")]
    assert found == ["1", "2", "3"]


def test_what_proofs_assert_and_others_report(states):
    states("where each belongs, costs 1.40")
    states("""
        change results by up to 1.8 points ... 25.7 BLEU where the base model has 25.8 ... 28.4 in
        ... 25.8 here and our single digits
    """)


def test_sizes_that_the_page_names_far_from_their_code(its_lecture, states):
    code = "\n".join(cell.source for cell in its_lecture.code)
    for size in ("n_layers=12", "peak=0.01, steps=100)", "right_by_place(model, 16)", "<= 16\n"):
        assert size in code
    assert "steps = {200: 150, 600: 150," in code
    states("""
        at most 16 tokens on ... learn from 200 pairs, from 600, from all ... learning rate 0.01.
        ... for 12 layers; each ... letters, tested on 16. ... in
        100 steps, with a warm-up ... come back in 100.
    """)
    states(f"now with dropout {TransformerConfig(8).dropout}.")


# Rotary positions


@pytest.fixture
def rotations(its_lecture, monkeypatch):
    """As the page makes them, for heads of 16 dimensions at 32 places."""
    (cell,) = (cell for cell in its_lecture.code if cell.id == "rotary-rotate")
    (made,) = (node for node in ast.parse(cell.source).body if isinstance(node, ast.Assign))
    monkeypatch.setitem(PAGE, "rotations", eval(ast.unparse(made.value), PAGE))
    return PAGE["rotations"]


def test_queries_and_keys_are_rotated_as_in_roformer(rotations):
    roformer = pytest.importorskip("transformers.models.roformer.modeling_roformer")
    query, key = torch.randn(2, 3, 2, 20, 16, generator=torch.Generator().manual_seed(0))
    positions = roformer.RoFormerSinusoidalPositionalEmbedding(32, 16)
    positions.weight = torch.nn.Parameter(positions.create_weight(), requires_grad=False)
    angles = positions((1, 20))[None, None]  # [1, 1, L, d_head]
    theirs = roformer.RoFormerSelfAttention.apply_rotary_position_embeddings(angles, query, key)
    for ours, reference in zip(map(PAGE["rotate"], (query, key)), theirs, strict=True):
        torch.testing.assert_close(ours, reference, atol=1e-5, rtol=0)


def test_probabilities_with_rotary_positions_do_not_change_with_a_shift_of_all_places(rotations):
    query, key = torch.randn(2, 2, 9, 16, generator=torch.Generator().manual_seed(0))
    mask = torch.ones(9, 9).tril().bool()
    first = PAGE["rotary_probabilities"](query, key, mask)
    PAGE["rotations"] = rotations[7:]  # each token seven places later
    torch.testing.assert_close(PAGE["rotary_probabilities"](query, key, mask), first)
    assert (first[..., ~mask] == 0).all()
    PAGE["rotations"] = torch.eye(16).expand(32, 16, 16)  # no rotation: other probabilities
    assert (PAGE["rotary_probabilities"](query, key, mask) - first).abs().max() > 0.01
