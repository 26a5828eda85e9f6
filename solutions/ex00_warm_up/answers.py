"""Exercise 0, the warm-up: wrong answers, and right ones written differently."""

from course.answers import OURS, mistakes, right

WRONG = [
    *mistakes(
        "token-ids",
        OURS,
        (
            "leaves unknown tokens out",
            (
                'vocab.get(token, vocab["[UNK]"]) for token in tokens',
                "vocab[t] for t in tokens if t in vocab",
            ),
            "an unknown token must not be left out",
        ),
        ("takes 0 for unknown", (', vocab["[UNK]"])', ", 0)"), "[UNK] need not have the id 0"),
        ("forgets the unknown", (', vocab["[UNK]"])', ")"), "in place of None"),
        (
            "looks up without a default",
            ('.get(token, vocab["[UNK]"])', "[token]"),
            "raised KeyError",
        ),
        (
            "treats the id 0 as missing",
            ('vocab.get(token, vocab["[UNK]"])', 'vocab.get(token) or vocab["[UNK]"]'),
            "0 is an id like any other",
        ),
        (
            "looks tokens up in lower case",
            (".get(token,", ".get(token.lower(),"),
            "look each up as it is, not in lower case",
        ),
        (
            "each token once",
            ("for token in tokens", "for token in dict.fromkeys(tokens)"),
            "",
        ),
        (
            "numbers the tokens itself",
            (
                'vocab.get(token, vocab["[UNK]"]) for token in tokens',
                "i for i, token in enumerate(tokens)",
            ),
            "an id is what the vocabulary says",
        ),
        (
            "returns tokens",
            ('vocab.get(token, vocab["[UNK]"])', 'token if token in vocab else "[UNK]"'),
            "look up each one's id",
        ),
        (
            "returns a generator",
            ("return [vocab", "return (vocab"),
            ("tokens]", "tokens)"),
            "must return a list",
        ),
    ),
    *mistakes(
        "shares",
        OURS,
        (
            "is the draft",
            ("sum(numbers)", "max(sum(numbers), 1)"),
            "so far it does what the draft does",
        ),
        ("fails on zeros", (" if total else 0.0", ""), "raised ZeroDivisionError"),
        ("divides by the count", ("sum(numbers)", "len(numbers)"), "3 and 1 of 4"),
        ("gives percent", ("number / total", "100 * number / total"), "these are percent"),
        ("divides without a rest", ("number / total", "number // total"), "divide with `/`"),
        ("divides by the largest", ("sum(numbers)", "max(numbers)"), "not by the largest"),
        (
            "divides by the sum so far",
            """
            def shares(numbers):
                total, found = 0, []
                for number in numbers:
                    total += number
                    found.append(number / total if total else 0.0)
                return found
            """,
            "not of those so far",
        ),
        (
            "adds the shares up",
            """
            def shares(numbers):
                total, so_far, found = sum(numbers), 0, []
                for number in numbers:
                    so_far += number
                    found.append(so_far / total if total else 0.0)
                return found
            """,
            "each number's own share",
        ),
        (
            "leaves zeros out",
            ("for number in numbers]", "for number in numbers if number]"),
            "in their order",
        ),
        (
            "sorts",
            ("for number in numbers]", "for number in sorted(numbers, reverse=True)]"),
            "in their order",
        ),
        ("equal shares if all are 0", ("else 0.0", "else 1 / len(numbers)"), "all shares are 0"),
        ("rounds", ("number / total if", "round(number / total, 3) if"), ""),
        ("takes tiny sums for 0", ("if total else", "if total > 1e-6 else"), ""),
    ),
    *mistakes(
        "examine-shares",
        OURS,
        (
            "asserts nothing",
            """
            def examine_shares(function):
                function([3, 1])
                function([0.25, 0.25])
            """,
            "does not notice that the draft is wrong",
        ),
        (
            "prints what it finds",
            """
            def examine_shares(function):
                print(function([0.25, 0.25]) == [0.5, 0.5])
            """,
            "printing stops nobody",
        ),
        (
            "tests the student's own function",
            """
            def examine_shares(function):
                assert shares([0.25, 0.25]) == [0.5, 0.5]
            """,
            "it never calls its argument",
        ),
        (
            "tries the draft in place of its argument",
            """
            def examine_shares(function):
                assert draft([0.25, 0.25]) == [0.5, 0.5]
            """,
            "it never calls its argument",
        ),
        (
            "returns True or False",
            """
            def examine_shares(function):
                return function([0.25, 0.25]) == [0.5, 0.5]
            """,
            "returned True",
        ),
        (
            "is the draft's own test",
            """
            def examine_shares(function):
                assert function([3, 1]) == [0.75, 0.25]
            """,
            "does not notice that the draft is wrong",
        ),
        (
            "checks only the sum",
            """
            def examine_shares(function):
                assert sum(function([0.25, 0.25])) == 1
                assert sum(function([3, 1])) == 1
            """,
            "a function that fails if all numbers are 0",
        ),
        (
            "two equal numbers",
            (
                "    assert function([3, 1, 0, 4]) == [0.375, 0.125, 0.0, 0.5]\n",
                "",
            ),
            "",
        ),
        ("without an empty list", ("    assert function([]) == []\n", ""), ""),
        (
            "without all zeros",
            ("    assert function([0, 0]) == [0, 0]\n", ""),
            "a function that fails if all numbers are 0",
        ),
        (
            "sums only",
            (
                "function([3, 1, 0, 4]) == [0.375, 0.125, 0.0, 0.5]",
                "sum(function([3, 1, 0, 4])) == 1",
            ),
            "",
        ),
        (
            "expects what is wrong",
            ("[0, 0]) == [0, 0]", "[0, 0]) == [0.5, 0.5]"),
            "rejects your own `shares`",
        ),
        (
            "compares thirds to the last digit",
            ("function([]) == []", "function([7, 3, 39]) == [7 / 49, 3 / 49, 39 / 49]"),
            "",
        ),
        (
            "never ends",
            ("function([]) == []", "function([]) == []\n    while True:\n        pass"),
            "does not come to an end",
        ),
        (
            "swallows its own errors",
            """
            def examine_shares(function):
                try:
                    assert function([0.25, 0.25]) == [0.5, 0.5]
                except AssertionError:
                    pass
            """,
            "does not notice that the draft is wrong",
        ),
        (
            "stops everything",
            """
            def examine_shares(function):
                raise AssertionError("wrong")
            """,
            "rejects your own `shares` with AssertionError: wrong",
        ),
    ),
    *mistakes(
        "predict-growth",
        OURS,
        ("in words", ("return 4", 'return "four times"'), "a prediction is a number"),
        ("none", ("return 4", "pass"), "a prediction is a number"),
        ("below 0", ("return 4", "return -4"), "must be 1 or more"),
        ("not a number", ("return 4", 'return float("nan")'), "must be 1 or more"),
        ("yes", ("return 4", "return True"), "a prediction is a number"),
        ("the other way round", ("return 4", "return 1 / 4"), "must be 1 or more"),
    ),
]

OTHER_WAYS = [
    right(
        "token-ids",
        "with a loop",
        """
        def token_ids(tokens, vocab):
            ids = []
            for token in tokens:
                if token in vocab:
                    ids.append(vocab[token])
                else:
                    ids.append(vocab["[UNK]"])
            return ids
        """,
    ),
    right(
        "shares",
        "with a case of its own",
        """
        def shares(numbers):
            if not any(numbers):
                return [0.0 for _ in numbers]
            return [number / sum(numbers) for number in numbers]
        """,
    ),
    right(
        "examine-shares",
        "sentence by sentence",
        """
        def examine_shares(function):
            for numbers in ([0.3, 0.1], [5, 0, 2, 1], [0.001] * 3, [0, 0, 0], [1], []):
                answer = function(list(numbers))
                assert len(answer) == len(numbers)
                total = sum(numbers)
                for share, number in zip(answer, numbers):
                    assert abs(share - (number / total if total else 0)) < 1e-9
        """,
    ),
    right(
        "examine-shares",
        "with a reference and random numbers",
        """
        import random

        def examine_shares(function):
            draw = random.Random(3)
            lists = [[draw.random() for _ in range(4)] for _ in range(20)]
            for numbers in [*lists, [0.2, 0.1], [2, 0, 1], [0], []]:
                total = sum(numbers) or 1
                wanted = [number / total for number in numbers]
                got = function(numbers)
                assert len(got) == len(wanted)
                assert all(abs(a - b) < 1e-6 for a, b in zip(got, wanted))
        """,
    ),
    right(
        "predict-growth",
        "one that turns out wrong",
        """
        def predict_growth():
            return 2.0
        """,
    ),
]
