"""How far a network sees: receptive fields by formula, influence by gradients.

Both work on one sequence of vectors, [L, D], and on any network that turns it into [L, D'].
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn


def receptive_field(widths: Sequence[int], dilations: Sequence[int] | None = None) -> int:
    """How many input positions one output position of stacked convolutions can see.

    widths: the kernel size of each layer; dilations: the step between the inputs of each layer,
    1 by default. Each layer adds (width - 1) * dilation positions: 1 + the sum of these.
    Source: Goodfellow, Bengio & Courville (2016), section 9.2; with dilation, Yu & Koltun (2016).

    >>> receptive_field([3, 3, 3]), receptive_field([3, 3, 3], [1, 2, 4])
    (7, 15)
    """
    dilations = [1] * len(widths) if dilations is None else dilations
    if len(dilations) != len(widths):
        raise ValueError(
            f"receptive_field: dilations must be one for each of the {len(widths)} layers; "
            f"got {len(dilations)}"
        )
    return 1 + sum((width - 1) * step for width, step in zip(widths, dilations, strict=True))


def influence(network: Callable[[Tensor], Tensor], inputs: Tensor, position: int) -> Tensor:
    """How strongly each input changes one output: the size of the derivative, [L].

    network: [L, D] -> [L, D'], such as a convolution or a recurrent network on one text; inputs:
    [L, D]; position: whose output. Entry t is the Frobenius norm of the D' x D matrix of
    derivatives of output `position` with respect to input t: exactly 0 if t cannot affect it.

    >>> influence(lambda x: x + 2 * x.roll(1, dims=0), torch.ones(4, 1), position=2)
    tensor([0., 2., 1., 0.])
    """
    if inputs.dim() != 2 or not -len(inputs) <= position < len(inputs):
        raise ValueError(
            f"influence: inputs must be [L, D] and position one of the L places; got "
            f"{list(inputs.shape)} and {position}"
        )
    derivatives = torch.autograd.functional.jacobian(
        lambda x: network(x)[position], inputs.detach()
    )  # [D', L, D]
    return derivatives.norm(dim=(0, 2))


class ConvolutionStack(nn.Module):
    """Convolutions on top of each other; each layer keeps the length and looks to both sides.

    widths: odd kernel sizes, one per layer; dilations as in `receptive_field`. Between layers is a
    tanh, where others use a ReLU; seed: of the random weights.
    """

    def __init__(
        self,
        d_model: int,
        widths: Sequence[int],
        dilations: Sequence[int] | None = None,
        *,
        seed: int = 0,
    ) -> None:
        super().__init__()
        dilations = [1] * len(widths) if dilations is None else dilations
        if not widths or any(width % 2 == 0 for width in widths):
            raise ValueError(f"ConvolutionStack: widths must be odd numbers; got {list(widths)}")
        receptive_field(widths, dilations)  # raises if they do not fit
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.layers = nn.ModuleList(
                nn.Conv1d(d_model, d_model, width, padding=(width // 2) * step, dilation=step)
                for width, step in zip(widths, dilations, strict=True)
            )

    def forward(self, x: Tensor) -> Tensor:
        """x: [L, D]; returns [L, D]."""
        x = x.mT  # Conv1d wants [D, L]
        for layer in self.layers:
            x = torch.tanh(layer(x))
        return x.mT
