"""Kafka Connect: one distributed worker that runs the capture connectors."""

from pathlib import Path

from lake.clients.rest import answers
from lake.config import files
from lake.config.environment import LOOPBACK, Environment
from lake.config.files import replace_file
from lake.local import iam, java
from lake.local.service import Program, Service
from lake.rendering.connector import REGISTRY_WRITER, client_overrides
from lake.rendering.kafka_acls import CONNECT
from lake.rendering.kafka_login import PREFIXES, directory, local_clients
from lake.sources.postgres import roles

JSON = "org.apache.kafka.connect.json.JsonConverter"


class Connect(Service):
    """Plug-ins are in build/connect. Connectors get passwords by ${file:...} references."""

    name = "connect"

    def __init__(self, home: Environment) -> None:
        super().__init__(home)
        # The broker must know its user first: a worker whose login is refused ends.
        self.needs = ("kafka",) if home.has_users else ()

    @property
    def config(self) -> Path:
        return self.home.rendered / "connect.properties"

    def parts(self) -> list[Path]:
        jars, plugins = self.home.build / "kafka", self.home.build / "connect"
        return [jars / "*connect-runtime-*.jar", plugins / "*/debezium-connector-postgres-*.jar"]

    def secrets(self) -> dict[str, str]:
        return iam.variables(self.home, iam.CONNECT)

    def settings(self) -> dict[str, object]:
        return {
            **self._clients(),
            "group.id": "connect",
            # A killed worker's group membership blocks its successor until it expires.
            "session.timeout.ms": 6000,
            "heartbeat.interval.ms": 2000,
            "scheduled.rebalance.max.delay.ms": 0,
            # Kafka's default since 4.0 begins anew with the given address, which never changes here. Without a broker
            # it does so in a loop without a pause, a thousand log lines a second (AdminMetadataManager, 4.3).
            "metadata.recovery.strategy": "none",
            "listeners": self.home.connect,
            "rest.advertised.host.name": LOOPBACK,
            "rest.advertised.port": self.home.ports.connect,
            "config.storage.topic": "connect-configs",
            "config.storage.replication.factor": 1,
            "offset.storage.topic": "connect-offsets",
            "offset.storage.replication.factor": 1,
            "offset.storage.partitions": 1,
            "status.storage.topic": "connect-status",
            "status.storage.replication.factor": 1,
            "status.storage.partitions": 1,
            "offset.flush.interval.ms": 1000,
            "key.converter": JSON,
            "value.converter": JSON,
            "plugin.path": self.home.build / "connect",
            "plugin.discovery": "service_load",
            # Only the settings of the templates: a connector with its own broker or login is refused.
            "connector.client.config.override.policy": "Allowlist",
            "connector.client.config.override.allowlist": ",".join(client_overrides(self.home.root)),
            "rest.extension.classes": "lake.connect.RestLogin",
            "lake.rest.login.file": self.home.connect_login_path,
            # A connector may use a reference in any setting, such as its user name: whoever may call REST can read
            # these files. So only this folder is allowed.
            **self._own_login(),
            "config.providers.file.class": "org.apache.kafka.common.config.provider.FileConfigProvider",
            "config.providers.file.param.allowed.paths": self.home.capture_secrets_path.parent,
        }

    def _clients(self) -> dict[str, str]:
        wanted = local_clients(self.home, CONNECT)
        return {f"{prefix}{key}": value for prefix in PREFIXES for key, value in wanted.items()}

    def _own_login(self) -> dict[str, str]:
        """Providers of settings: files for connectors, and another folder if the worker itself has a password."""
        if not self.home.has_users:
            return {"config.providers": "file"}
        return {**directory(self.home.scram / CONNECT), "config.providers": "file,directory"}

    def prepare(self) -> list[str]:
        files.write_properties(self.config, self.settings())
        files.write_log4j(self.home.rendered / "connect-log4j2.properties")
        capture = f"user={roles.CAPTURE}\npassword={self.home.secrets.lake_capture}\n"
        replace_file(self.home.capture_secrets_path, capture)
        writer = f"user={REGISTRY_WRITER}\npassword={self.home.secrets.registry_writer}\n"
        replace_file(self.home.registry_secrets_path, writer)
        replace_file(self.home.hash_secrets_path, f"password={self.home.secrets.column_hashes}\n")
        replace_file(self.home.connect_login_path, ":".join(self.home.connect_login) + "\n")
        return []

    def program(self) -> Program:
        flags = java.QUICK if self.home.spark.short_lived else java.SMALL
        log4j = java.log4j(self.home.rendered / "connect-log4j2.properties")
        utc = "-Duser.timezone=UTC"  # a converted time must not depend on the zone of the machine
        jars = ":".join([f"{self.home.build / 'kafka'}/*", *iam.client_jars(self.home)])
        command = [java.jdk_tool("java"), *flags, "-Xmx768m", utc, log4j, "-cp", jars]
        main = "org.apache.kafka.connect.cli.ConnectDistributed"
        return Program([*command, main, str(self.config)], self.home.data)

    def ready(self) -> bool:
        """The worker has joined its group and read its configuration topic. This answer alone needs no login."""
        return answers(f"{self.home.connect}/health")
