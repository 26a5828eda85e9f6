"""Files of tokenizers: Hugging Face's `tokenizer.json`, BERT's older `vocab.txt`, and folders.

A part of a `tokenizer.json`, such as the normalizer, is an object with a type and options. For each
option there is a list of the supported values; a file with any other option is rejected, by an
error that names it. `None` among the values means that the file may also omit the option, as files
of older versions do. In `vocab.txt` a token's id is the number of its line, from 0.

A model's folder has a `tokenizer.json` today; an older folder has `vocab.txt`. What the files
beside it say is supported, or an error names it; none may contradict another.
"""

import json
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from reprlib import repr as short
from typing import Any

from bertlab._files import (
    check_no_folder,
    check_options,
    read_json,
    read_object,
    write_atomically,
)
from bertlab.tokenizers.bpe import BPE
from bertlab.tokenizers.byte_bpe import ByteBPE
from bertlab.tokenizers.tokenizer import Tokenizer
from bertlab.tokenizers.wordpiece import WordPiece
from bertlab.tokenizers.words import CLS, CONTINUES, MASK, PAD, SEP, UNKNOWN, normalize, split_words

Options = dict[str, Sequence[Any]]

PARTS = (
    *("truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer"),
    *("post_processor", "decoder", "model"),
)

EITHER = (None, False, True)  # an option without effect in its part
BYTE_LEVEL: Options = {
    "add_prefix_space": (False,),
    "trim_offsets": EITHER,  # only has an effect in the post-processor
    "use_regex": (None, True),
}
BYTE_DECODER: Options = dict.fromkeys(BYTE_LEVEL, EITHER)
BYTE_POST_PROCESSOR: Options = BYTE_DECODER | {"trim_offsets": (False,)}
BPE_MODEL: Options = {
    "dropout": (None, 0),
    "continuing_subword_prefix": (None, ""),
    "fuse_unk": (None, False),
    "byte_fallback": (None, False),
    "ignore_merges": (None, False),
}
WORDPIECE_MODEL: Options = {
    "unk_token": (UNKNOWN,),
    "continuing_subword_prefix": (CONTINUES,),
}
WORDPIECE_ENTRIES = ("vocab", "merges", "gains", "max_input_chars_per_word")
# Clean-up joins English punctuation to the word before it; `read` warns that we do not.
WORDPIECE_DECODER: Options = {"prefix": (CONTINUES,), "cleanup": (False, True)}
BERT_NORMALIZER: Options = {
    "clean_text": (True,),
    "handle_chinese_chars": (True,),
    "strip_accents": EITHER,
    "lowercase": (False, True),
}
SPECIAL_TOKEN: Options = {
    **dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), (False,)),
    "special": (True,),
}
BERT_WORDS = {"type": "BertPreTokenizer"}  # Hugging Face's name for `words.split_words`


def bpe_model(tokenizer: BPE | ByteBPE, unknown: str | None, mark: str | None) -> dict[str, Any]:
    """The model part of a BPE tokenizer, on characters or on bytes; mark: of the end of a word."""
    return {
        "type": "BPE",
        "dropout": None,
        "unk_token": unknown,
        "continuing_subword_prefix": None,
        "end_of_word_suffix": mark,
        "fuse_unk": False,
        "byte_fallback": False,
        "ignore_merges": False,
        "vocab": dict(tokenizer.vocab),
        "merges": [list(pair) for pair in tokenizer.merges],
    }


def template(ids: Mapping[str, int]) -> dict[str, Any]:
    """BERT's template, [CLS] A [SEP] B [SEP], as Hugging Face writes it.

    ids: token -> id, with [CLS] and [SEP].
    """

    def special(token: str, segment: int) -> dict[str, Any]:
        return {"SpecialToken": {"id": token, "type_id": segment}}

    single = [special(CLS, 0), {"Sequence": {"id": "A", "type_id": 0}}, special(SEP, 0)]
    second = [{"Sequence": {"id": "B", "type_id": 1}}, special(SEP, 1)]
    return {
        "type": "TemplateProcessing",
        "single": single,
        "pair": single + second,
        "special_tokens": {
            token: {"id": token, "ids": [ids[token]], "tokens": [token]} for token in (CLS, SEP)
        },
    }


JSON_NAMES = {dict: "JSON object", list: "list", str: "string", int: "whole number"}


class TokenizerFile:
    """The content of a `tokenizer.json`; all methods raise ValueErrors that name the file.

    model_type: Hugging Face's name for the kind of model; parts: the content of the file, None for
    a missing part; model: one of them.

    Raises FileNotFoundError, or ValueError that names the fault: truncated, of another kind, or
    without a part that every model has. Warns of what is left to the caller: truncation, padding
    and the decoder's clean-up, which published files request.
    """

    def __init__(self, path: str | os.PathLike, model_type: str) -> None:
        content = read_json(path)
        found = content if isinstance(content, dict) else {}
        self.path = path
        self.parts: dict[str, Any] = {**dict.fromkeys(PARTS), **found}
        self.model: dict[str, Any] = self.parts["model"]
        if not isinstance(self.model, dict) or "vocab" not in self.model:
            raise ValueError(f"{path} is not a tokenizer.json: it has no model with a vocabulary")
        kind = self.model.get("type")
        if kind != model_type:
            kind = kind if isinstance(kind, str) else short(kind)
            raise ValueError(f"{path} holds a {kind} model; expected {model_type}")
        self._expect_options("entry", found, {"version": (None, "1.0")}, others=PARTS)
        self.entry("model", self.model, "vocab", dict)
        self.entry("the file", found, "added_tokens", list)
        self._tell_what_is_left_out()

    def expect(
        self,
        name: str,
        kind: str | None,
        options: Options | None = None,
        *,
        others: Sequence[str] = (),
        optional: bool = False,
    ) -> None:
        """Raise ValueError unless a part is of `kind` and has only supported options.

        name: of the part; kind: its type, None if the part must be missing; options: the values
        that each may have; others: entries that the caller checks; optional: the part may be
        missing.
        """
        part = self.parts[name.replace("-", "_")]
        if part is None and (kind is None or optional):
            return
        if kind is None or not isinstance(part, dict) or part.get("type") != kind:
            found = part.get("type") if isinstance(part, dict) else part
            raise ValueError(
                f"{self.path} has the {name} {short(found)}, which our tokenizers do not have; "
                f"expected {kind or 'none'}"
            )
        self._expect_options(f"{name}'s", part, options or {}, others=("type", *others))

    def entry(self, where: str, part: Mapping[str, Any], name: str, kind: type) -> Any:
        """An entry of a part of the file; ValueError if it is missing or not of `kind`."""
        found = part.get(name)
        if not isinstance(found, kind) or (kind is int and isinstance(found, bool)):
            got = short(found) if name in part else "no such entry"
            raise ValueError(
                f"{self.path}: {name} of {where} must be a {JSON_NAMES[kind]}; got {got}"
            )
        return found

    def common(self, *, mark: str = "") -> dict[str, Any]:
        """The fields that every kind of tokenizer reads in the same way.

        mark: what a piece may have before or after its letters, such as "##".

        Raises ValueError for added tokens with options that we do not have, and for a
        post-processor other than BERT's.
        """
        # Older files write a merge as a string, "a b", newer ones as a pair.
        merges = [
            tuple(rule.split(" ")) if isinstance(rule, str) else rule
            for rule in self.entry("model", self.model, "merges", list)
            if not (isinstance(rule, str) and rule.startswith("#version"))
        ]
        vocab = dict(self.model["vocab"])
        free = len(vocab)  # the id of the next new token in Hugging Face's library
        special: dict[str, int] = {}
        for token in self.parts["added_tokens"]:
            name, id = self._added(token)
            if name in special:
                raise ValueError(f"{self.path}: added_tokens holds {name!r} twice")
            if name not in vocab:
                rest = name.removeprefix(mark).removesuffix(mark)
                if len(split_words(rest)) < 2:
                    raise ValueError(
                        f"{self.path}: added_tokens has {name!r}, which is not in the model's "
                        "vocab and could be taken for a piece of a word; add it to both or "
                        "rename it"
                    )
                vocab[name], free = free, free + 1
            if id != vocab[name]:
                raise ValueError(
                    f"{self.path}: added_tokens gives {name!r} the id {id}, but the vocab has it "
                    f"as {vocab[name]}; make them equal"
                )
            special[name] = id
        return {
            "vocab": vocab,
            "merges": merges,
            "special_tokens": tuple(special),
            "adds_special_tokens": self._adds_special_tokens(special),
        }

    def _expect_options(
        self, whose: str, part: Mapping[str, Any], options: Options, *, others: Sequence[str]
    ) -> None:
        """Raise ValueError if an option's value is not among those of `options`.

        whose: the words before the option's name; others: entries that the caller checks.
        """
        for option, values in options.items():
            found = part.get(option)
            if not any(_same(found, value) for value in values):
                missing = "" if option in part else " (it is missing)"
                raise ValueError(
                    f"{self.path} has the {whose} {option} {short(found)}{missing}, which our "
                    f"tokenizers do not support; expected {' or '.join(map(repr, values))}"
                )
        unknown = [entry for entry in part if entry not in options and entry not in others]
        if unknown:
            raise ValueError(
                f"{self.path} has the {whose} {unknown[0]} {short(part[unknown[0]])}, an option "
                f"that our tokenizers do not know; expected none but "
                f"{', '.join([*options, *others])}"
            )

    def _added(self, token: Any) -> tuple[str, int]:
        """An added token and its id, if it is an ordinary special token."""
        if not isinstance(token, dict):
            raise ValueError(f"{self.path}: added_tokens must hold objects; got {short(token)}")
        name = self.entry("added_tokens", token, "content", str)
        if not name:
            raise ValueError(f"{self.path}: content of added_tokens must not be empty")
        if token.get("special") is not True:
            raise ValueError(
                f"{self.path} adds the token {name!r}, which is not a special one (special is "
                f"{short(token.get('special'))}); expected special tokens alone"
            )
        whose = f"added token {name!r}'s"
        self._expect_options(whose, token, SPECIAL_TOKEN, others=("id", "content"))
        return name, self.entry(f"the added token {name!r}", token, "id", int)

    def _adds_special_tokens(self, special: Mapping[str, int]) -> bool:
        """Whether the post-processor adds [CLS] and [SEP]; any other is rejected."""
        found = self.parts["post_processor"]
        if found is None:
            return False
        kind = found.get("type") if isinstance(found, dict) else found
        if kind == "ByteLevel":
            self.expect("post-processor", kind, BYTE_POST_PROCESSOR)
            return False
        wanted = None
        if CLS in special and SEP in special:
            if kind == "TemplateProcessing":
                wanted = template(special)
            if kind == "BertProcessing":
                wanted = {"type": kind, "cls": [CLS, special[CLS]], "sep": [SEP, special[SEP]]}
        if found != wanted:
            wrong = [name for name, value in (wanted or {}).items() if found.get(name) != value]
            named = f" with {wrong[0]} {short(found.get(wrong[0]))}" if wrong else ""
            raise ValueError(
                f"{self.path} has the post-processor {short(kind)}{named}; expected BERT's, [CLS] "
                "before and [SEP] after a text, both of them added special tokens, or none"
            )
        return True

    def _tell_what_is_left_out(self) -> None:
        """Warn of options that do not affect how text is cut and that the caller must request."""
        said = {part: self.parts[part] for part in ("truncation", "padding")}
        decoder = self.parts["decoder"]
        if isinstance(decoder, dict) and decoder.get("cleanup"):
            said["decoder's cleanup"] = True
        told = [f"{name} {short(value)}" for name, value in said.items() if value is not None]
        if told:
            warnings.warn(
                f"{self.path} asks for {', '.join(told)}, which is ignored; for truncation give "
                "encode a max_length",
                stacklevel=6,
            )


def _same(found: Any, value: Any) -> bool:
    """Equal, and booleans only equal booleans: 0 is not False."""
    return found == value and isinstance(found, bool) == isinstance(value, bool)


def read_vocab(path: str | os.PathLike) -> dict[str, int]:
    """Token -> id, as `WordPiece.from_vocab` reads it; a byte-order mark is not part of a token."""
    try:
        lines = check_no_folder(path).read_text(encoding="utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path} is not a vocabulary: it is not UTF-8 ({error}); save it as UTF-8"
        ) from error
    tokens = [line.removesuffix("\r") for line in lines]
    if tokens[-1] == "":
        tokens.pop()
    vocab = {token: id for id, token in enumerate(tokens)}
    if len(vocab) < len(tokens) or UNKNOWN not in vocab:
        fault = "a token occurs twice" if len(vocab) < len(tokens) else "it has no [UNK]"
        raise ValueError(f"{path} is not a vocabulary: {fault}; expected one token per line")
    for token in tokens:  # with something invisible around it, [PAD] would be an ordinary token
        bare = normalize(token, lowercase=False).strip() if "]" in token else token
        if bare != token and bare in (PAD, UNKNOWN, CLS, SEP, MASK):
            raise ValueError(
                f"{path}: line {vocab[token] + 1} holds {token!r}, which is {bare} and something "
                "invisible; remove what is around it"
            )
    return vocab


def write_vocab(path: str | os.PathLike, vocab: Mapping[str, int]) -> Path:
    """Write the tokens in the order of ids, as in `WordPiece.save_vocab`; returns the path."""
    ordered = sorted(vocab, key=vocab.__getitem__)
    gaps = [line for line, token in enumerate(ordered) if vocab[token] != line]
    if gaps:
        raise ValueError(
            f"save_vocab: vocab must use every id from 0 to {len(ordered) - 1}, since in vocab.txt "
            f"a token's id is the number of its line; no token has the id {gaps[0]}; `save` writes "
            "the ids themselves"
        )
    broken = [token for token in ordered if "\n" in token or "\r" in token]
    if broken:
        raise ValueError(
            f"save_vocab: the token {broken[0]!r} holds a line break, so that it would be two "
            "lines of vocab.txt; `save` writes it whole"
        )
    return write_atomically(path, "\n".join(ordered) + "\n")


NORMALIZER = {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True}
BYTE_WORDS: dict[str, Any] = {  # Hugging Face's name for `split_byte_words`
    "type": "ByteLevel",
    "add_prefix_space": False,
    "trim_offsets": False,
    "use_regex": True,
}


def bpe_parts(tokenizer: BPE) -> dict[str, Any]:
    """What a `tokenizer.json` says of a BPE."""
    mark, unknown = tokenizer.end_of_word, UNKNOWN if UNKNOWN in tokenizer.vocab else None
    return {
        "normalizer": None,
        "pre_tokenizer": BERT_WORDS,
        "decoder": {"type": "BPEDecoder", "suffix": mark} if mark else None,
        "model": bpe_model(tokenizer, unknown, mark or None),
    }


def read_bpe(path: str | os.PathLike) -> dict[str, Any]:
    """The fields of a BPE."""
    file = TokenizerFile(path, "BPE")
    model = file.model
    file.expect("normalizer", None)
    file.expect("pre-tokenizer", "BertPreTokenizer")
    # Without an unk_token, Hugging Face skips unknown characters, even if there is an [UNK].
    unknown: Options = {"unk_token": (UNKNOWN if UNKNOWN in model["vocab"] else None,)}
    others = ("vocab", "merges", "end_of_word_suffix")
    file.expect("model", "BPE", BPE_MODEL | unknown, others=others)
    mark = ""
    if model.get("end_of_word_suffix") is not None:
        mark = file.entry("model", model, "end_of_word_suffix", str)
    suffix: Options = {"suffix": (mark,)}
    file.expect("decoder", "BPEDecoder" if mark else None, suffix, optional=True)
    return {"end_of_word": mark, **file.common(mark=mark)}


def byte_bpe_parts(tokenizer: ByteBPE) -> dict[str, Any]:
    """What a `tokenizer.json` says of a ByteBPE."""
    return {
        "normalizer": None,
        "pre_tokenizer": BYTE_WORDS,
        "decoder": BYTE_WORDS,
        "model": bpe_model(tokenizer, None, None),
    }


def read_byte_bpe(path: str | os.PathLike) -> dict[str, Any]:
    """The fields of a ByteBPE."""
    file = TokenizerFile(path, "BPE")
    file.expect("normalizer", None)
    file.expect("pre-tokenizer", "ByteLevel", BYTE_LEVEL)
    options = BPE_MODEL | {"end_of_word_suffix": (None, "")}
    # With any unk_token: if all bytes are in the vocabulary, nothing is unknown.
    file.expect("model", "BPE", options, others=("vocab", "merges", "unk_token"))
    if file.model.get("unk_token") is not None:
        file.entry("model", file.model, "unk_token", str)
    file.expect("decoder", "ByteLevel", BYTE_DECODER, optional=True)
    return file.common()


def wordpiece_parts(tokenizer: WordPiece) -> dict[str, Any]:
    """What a `tokenizer.json` says of a WordPiece."""
    return {
        "normalizer": NORMALIZER
        | {"lowercase": tokenizer.lowercase, "strip_accents": tokenizer.strip_accents},
        "pre_tokenizer": BERT_WORDS,
        "decoder": {"type": "WordPiece", "prefix": CONTINUES, "cleanup": False},
        "model": {
            "type": "WordPiece",
            "unk_token": UNKNOWN,
            "continuing_subword_prefix": CONTINUES,
            "max_input_chars_per_word": tokenizer.longest_word,
            "vocab": dict(tokenizer.vocab),
            # Hugging Face's library ignores these two.
            "merges": [list(pair) for pair in tokenizer.merges],
            "gains": list(tokenizer.gains),
        },
    }


def read_wordpiece(path: str | os.PathLike) -> dict[str, Any]:
    """The fields of a WordPiece."""
    file = TokenizerFile(path, "WordPiece")
    model = file.model
    file.expect("normalizer", "BertNormalizer", BERT_NORMALIZER)
    file.expect("pre-tokenizer", "BertPreTokenizer")
    file.expect("model", "WordPiece", WORDPIECE_MODEL, others=WORDPIECE_ENTRIES)
    if UNKNOWN not in model["vocab"]:
        raise ValueError(f"{path}: vocab of the model must hold its unk_token, {UNKNOWN}")
    file.expect("decoder", "WordPiece", WORDPIECE_DECODER, optional=True)
    for name in ("merges", "gains"):  # which only our files have
        model.setdefault(name, [])
    return {
        "lowercase": file.parts["normalizer"]["lowercase"],
        "strip_accents": file.parts["normalizer"].get("strip_accents"),
        "longest_word": model.get("max_input_chars_per_word"),
        "gains": file.entry("model", model, "gains", list),
        **file.common(mark=CONTINUES),
    }


# How each kind of tokenizer is written and read; of a class of the reader's own, its parent's.
KINDS: dict[type[Tokenizer], tuple[Callable[[Any], dict], Callable[[Any], dict]]] = {
    BPE: (bpe_parts, read_bpe),
    ByteBPE: (byte_bpe_parts, read_byte_bpe),
    WordPiece: (wordpiece_parts, read_wordpiece),
}


def save(tokenizer: Tokenizer, path: str | os.PathLike) -> Path:
    """Write a `tokenizer.json`, as `Tokenizer.save`."""
    parts_of, _ = next(KINDS[kind] for kind in type(tokenizer).mro() if kind in KINDS)
    parts = parts_of(tokenizer)
    special = {token: tokenizer.vocab[token] for token in tokenizer.special_tokens}
    flags = {option: values[0] for option, values in SPECIAL_TOKEN.items()}
    content = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {"id": id, "content": token, **flags}
            for token, id in sorted(special.items(), key=lambda item: item[1])
        ],
        "normalizer": parts["normalizer"],
        "pre_tokenizer": parts["pre_tokenizer"],
        "post_processor": template(special) if tokenizer.adds_special_tokens else None,
        "decoder": parts["decoder"],
        "model": parts["model"],
    }
    return write_atomically(path, json.dumps(content, ensure_ascii=False, indent=2))


def fields_of(kind: type[Tokenizer], path: str | os.PathLike) -> dict[str, Any]:
    """What a `tokenizer.json` says about a tokenizer of a kind, for `Tokenizer.load`."""
    _, read = next(KINDS[one] for one in kind.mro() if one in KINDS)
    return read(path)


WHOLE, CONFIG, ADDED = "tokenizer.json", "tokenizer_config.json", "added_tokens.json"
# Classes of `transformers` that cut a text as BERT's does, with its defaults for the case.
ALIKE = ("BertTokenizer", "DistilBertTokenizer", "ElectraTokenizer", "MobileBertTokenizer")
CASE: dict[str, Any] = {"do_lower_case": True, "strip_accents": None}
GENERAL = ("PreTrainedTokenizer", "TokenizersBackend")  # leave everything to tokenizer.json
NAMES = {f"{token.strip('[]').lower()}_token": token for token in (UNKNOWN, SEP, PAD, CLS, MASK)}
LISTS = (  # of further tokens
    "additional_special_tokens",
    "extra_special_tokens",
    "model_specific_special_tokens",
    "added_tokens_decoder",
)
# The supported options of tokenizer_config.json about how a text is cut; others without effect.
OPTIONS: dict[str, Any] = {
    "do_lower_case": (True, False),
    "strip_accents": (None, True, False),
    **dict.fromkeys(("tokenize_chinese_chars", "clean_text", "do_basic_tokenize"), (True,)),
    **dict.fromkeys(("do_word_tokenize", "do_subword_tokenize"), (True,)),
    "word_tokenizer_type": (None, "basic"),
    "subword_tokenizer_type": (None, "wordpiece"),
    "never_split": (None, []),
    "wordpieces_prefix": (CONTINUES,),
    **dict.fromkeys(("split_special_tokens", "add_prefix_space"), (None, False)),
    **dict.fromkeys(("add_bos_token", "add_eos_token"), (None, False)),
    **dict.fromkeys(("padding_side", "truncation_side"), ("right",)),
    "auto_map": (None,),  # a class of the folder's own
}
OTHERS = {
    *("_commit_hash", "backend", "chat_template", "clean_up_tokenization_spaces", "errors"),
    *("init_inputs", "is_local", "local_files_only", "max_len", "max_length", "model_input_names"),
    *("model_max_length", "name_or_path", "pad_to_multiple_of", "pad_token_type_id", "verbose"),
    *("processor_class", "special_tokens_map_file", "stride", "tokenizer_class", "tokenizer_file"),
    *("trim_offsets", "truncation_strategy", "use_fast"),
}


def load_tokenizer(folder: str | os.PathLike) -> WordPiece:
    """The tokenizer beside a model: `tokenizer.json`, or `vocab.txt` in older folders.

    `vocab.txt` alone is uncased, as most published models are, unless `tokenizer_config.json` says
    otherwise. Truncation and padding are left to the caller, as in `transformers`.

    Raises FileNotFoundError if the folder has neither, ValueError if a file is damaged, has an
    option that WordPiece does not have, or contradicts another file. Warns of options in
    `tokenizer_config.json` that are not known.
    """
    folder = Path(folder)
    said = read_config(folder)
    whole, text = folder / WHOLE, folder / "vocab.txt"
    if whole.is_file():
        with warnings.catch_warnings():  # `load` tells what is left to the caller
            warnings.simplefilter("ignore")
            tokenizer = WordPiece.load(whole)
        check_agreement(folder, said, tokenizer)
    elif text.is_file():
        lowercase, accents = (said.get(name, CASE[name]) for name in CASE)
        tokenizer = WordPiece.from_vocab(text, lowercase=lowercase, strip_accents=accents)
    else:
        raise FileNotFoundError(f"load_tokenizer: {folder} holds no {WHOLE} and no vocab.txt")
    for name in (CONFIG, "special_tokens_map.json", ADDED):
        check_tokens(folder / name, tokenizer)
    return tokenizer


def read_config(folder: Path) -> dict[str, Any]:
    """What `tokenizer_config.json` says, each option checked by itself."""
    path = folder / CONFIG
    said = read_object(path)
    check_options(path, {name: said[name] for name in said.keys() & OPTIONS.keys()}, OPTIONS)
    kind = said.get("tokenizer_class") or read_object(folder / "config.json").get("tokenizer_class")
    if kind is not None and plain_name(kind) not in (*ALIKE, *GENERAL):
        raise ValueError(
            f"{path}: tokenizer_class must be one that cuts a text as BERT's does, "
            f"{', '.join(ALIKE)}; got {short(kind)}"
        )
    others = said.keys() - {*OPTIONS, *OTHERS, *LISTS}
    if unknown := sorted(name for name in others if not name.endswith("_token")):
        what = f"{path}: unknown options, which are ignored: {', '.join(unknown)}"
        warnings.warn(what, stacklevel=3)
    return said


def check_agreement(folder: Path, said: dict[str, Any], tokenizer: WordPiece) -> None:
    """Raise ValueError if a file beside `tokenizer.json` contradicts the tokenizer that it holds.

    said: the content of `tokenizer_config.json`.
    """
    path, text = folder / CONFIG, folder / "vocab.txt"
    kind = plain_name(said.get("tokenizer_class"))
    lowercase, accents = tokenizer.lowercase, tokenizer.strip_accents
    for name, held in (("do_lower_case", lowercase), ("strip_accents", accents)):
        default = CASE[name] if said and kind not in GENERAL else held
        asked = said.get(name, default)
        # For accents, null means the case.
        if asked != held and not (name == "strip_accents" and {asked, held} == {None, lowercase}):
            raise ValueError(
                f"{path}: {name} {'is' if name in said else 'is missing and means'} "
                f"{json.dumps(asked)}, but {WHOLE} has {json.dumps(held)}; make them equal"
            )
    if kind in ALIKE and not tokenizer.adds_special_tokens:
        raise ValueError(
            f"{path}: a {kind} adds {CLS} and {SEP}, but {WHOLE} has no post_processor that does"
        )
    words = read_vocab(text) if text.is_file() else tokenizer.vocab
    differ = [token for token, id in words.items() if tokenizer.vocab.get(token) != id]
    differ += set(tokenizer.vocab) - set(words) - set(tokenizer.special_tokens)
    if differ:
        raise ValueError(
            f"{text} and {WHOLE} must have the same tokens and ids; they differ in {differ[0]!r}; "
            "remove the file that does not belong to the model"
        )


def check_tokens(path: Path, tokenizer: WordPiece) -> None:
    """Raise ValueError unless each token that a file names is a special one of the tokenizer."""
    for option, token in named_tokens(path):
        content = token.get("content") if isinstance(token, dict) else token
        flags = token if isinstance(token, dict) else {}
        wrong = [
            name for name in ("single_word", "lstrip", "rstrip", "normalized") if flags.get(name)
        ]
        fault = f"{wrong[0]} true, which our tokenizers do not support" if wrong else ""
        if content != NAMES.get(option, content):
            fault = f"the name {content!r}; BERT's is {NAMES[option]}"
        elif content not in tokenizer.special_tokens:
            fault = f"{content!r}, which is not a special token of the {WHOLE} or vocab.txt"
        if fault:
            raise ValueError(f"{path}: {option} has {fault}")


def named_tokens(path: Path) -> list[tuple[str, Any]]:
    """The tokens that a file names, each with its option."""
    said = read_object(path)
    if path.name == ADDED:
        return [("the file", token) for token in said]
    named: list[tuple[str, Any]] = []
    for name, value in said.items():
        if name in LISTS:
            values = value.values() if isinstance(value, dict) else value or ()
            named += [(name, token) for token in values]
        elif name.endswith("_token") and not isinstance(value, bool | None):
            named.append((name, value))
    return named


def plain_name(kind: Any) -> str:
    """The name of a class of tokenizers, without the ending of the faster ones."""
    return str(kind).removesuffix("Fast")
