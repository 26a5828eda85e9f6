"""JupyterLab's server keeps what was answered in a page in `progress.json`, too.

A page keeps it in its browser, which may be another one tomorrow. `lab.json` names this module, and
the page's part is in `extensions/bertlab-course`. Answers are marked nowhere and graded nowhere.
"""

import os
from asyncio import to_thread
from pathlib import Path
from typing import TypeGuard

from jupyter_server.base.handlers import APIHandler
from jupyter_server.serverapp import ServerApp
from jupyter_server.utils import url_path_join
from tornado.web import HTTPError, authenticated

from course.feedback import memory

PREFIX = "bertlab "  # of the keys
LONGEST = 100_000  # characters of all keys and answers in one message


class Answers(APIHandler):
    """GET: all answers, a JSON object of texts; PUT: those that changed."""

    @property
    def folder(self) -> Path | None:
        """The exercises below the folder that JupyterLab shows; None if nothing is kept."""
        folder = Path(self.settings["server_root_dir"]).expanduser() / "exercises"
        off = os.environ.get(memory.SWITCH) == "off"
        return folder if folder.is_dir() and not off else None

    @authenticated
    async def get(self) -> None:
        """All of them, or none if there is no file."""
        folder = self.folder
        self.finish(await to_thread(memory.answers, folder) if folder else {})

    @authenticated
    async def put(self) -> None:
        """Keep those given; a message of another form is refused and changes nothing."""
        given = self.get_json_body()
        if not is_kept(given):
            raise HTTPError(400, f"answers: expected texts, with keys that begin with '{PREFIX}'")
        if folder := self.folder:
            await to_thread(memory.note_answers, folder, given)
        self.finish({})


def is_kept(given: object) -> TypeGuard[dict[str, str]]:
    """Whether a message has the form of answers, and their size."""
    return (
        isinstance(given, dict)
        and all(key.startswith(PREFIX) and isinstance(text, str) for key, text in given.items())
        and sum(len(key) + len(text) for key, text in given.items()) <= LONGEST
    )


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": __name__}]


def _load_jupyter_server_extension(server: ServerApp) -> None:
    address = url_path_join(server.base_url, "bertlab", "answers")
    server.web_app.add_handlers(".*$", [(address, Answers)])
