"""From a cell's run to the lines drawn: our views of attention and BertViz's own, in JupyterLab.

    python -m benchmarks.bench_views              print the tables
    python -m benchmarks.bench_views --turns 1    a trial
    python -m benchmarks.bench_views --write      fill in benchmarks/README.md

12 layers of 12 heads on 64 tokens, drawn at random. Contestants take turns; each turn is a new tab
with a notebook and a kernel of its own. BertViz fetches d3 and jQuery from a server; there is none
here, so it gets the copies that ours use, beside it in its output. Needs Chromium.
"""

import argparse
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import nbformat

from benchmarks import turns
from benchmarks.turns import met, seconds

PACKAGES = ("bertviz", "jupyterlab", "playwright", "torch")
GOAL_SECONDS, GOAL_MEGABYTES = 3.0, 3.0
PORT, TOKEN = 8937, "benchmark"
PATIENCE = 180  # seconds
ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking")

SETUP = """
import bertviz, torch
from IPython.display import HTML
from bertlab import viz
from bertlab.viz.bertviz_pages import D3, JQUERY, shipped_script
from bertlab.viz.frames import script_tag

generator = torch.Generator().manual_seed(0)
scores = 2 * torch.randn(12, 1, 12, 64, 64, generator=generator)
attentions = list(scores.softmax(-1))
tokens = [f"token{number}" for number in range(64)]
instead_of_require = '''
window.require = { config() {} };
window.requirejs = (names, run) => run(...names.map((name) => ({ jquery: $, d3 })[name]));
'''

def ours(view):
    return getattr(viz, view)(attentions, tokens)

def stock(view):
    drawn = getattr(bertviz, view)(attentions, tokens, html_action="return").data
    scripts = [shipped_script(*D3), shipped_script(*JQUERY), instead_of_require]
    return HTML("".join(map(script_tag, scripts)) + drawn)
"""
# In every document of a tab: tell the outermost when there are lines, or all thumbnails, and when
# the browser has shown them.
WATCH = """(() => {
    const drawn = () => {
        const canvases = [...document.querySelectorAll("#bertviz canvas")];
        return canvases.length
            ? canvases.every((canvas) => canvas.style.width)
            : document.querySelector("#bertviz line, [id^=bertviz-] line");
    };
    const tell = () => window.top.postMessage({ drawnAt: Date.now() }, "*");
    const look = () => drawn()
        ? requestAnimationFrame(() => setTimeout(tell))
        : setTimeout(look, 20);
    if (window === window.top)
        window.addEventListener("message", ({ data }) => { window.drawnAt ??= data?.drawnAt; });
    look();
})()"""
CLICK = """(selector) => new Promise((done) => {
    const start = performance.now();
    document.querySelector(selector).dispatchEvent(new MouseEvent("click"));
    requestAnimationFrame(() => setTimeout(() => done((performance.now() - start) / 1000)));
})"""
# A square of a head, or a thumbnail.
TARGETS = {
    ("head_view", "ours"): "[role=checkbox]",
    ("head_view", "stock"): "[id^=bertviz-] svg > g:last-of-type > rect",
    ("model_view", "ours"): "[role=button]",
    ("model_view", "stock"): "[id^=bertviz-] svg > g > rect:last-of-type",
}


class Turn(NamedTuple):
    """What one contestant took: seconds until drawn, seconds until a click is answered."""

    drawn: float
    click: float


def weights() -> dict[tuple[str, str], float]:
    """Megabytes that each view puts into the notebook; BertViz's scripts count, too."""
    names: dict[str, Any] = {}
    exec(SETUP, names)
    return {
        (view, who): len(names[who](view)._repr_html_().encode()) / 1e6 for view, who in TARGETS
    }


@contextmanager
def jupyterlab(folder: Path) -> Iterator[str]:
    """A server on an empty folder; yields its address."""
    command = [sys.executable, "-m", "jupyter", "lab", "--no-browser", "--allow-root"]
    command += [f"--ServerApp.port={PORT}", f"--IdentityProvider.token={TOKEN}"]
    command += [f"--ServerApp.root_dir={folder}", "--LabApp.extension_manager=readonly"]
    command += ["--ServerApp.port_retries=0", "--LabApp.news_url=None"]
    address = f"http://127.0.0.1:{PORT}"
    with (folder / "server.log").open("w") as log:
        server = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, cwd=folder)
        try:
            deadline = time.monotonic() + PATIENCE
            while server.poll() is None and time.monotonic() < deadline:
                with suppress(urllib.error.URLError):
                    urllib.request.urlopen(f"{address}/api/status?token={TOKEN}")
                    break
                time.sleep(0.3)
            yield address
        finally:
            server.terminate()
            server.wait()


def take_turn(browser: Any, address: str, folder: Path, view: str, who: str, number: int) -> Turn:
    """Open a notebook, run its first cell off the clock and its second on it."""
    cells = [
        nbformat.v4.new_code_cell(SETUP.strip()),
        nbformat.v4.new_code_cell(f"{who}('{view}')"),
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    name = f"{view}-{who}-{number}.ipynb"
    notebook = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})
    nbformat.write(notebook, folder / name)
    context = browser.new_context(viewport={"width": 1300, "height": 900})
    page = context.new_page()
    page.set_default_timeout(PATIENCE * 1000)
    page.add_init_script(WATCH)
    page.goto(f"{address}/lab/workspaces/{name[:-6]}/tree/{name}?token={TOKEN}")
    page.get_by_text("Python 3 (ipykernel) | Idle").wait_for()
    page.locator(".jp-CodeCell .cm-content").first.click()
    page.keyboard.press("Shift+Enter")
    page.locator(".jp-CodeCell .jp-InputPrompt").first.filter(has_text="[1]").wait_for()
    start = page.evaluate("Date.now()")
    page.keyboard.press("Shift+Enter")
    page.wait_for_function("window.drawnAt")
    drawn = (page.evaluate("window.drawnAt") - start) / 1000
    document = next((f for f in page.frames if f.locator("#bertviz").count()), page.main_frame)
    click = document.evaluate(CLICK, TARGETS[view, who])
    page.get_by_role("menuitem", name="Kernel", exact=True).click()
    page.get_by_role("menuitem", name="Shut Down Kernel", exact=True).click()
    context.close()
    return Turn(drawn, click)


def measure(number: int) -> dict[tuple[str, str], list[Turn]]:
    """All contestants, one after the other, `number` times."""
    from playwright.sync_api import sync_playwright

    taken: dict[tuple[str, str], list[Turn]] = {contestant: [] for contestant in TARGETS}
    names = ("chromium", "chromium-browser", "google-chrome")
    executable = next(filter(None, map(shutil.which, names)), None)
    with (
        TemporaryDirectory() as folder,
        jupyterlab(Path(folder)) as address,
        sync_playwright() as p,
    ):
        browser = p.chromium.launch(executable_path=executable, args=list(ARGUMENTS))
        for place in range(number):
            for view, who in TARGETS:
                turn = take_turn(browser, address, Path(folder), view, who, place)
                turns.note(f"    {view}, {who}: {turn.drawn:.2f} s")
                taken[view, who].append(turn)
        browser.close()
    return taken


def table(taken: dict[tuple[str, str], list[Turn]], megabytes: dict[tuple[str, str], float]) -> str:
    """Ours beside BertViz's own, with the goals."""
    rows = []
    for view in dict.fromkeys(view for view, _ in taken):
        both = [taken[view, who] for who in ("ours", "stock")]
        (mine, its), clicks = ([[turn[n] for turn in own] for own in both] for n in (0, 1))
        ours, theirs = (megabytes[view, who] for who in ("ours", "stock"))
        fast, light = met(median(mine) < GOAL_SECONDS), met(ours < GOAL_MEGABYTES)
        sizes = [f"{ours:.2f}", f"{theirs:.1f}", light]
        rows.append([view, seconds(mine), seconds(its), fast, *sizes, *map(seconds, clicks)])
    head = ["view", "drawn after, ours", "BertViz", f"under {GOAL_SECONDS:g} s"]
    head += ["MB, ours", "BertViz", f"under {GOAL_MEGABYTES:g} MB"]
    head += ["click answered after, ours", "BertViz"]
    return turns.table("12 x 12 heads, 64 tokens, in JupyterLab", head, rows)


def main() -> None:
    """Read the command line, run, print, and write if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--turns", type=int, default=3, help="of each contestant; default 3")
    options = turns.read_options(parser)
    number = options.turns
    if number < 1 or (options.write and number < 3):
        parser.error(f"--turns must be at least 1, to write at least 3; got {number}")
    what = f"Seconds: median of {number} (smallest–largest)."
    tables = map(table, [measure(number)], [weights()])
    turns.publish("views" if options.write else None, PACKAGES, what, tables)


if __name__ == "__main__":
    main()
