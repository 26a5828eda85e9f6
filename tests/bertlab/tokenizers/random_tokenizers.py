"""Hugging Face tokenizers made at random: every option that their library has, on and off."""

from random import Random

from tokenizers import (
    AddedToken,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
)

from bertlab.tokenizers import BPE, ByteBPE, WordPiece
from tests.bertlab.tokenizers.references import (
    BERT_TOKENS,
    PYTHON_TOPICS,
    model_of,
    train_reference,
)

CORPUS = [*PYTHON_TOPICS[:2], "Café naïve über 你好 ΣΑΣ don't!? 1998"]
FRAGMENTS = [
    *CORPUS[0].split()[:40],
    *["[MASK]", "[CLS]", "[SEP]", "[NEW]", "[mask]", "word", "Word", "unaffable", "don't", "I'll"],
    *["Café", "cafe\u0301", "ÜBER", "你好世界", "жук", "ΟΔΟΣ", "Ġx", "x</w>", "##ing", "1998", "½"],
    *["\t", "\n", "  ", " ", "\u3000", "\x00", "...", "(a)", "«q»", "🙂", "aaaaaaaaaaaa", "<0x41>"],
]


def random_texts(count: int, seed: int = 0) -> list[str]:
    """Short texts with everything that some option cuts differently."""
    random = Random(seed)
    return [
        "".join(
            random.choice(FRAGMENTS) + random.choice(["", " ", " ", "  "])
            for _ in range(random.randint(0, 9))
        )
        for _ in range(count)
    ]


class RandomTokenizers:
    """Makes tokenizers.

    Of the last one `unusual` names the options that we do not have, `left_out` those that do not
    change how text is cut, of which `load` warns.
    """

    def __init__(self, seed: int, rate: float = 0.03) -> None:
        self.random, self.rate = Random(seed), rate
        self.unusual: list[str] = []
        self.left_out: list[str] = []
        names = ("continuing_subword_prefix", "end_of_word_suffix")
        self.learned = {
            marks: self._learn(BPE, BERT_TOKENS, **dict(zip(names, marks, strict=True)))
            for marks in [("", ""), ("", "</w>"), ("##", ""), ("", "x")]
        }
        self.learned_without_unknown = self._learn(BPE, ())
        self.learned_bytes = [self._learn(ByteBPE, special) for special in ((), BERT_TOKENS)]
        self.pieces = WordPiece.train(CORPUS, 400, special_tokens=BERT_TOKENS).vocab

    def make(self) -> tuple[type, Tokenizer]:
        """The kind of ours that should read it, and the tokenizer."""
        self.unusual, self.left_out = [], []
        kind = self.random.choice([BPE, ByteBPE, WordPiece])
        made = {BPE: self._bpe, ByteBPE: self._byte_bpe, WordPiece: self._word_piece}[kind]()
        self._add_tokens(made)
        self._add_post_processor(made)
        if self.random.random() < self.rate:
            made.enable_truncation(self.random.choice([4, 128]))
            self.left_out.append("truncation")
        if self.random.random() < self.rate:
            made.enable_padding(length=self.random.choice([None, 64]))
            self.left_out.append("padding")
        return kind, made

    def pick(self, name: str, usual: list, unusual: list) -> object:
        """One of the usual values, or, rarely, an unusual one, which is then recorded."""
        if self.random.random() >= self.rate:
            return self.random.choice(usual)
        self.unusual.append(name)
        return self.random.choice(unusual)

    def _bpe(self) -> Tokenizer:
        # A prefix or the suffix "x" must be in the merges too, or their library cannot load them.
        marks = self.random.choice([("", ""), ("", "</w>")])
        marks = self.pick("continuing_subword_prefix", [marks], [("##", "")])
        if marks[0] == "":
            marks = self.pick("end_of_word_suffix", [marks], [("", "x")])
        prefix, suffix = marks
        if marks == ("", "") and self.random.random() < 0.2:
            unknown = self.pick("unk_token", [None], ["[UNK]", "<unk>"])
            made = Tokenizer(self._bpe_model(*self.learned_without_unknown, unknown, "", ""))
        else:
            unknown = self.pick("unk_token", ["[UNK]"], ["<unk>", None])
            made = Tokenizer(self._bpe_model(*self.learned[marks], unknown, prefix, suffix))
        made.pre_tokenizer = self.pick(
            "pre-tokenizer", [pre_tokenizers.BertPreTokenizer()], PRE_TOKENIZERS
        )
        self._add_normalizer(made)
        usual = [decoders.BPEDecoder(suffix)] if suffix else []
        self._add_decoder(made, usual, [decoders.BPEDecoder("</v>"), decoders.WordPiece()])
        return made

    def _byte_bpe(self) -> Tokenizer:
        unknown = self.random.choice([None, "[UNK]", "<unk>"])  # no text holds anything unknown
        learned = self.random.choice(self.learned_bytes)
        made = Tokenizer(self._bpe_model(*learned, unknown, "", ""))
        made.pre_tokenizer = pre_tokenizers.ByteLevel(
            add_prefix_space=self.pick("add_prefix_space", [False], [True]),
            trim_offsets=self.random.choice([False, True]),
            use_regex=self.pick("use_regex", [True], [False]),
        )
        if self.random.random() < self.rate:
            made.pre_tokenizer = self.pick("pre-tokenizer", PRE_TOKENIZERS, PRE_TOKENIZERS)
            self.unusual.append("pre-tokenizer")
        self._add_normalizer(made)
        self._add_decoder(made, [decoders.ByteLevel()], [decoders.Fuse(), decoders.WordPiece()])
        return made

    def _bpe_model(
        self, vocab: dict, merges: list, unknown: str | None, prefix: str, suffix: str
    ) -> models.BPE:
        options = {
            "unk_token": unknown,
            "dropout": self.pick("dropout", [None, 0.0], [0.1, 1.0]),
            "continuing_subword_prefix": prefix or self.random.choice([None, ""]),
            "end_of_word_suffix": suffix or self.random.choice([None, ""]),
            "fuse_unk": self.pick("fuse_unk", [False], [True]),
            "byte_fallback": self.pick("byte_fallback", [False], [True]),
            "ignore_merges": self.pick("ignore_merges", [False], [True]),
        }
        given = {name: value for name, value in options.items() if value is not None}
        return models.BPE(vocab=vocab, merges=merges, **given)

    def _word_piece(self) -> Tokenizer:
        made = Tokenizer(
            models.WordPiece(
                vocab=dict(self.pieces),
                unk_token=self.pick("unk_token", ["[UNK]"], ["<unk>", "[PAD]"]),
                max_input_chars_per_word=self.random.choice([0, 3, 10, 100, 1000]),
                continuing_subword_prefix=self.pick(
                    "continuing_subword_prefix", ["##"], ["@@", ""]
                ),
            )
        )
        made.normalizer = normalizers.BertNormalizer(
            clean_text=self.pick("clean_text", [True], [False]),
            handle_chinese_chars=self.pick("handle_chinese_chars", [True], [False]),
            strip_accents=self.random.choice([None, False, True]),
            lowercase=self.random.choice([False, True]),
        )
        if self.random.random() < self.rate:
            self.unusual.append("normalizer")
            made.normalizer = self.random.choice(NORMALIZERS)
        made.pre_tokenizer = self.pick(
            "pre-tokenizer", [pre_tokenizers.BertPreTokenizer()], PRE_TOKENIZERS
        )
        usual = [decoders.WordPiece("##", cleanup=clean) for clean in (False, True)]
        self._add_decoder(made, usual, [decoders.WordPiece("@@"), decoders.ByteLevel()])
        return made

    def _add_normalizer(self, made: Tokenizer) -> None:
        normalizer = self.pick("normalizer", [None], NORMALIZERS)
        if normalizer is not None:
            made.normalizer = normalizer

    def _add_decoder(self, made: Tokenizer, usual: list, unusual: list) -> None:
        decoder = self.pick("decoder", [None, *usual], unusual)
        if decoder is not None:
            made.decoder = decoder

    def _add_tokens(self, made: Tokenizer) -> None:
        named = [token for token in BERT_TOKENS if made.token_to_id(token) is not None]
        flags = ("normalized", "single_word", "lstrip", "rstrip")
        tokens = [
            AddedToken(
                token, special=True, **{flag: self.pick(flag, [False], [True]) for flag in flags}
            )
            for token in self.random.choice([named, named[:2], [*named, "[NEW]", "<s>"]])
        ]
        made.add_special_tokens(tokens)
        if self.random.random() < self.rate:
            self.unusual.append("special")
            made.add_tokens(["[MINE]", "yours"])
        if self.random.random() < self.rate:
            self.unusual.append("added_tokens")
            made.add_special_tokens(["café"])

    def _add_post_processor(self, made: Tokenizer) -> None:
        added = {token.content for token in made.get_added_tokens_decoder().values()}
        byte_level = processors.ByteLevel(trim_offsets=False)
        trimmed = processors.ByteLevel(trim_offsets=True)
        usual, unusual = [None, byte_level], [trimmed, processors.Sequence([byte_level])]
        if {"[CLS]", "[SEP]"} <= added:
            cls, sep = [(token, made.token_to_id(token)) for token in ("[CLS]", "[SEP]")]
            template = ["[CLS]:0 $A:0 [SEP]:0", "[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1", [cls, sep]]
            usual += [processors.BertProcessing(sep, cls), processors.TemplateProcessing(*template)]
            unusual += [
                processors.BertProcessing(cls, sep),
                processors.BertProcessing(sep, ("[CLS]", 3)),
                processors.RobertaProcessing(sep, cls),
                processors.TemplateProcessing("[SEP] $A [CLS]", *template[1:]),
                processors.TemplateProcessing(template[0], "[CLS] $A $B [SEP]", [cls, sep]),
                processors.TemplateProcessing(*template[:2], [("[CLS]", 3), sep]),
                processors.TemplateProcessing("$A [SEP]", "$A [SEP] $B [SEP]", [sep]),
            ]
        processor = self.pick("post-processor", usual, unusual)
        if processor is not None:
            made.post_processor = processor

    def _learn(self, kind: type, special_tokens: tuple, **marks: str) -> tuple[dict, list]:
        """Vocabulary and merges."""
        given = {name: mark for name, mark in marks.items() if mark}
        options = {"special_tokens": list(special_tokens), **given}
        model = model_of(train_reference(kind, CORPUS, 420, **options))
        return model["vocab"], [tuple(pair) for pair in model["merges"]]


PRE_TOKENIZERS = [
    pre_tokenizers.Whitespace(),
    pre_tokenizers.WhitespaceSplit(),
    pre_tokenizers.Punctuation(),
    pre_tokenizers.Digits(),
    pre_tokenizers.Metaspace(),
    pre_tokenizers.Split(" ", "removed"),
    pre_tokenizers.CharDelimiterSplit("-"),
    pre_tokenizers.UnicodeScripts(),
    pre_tokenizers.FixedLength(),
    pre_tokenizers.Sequence([pre_tokenizers.BertPreTokenizer(), pre_tokenizers.Digits()]),
]
NORMALIZERS = [
    normalizers.NFC(),
    normalizers.NFKD(),
    normalizers.Lowercase(),
    normalizers.StripAccents(),
    normalizers.Strip(),
    normalizers.Replace("a", "b"),
    normalizers.Prepend("_"),
    normalizers.Nmt(),
    normalizers.Sequence([normalizers.NFC()]),
]
