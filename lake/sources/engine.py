"""What a source engine does for the lake: one small interface per capability, a module of the engine's folder each.

Everything here speaks of position (an integer that grows along the engine's log), capture (what reads the log for the
lake) and identity. What an engine calls them stays in its folder.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol, Self

from lake.config.definition import Database
from lake.config.environment import Environment
from lake.config.source import SourceServer
from lake.sources.change import Change
from lake.sources.drift import Drift
from lake.sources.findings import Finding

Offset = Mapping[str, Any]  # of a connector, as Kafka Connect keeps it


@dataclass(frozen=True)
class SourceFacts:
    """The state of a database: the engine's catalog, the changes that capture needs, and the changes that clean up.

    resolved: the definition with what it leaves to the source; None where an engine leaves nothing to it.
    """

    catalog: Any
    missing: list[Change]
    departed: list[Change]
    resolved: Database | None = None


class Discovery(Protocol):
    """Reads the catalog."""

    def read_source(
        self, environment: Environment, database: Database, applied: Mapping[str, list[str]] = ...
    ) -> SourceFacts:
        """The facts of one database. Writes and locks nothing. applied: the keys of lake tables, by "schema.table"."""


class Checks(Protocol):
    """Preconditions."""

    def findings(self, database: Database, catalog: Any, partitions: int) -> list[Finding]:
        """All reasons why the definition does not fit this source. partitions: the number of each topic."""


class Preparation(Protocol):
    """Makes a source capturable."""

    def execute(self, environment: Environment, database: Database, changes: Sequence[Change]) -> None:
        """Runs the statements of changes: all of them, or none. LakeError, too, if they would harm the application."""


@dataclass(frozen=True)
class Address:
    """Where a connector finds its source; password is a reference that Kafka Connect resolves."""

    host: str
    port: int
    password: str


class ConnectorSettings(Protocol):
    """The engine's part of connector_configs/source_<engine>_kafka.json."""

    def values(self, database: Database, address: Address) -> dict[str, str]:
        """The values of the engine's own placeholders."""

    def transport(self, database: Database) -> dict[str, str]:
        """Settings of the connection to a server that the definition names; none for the server of the lake."""

    def selector(self, table: str) -> str:
        """How the connector's list of tables names a table of the definition; it holds no comma."""

    def resolved(self, database: Database) -> dict[str, str]:
        """Settings beyond the template, for what was read from the source."""

    def hashed(self, database: Database, secret: str) -> dict[str, str]:
        """Settings with which columns are hashed before anybody sees them. secret: a reference, as for a password."""

    def exclusive(self, database: Database) -> dict[str, str]:
        """Settings that only one connector may have with these values."""


@dataclass(frozen=True)
class Kept:
    """Log that a source keeps for the lake. left: how much more it may become; None without a limit."""

    bytes: int
    left: int | None


class Capture(Protocol):
    """Positions in the log, the reader of the log, and requests to the connector through its source."""

    def position(self, environment: Environment, database: Database) -> int:
        """The end of the log."""

    def position_text(self, position: int) -> str:
        """The position in the notation of the engine."""

    def is_captured(self, environment: Environment, database: Database, position: int) -> bool:
        """True if Kafka has acknowledged everything before the position."""

    def reader(self, environment: Environment, database: Database) -> int | None:
        """The id of the session that reads the log for the lake; None if there is none."""

    def status(self, environment: Environment, database: Database) -> tuple[str, int | None]:
        """The state in words, and the bytes of log that the source keeps for the capture, if known."""

    def kept(self, environment: Environment, database: Database) -> Kept | None:
        """The log that the source keeps for the capture; None where it keeps none."""

    def request_snapshot(self, environment: Environment, database: Database, tables: list[str]) -> int:
        """Requests that the connector reads tables (schema.table) while it streams. Returns a position after that."""

    def changes_ahead(self, environment: Environment, database: Database) -> dict[str, int] | None:
        """The number of changes that the log still holds for the capture, by table; None if they cannot be counted.

        The capture must be stopped. Of a long log only the first changes are counted.
        """

    def reset(self, environment: Environment, database: Database) -> bool:
        """Releases the log, so that the next capture starts from its end. False while a session reads it."""

    def objects(self, database: Database) -> list[str]:
        """The objects of the capture in the source, as kind and name."""

    def acknowledged(self, offset: Offset | None) -> int:
        """The greatest position in an offset; 0 without an offset."""

    def streamed(self, offset: Offset) -> int:
        """The position, by an offset, of the last change that Kafka has."""


@dataclass(frozen=True)
class ServerFacts:
    """Which server this is; an engine adds more fields. position: where its log ends."""

    position: int


class CaptureFacts(Protocol):
    """The state of the reading of the log."""

    @property
    def active(self) -> bool:
        """True while a session reads the log."""

    @property
    def captured(self) -> int | None:
        """The position before which Kafka has everything; None if it is not known."""

    @property
    def progress(self) -> tuple[int | None, ...]:
        """Positions; at least one of them changes while the capture works."""


@dataclass(frozen=True)
class TableFacts:
    """Facts of a table that change when its rows change without events; an engine adds more fields.

    relation: identity of the table; a table that was dropped and created again has another one.
    columns: names by identity; a column that was dropped and added again has another one.
    loss_reason: in a baseline, why changes were lost; kept until the table is read again.
    loss_count: in a baseline, the number of inspections that found a reason.
    """

    full_name: str
    relation: int
    columns: dict[str, str] = field(default_factory=dict, kw_only=True)
    loss_reason: str = field(default="", kw_only=True)
    loss_count: int = field(default=0, kw_only=True)

    def as_json(self) -> dict[str, Any]:
        """The JSON of baseline files; two of its keys have older names than the fields."""
        content = asdict(self)
        return {**content, "spoiled": content.pop("loss_reason"), "spoils": content.pop("loss_count")}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Self:
        renamed = {"spoiled": "loss_reason", "spoils": "loss_count"}
        return cls(**{renamed.get(key, key): value for key, value in content.items()})


@dataclass(frozen=True)
class Observation:
    """What one inspection reads of a source. position: of the connector, as Kafka acknowledged it."""

    capture: CaptureFacts | None
    position: int
    server: ServerFacts
    tables: Mapping[str, TableFacts]


class Facts(Protocol):
    """The facts that a guardian reads."""

    def observe(self, environment: Environment, database: Database, position: Callable[[], int]) -> Observation:
        """Reads all facts. position() reads the connector's; the engine decides on the order."""

    def read_capture(self, environment: Environment, database: Database) -> Any:
        """CaptureFacts; None if the source has no capture for the database."""

    def size(self, environment: Environment, database: Database, tables: list[str]) -> int:
        """How many bytes the tables have. LakeError if a lock keeps that secret for more than a second."""


class Rules(Protocol):
    """Finds the drift in the facts of the same engine."""

    def of_server(self, database: Database, expected: Any, observed: Any, position: int) -> Iterator[Drift]:
        """Drift of the server. position: of the connector; 0 before its first record."""

    def of_capture(self, database: Database, capture: Any, position: int) -> Iterator[Drift]:
        """Drift of the capture; position as in of_server."""

    def of_table(self, database: Database, expected: Any, observed: Any) -> Iterator[Drift]:
        """Signs that rows changed without events since the baseline."""

    def followed(self, expected: Any, observed: Any) -> Any:
        """What is expected of a table at the next look: without the changes that are no signs."""

    def loss_reason(self, observed: Any, identities: set[str]) -> str:
        """Why capture misses changes now; '' if it does not. identities: the replica identities that are right."""


class Limit(Protocol):
    """The log that a capture may keep on the disk of its source."""

    STILL_S: float  # after this time without progress a capture is considered stuck

    def of_limit(self, environment: Environment, database: Database, capture: Any) -> Iterator[Drift]:
        """Drift: a warning before the limit."""

    def reasons_to_stop(self, environment: Environment, database: Database, capture: Any, is_still: bool) -> list[str]:
        """Why the connector must be stopped. is_still: it makes no progress."""

    def enforce(self, environment: Environment, database: Database, capture: Any) -> None:
        """Protects the source, even if that ends the capture."""


class Protection(Protocol):
    """The application comes before its capture."""

    def protect(self, environment: Environment, database: Database) -> dict[str, str]:
        """Gives the application back the updates that fail because of the capture. What was done, by table."""


@dataclass(frozen=True)
class Guard:
    """The capabilities that a guardian needs. server, table: the engine's classes of facts, which a baseline keeps."""

    server: type[ServerFacts]
    table: type[TableFacts]
    facts: Facts
    rules: Rules
    limit: Limit
    protection: Protection


class Leaving(Protocol):
    """Takes out what the lake put into a source."""

    def note_identities(self, environment: Environment, database: Database) -> None:
        """Keeps how the tables were before the first change of them."""

    def is_there(self, environment: Environment, database: Database) -> bool:
        """False if the database is gone, with all that the lake put into it."""

    def statements(self, environment: Environment, database: Database, whole: bool) -> list[str]:
        """What takes out the tables of the database; whole: nothing of it is captured any more."""


class Leftovers(Protocol):
    """Finds what the lake put into a server, and no definition knows."""

    def leftovers(self, environment: Environment, source: SourceServer | None, known: Iterable[str]) -> Iterator[Drift]:
        """known: the databases of this server that are captured. source: None for the server of the lake."""


@dataclass(frozen=True)
class Engine:
    """One engine.

    types: those that the lake can keep. scripts: the preparation for the chart source-database, {"server": script,
    "databases": {name: script}}; without it the chart can't prepare a source. Without guard, its sources are not
    watched; without leaving, a source keeps what the lake put into it; without leftovers, nobody looks for that.
    """

    name: str
    discovery: Discovery
    checks: Checks
    preparation: Preparation
    connector: ConnectorSettings
    capture: Capture
    types: frozenset[str]
    scripts: Callable[[list[Database]], dict[str, Any]] | None = None
    guard: Guard | None = None
    leaving: Leaving | None = None
    leftovers: Leftovers | None = None
