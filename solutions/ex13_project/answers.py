"""Exercise 13, the project: wrong entries, and our two other reference entries."""

from course.answers import OURS, mistakes, right

WRONG = [
    *mistakes(
        "entry",
        OURS,
        (
            "returns the objects",
            ("hand_over(model, tokenizer, clock)", "model, tokenizer"),
            "an entry returns what `hand_over(model, tokenizer, clock)` gives; got tuple",
        ),
        (
            "continues after the time is over",
            ("used > 0.97", "used > 1.6"),
            "of its processor time",
        ),
        (
            "expects a full vocabulary",
            ("vocab_size=len(tokenizer.vocab)", "vocab_size=16000"),
            "raised RuntimeError",
        ),
        (
            "passes the objects in another order",
            ("hand_over(model, tokenizer, clock)", "hand_over(tokenizer, model, clock)"),
            "needs a BertForPreTraining, a WordPiece and the clock",
        ),
        (
            "reads sequences longer than its positions",
            ("max_length=128, dropout", "max_length=64, dropout"),
            "raised ValueError",
        ),
        (
            "diverges",
            ("    return hand", "    model.mlm_head.bias.data /= 0\n    return hand"),
            "weights that are not finite",
        ),
        ("omits the seed", ("sizes), seed)", "sizes), 0)"), ("seed=seed", "seed=0"), ""),
        ("does not train", ("used > 0.97", "used > 0"), ""),
    ),
    *mistakes(
        "predict-bits",
        OURS,
        ("in words", ("return 2.9", 'return "less"'), "a prediction is a number"),
        ("none", ("return 2.9", "pass"), "a prediction is a number"),
        ("below 0", ("return 2.9", "return -0.2"), "must be above 0"),
        ("not a number", ("return 2.9", 'return float("nan")'), "must be above 0"),
        ("bits of a word", ("return 2.9", "return 14.5"), ""),
    ),
]

OTHER_WAYS = [
    right(
        "entry",
        "with planted heads",
        """
        from bertlab.training.start import neighbours_start


        def entry(texts, seed, seconds):
            clock = Clock(seconds)
            sentences = (sentence for document in texts for sentence in document)
            tokenizer = WordPiece.train(sentences, 16000, min_frequency=2)
            sizes = BertConfig.tiny(vocab_size=len(tokenizer.vocab), max_length=64, dropout=0.0)
            model = neighbours_start(BertForPreTraining(sizes), seed).train()
            optimizer = adamw(model, learning_rate=0.003)
            with TemporaryDirectory() as folder:
                store = write_tokens(texts, tokenizer, folder)
                counts = np.bincount(store.ids, minlength=len(tokenizer.vocab)) + 0.1
                model.mlm_head.bias.data = torch.tensor(counts / counts.sum()).log().float()
                data = PretrainingData(store, tokenizer, max_length=64, batch_size=32, seed=seed)
                for _, batch in data.batches():
                    used = clock.used()
                    if used > 0.97:
                        break
                    rate = 0.003 * min(used / 0.1, (1 - used) / 0.9)
                    training_step(model, optimizer, batch, rate=rate)
            return hand_over(model, tokenizer, clock)
        """,
    ),
    right(
        "entry",
        "only words, 40 % of them",
        """
        from bertlab.pretraining.losses import mlm_loss
        from bertlab.pretraining.masking import Masking
        from bertlab.training.start import neighbours_start
        from bertlab.training.steps import forward, update


        def entry(texts, seed, seconds):
            clock = Clock(seconds)
            sentences = (sentence for document in texts for sentence in document)
            tokenizer = WordPiece.train(sentences, 16000, min_frequency=2)
            sizes = BertConfig.tiny(vocab_size=len(tokenizer.vocab), max_length=64, dropout=0.0)
            model = neighbours_start(BertForPreTraining(sizes), seed).train()
            optimizer = adamw(model, learning_rate=0.003)
            with TemporaryDirectory() as folder:
                store = write_tokens(texts, tokenizer, folder)
                counts = np.bincount(store.ids, minlength=len(tokenizer.vocab)) + 0.1
                model.mlm_head.bias.data = torch.tensor(counts / counts.sum()).log().float()
                masking = Masking.of(tokenizer, 0.4)
                data = PretrainingData(
                    store, tokenizer, max_length=64, batch_size=32, masking=masking, seed=seed
                )
                for step, (_, batch) in enumerate(data.batches()):
                    used = clock.used()
                    if used > 0.97:
                        break
                    rate = 0.003 * min(used / 0.1, (1 - used) / 0.9)
                    loss = mlm_loss(forward(model, batch).mlm_logits, batch.words)
                    update(model, optimizer, loss, step, rate=rate, clip=1.0)
            return hand_over(model, tokenizer, clock)
        """,
    ),
    right(
        "predict-bits",
        "one that turns out wrong",
        """
        def predict_bits():
            return 2
        """,
    ),
]
