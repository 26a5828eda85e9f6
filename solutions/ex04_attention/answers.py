"""Exercise 4, attention: solutions that are wrong, and right ones of another kind."""

from course.answers import right, wrong

WRONG = [
    wrong(
        "single-query-attention",
        "does not scale",
        """
        def single_query_attention(e, context, weights):
            q = e @ weights.W_q + weights.b_q
            scores, values = [], []
            for e_t in context:
                k_t = e_t @ weights.W_k + weights.b_k
                scores.append(q @ k_t)
                values.append(e_t @ weights.W_v + weights.b_v)
            total = sum(math.exp(s) for s in scores)
            return sum(math.exp(s) / total * v for s, v in zip(scores, values))
        """,
        "the scores are not scaled: divide q·k by √d_attn",
    ),
    wrong(
        "single-query-attention",
        "divides by d_attn",
        """
        def single_query_attention(e, context, weights):
            q = e @ weights.W_q + weights.b_q
            scores, values = [], []
            for e_t in context:
                k_t = e_t @ weights.W_k + weights.b_k
                scores.append(q @ k_t / len(q))
                values.append(e_t @ weights.W_v + weights.b_v)
            total = sum(math.exp(s) for s in scores)
            return sum(math.exp(s) / total * v for s, v in zip(scores, values))
        """,
        "divide by the square root of d_attn, not by d_attn itself",
    ),
    wrong(
        "single-query-attention",
        "multiplies by the root",
        """
        def single_query_attention(e, context, weights):
            q = e @ weights.W_q + weights.b_q
            scores, values = [], []
            for e_t in context:
                k_t = e_t @ weights.W_k + weights.b_k
                scores.append(q @ k_t * math.sqrt(len(q)))
                values.append(e_t @ weights.W_v + weights.b_v)
            total = sum(math.exp(s) for s in scores)
            return sum(math.exp(s) / total * v for s, v in zip(scores, values))
        """,
        "multiplied by √d_attn; divide by it",
    ),
    wrong(
        "single-query-attention",
        "scales by the size of embeddings",
        """
        def single_query_attention(e, context, weights):
            q = e @ weights.W_q + weights.b_q
            scores, values = [], []
            for e_t in context:
                k_t = e_t @ weights.W_k + weights.b_k
                scores.append(q @ k_t / math.sqrt(len(e)))
                values.append(e_t @ weights.W_v + weights.b_v)
            total = sum(math.exp(s) for s in scores)
            return sum(math.exp(s) / total * v for s, v in zip(scores, values))
        """,
        "the number of W_q's columns: √4, not √3",
    ),
    wrong(
        "single-query-attention",
        "scales by the size of values",
        """
        def single_query_attention(e, context, weights):
            q = e @ weights.W_q + weights.b_q
            scores, values = [], []
            for e_t in context:
                k_t = e_t @ weights.W_k + weights.b_k
                scores.append(q @ k_t / math.sqrt(weights.W_v.shape[1]))
                values.append(e_t @ weights.W_v + weights.b_v)
            total = sum(math.exp(s) for s in scores)
            return sum(math.exp(s) / total * v for s, v in zip(scores, values))
        """,
        "the number of W_q's columns: √4, not √2",
    ),
    wrong(
        "single-query-attention",
        "forgets to divide by the sum",
        """
        def single_query_attention(e, context, weights):
            q = e @ weights.W_q + weights.b_q
            scores, values = [], []
            for e_t in context:
                k_t = e_t @ weights.W_k + weights.b_k
                scores.append(q @ k_t / math.sqrt(weights.W_q.shape[1]))
                values.append(e_t @ weights.W_v + weights.b_v)
            total = sum(math.exp(s) for s in scores)
            return sum(math.exp(s) * v for s, v in zip(scores, values))
        """,
        "divide each exp by the sum of all",
    ),
    wrong(
        "single-query-attention",
        "uses the scores as shares",
        """
        def single_query_attention(e, context, weights):
            q = e @ weights.W_q + weights.b_q
            scores, values = [], []
            for e_t in context:
                k_t = e_t @ weights.W_k + weights.b_k
                scores.append(q @ k_t / math.sqrt(weights.W_q.shape[1]))
                values.append(e_t @ weights.W_v + weights.b_v)
            total = sum(math.exp(s) for s in scores)
            return sum(s * v for s, v in zip(scores, values))
        """,
        "the softmax between them is missing",
    ),
    wrong(
        "single-query-attention",
        "divides scores by their sum",
        """
        def single_query_attention(e, context, weights):
            q = e @ weights.W_q + weights.b_q
            scores, values = [], []
            for e_t in context:
                k_t = e_t @ weights.W_k + weights.b_k
                scores.append(q @ k_t / math.sqrt(weights.W_q.shape[1]))
                values.append(e_t @ weights.W_v + weights.b_v)
            total = sum(math.exp(s) for s in scores)
            return sum(s / sum(scores) * v for s, v in zip(scores, values))
        """,
        "shares are made by exp",
    ),
    wrong(
        "single-query-attention",
        "takes the mean of the values",
        """
        def single_query_attention(e, context, weights):
            q = e @ weights.W_q + weights.b_q
            scores, values = [], []
            for e_t in context:
                k_t = e_t @ weights.W_k + weights.b_k
                scores.append(q @ k_t / math.sqrt(weights.W_q.shape[1]))
                values.append(e_t @ weights.W_v + weights.b_v)
            total = sum(math.exp(s) for s in scores)
            return sum(values) / len(values)
        """,
        "weigh each with its share",
    ),
    wrong(
        "single-query-attention",
        "takes the best value alone",
        """
        def single_query_attention(e, context, weights):
            q = e @ weights.W_q + weights.b_q
            scores, values = [], []
            for e_t in context:
                k_t = e_t @ weights.W_k + weights.b_k
                scores.append(q @ k_t / math.sqrt(weights.W_q.shape[1]))
                values.append(e_t @ weights.W_v + weights.b_v)
            total = sum(math.exp(s) for s in scores)
            return values[scores.index(max(scores))]
        """,
        "not the best value alone, but a blend",
    ),
    wrong(
        "single-query-attention",
        "blends embeddings",
        """
        def single_query_attention(e, context, weights):
            q = e @ weights.W_q + weights.b_q
            scores, values = [], []
            for e_t in context:
                k_t = e_t @ weights.W_k + weights.b_k
                scores.append(q @ k_t / math.sqrt(weights.W_q.shape[1]))
                values.append(e_t)
            total = sum(math.exp(s) for s in scores)
            return sum(math.exp(s) / total * v for s, v in zip(scores, values))
        """,
        "sum the values v_t = e_t W_v + b_v, not the embeddings",
    ),
    wrong(
        "single-query-attention",
        "returns the weighted values one by one",
        """
        def single_query_attention(e, context, weights):
            q = e @ weights.W_q + weights.b_q
            scores, values = [], []
            for e_t in context:
                k_t = e_t @ weights.W_k + weights.b_k
                scores.append(q @ k_t / math.sqrt(weights.W_q.shape[1]))
                values.append(e_t @ weights.W_v + weights.b_v)
            total = sum(math.exp(s) for s in scores)
            return torch.stack([math.exp(s) / total * v for s, v in zip(scores, values)])
        """,
        "one vector comes out, not one a token",
    ),
    wrong(
        "single-query-attention",
        "forgets the bias of the query",
        """
        def single_query_attention(e, context, weights):
            q = e @ weights.W_q
            scores, values = [], []
            for e_t in context:
                k_t = e_t @ weights.W_k + weights.b_k
                scores.append(q @ k_t / math.sqrt(weights.W_q.shape[1]))
                values.append(e_t @ weights.W_v + weights.b_v)
            total = sum(math.exp(s) for s in scores)
            return sum(math.exp(s) / total * v for s, v in zip(scores, values))
        """,
        "the query's bias b_q is missing",
    ),
    wrong(
        "single-query-attention",
        "forgets the bias of the values",
        """
        def single_query_attention(e, context, weights):
            q = e @ weights.W_q + weights.b_q
            scores, values = [], []
            for e_t in context:
                k_t = e_t @ weights.W_k + weights.b_k
                scores.append(q @ k_t / math.sqrt(weights.W_q.shape[1]))
                values.append(e_t @ weights.W_v)
            total = sum(math.exp(s) for s in scores)
            return sum(math.exp(s) / total * v for s, v in zip(scores, values))
        """,
        "the values' bias b_v is missing",
    ),
    wrong(
        "single-query-attention",
        "swaps queries and keys",
        """
        def single_query_attention(e, context, weights):
            q = e @ weights.W_k + weights.b_k
            scores, values = [], []
            for e_t in context:
                k_t = e_t @ weights.W_q + weights.b_q
                scores.append(q @ k_t / math.sqrt(weights.W_q.shape[1]))
                values.append(e_t @ weights.W_v + weights.b_v)
            total = sum(math.exp(s) for s in scores)
            return sum(math.exp(s) / total * v for s, v in zip(scores, values))
        """,
        "W_q and W_k are swapped",
    ),
    wrong(
        "single-query-attention",
        "makes the query with the key's matrix",
        """
        def single_query_attention(e, context, weights):
            q = e @ weights.W_k + weights.b_k
            scores, values = [], []
            for e_t in context:
                k_t = e_t @ weights.W_k + weights.b_k
                scores.append(q @ k_t / math.sqrt(weights.W_q.shape[1]))
                values.append(e_t @ weights.W_v + weights.b_v)
            total = sum(math.exp(s) for s in scores)
            return sum(math.exp(s) / total * v for s, v in zip(scores, values))
        """,
        "the query has its own W_q and b_q",
    ),
    wrong(
        "single-query-attention",
        "multiplies from the wrong side",
        """
        def single_query_attention(e, context, weights):
            q = weights.W_q @ e + weights.b_q
            scores, values = [], []
            for e_t in context:
                k_t = e_t @ weights.W_k + weights.b_k
                scores.append(q @ k_t / math.sqrt(weights.W_q.shape[1]))
                values.append(e_t @ weights.W_v + weights.b_v)
            total = sum(math.exp(s) for s in scores)
            return sum(math.exp(s) / total * v for s, v in zip(scores, values))
        """,
        "raised RuntimeError",
    ),
    wrong(
        "single-query-attention",
        "returns a list",
        """
        def single_query_attention(e, context, weights):
            q = e @ weights.W_q + weights.b_q
            scores, values = [], []
            for e_t in context:
                k_t = e_t @ weights.W_k + weights.b_k
                scores.append(q @ k_t / math.sqrt(weights.W_q.shape[1]))
                values.append(e_t @ weights.W_v + weights.b_v)
            total = sum(math.exp(s) for s in scores)
            return [
                float(x) for x in sum(math.exp(s) / total * v for s, v in zip(scores, values))
            ]
        """,
        "a list",
    ),
    wrong(
        "single-query-attention",
        "knows tokens of three components only",
        """
        def single_query_attention(e, context, weights):
            q = e @ weights.W_q + weights.b_q
            scores, values = [], []
            for e_t in context:
                k_t = e_t @ weights.W_k + weights.b_k
                scores.append(q @ k_t / math.sqrt(weights.W_q.numel() / 3))
                values.append(e_t @ weights.W_v + weights.b_v)
            total = sum(math.exp(s) for s in scores)
            return sum(math.exp(s) / total * v for s, v in zip(scores, values))
        """,
        "80 tokens of context",
    ),
    wrong(
        "single-query-attention",
        "keeps a row",
        """
        def single_query_attention(e, context, weights):
            q = e @ weights.W_q + weights.b_q
            scores, values = [], []
            for e_t in context:
                k_t = e_t @ weights.W_k + weights.b_k
                scores.append(q @ k_t / math.sqrt(weights.W_q.shape[1]))
                values.append(e_t @ weights.W_v + weights.b_v)
            total = sum(math.exp(s) for s in scores)
            return sum(math.exp(s) / total * v for s, v in zip(scores, values))[None]
        """,
        "so one vector comes out, [d_mid]",
    ),
    wrong(
        "single-query-attention",
        "rounds the shares",
        """
        def single_query_attention(e, context, weights):
            q = e @ weights.W_q + weights.b_q
            scores, values = [], []
            for e_t in context:
                k_t = e_t @ weights.W_k + weights.b_k
                scores.append(q @ k_t / math.sqrt(weights.W_q.shape[1]))
                values.append(e_t @ weights.W_v + weights.b_v)
            total = sum(math.exp(s) for s in scores)
            return sum(round(math.exp(s) / total, 4) * v for s, v in zip(scores, values))
        """,
        "",
    ),
    wrong(
        "row-softmax",
        "goes along columns",
        """
        def row_softmax(scores):
            return scores.exp() / scores.exp().sum(dim=0, keepdim=True)
        """,
        "the row is the last dimension, dim=-1",
    ),
    wrong(
        "row-softmax",
        "goes along dimension 1",
        """
        def row_softmax(scores):
            return (scores - scores.amax(dim=1, keepdim=True)).exp() / (
                scores - scores.amax(dim=1, keepdim=True)
            ).exp().sum(dim=1, keepdim=True)
        """,
        "raised IndexError",
    ),
    wrong(
        "row-softmax",
        "goes along dimension 1 unless there is one alone",
        """
        def row_softmax(scores):
            dim = min(1, scores.dim() - 1)
            powers = (scores - scores.amax(dim=dim, keepdim=True)).exp()
            return powers / powers.sum(dim=dim, keepdim=True)
        """,
        "what sums to 1 goes along dim=-3, the row is dim=-1",
    ),
    wrong(
        "row-softmax",
        "divides by one sum for all",
        """
        def row_softmax(scores):
            return scores.exp() / scores.exp().sum()
        """,
        "the sum runs over the whole tensor",
    ),
    wrong(
        "row-softmax",
        "forgets exp",
        """
        def row_softmax(scores):
            return scores / scores.sum(dim=-1, keepdim=True)
        """,
        "take exp first, then divide",
    ),
    wrong(
        "row-softmax",
        "forgets to divide",
        """
        def row_softmax(scores):
            return scores.exp()
        """,
        "divide each row by its sum",
    ),
    wrong(
        "row-softmax",
        "divides by the largest",
        """
        def row_softmax(scores):
            return (scores - scores.amax(dim=-1, keepdim=True)).exp()
        """,
        "divide each row by its sum",
    ),
    wrong(
        "row-softmax",
        "forgets keepdim",
        """
        def row_softmax(scores):
            return scores.exp() / scores.exp().sum(dim=-1)
        """,
        "keepdim=True is missing",
    ),
    wrong(
        "row-softmax",
        "forgets keepdim of the sums",
        """
        def row_softmax(scores):
            powers = (scores - scores.amax(dim=-1, keepdim=True)).exp()
            return powers / powers.sum(dim=-1)
        """,
        "keepdim=True is missing",
    ),
    wrong(
        "row-softmax",
        "forgets keepdim twice",
        """
        def row_softmax(scores):
            powers = (scores - scores.amax(dim=-1)).exp()
            return powers / powers.sum(dim=-1)
        """,
        "keepdim=True is missing",
    ),
    wrong(
        "row-softmax",
        "forgets keepdim of the largest",
        """
        def row_softmax(scores):
            powers = (scores - scores.amax(dim=-1)).exp()
            return powers / powers.sum(dim=-1, keepdim=True)
        """,
        "the same goes for the largest score",
    ),
    wrong(
        "row-softmax",
        "takes powers of 2",
        """
        def row_softmax(scores):
            return 2**scores / (2**scores).sum(dim=-1, keepdim=True)
        """,
        "not powers of 2",
    ),
    wrong(
        "row-softmax",
        "returns logarithms",
        """
        def row_softmax(scores):
            return scores - scores.exp().sum(dim=-1, keepdim=True).log()
        """,
        "these are logarithms of the shares",
    ),
    wrong(
        "row-softmax",
        "turns the sign",
        """
        def row_softmax(scores):
            return (-scores).exp() / (-scores).exp().sum(dim=-1, keepdim=True)
        """,
        "a higher score gets a larger share",
    ),
    wrong(
        "row-softmax",
        "overflows",
        """
        def row_softmax(scores):
            return scores.exp() / scores.exp().sum(dim=-1, keepdim=True)
        """,
        "exp(1000) is inf",
    ),
    wrong(
        "row-softmax",
        "takes the largest of all away",
        """
        def row_softmax(scores):
            powers = (scores - scores.max()).exp()
            return powers / powers.sum(dim=-1, keepdim=True)
        """,
        "subtract each row's own largest score",
    ),
    wrong(
        "row-softmax",
        "takes the mean away",
        """
        def row_softmax(scores):
            powers = (scores - scores.mean(dim=-1, keepdim=True)).exp()
            return powers / powers.sum(dim=-1, keepdim=True)
        """,
        "a share of exactly 0",
    ),
    wrong(
        "row-softmax",
        "cuts large scores off",
        """
        def row_softmax(scores):
            powers = scores.clamp(max=80).exp()
            return powers / powers.sum(dim=-1, keepdim=True)
        """,
        "subtract the row's largest score",
    ),
    wrong(
        "row-softmax",
        "lets what is hidden keep a little",
        """
        def row_softmax(scores):
            powers = (scores - scores.amax(dim=-1, keepdim=True)).clamp(min=-50).exp()
            return powers / powers.sum(dim=-1, keepdim=True)
        """,
        "not exactly 0",
    ),
    wrong(
        "row-softmax",
        "changes its input",
        """
        def row_softmax(scores):
            scores -= scores.amax(dim=-1, keepdim=True)
            powers = scores.exp()
            return powers / powers.sum(dim=-1, keepdim=True)
        """,
        "changed its input",
    ),
    wrong(
        "row-softmax",
        "changes its input by a method",
        """
        def row_softmax(scores):
            powers = scores.exp_()
            return powers / powers.sum(dim=-1, keepdim=True)
        """,
        "changed its input",
    ),
    wrong(
        "row-softmax",
        "cuts the gradient",
        """
        def row_softmax(scores):
            powers = (scores.detach() - scores.detach().amax(dim=-1, keepdim=True)).exp()
            return powers / powers.sum(dim=-1, keepdim=True)
        """,
        "has lost the gradient",
    ),
    wrong(
        "row-softmax",
        "works in 32 bits only",
        """
        def row_softmax(scores):
            scores = scores.float()
            powers = (scores - scores.amax(dim=-1, keepdim=True)).exp()
            return powers / powers.sum(dim=-1, keepdim=True)
        """,
        "dtype must be torch.float64",
    ),
    wrong(
        "row-softmax",
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
    wrong(
        "row-softmax",
        "is PyTorch's",
        """
        def row_softmax(scores):
            return torch.softmax(scores, dim=-1)
        """,
        "a ready-made function of PyTorch",
    ),
    wrong(
        "row-softmax",
        "is PyTorch's, by its logarithm",
        """
        def row_softmax(scores):
            return torch.nn.functional.log_softmax(scores, dim=-1).exp()
        """,
        "a ready-made function of PyTorch",
    ),
    wrong(
        "row-softmax",
        "is the library's",
        """
        def row_softmax(scores):
            from bertlab.model.attention import row_softmax as ready

            return ready(scores)
        """,
        "bertlab's own",
    ),
    wrong(
        "row-softmax",
        "adds a small number below the line",
        """
        def row_softmax(scores):
            powers = (scores - scores.amax(dim=-1, keepdim=True)).exp()
            return powers / (powers.sum(dim=-1, keepdim=True) + 1e-4)
        """,
        "every row of shares must sum to 1",
    ),
    wrong(
        "row-softmax",
        "cuts scores off at 5,000",
        """
        def row_softmax(scores):
            scores = scores.clamp(-5000, 5000)
            powers = (scores - scores.amax(dim=-1, keepdim=True)).exp()
            return powers / powers.sum(dim=-1, keepdim=True)
        """,
        "",
    ),
    wrong(
        "row-softmax",
        "returns nothing",
        """
        def row_softmax(scores):
            powers = (scores - scores.amax(dim=-1, keepdim=True)).exp()
            powers / powers.sum(dim=-1, keepdim=True)
        """,
        "Is there a `return`",
    ),
    wrong(
        "causal-mask",
        "keeps the upper triangle",
        """
        def causal_mask(length):
            return torch.ones(length, length, dtype=torch.bool).triu()
        """,
        "rows and columns are swapped",
    ),
    wrong(
        "causal-mask",
        "leaves the diagonal out",
        """
        def causal_mask(length):
            return torch.ones(length, length, dtype=torch.bool).tril(diagonal=-1)
        """,
        "a token may look at itself",
    ),
    wrong(
        "causal-mask",
        "lets each token see the next",
        """
        def causal_mask(length):
            return torch.ones(length, length, dtype=torch.bool).tril(diagonal=1)
        """,
        "token 0 may not look at token 1",
    ),
    wrong(
        "causal-mask",
        "says True where it is forbidden",
        """
        def causal_mask(length):
            return torch.ones(length, length, dtype=torch.bool).triu(diagonal=1)
        """,
        "True means `may be attended`",
    ),
    wrong(
        "causal-mask",
        "returns numbers",
        """
        def causal_mask(length):
            return torch.ones(length, length).tril()
        """,
        "dtype must be torch.bool; it returned torch.float32",
    ),
    wrong(
        "causal-mask",
        "returns something to add",
        """
        def causal_mask(length):
            return torch.zeros(length, length).masked_fill(
                torch.ones(length, length).triu(1).bool(), -math.inf
            )
        """,
        "dtype must be torch.bool",
    ),
    wrong(
        "causal-mask",
        "makes a dimension for heads",
        """
        def causal_mask(length):
            return torch.ones(1, length, length, dtype=torch.bool).tril()
        """,
        "shape [3, 3]; it returned one of shape [1, 3, 3]",
    ),
    wrong(
        "causal-mask",
        "looks back two tokens only",
        """
        def causal_mask(length):
            place = torch.arange(length)
            back = place[:, None] - place
            return (back >= 0) & (back <= 2)
        """,
        "numbers differ",
    ),
    wrong(
        "causal-mask",
        "looks back a hundred tokens only",
        """
        def causal_mask(length):
            place = torch.arange(length)
            back = place[:, None] - place
            return (back >= 0) & (back <= 100)
        """,
        "",
    ),
    wrong(
        "padding-mask",
        "marks the padding",
        """
        def padding_mask(ids, pad_id=0):
            return ids == pad_id
        """,
        "inverted: True marks tokens",
    ),
    wrong(
        "padding-mask",
        "returns numbers",
        """
        def padding_mask(ids, pad_id=0):
            return (ids != pad_id).long()
        """,
        "dtype must be torch.bool; it returned torch.int64",
    ),
    wrong(
        "padding-mask",
        "takes 0 for the padding",
        """
        def padding_mask(ids, pad_id=0):
            return ids != 0
        """,
        "here 1 is the id of the padding",
    ),
    wrong(
        "padding-mask",
        "takes truth for tokens",
        """
        def padding_mask(ids, pad_id=0):
            return ids.bool()
        """,
        "here 1 is the id of the padding",
    ),
    wrong(
        "padding-mask",
        "takes all larger ids for tokens",
        """
        def padding_mask(ids, pad_id=0):
            return ids > pad_id
        """,
        "here 1 is the id of the padding",
    ),
    wrong(
        "padding-mask",
        "adds dimensions",
        """
        def padding_mask(ids, pad_id=0):
            return (ids != pad_id)[:, None, None, :]
        """,
        "[B, L] is asked for, without dimensions",
    ),
    wrong(
        "padding-mask",
        "makes a square",
        """
        def padding_mask(ids, pad_id=0):
            keep = ids != pad_id
            return keep[:, None, :] & keep[:, :, None]
        """,
        "one True or False a token",
    ),
    wrong(
        "padding-mask",
        "returns lists",
        """
        def padding_mask(ids, pad_id=0):
            return [[id != pad_id for id in row] for row in ids.tolist()]
        """,
        "a list",
    ),
    wrong(
        "padding-mask",
        "takes what is neither smaller nor larger for a token",
        """
        def padding_mask(ids, pad_id=0):
            return (ids < pad_id) | (ids == 2)
        """,
        "True wherever the id is not that of the padding",
    ),
    wrong(
        "attention-probabilities",
        "does not scale",
        """
        def attention_probabilities(query, key, mask=None):
            scores = query @ key.mT
            if mask is not None:
                scores = scores.masked_fill(~mask, -math.inf)
            return row_softmax(scores)
        """,
        "the scores are not scaled",
    ),
    wrong(
        "attention-probabilities",
        "divides by d_head",
        """
        def attention_probabilities(query, key, mask=None):
            scores = query @ key.mT / query.shape[-1]
            if mask is not None:
                scores = scores.masked_fill(~mask, -math.inf)
            return row_softmax(scores)
        """,
        "divide by the square root of d_head",
    ),
    wrong(
        "attention-probabilities",
        "multiplies by the root",
        """
        def attention_probabilities(query, key, mask=None):
            scores = query @ key.mT * math.sqrt(query.shape[-1])
            if mask is not None:
                scores = scores.masked_fill(~mask, -math.inf)
            return row_softmax(scores)
        """,
        "multiplied by √d_head; divide by it",
    ),
    wrong(
        "attention-probabilities",
        "scales by the number of keys",
        """
        def attention_probabilities(query, key, mask=None):
            scores = query @ key.mT / math.sqrt(key.shape[-2])
            if mask is not None:
                scores = scores.masked_fill(~mask, -math.inf)
            return row_softmax(scores)
        """,
        "3 is the number of keys",
    ),
    wrong(
        "attention-probabilities",
        "scales by the number of queries",
        """
        def attention_probabilities(query, key, mask=None):
            scores = query @ key.mT / math.sqrt(len(query))
            if mask is not None:
                scores = scores.masked_fill(~mask, -math.inf)
            return row_softmax(scores)
        """,
        "2 is the number of queries",
    ),
    wrong(
        "attention-probabilities",
        "takes the second dimension for d_head",
        """
        def attention_probabilities(query, key, mask=None):
            scores = query @ key.mT / math.sqrt(query.shape[1])
            if mask is not None:
                scores = scores.masked_fill(~mask, -math.inf)
            return row_softmax(scores)
        """,
        "the scores look as if divided by 8; d_head is query's last size, 16",
    ),
    wrong(
        "attention-probabilities",
        "scales after the softmax",
        """
        def attention_probabilities(query, key, mask=None):
            scores = query @ key.mT
            if mask is not None:
                scores = scores.masked_fill(~mask, -math.inf)
            return row_softmax(scores) / math.sqrt(query.shape[-1])
        """,
        "scale the scores before the softmax",
    ),
    wrong(
        "attention-probabilities",
        "goes along columns",
        """
        def attention_probabilities(query, key, mask=None):
            scores = query @ key.mT / math.sqrt(query.shape[-1])
            if mask is not None:
                scores = scores.masked_fill(~mask, -math.inf)
            return scores.softmax(dim=-2)
        """,
        "the softmax goes along rows, dim=-1",
    ),
    wrong(
        "attention-probabilities",
        "returns scores",
        """
        def attention_probabilities(query, key, mask=None):
            scores = query @ key.mT / math.sqrt(query.shape[-1])
            if mask is not None:
                scores = scores.masked_fill(~mask, -math.inf)
            return scores
        """,
        "these are the scores; their softmax is missing",
    ),
    wrong(
        "attention-probabilities",
        "turns queries and keys around",
        """
        def attention_probabilities(query, key, mask=None):
            scores = key @ query.mT / math.sqrt(query.shape[-1])
            if mask is not None:
                scores = scores.masked_fill(~mask, -math.inf)
            return row_softmax(scores)
        """,
        "query @ key.mT, not key @ query.mT",
    ),
    wrong(
        "attention-probabilities",
        "turns two dimensions only",
        """
        def attention_probabilities(query, key, mask=None):
            scores = query @ key.transpose(0, 1) / math.sqrt(query.shape[-1])
            if mask is not None:
                scores = scores.masked_fill(~mask, -math.inf)
            return row_softmax(scores)
        """,
        "turn the last two of key",
    ),
    wrong(
        "attention-probabilities",
        "reverses all dimensions",
        """
        def attention_probabilities(query, key, mask=None):
            scores = (
                query @ key.permute(*range(key.dim() - 1, -1, -1)) / math.sqrt(query.shape[-1])
            )
            if mask is not None:
                scores = scores.masked_fill(~mask, -math.inf)
            return row_softmax(scores)
        """,
        "turn the last two of key",
    ),
    wrong(
        "attention-probabilities",
        "goes along dimension 1",
        """
        def attention_probabilities(query, key, mask=None):
            scores = query @ key.mT / math.sqrt(query.shape[-1])
            if mask is not None:
                scores = scores.masked_fill(~mask, -math.inf)
            return scores.softmax(dim=1)
        """,
        "what sums to 1 goes along dim=-2, the row is dim=-1",
    ),
    wrong(
        "attention-probabilities",
        "masks after the softmax",
        """
        def attention_probabilities(query, key, mask=None):
            shares = row_softmax(query @ key.mT / math.sqrt(query.shape[-1]))
            return shares if mask is None else shares * mask
        """,
        "masked after the softmax",
    ),
    wrong(
        "attention-probabilities",
        "masks with -inf after the softmax",
        """
        def attention_probabilities(query, key, mask=None):
            shares = row_softmax(query @ key.mT / math.sqrt(query.shape[-1]))
            return shares if mask is None else shares.masked_fill(~mask, -math.inf)
        """,
        "mask the scores, before the softmax",
    ),
    wrong(
        "attention-probabilities",
        "inverts the mask",
        """
        def attention_probabilities(query, key, mask=None):
            scores = query @ key.mT / math.sqrt(query.shape[-1])
            if mask is not None:
                scores = scores.masked_fill(mask, -math.inf)
            return row_softmax(scores)
        """,
        "-inf goes where the mask is False",
    ),
    wrong(
        "attention-probabilities",
        "sets hidden scores to 0",
        """
        def attention_probabilities(query, key, mask=None):
            scores = query @ key.mT / math.sqrt(query.shape[-1])
            if mask is not None:
                scores = scores.masked_fill(~mask, 0.0)
            return row_softmax(scores)
        """,
        "a score of 0 is an ordinary score",
    ),
    wrong(
        "attention-probabilities",
        "multiplies scores by the mask",
        """
        def attention_probabilities(query, key, mask=None):
            scores = query @ key.mT / math.sqrt(query.shape[-1])
            if mask is not None:
                scores = scores * mask
            return row_softmax(scores)
        """,
        "a score of 0 is an ordinary score",
    ),
    wrong(
        "attention-probabilities",
        "adds the mask",
        """
        def attention_probabilities(query, key, mask=None):
            scores = query @ key.mT / math.sqrt(query.shape[-1])
            if mask is not None:
                scores = scores + mask
            return row_softmax(scores)
        """,
        "the mask is added to the scores",
    ),
    wrong(
        "attention-probabilities",
        "sets hidden scores to +inf",
        """
        def attention_probabilities(query, key, mask=None):
            scores = query @ key.mT / math.sqrt(query.shape[-1])
            if mask is not None:
                scores = scores.masked_fill(~mask, math.inf)
            return row_softmax(scores)
        """,
        "what is hidden becomes -inf",
    ),
    wrong(
        "attention-probabilities",
        "ignores the mask",
        """
        def attention_probabilities(query, key, mask=None):
            return row_softmax(query @ key.mT / math.sqrt(query.shape[-1]))
        """,
        "the mask is not used",
    ),
    wrong(
        "attention-probabilities",
        "turns the mask around",
        """
        def attention_probabilities(query, key, mask=None):
            scores = query @ key.mT / math.sqrt(query.shape[-1])
            if mask is not None:
                scores = scores.masked_fill(
                    ~mask.mT if mask.shape[0] == mask.shape[1] else ~mask, -math.inf
                )
            return row_softmax(scores)
        """,
        "rows and columns of the mask are swapped",
    ),
    wrong(
        "attention-probabilities",
        "adds -10000",
        """
        def attention_probabilities(query, key, mask=None):
            scores = query @ key.mT / math.sqrt(query.shape[-1])
            if mask is not None:
                scores = scores + (~mask) * -10000.0
            return row_softmax(scores)
        """,
        "-inf, not some large number",
    ),
    wrong(
        "attention-probabilities",
        "fills with -100",
        """
        def attention_probabilities(query, key, mask=None):
            scores = query @ key.mT / math.sqrt(query.shape[-1])
            if mask is not None:
                scores = scores.masked_fill(~mask, -100.0)
            return row_softmax(scores)
        """,
        "-inf, not some large number",
    ),
    wrong(
        "attention-probabilities",
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
    wrong(
        "attention-probabilities",
        "asks whether the mask is true",
        """
        def attention_probabilities(query, key, mask=None):
            scores = query @ key.mT / math.sqrt(query.shape[-1])
            if mask:
                scores = scores.masked_fill(~mask, -math.inf)
            return row_softmax(scores)
        """,
        "raised RuntimeError: Boolean value of Tensor",
    ),
    wrong(
        "attention-probabilities",
        "forgets that there may be no mask",
        """
        def attention_probabilities(query, key, mask=None):
            scores = query @ key.mT / math.sqrt(query.shape[-1])
            return row_softmax(scores.masked_fill(~mask, -math.inf))
        """,
        "raised TypeError: bad operand type",
    ),
    wrong(
        "attention-probabilities",
        "changes its input",
        """
        def attention_probabilities(query, key, mask=None):
            query /= math.sqrt(query.shape[-1])
            scores = query @ key.mT
            if mask is not None:
                scores = scores.masked_fill(~mask, -math.inf)
            return row_softmax(scores)
        """,
        "changed its input",
    ),
    wrong(
        "attention-probabilities",
        "changes the mask",
        """
        def attention_probabilities(query, key, mask=None):
            scores = query @ key.mT / math.sqrt(query.shape[-1])
            if mask is not None:
                scores = scores.masked_fill(mask.logical_not_(), -math.inf)
            return row_softmax(scores)
        """,
        "changed its input",
    ),
    wrong(
        "attention-probabilities",
        "cuts the gradient of the keys",
        """
        def attention_probabilities(query, key, mask=None):
            scores = query @ key.detach().mT / math.sqrt(query.shape[-1])
            if mask is not None:
                scores = scores.masked_fill(~mask, -math.inf)
            return row_softmax(scores)
        """,
        "no gradient reaches argument 2",
    ),
    wrong(
        "attention-probabilities",
        "makes new tensors from numbers",
        """
        def attention_probabilities(query, key, mask=None):
            scores = torch.tensor((query @ key.mT).tolist()) / math.sqrt(query.shape[-1])
            if mask is not None:
                scores = scores.masked_fill(~mask, -math.inf)
            return row_softmax(scores)
        """,
        "dtype must be torch.float64",
    ),
    wrong(
        "attention-probabilities",
        "asks PyTorch's attention",
        """
        def attention_probabilities(query, key, mask=None):
            values = torch.eye(key.shape[-2]).expand(*key.shape[:-1], key.shape[-2])
            return torch.nn.functional.scaled_dot_product_attention(query, key, values, mask)
        """,
        "a ready-made function of PyTorch",
    ),
    wrong(
        "attention-probabilities",
        "asks the library",
        """
        def attention_probabilities(query, key, mask=None):
            from bertlab.model.attention import attention

            return attention(query, key, key, mask)[1]
        """,
        "bertlab's own",
    ),
    wrong(
        "attention-probabilities",
        "compares by distance, not by dot product",
        """
        def attention_probabilities(query, key, mask=None):
            scores = -torch.cdist(query, key) / math.sqrt(query.shape[-1])
            if mask is not None:
                scores = scores.masked_fill(~mask, -math.inf)
            return row_softmax(scores)
        """,
        "the dot products are 6, 4, 2",
    ),
    wrong(
        "attention-probabilities",
        "hides only whole columns",
        """
        def attention_probabilities(query, key, mask=None):
            scores = query @ key.mT / math.sqrt(query.shape[-1])
            if mask is not None:
                scores = scores.masked_fill(~mask.reshape(-1, mask.shape[-1])[0], -math.inf)
            return row_softmax(scores)
        """,
        "what the mask hides gets exactly 0",
    ),
    wrong(
        "attention-probabilities",
        "hides nothing if only one key is left",
        """
        def attention_probabilities(query, key, mask=None):
            scores = query @ key.mT / math.sqrt(query.shape[-1])
            if mask is not None:
                mask = mask | (mask.sum(dim=-1, keepdim=True) == 1)
                scores = scores.masked_fill(~mask, -math.inf)
            return row_softmax(scores)
        """,
        "the mask's row is the query",
    ),
    wrong(
        "attention-probabilities",
        "leaves out hidden keys of a long text",
        """
        def attention_probabilities(query, key, mask=None):
            scores = query @ key.mT / math.sqrt(query.shape[-1])
            if mask is not None:
                scores[..., :66] = scores[..., :66].masked_fill(~mask[..., :66], -math.inf)
            return row_softmax(scores)
        """,
        "numbers differ",
    ),
    wrong(
        "attention-probabilities",
        "takes the first text's mask for all",
        """
        def attention_probabilities(query, key, mask=None):
            scores = query @ key.mT / math.sqrt(query.shape[-1])
            if mask is not None:
                mask = mask[0] if mask.dim() == 3 else mask
                scores = scores.masked_fill(~mask, -math.inf)
            return row_softmax(scores)
        """,
        "",
    ),
    wrong(
        "attention",
        "returns the vectors alone",
        """
        def attention(query, key, value, mask=None):
            probabilities = attention_probabilities(query, key, mask)
            return probabilities @ value
        """,
        "it must return two tensors",
    ),
    wrong(
        "attention",
        "returns a list",
        """
        def attention(query, key, value, mask=None):
            probabilities = attention_probabilities(query, key, mask)
            return [probabilities @ value, probabilities]
        """,
        "it must return two tensors",
    ),
    wrong(
        "attention",
        "returns them in the wrong order",
        """
        def attention(query, key, value, mask=None):
            probabilities = attention_probabilities(query, key, mask)
            return probabilities, probabilities @ value
        """,
        "swapped: first the updated vectors",
    ),
    wrong(
        "attention",
        "turns the probabilities around",
        """
        def attention(query, key, value, mask=None):
            probabilities = attention_probabilities(query, key, mask)
            return probabilities.mT @ value if probabilities.shape[-1] == probabilities.shape[
                -2
            ] else probabilities @ value, probabilities
        """,
        "the probabilities are turned around",
    ),
    wrong(
        "attention",
        "multiplies from the other side",
        """
        def attention(query, key, value, mask=None):
            probabilities = attention_probabilities(query, key, mask)
            return value.mT @ probabilities.mT, probabilities
        """,
        "each query takes home the values",
    ),
    wrong(
        "attention",
        "blends the scores",
        """
        def attention(query, key, value, mask=None):
            probabilities = attention_probabilities(query, key, mask)
            return query @ key.mT / math.sqrt(query.shape[-1]) @ value, probabilities
        """,
        "multiply the probabilities with the values, not the scores",
    ),
    wrong(
        "attention",
        "does not scale",
        """
        def attention(query, key, value, mask=None):
            probabilities = row_softmax(query @ key.mT)
            return probabilities @ value, probabilities
        """,
        "the scores are not scaled",
    ),
    wrong(
        "attention",
        "blends the keys",
        """
        def attention(query, key, value, mask=None):
            probabilities = attention_probabilities(query, key, mask)
            return probabilities @ key, probabilities
        """,
        "blend the values, not the keys",
    ),
    wrong(
        "attention",
        "forgets the mask",
        """
        def attention(query, key, value, mask=None):
            probabilities = attention_probabilities(query, key)
            return probabilities @ value, probabilities
        """,
        "hand the mask on",
    ),
    wrong(
        "attention",
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
    wrong(
        "attention",
        "returns the probabilities without the mask",
        """
        def attention(query, key, value, mask=None):
            probabilities = attention_probabilities(query, key, mask)
            return probabilities @ value, attention_probabilities(query, key)
        """,
        "expected [[0, 0.7311, 0.2689]",
    ),
    wrong(
        "attention",
        "multiplies place by place",
        """
        def attention(query, key, value, mask=None):
            probabilities = attention_probabilities(query, key, mask)
            return probabilities * value, probabilities
        """,
        "raised RuntimeError",
    ),
    wrong(
        "attention",
        "cuts the gradient of the values",
        """
        def attention(query, key, value, mask=None):
            probabilities = attention_probabilities(query, key, mask)
            return probabilities @ value.data, probabilities
        """,
        "no gradient reaches argument 3",
    ),
    wrong(
        "attention",
        "is PyTorch's",
        """
        def attention(query, key, value, mask=None):
            probabilities = attention_probabilities(query, key, mask)
            return torch.nn.functional.scaled_dot_product_attention(
                query, key, value, mask
            ), probabilities
        """,
        "a ready-made function of PyTorch",
    ),
    wrong(
        "attention",
        "needs a mask",
        """
        def attention(query, key, value, mask=None):
            probabilities = attention_probabilities(query, key, mask.bool())
            return probabilities @ value, probabilities
        """,
        "raised AttributeError",
    ),
    wrong(
        "attention",
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
    wrong(
        "self-attention",
        "does not make values",
        """
        def self_attention(x, weights, mask=None):
            query = x @ weights.W_q + weights.b_q
            key = x @ weights.W_k + weights.b_k
            value = x
            return attention(query, key, value, mask)
        """,
        "the values are made, too",
    ),
    wrong(
        "self-attention",
        "makes values with the key's matrix",
        """
        def self_attention(x, weights, mask=None):
            query = x @ weights.W_q + weights.b_q
            key = x @ weights.W_k + weights.b_k
            value = x @ weights.W_k + weights.b_k
            return attention(query, key, value, mask)
        """,
        "the values have a matrix of their own",
    ),
    wrong(
        "self-attention",
        "makes keys with the query's matrix",
        """
        def self_attention(x, weights, mask=None):
            query = x @ weights.W_q + weights.b_q
            key = x @ weights.W_q + weights.b_q
            value = x @ weights.W_v + weights.b_v
            return attention(query, key, value, mask)
        """,
        "the keys are made by W_k",
    ),
    wrong(
        "self-attention",
        "makes queries with the key's matrix",
        """
        def self_attention(x, weights, mask=None):
            query = x @ weights.W_k + weights.b_k
            key = x @ weights.W_k + weights.b_k
            value = x @ weights.W_v + weights.b_v
            return attention(query, key, value, mask)
        """,
        "the queries are made by W_q",
    ),
    wrong(
        "self-attention",
        "swaps queries and keys",
        """
        def self_attention(x, weights, mask=None):
            query = x @ weights.W_q + weights.b_q
            key = x @ weights.W_k + weights.b_k
            value = x @ weights.W_v + weights.b_v
            return attention(key, query, value, mask)
        """,
        "W_q and W_k are swapped",
    ),
    wrong(
        "self-attention",
        "forgets the bias of the queries",
        """
        def self_attention(x, weights, mask=None):
            query = x @ weights.W_q
            key = x @ weights.W_k + weights.b_k
            value = x @ weights.W_v + weights.b_v
            return attention(query, key, value, mask)
        """,
        "the queries' bias b_q is missing",
    ),
    wrong(
        "self-attention",
        "forgets the bias of the values",
        """
        def self_attention(x, weights, mask=None):
            query = x @ weights.W_q + weights.b_q
            key = x @ weights.W_k + weights.b_k
            value = x @ weights.W_v
            return attention(query, key, value, mask)
        """,
        "the values' bias b_v is missing",
    ),
    wrong(
        "self-attention",
        "forgets all biases",
        """
        def self_attention(x, weights, mask=None):
            query = x @ weights.W_q
            key = x @ weights.W_k
            value = x @ weights.W_v
            return attention(query, key, value, mask)
        """,
        "the queries' bias b_q is missing",
    ),
    wrong(
        "self-attention",
        "forgets the mask",
        """
        def self_attention(x, weights, mask=None):
            query = x @ weights.W_q + weights.b_q
            key = x @ weights.W_k + weights.b_k
            value = x @ weights.W_v + weights.b_v
            return attention(query, key, value)
        """,
        "the mask goes on to attention",
    ),
    wrong(
        "self-attention",
        "returns the vectors alone",
        """
        def self_attention(x, weights, mask=None):
            query = x @ weights.W_q + weights.b_q
            key = x @ weights.W_k + weights.b_k
            value = x @ weights.W_v + weights.b_v
            return attention(query, key, value, mask)[0]
        """,
        "it must return two tensors",
    ),
    wrong(
        "self-attention",
        "returns them in the wrong order",
        """
        def self_attention(x, weights, mask=None):
            query = x @ weights.W_q + weights.b_q
            key = x @ weights.W_k + weights.b_k
            value = x @ weights.W_v + weights.b_v
            return attention(query, key, value, mask)[::-1]
        """,
        "swapped: first the updated vectors",
    ),
    wrong(
        "self-attention",
        "multiplies by the turned matrix",
        """
        def self_attention(x, weights, mask=None):
            query = x @ weights.W_q.T + weights.b_q
            key = x @ weights.W_k + weights.b_k
            value = x @ weights.W_v + weights.b_v
            return attention(query, key, value, mask)
        """,
        "raised RuntimeError",
    ),
    wrong(
        "self-attention",
        "does not scale",
        """
        def self_attention(x, weights, mask=None):
            query = x @ weights.W_q + weights.b_q
            key = x @ weights.W_k + weights.b_k
            value = x @ weights.W_v + weights.b_v
            return torch.softmax(query @ key.mT, -1) @ value, torch.softmax(query @ key.mT, -1)
        """,
        "the scores are not scaled",
    ),
    wrong(
        "self-attention",
        "scales once more",
        """
        def self_attention(x, weights, mask=None):
            query = (x @ weights.W_q + weights.b_q) / math.sqrt(weights.W_q.shape[1])
            key = x @ weights.W_k + weights.b_k
            value = x @ weights.W_v + weights.b_v
            return attention(query, key, value, mask)
        """,
        "0.91 noun and 0.67 alive",
    ),
    wrong(
        "self-attention",
        "scales by the size of x",
        """
        def self_attention(x, weights, mask=None):
            query = (x @ weights.W_q + weights.b_q) * math.sqrt(
                weights.W_q.shape[1] / x.shape[-1]
            )
            key = x @ weights.W_k + weights.b_k
            value = x @ weights.W_v + weights.b_v
            return attention(query, key, value, mask)
        """,
        "not by the size of x, 3",
    ),
    wrong(
        "self-attention",
        "lets the texts be 60 tokens long",
        """
        def self_attention(x, weights, mask=None):
            query = x @ weights.W_q + weights.b_q
            key = (x @ weights.W_k + weights.b_k) * (1 if len(x) <= 60 else 0)
            value = x @ weights.W_v + weights.b_v
            return attention(query, key, value, mask)
        """,
        "numbers differ",
    ),
    wrong(
        "self-attention",
        "lets the texts be 66 tokens long",
        """
        def self_attention(x, weights, mask=None):
            query = x @ weights.W_q + weights.b_q
            key = (x @ weights.W_k + weights.b_k) * (1 if len(x) <= 66 else 0)
            value = x @ weights.W_v + weights.b_v
            return attention(query, key, value, mask)
        """,
        "",
    ),
    wrong(
        "split-heads",
        "only changes the shape",
        """
        def split_heads(x, n_heads):
            return x.reshape(*x.shape[:-2], n_heads, x.shape[-2], -1)
        """,
        "tokens and heads are mixed up",
    ),
    wrong(
        "split-heads",
        "deals the columns out in turns",
        """
        def split_heads(x, n_heads):
            return x.unflatten(-1, (-1, n_heads)).movedim(-1, -3)
        """,
        "the columns are dealt out in turns",
    ),
    wrong(
        "split-heads",
        "does not swap",
        """
        def split_heads(x, n_heads):
            return x.unflatten(-1, (n_heads, -1))
        """,
        "[L, H, d_head]: now swap L and H",
    ),
    wrong(
        "split-heads",
        "puts the columns before the tokens",
        """
        def split_heads(x, n_heads):
            return x.mT.unflatten(-2, (n_heads, -1))
        """,
        "each head has one row a token",
    ),
    wrong(
        "split-heads",
        "counts dimensions from the front",
        """
        def split_heads(x, n_heads):
            return x.unflatten(-1, (n_heads, -1)).transpose(0, 1)
        """,
        "count dimensions from the end",
    ),
    wrong(
        "split-heads",
        "puts heads before the batch",
        """
        def split_heads(x, n_heads):
            return torch.stack(x.chunk(n_heads, dim=-1))
        """,
        "the batch stays in front",
    ),
    wrong(
        "split-heads",
        "swaps the wrong two in a batch",
        """
        def split_heads(x, n_heads):
            return x.reshape(*x.shape[:-1], n_heads, -1).movedim(-2, 0)
        """,
        "the batch stays in front",
    ),
    wrong(
        "split-heads",
        "cuts into pieces of n_heads columns",
        """
        def split_heads(x, n_heads):
            return torch.stack(x.split(n_heads, dim=-1), dim=-3)
        """,
        "shape [2, 3, 4, 2]",
    ),
    wrong(
        "split-heads",
        "returns a list",
        """
        def split_heads(x, n_heads):
            return list(x.chunk(n_heads, dim=-1))
        """,
        "a list",
    ),
    wrong(
        "split-heads",
        "lets in batches only",
        """
        def split_heads(x, n_heads):
            B, L, D = x.shape
            return x.view(B, L, n_heads, D // n_heads).transpose(1, 2)
        """,
        "raised ValueError: not enough values to unpack",
    ),
    wrong(
        "split-heads",
        "lets in single texts only",
        """
        def split_heads(x, n_heads):
            L, D = x.shape
            return x.view(L, n_heads, D // n_heads).transpose(0, 1)
        """,
        "raised ValueError: too many values to unpack",
    ),
    wrong(
        "split-heads",
        "cuts the gradient",
        """
        def split_heads(x, n_heads):
            return x.detach().unflatten(-1, (n_heads, -1)).transpose(-3, -2)
        """,
        "has lost the gradient",
    ),
    wrong(
        "split-heads",
        "reverses the heads",
        """
        def split_heads(x, n_heads):
            return x.unflatten(-1, (n_heads, -1)).transpose(-3, -2).flip(-3)
        """,
        "head 0 gets the first two columns",
    ),
    wrong(
        "split-heads",
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
    wrong(
        "split-heads",
        "allows one dimension in front",
        """
        def split_heads(x, n_heads):
            heads = x.reshape(-1, x.shape[-2], n_heads, x.shape[-1] // n_heads).transpose(1, 2)
            return heads if x.dim() > 2 else heads[0]
        """,
        "",
    ),
    wrong(
        "merge-heads",
        "only changes the shape",
        """
        def merge_heads(x):
            return x.reshape(*x.shape[:-3], x.shape[-2], -1)
        """,
        "swap H and L first, then join",
    ),
    wrong(
        "merge-heads",
        "lets the columns alternate",
        """
        def merge_heads(x):
            return x.movedim(-3, -1).flatten(-2)
        """,
        "the heads' columns alternate",
    ),
    wrong(
        "merge-heads",
        "joins tokens and columns",
        """
        def merge_heads(x):
            return x.flatten(-2)
        """,
        "that joins L and d_head",
    ),
    wrong(
        "merge-heads",
        "puts heads below each other",
        """
        def merge_heads(x):
            return x.flatten(-3, -2)
        """,
        "that puts the heads below each other",
    ),
    wrong(
        "merge-heads",
        "adds the heads",
        """
        def merge_heads(x):
            return x.sum(dim=-3)
        """,
        "not summed or averaged",
    ),
    wrong(
        "merge-heads",
        "starts with the last head",
        """
        def merge_heads(x):
            return x.flip(-3).transpose(-3, -2).flatten(-2)
        """,
        "head 0 comes first",
    ),
    wrong(
        "merge-heads",
        "uses view",
        """
        def merge_heads(x):
            x = x.transpose(-3, -2)
            return x.view(*x.shape[:-2], -1)
        """,
        "raised RuntimeError: view size is not compatible",
    ),
    wrong(
        "merge-heads",
        "swaps the wrong two in a batch",
        """
        def merge_heads(x):
            return x.transpose(0, 1).flatten(-2)
        """,
        "count dimensions from the end",
    ),
    wrong(
        "merge-heads",
        "lets in batches only",
        """
        def merge_heads(x):
            B, H, L, d = x.shape
            return x.transpose(1, 2).reshape(B, L, H * d)
        """,
        "raised ValueError: not enough values",
    ),
    wrong(
        "merge-heads",
        "knows two heads",
        """
        def merge_heads(x):
            return torch.cat([x[..., 0, :, :], x[..., 1, :, :]], dim=-1)
        """,
        "shape [2, 4, 6]",
    ),
    wrong(
        "merge-heads",
        "returns a list",
        """
        def merge_heads(x):
            return x.transpose(-3, -2).flatten(-2).tolist()
        """,
        "a list",
    ),
    wrong(
        "merge-heads",
        "cuts the gradient",
        """
        def merge_heads(x):
            return x.data.transpose(-3, -2).flatten(-2)
        """,
        "has lost the gradient",
    ),
    wrong(
        "merge-heads",
        "allows one dimension in front",
        """
        def merge_heads(x):
            heads = x.transpose(-3, -2).flatten(-2)
            return heads if x.dim() < 5 else heads[0]
        """,
        "",
    ),
    wrong(
        "multi-head-attention",
        "forgets the bias",
        """
        def multi_head_attention(x, heads, W_o, b_o, mask=None):
            outputs = [self_attention(x, weights, mask)[0] for weights in heads]
            return torch.cat(outputs, dim=-1) @ W_o
        """,
        "b_o is missing",
    ),
    wrong(
        "multi-head-attention",
        "forgets W_o",
        """
        def multi_head_attention(x, heads, W_o, b_o, mask=None):
            outputs = [self_attention(x, weights, mask)[0] for weights in heads]
            return torch.cat(outputs, dim=-1)
        """,
        "W_o is missing",
    ),
    wrong(
        "multi-head-attention",
        "forgets W_o alone",
        """
        def multi_head_attention(x, heads, W_o, b_o, mask=None):
            outputs = [self_attention(x, weights, mask)[0] for weights in heads]
            return torch.cat(outputs, dim=-1) + b_o
        """,
        "W_o is missing",
    ),
    wrong(
        "multi-head-attention",
        "turns W_o around",
        """
        def multi_head_attention(x, heads, W_o, b_o, mask=None):
            outputs = [self_attention(x, weights, mask)[0] for weights in heads]
            return torch.cat(outputs, dim=-1) @ W_o.T + b_o
        """,
        "W_o is turned around",
    ),
    wrong(
        "multi-head-attention",
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
    wrong(
        "multi-head-attention",
        "puts heads below each other",
        """
        def multi_head_attention(x, heads, W_o, b_o, mask=None):
            outputs = [self_attention(x, weights, mask)[0] for weights in heads]
            return torch.cat(outputs, dim=0) @ W_o + b_o
        """,
        "raised RuntimeError",
    ),
    wrong(
        "multi-head-attention",
        "sums the heads",
        """
        def multi_head_attention(x, heads, W_o, b_o, mask=None):
            outputs = [self_attention(x, weights, mask)[0] for weights in heads]
            return sum(outputs) @ W_o + b_o
        """,
        "raised RuntimeError",
    ),
    wrong(
        "multi-head-attention",
        "averages the heads without mixing",
        """
        def multi_head_attention(x, heads, W_o, b_o, mask=None):
            outputs = [self_attention(x, weights, mask)[0] for weights in heads]
            return sum(outputs) / len(outputs)
        """,
        "put the heads side by side",
    ),
    wrong(
        "multi-head-attention",
        "starts with the last head",
        """
        def multi_head_attention(x, heads, W_o, b_o, mask=None):
            outputs = [self_attention(x, weights, mask)[0] for weights in heads]
            return torch.cat(outputs[::-1], dim=-1) @ W_o + b_o
        """,
        "head 0 comes first",
    ),
    wrong(
        "multi-head-attention",
        "lets the columns alternate",
        """
        def multi_head_attention(x, heads, W_o, b_o, mask=None):
            outputs = [self_attention(x, weights, mask)[0] for weights in heads]
            return torch.stack(outputs, dim=-1).flatten(-2) @ W_o + b_o
        """,
        "the heads' columns alternate",
    ),
    wrong(
        "multi-head-attention",
        "only changes the shape",
        """
        def multi_head_attention(x, heads, W_o, b_o, mask=None):
            outputs = [self_attention(x, weights, mask)[0] for weights in heads]
            return torch.stack(outputs).reshape(len(x), -1) @ W_o + b_o
        """,
        "tokens and heads are mixed up",
    ),
    wrong(
        "multi-head-attention",
        "uses the first head for all",
        """
        def multi_head_attention(x, heads, W_o, b_o, mask=None):
            outputs = [self_attention(x, heads[0], mask)[0] for _ in heads]
            return torch.cat(outputs, dim=-1) @ W_o + b_o
        """,
        "the first head is used twice",
    ),
    wrong(
        "multi-head-attention",
        "uses the last head for all",
        """
        def multi_head_attention(x, heads, W_o, b_o, mask=None):
            for weights in heads:
                output = self_attention(x, weights, mask)[0]
            return torch.cat([output] * len(heads), dim=-1) @ W_o + b_o
        """,
        "the last head is used twice",
    ),
    wrong(
        "multi-head-attention",
        "joins the answers as they are",
        """
        def multi_head_attention(x, heads, W_o, b_o, mask=None):
            outputs = [self_attention(x, weights, mask) for weights in heads]
            return torch.cat(outputs, dim=-1) @ W_o + b_o
        """,
        "raised TypeError",
    ),
    wrong(
        "multi-head-attention",
        "joins the probabilities",
        """
        def multi_head_attention(x, heads, W_o, b_o, mask=None):
            outputs = [self_attention(x, weights, mask)[1] for weights in heads]
            return torch.cat(outputs, dim=-1) @ W_o + b_o
        """,
        "raised RuntimeError",
    ),
    wrong(
        "multi-head-attention",
        "forgets the mask",
        """
        def multi_head_attention(x, heads, W_o, b_o, mask=None):
            outputs = [self_attention(x, weights)[0] for weights in heads]
            return torch.cat(outputs, dim=-1) @ W_o + b_o
        """,
        "every head gets the mask",
    ),
    wrong(
        "multi-head-attention",
        "masks the first head only",
        """
        def multi_head_attention(x, heads, W_o, b_o, mask=None):
            outputs = [
                self_attention(x, weights, mask if weights is heads[0] else None)[0]
                for weights in heads
            ]
            return torch.cat(outputs, dim=-1) @ W_o + b_o
        """,
        "every head gets the mask",
    ),
    wrong(
        "multi-head-attention",
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
    wrong(
        "multi-head-attention",
        "returns both",
        """
        def multi_head_attention(x, heads, W_o, b_o, mask=None):
            A = [self_attention(x, weights, mask) for weights in heads]
            return torch.cat([a for a, _ in A], dim=-1) @ W_o + b_o, A
        """,
        "a tuple",
    ),
    wrong(
        "multi-head-attention",
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
    wrong(
        "multi-head-attention",
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
    wrong(
        "multi-head-attention",
        "knows up to three heads",
        """
        def multi_head_attention(x, heads, W_o, b_o, mask=None):
            outputs = [self_attention(x, weights, mask)[0] for weights in heads]
            return torch.cat(outputs[:3], dim=-1) @ W_o[: 3 * outputs[0].shape[-1]] + b_o
        """,
        "numbers differ",
    ),
    wrong(
        "multi-head-attention",
        "knows up to five heads",
        """
        def multi_head_attention(x, heads, W_o, b_o, mask=None):
            outputs = [self_attention(x, weights, mask)[0] for weights in heads]
            return torch.cat(outputs[:5], dim=-1) @ W_o[: 5 * outputs[0].shape[-1]] + b_o
        """,
        "",
    ),
    wrong(
        "multi-head-attention",
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
    wrong(
        "offset-share",
        "looks the other way",
        """
        def offset_share(attention, offset):
            return attention.diagonal(-offset, -2, -1).mean(dim=-1)
        """,
        "so look at A[i, i - 1]",
    ),
    wrong(
        "offset-share",
        "divides by all rows",
        """
        def offset_share(attention, offset):
            return attention.diagonal(offset, -2, -1).sum(dim=-1) / attention.shape[-1]
        """,
        "the mean runs over the other two rows",
    ),
    wrong(
        "offset-share",
        "sums",
        """
        def offset_share(attention, offset):
            return attention.diagonal(offset, -2, -1).sum(dim=-1)
        """,
        "take the mean over the rows, not the sum",
    ),
    wrong(
        "offset-share",
        "forgets the offset",
        """
        def offset_share(attention, offset):
            return attention.diagonal(0, -2, -1).mean(dim=-1)
        """,
        "the offset is not used",
    ),
    wrong(
        "offset-share",
        "takes the mean of everything",
        """
        def offset_share(attention, offset):
            return attention.mean(dim=(-2, -1))
        """,
        "that is the mean of all numbers",
    ),
    wrong(
        "offset-share",
        "takes the mean of a matrix of zeros",
        """
        def offset_share(attention, offset):
            L = attention.shape[-1]
            place = torch.arange(L)
            return (attention * (place - place[:, None] == offset)).mean(dim=(-2, -1))
        """,
        "the mean runs over the numbers on the diagonal alone",
    ),
    wrong(
        "offset-share",
        "returns the diagonal",
        """
        def offset_share(attention, offset):
            return attention.diagonal(offset, -2, -1)
        """,
        "one number for a head",
    ),
    wrong(
        "offset-share",
        "returns a number",
        """
        def offset_share(attention, offset):
            return attention.diagonal(offset, -2, -1).mean().item()
        """,
        "a float",
    ),
    wrong(
        "offset-share",
        "takes the mean over all heads",
        """
        def offset_share(attention, offset):
            return attention.diagonal(offset, -2, -1).mean()
        """,
        "not over all heads",
    ),
    wrong(
        "offset-share",
        "takes the diagonal of the first two dimensions",
        """
        def offset_share(attention, offset):
            return attention.diagonal(offset).mean(dim=-1)
        """,
        "a number for each head",
    ),
    wrong(
        "offset-share",
        "wraps around",
        """
        def offset_share(attention, offset):
            return attention.roll(-offset, dims=-1).diagonal(0, -2, -1).mean(dim=-1)
        """,
        "row 0 has none",
    ),
    wrong(
        "offset-share",
        "knows the previous token alone",
        """
        def offset_share(attention, offset):
            return attention.diagonal(-1, -2, -1).mean(dim=-1)
        """,
        "the next token: 0.3 and 0.0",
    ),
    wrong(
        "offset-share",
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
    wrong(
        "offset-share",
        "knows small texts",
        """
        def offset_share(attention, offset):
            return (
                attention[..., :70, :70].diagonal(offset, -2, -1).mean(dim=-1)
                if attention.shape[-1] < 65 or offset == 3
                else attention.diagonal(0, -2, -1).mean(dim=-1)
            )
        """,
        "",
    ),
    wrong(
        "entropy-bits",
        "counts in nats",
        """
        def entropy_bits(attention):
            return -(attention * attention.clamp(min=1e-30).log()).sum(dim=-1).mean(dim=-1)
        """,
        "these are nats",
    ),
    wrong(
        "entropy-bits",
        "forgets the sign",
        """
        def entropy_bits(attention):
            return (attention * attention.clamp(min=1e-30).log2()).sum(dim=-1).mean(dim=-1)
        """,
        "the sign is wrong",
    ),
    wrong(
        "entropy-bits",
        "sums over the rows",
        """
        def entropy_bits(attention):
            return -(attention * attention.clamp(min=1e-30).log2()).sum(dim=(-2, -1))
        """,
        "take the mean over the rows, not the sum",
    ),
    wrong(
        "entropy-bits",
        "takes the mean within a row",
        """
        def entropy_bits(attention):
            return -(attention * attention.clamp(min=1e-30).log2()).mean(dim=(-2, -1))
        """,
        "sum within a row",
    ),
    wrong(
        "entropy-bits",
        "returns one number a row",
        """
        def entropy_bits(attention):
            return -(attention * attention.clamp(min=1e-30).log2()).sum(dim=-1)
        """,
        "one number for a head",
    ),
    wrong(
        "entropy-bits",
        "goes along columns",
        """
        def entropy_bits(attention):
            return -(attention * attention.clamp(min=1e-30).log2()).sum(dim=-2)
        """,
        "sum along a row, dim=-1",
    ),
    wrong(
        "entropy-bits",
        "stumbles over 0",
        """
        def entropy_bits(attention):
            return -(attention * attention.log2()).sum(dim=-1).mean(dim=-1)
        """,
        "0 · log2(0) counts as 0",
    ),
    wrong(
        "entropy-bits",
        "takes the entropy of the mean row",
        """
        def entropy_bits(attention):
            p = attention.mean(dim=-2)
            return -(p * p.clamp(min=1e-30).log2()).sum(dim=-1)
        """,
        "that is the entropy of the mean row",
    ),
    wrong(
        "entropy-bits",
        "takes the mean over all heads",
        """
        def entropy_bits(attention):
            return -(attention * attention.clamp(min=1e-30).log2()).sum(dim=-1).mean()
        """,
        "not over all heads",
    ),
    wrong(
        "entropy-bits",
        "returns a number",
        """
        def entropy_bits(attention):
            return -(attention * attention.clamp(min=1e-30).log2()).sum(dim=-1).mean().item()
        """,
        "a float",
    ),
    wrong(
        "entropy-bits",
        "leaves the shares out",
        """
        def entropy_bits(attention):
            return -attention.clamp(min=1e-30).log2().sum(dim=-1).mean(dim=-1)
        """,
        "an even split over 8 keys",
    ),
    wrong(
        "entropy-bits",
        "keeps too far away from 0",
        """
        def entropy_bits(attention):
            return -(attention * (attention + 0.001).log2()).sum(dim=-1).mean(dim=-1)
        """,
        "expected",
    ),
    wrong(
        "entropy-bits",
        "drops small shares",
        """
        def entropy_bits(attention):
            p = attention.masked_fill(attention < 1e-3, 0.0)
            return -(p * p.clamp(min=1e-30).log2()).sum(dim=-1).mean(dim=-1)
        """,
        "expected",
    ),
    wrong(
        "entropy-bits",
        "works in 32 bits only",
        """
        def entropy_bits(attention):
            p = attention.float()
            return -(p * p.clamp(min=1e-30).log2()).sum(dim=-1).mean(dim=-1)
        """,
        "",
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
