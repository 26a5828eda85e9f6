"""Hugging Face's `tokenizer.json`: the file that our tokenizers read.

Each option of a file is either supported or an error that names it (`file_options.py`).
"""

import os
import warnings
from collections.abc import Mapping, Sequence
from reprlib import repr as short
from typing import Any

from bertlab._files import read_json
from bertlab.tokenizers.encoding import CLS, SEP
from bertlab.tokenizers.file_options import BYTE_POST_PROCESSOR, PARTS, SPECIAL_TOKEN, Options
from bertlab.tokenizers.tokenizer_json import template
from bertlab.tokenizers.words import split_words

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
                stacklevel=5,
            )


def _same(found: Any, value: Any) -> bool:
    """Equal, and booleans only equal booleans: 0 is not False."""
    return found == value and isinstance(found, bool) == isinstance(value, bool)
