"""The MoMA collection in the shared lake: loaded, changed, replayed and compacted once, observed at each step.

Two source databases hold the same rows: moma under REPLICA IDENTITY FULL, moma_default (artists only) under DEFAULT.
"""

import json
import re
import time
from argparse import Namespace
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from pyspark.sql import Row, SparkSession

from lake.clients import stream_status
from lake.clients.kafka import Broker
from spark_jobs import query
from spark_jobs.hudi import time_travel, timeline
from spark_jobs.runtime.pipeline import read_pipeline
from tests.clocks import HANG_S
from tests.rereading import read_again

if TYPE_CHECKING:
    from tests.running_lake import RunningLake

DATABASES = ("moma", "moma_default")
ARTISTS = {"key": ["artist_id"], "partition": "nationality"}
ARTWORKS = {"key": ["artwork_id"], "partition": "classification"}
DIMENSIONS = "composition: 20 13/16 x 25 3/16 in (52.9 x 64 cm); outputs: 24 7/16 x 29 1/2 in (62.1 x 75 cm)"
# For each step: what happens to artwork 128447, and what happens to the artists of both databases.
STEPS = (
    (
        "date = '1959'",
        (
            "UPDATE artists SET birth_year = 1907 WHERE artist_id = 299",
            "UPDATE artists SET death_year = 1989 WHERE artist_id = 299",
            "UPDATE artists SET gender = 'Male' WHERE artist_id = 201",  # it is already
        ),
    ),
    (
        "acquisition_date = '2009-04-15'",
        ("UPDATE artists SET name = 'Gerhard M. Bakker' WHERE artist_id = 299",),
    ),
    (
        f"dimensions = '{DIMENSIONS}'",
        ("UPDATE artists SET nationality = 'German' WHERE artist_id = 299",),
    ),
    (
        "acquisition_date = '2009-04-19'",
        ("UPDATE artists SET birth_year = 1905 WHERE artist_id = 299",),
    ),
    (
        "date = '1960'",
        ("DELETE FROM artists WHERE artist_id = 299", "DELETE FROM artists WHERE artist_id = 441"),
    ),
)
COMPACTED_AFTER = 3  # artworks, so that the last step finds no log
LOOK_EVERY_S = 1.0
TABLE = re.compile(r"\b(?:\w+_(?:cow|mor|bronze)|datalake)\.\w+")
PICADOR = (
    "select '{0}' as seen_in, date, acquisition_date, dimensions, __op, _hoodie_file_name from {0} "
    "where artwork_id = 128447"
)
ARTWORKS_VIEWS = ("moma_mor.artworks_rt", "moma_mor.artworks_ro", "moma_cow.artworks")
ARTISTS_VIEWS = tuple(
    f"{database}_{view}" for database in DATABASES for view in ("mor.artists_rt", "mor.artists_ro", "cow.artists")
)
ALL_VIEWS = (*ARTWORKS_VIEWS, *ARTISTS_VIEWS)
TABLES = tuple(f"{database}_{kind}.artists" for database in DATABASES for kind in ("cow", "mor"))
Seen = dict[str, list[Row]]  # rows by view


@dataclass(frozen=True)
class Moment:
    """A point between two steps, in the three forms that time travel takes; instants by Hudi table."""

    time: str
    lsn: str
    instants: dict[str, str]


@dataclass
class Changed:
    """moments[0] is after the load, moments[n] after step n.

    picador: artwork 128447 after each step, and after the compaction behind step 4; rows: all artists at the end.
    """

    moments: list[Moment]
    picador: list[Seen] = field(default_factory=list)
    picador_compacted: Seen = field(default_factory=dict)
    rows: Seen = field(default_factory=dict)


@dataclass(frozen=True)
class Replayed:
    """All rows of the replayed tables, and the next offset after each batch of the replay, by table."""

    rows: Seen
    batches: dict[str, list[int]]


@dataclass(frozen=True)
class Compacted:
    """All rows of all views after compaction, and what the command said."""

    said: str
    rows: Seen


class Museum:
    """The collection and the ways to look at it."""

    def __init__(self, lake: "RunningLake", spark: SparkSession) -> None:
        self.lake = lake
        self.spark = spark

    def open(self) -> None:
        """Loads and captures the collection. The picador starts without a date, so that A9 changes each value."""
        self.lake.run("load", "moma")
        self.lake.execute("moma", "UPDATE artworks SET date = NULL WHERE artwork_id = 128447")
        self.lake.execute("postgres", "CREATE DATABASE moma_default TEMPLATE moma")
        self.lake.define("moma", {"public.artists": ARTISTS, "public.artworks": ARTWORKS})
        self.lake.define("moma_default", {"public.artists": {**ARTISTS, "replica_identity": "default"}})
        self.lake.apply()
        self.lake.drain(*DATABASES)

    def change(self) -> Changed:
        """Carries out the steps, each drained and looked at before the next."""
        changed = Changed([self.moment()])
        for number, (assignment, statements) in enumerate(STEPS):
            self.lake.execute("moma", f"UPDATE artworks SET {assignment} WHERE artwork_id = 128447")
            for database in DATABASES:
                self.lake.execute(database, *statements)
            self.lake.drain(*DATABASES)
            changed.moments.append(self.moment())
            changed.picador.append(self.picador())
            if number == COMPACTED_AFTER:
                self.lake.run("compact", "moma.artworks")
                changed.picador_compacted = self.picador()
        changed.rows = self.read(*ARTISTS_VIEWS)
        return changed

    def replay(self) -> Replayed:
        """The streaming job reads the topics of the artists from offset 0 again."""
        stopped = {table: self.last_instant(table) for table in TABLES}
        read_again(self.lake.home, *TABLES)
        batches = {table: self._await_replay(table, stopped[table]) for table in TABLES}
        return Replayed(self.read(*map(view_of, TABLES)), batches)

    def _await_replay(self, table: str, since: str) -> list[int]:
        """The next offset after each batch of the replay, once it has reached the end."""
        topic = f"{table.partition('.')[0].rpartition('_')[0]}.public.artists"
        end = sum(Broker(self.lake.home.kafka_bootstrap).end_offsets([topic])[topic].values())
        deadline = time.monotonic() + HANG_S
        while not (reached := self._offsets_after(table, since)) or reached[-1] != end:
            assert time.monotonic() < deadline, f"{table}: the replay has reached {reached} of {end}"
            time.sleep(LOOK_EVERY_S)
        return reached

    def _offsets_after(self, table: str, since: str) -> list[int]:
        """The next offset of partition 0 that each later commit carries; table services carry none."""
        line = timeline.timeline(self.spark, self.path(table))
        done = line.getCommitsTimeline().filterCompletedInstants().getInstants()
        later = [instant for instant in done if instant.getTimestamp() > since]
        extras = [json.loads(bytes(line.getInstantDetails(one).get()).decode())["extraMetadata"] for one in later]
        return [json.loads(extra["lake.offsets"])["0"] for extra in extras if "lake.offsets" in extra]

    def compact(self) -> Compacted:
        """Compacts everything by command."""
        said = self.lake.run("compact").stdout
        return Compacted(said, self.read(*ALL_VIEWS))

    def moment(self) -> Moment:
        """Now. Nothing is written until the next step."""
        at = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")
        instants = {table: self.last_instant(table) for table in TABLES}
        (moma,) = [one for one in self.lake.definitions() if one.database == "moma"]
        return Moment(at, stream_status.source_position(self.lake.home, moma), instants)

    def picador(self) -> Seen:
        """Artwork 128447 in each view."""
        rows = self.sql(" union all ".join(PICADOR.format(view) for view in ARTWORKS_VIEWS))
        return {view: [row for row in rows if row.seen_in == view] for view in ARTWORKS_VIEWS}

    def read(self, *views: str) -> Seen:
        """All rows of each view: one pass over a table answers many questions."""
        return {view: self.sql(f"select * from {view}") for view in views}

    def sql(self, statement: str) -> list[Row]:
        """The rows of a statement; a warm session must forget what it knows of the files first."""
        for name in set(TABLE.findall(statement)):
            self.spark.catalog.refreshTable(name)
        return self.spark.sql(statement).collect()

    def past(self, statement: str, **moment: str) -> list[Row]:
        """The same with as_of=, or since= and until=, as lake sql does it."""
        args = Namespace(sql=statement, **{"as_of": None, "since": None, "until": None, **moment})
        past = query.named(self.spark, statement, self._pipeline())
        kept = query.instants(self.spark, past, args)
        return self.spark.sql(query.travelled(self.spark, past, kept, args)).collect()

    def last_instant(self, table: str) -> str:
        """Of the newest completed commit of a Hudi table ("moma_mor.artists")."""
        return time_travel.completed(self.spark, self.path(table))[-1].instant

    def path(self, table: str) -> str:
        return str(query.tables(self._pipeline())[view_of(table)].path)

    def _pipeline(self) -> Any:
        return read_pipeline(self.spark, (self.lake.home.rendered / "pipeline.json").as_uri())


def view_of(table: str) -> str:
    """The name under which the newest rows are read."""
    return f"{table}_rt" if "_mor." in table else table


def contents(rows: list[Row]) -> set[tuple[Any, ...]]:
    """The rows without the columns that Hudi adds, except where each row lies; columns by name."""
    names = sorted(name for name in rows[0].asDict() if not name.startswith("_hoodie") or name.endswith("_path"))
    return {tuple(row[name] for name in names) for row in rows}
