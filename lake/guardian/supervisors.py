"""The guardian starts lost supervisors again; its own supervisor restarts the guardian."""

import logging
import os
import subprocess
import sys
import threading

from lake.config.environment import Environment, load_environment
from lake.config.errors import LakeError
from lake.config.lock import is_locked
from lake.local.processes import MARK, SERVICE
from lake.local.stack import Stack

LOG = logging.getLogger("guardian")
LOOK_EVERY_S = (1.0, 2.0, 5.0, 10.0, 30.0)  # one step longer after each failure in a row


def keep(home: Environment, stopping: threading.Event) -> None:
    """Calls attend() until stopped, however long an inspection takes. Ends the guardian if attend() cannot continue."""
    failures = 0
    try:
        while not stopping.wait(LOOK_EVERY_S[min(failures, len(LOOK_EVERY_S) - 1)]):
            failures = 0 if attend(home) else failures + 1
    finally:
        stopping.set()


def attend(home: Environment) -> bool:
    """Starts the services that lost their supervisors, after the rest of them has ended. False if it cannot.

    The guardian may be one of them, so a separate process without a supervisor starts them and prints into the log.
    A command that restarts a service ends its supervisor for a moment; it holds the lock.
    """
    lost = Stack(home).lost()
    if not lost or is_locked(home.lock):
        return True
    LOG.error("no supervisor of %s; starting it again", ", ".join(lost))
    environment = {name: value for name, value in os.environ.items() if name not in (MARK, SERVICE)}
    command = [sys.executable, "-m", "lake.guardian.supervisors"]
    with home.log("guardian").open("a") as log:
        done = subprocess.run(command, cwd=home.root, env=environment, stdout=log, stderr=log, start_new_session=True)
    return done.returncode == 0


def revive() -> str:
    """Starts the services that lost their supervisors. Returns why it cannot: another command works, or a service
    does not start.
    """
    try:
        Stack(load_environment(), lambda service, what, _: print(f"{service}: {what}", flush=True)).revive()
    except LakeError as error:
        return str(error)
    return ""


if __name__ == "__main__":
    sys.exit(revive() or 0)
