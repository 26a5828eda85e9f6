"""Our model, trained as `python -m bertlab pretrain` does it."""

from benchmarks.learners import CLIP, LENGTH, Learner, Setting, Shape, corpus_of
from bertlab.model import BertForPreTraining, load_pretrained
from bertlab.pretraining.batches import Batch, PretrainingData
from bertlab.training.optimizers import adamw
from bertlab.training.steps import training_step


def ours(setting: Setting, precision: str = "float32", compiled: bool = False) -> Learner:
    """`BertForPreTraining`; precision, compiled: as in `TrainingConfig`."""
    corpus = corpus_of(setting.folder)
    data = PretrainingData(
        corpus.training, corpus.tokenizer, max_length=LENGTH, batch_size=setting.sequences
    )
    model = load_pretrained(setting.weights, BertForPreTraining).to(setting.device).train()
    optimizer = adamw(model, setting.rate)
    if compiled:
        model.compile()

    def step(batch: Batch) -> None:
        batch = batch.to(setting.device)
        training_step(model, optimizer, batch, clip=CLIP, precision=precision)

    def shape(batch: Batch) -> Shape:
        return Shape(*batch.ids.shape, int(batch.attention_mask.sum()), len(batch.words))

    batches = (batch for _, batch in data.batches())
    return Learner(model, optimizer, batches, step, shape, scorer=lambda model: model)
