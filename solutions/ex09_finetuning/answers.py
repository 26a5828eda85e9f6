"""Exercise 9, fine-tuning: solutions that are wrong, and right ones of another kind."""

from course.answers import changed, right, wrong

FEATURES = """
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
"""
TAGS = """
def tags_of_words(words, spans):
    tags = []
    for first, last in words:
        tag = "O"
        for start, end, label in spans:
            if start <= first and last <= end:
                tag = ("B-" if first == start else "I-") + label
        tags.append(tag)
    return tags
"""
PIECES = """
def first_pieces(words, offsets):
    numbers, last = [], -1
    for start, end in offsets:
        number = -1
        for word, (first, after) in enumerate(words):
            if start < end and first <= start < after and word > last:
                number = last = word
        numbers.append(number)
    return numbers
"""
TARGETS = """
def piece_targets(tags, first, names):
    targets = []
    for word in first:
        if word == -1:
            targets.append(IGNORED)
        else:
            targets.append(list(names).index(tags[word]))
    return targets
"""
LOSS = """
def tagger_loss(logits, targets):
    asked = targets != IGNORED
    losses = F.cross_entropy(logits[asked], targets[asked], reduction="sum")
    return losses / asked.sum().clamp(min=1)
"""
RUNS = """
def tag_runs(tags):
    runs, before = [], "O"
    for number, tag in enumerate(tags):
        prefix, _, label = tag.partition("-")
        if tag != "O":
            if prefix == "I" and before[2:] == label:
                first, _, _ = runs.pop()
                runs.append((first, number + 1, label))
            else:
                runs.append((number, number + 1, label))
        before = tag
    return runs
"""
F1 = """
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
"""
MEAN_F1 = """
def entity_f1(true_tags, guessed_tags):
    rows = []
    for one, other in zip(true_tags, guessed_tags):
        true, guessed = set(tag_runs(one)), set(tag_runs(other))
        right = len(true & guessed)
        precision, recall = right / max(1, len(guessed)), right / max(1, len(true))
        rows.append((precision, recall, 2 * right / max(1, len(true) + len(guessed))))
    return tuple(sum(column) / len(rows) for column in zip(*rows))
"""
BY_WORDS = """
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
"""
SPAN = """
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
"""
ONE_BY_ONE = """
def best_span(logits, offsets, segment_ids, max_tokens=30, threshold=0.0):
    inside = [n for n, (a, b) in enumerate(offsets) if segment_ids[n] == 1 and a < b]
    first = max(inside, key=lambda n: logits[n, 0])
    last = max(inside, key=lambda n: logits[n, 1])
    if logits[first, 0] + logits[last, 1] > logits[0].sum() + threshold:
        return offsets[first][0], offsets[last][1]
"""
START_FIRST = """
def best_span(logits, offsets, segment_ids, max_tokens=30, threshold=0.0):
    inside = [n for n, (a, b) in enumerate(offsets) if segment_ids[n] == 1 and a < b]
    first = max(inside, key=lambda n: logits[n, 0] - (n == 6) * 0.5)
    place = inside.index(first)
    last = max(inside[place : place + max_tokens], key=lambda n: logits[n, 1])
    if logits[first, 0] + logits[last, 1] > logits[0].sum() + threshold:
        return offsets[first][0], offsets[last][1]
"""
SUM, ALL = "torch.stack(list(hidden_states[-4:])).sum(dim=0)", "sum(states[1:]) / (len(states) - 1)"
FOUR = "torch.cat(states[-4:], dim=-1)"


def group(task, solution, *rows):
    """Rows of one task: mistake, diagnosis, and what is changed in a right solution."""
    return [
        wrong(task, mistake, changed(solution, *changes), said) for mistake, said, *changes in rows
    ]


WRONG = [
    *group(
        "layer-features",
        FEATURES,
        ("takes the first for the last", "the last layer comes last", ("states[-1]", "states[0]")),
        (
            "adds up three layers",
            "three layers are added",
            ("sum(states[-4:])", "sum(states[-3:])"),
        ),
        (
            "leaves the last layer out",
            "the last layer is missing",
            ("sum(states[-4:])", "sum(states[-4:-1])"),
        ),
        ("adds up the first four", "the first four", ("sum(states[-4:])", "sum(states[1:5])")),
        ("adds up all", "only the last four", ("sum(states[-4:])", "sum(states)")),
        (
            "takes the mean of four",
            "the sum, not the mean",
            ("sum(states[-4:])", "sum(states[-4:]) / 4"),
        ),
        (
            "writes into the model's output",
            "changed its input",
            (
                "        return sum(states[-4:])",
                "        total = states[-4]\n        for state in states[-3:]:\n"
                "            total += state\n        return total",
            ),
        ),
        (
            "turns the order round",
            "in the order of the layers",
            (FOUR, FOUR.replace("-4:]", ":-5:-1]")),
        ),
        (
            "mixes components",
            "whole vectors one behind the other",
            (FOUR, "torch.stack(states[-4:], dim=-1).flatten(-2)"),
        ),
        ("lengthens the text", "no new tokens", (FOUR, "torch.cat(states[-4:], dim=1)")),
        ("adds texts", "no new texts", (FOUR, "torch.cat(states[-4:])")),
        ("stacks", "torch.stack makes a new dimension", (FOUR, "torch.stack(states[-4:], dim=2)")),
        (
            "counts the embeddings as a layer",
            "leave them out",
            (ALL, "sum(states) / len(states)"),
        ),
        (
            "adds the embeddings, divides by the layers",
            "leave them out",
            (ALL, "sum(states) / (len(states) - 1)"),
        ),
        ("adds up and does not divide", "the mean, not the sum", (ALL, "sum(states[1:])")),
        (
            "takes layer 0 for the first layer",
            "expected [[[1, 0]]]",
            ("states[how]", "states[how + 1]"),
        ),
        (
            "takes 0 for nothing",
            "0 is a number",
            ('    if how == "last":', '    if not how or how == "last":'),
        ),
        ("returns nothing for a number", "it returned None", ("    return states[how]\n", "")),
        (
            "knows two numbers of layers",
            "",
            ("/ (len(states) - 1)", "/ (12 if len(states) > 6 else 5)"),
        ),
    ),
    wrong(
        "layer-features",
        "calls the library",
        """
        from bertlab.finetuning.features import layer_features as answer

        def layer_features(hidden_states, how="last"):
            return answer(hidden_states, how)
        """,
        "bertlab's own code",
    ),
    *group(
        "tags-of-words",
        TAGS,
        (
            "has no B",
            "the first word of a span gets B-",
            ('"B-" if first == start else "I-"', '"I-"'),
        ),
        ("has no I", "the others I-", ('"B-" if first == start else "I-"', '"B-"')),
        ("swaps B and I", "the others I-", ("first == start", "first != start")),
        (
            "asks whether the word touches the span",
            "`end` is the first character behind",
            ("start <= first and last <= end", "start <= first <= end"),
        ),
        (
            "finds the first word alone",
            "each of them gets a tag",
            ("start <= first and last <= end", "start == first"),
        ),
        (
            "leaves the first word out",
            "the word at the span's start is missing",
            ("start <= first", "start < first"),
        ),
        (
            "forgets the label",
            "the label belongs to the tag",
            ('"B-"', '"B"'),
            ('"I-") + label', '"I")'),
        ),
        (
            "forgets B and I",
            "B- or I- and the label",
            ('("B-" if first == start else "I-") + ', ""),
        ),
        (
            "leaves words outside without a tag",
            "every word has a tag",
            ("        tags.append(tag)", '        if tag != "O":\n            tags.append(tag)'),
        ),
        ("gives None outside", "has the tag O", ('tag = "O"', "tag = None")),
        (
            "begins with B after an O only",
            "side by side",
            (
                '("B-" if first == start else "I-")',
                '("B-" if not tags or tags[-1] == "O" else "I-")',
            ),
        ),
        (
            "begins with B where the label changes",
            "side by side",
            (
                '("B-" if first == start else "I-")',
                '("I-" if tags and tags[-1][2:] == label else "B-")',
            ),
        ),
        (
            "looks for spans in their order",
            "one of the spans is lost",
            (
                "    tags = []\n",
                "    tags, spans = [], list(spans)\n",
            ),
            (
                "        for start, end, label in spans:\n",
                "        while spans and spans[0][1] <= first:\n            spans.pop(0)\n"
                "        for start, end, label in spans[:1]:\n",
            ),
        ),
        (
            "cuts labels at a hyphen",
            "",
            ('else "I-") + label', 'else "I-") + label.split("-")[0]'),
        ),
    ),
    *group(
        "first-pieces",
        PIECES,
        (
            "takes [CLS] for the first piece",
            "it covers no character",
            ("start < end and ", ""),
        ),
        (
            "marks all pieces",
            "the second piece of its word",
            (" and word > last", ""),
        ),
        (
            "counts from 1",
            "words are counted from 0",
            ("numbers.append(number)", "numbers.append(number + 1 if number >= 0 else -1)"),
        ),
        ("gives None", "has -1", ("number = -1\n", "number = None\n")),
        (
            "gives one number for each word",
            "one number for each piece",
            ("numbers.append(number)", "numbers.extend([number] if number >= 0 else [])"),
        ),
        (
            "asks whether both begin together",
            "not whether both begin together",
            ("first <= start < after and word > last", "first == start"),
        ),
        (
            "asks whether both begin together, [CLS] included",
            "it covers no character",
            ("start < end and first <= start < after and word > last", "first == start"),
        ),
        (
            "asks for blanks between words",
            "need not follow a blank",
            (
                "word > last:",
                "word > last and start not in [end for _, end in offsets[: len(numbers)] if end]:",
            ),
        ),
        (
            "asks whether the whole word is covered",
            "expected",
            ("first <= start < after", "first <= start and end == after"),
        ),
        (
            "returns a tensor",
            "it must return a list",
            ("return numbers", "return torch.tensor(numbers)"),
        ),
        (
            "bears no text that was cut",
            "raised",
            (
                "    return numbers",
                "    [numbers.index(n) for n in range(len(words))]\n    return numbers",
            ),
        ),
        (
            "knows short texts",
            "",
            (
                "    return numbers",
                "    return numbers if len(words) in (0, 1, 2, 3, 4, 150) else [-1] * len(numbers)",
            ),
        ),
    ),
    wrong(
        "first-pieces",
        "looks a word's number up by its start",
        """
        def first_pieces(words, offsets):
            number_of = {start: number for number, (start, _) in enumerate(words)}
            return [number_of.get(start, -1) if end else -1 for start, end in offsets]
        """,
        "not whether both begin together",
    ),
    *group(
        "piece-targets",
        TARGETS,
        ("gives O to the rest", "0 is the tag O", ("append(IGNORED)", "append(0)")),
        ("leaves -1", "not which tag", ("append(IGNORED)", "append(-1)")),
        ("gives names", "places in names", ("list(names).index(tags[word])", "tags[word]")),
        ("gives the word's number", "not of its tag", ("list(names).index(tags[word])", "word")),
        (
            "leaves pieces out",
            "not for each word",
            ("            targets.append(IGNORED)", "            continue"),
        ),
        (
            "counts tags from 1",
            "from 0",
            (".index(tags[word])", ".index(tags[word]) + 1"),
        ),
        ("takes -1 for a word", "tags[-1] is the tag of the *last* word", ("word == -1", "False")),
        (
            "has an order of its own",
            "names decides",
            ("list(names).index", '["O", "B-LOC", "I-LOC", "B-PER", "I-PER", "B-X"].index'),
        ),
        (
            "sorts the names, O first",
            "names decides",
            ("list(names).index", 'sorted(names, key=lambda n: (n != "O", n[2:], n)).index'),
        ),
        (
            "cuts labels at a second hyphen",
            "",
            (
                "list(names).index(tags[word])",
                'dict(zip(names, range(99)))["-".join(tags[word].split("-")[:2])]',
            ),
        ),
    ),
    *group(
        "tagger-loss",
        LOSS,
        ("adds up", "the mean, not the sum", (" / asked.sum().clamp(min=1)", "")),
        ("divides by all tokens", "not of all", ("asked.sum().clamp(min=1)", "asked.numel()")),
        ("divides by texts", "not of texts", ("asked.sum().clamp(min=1)", "len(targets)")),
        (
            "divides by nothing",
            "the mean of nothing would be nan",
            (".clamp(min=1)", ""),
        ),
        (
            "asks all tokens, IGNORED for O",
            "tokens that are not asked cost nothing",
            (
                "    asked = targets != IGNORED\n",
                "    targets = targets.clamp(min=0)\n    asked = targets >= 0\n",
            ),
        ),
        ("drops what is O", "0 is a tag like the others", ("targets != IGNORED", "targets > 0")),
        ("gives a loss for each token", "one number", ('reduction="sum"', 'reduction="none"')),
        ("forgets the return", "it returned None", ("return losses", "losses")),
        (
            "returns a number",
            "it returned 1.2",
            ("min=1)", "min=1).item()"),
            ("losses /", "losses.item() /"),
        ),
        (
            "cuts the gradient off",
            "cut the gradient off",
            ("(logits[asked]", "(logits.detach()[asked]"),
        ),
        (
            "takes the probability for its logarithm",
            "not of p",
            (
                'F.cross_entropy(logits[asked], targets[asked], reduction="sum")',
                "-logits[asked].softmax(-1).gather(1, targets[asked][:, None]).sum()",
            ),
        ),
        (
            "forgets the sign",
            "turn the sign",
            ("F.cross_entropy(", "-F.cross_entropy("),
        ),
        (
            "does not say which tokens",
            "raised",
            ("logits[asked], targets[asked]", "logits, targets"),
        ),
        (
            "reads 100 tokens of a text",
            "",
            ("    asked", "    logits, targets = logits[:, :100], targets[:, :100]\n    asked"),
        ),
    ),
    wrong(
        "tagger-loss",
        "averages the texts' means",
        """
        def tagger_loss(logits, targets):
            rows = [F.cross_entropy(a, b) for a, b in zip(logits, targets)]
            return torch.stack(rows).mean()
        """,
        "the mean of the texts' means",
    ),
    wrong(
        "tagger-loss",
        "trusts PyTorch with everything",
        """
        def tagger_loss(logits, targets):
            return F.cross_entropy(logits.flatten(0, 1), targets.flatten())
        """,
        "the mean of nothing would be nan",
    ),
    *group(
        "tag-runs",
        RUNS,
        (
            "gives the last word",
            "the word *behind* the span",
            ("(first, number + 1, label)", "(first, number, label)"),
            ("(number, number + 1, label)", "(number, number, label)"),
        ),
        (
            "makes a span of every word",
            "goes on with the LOC",
            ('prefix == "I" and before[2:] == label', "False"),
        ),
        (
            "joins what stands side by side",
            "B begins a new one",
            ('prefix == "I" and before', "before"),
        ),
        (
            "does not compare labels",
            "compare the labels",
            ("before[2:] == label", 'before != "O"'),
            ("first, _, _ = runs.pop()", "first, _, label = runs.pop()"),
        ),
        (
            "drops an I that stands alone",
            "such things",
            ("            else:\n", '            elif prefix == "B":\n'),
        ),
        (
            "looks over an O",
            "an O stands between",
            ("        before = tag", '        before = tag if tag != "O" else before'),
        ),
        (
            "keeps B- in the label",
            "without B-",
            ('prefix, _, label = tag.partition("-")', "prefix, label = tag[:1], tag"),
            ("before[2:] == label", "before[2:] == label[2:]"),
            ("first, _, _ = runs.pop()", "first, _, label = runs.pop()"),
        ),
        (
            "cuts at the last hyphen",
            "not at the last",
            ('tag.partition("-")', 'tag.rpartition("-")'),
            (
                'prefix == "I" and before[2:] == label',
                'tag[0] == "I" and before.rpartition("-")[2] == label',
            ),
        ),
        (
            "cuts at all hyphens",
            "cut at the first one only",
            ('tag.partition("-")', '(tag + "--").split("-")[:3]'),
            ("prefix, _, label =", "prefix, label, _ ="),
            ("before[2:] == label", '(before + "--").split("-")[1] == label'),
        ),
        (
            "gives lists",
            "is a tuple",
            ("runs.append((first, number + 1, label))", "runs.append([first, number + 1, label])"),
            (
                "runs.append((number, number + 1, label))",
                "runs.append([number, number + 1, label])",
            ),
        ),
        ("forgets the return", "it returned None", ("    return runs", "")),
        (
            "takes B for a change of label when it follows an I",
            "",
            ('if prefix == "I" and', 'if (prefix == "I" or before[0] == "I") and'),
        ),
    ),
    wrong(
        "tag-runs",
        "closes a span at an O or a B only",
        """
        def tag_runs(tags):
            runs, first, label = [], None, None
            for number, tag in enumerate(tags):
                if first is not None and (tag == "O" or tag[0] == "B"):
                    runs.append((first, number, label))
                    first = None
                if tag[0] == "B":
                    first, label = number, tag[2:]
            return runs
        """,
        "the last span is lost",
    ),
    *group(
        "entity-f1",
        F1,
        (
            "forgets which text",
            "two texts is two spans",
            ("{(text, *run) for", "{run for"),
        ),
        (
            "forgets the label",
            "the label belongs to the span",
            ("{(text, *run) for", "{(text, *run[:2]) for"),
        ),
        (
            "asks for the start alone",
            "if its last word is, too",
            ("(text, *run)", "(text, run[0], run[2])"),
        ),
        (
            "swaps precision and recall",
            "share of the *guessed* spans",
            ("right / len(guessed), right / len(true)", "right / len(true), right / len(guessed)"),
        ),
        (
            "takes the plain mean",
            "harmonic mean",
            ("2 * precision * recall / (precision + recall)", "(precision + recall) / 2"),
        ),
        (
            "takes the product",
            "harmonic mean",
            ("2 * precision * recall / (precision + recall)", "precision * recall"),
        ),
        (
            "divides by nothing",
            "ask first whether there is anything",
            ("    if right == 0:\n        return 0.0, 0.0, 0.0\n", ""),
        ),
        (
            "returns F1 alone",
            "it must return three numbers",
            ("return precision, recall, ", "return "),
        ),
        (
            "reads the first text",
            "the first text alone",
            ("enumerate(true_tags)", "enumerate(true_tags[:1])"),
            ("enumerate(guessed_tags)", "enumerate(guessed_tags[:1])"),
        ),
        (
            "reads three texts",
            "",
            ("enumerate(true_tags)", "enumerate(true_tags[:3])"),
        ),
    ),
    wrong("entity-f1", "averages the texts", MEAN_F1, "the mean of the texts' scores"),
    wrong("entity-f1", "counts words", BY_WORDS, "words are counted"),
    wrong(
        "entity-f1",
        "counts accuracy",
        """
        def entity_f1(true_tags, guessed_tags):
            pairs = [p for one, other in zip(true_tags, guessed_tags) for p in zip(one, other)]
            share = sum(true == guess for true, guess in pairs) / len(pairs)
            return share, share, share
        """,
        "words are counted",
    ),
    *group(
        "best-span",
        SPAN,
        (
            "answers with the question",
            "a token of the question",
            ("segment_ids[i] == 0 or ", "i == 0 or "),
        ),
        (
            "answers with [SEP]",
            "[SEP] at the end",
            (" or offsets[i] == (0, 0)", ""),
            ("            if offsets[j] == (0, 0):\n                break\n", ""),
        ),
        (
            "gives tokens",
            "those are tokens",
            ("(offsets[i][0], offsets[j][1])", "(i, j)"),
        ),
        (
            "ends at the last token's start",
            "not where that begins",
            ("offsets[j][1]", "offsets[j][0]"),
        ),
        ("ends with the first token", "its *last* token", ("offsets[j][1]", "offsets[i][1]")),
        (
            "always answers",
            "return None",
            (
                "    if best > starts[0] + ends[0] + threshold:\n        return answer\n",
                "    if answer:\n        return answer\n",
            ),
        ),
        (
            "gives [CLS] for no answer",
            "not the characters of [CLS]",
            ("return None", "return offsets[0]"),
        ),
        ("forgets the threshold", "threshold is added", (" + threshold", "")),
        ("subtracts the threshold", "threshold is added", ("+ threshold", "- threshold")),
        (
            "answers if both are equal",
            "*more* than no answer",
            ("if best > starts", "if best >= starts"),
        ),
        ("compares with S_0", "S_0 + E_0 = 5 + 3", (" + ends[0] + ", " + ")),
        ("begins with 0", "begin with -inf", ('float("-inf"), None', "0.0, None")),
        (
            "begins with the score of no answer",
            "threshold is added",
            ('float("-inf"), None', "starts[0] + ends[0], None"),
        ),
        (
            "allows one token more",
            "max_tokens counts tokens",
            ("i + max_tokens,", "i + max_tokens + 1,"),
        ),
        ("allows one token fewer", "expected (0, 3)", ("i + max_tokens,", "i + max_tokens - 1,")),
        (
            "knows no longest answer",
            "max_tokens counts tokens",
            ("min(i + max_tokens, len(offsets))", "len(offsets)"),
        ),
        ("multiplies", '"Jim" scores 3 + 3', ("starts[i] + ends[j]", "starts[i] * ends[j]")),
        (
            "asks for the end first",
            "expected",
            (
                "logits[:, 0].tolist(), logits[:, 1].tolist()",
                "logits[:, 1].tolist(), logits[:, 0].tolist()",
            ),
        ),
        (
            "returns a list",
            "it must return a tuple",
            ("return answer\n", "return answer and list(answer)\n"),
        ),
        ("has answers of 20 tokens", "expected", ("max_tokens=30", "max_tokens=20")),
        (
            "looks at the first ten starts",
            "",
            (
                "        for j in",
                "        if 70 < i < 100:\n            continue\n        for j in",
            ),
        ),
    ),
    wrong(
        "best-span",
        "chooses start and end one by one",
        ONE_BY_ONE,
        "start and end chosen one by one",
    ),
    wrong("best-span", "chooses the start first", START_FIRST, "expected"),
    wrong(
        "best-span",
        "turns start and end round if need be",
        ONE_BY_ONE.replace(
            "    if logits", "    first, last = sorted((first, last))\n    if logits"
        ),
        "the best answer scores 7",
    ),
]

OTHER_WAYS = [
    right("layer-features", "by lists and sums", FEATURES),
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
    right("tags-of-words", "word by word", TAGS),
    right(
        "tags-of-words",
        "by tables of starts and ends",
        """
        def tags_of_words(words, spans):
            starts = {start: n for n, (start, _) in enumerate(words)}
            ends = {end: n for n, (_, end) in enumerate(words)}
            tags = ["O" for _ in words]
            for start, end, label in spans:
                first, last = starts[start], ends[end]
                tags[first : last + 1] = [f"B-{label}"] + [f"I-{label}"] * (last - first)
            return tags
        """,
    ),
    right("first-pieces", "by the last word that had one", PIECES),
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
    right("piece-targets", "by a loop", TARGETS),
    right(
        "piece-targets",
        "by a table of numbers",
        """
        def piece_targets(tags, first, names):
            number_of = {name: number for number, name in enumerate(names)}
            return [IGNORED if word < 0 else number_of[tags[word]] for word in first]
        """,
    ),
    right("tagger-loss", "as ours", LOSS),
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
    right("tag-runs", "by the tag before", RUNS),
    right(
        "tag-runs",
        "by looking for the end",
        """
        def tag_runs(tags):
            runs, first = [], 0
            while first < len(tags):
                after = first + 1
                if tags[first] != "O":
                    label = tags[first][2:]
                    while after < len(tags) and tags[after] == "I-" + label:
                        after += 1
                    runs.append((first, after, label))
                first = after
            return runs
        """,
    ),
    right("entity-f1", "by two loops", F1),
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
    right("best-span", "by two loops over all tokens", SPAN),
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
]
