"""Exercise 11, Sentence-BERT: solutions that are wrong, and right ones of another kind."""

from course.answers import changed, right, wrong

BILL = """
def bill(n, pairs_a_second, sentences_a_second):
    pairs = n * (n - 1) // 2
    hours = pairs / (3600 * pairs_a_second)
    seconds = n / sentences_a_second
    return pairs, hours, seconds
"""
POOL = """
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
"""
BATCHES = """
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
"""
COSINE = """
def cosine_loss(u, v, targets):
    dots = (u * v).sum(dim=-1)
    cosines = dots / (u.norm(dim=-1) * v.norm(dim=-1))
    return ((cosines - targets) ** 2).mean()
"""
SCORES = """
def siamese_scores(u, v, W):
    joined = torch.cat([u, v, (u - v).abs()], dim=-1)
    return joined @ W.T
"""
BATCH_LOSS = """
def in_batch_negatives_loss(u, v, *, scale=20.0):
    u, v = u / u.norm(dim=-1, keepdim=True), v / v.norm(dim=-1, keepdim=True)
    scores = scale * u @ v.T
    return F.cross_entropy(scores, torch.arange(len(u)))
"""
SEARCH = """
def semantic_search(query_vectors, vectors, k):
    queries = query_vectors / query_vectors.norm(dim=-1, keepdim=True)
    known = vectors / vectors.norm(dim=-1, keepdim=True)
    cosines = queries @ known.T
    return tuple(cosines.topk(k))
"""
CROSS = "F.cross_entropy(scores, torch.arange(len(u)))"
LOG_P = "scores.log_softmax(dim=-1)"
NO_MASK = """    if attention_mask is None:
        attention_mask = torch.ones(hidden.shape[:2])
"""
UNIT_U, UNIT_V = "u / u.norm(dim=-1, keepdim=True)", "v / v.norm(dim=-1, keepdim=True)"


def group(task, solution, *rows):
    """Rows of one task: mistake, diagnosis, and what is changed in the right solution."""
    return [
        wrong(task, mistake, changed(solution, *changes), said) for mistake, said, *changes in rows
    ]


WRONG = [
    *group(
        "bill",
        BILL,
        ("counts both orders", "each of them twice", (" // 2", "")),
        ("counts a sentence with itself", "itself included", ("n * (n - 1) // 2", "n * n")),
        ("adds instead of subtracting", "n - 1, not n + 1", ("(n - 1)", "(n + 1)")),
        ("halves the square", "not n times n", ("n * (n - 1)", "n * n")),
        (
            "halves too early",
            "multiply before you halve",
            ("n * (n - 1) // 2", "n * ((n - 1) // 2)"),
        ),
        ("halves n first", "n is odd here", ("n * (n - 1) // 2", "n // 2 * (n - 1)")),
        ("counts neighbours", "A meets C, too", ("n * (n - 1) // 2", "n - 1")),
        ("makes decimals", "they are a whole number", ("// 2", "/ 2")),
        ("rounds decimals", "a float has 16 digits", ("n * (n - 1) // 2", "int(n * (n - 1) / 2)")),
        (
            "gives seconds for hours",
            "an hour has 3600",
            ("(3600 * pairs_a_second)", "pairs_a_second"),
        ),
        ("gives minutes for hours", "those are minutes", ("3600", "60")),
        (
            "multiplies by the rate",
            "divide the pairs by it",
            ("/ (3600 * pairs_a_second)", "* pairs_a_second / 3600"),
        ),
        (
            "divides sentences by the wrong rate",
            "sentences go with",
            ("n / sen", "n / pairs_a_second if 1 else n / sen"),
        ),
        (
            "lets the bi-encoder read pairs",
            "sentences, not pairs",
            ("n / sentences", "pairs / sentences"),
        ),
        ("multiplies sentences", "divide the sentences", ("n / sentences", "n * sentences")),
        (
            "gives two numbers",
            "it must return three numbers",
            ("pairs, hours, seconds", "pairs, hours"),
        ),
    ),
    wrong(
        "bill",
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
    *group(
        "pool",
        POOL,
        (
            "lets padding into the mean",
            "padding counts",
            ("torch.where(token, hidden, 0.0)", "hidden"),
            ("token.sum(dim=1)", "hidden.shape[1]"),
        ),
        (
            "divides by L",
            "divide by each row's own tokens, not L",
            ("/ token.sum(dim=1)", "/ hidden.shape[1]"),
        ),
        ("sums up", "that is the sum", (" / token.sum(dim=1)", "")),
        (
            "divides by all tokens",
            "the number of all tokens of the batch",
            ("token.sum(dim=1)", "token.sum()"),
        ),
        (
            "divides columns",
            "as [B, 1] they divide rows",
            ("token.sum(dim=1)", "attention_mask.sum(dim=1)"),
        ),
        (
            "pools over sentences",
            "dim=0 runs over sentences",
            ("0.0).sum(dim=1)", "0.0).sum(dim=0)"),
            ("token.sum(dim=1)", "token.sum(dim=0)"),
        ),
        (
            "pools over dimensions",
            "pool over its tokens, dim=1",
            ("0.0).sum(dim=1)", "0.0).mean(dim=2)"),
            (" / token.sum(dim=1)", ""),
        ),
        (
            "keeps a dimension",
            "without keepdim",
            ("0.0).sum(dim=1)", "0.0).sum(dim=1, keepdim=True)"),
            ("token.sum(dim=1)", "token.sum(dim=1, keepdim=True)"),
        ),
        (
            "turns the mask round",
            "True marks tokens",
            ("attention_mask.bool()", "~attention_mask.bool()"),
        ),
        (
            "leaves [CLS] out",
            "all of them count",
            ("    total", "    token = token.clone()\n    token[:, 0] = False\n    total"),
        ),
        (
            "takes numbers for True and False",
            "0 and 1 are a mask, too",
            ("attention_mask.bool()", "attention_mask"),
        ),
        (
            "lets padding into the maximum",
            "padding counts: take the maximum",
            ("torch.where(token, hidden, -torch.inf)", "hidden"),
        ),
        (
            "makes padding 0 for the maximum",
            "a padding of 0 is larger than -2",
            ("-torch.inf", "0.0"),
        ),
        (
            "makes padding inf for the maximum",
            "+inf is always the largest",
            ("-torch.inf", "torch.inf"),
        ),
        ("takes the smallest", "that is the smallest", ("-torch.inf).amax", "torch.inf).amin")),
        (
            "returns values and places",
            "returns the values and their places",
            ("amax(dim=1)", "max(dim=1)"),
        ),
        ("takes the last token", "that is the last token", ("hidden[:, 0]", "hidden[:, -1]")),
        (
            "takes the first sentence",
            "hidden[0] is the first sentence",
            ("hidden[:, 0]", "hidden[0]"),
        ),
        (
            "takes a dimension for cls",
            "hidden[..., 0] is one dimension",
            ("hidden[:, 0]", "hidden[..., 0]"),
        ),
        (
            "multiplies by the mask",
            "infinity times 0 is nan",
            ("torch.where(token, hidden, 0.0)", "(token * hidden)"),
        ),
        (
            "takes None for a mask",
            "raised AttributeError",
            (
                NO_MASK,
                "",
            ),
        ),
        (
            "takes any other name for the mean",
            "must raise a ValueError",
            ("        raise ValueError(how)", "        how = 'mean'"),
        ),
        ("raises another error", "must raise a ValueError", ("ValueError", "KeyError")),
        (
            "writes into hidden",
            "changed its input",
            ('    if how == "cls"', '    hidden[~token[..., 0]] = 0\n    if how == "cls"'),
        ),
        (
            "cuts the gradient off",
            "stay with tensors",
            (
                "torch.where(token, hidden, -torch.inf)",
                "torch.where(token, hidden, -torch.inf).detach()",
            ),
        ),
        (
            "takes all names in capitals, too",
            "",
            ("    if how not in", '    how = how.lower() if how else "?"\n    if how not in'),
        ),
        (
            "makes padding a small number",
            "infinity times 0 is nan",
            ("torch.where(token, hidden, -torch.inf)", "(hidden - 1e9 * ~token)"),
        ),
    ),
    *group(
        "batches-of-one-length",
        BATCHES,
        (
            "does not sort",
            "sort",
            (
                "sorted(range(len(lengths)), key=lambda number: -lengths[number])",
                "range(len(lengths))",
            ),
        ),
        ("sorts from short to long", "the longest first", ("-lengths", "lengths")),
        (
            "turns ties round",
            "the order in which they were given",
            ("-lengths[number])", "lengths[number])[::-1]"),
        ),
        (
            "gives lengths",
            "those are lengths",
            ("    return batches", "    return [[lengths[n] for n in batch] for batch in batches]"),
        ),
        (
            "counts texts",
            "number of tokens",
            ("(len(batch) + 1) * longest > most", "len(batch) >= most"),
            ("len(batch) * longest >=", "len(batch) >="),
        ),
        (
            "takes one text too many",
            "ask before the text joins",
            ("(len(batch) + 1)", "len(batch)"),
        ),
        ("takes one token too few", "`most` itself is allowed", ("> most", ">= most")),
        (
            "forgets that a batch is ever full",
            "number of tokens",
            (" or full", ""),
            ("lengths[number] < longest and ", "False and "),
        ),
        (
            "never mixes lengths",
            "takes texts of the next length, too",
            (" and 4 * len(batch) * longest >= most", ""),
        ),
        ("mixes all lengths", "begins a new one", ("full or other", "full")),
        (
            "takes a quarter for more than a quarter",
            "not less than a quarter",
            (">= most", "> most"),
        ),
        ("takes half instead of a quarter", "count padding, too", ("4 * len", "2 * len")),
        ("forgets the last text", "is in none", ("in order:", "in order[:-1]:")),
        ("returns nothing", "is there a `return`", ("    return batches", "")),
        (
            "returns tuples",
            "a list of batches, each a list",
            ("    return batches", "    return [tuple(batch) for batch in batches]"),
        ),
        (
            "sorts what it was given",
            "changed its input",
            ("    batches = []", "    lengths.sort(reverse=True)\n    batches = []"),
        ),
        (
            "fails without texts",
            "raised IndexError",
            ("    batches = []\n", "    batches = [[order.pop(0)]]\n"),
        ),
        (
            "begins with an empty batch",
            "no batch is empty",
            ("    return batches", "    return [[]] + batches"),
        ),
        (
            "takes long texts for no texts",
            "is in none",
            (
                "    for number in order:\n",
                "    order = [n for n in order if lengths[n] <= most]\n    for number in order:\n",
            ),
        ),
        (
            "knows texts of 60 tokens at most",
            "",
            ("-lengths[number])", "-min(lengths[number], 59))"),
        ),
    ),
    *group(
        "cosine-loss",
        COSINE,
        (
            "takes dot products",
            "those are dot products",
            ("dots / (u.norm(dim=-1) * v.norm(dim=-1))", "dots"),
        ),
        ("forgets the length of u", "divide by the length of u, too", ("u.norm(dim=-1) * ", "")),
        ("forgets the length of v", "divide by the length of v, too", (" * v.norm(dim=-1)", "")),
        ("sums up", "divide by the number of pairs", ("mean", "sum")),
        ("does not square", "not squared", (" ** 2", "")),
        (
            "takes absolute differences",
            "not its absolute value",
            ("((cosines - targets) ** 2)", "(cosines - targets).abs()"),
        ),
        ("takes the root", "without a root", (".mean()", ".mean().sqrt()")),
        ("takes the distance", "not 1 minus it", ("cosines - t", "1 - cosines - t")),
        (
            "ignores the targets",
            "`targets` says it",
            ("((cosines - targets) ** 2)", "(1 - cosines)"),
        ),
        (
            "takes the lengths of everything",
            "the lengths are those of single rows",
            ("u.norm(dim=-1) * v.norm(dim=-1)", "u.norm() * v.norm()"),
        ),
        (
            "takes the lengths of columns",
            "not of columns",
            ("u.norm(dim=-1) * v.norm(dim=-1)", "u.norm(dim=0) * v.norm(dim=0)"),
        ),
        ("drops the sign", "the sign counts", ("dots /", "dots.abs() /")),
        ("keeps the pairs apart", "one number for the whole batch", (".mean()", "")),
        (
            "compares every row with every one",
            "row i of v alone",
            ("(u * v).sum(dim=-1)", "u @ v.T"),
            ("u.norm(dim=-1) * v.norm(dim=-1)", "u.norm(dim=-1)[:, None] * v.norm(dim=-1)"),
        ),
        (
            "lets PyTorch do it",
            "PyTorch's cosine_similarity",
            ("dots / (u.norm(dim=-1) * v.norm(dim=-1))", "F.cosine_similarity(u, v)"),
        ),
        (
            "lets a module of PyTorch do it",
            "PyTorch's cosine_similarity",
            ("dots / (u.norm(dim=-1) * v.norm(dim=-1))", "torch.nn.CosineSimilarity()(u, v)"),
        ),
        ("gives a float", "a float", (".mean()", ".mean().item()")),
        ("cuts the gradient off", "stay with tensors", (".mean()", ".mean().detach()")),
        ("cuts half of the gradient off", "", ("(u * v)", "(u.detach() * v.detach())")),
        (
            "cuts one gradient off",
            "no gradient reaches argument 2",
            ("(u * v)", "(u * v.detach())"),
            ("* v.norm", "* v.detach().norm"),
        ),
        (
            "writes into u",
            "changed its input",
            ("    dots", "    u /= u.norm(dim=-1, keepdim=True)\n    dots"),
        ),
        (
            "adds a little to the lengths",
            "",
            ("(u.norm(dim=-1) * v.norm(dim=-1))", "(u.norm(dim=-1) * v.norm(dim=-1) + 1e-5)"),
        ),
    ),
    *group(
        "siamese-scores",
        SCORES,
        ("keeps the sign of the difference", "without its sign", (".abs()", "")),
        ("squares the difference", "not its square", (".abs()", " ** 2")),
        ("takes the product", "not the product", ("(u - v).abs()", "u * v")),
        (
            "puts the difference first",
            "the order is u, v, |u - v|",
            ("u, v, (u - v).abs()", "(u - v).abs(), u, v"),
        ),
        (
            "puts v first",
            "the order is u, v, |u - v|",
            ("u, v, (u - v).abs()", "v, u, (u - v).abs()"),
        ),
        (
            "takes the length of the difference",
            "a vector of D numbers, not a length",
            ("(u - v).abs()", "(u - v).norm(dim=-1, keepdim=True).expand_as(u)"),
        ),
        (
            "makes u and v of length 1",
            "keep their lengths",
            ("u, v, (", "F.normalize(u, dim=-1), F.normalize(v, dim=-1), ("),
        ),
        ("forgets W", "its product with W is missing", (" @ W.T", "")),
        ("forgets to turn W", "raised RuntimeError", ("W.T", "W")),
        ("puts rows below each other", "raised RuntimeError", (", dim=-1)", ")")),
        (
            "takes the softmax",
            "the softmax belongs to the loss",
            ("joined @ W.T", "(joined @ W.T).softmax(dim=-1)"),
        ),
        ("turns the scores round", "a column for each class", ("joined @ W.T", "W @ joined.T")),
        ("cuts the gradient off", "stay with tensors", ("@ W.T", "@ W.T.detach()")),
        (
            "sees the first 64 dimensions alone",
            "",
            (
                "    joined = ",
                "    if u.shape[1] == 64:\n        v = v.round(decimals=2)\n    joined = ",
            ),
        ),
    ),
    *group(
        "in-batch-negatives-loss",
        BATCH_LOSS,
        ("takes dot products", "cosines, not dot products", (UNIT_U, "u"), (UNIT_V, "v")),
        ("forgets the length of u", "the lengths of u, too", (UNIT_U, "u")),
        ("forgets the length of v", "the lengths of v, too", (UNIT_V, "v")),
        ("forgets the scale", "not yet scaled", ("scale * u", "u")),
        ("divides by the scale", "multiply by the scale", ("scale * u @ v.T", "u @ v.T / scale")),
        ("takes 20 always", "use the argument `scale`", ("scale * u", "20 * u")),
        ("has another default", "leave the first line as it is", ("scale=20.0", "scale=1.0")),
        ("asks for u, given v", "the softmax goes along the rows", ("u @ v.T", "v @ u.T")),
        (
            "asks both ways",
            "and nothing else",
            (CROSS, f"({CROSS} + F.cross_entropy(scores.T, torch.arange(len(u)))) / 2"),
        ),
        (
            "sums up",
            "divide by the number of pairs",
            ("torch.arange(len(u))", "torch.arange(len(u)), reduction='sum'"),
        ),
        ("turns the sign round", "-log p is positive", (CROSS, f"-{CROSS}")),
        ("gives p", "that is p", (CROSS, "scores.softmax(dim=-1).diagonal().mean()")),
        (
            "takes -log of the mean p",
            "not -log of the mean p",
            (CROSS, "-scores.softmax(dim=-1).diagonal().mean().log()"),
        ),
        (
            "takes column 0 for all",
            "not zeros",
            ("torch.arange(len(u))", "torch.zeros(len(u), dtype=torch.long)"),
        ),
        ("averages all columns", "the diagonal's", (CROSS, f"-{LOG_P}.mean()")),
        ("takes softmax twice", "softmax twice", ("(scores,", "(scores.softmax(dim=-1),")),
        ("forgets the softmax", "the softmax is missing", (CROSS, "-scores.diagonal().mean()")),
        (
            "leaves the right answer out of the sum",
            "it belongs into the softmax's sum",
            (
                CROSS,
                "((scores - 1e9 * torch.eye(len(u))).logsumexp(dim=-1) - scores.diagonal()).mean()",
            ),
        ),
        (
            "uses no wrong answers",
            "the wrong answers: use them",
            (CROSS, "(1 - scores.diagonal() / scale).mean()"),
        ),
        (
            "keeps the rows apart",
            "one number for the whole batch",
            ("torch.arange(len(u))", "torch.arange(len(u)), reduction='none'"),
        ),
        (
            "takes exp of huge numbers",
            "exp(1000) is infinite",
            (CROSS, "-(scores.exp().diagonal() / scores.exp().sum(dim=-1)).log().mean()"),
        ),
        ("gives a float", "it returned 0.388", (CROSS, CROSS + ".item()")),
        ("cuts the gradient off", "stay with tensors", ("scale * u", "scale * u.detach()")),
        ("returns nothing", "Is there a `return`", ("    return", "    loss =")),
        (
            "has 64 columns at most",
            "",
            ("    scores", "    v = v.round(decimals=4) if len(u) == 50 else v\n    scores"),
        ),
    ),
    *group(
        "semantic-search",
        SEARCH,
        (
            "takes dot products",
            "a long vector is no better match",
            ("query_vectors / query_vectors.norm(dim=-1, keepdim=True)", "query_vectors"),
            ("vectors / vectors.norm(dim=-1, keepdim=True)", "vectors"),
        ),
        (
            "leaves the queries as they are",
            "the queries, too",
            ("query_vectors / query_vectors.norm(dim=-1, keepdim=True)", "query_vectors"),
        ),
        (
            "leaves the vectors as they are",
            "the vectors, too",
            ("    known = vectors / vectors.norm(dim=-1, keepdim=True)", "    known = vectors"),
        ),
        ("finds the least similar", "not the smallest", ("topk(k)", "topk(k, largest=False)")),
        (
            "begins with the worst",
            "from large to small",
            ("tuple(cosines.topk(k))", "tuple(part.flip(1) for part in cosines.topk(k))"),
        ),
        (
            "drops the sign",
            "no absolute value",
            ("known.T", "known.T\n    cosines = cosines.abs()"),
        ),
        (
            "takes the first k",
            "these are unsorted",
            ("tuple(cosines.topk(k))", "(cosines[:, :k], torch.arange(k).expand(len(queries), k))"),
        ),
        (
            "takes distances",
            "cosines, not distances",
            ("tuple(cosines.topk(k))", "tuple((1 - cosines).topk(k, largest=False))"),
        ),
        (
            "returns columns",
            "[Q, k], not [k, Q]",
            ("tuple(cosines.topk(k))", "tuple(part.T for part in cosines.topk(k))"),
        ),
        ("returns all", "only k of them", ("topk(k)", "sort(descending=True)")),
        (
            "searches the queries",
            "queries @ vectors.T",
            ("queries @ known.T", "known @ queries.T"),
            ("topk(k)", "topk(min(k, 2))"),
        ),
        (
            "returns numbers first",
            "first the scores",
            ("tuple(cosines.topk(k))", "tuple(cosines.topk(k))[::-1]"),
        ),
        (
            "returns scores alone",
            "it must return two tensors",
            ("tuple(cosines.topk(k))", "cosines.topk(k).values"),
        ),
        (
            "returns decimals",
            "its dtype must be torch.int64",
            ("tuple(cosines.topk(k))", "(cosines.topk(k).values, cosines.topk(k).indices.float())"),
        ),
        ("returns nothing", "is there a `return`", ("    return", "    found =")),
        (
            "drops a dimension",
            "it returned one of shape",
            ("tuple(cosines.topk(k))", "tuple(part.squeeze() for part in cosines.topk(k))"),
        ),
        (
            "counts from 1",
            "expected [[1, 0, 2]",
            ("tuple(cosines.topk(k))", "(cosines.topk(k).values, cosines.topk(k).indices + 1)"),
        ),
        (
            "looks at the first 2000 vectors",
            "",
            ("    known = vectors", "    vectors = vectors[:2000]\n    known = vectors"),
        ),
    ),
]

OTHER_WAYS = [
    right("bill", "in small steps", BILL),
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
    right("pool", "with torch.where", POOL),
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
    right("batches-of-one-length", "with the first text apart", BATCHES),
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
    right("cosine-loss", "by dot products and lengths", COSINE),
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
    right("siamese-scores", "in two steps", SCORES),
    right(
        "siamese-scores",
        "W in three parts",
        """
        def siamese_scores(u, v, W):
            for_u, for_v, for_difference = W.chunk(3, dim=1)
            return u @ for_u.T + v @ for_v.T + torch.abs(v - u) @ for_difference.T
        """,
    ),
    right("in-batch-negatives-loss", "with lengths by hand", BATCH_LOSS),
    right(
        "in-batch-negatives-loss",
        "by cosine_similarity and logsumexp",
        """
        def in_batch_negatives_loss(u, v, *, scale=20.0):
            scores = scale * F.cosine_similarity(u[:, None], v[None], dim=-1)
            return (scores.logsumexp(dim=1) - scores.diagonal()).mean()
        """,
    ),
    right("semantic-search", "with lengths by hand", SEARCH),
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
