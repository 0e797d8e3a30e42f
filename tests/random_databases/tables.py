"""A table of a random database: its columns, how its rows are found, and which rows it has."""

from dataclasses import dataclass, field
from random import Random

from tests.random_databases.kinds import Kind
from tests.random_databases.quoting import full_name, listed, name, value

Row = dict[str, str]  # what finds a row: column to value


@dataclass
class Column:
    """generated: how PostgreSQL computes it. fixed: a generated column, a partition or an index needs it as it is."""

    name: str
    kind: Kind
    null: bool = True
    generated: str = ""
    fixed: bool = False

    @property
    def ddl(self) -> str:
        told = f" GENERATED ALWAYS AS {self.generated}" if self.generated else "" if self.null else " NOT NULL"
        return f"{name(self.name)} {self.kind.type}{told}"


@dataclass
class Table:
    """found_by: the columns that find a row: of its key, or where it has none a tag, which several rows share.

    shape: what is special about it. rest: the end of its DDL. after: more DDL. changed: what migrations did to it.
    """

    schema: str
    name: str
    columns: list[Column]
    found_by: list[str]
    shape: str = "keyed"
    primary: str = "PRIMARY KEY ({})"  # "" where it has no primary key
    rest: str = ""
    after: list[str] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    given: int = 0

    @property
    def sql(self) -> str:
        return f"{name(self.schema)}.{name(self.name)}"

    @property
    def full_name(self) -> str:
        return full_name(self.schema, self.name)

    @property
    def ddl(self) -> list[str]:
        primary = [self.primary.format(listed(self.found_by))] if self.primary else []
        inside = ", ".join([*(column.ddl for column in self.columns), *primary])
        return [f"CREATE TABLE {self.sql} ({inside}){self.rest}", *self.after]

    def column(self, known: str) -> Column:
        return next(column for column in self.columns if column.name == known)

    @property
    def written(self) -> list[Column]:
        """What an application writes."""
        return [column for column in self.columns if not column.generated]

    @property
    def free(self) -> list[Column]:
        """Those that find no row."""
        return [column for column in self.written if column.name not in self.found_by]

    @property
    def loose(self) -> list[Column]:
        """Those that a migration may take away or change."""
        return [column for column in self.free if not column.fixed]

    def next_row(self, chooser: Random) -> Row:
        """What finds a new row: of two columns the first is shared by two rows."""
        number, self.given = self.given, self.given + 1
        kinds = [self.column(known).kind for known in self.found_by]
        shared = len(kinds) > 1 and self.shape == "composite"
        numbers = [number // 2 if shared and not n else number for n in range(len(kinds))]
        return {
            known: kind.key(n) if kind.key else chooser.choice(kind.usual)
            for known, kind, n in zip(self.found_by, kinds, numbers, strict=True)
        }

    def where(self, row: Row) -> str:
        return " AND ".join(f"{name(known)} = {value(found)}" for known, found in row.items())

    def find(self, chooser: Random) -> Row:
        return chooser.choice(self.rows)

    def forget(self, row: Row) -> None:
        self.rows = [one for one in self.rows if one != row]
