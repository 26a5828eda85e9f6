"""The library on a simulated GPU: it mixes no devices, and its results are those on the CPU."""

import warnings
from dataclasses import replace
from functools import partial, wraps
from inspect import signature
from unittest.mock import DEFAULT, Mock, patch

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils._pytree import tree_map

from bertlab.__main__ import main
from bertlab.finetuning.answers import best_span
from bertlab.finetuning.heads import SequenceClassifier, SpanAnswerer, TokenTagger
from bertlab.finetuning.search import closest_pairs, semantic_search
from bertlab.finetuning.sentence_objectives import (
    SiameseClassifier,
    cosine_loss,
    in_batch_negatives_loss,
    train_pairs,
)
from bertlab.finetuning.sentences import SentenceEncoder
from bertlab.finetuning.texts import TuningData, encode_texts
from bertlab.finetuning.tuning import TuningConfig, fine_tune, predict
from bertlab.interpretability.ablation import ablate_each_head, head_importance, prune_heads
from bertlab.interpretability.gradients import (
    attention_gradients,
    gradient_times_input,
    rank_agreement,
)
from bertlab.interpretability.patterns import (
    attention_entropy,
    attention_to_same_word,
    head_patterns,
    mean_distance,
)
from bertlab.interpretability.probing import probe
from bertlab.interpretability.rollout import attention_flow, attention_rollout
from bertlab.interpretability.traces import trace, trace_translation
from bertlab.model import Bert, BertConfig, BertForPreTraining
from bertlab.model.heads import fill_mask
from bertlab.model.transformer import Transformer, TransformerConfig
from bertlab.training import command, fast
from bertlab.training.loop import TrainingConfig
from bertlab.training.runs import evaluate, pretrain
from bertlab.training.steps import restored_random_state
from bertlab.viz.head_views import head_view
from course.experiments.comparison import accuracy_by_distance
from course.experiments.convolutional import Convolutional
from course.experiments.string_tasks import copy_at_distance
from course.models.relatives.distillation import distil, student_of
from course.models.relatives.gpt import (
    CausalLanguageModel,
    evaluate_next_tokens,
    generate,
    next_token_loss,
)
from course.models.relatives.permutation import (
    PermutationLanguageModel,
    draw_reading,
    permutation_loss,
)
from course.models.relatives.training import train, without_masks
from course.models.seq2seq.decoding import beam_search
from course.models.seq2seq.training import train as train_to_translate
from course.toyworld import TOYWORLD
from course.toyworld.batches import ToyData
from tests.fake_gpu import CPU, GPU, fake_gpu, unwrapped
from tests.small_models import generator, normal, random_weights

TOKENIZER = TOYWORLD.tokenizer
SIZES = {"d_model": 16, "n_layers": 2, "n_heads": 2, "d_ff": 32, "max_length": 32}
CONFIG = BertConfig(len(TOKENIZER.vocab), dropout=0.0, **SIZES)
DATA = ToyData(batch_size=6, n_batches=2)
STEPS = TrainingConfig(steps=3, learning_rate=1e-2, warmup=0.5, evaluate_every=2)
TUNING = TuningConfig(epochs=1, batch_size=4, learning_rate=1e-2)
TEXTS = [
    "mia sees her kite near her hill",
    "tom walks to the lake with his drum",
    "rex finds its lamp",
    "we run to the forest",
]
ENCODINGS = encode_texts(TEXTS, TOKENIZER, max_length=32)
ENCODING, IDS = ENCODINGS[0], torch.tensor(ENCODINGS[0].ids)


def on_both(work):
    """A test that `work("cuda", ...)`, tensors and numbers, is `work("cpu", ...)`.

    On the simulated GPU, and on a real one if there is any.
    """

    @wraps(work)
    def test(**options):
        expected, tolerance = work("cpu", **options), {"rtol": 1e-2, "atol": 1e-3}
        with fake_gpu():
            found = tree_map(unwrapped, work("cuda", **options))
        torch.testing.assert_close(found, expected, **tolerance)
        if torch.cuda.is_available():
            found = work("cuda", **options)
            torch.testing.assert_close(found, expected, check_device=False, **tolerance)

    asked = signature(work)
    test.__signature__ = asked.replace(parameters=[*asked.parameters.values()][1:])
    return test


def made(kind, *arguments, device, **options):
    return random_weights(kind(*arguments, **options)).to(device)


def losses(rows):
    return [row["loss"] if row["kind"] == "train" else row.get("mlm_loss", 0) for row in rows]


def pre_trained(device, folder=None, config=STEPS, watch=None, **changes):
    model = made(BertForPreTraining, replace(CONFIG, **changes), device=device)
    options = {"validation": DATA, "folder": folder, "watch": watch, "progress": False}
    rows = pretrain(model, DATA, config, **options)
    return model, losses(rows)


DEVICES_DIFFER = {
    "a matrix": lambda far, near: far @ near,
    "a mask": lambda far, near: far.masked_fill(near > 0, 0.0),
    "positions": lambda far, near: far + near,
    "rows of a table": lambda far, near: F.embedding(torch.tensor([0]), far),
    "numbers in a list": lambda far, near: torch.stack([far.sum(), near.sum()]),
    "an index on the GPU": lambda far, near: near[(far > 0).any(dim=1)],
    "a result": lambda far, near: near.add_(far),
    "a row of a result": lambda far, near: near.index_put_((torch.tensor([0]),), far[0]),
    "a sum": lambda far, near: torch.zeros(()).add_(far.sum()),
    "random numbers": lambda far, near: far.normal_(generator=generator()),
    "new random numbers": lambda far, near: torch.rand(3, device="cuda", generator=generator()),
}


@pytest.mark.parametrize("what", DEVICES_DIFFER)
def test_the_simulated_gpu_rejects_what_a_gpu_rejects(what):
    near = normal(3, 3)
    with fake_gpu():
        far = near.to("cuda")
        with pytest.raises(RuntimeError, match="got one on cpu"):
            DEVICES_DIFFER[what](far, near)
        with pytest.raises(RuntimeError, match="numpy"):
            far.numpy()


ALLOWED = {
    "a number": lambda x, near: torch.tensor(2.0) * x + torch.tensor(1.0),
    "an index on the CPU": lambda x, near: x[torch.tensor([2, 0]), [1, 1]],
    "a mask on the CPU": lambda x, near: x[near[0] > 0],
    "a copy": lambda x, near: torch.zeros(3, 3).copy_(x) + near,
    "a copy of the CPU's": lambda x, near: x.clone().copy_(near),
    "rows that are set": lambda x, near: x.clone().index_put_((torch.tensor([0]),), x[1]),
    "a new tensor": lambda x, near: x + torch.arange(3, device=x.device),
    "a tensor of numbers": lambda x, near: x.new_tensor([1.0, 2.0, 3.0]) * x,
    "of the same kind": lambda x, near: near.to(x) @ x.to(torch.float64).to(x),
    "in place": lambda x, near: x.clone().unsqueeze_(0).add_(1),
    "back": lambda x, near: x.cpu() + near,
}


@pytest.mark.parametrize("what", ALLOWED)
@on_both
def test_the_simulated_gpu_accepts_what_a_gpu_accepts(device, what):
    return ALLOWED[what](normal(3, 3).to(device), normal(3, 3))


@on_both
def test_gradients_reach_weights_on_the_gpu_and_their_source_on_the_cpu(device):
    source, layer = normal(2, 3).requires_grad_(), nn.Linear(3, 2)
    weight = random_weights(layer).weight
    assert layer.to(device).weight is weight  # as in an optimizer that was made before
    layer(source.to(device)).square().sum().backward()
    return source.grad, weight.grad


@pytest.mark.slow
@on_both
def test_pre_training_mixes_no_devices(device):
    model, found = pre_trained(device, config=replace(STEPS, accumulate=2))
    evaluation = evaluate(model, DATA).as_dict()
    return found, evaluation, [parameter.detach() for parameter in model.parameters()]


@pytest.mark.slow
@pytest.mark.parametrize(("first", "second"), [("cuda", "cpu"), ("cpu", "cuda"), ("cuda", "cuda")])
def test_a_training_resumes_on_this_or_another_device(tmp_path, first, second):
    def stopped(row):
        if row["step"] == 2:
            raise KeyboardInterrupt

    expected = pre_trained("cpu")[1]
    config = replace(STEPS, save_every=1)
    with fake_gpu(), pytest.raises(KeyboardInterrupt):
        pre_trained(first, tmp_path, config, stopped)
    with fake_gpu():
        assert pre_trained(second, tmp_path, config)[1] == pytest.approx(expected[2:], abs=1e-3)


@pytest.mark.slow
def test_dropout_draws_on_the_gpu_and_its_random_state_is_restored():
    with fake_gpu() as gpu:
        gpu["get_rng_state"].return_value = "before"
        pre_trained("cuda", dropout=0.1)
        gpu["set_rng_state"].assert_called_once_with("before", GPU)


@pytest.mark.parametrize("kind", ["cuda", "mps"])
def test_the_random_state_of_the_models_device_is_restored(kind):
    device, module = torch.device(kind, 0), torch.get_device_module(kind)
    with patch.multiple(module, get_rng_state=DEFAULT, set_rng_state=DEFAULT) as mocks:
        with restored_random_state(device):
            mocks["get_rng_state"].assert_called_once_with(device)
        state = mocks["get_rng_state"].return_value
        mocks["set_rng_state"].assert_called_once_with(state, device)


def test_mixed_precision_is_the_gpus(monkeypatch):
    autocast = Mock(wraps=torch.autocast)
    monkeypatch.setattr(torch, "autocast", autocast)
    with fake_gpu(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch for CPUs has no autocast for "cuda"
        pre_trained("cuda", config=replace(STEPS, precision="bfloat16"))
    assert autocast.call_args_list[-1].args[0] == "cuda"


HEADS = {
    "classes": (partial(SequenceClassifier, n_classes=3, features="mean of all"), [0, 1, 2, 0]),
    "tags": (partial(TokenTagger, n_tags=3), [[1] * len(e) for e in ENCODINGS]),
    "spans": (SpanAnswerer, [(1, 2), (0, 0), (2, 3), (1, 1)]),
}


@pytest.mark.parametrize("frozen", [False, True])
@pytest.mark.parametrize("task", HEADS)
@on_both
def test_fine_tuning_mixes_no_devices(device, task, frozen):
    head, targets = HEADS[task]
    data = TuningData(ENCODINGS, targets)
    bert = made(Bert, CONFIG, device=device)
    model = head(bert, frozen=frozen, dropout=0.0)
    rows = fine_tune(model, data, TUNING, pad_id=0, validation=data, progress=False)
    return [row["loss"] for row in rows], predict(model, ENCODINGS, pad_id=0)


def test_an_answer_is_found_in_scores_on_the_gpu():
    encoding = TOKENIZER.encode("who", TEXTS[0])
    logits = normal(len(encoding), 2)
    expected = best_span(logits, encoding, TEXTS[0], threshold=-10)
    with fake_gpu():
        assert best_span(logits.to("cuda"), encoding, TEXTS[0], threshold=-10) == expected


@pytest.mark.parametrize("pooling", ["mean", "cls", "max"])
@on_both
def test_sentences_are_encoded_and_compared_on_the_gpu(device, pooling):
    encoder = SentenceEncoder(made(Bert, CONFIG, device=device), TOKENIZER, pooling=pooling)
    vectors = encoder.encode(TEXTS, most_tokens=16, progress=False)
    assert vectors.device.type == device
    return vectors, semantic_search(vectors[:1], vectors, 2), closest_pairs(vectors, 3)


@pytest.mark.parametrize("objective", ["classes", "cosines", "in-batch"])
@on_both
def test_pairs_are_learned_on_the_gpu(device, objective):
    targets = {"classes": [0, 1], "cosines": [0.5, -0.5], "in-batch": None}[objective]
    loss = {
        "classes": SiameseClassifier(16, 2),
        "cosines": cosine_loss,
        "in-batch": in_batch_negatives_loss,
    }[objective]
    encoder = SentenceEncoder(made(Bert, CONFIG, device=device), TOKENIZER)
    pairs = TEXTS[:2], TEXTS[2:]
    return losses(train_pairs(encoder, *pairs, targets, loss, TUNING, progress=False))


@on_both
def test_gaps_are_filled_on_the_gpu(device):
    model = made(BertForPreTraining, CONFIG, device=device)
    guesses = fill_mask(model, TOKENIZER, "mia [MASK] her [MASK]", top=68)
    return [[p for _, p in gap] for gap in guesses]


@on_both
def test_traces_and_what_is_measured_in_them_need_no_gpu_afterwards(device):
    made_of = trace(made(Bert, CONFIG, device=device), TOKENIZER, *TEXTS[:2])
    tensors = made_of.attentions + made_of.hidden_states + made_of.queries + made_of.keys
    assert all(type(tensor) is torch.Tensor for tensor in tensors)
    return tensors, head_patterns([made_of])


@on_both
def test_attentions_on_the_gpu_are_measured_and_shown(device):
    bert = made(Bert, CONFIG, device=device)
    attentions = bert(IDS[None].to(device), output_attentions=True).attentions
    page = head_view(attentions, list(ENCODING.tokens)).page
    rolled, flow = attention_rollout(attentions), attention_flow(attentions, 2)
    patterns = [of(attentions[0][0]) for of in (attention_entropy, mean_distance)]
    patterns.append(attention_to_same_word(attentions[0][0], IDS.to(device)))
    return rolled, flow, patterns, len(page)


@on_both
def test_gradients_and_removed_heads_mix_no_devices(device):
    model = made(BertForPreTraining, CONFIG, device=device)
    batches = [DATA.epoch(0)[0].to(device)]

    def loss(batch):
        return model(batch.ids, attention_mask=batch.attention_mask).mlm_logits.sum() / 1000

    def target(output):
        return output.mlm_logits[0, 3, 7]

    saliency = gradient_times_input(model, IDS, target)
    gradients = attention_gradients(model, IDS.to(device), target)
    importance = head_importance(model, loss, batches)
    removed = ablate_each_head(model, loss, batches)
    pruned = prune_heads(model, [(0, 1)])(IDS[None].to(device)).nsp_logits
    assert {tensor.device for tensor in (saliency, *gradients, importance)} == {CPU}
    agreement = rank_agreement(saliency.to(device), gradients[0][0, 0])
    return saliency, gradients, importance, removed, pruned, agreement


@on_both
def test_vectors_on_the_gpu_are_probed(device):
    vectors, labels = normal(40, 4), [number % 2 for number in range(40)]
    options = labels, [str(n) for n in range(40)], [n // 4 for n in range(40)]
    return vars(probe(vectors.to(device), *options))


@on_both
def test_a_gpt_learns_and_writes_on_the_gpu(device):
    model = made(CausalLanguageModel, replace(CONFIG, causal=True), device=device)

    def of_batch(batch):
        ids = without_masks(batch)
        return {"loss": next_token_loss(model(ids), ids, batch.attention_mask)}

    rows = train(model, of_batch, DATA, STEPS, progress=False)
    start = IDS[None, :3].to(device)
    written = generate(model, start, 4, top_k=5, generator=generator())
    greedy = generate(model, start, 4, temperature=0)
    return losses(rows), evaluate_next_tokens(model, DATA), written, greedy


@on_both
def test_a_permutation_language_model_learns_on_the_gpu(device):
    model = made(PermutationLanguageModel, CONFIG, device=device)
    draw = generator()

    def of_batch(batch):
        ids = without_masks(batch)
        reading = draw_reading(batch.attention_mask, 2, draw)
        logits = model(ids, *reading, batch.segment_ids).logits
        return {"loss": permutation_loss(logits, ids, reading.targets)}

    return losses(train(model, of_batch, DATA, STEPS, progress=False))


@on_both
def test_a_student_imitates_its_teacher_on_the_gpu(device):
    teacher = made(BertForPreTraining, CONFIG, device=device)
    student = student_of(teacher)
    return losses(distil(teacher, student, DATA, STEPS, validation=DATA, progress=False))


TASK = copy_at_distance([3], 8, 3, letters="abc")
N_SYMBOLS = len(TASK.vocabulary)
TRANSLATORS = {
    "transformer": lambda: Transformer(TransformerConfig(N_SYMBOLS, 16, 1, 2, 32, dropout=0.0)),
    "convolutional": lambda: Convolutional(N_SYMBOLS, 16, dropout=0.0),
}


@pytest.mark.filterwarnings("ignore:PyTorch was compiled without cuDNN")
@pytest.mark.parametrize("kind", TRANSLATORS)
@on_both
def test_translation_is_learned_on_the_gpu(device, kind):
    model = TRANSLATORS[kind]().to(device)
    options = {"steps": 2, "batch_size": 4, "held_out": TASK.held_out, "progress": False}
    history = train_to_translate(model, TASK.train, TASK.vocabulary, rate=lambda _: 1e-2, **options)
    ids, mask = (part.to(device) for part in TASK.vocabulary.sources(["ab", "b"]))
    beams = beam_search(model, ids, mask, 4, beam_size=2)
    likely = [[h.log_probability for h in beam.hypotheses] for beam in beams]
    copied = accuracy_by_distance(model, [3], TASK.vocabulary, letters="abc", n_strings=4)
    return history.losses, history.accuracies, likely, copied


@on_both
def test_a_translation_is_traced_on_the_gpu(device):
    model = TRANSLATORS["transformer"]().to(device)
    found = trace_translation(model, [3, 4, 5, 2], torch.tensor([1, 5]))
    return found.encoder, found.cross, found.queries


@pytest.mark.slow
def test_the_command_trains_on_the_gpu(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(command, "TRIAL_SECONDS", 0.01)
    what = ["--corpus", "python-topics", "--size", "tiny", "--vocab-size", "300", "--seed", "1"]
    what += ["--batch-size", "4", "--max-length", "32", "--start", "neighbours", "--snapshots", "3"]
    with fake_gpu() as gpu:
        how = ["--minutes", "0.001", "--device", "cuda", "--out", str(tmp_path)]
        assert main(["pretrain", *what, *how]) == 0
    gpu["set_device"].assert_called_with(GPU)
    told = capsys.readouterr().out
    assert "million parameters on cuda; 1 steps" in told
    assert "same document" in told
    assert main(["fill-mask", str(tmp_path / "model"), "The [MASK]."]) == 0


def test_a_gpu_is_the_default_where_there_is_one(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    with fake_gpu():
        assert fast.local_device() == GPU


def test_each_process_has_its_own_gpu_and_they_communicate_by_nccl(monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "4")
    monkeypatch.setenv("LOCAL_RANK", "3")
    monkeypatch.setattr(fast, "distributed", distributed := Mock())
    with fake_gpu() as gpu:
        gpu["device_count"].return_value = 4
        device = fast.local_device("cuda")
        assert device == torch.device("cuda", 3)
        gpu["set_device"].assert_called_once_with(device)
        with fast.joined_processes(device):
            pass
        gpu["device_count"].return_value = 2
        with pytest.raises(ValueError, match="no device cuda:3 here: PyTorch sees 2"):
            fast.local_device("cuda")
    (backend,), options = distributed.init_process_group.call_args
    assert (backend, options["device_id"]) == ("nccl", device)
    distributed.destroy_process_group.assert_called_once_with()
