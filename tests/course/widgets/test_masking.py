"""Draws of masking on a page: inputs, targets, and counts."""

import torch

from bertlab.pretraining.masking import Masked, Masking, mask_tokens
from bertlab.tokenizers import WordPiece
from course.widgets.masking import masking_rolls
from tests.course.widgets.conftest import body_of, pages_of

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "hans", "##el", "<b>", "girl", "boy"]
TOKENIZER = WordPiece({word: id for id, word in enumerate(WORDS)}, special_tokens=WORDS[:5])
TEXT = torch.tensor([2, 5, 6, 7, 8, 3])  # [CLS] hans ##el <b> girl [SEP]
ASKED = torch.tensor([False, True, False, True, True, False])
ALL_FATES = Masked(torch.tensor([2, 4, 6, 9, 8, 3]), ASKED)  # masked, replaced, unchanged
NOTHING = Masked(TEXT, torch.zeros(6, dtype=torch.bool))


def shown(rolls):
    return masking_rolls(TEXT, rolls, TOKENIZER)


def test_each_token_shows_its_input_its_word_and_its_case():
    (page,) = pages_of(shown({"by hand": [ALL_FATES]}))
    boxes = [(box["class"][0], *(part.get_text() for part in box)) for box in page.select("li")]
    assert boxes == [
        ("special", "[CLS]", "·", ""),
        ("masked", "[MASK]", "hans", "masked"),
        ("kept", "##el", "·", ""),
        ("random", "boy", "<b>", "random"),
        ("unchanged", "girl", "girl", "unchanged"),
        ("special", "[SEP]", "·", ""),
    ]


def test_the_counts_add_up_over_the_draws():
    pages = pages_of(shown({"by hand": [NOTHING, ALL_FATES, ALL_FATES]}))
    counts = [[row[:3] for row in body_of(page)] for page in pages]
    assert counts[0] == [["0 of 4", "0 of 4", "0 %"], *[["0 of 0", "0 of 0", ""]] * 3]
    assert counts[1][0] == ["3 of 4", "3 of 8", "38 %"]
    assert counts[2][0] == ["3 of 4", "6 of 12", "50 %"]
    assert counts[2][1:] == [["1 of 3", "2 of 6", "33 %"]] * 3


def test_every_masking_method_has_a_row_of_draws_in_order():
    pages = pages_of(shown({"one by one": [NOTHING, ALL_FATES], "words": [ALL_FATES, NOTHING]}))
    labels = [page["data-label"] for page in pages]
    assert labels[0] == "one by one, roll 1 of 2"
    assert labels[-1] == "words, roll 2 of 2"
    assert [len(page.select(".masked")) > 0 for page in pages] == [True] * 4  # the table's row
    assert [len(page.select("li.masked")) for page in pages] == [0, 1, 1, 0]


def test_the_alt_text_describes_the_first_page():
    told = shown({"by hand": [ALL_FATES, NOTHING]}).alt
    assert "First page: hans becomes [MASK], <b> becomes boy, girl stays." in told
    assert "First page: no token is chosen." in shown({"by hand": [NOTHING]}).alt


def test_rolls_of_the_library_fit_with_and_without_a_batch_dimension():
    masking = Masking.of(TOKENIZER, 0.5)
    generator = torch.Generator().manual_seed(0)
    rolls = [mask_tokens(TEXT[None], masking, generator) for _ in range(3)]
    one, other = (masking_rolls(ids, {"ours": rolls}, TOKENIZER) for ids in (TEXT, TEXT[None]))
    assert one.page == other.page
    marks = [len(page.select("li small:not(:empty)")) for page in pages_of(one)]
    assert marks == [int(roll.predict.sum()) for roll in rolls]
