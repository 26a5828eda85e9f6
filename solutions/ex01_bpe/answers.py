"""Exercise 1, byte pair encoding: solutions that are wrong, and right ones of another kind."""

from course.answers import right, wrong

WRONG = [
    wrong(
        "word-tokens",
        "looks for the vocabulary's words inside the word",
        """
        def word_tokens(sentence, vocabulary):
            return [w if any(v in w for v in vocabulary) else "<UNK>" for w in sentence.split()]
        """,
        "`enjoyed` is not in the vocabulary, though `enjoy` is",
    ),
    wrong(
        "word-tokens",
        "splits at single spaces",
        """
        def word_tokens(sentence, vocabulary):
            return [w if w in vocabulary else "<UNK>" for w in sentence.split(" ")]
        """,
        "an empty sentence has no tokens",
    ),
    wrong(
        "word-tokens",
        "lower-cases",
        """
        def word_tokens(sentence, vocabulary):
            known = [v.lower() for v in vocabulary]
            return [w if w.lower() in known else "<UNK>" for w in sentence.split()]
        """,
        "case and extra spaces",
    ),
    wrong(
        "word-tokens",
        "returns a string",
        """
        def word_tokens(sentence, vocabulary):
            return " ".join(w if w in vocabulary else "<UNK>" for w in sentence.split())
        """,
        "must return a list",
    ),
    wrong(
        "count-pairs",
        "forgets how often a word occurs",
        """
        def count_pairs(words):
            counts = Counter()
            for symbols in words:
                counts.update(pairwise(symbols))
            return counts
        """,
        "this word occurs 3 times, and so does each of its pairs",
    ),
    wrong(
        "count-pairs",
        "misses the last pair",
        """
        def count_pairs(words):
            counts = Counter()
            for symbols, count in words.items():
                for i in range(len(symbols) - 2):
                    counts[symbols[i], symbols[i + 1]] += count
            return counts
        """,
        "n - 1 pairs, the last one included",
    ),
    wrong(
        "count-pairs",
        "counts a repeated pair once a word",
        """
        def count_pairs(words):
            counts = Counter()
            for symbols, count in words.items():
                for pair in set(pairwise(symbols)):
                    counts[pair] += count
            return counts
        """,
        "a pair counts as often as it stands in the word",
    ),
    wrong(
        "count-pairs",
        "joins the pair to a string",
        """
        def count_pairs(words):
            counts = Counter()
            for symbols, count in words.items():
                for left, right in pairwise(symbols):
                    counts[left + right] += count
            return counts
        """,
        "every key must be a pair",
    ),
    wrong(
        "count-pairs",
        "counts across words",
        """
        def count_pairs(words):
            counts = Counter()
            last = None
            for symbols, count in words.items():
                for symbol in symbols:
                    if last:
                        counts[last, symbol] += count
                    last = symbol
            return counts
        """,
        "no pair reaches across two words",
    ),
    wrong(
        "count-pairs",
        "empties the corpus",
        """
        def count_pairs(words):
            counts = Counter()
            while words:
                symbols, count = words.popitem()
                for pair in pairwise(symbols):
                    counts[pair] += count
            return counts
        """,
        "changed its input; work on a copy",
    ),
    wrong(
        "count-pairs",
        "calls the library",
        """
        from bertlab.tokenizers import merges
        def count_pairs(words):
            return merges.count_pairs(words)
        """,
        "uses bertlab's own code",
    ),
    wrong(
        "best-pair",
        "takes the first in the dictionary",
        """
        def best_pair(counts, vocab, tie_break="lowest-id"):
            return max(counts, key=counts.get)
        """,
        "b has the lowest left id, 1",
    ),
    wrong(
        "best-pair",
        "breaks ties by the alphabet",
        """
        def best_pair(counts, vocab, tie_break="lowest-id"):
            top = [p for p in counts if counts[p] == max(counts.values())]
            return min(top) if tie_break == "lowest-id" else ("me", "n") if ("me", "n") in top \\
                else max(top)
        """,
        "ids decide, not the alphabet",
    ),
    wrong(
        "best-pair",
        "has the rules the wrong way round",
        """
        def best_pair(counts, vocab, tie_break="lowest-id"):
            sign = 1 if tie_break == "lowest-id" else -1
            return max(counts, key=lambda p: (counts[p], sign * vocab[p[0]], sign * vocab[p[1]]))
        """,
        "that is the pair of the other rule",
    ),
    wrong(
        "best-pair",
        "lets ids go before counts",
        """
        def best_pair(counts, vocab, tie_break="lowest-id"):
            sign = -1 if tie_break == "lowest-id" else 1
            return max(counts, key=lambda p: (sign * vocab[p[0]], sign * vocab[p[1]], counts[p]))
        """,
        "4 is the highest count",
    ),
    wrong(
        "best-pair",
        "looks at the left id only",
        """
        def best_pair(counts, vocab, tie_break="lowest-id"):
            sign = -1 if tie_break == "lowest-id" else 1
            return max(counts, key=lambda p: (counts[p], sign * vocab[p[0]]))
        """,
        "so the right ids decide",
    ),
    wrong(
        "best-pair",
        "adds the ids up",
        """
        def best_pair(counts, vocab, tie_break="lowest-id"):
            sign = -1 if tie_break == "lowest-id" else 1
            return max(counts, key=lambda p: (counts[p], sign * (vocab[p[0]] + vocab[p[1]])))
        """,
        "me has the highest left id, 12",
    ),
    wrong(
        "best-pair",
        "joins the ids to one number, which fails beyond 10 symbols",
        """
        def best_pair(counts, vocab, tie_break="lowest-id"):
            sign = -1 if tie_break == "lowest-id" else 1
            return max(counts, key=lambda p: (counts[p], sign * (4 * vocab[p[0]] + vocab[p[1]])))
        """,
        "",
    ),
    wrong(
        "merge-pair",
        "joins a symbol twice",
        """
        def merge_pair(symbols, pair):
            merged = []
            for i, symbol in enumerate(symbols):
                if symbols[i : i + 2] == pair:
                    merged.append(symbol + symbols[i + 1])
                elif i == 0 or symbols[i - 1 : i + 1] != pair:
                    merged.append(symbol)
            return tuple(merged)
        """,
        "the middle a was joined twice: go on behind both symbols",
    ),
    wrong(
        "merge-pair",
        "joins the first occurrence only",
        """
        def merge_pair(symbols, pair):
            for i in range(len(symbols) - 1):
                if symbols[i : i + 2] == pair:
                    return symbols[:i] + (symbols[i] + symbols[i + 1],) + symbols[i + 2 :]
            return symbols
        """,
        "every occurrence",
    ),
    wrong(
        "merge-pair",
        "runs over the end",
        """
        def merge_pair(symbols, pair):
            merged, i = [], 0
            while i < len(symbols):
                if (symbols[i], symbols[i + 1]) == pair:
                    merged.append(symbols[i] + symbols[i + 1])
                    i += 2
                else:
                    merged.append(symbols[i])
                    i += 1
            return tuple(merged)
        """,
        "raised IndexError",
    ),
    wrong(
        "merge-pair",
        "loses the last symbol",
        """
        def merge_pair(symbols, pair):
            merged, i = [], 0
            while i < len(symbols) - 1:
                if symbols[i : i + 2] == pair:
                    merged.append(symbols[i] + symbols[i + 1])
                    i += 2
                else:
                    merged.append(symbols[i])
                    i += 1
            return tuple(merged)
        """,
        "the last symbol got lost",
    ),
    wrong(
        "merge-pair",
        "replaces in the string",
        """
        def merge_pair(symbols, pair):
            text = " ".join(symbols).replace(" ".join(pair), "".join(pair))
            return tuple(text.split())
        """,
        "only whole symbols are joined",
    ),
    wrong(
        "merge-pair",
        "compares the joined letters",
        """
        def merge_pair(symbols, pair):
            merged, i = [], 0
            while i < len(symbols):
                if "".join(symbols[i : i + 2]) == "".join(pair):
                    merged.append("".join(symbols[i : i + 2]))
                    i += 2
                else:
                    merged.append(symbols[i])
                    i += 1
            return tuple(merged)
        """,
        "only whole symbols are joined",
    ),
    wrong(
        "merge-pair",
        "takes either order",
        """
        def merge_pair(symbols, pair):
            merged, i = [], 0
            while i < len(symbols):
                if len(symbols) > i + 1 and {symbols[i], symbols[i + 1]} == set(pair):
                    merged.append(symbols[i] + symbols[i + 1])
                    i += 2
                else:
                    merged.append(symbols[i])
                    i += 1
            return tuple(merged)
        """,
        "the order counts",
    ),
    wrong(
        "merge-pair",
        "returns a list",
        """
        def merge_pair(symbols, pair):
            merged, i = [], 0
            while i < len(symbols):
                step = 2 if symbols[i : i + 2] == pair else 1
                merged.append("".join(symbols[i : i + step]))
                i += step
            return merged
        """,
        "must return a tuple; it returned ['me', 'n', 'u'], a list",
    ),
    wrong(
        "merge-pair",
        "is not written",
        """
        def merge_pair(symbols, pair):
            raise NotImplementedError("write this function, then delete this line")
        """,
        "not written yet",
    ),
    wrong(
        "train",
        "makes one merge too many",
        """
        def train(words, vocab, vocab_size, tie_break="lowest-id"):
            vocab, merges = dict(vocab), []
            while len(vocab) <= vocab_size and count_pairs(words):
                pair = best_pair(count_pairs(words), vocab, tie_break)
                vocab.setdefault("".join(pair), len(vocab))
                merges.append(pair)
                words = {merge_pair(s, pair): n for s, n in words.items()}
            return vocab, merges
        """,
        "11 characters and 3 merges make 14 symbols; it made 4 merges",
    ),
    wrong(
        "train",
        "takes vocab_size for the number of merges",
        """
        def train(words, vocab, vocab_size, tie_break="lowest-id"):
            vocab, merges = dict(vocab), []
            for _ in range(vocab_size):
                counts = count_pairs(words)
                if not counts:
                    break
                pair = best_pair(counts, vocab, tie_break)
                vocab.setdefault("".join(pair), len(vocab))
                merges.append(pair)
                words = {merge_pair(s, pair): n for s, n in words.items()}
            return vocab, merges
        """,
        "11 characters and 3 merges make 14 symbols",
    ),
    wrong(
        "train",
        "never counts again",
        """
        def train(words, vocab, vocab_size, tie_break="lowest-id"):
            vocab, merges = dict(vocab), []
            counts = count_pairs(words)
            while len(vocab) < vocab_size and counts:
                pair = best_pair(counts, vocab, tie_break)
                del counts[pair]
                vocab.setdefault("".join(pair), len(vocab))
                merges.append(pair)
            return vocab, merges
        """,
        "count again each time",
    ),
    wrong(
        "train",
        "crashes when nothing is left",
        """
        def train(words, vocab, vocab_size, tie_break="lowest-id"):
            vocab, merges = dict(vocab), []
            while len(vocab) < vocab_size:
                pair = best_pair(count_pairs(words), vocab, tie_break)
                vocab.setdefault("".join(pair), len(vocab))
                merges.append(pair)
                words = {merge_pair(s, pair): n for s, n in words.items()}
            return vocab, merges
        """,
        "raised ValueError",
    ),
    wrong(
        "train",
        "ignores the rule for ties",
        """
        def train(words, vocab, vocab_size, tie_break="lowest-id"):
            vocab, merges = dict(vocab), []
            while len(vocab) < vocab_size and count_pairs(words):
                pair = best_pair(count_pairs(words), vocab)
                vocab.setdefault("".join(pair), len(vocab))
                merges.append(pair)
                words = {merge_pair(s, pair): n for s, n in words.items()}
            return vocab, merges
        """,
        "hand tie_break on to best_pair",
    ),
    wrong(
        "train",
        "changes the vocabulary it was given",
        """
        def train(words, vocab, vocab_size, tie_break="lowest-id"):
            merges = []
            while len(vocab) < vocab_size and count_pairs(words):
                pair = best_pair(count_pairs(words), vocab, tie_break)
                vocab.setdefault("".join(pair), len(vocab))
                merges.append(pair)
                words = {merge_pair(s, pair): n for s, n in words.items()}
            return vocab, merges
        """,
        "changed its input; work on a copy",
    ),
    wrong(
        "train",
        "lets the library train",
        """
        from bertlab.tokenizers.learning import learn_merges
        def train(words, vocab, vocab_size, tie_break="lowest-id"):
            return learn_merges(words, vocab, vocab_size, tie_break=tie_break)
        """,
        "uses bertlab's own code",
    ),
    wrong(
        "train",
        "gives the new symbol the id of its rank",
        """
        def train(words, vocab, vocab_size, tie_break="lowest-id"):
            vocab, merges = dict(vocab), []
            while len(vocab) < vocab_size and count_pairs(words):
                pair = best_pair(count_pairs(words), vocab, tie_break)
                vocab["".join(pair)] = len(merges)
                merges.append(pair)
                words = {merge_pair(s, pair): n for s, n in words.items()}
            return vocab, merges
        """,
        "a new symbol gets the next free id",
    ),
    wrong(
        "apply-merges",
        "goes by place and not by rank",
        """
        def apply_merges(symbols, ranks):
            i = 0
            while i < len(symbols) - 1:
                if symbols[i : i + 2] in ranks:
                    symbols = merge_pair(symbols, symbols[i : i + 2])
                    i = 0
                else:
                    i += 1
            return symbols
        """,
        "rank 0, is joined first, wherever it stands",
    ),
    wrong(
        "apply-merges",
        "joins once and stops",
        """
        def apply_merges(symbols, ranks):
            pairs = [pair for pair in pairwise(symbols) if pair in ranks]
            return merge_pair(symbols, min(pairs, key=ranks.get)) if pairs else symbols
        """,
        "which makes the pair me + n",
    ),
    wrong(
        "apply-merges",
        "takes the highest rank",
        """
        def apply_merges(symbols, ranks):
            while pairs := [pair for pair in pairwise(symbols) if pair in ranks]:
                symbols = merge_pair(symbols, max(pairs, key=ranks.get))
            return symbols
        """,
        "rank 0, is joined first, wherever it stands",
    ),
    wrong(
        "apply-merges",
        "fails on a word with one symbol",
        """
        def apply_merges(symbols, ranks):
            while True:
                pair = min(pairwise(symbols), key=lambda pair: ranks.get(pair, math.inf))
                if pair not in ranks:
                    return symbols
                symbols = merge_pair(symbols, pair)
        """,
        "raised ValueError",
    ),
    wrong(
        "apply-merges",
        "takes rank 0 for no rank",
        """
        def apply_merges(symbols, ranks):
            while len(symbols) > 1:
                pair = min(pairwise(symbols), key=lambda pair: ranks.get(pair) or math.inf)
                if not ranks.get(pair):
                    break
                symbols = merge_pair(symbols, pair)
            return symbols
        """,
        "expected ('t', 'e', 'st')",
    ),
    wrong(
        "apply-merges",
        "stops after three rounds",
        """
        def apply_merges(symbols, ranks):
            for _ in range(3):
                pairs = [pair for pair in pairwise(symbols) if pair in ranks]
                if pairs:
                    symbols = merge_pair(symbols, min(pairs, key=ranks.get))
            return symbols
        """,
        "",
    ),
    wrong(
        "encode",
        "makes the whole word unknown",
        """
        def encode(text, vocab, merges):
            ranks = {pair: rank for rank, pair in enumerate(merges)}
            ids = []
            for word in text.split():
                cut = apply_merges(tuple(word), ranks)
                known = all(symbol in vocab for symbol in cut)
                ids += [vocab[symbol] for symbol in cut] if known else [vocab["[UNK]"]]
            return ids
        """,
        "only the character z is unknown",
    ),
    wrong(
        "encode",
        "leaves unknown characters out",
        """
        def encode(text, vocab, merges):
            ranks = {pair: rank for rank, pair in enumerate(merges)}
            return [vocab[s] for w in text.split() for s in apply_merges(tuple(w), ranks)
                    if s in vocab]
        """,
        "only the character z is unknown",
    ),
    wrong(
        "encode",
        "raises on unknown characters",
        """
        def encode(text, vocab, merges):
            ranks = {pair: rank for rank, pair in enumerate(merges)}
            return [vocab[s] for w in text.split() for s in apply_merges(tuple(w), ranks)]
        """,
        "raised KeyError: 'z'",
    ),
    wrong(
        "encode",
        "cuts the text without splitting it into words",
        """
        def encode(text, vocab, merges):
            ranks = {pair: rank for rank, pair in enumerate(merges)}
            return [vocab.get(s, vocab["[UNK]"]) for s in apply_merges(tuple(text), ranks)]
        """,
        "the space is no symbol: split the text into words first",
    ),
    wrong(
        "encode",
        "takes 0 for the unknown token's id",
        """
        def encode(text, vocab, merges):
            ranks = {pair: rank for rank, pair in enumerate(merges)}
            return [vocab.get(s, 0) for w in text.split() for s in apply_merges(tuple(w), ranks)]
        """,
        "here [UNK] has the id 14, not 0",
    ),
    wrong(
        "word-tokens",
        "drops unknown words",
        """
        def word_tokens(sentence, vocabulary):
            return [word for word in sentence.split() if word in vocabulary]
        """,
        "it is not dropped: <UNK> stands in its place",
    ),
    wrong(
        "word-tokens",
        "makes the whole sentence unknown",
        """
        def word_tokens(sentence, vocabulary):
            words = sentence.split()
            return words if all(word in vocabulary for word in words) else ["<UNK>"]
        """,
        "one unknown word does not make the others unknown",
    ),
    wrong(
        "count-pairs",
        "counts pairs that do not overlap",
        """
        def count_pairs(words):
            counts = Counter()
            for symbols, count in words.items():
                i = 0
                while i < len(symbols) - 1:
                    counts[symbols[i], symbols[i + 1]] += count
                    i += 2 if symbols[i] == symbols[i + 1] else 1
            return counts
        """,
        "pairs may overlap when you count",
    ),
    wrong(
        "count-pairs",
        "overwrites instead of adding",
        """
        def count_pairs(words):
            counts = {}
            for symbols, count in words.items():
                for pair in pairwise(symbols):
                    counts[pair] = count
            return counts
        """,
        "a pair counts as often as it stands in the word",
    ),
    wrong(
        "count-pairs",
        "takes a pair in either order for the same",
        """
        def count_pairs(words):
            counts = Counter()
            for symbols, count in words.items():
                for pair in pairwise(symbols):
                    counts[tuple(sorted(pair))] += count
            return counts
        """,
        "('m', 'e'): expected 1, it is missing",
    ),
    wrong(
        "count-pairs",
        "splits long symbols into characters again",
        """
        def count_pairs(words):
            counts = Counter()
            for symbols, count in words.items():
                for pair in pairwise("".join(symbols)):
                    counts[pair] += count
            return counts
        """,
        "a symbol may be longer than one character",
    ),
    wrong(
        "count-pairs",
        "forgets to return",
        """
        def count_pairs(words):
            counts = Counter()
            for symbols, count in words.items():
                for pair in pairwise(symbols):
                    counts[pair] += count
        """,
        "Is there a `return` at the end?",
    ),
    wrong(
        "count-pairs",
        "hides the library behind another name and a try",
        """
        from bertlab.tokenizers.merges import count_pairs as helper
        def count_pairs(words):
            try:
                return helper(words)
            except Exception:
                return {}
        """,
        "uses bertlab's own code",
    ),
    wrong(
        "count-pairs",
        "is the library's function itself",
        """
        from bertlab.tokenizers.merges import count_pairs
        """,
        "uses bertlab's own code",
    ),
    wrong(
        "merge-pair",
        "goes from right to left",
        """
        def merge_pair(symbols, pair):
            merged, i = [], len(symbols) - 1
            while i >= 0:
                if i > 0 and symbols[i - 1 : i + 1] == pair:
                    merged.insert(0, symbols[i - 1] + symbols[i])
                    i -= 2
                else:
                    merged.insert(0, symbols[i])
                    i -= 1
            return tuple(merged)
        """,
        "go from left to right",
    ),
    wrong(
        "merge-pair",
        "never moves on",
        """
        def merge_pair(symbols, pair):
            merged, i = [], 0
            while i < len(symbols):
                if symbols[i : i + 2] == pair:
                    merged.append(symbols[i] + symbols[i + 1])
                    i += 2
                else:
                    symbols[i]
            return tuple(merged)
        """,
        "does not come to an end, so it was stopped",
    ),
    wrong(
        "merge-pair",
        "joins what has just been joined",
        """
        def merge_pair(symbols, pair):
            merged = []
            for symbol in symbols:
                if merged and merged[-1].endswith(pair[0]) and symbol == pair[1]:
                    merged[-1] += symbol
                else:
                    merged.append(symbol)
            return tuple(merged)
        """,
        "a symbol is joined once",
    ),
    wrong(
        "train",
        "makes one merge too few",
        """
        def train(words, vocab, vocab_size, tie_break="lowest-id"):
            vocab, merges = dict(vocab), []
            while len(vocab) < vocab_size - 1 and count_pairs(words):
                pair = best_pair(count_pairs(words), vocab, tie_break)
                vocab.setdefault("".join(pair), len(vocab))
                merges.append(pair)
                words = {merge_pair(s, pair): n for s, n in words.items()}
            return vocab, merges
        """,
        "it made 2 merges",
    ),
    wrong(
        "train",
        "joins nothing in the words",
        """
        def train(words, vocab, vocab_size, tie_break="lowest-id"):
            vocab, merges = dict(vocab), []
            while len(merges) + 11 < vocab_size:
                pair = best_pair(count_pairs(words), vocab, tie_break)
                vocab[f"{''.join(pair)}{len(merges)}"] = len(vocab)
                merges.append(pair)
            return vocab, merges
        """,
        "carry the merge out in every word before you count again",
    ),
    wrong(
        "train",
        "never ends, as the vocabulary does not grow",
        """
        def train(words, vocab, vocab_size, tie_break="lowest-id"):
            vocab, merges = dict(vocab), []
            while len(vocab) < vocab_size:
                pair = best_pair(count_pairs(words), vocab, tie_break)
                vocab.setdefault("".join(pair), len(vocab))
                merges.append(pair)
            return vocab, merges
        """,
        "does not come to an end, so it was stopped",
    ),
    wrong(
        "train",
        "keeps the merges as joined strings",
        """
        def train(words, vocab, vocab_size, tie_break="lowest-id"):
            vocab, merges = dict(vocab), []
            while len(vocab) < vocab_size and count_pairs(words):
                pair = best_pair(count_pairs(words), vocab, tie_break)
                vocab.setdefault("".join(pair), len(vocab))
                merges.append("".join(pair))
                words = {merge_pair(s, pair): n for s, n in words.items()}
            return vocab, merges
        """,
        "each merge is a pair, such as ('s', 't')",
    ),
    wrong(
        "apply-merges",
        "joins pairs that were never learned",
        """
        def apply_merges(symbols, ranks):
            while len(symbols) > 1:
                pair = min(pairwise(symbols), key=lambda pair: ranks.get(pair, math.inf))
                symbols = merge_pair(symbols, pair)
            return symbols
        """,
        "stop when no pair in the word has a rank",
    ),
    wrong(
        "apply-merges",
        "goes by the order of the dictionary",
        """
        def apply_merges(symbols, ranks):
            for pair in ranks:
                symbols = merge_pair(symbols, pair)
            return symbols
        """,
        "rank 0, is joined first, wherever it stands",
    ),
    wrong(
        "apply-merges",
        "asks for a rank that is not there",
        """
        def apply_merges(symbols, ranks):
            while len(symbols) > 1:
                pair = min(pairwise(symbols), key=lambda pair: ranks[pair])
                symbols = merge_pair(symbols, pair)
            return symbols
        """,
        "raised KeyError: ('t', 'e')",
    ),
    wrong(
        "encode",
        "joins across words",
        """
        def encode(text, vocab, merges):
            ranks = {pair: rank for rank, pair in enumerate(merges)}
            symbols = apply_merges(tuple("".join(text.split())), ranks)
            return [vocab.get(symbol, vocab["[UNK]"]) for symbol in symbols]
        """,
        "nothing is joined across the space",
    ),
    wrong(
        "encode",
        "returns symbols",
        """
        def encode(text, vocab, merges):
            ranks = {pair: rank for rank, pair in enumerate(merges)}
            return [s for w in text.split() for s in apply_merges(tuple(w), ranks)]
        """,
        "these are the symbols; look up their ids",
    ),
    wrong(
        "encode",
        "hands the list of merges on as ranks",
        """
        def encode(text, vocab, merges):
            return [vocab.get(s, vocab["[UNK]"]) for w in text.split()
                    for s in apply_merges(tuple(w), merges)]
        """,
        "raised AttributeError: 'list' object has no attribute 'get'",
    ),
    wrong(
        "decode",
        "takes ids for places in a list",
        """
        def decode(ids, vocab):
            tokens = list(vocab)
            for id in ids:
                if not 0 <= id < len(tokens):
                    raise ValueError(f"no token has the id {id}")
            return " ".join(tokens[id] for id in ids if tokens[id] != "[UNK]")
        """,
        "raised ValueError: no token has the id 9",
    ),
    wrong(
        "decode",
        "writes [UNK] into the text",
        """
        def decode(ids, vocab):
            token_of = {id: token for token, id in vocab.items()}
            for id in ids:
                if id not in token_of:
                    raise ValueError(f"no token has the id {id}")
            return " ".join(token_of[id] for id in ids)
        """,
        "[UNK] stands for no text, so it is left out",
    ),
    wrong(
        "decode",
        "leaves no space",
        """
        def decode(ids, vocab):
            token_of = {id: token for token, id in vocab.items()}
            return "".join(token_of[id] for id in ids)
        """,
        "one space between two tokens",
    ),
    wrong(
        "decode",
        "leaves unknown ids out",
        """
        def decode(ids, vocab):
            token_of = {id: token for token, id in vocab.items()}
            tokens = [token_of[id] for id in ids if id in token_of]
            return " ".join(token for token in tokens if token != "[UNK]")
        """,
        "must raise a ValueError; it returned 'e'",
    ),
    wrong(
        "decode",
        "lets the dictionary complain",
        """
        def decode(ids, vocab):
            token_of = {id: token for token, id in vocab.items()}
            return " ".join(token_of[id] for id in ids if token_of[id] != "[UNK]")
        """,
        "must raise a ValueError; it raised KeyError: 15",
    ),
    wrong(
        "decode",
        "takes id 0 for the unknown token",
        """
        def decode(ids, vocab):
            token_of = {id: token for token, id in vocab.items()}
            for id in ids:
                if id not in token_of:
                    raise ValueError("unknown id")
            return " ".join(token_of[id] for id in ids if id != 0)
        """,
        "[UNK] may have any id",
    ),
    wrong(
        "decode",
        "raises without saying which id",
        """
        def decode(ids, vocab):
            token_of = {id: token for token, id in vocab.items()}
            for id in ids:
                if id not in token_of:
                    raise ValueError("unknown id")
            return " ".join(token_of[id] for id in ids if token_of[id] != "[UNK]")
        """,
        "",
    ),
]

OTHER_WAYS = [
    right(
        "word-tokens",
        "a loop and a set",
        """
        def word_tokens(sentence, vocabulary):
            known, tokens = set(vocabulary), []
            for word in sentence.split():
                tokens.append(word if word in known else "<UNK>")
            return tokens
        """,
    ),
    right(
        "count-pairs",
        "a plain dictionary and zip",
        """
        def count_pairs(words):
            counts = {}
            for symbols in words:
                for pair in zip(symbols, symbols[1:]):
                    counts[pair] = counts.get(pair, 0) + words[symbols]
            return counts
        """,
    ),
    right(
        "best-pair",
        "sorting",
        """
        def best_pair(counts, vocab, tie_break="lowest-id"):
            top = max(counts.values())
            tied = sorted((vocab[a], vocab[b], (a, b)) for (a, b), n in counts.items() if n == top)
            return tied[0 if tie_break == "lowest-id" else -1][2]
        """,
    ),
    right(
        "merge-pair",
        "a list that is looked back at",
        """
        def merge_pair(symbols, pair):
            out, joined = [], True
            for symbol in symbols:
                if not joined and (out[-1], symbol) == pair:
                    out[-1] += symbol
                    joined = True
                else:
                    out.append(symbol)
                    joined = False
            return tuple(out)
        """,
    ),
    right(
        "train",
        "a for loop over the free places",
        """
        def train(words, vocab, vocab_size, tie_break="lowest-id"):
            grown, learned = {**vocab}, []
            corpus = list(words.items())
            for _ in range(10 * vocab_size):
                counts = count_pairs(dict(corpus))
                if not counts or len(grown) >= vocab_size:
                    break
                best = best_pair(counts, grown, tie_break)
                grown[best[0] + best[1]] = grown.get(best[0] + best[1], len(grown))
                learned.append(best)
                corpus = [(merge_pair(symbols, best), n) for symbols, n in corpus]
            return grown, learned
        """,
    ),
    right(
        "apply-merges",
        "merge by merge, in order",
        """
        def apply_merges(symbols, ranks):
            for pair in sorted(ranks, key=ranks.get):
                symbols = merge_pair(symbols, pair)
            return symbols
        """,
    ),
    right(
        "apply-merges",
        "calling itself",
        """
        def apply_merges(symbols, ranks):
            known = [pair for pair in pairwise(symbols) if pair in ranks]
            if not known:
                return symbols
            return apply_merges(merge_pair(symbols, min(known, key=ranks.get)), ranks)
        """,
    ),
    right(
        "encode",
        "loops",
        """
        def encode(text, vocab, merges):
            ranks, ids = dict(zip(merges, range(len(merges)))), []
            for word in text.split():
                for symbol in apply_merges(tuple(word), ranks):
                    ids.append(vocab[symbol] if symbol in vocab else vocab["[UNK]"])
            return ids
        """,
    ),
    right(
        "decode",
        "a list filled by id",
        """
        def decode(ids, vocab):
            table = dict(zip(vocab.values(), vocab.keys()))
            words = []
            for number in ids:
                word = table.get(number)
                if word is None:
                    raise ValueError(f"{number} is the id of no token")
                if word == "[UNK]":
                    continue
                words.append(word)
            return " ".join(words)
        """,
    ),
    right(
        "count-pairs",
        "indices and a defaultdict",
        """
        from collections import defaultdict
        def count_pairs(words):
            totals = defaultdict(int)
            for symbols, count in words.items():
                for i in range(1, len(symbols)):
                    totals[symbols[i - 1], symbols[i]] += count
            return totals
        """,
    ),
    right(
        "merge-pair",
        "a for loop that remembers to skip",
        """
        def merge_pair(symbols, pair):
            out, skip = (), False
            for i, symbol in enumerate(symbols):
                if skip:
                    skip = False
                elif (symbol, *symbols[i + 1 : i + 2]) == pair:
                    out, skip = (*out, symbol + symbols[i + 1]), True
                else:
                    out = (*out, symbol)
            return out
        """,
    ),
    right(
        "best-pair",
        "two rounds of max and min",
        """
        def best_pair(counts, vocab, tie_break="lowest-id"):
            pick = {"lowest-id": min, "highest-id": max}[tie_break]
            highest = max(counts.values())
            tied = [pair for pair, count in counts.items() if count == highest]
            return pick(tied, key=lambda pair: [vocab[symbol] for symbol in pair])
        """,
    ),
]
