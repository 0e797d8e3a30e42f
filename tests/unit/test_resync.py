"""When a connector has read what it was asked for, and that what is still to be read is never forgotten."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from lake.clients.connect import Connect
from lake.config.definition import Database
from lake.config.environment import Environment, load_environment
from lake.config.errors import BadInput, LakeError
from lake.resync import finish, recover
from lake.sources.drift import Drift
from lake.state import resync
from lake.state.resync import unread

MOMA = Database.model_validate({"database": "moma", "tables": {"public.artists": {"key": ["id"]}}})
SHOP = Database.model_validate({"database": "shop", "tables": {"public.account": {"key": ["id"]}}})
LEFT = json.dumps([{"incremental_snapshot_collections_id": "public.artists"}])
SIGNAL = 100


def table(database: str, name: str) -> dict[str, Any]:
    return {"database": database, "schema": "public", "table": name, "topic": f"{database}.public.{name}"}


def worker(offset: dict[str, Any], connector: str = "RUNNING", task: str = "RUNNING") -> Connect:
    class Worker(Connect):
        def call(self, method: str, path: str, settings: Any = None, unless: int = 0) -> Any:
            if path.endswith("/offsets"):
                return {"offsets": [{"partition": {}, "offset": offset}]}
            return {"connector": {"state": connector}, "tasks": [{"id": 0, "state": task}]}

    return Worker(load_environment())


@pytest.mark.parametrize(
    ("offset", "left"),
    [
        pytest.param({}, ["the first snapshot of source_postgres_moma"], id="nothing sent yet"),
        pytest.param({"lsn": 99}, ["what source_postgres_moma was requested to read"], id="the signal is not read"),
        pytest.param({"lsn": 100, "incremental_snapshot_collections": LEFT}, ["moma.public.artists"], id="reading"),
        pytest.param({"lsn": 100}, [], id="all is in Kafka"),
    ],
)
def test_the_offset_that_kafka_acknowledged_tells(offset: dict[str, Any], left: list[str]) -> None:
    assert unread(worker(offset), MOMA, SIGNAL) == left


@pytest.mark.parametrize("states", [("STOPPED", "RUNNING"), ("PAUSED", "PAUSED"), ("RUNNING", "FAILED")])
def test_a_connector_that_reads_nothing_is_not_waited_for(states: tuple[str, str]) -> None:
    with pytest.raises(LakeError, match="the connector is"):
        unread(worker({"lsn": 100}, *states), MOMA, SIGNAL)


BOTH, ONE = [table("shop", "account"), table("shop", "item")], [table("shop", "account")]
RECOVER, RESNAPSHOT = "lake recover shop", "lake resnapshot shop.account"


class Asked:
    """A lake whose topics grow, and a connector that notes what it was asked."""

    def __init__(self, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.home = cast("Environment", SimpleNamespace(data=data))
        self.end = 0
        self.tables: list[list[str]] = []
        monkeypatch.setattr(resync, "bound", lambda home, table: self.end)

    def begin(self, command: str, tables: list[dict[str, Any]], fails: bool = False) -> dict[str, int]:
        """The bounds by topic."""
        self.end += 10
        resync.check_interrupted(self.home, command, tables)
        begun = resync.begin(self.home, command, tables, self._failing if fails else self._ask)
        return {topic: bound for one in begun.values() for topic, bound in one.bounds.items()}

    def _ask(self, database: str, tables: list[str]) -> int:
        self.tables.append([f"{database}.{table}" for table in tables])
        return 1

    def _failing(self, database: str, tables: list[str]) -> int:
        raise LakeError("the connector does not stop", "here", "again")

    def told(self) -> list[str]:
        return [drift.now for drift in resync.pending(self.home, SHOP)]


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Asked:
    return Asked(tmp_path, monkeypatch)


def test_the_same_command_goes_on_with_what_it_asked(asked: Asked) -> None:
    assert (
        asked.begin(RECOVER, BOTH) == asked.begin(RECOVER, BOTH) == {"shop.public.account": 10, "shop.public.item": 10}
    )
    assert asked.tables == [["shop.public.account", "shop.public.item"]]


def test_another_command_does_not_take_the_place_of_one_that_reads_more(asked: Asked) -> None:
    asked.begin(RECOVER, BOTH)
    with pytest.raises(BadInput, match=RECOVER):
        asked.begin(RESNAPSHOT, ONE)
    assert asked.told() == [RECOVER]


def test_one_that_reads_all_of_it_does(asked: Asked) -> None:
    asked.begin(RESNAPSHOT, ONE)
    assert asked.begin(RECOVER, BOTH) == {"shop.public.account": 20, "shop.public.item": 20}
    assert (len(asked.tables), asked.told()) == (2, [RECOVER])


def test_the_same_command_asks_anew_for_more_tables(asked: Asked) -> None:
    asked.begin(RECOVER, ONE)
    assert asked.begin(RECOVER, BOTH)["shop.public.item"] == 20
    assert asked.tables[-1] == ["shop.public.account", "shop.public.item"]


def test_databases_are_kept_apart(asked: Asked) -> None:
    asked.begin("lake resnapshot shop.account moma", [*ONE, table("moma", "artists")])
    resync.end(asked.home, "moma")
    assert (asked.told(), resync.pending(asked.home, MOMA)) == (["lake resnapshot shop.account moma"], [])


@pytest.mark.parametrize("void", [False, True], ids=["interrupted while it asked", "what it asked is void"])
def test_what_is_to_be_asked_anew_has_new_bounds(asked: Asked, void: bool) -> None:
    if void:
        asked.begin(RECOVER, ONE)
        resync.request_again(asked.home, "shop")
    else:
        with pytest.raises(LakeError):
            asked.begin(RECOVER, ONE, fails=True)
    assert (asked.told(), resync.unfinished_topics(asked.home, SHOP)) == ([RECOVER], {"shop.public.account"})
    assert asked.begin(RECOVER, ONE) == {"shop.public.account": 20}


def test_rows_left_out_stay_to_be_read(asked: Asked) -> None:
    """After a gap no drift is left by now: the next `lake recover` must delete orphaned rows, and not only prove."""
    asked.begin(RECOVER, ONE)
    with pytest.raises(LakeError, match="left rows out"):
        finish.check_none_missed(asked.home, {"shop.public.account": {"unread": 2}}, RECOVER, ["shop"])
    assert recover.affected(BOTH, [], resync.unfinished_topics(asked.home, SHOP)) == ONE
    assert asked.begin(RECOVER, ONE) == {"shop.public.account": 20}


GAP = Drift("shop", "", "replication slot lake_shop does not exist", RECOVER, lost=True)


@pytest.mark.parametrize(("drifts", "slot"), [([GAP], "lake_shop"), ([], None)], ids=["a gap", "no record and no slot"])
def test_after_another_gap_the_request_is_sent_again(
    asked: Asked, drifts: list[Drift], slot: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked.begin(RECOVER, BOTH)
    monkeypatch.setattr(recover, "named_tables", lambda *_: BOTH)
    monkeypatch.setattr(recover, "read_pipeline", lambda *_: {})
    monkeypatch.setattr(recover, "read_again", lambda home, command, tables, *_: asked.begin(command, tables))
    found: Any = SimpleNamespace(database=SHOP, drifts=drifts, capture=slot)
    home: Any = SimpleNamespace(data=asked.home.data, environment=None)
    assert recover.repair(home, found, 1.0, print) == {"shop.public.account": 20, "shop.public.item": 20}
    assert len(asked.tables) == 2


def test_the_proof_names_tables_as_the_source_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two schemas may have a table of one name, and the lake has no capital letters."""
    asked: list[str] = []
    monkeypatch.setattr(finish, "compare", lambda home, names, *_: asked.extend(names) or {"equal": False})
    monkeypatch.setattr(finish, "load_databases", lambda root: [])
    tables = [table("shop", "OrderItem"), {**table("shop", "plain"), "schema": "archive"}, table("shop", "a.b")]
    finish.prove(load_environment(), tables, 1.0, lambda line: None)
    assert asked == ["shop.public.OrderItem", "shop.archive.plain", 'shop.public."a.b"']
