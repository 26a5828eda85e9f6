"""Checks of exercise 6 about BERT's parts, by hand and, for long inputs, by PyTorch's functions."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from course.feedback.checks import Passed
from course.feedback.ex06_bert_encoder.weights import (
    EmbeddingWeights,
    EncoderCheck,
    embedding_weights,
    numbers,
)
from course.feedback.progress import task
from course.feedback.tensors import normal


@task("ex06_bert_encoder", 1)
def layer_norm(function: Callable) -> Passed:
    """Mean 0, variance 1, then scale and shift."""
    check = EncoderCheck(
        "layer_norm",
        function,
        hints=(
            "four steps: the mean of each row, the differences, the mean of their squares, divide",
            "mean(dim=-1, keepdim=True) works on the last dimension and keeps it, with size 1",
        ),
    )
    ones, zeros = torch.ones(4), torch.zeros(4)
    row = torch.tensor([1.0, 1.0, 7.0, 7.0])
    swapped = "gamma multiplies and beta is added, not the other way round"
    check.example(
        *(row, ones, zeros, 0.0),
        gives=[-1.0, -1.0, 1.0, 1.0],
        because="the mean is 4 and the variance 9: subtract 4, divide by the root, 3",
        starts=[
            ([-0.866], "that is the unbiased variance, by D - 1: layer norm divides by D"),
            ([-0.3333], "divide by the root of the variance, the standard deviation"),
            ([-0.5], "the variance is the mean of the squares, not their sum"),
            ([0.3333], "the mean is not subtracted"),
            ([0.2], "that is RMSNorm: here the mean is subtracted before you square"),
            ([-3.0], "the mean is 0 now; the variance must become 1, too"),
            ([1.0, 1.0, 1.0, 1.0], swapped),
        ],
    )
    rows = torch.tensor([[2.0, 2.0, 6.0, 6.0], [1.0, 1.0, 1.0, 5.0]])
    check.example(
        *(rows, ones, zeros, 0.0),
        gives=[[-1.0, -1.0, 1.0, 1.0], [-0.5774, -0.5774, -0.5774, 1.7321]],
        because="each row by itself, along dim=-1; keepdim=True keeps the dimension, with size 1",
        starts=[
            ([1.0, 1.0, 1.0, 1.0], "each row by itself: along dim=-1, not down the columns"),
            ([-0.4714, -0.4714, 1.4142], "one mean for all rows is one too few: use dim=-1"),
        ],
    )
    check.done("a row, two rows")
    gamma, beta = torch.tensor([1.0, 2.0, 3.0, 4.0]), torch.tensor([0.0, 0.0, 10.0, 10.0])
    check.example(
        *(row, gamma, beta, 0.0),
        gives=[-1.0, -2.0, 13.0, 14.0],
        because="[-1, -1, 1, 1] times gamma, [-1, -2, 3, 4], plus beta",
        starts=[
            ([1.0, 2.0, 13.0, 14.0], swapped),
            ([-1.0, -1.0, 1.0, 1.0], "gamma and beta are not used"),
            ([-1.0, -2.0, 33.0], "first scale, then shift: beta is not multiplied"),
            ([-1.0, -2.0, 3.0], "beta is not added"),
            ([-1.0, -1.0, 11.0], "gamma is not used"),
        ],
    )
    check.example(
        *(row, ones, zeros, 16.0),
        gives=[-0.6, -0.6, 0.6, 0.6],
        because="eps = 16 makes the variance 9 + 16 = 25, and its root 5",
        starts=[
            ([-0.1579], "eps stands under the root: sqrt(variance + eps)"),
            ([-1.0], "eps is not used, or not the one that was given"),
        ],
    )
    even = torch.full((2, 4), 3.0)
    check.example(
        *(even, ones, gamma),
        gives=[[1.0, 2.0, 3.0, 4.0]] * 2,
        because="a row of equal numbers has no variance: nothing is left but beta, thanks to eps",
    )
    check.done("gamma and beta, eps, rows of equal numbers")
    blocks = numbers(2, 3, 4, seed=3)
    check.example(
        *(blocks, gamma, beta),
        gives=F.layer_norm(blocks, (4,), gamma, beta, 1e-12),
        because="x may have any number of dimensions: D is the last dimension, whatever their "
        "number: dim=-1",
    )
    far = torch.tensor([3000.3, 3000.3, 3001.7, 3001.7])
    check.example(
        *(far, ones, zeros),
        gives=[-1.0, -1.0, 1.0, 1.0],
        because="numbers far from 0: subtract the mean before you square, or digits get lost",
    )
    wide = [normal(2, 200, 768, dtype=torch.float64), *normal(2, 768, dtype=torch.float64)]
    check.example(*wide, gives=F.layer_norm(wide[0], (768,), wide[1], wide[2], 1e-12))
    check.gradients(blocks, gamma, beta)
    check.done("a batch of 200 tokens and 768 dimensions, 64 bits, gradients")
    return check.passed()


@task("ex06_bert_encoder", 2)
def gelu(function: Callable) -> Passed:
    """The exact form."""
    check = EncoderCheck(
        "gelu",
        function,
        hints=("x times (1 + erf(...)) divided by 2", "inside: torch.erf(x / math.sqrt(2))"),
    )
    check.example(
        SOME,
        gives=EXACT,
        because="x Φ(x), number by number; torch.erf takes a tensor, math.erf only one number",
        mistakes=[
            (BY_TANH, "that is the approximation by tanh; the exact form has erf"),
            (BY_SIGMOID, "that is the approximation by a sigmoid; the exact form has erf"),
            ([0.0, 0.0, 0.0, 1.0, 2.3], "that is ReLU, which has a corner at 0"),
            (SILU, "that is SiLU, x σ(x); GELU has Φ, the normal distribution function"),
            ([0.010724, 0.158655, 0.5, 0.841345, 0.989276], "that is Φ(x): multiply it by x"),
            ([-0.001315, -0.07865, 0.0, 0.92135, 2.298685], "erf takes x / sqrt(2), not x"),
            ([-0.119458, -0.23975, 0.0, 0.76025, 2.180542], "erf takes x / sqrt(2), not x / 2"),
            ([-0.049331, -0.317311, 0.0, 1.682689, 4.550669], "the half is missing: twice GELU"),
            (
                [-0.065152, -0.241971, 0.0, 0.241971, 0.065152],
                "that is x times the density; Φ is the distribution function, with erf",
            ),
        ],
        tolerance=1e-5,
    )
    check.done("negative numbers, 0, positive numbers")
    blocks = 3 * numbers(2, 3, 4, seed=5)
    check.example(blocks, gives=F.gelu(blocks), because="x may have any shape", tolerance=1e-5)
    double = 4 * normal(40, 50, dtype=torch.float64)
    check.example(double, gives=F.gelu(double), tolerance=1e-6)
    check.gradients(blocks)
    check.done("other shapes, 64 bits, gradients")
    return check.passed()


@task("ex06_bert_encoder", 2)
def gelu_approximations(tanh: Callable, sigmoid: Callable) -> Passed:
    """The two formulas without erf; says how wrong each is."""
    by_tanh = EncoderCheck("gelu_tanh", tanh, hints=("the bracket is sqrt(2/pi) (x + c x³)",))
    by_sigmoid = EncoderCheck("gelu_sigmoid", sigmoid, hints=("x * torch.sigmoid(...)",))
    exact = "that is the exact GELU: write the approximation, without erf"
    by_tanh.example(
        SOME,
        gives=BY_TANH,
        because="x (1 + tanh[sqrt(2/pi) (x + 0.044715 x³)]) / 2",
        mistakes=[
            (EXACT, exact),
            (BY_SIGMOID, "that is the other one, with sigmoid"),
            ([-0.057125, -0.168574, 0.0, 0.831426, 2.242875], "the cube is missing"),
            ([-0.082384, -0.178812, 0.0, 0.841192, 2.260527], "it is a cube, not a square"),
            ([-0.057029, -0.168554, 0.0, 0.831446, 2.242971], "only x is cubed, not 0.044715"),
            (
                [-0.007762, -0.110128, 0.0, 0.889872, 2.292238],
                "the square root of 2/pi is missing in front of the bracket",
            ),
            (
                [-0.019565, -0.156408, 0.0, 0.843592, 2.280435],
                "the square root of 2/pi belongs to the cube as well: mind the brackets",
            ),
        ],
        tolerance=1e-5,
    )
    by_sigmoid.example(
        SOME,
        gives=BY_SIGMOID,
        because="x σ(1.702 x)",
        mistakes=[
            (EXACT, exact),
            (BY_TANH, "that is the other one, with tanh"),
            (SILU, "1.702 is missing: x σ(x) is SiLU"),
            (
                [-0.35671, -0.457738, 0.0, 1.244262, 3.55789],
                "1.702 belongs inside the sigmoid, not in front of it",
            ),
            ([0.019558, 0.154204, 0.5, 0.845796, 0.980442], "that is σ(1.702 x): multiply it by x"),
        ],
        tolerance=1e-5,
    )
    x = torch.linspace(-6, 6, 12_001).view(1, -1, 1)
    far = torch.tensor([-300.0, -50.0, 50.0, 300.0])
    for check in (by_tanh, by_sigmoid):
        because = "far from 0 it is 0 or x; exp overflows there, torch.sigmoid does not"
        check.example(far, gives=[0.0, 0.0, 50.0, 300.0], because=because)
        check.gradients(3 * numbers(2, 3, seed=5))
        error = (check.call(x) - F.gelu(x)).abs()
        where = abs(x.flatten()[error.argmax()].item())
        check.done(f"off by at most {error.max():.5f}, near -{where:.1f} and {where:.1f}")
    by_tanh.done(by_sigmoid.passed().text.strip("✓ ."))
    return by_tanh.passed()


# GELU's kin at five places, to six decimals.
SOME = torch.tensor([-2.3, -1.0, 0.0, 1.0, 2.3])
EXACT = [-0.024665, -0.158655, 0.0, 0.841345, 2.275335]
BY_TANH = [-0.024327, -0.158808, 0.0, 0.841192, 2.275673]
BY_SIGMOID = [-0.044984, -0.154204, 0.0, 0.845796, 2.255016]
SILU = [-0.209583, -0.268941, 0.0, 0.731059, 2.090417]


@task("ex06_bert_encoder", 3)
def sinusoidal_positions(function: Callable) -> Passed:
    """Sines and cosines of ever longer waves."""
    check = EncoderCheck(
        "sinusoidal_positions",
        function,
        hints=(
            "a table of angles first, [max_length, d_model / 2]: a column divided by a row",
            "columns 0, 2, 4, ... are positions[:, 0::2], columns 1, 3, 5, ... are [:, 1::2]",
        ),
    )
    turns = "sine and cosine take turns: sin, cos, sin, cos, ..., not all sines first"
    zeroth = [0.0, 1.0, 0.0, 1.0]  # the row of position 0
    check.example(
        *(2, 4),
        gives=[zeroth, [0.8415, 0.5403, 0.01, 0.9999]],
        because="row 0 is sin 0, cos 0, sin 0, cos 0; row 1 is sin 1, cos 1, sin 0.01, cos 0.01",
        mistakes=[((4, 2), "a row is a position: [max_length, d_model]")],
        starts=[
            ([0.0, 0.0, 1.0, 1.0], turns),
            ([1.0, 0.0, 1.0, 0.0], "sines stand at 0, 2, 4, ... and cosines at 1, 3, 5, ..."),
            ([*zeroth, 0.8415, 0.5403, 0.0998], "the exponent is 2i / D, not i / D"),
            ([*zeroth, 0.8415, 0.5403, 0.0001], "your exponent is twice 2i / D"),
            ([*zeroth, 0.8415, 0.995], "a cosine has the angle of the sine before it: 2i for both"),
            ([0.8415, 0.5403, 0.01, 0.9999, 0.9093], "the first position is 0, not 1"),
            ([*zeroth, 0.8415, 0.5403, -0.5064], "divide by the power of 10000"),
            ([*zeroth, 0.8415, 0.5403, 0.0316], "the base is 10000, not 1000"),
            ([0.0, 0.0, 0.0, 0.0, 0.8415], "every second column is a cosine"),
        ],
    )
    check.done("two positions of four dimensions")
    answer = check.call(501, 128)
    shape = f"sinusoidal_positions(501, 128) must be [501, 128]; got {list(answer.shape)}"
    check.law(answer.shape == (501, 128), shape)
    for place, column, numbers_there in (
        (11, 0, [-1.0, 0.0044, -0.1007, -0.9949]),
        (11, 126, [0.0013, 1.0]),
        (500, 0, [-0.4678, -0.8838, -0.5292, 0.8485]),
        (500, 126, [0.0577, 0.9983]),
    ):
        got = answer[place, column : column + len(numbers_there)]
        shown = f"position {place} of 128 dimensions, from dimension {column}"
        check.equals(got, numbers_there, shown, because="the waves go on, for ever longer texts")
    squares = answer.square()
    circle = (squares[:, 0::2] + squares[:, 1::2] - 1).abs().max() < 1e-4
    check.law(bool(circle), "the sine and the cosine of one angle are a point on a circle")
    check.example(1, 2, gives=[[0.0, 1.0]], because="one position, one wave")
    check.done("501 positions of 128 dimensions, a single one")
    return check.passed()


@task("ex06_bert_encoder", 4)
def embed(function: Callable) -> Passed:
    """Token + position + segment, then layer norm."""
    check = EncoderCheck(
        "embed",
        function,
        hints=(
            "three tensors are added: W_e[ids], rows of W_p, W_s[segment_ids]",
            "the rows of W_p are the first L, and L is ids.shape[1]",
        ),
    )
    W_p = torch.tensor([[1.0, 1, 0, 3], [6, -2, 0, 4], [1, 5, 2, 1], [2, 0, 1, 2]])
    weights = EmbeddingWeights(
        torch.tensor([[0.0, 0, 0, 0], [1, 0, 5, 2], [0, 3, 1, 1]]),
        W_p,
        torch.tensor([[0.0, 1, 1, 1], [1, 2, 0, 0]]),
        torch.ones(4),
        torch.zeros(4),
    )
    first = [[-1.0, -1.0, 1.0, 1.0], [1.0, -1.0, -1.0, 1.0]]
    starts_at_1 = [0.6727, -1.7191, 0.3737, 0.6727, -1.1026, 1.6116, -0.0848, -0.4241]
    check.example(
        *(torch.tensor([[1, 2, 1], [2, 1, 0]]), torch.zeros(2, 3, dtype=torch.long), weights),
        gives=[
            [*first, [-1.3416, 0.4472, 1.3416, -0.4472]],
            [
                [-1.2603, 0.9802, -0.7001, 0.9802],
                [0.6727, -1.7191, 0.3737, 0.6727],
                [-1.069, 1.6036, 0.0, -0.5345],
            ],
        ],
        because="ids are [B, L]: the positions go along dimension 1, and only the first L rows of "
        "W_p are added, to every sequence",
        mistakes=[((2, 9, 4), "the three rows are added, not put side by side")],
        starts=[
            ([-0.8552, -0.8552, 1.5882], "the rows of W_p are missing: the positions"),
            ([-0.7001, -1.2603, 0.9802], "the rows of W_s are missing: the segments"),
            ([2.0, 2.0, 6.0, 6.0], "that is the sum: layer norm follows"),
            ([0.4655, 0.931, 2.6036], "norm the sum, not the token's row"),
            ([*starts_at_1, -0.4472], "the first position is 0: its row is W_p[0]"),
            ([*starts_at_1, 0.6727], "W_p is read at 0, 1, 2, ..., not at the ids"),
            (
                [-1.0, -1.0, 1.0, 1.0, -1.2603],
                "positions count tokens, not sequences: 0 to L - 1 in each sequence",
            ),
            (
                [-0.8165, -1.0887, 1.3608],
                "nothing is multiplied by sqrt(D): the first Transformer multiplies, BERT does not",
            ),
        ],
    )
    check.done("two sequences of three tokens")
    ids, segments = torch.tensor([[1, 2, 1]]), torch.tensor([[0, 0, 1]])
    check.example(
        *(ids, segments, weights),
        gives=[[*first, [-1.0, 1.0, 1.0, -1.0]]],
        because="the third token is in segment 1: its row is W_s[1]",
    )
    scaled = weights._replace(gamma=torch.arange(1.0, 5), beta=torch.tensor([0.0, 0, 10, 10]))
    check.example(
        *(ids, segments, scaled),
        gives=[[[-1.0, -2, 13, 14], [1.0, -2, 7, 14], [-1.0, 2, 13, 6]]],
        because="the norm has weights.gamma and weights.beta",
    )
    check.done("segments, gamma and beta")
    _each_position_has_its_row(check)
    return check.passed()


def _each_position_has_its_row(check: EncoderCheck) -> None:
    """A token far into a text is what it would be alone, if its position's row came first."""
    weights = EmbeddingWeights(*(table.double() for table in embedding_weights(7, 8, 300, 2)))
    ids, segments = torch.arange(600).view(2, 300) * 5 % 7, torch.arange(600).view(2, 300) % 2
    answer = check.call(ids, segments, weights)
    for place in (0, 11, 299):
        here = slice(place, place + 1)
        alone = check.call(ids[:, here], segments[:, here], weights._replace(W_p=weights.W_p[here]))
        check.equals(
            *(answer[:, here], alone, f"position {place} of a [2, 300] batch"),
            because=f"its row is W_p[{place}], whatever stands before it",
        )
    check.done("a batch of 300 tokens, 64 bits")


@task("ex06_bert_encoder", 5)
def feed_forward(function: Callable) -> Passed:
    """Each token by itself."""
    check = EncoderCheck(
        "feed_forward",
        function,
        hints=(
            "product, bias, GELU, product, bias, in this order",
            "x @ W_mlp1 needs no transposition: our matrices are [in, out]",
        ),
    )
    check.example(
        torch.tensor([[1.0, 2.0]]),
        *(torch.tensor([[1.0, 0], [2, -1]]), torch.tensor([-2.0, 1])),
        *(torch.tensor([[1.0, 2], [3, 4]]), torch.tensor([0.5, -1])),
        gives=[[3.02, 4.3573]],
        because="[5, -2] + b_mlp1 = [3, -1]; GELU: [2.9960, -0.1587]; then W_mlp2 and b_mlp2",
        mistakes=[
            ([[0.5, 1.0]], "GELU between the two products is missing"),
            ([[0.3457, 0.8413]], "GELU stands between the two products, not behind them"),
            ([[3.0162, 4.3573]], "there is no GELU behind the second product"),
            ([[6.3635, 8.818]], "first the bias, then GELU"),
            ([[0.3868, 0.6827]], "GELU comes after the first product, not before it"),
            ([[3.5, 5.0]], "that is ReLU, as in the first Transformer; BERT has GELU"),
            ([[2.8654, 2.0481]], "W_mlp1 is transposed; it is [D, d_ff] already"),
            ([[3.1786, 7.3532]], "W_mlp2 is transposed; it is [d_ff, D] already"),
            ([[2.024, 1.8894]], "both matrices are transposed; they are [in, out] already"),
            ([[5.3635, 8.818]], "b_mlp1 is not added"),
            ([[2.52, 5.3573]], "b_mlp2 is not added"),
            ([[4.02, 6.3573]], "the residual connection belongs to the layer, which comes next"),
            ([[3.0193, 4.347]], "use your exact `gelu`, not the approximation"),
        ],
    )
    check.done("one token")
    shapes: Sequence[tuple[int, ...]] = [(2, 3, 4), (4, 6), (6,), (6, 4), (4,)]
    x, W_mlp1, b_mlp1, W_mlp2, b_mlp2 = (numbers(*s, seed=9 + i) for i, s in enumerate(shapes))
    expected = _through_torch(x, W_mlp1, b_mlp1, W_mlp2, b_mlp2)
    shapes_fit = "[.., D] @ [D, d_ff], then your exact `gelu`, then [.., d_ff] @ [d_ff, D]"
    check.example(x, W_mlp1, b_mlp1, W_mlp2, b_mlp2, gives=expected, because=shapes_fit)
    check.gradients(x, W_mlp1, b_mlp1, W_mlp2, b_mlp2)
    long = [normal(*s, dtype=torch.float64) for s in [(2, 200, 8), (8, 32), (32,), (32, 8), (8,)]]
    exact = "between the products stands your exact `gelu`, not an approximation"
    check.example(*long, gives=_through_torch(*long), because=exact, tolerance=1e-6)
    check.done("a batch, d_ff unlike D, 200 tokens, 64 bits, gradients")
    return check.passed()


def _through_torch(x: Tensor, *weights: Tensor) -> Tensor:
    """PyTorch's own modules with these weights."""
    layers = []
    for matrix, bias in (weights[:2], weights[2:]):
        linear = nn.Linear(matrix.shape[0], matrix.shape[1], dtype=matrix.dtype)
        linear.weight.data, linear.bias.data = matrix.T, bias
        layers.append(linear)
    return nn.Sequential(layers[0], nn.GELU(), layers[1])(x).detach()
