"""The checker: the lake against everything that PostgreSQL ever committed.

Steps b to g of the definition; a (come to rest) and h (alarms) are the trial's, i (negative controls) test_checker's.
Each step takes the evidence of one table and returns what is wrong, a line each; nothing when all is right.
"""

from collections import Counter
from collections.abc import Callable, Iterator

from tests.faults.evidence import Evidence, Key, Row, Version

NAMED_AT_MOST = 5
SENTINEL = "lake\0unavailable"
DEBEZIUM_S = "__debezium_unavailable_value"  # its own, where nobody names another
SENTINELS = tuple(form for one in (SENTINEL, DEBEZIUM_S) for form in (one, one.encode().hex()))
Step = Callable[[Evidence], Iterator[str]]


def check(found: dict[str, Evidence]) -> list[str]:
    """All steps over all tables; each line says step, table and what is wrong."""
    return [
        f"{letter} {name}: {line}"
        for name, evidence in found.items()
        for letter, step in STEPS.items()
        for line in _few(step(evidence))
    ]


def rows_checked(found: dict[str, Evidence]) -> int:
    """How many row versions were held against the audit."""
    return sum(
        len(evidence.topic) + sum(len(rows) for rows in [*evidence.lake.values(), *evidence.observed.values()])
        for evidence in found.values()
    )


def audit(evidence: Evidence) -> Iterator[str]:
    """The witness itself: its order is that of the commits, and its last version of each key the row that is there."""
    yield from evidence.doubts
    last = {version.key: None if version.deleted else version.row for version in evidence.audit}
    yield from _unequal("audit", evidence.source, {key: row for key, row in last.items() if row is not None})


def equality(evidence: Evidence) -> Iterator[str]:
    """b: the live rows of every view are the rows of the source, in all columns."""
    for name, rows in _views(evidence):
        yield from _unequal(name, evidence.source, {row.key: row.row for row in rows if not row.deleted})


def uniqueness(evidence: Evidence) -> Iterator[str]:
    """c: a key stands in one row of a view, whatever its partition."""
    for name, rows in _views(evidence):
        counted = Counter(row.key for row in rows)
        yield from (f"{name}: {key} stands in {count} rows" for key, count in counted.items() if count > 1)


def deletes(evidence: Evidence) -> Iterator[str]:
    """d: the deleted keys are those that were ever captured and are gone, with the data that they had last."""
    last = {version.key: version.row for version in evidence.audit if version.deleted}
    captured = {version.key for version in (evidence.audit if _from_the_start(evidence) else evidence.topic)}
    expected = {key: _kept(evidence, last.get(key, {})) for key in captured - set(evidence.source)}
    for name, rows in _views(evidence):
        yield from _unequal(
            f"{name}, deleted", expected, {row.key: _left(evidence, row) for row in rows if row.deleted}
        )


def accounting(evidence: Evidence) -> Iterator[str]:
    """e: every offset of the topic once in the archive, in the file whose name says so, and behind each table."""
    end = len(evidence.topic)
    archived = Counter(offset for file in evidence.archive for offset in file.offsets)
    missing = [offset for offset in range(end) if offset not in archived]
    if missing:
        yield f"{len(missing)} of {end} offsets are not in the archive, the first is {missing[0]}"
    yield from (f"offset {offset} is {count} times in the archive" for offset, count in archived.items() if count > 1)
    yield from (
        f"{file.name} begins at {file.offsets[0]}" for file in evidence.archive if file.offsets[0] != file.start
    )
    for kind, reached in evidence.consumed.items():
        if reached != end:
            yield f"{kind} consumed {reached} of {end}"


def sequence(evidence: Evidence) -> Iterator[str]:
    """e: of each key, the topic has every version from the last one that a snapshot read, in the order of commit.

    From the very first one, when the table was captured before it had rows. An event that comes again, or late behind
    a snapshot, is no fault of the topic: one that never came is.
    """
    committed, captured = _by_key(evidence, evidence.audit), _by_key(evidence, evidence.topic)
    whole = _from_the_start(evidence)
    for key, events in captured.items():
        places = {version: place for place, (version, _) in enumerate(committed.get(key, []))}
        reached = [places.get(version, -1) for version, _ in events]
        if -1 in reached:
            yield f"topic: {key} has a version that was never committed"
            continue
        reads = [place for place, (_, read) in zip(reached, events, strict=True) if read]
        begin = reads[-1] if reads else 0 if whole else reached[0]
        firsts = list(dict.fromkeys(place for place in reached if place >= begin))
        missing = set(places.values()) - set(range(begin)) - set(firsts)
        if missing:
            yield f"topic: {key} lacks {len(missing)} of {len(places) - begin} versions"
        elif firsts != sorted(firsts):
            yield f"topic: {key} has its versions in another order"
    for key in set(committed if whole else evidence.source) - set(captured):
        yield f"topic: {key} is not there"


def history(evidence: Evidence) -> Iterator[str]:
    """f: no row that the lake shows or ever showed is one that PostgreSQL did not commit."""
    known = {_print(evidence, one) for version in evidence.audit for one in (version, _early(evidence, version))}
    for kind, rows in evidence.observed.items():
        foreign = [row for row in [*rows, *evidence.lake[kind]] if _print(evidence, row) not in known]
        yield from (f"{kind}: {row.key} was never {_shown(row)}" for row in foreign)


def reads(evidence: Evidence, kind: str, shown: list[list[Version]]) -> Iterator[str]:
    """f: what queries showed one after the other, each of a committed state, and none of an older one than before."""
    places = {_print(evidence, version): place for place, version in enumerate(evidence.audit)}
    seen: dict[Key, int] = {}
    for number, rows in enumerate(shown):
        found = {row.key: places.get(_print(evidence, row), -1) for row in rows}
        if len(found) < len(rows):
            yield f"{kind}: read {number} has {len(rows) - len(found)} keys twice"
        if lost := [key for key in seen if key not in found]:
            yield f"{kind}: read {number} lacks {len(lost)} keys, which were there: {lost[:NAMED_AT_MOST]}"
        older = [key for key, place in found.items() if place < seen.get(key, 0)]
        yield from (f"{kind}: read {number} has {key} as it never was, or was before" for key in older)
        seen = {**seen, **found}


def sentinels(evidence: Evidence) -> Iterator[str]:
    """g: no placeholder for a value that was not sent, but in an event of a table whose events need not have all."""
    sent = [version._replace(row=_sent(evidence, version.row)) for version in evidence.topic]
    for name, rows in [*_views(evidence), *evidence.observed.items(), ("topic", sent)]:
        for row in rows:
            if any(sentinel in text for text in row.row.values() for sentinel in SENTINELS):
                yield f"{name}: {row.key} holds a placeholder"


STEPS: dict[str, Step] = {
    "audit": audit,
    "b": equality,
    "c": uniqueness,
    "d": deletes,
    "e": accounting,
    "e order": sequence,
    "f": history,
    "g": sentinels,
}


def _from_the_start(evidence: Evidence) -> bool:
    """Whether no row came by a snapshot: then every version came through the slot, and must be in the topic."""
    return not any(version.read for version in evidence.topic)


def _views(evidence: Evidence) -> list[tuple[str, list[Version]]]:
    views = list(evidence.lake.items())
    return views if evidence.optimised is None else [*views, ("read-optimised", evidence.optimised)]


def _unequal(name: str, expected: dict[Key, Row], found: dict[Key, Row]) -> Iterator[str]:
    for key in [*expected, *(key for key in found if key not in expected)]:
        if expected.get(key) != found.get(key):
            yield f"{name}: {key} is {_short(found.get(key))}, not {_short(expected.get(key))}"


def _kept(evidence: Evidence, row: Row) -> Row:
    """What stays of a deleted row."""
    table = evidence.table
    if not (table.hard or table.partial_deletes):
        return row
    place = [] if table.partial_deletes else [table.settings.get("partition")]
    return {name: text for name, text in row.items() if name in [*table.key, *place]}


def _left(evidence: Evidence, deleted: Version) -> Row:
    """What the lake shows of a deleted row. The delete that a change of key begins with may keep the data (ADR 18)."""
    table = evidence.table
    return _kept(evidence, deleted.row) if table.partial_deletes and not table.hard else deleted.row


def _print(evidence: Evidence, version: Version) -> tuple[bool, frozenset[tuple[str, str]]]:
    """What tells a version from all others; of a deletion only what is kept of the row."""
    row = _kept(evidence, version.row) if version.deleted else version.row
    return version.deleted, frozenset(row.items())


def _by_key(evidence: Evidence, versions: list[Version]) -> dict[Key, list[tuple[object, bool]]]:
    """What tells each version of a key from the others, and whether a snapshot read it.

    A delete that brings the key alone is like any other of that key, and is left out; so are values that an event
    may lack.
    """
    found: dict[Key, list[tuple[object, bool]]] = {}
    for version in versions:
        if not (version.deleted and evidence.table.partial_deletes):
            known = (version.deleted, frozenset(_sent(evidence, version.row).items()))
            found.setdefault(version.key, []).append((known, version.read))
    return found


def _sent(evidence: Evidence, row: Row) -> Row:
    return _without(row, *evidence.table.unsent, *evidence.table.late)


def _early(evidence: Evidence, version: Version) -> Version:
    """As a snapshot reads it that began before its latest columns came."""
    return version._replace(row=_without(version.row, *evidence.table.late))


def _without(row: Row, *columns: str) -> Row:
    return {name: text for name, text in row.items() if name not in columns}


def _shown(version: Version) -> str:
    return ("deleted with " if version.deleted else "") + _short(version.row)


def _short(row: Row | None) -> str:
    return "absent" if row is None else str(row)[:200]


def _few(lines: Iterator[str]) -> list[str]:
    found = list(lines)
    rest = [f"and {len(found) - NAMED_AT_MOST} more"] if len(found) > NAMED_AT_MOST else []
    return [*found[:NAMED_AT_MOST], *rest]
