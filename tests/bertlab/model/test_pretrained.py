"""Published weights in and out, against `transformers`; every fault of a folder is named."""

import json
import tracemalloc
import warnings
from itertools import pairwise
from unittest.mock import Mock

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file
from torch.nn.utils.rnn import pad_sequence
from transformers import BertForPreTraining as ReferenceForPreTraining
from transformers import BertModel, BertTokenizerFast

from bertlab.interpretability.ablation import prune_heads
from bertlab.model import Bert, BertConfig, BertForPreTraining, Transformer, TransformerConfig
from bertlab.model.attention import padding_mask
from bertlab.model.pretrained import BERTLAB_MINI, load_pretrained, save_pretrained
from bertlab.tokenizers import WordPiece
from bertlab.tokenizers.files import load_tokenizer
from tests.bertlab.tokenizers.references import BERT_TOKENS
from tests.small_models import generator, reference_model

KINDS = {Bert: BertModel, BertForPreTraining: ReferenceForPreTraining}
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "cat", "##s", "sat", "Cat"]
DAMAGED = r"config.json is damaged.* not whole JSON .* fetch it again"


@pytest.fixture(params=KINDS, ids=lambda kind: kind.__name__)
def kind(request):
    return request.param


@pytest.fixture
def folder(kind, tmp_path):
    reference_model(KINDS[kind], vocab_size=len(WORDS)).save_pretrained(tmp_path)
    return tmp_path


@pytest.fixture
def prefix(kind):
    """The prefix of the names of an encoder's tensors."""
    return "" if kind is Bert else "bert."


def change_tensors(folder, change):
    tensors = load_file(folder / "model.safetensors")
    change(tensors)
    save_file(tensors, folder / "model.safetensors")


def change_config(folder, **values):
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | values))


def batch():
    ids = torch.randint(5, 10, (3, 12), generator=generator())
    mask = (torch.arange(12) < torch.tensor([[12], [5], [1]])).long()
    segment_ids = (torch.arange(12) >= 6).long().expand(3, -1)
    return ids, segment_ids, mask


def same(ours, theirs):
    torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)


def assert_same_outputs(ours, theirs, outputs=2):
    ids, segment_ids, mask = batch()
    expected, got = theirs(ids, mask, segment_ids), ours(ids, segment_ids, mask)
    for number in range(outputs):
        same(got[number], expected[number])


def assert_refused(folder, kind, message, error=ValueError):
    with pytest.raises(error, match=message):
        load_pretrained(folder, kind)


def test_what_we_save_transformers_reads_back(kind, tmp_path):
    tokenizer = WordPiece.train(["the cats sat"], vocab_size=len(WORDS) + 20)
    ours = kind(BertConfig(len(tokenizer.vocab), 24, 3, 4, 40, max_length=64), seed=4).eval()
    save_pretrained(ours, tmp_path / "new", tokenizer)
    theirs, report = KINDS[kind].from_pretrained(tmp_path / "new", output_loading_info=True)
    assert not report["missing_keys"]
    assert not report["unexpected_keys"]
    assert_same_outputs(ours, theirs.eval())
    reference = BertTokenizerFast.from_pretrained(tmp_path / "new")
    assert reference("The cats sat!")["input_ids"] == tokenizer.encode("The cats sat!").ids
    assert reference.do_lower_case is tokenizer.lowercase


def test_saving_and_loading_changes_no_bit(kind, tmp_path):
    ours = kind(BertConfig(len(WORDS), 24, 3, 4, 40, max_length=64, causal=True), seed=4)
    save_pretrained(ours, tmp_path)
    again = load_pretrained(tmp_path, kind)
    assert again.config == ours.config
    assert not again.training
    torch.testing.assert_close(again.state_dict(), ours.state_dict(), rtol=0, atol=0)


def test_loading_equals_transformers_and_half_precision_becomes_float32(kind, folder):
    reference = reference_model(KINDS[kind], vocab_size=len(WORDS))
    assert_same_outputs(load_pretrained(folder, kind), reference)
    change_tensors(folder, lambda t: t.update({name: x.half() for name, x in t.items()}))
    loaded = load_pretrained(folder, kind)
    assert {tensor.dtype for tensor in loaded.parameters()} == {torch.float32}


def test_of_tensors_that_do_not_fit_three_are_named_and_the_others_counted(kind, folder, prefix):
    key = f"{prefix}encoder.layer.2.attention.self.key.weight"

    def damage(tensors):
        del tensors[f"{prefix}pooler.dense.bias"]
        tensors["classifier.weight"] = torch.zeros(50)
        tensors[key] = torch.zeros(24, 23)

    change_tensors(folder, damage)
    misshapen = rf"shape of {key}: expected \[24, 24\], got \[24, 23\]"
    faults = f"missing: {prefix}pooler.dense.bias; unexpected: classifier.weight; {misshapen}"
    assert_refused(folder, kind, f"does not fit the model; {faults}$")
    change_config(folder, num_hidden_layers=5)  # the file has three, with 16 tensors each
    named = f"missing: {prefix}encoder.layer.3.attention.self.query.weight; missing: [^;]+"
    assert_refused(folder, kind, f"missing: {prefix}pooler.dense.bias; {named}; and 32 more$")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"vocab_size": 10**12}, r"word_embeddings.weight: expected \[1000000000000, 24\]"),
        ({"num_hidden_layers": 10**6}, "and 15,999,949 more"),
        ({"num_hidden_layers": 10**30}, "missing: .*encoder.layer.3.attention.self.query.weight"),
        ({"max_position_embeddings": 4 * 10**6}, r"expected \[4000000, 24\], got \[64, 24\]"),
        ({"intermediate_size": 10**15}, "intermediate.dense.weight"),
        ({"hidden_size": 4 * 10**9}, r"expected \[10, 4000000000\], got \[10, 24\]"),
        ({"type_vocab_size": 10**12}, "token_type_embeddings.weight"),
    ],
)
def test_sizes_are_compared_before_a_model_is_made(kind, folder, monkeypatch, values, message):
    change_config(folder, **values)
    monkeypatch.setattr(kind, "__init__", Mock(side_effect=AssertionError("a model was made")))
    tracemalloc.start()
    try:
        assert_refused(folder, kind, f"does not fit the model; .*{message}")
        assert tracemalloc.get_traced_memory()[1] < 10e6
    finally:
        tracemalloc.stop()


def old_norm(name):
    """The name of a norm's tensor in the first published files."""
    return name.replace("Norm.weight", "Norm.gamma").replace("Norm.bias", "Norm.beta")


@pytest.mark.parametrize(
    "rename",
    [
        old_norm,
        "module.{}".format,
        "_orig_mod.{}".format,
        "module._orig_mod.{}".format,
        "_orig_mod.module.{}".format,
        lambda name: name.replace("encoder.layer.1.", "encoder.layer.1._orig_mod."),
    ],
)
def test_old_names_and_those_of_pytorchs_wrappers_are_read(kind, folder, rename):
    expected = load_pretrained(folder, kind).state_dict()
    before = load_file(folder / "model.safetensors").keys()
    change_tensors(folder, lambda t: [t.update({rename(x): t.pop(x)}) for x in list(t)])
    assert before != load_file(folder / "model.safetensors").keys()
    got = load_pretrained(folder, kind)
    torch.testing.assert_close(got.state_dict(), expected, rtol=0, atol=0)
    if rename is old_norm:
        assert_same_outputs(got, KINDS[kind].from_pretrained(folder).eval())


OTHER_TASKS = {
    ReferenceForPreTraining: [],
    transformers.BertForSequenceClassification: [],
    transformers.BertForMultipleChoice: [],
    transformers.BertForNextSentencePrediction: [],
    transformers.BertForTokenClassification: ["pooler.dense"],
    transformers.BertForQuestionAnswering: ["pooler.dense"],
    transformers.BertForMaskedLM: ["pooler.dense", "cls.seq_relationship"],
}


@pytest.mark.parametrize("task", OTHER_TASKS, ids=lambda task: task.__name__)
def test_the_encoder_of_a_model_for_another_task_is_read(tmp_path, task):
    reference_model(task, vocab_size=len(WORDS)).save_pretrained(tmp_path)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        ours = load_pretrained(tmp_path)
    theirs = BertModel.from_pretrained(tmp_path).eval()
    assert_same_outputs(ours, theirs, outputs=1 if OTHER_TASKS[task] else 2)
    if OTHER_TASKS[task]:
        assert "has no pooler.dense; drawn at random instead" in str(told[0].message)
        assert torch.equal(ours.pooler.weight, Bert(ours.config).pooler.weight)
    else:
        assert told == []


def test_a_masked_language_model_guesses_words_and_is_told_what_is_drawn(tmp_path):
    reference = reference_model(transformers.BertForMaskedLM, vocab_size=len(WORDS))
    reference.save_pretrained(tmp_path)
    with pytest.warns(UserWarning, match=r"no pooler\.dense and no cls\.seq_relationship; drawn"):
        ours = load_pretrained(tmp_path, BertForPreTraining)
    assert_same_outputs(ours, reference, outputs=1)


@pytest.mark.parametrize(
    "task", [BertModel, *list(OTHER_TASKS)[1:6]], ids=lambda task: task.__name__
)
def test_a_model_that_guesses_no_words_is_rejected_with_what_can_be_read(tmp_path, task):
    reference_model(task, vocab_size=len(WORDS)).save_pretrained(tmp_path)
    message = r"missing: cls\.predictions\.bias.*load_pretrained\(folder\) re"
    assert_refused(tmp_path, BertForPreTraining, message)


def test_a_weight_that_is_there_under_two_names_is_rejected(kind, folder, prefix):
    norm = f"{prefix}embeddings.LayerNorm."
    change_tensors(folder, lambda t: t.update({f"{norm}gamma": torch.zeros(24)}))
    assert_refused(folder, kind, f"must hold each weight once; got {norm}.* and {norm}")


@pytest.mark.parametrize("dtype", [torch.int64, torch.complex64, torch.bool, torch.float8_e4m3fn])
def test_weights_that_are_not_floating_point_numbers_are_rejected(kind, folder, prefix, dtype):
    name = f"{prefix}pooler.dense.bias"
    change_tensors(folder, lambda t: t.update({name: t[name].to(dtype)}))
    assert_refused(folder, kind, f"dtype of {name}: expected one of F16, BF16, F32, F64")


def test_a_model_of_another_kind_is_neither_read_nor_written(tmp_path):
    transformer = Transformer(TransformerConfig(20, d_model=8, n_layers=1, n_heads=2, d_ff=8))
    message = "kind must be Bert or BertForPreTraining; got Transformer"
    assert_refused(BERTLAB_MINI, Transformer, message)
    with pytest.raises(ValueError, match=r"model must be Bert or .*; got Transformer"):
        save_pretrained(transformer, tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_a_pruned_model_is_not_saved_and_the_whole_one_is_pruned_after_loading(kind, tmp_path):
    heads = [(0, 1), (2, 0), (2, 3)]
    whole = kind(BertConfig(len(WORDS), 24, 3, 4, 40, max_length=64), seed=4).eval()
    pruned = prune_heads(whole, heads)
    with pytest.raises(ValueError, match=r"is \[18, 24\] and not \[24, 24\].*prune_heads after"):
        save_pretrained(pruned, tmp_path / "new")
    assert not (tmp_path / "new").exists()
    again = prune_heads(load_pretrained(save_pretrained(whole, tmp_path / "new"), kind), heads)
    ids, segment_ids, mask = batch()
    assert torch.equal(again(ids, segment_ids, mask)[0], pruned(ids, segment_ids, mask)[0])


def test_the_tokenizer_comes_back_with_its_case(tmp_path):
    cased = WordPiece.train(["The Cat sat"], 40, lowercase=False)
    config = BertConfig(len(cased.vocab), 24, 1, 4, 40)
    save_pretrained(Bert(config), tmp_path, cased)
    read = load_tokenizer(tmp_path)
    assert read.encode("The Cat").tokens == cased.encode("The Cat").tokens
    assert not read.lowercase
    (tmp_path / "tokenizer_config.json").unlink()
    assert load_tokenizer(tmp_path).lowercase


@pytest.mark.parametrize(
    "options", [{"longest_word": 7}, {"special_tokens": [*BERT_TOKENS, "cat"]}]
)
def test_what_vocab_txt_cannot_say_comes_back_too(tmp_path, options):
    vocab = {word: id for id, word in enumerate(WORDS)}
    model = Bert(BertConfig(len(WORDS), 24, 1, 4, 40))
    for more in (options, {"lowercase": False}):  # the second time, not what lay there
        tokenizer = WordPiece(vocab, **{"special_tokens": BERT_TOKENS} | more)
        save_pretrained(model, tmp_path, tokenizer)
        assert load_tokenizer(tmp_path) == tokenizer


def test_an_unembedding_that_is_not_tied_is_rejected(tmp_path):
    reference_model(ReferenceForPreTraining).save_pretrained(tmp_path)
    copy = "cls.predictions.decoder.weight"
    original = "bert.embeddings.word_embeddings.weight"
    change_tensors(tmp_path, lambda t: t.update({copy: t[original].clone()}))
    load_pretrained(tmp_path, BertForPreTraining)
    change_tensors(tmp_path, lambda t: t.update({copy: t[original] + 1}))
    assert_refused(tmp_path, BertForPreTraining, f"{copy} must equal {original}")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"model_type": "roberta"}', "model_type must be 'bert', as in BERT; got 'roberta'"),
        ('{"add_cross_attention": true}', "add_cross_attention must be False, .* got True"),
        ('{"hidden_act": "relu"}', "hidden_act must be 'gelu', as in BERT; got 'relu'"),
        ('{"model_type": "bert", "hidden_act": "gelu"}', "does not say vocab_size, hidden_size"),
        ("[]", "must hold names and values, .* got list"),
        ("null", "must hold names and values, .* got NoneType"),
        ('"bert"', "must hold names and values, .* got str"),
        ("7", "must hold names and values, .* got int"),
        ('{"model_type":', DAMAGED),
        pytest.param("[" * 100_000, DAMAGED, id="deep list"),
        pytest.param('{"a":' * 100_000, DAMAGED, id="deep names"),
        ({"hidden_size": "24"}, "hidden_size must be an integer; got '24'"),
        ({"num_hidden_layers": 3.0}, "num_hidden_layers must be an integer; got 3.0"),
        ({"num_attention_heads": None}, "num_attention_heads must be an integer; got None"),
        ({"vocab_size": [10]}, r"vocab_size must be an integer; got \[10\]"),
        ({"hidden_dropout_prob": "0.1"}, "hidden_dropout_prob must be a number; got '0.1'"),
        ({"layer_norm_eps": float("nan")}, "layer_norm_eps must be at least 0 and finite; got nan"),
        ({"is_decoder": "no"}, "is_decoder must be True or False; got 'no'"),
        ({"num_attention_heads": 5}, "is not a BERT's; .* divisible by n_heads"),
        ({"intermediate_size": 0}, "is not a BERT's; .*d_ff must be at least 1; got 0"),
    ],
)
def test_a_configuration_that_is_not_a_berts_is_rejected(kind, folder, content, message):
    if isinstance(content, dict):  # values alone: the rest stays as it was
        change_config(folder, **content)
        message = f"load_pretrained: .*config.json.*{message}"
    else:
        (folder / "config.json").write_text(content)
    assert_refused(folder, kind, message)


def test_a_byte_order_mark_in_the_configuration_changes_nothing(kind, folder):
    path = folder / "config.json"
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert load_pretrained(folder, kind).config.vocab_size == len(WORDS)


@pytest.mark.parametrize(
    ("made", "given", "hint"),
    [
        ("r1/model/config.json", "r1", r"did you mean .*r1.model\?"),
        ("runs/r1/model/config.json", "runs", r"did you mean .*runs.r1.model\?"),
        ("model/config.json", "model/config.json", r"it is a file: did you mean .*model\?"),
        ("r1/checkpoints/step-1/x", "r1", "it is a run that has not ended: finish it with --resu"),
        ("hub/pytorch_model.bin", "hub", r"pytorch_model\.bin is a pickle, which is never opened"),
        ("x", "none", "there is no such folder"),
        ("empty/x", "empty", None),
    ],
)
def test_a_folder_without_a_model_is_rejected_with_a_hint(tmp_path, made, given, hint):
    (tmp_path / made).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / made).touch()
    message = r"holds no config\.json" + (f"; {hint}" if hint else "$")
    assert_refused(tmp_path / given, Bert, message, FileNotFoundError)


@pytest.mark.parametrize("kept", [0, 4, 100, 5000])
def test_a_damaged_weight_file_is_rejected(kind, folder, kept):
    data = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(data[:kept])
    assert_refused(folder, kind, r"cannot be read .* is the file whole\?")


def test_a_vocabulary_of_another_size_is_rejected(kind, folder, tmp_path):
    (folder / "vocab.txt").write_text("\n".join(WORDS[:-1]) + "\n")
    assert_refused(folder, kind, r"vocab.txt must have vocab_size=10 lines; got 9")
    tokenizer = WordPiece.from_vocab(folder / "vocab.txt")
    with pytest.raises(ValueError, match=r"tokenizer must have vocab_size=12 tokens .* got 9"):
        save_pretrained(kind(BertConfig(12, 24, 3, 4, 40)), tmp_path / "new", tokenizer)
    assert not (tmp_path / "new").exists()


@pytest.mark.slow
@pytest.mark.corpora
def test_minilm_equals_hugging_face_on_100_real_sentence_pairs():
    from bertlab.data import documents, weights

    folder = weights("minilm")
    reference = BertModel.from_pretrained(folder, attn_implementation="eager").eval()
    ours = load_pretrained(folder)
    tokenizer = WordPiece.from_vocab(folder / "vocab.txt")
    sentences = [text for document in documents("wikipedia")[:6] for text in document]
    pairs = list(pairwise(text for text in sentences if len(text) > 40))[:100]
    assert len(pairs) == 100
    encodings = sorted((tokenizer.encode(a, b, max_length=128) for a, b in pairs), key=len)
    # In float32 the order of a sum moves the last digits, by another amount on another processor,
    # and most at the padding, which nobody reads. In float64 nothing hides behind them.
    for dtype, starts, relative, absolute in (
        (torch.float32, range(0, 100, 25), 1e-5, 2e-5),
        (torch.float64, [75], 0, 1e-9),
    ):
        reference.to(dtype), ours.to(dtype)
        close = {"rtol": relative, "atol": absolute}
        for start in starts:
            chosen = encodings[start : start + 25]
            ids, segment_ids = (
                pad_sequence([torch.tensor(getattr(e, name)) for e in chosen], batch_first=True)
                for name in ("ids", "segment_ids")
            )
            mask = padding_mask(ids)
            assert not mask.all()  # there is padding in every batch
            compared = mask if dtype == torch.float32 else torch.ones_like(mask)
            everything = {"output_attentions": True, "output_hidden_states": True}
            with torch.no_grad():
                expected = reference(ids, mask.long(), segment_ids, **everything)
                got = ours(ids, segment_ids, mask, **everything)
                fused = ours(ids, segment_ids, mask)
            states = [x[compared] for x in expected.hidden_states]
            torch.testing.assert_close([x[compared] for x in got.hidden_states], states, **close)
            of_queries = (
                [x.transpose(1, 2)[compared] for x in output.attentions]
                for output in (got, expected)
            )
            torch.testing.assert_close(*of_queries, **close)
            torch.testing.assert_close(fused.last_hidden_state[compared], states[-1], **close)
            for output in (got, fused):
                torch.testing.assert_close(output.pooler_output, expected.pooler_output, **close)
