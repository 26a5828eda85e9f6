"""Try every documented way of setting the course up, each in a clean environment.

`make setups` (all ways, about an hour), `python -m tests.house.clean_setups WAY ... --python
python3.12` (some). Each way gets a fresh clone of what is committed in a temporary folder, is
set up as the guides say, and is used for its purpose; then the folder is removed. The tests'
own environment has every extra, so a requirement missing from one extra is detected only here.
Downloads come from pip's cache and the cache of `bertlab.data` if they are there.
"""

import argparse
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[2]
HUB_SETTINGS = """
instructors = ["emmy"]
students = ["ada"]
[limits]
memory_gb = 2
processes = 300
"""
LAB_ANSWERS = """
        make lab BROWSER=0 PORT=18888 > lab.log 2>&1 &
        ASK="import urllib.request as web; web.urlopen('http://127.0.0.1:18888/api')"
        until "$PYTHON" -c "$ASK" 2> /dev/null; do kill -0 $!; sleep 1; done
        kill -TERM -- -$!
"""
# The documented ways, each with its purpose. One page or submission represents all of them.
WAYS = {
    "make lab": f"""
        {LAB_ANSWERS}
        .venv/bin/python -m course.publishing.lectures lectures/00_start_here.ipynb
        make exercises && git diff --exit-code --stat exercises
    """,
    "make test": """
        make test PYTEST="-q tests/bertlab/tokenizers/test_bpe.py tests/house"
    """,
    "make handout": f"""
        make handout && mv handout.zip .. && cd .. && rm -r bertlab
        "$PYTHON" -m zipfile -e handout.zip . && cd handout
        {LAB_ANSWERS}
        make check
        .venv/bin/python -m jupyter execute lectures/00_start_here.ipynb
    """,
    "by hand": """
        "$PYTHON" -m venv .venv
        .venv/bin/python -m pip install -q -c constraints.txt -e . -e ./course
        .venv/bin/python -m bertlab.data fetch core
        .venv/bin/python -m jupyter lab --version
        .venv/bin/python -m course.publishing.lectures lectures/01_words_to_subwords.ipynb
        .venv/bin/python -m tests.house.wheels_elsewhere
    """,
    "conda": """
        conda env create --prefix ./.conda -f environment.yml
        conda run --prefix ./.conda python -m bertlab.data fetch core
        conda run --prefix ./.conda python -m course.publishing.lectures \
            lectures/01_words_to_subwords.ipynb
    """,
    "make grading": """
        make grading
        mkdir -p handed_in/ada handed_in/ben
        cp solutions/ex01_bpe/ex01_bpe.ipynb handed_in/ada/
        cp solutions/ex01_bpe/ex01_bpe.ipynb handed_in/ben/
        .venv/bin/python -m course release ex01_bpe
        .venv/bin/python -m course collect ex01_bpe --from handed_in
        .venv/bin/python -m course grade ex01_bpe
        .venv/bin/python -m course feedback ex01_bpe
        .venv/bin/python -m course similar ex01_bpe
        .venv/bin/python -m course export --format moodle --to grades.csv
    """,
    "class server": """
        "$PYTHON" -m venv .venv
        .venv/bin/python -m pip install -q -c constraints.txt . "./course[hub]"
        .venv/bin/python -m bertlab.data fetch core
        .venv/bin/python -m tests.house.clean_setups --class-server
    """,
    "make book, make slides": """
        make .venv/book.stamp data
        .venv/bin/python -m course.publishing.book lectures/00_start_here.ipynb --to book
        test -s book/site/00_start_here.html
        .venv/bin/python -m course.publishing.slides lectures/00_start_here.ipynb --to book
        test -s book/slides/00_start_here.html
    """,
    "the wheel": """
        "$PYTHON" -m venv .venv
        .venv/bin/python -m pip wheel -q --no-deps -w dist .
        .venv/bin/python -m pip install -q -c constraints.txt "$(ls dist/*.whl)[data]"
        mkdir elsewhere && cd elsewhere
        ../.venv/bin/python -m bertlab pretrain --corpus python-topics --size tiny --steps 3 --out r
        ../.venv/bin/python -m bertlab fill-mask r/model "The king [MASK] his daughter."
    """,
}
NEEDS_ROOT = "it needs root, bubblewrap and configurable-http-proxy"


def main() -> int:
    """Try the requested ways and print a table; 1 if one of them failed."""
    parser = argparse.ArgumentParser(prog="make setups", description=__doc__.splitlines()[0])
    parser.add_argument("way", nargs="*", help=f"one of: {', '.join(WAYS)} (all)")
    parser.add_argument("--python", default=sys.executable, help="the Python to set up with")
    parser.add_argument("--class-server", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.class_server:
        return start_class_server()
    if unknown := set(asked.way) - set(WAYS):
        parser.error(f"no such way: {', '.join(unknown)}; expected some of {', '.join(WAYS)}")
    failed = 0
    print(f"{'way':14}{'seconds':>8}  result", flush=True)
    for way in asked.way or WAYS:
        start = time.monotonic()
        result = why_not(way) or attempt(way, asked.python)
        failed += result.startswith("FAILED")
        print(f"{way:14}{time.monotonic() - start:8.0f}  {result}", flush=True)
    return int(failed > 0)


def why_not(way: str) -> str:
    """Why a way cannot be tried on this machine; "" if it can."""
    if way == "conda" and not shutil.which("conda"):
        return "not tried: there is no conda here"
    programs = ("bwrap", "configurable-http-proxy")
    if way == "class server" and not (os.geteuid() == 0 and all(map(shutil.which, programs))):
        return f"not tried: {NEEDS_ROOT}"
    return ""


def attempt(way: str, python: str) -> str:
    """Set up and do the job in a fresh clone; returns "ok", or FAILED and the end of its output."""
    environment = {name: text for name, text in os.environ.items() if name not in CLEAN}
    environment |= {"PYTHON": python, "PATH": path_without(Path(sys.prefix) / "bin")}
    with TemporaryDirectory(prefix="setup-", ignore_cleanup_errors=True) as room:
        clone = Path(room) / "bertlab"
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
        command = ["bash", "-c", f"set -emo pipefail\n{WAYS[way]}"]
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE}
        streams |= {"stderr": subprocess.STDOUT, "text": True}
        done = subprocess.run(command, cwd=clone, env=environment, **streams)
    lines = [line for line in done.stdout.splitlines() if line.strip()]
    if done.returncode:
        return "\n    ".join([f"FAILED with {done.returncode}", *lines[-25:]])
    return f"ok: {lines[-1].strip()}" if lines else "ok"


# Variables through which this process's environment would affect the clean one.
CLEAN = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "MAKEFLAGS", "MAKELEVEL", "MFLAGS")


def path_without(folder: Path) -> str:
    """PATH without a folder, so that no program of this environment is found by accident."""
    parts = os.environ["PATH"].split(os.pathsep)
    return os.pathsep.join(part for part in parts if Path(part) not in (folder, ROOT / ".venv/bin"))


def start_class_server() -> int:
    """Start a class server with the Python that runs this, until it answers."""
    from tests.browser.jupyterhub_box import class_server

    with TemporaryDirectory() as folder, class_server(Path(folder), HUB_SETTINGS) as server:
        print(f"the Hub and the course's server answer at {server.address}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
