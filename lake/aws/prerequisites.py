"""What must be built before a lake is synthesized."""

from pathlib import Path

from lake import versions
from lake.aws.environment import AwsEnvironment
from lake.errors import BadInput

PLUGINS = Path("build/connect")
WORKER = Path("build/aws/worker")  # Kafka's login at MSK, for Connect and for Spark


def spark_jars(environment: AwsEnvironment) -> Path:
    """Kafka's connector for the Spark of the environment's EMR release."""
    return Path("build/aws") / f"spark-{versions.EMR_RELEASES[environment.processing.release].kafka_connector}"


def check_build(root: Path, environment: AwsEnvironment) -> None:
    """BadInput when a folder of jars is missing: the archive would be deployed without them."""
    for folder in (PLUGINS, WORKER, spark_jars(environment)):
        if next((root / folder).rglob("*.jar"), None) is None:
            raise BadInput("no jar to deploy", str(root / folder), "run: make setup")
