"""Traces against the model's own outputs and against attention computed by hand."""

import math
from unittest.mock import Mock

import pytest
import torch

from bertlab.interpretability.traces import trace, trace_translation
from bertlab.model.bert import Bert
from bertlab.model.config import BertConfig
from bertlab.model.heads import BertForPreTraining
from bertlab.model.transformer import Transformer, TransformerConfig
from bertlab.tokenizers.wordpiece import WordPiece
from tests.bertlab.interpretability.conftest import hooks_of, untouched
from tests.bertlab.refusals import rejected
from tests.small_models import random_weights

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "cat", "sat", "##s", "on", "mat"]
SIZES = {"vocab_size": len(WORDS), "d_model": 12, "n_layers": 2, "n_heads": 3, "d_ff": 24}


def tokenizer_of(words):
    return WordPiece({word: id for id, word in enumerate(words)}, special_tokens=words[:5])


@pytest.fixture(scope="module")
def tokenizer():
    return tokenizer_of(WORDS)


@pytest.fixture(scope="module")
def bert():
    return random_weights(Bert(BertConfig(**SIZES, max_length=16)), scale=1)


@pytest.fixture(scope="module")
def transformer():
    return random_weights(Transformer(TransformerConfig(**SIZES, max_length=16)), scale=1)


def test_queries_and_keys_give_the_attentions(bert, tokenizer):
    traced = trace(bert, tokenizer, "the cats sat")
    assert traced.tokens == ["[CLS]", "the", "cat", "##s", "sat", "[SEP]"]
    assert len(traced.queries) == len(traced.keys) == len(traced.attentions) == 2
    for query, key, attention in zip(traced.queries, traced.keys, traced.attentions, strict=True):
        assert query.shape == key.shape == (3, 6, 4)
        by_hand = (query @ key.mT / math.sqrt(4)).softmax(dim=-1)
        torch.testing.assert_close(attention, by_hand)
        assert attention.std() > 0.05  # not the even attention that any queries would give


def test_the_hidden_states_begin_with_the_embeddings_and_end_with_the_output(bert, tokenizer):
    traced = trace(bert, tokenizer, "the cat on")
    ids = traced.ids[None]
    reference = bert.eval()(ids)
    assert len(traced.hidden_states) == 3
    torch.testing.assert_close(traced.hidden_states[-1], reference.last_hidden_state[0])
    torch.testing.assert_close(traced.hidden_states[0], bert.embeddings(ids)[0])


def test_the_second_text_begins_after_the_first_separator(bert, tokenizer):
    traced = trace(bert, tokenizer, "the cat", "the mat")
    assert traced.tokens[traced.sentence_b_start :] == ["the", "mat", "[SEP]"]
    assert trace(bert, tokenizer, "the cat").sentence_b_start is None
    one_text = bert.eval()(traced.ids[None]).last_hidden_state[0]
    assert not torch.allclose(traced.hidden_states[-1], one_text)  # the segments were told


def test_the_whole_model_gives_what_its_encoder_gives_and_a_causal_one_looks_back(tokenizer):
    model = BertForPreTraining(BertConfig(**SIZES, max_length=16))
    whole, encoder = (trace(m, tokenizer, "on the mat") for m in (model, model.bert))
    torch.testing.assert_close(whole.attentions, encoder.attentions)
    model = random_weights(Bert(BertConfig(**SIZES, max_length=16, causal=True)), scale=1)
    traced = trace(model, tokenizer, "the cat sat")
    assert all(attention.triu(1).eq(0).all() for attention in traced.attentions)


def test_the_model_is_as_before(tokenizer):
    model = BertForPreTraining(BertConfig(**SIZES, max_length=16, dropout=0.5)).train()
    model.bert.layers[0].eval()  # asleep on purpose
    with untouched(model):
        first, second = (trace(model, tokenizer, "the cat") for _ in range(2))
    torch.testing.assert_close(first.hidden_states, second.hidden_states)  # without dropout
    assert not first.hidden_states[-1].requires_grad


def test_a_failed_trace_leaves_no_hooks_behind(bert, tokenizer, monkeypatch):
    fails = Mock(side_effect=RuntimeError("out of memory"))
    monkeypatch.setattr(bert.layers[1].feed_forward, "forward", fails)
    rejected("out of memory", trace, bert, tokenizer, "the cat", error=RuntimeError)
    assert not hooks_of(bert)


def test_a_translation_is_traced_as_the_model_computes_it(transformer):
    source, target = torch.tensor([5, 9, 4, 2]), [1, 7]
    traced = trace_translation(transformer, source, target)
    reference = transformer.eval()(source[None], torch.tensor([target]), output_attentions=True)
    for ours, theirs, shape in (
        (traced.encoder, reference.encoder_attentions, (3, 4, 4)),
        (traced.decoder, reference.decoder_attentions, (3, 2, 2)),
        (traced.cross, reference.cross_attentions, (3, 2, 4)),
    ):
        assert [layer.shape for layer in ours] == [shape] * 2
        torch.testing.assert_close(ours, tuple(layer[0] for layer in theirs))


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_a_translations_queries_and_keys_give_its_attentions(transformer, kind):
    traced = trace_translation(transformer, [5, 9, 4, 2], [1, 7, 3])
    every = zip(traced.queries[kind], traced.keys[kind], getattr(traced, kind), strict=True)
    for query, key, attention in every:
        scores = query @ key.mT / math.sqrt(4)
        if kind == "decoder":
            scores = scores.masked_fill(torch.ones(3, 3).triu(1).bool(), -math.inf)
        torch.testing.assert_close(attention, scores.softmax(dim=-1))
        assert attention.std() > 0.05
    assert len(traced.queries[kind]) == 2


def test_models_tokenizers_texts_and_ids_that_do_not_fit_are_named(bert, transformer, tokenizer):
    rejected("vocab_size=11 tokens .* got 10", trace, bert, tokenizer_of(WORDS[:-1]), "the cat")
    rejected("model must be a Bert.*got Transformer", trace, transformer, tokenizer, "the cat")
    rejected("text must be 1 to 16 tokens long.*got 17", trace, bert, tokenizer, "the " * 15)
    rejected("must be a Transformer; got Bert", trace_translation, bert, [1], [2])
    for source, target, message in (
        (torch.tensor([[1], [2]]), [1], r"source_ids must be of one.*choose one: source_ids\[0\]"),
        ([1], torch.tensor(3), r"target_ids must be of one text, \[L\]; got \[\]"),
        ([1], [99], "target_ids must be from 0 to 10; got 99"),
    ):
        rejected(message, trace_translation, transformer, source, target)
