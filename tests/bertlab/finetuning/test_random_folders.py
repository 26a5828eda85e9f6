"""A hundred folders of `transformers` and sentence-transformers: equal, or refused by name.

They are written by those libraries, with options drawn at random.
"""

import json
import logging
from collections import Counter
from pathlib import Path
from random import Random

import pytest
import torch
import transformers
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer import modules
from tokenizers import AddedToken
from torch import nn
from transformers import AutoModel, AutoTokenizer

from bertlab.finetuning.sentences import SentenceEncoder
from bertlab.model import load_pretrained, load_tokenizer
from bertlab.tokenizers import WordPiece
from tests.bertlab.tokenizers.random_tokenizers import CORPUS, random_texts
from tests.small_models import random_weights

POSITIONS = 40
OLD_POOLINGS = {"cls": "cls_token", "max": "max_tokens", "mean": "mean_tokens"}


class RandomFolders:
    """Writes folders; `unusual` names the options of the last one that we do not have."""

    def __init__(self, seed: int, rate: float = 0.025) -> None:
        self.random, self.rate = Random(seed), rate
        self.unusual: list[str] = []
        self.vocab = dict(WordPiece.train(CORPUS, 400).vocab)

    def pick(self, name: str, usual: list, *unusual: object) -> object:
        """One of the usual values, or, rarely, an unusual one, which is then recorded."""
        if self.random.random() >= self.rate:
            return self.random.choice(usual)
        self.unusual.append(name)
        return self.random.choice(unusual)

    def edit(self, path: Path, **values: object) -> None:
        """Change options of a JSON file; None leaves one out."""
        said = json.loads(path.read_text()) | values
        path.write_text(json.dumps({name: x for name, x in said.items() if x is not None}))

    def write(self, folder: Path) -> bool:
        """Write a folder; returns whether it is one of sentence-transformers."""
        self.unusual = []
        tokenizer = self.tokenizer()
        tokenizer.save_pretrained(folder)
        self.model(len(tokenizer)).save_pretrained(folder)
        sentences = self.random.random() < 0.5
        if sentences:
            source, folder = folder, folder / "sentences"
            self.sentences(source).save(str(folder), create_model_card=False)
            self.make_older(folder)
        self.edit_tokenizer(folder)
        return sentences

    def tokenizer(self) -> transformers.BertTokenizer:
        choice = self.random.choice
        return transformers.BertTokenizer(
            vocab=self.vocab,
            do_lower_case=choice([True, False]),
            strip_accents=choice([None, True, False]),
            tokenize_chinese_chars=self.pick("tokenize_chinese_chars", [True], False),
            never_split=self.pick("never_split", [None], ["don't"]),
            wordpieces_prefix=self.pick("wordpieces_prefix", ["##"], "@@"),
            mask_token=self.mask_token(),
            unk_token=self.pick("unk_token", ["[UNK]"], "[PAD]"),
            padding_side=self.pick("padding_side", ["right"], "left"),
            truncation_side=self.pick("truncation_side", ["right"], "left"),
            split_special_tokens=self.pick("split_special_tokens", [False], True),
            extra_special_tokens=choice([[], [], ["[E 1]"]]),
            model_max_length=choice([POSITIONS, 12, 10**30]),
        )

    def mask_token(self) -> str | AddedToken:
        stripping = AddedToken("[MASK]", lstrip=True, special=True)
        token = self.pick("mask_token", ["[MASK]"], "<mask>", stripping)
        if token is stripping:
            self.unusual.append("lstrip")  # the option that is refused
        return token

    def model(self, vocab_size: int) -> transformers.PreTrainedModel:
        choice = self.random.choice
        names = "PreTraining MaskedLM SequenceClassification TokenClassification QuestionAnswering"
        kinds = [getattr(transformers, f"BertFor{name}") for name in names.split()]
        kinds += [transformers.BertModel] * 3
        crossed = self.pick("add_cross_attention", [False], True)
        config = transformers.BertConfig(
            vocab_size=vocab_size,
            hidden_size=choice([16, 24]),
            num_hidden_layers=choice([1, 2]),
            num_attention_heads=choice([2, 4]),
            intermediate_size=choice([8, 40]),
            max_position_embeddings=POSITIONS,
            type_vocab_size=choice([1, 2, 5]),
            layer_norm_eps=choice([1e-12, 1e-5, 0.1]),
            hidden_act=self.pick("hidden_act", ["gelu"], "relu", "gelu_new", "silu"),
            hidden_dropout_prob=choice([0.0, 0.1]),
            chunk_size_feed_forward=choice([0, 1]),
            is_decoder=crossed or choice([False, False, True]),
            add_cross_attention=crossed,
            pad_token_id=choice([0, None]),
            tie_word_embeddings=choice([True, False]),
        )
        return random_weights(choice(kinds)(config).eval(), seed=self.random.randrange(1000))

    def sentences(self, source: Path) -> SentenceTransformer:
        choice = self.random.choice
        first = modules.Transformer(str(source), max_seq_length=choice([None, 12, POSITIONS]))
        width = first.get_embedding_dimension()
        mode = self.pick("pooling_mode", ["mean", "cls", "max"], "weightedmean", ("cls", "max"))
        parts = [first, modules.Pooling(width, mode, include_prompt=choice([True, False]))]
        width = parts[-1].get_embedding_dimension()
        for out in choice([[], [], [8], [12, 8]]):
            activation = self.pick(
                "activation_function",
                [nn.Tanh(), nn.Identity(), nn.ReLU(), nn.GELU(), nn.Sigmoid()],
                nn.Softplus(),
            )
            bias, residual = choice([True, False]), self.pick("use_residual", [False], True)
            parts += [modules.Dense(width, out, bias, activation, use_residual=residual)]
            width = out
        parts += self.pick("LayerNorm", [[]], [modules.LayerNorm(width)])
        parts += self.pick("Dropout", [[]], [modules.Dropout(0.2)])
        parts += choice([[], [modules.Normalize()]])
        if self.pick("Normalize", [False], True):
            parts.insert(2, modules.Normalize())
            parts.append(modules.Dense(width, 4))
        return SentenceTransformer(
            modules=parts,
            device="cpu",
            prompts=choice([None, {"query": "find "}]),
            truncate_dim=self.pick("truncate_dim", [None], 3),
        )

    def make_older(self, folder: Path) -> None:
        """As earlier versions wrote some of the files."""
        chosen = self.pick("default_prompt_name", [None], "query")
        if chosen:
            config = folder / "config_sentence_transformers.json"
            self.edit(config, prompts={"query": "find "}, default_prompt_name=chosen)
        if self.random.random() < 0.5:
            said = {
                "max_seq_length": self.random.choice([POSITIONS, 9]),
                "do_lower_case": self.pick("do_lower_case", [False], True),
            }
            (folder / "sentence_bert_config.json").write_text(json.dumps(said))
        path = folder / "1_Pooling" / "config.json"
        said = json.loads(path.read_text())
        if said["pooling_mode"] in OLD_POOLINGS and self.random.random() < 0.5:
            flags = {
                f"pooling_mode_{x}": m == said["pooling_mode"] for m, x in OLD_POOLINGS.items()
            }
            flags["pooling_mode_mean_sqrt_len_tokens"] = False
            path.write_text(
                json.dumps({"word_embedding_dimension": said["embedding_dimension"], **flags})
            )

    def edit_tokenizer(self, folder: Path) -> None:
        """As earlier versions wrote its files, or with files that contradict each other."""
        config, whole = folder / "tokenizer_config.json", folder / "tokenizer.json"
        words = json.loads(whole.read_text())
        listed = sorted(words["model"]["vocab"], key=words["model"]["vocab"].__getitem__)
        layout = self.random.choice(["today", "both", "vocab.txt"])
        kinds = ["BertTokenizer", "BertTokenizerFast", "DistilBertTokenizer"]
        if layout != "vocab.txt":
            kinds.append("PreTrainedTokenizerFast")
        others = ("BertJapaneseTokenizer", "RobertaTokenizer", "XLMRobertaTokenizer")
        self.edit(config, tokenizer_class=self.pick("tokenizer_class", kinds, *others))
        if layout != "today":
            (folder / "vocab.txt").write_text("\n".join(listed) + "\n", encoding="utf-8")
        if layout == "vocab.txt":
            whole.unlink()
            added = [token for token in words["added_tokens"] if token["content"] not in listed]
            if added:  # vocab.txt has no place for them
                self.unusual += ["added_tokens.json", "extra_special_tokens"]
                said = {token["content"]: token["id"] for token in added}
                (folder / "added_tokens.json").write_text(json.dumps(said))
        elif self.pick("do_lower_case", [False], True):
            words["normalizer"]["lowercase"] ^= True
            whole.write_text(json.dumps(words))


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
