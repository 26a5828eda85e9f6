"""Run lectures like "Restart Kernel and Run All Cells", and measure them.

`make lectures` (or `python -m course.publishing.lectures [NOTEBOOK ...]`) runs each in a clean
kernel, without a network, and compares time and peak memory with the budget that the lecture
declares. Time is processor time for each of the two cores of a small laptop: on a busy machine a
lecture takes longer, but about the same processor time.

Then every cell is run again, from the last to the first, as by a reader who goes back, and must
show the same; those that took a second are left out, unless `--all` comes before the notebooks.
"""

import json
import os
import re
import subprocess
import sys
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

import nbformat
import psutil

from bertlab._console import print_on_any_console
from bertlab._files import write_atomically
from course import ROOT

CORES = 2  # of a small laptop
CELL_SECONDS = 3_600  # of wall-clock time: even a cell that hangs ends
CHANGES = "changes"  # the tag of a cell that shows something else each time, such as its time
PROGRESS = re.compile(r"\d+%\|")  # in the text of a bar
QUICK = 1.0  # cells that took fewer seconds are run again


@dataclass(frozen=True)
class Run:
    """The cost of one run of a lecture, and its fault ("" if none).

    seconds: processor time per core; megabytes: peak memory. 0 if it cannot be measured.
    """

    name: str
    seconds: float
    megabytes: float
    budget: dict
    offline: bool
    fault: str = ""

    def __str__(self) -> str:
        state = self.fault.strip().splitlines()[-1] if self.fault else "ok"
        network = "network cut" if self.offline else "network not cut here"
        seconds = f"{self.seconds:6.1f} of {self.budget['seconds']:3} s"
        megabytes = f"{self.megabytes:7.0f} of {self.budget['megabytes']:5} MB"
        return f"{self.name:28}{seconds}{megabytes}   {network}   {state}"


def run(path: Path, keep: Path | None = None, again: float = 0.0, slack: float = 1.0) -> Run:
    """Execute a notebook in its own process and measure it.

    keep: the file for the notebook with its outputs; written only if all cells ran; again: cells
    that took fewer seconds are then run again; slack: how many times its seconds it may take. On a
    busy machine a processor second does less: programs push each other out of the caches.
    """
    budget = nbformat.read(path, as_version=4).metadata["bertlab"]["budget"]
    offline = [] if budget["network"] else cut_network()
    module = [sys.executable, "-m", "course.publishing.lectures"]
    command = [*offline, *module, "--execute", str(again), str(path)]
    if keep is not None:
        command.append(str(keep.resolve()))
    # A lecture may use more threads; waiting ones would spin, and be counted.
    limits = {"OMP_NUM_THREADS": "1", "OMP_THREAD_LIMIT": "1", "PYTHONHASHSEED": "0"}
    result = subprocess.run(
        command, cwd=ROOT, env=os.environ | limits, capture_output=True, text=True
    )
    fault = result.stderr if result.returncode else ""
    seconds, megabytes = (0.0, 0.0) if fault else json.loads(result.stdout.splitlines()[-1])
    if not fault and seconds > slack * budget["seconds"]:
        fault = f"over its budget of {budget['seconds']} s of processor time per core"
    if not fault and megabytes > budget["megabytes"]:
        fault = f"over its budget of {budget['megabytes']} MB"
    return Run(path.stem, seconds, megabytes, budget, bool(offline), fault)


@cache
def cut_network() -> list[str]:
    """The command that starts another one without a network; empty if Linux forbids it."""
    prefix = ["unshare", "--map-root-user", "--net"]
    try:
        allowed = subprocess.run([*prefix, "true"], capture_output=True).returncode == 0
    except FileNotFoundError:
        return []
    return prefix if allowed else []


def execute(path: Path, again: float) -> tuple[nbformat.NotebookNode, float]:
    """Run all cells of a notebook in a clean kernel; again: as in `run`.

    Returns it with its outputs, and the processor seconds per core. Raises nbclient's
    CellExecutionError, which names the cell, when one fails, and AssertionError when one that is
    run again shows something else.
    """
    from nbclient import NotebookClient
    from traitlets.config import Config

    notebook = nbformat.read(path, as_version=4)
    with TemporaryDirectory() as folder:
        # Sockets are files, not ports: without a network there are no ports.
        config = Config({"KernelManager": {"transport": "ipc", "ip": f"{folder}/kernel"}})
        client = NotebookClient(
            notebook,
            config=config,
            kernel_name="python3",
            timeout=CELL_SECONDS,
            resources={"metadata": {"path": str(path.parent)}},
        )
        with client.setup_kernel():
            took = {}
            for number, cell in enumerate(notebook.cells):
                started = monotonic()
                client.execute_cell(cell, number)
                took[number] = monotonic() - started
            client.set_widgets_metadata()
            seconds = _processor_seconds()
            for number, cell in reversed([*enumerate(notebook.cells)]):
                if took[number] < again and CHANGES not in cell.metadata.get("tags", ()):
                    first = deepcopy(cell)
                    client.execute_cell(cell, number)  # its displays are updated in the notebook
                    assert _same(_shown(cell), _shown(first)), (
                        f"{cell.id} shows something else when it is run again, such as another "
                        "meaning of a name, or a model that was changed in place"
                    )
                    notebook.cells[number] = first
    return notebook, seconds


def _shown(cell: nbformat.NotebookNode) -> tuple[str, list[str]]:
    """What a cell has printed, and the text of its results, which describes pictures, too.

    A progress bar is left out: it shows seconds.
    """
    outputs = cell.get("outputs", [])
    printed = "".join(output.text for output in outputs if output.output_type == "stream")
    shown = [output.data.get("text/plain", "") for output in outputs if "data" in output]
    return printed, [text for text in shown if not PROGRESS.search(text)]


def _same(one: tuple[str, list[str]], other: tuple[str, list[str]]) -> bool:
    """Whether two runs showed the same; on a busy machine the end of what is printed is lost."""
    short, long = sorted((one[0], other[0]), key=len)
    return one[1] == other[1] and long.startswith(short)


def main(arguments: list[str]) -> int:
    """Run the given notebooks, or all lectures; 1 if any failed."""
    print_on_any_console()
    if arguments[:1] == ["--execute"]:
        again, lecture, *keep = arguments[1:]
        executed, seconds = execute(Path(lecture).resolve(), float(again))
        for file in keep:
            write_atomically(Path(file), nbformat.writes(executed))
        print(json.dumps([seconds, _megabytes_of_children()]))
        return 0
    longest = inf if arguments[:1] == ["--all"] else QUICK
    paths = [Path(argument).resolve() for argument in arguments if argument != "--all"]
    runs = []
    for path in paths or sorted(ROOT.glob("lectures/*.ipynb")):
        runs.append(run(path, again=longest))
        print(runs[-1], flush=True)
        if runs[-1].fault:
            print(f"{runs[-1].fault}\n", file=sys.stderr, flush=True)
    return int(any(done.fault for done in runs))


def _processor_seconds() -> float:
    """Of the kernel, and of processes that it has started and that have ended, per core."""
    return sum(sum(child.cpu_times()[:4]) for child in psutil.Process().children()) / CORES


def _megabytes_of_children() -> float:
    """The peak memory of one of the child processes; 0 if it cannot be measured."""
    try:
        import resource
    except ImportError:  # Windows
        return 0.0
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return most / (1e6 if sys.platform == "darwin" else 1e3)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
