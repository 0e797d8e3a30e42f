"""The rules for a PostgreSQL source: which facts are drift. Each compares what was expected with what is observed."""

from collections.abc import Iterator
from dataclasses import replace

from lake.config.definition import Database
from lake.sources.drift import Drift, gap, loss
from lake.sources.postgres import names
from lake.sources.postgres.facts import ServerFacts, Slot, TableFacts
from lake.sources.postgres.roles import CAPTURE

PLUGIN = "pgoutput"
IDENTITIES = {"d": "DEFAULT", "i": "USING INDEX", "n": "NOTHING"}


def of_server(database: Database, expected: ServerFacts, observed: ServerFacts, position: int) -> Iterator[Drift]:
    """position: of the connector in the log, as Kafka acknowledged it; 0 before its first record."""
    if observed.system_identifier != expected.system_identifier:
        yield gap(database, f"this is another server: system_identifier {observed.system_identifier}")
    elif observed.timeline != expected.timeline:
        what = f"the server was restored or promoted: timeline {observed.timeline}, not {expected.timeline}"
        yield gap(database, what)
    elif observed.position < position:
        yield gap(database, "the server's log ends before the connector's position: it was restored from a backup")


def of_capture(database: Database, slot: Slot | None, position: int) -> Iterator[Drift]:
    """Nothing is expected of a slot before the connector's first record."""
    if not position:
        return
    if slot is None:
        yield gap(database, f"replication slot {names.slot(database)} does not exist")
        return
    if slot.wal_status == "lost":
        yield gap(database, f"slot {names.slot(database)} lost the log that it needs (wal_status lost)")
    if (slot.plugin, slot.database) != (PLUGIN, database.database):
        what = f"slot {names.slot(database)} is not the lake's: plug-in {slot.plugin}, database {slot.database}"
        yield gap(database, what)
    if slot.reader not in (None, CAPTURE):
        yield gap(database, f"slot {names.slot(database)} is read by {slot.reader}")
    if slot.captured is not None and slot.captured > position:
        yield gap(database, f"slot {names.slot(database)} is ahead of the connector: it was advanced or re-created")


def of_table(database: Database, expected: TableFacts, observed: TableFacts | None) -> Iterator[Drift]:
    """Signs that rows changed without events since the baseline."""
    if observed is None:
        return  # a rule of the definition reports it
    if expected.loss_reason:
        yield loss(database, expected.full_name, expected.loss_reason)
    elif observed.relation != expected.relation:
        yield loss(database, expected.full_name, "was dropped and re-created")
    elif observed.membership not in (None, expected.membership):
        yield loss(database, expected.full_name, "was out of the publication for a while")
    if rewritten(expected, observed):
        what = "was rewritten (ALTER TYPE), or a partition of it was emptied, rewritten or taken away"
        yield loss(database, expected.full_name, what)
    if rekeyed(expected, observed):
        yield loss(database, expected.full_name, "had its primary key dropped or changed")
    for what in retold(expected, observed):
        yield loss(database, expected.full_name, what)
    if fresh := [column for column in observed.defaulted if column not in expected.defaulted]:
        what = f"has rows that got the DEFAULT of {', '.join(fresh)} without an event"
        yield loss(database, expected.full_name, what)


def retold(expected: TableFacts, observed: TableFacts) -> Iterator[str]:
    """Changes of types after which PostgreSQL writes another text for values that are stored already."""
    labels = [(old, observed.labels.get(oid, old)) for oid, old in expected.labels.items()]
    if renamed := [f"{old} to {label}" for old, label in labels if label != old]:
        yield f"has rows with enum labels that were renamed: {', '.join(renamed)}"
    composites = [(old, observed.composites.get(oid, old)) for oid, old in expected.composites.items()]
    if changed := [name for (_, *old), (name, *new) in composites if new != old]:
        yield f"has values of composite types that got or lost an attribute: {', '.join(changed)}"


def loss_reason(observed: TableFacts, identities: set[str]) -> str:
    """Why changes are lost; a correction does not bring them back. PostgreSQL names identities by a letter."""
    if not observed.published:
        return "was in a publication that does not publish all changes"
    if observed.narrowed:
        return "was published with a row filter or a column list"
    if wrong := sorted({*observed.identities} - {"f", *(identity[0] for identity in identities)}):
        return f"had the replica identity {', '.join(IDENTITIES[one] for one in wrong)}"
    return ""


def rekeyed(expected: TableFacts, observed: TableFacts) -> bool:
    """True if the primary key is gone or another one. REINDEX keeps its oid, an ALTER TYPE may keep the file."""
    before, after = expected.key_index, observed.key_index
    if not before or not after:
        return before != after and bool(before)
    return before[0] != after[0] and (before[1] != after[1] or not before[1])


def rewritten(expected: TableFacts, observed: TableFacts) -> bool:
    """True if a relation that held rows was removed, or written anew with other rows; a new partition is neither."""
    before, after = expected.files or {}, observed.files or {}
    changed = {leaf for leaf, file in before.items() if after.get(leaf) != file}
    return observed.relation == expected.relation and bool(changed) and not _same_rows(expected, observed, changed)


def _same_rows(expected: TableFacts, observed: TableFacts, changed: set[str]) -> bool:
    """True after VACUUM FULL and CLUSTER: no column was altered, and a TRUNCATE would be told by its event.

    That of a partition sends none, as the changes of its root are published.
    """
    own = changed == {str(expected.relation)} and changed <= (observed.files or {}).keys()
    return own and bool(expected.attributes) and observed.attributes == expected.attributes


def followed(expected: TableFacts, observed: TableFacts) -> TableFacts:
    """What the next look expects: files and columns as they are, unless their change is a sign; new types."""
    if observed.relation != expected.relation or rewritten(expected, observed):
        return expected
    return replace(
        expected,
        files=observed.files,
        attributes=observed.attributes,
        labels={oid: expected.labels.get(oid, label) for oid, label in observed.labels.items()},
        composites={oid: expected.composites.get(oid, one) for oid, one in observed.composites.items()},
    )
