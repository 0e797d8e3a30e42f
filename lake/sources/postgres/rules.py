"""The rules: which facts of a source are drift. Each takes what is known and yields what differs, in words."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from lake.config.definition import Database
from lake.config.environment import Wal
from lake.config.errors import BadInput
from lake.rendering.connector import CAPTURE_USER
from lake.sources.drift import BEHIND_S, Drift
from lake.sources.postgres.catalog import Source
from lake.sources.postgres.facts import Server, Slot, TableFacts
from lake.sources.postgres.preconditions import refuse_source
from lake.sources.postgres.preparation import source_changes

PLUGIN = "pgoutput"
IDENTITIES = {"d": "DEFAULT", "i": "USING INDEX", "n": "NOTHING"}


def of_server(database: Database, accepted: Server, server: Server, position: int) -> Iterator[Drift]:
    """position: of the connector in the log, as Kafka acknowledged it; 0 before its first record."""
    if server.system_identifier != accepted.system_identifier:
        yield _gap(database, f"this is another server: system_identifier {server.system_identifier}")
    elif server.timeline != accepted.timeline:
        what = f"the server was restored or promoted: timeline {server.timeline}, not {accepted.timeline}"
        yield _gap(database, what)
    elif server.position < position:
        what = "the server's log ends before the connector's position: it was restored from a backup"
        yield _gap(database, what)


def of_slot(database: Database, slot: Slot | None, position: int) -> Iterator[Drift]:
    """Nothing is expected of a slot before the connector's first record."""
    if not position:
        return
    if slot is None:
        yield _gap(database, f"replication slot {database.slot} is gone")
        return
    if slot.wal_status == "lost":
        yield _gap(database, f"the log that slot {database.slot} needs is gone (wal_status lost)")
    if (slot.plugin, slot.database) != (PLUGIN, database.database):
        what = f"slot {database.slot} is a foreign one: plug-in {slot.plugin}, database {slot.database}"
        yield _gap(database, what)
    if slot.reader not in (None, CAPTURE_USER):
        yield _gap(database, f"slot {database.slot} is read by {slot.reader}")
    if slot.confirmed is not None and slot.confirmed > position:
        yield _gap(database, f"slot {database.slot} is ahead of the connector: it was advanced or made anew")


def of_table(database: Database, accepted: TableFacts, now: TableFacts | None) -> Iterator[Drift]:
    """What tells that rows changed without events since the table was last in order."""
    if now is None:
        return  # the rules of the definition name it
    if accepted.spoiled:
        yield _lost(database, accepted, accepted.spoiled)
    elif now.relation != accepted.relation:
        yield _lost(database, accepted, "was dropped and made anew")
    elif now.membership not in (None, accepted.membership):
        yield _lost(database, accepted, "was out of the publication for a while")
    if rewritten(accepted, now):
        yield _lost(database, accepted, "was emptied or rewritten (TRUNCATE, ALTER TYPE, VACUUM FULL, a partition)")
    if fresh := [column for column in now.defaulted if column not in accepted.defaulted]:
        what = f"has rows that got the DEFAULT of {', '.join(fresh)} without an event"
        yield _lost(database, accepted, what)


def spoils(now: TableFacts, identities: set[str]) -> str:
    """Why the capture misses changes at this moment, '' when it does not: a mended source does not bring them back.

    identities: those that the capture of the table is made for, as PostgreSQL abbreviates them.
    """
    if not now.published:
        return "was in a publication that does not tell of all changes"
    if now.narrowed:
        return "was published with a row filter or a column list"
    if wrong := sorted({*now.identities} - {*identities, "f"}):
        return f"had the replica identity {', '.join(IDENTITIES[one] for one in wrong)}"
    return ""


def moved(known: TableFacts, now: TableFacts) -> str:
    """Why a column has the values of another one, '' when none has: rows that do not change send no event of that."""
    numbers = {name: number for number, name in known.columns.items()}
    for number, name in now.columns.items() if now.relation == known.relation else ():
        if (before := known.columns.get(number, name)) != name:
            return f"had its column {before} renamed to {name}"
        if numbers.get(name, number) != number:
            return f"had its column {name} dropped and added again"
    return ""


def rewritten(accepted: TableFacts, now: TableFacts) -> bool:
    """Whether what held rows holds them no more, or in another file; a partition that joins is no rewriting."""
    before, after = accepted.files or {}, now.files or {}
    return now.relation == accepted.relation and any(after.get(leaf) != file for leaf, file in before.items())


def of_definition(database: Database, source: Source) -> Iterator[Drift]:
    """What the definition may not ask for by now, and what `lake apply` would put right."""
    try:
        refuse_source(database, source)
    except BadInput as problem:
        yield Drift(database.database, "", f"{problem.what} ({problem.where})", problem.now)
        return
    for change in source_changes(database, source):
        yield Drift(
            database.database, "", f"differs from the definition: {change.object}", f"{change.action}: lake apply"
        )


def of_connectors(database: Database, settings: Mapping[str, Mapping[str, str]]) -> Iterator[Drift]:
    """Another connector that writes to the same topics, or takes turns at the slot: one's older changes, or rows of
    its snapshot, land behind newer ones of the other. settings: of all connectors, by name.
    """
    for name, one in settings.items():
        shared = {"topic.prefix": database.database, "slot.name": database.slot}
        named = [f"{key} {value}" for key, value in shared.items() if one.get(key) == value]
        if named and name != database.connector:
            what = f"connector {name} has the {' and the '.join(named)} of {database.connector}, too"
            now = f"delete {name} in Kafka Connect, then: lake verify {database.database}"
            yield Drift(database.database, "", what, now)


def without_connector(database: Database) -> Drift:
    """Nothing reads the slot of tables that are applied."""
    what = f"Kafka Connect has no connector {database.connector}: nothing is captured"
    return Drift(database.database, "", what, "lake apply")


def of_budget(database: Database, slot: Slot | None, budget: Wal) -> Iterator[Drift]:
    """The log that the slot keeps on the source's disk."""
    retained = slot.retained_bytes or 0 if slot else 0
    if retained > budget.warn_bytes:
        what = f"slot {database.slot} retains more than {budget.warn_bytes:,} bytes of log"
        now = (
            f"see why the connector is behind: lake status; above {budget.pause_bytes:,} it is stopped "
            f"unless it comes further, above {budget.drop_bytes:,} the slot is dropped"
        )
        yield Drift(database.database, "", what, now)


def of_delay(database: Database, age_s: float) -> Iterator[Drift]:
    """What is on its way to Kafka, and for how long."""
    if age_s > BEHIND_S:
        what = f"Kafka lacks what was committed more than {BEHIND_S:.0f} s ago"
        now = f"wait while {database.connector} has much to read at once; else: lake logs connect"
        yield Drift(database.database, "", what, now)


def unfinished(database: Database, drift: Drift) -> Drift:
    """The drift while a recovery of it is under way."""
    return replace(drift, now=f"being recovered: lake recover {database.database}")


def _gap(database: Database, what: str) -> Drift:
    return Drift(database.database, "", f"{what}; changes are lost", f"lake recover {database.database}", lost=True)


def _lost(database: Database, table: TableFacts, what: str) -> Drift:
    now = f"lake recover {database.database}"
    return Drift(database.database, table.full_name, f"{table.full_name} {what}", now, lost=True)
