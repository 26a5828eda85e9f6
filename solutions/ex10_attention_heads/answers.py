"""Exercise 10, attention heads: solutions that are wrong, and right ones of another kind."""

from course.answers import changed, right, wrong

ENTROPY = """
def attention_entropy(attention):
    logs = torch.where(attention > 0, attention, 1.0).log()
    terms = attention * logs
    return -terms.sum(dim=-1)
"""
OFFSET = """
def attention_to_offset(attention, offset):
    length = attention.shape[-1]
    queries = [i for i in range(length) if 0 <= i + offset < length]
    if not queries:
        raise ValueError(offset)
    keys = [i + offset for i in queries]
    return attention[..., queries, keys].mean(dim=-1)
"""
TOKENS = """
def attention_to_tokens(attention, is_target):
    mask = is_target.to(attention.dtype)
    share = (attention * mask).sum(dim=-1)
    return share.mean(dim=-1)
"""
SAME = """
def attention_to_same_word(attention, ids):
    same = ids[:, None] == ids[None, :]
    others = same & ~torch.eye(len(ids), dtype=torch.bool)
    counts = others.any(dim=-1)
    mass = (attention * others).sum(dim=-1)
    return mass[..., counts].mean(dim=-1)
"""
ROLLOUT = """
def attention_rollout(attentions):
    eye = torch.eye(attentions[0].shape[-1])
    result = eye
    for heads in attentions:
        mean = heads.mean(dim=0)
        mixed = 0.5 * mean + 0.5 * eye
        result = mixed @ result
    return result
"""
ABLATE = """
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
"""
LOTS = """
def control_labels(words, labels, seed):
    import random

    draw = random.Random(seed)
    drawn = {}
    for word in words:
        if word not in drawn:
            drawn[word] = draw.choice(labels)
    return [drawn[word] for word in words]
"""
LIBRARY = """
def {0}({1}):
    from bertlab.interpretability.{2} import {0} as answer

    return answer({1})
"""
FINALLY = """            finally:
                with torch.no_grad():
                    weight.copy_(kept)
"""
IN_ANY_CASE = """            with torch.no_grad():
                weight.copy_(kept)
"""
TYPES = "    return [drawn[word] for word in words]"


def group(task, solution, *rows):
    """Rows of one task: mistake, diagnosis, and what is changed in the right solution."""
    return [
        wrong(task, mistake, changed(solution, *changes), said) for mistake, said, *changes in rows
    ]


WRONG = [
    *group(
        "attention-entropy",
        ENTROPY,
        (
            "forgets 0 log 0",
            "0 times -inf is nan",
            ("torch.where(attention > 0, attention, 1.0)", "attention"),
        ),
        ("forgets the minus", "an entropy is not", ("-terms", "terms")),
        ("takes bits", "those are bits", (".log()", ".log2()")),
        ("takes decimal digits", "base 10", (".log()", ".log10()")),
        ("takes the mean over keys", "not their mean", ("terms.sum", "terms.mean")),
        ("sums over queries", "sum over keys, dim=-1", ("dim=-1", "dim=-2")),
        ("sums over everything", "one number for each query", ("dim=-1", "")),
        (
            "takes the mean over queries, too",
            "one number for each query",
            ("sum(dim=-1)", "sum(dim=-1).mean(dim=-1)"),
        ),
        ("keeps a dimension", "without keepdim", ("dim=-1", "dim=-1, keepdim=True")),
        ("returns the terms", "the terms of each key", ("-terms.sum(dim=-1)", "-terms")),
        ("forgets the p", "counts with its p", ("attention * logs", "logs")),
        (
            "divides by log L",
            "by the most possible",
            (
                "-terms.sum(dim=-1)",
                "-terms.sum(dim=-1) / torch.tensor(float(attention.shape[-1])).log()",
            ),
        ),
        (
            "takes the perplexity",
            "leave out the exp",
            ("-terms.sum(dim=-1)", "(-terms.sum(dim=-1)).exp()"),
        ),
        (
            "takes a softmax again",
            "no softmax a second time",
            ("    logs", "    attention = attention.softmax(dim=-1)\n    logs"),
        ),
        (
            "takes Gini's number",
            "1 minus the sum",
            ("-terms.sum(dim=-1)", "1 - (attention**2).sum(dim=-1)"),
        ),
        (
            "adds a small number",
            "A key with p = 0 adds nothing",
            ("torch.where(attention > 0, attention, 1.0)", "(attention + 1e-3)"),
        ),
        (
            "drops the zeros",
            "it returned one of shape",
            ("attention * logs", "(attention * logs)[attention > 0]"),
        ),
        ("sums over the second dimension", "count from the end", ("dim=-1", "dim=1")),
        (
            "takes the first head",
            "count from the end",
            (
                "    logs",
                "    while attention.dim() > 2:\n        attention = attention[0]\n    logs",
            ),
        ),
        (
            "returns a list",
            "it must return a tensor",
            ("-terms.sum(dim=-1)", "(-terms.sum(dim=-1)).tolist()"),
        ),
        ("returns nothing", "Is there a `return`", ("return -terms", "-terms")),
        (
            "makes 32 bits",
            "its dtype must be torch.float64",
            ("    logs", "    attention = attention.float()\n    logs"),
        ),
        (
            "writes into attention",
            "changed its input",
            ("    logs", "    attention[attention == 0] = 1\n    logs"),
        ),
    ),
    wrong(
        "attention-entropy",
        "rounds small probabilities away",
        changed(ENTROPY, ("attention > 0, attention, 1.0", "attention > 1e-4, attention, 1.0")),
        "",
    ),
    *group(
        "attention-to-offset",
        OFFSET,
        (
            "divides by L",
            "so it does not count: divide by 3",
            (".mean(dim=-1)", ".sum(dim=-1) / length"),
        ),
        (
            "runs round the edge",
            "key -1 is the last one",
            ("if 0 <= i + offset < length]", "]"),
            ("i + offset for", "(i + offset) % length for"),
        ),
        (
            "stops at the edge",
            "do not let it look at itself",
            ("if 0 <= i + offset < length]", "]"),
            ("i + offset for", "min(max(i + offset, 0), length - 1) for"),
        ),
        ("turns the sign round", "that is offset +1", ("i + offset", "i - offset")),
        ("swaps queries and keys", "that is offset +1", ("queries, keys]", "keys, queries]")),
        ("sums up", "not the sum", (".mean(dim=-1)", ".sum(dim=-1)")),
        ("ignores the offset", "that is offset 0", ("    length", "    offset = 0\n    length")),
        ("takes the largest", "not the largest", (".mean(dim=-1)", ".amax(dim=-1)")),
        ("returns all of them", "one number: the mean", (".mean(dim=-1)", "")),
        (
            "keeps a dimension",
            "without a dimension",
            (".mean(dim=-1)", ".mean(dim=-1, keepdim=True)"),
        ),
        (
            "knows only the previous token",
            "the sign of offset",
            ("    length", "    offset = -1\n    length"),
        ),
        (
            "knows only neighbours",
            "query 0 gives 0.3 to key 2",
            ("    length", "    offset = max(-1, min(1, offset))\n    length"),
        ),
        (
            "forgets the sign",
            "that is offset +1",
            ("    length", "    offset = abs(offset)\n    length"),
        ),
        (
            "counts how often it is the largest",
            "how much, not how often",
            (
                "attention[..., queries, keys].mean(dim=-1)",
                "(attention.argmax(dim=-1)[..., queries] == torch.tensor(keys)).float().mean(-1)",
            ),
        ),
        (
            "takes all tokens before",
            "not all tokens before",
            (
                "attention[..., queries, keys].mean(dim=-1)",
                "attention.tril(offset).sum(dim=-1)[..., queries].mean(dim=-1)",
            ),
        ),
        (
            "leaves out the last query only for 1",
            "leave the last query out",
            ("0 <= i + offset < length", "0 <= i + offset"),
            ("i + offset for", "min(i + offset, length - 1) for"),
        ),
        (
            "gives nan where there is no such key",
            "must raise a ValueError",
            ("        raise ValueError(offset)", "        return torch.tensor(float('nan'))"),
        ),
        (
            "gives 0 where there is no such key",
            "must raise a ValueError",
            ("        raise ValueError(offset)", "        return torch.tensor(0.0)"),
        ),
        ("raises another error", "must raise a ValueError", ("ValueError", "IndexError")),
        (
            "takes the first dimensions",
            "count from the end",
            (
                "attention[..., queries, keys].mean(dim=-1)",
                "attention.diagonal(offset).mean(dim=-1)",
            ),
        ),
        ("takes the mean over all heads", "count from the end", (".mean(dim=-1)", ".mean()")),
        (
            "reads one head alone",
            "count from the end",
            ("attention[..., queries, keys]", "attention[queries, keys]"),
            ("dim=-1", "dim=0"),
        ),
        (
            "returns a number of Python's",
            "it must return a tensor",
            (".mean(dim=-1)", ".mean(dim=-1).item()"),
        ),
        (
            "writes into attention",
            "changed its input",
            ("    length", "    attention[..., 0, 0] = 0\n    length"),
        ),
    ),
    wrong(
        "attention-to-offset",
        "refuses only what the examples refuse",
        changed(OFFSET, ("    if not queries:", "    if abs(offset) in (4, 9) and length == 4:")),
        "",
    ),
    *group(
        "attention-to-tokens",
        TOKENS,
        ("turns the mask round", "to all the others", ("is_target.to(", "(~is_target).to(")),
        (
            "takes the mean over keys",
            "a mean over keys halves it",
            (").sum(dim=-1)", ").sum(dim=-1) / is_target.sum().clamp(min=1)"),
        ),
        (
            "takes the mean over all keys",
            "over the keys a sum",
            (").sum(dim=-1)", ").mean(dim=-1)"),
        ),
        ("sums over queries", "the sum over queries", ("share.mean", "share.sum")),
        ("chooses queries", "those are rows", ("attention * mask", "attention * mask[:, None]")),
        (
            "chooses queries, and their mean",
            "those are rows",
            ("(attention * mask).sum(dim=-1)", "attention[..., is_target, :].sum(dim=-1)"),
        ),
        (
            "asks the targets alone",
            "every query counts",
            ("share.mean", "share[..., is_target].mean"),
        ),
        (
            "asks the others alone",
            "every query counts",
            ("share.mean", "share[..., ~is_target].mean"),
        ),
        (
            "takes the largest",
            "not the largest of it alone",
            ("(attention * mask).sum(dim=-1)", "(attention * mask).amax(dim=-1)"),
        ),
        (
            "counts the largest",
            "not the largest of it alone",
            (
                "(attention * mask).sum(dim=-1)",
                "is_target[attention.argmax(dim=-1)].to(attention.dtype)",
            ),
        ),
        ("forgets the mean", "one number for each [L, L]", ("share.mean(dim=-1)", "share")),
        (
            "takes the mean first",
            "first the sum over those keys",
            ("(attention * mask).sum(dim=-1)", "attention[..., is_target].mean(dim=-2)"),
            ("share.mean(dim=-1)", "share"),
        ),
        (
            "forgets both",
            "now the sum over keys",
            ("(attention * mask).sum(dim=-1)", "attention[..., is_target]"),
            ("share.mean(dim=-1)", "share"),
        ),
        (
            "divides by the number of targets",
            "so nothing goes there: 0",
            (").sum(dim=-1)", ").sum(dim=-1) / (is_target.sum() > 0)"),
        ),
        ("takes all heads together", "count from the end", ("share.mean(dim=-1)", "share.mean()")),
        (
            "chooses in the first dimensions",
            "count from the end",
            ("(attention * mask).sum(dim=-1)", "attention[:, is_target].sum(dim=1)"),
        ),
        (
            "makes 32 bits",
            "is_target.to(attention.dtype)",
            ("(attention * mask)", "(attention.float() * mask.float())"),
        ),
        (
            "multiplies 32 by 64 bits",
            "is_target.to(attention.dtype)",
            ("(attention * mask).sum(dim=-1)", "attention @ is_target.float()"),
        ),
        (
            "writes into attention",
            "changed its input",
            ("    share", "    attention[..., ~is_target] = 0\n    share"),
        ),
        ("returns nothing", "Is there a `return`", ("return share", "share")),
    ),
    wrong(
        "attention-to-tokens",
        "squeezes a layer with a single head",
        changed(TOKENS, ("(attention * mask)", "(attention.squeeze() * mask)")),
        "",
    ),
    *group(
        "attention-to-same-word",
        SAME,
        (
            "counts the query itself",
            "the diagonal, does not count",
            (" & ~torch.eye(len(ids), dtype=torch.bool)", ""),
            ("others.any(dim=-1)", "others.sum(dim=-1) > 1"),
        ),
        (
            "counts itself, for everybody",
            "a word that comes once has no other",
            (" & ~torch.eye(len(ids), dtype=torch.bool)", ""),
        ),
        ("takes the mean over all queries", "3 of the 5 here", ("mass[..., counts]", "mass")),
        (
            "takes the mean over pairs",
            "not a mean over pairs",
            ("mass[..., counts].mean(dim=-1)", "attention[..., others].mean(dim=-1)"),
        ),
        ("sums over queries", "not the sum", ("counts].mean", "counts].sum")),
        (
            "looks back only",
            "come later count as well",
            (
                "& ~torch.eye(len(ids), dtype=torch.bool)",
                "& torch.ones(len(ids), len(ids)).tril(-1).bool()",
            ),
        ),
        (
            "looks back only, for all three",
            "come later count as well",
            ("mass = (attention * others)", "mass = (attention * others.tril(-1))"),
        ),
        (
            "looks ahead only",
            "come later count as well",
            ("mass = (attention * others)", "mass = (attention * others.triu(1))"),
        ),
        (
            "takes the nearest by strength",
            "not one of them",
            ("(attention * others).sum(dim=-1)", "(attention * others).amax(dim=-1)"),
        ),
        (
            "takes the first other",
            "not one of them",
            (
                "(attention * others).sum(dim=-1)",
                "(attention * F.one_hot(others.int().argmax(dim=-1), len(ids))).sum(dim=-1)",
            ),
        ),
        (
            "takes the other words",
            "goes to the other words",
            ("(attention * others)", "(attention * ~same)"),
        ),
        (
            "takes the mean over keys",
            "not a mean over pairs",
            ("sum(dim=-1)", "sum(dim=-1) / others.sum(dim=-1)"),
        ),
        (
            "takes all means",
            "the mean over both is too small",
            ("(attention * others).sum(dim=-1)", "(attention * others).mean(dim=-1)"),
            ("mass[..., counts]", "mass"),
        ),
        ("forgets the mean", "one number for each [L, L]", (".mean(dim=-1)", "")),
        (
            "forgets the mean over all",
            "one number for each [L, L]",
            ("mass[..., counts].mean(dim=-1)", "mass"),
        ),
        (
            "returns the matrix",
            "now the sum over the keys",
            ("mass[..., counts].mean(dim=-1)", "attention * others"),
        ),
        (
            "gives 0 where no word comes twice",
            "taken for a head that looks away",
            (".mean(dim=-1)", ".mean(dim=-1).nan_to_num()"),
        ),
        (
            "raises an error where no word comes twice",
            "no word comes twice",
            ("    mass =", "    assert counts.any()\n    mass ="),
        ),
        (
            "gives a single nan for all heads",
            "nan for each head",
            (
                "    mass =",
                "    if not counts.any():\n        return torch.tensor(float('nan'))\n    mass =",
            ),
        ),
        (
            "knows one word alone",
            "two words that come more than once",
            ("    counts", "    others = others & (ids == ids[0])\n    counts"),
        ),
        ("takes all heads together", "count from the end", (".mean(dim=-1)", ".mean()")),
        (
            "reads one head alone",
            "count from the end",
            ("mass[..., counts].mean(dim=-1)", "mass[counts].mean(dim=0)"),
        ),
        (
            "writes into attention",
            "changed its input",
            ("    mass", "    attention *= others\n    mass"),
        ),
        (
            "compares neighbours",
            "id 7 stands at 0, 2 and 3",
            ("ids[:, None] == ids[None, :]", "(ids[:, None] - ids[None, :]).abs() <= 1"),
        ),
        (
            "takes ids as small numbers",
            "some words once",
            (
                "    same",
                "    ids = ids.to(torch.uint8) // 2 * 2 if ids.max() > 99 else ids\n    same",
            ),
        ),
    ),
    wrong(
        "attention-to-same-word",
        "knows small texts alone",
        changed(
            SAME,
            ("    counts", "    if len(ids) == 150:\n        others = others.tril()\n    counts"),
        ),
        "",
    ),
    *group(
        "attention-rollout",
        ROLLOUT,
        (
            "forgets the residual connection",
            "the residual connection is missing",
            ("0.5 * mean + 0.5 * eye", "mean"),
        ),
        ("adds without halving", "A + I sums to 2", ("0.5 * mean + 0.5 * eye", "mean + eye")),
        ("halves attention alone", "rows sum to 1", ("0.5 * mean + 0.5 * eye", "0.5 * mean + eye")),
        (
            "takes the largest of the heads",
            "their largest is something else",
            ("heads.mean(dim=0)", "heads.amax(dim=0)"),
        ),
        (
            "sums over heads",
            "not their sum",
            ("heads.mean(dim=0)", "heads.sum(dim=0)"),
        ),
        ("takes the first head", "all heads count", ("heads.mean(dim=0)", "heads[0]")),
        ("takes the last head", "all heads count", ("heads.mean(dim=0)", "heads[-1]")),
        ("takes the mean over queries", "heads are dim=0", ("dim=0", "dim=1")),
        ("takes the mean over keys", "heads are dim=0", ("dim=0", "dim=2")),
        (
            "turns rows and columns round",
            "no transpose",
            ("heads.mean(dim=0)", "heads.mean(dim=0).T"),
        ),
        ("adds 0.5 everywhere", "ones on its diagonal alone", ("0.5 * eye", "0.5")),
        (
            "normalises columns",
            "rows sum to 1, not columns",
            ("0.5 * mean + 0.5 * eye", "(mean + eye) / (mean + eye).sum(dim=0)"),
        ),
        (
            "leaves the lowest layer out",
            "the lowest layer counts",
            ("in attentions:", "in attentions[1:]:"),
        ),
        ("keeps the heads", "first their mean", ("heads.mean(dim=0)", "heads")),
        ("multiplies from the wrong side", "upper @ lower", ("mixed @ result", "result @ mixed")),
        (
            "goes from top to bottom",
            "upper @ lower",
            ("in attentions:", "in list(attentions)[::-1]:"),
        ),
        ("keeps the last layer alone", "the lower layer is lost", ("mixed @ result", "mixed")),
        (
            "keeps the first layer alone",
            "the upper layer is lost",
            ("in attentions:", "in attentions[:1]:"),
        ),
        (
            "multiplies number by number",
            "* multiplies number by number",
            ("result = eye", "result = 1.0"),
            ("mixed @ result", "mixed * result"),
        ),
        (
            "takes the mean over layers",
            "that is their mean",
            ("result = eye", "result = 0 * eye"),
            ("mixed @ result", "result + mixed / len(attentions)"),
        ),
        (
            "sums over layers",
            "that is their sum",
            ("result = eye", "result = 0 * eye"),
            ("mixed @ result", "result + mixed"),
        ),
        ("transposes at the end", "no transpose", ("return result", "return result.T")),
        (
            "transposes the upper layer",
            "no transpose",
            ("mixed @ result", "mixed.T @ result if result is not eye else mixed"),
        ),
        (
            "takes the lowest layer twice",
            "each layer counts once",
            (
                "result = eye",
                "result = (attentions[0].mean(dim=0) + eye) / 2 if attentions[1:] else eye",
            ),
        ),
        (
            "adds the residual connection at the end",
            "before layers are multiplied",
            ("0.5 * mean + 0.5 * eye", "mean"),
            ("return result", "return 0.5 * result + 0.5 * eye"),
        ),
        (
            "adds it to what is rolled out",
            "not to what has been rolled out",
            ("0.5 * mean + 0.5 * eye", "mean"),
            ("mixed @ result", "0.5 * mixed @ result + 0.5 * eye"),
        ),
        (
            "adds it in the lowest layer alone",
            "missing in the upper layer",
            ("0.5 * mean + 0.5 * eye", "0.5 * mean + 0.5 * eye if result is eye else mean"),
        ),
        (
            "knows two layers alone",
            "three layers, in a tuple",
            ("in attentions:", "in attentions[:2]:"),
        ),
        ("wants a list", "raised", ("    eye", "    attentions = attentions + []\n    eye")),
        (
            "writes into the heads",
            "changed its input",
            ("        mean =", "        heads += torch.eye(heads.shape[-1])\n        mean ="),
        ),
        ("returns nothing", "Is there a `return`", ("return result", "result")),
    ),
    wrong(
        "attention-rollout",
        "knows the depths of the examples",
        changed(
            ROLLOUT,
            ("    return result", "    return result if len(attentions) != 4 else result.T"),
        ),
        "",
    ),
    *group(
        "ablate-each-head",
        ABLATE,
        (
            "silences rows",
            "those are rows",
            ("weight[:, h * d : (h + 1) * d]", "weight[h * d : (h + 1) * d]"),
        ),
        (
            "silences every n-th column",
            "every second column is no head",
            ("weight[:, h * d : (h + 1) * d]", "weight[:, h::n_heads]"),
        ),
        (
            "silences one column",
            "those are single columns",
            ("weight[:, h * d : (h + 1) * d]", "weight[:, h]"),
        ),
        (
            "begins at column h",
            "begins at column D // n_heads",
            ("h * d : (h + 1) * d", "h : h + d"),
        ),
        ("turns the sign round", "a rise is positive", ("loss() - before", "before - loss()")),
        ("returns losses", "subtract what it is with all heads", ("loss() - before", "loss()")),
        (
            "divides by the loss",
            "not a share of the loss",
            ("loss() - before", "(loss() - before) / before"),
        ),
        (
            "silences all the others",
            "the others are to speak",
            (
                "weight[:, h * d : (h + 1) * d] = 0",
                "weight[:, [c for c in range(len(weight)) if c // d != h]] = 0",
            ),
        ),
        (
            "does not put back",
            "bit for bit",
            (FINALLY, "            finally:\n                pass\n"),
        ),
        (
            "puts back a view",
            "is a view, which changes with the weights",
            ("weight.detach().clone()", "weight.detach()"),
        ),
        (
            "puts back only at the end",
            "head 0 must speak again",
            ("            kept = weight.detach().clone()\n", ""),
            ("        for h in", "        kept = weight.detach().clone()\n        for h in"),
            (
                FINALLY,
                "            finally:\n                pass\n"
                "        with torch.no_grad():\n            weight.copy_(kept)\n",
            ),
        ),
        (
            "makes columns small, then large again",
            "bit for bit",
            ("h * d : (h + 1) * d] = 0", "h * d : (h + 1) * d] *= 1e-7"),
            ("weight.copy_(kept)", "weight[:, h * d : (h + 1) * d] /= 1e-7"),
        ),
        (
            "changes a copy",
            "the loss has not changed",
            ("                    weight[:,", "                    weight.clone()[:,"),
        ),
        (
            "asks before it silences",
            "the loss has not changed",
            ("            try:\n", "            now = loss()\n            try:\n"),
            ("loss() - before\n", "now - before\n"),
        ),
        (
            "forgets no_grad",
            "says that you do not",
            (
                "                with torch.no_grad():\n                    weight[:, h",
                "                if True:\n                    weight[:, h",
            ),
        ),
        (
            "puts other matrices into the list",
            "the loss has not changed",
            (
                "                    weight[:, h * d : (h + 1) * d] = 0",
                "                    outputs = [torch.zeros_like(weight)]",
            ),
        ),
        (
            "is not there when the loss fails",
            "left without a head",
            ("            try:\n", "            if True:\n"),
            (FINALLY, IN_ANY_CASE),
        ),
        (
            "swallows the error",
            "must reach the caller",
            (
                "            finally:",
                "            except MemoryError:\n                pass\n            finally:",
            ),
        ),
        ("returns a single row", "a row for each layer", ("return rises", "return rises[0]")),
        ("returns columns", "a row for each layer", ("return rises", "return rises.T")),
        ("returns a list", "it must return a tensor", ("return rises", "return rises.tolist()")),
        (
            "silences a head in all layers",
            "every head is silenced alone",
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
        ),
        (
            "measures the first layer alone",
            "every head is silenced alone",
            ("enumerate(outputs):", "enumerate(outputs[:1]):"),
        ),
        (
            "compares with the head before",
            "every head is silenced alone",
            (
                "rises[layer, h] = loss() - before",
                "now = loss()\n                rises[layer, h] = now - before\n"
                "                before = now if len(outputs) > 1 else before",
            ),
        ),
        (
            "takes two heads for granted",
            "every head is silenced alone",
            ("outputs[0].shape[1] // n_heads", "outputs[0].shape[1] // 2"),
        ),
        (
            "catches errors, but no interruption",
            "",
            (
                "            finally:",
                "            except Exception:\n                with torch.no_grad():\n"
                "                    weight.copy_(kept)\n                raise\n            else:",
            ),
        ),
    ),
    *group(
        "control-labels",
        LOTS,
        (
            "draws for every place",
            "one draw for each word type",
            (
                "        if word not in drawn:\n            drawn",
                "        if True:\n            drawn",
            ),
            (TYPES, "    return [draw.choice(labels) for word in words]"),
        ),
        (
            "shuffles the labels",
            "one draw for each word type",
            ("    drawn = {}", "    return draw.sample(labels, len(labels))\n    drawn = {}"),
        ),
        (
            "returns a label for each type",
            "not for each word type",
            (TYPES, "    return list(drawn.values())"),
        ),
        ("returns a dict", "it must return a list", (TYPES, "    return drawn")),
        ("returns nothing", "is there a `return`", (TYPES, "")),
        (
            "draws numbers",
            "is none of the labels",
            ("draw.choice(labels)", "draw.randrange(len(set(labels)))"),
        ),
        (
            "forgets the seed",
            "the same seed gives other labels",
            ("random.Random(seed)", "random.Random()"),
        ),
        ("seeds with a constant", "is `seed` used", ("random.Random(seed)", "random.Random(0)")),
        (
            "seeds everybody",
            "changed the global random numbers",
            ("    draw = random.Random(seed)", "    random.seed(seed)\n    draw = random"),
        ),
        (
            "seeds PyTorch for everybody",
            "changed the global random numbers",
            (
                "    draw = random.Random(seed)",
                "    torch.manual_seed(seed)\n"
                "    draw = random.Random(int(torch.randint(1 << 30, ())))",
            ),
        ),
        (
            "seeds NumPy for everybody",
            "changed the global random numbers",
            (
                "    draw = random.Random(seed)",
                "    import numpy\n\n    numpy.random.seed(seed)\n"
                "    draw = random.Random(int(numpy.random.randint(1 << 30)))",
            ),
        ),
        (
            "draws each kind alike",
            "with its repetitions",
            ("draw.choice(labels)", "draw.choice(list(dict.fromkeys(labels)))"),
        ),
        (
            "keeps the real labels",
            "is `seed` used",
            ("    drawn = {}", "    drawn = dict(zip(words, labels, strict=True))"),
        ),
        (
            "draws for a set of words",
            "dict.fromkeys(words) keeps the order",
            ("for word in words:\n        if", "for word in set(words):\n        if"),
        ),
        (
            "takes the hash of a word",
            "keeps the order",
            (
                "drawn[word] = draw.choice(labels)",
                "drawn[word] = random.Random(hash(word) + seed).choice(labels)",
            ),
        ),
        (
            "draws the most frequent label",
            "different results",
            ("draw.choice(labels)", "max(labels, key=labels.count)"),
        ),
        (
            "swaps labels of real types",
            "different results",
            ("draw.choice(labels)", "labels[words.index(word)]"),
        ),
        (
            "looks at the word's own label",
            "must not look at a word's own label",
            (
                "draw.choice(labels)",
                "draw.choice([*labels, *[labels[words.index(word)]] * (len(labels) // 3)])",
            ),
        ),
        (
            "returns a tuple",
            "it must return a list",
            (TYPES, "    return tuple(drawn[word] for word in words)"),
        ),
        (
            "sorts the words it was given",
            "changed its input",
            ("    drawn = {}", "    words.sort()\n    drawn = {}"),
        ),
    ),
    wrong(
        "control-labels",
        "draws from the first thousand labels",
        changed(LOTS, ("draw.choice(labels)", "draw.choice(labels[:1000])")),
        "",
    ),
    *[
        wrong(task, "uses the library", LIBRARY.format(*names), "cannot be the answer")
        for task, *names in (
            ("attention-entropy", "attention_entropy", "attention", "patterns"),
            ("attention-to-offset", "attention_to_offset", "attention, offset", "patterns"),
            ("attention-to-tokens", "attention_to_tokens", "attention, is_target", "patterns"),
            ("attention-to-same-word", "attention_to_same_word", "attention, ids", "patterns"),
            ("attention-rollout", "attention_rollout", "attentions", "rollout"),
            ("ablate-each-head", "ablate_each_head", "outputs, n_heads, loss", "ablation"),
            ("control-labels", "control_labels", "words, labels, seed", "probing"),
        )
    ],
]

OTHER_WAYS = [
    right("attention-entropy", "by torch.where", ENTROPY),
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
    right("attention-to-offset", "by lists of places", OFFSET),
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
    right("attention-to-tokens", "by a mask", TOKENS),
    right(
        "attention-to-tokens",
        "the mean first",
        """
        def attention_to_tokens(attention, is_target):
            return attention.mean(dim=-2)[..., is_target].sum(dim=-1)
        """,
    ),
    right(
        "attention-to-tokens",
        "by a product",
        """
        def attention_to_tokens(attention, is_target):
            return (attention @ is_target.to(attention.dtype)).mean(-1)
        """,
    ),
    right("attention-to-same-word", "by a mask", SAME),
    right(
        "attention-to-same-word",
        "by loops",
        """
        def attention_to_same_word(attention, ids):
            words, shares = ids.tolist(), []
            for i, word in enumerate(words):
                others = [j for j, other in enumerate(words) if other == word and j != i]
                if others:
                    shares.append(attention[..., i, others].sum(dim=-1))
            if not shares:
                return torch.full_like(attention[..., 0, 0], float("nan"))
            return torch.stack(shares).mean(dim=0)
        """,
    ),
    right(
        "attention-to-same-word",
        "by a division",
        """
        def attention_to_same_word(attention, ids):
            same = (ids.unsqueeze(0) == ids.unsqueeze(1)).fill_diagonal_(False)
            return (attention * same).sum(dim=(-2, -1)) / same.any(dim=1).sum()
        """,
    ),
    right("attention-rollout", "step by step", ROLLOUT),
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
    right("ablate-each-head", "with whole copies", ABLATE),
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
    right("control-labels", "word by word", LOTS),
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
]
