"""Hugging Face's tokenizers as references: trained on the same texts, and compared with ours."""

import json
import pydoc_data.topics

import pytest
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from bertlab.tokenizers import BPE

PYTHON_TOPICS = list(pydoc_data.topics.topics.values())
spaced = st.text(alphabet="ab1é你 \n\t'.,", max_size=40)
unicode_text = st.text(st.characters(exclude_categories=["Cs", "Cn"]), max_size=40)
BERT_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
# Texts that tokenizers get wrong.
ADVERSARIAL = {
    "control characters": "\x00a\x01b\x7f \x1b[0m bell\x07 \x0bvertical\x0cfeed \x85next",
    "white space of all kinds": "  \t\n\r a\u2028b\u2029c\u3000d\xa0e\u1680f\u2003g\u202fh ",
    "format characters": "soft\xadhyphen \ufeffmark word\u2060joiner left\u200eright \u180e",
    "zero-width joiners": "a\u200db\u200cc\u200bd 👩\u200d👩\u200d👧 क्\u200dष",
    "combining marks": "e\u0301 \u0301 \u0301\u0301a ab\u0301 a" + "\u0300" * 200 + "b ё й",
    "replacement characters": "\ufffd\ufffdx y\ufffd",
    "Chinese": "你好world世界 𠀀𠮷 㐀 豈",
    "Japanese and Korean": "日本語のテキスト カタカナ 한국어 각각 한",
    "private use": "\ue000private \U000f0000",
    "beyond the first plane": "😀 𝒜𝔘 𐐷 🇦🇪 🏳️‍🌈",
    "ninety-nine to a hundred and one": " ".join(["x" * 99, "y" * 100, "z" * 101]),
    "a hundred, once accents are gone": "é" * 100 + " " + "é" * 101,
    "a word of ten thousand": "ab" * 5_000,
    "letters that change in lower case": "İstanbul ΣΑΣ ΟΔΟΣ straße ẞ Ǆ ǅ ﬁ K Å",
    "accents": "naïve café résumé ÅÄÖ ñ Ørsted Łódź Việt",
    "punctuation": "don't stop--now... (a)[b]{c} “quotes” ‘x’ — – … ¿que? «x» 「y」 。",
    "signs": "$100+5=105<200>^`|~ €5 £6 ½ ² ① ° © ± ×",
    "special tokens": "[CLS] hello [SEP][MASK]ok [mask] [UNK] [PAD]x [SEP",
    "marks of a piece": "##ing ## # word##s",
    "nothing": "",
    "white space alone": " \n ",
    "right to left": "שָׁלוֹם ـــ السلام عليكم",
    "scripts with marks": "नमस्ते दुनिया ที่นี่ ภาษาไทย தமிழ் বাংলা",
    "wide forms": "１２３ ＡＢＣ ｶﾀｶﾅ",
}


def train_reference(kind, texts, vocab_size, **options):
    """Their counterpart of BPE or ByteBPE."""
    if kind is BPE:
        reference = Tokenizer(models.BPE(unk_token="[UNK]"))
        reference.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        options = {"special_tokens": ["[UNK]"]} | options
    else:
        reference = Tokenizer(models.BPE())
        reference.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        options["initial_alphabet"] = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=vocab_size, show_progress=False, **options)
    reference.train_from_iterator(texts, trainer)
    return reference


def model_of(reference):
    """The model's part of their file."""
    return json.loads(reference.to_str())["model"]


def assert_same_model(ours, reference):
    model = model_of(reference)
    assert dict(ours.vocab) == model["vocab"]
    assert [list(pair) for pair in ours.merges] == model["merges"]


def assert_same(got, expected):
    """Of one encoded text or pair."""
    assert got.ids == expected.ids
    assert got.tokens == expected.tokens
    assert got.segment_ids == expected.type_ids
    assert got.offsets == expected.offsets
    assert len(got) == len(expected.ids)


class Column:
    """A column of a sorted table: as in pandas, `column[0]` is not its first entry but its last."""

    def __init__(self, values):
        self.rows = list(values)

    def __len__(self):
        return len(self.rows)

    def __iter__(self):
        return iter(self.rows)

    def __getitem__(self, label):
        return self.rows[-1 - label]


class Table:
    """A table as pandas has it: a loop over it gives the names of its columns."""

    columns = property(lambda self: ["text", "label"])

    def __iter__(self):
        return iter(self.columns)


def pandas_column(values):
    """pandas' own `Column`, where pandas is installed."""
    pandas = pytest.importorskip("pandas")
    return pandas.Series(list(values), range(len(values))[::-1], dtype=object)
