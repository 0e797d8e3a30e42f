"""One change that `lake apply` will make."""

from dataclasses import dataclass
from typing import Literal

SET_PASSWORD = "set password, as in this lake's secrets"  # of a role: until then its connector cannot log in
Kind = Literal["source", "topic", "connector", "snapshot", "pipeline", "leave"]


@dataclass(frozen=True)
class Change:
    """One change.

    database is empty for the pipeline file; detail is the SQL of a source change, text otherwise. table: that which a
    source change is made for, "schema.table"; empty where it is made for the whole database.
    """

    kind: Kind
    database: str
    object: str
    action: str
    detail: str
    table: str = ""
