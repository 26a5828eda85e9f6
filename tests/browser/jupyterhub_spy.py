"""Attacks by a student's code on the class server: the cells of a notebook that she runs there.

Each line of the output is `attempt: outcome`; if it was rejected, the outcome is the error's
name, or the status of the response.
"""

CELLS = [
    """
import os
import resource
import subprocess
import urllib.error
import urllib.request
from pathlib import Path

SUBMISSION = Path({submission!r})  # the other's; let us assume that its secret name leaked
INBOUND, EXCHANGE = SUBMISSION.parent, SUBMISSION.parent.parent
COURSE, STATE = Path("/srv/bertlab/course"), Path("/srv/bertlab-hub")
HUB = os.environ["JUPYTERHUB_API_URL"]


def attempt(name, action):
    try:
        print(f"{{name}}: {{action()}}")
    except urllib.error.HTTPError as error:
        print(f"{{name}}: {{error.code}}")
    except (OSError, MemoryError, ValueError) as error:
        print(f"{{name}}: {{type(error).__name__}}")


def ask(address, method="GET"):
    request = urllib.request.Request(address, method=method)
    request.add_header("Authorization", "token " + os.environ["JUPYTERHUB_API_TOKEN"])
    with urllib.request.urlopen(request, timeout=10) as answer:
        return answer.status


def processes(user):
    return [folder for folder in Path("/proc").glob("[0-9]*") if folder.owner() == user]
""",
    """
attempt("own home", lambda: os.listdir("/home/grace") and "read")
attempt("a lecture", lambda: (Path.home() / "lectures/00_start_here.ipynb").open() and "read")
attempt("the other's home", lambda: os.listdir("/home/ada"))
attempt("the other's notebook", lambda: open("/home/ada/ex04_attention/ex04_attention.ipynb"))
attempt("the list of submissions", lambda: os.listdir(INBOUND))
attempt("the other's submission", lambda: os.listdir(SUBMISSION))
attempt("a file of it", lambda: (SUBMISSION / "ex04_attention.ipynb").open())
attempt("moving it away", lambda: SUBMISSION.rename(INBOUND / "nowhere"))
attempt("replacing the exchange", lambda: EXCHANGE.rename(EXCHANGE.with_name("old")))
attempt("a release of her own", lambda: (EXCHANGE / "outbound/ex10").mkdir())
attempt("the course's folder", lambda: os.listdir(COURSE))
attempt("solutions", lambda: (COURSE / "solutions/ex04_attention/ex04_attention.ipynb").open())
attempt("the gradebook", lambda: (COURSE / "gradebook.db").open("rb"))
attempt("the source", lambda: os.listdir("/opt/bertlab/source"))
attempt("the Hub's database", lambda: (STATE / "hub.sqlite").open("rb"))
attempt("first passwords", lambda: (STATE / "first_passwords.csv").open())
attempt("shared settings", lambda: Path("/opt/bertlab/shared/jupyter/x").touch())
attempt("a shared lecture", lambda: (Path.home() / "lectures/00_start_here.ipynb").open("a"))
for user in ("ada", "bertlab", "root"):
    server = processes(user)[0]
    attempt(f"the environment of {{user}}'s processes", lambda: (server / "environ").read_bytes())
    attempt(f"stopping {{user}}'s processes", lambda: os.kill(int(server.name), 15))
""",
    """
attempt("asking the Hub who she is", lambda: ask(f"{{HUB}}/user"))
attempt("asking for all users", lambda: ask(f"{{HUB}}/users"))
attempt("asking for the other", lambda: ask(f"{{HUB}}/users/ada"))
attempt("a token of the other's", lambda: ask(f"{{HUB}}/users/ada/tokens", "POST"))
attempt("stopping the other's server", lambda: ask(f"{{HUB}}/users/ada/server", "DELETE"))
attempt("joining the instructors", lambda: ask(f"{{HUB}}/groups/formgrade-bertlab/users", "POST"))
attempt("stopping the Hub", lambda: ask(f"{{HUB}}/shutdown", "POST"))
attempt("the proxy's table", lambda: ask({proxy_api!r} + "/api/routes"))
attempt("the formgrader, by its port", lambda: ask({course_server!r} + "/formgrader/api/students"))
""",
    """
def start_many():
    started = []
    try:
        while len(started) < 2000:
            started.append(subprocess.Popen(["sleep", "60"]))
    finally:
        for process in started:
            process.kill()
        for process in started:
            process.wait()
    return "2000 processes"


def raise_limit(kind):
    resource.setrlimit(kind, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


attempt("starting many processes", start_many)
attempt("taking 1 GB", lambda: len(bytearray(2**30)) // 2**30)
attempt("taking 4 GB", lambda: len(bytearray(2**32)))
attempt("allowing herself more processes", lambda: raise_limit(resource.RLIMIT_NPROC))
attempt("allowing herself more memory", lambda: raise_limit(resource.RLIMIT_DATA))
print("that is all")
""",
]

ALLOWED = {
    "own home": "read",
    "a lecture": "read",
    "asking the Hub who she is": "200",
    "taking 1 GB": "1",
}
LIMITED = {
    "starting many processes": "BlockingIOError",
    "taking 4 GB": "MemoryError",
    "allowing herself more processes": "ValueError",
    "allowing herself more memory": "ValueError",
}
REFUSALS = {"PermissionError", "403", "404"}  # 404: hidden files look missing
