"""A separate class server on this machine, with its own accounts, folders and processes.

bubblewrap gives it a private /etc, /home, /srv, /opt and /tmp and a private list of processes; only
the loopback interface is shared, so that the browser can reach it. It leaves
nothing when it ends. It hides the checkout: it has the files of a class server, as in its README.
"""

import contextlib
import os
import shutil
import socket
import stat
import subprocess
import sys
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = Path("/opt/bertlab/source")  # the checkout, as the README wants it
COURSE = Path("/srv/bertlab/course")
EXCHANGE = Path("/srv/bertlab/exchange/bertlab")
STATE = Path("/srv/bertlab-hub")  # not the usual place, where a mount would remain on this machine
ROOMS = ("course", "lectures", "solutions", "exercises")
START_SECONDS = 300  # a busy machine must not fail

# bwrap's own /proc is partly masked, so that no sandbox for students' code could start in it.
PREPARE_AND_RUN = """
set -e
mount -t proc proc /proc
mkdir -p /opt/bertlab/shared/data /srv/bertlab
{python} {source}/course/jupyterhub/prepare_server.py
cd {state}
exec {python} -m jupyterhub --config {source}/course/jupyterhub/jupyterhub_config.py
"""


def why_not() -> str | None:
    """Why no class server can be started here; None if it can."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return "JupyterHub needs root on Linux, to start each server as its owner's account"
    for program, package in (
        ("bwrap", "apt-get install bubblewrap"),
        ("configurable-http-proxy", "npm install --global configurable-http-proxy"),
    ):
        if shutil.which(program) is None:
            return f"{program} is not installed; run: {package}"
    with contextlib.suppress(ImportError):
        import jupyterhub  # noqa: F401

        return None
    return 'JupyterHub is not installed; run: pip install -e . -e "./course[hub]"'


@dataclass(frozen=True)
class ClassServer:
    """A running class server."""

    address: str
    proxy_api: str  # the proxy's API, for the Hub
    course_server: str  # without the proxy before it
    process: subprocess.Popen
    log: Path

    def inside(self, path: Path | str) -> Path:
        """A path of the class server, as it is reached from outside."""
        return Path(f"/proc/{self._first_process}/root{path}")

    @property
    def _first_process(self) -> int:
        """The box's own first process, which bwrap starts."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return int(children.read_text().split()[0])

    def passwords(self) -> dict[str, str]:
        """The first passwords, which prepare_server.py wrote."""
        lines = self.inside(STATE / "first_passwords.csv").read_text().split()
        return dict(line.split(",") for line in lines)

    def run(self, account: str, *command: str, **options) -> subprocess.CompletedProcess:
        """Run a command on the class server as one of its accounts."""
        enter = ["nsenter", f"--target={self._first_process}", "--mount", "--pid"]
        enter += ["runuser", "-u", account, "--"]
        options |= {"capture_output": True, "text": True, "timeout": 300}
        return subprocess.run([*enter, *command], **options)


@contextlib.contextmanager
def class_server(folder: Path, settings: str):
    """Start a class server with these settings (hub.toml's text); stop it at the end."""
    port, hub_port, api_port, course_port = (free_port() for _ in range(4))
    etc = folder / "etc"
    shutil.copytree("/etc", etc, symlinks=True, ignore_dangling_symlinks=True)
    address = f"http://127.0.0.1:{port}"
    (etc / "bertlab").mkdir()
    (etc / "bertlab" / "hub.toml").write_text(
        f'{settings}\n[server]\naddress = "{address}"\nspawner = "local"\n'
        f'[folders]\nstate = "{STATE}"\n'
    )
    script = PREPARE_AND_RUN.format(python=sys.executable, source=SOURCE, state=STATE)
    environment = {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "LANG": "C.UTF-8",
        "BERTLAB_COURSE_PORT": str(course_port),
    }
    proxy_api = f"http://127.0.0.1:{api_port}"
    options = [f"--JupyterHub.hub_port={hub_port}", f"--ConfigurableHTTPProxy.api_url={proxy_api}"]
    script = " ".join([script.rstrip(), *options])
    log = folder / "hub.log"
    with log.open("w") as output:
        command = ["bwrap", *walls(etc), "--", "bash", "-c", script]
        streams = {"stdout": output, "stderr": subprocess.STDOUT}
        process = subprocess.Popen(command, env=environment, **streams)
        try:
            wait_for(process, f"{address}/services/bertlab/api", log)
            course_server = f"http://127.0.0.1:{course_port}"
            yield ClassServer(address, proxy_api, course_server, process, log)
        finally:
            process.kill()  # bwrap was told to end everything with itself
            process.wait()


def walls(etc: Path) -> list[str]:
    """The content of the box: the machine's programs, no users, no checkout."""
    python = [Path(sys.base_prefix).resolve(), Path(sys.prefix), ROOT / "bertlab", ROOT / "course"]
    shown = {path: path for path in python}
    hidden = {ROOT} | {wall for path in shown if (wall := first_closed(path))}
    arguments = ["--dev-bind", "/", "/", "--bind", str(etc), "/etc"]
    for folder in ("/home", "/srv", "/opt", *map(str, hidden)):
        arguments += ["--tmpfs", folder]
    arguments += ["--perms", "1777", "--tmpfs", "/tmp"]
    shown |= {SOURCE / room: ROOT / room for room in ROOMS}
    for path, source in shown.items():
        for parent in reversed(path.parents):  # bwrap would create them for root only
            arguments += ["--perms", "0755", "--dir", str(parent)]
        arguments += ["--ro-bind", str(source), str(path)]
    private = ["--unshare-pid", "--proc", "/proc", "--die-with-parent", "--cap-add", "ALL"]
    return [*arguments, *private, "--chdir", "/"]


def first_closed(path: Path) -> Path | None:
    """The outermost folder above a path that other accounts may not enter."""
    for folder in reversed(path.parents):
        if not folder.stat().st_mode & stat.S_IXOTH:
            return folder
    return None


def wait_for(process: subprocess.Popen, address: str, log: Path) -> None:
    """Wait until a server answers; show its log if it does not."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        with contextlib.suppress(OSError), urllib.request.urlopen(address, timeout=30):
            return
        time.sleep(0.3)
    raise RuntimeError(f"no server answers at {address}:\n{log.read_text()}")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
