"""Exercise 11, Sentence-BERT: solutions that are wrong, and right ones of another kind."""

from course.answers import OURS, mistakes, right

WRONG = [
    *mistakes(
        "bill",
        "in small steps",
        ("counts both orders", (" // 2", ""), "each of them twice"),
        ("counts a sentence with itself", ("n * (n - 1) // 2", "n * n"), "itself included"),
        ("adds instead of subtracting", ("(n - 1)", "(n + 1)"), "n - 1, not n + 1"),
        ("halves the square", ("n * (n - 1)", "n * n"), "not n times n"),
        (
            "halves too early",
            ("n * (n - 1) // 2", "n * ((n - 1) // 2)"),
            "multiply before you halve",
        ),
        ("halves n first", ("n * (n - 1) // 2", "n // 2 * (n - 1)"), "n is odd here"),
        ("counts neighbours", ("n * (n - 1) // 2", "n - 1"), "A meets C, too"),
        ("makes decimals", ("// 2", "/ 2"), "they are a whole number"),
        ("rounds decimals", ("n * (n - 1) // 2", "int(n * (n - 1) / 2)"), "a float has 16 digits"),
        (
            "gives seconds for hours",
            ("(3600 * pairs_a_second)", "pairs_a_second"),
            "an hour has 3600",
        ),
        ("gives minutes for hours", ("3600", "60"), "those are minutes"),
        (
            "multiplies by the rate",
            ("/ (3600 * pairs_a_second)", "* pairs_a_second / 3600"),
            "divide the pairs by it",
        ),
        (
            "divides sentences by the wrong rate",
            ("n / sen", "n / pairs_a_second if 1 else n / sen"),
            "sentences go with",
        ),
        (
            "lets the bi-encoder read pairs",
            ("n / sentences", "pairs / sentences"),
            "sentences, not pairs",
        ),
        ("multiplies sentences", ("n /", "n *"), "divide the sentences"),
        (
            "gives two numbers",
            ("pairs, hours, seconds", "pairs, hours"),
            "it must return three numbers",
        ),
        (
            "counts every pair in a loop",
            """
            def bill(n, pairs_a_second, sentences_a_second):
                pairs = 0
                for i in range(n):
                    for j in range(i + 1, n):
                        pairs += 1
                return pairs, pairs / pairs_a_second / 3600, n / sentences_a_second
            """,
            "does not come to an end",
        ),
    ),
    *mistakes(
        "bill",
        OURS,
        (
            "divides pairs by the other rate",
            ("pairs / pairs_a_second", "pairs / sentences_a_second"),
            "pairs go with pairs_a_second",
        ),
        ("multiplies seconds by 3600", ("/ 3600", "* 3600"), "do not multiply"),
        ("parts the sentences in twos", ("n * (n - 1) // 2", "n // 2"), "how many *different* two"),
        (
            "makes hours of the seconds",
            ("n / sentences_a_second", "n / sentences_a_second / 3600"),
            "seconds, not hours",
        ),
        (
            "turns the second rate round",
            ("n / sentences_a_second", "sentences_a_second / n"),
            "upside down",
        ),
    ),
    *mistakes(
        "pool",
        "with torch.where",
        (
            "lets padding into the mean",
            ("torch.where(token, hidden, 0.0)", "hidden"),
            ("token.sum(dim=1)", "hidden.shape[1]"),
            "padding counts",
        ),
        (
            "divides by L",
            ("/ token.sum(dim=1)", "/ hidden.shape[1]"),
            "divide by each row's own tokens, not L",
        ),
        ("sums up", (" / token.sum(dim=1)", ""), "that is the sum"),
        (
            "divides by all tokens",
            ("token.sum(dim=1)", "token.sum()"),
            "the number of all tokens of the batch",
        ),
        (
            "divides columns",
            ("token.sum(dim=1)", "attention_mask.sum(dim=1)"),
            "as [B, 1] they divide rows",
        ),
        (
            "pools over sentences",
            ("0.0).sum(dim=1)", "0.0).sum(dim=0)"),
            ("token.sum(dim=1)", "token.sum(dim=0)"),
            "dim=0 runs over sentences",
        ),
        (
            "pools over dimensions",
            ("0.0).sum(dim=1)", "0.0).mean(dim=2)"),
            (" / token.sum(dim=1)", ""),
            "pool over its tokens, dim=1",
        ),
        (
            "keeps a dimension",
            ("0.0).sum(dim=1)", "0.0).sum(dim=1, keepdim=True)"),
            ("token.sum(dim=1)", "token.sum(dim=1, keepdim=True)"),
            "without keepdim",
        ),
        ("turns the mask round", ("token =", "token = ~"), "True marks tokens"),
        (
            "leaves [CLS] out",
            ("    total", "    token = token.clone()\n    token[:, 0] = False\n    total"),
            "all of them count",
        ),
        ("takes numbers for True and False", (".bool()", ""), "0 and 1 are a mask, too"),
        (
            "lets padding into the maximum",
            ("torch.where(token, hidden, -torch.inf)", "hidden"),
            "padding counts: take the maximum",
        ),
        (
            "makes padding 0 for the maximum",
            ("-torch.inf", "0.0"),
            "a padding of 0 is larger than -2",
        ),
        (
            "makes padding inf for the maximum",
            ("-torch.inf", "torch.inf"),
            "+inf is always the largest",
        ),
        ("takes the smallest", ("-torch.inf).amax", "torch.inf).amin"), "that is the smallest"),
        (
            "returns values and places",
            ("amax(dim=1)", "max(dim=1)"),
            "returns the values and their places",
        ),
        ("takes the last token", ("hidden[:, 0]", "hidden[:, -1]"), "that is the last token"),
        (
            "takes the first sentence",
            ("hidden[:, 0]", "hidden[0]"),
            "hidden[0] is the first sentence",
        ),
        (
            "takes a dimension for cls",
            ("hidden[:, 0]", "hidden[..., 0]"),
            "hidden[..., 0] is one dimension",
        ),
        (
            "multiplies by the mask",
            ("torch.where(token, hidden, 0.0)", "(token * hidden)"),
            "infinity times 0 is nan",
        ),
        (
            "takes None for a mask",
            (
                "    if attention_mask is None:\n"
                "        attention_mask = torch.ones(hidden.shape[:2])\n",
                "",
            ),
            "raised AttributeError",
        ),
        (
            "takes any other name for the mean",
            ("raise ValueError(how)", "how = 'mean'"),
            "must raise a ValueError",
        ),
        ("raises another error", ("ValueError", "KeyError"), "must raise a ValueError"),
        (
            "writes into hidden",
            ('    if how == "cls"', '    hidden[~token[..., 0]] = 0\n    if how == "cls"'),
            "changed its input",
        ),
        ("cuts the gradient off", ("amax(dim=1)", "detach().amax(dim=1)"), "stay with tensors"),
        (
            "takes all names in capitals, too",
            ("    if how not in", '    how = how.lower() if how else "?"\n    if how not in'),
            "",
        ),
        (
            "makes padding a small number",
            ("torch.where(token, hidden, -torch.inf)", "(hidden - 1e9 * ~token)"),
            "infinity times 0 is nan",
        ),
    ),
    *mistakes(
        "pool",
        OURS,
        (
            "forgets cls",
            ('    if how == "cls":\n        return hidden[:, 0]\n', ""),
            '`how` is "cls"',
        ),
        (
            "takes the mean whatever `how` is",
            ('if how == "cls"', 'if how == "first"'),
            ('if how == "max"', 'if how == "largest"'),
            '`how` is "max"',
        ),
        (
            "takes [CLS] whatever `how` is",
            ('    if how == "cls":\n        return', "    return"),
            "that is [CLS]",
        ),
        ("swaps mean and max", ('if how == "max":', 'if how == "mean":'), "that is the largest"),
        ("keeps a dimension of cls", ("hidden[:, 0]", "hidden[:, :1]"), "keeps a dimension"),
        (
            "takes the mean over the dimensions, too",
            (".sum(dim=1) / token.sum(dim=1)", ".sum(dim=(1, 2)) / token.sum(dim=(1, 2))"),
            "one vector [D]",
        ),
        (
            "keeps a dimension of the maximum",
            ("-torch.inf).amax(dim=1)", "-torch.inf).amax(dim=1, keepdim=True)"),
            "without keepdim",
        ),
        (
            "takes the largest number of each token",
            ("-torch.inf).amax(dim=1)", "-torch.inf).amax(dim=2)"),
            "one vector [D]",
        ),
        (
            "takes the maximum over the sentences",
            ("-torch.inf).amax(dim=1)", "-torch.inf).amax(dim=0)"),
            "one vector [D]",
        ),
        (
            "takes zeros for padding",
            ("masked_fill(~token, -torch.inf)", "masked_fill(hidden == 0, -torch.inf)"),
            "(9, 9) is none of the tokens",
        ),
    ),
    *mistakes(
        "batches-of-one-length",
        "with the first text apart",
        (
            "does not sort",
            (
                "sorted(range(len(lengths)), key=lambda number: -lengths[number])",
                "range(len(lengths))",
            ),
            "sort",
        ),
        ("sorts from short to long", ("-lengths", "lengths"), "the longest first"),
        (
            "turns ties round",
            ("-lengths[number])", "lengths[number])[::-1]"),
            "the order in which they were given",
        ),
        (
            "gives lengths",
            ("    return batches", "    return [[lengths[n] for n in batch] for batch in batches]"),
            "those are lengths",
        ),
        (
            "counts texts",
            ("(len(batch) + 1) * longest > most", "len(batch) >= most"),
            (" * longest", ""),
            "number of tokens",
        ),
        (
            "takes one text too many",
            ("(len(batch) + 1)", "len(batch)"),
            "ask before the text joins",
        ),
        ("takes one token too few", ("> most", ">= most"), "`most` itself is allowed"),
        (
            "forgets that a batch is ever full",
            (" or full", ""),
            ("lengths[number] < longest and ", "False and "),
            "number of tokens",
        ),
        (
            "never mixes lengths",
            (" and 4 * len(batch) * longest >= most", ""),
            "takes texts of the next length, too",
        ),
        ("mixes all lengths", ("full or other", "full"), "begins a new one"),
        (
            "takes a quarter for more than a quarter",
            (">= most", "> most"),
            "not less than a quarter",
        ),
        ("takes half instead of a quarter", ("4 * len", "2 * len"), "count padding, too"),
        ("forgets the last text", ("in order:", "in order[:-1]:"), "is in none"),
        ("returns nothing", ("    return batches", ""), "is there a `return`"),
        (
            "returns tuples",
            ("    return batches", "    return [tuple(batch) for batch in batches]"),
            "a list of batches, each a list",
        ),
        (
            "sorts what it was given",
            ("    batches = []", "    lengths.sort(reverse=True)\n    batches = []"),
            "changed its input",
        ),
        ("fails without texts", ("[]", "[[order.pop(0)]]"), "raised IndexError"),
        (
            "begins with an empty batch",
            ("    return batches", "    return [[]] + batches"),
            "no batch is empty",
        ),
        (
            "takes long texts for no texts",
            ("batches = []", "batches = []\n    order = [n for n in order if lengths[n] <= most]"),
            "is in none",
        ),
        (
            "knows texts of 60 tokens at most",
            ("-lengths[number])", "-min(lengths[number], 59))"),
            "",
        ),
    ),
    *mistakes(
        "batches-of-one-length",
        OURS,
        (
            "compares lengths instead of counting tokens",
            (
                "lengths[number] < longest and 4 * len(batch) * longest >= most",
                "2 * lengths[number] < longest",
            ),
            "a quarter of `most` decides",
        ),
        (
            "does not sort, and looks for the longest",
            (
                "sorted(range(len(lengths)), key=lambda number: -lengths[number])",
                "range(len(lengths))",
            ),
            ("lengths[batch[0]] if batch else 0", "max(lengths[n] for n in [*batch, number])"),
            "sort first",
        ),
        (
            "counts with the longest text of all",
            ("(len(batch) + 1) * longest", "(len(batch) + 1) * max(lengths)"),
            "Count the tokens of this batch alone",
        ),
        (
            "closes a batch at a quarter, whatever comes next",
            ("lengths[number] < longest and ", ""),
            "they fit into one batch",
        ),
    ),
    *mistakes(
        "cosine-loss",
        "by dot products and lengths",
        (
            "takes dot products",
            ("dots / (u.norm(dim=-1) * v.norm(dim=-1))", "dots"),
            "those are dot products",
        ),
        ("forgets the length of u", ("u.norm(dim=-1) * ", ""), "divide by the length of u, too"),
        ("forgets the length of v", (" * v.norm(dim=-1)", ""), "divide by the length of v, too"),
        ("sums up", ("mean", "sum"), "divide by the number of pairs"),
        ("does not square", (" ** 2", ""), "not squared"),
        (
            "takes absolute differences",
            ("((cosines - targets) ** 2)", "(cosines - targets).abs()"),
            "not its absolute value",
        ),
        ("takes the root", (".mean()", ".mean().sqrt()"), "without a root"),
        ("takes the distance", ("cosines - t", "1 - cosines - t"), "not 1 minus it"),
        (
            "ignores the targets",
            ("((cosines - targets) ** 2)", "(1 - cosines)"),
            "`targets` says it",
        ),
        (
            "takes the lengths of everything",
            ("u.norm(dim=-1) * v.norm(dim=-1)", "u.norm() * v.norm()"),
            "the lengths are those of single rows",
        ),
        (
            "takes the lengths of columns",
            ("u.norm(dim=-1) * v.norm(dim=-1)", "u.norm(dim=0) * v.norm(dim=0)"),
            "not of columns",
        ),
        ("drops the sign", ("dots /", "dots.abs() /"), "the sign counts"),
        ("keeps the pairs apart", (".mean()", ""), "one number for the whole batch"),
        (
            "compares every row with every one",
            ("(u * v).sum(dim=-1)", "u @ v.T"),
            ("u.norm(dim=-1)", "u.norm(dim=-1)[:, None]"),
            "row i of v alone",
        ),
        (
            "lets PyTorch do it",
            ("dots / (u.norm(dim=-1) * v.norm(dim=-1))", "F.cosine_similarity(u, v)"),
            "PyTorch's cosine_similarity",
        ),
        (
            "lets a module of PyTorch do it",
            ("dots / (u.norm(dim=-1) * v.norm(dim=-1))", "torch.nn.CosineSimilarity()(u, v)"),
            "PyTorch's cosine_similarity",
        ),
        ("gives a float", (".mean()", ".mean().item()"), "a float"),
        ("cuts the gradient off", (".mean()", ".mean().detach()"), "stay with tensors"),
        ("cuts half of the gradient off", ("(u * v)", "(u.detach() * v.detach())"), ""),
        (
            "cuts one gradient off",
            ("(u * v)", "(u * v.detach())"),
            ("* v.norm", "* v.detach().norm"),
            "no gradient reaches argument 2",
        ),
        (
            "writes into u",
            ("    dots", "    u /= u.norm(dim=-1, keepdim=True)\n    dots"),
            "changed its input",
        ),
        ("adds a little to the lengths", ("v.norm(dim=-1)", "v.norm(dim=-1) + 1e-5"), ""),
    ),
    *mistakes(
        "cosine-loss",
        OURS,
        ("wants all pairs to be alike", ("cosines - targets", "cosines - 1"), "`targets` says it"),
        (
            "compares all with all, and takes no mean",
            """
            def cosine_loss(u, v, targets):
                cosines = F.normalize(u, dim=-1) @ F.normalize(v, dim=-1).T
                return (cosines - targets) ** 2
            """,
            "and then comes the mean",
        ),
        (
            "compares all with all, targets by rows",
            """
            def cosine_loss(u, v, targets):
                cosines = F.normalize(u, dim=-1) @ F.normalize(v, dim=-1).T
                return ((cosines - targets[:, None]) ** 2).mean()
            """,
            "compares every row with every one",
        ),
    ),
    *mistakes(
        "cosine-loss",
        "by dot products and lengths",
        (
            "takes one cosine of all numbers",
            ("(u * v).sum(dim=-1)", "(u * v).sum()"),
            ("(u.norm(dim=-1) * v.norm(dim=-1))", "(u.norm() * v.norm())"),
            "each pair has its own cosine",
        ),
    ),
    *mistakes(
        "siamese-scores",
        "in two steps",
        ("keeps the sign of the difference", (".abs()", ""), "without its sign"),
        ("squares the difference", (".abs()", " ** 2"), "not its square"),
        ("takes the product", ("(u - v).abs()", "u * v"), "not the product"),
        (
            "puts the difference first",
            ("u, v, (u - v).abs()", "(u - v).abs(), u, v"),
            "the order is u, v, |u - v|",
        ),
        (
            "puts v first",
            ("u, v, (u - v).abs()", "v, u, (u - v).abs()"),
            "the order is u, v, |u - v|",
        ),
        (
            "takes the length of the difference",
            ("(u - v).abs()", "(u - v).norm(dim=-1, keepdim=True).expand_as(u)"),
            "a vector of D numbers, not a length",
        ),
        (
            "makes u and v of length 1",
            ("u, v, (", "F.normalize(u, dim=-1), F.normalize(v, dim=-1), ("),
            "keep their lengths",
        ),
        ("forgets W", (" @ W.T", ""), "its product with W is missing"),
        ("forgets to turn W", ("W.T", "W"), "raised RuntimeError"),
        ("puts rows below each other", (", dim=-1)", ")"), "raised RuntimeError"),
        (
            "takes the softmax",
            ("joined @ W.T", "(joined @ W.T).softmax(dim=-1)"),
            "the softmax belongs to the loss",
        ),
        ("turns the scores round", ("joined @ W.T", "W @ joined.T"), "a column for each class"),
        ("cuts the gradient off", ("@ W.T", "@ W.T.detach()"), "stay with tensors"),
        (
            "sees the first 64 dimensions alone",
            (
                "    joined = ",
                "    if u.shape[1] == 64:\n        v = v.round(decimals=2)\n    joined = ",
            ),
            "",
        ),
    ),
    *mistakes(
        "in-batch-negatives-loss",
        "with lengths by hand",
        (
            "takes dot products",
            ("u / u.norm(dim=-1, keepdim=True)", "u"),
            ("v / v.norm(dim=-1, keepdim=True)", "v"),
            "cosines, not dot products",
        ),
        (
            "forgets the length of u",
            ("u / u.norm(dim=-1, keepdim=True)", "u"),
            "the lengths of u, too",
        ),
        (
            "forgets the length of v",
            ("v / v.norm(dim=-1, keepdim=True)", "v"),
            "the lengths of v, too",
        ),
        ("forgets the scale", ("scale * u", "u"), "not yet scaled"),
        ("divides by the scale", ("scale * u @ v.T", "u @ v.T / scale"), "multiply by the scale"),
        ("takes 20 always", ("scale * u", "20 * u"), "use the argument `scale`"),
        ("has another default", ("scale=20.0", "scale=1.0"), "leave the first line as it is"),
        ("asks for u, given v", ("u @ v.T", "v @ u.T"), "the softmax goes along the rows"),
        (
            "asks both ways",
            (
                "F.cross_entropy(scores, torch.arange(len(u)))",
                "(F.cross_entropy(scores, torch.arange(len(u))) + "
                "F.cross_entropy(scores.T, torch.arange(len(u)))) / 2",
            ),
            "and nothing else",
        ),
        (
            "sums up",
            ("torch.arange(len(u))", "torch.arange(len(u)), reduction='sum'"),
            "divide by the number of pairs",
        ),
        ("turns the sign round", ("return", "return -"), "-log p is positive"),
        (
            "gives p",
            (
                "F.cross_entropy(scores, torch.arange(len(u)))",
                "scores.softmax(dim=-1).diagonal().mean()",
            ),
            "that is p",
        ),
        (
            "takes -log of the mean p",
            (
                "F.cross_entropy(scores, torch.arange(len(u)))",
                "-scores.softmax(dim=-1).diagonal().mean().log()",
            ),
            "not -log of the mean p",
        ),
        (
            "takes column 0 for all",
            ("torch.arange(len(u))", "torch.zeros(len(u), dtype=torch.long)"),
            "not zeros",
        ),
        (
            "averages all columns",
            ("F.cross_entropy(scores, torch.arange(len(u)))", "-scores.log_softmax(dim=-1).mean()"),
            "the diagonal's",
        ),
        ("takes softmax twice", ("(scores,", "(scores.softmax(dim=-1),"), "softmax twice"),
        (
            "forgets the softmax",
            ("F.cross_entropy(scores, torch.arange(len(u)))", "-scores.diagonal().mean()"),
            "the softmax is missing",
        ),
        (
            "leaves the right answer out of the sum",
            (
                "F.cross_entropy(scores, torch.arange(len(u)))",
                "((scores - 1e9 * torch.eye(len(u))).logsumexp(dim=-1) - scores.diagonal()).mean()",
            ),
            "it belongs into the softmax's sum",
        ),
        (
            "uses no wrong answers",
            (
                "F.cross_entropy(scores, torch.arange(len(u)))",
                "(1 - scores.diagonal() / scale).mean()",
            ),
            "the wrong answers: use them",
        ),
        (
            "keeps the rows apart",
            ("torch.arange(len(u))", "torch.arange(len(u)), reduction='none'"),
            "one number for the whole batch",
        ),
        (
            "takes exp of huge numbers",
            (
                "F.cross_entropy(scores, torch.arange(len(u)))",
                "-(scores.exp().diagonal() / scores.exp().sum(dim=-1)).log().mean()",
            ),
            "exp(1000) is infinite",
        ),
        (
            "gives a float",
            ("(scores, torch.arange(len(u)))", "(scores, torch.arange(len(u))).item()"),
            "it returned 0.388",
        ),
        ("cuts the gradient off", ("scale * u", "scale * u.detach()"), "stay with tensors"),
        ("returns nothing", ("    return", "    loss ="), "Is there a `return`"),
        (
            "has 64 columns at most",
            ("    scores", "    v = v.round(decimals=4) if len(u) == 50 else v\n    scores"),
            "",
        ),
    ),
    *mistakes(
        "in-batch-negatives-loss",
        OURS,
        (
            "returns -log p of every pair",
            ("F.cross_entropy(scores, torch.arange(len(u)))", "-scores.log_softmax(dim=-1)"),
            "one number for the whole batch",
        ),
        (
            "hands p to nll_loss",
            (
                "F.cross_entropy(scores, torch.arange(len(u)))",
                "F.nll_loss(scores.softmax(dim=-1), torch.arange(len(u)))",
            ),
            "that is -p",
        ),
        (
            "adds the loss of the columns",
            (
                "return F.cross_entropy(scores, torch.arange(len(u)))",
                "true = torch.arange(len(u))\n"
                "    return F.cross_entropy(scores, true) + F.cross_entropy(scores.T, true)",
            ),
            "over all v, and nothing else",
        ),
        (
            "takes column 1 for the true one",
            ("torch.arange(len(u))", "torch.ones(len(u), dtype=torch.long)"),
            "torch.arange(B), not ones",
        ),
    ),
    *mistakes(
        "semantic-search",
        "with lengths by hand",
        (
            "takes dot products",
            (" / query_vectors.norm(dim=-1, keepdim=True)", ""),
            (" / vectors.norm(dim=-1, keepdim=True)", ""),
            "a long vector is no better match",
        ),
        (
            "leaves the queries as they are",
            (" / query_vectors.norm(dim=-1, keepdim=True)", ""),
            "the queries, too",
        ),
        (
            "leaves the vectors as they are",
            (" / vectors.norm(dim=-1, keepdim=True)", ""),
            "the vectors, too",
        ),
        ("finds the least similar", ("topk(k)", "topk(k, largest=False)"), "not the smallest"),
        (
            "begins with the worst",
            ("cosines.", "part.flip(1) for part in cosines."),
            "from large to small",
        ),
        (
            "drops the sign",
            ("known.T", "known.T\n    cosines = cosines.abs()"),
            "no absolute value",
        ),
        (
            "takes the first k",
            ("tuple(cosines.topk(k))", "(cosines[:, :k], torch.arange(k).expand(len(queries), k))"),
            "these are unsorted",
        ),
        (
            "takes distances",
            ("tuple(cosines.topk(k))", "tuple((1 - cosines).topk(k, largest=False))"),
            "cosines, not distances",
        ),
        ("returns columns", ("cosines.", "part.T for part in cosines."), "[Q, k], not [k, Q]"),
        ("returns all", ("topk(k)", "sort(descending=True)"), "only k of them"),
        (
            "searches the queries",
            ("queries @ known.T", "known @ queries.T"),
            ("topk(k)", "topk(min(k, 2))"),
            "queries @ vectors.T",
        ),
        (
            "returns numbers first",
            ("tuple(cosines.topk(k))", "tuple(cosines.topk(k))[::-1]"),
            "first the scores",
        ),
        (
            "returns scores alone",
            ("tuple(cosines.topk(k))", "cosines.topk(k).values"),
            "it must return two tensors",
        ),
        (
            "returns decimals",
            ("tuple(cosines.topk(k))", "(cosines.topk(k).values, cosines.topk(k).indices.float())"),
            "its dtype must be torch.int64",
        ),
        ("returns nothing", ("    return", "    found ="), "is there a `return`"),
        (
            "drops a dimension",
            ("cosines.", "part.squeeze() for part in cosines."),
            "it returned one of shape",
        ),
        (
            "counts from 1",
            ("tuple(cosines.topk(k))", "(cosines.topk(k).values, cosines.topk(k).indices + 1)"),
            "expected [[1, 0, 2]",
        ),
        (
            "looks at the first 2000 vectors",
            ("    known = vectors", "    vectors = vectors[:2000]\n    known = vectors"),
            "",
        ),
    ),
    *mistakes(
        "semantic-search",
        OURS,
        (
            "answers the first query alone",
            ("return scores, numbers", "return scores[0], numbers[0]"),
            "there are two",
        ),
    ),
]

OTHER_WAYS = [
    right(
        "bill",
        "in small steps",
        """
        def bill(n, pairs_a_second, sentences_a_second):
            pairs = n * (n - 1) // 2
            hours = pairs / (3600 * pairs_a_second)
            seconds = n / sentences_a_second
            return pairs, hours, seconds
        """,
    ),
    right(
        "bill",
        "as a sum of all the numbers below n",
        """
        import math
        def bill(n, pairs_a_second, sentences_a_second):
            pairs = math.comb(n, 2)
            return [pairs, pairs / pairs_a_second / 60 / 60, n / sentences_a_second]
        """,
    ),
    right(
        "pool",
        "with torch.where",
        """
        def pool(hidden, attention_mask, how):
            if how not in ("mean", "cls", "max"):
                raise ValueError(how)
            if attention_mask is None:
                attention_mask = torch.ones(hidden.shape[:2])
            token = attention_mask.bool()[..., None]
            if how == "cls":
                return hidden[:, 0]
            if how == "max":
                return torch.where(token, hidden, -torch.inf).amax(dim=1)
            total = torch.where(token, hidden, 0.0).sum(dim=1)
            return total / token.sum(dim=1)
        """,
    ),
    right(
        "pool",
        "sentence by sentence",
        """
        def pool(hidden, attention_mask, how):
            ways = {"mean": lambda x: x.mean(0), "cls": lambda x: x[0], "max": lambda x: x.amax(0)}
            if how not in ways:
                raise ValueError("mean, cls or max")
            rows = []
            for i in range(len(hidden)):
                n = hidden.shape[1] if attention_mask is None else int(attention_mask[i].sum())
                rows.append(ways[how](hidden[i, :n]))
            return torch.stack(rows)
        """,
    ),
    right(
        "batches-of-one-length",
        "with the first text apart",
        """
        def batches_of_one_length(lengths, most):
            order = sorted(range(len(lengths)), key=lambda number: -lengths[number])
            batches = []
            for number in order:
                if batches:
                    batch = batches[-1]
                    longest = lengths[batch[0]]
                    full = (len(batch) + 1) * longest > most
                    other = lengths[number] < longest and 4 * len(batch) * longest >= most
                if not batches or full or other:
                    batches.append([number])
                else:
                    batches[-1].append(number)
            return batches
        """,
    ),
    right(
        "batches-of-one-length",
        "a batch at a time",
        """
        def batches_of_one_length(lengths, most):
            order = sorted(range(len(lengths)), key=lengths.__getitem__, reverse=True)
            batches, start = [], 0
            while start < len(order):
                longest, end = lengths[order[start]], start + 1
                while end < len(order) and (end - start + 1) * longest <= most:
                    if lengths[order[end]] != longest and (end - start) * longest >= most / 4:
                        break
                    end += 1
                batches.append(order[start:end])
                start = end
            return batches
        """,
    ),
    right(
        "cosine-loss",
        "by dot products and lengths",
        """
        def cosine_loss(u, v, targets):
            dots = (u * v).sum(dim=-1)
            cosines = dots / (u.norm(dim=-1) * v.norm(dim=-1))
            return ((cosines - targets) ** 2).mean()
        """,
    ),
    right(
        "cosine-loss",
        "in a loop over pairs",
        """
        def cosine_loss(u, v, targets):
            losses = []
            for a, b, y in zip(u, v, targets):
                cosine = a @ b / (a @ a).sqrt() / (b @ b).sqrt()
                losses.append((cosine - y) ** 2)
            return torch.stack(losses).mean()
        """,
    ),
    right(
        "siamese-scores",
        "in two steps",
        """
        def siamese_scores(u, v, W):
            joined = torch.cat([u, v, (u - v).abs()], dim=-1)
            return joined @ W.T
        """,
    ),
    right(
        "siamese-scores",
        "W in three parts",
        """
        def siamese_scores(u, v, W):
            for_u, for_v, for_difference = W.chunk(3, dim=1)
            return u @ for_u.T + v @ for_v.T + torch.abs(v - u) @ for_difference.T
        """,
    ),
    right(
        "in-batch-negatives-loss",
        "with lengths by hand",
        """
        def in_batch_negatives_loss(u, v, *, scale=20.0):
            u, v = u / u.norm(dim=-1, keepdim=True), v / v.norm(dim=-1, keepdim=True)
            scores = scale * u @ v.T
            return F.cross_entropy(scores, torch.arange(len(u)))
        """,
    ),
    right(
        "in-batch-negatives-loss",
        "by cosine_similarity and logsumexp",
        """
        def in_batch_negatives_loss(u, v, *, scale=20.0):
            scores = scale * F.cosine_similarity(u[:, None], v[None], dim=-1)
            return (scores.logsumexp(dim=1) - scores.diagonal()).mean()
        """,
    ),
    right(
        "semantic-search",
        "with lengths by hand",
        """
        def semantic_search(query_vectors, vectors, k):
            queries = query_vectors / query_vectors.norm(dim=-1, keepdim=True)
            known = vectors / vectors.norm(dim=-1, keepdim=True)
            cosines = queries @ known.T
            return tuple(cosines.topk(k))
        """,
    ),
    right(
        "semantic-search",
        "by sorting everything",
        """
        def semantic_search(query_vectors, vectors, k):
            cosines = F.cosine_similarity(query_vectors[:, None], vectors[None], dim=-1)
            order = cosines.argsort(dim=1, descending=True)[:, :k]
            return cosines.gather(1, order), order
        """,
    ),
]
