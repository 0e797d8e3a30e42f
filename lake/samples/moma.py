"""The MoMA collection as a source database: schema, three files, and one artwork that is not in the files."""

import psycopg
from psycopg import sql

from lake.config.environment import Environment
from lake.samples.loading import Counts, CsvTable, Report, copy_file, count, new_database, require_files, silent

DATABASE = "moma"
FILES = {
    "artists": "moma_public_artists.txt",
    "artworks": "moma_public_artworks_small.txt",
    "departments": "moma_public_departments.txt",
}
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


def load(home: Environment, report: Report = silent) -> Counts:
    """BadInput if a file is missing or PostgreSQL can't be reached, LakeError later."""
    folder = home.root / "data" / "moma"
    tables = [CsvTable(f"public.{table}", folder / name, delimiter="|") for table, name in FILES.items()]
    require_files([folder / "schema.sql", *(table.path for table in tables)])
    with new_database(home, DATABASE, folder / "schema.sql") as connection:
        counts = {table.name: copy_file(connection, table, report) for table in tables}
        added = counts["public.artworks"][0] + _add_picador(connection)
        return {**counts, "public.artworks": (added, count(connection, "public.artworks"))}


def _add_picador(connection: psycopg.Connection) -> int:
    statement = sql.SQL("INSERT INTO public.artworks ({}) VALUES ({}) ON CONFLICT DO NOTHING").format(
        sql.SQL(", ").join(map(sql.Identifier, PICADOR)), sql.SQL(", ").join(sql.Placeholder() * len(PICADOR))
    )
    return connection.execute(statement, list(PICADOR.values())).rowcount
