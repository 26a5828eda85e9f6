"""Exercise 4, attention: solutions that are wrong, and right ones of another kind."""

from course.answers import OURS, mistakes, right

WRONG = [
    *mistakes(
        "single-query-attention",
        "with short names",
        (
            "does not scale",
            ("k_t / math.sqrt(weights.W_q.shape[1])", "k_t"),
            "the scores are not scaled: divide q·k by √d_attn",
        ),
        (
            "divides by d_attn",
            ("math.sqrt(weights.W_q.shape[1])", "len(q)"),
            "divide by the square root of d_attn, not by d_attn itself",
        ),
        (
            "multiplies by the root",
            ("k_t / math.sqrt(weights.W_q.shape[1])", "k_t * math.sqrt(len(q))"),
            "multiplied by √d_attn; divide by it",
        ),
        (
            "scales by the size of embeddings",
            ("weights.W_q.shape[1]", "len(e)"),
            "the number of W_q's columns: √4, not √3",
        ),
        (
            "scales by the size of values",
            ("W_q.shape[1]", "W_v.shape[1]"),
            "the number of W_q's columns: √4, not √2",
        ),
        ("forgets to divide by the sum", (" / total", ""), "divide each exp by the sum of all"),
        (
            "uses the scores as shares",
            ("math.exp(s) / total", "s"),
            "the softmax between them is missing",
        ),
        (
            "divides scores by their sum",
            ("math.exp(s) / total", "s / sum(scores)"),
            "shares are made by exp",
        ),
        (
            "takes the mean of the values",
            (
                "sum(math.exp(s) / total * v for s, v in zip(scores, values))",
                "sum(values) / len(values)",
            ),
            "weigh each with its share",
        ),
        (
            "takes the best value alone",
            (
                "sum(math.exp(s) / total * v for s, v in zip(scores, values))",
                "values[scores.index(max(scores))]",
            ),
            "not the best value alone, but a blend",
        ),
        (
            "blends embeddings",
            ("e_t @ weights.W_v + weights.b_v", "e_t"),
            "sum the values v_t = e_t W_v + b_v, not the embeddings",
        ),
        (
            "returns the weighted values one by one",
            (
                "sum(math.exp(s) / total * v for s, v in zip(scores, values))",
                "torch.stack([math.exp(s) / total * v for s, v in zip(scores, values)])",
            ),
            "one vector comes out, not one a token",
        ),
        (
            "forgets the bias of the query",
            (" + weights.b_q", ""),
            "the query's bias b_q is missing",
        ),
        (
            "forgets the bias of the values",
            (" + weights.b_v", ""),
            "the values' bias b_v is missing",
        ),
        (
            "swaps queries and keys",
            ("W_q + weights.b_q", "W_k + weights.b_k"),
            ("e_t @ weights.W_k + weights.b_k", "e_t @ weights.W_q + weights.b_q"),
            "W_q and W_k are swapped",
        ),
        (
            "makes the query with the key's matrix",
            ("W_q + weights.b_q", "W_k + weights.b_k"),
            "the query has its own W_q and b_q",
        ),
        (
            "multiplies from the wrong side",
            ("e @ weights.W_q", "weights.W_q @ e"),
            "raised RuntimeError",
        ),
        (
            "returns a list",
            (
                "sum(math.exp(s) / total * v for s, v in zip(scores, values))",
                "[\n"
                "        float(x) for x in sum(math.exp(s) / total * v for s, v in "
                "zip(scores, values))\n"
                "    ]",
            ),
            "a list",
        ),
        (
            "knows tokens of three components only",
            ("shape[1]", "numel() / 3"),
            "80 tokens of context",
        ),
        (
            "keeps a row",
            (
                "sum(math.exp(s) / total * v for s, v in zip(scores, values))",
                "sum(math.exp(s) / total * v for s, v in zip(scores, values))[None]",
            ),
            "so one vector comes out, [d_mid]",
        ),
        ("rounds the shares", ("math.exp(s) / total", "round(math.exp(s) / total, 4)"), ""),
    ),
    *mistakes(
        "row-softmax",
        "with short names",
        (
            "goes along columns",
            """
            def row_softmax(scores):
                return scores.exp() / scores.exp().sum(dim=0, keepdim=True)
            """,
            "the row is the last dimension, dim=-1",
        ),
        (
            "goes along dimension 1",
            """
            def row_softmax(scores):
                return (scores - scores.amax(dim=1, keepdim=True)).exp() / (
                    scores - scores.amax(dim=1, keepdim=True)
                ).exp().sum(dim=1, keepdim=True)
            """,
            "raised IndexError",
        ),
        (
            "goes along dimension 1 unless there is one alone",
            """
            def row_softmax(scores):
                dim = min(1, scores.dim() - 1)
                powers = (scores - scores.amax(dim=dim, keepdim=True)).exp()
                return powers / powers.sum(dim=dim, keepdim=True)
            """,
            "what sums to 1 goes along dim=-3, the row is dim=-1",
        ),
        (
            "divides by one sum for all",
            """
            def row_softmax(scores):
                return scores.exp() / scores.exp().sum()
            """,
            "the sum runs over the whole tensor",
        ),
        (
            "forgets exp",
            """
            def row_softmax(scores):
                return scores / scores.sum(dim=-1, keepdim=True)
            """,
            "take exp first, then divide",
        ),
        (
            "forgets to divide",
            """
            def row_softmax(scores):
                return scores.exp()
            """,
            "divide each row by its sum",
        ),
        (
            "divides by the largest",
            """
            def row_softmax(scores):
                return (scores - scores.amax(dim=-1, keepdim=True)).exp()
            """,
            "divide each row by its sum",
        ),
        (
            "forgets keepdim",
            """
            def row_softmax(scores):
                return scores.exp() / scores.exp().sum(dim=-1)
            """,
            "keepdim=True is missing",
        ),
        (
            "forgets keepdim of the sums",
            ("powers.sum(dim=-1, keepdim=True)", "powers.sum(dim=-1)"),
            "keepdim=True is missing",
        ),
        (
            "forgets keepdim twice",
            """
            def row_softmax(scores):
                powers = (scores - scores.amax(dim=-1)).exp()
                return powers / powers.sum(dim=-1)
            """,
            "keepdim=True is missing",
        ),
        (
            "forgets keepdim of the largest",
            ("scores.amax(dim=-1, keepdim=True)", "scores.amax(dim=-1)"),
            "the same goes for the largest score",
        ),
        (
            "takes powers of 2",
            """
            def row_softmax(scores):
                return 2**scores / (2**scores).sum(dim=-1, keepdim=True)
            """,
            "not powers of 2",
        ),
        (
            "returns logarithms",
            """
            def row_softmax(scores):
                return scores - scores.exp().sum(dim=-1, keepdim=True).log()
            """,
            "these are logarithms of the shares",
        ),
        (
            "turns the sign",
            """
            def row_softmax(scores):
                return (-scores).exp() / (-scores).exp().sum(dim=-1, keepdim=True)
            """,
            "a higher score gets a larger share",
        ),
        (
            "overflows",
            """
            def row_softmax(scores):
                return scores.exp() / scores.exp().sum(dim=-1, keepdim=True)
            """,
            "exp(1000) is inf",
        ),
        (
            "takes the largest of all away",
            ("scores.amax(dim=-1, keepdim=True)", "scores.max()"),
            "subtract each row's own largest score",
        ),
        ("takes the mean away", ("scores.amax", "scores.mean"), "a share of exactly 0"),
        (
            "cuts large scores off",
            ("(scores - scores.amax(dim=-1, keepdim=True))", "scores.clamp(max=80)"),
            "subtract the row's largest score",
        ),
        ("lets what is hidden keep a little", (".exp()", ".clamp(min=-50).exp()"), "not exactly 0"),
        (
            "changes its input",
            """
            def row_softmax(scores):
                scores -= scores.amax(dim=-1, keepdim=True)
                powers = scores.exp()
                return powers / powers.sum(dim=-1, keepdim=True)
            """,
            "changed its input",
        ),
        (
            "changes its input by a method",
            ("(scores - scores.amax(dim=-1, keepdim=True)).exp()", "scores.exp_()"),
            "changed its input",
        ),
        ("cuts the gradient", ("- scores", ".detach() - scores.detach()"), "has lost the gradient"),
        (
            "works in 32 bits only",
            (
                "powers = (scores - scores.amax(dim=-1, keepdim=True)).exp()",
                "scores = scores.float()\n"
                "    powers = (scores - scores.amax(dim=-1, keepdim=True)).exp()",
            ),
            "dtype must be torch.float64",
        ),
        (
            "goes through two dimensions by hand",
            """
            def row_softmax(scores):
                rows = []
                for row in scores:
                    powers = (row - row.max()).exp()
                    rows.append(powers / powers.sum())
                return torch.stack(rows)
            """,
            "a single row, [3]",
        ),
        (
            "is PyTorch's",
            """
            def row_softmax(scores):
                return torch.softmax(scores, dim=-1)
            """,
            "a ready-made function of PyTorch",
        ),
        (
            "is PyTorch's, by its logarithm",
            """
            def row_softmax(scores):
                return torch.nn.functional.log_softmax(scores, dim=-1).exp()
            """,
            "a ready-made function of PyTorch",
        ),
        (
            "is the library's",
            """
            def row_softmax(scores):
                from bertlab.model.attention import row_softmax as ready

                return ready(scores)
            """,
            "bertlab's own",
        ),
        (
            "adds a small number below the line",
            ("powers.sum(dim=-1, keepdim=True)", "(powers.sum(dim=-1, keepdim=True) + 1e-4)"),
            "every row of shares must sum to 1",
        ),
        (
            "cuts scores off at 5,000",
            (
                "powers = (scores - scores.amax(dim=-1, keepdim=True)).exp()",
                "scores = scores.clamp(-5000, 5000)\n"
                "    powers = (scores - scores.amax(dim=-1, keepdim=True)).exp()",
            ),
            "",
        ),
        (
            "returns nothing",
            """
            def row_softmax(scores):
                powers = (scores - scores.amax(dim=-1, keepdim=True)).exp()
                powers / powers.sum(dim=-1, keepdim=True)
            """,
            "Is there a `return`",
        ),
    ),
    *mistakes(
        "causal-mask",
        OURS,
        ("keeps the upper triangle", ("tril()", "triu()"), "rows and columns are swapped"),
        ("leaves the diagonal out", ("tril()", "tril(diagonal=-1)"), "a token may look at itself"),
        (
            "lets each token see the next",
            ("tril()", "tril(diagonal=1)"),
            "token 0 may not look at token 1",
        ),
        (
            "says True where it is forbidden",
            ("tril()", "triu(diagonal=1)"),
            "True means `may be attended`",
        ),
        (
            "returns numbers",
            (", dtype=torch.bool", ""),
            "dtype must be torch.bool; it returned torch.float32",
        ),
        (
            "returns something to add",
            (
                "torch.ones(length, length, dtype=torch.bool).tril()",
                "torch.zeros(length, length).masked_fill(\n"
                "        torch.ones(length, length).triu(1).bool(), -math.inf\n"
                "    )",
            ),
            "dtype must be torch.bool",
        ),
        (
            "makes a dimension for heads",
            ("length, length,", "1, length, length,"),
            "shape [3, 3]; it returned one of shape [1, 3, 3]",
        ),
        (
            "looks back two tokens only",
            """
            def causal_mask(length):
                place = torch.arange(length)
                back = place[:, None] - place
                return (back >= 0) & (back <= 2)
            """,
            "numbers differ",
        ),
        (
            "looks back a hundred tokens only",
            """
            def causal_mask(length):
                place = torch.arange(length)
                back = place[:, None] - place
                return (back >= 0) & (back <= 100)
            """,
            "",
        ),
    ),
    *mistakes(
        "padding-mask",
        OURS,
        ("marks the padding", ("ids != pad_id", "ids == pad_id"), "inverted: True marks tokens"),
        (
            "returns numbers",
            ("ids != pad_id", "(ids != pad_id).long()"),
            "dtype must be torch.bool; it returned torch.int64",
        ),
        (
            "takes 0 for the padding",
            ("ids != pad_id", "ids != 0"),
            "here 1 is the id of the padding",
        ),
        (
            "takes truth for tokens",
            ("ids != pad_id", "ids.bool()"),
            "here 1 is the id of the padding",
        ),
        (
            "takes all larger ids for tokens",
            ("ids != pad_id", "ids > pad_id"),
            "here 1 is the id of the padding",
        ),
        (
            "adds dimensions",
            ("ids != pad_id", "(ids != pad_id)[:, None, None, :]"),
            "[B, L] is asked for, without dimensions",
        ),
        (
            "makes a square",
            """
            def padding_mask(ids, pad_id=0):
                keep = ids != pad_id
                return keep[:, None, :] & keep[:, :, None]
            """,
            "one True or False a token",
        ),
        (
            "returns lists",
            ("ids != pad_id", "[[id != pad_id for id in row] for row in ids.tolist()]"),
            "a list",
        ),
        (
            "takes what is neither smaller nor larger for a token",
            ("ids != pad_id", "(ids < pad_id) | (ids == 2)"),
            "True wherever the id is not that of the padding",
        ),
    ),
    *mistakes(
        "attention-probabilities",
        OURS,
        (
            "does not scale",
            ("key.mT / math.sqrt(query.shape[-1])", "key.mT"),
            "the scores are not scaled",
        ),
        (
            "divides by d_head",
            ("math.sqrt(query.shape[-1])", "query.shape[-1]"),
            "divide by the square root of d_head",
        ),
        ("multiplies by the root", ("/ math.", "* math."), "multiplied by √d_head; divide by it"),
        (
            "scales by the number of keys",
            ("query.shape[-1]", "key.shape[-2]"),
            "3 is the number of keys",
        ),
        (
            "scales by the number of queries",
            ("query.shape[-1]", "len(query)"),
            "2 is the number of queries",
        ),
        (
            "takes the second dimension for d_head",
            ("-1", "1"),
            "the scores look as if divided by 8; d_head is query's last size, 16",
        ),
        (
            "scales after the softmax",
            ("key.mT / math.sqrt(query.shape[-1])", "key.mT"),
            ("row_softmax(scores)", "row_softmax(scores) / math.sqrt(query.shape[-1])"),
            "scale the scores before the softmax",
        ),
        (
            "goes along columns",
            ("row_softmax(scores)", "scores.softmax(dim=-2)"),
            "the softmax goes along rows, dim=-1",
        ),
        (
            "returns scores",
            ("row_softmax(scores)", "scores"),
            "these are the scores; their softmax is missing",
        ),
        (
            "turns queries and keys around",
            ("query @ key.mT", "key @ query.mT"),
            "query @ key.mT, not key @ query.mT",
        ),
        (
            "turns two dimensions only",
            ("key.mT", "key.transpose(0, 1)"),
            "turn the last two of key",
        ),
        (
            "reverses all dimensions",
            (
                "query @ key.mT / math.sqrt(query.shape[-1])",
                "(\n"
                "        query @ key.permute(*range(key.dim() - 1, -1, -1)) / "
                "math.sqrt(query.shape[-1])\n"
                "    )",
            ),
            "turn the last two of key",
        ),
        (
            "goes along dimension 1",
            ("row_softmax(scores)", "scores.softmax(dim=1)"),
            "what sums to 1 goes along dim=-2, the row is dim=-1",
        ),
        (
            "masks after the softmax",
            """
            def attention_probabilities(query, key, mask=None):
                shares = row_softmax(query @ key.mT / math.sqrt(query.shape[-1]))
                return shares if mask is None else shares * mask
            """,
            "masked after the softmax",
        ),
        (
            "masks with -inf after the softmax",
            """
            def attention_probabilities(query, key, mask=None):
                shares = row_softmax(query @ key.mT / math.sqrt(query.shape[-1]))
                return shares if mask is None else shares.masked_fill(~mask, -math.inf)
            """,
            "mask the scores, before the softmax",
        ),
        ("inverts the mask", ("~mask,", "mask,"), "-inf goes where the mask is False"),
        ("sets hidden scores to 0", ("-math.inf", "0.0"), "a score of 0 is an ordinary score"),
        (
            "multiplies scores by the mask",
            ("scores.masked_fill(~mask, -math.inf)", "scores * mask"),
            "a score of 0 is an ordinary score",
        ),
        (
            "adds the mask",
            ("scores.masked_fill(~mask, -math.inf)", "scores + mask"),
            "the mask is added to the scores",
        ),
        ("sets hidden scores to +inf", ("-math.inf", "math.inf"), "what is hidden becomes -inf"),
        (
            "ignores the mask",
            """
            def attention_probabilities(query, key, mask=None):
                return row_softmax(query @ key.mT / math.sqrt(query.shape[-1]))
            """,
            "the mask is not used",
        ),
        (
            "turns the mask around",
            ("~mask,", "~mask.mT if mask.shape[0] == mask.shape[1] else ~mask,"),
            "rows and columns of the mask are swapped",
        ),
        (
            "adds -10000",
            ("scores.masked_fill(~mask, -math.inf)", "scores + (~mask) * -10000.0"),
            "-inf, not some large number",
        ),
        ("fills with -100", ("math.inf", "100.0"), "-inf, not some large number"),
        (
            "indexes with the mask",
            """
            def attention_probabilities(query, key, mask=None):
                scores = query @ key.mT / math.sqrt(query.shape[-1])
                if mask is not None:
                    scores = scores.clone()
                    scores[~mask] = -math.inf
                return row_softmax(scores)
            """,
            "raised IndexError",
        ),
        (
            "asks whether the mask is true",
            ("mask is not None", "mask"),
            "raised RuntimeError: Boolean value of Tensor",
        ),
        (
            "forgets that there may be no mask",
            """
            def attention_probabilities(query, key, mask=None):
                scores = query @ key.mT / math.sqrt(query.shape[-1])
                return row_softmax(scores.masked_fill(~mask, -math.inf))
            """,
            "raised TypeError: bad operand type",
        ),
        (
            "changes its input",
            ("scores = query @ key.mT /", "query /="),
            ("if mask is not None:", "scores = query @ key.mT\n    if mask is not None:"),
            "changed its input",
        ),
        ("changes the mask", ("~mask,", "mask.logical_not_(),"), "changed its input"),
        (
            "cuts the gradient of the keys",
            ("key.mT", "key.detach().mT"),
            "no gradient reaches argument 2",
        ),
        (
            "makes new tensors from numbers",
            ("query @ key.mT", "torch.tensor((query @ key.mT).tolist())"),
            "dtype must be torch.float64",
        ),
        (
            "asks PyTorch's attention",
            """
            def attention_probabilities(query, key, mask=None):
                values = torch.eye(key.shape[-2]).expand(*key.shape[:-1], key.shape[-2])
                return torch.nn.functional.scaled_dot_product_attention(query, key, values, mask)
            """,
            "a ready-made function of PyTorch",
        ),
        (
            "asks the library",
            """
            def attention_probabilities(query, key, mask=None):
                from bertlab.model.attention import attention

                return attention(query, key, key, mask)[1]
            """,
            "bertlab's own",
        ),
        (
            "compares by distance, not by dot product",
            ("query @ key.mT", "-torch.cdist(query, key)"),
            "the dot products are 6, 4, 2",
        ),
        (
            "hides only whole columns",
            ("~mask,", "~mask.reshape(-1, mask.shape[-1])[0],"),
            "what the mask hides gets exactly 0",
        ),
        (
            "hides nothing if only one key is left",
            (
                "if mask is not None:",
                "if mask is not None:\n        mask = mask | (mask.sum(dim=-1, keepdim=True) == 1)",
            ),
            "the mask's row is the query",
        ),
        (
            "leaves out hidden keys of a long text",
            (
                "scores = scores.masked_fill(~mask, -math.inf)",
                "scores[..., :66] = scores[..., :66].masked_fill(~mask[..., :66], -math.inf)",
            ),
            "numbers differ",
        ),
        (
            "takes the first text's mask for all",
            (
                "if mask is not None:",
                "if mask is not None:\n        mask = mask[0] if mask.dim() == 3 else mask",
            ),
            "",
        ),
    ),
    *mistakes(
        "attention",
        OURS,
        (
            "returns the vectors alone",
            ("value, probabilities", "value"),
            "it must return two tensors",
        ),
        (
            "returns a list",
            ("probabilities @ value, probabilities", "[probabilities @ value, probabilities]"),
            "it must return two tensors",
        ),
        (
            "returns them in the wrong order",
            ("@ value, probabilities", ", probabilities @ value"),
            "swapped: first the updated vectors",
        ),
        (
            "turns the probabilities around",
            (
                "@ value",
                ".mT @ value if probabilities.shape[-1] == probabilities.shape[\n"
                "        -2\n"
                "    ] else probabilities @ value",
            ),
            "the probabilities are turned around",
        ),
        (
            "multiplies from the other side",
            ("probabilities @ value", "value.mT @ probabilities.mT"),
            "each query takes home the values",
        ),
        (
            "blends the scores",
            ("probabilities @ value", "query @ key.mT / math.sqrt(query.shape[-1]) @ value"),
            "multiply the probabilities with the values, not the scores",
        ),
        (
            "does not scale",
            ("attention_probabilities(query, key, mask)", "row_softmax(query @ key.mT)"),
            "the scores are not scaled",
        ),
        ("blends the keys", ("@ value", "@ key"), "blend the values, not the keys"),
        ("forgets the mask", ("key, mask", "key"), "hand the mask on"),
        (
            "masks the probabilities",
            """
            def attention(query, key, value, mask=None):
                probabilities = attention_probabilities(query, key)
                if mask is not None:
                    probabilities = probabilities * mask
                return probabilities @ value, probabilities
            """,
            "mask the scores before the softmax",
        ),
        (
            "returns the probabilities without the mask",
            ("value, probabilities", "value, attention_probabilities(query, key)"),
            "expected [[0, 0.7311, 0.2689]",
        ),
        ("multiplies place by place", ("@ value", "* value"), "raised RuntimeError"),
        (
            "cuts the gradient of the values",
            ("@ value", "@ value.data"),
            "no gradient reaches argument 3",
        ),
        (
            "is PyTorch's",
            (
                "probabilities @ value",
                "torch.nn.functional.scaled_dot_product_attention(\n"
                "        query, key, value, mask\n"
                "    )",
            ),
            "a ready-made function of PyTorch",
        ),
        ("needs a mask", ("key, mask", "key, mask.bool()"), "raised AttributeError"),
        (
            "rounds what is long",
            """
            def attention(query, key, value, mask=None):
                probabilities = attention_probabilities(query, key, mask)
                if key.shape[-2] > 70 or query.dim() == 2 and query.shape[-2] > 64:
                    return (probabilities @ value).round(decimals=2), probabilities
                return probabilities @ value, probabilities
            """,
            "",
        ),
    ),
    *mistakes(
        "self-attention",
        OURS,
        (
            "does not make values",
            ("x @ weights.W_v + weights.b_v", "x"),
            "the values are made, too",
        ),
        (
            "makes values with the key's matrix",
            ("W_v + weights.b_v", "W_k + weights.b_k"),
            "the values have a matrix of their own",
        ),
        (
            "makes keys with the query's matrix",
            ("W_k + weights.b_k", "W_q + weights.b_q"),
            "the keys are made by W_k",
        ),
        (
            "makes queries with the key's matrix",
            ("W_q + weights.b_q", "W_k + weights.b_k"),
            "the queries are made by W_q",
        ),
        ("swaps queries and keys", ("query, key", "key, query"), "W_q and W_k are swapped"),
        (
            "forgets the bias of the queries",
            (" + weights.b_q", ""),
            "the queries' bias b_q is missing",
        ),
        (
            "forgets the bias of the values",
            (" + weights.b_v", ""),
            "the values' bias b_v is missing",
        ),
        (
            "forgets all biases",
            (" + weights.b_q", ""),
            (" + weights.b_k", ""),
            (" + weights.b_v", ""),
            "the queries' bias b_q is missing",
        ),
        ("forgets the mask", ("value, mask", "value"), "the mask is passed on to attention"),
        (
            "returns the vectors alone",
            ("attention(query, key, value, mask)", "attention(query, key, value, mask)[0]"),
            "it must return two tensors",
        ),
        (
            "returns them in the wrong order",
            ("attention(query, key, value, mask)", "attention(query, key, value, mask)[::-1]"),
            "swapped: first the updated vectors",
        ),
        (
            "multiplies by the turned matrix",
            ("weights.W_q", "weights.W_q.T"),
            "raised RuntimeError",
        ),
        (
            "does not scale",
            (
                "attention(query, key, value, mask)",
                "torch.softmax(query @ key.mT, -1) @ value, torch.softmax(query @ key.mT, -1)",
            ),
            "the scores are not scaled",
        ),
        (
            "scales once more",
            (
                "x @ weights.W_q + weights.b_q",
                "(x @ weights.W_q + weights.b_q) / math.sqrt(weights.W_q.shape[1])",
            ),
            "0.91 noun and 0.67 alive",
        ),
        (
            "scales by the size of x",
            (
                "x @ weights.W_q + weights.b_q",
                "(x @ weights.W_q + weights.b_q) * math.sqrt(\n"
                "        weights.W_q.shape[1] / x.shape[-1]\n"
                "    )",
            ),
            "not by the size of x, 3",
        ),
        (
            "lets the texts be 60 tokens long",
            (
                "x @ weights.W_k + weights.b_k",
                "(x @ weights.W_k + weights.b_k) * (1 if len(x) <= 60 else 0)",
            ),
            "numbers differ",
        ),
        (
            "lets the texts be 66 tokens long",
            (
                "x @ weights.W_k + weights.b_k",
                "(x @ weights.W_k + weights.b_k) * (1 if len(x) <= 66 else 0)",
            ),
            "",
        ),
    ),
    *mistakes(
        "split-heads",
        OURS,
        (
            "only changes the shape",
            (
                "x.unflatten(-1, (n_heads, -1)).transpose(-3, -2)",
                "x.reshape(*x.shape[:-2], n_heads, x.shape[-2], -1)",
            ),
            "tokens and heads are mixed up",
        ),
        (
            "deals the columns out in turns",
            (
                "x.unflatten(-1, (n_heads, -1)).transpose(-3, -2)",
                "x.unflatten(-1, (-1, n_heads)).movedim(-1, -3)",
            ),
            "the columns are dealt out in turns",
        ),
        ("does not swap", (".transpose(-3, -2)", ""), "[L, H, d_head]: now swap L and H"),
        (
            "puts the columns before the tokens",
            (
                "x.unflatten(-1, (n_heads, -1)).transpose(-3, -2)",
                "x.mT.unflatten(-2, (n_heads, -1))",
            ),
            "each head has one row a token",
        ),
        ("counts dimensions from the front", ("-3, -2", "0, 1"), "count dimensions from the end"),
        (
            "puts heads before the batch",
            (
                "x.unflatten(-1, (n_heads, -1)).transpose(-3, -2)",
                "torch.stack(x.chunk(n_heads, dim=-1))",
            ),
            "the batch stays in front",
        ),
        (
            "swaps the wrong two in a batch",
            (
                "x.unflatten(-1, (n_heads, -1)).transpose(-3, -2)",
                "x.reshape(*x.shape[:-1], n_heads, -1).movedim(-2, 0)",
            ),
            "the batch stays in front",
        ),
        (
            "cuts into pieces of n_heads columns",
            (
                "x.unflatten(-1, (n_heads, -1)).transpose(-3, -2)",
                "torch.stack(x.split(n_heads, dim=-1), dim=-3)",
            ),
            "shape [2, 3, 4, 2]",
        ),
        (
            "returns a list",
            ("x.unflatten(-1, (n_heads, -1)).transpose(-3, -2)", "list(x.chunk(n_heads, dim=-1))"),
            "a list",
        ),
        (
            "lets in batches only",
            """
            def split_heads(x, n_heads):
                B, L, D = x.shape
                return x.view(B, L, n_heads, D // n_heads).transpose(1, 2)
            """,
            "raised ValueError: not enough values to unpack",
        ),
        (
            "lets in single texts only",
            """
            def split_heads(x, n_heads):
                L, D = x.shape
                return x.view(L, n_heads, D // n_heads).transpose(0, 1)
            """,
            "raised ValueError: too many values to unpack",
        ),
        ("cuts the gradient", ("x.unflatten", "x.detach().unflatten"), "has lost the gradient"),
        (
            "reverses the heads",
            ("(-3, -2)", "(-3, -2).flip(-3)"),
            "head 0 gets the first two columns",
        ),
        (
            "has two heads at least",
            """
            def split_heads(x, n_heads):
                heads = torch.stack(
                    [x[..., : x.shape[-1] // n_heads], *x.split(x.shape[-1] // n_heads, -1)[1:]], -3
                )
                return heads if n_heads > 1 else x
            """,
            "one head keeps all columns",
        ),
        (
            "allows one dimension in front",
            """
            def split_heads(x, n_heads):
                heads = x.reshape(-1, x.shape[-2], n_heads, x.shape[-1] // n_heads).transpose(1, 2)
                return heads if x.dim() > 2 else heads[0]
            """,
            "",
        ),
    ),
    *mistakes(
        "merge-heads",
        OURS,
        (
            "only changes the shape",
            ("x.transpose(-3, -2).flatten(-2)", "x.reshape(*x.shape[:-3], x.shape[-2], -1)"),
            "swap H and L first, then join",
        ),
        (
            "lets the columns alternate",
            ("x.transpose(-3, -2)", "x.movedim(-3, -1)"),
            "the heads' columns alternate",
        ),
        ("joins tokens and columns", ("x.transpose(-3, -2).", "x."), "that joins L and d_head"),
        (
            "puts heads below each other",
            ("x.transpose(-3, -2).flatten(-2)", "x.flatten(-3, -2)"),
            "that puts the heads below each other",
        ),
        (
            "adds the heads",
            ("x.transpose(-3, -2).flatten(-2)", "x.sum(dim=-3)"),
            "not summed or averaged",
        ),
        (
            "starts with the last head",
            ("x.transpose", "x.flip(-3).transpose"),
            "head 0 comes first",
        ),
        (
            "uses view",
            """
            def merge_heads(x):
                x = x.transpose(-3, -2)
                return x.view(*x.shape[:-2], -1)
            """,
            "raised RuntimeError: view size is not compatible",
        ),
        ("swaps the wrong two in a batch", ("-3, -2", "0, 1"), "count dimensions from the end"),
        (
            "lets in batches only",
            """
            def merge_heads(x):
                B, H, L, d = x.shape
                return x.transpose(1, 2).reshape(B, L, H * d)
            """,
            "raised ValueError: not enough values",
        ),
        (
            "knows two heads",
            (
                "x.transpose(-3, -2).flatten(-2)",
                "torch.cat([x[..., 0, :, :], x[..., 1, :, :]], dim=-1)",
            ),
            "shape [2, 4, 6]",
        ),
        ("returns a list", ("flatten(-2)", "flatten(-2).tolist()"), "a list"),
        ("cuts the gradient", ("x.transpose", "x.data.transpose"), "has lost the gradient"),
        (
            "allows one dimension in front",
            """
            def merge_heads(x):
                heads = x.transpose(-3, -2).flatten(-2)
                return heads if x.dim() < 5 else heads[0]
            """,
            "",
        ),
    ),
    *mistakes(
        "multi-head-attention",
        OURS,
        ("forgets the bias", ("W_o + b_o", "W_o"), "b_o is missing"),
        ("forgets W_o", (" @ W_o + b_o", ""), "W_o is missing"),
        ("forgets W_o alone", ("@ W_o +", "+"), "W_o is missing"),
        ("turns W_o around", ("W_o + b_o", "W_o.T + b_o"), "W_o is turned around"),
        (
            "adds the bias for every head",
            """
            def multi_head_attention(x, heads, W_o, b_o, mask=None):
                d = W_o.shape[0] // len(heads)
                result = 0
                for i, weights in enumerate(heads):
                    result = (
                        result
                        + self_attention(x, weights, mask)[0] @ W_o[i * d : (i + 1) * d]
                        + b_o
                    )
                return result
            """,
            "b_o is added once",
        ),
        ("puts heads below each other", ("-1", "0"), "raised RuntimeError"),
        ("sums the heads", ("torch.cat(outputs, dim=-1)", "sum(outputs)"), "raised RuntimeError"),
        (
            "averages the heads without mixing",
            ("torch.cat(outputs, dim=-1) @ W_o + b_o", "sum(outputs) / len(outputs)"),
            "put the heads side by side",
        ),
        ("starts with the last head", ("outputs,", "outputs[::-1],"), "head 0 comes first"),
        (
            "lets the columns alternate",
            ("torch.cat(outputs, dim=-1)", "torch.stack(outputs, dim=-1).flatten(-2)"),
            "the heads' columns alternate",
        ),
        (
            "only changes the shape",
            ("torch.cat(outputs, dim=-1)", "torch.stack(outputs).reshape(len(x), -1)"),
            "tokens and heads are mixed up",
        ),
        (
            "uses the first head for all",
            ("(x, weights, mask)[0] for weights", "(x, heads[0], mask)[0] for _"),
            "the first head is used twice",
        ),
        (
            "uses the last head for all",
            """
            def multi_head_attention(x, heads, W_o, b_o, mask=None):
                for weights in heads:
                    output = self_attention(x, weights, mask)[0]
                return torch.cat([output] * len(heads), dim=-1) @ W_o + b_o
            """,
            "the last head is used twice",
        ),
        ("joins the answers as they are", ("[0]", ""), "raised TypeError"),
        ("joins the probabilities", ("0", "1"), "raised RuntimeError"),
        ("forgets the mask", ("weights, mask", "weights"), "every head gets the mask"),
        (
            "masks the first head only",
            ("weights, mask", "weights, mask if weights is heads[0] else None"),
            "every head gets the mask",
        ),
        (
            "sends one head's vectors into the next",
            """
            def multi_head_attention(x, heads, W_o, b_o, mask=None):
                outputs = []
                for weights in heads:
                    outputs.append(self_attention(x, weights, mask)[0])
                    x = x + 1
                return torch.cat(outputs, dim=-1) @ W_o + b_o
            """,
            "each head's vectors side by side",
        ),
        (
            "returns both",
            """
            def multi_head_attention(x, heads, W_o, b_o, mask=None):
                A = [self_attention(x, weights, mask) for weights in heads]
                return torch.cat([a for a, _ in A], dim=-1) @ W_o + b_o, A
            """,
            "a tuple",
        ),
        (
            "does not scale",
            """
            def multi_head_attention(x, heads, W_o, b_o, mask=None):
                outputs = []
                for W in heads:
                    scores = (x @ W.W_q + W.b_q) @ (x @ W.W_k + W.b_k).mT
                    if mask is not None:
                        scores = scores.masked_fill(~mask, -math.inf)
                    outputs.append(scores.softmax(-1) @ (x @ W.W_v + W.b_v))
                return torch.cat(outputs, dim=-1) @ W_o + b_o
            """,
            "each head divides by √d_head",
        ),
        (
            "scales by the embeddings",
            """
            def multi_head_attention(x, heads, W_o, b_o, mask=None):
                outputs = []
                for weights in heads:
                    scale = math.sqrt(weights.W_q.shape[1] / x.shape[-1])
                    outputs.append(
                        self_attention(
                            x,
                            weights._replace(W_q=weights.W_q * scale, b_q=weights.b_q * scale),
                            mask,
                        )[0]
                    )
                return torch.cat(outputs, dim=-1) @ W_o + b_o
            """,
            "√d_head = √2, the size of its own queries",
        ),
        (
            "knows up to three heads",
            (
                "torch.cat(outputs, dim=-1) @ W_o",
                "torch.cat(outputs[:3], dim=-1) @ W_o[: 3 * outputs[0].shape[-1]]",
            ),
            "numbers differ",
        ),
        (
            "knows up to five heads",
            (
                "torch.cat(outputs, dim=-1) @ W_o",
                "torch.cat(outputs[:5], dim=-1) @ W_o[: 5 * outputs[0].shape[-1]]",
            ),
            "",
        ),
        (
            "changes the list of heads",
            """
            def multi_head_attention(x, heads, W_o, b_o, mask=None):
                outputs = []
                while heads:
                    outputs.append(self_attention(x, heads.pop(0), mask)[0])
                return torch.cat(outputs, dim=-1) @ W_o + b_o
            """,
            "changed its input",
        ),
    ),
    *mistakes(
        "offset-share",
        OURS,
        ("looks the other way", ("offset, -2", "-offset, -2"), "so look at A[i, i - 1]"),
        (
            "divides by all rows",
            ("mean(dim=-1)", "sum(dim=-1) / attention.shape[-1]"),
            "the mean runs over the other two rows",
        ),
        ("sums", ("mean(dim=-1)", "sum(dim=-1)"), "take the mean over the rows, not the sum"),
        ("forgets the offset", ("offset, -2", "0, -2"), "the offset is not used"),
        (
            "takes the mean of everything",
            ("diagonal(offset, -2, -1).mean(dim=-1)", "mean(dim=(-2, -1))"),
            "that is the mean of all numbers",
        ),
        (
            "takes the mean of a matrix of zeros",
            """
            def offset_share(attention, offset):
                L = attention.shape[-1]
                place = torch.arange(L)
                return (attention * (place - place[:, None] == offset)).mean(dim=(-2, -1))
            """,
            "the mean runs over the numbers on the diagonal alone",
        ),
        ("returns the diagonal", (".mean(dim=-1)", ""), "one number for a head"),
        ("returns a number", ("mean(dim=-1)", "mean().item()"), "a float"),
        ("takes the mean over all heads", ("dim=-1", ""), "not over all heads"),
        (
            "takes the diagonal of the first two dimensions",
            ("offset, -2, -1", "offset"),
            "a number for each head",
        ),
        (
            "wraps around",
            ("diagonal(offset, -2, -1)", "roll(-offset, dims=-1).diagonal(0, -2, -1)"),
            "row 0 has none",
        ),
        ("knows the previous token alone", ("offset, -2", "-1, -2"), "the next token: 0.3 and 0.0"),
        (
            "uses the distance",
            """
            def offset_share(attention, offset):
                L = attention.shape[-1]
                place = torch.arange(L)
                near = (place - place[:, None]).abs() == abs(offset)
                return (attention * near).sum(dim=(-2, -1)) / near.sum()
            """,
            "rows 1 and 2 have a token before them",
        ),
        (
            "knows small texts",
            (
                "attention.diagonal(offset, -2, -1).mean(dim=-1)",
                "(\n"
                "        attention[..., :70, :70].diagonal(offset, -2, -1).mean(dim=-1)\n"
                "        if attention.shape[-1] < 65 or offset == 3\n"
                "        else attention.diagonal(0, -2, -1).mean(dim=-1)\n"
                "    )",
            ),
            "",
        ),
    ),
    *mistakes(
        "entropy-bits",
        "in one line",
        ("counts in nats", ("log2()", "log()"), "these are nats"),
        ("forgets the sign", ("return -", "return"), "the sign is wrong"),
        (
            "sums over the rows",
            ("sum(dim=-1).mean(dim=-1)", "sum(dim=(-2, -1))"),
            "take the mean over the rows, not the sum",
        ),
        (
            "takes the mean within a row",
            ("sum(dim=-1).mean(dim=-1)", "mean(dim=(-2, -1))"),
            "sum within a row",
        ),
        ("returns one number a row", (".mean(dim=-1)", ""), "one number for a head"),
        (
            "goes along columns",
            ("sum(dim=-1).mean(dim=-1)", "sum(dim=-2)"),
            "sum along a row, dim=-1",
        ),
        ("stumbles over 0", (".clamp(min=1e-30).", "."), "0 · log2(0) counts as 0"),
        (
            "takes the entropy of the mean row",
            """
            def entropy_bits(attention):
                p = attention.mean(dim=-2)
                return -(p * p.clamp(min=1e-30).log2()).sum(dim=-1)
            """,
            "that is the entropy of the mean row",
        ),
        ("takes the mean over all heads", ("mean(dim=-1)", "mean()"), "not over all heads"),
        ("returns a number", ("mean(dim=-1)", "mean().item()"), "a float"),
        (
            "leaves the shares out",
            (
                "(attention * attention.clamp(min=1e-30).log2())",
                "attention.clamp(min=1e-30).log2()",
            ),
            "an even split over 8 keys",
        ),
        (
            "keeps too far away from 0",
            ("attention.clamp(min=1e-30)", "(attention + 0.001)"),
            "expected",
        ),
        (
            "drops small shares",
            """
            def entropy_bits(attention):
                p = attention.masked_fill(attention < 1e-3, 0.0)
                return -(p * p.clamp(min=1e-30).log2()).sum(dim=-1).mean(dim=-1)
            """,
            "expected",
        ),
        (
            "works in 32 bits only",
            """
            def entropy_bits(attention):
                p = attention.float()
                return -(p * p.clamp(min=1e-30).log2()).sum(dim=-1).mean(dim=-1)
            """,
            "",
        ),
    ),
]

OTHER_WAYS = [
    right(
        "single-query-attention",
        "with matrices",
        """
        def single_query_attention(e, context, weights):
            q = weights.W_q.T @ e + weights.b_q
            scores = torch.einsum("d,ld->l", q, context @ weights.W_k + weights.b_k)
            shares = torch.softmax(scores / weights.W_q.shape[1] ** 0.5, dim=0)
            return shares @ (context @ weights.W_v + weights.b_v)
        """,
    ),
    right(
        "single-query-attention",
        "without the bias of the keys, which cancels",
        """
        def single_query_attention(e, context, weights):
            q = e @ weights.W_q + weights.b_q
            scores, values = [], []
            for e_t in context:
                k_t = e_t @ weights.W_k
                scores.append(q @ k_t / math.sqrt(weights.W_q.shape[1]))
                values.append(e_t @ weights.W_v + weights.b_v)
            total = sum(math.exp(s) for s in scores)
            return sum(math.exp(s) / total * v for s, v in zip(scores, values))
        """,
    ),
    right(
        "single-query-attention",
        "in tensors, the largest score taken away",
        """
        def single_query_attention(e, context, weights):
            d_attn = len(weights.b_q)
            q = e @ weights.W_q + weights.b_q
            scores = [
                torch.dot(q, e_t @ weights.W_k + weights.b_k) / d_attn**0.5 for e_t in context
            ]
            powers = [torch.exp(score - max(scores)) for score in scores]
            result = torch.zeros_like(weights.b_v)
            for power, e_t in zip(powers, context):
                result = result + power / sum(powers) * (e_t @ weights.W_v + weights.b_v)
            return result
        """,
    ),
    right(
        "row-softmax",
        "by the logarithm of the sum",
        """
        def row_softmax(scores):
            return (scores - scores.logsumexp(dim=-1, keepdim=True)).exp()
        """,
    ),
    right(
        "row-softmax",
        "in loops over flattened rows",
        """
        def row_softmax(scores):
            rows = []
            for row in scores.reshape(-1, scores.shape[-1]):
                powers = torch.exp(row - row.max())
                rows.append(powers / powers.sum())
            return torch.stack(rows).reshape(scores.shape)
        """,
    ),
    right(
        "row-softmax",
        "from the far end of the dimensions",
        """
        def row_softmax(scores):
            largest, _ = scores.max(dim=scores.dim() - 1)
            powers = torch.exp(scores - largest.unsqueeze(-1))
            return powers / powers.sum(-1)[..., None]
        """,
    ),
    right(
        "causal-mask",
        "by comparing places",
        """
        def causal_mask(length):
            place = torch.arange(length)
            return place <= place.unsqueeze(1)
        """,
    ),
    right(
        "causal-mask",
        "in lists",
        """
        def causal_mask(length):
            return torch.tensor([[j <= i for j in range(length)] for i in range(length)])
        """,
    ),
    right(
        "padding-mask",
        "by a negation",
        """
        def padding_mask(ids, pad_id=0):
            return ~(ids == pad_id)
        """,
    ),
    right(
        "padding-mask",
        "by a method",
        """
        def padding_mask(ids, pad_id=0):
            return torch.ne(ids, pad_id)
        """,
    ),
    right(
        "attention-probabilities",
        "with einsum",
        """
        def attention_probabilities(query, key, mask=None):
            scores = torch.einsum("...id,...jd->...ij", query, key) * query.size(-1) ** -0.5
            if mask is not None:
                scores = torch.where(mask, scores, torch.full_like(scores, -torch.inf))
            return torch.softmax(scores, -1)
        """,
    ),
    right(
        "attention-probabilities",
        "scaling the queries first, with a finite mask",
        """
        def attention_probabilities(query, key, mask=None):
            scores = (query / query.shape[-1] ** 0.5) @ key.transpose(-1, -2)
            if mask is not None:
                scores = scores.masked_fill(mask == 0, torch.finfo(scores.dtype).min)
            return torch.nn.functional.softmax(scores, dim=-1)
        """,
    ),
    right(
        "attention-probabilities",
        "in loops",
        """
        def attention_probabilities(query, key, mask=None):
            rows = []
            for i in range(query.shape[-2]):
                products = (query[..., i : i + 1, :] * key).sum(dim=-1)  # [..., L']
                rows.append(products / math.sqrt(query.shape[-1]))
            scores = torch.stack(rows, dim=-2)
            if mask is not None:
                hidden = torch.zeros(scores.shape, dtype=scores.dtype)
                hidden[~mask.expand(scores.shape)] = -math.inf
                scores = scores + hidden
            return row_softmax(scores)
        """,
    ),
    right(
        "attention",
        "with einsum",
        """
        def attention(query, key, value, mask=None):
            A = attention_probabilities(query, key, mask)
            return torch.einsum("...ij,...jd->...id", A, value), A
        """,
    ),
    right(
        "attention",
        "as a weighted sum, written out",
        """
        def attention(query, key, value, mask=None):
            probabilities = attention_probabilities(query, key, mask)
            updated = (probabilities.unsqueeze(-1) * value.unsqueeze(-3)).sum(dim=-2)
            return updated, probabilities
        """,
    ),
    right(
        "self-attention",
        "with nn.functional.linear",
        """
        def self_attention(x, weights, mask=None):
            linear = torch.nn.functional.linear
            query, key, value = (linear(x, W.T, b) for W, b in zip(weights[::2], weights[1::2]))
            return attention(query, key, value, mask)
        """,
    ),
    right(
        "self-attention",
        "in one product, without the bias of the keys",
        """
        def self_attention(x, weights, mask=None):
            d_attn, d_mid = weights.W_q.shape[1], weights.W_v.shape[1]
            W = torch.cat([weights.W_q, weights.W_k, weights.W_v], dim=1)
            query, key, value = (x @ W).split([d_attn, d_attn, d_mid], dim=-1)
            scores = (query + weights.b_q) @ key.mT / d_attn**0.5
            if mask is not None:
                scores = scores.masked_fill(~mask, float("-inf"))
            A = scores.softmax(dim=-1)
            return A @ value + weights.b_v, A
        """,
    ),
    right(
        "split-heads",
        "by chunks",
        """
        def split_heads(x, n_heads):
            return torch.stack(x.chunk(n_heads, dim=-1), dim=-3)
        """,
    ),
    right(
        "split-heads",
        "by view and permute",
        """
        def split_heads(x, n_heads):
            *front, L, D = x.shape
            heads = x.view(*front, L, n_heads, D // n_heads)
            order = list(range(len(front)))
            return heads.permute(*order, len(front) + 1, len(front), len(front) + 2)
        """,
    ),
    right(
        "split-heads",
        "column by column",
        """
        def split_heads(x, n_heads):
            d = x.size(-1) // n_heads
            return torch.stack([x[..., h * d : (h + 1) * d] for h in range(n_heads)], dim=-3)
        """,
    ),
    right(
        "merge-heads",
        "by concatenation",
        """
        def merge_heads(x):
            return torch.cat(x.unbind(dim=-3), dim=-1)
        """,
    ),
    right(
        "merge-heads",
        "by permute and contiguous",
        """
        def merge_heads(x):
            *front, H, L, d = x.shape
            return x.movedim(-3, -2).contiguous().view(*front, L, H * d)
        """,
    ),
    right(
        "multi-head-attention",
        "as a sum over the heads, each with its part of W_o",
        """
        def multi_head_attention(x, heads, W_o, b_o, mask=None):
            result, start = b_o, 0
            for weights in heads:
                updated, _ = self_attention(x, weights, mask)
                result = result + updated @ W_o[start : start + updated.shape[-1]]
                start += updated.shape[-1]
            return result
        """,
    ),
    right(
        "multi-head-attention",
        "all heads at once",
        """
        def multi_head_attention(x, heads, W_o, b_o, mask=None):
            W_q, b_q, W_k, b_k, W_v, b_v = (torch.stack(parts) for parts in zip(*heads))
            query = x @ W_q + b_q[:, None]
            key = x @ W_k + b_k[:, None]
            value = x @ W_v + b_v[:, None]
            updated, _ = attention(query, key, value, mask)
            return (
                torch.einsum("hld,hde->le", updated, W_o.unflatten(0, (len(heads), -1))) + b_o
            )
        """,
    ),
    right(
        "offset-share",
        "with indices",
        """
        def offset_share(attention, offset):
            L = attention.shape[-1]
            rows = torch.arange(max(0, -offset), min(L, L - offset))
            return attention[..., rows, rows + offset].mean(dim=-1)
        """,
    ),
    right(
        "offset-share",
        "with a mask",
        """
        def offset_share(attention, offset):
            place = torch.arange(attention.shape[-1])
            hit = place - place[:, None] == offset
            return (attention * hit).sum(dim=(-2, -1)) / hit.sum()
        """,
    ),
    right(
        "entropy-bits",
        "with xlogy",
        """
        def entropy_bits(attention):
            return -torch.xlogy(attention, attention).sum(-1).mean(-1) / math.log(2)
        """,
    ),
    right(
        "entropy-bits",
        "with where",
        """
        def entropy_bits(attention):
            logs = torch.where(attention > 0, attention, 1.0).log2()
            return (-attention * logs).sum(dim=-1).mean(dim=-1)
        """,
    ),
    right(
        "entropy-bits",
        "with PyTorch's entr",
        """
        def entropy_bits(attention):
            return torch.special.entr(attention).sum(dim=-1).mean(dim=-1) / math.log(2)
        """,
    ),
]

# Ours but for names or a line: mistakes are changes of them. They are no other way.
NEAR_OURS = [
    right(
        "single-query-attention",
        "with short names",
        """
        def single_query_attention(e, context, weights):
            q = e @ weights.W_q + weights.b_q
            scores, values = [], []
            for e_t in context:
                k_t = e_t @ weights.W_k + weights.b_k
                scores.append(q @ k_t / math.sqrt(weights.W_q.shape[1]))
                values.append(e_t @ weights.W_v + weights.b_v)
            total = sum(math.exp(s) for s in scores)
            return sum(math.exp(s) / total * v for s, v in zip(scores, values))
        """,
    ),
    right(
        "row-softmax",
        "with short names",
        """
        def row_softmax(scores):
            powers = (scores - scores.amax(dim=-1, keepdim=True)).exp()
            return powers / powers.sum(dim=-1, keepdim=True)
        """,
    ),
    right(
        "entropy-bits",
        "in one line",
        """
        def entropy_bits(attention):
            return -(attention * attention.clamp(min=1e-30).log2()).sum(dim=-1).mean(dim=-1)
        """,
    ),
]
