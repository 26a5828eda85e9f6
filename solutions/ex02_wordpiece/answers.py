"""Exercise 2, bytes and WordPiece: solutions that are wrong, and right ones of another kind."""

from course.answers import right, wrong

WRONG = [
    wrong(
        "to-bytes-hex",
        "writes code points",
        """
        def to_bytes_hex(text):
            return [f"{ord(character):02x}" for character in text]
        """,
        "these are the characters' code points: encode the text first",
    ),
    wrong(
        "to-bytes-hex",
        "returns numbers",
        """
        def to_bytes_hex(text):
            return list(text.encode("utf-8"))
        """,
        "write each as two hexadecimal digits",
    ),
    wrong(
        "to-bytes-hex",
        "leaves 0x in front",
        """
        def to_bytes_hex(text):
            return [hex(byte) for byte in text.encode("utf-8")]
        """,
        "without 0x in front",
    ),
    wrong(
        "to-bytes-hex",
        "forgets the zero of small bytes",
        """
        def to_bytes_hex(text):
            return [hex(byte)[2:] for byte in text.encode("utf-8")]
        """,
        "always two digits: the byte 10 is 0a",
    ),
    wrong(
        "to-bytes-hex",
        "returns one string",
        """
        def to_bytes_hex(text):
            return text.encode("utf-8").hex(" ")
        """,
        "must return a list; it returned '62 65 73 74', a str",
    ),
    wrong(
        "to-bytes-hex",
        "makes one entry a character",
        """
        def to_bytes_hex(text):
            return [character.encode("utf-8").hex() for character in text]
        """,
        "one entry for each byte, not for each character",
    ),
    wrong(
        "to-bytes-hex",
        "writes capital letters",
        """
        def to_bytes_hex(text):
            return [f"{byte:02X}" for byte in text.encode("utf-8")]
        """,
        "digits above 9 are small letters",
    ),
    wrong(
        "to-bytes-hex",
        "encodes as Latin-1",
        """
        def to_bytes_hex(text):
            return [f"{byte:02x}" for byte in text.encode("latin-1")]
        """,
        "raised UnicodeEncodeError",
    ),
    wrong(
        "to-bytes-hex",
        "encodes as UTF-16",
        """
        def to_bytes_hex(text):
            return [f"{byte:02x}" for byte in text.encode("utf-16")]
        """,
        "one byte a letter",
    ),
    wrong(
        "to-bytes-hex",
        "drops white space",
        """
        def to_bytes_hex(text):
            return [f"{byte:02x}" for byte in text.strip().encode("utf-8")]
        """,
        "white space is text, too",
    ),
    wrong(
        "to-bytes-hex",
        "drops white space that the examples lack",
        """
        def to_bytes_hex(text):
            return [f"{byte:02x}" for byte in text.strip("\\t\\r \\x00").encode("utf-8")]
        """,
        "",
    ),
    wrong(
        "from-bytes-hex",
        "decodes each byte alone",
        """
        def from_bytes_hex(codes):
            return "".join(chr(int(code, 16)) for code in codes)
        """,
        "decode all bytes together",
    ),
    wrong(
        "from-bytes-hex",
        "decodes each byte alone, with replacement",
        """
        def from_bytes_hex(codes):
            return "".join(bytes.fromhex(code).decode("utf-8", "replace") for code in codes)
        """,
        "decode all bytes together",
    ),
    wrong(
        "from-bytes-hex",
        "is strict",
        """
        def from_bytes_hex(codes):
            return bytes(int(code, 16) for code in codes).decode("utf-8")
        """,
        "raised UnicodeDecodeError",
    ),
    wrong(
        "from-bytes-hex",
        "ignores what makes no character",
        """
        def from_bytes_hex(codes):
            return bytes(int(code, 16) for code in codes).decode("utf-8", errors="ignore")
        """,
        "the two bytes do not vanish",
    ),
    wrong(
        "from-bytes-hex",
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
    wrong(
        "from-bytes-hex",
        "writes a question mark",
        """
        def from_bytes_hex(codes):
            text = bytes(int(code, 16) for code in codes).decode("utf-8", errors="replace")
            return text.replace("\\ufffd", "?")
        """,
        "make no character, and become U+FFFD",
    ),
    wrong(
        "from-bytes-hex",
        "takes the digits for decimal",
        """
        def from_bytes_hex(codes):
            return bytes(int(code) for code in codes).decode("utf-8", errors="replace")
        """,
        "expected 'best'",
    ),
    wrong(
        "from-bytes-hex",
        "returns bytes",
        """
        def from_bytes_hex(codes):
            return bytes.fromhex("".join(codes))
        """,
        "must return a str",
    ),
    wrong(
        "from-bytes-hex",
        "writes one replacement for a whole run",
        """
        def from_bytes_hex(codes):
            import re
            text = bytes(int(code, 16) for code in codes).decode("utf-8", errors="replace")
            return re.sub("\\ufffd+", "\\ufffd", text)
        """,
        "",
    ),
    wrong(
        "first-pieces",
        "marks the first piece as well",
        """
        def first_pieces(word):
            return tuple("##" + character for character in word)
        """,
        "the first piece starts the word: it has no ##",
    ),
    wrong(
        "first-pieces",
        "marks nothing",
        """
        def first_pieces(word):
            return tuple(word)
        """,
        "a piece inside the word gets ## in front",
    ),
    wrong(
        "first-pieces",
        "keeps the rest in one piece",
        """
        def first_pieces(word):
            return word[0], CONTINUES + word[1:]
        """,
        "one piece for each character",
    ),
    wrong(
        "first-pieces",
        "marks what goes on, and not what continues",
        """
        def first_pieces(word):
            return (*(character + CONTINUES for character in word[:-1]), word[-1])
        """,
        "in front of the piece that goes on, not behind",
    ),
    wrong(
        "first-pieces",
        "asks which character, not where it stands",
        """
        def first_pieces(word):
            return tuple(c if c == word[0] else CONTINUES + c for c in word)
        """,
        "where a character stands, not which one it is",
    ),
    wrong(
        "first-pieces",
        "returns a list",
        """
        def first_pieces(word):
            return [word[0]] + [CONTINUES + character for character in word[1:]]
        """,
        "must return a tuple",
    ),
    wrong(
        "first-pieces",
        "returns a generator",
        """
        def first_pieces(word):
            return (c if i == 0 else CONTINUES + c for i, c in enumerate(word))
        """,
        "must return a tuple",
    ),
    wrong(
        "first-pieces",
        "is the library's function itself",
        """
        from bertlab.tokenizers.pieces import first_pieces
        """,
        "uses bertlab's own code",
    ),
    wrong(
        "glue",
        "leaves the mark inside",
        """
        def glue(left, right):
            return left + right
        """,
        "the mark of the right piece goes",
    ),
    wrong(
        "glue",
        "loses both marks",
        """
        def glue(left, right):
            return left.removeprefix(CONTINUES) + right.removeprefix(CONTINUES)
        """,
        "## stays in front, or en would start a word",
    ),
    wrong(
        "glue",
        "marks every new piece",
        """
        def glue(left, right):
            return CONTINUES + left.removeprefix(CONTINUES) + right.removeprefix(CONTINUES)
        """,
        "m starts the word, so me does",
    ),
    wrong(
        "glue",
        "strips every #",
        """
        def glue(left, right):
            return left + right.lstrip("#")
        """,
        "take away the mark alone, once",
    ),
    wrong(
        "glue",
        "takes away ## wherever it stands",
        """
        def glue(left, right):
            return left + right.replace(CONTINUES, "")
        """,
        "take away the mark alone, once",
    ),
    wrong(
        "glue",
        "takes the last character",
        """
        def glue(left, right):
            return left + right[-1]
        """,
        "pieces may be long",
    ),
    wrong(
        "glue",
        "tidies the left piece, too",
        """
        def glue(left, right):
            mark = CONTINUES if left.startswith(CONTINUES) else ""
            return mark + left.strip("#") + right[2:]
        """,
        "the left piece stays as it is",
    ),
    wrong(
        "glue",
        "removes marks of the joined piece",
        """
        def glue(left, right):
            joined = left + right
            return joined[0:2] + joined[2:].replace(CONTINUES, "", 1)
        """,
        "the mark of the right piece goes",
    ),
    wrong(
        "count-symbols",
        "forgets how often a word occurs",
        """
        def count_symbols(words):
            counts = Counter()
            for pieces in words:
                counts.update(pieces)
            return counts
        """,
        "this word occurs 3 times",
    ),
    wrong(
        "count-symbols",
        "counts a piece once a word",
        """
        def count_symbols(words):
            counts = Counter()
            for pieces, count in words.items():
                for piece in set(pieces):
                    counts[piece] += count
            return counts
        """,
        "a piece counts as often as it stands in the word",
    ),
    wrong(
        "count-symbols",
        "takes the marks off",
        """
        def count_symbols(words):
            counts = Counter()
            for pieces, count in words.items():
                for piece in pieces:
                    counts[piece.removeprefix(CONTINUES)] += count
            return counts
        """,
        "m and ##m are different",
    ),
    wrong(
        "count-symbols",
        "counts words",
        """
        def count_symbols(words):
            return Counter(words)
        """,
        "count the pieces, not the words",
    ),
    wrong(
        "count-symbols",
        "derives them from the pairs, and misses the last",
        """
        def count_symbols(words):
            counts = Counter()
            for (left, right), count in count_pairs(words).items():
                counts[left] += count
            return counts
        """,
        "the first and the last one included",
    ),
    wrong(
        "count-symbols",
        "overwrites instead of adding",
        """
        def count_symbols(words):
            counts = Counter()
            for pieces, count in words.items():
                for piece in set(pieces):
                    counts[piece] = count * pieces.count(piece)
            return counts
        """,
        "counts of different words add up",
    ),
    wrong(
        "count-symbols",
        "goes through the characters",
        """
        def count_symbols(words):
            counts = Counter()
            for pieces, count in words.items():
                for i, character in enumerate("".join(pieces).replace("##", "")):
                    counts["##" + character if i else character] += count
            return counts
        """,
        "a piece may be longer than one character",
    ),
    wrong(
        "count-symbols",
        "goes through the keys alone",
        """
        def count_symbols(words):
            counts = Counter()
            for pieces, count in words:
                for piece in pieces:
                    counts[piece] += count
            return counts
        """,
        "raised ValueError: too many values to unpack",
    ),
    wrong(
        "likelihood",
        "forgets the brackets",
        """
        def likelihood(n_ab, n_a, n_b, n=0):
            return n_ab / n_a * n_b
        """,
        "n_ab / n_a * n_b divides by n_a alone",
    ),
    wrong(
        "likelihood",
        "adds the counts",
        """
        def likelihood(n_ab, n_a, n_b, n=0):
            return n_ab / (n_a + n_b)
        """,
        "multiplied, not added",
    ),
    wrong(
        "likelihood",
        "divides by one count",
        """
        def likelihood(n_ab, n_a, n_b, n=0):
            return n_ab / n_a
        """,
        "divide by both, n_a and n_b",
    ),
    wrong(
        "likelihood",
        "squares the left count",
        """
        def likelihood(n_ab, n_a, n_b, n=0):
            return n_ab / (n_a * n_a)
        """,
        "2 / (3 · 2)",
    ),
    wrong(
        "likelihood",
        "cuts off the fraction",
        """
        def likelihood(n_ab, n_a, n_b, n=0):
            return n_ab // (n_a * n_b)
        """,
        "must return a float; it returned 0, an int",
    ),
    wrong(
        "likelihood",
        "multiplies by n",
        """
        def likelihood(n_ab, n_a, n_b, n=1):
            return n_ab * n / (n_a * n_b)
        """,
        "n, the fourth argument, does not matter",
    ),
    wrong(
        "likelihood",
        "does not take n",
        """
        def likelihood(n_ab, n_a, n_b):
            return n_ab / (n_a * n_b)
        """,
        "takes 3 positional arguments but 4 were given",
    ),
    wrong(
        "likelihood",
        "divides twice, so that ties come apart",
        """
        def likelihood(n_ab, n_a, n_b, n=0):
            return n_ab / n_a / n_b
        """,
        "scores that are equal on paper must be equal floats",
    ),
    wrong(
        "likelihood",
        "rounds",
        """
        def likelihood(n_ab, n_a, n_b, n=0):
            return round(n_ab / (n_a * n_b), 4)
        """,
        "2 / (3 · 2)",
    ),
    wrong(
        "gain",
        "takes log(0)",
        """
        def gain(n_ab, n_a, n_b, n):
            f = lambda x: x * math.log(x)
            lost = f(n_a) - f(n_a - n_ab) + f(n_b) - f(n_b - n_ab)
            return f(n_ab) + f(n) - f(n - n_ab) - lost
        """,
        "raised ValueError",
    ),
    wrong(
        "gain",
        "is before minus after",
        """
        def gain(n_ab, n_a, n_b, n):
            f = lambda x: x * math.log(x) if x else 0.0
            lost = f(n_a) - f(n_a - n_ab) + f(n_b) - f(n_b - n_ab)
            return lost - f(n_ab) - f(n) + f(n - n_ab)
        """,
        "a rise is after minus before",
    ),
    wrong(
        "gain",
        "is in bits",
        """
        def gain(n_ab, n_a, n_b, n):
            f = lambda x: x * math.log2(x) if x else 0.0
            lost = f(n_a) - f(n_a - n_ab) + f(n_b) - f(n_b - n_ab)
            return f(n_ab) + f(n) - f(n - n_ab) - lost
        """,
        "these are bits",
    ),
    wrong(
        "gain",
        "takes the logarithm to base 10",
        """
        def gain(n_ab, n_a, n_b, n):
            f = lambda x: x * math.log10(x) if x else 0.0
            lost = f(n_a) - f(n_a - n_ab) + f(n_b) - f(n_b - n_ab)
            return f(n_ab) + f(n) - f(n - n_ab) - lost
        """,
        "that is log10",
    ),
    wrong(
        "gain",
        "forgets that the corpus gets shorter",
        """
        def gain(n_ab, n_a, n_b, n):
            f = lambda x: x * math.log(x) if x else 0.0
            return f(n_a - n_ab) - f(n_a) + f(n_b - n_ab) - f(n_b) + f(n_ab)
        """,
        "the corpus gets shorter, too",
    ),
    wrong(
        "gain",
        "shortens the corpus by two a join",
        """
        def gain(n_ab, n_a, n_b, n):
            f = lambda x: x * math.log(x) if x else 0.0
            lost = f(n_a) - f(n_a - n_ab) + f(n_b) - f(n_b - n_ab)
            return f(n_ab) + f(n) - f(n - 2 * n_ab) - lost
        """,
        "each join makes one piece of two",
    ),
    wrong(
        "gain",
        "has the sign of n wrong",
        """
        def gain(n_ab, n_a, n_b, n):
            f = lambda x: x * math.log(x) if x else 0.0
            lost = f(n_a) - f(n_a - n_ab) + f(n_b) - f(n_b - n_ab)
            return f(n_ab) + f(n - n_ab) - f(n) - lost
        """,
        "n stands below the line",
    ),
    wrong(
        "gain",
        "forgets the new piece",
        """
        def gain(n_ab, n_a, n_b, n):
            f = lambda x: x * math.log(x) if x else 0.0
            lost = f(n_a) - f(n_a - n_ab) + f(n_b) - f(n_b - n_ab)
            return f(n) - f(n - n_ab) - lost
        """,
        "the new piece occurs n_ab times",
    ),
    wrong(
        "gain",
        "is the mutual information",
        """
        def gain(n_ab, n_a, n_b, n):
            return n_ab * math.log(n_ab * n / (n_a * n_b))
        """,
        "comes near, but n_a, n_b and n fall, too",
    ),
    wrong(
        "gain",
        "thinks that nothing is left of either piece",
        """
        def gain(n_ab, n_a, n_b, n):
            f = lambda x: x * math.log(x) if x else 0.0
            return f(n_ab) - f(n_a) - f(n_b) + f(n) - f(n - n_ab)
        """,
        "1 of a and 3 of b are left over and still count",
    ),
    wrong(
        "gain",
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
    wrong(
        "gain",
        "cuts off losses",
        """
        def gain(n_ab, n_a, n_b, n):
            f = lambda x: x * math.log(x) if x else 0.0
            lost = f(n_a) - f(n_a - n_ab) + f(n_b) - f(n_b - n_ab)
            return max(0.0, f(n_ab) + f(n) - f(n - n_ab) - lost)
        """,
        "a gain may be below 0",
    ),
    wrong(
        "gain",
        "forgets to return",
        """
        def gain(n_ab, n_a, n_b, n):
            f = lambda x: x * math.log(x) if x else 0.0
            f(n_a - n_ab) - f(n_a) + f(n_b - n_ab) - f(n_b) + f(n_ab) + f(n) - f(n - n_ab)
        """,
        "Is there a `return` at the end?",
    ),
    wrong(
        "gain",
        "rounds to three decimals",
        """
        def gain(n_ab, n_a, n_b, n):
            f = lambda x: x * math.log(x) if x else 0.0
            lost = f(n_a) - f(n_a - n_ab) + f(n_b) - f(n_b - n_ab)
            return round(f(n_ab) + f(n) - f(n - n_ab) - lost, 3)
        """,
        "",
    ),
    wrong(
        "best-pair",
        "takes the most frequent pair, whatever the score",
        """
        def best_pair(words, vocab, score):
            pairs = count_pairs(words)
            return max(pairs, key=lambda p: (pairs[p], -vocab[p[0]], -vocab[p[1]]), default=None)
        """,
        "the most frequent pair need not be the best: call `score` for each pair",
    ),
    wrong(
        "best-pair",
        "swaps the two counts",
        """
        def best_pair(words, vocab, score):
            pairs, pieces = count_pairs(words), count_symbols(words)
            n = sum(pieces.values())
            def strength(p):
                return score(pairs[p], pieces[p[1]], pieces[p[0]], n), -vocab[p[0]], -vocab[p[1]]
            return max(pairs, key=strength, default=None)
        """,
        "that is in another order",
    ),
    wrong(
        "best-pair",
        "takes the number of different pieces for n",
        """
        def best_pair(words, vocab, score):
            pairs, pieces = count_pairs(words), count_symbols(words)
            def strength(p):
                height = score(pairs[p], pieces[p[0]], pieces[p[1]], len(pieces))
                return height, -vocab[p[0]], -vocab[p[1]]
            return max(pairs, key=strength, default=None)
        """,
        "n is the number of all pieces",
    ),
    wrong(
        "best-pair",
        "takes the number of pairs for n",
        """
        def best_pair(words, vocab, score):
            pairs, pieces = count_pairs(words), count_symbols(words)
            n = sum(pairs.values())
            def strength(p):
                return score(pairs[p], pieces[p[0]], pieces[p[1]], n), -vocab[p[0]], -vocab[p[1]]
            return max(pairs, key=strength, default=None)
        """,
        "n is the number of pieces, not of pairs",
    ),
    wrong(
        "best-pair",
        "counts pieces by what stands in pairs",
        """
        def best_pair(words, vocab, score):
            pairs, pieces = count_pairs(words), Counter()
            for (left, right), count in pairs.items():
                pieces[left] += count
                pieces[right] += count
            n = sum(count_symbols(words).values())
            def strength(p):
                return score(pairs[p], pieces[p[0]], pieces[p[1]], n), -vocab[p[0]], -vocab[p[1]]
            return max(pairs, key=strength, default=None)
        """,
        "n_a and n_b are what count_symbols counts",
    ),
    wrong(
        "best-pair",
        "calls the score with three numbers",
        """
        def best_pair(words, vocab, score):
            pairs, pieces = count_pairs(words), count_symbols(words)
            return max(pairs, key=lambda p: score(pairs[p], pieces[p[0]], pieces[p[1]]))
        """,
        "missing 1 required positional argument: 'n'",
    ),
    wrong(
        "best-pair",
        "takes the first of those that are tied",
        """
        def best_pair(words, vocab, score):
            pairs, pieces = count_pairs(words), count_symbols(words)
            n = sum(pieces.values())
            key = lambda p: score(pairs[p], pieces[p[0]], pieces[p[1]], n)
            return max(pairs, key=key, default=None)
        """,
        "the left ids are equal, so the right ids decide",
    ),
    wrong(
        "best-pair",
        "lets the highest id win",
        """
        def best_pair(words, vocab, score):
            pairs, pieces = count_pairs(words), count_symbols(words)
            n = sum(pieces.values())
            def strength(p):
                return score(pairs[p], pieces[p[0]], pieces[p[1]], n), vocab[p[0]], vocab[p[1]]
            return max(pairs, key=strength, default=None)
        """,
        "that is the highest left id; the lowest wins",
    ),
    wrong(
        "best-pair",
        "breaks ties by the alphabet",
        """
        def best_pair(words, vocab, score):
            pairs, pieces = count_pairs(words), count_symbols(words)
            n = sum(pieces.values())
            best = max((score(pairs[p], pieces[p[0]], pieces[p[1]], n) for p in pairs), default=0)
            return min((p for p in sorted(pairs, key=lambda p: (p[0], vocab[p[1]]))
                        if score(pairs[p], pieces[p[0]], pieces[p[1]], n) == best),
                       key=lambda p: p[0], default=None)
        """,
        "ids decide, not the alphabet",
    ),
    wrong(
        "best-pair",
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
    wrong(
        "best-pair",
        "fails when there is no pair",
        """
        def best_pair(words, vocab, score):
            pairs, pieces = count_pairs(words), count_symbols(words)
            n = sum(pieces.values())
            def strength(p):
                return score(pairs[p], pieces[p[0]], pieces[p[1]], n), -vocab[p[0]], -vocab[p[1]]
            return max(pairs, key=strength)
        """,
        "raised ValueError: max()",
    ),
    wrong(
        "best-pair",
        "calls ties what is only near",
        """
        def best_pair(words, vocab, score):
            pairs, pieces = count_pairs(words), count_symbols(words)
            n = sum(pieces.values())
            def strength(p):
                height = score(pairs[p], pieces[p[0]], pieces[p[1]], n)
                return round(height, 2), -vocab[p[0]], -vocab[p[1]]
            return max(pairs, key=strength, default=None)
        """,
        "",
    ),
    wrong(
        "train",
        "makes one merge too many",
        """
        def train(words, vocab, vocab_size, score):
            vocab, merges = dict(vocab), []
            while len(vocab) <= vocab_size and (pair := best_pair(words, vocab, score)):
                vocab.setdefault(glue(*pair), len(vocab))
                merges.append(pair)
                words = {merge_pair(pieces, pair): n for pieces, n in words.items()}
            return vocab, merges
        """,
        "12 first pieces and 3 merges make 15 pieces; it made 4 merges",
    ),
    wrong(
        "train",
        "takes vocab_size for the number of merges",
        """
        def train(words, vocab, vocab_size, score):
            vocab, merges = dict(vocab), []
            while len(merges) < vocab_size and (pair := best_pair(words, vocab, score)):
                vocab.setdefault(glue(*pair), len(vocab))
                merges.append(pair)
                words = {merge_pair(pieces, pair): n for pieces, n in words.items()}
            return vocab, merges
        """,
        "12 first pieces and 3 merges make 15 pieces",
    ),
    wrong(
        "train",
        "adds the pieces with a mark inside",
        """
        def train(words, vocab, vocab_size, score):
            vocab, merges = dict(vocab), []
            while len(vocab) < vocab_size and (pair := best_pair(words, vocab, score)):
                vocab.setdefault("".join(pair), len(vocab))
                merges.append(pair)
                words = {merge_pair(pieces, pair): n for pieces, n in words.items()}
            return vocab, merges
        """,
        "raised KeyError: '##st'",
    ),
    wrong(
        "train",
        "joins as in exercise 1, with the mark inside",
        """
        def merge_plainly(pieces, pair):
            text = " ".join(pieces).replace(" ".join(pair), "".join(pair))
            return tuple(text.split())
        def train(words, vocab, vocab_size, score):
            vocab, merges = dict(vocab), []
            while len(vocab) < vocab_size and (pair := best_pair(words, vocab, score)):
                vocab.setdefault("".join(pair), len(vocab))
                merges.append(pair)
                words = {merge_plainly(pieces, pair): n for pieces, n in words.items()}
            return vocab, merges
        """,
        "glue says what two pieces become",
    ),
    wrong(
        "train",
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
    wrong(
        "train",
        "scores once and for all",
        """
        def train(words, vocab, vocab_size, score):
            vocab, merges = dict(vocab), []
            pairs, pieces = count_pairs(words), count_symbols(words)
            n = sum(pieces.values())
            ranked = sorted(pairs, key=lambda p: (
                -score(pairs[p], pieces[p[0]], pieces[p[1]], n), vocab[p[0]], vocab[p[1]]))
            for pair in ranked[: vocab_size - len(vocab)]:
                vocab.setdefault(glue(*pair), len(vocab))
                merges.append(pair)
            return vocab, merges
        """,
        "pieces that were joined are no longer there",
    ),
    wrong(
        "train",
        "always uses the likelihood",
        """
        def train(words, vocab, vocab_size, score):
            vocab, merges = dict(vocab), []
            while len(vocab) < vocab_size and (pair := best_pair(words, vocab, likelihood)):
                vocab.setdefault(glue(*pair), len(vocab))
                merges.append(pair)
                words = {merge_pair(pieces, pair): n for pieces, n in words.items()}
            return vocab, merges
        """,
        "hand `score` on to best_pair",
    ),
    wrong(
        "train",
        "crashes when nothing is left",
        """
        def train(words, vocab, vocab_size, score):
            vocab, merges = dict(vocab), []
            while len(vocab) < vocab_size:
                pair = best_pair(words, vocab, score)
                vocab.setdefault(glue(*pair), len(vocab))
                merges.append(pair)
                words = {merge_pair(pieces, pair): n for pieces, n in words.items()}
            return vocab, merges
        """,
        "raised TypeError",
    ),
    wrong(
        "train",
        "changes the vocabulary it was given",
        """
        def train(words, vocab, vocab_size, score):
            merges = []
            while len(vocab) < vocab_size and (pair := best_pair(words, vocab, score)):
                vocab.setdefault(glue(*pair), len(vocab))
                merges.append(pair)
                words = {merge_pair(pieces, pair): n for pieces, n in words.items()}
            return vocab, merges
        """,
        "changed its input; work on a copy",
    ),
    wrong(
        "train",
        "gives a piece that is there already a new id",
        """
        def train(words, vocab, vocab_size, score):
            vocab, merges = dict(vocab), []
            while len(vocab) < vocab_size and (pair := best_pair(words, vocab, score)):
                vocab[glue(*pair)] = len(vocab)
                merges.append(pair)
                words = {merge_pair(pieces, pair): n for pieces, n in words.items()}
            return vocab, merges
        """,
        "a piece that is there already keeps its id",
    ),
    wrong(
        "train",
        "gives the new piece the id of its rank",
        """
        def train(words, vocab, vocab_size, score):
            vocab, merges = dict(vocab), []
            while len(vocab) < vocab_size and (pair := best_pair(words, vocab, score)):
                vocab[glue(*pair)] = len(merges)
                merges.append(pair)
                words = {merge_pair(pieces, pair): n for pieces, n in words.items()}
            return vocab, merges
        """,
        "a new piece gets the next free id",
    ),
    wrong(
        "train",
        "keeps the merges as new pieces",
        """
        def train(words, vocab, vocab_size, score):
            vocab, merges = dict(vocab), []
            while len(vocab) < vocab_size and (pair := best_pair(words, vocab, score)):
                vocab.setdefault(glue(*pair), len(vocab))
                merges.append(glue(*pair))
                words = {merge_pair(pieces, pair): n for pieces, n in words.items()}
            return vocab, merges
        """,
        "each merge is a pair, such as ('##s', '##t')",
    ),
    wrong(
        "train",
        "returns the vocabulary alone",
        """
        def train(words, vocab, vocab_size, score):
            vocab = dict(vocab)
            while len(vocab) < vocab_size and (pair := best_pair(words, vocab, score)):
                vocab.setdefault(glue(*pair), len(vocab))
                words = {merge_pair(pieces, pair): n for pieces, n in words.items()}
            return vocab
        """,
        "it must return two things",
    ),
    wrong(
        "train",
        "never ends, as the vocabulary does not grow",
        """
        def train(words, vocab, vocab_size, score):
            vocab, merges = dict(vocab), []
            while len(vocab) < vocab_size:
                pair = best_pair(words, vocab, score)
                vocab.setdefault(glue(*pair), len(vocab))
                merges.append(pair)
            return vocab, merges
        """,
        "does not come to an end, so it was stopped",
    ),
    wrong(
        "train",
        "lets the library train",
        """
        from bertlab.tokenizers.likelihood import LIKELIHOOD
        from bertlab.tokenizers.ranking import learn_by_score
        def train(words, vocab, vocab_size, score):
            return learn_by_score(words, vocab, vocab_size, LIKELIHOOD)[:2]
        """,
        "uses bertlab's own code",
    ),
    wrong(
        "train",
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
    wrong(
        "longest-match",
        "takes the shortest piece",
        """
        def longest_match(word, vocab, longest_word=100):
            if len(word) > longest_word:
                return [UNKNOWN]
            pieces, start = [], 0
            while start < len(word):
                for end in range(start + 1, len(word) + 1):
                    piece = (CONTINUES if start else "") + word[start:end]
                    if piece in vocab:
                        break
                else:
                    return [UNKNOWN]
                pieces.append(piece)
                start = end
            return pieces
        """,
        "that is the shortest piece each time",
    ),
    wrong(
        "longest-match",
        "returns pieces without the mark",
        """
        def longest_match(word, vocab, longest_word=100):
            if len(word) > longest_word:
                return [UNKNOWN]
            pieces, start = [], 0
            while start < len(word):
                for end in range(len(word), start, -1):
                    if (CONTINUES if start else "") + word[start:end] in vocab:
                        break
                else:
                    return [UNKNOWN]
                pieces.append(word[start:end])
                start = end
            return pieces
        """,
        "pieces have ## in front, in the answer as well",
    ),
    wrong(
        "longest-match",
        "keeps what it found before [UNK]",
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
                    return [*pieces, UNKNOWN]
                pieces.append(piece)
                start = end
            return pieces
        """,
        "one [UNK] stands for the whole word",
    ),
    wrong(
        "longest-match",
        "drops the rest",
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
                    break
                pieces.append(piece)
                start = end
            return pieces
        """,
        "the rest, `tal`, must not get lost",
    ),
    wrong(
        "longest-match",
        "makes each unknown character [UNK]",
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
                    piece, end = UNKNOWN, start + 1
                pieces.append(piece)
                start = end
            return pieces
        """,
        "one [UNK] for the word, not one for each character",
    ),
    wrong(
        "longest-match",
        "never moves on when nothing fits",
        """
        def longest_match(word, vocab, longest_word=100):
            if len(word) > longest_word:
                return [UNKNOWN]
            pieces, start = [], 0
            while start < len(word):
                for end in range(len(word), start, -1):
                    piece = (CONTINUES if start else "") + word[start:end]
                    if piece in vocab:
                        pieces.append(piece)
                        start = end
                        break
            return pieces
        """,
        "does not come to an end, so it was stopped",
    ),
    wrong(
        "longest-match",
        "lets a continuation start a word",
        """
        def longest_match(word, vocab, longest_word=100):
            if len(word) > longest_word:
                return [UNKNOWN]
            pieces, start = [], 0
            while start < len(word):
                for end in range(len(word), start, -1):
                    marked = CONTINUES + word[start:end]
                    piece = marked if start or word[:end] not in vocab else word[:end]
                    if piece in vocab:
                        break
                else:
                    return [UNKNOWN]
                pieces.append(piece)
                start = end
            return pieces
        """,
        "`us` does not start a word here",
    ),
    wrong(
        "longest-match",
        "lets a start stand inside",
        """
        def longest_match(word, vocab, longest_word=100):
            if len(word) > longest_word:
                return [UNKNOWN]
            pieces, start = [], 0
            while start < len(word):
                for end in range(len(word), start, -1):
                    piece = (CONTINUES if start else "") + word[start:end]
                    if piece not in vocab:
                        piece = word[start:end]
                    if piece in vocab:
                        break
                else:
                    return [UNKNOWN]
                pieces.append(piece)
                start = end
            return pieces
        """,
        "me can start a word, but inside one it would be ##me",
    ),
    wrong(
        "longest-match",
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
    wrong(
        "longest-match",
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
    wrong(
        "longest-match",
        "does not know the limit",
        """
        def longest_match(word, vocab, longest_word=100):
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
        "a word of more than longest_word characters is [UNK]",
    ),
    wrong(
        "longest-match",
        "refuses a word of just as many characters",
        """
        def longest_match(word, vocab, longest_word=100):
            if len(word) >= longest_word:
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
        "one of just as many is not",
    ),
    wrong(
        "longest-match",
        "knows no limit but 100",
        """
        def longest_match(word, vocab, longest_word=100):
            if len(word) > 100:
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
        "a word of more than longest_word characters is [UNK]",
    ),
    wrong(
        "longest-match",
        "returns ids",
        """
        def longest_match(word, vocab, longest_word=100):
            pieces, start = [], 0
            while start < len(word):
                for end in range(len(word), start, -1):
                    piece = (CONTINUES if start else "") + word[start:end]
                    if piece in vocab:
                        break
                else:
                    return [UNKNOWN]
                pieces.append(vocab[piece])
                start = end
            return pieces
        """,
        "these are ids; return the pieces themselves",
    ),
    wrong(
        "longest-match",
        "looks no further than four characters",
        """
        def longest_match(word, vocab, longest_word=100):
            if len(word) > longest_word:
                return [UNKNOWN]
            pieces, start = [], 0
            while start < len(word):
                for end in range(min(len(word), start + 4), start, -1):
                    piece = (CONTINUES if start else "") + word[start:end]
                    if piece in vocab:
                        break
                else:
                    return [UNKNOWN]
                pieces.append(piece)
                start = end
            return pieces
        """,
        "",
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
