"""Where a lake runs and how big it is: the typed form of environments/<name>.yaml."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import quote

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictInt,
    StrictStr,
    ValidationError,
    model_validator,
)
from pydantic_core import ErrorDetails
from pydantic_settings import BaseSettings, SettingsConfigDict

from lake.config import secrets, versions
from lake.config.errors import BadInput
from lake.config.secrets import Secrets
from lake.config.span import Span
from lake.config.yaml_file import as_model, check_file_name, read_mapping

PREFIX = "LAKE_"
ENVIRONMENTS_VARIABLE = "LAKE_ENVIRONMENTS_DIR"
PORTS_USED = 9
HIGHEST_PORT_BASE = 65535 - PORTS_USED
CONNECT_OPERATOR = "operator"
LOOPBACK = "127.0.0.1"
PROJECT = Path(__file__).resolve().parents[2]
Count = Annotated[StrictInt, Field(ge=1)]
Release = Annotated[StrictStr, AfterValidator(versions.local_release)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Kafka(_Part):
    """Topics and their durability."""

    partitions: Count = 1
    replication_factor: Count = 1
    min_insync_replicas: Count = 1
    retention_hours: Count = 168
    # How Connect and the jobs log in. iam: as at MSK, each with the rights of its role in the stacks of AWS. scram: by
    # user name and password, each with the rights of its user in Kafka's own ACLs.
    auth: Literal["none", "iam", "scram"] = "none"

    @model_validator(mode="after")
    def _writes_can_succeed(self) -> "Kafka":
        if self.min_insync_replicas > self.replication_factor:
            raise ValueError(
                f"min_insync_replicas {self.min_insync_replicas} exceeds "
                f"replication_factor {self.replication_factor} | no write could succeed: lower it"
            )
        return self


class Spark(_Part):
    """The size of the Spark driver."""

    driver_memory: Annotated[StrictStr, Field(pattern=r"^[1-9][0-9]*[mg]$")] = "1536m"
    short_lived: StrictBool = False  # for lakes that live for minutes: their JVMs compile quickly instead of well


HISTORY_COMMITS = 100


class Silver(_Part):
    """How the Hudi tables are written."""

    # How old a change may be when queries see it, s: commits of a table begin half of it apart, because each costs.
    freshness_s: Annotated[float, Field(ge=0, le=3600)] = 1.0
    appender: StrictBool = True  # plain batches are committed without a Spark job (ADR 37, 38)
    max_offsets: Count = 200_000
    # Commits between two rounds of compaction, cleaning and archiving; of a partitioned merge-on-read table a fourth.
    service_commits: Count = 60
    # So far back tables can be read: this time, and at least so many commits.
    history: Span = 120
    history_commits: Annotated[StrictInt, Field(ge=10, le=5000)] = HISTORY_COMMITS


class Bronze(_Part):
    """How the Avro archive is written."""

    trigger_s: Count = 60
    max_records: Count = 10_000


class Wal(_Part):
    """How much log a slot may keep on the disk of its source, in bytes.

    Above warn_bytes the guardian warns. Above pause_bytes it stops a connector that makes no progress. Above drop_bytes
    it drops the slot, because the source matters more than its capture; `lake recover` re-snapshots its tables.
    """

    warn_bytes: Count = 2**30
    pause_bytes: Count = 8 * 2**30
    drop_bytes: Count = 16 * 2**30

    @model_validator(mode="after")
    def _in_order(self) -> "Wal":
        if not self.warn_bytes <= self.pause_bytes <= self.drop_bytes:
            raise ValueError(
                f"warn_bytes {self.warn_bytes}, pause_bytes {self.pause_bytes} and drop_bytes {self.drop_bytes} "
                "do not ascend | the lake warns first, then stops reading, then drops the slot"
            )
        return self


@dataclass(frozen=True)
class Ports:
    """One loopback port per service, counted from the base."""

    postgres: int
    kafka: int
    kafka_controller: int
    connect: int
    registry: int
    registry_management: int
    s3: int
    metastore: int
    kafka_login: int

    @classmethod
    def from_base(cls, base: int) -> "Ports":
        return cls(*range(base, base + PORTS_USED))


class Environment(_Part):
    """One lake on this machine. root: the project folder, which data_dir is relative to. All paths are absolute."""

    name: StrictStr
    root: Path
    port_base: Annotated[StrictInt, Field(ge=1024, le=HIGHEST_PORT_BASE)] = 27000
    data_dir: Annotated[StrictStr, Field(min_length=1)] = ".lake"
    bucket: Annotated[StrictStr, Field(pattern=r"^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$")] = "lake"
    release: Release = versions.EMR  # of EMR: the lake runs on its Spark and its Hudi
    kafka: Kafka = Kafka()
    spark: Spark = Spark()
    silver: Silver = Silver()
    bronze: Bronze = Bronze()
    wal: Wal = Wal()

    @property
    def ports(self) -> Ports:
        return Ports.from_base(self.port_base)

    @property
    def build(self) -> Path:
        """Jars and programs, made by `make setup` and shared by all lakes of this checkout."""
        return self.root / "build"

    @property
    def spark_build(self) -> Path:
        """The part of the build for the Spark of the release: jars, class archive, PySpark unless the default's."""
        return self.build if self.release == versions.EMR else self.build / self.release

    @property
    def make_setup(self) -> str:
        """The command that makes the build."""
        return "make setup" if self.release == versions.EMR else f"{PREFIX}RELEASE={self.release} make setup"

    @property
    def data(self) -> Path:
        """The absolute folder of everything the lake writes."""
        return (self.root / self.data_dir).resolve()

    @property
    def logs(self) -> Path:
        return self.data / "logs"

    def log(self, name: str) -> Path:
        """The file in which the supervisor of a service keeps its output."""
        return self.logs / f"{name}.log"

    @property
    def lock(self) -> Path:
        """The file that is locked by the one command that starts or stops this lake."""
        return self.data / "lock"

    @property
    def rendered(self) -> Path:
        return self.data / "rendered"

    @property
    def secrets_path(self) -> Path:
        return self.data / "secrets.json"

    @property
    def secrets(self) -> Secrets:
        """BadInput if this lake was never started."""
        return secrets.load(self.secrets_path)

    @property
    def capture_secrets_path(self) -> Path:
        """The properties file (user, password) that Kafka Connect's FileConfigProvider reads."""
        return self.data / "secrets" / "capture.properties"

    @property
    def registry_secrets_path(self) -> Path:
        """The same kind of file, with the login that may write schemas."""
        return self.data / "secrets" / "registry.properties"

    @property
    def hash_secrets_path(self) -> Path:
        """The same kind of file, with the key of the hashes of columns."""
        return self.data / "secrets" / "hashes.properties"

    @property
    def connect_login_path(self) -> Path:
        """The file of those who may call Connect's REST interface; outside the folder that connectors may read."""
        return self.data / "connect" / "login"

    @property
    def connect_login(self) -> tuple[str, str]:
        """User and password for Connect's REST interface; BadInput if this lake was never started."""
        return CONNECT_OPERATOR, self.secrets.connect_operator

    @property
    def bucket_uri(self) -> str:
        return f"s3a://{self.bucket}"

    # --- Addresses.

    @property
    def kafka_bootstrap(self) -> str:
        return f"{LOOPBACK}:{self.ports.kafka}"

    @property
    def has_roles(self) -> bool:
        """True if the programs have roles as on AWS, which the broker checks: kafka.auth is iam."""
        return self.kafka.auth == "iam"

    @property
    def has_users(self) -> bool:
        """True if the programs have users in Kafka, with passwords and ACLs: kafka.auth is scram."""
        return self.kafka.auth == "scram"

    @property
    def kafka_login(self) -> str:
        """Where clients that log in reach the broker."""
        return f"{LOOPBACK}:{self.ports.kafka_login}"

    @property
    def iam(self) -> Path:
        """Roles, keys and certificate of a broker with kafka.auth: iam."""
        return self.data / "iam"

    @property
    def scram(self) -> Path:
        """Certificate and logins of a broker with kafka.auth: scram: a folder for each user, with the file jaas."""
        return self.data / "scram"

    @property
    def connect(self) -> str:
        return f"http://{LOOPBACK}:{self.ports.connect}"

    @property
    def registry(self) -> str:
        return f"http://{LOOPBACK}:{self.ports.registry}"

    @property
    def s3(self) -> str:
        return f"http://{LOOPBACK}:{self.ports.s3}"

    @property
    def metastore(self) -> str:
        return f"thrift://{LOOPBACK}:{self.ports.metastore}"

    def dsn(self, database: str = "postgres", user: str = "postgres") -> str:
        """The address of a database and the login of one of the roles in secrets.json, password included."""
        login = f"{user}:{getattr(self.secrets, user)}"
        return f"postgresql://{login}@{LOOPBACK}:{self.ports.postgres}/{quote(database, safe='')}"


class Overrides(BaseSettings):
    """The keys that a variable overrides: LAKE_PORT_BASE, LAKE_DATA_DIR and LAKE_RELEASE."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, env_ignore_empty=True)

    port_base: Annotated[int, Field(ge=1024, le=HIGHEST_PORT_BASE)] | None = None
    data_dir: str | None = None
    release: Release | None = None


def load_environment(name: str = "local", root: Path = PROJECT) -> Environment:
    """environments/<name>.yaml; the variables LAKE_PORT_BASE, LAKE_DATA_DIR and LAKE_RELEASE override its keys.

    LAKE_ENVIRONMENTS_DIR names another folder than environments/. BadInput names file, line, key and remedy.
    """
    path = environment_path(root, name)
    content = read_mapping(path)
    if "region" in content:
        now = "this command is for lakes on this machine; on AWS: cdk diff, cdk deploy"
        raise BadInput(f"the lake '{name}' is on AWS", f"{path}, key region", now)
    if "root" in content:
        raise BadInput("unknown key", f"{path}, key root", "remove it: the root is the project folder")
    environment = as_model(Environment, {**content, "root": root.resolve(), **_overrides()}, path)
    check_file_name(path, "environment", "name", environment.name)
    return environment


def environment_path(root: Path, name: str) -> Path:
    """environments/<name>.yaml, or the file of that name in LAKE_ENVIRONMENTS_DIR."""
    return root / os.environ.get(ENVIRONMENTS_VARIABLE, "environments") / f"{name}.yaml"


def _overrides() -> dict[str, Any]:
    try:
        return Overrides().model_dump(exclude_none=True)
    except ValidationError as error:
        (wrong, *_) = error.errors()
        raise _bad_variable(f"{PREFIX}{str(wrong['loc'][0]).upper()}", wrong) from None


def _bad_variable(name: str, wrong: ErrorDetails) -> BadInput:
    if wrong["type"] == "value_error":
        what, _, now = str(wrong["ctx"]["error"]).partition(" | ")
        return BadInput(what, f"environment variable {name}", f"{now}, or unset it")
    what, now = f"{name}={wrong['input']} is not a usable port", f"give a number from 1024 to {HIGHEST_PORT_BASE}"
    return BadInput(what, "environment variable", f"{now}, or unset it")
