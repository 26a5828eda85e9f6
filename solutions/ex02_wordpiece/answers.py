"""Exercise 2, bytes and WordPiece: wrong solutions, and right ones written differently."""

from course.answers import OURS, mistakes, right

WRONG = [
    *mistakes(
        "to-bytes-hex",
        OURS,
        (
            "writes code points",
            (
                '[f"{byte:02x}" for byte in text.encode("utf-8")]',
                '[f"{ord(character):02x}" for character in text]',
            ),
            "these are the characters' code points: encode the text first",
        ),
        (
            "returns numbers",
            ('[f"{byte:02x}" for byte in text.encode("utf-8")]', 'list(text.encode("utf-8"))'),
            "write each as two hexadecimal digits",
        ),
        ("writes decimal digits", ('f"{byte:02x}"', "str(byte)"), "to base 10"),
        ("leaves 0x in front", ('f"{byte:02x}"', "hex(byte)"), "without 0x in front"),
        (
            "forgets the zero of small bytes",
            ('f"{byte:02x}"', "hex(byte)[2:]"),
            "always two digits: the byte 10 is 0a",
        ),
        (
            "returns one string",
            ('[f"{byte:02x}" for byte in text.encode("utf-8")]', 'text.encode("utf-8").hex(" ")'),
            "each byte, not one text",
        ),
        (
            "writes all digits as one text",
            ('[f"{byte:02x}" for byte in text.encode("utf-8")]', 'text.encode("utf-8").hex()'),
            "each byte, not one text",
        ),
        (
            "returns the bytes",
            ('[f"{byte:02x}" for byte in text.encode("utf-8")]', 'text.encode("utf-8")'),
            "these are the bytes themselves",
        ),
        (
            "makes one entry per character",
            (
                '[f"{byte:02x}" for byte in text.encode("utf-8")]',
                '[character.encode("utf-8").hex() for character in text]',
            ),
            "one entry for each byte, not for each character",
        ),
        (
            "writes capital letters",
            ('f"{byte:02x}"', 'f"{byte:02X}"'),
            "digits above 9 are lower-case letters",
        ),
        ("encodes as Latin-1", ('"utf-8"', '"latin-1"'), "raised UnicodeEncodeError"),
        ("encodes as UTF-16", ('"utf-8"', '"utf-16"'), "one byte per letter"),
        ("drops white space", ("text.encode", "text.strip().encode"), "white space is text, too"),
        (
            "drops white space that the examples lack",
            ("text.encode", 'text.strip("\\t\\r \\x00").encode'),
            "",
        ),
    ),
    *mistakes(
        "from-bytes-hex",
        "in one line",
        (
            "decodes each byte alone",
            (
                'bytes(int(code, 16) for code in codes).decode("utf-8", errors="replace")',
                '"".join(chr(int(code, 16)) for code in codes)',
            ),
            "decode all bytes together",
        ),
        (
            "decodes each byte alone, with replacement",
            (
                'bytes(int(code, 16) for code in codes).decode("utf-8", errors="replace")',
                '"".join(bytes.fromhex(code).decode("utf-8", "replace") for code in codes)',
            ),
            "decode all bytes together",
        ),
        ("decodes as Latin-1", ('"utf-8"', '"latin-1"'), "together, as UTF-8"),
        ("is strict", (', errors="replace"', ""), "raised UnicodeDecodeError"),
        (
            "ignores what makes no character",
            ('"replace"', '"ignore"'),
            "the two bytes do not vanish",
        ),
        (
            "replaces the whole text",
            """
            def from_bytes_hex(codes):
                try:
                    return bytes(int(code, 16) for code in codes).decode("utf-8")
                except UnicodeDecodeError:
                    return "\\ufffd"
            """,
            "only bytes that make no character are replaced",
        ),
        (
            "writes a question mark",
            """
            def from_bytes_hex(codes):
                text = bytes(int(code, 16) for code in codes).decode("utf-8", errors="replace")
                return text.replace("\\ufffd", "?")
            """,
            "make no character, and become U+FFFD",
        ),
        ("takes the digits for decimal", ("code, 16", "code"), "expected 'best'"),
        (
            "returns bytes",
            (
                'bytes(int(code, 16) for code in codes).decode("utf-8", errors="replace")',
                'bytes.fromhex("".join(codes))',
            ),
            "must return a str",
        ),
        (
            "writes one replacement for a whole run",
            """
            def from_bytes_hex(codes):
                import re
                text = bytes(int(code, 16) for code in codes).decode("utf-8", errors="replace")
                return re.sub("\\ufffd+", "\\ufffd", text)
            """,
            "",
        ),
    ),
    *mistakes(
        "glue",
        OURS,
        (
            "leaves the mark inside",
            ("right.removeprefix(CONTINUES)", "right"),
            "the mark of the right piece goes",
        ),
        (
            "loses both marks",
            ("+ right", ".removeprefix(CONTINUES) + right"),
            "keep ## in front; otherwise en would start a word",
        ),
        (
            "marks every new piece",
            ("left +", "CONTINUES + left.removeprefix(CONTINUES) +"),
            "m starts the word, so me does",
        ),
        (
            "strips every #",
            ("right.removeprefix(CONTINUES)", 'right.lstrip("#")'),
            "remove only the mark, once",
        ),
        (
            "removes ## wherever it occurs",
            ("right.removeprefix(CONTINUES)", 'right.replace(CONTINUES, "")'),
            "remove only the mark, once",
        ),
        (
            "takes the last character",
            ("right.removeprefix(CONTINUES)", "right[-1]"),
            "pieces may be long",
        ),
        (
            "removes the mark of the left piece, too",
            """
            def glue(left, right):
                mark = CONTINUES if left.startswith(CONTINUES) else ""
                return mark + left.strip("#") + right[2:]
            """,
            "the left piece stays as it is",
        ),
        (
            "removes marks of the joined piece",
            """
            def glue(left, right):
                joined = left + right
                return joined[0:2] + joined[2:].replace(CONTINUES, "", 1)
            """,
            "the mark of the right piece goes",
        ),
    ),
    *mistakes(
        "gain",
        "what is lost, by itself",
        ("computes log(0)", (" if x else 0.0", ""), "raised ValueError"),
        (
            "is before minus after",
            ("f(n_ab) + f(n) - f(n - n_ab) - lost", "lost - f(n_ab) - f(n) + f(n - n_ab)"),
            "a rise is after minus before",
        ),
        ("is in bits", ("math.log(x)", "math.log2(x)"), "these are bits"),
        ("takes the logarithm to base 10", ("math.log(x)", "math.log10(x)"), "that is log10"),
        (
            "forgets that the corpus gets shorter",
            ("    lost = f(n_a) - f(n_a - n_ab) + f(n_b) - f(n_b - n_ab)\n", ""),
            (
                "f(n_ab) + f(n) - f(n - n_ab) - lost",
                "f(n_a - n_ab) - f(n_a) + f(n_b - n_ab) - f(n_b) + f(n_ab)",
            ),
            "the corpus gets shorter, too",
        ),
        (
            "shortens the corpus by two per join",
            ("n - n_ab", "n - 2 * n_ab"),
            "each join makes one piece of two",
        ),
        (
            "has the sign of n wrong",
            ("f(n) - f(n - n_ab)", "f(n - n_ab) - f(n)"),
            "n is in the denominator",
        ),
        ("forgets the new piece", ("f(n_ab) + f(n)", "f(n)"), "the new piece occurs n_ab times"),
        (
            "is the mutual information",
            """
            def gain(n_ab, n_a, n_b, n):
                return n_ab * math.log(n_ab * n / (n_a * n_b))
            """,
            "is close, but n_a, n_b and n fall, too",
        ),
        (
            "assumes that nothing is left of either piece",
            ("    lost = f(n_a) - f(n_a - n_ab) + f(n_b) - f(n_b - n_ab)\n", ""),
            ("+ f(n) - f(n - n_ab) - lost", "- f(n_a) - f(n_b) + f(n) - f(n - n_ab)"),
            "1 of a and 3 of b are left over and still count",
        ),
        (
            "guards one of the zeros only",
            """
            def gain(n_ab, n_a, n_b, n):
                f = lambda x: x * math.log(x)
                left = f(n_a - n_ab) if n_a > n_ab else 0.0
                right = f(n_b - n_ab) if n_a > n_ab else 0.0
                return left - f(n_a) + right - f(n_b) + f(n_ab) + f(n) - f(n - n_ab)
            """,
            "a is used up, f(0) = 0; b is not",
        ),
        (
            "cuts off losses",
            (
                "f(n_ab) + f(n) - f(n - n_ab) - lost",
                "max(0.0, f(n_ab) + f(n) - f(n - n_ab) - lost)",
            ),
            "a gain may be below 0",
        ),
        (
            "forgets to return",
            ("    lost = f(n_a) - f(n_a - n_ab) + f(n_b) - f(n_b - n_ab)\n", ""),
            (
                "return f(n_ab) + f(n) - f(n - n_ab) - lost",
                "f(n_a - n_ab) - f(n_a) + f(n_b - n_ab) - f(n_b) + f(n_ab) + f(n) - f(n - n_ab)",
            ),
            "Is there a `return` at the end?",
        ),
        (
            "rounds to three decimals",
            (
                "f(n_ab) + f(n) - f(n - n_ab) - lost",
                "round(f(n_ab) + f(n) - f(n - n_ab) - lost, 3)",
            ),
            "",
        ),
    ),
    *mistakes(
        "train",
        OURS,
        (
            "makes one merge too many",
            ("< vocab_size", "<= vocab_size"),
            "12 first pieces and 3 merges make 15 pieces; it made 4 merges",
        ),
        (
            "takes vocab_size as the number of merges",
            ("len(vocab) <", "len(merges) <"),
            "12 first pieces and 3 merges make 15 pieces",
        ),
        (
            "adds the pieces with a mark inside",
            ("glue(*best)", '"".join(best)'),
            "raised KeyError: '##st'",
        ),
        (
            "joins nothing in the words",
            (
                "while len(vocab) < vocab_size",
                "free = vocab_size - len(vocab)\n    while len(merges) < free",
            ),
            (
                "vocab.setdefault(glue(*best), len(vocab))",
                'vocab[f"{glue(*best)}{len(merges)}"] = len(vocab)',
            ),
            ("        words = merged\n", ""),
            "apply the merge to every word before you continue",
        ),
        (
            "takes the most frequent pair, whatever the score",
            ("score(n_ab, pieces[a], pieces[b], n)", "n_ab"),
            "call `score` for each pair",
        ),
        (
            "always uses the likelihood",
            ("score(n_ab, pieces[a], pieces[b], n)", "likelihood(n_ab, pieces[a], pieces[b], n)"),
            "call `score` for each pair",
        ),
        (
            "swaps the two counts",
            ("pieces[a], pieces[b]", "pieces[b], pieces[a]"),
            "that is in another order",
        ),
        (
            "takes the number of different pieces as n",
            ("pieces.total()", "len(pieces)"),
            "n is the number of all pieces",
        ),
        (
            "takes the number of pairs as n",
            ("pieces.total()", "pairs.total()"),
            "n is the number of pieces, not of pairs",
        ),
        (
            "counts only the pieces of frequent pairs",
            (
                "        n = pieces.total()\n",
                "        pieces = Counter()\n"
                "        for (a, b), n_ab in pairs.items():\n"
                "            pieces[a] += n_ab\n"
                "            pieces[b] += n_ab\n"
                "        n = count_symbols(words).total()\n",
            ),
            "n_a and n_b are what count_symbols counts",
        ),
        (
            "calls the score with three numbers",
            ("pieces[b], n)", "pieces[b])"),
            "missing 1 required positional argument: 'n'",
        ),
        (
            "takes the first of those that are tied",
            ("(scores[p], -vocab[p[0]], -vocab[p[1]])", "scores[p]"),
            "the left ids are equal, so the right ids decide",
        ),
        (
            "lets the highest id win",
            ("-vocab[p[0]], -", "vocab[p[0]], "),
            "that is the highest left id; the lowest wins",
        ),
        (
            "breaks ties by the alphabet",
            (
                "max(scores, key=lambda p: (scores[p], -vocab[p[0]], -vocab[p[1]]), default=None)",
                "min(scores, key=lambda p: (-scores[p], p), default=None)",
            ),
            "the left ids are equal, so the right ids decide",
        ),
        (
            "treats close scores as ties",
            ("(scores[p], -vocab[p[0]]", "(round(scores[p], 2), -vocab[p[0]]"),
            "",
        ),
        (
            "scores only once",
            ("    while len(vocab) < vocab_size:\n        pairs", "    pairs"),
            ("        n = pieces.total()\n", "    n = pieces.total()\n"),
            ("        scores = {\n", "    scores = {\n"),
            (
                "        best = max(",
                "    while len(vocab) < vocab_size:\n        best = max(",
            ),
            (
                "        merged = Counter()\n",
                "        del scores[best]\n        merged = Counter()\n",
            ),
            "pieces that were joined are no longer there",
        ),
        (
            "ignores min_count",
            ("n_ab >= min_count", "n_ab"),
            "only pairs that occur at least 2 times may be joined",
        ),
        (
            "requires more than min_count",
            ("n_ab >= min_count", "n_ab > min_count"),
            "a pair that occurs once may be joined",
        ),
        (
            "checks the count of the best pair, and stops",
            ("            if n_ab >= min_count\n", ""),
            (
                "if best is None or",
                "if best is None or pairs[best] < min_count or",
            ),
            "choose among the frequent pairs",
        ),
        (
            "never stops for a low score",
            (" or scores[best] <= least", ""),
            "the best score must be above 3",
        ),
        (
            "stops only below least",
            ("scores[best] <= least", "scores[best] < least"),
            "the best score must be above 4",
        ),
        (
            "stops at 0 in any case",
            ("scores[best] <= least", "scores[best] <= max(least, 0)"),
            "a score may be below 0, and so may `least`",
        ),
        (
            "makes the merge before it checks the score",
            ("if best is None or scores[best] <= least:", "if best is None:"),
            (
                "        words = merged\n",
                "        words = merged\n        if scores[best] <= least:\n            break\n",
            ),
            "compare the best score with `least` before",
        ),
        (
            "crashes when nothing is left",
            (", default=None", ""),
            "raised ValueError: max()",
        ),
        (
            "changes the vocabulary it was given",
            ("vocab, merges = dict(vocab), []", "merges = []"),
            "work on a copy",
        ),
        (
            "gives an existing piece a new id",
            ("vocab.setdefault(glue(*best), len(vocab))", "vocab[glue(*best)] = len(vocab)"),
            "a piece that already exists keeps its id",
        ),
        (
            "gives the new piece the id of its rank",
            ("vocab.setdefault(glue(*best), len(vocab))", "vocab[glue(*best)] = len(merges)"),
            "a new piece gets the next free id",
        ),
        (
            "keeps the merges as new pieces",
            ("merges.append(best)", "merges.append(glue(*best))"),
            "each merge is a pair, such as ('##s', '##t')",
        ),
        (
            "returns only the vocabulary",
            ("return vocab, merges", "return vocab"),
            "it must return two things",
        ),
        (
            "never ends, as the vocabulary does not grow",
            ("        words = merged\n", ""),
            "does not come to an end, so it was stopped",
        ),
        (
            "lets the library train",
            """
            from bertlab.tokenizers.wordpiece import learn_pieces
            def train(words, vocab, vocab_size, score, min_count, least):
                return learn_pieces(words, vocab, vocab_size, criterion="likelihood")[:2]
            """,
            "uses bertlab's own code",
        ),
    ),
    *mistakes(
        "longest-match",
        "the mark where the piece is made",
        (
            "takes the shortest piece",
            ("len(word), start, -1", "start + 1, len(word) + 1"),
            "that is the shortest piece each time",
        ),
        (
            "returns pieces without the mark",
            ('            piece = (CONTINUES if start else "") + word[start:end]\n', ""),
            ("piece in vocab", '(CONTINUES if start else "") + word[start:end] in vocab'),
            ("pieces.append(piece)", "pieces.append(word[start:end])"),
            "pieces have ## in front, in the answer as well",
        ),
        (
            "keeps what it found before [UNK]",
            ("            return [UNKNOWN]\n", "            return [*pieces, UNKNOWN]\n"),
            "one [UNK] stands for the whole word",
        ),
        (
            "drops the rest",
            ("            return [UNKNOWN]\n", "            break\n"),
            "the rest, `tal`, must not be lost",
        ),
        (
            "makes each unknown character [UNK]",
            ("            return [UNKNOWN]\n", "            piece, end = UNKNOWN, start + 1\n"),
            "one [UNK] for the word, not one for each character",
        ),
        (
            "never moves on when nothing fits",
            ("break", "pieces.append(piece)\n                start = end\n                break"),
            (
                "        else:\n"
                "            return [UNKNOWN]\n"
                "        pieces.append(piece)\n"
                "        start = end\n",
                "",
            ),
            "does not come to an end, so it was stopped",
        ),
        (
            "lets a continuation start a word",
            ('piece = (CONTINUES if start else "")', "marked = CONTINUES"),
            (
                "if piece in vocab:",
                "piece = marked if start or word[:end] not in vocab else word[:end]\n"
                "            if piece in vocab:",
            ),
            "`us` does not start a word here",
        ),
        (
            "lets a start occur inside",
            (
                "if piece in vocab:",
                "if piece not in vocab:\n"
                "                piece = word[start:end]\n"
                "            if piece in vocab:",
            ),
            "me can start a word, but inside one it would be ##me",
        ),
        (
            "looks back when it is stuck",
            """
            def longest_match(word, vocab, longest_word=100):
                def cut(start):
                    if start == len(word):
                        return []
                    for end in range(len(word), start, -1):
                        piece = (CONTINUES if start else "") + word[start:end]
                        if piece in vocab and (rest := cut(end)) is not None:
                            return [piece, *rest]
                    return None
                found = cut(0) if len(word) <= longest_word else None
                return [UNKNOWN] if found is None else found
            """,
            "longest match does not look back",
        ),
        (
            "looks for the fewest pieces",
            """
            def longest_match(word, vocab, longest_word=100):
                if len(word) > longest_word:
                    return [UNKNOWN]
                greedy, start = [], 0
                while start < len(word):
                    for end in range(len(word), start, -1):
                        if (piece := (CONTINUES if start else "") + word[start:end]) in vocab:
                            break
                    else:
                        return [UNKNOWN]
                    greedy.append(piece)
                    start = end
                best = {0: []}
                for end in range(1, len(word) + 1):
                    ways = [[*best[s], (CONTINUES if s else "") + word[s:end]] for s in list(best)
                            if (CONTINUES if s else "") + word[s:end] in vocab]
                    if ways:
                        best[end] = min(ways, key=len)
                return best[len(word)] if len(best[len(word)]) < len(greedy) else greedy
            """,
            "the longest piece comes first",
        ),
        (
            "has no limit",
            ("    if len(word) > longest_word:\n        return [UNKNOWN]\n", ""),
            "a word of more than longest_word characters is [UNK]",
        ),
        (
            "refuses a word of longest_word characters",
            ("len(word) >", "len(word) >="),
            "one of exactly that length is not",
        ),
        (
            "always uses 100 as the limit",
            ("longest_word:", "100:"),
            "a word of more than longest_word characters is [UNK]",
        ),
        (
            "returns ids",
            ("    if len(word) > longest_word:\n        return [UNKNOWN]\n", ""),
            ("pieces.append(piece)", "pieces.append(vocab[piece])"),
            "these are ids; return the pieces themselves",
        ),
        ("tries at most four characters", ("len(word),", "min(len(word), start + 4),"), ""),
    ),
    *mistakes(
        "longest-match",
        OURS,
        (
            "returns no piece for a word that cannot be split",
            ("        else:\n            return [UNKNOWN]", "        else:\n            return []"),
            "one [UNK] stands for the word",
        ),
    ),
    *mistakes(
        "examine-longest-match",
        OURS,
        (
            "tests only the draft's own example",
            """
            def examine_longest_match(function):
                vocab = {"me": 0, "men": 1, "##us": 2, "##s": 3}
                assert function("menus", vocab) == ["men", "##us"]
                assert function("taste", vocab) == ["[UNK]"]
            """,
            "does not notice that the draft is wrong",
        ),
        (
            "forgets the assert",
            """
            def examine_longest_match(function):
                function("mental", {"me": 0, "men": 1}) == ["[UNK]"]
            """,
            "does not notice that the draft is wrong",
        ),
        (
            "returns what it finds",
            """
            def examine_longest_match(function):
                return function("mental", {"me": 0, "men": 1}) == ["[UNK]"]
            """,
            "a test raises an error, or does nothing: use `assert`",
        ),
        (
            "expects what the draft returns",
            """
            def examine_longest_match(function):
                assert function("mental", {"me": 0, "men": 1}) == ["men"]
            """,
            "one of the two is wrong: which?",
        ),
        (
            "removes the mark",
            """
            def examine_longest_match(function):
                assert function("menu", {"men": 1, "##u": 2}) == ["men", "u"]
            """,
            "one of the two is wrong: which?",
        ),
        (
            "has no piece that is the beginning of another",
            """
            def examine_longest_match(function):
                assert function("menu", {"men": 1, "##u": 2}) == ["men", "##u"]
                assert function("mental", {"men": 1, "##u": 2}) == ["[UNK]"]
            """,
            "a function that takes the shortest piece first is wrong",
        ),
        (
            "has no long words",
            """
            def examine_longest_match(function):
                vocab = {"me": 0, "men": 1, "##us": 2, "##s": 3, "##u": 4}
                assert function("menus", vocab) == ["men", "##us"]
                assert function("mental", vocab) == ["[UNK]"]
            """,
            "a function without a limit is wrong",
        ),
        (
            "has no word that could be cut by looking back",
            ('    assert function("abc", {"a": 0, "ab": 1, "##bc": 2}) == ["[UNK]"]\n', ""),
            "",
        ),
        (
            "has no word of exactly that length",
            ('    assert function("aaa", letters, 3) == ["a", "##a", "##a"]\n', ""),
            ('    assert function("a" * 100, letters) == ["a", *["##a"] * 99]\n', ""),
            ('    assert function("a" * 101, letters, 101) == ["a", *["##a"] * 100]\n', ""),
            "",
        ),
        (
            "always passes the limit",
            ('    assert function("a" * 101, letters) == ["[UNK]"]\n', ""),
            "",
        ),
        ("starts no word with a continuation", ('"mental", "us", "mm"', '"mental", "mm"'), ""),
        ("uses no start inside a word", ('"mental", "us", "mm"', '"mental", "us"'), ""),
    ),
    *mistakes(
        "unmarked",
        OURS,
        (
            "lists only bare pieces",
            ("ids | {CONTINUES + piece: id for piece, id in ids.items()}", "ids"),
            "list each piece with ## as well",
        ),
        (
            "keeps the ids",
            (
                "ids = {piece: id for id, piece in enumerate(bare)}\n",
                "ids = {}\n"
                "    for piece, id in vocab.items():\n"
                "        ids.setdefault(piece.removeprefix(CONTINUES), id)\n",
            ),
            "ids have no gaps",
        ),
        (
            "counts both spellings",
            ("ids = {piece: id for", "ids = {piece: 2 * id for"),
            "use one id",
        ),
        (
            "gives each spelling an id of its own",
            (
                "ids | {CONTINUES + piece: id for piece, id in ids.items()}",
                "{s: 2 * id + i for piece, id in ids.items() "
                "for i, s in enumerate((piece, CONTINUES + piece))}",
            ),
            "without marks both spellings are one piece, with one id",
        ),
        (
            "marks only what was marked",
            (
                "ids | {CONTINUES + piece: id for piece, id in ids.items()}",
                "ids | {CONTINUES + piece: id for piece, id in ids.items() "
                "if CONTINUES + piece in vocab}",
            ),
            "it needs ##men as well",
        ),
        (
            "keeps the mark where there is no bare spelling",
            (
                "ids | {CONTINUES + piece: id for piece, id in ids.items()}",
                "{piece: id for piece, id in ids.items() if piece in vocab} "
                "| {CONTINUES + piece: id for piece, id in ids.items()}",
            ),
            "it needs `n` as well",
        ),
        (
            "strips every # in front",
            ("piece.removeprefix(CONTINUES) for", 'piece.lstrip("#") for'),
            "# may be a character of the piece",
        ),
        (
            "removes ## wherever it occurs",
            ("piece.removeprefix(CONTINUES) for", 'piece.replace(CONTINUES, "") for'),
            "# may be a character of the piece",
        ),
        (
            "sorts the pieces",
            ("enumerate(bare)", "enumerate(sorted(bare))"),
            "not its ids or the alphabet",
        ),
        (
            "goes by the old ids",
            ("for piece in vocab)", "for piece in sorted(vocab, key=vocab.get, reverse=True))"),
            "expected 0, got",
        ),
        (
            "leaves out pieces that continue",
            ("for piece in vocab)", 'for piece in vocab if piece[:2] != "##" or piece == "###")'),
            "expected 2, but it is missing",
        ),
    ),
    *mistakes(
        "predict-score",
        OURS,
        ("predicts nothing", ('return "frequency"', '"frequency"'), "it returned None"),
        ("predicts another name", ('"frequency"', '"ratio"'), "it must be one of frequency"),
        ("predicts a number", ('"frequency"', "3"), "it must be one of frequency"),
        ("predicts all of them", ('"frequency"', '["frequency", "gain"]'), "it must be one of"),
    ),
]

OTHER_WAYS = [
    right(
        "to-bytes-hex",
        "one long string, cut in twos",
        """
        def to_bytes_hex(text):
            digits = text.encode().hex()
            return [digits[i : i + 2] for i in range(0, len(digits), 2)]
        """,
    ),
    right(
        "to-bytes-hex",
        "split at spaces",
        """
        def to_bytes_hex(text):
            return bytes(text, encoding="utf8").hex(" ").split()
        """,
    ),
    right(
        "from-bytes-hex",
        "bytes.fromhex",
        """
        def from_bytes_hex(codes):
            return str(bytes.fromhex("".join(codes)), "utf-8", "replace")
        """,
    ),
    right(
        "glue",
        "a slice",
        """
        def glue(left, right):
            return f"{left}{right[2:]}"
        """,
    ),
    right(
        "glue",
        "replace, once, when it is in front",
        """
        def glue(left, right):
            if right.startswith("##"):
                right = right.replace("##", "", 1)
            return "".join([left, right])
        """,
    ),
    right(
        "gain",
        "sums of logarithms, before and after",
        """
        def gain(n_ab, n_a, n_b, n):
            def log_likelihood(counts, total):
                return sum(c * math.log(c / total) for c in counts if c)
            others = n - n_a - n_b
            before = log_likelihood([n_a, n_b], n)
            after = log_likelihood([n_a - n_ab, n_b - n_ab, n_ab], n - n_ab)
            if others:
                after += others * (math.log(n) - math.log(n - n_ab))
            return after - before
        """,
    ),
    right(
        "gain",
        "the logarithm of at least 1",
        """
        def gain(n_ab, n_a, n_b, n):
            f = lambda x: x * math.log(max(x, 1))
            after = sum(map(f, (n_a - n_ab, n_b - n_ab, n_ab))) - f(n - n_ab)
            return after - (f(n_a) + f(n_b) - f(n))
        """,
    ),
    right(
        "train",
        "sorted rows, words in a list",
        """
        def train(words, vocab, vocab_size, score, min_count, least):
            grown, learned, corpus = {**vocab}, [], dict(words)
            for _ in range(100 * vocab_size):
                counts = count_symbols(corpus)
                total = sum(counts.values())
                rows = []
                for pair, often in count_pairs(corpus).items():
                    if often < min_count:
                        continue
                    left, right = pair
                    height = score(n_ab=often, n_a=counts[left], n_b=counts[right], n=total)
                    rows.append((-height, grown[left], grown[right], pair))
                rows.sort()
                if len(grown) >= vocab_size or not rows or not -rows[0][0] > least:
                    return grown, learned
                new = rows[0][3]
                if glue(new[0], new[1]) not in grown:
                    grown[glue(new[0], new[1])] = len(grown)
                learned += [new]
                corpus = {merge_pair(pieces, new): count for pieces, count in corpus.items()}
        """,
    ),
    right(
        "longest-match",
        "calling itself",
        """
        def longest_match(word, vocab, longest_word=100):
            def cut(rest, mark):
                for end in range(len(rest), 0, -1):
                    if mark + rest[:end] in vocab:
                        after = cut(rest[end:], "##")
                        return None if after is None else [mark + rest[:end], *after]
                return None if rest else []
            found = cut(word, "") if len(word) <= longest_word else None
            return ["[UNK]"] if found is None else found
        """,
    ),
    right(
        "longest-match",
        "a piece that shrinks",
        """
        def longest_match(word, vocab, longest_word=100):
            pieces, rest = [], word
            while rest and len(word) <= longest_word:
                piece = rest
                while piece and piece not in vocab:
                    piece = piece[:-1]
                if piece in ("", "##"):
                    break
                pieces.append(piece)
                left = rest[len(piece):]
                rest = "##" + left if left else ""
            return ["[UNK]"] if rest else pieces
        """,
    ),
    right(
        "examine-longest-match",
        "a table of cases",
        """
        def examine_longest_match(function):
            small = {piece: 9 - i for i, piece in enumerate("b ##b ##bb ##ab a ab ##a".split())}
            unknown = ["[UNK]"]
            cases = [
                ("abbb", ["ab", "##bb"]), ("abab", ["ab", "##ab"]), ("b", ["b"]),
                ("cab", unknown), ("abcb", unknown), ("bbbb", ["b", "##bb", "##b"]),
            ]
            for word, wanted in cases:
                found = function(word, small)
                if found != wanted:
                    raise AssertionError(f"{word}: {found}, and not {wanted}")
            assert function("xy", {"x": 0, "y": 1}) == unknown, "y does not continue"
            assert function("yx", {"##y": 0, "##x": 1}) == unknown, "##y does not start"
            assert function("xyz", {"x": 0, "xy": 1, "##yz": 2}) == unknown, "looked back"
            for limit in (4, 99, 130):
                fits, word = ["b", *["##bb"] * ((limit - 1) // 2)], "b" * limit
                fits += ["##b"] * (limit - len("".join(fits).replace("##", "")))
                assert function(word, small, limit) == fits
                assert function(word + "b", small, limit) == unknown
            assert len(function("b" * 100, small)) == 51
            assert function("b" * 101, small) == unknown
        """,
    ),
    right(
        "unmarked",
        "a dictionary that grows",
        """
        def unmarked(vocab):
            found = {}
            for piece in vocab:
                text = piece[2:] if piece.startswith("##") else piece
                if text not in found:
                    number = len(found) // 2
                    found[text] = number
                    found["##" + text] = number
            return found
        """,
    ),
    right(
        "predict-score",
        "another one",
        """
        def predict_score():
            return min(("gain", "likelihood"), key=len)
        """,
    ),
]

# Ours except for names or a line: mistakes are changes of these. They are not another way.
NEAR_OURS = [
    right(
        "from-bytes-hex",
        "in one line",
        """
        def from_bytes_hex(codes):
            return bytes(int(code, 16) for code in codes).decode("utf-8", errors="replace")
        """,
    ),
    right(
        "gain",
        "what is lost, by itself",
        """
        def gain(n_ab, n_a, n_b, n):
            f = lambda x: x * math.log(x) if x else 0.0
            lost = f(n_a) - f(n_a - n_ab) + f(n_b) - f(n_b - n_ab)
            return f(n_ab) + f(n) - f(n - n_ab) - lost
        """,
    ),
    right(
        "longest-match",
        "the mark where the piece is made",
        """
        def longest_match(word, vocab, longest_word=100):
            if len(word) > longest_word:
                return [UNKNOWN]
            pieces, start = [], 0
            while start < len(word):
                for end in range(len(word), start, -1):
                    piece = (CONTINUES if start else "") + word[start:end]
                    if piece in vocab:
                        break
                else:
                    return [UNKNOWN]
                pieces.append(piece)
                start = end
            return pieces
        """,
    ),
]
