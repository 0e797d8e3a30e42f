"""One lake on this machine: where its code, data and jars lie, its ports and its secrets."""

from dataclasses import dataclass
from pathlib import Path

from lake.config import secrets
from lake.config.environment import Environment, Ports, load_environment
from lake.config.secrets import Secrets

HOST = "127.0.0.1"
PROJECT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Home:
    """What every service needs to know; all paths are absolute."""

    environment: Environment

    @property
    def root(self) -> Path:
        return self.environment.root

    @property
    def build(self) -> Path:
        """Jars and programs, made by `make setup` and shared by all lakes of this checkout."""
        return self.root / "build"

    @property
    def data(self) -> Path:
        return self.environment.data_path

    @property
    def logs(self) -> Path:
        return self.data / "logs"

    def log(self, name: str) -> Path:
        """Where the supervisor of a service keeps what that one prints."""
        return self.logs / f"{name}.log"

    @property
    def lock(self) -> Path:
        """Held by the one command that starts or stops this lake."""
        return self.data / "lock"

    @property
    def rendered(self) -> Path:
        return self.environment.rendered_path

    @property
    def ports(self) -> Ports:
        return self.environment.ports

    @property
    def bucket(self) -> str:
        return self.environment.bucket

    @property
    def secrets(self) -> Secrets:
        """BadInput if this lake was never started."""
        return secrets.load(self.environment.secrets_path)

    @property
    def kafka(self) -> str:
        return f"{HOST}:{self.ports.kafka}"

    @property
    def connect(self) -> str:
        return f"http://{HOST}:{self.ports.connect}"

    @property
    def registry(self) -> str:
        return f"http://{HOST}:{self.ports.registry}"

    @property
    def s3(self) -> str:
        return f"http://{HOST}:{self.ports.s3}"

    @property
    def metastore(self) -> str:
        return f"thrift://{HOST}:{self.ports.metastore}"

    def dsn(self, database: str = "postgres", user: str = "postgres") -> str:
        """How to reach a database as one of the roles in secrets.json, password included."""
        password = getattr(self.secrets, user)
        return f"postgresql://{user}:{password}@{HOST}:{self.ports.postgres}/{database}"


def load_home(name: str = "local", root: Path = PROJECT) -> Home:
    """The lake of environments/<name>.yaml; BadInput if that file is wrong."""
    return Home(load_environment(root, name))
