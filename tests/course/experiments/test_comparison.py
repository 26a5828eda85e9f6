"""The counts of the comparison of architectures, by hand."""

import pytest
import torch

from course.experiments.comparison import accuracy_by_distance, layer_costs
from course.models.seq2seq.vocabulary import END_ID, Vocabulary


def test_layer_costs_by_hand():
    # n = 70 tokens of size 512, convolutions of width 3: one token on each side.
    costs = {cost.kind: cost[1:] for cost in layer_costs(70, 512)}
    assert costs == {
        "self-attention": (70 * 70 * 512, 1, 1),
        "recurrent": (70 * 512 * 512, 70, 70),
        "convolution of width 3": (3 * 70 * 512 * 512, 1, 69),
        "dilated convolutions of width 3": (3 * 70 * 512 * 512, 1, 4),  # 3^4 = 81 >= 70
    }


@pytest.mark.parametrize(("length", "width"), [(2, 3), (11, 3), (12, 3), (11, 5), (30, 7)])
def test_the_path_of_a_convolution_is_counted(length, width):
    layers, heard = 0, 0
    while heard < length - 1:
        layers, heard = layers + 1, heard + (width - 1) // 2
    assert layer_costs(length, 8, width)[2].longest_path == layers


class Copies(torch.nn.Module):
    """A model that copies its source, but writes `wrong` in place of letter number `place`."""

    def __init__(self, place, wrong):
        super().__init__()
        self.place, self.wrong = place, wrong

    def encode(self, source_ids, source_mask):
        copy = source_ids.clone()
        copy[:, self.place] = self.wrong
        return copy

    def decode(self, target_ids, memory, source_mask):
        length = target_ids.shape[1]
        return torch.nn.functional.one_hot(memory[:, :length], 12).float()


def test_accuracy_by_distance_counts_letters():
    vocabulary = Vocabulary("abcdefgh*")
    star = vocabulary.encode("*")[0]
    shares = accuracy_by_distance(Copies(1, star), [2, 4, 10], vocabulary, n_strings=6)
    assert shares == pytest.approx([1 / 2, 3 / 4, 9 / 10])
    cut_short = accuracy_by_distance(Copies(1, END_ID), [4], vocabulary, n_strings=6)
    assert cut_short == pytest.approx([1 / 4])
