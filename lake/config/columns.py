"""What becomes of single columns of a table: left out, hashed, or known in the lake by another name."""

from collections.abc import Collection, Iterator, Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, ConfigDict, StrictBool
from pydantic.dataclasses import dataclass

from lake.config.identifiers import Identifier, SourceColumn
from lake.config.naming import is_added_column

ALL_OTHERS = "*"
WORDS: Mapping[str, Mapping[str, bool]] = {"keep": {}, "drop": {"drop": True}, "hash": {"hash": True}}


def _not_ours(name: str) -> str:
    if is_added_column(name):
        raise ValueError(f"'{name}' is a name that only the pipeline gives to columns | choose another name")
    return name


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Column:
    """`drop`, `hash` or `keep`; or these keys."""

    drop: StrictBool = False  # never in the lake, nor in Kafka; short: `drop`
    hash: StrictBool = False  # a text of 64 hexadecimal digits instead of the value; short: `hash`
    lake_name: Annotated[Identifier, AfterValidator(_not_ours)] | None = None  # the name of the column in the lake

    @property
    def as_written(self) -> str | dict[str, Any]:
        """The form that the pipeline file has."""
        if self.drop or not self.lake_name:
            return "drop" if self.drop else "hash" if self.hash else "keep"
        return {**({"hash": True} if self.hash else {}), "lake_name": self.lake_name}


def _spelt(value: Any) -> Any:
    if isinstance(value, str):
        if value not in WORDS:
            raise ValueError(f"'{value}' is nothing to do with a column | write drop, hash, keep or {{lake_name: ...}}")
        return WORDS[value]
    return value


Columns = dict[SourceColumn, Annotated[Column, BeforeValidator(_spelt)]]


def is_masked(columns: Mapping[str, Column]) -> bool:
    """True if something of the table must not get into the lake: only listed columns are read then."""
    return any(column.drop or column.hash for column in columns.values())


def lake_names(columns: Mapping[str, Column]) -> dict[str, str]:
    """The names in the lake that the definition chooses."""
    return {name: column.lake_name for name, column in columns.items() if column.lake_name}


def is_dropped(columns: Mapping[str, Column], name: str, needed: Collection[str]) -> bool:
    """needed: the columns of the key and of folders, which stay whatever is said of all others."""
    return columns[name].drop if name in columns else ALL_OTHERS in columns and name not in needed


def check(columns: Mapping[str, Column], key: Collection[str], folders: Collection[str]) -> None:
    """ValueError for what contradicts itself, or the rest of the definition of its table."""
    for problem in _problems(columns, key, folders):
        raise ValueError(problem)


def _problems(columns: Mapping[str, Column], key: Collection[str], folders: Collection[str]) -> Iterator[str]:
    owner: dict[str, str] = {}
    for name, column in columns.items():
        if name == ALL_OTHERS and column != Column(drop=True):
            yield "'*' means all columns that are not named, which can only be left out | write \"*\": drop"
        if column.drop and (column.hash or column.lake_name):
            yield f"column '{name}' is left out, so it is not hashed and has no lake_name | write drop alone"
        if (column.drop or column.hash) and name in {*key, *folders}:
            use = "is of the key" if name in key else "names folders of the lake"
            yield f"column '{name}' {use}, so it cannot be left out or hashed | keep it, or use another column there"
        if column.lake_name and column.lake_name in owner:
            both = f"{owner[column.lake_name]} and {name} would both become {column.lake_name}"
            yield f"columns {both} | give one of them another lake_name"
        if column.lake_name:
            owner[column.lake_name] = name
