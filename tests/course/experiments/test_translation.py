"""Pairs without leaks, subwords encoded and decoded, batches of one length."""

from itertools import islice, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertlab.tokenizers import ByteBPE
from course.experiments.translation import Subwords, batches_by_length, split_translations
from course.models.seq2seq.vocabulary import Pair

TEXTS = ["Open the file…", "Ouvrir le fichier…", "Save", "L'état : prêt"]
SUBWORDS = Subwords(ByteBPE.train(TEXTS, 280))


@given(st.text())
def test_a_text_is_restored_and_no_id_is_special(text):
    ids = SUBWORDS.encode(text)
    assert SUBWORDS.decode([1, *ids, 2, *ids]) == text
    assert all(3 <= id < len(SUBWORDS) for id in ids)


def test_spellings_of_one_source_stay_together():
    sources = [f"{a} {b}" for a in "abcdef" for b in ("File", "file…", "FILE!")]
    train, held_out = split_translations([Pair(s, s[::-1]) for s in sources], 2)
    assert (len(train), len(held_out)) == (12, 2)
    assert not {p.source[0] for p in train} & {p.source[0] for p in held_out}
    with pytest.raises(ValueError, match="from 1 to 5"):
        split_translations([Pair(s, s) for s in sources], 6)


def test_an_epoch_has_each_pair_once_in_batches_of_similar_length():
    pairs = [Pair(str(n), "x" * (n % 13)) for n in range(40)]
    batches = list(islice(batches_by_length(pairs, SUBWORDS, 8), 5))
    assert sorted(p for batch in batches for p in batch) == sorted(pairs)
    sizes = [sorted(len(SUBWORDS.encode(p.target)) for p in batch) for batch in batches]
    spans = sorted((found[0], found[-1]) for found in sizes)
    assert all(a[1] <= b[0] for a, b in pairwise(spans))
