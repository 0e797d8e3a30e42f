"""The MoMA collection as the source database: schema, two files, and the one artwork the files lack."""

from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
from psycopg import sql

from lake.config.errors import BadInput, LakeError
from lake.config.home import Home
from lake.sources.postgres.connection import connect_source

DATABASE = "moma"
FILES = {"artists": "moma_public_artists.txt", "artworks": "moma_public_artworks_small.txt"}
COPY = "COPY {table} FROM STDIN (FORMAT csv, HEADER true, DELIMITER '|', QUOTE '\"', ENCODING 'UTF8')"
# Changed by several examples; absent from the file of 5,000.
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
Report = Callable[[str, int, int], None]  # table, bytes copied, bytes in all


def load(home: Home, report: Report = lambda table, done, total: None) -> dict[str, tuple[int, int]]:
    """Rows added and rows present afterwards, by table; BadInput if PostgreSQL can't be reached, LakeError later."""
    folder = home.root / "data" / "moma"
    schema = _read(folder / "schema.sql")
    for name in FILES.values():
        _size(folder / name)  # what is missing is told before anything is made
    try:
        create_database(home, DATABASE)
        with psycopg.connect(home.dsn(DATABASE)) as connection:
            connection.execute(schema)
            added = {table: _copy(connection, table, folder / name, report) for table, name in FILES.items()}
            added["artworks"] += _add_picador(connection)
            return {table: (rows, _count(connection, table)) for table, rows in added.items()}
    except psycopg.OperationalError as error:
        reason = str(error).strip().splitlines()[0]
        raise LakeError(f"PostgreSQL: {reason}", f"127.0.0.1:{home.ports.postgres}", "run: lake up") from None


def create_database(home: Home, name: str) -> None:
    """An empty database, unless it is there; BadInput when PostgreSQL can't be reached or refuses."""
    with connect_source(home.environment, "postgres") as connection:
        connection.autocommit = True
        found = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchone()
        if found is None:
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))


def _copy(connection: psycopg.Connection, table: str, path: Path, report: Report) -> int:
    """COPY into a temporary table first, so that a second load adds nothing and changes nothing."""
    new, target = sql.Identifier(f"new_{table}"), sql.Identifier("public", table)
    connection.execute(sql.SQL("CREATE TEMP TABLE {} (LIKE {}) ON COMMIT DROP").format(new, target))
    with connection.cursor() as cursor:
        with cursor.copy(sql.SQL(COPY).format(table=new)) as copy:
            for chunk in _chunks(path, lambda done, total: report(table, done, total)):
                copy.write(chunk)
        insert = "INSERT INTO {} SELECT * FROM {} ON CONFLICT DO NOTHING"
        return cursor.execute(sql.SQL(insert).format(target, new)).rowcount


def _chunks(path: Path, report: Callable[[int, int], None]) -> Iterator[bytes]:
    total, done = _size(path), 0
    with path.open("rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            yield chunk
            done += len(chunk)
            report(done, total)


def _add_picador(connection: psycopg.Connection) -> int:
    statement = sql.SQL("INSERT INTO public.artworks ({}) VALUES ({}) ON CONFLICT DO NOTHING").format(
        sql.SQL(", ").join(map(sql.Identifier, PICADOR)), sql.SQL(", ").join(sql.Placeholder() * len(PICADOR))
    )
    return connection.execute(statement, list(PICADOR.values())).rowcount


def _count(connection: psycopg.Connection, table: str) -> int:
    row = connection.execute(sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier("public", table))).fetchone()
    return int(row[0]) if row else 0


def _read(path: Path) -> str:
    _size(path)
    return path.read_text()


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        raise BadInput("a data file is missing", str(path), "restore it: git checkout data/moma") from None
