"""The supervisor brings the guardian back, and the guardian the supervisor."""

import logging
import os
import subprocess
import sys
import threading

from lake.local.home import Home
from lake.local.processes import MARK
from lake.local.supervisor import Supervisor

LOG = logging.getLogger("guardian")
LOOK_EVERY_S = 1.0


def keep(home: Home, stopping: threading.Event) -> None:
    """attend() until stopped, however long a look at a source takes; a guardian that can't go on with it ends."""
    try:
        while not stopping.wait(LOOK_EVERY_S):
            attend(home)
    finally:
        stopping.set()


def attend(home: Home) -> None:
    """Starts the lake again if the supervisor was killed: `lake up` stops what it left behind, this guardian, too.

    So the command belongs to no supervisor, and prints into a file.
    """
    if Supervisor(home).pid() is not None:
        return
    LOG.error("the supervisor is gone; the lake is started again")
    environment = {name: value for name, value in os.environ.items() if name != MARK}
    command = [sys.executable, "-m", "lake.cli", "up"]
    with (home.logs / "guardian.log").open("a") as log:
        subprocess.run(command, cwd=home.root, env=environment, stdout=log, stderr=log, start_new_session=True)
