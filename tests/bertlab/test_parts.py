"""Parts: what lectures derive is what runs, or a twin that gives the same."""

import subprocess
import sys

import pytest
import torch

from bertlab.model import BertConfig, BertForPreTraining
from bertlab.parts import parts, plain, running, using
from bertlab.tokenizers.wordpiece import first_pieces
from tests.conftest import ROOT


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


def calls():
    """What runs of the parts when a model is trained and asked; how often."""
    counted = {}

    def noted(name, function):
        def call(*arguments, **options):
            counted[name] = counted.get(name, 0) + 1
            return function(*arguments, **options)

        return call

    with plain(), using(**{one.name: noted(one.name, one.function) for one in parts()}):
        model = BertForPreTraining(BertConfig.tiny(vocab_size=50, max_length=16))
        ids = torch.arange(5, 20)[None]
        model.train()(ids).mlm_logits.mean().backward()
        model.eval()(ids, output_attentions=True)
        model(ids)
    return counted


def test_the_twins_give_what_the_parts_give():
    assert EXAMPLES.keys() == {one.name for one in parts() if one.twin}
    for name, examples in EXAMPLES.items():
        for arguments in examples:
            given = running(name)(*arguments)
            with plain():
                wanted = running(name)(*arguments)
            if isinstance(given, torch.Tensor):
                torch.testing.assert_close(given, wanted)
            else:
                assert given == wanted, name


def test_every_part_that_is_no_derivation_runs():
    derived = {one.name for one in parts() if one.derivation}
    assert len(derived) <= 10
    assert set(calls()) == {one.name for one in parts()} - derived


def test_a_model_learns_the_same_with_the_parts_themselves():
    fast = trained()
    with plain():
        assert trained() == pytest.approx(fast, abs=1e-4)
    assert fast[-1] < fast[0]


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
    with pytest.raises(ValueError, match=r"there is no part 'glue'; the parts are attended, "):
        using(glue=len).__enter__()
