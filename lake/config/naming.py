"""The names of one thing in different places, by rules that need nothing but the name: docs/names.md lists them.

The rule for columns is also in spark_jobs/sources/names.py and in lake.connect.Names; tests/unit/test_agreement.py
compares them.
"""

import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from types import MappingProxyType

PLAIN = re.compile(r"[a-z_][a-z0-9_]*\Z")
CAPTURE = "lake_"  # begins the names of slot and publication
CAPTURE_LIMIT = 63  # of a replication slot
PART_LIMIT = 80  # three parts and two dots are a topic, for which Kafka allows 249
OWN = "source"  # begins the lake's name of a column that has one of the lake's own names: source__deleted
NOTHING_CHOSEN: Mapping[str, str] = MappingProxyType({})
ROW = "__row"  # the column that tells the rows of a table without a key apart; lake.connect.NameRows makes it
QUOTED = r'"(?:[^"]|"")+"'
ADDED_COLUMNS = (
    "__op",
    "__db",
    "__table",
    "__schema",
    "__lsn",
    "__source_ts_ms",
    "__deleted",
    "_order",
    "_key",
    "__unavailable",
    "__moved_from",
    "__run",
    ROW,
    "__content",
    "__was",
    "__ended_by",
)


def is_added_column(column: str) -> bool:
    """True for a name that only the pipeline gives to columns."""
    return column.lower().startswith(("_hoodie", "_toast_")) or column.lower() in ADDED_COLUMNS


def folded(name: str) -> str:
    """A name that Avro, Hive and Glue accept: A to Z in lower case, all but letters, digits and _ replaced by _."""
    found = re.sub("[^a-z0-9_]", "_", re.sub("[A-Z]", lambda upper: upper[0].lower(), name))
    return f"_{found}" if found[0].isdecimal() else found


def stored_column(name: str) -> str:
    """The name of a column in the lake, unless another column of its table has it."""
    found = folded(name)
    return OWN + found if is_added_column(found) else found


def stored_columns(
    names: Iterable[str], key: Sequence[str], chosen: Mapping[str, str] = NOTHING_CHOSEN
) -> dict[str, str]:
    """The name in the lake of each column of a table. names: in the order of the table. chosen: by the definition.

    Of columns that meet, the first one gets the name, one of the key before all others; the next ones get a suffix.
    """
    taken = set(chosen.values())
    found: dict[str, str] = {}
    for name in dict.fromkeys([*key, *names]):
        found[name] = chosen.get(name) or _free(name, taken)
        taken.add(found[name])
    return found


def _free(name: str, taken: set[str]) -> str:
    stored = stored_column(name)
    if stored in taken:
        stored = f"{stored}_{checksum(name)}"
    while stored in taken:
        stored += "_"
    return stored


def checksum(name: str) -> str:
    return f"{zlib.crc32(name.encode()):08x}"


def topic_part(name: str) -> str:
    """A part of a topic: each name has another one. -xx stands for a byte of UTF-8 that is no letter, digit or _."""
    kept = re.sub("-(?=[0-9a-f]{2})", "\0", name)
    found = re.sub("[^A-Za-z0-9_-]", lambda other: "".join(f"-{byte:02x}" for byte in _bytes(other[0])), kept)
    if len(found) <= PART_LIMIT:
        return found
    digest = sha256(name.encode()).hexdigest()[:16]
    return f"{found[: PART_LIMIT - 19]}-61{digest}"  # -61 is the letter a, which no other name has in this form


def _bytes(character: str) -> bytes:
    return b"-" if character == "\0" else character.encode()


def record_name(topic: str) -> str:
    """How Debezium names the records of a topic in Avro (schema.name.adjustment.mode: avro)."""
    return re.sub("[^A-Za-z0-9_.]", "_", topic)


def capture_name(database: str) -> str:
    """The name of slot and publication."""
    name = CAPTURE + database
    if PLAIN.match(database) and len(name) <= CAPTURE_LIMIT:
        return name
    return f"{CAPTURE}{folded(database)[: CAPTURE_LIMIT - len(CAPTURE) - 9]}_{checksum(database)}"


def split(name: str) -> tuple[str, str] | None:
    """Schema and table of a name as a definition has it; a part with a dot or a quote is in quotes. None: neither."""
    found = re.fullmatch(rf'({QUOTED}|[^".]+)\.({QUOTED}|[^".]+)', name, re.DOTALL)
    return (_unquoted(found[1]), _unquoted(found[2])) if found else None


def joined(schema: str, table: str) -> str:
    """The inverse of split()."""
    return f"{_as_written(schema)}.{_as_written(table)}"


def _unquoted(part: str) -> str:
    return part[1:-1].replace('""', '"') if part.startswith('"') else part


def _as_written(part: str) -> str:
    return quoted(part) if "." in part or '"' in part else part


def quoted(name: str) -> str:
    """An identifier of PostgreSQL."""
    return '"{}"'.format(name.replace('"', '""'))
