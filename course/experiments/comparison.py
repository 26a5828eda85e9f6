"""Compare four kinds of encoder-decoder: sequential steps, accuracy by distance.

Source: Vaswani et al. (2017), section 4 and table 1.
"""

import math
import random
from collections.abc import Sequence
from typing import NamedTuple

from course.experiments.string_tasks import random_letters
from course.models.seq2seq.decoding import EncoderDecoder, device_of, greedy_decode
from course.models.seq2seq.vocabulary import Vocabulary


class LayerCost(NamedTuple):
    """What one layer over n tokens costs; the numbers behind the O( ) of table 1."""

    kind: str
    operations: int  # multiplications, without constant factors
    in_a_row: int  # operations that must wait for each other
    longest_path: int  # layers or steps until the first token reaches the last


def layer_costs(length: int, d_model: int, width: int = 3) -> list[LayerCost]:
    """Table 1 with numbers for `length` tokens of size `d_model` and convolutions of `width`.

    A convolution sees (width - 1) / 2 tokens on either side, so end to end needs
    2 (n - 1) / (width - 1) layers, O(n / k); dilated ones, each with `width` times the reach of the
    one below, need log_k n.

    >>> [cost.in_a_row for cost in layer_costs(70, 512)]
    [1, 70, 1, 1]
    """
    if length < 2 or d_model < 1 or width < 3 or width % 2 == 0:
        raise ValueError(
            "layer_costs: length must be at least 2, d_model at least 1 and width odd, at least "
            f"3; got length={length}, d_model={d_model}, width={width}"
        )
    convolution = width * length * d_model**2
    contiguous = math.ceil(2 * (length - 1) / (width - 1))
    dilated, reach = 0, 1
    while reach < length:
        dilated, reach = dilated + 1, reach * width
    return [
        LayerCost("self-attention", length**2 * d_model, 1, 1),
        LayerCost("recurrent", length * d_model**2, length, length),
        LayerCost(f"convolution of width {width}", convolution, 1, contiguous),
        LayerCost(f"dilated convolutions of width {width}", convolution, 1, dilated),
    ]


def accuracy_by_distance(
    model: EncoderDecoder,
    distances: Sequence[int],
    vocabulary: Vocabulary,
    *,
    letters: str = "abcdefgh",
    n_strings: int = 50,
    seed: int = 1,
) -> list[float]:
    """The share of correct letters when the model copies strings of each length.

    The model decodes greedily, so a mistake can lead to others. A share of 1 / len(letters) is
    chance. See `copy_at_distance`.
    """
    generator, device = random.Random(seed), device_of(model)
    shares = []
    for distance in distances:
        texts = [random_letters(generator, distance, letters) for _ in range(n_strings)]
        ids, mask = vocabulary.sources(texts)
        decoded = greedy_decode(model, ids.to(device), mask.to(device), distance + 1)
        copies = [vocabulary.decode(written).ljust(distance) for written in decoded.ids]
        right = sum(
            a == b
            for text, copy in zip(texts, copies, strict=True)
            for a, b in zip(text, copy, strict=False)
        )
        shares.append(right / (distance * n_strings))
    return shares
