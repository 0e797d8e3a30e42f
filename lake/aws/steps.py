"""Jobs as steps of EMR: their arguments, from the addresses that the deployment knows.

The stacks make them with CDK tokens, the command line with what the deployed stack says of itself.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lake.aws.processing import Job
from lake.aws.rendering import STATE
from lake.rendering.spark import Place, continuous_arguments, name_tag, spark_submit

HUDI = "/usr/lib/hudi/hudi-spark-bundle.jar"  # the cluster's own
SCRIPTS = ("stream", "verify", "topics", "load")  # of spark_jobs/, those that are started as steps
STARTERS = ("start_job", "stop_job", "run_job")
# Users of the source database, and where their jobs look for the password.
VERIFY_USER, VERIFY_PASSWORD = "lake_verify", "LAKE_VERIFY_PASSWORD"
ADMIN_USER, LOAD_PASSWORD = "lake_admin", "LAKE_LOAD_PASSWORD"


def parameter(environment: str) -> str:
    """The parameter of Systems Manager that holds the sheet of an environment as JSON."""
    return f"/lake/{environment}/sheet"


def remembered(artifacts: str, job: str, file: str) -> str:
    """Where a job keeps a file, by the name of the bucket of artifacts."""
    return f"s3://{artifacts}/{STATE}/{job}/{file}"


@dataclass(frozen=True)
class Sheet:
    """What a step needs to know of a deployed lake; URLs are s3://.

    scripts and starters by name, templates of the pipeline files by job. places: what the @NAMES@ of a template
    stand for, in the order in which start_job.sh takes them. secret: the ARN of the user that verifies; admin: of the
    administrator's, "" where the jobs may not load rows.
    """

    region: str
    cluster: str
    package: str
    pools: str
    jars: Sequence[str]
    scripts: Mapping[str, str]
    starters: Mapping[str, str]
    templates: Mapping[str, str]
    places: Mapping[str, str]
    source: str
    secret: str
    admin: str

    @property
    def runner(self) -> str:
        """EMR's own jar that runs a shell script from S3."""
        return f"s3://{self.region}.elasticmapreduce/libs/script-runner/script-runner.jar"

    def remembered(self, job: str, file: str) -> str:
        """Where a job keeps a file."""
        return remembered(self.places["artifacts"], job, file)


def start(name: str, job: Job, sheet: Sheet) -> list[str]:
    """Start a continuous job in place of the one that runs; ends once YARN has accepted it."""
    size = {
        "spark.driver.memory": job.driver_memory,
        "spark.executor.memory": job.executor_memory,
        "spark.executor.instances": str(job.executors),
        "spark.dynamicAllocation.enabled": "false",
        "spark.sql.shuffle.partitions": "4",  # batches are small: the default, 200, is 200 empty tasks
    }
    pipeline = sheet.remembered(name, "pipeline.json")
    place = _place("stream", ("--deploy-mode", "cluster"), size, sheet)
    submit = spark_submit("stream", name, place, continuous_arguments(pipeline, job.layers))
    fill = [sheet.templates[name], pipeline, *sheet.places.values()]
    return [sheet.starters["start_job"], sheet.starters["stop_job"], name_tag(name), *fill, *submit]


def stop(name: str, sheet: Sheet) -> list[str]:
    """End the application of a continuous job; nothing where none runs."""
    return [sheet.starters["stop_job"], name_tag(name)]


def run(script: str, sheet: Sheet, arguments: Sequence[str]) -> list[str]:
    """Run a job to its end, its driver on the primary node: what it says is the step's log."""
    place = _place(script, ("--deploy-mode", "client"), {}, sheet)
    login = (sheet.admin, LOAD_PASSWORD) if script == "load" else (sheet.secret, VERIFY_PASSWORD)
    return [sheet.starters["run_job"], *login, *spark_submit(script, script, place, arguments)]


def _place(script: str, flags: tuple[str, ...], settings: Mapping[str, str], sheet: Sheet) -> Place:
    jars = (HUDI, *sheet.jars)
    return Place(flags, sheet.scripts[script], sheet.pools, settings, sheet.package, jars)
