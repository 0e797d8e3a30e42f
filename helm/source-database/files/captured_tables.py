"""Reads from Kafka Connect which tables each connector knows, between two runs of prepare.sh.

    python3 captured_tables.py <URL of Connect> <folder> <login> <seconds between two checks> <database>=<connector> ...

    <login>                       input: the secret of Connect's operators, JSON; it is deleted once it was read

    <folder>/changed.lake_capture input: the connectors have a new password
    <folder>/unread/<database>    input: the published tables whose existing rows must still be requested
    <folder>/captured/<database>  output: all tables of the connector; no file if no task runs or must not be restarted

Debezium learns a table when its task starts, or by a change of a row. It never takes a snapshot of a table that it has
not learned. So a task with an unread table is restarted first, but never during its first snapshot, which would start
from the beginning. The same holds after a new password, which a connector reads when it starts; until then its open
connections stay. No answer is no failure: before the first deployment is complete there is no Connect. The exit code
is always 0: the next run does what this one could not do.
"""

import json
import sys
import time
import urllib.parse
import urllib.request
from base64 import b64encode
from collections.abc import Callable
from http.client import HTTPException
from pathlib import Path

from read_secret import credentials

SECONDS_PER_CALL = 10.0
SECONDS_TO_START = 60.0
NOT_NOW = (OSError, HTTPException, ValueError, LookupError, TypeError, AttributeError)


class Connector:
    """One connector by Connect's REST interface; the calls raise one of NOT_NOW."""

    def __init__(self, url: str, name: str, login: tuple[str, str]) -> None:
        self.headers = {"Authorization": f"Basic {b64encode(':'.join(login).encode()).decode()}"}
        self.path = f"{url}/connectors/{urllib.parse.quote(name, safe='')}"

    def tables(self) -> str:
        """The tables of its running task; empty if none runs."""
        states = [task["state"] for task in self._ask("/status")["tasks"]]
        return str(self._ask("/tasks")[0]["config"]["table.include.list"]) if states == ["RUNNING"] else ""

    def in_first_snapshot(self) -> bool:
        offsets = [one["offset"] for one in self._ask("/offsets")["offsets"]]
        return not offsets or any(one.get("snapshot") and not one.get("snapshot_completed") for one in offsets)

    def restart(self) -> None:
        """Returns once the restart has begun, so that the old task is not mistaken for the new one."""
        self._ask("/restart?includeTasks=true", "POST")

    def _ask(self, what: str, method: str = "GET"):  # type: ignore[no-untyped-def]  # whatever JSON says
        request = urllib.request.Request(self.path + what, headers=self.headers, method=method)
        with urllib.request.urlopen(request, timeout=SECONDS_PER_CALL) as found:
            return json.loads(found.read() or b"null")


def main(arguments: list[str]) -> int:
    url, folder, pause = arguments[0].rstrip("/"), Path(arguments[1]), float(arguments[3])
    with credentials(Path(arguments[2]), "Connect") as found:
        login = found
    (folder / "captured").mkdir(parents=True, exist_ok=True)
    renewed = (folder / "changed.lake_capture").exists()
    for database, name in (pair.split("=", 1) for pair in arguments[4:]):
        try:
            connector = Connector(url, name, login)
            tables = settled(connector, renewed, unread(folder / "unread" / database), pause)
        except NOT_NOW as problem:
            print(f"{name}: not now: {problem}")
            continue
        if tables:
            (folder / "captured" / database).write_text(tables)
        print(f"{name}: {'reads ' + tables if tables else 'not now: no task runs'}")
    return 0


def unread(path: Path) -> set[str]:
    return set(path.read_text().strip().split(",")) if path.exists() else set()


def settled(connector: Connector, renewed: bool, unread: set[str], pause: float) -> str:
    """The tables that the connector knows, read twice: a task that is being replaced runs until it has stopped."""
    tables = connector.tables()
    if renewed or unread & set(tables.split(",")) - {""}:
        if tables and connector.in_first_snapshot():
            raise ValueError("it is in its first snapshot")
        connector.restart()
        wait_until(lambda: bool(connector.tables()))
    if tables:
        time.sleep(pause)
    return tables if connector.tables() == tables else ""


def wait_until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SECONDS_TO_START
    while not is_so() and time.monotonic() < deadline:
        time.sleep(0.5)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
