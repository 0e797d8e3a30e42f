"""One continuous Spark application, launched as a step."""

from collections.abc import Sequence

from aws_cdk import aws_emr as emr
from constructs import Construct


class ContinuousJob(emr.CfnStep):
    """The step's arguments hold the hashes of its files: only a change of the code makes a new step."""

    def __init__(
        self, scope: Construct, id: str, *, cluster: str, name: str, runner: str, arguments: Sequence[str]
    ) -> None:
        super().__init__(
            scope,
            id,
            name=name,
            job_flow_id=cluster,
            action_on_failure="CONTINUE",
            hadoop_jar_step=emr.CfnStep.HadoopJarStepConfigProperty(jar=runner, args=list(arguments)),
        )
