"""A supervisor brings the guardian back, and the guardian all supervisors."""

import logging
import os
import subprocess
import sys
import threading

from lake.local.home import Home
from lake.local.processes import MARK, SERVICE
from lake.local.stack import Stack

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
    """Starts services whose supervisors were killed: `lake up` stops what is left of them, this guardian, too.

    So the command belongs to no supervisor, and prints into a file.
    """
    lost = Stack(home).lost()
    if not lost:
        return
    LOG.error("the supervisors of %s are gone; they are started again", ", ".join(lost))
    environment = {name: value for name, value in os.environ.items() if name not in (MARK, SERVICE)}
    command = [sys.executable, "-m", "lake.cli", "up"]
    with (home.logs / "guardian.log").open("a") as log:
        subprocess.run(command, cwd=home.root, env=environment, stdout=log, stderr=log, start_new_session=True)
