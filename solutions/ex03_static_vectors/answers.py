"""Exercise 3, static vectors: wrong answers, and right ones written differently."""

from course.answers import OURS, mistakes, right

WRONG = [
    *mistakes(
        "cosine",
        OURS,
        ("only multiplies", (" / (x.norm(dim=-1) * y.norm(dim=-1))", ""), "divide by both lengths"),
        ("divides by one length", (" * y.norm(dim=-1))", ")"), "of each, not of one"),
        (
            "adds the lengths",
            ("(x.norm(dim=-1) * y", "(x.norm(dim=-1) + y"),
            "multiplied, not added",
        ),
        (
            "divides by squares",
            (
                "(x.norm(dim=-1) * y.norm(dim=-1))",
                "(x.square().sum(dim=-1) * y.square().sum(dim=-1))",
            ),
            "a length is the square root",
        ),
        (
            "one number over all vectors",
            (
                "(x * y).sum(dim=-1) / (x.norm(dim=-1) * y.norm(dim=-1))",
                "(x * y).sum() / (x.norm() * y.norm())",
            ),
            "one cosine per vector, not one over all",
        ),
        (
            "runs along the first dimension",
            ("sum(dim=-1)", "sum(dim=0)"),
            "one cosine per vector",
        ),
        (
            "is PyTorch's",
            (
                "(x * y).sum(dim=-1) / (x.norm(dim=-1) * y.norm(dim=-1))",
                "torch.nn.functional.cosine_similarity(x, y, dim=-1)",
            ),
            "ready-made",
        ),
        (
            "leaves tensors",
            """
            import math

            def cosine(x, y):
                dot = (x * y).sum(dim=-1)
                return torch.tensor((dot / (x.norm(dim=-1) * y.norm(dim=-1))).tolist())
            """,
            "has lost the gradient",
        ),
    ),
    *mistakes(
        "near-words",
        OURS,
        (
            "across sentences",
            ("(inside & (sentence[:, None] == sentence)).float()", "inside.float()"),
            "is in another sentence",
        ),
        ("with itself", ("(distance > 0) & ", ""), "not its own context"),
        ("the column's reach", ("reach[:, None]", "reach"), "the row's reach counts"),
        ("strictly nearer", ("distance <= reach", "distance < reach"), "near enough"),
        (
            "only to the right",
            ("(place[:, None] - place).abs()", "place - place[:, None]"),
            "reaches to the left, too",
        ),
        ("returns True and False", (").float()", ")"), "torch.float32"),
        ("one reach for all", ("reach[:, None])", "reach[0])"), "as in the statement"),
        (
            "counts sentences as neighbours",
            ("sentence[:, None] == sentence", "(sentence[:, None] - sentence).abs() <= 1"),
            "is in another sentence",
        ),
    ),
    *mistakes(
        "near-counts",
        OURS,
        (
            "every neighbour counts 1",
            ("1 / distance", "1.0"),
            "at distance 2 a neighbour counts 1/2",
        ),
        (
            "in one direction",
            ("((word, other), (other, word))", "((word, other),)"),
            "each neighbour counts in both directions",
        ),
        (
            "one step too short",
            ("min(window, len(words) - 1 - place) + 1", "min(window, len(words) - place)"),
            "still counts",
        ),
        (
            "a step too short for the window",
            (
                "range(1, min(window, len(words) - 1 - place) + 1)",
                "range(1, min(window - 1, len(words) - 1 - place) + 1)",
            ),
            "still counts",
        ),
        (
            "weighs by the window",
            ("1 / distance", "(window - distance + 1) / window"),
            "whatever the window",
        ),
        (
            "across sentences",
            """
            def near_counts(sentences, window):
                words, counts = [w for some in sentences for w in some], {}
                for i, word in enumerate(words):
                    for j, other in enumerate(words):
                        if 0 < abs(i - j) <= window:
                            pair = (word, other)
                            counts[pair] = counts.get(pair, 0.0) + 1 / abs(i - j)
                return counts
            """,
            "no window reaches into another sentence",
        ),
        (
            "counts a word next to itself once",
            (
                "for pair in ((word, other), (other, word)):",
                "for pair in {(word, other), (other, word)}:",
            ),
            "from the left word and from the right one",
        ),
        (
            "never counts a word next to itself",
            (
                "for pair in ((word, other), (other, word)):",
                "for pair in ((word, other), (other, word)) if word != other else ():",
            ),
            "a neighbour like any other",
        ),
        (
            "only the last sentence",
            (
                "    counts = {}\n    for words in sentences:\n",
                "    for words in sentences:\n        counts = {}\n",
            ),
            "expected 2.0, got 1.0",
        ),
        (
            "overwrites",
            ("counts.get(pair, 0.0) + 1 / distance", "1 / distance"),
            "expected 2.0, got 1.0",
        ),
        (
            "squared distance",
            ("1 / distance", "1 / distance**2"),
            "expected 0.5, got 0.25",
        ),
    ),
    *mistakes(
        "ppmi",
        OURS,
        ("not positive", (".clamp(min=0)", ""), "values below chance become 0"),
        ("to base 2", (".log()", ".log2()"), "the natural logarithm"),
        (
            "no logarithm",
            (".log().clamp(min=0)", ".clamp(min=0)"),
            "take the logarithm of the ratio",
        ),
        (
            "forgets the total",
            ("counts * counts.sum()", "counts"),
            "are these the shares of the whole table?",
        ),
        (
            "nan in empty rows",
            ("torch.nan_to_num(ratio).log()", "ratio.log()"),
            "an empty row or column gives 0",
        ),
        (
            "adds one to each cell",
            ("ratio = counts *", "counts = counts + 1\n    ratio = counts *"),
            "as in the statement",
        ),
        (
            "only rows",
            (
                "counts.sum(dim=1, keepdim=True), counts.sum(dim=0, keepdim=True)",
                "counts.sum(dim=1, keepdim=True), counts.sum()",
            ),
            "are these the shares",
        ),
        (
            "clamps the ratio at 1 from above",
            (".log().clamp(min=0)", ".clamp(max=1).log().clamp(min=0)"),
            "are these the shares",
        ),
        (
            "reversed",
            (
                "return torch.nan_to_num(ratio).log().clamp(min=0)",
                "return torch.nan_to_num(ratio).log().clamp(min=0).T",
            ),
            "an empty row or column gives 0",
        ),
    ),
    *mistakes(
        "nearest",
        OURS,
        (
            "is the draft",
            """
            def nearest(word, words, matrix, n):
                own = words.index(word)
                scores = matrix @ matrix[own]
                scores[own] = -torch.inf
                return [words[i] for i in scores.topk(n).indices]
            """,
            "`up` points the opposite way",
        ),
        (
            "cosines, but as the draft for a large n",
            """
            def nearest(word, words, matrix, n):
                own = words.index(word)
                scores = cosine(matrix, matrix[own])
                scores[own] = -torch.inf
                return [words[i] for i in scores.topk(n).indices]
            """,
            "raised RuntimeError",
        ),
        ("drops the sign", ("matrix[own])", "matrix[own]).abs()"), "one below 0 is small"),
        (
            "with itself",
            ("for i in order if i != own][:n]", "for i in order][:n]"),
            "the word itself is not one of its neighbours",
        ),
        (
            "the farthest first",
            ("descending=True", "descending=False"),
            "the largest cosine comes first",
        ),
        ("returns all", ("][:n]", "]"), "two words are expected"),
        (
            "itself at the end",
            """
            def nearest(word, words, matrix, n):
                own = words.index(word)
                scores = cosine(matrix, matrix[own])
                scores[own] = -torch.inf
                return [words[i] for i in scores.argsort(descending=True).tolist()][:n]
            """,
            "the word itself is not one of its neighbours",
        ),
        (
            "by distance",
            (
                "cosine(matrix, matrix[own]).argsort(descending=True)",
                "(matrix - matrix[own]).norm(dim=1).argsort()",
            ),
            "compare angles",
        ),
        (
            "returns numbers",
            ("[words[i] for i in order if i != own]", "[i for i in order if i != own]"),
            "expected ['far', 'right']",
        ),
        (
            "leaves out the best, thinking that it is itself",
            ("[words[i] for i in order if i != own][:n]", "[words[i] for i in order[2:]][:n]"),
            "expected ['far', 'right']",
        ),
        (
            "changes the table",
            (
                "    own = words.index(word)\n",
                "    own = words.index(word)\n    matrix /= matrix.norm(dim=1, keepdim=True)\n",
            ),
            "changed its input",
        ),
        ("n at most two", ("][:n]", "][:min(n, 2)]"), "expected ['low', 'right', 'far']"),
        (
            "by the size of the cosine",
            ("matrix[own]).argsort", "matrix[own]).abs().argsort"),
            "expected ['far', 'right']",
        ),
    ),
    *mistakes(
        "examine-nearest",
        OURS,
        (
            "asserts nothing",
            """
            def examine_nearest(function):
                function("a", ["a", "b"], torch.ones(2, 2), 1)
            """,
            "does not notice that the draft is wrong",
        ),
        (
            "is the draft's own test",
            """
            def examine_nearest(function):
                assert function("north", TOWNS, COMPASS, 2) == ["northeast", "east"]
            """,
            "does not notice that the draft is wrong",
        ),
        (
            "returns True or False",
            """
            def examine_nearest(function):
                return function("north", TOWNS, COMPASS, 2) == ["northeast", "east"]
            """,
            "returned True",
        ),
        (
            "only a large n",
            """
            def examine_nearest(function):
                assert function("north", TOWNS, COMPASS, 9) == ["northeast", "east", "south"]
            """,
            "ranks by the distance between end points",
        ),
        (
            "one call",
            """
            def examine_nearest(function):
                rows = torch.tensor([[1.0, 1.0], [0.1, 0.2], [9.0, 0.0], [-1.0, -1.2]])
                assert function("a", ["a", "b", "c", "d"], rows, 3) == ["b", "c", "d"]
            """,
            "",
        ),
        (
            "only the best",
            """
            def examine_nearest(function):
                rows = torch.tensor([[1.0, 1.0], [0.1, 0.2], [9.0, 0.0], [-1.0, -1.2]])
                assert function("a", ["a", "b", "c", "d"], rows, 1) == ["b"]
                assert function("c", ["a", "b", "c", "d"], rows, 1)[0] == "a"
            """,
            "ranks by the distance between end points",
        ),
        (
            "expects the word itself",
            ('9) == ["b", "c", "d", "e"]', '9) == ["a", "b", "c", "d", "e"]'),
            "rejects your own `nearest`",
        ),
        (
            "stops everything",
            """
            def examine_nearest(function):
                raise AssertionError("wrong")
            """,
            "rejects your own `nearest` with AssertionError: wrong",
        ),
        (
            "never asks for all",
            ('    assert function("a", words, matrix, 9) == ["b", "c", "d", "e"]\n', ""),
            ('    assert function("e", words, matrix, 4) == ["d", "c", "b", "a"]\n', ""),
            ('    assert function("a", ["a"], matrix[:1], 2) == []\n', ""),
            "",
        ),
        (
            "decides a tie",
            """
            def examine_nearest(function):
                words = ["e", "b", "d", "a", "c"]
                matrix = torch.tensor(
                    [[-2.0, -2.1], [0.1, 0.2], [-9.0, 8.0], [1.0, 1.0], [5.0, 0.5]]
                )
                assert function("a", words, matrix, 1) == ["b"]
                assert function("a", words, matrix, 3) == ["b", "c", "d"]
                assert function("a", words, matrix, 9) == ["b", "c", "d", "e"]
                assert function("e", words, matrix, 4) == ["d", "c", "b", "a"]
                three = torch.tensor([[1.0, 0.0], [0.0, 2.0], [0.0, 1.0]])
                assert function("x", ["x", "y", "z"], three, 1) == ["z"]
            """,
            "rejects your own `nearest`",
        ),
    ),
    *mistakes(
        "ablation",
        OURS,
        (
            "the other way round",
            ("whole - score(everything - {part})", "score(everything - {part}) - whole"),
            "a fall is positive",
        ),
        (
            "keeps only one part",
            ("score(everything - {part})", "score(frozenset({part}))"),
            "leave one part out, not all but one",
        ),
        ("what is left", ("whole - score", "score"), "return the fall, not the score that is left"),
        (
            "removes one part after the other",
            """
            def ablation(score, parts):
                left, falls = frozenset(parts), {}
                for part in parts:
                    falls[part] = score(left) - score(left - {part})
                    left = left - {part}
                return falls
            """,
            "one part at a time",
        ),
        (
            "removes one part after the other from the whole",
            ("    return {", "    falls = {}\n    for part in parts:\n        "),
            (
                "part: whole - score(everything - {part}) for part in parts}",
                "everything -= {part}\n        falls[part] = whole - score(everything)\n"
                "    return falls",
            ),
            "one part at a time",
        ),
        (
            "never below 0",
            ("whole - score(everything - {part})", "max(0.0, whole - score(everything - {part}))"),
            "has a negative fall",
        ),
        (
            "passes a list",
            ("    everything = frozenset(parts)", "    everything = set(parts)"),
            ("score(everything - {part})", "score(sorted(everything - {part}))"),
            "raised TypeError",
        ),
        (
            "in percent",
            ("whole - score(everything - {part})", "(whole - score(everything - {part})) / whole"),
            "expected 3.0, got 0.6",
        ),
    ),
    *mistakes(
        "predict-part",
        OURS,
        ("another name", ('"ppmi"', '"window"'), "it must be one of sentences, distance, ppmi"),
        ("nothing", ('return "ppmi"', "pass"), "it returned None"),
        ("two of them", ('"ppmi"', '["ppmi", "distance"]'), "it must be one of"),
    ),
]

OTHER_WAYS = [
    right(
        "cosine",
        "of unit vectors",
        """
        def cosine(x, y):
            x = x / x.square().sum(dim=-1, keepdim=True).sqrt()
            y = y / y.square().sum(dim=-1, keepdim=True).sqrt()
            return (x * y).sum(dim=-1)
        """,
    ),
    right(
        "near-words",
        "with loops",
        """
        def near_words(sentence, reach):
            length = len(sentence)
            near = torch.zeros(length, length)
            for i in range(length):
                for j in range(length):
                    if i != j and abs(i - j) <= reach[i] and sentence[i] == sentence[j]:
                        near[i, j] = 1.0
            return near
        """,
    ),
    right(
        "near-counts",
        "all places with all places",
        """
        from collections import Counter

        def near_counts(sentences, window):
            counts = Counter()
            for words in sentences:
                for i, word in enumerate(words):
                    for j in range(max(0, i - window), min(len(words), i + window + 1)):
                        if j != i:
                            counts[word, words[j]] += 1 / abs(i - j)
            return counts
        """,
    ),
    right(
        "ppmi",
        "by shares",
        """
        def ppmi(counts):
            p = counts / counts.sum()
            expected = p.sum(dim=1)[:, None] * p.sum(dim=0)
            above = p > expected
            safe = torch.where(above, p / expected, torch.ones_like(p))
            return safe.log()
        """,
    ),
    right(
        "nearest",
        "sorted by a key",
        """
        def nearest(word, words, matrix, n):
            own = matrix[words.index(word)]
            score = {
                other: float(row @ own / row.norm()) for other, row in zip(words, matrix)
            }
            others = [other for other in words if other != word]
            return sorted(others, key=score.get, reverse=True)[:n]
        """,
    ),
    right(
        "examine-nearest",
        "with a reference and random vectors",
        """
        def examine_nearest(function):
            draw = torch.Generator().manual_seed(5)
            words = list("abcdef")
            for word in words:
                matrix = torch.randn(6, 3, generator=draw) * torch.tensor(
                    [[0.1], [10.0], [1.0], [5.0], [0.5], [2.0]]
                )
                own = matrix[words.index(word)]
                scores = (matrix @ own / matrix.norm(dim=1)).tolist()
                others = [w for w in words if w != word]
                others.sort(key=lambda w: -scores[words.index(w)])
                for n in (1, 2, 5, 20):
                    assert function(word, list(words), matrix.clone(), n) == others[:n]
        """,
    ),
    right(
        "ablation",
        "with a loop",
        """
        def ablation(score, parts):
            whole, falls = score(frozenset(parts)), {}
            for part in parts:
                rest = frozenset(other for other in parts if other != part)
                falls[part] = whole - score(rest)
            return falls
        """,
    ),
    right(
        "predict-part",
        "one that turns out wrong",
        """
        def predict_part():
            return "sentences"
        """,
    ),
]
