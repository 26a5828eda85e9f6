"""Tokenizers' files: options are supported or refused by name, damage never gives a traceback.

The reference is Hugging Face's `tokenizers`, which made the files or reads the same ones.
"""

import copy
import json
import warnings
from collections import Counter
from random import Random

import pytest
from tokenizers import Tokenizer

from bertlab.model import load_tokenizer, save_pretrained
from bertlab.model.bert import Bert
from bertlab.model.config import BertConfig
from bertlab.pretraining.masking import Masking
from bertlab.tokenizers import BPE, ByteBPE, WordPiece
from tests.bertlab.tokenizers.random_tokenizers import RandomTokenizers, random_texts
from tests.bertlab.tokenizers.references import BERT_TOKENS, assert_same

KINDS = [BPE, ByteBPE, WordPiece]
CORPUS = ["cost best menu men camel", "cost best"]
SIZES = {BPE: 25, ByteBPE: 265, WordPiece: 40}
DEEP = "[" * 100_000 + "]" * 100_000
# Every option that the random files must have had refused.
REFUSED = {
    *("dropout", "unk_token", "fuse_unk", "byte_fallback", "ignore_merges"),
    *("continuing_subword_prefix", "end_of_word_suffix", "add_prefix_space", "use_regex"),
    *("clean_text", "handle_chinese_chars", "normalizer", "pre-tokenizer", "decoder"),
    *("post-processor", "normalized", "single_word", "lstrip", "rstrip", "special"),
    "added_tokens",
}


def trained(kind, **options):
    return kind.train(CORPUS, SIZES[kind], special_tokens=BERT_TOKENS, **options)


@pytest.fixture(params=KINDS, ids=lambda kind: kind.__name__)
def saved(request, tmp_path):
    """A kind of tokenizer, its file, and what is in it."""
    path = trained(request.param).save(tmp_path / "tokenizer.json")
    return request.param, path, json.loads(path.read_text())


def read(kind, path, content):
    """Load a file of ours with other content."""
    path.write_text(json.dumps(content))
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        return kind.load(path)


def answer(function, *arguments):
    """What a call returns and what it warns of, or None and the message of its ValueError."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            return function(*arguments), " ".join(str(warning.message) for warning in told)
        except ValueError as error:
            return None, str(error)


# Hugging Face's files.


@pytest.mark.slow
def test_500_random_files_are_read_equally_or_rejected_by_the_options_name(tmp_path):
    random, path, texts = RandomTokenizers(seed=0), tmp_path / "tokenizer.json", random_texts(50)
    equal, refused, refused_texts = Counter(), Counter(), Counter()
    for _ in range(500):
        kind, made = random.make()
        made.save(str(path))
        ours, told = answer(kind.load, path)
        if ours is None:
            named = [name for name in random.unusual if name in told]
            assert named, f"{told}; the file's unusual options are {random.unusual}"
            refused.update(named[:1])
            continue
        assert random.unusual == []
        assert all(name in told for name in random.left_out)
        reference = Tokenizer.from_file(str(path))
        reference.no_truncation()  # `load` has warned of these two
        reference.no_padding()
        outcome = equal
        for number, text in enumerate(texts):
            pair = texts[number - 1] if number % 5 == 0 else None
            got, told = answer(ours.encode, text, pair)
            if got is None:  # theirs drops unknown characters, ours says so
                assert "[UNK]" not in ours.vocab
                assert "there is no unk_token" in told
                outcome = refused_texts
            else:
                assert_same(got, reference.encode(text, pair))
        outcome[kind.__name__] += 1
    print(f"500 random files: {dict(equal)} equal, {refused.total()} refused,", end=" ")
    print(f"{refused_texts.total()} refused at the first unknown character")
    assert equal.total() + refused.total() + refused_texts.total() == 500
    assert min(equal[kind.__name__] for kind in KINDS) >= 50
    assert set(refused) == REFUSED
    assert set(refused_texts) == {"BPE"}


@pytest.mark.parametrize("kind", [BPE, ByteBPE])
def test_merges_are_read_as_pairs_and_as_strings(kind, tmp_path):
    ours = trained(kind)
    path = ours.save(tmp_path / "tokenizer.json")
    content = json.loads(path.read_text())
    content["model"]["merges"] = ["#version: 0.2", *map(" ".join, ours.merges)]
    assert read(kind, path, content) == ours
    assert_same(ours.encode("menu best"), Tokenizer.from_file(str(path)).encode("menu best"))
    content["model"]["merges"] = ["m e n"]
    with pytest.raises(ValueError, match=r"merges must be pairs .* got \('m', 'e', 'n'\)"):
        read(kind, path, content)


def test_an_exchanged_cls_and_sep_are_rejected(saved):
    kind, path, content = saved
    vocab = content["model"]["vocab"]
    cls, sep = [[token, vocab[token]] for token in ("[CLS]", "[SEP]")]
    content["post_processor"] = {"type": "BertProcessing", "sep": sep, "cls": cls}
    ours = read(kind, path, content)
    assert_same(ours.encode("men", "cost"), Tokenizer.from_file(str(path)).encode("men", "cost"))
    for wrong in ({"sep": cls, "cls": sep}, {"sep": sep, "cls": ["[CLS]", 0]}):
        content["post_processor"] = {"type": "BertProcessing", **wrong}
        with pytest.raises(ValueError, match="post-processor 'BertProcessing' with cls"):
            read(kind, path, content)


def test_an_added_token_has_the_id_that_hugging_face_gives_it(saved):
    kind, path, content = saved
    size = len(content["model"]["vocab"])
    for name, id in [("[NEW]", size), ("<s>", size + 1)]:
        content["added_tokens"].append(content["added_tokens"][0] | {"content": name, "id": id})
    ours = read(kind, path, content)
    reference = Tokenizer.from_file(str(path))
    assert_same(ours.encode("a[NEW] <s>men"), reference.encode("a[NEW] <s>men"))
    content["added_tokens"][-1]["id"] = size + 7
    with pytest.raises(ValueError, match=f"gives '<s>' the id {size + 7}, but .* as {size + 1}"):
        read(kind, path, content)


def test_truncation_and_padding_are_ignored_with_a_warning(saved):
    kind, path, _ = saved
    reference = Tokenizer.from_file(str(path))
    reference.enable_truncation(3)
    reference.enable_padding(length=8)
    reference.save(str(path))
    with pytest.warns(UserWarning, match=r"truncation .*'max_length': 3.* padding .* ignored"):
        ours = kind.load(path)
    reference.no_padding()
    got = ours.encode("menu best", max_length=3)
    assert got.ids == reference.encode("menu best").ids
    assert len(ours.encode("menu best")) > 3


# Files that no library wrote.


ANOTHER_SHAPE = ["[]", "null", "3", '"x"', "{}", '{"model": null}', '{"model": {"type": "BPE"}}']


@pytest.mark.parametrize(
    ("content", "message"),
    [
        *((content.encode(), r"not a tokenizer\.json") for content in ANOTHER_SHAPE),
        *(
            (content, r"tokenizer\.json is damaged")
            for content in (DEEP.encode(), b"9" * 5000, b"\xff\xfe", b'{"model": ')
        ),
    ],
)
def test_json_of_another_shape_or_that_python_cannot_read_is_rejected(saved, content, message):
    kind, path, _ = saved
    path.write_bytes(content)
    with pytest.raises(ValueError, match=message):
        kind.load(path)


PAIRS, PIECES = [BPE, ByteBPE], [WordPiece]
FAULTS = [
    (PAIRS, lambda c: c["model"].pop("merges"), r"merges of model .* a list; got no such entry"),
    (PAIRS, lambda c: c["model"].update(merges="ab"), r"merges of model must be a list; got 'ab'"),
    (KINDS, lambda c: c["model"].update(merges=[["a", 1]]), r"merges must be pairs .* \['a', 1\]"),
    (KINDS, lambda c: c["model"].update(vocab=["a"]), r"vocab of model must be a JSON object"),
    (KINDS, lambda c: c["model"]["vocab"].update(x="7"), r"vocab must map .* got 'x': '7'"),
    (KINDS, lambda c: c["model"]["vocab"].update(x=7.0), r"vocab must map .* got 'x': 7.0"),
    (KINDS, lambda c: c["model"]["vocab"].update(x=-1), r"vocab must .* 0 or more; got 'x': -1"),
    (KINDS, lambda c: c["model"]["vocab"].update(x=0), r"vocab must give every token an id"),
    (KINDS, lambda c: c.pop("added_tokens"), r"added_tokens of the file must be a list"),
    (KINDS, lambda c: c["added_tokens"].append("x"), r"added_tokens must hold objects; got 'x'"),
    (KINDS, lambda c: c["added_tokens"][0].pop("content"), r"content of added_tokens must be a"),
    (KINDS, lambda c: c["added_tokens"][0].update(id="0"), r"id of .* must be a whole number"),
    (KINDS, lambda c: c["added_tokens"][0].update(lstrip=0), r"'s lstrip 0, which"),
    (KINDS, lambda c: c["added_tokens"][0].update(content=""), r"content .* must not be empty"),
    (KINDS, lambda c: c["added_tokens"][0].update(special=False), "not a special one"),
    (KINDS, lambda c: c.update(version="2.0"), r"version '2\.0'"),
    (KINDS, lambda c: c.update(prefix="x"), r"the entry prefix 'x', an option that"),
    (KINDS, lambda c: c["model"].update(cache=3), r"the model's cache 3, an option that"),
    (KINDS, lambda c: c["model"].update(type="Unigram"), "holds a Unigram model"),
    (PAIRS, lambda c: c["model"].update(type="WordPiece"), "holds a WordPiece model"),
    ([BPE], lambda c: c["model"].update(unk_token="<unk>"), r"model's unk_token '<unk>'"),
    ([BPE], lambda c: c["model"]["vocab"].pop("[UNK]"), r"model's unk_token '\[UNK\]'"),
    (PIECES, lambda c: c["model"]["vocab"].pop("[UNK]"), "must hold its unk_token"),
    (KINDS, lambda c: c.update(pre_tokenizer=None), "pre-tokenizer None"),
    ([ByteBPE], lambda c: c["pre_tokenizer"].update(type="BertPreTokenizer"), "pre-tok.* 'BertPre"),
    (KINDS, lambda c: c["pre_tokenizer"].update(type="Whitespace"), "has the pre-tokenizer"),
    (KINDS, lambda c: c["post_processor"]["single"].pop(), "post-processor"),
    (PIECES, lambda c: c["normalizer"].pop("lowercase"), r"normalizer's lowercase None \(it is m"),
    (PIECES, lambda c: c["normalizer"].update(lowercase="no"), r"normalizer's lowercase 'no'"),
    (PIECES, lambda c: c["normalizer"].update(strip_accents=1), r"normalizer's strip_accents 1"),
    (PIECES, lambda c: c["normalizer"].update(handle_chinese_chars=False), "has the normalizer"),
    (PIECES, lambda c: c.update(normalizer=None), "has the normalizer None"),
    (PIECES, lambda c: c["model"].update(continuing_subword_prefix="@@"), "has the model"),
    (PIECES, lambda c: c["model"].update(max_input_chars_per_word="9"), r"max_input.* got '9'"),
    (PIECES, lambda c: c["model"].pop("max_input_chars_per_word"), r"max_input.* got None"),
    (PIECES, lambda c: c["model"].update(gains=["x"]), r"gains must hold one number per merge"),
    (PIECES, lambda c: c["model"].update(gains={}), r"gains of model must be a list"),
]


@pytest.mark.parametrize(("kinds", "change", "message"), FAULTS)
def test_a_fault_in_a_file_is_reported_with_file_field_and_value(tmp_path, kinds, change, message):
    for kind in kinds:
        path = trained(kind).save(tmp_path / "tokenizer.json")
        content = json.loads(path.read_text())
        change(content)
        with pytest.raises(ValueError, match=rf"tokenizer\.json.*{message}"):
            read(kind, path, content)


def places(value, before=()):
    """The path to every value in a file; of vocabulary, merges and gains the first two entries."""
    if before:
        yield before
    entries = value.items() if isinstance(value, dict) else ()
    entries = list(enumerate(value)) if isinstance(value, list) else list(entries)
    for key, inner in entries[:2] if before[-1:] in LONG else entries:
        yield from places(inner, (*before, key))


LONG = [("vocab",), ("merges",), ("gains",)]
MISSING = object()
VALUES = [MISSING, None, [], {}, "x", "", -1, 0, 5, 1.5, float("nan"), True, False, 10**30]
VALUES += [[["a"]], {"type": "x"}, "[SEP]", "a b", ["a", "b"]]


@pytest.mark.slow
def test_with_any_value_in_one_place_the_file_is_read_like_hugging_face_or_rejected(saved):
    kind, path, content = saved
    random = Random(0)
    for place in places(content):
        for value in random.sample(VALUES, 3):
            changed = copy.deepcopy(content)
            inner = changed
            for key in place[:-1]:
                inner = inner[key]
            inner[place[-1]] = value
            if value is MISSING:
                del inner[place[-1]]
            ours, told = answer(read, kind, path, changed)
            if ours is None:
                assert str(path) in told
                continue
            try:
                reference = Tokenizer.from_file(str(path))
            except Exception:  # theirs wants some entries that change nothing
                continue
            reference.no_truncation()
            reference.no_padding()
            for text in ("men best [MASK] cost", "zebra x[UNK]", "Menü  camel"):
                assert_same(ours.encode(text, "men"), reference.encode(text, "men"))


# The other files: vocab.txt, tokenizer_config.json, GPT-2's.


def test_a_vocabulary_with_gaps_keeps_its_ids_or_is_not_saved(tmp_path):
    gaps = WordPiece({"[UNK]": 0, "[MASK]": 1, "cat": 9}, special_tokens=["[UNK]", "[MASK]"])
    path = gaps.save(tmp_path / "tokenizer.json")
    assert WordPiece.load(path) == gaps
    reference = Tokenizer.from_file(str(path))
    assert reference.encode("cat [MASK]").ids == gaps.encode("cat [MASK]").ids == [9, 1]
    with pytest.raises(ValueError, match=r"every id from 0 to 2, .* no token has the id 2"):
        gaps.save_vocab(tmp_path / "vocab.txt")
    with pytest.raises(ValueError, match="no token has the id 2"):
        save_pretrained(Bert(BertConfig(3, 24, 1, 4, 40)), tmp_path / "model", gaps)
    assert not (tmp_path / "vocab.txt").exists()
    assert list((tmp_path / "model").iterdir()) == []


@pytest.mark.parametrize("token", ["a\nb", "a\r"])
def test_a_token_with_a_line_break_is_not_saved_in_vocab_txt(tmp_path, token):
    broken = WordPiece({"[UNK]": 0, token: 1})
    with pytest.raises(ValueError, match="holds a line break"):
        broken.save_vocab(tmp_path / "vocab.txt")
    assert WordPiece.load(broken.save(tmp_path / "tokenizer.json")) == broken


CONFIG_FAULTS = [
    ("[]", r"must hold one JSON object.*got \[\]"),
    ("null", r"must hold one JSON object.*got None"),
    (DEEP, r"tokenizer_config\.json is damaged"),
    ('{"do_lower_case": ', r"tokenizer_config\.json is damaged"),
    ('{"do_lower_case": "no"}', r"do_lower_case must be true or false; got 'no'"),
    ('{"do_lower_case": 0}', r"do_lower_case must be true or false; got 0"),
    ('{"do_lower_case": null}', r"do_lower_case must be true or false; got None"),
    ('{"strip_accents": "no"}', r"strip_accents must be null or true or false"),
    ('{"tokenize_chinese_chars": false}', r"tokenize_chinese_chars must be true"),
    ('{"do_basic_tokenize": false}', r"do_basic_tokenize must be true"),
    ('{"do_word_tokenize": false}', r"do_word_tokenize must be true; got False"),
    ('{"tokenizer_class": "BertJapaneseTokenizer"}', r"tokenizer_class .*BertJapanese"),
    ('{"tokenizer_class": "RobertaTokenizerFast"}', r"tokenizer_class .*RobertaTokenizerFast"),
    ('{"tokenizer_class": "XLMRobertaTokenizer"}', r"tokenizer_class .*XLMRobertaTokenizer"),
    ('{"tokenizer_class": "MPNetTokenizer"}', r"tokenizer_class .*MPNetTokenizer"),
    ('{"tokenizer_class": ["BertTokenizer"]}', r"tokenizer_class .*'BertTokenizer'"),
    ('{"auto_map": {"AutoTokenizer": ["mine.Mine", null]}}', r"auto_map must be null"),
    ('{"word_tokenizer_type": "mecab"}', r'word_tokenizer_type must be null or "basic"'),
    ('{"subword_tokenizer_type": "character"}', r"subword_tokenizer_type must .*'character'"),
    ('{"never_split": ["men"]}', r"never_split must be null or \[\]; got \['men'\]"),
    ('{"wordpieces_prefix": "@@"}', r"wordpieces_prefix must be \"##\"; got '@@'"),
    ('{"clean_text": false}', r"clean_text must be true; got False"),
    ('{"add_prefix_space": true}', r"add_prefix_space must be null or false"),
    ('{"split_special_tokens": true}', r"split_special_tokens must be null or false"),
    ('{"truncation_side": "left"}', r'truncation_side must be "right"'),
    ('{"unk_token": "<unk>"}', r"unk_token has the name '<unk>'; BERT's is \[UNK\]"),
    ('{"mask_token": "<mask>"}', r"mask_token has the name '<mask>'; BERT's is \[MASK\]"),
    ('{"cls_token": "[SEP]"}', r"cls_token has the name '\[SEP\]'"),
    ('{"mask_token": {"content": "[MASK]", "lstrip": true}}', r"mask_token has lstrip true"),
    ('{"bos_token": "<s>"}', r"bos_token has '<s>', which is not a special token"),
    ('{"additional_special_tokens": ["[E1]"]}', r"additional_special_tokens has '\[E1\]'"),
    ('{"extra_special_tokens": {"image_token": "<i>"}}', r"extra_special_tokens has '<i>'"),
    ('{"added_tokens_decoder": {"40": {"content": "x"}}}', r"added_tokens_decoder has 'x'"),
]
OTHER_FAULTS = [
    ("added_tokens.json", '{"[E1]": 40}', r"added_tokens\.json: the file has '\[E1\]'"),
    ("special_tokens_map.json", '{"pad_token": "<pad>"}', r"pad_token has the name '<pad>'"),
    ("special_tokens_map.json", "[]", r"must hold one JSON object"),
    ("config.json", '{"tokenizer_class": "BertJapaneseTokenizer"}', "BertJapaneseTokenizer"),
]
CONFIG = "tokenizer_config.json"
CONTRADICTIONS = [
    (CONFIG, '{"do_lower_case": true}', r"do_lower_case is true, but tokenizer\.json has false"),
    (CONFIG, '{"model_max_length": 9}', r"do_lower_case is missing and means true, but"),
    (CONFIG, '{"do_lower_case": false, "strip_accents": true}', r"strip_accents is true, but"),
    (CONFIG, '{"do_lower_case": false, "mask_token": "<m>"}', r"mask_token has the name '<m>'"),
    (CONFIG, '{"do_lower_case": false, "eos_token": "<s>"}', r"eos_token has '<s>', which is not"),
    ("added_tokens.json", '{"<s>": 40}', r"the file has '<s>', which is not a special token"),
    ("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n", r"vocab\.txt and .* differ in"),
    ("vocab.txt", "[UNK]\n[PAD]\n", r"vocab\.txt and .* the same tokens and ids; .* '\[UNK\]'"),
]


@pytest.mark.parametrize(
    ("main", "name", "content", "message"),
    [
        *(("vocab.txt", CONFIG, *fault) for fault in CONFIG_FAULTS),
        *(("vocab.txt", *fault) for fault in OTHER_FAULTS),
        *(("tokenizer.json", *fault) for fault in CONTRADICTIONS),
    ],
)
def test_a_faulty_file_beside_the_tokenizer_is_rejected_with_file_and_field(
    tmp_path, main, name, content, message
):
    ours = trained(WordPiece, lowercase=main == "vocab.txt")
    (ours.save_vocab if main == "vocab.txt" else ours.save)(tmp_path / main)
    (tmp_path / name).write_text(content)
    with pytest.raises(ValueError, match=message):
        load_tokenizer(tmp_path)


def test_unknown_options_are_told_and_known_ones_are_silent(tmp_path):
    ours = trained(WordPiece)
    ours.save_vocab(tmp_path / "vocab.txt")
    path = tmp_path / "tokenizer_config.json"
    path.write_text('{"model_max_length": 512, "mask_token": "[MASK]", "bos_token": null}')
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert load_tokenizer(tmp_path).vocab == ours.vocab
    path.write_text('{"lowercase": false, "zeal": 3}')
    with pytest.warns(UserWarning, match=r"unknown options, which are ignored: lowercase, zeal"):
        load_tokenizer(tmp_path)


def test_a_folder_with_tokenizer_json_alone_is_read_as_the_file(tmp_path):
    ours = trained(WordPiece, lowercase=False)
    with pytest.raises(FileNotFoundError, match=r"holds no tokenizer\.json and no vocab\.txt"):
        load_tokenizer(tmp_path)
    ours.save(tmp_path / "tokenizer.json")
    assert load_tokenizer(tmp_path) == ours
    (tmp_path / "tokenizer_config.json").write_text('{"tokenizer_class": "TokenizersBackend"}')
    assert load_tokenizer(tmp_path) == ours
    ours.save_vocab(tmp_path / "vocab.txt")
    assert load_tokenizer(tmp_path) == ours  # and not lower-cased, vocab.txt's default


def test_a_class_that_adds_cls_and_sep_contradicts_a_file_that_does_not(tmp_path):
    (tmp_path / "tokenizer_config.json").write_text('{"tokenizer_class": "BertTokenizer"}')
    path = trained(WordPiece).save(tmp_path / "tokenizer.json")
    assert load_tokenizer(tmp_path).adds_special_tokens
    path.write_text(json.dumps(json.loads(path.read_text()) | {"post_processor": None}))
    with pytest.raises(ValueError, match=r"BertTokenizer adds .* has no post_processor"):
        load_tokenizer(tmp_path)


@pytest.mark.parametrize("name", ["vocab.txt", "tokenizer_config.json", "tokenizer.json"])
def test_a_byte_order_mark_changes_nothing(tmp_path, name):
    ours = trained(WordPiece)
    ours.save_vocab(tmp_path / "vocab.txt")
    (tmp_path / "tokenizer_config.json").write_text('{"do_lower_case": true}')
    if name == "tokenizer.json":
        ours.save(tmp_path / name)
    (tmp_path / name).write_bytes(b"\xef\xbb\xbf" + (tmp_path / name).read_bytes())
    read = load_tokenizer(tmp_path)
    assert read.vocab == ours.vocab
    assert read.special_tokens == ours.special_tokens
    assert 0 not in Masking.of(read).ordinary_ids


@pytest.mark.parametrize("first", ["merges.txt", "vocab.json"])
@pytest.mark.parametrize("version", ["", "#version: 0.2\n"])
def test_a_byte_order_mark_in_gpt2_files_changes_nothing(tmp_path, first, version):
    ours = ByteBPE.train(CORPUS, 265)
    merges = version + "".join(f"{left} {right}\n" for left, right in ours.merges)
    (tmp_path / "merges.txt").write_text(merges, encoding="utf-8")
    (tmp_path / "vocab.json").write_text(json.dumps(dict(ours.vocab)))
    (tmp_path / first).write_bytes(b"\xef\xbb\xbf" + (tmp_path / first).read_bytes())
    files = tmp_path / "vocab.json", tmp_path / "merges.txt"
    assert ByteBPE.from_gpt2(*files, special_tokens=()) == ours


@pytest.mark.parametrize(
    "line",
    ["\ufeff[PAD]", "[PAD] ", "[PAD]\t", "\u200b[PAD]", "[P\xadAD]", "[PAD]\x00", "[PAD]\u3000"],
)
def test_a_special_token_with_something_invisible_around_it_is_rejected(tmp_path, line):
    (tmp_path / "vocab.txt").write_text(f"[UNK]\n{line}\n[unused1]\na\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"line 2 holds .*, which is \[PAD\] and something invis"):
        WordPiece.from_vocab(tmp_path / "vocab.txt")


@pytest.mark.parametrize(
    ("vocab", "merges", "message"),
    [
        (DEEP, b"", r"vocab\.json is damaged"),
        ('{"a": 0', b"a b", r"vocab\.json is damaged"),
        ("[1, 2]", b"a b", r"vocab\.json is not a vocabulary"),
        ('{"a": "b"}', b"a b", r"vocab\.json is not a vocabulary"),
        ('{"a": true}', b"", r"vocab\.json is not a vocabulary"),
        ("{}", b"a b c", r"merges\.txt .* two symbols with a space between; got 'a b c'"),
        ("{}", b"\xff\xfe", r"merges\.txt is not UTF-8"),
    ],
)
def test_faulty_gpt2_files_are_rejected(tmp_path, vocab, merges, message):
    (tmp_path / "vocab.json").write_text(vocab)
    (tmp_path / "merges.txt").write_bytes(merges)
    with pytest.raises(ValueError, match=message):
        ByteBPE.from_gpt2(tmp_path / "vocab.json", tmp_path / "merges.txt")


@pytest.mark.parametrize(
    "call",
    [
        *(kind.load for kind in KINDS),
        WordPiece.from_vocab,
        lambda folder: ByteBPE.from_gpt2(folder, folder / "merges.txt"),
        lambda folder: ByteBPE.from_gpt2(folder / "vocab.json", folder),
        lambda folder: trained(BPE).save(folder),
        lambda folder: trained(WordPiece).save_vocab(folder),
    ],
)
def test_a_folder_where_a_file_belongs_is_named(tmp_path, call):
    (tmp_path / "vocab.json").write_text("{}")
    with pytest.raises(IsADirectoryError, match="is a folder; give the path of a file") as caught:
        call(tmp_path)
    assert str(tmp_path) in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["vocab.json"]
