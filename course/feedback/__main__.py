"""`make check`: is everything installed that the course needs, and how far is each exercise?

Each notebook in exercises/, or each named one, is run from the top in its own kernel, like *Restart
Kernel and Run All Cells*; nothing is saved. 1 if something is missing.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from tqdm import tqdm

from bertlab._console import print_on_any_console
from course import ROOT
from course.feedback.environment import environment
from course.feedback.memory import SWITCH
from course.feedback.so_far import so_far

CELL_SECONDS = 300


def main() -> int:
    """Print what is missing, and a line for each exercise."""
    print_on_any_console()
    parser = argparse.ArgumentParser(prog="python -m course.feedback", description=__doc__)
    parser.add_argument("exercise", nargs="*", help="such as ex01_bpe (all)")
    asked = parser.parse_args().exercise
    paths = {path.stem: path for path in sorted((ROOT / "exercises").glob("*/*.ipynb"))}
    if unknown := set(asked) - set(paths):
        parser.error(f"no such exercise: {', '.join(unknown)}; expected some of {', '.join(paths)}")
    report = environment()
    print(report, end="\n\n")
    if report.ok:
        for path in tqdm([paths[name] for name in asked or paths], leave=False, disable=None):
            tqdm.write(f"{path.stem:<22}{how_far(path)}")
        if not asked:
            print(f"\nOn other days:\n{so_far()}")
    return int(not report.ok)


def how_far(path: Path) -> str:
    """The output of `check.progress()` after all cells of the notebook have run.

    A cell that fails does not stop the others; one that takes too long or kills its kernel does.
    """
    book = nbformat.read(path, as_version=4)
    last = nbformat.v4.new_code_cell("print(check.progress())")
    book.cells.append(last)
    place = {"metadata": {"path": path.parent}}
    client = NotebookClient(book, timeout=CELL_SECONDS, allow_errors=True, resources=place)
    try:
        # Without the kernel's own log; and a look at all exercises is no try.
        client.execute(stderr=subprocess.DEVNULL, env=os.environ | {SWITCH: "off"})
    except (CellTimeoutError, DeadKernelError) as error:
        return f"stopped: {str(error).splitlines()[0]}"
    (output,) = last.outputs
    return output.get("text", output.get("evalue", "")).strip()


if __name__ == "__main__":
    sys.exit(main())
