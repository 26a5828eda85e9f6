"""The tokenizer in a model's folder, as `transformers` writes it today and wrote it earlier.

Today `tokenizer.json` holds all of it; an older folder has `vocab.txt`. What the files beside it
say is supported, or an error names it; none may contradict another.
"""

import json
import os
import warnings
from pathlib import Path
from reprlib import repr as short
from typing import Any

from bertlab._files import check_options, read_object
from bertlab.tokenizers.encoding import CLS, MASK, PAD, SEP, UNKNOWN
from bertlab.tokenizers.pieces import CONTINUES
from bertlab.tokenizers.vocab_txt import read_vocab
from bertlab.tokenizers.wordpiece import WordPiece

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
    if kind is not None and plain(kind) not in (*ALIKE, *GENERAL):
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
    kind = plain(said.get("tokenizer_class"))
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


def plain(kind: Any) -> str:
    """The name of a class of tokenizers, without the ending of the faster ones."""
    return str(kind).removesuffix("Fast")
