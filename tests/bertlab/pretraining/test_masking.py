"""Which tokens are chosen and what replaces them: laws, statistics, `transformers`."""

import math
from collections import Counter
from itertools import combinations, product

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from transformers import BertTokenizerFast, DataCollatorForLanguageModeling

from bertlab.pretraining.masking import (
    Masking,
    choose_words,
    mask_only,
    mask_tokens,
    replace_chosen,
)
from bertlab.tokenizers import WordPiece
from tests.bertlab.pretraining.test_batches import within
from tests.small_models import generator

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
LETTERS = "abcdefghijklmnopqrstuvwxyz"
# Ids do not reveal special tokens: these are spread over the vocabulary.
VOCAB = ["[PAD]", *LETTERS[:13], "[UNK]", "[CLS]", *LETTERS[13:], "[SEP]", "[MASK]"]
VOCAB += ["#", *(f"##{letter}" for letter in LETTERS)]
IDS = {token: id for id, token in enumerate(VOCAB)}
WORDPIECE = WordPiece(IDS, special_tokens=SPECIAL, lowercase=False)
SPECIAL_IDS = torch.tensor([IDS[token] for token in SPECIAL])
CONTINUES = torch.tensor([token in VOCAB[-26:] for token in VOCAB])
MASK_ID = IDS["[MASK]"]

seeds = st.integers(0, 2**32)
sizes = st.tuples(st.integers(1, 4), st.integers(1, 5))
batches = arrays(int, sizes, elements=st.integers(0, len(VOCAB) - 1)).map(torch.tensor)
probabilities = st.sampled_from([0.15, 0.5, 1.0])


def words_of(row):
    """The places of each word of a row: the plain loop that `choose_words` does without."""
    words = []
    for place, id in enumerate(row.tolist()):
        if not (VOCAB[id].startswith("##") and words):
            words.append([])
        words[-1].append(place)
    return words


@given(batches, probabilities, st.booleans(), seeds)
def test_special_tokens_stay_and_nothing_else_changes_unasked(ids, share, whole_words, seed):
    masking = Masking.of(WORDPIECE, share, whole_words=whole_words)
    before = ids.clone()
    hidden, predict = mask_tokens(ids, masking, generator(seed))
    assert torch.equal(ids, before), "the batch itself stays as it was"
    assert (hidden.dtype, predict.dtype) == (ids.dtype, torch.bool)
    special = torch.isin(ids, SPECIAL_IDS)
    assert not (predict & special).any()
    assert torch.equal(hidden[~predict], ids[~predict])
    put = hidden[predict]
    assert not torch.isin(put[put != MASK_ID], SPECIAL_IDS).any(), "no special token as a word"
    if share == 1:
        assert torch.equal(predict, ~special)


@given(batches, st.booleans(), seeds)
def test_the_generator_alone_decides(ids, whole_words, seed):
    masking = Masking.of(WORDPIECE, 0.5, whole_words=whole_words)
    before = torch.get_rng_state()
    one, other = (mask_tokens(ids, masking, generator(seed)) for _ in range(2))
    assert torch.equal(one.ids, other.ids)
    assert torch.equal(one.predict, other.predict)
    assert torch.equal(torch.get_rng_state(), before), "PyTorch's own state is left alone"


@given(batches, seeds)
def test_a_word_is_chosen_as_a_whole_or_not_at_all(ids, seed):
    predict = choose_words(ids, SPECIAL_IDS, CONTINUES, 0.5, generator(seed))
    special = torch.isin(ids, SPECIAL_IDS)
    for row, chosen, untouchable in zip(ids, predict, special, strict=True):
        for places in words_of(row):
            pieces = [bool(chosen[t]) for t in places if not untouchable[t]]
            assert len(set(pieces)) <= 1


@pytest.mark.parametrize("whole_words", [False, True])
def test_neighbours_and_rows_are_chosen_independently(whole_words):
    masking = Masking.of(WORDPIECE, 0.3, whole_words=whole_words)
    ids = torch.full((20_000, 3), IDS["a"])
    predict = mask_tokens(ids, masking, generator(1)).predict
    seen = Counter(map(tuple, predict.tolist()))
    for outcome in product([False, True], repeat=3):
        probability = math.prod(0.3 if chosen else 0.7 for chosen in outcome)
        assert within(seen[outcome], 20_000, probability), outcome
    both_rows = (predict[::2, 0] & predict[1::2, 0]).sum()
    assert within(both_rows, 10_000, 0.09), "one row's choice says nothing about the next"


@pytest.mark.parametrize(
    "row",
    [
        ["[CLS]", "a", "b", "##c", "d", "##e", "##f"],
        ["##s", "##t", "[SEP]", "##u"],  # documents are cut anywhere: within a word, too
    ],
)
def test_each_word_is_chosen_with_the_same_probability_however_many_pieces_it_has(row):
    ids = torch.tensor([[IDS[piece] for piece in row]])
    predict = choose_words(ids.expand(20_000, -1), SPECIAL_IDS, CONTINUES, 0.15, generator(2))
    special = torch.isin(ids[0], SPECIAL_IDS)
    assert not predict[:, special].any()
    words = [[t for t in places if not special[t]] for places in words_of(ids[0])]
    words = list(filter(None, words))
    for places in words:
        assert torch.equal(predict[:, places].all(dim=1), predict[:, places].any(dim=1))
        assert within(predict[:, places[0]].sum(), 20_000, 0.15)
    for one, other in combinations(words, 2):
        assert within((predict[:, one[0]] & predict[:, other[0]]).sum(), 20_000, 0.15**2)


def test_a_tokens_fate_does_not_depend_on_its_neighbours_or_its_row():
    ids = torch.full((20_000, 2), IDS["a"])
    everywhere = torch.ones_like(ids, dtype=torch.bool)
    ordinary = torch.tensor([IDS["b"]])
    hidden = replace_chosen(ids, everywhere, MASK_ID, ordinary, generator(4))
    fates = {MASK_ID: 0.8, IDS["b"]: 0.1, IDS["a"]: 0.1}
    seen = Counter(map(tuple, hidden.tolist()))
    for (left, p), (right, q) in product(fates.items(), repeat=2):
        assert within(seen[left, right], 20_000, p * q)


# transformers, which also chooses tokens independently.


@pytest.fixture(scope="module")
def theirs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("vocabulary")
    (folder / "vocab.txt").write_text("\n".join(VOCAB) + "\n", encoding="utf-8")
    tokenizer = BertTokenizerFast(vocab=str(folder / "vocab.txt"), do_lower_case=False)
    assert tokenizer.convert_ids_to_tokens(range(len(VOCAB))) == VOCAB
    return tokenizer


TEXT = "a bc # def g hij k lm n opqr s"


@pytest.fixture(scope="module")
def batch(theirs):
    """One text many times over, as their tokenizer encodes it; ours agrees."""
    ids = theirs(TEXT)["input_ids"]
    assert ids == WORDPIECE.encode(TEXT).ids
    return torch.tensor([[*ids, IDS["[PAD]"]]]).repeat(5_000, 1)


def as_often(ours, reference, trials):
    """Two counts of the same event: their difference within five standard deviations."""
    p = (ours + reference) / (2 * trials)
    return abs(ours - reference) <= 5 * math.sqrt(2 * trials * p * (1 - p)) + 1e-9


def test_tokens_are_chosen_and_hidden_as_often_as_in_transformers(theirs, batch):
    collator = DataCollatorForLanguageModeling(theirs, seed=3)
    collator.create_rng()
    reference, labels = collator.torch_mask_tokens(batch.clone())
    hidden, predict = mask_tokens(batch, Masking.of(WORDPIECE), generator(5))
    chosen = labels != -100
    rows = len(batch)
    for place in range(batch.shape[1]):
        assert as_often(predict[:, place].sum(), chosen[:, place].sum(), rows)
    assert as_often(predict.sum(), chosen.sum(), batch.numel())
    for read in (MASK_ID, batch):  # masked, and unchanged
        ours, expected = (hidden == read) & predict, (reference == read) & chosen
        assert as_often(ours.sum(), expected.sum(), batch.numel())


def test_whole_words_are_chosen_as_often_as_in_transformers(theirs, batch):
    with pytest.warns(UserWarning, match="Random token replacement"):
        collator = DataCollatorForLanguageModeling(theirs, whole_word_mask=True, seed=3)
    encoded = theirs(TEXT, return_offsets_mapping=True, return_special_tokens_mask=True)
    rows, text = 5_000, batch[:5_000, :-1]
    collator.create_rng()
    _, labels = collator.torch_mask_tokens(
        text.clone(),
        torch.tensor([encoded["special_tokens_mask"]] * rows),
        torch.tensor([encoded["offset_mapping"]] * rows),
    )
    chosen = labels != -100
    predict = mask_tokens(text, Masking.of(WORDPIECE, whole_words=True), generator(5)).predict
    for place in range(text.shape[1]):
        assert as_often(predict[:, place].sum(), chosen[:, place].sum(), rows)
    for places in words_of(text[0]):
        for mask in (predict, chosen):
            assert (mask[:, places].all(dim=1) == mask[:, places].any(dim=1)).all()


# A Masking's data about a vocabulary.


def test_a_masking_takes_its_ids_from_the_vocabulary_and_draws_existing_ones():
    masking = Masking.of(WORDPIECE, whole_words=True)
    assert masking.mask_id == MASK_ID
    assert masking.special_ids.tolist() == sorted(SPECIAL_IDS.tolist())
    ordinary = [id for id, token in enumerate(VOCAB) if token not in SPECIAL]
    assert masking.ordinary_ids.tolist() == ordinary
    assert torch.equal(masking.continues, CONTINUES)
    assert Masking.of(WORDPIECE).continues is None
    assert Masking.of(WORDPIECE).probability == 0.15
    assert Masking.of(WORDPIECE, 0.4).probability == 0.4
    # The vocabulary leaves the ids 2 to 8 free.
    tokenizer = WordPiece({"[UNK]": 0, "[MASK]": 1, "cat": 9}, special_tokens=["[UNK]", "[MASK]"])
    assert Masking.of(tokenizer).ordinary_ids.tolist() == [9]


# The formal algorithm: The cat sat.


def test_the_cat_sat_as_in_the_formal_algorithms_example():
    """x = (21, 11987, 5438); mask, keep, mask: T is {1, 3} there, counted from 0 {0, 2} here."""
    x, mask_token = torch.tensor([21, 11987, 5438]), 50_001
    outcomes = {}
    for seed in range(60):
        holes, T = mask_only(x, mask_token, 0.5, generator(seed))
        outcomes[tuple(T.tolist())] = holes.tolist()
    assert outcomes[0, 2] == [50_001, 11_987, 50_001]
    assert outcomes[()] == [21, 11_987, 5_438]
    assert len(outcomes) == 8, "every subset of three positions"
    assert x.tolist() == [21, 11_987, 5_438]


def test_the_formal_algorithm_masks_with_its_probability():
    x = torch.arange(100_000)
    holes, T = mask_only(x, -1, 0.15, generator())
    assert within(len(T), 100_000, 0.15)
    assert torch.equal(holes, x.index_fill(0, T, -1))
