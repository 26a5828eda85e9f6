"""Exercise 8, the loop: wrong solutions, and right ones written differently."""

from course.answers import OURS, mistakes, right

WRONG = [
    *mistakes(
        "kept-lengths",
        "by a loop",
        ("lets A lose among equals", ("a_length > b", "a_length >= b"), "B loses a token, not A"),
        ("cuts only A", ("if a_length > b_length", "if True"), "only A is cut"),
        ("cuts only B", ("if a_length > b_length", "if False"), "only B is cut"),
        ("cuts the shorter one", ("> b_length", "< b_length"), "expected"),
        ("cuts one too many", ("> room", ">= room"), "stop as soon as both fit"),
        ("leaves one too many", ("> room", "> room + 1"), "expected (6, 5)"),
        (
            "swaps A and B",
            ("return a_length, b_length", "return b_length, a_length"),
            "first A, then B",
        ),
        ("counts special tokens", ("> room", "> room - 3"), "expected"),
        (
            "returns a sum",
            ("return a_length, b", "return a_length + b"),
            "it must return two whole numbers",
        ),
        (
            "forgets the else",
            ("        else:\n            b_length -= 1\n", ""),
            "does not come to an end",
        ),
        (
            "gives half of the room to each",
            """
            def kept_lengths(a_length, b_length, room):
                return min(a_length, (room + 1) // 2), min(b_length, room // 2)
            """,
            "B may have all that A does not need",
        ),
        (
            "makes halves with /",
            """
            def kept_lengths(a_length, b_length, room):
                a, b = max(room - b_length, room / 2), max(room - a_length, room / 2)
                return min(a_length, a), min(b_length, b)
            """,
            "// gives whole numbers",
        ),
        (
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
        (
            "handles only small rooms",
            (
                "while a_length + b_length > room:",
                "if room == 3:\n        return 1, 2\n    while a_length + b_length > room:",
            ),
            "",
        ),
    ),
    *mistakes(
        "kept-lengths",
        "by a loop",
        (
            "makes room for the special tokens once more",
            ("> room", "> room - 3"),
            "for both together",
        ),
        (
            "halves the room, whatever the lengths",
            """
            def kept_lengths(a_length, b_length, room):
                return (room + 1) // 2, room // 2
            """,
            "do not make a segment longer",
        ),
    ),
    *mistakes(
        "kept-lengths",
        "by cases",
        (
            "halves the room unless both fit",
            """
            def kept_lengths(a_length, b_length, room):
                if a_length + b_length <= room:
                    return a_length, b_length
                return room - room // 2, room // 2
            """,
            "not only half of the room",
        ),
    ),
    *mistakes(
        "lay-out",
        "by lists",
        (
            "gives the second [SEP] to A",
            ("[1] * (len(b) + 1)", "[1] * len(b) + [0]"),
            "the second [SEP] has segment 1",
        ),
        (
            "gives the first [SEP] to B",
            ("(len(a) + 2) + [1] * (len(b) + 1)", "(len(a) + 1) + [1] * (len(b) + 2)"),
            "the first [SEP] belongs to A",
        ),
        (
            "gives padding to B",
            ("[0] * rest)\n    l", "[1] * rest)\n    l"),
            "padding has segment 0",
        ),
        (
            "has only one segment",
            ("[0] * (len(a) + 2) + [1] * (len(b) + 1) + [0] * rest", "[0] * length"),
            "B is a segment of its own",
        ),
        (
            "counts segments from 1",
            ("[0] * (len(a) + 2) + [1]", "[1] * (len(a) + 2) + [2]"),
            "two segments, 0 and 1",
        ),
        ("attends to padding", ("< lengths", "< lengths + length"), "padding would be attended to"),
        ("inverts the mask", ("< lengths", ">= lengths"), "the other way round"),
        ("treats the last [SEP] as padding", ("+ 3]", "+ 2]"), "the second [SEP] is not padding"),
        ("attends to one [PAD]", ("+ 3]", "+ 4]"), "the first token of padding"),
        (
            "returns a mask of numbers",
            ("< lengths", "< lengths + 0"),
            ("mask\n", "mask.long()\n"),
            "its dtype must be torch.bool",
        ),
        ("pads with 0", ("[pad_id]", "[0]"), "padding is pad_id"),
        ("forgets the last [SEP]", ("*b, sep_id]", "*b]"), "B ends with [SEP], too"),
        ("forgets [CLS]", ("[cls_id, *a", "[*a"), "[CLS] comes first"),
        ("gives B a [CLS]", ("sep_id, *b", "cls_id, *b"), "B has no [CLS] of its own"),
        (
            "pads in front",
            ("row + [pad_id] * rest", "[pad_id] * rest + row"),
            "padding comes after the pair",
        ),
        ("does not pad", (" + [pad_id] * rest", ""), "expected sequence of length"),
        (
            "pads to the longest pair",
            (
                "    ids, seg",
                "    length = max(len(a) + len(b) + 3 for a, b in segments)\n    ids, seg",
            ),
            "shape [2, 9]",
        ),
        ("returns two tensors", (", mask\n", "\n"), "three tensors"),
        (
            "derives padding from the ids, and takes 9 as its id",
            (
                "mask = torch.arange(length) < lengths",
                "mask = torch.tensor(ids) != (9 if pad_id == 9 else 0)",
            ),
            "",
        ),
        (
            "calls the library",
            """
            from bertlab.pretraining.batches import lay_out as answer

            def lay_out(segments, length, cls_id, sep_id, pad_id):
                return answer(segments, length, cls_id, sep_id, pad_id)
            """,
            "bertlab's own code",
        ),
    ),
    *mistakes(
        "lay-out",
        "by lists",
        ("forgets the first [SEP]", ("*a, sep_id, *b", "*a, *b"), "A ends with [SEP], too"),
        (
            "swaps [CLS] and [SEP]",
            ("[cls_id, *a, sep_id, *b, sep_id]", "[sep_id, *a, cls_id, *b, cls_id]"),
            "are swapped",
        ),
        (
            "gives A the segment 1",
            ("[0] * (len(a) + 2) + [1] * (len(b) + 1)", "[1] * (len(a) + 2) + [0] * (len(b) + 1)"),
            "A has segment 0, B has 1",
        ),
    ),
    *mistakes(
        "lay-out",
        OURS,
        (
            "starts and ends the second segment one too early",
            (
                "segment_ids[row, first_sep + 1 : second_sep + 1]",
                "segment_ids[row, first_sep:second_sep]",
            ),
            "the second [SEP] has segment 1",
        ),
    ),
    *mistakes(
        "examine-lay-out",
        OURS,
        (
            "compares only the ids",
            ("    assert segment_ids.tolist() == [", "    assert segment_ids.tolist() or ["),
            (
                "    assert attention_mask.tolist() == [[column < n for column in range(9)] "
                "for n in (6, 7, 5)]\n",
                "",
            ),
            "compare all three tensors",
        ),
        (
            "does not compare the segments",
            ("    assert segment_ids.tolist() == [", "    assert segment_ids.tolist() or ["),
            "gives every token the segment 0",
        ),
        (
            "expects padding to belong to B",
            ("[0, 0, 0, 1, 1, 1, 0, 0, 0]", "[0, 0, 0, 1, 1, 1, 1, 1, 1]"),
            "rejects your own `lay_out`",
        ),
        (
            "returns False instead of raising an error",
            (
                "    assert attention_mask.tolist() == [",
                "    return attention_mask.tolist() == [",
            ),
            "a test raises an error, or does nothing",
        ),
        (
            "adds up the segment ids of a row",
            (
                """    assert segment_ids.tolist() == [
        [0, 0, 0, 1, 1, 1, 0, 0, 0],
        [0, 0, 0, 0, 0, 1, 1, 0, 0],
        [0, 0, 0, 1, 1, 0, 0, 0, 0],
    ]""",
                "    assert segment_ids.sum(dim=1).tolist() == [3, 2, 2]",
            ),
            "",
        ),
    ),
    *mistakes(
        "examine-lay-out",
        "with rows made by a loop",
        (
            "tries rows that are all full",
            ("[([6], [1, 2, 6]), ([1, 2, 3], [6, 6])]", "[([6], [1, 2])]"),
            ("length, pad = 9, 5", "length, pad = 6, 0"),
            "does not notice that the draft is wrong",
        ),
        ("tries one row", ("[([6], [1, 2, 6]), ([1, 2, 3], [6, 6])]", "[([6], [1, 2, 6])]"), ""),
        ("takes 0 as [PAD], and no other id", ("length, pad = 9, 5", "length, pad = 9, 0"), ""),
        (
            "tries rows of one length",
            ("[([6], [1, 2, 6]), ([1, 2, 3], [6, 6])]", "[([6], [1, 2, 6]), ([1, 2, 3], [6])]"),
            "",
        ),
    ),
    *mistakes(
        "plateau-schedule",
        OURS,
        (
            "starts at 0",
            ("step / warmup", "(step - 1) / warmup"),
            "a first step with 0 changes nothing",
        ),
        ("ends at 0", ("step + 1", "step"), "off by one"),
        (
            "divides by one more on the way up",
            ("/ warmup", "/ (warmup + 1)"),
            "at step `warmup` the factor is 1",
        ),
        ("has no warm-up", ("step / warmup if warmup else 1.0", "1.0"), "the warm-up is missing"),
        (
            "takes the larger factor",
            ("min(up, 1.0, down)", "max(min(up, 1.0), min(down, 1.0))"),
            "but the larger",
        ),
        (
            "falls right after the warm-up",
            ("step + 1) / decay if decay else 1.0", "step + 1) / (steps - warmup)"),
            "that is the lecture's schedule",
        ),
        ("divides by one more on the way down", ("/ decay", "/ (decay + 1)"), "divide by decay"),
        (
            "has no way down",
            ("(steps - step + 1) / decay if decay else 1.0", "1.0"),
            "the way down is missing",
        ),
        ("keeps rising", ("min(up, 1.0, down)", "up"), "never more than 1"),
        (
            "forgets the constant part",
            ("min(up, 1.0, down)", "down if step > warmup else up"),
            "never more than 1",
        ),
        (
            "multiplies both ways",
            ("min(up, 1.0, down)", "min(up, 1.0) * min(down, 1.0)"),
            "not their product",
        ),
        ("divides by no way up", (" if warmup else 1.0", ""), "raised ZeroDivisionError"),
        ("divides by no way down", (" if decay else 1.0", ""), "raised ZeroDivisionError"),
        ("returns nothing", ("    return min", "    min"), "must return a number"),
        (
            "handles short trainings",
            ("    up =", "    if 50_000 < steps < 200_000:\n        return 1.0\n    up ="),
            "",
        ),
    ),
    *mistakes(
        "plateau-schedule",
        "by cases",
        (
            "checks the way up first",
            (
                "    if step > steps - decay:",
                "    if step <= warmup:\n        return step / warmup\n"
                "    if step > steps - decay:",
            ),
            "before the way up has ended",
        ),
        (
            "checks the way down first",
            ("min(down, step / warmup) if step <= warmup else down", "down"),
            "the way up has not ended",
        ),
    ),
    *mistakes(
        "accumulate-gradients",
        "as ours, in another order",
        (
            "averages the words' means",
            (', reduction="sum") / n_words', ") / len(pieces)"),
            "the mean of means",
        ),
        (
            "adds up the words' means",
            (', reduction="sum") / n_words', ")"),
            "as much as one with three",
        ),
        ("adds up the words' sums", (") / n_words", ")"), "divide by n_words"),
        ("divides words by pairs", ("/ n_words", "/ n_pairs"), "words are divided by n_words"),
        (
            "averages the pairs' means",
            (
                "(\n"
                "            F.cross_entropy(output.nsp_logits, piece.next_sentence, "
                'reduction="sum")\n'
                "            / n_pairs\n"
                "        )",
                "F.cross_entropy(output.nsp_logits, piece.next_sentence) / len(pieces)",
            ),
            "the mean of means",
        ),
        (
            "adds up the pairs' means",
            (
                "(\n"
                "            F.cross_entropy(output.nsp_logits, piece.next_sentence, "
                'reduction="sum")\n'
                "            / n_pairs\n"
                "        )",
                "F.cross_entropy(output.nsp_logits, piece.next_sentence)",
            ),
            "divide by n_pairs",
        ),
        (
            "adds up the pairs' sums",
            (
                "(\n"
                "            F.cross_entropy(output.nsp_logits, piece.next_sentence, "
                'reduction="sum")\n'
                "            / n_pairs\n"
                "        )",
                'F.cross_entropy(output.nsp_logits, piece.next_sentence, reduction="sum")',
            ),
            "divide by n_pairs",
        ),
        ("divides pairs by words", ("/ n_pairs", "/ n_words"), "pairs by n_pairs"),
        ("forgets next sentences", ("words + pairs", "words"), "the next sentences is missing"),
        (
            "sets gradients to zero in between",
            ("        loss.backward()", "        model.zero_grad()\n        loss.backward()"),
            "no zero_grad in between",
        ),
        (
            "sets gradients to zero at the start",
            ("    total = 0.0\n", "    total = 0.0\n    model.zero_grad()\n"),
            "decides about zero_grad",
        ),
        ("never calls backward", ("        loss.backward()\n", ""), "is there a .backward()"),
        (
            "calls backward once, at the end",
            ("        loss.backward()\n", ""),
            ("loss.item()", "loss"),
            ("    return total", "    total.backward()\n    return total.item()"),
            "call .backward() right after each piece",
        ),
        (
            "forgets the attention mask",
            ("piece.attention_mask, piece.predict", "piece.predict"),
            "raised TypeError",
        ),
        (
            "swaps segments and mask",
            ("piece.segment_ids, piece.attention_mask", "piece.attention_mask, piece.segment_ids"),
            "segment_ids differs",
        ),
        (
            "returns the loss with its graph",
            ("loss.item()", "loss"),
            "still holds the graph of its gradients",
        ),
        (
            "returns the last piece's loss",
            ("total += loss", "total = loss"),
            "only the last piece",
        ),
        (
            "returns the sum of nats",
            ("total += loss.item()", "total += (words * n_words + pairs * n_pairs).item()"),
            "the sum of all nats",
        ),
        ("returns nothing", ("    return total", ""), "it returned None"),
        (
            "reads the first piece only",
            ("in pieces", "in pieces[:1]"),
            "the model was called 1 times",
        ),
        (
            "fails with a piece without words",
            (', reduction="sum") / n_words', ") * len(piece.words) / n_words"),
            "a mean of nothing is nan",
        ),
        (
            "drops the largest piece",
            (
                "        output =",
                "        if len(piece.ids) in (5, 6):\n            continue\n        output =",
            ),
            "",
        ),
    ),
    *mistakes(
        "accumulate-gradients",
        OURS,
        (
            "returns the sum of the pieces' means",
            ("loss.item()", "(words / len(piece.words) + pairs / len(piece.next_sentence)).item()"),
            "the sum of the pieces' means",
        ),
    ),
    *mistakes(
        "training-step",
        OURS,
        (
            "forgets zero_grad",
            ("    optimizer.zero_grad()\n", ""),
            "the first step's gradients are still there",
        ),
        (
            "sets gradients to zero too late",
            ("    optimizer.zero_grad()\n", ""),
            ("    optimizer.step()\n", "    optimizer.zero_grad()\n    optimizer.step()\n"),
            "no weight changed",
        ),
        ("never steps", ("    optimizer.step()\n", ""), "optimizer.step() was called 0 times"),
        (
            "steps twice",
            ("    optimizer.step()\n", "    optimizer.step()\n    optimizer.step()\n"),
            "was called 2 times",
        ),
        (
            "does not clip",
            ("    nn.utils.clip_grad_norm_(model.parameters(), clip)\n", ""),
            "nothing is clipped",
        ),
        (
            "clips after the step",
            ("    nn.utils.clip_grad_norm_(model.parameters(), clip)\n", ""),
            ("return loss", "nn.utils.clip_grad_norm_(model.parameters(), clip)\n    return loss"),
            "nothing is clipped",
        ),
        (
            "clips before there are gradients",
            ("    nn.utils.clip_grad_norm_(model.parameters(), clip)\n", ""),
            (
                "    optimizer.zero_grad()\n",
                "    optimizer.zero_grad()\n"
                "    nn.utils.clip_grad_norm_(model.parameters(), clip)\n",
            ),
            "nothing is clipped",
        ),
        (
            "clips each gradient by itself",
            ("clip_grad_norm_", "clip_grad_value_"),
            "clipped by itself",
        ),
        ("clips to 1 always", ("(), clip", "(), 1.0"), "expected [0.003387"),
        (
            "leaves the rate as it was",
            ('    for group in optimizer.param_groups:\n        group["lr"] = learning_rate\n', ""),
            "set group['lr']",
        ),
        (
            "sets the rate after the step",
            ('    for group in optimizer.param_groups:\n        group["lr"] = learning_rate\n', ""),
            (
                "    optimizer.step()\n",
                "    optimizer.step()\n"
                "    for group in optimizer.param_groups:\n"
                '        group["lr"] = learning_rate\n',
            ),
            "set group['lr']",
        ),
        (
            "sets the first group's rate",
            (
                '    for group in optimizer.param_groups:\n        group["lr"] = learning_rate\n',
                '    optimizer.param_groups[0]["lr"] = learning_rate\n',
            ),
            "the second group has another rate",
        ),
        ("multiplies the rate", ('group["lr"] =', 'group["lr"] *='), "expected"),
        ("counts pieces", ("len(piece.words) for", "1 for"), "expected"),
        (
            "divides by no words",
            (
                "max(1, sum(len(piece.words) for piece in pieces))",
                "sum(len(piece.words) for piece in pieces)",
            ),
            "nan",
        ),
        ("returns nothing", ("    return loss", ""), "it returned None"),
        (
            "measures after the update",
            ("    return loss", "    return accumulate_gradients(model, pieces, n_words, n_pairs)"),
            "before the update",
        ),
        (
            "clips large norms only",
            ("    nn.utils", "    if clip < 0.01 or clip >= 0.1:\n        nn.utils"),
            "",
        ),
        (
            "steps after every piece",
            """
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
            """,
            "after all its pieces",
        ),
        (
            "clips piece by piece",
            """
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
            """,
            "when all pieces are added up",
        ),
    ),
    *mistakes(
        "training-step",
        OURS,
        (
            "goes up the gradient",
            (
                "    optimizer.step()",
                "    for p in model.parameters():\n        p.grad.neg_()\n    optimizer.step()",
            ),
            "do not negate the gradients",
        ),
    ),
    *mistakes(
        "evaluate",
        "as ours, with a shorter name",
        ("leaves dropout on", ("    model.eval()\n", ""), "in training mode while it is evaluated"),
        (
            "leaves the model in eval",
            ("    model.train(was_training)\n", ""),
            "in training mode and no longer is",
        ),
        (
            "always goes back to training",
            ("model.train(was_training)", "model.train()"),
            "is in training mode now",
        ),
        (
            "records gradients",
            ("torch.no_grad()", "torch.enable_grad()"),
            "gradients are recorded",
        ),
        (
            "averages the batches' loss",
            (', reduction="sum").item()', ").item()"),
            ("nats / n_words", "nats / 2"),
            "every *word* must have the same weight",
        ),
        ("returns the sum of nats", ("nats / n_words", "nats"), "divide by the number of words"),
        ("counts right words", ("right / n_words, p", "right, p"), "divide by the number of words"),
        (
            "divides pairs by words",
            ("pairs_right / n_pairs", "pairs_right / n_words"),
            "divided by the number of pairs",
        ),
        (
            "divides words by pairs",
            (", right / n_words", ", right / n_pairs"),
            "divided by the number of words",
        ),
        (
            "takes column 0 as NotNext",
            ("== batch.next_sentence", "== 1 - batch.next_sentence"),
            "column 0 is IsNext",
        ),
        (
            "adds the loss of next sentences",
            (
                ', reduction="sum").item()',
                ', reduction="sum").item() + F.cross_entropy(output.nsp_logits, '
                'batch.next_sentence, reduction="sum").item() * 4 / 3',
            ),
            "return only the loss of the words",
        ),
        ("returns two numbers", (", pairs_right / n_pairs", ""), "it must return three numbers"),
        ("forgets the mask", ("batch.attention_mask, ", ""), "raised TypeError"),
        (
            "reads eleven batches at most",
            ("    with", "    batches = list(batches)[:11]\n    with"),
            "",
        ),
        (
            "averages the batches' means",
            """
            def evaluate(model, batches):
                was_training = model.training
                model.eval()
                rows = []
                with torch.no_grad():
                    for batch in batches:
                        output = model(
                            batch.ids, batch.segment_ids, batch.attention_mask, batch.predict
                        )
                        rows.append(
                            [
                                F.cross_entropy(output.mlm_logits, batch.words).item(),
                                (output.mlm_logits.argmax(dim=1) == batch.words)
                                .float()
                                .mean()
                                .item(),
                                (output.nsp_logits.argmax(dim=1) == batch.next_sentence)
                                .float()
                                .mean()
                                .item(),
                            ]
                        )
                model.train(was_training)
                return tuple(sum(column) / len(rows) for column in zip(*rows))
            """,
            "every *word* must have the same weight",
        ),
        (
            "averages only the pairs' means",
            ("n_pairs += len(batch.next_sentence)", "n_pairs += 1"),
            ("== batch.next_sentence).sum()", "== batch.next_sentence).float().mean()"),
            "every *pair* must have the same weight",
        ),
    ),
    *mistakes(
        "evaluate",
        OURS,
        (
            "counts batches instead of words",
            ("n_words += len(batch.words)", "n_words += 1"),
            "the number of words, not of batches",
        ),
        (
            "does not divide by the pairs",
            ("pairs_right / n_pairs", "pairs_right"),
            "divide by the number of pairs",
        ),
    ),
    *mistakes(
        "ablation",
        OURS,
        ("returns falls", ("- whole\n", "\n        rises = whole - rises\n"), "a rise is positive"),
        ("does not divide by the root", (" / math.sqrt(len(seeds))", ""), "divide by the root"),
        ("divides by the number of seeds", ("math.sqrt(len(seeds))", "len(seeds)"), "the *root*"),
        ("divides by n in the deviation", ("ddof=1", "ddof=0"), "n - 1, not n"),
        (
            "compares two groups",
            (
                "rises.std(ddof=1)",
                "math.sqrt(whole.var(ddof=1) + (rises + whole).var(ddof=1))",
            ),
            "seed by seed",
        ),
        ("returns the losses", ("- whole\n", "\n"), "the rise, not the loss"),
        (
            "returns the variance",
            ("rises.std(ddof=1) / math.sqrt(len(seeds))", "rises.var(ddof=1) / len(seeds)"),
            "a root is missing",
        ),
        (
            "takes the whole recipe's first seed",
            ("for seed in seeds])\n    found", "for seed in seeds[:1]])\n    found"),
            "train the whole recipe, too, with each seed",
        ),
        (
            "trains the whole recipe again for each part",
            (
                "    for part in parts:\n",
                "    for part in parts:\n"
                "        whole = np.array([loss(everything, seed) for seed in seeds])\n",
            ),
            "models, where",
        ),
        (
            "leaves parts out one after the other",
            (
                "        rises =",
                "        everything = everything - {part}\n        rises =",
            ),
            ("loss(everything - {part}, seed)", "loss(everything, seed)"),
            "leave out one part at a time",
        ),
        (
            "keeps only one part",
            ("loss(everything - {part}, seed)", "loss(frozenset([part]), seed)"),
            "leave one part out and keep the others",
        ),
        (
            "returns only the means",
            (", float(rises.std(ddof=1) / math.sqrt(len(seeds)))", ""),
            "two numbers",
        ),
        (
            "returns a list",
            ("    return found", "    return list(found.values())"),
            "a dictionary with the parts as keys",
        ),
        (
            "reads three seeds",
            (
                "    everything =",
                "    seeds = seeds[:3]\n    everything =",
            ),
            "",
        ),
    ),
    *mistakes(
        "predict-parts",
        OURS,
        ("returns nothing", ('return "way down", "warm-up"', "pass"), "returned None"),
        ("returns one name", ('return "way down", "warm-up"', 'return "warm-up"'), "two of"),
        ("returns another name", ('"warm-up"', '"dropout"'), "two of warm-up, way down, clipping"),
        ("returns three", ('"warm-up"', '"warm-up", "clipping"'), "two of"),
    ),
]

OTHER_WAYS = [
    right(
        "kept-lengths",
        "by a loop",
        """
        def kept_lengths(a_length, b_length, room):
            while a_length + b_length > room:
                if a_length > b_length:
                    a_length -= 1
                else:
                    b_length -= 1
            return a_length, b_length
        """,
    ),
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
    right(
        "lay-out",
        "by lists",
        """
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
        """,
    ),
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
        "lay-out",
        "the draft, repaired",
        """
        def lay_out(segments, length, cls_id, sep_id, pad_id):
            rows = [torch.tensor([cls_id, *a, sep_id, *b, sep_id]) for a, b in segments]
            ids = nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=pad_id)
            ids = F.pad(ids, (0, length - ids.shape[1]), value=pad_id)
            ends = (ids == sep_id).long()
            attention_mask = ids != pad_id
            return ids, (ends.cumsum(dim=1) - ends) * attention_mask, attention_mask
        """,
    ),
    right(
        "examine-lay-out",
        "with rows made by a loop",
        """
        def examine_lay_out(function):
            segments = [([6], [1, 2, 6]), ([1, 2, 3], [6, 6])]
            length, pad = 9, 5
            parts = function(segments, length, 7, 8, pad)
            for part in parts:
                assert part.shape == (len(segments), length)
            for row, (a, b) in enumerate(segments):
                rest = length - len(a) - len(b) - 3
                ids, kinds, mask = (part[row].tolist() for part in parts)
                assert ids == [7, *a, 8, *b, 8] + [pad] * rest
                assert kinds == [0] * (len(a) + 2) + [1] * (len(b) + 1) + [0] * rest
                assert mask == [True] * (length - rest) + [False] * rest
        """,
    ),
    right(
        "plateau-schedule",
        "by cases",
        """
        def plateau_schedule(step, steps, warmup, decay):
            if step > steps - decay:
                down = (steps - step + 1) / decay
                return min(down, step / warmup) if step <= warmup else down
            if step <= warmup:
                return step / warmup
            return 1.0
        """,
    ),
    right(
        "accumulate-gradients",
        "as ours, in another order",
        """
        def accumulate_gradients(model, pieces, n_words, n_pairs):
            total = 0.0
            for piece in pieces:
                output = model(piece.ids, piece.segment_ids, piece.attention_mask, piece.predict)
                words = F.cross_entropy(output.mlm_logits, piece.words, reduction="sum") / n_words
                pairs = (
                    F.cross_entropy(output.nsp_logits, piece.next_sentence, reduction="sum")
                    / n_pairs
                )
                loss = words + pairs
                loss.backward()
                total += loss.item()
            return total
        """,
    ),
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
        """
        def training_step(model, optimizer, pieces, learning_rate, clip):
            n_words = max(1, sum(len(piece.words) for piece in pieces))
            n_pairs = sum(len(piece.next_sentence) for piece in pieces)
            optimizer.zero_grad()
            for group in optimizer.param_groups:
                group["lr"] = learning_rate
            loss = accumulate_gradients(model, pieces, n_words, n_pairs)
            nn.utils.clip_grad_norm_(model.parameters(), clip)
            for group in optimizer.param_groups:
                group["lr"] = learning_rate
            optimizer.step()
            model.zero_grad()
            return loss
        """,
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
    right(
        "ablation",
        "with the standard library",
        """
        import statistics

        def ablation(loss, parts, seeds):
            found = {}
            whole = {seed: loss(frozenset(parts), seed) for seed in seeds}
            for part in parts:
                rest = frozenset(p for p in parts if p != part)
                rises = [loss(rest, seed) - whole[seed] for seed in seeds]
                error = statistics.stdev(rises) / len(rises) ** 0.5
                found[part] = (statistics.fmean(rises), error)
            return found
        """,
    ),
    right(
        "ablation",
        "with a table of all losses",
        """
        def ablation(loss, parts, seeds):
            recipes = [frozenset(parts), *(frozenset(parts) - {part} for part in parts)]
            rows = [[loss(recipe, seed) for seed in seeds] for recipe in recipes]
            table = torch.tensor(rows, dtype=torch.float64)
            rises = table[1:] - table[:1]
            errors = rises.var(dim=1).div(len(seeds)).sqrt()
            return dict(zip(parts, zip(rises.mean(dim=1).tolist(), errors.tolist())))
        """,
    ),
    right(
        "predict-parts",
        "the other way round",
        """
        def predict_parts():
            return "clipping", "clipping"
        """,
    ),
]

# Ours except for names or a line: mistakes are changes of these. They are not another way.
NEAR_OURS = [
    right(
        "evaluate",
        "as ours, with a shorter name",
        """
        def evaluate(model, batches):
            was_training = model.training
            model.eval()
            nats, right, pairs_right, n_words, n_pairs = 0.0, 0, 0, 0, 0
            with torch.no_grad():
                for batch in batches:
                    output = model(
                        batch.ids, batch.segment_ids, batch.attention_mask, batch.predict
                    )
                    nats += F.cross_entropy(output.mlm_logits, batch.words, reduction="sum").item()
                    right += (output.mlm_logits.argmax(dim=1) == batch.words).sum().item()
                    pairs_right += (
                        (output.nsp_logits.argmax(dim=1) == batch.next_sentence).sum().item()
                    )
                    n_words += len(batch.words)
                    n_pairs += len(batch.next_sentence)
            model.train(was_training)
            return nats / n_words, right / n_words, pairs_right / n_pairs
        """,
    ),
]
