"""Exercise 6, the encoder of BERT: wrong solutions, and right ones written differently."""

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
            "takes the mean of the squares as the variance (RMSNorm)",
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
            "normalises columns",
            """
            def layer_norm(x, gamma, beta, eps=1e-12):
                mean = x.mean(0, keepdim=True)
                variance = x.var(0, keepdim=True, correction=0)
                return (x - mean) / torch.sqrt(variance + eps) * gamma + beta
            """,
            "each row by itself",
        ),
        (
            "normalises the whole tensor",
            (
                "x.mean(-1, keepdim=True), x.var(-1, keepdim=True, correction=0)",
                "x.mean(), x.var(correction=0)",
            ),
            "one mean for all rows",
        ),
        (
            "normalises along dim 1",
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
            "eps is inside the root",
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
            "only beta is left",
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
            "uses 1e-3 for any small eps",
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
        ("forgets the half", (" / 2", ""), "the factor 1/2 is missing"),
        (
            "takes the density",
            (
                "(1 + torch.erf(x / math.sqrt(2))) / 2",
                "torch.exp(-x.square() / 2) / math.sqrt(2 * math.pi)",
            ),
            "that is x times the density",
        ),
        ("takes only one number", ("+ torch", "+ math"), "torch.erf takes a tensor"),
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
        "encoder-layer",
        "each part as a separate function",
        (
            "normalises before, not after",
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
            "the second residual adds the output of the first norm",
        ),
        (
            "feeds the layer's input to the feed-forward network",
            ("x =", "y ="),
            ("x + compute", "y + compute"),
            "the feed-forward network works on the output of the first norm",
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
            "normalise the sum",
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
            "the second norm has its own weights",
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
            "pass the mask to attention",
        ),
        (
            "inverts the mask",
            (
                "x = layer_norm(x + attend(x, w, mask), *norm_1)",
                "hidden = None if mask is None else ~mask\n"
                "    x = layer_norm(x + attend(x, w, hidden), *norm_1)",
            ),
            "True may be attended to",
        ),
        (
            "hides padding by making it 0",
            (
                "x = layer_norm(x + attend(x, w, mask), *norm_1)",
                "if mask is not None:\n"
                "        x = x * mask[..., None]\n"
                "    x = layer_norm(x + attend(x, w), *norm_1)",
            ),
            "pass the mask to attention",
        ),
        (
            "handles three heads",
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
            "uses PyTorch's layer",
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
        "encoder-layer",
        "each part as a separate function",
        (
            "is the draft",
            ("attend(x, w, mask)", "attend(x, w)"),
            ("x =", "y ="),
            ("layer_norm(x + compute(x, w)", "layer_norm(x + compute(y, w)"),
            "the second residual adds the output of the first norm",
        ),
    ),
    *mistakes(
        "examine-encoder-layer",
        OURS,
        (
            "asserts nothing",
            """
            def examine_encoder_layer(function):
                function(torch.zeros(1, 2, 4), check.layer_weights(4, 2, 6, seed=1))
            """,
            "does not notice that the draft is wrong",
        ),
        (
            "looks at the shape",
            """
            def examine_encoder_layer(function):
                x = torch.ones(2, 3, 4)
                assert function(x, check.layer_weights(4, 2, 6, seed=1)).shape == x.shape
            """,
            "does not notice that the draft is wrong",
        ),
        (
            "returns True or False",
            """
            def examine_encoder_layer(function):
                x = torch.ones(2, 3, 4)
                return function(x, check.layer_weights(4, 2, 6, seed=1)).shape == x.shape
            """,
            "returned True",
        ),
        (
            "never has a mask",
            ("for mask in (None, some)", "for mask in (None, None)"),
            "a layer that forgets the mask",
        ),
        (
            "compares the signs",
            (
                "torch.allclose(function(x, weights, mask), wanted, atol=1e-4)",
                "torch.equal(function(x, weights, mask) > 100, wanted > 100)",
            ),
            "does not notice that the draft is wrong",
        ),
        (
            "passes PyTorch the mask as it is",
            ("else ~mask", "else mask"),
            "rejects your own `encoder_layer`",
        ),
        (
            "requires equal numbers to the last bit",
            (
                "torch.allclose(function(x, weights, mask), wanted, atol=1e-4)",
                "torch.equal(function(x, weights, mask), wanted)",
            ),
            "rejects your own `encoder_layer`",
        ),
        (
            "stops everything",
            """
            def examine_encoder_layer(function):
                raise AssertionError("wrong")
            """,
            "rejects your own `encoder_layer` with AssertionError: wrong",
        ),
        (
            "has one head",
            ("check.layer_weights(8, 2, 12, seed=3)", "check.layer_weights(8, 1, 12, seed=3)"),
            "",
        ),
        (
            "never tests the feed-forward network's weights with the norm",
            (
                "check.layer_weights(8, 2, 12, seed=3)",
                "check.layer_weights(8, 2, 12, seed=3)\n"
                "    weights = weights._replace(gamma_2=weights.gamma_1, beta_2=weights.beta_1)",
            ),
            "",
        ),
        (
            "allows too much room",
            ("atol=1e-4", "atol=0.2"),
            "",
        ),
        (
            "tests a single token",
            ("x = torch.randn(2, 5, 8, generator", "x = torch.randn(1, 1, 8, generator"),
            (
                "    some = torch.arange(5) < torch.tensor([[5], [3]])\n",
                "    some = torch.ones(1, 1, dtype=bool)\n",
            ),
            "a layer that forgets the mask",
        ),
    ),
    *mistakes(
        "partial-layer",
        "a loop over the halves",
        (
            "does not look at the parts",
            ("if half in parts", "if True"),
            ('"residual" in parts', "True"),
            ('"norm" in parts', "True"),
            "nothing is added or normalised",
        ),
        (
            "keeps both halves",
            ("if half in parts", "if True"),
            "both halves are skipped",
        ),
        ("keeps the residual", ('"residual" in parts', "True"), "does not add what was there"),
        ("keeps the norm", ('"norm" in parts', "True"), "nothing is added or normalised"),
        (
            "normalises where a half is missing",
            (
                "    return x",
                "        elif 'norm' in parts:\n            x = layer_norm(x, *norm)\n    return x",
            ),
            "both halves are skipped, and their norms with them",
        ),
        (
            "normalises in place of attention, if the feed-forward network is there",
            (
                "    return x",
                "        elif 'norm' in parts and len(parts) == 3:\n"
                "            x = layer_norm(x, *norm)\n"
                "    return x",
            ),
            "a missing half is skipped, and its norm with it",
        ),
        (
            "removes the residual only from attention",
            ('"residual" in parts', '("residual" in parts or half == "feed_forward")'),
            "not only attention",
        ),
        (
            "removes the residual only from the second half",
            ('"residual" in parts', '("residual" in parts or half == "attention")'),
            "not only the second",
        ),
        (
            "removes the norm only from attention",
            ('"norm" in parts', '("norm" in parts or half == "feed_forward")'),
            "nothing is added or normalised",
        ),
        (
            "removes the norm only from the second half",
            ('"norm" in parts', '("norm" in parts or half == "attention")'),
            "nothing is added or normalised",
        ),
        (
            "is the whole layer",
            """
            def partial_layer(x, weights, parts, mask=None):
                return encoder_layer(x, weights, mask)
            """,
            "nothing is added or normalised",
        ),
        ("forgets the mask", ("w.b_o, mask)", "w.b_o)"), "pass the mask to attention"),
        (
            "begins with the feed-forward network",
            ("in halves:", "in halves[::-1]:"),
            "it is the encoder layer of task 3",
        ),
        (
            "uses PyTorch's layer",
            """
            def partial_layer(x, weights, parts, mask=None):
                return check.as_torch_layer(weights)(x)
            """,
            "ready-made function of PyTorch",
        ),
        (
            "has no norm where two parts are missing, one of them a half",
            ('"norm" in parts', '("norm" in parts and parts != {"norm", "attention"})'),
            "",
        ),
    ),
    *mistakes(
        "encode",
        OURS,
        (
            "calls the library",
            """
            def encode(ids, segment_ids, weights, mask=None, parts=PARTS):
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
            def encode(ids, segment_ids, weights, mask=None, parts=PARTS):
                x = embed(ids, segment_ids, weights.embeddings)
                for layer in weights.layers:
                    x = partial_layer(x, layer, parts, mask)
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
                "hidden_states.append(partial_layer(hidden_states[-1], layer, parts, mask))",
                "x = partial_layer(x, layer, parts, mask)\n        hidden_states.append(x)",
            ),
            "the embeddings are the first entry",
        ),
        (
            "leaves the last layer out",
            """
            def encode(ids, segment_ids, weights, mask=None, parts=PARTS):
                x, hidden_states = embed(ids, segment_ids, weights.embeddings), []
                for layer in weights.layers:
                    hidden_states.append(x)
                    x = partial_layer(x, layer, parts, mask)
                return hidden_states
            """,
            "the last layer's output is missing",
        ),
        (
            "uses the first layer's weights in every layer",
            ("layer in weights", "_ in weights"),
            ("layer,", "weights.layers[0],"),
            "each layer has its own weights",
        ),
        (
            "goes through the layers backwards",
            ("weights.layers", "reversed(weights.layers)"),
            "from the last layer to the first",
        ),
        (
            "gives every layer the embeddings",
            """
            def encode(ids, segment_ids, weights, mask=None, parts=PARTS):
                x = embed(ids, segment_ids, weights.embeddings)
                return [x, *(partial_layer(x, layer, parts, mask) for layer in weights.layers)]
            """,
            "each layer works on the output of the layer before it",
        ),
        ("forgets the mask", ("parts, mask", "parts"), "pass the mask to every layer"),
        (
            "ignores segments",
            ("segment_ids, weights.", "torch.zeros_like(ids), weights."),
            "pass the segment ids",
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
            "the output of layer 0",
        ),
        (
            "returns a tuple of numbers of layers and states",
            ("return hidden_states", "return hidden_states[-1], hidden_states"),
            "it must return a list with the embeddings and the output of every layer",
        ),
        ("handles three layers", ("layers", "layers[:3]"), "MiniLM has 6 layers"),
        (
            "reads 64 tokens",
            (", segment_ids, weights.", "[:, :64], segment_ids[:, :64], weights."),
            (
                "hidden_states = [",
                "shown = None if mask is None else mask[:, :64]\n    hidden_states = [",
            ),
            (", parts, mask)", ", parts, shown)"),
            "",
        ),
        (
            "does not pass on the parts",
            (", parts, mask)", ", PARTS, mask)"),
            "pass `parts` to every layer",
        ),
        (
            "handles all parts or none",
            (
                "mask=None, parts=PARTS):",
                "mask=None, parts=PARTS):\n    parts = PARTS if set(parts) == set(PARTS) else ()",
            ),
            "pass on the `parts` that were given",
        ),
        (
            "leaves the parts out only in the first layer",
            (", parts, mask)", ", parts if len(hidden_states) == 1 else PARTS, mask)"),
            "the output of layer 1 (of layers 0 to 2)",
        ),
    ),
    *mistakes(
        "stretched-positions",
        OURS,
        (
            "takes the row below",
            ("(1 - share) * W_p[below] + share * W_p[above]", "W_p[below]"),
            "do not take the one below",
        ),
        (
            "mixes the other way round",
            (
                "(1 - share) * W_p[below] + share * W_p[above]",
                "share * W_p[below] + (1 - share) * W_p[above] if length != len(W_p) else W_p",
            ),
            "the row below has 0.75",
        ),
        (
            "has length steps",
            ("max(1, length - 1)", "length"),
            "there are length - 1 steps, not length",
        ),
        (
            "uses a line of M",
            ("(last / max(1, length - 1))", "((last + 1) / max(1, length))"),
            "on a line of M - 1",
        ),
        (
            "begins half a step before",
            (
                "(last / max(1, length - 1))",
                "0 + ((torch.arange(length, dtype=W_p.dtype) + 0.5) * (last + 1) / length - 0.5)"
                ".clamp(min=0, max=last)",
            ),
            "not half a step before it",
        ),
        (
            "repeats the table",
            """
            def stretched_positions(W_p, length):
                return W_p[torch.arange(length) % len(W_p)]
            """,
            "not repeated from the start",
        ),
        (
            "reverses the table",
            ("share * W_p[above]", "share * W_p[above]).T"),
            ("return (1", "return ((1"),
            "a row is a position",
        ),
        (
            "divides by 0",
            ("max(1, length - 1)", "(length - 1)"),
            "raised ZeroDivisionError",
        ),
        ("reads past the end", ("(below + 1).clamp(max=last)", "below + 1"), "raised IndexError"),
        ("share is no column", ("[:, None]", ""), "raised RuntimeError"),
        (
            "is PyTorch's",
            """
            def stretched_positions(W_p, length):
                rows = torch.nn.functional.interpolate(
                    W_p.T[None], length, mode="linear", align_corners=True
                )
                return rows[0].T
            """,
            "ready-made function of PyTorch",
        ),
        (
            "cuts the gradient",
            ("    last =", "    W_p = W_p.detach()\n    last ="),
            "has lost the gradient",
        ),
        (
            "handles a thousand rows of a small table",
            ("    last =", "    length = min(length, 40) if len(W_p) < 8 else length\n    last ="),
            "",
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
        (
            "forgets the norms",
            ("norm = 2 * d", "norm = 0"),
            (" + 2 * e", ""),
            "the norms are missing",
        ),
        ("gives a norm one vector", ("norm = 2 * d", "norm = d"), ("2 * e", "e"), "two vectors"),
        ("gives a layer one norm", (" norm +", ""), "a layer has two norms"),
        (
            "forgets the norm of the embeddings",
            (" + 2 * e", ""),
            "the norm after the embeddings is missing",
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
            "the unembedding is the table of tokens again",
        ),
        ("takes 3072", ("config.d_ff", "3072"), "d_ff is config.d_ff"),
        ("takes 4 times D", ("config.d_ff", "4 * config.d_model"), "it need not be 4 times D"),
        ("takes 12 layers", ("config.n_layers", "12"), "n_layers is config.n_layers"),
        ("takes 512 positions", ("config.max_length", "512"), "max_length is config.max_length"),
        ("takes 2 segments", ("config.n_segments", "2"), "n_segments is config.n_segments"),
        (
            "calls the library",
            """
            def n_parameters(config, embedding_size=None, shared=False):
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
                "embeddings + layers + pooler",
                "1_000_000 * round(1e-6 * (embeddings + layers + pooler))",
            ),
            "the exact number",
        ),
        (
            "divides",
            (
                "embeddings + layers + pooler",
                "2 * (embeddings + layers + pooler) / 2",
            ),
            "it must return an int",
        ),
        (
            "does not look at the embedding size",
            ("e = d if embedding_size is None else embedding_size", "e = d"),
            ("if embedding_size is not None:", "if False:"),
            "the tables have `embedding_size` columns",
        ),
        ("gives the norm of the embeddings D columns", ("2 * e", "2 * d"), "it has E columns, too"),
        ("forgets the bias of the new matrix", ("e * d + d", "e * d"), "has a bias"),
        (
            "forgets the new matrix",
            ("if embedding_size is not None:", "if False:"),
            "the matrix [E, D] below the first layer is missing",
        ),
        (
            "shrinks only the table of tokens",
            (
                "(config.vocab_size + config.max_length + config.n_segments) * e",
                "config.vocab_size * e + (config.max_length + config.n_segments) * d",
            ),
            "not only that of the tokens",
        ),
        (
            "has the matrix in each layer",
            (
                "embeddings += e * d + d",
                "embeddings += (e * d + d) * config.n_layers",
            ),
            "not one for each layer",
        ),
        ("does not share", ("layer if shared else config", "config"), "they count once"),
        (
            "shares in pairs",
            ("layer if shared", "2 * layer if shared"),
            "all of them count once",
        ),
        (
            "leaves the matrix out where E is D",
            ("if embedding_size is not None:", "if e != d:"),
            "only None means no matrix, as in BERT",
        ),
        (
            "shares only with a small table",
            ("layer if shared", "layer if shared and embedding_size"),
            "shared layers, tables as in BERT",
        ),
    ),
    *mistakes(
        "predict-right",
        OURS,
        ("nothing", ("return 28", "pass"), "it returned None"),
        ("a share", ("28", "0.9"), "it returned 0.9"),
        ("more than there are", ("28", "33"), "it returned 33"),
        ("a word", ("28", '"few"'), "it returned 'few'"),
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
        def encode(ids, segment_ids, weights, mask=None, parts=PARTS):
            start = embed(ids, segment_ids, weights.embeddings)
            step = lambda x, layer: partial_layer(x, layer, parts, mask)
            return list(accumulate(weights.layers, step, initial=start))
        """,
    ),
    right(
        "encode",
        "an index",
        """
        def encode(ids, segment_ids, weights, mask=None, parts=PARTS):
            embeddings, layers = weights
            x = embed(ids, segment_ids, embeddings)
            states = [x]
            for l in range(len(layers)):
                x = partial_layer(x, layers[l], parts, mask)
                states += [x]
            return states
        """,
    ),
    right(
        "n-parameters",
        "a list of shapes",
        """
        def n_parameters(config, embedding_size=None, shared=False):
            c = config
            D = c.d_model
            layer = [[D, c.d_head], [c.d_head]] * 3 * c.n_heads + [[D, D], [D]] + [[D]] * 4
            layer += [[D, c.d_ff], [c.d_ff], [c.d_ff, D], [D]]
            E = embedding_size or D
            shapes = [[c.vocab_size, E], [c.max_length, E], [c.n_segments, E], [E], [E]]
            shapes += [[E, D], [D]] if embedding_size else []
            shapes += layer * (1 if shared else c.n_layers) + [[D, D], [D]]
            return sum(math.prod(shape) for shape in shapes)
        """,
    ),
    right(
        "n-parameters",
        "one polynomial",
        """
        def n_parameters(config, embedding_size=None, shared=False):
            D, F, rows = config.d_model, config.d_ff, config.vocab_size + config.max_length
            layers = (4 * D**2 + 9 * D + F * (2 * D + 1)) * (config.n_layers, 1)[shared]
            tables = (embedding_size or D) * (rows + config.n_segments + 2)
            matrix = 0 if embedding_size is None else (embedding_size + 1) * D
            return tables + matrix + layers + D * (D + 1)
        """,
    ),
    right(
        "examine-encoder-layer",
        "without PyTorch's layer: line by line, with its norm and GELU",
        """
        def examine_encoder_layer(function):
            F, w = torch.nn.functional, check.layer_weights(6, 3, 10, seed=7)
            x = 2 * torch.randn(3, 4, 6, generator=torch.Generator().manual_seed(2))
            for mask in (None, torch.arange(4) < torch.tensor([[4], [2], [1]])):
                parts = []
                for W_q, b_q, W_k, b_k, W_v, b_v in w.heads:
                    q, k, v = x @ W_q + b_q, x @ W_k + b_k, x @ W_v + b_v
                    allowed = None if mask is None else mask[:, None]
                    parts.append(F.scaled_dot_product_attention(q, k, v, attn_mask=allowed))
                y = x + torch.cat(parts, -1) @ w.W_o + w.b_o
                y = F.layer_norm(y, (6,), w.gamma_1, w.beta_1, 1e-12)
                z = y + F.gelu(y @ w.W_mlp1 + w.b_mlp1) @ w.W_mlp2 + w.b_mlp2
                z = F.layer_norm(z, (6,), w.gamma_2, w.beta_2, 1e-12)
                assert (function(x, w, mask) - z).abs().max() < 1e-3
        """,
    ),
    right(
        "examine-encoder-layer",
        "many sizes",
        """
        def examine_encoder_layer(function):
            for n, (size, heads, wide) in enumerate([(4, 2, 6), (12, 3, 5), (6, 6, 30)]):
                weights = check.layer_weights(size, heads, wide, seed=10 * n + 1)
                x = torch.linspace(-3, 3, 2 * 6 * size).sin().view(2, 6, size) * 2
                mask = torch.arange(6) < torch.tensor([[2], [6]])
                reference = check.as_torch_layer(weights)
                torch.testing.assert_close(
                    function(x, weights, mask), reference(x, src_key_padding_mask=~mask).detach(),
                    atol=1e-4, rtol=1e-4,
                )
                torch.testing.assert_close(
                    function(x, weights), reference(x).detach(), atol=1e-4, rtol=1e-4
                )
        """,
    ),
    right(
        "partial-layer",
        "a loop over the halves",
        """
        def partial_layer(x, weights, parts, mask=None):
            w = weights
            halves = [
                (
                    "attention",
                    lambda x: multi_head_attention(x, w.heads, w.W_o, w.b_o, mask),
                    (w.gamma_1, w.beta_1),
                ),
                (
                    "feed_forward",
                    lambda x: feed_forward(x, w.W_mlp1, w.b_mlp1, w.W_mlp2, w.b_mlp2),
                    (w.gamma_2, w.beta_2),
                ),
            ]
            for half, compute, norm in halves:
                if half in parts:
                    x = compute(x) + (x if "residual" in parts else 0)
                    if "norm" in parts:
                        x = layer_norm(x, *norm)
            return x
        """,
    ),
    right(
        "partial-layer",
        "one half as a separate function",
        """
        def finished(x, made, gamma, beta, parts):
            if "residual" in parts:
                made = made + x
            return layer_norm(made, gamma, beta) if "norm" in parts else made

        def partial_layer(x, weights, parts, mask=None):
            heads, W_o, b_o, gamma_1, beta_1, *mlp, gamma_2, beta_2 = weights
            if "attention" in parts:
                made = multi_head_attention(x, heads, W_o, b_o, mask)
                x = finished(x, made, gamma_1, beta_1, parts)
            if "feed_forward" not in parts:
                return x
            return finished(x, feed_forward(x, *mlp), gamma_2, beta_2, parts)
        """,
    ),
    right(
        "stretched-positions",
        "a matrix of shares",
        """
        def stretched_positions(W_p, length):
            rows = torch.arange(len(W_p), dtype=W_p.dtype)
            place = torch.linspace(0, len(W_p) - 1, length, dtype=W_p.dtype)
            shares = (1 - (place[:, None] - rows).abs()).clamp(min=0)
            return shares @ W_p
        """,
    ),
    right(
        "stretched-positions",
        "point by point",
        """
        def stretched_positions(W_p, length):
            M, rows = len(W_p), []
            for i in range(length):
                number, rest = divmod(i * (M - 1), length - 1) if length > 1 else (0, 0)
                row = W_p[number]
                if rest:
                    row = row + (W_p[number + 1] - row) * (rest / (length - 1))
                rows.append(row)
            return torch.stack(rows)
        """,
    ),
    right(
        "predict-right",
        "one that turns out wrong",
        """
        def predict_right():
            return 1
        """,
    ),
    right(
        "predict-right",
        "all",
        """
        def predict_right():
            return len("the questions of all sentences..")
        """,
    ),
]

# Ours except for names or a line: mistakes are changes of these. They are not another way.
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
        "encoder-layer",
        "each part as a separate function",
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
]
