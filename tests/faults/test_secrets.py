"""What must not be read anywhere: passwords, and the data of rows. Both are planted and looked for (row 34)."""

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

import httpx
import psutil
import psycopg
import pytest

from lake.local.processes import of_lake
from tests.faults.rig import Rig
from tests.faults.test_intruders import delete, put
from tests.faults.test_messages import produce, quarantined
from tests.faults.test_values import LIMIT, TEXT
from tests.faults.trial import Entry
from tests.integration import readers

pytestmark = pytest.mark.faults
ROW = "canary-row-5d1c"
WRONG = "canary-password-1f9e"
STORES = ("postgres", "s3", "tmp", "secrets", "secrets.json")


def texts(rig: Rig) -> Iterator[tuple[str, str]]:
    """Everything that is written or shown, by where it stands; not what is there to hold rows or passwords."""
    for path in sorted(rig.home.data.rglob("*")):
        with suppress(FileNotFoundError):
            if path.is_file() and not is_store(path.relative_to(rig.home.data)):
                yield str(path), path.read_text(errors="replace")
    for process in of_lake(rig.home.data):
        yield f"the command line of {process.pid}", command_line(process)
    for asked in ("connectors?expand=info", "connectors?expand=status"):
        yield (
            f"GET {asked}",
            httpx.get(f"{rig.home.connect}/{asked}", trust_env=False, auth=rig.home.connect_login).text,
        )


def is_store(path: Path) -> bool:
    """Of Kafka's topics only those of Connect, and of Kafka itself, must be without rows."""
    first, *rest = path.parts
    return first in STORES or (first == "kafka" and not rest[0].startswith(("connect-", "__")))


def command_line(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.NoSuchProcess:
        return ""


def places(rig: Rig, word: str) -> list[str]:
    return [place for place, text in texts(rig) if word in text]


def scratch(rig: Rig) -> Iterator[tuple[str, str]]:
    """What Spark writes down between two steps, the rows of them too."""
    for path in sorted((rig.home.data / "tmp").rglob("*")):
        with suppress(FileNotFoundError):
            if path.is_file():
                yield str(path), path.read_text(errors="replace")


def use(rig: Rig, shop: str) -> None:
    """What handles passwords, and logins that fail."""
    try:
        assert put(rig, shop, "intruder", **{"database.password": WRONG}).status_code == 400
    finally:
        delete(rig, "intruder")
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(psycopg.conninfo.make_conninfo(rig.home.dsn(shop), user="lake_capture", password=WRONG))
    rig.lake.run("verify", f"{shop}.pair", check=False)
    rig.lake.run("resnapshot", f"{shop}.pair", check=False)
    rig.lake.run("quarantine", "replay", shop, check=False)


@pytest.mark.matrix(
    "34", "passwords in logs, command lines, connectors, scratch and rendered files, after failed logins"
)
def test_passwords(rig: Rig, entry: Entry, shop: str) -> None:
    use(rig, shop)
    written = [*texts(rig), *scratch(rig)]
    secrets = {**asdict(rig.home.secrets), "that of a failed login": WRONG}
    found = {name: [place for place, text in written if secret in text] for name, secret in secrets.items()}
    assert len(found) >= 6 and not any(found.values()), found
    named = [path for path in readable(rig.home.data) if oct(path.stat().st_mode & 0o077) != "0o0"]
    assert named == [], "others may read these"


def readable(data: Path) -> list[Path]:
    """The files that hold passwords, on purpose."""
    return [path for path in (data / "secrets.json", *(data / "secrets").iterdir()) if path.is_file()]


@pytest.mark.matrix("34", "the data of a row in logs, also when the row can't be applied")
def test_rows(rig: Rig, entry: Entry, small: str) -> None:
    """A row that flows, one that is cut off, and one that PostgreSQL refuses to write twice."""
    insert = f"INSERT INTO account (id, version, note) VALUES (7001, 1, '{ROW}')"
    rig.execute(small, insert)
    with pytest.raises(psycopg.errors.UniqueViolation):
        rig.execute(small, insert)
    rig.come_to_rest(small)
    topic = f"{small}.public.account"
    value = next(value for value in readers.topic_values(rig.home, topic) if ROW.encode() in value)
    produce(rig, topic, value[:-6])
    rig.wait_until_stopped(f"{small}_cow.account")
    assert json.dumps(rig.table_status(f"{small}_cow.account")).count(ROW) == 0
    assert places(rig, ROW) == []


@pytest.mark.matrix("34", "the data of rows that are set aside: a value that its column refuses, and too large a row")
def test_rows_set_aside(rig: Rig, entry: Entry, aside: str) -> None:
    rig.execute(
        aside,
        f"UPDATE account SET note = '{ROW}', amount = 'NaN' WHERE id = 1",
        f"UPDATE account SET note = '{ROW}' || {TEXT.format(size=LIMIT * 11 // 10)} WHERE id = 2",
    )
    rig.lake.drain(aside)
    assert len(quarantined(rig, aside)) == 2
    assert places(rig, ROW) == []


@pytest.mark.matrix("34", "the search for secrets finds a planted one")
def test_search(rig: Rig, entry: Entry, shop: str) -> None:
    planted = [rig.home.data / folder / "planted" for folder in ("kafka/connect-status-0", "logs", "metastore/derby")]
    try:
        for path in planted:
            path.write_bytes(b"\xff ... " + ROW.encode())
        assert places(rig, ROW) == [str(path) for path in planted]
    finally:
        for path in planted:
            path.unlink()
    assert any("KafkaConnect" in text or "ConnectDistributed" in text for _, text in texts(rig))
