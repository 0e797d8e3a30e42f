"""The Hive metastore: table names for Spark and Hive, in Derby."""

import os
import socket
import struct
import subprocess
from pathlib import Path

from lake.config import files
from lake.config.environment import LOOPBACK
from lake.config.errors import LakeError
from lake.local import java
from lake.local.s3 import s3a_settings
from lake.local.service import Program, Service
from lake.local.spark_submit import spark_home

CALL = 0x80010001  # Thrift binary protocol, version 1, message type "call"
REPLY = 0x80010002
TIMEOUT_S = 5.0
AUDIT = "org.apache.hadoop.hive.metastore.HiveMetaStore.audit"
S3_CLIENT = ("hadoop-aws-*.jar", "aws-java-sdk-bundle-*.jar")


class Metastore(Service):
    """Hive 2.3.9 from Spark's own jars, started by a class that listens on loopback only."""

    name = "metastore"

    @property
    def spark_jars(self) -> Path:
        return spark_home(self.home) / "jars"

    @property
    def source(self) -> Path:
        return self.home.root / "metastore_launcher" / "LoopbackMetastore.java"

    @property
    def classes(self) -> Path:
        return self.folder / "classes"

    @property
    def config(self) -> Path:
        return self.home.rendered / "metastore"

    def parts(self) -> list[Path]:
        return [self.source, *(self.home.spark_build / "spark" / pattern for pattern in S3_CLIENT)]

    def secrets(self) -> dict[str, str]:
        return self.home.secrets.s3_keys

    def settings(self) -> dict[str, object]:
        return {
            "javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={self.folder / 'derby'};create=true",
            "javax.jdo.option.ConnectionDriverName": "org.apache.derby.jdbc.EmbeddedDriver",
            "datanucleus.schema.autoCreateAll": "true",
            "hive.metastore.schema.verification": "false",
            "hive.metastore.warehouse.dir": (self.home.data / "warehouse").as_uri(),
            # Its asynchronous logger does not start on Java 17.
            "hive.async.log.enabled": "false",
            # A column added to a source table need not come last.
            "hive.metastore.disallow.incompatible.col.type.changes": "false",
            # Statistics would list the table's files on S3 at each change.
            "hive.stats.autogather": "false",
        }

    def prepare(self) -> list[str]:
        self.folder.mkdir(parents=True, exist_ok=True)
        s3a = {**s3a_settings(self.home.s3), "hadoop.tmp.dir": self.folder / "tmp"}
        files.write_hadoop(self.config / "core-site.xml", s3a)
        files.write_hadoop(self.config / "hive-site.xml", self.settings())
        # With roles, it says who asked it for what: the same is asked of Glue.
        said = {AUDIT: "info"} if self.home.has_roles else {}
        files.write_log4j(self.config / "log4j2.properties", level="warn", loggers=said)
        self._compile()
        return self._clean()

    def _compile(self) -> None:
        made = self.classes / "LoopbackMetastore.class"
        if made.exists() and made.stat().st_mtime >= self.source.stat().st_mtime:
            return
        command = [java.jdk_tool("javac"), "-proc:none", "-cp", f"{self.spark_jars}/*", "-d", str(self.classes)]
        done = subprocess.run([*command, str(self.source)], capture_output=True, text=True)
        if done.returncode != 0:
            raise LakeError(f"javac failed: {done.stderr.strip()[:200]}", str(self.source), "run: make setup")

    def _clean(self) -> list[str]:
        locks = list((self.folder / "derby").glob("*.lck"))
        for lock in locks:
            lock.unlink()
        names = ", ".join(sorted(lock.name for lock in locks))
        return [f"removed {names} of a killed server; Derby replays its log"] if locks else []

    def program(self) -> Program:
        clients = [jar for pattern in S3_CLIENT for jar in sorted((self.home.spark_build / "spark").glob(pattern))]
        path = os.pathsep.join(map(str, [self.config, self.classes, f"{self.spark_jars}/*", *clients]))
        options = [java.log4j(self.config / "log4j2.properties"), f"-Dderby.system.home={self.folder}", "-cp", path]
        command = [java.jdk_tool("java"), *java.QUICK, "-Xmx256m", *options, "LoopbackMetastore"]
        return Program([*command, LOOPBACK, str(self.home.ports.metastore)], self.folder)

    def ready(self) -> bool:
        """True if it lists its databases, which needs the Derby schema, too."""
        try:
            return _call("get_all_databases", self.home.ports.metastore) == REPLY
        except OSError:
            return False


def _call(method: str, port: int) -> int:
    """Message type of the answer to a Thrift call without arguments."""
    name = method.encode()
    message = struct.pack(f">Ii{len(name)}sib", CALL, len(name), name, 0, 0)
    with socket.create_connection((LOOPBACK, port), timeout=TIMEOUT_S) as connection:
        connection.sendall(message)
        answer = connection.recv(4)
    return int.from_bytes(answer, "big")
