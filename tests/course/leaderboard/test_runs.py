"""Hostile entries against the sandbox of the board: each gets its own score, or one line."""

import json
import resource

import pytest

from bertlab.data.corpora import documents
from course.experiments.labels import Example
from course.grading.assignments import load_assignment
from course.grading.memory import student_processes
from course.grading.sandbox import why_no_sandbox
from course.leaderboard import board, runs
from course.project.texts import ProjectTexts, cut
from course.settings import Limits
from tests.conftest import ROOT

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(why_no_sandbox()), reason=str(why_no_sandbox())),
]

LIMITS = Limits(memory_mb=512)
SECONDS = 20.0  # the budget: none of these entries should need it, and a busy machine may be slow
CANARY = "zebra xylophone quixotic"  # in the hidden text only
# A small honest entry; a row's line stands in place of CHANGE.
TINY = """
def tiny(texts, words=(), **sizes):
    tokenizer = WordPiece.train(texts[0], 300, special_tokens=words or PRESENT)
    sizes = {"d_model": 16, "n_layers": 1, "n_heads": 1, "d_ff": 32, "max_length": 64} | sizes
    config = BertConfig(vocab_size=len(tokenizer.vocab), **sizes)
    return plain_start(BertForPreTraining(config), 0), tokenizer

PRESENT = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]

def entry(texts, seed, seconds):
    clock = Clock(seconds)
    model, tokenizer = tiny(texts)
    CHANGE
    return hand_over(model, tokenizer, clock)
"""
SCORED = "scored"  # in place of a failure's text: exactly the honest entry's numbers
# What it does once it has a model, and the failure's text.
HOSTILE = {
    "it bends what scores it": (
        """
    import sys
    from course.project import entries, scoring
    from course.grading.inside import kernel
    free = {"bits_per_byte": 0.0, "probes": {}, "majority": {}, "parameters": 1, "bits": {}}
    for name in ("numbers", "score", "masked_bits", "opened"):
        for module in (scoring, entries):
            setattr(module, name, lambda *_: free)
    get_ipython().user_ns["_numbers"] = lambda *_: free
    kernel.Kernel._function = lambda self, name: lambda *_: free
    torch.isfinite = torch.nn.functional.cross_entropy = lambda *a, **k: torch.zeros(())
    for place in ("/tmp/work/math.py", "/tmp/torch.py", "/dev/shm/x", "/tmp/sitecustomize.py"):
        try:
            open(place, "w").write("raise SystemExit")
        except OSError:
            pass
    torch.isfinite = lambda weight: torch.ones(1)
""",
        SCORED,
    ),
    "it leaves daemons that wait for the hidden text": (
        """
    import os, signal, time
    for _ in range(3):
        if os.fork() == 0:
            os.setsid()
            for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGPROF):
                signal.signal(number, signal.SIG_IGN)
            if os.fork() == 0:
                while True:
                    time.sleep(0.01)
            os._exit(0)
""",
        SCORED,
    ),
    "it looks for the hidden text in its memory": (
        f"""
    import gc, sys
    sought = "".join(map(chr, {list(map(ord, CANARY))}))
    for item in gc.get_objects():
        parts = item.values() if type(item) is dict else item if type(item) is list else ()
        for part in list(parts):
            if type(part) is str and sought in part and part != sought:
                raise ValueError("found it")
""",
        SCORED,
    ),
    "it answers in place of the scoring": (
        """
    import os, socket
    from course.grading.inside.frames import Channel
    from course.grading.inside.values import Encoder
    encoder = Encoder({}, lambda value: 0)
    free = {"bits_per_byte": 0.0, "probes": {}, "majority": {}, "parameters": 1, "bits": {}}
    Channel(socket.socket(fileno=3)).send({"value": encoder.encode(free), "drawn": []})
    Channel(socket.socket(fileno=3)).send({"value": encoder.encode(free), "drawn": []})
    os._exit(0)
""",
        "an entry returns what",
    ),
    "300 layers": ("model, tokenizer = tiny(texts, n_layers=300)", "n_layers may be at most 12"),
    "no [MASK]": (
        "model, tokenizer = tiny(texts, ['[PAD]', '[UNK]', '[CLS]', '[SEP]', 'masked'])",
        "not scored: the vocabulary has no [MASK]",
    ),
    "weights too large to be multiplied": (
        "for weight in model.parameters(): weight.data.fill_(3e38)",
        "not scored: its score is not a finite number",
    ),
    "a file whose name is half a character": (
        "return {chr(0xd800): b''}",
        "gives; got ['\\ud800']",
    ),
    "an error of a million lines": (
        "raise ValueError('x\\n' * 10**6)",
        "it raised ValueError: x x",
    ),
    "it ends": ("import os; os._exit(0)", "it ended its own process"),
    "it returns a function": ("return tiny", "gives; got function"),
    "a configuration of 10**9 positions": (
        """
    files = hand_over(model, tokenizer, clock)
    return files | {"config.json": files["config.json"].replace(b": 64", b": 1000000000")}
""",
        "max_length may be at most 512; the entry has 1,000,000,000",
    ),
}


@pytest.fixture(scope="module")
def texts():
    manual = documents("python-topics")
    questions = [Example(f"{word} is it {n}?", word) for n in range(9) for word in ("who", "what")]
    passages = [f"{CANARY}. {part}" for document in manual[-9:] for part in cut(document)[:2]]
    return ProjectTexts(manual[:4], passages, questions)


@pytest.fixture(scope="module")
def sandbox():
    cells = {cell.id: cell.source for cell in load_assignment(ROOT, board.NAME).source.cells}
    given = [{"id": id, "source": cells[id]} for id in board.GIVEN]
    made = runs.sandbox_of(LIMITS, SECONDS, given)
    yield made
    made.close()


def source(change=""):
    """The honest entry with one change, which is run after the model is made."""
    return TINY.replace("CHANGE", change.strip() or "pass")


@pytest.fixture(scope="module")
def honest(sandbox, texts):
    return runs.run(sandbox, LIMITS, source(), texts, 0, SECONDS)


def test_an_honest_entry_is_scored(honest):
    assert 1 < honest["bits_per_byte"] < 9
    assert {"names", "question type"} < set(honest["probes"])
    json.dumps(honest)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_entry_gets_its_own_score_or_one_line(name, sandbox, texts, honest):
    change, said = HOSTILE[name]
    result = runs.run(sandbox, LIMITS, source(change), texts, 0, SECONDS)
    if said == SCORED:
        assert result | {"processor_seconds": 0} == honest | {"processor_seconds": 0}
    else:
        assert said in result["failed"]
        assert len(result["failed"]) <= 300
        assert "\n" not in result["failed"]
    assert not student_processes(sandbox.process.pid)


def test_a_source_with_half_a_character_costs_its_own_line(sandbox, texts):
    result = runs.run(sandbox, LIMITS, source() + "# \ud800", texts, 0, SECONDS)
    assert "its cell raised" in result["failed"]


def test_who_sleeps_is_ended(sandbox, texts, monkeypatch):
    monkeypatch.setattr(runs, "WALL", 0)
    monkeypatch.setattr(runs, "WALL_SECONDS", 2)
    change = "import time; time.sleep(10**6)"
    result = runs.run(sandbox, LIMITS, source(change), texts, 0, SECONDS)
    assert "stopped after 2 s" in result["failed"]


def test_an_answer_of_many_objects_costs_its_own_line(sandbox, texts, monkeypatch):
    monkeypatch.setattr(runs, "OWN_MEMORY", 2**28)  # the lists would need 2**29 bytes and more
    change = """
    import socket, struct
    text = b"[" + b"[]," * 2**23 + b"0]"
    socket.socket(fileno=3).sendall(struct.pack(">QI", len(text), 0) + text)
"""
    before = resource.getrlimit(resource.RLIMIT_AS)
    result = runs.run(sandbox, LIMITS, source(change), texts, 0, SECONDS)
    # By a MemoryError, which says no more; a large process may have that much memory left over.
    assert result["failed"] in {f"its answer cannot be read:{why}" for why in ("", " no reply")}
    assert resource.getrlimit(resource.RLIMIT_AS) == before


def test_scoring_has_a_limit_of_processor_time(sandbox, texts, monkeypatch):
    monkeypatch.setattr(runs, "SCORE_SECONDS", 0)
    monkeypatch.setattr(runs, "LATE_SECONDS", 0)
    result = runs.run(sandbox, LIMITS, source(), texts, 0, SECONDS)
    assert result["failed"] == "not scored: more than its 0 s of processor time"


def test_what_cannot_be_measured_does_not_run(sandbox, texts, monkeypatch):
    monkeypatch.setattr(runs.Meter, "look", lambda _: 1 / 0)
    result = runs.run(sandbox, LIMITS, source("while True: pass"), texts, 0, SECONDS)
    assert result["failed"] == "its processes cannot be measured (ZeroDivisionError)"
