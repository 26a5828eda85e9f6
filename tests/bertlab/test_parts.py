"""Parts: what lectures derive is what runs, or a twin that gives the same."""

import json
import os
import re
import subprocess
import sys
from contextlib import nullcontext
from importlib import import_module
from types import FunctionType

import pytest
import torch

from bertlab.data.token_store import write_tokens
from bertlab.model import BertConfig, BertForPreTraining
from bertlab.parts import parts, plain, running, using
from bertlab.pretraining.batches import PretrainingData
from bertlab.tokenizers import WordPiece
from bertlab.tokenizers.wordpiece import first_pieces
from bertlab.training.loop import TrainingConfig
from bertlab.training.runs import pretrain
from bertlab.training.steps import adamw, clip_gradients
from tests.conftest import ROOT
from tests.lectures.conftest import read_page


def normal(*sizes, seed=0):
    return torch.randn(*sizes, generator=torch.Generator().manual_seed(seed))


QUERY, KEY, VALUE = normal(2, 3, 5, 4), normal(2, 3, 7, 4, seed=1), normal(2, 3, 7, 6, seed=2)
MASK = normal(2, 1, 5, 7, seed=3) > -0.5
COUNTS = {"cost": 2, "best": 2, "menu": 1, "men": 1, "camel": 1, "aaaa": 3}
WORDS = {tuple(word): count for word, count in COUNTS.items()}
IDS = {symbol: id for id, symbol in enumerate(sorted({s for word in WORDS for s in word}))}
PIECES = {first_pieces(word): count for word, count in COUNTS.items()}
PIECE_IDS = {piece: id for id, piece in enumerate(sorted({p for word in PIECES for p in word}))}
RANKS = {("m", "e"): 0, ("me", "n"): 1, ("t", "a"): 2, ("u", "men"): 3}
EXAMPLES = {
    "row_softmax": [(QUERY,), (1000 * QUERY,), (QUERY.masked_fill(QUERY > 1, -torch.inf),)],
    "attention_probabilities": [(QUERY, KEY), (QUERY, KEY, MASK)],
    "attended": [
        (QUERY, KEY, VALUE),
        (QUERY, KEY, VALUE, MASK),
        (KEY, KEY, VALUE, None, 0.0, True),
    ],
    "layer_norm": [(QUERY, normal(4), normal(4)), (QUERY, normal(4), normal(4), 0.1)],
    "gelu": [(3 * QUERY,)],
    "learn_merges": [(WORDS, IDS, 14), (WORDS, IDS, 40)],
    "learn_pieces": [(PIECES, PIECE_IDS, 40)],
    "apply_merges": [(tuple("mental"), RANKS), (tuple("menu" * 50), RANKS), ((), RANKS)],
    "longest_match": [
        ("mental", PIECE_IDS),
        ("menu" * 20, PIECE_IDS),
        ("menu" * 40, PIECE_IDS, 200),
        ("menu" * 40, {"men", "##u", "##me", "##n"}, 200),
    ],
}
RUN = """
import sys, torch
from bertlab.model import BertConfig, BertForPreTraining
model = BertForPreTraining(BertConfig.tiny(vocab_size=50, max_length=16))
output = model.train()(torch.arange(5, 20)[None])
(output.mlm_logits.square().mean() + output.nsp_logits.sum()).backward()
model.eval()(torch.arange(5, 20)[None], output_attentions=True)
print(sorted(name for name in sys.modules if name.endswith(".fast")))
"""


def trained(steps=12):
    """The losses of a tiny model that learns one batch."""
    torch.manual_seed(0)
    config = BertConfig.tiny(vocab_size=50, max_length=16)
    model, losses = BertForPreTraining(config), []
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    ids = torch.randint(5, 50, (4, 16))
    for _ in range(steps):
        output = model(ids)
        loss = torch.nn.functional.cross_entropy(output.mlm_logits.flatten(0, 1), ids.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


# Which parts run in the main jobs, in a process that runs the parts themselves.
JOBS = """
import json, sys
from contextlib import nullcontext
from importlib import import_module
from types import FunctionType
seen = set()
sys.setprofile(lambda frame, event, _: seen.add(frame.f_code) if event == "call" else None)

import tempfile
from bertlab.interpretability.traces import trace
from bertlab.model import BertConfig, BertForPreTraining
from bertlab.model.heads import fill_mask
from bertlab.data.token_store import write_tokens
from bertlab.parts import parts, using
from bertlab.pretraining.batches import PretrainingData
from bertlab.pretraining.masking import Masking
from bertlab.data.token_store import write_tokens
from bertlab.tokenizers import BPE, ByteBPE, WordPiece
from bertlab.training.loop import TrainingConfig
from bertlab.training.runs import pretrain
from bertlab.training.start import STARTS

TEXTS = ["the cat sat on the mat", "a cat that sat at the best men's camel", "menu of the best"]
with INSTEAD:
    for kind in (BPE, ByteBPE):
        trained = kind.train(TEXTS, 290)
        assert trained.decode(trained.encode(TEXTS[0]).ids)
    for criterion in ("frequency", "ratio", "gain"):
        words = WordPiece.train(TEXTS, 70, criterion=criterion)
    model = BertForPreTraining(BertConfig.tiny(vocab_size=len(words.vocab), max_length=16))
    store = write_tokens([TEXTS, TEXTS[::-1]], words, tempfile.mkdtemp())
    for whole_words, start in ((False, "plain"), (True, "neighbours")):
        masking = Masking.of(words, whole_words=whole_words)
        data = PretrainingData(store, words, max_length=12, batch_size=1, masking=masking)
        model = STARTS[start](model)
        pretrain(model, data, TrainingConfig(1), progress=False)
    fill_mask(model, words, "the [MASK] sat")
    trace(model, words, "the cat sat")
sys.setprofile(None)
print(json.dumps([one.name for one in parts() if one.function.__code__ not in seen]))
"""


def not_run(instead="nullcontext()"):
    """The names of the parts that the main jobs never run; instead: what runs in their place."""
    program = [sys.executable, "-c", JOBS.replace("INSTEAD", instead)]
    environment = os.environ | {"BERTLAB_PLAIN": "1"}
    done = subprocess.run(program, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout))


def test_the_twins_give_what_the_parts_give():
    others = {"adamw", "clip_gradients"}  # which change a model, below
    assert EXAMPLES.keys() == {one.name for one in parts() if one.twin} - others
    for name, examples in EXAMPLES.items():
        for arguments in examples:
            given = running(name)(*arguments)
            with plain():
                wanted = running(name)(*arguments)
            if isinstance(given, torch.Tensor):
                torch.testing.assert_close(given, wanted)
            else:
                assert given == wanted, name


def arguments(function):
    """Names and defaults; not by `signature`, which Sphinx changes where it has made the book."""
    code = function.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return names, code.co_argcount, function.__defaults__, function.__kwdefaults__


@pytest.mark.parametrize("one", [one for one in parts() if one.twin], ids=lambda one: one.name)
def test_a_twin_takes_the_arguments_of_its_part(one):
    twin = getattr(import_module(one.twin), one.name)
    if isinstance(twin, FunctionType):  # PyTorch's gelu is not one
        assert arguments(twin) == arguments(one.function)


def test_twins_move_a_model_as_the_parts_do():
    moved = []
    for context in (plain(), nullcontext()):
        with context:
            model = BertForPreTraining(BertConfig.tiny(vocab_size=50, max_length=16, dropout=0.0))
            optimizer = adamw(model, 1e-2, weight_decay=0.1)
            for step in range(3):
                optimizer.zero_grad()
                output = model(torch.arange(5, 20)[None])
                (100**step * output.mlm_logits.square().mean()).backward()
                clip_gradients(model.parameters(), 0.5)
                optimizer.step()
            state = [optimizer.state[p] for p in model.parameters() if p in optimizer.state]
            moved.append((list(model.parameters()), state))
    torch.testing.assert_close(moved[0], moved[1], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("before", "after"), [(plain, nullcontext), (nullcontext, plain)])
def test_a_training_resumes_with_the_other_optimizer(before, after, tmp_path):
    texts = ["the cat sat on the mat", "a cat that sat at the best men's camel"]
    tokenizer = WordPiece.train(texts, 60)
    store = write_tokens([texts, texts[::-1]], tokenizer, tmp_path / "store")
    data = PretrainingData(store, tokenizer, max_length=12, batch_size=1)
    sizes = {"vocab_size": len(tokenizer.vocab), "max_length": 16, "dropout": 0.0}
    undisturbed, resumed = (BertForPreTraining(BertConfig.tiny(**sizes)) for _ in range(2))
    plan = TrainingConfig(6, save_every=3)
    pretrain(undisturbed, data, plan, progress=False)

    def stop(row):
        if row["step"] == 4:
            raise RuntimeError("the lights went out")

    with before(), pytest.raises(RuntimeError):
        pretrain(BertForPreTraining(resumed.config), data, plan, folder=tmp_path, watch=stop)
    with after():
        pretrain(resumed, data, plan, folder=tmp_path, progress=False)
    ours, theirs = list(resumed.parameters()), list(undisturbed.parameters())
    torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)


@pytest.mark.slow
def test_every_part_that_is_no_derivation_runs():
    derived = {one.name for one in parts() if one.derivation}
    assert len(derived) <= 10
    assert not_run() == derived
    # An equal function in a part's place is noticed.
    equal = "using(row_softmax=lambda s: s.softmax(-1), glue=lambda a, b: a + b.removeprefix('##'))"
    assert not_run(equal) == derived | {"row_softmax", "glue"}


@pytest.mark.parametrize("one", parts(), ids=lambda one: one.name)
def test_a_part_is_shown_in_its_lecture_which_says_so_if_the_library_does_not_run_it(one):
    page = read_page(next((ROOT / "lectures").glob(f"{one.lecture}_*.ipynb")))
    dotted, name = f"{one.function.__module__}.{one.name}", one.name.rpartition(".")[2]
    pinned = [c for c in page.cells if dotted in str(c.metadata.get("bertlab", {}).get("library"))]
    shown = [c for c in page.cells if re.search(rf"show_source\([^)]*\b{name}\b", c.source)]
    assert pinned or shown
    assert not one.derivation or re.search("# .*the library does not run", pinned[0].source)


def test_a_model_learns_the_same_with_the_parts_themselves():
    fast = trained()
    with plain():
        assert trained() == pytest.approx(fast, abs=1e-4)
    assert fast[-1] < fast[0]


@pytest.mark.slow
@pytest.mark.parametrize(("value", "imported"), [("1", "[]"), ("", "['bertlab.model.fast']")])
def test_a_plain_process_imports_no_twin(value, imported, monkeypatch):
    monkeypatch.setenv("BERTLAB_PLAIN", value)
    done = subprocess.run([sys.executable, "-c", RUN], cwd=ROOT, capture_output=True, text=True)
    assert (done.stdout.strip(), done.stderr) == (imported, "")


def test_a_function_of_ones_own_runs_until_the_end_of_the_block():
    ids = torch.arange(5, 20)[None]
    model = BertForPreTraining(BertConfig.tiny(vocab_size=50, max_length=16)).eval()
    before = model(ids).mlm_logits
    with using(gelu=torch.relu), using(layer_norm=lambda x, *_: x):
        assert running("gelu") is torch.relu
        assert not torch.allclose(model(ids).mlm_logits, before)
    with using(row_softmax=lambda scores: scores.softmax(dim=-2)):
        assert not torch.allclose(model(ids).mlm_logits, before), "no twin went round it"
    with pytest.raises(TypeError), using(gelu=torch.matmul):
        model(ids)
    assert torch.equal(model(ids).mlm_logits, before)
    with pytest.raises(ValueError, match=r"there is no part 'join'; the parts are "):
        using(join=len).__enter__()
