"""What the deployed stacks tell the command line: one parameter of Systems Manager."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lake.aws.rendering import STATE


def parameter(environment: str) -> str:
    """The parameter of Systems Manager that holds the outputs of an environment as JSON."""
    return f"/lake/{environment}/sheet"


def remembered_key(job: str, file: str) -> str:
    """The key of a file that a job keeps in the bucket of artifacts."""
    return f"{STATE}/{job}/{file}"


def remembered(artifacts: str, job: str, file: str) -> str:
    """Where a job keeps a file, by the name of the bucket of artifacts."""
    return f"s3://{artifacts}/{remembered_key(job, file)}"


@dataclass(frozen=True)
class StackOutputs:
    """The outputs of a deployed lake that steps need; URLs are s3://.

    cluster and number: the id of the cluster, and how many there were with it; on EMR Serverless the id of the
    application, and "". role: the ARN of the role of job runs, "" on a cluster. scripts and starters by name,
    templates of the pipeline files by job. streamer: HoodieStreamer's own: "jar", our classes, and "template", of
    streamer.json. places: what the @NAMES@ of a template stand for, in the order in which start_job.sh takes them.
    reporter: the "program" that lake-report runs on the primary node, the "jobs", and the URL of the "status" of a
    {job}. secret: the ARN of the user that verifies; admin: of the administrator's, "" where no job may load rows.
    """

    region: str
    cluster: str
    number: str
    package: str
    pools: str
    jars: Sequence[str]
    scripts: Mapping[str, str]
    starters: Mapping[str, str]
    templates: Mapping[str, str]
    streamer: Mapping[str, str]
    places: Mapping[str, str]
    reporter: Mapping[str, str | Sequence[str]]
    source: str
    secret: str
    admin: str
    role: str = ""
    name: str = ""  # of the environment
    hashes: str = ""  # the ARN of the key of hashes, where a definition hashes columns
    kafka_secret: str = ""  # the name of the secret with which jobs log in to Kafka; "" if they do so by IAM

    @property
    def serverless(self) -> bool:
        return bool(self.role)

    def remembered(self, job: str, file: str) -> str:
        """Where a job keeps a file."""
        return remembered(self.places["artifacts"], job, file)
