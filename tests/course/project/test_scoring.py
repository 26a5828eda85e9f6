"""Bits per masked byte by hand, what a model sees, and the permitted files of an entry."""

import json
import math
import time

import nbformat
import pytest
import torch

from bertlab.data.prepared import known_passages
from bertlab.interpretability.probing import word_vectors as reference_vectors
from bertlab.interpretability.traces import trace
from bertlab.model import BertConfig, BertForPreTraining
from bertlab.tokenizers import WordPiece
from course.experiments.labels import Example
from course.feedback import ex13_project as check
from course.feedback.checks import CheckFailed
from course.project import entries, scoring
from course.project import texts as project
from course.project.entries import Clock, hand_over, opened
from course.project.scoring import Cutter, Window, masked_bits, numbers, questions_of, word_vectors
from course.project.texts import ProjectTexts, project_texts
from tests.conftest import ROOT
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


def test_saved_files_give_the_same_model(model, tokenizer):
    again, words = opened(hand_over(model, tokenizer, Clock(1.0)))
    text = ["a b ab " * 9]
    assert masked_bits(again, words, text) == masked_bits(model, tokenizer, text)
    model.mlm_head.bias.data[3] = math.nan
    with pytest.raises(ValueError, match="not finite"):
        opened(hand_over(model, tokenizer, Clock(1.0)))


def config(files, **values):
    """The files with other values in their configuration."""
    return files | {"config.json": json.dumps(json.loads(files["config.json"]) | values).encode()}


def overlapping(files):
    """The files with a model of which one tensor lies on another of the same shape."""
    content = files["model.safetensors"]
    size = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + size])
    first, second, *_ = [name for name in header if name.endswith("attention.self.query.bias")]
    header[second]["data_offsets"] = header[first]["data_offsets"]
    head = json.dumps(header).encode()
    body = content[8 + size :]
    return files | {"model.safetensors": len(head).to_bytes(8, "little") + head + body}


HOSTILE_FILES = {  # what is done to the files, and the error's text
    "no files": (lambda f: tuple(f), "gives; got tuple"),
    "one more": (lambda f: f | {"more": b""}, "'more'"),
    "a text": (lambda f: f | {"vocab.txt": "text"}, "are bytes"),
    "a pickle": (lambda f: f | {"model.safetensors": b"\x80\x04."}, "cannot be read"),
    "51 MB": (lambda f: f | {"model.safetensors": bytes(51 * 2**20)}, "may have 50 MB"),
    "a list as configuration": (lambda f: f | {"config.json": b"[]"}, "config.json"),
    "300 layers": (lambda f: config(f, num_hidden_layers=300), "n_layers may be at most 12"),
    "13 layers": (lambda f: config(f, num_hidden_layers=13), "n_layers may be at most 12"),
    "768 heads": (
        lambda f: config(f, num_attention_heads=768, hidden_size=768),
        "n_heads may be at most 12; the entry has 768",
    ),
    "10**9 positions": (
        lambda f: config(f, max_position_embeddings=10**9),
        "max_length may be at most 512; the entry has 1,000,000,000",
    ),
    "10**4000 dimensions": (lambda f: config(f, hidden_size=10**4000), "d_model may be at most"),
    "a number of 5,000 digits": (
        lambda f: f | {"config.json": f["config.json"].replace(b": 16", b": 1" + b"0" * 5000)},
        "damaged",
    ),
    "a size that is not a number": (lambda f: config(f, hidden_size=math.nan), "hidden_size"),
    "an epsilon that is not a number": (lambda f: config(f, layer_norm_eps=math.nan), "eps"),
    "nested lists": (lambda f: f | {"config.json": b"[" * 10**5}, "damaged"),
    "another case": (lambda f: f | {"tokenizer_config.json": b"[" * 10**5}, "damaged"),
    "no [MASK]": (
        lambda f: f | {"vocab.txt": f["vocab.txt"].replace(b"[MASK]", b"mask")},
        r"the vocabulary has no \[MASK\]",
    ),
    "no [CLS] and no [SEP]": (
        lambda f: f | {"vocab.txt": f["vocab.txt"].replace(b"[CLS]\n[SEP]", b"c\nd")},
        r"has no \[CLS\], \[SEP\]",
    ),
    "ten million words": (lambda f: f | {"vocab.txt": b"a\n" * 10**7}, "at most 50,000"),
    "a million other line ends": (lambda f: f | {"vocab.txt": b"a\r" * 10**6}, "at most 50,000"),
    "a word twice": (
        lambda f: f | {"vocab.txt": f["vocab.txt"].replace(b"##b", b"b")},
        "a token occurs twice",
    ),
    "half a character": (
        lambda f: f | {"vocab.txt": f["vocab.txt"].replace(b"##b", b"\xed\xa0\x80")},
        "not UTF-8",
    ),
    "overlapping tensors": (overlapping, "cannot be read"),
    "a header of 2**62 bytes": (
        lambda f: f | {"model.safetensors": (2**62).to_bytes(8, "little") + b"{}"},
        "cannot be read",
    ),
    "half of the weights": (
        lambda f: f | {"model.safetensors": f["model.safetensors"][:3000]},
        "cannot be read",
    ),
    "a name of half a character": (lambda f: f | {"\ud800": b""}, "gives; got"),
    "numbers as names": (lambda f: dict.fromkeys(range(5), b""), "gives; got"),
}


@pytest.mark.parametrize("name", HOSTILE_FILES)
def test_hostile_files_are_refused_with_the_reason(name, model, tokenizer):
    change, said = HOSTILE_FILES[name]
    files = hand_over(model, tokenizer, Clock(1.0))
    opened(files)
    with pytest.raises(ValueError, match=said):
        opened(change(files))


def test_a_model_with_too_many_parameters_is_refused(model, tokenizer, monkeypatch):
    monkeypatch.setattr(entries, "MOST_PARAMETERS", 1_000)
    with pytest.raises(ValueError, match="may have 1,000 parameters; it has"):
        opened(hand_over(model, tokenizer, Clock(1.0)))


def test_who_writes_no_word_pays_for_every_byte(tmp_path):
    (tmp_path / "vocab.txt").write_text("\n".join(VOCAB[:5]) + "\n")
    tokenizer = WordPiece.from_vocab(tmp_path / "vocab.txt")
    sizes = {"vocab_size": 5, "d_model": 16, "n_heads": 2, "n_layers": 1, "d_ff": 32}
    model = BertForPreTraining(BertConfig(**sizes, max_length=16)).eval()
    bits = masked_bits(model, tokenizer, ["a b ab é 漢字 " * 30])
    assert bits.per_byte == 8
    assert bits.pieces == bits.counts == 0


def test_errors_on_the_hidden_texts_do_not_quote_them(model, tokenizer, monkeypatch):
    def fails(*_):
        raise KeyError("a hidden word")

    monkeypatch.setattr(scoring, "masked_bits", fails)
    with pytest.raises(ValueError, match=r"^the hidden texts gave KeyError$"):
        numbers(hand_over(model, tokenizer, Clock(1.0)), ProjectTexts([], [], []))


def test_a_machine_too_slow_for_the_first_dry_run_has_a_longer_one(model, tokenizer):
    def entry_after(start):
        def entry(texts, seed, seconds):
            clock = Clock(seconds)
            clock.start -= start  # seconds of processor time until the first step
            return hand_over(model, tokenizer, clock)

        return entry

    for start, budget in ((1.5, 3), (7, 9)):
        assert f"% of {budget} s used" in str(check.entry(entry_after(start)))
    with pytest.raises(CheckFailed, match=r"seconds=9\)\n *used 1\d\d% of its processor time"):
        check.entry(entry_after(15))


def test_the_notebook_states_the_limits():
    page = nbformat.read(ROOT / "solutions/ex13_project/ex13_project.ipynb", as_version=4)
    (rules,) = [cell.source for cell in page.cells if cell.id == "rules"]
    assert entries.LIMITS in rules


def test_all_bits_of_the_number_draw_the_hidden_texts(monkeypatch):
    corpus = [[f"word{n} " * 70] for n in range(200)]
    asked = [Example(f"question {n}?", "what") for n in range(2000)]
    monkeypatch.setattr(project, "documents", lambda _: corpus)
    monkeypatch.setattr(project, "labelled", lambda _: asked)
    one, *others = [project_texts(seed) for seed in (1, 1 + 2**31, 1 + 2**200, 1 + 2**255)]
    for other in others:
        assert one.given != other.given
        assert set(one.passages) != set(other.passages)
        assert one.questions != other.questions


@pytest.mark.slow
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
