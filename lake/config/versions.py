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
    """The versions in one EMR release, from its release notes."""

    spark: str
    kafka_connector: str  # the release of Spark that its connector for Kafka is of; same minor, see pom.xml
    hudi: str


EMR_RELEASES = {
    "emr-6.15.0": EmrRelease(spark="3.4.1", kafka_connector="3.4.1", hudi="0.14.0"),
    "emr-7.10.0": EmrRelease(spark="3.5.5", kafka_connector="3.5.3", hudi="0.15.0"),
}
EMR = "emr-6.15.0"


def from_pom(root: Path, name: str) -> str:
    """The value of <name.version> in pom.xml; BadInput when it has none."""
    found = re.search(rf"<{re.escape(name)}\.version>([^<]+)<", (root / "pom.xml").read_text(encoding="utf-8"))
    if found is None:
        raise BadInput(f"no property {name}.version", str(root / "pom.xml"), "restore the property")
    return found[1]
