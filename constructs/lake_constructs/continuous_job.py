"""One continuous Spark application, launched as a step."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aws_cdk import Aws
from aws_cdk import aws_emr as emr
from aws_cdk import aws_s3_assets as assets
from constructs import Construct

from lake_constructs.job_code import JobCode

RUNNER = f"s3://{Aws.REGION}.elasticmapreduce/libs/script-runner/script-runner.jar"
CONF = {
    # The step is done when YARN has accepted the job: a deployment never waits for a job that never ends.
    "spark.yarn.submit.waitAppCompletion": "false",
    # Started again for ever, but for a job that fails more often than five times in an hour.
    "spark.yarn.maxAppAttempts": "5",
    "spark.yarn.am.attemptFailuresValidityInterval": "1h",
    "spark.yarn.max.executor.failures": "100",
    "spark.yarn.executor.failuresValidityInterval": "1h",
    "spark.sql.shuffle.partitions": "4",  # batches are small: the default, 200, is 200 empty tasks
}


@dataclass(frozen=True)
class Places:
    """What the pipeline file's @NAMES@ stand for, in the order in which the start script takes them."""

    brokers: str
    registry: str
    artifacts: str
    silver: str
    bronze: str


class ContinuousJob(emr.CfnStep):
    """Its arguments hold the hashes of all it is made of: a change of the code is a new step, nothing else is.

    pipeline is where the start script puts the template, filled in.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cluster: str,
        name: str,
        code: JobCode,
        template: assets.Asset,
        places: Places,
        pipeline: str,
        arguments: Sequence[str],
        settings: Mapping[str, str],
    ) -> None:
        fill = [name_tag(name), template.s3_object_url, pipeline, *vars(places).values()]
        submit = spark_submit(name, code, settings, ["--config", pipeline, *arguments])
        super().__init__(
            scope,
            id,
            name=name,
            job_flow_id=cluster,
            action_on_failure="CONTINUE",
            hadoop_jar_step=emr.CfnStep.HadoopJarStepConfigProperty(
                jar=RUNNER, args=[code.start.s3_object_url, *fill, *submit]
            ),
        )


def spark_submit(name: str, code: JobCode, settings: Mapping[str, str], arguments: Sequence[str]) -> list[str]:
    """The arguments of spark-submit."""
    pools = {"spark.scheduler.allocation.file": code.pools.s3_object_url}
    settings = {**settings, **CONF, **pools, "spark.yarn.tags": name_tag(name)}
    flags = [flag for key in sorted(settings) for flag in ("--conf", f"{key}={settings[key]}")]
    jars = ",".join(["/usr/lib/hudi/hudi-spark-bundle.jar", *(jar.s3_object_url for jar in code.jars)])
    files = ["--py-files", code.package.s3_object_url, "--jars", jars]
    return ["--deploy-mode", "cluster", "--name", name, *flags, *files, code.main.s3_object_url, *arguments]


def name_tag(name: str) -> str:
    return f"lake-{name}"
