"""What a migration does between two batches of changes: each function gives its transactions, or none if it can't."""

from collections.abc import Callable
from random import Random

from tests.random_databases import changes, kinds
from tests.random_databases.kinds import Kind
from tests.random_databases.names import Names
from tests.random_databases.quoting import listed, name, value
from tests.random_databases.tables import Column, Table


class Migrations:
    """Of the tables of one database. own: its types, whose first one is the enum."""

    def __init__(self, chooser: Random, names: Names, tables: list[Table], own: list[Kind]) -> None:
        self.chooser, self.names, self.tables, self.own = chooser, names, tables, own

    def some(self) -> list[str]:
        """One that is possible."""
        while True:
            (migrate,) = self.chooser.choices(list(WEIGHTS), list(WEIGHTS.values()))
            table = self.chooser.choice(self.tables)
            if done := migrate(self, table):
                table.changed.append(migrate.__name__)
                return done

    # --- Columns.

    def add(self, table: Table) -> list[str]:
        column = self._new(table)
        return [f"ALTER TABLE {table.sql} ADD {column.ddl}"]

    def add_default(self, table: Table) -> list[str]:
        column = self._new(table)
        default = value(column.kind.some(self.chooser))
        return [f"ALTER TABLE {table.sql} ADD {column.ddl} DEFAULT {default}"]

    def drop(self, table: Table) -> list[str]:
        column = self._loose(table, keep=1)
        if column is None:
            return []
        table.columns.remove(column)
        return [f"ALTER TABLE {table.sql} DROP {name(column.name)}"]

    def drop_and_add(self, table: Table) -> list[str]:
        """A column of another type gets the name."""
        column = self._loose(table)
        if column is None:
            return []
        table.columns.remove(column)
        table.columns.append(Column(column.name, kinds.of_values(self.chooser, self.own)))
        drop, add = f"DROP {name(column.name)}", f"ADD {table.columns[-1].ddl}"
        return [f"ALTER TABLE {table.sql} {drop}; ALTER TABLE {table.sql} {add}"]

    def rename_column(self, table: Table) -> list[str]:
        if table.shape in ("parent", "child"):
            return []
        column = self.chooser.choice(table.columns)
        old, column.name = column.name, self.names.next()
        table.found_by = [column.name if known == old else known for known in table.found_by]
        table.rows = [{column.name if known == old else known: v for known, v in row.items()} for row in table.rows]
        return [f"ALTER TABLE {table.sql} RENAME {name(old)} TO {name(column.name)}"]

    def widen(self, table: Table) -> list[str]:
        able = [one for one in table.columns if one.kind.wider and not one.generated and not self._is_fixed(table, one)]
        if not able:
            return []
        column = self.chooser.choice(able)
        column.kind = Kind(column.kind.wider, column.kind.usual, (), column.kind.key, column.kind.respelled)
        return [f"ALTER TABLE {table.sql} ALTER {name(column.name)} TYPE {column.kind.type}"]

    def upper(self, table: Table) -> list[str]:
        texts = [column for column in table.loose if column.kind is kinds.TEXT]
        if not texts:
            return []
        known = name(self.chooser.choice(texts).name)
        return [f"ALTER TABLE {table.sql} ALTER {known} TYPE varchar USING upper({known})"]

    def swap_columns(self, table: Table) -> list[str]:
        alike = [(one, two) for one in table.loose for two in table.loose if one is not two and one.kind is two.kind]
        if not alike:
            return []
        one, other = (column.name for column in self.chooser.choice(alike))
        renames = [(one, "between"), (other, one), ("between", other)]
        return ["; ".join(f"ALTER TABLE {table.sql} RENAME {name(old)} TO {name(new)}" for old, new in renames)]

    def add_generated(self, table: Table) -> list[str]:
        base = next((column for column in table.loose if column.kind is kinds.INTEGER), None)
        if base is None:
            return []
        base.fixed = True
        how = self.chooser.choice(["STORED", "VIRTUAL"])
        table.columns.append(Column(self.names.next(), kinds.INTEGER, generated=f"({name(base.name)} % 5) {how}"))
        return [f"ALTER TABLE {table.sql} ADD {table.columns[-1].ddl}"]

    # --- Tables.

    def rename_table(self, table: Table) -> list[str]:
        if table.shape == "parent":
            return []
        old, table.name = table.sql, self.names.next()
        return [f"ALTER TABLE {old} RENAME TO {name(table.name)}"]

    def truncate(self, table: Table) -> list[str]:
        if table.shape == "parent":
            return []
        table.rows = []
        return [f"TRUNCATE {table.sql}", changes.insert(self.chooser, table)]

    def vacuum(self, table: Table) -> list[str]:
        return [f"VACUUM FULL {table.sql}"]

    def cluster(self, table: Table) -> list[str]:
        if not table.primary or table.shape in ("deferrable", "partitioned"):
            return []
        index = self.names.next()
        return [
            f"CREATE INDEX {name(index)} ON {table.sql} ({listed(table.found_by)})",
            f"CLUSTER {table.sql} USING {name(index)}",
        ]

    def again(self, table: Table) -> list[str]:
        """Dropped, created and filled in one transaction, as pg_restore --clean does."""
        if table.shape not in ("keyed", "composite"):
            return []
        table.rows, table.after = [], []
        return ["; ".join([f"DROP TABLE {table.sql}", *table.ddl, changes.insert(self.chooser, table)])]

    def change_key(self, table: Table) -> list[str]:
        """Another column joins the key."""
        fit = [column for column in table.loose if column.kind.key and column.kind is kinds.INTEGER]
        if table.shape != "keyed" or not fit:
            return []
        column = fit[0]
        known, quoted = name(column.name), table.sql
        fill = f"UPDATE {quoted} SET {known} = 0 WHERE {known} IS NULL"
        column.null, column.fixed = False, True
        keys = listed([*table.found_by, column.name])
        return [fill, f"{_drop_key(table)}; ALTER TABLE {quoted} ADD PRIMARY KEY ({keys})"]

    def attach(self, table: Table) -> list[str]:
        """A part of the table leaves, gets rows, and comes back."""
        if not table.after or table.shape != "partitioned":
            return []
        create = table.after[0]
        part, _, bounds = create.removeprefix("CREATE TABLE ").partition(f" PARTITION OF {table.sql} ")
        if not bounds:  # the table was renamed
            return []
        leave = f"ALTER TABLE {table.sql} DETACH PARTITION {part}"
        return [leave, f"ALTER TABLE {table.sql} ATTACH PARTITION {part} {bounds}"]

    # --- Types, and new tables.

    def add_label(self, table: Table) -> list[str]:
        enum = self.own[0]
        enum.usual.append(f"label {len(enum.usual)}")
        return [f"ALTER TYPE {enum.type} ADD VALUE {value(enum.usual[-1])}"]

    def rename_label(self, table: Table) -> list[str]:
        enum = self.own[0]
        if not any(column.kind is enum for column in table.columns):
            return []
        old, enum.usual[1] = enum.usual[1], f"fresh {len(table.changed)}"
        return [f"ALTER TYPE {enum.type} RENAME VALUE {value(old)} TO {value(enum.usual[1])}"]

    def new_table(self, table: Table) -> list[str]:
        key = Column(self.names.next(), kinds.INTEGER, null=False, fixed=True)
        new = Table(table.schema, self.names.next(), [key, Column(self.names.next(), kinds.TEXT)], [key.name], "new")
        self.tables.append(new)
        return [*new.ddl, changes.insert(self.chooser, new)]

    def _new(self, table: Table) -> Column:
        table.columns.append(Column(self.names.next(), kinds.of_values(self.chooser, self.own)))
        return table.columns[-1]

    def _loose(self, table: Table, keep: int = 0) -> Column | None:
        return self.chooser.choice(table.loose) if len(table.loose) > keep else None

    def _is_fixed(self, table: Table, column: Column) -> bool:
        """The type of a key may grow, but for one that partitions or children take over."""
        return column.fixed and table.shape not in ("keyed", "composite")


def _drop_key(table: Table) -> str:
    """The name of the constraint is PostgreSQL's own."""
    find = f"SELECT conname FROM pg_constraint WHERE contype = 'p' AND conrelid = {value(table.sql)}::regclass"
    drop = f"EXECUTE format({value(f'ALTER TABLE {table.sql} DROP CONSTRAINT %I')}, ({find}));"
    return f"DO $$BEGIN {drop} END$$"


WEIGHTS: dict[Callable[[Migrations, Table], list[str]], int] = {
    Migrations.add: 14,
    Migrations.add_default: 8,
    Migrations.drop: 5,
    Migrations.drop_and_add: 2,
    Migrations.rename_column: 5,
    Migrations.widen: 8,
    Migrations.upper: 2,
    Migrations.swap_columns: 2,
    Migrations.add_generated: 3,
    Migrations.rename_table: 2,
    Migrations.truncate: 4,
    Migrations.vacuum: 4,
    Migrations.cluster: 2,
    Migrations.again: 3,
    Migrations.change_key: 2,
    Migrations.attach: 3,
    Migrations.add_label: 4,
    Migrations.rename_label: 3,
    Migrations.new_table: 5,
}
