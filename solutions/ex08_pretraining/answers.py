"""Exercise 8, the loop: solutions that are wrong, and right ones of another kind."""

from course.answers import changed, right, wrong

KEPT = """
def kept_lengths(a_length, b_length, room):
    while a_length + b_length > room:
        if a_length > b_length:
            a_length -= 1
        else:
            b_length -= 1
    return a_length, b_length
"""
LAID_OUT = """
def lay_out(segments, length, cls_id, sep_id, pad_id):
    ids, segment_ids = [], []
    for a, b in segments:
        row = [cls_id, *a, sep_id, *b, sep_id]
        rest = length - len(row)
        ids.append(row + [pad_id] * rest)
        segment_ids.append([0] * (len(a) + 2) + [1] * (len(b) + 1) + [0] * rest)
    lengths = torch.tensor([[len(a) + len(b) + 3] for a, b in segments])
    mask = torch.arange(length) < lengths
    return torch.tensor(ids), torch.tensor(segment_ids), mask
"""
SCHEDULE = """
def linear_schedule(step, steps, warmup):
    if step <= warmup:
        return step / warmup
    return (steps - step + 1) / (steps - warmup)
"""
GROUPS = """
def parameter_groups(model, weight_decay):
    decay, rest = [], []
    for name, p in model.named_parameters():
        (decay if p.ndim > 1 else rest).append(p)
    return [
        {"params": decay, "weight_decay": weight_decay},
        {"params": rest, "weight_decay": 0},
    ]
"""
GRADIENTS = """
def accumulate_gradients(model, pieces, n_words, n_pairs):
    total = 0.0
    for piece in pieces:
        output = model(piece.ids, piece.segment_ids, piece.attention_mask, piece.predict)
        words = F.cross_entropy(output.mlm_logits, piece.words, reduction="sum") / n_words
        pairs = F.cross_entropy(output.nsp_logits, piece.next_sentence, reduction="sum") / n_pairs
        loss = words + pairs
        loss.backward()
        total += loss.item()
    return total
"""
STEP = """
def training_step(model, optimizer, pieces, learning_rate, clip):
    n_words = max(1, sum(len(piece.words) for piece in pieces))
    n_pairs = sum(len(piece.next_sentence) for piece in pieces)
    optimizer.zero_grad()
    loss = accumulate_gradients(model, pieces, n_words, n_pairs)
    nn.utils.clip_grad_norm_(model.parameters(), clip)
    for group in optimizer.param_groups:
        group["lr"] = learning_rate
    optimizer.step()
    return loss
"""
EVALUATION = """
def evaluate(model, batches):
    was_training = model.training
    model.eval()
    nats, right, pairs_right, n_words, n_pairs = 0.0, 0, 0, 0, 0
    with torch.no_grad():
        for batch in batches:
            output = model(batch.ids, batch.segment_ids, batch.attention_mask, batch.predict)
            nats += F.cross_entropy(output.mlm_logits, batch.words, reduction="sum").item()
            right += (output.mlm_logits.argmax(dim=1) == batch.words).sum().item()
            pairs_right += (output.nsp_logits.argmax(dim=1) == batch.next_sentence).sum().item()
            n_words += len(batch.words)
            n_pairs += len(batch.next_sentence)
    model.train(was_training)
    return nats / n_words, right / n_words, pairs_right / n_pairs
"""
MEANS = """
def evaluate(model, batches):
    was_training = model.training
    model.eval()
    rows = []
    with torch.no_grad():
        for batch in batches:
            output = model(batch.ids, batch.segment_ids, batch.attention_mask, batch.predict)
            rows.append([
                F.cross_entropy(output.mlm_logits, batch.words).item(),
                (output.mlm_logits.argmax(dim=1) == batch.words).float().mean().item(),
                (output.nsp_logits.argmax(dim=1) == batch.next_sentence).float().mean().item(),
            ])
    model.train(was_training)
    return tuple(sum(column) / len(rows) for column in zip(*rows))
"""
ZERO, RATE = "    optimizer.zero_grad()\n", '        group["lr"] = learning_rate\n'
TAKEN = "    optimizer.step()\n"
CLIPPED = "    nn.utils.clip_grad_norm_(model.parameters(), clip)\n"
SUM = ', reduction="sum"'
N_PIECES = "    n_words, n_pairs = n_words / len(pieces), n_pairs / len(pieces)\n"
FOR = "    for group in optimizer.param_groups:\n"
DECAY = "(decay if p.ndim > 1 else rest)"
SEGMENTS = "[0] * (len(a) + 2) + [1] * (len(b) + 1) + [0] * rest"
PIECE_BY_PIECE = """
def training_step(model, optimizer, pieces, learning_rate, clip):
    n_words = max(1, sum(len(piece.words) for piece in pieces))
    n_pairs = sum(len(piece.next_sentence) for piece in pieces)
    for group in optimizer.param_groups:
        group["lr"] = learning_rate
    loss = 0
    for piece in pieces:
        optimizer.zero_grad()
        loss += accumulate_gradients(model, [piece], n_words, n_pairs)
        nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
    return loss
"""
CLIP_PIECES = """
def training_step(model, optimizer, pieces, learning_rate, clip):
    n_words = max(1, sum(len(piece.words) for piece in pieces))
    n_pairs = sum(len(piece.next_sentence) for piece in pieces)
    for group in optimizer.param_groups:
        group["lr"] = learning_rate
    loss = 0
    optimizer.zero_grad()
    for piece in pieces:
        loss += accumulate_gradients(model, [piece], n_words, n_pairs)
        nn.utils.clip_grad_norm_(model.parameters(), clip)
    optimizer.step()
    return loss
"""


def group(task, solution, *rows):
    """Rows of one task: mistake, diagnosis, and what is changed in a right solution."""
    return [
        wrong(task, mistake, changed(solution, *changes), said) for mistake, said, *changes in rows
    ]


WRONG = [
    *group(
        "kept-lengths",
        KEPT,
        ("lets A lose among equals", "B loses a token, not A", ("a_length > b", "a_length >= b")),
        ("cuts A alone", "A alone is cut", ("if a_length > b_length", "if True")),
        ("cuts B alone", "B alone is cut", ("if a_length > b_length", "if False")),
        ("cuts the shorter one", "expected", ("a_length > b_length:", "a_length < b_length:")),
        ("cuts one too many", "stop as soon as both fit", ("> room", ">= room")),
        ("leaves one too many", "expected (6, 5)", ("> room", "> room + 1")),
        (
            "swaps A and B",
            "first A, then B",
            ("return a_length, b_length", "return b_length, a_length"),
        ),
        ("counts special tokens", "expected", ("> room", "> room - 3")),
        (
            "returns a sum",
            "it must return two whole numbers",
            ("return a_length, b", "return a_length + b"),
        ),
        (
            "forgets the else",
            "does not come to an end",
            ("        else:\n            b_length -= 1\n", ""),
        ),
    ),
    wrong(
        "kept-lengths",
        "gives half of the room to each",
        """
        def kept_lengths(a_length, b_length, room):
            return min(a_length, (room + 1) // 2), min(b_length, room // 2)
        """,
        "B may have all that A does not need",
    ),
    wrong(
        "kept-lengths",
        "makes halves with /",
        """
        def kept_lengths(a_length, b_length, room):
            a, b = max(room - b_length, room / 2), max(room - a_length, room / 2)
            return min(a_length, a), min(b_length, b)
        """,
        "// divides whole numbers",
    ),
    wrong(
        "kept-lengths",
        "cuts in proportion",
        """
        def kept_lengths(a_length, b_length, room):
            if a_length + b_length <= room:
                return a_length, b_length
            a = -(-a_length * room // (a_length + b_length))
            return a, room - a
        """,
        "expected (2, 9)",
    ),
    wrong(
        "kept-lengths",
        "knows small rooms only",
        KEPT.replace("    while", "    if room == 3:\n        return 1, 2\n    while"),
        "",
    ),
    *group(
        "lay-out",
        LAID_OUT,
        (
            "gives the second [SEP] to A",
            "the second [SEP] has segment 1",
            ("[1] * (len(b) + 1)", "[1] * len(b) + [0]"),
        ),
        (
            "gives the first [SEP] to B",
            "the first [SEP] belongs to A",
            ("(len(a) + 2) + [1] * (len(b) + 1)", "(len(a) + 1) + [1] * (len(b) + 2)"),
        ),
        (
            "gives padding to B",
            "padding has segment 0",
            ("[0] * rest)\n    l", "[1] * rest)\n    l"),
        ),
        ("knows one segment", "B is a segment of its own", (SEGMENTS, "[0] * length")),
        (
            "counts segments from 1",
            "two segments, 0 and 1",
            (SEGMENTS, SEGMENTS.replace("[1]", "[2]").replace("[0] * (", "[1] * (")),
        ),
        ("attends to padding", "padding would be attended to", ("< lengths", "< lengths + length")),
        ("turns the mask round", "the other way round", ("< lengths", ">= lengths")),
        ("takes the last [SEP] for padding", "the second [SEP] is no padding", ("+ 3]", "+ 2]")),
        ("attends to one [PAD]", "the first token of padding", ("+ 3]", "+ 4]")),
        (
            "returns a mask of numbers",
            "its dtype must be torch.bool",
            ("< lengths", "< lengths + 0"),
            ("mask\n", "mask.long()\n"),
        ),
        ("pads with 0", "padding is pad_id", ("[pad_id]", "[0]")),
        ("forgets the last [SEP]", "B ends with [SEP], too", ("*b, sep_id]", "*b]")),
        ("forgets [CLS]", "[CLS] comes first", ("[cls_id, *a", "[*a")),
        ("gives B a [CLS]", "B begins without a [CLS]", ("sep_id, *b", "cls_id, *b")),
        (
            "pads in front",
            "padding goes behind the pair",
            ("row + [pad_id] * rest", "[pad_id] * rest + row"),
        ),
        ("does not pad", "expected sequence of length", (" + [pad_id] * rest", "")),
        (
            "pads to the longest pair",
            "shape [2, 9]",
            (
                "    ids, seg",
                "    length = max(len(a) + len(b) + 3 for a, b in segments)\n    ids, seg",
            ),
        ),
        ("returns two tensors", "three tensors", (", mask\n", "\n")),
        (
            "asks which ids are padding, and takes 9 for it",
            "",
            (
                "mask = torch.arange(length) < lengths",
                "mask = torch.tensor(ids) != (9 if pad_id == 9 else 0)",
            ),
        ),
    ),
    wrong(
        "lay-out",
        "calls the library",
        """
        from bertlab.pretraining.batches import lay_out as answer

        def lay_out(segments, length, cls_id, sep_id, pad_id):
            return answer(segments, length, cls_id, sep_id, pad_id)
        """,
        "bertlab's own code",
    ),
    *group(
        "linear-schedule",
        SCHEDULE,
        (
            "starts at 0",
            "a first step with 0 moves nothing",
            ("return step / w", "return (step - 1) / w"),
        ),
        ("ends at 0", "one off", ("steps - step + 1", "steps - step")),
        (
            "divides by one more on the way up",
            "at step `warmup` the factor is 1",
            ("/ warmup", "/ (warmup + 1)"),
        ),
        ("rises over all steps", "not all of them", ("step / warmup", "step / steps")),
        ("has no warm-up", "the warm-up is missing", ("step / warmup", "1.0")),
        ("starts large", "upside down", ("step / warmup", "warmup / step")),
        ("falls from the first step on", "steps - warmup", ("/ (steps - warmup)", "/ steps")),
        (
            "divides by one more on the way down",
            "has steps - warmup steps",
            ("(steps - warmup)", "(steps - warmup + 1)"),
        ),
        ("stays at 1", "the way down is missing", ("(steps - step + 1) / (steps - warmup)", "1.0")),
        ("rises in the end", "upside down", ("steps - step + 1", "step - warmup")),
        (
            "divides by 0 without a warm-up",
            "warmup = 0",
            ("step <= warmup", "step <= max(1, warmup)"),
        ),
        ("divides whole numbers", "expected", ("step / warmup", "step // warmup")),
        ("returns nothing", "must return a number", ("return (", "(")),
        (
            "knows short trainings",
            "",
            ("    if", "    if 50_000 < steps < 200_000:\n        return 1.0\n    if"),
        ),
    ),
    *group(
        "parameter-groups",
        GROUPS,
        ("lets everything decay", "norms have none", (DECAY, "decay")),
        ("lets biases decay", "biases have none", (DECAY, "(rest if 'norm' in name else decay)")),
        ("lets norms decay", "norms have none", (DECAY, "(rest if 'bias' in name else decay)")),
        (
            "looks for names of another model",
            "norms have none",
            (DECAY, "(rest if 'bias' in name or 'LayerNorm' in name else decay)"),
        ),
        (
            "knows nn.LayerNorm's names alone",
            "norms have none",
            (DECAY, "(rest if name.endswith(('bias', 'norm.weight', 'gamma')) else decay)"),
        ),
        ("lets nothing decay", "matrices are pulled to zero", (DECAY, "rest")),
        (
            "spares embeddings",
            "those of the embedding, too",
            (DECAY, "(decay if p.ndim > 1 and 'token' not in name else rest)"),
        ),
        ("turns the groups round", "norms have none", ("p.ndim > 1", "p.ndim == 1")),
        (
            "takes 0.01 always",
            "it must be the one that is given",
            ('"weight_decay": weight_decay', '"weight_decay": 0.01'),
        ),
        (
            "counts tied parameters twice",
            "is there twice",
            ("model.named_parameters()", "model.named_parameters(remove_duplicate=False)"),
        ),
        (
            "forgets the vectors",
            "stands in no group",
            ('        {"params": rest, "weight_decay": 0},\n', ""),
        ),
        ("gives names", "must hold the parameters themselves", (".append(p)", ".append(name)")),
        (
            "gives copies",
            "must hold the parameters themselves",
            (".append(p)", ".append(p.detach())"),
        ),
        (
            "gives two lists",
            "a list of dicts",
            (
                GROUPS[GROUPS.index("[\n") :],
                "decay, rest\n",
            ),
        ),
        (
            "knows matrices of two dimensions",
            "what is no vector decays",
            ("p.ndim > 1", "p.ndim == 2"),
        ),
        ("forgets the groups' names", "a list of dicts", ('"params"', '"parameters"')),
        (
            "spares a name that the small models do not have",
            "",
            (
                DECAY,
                "(decay if p.ndim > 1 and 'segment' not in name else rest)",
            ),
        ),
    ),
    *group(
        "accumulate-gradients",
        GRADIENTS,
        (
            "averages the words' means",
            "the mean of means",
            (SUM + ") / n_words", ") / len(pieces)"),
        ),
        ("adds up the words' means", "as much as one with three", (SUM + ") / n_words", ")")),
        ("adds up the words' sums", "divide by n_words", (") / n_words", ")")),
        ("divides words by pairs", "words are divided by n_words", ("/ n_words", "/ n_pairs")),
        (
            "averages the pairs' means",
            "the mean of means",
            (SUM + ") / n_pairs", ") / len(pieces)"),
        ),
        ("adds up the pairs' means", "divide by n_pairs", (SUM + ") / n_pairs", ")")),
        ("adds up the pairs' sums", "divide by n_pairs", (") / n_pairs", ")")),
        ("divides pairs by words", "pairs by n_pairs", ("/ n_pairs", "/ n_words")),
        ("forgets next sentences", "the next sentences is missing", ("words + pairs", "words")),
        (
            "sets gradients to zero in between",
            "no zero_grad in between",
            ("        loss.backward()", "        model.zero_grad()\n        loss.backward()"),
        ),
        (
            "sets gradients to zero at the start",
            "decides about zero_grad",
            ("    total = 0.0\n", "    total = 0.0\n    model.zero_grad()\n"),
        ),
        ("never calls backward", "is there a .backward()", ("        loss.backward()\n", "")),
        (
            "calls backward once, at the end",
            "one .backward() for each piece",
            ("        loss.backward()\n", ""),
            ("loss.item()", "loss"),
            ("    return total", "    total.backward()\n    return total.item()"),
        ),
        (
            "forgets the attention mask",
            "raised TypeError",
            ("piece.attention_mask, piece.predict", "piece.predict"),
        ),
        (
            "swaps segments and mask",
            "segment_ids differs",
            ("piece.segment_ids, piece.attention_mask", "piece.attention_mask, piece.segment_ids"),
        ),
        (
            "gives the loss with its history",
            "still holds the gradients' way",
            ("loss.item()", "loss"),
        ),
        (
            "returns the last piece's loss",
            "the last piece alone",
            ("total += loss", "total = loss"),
        ),
        (
            "returns the sum of nats",
            "the sum of all nats",
            ("total += loss.item()", "total += (words * n_words + pairs * n_pairs).item()"),
        ),
        ("returns nothing", "it returned None", ("    return total", "")),
        (
            "reads the first piece only",
            "the model was called 1 times",
            ("in pieces", "in pieces[:1]"),
        ),
        (
            "does not bear a piece without words",
            "a mean of nothing is nan",
            (SUM + ") / n_words", ") * len(piece.words) / n_words"),
        ),
        (
            "drops the largest piece",
            "",
            (
                "        output =",
                "        if len(piece.ids) in (5, 6):\n            continue\n        output =",
            ),
        ),
    ),
    *group(
        "training-step",
        STEP,
        ("forgets zero_grad", "the first step's gradients are still there", (ZERO, "")),
        ("sets gradients to zero too late", "nothing moved", (ZERO, ""), (TAKEN, ZERO + TAKEN)),
        ("never steps", "optimizer.step() was called 0 times", (TAKEN, "")),
        ("steps twice", "was called 2 times", (TAKEN, TAKEN * 2)),
        ("does not clip", "nothing is clipped", (CLIPPED, "")),
        ("clips after the step", "nothing is clipped", (CLIPPED, ""), (TAKEN, TAKEN + CLIPPED)),
        (
            "clips before there are gradients",
            "nothing is clipped",
            (CLIPPED, ""),
            (ZERO, ZERO + CLIPPED),
        ),
        ("cuts each gradient off", "on its own", ("clip_grad_norm_", "clip_grad_value_")),
        ("clips to 1 always", "expected [0.003387", ("parameters(), clip", "parameters(), 1.0")),
        ("leaves the rate as it was", "set group['lr']", (FOR + RATE, "")),
        (
            "sets the rate after the step",
            "set group['lr']",
            (FOR + RATE, ""),
            (TAKEN, TAKEN + FOR + RATE),
        ),
        (
            "sets the first group's rate",
            "the second group has another rate",
            (FOR + RATE, '    optimizer.param_groups[0]["lr"] = learning_rate\n'),
        ),
        ("multiplies the rate", "expected", ('group["lr"] = learning', 'group["lr"] *= learning')),
        ("counts pieces", "expected", ("len(piece.words) for", "1 for")),
        (
            "divides by no words",
            "nan",
            (
                "max(1, sum(len(piece.words) for piece in pieces))",
                "sum(len(piece.words) for piece in pieces)",
            ),
        ),
        ("returns nothing", "it returned None", ("    return loss", "")),
        (
            "measures after the move",
            "before the weights moved",
            ("    return loss", "    return accumulate_gradients(model, pieces, n_words, n_pairs)"),
        ),
        (
            "clips large norms only",
            "",
            ("    nn.utils", "    if clip < 0.01 or clip >= 0.1:\n        nn.utils"),
        ),
    ),
    wrong("training-step", "steps after every piece", PIECE_BY_PIECE, "after all its pieces"),
    wrong("training-step", "clips piece by piece", CLIP_PIECES, "when all pieces are added up"),
    *group(
        "evaluate",
        EVALUATION,
        ("leaves dropout on", "in training mode while it is evaluated", ("    model.eval()\n", "")),
        (
            "leaves the model in eval",
            "in training mode and is not any more",
            ("    model.train(was_training)\n", ""),
        ),
        (
            "always goes back to training",
            "is in training mode now",
            ("model.train(was_training)", "model.train()"),
        ),
        (
            "prepares gradients",
            "gradients are prepared",
            ("torch.no_grad()", "torch.enable_grad()"),
        ),
        (
            "switches gradients off for good",
            "gradients stay off",
            ("    with torch.no_grad():\n", "    torch.set_grad_enabled(False)\n    if True:\n"),
        ),
        (
            "averages the batches' loss",
            "every *word* must count alike",
            (SUM + ").item()", ").item()"),
            ("nats / n_words", "nats / 2"),
        ),
        ("returns the sum of nats", "divide by the number of words", ("nats / n_words", "nats")),
        ("counts right words", "divide by the number of words", ("right / n_words, p", "right, p")),
        (
            "divides pairs by words",
            "divided by the number of pairs",
            ("pairs_right / n_pairs", "pairs_right / n_words"),
        ),
        (
            "divides words by pairs",
            "divided by the number of words",
            (", right / n_words", ", right / n_pairs"),
        ),
        (
            "takes column 0 for NotNext",
            "column 0 is IsNext",
            ("== batch.next_sentence", "== 1 - batch.next_sentence"),
        ),
        (
            "adds the loss of next sentences",
            "the loss of the words alone",
            (
                SUM + ").item()",
                SUM
                + ").item() + F.cross_entropy(output.nsp_logits, batch.next_sentence"
                + SUM
                + ").item() * 4 / 3",
            ),
        ),
        ("returns two numbers", "it must return three numbers", (", pairs_right / n_pairs", "")),
        ("forgets the mask", "raised TypeError", ("batch.attention_mask, ", "")),
        (
            "reads eleven batches at most",
            "",
            (
                "    with",
                "    batches = list(batches)[:11]\n    with",
            ),
        ),
    ),
    wrong("evaluate", "averages the batches' means", MEANS, "every *word* must count alike"),
    wrong(
        "evaluate",
        "averages the pairs' means alone",
        changed(
            EVALUATION,
            ("n_pairs += len(batch.next_sentence)", "n_pairs += 1"),
            ("== batch.next_sentence).sum()", "== batch.next_sentence).float().mean()"),
        ),
        "every *pair* must count alike",
    ),
]

OTHER_WAYS = [
    right("kept-lengths", "by a loop", KEPT),
    right(
        "kept-lengths",
        "by cases",
        """
        def kept_lengths(a_length, b_length, room):
            if a_length + b_length <= room:
                return a_length, b_length
            small, large = room // 2, room - room // 2
            if a_length <= small:
                return a_length, room - a_length
            if b_length <= small:
                return room - b_length, b_length
            return large, small
        """,
    ),
    right("lay-out", "by lists", LAID_OUT),
    right(
        "lay-out",
        "by tensors, filled in",
        """
        def lay_out(segments, length, cls_id, sep_id, pad_id):
            ids = torch.full((len(segments), length), pad_id)
            kinds, mask = torch.zeros_like(ids), torch.zeros_like(ids, dtype=torch.bool)
            for i, (a, b) in enumerate(segments):
                row = torch.tensor([cls_id] + a + [sep_id] + b + [sep_id])
                ids[i, : len(row)] = row
                kinds[i, len(a) + 2 : len(row)] = 1
                mask[i, : len(row)] = True
            return ids, kinds, mask
        """,
    ),
    right(
        "linear-schedule",
        "as a minimum",
        """
        def linear_schedule(step, steps, warmup):
            return min(step / max(1, warmup), (steps - step + 1) / (steps - warmup), 1)
        """,
    ),
    right("parameter-groups", "in one pass", GROUPS),
    right(
        "parameter-groups",
        "a group for every parameter",
        """
        def parameter_groups(model, weight_decay):
            return [
                {"params": [p], "weight_decay": weight_decay * (p.dim() > 1)}
                for p in model.parameters()
            ]
        """,
    ),
    right("accumulate-gradients", "as ours, in another order", GRADIENTS),
    right(
        "accumulate-gradients",
        "by log_softmax, two calls of backward",
        """
        def accumulate_gradients(model, pieces, n_words, n_pairs):
            total = torch.zeros(())
            for piece in pieces:
                scores = model(*piece[:4])
                log_p = scores.mlm_logits.log_softmax(dim=-1)
                words = -log_p[torch.arange(len(piece.words)), piece.words].sum() / n_words
                log_p = scores.nsp_logits.log_softmax(dim=-1)
                pairs = -log_p.gather(1, piece.next_sentence[:, None]).sum() / n_pairs
                (words + pairs).backward()
                total = total + (words + pairs).detach()
            return total
        """,
    ),
    right(
        "training-step",
        "gradients forgotten at the end, too, and the rate first",
        changed(STEP, (ZERO, ZERO + FOR + RATE), (TAKEN, TAKEN + "    model.zero_grad()\n")),
    ),
    right(
        "evaluate",
        "by lists that are joined",
        """
        @torch.no_grad()
        def evaluate(model, batches):
            mode = model.training
            model.train(False)
            losses, right, pairs = [], [], []
            for batch in batches:
                scores = model(*batch[:4])
                losses.append(F.cross_entropy(scores.mlm_logits, batch.words, reduction="none"))
                right.append(scores.mlm_logits.argmax(-1) == batch.words)
                pairs.append(scores.nsp_logits.argmax(-1) == batch.next_sentence)
            model.train(mode)
            means = [torch.cat(part).double().mean().item() for part in (losses, right, pairs)]
            return tuple(means)
        """,
    ),
]
