"""Bits per masked byte by hand, what a model sees, and the permitted files of an entry."""

import math
import time

import pytest
import torch

from bertlab.data.overlaps import known_passages
from bertlab.interpretability.probing import word_vectors as reference_vectors
from bertlab.interpretability.traces import trace
from bertlab.model import BertConfig, BertForPreTraining
from bertlab.tokenizers import WordPiece
from course.project import scoring
from course.project.entries import Clock, hand_over, opened
from course.project.scoring import Cutter, Window, masked_bits, questions_of, word_vectors
from course.project.texts import project_texts
from tests.small_models import strong

VOCAB = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "b", "##b"]  # ids 0 to 7


@pytest.fixture
def tokenizer(tmp_path):
    (tmp_path / "vocab.txt").write_text("\n".join(VOCAB) + "\n")
    return WordPiece.from_vocab(tmp_path / "vocab.txt")


@pytest.fixture
def model():
    sizes = {"vocab_size": 8, "d_model": 16, "n_heads": 2, "n_layers": 2, "d_ff": 32}
    return strong(BertForPreTraining(BertConfig(**sizes, max_length=16, dropout=0.0))).eval()


@pytest.fixture
def all_hidden(monkeypatch):
    monkeypatch.setattr(scoring, "SHARE", 1.0)


def test_the_bits_of_a_uniform_model_by_hand(model, tokenizer, all_hidden):
    for weight in model.parameters():
        weight.data.zero_()  # one of 8 tokens: 3 bits for each piece
    bits = masked_bits(model, tokenizer, ["A ab", "z"])  # a · a ##b · cannot be written
    assert bits == pytest.approx((3 * 3, 3 * math.log2(3), 8, 4))
    assert bits.per_byte == pytest.approx((9 + 3 * math.log2(3) + 8) / 4)
    model.mlm_head.bias.data = torch.tensor([0.0, 0, 0, 0, 0, 2, 1, 0]) * math.log(2)
    bits = masked_bits(model, tokenizer, ["a b"])  # 4 of 12 and 2 of 12; one number of pieces
    assert bits == pytest.approx((math.log2(3) + math.log2(6), 0, 0, 2), abs=1e-5)


def test_second_pieces_are_predicted_with_only_the_first_revealed(model, tokenizer):
    cutter, words = Cutter(tokenizer, model), ["ab", "b", "z", "a"]
    (window,) = cutter.windows(words)
    assert window == Window([0, 1, 2, 3], [1, 3, 4, 5], [2, 5, 7, 6, 1, 5, 3])
    first, second = questions_of(window, {0, 1, 2}, words, cutter)
    assert first == ([2, 4, 4, 4, 4, 5, 3], [1, 3], [5, 6])  # z is masked, but not a target
    assert second == ([2, 5, 4, 6, 1, 5, 3], [2], [7])


def test_all_entries_are_scored_on_the_same_bytes(model, tokenizer):
    text = ["a b ab ab b a b a ab " * 8, "abbbbbbbbbbbbbbbbbbb a"]
    short = BertForPreTraining(BertConfig(**{**vars(model.config), "max_length": 6}))
    sizes = {masked_bits(one, tokenizer, text).bytes for one in (model, short)}
    assert len(sizes) == 1
    cutter = Cutter(tokenizer, short)
    windows = list(cutter.windows(text[0].split()))
    assert [n for window in windows for n in window.words] == list(range(72))
    assert max(len(window.ids) for window in windows) == 6
    assert (cutter.n_pieces("abbb"), cutter.n_pieces("abbbb")) == (4, 0)


def test_word_vectors_are_those_that_traces_give(model, tokenizer):
    texts = [["ab", "b", "a"], ["b", "abb"]]
    reference = reference_vectors([trace(model, tokenizer, " ".join(text)) for text in texts])
    with torch.no_grad():
        torch.testing.assert_close(
            torch.cat(word_vectors(model, tokenizer, texts)), reference.layers[-1]
        )


def test_saved_files_give_the_same_model_and_others_are_rejected(model, tokenizer):
    files = hand_over(model, tokenizer, Clock(1.0))
    again, words = opened(files)
    assert masked_bits(again, words, ["a b ab " * 9]) == masked_bits(
        model, tokenizer, ["a b ab " * 9]
    )
    for wrong, said in (
        ((model, tokenizer), "gives; got tuple"),
        (files | {"more": b""}, "'more'"),
        (files | {"vocab.txt": "text"}, "are bytes"),
        (files | {"model.safetensors": b"\x80\x04."}, "cannot be read"),
        (files | {"model.safetensors": bytes(101 * 2**20)}, "may have 100 MB"),
        (files | {"config.json": b"[]"}, "config.json"),
    ):
        with pytest.raises(ValueError, match=said):
            opened(wrong)
    model.mlm_head.bias.data[3] = math.nan
    with pytest.raises(ValueError, match="not finite"):
        opened(hand_over(model, tokenizer, Clock(1.0)))


def test_the_clock_counts_work_and_not_waiting():
    clock = Clock(0.2)
    time.sleep(0.3)
    assert clock.used() < 0.5
    while clock.left() > 0:
        pass
    assert clock.used() >= 1


@pytest.mark.corpora
@pytest.mark.slow
def test_scored_passages_are_never_released_and_depend_on_the_number():
    texts = project_texts(7)
    hidden = known_passages([[passage] for passage in texts.passages])
    assert len(hidden) > 10_000
    assert not hidden & known_passages(texts.given)
    assert len(set(texts.passages) & set(project_texts(8).passages)) < len(texts.passages) / 3
