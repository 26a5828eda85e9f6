"""Exercise 7, the objectives: solutions that are wrong, and right ones of another kind."""

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
            "chooses the special tokens alone",
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
            "takes small ids for special ones",
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
        ("throws once for each place", ("ids.shape", "ids.shape[1]"), "at the same places"),
        (
            "throws once for each sequence",
            ("ids.shape", "len(ids), 1"),
            "all tokens of a sequence are chosen, or none",
        ),
        ("draws from PyTorch's own dice", (", generator=generator", ""), "PyTorch's own generator"),
        (
            "draws with rand_like",
            ("torch.rand(ids.shape, generator=generator)", "torch.rand_like(ids.float())"),
            "PyTorch's own generator",
        ),
        (
            "draws from Python's dice",
            """
            def choose_tokens(ids, special_ids, probability, generator):
                import random
                ordinary = ~torch.isin(ids, special_ids)
                draw = torch.tensor([[random.random() for _ in row] for row in ids])
                return ordinary & (draw < probability)
            """,
            "from generators in the same state",
        ),
        (
            "sets the dice back",
            (
                "ordinary = ~torch.isin(ids, special_ids)",
                "ordinary = ~torch.isin(ids, special_ids)\n"
                "    generator = torch.Generator().manual_seed(0)",
            ),
            "the same answer whatever the generator",
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
            "writes and",
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
            "knows four special ids",
            ("~torch.isin(ids, special_ids)", "(ids != 0) & (ids != 3) & (ids != 4) & (ids != 9)"),
            "",
        ),
    ),
    *mistakes(
        "hide",
        "as ours, with numbers for the shares",
        (
            "throws for all tokens, not for the chosen ones",
            ("predict & (draw < 0.8)", "draw < 0.8"),
            ("    change = predict & (draw >= 0.8) & (draw < 0.9)\n", ""),
            ("change", "(draw >= 0.8) & (draw < 0.9)"),
            "nothing is chosen, so nothing changes",
        ),
        (
            "puts random words everywhere",
            ("    change = predict & (draw >= 0.8) & (draw < 0.9)\n", ""),
            ("change", "(draw >= 0.8) & (draw < 0.9)"),
            "a token that was not chosen has changed",
        ),
        (
            "masks all",
            (
                "    hidden = torch.where(predict & (draw < 0.8), mask_id, ids)\n"
                "    change = predict & (draw >= 0.8) & (draw < 0.9)\n",
                "",
            ),
            ("change, others, hidden", "predict & (draw < 2), mask_id, ids"),
            "only 80 % of them do",
        ),
        (
            "masks all, without dice",
            """
            def hide(ids, predict, mask_id, ordinary_ids, generator):
                return torch.where(predict, mask_id, ids)
            """,
            "only 80 % of them do",
        ),
        (
            "masks nothing",
            (
                "    hidden = torch.where(predict & (draw < 0.8), mask_id, ids)\n"
                "    change = predict & (draw >= 0.8) & (draw < 0.9)\n",
                "",
            ),
            ("change, others, hidden", "predict & (draw < 0.1), others, ids"),
            "about 80.0% expected, 0.0%",
        ),
        (
            "puts a random word instead of the last 20 %",
            ("    change = predict & (draw >= 0.8) & (draw < 0.9)\n", ""),
            ("change", "predict & (draw >= 0.8)"),
            "half of the last 20 % stay",
        ),
        (
            "leaves the last 20 % as they are",
            """
            def hide(ids, predict, mask_id, ordinary_ids, generator):
                draw = torch.rand(ids.shape, generator=generator)
                hidden = torch.where(predict & (draw < 0.8), mask_id, ids)
                return hidden
            """,
            "there is none",
        ),
        (
            "masks 90 %",
            ("draw < 0.8", "draw < 0.9"),
            ("    change = predict & (draw >= 0.8) & (draw < 0.9)\n", ""),
            ("change", "predict & (draw >= 0.9)"),
            "the last 10 % stay",
        ),
        (
            "compares the wrong way round",
            ("draw < 0.8", "draw > 0.8"),
            ("    change = predict & (draw >= 0.8) & (draw < 0.9)\n", ""),
            ("change", "predict & (draw < 0.1)"),
            "rand < 0.8 happens in 80 %",
        ),
        (
            "swaps [MASK] and random words",
            ("mask_id, ids", "others, ids"),
            ("    change = predict & (draw >= 0.8) & (draw < 0.9)\n", ""),
            ("change, others", "predict & (draw >= 0.8) & (draw < 0.9), mask_id"),
            "not the other way round",
        ),
        (
            "draws twice, and the second overwrites the first",
            ("(draw >= 0.8) & (draw < 0.9)", "(torch.rand(ids.shape, generator=generator) < 0.1)"),
            "two draws of their own overlap",
        ),
        (
            "takes 10 % of the rest",
            (" & (draw < 0.9)", ""),
            (
                "return torch.where(change, others, hidden)",
                "change &= torch.rand(ids.shape, generator=generator) < 0.1\n"
                "    return torch.where(change, others, hidden)",
            ),
            "half of those left",
        ),
        (
            "takes 90 % of the rest",
            (" & (draw < 0.9)", ""),
            (
                "return torch.where(change, others, hidden)",
                "change &= torch.rand(ids.shape, generator=generator) < 0.9\n"
                "    return torch.where(change, others, hidden)",
            ),
            "half of those left",
        ),
        (
            "throws once for the whole batch",
            ("torch.rand(ids.shape, generator=generator)", "torch.rand(1, generator=generator)"),
            "one number decides for the whole batch",
        ),
        (
            "throws once for each sequence",
            (
                "torch.rand(ids.shape, generator=generator)",
                "torch.rand(len(ids), 1, generator=generator)",
            ),
            "of a sequence meet with the same fate",
        ),
        (
            "throws once for each place",
            (
                "torch.rand(ids.shape, generator=generator)",
                "torch.rand(ids.shape[1], generator=generator)",
            ),
            "of a place meet with the same fate",
        ),
        (
            "puts places instead of ids",
            (
                "ordinary_ids[torch.randint(len(ordinary_ids), ids.shape, generator=generator)]",
                "torch.randint(len(ordinary_ids), ids.shape, generator=generator)",
            ),
            "look the ids up there",
        ),
        (
            "draws from all ids up to the largest",
            (
                "ordinary_ids[torch.randint(len(ordinary_ids), ids.shape, generator=generator)]",
                "torch.randint(int(ordinary_ids.max()) + 1, ids.shape, generator=generator)",
            ),
            "which is not in ordinary_ids",
        ),
        (
            "never draws the last word",
            (
                "others = ordinary_ids[torch.randint(len(ordinary_ids), ids.shape, "
                "generator=generator)]",
                "places = torch.randint(len(ordinary_ids) - 1, ids.shape, "
                "generator=generator)\n"
                "    others = ordinary_ids[places]",
            ),
            "draws from 0 to n - 1 already",
        ),
        (
            "never draws the first word",
            (
                "others = ordinary_ids[torch.randint(len(ordinary_ids), ids.shape, "
                "generator=generator)]",
                "places = torch.randint(1, len(ordinary_ids), ids.shape, "
                "generator=generator)\n"
                "    others = ordinary_ids[places]",
            ),
            "though ordinary_ids holds it",
        ),
        ("draws one word for all", (", ids.shape", ", (1,)"), "the same random word everywhere"),
        (
            "draws one word for each sequence",
            (
                "others = ordinary_ids[torch.randint(len(ordinary_ids), ids.shape, "
                "generator=generator)]",
                "size = (len(ids), 1)\n"
                "    others = ordinary_ids[torch.randint(len(ordinary_ids), size, "
                "generator=generator)]",
            ),
            "all random words of a sequence are the same",
        ),
        (
            "prefers some words",
            (
                "others = ordinary_ids[torch.randint(len(ordinary_ids), ids.shape, "
                "generator=generator)]",
                "places = torch.rand(ids.shape, generator=generator).square() * "
                "len(ordinary_ids)\n"
                "    others = ordinary_ids[places.long()]",
            ),
            "as likely as any other",
        ),
        (
            "forgets the dice of the random words",
            (", ids.shape, generator=generator", ", ids.shape"),
            "PyTorch's own generator",
        ),
        (
            "writes into the batch",
            ("    hidden = torch.where(predict & (draw < 0.8), mask_id, ids)\n", ""),
            (
                "change = predict & (draw >= 0.8) & (draw < 0.9)",
                "ids[predict & (draw < 0.8)] = mask_id",
            ),
            ("change, others, hidden", "predict & (draw >= 0.8) & (draw < 0.9), others, ids"),
            "changed its input",
        ),
        (
            "returns decimals",
            ("mask_id, ids", "float(mask_id), ids.float()"),
            ("others,", "others.float(),"),
            "its dtype must be torch.int64",
        ),
        (
            "draws from the first 24 words alone",
            ("len(ordinary_ids)", "min(24, len(ordinary_ids))"),
            "",
        ),
        ("masks 78 %", ("draw < 0.8", "draw < 0.78"), "about 80.0% expected"),
    ),
    *mistakes(
        "choose-words",
        OURS,
        (
            "chooses special tokens",
            ("    ordinary = ~torch.isin(ids, special_ids)\n", ""),
            (" ordinary &", ""),
            "special tokens are chosen, too",
        ),
        (
            "chooses pieces",
            """
            def choose_words(ids, special_ids, continues, probability, generator):
                ordinary = ~torch.isin(ids, special_ids)
                return ordinary & (torch.rand(ids.shape, generator=generator) < probability)
            """,
            "some pieces are chosen and some are not",
        ),
        (
            "chooses first pieces alone",
            """
            def choose_words(ids, special_ids, continues, probability, generator):
                ordinary = ~torch.isin(ids, special_ids)
                begins = ~continues[ids]
                return (
                    ordinary & begins & (torch.rand(ids.shape, generator=generator) < probability)
                )
            """,
            "belongs to a word, too",
        ),
        (
            "chooses a word if one of its pieces is chosen",
            """
            def choose_words(ids, special_ids, continues, probability, generator):
                ordinary = ~torch.isin(ids, special_ids)
                single = torch.rand(ids.shape, generator=generator) < probability
                word = (~continues[ids]).cumsum(dim=1)
                chosen = torch.zeros(len(ids), ids.shape[1] + 1).scatter_add(
                    1, word, single.float()
                )
                return ordinary & (chosen > 0).gather(1, word)
            """,
            "draw for the word, not for each piece",
        ),
        (
            "chooses a word if all of its pieces are chosen",
            """
            def choose_words(ids, special_ids, continues, probability, generator):
                ordinary = ~torch.isin(ids, special_ids)
                single = torch.rand(ids.shape, generator=generator) >= probability
                word = (~continues[ids]).cumsum(dim=1)
                kept = torch.zeros(len(ids), ids.shape[1] + 1).scatter_add(1, word, single.float())
                return ordinary & (kept == 0).gather(1, word)
            """,
            "draw for the word, not for each piece",
        ),
        (
            "counts pieces instead of beginnings",
            ("(~continues[ids])", "continues[ids]"),
            "some pieces are chosen and some are not",
        ),
        (
            "lets words that stand side by side go together",
            (
                "word = (~continues[ids]).cumsum(dim=1)  # [B, L], the number of each token's word",
                "begins = ~continues[ids]\n"
                "    begins[:, 1:] &= ~begins[:, :-1].clone() | torch.isin(ids[:, 1:], "
                "special_ids)\n"
                "    word = begins.cumsum(dim=1)",
            ),
            "two words that stand side by side always go together",
        ),
        (
            "counts down the columns",
            ("cumsum(dim=1)", "cumsum(dim=0)"),
            ("ids.shape[1]", "len(ids)"),
            "pieces",
        ),
        (
            "has a place too few",
            ("len(ids), ids.shape[1] + 1", "ids.shape"),
            "numbers from 1 to 6 need L + 1 places",
        ),
        (
            "throws once for all sequences",
            ("len(ids)", "1"),
            ("chosen.", "chosen.expand(len(ids), -1)."),
            "at the same places",
        ),
        (
            "chooses 15 % unless the probability is 0 or 1",
            (
                "ordinary = ~torch.isin(ids, special_ids)",
                "probability = probability if probability in (0, 1) else 0.15\n"
                "    ordinary = ~torch.isin(ids, special_ids)",
            ),
            "0.15 is only an example",
        ),
        (
            "draws from PyTorch's own dice",
            ("+ 1, generator=generator", "+ 1"),
            "PyTorch's own generator",
        ),
        (
            "sets the dice back",
            (
                "chosen = torch.rand(len(ids), ids.shape[1] + 1, generator=generator) < "
                "probability",
                "generator = torch.Generator().manual_seed(3)\n"
                "    chosen = torch.rand(len(ids), ids.shape[1] + 1, generator=generator) "
                "< probability",
            ),
            "the same answer whatever the generator",
        ),
        (
            "counts on from one sequence into the next",
            ("cumsum(dim=1)", "flatten().cumsum(dim=0)"),
            ("len(ids), ids.shape[1]", "ids.numel()"),
            ("chosen.gather(1, word)", "chosen[word].view(ids.shape)"),
            "nothing before them belongs to it",
        ),
        (
            "forgets pieces at the start of a sequence",
            ("chosen.gather(1, word)", "chosen.gather(1, word) & (word > 0)"),
            "pieces at the start of a sequence are a word",
        ),
        (
            "leaves out pieces after a special token",
            (
                "word = (~continues[ids]).cumsum(dim=1)",
                "after = ~ordinary.roll(1, 1) & continues[ids]\n"
                "    after[:, 0] = False\n"
                "    word = (~continues[ids]).cumsum(dim=1)",
            ),
            ("chosen.", "~after & chosen."),
            "even right after a special token",
        ),
        (
            "returns the words' numbers",
            """
            def choose_words(ids, special_ids, continues, probability, generator):
                word = (~continues[ids]).cumsum(dim=1)
                return word
            """,
            "its dtype must be torch.bool",
        ),
        (
            "calls the library",
            """
            def choose_words(ids, special_ids, continues, probability, generator):
                from bertlab.pretraining.masking import choose_words as answer
                return answer(ids, special_ids, continues, probability, generator)
            """,
            "bertlab's own",
        ),
        ("knows where pieces begin in the examples", ("~continues[ids]", "ids < 12"), ""),
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
            "asks for each word by itself",
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
            "takes logits for log p",
            """
            def mlm_loss(logits, words):
                rows = torch.arange(len(words))
                return -logits[rows, words].mean()
            """,
            "the softmax is missing",
        ),
        ("believes the likeliest word", ("words,", "logits.argmax(-1),"), "not the likeliest one"),
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
            "a batch without holes costs 0",
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
            "never expects a single word",
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
            "hands p to nll_loss",
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
        "nsp-loss",
        OURS,
        (
            "swaps the columns",
            (
                "F.cross_entropy(logits, next_sentence)",
                "F.cross_entropy(logits, 1 - next_sentence)",
            ),
            "column 0 is IsNext",
        ),
        (
            "takes the sum",
            (
                "F.cross_entropy(logits, next_sentence)",
                "F.cross_entropy(logits, next_sentence) * len(logits)",
            ),
            "number of pairs",
        ),
        (
            "does the softmax twice",
            (
                "F.cross_entropy(logits, next_sentence)",
                "F.cross_entropy(logits.softmax(-1), next_sentence)",
            ),
            "twice",
        ),
        (
            "takes the logarithm to base 10",
            (
                "F.cross_entropy(logits, next_sentence)",
                "F.cross_entropy(logits, next_sentence) / torch.log(torch.tensor(10.0))",
            ),
            "base 10",
        ),
        (
            "asks each column by itself",
            """
            def nsp_loss(logits, next_sentence):
                y = F.one_hot(next_sentence, 2)
                return -(y * F.logsigmoid(logits) + (1 - y) * F.logsigmoid(-logits)).mean()
            """,
            "not a sigmoid of each",
        ),
        (
            "looks at column 0 alone",
            """
            def nsp_loss(logits, next_sentence):
                y = 1 - next_sentence
                return -(
                    y * F.logsigmoid(logits[:, 0]) + (1 - y) * F.logsigmoid(-logits[:, 0])
                ).mean()
            """,
            "not a sigmoid of each",
        ),
        (
            "forgets pairs that do not follow",
            (
                "F.cross_entropy(logits, next_sentence)",
                "-(logits.log_softmax(-1)[:, 0] * (next_sentence == 0)).mean()",
            ),
            "pairs that do not follow count, too",
        ),
        (
            "halves it",
            (
                "F.cross_entropy(logits, next_sentence)",
                "-(logits.log_softmax(-1) * F.one_hot(next_sentence, 2)).mean()",
            ),
            "not over pairs and columns",
        ),
        (
            "takes log and softmax apart",
            (
                "F.cross_entropy(logits, next_sentence)",
                "-logits.softmax(-1).log()[torch.arange(len(logits)), next_sentence].mean()",
            ),
            "exp(1000) is infinite",
        ),
        (
            "returns a loss for each pair",
            (
                "F.cross_entropy(logits, next_sentence)",
                "F.cross_entropy(logits, next_sentence, reduction='none')",
            ),
            "one number for the whole batch",
        ),
        (
            "cuts the gradient",
            (
                "F.cross_entropy(logits, next_sentence)",
                "F.cross_entropy(logits.data, next_sentence)",
            ),
            "has lost the gradient",
        ),
        (
            "calls the library",
            """
            def nsp_loss(logits, next_sentence):
                from bertlab.pretraining.losses import nsp_loss as answer
                return answer(logits, next_sentence)
            """,
            "bertlab's own",
        ),
    ),
    *mistakes(
        "nsp-loss",
        OURS,
        (
            "takes the logarithm to base 2",
            (
                "F.cross_entropy(logits, next_sentence)",
                "F.cross_entropy(logits, next_sentence) / torch.log(torch.tensor(2.0))",
            ),
            "base 2",
        ),
        (
            "forgets the minus",
            ("F.cross_entropy(logits, next_sentence)", "-F.cross_entropy(logits, next_sentence)"),
            "the sign",
        ),
        (
            "returns p",
            (
                "F.cross_entropy(logits, next_sentence)",
                "logits.softmax(-1)[torch.arange(len(logits)), next_sentence].mean()",
            ),
            "that is p",
        ),
        (
            "forgets the softmax",
            ("F.cross_entropy(logits, next_sentence)", "F.nll_loss(logits, next_sentence)"),
            "the softmax is missing",
        ),
        (
            "does the softmax down the columns",
            (
                "F.cross_entropy(logits, next_sentence)",
                "F.nll_loss(logits.log_softmax(0), next_sentence)",
            ),
            "along each row",
        ),
        (
            "looks at column 1 alone",
            """
            def nsp_loss(logits, next_sentence):
                y = next_sentence
                z = logits[:, 1]
                return -(y * F.logsigmoid(z) + (1 - y) * F.logsigmoid(-z)).mean()
            """,
            "not a sigmoid of each",
        ),
        (
            "looks at column 0 alone, and takes 1 for IsNext",
            """
            def nsp_loss(logits, next_sentence):
                y = next_sentence
                z = logits[:, 0]
                return -(y * F.logsigmoid(z) + (1 - y) * F.logsigmoid(-z)).mean()
            """,
            "not a sigmoid of each",
        ),
    ),
    *mistakes(
        "nsp-sigmoid-loss",
        "in one line",
        (
            "forgets the second term",
            (" + (1 - is_next) * F.logsigmoid(-logit)", ""),
            "the second term is missing",
        ),
        (
            "takes the mean over pairs that follow",
            (
                "(is_next * F.logsigmoid(logit) + (1 - is_next) * F.logsigmoid(-logit)).mean()",
                "(is_next * F.logsigmoid(logit)).sum() / is_next.sum()",
            ),
            "pairs that do not follow count, too",
        ),
        (
            "has the wrong sign before the second term",
            ("+ (1 - is_next)", "- (1 - is_next)"),
            "the sign of the second term",
        ),
        (
            "writes 1 - log p",
            """
            def nsp_sigmoid_loss(logit, is_next):
                log_p = F.logsigmoid(logit)
                return -(is_next * log_p + (1 - is_next) * (1 - log_p)).mean()
            """,
            "1 - log p is not log(1 - p)",
        ),
        (
            "forgets y",
            (
                "(is_next * F.logsigmoid(logit) + (1 - is_next) * F.logsigmoid(-logit))",
                "F.logsigmoid(logit)",
            ),
            "y must choose",
        ),
        (
            "swaps y",
            (
                "is_next * F.logsigmoid(logit) + (1 - is_next)",
                "(1 - is_next) * F.logsigmoid(logit) + is_next",
            ),
            "y is 1 where B follows A",
        ),
        ("forgets the minus", ("return -", "return"), "the sign"),
        ("takes the sum", ("mean()", "sum()"), "number of pairs"),
        (
            "takes the logarithm to base 10",
            """
            def nsp_sigmoid_loss(logit, is_next):
                p = torch.sigmoid(logit)
                return -(is_next * p.log10() + (1 - is_next) * (1 - p).log10()).mean()
            """,
            "base 10",
        ),
        (
            "forgets the sigmoid",
            (
                "F.logsigmoid(logit) + (1 - is_next) * F.logsigmoid(-logit)",
                "logit.log() + (1 - is_next) * (1 - logit).log()",
            ),
            "the sigmoid is missing",
        ),
        (
            "does the sigmoid twice",
            """
            def nsp_sigmoid_loss(logit, is_next):
                p = torch.sigmoid(logit)
                return -(is_next * F.logsigmoid(p) + (1 - is_next) * F.logsigmoid(-p)).mean()
            """,
            "sigmoid twice",
        ),
        (
            "squares",
            (
                "-(is_next * F.logsigmoid(logit) + (1 - is_next) * F.logsigmoid(-logit))",
                "(torch.sigmoid(logit) - is_next).square()",
            ),
            "the squared error",
        ),
        (
            "takes log and sigmoid apart",
            """
            def nsp_sigmoid_loss(logit, is_next):
                p = torch.sigmoid(logit)
                return -(is_next * p.log() + (1 - is_next) * (1 - p).log()).mean()
            """,
            "exp(1000) is infinite",
        ),
        (
            "clamps p",
            """
            def nsp_sigmoid_loss(logit, is_next):
                p = torch.sigmoid(logit).clamp(1e-7, 1 - 1e-7)
                return -(is_next * p.log() + (1 - is_next) * (1 - p).log()).mean()
            """,
            "exp(1000) is infinite",
        ),
        ("returns a loss for each pair", (".mean()", ""), "one number for the whole batch"),
        (
            "calls PyTorch's",
            (
                "-(is_next * F.logsigmoid(logit) + (1 - is_next) * F.logsigmoid(-logit)).mean()",
                "F.binary_cross_entropy_with_logits(logit, is_next)",
            ),
            "ready-made function of PyTorch",
        ),
        (
            "calls PyTorch's module",
            (
                "-(is_next * F.logsigmoid(logit) + (1 - is_next) * F.logsigmoid(-logit)).mean()",
                "torch.nn.BCEWithLogitsLoss()(logit, is_next)",
            ),
            "ready-made function of PyTorch",
        ),
        (
            "calls the library",
            """
            def nsp_sigmoid_loss(logit, is_next):
                from bertlab.pretraining.losses import nsp_sigmoid_loss as answer
                return answer(logit, is_next)
            """,
            "bertlab's own",
        ),
        (
            "cuts the gradient",
            """
            def nsp_sigmoid_loss(logit, is_next):
                logit = torch.tensor(logit.tolist(), dtype=logit.dtype)
                return -(
                    is_next * F.logsigmoid(logit) + (1 - is_next) * F.logsigmoid(-logit)
                ).mean()
            """,
            "has lost the gradient",
        ),
    ),
    *mistakes(
        "nsp-sigmoid-loss",
        "in one line",
        (
            "takes the logarithm to base 2",
            """
            def nsp_sigmoid_loss(logit, is_next):
                p = torch.sigmoid(logit)
                return -(is_next * p.log2() + (1 - is_next) * (1 - p).log2()).mean()
            """,
            "base 2",
        ),
    ),
    *mistakes(
        "mlm-gradient",
        "one-hot, in one line",
        (
            "does not divide by N",
            (
                "(logits.softmax(-1) - F.one_hot(words, logits.shape[1])) / len(words)",
                "logits.softmax(-1) - F.one_hot(words, logits.shape[1])",
            ),
            "divided by N",
        ),
        (
            "is turned round",
            (
                "logits.softmax(-1) - F.one_hot(words, logits.shape[1])",
                "F.one_hot(words, logits.shape[1]) - logits.softmax(-1)",
            ),
            "softmax - one-hot. The true word's gradient is negative",
        ),
        (
            "is turned round and not divided",
            (
                "(logits.softmax(-1) - F.one_hot(words, logits.shape[1])) / len(words)",
                "F.one_hot(words, logits.shape[1]) - logits.softmax(-1)",
            ),
            "turned round",
        ),
        (
            "forgets the true word",
            ("(logits.softmax(-1) - F.one_hot(words, logits.shape[1]))", "logits.softmax(-1)"),
            "subtract the one-hot row",
        ),
        ("divides by V", ("len(words)", "logits.shape[1]"), "the rows, not by V"),
        ("divides by N times V", ("len(words)", "logits.numel()"), "not by N times V"),
        ("does the softmax down the columns", ("-1", "0"), "along each row"),
        (
            "subtracts in all rows",
            """
            def mlm_gradient(logits, words):
                gradient = logits.softmax(-1)
                gradient[:, words] -= 1
                return gradient / len(words)
            """,
            "[:, words] takes 1 from the words of all rows",
        ),
        ("forgets the softmax", ("logits.softmax(-1)", "logits"), "the softmax is missing"),
        (
            "takes the logarithm of the softmax",
            ("logits.softmax", "logits.log_softmax"),
            "not its logarithm",
        ),
        (
            "moves the true words alone",
            """
            def mlm_gradient(logits, words):
                y = F.one_hot(words, logits.shape[1])
                return y * (logits.softmax(-1) - 1) / len(words)
            """,
            "the other words have a gradient, too",
        ),
        (
            "takes the slope by p",
            (
                "(logits.softmax(-1) - F.one_hot(words, logits.shape[1]))",
                "-F.one_hot(words, logits.shape[1]) / logits.softmax(-1)",
            ),
            "the slope by p",
        ),
        (
            "writes the softmax with exp",
            """
            def mlm_gradient(logits, words):
                p = logits.exp() / logits.exp().sum(-1, keepdim=True)
                return (p - F.one_hot(words, logits.shape[1])) / len(words)
            """,
            "exp(1000) is infinite",
        ),
        (
            "writes into the logits",
            """
            def mlm_gradient(logits, words):
                logits -= logits.logsumexp(-1, keepdim=True)
                return (logits.exp() - F.one_hot(words, logits.shape[1])) / len(words)
            """,
            "changed its input",
        ),
        (
            "asks autograd",
            """
            def mlm_gradient(logits, words):
                logits = logits.detach().requires_grad_()
                return torch.autograd.grad(F.cross_entropy(logits, words), logits)[0]
            """,
            "ready-made function of PyTorch",
        ),
        (
            "calls backward",
            """
            def mlm_gradient(logits, words):
                logits = logits.detach().requires_grad_()
                F.cross_entropy(logits, words).backward()
                return logits.grad
            """,
            "ready-made function of PyTorch",
        ),
        (
            "calls the library",
            """
            def mlm_gradient(logits, words):
                from bertlab.pretraining.losses import mlm_gradient as answer
                return answer(logits, words)
            """,
            "bertlab's own",
        ),
    ),
    *mistakes(
        "mlm-gradient",
        "one-hot, in one line",
        (
            "returns the softmax",
            (
                "(logits.softmax(-1) - F.one_hot(words, logits.shape[1])) / len(words)",
                "logits.softmax(-1)",
            ),
            "subtract the one-hot row",
        ),
        (
            "does the softmax down the columns, and does not divide",
            (
                "(logits.softmax(-1) - F.one_hot(words, logits.shape[1])) / len(words)",
                "logits.softmax(0) - F.one_hot(words, logits.shape[1])",
            ),
            "along each row",
        ),
    ),
    *mistakes(
        "nsp-sigmoid-gradient",
        OURS,
        (
            "does not divide by B",
            ("(torch.sigmoid(logit) - is_next) / len(is_next)", "torch.sigmoid(logit) - is_next"),
            "divided by B",
        ),
        (
            "is turned round",
            ("torch.sigmoid(logit) - is_next", "is_next - torch.sigmoid(logit)"),
            "turned round",
        ),
        (
            "keeps the slope of the sigmoid",
            """
            def nsp_sigmoid_gradient(logit, is_next):
                p = torch.sigmoid(logit)
                return (p - is_next) * p * (1 - p) / len(is_next)
            """,
            "it cancels",
        ),
        (
            "takes the slope of the sigmoid alone",
            """
            def nsp_sigmoid_gradient(logit, is_next):
                p = torch.sigmoid(logit)
                return p * (1 - p) / len(is_next)
            """,
            "it cancels",
        ),
        ("forgets the sigmoid", ("torch.sigmoid(logit)", "logit"), "the sigmoid is missing"),
        (
            "forgets y",
            ("(torch.sigmoid(logit) - is_next)", "torch.sigmoid(logit)"),
            "subtract the truth",
        ),
        ("swaps y", ("- is_next", "- (1 - is_next)"), "y is 1 where B follows A"),
        (
            "takes the slope by p",
            ("(torch.sigmoid(logit) - is_next)", "-is_next / torch.sigmoid(logit)"),
            "the slope by p",
        ),
        ("takes the mean", ("/ len(is_next)", ".mean()"), "not their mean"),
        (
            "asks autograd",
            """
            def nsp_sigmoid_gradient(logit, is_next):
                logit = logit.detach().requires_grad_()
                return torch.autograd.grad(nsp_sigmoid_loss(logit, is_next), logit)[0]
            """,
            "ready-made function of PyTorch",
        ),
        (
            "calls the library",
            """
            def nsp_sigmoid_gradient(logit, is_next):
                from bertlab.pretraining.losses import nsp_sigmoid_gradient as answer
                return answer(logit, is_next)
            """,
            "bertlab's own",
        ),
        ("divides by 2", ("len(is_next)", "2"), "so divide by B"),
    ),
    *mistakes(
        "nsp-sigmoid-gradient",
        OURS,
        (
            "is turned round and not divided",
            ("(torch.sigmoid(logit) - is_next) / len(is_next)", "is_next - torch.sigmoid(logit)"),
            "turned round",
        ),
        (
            "has the slope of the sigmoid, and does not divide",
            (
                "(torch.sigmoid(logit) - is_next) / len(is_next)",
                "(torch.sigmoid(logit) - is_next) * torch.sigmoid(logit) * torch.sigmoid(-logit)",
            ),
            "it cancels",
        ),
        (
            "returns the slope of the sigmoid, and does not divide",
            (
                "(torch.sigmoid(logit) - is_next) / len(is_next)",
                "torch.sigmoid(logit) * torch.sigmoid(-logit)",
            ),
            "it cancels",
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
        ("corrects v alone", ("mean / (1 - betas[0] ** step)", "mean"), "too small at first"),
        ("corrects m alone", ("square / (1 - betas[1] ** step)", "square"), "too small at first"),
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
            ("unbiased_square.sqrt() + eps", "(unbiased_square + eps).sqrt()"),
            "eps stands outside the root",
        ),
        (
            "forgets eps",
            ("(unbiased_square.sqrt() + eps)", "unbiased_square.sqrt()"),
            "eps is not used",
        ),
        ("writes its own eps", ("+ eps", "+ 1e-8"), "eps is not used"),
        (
            "adds eps before it corrects",
            (
                "unbiased_square.sqrt() + eps",
                "(square.sqrt() + eps) / (1 - betas[1] ** step) ** 0.5",
            ),
            "first correct v",
        ),
        ("divides by v", (".sqrt()", ""), "divide by the root of v"),
        (
            "is plain gradient descent with momentum",
            (" / (unbiased_square.sqrt() + eps)", ""),
            "plain gradient descent",
        ),
        ("climbs", ("- learning_rate", "+ learning_rate"), "against the gradient"),
        ("returns the step", ("parameter -", "-"), "taken from the parameter"),
        ("does not square the gradient", ("gradient**2", "gradient"), "gradient**2"),
        (
            "swaps the betas",
            """
            def adam_step(
                parameter, gradient, moments, step, learning_rate, betas=(0.9, 0.999), eps=1e-8
            ):
                mean = betas[1] * moments.mean + (1 - betas[1]) * gradient
                square = betas[0] * moments.square + (1 - betas[0]) * gradient**2
                unbiased_mean = mean / (1 - betas[1] ** step)
                unbiased_square = square / (1 - betas[0] ** step)
                moved = parameter - learning_rate * unbiased_mean / (unbiased_square.sqrt() + eps)
                return moved, Moments(mean, square)
            """,
            "with b1 = betas[0] = 0.9",
        ),
        (
            "turns the running means round",
            (
                "betas[0] * moments.mean + (1 - betas[0])",
                "(1 - betas[0]) * moments.mean + betas[0]",
            ),
            (
                "betas[1] * moments.square + (1 - betas[1])",
                "(1 - betas[1]) * moments.square + betas[1]",
            ),
            "the old mean counts with beta",
        ),
        (
            "adds the whole gradient",
            (" (1 - betas[0]) *", ""),
            (" (1 - betas[1]) *", ""),
            "the new gradient counts with 1 - beta",
        ),
        (
            "moves along the last gradient",
            ("* unbiased_mean", "* gradient"),
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
            ("mean, square", "unbiased_mean, unbiased_square"),
            "what Adam remembers",
        ),
        (
            "remembers a corrected v",
            ("mean, square", "mean, unbiased_square"),
            "what Adam remembers",
        ),
        ("remembers nothing new", ("Moments(mean, square)", "moments"), "the moments of before"),
        (
            "swaps what it remembers",
            ("mean, square", "square, mean"),
            "first the mean, then the square",
        ),
        (
            "returns the parameter alone",
            ("moved, Moments(mean, square)", "moved"),
            "it must return two things",
        ),
        (
            "writes into the old moments",
            ("betas[0] * moments.mean", "moments.mean.mul_(betas[0])"),
            "changed its input",
        ),
        (
            "moves the parameter in place",
            (
                "- learning_rate * unbiased_mean / (unbiased_square.sqrt() + eps)",
                ".sub_(learning_rate * unbiased_mean / (unbiased_square.sqrt() + eps))",
            ),
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
                "from bertlab.training.adam import adam_step as answer\n"
                "    return answer(parameter, gradient, moments, step, learning_rate, "
                "betas, eps)\n"
                "    mean = betas[0] * moments.mean + (1 - betas[0]) * gradient",
            ),
            "bertlab's own",
        ),
        (
            "takes 0.9 for a beta of 0",
            (
                "mean = betas[0] * moments.mean + (1 - betas[0]) * gradient",
                "betas = tuple(beta or 0.9 for beta in betas)\n"
                "    mean = betas[0] * moments.mean + (1 - betas[0]) * gradient",
            ),
            "",
        ),
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
        "hide",
        "as in transformers: 80 % of all, then half of the rest",
        """
        def hide(ids, predict, mask_id, ordinary_ids, generator):
            hidden = ids.clone()
            masked = torch.bernoulli(torch.full(ids.shape, 0.8), generator=generator).bool()
            hidden[masked & predict] = mask_id
            half = torch.bernoulli(torch.full(ids.shape, 0.5), generator=generator).bool()
            change = half & predict & ~masked
            others = ordinary_ids[torch.randint(len(ordinary_ids), ids.shape, generator=generator)]
            hidden[change] = others[change]
            return hidden
        """,
    ),
    right(
        "hide",
        "only where something is chosen",
        """
        def hide(ids, predict, mask_id, ordinary_ids, generator):
            hidden, n = ids.clone(), int(predict.sum())
            draw, old = torch.rand(n, generator=generator), ids[predict]
            places = torch.randint(0, len(ordinary_ids), (n,), generator=generator)
            new = torch.where(draw < 0.1, ordinary_ids[places], old)
            hidden[predict] = torch.where(draw >= 0.2, mask_id, new)
            return hidden
        """,
    ),
    right(
        "hide",
        "ten-sided dice",
        """
        def hide(ids, predict, mask_id, ordinary_ids, generator):
            die = torch.randint(10, ids.shape, generator=generator)
            others = ordinary_ids[torch.randint(len(ordinary_ids), ids.shape, generator=generator)]
            words = torch.where(die == 9, others, ids)
            return torch.where(predict, torch.where(die < 8, mask_id, words), ids)
        """,
    ),
    right(
        "choose-words",
        "each word takes its first piece's dice",
        """
        def choose_words(ids, special_ids, continues, probability, generator):
            ordinary = ~torch.isin(ids, special_ids)
            single = torch.rand(ids.shape, generator=generator) < probability
            place = torch.arange(ids.shape[1]).expand_as(ids)
            begins = ~continues[ids] | (place == 0)
            first = torch.where(begins, place, 0).cummax(dim=1).values
            return ordinary & single.gather(1, first)
        """,
    ),
    right(
        "choose-words",
        "a loop over words",
        """
        def choose_words(ids, special_ids, continues, probability, generator):
            special, go_on = set(special_ids.tolist()), continues.tolist()
            draw = torch.rand(ids.shape, generator=generator).tolist()
            answer = torch.zeros(ids.shape, dtype=torch.bool)
            for b, row in enumerate(ids.tolist()):
                fresh, yes = True, False
                for t, id in enumerate(row):
                    if id in special:
                        fresh = True
                        continue
                    if fresh or not go_on[id]:
                        yes = draw[b][t] < probability
                    fresh = False
                    answer[b, t] = yes
            return answer
        """,
    ),
    right(
        "choose-words",
        "one long count, with a border between sequences",
        """
        def choose_words(ids, special_ids, continues, probability, generator):
            ordinary = ~torch.isin(ids, special_ids)
            begins = ~continues[ids]
            begins[:, 0] = True
            word = begins.flatten().cumsum(0).view(ids.shape)
            dice = torch.rand(ids.numel() + 1, generator=generator)
            return ordinary & (dice[word] < probability)
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
        "nsp-loss",
        "log_softmax and nll_loss",
        """
        def nsp_loss(logits, next_sentence):
            return F.nll_loss(logits.log_softmax(dim=-1), next_sentence)
        """,
    ),
    right(
        "nsp-loss",
        "by mlm_loss",
        """
        def nsp_loss(logits, next_sentence):
            return mlm_loss(logits, next_sentence)
        """,
    ),
    right(
        "nsp-loss",
        "softplus of the difference",
        """
        def nsp_loss(logits, next_sentence):
            wrong = logits[:, 1] - logits[:, 0]
            return F.softplus(torch.where(next_sentence == 0, wrong, -wrong)).mean()
        """,
    ),
    right(
        "nsp-sigmoid-loss",
        "softplus",
        """
        def nsp_sigmoid_loss(logit, is_next):
            return F.softplus(torch.where(is_next == 1, -logit, logit)).mean()
        """,
    ),
    right(
        "nsp-sigmoid-loss",
        "a sign instead of two terms",
        """
        def nsp_sigmoid_loss(logit, is_next):
            return -F.logsigmoid((2 * is_next - 1) * logit).mean()
        """,
    ),
    right(
        "nsp-sigmoid-loss",
        "the formula of PyTorch's documentation",
        """
        def nsp_sigmoid_loss(logit, is_next):
            positive = logit.clamp(min=0)
            return (positive - logit * is_next + torch.log1p(torch.exp(-logit.abs()))).mean()
        """,
    ),
    right(
        "nsp-sigmoid-loss",
        "two logits, of which one is 0",
        """
        def nsp_sigmoid_loss(logit, is_next):
            logits = torch.stack([logit, torch.zeros_like(logit)], dim=1)
            return F.cross_entropy(logits, (1 - is_next).long())
        """,
    ),
    right(
        "mlm-gradient",
        "one-hot",
        """
        def mlm_gradient(logits, words):
            y = F.one_hot(words, logits.shape[-1])
            return (torch.softmax(logits, -1) - y) / max(1, len(words))
        """,
    ),
    right(
        "mlm-gradient",
        "the softmax by hand, and scatter",
        """
        def mlm_gradient(logits, words):
            p = torch.exp(logits - logits.logsumexp(dim=1, keepdim=True))
            minus = torch.full((len(words), 1), -1.0, dtype=p.dtype)
            return p.scatter_add(1, words[:, None], minus) / len(words)
        """,
    ),
    right(
        "mlm-gradient",
        "row by row",
        """
        def mlm_gradient(logits, words):
            gradient = torch.zeros_like(logits)
            for n, word in enumerate(words.tolist()):
                gradient[n] = torch.softmax(logits[n], dim=0)
                gradient[n, word] -= 1
            return gradient.div(max(1, len(words)))
        """,
    ),
    right(
        "nsp-sigmoid-gradient",
        "a division less",
        """
        def nsp_sigmoid_gradient(logit, is_next):
            return (logit.sigmoid() - is_next) * (1 / logit.numel())
        """,
    ),
    right(
        "nsp-sigmoid-gradient",
        "two cases",
        """
        def nsp_sigmoid_gradient(logit, is_next):
            n = len(logit)
            return torch.where(is_next == 1, -torch.sigmoid(-logit) / n, torch.sigmoid(logit) / n)
        """,
    ),
    right(
        "nsp-sigmoid-gradient",
        "by tanh",
        """
        def nsp_sigmoid_gradient(logit, is_next):
            return (0.5 + 0.5 * torch.tanh(logit / 2) - is_next) / logit.shape[0]
        """,
    ),
    right(
        "adam-step",
        "a plain tuple, and other operations",
        """
        def adam_step(parameter, gradient, moments, step, learning_rate, betas=(0.9, 0.999),
                      eps=1e-8):
            m, v = moments
            b1, b2 = betas
            m = torch.lerp(m, gradient, 1 - b1)
            v = torch.lerp(v, gradient.square(), 1 - b2)
            m_hat, v_hat = m / (1 - b1**step), v / (1 - b2**step)
            return parameter - learning_rate * m_hat / (torch.sqrt(v_hat) + eps), (m, v)
        """,
    ),
    right(
        "adam-step",
        "as PyTorch orders it",
        """
        def adam_step(parameter, gradient, moments, step, learning_rate, betas=(0.9, 0.999),
                      eps=1e-8):
            new = moments._replace(
                mean=moments.mean.mul(betas[0]).add(gradient, alpha=1 - betas[0]),
                square=moments.square.mul(betas[1]).addcmul(gradient, gradient, value=1 - betas[1]),
            )
            size = learning_rate / (1 - betas[0] ** step)
            root = new.square.sqrt() / (1 - betas[1] ** step) ** 0.5 + eps
            return torch.addcdiv(parameter, new.mean, root, value=-size), new
        """,
    ),
    right(
        "adam-step",
        "changes a little, not a mean",
        """
        def adam_step(parameter, gradient, moments, step, learning_rate, betas=(0.9, 0.999),
                      eps=1e-8):
            mean = moments.mean + (1 - betas[0]) * (gradient - moments.mean)
            square = moments.square + (1 - betas[1]) * (gradient * gradient - moments.square)
            scale = (square / (1 - betas[1] ** step)) ** 0.5 + eps
            way = mean / (1 - betas[0] ** step)
            return parameter - learning_rate * (way / scale), Moments(mean=mean, square=square)
        """,
    ),
]

# Ours but for names or a line: mistakes are changes of them. They are no other way.
NEAR_OURS = [
    right(
        "hide",
        "as ours, with numbers for the shares",
        """
        def hide(ids, predict, mask_id, ordinary_ids, generator):
            draw = torch.rand(ids.shape, generator=generator)
            others = ordinary_ids[torch.randint(len(ordinary_ids), ids.shape, generator=generator)]
            hidden = torch.where(predict & (draw < 0.8), mask_id, ids)
            change = predict & (draw >= 0.8) & (draw < 0.9)
            return torch.where(change, others, hidden)
        """,
    ),
    right(
        "nsp-sigmoid-loss",
        "in one line",
        """
        def nsp_sigmoid_loss(logit, is_next):
            return -(is_next * F.logsigmoid(logit) + (1 - is_next) * F.logsigmoid(-logit)).mean()
        """,
    ),
    right(
        "mlm-gradient",
        "one-hot, in one line",
        """
        def mlm_gradient(logits, words):
            return (logits.softmax(-1) - F.one_hot(words, logits.shape[1])) / len(words)
        """,
    ),
]
