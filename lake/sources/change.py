"""One change that `lake apply` will make."""

from dataclasses import dataclass
from typing import Literal

Kind = Literal["source", "topic", "connector", "snapshot", "pipeline"]


@dataclass(frozen=True)
class Change:
    """One change.

    database is empty for the pipeline file; detail is the SQL of a source change, text otherwise.
    """

    kind: Kind
    database: str
    object: str
    action: str
    detail: str
