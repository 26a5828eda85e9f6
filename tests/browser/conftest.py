"""A real Chromium without network, and a real JupyterLab to open."""

import json
import os
import re
import secrets
import shutil
import subprocess
import sys
import time
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import nbformat
import pytest
from nbconvert import HTMLExporter

from course import ROOT
from tests.browser.jupyterhub_box import START_SECONDS, free_port, wait_for

LOOPBACK = ("127.0.0.1", "localhost")
HERE = ("file", "data", "blob", "about")  # addresses that need no network
PATIENCE = 180_000  # milliseconds: the limit of every wait
# JupyterLab's own errors on any page: it requests missing files from its server, and asks a kernel
# that is being restarted for its debugger's state.
NOT_OURS = re.compile(
    r"Failed to load resource: .*(404|403)|Could not restore the debugger state: Canceled future"
)
CENTRE = "e => (e.scrollIntoView({block: 'center'}), e.getBoundingClientRect().top)"
SCREENSHOTS = Path(__file__).parent / "screenshots"  # to look at after a run; git ignores them

# Displays of a lecture in short cells: two views and a flipbook.
SMALL_PAGE = [
    """
import torch
from bertlab import viz
from course import widgets

tokens = "[CLS] the </script> cat [SEP]".split()
generator = torch.Generator().manual_seed(1)
attentions = [torch.rand(1, 3, 5, 5, generator=generator).softmax(-1) for _ in range(2)]
""",
    "viz.head_view(attentions, tokens)",
    "viz.head_view(attentions, tokens, layer=1, heads=[2])",
    'widgets.merge_stepper({"cost": 2, "best": 2, "men": 1}, [("s", "t"), ("m", "e")])',
]


def notebook_of(*sources):
    """Cells that have not run yet."""
    cells = [
        nbformat.v4.new_code_cell(source.strip(), id=f"cell-{number}")
        for number, source in enumerate(sources)
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})


def export(notebook, path, kind=HTMLExporter, **options):
    """Write a notebook that has run as HTML, as nbconvert does; returns the path."""
    # The exporter's own page asks for require.js, MathJax and Mermaid: not what is tested here.
    exporter = kind(require_js_url="", mathjax_url="", mermaid_js_url="", **options)
    path.write_text(exporter.from_notebook_node(notebook)[0], encoding="utf-8")
    return path


def type_without_kernel(page, box, text):
    """Open BERT in the page below a cell, which loads it, and type a text, all by keyboard."""
    box.locator("summary").focus()
    page.keyboard.press("Enter")
    box.get_by_role("textbox").focus()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type(text)


def put_on_theme(tab, view, theme):
    """The surrounding page switches between light and dark, and the frame follows."""
    from playwright.sync_api import expect

    tab.page.evaluate("light => { document.body.dataset.jpThemeLight = light; }", theme == "light")
    expect(view.locator("html")).to_have_css("color-scheme", theme)


def visible_lines(view):
    """The number of visible lines of a head view."""
    lines = view.locator("#attention line")
    lines.first.wait_for(state="attached")
    return lines.evaluate_all(
        """lines => lines.filter(line =>
            +line.getAttribute("stroke-opacity") > 0
            && getComputedStyle(line).visibility === "visible").length"""
    )


def wait_for_height(iframe):
    """A frame has the height of its content, or gets it as soon as it is visible."""
    iframe.evaluate(CENTRE)
    inside = iframe.content_frame.locator("main")
    height = inside.evaluate("main => Math.ceil(main.getBoundingClientRect().height)")
    iframe.and_(iframe.page.locator(f'[style*="height: {height}px"]')).wait_for()


@pytest.fixture(scope="session")
def chromium():
    """A headless Chromium that can only reach this machine."""
    names = ("chromium", "chromium-browser", "google-chrome")
    executable = next(filter(None, map(shutil.which, names)), None)
    if executable is None:
        message = "the browser tests need Chromium; run: sudo apt-get install chromium"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE)

    arguments = [
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
    ]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=arguments)
        yield browser
        browser.close()


@dataclass
class Tab:
    """A page in the browser, and all its errors."""

    page: object
    asked: list[str] = field(default_factory=list)  # addresses beyond this machine
    errors: list[str] = field(default_factory=list)  # errors in the console

    def frame(self, title: str, number: int = 0):
        """The content of one of our frames, which the browser must have isolated."""
        sealed = f'iframe[title="{title}"][sandbox="allow-scripts"]'
        return self.page.frame_locator(sealed).nth(number)

    def in_sight(self, title: str, number: int = 0):
        """Scroll to a frame and wait for its height; returns its content."""
        iframe = self.page.locator(f'iframe[title="{title}"]').nth(number)
        # JupyterLab renders cells when they are near; cells above may then shift the view.
        places = []
        while len(places) < 5 or (len(set(places[-5:])) > 1 and len(places) < 100):
            places.append(iframe.evaluate(CENTRE))
            self.page.wait_for_timeout(100)
        wait_for_height(iframe)
        return self.frame(title, number)

    def wait_until_kept(self, typed: str):
        """A frame says whether an answer is right; then the page around it keeps it."""
        kept = 'typed => Object.values(localStorage).some(one => one.includes(`:"${typed}"`))'
        self.page.wait_for_function(kept, arg=typed)


def note_requests(context, asked):
    """`asked` gets the addresses of requests that would leave this machine.

    Chromium itself finds no other name (`chromium` above). Nothing is routed through Python: each
    file of JupyterLab would wait for it, and be compiled again in each tab.
    """

    def note(request):
        address = urlsplit(request.url)
        if address.scheme not in HERE and address.hostname not in LOOPBACK:
            asked.append(request.url)

    context.on("request", note)


@pytest.fixture
def keep_screenshot(request):
    """`keep_screenshot(page, "head view")` saves the visible page under the test's name."""
    test = re.sub(r"[^\w-]+", "-", request.node.name.removeprefix("test_")).strip("-")

    def keep(page, moment, **options):
        SCREENSHOTS.mkdir(exist_ok=True)
        page.screenshot(path=SCREENSHOTS / f"{test} ({moment}).png", **options)

    return keep


@pytest.fixture
def tab(chromium, keep_screenshot):
    """A new tab; a request to the network fails the test, and so does an error."""
    # "null": the system's theme; one that Playwright sets would also hold inside dark pages' frames
    context = chromium.new_context(viewport={"width": 1100, "height": 900}, color_scheme="null")
    context.set_default_timeout(PATIENCE)
    opened = Tab(context.new_page())
    note_requests(context, opened.asked)

    def listen(message):
        if message.type == "error" and not NOT_OURS.search(message.text):
            opened.errors.append(message.text)

    opened.page.on("pageerror", lambda error: opened.errors.append(str(error)))
    opened.page.on("console", listen)
    yield opened
    keep_screenshot(opened.page, "at the end")
    context.close()
    assert opened.asked == []
    assert opened.errors == []


@dataclass(frozen=True)
class Lab:
    """A running JupyterLab."""

    address: str
    token: str
    folder: Path

    def open(self, page, notebook: str) -> None:
        """Open a notebook of the folder and wait until its kernel is ready."""
        # A separate workspace, or JupyterLab would reopen the previous test's files.
        workspace = f"lab/workspaces/{Path(notebook).with_suffix('').as_posix().replace('/', '-')}"
        page.goto(f"{self.address}/{workspace}/tree/{notebook}?token={self.token}")
        page.get_by_text("Python 3 (ipykernel) | Idle").wait_for()

    def open_in_notebook_7(self, page, notebook: str) -> None:
        """The same server also runs Notebook 7, which shows no kernel state as text."""
        page.goto(f"{self.address}/notebooks/{notebook}?token={self.token}")
        address = f"{self.address}/api/sessions?token={self.token}"
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            with urllib.request.urlopen(address, timeout=10) as answer:
                kernels = [s["kernel"] for s in json.load(answer) if s["path"] == notebook]
            if any(k["execution_state"] == "idle" and k["connections"] for k in kernels):
                return
            page.wait_for_timeout(200)
        pytest.fail(f"no kernel for {notebook} after {START_SECONDS} seconds")

    def run(self, page, name: str, notebook, *, notebook_7: bool = False) -> None:
        """Save a notebook in the folder, open it and run all its cells."""
        nbformat.write(notebook, self.folder / f"{name}.ipynb")
        (self.open_in_notebook_7 if notebook_7 else self.open)(page, f"{name}.ipynb")
        self.run_all(page)

    def run_all(self, page) -> None:
        """Run all cells from the menu, as a student does, and wait for the last."""
        page.get_by_role("menuitem", name="Run", exact=True).click()
        page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
        page.wait_for_function(
            # Each prompt is a number once its cell is done; [*] while it waits or runs. After an
            # error nothing else runs, and the page is as it will stay.
            """() => {
                const prompts = '.jp-CodeCell .jp-InputArea .jp-InputPrompt';
                const cells = [...document.querySelectorAll(prompts)]
                    .filter(prompt => prompt.offsetParent); // one that is folded stays empty
                const all = pattern => cells.every(cell => pattern.test(cell.textContent));
                const loud = document.querySelector('[data-mime-type$="jupyter.stderr"]');
                return cells.length && (all(/\\[\\d+\\]/) || loud && all(/\\[[^*]*\\]/));
            }""",
            timeout=900_000,
            polling=500,  # ms; at every frame it would keep the browser drawing
        )


@pytest.fixture(scope="session")
def lab(tmp_path_factory):
    """JupyterLab on an empty folder, with separate settings; stopped at the end."""
    home = tmp_path_factory.mktemp("jupyter")
    folder = home / "notebooks"
    folder.mkdir()
    port, token = free_port(), secrets.token_hex(16)
    nowhere = "http://127.0.0.1:9"  # the kernels and the server are offline, too
    environment = {
        **os.environ,
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces"),
        "HTTP_PROXY": nowhere,
        "HTTPS_PROXY": nowhere,
        "NO_PROXY": ",".join(LOOPBACK),
    }
    command = [
        *(sys.executable, "-m", "jupyter", "lab", "--no-browser", "--allow-root"),
        *(f"--ServerApp.port={port}", "--ServerApp.port_retries=0"),
        *(f"--IdentityProvider.token={token}", f"--ServerApp.root_dir={folder}"),
        "--LabApp.extension_manager=readonly",
        f"--config={ROOT / 'course' / 'jupyterlab' / 'lab.json'}",  # as for students
        f"--LabApp.app_settings_dir={ROOT / 'course' / 'jupyterlab'}",
        f"--LabApp.extra_labextensions_path={ROOT / 'course' / 'jupyterlab' / 'extensions'}",
    ]
    log = home / "server.log"
    with log.open("w") as output:
        server = subprocess.Popen(
            command, env=environment, stdout=output, stderr=subprocess.STDOUT, cwd=home
        )
        try:
            running = Lab(f"http://127.0.0.1:{port}", token, folder)
            wait_for(server, f"{running.address}/api/status?token={token}", log)
            yield running
        finally:
            server.terminate()  # it shuts its kernels down
            try:
                server.wait(timeout=60)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()
