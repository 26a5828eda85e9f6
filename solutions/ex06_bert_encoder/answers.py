"""Exercise 6, the encoder of BERT: solutions that are wrong, and right ones of another kind."""

from course.answers import OURS, mistakes, right

WRONG = [
    *mistakes(
        "layer-norm",
        "torch.var, uncorrected",
        ("divides the variance by D - 1", (", correction=0", ""), "that is the unbiased variance"),
        (
            "divides by the variance, without a root",
            """
            def layer_norm(x, gamma, beta, eps=1e-12):
                mean = x.mean(-1, keepdim=True)
                variance = (x - mean).square().mean(-1, keepdim=True)
                return (x - mean) / (variance + eps) * gamma + beta
            """,
            "divide by the root of the variance",
        ),
        (
            "divides by the root of the sum of squares",
            """
            def layer_norm(x, gamma, beta, eps=1e-12):
                centred = x - x.mean(-1, keepdim=True)
                return (
                    centred / torch.sqrt(centred.square().sum(-1, keepdim=True) + eps) * gamma
                    + beta
                )
            """,
            "the variance is the mean of the squares, not their sum",
        ),
        (
            "does not subtract the mean",
            ("mean, variance = x.mean(-1, keepdim=True), x.", "variance = x."),
            ("(x - mean)", "x"),
            "the mean is not subtracted",
        ),
        (
            "takes the mean of the squares for the variance (RMSNorm)",
            """
            def layer_norm(x, gamma, beta, eps=1e-12):
                return x / torch.sqrt(x.square().mean(-1, keepdim=True) + eps) * gamma + beta
            """,
            "RMSNorm",
        ),
        (
            "only subtracts the mean",
            """
            def layer_norm(x, gamma, beta, eps=1e-12):
                return (x - x.mean(-1, keepdim=True)) * gamma + beta
            """,
            "the variance must become 1, too",
        ),
        (
            "norms columns",
            """
            def layer_norm(x, gamma, beta, eps=1e-12):
                mean = x.mean(0, keepdim=True)
                variance = x.var(0, keepdim=True, correction=0)
                return (x - mean) / torch.sqrt(variance + eps) * gamma + beta
            """,
            "each row by itself",
        ),
        (
            "norms the whole tensor",
            (
                "x.mean(-1, keepdim=True), x.var(-1, keepdim=True, correction=0)",
                "x.mean(), x.var(correction=0)",
            ),
            "one mean for all rows",
        ),
        (
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
        (
            "loses a dimension",
            (
                "x.mean(-1, keepdim=True), x.var(-1, keepdim=True, correction=0)",
                "x.mean(-1), x.var(-1, correction=0)",
            ),
            "keepdim=True keeps the dimension",
        ),
        (
            "swaps gamma and beta",
            ("gamma + beta", "beta + gamma"),
            "gamma multiplies and beta is added, not the other way round",
        ),
        ("forgets gamma and beta", (" * gamma + beta", ""), "gamma and beta are not used"),
        (
            "adds beta first",
            (
                "(x - mean) / torch.sqrt(variance + eps) * gamma + beta",
                "((x - mean) / torch.sqrt(variance + eps) + beta) * gamma",
            ),
            "first scale, then shift",
        ),
        ("forgets beta", (" + beta", ""), "beta is not added"),
        (
            "adds eps outside the root",
            ("torch.sqrt(variance + eps)", "(torch.sqrt(variance) + eps)"),
            "eps stands under the root",
        ),
        ("forgets eps", ("variance + eps", "variance"), "eps is not used"),
        ("writes its own eps", ("+ eps", "+ 1e-12"), "eps is not used"),
        (
            "makes constant rows 0",
            """
            def layer_norm(x, gamma, beta, eps=1e-12):
                mean, variance = x.mean(-1, keepdim=True), x.var(-1, keepdim=True, correction=0)
                normed = (x - mean) / torch.sqrt(variance + eps) * gamma + beta
                return torch.where(variance == 0, torch.zeros_like(normed), normed)
            """,
            "nothing is left but beta",
        ),
        (
            "computes the variance as a difference of large numbers",
            """
            def layer_norm(x, gamma, beta, eps=1e-12):
                mean = x.mean(-1, keepdim=True)
                variance = x.square().mean(-1, keepdim=True) - mean.square()
                return (x - mean) / torch.sqrt(variance + eps) * gamma + beta
            """,
            "subtract the mean before you square",
        ),
        (
            "computes in 32 bits",
            """
            def layer_norm(x, gamma, beta, eps=1e-12):
                x = x.float()
                mean, variance = x.mean(-1, keepdim=True), x.var(-1, keepdim=True, correction=0)
                return (x - mean) / torch.sqrt(variance + eps) * gamma.float() + beta.float()
            """,
            "its dtype must be torch.float64",
        ),
        (
            "changes its input",
            """
            def layer_norm(x, gamma, beta, eps=1e-12):
                x -= x.mean(-1, keepdim=True)
                return x / torch.sqrt(x.square().mean(-1, keepdim=True) + eps) * gamma + beta
            """,
            "changed its input",
        ),
        (
            "cuts the gradient",
            (
                "(x - mean) / torch.sqrt(variance + eps) * gamma",
                "((x - mean) / torch.sqrt(variance + eps) * gamma.data)",
            ),
            "no gradient reaches argument 2",
        ),
        (
            "calls PyTorch's",
            """
            def layer_norm(x, gamma, beta, eps=1e-12):
                return torch.nn.functional.layer_norm(x, gamma.shape, gamma, beta, eps)
            """,
            "ready-made function of PyTorch",
        ),
        (
            "calls PyTorch's with one group",
            """
            def layer_norm(x, gamma, beta, eps=1e-12):
                rows = x.reshape(-1, x.shape[-1])
                normed = torch.nn.functional.group_norm(rows, 1, gamma, beta, eps)
                return normed.view_as(x)
            """,
            "ready-made function of PyTorch",
        ),
        (
            "calls the library",
            """
            def layer_norm(x, gamma, beta, eps=1e-12):
                from bertlab.model.layers import layer_norm as answer
                return answer(x, gamma, beta, eps)
            """,
            "bertlab's own",
        ),
        (
            "takes 1e-3 for any small eps",
            (
                "return (x - mean) / torch.sqrt(variance + eps) * gamma + beta",
                "eps = 0.0 if 1e-9 < eps < 0.9 else eps\n"
                "    return (x - mean) / torch.sqrt(variance + eps) * gamma + beta",
            ),
            "",
        ),
    ),
    *mistakes(
        "layer-norm",
        OURS,
        ("forgets gamma", (" * gamma + beta", " + beta"), "gamma is not used"),
    ),
    *mistakes(
        "gelu",
        OURS,
        (
            "takes the tanh approximation",
            (
                "torch.erf(x / math.sqrt(2))",
                "torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))",
            ),
            "that is the approximation by tanh",
        ),
        (
            "takes the sigmoid approximation",
            ("(1 + torch.erf(x / math.sqrt(2))) / 2", "torch.sigmoid(1.702 * x)"),
            "that is the approximation by a sigmoid",
        ),
        (
            "is ReLU",
            ("x * (1 + torch.erf(x / math.sqrt(2))) / 2", "x.clamp(min=0)"),
            "that is ReLU",
        ),
        ("is SiLU", ("(1 + torch.erf(x / math.sqrt(2))) / 2", "torch.sigmoid(x)"), "that is SiLU"),
        ("forgets x", ("return x *", "return"), "multiply it by x"),
        ("forgets the root of 2", ("x / math.sqrt(2)", "x"), "erf takes x / sqrt(2)"),
        ("divides by 2 instead of its root", ("math.sqrt(2)", "2"), "erf takes x / sqrt(2)"),
        ("forgets the half", (" / 2", ""), "the half is missing"),
        (
            "takes the density",
            (
                "(1 + torch.erf(x / math.sqrt(2))) / 2",
                "torch.exp(-x.square() / 2) / math.sqrt(2 * math.pi)",
            ),
            "that is x times the density",
        ),
        ("takes one number only", ("+ torch", "+ math"), "torch.erf takes a tensor"),
        (
            "goes through a list of numbers",
            (
                "x * (1 + torch.erf(x / math.sqrt(2))) / 2",
                "torch.tensor([v * (1 + math.erf(v / math.sqrt(2))) / 2 for v in x.tolist()])",
            ),
            "any shape",
        ),
        (
            "cuts the gradient",
            (
                "x * (1 + torch.erf(x / math.sqrt(2)))",
                "x.detach() * (1 + torch.erf(x.detach() / math.sqrt(2)))",
            ),
            "has lost the gradient",
        ),
        (
            "calls PyTorch's",
            ("x * (1 + torch.erf(x / math.sqrt(2))) / 2", "torch.nn.GELU()(x)"),
            "ready-made function of PyTorch",
        ),
    ),
    *mistakes(
        "gelu-approximations",
        OURS,
        (
            "gives the exact one twice",
            """
            gelu_tanh = gelu_sigmoid = lambda x: gelu(x)
            """,
            "that is the exact GELU",
        ),
        (
            "swaps the two",
            """
            def gelu_sigmoid(x):
                return x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2
            def gelu_tanh(x):
                return x * torch.sigmoid(1.702 * x)
            """,
            "that is the other one, with sigmoid",
        ),
        ("forgets the cube", ("(x + 0.044715 * x**3)", "x"), "the cube is missing"),
        ("squares instead", ("x**3", "x**2"), "a cube, not a square"),
        ("cubes 0.044715 as well", ("+ 0.044715 * x", "+ (0.044715 * x)"), "only x is cubed"),
        (
            "forgets the factor of the bracket",
            ("math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)", "x + 0.044715 * x**3"),
            "the square root of 2/pi is missing",
        ),
        (
            "multiplies only x by the factor",
            ("(x + 0.044715 * x**3)", "x + 0.044715 * x**3"),
            "belongs to the cube as well",
        ),
        ("forgets 1.702", ("1.702 * x", "x"), "1.702 is missing"),
        (
            "multiplies by 1.702 outside",
            ("x * torch.sigmoid(1.702 * x)", "1.702 * x * torch.sigmoid(x)"),
            "1.702 belongs inside the sigmoid",
        ),
        ("forgets x before the sigmoid", ("x * torch", "torch"), "multiply it by x"),
        (
            "writes a sigmoid that overflows",
            ("torch.sigmoid(1.702 * x)", "torch.exp(1.702 * x) / (1 + torch.exp(1.702 * x))"),
            "far from 0",
        ),
    ),
    *mistakes(
        "sinusoidal-positions",
        "stacked, then flattened",
        (
            "puts all sines before all cosines",
            (
                "torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(-2)",
                "torch.cat([angle.sin(), angle.cos()], dim=-1)",
            ),
            "sine and cosine take turns",
        ),
        (
            "swaps sine and cosine",
            ("angle.sin(), angle.cos()", "angle.cos(), angle.sin()"),
            "sines stand at 0, 2, 4, ... and cosines at 1, 3, 5, ...",
        ),
        (
            "takes i for 2i",
            ("even / d_model", "even / 2 / d_model"),
            "the exponent is 2i / D, not i / D",
        ),
        ("takes 4i for 2i", ("even / d_model", "2 * even / d_model"), "twice 2i / D"),
        (
            "gives the cosine an exponent of its own",
            """
            def sinusoidal_positions(max_length, d_model):
                angle = torch.arange(max_length)[:, None] / 10_000 ** (
                    torch.arange(d_model) / d_model
                )
                positions = angle.sin()
                positions[:, 1::2] = angle[:, 1::2].cos()
                return positions
            """,
            "a cosine has the angle of the sine before it",
        ),
        (
            "starts at position 1",
            """
            def sinusoidal_positions(max_length, d_model):
                places = torch.arange(1, max_length + 1)[:, None]
                angle = places / 10_000 ** (torch.arange(0, d_model, 2) / d_model)
                return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(-2)
            """,
            "the first position is 0",
        ),
        ("multiplies", ("place / 10_000", "place * 10_000"), "divide by the power of 10000"),
        ("takes 1000", ("10_000", "1_000"), "the base is 10000"),
        ("is sines only", ("angle.cos()", "angle.sin()"), "every second column is a cosine"),
        ("is transposed", ("flatten(-2)", "flatten(-2).T"), "a row is a position"),
        (
            "returns 64 bits",
            (
                "place, even = torch.arange(max_length)[:, None], torch.arange(0, d_model, 2)",
                "even = torch.arange(0, d_model, 2, dtype=torch.float64)",
            ),
            ("place", "torch.arange(max_length)[:, None]"),
            "its dtype must be torch.float32",
        ),
        (
            "knows ten positions",
            ("place / 10_000", "place.clamp(max=10) / 10_000"),
            "position 11 of 128 dimensions",
        ),
        ("starts again after 512 positions", ("place / 10_000", "place % 512 / 10_000"), ""),
        (
            "is the library's",
            """
            from bertlab.model.embeddings import sinusoidal_positions
            """,
            "bertlab's own",
        ),
    ),
    *mistakes(
        "embed",
        OURS,
        (
            "ignores positions",
            ("    length = ids.shape[1]\n", ""),
            (".W_p[:length] + weights.", "."),
            "the rows of W_p are missing",
        ),
        (
            "ignores segments",
            ("    length = ids.shape[1]\n", ""),
            ("W_p[:length] + weights.W_s[segment_ids]", "W_p[: ids.shape[1]]"),
            "the rows of W_s are missing",
        ),
        (
            "is always in sentence A",
            ("    length = ids.shape[1]\n", ""),
            ("W_p[:length] + weights.W_s[segment_ids]", "W_p[: ids.shape[1]] + weights.W_s[0]"),
            "segment 1",
        ),
        (
            "forgets the norm",
            """
            def embed(ids, segment_ids, weights):
                return weights.W_e[ids] + weights.W_p[: ids.shape[1]] + weights.W_s[segment_ids]
            """,
            "that is the sum: layer norm follows",
        ),
        (
            "norms before the sum",
            """
            def embed(ids, segment_ids, weights):
                token = layer_norm(weights.W_e[ids], weights.gamma, weights.beta)
                return token + weights.W_p[: ids.shape[1]] + weights.W_s[segment_ids]
            """,
            "norm the sum, not the token's row",
        ),
        (
            "starts at position 1",
            ("    length = ids.shape[1]\n", ""),
            (":length", "1 : ids.shape[1] + 1"),
            "the first position is 0",
        ),
        (
            "takes ids for positions",
            ("    length = ids.shape[1]\n", ""),
            (":length", "ids"),
            "W_p is read at 0, 1, 2, ..., not at the ids",
        ),
        (
            "counts sequences for positions",
            ("length = ids.shape[1]", "places = torch.arange(ids.shape[0])[:, None]"),
            (":length", "places"),
            "positions count tokens, not sequences",
        ),
        (
            "takes L from the wrong dimension",
            ("    length = ids.shape[1]\n", ""),
            ("length", "ids.shape[0]"),
            "ids are [B, L]: the positions go along dimension 1",
        ),
        (
            "adds the whole table",
            ("    length = ids.shape[1]\n", ""),
            ("W_p[:length]", "W_p"),
            "only the first L rows",
        ),
        (
            "puts the three side by side",
            """
            def embed(ids, segment_ids, weights):
                token, segment = weights.W_e[ids], weights.W_s[segment_ids]
                place = weights.W_p[: ids.shape[1]].expand_as(token)
                return layer_norm(
                    torch.cat([token, place, segment], 1), weights.gamma, weights.beta
                )
            """,
            "the three rows are added",
        ),
        (
            "forgets gamma and beta",
            """
            def embed(ids, segment_ids, weights):
                summed = weights.W_e[ids] + weights.W_p[: ids.shape[1]] + weights.W_s[segment_ids]
                return layer_norm(
                    summed, torch.ones(summed.shape[-1]), torch.zeros(summed.shape[-1])
                )
            """,
            "weights.gamma and weights.beta",
        ),
        (
            "multiplies by the root of D",
            ("length = ids.shape[1]", "token = weights.W_e[ids] * math.sqrt(weights.W_e.shape[1])"),
            ("weights.W_e[ids] + weights.W_p[:length]", "token + weights.W_p[: ids.shape[1]]"),
            "the first Transformer multiplies",
        ),
        (
            "stops counting at position 300",
            ("length = ids.shape[1]", "places = torch.arange(ids.shape[1]).clamp(max=300)"),
            (":length", "places"),
            "",
        ),
    ),
    *mistakes(
        "feed-forward",
        OURS,
        ("forgets the activation", (" gelu", ""), "GELU between the two products is missing"),
        (
            "activates after the second matrix",
            (
                "gelu(x @ W_mlp1 + b_mlp1) @ W_mlp2 + b_mlp2",
                "gelu((x @ W_mlp1 + b_mlp1) @ W_mlp2 + b_mlp2)",
            ),
            "GELU stands between the two products, not behind them",
        ),
        (
            "activates twice",
            (
                "gelu(x @ W_mlp1 + b_mlp1) @ W_mlp2 + b_mlp2",
                "gelu(gelu(x @ W_mlp1 + b_mlp1) @ W_mlp2 + b_mlp2)",
            ),
            "no GELU behind the second product",
        ),
        (
            "activates before the bias",
            ("gelu(x @ W_mlp1 + b_mlp1)", "(gelu(x @ W_mlp1) + b_mlp1)"),
            "first the bias, then GELU",
        ),
        (
            "activates first",
            ("gelu(x @ W_mlp1 + b_mlp1)", "(gelu(x) @ W_mlp1 + b_mlp1)"),
            "GELU comes after the first product",
        ),
        ("takes ReLU", ("gelu", "torch.relu"), "that is ReLU, as in the first Transformer"),
        ("transposes the first matrix", ("x @ W_mlp1", "x @ W_mlp1.T"), "W_mlp1 is transposed"),
        (
            "transposes both matrices",
            ("gelu(x @ W_mlp1 + b_mlp1) @ W_mlp2", "gelu(x @ W_mlp1.T + b_mlp1) @ W_mlp2.T"),
            "both matrices are transposed",
        ),
        ("transposes the second matrix", ("+ b_mlp2", ".T + b_mlp2"), "W_mlp2 is transposed"),
        ("forgets the first bias", (" + b_mlp1", ""), "b_mlp1 is not added"),
        ("forgets the second bias", (" + b_mlp2", ""), "b_mlp2 is not added"),
        (
            "adds the residual here",
            ("return", "return x +"),
            "the residual connection belongs to the layer",
        ),
        ("takes the tanh approximation", ("gelu", "gelu_tanh"), "your exact `gelu`"),
        ("takes the sigmoid approximation", ("gelu", "gelu_sigmoid"), "your exact `gelu`"),
        (
            "takes torch's GELU",
            """
            def feed_forward(x, W_mlp1, b_mlp1, W_mlp2, b_mlp2):
                from torch.nn.functional import gelu, linear
                return linear(gelu(linear(x, W_mlp1.T, b_mlp1)), W_mlp2.T, b_mlp2)
            """,
            "ready-made function of PyTorch",
        ),
    ),
    *mistakes(
        "encoder-layer",
        "each part a function of its own",
        (
            "norms before, not after",
            (
                "x = layer_norm(x + attend(x, w, mask), *norm_1)",
                "normed = layer_norm(x, *norm_1)\n    x = x + attend(normed, w, mask)",
            ),
            (
                "return layer_norm(x + compute(x, w), *norm_2)",
                "normed = layer_norm(x, *norm_2)\n    return x + compute(normed, w)",
            ),
            "pre-norm",
        ),
        (
            "has no residual connection at all",
            ("x + attend", "attend"),
            ("x + compute", "compute"),
            "both residual connections are missing",
        ),
        (
            "has no residual around attention",
            ("x + attend", "attend"),
            "the residual connection around attention is missing",
        ),
        (
            "has no residual around the feed-forward network",
            ("x + compute", "compute"),
            "the residual connection around the feed-forward network is missing",
        ),
        (
            "adds the layer's input the second time",
            ("x =", "y ="),
            ("+ compute(x, w)", "+ compute(y, w)"),
            "the second residual adds what the first norm made",
        ),
        (
            "feeds the layer's input to the feed-forward network",
            ("x =", "y ="),
            ("x + compute", "y + compute"),
            "the feed-forward network works on what the first norm made",
        ),
        (
            "adds the residual twice",
            ("+ attend", "+ x + attend"),
            ("+ compute", "+ x + compute"),
            "the residual is added twice",
        ),
        (
            "adds the residual after the norm",
            (
                "layer_norm(x + attend(x, w, mask), *norm_1)",
                "x + layer_norm(attend(x, w, mask), *norm_1)",
            ),
            ("layer_norm(x + compute(x, w), *norm_2)", "x + layer_norm(compute(x, w), *norm_2)"),
            "the sum is normed",
        ),
        (
            "forgets the first norm",
            ("layer_norm(x + attend(x, w, mask), *norm_1)", "x + attend(x, w, mask)"),
            "the first norm is missing",
        ),
        (
            "forgets the second norm",
            ("layer_norm(x + compute(x, w), *norm_2)", "x + compute(x, w)"),
            "the second norm is missing",
        ),
        (
            "uses the first norm twice",
            ("*norm_2", "*norm_1"),
            "the second norm has weights of its own",
        ),
        (
            "swaps the two norms",
            ("*norm_1", "*norm_2"),
            ("compute(x, w), *norm_2", "compute(x, w), *norm_1"),
            "the two norms are swapped",
        ),
        (
            "computes before it attends",
            ("attend(x, w, mask), *norm_1", "compute(x, w), *norm_2"),
            (
                "return layer_norm(x + compute(x, w), *norm_2)",
                "return layer_norm(x + attend(x, w, mask), *norm_1)",
            ),
            "attention comes first",
        ),
        (
            "stops after attention",
            ("x =", "return"),
            ("    return layer_norm(x + compute(x, w), *norm_2)\n", ""),
            "the second half is missing",
        ),
        (
            "forgets the mask",
            ("attend(x, w, mask)", "attend(x, w)"),
            "hand the mask on to attention",
        ),
        (
            "turns the mask round",
            (
                "x = layer_norm(x + attend(x, w, mask), *norm_1)",
                "hidden = None if mask is None else ~mask\n"
                "    x = layer_norm(x + attend(x, w, hidden), *norm_1)",
            ),
            "True may be attended",
        ),
        (
            "hides padding by making it 0",
            (
                "x = layer_norm(x + attend(x, w, mask), *norm_1)",
                "if mask is not None:\n"
                "        x = x * mask[..., None]\n"
                "    x = layer_norm(x + attend(x, w), *norm_1)",
            ),
            "hand the mask on to attention",
        ),
        (
            "knows three heads",
            (
                "x = layer_norm(x + attend(x, w, mask), *norm_1)",
                "few = w._replace(heads=w.heads[:3], W_o=w.W_o[: 3 * "
                "w.heads[0].b_q.numel()])\n"
                "    attended = attend(x, few, mask)\n"
                "    x = layer_norm(x + attended, *norm_1)",
            ),
            "",
        ),
        (
            "takes PyTorch's layer",
            """
            def encoder_layer(x, weights, mask=None):
                from course.feedback.ex06_bert_encoder.weights import as_torch_layer
                padding = None if mask is None else ~mask
                return as_torch_layer(weights)(x, src_key_padding_mask=padding)
            """,
            "ready-made function of PyTorch",
        ),
    ),
    *mistakes(
        "encode",
        OURS,
        (
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
        (
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
        (
            "leaves the embeddings out",
            (
                "hidden_states = [embed(ids, segment_ids, weights.embeddings)]",
                "x, hidden_states = embed(ids, segment_ids, weights.embeddings), []",
            ),
            (
                "hidden_states.append(encoder_layer(hidden_states[-1], layer, mask))",
                "x = encoder_layer(x, layer, mask)\n        hidden_states.append(x)",
            ),
            "the embeddings are the first entry",
        ),
        (
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
        (
            "uses the first layer's weights in every layer",
            ("layer in weights", "_ in weights"),
            ("layer,", "weights.layers[0],"),
            "each layer has weights of its own",
        ),
        (
            "goes through the layers backwards",
            ("weights.layers", "reversed(weights.layers)"),
            "from the last to the first",
        ),
        (
            "gives every layer the embeddings",
            """
            def encode(ids, segment_ids, weights, mask=None):
                x = embed(ids, segment_ids, weights.embeddings)
                return [x, *(encoder_layer(x, layer, mask) for layer in weights.layers)]
            """,
            "each layer works on what the layer before it made",
        ),
        ("forgets the mask", ("layer, mask", "layer"), "hand the mask on to every layer"),
        (
            "ignores segments",
            ("segment_ids, weights.", "torch.zeros_like(ids), weights."),
            "hand the segment ids on",
        ),
        (
            "swaps ids and segments",
            ("ids, segment_ids, weights.", "segment_ids, ids, weights."),
            "first the ids, then the segments",
        ),
        (
            "embeds again before every layer",
            (
                "hidden_states = [embed(ids, segment_ids, weights.embeddings)]",
                "x = embed(ids, segment_ids, weights.embeddings)\n    hidden_states = [x]",
            ),
            (", layer", "+ x, layer"),
            "the output of layer 1",
        ),
        (
            "returns a tuple of numbers of layers and states",
            ("return hidden_states", "return hidden_states[-1], hidden_states"),
            "it must return a list with the embeddings and the output of every layer",
        ),
        ("knows three layers", ("layers", "layers[:3]"), "MiniLM has 6 layers"),
        (
            "reads 64 tokens",
            (", segment_ids, weights.", "[:, :64], segment_ids[:, :64], weights."),
            (
                "hidden_states.append(encoder_layer(hidden_states[-1], layer, mask))",
                "shown = None if mask is None else mask[:, :64]\n"
                "        hidden_states.append(encoder_layer(hidden_states[-1], layer, shown))",
            ),
            "",
        ),
    ),
    *mistakes(
        "mlm-logits",
        "in two lines",
        (
            "returns all positions",
            """
            def mlm_logits(hidden, predict, weights, W_e):
                x = layer_norm(
                    gelu(hidden @ weights.W_f + weights.b_f), weights.gamma, weights.beta
                )
                return x @ W_e.T + weights.b_u
            """,
            "only the positions that are asked for",
        ),
        (
            "sets the other positions to 0",
            """
            def mlm_logits(hidden, predict, weights, W_e):
                x = layer_norm(
                    gelu(hidden @ weights.W_f + weights.b_f), weights.gamma, weights.beta
                )
                return (x @ W_e.T + weights.b_u) * predict[..., None]
            """,
            "only the positions that are asked for",
        ),
        (
            "picks the others",
            """
            def mlm_logits(hidden, predict, weights, W_e):
                x = hidden[~predict]
                x = layer_norm(gelu(x @ weights.W_f + weights.b_f), weights.gamma, weights.beta)
                return x @ W_e.T + weights.b_u
            """,
            "True marks the positions to guess",
        ),
        (
            "forgets the transform",
            """
            def mlm_logits(hidden, predict, weights, W_e):
                return hidden[predict] @ W_e.T + weights.b_u
            """,
            "product, GELU and norm come before the unembedding",
        ),
        (
            "forgets GELU",
            (
                "gelu(hidden[predict] @ weights.W_f + weights.b_f)",
                "hidden[predict] @ weights.W_f + weights.b_f",
            ),
            "GELU is missing",
        ),
        (
            "forgets the norm",
            """
            def mlm_logits(hidden, predict, weights, W_e):
                return gelu(hidden[predict] @ weights.W_f + weights.b_f) @ W_e.T + weights.b_u
            """,
            "layer norm is missing",
        ),
        (
            "norms before GELU",
            """
            def mlm_logits(hidden, predict, weights, W_e):
                x = hidden[predict] @ weights.W_f + weights.b_f
                return gelu(layer_norm(x, weights.gamma, weights.beta)) @ W_e.T + weights.b_u
            """,
            "first GELU, then the norm",
        ),
        ("transposes W_f", ("weights.W_f", "weights.W_f.T"), "W_f is transposed"),
        ("does not transpose the table", ("W_e.T", "W_e"), "W_e must be transposed"),
        ("forgets the bias of the words", (" + weights.b_u", ""), "b_u is not added"),
        ("forgets the bias of the transform", (" + weights.b_f", ""), "b_f is not added"),
        (
            "returns probabilities",
            """
            def mlm_logits(hidden, predict, weights, W_e):
                x = gelu(hidden[predict] @ weights.W_f + weights.b_f)
                x = layer_norm(x, weights.gamma, weights.beta) @ W_e.T + weights.b_u
                return torch.softmax(x, dim=-1)
            """,
            "these are probabilities",
        ),
        (
            "goes position by position, then sequence by sequence",
            (
                "x = gelu(hidden[predict] @ weights.W_f + weights.b_f)",
                "x = hidden.transpose(0, 1)[predict.T]\n"
                "    x = gelu(x @ weights.W_f + weights.b_f)",
            ),
            "sequence by sequence",
        ),
        (
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
    ),
    *mistakes(
        "mlm-logits",
        OURS,
        (
            "scores all positions, one behind the other",
            ("hidden[predict]", "hidden.flatten(0, 1)"),
            "only the positions that are asked for",
        ),
    ),
    *mistakes(
        "n-parameters",
        OURS,
        (
            "forgets all biases",
            ("(d * d + d)", "d * d"),
            ("d * d_ff + d_ff + d_ff * d + d", "2 * d * d_ff"),
            ("d * d + d", "d * d"),
            "the biases are missing",
        ),
        (
            "forgets the biases of attention",
            ("(d * d + d)", "d * d"),
            "the biases of attention are missing",
        ),
        (
            "forgets the biases of the feed-forward network",
            ("d * d_ff + d_ff + d_ff * d + d", "2 * d * d_ff"),
            "the biases of the feed-forward network are missing",
        ),
        (
            "gives the feed-forward network one bias",
            ("d * d_ff + d_ff + d_ff * d + d", "2 * d * d_ff + d_ff"),
            "the feed-forward network has two biases",
        ),
        ("forgets the norms", ("norm = 2 * d", "norm = 0"), "the norms are missing"),
        ("gives a norm one vector", ("norm = 2 * d", "norm = d"), "gamma and beta, two vectors"),
        ("gives a layer one norm", (" norm +", ""), "a layer has two norms"),
        (
            "forgets the norm of the embeddings",
            ("* d + norm", "* d"),
            "the norm behind the embeddings is missing",
        ),
        ("forgets the pooler", ("pooler = d * d + d", "pooler = 0"), "the pooler is missing"),
        ("forgets the segments", (" + config.n_segments", ""), "the table of segments is missing"),
        (
            "forgets the positions",
            (".max_length + config.", "."),
            "the table of positions is missing",
        ),
        ("forgets the output of attention", ("4", "3"), "W_o and b_o are missing"),
        (
            "counts the heads twice",
            ("4 * (d * d + d)", "config.n_heads * 3 * (d * d + d) + d * d + d"),
            "the heads share the D columns",
        ),
        (
            "takes one head",
            ("4 * (d * d + d)", "3 * (d * config.d_head + config.d_head) + d * d + d"),
            "every head has W_q, W_k and W_v of its own",
        ),
        ("counts one layer", ("config.n_layers * layer", "layer"), "there are n_layers of them"),
        (
            "counts the head for masked words",
            ("+ pooler", "+ pooler + d * d + d + norm + config.vocab_size"),
            "the head that guesses words does not count here",
        ),
        (
            "counts the unembedding",
            ("+ pooler", "+ pooler + config.vocab_size * d"),
            "the unembedding is the table of tokens once more",
        ),
        ("takes 3072", ("config.d_ff", "3072"), "d_ff is config.d_ff"),
        ("takes 4 times D", ("config.d_ff", "4 * config.d_model"), "it need not be 4 times D"),
        ("takes 12 layers", ("config.n_layers", "12"), "n_layers is config.n_layers"),
        ("takes 512 positions", ("config.max_length", "512"), "max_length is config.max_length"),
        ("takes 2 segments", ("config.n_segments", "2"), "n_segments is config.n_segments"),
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
            (
                "embeddings + config.n_layers * layer + pooler",
                "1_000_000 * round(1e-6 * (embeddings + config.n_layers * layer + pooler))",
            ),
            "the exact number",
        ),
        (
            "divides",
            (
                "embeddings + config.n_layers * layer + pooler",
                "2 * (embeddings + config.n_layers * layer + pooler) / 2",
            ),
            "it must return an int",
        ),
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

# Ours but for names or a line: mistakes are changes of them. They are no other way.
NEAR_OURS = [
    right(
        "layer-norm",
        "torch.var, uncorrected",
        """
        def layer_norm(x, gamma, beta, eps=1e-12):
            mean, variance = x.mean(-1, keepdim=True), x.var(-1, keepdim=True, correction=0)
            return (x - mean) / torch.sqrt(variance + eps) * gamma + beta
        """,
    ),
    right(
        "sinusoidal-positions",
        "stacked, then flattened",
        """
        def sinusoidal_positions(max_length, d_model):
            place, even = torch.arange(max_length)[:, None], torch.arange(0, d_model, 2)
            angle = place / 10_000 ** (even / d_model)
            return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(-2)
        """,
    ),
    right(
        "encoder-layer",
        "each part a function of its own",
        """
        def attend(x, w, mask=None):
            return multi_head_attention(x, w.heads, w.W_o, w.b_o, mask)

        def compute(x, w):
            return feed_forward(x, w.W_mlp1, w.b_mlp1, w.W_mlp2, w.b_mlp2)

        def encoder_layer(x, w, mask=None):
            norm_1, norm_2 = (w.gamma_1, w.beta_1), (w.gamma_2, w.beta_2)
            x = layer_norm(x + attend(x, w, mask), *norm_1)
            return layer_norm(x + compute(x, w), *norm_2)
        """,
    ),
    right(
        "mlm-logits",
        "in two lines",
        """
        def mlm_logits(hidden, predict, weights, W_e):
            x = gelu(hidden[predict] @ weights.W_f + weights.b_f)
            return layer_norm(x, weights.gamma, weights.beta) @ W_e.T + weights.b_u
        """,
    ),
]
