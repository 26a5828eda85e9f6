"""Which models are measured against which, and what the course set out to reach."""

import shutil
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.contests import Comparison, Contest, Entry

LENGTH = 128  # tokens in a sequence
CORES = 2
LIMIT = Entry("matrix product", "matmul", cores=CORES, calls=10)
LAPS = ("forward", "forward, padded", "training step", "training step, padded")
# glibc asks the system for every large tensor anew, and each of its pages is zeroed and mapped.
KEEP_MEMORY = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(2**33)}
# What a program can choose for any model.
BEST = {"fused": True, "dropout": 0.0, "environment": KEEP_MEMORY}


@dataclass(frozen=True)
class Size:
    """A published size of BERT, and how much of it is measured.

    goal: how many times as fast as `transformers` a pre-training step is to be; turns: of each
    contestant; calls: steps in a turn, after one that does not count (short ones are repeated).
    """

    name: str
    sequences: int
    goal: float
    encoder_sequences: int | None = None  # other than `sequences`, to save time
    turns: int = 3
    calls: int = 3


SIZES = {
    "tiny": Size("tiny", 32, 5),
    "mini": Size("mini", 32, 3, encoder_sequences=16, calls=1),
    "base": Size("base", 8, 1.2, encoder_sequences=2, turns=2, calls=1),
}


@dataclass(frozen=True)
class Rung:
    """A step of the ladder; everywhere: it scores words at all positions, not only masked ones.

    missing: why it cannot be measured here, if so.
    """

    label: str
    entry: Entry
    everywhere: bool = False
    missing: str = ""


def entry(name: str, job: str, size: Size, package: str = "bertlab", **options: object) -> Entry:
    """A contestant with the batch of its size."""
    environment = options.pop("environment", {})
    options = {"size": size.name, "sequences": size.sequences, "length": LENGTH, **options}
    return Entry(name, job, options, package, CORES, size.calls, environment)


def encoders(size: Size) -> Contest:
    """The bare encoder, lap by lap; never slower than `transformers` is the goal."""
    size = replace(size, sequences=size.encoder_sequences or size.sequences)
    ours = entry("Bert", "encoder_ours", size)
    sdpa, eager = (
        entry(f"transformers, {kind}", "encoder_transformers", size, "transformers", attention=kind)
        for kind in ("sdpa", "eager")
    )
    torch = entry("nn.TransformerEncoder", "encoder_torch", size)
    lines = [
        Comparison(ours, peer, goal, lap, "equal")
        for lap in range(len(LAPS))
        for peer, goal in ((sdpa, 1), (eager, None), (torch, None))
    ]
    return Contest(f"The encoder, {dimensions(size)}", size.name, tuple(lines))


def ladder(size: Size, cache: str) -> list[Rung]:
    """From `transformers` to the fastest step that we know; each rung keeps those above it.

    cache: a folder for what `torch.compile` makes, so that only its first turn waits for it.
    """
    kept = {"fused": True, "environment": KEEP_MEMORY}
    rungs = [
        Rung("transformers, sdpa", theirs(size), everywhere=True),
        Rung("ours, words at every position", ours(size, everywhere=True), everywhere=True),
        Rung("words at the masked positions only", ours(size)),
        Rung("`AdamW(fused=True)`", ours(size, fused=True)),
    ]
    if size.name != "base":
        rungs.append(Rung("freed memory kept", ours(size, **kept)))
    return rungs + further_rungs(size, cache) if size.name == "tiny" else rungs


def further_rungs(size: Size, cache: str) -> list[Rung]:
    """What takes long to prepare, needs more than PyTorch, or is for comparison only."""
    variables = {"TORCHINDUCTOR_CACHE_DIR": cache, **KEEP_MEMORY}
    compiled = {**BEST, "compiled": True, "environment": variables}
    no_compiler = "" if find_compiler() else "no C++ compiler"
    no_bfloat16 = "" if has_bfloat16() else "the processor has no bfloat16 instructions"
    bfloat16 = ours(size, **compiled, bfloat16=True)
    return [
        Rung("dropout 0", ours(size, **BEST)),
        Rung("`torch.compile`", ours(size, **compiled), missing=no_compiler),
        Rung("autocast to bfloat16", bfloat16, missing=no_compiler or no_bfloat16),
        Rung(
            "`transformers`: fused AdamW, freed memory kept, dropout 0",
            theirs(size, **BEST),
            everywhere=True,
        ),
    ]


def theirs(size: Size, **options: object) -> Entry:
    """`transformers`' model for pre-training."""
    return entry("transformers, sdpa", "pretraining_transformers", size, "transformers", **options)


def ours(size: Size, **options: object) -> Entry:
    """Our model for pre-training."""
    return entry("BertForPreTraining", "pretraining_ours", size, **options)


def find_compiler() -> bool:
    """Whether `torch.compile` finds what it needs."""
    return any(map(shutil.which, ("c++", "g++", "clang++")))


def has_bfloat16() -> bool:
    """Whether the processor multiplies bfloat16 itself; emulated, a step takes far longer."""
    facts = Path("/proc/cpuinfo")
    return facts.exists() and any(
        flag in facts.read_text(encoding="utf-8") for flag in ("avx512_bf16", "amx_bf16")
    )


def pretraining(size: Size) -> list[tuple[Comparison, str]]:
    """The goal, with PyTorch's defaults on both sides; at tiny also with both at their best."""
    defaults = Comparison(ours(size), theirs(size), size.goal, same="equal")
    if size.name != "tiny":
        return [(defaults, "")]
    both = Comparison(ours(size, **BEST), theirs(size, **BEST), same="equal")
    return [(defaults, ""), (both, ", both: fused AdamW, freed memory kept, dropout 0")]


def dimensions(size: Size) -> str:
    """How it reads in a heading.

    >>> dimensions(SIZES["tiny"])
    'tiny, 32 × 128 tokens'
    """
    return f"{size.name}, {size.sequences} × {LENGTH} tokens"
