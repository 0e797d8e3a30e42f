"""What must be built before a lake is synthesized."""

from pathlib import Path

from lake.aws.archive import sha256
from lake.aws.connect import S3Sink
from lake.aws.environment import AwsEnvironment
from lake.config import versions
from lake.config.errors import BadInput

PLUGINS = Path("build/connect")
STREAMER_JAR = Path("build/streamer/lake-streamer.jar")
INDEX_JAR = Path("build/spark/lake-index.jar")
WORKER = Path("build/aws/worker")  # Kafka's login at MSK, for Connect and for Spark


def spark_jars(environment: AwsEnvironment) -> Path:
    """Kafka's connector for the Spark of the environment's EMR release."""
    return Path("build/aws") / f"spark-{versions.EMR_RELEASES[environment.processing.release].kafka_connector}"


def jdbc_driver(root: Path) -> Path:
    """The driver of the source database, the local lake's own file; BadInput when it is missing."""
    found = sorted((root / "build/spark").glob("postgresql-*.jar"))
    if not found:
        raise BadInput("no driver of PostgreSQL to deploy", str(root / "build/spark"), "run: make setup")
    return found[0]


def check_build(root: Path, environment: AwsEnvironment) -> None:
    """BadInput when a jar or a folder of jars is missing: the archive would be deployed without them."""
    for folder in (PLUGINS, WORKER, spark_jars(environment)):
        if next((root / folder).rglob("*.jar"), None) is None:
            raise BadInput("no jar to deploy", str(root / folder), "run: make setup")
    for jar in (STREAMER_JAR, INDEX_JAR):
        if not (root / jar).exists():
            raise BadInput("no such jar to deploy", str(root / jar), "run: make setup")
    if environment.connect.s3_sink:
        _check_archive(root, environment.connect.s3_sink)


def _check_archive(root: Path, sink: S3Sink) -> None:
    path = root / sink.archive
    try:
        found = sha256(path)
    except FileNotFoundError:
        now = "download the connector from Confluent, or remove connect.s3_sink"
        raise BadInput("no such archive of a connector", str(path), now) from None
    if found != sink.sha256:
        now = "download it again, or correct connect.s3_sink.sha256"
        raise BadInput(f"the archive has the SHA-256 {found}", str(path), now)
