"""Tables without a key: what the definition says of them, and what the commands do with them."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import ValidationError

from lake.config.definition import Table
from lake.config.environment import Environment
from lake.config.errors import BadInput
from lake.guardian import repairs
from lake.guardian.inspect import Inspection
from lake.plan import apply
from lake.rendering.pipeline import applied_keys, as_applied, pipeline
from lake.rendering.streamer import refuse_unreadable
from lake.resync import broken_place, recover
from lake.resync.request import refuse_without_key
from lake.sources.change import Change
from lake.sources.drift import loss
from lake.sources.postgres import capture
from lake.state import baseline
from tests.unit.test_plan import LOCAL, A, planned, settled, shop

LOG = {"without_key": "append"}
COPIES = {"without_key": "multiset"}


@pytest.mark.parametrize("more", [{"key": ["id"]}, {"replica_identity": "default"}, {"replica_identity": "index"}])
def test_only_whole_rows_tell_rows_without_a_key_apart(more: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match=r"without_key is for|only the whole row"):
        Table(full_name="public.log", **LOG, **more)


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"delete": "hard"}, "a deleted row of a multiset keeps the hash"),
        ({"partition": ["kind"]}, "each batch of a multiset reads the whole table"),
    ],
)
def test_what_a_multiset_cannot_have(more: dict[str, Any], why: str) -> None:
    with pytest.raises(ValidationError, match=why):
        Table(full_name="public.log", **COPIES, **more)
    assert Table(full_name="public.log", **LOG, **more).delete == more.get("delete", "soft")


def test_hoodie_streamer_cannot_delete_by_content() -> None:
    with pytest.raises(BadInput, match=r"shop\.copies has deletes that name no row"):
        refuse_unreadable([shop(log=LOG, copies=COPIES)], [])
    refuse_unreadable([shop(log=LOG, copies=COPIES)], ["shop.log"])


def test_an_append_only_table_that_becomes_a_multiset_is_read_again() -> None:
    found = [one for one in planned(shop(log=COPIES), settled(shop(log=LOG))) if one.kind == "snapshot"]
    assert [(one.object, "lake recover shop" in one.detail) for one in found] == [("public.log", True)]
    assert [one.kind for one in planned(shop(log=COPIES), settled(shop(log=COPIES)))] == []


@pytest.mark.parametrize("kind", [LOG, COPIES])
def test_the_lake_knows_a_row_by_its_name(kind: dict[str, Any]) -> None:
    (entry,) = pipeline([shop(log=kind)], LOCAL)["tables"]
    assert (entry["keys"], entry["without_key"], entry.get("source_keys")) == (["__row"], kind["without_key"], None)
    assert entry["targets"][0]["options"]["hoodie.datasource.write.recordkey.field"] == "__row"


def test_the_key_of_the_lake_table_is_none_of_the_source() -> None:
    content = pipeline([shop(log=LOG)], LOCAL)
    assert applied_keys(content, "shop") == {"public.log": ["__row"]}
    assert as_applied(shop(log=LOG), content) == shop(log=LOG)


def test_a_table_that_joins_is_read_with_all_others(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    before, after = shop(a=A), shop(a=A, b=A, log=LOG)
    found = [one for one in planned(after, settled(before)) if one.kind == "snapshot"]
    assert [(one.object, "lake recover shop" in one.detail) for one in found] == [
        ("public.b", False),
        ("public.log", True),
    ]
    requested, home = snapshots_of(found, monkeypatch, tmp_path)
    assert requested == [["public.b"]]
    assert list(baseline.noted_losses(home, "shop").values()) == [{"public.log": apply.UNREAD_ROWS}]


def snapshots_of(found: list[Change], monkeypatch: pytest.MonkeyPatch, path: Path) -> tuple[list[Any], Environment]:
    """The requests that an apply of these changes sends."""
    requested: list[Any] = []
    monkeypatch.setenv("LAKE_DATA_DIR", str(path))
    monkeypatch.setattr(apply, "Connect", lambda _: SimpleNamespace(status=lambda _: {}, url=""))
    monkeypatch.setattr(apply, "runs", lambda _: True)
    monkeypatch.setattr(capture, "reader", lambda *_: 7)
    monkeypatch.setattr(capture, "request_snapshot", lambda _, __, tables: requested.append(tables))
    home = Environment(name="local", root=path)
    database = shop(a=A, b=A, log=LOG)
    assert apply.apply(found, [database], home, settled(database), lambda _: None) == {}
    return requested, home


def test_it_is_not_read_beside_the_stream() -> None:
    entries = pipeline([shop(a=A, log=LOG)], LOCAL)["tables"]
    refuse_without_key([one for one in entries if one["table"] == "a"])
    with pytest.raises(BadInput, match=r"shop\.public\.log has no key.*lake recover shop --new-slot"):
        refuse_without_key(entries)


def test_the_guardian_leaves_it_to_people() -> None:
    database = shop(a=A, log=LOG)
    drifts = [loss(database, "public.a", "was emptied"), loss(database, "public.log", "was emptied")]
    assert repairs.lost_tables(database, drifts) == ["public.a"]


def test_recover_reads_it_by_a_new_slot(monkeypatch: pytest.MonkeyPatch) -> None:
    database, passed = shop(a=A, log=LOG), list[Any]()
    nothing: Any = None
    found = Inspection(database, nothing, nothing, None, 0, [loss(database, "public.log", "was emptied")])
    monkeypatch.setattr(recover, "inspect", lambda *_: found)
    monkeypatch.setattr(recover, "_applied", lambda *_: None)
    monkeypatch.setattr(recover, "_stop", lambda *_: None)
    monkeypatch.setattr(recover, "Connect", lambda _: None)
    monkeypatch.setattr(broken_place, "here", lambda _, __, reason: broken_place.BrokenPlace(reason, "0/1"))
    monkeypatch.setattr(broken_place, "passed_over", lambda _, __, place: replace(place, end="0/2"))
    monkeypatch.setattr(recover, "repair", lambda *given: passed.append(given[-1]) or {"equal": False})
    recover.recovered(nothing, database, 1.0, lambda _: None)
    assert passed[0].reason == "public.log: without a key only a new slot reads them"
