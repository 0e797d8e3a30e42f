"""Shapes of tables: most have a primary key, and some have what stands in the way of a capture."""

from collections.abc import Callable
from random import Random

from tests.random_databases import kinds
from tests.random_databases.kinds import Kind
from tests.random_databases.names import ADDED, Names
from tests.random_databases.quoting import listed, name
from tests.random_databases.tables import Column, Table


class Shapes:
    """Makes tables in the schemas of a database."""

    def __init__(self, chooser: Random, names: Names, schemas: list[str], own: list[Kind]) -> None:
        self.chooser, self.names, self.schemas, self.own = chooser, names, schemas, own

    def some(self) -> list[Table]:
        """One table, or the tables of a family."""
        (make,) = self.chooser.choices(list(WEIGHTS), list(WEIGHTS.values()))
        return make(self)

    def keyed(self) -> list[Table]:
        return [self._table("keyed", [self._key()])]

    def composite(self) -> list[Table]:
        return [self._table("composite", [self._key(), self._key()])]

    def deferrable(self) -> list[Table]:
        table = self._table("deferrable", [self._key()])
        table.primary = "PRIMARY KEY ({}) DEFERRABLE INITIALLY DEFERRED"
        return [table]

    def indexed(self) -> list[Table]:
        """No primary key, and an index that could be one."""
        table = self._table("indexed", [self._key()])
        table.primary, table.after = "", [f"CREATE UNIQUE INDEX ON {table.sql} ({listed(table.found_by)})"]
        table.column(table.found_by[0]).fixed = True
        return [table]

    def keyless(self) -> list[Table]:
        table = self._table("keyless", [Column(self.names.next(), kinds.TAG, null=False)])
        table.primary = ""
        return [table]

    def generated(self) -> list[Table]:
        table = self._table("generated", [self._key()])
        base = Column(self.names.next(), kinds.INTEGER, fixed=True)
        how = self.chooser.choice(["STORED", "STORED", "VIRTUAL"])
        table.columns += [base, Column(self.names.next(), kinds.INTEGER, generated=f"({name(base.name)} % 7) {how}")]
        return [table]

    def listed(self) -> list[Table]:
        """Partitions by list: a row moves when its place changes."""
        table = self._table("partitioned", [self._key(), Column(self.names.next(), kinds.PLACE, null=False)])
        table.rest = f" PARTITION BY LIST ({name(table.found_by[1])})"
        self._parts(table, ["FOR VALUES IN ('a', 'b')", "FOR VALUES IN ('c')", "DEFAULT"])
        return [table]

    def ranged(self) -> list[Table]:
        table = self._table("partitioned", [Column(self.names.next(), kinds.INTEGER, null=False)])
        table.rest = f" PARTITION BY RANGE ({name(table.found_by[0])})"
        self._parts(table, ["FOR VALUES FROM (MINVALUE) TO (20)", "FOR VALUES FROM (20) TO (MAXVALUE)"])
        return [table]

    def hashed(self) -> list[Table]:
        table = self._table("partitioned", [self._key()])
        table.rest = f" PARTITION BY HASH ({name(table.found_by[0])})"
        self._parts(table, [f"FOR VALUES WITH (MODULUS 2, REMAINDER {rest})" for rest in (0, 1)])
        return [table]

    def keyless_root(self) -> list[Table]:
        """Each leaf has a key, the root has none."""
        table = self.listed()[0]
        table.shape, table.primary = "keyless root", ""
        leaves = [statement.split(" PARTITION OF ")[0].removeprefix("CREATE TABLE ") for statement in table.after]
        table.after += [f"ALTER TABLE {leaf} ADD PRIMARY KEY ({listed(table.found_by)})" for leaf in leaves]
        return [table]

    def family(self) -> list[Table]:
        """A parent and a child; the child has a key of its own."""
        parent = self._table("parent", [self._key()])
        extra = Column(self.names.next(), kinds.TEXT)
        child = Table(parent.schema, self.names.next(), [*parent.columns, extra], [*parent.found_by], "child", given=50)
        child.rest = f" INHERITS ({parent.sql})"
        for column in parent.columns:
            column.fixed = True
        return [parent, child]

    def added_names(self) -> list[Table]:
        """A column has the name of one that the pipeline adds."""
        table = self._table("keyed", [self._key()])
        table.columns.append(Column(self.chooser.choice(ADDED), kinds.TEXT))
        return [table]

    def _key(self) -> Column:
        return Column(self.names.next(), kinds.of_keys(self.chooser), null=False)

    def _table(self, shape: str, found_by: list[Column]) -> Table:
        number = self.chooser.randint(1, 6)
        rest = [Column(self.names.next(), kinds.of_values(self.chooser, self.own)) for _ in range(number)]
        columns = [*found_by, *rest]
        if self.chooser.random() < 0.2:
            self.chooser.shuffle(columns)
        for column in found_by:
            column.fixed = True
        schema = self.chooser.choice(self.schemas)
        return Table(schema, self.names.next(), columns, [column.name for column in found_by], shape)

    def _parts(self, table: Table, bounds: list[str]) -> None:
        parts = [f"{name(table.schema)}.{name(self.names.next())}" for _ in bounds]
        table.after = [
            f"CREATE TABLE {part} PARTITION OF {table.sql} {of}" for part, of in zip(parts, bounds, strict=True)
        ]


WEIGHTS: dict[Callable[[Shapes], list[Table]], int] = {
    Shapes.keyed: 50,
    Shapes.composite: 14,
    Shapes.generated: 8,
    Shapes.listed: 4,
    Shapes.ranged: 4,
    Shapes.hashed: 3,
    Shapes.indexed: 6,
    Shapes.keyless: 6,
    Shapes.deferrable: 3,
    Shapes.keyless_root: 2,
    Shapes.family: 3,
    Shapes.added_names: 2,
}
