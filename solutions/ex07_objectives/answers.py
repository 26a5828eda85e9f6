"""Exercise 7, the objectives: wrong solutions, and right ones written differently."""

from course.answers import OURS, mistakes, right

WRONG = [
    *mistakes(
        "choose-tokens",
        OURS,
        (
            "chooses special tokens",
            """
            def choose_tokens(ids, special_ids, probability, generator):
                return torch.rand(ids.shape, generator=generator) < probability
            """,
            "special tokens are chosen, too",
        ),
        (
            "chooses only the special tokens",
            ("    ordinary = ~torch.isin(ids, special_ids)\n", ""),
            ("ordinary", "torch.isin(ids, special_ids)"),
            "the other way round",
        ),
        (
            "leaves out one special id only",
            ("    ordinary = ~torch.isin(ids, special_ids)\n", ""),
            ("ordinary", "(ids != special_ids[0])"),
            "there are several special ids",
        ),
        (
            "treats small ids as special ones",
            ("    ordinary = ~torch.isin(ids, special_ids)\n", ""),
            ("ordinary", "(ids > special_ids.max())"),
            "not all the small ones",
        ),
        ("compares the wrong way round", ("< probability", "> probability"), "rand < p"),
        (
            "chooses 15 % whatever is asked",
            ("< probability", "< 0.15"),
            "with probability 1 every token is chosen",
        ),
        (
            "chooses 15 % unless the probability is 0 or 1",
            """
            def choose_tokens(ids, special_ids, probability, generator):
                ordinary = ~torch.isin(ids, special_ids)
                p = probability if probability in (0, 1) else 0.15
                return ordinary & (torch.rand(ids.shape, generator=generator) < p)
            """,
            "0.15 is only an example",
        ),
        ("draws once for each place", ("ids.shape", "ids.shape[1]"), "at the same places"),
        (
            "draws once for each sequence",
            ("ids.shape", "len(ids), 1"),
            "all tokens of a sequence are chosen, or none",
        ),
        (
            "draws from PyTorch's global generator",
            (", generator=generator", ""),
            "PyTorch's global generator",
        ),
        (
            "draws with rand_like",
            ("torch.rand(ids.shape, generator=generator)", "torch.rand_like(ids.float())"),
            "PyTorch's global generator",
        ),
        (
            "draws from Python's global generator",
            """
            def choose_tokens(ids, special_ids, probability, generator):
                import random
                ordinary = ~torch.isin(ids, special_ids)
                draw = torch.tensor([[random.random() for _ in row] for row in ids])
                return ordinary & (draw < probability)
            """,
            "with generators in the same state",
        ),
        (
            "resets the generator",
            (
                "ordinary = ~torch.isin(ids, special_ids)",
                "ordinary = ~torch.isin(ids, special_ids)\n"
                "    generator = torch.Generator().manual_seed(0)",
            ),
            "the same answer for every generator",
        ),
        (
            "takes exactly 15 % of each sequence",
            """
            def choose_tokens(ids, special_ids, probability, generator):
                ordinary = ~torch.isin(ids, special_ids)
                draw = torch.rand(ids.shape, generator=generator).masked_fill(~ordinary, 2)
                n = (probability * ordinary.sum(1, keepdim=True)).round().long()
                return ordinary & (draw.argsort(1).argsort(1) < n)
            """,
            "takes exactly 15 % of each sequence",
        ),
        (
            "returns numbers",
            (
                "ordinary & (torch.rand(ids.shape, generator=generator) < probability)",
                "(ordinary & (torch.rand(ids.shape, generator=generator) < probability)).long()",
            ),
            "its dtype must be torch.bool",
        ),
        (
            "returns places",
            (
                "ordinary & (torch.rand(ids.shape, generator=generator) < probability)",
                "(ordinary & (torch.rand(ids.shape, generator=generator) < probability)).nonzero()",
            ),
            "shape [2, 5]",
        ),
        (
            "uses the word `and`",
            (
                "& (torch.rand(ids.shape, generator=generator) < probability)",
                "and torch.rand(ids.shape, generator=generator) < probability",
            ),
            "ambiguous",
        ),
        (
            "calls the library",
            """
            def choose_tokens(ids, special_ids, probability, generator):
                from bertlab.pretraining.masking import choose_tokens as answer
                return answer(ids, special_ids, probability, generator)
            """,
            "bertlab's own",
        ),
        (
            "handles four special ids",
            ("~torch.isin(ids, special_ids)", "(ids != 0) & (ids != 3) & (ids != 4) & (ids != 9)"),
            "",
        ),
    ),
    *mistakes(
        "replace-chosen",
        OURS,
        (
            "chooses among all tokens, not the chosen ones",
            ("predict & (draw < masked)", "draw < masked"),
            "nothing is chosen, so nothing changes",
        ),
        (
            "puts other words everywhere",
            ("predict & (draw >= masked)", "predict.any() & (draw >= masked)"),
            "a token that was not chosen has changed",
        ),
        (
            "masks all",
            ("draw < masked)", "draw < 2)"),
            ("draw >= masked", "draw >= 2"),
            "only 80 %",
        ),
        (
            "masks all, without drawing",
            """
            def replace_chosen(ids, predict, mask_id, ordinary_ids, shares, generator):
                return torch.where(predict, mask_id, ids)
            """,
            "only 80 % of them do",
        ),
        (
            "masks nothing",
            ("(draw < masked), mask_id", "(draw < 0), mask_id"),
            "about 80.0%, got 0.0%",
        ),
        (
            "replaces all the rest by another word",
            (" & (draw < masked + swapped)", ""),
            "the tokens left after [MASK] and random words stay",
        ),
        (
            "leaves the rest as it is",
            ("return torch.where(change, others, hidden)", "return hidden"),
            "here none does",
        ),
        (
            "masks both shares",
            ("(draw < masked), mask_id", "(draw < masked + swapped), mask_id"),
            ("(draw >= masked) & (draw < masked + swapped)", "(draw >= masked + swapped)"),
            "and the last 10 % stay",
        ),
        (
            "compares the wrong way round",
            ("(draw < masked), mask_id", "(draw > masked), mask_id"),
            ("(draw >= masked) & (draw < masked + swapped)", "(draw < swapped)"),
            "rand < 0.8 happens in 80 %",
        ),
        (
            "swaps the two shares",
            ("masked, swapped = shares", "swapped, masked = shares"),
            "not the other way round",
        ),
        (
            "draws twice, and the second overwrites the first",
            (
                "(draw >= masked) & (draw < masked + swapped)",
                "(torch.rand(ids.shape, generator=generator) < swapped)",
            ),
            "two separate draws overlap",
        ),
        (
            "takes 10 % of the rest",
            (
                "(draw < masked + swapped)",
                "(torch.rand(ids.shape, generator=generator) < swapped)",
            ),
            "half of those that do not become [MASK]",
        ),
        (
            "takes 90 % of the rest",
            (
                "(draw < masked + swapped)",
                "(torch.rand(ids.shape, generator=generator) < masked + swapped)",
            ),
            "half of those that do not become [MASK]",
        ),
        (
            "knows only 80 and 10 %",
            ("masked, swapped = shares", "masked, swapped = 0.8, 0.1"),
            "use the argument `shares`",
        ),
        (
            "always takes 10 % for other words",
            ("masked, swapped = shares", "masked, swapped = shares[0], 0.1"),
            "use the argument `shares`",
        ),
        (
            "takes the second share as an upper bound, unless it is smaller",
            (
                "masked, swapped = shares",
                "masked, swapped = shares\n"
                "    swapped = 0.1 if masked == 0.8 else max(0, swapped - masked)",
            ),
            "not where they end",
        ),
        (
            "draws once for the whole batch",
            (
                "draw = torch.rand(ids.shape, generator=generator)",
                "draw = torch.rand(1, generator=generator)",
            ),
            "one number decides for the whole batch",
        ),
        (
            "draws once for each sequence",
            (
                "draw = torch.rand(ids.shape, generator=generator)",
                "draw = torch.rand(len(ids), 1, generator=generator)",
            ),
            "of a sequence are treated alike",
        ),
        (
            "draws once for each place",
            (
                "draw = torch.rand(ids.shape, generator=generator)",
                "draw = torch.rand(ids.shape[1], generator=generator)",
            ),
            "of a place are treated alike",
        ),
        (
            "puts numbers instead of ids",
            ("words[(own + step) % len(words)]", "(own + step) % len(words)"),
            "look up the ids there",
        ),
        (
            "draws from all ids up to the largest",
            (
                "words[(own + step) % len(words)]",
                "torch.randint(int(words.max()) + 1, ids.shape, generator=generator)",
            ),
            "which is not in ordinary_ids",
        ),
        (
            "draws one word for all",
            (
                "words[(own + step) % len(words)]",
                "words[torch.randint(len(words), (1,), generator=generator)]",
            ),
            "the same random word everywhere",
        ),
        (
            "draws one word for each sequence",
            (
                "words[(own + step) % len(words)]",
                "words[torch.randint(len(words), (len(ids), 1), generator=generator)]",
            ),
            "all random words of a sequence are the same",
        ),
        (
            "prefers some words",
            (
                "words[(own + step) % len(words)]",
                "words[(torch.rand(ids.shape, generator=generator).square() * len(words)).long()]",
            ),
            "as likely as any other",
        ),
        (
            "never puts the largest id",
            (
                "words[(own + step) % len(words)]",
                "words[torch.randint(len(words) - 1, ids.shape, generator=generator)]",
            ),
            "draws from 0 to n - 1 already",
        ),
        (
            "may draw the word itself",
            (
                "words[(own + step) % len(words)]",
                "words[torch.randint(len(words), ids.shape, generator=generator)]",
            ),
            "draw among the others",
        ),
        (
            "draws again where the word itself was drawn, but only once",
            (
                "words[(own + step) % len(words)]",
                "words[torch.randint(len(words), ids.shape, generator=generator)]\n"
                "    again = words[torch.randint(len(words), ids.shape, generator=generator)]\n"
                "    others = torch.where(others == ids, again, others)",
            ),
            "a second draw",
        ),
        (
            "takes the next word where the word itself was drawn",
            (
                "words[(own + step) % len(words)]",
                "words[torch.randint(len(words), ids.shape, generator=generator)]\n"
                "    others = torch.where(others == ids, words[(own + 1) % len(words)], others)",
            ),
            "including the neighbour",
        ),
        (
            "puts [MASK] where the word itself was drawn",
            (
                "words[(own + step) % len(words)]",
                "words[torch.randint(len(words), ids.shape, generator=generator)]\n"
                "    others = torch.where(others == ids, mask_id, others)",
            ),
            "neither [MASK] nor the word itself",
        ),
        (
            "always takes the next word",
            ("words[(own + step) % len(words)]", "words[(own + 1) % len(words)]"),
            "including the neighbour",
        ),
        (
            "assumes that ordinary_ids are sorted",
            ("ordinary_ids.sort().values", "ordinary_ids"),
            "keep their own word",
        ),
        (
            "never takes the word before its own",
            ("torch.randint(1, len(words), ids", "torch.randint(1, max(2, len(words) - 1), ids"),
            "all other words are equally likely",
        ),
        (
            "draws from PyTorch's global generator",
            (", ids.shape, generator=generator", ", ids.shape"),
            "PyTorch's global generator",
        ),
        (
            "writes into the batch",
            (
                "hidden = torch.where(predict & (draw < masked), mask_id, ids)",
                "ids[predict & (draw < masked)] = mask_id",
            ),
            ("others, hidden", "others, ids"),
            "changed its input",
        ),
        ("returns decimals", ("others, hidden)", "others, hidden).float()"), "must be torch.int64"),
        (
            "masks 2 % too few",
            ("masked, swapped = shares", "masked, swapped = shares\n    masked = masked - 0.02"),
            "expected about 80.0%",
        ),
        (
            "handles at most 24 words",
            ("ordinary_ids.sort().values", "ordinary_ids.sort().values[:24]"),
            "",
        ),
    ),
    *mistakes(
        "mlm-loss",
        OURS,
        (
            "takes the logarithm to base 10",
            """
            def mlm_loss(logits, words):
                rows = torch.arange(len(words))
                return -torch.log10(logits.softmax(-1))[rows, words].mean()
            """,
            "base 10",
        ),
        (
            "takes the logarithm to base 2",
            """
            def mlm_loss(logits, words):
                rows = torch.arange(len(words))
                return -torch.log2(logits.softmax(-1))[rows, words].mean()
            """,
            "base 2",
        ),
        (
            "forgets the minus",
            """
            def mlm_loss(logits, words):
                rows = torch.arange(len(words))
                return logits.log_softmax(-1)[rows, words].mean()
            """,
            "the sign",
        ),
        (
            "returns p",
            """
            def mlm_loss(logits, words):
                rows = torch.arange(len(words))
                return logits.softmax(-1)[rows, words].mean()
            """,
            "that is p",
        ),
        (
            "returns 1 - p",
            """
            def mlm_loss(logits, words):
                rows = torch.arange(len(words))
                return 1 - logits.softmax(-1)[rows, words].mean()
            """,
            "that is 1 - p",
        ),
        (
            "does the softmax twice",
            ("logits, words,", "logits.softmax(-1), words,"),
            "softmax twice",
        ),
        (
            "takes the sum",
            (" / max(1, len(words))", ""),
            "that is the sum; divide by the number of masked positions",
        ),
        (
            "divides by the vocabulary, too",
            ("len(words)", "logits.numel()"),
            "not over the words of the vocabulary",
        ),
        (
            "counts all words",
            (
                'F.cross_entropy(logits, words, reduction="sum") / max(1, len(words))',
                "-logits.log_softmax(-1).mean()",
            ),
            "only the true word's log p counts",
        ),
        (
            "asks for each word separately",
            """
            def mlm_loss(logits, words):
                p, y = logits.softmax(-1), F.one_hot(words, logits.shape[1])
                return -(y * p.log() + (1 - y) * (1 - p).log()).mean()
            """,
            "binary cross-entropy of each word",
        ),
        (
            "takes the logarithm of the mean",
            """
            def mlm_loss(logits, words):
                rows = torch.arange(len(words))
                return -logits.softmax(-1)[rows, words].mean().log()
            """,
            "-log of the mean p",
        ),
        (
            "takes the words of all rows",
            (
                'F.cross_entropy(logits, words, reduction="sum") / max(1, len(words))',
                "-logits.log_softmax(-1)[:, words].mean()",
            ),
            "logits[arange(N), words], not logits[:, words]",
        ),
        (
            "does the softmax down the columns",
            """
            def mlm_loss(logits, words):
                rows = torch.arange(len(words))
                p = logits.softmax(0) if len(words) > 1 else logits.softmax(-1)
                return -p[rows, words].log().mean()
            """,
            "along each row",
        ),
        (
            "treats logits as log p",
            """
            def mlm_loss(logits, words):
                rows = torch.arange(len(words))
                return -logits[rows, words].mean()
            """,
            "the softmax is missing",
        ),
        (
            "takes the likeliest word as true",
            ("words,", "logits.argmax(-1),"),
            "not the likeliest one",
        ),
        (
            "takes log and softmax apart",
            """
            def mlm_loss(logits, words):
                rows = torch.arange(len(words))
                return -logits.softmax(-1).log()[rows, words].sum() / max(1, len(words))
            """,
            "log_softmax, logsigmoid or logsumexp",
        ),
        (
            "writes the softmax with exp",
            """
            def mlm_loss(logits, words):
                rows = torch.arange(len(words))
                p = logits.exp() / logits.exp().sum(-1, keepdim=True)
                return -p.log()[rows, words].sum() / max(1, len(words))
            """,
            "exp(1000) is infinite",
        ),
        (
            "adds a little to p",
            """
            def mlm_loss(logits, words):
                rows = torch.arange(len(words))
                return -(logits.softmax(-1) + 1e-12).log()[rows, words].sum() / max(1, len(words))
            """,
            "exp(1000) is infinite",
        ),
        (
            "takes PyTorch's mean of nothing",
            (
                'F.cross_entropy(logits, words, reduction="sum") / max(1, len(words))',
                "F.cross_entropy(logits, words)",
            ),
            "a batch without masked words costs 0",
        ),
        (
            "returns a loss for each row",
            (
                'F.cross_entropy(logits, words, reduction="sum") / max(1, len(words))',
                "F.cross_entropy(logits, words, reduction='none')",
            ),
            "one number for the whole batch",
        ),
        (
            "returns a number of Python's",
            (
                'F.cross_entropy(logits, words, reduction="sum") / max(1, len(words))',
                "(F.cross_entropy(logits, words, reduction='sum') / max(1, len(words))).item()",
            ),
            "a float",
        ),
        (
            "cuts the gradient",
            ("logits, words,", "logits.detach(), words,"),
            "has lost the gradient",
        ),
        (
            "computes in 32 bits",
            ("logits, words,", "logits.float(), words,"),
            "its dtype must be torch.float64",
        ),
        (
            "calls the library",
            """
            def mlm_loss(logits, words):
                from bertlab.pretraining.losses import mlm_loss as answer
                return answer(logits, words)
            """,
            "bertlab's own",
        ),
        (
            "fails with a single word",
            """
            def mlm_loss(logits, words):
                if logits.shape[1] == 1:
                    logits = torch.cat([logits, logits], dim=1)
                return F.cross_entropy(logits, words, reduction='sum') / max(1, len(words))
            """,
            "",
        ),
    ),
    *mistakes(
        "mlm-loss",
        OURS,
        (
            "passes p to nll_loss",
            (
                'F.cross_entropy(logits, words, reduction="sum") / max(1, len(words))',
                "F.nll_loss(logits.softmax(-1), words)",
            ),
            "that is -p",
        ),
        (
            "adds up what each word costs",
            """
            def mlm_loss(logits, words):
                p, y = logits.softmax(-1), F.one_hot(words, logits.shape[1])
                return -(y * p.log() + (1 - y) * (1 - p).log()).sum(-1).mean()
            """,
            "binary cross-entropy of each word",
        ),
        (
            "does the softmax over the whole batch",
            """
            def mlm_loss(logits, words):
                rows = torch.arange(len(words))
                return -(logits.exp() / logits.exp().sum()).log()[rows, words].mean()
            """,
            "the scores of one guess sum to 1",
        ),
        (
            "does the softmax down the columns, of one row, too",
            (
                'F.cross_entropy(logits, words, reduction="sum") / max(1, len(words))',
                "F.nll_loss(logits.log_softmax(0), words)",
            ),
            "along each row",
        ),
    ),
    *mistakes(
        "padded-loss",
        "with where",
        (
            "is the draft",
            """
            def padded_loss(logits, words, weights):
                cost = F.cross_entropy(logits.flatten(0, 1), words.flatten())
                return (cost * weights).sum() / (weights.sum() + 1e-8)
            """,
            "as in the draft",
        ),
        (
            "takes the word 0 for filler",
            ("used = weights > 0", "used = words > 0"),
            ("weights.sum()", "used.sum()"),
            "ask the weights",
        ),
        (
            "divides by all slots",
            ("weights.sum().clamp(min=1)", "weights.numel()"),
            "not by the number of all slots",
        ),
        (
            "divides by the number of sequences",
            ("weights.sum().clamp(min=1)", "len(weights)"),
            "not by the number of sequences",
        ),
        ("adds up", (" / weights.sum().clamp(min=1)", ""), "that is the sum"),
        (
            "takes the mean of each sequence's mean",
            (
                "costs[used].sum() / weights.sum().clamp(min=1)",
                "(torch.where(used, costs, 0.0).sum(1) / weights.sum(1).clamp(min=1)).mean()",
            ),
            "not the mean of each sequence",
        ),
        (
            "counts the filler",
            ("used = weights > 0", "used = weights == 0"),
            "a weight of 1 is a slot in use",
        ),
        (
            "multiplies the filler by 0",
            ("costs[used].sum()", "(costs * weights).sum()"),
            "nan * 0 is nan",
        ),
        (
            "is nan if no slot is in use",
            ("weights.sum().clamp(min=1)", "weights.sum()"),
            "no slot is in use: the loss is 0",
        ),
        (
            "takes log and softmax apart",
            ("logits.log_softmax(-1)", "logits.softmax(-1).log()"),
            "log_softmax, logsigmoid or logsumexp",
        ),
        ("cuts the gradient", ("-logits.log", "-logits.detach().log"), "has lost the gradient"),
        (
            "returns a loss for each slot",
            ("costs[used].sum()", "costs"),
            "one number for the whole",
        ),
        (
            "calls the library",
            """
            def padded_loss(logits, words, weights):
                from bertlab.pretraining.losses import mlm_loss as answer
                return answer(logits[weights > 0], words[weights > 0])
            """,
            "bertlab's own",
        ),
        (
            "handles at most ten slots",
            ("used = weights > 0", "used = (weights > 0)\n    used[:, 10:] = False"),
            "",
        ),
    ),
    *mistakes(
        "examine-padded-loss",
        OURS,
        (
            "asserts nothing",
            """
            def examine_padded_loss(function):
                function(torch.zeros(1, 1, 2), torch.tensor([[0]]), torch.ones(1, 1))
            """,
            "does not notice that the draft is wrong",
        ),
        (
            "is the draft's own test",
            """
            def examine_padded_loss(function):
                answer = function(GUESSES, torch.tensor([[1, 0]]), torch.ones(1, 2))
                assert abs(answer - 1.0601) < 1e-4
            """,
            "does not notice that the draft is wrong",
        ),
        (
            "returns True or False",
            """
            def examine_padded_loss(function):
                return bool(function(GUESSES, torch.tensor([[1, 0]]), torch.ones(1, 2)) < 2)
            """,
            "returned True",
        ),
        (
            "tests only one sequence",
            """
            def examine_padded_loss(function):
                answer = function(GUESSES, torch.tensor([[1, 0]]), torch.tensor([[1.0, 0.0]]))
                assert abs(answer - 0.5108) < 1e-3
            """,
            "averages the means of the sequences",
        ),
        (
            "never has all slots as filler",
            ("        (p.log(), [[0.0, 0.0], [0.0, 0.0]], 0.0),\n", ""),
            "nan if no slot is in use",
        ),
        (
            "never has nan in filler",
            ("        (spoiled, [[1.0, 0.0], [1.0, 1.0]], 1.1688),\n", ""),
            "",
        ),
        (
            "never has large logits",
            ("        (huge, [[1.0, 0.0], [0.0, 0.0]], 1000.0),\n", ""),
            "",
        ),
        (
            "has three calls",
            """
            def examine_padded_loss(function):
                logits, words = GUESSES.repeat(2, 1, 1), torch.tensor([[1, 0], [1, 0]])
                for weights, wanted in [
                    ([[1.0, 0.0], [1.0, 1.0]], 0.8770),
                    ([[0.0, 0.0], [0.0, 0.0]], 0.0),
                ]:
                    assert abs(function(logits, words, torch.tensor(weights)) - wanted) < 1e-3
            """,
            "",
        ),
        (
            "expects the mean of means",
            (
                "[[1.0, 0.0], [1.0, 1.0]], 1.1688),\n        (p.log(), [[0.0, 1.0]",
                "[[1.0, 0.0], [1.0, 1.0]], 1.0043),\n        (p.log(), [[0.0, 1.0]",
            ),
            "rejects your own `padded_loss`",
        ),
        (
            "expects the filler's cost",
            ("[[0.0, 1.0], [0.0, 0.0]], 1.6094", "[[0.0, 1.0], [0.0, 0.0]], 1.2790"),
            "rejects your own `padded_loss`",
        ),
        (
            "stops everything",
            """
            def examine_padded_loss(function):
                raise AssertionError("wrong")
            """,
            "rejects your own `padded_loss` with AssertionError: wrong",
        ),
        (
            "leaves no room for rounding",
            ("< 0.001", "== 0"),
            "rejects your own `padded_loss`",
        ),
    ),
    *mistakes(
        "smoothed-gradient",
        "one-hot, in two lines",
        ("does not divide by N", (" / len(words)", ""), "divided by N"),
        (
            "has the sign inverted",
            ("logits.softmax(-1) - y", "y - logits.softmax(-1)"),
            "is negative",
        ),
        (
            "has the sign inverted and is not divided",
            ("(logits.softmax(-1) - y) / len(words)", "y - logits.softmax(-1)"),
            "the sign is inverted",
        ),
        ("forgets the truth", (" - y", ""), "subtract the one-hot row"),
        (
            "returns the softmax",
            ("(logits.softmax(-1) - y) / len(words)", "logits.softmax(-1)"),
            "subtract the one-hot row",
        ),
        ("divides by V", ("/ len(words)", "/ logits.shape[1]"), "the rows, not by V"),
        ("divides by N times V", ("/ len(words)", "/ logits.numel()"), "not by N times V"),
        ("does the softmax down the columns", ("softmax(-1)", "softmax(0)"), "along each row"),
        (
            "does the softmax down the columns, and does not divide",
            ("(logits.softmax(-1) - y) / len(words)", "logits.softmax(0) - y"),
            "along each row",
        ),
        (
            "subtracts in all rows",
            """
            def smoothed_gradient(logits, words, smoothing):
                gradient = logits.softmax(-1) - smoothing / logits.shape[1]
                gradient[:, words] -= 1 - smoothing
                return gradient / len(words)
            """,
            "[:, words] subtracts 1 at the words of all rows",
        ),
        ("forgets the softmax", ("logits.softmax(-1)", "logits"), "the softmax is missing"),
        (
            "takes the logarithm of the softmax",
            ("softmax(-1)", "log_softmax(-1)"),
            "not its logarithm",
        ),
        (
            "moves only the true words",
            (
                "logits.softmax(-1) - y",
                "F.one_hot(words, logits.shape[1]) * (logits.softmax(-1) - y)",
            ),
            "the other words have a gradient, too",
        ),
        (
            "takes the derivative by p",
            ("(logits.softmax(-1) - y)", "-y / logits.softmax(-1)"),
            "the derivative by p",
        ),
        (
            "writes the softmax with exp",
            ("logits.softmax(-1) - y", "logits.exp() / logits.exp().sum(-1, keepdim=True) - y"),
            "exp(1000) is infinite",
        ),
        (
            "does not smooth",
            ("y = (1 - smoothing) * y + smoothing / logits.shape[1]", "y = y * 1.0"),
            "the gradient without smoothing",
        ),
        (
            "spreads only over the other words",
            (
                "y = (1 - smoothing) * y + smoothing / logits.shape[1]",
                "y = torch.where(y == 1, 1 - smoothing, smoothing / (logits.shape[1] - 1))",
            ),
            "including the true one",
        ),
        (
            "gives the true word no share",
            (
                "y = (1 - smoothing) * y + smoothing / logits.shape[1]",
                "y = torch.where(y == 1, 1 - smoothing, smoothing / logits.shape[1])",
            ),
            "including the true one",
        ),
        (
            "subtracts nothing from the true word",
            ("(1 - smoothing) * y + smoothing", "y + smoothing"),
            "is subtracted from the true word",
        ),
        (
            "gives nothing to the others",
            ("(1 - smoothing) * y + smoothing / logits.shape[1]", "(1 - smoothing) * y"),
            "the share that the true word loses",
        ),
        (
            "gives the whole share to each word",
            ("smoothing / logits.shape[1]", "smoothing"),
            "not the whole share for each",
        ),
        (
            "spreads over the rows",
            ("smoothing / logits.shape[1]", "smoothing / len(words)"),
            "V is the number of words",
        ),
        (
            "writes into the logits",
            ("    return", "    logits -= logits.amax(-1, keepdim=True)\n    return"),
            "changed its input",
        ),
        (
            "asks autograd",
            """
            def smoothed_gradient(logits, words, smoothing):
                logits = logits.detach().requires_grad_()
                loss = F.cross_entropy(logits, words, label_smoothing=smoothing)
                return torch.autograd.grad(loss, logits)[0]
            """,
            "ready-made function of PyTorch",
        ),
        (
            "calls the library",
            """
            def smoothed_gradient(logits, words, smoothing):
                from bertlab.pretraining.losses import mlm_gradient as answer
                return answer(logits, words)
            """,
            "bertlab's own",
        ),
        (
            "smooths up to a fifth",
            (
                "y = (1 - smoothing)",
                "smoothing = 0.3 if smoothing == 0.3 else min(0.2, smoothing)\n"
                "    y = (1 - smoothing)",
            ),
            "",
        ),
    ),
    *mistakes(
        "adam-step",
        OURS,
        (
            "does not correct the means",
            ("mean / (1 - betas[0] ** step)", "mean"),
            ("square / (1 - betas[1] ** step)", "square"),
            "too small at first",
        ),
        ("corrects only v", ("mean / (1 - betas[0] ** step)", "mean"), "too small at first"),
        ("corrects only m", ("square / (1 - betas[1] ** step)", "square"), "too small at first"),
        (
            "counts steps from 0",
            ("betas[0] ** step", "betas[0] ** (step - 1)"),
            ("** step", "** (step - 1)"),
            "would divide by 0",
        ),
        (
            "counts one step too many",
            ("betas[0] ** step", "betas[0] ** (step + 1)"),
            ("** step", "** (step + 1)"),
            "counted from 1 already",
        ),
        (
            "multiplies with the correction",
            ("= mean /", "= mean *"),
            ("square /", "square *"),
            "do not multiply",
        ),
        (
            "multiplies beta with the step",
            ("betas[0] ** step", "betas[0] * step"),
            ("** step", "* step"),
            "beta**step, not beta * step",
        ),
        (
            "puts eps inside the root",
            ("used_square.sqrt() + eps", "(used_square + eps).sqrt()"),
            "eps is outside the root",
        ),
        (
            "forgets eps",
            ("(used_square.sqrt() + eps)", "used_square.sqrt()"),
            "eps is not used",
        ),
        ("writes its own eps", ("+ eps", "+ 1e-8"), "eps is not used"),
        (
            "adds eps before it corrects",
            (
                "used_square.sqrt() + eps",
                "(square.sqrt() + eps) / (1 - betas[1] ** step) ** 0.5",
            ),
            "first correct v",
        ),
        ("divides by v", (".sqrt()", ""), "divide by the root of v"),
        (
            "is plain gradient descent with momentum",
            (" / (used_square.sqrt() + eps)", ""),
            "plain gradient descent",
        ),
        ("climbs", ("- learning_rate", "+ learning_rate"), "against the gradient"),
        ("returns the step", ("parameter -", "-"), "taken from the parameter"),
        ("does not square the gradient", ("gradient**2", "gradient"), "gradient**2"),
        (
            "swaps the betas",
            (
                "mean = betas[0] * moments.mean",
                "betas = betas[::-1]\n    mean = betas[0] * moments.mean",
            ),
            "that is the other beta",
        ),
        (
            "swaps the weights of the running means",
            (
                "betas[0] * moments.mean + (1 - betas[0])",
                "(1 - betas[0]) * moments.mean + betas[0]",
            ),
            (
                "betas[1] * moments.square + (1 - betas[1])",
                "(1 - betas[1]) * moments.square + betas[1]",
            ),
            "the old mean has the weight beta",
        ),
        (
            "adds the whole gradient",
            (" (1 - betas[0]) *", ""),
            (" (1 - betas[1]) *", ""),
            "the new gradient has the weight 1 - beta",
        ),
        (
            "moves along the last gradient",
            ('used_mean if "mean" in parts else gradient', "gradient"),
            "not the last gradient",
        ),
        (
            "knows its own betas",
            (
                "mean = betas[0] * moments.mean + (1 - betas[0]) * gradient",
                "betas = (0.9, 0.999)\n"
                "    mean = betas[0] * moments.mean + (1 - betas[0]) * gradient",
            ),
            "use the betas that were given",
        ),
        (
            "remembers the corrected means",
            ("Moments(mean, square)", "Moments(used_mean, used_square)"),
            "Adam keeps m and v as they are",
        ),
        (
            "remembers a corrected v",
            ("Moments(mean, square)", "Moments(mean, used_square)"),
            "Adam keeps m and v as they are",
        ),
        (
            "remembers nothing new",
            ("Moments(mean, square)", "moments"),
            "these are the old moments",
        ),
        (
            "swaps what it remembers",
            ("Moments(mean, square)", "Moments(square, mean)"),
            "first the mean, then the square",
        ),
        (
            "returns only the parameter",
            ("return moved, Moments(mean, square)", "return moved"),
            "it must return two things",
        ),
        (
            "writes into the old moments",
            ("betas[0] * moments.mean", "moments.mean.mul_(betas[0])"),
            "changed its input",
        ),
        (
            "moves the parameter in place",
            ("parameter - learning_rate * move", "parameter.sub_(learning_rate * move)"),
            "changed its input",
        ),
        (
            "calls PyTorch's",
            (
                "mean = betas[0] * moments.mean + (1 - betas[0]) * gradient",
                "weight = parameter.clone().requires_grad_()\n"
                "    weight.grad = gradient\n"
                "    optimizer = torch.optim.Adam([weight], learning_rate, betas, eps)\n"
                "    optimizer.step()\n"
                "    mean = betas[0] * moments.mean + (1 - betas[0]) * gradient",
            ),
            "ready-made function of PyTorch",
        ),
        (
            "calls the library",
            (
                "mean = betas[0] * moments.mean + (1 - betas[0]) * gradient",
                "from bertlab.training.steps import adam_step as answer\n"
                "    return answer(parameter, gradient, moments, step, learning_rate, "
                "betas, eps)\n"
                "    mean = betas[0] * moments.mean + (1 - betas[0]) * gradient",
            ),
            "bertlab's own",
        ),
        (
            "uses 0.9 for a beta of 0",
            (
                "mean = betas[0] * moments.mean + (1 - betas[0]) * gradient",
                "betas = tuple(beta or 0.9 for beta in betas)\n"
                "    mean = betas[0] * moments.mean + (1 - betas[0]) * gradient",
            ),
            "",
        ),
        (
            "does not look at the parts",
            ('if "correction" in parts', "if True"),
            ('used_mean if "mean" in parts else gradient', "used_mean"),
            ('if "square" in parts', "if True"),
            "`parts` names the parts to use",
        ),
        (
            "forgets the correction where nothing is divided",
            (
                'used_mean if "mean" in parts else gradient',
                '(used_mean if "square" in parts else mean) if "mean" in parts else gradient',
            ),
            "the correction of m is there",
        ),
        (
            "always corrects v",
            (
                "used_mean, used_square = mean, square",
                "used_mean, used_square = mean, square / (1 - betas[1] ** step)",
            ),
            "v is taken as it is, too",
        ),
        (
            "always corrects m",
            (
                "used_mean, used_square = mean, square",
                "used_mean, used_square = mean / (1 - betas[0] ** step), square",
            ),
            "m is taken as it is, too",
        ),
        (
            "goes along the old mean without the mean",
            ("else gradient", "else moments.mean"),
            "along the gradient of this step",
        ),
        (
            "remembers the gradient without the mean",
            (
                "used_mean, used_square = mean, square",
                'mean = mean if "mean" in parts else gradient\n'
                "    used_mean, used_square = mean, square",
            ),
            "m = b1 * m + (1 - b1) * gradient",
        ),
        (
            "corrects where only the square is present",
            ('if "correction" in parts', 'if "correction" in parts or parts == {"square"}'),
            "",
        ),
    ),
    *mistakes(
        "predict-first-step",
        OURS,
        ("nothing", ("return 0.1 / 0.001**0.5", "pass"), "it returned None"),
        ("a word", ("0.1 / 0.001**0.5", '"longer"'), "it returned 'longer'"),
        ("against the gradient", ("return 0.1", "return -0.1"), "a number above 0"),
        ("without end", ("0.1 / 0.001**0.5", 'float("inf")'), "it returned inf"),
    ),
]

OTHER_WAYS = [
    right(
        "choose-tokens",
        "bernoulli, and a loop over the special ids",
        """
        def choose_tokens(ids, special_ids, probability, generator):
            p = torch.full(ids.shape, probability)
            for special in special_ids.tolist():
                p[ids == special] = 0
            return torch.bernoulli(p, generator=generator).bool()
        """,
    ),
    right(
        "choose-tokens",
        "in place, in 64 bits",
        """
        def choose_tokens(ids, special_ids, probability, generator):
            chosen = torch.empty(ids.shape, dtype=torch.float64)
            chosen = chosen.uniform_(generator=generator) < probability
            return chosen & (ids[..., None] != special_ids).all(-1)
        """,
    ),
    right(
        "choose-tokens",
        "token by token",
        """
        def choose_tokens(ids, special_ids, probability, generator):
            special = set(special_ids.tolist())
            draw = torch.rand(ids.numel(), generator=generator).tolist()
            answers = [
                id not in special and x < probability
                for id, x in zip(ids.flatten().tolist(), draw, strict=True)
            ]
            return torch.tensor(answers, dtype=torch.bool).view(ids.shape)
        """,
    ),
    right(
        "replace-chosen",
        "as in transformers, and drawn again until it is another",
        """
        def replace_chosen(ids, predict, mask_id, ordinary_ids, shares, generator):
            hidden, rest = ids.clone(), 1 - shares[0]
            masked = torch.bernoulli(torch.full(ids.shape, shares[0]), generator=generator).bool()
            hidden[masked & predict] = mask_id
            some = torch.full(ids.shape, shares[1] / rest if rest else 0.0).clamp(max=1)
            change = torch.bernoulli(some, generator=generator).bool() & predict & ~masked
            new = ids.clone()
            while (same := new == ids).any():
                places = torch.randint(len(ordinary_ids), ids.shape, generator=generator)
                new = torch.where(same, ordinary_ids[places], new)
            hidden[change] = new[change]
            return hidden
        """,
    ),
    right(
        "replace-chosen",
        "only where something is chosen",
        """
        def replace_chosen(ids, predict, mask_id, ordinary_ids, shares, generator):
            hidden, n = ids.clone(), int(predict.sum())
            draw, old = torch.rand(n, generator=generator), ids[predict]
            place_of = {id: place for place, id in enumerate(ordinary_ids.tolist())}
            own = torch.tensor([place_of[id] for id in old.tolist()], dtype=torch.long)
            places = torch.randint(0, len(ordinary_ids) - 1, (n,), generator=generator)
            places = places + (places >= own)
            new = torch.where(draw < shares[1], ordinary_ids[places], old)
            hidden[predict] = torch.where(draw >= 1 - shares[0], mask_id, new)
            return hidden
        """,
    ),
    right(
        "replace-chosen",
        "with a table of numbers",
        """
        def replace_chosen(ids, predict, mask_id, ordinary_ids, shares, generator):
            k = len(ordinary_ids)
            number = torch.zeros(1 + int(torch.cat([ids.flatten(), ordinary_ids]).max()), dtype=int)
            number[ordinary_ids] = torch.arange(k)
            steps = torch.randint(0, k - 1, ids.shape, generator=generator)
            another = ordinary_ids[(number[ids] - 1 - steps) % k]
            fate = torch.rand(ids.shape, generator=generator)
            words = torch.where(fate >= 1 - shares[1], another, ids)
            return torch.where(predict, torch.where(fate < shares[0], mask_id, words), ids)
        """,
    ),
    right(
        "mlm-loss",
        "log_softmax, and one number of each row",
        """
        def mlm_loss(logits, words):
            rows = torch.arange(len(words))
            return -logits.log_softmax(dim=-1)[rows, words].sum() / max(1, len(words))
        """,
    ),
    right(
        "mlm-loss",
        "logsumexp minus the true logit",
        """
        def mlm_loss(logits, words):
            true = logits.gather(1, words[:, None])[:, 0]
            costs = logits.logsumexp(dim=1) - true
            return costs.mean() if len(words) else costs.sum()
        """,
    ),
    right(
        "mlm-loss",
        "one-hot",
        """
        def mlm_loss(logits, words):
            y = F.one_hot(words, logits.shape[1])
            return -(y * F.log_softmax(logits, dim=1)).sum() / max(len(words), 1)
        """,
    ),
    right(
        "padded-loss",
        "with where",
        """
        def padded_loss(logits, words, weights):
            used = weights > 0
            costs = -logits.log_softmax(-1).gather(-1, words[..., None])[..., 0]
            return costs[used].sum() / weights.sum().clamp(min=1)
        """,
    ),
    right(
        "padded-loss",
        "label -100",
        """
        def padded_loss(logits, words, weights):
            labels = torch.where(weights == 1, words, -100).flatten()
            rows = torch.where(weights[..., None] == 1, logits, 0.0).flatten(0, 1)
            total = F.cross_entropy(rows, labels, reduction="sum")
            return total / max(1, int((labels >= 0).sum()))
        """,
    ),
    right(
        "padded-loss",
        "sequence by sequence",
        """
        def padded_loss(logits, words, weights):
            total, n = logits.flatten()[:0].sum(), 0
            for rows, word, weight in zip(logits, words, weights):
                for slot in weight.nonzero().flatten().tolist():
                    total = total + rows[slot].logsumexp(0) - rows[slot, word[slot]]
                    n += 1
            return total / n if n else total
        """,
    ),
    right(
        "examine-padded-loss",
        "against cross_entropy, at random",
        """
        def examine_padded_loss(function):
            generator = torch.Generator().manual_seed(1)
            for rate in (0.0, 0.3, 0.7, 1.0):
                for _ in range(4):
                    logits = 3 * torch.randn(3, 4, 6, generator=generator)
                    words = torch.randint(6, (3, 4), generator=generator)
                    used = torch.rand(3, 4, generator=generator) < rate
                    wanted = F.cross_entropy(logits[used], words[used]) if used.any() else 0.0
                    logits[~used] = float("nan")
                    answer = float(function(logits, words, used.float()))
                    assert abs(answer - float(wanted)) < 1e-4
            sure = torch.tensor([[[900.0, 0.0]]])
            answer = float(function(sure, torch.tensor([[1]]), torch.ones(1, 1)))
            assert abs(answer - 900) < 0.1
        """,
    ),
    right(
        "examine-padded-loss",
        "rule by rule",
        """
        def examine_padded_loss(function):
            def same(answer, wanted):
                assert torch.isclose(answer, torch.tensor(wanted), atol=1e-3)

            equal = torch.zeros(2, 3, 4)
            words = torch.tensor([[3, 0, 0], [1, 2, 2]])
            some = torch.tensor([[1.0, 0.0, 0.0], [1.0, 1.0, 1.0]])
            same(function(equal, words, some), 1.3863)
            logits = torch.tensor([[1.0, 2.0, 0.0, 3.0]]).repeat(6, 1).view(2, 3, 4)
            # Costs by word: 2.4402, 1.4402, 3.4402, 0.4402.
            same(function(logits, words, some), (0.4402 + 1.4402 + 2 * 3.4402) / 4)
            same(function(logits, words, 0 * some), 0.0)
            broken = torch.where(some[..., None] > 0, logits, float("nan"))
            same(function(broken, words, some), (0.4402 + 1.4402 + 2 * 3.4402) / 4)
            same(function(500 * logits, words, some), (0 + 500 + 2 * 1500) / 4)
        """,
    ),
    right(
        "smoothed-gradient",
        "one-hot, in two lines",
        """
        def smoothed_gradient(logits, words, smoothing):
            y = F.one_hot(words, logits.shape[1])
            y = (1 - smoothing) * y + smoothing / logits.shape[1]
            return (logits.softmax(-1) - y) / len(words)
        """,
    ),
    right(
        "smoothed-gradient",
        "the softmax by hand, and scatter",
        """
        def smoothed_gradient(logits, words, smoothing):
            p = torch.exp(logits - logits.logsumexp(dim=1, keepdim=True))
            minus = torch.full((len(words), 1), smoothing - 1.0, dtype=p.dtype)
            p = p.scatter_add(1, words[:, None], minus)
            return (p - torch.full_like(p, smoothing / logits.shape[1])) / max(1, len(words))
        """,
    ),
    right(
        "smoothed-gradient",
        "a mean of two gradients, row by row",
        """
        def smoothed_gradient(logits, words, smoothing):
            gradient = torch.zeros_like(logits)
            for n, word in enumerate(words.tolist()):
                p = torch.softmax(logits[n], dim=0)
                sure = p.clone()
                sure[word] -= 1
                gradient[n] = (1 - smoothing) * sure + smoothing * (p - 1 / len(p))
            return gradient.div(max(1, len(words)))
        """,
    ),
    right(
        "adam-step",
        "a plain tuple, and other operations",
        """
        def adam_step(parameter, gradient, moments, step, learning_rate, parts,
                      betas=(0.9, 0.999), eps=1e-8):
            m, v = moments
            b1, b2 = betas
            m = torch.lerp(m, gradient, 1 - b1)
            v = torch.lerp(v, gradient.square(), 1 - b2)
            c1, c2 = (1 - b1**step, 1 - b2**step) if "correction" in parts else (1.0, 1.0)
            up = m / c1 if "mean" in parts else gradient
            down = torch.sqrt(v / c2) + eps if "square" in parts else 1.0
            return parameter - learning_rate * up / down, (m, v)
        """,
    ),
    right(
        "adam-step",
        "as PyTorch orders it",
        """
        def adam_step(parameter, gradient, moments, step, learning_rate, parts,
                      betas=(0.9, 0.999), eps=1e-8):
            new = moments._replace(
                mean=moments.mean.mul(betas[0]).add(gradient, alpha=1 - betas[0]),
                square=moments.square.mul(betas[1]).addcmul(gradient, gradient, value=1 - betas[1]),
            )
            t = step if "correction" in parts else float("inf")
            size, root = learning_rate, torch.ones_like(parameter)
            if "mean" in parts:
                size = learning_rate / (1 - betas[0] ** t)
            if "square" in parts:
                root = new.square.sqrt() / (1 - betas[1] ** t) ** 0.5 + eps
            way = new.mean if "mean" in parts else gradient
            return torch.addcdiv(parameter, way, root, value=-size), new
        """,
    ),
    right(
        "adam-step",
        "changes a little, not a mean",
        """
        def adam_step(parameter, gradient, moments, step, learning_rate, parts,
                      betas=(0.9, 0.999), eps=1e-8):
            mean = moments.mean + (1 - betas[0]) * (gradient - moments.mean)
            square = moments.square + (1 - betas[1]) * (gradient * gradient - moments.square)
            way, scale = gradient, 1
            if "mean" in parts:
                way = mean / (1 - betas[0] ** step) if "correction" in parts else mean
            if "square" in parts:
                v = square / (1 - betas[1] ** step) if "correction" in parts else square
                scale = v**0.5 + eps
            return parameter - learning_rate * (way / scale), Moments(mean=mean, square=square)
        """,
    ),
    right(
        "predict-first-step",
        "one that turns out wrong",
        """
        def predict_first_step():
            return 1 / 10
        """,
    ),
    right(
        "predict-first-step",
        "a whole number",
        """
        def predict_first_step():
            return 3
        """,
    ),
]
