"""A supervisor brings the guardian back, and the guardian all supervisors."""

import logging
import os
import subprocess
import sys
import threading

from lake.config.home import Home
from lake.config.lock import is_locked
from lake.local.processes import MARK, SERVICE
from lake.local.stack import Stack

LOG = logging.getLogger("guardian")
LOOK_EVERY_S = (1.0, 2.0, 5.0, 10.0, 30.0)  # each after a failure more, the last one for ever


def keep(home: Home, stopping: threading.Event) -> None:
    """attend() until stopped, however long a look at a source takes; a guardian that can't go on with it ends."""
    failures = 0
    try:
        while not stopping.wait(LOOK_EVERY_S[min(failures, len(LOOK_EVERY_S) - 1)]):
            failures = 0 if attend(home) else failures + 1
    finally:
        stopping.set()


def attend(home: Home) -> bool:
    """Starts the services that lost their supervisors, once what is left of them has ended; False when it can't.

    That may be this guardian: so the command belongs to no supervisor, and prints into a file. A command that starts a
    service anew ends its supervisor for a moment; it has the lock.
    """
    lost = Stack(home).lost()
    if not lost or is_locked(home.lock):
        return True
    LOG.error("no supervisor of %s; starting it anew", ", ".join(lost))
    environment = {name: value for name, value in os.environ.items() if name not in (MARK, SERVICE)}
    command = [sys.executable, "-m", "lake.guardian.revive"]
    with home.log("guardian").open("a") as log:
        done = subprocess.run(command, cwd=home.root, env=environment, stdout=log, stderr=log, start_new_session=True)
    return done.returncode == 0
