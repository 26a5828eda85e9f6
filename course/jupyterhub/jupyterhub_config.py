"""The Hub: who may log in, the account of each server, who may use the formgrader.

Started as root, because it starts each server as its owner's own Unix account:

    jupyterhub --config course/jupyterhub/jupyterhub_config.py

Settings that differ between servers are in /etc/bertlab/hub.toml; nothing needs editing here.
"""

import os
import sys
from pathlib import Path

from tornado.web import RedirectHandler, RequestHandler

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from hub_settings import COURSE, read_settings  # noqa: E402
from limited_spawner import LimitedSpawner  # noqa: E402

config = get_config()  # noqa: F821 (JupyterHub provides it)
settings = read_settings()
folders, limits = settings.folders, settings.limits
FORMGRADER = "/formgrader/manage_assignments"
SINGLE_USER = [sys.executable, "-m", "jupyterhub.singleuser"]


def environment(role: str) -> dict[str, str]:
    """The environment of a student's server, or of the course's."""
    return {
        "PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin",
        "JUPYTER_CONFIG_PATH": str(folders.shared / "jupyter" / role),
        "BERTLAB_DATA": str(folders.shared / "data"),
        "BERTLAB_COURSE": str(folders.course),
        "BERTLAB_EXCHANGE": str(folders.exchange),
        "OMP_NUM_THREADS": str(max(1, round(limits.cpus))),
    }


# Logging in: the server's own accounts and passwords, but only for people in the settings.
config.JupyterHub.authenticator_class = "pam"
config.Authenticator.allowed_users = set(settings.people)
config.Authenticator.admin_users = set(settings.admins)

# Only the proxy is reachable from outside; Hub and servers listen on the loopback interface.
config.JupyterHub.bind_url = settings.server.address
config.JupyterHub.hub_ip = "127.0.0.1"
config.ConfigurableHTTPProxy.pid_file = str(folders.state / "proxy.pid")
config.JupyterHub.db_url = f"sqlite:///{folders.state / 'hub.sqlite'}"
config.JupyterHub.cookie_secret_file = str(folders.state / "cookie_secret")
config.JupyterHub.cleanup_servers = settings.server.spawner == "local"

# Each user's server runs under their own account, in their own home.
config.Spawner.cmd = SINGLE_USER
config.Spawner.environment = environment("student")
config.Spawner.env_keep = ["LANG", "LC_ALL"]  # not the Hub's own environment
config.Spawner.notebook_dir = "~"
config.Spawner.default_url = "/lab"
config.Spawner.start_timeout = 120
config.Spawner.http_timeout = 120
config.Spawner.mem_limit = f"{limits.memory_gb}G"
config.Spawner.cpu_limit = float(limits.cpus)
config.JupyterHub.active_server_limit = settings.server.open_servers
config.JupyterHub.concurrent_spawn_limit = 20

if settings.server.spawner == "systemd":  # control groups: the limits are per person
    config.JupyterHub.spawner_class = "systemd"
    config.SystemdSpawner.default_shell = "/bin/bash"
    config.SystemdSpawner.isolate_tmp = True
    config.SystemdSpawner.isolate_devices = True
    config.SystemdSpawner.disable_user_sudo = True
    config.SystemdSpawner.unit_extra_properties = {
        "TasksMax": str(limits.processes),
        "MemorySwapMax": "0",
        "UMask": "0077",
        "InaccessiblePaths": f"-{folders.course} -{folders.state}",
    }
else:
    config.JupyterHub.spawner_class = LimitedSpawner
    config.LimitedSpawner.process_limit = limits.processes

# The course's own server, with the formgrader: one for all instructors, as the account that owns
# the solutions, the submissions and the gradebook. It is a service, so no password opens it.
course_server = {
    "name": COURSE,
    "url": f"http://127.0.0.1:{os.environ.get('BERTLAB_COURSE_PORT', '9123')}",
    "command": [
        *SINGLE_USER,
        f"--ServerApp.root_dir={folders.course}",
        f"--ServerApp.default_url={FORMGRADER}",
    ],
    "user": COURSE,
    "cwd": str(folders.course),
    "environment": environment("course"),
    "oauth_no_confirm": True,
    "timeout": 120,
}
idle_culler = {
    "name": "idle-culler",
    "command": [
        *(sys.executable, "-m", "jupyterhub_idle_culler"),
        f"--timeout={settings.server.idle_minutes * 60}",
    ],
}
config.JupyterHub.services = [course_server, idle_culler]
config.JupyterHub.load_groups = {
    f"formgrade-{COURSE}": {"users": list(settings.instructors)},
    f"nbgrader-{COURSE}": {"users": list(settings.students)},
}
config.JupyterHub.load_roles = [
    {
        "name": "instructor",
        "scopes": [f"access:services!service={COURSE}", f"read:services!service={COURSE}"],
        "groups": [f"formgrade-{COURSE}"],
    },
    {
        "name": "idle-culler",
        "scopes": ["list:users", "read:users:activity", "read:servers", "delete:servers"],
        "services": ["idle-culler"],
    },
]


def first_page(handler: RequestHandler) -> str:
    """Instructors get the formgrader; "" sends everybody else to their own JupyterLab."""
    user = handler.current_user
    instructor = user and user.name in settings.instructors
    return f"/services/{COURSE}{FORMGRADER}" if instructor else ""


config.JupyterHub.default_url = first_page

# The formgrader, in a browser tab of its own, links to /tree/... and /notebooks/... without the
# service's address before them; the Hub redirects those links to the course's JupyterLab. (Inside
# JupyterLab the formgrader would be a frame, which JupyterHub forbids for a good reason: any
# student's page could then also frame it in an instructor's browser.)
config.JupyterHub.extra_handlers = [
    (
        r"/(?:tree|notebooks|edit)/(.*)",
        RedirectHandler,
        {"url": f"/services/{COURSE}/lab/tree/{{0}}", "permanent": False},
    )
]
