"""Files that must be built before a deployment, and stand-ins for them, which are enough for templates."""

from collections.abc import Iterator
from pathlib import Path

from lake.aws.archive import sha256
from lake.aws.environment import AwsEnvironment
from lake.config import versions
from lake.config.errors import BadInput

FETCHED = Path("jars/SHA256SUMS")  # lists every jar that `make setup` fetches
PLUGINS = Path("build/connect")
SPARK = Path("build/spark")
STREAMER_JAR = Path("build/streamer/lake-streamer.jar")
INDEX_JAR = SPARK / "lake-index.jar"
WORKER = Path("build/aws/worker")  # Kafka's login at MSK, for Connect and for Spark
# These are built here, so they are in no list.
OUR_PLUGINS = tuple(
    PLUGINS / name
    for name in ("apicurio/apicurio-converter-service.jar", "debezium/lake-transforms.jar", "secrets/lake-secrets.jar")
)


def cluster_jars(root: Path, environment: AwsEnvironment) -> list[Path]:
    """Kafka's connector for the Spark of the release, MSK's login, PostgreSQL's driver and our index."""
    connector = Path("build/aws") / f"spark-{versions.EMR_RELEASES[environment.processing.release].kafka_connector}"
    driver = [jar for jar in _fetched(root, SPARK) if jar.match("postgresql-*.jar")]
    return [*_fetched(root, connector), *_fetched(root, WORKER), *driver, INDEX_JAR]


def _fetched(root: Path, folder: Path) -> Iterator[Path]:
    """The listed jars below a folder, relative to the project."""
    names = (line.split(maxsplit=1)[1] for line in (root / FETCHED).read_text(encoding="utf-8").splitlines())
    return (Path(name) for name in names if name.startswith(f"{folder.as_posix()}/"))


def check_build(root: Path, environment: AwsEnvironment) -> None:
    """Raises BadInput if a jar is missing: the lake would be deployed without it."""
    missing = missing_jar(root, environment)
    if missing:
        raise missing
    check_plugin_archive(root, environment)


def missing_jar(root: Path, environment: AwsEnvironment) -> BadInput | None:
    """The refusal that names the first missing jar, or None if all of them are there."""
    missing = (root / jar for jar in _needed(root, environment) if not (root / jar).exists())
    return next((BadInput("no such jar to deploy", str(jar), "run: make setup") for jar in missing), None)


def _needed(root: Path, environment: AwsEnvironment) -> list[Path]:
    plugins = (*_fetched(root, PLUGINS), *OUR_PLUGINS)
    return [*cluster_jars(root, environment), STREAMER_JAR, *plugins]


def write_stand_ins(root: Path, environment: AwsEnvironment, target: Path) -> None:
    """Writes a file below target in place of each jar. Its content is its name, since CDK names assets by content."""
    for jar in _needed(root, environment):
        (target / jar).parent.mkdir(parents=True, exist_ok=True)
        (target / jar).write_text(str(jar), encoding="utf-8")


def check_plugin_archive(root: Path, environment: AwsEnvironment) -> None:
    """Raises BadInput if the archive of the environment is missing or has another SHA-256."""
    sink = environment.connect.s3_sink
    if sink is None:
        return
    path = root / sink.archive
    try:
        found = sha256(path)
    except FileNotFoundError:
        now = "download the connector from Confluent, or remove connect.s3_sink"
        raise BadInput("no such archive of a connector", str(path), now) from None
    if found != sink.sha256:
        now = "download it again, or correct connect.s3_sink.sha256"
        raise BadInput(f"the archive has the SHA-256 {found}", str(path), now)
