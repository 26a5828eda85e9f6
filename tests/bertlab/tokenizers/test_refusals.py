"""What the tokenizers refuse: each bad call, and its message; files: `test_files.py`."""

import string
from functools import partial

import pytest

from bertlab.tokenizers import BPE, ByteBPE, WordPiece
from bertlab.tokenizers.bpe import learn_merges
from bertlab.tokenizers.byte_bpe import SYMBOL_OF_BYTE
from tests.bertlab.tokenizers.references import BERT_TOKENS

TEXTS = ["cost best menu men camel", "cost best"]
SIZES = {BPE: 25, ByteBPE: 265, WordPiece: 40}
TOKENIZERS = [kind.train(TEXTS, size, special_tokens=BERT_TOKENS) for kind, size in SIZES.items()]
VOCAB = {"a": 0, "b": 1, "ab": 2}
WITH_UNKNOWN = {"[UNK]": 0, "a": 1}
BYTES = {symbol: id for id, symbol in enumerate(SYMBOL_OF_BYTE)}
NAN = float("nan")


def of_every_kind():
    for ours in TOKENIZERS:
        kind, size, train = type(ours), len(ours.vocab), partial(type(ours).train, TEXTS)
        make = partial(kind, ours.vocab)
        short = "max_length must be at least {}.*got {}".format
        yield partial(ours.encode, "text", max_length=1), short(2, 1)
        yield partial(ours.encode, "text", "pair", max_length=2), short(3, 2)
        yield partial(ours.encode, "text", add_special_tokens=False, max_length=-1), short(0, -1)
        for id in (-1, size, 10**6):
            message = f"{kind.__name__}.decode: ids must be from 0 to {size - 1}; got {id}"
            yield partial(ours.decode, [1, id]), message
        yield partial(make, special_tokens=["[NEW]"]), r"'\[NEW\]', which is not in the vocabulary"
        yield partial(kind, {**ours.vocab, "twice": 5}), "an id of its own"
        yield partial(make, adds_special_tokens=True), "one is missing"
        yield partial(train, 300, processes=0), "processes must be at least 1; got 0"
        yield partial(train, 300, special_tokens=["[UNK]", "[UNK]"]), "holds one twice"
        for wrong in (NAN, float("inf"), 300.0, "300", None, True):
            yield partial(train, wrong), f"vocab_size must be a whole number; got {wrong!r}"
        for empty in ([], [""], [" \t\n"]) if kind is not ByteBPE else ([], [""]):
            yield partial(kind.train, empty, 300), "holds no word"


VALUES = [
    *of_every_kind(),
    (partial(BPE.train, TEXTS, 15, tie_break="first"), "\"highest-id\"; got 'first'"),
    (partial(BPE.train, TEXTS, 15, end_of_word="x"), "punctuation mark"),
    (partial(BPE, {"a": 0, "ax": 1}, end_of_word="x"), "end_of_word must hold a punctuation mark"),
    (partial(BPE.train, TEXTS, 11), r"vocab_size must be at least 12.*got 11"),
    (partial(BPE.train(TEXTS, 14, special_tokens=()).encode, "zoo"), r"'z'.*\[UNK\]"),
    (partial(BPE, VOCAB, [("a", "b"), ("a", "c")]), r"merges holds \('a', 'c'\), but 'c' is not"),
    *(
        (partial(BPE, VOCAB, merges), "BPE: merges must be pairs of tokens")
        for merges in (["ab"], ["a b"], "ab", [("a", "b", "ab")], [("a", 1)])
    ),
    *(
        (partial(BPE, vocab), "BPE: vocab must map each token")
        for vocab in (["a"], 3, {"a": "0"}, {"a": True}, {"a": 1.0}, {3: 0})
    ),
    (
        partial(learn_merges, {("m", "e"): 1}, {"m": 0, "e": 1}, 9, tie_break=1),
        'tie_break must be "lowest-id" or "highest-id"; got 1',
    ),
    (partial(ByteBPE.train, TEXTS, 255), r"vocab_size must be at least 256.*got 255"),
    (partial(ByteBPE, {"a": 0}), "all 256 bytes; 255 are missing"),
    (partial(ByteBPE, BYTES, [("a", "b")]), "'ab' is not in the vocabulary"),
    (partial(WordPiece.train, TEXTS, 40, criterion="pmi"), r"criterion must be one of .*got 'pmi'"),
    (partial(WordPiece.train, TEXTS, 40, special_tokens=()), r"special_tokens must hold \[UNK\]"),
    (partial(WordPiece.train, TEXTS, 24), r"vocab_size must be at least 25.*got 24"),
    (partial(WordPiece.train, ["\x00 \x01"], 40), "holds no word"),
    (
        partial(WordPiece, {letter: id for id, letter in enumerate(string.ascii_lowercase)}),
        r"vocab must hold \[UNK\]",
    ),
    *(
        (partial(WordPiece, WITH_UNKNOWN, **{option: value}), f"WordPiece: {option} must be True")
        for option, value in [("lowercase", "no"), ("lowercase", None), ("strip_accents", "no")]
    ),
    *(
        (partial(WordPiece, WITH_UNKNOWN, longest_word=longest), "a whole number, 0 or more")
        for longest in (-1, 1.5, "100", NAN, True)
    ),
]
TYPES = [
    *((partial(ours.encode, ["text"]), "must be a string; got list") for ours in TOKENIZERS),
    *(
        (partial(call, "text", *more), "must be a list of strings")
        for ours in TOKENIZERS
        for call, *more in [(ours.encode_batch,), (type(ours).train, 300)]
    ),
    *(
        (
            partial(kind.train, ["the cat", None], 300, processes=processes),
            r"texts\[1\] is None; omit it",
        )
        for kind in SIZES
        for processes in (1, 2)
    ),
    *(
        (partial(call, special_tokens=wrong), ": special_tokens must (be a list of|hold) strings")
        for wrong in ["[UNK]", {"[UNK]", "[PAD]"}, ["[UNK]", None], {"[UNK]": 0}]
        for call in [
            partial(BPE.train, TEXTS, 60),
            partial(WordPiece.train, TEXTS, 60),
            partial(BPE, {"[UNK]": 0}),
        ]
    ),
    (
        partial(learn_merges, {("m", "e"): 1, "best": 2}, {"m": 0, "e": 1}, 9),
        r"words must map tuples .* got the word 'best'; tuple\(wo",
    ),
]


@pytest.mark.parametrize(
    ("error", "call", "message"),
    [*((ValueError, *row) for row in VALUES), *((TypeError, *row) for row in TYPES)],
)
def test_what_does_not_fit_is_refused(error, call, message):
    with pytest.raises(error, match=message):
        call()
