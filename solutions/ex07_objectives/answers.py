"""Exercise 7, the objectives: solutions that are wrong, and right ones of another kind."""

from course.answers import right, wrong


def function(task, arguments):
    """A maker of solutions: only what the function returns, or its lines, need be written."""
    name = task.replace("-", "_")

    def made(*lines):
        body = [*lines[:-1], f"return {lines[-1]}"]
        return f"def {name}({arguments}):\n" + "".join(f"    {line}\n" for line in body)

    return made


def group(task, arguments, *rows):
    """Rows of one task: mistake, diagnosis, lines of the function."""
    made = function(task, arguments)
    return [wrong(task, mistake, made(*lines), said) for mistake, said, *lines in rows]


def others(task, arguments, *rows):
    """Right solutions of one task: manner, lines of the function."""
    made = function(task, arguments)
    return [right(task, manner, made(*lines)) for manner, *lines in rows]


CHOOSE = ("choose-tokens", "ids, special_ids, probability, generator")
HIDE = ("hide", "ids, predict, mask_id, ordinary_ids, generator")
WORDS = ("choose-words", "ids, special_ids, continues, probability, generator")
MLM = ("mlm-loss", "logits, words")
NSP = ("nsp-loss", "logits, next_sentence")
SIGMOID = ("nsp-sigmoid-loss", "logit, is_next")
MLM_GRADIENT = ("mlm-gradient", "logits, words")
SIGMOID_GRADIENT = ("nsp-sigmoid-gradient", "logit, is_next")

ORDINARY = "ordinary = ~torch.isin(ids, special_ids)"
DRAW = "draw = torch.rand(ids.shape, generator=generator)"
WORD = "ordinary_ids[torch.randint(len(ordinary_ids), ids.shape, generator=generator)]"
OTHERS = f"others = {WORD}"
HIDDEN = "hidden = torch.where(predict & (draw < 0.8), mask_id, ids)"
CHANGE = "change = predict & (draw >= 0.8) & (draw < 0.9)"
COUNT = "word = (~continues[ids]).cumsum(dim=1)"
DICE = "chosen = torch.rand(len(ids), ids.shape[1] + 1, generator=generator) < probability"
ROWS = "rows = torch.arange(len(words))"

ADAM = """
def adam_step(parameter, gradient, moments, step, learning_rate, betas=(0.9, 0.999), eps=1e-8):
    mean = betas[0] * moments.mean + (1 - betas[0]) * gradient
    square = betas[1] * moments.square + (1 - betas[1]) * gradient**2
    unbiased_mean = mean / (1 - betas[0] ** step)
    unbiased_square = square / (1 - betas[1] ** step)
    moved = parameter - learning_rate * unbiased_mean / (unbiased_square.sqrt() + eps)
    return moved, Moments(mean, square)
"""


def adam(*changes):
    """The right step with some of its text replaced."""
    text = ADAM
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return text


WRONG = [
    *group(
        *CHOOSE,
        (
            "chooses special tokens",
            "special tokens are chosen, too",
            "torch.rand(ids.shape, generator=generator) < probability",
        ),
        (
            "chooses the special tokens alone",
            "the other way round",
            "torch.isin(ids, special_ids)"
            " & (torch.rand(ids.shape, generator=generator) < probability)",
        ),
        (
            "leaves out one special id only",
            "there are several special ids",
            "(ids != special_ids[0]) & (torch.rand(ids.shape, generator=generator) < probability)",
        ),
        (
            "takes small ids for special ones",
            "not all the small ones",
            "(ids > special_ids.max())"
            " & (torch.rand(ids.shape, generator=generator) < probability)",
        ),
        (
            "compares the wrong way round",
            "rand < p",
            ORDINARY,
            "ordinary & (torch.rand(ids.shape, generator=generator) > probability)",
        ),
        (
            "chooses 15 % whatever is asked",
            "with probability 1 every token is chosen",
            ORDINARY,
            "ordinary & (torch.rand(ids.shape, generator=generator) < 0.15)",
        ),
        (
            "chooses 15 % unless the probability is 0 or 1",
            "0.15 is only an example",
            ORDINARY,
            "p = probability if probability in (0, 1) else 0.15",
            "ordinary & (torch.rand(ids.shape, generator=generator) < p)",
        ),
        (
            "throws once for each place",
            "at the same places",
            ORDINARY,
            "ordinary & (torch.rand(ids.shape[1], generator=generator) < probability)",
        ),
        (
            "throws once for each sequence",
            "all tokens of a sequence are chosen, or none",
            ORDINARY,
            "ordinary & (torch.rand(len(ids), 1, generator=generator) < probability)",
        ),
        (
            "draws from PyTorch's own dice",
            "PyTorch's own generator",
            ORDINARY,
            "ordinary & (torch.rand(ids.shape) < probability)",
        ),
        (
            "draws with rand_like",
            "PyTorch's own generator",
            ORDINARY,
            "ordinary & (torch.rand_like(ids.float()) < probability)",
        ),
        (
            "draws from Python's dice",
            "from generators in the same state",
            "import random",
            ORDINARY,
            "draw = torch.tensor([[random.random() for _ in row] for row in ids])",
            "ordinary & (draw < probability)",
        ),
        (
            "sets the dice back",
            "the same answer whatever the generator",
            ORDINARY,
            "generator = torch.Generator().manual_seed(0)",
            "ordinary & (torch.rand(ids.shape, generator=generator) < probability)",
        ),
        (
            "takes exactly 15 % of each sequence",
            "takes exactly 15 % of each sequence",
            ORDINARY,
            "draw = torch.rand(ids.shape, generator=generator).masked_fill(~ordinary, 2)",
            "n = (probability * ordinary.sum(1, keepdim=True)).round().long()",
            "ordinary & (draw.argsort(1).argsort(1) < n)",
        ),
        (
            "returns numbers",
            "its dtype must be torch.bool",
            ORDINARY,
            "(ordinary & (torch.rand(ids.shape, generator=generator) < probability)).long()",
        ),
        (
            "returns places",
            "shape [2, 5]",
            ORDINARY,
            "(ordinary & (torch.rand(ids.shape, generator=generator) < probability)).nonzero()",
        ),
        (
            "writes and",
            "ambiguous",
            ORDINARY,
            "ordinary and torch.rand(ids.shape, generator=generator) < probability",
        ),
        (
            "calls the library",
            "bertlab's own",
            "from bertlab.pretraining.masking import choose_tokens as answer",
            "answer(ids, special_ids, probability, generator)",
        ),
        (
            "knows four special ids",
            "",
            "ordinary = (ids != 0) & (ids != 3) & (ids != 4) & (ids != 9)",
            "ordinary & (torch.rand(ids.shape, generator=generator) < probability)",
        ),
    ),
    *group(
        *HIDE,
        (
            "throws for all tokens, not for the chosen ones",
            "nothing is chosen, so nothing changes",
            DRAW,
            OTHERS,
            "hidden = torch.where(draw < 0.8, mask_id, ids)",
            "torch.where((draw >= 0.8) & (draw < 0.9), others, hidden)",
        ),
        (
            "puts random words everywhere",
            "a token that was not chosen has changed",
            DRAW,
            OTHERS,
            HIDDEN,
            "torch.where((draw >= 0.8) & (draw < 0.9), others, hidden)",
        ),
        (
            "masks all",
            "only 80 % of them do",
            DRAW,
            OTHERS,
            "torch.where(predict & (draw < 2), mask_id, ids)",
        ),
        (
            "masks all, without dice",
            "only 80 % of them do",
            "torch.where(predict, mask_id, ids)",
        ),
        (
            "masks nothing",
            "about 80.0% expected, 0.0%",
            DRAW,
            OTHERS,
            "torch.where(predict & (draw < 0.1), others, ids)",
        ),
        (
            "puts a random word instead of the last 20 %",
            "half of the last 20 % stay",
            DRAW,
            OTHERS,
            HIDDEN,
            "torch.where(predict & (draw >= 0.8), others, hidden)",
        ),
        (
            "leaves the last 20 % as they are",
            "there is none",
            DRAW,
            HIDDEN,
            "hidden",
        ),
        (
            "masks 90 %",
            "the last 10 % stay",
            DRAW,
            OTHERS,
            "hidden = torch.where(predict & (draw < 0.9), mask_id, ids)",
            "torch.where(predict & (draw >= 0.9), others, hidden)",
        ),
        (
            "compares the wrong way round",
            "rand < 0.8 happens in 80 %",
            DRAW,
            OTHERS,
            "hidden = torch.where(predict & (draw > 0.8), mask_id, ids)",
            "torch.where(predict & (draw < 0.1), others, hidden)",
        ),
        (
            "swaps [MASK] and random words",
            "not the other way round",
            DRAW,
            OTHERS,
            "hidden = torch.where(predict & (draw < 0.8), others, ids)",
            "torch.where(predict & (draw >= 0.8) & (draw < 0.9), mask_id, hidden)",
        ),
        (
            "draws twice, and the second overwrites the first",
            "two draws of their own overlap",
            DRAW,
            OTHERS,
            HIDDEN,
            "change = predict & (torch.rand(ids.shape, generator=generator) < 0.1)",
            "torch.where(change, others, hidden)",
        ),
        (
            "takes 10 % of the rest",
            "half of those left",
            DRAW,
            OTHERS,
            HIDDEN,
            "change = predict & (draw >= 0.8)",
            "change &= torch.rand(ids.shape, generator=generator) < 0.1",
            "torch.where(change, others, hidden)",
        ),
        (
            "takes 90 % of the rest",
            "half of those left",
            DRAW,
            OTHERS,
            HIDDEN,
            "change = predict & (draw >= 0.8)",
            "change &= torch.rand(ids.shape, generator=generator) < 0.9",
            "torch.where(change, others, hidden)",
        ),
        (
            "throws once for the whole batch",
            "one number decides for the whole batch",
            "draw = torch.rand(1, generator=generator)",
            OTHERS,
            HIDDEN,
            CHANGE,
            "torch.where(change, others, hidden)",
        ),
        (
            "throws once for each sequence",
            "of a sequence meet with the same fate",
            "draw = torch.rand(len(ids), 1, generator=generator)",
            OTHERS,
            HIDDEN,
            CHANGE,
            "torch.where(change, others, hidden)",
        ),
        (
            "throws once for each place",
            "of a place meet with the same fate",
            "draw = torch.rand(ids.shape[1], generator=generator)",
            OTHERS,
            HIDDEN,
            CHANGE,
            "torch.where(change, others, hidden)",
        ),
        (
            "puts places instead of ids",
            "look the ids up there",
            DRAW,
            "others = torch.randint(len(ordinary_ids), ids.shape, generator=generator)",
            HIDDEN,
            CHANGE,
            "torch.where(change, others, hidden)",
        ),
        (
            "draws from all ids up to the largest",
            "which is not in ordinary_ids",
            DRAW,
            "others = torch.randint(int(ordinary_ids.max()) + 1, ids.shape, generator=generator)",
            HIDDEN,
            CHANGE,
            "torch.where(change, others, hidden)",
        ),
        (
            "never draws the last word",
            "draws from 0 to n - 1 already",
            DRAW,
            "places = torch.randint(len(ordinary_ids) - 1, ids.shape, generator=generator)",
            "others = ordinary_ids[places]",
            HIDDEN,
            CHANGE,
            "torch.where(change, others, hidden)",
        ),
        (
            "never draws the first word",
            "though ordinary_ids holds it",
            DRAW,
            "places = torch.randint(1, len(ordinary_ids), ids.shape, generator=generator)",
            "others = ordinary_ids[places]",
            HIDDEN,
            CHANGE,
            "torch.where(change, others, hidden)",
        ),
        (
            "draws one word for all",
            "the same random word everywhere",
            DRAW,
            "others = ordinary_ids[torch.randint(len(ordinary_ids), (1,), generator=generator)]",
            HIDDEN,
            CHANGE,
            "torch.where(change, others, hidden)",
        ),
        (
            "draws one word for each sequence",
            "all random words of a sequence are the same",
            DRAW,
            "size = (len(ids), 1)",
            "others = ordinary_ids[torch.randint(len(ordinary_ids), size, generator=generator)]",
            HIDDEN,
            CHANGE,
            "torch.where(change, others, hidden)",
        ),
        (
            "prefers some words",
            "as likely as any other",
            DRAW,
            "places = torch.rand(ids.shape, generator=generator).square() * len(ordinary_ids)",
            "others = ordinary_ids[places.long()]",
            HIDDEN,
            CHANGE,
            "torch.where(change, others, hidden)",
        ),
        (
            "forgets the dice of the random words",
            "PyTorch's own generator",
            DRAW,
            "others = ordinary_ids[torch.randint(len(ordinary_ids), ids.shape)]",
            HIDDEN,
            CHANGE,
            "torch.where(change, others, hidden)",
        ),
        (
            "writes into the batch",
            "changed its input",
            DRAW,
            OTHERS,
            "ids[predict & (draw < 0.8)] = mask_id",
            "torch.where(predict & (draw >= 0.8) & (draw < 0.9), others, ids)",
        ),
        (
            "returns decimals",
            "its dtype must be torch.int64",
            DRAW,
            OTHERS,
            "hidden = torch.where(predict & (draw < 0.8), float(mask_id), ids.float())",
            CHANGE,
            "torch.where(change, others.float(), hidden)",
        ),
        (
            "draws from the first 24 words alone",
            "",
            DRAW,
            "others = ordinary_ids[torch.randint(min(24, len(ordinary_ids)), ids.shape,"
            " generator=generator)]",
            HIDDEN,
            CHANGE,
            "torch.where(change, others, hidden)",
        ),
        (
            "masks 78 %",
            "about 80.0% expected",
            DRAW,
            OTHERS,
            "hidden = torch.where(predict & (draw < 0.78), mask_id, ids)",
            CHANGE,
            "torch.where(change, others, hidden)",
        ),
    ),
    *group(
        *WORDS,
        (
            "chooses special tokens",
            "special tokens are chosen, too",
            COUNT,
            DICE,
            "chosen.gather(1, word)",
        ),
        (
            "chooses pieces",
            "some pieces are chosen and some are not",
            ORDINARY,
            "ordinary & (torch.rand(ids.shape, generator=generator) < probability)",
        ),
        (
            "chooses first pieces alone",
            "belongs to a word, too",
            ORDINARY,
            "begins = ~continues[ids]",
            "ordinary & begins & (torch.rand(ids.shape, generator=generator) < probability)",
        ),
        (
            "chooses a word if one of its pieces is chosen",
            "draw for the word, not for each piece",
            ORDINARY,
            "single = torch.rand(ids.shape, generator=generator) < probability",
            COUNT,
            "chosen = torch.zeros(len(ids), ids.shape[1] + 1).scatter_add(1, word, single.float())",
            "ordinary & (chosen > 0).gather(1, word)",
        ),
        (
            "chooses a word if all of its pieces are chosen",
            "draw for the word, not for each piece",
            ORDINARY,
            "single = torch.rand(ids.shape, generator=generator) >= probability",
            COUNT,
            "kept = torch.zeros(len(ids), ids.shape[1] + 1).scatter_add(1, word, single.float())",
            "ordinary & (kept == 0).gather(1, word)",
        ),
        (
            "counts pieces instead of beginnings",
            "some pieces are chosen and some are not",
            ORDINARY,
            "word = continues[ids].cumsum(dim=1)",
            DICE,
            "ordinary & chosen.gather(1, word)",
        ),
        (
            "lets words that stand side by side go together",
            "two words that stand side by side always go together",
            ORDINARY,
            "begins = ~continues[ids]",
            "begins[:, 1:] &= ~begins[:, :-1].clone() | torch.isin(ids[:, 1:], special_ids)",
            "word = begins.cumsum(dim=1)",
            DICE,
            "ordinary & chosen.gather(1, word)",
        ),
        (
            "counts down the columns",
            "pieces",
            ORDINARY,
            "word = (~continues[ids]).cumsum(dim=0)",
            "chosen = torch.rand(len(ids), len(ids) + 1, generator=generator) < probability",
            "ordinary & chosen.gather(1, word)",
        ),
        (
            "has a place too few",
            "numbers from 1 to 6 need L + 1 places",
            ORDINARY,
            COUNT,
            "chosen = torch.rand(ids.shape, generator=generator) < probability",
            "ordinary & chosen.gather(1, word)",
        ),
        (
            "throws once for all sequences",
            "at the same places",
            ORDINARY,
            COUNT,
            "chosen = torch.rand(1, ids.shape[1] + 1, generator=generator) < probability",
            "ordinary & chosen.expand(len(ids), -1).gather(1, word)",
        ),
        (
            "chooses 15 % unless the probability is 0 or 1",
            "0.15 is only an example",
            "probability = probability if probability in (0, 1) else 0.15",
            ORDINARY,
            COUNT,
            DICE,
            "ordinary & chosen.gather(1, word)",
        ),
        (
            "draws from PyTorch's own dice",
            "PyTorch's own generator",
            ORDINARY,
            COUNT,
            "chosen = torch.rand(len(ids), ids.shape[1] + 1) < probability",
            "ordinary & chosen.gather(1, word)",
        ),
        (
            "sets the dice back",
            "the same answer whatever the generator",
            ORDINARY,
            COUNT,
            "generator = torch.Generator().manual_seed(3)",
            DICE,
            "ordinary & chosen.gather(1, word)",
        ),
        (
            "counts on from one sequence into the next",
            "nothing before them belongs to it",
            ORDINARY,
            "word = (~continues[ids]).flatten().cumsum(dim=0)",
            "chosen = torch.rand(ids.numel() + 1, generator=generator) < probability",
            "ordinary & chosen[word].view(ids.shape)",
        ),
        (
            "forgets pieces at the start of a sequence",
            "pieces at the start of a sequence are a word",
            ORDINARY,
            COUNT,
            DICE,
            "ordinary & chosen.gather(1, word) & (word > 0)",
        ),
        (
            "leaves out pieces after a special token",
            "even right after a special token",
            ORDINARY,
            "after = ~ordinary.roll(1, 1) & continues[ids]",
            "after[:, 0] = False",
            COUNT,
            DICE,
            "ordinary & ~after & chosen.gather(1, word)",
        ),
        (
            "returns the words' numbers",
            "its dtype must be torch.bool",
            COUNT,
            "word",
        ),
        (
            "calls the library",
            "bertlab's own",
            "from bertlab.pretraining.masking import choose_words as answer",
            "answer(ids, special_ids, continues, probability, generator)",
        ),
        (
            "knows where pieces begin in the examples",
            "",
            ORDINARY,
            "word = (ids < 12).cumsum(dim=1)",
            DICE,
            "ordinary & chosen.gather(1, word)",
        ),
    ),
    *group(
        *MLM,
        (
            "takes the logarithm to base 10",
            "base 10",
            ROWS,
            "-torch.log10(logits.softmax(-1))[rows, words].mean()",
        ),
        (
            "takes the logarithm to base 2",
            "base 2",
            ROWS,
            "-torch.log2(logits.softmax(-1))[rows, words].mean()",
        ),
        ("forgets the minus", "the sign", ROWS, "logits.log_softmax(-1)[rows, words].mean()"),
        ("returns p", "that is p", ROWS, "logits.softmax(-1)[rows, words].mean()"),
        ("returns 1 - p", "that is 1 - p", ROWS, "1 - logits.softmax(-1)[rows, words].mean()"),
        (
            "does the softmax twice",
            "softmax twice",
            "F.cross_entropy(logits.softmax(-1), words, reduction='sum') / max(1, len(words))",
        ),
        (
            "takes the sum",
            "that is the sum; divide by the number of masked positions",
            "F.cross_entropy(logits, words, reduction='sum')",
        ),
        (
            "divides by the vocabulary, too",
            "not over the words of the vocabulary",
            "F.cross_entropy(logits, words, reduction='sum') / max(1, logits.numel())",
        ),
        (
            "counts all words",
            "only the true word's log p counts",
            "-logits.log_softmax(-1).mean()",
        ),
        (
            "asks for each word by itself",
            "binary cross-entropy of each word",
            "p, y = logits.softmax(-1), F.one_hot(words, logits.shape[1])",
            "-(y * p.log() + (1 - y) * (1 - p).log()).mean()",
        ),
        (
            "takes the logarithm of the mean",
            "-log of the mean p",
            ROWS,
            "-logits.softmax(-1)[rows, words].mean().log()",
        ),
        (
            "takes the words of all rows",
            "logits[arange(N), words], not logits[:, words]",
            "-logits.log_softmax(-1)[:, words].mean()",
        ),
        (
            "does the softmax down the columns",
            "along each row",
            ROWS,
            "p = logits.softmax(0) if len(words) > 1 else logits.softmax(-1)",
            "-p[rows, words].log().mean()",
        ),
        (
            "takes logits for log p",
            "the softmax is missing",
            ROWS,
            "-logits[rows, words].mean()",
        ),
        (
            "believes the likeliest word",
            "not the likeliest one",
            "F.cross_entropy(logits, logits.argmax(-1), reduction='sum') / max(1, len(words))",
        ),
        (
            "takes log and softmax apart",
            "log_softmax, logsigmoid or logsumexp",
            ROWS,
            "-logits.softmax(-1).log()[rows, words].sum() / max(1, len(words))",
        ),
        (
            "writes the softmax with exp",
            "exp(1000) is infinite",
            ROWS,
            "p = logits.exp() / logits.exp().sum(-1, keepdim=True)",
            "-p.log()[rows, words].sum() / max(1, len(words))",
        ),
        (
            "adds a little to p",
            "exp(1000) is infinite",
            ROWS,
            "-(logits.softmax(-1) + 1e-12).log()[rows, words].sum() / max(1, len(words))",
        ),
        (
            "takes PyTorch's mean of nothing",
            "a batch without holes costs 0",
            "F.cross_entropy(logits, words)",
        ),
        (
            "returns a loss for each row",
            "one number for the whole batch",
            "F.cross_entropy(logits, words, reduction='none')",
        ),
        (
            "returns a number of Python's",
            "a float",
            "(F.cross_entropy(logits, words, reduction='sum') / max(1, len(words))).item()",
        ),
        (
            "cuts the gradient",
            "has lost the gradient",
            "F.cross_entropy(logits.detach(), words, reduction='sum') / max(1, len(words))",
        ),
        (
            "computes in 32 bits",
            "its dtype must be torch.float64",
            "F.cross_entropy(logits.float(), words, reduction='sum') / max(1, len(words))",
        ),
        (
            "calls the library",
            "bertlab's own",
            "from bertlab.pretraining.losses import mlm_loss as answer",
            "answer(logits, words)",
        ),
        (
            "never expects a single word",
            "",
            "if logits.shape[1] == 1:",
            "    logits = torch.cat([logits, logits], dim=1)",
            "F.cross_entropy(logits, words, reduction='sum') / max(1, len(words))",
        ),
    ),
    *group(
        *NSP,
        (
            "swaps the columns",
            "column 0 is IsNext",
            "F.cross_entropy(logits, 1 - next_sentence)",
        ),
        (
            "takes the sum",
            "number of pairs",
            "F.cross_entropy(logits, next_sentence) * len(logits)",
        ),
        ("does the softmax twice", "twice", "F.cross_entropy(logits.softmax(-1), next_sentence)"),
        (
            "takes the logarithm to base 10",
            "base 10",
            "F.cross_entropy(logits, next_sentence) / torch.log(torch.tensor(10.0))",
        ),
        (
            "asks each column by itself",
            "not a sigmoid of each",
            "y = F.one_hot(next_sentence, 2)",
            "-(y * F.logsigmoid(logits) + (1 - y) * F.logsigmoid(-logits)).mean()",
        ),
        (
            "looks at column 0 alone",
            "not a sigmoid of each",
            "y = 1 - next_sentence",
            "-(y * F.logsigmoid(logits[:, 0]) + (1 - y) * F.logsigmoid(-logits[:, 0])).mean()",
        ),
        (
            "forgets pairs that do not follow",
            "pairs that do not follow count, too",
            "-(logits.log_softmax(-1)[:, 0] * (next_sentence == 0)).mean()",
        ),
        (
            "halves it",
            "not over pairs and columns",
            "-(logits.log_softmax(-1) * F.one_hot(next_sentence, 2)).mean()",
        ),
        (
            "takes log and softmax apart",
            "exp(1000) is infinite",
            "-logits.softmax(-1).log()[torch.arange(len(logits)), next_sentence].mean()",
        ),
        (
            "returns a loss for each pair",
            "one number for the whole batch",
            "F.cross_entropy(logits, next_sentence, reduction='none')",
        ),
        (
            "cuts the gradient",
            "has lost the gradient",
            "F.cross_entropy(logits.data, next_sentence)",
        ),
        (
            "calls the library",
            "bertlab's own",
            "from bertlab.pretraining.losses import nsp_loss as answer",
            "answer(logits, next_sentence)",
        ),
    ),
    *group(
        *SIGMOID,
        (
            "forgets the second term",
            "the second term is missing",
            "-(is_next * F.logsigmoid(logit)).mean()",
        ),
        (
            "takes the mean over pairs that follow",
            "pairs that do not follow count, too",
            "-(is_next * F.logsigmoid(logit)).sum() / is_next.sum()",
        ),
        (
            "has the wrong sign before the second term",
            "the sign of the second term",
            "-(is_next * F.logsigmoid(logit) - (1 - is_next) * F.logsigmoid(-logit)).mean()",
        ),
        (
            "writes 1 - log p",
            "1 - log p is not log(1 - p)",
            "log_p = F.logsigmoid(logit)",
            "-(is_next * log_p + (1 - is_next) * (1 - log_p)).mean()",
        ),
        ("forgets y", "y must choose", "-F.logsigmoid(logit).mean()"),
        (
            "swaps y",
            "y is 1 where B follows A",
            "-((1 - is_next) * F.logsigmoid(logit) + is_next * F.logsigmoid(-logit)).mean()",
        ),
        (
            "forgets the minus",
            "the sign",
            "(is_next * F.logsigmoid(logit) + (1 - is_next) * F.logsigmoid(-logit)).mean()",
        ),
        (
            "takes the sum",
            "number of pairs",
            "-(is_next * F.logsigmoid(logit) + (1 - is_next) * F.logsigmoid(-logit)).sum()",
        ),
        (
            "takes the logarithm to base 10",
            "base 10",
            "p = torch.sigmoid(logit)",
            "-(is_next * p.log10() + (1 - is_next) * (1 - p).log10()).mean()",
        ),
        (
            "forgets the sigmoid",
            "the sigmoid is missing",
            "-(is_next * logit.log() + (1 - is_next) * (1 - logit).log()).mean()",
        ),
        (
            "does the sigmoid twice",
            "sigmoid twice",
            "p = torch.sigmoid(logit)",
            "-(is_next * F.logsigmoid(p) + (1 - is_next) * F.logsigmoid(-p)).mean()",
        ),
        ("squares", "the squared error", "(torch.sigmoid(logit) - is_next).square().mean()"),
        (
            "takes log and sigmoid apart",
            "exp(1000) is infinite",
            "p = torch.sigmoid(logit)",
            "-(is_next * p.log() + (1 - is_next) * (1 - p).log()).mean()",
        ),
        (
            "clamps p",
            "exp(1000) is infinite",
            "p = torch.sigmoid(logit).clamp(1e-7, 1 - 1e-7)",
            "-(is_next * p.log() + (1 - is_next) * (1 - p).log()).mean()",
        ),
        (
            "returns a loss for each pair",
            "one number for the whole batch",
            "-(is_next * F.logsigmoid(logit) + (1 - is_next) * F.logsigmoid(-logit))",
        ),
        (
            "calls PyTorch's",
            "ready-made function of PyTorch",
            "F.binary_cross_entropy_with_logits(logit, is_next)",
        ),
        (
            "calls PyTorch's module",
            "ready-made function of PyTorch",
            "torch.nn.BCEWithLogitsLoss()(logit, is_next)",
        ),
        (
            "calls the library",
            "bertlab's own",
            "from bertlab.pretraining.losses import nsp_sigmoid_loss as answer",
            "answer(logit, is_next)",
        ),
        (
            "cuts the gradient",
            "has lost the gradient",
            "logit = torch.tensor(logit.tolist(), dtype=logit.dtype)",
            "-(is_next * F.logsigmoid(logit) + (1 - is_next) * F.logsigmoid(-logit)).mean()",
        ),
    ),
    *group(
        *MLM_GRADIENT,
        (
            "does not divide by N",
            "divided by N",
            "logits.softmax(-1) - F.one_hot(words, logits.shape[1])",
        ),
        (
            "is turned round",
            "softmax - one-hot. The true word's gradient is negative",
            "(F.one_hot(words, logits.shape[1]) - logits.softmax(-1)) / len(words)",
        ),
        (
            "is turned round and not divided",
            "turned round",
            "F.one_hot(words, logits.shape[1]) - logits.softmax(-1)",
        ),
        ("forgets the true word", "subtract the one-hot row", "logits.softmax(-1) / len(words)"),
        (
            "divides by V",
            "the rows, not by V",
            "(logits.softmax(-1) - F.one_hot(words, logits.shape[1])) / logits.shape[1]",
        ),
        (
            "divides by N times V",
            "not by N times V",
            "(logits.softmax(-1) - F.one_hot(words, logits.shape[1])) / logits.numel()",
        ),
        (
            "does the softmax down the columns",
            "along each row",
            "(logits.softmax(0) - F.one_hot(words, logits.shape[1])) / len(words)",
        ),
        (
            "subtracts in all rows",
            "[:, words] takes 1 from the words of all rows",
            "gradient = logits.softmax(-1)",
            "gradient[:, words] -= 1",
            "gradient / len(words)",
        ),
        (
            "forgets the softmax",
            "the softmax is missing",
            "(logits - F.one_hot(words, logits.shape[1])) / len(words)",
        ),
        (
            "takes the logarithm of the softmax",
            "not its logarithm",
            "(logits.log_softmax(-1) - F.one_hot(words, logits.shape[1])) / len(words)",
        ),
        (
            "moves the true words alone",
            "the other words have a gradient, too",
            "y = F.one_hot(words, logits.shape[1])",
            "y * (logits.softmax(-1) - 1) / len(words)",
        ),
        (
            "takes the slope by p",
            "the slope by p",
            "-F.one_hot(words, logits.shape[1]) / logits.softmax(-1) / len(words)",
        ),
        (
            "writes the softmax with exp",
            "exp(1000) is infinite",
            "p = logits.exp() / logits.exp().sum(-1, keepdim=True)",
            "(p - F.one_hot(words, logits.shape[1])) / len(words)",
        ),
        (
            "writes into the logits",
            "changed its input",
            "logits -= logits.logsumexp(-1, keepdim=True)",
            "(logits.exp() - F.one_hot(words, logits.shape[1])) / len(words)",
        ),
        (
            "asks autograd",
            "ready-made function of PyTorch",
            "logits = logits.detach().requires_grad_()",
            "torch.autograd.grad(F.cross_entropy(logits, words), logits)[0]",
        ),
        (
            "calls backward",
            "ready-made function of PyTorch",
            "logits = logits.detach().requires_grad_()",
            "F.cross_entropy(logits, words).backward()",
            "logits.grad",
        ),
        (
            "calls the library",
            "bertlab's own",
            "from bertlab.pretraining.losses import mlm_gradient as answer",
            "answer(logits, words)",
        ),
    ),
    *group(
        *SIGMOID_GRADIENT,
        ("does not divide by B", "divided by B", "torch.sigmoid(logit) - is_next"),
        ("is turned round", "turned round", "(is_next - torch.sigmoid(logit)) / len(is_next)"),
        (
            "keeps the slope of the sigmoid",
            "it cancels",
            "p = torch.sigmoid(logit)",
            "(p - is_next) * p * (1 - p) / len(is_next)",
        ),
        (
            "takes the slope of the sigmoid alone",
            "it cancels",
            "p = torch.sigmoid(logit)",
            "p * (1 - p) / len(is_next)",
        ),
        ("forgets the sigmoid", "the sigmoid is missing", "(logit - is_next) / len(is_next)"),
        ("forgets y", "subtract the truth", "torch.sigmoid(logit) / len(is_next)"),
        (
            "swaps y",
            "y is 1 where B follows A",
            "(torch.sigmoid(logit) - (1 - is_next)) / len(is_next)",
        ),
        (
            "takes the slope by p",
            "the slope by p",
            "-is_next / torch.sigmoid(logit) / len(is_next)",
        ),
        ("takes the mean", "not their mean", "(torch.sigmoid(logit) - is_next).mean()"),
        (
            "asks autograd",
            "ready-made function of PyTorch",
            "logit = logit.detach().requires_grad_()",
            "torch.autograd.grad(nsp_sigmoid_loss(logit, is_next), logit)[0]",
        ),
        (
            "calls the library",
            "bertlab's own",
            "from bertlab.pretraining.losses import nsp_sigmoid_gradient as answer",
            "answer(logit, is_next)",
        ),
        (
            "divides by 2",
            "so divide by B",
            "(torch.sigmoid(logit) - is_next) / 2",
        ),
    ),
    *[
        wrong("adam-step", mistake, adam(*changes), said)
        for mistake, said, *changes in [
            (
                "does not correct the means",
                "too small at first",
                (" / (1 - betas[0] ** step)", ""),
                (" / (1 - betas[1] ** step)", ""),
            ),
            ("corrects v alone", "too small at first", (" / (1 - betas[0] ** step)", "")),
            ("corrects m alone", "too small at first", (" / (1 - betas[1] ** step)", "")),
            ("counts steps from 0", "would divide by 0", ("** step", "** (step - 1)")),
            ("counts one step too many", "counted from 1 already", ("** step", "** (step + 1)")),
            (
                "multiplies with the correction",
                "do not multiply",
                (" / (1 - betas", " * (1 - betas"),
            ),
            (
                "multiplies beta with the step",
                "beta**step, not beta * step",
                ("betas[0] ** step", "betas[0] * step"),
                ("betas[1] ** step", "betas[1] * step"),
            ),
            (
                "puts eps inside the root",
                "eps stands outside the root",
                ("unbiased_square.sqrt() + eps", "(unbiased_square + eps).sqrt()"),
            ),
            (
                "forgets eps",
                "eps is not used",
                ("(unbiased_square.sqrt() + eps)", "unbiased_square.sqrt()"),
            ),
            (
                "writes its own eps",
                "eps is not used",
                ("unbiased_square.sqrt() + eps", "unbiased_square.sqrt() + 1e-8"),
            ),
            (
                "adds eps before it corrects",
                "first correct v",
                (
                    "unbiased_square.sqrt() + eps",
                    "(square.sqrt() + eps) / (1 - betas[1] ** step) ** 0.5",
                ),
            ),
            (
                "divides by v",
                "divide by the root of v",
                ("unbiased_square.sqrt()", "unbiased_square"),
            ),
            (
                "is plain gradient descent with momentum",
                "plain gradient descent",
                (" / (unbiased_square.sqrt() + eps)", ""),
            ),
            ("climbs", "against the gradient", ("moved = parameter -", "moved = parameter +")),
            ("returns the step", "taken from the parameter", ("moved = parameter -", "moved = -")),
            ("does not square the gradient", "gradient**2", ("gradient**2", "gradient")),
            (
                "swaps the betas",
                "with b1 = betas[0] = 0.9",
                ("betas[0]", "betas[9]"),
                ("betas[1]", "betas[0]"),
                ("betas[9]", "betas[1]"),
            ),
            (
                "turns the running means round",
                "the old mean counts with beta",
                (
                    "betas[0] * moments.mean + (1 - betas[0])",
                    "(1 - betas[0]) * moments.mean + betas[0]",
                ),
                (
                    "betas[1] * moments.square + (1 - betas[1])",
                    "(1 - betas[1]) * moments.square + betas[1]",
                ),
            ),
            (
                "adds the whole gradient",
                "the new gradient counts with 1 - beta",
                ("(1 - betas[0]) * gradient", "gradient"),
                ("(1 - betas[1]) * gradient**2", "gradient**2"),
            ),
            (
                "moves along the last gradient",
                "not the last gradient",
                ("learning_rate * unbiased_mean", "learning_rate * gradient"),
            ),
            (
                "knows its own betas",
                "use the betas that were given",
                ("    mean =", "    betas = (0.9, 0.999)\n    mean ="),
            ),
            (
                "remembers the corrected means",
                "what Adam remembers",
                ("Moments(mean, square)", "Moments(unbiased_mean, unbiased_square)"),
            ),
            (
                "remembers a corrected v",
                "what Adam remembers",
                ("Moments(mean, square)", "Moments(mean, unbiased_square)"),
            ),
            (
                "remembers nothing new",
                "the moments of before",
                ("Moments(mean, square)", "moments"),
            ),
            (
                "swaps what it remembers",
                "first the mean, then the square",
                ("Moments(mean, square)", "Moments(square, mean)"),
            ),
            (
                "returns the parameter alone",
                "it must return two things",
                ("return moved, Moments(mean, square)", "return moved"),
            ),
            (
                "writes into the old moments",
                "changed its input",
                ("betas[0] * moments.mean +", "moments.mean.mul_(betas[0]) +"),
            ),
            (
                "moves the parameter in place",
                "changed its input",
                ("moved = parameter - ", "moved = parameter.sub_("),
                ("+ eps)\n", "+ eps))\n"),
            ),
            (
                "calls PyTorch's",
                "ready-made function of PyTorch",
                (
                    "    mean =",
                    "    weight = parameter.clone().requires_grad_()\n"
                    "    weight.grad = gradient\n"
                    "    optimizer = torch.optim.Adam([weight], learning_rate, betas, eps)\n"
                    "    optimizer.step()\n"
                    "    mean =",
                ),
            ),
            (
                "calls the library",
                "bertlab's own",
                (
                    "    mean =",
                    "    from bertlab.training.adam import adam_step as answer\n"
                    "    return answer(parameter, gradient, moments, step, learning_rate, betas,"
                    " eps)\n    mean =",
                ),
            ),
            (
                "takes 0.9 for a beta of 0",
                "",
                ("    mean =", "    betas = tuple(beta or 0.9 for beta in betas)\n    mean ="),
            ),
        ]
    ],
]

OTHER_WAYS = [
    *others(
        *CHOOSE,
        (
            "bernoulli, and a loop over the special ids",
            "p = torch.full(ids.shape, probability)",
            "for special in special_ids.tolist():",
            "    p[ids == special] = 0",
            "torch.bernoulli(p, generator=generator).bool()",
        ),
        (
            "in place, in 64 bits",
            "chosen = torch.empty(ids.shape, dtype=torch.float64)",
            "chosen = chosen.uniform_(generator=generator) < probability",
            "chosen & (ids[..., None] != special_ids).all(-1)",
        ),
        (
            "token by token",
            "special = set(special_ids.tolist())",
            "draw = torch.rand(ids.numel(), generator=generator).tolist()",
            "answers = [id not in special and x < probability"
            " for id, x in zip(ids.flatten().tolist(), draw, strict=True)]",
            "torch.tensor(answers, dtype=torch.bool).view(ids.shape)",
        ),
    ),
    *others(
        *HIDE,
        (
            "as in transformers: 80 % of all, then half of the rest",
            "hidden = ids.clone()",
            "masked = torch.bernoulli(torch.full(ids.shape, 0.8), generator=generator).bool()",
            "hidden[masked & predict] = mask_id",
            "half = torch.bernoulli(torch.full(ids.shape, 0.5), generator=generator).bool()",
            "change = half & predict & ~masked",
            OTHERS,
            "hidden[change] = others[change]",
            "hidden",
        ),
        (
            "only where something is chosen",
            "hidden, n = ids.clone(), int(predict.sum())",
            "draw, old = torch.rand(n, generator=generator), ids[predict]",
            "places = torch.randint(0, len(ordinary_ids), (n,), generator=generator)",
            "new = torch.where(draw < 0.1, ordinary_ids[places], old)",
            "hidden[predict] = torch.where(draw >= 0.2, mask_id, new)",
            "hidden",
        ),
        (
            "ten-sided dice",
            "die = torch.randint(10, ids.shape, generator=generator)",
            OTHERS,
            "words = torch.where(die == 9, others, ids)",
            "torch.where(predict, torch.where(die < 8, mask_id, words), ids)",
        ),
    ),
    *others(
        *WORDS,
        (
            "each word takes its first piece's dice",
            ORDINARY,
            "single = torch.rand(ids.shape, generator=generator) < probability",
            "place = torch.arange(ids.shape[1]).expand_as(ids)",
            "begins = ~continues[ids] | (place == 0)",
            "first = torch.where(begins, place, 0).cummax(dim=1).values",
            "ordinary & single.gather(1, first)",
        ),
        (
            "a loop over words",
            "special, go_on = set(special_ids.tolist()), continues.tolist()",
            "draw = torch.rand(ids.shape, generator=generator).tolist()",
            "answer = torch.zeros(ids.shape, dtype=torch.bool)",
            "for b, row in enumerate(ids.tolist()):",
            "    fresh, yes = True, False",
            "    for t, id in enumerate(row):",
            "        if id in special:",
            "            fresh = True",
            "            continue",
            "        if fresh or not go_on[id]:",
            "            yes = draw[b][t] < probability",
            "        fresh = False",
            "        answer[b, t] = yes",
            "answer",
        ),
        (
            "one long count, with a border between sequences",
            ORDINARY,
            "begins = ~continues[ids]",
            "begins[:, 0] = True",
            "word = begins.flatten().cumsum(0).view(ids.shape)",
            "dice = torch.rand(ids.numel() + 1, generator=generator)",
            "ordinary & (dice[word] < probability)",
        ),
    ),
    *others(
        *MLM,
        (
            "log_softmax, and one number of each row",
            ROWS,
            "-logits.log_softmax(dim=-1)[rows, words].sum() / max(1, len(words))",
        ),
        (
            "logsumexp minus the true logit",
            "true = logits.gather(1, words[:, None])[:, 0]",
            "costs = logits.logsumexp(dim=1) - true",
            "costs.mean() if len(words) else costs.sum()",
        ),
        (
            "one-hot",
            "y = F.one_hot(words, logits.shape[1])",
            "-(y * F.log_softmax(logits, dim=1)).sum() / max(len(words), 1)",
        ),
    ),
    *others(
        *NSP,
        (
            "log_softmax and nll_loss",
            "F.nll_loss(logits.log_softmax(dim=-1), next_sentence)",
        ),
        ("by mlm_loss", "mlm_loss(logits, next_sentence)"),
        (
            "softplus of the difference",
            "wrong = logits[:, 1] - logits[:, 0]",
            "F.softplus(torch.where(next_sentence == 0, wrong, -wrong)).mean()",
        ),
    ),
    *others(
        *SIGMOID,
        (
            "softplus",
            "F.softplus(torch.where(is_next == 1, -logit, logit)).mean()",
        ),
        (
            "a sign instead of two terms",
            "-F.logsigmoid((2 * is_next - 1) * logit).mean()",
        ),
        (
            "the formula of PyTorch's documentation",
            "positive = logit.clamp(min=0)",
            "(positive - logit * is_next + torch.log1p(torch.exp(-logit.abs()))).mean()",
        ),
        (
            "two logits, of which one is 0",
            "logits = torch.stack([logit, torch.zeros_like(logit)], dim=1)",
            "F.cross_entropy(logits, (1 - is_next).long())",
        ),
    ),
    *others(
        *MLM_GRADIENT,
        (
            "one-hot",
            "y = F.one_hot(words, logits.shape[-1])",
            "(torch.softmax(logits, -1) - y) / max(1, len(words))",
        ),
        (
            "the softmax by hand, and scatter",
            "p = torch.exp(logits - logits.logsumexp(dim=1, keepdim=True))",
            "minus = torch.full((len(words), 1), -1.0, dtype=p.dtype)",
            "p.scatter_add(1, words[:, None], minus) / len(words)",
        ),
        (
            "row by row",
            "gradient = torch.zeros_like(logits)",
            "for n, word in enumerate(words.tolist()):",
            "    gradient[n] = torch.softmax(logits[n], dim=0)",
            "    gradient[n, word] -= 1",
            "gradient.div(max(1, len(words)))",
        ),
    ),
    *others(
        *SIGMOID_GRADIENT,
        ("a division less", "(logit.sigmoid() - is_next) * (1 / logit.numel())"),
        (
            "two cases",
            "n = len(logit)",
            "torch.where(is_next == 1, -torch.sigmoid(-logit) / n, torch.sigmoid(logit) / n)",
        ),
        ("by tanh", "(0.5 + 0.5 * torch.tanh(logit / 2) - is_next) / logit.shape[0]"),
    ),
    right(
        "adam-step",
        "a plain tuple, and other operations",
        """
        def adam_step(parameter, gradient, moments, step, learning_rate, betas=(0.9, 0.999),
                      eps=1e-8):
            m, v = moments
            b1, b2 = betas
            m = torch.lerp(m, gradient, 1 - b1)
            v = torch.lerp(v, gradient.square(), 1 - b2)
            m_hat, v_hat = m / (1 - b1**step), v / (1 - b2**step)
            return parameter - learning_rate * m_hat / (torch.sqrt(v_hat) + eps), (m, v)
        """,
    ),
    right(
        "adam-step",
        "as PyTorch orders it",
        """
        def adam_step(parameter, gradient, moments, step, learning_rate, betas=(0.9, 0.999),
                      eps=1e-8):
            new = moments._replace(
                mean=moments.mean.mul(betas[0]).add(gradient, alpha=1 - betas[0]),
                square=moments.square.mul(betas[1]).addcmul(gradient, gradient, value=1 - betas[1]),
            )
            size = learning_rate / (1 - betas[0] ** step)
            root = new.square.sqrt() / (1 - betas[1] ** step) ** 0.5 + eps
            return torch.addcdiv(parameter, new.mean, root, value=-size), new
        """,
    ),
    right(
        "adam-step",
        "changes a little, not a mean",
        """
        def adam_step(parameter, gradient, moments, step, learning_rate, betas=(0.9, 0.999),
                      eps=1e-8):
            mean = moments.mean + (1 - betas[0]) * (gradient - moments.mean)
            square = moments.square + (1 - betas[1]) * (gradient * gradient - moments.square)
            scale = (square / (1 - betas[1] ** step)) ** 0.5 + eps
            way = mean / (1 - betas[0] ** step)
            return parameter - learning_rate * (way / scale), Moments(mean=mean, square=square)
        """,
    ),
]
