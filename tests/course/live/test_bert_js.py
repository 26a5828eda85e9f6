"""BERT in JavaScript, by node, against PyTorch: the same ids, states, shares and predictions."""

import json
import random
import shutil
import subprocess
from base64 import b64decode
from pathlib import Path

import pytest
import torch

from bertlab.data.corpora import documents, udhr
from bertlab.model.heads import BertForPreTraining, fill_mask
from bertlab.model.pretrained import BERTLAB_MINI, load_pretrained
from bertlab.tokenizers.files import load_tokenizer
from tests.conftest import ROOT

NODE = shutil.which("node")
SCRIPT = ROOT / "course" / "live" / "bert.js"
pytestmark = pytest.mark.skipif(not NODE, reason="needs node: sudo apt-get install nodejs")


def asked(what, texts):
    """The script's result for each text."""
    run = subprocess.run(
        [NODE, Path(__file__).with_name("run_bert.js"), SCRIPT, BERTLAB_MINI],
        input=json.dumps({"what": what, "texts": texts}),
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(run.stdout)


@pytest.fixture(scope="module")
def reference():
    """PyTorch's model, in single precision from the same half-precision weights, and tokenizer."""
    return load_pretrained(BERTLAB_MINI, BertForPreTraining), load_tokenizer(BERTLAB_MINI)


@pytest.mark.slow
@pytest.mark.corpora
def test_ids_are_pythons_on_texts_of_all_languages(reference):
    lines = [line for _, texts in udhr() for line in texts]
    texts = random.Random(0).sample(lines, 2_000)
    _, tokenizer = reference
    assert asked("ids", texts) == [tokenizer.encode(text).ids for text in texts]


ODD = ["", " ", "[MASK]", "a[MASK]b", "[mask]", "né\u0301 İstanbul ΣΑΣ", "\u200b\x00x\x1cy"]
ODD += ["好a好", "x" * 100, "x" * 101, "😀 👍🏽", "don't—stop…", "a\u00a0b\u3000c\u2028d"]
ODD += ["\ufffd[CLS] [SEP]", "$5+7<9|~`^", "ﬁ ① ｆｕｌｌ", "각 กำ हिन्दी"]


def test_ids_are_pythons_on_odd_texts(reference):
    _, tokenizer = reference
    found = dict(zip(ODD, asked("ids", ODD), strict=True))
    assert found == {text: tokenizer.encode(text).ids for text in ODD}


def numbers(packed):
    return torch.frombuffer(bytearray(b64decode(packed)), dtype=torch.float32)


def masked_sentences(number):
    """Sentences of held-out books, each with one word masked."""
    drawn = random.Random(1)
    sentences = [sentence for document in documents("plots") for sentence in document]
    fit = [words for words in map(str.split, sentences) if 5 <= len(words) <= 20]
    for words in drawn.sample(fit, number):
        words[drawn.randrange(len(words))] = "[MASK]"
        yield " ".join(words)


@pytest.mark.slow
@pytest.mark.corpora
def test_states_shares_and_guesses_of_200_sentences_are_pytorchs(reference):
    model, tokenizer = reference
    texts = list(masked_sentences(200))
    for text, answer in zip(texts, asked("all", texts), strict=True):
        ids = torch.tensor([tokenizer.encode(text).ids])
        with torch.no_grad():
            output = model.bert(ids, output_hidden_states=True, output_attentions=True)
        for found, expected in zip(answer["hidden"], output.hidden_states, strict=True):
            torch.testing.assert_close(numbers(found), expected.flatten(), rtol=0, atol=1e-3)
        heads = torch.stack(output.attentions).flatten()
        found = torch.cat([numbers(shares) for shares in answer["attention"]])
        torch.testing.assert_close(found, heads, rtol=0, atol=1e-4)
        (expected,) = fill_mask(model, tokenizer, text)
        (guess,) = answer["guesses"]
        assert [token for token, _ in guess["best"]] == [token for token, _ in expected]
        assert [share for _, share in guess["best"]] == pytest.approx(
            [share for _, share in expected], abs=1e-4
        )
