"""The names that the columns of a source have in the lake. The same rule is in lake/config/naming.py."""

import re
import zlib
from typing import Dict, Iterable, Mapping, Sequence, Set

from spark_jobs.runtime.pipeline import Table

OWN = "source"  # begins the name of a column that has one of the lake's own names
LAKES = ("_hoodie", "_toast_")
ADDED = (
    *("__op", "__db", "__table", "__schema", "__lsn", "__source_ts_ms", "__deleted", "_order", "_key"),
    *("__row", "__content", "__ended_by"),
)
OF_MESSAGES = ("__unavailable", "__moved_from", "__run", "__was")  # no columns of the table


def stored_columns(names: Iterable[str], key: Sequence[str], chosen: Mapping[str, str]) -> Dict[str, str]:
    """The name in the lake of each column of a table. names: in the order of the table. chosen: by the definition.

    Of columns that meet, the first one gets the name, one of the key before all others; the next ones get a suffix.
    """
    taken = set(chosen.values())
    found = {}  # type: Dict[str, str]
    for name in dict.fromkeys([*key, *names]):
        found[name] = chosen.get(name) or _free(name, taken)
        taken.add(found[name])
    return found


def of_table(table: Table, names: Sequence[str]) -> Dict[str, str]:
    """The same for the columns that the source has; one of the key that it has not is left out."""
    stored = stored_columns(names, table.source_key, table.chosen_names)
    return {name: stored[name] for name in stored if name in names}


def _free(name: str, taken: Set[str]) -> str:
    stored = _stored(name)
    if stored in taken:
        stored = "{}_{:08x}".format(stored, zlib.crc32(name.encode("utf-8")))
    while stored in taken:
        stored += "_"
    return stored


def _stored(name: str) -> str:
    lower = re.sub("[A-Z]", lambda upper: upper.group().lower(), name)
    plain = re.sub("[^a-z0-9_]", "_", lower)
    found = "_" + plain if plain[0].isdigit() else plain
    return OWN + found if found.startswith(LAKES) or found in ADDED + OF_MESSAGES else found
