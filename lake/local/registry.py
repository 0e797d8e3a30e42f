"""Apicurio Registry: the Avro schemas, stored in a separate PostgreSQL database. All may read, one user writes."""

from pathlib import Path

from lake.clients.rest import answers
from lake.config.environment import LOOPBACK
from lake.local import java
from lake.local.service import Program, Service
from lake.rendering.connector import REGISTRY_WRITER

USERS = "QUARKUS_SECURITY_USERS_EMBEDDED"


class Registry(Service):
    """Its storage is durable, because ids must never change: each Kafka message names its schema by id."""

    name = "registry"
    needs = ("postgres",)

    @property
    def jar(self) -> Path:
        return self.home.build / "registry" / "quarkus-run.jar"

    def parts(self) -> list[Path]:
        return [self.jar]

    def secrets(self) -> dict[str, str]:
        return {
            "APICURIO_DATASOURCE_PASSWORD": self.home.secrets.registry,
            f"{USERS}_USERS_{REGISTRY_WRITER.upper()}": self.home.secrets.registry_writer,
        }

    def environment(self) -> dict[str, str]:
        ports = self.home.ports
        return {
            "APICURIO_STORAGE_KIND": "sql",
            "APICURIO_STORAGE_SQL_KIND": "postgresql",
            "APICURIO_DATASOURCE_URL": f"jdbc:postgresql://{LOOPBACK}:{ports.postgres}/registry",
            "APICURIO_DATASOURCE_USERNAME": "registry",
            "APICURIO_DATASOURCE_JDBC_INITIAL_SIZE": "1",
            "APICURIO_DATASOURCE_JDBC_MIN_SIZE": "1",
            "APICURIO_DATASOURCE_JDBC_MAX_SIZE": "8",
            "QUARKUS_HTTP_HOST": LOOPBACK,
            "QUARKUS_HTTP_PORT": str(ports.registry),
            "QUARKUS_HTTP_ACCESS_LOG_ENABLED": "false",
            "QUARKUS_MANAGEMENT_HOST": LOOPBACK,
            "QUARKUS_MANAGEMENT_PORT": str(ports.registry_management),
            "QUARKUS_OTEL_SDK_DISABLED": "true",
            "QUARKUS_HTTP_AUTH_BASIC": "true",
            "APICURIO_AUTH_ROLE_BASED_AUTHORIZATION": "true",
            "APICURIO_AUTH_ANONYMOUS_READ_ACCESS_ENABLED": "true",
            f"{USERS}_PLAIN_TEXT": "true",
            f"{USERS}_ROLES_{REGISTRY_WRITER.upper()}": "sr-developer",
        }

    def program(self) -> Program:
        temporary = f"-Djava.io.tmpdir={self.folder}"
        command = [java.newer_java(), *java.QUICK, "-Xmx192m", temporary, "-jar", str(self.jar)]
        return Program(command, self.folder, self.environment())

    def ready(self) -> bool:
        return answers(f"{self.home.registry}/apis/registry/v3/system/info")
