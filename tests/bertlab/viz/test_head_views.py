"""BertViz's head view and model view without servers; what they draw: see tests/browser."""

import pytest
import torch
from bs4 import BeautifulSoup

from bertlab.interpretability.traces import TranslationTrace
from bertlab.viz import (
    bertviz_pages,
    head_maps,
    head_view,
    model_view,
    rollout_bars,
    translation_head_view,
    translation_model_view,
)
from tests.bertlab.refusals import rejected
from tests.bertlab.viz.conftest import TOKENS, assert_shown, even, parameters, size, unpacked

FRENCH = ["le", "chat"]


@pytest.mark.parametrize("view", [head_view, model_view])
def test_the_view_holds_the_attentions_and_tokens_of_all_or_of_chosen_layers(attentions, view):
    inside = parameters(view(attentions, TOKENS))
    (shown,) = inside["attention"]
    assert shown["left_text"] == shown["right_text"] == TOKENS
    assert_shown(inside, 0, torch.cat(attentions))
    inside = parameters(view(attentions, TOKENS, layers=[1], heads=[2, 0]))
    assert inside["include_layers"] == [1]
    if view is model_view:
        assert inside["include_heads"] == [0, 2]
        assert_shown(inside, 0, attentions[1][:, [0, 2]])
    else:  # the other heads can be switched on
        assert (inside["layer"], inside["heads"]) == (1, [0, 2])
        assert_shown(inside, 0, attentions[1])
        assert parameters(view(attentions, TOKENS, layer=1))["layer"] == 1


def test_probabilities_of_0_and_1_survive_packing_and_half_precision_is_accepted(attentions):
    packed = parameters(head_view([torch.eye(3)[None]], ["a", "b", "c"]))["parts"][0]["attn"]
    torch.testing.assert_close(unpacked(packed)[0, 0], torch.eye(3), atol=1e-12, rtol=0)
    head_view([layer.bfloat16() for layer in attentions], TOKENS)


@pytest.mark.parametrize("view", [head_view, model_view])
def test_keys_of_another_text_are_on_the_right(translation, view):
    inside = parameters(view(translation.cross, FRENCH, key_tokens=TOKENS))
    (shown,) = inside["attention"]
    assert (shown["left_text"], shown["right_text"]) == (FRENCH, TOKENS)
    assert_shown(inside, 0, torch.stack(translation.cross))


@pytest.mark.parametrize("view", [translation_head_view, translation_model_view])
def test_a_translation_shows_cross_encoder_and_decoder(translation, view):
    inside = parameters(view(translation, TOKENS, FRENCH))
    sides = [(v["left_text"][0], v["right_text"][0]) for v in inside["attention"]]
    assert sides == [("le", "[CLS]"), ("[CLS]", "[CLS]"), ("le", "le")]
    for number, part in enumerate((translation.cross, translation.encoder, translation.decoder)):
        assert_shown(inside, number, torch.stack(list(part)))


def test_a_translation_that_does_not_fit_is_named(translation, attentions):
    view = translation_head_view
    rejected(r"must end in \[2, 3\]", view, translation, TOKENS[:3], FRENCH)
    rejected("must come from trace_translation; got list", view, attentions, TOKENS, FRENCH)
    fewer = TranslationTrace(translation.encoder[:1], translation.decoder, translation.cross)
    rejected(r"same number of layers and heads.*\(1, 3\)", view, fewer, TOKENS, FRENCH)


@pytest.mark.slow
def test_a_page_stays_small_enough_or_says_what_to_choose(attentions):
    view = head_view(attentions, TOKENS)
    assert view == head_view([layer[0] for layer in attentions], TOKENS)
    assert size(view) < 450_000
    many, tokens = even(12, 12, 64), ["token"] * 64
    assert size(head_view(many, tokens, sentence_b_start=30)) < 3_000_000
    assert size(model_view(many, tokens)) < 3_000_000
    many, tokens = even(12, 12, 300), ["token"] * 300
    rejected(r"at most 1,250,000 .*got 12,960,000.*layers=\[0\]", head_view, many, tokens)
    lines = "12 heads .* 1,080,000 lines.*up to 2, such as heads"
    rejected(lines, head_view, many, tokens, layers=[11])
    view = head_view(many, tokens, layers=[11], heads=[0, 5])
    assert size(view) < 3_000_000
    assert parameters(view)["most_heads"] == 2
    rejected("got 12,960,000; choose layers or heads .* 93 tokens", model_view, many, tokens)
    for chosen in ({"layers": [3]}, {"heads": [3]}):
        assert size(model_view(many, tokens, **chosen)) < 3_000_000
    lines = "160,000 lines; .* shorten the text to 316 tokens"
    rejected(lines, model_view, even(1, 1, 400), ["token"] * 400)


def test_no_server_is_used_and_a_token_cannot_end_the_script(attentions):
    page = BeautifulSoup(head_view(attentions, TOKENS).page, "html.parser")
    assert not page.find_all(src=True)
    assert len(page.find_all("script")) == 6  # the frame's, d3, jQuery, ours, numbers, BertViz
    assert "// https://d3js.org v5.7.0" in page.find_all("script")[1].string
    assert page.find("b") is None
    assert page.main.find(id="vis") is not None


def test_two_sentences_can_be_chosen_between(attentions):
    inside = parameters(head_view(attentions, TOKENS, sentence_b_start=1))
    names = [view["name"] for view in inside["attention"]]
    assert names[1:3] == ["Sentence A -> Sentence A", "Sentence B -> Sentence B"]
    assert_shown(inside, 2, torch.cat(attentions)[:, :, 1:, 1:])
    assert len(parameters(model_view(attentions, TOKENS, sentence_b_start=2))["attention"]) == 5


def test_the_words_beside_the_view_say_what_it_shows(attentions):
    for chosen in ({"layer": 1}, {"layers": [1]}):  # of all layers, not of those shown
        view = head_view(attentions, TOKENS, heads=[0], **chosen)
        assert "Layer 1 of 2, head 0 of 3, for the tokens: [CLS]" in repr(view)
    assert "lines of one head" in repr(head_view(attentions, TOKENS, alt="The lines of one head"))
    assert "2 layers (rows) with 3 heads (columns)" in repr(model_view(attentions, TOKENS))


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (lambda a: [torch.cat([a[0], a[0]])], {}, r"a batch of 2; choose one"),
        (lambda a: [a[0][..., :3, :3]], {}, r"must end in \[4, 4\].*got \[3, 3, 3\]"),
        (lambda a: [a[0][:, :0]], {}, r"must end in \[4, 4\].*got \[0, 4, 4\]"),
        (lambda a: [a[0] * 2], {}, r"sum to 1; got sums from 2"),
        (lambda a: [a[0] - 0.5], {}, r"must be probabilities"),
        (lambda a: [a[0] * float("nan")], {}, r"must be probabilities"),
        (lambda a: [a[0].mT], {}, r"rows and columns swapped"),
        (lambda a: [], {}, r"at least one layer; got none"),
        (lambda a: None, {}, r"one tensor per layer.* got None; .*output_attentions=True"),
        (lambda a: (None, None), {}, r"torch tensor.* got None; .*output_attentions=True"),
        (lambda a: [a[0], None], {}, r"torch tensor.* got None; .*attn_implementation='eager'"),
        (lambda a: 1, {}, r"one tensor per layer.* got int$"),
        (lambda a: a[0][0], {}, r"one tensor per layer"),
        (lambda a: [a[0].tolist()], {}, r"torch tensor .*got list"),
        (lambda a: [a[0], a[1][:, :2]], {}, r"same shape"),
        (lambda a: [a[0][0, 0]], {}, r"\[H, L, L\]; got \[4, 4\]"),
        (lambda a: a, {"heads": [0, 3]}, r"heads must be from 0 to 2; got 3"),
        (lambda a: a, {"heads": []}, r"at least one head"),
        (lambda a: a, {"layers": []}, r"layers must hold at least one layer"),
        (lambda a: a, {"layers": [2]}, r"layers must be from 0 to 1; got 2"),
        (lambda a: a, {"layers": "01"}, r"layers must be a list, such as layers=\[0\]; got '01'"),
        (lambda a: a, {"heads": 2}, r"heads must be a list, such as heads=\[0\]; got 2"),
        (lambda a: a, {"heads": [1.0]}, r"heads must be from 0 to 2; got 1.0"),
        (lambda a: a, {"key_tokens": ["x"]}, r"must end in \[4, 1\]"),
        (lambda a: a, {"key_tokens": TOKENS, "sentence_b_start": 1}, r"two texts already"),
        (lambda a: a, {"key_tokens": "text"}, r"key_tokens must be a list of strings.*got 'text'"),
        (lambda a: a, {"sentence_b_start": 4}, r"sentence_b_start must be from 1 to 3, .*; got 4"),
        (lambda a: a, {"sentence_b_start": 0}, r"sentence_b_start must be from 1 to 3, .*; got 0"),
    ],
)
@pytest.mark.parametrize("view", [head_view, model_view])
def test_bad_input_is_named(attentions, view, change, options, message):
    rejected(f"{view.__name__}: .*{message}", view, change(attentions), TOKENS, **options)


def test_a_layer_that_cannot_be_seen_first_is_named(attentions):
    for layer in (2, 1.0, "1"):
        message = rf"layer must be from 0 to 1; got {layer!r}"
        rejected(message, head_view, attentions, TOKENS, layer=layer)
    message = r"layer must be one of layers=\[1\]; got 0"
    rejected(message, head_view, attentions, TOKENS, layers=[1], layer=0)


def test_numbers_of_numpy_and_pytorch_choose_heads_too(attentions):
    best = torch.tensor([0.2, 0.5, 0.3]).topk(2).indices
    expected = head_view(attentions, TOKENS, layer=1, heads=[1, 2])
    for heads in (best, best.numpy(), {2, 1}, range(1, 3)):
        assert head_view(attentions, TOKENS, layer=best[0], heads=heads) == expected


@pytest.mark.parametrize("tokens", ["text", [1, 2, 3, 4], ["a", "b", "c", None], None, 4])
@pytest.mark.parametrize("view", [head_view, model_view, head_maps, rollout_bars])
def test_tokens_that_are_not_a_list_of_strings_are_named(attentions, view, tokens):
    message, query = f"{view.__name__}: tokens must be a list of strings", {"query": 0}
    rejected(message, view, attentions, tokens, **(query if view is rollout_bars else {}))


def test_a_missing_package_or_another_bertviz_is_named_with_what_to_run(monkeypatch, attentions):
    def renamed(package, path):
        script = shipped_script(package, path)
        return script.replace("function renderAttention", "function drawAttention")

    shipped_script, asked = bertviz_pages.shipped_script, (head_view, attentions, TOKENS)
    missing, run = ModuleNotFoundError, r"no_such_package.*pip install 'bertlab\[viz"
    other = r"that this version .* pip install bertviz==1\.4\.1"
    for name, value, message, error in (
        ("JQUERY", ("no_such_package", "jquery.js"), run, missing),
        ("JQUERY", ("mpld3", "js/no_jquery.js"), r"mpld3 with no_jquery\.js", missing),
        ("shipped_script", renamed, other, RuntimeError),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(bertviz_pages, name, value)
            rejected(message, *asked, error=error)
