"""The MoMA collection as a source database: schema, two files, and one artwork that is not in the files."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import psycopg
from psycopg import sql

from lake.config.environment import Environment
from lake.config.errors import BadInput, LakeError
from lake.sources.postgres.connection import connect_source

DATABASE = "moma"
FILES = {"artists": "moma_public_artists.txt", "artworks": "moma_public_artworks_small.txt"}
COPY = "COPY {table} FROM STDIN (FORMAT csv, HEADER true, DELIMITER '|', QUOTE '\"', ENCODING 'UTF8')"
# Several examples change it; it is not in the file of 5,000 artworks.
PICADOR = {
    "artwork_id": 128447,
    "title": "Picador (La Pique)",
    "artist_id": 4609,
    "name": "Pablo Picasso",
    "date": "1959",
    "medium": "Linoleum cut",
    "department": "Prints & Illustrated Books",
    "classification": "Print",
}
CHUNK_BYTES = 1 << 16
Open = Callable[[str, Path], BinaryIO]  # opens the file of a table, and may show how far it was read


def load(home: Environment, open_file: Open = lambda table, path: path.open("rb")) -> dict[str, tuple[int, int]]:
    """Rows added and rows present afterwards, by table. BadInput if PostgreSQL can't be reached, LakeError later."""
    folder = home.root / "data" / "moma"
    for name in ("schema.sql", *FILES.values()):
        if not (folder / name).exists():
            raise BadInput("a data file is missing", str(folder / name), "restore it: git checkout data/moma")
    with new_database(home, DATABASE, folder / "schema.sql") as connection:
        added = {}
        for table, name in FILES.items():
            with open_file(table, folder / name) as file:
                added[table] = _copy(connection, table, file)
        added["artworks"] += _add_picador(connection)
        return {table: (rows, count(connection, sql.Identifier("public", table))) for table, rows in added.items()}


@contextmanager
def new_database(home: Environment, name: str, schema: Path) -> Iterator[psycopg.Connection]:
    """A connection to the database, which is created with its schema if need be. LakeError as load()."""
    try:
        with connect_source(home, "postgres") as connection:
            connection.autocommit = True
            if connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchone() is None:
                connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        with psycopg.connect(home.dsn(name)) as connection:
            connection.execute(schema.read_bytes())
            yield connection
    except psycopg.OperationalError as error:
        reason = str(error).strip().splitlines()[0]
        raise LakeError(f"PostgreSQL: {reason}", f"127.0.0.1:{home.ports.postgres}", "run: lake up") from None


def count(connection: psycopg.Connection, table: sql.Identifier) -> int:
    """The number of rows of a table."""
    row = connection.execute(sql.SQL("SELECT count(*) FROM {}").format(table)).fetchone()
    return int(row[0]) if row else 0


def _copy(connection: psycopg.Connection, table: str, file: BinaryIO) -> int:
    """COPY into a temporary table first, so that a second load adds nothing and changes nothing."""
    new, target = sql.Identifier(f"new_{table}"), sql.Identifier("public", table)
    connection.execute(sql.SQL("CREATE TEMP TABLE {} (LIKE {}) ON COMMIT DROP").format(new, target))
    with connection.cursor() as cursor:
        with cursor.copy(sql.SQL(COPY).format(table=new)) as copy:
            while chunk := file.read(CHUNK_BYTES):
                copy.write(chunk)
        insert = "INSERT INTO {} SELECT * FROM {} ON CONFLICT DO NOTHING"
        return cursor.execute(sql.SQL(insert).format(target, new)).rowcount


def _add_picador(connection: psycopg.Connection) -> int:
    statement = sql.SQL("INSERT INTO public.artworks ({}) VALUES ({}) ON CONFLICT DO NOTHING").format(
        sql.SQL(", ").join(map(sql.Identifier, PICADOR)), sql.SQL(", ").join(sql.Placeholder() * len(PICADOR))
    )
    return connection.execute(statement, list(PICADOR.values())).rowcount
