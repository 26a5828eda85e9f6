"""Our models and their peers, side by side in one run.

    python -m benchmarks.bench_model                    print the tables
    python -m benchmarks.bench_model --quick            one turn of everything: a trial
    python -m benchmarks.bench_model --sizes tiny       some of the sizes
    python -m benchmarks.bench_model --write            fill in benchmarks/README.md

Contestants take turns, so noise of the machine hits all of them; each turn is a new process. First
who meets whom; then the jobs, which prepare everything. All contestants start from the weights of
`BertForPreTraining(config)`, see the same batch and train with the same AdamW.
"""

import argparse
import ctypes
import gc
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from benchmarks import turns
from benchmarks.turns import Comparison, Entry, Turns
from bertlab.model import Bert, BertConfig, BertForPreTraining, save_pretrained

PACKAGES = ("torch", "transformers")
LENGTH = 128  # tokens in a sequence
CORES = 2
SQUARE = 2048  # rows and columns of the matrices that show the machine's limit
LIMIT = Entry("matrix product", "matmul", cores=CORES, calls=10)
LAPS = ("forward", "forward, padded", "training step", "training step, padded")
# glibc asks the system again for every large tensor, and each of its pages is zeroed and mapped.
KEEP_MEMORY = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(2**33)}
# What a program can choose for any model.
BEST = {"fused": True, "dropout": 0.0, "environment": KEEP_MEMORY}
BOTH_AT_BEST = "both: fused AdamW, freed memory kept, dropout 0"


@dataclass(frozen=True)
class Size:
    """A published size of BERT, and how much of it is measured.

    goal: how many times as fast as `transformers` a pre-training step is to be; turns: of each
    contestant; calls: steps in a turn, after one that does not count (short ones are repeated).
    """

    name: str
    sequences: int
    goal: float
    encoder_sequences: int
    turns: int = 3
    calls: int = 3

    def __str__(self) -> str:
        return f"{self.name}, {self.sequences} × {LENGTH} tokens"


SIZES = {
    "tiny": Size("tiny", 32, 5, encoder_sequences=32),
    "mini": Size("mini", 32, 3, encoder_sequences=16, calls=1),
    "base": Size("base", 8, 1.2, encoder_sequences=2, turns=2, calls=1),
}


class Rung(NamedTuple):
    """A step of the ladder; everywhere: it scores words at all positions, not only masked ones.

    missing: why it cannot be measured here, if so.
    """

    label: str
    entry: Entry
    everywhere: bool = False
    missing: str = ""


class Ladder(NamedTuple):
    """The pre-training step of one size: its rungs and their turns, none if not measured."""

    size: Size
    rungs: list[Rung]
    turns: list[Turns]
    limit: float  # floating-point operations per second, in a product of large matrices

    def of(self, entry: Entry) -> Turns:
        """The turns of a contestant."""
        return self.turns[[rung.entry for rung in self.rungs].index(entry)]


def contestant(name: str, job: str, size: Size, environment: Any = (), **options: Any) -> Entry:
    """A contestant with the batch of its size."""
    options = {"size": size.name, "sequences": size.sequences, **options}
    package = "transformers" if "transformers" in name else "bertlab"
    return Entry(name, job, options, package, CORES, size.calls, dict(environment))


def theirs(size: Size, **options: Any) -> Entry:
    return contestant("transformers, sdpa", "pretraining_transformers", size, **options)


def ours(size: Size, **options: Any) -> Entry:
    return contestant("BertForPreTraining", "pretraining_ours", size, **options)


def encoders(size: Size) -> list[Comparison]:
    """The bare encoder, lap by lap; never slower than `transformers` is the goal."""
    names = ("Bert", "transformers, sdpa", "transformers, eager", "nn.TransformerEncoder")
    mine, sdpa, eager, torchs = (contestant(name, "encoder", size, who=name) for name in names)
    return [
        Comparison(mine, peer, goal, lap)
        for lap in range(len(LAPS))
        for peer, goal in ((sdpa, 1), (eager, None), (torchs, None))
    ]


def ladder(size: Size, cache: str) -> list[Rung]:
    """From `transformers` to the fastest step that we know; each rung keeps those above it.

    cache: a folder for what `torch.compile` makes, so that only its first turn waits for it.
    """
    rungs = [
        Rung("transformers, sdpa", theirs(size), everywhere=True),
        Rung("ours, words at every position", ours(size, everywhere=True), everywhere=True),
        Rung("words at the masked positions only", ours(size)),
        Rung("`AdamW(fused=True)`", ours(size, fused=True)),
    ]
    if size.name != "base":
        kept = ours(size, fused=True, environment=KEEP_MEMORY)
        rungs.append(Rung("freed memory kept", kept))
    if size.name != "tiny":
        return rungs
    variables = {"TORCHINDUCTOR_CACHE_DIR": cache, **KEEP_MEMORY}
    compiled = {**BEST, "compiled": True, "environment": variables}
    no_compiler = "" if find_compiler() else "no C++ compiler"
    no_bfloat16 = "" if has_bfloat16() else "the processor has no bfloat16 instructions"
    bfloat16, best = ours(size, **compiled, bfloat16=True), theirs(size, **BEST)
    return [
        *rungs,
        Rung("dropout 0", ours(size, **BEST)),
        Rung("`torch.compile`", ours(size, **compiled), missing=no_compiler),
        Rung("autocast to bfloat16", bfloat16, missing=no_compiler or no_bfloat16),
        Rung(BOTH_AT_BEST.replace("both", "`transformers`"), best, everywhere=True),
    ]


def find_compiler() -> bool:
    """Whether `torch.compile` finds what it needs."""
    return any(map(shutil.which, ("c++", "g++", "clang++")))


def has_bfloat16() -> bool:
    """Whether the processor multiplies bfloat16 itself; emulated, a step takes far longer."""
    facts = Path("/proc/cpuinfo")
    told = facts.read_text(encoding="utf-8") if facts.exists() else ""
    return any(flag in told for flag in ("avx512_bf16", "amx_bf16"))


def climb(size: Size, cache: str) -> Ladder:
    """Measure all rungs, and what the machine can do at most."""
    rungs = ladder(size, cache)
    entries = [rung.entry for rung in rungs if not rung.missing]
    *taken, products = turns.take_turns([*entries, LIMIT], size.turns, take)
    measured = iter(taken)
    taken = [[] if rung.missing else next(measured) for rung in rungs]
    return Ladder(size, rungs, taken, 2 * SQUARE**3 / median(lap_seconds(products)))


def take(entry: Entry) -> dict[str, Any]:
    turns.note(f"    {entry.name} {entry.options}")
    return turns.take("bench_model", entry, calls=entry.calls)


def row(title: str, comparison: Comparison, mine: Turns, its: Turns) -> list[str]:
    """A row of a table; the run stops if the results differ."""
    result = turns.difference(mine, its) if its else ""
    return turns.peers_row(title, comparison, mine, its, result, turns.milliseconds)


def encoder_table(size: Size) -> str:
    """The bare encoder against its peers."""
    size = replace(size, sequences=size.encoder_sequences)
    compared = turns.compare(encoders(size), size.turns, take)
    rows = [row(LAPS[own[0].call], *own) for own in compared]
    return turns.peers_table(f"The encoder, {size}", rows, "milliseconds")


def pretraining_table(ladders: list[Ladder]) -> str:
    """The goal, with PyTorch's defaults on both sides; at tiny also with both at their best."""
    rows = []
    for own in ladders:
        pairs = [(own.size.name, {}, own.size.goal)]
        if own.size.name == "tiny":
            pairs.append((f"tiny, {BOTH_AT_BEST}", BEST, None))
        for title, options, goal in pairs:
            comparison = Comparison(ours(own.size, **options), theirs(own.size, **options), goal)
            rows.append(row(title, comparison, *map(own.of, comparison[:2])))
    return turns.peers_table("The pre-training step", rows, "milliseconds")


def memory_table(ladders: list[Ladder]) -> str:
    """Megabytes of a pre-training step, both with PyTorch's defaults."""
    rows = [
        [str(own.size), entry.name, *memory(own.of(entry))]
        for own in ladders
        for entry in (ours(own.size), theirs(own.size))
    ]
    head = ["what", "who", "MB before", "MB at most", "difference"]
    return turns.table("Memory of the pre-training step", head, rows)


def memory(taken: Turns) -> list[str]:
    """Megabytes before the first step, at most from then on, and their difference."""
    if not taken or taken[0]["loaded_mb"] is None:
        return ["not measured"] * 3
    both = [(turn["loaded_mb"], turn["peak_mb"]) for turn in taken]
    columns = (*zip(*both, strict=True), [peak - loaded for loaded, peak in both])
    return [f"{median(column):,.0f}" for column in columns]


def ladder_table(own: Ladder) -> str:
    """What each change brings."""
    rows, first, before = [], own.turns[0], own.turns[0]
    for rung, taken in zip(own.rungs, own.turns, strict=True):
        if not taken:
            rows.append([rung.label, f"not measured: {rung.missing or 'not installed'}", *[""] * 4])
            continue
        seconds, tokens = lap_seconds(taken), own.size.sequences * LENGTH
        predicted = tokens if rung.everywhere else predicted_tokens(tokens)
        flops = step_flops(config_of(own.size.name), own.size.sequences, LENGTH, predicted)
        gains = [
            turns.times_as_fast(median(lap_seconds(other)) / median(seconds))
            if other and other is not taken
            else ""
            for other in (before, first)
        ]
        share = f"{flops / median(seconds) / own.limit:.0%}"
        rows.append([rung.label, turns.milliseconds(seconds), *gains, share, memory(taken)[-1]])
        before = taken
    head = ["step", "milliseconds", "than before", "than `transformers`", "of the limit", "MB more"]
    return turns.table(f"What makes it fast, {own.size}", head, rows)


def lap_seconds(taken: Turns) -> list[float]:
    return [answer["seconds"][0] for answer in taken]


def tables(sizes: list[Size], cache: str) -> Iterator[str]:
    """Run everything, and yield the tables."""
    ladders = []
    for size in sizes:
        turns.note(str(size))
        yield encoder_table(size)
        ladders.append(climb(size, cache))
    yield pretraining_table(ladders)
    yield memory_table(ladders)
    yield from map(ladder_table, ladders)


def step_flops(config: BertConfig, sequences: int, length: int, predicted: int) -> int:
    """The matrix products of a pre-training step, which are nearly all of its arithmetic.

    A product of [n, k] and [k, m] takes 2 n k m. A layer multiplies each token with 4 matrices
    [D, D] and 2 of [D, d_ff], and in each sequence [L, D] with [D, L] for the scores and [L, L]
    with [L, D] for the weighted means; words are scored at `predicted` positions. Backward takes
    every product twice: for the gradient of each of its two factors.
    """
    D = config.d_model
    matrices = 2 * sequences * length * (4 * D * D + 2 * D * config.d_ff)
    attention = 2 * sequences * (2 * length * length * D)
    encoder = config.n_layers * (matrices + attention) + 2 * sequences * D * D
    words = 2 * predicted * (D * D + D * config.vocab_size)
    next_sentence = 2 * sequences * D * 2
    return 3 * (encoder + words + next_sentence)


# Jobs

SHORT = 3.0  # seconds that the calls of one lap may take together, if one call is short
MOST = 40  # calls of one lap
Laps = tuple[list[Callable[[], Any]], list[float]]  # what is timed; numbers to compare


def measure(job: Callable[..., Laps], options: dict[str, Any], calls: int) -> dict[str, Any]:
    """Each lap: once to warm up, then `calls` times, or more often if it is short."""
    from bertlab.training.fast import keep_freed_memory

    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    keep_freed_memory()  # everybody's, as our trainings ask for it
    laps, numbers = job(**options)
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc has it
    if trim:
        trim(0)  # freed memory goes back, or what loading left behind would pass for the model
    loaded = resident("VmRSS")
    if loaded is not None:
        Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")  # forget the peak until now
    seconds, cpu = [], []
    for lap in laps:
        warm, *_ = turns.clock(lap)
        clocked = [turns.clock(lap) for _ in range(max(calls, min(MOST, int(SHORT / warm))))]
        seconds.append(median(wall for wall, *_ in clocked))
        cpu.append(median(processor for _, processor, _ in clocked))
    found = {"seconds": seconds, "cpu": cpu, "numbers": numbers}
    return found | {"loaded_mb": loaded, "peak_mb": resident("VmHWM") if loaded else None}


def resident(which: str) -> float | None:
    """Megabytes of memory that the process holds, or with "VmHWM" held at most; Linux tells."""
    status = Path("/proc/self/status")
    if not status.exists():
        return None
    facts = dict(line.split(":", 1) for line in status.read_text(encoding="utf-8").splitlines())
    return int(facts[which].split()[0]) / 1024


class Batch(NamedTuple):
    """Random tokens in the shapes of pre-training."""

    ids: Tensor  # [B, L]
    segment_ids: Tensor  # [B, L], the second half of each sequence is sentence B
    mask: Tensor  # [B, L], boolean; a quarter of all tokens is padding
    predict: Tensor  # [B, L], boolean; 15 % of the positions
    words: Tensor  # [B, L], what stood there
    next_sentence: Tensor  # [B]


def make_batch(sequences: int, length: int = LENGTH, vocab_size: int = 30_522) -> Batch:
    """The same batch every time."""
    draw = torch.Generator().manual_seed(0)
    shape = (sequences, length)
    predict = torch.zeros(sequences * length, dtype=torch.bool)
    chosen = torch.randperm(sequences * length, generator=draw)
    predict[chosen[: predicted_tokens(sequences * length)]] = True
    lengths = torch.linspace(length, length / 2, sequences).long()
    return Batch(
        ids=torch.randint(vocab_size, shape, generator=draw),
        segment_ids=(torch.arange(length) >= length // 2).long().repeat(sequences, 1),
        mask=torch.arange(length) < lengths[:, None],
        predict=predict.view(shape),
        words=torch.randint(vocab_size, shape, generator=draw),
        next_sentence=torch.randint(2, (sequences,), generator=draw),
    )


def predicted_tokens(tokens: int) -> int:
    return round(0.15 * tokens)


def adamw(model: nn.Module, fused: bool | None = None) -> torch.optim.Optimizer:
    """The optimiser of every contestant; None is PyTorch's own choice, which here is False."""
    return torch.optim.AdamW(model.parameters(), lr=1e-4, fused=fused)


def training_step(optimizer: torch.optim.Optimizer, loss: Callable[[], Tensor]) -> None:
    """Forward, backward, update."""
    loss().backward()
    optimizer.step()
    optimizer.zero_grad()


def config_of(size: str, dropout: float = 0.1) -> BertConfig:
    return getattr(BertConfig, size)(dropout=dropout)


def transformers_model(kind: str, config: BertConfig, attention: str) -> Any:
    """A model of `transformers` with the weights of `BertForPreTraining(config)`."""
    import transformers

    transformers.logging.set_verbosity_error()
    with TemporaryDirectory() as folder:
        save_pretrained(BertForPreTraining(config), folder)
        return getattr(transformers, kind).from_pretrained(folder, attn_implementation=attention)


def matmul() -> Laps:
    """The limit: a product of two square matrices, as large as the processor likes them."""
    a = torch.randn(SQUARE, SQUARE, generator=torch.Generator().manual_seed(0))
    return [lambda: a @ a], []


def encoder(who: str, size: str, sequences: int) -> Laps:
    """Forward and training step, each without and with padding: `LAPS`."""
    config, batch = config_of(size), make_batch(sequences)
    names = ("ids", "segment_ids", "attention_mask")
    if who == "Bert":
        model = Bert(config)
    elif who == "nn.TransformerEncoder":
        model = TorchEncoder(config)
    else:
        model = transformers_model("BertModel", config, attention=who.split()[-1])
        names = ("input_ids", "token_type_ids", "attention_mask")
    target = torch.randn(config.d_model, generator=torch.Generator().manual_seed(1))
    optimizer = adamw(model)

    def encode(mask: Tensor | None) -> Tensor:
        given = zip(names, (batch.ids, batch.segment_ids, mask), strict=True)
        return model(**dict(given)).last_hidden_state  # [B, L, D]

    def forward(mask: Tensor | None) -> Tensor:
        model.eval()
        with torch.no_grad():
            return encode(mask)

    def step(mask: Tensor | None) -> None:
        model.train()
        training_step(optimizer, lambda: (encode(mask) * target).mean())

    masks = (None, batch.mask)
    first = [forward(mask)[-1, :8, :4].flatten() for mask in masks]  # not padding
    laps = [partial(lap, mask) for lap in (forward, step) for mask in masks]
    return laps, torch.cat(first).tolist()


class TorchEncoder(nn.Module):
    """A BERT with PyTorch's own encoder; it has `Bert(config)`'s weights."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        sizes = config.d_model, config.n_heads, config.d_ff, config.dropout
        layer = nn.TransformerEncoderLayer(
            *sizes, "gelu", layer_norm_eps=config.layer_norm_eps, batch_first=True
        )
        self.layers = nn.TransformerEncoder(layer, config.n_layers)
        ours = Bert(config)
        self.embeddings, self.pooler = ours.embeddings, ours.pooler
        for theirs, mine in zip(self.layers.layers, ours.layers, strict=True):
            theirs.dropout.p = 0.0  # inside the feed-forward network, where BERT has none
            copy(mine.attention.query_key_value, theirs.self_attn, "in_proj_")
            copy(mine.attention.output, theirs.self_attn.out_proj)
            copy(mine.feed_forward.expand, theirs.linear1)
            copy(mine.feed_forward.contract, theirs.linear2)

    def forward(
        self, ids: Tensor, segment_ids: Tensor, attention_mask: Tensor | None
    ) -> SimpleNamespace:
        """As in BERT, the pooler runs too."""
        padding = None if attention_mask is None else ~attention_mask
        hidden = self.layers(self.embeddings(ids, segment_ids), src_key_padding_mask=padding)
        self.pooler(hidden[:, 0]).tanh()
        return SimpleNamespace(last_hidden_state=hidden)


def copy(ours: nn.Linear, theirs: nn.Module, prefix: str = "") -> None:
    """Give PyTorch's layer our numbers; the norms are ones and zeros on both sides."""
    with torch.no_grad():
        getattr(theirs, f"{prefix}weight").copy_(ours.weight)
        getattr(theirs, f"{prefix}bias").copy_(ours.bias)


def pretraining_lap(
    model: nn.Module,
    loss: Callable[[Batch], Tensor],
    batch: Batch,
    fused: bool | None,
    compiled: bool = False,
) -> Laps:
    """One step; what is compared is the loss before it, of two sequences, without dropout."""
    model.eval()
    with torch.no_grad():
        first = loss(Batch(*(part[:2] for part in batch))).item()
    model.train()
    if compiled:
        model.compile()
    optimizer = adamw(model, fused)
    return [lambda: training_step(optimizer, lambda: loss(batch))], [first]


def pretraining_ours(
    size: str,
    sequences: int,
    everywhere: bool = False,
    fused: bool | None = None,
    dropout: float = 0.1,
    compiled: bool = False,
    bfloat16: bool = False,
) -> Laps:
    """`BertForPreTraining`; everywhere: logits at every position, as `transformers` does it."""
    model = BertForPreTraining(config_of(size, dropout))

    def loss(batch: Batch) -> Tensor:
        with torch.autocast("cpu", torch.bfloat16, enabled=bfloat16):
            if everywhere:
                predict, words = None, torch.where(batch.predict, batch.words, -100).flatten()
            else:
                predict, words = batch.predict, batch.words[batch.predict]
            output = model(batch.ids, batch.segment_ids, predict=predict)
            mlm = F.cross_entropy(output.mlm_logits.flatten(0, -2), words)
            return mlm + F.cross_entropy(output.nsp_logits, batch.next_sentence)

    return pretraining_lap(model, loss, make_batch(sequences), fused, compiled)


def pretraining_transformers(
    size: str, sequences: int, fused: bool | None = None, dropout: float = 0.1
) -> Laps:
    """`transformers`' `BertForPreTraining`, which adds both losses up itself."""
    model = transformers_model("BertForPreTraining", config_of(size, dropout), "sdpa")

    def loss(batch: Batch) -> Tensor:
        return model(
            input_ids=batch.ids,
            token_type_ids=batch.segment_ids,
            labels=torch.where(batch.predict, batch.words, -100),
            next_sentence_label=batch.next_sentence,
        ).loss

    return pretraining_lap(model, loss, make_batch(sequences), fused)


def main() -> None:
    """Read the command line, run, print, and write if asked to."""
    parser = argparse.ArgumentParser(description="Our models and their peers.")
    parser.add_argument("--quick", action="store_true", help="one turn, one step: a trial")
    parser.add_argument("--sizes", nargs="+", choices=SIZES, default=[*SIZES], help="some of them")
    parser.add_argument("--turns", type=int, help="of every contestant; otherwise 3, at base 2")
    args = turns.read_options(parser, "quick", "sizes")
    sizes = [SIZES[name] for name in args.sizes]
    if args.turns:
        sizes = [replace(size, turns=args.turns) for size in sizes]
    if args.quick:
        sizes = [replace(size, turns=1, calls=1) for size in sizes]
    each = ", ".join(f"{size.turns} at {size.name}" for size in sizes)
    what = f"Milliseconds: median of the turns (smallest–largest), {each}."
    with TemporaryDirectory() as cache:
        turns.publish("model" if args.write else None, PACKAGES, what, tables(sizes, cache))


if __name__ == "__main__":
    main()
