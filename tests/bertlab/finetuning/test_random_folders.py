"""A hundred folders of `transformers` and sentence-transformers: equal, or refused by name."""

import logging
from collections import Counter

import pytest
import torch
from sentence_transformers import SentenceTransformer
from transformers import AutoModel, AutoTokenizer

from bertlab.finetuning.sentences import SentenceEncoder
from bertlab.model import load_pretrained, load_tokenizer
from tests.bertlab.finetuning.random_folders import POSITIONS, RandomFolders
from tests.bertlab.tokenizers.random_tokenizers import random_texts


def assert_equal_models(folder, tokenizer, texts):
    ours, reference = load_pretrained(folder), AutoModel.from_pretrained(folder).eval()
    for text in texts:
        ids = torch.tensor([tokenizer.encode(text, max_length=POSITIONS).ids])
        got, expected = ours(ids), reference(ids)
        close = {"atol": 1e-4, "rtol": 1e-4}
        torch.testing.assert_close(got.last_hidden_state, expected.last_hidden_state, **close)


def assert_equal_sentences(folder, texts):
    reference = SentenceTransformer(str(folder), device="cpu")
    expected = torch.from_numpy(reference.encode(texts, show_progress_bar=False))
    got = SentenceEncoder.from_folder(folder).encode(texts, truncate=True, progress=False)
    torch.testing.assert_close(got, expected, atol=1e-4, rtol=1e-4)


def refusal(folder, of_sentences):
    """The message of our refusal, if we do not read a folder."""
    try:
        load_tokenizer(folder)
        load_pretrained(folder)
        if of_sentences:
            SentenceEncoder.from_folder(folder)
    except ValueError as error:
        return str(error)
    return None


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_100_random_folders_are_read_equally_or_refused_by_the_options_name(tmp_path, caplog):
    caplog.set_level(logging.ERROR, logger="transformers")
    folders, texts = RandomFolders(seed=0), random_texts(50)
    told = [text for text in random_texts(60, seed=1) if text.strip(" \t\n\u3000\x00")][:20]
    equal, refused = Counter(), Counter()
    for number in range(100):
        folder = tmp_path / str(number)
        of_sentences = folders.write(folder)
        folder = folder / "sentences" if of_sentences else folder
        if message := refusal(folder, of_sentences):
            named = [name for name in folders.unusual if name in message]
            assert named, f"{message}; the folder's unusual options are {folders.unusual}"
            refused.update(named[:1])
            continue
        ours, reference = load_tokenizer(folder), AutoTokenizer.from_pretrained(folder)
        for text in texts:
            assert ours.encode(text).ids == reference(text)["input_ids"]
        if of_sentences:
            assert_equal_sentences(folder, told)
        else:
            assert_equal_models(folder, ours, told)
        equal["sentences" if of_sentences else "models"] += 1
    print(f"100 random folders: {dict(equal)} equal, {dict(refused)} refused")
    assert min(equal.values()) >= 20
    assert len(refused) >= 12
