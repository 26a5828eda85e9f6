"""Plausible mistakes, task by task, with the words that must diagnose them.

(task, mistake, solution, diagnosis); a diagnosis of "" means that the worked examples let it
through and the hidden tests must catch it.
"""

from textwrap import dedent


def _row(task, name, source, diagnosis):
    return task, name, dedent(source), diagnosis


WRONG = [
    _row(
        "word-tokens",
        "looks for the vocabulary's words inside the word",
        """
        def word_tokens(sentence, vocabulary):
            return [w if any(v in w for v in vocabulary) else "<UNK>" for w in sentence.split()]
        """,
        "`enjoyed` is not in the vocabulary, though `enjoy` is",
    ),
    _row(
        "word-tokens",
        "splits at single spaces",
        """
        def word_tokens(sentence, vocabulary):
            return [w if w in vocabulary else "<UNK>" for w in sentence.split(" ")]
        """,
        "an empty sentence has no tokens",
    ),
    _row(
        "word-tokens",
        "lower-cases",
        """
        def word_tokens(sentence, vocabulary):
            known = [v.lower() for v in vocabulary]
            return [w if w.lower() in known else "<UNK>" for w in sentence.split()]
        """,
        "case and extra spaces",
    ),
    _row(
        "word-tokens",
        "returns a string",
        """
        def word_tokens(sentence, vocabulary):
            return " ".join(w if w in vocabulary else "<UNK>" for w in sentence.split())
        """,
        "must return a list",
    ),
    _row(
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
    _row(
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
    _row(
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
    _row(
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
    _row(
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
    _row(
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
    _row(
        "count-pairs",
        "calls the library",
        """
        from bertlab.tokenizers import merges
        def count_pairs(words):
            return merges.count_pairs(words)
        """,
        "uses bertlab's own code",
    ),
    _row(
        "best-pair",
        "takes the first in the dictionary",
        """
        def best_pair(counts, vocab, tie_break="lowest-id"):
            return max(counts, key=counts.get)
        """,
        "b has the lowest left id, 1",
    ),
    _row(
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
    _row(
        "best-pair",
        "has the rules the wrong way round",
        """
        def best_pair(counts, vocab, tie_break="lowest-id"):
            sign = 1 if tie_break == "lowest-id" else -1
            return max(counts, key=lambda p: (counts[p], sign * vocab[p[0]], sign * vocab[p[1]]))
        """,
        "that is the pair of the other rule",
    ),
    _row(
        "best-pair",
        "lets ids go before counts",
        """
        def best_pair(counts, vocab, tie_break="lowest-id"):
            sign = -1 if tie_break == "lowest-id" else 1
            return max(counts, key=lambda p: (sign * vocab[p[0]], sign * vocab[p[1]], counts[p]))
        """,
        "4 is the highest count",
    ),
    _row(
        "best-pair",
        "looks at the left id only",
        """
        def best_pair(counts, vocab, tie_break="lowest-id"):
            sign = -1 if tie_break == "lowest-id" else 1
            return max(counts, key=lambda p: (counts[p], sign * vocab[p[0]]))
        """,
        "so the right ids decide",
    ),
    _row(
        "best-pair",
        "adds the ids up",
        """
        def best_pair(counts, vocab, tie_break="lowest-id"):
            sign = -1 if tie_break == "lowest-id" else 1
            return max(counts, key=lambda p: (counts[p], sign * (vocab[p[0]] + vocab[p[1]])))
        """,
        "me has the highest left id, 12",
    ),
    _row(
        "best-pair",
        "joins the ids to one number, which fails beyond 10 symbols",
        """
        def best_pair(counts, vocab, tie_break="lowest-id"):
            sign = -1 if tie_break == "lowest-id" else 1
            return max(counts, key=lambda p: (counts[p], sign * (4 * vocab[p[0]] + vocab[p[1]])))
        """,
        "",
    ),
    _row(
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
    _row(
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
    _row(
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
    _row(
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
    _row(
        "merge-pair",
        "replaces in the string",
        """
        def merge_pair(symbols, pair):
            text = " ".join(symbols).replace(" ".join(pair), "".join(pair))
            return tuple(text.split())
        """,
        "only whole symbols are joined",
    ),
    _row(
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
    _row(
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
    _row(
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
    _row(
        "merge-pair",
        "is not written",
        """
        def merge_pair(symbols, pair):
            raise NotImplementedError("write this function, then delete this line")
        """,
        "not written yet",
    ),
    _row(
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
    _row(
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
    _row(
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
    _row(
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
    _row(
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
    _row(
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
    _row(
        "train",
        "lets the library train",
        """
        from bertlab.tokenizers.merges import learn_merges
        def train(words, vocab, vocab_size, tie_break="lowest-id"):
            return learn_merges(words, vocab, vocab_size, tie_break=tie_break)
        """,
        "uses bertlab's own code",
    ),
    _row(
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
    _row(
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
    _row(
        "apply-merges",
        "joins once and stops",
        """
        def apply_merges(symbols, ranks):
            pairs = [pair for pair in pairwise(symbols) if pair in ranks]
            return merge_pair(symbols, min(pairs, key=ranks.get)) if pairs else symbols
        """,
        "which makes the pair me + n",
    ),
    _row(
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
    _row(
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
    _row(
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
    _row(
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
    _row(
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
    _row(
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
    _row(
        "encode",
        "raises on unknown characters",
        """
        def encode(text, vocab, merges):
            ranks = {pair: rank for rank, pair in enumerate(merges)}
            return [vocab[s] for w in text.split() for s in apply_merges(tuple(w), ranks)]
        """,
        "raised KeyError: 'z'",
    ),
    _row(
        "encode",
        "cuts the text without splitting it into words",
        """
        def encode(text, vocab, merges):
            ranks = {pair: rank for rank, pair in enumerate(merges)}
            return [vocab.get(s, vocab["[UNK]"]) for s in apply_merges(tuple(text), ranks)]
        """,
        "the space is no symbol: split the text into words first",
    ),
    _row(
        "encode",
        "takes 0 for the unknown token's id",
        """
        def encode(text, vocab, merges):
            ranks = {pair: rank for rank, pair in enumerate(merges)}
            return [vocab.get(s, 0) for w in text.split() for s in apply_merges(tuple(w), ranks)]
        """,
        "here [UNK] has the id 14, not 0",
    ),
    _row(
        "word-tokens",
        "drops unknown words",
        """
        def word_tokens(sentence, vocabulary):
            return [word for word in sentence.split() if word in vocabulary]
        """,
        "it is not dropped: <UNK> stands in its place",
    ),
    _row(
        "word-tokens",
        "makes the whole sentence unknown",
        """
        def word_tokens(sentence, vocabulary):
            words = sentence.split()
            return words if all(word in vocabulary for word in words) else ["<UNK>"]
        """,
        "one unknown word does not make the others unknown",
    ),
    _row(
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
    _row(
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
    _row(
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
    _row(
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
    _row(
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
    _row(
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
    _row(
        "count-pairs",
        "is the library's function itself",
        """
        from bertlab.tokenizers.merges import count_pairs
        """,
        "uses bertlab's own code",
    ),
    _row(
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
    _row(
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
    _row(
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
    _row(
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
    _row(
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
    _row(
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
    _row(
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
    _row(
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
    _row(
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
    _row(
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
    _row(
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
    _row(
        "encode",
        "returns symbols",
        """
        def encode(text, vocab, merges):
            ranks = {pair: rank for rank, pair in enumerate(merges)}
            return [s for w in text.split() for s in apply_merges(tuple(w), ranks)]
        """,
        "these are the symbols; look up their ids",
    ),
    _row(
        "encode",
        "hands the list of merges on as ranks",
        """
        def encode(text, vocab, merges):
            return [vocab.get(s, vocab["[UNK]"]) for w in text.split()
                    for s in apply_merges(tuple(w), merges)]
        """,
        "raised AttributeError: 'list' object has no attribute 'get'",
    ),
    _row(
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
    _row(
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
    _row(
        "decode",
        "leaves no space",
        """
        def decode(ids, vocab):
            token_of = {id: token for token, id in vocab.items()}
            return "".join(token_of[id] for id in ids)
        """,
        "one space between two tokens",
    ),
    _row(
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
    _row(
        "decode",
        "lets the dictionary complain",
        """
        def decode(ids, vocab):
            token_of = {id: token for token, id in vocab.items()}
            return " ".join(token_of[id] for id in ids if token_of[id] != "[UNK]")
        """,
        "must raise a ValueError; it raised KeyError: 15",
    ),
    _row(
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
    _row(
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
    (
        "word-tokens",
        "a loop and a set",
        dedent("""
        def word_tokens(sentence, vocabulary):
            known, tokens = set(vocabulary), []
            for word in sentence.split():
                tokens.append(word if word in known else "<UNK>")
            return tokens
        """),
    ),
    (
        "count-pairs",
        "a plain dictionary and zip",
        dedent("""
        def count_pairs(words):
            counts = {}
            for symbols in words:
                for pair in zip(symbols, symbols[1:]):
                    counts[pair] = counts.get(pair, 0) + words[symbols]
            return counts
        """),
    ),
    (
        "best-pair",
        "sorting",
        dedent("""
        def best_pair(counts, vocab, tie_break="lowest-id"):
            top = max(counts.values())
            tied = sorted((vocab[a], vocab[b], (a, b)) for (a, b), n in counts.items() if n == top)
            return tied[0 if tie_break == "lowest-id" else -1][2]
        """),
    ),
    (
        "merge-pair",
        "a list that is looked back at",
        dedent("""
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
        """),
    ),
    (
        "train",
        "a for loop over the free places",
        dedent("""
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
        """),
    ),
    (
        "apply-merges",
        "merge by merge, in order",
        dedent("""
        def apply_merges(symbols, ranks):
            for pair in sorted(ranks, key=ranks.get):
                symbols = merge_pair(symbols, pair)
            return symbols
        """),
    ),
    (
        "apply-merges",
        "calling itself",
        dedent("""
        def apply_merges(symbols, ranks):
            known = [pair for pair in pairwise(symbols) if pair in ranks]
            if not known:
                return symbols
            return apply_merges(merge_pair(symbols, min(known, key=ranks.get)), ranks)
        """),
    ),
    (
        "encode",
        "loops",
        dedent("""
        def encode(text, vocab, merges):
            ranks, ids = dict(zip(merges, range(len(merges)))), []
            for word in text.split():
                for symbol in apply_merges(tuple(word), ranks):
                    ids.append(vocab[symbol] if symbol in vocab else vocab["[UNK]"])
            return ids
        """),
    ),
    (
        "decode",
        "a list filled by id",
        dedent("""
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
        """),
    ),
    (
        "count-pairs",
        "indices and a defaultdict",
        dedent("""
        from collections import defaultdict
        def count_pairs(words):
            totals = defaultdict(int)
            for symbols, count in words.items():
                for i in range(1, len(symbols)):
                    totals[symbols[i - 1], symbols[i]] += count
            return totals
        """),
    ),
    (
        "merge-pair",
        "a for loop that remembers to skip",
        dedent("""
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
        """),
    ),
    (
        "best-pair",
        "two rounds of max and min",
        dedent("""
        def best_pair(counts, vocab, tie_break="lowest-id"):
            pick = {"lowest-id": min, "highest-id": max}[tie_break]
            highest = max(counts.values())
            tied = [pair for pair, count in counts.items() if count == highest]
            return pick(tied, key=lambda pair: [vocab[symbol] for symbol in pair])
        """),
    ),
]
