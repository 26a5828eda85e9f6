"""Exercise 4, attention: wrong solutions, and right ones written differently."""

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
            "weight each value by its share",
        ),
        (
            "takes only the best value",
            (
                "sum(math.exp(s) / total * v for s, v in zip(scores, values))",
                "values[scores.index(max(scores))]",
            ),
            "a blend of all values, not only the best one",
        ),
        (
            "makes all keys from the asking token",
            ("e_t @ weights.W_k", "e @ weights.W_k"),
            "make each key from its own e_t",
        ),
        (
            "returns the shares",
            (
                "sum(math.exp(s) / total * v for s, v in zip(scores, values))",
                "torch.tensor([math.exp(s) / total for s in scores])",
            ),
            "these are the shares",
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
            "the result is one vector, not one per token",
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
            "handles only tokens of three components",
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
            "runs along columns",
            """
            def row_softmax(scores):
                return scores.exp() / scores.exp().sum(dim=0, keepdim=True)
            """,
            "the row is the last dimension, dim=-1",
        ),
        (
            "runs along dimension 1",
            """
            def row_softmax(scores):
                return (scores - scores.amax(dim=1, keepdim=True)).exp() / (
                    scores - scores.amax(dim=1, keepdim=True)
                ).exp().sum(dim=1, keepdim=True)
            """,
            "raised IndexError",
        ),
        (
            "runs along dimension 1 unless there is only one",
            """
            def row_softmax(scores):
                dim = min(1, scores.dim() - 1)
                powers = (scores - scores.amax(dim=dim, keepdim=True)).exp()
                return powers / powers.sum(dim=dim, keepdim=True)
            """,
            "the sums along dim=-3 are 1, but a row is dim=-1",
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
            "changes the sign",
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
            "subtracts the largest of all",
            ("scores.amax(dim=-1, keepdim=True)", "scores.max()"),
            "subtract each row's own largest score",
        ),
        ("subtracts the mean", ("scores.amax", "scores.mean"), "a share of exactly 0"),
        (
            "cuts large scores off",
            ("(scores - scores.amax(dim=-1, keepdim=True))", "scores.clamp(max=80)"),
            "subtract the row's largest score",
        ),
        ("leaves hidden keys a small share", (".exp()", ".clamp(min=-50).exp()"), "not exactly 0"),
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
            "handles two dimensions by hand",
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
            "adds a small number to the denominator",
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
            "True means `may be attended to`",
        ),
        (
            "returns numbers",
            (", dtype=torch.bool", ""),
            "dtype must be torch.bool; it returned torch.float32",
        ),
        ("hides nothing", (".tril()", ""), "row i ends at token i"),
        (
            "lets a token see only itself",
            ("torch.ones(length, length, dtype=torch.bool).tril()", "torch.eye(length).bool()"),
            "all that is before it",
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
            "takes 0 as the padding",
            ("ids != pad_id", "ids != 0"),
            "here 1 is the id of the padding",
        ),
        (
            "hides no padding",
            ("ids != pad_id", "torch.ones_like(ids).bool()"),
            "the second row ends with padding",
        ),
        ("counts tokens", ("ids != pad_id", "(ids != pad_id).sum(dim=-1)"), "not how many"),
        (
            "one row for the batch",
            ("ids != pad_id", "(ids != pad_id).all(dim=0)"),
            "each row has padding of its own",
        ),
        (
            "treats nonzero ids as tokens",
            ("ids != pad_id", "ids.bool()"),
            "here 1 is the id of the padding",
        ),
        (
            "treats all larger ids as tokens",
            ("ids != pad_id", "ids > pad_id"),
            "here 1 is the id of the padding",
        ),
        (
            "adds dimensions",
            ("ids != pad_id", "(ids != pad_id)[:, None, None, :]"),
            "return [B, L], without dimensions",
        ),
        (
            "makes a square",
            """
            def padding_mask(ids, pad_id=0):
                keep = ids != pad_id
                return keep[:, None, :] & keep[:, :, None]
            """,
            "one True or False per token",
        ),
        (
            "returns lists",
            ("ids != pad_id", "[[id != pad_id for id in row] for row in ids.tolist()]"),
            "a list",
        ),
        (
            "treats ids that are neither smaller nor larger as tokens",
            ("ids != pad_id", "(ids < pad_id) | (ids == 2)"),
            "True wherever the id is not that of the padding",
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
            "accepts only batches",
            """
            def merge_heads(x):
                B, H, L, d = x.shape
                return x.transpose(1, 2).reshape(B, L, H * d)
            """,
            "raised ValueError: not enough values",
        ),
        (
            "handles two heads",
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
        "masked-shares",
        OURS,
        (
            "is the draft",
            """
            def masked_shares(query, key, mask):
                scores = query @ key.mT / math.sqrt(key.shape[-2])
                return scores.softmax(dim=-1) * mask
            """,
            "3 is the number of keys",
        ),
        (
            "masks the shares and divides again",
            """
            def masked_shares(query, key, mask):
                shares = row_softmax(query @ key.mT / math.sqrt(query.shape[-1])) * mask
                return shares / shares.sum(dim=-1, keepdim=True)
            """,
            "0 divided by a row's sum of 0",
        ),
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
            ("query.shape[-1]", "query.shape[1]"),
            "the scores look as if divided by 8; d_head is query's last size, 16",
        ),
        (
            "runs along columns",
            ("row_softmax(scores.masked_fill(~mask, -math.inf))", "scores.softmax(dim=-2)"),
            "the softmax goes along rows, dim=-1",
        ),
        (
            "returns scores",
            ("row_softmax(scores.masked_fill(~mask, -math.inf))", "scores"),
            "these are the scores; their softmax is missing",
        ),
        (
            "swaps queries and keys",
            ("query @ key.mT", "key @ query.mT"),
            ("~mask, -", "~mask.mT, -"),
            ("~mask, 0", "~mask.mT, 0"),
            "query @ key.mT, not key @ query.mT",
        ),
        (
            "transposes only two dimensions",
            ("key.mT", "key.transpose(0, 1)"),
            "transpose the last two of key",
        ),
        (
            "runs along dimension 1",
            (
                "row_softmax(scores.masked_fill(~mask, -math.inf))",
                "scores.masked_fill(~mask, -math.inf).softmax(dim=1)",
            ),
            "the sums along dim=-2 are 1, but a row is dim=-1",
        ),
        (
            "masks after the softmax",
            ("scores.masked_fill(~mask, -math.inf)", "scores"),
            "masked after the softmax",
        ),
        (
            "inverts the mask",
            ("~mask, -", "mask, -"),
            "-inf goes where the mask is False",
        ),
        (
            "inverts the mask, both times",
            ("~mask, -", "mask, -"),
            ("~mask, 0", "mask, 0"),
            "inverted: True means",
        ),
        (
            "sets hidden scores to 0",
            ("-math.inf", "0.0"),
            ("shares.masked_fill(~mask, 0.0)", "shares"),
            "a score of 0 is an ordinary score",
        ),
        (
            "multiplies scores by the mask, and the shares",
            ("scores.masked_fill(~mask, -math.inf)", "scores * mask"),
            "a score of 0 is an ordinary score",
        ),
        (
            "adds the mask",
            ("scores.masked_fill(~mask, -math.inf)", "scores + mask"),
            ("shares.masked_fill(~mask, 0.0)", "shares"),
            "the mask is added to the scores",
        ),
        (
            "sets hidden scores to +inf",
            ("-math.inf", "math.inf"),
            ("shares.masked_fill(~mask, 0.0)", "shares.nan_to_num(0.0)"),
            "hidden scores become -inf",
        ),
        (
            "ignores the mask",
            ("scores.masked_fill(~mask, -math.inf)", "scores"),
            ("shares.masked_fill(~mask, 0.0)", "shares"),
            "the mask is not used",
        ),
        (
            "transposes the mask",
            (
                "    scores",
                "    mask = mask.mT if mask.dim() > 1 and mask.shape[0] == mask.shape[1] else mask"
                "\n    scores",
            ),
            "rows and columns of the mask are swapped",
        ),
        (
            "gives nan to a query without a key",
            ("shares.masked_fill(~mask, 0.0)", "shares"),
            "replace it with zeros afterwards",
        ),
        (
            "gives an even split to a query without a key",
            ("-math.inf", "torch.finfo(scores.dtype).min"),
            ("shares.masked_fill(~mask, 0.0)", "shares"),
            "not an even split over hidden keys",
        ),
        (
            "lets a query without a key look everywhere",
            (
                "    scores",
                "    mask = mask | ~mask.any(dim=-1, keepdim=True)\n    scores",
            ),
            "its mask applies, too",
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
            def masked_shares(query, key, mask):
                scores = query @ key.mT / math.sqrt(query.shape[-1])
                scores[~mask] = -math.inf
                return row_softmax(scores).nan_to_num(0.0)
            """,
            "raised IndexError",
        ),
        (
            "changes its input",
            (
                "scores = query @ key.mT / math.sqrt(query.shape[-1])",
                "query /= math.sqrt(query.shape[-1])\n    scores = query @ key.mT",
            ),
            "changed its input",
        ),
        (
            "changes the mask",
            ("~mask, -math.inf", "mask.logical_not_(), -math.inf"),
            ("~mask, 0.0", "mask, 0.0"),
            "changed its input",
        ),
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
            "calls PyTorch's attention",
            """
            def masked_shares(query, key, mask):
                values = torch.eye(key.shape[-2]).expand(*key.shape[:-1], key.shape[-2])
                return torch.nn.functional.scaled_dot_product_attention(query, key, values, mask)
            """,
            "a ready-made function of PyTorch",
        ),
        (
            "calls the library",
            """
            def masked_shares(query, key, mask):
                from bertlab.model.attention import attention_probabilities

                return attention_probabilities(query, key, mask)
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
            (
                "    scores",
                "    mask = mask.reshape(-1, mask.shape[-1])[0]\n    scores",
            ),
            "what the mask hides gets exactly 0",
        ),
        (
            "uses the first text's mask for all",
            ("    scores", "    mask = mask[0] if mask.dim() == 3 else mask\n    scores"),
            "",
        ),
    ),
    *mistakes(
        "examine-masked-shares",
        OURS,
        (
            "asserts nothing",
            """
            def examine_masked_shares(function):
                function(torch.ones(1, 2), torch.ones(3, 2), torch.ones(1, 3) > 0)
            """,
            "does not notice that the draft is wrong",
        ),
        (
            "compares tensors with ==",
            """
            def examine_masked_shares(function):
                shares = function(ASKING, ASKED[:3], torch.ones(1, 3, dtype=torch.bool))
                assert shares == torch.tensor([[0.665, 0.245, 0.090]])
            """,
            "ask about all of them at once: torch.allclose",
        ),
        (
            "is the draft's own test",
            """
            def examine_masked_shares(function):
                shares = function(ASKING, ASKED, torch.tensor([[True, True, True, True]]))
                expected = torch.tensor([[0.610, 0.225, 0.083, 0.083]])
                assert torch.allclose(shares, expected, atol=1e-3)
                shares = function(ASKING, ASKED, torch.tensor([[True, True, True, False]]))
                assert shares[0, 3] == 0
            """,
            "does not notice that the draft is wrong",
        ),
        (
            "returns True or False",
            """
            def examine_masked_shares(function):
                shares = function(ASKING, ASKED, torch.tensor([[True, True, True, False]]))
                return bool(abs(shares.sum() - 1) < 1e-4)
            """,
            "returned True",
        ),
        (
            "detects only the number of keys",
            """
            def examine_masked_shares(function):
                shares = function(ASKING, ASKED[:3], torch.ones(1, 3, dtype=torch.bool))
                assert torch.allclose(shares, torch.tensor([[0.665, 0.245, 0.090]]), atol=1e-3)
            """,
            "does not notice that a function that masks after the softmax is wrong",
        ),
        (
            "checks only the sums of rows",
            """
            def examine_masked_shares(function):
                shares = function(ASKING, ASKED, torch.tensor([[True, True, True, False]]))
                assert torch.allclose(shares.sum(dim=-1), torch.ones(1))
            """,
            "gives nan to a query without a key",
        ),
        (
            "forgets the query without a key",
            ("[True, False], [False, False]]", "[True, False], [False, True]]"),
            ("[1, 0], [0, 0]]", "[1, 0], [0, 1]]"),
            "gives nan to a query without a key",
        ),
        (
            "requires every row to sum to 1",
            """
            def examine_masked_shares(function):
                mask = torch.tensor([[True, False, True, True], [False, False, False, False]])
                shares = function(torch.cat([ASKING, ASKING]), ASKED, mask)
                assert torch.allclose(shares.sum(dim=-1), torch.ones(2))
            """,
            "rejects your own `masked_shares`",
        ),
        (
            "expects nan",
            ("[1, 0], [0, 0]]", "[1, 0], [math.nan, math.nan]]"),
            "rejects your own `masked_shares`",
        ),
        (
            "stops everything",
            """
            def examine_masked_shares(function):
                raise AssertionError("wrong")
            """,
            "rejects your own `masked_shares` with AssertionError: wrong",
        ),
        (
            "compares to the last digit",
            (
                "assert torch.allclose(function(query, key, mask), expected, atol=1e-4)",
                "assert torch.equal(function(query, key, mask), expected)",
            ),
            "rejects your own `masked_shares`",
        ),
        (
            "forgets several heads",
            ("both, torch.stack([expected, expected.flip(0)])", "both, both"),
            "",
        ),
        (
            "checks only sums, zeros and signs",
            """
            def examine_masked_shares(function):
                mask = torch.tensor([[True, False, True], [False, False, False]])
                shares = function(torch.eye(2), torch.ones(3, 2), mask)
                assert torch.allclose(shares.sum(dim=-1), torch.tensor([1.0, 0.0]))
                assert (shares[~mask] == 0).all() and (shares >= 0).all()
            """,
            "",
        ),
    ),
    *mistakes(
        "grouped-attention",
        OURS,
        (
            "alternates groups",
            (
                "repeat_interleave(n_heads // n_groups, dim=-3)",
                "repeat(*(1,) * (query.dim() - 3), n_heads // n_groups, 1, 1)",
            ),
            "the groups alternate",
        ),
        (
            "handles only one group",
            (
                "repeat_interleave(n_heads // n_groups, dim=-3)",
                "narrow(-3, 0, 1)",
            ),
            "all heads look at group 0",
        ),
        (
            "uses only the values of group 0",
            ("@ value)", "@ value.narrow(-3, 0, 1))"),
            "the values are grouped as the keys are",
        ),
        (
            "uses only the keys of group 0",
            ("query, key, mask", "query, key.narrow(-3, 0, 1), mask"),
            "the keys are grouped as the values are",
        ),
        (
            "blends the keys",
            ("@ value)", "@ key)"),
            "blend the values, not the keys",
        ),
        (
            "shares of the second key",
            ("@ value)", "[..., 1:])"),
            "these are shares",
        ),
        (
            "does not merge",
            (
                "merge_heads(masked_shares(query, key, mask) @ value)",
                "masked_shares(query, key, mask) @ value",
            ),
            "put the heads side by side",
        ),
        (
            "takes the mean of each group",
            (
                "merge_heads(masked_shares(query, key, mask) @ value)",
                "merge_heads(\n"
                "        (masked_shares(query, key, mask) @ value)\n"
                "        .unflatten(-3, (n_groups, -1))\n"
                "        .mean(dim=-3)\n"
                "    )",
            ),
            "not for each group",
        ),
        (
            "ignores the mask",
            ("key, mask)", "key, torch.ones_like(mask))"),
            "the mask is not used",
        ),
        (
            "cuts keys into n_heads",
            (
                "split_heads(x, n_groups).repeat_interleave(n_heads // n_groups, dim=-3)",
                "split_heads(x, n_heads)",
            ),
            "raised",
        ),
        (
            "counts dimensions from the front",
            ("dim=-3", "dim=0"),
            "the batch is the first dimension",
        ),
        (
            "joins heads and tokens",
            (
                "merge_heads(masked_shares(query, key, mask) @ value)",
                "(masked_shares(query, key, mask) @ value).reshape(\n"
                "        *query.shape[:-3], query.shape[-2], -1\n"
                "    )",
            ),
            "as many groups as heads",
        ),
        (
            "calls PyTorch",
            """
            def grouped_attention(query, key, value, n_heads, n_groups, mask):
                query = split_heads(query, n_heads)
                key, value = (
                    split_heads(x, n_groups).repeat_interleave(n_heads // n_groups, dim=-3)
                    for x in (key, value)
                )
                attend = torch.nn.functional.scaled_dot_product_attention
                return merge_heads(attend(query, key, value, mask))
            """,
            "a ready-made function of PyTorch",
        ),
        (
            "sees the first 70 keys",
            (
                "masked_shares(query, key, mask) @ value",
                "\n        masked_shares(query, key[..., :8, :], mask[:, :8]) @ value[..., :8, :]\n"
                "        if key.shape[-2] == 9\n"
                "        else masked_shares(query, key, mask) @ value\n    ",
            ),
            "",
        ),
    ),
    *mistakes(
        "predict-bits",
        OURS,
        ("one number", ("[4.0, 1.0, 0.0]", "4.0"), "a list of three numbers"),
        ("nothing", ("return [4.0, 1.0, 0.0]", "pass"), "it returned None"),
        ("in words", ("4.0, 1.0, 0.0", '"many", "some", "none"'), "from 0 to 6"),
        ("more than there are", ("4.0,", "12.0,"), "from 0 to 6"),
        ("two of them", (", 0.0]", "]"), "a list of three numbers"),
    ),
    *mistakes(
        "shares-without",
        OURS,
        (
            "leaves nothing out",
            (" if name != gone", ""),
            "the noise is still there",
        ),
        (
            "keeps only the part",
            ("name != gone", "name == gone or gone is None"),
            "leave it out and keep the rest",
        ),
        ("forgets the norm", ("norm(sum(part", "(sum(part"), "norm is not applied to the sum"),
        (
            "applies norm to each part",
            (
                "norm(sum(part for name, part in parts.items() if name != gone))",
                "sum(norm(part) for name, part in parts.items() if name != gone)",
            ),
            "apply norm to the sum, not to each part",
        ),
        (
            "applies norm before it leaves out the part",
            (
                "norm(sum(part for name, part in parts.items() if name != gone))",
                "norm(sum(parts.values())) - (0 if gone is None else parts[gone])",
            ),
            "then the norm",
        ),
        (
            "does not scale",
            (" / math.sqrt(query.shape[-1])", ""),
            "the scores are not scaled",
        ),
        (
            "runs along columns",
            (
                "row_softmax(query @ key.T / math.sqrt(query.shape[-1]))",
                "row_softmax(key @ query.T / math.sqrt(query.shape[-1])).T",
            ),
            "the softmax goes along rows",
        ),
        (
            "scales by the root of D",
            ("query.shape[-1]", "x.shape[-1]"),
            "expected",
        ),
        (
            "blends the values",
            (
                "return row_softmax(query @ key.T / math.sqrt(query.shape[-1]))",
                "shares = row_softmax(query @ key.T / math.sqrt(query.shape[-1]))\n"
                "    return shares @ (x @ weights.W_v + weights.b_v)",
            ),
            "not the blend of the values",
        ),
        ("forgets the queries' bias", (" + weights.b_q", ""), "expected"),
        (
            "swaps queries and keys",
            ("query @ key.T", "key @ query.T"),
            "expected",
        ),
        (
            "fails if no part is left out",
            ("    x =", "    parts[gone]\n    x ="),
            "raised KeyError",
        ),
        (
            "takes the part out of the dictionary",
            ("    x =", "    parts.pop(gone, None)\n    x ="),
            "changed its input",
        ),
        (
            "handles heads of at most 8 columns",
            ("query.shape[-1]", "min(query.shape[-1], 8)"),
            "",
        ),
        (
            "leaves out the last part in place of the one",
            ("name != gone", "name != list(parts)[-1] or gone is None"),
            "first the sum of the parts that are left",
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
        "in tensors, the largest score subtracted",
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
        "masked-shares",
        "with einsum, and a sum that may be 0",
        """
        def masked_shares(query, key, mask):
            scores = torch.einsum("...id,...jd->...ij", query, key) * query.size(-1) ** -0.5
            scores = torch.where(mask, scores, torch.full_like(scores, -1e30))
            powers = (scores - scores.amax(dim=-1, keepdim=True)).exp() * mask
            return powers / powers.sum(dim=-1, keepdim=True).clamp(min=1e-30)
        """,
    ),
    right(
        "masked-shares",
        "scaling the queries first, replacing nan afterwards",
        """
        def masked_shares(query, key, mask):
            scores = (query / query.shape[-1] ** 0.5) @ key.transpose(-1, -2)
            scores = torch.where(mask, scores, -torch.inf)
            return torch.nan_to_num(torch.nn.functional.softmax(scores, dim=-1), nan=0.0)
        """,
    ),
    right(
        "masked-shares",
        "in loops",
        """
        def masked_shares(query, key, mask):
            rows = []
            for i in range(query.shape[-2]):
                products = (query[..., i : i + 1, :] * key).sum(dim=-1)  # [..., L']
                rows.append(products / math.sqrt(query.shape[-1]))
            scores = torch.stack(rows, dim=-2)
            mask = mask.expand(scores.shape)
            some = mask.any(dim=-1, keepdim=True)
            hidden = torch.zeros(scores.shape, dtype=scores.dtype)
            hidden[~mask & some] = -math.inf
            return row_softmax(scores + hidden) * some
        """,
    ),
    right(
        "examine-masked-shares",
        "with a reference and random numbers",
        """
        def examine_masked_shares(function):
            draw = torch.Generator().manual_seed(4)
            for front, L, keys, d in [((), 3, 5, 4), ((2,), 4, 2, 7), ((2, 3), 2, 6, 3)]:
                query = 3 * torch.randn(*front, L, d, generator=draw)
                key = torch.randn(*front, keys, d, generator=draw)
                mask = torch.rand(L, keys, generator=draw) < 0.6
                mask[0] = False
                mask[1] = True
                before = query.clone(), key.clone(), mask.clone()
                scores = (before[0] @ before[1].mT / d**0.5).masked_fill(~before[2], -math.inf)
                expected = scores.softmax(dim=-1).nan_to_num(0.0)
                assert torch.allclose(function(query, key, mask), expected, atol=1e-5)
                for one, other in zip((query, key, mask), before):
                    assert torch.equal(one, other)
        """,
    ),
    right(
        "grouped-attention",
        "head by head",
        """
        def grouped_attention(query, key, value, n_heads, n_groups, mask):
            d = query.shape[-1] // n_heads
            results = []
            for h in range(n_heads):
                g = h // (n_heads // n_groups)
                q = query[..., h * d : (h + 1) * d]
                k, v = (x[..., g * d : (g + 1) * d] for x in (key, value))
                results.append(masked_shares(q, k, mask) @ v)
            return torch.cat(results, dim=-1)
        """,
    ),
    right(
        "grouped-attention",
        "with a dimension for the group",
        """
        def grouped_attention(query, key, value, n_heads, n_groups, mask):
            query = split_heads(query, n_heads).unflatten(-3, (n_groups, -1))
            key, value = (split_heads(x, n_groups).unsqueeze(-3) for x in (key, value))
            return merge_heads((masked_shares(query, key, mask) @ value).flatten(-4, -3))
        """,
    ),
    right(
        "predict-bits",
        "one that turns out wrong, in a tuple",
        """
        def predict_bits():
            return 6, 3, 1.5
        """,
    ),
    right(
        "shares-without",
        "with a loop and masked_shares",
        """
        def shares_without(parts, gone, norm, weights):
            x = None
            for name, part in parts.items():
                if name == gone:
                    continue
                x = part if x is None else x + part
            x = norm(x)
            length = x.shape[0]
            q, k = x @ weights.W_q + weights.b_q, x @ weights.W_k + weights.b_k
            return masked_shares(q, k, torch.ones(length, length, dtype=torch.bool))
        """,
    ),
]

# Ours except for names or a line: mistakes are changes of these. They are not another way.
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
]
