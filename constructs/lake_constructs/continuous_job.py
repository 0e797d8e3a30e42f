"""One continuous Spark application, launched as a step."""

from collections.abc import Sequence

from aws_cdk import aws_emr as emr
from constructs import Construct


class ContinuousJob(emr.CfnStep):
    """Its arguments hold the hashes of all it is made of: a change of the code is a new step, nothing else is."""

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
