"""A bad message stops its table or is set aside before the commit, in real Hudi tables; then replayed or dropped."""

from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from spark_jobs.hudi import timeline
from spark_jobs.hudi.table import HudiTable
from spark_jobs.quarantine import table
from spark_jobs.streaming.table_writer import PoisonMessage, Retired
from tests.poisoned import LARGE, LATER, OTHER, OURS, PRICED, batch, message, too_large
from tests.spark.hudi_lab import Lab

pytestmark = pytest.mark.usefixtures("no_metastore")
FOREIGN = message(OTHER, id=9, name="x")
UNFIT = message(PRICED, id=1, name="c", price="NAN")
UNFIT_PRICE = "column price holds a value that DECIMAL(10,2) cannot hold"


def test_a_table_that_stops_says_where_and_commits_nothing(spark: SparkSession, tmp_path: Path) -> None:
    lab = Lab(spark, tmp_path, policy="stop")
    lab.write(message(OURS, id=1, name="a"))
    told = r"lab_mor\.t: lab\.public\.t partition 0 offset 2 can't be applied: schema id 5 is that of lab\.public\.o"
    with pytest.raises(PoisonMessage, match=told):
        lab.write(message(OURS, id=1, name="b"), FOREIGN, b"", first=1)
    assert (lab.rows(), lab.aside()) == ({1: "a"}, [])


def test_a_table_that_goes_on_has_all_but_the_bad_ones(spark: SparkSession, tmp_path: Path) -> None:
    lab = Lab(spark, tmp_path, types=("cow", "mor"))
    lab.write(message(OURS, id=1, name="a"))
    lab.write(message(OURS, id=1, name="b"), FOREIGN, message(OURS, id=2, name="c"), b"\x07", first=1)
    for place, writer in enumerate(lab.writers):
        assert lab.rows(place) == {1: "b", 2: "c"}
        assert writer.waiting == 2
        position = timeline.last_position(timeline.timeline(spark, lab.table.targets[place].path))
        assert position["offsets"] == {"0": 5}, "it ended with what was set aside"
    assert [(one["id"], one["state"]) for one in lab.aside()] == [
        ("lab.public.t/0/0/2", "waiting"),
        ("lab.public.t/0/0/4", "waiting"),
    ]


def test_a_row_that_was_too_large(spark: SparkSession, tmp_path: Path) -> None:
    """Its table has the version before; the next one that fits is taken, and the message can only be dropped."""
    lab = Lab(spark, tmp_path, types=("cow", "mor"))
    lab.write(message(OURS, id=1, name="a"), message(OURS, id=2, name="b"))
    lab.write(too_large("id=1"), message(OURS, id=2, name="c"), too_large("id=3"), first=2)
    for place in (0, 1):
        assert lab.rows(place) == {1: "a", 2: "c"}
    lab.write(message(OURS, id=1, name="d"), message(OURS, id=3, name="e"), first=5)
    for place in (0, 1):
        assert lab.rows(place) == {1: "d", 2: "c", 3: "e"}
    refused = lab.ask("replay")
    assert refused["settled"] == [] and all("17000000 bytes" in one["reason"] for one in refused["refused"])
    assert len(lab.ask("drop")["settled"]) == 2
    assert lab.states() == {2: "dropped", 4: "dropped"}


def test_a_table_that_stops_names_the_row_that_was_too_large(spark: SparkSession, tmp_path: Path) -> None:
    lab = Lab(spark, tmp_path, policy="stop")
    with pytest.raises(PoisonMessage, match="offset 1 can't be applied: the row with id=7 has 17000000 bytes"):
        lab.write(message(OURS, id=1, name="a"), too_large("id=7"))


def test_a_table_that_stops_names_the_column_not_the_value(spark: SparkSession, tmp_path: Path) -> None:
    lab = Lab(spark, tmp_path, policy="stop")
    lab.write(message(PRICED, id=1, name="a", price="1.50"))
    with pytest.raises(PoisonMessage) as told:
        lab.write(message(PRICED, id=2, name="b"), UNFIT, first=1)
    assert f"lab.public.t partition 0 offset 2 can't be applied: {UNFIT_PRICE}" in str(told.value)
    assert "NAN" not in str(told.value)
    assert (lab.rows(), lab.aside()) == ({1: "a"}, [])


def test_a_value_that_its_lake_type_refuses(spark: SparkSession, tmp_path: Path) -> None:
    """The row waits for its next fitting value; its delete is no ghost and keeps what fits."""
    lab = Lab(spark, tmp_path, types=("cow", "mor"))
    lab.write(message(PRICED, id=1, name="a", price="1.50"), message(PRICED, id=2, name="b", price="2.50"))
    several = {"id": 2, "name": "d", "price": "4.50", "grid": ["\0{{1},{2}}"]}
    lab.write(UNFIT, message(PRICED, **several), first=2)
    for place in (0, 1):
        assert lab.rows(place) == {1: "a", 2: "b"}
    lab.write(message(PRICED, id=1, name="e"), message(PRICED, **several, __deleted="true"), first=4)
    for place in (0, 1):
        rows = lab.stored(place).selectExpr("id", "name", "string(price)", "grid", "__deleted").orderBy("id").collect()
        assert rows == [(1, "e", None, None, "false"), (2, "d", "4.50", None, "true")]
    assert lab.states() == {2: "waiting", 3: "waiting"}
    refused = lab.ask("replay")
    assert (refused["settled"], UNFIT_PRICE in refused["refused"][0]["reason"]) == ([], True)
    assert len(lab.ask("drop")["settled"]) == 2


def test_a_bad_message_among_those_that_are_applied_early(spark: SparkSession, tmp_path: Path) -> None:
    """It waits for its own batch; found there by nothing, it would have held up the batch before."""
    lab = Lab(spark, tmp_path)
    first = message(LARGE, id="1", price=None, __unavailable=["price"], __moved_from=None)
    whole = {"__unavailable": None, "__moved_from": None}
    ahead = message(LARGE, id="1", price="NAN", **whole), FOREIGN, message(LARGE, id="1", price="2.50", **whole)
    lab.topic = batch(spark, first, *ahead)
    lab.write(first)
    assert (prices(lab), lab.aside()) == (["2.50"], [])
    lab.write(*ahead, first=1)
    assert (prices(lab), lab.states()) == (["2.50"], {1: "waiting", 2: "waiting"})


def prices(lab: Lab) -> list[str]:
    return [str(row["price"]) for row in lab.stored().collect()]


def test_only_what_is_older_than_a_bound_is_given_up(spark: SparkSession, tmp_path: Path) -> None:
    lab = Lab(spark, tmp_path)
    lab.write(FOREIGN, message(OURS, id=1, name="a"), b"\x07")
    assert lab.ask("drop", bounds={"lab.public.other": 9})["settled"] == []
    assert lab.ask("drop", bounds={"lab.public.t": 1})["settled"] == ["lab.public.t/0/0/0"]
    assert lab.states() == {0: "dropped", 2: "waiting"}


def test_a_driver_that_dies_in_between_finds_the_entry(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = Lab(spark, tmp_path)
    lab.write(message(OURS, id=1, name="a"))
    values = message(OURS, id=1, name="b"), FOREIGN
    with monkeypatch.context() as patch:
        patch.setattr(HudiTable, "commit", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()))
        with pytest.raises(KeyboardInterrupt):
            lab.write(*values, first=1)
    assert (lab.rows(), lab.states()) == ({1: "a"}, {2: "waiting"})
    before = lab.aside()
    lab.write(*values, first=1)
    assert (lab.rows(), lab.aside()) == ({1: "b"}, before)


def test_an_error_that_is_no_message_s_stays_what_it_is(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = Lab(spark, tmp_path)
    monkeypatch.setattr(HudiTable, "commit", lambda *_: (_ for _ in ()).throw(OSError("the disk is full")))
    with pytest.raises(OSError, match="the disk is full"):
        lab.write(message(OURS, id=1, name="a"))
    assert lab.aside() == []


def test_replay_in_the_order_of_offsets(spark: SparkSession, tmp_path: Path) -> None:
    lab = Lab(spark, tmp_path, types=("cow", "mor"))
    lab.registry.known.discard(LATER)
    lab.write(message(OURS, id=1, name="a"))
    unknown = [message(LATER, id=key, name="set aside", note="n") for key in (1, 2)]
    lab.write(*unknown, message(OURS, id=1, name="newer"), message(OURS, id=3, name="c"), first=1)
    refused = lab.ask("replay")
    assert refused["settled"] == [] and "schema id 4 is not in the registry" in refused["refused"][0]["reason"]
    lab.registry.known.add(LATER)
    lab.write(message(OURS, id=4, name="d"), first=5)
    ids = ["lab.public.t/0/0/1", "lab.public.t/0/0/2"]
    assert lab.ask("replay", *ids, "nothing") == {
        "settled": ids,
        "refused": [{"id": "nothing", "reason": "no message of this id waits"}],
    }
    for place in (0, 1):
        assert lab.rows(place) == {1: "newer", 2: "set aside", 3: "c", 4: "d"}
        assert timeline.last_position(timeline.timeline(spark, lab.table.targets[place].path))["offsets"] == {"0": 6}
    assert lab.states() == {1: "replayed", 2: "replayed"}
    assert lab.ask("replay") == {"settled": [], "refused": []}
    lab.write(message(OURS, id=2, name="after"), first=6)
    assert lab.rows()[2] == "after"


def test_what_was_dropped_stays_dropped_and_who_did_it(spark: SparkSession, tmp_path: Path) -> None:
    lab = Lab(spark, tmp_path)
    lab.write(message(OURS, id=1, name="a"), FOREIGN)
    assert lab.ask("drop")["settled"] == ["lab.public.t/0/0/1"]
    assert [(one["state"], one["settled_by"]) for one in lab.aside()] == [("dropped", "ada")]
    assert lab.aside(settled=False) == []
    lab.write(message(OURS, id=1, name="a"), FOREIGN)
    assert (lab.states(), lab.writers[0].waiting) == ({1: "dropped"}, 0)


def test_a_replayed_message_that_a_table_can_not_read_waits_again(spark: SparkSession, tmp_path: Path) -> None:
    lab = Lab(spark, tmp_path)
    lab.write(message(OURS, id=1, name="a"), FOREIGN)
    ours = lab.quarantines.of(lab.pipeline, "lab")
    ours.settle(ours.stored(), table.REPLAYED, "ada")
    assert (lab.states(), lab.writers[0].waiting) == ({1: "replayed"}, 0)
    lab.write(message(OURS, id=1, name="a"), FOREIGN)
    assert (lab.states(), lab.writers[0].waiting) == ({1: "waiting"}, 1)


def test_an_earlier_epoch_is_not_replayed(spark: SparkSession, tmp_path: Path) -> None:
    lab = Lab(spark, tmp_path)
    lab.write(message(OURS, id=1, name="a"), FOREIGN)
    lab.writers[0].table.source = replace(lab.table, epoch=1)
    assert "earlier epoch" in lab.ask("replay")["refused"][0]["reason"]


def test_a_writer_that_was_replaced_writes_no_more(spark: SparkSession, tmp_path: Path) -> None:
    lab = Lab(spark, tmp_path)
    lab.writers[0].retire()
    with pytest.raises(Retired, match="restarted"):
        lab.write(message(OURS, id=1, name="a"))
