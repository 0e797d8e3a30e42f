"""Northwind, a wholesaler, with an outbox that triggers fill: one row per order."""

from lake.config.environment import Environment
from lake.samples.loading import Counts, CsvTable, Report, copy_file, new_database, require_files, silent

DATABASE = "northwind"
NULL = r"\N"
# Parents first, as foreign keys want it.
TABLES = (
    "categories",
    "suppliers",
    "products",
    "customers",
    "employees",
    "shippers",
    "orders",
    "order_details",
)
# data/northwind/insert_order_11075.sql adds it, so that its arrival can be watched.
LEFT_OUT = {"orders": "order_id = 11075", "order_details": "order_id = 11075"}


def load(home: Environment, report: Report = silent, database: str = DATABASE) -> Counts:
    """BadInput if a file is missing or PostgreSQL can't be reached, LakeError later. database: where it goes."""
    folder = home.root / "data" / DATABASE
    tables = [
        CsvTable(f"public.{name}", folder / f"{name}.csv", null=NULL, left_out=LEFT_OUT.get(name, "false"))
        for name in TABLES
    ]
    require_files([folder / "schema.sql", *(table.path for table in tables)])
    with new_database(home, database, folder / "schema.sql") as connection:
        return {table.name: copy_file(connection, table, report) for table in tables}
