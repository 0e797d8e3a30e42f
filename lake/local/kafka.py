"""Kafka: one KRaft node, broker and controller in one."""

import sys
from pathlib import Path

from lake.config import files
from lake.config.environment import LOOPBACK
from lake.local import disk_space, iam, java, scram
from lake.local.service import Program, Service, run_tool

METADATA_TIMEOUT_S = 1.0
FREE_MIB = 256  # free space that a broker needs to recover its logs, with a margin


class Kafka(Service):
    """Data in .lake/kafka. Topics are created explicitly, never by a typo in a client."""

    name = "kafka"

    @property
    def jars(self) -> Path:
        return self.home.build / "kafka"

    @property
    def config(self) -> Path:
        return self.home.rendered / "kafka.properties"

    def parts(self) -> list[Path]:
        own = [iam.broker_jar(self.home)] if self.home.has_roles else []
        return [self.jars / "*kafka_2.13-*.jar", self.jars / "*kafka-storage-*.jar", *own]

    def settings(self) -> dict[str, object]:
        broker, controller = self.home.kafka_bootstrap, f"{LOOPBACK}:{self.home.ports.kafka_controller}"
        name, login = self._login()
        third, protocol = (f",{name}://{self.home.kafka_login}", f",{name}:SASL_SSL") if name else ("", "")
        return {
            "process.roles": "broker,controller",
            "node.id": 1,
            "controller.quorum.voters": f"1@{controller}",
            "listeners": f"BROKER://{broker},CONTROLLER://{controller}{third}",
            "advertised.listeners": f"BROKER://{broker}{third}",
            "inter.broker.listener.name": "BROKER",
            "controller.listener.names": "CONTROLLER",
            "listener.security.protocol.map": f"BROKER:PLAINTEXT,CONTROLLER:PLAINTEXT{protocol}",
            "log.dirs": self.folder,
            "auto.create.topics.enable": "false",
            "offsets.topic.replication.factor": 1,
            "offsets.topic.num.partitions": 1,
            "transaction.state.log.replication.factor": 1,
            "transaction.state.log.min.isr": 1,
            "transaction.state.log.num.partitions": 1,
            "share.coordinator.state.topic.replication.factor": 1,
            "share.coordinator.state.topic.min.isr": 1,
            "group.initial.rebalance.delay.ms": 0,
            **login,
        }

    def _login(self) -> tuple[str, dict[str, object]]:
        """The name and the settings of the listener for clients that log in, if they do."""
        if self.home.has_roles:
            return "IAM", iam.broker_settings(self.home)
        return ("SCRAM", scram.broker_settings(self.home)) if self.home.has_users else ("", {})

    def prepare(self) -> list[str]:
        if self.home.has_roles:
            iam.write_policies(self.home)
        files.write_properties(self.config, self.settings())
        files.write_log4j(self.home.rendered / "kafka-log4j2.properties")
        if not (self.folder / "meta.properties").exists():
            self._format()
            return []
        if (self.folder / ".kafka_cleanshutdown").exists() or not list(self.folder.glob("*-*/*.log")):
            return []
        return ["the broker was killed; it checks and recovers the tail of its logs"]

    def _format(self) -> None:
        tool = [*self._java("-Xmx128m"), "kafka.tools.StorageTool"]
        made = self._run([*tool, "random-uuid"]).strip().splitlines()[-1]
        self._run([*tool, "format", f"--cluster-id={made}", f"--config={self.config}"])

    def _run(self, command: list[str]) -> str:
        return run_tool(command, "Kafka could not format its storage", self.folder)

    def _java(self, heap: str) -> list[str]:
        log4j = java.log4j(self.home.rendered / "kafka-log4j2.properties")
        jars, own = ([str(iam.broker_jar(self.home))], iam.flags(self.home)) if self.home.has_roles else ([], [])
        return [java.jdk_tool("java"), *java.QUICK, heap, log4j, *own, "-cp", ":".join([f"{self.jars}/*", *jars])]

    def program(self) -> Program:
        broker = [*self._java("-Xmx384m"), "kafka.Kafka", str(self.config)]
        # Isolated and without site-packages: 10 ms.
        waiting = [sys.executable, "-I", "-S", disk_space.__file__, str(FREE_MIB), str(self.home.data)]
        return Program([*waiting, *broker], self.home.data)

    def ready(self) -> bool:
        """The broker answers a metadata request and names itself."""
        from lake.clients.kafka import Broker

        return Broker(self.home.kafka_bootstrap).answers(METADATA_TIMEOUT_S)

    def initialise(self) -> None:
        if self.home.has_users:
            scram.admit(self.home)
