"""Every version of the AWS lake, once: those that Maven fetches are in pom.xml, those that AWS manages are here."""

import re
from dataclasses import dataclass
from pathlib import Path

from lake.config.errors import BadInput

POSTGRESQL = "17.11"  # RDS; the CDK's own list of minors lags behind
MSK = "3.9.x.kraft"  # the newest line of provisioned brokers with two years of support; clients are newer
KUBERNETES = "1.36"  # must have a kubectl layer of the same version, see pyproject.toml


@dataclass(frozen=True)
class EmrRelease:
    """What one EMR release carries, as its release notes say; without Amazon's own suffix, as in 0.14.0-amzn-0."""

    spark: str
    hudi: str
    local: bool = False  # True if a lake on this machine runs on it, too: pom.xml has its jars

    @property
    def kafka_connector(self) -> str:
        """The release of Spark that the connector for Kafka is of: the same minor, see pom.xml."""
        return KAFKA_CONNECTORS[self.spark.rpartition(".")[0]]


KAFKA_CONNECTORS = {"3.4": "3.4.1", "3.5": "3.5.3"}
# All releases with a Hudi of which the tables and options are known here.
EMR_RELEASES = {
    "emr-6.15.0": EmrRelease("3.4.1", "0.14.0", local=True),
    "emr-7.0.0": EmrRelease("3.5.0", "0.14.0"),
    "emr-7.1.0": EmrRelease("3.5.0", "0.14.1"),
    "emr-7.2.0": EmrRelease("3.5.1", "0.14.1"),
    "emr-7.3.0": EmrRelease("3.5.1", "0.15.0"),
    "emr-7.4.0": EmrRelease("3.5.2", "0.15.0"),
    "emr-7.5.0": EmrRelease("3.5.2", "0.15.0"),
    "emr-7.6.0": EmrRelease("3.5.3", "0.15.0"),
    "emr-7.7.0": EmrRelease("3.5.3", "0.15.0"),
    "emr-7.8.0": EmrRelease("3.5.4", "0.15.0"),
    "emr-7.9.0": EmrRelease("3.5.5", "0.15.0"),
    "emr-7.10.0": EmrRelease("3.5.5", "0.15.0", local=True),
}
# Releases that a person may ask for, and why not.
OTHER_HUDI = {
    "emr-6.12.0": "0.13.1",
    "emr-6.13.0": "0.13.1",
    "emr-6.14.0": "0.13.1",
    "emr-7.11.0": "1.0.2",
    "emr-7.12.0": "1.0.2",
    "emr-7.13.0": "1.0.2",
}
STREAMER_HUDI = "0.14.0"  # of the hudi-utilities that our classes for HoodieStreamer are built with; none is newer
EMR = "emr-6.15.0"
SERVERLESS_STREAMS = (7, 1, 0)  # of EMR: job resiliency, in its user guide
LOCAL_RELEASES = [name for name, release in EMR_RELEASES.items() if release.local]


def local_release(name: str) -> str:
    """The name, if a lake on this machine can run on the Spark and the Hudi of that release; ValueError otherwise."""
    if name in LOCAL_RELEASES:
        return name
    what = "does not run on this machine" if name in EMR_RELEASES else "is not known here"
    raise ValueError(f"release '{name}' {what} | choose one of {', '.join(LOCAL_RELEASES)}")


def no_streamer(release: str) -> str:
    """Why HoodieStreamer cannot run there; "" if it can."""
    hudi = EMR_RELEASES[release].hudi
    if hudi == STREAMER_HUDI:
        return ""
    return (
        f"{release} carries Hudi {hudi}, and our classes for HoodieStreamer are built with {STREAMER_HUDI}, "
        "the newest there is"
    )


def streams_serverless(release: str) -> bool:
    """True if EMR Serverless starts a streaming job of this release again after a failure."""
    return tuple(map(int, release.removeprefix("emr-").split("."))) >= SERVERLESS_STREAMS


def from_pom(root: Path, name: str) -> str:
    """The value of <name.version> in pom.xml, of the default release; BadInput when it has none."""
    found = re.search(rf"<{re.escape(name)}\.version>([^<]+)<", (root / "pom.xml").read_text(encoding="utf-8"))
    if found is None:
        raise BadInput(f"no property {name}.version", str(root / "pom.xml"), "restore the property")
    return found[1]
