"""Kafka Connect: one distributed worker that runs the capture connectors."""

from pathlib import Path

from lake.clients.rest import answers
from lake.config import files
from lake.config.files import replace_file
from lake.config.home import HOST
from lake.local import java
from lake.local.service import Program, Service
from lake.rendering.connector import REGISTRY_WRITER, client_overrides
from lake.sources.postgres import roles

JSON = "org.apache.kafka.connect.json.JsonConverter"


class Connect(Service):
    """Plug-ins from build/connect; passwords reach connectors as ${file:...} references."""

    name = "connect"

    @property
    def config(self) -> Path:
        return self.home.rendered / "connect.properties"

    @property
    def secrets_folder(self) -> Path:
        return self.home.data / "secrets"

    def parts(self) -> list[Path]:
        jars, plugins = self.home.build / "kafka", self.home.build / "connect"
        return [jars / "*connect-runtime-*.jar", plugins / "*/debezium-connector-postgres-*.jar"]

    def settings(self) -> dict[str, object]:
        return {
            "bootstrap.servers": self.home.kafka,
            "group.id": "connect",
            # A killed worker's group membership blocks its successor until it expires.
            "session.timeout.ms": 6000,
            "heartbeat.interval.ms": 2000,
            "scheduled.rebalance.max.delay.ms": 0,
            "listeners": self.home.connect,
            "rest.advertised.host.name": HOST,
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
            # What the templates set, and no more: a connector of one's own broker or login is refused.
            "connector.client.config.override.policy": "Allowlist",
            "connector.client.config.override.allowlist": ",".join(client_overrides(self.home.root)),
            # REST has no login, and a connector may name these words as its user, say: whoever reaches the port, which
            # is on loopback, may read them. So the folder holds what connectors need, and nothing else is given.
            "config.providers": "file",
            "config.providers.file.class": "org.apache.kafka.common.config.provider.FileConfigProvider",
            "config.providers.file.param.allowed.paths": self.secrets_folder,
        }

    def prepare(self) -> list[str]:
        files.write_properties(self.config, self.settings())
        files.write_log4j(self.home.rendered / "connect-log4j2.properties")
        capture = f"user={roles.CAPTURE}\npassword={self.home.secrets.lake_capture}\n"
        replace_file(self.home.environment.capture_secrets_path, capture)
        writer = f"user={REGISTRY_WRITER}\npassword={self.home.secrets.registry_writer}\n"
        replace_file(self.home.environment.registry_secrets_path, writer)
        return []

    def program(self) -> Program:
        log4j = f"-Dlog4j2.configurationFile={(self.home.rendered / 'connect-log4j2.properties').as_uri()}"
        command = [
            java.jdk_tool("java"),
            *(java.QUICK if self.home.environment.spark.short_lived else java.SMALL),
            "-Xmx768m",
            "-Duser.timezone=UTC",  # what a converter makes of a time must not depend on the machine's zone
            log4j,
            "-cp",
            f"{self.home.build / 'kafka'}/*",
        ]
        main = "org.apache.kafka.connect.cli.ConnectDistributed"
        return Program([*command, main, str(self.config)], self.home.data)

    def ready(self) -> bool:
        """The worker has joined its group and read its configuration topic: it lists its connectors."""
        return answers(f"{self.home.connect}/connectors")
