"""Exercise 2, bytes and WordPiece: solutions that are wrong, and right ones of another kind."""

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
        ("leaves 0x in front", ('f"{byte:02x}"', "hex(byte)"), "without 0x in front"),
        (
            "forgets the zero of small bytes",
            ('f"{byte:02x}"', "hex(byte)[2:]"),
            "always two digits: the byte 10 is 0a",
        ),
        (
            "returns one string",
            ('[f"{byte:02x}" for byte in text.encode("utf-8")]', 'text.encode("utf-8").hex(" ")'),
            "must return a list; it returned '62 65 73 74', a str",
        ),
        (
            "makes one entry a character",
            (
                '[f"{byte:02x}" for byte in text.encode("utf-8")]',
                '[character.encode("utf-8").hex() for character in text]',
            ),
            "one entry for each byte, not for each character",
        ),
        (
            "writes capital letters",
            ('f"{byte:02x}"', 'f"{byte:02X}"'),
            "digits above 9 are small letters",
        ),
        ("encodes as Latin-1", ('"utf-8"', '"latin-1"'), "raised UnicodeEncodeError"),
        ("encodes as UTF-16", ('"utf-8"', '"utf-16"'), "one byte a letter"),
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
            "only what makes no character is replaced",
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
        "first-pieces",
        OURS,
        (
            "marks the first piece as well",
            (
                "(word[0], *(CONTINUES + character for character in word[1:]))",
                'tuple("##" + character for character in word)',
            ),
            "the first piece starts the word: it has no ##",
        ),
        (
            "marks nothing",
            ("(word[0], *(CONTINUES + character for character in word[1:]))", "tuple(word)"),
            "a piece inside the word gets ## in front",
        ),
        (
            "keeps the rest in one piece",
            (
                "(word[0], *(CONTINUES + character for character in word[1:]))",
                "word[0], CONTINUES + word[1:]",
            ),
            "one piece for each character",
        ),
        (
            "marks what goes on, and not what continues",
            (
                "(word[0], *(CONTINUES + character for character in word[1:]))",
                "(*(character + CONTINUES for character in word[:-1]), word[-1])",
            ),
            "in front of the piece that goes on, not behind",
        ),
        (
            "asks which character, not where it stands",
            (
                "(word[0], *(CONTINUES + character for character in word[1:]))",
                "tuple(c if c == word[0] else CONTINUES + c for c in word)",
            ),
            "where a character stands, not which one it is",
        ),
        (
            "returns a list",
            (
                "(word[0], *(CONTINUES + character for character in word[1:]))",
                "[word[0]] + [CONTINUES + character for character in word[1:]]",
            ),
            "must return a tuple",
        ),
        (
            "returns a generator",
            (
                "(word[0], *(CONTINUES + character for character in word[1:]))",
                "(c if i == 0 else CONTINUES + c for i, c in enumerate(word))",
            ),
            "must return a tuple",
        ),
        (
            "is the library's function itself",
            """
            from bertlab.tokenizers.pieces import first_pieces
            """,
            "uses bertlab's own code",
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
            "## stays in front, or en would start a word",
        ),
        (
            "marks every new piece",
            ("left +", "CONTINUES + left.removeprefix(CONTINUES) +"),
            "m starts the word, so me does",
        ),
        (
            "strips every #",
            ("right.removeprefix(CONTINUES)", 'right.lstrip("#")'),
            "take away the mark alone, once",
        ),
        (
            "takes away ## wherever it stands",
            ("right.removeprefix(CONTINUES)", 'right.replace(CONTINUES, "")'),
            "take away the mark alone, once",
        ),
        (
            "takes the last character",
            ("right.removeprefix(CONTINUES)", "right[-1]"),
            "pieces may be long",
        ),
        (
            "tidies the left piece, too",
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
        "count-symbols",
        OURS,
        (
            "forgets how often a word occurs",
            ("pieces, count in words.items()", "pieces in words"),
            ("for piece in pieces:", "counts.update(pieces)"),
            ("            counts[piece] += count\n", ""),
            "this word occurs 3 times",
        ),
        (
            "counts a piece once a word",
            ("piece in pieces", "piece in set(pieces)"),
            "a piece counts as often as it stands in the word",
        ),
        (
            "takes the marks off",
            ("counts[piece]", "counts[piece.removeprefix(CONTINUES)]"),
            "m and ##m are different",
        ),
        (
            "counts words",
            """
            def count_symbols(words):
                return Counter(words)
            """,
            "count the pieces, not the words",
        ),
        (
            "derives them from the pairs, and misses the last",
            ("pieces, count in words", "(left, right), count in count_pairs(words)"),
            ("for piece in pieces:", "counts[left] += count"),
            ("            counts[piece] += count\n", ""),
            "the first and the last one included",
        ),
        (
            "overwrites instead of adding",
            ("piece in pieces", "piece in set(pieces)"),
            ("+= count", "= count * pieces.count(piece)"),
            "counts of different words add up",
        ),
        (
            "goes through the characters",
            ("piece in pieces", 'i, character in enumerate("".join(pieces).replace("##", ""))'),
            ("counts[piece]", 'counts["##" + character if i else character]'),
            "a piece may be longer than one character",
        ),
        (
            "goes through the keys alone",
            ("words.items()", "words"),
            "raised ValueError: too many values to unpack",
        ),
    ),
    *mistakes(
        "likelihood",
        OURS,
        (
            "forgets the brackets",
            ("(n_a * n_b)", "n_a * n_b"),
            "n_ab / n_a * n_b divides by n_a alone",
        ),
        ("adds the counts", ("n_a * n_b", "n_a + n_b"), "multiplied, not added"),
        ("divides by one count", ("(n_a * n_b)", "n_a"), "divide by both, n_a and n_b"),
        ("squares the left count", ("n_a * n_b", "n_a * n_a"), "2 / (3 · 2)"),
        (
            "cuts off the fraction",
            ("n_ab /", "n_ab //"),
            "must return a float; it returned 0, an int",
        ),
        (
            "multiplies by n",
            ("n_b, n=0", "n_b, n=1"),
            ("n_ab /", "n_ab * n /"),
            "n, the fourth argument, does not matter",
        ),
        ("does not take n", ("n_b, n=0", "n_b"), "takes 3 positional arguments but 4 were given"),
        (
            "divides twice, so that ties come apart",
            ("(n_a * n_b)", "n_a / n_b"),
            "scores that are equal on paper must be equal floats",
        ),
        ("rounds", ("n_ab / (n_a * n_b)", "round(n_ab / (n_a * n_b), 4)"), "2 / (3 · 2)"),
    ),
    *mistakes(
        "gain",
        "what is lost, by itself",
        ("takes log(0)", (" if x else 0.0", ""), "raised ValueError"),
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
            "shortens the corpus by two a join",
            ("n - n_ab", "n - 2 * n_ab"),
            "each join makes one piece of two",
        ),
        (
            "has the sign of n wrong",
            ("f(n) - f(n - n_ab)", "f(n - n_ab) - f(n)"),
            "n stands below the line",
        ),
        ("forgets the new piece", ("f(n_ab) + f(n)", "f(n)"), "the new piece occurs n_ab times"),
        (
            "is the mutual information",
            """
            def gain(n_ab, n_a, n_b, n):
                return n_ab * math.log(n_ab * n / (n_a * n_b))
            """,
            "comes near, but n_a, n_b and n fall, too",
        ),
        (
            "thinks that nothing is left of either piece",
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
        "best-pair",
        "in few lines",
        (
            "takes the most frequent pair, whatever the score",
            """
            def best_pair(words, vocab, score):
                pairs = count_pairs(words)
                return max(
                    pairs, key=lambda p: (pairs[p], -vocab[p[0]], -vocab[p[1]]), default=None
                )
            """,
            "the most frequent pair need not be the best: call `score` for each pair",
        ),
        (
            "swaps the two counts",
            ("pieces[p[0]], pieces[p[1]]", "pieces[p[1]], pieces[p[0]]"),
            "that is in another order",
        ),
        (
            "takes the number of different pieces for n",
            ("    n = sum(pieces.values())\n", ""),
            (
                "return score(pairs[p], pieces[p[0]], pieces[p[1]], n), -vocab[p[0]], -vocab[p[1]]",
                "height = score(pairs[p], pieces[p[0]], pieces[p[1]], len(pieces))\n"
                "        return height, -vocab[p[0]], -vocab[p[1]]",
            ),
            "n is the number of all pieces",
        ),
        (
            "takes the number of pairs for n",
            ("pieces.values()", "pairs.values()"),
            "n is the number of pieces, not of pairs",
        ),
        (
            "counts pieces by what stands in pairs",
            ("count_symbols(words)", "Counter()"),
            (
                "n = sum(pieces.values())",
                "for (left, right), count in pairs.items():\n"
                "        pieces[left] += count\n"
                "        pieces[right] += count\n"
                "    n = sum(count_symbols(words).values())",
            ),
            "n_a and n_b are what count_symbols counts",
        ),
        (
            "calls the score with three numbers",
            """
            def best_pair(words, vocab, score):
                pairs, pieces = count_pairs(words), count_symbols(words)
                return max(pairs, key=lambda p: score(pairs[p], pieces[p[0]], pieces[p[1]]))
            """,
            "missing 1 required positional argument: 'n'",
        ),
        (
            "takes the first of those that are tied",
            ("def strength(p):", "key = lambda p: score(pairs[p], pieces[p[0]], pieces[p[1]], n)"),
            (
                "        return score(pairs[p], pieces[p[0]], pieces[p[1]], n), "
                "-vocab[p[0]], -vocab[p[1]]\n",
                "",
            ),
            ("strength", "key"),
            "the left ids are equal, so the right ids decide",
        ),
        (
            "lets the highest id win",
            ("-vocab[p[0]], -", "vocab[p[0]],"),
            "that is the highest left id; the lowest wins",
        ),
        (
            "breaks ties by the alphabet",
            """
            def best_pair(words, vocab, score):
                pairs, pieces = count_pairs(words), count_symbols(words)
                n = sum(pieces.values())
                best = max(
                    (score(pairs[p], pieces[p[0]], pieces[p[1]], n) for p in pairs), default=0
                )
                return min(
                    (
                        p
                        for p in sorted(pairs, key=lambda p: (p[0], vocab[p[1]]))
                        if score(pairs[p], pieces[p[0]], pieces[p[1]], n) == best
                    ),
                    key=lambda p: p[0],
                    default=None,
                )
            """,
            "ids decide, not the alphabet",
        ),
        (
            "begins with 0 for the best score",
            """
            def best_pair(words, vocab, score):
                pairs, pieces = count_pairs(words), count_symbols(words)
                n = sum(pieces.values())
                best, highest = None, 0
                for pair in sorted(pairs, key=lambda p: (vocab[p[0]], vocab[p[1]])):
                    height = score(pairs[pair], pieces[pair[0]], pieces[pair[1]], n)
                    if height > highest:
                        best, highest = pair, height
                return best
            """,
            "a score may be below 0",
        ),
        ("fails when there is no pair", (", default=None", ""), "raised ValueError: max()"),
        (
            "calls ties what is only near",
            (
                "return score(pairs[p], pieces[p[0]], pieces[p[1]], n), -vocab[p[0]], -vocab[p[1]]",
                "height = score(pairs[p], pieces[p[0]], pieces[p[1]], n)\n"
                "        return round(height, 2), -vocab[p[0]], -vocab[p[1]]",
            ),
            "",
        ),
    ),
    *mistakes(
        "train",
        "in few lines",
        (
            "makes one merge too many",
            ("< vocab_size", "<= vocab_size"),
            "12 first pieces and 3 merges make 15 pieces; it made 4 merges",
        ),
        (
            "takes vocab_size for the number of merges",
            ("len(vocab) <", "len(merges) <"),
            "12 first pieces and 3 merges make 15 pieces",
        ),
        (
            "adds the pieces with a mark inside",
            ("glue(*pair)", '"".join(pair)'),
            "raised KeyError: '##st'",
        ),
        (
            "joins as in exercise 1, with the mark inside",
            (
                "def train(words, vocab, vocab_size, score):",
                "def merge_plainly(pieces, pair):\n"
                '    text = " ".join(pieces).replace(" ".join(pair), "".join(pair))\n'
                "    return tuple(text.split())\n"
                "def train(words, vocab, vocab_size, score):",
            ),
            ("glue(*pair)", '"".join(pair)'),
            ("merge_pair", "merge_plainly"),
            "glue says what two pieces become",
        ),
        (
            "joins nothing in the words",
            """
            def train(words, vocab, vocab_size, score):
                vocab, merges = dict(vocab), []
                while len(merges) + 12 < vocab_size:
                    pair = best_pair(words, vocab, score)
                    vocab[f"{glue(*pair)}{len(merges)}"] = len(vocab)
                    merges.append(pair)
                return vocab, merges
            """,
            "carry the merge out in every word before you go on",
        ),
        (
            "scores once and for all",
            (
                "while len(vocab) < vocab_size and (pair := best_pair(words, vocab, score)):",
                "pairs, pieces = count_pairs(words), count_symbols(words)\n"
                "    n = sum(pieces.values())\n"
                "    ranked = sorted(pairs, key=lambda p: (\n"
                "        -score(pairs[p], pieces[p[0]], pieces[p[1]], n), vocab[p[0]], "
                "vocab[p[1]]))\n"
                "    for pair in ranked[: vocab_size - len(vocab)]:",
            ),
            ("        words = {merge_pair(pieces, pair): n for pieces, n in words.items()}\n", ""),
            "pieces that were joined are no longer there",
        ),
        (
            "always uses the likelihood",
            ("vocab, score", "vocab, likelihood"),
            "hand `score` on to best_pair",
        ),
        (
            "crashes when nothing is left",
            (" and (pair := best_pair(words, vocab, score))", ""),
            (
                "vocab.setdefault(glue(*pair), len(vocab))",
                "pair = best_pair(words, vocab, score)\n"
                "        vocab.setdefault(glue(*pair), len(vocab))",
            ),
            "raised TypeError",
        ),
        (
            "changes the vocabulary it was given",
            ("vocab, merges = dict(vocab), []", "merges = []"),
            "changed its input; work on a copy",
        ),
        (
            "gives a piece that is there already a new id",
            ("vocab.setdefault(glue(*pair), len(vocab))", "vocab[glue(*pair)] = len(vocab)"),
            "a piece that is there already keeps its id",
        ),
        (
            "gives the new piece the id of its rank",
            ("vocab.setdefault(glue(*pair), len(vocab))", "vocab[glue(*pair)] = len(merges)"),
            "a new piece gets the next free id",
        ),
        (
            "keeps the merges as new pieces",
            ("merges.append(pair)", "merges.append(glue(*pair))"),
            "each merge is a pair, such as ('##s', '##t')",
        ),
        (
            "returns the vocabulary alone",
            ("vocab, merges = dict(vocab), []", "vocab = dict(vocab)"),
            ("        merges.append(pair)\n", ""),
            ("vocab, merges", "vocab"),
            "it must return two things",
        ),
        (
            "never ends, as the vocabulary does not grow",
            (" and (pair := best_pair(words, vocab, score))", ""),
            (
                "vocab.setdefault(glue(*pair), len(vocab))",
                "pair = best_pair(words, vocab, score)\n"
                "        vocab.setdefault(glue(*pair), len(vocab))",
            ),
            ("        words = {merge_pair(pieces, pair): n for pieces, n in words.items()}\n", ""),
            "does not come to an end, so it was stopped",
        ),
        (
            "lets the library train",
            """
            from bertlab.tokenizers.likelihood import LIKELIHOOD
            from bertlab.tokenizers.ranking import learn_by_score
            def train(words, vocab, vocab_size, score):
                return learn_by_score(words, vocab, vocab_size, LIKELIHOOD)[:2]
            """,
            "uses bertlab's own code",
        ),
        (
            "makes as many merges as places were free, though a piece may be there already",
            """
            def train(words, vocab, vocab_size, score):
                vocab, merges = dict(vocab), []
                for _ in range(vocab_size - len(vocab)):
                    if pair := best_pair(words, vocab, score):
                        vocab.setdefault(glue(*pair), len(vocab))
                        merges.append(pair)
                        words = {merge_pair(pieces, pair): n for pieces, n in words.items()}
                return vocab, merges
            """,
            "",
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
            "the rest, `tal`, must not get lost",
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
            "lets a start stand inside",
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
            "wants the fewest pieces",
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
            "does not know the limit",
            ("    if len(word) > longest_word:\n        return [UNKNOWN]\n", ""),
            "a word of more than longest_word characters is [UNK]",
        ),
        (
            "refuses a word of just as many characters",
            ("len(word) >", "len(word) >="),
            "one of just as many is not",
        ),
        (
            "knows no limit but 100",
            ("longest_word:", "100:"),
            "a word of more than longest_word characters is [UNK]",
        ),
        (
            "returns ids",
            ("    if len(word) > longest_word:\n        return [UNKNOWN]\n", ""),
            ("pieces.append(piece)", "pieces.append(vocab[piece])"),
            "these are ids; return the pieces themselves",
        ),
        ("looks no further than four characters", ("len(word),", "min(len(word), start + 4),"), ""),
    ),
    *mistakes(
        "longest-match",
        OURS,
        (
            "gives no piece at all for what cannot be cut",
            ("        else:\n            return [UNKNOWN]", "        else:\n            return []"),
            "one [UNK] stands for the word",
        ),
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
        "first-pieces",
        "enumerate",
        """
        def first_pieces(word):
            return tuple("##" + c if i > 0 else c for i, c in enumerate(word))
        """,
    ),
    right(
        "first-pieces",
        "a list that grows",
        """
        def first_pieces(word):
            pieces = [word[:1]]
            for character in word[1:]:
                pieces += [CONTINUES + character]
            return tuple(pieces)
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
        "count-symbols",
        "a plain dictionary",
        """
        def count_symbols(words):
            counts = {}
            for pieces in words:
                for piece in pieces:
                    counts[piece] = counts.get(piece, 0) + words[pieces]
            return counts
        """,
    ),
    right(
        "count-symbols",
        "a Counter a word, multiplied",
        """
        from collections import defaultdict
        def count_symbols(words):
            totals = defaultdict(int)
            for pieces, count in words.items():
                for piece, times in Counter(pieces).items():
                    totals[piece] += times * count
            return totals
        """,
    ),
    right(
        "likelihood",
        "a fraction",
        """
        from fractions import Fraction
        def likelihood(n_ab, n_a, n_b, n=0):
            return float(Fraction(n_ab, n_a * n_b))
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
        "best-pair",
        "sorting",
        """
        def best_pair(words, vocab, score):
            pieces = count_symbols(words)
            n = sum(pieces.values())
            rows = []
            for (a, b), n_ab in count_pairs(words).items():
                rows.append((-score(n_ab, pieces[a], pieces[b], n), vocab[a], vocab[b], a, b))
            return min(rows)[3:] if rows else None
        """,
    ),
    right(
        "best-pair",
        "a loop that remembers the best so far",
        """
        def best_pair(words, vocab, score):
            pairs, pieces = count_pairs(words), count_symbols(words)
            n, best, highest = sum(pieces.values()), None, -math.inf
            for pair in sorted(pairs, key=lambda p: (vocab[p[0]], vocab[p[1]])):
                height = score(n_ab=pairs[pair], n_a=pieces[pair[0]], n_b=pieces[pair[1]], n=n)
                if height > highest:
                    best, highest = pair, height
            return best
        """,
    ),
    right(
        "train",
        "a for loop over the free places, words in a list",
        """
        def train(words, vocab, vocab_size, score):
            grown, learned, corpus = {**vocab}, [], dict(words)
            for _ in range(100 * vocab_size):
                best = best_pair(corpus, grown, score) if len(grown) < vocab_size else None
                if best is None:
                    break
                if glue(best[0], best[1]) not in grown:
                    grown[glue(best[0], best[1])] = len(grown)
                learned += [best]
                corpus = {merge_pair(pieces, best): count for pieces, count in corpus.items()}
            return grown, learned
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
]

# Ours but for names or a line: mistakes are changes of them. They are no other way.
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
        "best-pair",
        "in few lines",
        """
        def best_pair(words, vocab, score):
            pairs, pieces = count_pairs(words), count_symbols(words)
            n = sum(pieces.values())
            def strength(p):
                return score(pairs[p], pieces[p[0]], pieces[p[1]], n), -vocab[p[0]], -vocab[p[1]]
            return max(pairs, key=strength, default=None)
        """,
    ),
    right(
        "train",
        "in few lines",
        """
        def train(words, vocab, vocab_size, score):
            vocab, merges = dict(vocab), []
            while len(vocab) < vocab_size and (pair := best_pair(words, vocab, score)):
                vocab.setdefault(glue(*pair), len(vocab))
                merges.append(pair)
                words = {merge_pair(pieces, pair): n for pieces, n in words.items()}
            return vocab, merges
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
