"""Exercise 10, attention heads: wrong solutions, and right ones written differently."""

from course.answers import OURS, mistakes, right

WRONG = [
    *mistakes(
        "attention-entropy",
        "by torch.where",
        (
            "forgets 0 log 0",
            ("torch.where(attention > 0, attention, 1.0)", "attention"),
            "0 times -inf is nan",
        ),
        ("forgets the minus", ("-terms", "terms"), "an entropy is not"),
        ("takes bits", (".log()", ".log2()"), "those are bits"),
        ("takes decimal digits", (".log()", ".log10()"), "base 10"),
        ("takes the mean over keys", ("terms.sum", "terms.mean"), "not their mean"),
        ("sums over queries", ("dim=-1", "dim=-2"), "sum over keys, dim=-1"),
        ("sums over everything", ("dim=-1", ""), "one number for each query"),
        (
            "takes the mean over queries, too",
            ("sum(dim=-1)", "sum(dim=-1).mean(dim=-1)"),
            "one number for each query",
        ),
        ("keeps a dimension", ("dim=-1", "dim=-1, keepdim=True"), "without keepdim"),
        ("returns the terms", ("-terms.sum(dim=-1)", "-terms"), "the terms of each key"),
        ("forgets the p", ("attention * logs", "logs"), "weight -log p by p"),
        (
            "divides by log L",
            (
                "-terms.sum(dim=-1)",
                "-terms.sum(dim=-1) / torch.tensor(float(attention.shape[-1])).log()",
            ),
            "by the largest possible",
        ),
        (
            "takes the perplexity",
            ("-terms.sum(dim=-1)", "(-terms.sum(dim=-1)).exp()"),
            "leave out the exp",
        ),
        (
            "applies the softmax again",
            ("    logs", "    attention = attention.softmax(dim=-1)\n    logs"),
            "no second softmax",
        ),
        ("takes the Gini index", ("-terms", "1 - (attention**2)"), "1 minus the sum"),
        (
            "adds a small number",
            ("torch.where(attention > 0, attention, 1.0)", "(attention + 1e-3)"),
            "A key with p = 0 adds nothing",
        ),
        (
            "drops the zeros",
            ("attention * logs", "(attention * logs)[attention > 0]"),
            "it returned one of shape",
        ),
        ("sums over the second dimension", ("dim=-1", "dim=1"), "count from the end"),
        (
            "takes the first head",
            (
                "    logs",
                "    while attention.dim() > 2:\n        attention = attention[0]\n    logs",
            ),
            "count from the end",
        ),
        (
            "returns a list",
            ("-terms.sum(dim=-1)", "(-terms.sum(dim=-1)).tolist()"),
            "it must return a tensor",
        ),
        ("returns nothing", ("return -terms", "-terms"), "Is there a `return`"),
        (
            "makes 32 bits",
            ("    logs", "    attention = attention.float()\n    logs"),
            "its dtype must be torch.float64",
        ),
        (
            "writes into attention",
            ("    logs", "    attention[attention == 0] = 1\n    logs"),
            "changed its input",
        ),
        ("rounds small probabilities away", ("attention > 0", "attention > 1e-4"), ""),
        (
            "uses the library",
            """
            def attention_entropy(attention):
                from bertlab.interpretability.patterns import attention_entropy as answer

                return answer(attention)
            """,
            "cannot be the answer",
        ),
    ),
    *mistakes(
        "attention-to-offset",
        "by lists of places",
        (
            "divides by L",
            (".mean(dim=-1)", ".sum(dim=-1) / length"),
            "so it does not count: divide by 3",
        ),
        (
            "wraps around the edge",
            ("if 0 <= i + offset < length]", "]"),
            ("i + offset for", "(i + offset) % length for"),
            "key -1 is the last one",
        ),
        (
            "stops at the edge",
            ("if 0 <= i + offset < length]", "]"),
            ("i + offset for", "min(max(i + offset, 0), length - 1) for"),
            "do not let it look at itself",
        ),
        (
            "changes the sign",
            ("<= i +", "<= i -"),
            ("+ offset", "- offset"),
            "that is offset +1",
        ),
        ("swaps queries and keys", ("queries, keys]", "keys, queries]"), "that is offset +1"),
        ("sums up", (".mean(dim=-1)", ".sum(dim=-1)"), "not the sum"),
        ("ignores the offset", ("    length", "    offset = 0\n    length"), "that is offset 0"),
        ("takes the largest", (".mean(dim=-1)", ".amax(dim=-1)"), "not the largest"),
        ("returns all of them", (".mean(dim=-1)", ""), "one number: the mean"),
        (
            "keeps a dimension",
            (".mean(dim=-1)", ".mean(dim=-1, keepdim=True)"),
            "without a dimension",
        ),
        (
            "knows only the previous token",
            ("    length", "    offset = -1\n    length"),
            "the sign of offset",
        ),
        (
            "knows only neighbours",
            ("    length", "    offset = max(-1, min(1, offset))\n    length"),
            "query 0 gives 0.3 to key 2",
        ),
        (
            "forgets the sign",
            ("    length", "    offset = abs(offset)\n    length"),
            "that is offset +1",
        ),
        (
            "counts how often it is the largest",
            (
                "attention[..., queries, keys].mean(dim=-1)",
                "(attention.argmax(dim=-1)[..., queries] == torch.tensor(keys)).float().mean(-1)",
            ),
            "how much, not how often",
        ),
        (
            "takes all tokens before",
            ("attention[..., queries, keys]", "attention.tril(offset).sum(dim=-1)[..., queries]"),
            "not all tokens before",
        ),
        (
            "leaves out the last query only for 1",
            ("0 <= i + offset < length", "0 <= i + offset"),
            ("i + offset for", "min(i + offset, length - 1) for"),
            "leave the last query out",
        ),
        (
            "gives nan where there is no such key",
            ("raise ValueError(offset)", "return torch.tensor(float('nan'))"),
            "must raise a ValueError",
        ),
        (
            "gives 0 where there is no such key",
            ("raise ValueError(offset)", "return torch.tensor(0.0)"),
            "must raise a ValueError",
        ),
        ("raises another error", ("ValueError", "IndexError"), "must raise a ValueError"),
        (
            "uses the first dimensions",
            ("attention[..., queries, keys]", "attention.diagonal(offset)"),
            "count from the end",
        ),
        ("takes the mean over all heads", (".mean(dim=-1)", ".mean()"), "count from the end"),
        (
            "reads only one head",
            ("attention[..., queries, keys]", "attention[queries, keys]"),
            ("dim=-1", "dim=0"),
            "count from the end",
        ),
        (
            "returns a number of Python's",
            (".mean(dim=-1)", ".mean(dim=-1).item()"),
            "it must return a tensor",
        ),
        (
            "writes into attention",
            ("    length", "    attention[..., 0, 0] = 0\n    length"),
            "changed its input",
        ),
        (
            "rejects only what the examples reject",
            ("not queries", "abs(offset) in (4, 9) and length == 4"),
            "",
        ),
        (
            "uses the library",
            """
            def attention_to_offset(attention, offset):
                from bertlab.interpretability.patterns import attention_to_offset as answer

                return answer(attention, offset)
            """,
            "cannot be the answer",
        ),
    ),
    *mistakes(
        "attention-to-offset",
        OURS,
        (
            "counts how often it is the largest, of all queries",
            """
            def attention_to_offset(attention, offset):
                length = attention.shape[-1]
                if abs(offset) >= length:
                    raise ValueError(offset)
                largest = attention.argmax(dim=-1) == torch.arange(length) + offset
                return largest.float().mean(dim=-1)
            """,
            "how much, not how often",
        ),
    ),
    *mistakes(
        "attention-rollout",
        "step by step",
        (
            "forgets the residual connection",
            ("0.5 * mean + 0.5 * eye", "mean"),
            "the residual connection is missing",
        ),
        ("adds without halving", ("0.5 * mean + 0.5 * eye", "mean + eye"), "A + I sums to 2"),
        ("halves attention alone", ("+ 0.5 * eye", "+ eye"), "rows sum to 1"),
        (
            "takes the largest of the heads",
            ("heads.mean(dim=0)", "heads.amax(dim=0)"),
            "their largest is something else",
        ),
        ("sums over heads", ("heads.mean(dim=0)", "heads.sum(dim=0)"), "not their sum"),
        ("takes the first head", ("heads.mean(dim=0)", "heads[0]"), "all heads count"),
        ("takes the last head", ("heads.mean(dim=0)", "heads[-1]"), "all heads count"),
        ("takes the mean over queries", ("dim=0", "dim=1"), "heads are dim=0"),
        ("takes the mean over keys", ("dim=0", "dim=2"), "heads are dim=0"),
        (
            "swaps rows and columns",
            ("heads.mean(dim=0)", "heads.mean(dim=0).T"),
            "no transpose",
        ),
        ("adds 0.5 everywhere", ("0.5 * eye", "0.5"), "ones only on its diagonal"),
        (
            "normalises columns",
            ("0.5 * mean + 0.5 * eye", "(mean + eye) / (mean + eye).sum(dim=0)"),
            "rows sum to 1, not columns",
        ),
        (
            "leaves the lowest layer out",
            ("in attentions:", "in attentions[1:]:"),
            "the lowest layer counts",
        ),
        ("keeps the heads", ("heads.mean(dim=0)", "heads"), "first their mean"),
        ("multiplies from the wrong side", ("mixed @ result", "result @ mixed"), "upper @ lower"),
        (
            "goes from top to bottom",
            ("in attentions:", "in list(attentions)[::-1]:"),
            "upper @ lower",
        ),
        ("keeps only the last layer", ("mixed @ result", "mixed"), "the lower layer is lost"),
        (
            "keeps only the first layer",
            ("in attentions:", "in attentions[:1]:"),
            "the upper layer is lost",
        ),
        (
            "multiplies number by number",
            ("result = eye", "result = 1.0"),
            ("mixed @ result", "mixed * result"),
            "* multiplies number by number",
        ),
        (
            "takes the mean over layers",
            ("result = eye", "result = 0 * eye"),
            ("mixed @ result", "result + mixed / len(attentions)"),
            "that is their mean",
        ),
        (
            "sums over layers",
            ("result = eye", "result = 0 * eye"),
            ("mixed @ result", "result + mixed"),
            "that is their sum",
        ),
        ("transposes at the end", ("return result", "return result.T"), "no transpose"),
        (
            "transposes the upper layer",
            ("mixed @ result", "mixed.T @ result if result is not eye else mixed"),
            "no transpose",
        ),
        (
            "takes the lowest layer twice",
            (
                "result = eye",
                "result = (attentions[0].mean(dim=0) + eye) / 2 if attentions[1:] else eye",
            ),
            "each layer counts once",
        ),
        (
            "adds the residual connection at the end",
            ("0.5 * mean + 0.5 * eye", "mean"),
            ("return result", "return 0.5 * result + 0.5 * eye"),
            "before layers are multiplied",
        ),
        (
            "adds it to the rollout",
            ("0.5 * mean + 0.5 * eye", "mean"),
            ("mixed @ result", "0.5 * mixed @ result + 0.5 * eye"),
            "not to the rollout",
        ),
        (
            "adds it only in the lowest layer",
            ("+ 0.5 * eye", "+ 0.5 * eye if result is eye else mean"),
            "missing in the upper layer",
        ),
        (
            "handles only two layers",
            ("in attentions:", "in attentions[:2]:"),
            "three layers, in a tuple",
        ),
        ("requires a list", ("    eye", "    attentions = attentions + []\n    eye"), "raised"),
        (
            "writes into the heads",
            ("        mean =", "        heads += torch.eye(heads.shape[-1])\n        mean ="),
            "changed its input",
        ),
        ("returns nothing", ("return result", "result"), "Is there a `return`"),
        (
            "handles the depths of the examples",
            ("    return result", "    return result if len(attentions) != 4 else result.T"),
            "",
        ),
        (
            "uses the library",
            """
            def attention_rollout(attentions):
                from bertlab.interpretability.rollout import attention_rollout as answer

                return answer(attentions)
            """,
            "cannot be the answer",
        ),
    ),
    *mistakes(
        "attention-rollout",
        OURS,
        (
            "keeps the layers apart",
            """
            def attention_rollout(attentions):
                identity = torch.eye(attentions[0].shape[-1])
                return torch.stack([(heads.mean(dim=0) + identity) / 2 for heads in attentions])
            """,
            "multiply the layers with each other",
        ),
    ),
    *mistakes(
        "ablate-each-head",
        "with whole copies",
        ("silences rows", (":, h * d", "h * d"), "those are rows"),
        (
            "silences every n-th column",
            ("* d : (h + 1) * d", "::n_heads"),
            "every second column is not a head",
        ),
        ("silences one column", (" * d : (h + 1) * d", ""), "those are single columns"),
        (
            "begins at column h",
            ("h * d : (h + 1) * d", "h : h + d"),
            "begins at column D // n_heads",
        ),
        ("changes the sign", ("loss() - before", "before - loss()"), "a rise is positive"),
        ("returns losses", ("loss() - before", "loss()"), "subtract the loss with all heads"),
        (
            "divides by the loss",
            ("loss() - before", "(loss() - before) / before"),
            "not a share of the loss",
        ),
        (
            "silences all the others",
            ("h * d : (h + 1) * d", "[c for c in range(len(weight)) if c // d != h]"),
            "keep the others",
        ),
        (
            "does not restore",
            ("with torch.no_grad():\n                    weight.copy_(kept)", "pass"),
            "bit for bit",
        ),
        ("restores from a view", (".clone()", ""), "is a view, which changes with the weights"),
        (
            "restores only at the end",
            (
                "for h in range(n_heads):",
                "kept = weight.detach().clone()\n        for h in range(n_heads):",
            ),
            ("            kept = weight.detach().clone()\n", ""),
            (
                "with torch.no_grad():\n                    weight.copy_(kept)",
                "pass\n        with torch.no_grad():\n            weight.copy_(kept)",
            ),
            "restore head 0",
        ),
        (
            "makes columns small, then large again",
            ("= 0", "*= 1e-7"),
            ("weight.copy_(kept)", "weight[:, h * d : (h + 1) * d] /= 1e-7"),
            "bit for bit",
        ),
        (
            "changes a copy",
            ("                    weight[:,", "                    weight.clone()[:,"),
            "the loss has not changed",
        ),
        (
            "calls the loss before it silences",
            ("try:", "now = loss()\n            try:"),
            ("loss() - before", "now - before"),
            "the loss has not changed",
        ),
        (
            "forgets no_grad",
            (
                "                with torch.no_grad():\n                    weight[:, h",
                "                if True:\n                    weight[:, h",
            ),
            "PyTorch assumes that you train",
        ),
        (
            "puts other matrices into the list",
            ("weight[:, h * d : (h + 1) * d] = 0", "outputs = [torch.zeros_like(weight)]"),
            "the loss has not changed",
        ),
        (
            "does not restore when the loss fails",
            ("try:", "if True:"),
            ("finally:", "with torch.no_grad():"),
            ("with torch.no_grad():\n                    weight.copy_(kept)", "weight.copy_(kept)"),
            "left without a head",
        ),
        (
            "swallows the error",
            ("finally:", "except MemoryError:\n                pass\n            finally:"),
            "must reach the caller",
        ),
        ("returns a single row", ("return rises", "return rises[0]"), "a row for each layer"),
        ("returns columns", ("return rises", "return rises.T"), "a row for each layer"),
        ("returns a list", ("return rises", "return rises.tolist()"), "it must return a tensor"),
        (
            "silences a head in all layers",
            (
                "                    weight[:, h * d : (h + 1) * d] = 0",
                "                    for every in outputs:\n"
                "                        every[:, h * d : (h + 1) * d] = 0",
            ),
            (
                "kept = weight.detach().clone()",
                "kept = [every.detach().clone() for every in outputs]",
            ),
            (
                "                    weight.copy_(kept)",
                "                    for every, old in zip(outputs, kept):\n"
                "                        every.copy_(old)",
            ),
            "silence one head at a time",
        ),
        (
            "measures only the first layer",
            ("enumerate(outputs):", "enumerate(outputs[:1]):"),
            "silence one head at a time",
        ),
        (
            "compares with the head before",
            (
                "rises[layer, h] = loss() - before",
                "now = loss()\n"
                "                rises[layer, h] = now - before\n"
                "                before = now if len(outputs) > 1 else before",
            ),
            "silence one head at a time",
        ),
        ("assumes two heads", ("// n_heads", "// 2"), "silence one head at a time"),
        (
            "catches errors, but no interruption",
            (
                "finally:",
                "except Exception:\n"
                "                with torch.no_grad():\n"
                "                    weight.copy_(kept)\n"
                "                raise\n"
                "            else:",
            ),
            "",
        ),
        (
            "uses the library",
            """
            def ablate_each_head(outputs, n_heads, loss):
                from bertlab.interpretability.ablation import ablate_each_head as answer

                return answer(outputs, n_heads, loss)
            """,
            "cannot be the answer",
        ),
    ),
    *mistakes(
        "control-labels",
        "word by word",
        (
            "draws for every place",
            ("word not in drawn", "True"),
            ("drawn[word] for", "draw.choice(labels) for"),
            "one draw for each word type",
        ),
        (
            "shuffles the labels",
            ("    drawn = {}", "    return draw.sample(labels, len(labels))\n    drawn = {}"),
            "one draw for each word type",
        ),
        (
            "returns a label for each type",
            ("[drawn[word] for word in words]", "list(drawn.values())"),
            "not for each word type",
        ),
        ("returns a dict", ("[drawn[word] for word in words]", "drawn"), "it must return a list"),
        (
            "returns nothing",
            ("    return [drawn[word] for word in words]", ""),
            "is there a `return`",
        ),
        (
            "draws numbers",
            ("draw.choice(labels)", "draw.randrange(len(set(labels)))"),
            "is not one of the labels",
        ),
        (
            "forgets the seed",
            ("random.Random(seed)", "random.Random()"),
            "the same seed gives other labels",
        ),
        ("seeds with a constant", ("random.Random(seed)", "random.Random(0)"), "is `seed` used"),
        (
            "seeds the global generators",
            ("    draw = random.Random(seed)", "    random.seed(seed)\n    draw = random"),
            "changed the global random numbers",
        ),
        (
            "seeds PyTorch globally",
            (
                "    draw = random.Random(seed)",
                "    torch.manual_seed(seed)\n"
                "    draw = random.Random(int(torch.randint(1 << 30, ())))",
            ),
            "changed the global random numbers",
        ),
        (
            "seeds NumPy globally",
            (
                "    draw = random.Random(seed)",
                "    import numpy\n"
                "\n"
                "    numpy.random.seed(seed)\n"
                "    draw = random.Random(int(numpy.random.randint(1 << 30)))",
            ),
            "changed the global random numbers",
        ),
        (
            "draws each label equally often",
            ("draw.choice(labels)", "draw.choice(list(dict.fromkeys(labels)))"),
            "with its repetitions",
        ),
        (
            "keeps the real labels",
            ("    drawn = {}", "    drawn = dict(zip(words, labels, strict=True))"),
            "is `seed` used",
        ),
        (
            "draws for a set of words",
            ("words:", "set(words):"),
            "dict.fromkeys(words) keeps the order",
        ),
        (
            "takes the hash of a word",
            ("draw.choice", "random.Random(hash(word) + seed).choice"),
            "keeps the order",
        ),
        (
            "draws the most frequent label",
            ("draw.choice(labels)", "max(labels, key=labels.count)"),
            "different results",
        ),
        (
            "swaps labels of real types",
            ("draw.choice(labels)", "labels[words.index(word)]"),
            "different results",
        ),
        (
            "looks at the word's own label",
            (
                "draw.choice(labels)",
                "draw.choice([*labels, *[labels[words.index(word)]] * (len(labels) // 3)])",
            ),
            "must not look at a word's own label",
        ),
        (
            "returns a tuple",
            ("[drawn[word] for word in words]", "tuple(drawn[word] for word in words)"),
            "it must return a list",
        ),
        (
            "sorts the words it was given",
            ("    drawn = {}", "    words.sort()\n    drawn = {}"),
            "changed its input",
        ),
        (
            "draws from the first thousand labels",
            ("draw.choice(labels)", "draw.choice(labels[:1000])"),
            "",
        ),
        (
            "uses the library",
            """
            def control_labels(words, labels, seed):
                from bertlab.interpretability.probing import control_labels as answer

                return answer(words, labels, seed)
            """,
            "cannot be the answer",
        ),
    ),
    *mistakes(
        "attention-rollout",
        OURS,
        (
            "is the draft",
            """
            def attention_rollout(attentions):
                identity = torch.eye(attentions[0].shape[-1])
                rollout = identity
                for attention in attentions:
                    mixed = attention.amax(dim=0) + identity
                    rollout = rollout @ mixed
                return rollout / rollout.sum(dim=-1, keepdim=True)
            """,
            "their largest is something else",
        ),
        (
            "is the draft with the mean of the heads",
            """
            def attention_rollout(attentions):
                identity = torch.eye(attentions[0].shape[-1])
                rollout = identity
                for attention in attentions:
                    mixed = attention.mean(dim=0) + identity
                    rollout = rollout @ mixed
                return rollout / rollout.sum(dim=-1, keepdim=True)
            """,
            "the upper layer is on the left",
        ),
    ),
    *mistakes(
        "attention-after-same-word",
        OURS,
        (
            "looks at the same word",
            ("ids.roll(1)", "ids"),
            ("(place > 0) & ", ""),
            "not those places themselves",
        ),
        (
            "is the lecture's measure",
            """
            def attention_after_same_word(attention, ids):
                return attention_to_same_word(attention, ids)
            """,
            "that is the attention to the same word",
        ),
        (
            "looks at later places, too",
            ("place < place[:, None]", "abs(place - place[:, None] - 0.5) > 1"),
            "query 0 has not seen its word before",
        ),
        (
            "looks only at its own next token",
            ("place < place[:, None]", "place == place[:, None] + 1"),
            "not its own next token",
        ),
        (
            "takes the mean over all queries",
            ("[..., follows.any(dim=-1)]", ""),
            "2 of the 5 here",
        ),
        ("sums over queries", (".mean(dim=-1)", ".sum(dim=-1)"), "not the sum"),
        (
            "takes the mean over pairs",
            ("mass[..., follows.any(dim=-1)]", "attention[..., follows]"),
            "not a mean over pairs",
        ),
        (
            "takes the mean over keys",
            (".sum(dim=-1)  #", ".sum(dim=-1) / follows.sum(dim=-1)  #"),
            "not one of them or their mean",
        ),
        (
            "takes the last of those places",
            ("* follows).sum", "* (far == far.amax(-1, keepdim=True)) * follows).sum"),
            ("    mass", "    far = follows * place\n    mass"),
            "not one of them",
        ),
        (
            "takes the first of those places",
            ("* follows).sum", "* follows * (follows.int().cumsum(-1) == 1)).sum"),
            "not one of them",
        ),
        (
            "takes the strongest of them",
            ("(attention * follows).sum(dim=-1)", "(attention * follows).amax(dim=-1)"),
            "not one of them",
        ),
        ("wraps around the edge", ("(place > 0) & ", ""), "puts the last word there"),
        (
            "looks at the token before",
            ("ids.roll(1)", "ids.roll(-1)"),
            "not the token before",
        ),
        (
            "counts the query itself",
            ("place < place[:, None]", "place <= place[:, None]"),
            "for query 1 it is the query itself",
        ),
        (
            "takes all means",
            (".sum(dim=-1)", ".mean(dim=-1)"),
            "expected",
        ),
        (
            "takes all means, over all queries",
            ("(attention * follows).sum(dim=-1)", "(attention * follows)[..., follows.any(-1), :]"),
            ("mass[..., follows.any(dim=-1)].mean(dim=-1)", "mass.mean(dim=(-2, -1))"),
            "the mean over both is too small",
        ),
        ("forgets the mean", (".mean(dim=-1)", ""), "one number for each [L, L]"),
        (
            "forgets the mean over all",
            ("mass[..., follows.any(dim=-1)].mean(dim=-1)", "mass"),
            "one number for each [L, L]",
        ),
        (
            "returns the matrix",
            ("mass[..., follows.any(dim=-1)].mean(dim=-1)", "attention * follows"),
            "now the sum over the keys",
        ),
        (
            "gives 0 where there is no such key",
            (".mean(dim=-1)", ".mean(dim=-1).nan_to_num()"),
            "look like a head that attends elsewhere",
        ),
        (
            "gives a single nan for all heads",
            (
                "    mass",
                "    if not follows.any():\n        return torch.tensor(float('nan'))\n    mass",
            ),
            "nan for each head",
        ),
        ("takes all heads together", (".mean(dim=-1)", ".mean()"), "count from the end"),
        (
            "writes into attention",
            ("    mass = (attention * follows)", "    attention *= follows\n    mass = attention"),
            "changed its input",
        ),
        (
            "swaps queries and keys",
            ("attention * follows", "attention * follows.T"),
            "Query 2 gives 0.12 to key 1",
        ),
        (
            "converts ids to small integers",
            ("    place", "    ids = ids % 16_384 // 2 if ids.max() > 25_000 else ids\n    place"),
            "most words two or three times",
        ),
        (
            "handles the lengths of the examples",
            ("    mass", "    follows = follows.tril(-2) if len(ids) == 20 else follows\n    mass"),
            "",
        ),
        (
            "uses the library",
            """
            def attention_after_same_word(attention, ids):
                from bertlab.interpretability.patterns import attention_to_same_word as near

                return near(attention.roll(-1, dims=-1), ids)
            """,
            "cannot be the answer",
        ),
    ),
    *mistakes(
        "examine-rollout",
        OURS,
        (
            "asserts nothing",
            """
            def examine_rollout(function):
                function([each_other, each_other])
            """,
            "does not notice that the draft is wrong",
        ),
        (
            "is the draft's own test",
            """
            def examine_rollout(function):
                assert torch.equal(function([each_other, each_other]), torch.full((2, 2), 0.5))
                rows = function([torch.full((4, 9, 9), 1 / 9)] * 3).sum(dim=-1)
                assert torch.allclose(rows, torch.ones(9))
            """,
            "does not notice that the draft is wrong",
        ),
        (
            "returns True or False",
            """
            def examine_rollout(function):
                return torch.equal(function([each_other, each_other]), torch.full((2, 2), 0.5))
            """,
            "returned True",
        ),
        (
            "only one layer",
            """
            def examine_rollout(function):
                heads = torch.tensor([[[1.0, 0], [0.2, 0.8]], [[0, 1], [0.4, 0.6]]])
                expected = torch.tensor([[0.75, 0.25], [0.15, 0.85]])
                assert torch.allclose(function([heads]), expected, atol=1e-4)
            """,
            "multiplies from the wrong side",
        ),
        (
            "only the order",
            """
            def examine_rollout(function):
                lower = torch.tensor([[[1.0, 0], [1, 0]]])
                upper = torch.tensor([[[0.0, 1], [0, 1]]])
                rollout = function([lower, upper])
                assert rollout[0, 0] > 0.7 and rollout[1, 0] > 0.4
            """,
            "without the residual connection",
        ),
        (
            "only the statement's example",
            """
            def examine_rollout(function):
                lower = torch.tensor([[[1.0, 0], [1, 0]]])
                upper = torch.tensor([[[0.0, 1], [0, 1]]])
                expected = torch.tensor([[0.75, 0.25], [0.5, 0.5]])
                assert torch.allclose(function([lower, upper]), expected, atol=1e-4)
            """,
            "",
        ),
        (
            "expects the other order",
            (
                "above @ below, atol=1e-4)\n    assert torch.allclose(function((",
                "below @ above, atol=1e-4)\n    assert torch.allclose(function((",
            ),
            "rejects your own `attention_rollout`",
        ),
        (
            "expects rows that sum to 2",
            """
            def examine_rollout(function):
                rows = function([each_other]).sum(dim=-1)
                assert torch.allclose(rows, torch.full((2,), 2.0))
            """,
            "rejects your own `attention_rollout`",
        ),
        (
            "stops everything",
            """
            def examine_rollout(function):
                raise AssertionError("wrong")
            """,
            "rejects your own `attention_rollout` with AssertionError: wrong",
        ),
        (
            "never three layers",
            (
                "    assert torch.allclose(function((lower, upper, top)), "
                "highest @ above @ below, atol=1e-4)\n",
                "",
            ),
            "",
        ),
        (
            "checks only the sums of rows",
            """
            def examine_rollout(function):
                rows = function([torch.eye(3).roll(1, 0).expand(2, 3, 3)]).sum(dim=-1)
                assert torch.allclose(rows, torch.ones(3))
            """,
            "does not notice that the draft is wrong",
        ),
    ),
    *mistakes(
        "predict-head",
        OURS,
        ("a layer", ('"1.0"', '"1"'), 'from "0.0" to "3.3"'),
        ("nothing", ('return "1.0"', "pass"), "it returned None"),
        ("a head that does not exist", ('"1.0"', '"1.4"'), 'from "0.0" to "3.3"'),
        ("two of them", ('"1.0"', '["1.0", "0.1"]'), 'from "0.0" to "3.3"'),
        ("a number", ('"1.0"', "1.0"), 'from "0.0" to "3.3"'),
    ),
]

OTHER_WAYS = [
    right(
        "attention-entropy",
        "by torch.where",
        """
        def attention_entropy(attention):
            logs = torch.where(attention > 0, attention, 1.0).log()
            terms = attention * logs
            return -terms.sum(dim=-1)
        """,
    ),
    right(
        "attention-entropy",
        "by PyTorch's entr",
        """
        def attention_entropy(attention):
            return torch.special.entr(attention).sum(-1)
        """,
    ),
    right(
        "attention-entropy",
        "by nansum",
        """
        def attention_entropy(attention):
            return -(attention * attention.log()).nansum(dim=-1)
        """,
    ),
    right(
        "attention-entropy",
        "by a clamped logarithm",
        """
        def attention_entropy(attention):
            logs = torch.log(attention.clamp(min=1e-30))
            return -torch.einsum("...qk,...qk->...q", attention, logs)
        """,
    ),
    right(
        "attention-to-offset",
        "by lists of places",
        """
        def attention_to_offset(attention, offset):
            length = attention.shape[-1]
            queries = [i for i in range(length) if 0 <= i + offset < length]
            if not queries:
                raise ValueError(offset)
            keys = [i + offset for i in queries]
            return attention[..., queries, keys].mean(dim=-1)
        """,
    ),
    right(
        "attention-to-offset",
        "by shifted slices",
        """
        def attention_to_offset(attention, offset):
            length = attention.shape[-1]
            if not -length < offset < length:
                raise ValueError("no such key")
            if offset < 0:
                square = attention[..., -offset:, : length + offset]
            else:
                square = attention[..., : length - offset, offset:]
            eye = torch.eye(length - abs(offset), dtype=attention.dtype)
            return (square * eye).sum(dim=(-2, -1)) / (length - abs(offset))
        """,
    ),
    right(
        "attention-to-offset",
        "by a mask",
        """
        def attention_to_offset(attention, offset):
            place = torch.arange(attention.shape[-1])
            hit = place[None, :] - place[:, None] == offset
            if not hit.any():
                raise ValueError(f"no key is {offset} tokens on")
            return attention[..., hit].mean(-1)
        """,
    ),
    right(
        "attention-rollout",
        "step by step",
        """
        def attention_rollout(attentions):
            eye = torch.eye(attentions[0].shape[-1])
            result = eye
            for heads in attentions:
                mean = heads.mean(dim=0)
                mixed = 0.5 * mean + 0.5 * eye
                result = mixed @ result
            return result
        """,
    ),
    right(
        "attention-rollout",
        "normalised by its rows",
        """
        def attention_rollout(attentions):
            mixed = torch.stack(list(attentions)).mean(dim=1)
            mixed = mixed + torch.eye(mixed.shape[-1])
            mixed = mixed / mixed.sum(dim=-1, keepdim=True)
            rollout = mixed[0]
            for matrix in mixed[1:]:
                rollout = matrix.matmul(rollout)
            return rollout
        """,
    ),
    right(
        "attention-rollout",
        "from the top",
        """
        def attention_rollout(attentions):
            rollout = torch.eye(attentions[-1].size(-1))
            for heads in reversed(attentions):
                rollout = (rollout @ heads.mean(0) + rollout) / 2
            return rollout
        """,
    ),
    right(
        "ablate-each-head",
        "with whole copies",
        """
        def ablate_each_head(outputs, n_heads, loss):
            before = loss()
            d = outputs[0].shape[1] // n_heads
            rises = torch.zeros(len(outputs), n_heads)
            for layer, weight in enumerate(outputs):
                for h in range(n_heads):
                    kept = weight.detach().clone()
                    try:
                        with torch.no_grad():
                            weight[:, h * d : (h + 1) * d] = 0
                        rises[layer, h] = loss() - before
                    finally:
                        with torch.no_grad():
                            weight.copy_(kept)
            return rises
        """,
    ),
    right(
        "ablate-each-head",
        "with .data",
        """
        def ablate_each_head(outputs, n_heads, loss):
            base, rises = loss(), []
            for weight in outputs:
                for columns in weight.data.chunk(n_heads, dim=1):
                    kept = columns.clone()
                    try:
                        columns.zero_()
                        rises.append(loss() - base)
                    finally:
                        columns.copy_(kept)
            return torch.tensor(rises).view(len(outputs), n_heads)
        """,
    ),
    right(
        "ablate-each-head",
        "with except and raise",
        """
        def ablate_each_head(outputs, n_heads, loss):
            rises = []
            with torch.no_grad():
                base = loss()
                saved = [weight.clone() for weight in outputs]
                for weight, old in zip(outputs, saved):
                    row = []
                    for blank in torch.eye(n_heads):
                        silent = blank.repeat_interleave(weight.shape[1] // n_heads).bool()
                        try:
                            weight.masked_fill_(silent, 0)
                            row.append(loss() - base)
                        except BaseException:
                            weight.copy_(old)
                            raise
                        weight.copy_(old)
                    rises.append(row)
            return torch.tensor(rises)
        """,
    ),
    right(
        "control-labels",
        "word by word",
        """
        def control_labels(words, labels, seed):
            import random

            draw = random.Random(seed)
            drawn = {}
            for word in words:
                if word not in drawn:
                    drawn[word] = draw.choice(labels)
            return [drawn[word] for word in words]
        """,
    ),
    right(
        "control-labels",
        "with NumPy",
        """
        def control_labels(words, labels, seed):
            import numpy as np

            types = list(dict.fromkeys(words))
            places = np.random.default_rng(seed).integers(len(labels), size=len(types))
            label_of = {word: labels[place] for word, place in zip(types, places)}
            return [label_of[word] for word in words]
        """,
    ),
    right(
        "control-labels",
        "with PyTorch, words sorted",
        """
        def control_labels(words, labels, seed):
            draw = torch.Generator().manual_seed(seed)
            types = sorted(set(words))
            places = torch.randint(len(labels), (len(types),), generator=draw).tolist()
            label_of = {word: labels[place] for word, place in zip(types, places)}
            return [label_of[word] for word in words]
        """,
    ),
    right(
        "attention-after-same-word",
        "by loops",
        """
        def attention_after_same_word(attention, ids):
            words, shares = ids.tolist(), []
            for i, word in enumerate(words):
                keys = [k for k in range(1, i) if words[k - 1] == word]
                if keys:
                    shares.append(attention[..., i, keys].sum(dim=-1))
            if not shares:
                return torch.full_like(attention[..., 0, 0], float("nan"))
            return torch.stack(shares).mean(dim=0)
        """,
    ),
    right(
        "attention-after-same-word",
        "by a shifted square",
        """
        def attention_after_same_word(attention, ids):
            same = (ids[:, None] == ids).tril(-2)[:, :-1]  # the word's place, two before or more
            mass = (attention[..., 1:] * same).sum(dim=(-2, -1))
            return mass / same.any(dim=1).sum()
        """,
    ),
    right(
        "examine-rollout",
        "with a reference and random attention",
        """
        def examine_rollout(function):
            draw = torch.Generator().manual_seed(3)
            for n_layers in (1, 2, 3, 5):
                layers = [torch.randn(3, 4, 4, generator=draw).softmax(-1) for _ in range(n_layers)]
                before = [layer.clone() for layer in layers]
                expected = torch.eye(4)
                for layer in before:
                    expected = (0.5 * layer.mean(dim=0) + 0.5 * torch.eye(4)) @ expected
                assert torch.allclose(function(layers), expected, atol=1e-5)
                assert torch.allclose(function(tuple(layers)), expected, atol=1e-5)
                assert all(torch.equal(one, other) for one, other in zip(layers, before))
        """,
    ),
    right(
        "predict-head",
        "one that turns out right",
        """
        def predict_head():
            return "0.1"
        """,
    ),
]
