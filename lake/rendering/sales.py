"""The jobs about sales on Kafka (docs/sales.md): their topics, files and options, and their arguments anywhere."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lake.config.environment import PROJECT
from lake.config.errors import BadInput
from lake.config.names import refuse_unknown

SCRIPT = "sales_job"  # of spark_jobs/
FOLDER = "sales"  # of the results, in the bucket of the tables
DATA = PROJECT / "data" / "sales"
SALES, TOTALS = "pagila.sales.spark.streaming", "pagila.sales.spark.streaming.out"
AVRO_SALES, AVRO_TOTALS = "pagila.sales.avro", "pagila.sales.summary.avro"
TOPICS = (SALES, TOTALS, AVRO_SALES, AVRO_TOTALS)
# They name no table. A producer's task that was tried again would send its sales twice.
SETTINGS = {"spark.sql.catalogImplementation": "in-memory", "spark.task.maxFailures": "1"}
PRODUCER, READER, STREAM = ("again", "missing"), ("format",), ("format", "trigger", "anew")


@dataclass(frozen=True)
class SalesJob:
    """ends: False if it streams. source, sink: its topics. sales: the file that it sends, of DATA. options: those of
    SalesOptions that it takes. rate: messages a second, if no option says otherwise."""

    ends: bool
    source: str = ""
    sink: str = ""
    sales: str = ""
    options: tuple[str, ...] = ()
    rate: float = 0.0


JOBS = {
    "sales-seed": SalesJob(True, sink=SALES, sales="sales_seed.csv", options=PRODUCER),
    "sales-batch": SalesJob(True, SALES, options=READER),
    "sales-console": SalesJob(False, SALES, options=STREAM),
    "sales-incremental": SalesJob(
        True, sink=SALES, sales="sales_incremental_large.csv", options=(*PRODUCER, "rate"), rate=2.0
    ),
    "sales-windows": SalesJob(False, SALES, options=STREAM),
    "sales-totals": SalesJob(False, SALES, TOTALS, options=("trigger", "anew")),
    "sales-results": SalesJob(True, TOTALS, options=READER),
    "sales-region-windows": SalesJob(False, SALES, options=(*STREAM, "regions")),
    "sales-regions": SalesJob(False, SALES, options=(*STREAM, "regions")),
    "sales-avro-schemas": SalesJob(True, AVRO_TOTALS, AVRO_SALES),
    "sales-avro-produce": SalesJob(
        True, sink=AVRO_SALES, sales="sales_incremental_large.csv", options=(*PRODUCER, "rate"), rate=3.0
    ),
    "sales-avro-regions": SalesJob(False, AVRO_SALES, AVRO_TOTALS, options=("trigger", "anew", "regions")),
    "sales-avro-results": SalesJob(True, AVRO_TOTALS, options=READER),
}
ENDING = tuple(name for name, job in JOBS.items() if job.ends)
STREAMING = tuple(name for name, job in JOBS.items() if not job.ends)
# A stream has its own, else two would share the messages. Those that end read the partitions that they name.
GROUPS = ("sales", *STREAMING)


@dataclass(frozen=True)
class SalesOptions:
    """What a user may say of a job; None or False: as the job has it.

    rate: messages a second, 0 all at once. trigger: seconds between two batches. anew: from the first message on.
    """

    again: bool = False
    missing: bool = False
    rate: float | None = None
    regions: str | None = None  # a path
    format: str | None = None  # of the results: csv or parquet
    trigger: float | None = None
    anew: bool = False

    @property
    def given(self) -> list[str]:
        return [name for name, value in asdict(self).items() if value not in (None, False)]


@dataclass(frozen=True)
class SalesPlaces:
    """Where the jobs find what they need. kafka: the settings of a client. The other texts are URIs.

    results, checkpoints: folders with one folder for each job. state: the folder of each job's own files.
    """

    kafka: Mapping[str, str]
    partitions: int
    registry: str
    results: str
    checkpoints: str
    state: str


NO_OPTIONS = SalesOptions()


def check(name: str, options: SalesOptions) -> None:
    """BadInput for an option that the job does not take, or that names no file."""
    taken = JOBS[name].options if name in JOBS else ()
    for option in options.given:
        if option not in taken:
            now = f"leave it out; it takes: {', '.join(f'--{one}' for one in taken) or 'no option'}"
            raise BadInput(f"{name} takes no --{option}", "command line", now)
    if options.again and options.missing:
        raise BadInput("--again and --missing exclude each other", "command line", "give one of them")
    for path in files(name, options).values():
        if not path.is_file():
            raise BadInput(
                "there is no such file", str(path), "correct the path; git checkout data/sales restores ours"
            )


def check_ends(name: str, options: SalesOptions) -> None:
    """check() for `lake jobs run`, which knows no other jobs."""
    refuse_unknown("job that ends", [name], ENDING)
    check(name, options)


def files(name: str, options: SalesOptions) -> dict[str, Path]:
    """The files that a job reads, by the name of the argument."""
    job = JOBS.get(name, SalesJob(True))
    sales = {"sales": DATA / job.sales} if job.sales else {}
    regions = Path(options.regions).resolve() if options.regions else DATA / "sales_regions.csv"
    return {**sales, **({"regions": regions} if "regions" in job.options else {})}


def group(name: str) -> str:
    """The group in which a job reads, one of GROUPS; lake/rendering/kafka_login.py puts lake_ before it."""
    return "sales" if JOBS[name].ends else name


def arguments(name: str, options: SalesOptions, places: SalesPlaces, uris: Mapping[str, str]) -> list[str]:
    """The arguments of spark_jobs/sales_job.py, except --output. uris: of files()."""
    job = JOBS[name]
    rate = job.rate if options.rate is None else options.rate
    valued: dict[str, Any] = {
        "partitions": places.partitions,
        "registry": places.registry if "avro" in name else "",
        "source": job.source,
        "sink": job.sink,
        **uris,
        "rate": rate or "",
        "results": f"{places.results}/{name}" if "format" in job.options else "",
        "format": options.format or "",
        "checkpoint": "" if job.ends else f"{places.checkpoints}/{name}",
        "status": "" if job.ends else f"{places.state}/{name}/status.json",
        "trigger-s": "" if options.trigger is None else options.trigger,
    }
    kafka = [word for pair in places.kafka.items() for word in ("--kafka", "=".join(pair))]
    given = [word for key, value in valued.items() if value != "" for word in (f"--{key}", str(value))]
    flags = [f"--{flag}" for flag in PRODUCER if getattr(options, flag)]
    return [name.removeprefix("sales-"), *kafka, *given, *flags]
