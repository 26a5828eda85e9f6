"""The supported options of a `tokenizer.json`; a file with any other option is rejected.

A part of the file, such as the normalizer, is an object with a type and options. For each option
there is a list of the supported values. `None` among them means that the file may also omit the
option, as files of older versions do.
"""

from collections.abc import Sequence
from typing import Any

from bertlab.tokenizers.encoding import UNKNOWN
from bertlab.tokenizers.pieces import CONTINUES

Options = dict[str, Sequence[Any]]

PARTS = (
    "truncation",
    "padding",
    "added_tokens",
    "normalizer",
    "pre_tokenizer",
    "post_processor",
    "decoder",
    "model",
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
    "single_word": (False,),
    "lstrip": (False,),
    "rstrip": (False,),
    "normalized": (False,),
    "special": (True,),
}
