"""BertViz's head view without its servers; what it draws is seen in tests/browser."""

import json
import re

import pytest
import torch
from bs4 import BeautifulSoup

from bertlab.viz import head_view, head_views

TOKENS = ["[CLS]", "</script><b>", "it's", "[SEP]"]


@pytest.fixture
def attentions():
    generator = torch.Generator().manual_seed(0)
    return [torch.rand(1, 3, 4, 4, generator=generator).softmax(-1) for _ in range(2)]


def parameters(view):
    found = re.search(r"const params = (.*);\n", view.page)
    return json.loads(found[1])


def test_the_view_holds_the_attentions_and_the_tokens(attentions):
    inside = parameters(head_view(attentions, TOKENS, layer=1, heads=[0, 2]))
    (view,) = inside["attention"]
    assert view["left_text"] == view["right_text"] == TOKENS
    shown = torch.tensor(view["attn"])
    torch.testing.assert_close(shown, torch.cat(attentions), atol=1e-4, rtol=0)
    assert (inside["layer"], inside["heads"]) == (1, [0, 2])


def test_nothing_is_asked_of_a_server(attentions):
    page = BeautifulSoup(head_view(attentions, TOKENS).page, "html.parser")
    assert not page.find_all(src=True)
    assert len(page.find_all("script")) == 5  # the frame's, d3, jQuery, the shim, BertViz
    assert "// https://d3js.org v5.7.0" in page.find_all("script")[1].string


def test_a_token_cannot_end_the_script(attentions):
    page = BeautifulSoup(head_view(attentions, TOKENS).page, "html.parser")
    assert page.find("b") is None
    assert page.main.find(id="vis") is not None


def test_the_same_input_gives_the_same_page_of_a_third_of_a_megabyte(attentions):
    view = head_view(attentions, TOKENS)
    assert view == head_view([layer[0] for layer in attentions], TOKENS)
    assert len(view._repr_html_()) < 400_000


def test_two_sentences_can_be_chosen_between(attentions):
    inside = parameters(head_view(attentions, TOKENS, sentence_b_start=1))
    assert [view["name"] for view in inside["attention"]][1:3] == [
        "Sentence A -> Sentence A",
        "Sentence B -> Sentence B",
    ]
    torch.testing.assert_close(
        torch.tensor(inside["attention"][2]["attn"]),
        torch.cat(attentions)[:, :, 1:, 1:],
        atol=1e-4,
        rtol=0,
    )


def test_the_words_beside_the_view_say_what_it_shows(attentions):
    assert "Layer 1 of 2, head 0 of 3, for the tokens: [CLS]" in repr(
        head_view(attentions, TOKENS, layer=1, heads=[0])
    )
    assert "lines of one head" in repr(head_view(attentions, TOKENS, alt="The lines of one head"))


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (lambda a: [torch.cat([a[0], a[0]])], {}, r"a batch of 2; choose one"),
        (lambda a: [a[0][..., :3, :3]], {}, r"must end in \[4, 4\].*got \[3, 3, 3\]"),
        (lambda a: [a[0] * 2], {}, r"sum to 1; got sums from 2"),
        (lambda a: [a[0] - 0.5], {}, r"must be probabilities"),
        (lambda a: [a[0] * float("nan")], {}, r"must be probabilities"),
        (lambda a: [a[0].mT], {}, r"rows and columns swapped"),
        (lambda a: [], {}, r"at least one layer; got none"),
        (lambda a: a[0][0], {}, r"one tensor a layer"),
        (lambda a: [a[0].tolist()], {}, r"torch tensor .*got list"),
        (lambda a: [a[0], a[1][:, :2]], {}, r"same shape"),
        (lambda a: [a[0][0, 0]], {}, r"\[H, L, L\]; got \[4, 4\]"),
        (lambda a: a, {"layer": 2}, r"layer must be from 0 to 1; got 2"),
        (lambda a: a, {"heads": [0, 3]}, r"heads must be from 0 to 2; got 3"),
        (lambda a: a, {"heads": []}, r"at least one head"),
        (lambda a: a, {"sentence_b_start": 4}, r"sentence_b_start must be from 1 to 3, .*; got 4"),
    ],
)
def test_bad_input_is_named(attentions, change, options, message):
    with pytest.raises(ValueError, match=message):
        head_view(change(attentions), TOKENS, **options)


def test_half_precision_is_close_enough_to_1(attentions):
    head_view([layer.bfloat16() for layer in attentions], TOKENS)


def test_a_missing_package_is_named_with_what_to_run(monkeypatch, attentions):
    monkeypatch.setattr(head_views, "JQUERY", ("no_such_package", "jquery.js"))
    with pytest.raises(ModuleNotFoundError, match=r"no_such_package.*pip install 'bertlab\[course"):
        head_view(attentions, TOKENS)
    monkeypatch.setattr(head_views, "JQUERY", ("mpld3", "js/no_jquery.js"))
    with pytest.raises(ModuleNotFoundError, match=r"mpld3 with no_jquery\.js"):
        head_view(attentions, TOKENS)
