"""What a source engine does for the lake: one small interface per capability, a module of the engine's folder each.

Everything here speaks of position (an integer that grows along the engine's log), capture (what reads the log for the
lake) and identity. What an engine calls them stays in its folder.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol, Self

from lake.config.definition import Database
from lake.config.environment import Environment
from lake.sources.change import Change
from lake.sources.drift import Drift

Offset = Mapping[str, Any]  # of a connector, as Kafka Connect keeps it


@dataclass(frozen=True)
class SourceFacts:
    """One database as it stands: the engine's catalog, what it still needs, and what capture no longer needs of it."""

    catalog: Any
    missing: list[Change]
    departed: list[Change]


class Discovery(Protocol):
    """Reads the catalog."""

    def read_source(self, environment: Environment, database: Database) -> SourceFacts:
        """The facts of one database. Writes and locks nothing."""


class Checks(Protocol):
    """Preconditions."""

    def check_source(self, database: Database, catalog: Any, partitions: int) -> None:
        """BadInput for what the definition may not ask of this source; partitions: those of each topic."""


class Preparation(Protocol):
    """Makes a source capturable."""

    def execute(self, environment: Environment, database: str, statements: list[str]) -> None:
        """The statements of changes, all or none."""


@dataclass(frozen=True)
class Address:
    """Where a connector finds its source; password is a reference that Kafka Connect resolves."""

    host: str
    port: int
    password: str


class ConnectorSettings(Protocol):
    """The engine's part of connector_configs/source_<engine>_kafka.json."""

    def values(self, database: Database, address: Address) -> dict[str, str]:
        """What the engine's own placeholders stand for."""

    def exclusive(self, database: Database) -> dict[str, str]:
        """Settings that no second connector may have with these values."""


class Capture(Protocol):
    """Positions, who reads, and what a connector can be asked through its source."""

    def position(self, environment: Environment, database: Database) -> int:
        """Where the log ends now."""

    def position_text(self, position: int) -> str:
        """As the engine writes it."""

    def is_captured(self, environment: Environment, database: Database, position: int) -> bool:
        """Whether Kafka has acknowledged everything before the position."""

    def reader(self, environment: Environment, database: Database) -> int | None:
        """What identifies the session that reads the log for the lake; None while none does."""

    def status(self, environment: Environment, database: Database) -> tuple[str, int | None]:
        """In words, and the bytes of log that are kept for the capture, if known."""

    def request_snapshot(self, environment: Environment, database: str, tables: list[str]) -> int:
        """Asks the connector to read tables (schema.table) beside the stream; a position after the request."""

    def reset(self, environment: Environment, database: Database) -> bool:
        """Ends the capture's hold on the log, so that the next one starts from its end; False while it is read."""

    def objects(self, database: Database) -> list[str]:
        """What it leaves in the source, by kind and name."""

    def acknowledged(self, offset: Offset | None) -> int:
        """The greatest position that an offset names; 0 where there is none."""

    def streamed(self, offset: Offset) -> int:
        """The position of the last change that Kafka has, by an offset."""


@dataclass(frozen=True)
class ServerFacts:
    """Which server this is; an engine adds fields of its own. position: where its log ends."""

    position: int


class CaptureFacts(Protocol):
    """Who reads the log for the lake, and how far."""

    @property
    def active(self) -> bool:
        """Somebody reads just now."""

    @property
    def captured(self) -> int | None:
        """The position before which Kafka has everything; None where that is not known."""

    @property
    def progress(self) -> tuple[int | None, ...]:
        """Positions of which one at least moves while the capture works."""


@dataclass(frozen=True)
class TableFacts:
    """What changes when rows of a table change without events; an engine adds fields of its own.

    relation: identity of the table, another one when it was dropped and created again.
    columns: names by identity; a name keeps it for as long as its values are the same column's.
    loss_reason: in a baseline, why changes have been lost since; it stays until the table was read again.
    loss_count: in a baseline, how many inspections have found a reason so far.
    """

    full_name: str
    relation: int
    columns: dict[str, str] = field(default_factory=dict, kw_only=True)
    loss_reason: str = field(default="", kw_only=True)
    loss_count: int = field(default=0, kw_only=True)

    def as_json(self) -> dict[str, Any]:
        """Under the keys of the files that lakes have kept since their first guardian."""
        content = asdict(self)
        return {**content, "spoiled": content.pop("loss_reason"), "spoils": content.pop("loss_count")}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Self:
        renamed = {"spoiled": "loss_reason", "spoils": "loss_count"}
        return cls(**{renamed.get(key, key): value for key, value in content.items()})


@dataclass(frozen=True)
class Observation:
    """What a guardian reads of a source; position: of the connector, as Kafka acknowledged it."""

    capture: CaptureFacts | None
    position: int
    server: ServerFacts
    tables: Mapping[str, TableFacts]


class Facts(Protocol):
    """What a guardian reads."""

    def observe(self, environment: Environment, database: Database, position: Callable[[], int]) -> Observation:
        """position() asks the connector; the engine knows in which order that and the rest are to be read."""

    def read_capture(self, environment: Environment, database: Database) -> Any:
        """CaptureFacts, or None where the source has no capture of that name."""


class Rules(Protocol):
    """Which of the facts are drift. Engines give their own facts back."""

    def of_server(self, database: Database, expected: Any, observed: Any, position: int) -> Iterator[Drift]:
        """position: of the connector; 0 before its first record."""

    def of_capture(self, database: Database, capture: Any, position: int) -> Iterator[Drift]:
        """Likewise."""

    def of_table(self, database: Database, expected: Any, observed: Any) -> Iterator[Drift]:
        """What tells that rows changed without events since the baseline."""

    def loss_reason(self, observed: Any, identities: set[str]) -> str:
        """Why capture misses changes now, '' where it does not; identities: those that the table is captured for."""


class Limit(Protocol):
    """What a capture may cost its source."""

    STILL_S: float  # a capture that made no progress for so long does no work

    def of_limit(self, environment: Environment, database: Database, capture: Any) -> Iterator[Drift]:
        """A warning."""

    def reasons_to_stop(self, environment: Environment, database: Database, capture: Any, is_still: bool) -> list[str]:
        """Why the connector is to be stopped; is_still: it makes no progress."""

    def enforce(self, environment: Environment, database: Database, capture: Any) -> None:
        """Protects the source, at the price of the capture."""


@dataclass(frozen=True)
class Guard:
    """What a guardian needs. server, table: the engine's own classes of facts, which a baseline keeps as JSON."""

    server: type[ServerFacts]
    table: type[TableFacts]
    facts: Facts
    rules: Rules
    limit: Limit


@dataclass(frozen=True)
class Engine:
    """One engine.

    types: those that the lake can keep. scripts: the preparation for the chart source-database, {"server": script,
    "databases": {name: script}}; without it the chart can't prepare a source. Without guard, its sources are not
    watched.
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
