"""Our model, trained as `python -m bertlab pretrain` does it."""

from collections.abc import Iterator
from itertools import chain, takewhile
from time import perf_counter

from benchmarks.learners import CLIP, LENGTH, Learner, Setting, Shape, corpus_of
from bertlab.model import BertForPreTraining, load_pretrained
from bertlab.pretraining.batches import Batch, PretrainingData, ShortFirst
from bertlab.training.fast import InBfloat16, keep_freed_memory
from bertlab.training.steps import adamw, training_step


def ours(
    setting: Setting,
    precision: str = "float32",
    compiled: bool = False,
    short_seconds: float = 0,
) -> Learner:
    """`BertForPreTraining`; precision, compiled: as in `TrainingConfig`.

    short_seconds: how long it reads short sequences, from the first batch on.
    """
    corpus = corpus_of(setting.folder)
    data = PretrainingData(
        corpus.training,
        corpus.tokenizer,
        max_length=LENGTH,
        batch_size=setting.sequences,
        seed=setting.seed,
    )
    keep_freed_memory()  # as every training of ours
    model = load_pretrained(setting.weights, BertForPreTraining).to(setting.device).train()
    optimizer = adamw(model, setting.rate)
    if compiled:
        model.compile()
    precise = InBfloat16(model) if precision == "bfloat16" else model

    def step(batch: Batch) -> None:
        batch = batch.to(setting.device)
        training_step(precise, optimizer, batch, clip=CLIP)

    def shape(batch: Batch) -> Shape:
        return Shape(*batch.ids.shape, int(batch.attention_mask.sum()), len(batch.words))

    batches = (batch for _, batch in data.batches())
    if short_seconds:
        batches = chain(short_batches(data, short_seconds), batches)
    return Learner(model, optimizer, batches, step, shape, scorer=lambda model: model)


def short_batches(data: PretrainingData, seconds: float) -> Iterator[Batch]:
    """The first ones of `ShortFirst`, which counts steps, by the clock instead."""
    end = perf_counter() + seconds
    every = (batch for _, batch in ShortFirst(data, steps=1).short.batches())
    return takewhile(lambda _: perf_counter() < end, every)
