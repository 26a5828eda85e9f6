"""The tasks: their content, and that no test example occurs in training."""

from collections import Counter, defaultdict

import pytest

from bertlab import data
from bertlab.data import documents
from bertlab.data.prepared import VALIDATION
from bertlab.model import BertConfig
from bertlab.tokenizers import WordPiece
from course.experiments.labels import Example, labelled
from course.experiments.splits import families, words_of
from course.experiments.tasks import TASKS, Task, encode_task, subset, task
from tests.conftest import fetched

pytestmark = pytest.mark.slow

SOURCES = {
    "spam": ["sms-spam"],
    "sentiment": ["rotten-tomatoes"],
    "subjectivity": ["rotten-tomatoes", "plots"],
    "question-type": ["trec"],
    "topic": ["reuters-train", "reuters-test"],
    "newsgroups": ["newsgroups-train", "newsgroups-test"],
    "next-sentence": ["wikipedia"],
    "same-article": ["lee"],
}
DRAWN = [name for name in TASKS if name not in ("topic", "newsgroups")]


@pytest.fixture(scope="module")
def tasks():
    """`tasks(name, seed)`, each made once."""
    made = {}

    def get(name, seed=0):
        for source in SOURCES[name]:
            fetched(source)
        if (name, seed) not in made:
            made[name, seed] = task(name, seed)
        return made[name, seed]

    return get


def small(counts, metric="accuracy"):
    train = [Example(f"{label} {n}", label) for label, m in counts.items() for n in range(m)]
    return Task("small", train, train[:1], tuple(counts), metric)


@pytest.mark.corpora
@pytest.mark.parametrize("name", TASKS)
def test_a_task_is_complete_and_no_test_text_is_in_training(tasks, name):
    got = tasks(name)
    assert got.name == name
    assert set(got.labels) == {e.label for e in got.train} == {e.label for e in got.test}
    assert len(got.train) > len(got.test) >= 500
    assert all(e.text.strip() for e in got.train + got.test)
    assert all(bool(e.pair.strip()) == got.is_pairs for e in got.train + got.test)
    assert got.is_pairs == (name in ("next-sentence", "same-article"))
    if got.is_pairs:
        seen = {frozenset(map(words_of, (e.text, e.pair))) for e in got.train}
        assert not [e for e in got.test if {words_of(e.text), words_of(e.pair)} in seen]
    else:
        seen = {words_of(e.text) for e in got.train}
        assert not [e.text for e in got.test if words_of(e.text) in seen]


@pytest.mark.corpora
@pytest.mark.parametrize("name", DRAWN)
def test_the_seed_draws_the_task(tasks, name):
    assert tasks(name) == task(name)
    assert tasks(name) != tasks(name, 1)


@pytest.mark.corpora
@pytest.mark.parametrize("name", ["topic", "newsgroups"])
def test_a_source_with_a_split_keeps_it(tasks, name):
    source, got = SOURCES[name][0].removesuffix("-train"), tasks(name)
    assert got.test == labelled(f"{source}-test")
    train = labelled(f"{source}-train")
    assert set(got.train) < set(train)
    assert len(train) - 10 < len(got.train) < len(train)


@pytest.mark.corpora
@pytest.mark.parametrize("name", ["spam", "sentiment", "question-type"])
def test_near_copies_are_in_one_part_and_label_shares_are_equal(tasks, name):
    got = tasks(name)
    texts = [e.text for e in got.train + got.test]
    assert set(texts) == {e.text for e in labelled(SOURCES[name][0])}
    family = families(texts)
    assert not set(family[: len(got.train)]) & set(family[len(got.train) :])
    train, test = (Counter(e.label for e in side) for side in (got.train, got.test))
    for label in got.labels:
        share = test[label] / (train[label] + test[label])
        assert 0.1 < share < 0.3  # of its families exactly a fifth


@pytest.mark.corpora
def test_statements_of_the_same_account_are_in_one_part(tasks):
    for seed in range(3):
        got = tasks("spam", seed)
        sides = [
            [e for e in side if e.text.startswith("PRIVATE! Your 200") and "redeemed" in e.text]
            for side in (got.train, got.test)
        ]
        assert sorted(map(bool, sides)) == [False, True]
        assert max(map(len, sides)) > 5


@pytest.mark.corpora
def test_reviews_and_plots_are_those_of_pang_and_lee(tasks):
    got = tasks("subjectivity")
    for side in (got.train, got.test):
        counts = Counter(e.label for e in side)
        assert counts["plot"] == counts["review"]
        assert min(len(e.text.split()) for e in side) == 10
    homes = defaultdict(set)
    for number, plot in enumerate(documents("plots")):
        for sentence in plot:
            homes[sentence].add(number)
    train, test = (
        {homes[e.text].copy().pop() for e in side if e.label == "plot" and len(homes[e.text]) == 1}
        for side in (got.train, got.test)
    )
    assert train
    assert test
    assert not train & test


@pytest.mark.corpora
def test_nearly_all_of_pang_lee_is_in_the_reviews(tasks):
    got = tasks("sentiment")
    label_of = {words_of(e.text): e.label for e in got.train + got.test}
    ours = {"pos": "fresh", "neg": "rotten"}
    found = [e for e in labelled("pang-lee") if words_of(e.text) in label_of]
    assert len(found) > 0.95 * 200
    assert all(label_of[words_of(e.text)] == ours[e.label] for e in found)


@pytest.mark.corpora
@pytest.mark.parametrize(
    ("name", "corpus", "together"),
    [("next-sentence", "wikipedia", "next"), ("same-article", "lee", "one")],
)
def test_pairs_match_their_labels_and_documents_stay_in_one_part(tasks, name, corpus, together):
    got, homes = tasks(name), defaultdict(set)
    for number, document in enumerate(documents(corpus)):
        long = [sentence for sentence in document if len(sentence.split()) >= 3]
        for place, sentence in enumerate(long):
            homes[sentence].add((number, place))
    sides = []
    for examples in (got.train, got.test):
        known = [e for e in examples if len(homes[e.text]) == len(homes[e.pair]) == 1]
        assert len(known) > 0.85 * len(examples)
        for example in known:
            ((home, first),), ((other, second),) = homes[example.text], homes[example.pair]
            assert (home == other) == (example.label == together)
            if example.label == "next":
                assert second == first + 1
        sides.append({home for e in known for t in (e.text, e.pair) for home, _ in homes[t]})
        counts = Counter(e.label for e in examples)
        assert abs(counts[got.labels[0]] - counts[got.labels[1]]) <= 1
    assert not sides[0] & sides[1]


@pytest.mark.corpora
def test_an_article_that_came_twice_counts_as_one(tasks):
    got = tasks("same-article")
    two = {frozenset((e.text, e.pair)) for e in got.train + got.test if e.label == "two"}
    together = [set(article) for article in documents("lee")]
    assert not [pair for pair in two if any(pair <= article for article in together)]
    assert any(e.text in article and e.pair in article for article in together for e in got.test)


@pytest.mark.corpora
def test_no_model_of_ours_has_read_the_test_articles_of_next_sentence(tasks):
    _, held_out = data.split(documents("wikipedia"), VALIDATION)
    unseen = {sentence for document in held_out for sentence in document}
    for seed in (0, 1):
        test = tasks("next-sentence", seed).test
        assert all(e.text in unseen and e.pair in unseen for e in test)


def test_a_subset_has_the_same_shares_and_is_part_of_a_larger_one():
    whole = small({"a": 600, "b": 300, "c": 100, "d": 3})
    previous = set()
    for n in (4, 10, 50, 500, 1003):
        got = subset(whole, n)
        counts = Counter(e.label for e in got.train)
        assert len(set(got.train)) == n == sum(counts.values())
        assert previous < set(got.train)
        assert min(counts[label] for label in whole.labels) >= 1
        for label, total in Counter(e.label for e in whole.train).items():
            assert abs(counts[label] - n * total / 1003) < 2
        assert (got.test, got.labels, got.metric) == (whole.test, whole.labels, whole.metric)
        previous = set(got.train)
    assert set(subset(whole, 50, seed=1).train) != set(subset(whole, 50).train)


@pytest.mark.parametrize("n", [2, 7])
def test_a_subset_is_neither_too_small_nor_larger_than_all(n):
    with pytest.raises(ValueError, match="from 3, one example a label, to 6"):
        subset(small({"a": 3, "b": 2, "c": 1}), n)


def test_a_task_describes_itself_and_an_unknown_one_is_rejected():
    shown = repr(small({"ham": 1200, "spam": 300}, "F1 of spam"))
    assert shown == "Task('small': 1,500 to train, 1 to test; ham, spam; F1 of spam)"
    with pytest.raises(ValueError, match="no task 'sst'; expected one of spam, "):
        task("sst")


def test_a_task_is_encoded_with_its_labels_and_pairs():
    specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    words = ["a", "b", "c"]
    tokenizer = WordPiece({t: i for i, t in enumerate(specials + words)}, special_tokens=specials)
    config = BertConfig(8, 16, 1, 2, 16, max_length=8)
    alone = Task("", [Example("a b", "y"), Example("c", "x")], [Example("b", "x")], ("x", "y"))
    train, test = encode_task(alone, tokenizer, config)
    assert train.targets == [1, 0]
    tokens = [e.tokens for e in train.encodings]
    assert tokens == [["[CLS]", "a", "b", "[SEP]"], ["[CLS]", "c", "[SEP]"]]
    assert (test.targets, test.encodings[0].tokens) == ([0], ["[CLS]", "b", "[SEP]"])
    pair = [Example("a b a b a b", "x", "c c")]
    train, _ = encode_task(Task("", pair, pair, ("x", "y")), tokenizer, config, max_length=7)
    assert train.encodings[0].tokens == ["[CLS]", "a", "b", "[SEP]", "c", "c", "[SEP]"]
    with pytest.raises(ValueError, match="truncate=True"):
        encode_task(Task("", pair, pair, ("x", "y")), tokenizer, config, truncate=False)
