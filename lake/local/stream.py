"""The Spark application that writes the lake: one more service."""

from lake.local import iam
from lake.local.service import Program, Service
from lake.local.spark_submit import SHORT_JOB, long_job, spark_environment, spark_submit_command
from lake.rendering.pipeline import pipeline_path
from lake.rendering.spark import continuous_arguments

LAYERS = ("silver", "bronze")
CONF = {
    "spark.sql.shuffle.partitions": "2",
    # Nobody looks at the web interface: its history would only fill the heap.
    "spark.ui.retainedJobs": "10",
    "spark.ui.retainedStages": "10",
    "spark.ui.retainedTasks": "100",
    "spark.sql.ui.retainedExecutions": "2",
}
INHERITED = ("PATH", "SPARK_HOME", "PYSPARK_PYTHON", "PYTHONPATH", "SPARK_LOCAL_IP")


class Stream(Service):
    """Runs once `lake apply` has rendered a pipeline."""

    name = "stream"
    # It claims its tables in S3. It needs the other services ten seconds later, and retries if they are down.
    needs = ("s3",)
    arrived = "started; see its tables in: lake status"

    def secrets(self) -> dict[str, str]:
        return iam.variables(self.home, iam.JOBS)

    def wanted(self) -> bool:
        return pipeline_path(self.home).exists()

    def prepare(self) -> list[str]:
        (self.home.data / "tmp").mkdir(parents=True, exist_ok=True)
        return []

    def program(self) -> Program:
        arguments = continuous_arguments(str(pipeline_path(self.home)), LAYERS)
        command = spark_submit_command(self.home, self.name, arguments, self._conf())
        environment = spark_environment(self.home, {})
        return Program(command, self.home.data, {name: environment[name] for name in INHERITED})

    def _conf(self) -> dict[str, str]:
        return {**CONF, **(SHORT_JOB if self.home.spark.short_lived else long_job())}

    def ready(self) -> bool:
        """Always true: Spark takes ten seconds more, and the state of the tables shows its progress."""
        return True
