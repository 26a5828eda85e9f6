"""BertViz's model view without its servers; what it draws is seen in tests/browser."""

import pytest
import torch

from bertlab.viz import model_view, translation_model_view
from tests.bertlab.refusals import rejected
from tests.bertlab.viz.conftest import TOKENS, even, parameters, shown


def test_the_view_holds_every_head_of_every_layer(attentions):
    view = model_view(attentions, TOKENS, sentence_b_start=2)
    inside = parameters(view)
    assert (inside["include_layers"], inside["include_heads"]) == ([0, 1], [0, 1, 2])
    torch.testing.assert_close(shown(inside, 0), torch.cat(attentions), atol=1.3e-4, rtol=0)
    assert len(inside["attention"]) == 5
    assert "2 layers (rows) with 3 heads (columns)" in repr(view)


def test_chosen_layers_and_heads_keep_their_numbers(attentions):
    inside = parameters(model_view(attentions, TOKENS, layers=[1], heads=[2, 0]))
    assert (inside["include_layers"], inside["include_heads"]) == ([1], [0, 2])
    expected = attentions[1][:, [0, 2]]
    torch.testing.assert_close(shown(inside, 0), expected, atol=1.3e-4, rtol=0)


def test_cross_attention_and_a_translation(translation):
    inside = parameters(model_view(translation.cross, ["le", "chat"], key_tokens=TOKENS))
    (view,) = inside["attention"]
    assert (view["left_text"], view["right_text"]) == (["le", "chat"], TOKENS)
    inside = parameters(translation_model_view(translation, TOKENS, ["le", "chat"], heads=[1]))
    for number, part in enumerate((translation.cross, translation.encoder, translation.decoder)):
        expected = torch.stack([layer[[1]] for layer in part])
        torch.testing.assert_close(shown(inside, number), expected, atol=1.3e-4, rtol=0)


@pytest.mark.slow
def test_a_page_stays_small_enough_or_says_what_to_choose():
    assert len(model_view(even(12, 12, 64), ["token"] * 64)._repr_html_()) < 3_000_000
    attentions, tokens = even(12, 12, 300), ["token"] * 300
    rejected(r"got 12,960,000; choose layers or heads .* 93 tokens", model_view, attentions, tokens)
    assert len(model_view(attentions, tokens, layers=[3])._repr_html_()) < 3_000_000
    assert len(model_view(attentions, tokens, heads=[3])._repr_html_()) < 3_000_000
    with pytest.raises(ValueError, match=r"160,000 lines; .* shorten the text to 316 tokens"):
        model_view(even(1, 1, 400), ["token"] * 400)
