"""Servers as plain processes, with per-process limits."""

import os
import resource
from collections.abc import Callable

from jupyterhub.spawner import LocalProcessSpawner
from traitlets import Integer


class LimitedSpawner(LocalProcessSpawner):
    """JupyterHub's own spawner, with limits on an account's processes and a process's memory.

    The kernel counts processes per account, but memory per process; a limit on a person's total
    memory or CPU needs control groups, which systemd's spawner sets and this one cannot.
    """

    process_limit = Integer(400, help="Processes and threads of one account.").tag(config=True)

    def make_preexec_fn(self, name: str) -> Callable[[], None]:
        """Runs in the new process: limits first, as root, so that they cannot be raised later."""
        become_user = super().make_preexec_fn(name)
        limits = {resource.RLIMIT_NPROC: self.process_limit, resource.RLIMIT_CORE: 0}
        if self.mem_limit:
            limits[resource.RLIMIT_DATA] = int(self.mem_limit)

        def limited() -> None:
            for kind, limit in limits.items():
                resource.setrlimit(kind, (limit, limit))
            os.umask(0o077)
            become_user()

        return limited
