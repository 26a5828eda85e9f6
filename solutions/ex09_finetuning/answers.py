"""Exercise 9, fine-tuning: wrong solutions, and right ones written differently."""

from course.answers import OURS, mistakes, right

WRONG = [
    *mistakes(
        "layer-features",
        "by lists and sums",
        ("takes the first as the last", ("states[-1]", "states[0]"), "the last layer comes last"),
        (
            "adds up three layers",
            ("sum(states[-4:])", "sum(states[-3:])"),
            "three layers are added",
        ),
        (
            "leaves the last layer out",
            ("sum(states[-4:])", "sum(states[-4:-1])"),
            "the last layer is missing",
        ),
        ("adds up the first four", ("sum(states[-4:])", "sum(states[1:5])"), "the first four"),
        ("adds up all", ("sum(states[-4:])", "sum(states)"), "only the last four"),
        (
            "takes the mean of four",
            ("sum(states[-4:])", "sum(states[-4:]) / 4"),
            "the sum, not the mean",
        ),
        (
            "writes into the model's output",
            (
                "return sum(states[-4:])",
                "total = states[-4]\n"
                "        for state in states[-3:]:\n"
                "            total += state\n"
                "        return total",
            ),
            "changed its input",
        ),
        (
            "reverses the order",
            ("states[-4:],", "states[:-5:-1],"),
            "in the order of the layers",
        ),
        (
            "mixes components",
            ("torch.cat(states[-4:], dim=-1)", "torch.stack(states[-4:], dim=-1).flatten(-2)"),
            "concatenate whole vectors",
        ),
        ("lengthens the text", ("dim=-1", "dim=1"), "no new tokens"),
        ("adds texts", (", dim=-1", ""), "no new texts"),
        (
            "stacks",
            ("torch.cat(states[-4:], dim=-1)", "torch.stack(states[-4:], dim=2)"),
            "torch.stack makes a new dimension",
        ),
        (
            "counts the embeddings as a layer",
            ("sum(states[1:]) / (len(states) - 1)", "sum(states) / len(states)"),
            "leave them out",
        ),
        ("adds the embeddings, divides by the layers", ("states[1:]", "states"), "leave them out"),
        ("adds up and does not divide", (" / (len(states) - 1)", ""), "the mean, not the sum"),
        (
            "takes layer 0 as the first layer",
            ("states[how]", "states[how + 1]"),
            "layer 2 has the index 2",
        ),
        ("treats 0 as missing", ('how == "last"', 'not how or how == "last"'), "0 is a number"),
        ("returns nothing for a number", ("    return states[how]\n", ""), "it returned None"),
        (
            "handles two numbers of layers",
            ("/ (len(states) - 1)", "/ (12 if len(states) > 6 else 5)"),
            "",
        ),
        (
            "calls the library",
            """
            from bertlab.finetuning.features import layer_features as answer

            def layer_features(hidden_states, how="last"):
                return answer(hidden_states, how)
            """,
            "bertlab's own code",
        ),
    ),
    *mistakes(
        "layer-features",
        OURS,
        (
            "adds up all layers",
            ("torch.stack(tuple(hidden_states[-4:]))", "torch.stack(tuple(hidden_states[1:]))"),
            "five layers are added",
        ),
        (
            "adds up the first four of all",
            ("torch.stack(tuple(hidden_states[-4:]))", "torch.stack(tuple(hidden_states[:4]))"),
            "the first four are added",
        ),
        (
            "concatenates all states",
            ("torch.cat(tuple(hidden_states[-4:])", "torch.cat(tuple(hidden_states)"),
            "all six are concatenated",
        ),
        (
            "concatenates all layers",
            ("torch.cat(tuple(hidden_states[-4:])", "torch.cat(tuple(hidden_states[1:])"),
            "five layers are concatenated",
        ),
        (
            "stacks in place of concatenating",
            (
                "torch.cat(tuple(hidden_states[-4:]), dim=-1)",
                "torch.stack(tuple(hidden_states[-4:]))",
            ),
            "makes a new dimension",
        ),
        (
            "takes the mean of the last four",
            ("hidden_states[1:]", "hidden_states[-4:]"),
            "all layers, not only four",
        ),
        (
            "counts layers from the last one",
            ("return hidden_states[how]", "return hidden_states[-how]"),
            "counted from the front",
        ),
        (
            "takes layer 1 as the first state",
            ("return hidden_states[how]", "return hidden_states[how - 1]"),
            "layer 2 has the index 2",
        ),
    ),
    *mistakes(
        "first-pieces",
        "by the last word that had one",
        ("takes [CLS] as the first piece", ("start < end and ", ""), "it covers no character"),
        ("marks all pieces", (" and word > last", ""), "the second piece of its word"),
        (
            "counts from 1",
            ("append(number)", "append(number + 1 if number >= 0 else -1)"),
            "words are counted from 0",
        ),
        ("returns None", ("number = -1\n", "number = None\n"), "has -1"),
        (
            "returns one number for each word",
            ("append(number)", "extend([number] if number >= 0 else [])"),
            "one number for each piece",
        ),
        (
            "checks whether both begin together",
            ("first <= start < after and word > last", "first == start"),
            "not whether both begin together",
        ),
        (
            "checks whether both begin together, [CLS] included",
            ("start < end and first <= start < after and word > last", "first == start"),
            "it covers no character",
        ),
        (
            "requires blanks between words",
            (
                "word > last:",
                "word > last and start not in [end for _, end in offsets[: len(numbers)] if end]:",
            ),
            "need not follow a blank",
        ),
        (
            "checks whether the whole word is covered",
            ("start < after", "start and end == after"),
            "expected",
        ),
        (
            "returns a tensor",
            ("return numbers", "return torch.tensor(numbers)"),
            "it must return a list",
        ),
        (
            "fails with a text that was cut",
            (
                "    return numbers",
                "    [numbers.index(n) for n in range(len(words))]\n    return numbers",
            ),
            "raised",
        ),
        (
            "handles short texts",
            (
                "    return numbers",
                "    return numbers if len(words) in (0, 1, 2, 3, 4, 150) else [-1] * len(numbers)",
            ),
            "",
        ),
        (
            "looks a word's number up by its start",
            """
            def first_pieces(words, offsets):
                number_of = {start: number for number, (start, _) in enumerate(words)}
                return [number_of.get(start, -1) if end else -1 for start, end in offsets]
            """,
            "not whether both begin together",
        ),
    ),
    *mistakes(
        "first-pieces",
        OURS,
        (
            "counts the end",
            ("first <= start < after", "first <= start <= after"),
            "a word's end is",
        ),
        (
            "takes all pieces, and special tokens, too",
            ("start < end and ", ""),
            (" and word not in had_one", ""),
            "it covers no character",
        ),
        (
            "compares with the piece before, and takes special tokens, too",
            """
            def first_pieces(words, offsets):
                numbers, before = [], None
                for start, _ in offsets:
                    word = next(n for n, (a, b) in enumerate(words) if a <= start < b)
                    numbers.append(-1 if word == before else word)
                    before = word
                return numbers
            """,
            "it covers no character",
        ),
        (
            "numbers the pieces",
            """
            def first_pieces(words, offsets):
                numbers, pieces = [], 0
                for start, end in offsets:
                    numbers.append(pieces if start < end else -1)
                    pieces += start < end
                return numbers
            """,
            "##s belongs to word 1, too",
        ),
        (
            "says for each word where it begins",
            """
            def first_pieces(words, offsets):
                return [
                    next((n for n, (s, e) in enumerate(offsets) if s < e and a <= s < b), -1)
                    for a, b in words
                ]
            """,
            "not for each word",
        ),
        (
            "takes the end of a word as its last character",
            """
            def first_pieces(words, offsets):
                numbers = []
                for start, end in offsets:
                    words_here = (n for n, (a, b) in enumerate(words) if a <= start <= b)
                    word = next(words_here, -1) if start < end else -1
                    numbers.append(-1 if word in numbers else word)
                return numbers
            """,
            "ends in front of its `end`",
        ),
    ),
    *mistakes(
        "tagger-loss",
        OURS,
        ("adds up", (" / asked.sum().clamp(min=1)", ""), "the mean, not the sum"),
        ("divides by all tokens", ("asked.sum().clamp(min=1)", "asked.numel()"), "not of all"),
        ("divides by texts", ("asked.sum().clamp(min=1)", "len(targets)"), "not of texts"),
        ("divides by nothing", (".clamp(min=1)", ""), "the mean of nothing would be nan"),
        (
            "counts all tokens, IGNORED as O",
            (
                "    asked = targets != IGNORED\n",
                "    targets = targets.clamp(min=0)\n    asked = targets >= 0\n",
            ),
            "tokens without a target cost nothing",
        ),
        (
            "drops the tokens with O",
            ("targets != IGNORED", "targets > 0"),
            "0 is a tag like the others",
        ),
        ("returns the losses without a mean", ('"sum"', '"none"'), "one number"),
        ("forgets the return", ("return losses", "losses"), "it returned None"),
        (
            "returns a number",
            ("min=1)", "min=1).item()"),
            ("losses /", "losses.item() /"),
            "it returned 1.2",
        ),
        (
            "cuts the gradient off",
            ("(logits[asked]", "(logits.detach()[asked]"),
            "cut off the gradient",
        ),
        (
            "treats the probability as its logarithm",
            (
                'F.cross_entropy(logits[asked], targets[asked], reduction="sum")',
                "-logits[asked].softmax(-1).gather(1, targets[asked][:, None]).sum()",
            ),
            "not of p",
        ),
        ("forgets the sign", ("F", "-F"), "change the sign"),
        (
            "does not say which tokens",
            ("logits[asked], targets[asked]", "logits, targets"),
            "raised",
        ),
        (
            "reads 100 tokens of a text",
            ("    asked", "    logits, targets = logits[:, :100], targets[:, :100]\n    asked"),
            "",
        ),
        (
            "averages the texts' means",
            """
            def tagger_loss(logits, targets):
                rows = [F.cross_entropy(a, b) for a, b in zip(logits, targets)]
                return torch.stack(rows).mean()
            """,
            "the mean of the texts' means",
        ),
        (
            "trusts PyTorch with everything",
            """
            def tagger_loss(logits, targets):
                return F.cross_entropy(logits.flatten(0, 1), targets.flatten())
            """,
            "the mean of nothing would be nan",
        ),
    ),
    *mistakes(
        "tagger-loss",
        "by PyTorch's own IGNORED",
        (
            "returns a loss for each token",
            """
            def tagger_loss(logits, targets):
                return F.cross_entropy(logits.transpose(1, 2), targets, reduction="none")
            """,
            "one number: the mean",
        ),
        (
            "returns a loss for each text",
            """
            def tagger_loss(logits, targets):
                losses = F.cross_entropy(logits.transpose(1, 2), targets, reduction="none")
                return losses.sum(dim=1) / (targets != IGNORED).sum(dim=1).clamp(min=1)
            """,
            "for all texts together",
        ),
    ),
    *mistakes(
        "bioes-runs",
        OURS,
        (
            "returns the last word",
            ("(number, number + 1, label)", "(number, number, label)"),
            ("(first, number + 1, label)", "(first, number, label)"),
            "the word *after* the span",
        ),
        ("ignores S", ('prefix == "S"', "False"), "S-PER is a whole span"),
        ("handles only S", ('prefix == "E" and is_open', "False"), "and E are a span"),
        (
            "keeps B- and S- in the label",
            ("(number, number + 1, label)", "(number, number + 1, tag)"),
            ("(first, number + 1, label)", "(first, number + 1, tags[first])"),
            "only the label",
        ),
        (
            "returns lists",
            ("(number, number + 1, label)", "[number, number + 1, label]"),
            ("(first, number + 1, label)", "[first, number + 1, label]"),
            "is a tuple",
        ),
        (
            "cuts at all hyphens",
            (
                'prefix, _, label = tag.partition("-")',
                'prefix, label, _ = (tag + "--").split("-")[:3]',
            ),
            ('tags[first] == f"B-{label}"', 'tags[first].split("-")[1] == label'),
            "split at the first one",
        ),
        (
            "cuts at the last hyphen",
            ('prefix, _, label = tag.partition("-")', 'prefix, label = tag[0], tag.split("-")[-1]'),
            ('tags[first] == f"B-{label}"', 'tags[first].split("-")[-1] == label'),
            "not at the last",
        ),
        (
            "treats an E without a B as a span",
            (
                '        if prefix == "E" and is_open:\n',
                '        if prefix == "E" and not is_open:\n'
                "            runs.append((number, number + 1, label))\n"
                '        if prefix == "E" and is_open:\n',
            ),
            "I and E begin nothing",
        ),
        (
            "does not compare labels, and takes that of B",
            ('tags[first] == f"B-{label}"', 'tag != "O"'),
            ("(first, number + 1, label)", "(first, number + 1, tags[first][2:])"),
            "a span has one label",
        ),
        (
            "does not compare labels, and takes that of E",
            ('tags[first] == f"B-{label}"', 'tag != "O"'),
            "a span has one label",
        ),
        (
            "compares the label only at the end",
            ('if prefix != "I" or not is_open', 'if prefix != "I"'),
            "a span has one label",
        ),
        (
            "does not start again",
            (
                "            first = number\n",
                "            first = number if first is None else first\n",
            ),
            "begins a new one",
        ),
        (
            "forgets everything at a second B",
            (
                "            first = number\n",
                "            first = number if first is None else None\n",
            ),
            "opens a new span",
        ),
        (
            "skips an O",
            ('if prefix != "I" or not is_open', 'if tag != "O" and (prefix != "I" or not is_open)'),
            "after an O",
        ),
        (
            "continues after an E",
            ('if prefix != "I" or', 'if prefix not in ("I", "E") or'),
            "after an E",
        ),
        (
            "skips an S",
            (
                "runs.append((number, number + 1, label))\n",
                "runs.append((number, number + 1, label))\n            continue\n",
            ),
            "after an S",
        ),
        (
            "handles spans of at most four words",
            ('prefix == "E" and is_open', 'prefix == "E" and is_open and number - first < 4'),
            "",
        ),
        ("forgets the return", ("    return runs", ""), "it returned None"),
        (
            "finds only words with B and S",
            """
            def bioes_runs(tags):
                return [(n, n + 1, tag[2:]) for n, tag in enumerate(tags) if tag[0] in "BS"]
            """,
            "I and E continue",
        ),
        (
            "keeps the lecture's rule",
            """
            def bioes_runs(tags):
                lecture = {"O": "O", "B": "B", "S": "B", "I": "I", "E": "I"}
                return tag_runs([lecture[tag[0]] + tag[1:] for tag in tags])
            """,
            "the end is missing",
        ),
    ),
    *mistakes(
        "bioes-runs",
        "by regular expressions",
        ("requires an I", ("S|BI*E", "S|BI+E"), "no I is needed between B and E"),
    ),
    *mistakes(
        "entity-f1",
        "by two loops",
        (
            "forgets which text",
            (
                "true |= {(text, *run) for run in tag_runs(tags)}",
                "true |= {run for run in tag_runs(tags)}",
            ),
            ("(text, *run)", "run"),
            "two texts is two spans",
        ),
        (
            "forgets the label",
            (
                "true |= {(text, *run) for run in tag_runs(tags)}",
                "true |= {(text, *run[:2]) for run in tag_runs(tags)}",
            ),
            ("(text, *run)", "(text, *run[:2])"),
            "the label belongs to the span",
        ),
        (
            "compares only the start",
            (
                "true |= {(text, *run) for run in tag_runs(tags)}",
                "true |= {(text, run[0], run[2]) for run in tag_runs(tags)}",
            ),
            ("(text, *run)", "(text, run[0], run[2])"),
            "only if its last word is right, too",
        ),
        (
            "swaps precision and recall",
            ("len(guessed), right / len(true)", "len(true), right / len(guessed)"),
            "share of the *guessed* spans",
        ),
        (
            "takes the plain mean",
            ("2 * precision * recall / (precision + recall)", "(precision + recall) / 2"),
            "harmonic mean",
        ),
        (
            "takes the product",
            ("2 * precision * recall / (precision + recall)", "precision * recall"),
            "harmonic mean",
        ),
        (
            "divides by nothing",
            ("    if right == 0:\n        return 0.0, 0.0, 0.0\n", ""),
            "first check that the divisor is not 0",
        ),
        (
            "returns only F1",
            ("return precision, recall, ", "return "),
            "it must return three numbers",
        ),
        (
            "reads the first text",
            ("enumerate(true_tags)", "enumerate(true_tags[:1])"),
            ("enumerate(guessed_tags)", "enumerate(guessed_tags[:1])"),
            "only the first text",
        ),
        ("reads three texts", ("enumerate(true_tags)", "enumerate(true_tags[:3])"), ""),
        (
            "averages the texts",
            """
            def entity_f1(true_tags, guessed_tags):
                rows = []
                for one, other in zip(true_tags, guessed_tags):
                    true, guessed = set(tag_runs(one)), set(tag_runs(other))
                    right = len(true & guessed)
                    precision, recall = right / max(1, len(guessed)), right / max(1, len(true))
                    rows.append((precision, recall, 2 * right / max(1, len(true) + len(guessed))))
                return tuple(sum(column) / len(rows) for column in zip(*rows))
            """,
            "the mean of the texts' scores",
        ),
        (
            "counts words",
            """
            def entity_f1(true_tags, guessed_tags):
                pairs = [
                    pair for one, other in zip(true_tags, guessed_tags) for pair in zip(one, other)
                ]
                right = sum(true == guess != "O" for true, guess in pairs)
                n_true = sum(true != "O" for true, _ in pairs)
                n_guessed = sum(guess != "O" for _, guess in pairs)
                if right == 0:
                    return 0.0, 0.0, 0.0
                return right / n_guessed, right / n_true, 2 * right / (n_true + n_guessed)
            """,
            "words are counted",
        ),
        (
            "counts accuracy",
            """
            def entity_f1(true_tags, guessed_tags):
                pairs = [p for one, other in zip(true_tags, guessed_tags) for p in zip(one, other)]
                share = sum(true == guess for true, guess in pairs) / len(pairs)
                return share, share, share
            """,
            "words are counted",
        ),
    ),
    *mistakes(
        "entity-f1",
        "by two loops",
        (
            "leaves out wrong guesses",
            (
                "guessed |= {(text, *run) for run in tag_runs(tags)}",
                "guessed |= {(text, *run) for run in tag_runs(tags) if (text, *run) in true}",
            ),
            "all guesses count",
        ),
        (
            "averages precision and recall over the texts",
            """
            def entity_f1(true_tags, guessed_tags):
                precision = recall = 0.0
                for one, other in zip(true_tags, guessed_tags):
                    true, guessed = set(tag_runs(one)), set(tag_runs(other))
                    precision += len(true & guessed) / max(1, len(guessed)) / len(true_tags)
                    recall += len(true & guessed) / max(1, len(true)) / len(true_tags)
                return precision, recall, 2 * precision * recall / ((precision + recall) or 1)
            """,
            "the mean of the texts' shares",
        ),
    ),
    *mistakes(
        "entity-f1",
        "by counting text by text",
        (
            "counts only the last text",
            ("right += ", "right = "),
            ("n_true + len(true), n_guessed + len(guessed)", "len(true), len(guessed)"),
            "only the last text",
        ),
    ),
    *mistakes(
        "entity-f1",
        OURS,
        (
            "is the draft",
            """
            def entity_f1(true_tags, guessed_tags):
                return draft(true_tags, guessed_tags)
            """,
            "in both texts together",
        ),
        (
            "repairs the draft except for no guesses",
            ("if guessed else 0.0", "if guessed else 1.0"),
            "a share of nothing is 0",
        ),
    ),
    *mistakes(
        "examine-entity-f1",
        OURS,
        (
            "asserts nothing",
            """
            def examine_entity_f1(function):
                function(one_text, one_text)
            """,
            "does not notice that the draft is wrong",
        ),
        (
            "is the draft's own test",
            """
            def examine_entity_f1(function):
                assert function(one_text, one_text) == (1.0, 1.0, 1.0)
                assert function(one_text, [["B-PER", "O", "O", "B-LOC"]]) == (0.5, 0.5, 0.5)
            """,
            "does not notice that the draft is wrong",
        ),
        (
            "returns True or False",
            """
            def examine_entity_f1(function):
                return function(one_text, one_text) == (1.0, 1.0, 1.0)
            """,
            "returned True",
        ),
        (
            "tests only empty cases",
            """
            def examine_entity_f1(function):
                assert tuple(function([["O"]], [["O"]])) == (0, 0, 0)
                assert tuple(function([["B-X"]], [["O"]])) == (0, 0, 0)
                assert tuple(function([["O"]], [["B-X"]])) == (0, 0, 0)
            """,
            "takes the mean of the texts' scores",
        ),
        (
            "never changes only a label",
            """
            def examine_entity_f1(function):
                true = [["B-X", "O"], ["B-X", "B-Y"]]
                found = function(true, [["B-X", "B-X"], ["O", "B-Y"]])
                assert all(abs(a - 2 / 3) < 1e-6 for a in found)
                assert function([["O"]], [["O"]])[2] == 0
            """,
            "does not compare labels",
        ),
        (
            "expects the plain mean",
            ("(3 / 7, 3 / 5, 1 / 2)", "(3 / 7, 3 / 5, 18 / 35)"),
            "rejects your own `entity_f1`",
        ),
        (
            "expects precision in the place of recall",
            ("(3 / 7, 3 / 5, 1 / 2)", "(3 / 5, 3 / 7, 1 / 2)"),
            "rejects your own `entity_f1`",
        ),
        (
            "stops everything",
            """
            def examine_entity_f1(function):
                raise AssertionError("wrong")
            """,
            "rejects your own `entity_f1` with AssertionError: wrong",
        ),
        (
            "never tests an empty case",
            ('        ((nothing, [["B-X", "O"]]), (0, 0, 0)),\n', ""),
            ('        (([["B-X", "O"]], nothing), (0, 0, 0)),\n', ""),
            ("        ((nothing, nothing), (0, 0, 0)),\n", ""),
            "",
        ),
        ("checks only F1", ("zip(found, expected", "zip(found[2:], expected[2:]"), ""),
        (
            "has texts that are well-formed, and no neighbours",
            """
            def examine_entity_f1(function):
                true = [["B-X", "O", "O", "O"], ["B-X", "O", "B-Y", "O"], ["O", "O"]]
                guessed = [["B-X", "O", "O", "O"], ["B-Y", "O", "B-Y", "B-X"], ["B-X", "O"]]
                found = function(true, guessed)
                expected = 2 / 5, 2 / 3, 1 / 2
                assert all(abs(a - b) < 1e-6 for a, b in zip(found, expected))
                assert tuple(function([["O"]], [["O"]])) == (0, 0, 0)
            """,
            "",
        ),
    ),
    *mistakes(
        "best-span",
        "by two loops over all tokens",
        ("answers with the question", ("segment_ids[i]", "i"), "a token of the question"),
        (
            "answers with [SEP]",
            (" or offsets[i] == (0, 0)", ""),
            ("            if offsets[j] == (0, 0):\n                break\n", ""),
            "[SEP] at the end",
        ),
        ("returns tokens", ("(offsets[i][0], offsets[j][1])", "(i, j)"), "those are tokens"),
        (
            "ends at the last token's start",
            ("offsets[j][1]", "offsets[j][0]"),
            "not where that begins",
        ),
        ("ends with the first token", ("offsets[j][1]", "offsets[i][1]"), "its *last* token"),
        ("always answers", ("best > starts[0] + ends[0] + threshold", "answer"), "return None"),
        (
            "returns [CLS] for no answer",
            ("return None", "return offsets[0]"),
            "not the characters of [CLS]",
        ),
        ("forgets the threshold", (" + threshold", ""), "threshold is added"),
        ("subtracts the threshold", ("+ threshold", "- threshold"), "threshold is added"),
        ("answers if both are equal", ("best >", "best >="), "*more* than no answer"),
        ("compares with S_0", (" + ends[0] + ", " + "), "S_0 + E_0 = 5 + 3"),
        ("starts with 0", ('float("-inf"), None', "0.0, None"), "start with -inf"),
        (
            "starts with the score of no answer",
            ('float("-inf"), None', "starts[0] + ends[0], None"),
            "threshold is added",
        ),
        (
            "allows one token more",
            ("i + max_tokens,", "i + max_tokens + 1,"),
            "max_tokens counts tokens",
        ),
        ("allows one token fewer", ("i + max_tokens,", "i + max_tokens - 1,"), "expected (0, 3)"),
        (
            "ignores max_tokens",
            ("min(i + max_tokens, len(offsets))", "len(offsets)"),
            "max_tokens counts tokens",
        ),
        ("multiplies", ("+ ends[j]", "* ends[j]"), '"Jim" scores 3 + 3'),
        (
            "loops over the end first",
            ("logits[:, 0].tolist(), logits[:, 1]", "logits[:, 1].tolist(), logits[:, 0]"),
            "expected",
        ),
        (
            "returns a list",
            ("return answer\n", "return answer and list(answer)\n"),
            "it must return a tuple",
        ),
        ("has answers of 20 tokens", ("max_tokens=30", "max_tokens=20"), "expected"),
        (
            "looks at the first ten starts",
            ("continue", "continue\n        if 70 < i < 100:\n            continue"),
            "",
        ),
        (
            "chooses start and end separately",
            """
            def best_span(logits, offsets, segment_ids, max_tokens=30, threshold=0.0):
                inside = [n for n, (a, b) in enumerate(offsets) if segment_ids[n] == 1 and a < b]
                first = max(inside, key=lambda n: logits[n, 0])
                last = max(inside, key=lambda n: logits[n, 1])
                if logits[first, 0] + logits[last, 1] > logits[0].sum() + threshold:
                    return offsets[first][0], offsets[last][1]
            """,
            "start and end are chosen separately",
        ),
        (
            "chooses the start first",
            """
            def best_span(logits, offsets, segment_ids, max_tokens=30, threshold=0.0):
                inside = [n for n, (a, b) in enumerate(offsets) if segment_ids[n] == 1 and a < b]
                first = max(inside, key=lambda n: logits[n, 0] - (n == 6) * 0.5)
                place = inside.index(first)
                last = max(inside[place : place + max_tokens], key=lambda n: logits[n, 1])
                if logits[first, 0] + logits[last, 1] > logits[0].sum() + threshold:
                    return offsets[first][0], offsets[last][1]
            """,
            "expected",
        ),
        (
            "swaps start and end if needed",
            """
            def best_span(logits, offsets, segment_ids, max_tokens=30, threshold=0.0):
                inside = [n for n, (a, b) in enumerate(offsets) if segment_ids[n] == 1 and a < b]
                first = max(inside, key=lambda n: logits[n, 0])
                last = max(inside, key=lambda n: logits[n, 1])
                first, last = sorted((first, last))
                if logits[first, 0] + logits[last, 1] > logits[0].sum() + threshold:
                    return offsets[first][0], offsets[last][1]
            """,
            "the best answer scores 7",
        ),
    ),
    *mistakes(
        "best-span",
        OURS,
        (
            "returns tokens, up to the one after the last",
            ("(offsets[first][0], offsets[last][1])", "(first, last + 1)"),
            "those are tokens",
        ),
    ),
    *mistakes(
        "best-span",
        "by two loops over all tokens",
        (
            "lets answers begin in the question",
            ("segment_ids[i] == 0 or ", ""),
            (
                "if offsets[j] == (0, 0):\n                break",
                "if segment_ids[j] == 0 or offsets[j] == (0, 0):\n                continue",
            ),
            "a token of the question",
        ),
    ),
    *mistakes(
        "predict-contest",
        OURS,
        ("percentages", ("0.6", "60"), "not a percentage"),
        ("forgets one", ('        "from scratch": 0.3,\n', ""), "the five learners"),
        ("another name", ('"fine-tuned"', '"bert"'), "the five learners"),
        ("words", ("0.6", '"high"'), "a number from 0 to 1"),
        (
            "only the best one",
            """
            def predict_contest():
                return "fine-tuned"
            """,
            "it must return a dictionary",
        ),
        (
            "nothing",
            """
            def predict_contest():
                pass
            """,
            "it returned None",
        ),
    ),
    *mistakes(
        "ablate-words",
        OURS,
        ("keeps only the kind", ("if not is_part", "if is_part"), "the words to leave *out*"),
        (
            "loses empty texts",
            (
                '        without.append(" ".join(left))\n',
                "        if not left:\n"
                "            continue\n"
                '        without.append(" ".join(left))\n',
            ),
            "as many as before",
        ),
        (
            "splits at every single blank",
            ("text.split()", 'text.split(" ")'),
            "words are separated by one blank",
        ),
        ("joins words together", ('" ".join(left)', '"".join(left)'), "separated by one blank"),
        (
            "returns lists of words",
            ('without.append(" ".join(left))', "without.append(left)"),
            "must be a list of str",
        ),
        ("returns no control", ("return without, control", "return without"), "two lists"),
        ("returns the control first", ("without, control\n", "control, without\n"), "come first"),
        (
            "loses the order",
            (
                "sorted(draw.sample(range(len(words)), len(left)))",
                "draw.sample(range(len(words)), len(left))",
            ),
            "in their order",
        ),
        (
            "draws with replacement",
            (
                "sorted(draw.sample(range(len(words)), len(left)))",
                "sorted(set(draw.choices(range(len(words)), k=len(left))))",
            ),
            "the control of",
        ),
        (
            "keeps the first words",
            ("sorted(draw.sample(range(len(words)), len(left)))", "range(len(left))"),
            "draw from all words",
        ),
        (
            "keeps the last words",
            (
                "sorted(draw.sample(range(len(words)), len(left)))",
                "range(len(words) - len(left), len(words))",
            ),
            "draw from all words",
        ),
        (
            "has no words of the kind in the control",
            (
                "sorted(draw.sample(range(len(words)), len(left)))",
                "[place for place, word in enumerate(words) if not is_part(word)]",
            ),
            "draw from all words",
        ),
        (
            "draws consecutive words",
            (
                "        places = sorted(draw.sample(range(len(words)), len(left)))\n",
                "        gone = len(words) - len(left)\n"
                "        start = draw.randrange(len(left) + 1)\n"
                "        end = start + gone\n"
                "        places = [p for p in range(len(words)) if not start <= p < end]\n",
            ),
            "",
        ),
        (
            "draws the same places in every text",
            (
                "        words = text.split()\n",
                "        draw = random.Random(seed)\n        words = text.split()\n",
            ),
            "again for each text",
        ),
        (
            "keeps all words in the control",
            ("sorted(draw.sample(range(len(words)), len(left)))", "range(len(words))"),
            "as many as are left",
        ),
        ("forgets the seed", ("random.Random(seed)", "random.Random()"), "the same seed"),
        ("seeds with a constant", ("random.Random(seed)", "random.Random(0)"), "is `seed` used"),
        (
            "seeds the global generators",
            ("    draw = random.Random(seed)", "    random.seed(seed)\n    draw = random"),
            "changed the global random numbers",
        ),
    ),
]

OTHER_WAYS = [
    right(
        "layer-features",
        "by lists and sums",
        """
        def layer_features(hidden_states, how="last"):
            states = list(hidden_states)
            if how == "last":
                return states[-1]
            if how == "sum last four":
                return sum(states[-4:])
            if how == "concat last four":
                return torch.cat(states[-4:], dim=-1)
            if how == "mean of all":
                return sum(states[1:]) / (len(states) - 1)
            return states[how]
        """,
    ),
    right(
        "layer-features",
        "by one big tensor",
        """
        def layer_features(hidden_states, how="last"):
            states = torch.stack([*hidden_states])  # [N + 1, B, L, D]
            mixes = {
                "last": lambda: states[-1],
                "sum last four": lambda: states[-4:].sum(0),
                "concat last four": lambda: states[-4:].permute(1, 2, 0, 3).flatten(-2),
                "mean of all": lambda: states[1:].mean(0),
            }
            return mixes[how]() if how in mixes else states[how]
        """,
    ),
    right(
        "first-pieces",
        "by the last word that had one",
        """
        def first_pieces(words, offsets):
            numbers, last = [], -1
            for start, end in offsets:
                number = -1
                for word, (first, after) in enumerate(words):
                    if start < end and first <= start < after and word > last:
                        number = last = word
                numbers.append(number)
            return numbers
        """,
    ),
    right(
        "first-pieces",
        "by bisection",
        """
        from bisect import bisect_right

        def first_pieces(words, offsets):
            ends, numbers, last = [end for _, end in words], [], -1
            for start, end in offsets:
                word = bisect_right(ends, start)
                covers = start < end and word < len(words) and words[word][0] < end
                numbers.append(word if covers and word > last else -1)
                last = max(last, numbers[-1])
            return numbers
        """,
    ),
    right(
        "first-pieces",
        "by a table of characters",
        """
        def first_pieces(words, offsets):
            word_of = {c: n for n, (start, end) in enumerate(words) for c in range(start, end)}
            numbers = []
            for start, end in offsets:
                word = word_of.get(start, -1) if end > start else -1
                numbers.append(-1 if word in numbers else word)
            return numbers
        """,
    ),
    right(
        "tagger-loss",
        "as ours",
        """
        def tagger_loss(logits, targets):
            asked = targets != IGNORED
            losses = F.cross_entropy(logits[asked], targets[asked], reduction="sum")
            return losses / asked.sum().clamp(min=1)
        """,
    ),
    right(
        "tagger-loss",
        "by PyTorch's own IGNORED",
        """
        def tagger_loss(logits, targets):
            total = F.cross_entropy(logits.transpose(1, 2), targets, reduction="sum")
            return total / max(1, int((targets != IGNORED).sum()))
        """,
    ),
    right(
        "tagger-loss",
        "by log_softmax and a mask of numbers",
        """
        def tagger_loss(logits, targets):
            asked = (targets >= 0).to(logits.dtype)
            log_p = torch.log_softmax(logits, dim=-1)
            chosen = log_p.gather(-1, targets.clamp(min=0).unsqueeze(-1)).squeeze(-1)
            return -(chosen * asked).sum() / asked.sum().clamp(min=1)
        """,
    ),
    right(
        "entity-f1",
        "by two loops",
        """
        def entity_f1(true_tags, guessed_tags):
            true, guessed = set(), set()
            for text, tags in enumerate(true_tags):
                true |= {(text, *run) for run in tag_runs(tags)}
            for text, tags in enumerate(guessed_tags):
                guessed |= {(text, *run) for run in tag_runs(tags)}
            right = len(true & guessed)
            if right == 0:
                return 0.0, 0.0, 0.0
            precision, recall = right / len(guessed), right / len(true)
            return precision, recall, 2 * precision * recall / (precision + recall)
        """,
    ),
    right(
        "entity-f1",
        "by counting text by text",
        """
        def entity_f1(true_tags, guessed_tags):
            right = n_true = n_guessed = 0
            for one, other in zip(true_tags, guessed_tags, strict=True):
                true, guessed = tag_runs(one), tag_runs(other)
                right += sum(run in true for run in guessed)
                n_true, n_guessed = n_true + len(true), n_guessed + len(guessed)
            precision = right / n_guessed if n_guessed else 0
            recall = right / n_true if n_true else 0
            both = precision + recall
            return [precision, recall, 2 * precision * recall / both if both else 0]
        """,
    ),
    right(
        "best-span",
        "by two loops over all tokens",
        """
        def best_span(logits, offsets, segment_ids, max_tokens=30, threshold=0.0):
            starts, ends = logits[:, 0].tolist(), logits[:, 1].tolist()
            best, answer = float("-inf"), None
            for i in range(len(offsets)):
                if segment_ids[i] == 0 or offsets[i] == (0, 0):
                    continue
                for j in range(i, min(i + max_tokens, len(offsets))):
                    if offsets[j] == (0, 0):
                        break
                    score = starts[i] + ends[j]
                    if score > best:
                        best, answer = score, (offsets[i][0], offsets[j][1])
            if best > starts[0] + ends[0] + threshold:
                return answer
            return None
        """,
    ),
    right(
        "best-span",
        "by a matrix of all pairs",
        """
        def best_span(logits, offsets, segment_ids, max_tokens=30, threshold=0.0):
            inside = [n for n, s in enumerate(segment_ids) if s and offsets[n][0] < offsets[n][1]]
            starts, ends = logits[inside].unbind(dim=1)
            scores = starts[:, None] + ends
            allowed = torch.ones_like(scores).triu().tril(max_tokens - 1).bool()
            scores = scores.masked_fill(~allowed, -torch.inf)
            if not scores.max() > logits[0].sum() + threshold:
                return None
            first, last = divmod(scores.argmax().item(), len(inside))
            return offsets[inside[first]][0], offsets[inside[last]][1]
        """,
    ),
    right(
        "bioes-runs",
        "by regular expressions",
        """
        def bioes_runs(tags):
            import re

            runs = []
            for label in {tag[2:] for tag in tags if tag != "O"}:
                kinds = "".join(tag[0] if tag[2:] == label else "." for tag in tags)
                runs += [(*found.span(), label) for found in re.finditer("S|BI*E", kinds)]
            return sorted(runs)
        """,
    ),
    right(
        "bioes-runs",
        "by looking for the end",
        """
        def bioes_runs(tags):
            runs = []
            for first, tag in enumerate(tags):
                label = tag[2:]
                if tag[0] == "S":
                    runs.append((first, first + 1, label))
                if tag[0] == "B":
                    last = first + 1
                    while last < len(tags) and tags[last] == "I-" + label:
                        last += 1
                    if last < len(tags) and tags[last] == "E-" + label:
                        runs.append((first, last + 1, label))
            return runs
        """,
    ),
    right(
        "examine-entity-f1",
        "with a reference and random tags",
        """
        def examine_entity_f1(function):
            def scores(true, guessed):
                def spans(texts):
                    return [(n, *run) for n, tags in enumerate(texts) for run in tag_runs(tags)]

                right = sum(span in spans(true) for span in spans(guessed))
                n_true, n_guessed = len(spans(true)), len(spans(guessed))
                precision, recall = right / max(1, n_guessed), right / max(1, n_true)
                return precision, recall, 2 * right / max(1, n_true + n_guessed)

            draw = random.Random(0)
            for n_texts in [1, 2, 3, 4] * 25:
                sizes = [draw.randrange(1, 5) for _ in range(n_texts)]
                kinds = ["O", "B-X", "I-X", "B-Y", "I-Y"]
                true, guessed = ([draw.choices(kinds, k=n) for n in sizes] for _ in range(2))
                for other in (guessed, [["O"] * n for n in sizes]):
                    for one, two in ((true, other), (other, true)):
                        for a, b in zip(function(one, two), scores(one, two), strict=True):
                            assert abs(a - b) < 1e-6
        """,
    ),
    right(
        "predict-contest",
        "one that turns out well",
        """
        def predict_contest():
            return dict(
                zip(
                    ["counted words", "frozen, embeddings", "frozen, last layer"],
                    [0.8, 0.7, 0.65],
                ),
                **{"from scratch": 0.5, "fine-tuned": 0.65},
            )
        """,
    ),
    right(
        "ablate-words",
        "with NumPy",
        """
        def ablate_words(texts, is_part, seed):
            import numpy as np

            draw = np.random.default_rng(seed)
            sides = [], []
            for words in map(str.split, texts):
                lost = sum(bool(is_part(word)) for word in words)
                gone = set(draw.permutation(len(words))[:lost].tolist())
                sides[0].append(" ".join(word for word in words if not is_part(word)))
                sides[1].append(" ".join(word for n, word in enumerate(words) if n not in gone))
            return sides
        """,
    ),
    right(
        "ablate-words",
        "with PyTorch",
        """
        def ablate_words(texts, is_part, seed):
            generator = torch.Generator().manual_seed(seed)
            without = [[w for w in text.split() if not is_part(w)] for text in texts]
            control = []
            for text, left in zip(texts, without):
                words = text.split()
                order = torch.rand(len(words), generator=generator).argsort().tolist()
                control.append([words[place] for place in sorted(order[: len(left)])])
            return list(map(" ".join, without)), list(map(" ".join, control))
        """,
    ),
]
