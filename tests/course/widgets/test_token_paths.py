"""Following a token: its vectors against `Bert` and Hugging Face, its map against scikit-learn."""

import re

import numpy as np
import pytest
import torch
from bs4 import BeautifulSoup

from bertlab.model import Bert, BertConfig, BertForPreTraining, save_pretrained
from bertlab.tokenizers import WordPiece
from course.widgets import follow_token, token_path
from course.widgets.token_paths import ATTENDED_SHOWN
from course.widgets.way_maps import EDGE, SIDE, principal_components, way_map
from tests.course.widgets.conftest import pages_of
from tests.small_models import random_weights

TEXT = "the cat saw the other cat"


@pytest.fixture(scope="module")
def tokenizer():
    return WordPiece.train(["the cats saw the other cat and the other dog"] * 3, vocab_size=60)


def config_for(tokenizer, **changes):
    sizes = {"d_model": 12, "n_layers": 3, "n_heads": 3, "d_ff": 20, "max_length": 16}
    return BertConfig(vocab_size=len(tokenizer.vocab), **(sizes | changes))


def model_for(tokenizer, kind=Bert, **changes):
    """A model with weights large enough to move a vector."""
    return random_weights(kind(config_for(tokenizer, **changes)).eval(), seed=1, scale=1 / 2)


@pytest.mark.parametrize("causal", [False, True])
def test_whole_layers_are_the_hidden_states_of_the_model(tokenizer, causal):
    model = model_for(tokenizer, causal=causal)
    path = follow_token(model, tokenizer, TEXT, "saw")
    encoding = tokenizer.encode(TEXT)
    ids = torch.tensor([encoding.ids])
    with torch.no_grad():
        output = model(ids, output_attentions=True, output_hidden_states=True)
    assert (path.tokens, path.token) == (encoding.tokens, "saw")
    for step, states in zip(path.steps[::2], output.hidden_states, strict=True):
        torch.testing.assert_close(step.vectors, states[0])
    for step, attention in zip(path.steps[1::2], output.attentions, strict=True):
        torch.testing.assert_close(step.attention, attention[0, :, path.place])
    assert all(step.attention is None for step in path.steps[::2])


def test_half_layers_are_those_of_hugging_face(tokenizer, tmp_path):
    from transformers import BertModel

    model = model_for(tokenizer)
    folder = save_pretrained(model, tmp_path)
    reference = BertModel.from_pretrained(folder, attn_implementation="eager").eval()
    seen = []
    for layer in reference.encoder.layer:
        layer.attention.register_forward_hook(lambda module, inputs, output: seen.append(output[0]))
    ids = torch.tensor([tokenizer.encode(TEXT).ids])
    with torch.no_grad():
        reference(ids)
    path = follow_token(model, tokenizer, TEXT, "saw")
    assert len(seen) == 3
    for step, states in zip(path.steps[1::2], seen, strict=True):
        torch.testing.assert_close(step.vectors, states[0], atol=1e-5, rtol=1e-5)
    names = ["embeddings", "layer 0, after attention", "layer 0, after feed-forward"]
    assert [step.name for step in path.steps[:3]] == names


def test_the_mode_of_the_model_is_restored_and_dropout_is_off(tokenizer):
    model = model_for(tokenizer, dropout=0.5).train()
    twice = [follow_token(model, tokenizer, TEXT, "saw").vectors for _ in range(2)]
    assert torch.equal(*twice)
    assert model.training
    with pytest.raises(ValueError, match="token must be"):
        follow_token(model, tokenizer, TEXT, "bird")
    assert model.training


def test_nearest_words_of_a_bert_are_rows_of_its_table_by_cosine(tokenizer):
    model = model_for(tokenizer)
    path = follow_token(model, tokenizer, TEXT, "saw")
    table = model.embeddings.token.weight.detach().numpy()
    for vector, words in zip(path.vectors.numpy(), path.words, strict=True):
        cosines = table @ vector / np.linalg.norm(table, axis=1) / np.linalg.norm(vector)
        best = np.argsort(-cosines)[:5]
        assert [tokenizer.vocab[word] for word, _ in words] == best.tolist()
        np.testing.assert_allclose([value for _, value in words], cosines[best], atol=1e-5)
    assert path.measure.startswith("cosine")


def test_words_of_a_pre_training_model_are_predictions_of_its_head(tokenizer):
    model = model_for(tokenizer, BertForPreTraining)
    path = follow_token(model, tokenizer, TEXT, "saw")
    with torch.no_grad():
        logits = model(torch.tensor([tokenizer.encode(TEXT).ids])).mlm_logits[0, path.place]
    top = logits.softmax(dim=-1).topk(5)
    assert [tokenizer.vocab[word] for word, _ in path.words[-1]] == top.indices.tolist()
    assert [value for _, value in path.words[-1]] == pytest.approx(top.values.tolist())
    assert "logit lens" in path.measure


def test_a_page_shows_attended_tokens_and_nearest_words(tokenizer):
    model = model_for(tokenizer)
    path = follow_token(model, tokenizer, TEXT, "saw")
    pages = pages_of(token_path(model, tokenizer, TEXT, "saw"))
    assert len(pages) == 1 + 2 * 3
    for page, step, cosine, words in zip(pages, path.steps, path.cosines, path.words, strict=True):
        assert f"cosine {cosine:.2f} with its start" in page["data-label"]
        *rest, nearest = page.find_all("table")
        shown = [row.th.get_text() for row in nearest.find_all("tr")]
        assert shown == [word for word, _ in words]
        if step.attention is None:
            assert "Nothing here" in page.get_text()
            continue
        mean = step.attention.mean(dim=0)
        order = mean.argsort(descending=True)[:ATTENDED_SHOWN].tolist()
        rows = [row.get_text(" ").split() for row in rest[-1].find_all("tr")]
        assert [int(row[2]) for row in rows] == order
        assert [row[0] for row in rows] == [path.tokens[place] for place in order]
        assert [int(row[3]) for row in rows] == [round(100 * mean[place].item()) for place in order]


def test_cosines_are_with_the_first_vector_and_the_text_has_both_ends(tokenizer):
    shown = token_path(model_for(tokenizer), tokenizer, TEXT, 3)
    assert "follow the token saw" in shown.alt
    assert "Embeddings: cosine 1.00 with its start" in shown.alt
    assert "Layer 2, after feed-forward: cosine" in shown.alt
    path = follow_token(model_for(tokenizer), tokenizer, TEXT, "saw")
    vectors = path.vectors.numpy()
    expected = vectors @ vectors[0] / np.linalg.norm(vectors, axis=1) / np.linalg.norm(vectors[0])
    np.testing.assert_allclose(path.cosines, expected, atol=1e-5)


def test_a_token_that_looks_like_markup_is_shown_as_it_is():
    tokenizer = WordPiece.train(["a < b", "<b>"], vocab_size=40)
    shown = token_path(model_for(tokenizer), tokenizer, "a < b", "<")
    assert "“&lt;”" in shown.page
    assert 'class="token">&lt; · 2</th>' in shown.page  # attended tokens
    assert 'class="token">&lt;</th>' in shown.page  # nearest words


def test_principal_components_are_those_of_numpys_eigenvectors():
    vectors = torch.randn(9, 6, generator=torch.Generator().manual_seed(2))
    places, shares = principal_components(vectors)
    values, directions = np.linalg.eigh(np.cov(vectors.numpy().T, bias=True))  # ascending
    centred = vectors.numpy() - vectors.numpy().mean(axis=0)
    for component in (0, 1):
        expected = centred @ directions[:, -1 - component]
        sign = np.sign(expected @ places[:, component].numpy())
        np.testing.assert_allclose(places[:, component], sign * expected, atol=1e-5)
    np.testing.assert_allclose(shares, values[::-1][:2] / values.sum(), atol=1e-5)


def test_constant_and_one_dimensional_paths_are_also_drawn():
    for vectors in (torch.ones(3, 4), torch.tensor([[0.0], [1.0], [3.0]])):
        places, shares = principal_components(vectors)
        assert places.shape == (3, 2)
        assert torch.isfinite(places).all()
        assert torch.isfinite(shares).all()
        assert "nan" not in way_map(places, ["start", "", "0"], 1, shares)


def test_the_map_keeps_proportions_and_marks_the_step():
    places = torch.tensor([[0.0, 0.0], [3.0, 0.0], [3.0, 4.0]])
    drawing = way_map(places, ["start", "", "0"], 1, torch.tensor([0.6, 0.4]))
    shown = BeautifulSoup(drawing, "html.parser")
    drawn = [
        [float(number) for number in corner.split(",")]
        for corner in shown.find("polyline", class_="ahead")["points"].split()
    ]
    unit = (SIDE - 2 * EDGE) / 4  # the longer side fills the room
    assert drawn[1][0] - drawn[0][0] == pytest.approx(3 * unit, abs=0.1)
    assert drawn[1][1] - drawn[2][1] == pytest.approx(4 * unit, abs=0.1)  # up is up
    track = shown.find("polyline", class_="track")["points"].split()
    assert len(track) == 2
    kinds = [group["class"][0] for group in shown.find_all("g")]
    assert kinds == ["past", "now", "ahead"]
    assert re.search(r"first principal component \(60 % of the variance\)", shown.get_text())
