"""Gives the application back its updates where they fail because of the capture: it looks every few seconds.

It has a thread of its own: an inspection may wait for Kafka Connect or for another source.
"""

import logging
import threading
from collections.abc import Callable

from lake.config.definition import Database
from lake.config.environment import Environment
from lake.config.errors import LakeError
from lake.guardian.problems import Problems
from lake.sources.engines import guard_of
from lake.state import baseline

LOG = logging.getLogger("guardian")
LOOK_EVERY_S = 4.0


def keep(home: Environment, databases: Callable[[], list[Database]], stopping: threading.Event) -> None:
    """Protects all sources until stopped. databases: all that may be captured now."""
    problems = Problems()
    while not stopping.wait(LOOK_EVERY_S):
        for database in databases():
            problems.tell(database.database, protect(home, database))


def protect(home: Environment, database: Database) -> str:
    """Protects one source; what was done there is a loss that `lake status` names until the table is read again.

    Returns why it could not, or ''.
    """
    try:
        done = guard_of(database).protection.protect(home, database)
    except LakeError as error:
        return f"it is not protected now: {error}"
    for table, what in done.items():
        LOG.error("%s.%s %s", database.database, table, what)
    if done:
        baseline.note_losses(home, database.database, done)
    return ""
