"""EMR of an AWS environment: the cluster and the jobs it runs."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, StrictBool, StrictInt, StrictStr, model_validator

from lake.aws.part import Count, Memory, Part
from lake.aws.workers import Worker, taken, worker
from lake.config import versions
from lake.config.definition import TableType
from lake.config.environment import Bronze, Silver
from lake.config.span import Span
from lake.rendering.sales import JOBS
from lake.rendering.streamer import RunOptions

Instance = Annotated[StrictStr, Field(pattern=r"^[a-z][a-z0-9]+\.[0-9]*x?large$")]
TAKE = f"choose one of {', '.join(versions.EMR_RELEASES)}"
JobName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,20}$")]
Layer = Literal["silver", "bronze"]
STREAMER = "streamer"  # HoodieStreamer: its job, and the folder of its tables


class Nodes(Part):
    """How many core nodes managed scaling may keep."""

    minimum: Count = 1
    maximum: Count = 3

    @model_validator(mode="after")
    def _in_order(self) -> "Nodes":
        if self.minimum > self.maximum:
            raise ValueError(f"minimum {self.minimum} exceeds maximum {self.maximum} | lower it, or raise maximum")
        return self


class Size(Part):
    """The size of one continuous Spark application."""

    driver_memory: Memory = "2g"
    executor_memory: Memory = "4g"
    executors: Count = 2

    @property
    def workers(self) -> Worker:
        """What the application takes of EMR Serverless, its driver included."""
        return taken([worker(self.driver_memory), *[worker(self.executor_memory)] * self.executors])


class Limits(Part):
    """The most that all job runs of EMR Serverless together may take: a bill cannot grow beyond it."""

    vcpus: Count = 32
    memory_gb: Count = 128


class Job(Size):
    """One continuous Spark application that the deployment starts. HoodieStreamer's entry has no layers."""

    layers: tuple[Layer, ...] = ()


class Streamer(Size):
    """HoodieStreamer: the size of an application, which tables it follows, and which archive it reads.

    tables: databases and tables ("moma.artists") for the job of the deployment; none means all.
    """

    source: Literal["archive", "s3_sink"] = "archive"
    tables: tuple[StrictStr, ...] = ()
    types: Annotated[tuple[TableType, ...], Field(min_length=1)] = ("cow", "mor")
    interval_s: Count = 30  # between two looks at the archive

    @property
    def options(self) -> RunOptions:
        return RunOptions(names=self.tables, kinds=self.types, interval_s=self.interval_s)


# Jobs that can be named alone, as in `jobs: [stream, streamer]`.
NAMED: dict[str, dict[str, list[str]]] = {
    "stream": {"layers": ["silver", "bronze"]},
    "silver": {"layers": ["silver"]},
    "bronze": {"layers": ["bronze"]},
    STREAMER: {},
}


def _spelt_out(jobs: Any) -> Any:
    """A list of names as the mapping that it is short for."""
    if not isinstance(jobs, list):
        return jobs
    for name in jobs:
        if name not in NAMED:
            raise ValueError(f"job '{name}' has no layers | write it as {name}: {{layers: [silver]}}")
    return {name: NAMED[name] for name in jobs}


# Keys of a cluster, and why EMR Serverless has no use for them.
OF_A_CLUSTER = {
    "primary": "it has no nodes: driver_memory of a job is its size",
    "core": "it has no nodes: executor_memory and executors of a job are its size",
    "nodes": "it has no nodes: limits says how much all jobs may take",
    "step_concurrency": "it has no steps: job runs wait for nothing but limits",
    "idle_minutes": "it stops by itself when nothing runs, and starts again by itself",
    "certificates": "it makes the certificates of its workers itself",
}
# What all jobs of a lake that run once at a time may take: verify, compact, refine.
ONCE = Size(driver_memory="4g", executor_memory="4g", executors=2)


def _one_job() -> dict[str, Job]:
    return {"stream": Job(layers=("silver", "bronze"))}


class AwsSilver(Silver):
    """How the Hudi tables are written on AWS, where each commit costs requests to S3."""

    freshness_s: Annotated[float, Field(ge=0, le=3600)] = 10.0
    appender: StrictBool = False  # nobody has tried it with Amazon's build of Hudi (ADR 38)
    history: Span = 600


class Processing(Part):
    """Where the jobs run, the release, and the jobs by name."""

    kind: Literal["ec2", "serverless"] = "ec2"
    release: StrictStr = versions.EMR
    limits: Limits = Limits()
    metastore: Literal["glue", "hive"] = "glue"
    primary: Instance = "m6g.xlarge"
    core: Instance = "r6g.xlarge"
    nodes: Nodes = Nodes()
    step_concurrency: Annotated[StrictInt, Field(ge=2, le=256)] = 10
    idle_minutes: Annotated[StrictInt, Field(ge=1, le=10080)] | None = None
    # PEM files for TLS between the nodes, zipped in S3. Without them Spark itself encrypts its traffic.
    certificates: Annotated[StrictStr, Field(pattern=r"^s3://[a-z0-9.-]+/.+\.zip$")] | None = None
    jobs: Annotated[dict[JobName, Job], BeforeValidator(_spelt_out)] = Field(default_factory=_one_job)
    streamer: Streamer = Streamer()
    sales: Size | None = None  # started by hand, lake jobs submit sales-...; None: the nodes may not use their topics
    silver: AwsSilver = AwsSilver()
    bronze: Bronze = Bronze()

    @model_validator(mode="after")
    def _known_release(self) -> "Processing":
        if self.release in versions.OTHER_HUDI:
            what = f"{self.release} carries Hudi {versions.OTHER_HUDI[self.release]}"
            raise ValueError(f"{what}; the jobs are written for 0.14 and 0.15 | {TAKE}")
        if self.release not in versions.EMR_RELEASES:
            raise ValueError(f"release '{self.release}' is not known here | {TAKE}")
        return self

    @model_validator(mode="after")
    def _kind_has_its_keys(self) -> "Processing":
        if not self.serverless:
            self.refuse_beside("kind: ec2", ("limits",))
            return self
        for key in OF_A_CLUSTER:
            if key in self.model_fields_set:
                raise ValueError(f"'{key}' with kind: serverless, but {OF_A_CLUSTER[key]} | remove {key}")
        if self.metastore == "hive":
            raise ValueError("metastore hive with kind: serverless, but it has no node for one | remove metastore")
        if not versions.streams_serverless(self.release):
            what = f"{self.release} keeps no streaming job alive on EMR Serverless, which begins with emr-7.1.0"
            raise ValueError(f"{what} | write release: emr-7.10.0")
        return self

    @model_validator(mode="after")
    def _limits_have_room(self) -> "Processing":
        if self.serverless:
            sales = [self.sales.workers] if self.sales else []
            need = taken([*(job.workers for job in self.layered.values()), *sales, ONCE.workers])
            if need.vcpus > self.limits.vcpus or need.memory_gb > self.limits.memory_gb:
                what = f"the jobs and one that runs once take {need.vcpus} vCPUs and {need.memory_gb} GB, over limits"
                room = f"{{vcpus: {need.vcpus}, memory_gb: {need.memory_gb}}}"
                raise ValueError(f"{what} | write limits: {room}, or more")
        return self

    @property
    def serverless(self) -> bool:
        return self.kind == "serverless"

    @model_validator(mode="after")
    def _every_job_has_its_work(self) -> "Processing":
        idle = sorted(name for name, job in self.layered.items() if not job.layers)
        if idle:
            raise ValueError(f"job {idle[0]} writes no layer | write layers: [silver] or [bronze], or both")
        if self.jobs.get(STREAMER, Job()) != Job():
            raise ValueError(f"the job {STREAMER} is HoodieStreamer's | write its settings under processing.{STREAMER}")
        return self

    @model_validator(mode="after")
    def _streamer_finds_its_archive(self) -> "Processing":
        written = {layer for job in self.jobs.values() for layer in job.layers}
        if STREAMER in self.jobs and self.streamer.source == "archive" and "bronze" not in written:
            raise ValueError(f"no job writes bronze, which {STREAMER} reads | add bronze to the layers of a job")
        return self

    @model_validator(mode="after")
    def _release_runs_the_streamer(self) -> "Processing":
        if STREAMER in self.jobs and (reason := versions.no_streamer(self.release)):
            raise ValueError(f"{reason} | remove {STREAMER} from the jobs, or choose {versions.EMR}")
        return self

    @property
    def layered(self) -> dict[str, Job]:
        """The jobs that write layers: all but HoodieStreamer."""
        return {name: job for name, job in self.jobs.items() if name != STREAMER}

    @model_validator(mode="after")
    def _one_writer_per_layer(self) -> "Processing":
        layers = [layer for job in self.jobs.values() for layer in job.layers]
        twice = sorted({layer for layer in layers if layers.count(layer) > 1})
        if twice:
            raise ValueError(f"layer {twice[0]} is written by two jobs | they would overwrite each other: keep one")
        if "silver" not in layers:
            raise ValueError("no job writes silver | the tables come from it: add it to the layers of a job")
        taken = next((name for name in self.jobs if name in JOBS), None)
        if taken:
            raise ValueError(f"a job named {taken} | that name is taken by a job started by hand: choose another")
        return self

    @model_validator(mode="after")
    def _a_step_is_free(self) -> "Processing":
        if not self.serverless and len(self.jobs) >= self.step_concurrency:
            raise ValueError(
                f"step_concurrency {self.step_concurrency} leaves no free step with {len(self.jobs)} jobs | raise it"
            )
        return self
