"""Exercise 12, after BERT: wrong answers, and right ones written differently."""

from course.answers import OURS, mistakes, right

WRONG = [
    *mistakes(
        "soft-target-loss",
        OURS,
        (
            "weights by the student",
            ("log_t.exp() * (log_t - log_s)", "log_s.exp() * (log_s - log_t)"),
            "the teacher's probabilities are the weights",
        ),
        ("with the other sign", ("log_t - log_s", "log_s - log_t"), "never below 0"),
        ("the cross-entropy", ("(log_t - log_s)", "-log_s"), "ln t is missing"),
        ("a mean over words", (".sum(dim=-1).mean()", ".mean()"), "the mean is over the rows"),
        ("forgets T²", ("temperature**2 * (log_t", "(log_t"), "multiply by T²"),
        ("T once", ("temperature**2", "temperature"), "T², not T"),
        (
            "no softening",
            ("(student / temperature)", "student"),
            ("(teacher / temperature)", "teacher"),
            "before the softmax",
        ),
        ("a hard student", ("(student / temperature)", "student"), "the student, too"),
        ("a hard teacher", ("(teacher / temperature)", "teacher"), "the teacher, too"),
        (
            "multiplies by the temperature",
            ("(student / temperature)", "(student * temperature)"),
            ("(teacher / temperature)", "(teacher * temperature)"),
            "do not multiply",
        ),
        ("a sum over rows", (".sum(dim=-1).mean()", ".sum()"), "over the rows, not the sum"),
        (
            "is PyTorch's",
            (
                "(log_t.exp() * (log_t - log_s)).sum(dim=-1).mean()",
                "torch.nn.functional.kl_div(log_s, log_t, reduction='batchmean', log_target=True)",
            ),
            "ready-made",
        ),
        (
            "logarithms of a softmax",
            (
                "(student / temperature).log_softmax(dim=-1)",
                "(student / temperature).softmax(1).log()",
            ),
            "",
        ),
        ("cuts off the gradient", ("log_s = (student", "log_s = (student.detach()"), ""),
        ("knows two rows at most", (".sum(dim=-1).mean()", "[:2].sum(dim=-1).mean()"), ""),
    ),
    *mistakes(
        "span-law",
        OURS,
        ("does not divide", ("return chances / chances.sum()", "return chances"), "must sum to 1"),
        (
            "gives the rest to the longest",
            (
                "    return chances / chances.sum()",
                "    chances[-1] += 1 - chances.sum()\n    return chances",
            ),
            "the longest gets no extra",
        ),
        (
            "the longest first",
            ("chances / chances.sum()", "(chances / chances.sum()).flip(0)"),
            "short spans",
        ),
        (
            "all equal",
            ("p * (1 - p) ** torch.arange(float(longest))", "torch.ones(longest)"),
            "short spans",
        ),
        (
            "from 0 to longest",
            ("arange(float(longest))", "arange(float(longest + 1))"),
            "one entry for each",
        ),
        (
            "one too few",
            ("arange(float(longest))", "arange(float(longest - 1))"),
            "one entry for each",
        ),
        (
            "confuses heads and tails",
            ("p * (1 - p) **", "(1 - p) * p **"),
            "p is the probability of heads",
        ),
        (
            "a softmax of them",
            ("chances / chances.sum()", "chances.softmax(dim=0)"),
            "as in the statement",
        ),
        ("adds one to each", ("return chances", "chances += 1\n    return chances"), "as in"),
        (
            "fails where all others have 0",
            """
            import math

            def span_law(p, longest):
                chances = [math.exp((n - 1) * math.log(1 - p)) for n in range(1, longest + 1)]
                return torch.tensor(chances) / sum(chances)
            """,
            "raised ValueError",
        ),
        (
            "handles ten lengths",
            ("arange(float(longest))", "arange(float(longest)).clamp(max=9)"),
            "",
        ),
    ),
    *mistakes(
        "choose-spans",
        OURS,
        (
            "hides the free part of a span",
            ("if len(there) == length and there.all():", "if True:"),
            ("hidden[start : start + length] = True", "hidden[start : start + length] |= there"),
            "with one token that is not free",
        ),
        (
            "does not shorten",
            (
                "length = min(length, budget - int(hidden.sum()))",
                "left = budget - int(hidden.sum())",
            ),
            ("there.all():", "there.all() and left > 0:"),
            "shortened to what is left",
        ),
        (
            "drops what is longer than the budget",
            (
                "length = min(length, budget - int(hidden.sum()))",
                "left = budget - int(hidden.sum())",
            ),
            ("if len(there) == length and", "if len(there) == length <= left and"),
            "is shortened, not dropped",
        ),
        (
            "ignores the budget",
            ("        length = min(length, budget - int(hidden.sum()))\n", ""),
            "it ends when the budget is spent",
        ),
        (
            "ends at the first that does not fit",
            (
                "        if len(there) == length and there.all():\n    ",
                "        if not (len(there) == length and there.all()):\n            break\n",
            ),
            "the next one is tried",
        ),
        (
            "pays for what it drops",
            (
                """
            def choose_spans(free, budget, spans):
                hidden = torch.zeros_like(free)
                for start, length in spans:
                    length = min(length, budget)
                    budget -= length
                    there = (free & ~hidden)[start : start + length]
                    if len(there) == length and there.all():
                        hidden[start : start + length] = True
                return hidden
            """
            ),
            "a dropped span costs nothing",
        ),
        (
            "checks first, then shortens",
            """
            def choose_spans(free, budget, spans):
                hidden = torch.zeros_like(free)
                for start, length in spans:
                    there = (free & ~hidden)[start : start + length]
                    if len(there) == length and there.all():
                        length = min(length, budget - int(hidden.sum()))
                        hidden[start : start + length] = True
                return hidden
            """,
            "shorten a span first",
        ),
        (
            "does not check what is free",
            ("(free & ~hidden)", "(~hidden)"),
            "the first token is not free",
        ),
        (
            "lets spans overlap",
            ("(free & ~hidden)", "free"),
            "one token that is hidden",
        ),
        (
            "keeps a gap between spans",
            ("there.all():", "there.all() and not hidden[start - 1] | hidden[start + length]:"),
            "two spans may be adjacent",
        ),
        (
            "cuts off at the end of the text",
            ("if len(there) == length and there.all():", "if there.all():"),
            "reaches beyond the text",
        ),
        (
            "wraps around",
            """
            def choose_spans(free, budget, spans):
                hidden = torch.zeros_like(free)
                for start, length in spans:
                    length = min(length, budget - int(hidden.sum()))
                    places = [(start + i) % len(free) for i in range(length)]
                    if (free & ~hidden)[places].all():
                        hidden[places] = True
                return hidden
            """,
            "does not continue",
        ),
        (
            "returns positions",
            ("return hidden", "return hidden.nonzero()[:, 0]"),
            "it must return a tensor of shape [10]",
        ),
        (
            "returns numbers",
            ("return hidden", "return hidden.int()"),
            "its dtype must be torch.bool",
        ),
        (
            "writes into `free`",
            ("    return hidden", "    free &= ~hidden\n    return hidden"),
            "work on a copy, x.clone()",
        ),
        ("tries five spans", ("in spans:", "in spans[:5]:"), ""),
    ),
    *mistakes(
        "detection-loss",
        OURS,
        (
            "every gap is replaced",
            ("(read != ids).to(logits.dtype)", "gaps.to(logits.dtype)"),
            "counts as original",
        ),
        (
            "a sum",
            ("return torch.nn", "return len(logits[attention_mask]) * torch.nn"),
            "the mean over the tokens",
        ),
        (
            "asks only at the gaps",
            ("logits[attention_mask], replaced[attention_mask]", "logits[gaps], replaced[gaps]"),
            "every token counts",
        ),
        ("the other sign", ("read != ids", "read == ids"), "a positive logit means: replaced"),
        (
            "nothing is replaced",
            ("(read != ids).to(logits.dtype)", "torch.zeros_like(logits)"),
            "the second gap was not filled",
        ),
        (
            "counts padding, too",
            ("logits[attention_mask], replaced[attention_mask]", "logits, replaced"),
            "padding is left out",
        ),
        (
            "divides by all",
            (
                """
            def detection_loss(logits, ids, gaps, drawn, attention_mask):
                read = ids.clone()
                read[gaps] = drawn
                z = torch.where(read != ids, -logits, logits)
                return (torch.nn.functional.softplus(z) * attention_mask).mean()
            """
            ),
            "divide by the number of tokens",
        ),
        (
            "a mean of means",
            """
            def detection_loss(logits, ids, gaps, drawn, attention_mask):
                read = ids.clone()
                read[gaps] = drawn
                z = torch.where(read != ids, -logits, logits)
                costs = torch.nn.functional.softplus(z) * attention_mask
                return (costs.sum(dim=1) / attention_mask.sum(dim=1)).mean()
            """,
            "not a mean of the rows' means",
        ),
        ("writes into the text", ("ids.clone()", "ids"), "changed its input"),
        (
            "puts the drawn words in another order",
            ("read[gaps] = drawn", "read[gaps] = drawn.flip(0)"),
            "counts as original",
        ),
        (
            "leaves tensors",
            ("logits[attention_mask], replaced", "logits[attention_mask].detach(), replaced"),
            "has lost the gradient",
        ),
        (
            "overflows",
            """
            def detection_loss(logits, ids, gaps, drawn, attention_mask):
                read = ids.clone()
                read[gaps] = drawn
                p = 1 / (1 + (-logits).exp())
                truth = torch.where(read != ids, p, 1 - p)
                return -truth[attention_mask].log().mean()
            """,
            "",
        ),
    ),
    *mistakes(
        "content-mask",
        OURS,
        (
            "is the lecture's",
            ("order.clamp(min=len(order) - n_targets - 1)", "order"),
            "whatever the order",
        ),
        (
            "does not see itself",
            ("number <= number[:, None]", "(number < number[:, None]) | (number == number.min())"),
            "a target sees itself",
        ),
        (
            "reversed",
            ("number <= number[:, None]", "number[:, None] <= number"),
            "row = the word that sees",
        ),
        (
            "all targets see each other",
            ("order.clamp(min=len(order) - n_targets - 1)", "order >= len(order) - n_targets"),
            "does not see the other",
        ),
        (
            "one more target is given",
            ("- n_targets - 1)", "- n_targets)"),
            "a given word sees no target",
        ),
        (
            "all see all",
            ("number <= number[:, None]", "number <= number[:, None].clamp(min=len(order))"),
            "no word sees a target",
        ),
        (
            "the first of the order are given",
            ("min=len(order) - n_targets - 1", "min=n_targets - 1"),
            "all others are given",
        ),
        (
            "goes by places",
            ("number = order.clamp", "number = torch.arange(len(order)).clamp"),
            "what counts is the order",
        ),
        (
            "returns numbers",
            ("number <= number[:, None]", "(number <= number[:, None]).float()"),
            "its dtype",
        ),
        ("one of them", ("n_targets - 1)", "min(n_targets, 2) - 1)"), ""),
    ),
    *mistakes(
        "query-mask",
        OURS,
        (
            "sees itself",
            ("order < order[targets]", "order <= order[targets]"),
            "does not see itself",
        ),
        (
            "only given words",
            (
                "order < order[targets][:, None]",
                "(order < order[targets[0]]).expand(n_targets, -1)",
            ),
            "a target sees the targets before it",
        ),
        (
            "the last is guessed first",
            (
                "order.argsort()[len(order) - n_targets :]",
                "order.argsort(descending=True)[:n_targets]",
            ),
            "the rows are in the order",
        ),
        (
            "all but itself",
            ("order < order[targets][:, None]", "order != order[targets][:, None]"),
            "does not see the targets after it",
        ),
        (
            "the first of the order",
            ("[len(order) - n_targets :]", "[:n_targets]"),
            "the last n_targets",
        ),
        ("treats numbers as places", ("order.argsort()[", "order["), "are not places"),
        (
            "a row for each word",
            ("order[targets][:, None]", "order[:, None]"),
            "a row for each target",
        ),
        (
            "by place",
            ("n_targets :]", "n_targets :].sort().values"),
            "not of the places",
        ),
    ),
    *mistakes(
        "nucleus",
        OURS,
        (
            "is the draft",
            """
            def nucleus(probabilities, p):
                ranked = probabilities.sort(descending=True).values
                kept = torch.where(ranked.cumsum(dim=0) <= p, ranked, 0.0)
                return kept / kept.sum()
            """,
            "the next one is needed, too",
        ),
        (
            "in their places, but without the word that reaches p",
            ("(ranked.cumsum(dim=0) - ranked < p)", "(ranked.cumsum(dim=0) <= p)"),
            "the next one is needed, too",
        ),
        (
            "in the order of size",
            (
                "torch.zeros_like(probabilities).scatter(0, places, ranked / ranked.sum())",
                "ranked / ranked.sum()",
            ),
            "stays at its place",
        ),
        ("does not scale", ("ranked / ranked.sum()", "ranked"), "must sum to 1"),
        (
            "equally likely",
            ("    return torch", "    ranked = (ranked > 0).to(ranked.dtype)\n    return torch"),
            "keep their ratios",
        ),
        (
            "does not sort",
            (
                "probabilities.sort(descending=True)",
                "(probabilities, torch.arange(len(probabilities)))",
            ),
            "sort them",
        ),
        (
            "a softmax",
            ("ranked = ranked * (", "ranked = ranked.exp() * ("),
            "no softmax",
        ),
        (
            "cuts nothing off",
            ("- ranked < p)", "- ranked < 2)"),
            "the others get 0",
        ),
        ("keeps one more", ("- ranked < p)", "- ranked <= p)"), "a third is too many"),
        (
            "never only the likeliest word",
            ("- ranked < p)", "- ranked < p).logical_or(torch.arange(len(ranked)) < 2)"),
            "one word has enough",
        ),
        (
            "keeps all that are as likely as the last",
            """
            def nucleus(probabilities, p):
                ranked = probabilities.sort(descending=True).values
                least = ranked[ranked.cumsum(dim=0) - ranked < p][-1]
                kept = probabilities * (probabilities >= least)
                return kept / kept.sum()
            """,
            "",
        ),
        (
            "writes into its input",
            ("    return torch", "    probabilities[places[ranked == 0]] = 0\n    return torch"),
            "changed its input",
        ),
        (
            "ten words at most",
            ("ranked = ranked * (", "ranked = ranked * (torch.arange(len(ranked)) < 10) * ("),
            "",
        ),
    ),
    *mistakes(
        "examine-nucleus",
        OURS,
        (
            "asserts nothing",
            """
            def examine_nucleus(function):
                function(torch.tensor([0.5, 0.5]), 0.5)
            """,
            "does not notice that the draft is wrong",
        ),
        (
            "is the draft's own test",
            """
            def examine_nucleus(function):
                assert torch.allclose(function(FOUR, 0.75), torch.tensor([2 / 3, 1 / 3, 0.0, 0.0]))
            """,
            "does not notice that the draft is wrong",
        ),
        (
            "returns True or False",
            """
            def examine_nucleus(function):
                answer = function(torch.tensor([0.25, 0.75]), 0.5)
                return torch.allclose(answer, torch.tensor([0.0, 1.0]))
            """,
            "returned",
        ),
        (
            "checks only zeros",
            """
            def examine_nucleus(function):
                answer = function(torch.tensor([0.125, 0.5, 0.125, 0.25]), 0.6)
                assert (answer > 0).tolist() == [False, True, False, True]
            """,
            "leaves what is kept as it was",
        ),
        (
            "one call",
            """
            def examine_nucleus(function):
                answer = function(torch.tensor([0.125, 0.5, 0.125, 0.25]), 0.6)
                assert torch.allclose(answer, torch.tensor([0.0, 2 / 3, 0.0, 1 / 3]))
            """,
            "looks only at each word's own probability",
        ),
        (
            "checks only the sum",
            """
            def examine_nucleus(function):
                for p in (0.3, 0.6, 0.8, 1.0):
                    answer = function(torch.tensor([0.125, 0.5, 0.125, 0.25]), p)
                    assert abs(float(answer.sum()) - 1) < 1e-5
            """,
            "looks only at each word's own probability",
        ),
        (
            "tests no exact sum",
            ("        (0.5, [0.0, 0.0, 0.0, 1.0, 0.0]),\n", ""),
            ("        (0.75, third),\n", ""),
            ("        (0.875, all_but_two),\n", ""),
            "",
        ),
        (
            "never tests a p below the likeliest word's",
            ("        (0.3, [0.0, 0.0, 0.0, 1.0, 0.0]),\n", ""),
            ("        (0.5, [0.0, 0.0, 0.0, 1.0, 0.0]),\n", ""),
            "",
        ),
        (
            "stops everything",
            """
            def examine_nucleus(function):
                raise AssertionError("wrong")
            """,
            "rejects your own `nucleus` with AssertionError: wrong",
        ),
        (
            "expects the words in the order of size",
            ("third = [0.0, 1 / 3, 0.0, 2 / 3, 0.0]", "third = [2 / 3, 1 / 3, 0.0, 0.0, 0.0]"),
            "rejects your own `nucleus`",
        ),
        (
            "decides which of two equally likely words",
            (
                "flat.sort().values, torch.tensor([0.0] * 5 + [1 / 3] * 3)",
                "flat, torch.tensor([1 / 3] * 3 + [0.0] * 5)",
            ),
            "",
        ),
    ),
    *mistakes(
        "visible",
        OURS,
        ("hides the gap", (" | (distance == 0)", ""), "the gap itself may always be seen"),
        (
            "strictly nearer",
            ("distance.abs() <= reach", "distance.abs() < reach"),
            "a token is near",
        ),
        (
            "one of both is enough",
            ("return side & (", "return side | ("),
            "must both be among parts",
        ),
        (
            "near and far swapped",
            ("distance.abs() <= reach", "distance.abs() > reach"),
            "near is at most",
        ),
        (
            "left and right swapped",
            ("(distance < 0)", "(distance >= 1)"),
            ("(distance > 0)", "(distance <= -1)"),
            "left means before",
        ),
        (
            "what is at the border counts as both",
            ("(~near & ", "((distance.abs() >= reach) & "),
            "at exactly `reach` it is near",
        ),
        (
            "forgets the distance where there is a side",
            (
                'return side & ((near & ("near" in parts)) | (~near & ("far" in parts)))',
                "return side",
            ),
            "must both be among parts",
        ),
        (
            "returns numbers",
            (" | (distance == 0)", " | (distance == 0) | torch.zeros(length).int()"),
            "its dtype",
        ),
        ("handles seven tokens", ("torch.arange(length)", "torch.arange(length).clamp(max=6)"), ""),
    ),
    *mistakes(
        "predict-rises",
        OURS,
        ("one number", ("return 0.7, 0.5", "return 0.7"), "two numbers"),
        ("nothing", ("return 0.7, 0.5", "pass"), "it returned None"),
        ("in percent", ("return 0.7, 0.5", "return 70, 50"), "from 0 to 1"),
        ("words", ("return 0.7, 0.5", 'return "near", "far"'), "from 0 to 1"),
    ),
]

OTHER_WAYS = [
    right(
        "soft-target-loss",
        "the cross-entropy minus the teacher's entropy",
        """
        def soft_target_loss(student, teacher, temperature):
            t = torch.softmax(teacher / temperature, dim=1)
            student, teacher = student / temperature, teacher / temperature
            apart = (teacher - teacher.logsumexp(1, True)) - (student - student.logsumexp(1, True))
            return sum((row * gap).sum() for row, gap in zip(t, apart)) / len(t) * temperature ** 2
        """,
    ),
    right(
        "span-law",
        "a list of numbers",
        """
        def span_law(p, longest):
            chances = [1.0]
            for _ in range(longest - 1):
                chances.append(chances[-1] * (1 - p))
            return torch.tensor([chance / sum(chances) for chance in chances])
        """,
    ),
    right(
        "choose-spans",
        "with sets",
        """
        def choose_spans(free, budget, spans):
            taken, may = set(), {place for place, is_free in enumerate(free.tolist()) if is_free}
            for start, length in spans:
                if len(taken) >= budget:
                    break
                span = set(range(start, start + min(length, budget - len(taken))))
                if span <= may - taken:
                    taken |= span
            return torch.tensor([place in taken for place in range(len(free))])
        """,
    ),
    right(
        "detection-loss",
        "with softplus",
        """
        def detection_loss(logits, ids, gaps, drawn, attention_mask):
            replaced = torch.zeros_like(gaps)
            replaced[gaps] = drawn != ids[gaps]
            cost = torch.nn.functional.softplus(torch.where(replaced, -logits, logits))
            return cost.masked_fill(~attention_mask, 0.0).sum() / attention_mask.sum()
        """,
    ),
    right(
        "content-mask",
        "rule by rule",
        """
        def content_mask(order, n_targets):
            given = order < len(order) - n_targets
            earlier = ~given[:, None] & (order <= order[:, None])
            return given.expand(len(order), -1) | earlier
        """,
    ),
    right(
        "query-mask",
        "with a loop",
        """
        def query_mask(order, n_targets):
            length = len(order)
            rows = []
            for when in range(length - n_targets, length):
                rows.append([int(other) < when for other in order])
            return torch.tensor(rows)
        """,
    ),
    right(
        "nucleus",
        "word by word",
        """
        def nucleus(probabilities, p):
            order = sorted(range(len(probabilities)), key=lambda i: -float(probabilities[i]))
            total, kept = 0.0, torch.zeros_like(probabilities)
            for place in order:
                if total >= p:
                    break
                kept[place] = probabilities[place]
                total += float(probabilities[place])
            return kept / kept.sum()
        """,
    ),
    right(
        "examine-nucleus",
        "with a reference",
        """
        def examine_nucleus(function):
            given = torch.tensor([4.0, 1.0, 32.0, 16.0, 2.0, 8.0, 1.0]) / 64
            for p in [n / 64 for n in (1, 31, 32, 33, 47, 48, 49, 56, 60, 61, 62, 64)]:
                copy = given.clone()
                answer = function(copy, p)
                assert torch.equal(copy, given)
                total, wanted = 0.0, torch.zeros(7)
                for place in (2, 3, 5, 0, 4, 1, 6):
                    if total < p:
                        total += float(given[place])
                        wanted[place] = given[place]
                assert answer.shape == wanted.shape
                assert torch.allclose(answer, wanted / total, atol=1e-5)
        """,
    ),
    right(
        "visible",
        "token by token",
        """
        def visible(length, place, parts, reach):
            seen = []
            for token in range(length):
                side = "left" if token < place else "right"
                distance = "near" if abs(token - place) <= reach else "far"
                seen.append(token == place or (side in parts and distance in parts))
            return torch.tensor(seen)
        """,
    ),
    right(
        "predict-rises",
        "the other way round",
        """
        def predict_rises():
            return 0.2, 1
        """,
    ),
]
