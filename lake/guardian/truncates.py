"""Which tables were truncated: the connector tells it beside its heartbeats (TellTruncates.java).

A TRUNCATE has no row, so the topic of its table has nothing of it. It is a loss until the table was read again.
"""

from collections.abc import Iterable
from functools import cached_property

from confluent_kafka import Message

from lake.clients.kafka import Reader
from lake.config.definition import Database
from lake.config.environment import Environment
from lake.config.files import read_json, replace_json
from lake.state import baseline

FILE = "guardian/truncates/offsets.json"  # by topic, where the next look begins
HEADERS = ("lake.truncated.schema", "lake.truncated.table")
WHAT = "was truncated"
KEPT_EVERY = 60  # heartbeats; after a restart they are read again


class Truncates:
    """Follows the heartbeats of all databases."""

    def __init__(self, home: Environment) -> None:
        self._home = home
        self._kept: dict[str, int] = read_json(home.data / FILE) or {}
        self._next = dict(self._kept)

    @cached_property
    def _reader(self) -> Reader:
        return Reader(self._home.kafka_bootstrap)

    def note(self, databases: Iterable[Database]) -> None:
        """Notes the losses of tables that were truncated since the last call."""
        by_topic = {one.heartbeat_topic: one for one in databases}
        self._reader.follow({topic: self._next.get(topic, 0) for topic in by_topic})
        for message in self._reader.messages():
            topic = str(message.topic())
            self._next[topic] = int(message.offset() or 0) + 1
            if found := truncated(by_topic[topic], message) if topic in by_topic else "":
                baseline.note_losses(self._home, by_topic[topic].database, {found: WHAT})
                self._keep()
        if any(place - self._kept.get(topic, 0) >= KEPT_EVERY for topic, place in self._next.items()):
            self._keep()

    def _keep(self) -> None:
        self._kept = dict(self._next)
        replace_json(self._home.data / FILE, self._kept)


def truncated(database: Database, message: Message) -> str:
    """The table of the definition that a message names, "schema.table"; "" for a heartbeat, or another table."""
    given = dict(message.headers() or ())
    headers = {name: value.decode() for name, value in given.items() if isinstance(value, bytes)}
    named = tuple(headers.get(name, "") for name in HEADERS)
    return next((one.full_name for one in database.tables if (one.schema, one.name) == named), "")
