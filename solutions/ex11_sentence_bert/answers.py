"""Exercise 11, Sentence-BERT: wrong solutions, and right ones written differently."""

from course.answers import OURS, mistakes, right

WRONG = [
    *mistakes(
        "pool",
        "with torch.where",
        (
            "lets padding into the mean",
            ("torch.where(token, hidden, 0.0)", "hidden"),
            ("token.sum(dim=1)", "hidden.shape[1]"),
            "padding is included",
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
        ("inverts the mask", ("token =", "token = ~"), "True marks tokens"),
        (
            "leaves [CLS] out",
            ("    total", "    token = token.clone()\n    token[:, 0] = False\n    total"),
            "all of them count",
        ),
        ("takes numbers for True and False", (".bool()", ""), "0 and 1 are a mask, too"),
        (
            "lets padding into the maximum",
            ("torch.where(token, hidden, -torch.inf)", "hidden"),
            "padding is included: take the maximum",
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
            "(9, 9) is not a token",
        ),
    ),
    *mistakes(
        "batches-of-one-length",
        "with the first text as a special case",
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
            "check before the text joins",
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
            "treats a quarter as more than a quarter",
            (">= most", "> most"),
            "not less than a quarter",
        ),
        ("takes half instead of a quarter", ("4 * len", "2 * len"), "count padding, too"),
        (
            "adds the lengths, without padding",
            ("(len(batch) + 1) * longest >", "sum(lengths[n] for n in [*batch, number]) >"),
            ("len(batch) * longest >=", "sum(lengths[n] for n in batch) >="),
            "12 tokens, not 9",
        ),
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
            "treats long texts as no texts",
            ("batches = []", "batches = []\n    order = [n for n in order if lengths[n] <= most]"),
            "is in none",
        ),
        (
            "handles texts of at most 60 tokens",
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
            "Count only the tokens of this batch",
        ),
        (
            "closes a batch at a quarter, whatever comes next",
            ("lengths[number] < longest and ", ""),
            "they fit into one batch",
        ),
    ),
    *mistakes(
        "collect",
        OURS,
        (
            "is the draft",
            """
            def collect(batches):
                order = [number for numbers, _, _ in batches for number in numbers]
                pooled = torch.cat([hidden.mean(dim=1) for _, hidden, _ in batches])
                return F.normalize(pooled, dim=-1)[order]
            """,
            "is padding: use the mask and take the mean only over tokens; and the batches' rows",
        ),
        (
            "lets padding into the mean",
            ("attention_mask, ", "None, "),
            "is padding: use the mask",
        ),
        (
            "takes [CLS]",
            ('"mean"', '"cls"'),
            "the mean of text 0 is (5, 0)",
        ),
        ("takes the largest", ('"mean"', '"max"'), "the mean of text 0 is (5, 0)"),
        (
            "forgets the length",
            ('F.normalize(pool(hidden, attention_mask, "mean"), dim=-1)', "PLAIN"),
            ("PLAIN", 'pool(hidden, attention_mask, "mean")'),
            "divide every vector by its own length",
        ),
        (
            "scales columns to length 1",
            ('F.normalize(pool(hidden, attention_mask, "mean"), dim=-1)', "PLAIN"),
            ("PLAIN", 'pool(hidden, attention_mask, "mean")'),
            ("return vectors", "return F.normalize(vectors, dim=0)"),
            "not every column",
        ),
        (
            "scales tokens to length 1, too",
            ("pool(hidden, ", "pool(F.normalize(hidden, dim=-1), "),
            "the mean of text 0 is (5, 0)",
        ),
        (
            "keeps only the last batch",
            ("        vectors[numbers] =", "        vectors = torch.zeros(n_texts, 2)"),
            ("zeros(n_texts, 2)", "zeros(n_texts, hidden.shape[-1])\n        vectors[numbers] ="),
            "expected [[1, 0], [0, -1], [0.6, 0.8]]",
        ),
        (
            "forgets the last batch",
            ("in batches:", "in batches[:-1]:"),
            ("empty", "zeros"),
            "the last batch counts",
        ),
        ("returns nothing", ("    return vectors", "    vectors.sum()"), "Is there a `return`"),
        (
            "counts only texts of the first batch",
            ("sum(len(numbers) for numbers, _, _ in batches)", "len(batches[0][0])"),
            "raised IndexError",
        ),
    ),
    *mistakes(
        "collect",
        "by the inverse order",
        ("confuses the order with its inverse", (".argsort()", ""), "Row `number` of the answer"),
        ("leaves the order of the batches", ("[inverse]", ""), "Row `number` of the answer"),
        (
            "returns only the first batch",
            ("for part in parts]", "for part in parts[:1]]"),
            ("[inverse]", ""),
            "there are three",
        ),
        (
            "sorts the rows of each batch",
            """
            def collect(batches):
                rows = {}
                for numbers, hidden, mask in batches:
                    for number, vector in zip(sorted(numbers), pool(hidden, mask, "mean")):
                        rows[number] = F.normalize(vector, dim=0)
                return torch.stack([rows[number] for number in range(len(rows))])
            """,
            "expected [[1, 0], [0, -1], [0.6, 0.8]]",
        ),
        (
            "handles at most 29 texts",
            (
                "[inverse]",
                "[inverse] if len(inverse) != 30 else torch.cat([part for part in parts])",
            ),
            "",
        ),
    ),
    *mistakes(
        "examine-collect",
        OURS,
        (
            "asserts nothing",
            """
            def examine_collect(function):
                function([long, short])
            """,
            "does not notice that the draft is wrong",
        ),
        (
            "is the draft's own test",
            """
            def examine_collect(function):
                wanted = torch.tensor([[0.0, 1.0], [0.6, 0.8]])
                assert torch.allclose(function([long, short]), wanted)
            """,
            "does not notice that the draft is wrong",
        ),
        (
            "returns True or False",
            """
            def examine_collect(function):
                wanted = torch.tensor([[0.0, 1.0], [0.6, 0.8]])
                return torch.allclose(function([long, short]), wanted)
            """,
            "returned True",
        ),
        (
            "stops everything",
            """
            def examine_collect(function):
                raise AssertionError("wrong")
            """,
            "rejects your own `collect` with AssertionError: wrong",
        ),
        (
            "checks only padding",
            """
            def examine_collect(function):
                hidden = torch.tensor([[[3.0, 4.0], [9.0, -9.0]]])
                mask = torch.tensor([[True, False]])
                assert torch.allclose(function([([0], hidden, mask)]), torch.tensor([[0.6, 0.8]]))
            """,
            "leaves the vectors in the order of the batches",
        ),
        (
            "checks only directions",
            """
            def examine_collect(function):
                hidden = torch.tensor([[[3.0, 4]], [[-5, 12]], [[2, 0]]])
                mask = torch.ones(3, 1, dtype=torch.bool)
                answer = function([([1, 2, 0], hidden, mask)])
                assert F.cosine_similarity(answer, hidden[[2, 0, 1], 0]).min() > 0.999
            """,
            "gives vectors of any length",
        ),
        (
            "expects the means themselves",
            """
            def examine_collect(function):
                hidden = torch.tensor([[[3.0, 4.0], [5.0, 6.0]]])
                mask = torch.ones(1, 2, dtype=torch.bool)
                assert torch.allclose(function([([0], hidden, mask)]), torch.tensor([[4.0, 5.0]]))
            """,
            "rejects your own `collect`",
        ),
        (
            "has only texts of one token",
            """
            def examine_collect(function):
                first = torch.tensor([[[3.0, 4], [9, 9]], [[5, 0], [9, 9]]])
                kept = torch.tensor([[True, False], [True, False]])
                rest = torch.tensor([[[0.0, -2]]])
                answer = function([([2, 0], first, kept), ([1], rest, kept[:1, :1])])
                wanted = torch.tensor([[1.0, 0], [0, -1], [0.6, 0.8]])
                assert torch.allclose(answer, wanted, atol=1e-4)
            """,
            "",
        ),
        (
            "has all texts in one batch",
            (
                "    three = [([2, 0], first, kept), "
                "([1], second[:1], torch.ones(1, 1, dtype=torch.bool))]\n",
                "",
            ),
            ("    assert torch.allclose(function(batches), wanted, atol=1e-4)\n", ""),
            (
                "function(three), wanted[[0, 1, 3]]",
                "function([([1, 0], first, kept)]), wanted[[0, 3]]",
            ),
            (
                "    assert torch.allclose(function(three[::-1]), wanted[[0, 1, 3]], atol=1e-4)\n",
                "",
            ),
            "",
        ),
        (
            "checks only the first row",
            ("function(batches), wanted,", "function(batches)[:1], wanted[:1],"),
            ("function(three), wanted[[0, 1, 3]]", "function(three)[:1], wanted[:1]"),
            ("function(three[::-1]), wanted[[0, 1, 3]]", "function(three[::-1])[:1], wanted[:1]"),
            "",
        ),
        (
            "has no number below 0",
            """
            def examine_collect(function):
                first = torch.tensor([[[9.0, 1], [0, 3], [0, 8]], [[1, 24], [9, 0], [50, 40]]])
                kept = torch.tensor([[True, True, True], [True, True, False]])
                rest = torch.tensor([[[8.0, 15]]])
                batches = [([2, 0], first, kept), ([1], rest, torch.ones(1, 1, dtype=torch.bool))]
                wanted = torch.tensor([[5 / 13, 12 / 13], [8 / 17, 15 / 17], [0.6, 0.8]])
                assert torch.allclose(function(batches), wanted, atol=1e-4)
            """,
            "",
        ),
    ),
    *mistakes(
        "ranking-loss",
        OURS,
        (
            "keeps other right answers",
            ("F.pad(right, (0, len(hard)))", "F.pad(right & False, (0, len(hard)))"),
            "v_2 is the same text as v_0",
        ),
        (
            "leaves its own answer out, too",
            ("same & ~torch.eye(len(u), dtype=torch.bool)", "same"),
            "the right answer itself stays",
        ),
        (
            "gives other right answers the score 0",
            ("-torch.inf", "0.0"),
            "a score of 0 is not a share of 0",
        ),
        (
            "forgets the hard ones",
            ("torch.cat([v, hard])", "v"),
            ("F.pad(right, (0, len(hard)))", "right"),
            "the hard negatives are missing",
        ),
        (
            "takes dot products",
            ("scale * F.normalize(u, dim=-1)", "scale * u"),
            ("F.normalize(torch.cat([v, hard]), dim=-1)", "torch.cat([v, hard])"),
            "cosines, not dot products",
        ),
        ("forgets the lengths of u", ("F.normalize(u, dim=-1)", "u"), "the lengths of u, too"),
        (
            "forgets the lengths of the answers",
            ("F.normalize(torch.cat([v, hard]), dim=-1)", "torch.cat([v, hard])"),
            "the lengths of v and hard, too",
        ),
        (
            "forgets the lengths of the hard ones",
            (
                "F.normalize(torch.cat([v, hard]), dim=-1)",
                "torch.cat([F.normalize(v, dim=-1), hard])",
            ),
            "the lengths of hard, too",
        ),
        ("forgets the scale", ("scale * F", "F"), "not yet scaled"),
        (
            "divides by the scale",
            (
                "scale * F.normalize(u, dim=-1) @ answers.T",
                "F.normalize(u, dim=-1) @ answers.T / scale",
            ),
            "multiply by the scale",
        ),
        ("always uses 20", ("scale * F", "20 * F"), "use the argument `scale`"),
        ("has another default", ("scale=20.0", "scale=1.0"), "leave the first line as it is"),
        (
            "sums up",
            ("torch.arange(len(u)))", 'torch.arange(len(u)), reduction="sum")'),
            "divide by the number of pairs",
        ),
        (
            "keeps the rows apart",
            ("torch.arange(len(u)))", 'torch.arange(len(u)), reduction="none")'),
            "one number for the whole batch",
        ),
        ("changes the sign", ("return F", "return -F"), "-log p is positive"),
        ("takes softmax twice", ("(scores,", "(scores.softmax(dim=-1),"), "softmax twice"),
        (
            "runs the softmax down the columns",
            (
                "F.cross_entropy(scores, torch.arange(len(u)))",
                "-scores.log_softmax(dim=0).diagonal().mean()",
            ),
            "in each row's softmax",
        ),
        (
            "takes column 0 for all",
            ("torch.arange(len(u)))", "torch.zeros(len(u), dtype=torch.long))"),
            "not zeros",
        ),
        (
            "leaves out repeated texts for every row",
            ("F.pad(right,", "F.pad(right.any(dim=0) & (same != right) ^ right.any(dim=0),"),
            "v_2 is left out only for u_0",
        ),
        (
            "treats equal texts as further right answers",
            """
            def ranking_loss(u, v, hard, texts, *, scale=20.0):
                answers = F.normalize(torch.cat([v, hard]), dim=-1)
                logs = (scale * F.normalize(u, dim=-1) @ answers.T).log_softmax(dim=-1)
                same = F.pad(texts[:, None] == texts, (0, len(hard)))
                return -(logs * same).sum() / same.sum()
            """,
            "left out, not right answers, too",
        ),
        (
            "counts a wrong text once",
            """
            def ranking_loss(u, v, hard, texts, *, scale=20.0):
                first = [i for i, t in enumerate(texts.tolist()) if t not in texts[:i].tolist()]
                answers = F.normalize(torch.cat([v[first], hard]), dim=-1)
                scores = scale * F.normalize(u, dim=-1) @ answers.T
                kept = texts[first].tolist()
                own = torch.tensor([kept.index(t) for t in texts.tolist()])
                return F.cross_entropy(scores, own)
            """,
            "a wrong text that occurs twice counts twice",
        ),
        (
            "gives a hard one to each pair",
            """
            def ranking_loss(u, v, hard, texts, *, scale=20.0):
                u, v, hard = (F.normalize(x, dim=-1) for x in (u, v, hard))
                right = (texts[:, None] == texts) & ~torch.eye(len(u), dtype=torch.bool)
                scores = (u @ v.T).masked_fill(right, -torch.inf)
                own = (u[: len(hard)] * hard[: len(u)]).sum(dim=-1)
                own = torch.cat([own, torch.full((len(u) - len(own),), -torch.inf)])
                scores = scale * torch.cat([scores, own[:, None]], dim=1)
                return F.cross_entropy(scores, torch.arange(len(u)))
            """,
            "a hard negative is wrong for every u",
        ),
        (
            "computes exp of huge numbers",
            (
                "return F.cross_entropy(scores, torch.arange(len(u)))",
                "scores = scores.exp() / scores.exp().sum(dim=-1, keepdim=True)\n"
                "    return -scores.diagonal().log().mean()",
            ),
            "exp(1000) is infinite",
        ),
        ("returns a float", ("torch.arange(len(u)))", "torch.arange(len(u))).item()"), "a float"),
        (
            "cuts the gradient off",
            ("torch.cat([v, hard])", "torch.cat([v, hard]).detach()"),
            "stay with tensors",
        ),
        (
            "cuts the gradient of the hard ones off",
            ("torch.cat([v, hard])", "torch.cat([v, hard.detach()])"),
            "no gradient reaches argument 3",
        ),
        ("returns nothing", ("    return", "    loss ="), "Is there a `return`"),
        (
            "compares only neighbours in the batch",
            ("F.pad(right,", "F.pad(right.triu(-14).tril(14) if len(u) == 50 else right,"),
            "",
        ),
    ),
    *mistakes(
        "late-scores",
        OURS,
        (
            "lets a text's padding match",
            (".masked_fill(~text_mask[:, None], -torch.inf)", ""),
            "(-1, -1) is padding of text 1",
        ),
        ("makes a text's padding 0", ("-torch.inf", "0.0"), "a cosine of 0 is larger than -0.6"),
        (
            "lets a query's padding count",
            ("best.masked_fill(~asked, 0).sum(dim=-1) / asked.sum(dim=-1)", "best.mean(dim=-1)"),
            "(1, 7) is padding of query 1",
        ),
        (
            "counts a query's padding",
            ("asked.sum(dim=-1)", "asked.shape[-1]"),
            "divide by the query's own tokens",
        ),
        (
            "takes the sum",
            (" / asked.sum(dim=-1)", ""),
            "the mean over the query's tokens, not the sum",
        ),
        (
            "takes the mean over the text, too",
            ("-torch.inf).amax(dim=-1)", "0).sum(dim=-1) / text_mask.sum(dim=-1)[:, None]"),
            "the largest over the text's tokens, not the mean",
        ),
        (
            "takes the smallest",
            ("-torch.inf).amax", "torch.inf).amin"),
            "the largest over the text's tokens, not the smallest",
        ),
        (
            "takes dot products",
            ("F.normalize(queries, dim=-1)", "queries"),
            ("F.normalize(texts, dim=-1)", "texts"),
            "cosines, not dot products",
        ),
        (
            "forgets the lengths of the queries",
            ("F.normalize(queries, dim=-1)", "queries"),
            "the lengths of the queries' tokens, too",
        ),
        (
            "forgets the lengths of the texts",
            ("F.normalize(texts, dim=-1)", "texts"),
            "the lengths of the texts' tokens, too",
        ),
        (
            "matches from the text",
            """
            def late_scores(queries, query_mask, texts, text_mask):
                cosines = F.normalize(queries, dim=-1)[:, None] @ F.normalize(texts, dim=-1).mT
                best = cosines.masked_fill(~query_mask[:, None, :, None], -torch.inf).amax(dim=-2)
                return best.masked_fill(~text_mask, 0).sum(dim=-1) / text_mask.sum(dim=-1)
            """,
            "for each token of the *query*",
        ),
        (
            "compares the means",
            """
            def late_scores(queries, query_mask, texts, text_mask):
                u = F.normalize((queries * query_mask[..., None]).sum(dim=1), dim=-1)
                v = F.normalize((texts * text_mask[..., None]).sum(dim=1), dim=-1)
                return u @ v.T
            """,
            "not one vector per sentence",
        ),
        (
            "takes the largest of all",
            (
                "best.masked_fill(~asked, 0).sum(dim=-1) / asked.sum(dim=-1)",
                "best.masked_fill(~asked, -torch.inf).amax(dim=-1)",
            ),
            "not the largest",
        ),
        (
            "drops the sign",
            ("cosines.masked_fill(~text_mask", "cosines.abs().masked_fill(~text_mask"),
            "the sign counts",
        ),
        (
            "transposes the table",
            ("asked.sum(dim=-1)", "asked.sum(dim=-1).T.T"),
            ("    return best", "    return (best"),
            ("asked.sum(dim=-1).T.T", "asked.sum(dim=-1)).T"),
            "a row for each query",
        ),
        ("returns values and indices", ("amax(dim=-1)", "max(dim=-1)"), "raised AttributeError"),
        ("returns nothing", ("    return best", "    scores = best"), "Is there a `return`"),
        ("cuts the gradient off", ("amax(dim=-1)", "amax(dim=-1).detach()"), "stay with tensors"),
        (
            "reads at most eight tokens of a query",
            (
                "asked = query_mask[:, None]",
                "asked = query_mask[:, None] & (torch.arange(query_mask.shape[1]) < 8)",
            ),
            "",
        ),
    ),
    *mistakes(
        "late-scores",
        "pair by pair",
        (
            "compares each query with the text of its number",
            ("zip(texts, text_mask)]", "zip(texts, text_mask)][:1]"),
            "a row for each query, a column for each text",
        ),
    ),
    *mistakes(
        "without-common",
        OURS,
        (
            "forgets the mean",
            ("vectors - vectors.mean(dim=0)", "vectors"),
            "the mean is not subtracted",
        ),
        (
            "takes the mean of each vector",
            ("vectors.mean(dim=0)", "vectors.mean(dim=1, keepdim=True)"),
            "the mean over the vectors, dim=0",
        ),
        (
            "uses one number as the mean",
            ("vectors.mean(dim=0)", "vectors.mean()"),
            "the mean over the vectors, dim=0",
        ),
        (
            "forgets the length",
            (
                "F.normalize(centred - centred @ common.T @ common, dim=-1)",
                "centred - centred @ common.T @ common",
            ),
            "scale every vector to length 1",
        ),
        (
            "scales columns to length 1",
            ("common, dim=-1)", "common, dim=0)"),
            "scale every vector to length 1, not every column",
        ),
        (
            "scales vectors to length 1 first",
            ("    centred =", "    vectors = F.normalize(vectors, dim=-1)\n    centred ="),
            "scaling to length 1 is the last step",
        ),
        (
            "keeps the shared part",
            ("centred - centred @ common.T @ common", "centred @ common.T @ common"),
            "remove it, do not keep it",
        ),
        (
            "takes the narrowest directions",
            ("directions[:k]", "directions.flip(0)[:k]"),
            "the widest directions come first",
        ),
        (
            "takes one direction too many",
            ("directions[:k]", "directions[: k + 1]"),
            "k=0: subtract only the mean",
        ),
        (
            "takes one direction too few",
            ("directions[:k]", "directions[: k - 1] if k else directions[:0]"),
            "remove k of them, and the mean as well",
        ),
        (
            "takes only the k-th direction",
            ("directions[:k]", "directions[max(k - 1, 0) : k]"),
            "all of the 2 widest",
        ),
        (
            "takes columns as directions",
            ("common = directions[:k]", "common = directions[:, :k].T"),
            "60 vectors that are sums of 8 parts",
        ),
        (
            "finds the directions without centring",
            ("torch.linalg.svd(centred", "torch.linalg.svd(vectors"),
            "60 vectors that are sums of 8 parts",
        ),
        (
            "subtracts the shares as numbers",
            ("centred @ common.T @ common", "(centred @ common.T).sum(dim=-1, keepdim=True)"),
            "A share times its direction",
        ),
        (
            "drops the columns",
            ("centred - centred @ common.T @ common", "centred @ directions[k:].T"),
            "the mean is (2, 0)",
        ),
        ("returns nothing", ("    return F", "    bare = F"), "Is there a `return`"),
        (
            "writes into the vectors",
            (
                "    centred = vectors - vectors.mean(dim=0)",
                "    vectors -= vectors.mean(dim=0)\n    centred = vectors",
            ),
            "changed its input",
        ),
        ("takes at most six directions", ("directions[:k]", "directions[: min(k, 6)]"), ""),
    ),
    *mistakes(
        "predict-found",
        OURS,
        ("a share", ("return 30", "return 0.3"), "it must be a whole number from 0 to 100"),
        ("too many", ("return 30", "return 240"), "it must be a whole number from 0 to 100"),
        ("nothing", ("return 30", "pass"), "it returned None"),
    ),
]

OTHER_WAYS = [
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
        "with the first text as a special case",
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
        "collect",
        "by the inverse order",
        """
        def collect(batches):
            order = [number for numbers, _, _ in batches for number in numbers]
            parts = [(h * m[..., None]).sum(dim=1) for _, h, m in batches]
            inverse = torch.tensor(order).argsort()
            return torch.cat([F.normalize(part, dim=-1) for part in parts])[inverse]
        """,
    ),
    right(
        "collect",
        "text by text",
        """
        def collect(batches):
            found = {}
            for numbers, hidden, mask in batches:
                for number, tokens, kept in zip(numbers, hidden, mask):
                    mean = tokens[kept].mean(dim=0)
                    found[number] = mean / mean.norm()
            return torch.stack([found[number] for number in range(len(found))])
        """,
    ),
    right(
        "examine-collect",
        "against a loop of its own",
        """
        def examine_collect(function):
            draw = torch.Generator().manual_seed(3)
            texts = [torch.randn(n, 3, generator=draw) * 5 for n in (4, 1, 3, 2, 6)]
            wanted = torch.stack([t.mean(dim=0) / t.mean(dim=0).norm() for t in texts])
            for order in ([[2, 0, 3], [4, 1]], [[1], [3, 4, 2], [0]], [[4, 2, 0, 1, 3]]):
                batches = []
                for numbers in order:
                    longest = max(len(texts[n]) for n in numbers)
                    hidden = torch.full((len(numbers), longest, 3), 20.0)
                    mask = torch.zeros(len(numbers), longest, dtype=torch.bool)
                    for row, n in enumerate(numbers):
                        hidden[row, : len(texts[n])] = texts[n]
                        mask[row, : len(texts[n])] = True
                    batches.append((numbers, hidden, mask))
                answer = function(batches)
                assert answer.shape == wanted.shape
                assert (answer - wanted).abs().max() < 1e-4
        """,
    ),
    right(
        "ranking-loss",
        "row by row",
        """
        def ranking_loss(u, v, hard, texts, *, scale=20.0):
            losses = []
            for i in range(len(u)):
                wrong = torch.cat([v[texts != texts[i]], hard])
                rows = torch.cat([v[i : i + 1], wrong])
                scores = scale * F.cosine_similarity(u[i : i + 1], rows, dim=-1)
                losses.append(scores.logsumexp(dim=0) - scores[0])
            return torch.stack(losses).mean()
        """,
    ),
    right(
        "late-scores",
        "pair by pair",
        """
        def late_scores(queries, query_mask, texts, text_mask):
            rows = []
            for query, asks in zip(queries, query_mask):
                asked = query[asks] / query[asks].norm(dim=-1, keepdim=True)
                rows.append(torch.stack([
                    (asked @ (text[there] / text[there].norm(dim=-1, keepdim=True)).T)
                    .max(dim=1).values.mean()
                    for text, there in zip(texts, text_mask)]))
            return torch.stack(rows)
        """,
    ),
    right(
        "without-common",
        "by the covariance",
        """
        def without_common(vectors, k):
            left = vectors - vectors.mean(dim=0, keepdim=True)
            _, axes = torch.linalg.eigh(left.T @ left)  # columns, the narrowest first
            for axis in axes.T.flip(0)[:k]:
                left = left - (left @ axis)[:, None] * axis
            return left / left.norm(dim=1, keepdim=True)
        """,
    ),
    right(
        "predict-found",
        "one that turns out nearly right",
        """
        def predict_found():
            found = 50
            return found
        """,
    ),
]
