"""A PostgreSQL server of a person's own, beside the lake's: Debian's 15 with TLS, or the bundled one without."""

import os
import signal
import subprocess
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from lake.config.environment import LOOPBACK
from lake.local.postgres import AS_NOBODY, NOBODY, Postgres
from tests.clocks import HANG_S
from tests.running_lake import RunningLake

DEBIAN = Path("/usr/lib/postgresql/15/bin")
PASSWORD = "it's a \\ secret"  # not plain, so that each client must quote it right
AUTHORITY = ("-subj", "/CN=Own authority", "-addext", "basicConstraints=critical,CA:TRUE")


@dataclass(frozen=True)
class SecondServer:
    """user: its administrator. dsn: without a password. authority: of its certificate; None without TLS."""

    port: int
    folder: Path
    authority: Path | None
    user: str = "boss"

    @property
    def has_extensions(self) -> bool:
        """True for Debian's server, which has those of PostgreSQL itself."""
        return self.authority is not None

    def dsn(self, database: str) -> str:
        tls = f"sslmode=verify-full&sslrootcert={self.authority}" if self.authority else "sslmode=disable"
        return f"postgresql://{self.user}@localhost:{self.port}/{database}?{tls}"

    def execute(self, database: str, *statements: str) -> list[tuple[Any, ...]]:
        """Each in a transaction of its own; the rows of the last one."""
        with psycopg.connect(self.dsn(database), password=PASSWORD, autocommit=True) as connection:
            for statement in statements:
                cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []


@contextmanager
def second_server(lake: RunningLake, folder: Path, port: int) -> Iterator[SecondServer]:
    """Named as missing: TLS, where Debian's postgresql-15 is not installed."""
    has_tls = DEBIAN.exists()
    if not has_tls:
        warnings.warn("TLS is not tried: it needs Debian's package postgresql-15", stacklevel=2)
    binaries = DEBIAN if has_tls else Postgres(lake.home).bin
    user = AS_NOBODY if os.getuid() == 0 else []
    data = _initialised(folder, binaries, user)
    authority = _certified(folder, data) if has_tls else None
    _settle(data, port, has_tls)
    with (folder / "log").open("w") as log:
        command = [*user, str(binaries / "postgres"), "-D", str(data)]
        process = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder)
    try:
        server = SecondServer(port, folder, authority)
        _wait(server)
        yield server
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(HANG_S)


def _initialised(folder: Path, binaries: Path, user: list[str]) -> Path:
    data = folder / "data"
    data.mkdir(mode=0o700)
    if os.getuid() == 0:
        os.chown(data, NOBODY, NOBODY)
    command = [*user, str(binaries / "initdb"), "--username=boss", "--auth=scram-sha-256", "--encoding=UTF8"]
    subprocess.run(
        [*command, "--locale=C", "--pwfile=/dev/stdin", f"--pgdata={data}"],
        input=f"{PASSWORD}\n",
        check=True,
        capture_output=True,
        text=True,
    )
    return data


def _certified(folder: Path, data: Path) -> Path:
    """A certificate for localhost, and the authority that signed it."""
    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2")
    signer = ("-CA", str(folder / "ca.pem"), "-CAkey", str(folder / "ca.key"))
    names = ("-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost")
    _openssl("req", "-x509", *key, *AUTHORITY, "-keyout", str(folder / "ca.key"), "-out", str(folder / "ca.pem"))
    _openssl("req", "-x509", *key, *names, *signer, "-keyout", str(data / "own.key"), "-out", str(data / "own.pem"))
    for name in ("own.key", "own.pem"):
        (data / name).chmod(0o600)
        if os.getuid() == 0:
            os.chown(data / name, NOBODY, NOBODY)
    return folder / "ca.pem"


def _openssl(*words: str) -> None:
    subprocess.run(["openssl", *words], check=True, capture_output=True)


def _settle(data: Path, port: int, has_tls: bool) -> None:
    """Over TCP and TLS alone, and with a limit for the log; each statement is logged, so a password would show.

    Unlike the lake's own server it knows two-phase commit.
    """
    tls = ["ssl = on", "ssl_cert_file = 'own.pem'", "ssl_key_file = 'own.key'"] if has_tls else []
    settings = [
        *(f"port = {port}", f"listen_addresses = '{LOOPBACK}'", "unix_socket_directories = ''"),
        *("wal_level = logical", "max_slot_wal_keep_size = '1GB'", "log_statement = all", "shared_buffers = 32MB"),
        "max_prepared_transactions = 4",
    ]
    with (data / "postgresql.conf").open("a") as file:
        file.write("\n".join([*settings, *tls, ""]))
    kind = "hostssl" if has_tls else "host"
    (data / "pg_hba.conf").write_text(f"{kind} all all {LOOPBACK}/32 scram-sha-256\n")


def _wait(server: SecondServer) -> None:
    deadline = time.monotonic() + HANG_S
    while True:
        try:
            server.execute("postgres", "SELECT 1")
            return
        except psycopg.OperationalError:
            assert time.monotonic() < deadline, (server.folder / "log").read_text()
            time.sleep(0.1)
