"""PostgreSQL."""

from spark_jobs.sources.engine import Engine
from spark_jobs.sources.postgres.avro_types import converted
from spark_jobs.sources.postgres.load import load
from spark_jobs.sources.postgres.positions import POSITIONS
from spark_jobs.sources.postgres.reader import any_of, source_of
from spark_jobs.sources.postgres.types import pg_type, reads_back

ENGINE = Engine(converted, source_of, pg_type, reads_back, any_of, POSITIONS, load)
