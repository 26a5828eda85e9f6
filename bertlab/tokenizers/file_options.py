"""What a `tokenizer.json` may say: an option that our tokenizers do not have is refused by name.

A part of the file, such as the normalizer, is an object with a type and options. For each option
there is a list of the values that we carry out. `None` among them means that the file may also
leave the option out, as files of older versions do.
"""

import os
from collections.abc import Mapping, Sequence
from reprlib import repr as short
from typing import Any

from bertlab.tokenizers.encoding import UNKNOWN
from bertlab.tokenizers.pieces import CONTINUES

Options = dict[str, Sequence[Any]]

EITHER = (None, False, True)  # an option that changes nothing where it stands
BYTE_LEVEL: Options = {
    "add_prefix_space": (False,),
    "trim_offsets": EITHER,  # acts in the post-processor alone
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
    "special": (True,),
    "normalized": (False,),
    "single_word": (False,),
    "lstrip": (False,),
    "rstrip": (False,),
}


def expect(
    path: str | os.PathLike,
    name: str,
    part: Any,
    kind: str | None,
    options: Options | None = None,
    *,
    others: Sequence[str] = (),
) -> None:
    """Raise ValueError unless a part of a file is of `kind` and says only what we carry out.

    name: what the part is called; kind: its type, None if there must be no such part; options:
    the values that each may have; others: entries that the caller looks at.
    """
    if part is None and kind is None:
        return
    if kind is None or not isinstance(part, dict) or part.get("type") != kind:
        found = part.get("type") if isinstance(part, dict) else part
        raise ValueError(
            f"{path} has the {name} {short(found)}, which our tokenizers do not have; "
            f"expected {kind or 'none'}"
        )
    expect_options(path, f"{name}'s", part, options or {}, others=("type", *others))


def expect_options(
    path: str | os.PathLike,
    whose: str,
    part: Mapping[str, Any],
    options: Options,
    *,
    others: Sequence[str] = (),
) -> None:
    """Raise ValueError for an option with a value that is not among those of `options`.

    whose: the words before the option's name; others: entries that the caller looks at.
    """
    for option, values in options.items():
        found = part.get(option)
        if not any(_same(found, value) for value in values):
            missing = "" if option in part else " (it is missing)"
            raise ValueError(
                f"{path} has the {whose} {option} {short(found)}{missing}, which our tokenizers "
                f"do not carry out; expected {' or '.join(map(repr, values))}"
            )
    unknown = [entry for entry in part if entry not in options and entry not in others]
    if unknown:
        raise ValueError(
            f"{path} has the {whose} {unknown[0]} {short(part[unknown[0]])}, an option that our "
            f"tokenizers do not know; expected none but {', '.join([*options, *others])}"
        )


def _same(found: Any, value: Any) -> bool:
    """Equal, and true or false only what is written so: 0 is not False."""
    return found == value and isinstance(found, bool) == isinstance(value, bool)
