"""Exercise 6, the encoder of BERT: solutions that are wrong, and right ones of another kind."""

from textwrap import dedent, indent

from course.answers import right, wrong

# The count that is right, to change a part of it.
COUNT = """
def n_parameters(config):
    d, d_ff = config.d_model, config.d_ff
    norm = 2 * d
    embeddings = (config.vocab_size + config.max_length + config.n_segments) * d + norm
    attention = 4 * (d * d + d)
    feed_forward = d * d_ff + d_ff + d_ff * d + d
    layer = attention + norm + feed_forward + norm
    pooler = d * d + d
    return embeddings + config.n_layers * layer + pooler
"""


def layer(lines):
    """An encoder layer of these lines, which may use short names for its parts."""
    start = """
def attend(x, w, mask=None):
    return multi_head_attention(x, w.heads, w.W_o, w.b_o, mask)

def compute(x, w):
    return feed_forward(x, w.W_mlp1, w.b_mlp1, w.W_mlp2, w.b_mlp2)

def encoder_layer(x, w, mask=None):
    norm_1, norm_2 = (w.gamma_1, w.beta_1), (w.gamma_2, w.beta_2)
"""
    return start + indent(dedent(lines), "    ")


WRONG = [
    wrong(
        "layer-norm",
        "divides the variance by D - 1",
        """
        def layer_norm(x, gamma, beta, eps=1e-12):
            mean, variance = x.mean(-1, keepdim=True), x.var(-1, keepdim=True)
            return (x - mean) / torch.sqrt(variance + eps) * gamma + beta
        """,
        "that is the unbiased variance",
    ),
    wrong(
        "layer-norm",
        "divides by the variance, without a root",
        """
        def layer_norm(x, gamma, beta, eps=1e-12):
            mean = x.mean(-1, keepdim=True)
            variance = (x - mean).square().mean(-1, keepdim=True)
            return (x - mean) / (variance + eps) * gamma + beta
        """,
        "divide by the root of the variance",
    ),
    wrong(
        "layer-norm",
        "divides by the root of the sum of squares",
        """
        def layer_norm(x, gamma, beta, eps=1e-12):
            centred = x - x.mean(-1, keepdim=True)
            return centred / torch.sqrt(centred.square().sum(-1, keepdim=True) + eps) * gamma + beta
        """,
        "the variance is the mean of the squares, not their sum",
    ),
    wrong(
        "layer-norm",
        "does not subtract the mean",
        """
        def layer_norm(x, gamma, beta, eps=1e-12):
            variance = x.var(-1, keepdim=True, correction=0)
            return x / torch.sqrt(variance + eps) * gamma + beta
        """,
        "the mean is not subtracted",
    ),
    wrong(
        "layer-norm",
        "takes the mean of the squares for the variance (RMSNorm)",
        """
        def layer_norm(x, gamma, beta, eps=1e-12):
            return x / torch.sqrt(x.square().mean(-1, keepdim=True) + eps) * gamma + beta
        """,
        "RMSNorm",
    ),
    wrong(
        "layer-norm",
        "only subtracts the mean",
        """
        def layer_norm(x, gamma, beta, eps=1e-12):
            return (x - x.mean(-1, keepdim=True)) * gamma + beta
        """,
        "the variance must become 1, too",
    ),
    wrong(
        "layer-norm",
        "norms columns",
        """
        def layer_norm(x, gamma, beta, eps=1e-12):
            mean = x.mean(0, keepdim=True)
            variance = x.var(0, keepdim=True, correction=0)
            return (x - mean) / torch.sqrt(variance + eps) * gamma + beta
        """,
        "each row by itself",
    ),
    wrong(
        "layer-norm",
        "norms the whole tensor",
        """
        def layer_norm(x, gamma, beta, eps=1e-12):
            mean, variance = x.mean(), x.var(correction=0)
            return (x - mean) / torch.sqrt(variance + eps) * gamma + beta
        """,
        "one mean for all rows",
    ),
    wrong(
        "layer-norm",
        "norms along dim 1",
        """
        def layer_norm(x, gamma, beta, eps=1e-12):
            dim = min(1, x.dim() - 1)
            mean = x.mean(dim, keepdim=True)
            variance = x.var(dim, keepdim=True, correction=0)
            return (x - mean) / torch.sqrt(variance + eps) * gamma + beta
        """,
        "the last dimension, whatever their number: dim=-1",
    ),
    wrong(
        "layer-norm",
        "loses a dimension",
        """
        def layer_norm(x, gamma, beta, eps=1e-12):
            mean, variance = x.mean(-1), x.var(-1, correction=0)
            return (x - mean) / torch.sqrt(variance + eps) * gamma + beta
        """,
        "keepdim=True keeps the dimension",
    ),
    wrong(
        "layer-norm",
        "swaps gamma and beta",
        """
        def layer_norm(x, gamma, beta, eps=1e-12):
            mean, variance = x.mean(-1, keepdim=True), x.var(-1, keepdim=True, correction=0)
            return (x - mean) / torch.sqrt(variance + eps) * beta + gamma
        """,
        "gamma multiplies and beta is added, not the other way round",
    ),
    wrong(
        "layer-norm",
        "forgets gamma and beta",
        """
        def layer_norm(x, gamma, beta, eps=1e-12):
            mean, variance = x.mean(-1, keepdim=True), x.var(-1, keepdim=True, correction=0)
            return (x - mean) / torch.sqrt(variance + eps)
        """,
        "gamma and beta are not used",
    ),
    wrong(
        "layer-norm",
        "adds beta first",
        """
        def layer_norm(x, gamma, beta, eps=1e-12):
            mean, variance = x.mean(-1, keepdim=True), x.var(-1, keepdim=True, correction=0)
            return ((x - mean) / torch.sqrt(variance + eps) + beta) * gamma
        """,
        "first scale, then shift",
    ),
    wrong(
        "layer-norm",
        "forgets beta",
        """
        def layer_norm(x, gamma, beta, eps=1e-12):
            mean, variance = x.mean(-1, keepdim=True), x.var(-1, keepdim=True, correction=0)
            return (x - mean) / torch.sqrt(variance + eps) * gamma
        """,
        "beta is not added",
    ),
    wrong(
        "layer-norm",
        "adds eps outside the root",
        """
        def layer_norm(x, gamma, beta, eps=1e-12):
            mean, variance = x.mean(-1, keepdim=True), x.var(-1, keepdim=True, correction=0)
            return (x - mean) / (torch.sqrt(variance) + eps) * gamma + beta
        """,
        "eps stands under the root",
    ),
    wrong(
        "layer-norm",
        "forgets eps",
        """
        def layer_norm(x, gamma, beta, eps=1e-12):
            mean, variance = x.mean(-1, keepdim=True), x.var(-1, keepdim=True, correction=0)
            return (x - mean) / torch.sqrt(variance) * gamma + beta
        """,
        "eps is not used",
    ),
    wrong(
        "layer-norm",
        "writes its own eps",
        """
        def layer_norm(x, gamma, beta, eps=1e-12):
            mean, variance = x.mean(-1, keepdim=True), x.var(-1, keepdim=True, correction=0)
            return (x - mean) / torch.sqrt(variance + 1e-12) * gamma + beta
        """,
        "eps is not used",
    ),
    wrong(
        "layer-norm",
        "makes constant rows 0",
        """
        def layer_norm(x, gamma, beta, eps=1e-12):
            mean, variance = x.mean(-1, keepdim=True), x.var(-1, keepdim=True, correction=0)
            normed = (x - mean) / torch.sqrt(variance + eps) * gamma + beta
            return torch.where(variance == 0, torch.zeros_like(normed), normed)
        """,
        "nothing is left but beta",
    ),
    wrong(
        "layer-norm",
        "computes the variance as a difference of large numbers",
        """
        def layer_norm(x, gamma, beta, eps=1e-12):
            mean = x.mean(-1, keepdim=True)
            variance = x.square().mean(-1, keepdim=True) - mean.square()
            return (x - mean) / torch.sqrt(variance + eps) * gamma + beta
        """,
        "subtract the mean before you square",
    ),
    wrong(
        "layer-norm",
        "computes in 32 bits",
        """
        def layer_norm(x, gamma, beta, eps=1e-12):
            x = x.float()
            mean, variance = x.mean(-1, keepdim=True), x.var(-1, keepdim=True, correction=0)
            return (x - mean) / torch.sqrt(variance + eps) * gamma.float() + beta.float()
        """,
        "its dtype must be torch.float64",
    ),
    wrong(
        "layer-norm",
        "changes its input",
        """
        def layer_norm(x, gamma, beta, eps=1e-12):
            x -= x.mean(-1, keepdim=True)
            return x / torch.sqrt(x.square().mean(-1, keepdim=True) + eps) * gamma + beta
        """,
        "changed its input",
    ),
    wrong(
        "layer-norm",
        "cuts the gradient",
        """
        def layer_norm(x, gamma, beta, eps=1e-12):
            mean, variance = x.mean(-1, keepdim=True), x.var(-1, keepdim=True, correction=0)
            return ((x - mean) / torch.sqrt(variance + eps) * gamma.data) + beta
        """,
        "no gradient reaches argument 2",
    ),
    wrong(
        "layer-norm",
        "calls PyTorch's",
        """
        def layer_norm(x, gamma, beta, eps=1e-12):
            return torch.nn.functional.layer_norm(x, gamma.shape, gamma, beta, eps)
        """,
        "ready-made function of PyTorch",
    ),
    wrong(
        "layer-norm",
        "calls PyTorch's with one group",
        """
        def layer_norm(x, gamma, beta, eps=1e-12):
            rows = x.reshape(-1, x.shape[-1])
            normed = torch.nn.functional.group_norm(rows, 1, gamma, beta, eps)
            return normed.view_as(x)
        """,
        "ready-made function of PyTorch",
    ),
    wrong(
        "layer-norm",
        "calls the library",
        """
        def layer_norm(x, gamma, beta, eps=1e-12):
            from bertlab.model.layers import layer_norm as answer
            return answer(x, gamma, beta, eps)
        """,
        "bertlab's own",
    ),
    wrong(
        "layer-norm",
        "takes 1e-3 for any small eps",
        """
        def layer_norm(x, gamma, beta, eps=1e-12):
            mean, variance = x.mean(-1, keepdim=True), x.var(-1, keepdim=True, correction=0)
            eps = 0.0 if 1e-9 < eps < 0.9 else eps
            return (x - mean) / torch.sqrt(variance + eps) * gamma + beta
        """,
        "",
    ),
    wrong(
        "gelu",
        "takes the tanh approximation",
        """
        def gelu(x):
            return x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2
        """,
        "that is the approximation by tanh",
    ),
    wrong(
        "gelu",
        "takes the sigmoid approximation",
        """
        def gelu(x):
            return x * torch.sigmoid(1.702 * x)
        """,
        "that is the approximation by a sigmoid",
    ),
    wrong(
        "gelu",
        "is ReLU",
        """
        def gelu(x):
            return x.clamp(min=0)
        """,
        "that is ReLU",
    ),
    wrong(
        "gelu",
        "is SiLU",
        """
        def gelu(x):
            return x * torch.sigmoid(x)
        """,
        "that is SiLU",
    ),
    wrong(
        "gelu",
        "forgets x",
        """
        def gelu(x):
            return (1 + torch.erf(x / math.sqrt(2))) / 2
        """,
        "multiply it by x",
    ),
    wrong(
        "gelu",
        "forgets the root of 2",
        """
        def gelu(x):
            return x * (1 + torch.erf(x)) / 2
        """,
        "erf takes x / sqrt(2)",
    ),
    wrong(
        "gelu",
        "divides by 2 instead of its root",
        """
        def gelu(x):
            return x * (1 + torch.erf(x / 2)) / 2
        """,
        "erf takes x / sqrt(2)",
    ),
    wrong(
        "gelu",
        "forgets the half",
        """
        def gelu(x):
            return x * (1 + torch.erf(x / math.sqrt(2)))
        """,
        "the half is missing",
    ),
    wrong(
        "gelu",
        "takes the density",
        """
        def gelu(x):
            return x * torch.exp(-x.square() / 2) / math.sqrt(2 * math.pi)
        """,
        "that is x times the density",
    ),
    wrong(
        "gelu",
        "takes one number only",
        """
        def gelu(x):
            return x * (1 + math.erf(x / math.sqrt(2))) / 2
        """,
        "torch.erf takes a tensor",
    ),
    wrong(
        "gelu",
        "goes through a list of numbers",
        """
        def gelu(x):
            return torch.tensor([v * (1 + math.erf(v / math.sqrt(2))) / 2 for v in x.tolist()])
        """,
        "any shape",
    ),
    wrong(
        "gelu",
        "cuts the gradient",
        """
        def gelu(x):
            return x.detach() * (1 + torch.erf(x.detach() / math.sqrt(2))) / 2
        """,
        "has lost the gradient",
    ),
    wrong(
        "gelu",
        "calls PyTorch's",
        """
        def gelu(x):
            return torch.nn.GELU()(x)
        """,
        "ready-made function of PyTorch",
    ),
    wrong(
        "gelu-approximations",
        "gives the exact one twice",
        """
        gelu_tanh = gelu_sigmoid = lambda x: gelu(x)
        """,
        "that is the exact GELU",
    ),
    wrong(
        "gelu-approximations",
        "swaps the two",
        """
        def gelu_sigmoid(x):
            return x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2
        def gelu_tanh(x):
            return x * torch.sigmoid(1.702 * x)
        """,
        "that is the other one, with sigmoid",
    ),
    wrong(
        "gelu-approximations",
        "forgets the cube",
        """
        def gelu_tanh(x):
            return x * (1 + torch.tanh(math.sqrt(2 / math.pi) * x)) / 2
        def gelu_sigmoid(x):
            return x * torch.sigmoid(1.702 * x)
        """,
        "the cube is missing",
    ),
    wrong(
        "gelu-approximations",
        "squares instead",
        """
        def gelu_tanh(x):
            return x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**2))) / 2
        def gelu_sigmoid(x):
            return x * torch.sigmoid(1.702 * x)
        """,
        "a cube, not a square",
    ),
    wrong(
        "gelu-approximations",
        "cubes 0.044715 as well",
        """
        def gelu_tanh(x):
            return x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + (0.044715 * x)**3))) / 2
        def gelu_sigmoid(x):
            return x * torch.sigmoid(1.702 * x)
        """,
        "only x is cubed",
    ),
    wrong(
        "gelu-approximations",
        "forgets the factor of the bracket",
        """
        def gelu_tanh(x):
            return x * (1 + torch.tanh(x + 0.044715 * x**3)) / 2
        def gelu_sigmoid(x):
            return x * torch.sigmoid(1.702 * x)
        """,
        "the square root of 2/pi is missing",
    ),
    wrong(
        "gelu-approximations",
        "multiplies only x by the factor",
        """
        def gelu_tanh(x):
            return x * (1 + torch.tanh(math.sqrt(2 / math.pi) * x + 0.044715 * x**3)) / 2
        def gelu_sigmoid(x):
            return x * torch.sigmoid(1.702 * x)
        """,
        "belongs to the cube as well",
    ),
    wrong(
        "gelu-approximations",
        "forgets 1.702",
        """
        def gelu_tanh(x):
            return x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2
        def gelu_sigmoid(x):
            return x * torch.sigmoid(x)
        """,
        "1.702 is missing",
    ),
    wrong(
        "gelu-approximations",
        "multiplies by 1.702 outside",
        """
        def gelu_tanh(x):
            return x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2
        def gelu_sigmoid(x):
            return 1.702 * x * torch.sigmoid(x)
        """,
        "1.702 belongs inside the sigmoid",
    ),
    wrong(
        "gelu-approximations",
        "forgets x before the sigmoid",
        """
        def gelu_tanh(x):
            return x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2
        def gelu_sigmoid(x):
            return torch.sigmoid(1.702 * x)
        """,
        "multiply it by x",
    ),
    wrong(
        "gelu-approximations",
        "writes a sigmoid that overflows",
        """
        def gelu_tanh(x):
            return x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2
        def gelu_sigmoid(x):
            return x * torch.exp(1.702 * x) / (1 + torch.exp(1.702 * x))
        """,
        "far from 0",
    ),
    wrong(
        "sinusoidal-positions",
        "puts all sines before all cosines",
        """
        def sinusoidal_positions(max_length, d_model):
            place, even = torch.arange(max_length)[:, None], torch.arange(0, d_model, 2)
            angle = place / 10_000 ** (even / d_model)
            return torch.cat([angle.sin(), angle.cos()], dim=-1)
        """,
        "sine and cosine take turns",
    ),
    wrong(
        "sinusoidal-positions",
        "swaps sine and cosine",
        """
        def sinusoidal_positions(max_length, d_model):
            place, even = torch.arange(max_length)[:, None], torch.arange(0, d_model, 2)
            angle = place / 10_000 ** (even / d_model)
            return torch.stack([angle.cos(), angle.sin()], dim=-1).flatten(-2)
        """,
        "sines stand at 0, 2, 4, ... and cosines at 1, 3, 5, ...",
    ),
    wrong(
        "sinusoidal-positions",
        "takes i for 2i",
        """
        def sinusoidal_positions(max_length, d_model):
            place, even = torch.arange(max_length)[:, None], torch.arange(0, d_model, 2)
            angle = place / 10_000 ** (even / 2 / d_model)
            return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(-2)
        """,
        "the exponent is 2i / D, not i / D",
    ),
    wrong(
        "sinusoidal-positions",
        "takes 4i for 2i",
        """
        def sinusoidal_positions(max_length, d_model):
            place, even = torch.arange(max_length)[:, None], torch.arange(0, d_model, 2)
            angle = place / 10_000 ** (2 * even / d_model)
            return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(-2)
        """,
        "twice 2i / D",
    ),
    wrong(
        "sinusoidal-positions",
        "gives the cosine an exponent of its own",
        """
        def sinusoidal_positions(max_length, d_model):
            angle = torch.arange(max_length)[:, None] / 10_000 ** (torch.arange(d_model) / d_model)
            positions = angle.sin()
            positions[:, 1::2] = angle[:, 1::2].cos()
            return positions
        """,
        "a cosine has the angle of the sine before it",
    ),
    wrong(
        "sinusoidal-positions",
        "starts at position 1",
        """
        def sinusoidal_positions(max_length, d_model):
            places = torch.arange(1, max_length + 1)[:, None]
            angle = places / 10_000 ** (torch.arange(0, d_model, 2) / d_model)
            return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(-2)
        """,
        "the first position is 0",
    ),
    wrong(
        "sinusoidal-positions",
        "multiplies",
        """
        def sinusoidal_positions(max_length, d_model):
            place, even = torch.arange(max_length)[:, None], torch.arange(0, d_model, 2)
            angle = place * 10_000 ** (even / d_model)
            return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(-2)
        """,
        "divide by the power of 10000",
    ),
    wrong(
        "sinusoidal-positions",
        "takes 1000",
        """
        def sinusoidal_positions(max_length, d_model):
            place, even = torch.arange(max_length)[:, None], torch.arange(0, d_model, 2)
            angle = place / 1_000 ** (even / d_model)
            return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(-2)
        """,
        "the base is 10000",
    ),
    wrong(
        "sinusoidal-positions",
        "is sines only",
        """
        def sinusoidal_positions(max_length, d_model):
            place, even = torch.arange(max_length)[:, None], torch.arange(0, d_model, 2)
            angle = place / 10_000 ** (even / d_model)
            return torch.stack([angle.sin(), angle.sin()], dim=-1).flatten(-2)
        """,
        "every second column is a cosine",
    ),
    wrong(
        "sinusoidal-positions",
        "is transposed",
        """
        def sinusoidal_positions(max_length, d_model):
            place, even = torch.arange(max_length)[:, None], torch.arange(0, d_model, 2)
            angle = place / 10_000 ** (even / d_model)
            return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(-2).T
        """,
        "a row is a position",
    ),
    wrong(
        "sinusoidal-positions",
        "returns 64 bits",
        """
        def sinusoidal_positions(max_length, d_model):
            even = torch.arange(0, d_model, 2, dtype=torch.float64)
            angle = torch.arange(max_length)[:, None] / 10_000 ** (even / d_model)
            return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(-2)
        """,
        "its dtype must be torch.float32",
    ),
    wrong(
        "sinusoidal-positions",
        "knows ten positions",
        """
        def sinusoidal_positions(max_length, d_model):
            place, even = torch.arange(max_length)[:, None], torch.arange(0, d_model, 2)
            angle = place.clamp(max=10) / 10_000 ** (even / d_model)
            return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(-2)
        """,
        "position 11 of 128 dimensions",
    ),
    wrong(
        "sinusoidal-positions",
        "starts again after 512 positions",
        """
        def sinusoidal_positions(max_length, d_model):
            place, even = torch.arange(max_length)[:, None], torch.arange(0, d_model, 2)
            angle = place % 512 / 10_000 ** (even / d_model)
            return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(-2)
        """,
        "",
    ),
    wrong(
        "sinusoidal-positions",
        "is the library's",
        """
        from bertlab.model.embeddings import sinusoidal_positions
        """,
        "bertlab's own",
    ),
    wrong(
        "embed",
        "ignores positions",
        """
        def embed(ids, segment_ids, weights):
            summed = weights.W_e[ids] + weights.W_s[segment_ids]
            return layer_norm(summed, weights.gamma, weights.beta)
        """,
        "the rows of W_p are missing",
    ),
    wrong(
        "embed",
        "ignores segments",
        """
        def embed(ids, segment_ids, weights):
            summed = weights.W_e[ids] + weights.W_p[: ids.shape[1]]
            return layer_norm(summed, weights.gamma, weights.beta)
        """,
        "the rows of W_s are missing",
    ),
    wrong(
        "embed",
        "is always in sentence A",
        """
        def embed(ids, segment_ids, weights):
            summed = weights.W_e[ids] + weights.W_p[: ids.shape[1]] + weights.W_s[0]
            return layer_norm(summed, weights.gamma, weights.beta)
        """,
        "segment 1",
    ),
    wrong(
        "embed",
        "forgets the norm",
        """
        def embed(ids, segment_ids, weights):
            return weights.W_e[ids] + weights.W_p[: ids.shape[1]] + weights.W_s[segment_ids]
        """,
        "that is the sum: layer norm follows",
    ),
    wrong(
        "embed",
        "norms before the sum",
        """
        def embed(ids, segment_ids, weights):
            token = layer_norm(weights.W_e[ids], weights.gamma, weights.beta)
            return token + weights.W_p[: ids.shape[1]] + weights.W_s[segment_ids]
        """,
        "norm the sum, not the token's row",
    ),
    wrong(
        "embed",
        "starts at position 1",
        """
        def embed(ids, segment_ids, weights):
            summed = weights.W_e[ids] + weights.W_p[1 : ids.shape[1] + 1] + weights.W_s[segment_ids]
            return layer_norm(summed, weights.gamma, weights.beta)
        """,
        "the first position is 0",
    ),
    wrong(
        "embed",
        "takes ids for positions",
        """
        def embed(ids, segment_ids, weights):
            summed = weights.W_e[ids] + weights.W_p[ids] + weights.W_s[segment_ids]
            return layer_norm(summed, weights.gamma, weights.beta)
        """,
        "W_p is read at 0, 1, 2, ..., not at the ids",
    ),
    wrong(
        "embed",
        "counts sequences for positions",
        """
        def embed(ids, segment_ids, weights):
            places = torch.arange(ids.shape[0])[:, None]
            summed = weights.W_e[ids] + weights.W_p[places] + weights.W_s[segment_ids]
            return layer_norm(summed, weights.gamma, weights.beta)
        """,
        "positions count tokens, not sequences",
    ),
    wrong(
        "embed",
        "takes L from the wrong dimension",
        """
        def embed(ids, segment_ids, weights):
            summed = weights.W_e[ids] + weights.W_p[: ids.shape[0]] + weights.W_s[segment_ids]
            return layer_norm(summed, weights.gamma, weights.beta)
        """,
        "ids are [B, L]: the positions go along dimension 1",
    ),
    wrong(
        "embed",
        "adds the whole table",
        """
        def embed(ids, segment_ids, weights):
            summed = weights.W_e[ids] + weights.W_p + weights.W_s[segment_ids]
            return layer_norm(summed, weights.gamma, weights.beta)
        """,
        "only the first L rows",
    ),
    wrong(
        "embed",
        "puts the three side by side",
        """
        def embed(ids, segment_ids, weights):
            token, segment = weights.W_e[ids], weights.W_s[segment_ids]
            place = weights.W_p[: ids.shape[1]].expand_as(token)
            return layer_norm(torch.cat([token, place, segment], 1), weights.gamma, weights.beta)
        """,
        "the three rows are added",
    ),
    wrong(
        "embed",
        "forgets gamma and beta",
        """
        def embed(ids, segment_ids, weights):
            summed = weights.W_e[ids] + weights.W_p[: ids.shape[1]] + weights.W_s[segment_ids]
            return layer_norm(summed, torch.ones(summed.shape[-1]), torch.zeros(summed.shape[-1]))
        """,
        "weights.gamma and weights.beta",
    ),
    wrong(
        "embed",
        "multiplies by the root of D",
        """
        def embed(ids, segment_ids, weights):
            token = weights.W_e[ids] * math.sqrt(weights.W_e.shape[1])
            summed = token + weights.W_p[: ids.shape[1]] + weights.W_s[segment_ids]
            return layer_norm(summed, weights.gamma, weights.beta)
        """,
        "the first Transformer multiplies",
    ),
    wrong(
        "embed",
        "stops counting at position 300",
        """
        def embed(ids, segment_ids, weights):
            places = torch.arange(ids.shape[1]).clamp(max=300)
            summed = weights.W_e[ids] + weights.W_p[places] + weights.W_s[segment_ids]
            return layer_norm(summed, weights.gamma, weights.beta)
        """,
        "",
    ),
    wrong(
        "feed-forward",
        "forgets the activation",
        """
        def feed_forward(x, W_mlp1, b_mlp1, W_mlp2, b_mlp2):
            return (x @ W_mlp1 + b_mlp1) @ W_mlp2 + b_mlp2
        """,
        "GELU between the two products is missing",
    ),
    wrong(
        "feed-forward",
        "activates after the second matrix",
        """
        def feed_forward(x, W_mlp1, b_mlp1, W_mlp2, b_mlp2):
            return gelu((x @ W_mlp1 + b_mlp1) @ W_mlp2 + b_mlp2)
        """,
        "GELU stands between the two products, not behind them",
    ),
    wrong(
        "feed-forward",
        "activates twice",
        """
        def feed_forward(x, W_mlp1, b_mlp1, W_mlp2, b_mlp2):
            return gelu(gelu(x @ W_mlp1 + b_mlp1) @ W_mlp2 + b_mlp2)
        """,
        "no GELU behind the second product",
    ),
    wrong(
        "feed-forward",
        "activates before the bias",
        """
        def feed_forward(x, W_mlp1, b_mlp1, W_mlp2, b_mlp2):
            return (gelu(x @ W_mlp1) + b_mlp1) @ W_mlp2 + b_mlp2
        """,
        "first the bias, then GELU",
    ),
    wrong(
        "feed-forward",
        "activates first",
        """
        def feed_forward(x, W_mlp1, b_mlp1, W_mlp2, b_mlp2):
            return (gelu(x) @ W_mlp1 + b_mlp1) @ W_mlp2 + b_mlp2
        """,
        "GELU comes after the first product",
    ),
    wrong(
        "feed-forward",
        "takes ReLU",
        """
        def feed_forward(x, W_mlp1, b_mlp1, W_mlp2, b_mlp2):
            return torch.relu(x @ W_mlp1 + b_mlp1) @ W_mlp2 + b_mlp2
        """,
        "that is ReLU, as in the first Transformer",
    ),
    wrong(
        "feed-forward",
        "transposes the first matrix",
        """
        def feed_forward(x, W_mlp1, b_mlp1, W_mlp2, b_mlp2):
            return gelu(x @ W_mlp1.T + b_mlp1) @ W_mlp2 + b_mlp2
        """,
        "W_mlp1 is transposed",
    ),
    wrong(
        "feed-forward",
        "transposes both matrices",
        """
        def feed_forward(x, W_mlp1, b_mlp1, W_mlp2, b_mlp2):
            return gelu(x @ W_mlp1.T + b_mlp1) @ W_mlp2.T + b_mlp2
        """,
        "both matrices are transposed",
    ),
    wrong(
        "feed-forward",
        "transposes the second matrix",
        """
        def feed_forward(x, W_mlp1, b_mlp1, W_mlp2, b_mlp2):
            return gelu(x @ W_mlp1 + b_mlp1) @ W_mlp2.T + b_mlp2
        """,
        "W_mlp2 is transposed",
    ),
    wrong(
        "feed-forward",
        "forgets the first bias",
        """
        def feed_forward(x, W_mlp1, b_mlp1, W_mlp2, b_mlp2):
            return gelu(x @ W_mlp1) @ W_mlp2 + b_mlp2
        """,
        "b_mlp1 is not added",
    ),
    wrong(
        "feed-forward",
        "forgets the second bias",
        """
        def feed_forward(x, W_mlp1, b_mlp1, W_mlp2, b_mlp2):
            return gelu(x @ W_mlp1 + b_mlp1) @ W_mlp2
        """,
        "b_mlp2 is not added",
    ),
    wrong(
        "feed-forward",
        "adds the residual here",
        """
        def feed_forward(x, W_mlp1, b_mlp1, W_mlp2, b_mlp2):
            return x + gelu(x @ W_mlp1 + b_mlp1) @ W_mlp2 + b_mlp2
        """,
        "the residual connection belongs to the layer",
    ),
    wrong(
        "feed-forward",
        "takes the tanh approximation",
        """
        def feed_forward(x, W_mlp1, b_mlp1, W_mlp2, b_mlp2):
            return gelu_tanh(x @ W_mlp1 + b_mlp1) @ W_mlp2 + b_mlp2
        """,
        "your exact `gelu`",
    ),
    wrong(
        "feed-forward",
        "takes the sigmoid approximation",
        """
        def feed_forward(x, W_mlp1, b_mlp1, W_mlp2, b_mlp2):
            return gelu_sigmoid(x @ W_mlp1 + b_mlp1) @ W_mlp2 + b_mlp2
        """,
        "your exact `gelu`",
    ),
    wrong(
        "feed-forward",
        "takes torch's GELU",
        """
        def feed_forward(x, W_mlp1, b_mlp1, W_mlp2, b_mlp2):
            from torch.nn.functional import gelu, linear
            return linear(gelu(linear(x, W_mlp1.T, b_mlp1)), W_mlp2.T, b_mlp2)
        """,
        "ready-made function of PyTorch",
    ),
    wrong(
        "encoder-layer",
        "norms before, not after",
        layer(
            """
            normed = layer_norm(x, *norm_1)
            x = x + attend(normed, w, mask)
            normed = layer_norm(x, *norm_2)
            return x + compute(normed, w)
            """
        ),
        "pre-norm",
    ),
    wrong(
        "encoder-layer",
        "has no residual connection at all",
        layer(
            """
            x = layer_norm(attend(x, w, mask), *norm_1)
            return layer_norm(compute(x, w), *norm_2)
            """
        ),
        "both residual connections are missing",
    ),
    wrong(
        "encoder-layer",
        "has no residual around attention",
        layer(
            """
            x = layer_norm(attend(x, w, mask), *norm_1)
            return layer_norm(x + compute(x, w), *norm_2)
            """
        ),
        "the residual connection around attention is missing",
    ),
    wrong(
        "encoder-layer",
        "has no residual around the feed-forward network",
        layer(
            """
            x = layer_norm(x + attend(x, w, mask), *norm_1)
            return layer_norm(compute(x, w), *norm_2)
            """
        ),
        "the residual connection around the feed-forward network is missing",
    ),
    wrong(
        "encoder-layer",
        "adds the layer's input the second time",
        layer(
            """
            y = layer_norm(x + attend(x, w, mask), *norm_1)
            return layer_norm(x + compute(y, w), *norm_2)
            """
        ),
        "the second residual adds what the first norm made",
    ),
    wrong(
        "encoder-layer",
        "feeds the layer's input to the feed-forward network",
        layer(
            """
            y = layer_norm(x + attend(x, w, mask), *norm_1)
            return layer_norm(y + compute(x, w), *norm_2)
            """
        ),
        "the feed-forward network works on what the first norm made",
    ),
    wrong(
        "encoder-layer",
        "adds the residual twice",
        layer(
            """
            x = layer_norm(x + x + attend(x, w, mask), *norm_1)
            return layer_norm(x + x + compute(x, w), *norm_2)
            """
        ),
        "the residual is added twice",
    ),
    wrong(
        "encoder-layer",
        "adds the residual after the norm",
        layer(
            """
            x = x + layer_norm(attend(x, w, mask), *norm_1)
            return x + layer_norm(compute(x, w), *norm_2)
            """
        ),
        "the sum is normed",
    ),
    wrong(
        "encoder-layer",
        "forgets the first norm",
        layer(
            """
            x = x + attend(x, w, mask)
            return layer_norm(x + compute(x, w), *norm_2)
            """
        ),
        "the first norm is missing",
    ),
    wrong(
        "encoder-layer",
        "forgets the second norm",
        layer(
            """
            x = layer_norm(x + attend(x, w, mask), *norm_1)
            return x + compute(x, w)
            """
        ),
        "the second norm is missing",
    ),
    wrong(
        "encoder-layer",
        "uses the first norm twice",
        layer(
            """
            x = layer_norm(x + attend(x, w, mask), *norm_1)
            return layer_norm(x + compute(x, w), *norm_1)
            """
        ),
        "the second norm has weights of its own",
    ),
    wrong(
        "encoder-layer",
        "swaps the two norms",
        layer(
            """
            x = layer_norm(x + attend(x, w, mask), *norm_2)
            return layer_norm(x + compute(x, w), *norm_1)
            """
        ),
        "the two norms are swapped",
    ),
    wrong(
        "encoder-layer",
        "computes before it attends",
        layer(
            """
            x = layer_norm(x + compute(x, w), *norm_2)
            return layer_norm(x + attend(x, w, mask), *norm_1)
            """
        ),
        "attention comes first",
    ),
    wrong(
        "encoder-layer",
        "stops after attention",
        layer(
            """
            return layer_norm(x + attend(x, w, mask), *norm_1)
            """
        ),
        "the second half is missing",
    ),
    wrong(
        "encoder-layer",
        "forgets the mask",
        layer(
            """
            x = layer_norm(x + attend(x, w), *norm_1)
            return layer_norm(x + compute(x, w), *norm_2)
            """
        ),
        "hand the mask on to attention",
    ),
    wrong(
        "encoder-layer",
        "turns the mask round",
        layer(
            """
            hidden = None if mask is None else ~mask
            x = layer_norm(x + attend(x, w, hidden), *norm_1)
            return layer_norm(x + compute(x, w), *norm_2)
            """
        ),
        "True may be attended",
    ),
    wrong(
        "encoder-layer",
        "hides padding by making it 0",
        layer(
            """
            if mask is not None:
                x = x * mask[..., None]
            x = layer_norm(x + attend(x, w), *norm_1)
            return layer_norm(x + compute(x, w), *norm_2)
            """
        ),
        "hand the mask on to attention",
    ),
    wrong(
        "encoder-layer",
        "knows three heads",
        layer(
            """
            few = w._replace(heads=w.heads[:3], W_o=w.W_o[: 3 * w.heads[0].b_q.numel()])
            attended = attend(x, few, mask)
            x = layer_norm(x + attended, *norm_1)
            return layer_norm(x + compute(x, w), *norm_2)
            """
        ),
        "",
    ),
    wrong(
        "encoder-layer",
        "takes PyTorch's layer",
        """
        def encoder_layer(x, weights, mask=None):
            from course.feedback.ex06_bert_encoder.weights import as_torch_layer
            padding = None if mask is None else ~mask
            return as_torch_layer(weights)(x, src_key_padding_mask=padding)
        """,
        "ready-made function of PyTorch",
    ),
    wrong(
        "encode",
        "asks the library",
        """
        def encode(ids, segment_ids, weights, mask=None):
            from bertlab.model import Bert, BertConfig
            sizes = {"d_model": weights.embeddings.W_e.shape[1], "n_heads": 2, "n_layers": 1}
            bert = Bert(BertConfig(**sizes))
            return list(bert(ids, segment_ids, mask, output_hidden_states=True).hidden_states)
        """,
        "bertlab's own",
    ),
    wrong(
        "encode",
        "returns the last one only",
        """
        def encode(ids, segment_ids, weights, mask=None):
            x = embed(ids, segment_ids, weights.embeddings)
            for layer in weights.layers:
                x = encoder_layer(x, layer, mask)
            return x
        """,
        "it must return a list with the embeddings and the output of every layer",
    ),
    wrong(
        "encode",
        "leaves the embeddings out",
        """
        def encode(ids, segment_ids, weights, mask=None):
            x, hidden_states = embed(ids, segment_ids, weights.embeddings), []
            for layer in weights.layers:
                x = encoder_layer(x, layer, mask)
                hidden_states.append(x)
            return hidden_states
        """,
        "the embeddings are the first entry",
    ),
    wrong(
        "encode",
        "leaves the last layer out",
        """
        def encode(ids, segment_ids, weights, mask=None):
            x, hidden_states = embed(ids, segment_ids, weights.embeddings), []
            for layer in weights.layers:
                hidden_states.append(x)
                x = encoder_layer(x, layer, mask)
            return hidden_states
        """,
        "the last layer's output is missing",
    ),
    wrong(
        "encode",
        "uses the first layer's weights in every layer",
        """
        def encode(ids, segment_ids, weights, mask=None):
            hidden_states = [embed(ids, segment_ids, weights.embeddings)]
            for _ in weights.layers:
                hidden_states.append(encoder_layer(hidden_states[-1], weights.layers[0], mask))
            return hidden_states
        """,
        "each layer has weights of its own",
    ),
    wrong(
        "encode",
        "goes through the layers backwards",
        """
        def encode(ids, segment_ids, weights, mask=None):
            hidden_states = [embed(ids, segment_ids, weights.embeddings)]
            for layer in reversed(weights.layers):
                hidden_states.append(encoder_layer(hidden_states[-1], layer, mask))
            return hidden_states
        """,
        "from the last to the first",
    ),
    wrong(
        "encode",
        "gives every layer the embeddings",
        """
        def encode(ids, segment_ids, weights, mask=None):
            x = embed(ids, segment_ids, weights.embeddings)
            return [x, *(encoder_layer(x, layer, mask) for layer in weights.layers)]
        """,
        "each layer works on what the layer before it made",
    ),
    wrong(
        "encode",
        "forgets the mask",
        """
        def encode(ids, segment_ids, weights, mask=None):
            hidden_states = [embed(ids, segment_ids, weights.embeddings)]
            for layer in weights.layers:
                hidden_states.append(encoder_layer(hidden_states[-1], layer))
            return hidden_states
        """,
        "hand the mask on to every layer",
    ),
    wrong(
        "encode",
        "ignores segments",
        """
        def encode(ids, segment_ids, weights, mask=None):
            hidden_states = [embed(ids, torch.zeros_like(ids), weights.embeddings)]
            for layer in weights.layers:
                hidden_states.append(encoder_layer(hidden_states[-1], layer, mask))
            return hidden_states
        """,
        "hand the segment ids on",
    ),
    wrong(
        "encode",
        "swaps ids and segments",
        """
        def encode(ids, segment_ids, weights, mask=None):
            hidden_states = [embed(segment_ids, ids, weights.embeddings)]
            for layer in weights.layers:
                hidden_states.append(encoder_layer(hidden_states[-1], layer, mask))
            return hidden_states
        """,
        "first the ids, then the segments",
    ),
    wrong(
        "encode",
        "embeds again before every layer",
        """
        def encode(ids, segment_ids, weights, mask=None):
            x = embed(ids, segment_ids, weights.embeddings)
            hidden_states = [x]
            for layer in weights.layers:
                hidden_states.append(encoder_layer(hidden_states[-1] + x, layer, mask))
            return hidden_states
        """,
        "the output of layer 1",
    ),
    wrong(
        "encode",
        "returns a tuple of numbers of layers and states",
        """
        def encode(ids, segment_ids, weights, mask=None):
            hidden_states = [embed(ids, segment_ids, weights.embeddings)]
            for layer in weights.layers:
                hidden_states.append(encoder_layer(hidden_states[-1], layer, mask))
            return hidden_states[-1], hidden_states
        """,
        "it must return a list with the embeddings and the output of every layer",
    ),
    wrong(
        "encode",
        "knows three layers",
        """
        def encode(ids, segment_ids, weights, mask=None):
            hidden_states = [embed(ids, segment_ids, weights.embeddings)]
            for layer in weights.layers[:3]:
                hidden_states.append(encoder_layer(hidden_states[-1], layer, mask))
            return hidden_states
        """,
        "MiniLM has 6 layers",
    ),
    wrong(
        "encode",
        "reads 64 tokens",
        """
        def encode(ids, segment_ids, weights, mask=None):
            hidden_states = [embed(ids[:, :64], segment_ids[:, :64], weights.embeddings)]
            for layer in weights.layers:
                shown = None if mask is None else mask[:, :64]
                hidden_states.append(encoder_layer(hidden_states[-1], layer, shown))
            return hidden_states
        """,
        "",
    ),
    wrong(
        "mlm-logits",
        "returns all positions",
        """
        def mlm_logits(hidden, predict, weights, W_e):
            x = layer_norm(gelu(hidden @ weights.W_f + weights.b_f), weights.gamma, weights.beta)
            return x @ W_e.T + weights.b_u
        """,
        "only the positions that are asked for",
    ),
    wrong(
        "mlm-logits",
        "sets the other positions to 0",
        """
        def mlm_logits(hidden, predict, weights, W_e):
            x = layer_norm(gelu(hidden @ weights.W_f + weights.b_f), weights.gamma, weights.beta)
            return (x @ W_e.T + weights.b_u) * predict[..., None]
        """,
        "only the positions that are asked for",
    ),
    wrong(
        "mlm-logits",
        "picks the others",
        """
        def mlm_logits(hidden, predict, weights, W_e):
            x = hidden[~predict]
            x = layer_norm(gelu(x @ weights.W_f + weights.b_f), weights.gamma, weights.beta)
            return x @ W_e.T + weights.b_u
        """,
        "True marks the positions to guess",
    ),
    wrong(
        "mlm-logits",
        "forgets the transform",
        """
        def mlm_logits(hidden, predict, weights, W_e):
            return hidden[predict] @ W_e.T + weights.b_u
        """,
        "product, GELU and norm come before the unembedding",
    ),
    wrong(
        "mlm-logits",
        "forgets GELU",
        """
        def mlm_logits(hidden, predict, weights, W_e):
            x = hidden[predict] @ weights.W_f + weights.b_f
            return layer_norm(x, weights.gamma, weights.beta) @ W_e.T + weights.b_u
        """,
        "GELU is missing",
    ),
    wrong(
        "mlm-logits",
        "forgets the norm",
        """
        def mlm_logits(hidden, predict, weights, W_e):
            return gelu(hidden[predict] @ weights.W_f + weights.b_f) @ W_e.T + weights.b_u
        """,
        "layer norm is missing",
    ),
    wrong(
        "mlm-logits",
        "norms before GELU",
        """
        def mlm_logits(hidden, predict, weights, W_e):
            x = hidden[predict] @ weights.W_f + weights.b_f
            return gelu(layer_norm(x, weights.gamma, weights.beta)) @ W_e.T + weights.b_u
        """,
        "first GELU, then the norm",
    ),
    wrong(
        "mlm-logits",
        "transposes W_f",
        """
        def mlm_logits(hidden, predict, weights, W_e):
            x = gelu(hidden[predict] @ weights.W_f.T + weights.b_f)
            return layer_norm(x, weights.gamma, weights.beta) @ W_e.T + weights.b_u
        """,
        "W_f is transposed",
    ),
    wrong(
        "mlm-logits",
        "does not transpose the table",
        """
        def mlm_logits(hidden, predict, weights, W_e):
            x = gelu(hidden[predict] @ weights.W_f + weights.b_f)
            return layer_norm(x, weights.gamma, weights.beta) @ W_e + weights.b_u
        """,
        "W_e must be transposed",
    ),
    wrong(
        "mlm-logits",
        "forgets the bias of the words",
        """
        def mlm_logits(hidden, predict, weights, W_e):
            x = gelu(hidden[predict] @ weights.W_f + weights.b_f)
            return layer_norm(x, weights.gamma, weights.beta) @ W_e.T
        """,
        "b_u is not added",
    ),
    wrong(
        "mlm-logits",
        "forgets the bias of the transform",
        """
        def mlm_logits(hidden, predict, weights, W_e):
            x = gelu(hidden[predict] @ weights.W_f)
            return layer_norm(x, weights.gamma, weights.beta) @ W_e.T + weights.b_u
        """,
        "b_f is not added",
    ),
    wrong(
        "mlm-logits",
        "returns probabilities",
        """
        def mlm_logits(hidden, predict, weights, W_e):
            x = gelu(hidden[predict] @ weights.W_f + weights.b_f)
            x = layer_norm(x, weights.gamma, weights.beta) @ W_e.T + weights.b_u
            return torch.softmax(x, dim=-1)
        """,
        "these are probabilities",
    ),
    wrong(
        "mlm-logits",
        "goes position by position, then sequence by sequence",
        """
        def mlm_logits(hidden, predict, weights, W_e):
            x = hidden.transpose(0, 1)[predict.T]
            x = gelu(x @ weights.W_f + weights.b_f)
            return layer_norm(x, weights.gamma, weights.beta) @ W_e.T + weights.b_u
        """,
        "sequence by sequence",
    ),
    wrong(
        "mlm-logits",
        "looks at the first 32 words of the vocabulary",
        """
        def mlm_logits(hidden, predict, weights, W_e):
            x = gelu(hidden[predict] @ weights.W_f + weights.b_f)
            x = layer_norm(x, weights.gamma, weights.beta) @ W_e.T + weights.b_u
            x[:, 100:] = 0
            return x
        """,
        "",
    ),
    *(
        wrong("n-parameters", mistake, solution, diagnosis)
        for mistake, solution, diagnosis in [
            (
                "forgets all biases",
                COUNT.replace("4 * (d * d + d)", "4 * d * d")
                .replace("d * d_ff + d_ff + d_ff * d + d", "2 * d * d_ff")
                .replace("pooler = d * d + d", "pooler = d * d"),
                "the biases are missing",
            ),
            (
                "forgets the biases of attention",
                COUNT.replace("4 * (d * d + d)", "4 * d * d"),
                "the biases of attention are missing",
            ),
            (
                "forgets the biases of the feed-forward network",
                COUNT.replace("d * d_ff + d_ff + d_ff * d + d", "2 * d * d_ff"),
                "the biases of the feed-forward network are missing",
            ),
            (
                "gives the feed-forward network one bias",
                COUNT.replace("d * d_ff + d_ff + d_ff * d + d", "2 * d * d_ff + d_ff"),
                "the feed-forward network has two biases",
            ),
            (
                "forgets the norms",
                COUNT.replace("norm = 2 * d", "norm = 0"),
                "the norms are missing",
            ),
            (
                "gives a norm one vector",
                COUNT.replace("norm = 2 * d", "norm = d"),
                "gamma and beta, two vectors",
            ),
            (
                "gives a layer one norm",
                COUNT.replace("attention + norm + feed_forward", "attention + feed_forward"),
                "a layer has two norms",
            ),
            (
                "forgets the norm of the embeddings",
                COUNT.replace("* d + norm", "* d"),
                "the norm behind the embeddings is missing",
            ),
            (
                "forgets the pooler",
                COUNT.replace("pooler = d * d + d", "pooler = 0"),
                "the pooler is missing",
            ),
            (
                "forgets the segments",
                COUNT.replace(" + config.n_segments", ""),
                "the table of segments is missing",
            ),
            (
                "forgets the positions",
                COUNT.replace(" + config.max_length", ""),
                "the table of positions is missing",
            ),
            (
                "forgets the output of attention",
                COUNT.replace("4 * (d * d + d)", "3 * (d * d + d)"),
                "W_o and b_o are missing",
            ),
            (
                "counts the heads twice",
                COUNT.replace("4 * (d * d + d)", "config.n_heads * 3 * (d * d + d) + d * d + d"),
                "the heads share the D columns",
            ),
            (
                "takes one head",
                COUNT.replace(
                    "4 * (d * d + d)", "3 * (d * config.d_head + config.d_head) + d * d + d"
                ),
                "every head has W_q, W_k and W_v of its own",
            ),
            (
                "counts one layer",
                COUNT.replace("config.n_layers * layer", "layer"),
                "there are n_layers of them",
            ),
            (
                "counts the head for masked words",
                COUNT.replace("+ pooler", "+ pooler + d * d + d + norm + config.vocab_size"),
                "the head that guesses words does not count here",
            ),
            (
                "counts the unembedding",
                COUNT.replace("+ pooler", "+ pooler + config.vocab_size * d"),
                "the unembedding is the table of tokens once more",
            ),
            (
                "takes 3072",
                COUNT.replace("d_ff = config.d_model, config.d_ff", "d_ff = config.d_model, 3072"),
                "d_ff is config.d_ff",
            ),
            (
                "takes 4 times D",
                COUNT.replace(
                    "d_ff = config.d_model, config.d_ff",
                    "d_ff = config.d_model, 4 * config.d_model",
                ),
                "it need not be 4 times D",
            ),
            (
                "takes 12 layers",
                COUNT.replace("config.n_layers * layer", "12 * layer"),
                "n_layers is config.n_layers",
            ),
            (
                "takes 512 positions",
                COUNT.replace("config.max_length", "512"),
                "max_length is config.max_length",
            ),
            (
                "takes 2 segments",
                COUNT.replace("config.n_segments", "2"),
                "n_segments is config.n_segments",
            ),
            (
                "asks the library",
                """
def n_parameters(config):
    from bertlab.model import BertConfig, count_parameters
    sizes = config._asdict()
    sizes.pop("d_head")
    return count_parameters(BertConfig(**sizes)).part("bert")
""",
                "bertlab's own",
            ),
            (
                "rounds to millions",
                COUNT.replace("return ", "return 1_000_000 * round(1e-6 * (").replace(
                    "+ pooler", "+ pooler))"
                ),
                "the exact number",
            ),
            (
                "divides",
                COUNT.replace("return ", "return 2 * (").replace("+ pooler", "+ pooler) / 2"),
                "it must return an int",
            ),
        ]
    ),
]

OTHER_WAYS = [
    right(
        "layer-norm",
        "torch.var, uncorrected, and a power",
        """
        def layer_norm(x, gamma, beta, eps=1e-12):
            mean, variance = x.mean(-1, keepdim=True), x.var(-1, keepdim=True, correction=0)
            return beta + gamma * (x - mean) * (variance + eps) ** -0.5
        """,
    ),
    right(
        "layer-norm",
        "sums, and unsqueeze",
        """
        def layer_norm(x, gamma, beta, eps=1e-12):
            D = x.shape[-1]
            centred = x - (x.sum(-1) / D).unsqueeze(-1)
            spread = torch.sqrt((centred * centred).sum(-1) / D + eps)
            return torch.addcmul(beta, centred / spread[..., None], gamma)
        """,
    ),
    right(
        "layer-norm",
        "torch.var_mean and rsqrt",
        """
        def layer_norm(x, gamma, beta, eps=1e-12):
            variance, mean = torch.var_mean(x, dim=-1, keepdim=True, unbiased=False)
            return (x - mean).mul(torch.rsqrt(variance + eps)).mul(gamma).add(beta)
        """,
    ),
    right(
        "layer-norm",
        "the length of a vector",
        """
        def layer_norm(x, gamma, beta, eps=1e-12):
            centred = x - x.mean(dim=-1, keepdim=True)
            variance = torch.linalg.vector_norm(centred, dim=-1, keepdim=True) ** 2 / x.size(-1)
            return centred / (variance + eps).sqrt() * gamma + beta
        """,
    ),
    right(
        "gelu",
        "by PyTorch's normal distribution function",
        """
        def gelu(x):
            return x * torch.special.ndtr(x)
        """,
    ),
    right(
        "gelu",
        "by erfc",
        """
        def gelu(x):
            return 0.5 * x * torch.erfc(-x * 2**-0.5)
        """,
    ),
    right(
        "gelu",
        "by torch.distributions",
        """
        def gelu(x):
            zero = torch.zeros((), dtype=x.dtype)
            return x * torch.distributions.Normal(zero, zero + 1).cdf(x)
        """,
    ),
    right(
        "gelu-approximations",
        "tanh is a sigmoid, too",
        """
        def gelu_tanh(x):
            return x * torch.sigmoid(2 * (2 / math.pi) ** 0.5 * (x + 0.044715 * x * x * x))
        def gelu_sigmoid(x):
            return 0.5 * x * (1 + torch.tanh(0.851 * x))
        """,
    ),
    right(
        "gelu-approximations",
        "as in Google's code, with numpy's root",
        """
        import numpy as np
        def gelu_tanh(x):
            inner = np.sqrt(2 / np.pi) * (x + 0.044715 * torch.pow(x, 3))
            return 0.5 * x * (1.0 + torch.tanh(inner))
        def gelu_sigmoid(x):
            return x / (1 + torch.exp(-1.702 * x))
        """,
    ),
    right(
        "sinusoidal-positions",
        "as in the annotated Transformer, by a logarithm",
        """
        def sinusoidal_positions(max_length, d_model):
            pe = torch.zeros(max_length, d_model)
            position = torch.arange(0, max_length).unsqueeze(1)
            div_term = torch.exp(torch.arange(0, d_model, 2) * -(math.log(10000.0) / d_model))
            pe[:, 0::2] = torch.sin(position * div_term)
            pe[:, 1::2] = torch.cos(position * div_term)
            return pe
        """,
    ),
    right(
        "sinusoidal-positions",
        "two loops",
        """
        def sinusoidal_positions(max_length, d_model):
            rows = []
            for pos in range(max_length):
                row = []
                for i in range(d_model // 2):
                    angle = pos / 10000 ** (2 * i / d_model)
                    row += [math.sin(angle), math.cos(angle)]
                rows.append(row)
            return torch.tensor(rows)
        """,
    ),
    right(
        "sinusoidal-positions",
        "sines alone, a quarter of a turn apart",
        """
        def sinusoidal_positions(max_length, d_model):
            column = torch.arange(d_model, dtype=torch.float64)
            place = torch.arange(max_length, dtype=torch.float64)
            angle = torch.outer(place, 10_000.0 ** (-(column - column % 2) / d_model))
            return torch.sin(angle + column % 2 * math.pi / 2).float()
        """,
    ),
    right(
        "embed",
        "torch's embedding",
        """
        def embed(ids, segment_ids, weights):
            look_up = torch.nn.functional.embedding
            positions = torch.arange(ids.size(-1)).expand_as(ids)
            rows = [(ids, weights.W_e), (positions, weights.W_p), (segment_ids, weights.W_s)]
            return layer_norm(sum(look_up(*row) for row in rows), weights.gamma, weights.beta)
        """,
    ),
    right(
        "embed",
        "a loop over the tokens",
        """
        def embed(ids, segment_ids, weights):
            W_e, W_p, W_s, gamma, beta = weights
            rows = []
            for sequence, segments in zip(ids.tolist(), segment_ids.tolist()):
                tokens = [W_e[id] + W_p[t] + W_s[segments[t]] for t, id in enumerate(sequence)]
                rows.append(torch.stack(tokens))
            return layer_norm(torch.stack(rows), gamma, beta)
        """,
    ),
    right(
        "feed-forward",
        "torch.nn.functional.linear",
        """
        def feed_forward(x, W_mlp1, b_mlp1, W_mlp2, b_mlp2):
            from torch.nn.functional import linear
            return linear(gelu(linear(x, W_mlp1.T, b_mlp1)), W_mlp2.T, b_mlp2)
        """,
    ),
    right(
        "feed-forward",
        "einsum",
        """
        def feed_forward(x, W_mlp1, b_mlp1, W_mlp2, b_mlp2):
            inner = torch.einsum("...d,df->...f", x, W_mlp1) + b_mlp1
            return torch.einsum("...f,fd->...d", gelu(inner), W_mlp2) + b_mlp2
        """,
    ),
    right(
        "encoder-layer",
        "by names that it makes first",
        """
        def encoder_layer(x, weights, mask=None):
            heads, W_o, b_o, gamma_1, beta_1, *mlp, gamma_2, beta_2 = weights
            middle = layer_norm(multi_head_attention(x, heads, W_o, b_o, mask) + x, gamma_1, beta_1)
            return layer_norm(feed_forward(middle, *mlp) + middle, gamma_2, beta_2)
        """,
    ),
    right(
        "encoder-layer",
        "sequence by sequence",
        """
        def encoder_layer(x, weights, mask=None):
            w, answers = weights, []
            for number in range(len(x)):
                one = x[number : number + 1]
                shown = None if mask is None else mask[number : number + 1]
                one = one + multi_head_attention(one, w.heads, w.W_o, w.b_o, shown)
                one = layer_norm(one, w.gamma_1, w.beta_1)
                one = one + feed_forward(one, w.W_mlp1, w.b_mlp1, w.W_mlp2, w.b_mlp2)
                answers.append(layer_norm(one, w.gamma_2, w.beta_2))
            return torch.cat(answers)
        """,
    ),
    right(
        "encode",
        "accumulate",
        """
        from itertools import accumulate
        def encode(ids, segment_ids, weights, mask=None):
            start = embed(ids, segment_ids, weights.embeddings)
            step = lambda x, layer: encoder_layer(x, layer, mask)
            return list(accumulate(weights.layers, step, initial=start))
        """,
    ),
    right(
        "encode",
        "an index",
        """
        def encode(ids, segment_ids, weights, mask=None):
            embeddings, layers = weights
            x = embed(ids, segment_ids, embeddings)
            states = [x]
            for l in range(len(layers)):
                x = encoder_layer(x, layers[l], mask)
                states += [x]
            return states
        """,
    ),
    right(
        "mlm-logits",
        "indices, and linear",
        """
        def mlm_logits(hidden, predict, weights, W_e):
            from torch.nn.functional import linear
            sequence, place = predict.nonzero(as_tuple=True)
            x = gelu(linear(hidden[sequence, place], weights.W_f.T, weights.b_f))
            return linear(layer_norm(x, weights.gamma, weights.beta), W_e, weights.b_u)
        """,
    ),
    right(
        "mlm-logits",
        "everywhere, then picks",
        """
        def mlm_logits(hidden, predict, weights, W_e):
            W_f, b_f, gamma, beta, b_u = weights
            x = layer_norm(gelu(hidden @ W_f + b_f), gamma, beta)
            return (x @ W_e.transpose(0, 1) + b_u)[predict]
        """,
    ),
    right(
        "n-parameters",
        "a list of shapes",
        """
        def n_parameters(config):
            c = config
            D = c.d_model
            layer = [[D, c.d_head], [c.d_head]] * 3 * c.n_heads + [[D, D], [D]] + [[D]] * 4
            layer += [[D, c.d_ff], [c.d_ff], [c.d_ff, D], [D]]
            shapes = [[c.vocab_size, D], [c.max_length, D], [c.n_segments, D], [D], [D]]
            shapes += layer * c.n_layers + [[D, D], [D]]
            return sum(math.prod(shape) for shape in shapes)
        """,
    ),
    right(
        "n-parameters",
        "one polynomial",
        """
        def n_parameters(config):
            D, F, rows = config.d_model, config.d_ff, config.vocab_size + config.max_length
            per_layer = 4 * D**2 + 9 * D + F * (2 * D + 1)
            return D * (rows + config.n_segments + 2) + per_layer * config.n_layers + D * (D + 1)
        """,
    ),
]
